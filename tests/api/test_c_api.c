// SPDX-License-Identifier: Apache-2.0
// c_api.h as programs written against TensorFlow Lite use it: statuses, messages, lifetimes, what happens when
// something is missing or wrong, and that every object can be used or deleted afterwards.
#include "client.h"

#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/version.h"

// ---- models -------------------------------------------------------------------------------------

static void versions(void **state)
{
    (void)state;
    int major = -1, minor = -1, patch = -1;
    assert_int_equal(sscanf(TfLiteVersion(), "%d.%d.%d", &major, &minor, &patch), 3);
    assert_true(major == 2 && minor >= 12 && patch >= 0);
    assert_int_equal(sscanf(TfLiteExtensionApisVersion(), "%d.%d.%d", &major, &minor, &patch), 3);
    assert_string_equal(TfLiteVersion(), TfLiteVersion());
    assert_int_equal(TfLiteSchemaVersion(), 3);
    // What was compiled is what runs.
    assert_string_equal(TfLiteVersion(), TFLITE_VERSION_STRING);
    assert_string_equal(TfLiteExtensionApisVersion(), TFLITE_EXTENSION_APIS_VERSION_STRING);
    assert_int_equal(TfLiteSchemaVersion(), TFLITE_SCHEMA_VERSION);
}

static void models_that_are_none(void **state)
{
    (void)state;
    struct client_log log = {0};
    char bytes[20];
    memset(bytes, 'c', sizeof bytes);
    assert_null(TfLiteModelCreateWithErrorReporter(bytes, sizeof bytes, client_report, &log));
    assert_string_equal(log.text, "The model is not a valid Flatbuffer buffer\n");
    client_forget(&log);
    assert_null(TfLiteModelCreateFromFileWithErrorReporter("invalid/path/foo.tflite", client_report, &log));
    assert_non_null(strstr(log.text, "Could not open 'invalid/path/foo.tflite'."));
    client_forget(&log);
    assert_null(TfLiteModelCreateWithErrorReporter(NULL, 4, client_report, &log));
    assert_null(TfLiteModelCreateWithErrorReporter(bytes, 0, client_report, &log));
    assert_null(TfLiteModelCreateFromFileWithErrorReporter(NULL, client_report, &log));
    assert_null(TfLiteModelCreateFromFileWithErrorReporter(".", client_report, &log)); // a folder
    assert_int_equal(log.count, 4);

    size_t size;
    unsigned char *file = test_model_write(&triple, &size);
    client_forget(&log);
    TfLiteModel *model = TfLiteModelCreateWithErrorReporter(file, size, client_report, &log);
    assert_non_null(model);
    assert_int_equal(log.count, 0);
    TfLiteModelDelete(model);
    // whatever is missing: NULL and a message, or a model that can be deleted
    for (size_t cut = 0; cut < size; cut += 7) {
        client_forget(&log);
        model = TfLiteModelCreateWithErrorReporter(file, cut, client_report, &log);
        assert_true(model || log.count == 1);
        TfLiteModelDelete(model);
    }
    free(file);
}

// ---- a whole life -------------------------------------------------------------------------------

