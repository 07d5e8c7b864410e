// SPDX-License-Identifier: Apache-2.0
// Images of the application as inputs and outputs: textures, cl_mem images and VkImages of each format, in the form of
// pictures and of slices. What is computed is right, nothing is copied by way of the host, and what does not fit is
// refused. Each test runs with every API that is here.
#include <math.h>

#include "base/half.h"
#include "gpu/application/shared_session.h"
#include "gpu/graph/graph.h"

// The graph over [2, 4, 6, 3]: p = (a + relu(a))^2. Its input comes from two pictures of 9 x 7 pixels, one below the
// other.
enum { BATCH = 2, PICTURE_W = 9, PICTURE_H = 7, SMALL_W = 6, SMALL_H = 4, COLORS = 3, MAX_TEXELS = 256 };
#define SMALL(label)                                                                                \
    {                                                                                               \
        .name = label, .type = TEST_FLOAT32, .rank = 4, .dims = { BATCH, SMALL_H, SMALL_W, COLORS } \
    }
static const struct test_tensor small_tensors[TENSORS] = {
    [A] = SMALL("a"), [R] = SMALL("r"), [T] = SMALL("t"), [S] = SMALL("s"), [P] = SMALL("p")};
static const struct test_model small = {TEST_TENSORS(small_tensors), TEST_NODES(whole_nodes), TEST_INPUTS(A),
                                        TEST_OUTPUTS(P)};

enum { GENERAL = 1, READ_ONLY = 5 }; // VkImageLayout

static const HaliteGpuElement formats[] = {kHaliteGpuElementRgba8, kHaliteGpuElementFloat16, kHaliteGpuElementFloat32};

// ---- texels -------------------------------------------------------------------------------------

// An element of a picture in the unit of its format, before it is rounded to it.
static float texel_value(HaliteGpuElement element, int at)
{
    int byte = (at * 37 + 11) % 256;
    return element == kHaliteGpuElementRgba8 ? (float)byte : (float)byte / 128 - 1; // exact as a half
}

static float get_texel(HaliteGpuElement element, const void *texels, int at)
{
    if (element == kHaliteGpuElementRgba8) return ((const uint8_t *)texels)[at];
    return element == kHaliteGpuElementFloat16 ? hl_half_to_float(((const uint16_t *)texels)[at])
                                               : ((const float *)texels)[at];
}

static void set_texel(HaliteGpuElement element, void *texels, int at, float value)
{
    if (element == kHaliteGpuElementRgba8)
        ((uint8_t *)texels)[at] = (uint8_t)value;
    else if (element == kHaliteGpuElementFloat16)
        ((uint16_t *)texels)[at] = hl_half_from_float(value);
    else
        ((float *)texels)[at] = value;
}

static int clamped(int i, int count)
{
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

// An element of the part of picture b, at (x, y) counted from the middle of its first pixel.
static double between(HaliteGpuElement element, const HaliteGpuImage *image, int b, double x, double y, int place)
{
    double sum = 0;
    int left = (int)floor(x), top = (int)floor(y);
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            int column = image->crop_x + clamped(left + i, image->crop_width);
            int line = b * image->height + image->crop_y + clamped(top + j, image->crop_height);
            double weight = (i ? x - left : 1 - (x - left)) * (j ? y - top : 1 - (y - top));
            sum += weight * (double)texel_value(element, 4 * (line * image->width + column) + place);
        }
    return sum;
}

// What the graph makes of an element of the pictures.
static double expected_small(HaliteGpuElement element, const HaliteGpuImage *image, int i)
{
    int c = i % COLORS, x = i / COLORS % SMALL_W, y = i / COLORS / SMALL_W % SMALL_H,
        b = i / COLORS / SMALL_W / SMALL_H;
    double at_x = (x + 0.5) * image->crop_width / SMALL_W - 0.5;
    double at_y = (y + 0.5) * image->crop_height / SMALL_H - 0.5;
    double stored = between(element, image, b, at_x, at_y, image->order[c]);
    double a = (stored - (double)image->mean[c]) * (double)image->scale[c], s = a + (a > 0 ? a : 0);
    return s * s;
}

