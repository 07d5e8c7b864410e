// SPDX-License-Identifier: Apache-2.0
// The operators of MediaPipe's models that no golden case has: crops by landmarks. Expected values by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/common.h"

// ---- options: a FlexBuffers map, everything four bytes wide -------------------------------------

struct option {
    const char *key; // in alphabetical order
    bool is_float;
    double value;
    int count; // of a list
    const int *list;
};

struct flex {
    unsigned char bytes[1024];
    size_t size;
};

static void put(struct flex *flex, const void *bytes, size_t size)
{
    assert_true(flex->size + size <= sizeof flex->bytes);
    memcpy(flex->bytes + flex->size, bytes, size);
    flex->size += size;
}

static void put_word(struct flex *flex, uint32_t word)
{
    put(flex, &word, sizeof word);
}

// Distance back from here.
static void put_link(struct flex *flex, size_t to)
{
    put_word(flex, (uint32_t)(flex->size - to));
}

static struct flex make_options(int count, const struct option *options)
{
    enum { FLEX_INT = 1, FLEX_FLOAT = 3, FLEX_MAP = 9, FLEX_INTS = 11, FOUR_BYTES = 2 };
    struct flex flex = {.size = 0};
    size_t keys[16], lists[16] = {0};
    for (int i = 0; i < count; i++) {
        keys[i] = flex.size;
        put(&flex, options[i].key, strlen(options[i].key) + 1);
    }
    while (flex.size % 4) put(&flex, "", 1);
    for (int i = 0; i < count; i++) {
        if (!options[i].list) continue;
        put_word(&flex, (uint32_t)options[i].count);
        lists[i] = flex.size;
        for (int k = 0; k < options[i].count; k++) put_word(&flex, (uint32_t)options[i].list[k]);
    }
    put_word(&flex, (uint32_t)count);
    size_t key_list = flex.size;
    for (int i = 0; i < count; i++) put_link(&flex, keys[i]);
    put_link(&flex, key_list);
    put_word(&flex, 4);
    put_word(&flex, (uint32_t)count);
    size_t map = flex.size;
    for (int i = 0; i < count; i++) {
        float number = (float)options[i].value;
        if (lists[i])
            put_link(&flex, lists[i]);
        else if (options[i].is_float)
            put(&flex, &number, sizeof number);
        else
            put_word(&flex, (uint32_t)(int)options[i].value);
    }
    for (int i = 0; i < count; i++)
        put(&flex,
            &(unsigned char){(unsigned char)((lists[i]              ? FLEX_INTS
                                              : options[i].is_float ? FLEX_FLOAT
                                                                    : FLEX_INT)
                                                 << 2 |
                                             FOUR_BYTES)},
            1);
    while (flex.size % 4) put(&flex, "", 1);
    put_link(&flex, map);
    put(&flex, &(unsigned char){FLEX_MAP << 2 | FOUR_BYTES}, 1);
    put(&flex, &(unsigned char){4}, 1);
    return flex;
}

// ---- one node -----------------------------------------------------------------------------------

struct values {
    int rank, dims[4];
    const float *data;
};

static int product(const struct values *values)
{
    int count = 1;
    for (int i = 0; i < values->rank; i++) count *= values->dims[i];
    return count;
}

static void quiet(void *user_data, const char *format, va_list args)
{
    (void)user_data, (void)format, (void)args;
}

