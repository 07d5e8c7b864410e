// SPDX-License-Identifier: Apache-2.0
// A depthwise convolution and the 1x1 convolution that reads it: when the plan makes one dispatch of them, on the null
// device, and that every device that is here then computes what the CPU does: windows, strides, dilations, channels
// that do not fill a slice, what stands between the two and after them, several images. The same with products on
// matrix units: by the fake CUDA in each form, and by the plain code of OpenCL and Vulkan, which never choose it; and
// with fragments, which Vulkan has as cooperative matrices or in plain code.
#include "gpu/backend/null.h"
#include "gpu/ops/separable.h"
#include "gpu/pretended_units.h"

#include "model/schema.h"

// Values of the schema's ActivationFunctionType.
enum { NO_ACTIVATION = 0, RELU = 1, RELU6 = 3, TANH = 4 };

struct pair {
    const char *name;
    int b, h, w, c, outputs;
    int kernel, stride, dilation, valid; // valid: no zeros around x
    int between, after;                  // activations
    bool no_bias, added, middle_is_output, through_strides;
    bool finer; // weights are no halves
    bool apart; // the plan makes two dispatches of it
};
static const struct pair pairs[] = {
    {.name = "3x3", 1, 9, 7, 16, 24, 3, 1, 1, 0, RELU6, RELU6},
    {.name = "many channels", 1, 7, 7, 256, 96, 3, 1, 1, 0, RELU6, RELU6},
    {.name = "strides", 1, 15, 14, 32, 40, 3, 2, 1, 0, RELU, NO_ACTIVATION},
    {.name = "channels that fill no slice", 1, 8, 8, 13, 7, 3, 1, 1, 0, NO_ACTIVATION, RELU},
    {.name = "tanh between", 1, 8, 6, 10, 9, 3, 1, 1, 1, TANH, TANH},
    {.name = "5x5", 1, 11, 9, 20, 12, 5, 1, 1, 0, RELU, RELU},
    {.name = "5x5 with strides, no zeros around", 1, 13, 12, 20, 33, 5, 2, 1, 1, RELU, RELU},
    {.name = "dilated", 1, 17, 19, 24, 16, 3, 1, 4, 0, RELU6, NO_ACTIVATION},
    {.name = "images", 3, 7, 5, 40, 28, 3, 1, 1, 0, RELU6, RELU6},
    {.name = "no bias of the first", 2, 6, 6, 8, 8, 3, 1, 1, 0, NO_ACTIVATION, NO_ACTIVATION, .no_bias = true},
    {.name = "with what is added", 1, 10, 10, 12, 12, 3, 1, 1, 0, RELU6, NO_ACTIVATION, .added = true},
    {.name = "one position", 1, 1, 1, 64, 64, 3, 1, 1, 0, RELU, RELU},
    {.name = "the value between is an output",
     1,
     8,
     8,
     8,
     8,
     3,
     1,
     1,
     0,
     RELU,
     RELU,
     .middle_is_output = true,
     .apart = true},
    {.name = "7x7", 1, 12, 12, 12, 12, 7, 1, 1, 0, RELU, RELU, .apart = true},
    {.name = "a second convolution with strides",
     1,
     8,
     8,
     16,
     16,
     3,
     1,
     1,
     0,
     RELU,
     RELU,
     .through_strides = true,
     .apart = true},
};

