// SPDX-License-Identifier: Apache-2.0
// Graphs that a program builds with halite/halite.h instead of loading them: what they compute, what they refuse, and
// that what they were given is freed. Expected values are worked out by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka wants the above first
#include <cmocka.h>

#include "halite/halite.h"
#include "tensorflow/lite/builtin_op_data.h"
#include "tensorflow/lite/c/c_api_experimental.h"

static char last_message[512];

static void keep_message(void *user_data, const char *format, va_list args)
{
    (void)user_data;
    vsnprintf(last_message, sizeof last_message, format, args);
}

static TfLiteInterpreter *empty(void)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, keep_message, NULL);
    TfLiteInterpreter *interpreter = HaliteInterpreterCreateEmpty(options);
    TfLiteInterpreterOptionsDelete(options);
    assert_non_null(interpreter);
    last_message[0] = '\0';
    return interpreter;
}

static void set_floats(TfLiteInterpreter *interpreter, int subgraph, int tensor, int count, const float *constant)
{
    const int dims[] = {count};
    HaliteTensorDescription floats = {.type = kTfLiteFloat32, .name = "floats", .dims = dims, .rank = 1};
    floats.data = constant;
    floats.bytes = constant ? (size_t)count * sizeof *constant : 0;
    assert_int_equal(HaliteInterpreterSetTensor(interpreter, subgraph, tensor, &floats), kTfLiteOk);
}

static int add_node(TfLiteInterpreter *interpreter, int subgraph, TfLiteBuiltinOperator op, void *params,
                    const int *inputs, int input_count, int output)
{
    TfLiteRegistration registration;
    assert_int_equal(HaliteFindOperator(op, NULL, 1, &registration), kTfLiteOk);
    int32_t index = -1;
    HaliteNodeDescription node = {.registration = &registration,
                                  .inputs = inputs,
                                  .input_count = input_count,
                                  .outputs = &output,
                                  .output_count = 1,
                                  .builtin_data = params};
    assert_int_equal(HaliteInterpreterAddNode(interpreter, subgraph, &node, &index), kTfLiteOk);
    return index;
}

// out = a + b, where b is {10, 20, 30}.
static TfLiteInterpreter *adder(void)
{
    static const float constant[] = {10, 20, 30};
    TfLiteInterpreter *interpreter = empty();
    int32_t first = -1;
    assert_int_equal(HaliteInterpreterAddTensors(interpreter, 0, 3, &first), kTfLiteOk);
    assert_int_equal(first, 0);
    set_floats(interpreter, 0, 0, 3, NULL);
    set_floats(interpreter, 0, 1, 3, constant);
    set_floats(interpreter, 0, 2, 3, NULL);
    const int input = 0, output = 2;
    assert_int_equal(HaliteInterpreterSetSubgraphInputs(interpreter, 0, &input, 1), kTfLiteOk);
    assert_int_equal(HaliteInterpreterSetSubgraphOutputs(interpreter, 0, &output, 1), kTfLiteOk);
    const int inputs[] = {0, 1};
    assert_int_equal(add_node(interpreter, 0, kTfLiteBuiltinAdd, calloc(1, sizeof(TfLiteAddParams)), inputs, 2, 2), 0);
    return interpreter;
}

static void an_empty_graph_runs_once_it_is_allocated(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = empty();
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteError);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterGetInputTensorCount(interpreter), 0);
    assert_string_equal(HaliteInterpreterGetSubgraphName(interpreter, 0), "main");
    assert_null(HaliteInterpreterGetSubgraphName(interpreter, 1));
    TfLiteInterpreterDelete(interpreter);
}