static void model_and_options_go_first(void **state)
{
    (void)state;
    struct client c;
    client_load(&c, &triple);
    TfLiteInterpreterOptionsSetNumThreads(c.options, 2);
    client_create(&c);
    TfLiteInterpreterOptionsDelete(c.options);
    TfLiteModelDelete(c.model);
    c.options = NULL;
    c.model = NULL;
    assert_int_equal(TfLiteInterpreterGetInputTensorCount(c.interpreter), 1);
    assert_int_equal(TfLiteInterpreterGetOutputTensorCount(c.interpreter), 1);
    assert_int_equal(TfLiteInterpreterInputTensorIndices(c.interpreter)[0], TRIPLE_INPUT);
    assert_int_equal(TfLiteInterpreterOutputTensorIndices(c.interpreter)[0], TRIPLE_OUTPUT);
    run_triple(&c);
    client_resize(&c, 0, 2);
    run_triple(&c);

    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(c.interpreter, 0);
    assert_ptr_equal(input, TfLiteInterpreterGetTensor(c.interpreter, TRIPLE_INPUT));
    assert_int_equal(TfLiteTensorType(input), kTfLiteFloat32);
    assert_int_equal(TfLiteTensorNumDims(input), 1);
    assert_int_equal(TfLiteTensorDim(input, 0), 2);
    assert_int_equal(TfLiteTensorByteSize(input), 2 * sizeof(float));
    assert_string_equal(TfLiteTensorName(input), "input");
    assert_non_null(TfLiteTensorData(input));
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(c.interpreter, 0);
    assert_ptr_equal(output, TfLiteInterpreterGetTensor(c.interpreter, TRIPLE_OUTPUT));
    assert_int_equal(TfLiteTensorByteSize(output), 2 * sizeof(float));
    assert_string_equal(TfLiteTensorName(output), "output");
    TfLiteQuantizationParams params = TfLiteTensorQuantizationParams(output);
    assert_true(params.scale == 0 && params.zero_point == 0);
    client_end(&c);
}

static void quantized_values(void **state)
{
    (void)state;
#define BYTES(label)                                                                  \
    {                                                                                 \
        .name = label, .type = TEST_UINT8, .rank = 1, .dims = {2}, .scale = 0.003922f \
    }
    static const struct test_tensor tensors[] = {BYTES("sum"), BYTES("input"), BYTES("output")};
    struct test_model model = triple;
    model.tensors = tensors;
    struct client c;
    client_begin(&c, &model);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    TfLiteQuantizationParams params = TfLiteTensorQuantizationParams(TfLiteInterpreterGetInputTensor(c.interpreter, 0));
    assert_true(params.scale == 0.003922f && params.zero_point == 0);
    const uint8_t x[] = {1, 3};
    uint8_t y[2];
    client_set(&c, 0, x, sizeof x);
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_get(&c, 0, y, sizeof y);
    assert_true(y[0] == 3 && y[1] == 9);
    client_end(&c);
}

// Clients fetch tensors once and use them through all resizes.
static void tensors_keep_their_address(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(c.interpreter, 0);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(c.interpreter, 0);
    static const int lengths[] = {3, 1, 5, 5, 8};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        client_resize(&c, 0, lengths[i]);
        run_triple(&c);
        assert_ptr_equal(TfLiteInterpreterGetInputTensor(c.interpreter, 0), input);
        assert_ptr_equal(TfLiteInterpreterGetOutputTensor(c.interpreter, 0), output);
        assert_int_equal(TfLiteTensorDim(output, 0), lengths[i]);
    }
    client_end(&c);
}

static void allocating_again_changes_nothing(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    run_triple(&c);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(c.interpreter, 0);
    float *data = TfLiteTensorData(input);
    data[3] = 0.125f;
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ptr_equal(TfLiteTensorData(input), data);
    client_resize(&c, 0, TRIPLE_LENGTH); // the shape it has: memory and values stay
    assert_ptr_equal(TfLiteTensorData(input), data);
    assert_true(data[3] == 0.125f);
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_end(&c);
}

// ---- invoke and resize, wrongly -----------------------------------------------------------------

static void invoke_needs_memory(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    assert_null(TfLiteTensorData(TfLiteInterpreterGetInputTensor(c.interpreter, 0)));
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    assert_string_equal(c.log.text, "Invoke called on model that is not ready.\n");
    assert_int_equal(c.log.count, 1);
    run_triple(&c);
    client_resize(&c, 0, 7);
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    assert_int_equal(c.log.count, 2);
    run_triple(&c);
    client_end(&c);
}

