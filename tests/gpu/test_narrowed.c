// SPDX-License-Identifier: Apache-2.0
// Inputs of floats that a card in half precision gets as halves: which elements it then has, what is copied, and that
// memory of the application is read as the floats that it holds. CUDA before its fake, or on a card with Vulkan, too.
#include "base/copier.h"
#include "base/half.h"
#include "gpu/delegate_session.h"

enum { SKIPPED = 77, HEIGHT = 165, WIDTH = 199, COUNT = HEIGHT * WIDTH * 3, ALL_BYTES = COUNT * sizeof(float) };
#define PICTURE(label)                                                                  \
    {                                                                                   \
        .name = label, .type = TEST_FLOAT32, .rank = 4, .dims = { 1, HEIGHT, WIDTH, 3 } \
    }
static const struct test_tensor pictures[] = {PICTURE("x"), PICTURE("y")};
static const struct test_node negation[] = {ONE_IN(kTfLiteBuiltinNeg, 0, 1)};
static const struct test_model negative = {TEST_TENSORS(pictures), TEST_NODES(negation), TEST_INPUTS(0),
                                           TEST_OUTPUTS(1)};

// Of every size that halves have, the smallest and those beyond them included; most need more bits than a half has.
static float element(int i)
{
    static const float corners[] = {0, 65504, 65519, 65520, 1e30f, 6.2e-5f, 6.0e-5f, 5.96e-8f, 2.9e-8f, 1 / 3.0f};
    enum { CORNERS = sizeof corners / sizeof *corners };
    float size = i < 2 * CORNERS ? corners[i / 2] : (float)i / 1000 * (i % 5 ? 1 : 1e-5f);
    return i % 2 ? size : -size;
}

static void write_elements(float *to, int first)
{
    for (int i = 0; i < COUNT; i++) to[i] = element(first + i);
}

static float as_half(float number)
{
    return hl_half_to_float(hl_half_from_float(number));
}

static const float *output_of(const struct session *session)
{
    const float *y = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session->interpreter, 0));
    assert_non_null(y);
    return y;
}

static void check_element(int i, float number, float expected)
{
    if (number != expected) fail_msg("element %d: %.9g, expected %.9g", i, (double)number, (double)expected);
}

static void check_output_of(const struct session *session, bool narrowed)
{
    const float *y = output_of(session);
    for (int i = 0; i < COUNT; i++) check_element(i, y[i], narrowed ? -as_half(element(i)) : -element(i));
}

static void run(struct session *session)
{
    assert_int_equal(TfLiteInterpreterInvoke(session->interpreter), kTfLiteOk);
}

static void run_from(struct session *session, int first)
{
    write_elements(TfLiteTensorData(TfLiteInterpreterGetInputTensor(session->interpreter, 0)), first);
    run(session);
}

static void run_from_tensor(struct session *session)
{
    run_from(session, 0);
}

static TfLiteDelegate *delegate_with(const char *device, const char *precision)
{
    const char *const texts[] = {"device", device, "precision", precision, NULL};
    TfLiteDelegate *delegate = make(texts);
    if (!delegate) fail_msg("%s", plugin_messages()->text);
    return delegate;
}

