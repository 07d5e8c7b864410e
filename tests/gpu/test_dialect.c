// SPDX-License-Identifier: Apache-2.0
// Every word of the kernel dialect, run: small kernels on each device of each backend that is there, in each precision
// that it can do, against the same computed here. Software devices count: they are what a build machine has.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"
#include "gpu/backend/backend.h"
#include "gpu/backend/devices.h"
#include "gpu/dialect_kernels.h"

enum { SKIPPED = 77, MAX_CONSTANTS = GPU_KERNEL_CONSTANTS + GPU_EPILOGUE_STAGES };

static struct gpu_device_list devices;

static const char *const precision_names[GPU_PRECISIONS] = {"f32", "f16s", "f16"};

// ---- one dispatch, from host memory and back
// ---------------------------------------------------------------------------
struct place {
    const struct gpu_backend *backend;
    struct gpu_device *device;
    const struct gpu_caps *caps;
    enum gpu_precision precision;
};

struct shape {
    int w, h, c, b;
};

// An argument in host memory. Values: dense [b, h, w, c]; weights: vectors; raw: as they are.
struct data {
    struct shape shape; // of values; else w is the count of floats, or of ints of bytes
    void *at;
};

struct job {
    const struct gpu_kernel *kernel;
    struct data args[GPU_MAX_BUFFERS]; // the residual behind the kernel's own
    int32_t params[GPU_KERNEL_PARAMS][4];
    int constants[MAX_CONSTANTS];
    float operands[GPU_EPILOGUE_STAGES * 2];
    int groups[3], group[3];
};

static size_t vectors_of(enum gpu_arg_kind kind, struct shape shape)
{
    if (kind == GPU_WEIGHTS) return (size_t)shape.w / 4;
    return (size_t)shape.w * (size_t)shape.h * (size_t)((shape.c + 3) / 4) * (size_t)shape.b;
}

static size_t bytes_of(enum gpu_arg_kind kind, struct shape shape, enum gpu_precision precision)
{
    if (gpu_arg_is_raw(kind)) return (size_t)shape.w * 4;
    return vectors_of(kind, shape) * (precision == GPU_F32 ? 16 : 8);
}

// Where channel c of a place lies, in numbers.
static size_t place_of(struct shape s, int b, int y, int x, int c)
{
    int slices = (s.c + 3) / 4;
    return ((((size_t)b * (size_t)slices + (size_t)(c / 4)) * (size_t)s.h + (size_t)y) * (size_t)s.w + (size_t)x) * 4 +
           (size_t)(c % 4);
}

static void put_number(void *to, size_t at, float value, enum gpu_precision precision)
{
    if (precision == GPU_F32)
        ((float *)to)[at] = value;
    else
        ((uint16_t *)to)[at] = hl_half_from_float(value);
}

static float get_number(const void *from, size_t at, enum gpu_precision precision)
{
    return precision == GPU_F32 ? ((const float *)from)[at] : hl_half_to_float(((const uint16_t *)from)[at]);
}

static void *to_device_form(enum gpu_arg_kind kind, struct data data, enum gpu_precision precision)
{
    size_t bytes = bytes_of(kind, data.shape, precision);
    void *form = calloc(1, bytes);
    assert_non_null(form);
    if (gpu_arg_is_raw(kind)) {
        memcpy(form, data.at, bytes);
    } else if (kind == GPU_WEIGHTS) {
        for (size_t i = 0; i < (size_t)data.shape.w; i++) put_number(form, i, ((float *)data.at)[i], precision);
    } else {
        const float *from = data.at;
        struct shape s = data.shape;
        if (kind == GPU_OUT) memset(form, 0x3c, bytes); // what is not written, and channels not set to zero, show
        for (int b = 0; b < s.b && kind == GPU_IN; b++)
            for (int y = 0; y < s.h; y++)
                for (int x = 0; x < s.w; x++)
                    for (int c = 0; c < s.c; c++) put_number(form, place_of(s, b, y, x, c), *from++, precision);
    }
    return form;
}

static void from_device_form(const void *form, enum gpu_arg_kind kind, struct data data, enum gpu_precision precision)
{
    struct shape s = data.shape;
    if (gpu_arg_is_raw(kind)) {
        memcpy(data.at, form, (size_t)s.w * 4);
        return;
    }
    float *to = data.at;
    for (int b = 0; b < s.b; b++)
        for (int y = 0; y < s.h; y++)
            for (int x = 0; x < s.w; x++) {
                for (int c = 0; c < s.c; c++) *to++ = get_number(form, place_of(s, b, y, x, c), precision);
                for (int c = s.c; c % 4; c++) assert_true(get_number(form, place_of(s, b, y, x, c), precision) == 0.0f);
            }
}