static void begin_pair(struct session *session, const struct pair *pair)
{
    int reach = (pair->kernel - 1) * pair->dilation + 1, lost = pair->valid ? reach - 1 : 0;
    int h = (pair->h - lost + pair->stride - 1) / pair->stride, w = (pair->w - lost + pair->stride - 1) / pair->stride;
    int step = pair->through_strides ? 2 : 1, taps = pair->kernel * pair->kernel;
    float *values[] = {numbers(taps * pair->c, 1), numbers(pair->c, 2), numbers(pair->c * pair->outputs, 3),
                       numbers(pair->outputs, 4)};
    for (int i = 0; i < taps * pair->c && pair->finer; i++) values[0][i] *= 0.9f;
    for (int i = 0; i < pair->c * pair->outputs && pair->finer; i++) values[2][i] *= 0.9f;
    enum { X, KERNEL, BIAS, MIDDLE, MATRIX, LAST_BIAS, Y, SUM };
    struct test_tensor all[] = {
        [X] = {.name = "x", .rank = 4, .dims = {pair->b, pair->h, pair->w, pair->c}},
        [KERNEL] = {.name = "kernel", .rank = 4, .dims = {1, pair->kernel, pair->kernel, pair->c}, .data = values[0]},
        [BIAS] = {.name = "bias", .rank = 1, .dims = {pair->c}, .data = values[1]},
        [MIDDLE] = {.name = "middle", .rank = 4, .dims = {pair->b, h, w, pair->c}, .is_output = pair->middle_is_output},
        [MATRIX] = {.name = "matrix", .rank = 4, .dims = {pair->outputs, 1, 1, pair->c}, .data = values[2]},
        [LAST_BIAS] = {.name = "last bias", .rank = 1, .dims = {pair->outputs}, .data = values[3]},
        [Y] = {.name = "y", .rank = 4, .dims = {pair->b, (h + step - 1) / step, (w + step - 1) / step, pair->outputs}},
        [SUM] = {.name = "sum", .rank = 4, .dims = {pair->b, h, w, pair->outputs}},
    };
    for (int t = KERNEL; t <= LAST_BIAS; t++) {
        all[t].bytes = sizeof(float);
        for (int i = 0; all[t].data && i < all[t].rank; i++) all[t].bytes *= (size_t)all[t].dims[i];
        if (!all[t].data) all[t].bytes = 0;
    }
    struct test_node two[] = {
        {.builtin = kTfLiteBuiltinDepthwiseConv2d,
         TEST_INPUTS(X, KERNEL, BIAS),
         TEST_OUTPUTS(MIDDLE),
         .settings = {TEST_SET(DepthwiseConv2DOptions, padding, pair->valid),
                      TEST_SET(DepthwiseConv2DOptions, stride_w, pair->stride),
                      TEST_SET(DepthwiseConv2DOptions, stride_h, pair->stride),
                      TEST_SET(DepthwiseConv2DOptions, depth_multiplier, 1),
                      TEST_SET(DepthwiseConv2DOptions, fused_activation_function, pair->between),
                      TEST_SET(DepthwiseConv2DOptions, dilation_w_factor, pair->dilation),
                      TEST_SET(DepthwiseConv2DOptions, dilation_h_factor, pair->dilation)}},
        {.builtin = kTfLiteBuiltinConv2d,
         TEST_INPUTS(MIDDLE, MATRIX, LAST_BIAS),
         TEST_OUTPUTS(Y),
         .settings = {TEST_SET(Conv2DOptions, stride_w, step), TEST_SET(Conv2DOptions, stride_h, step),
                      TEST_SET(Conv2DOptions, fused_activation_function, pair->after),
                      TEST_SET(Conv2DOptions, dilation_w_factor, 1), TEST_SET(Conv2DOptions, dilation_h_factor, 1)}},
        {.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(Y, X), TEST_OUTPUTS(SUM)},
    };
    if (pair->no_bias) two[0].input_count = 2;
    struct test_model model = {
        .tensor_count = pair->added ? SUM + 1 : SUM,
        .tensors = all,
        .node_count = pair->added ? 3 : 2,
        .nodes = two,
        TEST_INPUTS(X),
        .output_count = 1,
        .outputs = {pair->added ? SUM : Y},
    };
    begin(session, &model);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) free(values[i]);
}

static int dispatches(const char *text, const char *kernel)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, "dispatch list ")); at++) {
        at = strchr(at, ':') + 2;
        count += strncmp(at, kernel, strlen(kernel)) == 0;
    }
    return count;
}

static void one_dispatch_where_it_can_be(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct session session;
        begin_pair(&session, &pairs[i]);
        TfLiteDelegate *delegate = make((const char *[]){"device", "null", NULL});
        assert_int_equal(apply(&session, delegate), kTfLiteOk);
        run_on_numbers(&session);
        char *text = gpu_null_text(gpu_delegate_of(delegate)->engine->device);
        assert_non_null(text);
        int fused = dispatches(text, "separable"), depthwise = dispatches(text, "depthwise");
        if (fused != !pairs[i].apart || depthwise != pairs[i].apart)
            fail_msg("%s: %d fused dispatches, %d of a depthwise convolution", pairs[i].name, fused, depthwise);
        free(text);
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
    }
}

