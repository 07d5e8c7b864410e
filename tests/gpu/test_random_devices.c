// SPDX-License-Identifier: Apache-2.0
// Random graphs (support/random_graph.h) on the GPU delegate, on each device that is here, beside the CPU's reference
// kernels: floats in f32 and f16, 8 bits in exact integers. Usage: support/random_runs.h; HALITE_DEVICE names the one
// device that is wanted.
#include "support/random_runs.h"

#include "gpu/delegate_session.h"

struct device {
    const char *name;
    unsigned graphs;             // those of a few seconds: what a compiler takes differs
    TfLiteDelegate *full, *half; // exact where values are 8 bits
    int nodes, delegated;
};

static void check_with(struct random_run *run, struct device *device, TfLiteDelegate *delegate, double tolerance,
                       const char *precision)
{
    char what[64];
    snprintf(what, sizeof what, "%s in %s", device->name, precision);
    TfLiteInterpreter *interpreter = random_run_interpreter(run, kHaliteKernelsFast, 1);
    device->nodes += HaliteInterpreterGetNodeCount(interpreter);
    random_run_expect(run, TfLiteInterpreterModifyGraphWithDelegate(interpreter, delegate) == kTfLiteOk);
    const struct session session = {.interpreter = interpreter};
    device->delegated += delegated_nodes(&session);
    random_run_invoke(run, interpreter);
    random_run_compare(run, interpreter, tolerance, what);
    TfLiteInterpreterDelete(interpreter);
}

static void check_precisions(struct random_run *run, void *arg)
{
    struct device *device = arg;
    const bool floats = run->type == TEST_FLOAT32;
    // golden_runner's, and two roundings to a half.
    check_with(run, device, device->full, 2e-6, floats ? "f32" : "integers");
    if (floats) check_with(run, device, device->half, 1e-3, "f16");
}

static TfLiteDelegate *create(const char *device, const char *precision)
{
    return make((const char *[]){"device", device, "precision", precision, "quantized", "exact",
                                 "take_small_partitions", "true", "max_delegated_partitions", "1000", NULL});
}

static void device_agrees(void **state)
{
    struct device device = *(const struct device *)*state;
    const char *wanted = getenv("HALITE_DEVICE");
    if ((wanted && strcmp(wanted, device.name) != 0) || !has_device(device.name)) skip();
    device.full = create(device.name, "f32");
    device.half = create(device.name, "f16");
    assert_true(device.full && device.half);
    random_runs_each(device.graphs, check_precisions, &device);
    tflite_plugin_destroy_delegate(device.full);
    tflite_plugin_destroy_delegate(device.half);
    print_message("%s: %d of %d nodes on it\n", device.name, device.delegated, device.nodes);
    assert_true(device.delegated >= device.nodes / 2);
}

int main(int argc, char **argv)
{
    struct device vulkan = {.name = "vulkan", .graphs = 6}, gles = {.name = "gles", .graphs = 30};
    struct device opencl = {.name = "opencl", .graphs = 6}, cuda = {.name = "cuda", .graphs = 2};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(device_agrees, &vulkan),
        cmocka_unit_test_prestate(device_agrees, &gles),
        cmocka_unit_test_prestate(device_agrees, &opencl),
        cmocka_unit_test_prestate(device_agrees, &cuda),
    };
    random_runs_read(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