static void fill_params(struct gpu_dispatch *dispatch, const struct job *job)
{
    const struct gpu_kernel *kernel = job->kernel;
    int at = 0;
    for (int i = 0; i < gpu_kernel_arg_count(kernel); i++) {
        if (kernel->args[i].kind != GPU_IN && kernel->args[i].kind != GPU_OUT) continue;
        struct shape s = job->args[i].shape;
        memcpy(dispatch->params[at++], (int32_t[4]){s.w, s.h, s.c, s.b}, 16);
    }
    assert_int_equal(at, gpu_kernel_shape_count(kernel));
    for (int i = 0; kernel->params[i]; i++) memcpy(dispatch->params[at++], job->params[i], 16);
    if (kernel->epilogue) {
        memcpy(dispatch->params[at], job->operands, sizeof job->operands);
        at += GPU_EPILOGUE_STAGES / 2;
    }
    assert_int_equal(at, gpu_kernel_param_count(kernel));
    dispatch->param_count = at;
}

static void run(const struct place *place, const struct job *job)
{
    const struct gpu_backend *api = place->backend;
    const struct gpu_kernel *kernel = job->kernel;
    struct gpu_program_desc desc = {.kernel = kernel, .precision = place->precision, .constants = job->constants};
    struct gpu_dispatch dispatch = {.label = kernel->name,
                                    .buffer_count = gpu_kernel_arg_count(kernel) + kernel->epilogue};
    void *forms[GPU_MAX_BUFFERS] = {NULL};
    for (int i = 0; i < 3; i++) {
        desc.group[i] = job->group[i] ? job->group[i] : kernel->group[i];
        dispatch.groups[i] = job->groups[i] ? job->groups[i] : 1;
    }
    fill_params(&dispatch, job);
    for (int i = 0; i < dispatch.buffer_count; i++) {
        enum gpu_arg_kind kind = i < gpu_kernel_arg_count(kernel) ? kernel->args[i].kind : GPU_IN;
        forms[i] = to_device_form(kind, job->args[i], place->precision);
        dispatch.sizes[i] = bytes_of(kind, job->args[i].shape, place->precision);
        dispatch.writes[i] = gpu_arg_is_written(kind);
        dispatch.buffers[i] = api->buffer_create(place->device, dispatch.sizes[i]);
        assert_non_null(dispatch.buffers[i]);
        assert_true(api->buffer_write(place->device, dispatch.buffers[i], 0, forms[i], dispatch.sizes[i]));
    }
    assert_true(api->programs_create(place->device, &desc, 1, &dispatch.program));
    struct gpu_list *list = api->list_create(place->device);
    assert_non_null(list);
    assert_true(api->list_dispatch(list, &dispatch));
    assert_true(api->list_finish(list));
    assert_true(api->list_run(list));
    assert_true(api->list_wait(list));
    for (int i = 0; i < dispatch.buffer_count; i++) {
        if (dispatch.writes[i]) {
            assert_true(api->buffer_read(place->device, dispatch.buffers[i], 0, forms[i], dispatch.sizes[i]));
            from_device_form(forms[i], kernel->args[i].kind, job->args[i], place->precision);
        }
        api->buffer_destroy(place->device, dispatch.buffers[i]);
        free(forms[i]);
    }
    api->list_destroy(list);
    api->program_destroy(place->device, dispatch.program);
}

// Each device and precision that there is.
static void everywhere(void (*test)(const struct place *place))
{
    for (int i = 0; i < devices.count; i++) {
        struct place place = {.backend = devices.devices[i].backend};
        place.device = place.backend->open(devices.devices[i].index, NULL);
        assert_non_null(place.device);
        place.caps = place.backend->caps(place.device);
        for (int p = 0; p < GPU_PRECISIONS; p++) {
            bool able = p == GPU_F32 || (p == GPU_F16S ? place.caps->half_storage : place.caps->half_math);
            if (!able) continue;
            place.precision = (enum gpu_precision)p;
            printf("    %s %s: %s\n", devices.devices[i].text, place.caps->name, precision_names[p]);
            test(&place);
        }
        place.backend->close(place.device);
    }
}

