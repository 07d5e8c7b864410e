// SPDX-License-Identifier: Apache-2.0
// Buffers of the application as inputs and outputs, and outputs that stay on the device: what is computed is right,
// nothing is copied that need not be, and what does not fit is refused. Each test runs with every API that is here.
#include <float.h>
#include <math.h>
#include <pthread.h>

#include "base/half.h"
#include "gpu/application/shared_session.h"
#include "gpu/graph/graph.h"
#include "tensorflow/lite/delegates/gpu/cl/gpu_api_delegate.h"

static TfLiteStatus run_from_host(struct session *session)
{
    set_input(session);
    return TfLiteInterpreterInvoke(session->interpreter);
}

// The application fills x, the model runs, the application looks at y.
static void run_on_device(size_t x_offset, size_t y_offset)
{
    float zeros[ELEMENTS] = {0}, sums[ELEMENTS];
    one.app->write(one.y, y_offset, zeros, sizeof zeros);
    one.app->fill(one.x, x_offset, ELEMENTS);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    one.app->inspect(one.y, y_offset, ELEMENTS, sums);
    check_against_cpu(sums);
}

// ---- nothing is copied --------------------------------------------------------------------------

static void check_bound_before(const struct application *app)
{
    start(app, &whole);
    assert_int_equal(bind(A, one.x, 0), kTfLiteOk);
    assert_int_equal(bind(P, one.y, FRONT), kTfLiteOk);
    apply_well();
    for (int i = 0; i < 3; i++) run_on_device(0, FRONT);
    assert_int_equal(copied(), 0);
    // Somebody reads the output after all.
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(one.session.interpreter, P), kTfLiteOk);
    check_output(&one.session);
    assert_int_equal(copied(), BYTES);
    stop();
}
static void test_bound_before(void **state)
{
    (void)state;
    with_each(check_bound_before);
}

static void check_bound_after(const struct application *app)
{
    start(app, &whole);
    apply_well();
    assert_int_equal(bind(A, one.x, FRONT), kTfLiteOk);
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    run_on_device(FRONT, 0);
    // Other buffers, then none, then buffers again.
    assert_int_equal(bind(A, one.x, 256), kTfLiteOk);
    assert_int_equal(bind(P, one.y, FRONT), kTfLiteOk);
    run_on_device(256, FRONT);
    assert_int_equal(copied(), 0);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, NULL), kTfLiteOk);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, P, NULL), kTfLiteOk);
    set_input(&one.session);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(one.session.interpreter, P), kTfLiteOk);
    check_output(&one.session);
    assert_int_equal(copied(), 2 * BYTES);
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    assert_int_equal(bind(A, one.x, 0), kTfLiteOk);
    run_on_device(0, 0);
    assert_int_equal(copied(), 2 * BYTES);
    stop();
}
static void test_bound_after(void **state)
{
    (void)state;
    with_each(check_bound_after);
}

