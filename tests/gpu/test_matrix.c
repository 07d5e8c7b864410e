// SPDX-License-Identifier: Apache-2.0
// Convolutions on matrix units: every device that is here computes what the CPU does, in each form of the products.
// Those with fragments run on Vulkan, as cooperative matrices where the device has them, else as plain code.
// The caps that the plan sees are changed for that: CUDA has one form at a time (before the fake, where one is named,
// whose PTX products are plain code in the lanes' order that NVIDIA documents), and so has OpenCL on NVIDIA's devices.
// Devices without matrix units get the plain code of MATRIX_STEP, which they never choose.
#include <math.h>

#include "base/half.h"
#include "gpu/ops/convolve.h"
#include "gpu/pretended_units.h"
#include "model/schema.h"

enum { NO_ACTIVATION, RELU, RELU6 = 3 }; // of the schema's ActivationFunctionType

struct shape {
    const char *name;
    int b, h, w, c, outputs;
    int kernel_h, kernel_w, stride, dilation;
    enum { PLAIN, DENSE, MIRRORED } form; // FULLY_CONNECTED, MIRROR_PAD in front of it
};
static const struct shape shapes[] = {
    {"1x1", 1, 14, 14, 128, 128, 1, 1, 1, 1, PLAIN},
    {"3x2, slices that fill no step", 1, 12, 13, 23, 40, 3, 2, 1, 1, PLAIN},
    {"1x1, channels that fill no step", 1, 13, 11, 90, 75, 1, 1, 1, 1, PLAIN},
    {"1x1 with strides", 1, 22, 23, 96, 64, 1, 1, 2, 1, PLAIN},
    {"3x3", 1, 12, 12, 32, 64, 3, 3, 1, 1, PLAIN},
    {"3x3 of three channels", 1, 40, 36, 3, 32, 3, 3, 2, 1, PLAIN},
    {"3x3, dilated", 1, 14, 13, 40, 48, 3, 3, 1, 2, PLAIN},
    {"images", 3, 9, 9, 72, 80, 1, 1, 1, 1, PLAIN},
    {"a matrix", 40, 1, 1, 256, 100, 1, 1, 1, 1, DENSE},
    {"5x5, mirrored", 2, 11, 13, 24, 40, 5, 5, 1, 1, MIRRORED},
};
// Those whose taps share what a group brings, on planes that are larger.
static const struct shape windows[] = {
    {"3x3 of a larger plane", 1, 21, 35, 40, 72, 3, 3, 1, 1, PLAIN},
    {"5x4 with strides", 2, 24, 37, 36, 40, 5, 4, 2, 1, PLAIN},
    {"5x5 of a larger plane, mirrored", 2, 18, 33, 24, 40, 5, 5, 1, 1, MIRRORED},
    {"5x5 of less than a tile, mirrored", 1, 5, 4, 24, 40, 5, 5, 1, 1, MIRRORED},
    {"3x3 of a tile", 1, 12, 12, 32, 64, 3, 3, 1, 1, PLAIN},
    {"1x7", 1, 20, 34, 70, 24, 1, 7, 1, 1, PLAIN},
    {"3x3, few outputs", 1, 21, 35, 40, 12, 3, 3, 1, 1, PLAIN},
    {"2x2, many outputs", 1, 40, 35, 40, 64, 2, 2, 1, 1, PLAIN},
    {"9x9 of a slice", 1, 21, 40, 3, 32, 9, 9, 1, 1, PLAIN},
    {"5x7 of a slice with strides", 1, 40, 70, 4, 24, 5, 7, 2, 1, PLAIN},
    {"3x3 of two slices", 2, 20, 35, 7, 40, 3, 3, 1, 1, PLAIN},
    {"7x7 of a slice, mirrored", 1, 30, 36, 1, 40, 7, 7, 1, 1, MIRRORED},
    {"9x9 to a slice", 1, 21, 40, 24, 3, 9, 9, 1, 1, PLAIN},
    {"3x5 to a slice", 2, 20, 75, 40, 4, 3, 5, 1, 1, PLAIN},
    {"3x3 to a slice, mirrored", 1, 15, 37, 12, 1, 3, 3, 1, 1, MIRRORED},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, FEW = 2, WINDOWS = sizeof windows / sizeof *windows };