static void a_built_graph_computes_and_is_resized(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = adder();
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    const float in[] = {1, 2, 3};
    memcpy(TfLiteTensorData(TfLiteInterpreterGetInputTensor(interpreter, 0)), in, sizeof in);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    const float *out = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0));
    assert_true(out[0] == 11 && out[1] == 22 && out[2] == 33);
    // A second row: the constant is broadcast.
    const int dims[] = {2, 3};
    assert_int_equal(TfLiteInterpreterResizeInputTensor(interpreter, 0, dims, 2), kTfLiteOk);
    assert_int_equal(HaliteInterpreterAllocateSubgraph(interpreter, 0), kTfLiteOk);
    memset(TfLiteTensorData(TfLiteInterpreterGetInputTensor(interpreter, 0)), 0, 2 * sizeof in);
    assert_int_equal(HaliteInterpreterInvokeSubgraph(interpreter, 0), kTfLiteOk);
    out = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0));
    assert_true(out[3] == 10 && out[5] == 30);
    // Names of tensors stand in for a signature.
    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(interpreter, NULL);
    assert_non_null(TfLiteSignatureRunnerGetInputTensor(runner, "floats"));
    TfLiteSignatureRunnerDelete(runner);
    TfLiteInterpreterDelete(interpreter);
}

static void lists_and_nodes_are_lent(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = adder();
    int32_t count = -1;
    assert_int_equal(*HaliteInterpreterGetSubgraphInputs(interpreter, 0, &count), 0);
    assert_int_equal(count, 1);
    assert_int_equal(*HaliteInterpreterGetSubgraphOutputs(interpreter, 0, &count), 2);
    HaliteInterpreterGetSubgraphVariables(interpreter, 0, &count);
    assert_int_equal(count, 0);
    assert_null(HaliteInterpreterGetSubgraphInputs(interpreter, 1, &count));
    HaliteNode node;
    assert_int_equal(HaliteInterpreterGetSubgraphNodeTotal(interpreter, 0), 1);
    assert_int_equal(HaliteInterpreterGetSubgraphNodeByIndex(interpreter, 0, 0, &node), kTfLiteOk);
    assert_string_equal(node.op, "ADD");
    assert_string_equal(HaliteGetOperatorName(node.builtin_code), "ADD");
    assert_int_equal(HaliteInterpreterGetSubgraphNodeByIndex(interpreter, 0, 1, &node), kTfLiteError);
    assert_ptr_equal(HaliteInterpreterGetSubgraphContext(interpreter, 0)->tensors,
                     HaliteInterpreterGetSubgraphTensor(interpreter, 0, 0));
    TfLiteInterpreterDelete(interpreter);
}

static int order[4], order_count;

static void *note_init(TfLiteContext *context, const char *buffer, size_t length)
{
    (void)context;
    assert_int_equal(length, 1);
    char *state = malloc(1);
    *state = *buffer;
    return state;
}

static void note_free(TfLiteContext *context, void *state)
{
    (void)context;
    free(state);
}

static TfLiteStatus note_invoke(TfLiteContext *context, TfLiteNode *node)
{
    (void)context;
    assert_true(order_count < 4);
    order[order_count++] = *(const char *)node->user_data;
    return kTfLiteOk;
}

static const TfLiteRegistration note = {.init = note_init,
                                        .free = note_free,
                                        .invoke = note_invoke,
                                        .builtin_code = kTfLiteBuiltinCustom,
                                        .custom_name = "Note"};

static void the_execution_plan_says_which_nodes_run(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = empty();
    static const char marks[] = {7, 8};
    for (int i = 0; i < 2; i++) {
        HaliteNodeDescription node = {.registration = &note, .init_data = &marks[i], .init_bytes = 1};
        int32_t index = -1;
        assert_int_equal(HaliteInterpreterAddNode(interpreter, 0, &node, &index), kTfLiteOk);
        assert_int_equal(index, i);
    }
    const int backwards[] = {1, 0}, wrong[] = {2};
    order_count = 0;
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    assert_int_equal(HaliteInterpreterSetExecutionPlan(interpreter, 0, wrong, 1), kTfLiteError);
    assert_int_equal(HaliteInterpreterSetExecutionPlan(interpreter, 0, backwards, 2), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteError); // not allocated again
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    int32_t count = 0;
    assert_memory_equal(HaliteInterpreterGetSubgraphPlan(interpreter, 0, &count), backwards, sizeof backwards);
    assert_int_equal(count, 2);
    const int expected[] = {7, 8, 8, 7};
    assert_memory_equal(order, expected, sizeof expected);
    TfLiteInterpreterDelete(interpreter);
}