// Bindings outlive a resize, which applies the delegate again; a buffer that is then too small is refused.
static void check_resize(const struct application *app)
{
    static const int fits[] = {4, 2, 3, 5}, large[] = {64, 2, 3, 5};
    start(app, &whole);
    assert_int_equal(bind(A, one.x, 0), kTfLiteOk);
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    apply_well();
    TfLiteInterpreter *interpreter = one.session.interpreter;
    assert_int_equal(TfLiteInterpreterResizeInputTensor(interpreter, 0, fits, 4), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    run_on_device(0, 0);
    assert_int_equal(copied(), 0);
    assert_int_equal(TfLiteInterpreterResizeInputTensor(interpreter, 0, large, 4), kTfLiteOk);
    assert_int_not_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    assert_non_null(strstr(one.session.messages.text, "the buffer ends at byte"));
    stop();
}
static void test_resize(void **state)
{
    (void)state;
    with_each(check_resize);
}

// With an operator on the CPU in the middle only what it reads and writes is copied.
static void check_partitions(const struct application *app)
{
    start(app, &graph);
    assert_int_equal(bind(A, one.x, 0), kTfLiteOk);
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    apply_well();
    assert_int_equal(delegated_nodes(&one.session), 3);
    run_on_device(0, 0);
    assert_int_equal(copied(), 2 * BYTES);
    stop();
}
static void test_partitions(void **state)
{
    (void)state;
    with_each(check_partitions);
}

// ---- formats ------------------------------------------------------------------------------------

static const HaliteGpuElement elements[] = {kHaliteGpuElementFloat32, kHaliteGpuElementFloat32,
                                            kHaliteGpuElementFloat16, kHaliteGpuElementFloat16};
static const HaliteGpuLayout layouts[] = {kHaliteGpuLayoutDense, kHaliteGpuLayoutSlices, kHaliteGpuLayoutDense,
                                          kHaliteGpuLayoutSlices};

static size_t place_of(int format, struct gpu_shape shape, int i)
{
    int c = i % shape.c, x = i / shape.c % shape.w, y = i / shape.c / shape.w % shape.h;
    return layouts[format] == kHaliteGpuLayoutDense ? (size_t)i
                                                    : gpu_slice_index(shape, i / shape.c / shape.w / shape.h, y, x, c);
}

// Channels that do not exist hold garbage, which nothing may look at.
static void write_format(int format, struct gpu_shape shape)
{
    float values[1024];
    uint16_t halves[1024];
    for (int i = 0; i < 1024; i++) values[i] = 1e4f;
    for (int i = 0; i < gpu_elements(shape); i++) values[place_of(format, shape, i)] = input_value(i);
    for (int i = 0; i < 1024; i++) halves[i] = hl_half_from_float(values[i]);
    bool half = elements[format] == kHaliteGpuElementFloat16;
    one.app->write(one.x, 0, half ? (void *)halves : values, half ? sizeof halves : sizeof values);
}

static void check_format(int format, struct gpu_shape shape)
{
    float values[1024];
    uint16_t halves[1024];
    bool half = elements[format] == kHaliteGpuElementFloat16;
    one.app->read(one.y, 0, half ? (void *)halves : values, half ? sizeof halves : sizeof values);
    for (int i = 0; i < gpu_elements(shape); i++) {
        size_t at = place_of(format, shape, i);
        assert_float_equal(half ? hl_half_to_float(halves[at]) : values[at], expected_value(i), 1e-3f);
    }
}

static void run_formats(const struct application *app, const struct test_model *model, struct gpu_shape shape, int in,
                        int out)
{
    start(app, model);
    HaliteGpuBuffer x = floats_at(one.x, 0), y = floats_at(one.y, 0);
    x.element = elements[in];
    x.layout = layouts[in];
    y.element = elements[out];
    y.layout = layouts[out];
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, &x), kTfLiteOk);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, P, &y), kTfLiteOk);
    apply_well();
    write_format(in, shape);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    check_format(out, shape);
    assert_int_equal(copied(), 0);
    // The way over the host knows the formats, too.
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(one.session.interpreter, P), kTfLiteOk);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(one.session.interpreter, 0);
    for (int i = 0; i < gpu_elements(shape); i++)
        assert_float_equal(((float *)output->data.data)[i], expected_value(i), 1e-3f);
    stop();
}

// Channels that fill slices and others, one position and several.
static void check_formats(const struct application *app)
{
    static const struct gpu_shape shapes[] = {{1, 2, 3, 5}, {2, 2, 2, 8}, {1, 1, 1, 7}, {1, 5, 1, 4}};
    for (int s = 0; s < TEST_LENGTH(shapes); s++) {
        struct test_tensor list[TENSORS];
        for (int t = 0; t < TENSORS; t++) {
            list[t] = tensors[t];
            int dims[] = {shapes[s].b, shapes[s].h, shapes[s].w, shapes[s].c};
            memcpy(list[t].dims, dims, sizeof dims);
        }
        struct test_model model = whole;
        model.tensors = list;
        for (int f = 0; f < TEST_LENGTH(elements); f++)
            run_formats(app, &model, shapes[s], f, (f + s) % TEST_LENGTH(elements));
    }
}
static void test_formats(void **state)
{
    (void)state;
    with_each(check_formats);
}

