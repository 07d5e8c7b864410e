// SPDX-License-Identifier: Apache-2.0
// Convolutions on matrix units: every device that is here computes what the CPU does, in each form of the products.
// The caps that the plan sees are changed for that: CUDA has one form at a time (before the fake, where one is named,
// whose PTX products are plain code in the lanes' order that NVIDIA documents), and devices without matrix units get
// the plain code of MATRIX_STEP, which they never choose.
#include "gpu/delegate/part.h"
#include "gpu/delegate_session.h"
#include "gpu/ops/convolve.h"
#include "model/schema.h"

#define SET(options_, field_, value_)                                \
    {                                                                \
        .field = HL_##options_##_##field_, .value = (double)(value_) \
    }

enum { RELU6 = 3 }; // of the schema's ActivationFunctionType

struct shape {
    const char *name;
    int b, h, w, c, outputs;
    int kernel, stride, dilation;
    bool dense; // FULLY_CONNECTED
};
static const struct shape shapes[] = {
    {"1x1", 1, 14, 14, 128, 128, 1, 1, 1, false},
    {"1x1, channels that fill no step", 1, 13, 11, 90, 75, 1, 1, 1, false},
    {"1x1 with strides", 1, 22, 23, 96, 64, 1, 2, 1, false},
    {"3x3", 1, 12, 12, 32, 64, 3, 1, 1, false},
    {"3x3 of three channels", 1, 40, 36, 3, 32, 3, 2, 1, false},
    {"3x3, slices that fill no step", 1, 12, 13, 23, 40, 3, 1, 1, false},
    {"3x3, dilated", 1, 14, 13, 40, 48, 3, 1, 2, false},
    {"images", 3, 9, 9, 72, 80, 1, 1, 1, false},
    {"a matrix", 40, 1, 1, 256, 100, 1, 1, 1, true},
};

// clamped = RELU6(x + addend): split products are for x that has bounds.
static void begin_shape(struct session *session, const struct shape *shape)
{
    int step = shape->stride, h = (shape->h + step - 1) / step, w = (shape->w + step - 1) / step;
    int terms = shape->kernel * shape->kernel * shape->c;
    float *values[] = {numbers(shape->c, 1), numbers(terms * shape->outputs, 2), numbers(shape->outputs, 3)};
    enum { X, ADDEND, CLAMPED, WEIGHTS, BIAS, Y, TENSORS_HERE };
    struct test_tensor all[TENSORS_HERE] = {
        [X] = {.name = "x", .rank = 4, .dims = {shape->b, shape->h, shape->w, shape->c}},
        [ADDEND] = {.name = "addend", .rank = 1, .dims = {shape->c}, .data = values[0]},
        [CLAMPED] = {.name = "clamped", .rank = 4, .dims = {shape->b, shape->h, shape->w, shape->c}},
        [WEIGHTS] = {.name = "weights",
                     .rank = 4,
                     .dims = {shape->outputs, shape->kernel, shape->kernel, shape->c},
                     .data = values[1]},
        [BIAS] = {.name = "bias", .rank = 1, .dims = {shape->outputs}, .data = values[2]},
        [Y] = {.name = "y", .rank = 4, .dims = {shape->b, h, w, shape->outputs}},
    };
    if (shape->dense) {
        all[X] = (struct test_tensor){.name = "x", .rank = 2, .dims = {shape->b, shape->c}};
        all[CLAMPED] = (struct test_tensor){.name = "clamped", .rank = 2, .dims = {shape->b, shape->c}};
        all[Y] = (struct test_tensor){.name = "y", .rank = 2, .dims = {shape->b, shape->outputs}};
        all[WEIGHTS].rank = 2;
        all[WEIGHTS].dims[1] = shape->c;
    }
    all[ADDEND].bytes = (size_t)shape->c * sizeof(float);
    all[WEIGHTS].bytes = (size_t)terms * (size_t)shape->outputs * sizeof(float);
    all[BIAS].bytes = (size_t)shape->outputs * sizeof(float);
    struct test_node two[] = {
        {.builtin = kTfLiteBuiltinAdd,
         TEST_INPUTS(X, ADDEND),
         TEST_OUTPUTS(CLAMPED),
         .settings = {SET(AddOptions, fused_activation_function, RELU6)}},
        {.builtin = kTfLiteBuiltinConv2d,
         TEST_INPUTS(CLAMPED, WEIGHTS, BIAS),
         TEST_OUTPUTS(Y),
         .settings = {SET(Conv2DOptions, stride_w, step), SET(Conv2DOptions, stride_h, step),
                      SET(Conv2DOptions, dilation_w_factor, shape->dilation),
                      SET(Conv2DOptions, dilation_h_factor, shape->dilation)}},
    };
    if (shape->dense)
        two[1] = (struct test_node){.builtin = kTfLiteBuiltinFullyConnected,
                                    TEST_INPUTS(CLAMPED, WEIGHTS, BIAS),
                                    TEST_OUTPUTS(Y)};
    struct test_model model = {TEST_TENSORS(all), TEST_NODES(two), TEST_INPUTS(X), TEST_OUTPUTS(Y)};
    begin(session, &model);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) free(values[i]);
}

