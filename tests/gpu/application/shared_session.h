// SPDX-License-Identifier: Apache-2.0
// What tests of objects that the delegate shares with an application have in common: one application at a time, a
// delegate in its context, an interpreter, and a buffer each for its input and output.
#ifndef HALITE_TESTS_GPU_SHARED_SESSION_H
#define HALITE_TESTS_GPU_SHARED_SESSION_H

#include "gpu/application/application.h"
#include "gpu/delegate_session.h"

// ---- a session of an application ----------------------------------------------------------------

static struct {
    const struct application *app;
    HaliteGpuContext context;
    TfLiteDelegate *delegate;
    struct session session;
    uint64_t x, y;       // buffers with room for 512 bytes in front and 4096 behind
    float cpu[ELEMENTS]; // what the CPU's kernels make of input_value
} one;

enum { FRONT = 512, ROOM = FRONT + 4096, BYTES = ELEMENTS * (int)sizeof(float) };

// Comes first in main.
static inline void choose_libraries(void)
{
    unsetenv("HALITE_DEVICE");
#if defined(FAKE_METAL)
    setenv("HALITE_METAL_LIBRARY", FAKE_METAL, 0);
#endif
    setenv("HALITE_VULKAN_VALIDATION", "1", 0); // of the application's instance, where the layer is
}

static inline TfLiteDelegate *make_shared(void)
{
    TfLiteGpuDelegateOptionsV2 v2 = TfLiteGpuDelegateOptionsV2Default();
    v2.max_delegated_partitions = 4;
    HaliteGpuDelegateOptions options = {.struct_size = sizeof options,
                                        .v2 = &v2,
                                        .context = &one.context,
                                        .take_small_partitions = true};
    TfLiteDelegate *delegate = HaliteGpuDelegateCreate(&options);
    assert_non_null(delegate);
    return delegate;
}

// Runs the session's graph on the CPU, where it is over ELEMENTS floats, and leaves nothing of it in the tensors.
static inline void note_cpu(void)
{
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(one.session.interpreter, 0);
    TfLiteTensor *output = (TfLiteTensor *)TfLiteInterpreterGetOutputTensor(one.session.interpreter, 0);
    if (TfLiteTensorByteSize(input) != (size_t)BYTES) return;
    set_input(&one.session);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    assert_int_equal(TfLiteTensorCopyToBuffer(output, one.cpu, sizeof one.cpu), kTfLiteOk);
    memset(TfLiteTensorData(input), 0, BYTES);
    memset(TfLiteTensorData(output), 0, BYTES);
}

static inline void start(const struct application *app, const struct test_model *model)
{
    one.app = app;
    assert_true(app->begin(&one.context));
    one.delegate = make_shared();
    one.x = app->create(ROOM);
    one.y = app->create(ROOM);
    begin(&one.session, model);
    note_cpu();
}

// The sums that the application's kernel has made of an output are those of the CPU's.
static inline void check_against_cpu(const float *sums)
{
    for (int i = 0; i < ELEMENTS; i++) {
        assert_float_equal(one.cpu[i], expected_value(i), 1e-6f);
        assert_float_equal(sums[i], one.cpu[i] + 1, 1e-5f);
    }
}

static inline void stop(void)
{
    end(&one.session);
    TfLiteGpuDelegateV2Delete(one.delegate);
    one.app->destroy(one.x);
    one.app->destroy(one.y);
    one.app->end();
}

// Runs a test with every application whose API is here.
static inline void with_each(void (*test)(const struct application *app))
{
    for (int i = 0; applications[i]; i++) {
        HaliteGpuContext context;
        if (!applications[i]->begin(&context)) continue;
        applications[i]->end();
        test(applications[i]);
    }
}

static inline HaliteGpuBuffer floats_at(uint64_t handle, size_t offset)
{
    return (HaliteGpuBuffer){.struct_size = sizeof(HaliteGpuBuffer),
                             .api = one.context.api,
                             .handle = handle,
                             .offset = offset,
                             .size = ROOM - offset};
}

static inline TfLiteStatus bind(int tensor, uint64_t handle, size_t offset)
{
    HaliteGpuBuffer buffer = floats_at(handle, offset);
    return HaliteDelegateBindBuffer(one.delegate, tensor, &buffer);
}

static inline void apply_well(void)
{
    TfLiteSetAllowBufferHandleOutput(one.session.interpreter, true);
    TfLiteStatus status = apply(&one.session, one.delegate);
    if (status != kTfLiteOk) print_error("%s\n", one.session.messages.text);
    assert_int_equal(status, kTfLiteOk);
}

static inline uint64_t copied(void)
{
    return HaliteDelegateGetCopiedBytes(one.delegate);
}

#endif