// A quantized tensor as its bytes, and as its real values.
static void check_quantized(const struct application *app)
{
#define CODES(label)                                                                                        \
    {                                                                                                       \
        .name = label, .type = TEST_INT8, .rank = 4, .dims = {1, 2, 3, 5}, .scale = 0.125f, .zero_point = 3 \
    }
    static const struct test_tensor list[] = {CODES("a"), CODES("r")};
    static const struct test_node step = ONE_IN(kTfLiteBuiltinRelu, 0, 1);
    static const struct test_model model = {TEST_TENSORS(list), TEST_NODE(step), TEST_INPUTS(0), TEST_OUTPUTS(1)};
    for (int reals = 0; reals < 2; reals++) {
        start(app, &model);
        HaliteGpuBuffer x = floats_at(one.x, 0), y = floats_at(one.y, 0);
        x.element = reals ? kHaliteGpuElementFloat32 : kHaliteGpuElementBytes;
        y.element = reals ? kHaliteGpuElementBytes : kHaliteGpuElementFloat32;
        assert_int_equal(HaliteDelegateBindBuffer(one.delegate, 0, &x), kTfLiteOk);
        assert_int_equal(HaliteDelegateBindBuffer(one.delegate, 1, &y), kTfLiteOk);
        apply_well();
        int8_t codes[ELEMENTS + 2] = {0};
        float values[ELEMENTS];
        for (int i = 0; i < ELEMENTS; i++) {
            values[i] = input_value(i);
            codes[i] = (int8_t)(values[i] * 8 + 3);
        }
        one.app->write(one.x, 0, reals ? (void *)values : codes, reals ? sizeof values : sizeof codes);
        assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
        one.app->read(one.y, 0, reals ? (void *)codes : values, reals ? sizeof codes : sizeof values);
        for (int i = 0; i < ELEMENTS; i++) {
            float expected = input_value(i) > 0 ? input_value(i) : 0;
            assert_float_equal(reals ? (float)(codes[i] - 3) / 8 : values[i], expected, 1e-6f);
        }
        assert_int_equal(copied(), 0);
        stop();
    }
}
static void test_quantized(void **state)
{
    (void)state;
    with_each(check_quantized);
}

// ---- chains -------------------------------------------------------------------------------------

// q = p * p of a second model, whose input is the output of the first.
static float expected_square(int i)
{
    float s = expected_value(i), t = s + (s > 0 ? s : 0);
    return t * t;
}

static void check_chain(const struct application *app)
{
    start(app, &whole);
    TfLiteInterpreter *first = one.session.interpreter;
    struct session second;
    begin(&second, &whole);
    TfLiteSetAllowBufferHandleOutput(second.interpreter, true);
    apply_well();
    assert_int_equal(apply(&second, one.delegate), kTfLiteOk);

    TfLiteBufferHandle handle;
    TfLiteDelegate *owner;
    assert_int_equal(TfLiteInterpreterGetBufferHandle(first, P, &handle, &owner), kTfLiteOk);
    assert_ptr_equal(owner, one.delegate);
    assert_true(handle != kTfLiteNullBufferHandle);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(second.interpreter, 0);
    assert_int_equal(TfLiteInterpreterSetBufferHandle(second.interpreter, input, handle, owner), kTfLiteOk);

    for (int i = 0; i < 2; i++) {
        set_input(&one.session);
        uint64_t before = copied();
        assert_int_equal(TfLiteInterpreterInvoke(first), kTfLiteOk);
        assert_int_equal(copied() - before, BYTES); // the input of the first
        assert_int_equal(TfLiteInterpreterInvoke(second.interpreter), kTfLiteOk);
        assert_int_equal(copied() - before, BYTES);
        assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(second.interpreter, P), kTfLiteOk);
        assert_int_equal(copied() - before, 2 * BYTES);
        const float *q = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(second.interpreter, 0));
        for (int k = 0; k < ELEMENTS; k++) assert_float_equal(q[k], expected_square(k), 1e-4f);
        // The first model's output can be read as before, and written.
        assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(first, P), kTfLiteOk);
        check_output(&one.session);
    }
    TfLiteTensor *output = (TfLiteTensor *)TfLiteInterpreterGetOutputTensor(first, 0);
    for (int k = 0; k < ELEMENTS; k++) output->data.f[k] = 1;
    assert_int_equal(owner->CopyToBufferHandle(NULL, owner, handle, output), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(second.interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(second.interpreter, P), kTfLiteOk);
    assert_float_equal(*(float *)TfLiteTensorData(TfLiteInterpreterGetOutputTensor(second.interpreter, 0)), 4, 1e-5f);

    // Without its maker the handle is none.
    end(&one.session);
    assert_int_equal(TfLiteInterpreterInvoke(second.interpreter), kTfLiteError);
    assert_non_null(strstr(second.messages.text, "tensor a has a buffer handle that does not exist, or no longer"));
    assert_int_equal(TfLiteInterpreterSetBufferHandle(second.interpreter, input, kTfLiteNullBufferHandle, one.delegate),
                     kTfLiteOk);
    assert_int_equal(run_from_host(&second), kTfLiteOk);
    end(&second);
    begin(&one.session, &whole);
    stop();
}
static void test_chain(void **state)
{
    (void)state;
    with_each(check_chain);
}

