// SPDX-License-Identifier: Apache-2.0
// TOPK_V2 on rows that are longer than the blocks it looks at, with many equal values, against a plain selection: the
// largest value that is left, and of equal ones the first.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/model_writer.h"
#include "support/random.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"

enum { ROWS = 2, LONGEST = 300, CASES = 200 };

static void *model_of(enum test_type type, int n, const int *k, size_t *size)
{
    const struct test_tensor tensors[] = {
        {.name = "x", .type = type, .rank = 2, .dims = {ROWS, n}},
        {.name = "k", .type = TEST_INT32, .rank = 1, .dims = {1}, .data = k, .bytes = sizeof *k},
        {.name = "values", .type = type, .rank = 2, .dims = {ROWS, *k}},
        {.name = "positions", .type = TEST_INT32, .rank = 2, .dims = {ROWS, *k}}};
    const struct test_node node = {.builtin = kTfLiteBuiltinTopkV2, TEST_INPUTS(0, 1), TEST_OUTPUTS(2, 3)};
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODE(node), TEST_INPUTS(0), TEST_OUTPUTS(2, 3)};
    return test_model_write(&model, size);
}

static size_t size_of(enum test_type type)
{
    return type == TEST_INT64 ? 8 : type == TEST_INT16 ? 2 : type == TEST_INT8 || type == TEST_UINT8 ? 1 : 4;
}

// All values are small integers; unsigned ones are not negative.
static void store(enum test_type type, char *at, int value)
{
    const float real = (float)value;
    const int64_t wide = value;
    if (type == TEST_FLOAT32)
        memcpy(at, &real, sizeof real);
    else
        memcpy(at, &wide, size_of(type)); // little-endian, as the files are
}

static void check(enum test_type type, int n, int k, const int *x)
{
    size_t size, each = size_of(type);
    void *file = model_of(type, n, &k, &size);
    TfLiteModel *model = TfLiteModelCreate(file, size);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, NULL);
    assert_non_null(interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    char stored[ROWS * LONGEST * 8], expected[ROWS * LONGEST * 8];
    for (int i = 0; i < ROWS * n; i++) store(type, stored + (size_t)i * each, x[i]);
    TfLiteTensor *in = TfLiteInterpreterGetInputTensor(interpreter, 0);
    assert_int_equal(TfLiteTensorCopyFromBuffer(in, stored, (size_t)(ROWS * n) * each), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    int32_t positions[ROWS * LONGEST];
    for (int r = 0; r < ROWS; r++) {
        bool taken[LONGEST] = {false};
        for (int i = 0; i < k; i++) {
            int best = -1;
            for (int c = 0; c < n; c++)
                if (!taken[c] && (best < 0 || x[r * n + c] > x[r * n + best])) best = c;
            taken[best] = true;
            positions[r * k + i] = best;
            store(type, expected + (size_t)(r * k + i) * each, x[r * n + best]);
        }
    }
    assert_memory_equal(TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0)), expected,
                        (size_t)(ROWS * k) * each);
    assert_memory_equal(TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 1)), positions,
                        (size_t)(ROWS * k) * sizeof *positions);
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    free(file);
}

static void largest(void **state)
{
    (void)state;
    static const enum test_type types[] = {TEST_FLOAT32, TEST_INT8, TEST_UINT8, TEST_INT16, TEST_INT32, TEST_INT64};
    for (int i = 0; i < CASES; i++) {
        enum test_type type = types[i % 6];
        int n = 1 + pick(LONGEST), k = 1 + pick(pick(2) ? n : 1 + n / 20), x[ROWS * LONGEST];
        int kinds = pick(2) ? 5 : 100, rise = pick(3); // rising rows replace again and again
        for (int c = 0; c < ROWS * n; c++)
            x[c] = pick(kinds) + (rise == 0 ? c % n / 12 : 0) - (type == TEST_UINT8 ? 0 : 30);
        check(type, n, k, x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(largest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