// Runs a custom operator; where `expected` has no data it must refuse.
static void check(const char *name, const struct flex *options, int input_count, const struct values *inputs,
                  const struct values *expected)
{
    struct test_tensor tensors[3] = {0};
    for (int i = 0; i <= input_count; i++) {
        const struct values *from = i < input_count ? &inputs[i] : expected;
        tensors[i] = (struct test_tensor){.name = i < input_count ? "x" : "y", .rank = from->rank};
        memcpy(tensors[i].dims, from->dims, sizeof from->dims);
    }
    struct test_node node = {
        .builtin = kTfLiteBuiltinCustom,
        .custom = name,
        .input_count = input_count,
        .inputs = {0, 1},
        TEST_OUTPUTS(input_count),
        .options = options->bytes,
        .option_bytes = options->size,
    };
    struct test_model graph = {.tensor_count = input_count + 1,
                               .tensors = tensors,
                               TEST_NODE(node),
                               .input_count = input_count,
                               .inputs = {0, 1},
                               TEST_OUTPUTS(input_count)};
    size_t size;
    unsigned char *bytes = test_model_write(&graph, &size);
    TfLiteModel *model = TfLiteModelCreate(bytes, size);
    TfLiteInterpreterOptions *setup = TfLiteInterpreterOptionsCreate();
    if (!expected->data) TfLiteInterpreterOptionsSetErrorReporter(setup, quiet, NULL);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, setup);
    assert_non_null(interpreter);
    TfLiteStatus status = TfLiteInterpreterAllocateTensors(interpreter);
    assert_int_equal(status, expected->data ? kTfLiteOk : kTfLiteError);
    if (status == kTfLiteOk) {
        for (int i = 0; i < input_count; i++)
            assert_int_equal(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, i), inputs[i].data,
                                                        (size_t)product(&inputs[i]) * sizeof(float)),
                             kTfLiteOk);
        assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
        const TfLiteTensor *y = TfLiteInterpreterGetOutputTensor(interpreter, 0);
        assert_int_equal(TfLiteTensorByteSize(y), (size_t)product(expected) * sizeof(float));
        const float *data = TfLiteTensorData(y);
        for (int i = 0; i < product(expected); i++)
            if (fabsf(data[i] - expected->data[i]) > 1e-5f)
                fail_msg("%s: value %d is %g, expected %g", name, i, (double)data[i], (double)expected->data[i]);
    }
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(setup);
    TfLiteModelDelete(model);
    free(bytes);
}

// ---- Landmarks2TransformMatrix ------------------------------------------------------------------

// The corners of a box of 10 x 20.
static const float corners[12] = {0, 0, 1, 10, 0, 2, 10, 20, 3, 0, 20, 4};