// A program that deletes the delegate before the interpreter breaks the interface's rule, and no memory.
static void check_deleted_first(const struct application *app)
{
    start(app, &graph);
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    apply_well();
    assert_int_equal(run_from_host(&one.session), kTfLiteOk);
    TfLiteGpuDelegateV2Delete(one.delegate);
    one.delegate = NULL;
    stop();
}
static void test_deleted_first(void **state)
{
    (void)state;
    with_each(check_deleted_first);
}

// ---- threads, and the original's functions ------------------------------------------------------

static void *invoke(void *interpreter)
{
    return TfLiteInterpreterInvoke(interpreter) == kTfLiteOk ? interpreter : NULL;
}

// Invoke in a thread that knows nothing of the application's context.
static void check_thread(const struct application *app)
{
    float nothing, sums[ELEMENTS];
    start(app, &whole);
    assert_int_equal(bind(A, one.x, 0), kTfLiteOk);
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    apply_well();
    app->fill(one.x, 0, ELEMENTS);
    app->read(one.x, 0, &nothing, sizeof nothing); // waits for it
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, invoke, one.session.interpreter), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_non_null(result);
    app->inspect(one.y, 0, ELEMENTS, sums);
    check_against_cpu(sums);
    assert_int_equal(copied(), 0);
    stop();
}
static void test_thread(void **state)
{
    (void)state;
    with_each(check_thread);
}

// The functions of the first GPU delegate, in the order that its documents demand; and a buffer that goes away.
static void check_original(const struct application *app)
{
    if (app != &application_gles) return;
    start(app, &whole);
    TfLiteGpuDelegateV2Delete(one.delegate);
    one.delegate = TfLiteGpuDelegateCreate(NULL);
    assert_int_equal(TfLiteGpuDelegateBindBufferToTensor(one.delegate, (GLuint)one.x, A), kTfLiteOk);
    assert_int_equal(TfLiteGpuDelegateBindGlBufferToTensor(one.delegate, (GLuint)one.y, P, kTfLiteInt32,
                                                           TFLITE_GPU_DATA_LAYOUT_BHWC),
                     kTfLiteError);
    assert_int_equal(TfLiteGpuDelegateBindGlBufferToTensor(one.delegate, (GLuint)one.y, P, kTfLiteFloat32,
                                                           TFLITE_GPU_DATA_LAYOUT_BHWC),
                     kTfLiteOk);
    apply_well();
    run_on_device(0, 0);
    assert_int_equal(copied(), 0);

    app->destroy(one.x);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteError);
    assert_non_null(strstr(one.session.messages.text, "of the application was deleted"));
    one.x = app->create(ROOM);
    assert_int_equal(TfLiteGpuDelegateBindBufferToTensor(one.delegate, (GLuint)one.x, A), kTfLiteOk);
    run_on_device(0, 0);
    stop();
}

// Binds both buffers by the newer name, the input in slices, where no context is current.
static void *bind_in_slices(void *delegate)
{
    GLuint x = (GLuint)one.x, y = (GLuint)one.y;
    bool ok =
        TfLiteGpuDelegateBindGlBufferToTensor(delegate, x, A, kTfLiteFloat32, (TfLiteGpuDataLayout)7) != kTfLiteOk &&
        TfLiteGpuDelegateBindGlBufferToTensor(delegate, x, A, kTfLiteFloat32, TFLITE_GPU_DATA_LAYOUT_DHWC4) ==
            kTfLiteOk &&
        TfLiteGpuDelegateBindGlBufferToTensor(delegate, y, P, kTfLiteFloat32, TFLITE_GPU_DATA_LAYOUT_BHWC) == kTfLiteOk;
    return ok ? delegate : NULL;
}