// Numbers between -0.5 and 0.5, malloc'ed, of which no half and no TF32 number holds all bits.
static float *fine_numbers(int count, int seed)
{
    float *values = malloc((size_t)count * sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < count; i++)
        values[i] = (float)((uint32_t)(i * 37 + seed * 101) * 2654435761u >> 8) / 16777216 - 0.5f;
    return values;
}

// x: fine numbers of another size (0: as they are), but for one in the middle (0: not even that).
struct input {
    float scale, middle;
};
static void run_on(struct session *session, struct input numbers)
{
    TfLiteTensor *x = TfLiteInterpreterGetInputTensor(session->interpreter, 0);
    const int count = (int)(TfLiteTensorByteSize(x) / sizeof(float));
    float *input = fine_numbers(count, 5);
    for (int i = 0; numbers.scale != 0 && i < count; i++) input[i] *= numbers.scale;
    if (numbers.middle != 0) input[count / 2] = numbers.middle;
    assert_int_equal(TfLiteTensorCopyFromBuffer(x, input, TfLiteTensorByteSize(x)), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(session->interpreter), kTfLiteOk);
    free(input);
}

// clamped = activation(x + addend): x without bounds is guarded where it is split. The last weight, and the size of
// all, may be others than fine_numbers has, and all may be halves.
struct content {
    int activation;
    float last_weight, scale; // 0: as it is
    bool halves;
    struct input x; // the addend and the bias are of its size
};
static void begin_shape(struct session *session, const struct shape *shape, struct content content)
{
    int step = shape->stride, h = (shape->h + step - 1) / step, w = (shape->w + step - 1) / step;
    int terms = shape->kernel_h * shape->kernel_w * shape->c;
    float *values[] = {fine_numbers(shape->c, 1), fine_numbers(terms * shape->outputs, 2),
                       fine_numbers(shape->outputs, 3)};
    for (int i = 0; content.x.scale != 0 && i < shape->c; i++) values[0][i] *= content.x.scale;
    for (int i = 0; content.x.scale != 0 && i < shape->outputs; i++) values[2][i] *= content.x.scale;
    for (int i = 0; content.scale != 0 && i < terms * shape->outputs; i++) values[1][i] *= content.scale;
    for (int i = 0; content.halves && i < terms * shape->outputs; i++)
        values[1][i] = hl_half_to_float(hl_half_from_float(values[1][i]));
    if (content.last_weight != 0) values[1][terms * shape->outputs - 1] = content.last_weight;
    const int above = shape->kernel_h / 2, left = shape->kernel_w / 2,
              around[8] = {0, 0, above, above, left, left, 0, 0};
    enum { X, ADDEND, CLAMPED, WEIGHTS, BIAS, Y, AROUND, PADDED, TENSORS_HERE };
    struct test_tensor all[TENSORS_HERE] = {
        [X] = {.name = "x", .rank = 4, .dims = {shape->b, shape->h, shape->w, shape->c}},
        [ADDEND] = {.name = "addend", .rank = 1, .dims = {shape->c}, .data = values[0]},
        [CLAMPED] = {.name = "clamped", .rank = 4, .dims = {shape->b, shape->h, shape->w, shape->c}},
        [WEIGHTS] = {.name = "weights",
                     .rank = 4,
                     .dims = {shape->outputs, shape->kernel_h, shape->kernel_w, shape->c},
                     .data = values[1]},
        [BIAS] = {.name = "bias", .rank = 1, .dims = {shape->outputs}, .data = values[2]},
        [Y] = {.name = "y", .rank = 4, .dims = {shape->b, h, w, shape->outputs}},
        [AROUND] =
            {.name = "around", .type = TEST_INT32, .rank = 2, .dims = {4, 2}, .data = around, .bytes = sizeof around},
        [PADDED] = {.name = "padded", .rank = 4, .dims = {shape->b, h + 2 * above, w + 2 * left, shape->c}},
    };
    if (shape->form == DENSE) {
        all[X] = (struct test_tensor){.name = "x", .rank = 2, .dims = {shape->b, shape->c}};
        all[CLAMPED] = (struct test_tensor){.name = "clamped", .rank = 2, .dims = {shape->b, shape->c}};
        all[Y] = (struct test_tensor){.name = "y", .rank = 2, .dims = {shape->b, shape->outputs}};
        all[WEIGHTS].rank = 2;
        all[WEIGHTS].dims[1] = shape->c;
    }
    all[ADDEND].bytes = (size_t)shape->c * sizeof(float);
    all[WEIGHTS].bytes = (size_t)terms * (size_t)shape->outputs * sizeof(float);
    all[BIAS].bytes = (size_t)shape->outputs * sizeof(float);
    struct test_node three[3] = {
        {.builtin = kTfLiteBuiltinAdd,
         TEST_INPUTS(X, ADDEND),
         TEST_OUTPUTS(CLAMPED),
         .settings = {TEST_SET(AddOptions, fused_activation_function, content.activation)}},
        {.builtin = kTfLiteBuiltinConv2d,
         TEST_INPUTS(CLAMPED, WEIGHTS, BIAS),
         TEST_OUTPUTS(Y),
         .settings = {TEST_SET(Conv2DOptions, stride_w, step), TEST_SET(Conv2DOptions, stride_h, step),
                      TEST_SET(Conv2DOptions, dilation_w_factor, shape->dilation),
                      TEST_SET(Conv2DOptions, dilation_h_factor, shape->dilation)}},
    };
    if (shape->form == DENSE)
        three[1] = (struct test_node){.builtin = kTfLiteBuiltinFullyConnected,
                                      TEST_INPUTS(CLAMPED, WEIGHTS, BIAS),
                                      TEST_OUTPUTS(Y)};
    if (shape->form == MIRRORED) {
        three[2] = three[1];
        three[2].inputs[0] = PADDED;
        three[2].settings[4] = (struct test_setting)TEST_SET(Conv2DOptions, padding, 1); // VALID
        three[1] = (struct test_node){.builtin = kTfLiteBuiltinMirrorPad,
                                      TEST_INPUTS(CLAMPED, AROUND),
                                      TEST_OUTPUTS(PADDED),
                                      .settings = {TEST_SET(MirrorPadOptions, mode, 0)}}; // REFLECT
    }
    struct test_model model = {TEST_TENSORS(all), TEST_NODES(three), TEST_INPUTS(X), TEST_OUTPUTS(Y)};
    if (shape->form != MIRRORED) model.node_count = 2;
    begin(session, &model);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) free(values[i]);
}