static bool stop(void *data)
{
    return --*(int *)data < 0;
}

static void a_function_can_cancel(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = adder();
    int left = 1;
    HaliteInterpreterSetCancellation(interpreter, stop, &left);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteCancelled);
    HaliteInterpreterSetCancellation(interpreter, NULL, NULL);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    TfLiteInterpreterDelete(interpreter);
}

static void added_subgraphs_are_run_by_nodes(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = empty();
    int32_t first = -1;
    assert_int_equal(HaliteInterpreterAddSubgraphs(interpreter, 2, &first), kTfLiteOk);
    assert_int_equal(first, 1);
    static const float constant[2][1] = {{100}, {1}};
    for (int s = 1; s <= 2; s++) { // then: x + 100, else: x + 1
        assert_int_equal(HaliteInterpreterAddTensors(interpreter, s, 3, NULL), kTfLiteOk);
        set_floats(interpreter, s, 0, 1, NULL);
        set_floats(interpreter, s, 1, 1, constant[s - 1]);
        set_floats(interpreter, s, 2, 1, NULL);
        const int inputs[] = {0, 1}, output = 2;
        assert_int_equal(HaliteInterpreterSetSubgraphInputs(interpreter, s, inputs, 1), kTfLiteOk);
        assert_int_equal(HaliteInterpreterSetSubgraphOutputs(interpreter, s, &output, 1), kTfLiteOk);
        add_node(interpreter, s, kTfLiteBuiltinAdd, calloc(1, sizeof(TfLiteAddParams)), inputs, 2, 2);
    }
    assert_int_equal(HaliteInterpreterAddTensors(interpreter, 0, 3, NULL), kTfLiteOk);
    HaliteTensorDescription flag = {.type = kTfLiteBool};
    assert_int_equal(HaliteInterpreterSetTensor(interpreter, 0, 0, &flag), kTfLiteOk);
    set_floats(interpreter, 0, 1, 1, NULL);
    set_floats(interpreter, 0, 2, 1, NULL);
    const int inputs[] = {0, 1}, output = 2;
    assert_int_equal(HaliteInterpreterSetSubgraphInputs(interpreter, 0, inputs, 2), kTfLiteOk);
    assert_int_equal(HaliteInterpreterSetSubgraphOutputs(interpreter, 0, &output, 1), kTfLiteOk);
    TfLiteIfParams *params = calloc(1, sizeof *params);
    *params = (TfLiteIfParams){.then_subgraph_index = 1, .else_subgraph_index = 2};
    add_node(interpreter, 0, kTfLiteBuiltinIf, params, inputs, 2, 2);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    for (int taken = 0; taken < 2; taken++) {
        *(bool *)TfLiteTensorData(TfLiteInterpreterGetInputTensor(interpreter, 0)) = taken;
        *(float *)TfLiteTensorData(TfLiteInterpreterGetInputTensor(interpreter, 1)) = 5;
        assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
        const float *out = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0));
        assert_true(*out == (taken ? 105 : 6));
    }
    TfLiteInterpreterDelete(interpreter);
}