// The first OpenCL interface, whose options name the application's context.
static void check_named_context(const struct application *app)
{
    const struct gpu_shape shape = {1, 2, 3, 5};
    float values[ELEMENTS * 2] = {0};
    pthread_t thread;
    void *result;
    if (app != &application_gles) return;
    start(app, &whole);
    TfLiteGpuDelegateV2Delete(one.delegate);
    HaliteGpuContext current;
    assert_true(gpu_device_current(&current));
    TfLiteGpuDelegateOptions_New options = {.egl_display = current.egl_display, .egl_context = current.egl_context};
    one.delegate = TfLiteGpuDelegateCreate_New(&options);
    assert_int_equal(pthread_create(&thread, NULL, bind_in_slices, one.delegate), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_non_null(result);
    apply_well();
    for (int i = 0; i < ELEMENTS; i++) values[gpu_slice_index(shape, 0, i / 15, i / 5 % 3, i % 5)] = input_value(i);
    app->write(one.x, 0, values, sizeof values);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    app->read(one.y, 0, values, BYTES);
    for (int i = 0; i < ELEMENTS; i++) assert_float_equal(values[i], expected_value(i), 1e-5f);
    assert_int_equal(copied(), 0);
    stop();
}
static void test_named_context(void **state)
{
    (void)state;
    with_each(check_named_context);
}

static void test_original(void **state)
{
    (void)state;
    with_each(check_original);
    // In a thread without a context of its own there is nothing to share.
    TfLiteDelegate *delegate = TfLiteGpuDelegateCreate(NULL);
    assert_int_equal(TfLiteGpuDelegateBindBufferToTensor(delegate, 1, A), kTfLiteError);
    TfLiteGpuDelegateDelete(delegate);
    assert_int_equal(TfLiteGpuDelegateBindBufferToTensor(NULL, 1, A), kTfLiteError);
}

// ---- refusals -----------------------------------------------------------------------------------

static void expect_refusal(int tensor, const HaliteGpuBuffer *buffer)
{
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, tensor, buffer), kTfLiteError);
}

static void check_refusals(const struct application *app)
{
    start(app, &whole);
    HaliteGpuBuffer good = floats_at(one.x, 0), wrong;
    assert_int_equal(HaliteDelegateBindBuffer(NULL, A, &good), kTfLiteError);
    expect_refusal(-1, &good);
#define REFUSED(field, value) \
    wrong = good;             \
    wrong.field = value;      \
    expect_refusal(A, &wrong)
    REFUSED(struct_size, 8);
    REFUSED(api, kHaliteGpuApiNone);
    REFUSED(api, (HaliteGpuApi)9);
    REFUSED(element, (HaliteGpuElement)9);
    REFUSED(layout, (HaliteGpuLayout)-1);
    REFUSED(handle, 0);
    REFUSED(offset, 4);
    REFUSED(offset, UINT64_MAX - 255);
    REFUSED(size, UINT64_MAX);
    apply_well();
    REFUSED(element, kHaliteGpuElementFloat16); // the plan is for floats
    REFUSED(element, kHaliteGpuElementBytes);
    REFUSED(layout, kHaliteGpuLayoutSlices);
    REFUSED(offset, ROOM / 256 * 256);
    REFUSED(offset, 1 << 20);
    REFUSED(size, BYTES - 1);
    REFUSED(size, ROOM + 1);
    REFUSED(api, one.context.api == kHaliteGpuApiOpenCl ? kHaliteGpuApiVulkan : kHaliteGpuApiOpenCl);
    expect_refusal(S, &good); // inside
    expect_refusal(77, &good);
    assert_int_equal(bind(A, one.x, 0), kTfLiteOk);
    assert_int_equal(bind(P, one.x, 0), kTfLiteError); // overlaps
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    REFUSED(offset, 1 << 20); // and what was bound stays
    run_on_device(0, 0);
    assert_int_equal(copied(), 0);
    stop();
}
static void test_refusals(void **state)
{
    (void)state;
    with_each(check_refusals);
}

