// SPDX-License-Identifier: Apache-2.0
// The classes of faults that runtimes of this format have had, over all operators: from a model of one node that runs,
// one value is made hostile. Whatever comes of it, a refusal gives a message, and nothing else happens: the sanitizers'
// builds see to that. Classes that need a particular graph have tests of their own, named in docs/robustness.md.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halite/halite.h"
#include "support/op_models.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/common.h"

static const int32_t hostile[] = {0, -1, 1000, INT32_MAX, INT32_MIN};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static int messages;

static void count_message(void *user_data, const char *format, va_list args)
{
    char text[2000];
    (void)user_data;
    vsnprintf(text, sizeof text, format, args); // reads what it is given
    messages++;
}

// Fills int32 and int64 inputs with a number, others with zeros.
static void fill(TfLiteInterpreter *interpreter, int32_t number)
{
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); i++) {
        TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, i);
        size_t bytes = TfLiteTensorByteSize(input);
        char *data = TfLiteTensorData(input);
        if (!data || input->allocation_type == kTfLiteMmapRo) continue;
        memset(data, 0, bytes);
        for (size_t at = 0; TfLiteTensorType(input) == kTfLiteInt32 && at < bytes; at += sizeof number)
            memcpy(data + at, &number, sizeof number);
        for (size_t at = 0; TfLiteTensorType(input) == kTfLiteInt64 && at < bytes; at += sizeof(int64_t))
            memcpy(data + at, &(int64_t){number}, sizeof(int64_t));
    }
}

static TfLiteStatus run_interpreter(TfLiteInterpreter *interpreter, int32_t number)
{
    TfLiteStatus status = TfLiteInterpreterAllocateTensors(interpreter);
    if (status != kTfLiteOk) return status;
    fill(interpreter, number);
    return TfLiteInterpreterInvoke(interpreter);
}

// Runs the file; true where that worked. Frees the file.
static bool run(struct op_model *m, int32_t number)
{
    messages = 0;
    TfLiteStatus status = kTfLiteError;
    uint8_t *exact = realloc(m->file.bytes, m->file.size); // so that sanitizers see its end
    assert_non_null(exact);
    TfLiteModel *model = TfLiteModelCreateWithErrorReporter(exact, m->file.size, count_message, NULL);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, count_message, NULL);
    HaliteInterpreterOptionsSetMemoryLimit(options, (size_t)1 << 20);
    HaliteInterpreterOptionsSetCallLimit(options, 100);
    TfLiteInterpreter *interpreter = model ? TfLiteInterpreterCreate(model, options) : NULL;
    if (interpreter) status = run_interpreter(interpreter, number);
    if (status != kTfLiteOk) assert_true(messages > 0);
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    free(exact);
    return status == kTfLiteOk;
}

// ---- the models that run as they are -------------------------------------------------------------

static struct op_choice *places;
static int place_count, ops_that_run;

static int find_places(void **state)
{
    (void)state;
    int room = 0, op = -1;
    bool ran = true;
    struct op_choice first = {.op = -1};
    for (struct op_choice c = first; op_models_next(&c, false);) room++;
    places = malloc((size_t)room * sizeof *places);
    if (!places) return -1;
    for (struct op_choice c = first; op_models_next(&c, false);) {
        if (c.op != op) {
            if (!ran) places[place_count++] = first; // at least up to the refusal
            first = c;
            op = c.op;
            ran = false;
        }
        struct op_model m = op_model_make(&c);
        if (!run(&m, 1)) continue;
        places[place_count++] = c;
        ops_that_run += !ran;
        ran = true;
    }
    return 0;
}

static int free_places(void **state)
{
    (void)state;
    free(places);
    return 0;
}

static struct op_model make(int place)
{
    return op_model_make(&places[place]);
}

// Else the rest would test refusals alone.
static void all_operators_run(void **state)
{
    (void)state;
    print_message("%d operators run, %d models\n", ops_that_run, place_count);
    assert_int_equal(ops_that_run, op_models_ops());
}

// ---- the classes ---------------------------------------------------------------------------------

static bool is_field(int row)
{
    return hl_schema[row].kind != HL_KIND_TABLE && hl_schema[row].kind != HL_KIND_UNION_TYPE;
}

static void every_option_zero_negative_or_huge(void **state)
{
    (void)state;
    for (int place = 0; place < place_count; place++)
        for (int i = 0; i < HOSTILE; i++) {
            struct op_model m = make(place);
            int last = m.options ? m.table + 1 : 0;
            while (last && is_field(last)) last++;
            free(m.file.bytes);
            for (int field = m.table + 1; field < last; field++) {
                if (hl_schema[field].kind != HL_KIND_SCALAR) continue;
                m = make(place);
                if (hl_schema[field].scalar == HL_SCALAR_F32)
                    file_set_float(&m.file, m.options, (enum hl_schema)field, (float)hostile[i]);
                else
                    file_set(&m.file, m.options, (enum hl_schema)field, hostile[i]);
                run(&m, 1);
            }
        }
}

// Sets one dimension of one tensor, or of all of that rank.
static void set_dimension(struct op_model *m, int tensor, int axis, int32_t length, bool all)
{
    for (int i = 0; i < m->tensor_count; i++) {
        if (i != tensor && !all) continue;
        size_t at = file_field(&m->file, m->tensors[i], HL_Tensor_shape), shape;
        uint32_t to_shape, rank;
        memcpy(&to_shape, m->file.bytes + at, 4);
        shape = at + to_shape;
        memcpy(&rank, m->file.bytes + shape, 4);
        if (axis < (int)rank) file_poke_u32(&m->file, shape + 4 + 4 * (size_t)axis, (uint32_t)length);
    }
}