static void variables_begin_at_zero(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = empty();
    assert_int_equal(HaliteInterpreterAddTensors(interpreter, 0, 1, NULL), kTfLiteOk);
    const int dims[] = {4}, variable = 0, none = -1;
    TfLiteAffineQuantization *affine = calloc(1, sizeof *affine);
    affine->scale = TfLiteFloatArrayCreate(1);
    affine->scale->data[0] = 0.5f;
    affine->zero_point = TfLiteIntArrayCreate(1);
    affine->zero_point->data[0] = 3;
    HaliteTensorDescription from = {.type = kTfLiteInt8, .name = "state", .dims = dims, .rank = 1, .is_variable = true};
    from.quantization = (TfLiteQuantization){kTfLiteAffineQuantization, affine};
    assert_int_equal(HaliteInterpreterSetTensor(interpreter, 0, 0, &from), kTfLiteOk);
    assert_int_equal(HaliteInterpreterSetSubgraphVariables(interpreter, 0, &none, 1), kTfLiteError);
    assert_int_equal(HaliteInterpreterSetSubgraphVariables(interpreter, 0, &variable, 1), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    const TfLiteTensor *tensor = TfLiteInterpreterGetVariableTensor(interpreter, 0);
    assert_int_equal(tensor->params.zero_point, 3);
    for (int i = 0; i < 4; i++) assert_int_equal(tensor->data.int8[i], 3); // real 0
    TfLiteInterpreterDelete(interpreter);
}

// What is taken is freed on failure too: the sanitizers look.
static void wrong_tensors_are_refused(void **state)
{
    (void)state;
    TfLiteInterpreter *interpreter = empty();
    assert_int_equal(HaliteInterpreterAddTensors(interpreter, 0, 1, NULL), kTfLiteOk);
    assert_int_equal(HaliteInterpreterAddTensors(interpreter, 0, -1, NULL), kTfLiteError);
    assert_int_equal(HaliteInterpreterAddTensors(interpreter, 1, 1, NULL), kTfLiteError);
    static const float data[3];
    const int dims[] = {3}, negative[] = {-3};
    HaliteTensorDescription right = {.type = kTfLiteFloat32, .dims = dims, .rank = 1};
    HaliteTensorDescription wrong = right;
    wrong.dims = negative;
    wrong.quantization = (TfLiteQuantization){kTfLiteAffineQuantization, calloc(1, sizeof(TfLiteAffineQuantization))};
    assert_int_equal(HaliteInterpreterSetTensor(interpreter, 0, 0, &wrong), kTfLiteError);
    wrong = right;
    wrong.data = data;
    wrong.bytes = 8;
    assert_int_equal(HaliteInterpreterSetTensor(interpreter, 0, 0, &wrong), kTfLiteError);
    assert_non_null(strstr(last_message, "12 bytes"));
    wrong.bytes = 12;
    wrong.is_variable = true;
    assert_int_equal(HaliteInterpreterSetTensor(interpreter, 0, 0, &wrong), kTfLiteError);
    wrong = right;
    wrong.signature = dims;
    wrong.signature_rank = 2;
    assert_int_equal(HaliteInterpreterSetTensor(interpreter, 0, 0, &wrong), kTfLiteError);
    assert_int_equal(HaliteInterpreterSetTensor(interpreter, 0, 1, &right), kTfLiteError);
    assert_int_equal(HaliteInterpreterSetTensor(interpreter, 0, 0, NULL), kTfLiteError);
    assert_int_equal(HaliteInterpreterSetTensor(interpreter, 0, 0, &right), kTfLiteOk);
    TfLiteInterpreterDelete(interpreter);
}

static void a_graph_that_names_no_tensor_cannot_run(void **state)
{
    (void)state;
    const int missing = -9, zero = 0;
    TfLiteInterpreter *interpreter = empty();
    assert_int_equal(HaliteInterpreterSetSubgraphInputs(interpreter, 0, &missing, 1), kTfLiteError);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteError);
    assert_non_null(strstr(last_message, "inconsistent"));
    TfLiteInterpreterDelete(interpreter);

    interpreter = adder();
    HaliteNodeDescription both = {.registration = &note,
                                  .inputs = &zero,
                                  .input_count = 1,
                                  .outputs = &zero,
                                  .output_count = 1,
                                  .builtin_data = malloc(8)};
    assert_int_equal(HaliteInterpreterAddNode(interpreter, 0, &both, NULL), kTfLiteError);
    assert_string_equal(last_message, "Tensor 0 is both input 0 and output 0");
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteError);
    TfLiteInterpreterDelete(interpreter);
}