// relative and absolute, in units of the precision's arithmetic
static void expect_near(const struct place *place, float is, float should, float relative, const char *what)
{
    if (isnan(should) ? isnan(is) : is == should) return;
    float unit = place->precision == GPU_F32 ? 1.2e-7f : 1.0e-3f;
    // Subnormal results may be flushed to zero.
    float room = relative * unit * fabsf(should) + relative * unit * 1.0e-2f;
    if (fabsf(is - should) <= room) return;
    print_error("%s in %s on %s: %.9g, not %.9g\n", what, precision_names[place->precision], place->caps->name,
                (double)is, (double)should);
    fail();
}

// What a number is once it has been a `real` or was stored.
static float as_stored(const struct place *place, float value)
{
    return place->precision == GPU_F32 ? value : hl_half_to_float(hl_half_from_float(value));
}

// ---- functions of one number: as float, acc4, real4 and real; in the kernels' order
// -----------------------------------
enum { UNARY_COUNT = 10, POSITIVE_COUNT = 3 };

static float round_even(float x)
{
    float low = floorf(x), rest = x - low;
    if (rest < 0.5f) return low;
    if (rest > 0.5f) return low + 1.0f;
    return fmodf(low, 2.0f) == 0.0f ? low : low + 1.0f;
}
static float sign_of(float x)
{
    return (float)((x > 0.0f) - (x < 0.0f));
}
static float rsqrt(float x)
{
    return 1.0f / sqrtf(x);
}
typedef float function(float x);
static const struct {
    const char *name;
    function *expected;
    float tolerance;
} unary_cases[UNARY_COUNT] = {{"abs", fabsf, 0.0f},      {"floor", floorf, 0.0f},      {"ceil", ceilf, 0.0f},
                              {"exp", expf, 100.0f},     {"sin", sinf, 8.0f},          {"cos", cosf, 8.0f},
                              {"tanh", tanhf, 400.0f},   {"round_away", roundf, 0.0f}, {"round_even", round_even, 0.0f},
                              {"sign_of", sign_of, 0.0f}},
  positive_cases[POSITIVE_COUNT] = {{"log", logf, 100.0f}, {"sqrt", sqrtf, 4.0f}, {"rsqrt", rsqrt, 4.0f}};

static void check_forms(const struct place *place, const float *out, float x, function *expected, float tolerance,
                        const char *name)
{
    static const char *const forms[] = {"float", "acc4", "real4", "real"};
    for (int form = 0; form < 4; form++) {
        char what[80];
        bool is_real = form >= 2 && place->precision == GPU_F16;
        struct place as = *place;
        if (!is_real) as.precision = GPU_F32;
        // A compiler may leave out the way through half and back: then more digits arrive than a half has.
        if (is_real && as_stored(place, x) != x) continue;
        snprintf(what, sizeof what, "%s(%.9g) as %s", name, (double)x, forms[form]);
        float should = expected(x);
        expect_near(&as, out[form], is_real ? as_stored(place, should) : should, tolerance, what);
    }
}

static void unary_words(const struct place *place)
{
    static float x[] = {0.0f,   0.5f,        -0.5f,        1.0f,       -1.0f,       1.5f,    -1.5f,  2.5f,
                        -2.5f,  0.49999997f, -0.49999997f, 3.1415927f, -2.7182817f, 10.0f,   -10.0f, 88.0f,
                        -88.0f, 100.0f,      -100.0f,      1023.5f,    -1022.5f,    2.0e-3f, -0.3f,  0.7f};
    enum { COUNT = sizeof x / sizeof *x };
    static float out[COUNT * UNARY_COUNT * 4];
    struct job job = {.kernel = &dialect_unary,
                      .args = {{{COUNT, 0, 0, 0}, x}, {{COUNT * UNARY_COUNT * 4, 0, 0, 0}, out}},
                      .params = {{COUNT, UNARY_COUNT * 4, 0, 0}},
                      .groups = {(COUNT + 7) / 8, 1, 1}};
    run(place, &job);
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < UNARY_COUNT; k++) {
            bool large = strcmp(unary_cases[k].name, "exp") == 0 && fabsf(x[i]) > 85.0f;
            const float *at = out + (i * UNARY_COUNT + k) * 4;
            if (large && x[i] > 0.0f)
                assert_true(at[0] > 1.0e36f && at[1] > 1.0e36f); // infinite beyond 88.7
            else
                check_forms(place, at, x[i], unary_cases[k].expected, unary_cases[k].tolerance, unary_cases[k].name);
        }
}