static const struct device usual = {132, 1024, 64, 0},
                           others[] = {{1, 1, 1, 0}, {4, 1, 2, 0}, {8, 2, 4, 0}, {16, 4, 2, 0}, {1, 1, 2, 0}};
// An H100's, and devices whose shared memory has no place for all weights of a group at once.
static const struct device large = {132, 1024, 64, 115584},
                           small[] = {{1, 1, 1, 24000}, {4, 2, 2, 40000}, {132, 1024, 64, 20000}, {1, 8, 1, 60000}};
static const struct device wide[] = {{1, 4, 1, 100000}, {7, 4, 1, 100000}};
// The same, with as much memory as a group has on OpenCL (NVIDIA's gives 48 KB).
static const struct device *limited(const char *name, const struct device *device)
{
    enum { MOST = 49000, ROOM = 8 };
    static struct device less[ROOM];
    static int count;
    if (strcmp(name, "opencl") != 0 || device->dynamic <= MOST) return device;
    less[count %= ROOM] = *device;
    less[count].dynamic = MOST;
    return &less[count++];
}
static const struct device fragments[] = {{8, 2, 2, 0}, {1, 4, 2, 0}, {1, 1, 2, 0}},
                           fragments_of_windows[] = {{8, 4, 1, 0}, {32, 4, 1, 0}, {1, 4, 1, 0}, {1, 1, 1, 0}};
enum {
    OTHERS = sizeof others / sizeof *others,
    SMALL = sizeof small / sizeof *small,
    WIDE = sizeof wide / sizeof *wide,
    FRAGMENTS = sizeof fragments / sizeof *fragments,
    WINDOW_FRAGMENTS = sizeof fragments_of_windows / sizeof *fragments_of_windows
};