static void resizes_that_are_refused(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    run_triple(&c);
    const int minus[] = {-1}, huge[] = {1 << 30, 1 << 30, 1 << 2}, four[] = {4};
    assert_int_equal(TfLiteInterpreterResizeInputTensor(c.interpreter, 1, four, 1), kTfLiteError);
    assert_int_equal(TfLiteInterpreterResizeInputTensor(c.interpreter, -1, four, 1), kTfLiteError);
    assert_int_equal(TfLiteInterpreterResizeInputTensor(c.interpreter, 0, four, -1), kTfLiteError);
    assert_int_equal(TfLiteInterpreterResizeInputTensor(c.interpreter, 0, minus, 1), kTfLiteError);
    assert_int_equal(TfLiteInterpreterResizeInputTensor(c.interpreter, 0, huge, 3), kTfLiteError);
    assert_int_equal(c.log.count, 5);
    assert_int_equal(TfLiteInterpreterResizeInputTensor(c.interpreter, 0, NULL, 1), kTfLiteError);
    run_triple(&c); // the shape is what it was
    client_end(&c);
}

static void ranks_and_empty_tensors(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(c.interpreter, 0);
    assert_ok(TfLiteInterpreterResizeInputTensor(c.interpreter, 0, (const int[]){1, 2, 4}, 3));
    assert_int_equal(TfLiteTensorByteSize(input), 8 * sizeof(float));
    run_triple(&c);
    assert_ok(TfLiteInterpreterResizeInputTensor(c.interpreter, 0, NULL, 0)); // a scalar
    assert_int_equal(TfLiteTensorNumDims(input), 0);
    assert_int_equal(TfLiteTensorByteSize(input), sizeof(float));
    run_triple(&c);
    assert_ok(TfLiteInterpreterResizeInputTensor(c.interpreter, 0, (const int[]){1, 0}, 2));
    assert_int_equal(TfLiteTensorByteSize(input), 0);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_null(TfLiteTensorData(input));
    assert_ok(TfLiteTensorCopyFromBuffer((TfLiteTensor *)input, NULL, 0));
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    assert_int_equal(TfLiteTensorDim(TfLiteInterpreterGetOutputTensor(c.interpreter, 0), 1), 0);
    client_resize(&c, 0, 4);
    run_triple(&c);
    client_end(&c);
}

static void sizes_must_match(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(c.interpreter, 0);
    float x[5] = {0};
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, x, 4 * sizeof(float)), kTfLiteError); // no memory yet
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, x, sizeof x), kTfLiteError);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, x, 3), kTfLiteError);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, NULL, 4 * sizeof(float)), kTfLiteError);
    assert_int_equal(TfLiteTensorCopyToBuffer(input, x, sizeof x), kTfLiteError);
    assert_int_equal(TfLiteTensorCopyToBuffer(input, NULL, 4 * sizeof(float)), kTfLiteError);
    assert_ok(TfLiteTensorCopyToBuffer(input, x, 4 * sizeof(float)));
    client_end(&c);
}

// No operators at all: the output is the input.
static void model_without_operators(void **state)
{
    (void)state;
    static const struct test_tensor tensors[] = {FLOATS("x", 3)};
    static const struct test_model model = {TEST_TENSORS(tensors), TEST_INPUTS(0), TEST_OUTPUTS(0)};
    struct client c;
    client_begin(&c, &model);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    const float x[] = {1, 2, 3};
    float y[3];
    client_set(&c, 0, x, sizeof x);
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_get(&c, 0, y, sizeof y);
    assert_memory_equal(x, y, sizeof x);
    client_end(&c);
}

// ---- options ------------------------------------------------------------------------------------

static TfLiteStatus note_prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    assert_non_null(context);
    ++*(int *)delegate->data_;
    return kTfLiteOk;
}

static TfLiteStatus refuse_prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    return context && delegate ? kTfLiteError : kTfLiteOk;
}

// A delegate that allows no dynamic tensors leaves the graph ready to run.
static void delegate_that_takes_nothing(void **state)
{
    (void)state;
    int prepared = 0;
    TfLiteDelegate delegate = TfLiteDelegateCreate();
    delegate.data_ = &prepared;
    delegate.Prepare = note_prepare;
    struct client c;
    client_load(&c, &triple);
    TfLiteInterpreterOptionsAddDelegate(c.options, &delegate);
    client_create(&c);
    assert_int_equal(prepared, 1);
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    run_triple(&c);
    assert_int_equal(c.log.count, 0);
    client_end(&c);
}