static void positive_words(const struct place *place)
{
    static float x[] = {1.0f, 0.5f, 2.0f, 2.7182817f, 100.0f, 1000.0f, 1.0e-3f, 3.0f, 17.0f};
    enum { COUNT = sizeof x / sizeof *x };
    static float out[COUNT * POSITIVE_COUNT * 4];
    struct job job = {.kernel = &dialect_positive,
                      .args = {{{COUNT, 0, 0, 0}, x}, {{COUNT * POSITIVE_COUNT * 4, 0, 0, 0}, out}},
                      .params = {{COUNT, POSITIVE_COUNT * 4, 0, 0}},
                      .groups = {(COUNT + 7) / 8, 1, 1}};
    run(place, &job);
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < POSITIVE_COUNT; k++)
            check_forms(place, out + (i * POSITIVE_COUNT + k) * 4, x[i], positive_cases[k].expected,
                        positive_cases[k].tolerance, positive_cases[k].name);
}

// ---- functions of two numbers, and integers
// ----------------------------------------------------------------------------

static int floor_mod(int a, int b)
{
    int rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static float clamped(float x)
{
    return fminf(fmaxf(x, -2.0f), 3.0f) * 2.0f;
}

static void binary_words(const struct place *place)
{
    static float x[] = {0.0f, 1.0f, -1.0f, -2.0f, -8.0f, 2.5f, -2.5f, 3.0f, -3.0f, 0.5f, 5.5f, 0.0f};
    static float y[] = {1.0f, 2.0f, 3.0f, 2.0f, -1.0f, -2.5f, 3.0f, 0.0f, 4.0f, 0.25f, -1.75f, 0.0f};
    enum { COUNT = sizeof x / sizeof *x, EACH = 20 };
    static float out[COUNT * EACH];
    float half = 0.5f;
    int32_t bits;
    memcpy(&bits, &half, sizeof bits);
    struct job job = {.kernel = &dialect_binary,
                      .args = {{{COUNT, 0, 0, 0}, x}, {{COUNT, 0, 0, 0}, y}, {{COUNT * EACH, 0, 0, 0}, out}},
                      .params = {{COUNT, EACH, bits, 5}},
                      .groups = {(COUNT + 7) / 8, 1, 1}};
    run(place, &job);
    for (int i = 0; i < COUNT; i++) {
        const float *at = out + i * EACH;
        float a = x[i], b = y[i];
        struct place exact = *place;
        exact.precision = GPU_F32;
        int j = (int)(a * 4.0f), k = (int)(b * 4.0f) ? (int)(b * 4.0f) : 3;
        float q = (float)((int)a + 1) + 2.0f * (float)((int)b + 3) + 4.0f * (float)((int)(a * 3.0f) + 5) +
                  8.0f * (float)((int)(b * 3.0f) + 7);
        expect_near(&exact, at[0], fminf(a, b), 0.0f, "min");
        expect_near(&exact, at[1], fmaxf(a, b), 0.0f, "max");
        expect_near(&exact, at[2], powf(a, b), 100.0f, "pow_safe");
        expect_near(&exact, at[3], a * b + 1.0f, 2.0f, "mad");
        expect_near(&exact, at[4], a > b ? a : b, 0.0f, "pick");
        expect_near(&exact, at[5], (a + b + 3.0f) * b, 8.0f, "dot4");
        expect_near(&exact, at[6], powf(a, b), 100.0f, "pow_safe of vectors");
        expect_near(&exact, at[7], fminf(a, b) + fmaxf(a, 0.0f) * 2.0f - (a * 0.5f + b) / 4.0f, 8.0f, "operators");
        expect_near(place, at[8], clamped(a) + (i % 2 ? 0.0f : clamped(b)), 2.0f, "lane");
        expect_near(place, at[9], a * a, 20.0f, "pow_safe of reals");
        expect_near(&exact, at[10], powf(fabsf(a) + 1.0f, b), 100.0f, "pow");
        expect_near(&exact, at[11], (float)floor_mod(j, k), 0.0f, "imod");
        expect_near(&exact, at[12], (float)((j < k ? j : k) * 100 + (j > k ? j : k)), 0.0f, "min and max of int");
        expect_near(&exact, at[13], q, 0.0f, "int4");
        expect_near(&exact, at[14], 5.5f, 0.0f, "params");
        expect_near(place, at[15], -a + b + 7.0f, 2.0f, "assignments");
        expect_near(&exact, at[16], fmaxf(a, b), 0.0f, "at_least");
        expect_near(&exact, at[17], NAN, 0.0f, "at_least of NaN");
        expect_near(&exact, at[18], fminf(a, b), 0.0f, "at_most");
        expect_near(&exact, at[19], NAN, 0.0f, "at_most of NaN");
    }
}

static int dot_of(int32_t a, int32_t b)
{
    int sum = 0;
    for (int i = 0; i < 4; i++) sum += (int8_t)((uint32_t)a >> 8 * i) * (int8_t)((uint32_t)b >> 8 * i);
    return sum;
}

static void dots_of_bytes(const struct place *place)
{
    enum { COUNT = 1000 };
    static const int32_t edges[] = {0, -1, 0x7f7f7f7f, INT32_MIN + 0x00808080, 0x00000080, 0x7f, INT32_MIN};
    enum { EDGES = sizeof edges / sizeof *edges };
    int32_t a[COUNT], b[COUNT], sums[COUNT];
    uint32_t random = 1;
    for (int i = 0; i < COUNT; i++) {
        random = random * 1664525u + 1013904223u;
        a[i] = i < EDGES * EDGES ? edges[i % EDGES] : (int32_t)(random ^ random >> 13);
        random = random * 1664525u + 1013904223u;
        b[i] = i < EDGES * EDGES ? edges[i / EDGES] : (int32_t)(random ^ random >> 13);
    }
    const struct gpu_kernel *const kernels[] = {&dialect_plain_dots, &dialect_dots};
    for (int k = 0; k < (place->caps->byte_dots ? 2 : 1); k++) {
        struct job job = {.kernel = kernels[k],
                          .args = {{{COUNT, 0, 0, 0}, a}, {{COUNT, 0, 0, 0}, b}, {{COUNT, 0, 0, 0}, sums}},
                          .params = {{COUNT, 0, 0, 0}},
                          .groups = {(COUNT + 7) / 8, 1, 1}};
        run(place, &job);
        for (int i = 0; i < COUNT; i++) {
            if (sums[i] == (a[i] >> 4) + dot_of(a[i], b[i])) continue;
            fail_msg("%s on %s: dot_bytes(%#x, %#x, ...) is %d", kernels[k]->name, place->caps->name, (unsigned)a[i],
                     (unsigned)b[i], (int)sums[i]);
        }
    }
    printf("    dot_bytes as an instruction: %s\n", place->caps->byte_dots ? "yes" : "no");
}

// ---- values, weights, shared memory
// ------------------------------------------------------------------------------------

static float *numbers(int count, unsigned seed)
{
    float *data = malloc((size_t)count * sizeof *data);
    assert_non_null(data);
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = (float)(int)(seed >> 16 & 0xff) / 32.0f - 4.0f; // exact as halves
    }
    return data;
}