static int constant_of(const struct gpu_plan_step *step, const char *name)
{
    int i = gpu_kernel_constant_index(step->kernel, name);
    assert_true(i >= 0);
    return step->constants[i];
}

// Ways through the kernel that some block must take, so that its loops are tried.
enum way {
    TILES_BOTH_WAYS = 1, // of positions and of outputs
    STEPS_AHEAD = 2,     // several are loaded at once, more than once, by subgroups that divide them
    WHOLE_SUMS = 4,      // of several tiles, without other subgroups
    ROUNDS = 8,          // sums of subgroups that do not fit in shared memory at once, several for each subgroup
    SIDE_BY_SIDE = 16,   // subgroups along outputs and along steps
    ALL_WAYS = 31
};
static int ways_of(const struct gpu_plan_step *step)
{
    int positions = constant_of(step, "BLOCK_X"), outputs = constant_of(step, "BLOCK_O");
    int depth = constant_of(step, "DEPTH"), round = constant_of(step, "ROUND");
    int across = step->group[1], along = step->group[2], sums = 2 * positions * outputs, ways = 0;
    int steps = step->params[gpu_kernel_shape_count(step->kernel)][3];
    if (positions > 1 && outputs > 1) ways |= TILES_BOTH_WAYS;
    if (depth > 1 && along > 1 && steps > depth * along) ways |= STEPS_AHEAD;
    if (along == 1 && sums > 4) ways |= WHOLE_SUMS;
    if (along > 1 && round < sums && round > along) ways |= ROUNDS;
    if (across > 1 && along > 1) ways |= SIDE_BY_SIDE;
    return ways;
}

enum shared_way {
    SEVERAL_CHUNKS = 1,
    SLOTS_AGAIN = 2,   // more chunks of weights than slots
    CHUNKS_AHEAD = 4,  // several are loaded before the first is multiplied
    DIVIDED_STEPS = 8, // among subgroups, beside others with other outputs
    ALL_SHARED_WAYS = 15
};
static int shared_ways_of(const struct gpu_plan_step *step)
{
    int steps = step->params[gpu_kernel_shape_count(step->kernel)][3], ways = 0;
    int chunks = steps / constant_of(step, "CHUNK");
    if (chunks > 1) ways |= SEVERAL_CHUNKS;
    if (chunks > constant_of(step, "STAGES")) ways |= SLOTS_AGAIN;
    if (constant_of(step, "AHEAD") > 1) ways |= CHUNKS_AHEAD;
    if (step->group[1] > 1 && step->group[2] > 1) ways |= DIVIDED_STEPS;
    return ways;
}

// The same of the kernel with windows.
enum window_way {
    PATCHES = 32, // several chunks
    PATCH_SLOTS_AGAIN = 64,
    ROWS_AND_OUTPUTS = 128, // several tiles of both in a subgroup
    BELOW_AND_BESIDE = 256, // several subgroups
    COLUMNS_OF_X = 512,     // several columns of taps are a step's channels, or its outputs
    COLUMNS_OF_Y = 1024,
    ALL_WINDOW_WAYS = 2016,
    BROUGHT_WEIGHTS = 2048, // with fragments they are put into shared memory, or are too many for that
    WEIGHTS_FROM_MEMORY = 4096,
    ALL_WAYS_OF_FRAGMENTS = ALL_WINDOW_WAYS | BROUGHT_WEIGHTS | WEIGHTS_FROM_MEMORY
};
static int window_ways_of(const struct gpu_plan_step *step)
{
    int chunks = step->params[gpu_kernel_shape_count(step->kernel)][0], across = constant_of(step, "ACROSS"), ways = 0;
    if (chunks > 1) ways |= PATCHES;
    if (gpu_kernel_constant_index(step->kernel, "STAGES") < 0 || chunks > constant_of(step, "STAGES"))
        ways |= PATCH_SLOTS_AGAIN; // where there are slots
    if (constant_of(step, "BLOCK_X") > 1 && constant_of(step, "BLOCK_O") > 1) ways |= ROWS_AND_OUTPUTS;
    if (across > 1 && step->group[1] > across) ways |= BELOW_AND_BESIDE;
    if (constant_of(step, "COLUMNS") > 1) ways |= COLUMNS_OF_X;
    if (constant_of(step, "SPREAD") > 1) ways |= COLUMNS_OF_Y;
    if (gpu_kernel_constant_index(step->kernel, "FETCHES") >= 0)
        ways |= constant_of(step, "FETCHES") > 0 ? BROUGHT_WEIGHTS : WEIGHTS_FROM_MEMORY;
    return ways;
}