// What was bound before the delegate is applied is looked at when it is.
static void check_late_refusals(const struct application *app)
{
    static const struct {
        int tensor;
        HaliteGpuElement element;
        uint64_t size;
        const char *words;
    } cases[] = {
        {S, kHaliteGpuElementFloat32, 0, "it is no input or output of what runs on the device"},
        {A, kHaliteGpuElementBytes, 0, "its buffer has dense bytes, but the delegate was applied for dense float32"},
        {A, kHaliteGpuElementFloat32, BYTES - 4, "the buffer ends at byte"},
    };
    for (int i = 0; i < TEST_LENGTH(cases); i++) {
        start(app, &whole);
        HaliteGpuBuffer buffer = floats_at(one.x, 0);
        buffer.element = cases[i].element;
        if (cases[i].size) buffer.size = cases[i].size;
        assert_int_equal(HaliteDelegateBindBuffer(one.delegate, cases[i].tensor, &buffer), kTfLiteOk);
        assert_int_not_equal(apply(&one.session, one.delegate), kTfLiteOk);
        if (!strstr(one.session.messages.text, cases[i].words)) print_error("%s\n", one.session.messages.text);
        assert_non_null(strstr(one.session.messages.text, cases[i].words));
        assert_int_equal(run_from_host(&one.session), kTfLiteOk); // on the CPU
        stop();
    }
}
static void test_late_refusals(void **state)
{
    (void)state;
    with_each(check_late_refusals);
}