// ---- binding ------------------------------------------------------------------------------------

static HaliteGpuBuffer image_buffer(uint64_t handle, HaliteGpuElement element, const HaliteGpuImage *image)
{
    return (HaliteGpuBuffer){.struct_size = sizeof(HaliteGpuBuffer),
                             .api = one.context.api,
                             .kind = kHaliteGpuKindImage,
                             .handle = handle,
                             .element = element,
                             .image = image,
                             .vk_layout_before = GENERAL};
}

static void bind_well(int tensor, const HaliteGpuBuffer *buffer)
{
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, tensor, buffer), kTfLiteOk);
}

static void invoke_well(void)
{
    TfLiteStatus status = TfLiteInterpreterInvoke(one.session.interpreter);
    if (status != kTfLiteOk) print_error("%s\n", one.session.messages.text);
    assert_int_equal(status, kTfLiteOk);
}

// Starts a session and makes an image; false, after ending it, where the application has none.
static bool start_with_image(const struct application *app, const struct test_model *model, int width, int height,
                             HaliteGpuElement element, uint64_t *image)
{
    start(app, model);
    *image = app->image_create ? app->image_create(width, height, element) : 0;
    if (!*image) stop();
    return *image != 0;
}

// ---- pictures -----------------------------------------------------------------------------------

// A part of the pictures, resized, in another order, scaled to -1 to 1 (about).
static HaliteGpuImage source_picture(HaliteGpuElement element)
{
    bool bytes = element == kHaliteGpuElementRgba8;
    return (HaliteGpuImage){.struct_size = sizeof(HaliteGpuImage),
                            .width = PICTURE_W,
                            .height = PICTURE_H,
                            .crop_x = 2,
                            .crop_y = 1,
                            .crop_width = 6,
                            .crop_height = 5,
                            .order = {3, 2, 0, 1},
                            .mean = {bytes ? 127.5f : 0.25f, bytes ? 100 : 0, 0, 0},
                            .scale = {bytes ? 1 / 127.5f : 0.5f, bytes ? 1 / 100.0f : 2, bytes ? 1 / 255.0f : 1, 1}};
}

static void check_picture_values(HaliteGpuElement from, const HaliteGpuImage *source, HaliteGpuElement to,
                                 const HaliteGpuImage *target, const void *texels)
{
    double precision = to == kHaliteGpuElementRgba8 ? 0.51 : to == kHaliteGpuElementFloat16 ? 1e-3 : 1e-5;
    for (int i = 0; i < BATCH * SMALL_H * SMALL_W; i++) {
        float alpha = to == kHaliteGpuElementRgba8 ? 255.0f : 1.0f;
        assert_float_equal(get_texel(to, texels, 4 * i + 3), alpha, 0);
        for (int c = 0; c < COLORS; c++) {
            double value = expected_small(from, source, i * COLORS + c);
            double stored = value / (double)target->scale[c] + (double)target->mean[c];
            if (to == kHaliteGpuElementRgba8) stored = fmin(fmax(stored, 0), 255);
            double got = (double)get_texel(to, texels, 4 * i + target->order[c]);
            if (fabs(got - stored) > precision * (1 + (to == kHaliteGpuElementRgba8 ? 0 : fabs(stored))))
                print_error("texel %d channel %d: %g and not %g\n", i, c, got, stored);
            assert_true(fabs(got - stored) <= precision * (1 + (to == kHaliteGpuElementRgba8 ? 0 : fabs(stored))));
        }
    }
}

static void write_pictures(uint64_t image, HaliteGpuElement element, int layout)
{
    float room[MAX_TEXELS * 4];
    for (int i = 0; i < 4 * BATCH * PICTURE_H * PICTURE_W; i++) set_texel(element, room, i, texel_value(element, i));
    one.app->image_write(image, room, layout);
}