static void results_are_those_of_the_cpu(void **state)
{
    if (!has_device(*state)) skip();
    bool few = strcmp(*state, "gles") == 0; // its compiler takes long, and the texts are those of Vulkan
    for (size_t i = 0; i < (few ? 3 : sizeof pairs / sizeof *pairs); i++) {
        struct session cpu, gpu;
        if (pairs[i].apart) continue; // others test both kernels
        begin_pair(&cpu, &pairs[i]);
        begin_pair(&gpu, &pairs[i]);
        TfLiteDelegate *delegate = make((const char *[]){"device", *state, "precision", "f32", NULL});
        assert_int_equal(apply(&gpu, delegate), kTfLiteOk);
        run_on_numbers(&cpu);
        run_on_numbers(&gpu);
        check_same_outputs(&cpu, &gpu, 1e-5f, pairs[i].name);
        end(&cpu);
        end(&gpu);
        tflite_plugin_destroy_delegate(delegate);
    }
}

// Few units make for large blocks, and one subgroup for each output for sums that it has whole.
static const struct device units[] = {{132, 1024, 64, 0}, {1, 1, 1, 0}, {4, 2, 4, 0}};

static void check_units(const char *name, const struct pair *pair, int form, bool fragments,
                        const struct device *device)
{
    struct session cpu, gpu;
    const char *precision = form == MATRIX_HALVES ? "f16" : "f32";
    begin_pair(&cpu, pair);
    begin_pair(&gpu, pair);
    TfLiteDelegate *delegate = make((const char *[]){"device", name, "precision", precision, NULL});
    set_units(delegate, 1u << form, fragments, device);
    pretended_caps.step_ns = 1000000; // a second dispatch is never worth it
    assert_int_equal(apply(&gpu, delegate), kTfLiteOk);
    const struct gpu_kernel *kernel = !fragments                   ? &gpu_kernel_separable_matrix
                                      : pretended_caps.cooperative ? &gpu_kernel_separable_cooperative
                                                                   : &gpu_kernel_separable_fragments;
    if (!step_of_form(delegate, kernel, form)) fail_msg("%s: no matrix products, form %d", pair->name, form);
    run_on_numbers(&cpu);
    run_on_numbers(&gpu);
    // Sums of products of numbers up to 2.3 (nine of 0.5 by 0.5) and 0.5; halves are off by 2^-11 of each.
    check_same_outputs(&cpu, &gpu, form == MATRIX_HALVES ? 1e-5f + (float)pair->c * 1.2f / 2048 : 1e-5f, pair->name);
    end(&cpu);
    end(&gpu);
    tflite_plugin_destroy_delegate(delegate);
}

static void products_on_matrix_units(void **state)
{
    const char *name = *state;
    bool is_cuda = strcmp(name, "cuda") == 0;
    if (!has_device(name)) skip();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool few = !is_cuda || i > 2; // compilers take long
        if (pairs[i].apart || (!is_cuda && i > 0)) continue;
        for (size_t d = 0; d < (few ? 1 : sizeof units / sizeof *units); d++)
            check_units(name, &pairs[i], MATRIX_FLOATS, false, &units[d]);
        if (!is_cuda || few) continue;
        if (pairs[i].between == RELU6) check_units(name, &pairs[i], MATRIX_SPLIT, false, &units[i % 3]);
        check_units(name, &pairs[i], MATRIX_HALVES, false, &units[0]);
    }
}

// The same by fragments, which devices have as cooperative matrices or in plain code. Few units make for large blocks.
static const struct device fragment_units[] = {{132, 64, 64, 0}, {1, 64, 64, 0}, {1, 8, 1, 0}, {4, 4, 8, 0}};