// A delegate on a device of its own has nothing in common with the application.
static void test_own_device(void **state)
{
    (void)state;
    static const char *const texts[] = {"device", "null", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session session;
    begin(&session, &whole);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    HaliteGpuBuffer buffer = {.struct_size = sizeof buffer, .api = kHaliteGpuApiOpenCl, .handle = 1};
    assert_int_equal(HaliteDelegateBindBuffer(delegate, A, &buffer), kTfLiteError);
    assert_int_equal(HaliteDelegateGetCopiedBytes(NULL), 0);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

static void test_contexts(void **state)
{
    (void)state;
    static int object;
    HaliteGpuContext context = {.struct_size = sizeof context, .api = kHaliteGpuApiVulkan};
    HaliteGpuDelegateOptions options = {.struct_size = sizeof options, .context = &context};
    assert_null(HaliteGpuDelegateCreate(&options)); // nothing in it
    context.api = kHaliteGpuApiOpenGlEs;
    assert_null(HaliteGpuDelegateCreate(&options)); // nothing current
    context.egl_display = &object;
    assert_null(HaliteGpuDelegateCreate(&options)); // half of it
    context.api = kHaliteGpuApiOpenCl;
    assert_null(HaliteGpuDelegateCreate(&options));
    context.cl_context = context.cl_device_id = &object;
    options.device = "opencl";
    assert_null(HaliteGpuDelegateCreate(&options)); // a device beside it
    options.device = NULL;
    context.api = (HaliteGpuApi)7;
    assert_null(HaliteGpuDelegateCreate(&options));
    context.api = kHaliteGpuApiOpenCl;
    context.struct_size = 3;
    assert_null(HaliteGpuDelegateCreate(&options));
    // A program of the time before contexts.
    context.struct_size = sizeof context;
    options.struct_size = offsetof(HaliteGpuDelegateOptions, context);
    TfLiteDelegate *delegate = HaliteGpuDelegateCreate(&options);
    assert_non_null(delegate);
    TfLiteGpuDelegateV2Delete(delegate);
    // A device that nobody knows.
    options.struct_size = sizeof options;
    delegate = HaliteGpuDelegateCreate(&options);
    struct session session;
    begin(&session, &whole);
    assert_int_equal(apply(&session, delegate), kTfLiteDelegateError);
    assert_non_null(strstr(session.messages.text, "OpenCL: cl_device_id of the application's context"));
    end(&session);
    TfLiteGpuDelegateV2Delete(delegate);
}

// ---- pictures -----------------------------------------------------------------------------------

// The graph over [1, 4, 6, 3], and a picture of 9 x 7 pixels in rows of 12, whose bytes are those of the floats that
// the application's kernel writes.
enum { PICTURE_W = 9, PICTURE_H = 7, ROW = 12, SMALL_W = 6, SMALL_H = 4, COLORS = 3 };
#define SMALL(label)                                                                            \
    {                                                                                           \
        .name = label, .type = TEST_FLOAT32, .rank = 4, .dims = { 1, SMALL_H, SMALL_W, COLORS } \
    }
static const struct test_tensor small_tensors[TENSORS] = {
    [A] = SMALL("a"), [R] = SMALL("r"), [T] = SMALL("t"), [S] = SMALL("s"), [P] = SMALL("p")};
static const struct test_model small = {TEST_TENSORS(small_tensors), TEST_NODES(whole_nodes), TEST_INPUTS(A),
                                        TEST_OUTPUTS(P)};

static const HaliteGpuImage part_of_picture = {.struct_size = sizeof part_of_picture,
                                               .width = PICTURE_W,
                                               .height = PICTURE_H,
                                               .row_bytes = 4 * ROW,
                                               .crop_x = 2,
                                               .crop_y = 1,
                                               .crop_width = 6,
                                               .crop_height = 5,
                                               .order = {3, 2, 0, 1},
                                               .mean = {127.5f, 100, 0, 0},
                                               .scale = {1 / 127.5f, 1 / 50.0f, 2, 1}};

static int byte_of(int pixel, int byte)
{
    float value = input_value(pixel);
    unsigned char bytes[4];
    memcpy(bytes, &value, sizeof bytes);
    return bytes[byte];
}

static int clamped(int i, int count)
{
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

// A byte of the part between its pixels, at (x, y) counted from the middle of its first one.
static double between(const HaliteGpuImage *image, int row, int w, int h, double x, double y, int byte)
{
    double sum = 0;
    int left = (int)floor(x), top = (int)floor(y);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            int column = image->crop_x + clamped(left + i, w), line = image->crop_y + clamped(top + j, h);
            sum += (i ? x - left : 1 - (x - left)) * (j ? y - top : 1 - (y - top)) * byte_of(line * row + column, byte);
        }
    return sum;
}

// What the graph makes of an element of the picture.
static double expected_pixel(const HaliteGpuImage *image, int y, int x, int c)
{
    int w = image->crop_width ? image->crop_width : SMALL_W, h = image->crop_height ? image->crop_height : SMALL_H;
    int row = image->row_bytes ? image->row_bytes / 4 : SMALL_W;
    bool plain = image->scale[0] == 0;
    double at_x = (x + 0.5) * w / SMALL_W - 0.5, at_y = (y + 0.5) * h / SMALL_H - 0.5;
    double byte = between(image, row, w, h, at_x, at_y, plain ? c : image->order[c]);
    double a = (byte - (double)image->mean[c]) * (plain ? 1 / 255.0 : (double)image->scale[c]), s = a + (a > 0 ? a : 0);
    return s * s;
}

static TfLiteStatus bind_picture(uint64_t handle, size_t offset, const HaliteGpuImage *image)
{
    HaliteGpuBuffer buffer = floats_at(handle, offset);
    buffer.element = kHaliteGpuElementRgba8;
    buffer.image = image;
    return HaliteDelegateBindBuffer(one.delegate, A, &buffer);
}

static void run_picture(size_t x_offset, const HaliteGpuImage *image)
{
    enum { COUNT = SMALL_H * SMALL_W * COLORS };
    float sums[COUNT];
    one.app->fill(one.x, x_offset, ROW * PICTURE_H);
    assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteOk);
    one.app->inspect(one.y, 0, COUNT, sums);
    for (int i = 0; i < COUNT; i++) {
        double expected = expected_pixel(image, i / COLORS / SMALL_W, i / COLORS % SMALL_W, i % COLORS);
        assert_float_equal(sums[i] - 1, expected, 1e-4 * (1 + expected));
    }
    assert_int_equal(copied(), 0);
}

static void check_picture(const struct application *app)
{
    static const HaliteGpuImage whole_picture = {.struct_size = sizeof whole_picture};
    HaliteGpuImage other = part_of_picture;
    start(app, &small);
    assert_int_equal(bind_picture(one.x, 0, &part_of_picture), kTfLiteOk);
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    apply_well();
    run_picture(0, &part_of_picture);
    assert_int_equal(bind_picture(one.x, FRONT, &part_of_picture), kTfLiteOk); // the next frame
    run_picture(FRONT, &part_of_picture);
    other.crop_x = 1;
    assert_int_equal(bind_picture(one.x, 0, &other), kTfLiteError); // the plan is for another one
    assert_int_equal(bind_picture(one.x, 0, NULL), kTfLiteError);
    assert_int_equal(bind(A, one.x, 0), kTfLiteError);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, NULL), kTfLiteError);
    run_picture(FRONT, &part_of_picture); // the old one stays
    stop();

    start(app, &small);
    assert_int_equal(bind_picture(one.x, 0, NULL), kTfLiteOk); // as the tensor, channels as they come, by 255
    assert_int_equal(bind(P, one.y, 0), kTfLiteOk);
    apply_well();
    run_picture(0, &whole_picture);
    stop();
}
static void test_pictures(void **state)
{
    (void)state;
    with_each(check_picture);
}