// The output as floats of its tensor, for somebody who wants to see it on the host.
static void check_on_host(HaliteGpuElement from, const HaliteGpuImage *source, HaliteGpuElement to)
{
    assert_int_equal(copied(), 0);
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(one.session.interpreter, P), kTfLiteOk);
    assert_true(copied() > 0);
    const float *values = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(one.session.interpreter, 0));
    for (int i = 0; i < BATCH * SMALL_H * SMALL_W * COLORS && to == kHaliteGpuElementFloat32; i++) {
        double expected = expected_small(from, source, i);
        assert_float_equal(values[i], expected, 1e-4 * (1 + expected));
    }
}

static void check_picture(const struct application *app, HaliteGpuElement from, HaliteGpuElement to)
{
    uint64_t input, output;
    HaliteGpuImage source = source_picture(from);
    HaliteGpuImage target = {.struct_size = sizeof target,
                             .order = {2, 1, 0, 3},
                             .mean = {0, to == kHaliteGpuElementRgba8 ? 20 : 0.5f, 0, 0},
                             .scale = {to == kHaliteGpuElementRgba8 ? 1 / 100.0f : 2, 0.5f, 1, 0}};
    if (!start_with_image(app, &small, PICTURE_W, BATCH * PICTURE_H, from, &input)) return;
    output = app->image_create(SMALL_W, BATCH * SMALL_H, to);
    HaliteGpuBuffer x = image_buffer(input, from, &source), y = image_buffer(output, to, &target);
    bool changes = to == kHaliteGpuElementRgba8; // the layouts
    x.vk_layout_before = changes ? READ_ONLY : GENERAL;
    x.vk_layout_after = changes ? GENERAL : 0;
    y.vk_layout_before = 0;
    y.vk_layout_after = changes ? READ_ONLY : GENERAL;
    bind_well(A, &x);
    bind_well(P, &y);
    apply_well();
    for (int run = 0; run < 3; run++) {
        float texels[MAX_TEXELS * 4] = {0};
        if (run == 0 || changes) write_pictures(input, from, x.vk_layout_before);
        invoke_well();
        app->image_read(output, texels, y.vk_layout_after);
        check_picture_values(from, &source, to, &target, texels);
        if (run == 1) bind_well(P, &y); // as a next frame would be
    }
    check_on_host(from, &source, to);
    app->image_destroy(input);
    app->image_destroy(output);
    stop();
}

static void check_pictures(const struct application *app)
{
    for (int f = 0; f < TEST_LENGTH(formats); f++)
        check_picture(app, formats[f], formats[(f + 1) % TEST_LENGTH(formats)]);
}
static void test_pictures(void **state)
{
    (void)state;
    with_each(check_pictures);
}

// A picture of bytes as an output in a plain buffer; and without a struct that says how.
static void check_byte_output(const struct application *app)
{
    enum { TEXELS = BATCH * SMALL_H * SMALL_W };
    float values[TEXELS * COLORS];
    uint8_t bytes[4 * TEXELS];
    start(app, &small);
    HaliteGpuBuffer x = floats_at(one.x, 0), y = floats_at(one.y, FRONT);
    y.element = kHaliteGpuElementRgba8;
    bind_well(A, &x);
    bind_well(P, &y);
    apply_well();
    for (int i = 0; i < TEXELS * COLORS; i++) values[i] = (float)(i % 21 - 4) / 32;
    app->write(one.x, 0, values, sizeof values);
    invoke_well();
    app->read(one.y, FRONT, bytes, sizeof bytes);
    for (int i = 0; i < TEXELS; i++)
        for (int c = 0; c < 4; c++) {
            float a = c < COLORS ? values[i * COLORS + c] : 0, s = a + (a > 0 ? a : 0);
            float expected = c == 3 ? 255 : fminf(s * s * 255, 255);
            assert_float_equal(bytes[4 * i + c], expected, 0.51f);
        }
    assert_int_equal(copied(), 0);
    stop();
}
static void test_byte_output(void **state)
{
    (void)state;
    with_each(check_byte_output);
}