static void operators_are_found_by_version(void **state)
{
    (void)state;
    TfLiteRegistration registration;
    assert_int_equal(HaliteFindOperator(kTfLiteBuiltinConv2d, NULL, 1, &registration), kTfLiteOk);
    assert_int_equal(registration.builtin_code, kTfLiteBuiltinConv2d);
    assert_int_equal(HaliteFindOperator(kTfLiteBuiltinConv2d, NULL, 1000, &registration), kTfLiteError);
    assert_int_equal(HaliteFindOperator(kTfLiteBuiltinCustom, NULL, 1, &registration), kTfLiteError);
    assert_int_equal(HaliteFindOperator(kTfLiteBuiltinCustom, "Nobody", 1, &registration), kTfLiteError);
    assert_int_equal(HaliteFindOperator(kTfLiteBuiltinCustom, "Mfcc", 1, &registration), kTfLiteOk);
    assert_null(HaliteGetOperatorName(-1));
}

static void a_model_lends_its_bytes(void **state)
{
    (void)state;
    TfLiteModel *model = TfLiteModelCreateFromFile("demo/digits.tflite");
    size_t bytes = 0;
    const char *data = HaliteModelGetData(model, &bytes);
    assert_memory_equal(data + 4, "TFL3", 4);
    FILE *file = fopen("demo/digits.tflite", "rb");
    fseek(file, 0, SEEK_END);
    assert_int_equal(bytes, ftell(file));
    fclose(file);
    TfLiteModelDelete(model);
    assert_null(HaliteModelGetData(NULL, &bytes));
    assert_int_equal(bytes, 0);
}

// Equal bytes have equal fingerprints, wherever they lie, and a bit makes another.
static void a_model_has_a_fingerprint(void **state)
{
    (void)state;
    char first[HALITE_FINGERPRINT_BYTES], second[HALITE_FINGERPRINT_BYTES];
    TfLiteModel *model = TfLiteModelCreateFromFile("demo/digits.tflite");
    size_t bytes;
    const char *data = HaliteModelGetData(model, &bytes);
    assert_int_equal(HaliteModelFingerprint(model, first, sizeof first), kTfLiteOk);
    assert_int_equal(strspn(first, "0123456789abcdef"), 64);
    assert_int_equal(first[64], 0);
    char *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    TfLiteModelDelete(model);
    model = TfLiteModelCreate(copy, bytes);
    assert_int_equal(HaliteModelFingerprint(model, second, sizeof second), kTfLiteOk);
    assert_string_equal(first, second);
    copy[bytes - 1] ^= 1;
    assert_int_equal(HaliteModelFingerprint(model, second, sizeof second), kTfLiteOk);
    assert_string_not_equal(first, second);
    assert_int_equal(HaliteModelFingerprint(model, first, sizeof first - 1), kTfLiteError);
    assert_int_equal(HaliteModelFingerprint(model, NULL, sizeof first), kTfLiteError);
    assert_int_equal(HaliteModelFingerprint(NULL, first, sizeof first), kTfLiteError);
    TfLiteModelDelete(model);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_graph_runs_once_it_is_allocated),
        cmocka_unit_test(a_built_graph_computes_and_is_resized),
        cmocka_unit_test(lists_and_nodes_are_lent),
        cmocka_unit_test(the_execution_plan_says_which_nodes_run),
        cmocka_unit_test(a_function_can_cancel),
        cmocka_unit_test(added_subgraphs_are_run_by_nodes),
        cmocka_unit_test(variables_begin_at_zero),
        cmocka_unit_test(wrong_tensors_are_refused),
        cmocka_unit_test(a_graph_that_names_no_tensor_cannot_run),
        cmocka_unit_test(operators_are_found_by_version),
        cmocka_unit_test(a_model_lends_its_bytes),
        cmocka_unit_test(a_model_has_a_fingerprint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