static struct gpu_caps pretended_caps;
static struct gpu_backend pretended;

static const struct gpu_caps *take_pretended_caps(const struct gpu_device *device)
{
    (void)device;
    return &pretended_caps;
}

// Opens the delegate's device, and lets the plan see one that has matrix units of these forms, and work-groups without
// a width, so that no other kernel for convolutions has a block that fits.
static void set_forms(TfLiteDelegate *delegate, unsigned forms)
{
    struct gpu_engine *engine = gpu_delegate_of(delegate)->engine;
    gpu_engine_enter(engine, NULL, "Init");
    assert_true(gpu_engine_open(engine));
    pretended_caps = *engine->info.backend->caps(engine->device);
    pretended_caps.matrix_forms = forms;
    pretended_caps.compute_units = 132;
    pretended_caps.max_group[0] = 0;
    pretended = *engine->info.backend;
    pretended.caps = take_pretended_caps;
    engine->info.backend = &pretended;
    gpu_engine_leave(engine);
}

// How many steps of the delegate's plans have matrix products of this form.
static int matrix_steps(TfLiteDelegate *delegate, int form)
{
    int count = 0, constant = 0;
    while (strcmp(gpu_kernel_matrix.constants[constant].name, "MATRIX") != 0) constant++;
    for (const struct gpu_part *part = gpu_delegate_of(delegate)->engine->buffers.parts; part; part = part->next)
        for (int s = 0; s < part->plan->step_count; s++)
            count +=
                part->plan->steps[s].kernel == &gpu_kernel_matrix && part->plan->steps[s].constants[constant] == form;
    return count;
}

// Of products of numbers up to 1.5 and 0.5: split ones are off by 2^-20 of the sum of the products' sizes at most,
// those of halves by 2^-10.
static float bound_for(const struct shape *shape, int form)
{
    float most = (float)(shape->kernel * shape->kernel * shape->c) * 0.75f;
    return 1e-6f + most * (form == MATRIX_HALVES ? 1.0f / 1024 : 1.0f / 1048576);
}

// few: the device's compiler takes long, and a few shapes show that its text is right.
static void check_form(const char *device, int form, bool few)
{
    for (size_t i = 0; i < (few ? 2 : sizeof shapes / sizeof *shapes); i++) {
        struct session cpu, gpu;
        begin_shape(&cpu, &shapes[i]);
        begin_shape(&gpu, &shapes[i]);
        const char *precision = form == MATRIX_HALVES ? "f16" : "f32";
        TfLiteDelegate *delegate = make((const char *[]){"device", device, "precision", precision, NULL});
        assert_non_null(delegate);
        set_forms(delegate, 1u << form);
        assert_int_equal(apply(&gpu, delegate), kTfLiteOk);
        if (matrix_steps(delegate, form) != 1) fail_msg("%s: no matrix products", shapes[i].name);
        run_on_numbers(&cpu);
        run_on_numbers(&gpu);
        check_same_outputs(&cpu, &gpu, bound_for(&shapes[i], form), shapes[i].name);
        end(&cpu);
        end(&gpu);
        tflite_plugin_destroy_delegate(delegate);
    }
}

static void plain_code(void **state)
{
    if (!has_device(*state)) skip();
    check_form(*state, MATRIX_FLOATS, strcmp(*state, "vulkan") == 0);
}

static void forms_of_cuda(void **state)
{
    (void)state;
    if (!has_device("cuda")) skip();
    check_form("cuda", MATRIX_FLOATS, false);
    check_form("cuda", MATRIX_SPLIT, false);
    check_form("cuda", MATRIX_HALVES, false);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(forms_of_cuda),
        {"plain_code opencl", plain_code, NULL, NULL, "opencl"},
        {"plain_code vulkan", plain_code, NULL, NULL, "vulkan"},
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