// ---- slices -------------------------------------------------------------------------------------

// Five channels are two slices; the second one has three channels that do not exist.
static void check_slices_of(const struct application *app, HaliteGpuElement element)
{
    const struct gpu_shape shape = {1, 2, 3, 5};
    enum { WIDTH = 3, HEIGHT = 4 };
    float texels[MAX_TEXELS * 4];
    uint64_t input, output;
    if (!start_with_image(app, &whole, WIDTH, HEIGHT, element, &input)) return;
    output = app->image_create(WIDTH, HEIGHT, element);
    HaliteGpuBuffer x = image_buffer(input, element, NULL), y = image_buffer(output, element, NULL);
    x.layout = y.layout = kHaliteGpuLayoutSlices;
    bind_well(A, &x);
    bind_well(P, &y);
    apply_well();
    for (int i = 0; i < 4 * WIDTH * HEIGHT; i++) set_texel(element, texels, i, 1e4f);
    for (int i = 0; i < ELEMENTS; i++)
        set_texel(element, texels, (int)gpu_slice_index(shape, 0, i / 15, i / 5 % 3, i % 5), input_value(i));
    app->image_write(input, texels, GENERAL);
    app->image_write(output, texels, GENERAL);
    invoke_well();
    app->image_read(output, texels, GENERAL);
    for (int i = 0; i < ELEMENTS; i++) {
        float got = get_texel(element, texels, (int)gpu_slice_index(shape, 0, i / 15, i / 5 % 3, i % 5));
        assert_float_equal(got, expected_value(i), 1e-3f);
    }
    assert_int_equal(copied(), 0);
    app->image_destroy(input);
    app->image_destroy(output);
    stop();
}
static void check_slices(const struct application *app)
{
    check_slices_of(app, kHaliteGpuElementFloat32);
    check_slices_of(app, kHaliteGpuElementFloat16);
}
static void test_slices(void **state)
{
    (void)state;
    with_each(check_slices);
}

// ---- refusals -----------------------------------------------------------------------------------

// What the struct says by itself.
static void check_structs(const struct application *app)
{
    start(app, &small);
    HaliteGpuBuffer good = image_buffer(1, kHaliteGpuElementRgba8, NULL), wrong;
#define REFUSED(field, value) \
    wrong = good;             \
    wrong.field = value;      \
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, &wrong), kTfLiteError)
    REFUSED(kind, (HaliteGpuKind)-1);
    REFUSED(kind, (HaliteGpuKind)99);
    REFUSED(offset, 256);
    REFUSED(size, 16);
    REFUSED(element, kHaliteGpuElementBytes);
    REFUSED(layout, kHaliteGpuLayoutSlices); // of pixels
    stop();
}
static void test_structs(void **state)
{
    (void)state;
    with_each(check_structs);
}

// Binds an image before the delegate is applied, which then fails with these words.
static void expect_late_refusal(int tensor, const HaliteGpuBuffer *buffer, const char *words)
{
    bind_well(tensor, buffer);
    assert_int_equal(apply(&one.session, one.delegate), kTfLiteDelegateError);
    if (!strstr(one.session.messages.text, words)) print_error("%s: %s\n", words, one.session.messages.text);
    assert_non_null(strstr(one.session.messages.text, words));
}

// One refusal for a session, since each ends it.
struct refusal {
    int width, height;
    HaliteGpuElement made, said;
    int tensor;
    HaliteGpuImage image; // no size: none
    int before, after;
    const char *words[3]; // of OpenCL, Vulkan and OpenGL ES; NULL: that API does not notice
};