static void value_words(const struct place *place)
{
    static const struct shape shapes[] = {{5, 3, 7, 2}, {1, 1, 1, 1}, {4, 2, 8, 1}, {9, 1, 3, 3}};
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        struct shape s = shapes[n];
        int count = s.w * s.h * s.c * s.b, slices = (s.c + 3) / 4;
        float *x = numbers(count, 1), *w = numbers(slices * 4, 2), *y = numbers(count, 3);
        struct job job = {.kernel = &dialect_value,
                          .args = {{s, x}, {{slices * 4, 0, 0, 0}, w}, {s, y}},
                          .constants = {2, 2},
                          .groups = {(s.w + 3) / 4, (s.h + 1) / 2, slices * s.b}};
        if (n == 3) memcpy(job.group, (int[3]){16, 4, 1}, sizeof job.group); // larger groups than needed, still right
        run(place, &job);
        for (int i = 0; i < count; i++) {
            int c = i % s.c, at_x = i / s.c % s.w, at_y = i / s.c / s.w % s.h;
            float beside = at_x + 1 < s.w && at_y > 0 ? x[i + s.c - s.w * s.c] : 0.0f;
            expect_near(place, y[i], 2.0f * (x[i] + beside + w[c]), 4.0f, "values");
        }
        free(x);
        free(w);
        free(y);
    }
}

