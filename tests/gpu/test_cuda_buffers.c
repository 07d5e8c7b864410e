// SPDX-License-Identifier: Apache-2.0
// CUDA in the application's context: memory of the device and of the host as inputs and outputs, in the application's
// stream or one of the delegate's, and what is refused. It runs with the fake that HALITE_CUDA_LIBRARY names, or on a
// card; without either it is skipped.
#include "gpu/application/shared_session.h"

enum { SKIPPED = 77 };

static void run_on_device(size_t x_offset, size_t y_offset, bool waits)
{
    float sums[ELEMENTS];
    one.app->fill(one.x, x_offset, ELEMENTS);
    if (waits) one.app->read(one.x, 0, sums, sizeof *sums);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    one.app->inspect(one.y, y_offset, ELEMENTS, sums);
    check_against_cpu(sums);
}

static void bound_in_the_stream_of_the_application(void **state)
{
    (void)state;
    start(&application_cuda, &whole);
    assert_int_equal(bind(A, one.x, 0), kTfLiteOk);
    assert_int_equal(bind(P, one.y, FRONT), kTfLiteOk);
    apply_well();
    run_on_device(0, FRONT, false);
    assert_int_equal(bind(A, one.x, 256), kTfLiteOk); // another place
    run_on_device(256, FRONT, false);
    assert_int_equal(copied(), 0);
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(one.session.interpreter, P), kTfLiteOk);
    check_output(&one.session);
    stop();
}

static void bound_in_a_stream_of_its_own(void **state)
{
    (void)state;
    start(&application_cuda, &whole);
    TfLiteGpuDelegateV2Delete(one.delegate);
    one.context.cu_stream = NULL;
    one.delegate = make_shared();
    apply_well();
    assert_int_equal(bind(A, one.x, 0), kTfLiteOk);
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    run_on_device(0, 0, true);
    assert_int_equal(copied(), 0);
    stop();
}

// Memory of the host is pinned where it is. A pointer that no kernel can use is copied.
static void memory_of_the_host(void **state)
{
    (void)state;
    float x[ELEMENTS + 4], sums[ELEMENTS];
    for (int beside = 0; beside < 2; beside++) {
        float *at = x;
        while ((uintptr_t)at % 16 != (beside ? 4 : 0)) at++;
        start(&application_cuda, &whole);
        HaliteGpuBuffer from = {.struct_size = sizeof from,
                                .kind = kHaliteGpuKindHostMemory,
                                .handle = (uintptr_t)at,
                                .size = ELEMENTS * sizeof *at};
        assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, &from), kTfLiteOk);
        assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
        apply_well();
        for (int i = 0; i < ELEMENTS; i++) at[i] = input_value(i);
        assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
        one.app->inspect(one.y, 0, ELEMENTS, sums);
        check_against_cpu(sums);
        assert_int_equal(copied(), beside ? ELEMENTS * sizeof *at : 0);
        stop();
    }
}

static void expect_refusal(int tensor, HaliteGpuBuffer buffer, const char *words)
{
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, tensor, &buffer), kTfLiteOk);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteDelegateError);
    if (!strstr(one.session.messages.text, words)) print_error("%s: %s\n", words, one.session.messages.text);
    assert_non_null(strstr(one.session.messages.text, words));
}

static void refusals(void **state)
{
    (void)state;
    static const char *const words[] = {"cuMemGetAddressRange", "is no multiple of 16", "than it says",
                                        "images of CUDA are not taken", "the delegate's device is one of CUDA"};
    for (int i = 0; i < TEST_LENGTH(words); i++) {
        start(&application_cuda, &whole);
        HaliteGpuBuffer buffer = floats_at(one.x, 0);
        if (i == 0) buffer.handle = 4096;
        if (i == 1) buffer.handle += 4;
        if (i == 1) buffer.size = 1024;
        if (i == 2) buffer.size = ROOM + 256;
        if (i == 3) buffer.kind = kHaliteGpuKindImage;
        if (i == 3) buffer.layout = kHaliteGpuLayoutSlices;
        if (i == 3) buffer.size = 0;
        if (i == 4) buffer.kind = kHaliteGpuKindDmaBuf;
        expect_refusal(A, buffer, words[i]);
        stop();
    }
    HaliteGpuContext context = {.struct_size = sizeof context, .api = kHaliteGpuApiCuda};
    HaliteGpuDelegateOptions options = {.struct_size = sizeof options, .context = &context};
    assert_null(HaliteGpuDelegateCreate(&options)); // no context in it
}

int main(void)
{
    HaliteGpuContext context;
    choose_libraries();
    if (!application_cuda.begin(&context)) {
        print_message("skipped: no CUDA, and HALITE_CUDA_LIBRARY names no fake of it\n");
        return SKIPPED;
    }
    application_cuda.end();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_in_the_stream_of_the_application),
        cmocka_unit_test(bound_in_a_stream_of_its_own),
        cmocka_unit_test(memory_of_the_host),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
