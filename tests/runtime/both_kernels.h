// SPDX-License-Identifier: Apache-2.0
// A random node as a model, on the reference kernels and on the fast ones of every CPU level that is here. In: a model
// of test_model_write and its inputs' values. Out: each level's output, shown to the test beside the reference's; with
// --bench, each level's time beside the reference's.
#ifndef HALITE_TESTS_RUNTIME_BOTH_KERNELS_H
#define HALITE_TESTS_RUNTIME_BOTH_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fast/simd/simd.h"
#include "halite/halite.h"
#include "support/bench.h"
#include "support/model_writer.h"
#include "support/random.h"
#include "tensorflow/lite/c/c_api.h"

// The test check_many of a file, under the name of the function that makes its nodes.
#define RANDOM_NODES(function)                                                       \
    {                                                                                \
        .name = #function, .test_func = check_many, .initial_state = &(struct maker) \
        {                                                                            \
            .make = function                                                         \
        }                                                                            \
    }

static inline int count_of(const struct test_tensor *tensor)
{
    int count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

static inline void set_option(struct test_node *node, int field, double value)
{
    int i = 0;
    while (node->settings[i].field) i++;
    node->settings[i] = (struct test_setting){.field = field, .value = value};
}

static inline void invoke_once(void *interpreter)
{
    TfLiteInterpreterInvoke(interpreter);
}

// With --bench: prints the time of an inference. level: NULL for the plain kernels, which come first.
static inline void time_inference(TfLiteInterpreter *interpreter, const char *label, const char *level)
{
    double ns = bench_call(invoke_once, interpreter);
    if (level)
        bench_level(level, ns);
    else
        bench_begin(label, ns);
}

// "x 1x8x8x4 f32, w 4x3x3x4": the tensors of a model but its output, and their types where these change.
static inline const char *label_of(const struct test_model *model)
{
    static char label[256];
    static const char *const types[] = {[TEST_FLOAT32] = "f32", [TEST_INT32] = "i32", [TEST_UINT8] = "u8",
                                        [TEST_INT64] = "i64",   [TEST_INT16] = "i16", [TEST_INT8] = "i8"};
    const char *last = NULL;
    size_t at = 0;
    label[0] = 0;
    for (int i = 0; i < model->tensor_count && at < sizeof label; i++) {
        const struct test_tensor *tensor = &model->tensors[i];
        if (i == model->outputs[0]) continue;
        const char *type = (size_t)tensor->type < sizeof types / sizeof *types ? types[tensor->type] : NULL;
        at += (size_t)snprintf(label + at, sizeof label - at, "%s%s", i > 0 ? ", " : "", tensor->name);
        for (int d = 0; d < tensor->rank && at < sizeof label; d++)
            at += (size_t)snprintf(label + at, sizeof label - at, "%c%d", d > 0 ? 'x' : ' ', tensor->dims[d]);
        if (type && type != last && at < sizeof label)
            at += (size_t)snprintf(label + at, sizeof label - at, " %s", last = type);
    }
    return label;
}

// The output's bytes, to be freed; limit: of memory, 0: the default; *kept: what kernels and variables keep.
// label: NULL where nothing is to be timed.
static inline void *run_timed(const TfLiteModel *model, HaliteKernels kernels, int threads, size_t limit,
                              void *const *values, size_t *bytes, size_t *kept, const char *label, const char *level)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    HaliteInterpreterOptionsSetKernels(options, kernels);
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
    HaliteInterpreterOptionsSetMemoryLimit(options, limit);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_non_null(interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); i++) {
        TfLiteTensor *in = TfLiteInterpreterGetInputTensor(interpreter, i);
        assert_int_equal(TfLiteTensorCopyFromBuffer(in, values[i], TfLiteTensorByteSize(in)), kTfLiteOk);
    }
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    const TfLiteTensor *out = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    *bytes = TfLiteTensorByteSize(out);
    void *y = malloc(*bytes + 1);
    assert_int_equal(TfLiteTensorCopyToBuffer(out, y, *bytes), kTfLiteOk);
    HaliteMemoryReport memory;
    assert_int_equal(HaliteInterpreterGetMemoryReport(interpreter, &memory), kTfLiteOk);
    *kept = memory.persistent;
    if (bench_wanted && label) time_inference(interpreter, label, level);
    TfLiteInterpreterDelete(interpreter);
    return y;
}

static inline void *run(const TfLiteModel *model, HaliteKernels kernels, int threads, size_t limit, void *const *values,
                        size_t *bytes, size_t *kept)
{
    return run_timed(model, kernels, threads, limit, values, bytes, kept, NULL, NULL);
}

// taken: fast kernels keep something, more than the reference kernels and variables.
typedef void see_level(const void *arg, const char *level, bool taken, const void *expected, const void *got,
                       size_t bytes);

// Calls see for each level, with HALITE_SIMD set to it. The reference's output, to be freed. With --bench all of it
// runs on one thread.
static inline void *on_every_level(const struct test_model *written, const TfLiteModel *model, int threads,
                                   void *const *values, see_level *see, const void *arg, size_t *bytes)
{
    size_t plain;
    const char *label = label_of(written);
    if (bench_wanted) threads = 1;
    void *expected = run_timed(model, kHaliteKernelsReference, 1, 0, values, bytes, &plain, label, NULL);
    const struct hl_simd *level;
    for (int i = 0; (level = hl_simd_level(i)); i++) {
        size_t as_many, kept;
        setenv("HALITE_SIMD", level->name, 1);
        void *got = run_timed(model, kHaliteKernelsFast, threads, 0, values, &as_many, &kept, label, level->name);
        assert_int_equal(as_many, *bytes);
        see(arg, level->name, kept > plain, expected, got, *bytes);
        free(got);
    }
    unsetenv("HALITE_SIMD");
    if (bench_wanted) bench_end();
    return expected;
}

#endif