static void size_words(const struct place *place)
{
    struct shape s = {3, 4, 5, 6}, t = {4, 1, 1, 1};
    float *x = numbers(3 * 4 * 5 * 6, 1), y[4];
    static float out[4 * 9 * 4 * 4];
    struct job job = {.kernel = &dialect_sizes,
                      .args = {{s, x}, {t, y}, {{4 * 9 * 4 * 4, 0, 0, 0}, out}},
                      .groups = {2, 3, 2}};
    run(place, &job);
    for (int i = 0; i < 4 * 9 * 4; i++) {
        int a = i % 4, b = i / 4 % 9, c = i / 36;
        assert_int_equal((int)out[4 * i], a % 2 + b % 3 * 10 + c % 2 * 100);
        assert_int_equal((int)out[4 * i + 1], a / 2 + b / 3 * 10 + c / 2 * 100);
        assert_int_equal((int)out[4 * i + 2], 3 + 40 + 500 + 6000 + 20000);
        assert_int_equal((int)out[4 * i + 3], 2 + 30 + 200 + 4000);
    }
    free(x);
}

// ---- epilogue
// ----------------------------------------------------------------------------------------------------------

static float stage(int op, float v, float a, float b, float r)
{
    switch (op) {
    case GPU_EPI_RELU: return fmaxf(v, 0.0f);
    case GPU_EPI_RELU6: return fminf(fmaxf(v, 0.0f), 6.0f);
    case GPU_EPI_RELU_N1_TO_1: return fminf(fmaxf(v, -1.0f), 1.0f);
    case GPU_EPI_TANH: return tanhf(v);
    case GPU_EPI_SIGMOID: return 1.0f / (1.0f + expf(-v));
    case GPU_EPI_HARD_SWISH: return v * fminf(fmaxf(v + 3.0f, 0.0f), 6.0f) / 6.0f;
    case GPU_EPI_LEAKY_RELU: return v > 0.0f ? v : a * v;
    case GPU_EPI_CLAMP: return fminf(fmaxf(v, a), b);
    case GPU_EPI_SCALE_SHIFT: return v * a + b;
    case GPU_EPI_ADD_VALUE: return v + r;
    case GPU_EPI_MUL_VALUE: return v * r;
    case GPU_EPI_SUB_VALUE: return v - r;
    case GPU_EPI_FROM_VALUE: return r - v;
    case GPU_EPI_PRELU: return v >= 0.0f ? v : v * r;
    case GPU_EPI_ELU: return v > 0.0f ? v : expm1f(v);
    case GPU_EPI_EXP: return expf(v);
    case GPU_EPI_SQRT: return sqrtf(v);
    case GPU_EPI_RSQRT: return 1.0f / sqrtf(v);
    case GPU_EPI_SQUARE: return v * v;
    case GPU_EPI_ABS: return fabsf(v);
    case GPU_EPI_NEG: return -v;
    case GPU_EPI_SWISH: return v / (1.0f + expf(-v));
    case GPU_EPI_GELU: return v * 0.5f * erfcf(v * -0.70710678f);
    case GPU_EPI_GELU_TANH: return v * 0.5f * (1.0f + tanhf((v + v * v * v * 0.044715f) * 0.79788456f));
    case GPU_EPI_QUANTIZE: return fminf(fmaxf(roundf(v / a), b), b + 255) * a;
    default: return v;
    }
}

struct stages {
    int ops[GPU_EPILOGUE_STAGES];
    float operands[2 * GPU_EPILOGUE_STAGES];
};

// What stage n reads for element i of dense values of c channels. A stage of channels takes the vectors of r_ from one
// on, which are the first four channels of places in the first row.
static float operand(const struct stages *stages, int n, const float *r, int i, int c)
{
    int first, channel = i % c;
    memcpy(&first, &stages->operands[2 * n], sizeof first);
    return stages->ops[n] < GPU_STAGE_OF_CHANNELS ? r[i] : r[(first + channel / 4) * c + channel % 4];
}

