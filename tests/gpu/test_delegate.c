// SPDX-License-Identifier: Apache-2.0
// The GPU delegate inside our runtime: messages, what happens when a device fails at any call, and results on
// PoCL where it is installed. The graph and its session: delegate_session.h; partitions and reports: test_report.c.
#include <float.h>
#include <math.h>
#include <unistd.h>

#include "base/half.h"
#include "gpu/backend/null.h"
#include "gpu/delegate_session.h"
#include "model/schema.h"
#include "tensorflow/lite/delegates/gpu/metal_delegate_internal.h"

// ---- doors --------------------------------------------------------------------------------------

static void test_doors(void **state)
{
    (void)state;
    TfLiteGpuDelegateV2Delete(NULL);
    TfLiteGpuDelegateDelete(NULL);
    TFLGpuDelegateDelete(NULL);
    tflite_plugin_destroy_delegate(NULL);
    TfLiteGpuDelegateV2Delete(TfLiteGpuDelegateV2Create(NULL));
    TfLiteGpuDelegateDelete(TfLiteGpuDelegateCreate(NULL));
    TFLGpuDelegateDelete(TFLGpuDelegateCreate(NULL));
    TFLGpuDelegateDelete(TFLGPUDelegateCreate(NULL));
    assert_null(TfLiteGpuDelegateV2CreateAsync(NULL));
    assert_null(TfLiteGpuDelegateGetModelMetadata(NULL));
    // Without OpenGL and Metal their objects are refused.
    TfLiteDelegate *delegate = TfLiteGpuDelegateCreate(NULL);
    assert_int_equal(TfLiteGpuDelegateBindBufferToTensor(delegate, 1, 0), kTfLiteError);
    assert_false(TFLGpuDelegateBindMetalBufferToTensor(delegate, 0, NULL));
    assert_false(TFLGpuDelegateSetCommandBuffer(delegate, NULL));
    TfLiteGpuDelegateDelete(delegate);
    TfLiteDelegate other = {.flags = 0};
    assert_null(HaliteDelegateReportCreate(&other));
    assert_null(HaliteDelegateReportCreate(NULL));
    HaliteDelegateReportDelete(NULL);
    assert_null(HaliteDelegateReportGetDevice(NULL));
    assert_int_equal(HaliteDelegateReportGetNodeCount(NULL), 0);
    assert_null(HaliteDelegateReportGetNode(NULL, 0));
    assert_int_equal(HaliteDelegateReportGetGraphCount(NULL), 0);
    assert_null(HaliteDelegateReportGetGraph(NULL, 0));
    assert_int_equal(HaliteDelegateReportGetPrecision(NULL), kHaliteGpuPrecisionDefault);
}

static void test_invalid_options_are_told(void **state)
{
    (void)state;
    TfLiteGpuDelegateOptionsV2 options = TfLiteGpuDelegateOptionsV2Default();
    options.inference_priority2 = options.inference_priority1;
    TfLiteDelegate *delegate = TfLiteGpuDelegateV2Create(&options);
    struct session session;
    begin(&session, &whole);
    assert_int_equal(apply(&session, delegate), kTfLiteDelegateError);
    assert_non_null(strstr(session.messages.text, "TfLiteGpuDelegate Init: InferenceOptions are invalid."));
    set_input(&session);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    check_output(&session);
    end(&session);
    TfLiteGpuDelegateV2Delete(delegate);
}