static void products_of_fragments(void **state)
{
    (void)state;
    if (!has_device("vulkan")) skip();
    enum { UNITS = sizeof fragment_units / sizeof *fragment_units };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct pair halves = pairs[i], finer = pairs[i];
        halves.finer = false;
        finer.finer = true;
        if (finer.apart) continue;
        for (size_t d = 0; d < (i < 3 ? UNITS : 1); d++) { // compilers take long
            const struct device *device = &fragment_units[(i + d) % UNITS];
            if (finer.between == RELU6) check_units("vulkan", &finer, MATRIX_SPLIT, true, device);
            if (finer.between == RELU6) check_units("vulkan", &halves, MATRIX_NARROW, true, device);
            check_units("vulkan", i % 2 == 0 ? &finer : &halves, MATRIX_HALVES, true, device);
        }
    }
}

// What the plan takes where it knows a device like an H200.
static void fragments_where_they_pay(void **state)
{
    (void)state;
    enum { APART, PLAIN, FRAGMENTS };
    static const struct {
        struct pair pair;
        int f32, f16;
    } cases[] = {
        {{.name = "many channels", 1, 14, 14, 512, 512, 3, 1, 1, 0, RELU6, RELU6}, FRAGMENTS, FRAGMENTS},
        {{.name = "strides", 1, 14, 14, 512, 1024, 3, 2, 1, 0, RELU6, RELU6}, FRAGMENTS, FRAGMENTS},
        {{.name = "a large plane", 1, 56, 56, 128, 128, 3, 1, 1, 0, RELU6, RELU6}, FRAGMENTS, FRAGMENTS},
        {{.name = "few outputs", 1, 14, 14, 288, 48, 3, 1, 1, 0, RELU6, NO_ACTIVATION}, PLAIN, PLAIN},
        {{.name = "few positions", 1, 7, 7, 1024, 1024, 3, 1, 1, 0, RELU6, RELU6}, FRAGMENTS, APART},
        {{.name = "nothing bounds the first", 1, 28, 28, 256, 256, 3, 1, 1, 0, RELU, RELU}, PLAIN, FRAGMENTS},
    };
    static const char *names[] = {"depthwise", "separable ", "separable_fragments"};
    static const struct device h200 = {132, 1024, 64, 0};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct session session;
        const int expected = i % 2 ? cases[i / 2].f16 : cases[i / 2].f32;
        begin_pair(&session, &cases[i / 2].pair);
        TfLiteDelegate *delegate = make((const char *[]){"device", "null", "precision", i % 2 ? "f16" : "f32", NULL});
        set_units(delegate, 1u << MATRIX_SPLIT | 1u << MATRIX_HALVES | 1u << MATRIX_NARROW, true, &h200);
        pretended_caps.max_group[0] = 1024;
        pretended_caps.shared_bytes = 49152;
        assert_int_equal(apply(&session, delegate), kTfLiteOk);
        run_on_numbers(&session);
        char *text = gpu_null_text(gpu_delegate_of(delegate)->engine->device);
        assert_non_null(text);
        for (int n = APART; n <= FRAGMENTS; n++)
            if (dispatches(text, names[n]) != (n == expected))
                fail_msg("%s, %s: %d of %s", cases[i / 2].pair.name, i % 2 ? "f16" : "f32", dispatches(text, names[n]),
                         names[n]);
        free(text);
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(one_dispatch_where_it_can_be),
        {"results_are_those_of_the_cpu opencl", results_are_those_of_the_cpu, NULL, NULL, "opencl"},
        {"results_are_those_of_the_cpu vulkan", results_are_those_of_the_cpu, NULL, NULL, "vulkan"},
        {"results_are_those_of_the_cpu gles", results_are_those_of_the_cpu, NULL, NULL, "gles"},
        {"products_on_matrix_units cuda", products_on_matrix_units, NULL, NULL, "cuda"},
        {"products_on_matrix_units opencl", products_on_matrix_units, NULL, NULL, "opencl"},
        {"products_on_matrix_units vulkan", products_on_matrix_units, NULL, NULL, "vulkan"},
        cmocka_unit_test(products_of_fragments),
        cmocka_unit_test(fragments_where_they_pay),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