static void check_refusal(const struct application *app, const struct refusal *refusal)
{
    static const char *const apis[] = {"opencl", "vulkan", "gles"};
    const char *words = NULL;
    uint64_t image;
    for (int i = 0; i < TEST_LENGTH(apis); i++)
        if (strcmp(app->name, apis[i]) == 0) words = refusal->words[i];
    if (!words || !start_with_image(app, &small, refusal->width, refusal->height, refusal->made, &image)) return;
    HaliteGpuBuffer buffer = image_buffer(image, refusal->said, refusal->image.struct_size ? &refusal->image : NULL);
    buffer.vk_layout_before = refusal->before;
    buffer.vk_layout_after = refusal->after;
    expect_late_refusal(refusal->tensor, &buffer, words);
    app->image_destroy(image);
    stop();
}

// What no API has a say in: one of them will do.
#define ANY(words)        \
    {                     \
        NULL, NULL, words \
    }
static const struct refusal refusals[] = {
    {.width = SMALL_W,
     .height = SMALL_H,
     .made = kHaliteGpuElementRgba8,
     .said = kHaliteGpuElementRgba8,
     .tensor = A,
     .before = GENERAL,
     .words = {"6 x 4 texels and not 6 x 8", NULL, "6 x 4 texels and not 6 x 8"}},
    {.width = SMALL_W,
     .height = BATCH * SMALL_H,
     .made = kHaliteGpuElementRgba8,
     .said = kHaliteGpuElementFloat16,
     .tensor = P,
     .before = GENERAL,
     .words = {"has another format than CL_RGBA with CL_HALF_FLOAT", NULL,
               "has another format (0x8058) than GL_RGBA16F"}},
    {.width = SMALL_W,
     .height = BATCH * SMALL_H,
     .made = kHaliteGpuElementRgba8,
     .said = kHaliteGpuElementRgba8,
     .tensor = A,
     .words = {NULL, "it is an input, so that vk_layout_before must say", NULL}},
    {.width = SMALL_W,
     .height = BATCH * SMALL_H,
     .made = kHaliteGpuElementRgba8,
     .said = kHaliteGpuElementRgba8,
     .tensor = P,
     .words = {NULL, "vk_layout_after must be a layout", NULL}},
    {.width = SMALL_W,
     .height = BATCH * SMALL_H,
     .made = kHaliteGpuElementFloat32,
     .said = kHaliteGpuElementFloat32,
     .tensor = P,
     .image = {.struct_size = sizeof(HaliteGpuImage), .scale = {1, 0, 1, 0}},
     .before = GENERAL,
     .words = ANY("the scale of a picture that is written must not be 0")},
    {.width = SMALL_W,
     .height = BATCH * SMALL_H,
     .made = kHaliteGpuElementFloat32,
     .said = kHaliteGpuElementFloat32,
     .tensor = P,
     .image = {.struct_size = sizeof(HaliteGpuImage), .order = {1, 2, 1, 0}},
     .before = GENERAL,
     .words = ANY("order names a byte of a picture that is written twice")},
    {.width = PICTURE_W,
     .height = BATCH * PICTURE_H,
     .made = kHaliteGpuElementRgba8,
     .said = kHaliteGpuElementRgba8,
     .tensor = P,
     .image = {.struct_size = sizeof(HaliteGpuImage), .width = PICTURE_W, .height = PICTURE_H},
     .before = GENERAL,
     .words = ANY("a picture that is written has the size of the tensor")},
    {.width = SMALL_W,
     .height = BATCH * SMALL_H,
     .made = kHaliteGpuElementRgba8,
     .said = kHaliteGpuElementRgba8,
     .tensor = A,
     .image = {.struct_size = sizeof(HaliteGpuImage), .row_bytes = 64},
     .before = GENERAL,
     .words = ANY("an image has no row_bytes")},
};

static void check_refusals(const struct application *app)
{
    for (int i = 0; i < TEST_LENGTH(refusals); i++) check_refusal(app, &refusals[i]);
}
static void test_refusals(void **state)
{
    (void)state;
    with_each(check_refusals);
}