static void test_no_such_device(void **state)
{
    (void)state;
    static const char *const texts[] = {"device", "null:7", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session session;
    begin(&session, &whole);
    assert_int_equal(apply(&session, delegate), kTfLiteDelegateError);
    assert_non_null(strstr(session.messages.text, "TfLiteGpuDelegate Init: device null:7"));
    check_withdrawn(delegate, kHaliteDelegateReasonDevice, "device null:7: there is no such device");
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

// ---- failures -----------------------------------------------------------------------------------

// Both partitions, kernels kept in a folder: whether it has them from an earlier start or not, any part may fail.
static TfLiteDelegate *make_failing(const char *folder)
{
    const char *texts[] = {"device",
                           "null",
                           "max_delegated_partitions",
                           "2",
                           "take_small_partitions",
                           "1",
                           "serialization_dir",
                           folder,
                           "model_token",
                           "graph",
                           NULL};
    return make(texts);
}

static void make_folder(char *path, size_t size)
{
    snprintf(path, size, "/tmp/halite_test_delegate.XXXXXX");
    assert_non_null(mkdtemp(path));
}

static void empty_folder(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -f %s/*", folder);
    assert_int_equal(system(command), 0);
}

static void remove_folder(const char *folder)
{
    empty_folder(folder);
    assert_int_equal(rmdir(folder), 0);
}

// Applies a delegate that may fail, and runs the graph in either case.
static void apply_and_run(struct session *session, TfLiteDelegate *delegate, TfLiteStatus *applied,
                          TfLiteStatus *invoked)
{
    begin(session, &graph);
    *applied = apply(session, delegate);
    set_input(session);
    *invoked = TfLiteInterpreterInvoke(session->interpreter);
}

// A delegate that could not be applied leaves the graph to the CPU, and says why.
static void check_on_cpu(struct session *session, TfLiteDelegate *delegate, TfLiteStatus applied, TfLiteStatus invoked)
{
    assert_int_equal(applied, kTfLiteDelegateError);
    assert_int_equal(invoked, kTfLiteOk);
    check_output(session);
    check_withdrawn(delegate, kHaliteDelegateReasonDevice, "null");
}

// Whatever call of the device fails, from opening it to reading results: an error and a message, no leak, and where the
// delegate could not be applied the graph runs on the CPU.
static void fail_every_call(const char *folder, bool kept)
{
    int n = 1;
    for (bool failed = true; failed; n++) {
        char number[16];
        snprintf(number, sizeof number, "%d", n);
        if (!kept) empty_folder(folder);
        setenv("HALITE_GPU_NULL_FAIL", number, 1);
        TfLiteDelegate *delegate = make_failing(folder);
        assert_non_null(delegate);
        struct session session;
        TfLiteStatus applied, invoked;
        apply_and_run(&session, delegate, &applied, &invoked);
        failed = strstr(session.messages.text, "fails, as it was told to") != NULL;
        if (applied != kTfLiteOk) {
            check_on_cpu(&session, delegate, applied, invoked);
            assert_int_equal(delegated_nodes(&session), 0);
            assert_ptr_equal(strstr(session.messages.text, "TfLiteGpuDelegate Init: "), session.messages.text);
            assert_non_null(
                strstr(session.messages.text, "Restored original execution plan after delegate application failure."));
        } else if (invoked != kTfLiteOk) {
            assert_non_null(strstr(session.messages.text, "TfLiteGpuDelegate Invoke: "));
            assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk); // only that call failed
        } else if (failed) { // what is kept is no reason to do without a GPU
            // Nor is the run before it is kept, of which these are the calls.
            if (!strstr(session.messages.text, "a cache) fails")) {
                assert_false(kept);
                assert_true(strstr(session.messages.text, "(write a buffer) fails") ||
                            strstr(session.messages.text, "(run a list) fails") ||
                            strstr(session.messages.text, "(wait for a list) fails"));
            }
        }
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
        assert_int_equal(gpu_null_live(), 0);
        assert_true(n < 500);
    }
    unsetenv("HALITE_GPU_NULL_FAIL");
    assert_true(n > 24);
}

static void test_every_call_fails(void **state)
{
    (void)state;
    char folder[64];
    make_folder(folder, sizeof folder);
    fail_every_call(folder, false);
    fail_every_call(folder, true);
    remove_folder(folder);
}

// From some call on the device is lost, while it is opened, while kernels are made or run, or between: an error and a
// message then and ever after, and everything can be deleted. A new delegate has a device that works.
static void test_every_call_loses_the_device(void **state)
{
    (void)state;
    int n = 1, in_invoke = 0;
    for (bool lost = true; lost; n++) {
        char number[16], folder[64];
        make_folder(folder, sizeof folder);
        snprintf(number, sizeof number, "%d", n);
        setenv("HALITE_GPU_NULL_LOSE", number, 1);
        TfLiteDelegate *delegate = make_failing(folder);
        assert_non_null(delegate);
        struct session session;
        TfLiteStatus applied, invoked;
        apply_and_run(&session, delegate, &applied, &invoked);
        lost = strstr(session.messages.text, "the device is lost") != NULL;
        if (applied != kTfLiteOk) {
            check_on_cpu(&session, delegate, applied, invoked);
        } else if (lost) {
            assert_int_equal(invoked, kTfLiteError);
            assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteError);
            assert_non_null(strstr(session.messages.text, "the device was lost earlier"));
            in_invoke++;
        }
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
        assert_int_equal(gpu_null_live(), 0);
        remove_folder(folder);
        assert_true(n < 500);
    }
    unsetenv("HALITE_GPU_NULL_LOSE");
    assert_true(n > 24);
    assert_true(in_invoke > 3);
}

// malloc and its like are counted while a delegate is applied or runs; the one that is to fail gives NULL.
static struct {
    bool counting;
    int count, fail_at;
} allocations;

static bool may_allocate(void)
{
    return !allocations.counting || ++allocations.count != allocations.fail_at;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return may_allocate() ? __real_malloc(size) : NULL;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return may_allocate() ? __real_calloc(count, size) : NULL;
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
    return may_allocate() ? __real_realloc(old, size) : NULL;
}

static void fail_every_allocation(const char *folder, bool kept)
{
    bool failed = true;
    for (int n = 1; failed; n++) {
        struct session session;
        if (!kept) empty_folder(folder);
        begin(&session, &graph);
        set_input(&session);
        allocations.count = 0;
        allocations.fail_at = n;
        allocations.counting = true;
        TfLiteDelegate *delegate = make_failing(folder);
        TfLiteStatus applied = delegate ? apply(&session, delegate) : kTfLiteError;
        TfLiteStatus invoked = applied == kTfLiteOk ? TfLiteInterpreterInvoke(session.interpreter) : kTfLiteOk;
        allocations.counting = false;
        failed = allocations.count >= n;
        if (delegate && (applied != kTfLiteOk || invoked != kTfLiteOk)) assert_true(session.messages.length > 0);
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
        assert_int_equal(gpu_null_live(), 0);
        assert_true(n < 2000);
    }
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    char folder[64];
    make_folder(folder, sizeof folder);
    fail_every_allocation(folder, false);
    fail_every_allocation(folder, true);
    remove_folder(folder);
}

// ---- results ------------------------------------------------------------------------------------

static void test_results(void **state)
{
    (void)state;
    if (!has_device("opencl")) skip();
    static const char *const precisions[] = {"f32", "f16s", "f16"};
    for (int p = 0; p < 3; p++) {
        const char *texts[] = {
            "device", "opencl", "precision", precisions[p], "max_delegated_partitions", "2", "take_small_partitions",
            "1",      NULL};
        TfLiteDelegate *delegate = make(texts);
        struct session session;
        begin(&session, &graph);
        assert_int_equal(apply(&session, delegate), kTfLiteOk);
        for (int run = 0; run < 3; run++) {
            set_input(&session);
            assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
            check_output(&session); // small numbers with few bits: exact in half floats too
        }
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
    }
}

// The same model on the CPU and on PoCL: outputs of bytes may differ by one step.
static void compare_bytes(const struct test_model *model, const void *input, size_t input_bytes, int steps)
{
    static const char *const texts[] = {"device", "opencl", "require_full_delegation", "1", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session cpu, gpu;
    begin(&cpu, model);
    begin(&gpu, model);
    TfLiteStatus status = apply(&gpu, delegate);
    if (status != kTfLiteOk) print_message("%s\n", gpu.messages.text);
    assert_int_equal(status, kTfLiteOk);
    struct session *both[] = {&cpu, &gpu};
    for (int i = 0; i < 2; i++) {
        TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(both[i]->interpreter, 0);
        assert_int_equal(TfLiteTensorCopyFromBuffer(tensor, input, input_bytes), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterInvoke(both[i]->interpreter), kTfLiteOk);
    }
    const TfLiteTensor *want = TfLiteInterpreterGetOutputTensor(cpu.interpreter, 0);
    const TfLiteTensor *have = TfLiteInterpreterGetOutputTensor(gpu.interpreter, 0);
    for (size_t i = 0; i < TfLiteTensorByteSize(want); i++)
        assert_true(abs((int)((int8_t *)TfLiteTensorData(want))[i] - (int)((int8_t *)TfLiteTensorData(have))[i]) <=
                    steps);
    end(&cpu);
    end(&gpu);
    tflite_plugin_destroy_delegate(delegate);
}

static void test_quantized(void **state)
{
    (void)state;
    if (!has_device("opencl")) skip();
    static const int8_t other[4] = {-128, -5, 17, 127};
#define BYTES(label, s, z) .name = label, .type = TEST_INT8, .rank = 2, .dims = {64, 4}, .scale = s, .zero_point = z
    static const struct test_tensor list[] = {{BYTES("x", 0.05f, 3)},
                                              {BYTES("sum", 0.03f, -7)},
                                              {BYTES("product", 0.02f, 11)},
                                              {BYTES("y", 0.02f, 11)},
                                              {.name = "other",
                                               .type = TEST_INT8,
                                               .rank = 1,
                                               .dims = {4},
                                               .scale = 0.01f,
                                               .zero_point = -2,
                                               .data = other,
                                               .bytes = 4}};
    static const struct test_node steps[] = {TWO_IN(kTfLiteBuiltinAdd, 0, 4, 1), TWO_IN(kTfLiteBuiltinMul, 1, 1, 2),
                                             ONE_IN(kTfLiteBuiltinRelu, 2, 3)};
    static const struct test_model model = {TEST_TENSORS(list), TEST_NODES(steps), TEST_INPUTS(0), TEST_OUTPUTS(3)};
    int8_t input[256];
    for (int i = 0; i < 256; i++) input[i] = (int8_t)(i - 128);
    compare_bytes(&model, input, sizeof input, 1);
}

// A reshape that moves nothing on the device still changes what an axis means, and how shapes line up.
static void test_ranks_behind_a_reshape(void **state)
{
    (void)state;
    if (!has_device("opencl")) skip();
    static const int32_t shape[2] = {4, 6}, order[2] = {1, 0}, axis[1] = {1};
    static const float row[6] = {1, 2, 3, 4, 5, 6};
    static const struct test_tensor list[] = {
        {.name = "x", .type = TEST_FLOAT32, .rank = 4, .dims = {4, 1, 1, 6}},
        {.name = "shape", .type = TEST_INT32, .rank = 1, .dims = {2}, .data = shape, .bytes = sizeof shape},
        {.name = "flat", .type = TEST_FLOAT32, .rank = 2, .dims = {4, 6}},
        {.name = "order", .type = TEST_INT32, .rank = 1, .dims = {2}, .data = order, .bytes = sizeof order},
        {.name = "transposed", .type = TEST_FLOAT32, .rank = 2, .dims = {6, 4}},
        {.name = "row", .type = TEST_FLOAT32, .rank = 1, .dims = {6}, .data = row, .bytes = sizeof row},
        {.name = "sum", .type = TEST_FLOAT32, .rank = 2, .dims = {4, 6}},
        {.name = "axis", .type = TEST_INT32, .rank = 1, .dims = {1}, .data = axis, .bytes = sizeof axis},
        {.name = "cumulated", .type = TEST_FLOAT32, .rank = 2, .dims = {4, 6}}};
    static const struct test_node list_nodes[] = {TWO_IN(kTfLiteBuiltinReshape, 0, 1, 2),
                                                  TWO_IN(kTfLiteBuiltinTranspose, 2, 3, 4),
                                                  TWO_IN(kTfLiteBuiltinAdd, 2, 5, 6),
                                                  TWO_IN(kTfLiteBuiltinCumsum, 2, 7, 8)};
    static const struct test_model model = {TEST_TENSORS(list), TEST_NODES(list_nodes), TEST_INPUTS(0),
                                            TEST_OUTPUTS(4, 6, 8)};
    static const char *const texts[] = {"device", "opencl", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session session;
    begin(&session, &model);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    assert_true(delegated_nodes(&session) >= 3);
    float values[24];
    for (int i = 0; i < 24; i++) values[i] = (float)i;
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(session.interpreter, 0);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, values, sizeof values), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    const float *transposed = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 0));
    const float *sum = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 1));
    const float *cumulated = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 2));
    for (int y = 0; y < 4; y++) {
        float expected = 0;
        for (int x = 0; x < 6; x++) {
            expected += values[6 * y + x];
            assert_float_equal(transposed[4 * x + y], values[6 * y + x], 0);
            assert_float_equal(sum[6 * y + x], values[6 * y + x] + row[x], 0);
            assert_float_equal(cumulated[6 * y + x], expected, 1e-4f);
        }
    }
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

// Attention masks are the lowest float: what is behind one is no reason for a sum of nothing, and all of a row may be.
static void test_masked_rows(void **state)
{
    (void)state;
    static const struct test_tensor list[] = {{.name = "x", .type = TEST_FLOAT32, .rank = 2, .dims = {3, 4}},
                                              {.name = "y", .type = TEST_FLOAT32, .rank = 2, .dims = {3, 4}},
                                              {.name = "z", .type = TEST_FLOAT32, .rank = 2, .dims = {3, 4}}};
    static const struct test_node list_nodes[] = {{.builtin = kTfLiteBuiltinSoftmax,
                                                   TEST_INPUTS(0),
                                                   TEST_OUTPUTS(1),
                                                   .settings = {{.field = HL_SoftmaxOptions_beta, .value = 1}}},
                                                  ONE_IN(kTfLiteBuiltinLogSoftmax, 0, 2)};
    static const struct test_model model = {TEST_TENSORS(list), TEST_NODES(list_nodes), TEST_INPUTS(0),
                                            TEST_OUTPUTS(1, 2)};
    static const float x[12] = {-FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX, 1, 1, -FLT_MAX, -FLT_MAX, 2, 2, 2, 2};
    static const float expected[12] = {0.25f, 0.25f, 0.25f, 0.25f, 0.5f, 0.5f, 0, 0, 0.25f, 0.25f, 0.25f, 0.25f};
    for (int b = 1; b < ALL_DEVICES; b++) {
        const char *texts[] = {"device", all_devices[b], "require_full_delegation", "1", NULL};
        if (!has_device(all_devices[b])) continue;
        TfLiteDelegate *delegate = make(texts);
        struct session session;
        begin(&session, &model);
        assert_int_equal(apply(&session, delegate), kTfLiteOk);
        TfLiteTensor *input = TfLiteInterpreterGetInputTensor(session.interpreter, 0);
        assert_int_equal(TfLiteTensorCopyFromBuffer(input, x, sizeof x), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
        const float *y = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 0));
        const float *z = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 1));
        for (int i = 0; i < 12; i++) {
            assert_float_equal(y[i], expected[i], 1e-6f);
            if (expected[i] > 0)
                assert_float_equal(z[i], logf(expected[i]), 1e-5f);
            else
                assert_true(z[i] < -1e38f);
        }
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
    }
}

// ---- tensors that change ------------------------------------------------------------------------

static void run_batch(struct session *session, int batch, bool computes)
{
    enum { MOST = 4 * ELEMENTS };
    float values[MOST], results[MOST];
    size_t bytes = (size_t)(batch * ELEMENTS) * sizeof(float);
    for (int i = 0; i < batch * ELEMENTS; i++) values[i] = input_value(i);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(session->interpreter, 0);
    assert_int_equal(TfLiteTensorByteSize(input), bytes);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, values, bytes), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(session->interpreter), kTfLiteOk);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(session->interpreter, 0);
    assert_int_equal(TfLiteTensorCopyToBuffer(output, results, bytes), kTfLiteOk);
    for (int i = 0; i < batch * ELEMENTS && computes; i++) assert_float_equal(results[i], expected_value(i), 1e-5f);
}

// The runtime undoes the delegate and applies it again: a plan for each batch, and nothing of the old one stays.
static void test_batches(void **state)
{
    (void)state;
    static const int batches[] = {3, 1, 4, 4, 2};
    for (int b = 0; b < ALL_DEVICES; b++) {
        const char *texts[] = {"device", all_devices[b], NULL};
        if (!has_device(all_devices[b])) continue;
        TfLiteDelegate *delegate = make(texts);
        struct session session;
        begin(&session, &whole);
        assert_int_equal(apply(&session, delegate), kTfLiteOk);
        run_batch(&session, 1, b > 0);
        int alive = gpu_null_live();
        for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
            const int shape[] = {batches[i], 2, 3, 5};
            assert_int_equal(TfLiteInterpreterResizeInputTensor(session.interpreter, 0, shape, 4), kTfLiteOk);
            assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
            assert_int_equal(delegated_nodes(&session), 3);
            run_batch(&session, batches[i], b > 0);
            assert_int_equal(gpu_null_live(), alive);
        }
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
        assert_int_equal(gpu_null_live(), 0);
    }
}

// With buffer handles as outputs, an output stays on the device until it is asked for.
static void test_buffer_handles(void **state)
{
    (void)state;
    static const char *const texts[] = {"device", "null", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session session;
    begin(&session, &whole);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    TfLiteTensor *output = (TfLiteTensor *)TfLiteInterpreterGetOutputTensor(session.interpreter, 0);
    TfLiteBufferHandle handle = output->buffer_handle;
    assert_int_not_equal(handle, kTfLiteNullBufferHandle);
    run_batch(&session, 1, false);
    assert_false(output->data_is_stale);
    assert_int_equal(HaliteDelegateGetCopiedBytes(delegate), 2 * ELEMENTS * sizeof(float));
    TfLiteSetAllowBufferHandleOutput(session.interpreter, true);
    run_batch(&session, 1, false);
    assert_true(output->data_is_stale);
    assert_int_equal(output->buffer_handle, handle);
    assert_int_equal(HaliteDelegateGetCopiedBytes(delegate), 3 * ELEMENTS * sizeof(float));
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(session.interpreter, P), kTfLiteOk);
    assert_false(output->data_is_stale);
    assert_int_equal(HaliteDelegateGetCopiedBytes(delegate), 4 * ELEMENTS * sizeof(float));
    // Handles that do not exist.
    assert_int_equal(delegate->CopyFromBufferHandle(NULL, delegate, 99, output), kTfLiteError);
    assert_int_equal(delegate->CopyToBufferHandle(NULL, delegate, -7, output), kTfLiteError);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

// Half floats as inputs and outputs of the graph: exact, where the values are.
static void test_half_tensors(void **state)
{
    (void)state;
    if (!has_device("opencl")) skip();
#define HALVES(label)                                                    \
    {                                                                    \
        .name = label, .type = TEST_FLOAT16, .rank = 2, .dims = { 3, 5 } \
    }
#define SINGLES(label)                                                   \
    {                                                                    \
        .name = label, .type = TEST_FLOAT32, .rank = 2, .dims = { 3, 5 } \
    }
    static const struct test_tensor list[] = {HALVES("x"), SINGLES("f"), SINGLES("r"), HALVES("y")};
    static const struct test_node steps[] = {
        ONE_IN(kTfLiteBuiltinDequantize, 0, 1),
        ONE_IN(kTfLiteBuiltinRelu, 1, 2),
        {.builtin = kTfLiteBuiltinCast,
         TEST_INPUTS(2),
         TEST_OUTPUTS(3),
         .settings = {{.field = HL_CastOptions_in_data_type, .value = TEST_FLOAT32},
                      {.field = HL_CastOptions_out_data_type, .value = TEST_FLOAT16}}}};
    static const struct test_model model = {TEST_TENSORS(list), TEST_NODES(steps), TEST_INPUTS(0), TEST_OUTPUTS(3)};
    static const char *const texts[] = {"device", "opencl", "require_full_delegation", "1", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session session;
    begin(&session, &model);
    TfLiteStatus status = apply(&session, delegate);
    if (status != kTfLiteOk) print_error("%s\n", session.messages.text);
    assert_int_equal(status, kTfLiteOk);
    uint16_t x[15], y[15];
    for (int i = 0; i < 15; i++) x[i] = hl_half_from_float((float)(i - 7) * 0.25f);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(session.interpreter, 0);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, x, sizeof x), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(session.interpreter, 0);
    assert_int_equal(TfLiteTensorCopyToBuffer(output, y, sizeof y), kTfLiteOk);
    for (int i = 0; i < 15; i++) assert_int_equal(y[i], i < 7 ? 0 : x[i]);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

// ---- constants behind DEQUANTIZE ----------------------------------------------------------------

static void test_half_constants(void **state)
{
    (void)state;
    if (!has_device("opencl")) skip();
    uint16_t halves[5];
    for (int i = 0; i < 5; i++) halves[i] = hl_half_from_float((float)i * 0.25f);
    const struct test_tensor list[] = {
        FLOATS("a"),
        {.name = "h", .type = (enum test_type)1, .rank = 1, .dims = {5}, .data = halves, .bytes = sizeof halves},
        {.name = "f", .type = TEST_FLOAT32, .rank = 1, .dims = {5}},
        FLOATS("s"),
        FLOATS("y")};
    static const struct test_node gpu_nodes[] = {ONE_IN(kTfLiteBuiltinDequantize, 1, 2),
                                                 TWO_IN(kTfLiteBuiltinAdd, 0, 2, 3), ONE_IN(kTfLiteBuiltinRelu, 3, 4)};
    // The second output is the constant itself: nothing on the device makes it.
    const struct test_model model = {TEST_TENSORS(list), TEST_NODES(gpu_nodes), TEST_INPUTS(0), TEST_OUTPUTS(4, 2)};
    static const char *const texts[] = {"device", "opencl", NULL};
    TfLiteDelegate *delegate = make(texts);
    struct session session;
    begin(&session, &model);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(&session), 3);
    set_input(&session);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    const float *y = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 0));
    const float *f = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 1));
    for (int i = 0; i < ELEMENTS; i++) {
        float sum = input_value(i) + (float)(i % 5) * 0.25f;
        assert_float_equal(y[i], sum > 0 ? sum : 0, 1e-6f);
    }
    for (int i = 0; i < 5; i++) assert_float_equal(f[i], (float)i * 0.25f, 0);
    end(&session);

    // Where a node on the CPU reads it too, the copy is the CPU's to make; the device reads the half floats themselves.
    static const struct test_node mixed_nodes[] = {
        ONE_IN(kTfLiteBuiltinDequantize, 1, 2),
        TWO_IN(kTfLiteBuiltinAdd, 0, 2, 3),
        ONE_IN(kTfLiteBuiltinRelu, 3, 4),
        {.builtin = kTfLiteBuiltinCustom, .custom = "Toy", TEST_INPUTS(2), TEST_OUTPUTS(5)}};
    struct test_tensor more[6];
    memcpy(more, list, sizeof list);
    more[5] = (struct test_tensor){.name = "t", .type = TEST_FLOAT32, .rank = 1, .dims = {5}};
    const struct test_model mixed = {
        .tensor_count = 6, .tensors = more, TEST_NODES(mixed_nodes), TEST_INPUTS(0), TEST_OUTPUTS(4, 5)};
    begin(&session, &mixed);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(&session), 2);
    set_input(&session);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    y = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 0));
    f = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session.interpreter, 1));
    for (int i = 0; i < ELEMENTS; i++) {
        float sum = input_value(i) + (float)(i % 5) * 0.25f;
        assert_float_equal(y[i], sum > 0 ? sum : 0, 1e-6f);
    }
    for (int i = 0; i < 5; i++) assert_float_equal(f[i], (float)i * 0.25f, 0);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

static int without_device(void **state)
{
    (void)state;
    unsetenv("HALITE_DEVICE");
    unsetenv("HALITE_GPU_NULL_FAIL");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doors),
        cmocka_unit_test(test_invalid_options_are_told),
        cmocka_unit_test(test_no_such_device),
        cmocka_unit_test(test_every_call_fails),
        cmocka_unit_test(test_every_call_loses_the_device),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_quantized),
        cmocka_unit_test(test_ranks_behind_a_reshape),
        cmocka_unit_test(test_masked_rows),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_buffer_handles),
        cmocka_unit_test(test_half_tensors),
        cmocka_unit_test(test_half_constants),
    };
    return cmocka_run_group_tests(tests, without_device, NULL);
}