// The same of the kernels with fragments.
enum fragment_way {
    FRAGMENTS_BOTH_WAYS = 1,
    TURNS = 2,        // several of several steps each, of subgroups that divide them
    PAIRS_EACH = 4,   // of slices, several for each work-item
    SEVERAL_SUMS = 8, // rounds of them
    TOGETHER = 16,    // subgroups with the same positions, and others with the same outputs
    ALL_FRAGMENT_WAYS = 31
};
static int fragment_ways_of(const struct gpu_plan_step *step)
{
    int positions = constant_of(step, "BLOCK_X"), outputs = constant_of(step, "BLOCK_O");
    int depth = constant_of(step, "DEPTH"), round = constant_of(step, "ROUND");
    int across = step->group[1], along = step->group[2], ways = 0;
    int steps = step->params[gpu_kernel_shape_count(step->kernel)][3];
    if (positions > 1 && outputs > 1) ways |= FRAGMENTS_BOTH_WAYS;
    if (depth > 1 && along > 1 && steps > depth * along) ways |= TURNS;
    if (constant_of(step, "PAIRS") > 1) ways |= PAIRS_EACH;
    if (round < positions * outputs) ways |= SEVERAL_SUMS;
    if (across > 1 && along > 1) ways |= TOGETHER;
    return ways;
}

// Of products of numbers up to 1.5 and 0.5, times those of x: split ones are off by 2^-20 of the sum of the products'
// sizes at most, those of halves by 2^-10. With a large number in the middle sums are as large, and the units cut off
// each of some 48 that follow by 2^-23 of them.
static float bound_for(const struct shape *shape, int form, struct input x)
{
    const float scale = x.scale != 0 ? x.scale : 1;
    float most = (float)(shape->kernel_h * shape->kernel_w * shape->c) * 0.75f * scale + fabsf(x.middle) * 8;
    return 1e-6f * scale + most * (form == MATRIX_HALVES ? 1.0f / 1024 : 1.0f / 1048576);
}

static TfLiteDelegate *make_for(const char *device, int form)
{
    const char *precision = form == MATRIX_HALVES ? "f16" : "f32";
    TfLiteDelegate *delegate = make((const char *[]){"device", device, "precision", precision, NULL});
    assert_non_null(delegate);
    return delegate;
}

// Returns the ways that the kernel took. x: what it is where nothing bounds it; NULL: bounded.
static int check_numbers(const char *device, int form, bool has_fragments, const struct shape *shape,
                         const struct device *seen, const struct input *x)
{
    struct content content = {.activation = x ? NO_ACTIVATION : RELU6, .halves = form == MATRIX_NARROW};
    if (x) content.x = *x;
    struct session cpu, gpu;
    begin_shape(&cpu, shape, content);
    begin_shape(&gpu, shape, content);
    TfLiteDelegate *delegate = make_for(device, form);
    set_units(delegate, 1u << form, has_fragments, seen);
    assert_int_equal(apply(&gpu, delegate), kTfLiteOk);
    const struct gpu_kernel *window = !has_fragments               ? &gpu_kernel_matrix_window
                                      : pretended_caps.cooperative ? &gpu_kernel_cooperative_window
                                                                   : &gpu_kernel_fragments_window;
    const bool has_window = step_of_form(delegate, window, form) != NULL;
    const struct gpu_kernel *kernel = has_window                   ? window
                                      : seen->dynamic > 0          ? &gpu_kernel_matrix_shared
                                      : !has_fragments             ? &gpu_kernel_matrix
                                      : pretended_caps.cooperative ? &gpu_kernel_cooperative
                                                                   : &gpu_kernel_fragments;
    const struct gpu_plan_step *step = step_of_form(delegate, kernel, form);
    // OpenCL's memory is too small for some windows.
    const bool may_lack = strcmp(device, "opencl") == 0 && shape >= windows && shape < windows + WINDOWS;
    if (!step && !may_lack) fail_msg("%s: no matrix products", shape->name);
    int ways = !step               ? 0
               : has_window        ? window_ways_of(step)
               : seen->dynamic > 0 ? shared_ways_of(step)
               : has_fragments     ? fragment_ways_of(step)
                                   : ways_of(step);
    if (x && step) assert_int_equal(constant_of(step, "GUARDED"), 1);
    run_on(&cpu, content.x);
    run_on(&gpu, content.x);
    check_same_outputs(&cpu, &gpu, bound_for(shape, form, content.x), shape->name);
    end(&cpu);
    end(&gpu);
    tflite_plugin_destroy_delegate(delegate);
    return ways;
}