static void every_dimension_zero_negative_or_huge(void **state)
{
    (void)state;
    for (int place = 0; place < place_count; place++)
        for (int i = 0; i < HOSTILE; i++)
            for (int tensor = 0, count = 0; tensor <= count; tensor++)
                for (int axis = 0; axis < 4; axis++) {
                    struct op_model m = make(place);
                    count = m.tensor_count;
                    set_dimension(&m, tensor, axis, hostile[i], tensor == count);
                    run(&m, 1);
                }
}

// 2^31, 2^32 and 2^63 elements and bytes.
static void products_of_dimensions_that_overflow(void **state)
{
    (void)state;
    static const int32_t dims[][4] = {
        {1, 46341, 46341, 1}, {65536, 65536, 1, 1},           {1 << 30, 4, 1, 1},
        {1 << 29, 1, 1, 2},   {1 << 21, 1 << 21, 1 << 21, 1}, {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX}};
    for (int place = 0; place < place_count; place++)
        for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
            struct op_model m = make(place);
            for (int axis = 0; axis < 4; axis++) set_dimension(&m, 0, axis, dims[i][axis], true);
            run(&m, 1);
        }
}

// Axes, sizes, paddings, indices in the file: each number of each constant.
static void every_constant_number_hostile(void **state)
{
    (void)state;
    for (int place = 0; place < place_count; place++)
        for (int tensor = 0; tensor < OP_MODEL_TENSORS; tensor++)
            for (int number = 0, count = 1; number < count; number++)
                for (int i = 0; i < HOSTILE; i++) {
                    struct op_model m = make(place);
                    count = m.constants[tensor] ? m.constant_counts[tensor] : 0;
                    if (count) {
                        size_t at = m.constants[tensor] + 4 * (size_t)number;
                        file_poke_u32(&m.file, at, (uint32_t)hostile[i]);
                        run(&m, 1);
                    } else {
                        free(m.file.bytes);
                    }
                }
}

// The same numbers where the application gives them: checked while running.
static void every_input_number_hostile(void **state)
{
    (void)state;
    for (int place = 0; place < place_count; place++)
        for (int i = 0; i < HOSTILE; i++) {
            struct op_model m = make(place);
            run(&m, hostile[i]);
        }
}

static void absent_inputs_options_and_outputs(void **state)
{
    (void)state;
    for (int place = 0; place < place_count; place++) {
        struct op_model m = make(place);
        file_drop(&m.file, m.node, HL_Operator_builtin_options);
        file_drop(&m.file, m.node, HL_Operator_builtin_options_type);
        file_drop(&m.file, m.node, HL_Operator_builtin_options_2);
        file_drop(&m.file, m.node, HL_Operator_builtin_options_2_type);
        run(&m, 1);
        m = make(place);
        file_drop(&m.file, m.node, HL_Operator_outputs);
        run(&m, 1);
        int inputs = m.input_count, tensors = m.tensor_count;
        for (int count = 0; count <= inputs; count++) {
            m = make(place);
            for (int i = count; i < inputs; i++) m.inputs[i] = -1;
            file_set_vector(&m.file, m.node, HL_Operator_inputs, m.inputs,
                            (size_t)inputs); // the last ones left out
            run(&m, 1);
            m = make(place);
            file_set_vector(&m.file, m.node, HL_Operator_inputs, m.inputs, (size_t)count);
            run(&m, 1);
        }
        for (int tensor = 0; tensor < tensors; tensor++) {
            m = make(place);
            file_set(&m.file, m.tensors[tensor], HL_Tensor_buffer, 0); // no constant any more
            run(&m, 1);
        }
    }
}

static void an_output_that_is_an_input(void **state)
{
    (void)state;
    for (int place = 0; place < place_count; place++) {
        struct op_model m = make(place);
        if (m.input_count > 0) FILE_INTS(&m.file, m.node, HL_Operator_outputs, m.inputs[0]);
        assert_true(run(&m, 1) == (m.input_count == 0));
        m = make(place);
        FILE_INTS(&m.file, m.node, HL_Operator_outputs, 0, 0);
        assert_false(run(&m, 1)); // written twice
    }
}

static void scales_that_are_none(void **state)
{
    (void)state;
    static const uint32_t scales[] = {0, 0x80000000, 0x7f800000, 0x7fc00000, 0xbf800000, 0x00000001, 0x7f7fffff};
    for (int place = 0; place < place_count; place++)
        for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
            for (int tensor = 0, count = 1; tensor < count; tensor++) {
                struct op_model m = make(place);
                count = m.tensor_count;
                if (count == 0) {
                    free(m.file.bytes);
                    break;
                }
                size_t q = file_child(&m.file, m.tensors[tensor], HL_Tensor_quantization, HL_QuantizationParameters);
                file_set_vector(&m.file, q, HL_QuantizationParameters_scale, &scales[i], 1);
                file_set_vector(&m.file, q, HL_QuantizationParameters_zero_point, NULL,
                                i == 1 ? 0 : 1); // fewer, too
                run(&m, 1);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_operators_run),
        cmocka_unit_test(every_option_zero_negative_or_huge),
        cmocka_unit_test(every_dimension_zero_negative_or_huge),
        cmocka_unit_test(products_of_dimensions_that_overflow),
        cmocka_unit_test(every_constant_number_hostile),
        cmocka_unit_test(every_input_number_hostile),
        cmocka_unit_test(absent_inputs_options_and_outputs),
        cmocka_unit_test(an_output_that_is_an_input),
        cmocka_unit_test(scales_that_are_none),
    };
    return cmocka_run_group_tests(tests, find_places, free_places);
}