static void as_halves(const char *device)
{
    struct session session;
    TfLiteDelegate *delegate = delegate_with(device, "f16");
    begin(&session, &negative);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    for (int turn = 1; turn <= 2; turn++) {
        run_from_tensor(&session);
        check_output_of(&session, true);
        assert_int_equal(HaliteDelegateGetCopiedBytes(delegate), turn * (ALL_BYTES / 2 + ALL_BYTES));
    }
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

static void as_floats_in_full_precision(const char *device)
{
    struct session session;
    TfLiteDelegate *delegate = delegate_with(device, "f32");
    begin(&session, &negative);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    run_from_tensor(&session);
    check_output_of(&session, false);
    assert_int_equal(HaliteDelegateGetCopiedBytes(delegate), 2 * ALL_BYTES);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

// What the application has bound holds floats, also where the list was recorded for halves before or is afterwards.
static void from_memory_of_the_application(const char *device)
{
    static _Alignas(4096) float memory[COUNT + 1024];
    struct session session;
    TfLiteDelegate *delegate = delegate_with(device, "f16");
    HaliteGpuBuffer from = {.struct_size = sizeof from,
                            .kind = kHaliteGpuKindHostMemory,
                            .handle = (uintptr_t)memory,
                            .size = sizeof memory};
    begin(&session, &negative);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    run_from_tensor(&session);
    check_output_of(&session, true);
    write_elements(memory, 0);
    uint64_t copied = HaliteDelegateGetCopiedBytes(delegate);
    assert_int_equal(HaliteDelegateBindBuffer(delegate, 0, &from), kTfLiteOk);
    run(&session);
    copied = HaliteDelegateGetCopiedBytes(delegate) - copied;
    check_output_of(&session, copied != ALL_BYTES); // a device that cannot use the memory gets a copy of it
    assert_int_equal(HaliteDelegateBindBuffer(delegate, 0, NULL), kTfLiteOk);
    run_from_tensor(&session);
    check_output_of(&session, true);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

// A model's next input comes while the device has yet to run it on the one before, and a second model on its output.
static void behind_a_run(const char *device)
{
    struct session first, second;
    TfLiteDelegate *delegate = delegate_with(device, "f16"), *owner;
    TfLiteBufferHandle handle;
    begin(&first, &negative);
    begin(&second, &negative);
    assert_int_equal(apply(&first, delegate), kTfLiteOk);
    assert_int_equal(apply(&second, delegate), kTfLiteOk);
    TfLiteSetAllowBufferHandleOutput(first.interpreter, true);
    TfLiteSetAllowBufferHandleOutput(second.interpreter, true);
    const int y = TfLiteInterpreterGetOutputTensorIndex(first.interpreter, 0);
    TfLiteTensor *between = TfLiteInterpreterGetInputTensor(second.interpreter, 0);
    assert_int_equal(TfLiteInterpreterGetBufferHandle(first.interpreter, y, &handle, &owner), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterSetBufferHandle(second.interpreter, between, handle, owner), kTfLiteOk);
    for (int turn = 0; turn < 2; turn++) { // in the first turn the second model is recorded with its input, and waits
        run_from(&first, turn);
        run(&second);
        run_from(&first, turn + 1);
        assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(first.interpreter, y), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(second.interpreter, y), kTfLiteOk);
        const float *later = output_of(&first), *earlier = output_of(&second);
        for (int i = 0; i < COUNT; i++) {
            check_element(i, later[i], -as_half(element(i + turn + 1)));
            check_element(i, earlier[i], as_half(element(i + turn)));
        }
        assert_int_equal(HaliteDelegateGetCopiedBytes(delegate), (turn + 1) * (2 * ALL_BYTES / 2 + 2 * ALL_BYTES));
    }
    end(&second);
    end(&first);
    tflite_plugin_destroy_delegate(delegate);
}

static const char *const cards[] = {"cuda", "vulkan"};

// Whether a device is a card: software devices get floats.
static bool is_card(const char *api)
{
    struct gpu_device_list *list = malloc(sizeof *list);
    assert_non_null(list);
    gpu_devices_find(list);
    bool found = false;
    for (int i = 0; i < list->count; i++)
        found = found || (strcmp(list->devices[i].backend->name, api) == 0 && !list->devices[i].caps.software &&
                          !list->devices[i].caps.integrated);
    free(list);
    return found;
}

static void on_cards(void (*test)(const char *device))
{
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        if (is_card(cards[i])) test(cards[i]);
}

static void inputs_are_carried_as_halves(void **state)
{
    (void)state;
    on_cards(as_halves);
}

static void full_precision_has_floats(void **state)
{
    (void)state;
    on_cards(as_floats_in_full_precision);
}

static void memory_of_the_application_has_floats(void **state)
{
    (void)state;
    on_cards(from_memory_of_the_application);
}

static void inputs_wait_for_earlier_runs(void **state)
{
    (void)state;
    on_cards(behind_a_run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_carried_as_halves),
        cmocka_unit_test(full_precision_has_floats),
        cmocka_unit_test(memory_of_the_application_has_floats),
        cmocka_unit_test(inputs_wait_for_earlier_runs),
    };
    if (!hl_halves_are_fast() || (!is_card("cuda") && !is_card("vulkan"))) {
        print_message("skipped: no card, or a processor that converts halves one by one\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