// The handle of a buffer is no image, nor the other way round. Vulkan cannot tell.
static void check_other_kind(const struct application *app)
{
    uint64_t image;
    if (!start_with_image(app, &small, SMALL_W, BATCH * SMALL_H, kHaliteGpuElementRgba8, &image)) return;
    HaliteGpuBuffer buffer = image_buffer(one.x, kHaliteGpuElementRgba8, NULL);
    if (one.context.api == kHaliteGpuApiOpenCl)
        expect_late_refusal(A, &buffer, "is no two-dimensional image");
    else if (one.context.api == kHaliteGpuApiOpenGlEs) {
        buffer.handle = 4711;
        expect_late_refusal(A, &buffer, "4711 is no texture of the application's context");
    }
    app->image_destroy(image);
    stop();
}
static void test_other_kind(void **state)
{
    (void)state;
    with_each(check_other_kind);
}

// Once applied for one kind of picture, only such pictures follow it; a texture that goes away fails the next run.
static void check_later(const struct application *app)
{
    uint64_t first, second, bytes;
    float texels[MAX_TEXELS * 4] = {0};
    if (!start_with_image(app, &small, SMALL_W, BATCH * SMALL_H, kHaliteGpuElementFloat32, &first)) return;
    second = app->image_create(SMALL_W, BATCH * SMALL_H, kHaliteGpuElementFloat32);
    bytes = app->image_create(SMALL_W, BATCH * SMALL_H, kHaliteGpuElementRgba8);
    HaliteGpuBuffer x = image_buffer(first, kHaliteGpuElementFloat32, NULL);
    bind_well(A, &x);
    apply_well();
    HaliteGpuBuffer other = image_buffer(bytes, kHaliteGpuElementRgba8, NULL), plain = floats_at(one.x, 0);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, &other), kTfLiteError);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, &plain), kTfLiteError);
    assert_int_equal(HaliteDelegateBindBuffer(one.delegate, A, NULL), kTfLiteError);
    HaliteGpuBuffer y = floats_at(one.y, 0);
    bind_well(P, &y);
    for (int frame = 0; frame < 2; frame++) {
        x.handle = frame ? second : first;
        bind_well(A, &x);
        for (int i = 0; i < 4 * BATCH * SMALL_H * SMALL_W; i++) texels[i] = (float)(i % 4 + frame);
        app->image_write(x.handle, texels, GENERAL);
        invoke_well();
        float values[BATCH * SMALL_H * SMALL_W * COLORS];
        app->read(one.y, 0, values, sizeof values);
        for (int i = 0; i < TEST_LENGTH(values); i++) {
            float a = (float)(i % COLORS + frame);
            assert_float_equal(values[i], 4 * a * a, 1e-4f);
        }
    }
    assert_int_equal(copied(), 0);
    if (one.context.api == kHaliteGpuApiOpenGlEs) {
        app->image_destroy(second);
        assert_int_equal(TfLiteInterpreterInvoke(one.session.interpreter), kTfLiteError);
        assert_non_null(strstr(one.session.messages.text, "or was deleted: bind another one"));
    } else {
        app->image_destroy(second);
    }
    app->image_destroy(first);
    app->image_destroy(bytes);
    stop();
}

static void test_later(void **state)
{
    (void)state;
    with_each(check_later);
}

// Metal and CUDA have buffers alone.
static void check_none(const struct application *app)
{
    if (app->image_create) return;
    start(app, &small);
    HaliteGpuBuffer buffer = image_buffer(one.x, kHaliteGpuElementRgba8, NULL);
    bool cuda = one.context.api == kHaliteGpuApiCuda;
    expect_late_refusal(A, &buffer, cuda ? "images of CUDA are not taken" : "images of Metal are not taken");
    stop();
}
static void test_none(void **state)
{
    (void)state;
    with_each(check_none);
}

int main(void)
{
    choose_libraries();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures), cmocka_unit_test(test_byte_output), cmocka_unit_test(test_slices),
        cmocka_unit_test(test_structs),  cmocka_unit_test(test_refusals),    cmocka_unit_test(test_other_kind),
        cmocka_unit_test(test_later),    cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