static void delegate_that_fails(void **state)
{
    (void)state;
    TfLiteDelegate delegate = {.Prepare = refuse_prepare};
    struct client c;
    client_load(&c, &triple);
    TfLiteInterpreterOptionsAddDelegate(c.options, &delegate);
    assert_null(TfLiteInterpreterCreate(c.model, c.options));
    assert_true(c.log.count > 0);
    client_end(&c);

    client_begin(&c, &triple); // later: as before, and ready
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(c.interpreter, &delegate), kTfLiteDelegateError);
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    run_triple(&c);
    client_end(&c);
}

static void null_delegates(void **state)
{
    (void)state;
    struct client c;
    client_load(&c, &triple);
    TfLiteInterpreterOptionsAddDelegate(c.options, NULL); // what a delegate's Create gave that failed
    assert_null(TfLiteInterpreterCreate(c.model, c.options));
    assert_string_equal(c.log.text, "Null delegate.\n");
    c.interpreter = TfLiteInterpreterCreate(c.model, NULL);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(c.interpreter, NULL), kTfLiteDelegateError);
    run_triple(&c);
    client_end(&c);
}

static void copies_of_options(void **state)
{
    (void)state;
    int prepared = 0;
    TfLiteDelegate delegate = {.Prepare = note_prepare, .data_ = &prepared};
    struct client c;
    client_load(&c, &triple);
    TfLiteInterpreterOptionsAddDelegate(c.options, &delegate);
    TfLiteInterpreterOptions *copy = TfLiteInterpreterOptionsCopy(c.options);
    assert_non_null(copy);
    assert_ptr_not_equal(copy, c.options);
    TfLiteInterpreterOptionsDelete(c.options);
    c.options = copy;
    client_create(&c);
    assert_int_equal(prepared, 1);
    run_triple(&c);
    assert_int_equal(TfLiteInterpreterInvoke(NULL), kTfLiteError);
    client_end(&c);
}

static void thread_counts(void **state)
{
    (void)state;
    struct client c;
    client_load(&c, &triple);
    TfLiteInterpreterOptionsSetNumThreads(c.options, -2); // refused; the interpreter is made all the same
    assert_int_equal(c.log.count, 1);
    client_create(&c);
    run_triple(&c);
    client_end(&c);
}

// ---- operators ----------------------------------------------------------------------------------

static struct {
    TfLiteInterpreter *to_cancel;
    TfLiteStatus cancelled;
    int runs;
    bool ask_forbidden;
} op;

static TfLiteStatus like_input(TfLiteContext *context, TfLiteNode *node)
{
    if (op.ask_forbidden) { // what only delegates may ask: refused, and nothing breaks
        TfLiteIntArray *plan;
        TfLiteNode *other;
        TfLiteRegistration *registration;
        TfLiteDelegateParams *params;
        TfLiteContext *acquired;
        int count;
        assert_int_equal(context->GetExecutionPlan(context, &plan), kTfLiteError);
        assert_int_equal(context->GetNodeAndRegistration(context, 0, &other, &registration), kTfLiteError);
        TfLiteIntArray *none = TfLiteIntArrayCreate(0);
        assert_int_equal(context->ReplaceNodeSubsetsWithDelegateKernels(context, (TfLiteRegistration){0}, none, NULL),
                         kTfLiteError);
        assert_int_equal(context->PreviewDelegatePartitioning(context, none, &params, &count), kTfLiteError);
        assert_int_equal(context->AcquireSubgraphContext(context, 0, &acquired), kTfLiteError);
        assert_int_equal(context->ReleaseSubgraphContext(context, 0), kTfLiteError);
        TfLiteIntArrayFree(none);
        return kTfLiteError;
    }
    TfLiteTensor *output = &context->tensors[node->outputs->data[0]];
    assert_ok(context->ResizeTensor(context, output, TfLiteIntArrayCopy(context->tensors[node->inputs->data[0]].dims)));
    return context->ResizeTensor(context, output, output->dims); // the tensor's own shape is fine as well
}