static int check_shape(const char *device, int form, bool has_fragments, const struct shape *shape,
                       const struct device *seen)
{
    return check_numbers(device, form, has_fragments, shape, seen, NULL);
}

// few: the device's compiler takes long, and a few shapes show that its text is right.
static void check_form(const char *device, int form, bool few)
{
    int ways = 0;
    for (int i = 0; i < (few ? FEW : SHAPES); i++) ways |= check_shape(device, form, false, &shapes[i], &usual);
    for (int d = 0; d < OTHERS && !few; d++)
        for (int i = 0; i < FEW; i++) ways |= check_shape(device, form, false, &shapes[i], &others[d]);
    if (!few && ways != ALL_WAYS) fail_msg("form %d: no block takes the ways %d", form, ALL_WAYS & ~ways);
}

static void plain_code(void **state)
{
    if (!has_device(*state)) skip();
    check_form(*state, MATRIX_FLOATS, strcmp(*state, "vulkan") == 0);
}

static void fragments_on_vulkan(void **state)
{
    (void)state;
    if (!has_device("vulkan")) skip();
    for (int form = MATRIX_SPLIT; form <= MATRIX_NARROW; form++) {
        int ways = 0;
        for (int i = 0; i < SHAPES; i++)
            ways |= check_shape("vulkan", form, true, &shapes[i], &fragments[i % FRAGMENTS]);
        for (int d = 0; d < FRAGMENTS; d++)
            for (int i = 0; i < FEW; i++) ways |= check_shape("vulkan", form, true, &shapes[i], &fragments[d]);
        if ((ways & ALL_FRAGMENT_WAYS) != ALL_FRAGMENT_WAYS)
            fail_msg("form %d: no block takes the ways %d", form, ALL_FRAGMENT_WAYS & ~ways);
    }
}

// Whether the device has instructions for a form, and not the plain code alone. On OpenCL those of NVIDIA have them.
static bool has_form(const char *device, int form)
{
    if (!has_device(device)) return false;
    TfLiteDelegate *delegate = make_for(device, form);
    struct gpu_engine *engine = gpu_delegate_of(delegate)->engine;
    gpu_engine_enter(engine, NULL, "Init");
    assert_true(gpu_engine_open(engine));
    const struct gpu_caps *caps = engine->info.backend->caps(engine->device);
    const bool has = caps->matrix_forms >> form & 1;
    gpu_engine_leave(engine);
    tflite_plugin_destroy_delegate(delegate);
    return has;
}

static void all_forms(void **state)
{
    const char *device = *state;
    if (!has_form(device, MATRIX_SPLIT)) skip();
    check_form(device, MATRIX_FLOATS, false);
    check_form(device, MATRIX_SPLIT, false);
    check_form(device, MATRIX_HALVES, false);
    check_form(device, MATRIX_NARROW, true); // its loops are those of the others
}