static void check_stages(const struct place *place, const struct stages *stages)
{
    struct shape s = {5, 3, 6, 2};
    int count = s.w * s.h * s.c * s.b;
    float *x = numbers(count, 5), *y = numbers(count, 6), *r = numbers(count, 7);
    struct job job = {.kernel = &dialect_epilogue,
                      .args = {{s, x}, {s, y}, {s, r}},
                      .constants = {3},
                      .groups = {1, 2, 2 * s.b}};
    memcpy(job.constants + 1, stages->ops, sizeof stages->ops);
    memcpy(job.operands, stages->operands, sizeof stages->operands);
    char what[80];
    snprintf(what, sizeof what, "stages %d %d %d %d", stages->ops[0], stages->ops[1], stages->ops[2], stages->ops[3]);
    if (stages->ops[0] == GPU_EPI_SQRT || stages->ops[0] == GPU_EPI_RSQRT)
        for (int i = 0; i < count; i++) x[i] = fabsf(x[i]) + 0.25f;
    if (stages->ops[0] == GPU_EPI_PRELU) // an infinite slope is for what is below zero
        for (int i = 0; i < count; i += 3) r[i] = INFINITY;
    run(place, &job);
    for (int i = 0; i < count; i++) {
        float v = 3.0f * x[i];
        for (int n = 0; n < GPU_EPILOGUE_STAGES; n++)
            v = stage(stages->ops[n] % GPU_STAGE_OF_CHANNELS, v, stages->operands[2 * n], stages->operands[2 * n + 1],
                      operand(stages, n, r, i, s.c));
        // exp of 12 overflows as a half
        if (place->precision == GPU_F32 || fabsf(v) < 60000.0f) expect_near(place, y[i], v, 200.0f, what);
    }
    free(x);
    free(y);
    free(r);
}

static void epilogue_words(const struct place *place)
{
    for (int op = 0; op <= GPU_EPI_PRELU; op++)
        check_stages(place, &(struct stages){{op, 0, 0, 0}, {0.25f, 2.0f, 0, 0, 0, 0, 0, 0}});
    check_stages(place, &(struct stages){{GPU_EPI_RELU, GPU_EPI_ADD_VALUE, GPU_EPI_SCALE_SHIFT, GPU_EPI_CLAMP},
                                         {0, 0, 0, 0, 0.5f, -1.0f, -0.5f, 0.75f}});
    check_stages(place, &(struct stages){{GPU_EPI_SCALE_SHIFT, 0, GPU_EPI_MUL_VALUE, GPU_EPI_LEAKY_RELU},
                                         {0.125f, 1.0f, 0, 0, 0, 0, 0.2f, 0}});
    check_stages(place, &(struct stages){{GPU_EPI_ABS, GPU_EPI_NEG, GPU_EPI_SQUARE, GPU_EPI_QUANTIZE},
                                         {0, 0, 0, 0, 0, 0, 0.5f, 0}});
    check_stages(place, &(struct stages){{GPU_EPI_LEAKY_RELU, 0, 0, 0}, {INFINITY, 0, 0, 0, 0, 0, 0, 0}});
    const int by_channel = GPU_STAGE_OF_CHANNELS, two = 2;
    struct stages channels = {{GPU_EPI_PRELU + by_channel, GPU_EPI_TANH, GPU_EPI_ADD_VALUE + by_channel,
                               GPU_EPI_MUL_VALUE + by_channel},
                              {0, 0, 0, 0, 0, 0, 0, 0}};
    memcpy(&channels.operands[4], &two, sizeof two);
    check_stages(place, &channels);
}

#define EVERYWHERE(name)                        \
    static void name##_everywhere(void **state) \
    {                                           \
        (void)state;                            \
        everywhere(name);                       \
    }
EVERYWHERE(unary_words)
EVERYWHERE(positive_words)
EVERYWHERE(binary_words)
EVERYWHERE(value_words)
EVERYWHERE(size_words)
EVERYWHERE(epilogue_words)
EVERYWHERE(dots_of_bytes)

int main(void)
{
    gpu_devices_find(&devices);
    for (int i = 0; i < devices.api_count; i++)
        if (devices.apis[i].why) printf("%s: %s\n", devices.apis[i].name, devices.apis[i].why);
    if (devices.count == 0) {
        printf("no device at all: install pocl-opencl-icd or mesa-vulkan-drivers for one in software\n");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary_words_everywhere),   cmocka_unit_test(positive_words_everywhere),
        cmocka_unit_test(binary_words_everywhere),  cmocka_unit_test(value_words_everywhere),
        cmocka_unit_test(size_words_everywhere),    cmocka_unit_test(epilogue_words_everywhere),
        cmocka_unit_test(dots_of_bytes_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