static TfLiteStatus copy_or_cancel(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *x = &context->tensors[node->inputs->data[0]];
    memcpy(context->tensors[node->outputs->data[0]].data.raw, x->data.raw, x->bytes);
    op.runs++;
    if (op.to_cancel) op.cancelled = TfLiteInterpreterCancel(op.to_cancel);
    return kTfLiteOk;
}

static const struct test_tensor chain_tensors[] = {FLOATS("x", 2), FLOATS("m", 2), FLOATS("y", 2)};
#define COPY(x, y)                                                                         \
    {                                                                                      \
        .builtin = kTfLiteBuiltinCustom, .custom = "Copy", TEST_INPUTS(x), TEST_OUTPUTS(y) \
    }
static const struct test_node chain_nodes[] = {COPY(0, 1), COPY(1, 2)};
static const struct test_model chain = {TEST_TENSORS(chain_tensors), TEST_NODES(chain_nodes), TEST_INPUTS(0),
                                        TEST_OUTPUTS(2)};
static const TfLiteRegistration copy_op = {.prepare = like_input, .invoke = copy_or_cancel};

static void load_chain(struct client *c)
{
    memset(&op, 0, sizeof op);
    client_load(c, &chain);
    TfLiteInterpreterOptionsAddCustomOp(c->options, "Copy", &copy_op, 1, 1);
}

static void cancelling(void **state)
{
    (void)state;
    struct client c;
    load_chain(&c);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_int_equal(TfLiteInterpreterCancel(c.interpreter), kTfLiteError); // not enabled
    assert_true(c.log.count > 0);
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_end(&c);

    load_chain(&c);
    assert_ok(TfLiteInterpreterOptionsEnableCancellation(c.options, true));
    TfLiteInterpreterOptionsSetEnableDelegateFallback(c.options, true); // has nothing to do with it
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ok(TfLiteInterpreterCancel(c.interpreter)); // nothing runs: no effect
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    assert_int_equal(op.runs, 2);
    op.to_cancel = c.interpreter;
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteCancelled);
    assert_ok(op.cancelled);
    assert_int_equal(op.runs, 3);
    op.to_cancel = NULL;
    assert_ok(TfLiteInterpreterInvoke(c.interpreter)); // the next one runs
    assert_int_equal(op.runs, 5);
    client_end(&c);
}

static void delegates_functions_are_forbidden_to_kernels(void **state)
{
    (void)state;
    struct client c;
    load_chain(&c);
    client_create(&c);
    op.ask_forbidden = true;
    assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteError);
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    op.ask_forbidden = false;
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_end(&c);
}

static TfLiteStatus fail_prepare(TfLiteContext *context, TfLiteNode *node)
{
    return context && node ? kTfLiteError : kTfLiteOk;
}

static void *fail_init(TfLiteContext *context, const char *buffer, size_t length)
{
    assert_true(context && (buffer || length == 0));
    return (void *)-1; // what the original's TfLiteKernelInitFailed gives
}

static TfLiteStatus told;

static TfLiteStatus end_as_told(TfLiteContext *context, TfLiteNode *node)
{
    return context && node ? told : kTfLiteError;
}