static void shared_memory(void **state)
{
    const char *device = *state;
    if (!has_form(device, MATRIX_SPLIT)) skip();
    for (int form = MATRIX_SPLIT; form <= MATRIX_NARROW; form += MATRIX_NARROW - MATRIX_SPLIT) {
        int ways = 0;
        for (int i = 0; i < SHAPES; i++) ways |= check_shape(device, form, false, &shapes[i], limited(device, &large));
        for (int d = 0; d < SMALL; d++)
            for (int i = 0; i < SHAPES; i += 2)
                ways |= check_shape(device, form, false, &shapes[i], limited(device, &small[d]));
        if ((ways & ALL_SHARED_WAYS) != ALL_SHARED_WAYS)
            fail_msg("form %d: no block takes the ways %d", form, ALL_SHARED_WAYS & ~ways);
    }
}

// Of OpenCL's devices those without matrix units have the plain code of a form.
static void windows_of_dynamic_memory(void **state)
{
    const char *device = *state;
    if (!has_device(device)) skip();
    for (int form = MATRIX_FLOATS; form <= MATRIX_NARROW; form++) {
        if (form != MATRIX_FLOATS && !has_form(device, form)) continue;
        int ways = 0;
        for (int i = 0; i < WINDOWS; i++)
            for (int d = 0; d < WIDE; d++)
                ways |= check_shape(device, form, false, &windows[i], limited(device, &wide[d]));
        if ((ways & ALL_WINDOW_WAYS) != ALL_WINDOW_WAYS)
            fail_msg("form %d: no block takes the ways %d", form, ALL_WINDOW_WAYS & ~ways);
    }
}

static void windows_on_vulkan(void **state)
{
    (void)state;
    if (!has_device("vulkan")) skip();
    for (int form = MATRIX_SPLIT; form <= MATRIX_NARROW; form++) {
        int ways = 0;
        for (int i = 0; i < WINDOWS; i++)
            for (int d = 0; d < WINDOW_FRAGMENTS; d++)
                ways |= check_shape("vulkan", form, true, &windows[i], &fragments_of_windows[d]);
        if (form == MATRIX_NARROW) ways |= BELOW_AND_BESIDE; // no block here does so; the text is that of the others
        if ((ways & ALL_WAYS_OF_FRAGMENTS) != ALL_WAYS_OF_FRAGMENTS)
            fail_msg("form %d: no block takes the ways %d", form, ALL_WAYS_OF_FRAGMENTS & ~ways);
    }
}

// Numbers without bounds are split as well. Where halves do not hold them, all of them or one, sums are as exact: this
// fails where the kernel does not compute them again, with an infinity for the large ones.
static const struct input inputs[] = {{0, 0}, {0, 1e5f}, {1e6f, 0}, {1e-6f, 0}, {100, -65520}};
static void numbers_without_bounds(void **state)
{
    const char *device = *state;
    if (!has_form(device, MATRIX_SPLIT)) skip();
    for (int form = MATRIX_SPLIT; form <= MATRIX_NARROW; form += MATRIX_NARROW - MATRIX_SPLIT)
        for (int n = 0; n < (int)(sizeof inputs / sizeof *inputs); n++) {
            for (int i = n; i < SHAPES; i += 5) {
                check_numbers(device, form, false, &shapes[i], &others[i % OTHERS], &inputs[n]);
                check_numbers(device, form, false, &shapes[i],
                              i % 4 < 2 ? limited(device, &large) : limited(device, &small[i % SMALL]), &inputs[n]);
            }
            check_numbers(device, form, false, &windows[n % WINDOWS], limited(device, &wide[n % WIDE]), &inputs[n]);
        }
}

// On Vulkan only kernels with windows split them.
static void unbounded_windows_on_vulkan(void **state)
{
    (void)state;
    if (!has_device("vulkan")) skip();
    for (int n = 0; n < (int)(sizeof inputs / sizeof *inputs); n++)
        check_numbers("vulkan", n % 2 ? MATRIX_SPLIT : MATRIX_NARROW, true, &windows[n % WINDOWS],
                      &fragments_of_windows[n % WINDOW_FRAGMENTS], &inputs[n]);
}