static void check_no_picture(const struct application *app, const struct test_model *model, HaliteGpuImage image,
                             const char *words)
{
    start(app, model);
    assert_int_equal(bind_picture(one.x, 0, &image), kTfLiteOk);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteDelegateError);
    if (!strstr(one.session.messages.text, words)) print_error("%s: %s\n", words, one.session.messages.text);
    assert_non_null(strstr(one.session.messages.text, words));
    stop();
}

#define NO_PICTURE(field, value, words)              \
    do {                                             \
        HaliteGpuImage image = part_of_picture;      \
        image.field = value;                         \
        check_no_picture(app, &small, image, words); \
    } while (0)

static void check_refused_pictures(const struct application *app)
{
    static const char size[] = "width, height or row_bytes is out of range", part[] = "is not within the picture";
    NO_PICTURE(width, -1, size);
    NO_PICTURE(height, INT32_MAX, size);
    NO_PICTURE(row_bytes, 4 * ROW + 1, size);
    NO_PICTURE(row_bytes, 4 * PICTURE_W - 4, size);
    NO_PICTURE(crop_y, INT32_MIN, part);
    NO_PICTURE(crop_width, 8, part);
    NO_PICTURE(crop_height, INT32_MAX, part);
    HaliteGpuImage to_the_end = part_of_picture; // from a place that is 2^31 to the left of it
    to_the_end.crop_x = INT32_MIN;
    to_the_end.crop_width = 0;
    check_no_picture(app, &small, to_the_end, part);
    NO_PICTURE(order[3], -1, "bytes 0 to 3");
    NO_PICTURE(height, 1000, "the buffer ends at byte");
    check_no_picture(app, &whole, part_of_picture, "more channels"); // five
    start(app, &small);
    HaliteGpuImage old = {.struct_size = sizeof old - 1};
    assert_int_equal(bind_picture(one.x, 0, &old), kTfLiteError);
    HaliteGpuBuffer output = floats_at(one.y, 0);
    HaliteGpuImage cut = {.struct_size = sizeof cut, .crop_width = 1};
    output.element = kHaliteGpuElementRgba8;
    output.image = &cut;
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, P, &output), kTfLiteOk);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteDelegateError);
    assert_non_null(strstr(one.session.messages.text, "no part is cut out of it"));
    stop();
}
// What is refused does not depend on the API, and each refusal comes after kernels were compiled: one API will do.
static void test_refused_pictures(void **state)
{
    HaliteGpuContext context;
    (void)state;
    if (!application_gles.begin(&context)) skip();
    application_gles.end();
    check_refused_pictures(&application_gles);
}

int main(void)
{
    choose_libraries();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_before),
        cmocka_unit_test(test_bound_after),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_quantized),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_thread),
        cmocka_unit_test(test_deleted_first),
        cmocka_unit_test(test_original),
        cmocka_unit_test(test_named_context),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_late_refusals),
        cmocka_unit_test(test_own_device),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_refused_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