static void kernels_that_fail(void **state)
{
    (void)state;
    struct client c;
    client_load(&c, &chain);
    TfLiteInterpreterOptionsAddCustomOp(c.options, "Copy", &(TfLiteRegistration){.prepare = fail_prepare}, 1, 1);
    client_create(&c);
    assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteError);
    assert_non_null(strstr(c.log.text, "Node number 0 (Copy) failed to prepare."));
    client_end(&c);

    client_load(&c, &chain);
    TfLiteInterpreterOptionsAddCustomOp(c.options, "Copy", &(TfLiteRegistration){.prepare = like_input}, 1, 1);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError); // without an invoke function
    assert_non_null(strstr(c.log.text, "Node number 0 (Copy) failed to invoke."));
    client_end(&c);

    client_load(&c, &chain);
    TfLiteInterpreterOptionsAddCustomOp(c.options, "Copy",
                                        &(TfLiteRegistration){.prepare = like_input, .invoke = end_as_told}, 1, 1);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    for (int status = kTfLiteError; status <= kTfLiteOutputShapeNotKnown; status++) { // who invokes hears of two kinds
        told = (TfLiteStatus)status;
        assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), status == kTfLiteCancelled ? status : kTfLiteError);
    }
    told = kTfLiteOk;
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_end(&c);

    client_load(&c, &chain);
    TfLiteInterpreterOptionsAddCustomOp(c.options, "Copy",
                                        &(TfLiteRegistration){.init = fail_init, .prepare = like_input}, 1, 1);
    assert_null(TfLiteInterpreterCreate(c.model, c.options));
    assert_true(c.log.count > 0);
    client_end(&c);
}

// The model can be loaded and looked at; it cannot run.
static void operator_that_nobody_knows(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &chain);
    assert_int_equal(TfLiteInterpreterGetInputTensorCount(c.interpreter), 1);
    assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteUnresolvedOps);
    assert_non_null(strstr(c.log.text, "Encountered unresolved custom op: Copy."));
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    client_end(&c);
}

// ---- variables ----------------------------------------------------------------------------------

static TfLiteStatus count_up(TfLiteContext *context, TfLiteNode *node)
{
    TfLiteTensor *counter = &context->tensors[node->inputs->data[1]];
    assert_true(counter->is_variable && counter->allocation_type == kTfLiteArenaRwPersistent);
    counter->data.int8[0]++;
    context->tensors[node->outputs->data[0]].data.int8[0] = counter->data.int8[0];
    return kTfLiteOk;
}

static void variables_keep_their_value(void **state)
{
    (void)state;
#define INT8(label, variable)                                                                       \
    {                                                                                               \
        .name = label, .type = TEST_INT8, .rank = 1, .dims = {1}, .scale = 0.15f, .zero_point = -3, \
        .is_variable = variable                                                                     \
    }
    static const struct test_tensor tensors[] = {INT8("x", false), INT8("counter", true), INT8("y", false)};
    static const struct test_node nodes[] = {
        {.builtin = kTfLiteBuiltinCustom, .custom = "Count", TEST_INPUTS(0, 1), TEST_OUTPUTS(2)}};
    static const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(0), TEST_OUTPUTS(2)};
    struct client c;
    client_load(&c, &model);
    TfLiteInterpreterOptionsAddCustomOp(c.options, "Count", &(TfLiteRegistration){.invoke = count_up}, 1, 1);
    client_create(&c);
    assert_int_equal(TfLiteInterpreterGetVariableTensorCount(c.interpreter), 1);
    assert_ptr_equal(TfLiteInterpreterGetVariableTensor(c.interpreter, 0),
                     TfLiteInterpreterGetTensor(c.interpreter, 1));
    assert_null(TfLiteInterpreterGetVariableTensor(c.interpreter, 1));
    assert_null(TfLiteInterpreterGetVariableTensor(c.interpreter, -1));
    assert_int_equal(TfLiteInterpreterResetVariableTensors(c.interpreter), kTfLiteError); // none has memory yet
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    int8_t y;
    for (int run = 0; run < 6; run++) { // real zero is the zero point; a reset goes back to it
        if (run == 3) assert_ok(TfLiteInterpreterResetVariableTensors(c.interpreter));
        assert_ok(TfLiteInterpreterInvoke(c.interpreter));
        client_get(&c, 0, &y, 1);
        assert_int_equal(y, -3 + 1 + run % 3);
    }
    client_end(&c);
}

// ---- arguments ----------------------------------------------------------------------------------

