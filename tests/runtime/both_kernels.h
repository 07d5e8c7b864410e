// SPDX-License-Identifier: Apache-2.0
// A random node as a model, on the reference kernels and on the fast ones of every level of instructions that this CPU
// has. In: a model of test_model_write and its inputs' values. Out: each level's output, shown to the test beside the
// reference's.
#ifndef HALITE_TESTS_RUNTIME_BOTH_KERNELS_H
#define HALITE_TESTS_RUNTIME_BOTH_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fast/simd/simd.h"
#include "halite/halite.h"
#include "support/model_writer.h"
#include "tensorflow/lite/c/c_api.h"

static uint32_t seed = 1;

// In [0, below).
static inline int pick(int below)
{
    seed = seed * 1664525 + 1013904223;
    return (int)((seed >> 8) % (uint32_t)below);
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

// The output's bytes, to be freed; limit: of memory, 0: the default; *kept: what kernels and variables keep.
static inline void *run(const TfLiteModel *model, HaliteKernels kernels, int threads, size_t limit, void *const *values,
                        size_t *bytes, size_t *kept)
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
    TfLiteInterpreterDelete(interpreter);
    return y;
}

// taken: fast kernels keep something, more than the reference kernels and variables.
typedef void see_level(const void *arg, const char *level, bool taken, const void *expected, const void *got,
                       size_t bytes);

// Calls see for each level, with HALITE_SIMD set to it. The reference's output, to be freed.
static inline void *on_every_level(const TfLiteModel *model, int threads, void *const *values, see_level *see,
                                   const void *arg, size_t *bytes)
{
    size_t plain;
    void *expected = run(model, kHaliteKernelsReference, 1, 0, values, bytes, &plain);
    const struct hl_simd *level;
    for (int i = 0; (level = hl_simd_level(i)); i++) {
        size_t as_many, kept;
        setenv("HALITE_SIMD", level->name, 1);
        void *got = run(model, kHaliteKernelsFast, threads, 0, values, &as_many, &kept);
        assert_int_equal(as_many, *bytes);
        see(arg, level->name, kept > plain, expected, got, *bytes);
        free(got);
    }
    unsetenv("HALITE_SIMD");
    return expected;
}

#endif