static void test_matrix_in_pixels(void **state)
{
    (void)state;
    static const int subset[] = {0, 1, 2, 3, 0};
    struct option options[] = {{"left_rotation_idx", false, 0, 0, NULL},
                               {"output_height", false, 5, 0, NULL},
                               {"output_width", false, 5, 0, NULL},
                               {"right_rotation_idx", false, 3, 0, NULL},
                               {"scale_x", true, 1, 0, NULL},
                               {"scale_y", true, 1, 0, NULL},
                               {"subset_idxs", false, 0, 5, subset},
                               {"target_rotation_radians", true, 0, 0, NULL}};
    const struct values landmarks = {3, {1, 4, 3}, corners};
    // Down the box's left side is right in the crop: 4 pixels down for each to the right, 2 to the left for each down.
    static const float turned[16] = {0, -2, 0, 10, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    struct flex flex = make_options(8, options);
    check("Landmarks2TransformMatrix", &flex, 1, &landmarks, &(struct values){3, {1, 4, 4}, turned});
    options[3].value = 1; // along the upper side: as it is, scaled
    static const float straight[16] = {2, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    flex = make_options(8, options);
    check("Landmarks2TransformMatrix", &flex, 1, &landmarks, &(struct values){3, {1, 4, 4}, straight});
    options[3].value = 4; // there are four landmarks
    flex = make_options(8, options);
    check("Landmarks2TransformMatrix", &flex, 1, &landmarks, &(struct values){3, {1, 4, 4}, NULL});
}

static void test_matrix_by_range(void **state)
{
    (void)state;
    static const int subset[] = {0, 1, 2, 3}, in[] = {101, 201}, out[] = {11, 11};
    static const float box[12] = {0, 0, 0, 10, 0, 0, 10, 10, 0, 0, 10, 0};
    const struct option options[] = {{"bbox_size_multiplier", true, 1, 0, NULL},
                                     {"dimensions", false, 3, 0, NULL},
                                     {"input_hw", false, 0, 2, in},
                                     {"landmarks_range", false, 10, 0, NULL},
                                     {"left_rotation_idx", false, 0, 0, NULL},
                                     {"output_hw", false, 0, 2, out},
                                     {"right_rotation_idx", false, 1, 0, NULL},
                                     {"subset", false, 0, 4, subset}};
    // The crop shows the whole image: 20 columns and 10 rows of it for each of its own.
    static const float matrix[16] = {20, 0, 0, 0, 0, 10, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    struct flex flex = make_options(8, options);
    check("Landmarks2TransformMatrix", &flex, 1, &(struct values){4, {1, 1, 1, 12}, box},
          &(struct values){3, {1, 4, 4}, matrix});
}

// ---- TransformLandmarks, TransformTensorBilinear ------------------------------------------------

static void test_landmarks(void **state)
{
    (void)state;
    static const float points[6] = {1, 1, 7, 0, 3, 8}, matrix[16] = {0, -2, 0, 10, 4, 0, 0, 5, 0, 0, 1, 0, 0, 0, 0, 1};
    static const float moved[6] = {8, 9, 7, 4, 5, 8}, moved_far[6] = {-2 + 20, 4 + 10, 7, -6 + 20, 10, 8};
    const struct option scaled[] = {{"dimensions", false, 3, 0, NULL}, {"scale", true, 2, 0, NULL}};
    struct flex none = make_options(0, NULL), by_two = make_options(2, scaled);
    struct values inputs[] = {{3, {1, 2, 3}, points}, {3, {1, 4, 4}, matrix}};
    check("TransformLandmarks", &none, 2, inputs, &(struct values){3, {1, 2, 3}, moved});
    inputs[0] = (struct values){4, {1, 1, 1, 6}, points};
    check("TransformLandmarks", &by_two, 2, inputs, &(struct values){4, {1, 1, 1, 6}, moved_far});
    inputs[1] = (struct values){2, {1, 4}, matrix}; // one row
    check("TransformLandmarks", &none, 2, inputs, &(struct values){4, {1, 1, 1, 6}, NULL});
}

static void test_tensor(void **state)
{
    (void)state;
    static const float image[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    static const float half[16] = {1, 0, 0, 0.5f, 0, 1, 0, 0.5f}, twice[16] = {2, 0, 0, 0, 0, 2, 0, 0};
    static const int size[] = {2, 3};
    const struct option first[] = {{"output_size", false, 0, 2, size}};
    const struct option second[] = {{"output_height", false, 2, 0, NULL}, {"output_width", false, 2, 0, NULL}};
    struct flex flex = make_options(1, first);
    struct values inputs[] = {{4, {1, 3, 3, 1}, image}, {3, {1, 4, 4}, half}};
    static const float between[6] = {2, 3, 0, 5, 6, 0}; // the third column would lie outside
    check("TransformTensorBilinear", &flex, 2, inputs, &(struct values){4, {1, 2, 3, 1}, between});
    // Pixels twice as wide: the first has its middle between four of the image.
    flex = make_options(2, second);
    inputs[1].data = twice;
    static const float first_only[4] = {2, 0, 0, 0};
    check("TransformTensorBilinear", &flex, 2, inputs, &(struct values){4, {1, 2, 2, 1}, first_only});
    flex = make_options(0, NULL);
    check("TransformTensorBilinear", &flex, 2, inputs, &(struct values){4, {1, 2, 2, 1}, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix_in_pixels),
        cmocka_unit_test(test_matrix_by_range),
        cmocka_unit_test(test_landmarks),
        cmocka_unit_test(test_tensor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