static void null_arguments(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    TfLiteModelDelete(NULL);
    TfLiteInterpreterOptionsDelete(NULL);
    TfLiteInterpreterDelete(NULL);
    TfLiteSignatureRunnerDelete(NULL);
    TfLiteInterpreterOptionsSetNumThreads(NULL, 1);
    TfLiteInterpreterOptionsAddDelegate(NULL, NULL);
    TfLiteInterpreterOptionsSetErrorReporter(NULL, client_report, NULL);
    TfLiteInterpreterOptionsAddOperator(NULL, NULL);
    TfLiteInterpreterOptionsAddOperator(c.options, NULL);
    assert_int_equal(TfLiteInterpreterOptionsEnableCancellation(NULL, true), kTfLiteError);
    assert_null(TfLiteInterpreterOptionsCopy(NULL));
    assert_null(TfLiteInterpreterCreate(NULL, c.options));
    assert_int_equal(c.log.count, 1);
    assert_int_equal(TfLiteInterpreterGetInputTensorCount(NULL), 0);
    assert_int_equal(TfLiteInterpreterGetOutputTensorCount(NULL), 0);
    assert_null(TfLiteInterpreterInputTensorIndices(NULL));
    assert_null(TfLiteInterpreterOutputTensorIndices(NULL));
    assert_null(TfLiteInterpreterGetInputTensor(NULL, 0));
    assert_null(TfLiteInterpreterGetOutputTensor(NULL, 0));
    assert_null(TfLiteInterpreterGetTensor(NULL, 0));
    assert_int_equal(TfLiteInterpreterResizeInputTensor(NULL, 0, NULL, 0), kTfLiteError);
    assert_int_equal(TfLiteInterpreterAllocateTensors(NULL), kTfLiteError);
    assert_int_equal(TfLiteInterpreterInvoke(NULL), kTfLiteError);
    assert_int_equal(TfLiteInterpreterCancel(NULL), kTfLiteError);
    assert_int_equal(TfLiteTensorType(NULL), kTfLiteNoType);
    assert_int_equal(TfLiteTensorNumDims(NULL), -1);
    assert_int_equal(TfLiteTensorByteSize(NULL), 0);
    assert_null(TfLiteTensorData(NULL));
    assert_null(TfLiteTensorName(NULL));
    assert_true(TfLiteTensorQuantizationParams(NULL).scale == 0);
    assert_int_equal(TfLiteTensorCopyFromBuffer(NULL, "", 0), kTfLiteError);
    assert_int_equal(TfLiteTensorCopyToBuffer(NULL, &c, 0), kTfLiteError);

    static const int outside[] = {-1, 1, 1 << 30};
    for (int i = 0; i < 3; i++) {
        assert_null(TfLiteInterpreterGetInputTensor(c.interpreter, outside[i]));
        assert_null(TfLiteInterpreterGetOutputTensor(c.interpreter, outside[i]));
    }
    assert_null(TfLiteInterpreterGetTensor(c.interpreter, -1));
    assert_null(TfLiteInterpreterGetTensor(c.interpreter, 3));
    const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(c.interpreter, 0);
    assert_int_equal(TfLiteTensorDim(input, -1), -1);
    assert_int_equal(TfLiteTensorDim(input, 1), -1);
    run_triple(&c);
    client_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(models_that_are_none),
        cmocka_unit_test(model_and_options_go_first),
        cmocka_unit_test(quantized_values),
        cmocka_unit_test(tensors_keep_their_address),
        cmocka_unit_test(allocating_again_changes_nothing),
        cmocka_unit_test(invoke_needs_memory),
        cmocka_unit_test(resizes_that_are_refused),
        cmocka_unit_test(ranks_and_empty_tensors),
        cmocka_unit_test(sizes_must_match),
        cmocka_unit_test(model_without_operators),
        cmocka_unit_test(delegate_that_takes_nothing),
        cmocka_unit_test(delegate_that_fails),
        cmocka_unit_test(null_delegates),
        cmocka_unit_test(copies_of_options),
        cmocka_unit_test(thread_counts),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(delegates_functions_are_forbidden_to_kernels),
        cmocka_unit_test(kernels_that_fail),
        cmocka_unit_test(operator_that_nobody_knows),
        cmocka_unit_test(variables_keep_their_value),
        cmocka_unit_test(null_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