// Numbers that two halves do not hold well are not split.
static void only_moderate_numbers_are_split(void **state)
{
    (void)state;
    static const struct {
        struct content content;
        bool is_split;
    } cases[] = {
        {{.activation = RELU6}, true},
        {{.activation = RELU}, true}, // x without bounds is guarded
        {{.activation = NO_ACTIVATION}, true},
        {{.activation = RELU6, .last_weight = 256}, true},
        {{.activation = RELU6, .last_weight = 257}, false},
        {{.activation = RELU6, .last_weight = -257}, false},
        {{.activation = RELU6, .last_weight = NAN}, false},
        {{.activation = RELU6, .scale = 0.001f}, false},                     // all weights are small
        {{.activation = RELU6, .last_weight = 0.5f, .scale = 0.001f}, true}, // but one
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int s = 0; s < FEW; s++) {
            struct session session;
            begin_shape(&session, &shapes[s], cases[i].content);
            TfLiteDelegate *delegate = make_for("null", MATRIX_SPLIT);
            set_units(delegate, 1u << MATRIX_SPLIT | 1u << MATRIX_FLOATS, false, &usual);
            assert_int_equal(apply(&session, delegate), kTfLiteOk);
            bool is_split = step_of_form(delegate, &gpu_kernel_matrix, MATRIX_SPLIT) != NULL;
            if (is_split != cases[i].is_split) fail_msg("case %zu of %s", i, shapes[s].name);
            const struct gpu_plan_step *step =
                step_of_form(delegate, &gpu_kernel_matrix, is_split ? MATRIX_SPLIT : MATRIX_FLOATS);
            assert_non_null(step);
            assert_int_equal(constant_of(step, "GUARDED"), is_split && cases[i].content.activation != RELU6);
            end(&session);
            tflite_plugin_destroy_delegate(delegate);
        }
}

// Weights that are all halves need no second ones, whatever their size. One that is none, or is none of finite size,
// does.
static void only_halves_are_narrow(void **state)
{
    (void)state;
    static const struct {
        struct content content;
        bool is_narrow;
    } cases[] = {
        {{.activation = RELU6, .halves = true}, true},
        {{.activation = RELU6}, false},
        {{.activation = RELU, .halves = true}, true},
        {{.activation = RELU6, .last_weight = 65504, .halves = true}, true},
        {{.activation = RELU6, .last_weight = 65536, .halves = true}, false},
        {{.activation = RELU6, .last_weight = NAN, .halves = true}, false},
        {{.activation = RELU6, .last_weight = 0x1p-24f, .halves = true}, true}, // the smallest half
        {{.activation = RELU6, .last_weight = 0x1p-25f, .halves = true}, false},
        {{.activation = RELU6, .last_weight = 1.0f / 3, .halves = true}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session session;
        begin_shape(&session, &shapes[0], cases[i].content);
        TfLiteDelegate *delegate = make_for("null", MATRIX_NARROW);
        set_units(delegate, 1u << MATRIX_NARROW | 1u << MATRIX_FLOATS, false, &usual);
        assert_int_equal(apply(&session, delegate), kTfLiteOk);
        bool is_narrow = step_of_form(delegate, &gpu_kernel_matrix, MATRIX_NARROW) != NULL;
        if (is_narrow != cases[i].is_narrow) fail_msg("case %zu", i);
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(only_moderate_numbers_are_split),
        cmocka_unit_test(only_halves_are_narrow),
        {"shared_memory cuda", shared_memory, NULL, NULL, "cuda"},
        {"shared_memory opencl", shared_memory, NULL, NULL, "opencl"},
        {"all_forms cuda", all_forms, NULL, NULL, "cuda"},
        {"all_forms opencl", all_forms, NULL, NULL, "opencl"},
        {"windows_of_dynamic_memory cuda", windows_of_dynamic_memory, NULL, NULL, "cuda"},
        {"windows_of_dynamic_memory opencl", windows_of_dynamic_memory, NULL, NULL, "opencl"},
        {"numbers_without_bounds cuda", numbers_without_bounds, NULL, NULL, "cuda"},
        {"numbers_without_bounds opencl", numbers_without_bounds, NULL, NULL, "opencl"},
        cmocka_unit_test(fragments_on_vulkan),
        cmocka_unit_test(windows_on_vulkan),
        cmocka_unit_test(unbounded_windows_on_vulkan),
        {"plain_code opencl", plain_code, NULL, NULL, "opencl"},
        {"plain_code vulkan", plain_code, NULL, NULL, "vulkan"},
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
