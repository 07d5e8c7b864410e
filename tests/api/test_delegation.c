// SPDX-License-Identifier: Apache-2.0
// Delegates through the C API, as the original's tests of delegation expect it: one after the other, with and without
// dynamic tensors, failing at each step, over several subgraphs, and with values that stay in their own buffers.
//
//   the graph:   m = a + a      p = b + b      q = m + b      inputs a and b, outputs p and q
#include "client.h"

#include "halite/halite.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/c_api_opaque.h"

enum { A, B, M, P, Q, TENSORS, MAX_LENGTH = 8 };

static const struct test_tensor sums_tensors[] = {FLOATS("a", 3), FLOATS("b", 3), FLOATS("m", 3), FLOATS("p", 3),
                                                  FLOATS("q", 3)};
static const struct test_node sums_nodes[] = {NODE_2_1(kTfLiteBuiltinAdd, A, A, M),
                                              NODE_2_1(kTfLiteBuiltinAdd, B, B, P),
                                              NODE_2_1(kTfLiteBuiltinAdd, M, B, Q)};
static const struct test_model sums = {TEST_TENSORS(sums_tensors), TEST_NODES(sums_nodes), TEST_INPUTS(A, B),
                                       TEST_OUTPUTS(P, Q)};

// ---- a delegate that adds -----------------------------------------------------------------------

struct adder {
    TfLiteDelegate delegate;
    int node_count, nodes[3]; // those it claims
    int min_nodes;            // smaller pieces are left alone
    bool fail_prepare, fail_init, fail_node_prepare, fail_invoke;
    bool expects_shapes; // of the runtime, instead of setting them itself
    bool makes_dynamic;  // its output
    bool changes_inputs; // of node 2, as delegates for half precision do
    bool keeps_values;   // in its own buffers
    int prepared, alive, copied, freed;
    float buffers[TENSORS][MAX_LENGTH];
};

struct adder_kernel {
    struct adder *adder;
    int count, nodes[3][3]; // inputs and output of each addition
};

static void *adder_init(TfLiteContext *context, const char *buffer, size_t length)
{
    (void)length;
    const TfLiteDelegateParams *params = (const void *)buffer;
    struct adder *adder = params->delegate->data_;
    if (adder->fail_init) return (void *)-1;
    struct adder_kernel *kernel = calloc(1, sizeof *kernel);
    assert_non_null(kernel);
    kernel->adder = adder;
    for (int i = 0; i < params->nodes_to_replace->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        assert_ok(context->GetNodeAndRegistration(context, params->nodes_to_replace->data[i], &node, &registration));
        memcpy(kernel->nodes[kernel->count], node->inputs->data, 2 * sizeof(int));
        kernel->nodes[kernel->count++][2] = node->outputs->data[0];
    }
    adder->alive++;
    return kernel;
}

static void adder_free(TfLiteContext *context, void *state)
{
    assert_non_null(context);
    struct adder_kernel *kernel = state;
    kernel->adder->alive--;
    free(kernel);
}

static TfLiteStatus adder_prepare_node(TfLiteContext *context, TfLiteNode *node)
{
    const struct adder_kernel *kernel = node->user_data;
    const TfLiteDelegateParams *params = node->builtin_data; // some delegates look here again
    assert_ptr_equal(params->delegate, &kernel->adder->delegate);
    assert_int_equal(params->nodes_to_replace->size, kernel->count);
    if (kernel->adder->fail_node_prepare) return kTfLiteError;
    const TfLiteTensor *input = &context->tensors[node->inputs->data[0]];
    for (int i = 0; i < node->outputs->size; i++) {
        TfLiteTensor *output = &context->tensors[node->outputs->data[i]];
        if (kernel->adder->makes_dynamic) {
            TfLiteOpaqueTensorSetAllocationTypeToDynamic((TfLiteOpaqueTensor *)output);
        } else if (kernel->adder->expects_shapes) {
            TF_LITE_ENSURE(context, TfLiteIntArrayEqual(input->dims, output->dims));
        } else {
            TF_LITE_ENSURE_STATUS(context->ResizeTensor(context, output, TfLiteIntArrayCopy(input->dims)));
        }
    }
    return kTfLiteOk;
}

static TfLiteStatus adder_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const struct adder_kernel *kernel = node->user_data;
    struct adder *adder = kernel->adder;
    if (adder->fail_invoke) return kTfLiteError;
    bool inside[TENSORS] = {false};
    for (int n = 0; n < kernel->count; n++) {
        const int *add = kernel->nodes[n];
        const float *x = inside[add[0]] ? adder->buffers[add[0]] : context->tensors[add[0]].data.f;
        const float *y = inside[add[1]] ? adder->buffers[add[1]] : context->tensors[add[1]].data.f;
        size_t bytes = context->tensors[node->inputs->data[0]].bytes;
        for (size_t i = 0; i < bytes / sizeof *x; i++) adder->buffers[add[2]][i] = x[i] + y[i];
        inside[add[2]] = true;
        TfLiteTensor *output = &context->tensors[add[2]];
        if (output->delegate != &adder->delegate) continue; // used inside only
        if (adder->keeps_values && output->buffer_handle != kTfLiteNullBufferHandle)
            output->data_is_stale = true;
        else
            memcpy(output->data.raw, adder->buffers[add[2]], bytes);
    }
    return kTfLiteOk;
}

static TfLiteStatus adder_prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    struct adder *adder = delegate->data_;
    adder->prepared++;
    TfLiteIntArray *wanted = TfLiteIntArrayCreate(adder->node_count);
    memcpy(wanted->data, adder->nodes, (size_t)adder->node_count * sizeof(int));
    TfLiteDelegateParams *pieces;
    int count;
    assert_ok(context->PreviewDelegatePartitioning(context, wanted, &pieces, &count));
    if (adder->min_nodes) {
        wanted->size = 0;
        for (int p = 0; p < count; p++)
            for (int i = 0; i < pieces[p].nodes_to_replace->size; i++)
                if (pieces[p].nodes_to_replace->size >= adder->min_nodes)
                    wanted->data[wanted->size++] = pieces[p].nodes_to_replace->data[i];
        assert_ok(context->PreviewDelegatePartitioning(context, wanted, &pieces, &count)); // as often as one likes
    }
    if (adder->changes_inputs) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        assert_ok(context->GetNodeAndRegistration(context, 2, &node, &registration));
        node->inputs->data[0] = A;
    }
    const TfLiteRegistration kernel = {
        .init = adder_init,
        .free = adder_free,
        .prepare = adder_prepare_node,
        .invoke = adder_invoke,
        .custom_name = "Adder",
    };
    TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, wanted, delegate);
    TfLiteIntArrayFree(wanted);
    return adder->fail_prepare ? kTfLiteError : status;
}

static TfLiteStatus copy_from_buffer(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                                     TfLiteTensor *tensor)
{
    struct adder *adder = delegate->data_;
    assert_int_equal(tensor->buffer_handle, handle);
    memcpy(tensor->data.raw, adder->buffers[tensor - context->tensors], tensor->bytes);
    adder->copied++;
    return kTfLiteOk;
}

static void free_buffer(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle *handle)
{
    assert_true(context && *handle != kTfLiteNullBufferHandle);
    ((struct adder *)delegate->data_)->freed++;
}

// The delegate points to its own struct, which must have its final address.
static TfLiteDelegate *ready(struct adder *adder, int64_t flags)
{
    adder->delegate = (TfLiteDelegate){
        .data_ = adder,
        .Prepare = adder_prepare,
        .CopyFromBufferHandle = copy_from_buffer,
        .FreeBufferHandle = free_buffer,
        .flags = flags,
    };
    return &adder->delegate;
}

#define CLAIMS(count, ...) .node_count = (count), .nodes = {__VA_ARGS__}

// ---- helpers ------------------------------------------------------------------------------------

static int plan_size(const struct client *c)
{
    return HaliteInterpreterGetNodeCount(c->interpreter);
}

static const float a_values[MAX_LENGTH] = {1, 2, 3, 4, -5, 6, 7, 8}, b_values[MAX_LENGTH] = {8, -7, 6, 5, 4, 3, 2, 1};

// The graph is ready: checks that it computes what it should, whoever does it.
static void invoke_sums_as(struct client *c, TfLiteStatus expected)
{
    size_t bytes = TfLiteTensorByteSize(TfLiteInterpreterGetInputTensor(c->interpreter, 0));
    float p[MAX_LENGTH], q[MAX_LENGTH];
    client_set(c, 0, a_values, bytes);
    client_set(c, 1, b_values, bytes);
    assert_int_equal(TfLiteInterpreterInvoke(c->interpreter), expected);
    if (expected == kTfLiteError) return;
    client_get(c, 0, p, bytes);
    client_get(c, 1, q, bytes);
    for (size_t i = 0; i < bytes / sizeof *p; i++) {
        assert_true(p[i] == 2 * b_values[i]);
        assert_true(q[i] == 2 * a_values[i] + b_values[i]);
    }
}

static void invoke_sums(struct client *c)
{
    invoke_sums_as(c, kTfLiteOk);
}

static TfLiteStatus apply(struct client *c, struct adder *adder, int64_t flags)
{
    return TfLiteInterpreterModifyGraphWithDelegate(c->interpreter, ready(adder, flags));
}

static void resize_both(struct client *c, int length)
{
    const int dims[] = {1, length};
    for (int i = 0; i < 2; i++) assert_ok(TfLiteInterpreterResizeInputTensor(c->interpreter, i, dims, 2));
}

// ---- one delegate -------------------------------------------------------------------------------

static void one_delegate(void **state)
{
    (void)state;
    struct adder all = {CLAIMS(3, 0, 1, 2)}, some = {CLAIMS(2, 1, 2)};
    struct client c;
    client_begin(&c, &sums);
    assert_ok(apply(&c, &all, kTfLiteDelegateFlagsNone));
    assert_int_equal(plan_size(&c), 1);
    HaliteNodeReport report;
    assert_ok(HaliteInterpreterGetNodeReport(c.interpreter, 0, &report));
    assert_int_equal(report.node, 3);
    assert_string_equal(report.where, "Adder");
    invoke_sums(&c); // ready without AllocateTensors
    client_end(&c);
    assert_int_equal(all.alive, 0);

    client_begin(&c, &sums);
    assert_ok(apply(&c, &some, kTfLiteDelegateFlagsNone));
    assert_int_equal(plan_size(&c), 2);
    assert_ok(HaliteInterpreterGetNodeReport(c.interpreter, 0, &report));
    assert_int_equal(report.node, 0);
    assert_string_equal(report.where, "CPU");
    invoke_sums(&c);
    client_end(&c);
}

// The graph is as before, and runs at once.
static void failures_leave_the_graph_as_it_was(void **state)
{
    (void)state;
    static const int64_t flags[] = {kTfLiteDelegateFlagsNone, kTfLiteDelegateFlagsAllowDynamicTensors};
    for (int step = 0; step < 3; step++) {
        for (int f = 0; f < 2; f++) {
            struct adder adder = {
                CLAIMS(3, 0, 1, 2),     .fail_prepare = step == 0,
                .fail_init = step == 1, .fail_node_prepare = step == 2,
                .changes_inputs = true,
            };
            struct client c;
            client_begin(&c, &sums);
            // then its kernel is prepared right away
            if (f == 1) assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
            assert_int_equal(apply(&c, &adder, flags[f]), kTfLiteDelegateError);
            assert_non_null(
                strstr(c.log.text, "Restored original execution plan after delegate application failure.\n"));
            assert_int_equal(plan_size(&c), 3);
            assert_int_equal(adder.alive, 0);
            invoke_sums(&c);
            client_end(&c);

            client_load(&c, &sums); // among the options it means that there is no interpreter
            TfLiteInterpreterOptionsAddDelegate(c.options, &adder.delegate);
            c.interpreter = TfLiteInterpreterCreate(c.model, c.options);
            if (f == 0 || step < 2) {
                assert_null(c.interpreter);
            } else { // its kernel is prepared with the others only
                assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteError);
            }
            client_end(&c);
            assert_int_equal(adder.alive, 0);
        }
    }
}

static void resizes_with_a_static_delegate(void **state)
{
    (void)state;
    struct adder adder = {CLAIMS(3, 0, 1, 2)};
    struct client c;
    client_begin(&c, &sums);
    assert_ok(apply(&c, &adder, kTfLiteDelegateFlagsRequirePropagatedShapes)); // means nothing without dynamic tensors
    client_resize(&c, 0, 3);
    assert_int_equal(plan_size(&c), 1); // the shape it has
    resize_both(&c, 3);
    assert_int_equal(plan_size(&c), 3);
    assert_int_equal(adder.alive, 0);
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    assert_ok(apply(&c, &adder, kTfLiteDelegateFlagsNone)); // nothing is left for it, but it is there again
    assert_int_equal(plan_size(&c), 1);
    invoke_sums(&c);
    resize_both(&c, 4);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_int_equal(plan_size(&c), 1);
    invoke_sums(&c);

    resize_both(&c, 5);
    adder.fail_node_prepare = true; // this time it fails: the CPU takes over
    assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteDelegateError);
    assert_int_equal(plan_size(&c), 3);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    invoke_sums(&c);
    client_end(&c);
    assert_int_equal(adder.alive, 0);
}

static void shapes_for_a_dynamic_delegate(void **state)
{
    (void)state;
    for (int flag = 0; flag < 2; flag++) {
        struct adder adder = {CLAIMS(3, 0, 1, 2), .expects_shapes = true, .min_nodes = 3};
        struct client c;
        client_begin(&c, &sums);
        assert_ok(
            apply(&c, &adder,
                  kTfLiteDelegateFlagsAllowDynamicTensors | (flag ? kTfLiteDelegateFlagsRequirePropagatedShapes : 0)));
        resize_both(&c, 4);
        assert_int_equal(plan_size(&c), 1); // it stays
        if (flag) {
            assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
            invoke_sums(&c);
        } else {
            assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteError);
        }
        client_end(&c);
    }
}

// ---- two delegates, of both kinds ---------------------------------------------------------------

static const int64_t pairs[4][2] = {
    {kTfLiteDelegateFlagsNone, kTfLiteDelegateFlagsNone},
    {kTfLiteDelegateFlagsAllowDynamicTensors, kTfLiteDelegateFlagsNone},
    {kTfLiteDelegateFlagsNone, kTfLiteDelegateFlagsAllowDynamicTensors},
    {kTfLiteDelegateFlagsAllowDynamicTensors, kTfLiteDelegateFlagsAllowDynamicTensors},
};

static void two_delegates(void **state)
{
    (void)state;
    for (int f = 0; f < 4; f++) {
        struct adder first = {CLAIMS(2, 0, 1)}, second = {CLAIMS(1, 2)};
        struct client c;
        client_begin(&c, &sums);
        assert_ok(apply(&c, &first, pairs[f][0]));
        assert_int_equal(plan_size(&c), 2);
        assert_ok(apply(&c, &second, pairs[f][1])); // indices are those of the model's nodes
        assert_int_equal(plan_size(&c), 2);
        for (int length = 3; length < 6; length++) {
            assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
            assert_int_equal(plan_size(&c), 2);
            assert_int_equal(first.alive + second.alive, 2);
            invoke_sums(&c);
            resize_both(&c, length + 1);
            assert_int_equal(plan_size(&c), f == 3 ? 2 : 3); // a static one is taken off until shapes are known
        }
        client_end(&c);
        assert_int_equal(first.alive + second.alive, 0);
    }
}

static void second_delegate_fails(void **state)
{
    (void)state;
    for (int f = 0; f < 4; f++) {
        struct adder first = {CLAIMS(2, 1, 2)}, second = {CLAIMS(1, 0), .fail_node_prepare = true};
        struct client c;
        client_begin(&c, &sums);
        if (f == 3) assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
        assert_ok(apply(&c, &first, pairs[f][0]));
        assert_int_equal(plan_size(&c), 2);
        assert_int_equal(apply(&c, &second, pairs[f][1]), kTfLiteDelegateError);
        assert_int_equal(plan_size(&c), 3); // the first is gone as well
        assert_int_equal(first.alive + second.alive, 0);
        invoke_sums(&c);
        client_end(&c);
    }
}

static void pieces_may_be_too_small(void **state)
{
    (void)state;
    for (int f = 0; f < 4; f++) {
        struct adder first = {CLAIMS(2, 0, 2), .min_nodes = 3}, second = {CLAIMS(2, 0, 2), .min_nodes = 2};
        struct client c;
        client_begin(&c, &sums);
        assert_ok(apply(&c, &first, pairs[f][0]));
        assert_int_equal(plan_size(&c), 3);
        assert_ok(apply(&c, &second, pairs[f][1]));
        assert_int_equal(plan_size(&c), 2);
        static const int nodes[] = {3, 1}; // the new node, then what nobody took
        for (int i = 0; i < 2; i++) {
            HaliteNodeReport report;
            assert_ok(HaliteInterpreterGetNodeReport(c.interpreter, i, &report));
            assert_int_equal(report.node, nodes[i]);
        }
        assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
        invoke_sums(&c);
        client_end(&c);
    }
}

// One invocation says what happened; the next ones run on the CPU.
static void falling_back_from_two_delegates(void **state)
{
    (void)state;
    for (int f = 0; f < 4; f++) {
        for (int fallback = 0; fallback < 2; fallback++) {
            struct adder first = {CLAIMS(1, 0), .fail_invoke = true}, second = {CLAIMS(2, 1, 2), .fail_invoke = true};
            struct client c;
            client_load(&c, &sums);
            TfLiteInterpreterOptionsAddDelegate(c.options, ready(&first, pairs[f][0]));
            TfLiteInterpreterOptionsAddDelegate(c.options, ready(&second, pairs[f][1]));
            TfLiteInterpreterOptionsSetEnableDelegateFallback(c.options, fallback);
            client_create(&c);
            resize_both(&c, 2);
            assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
            invoke_sums_as(&c, fallback ? kTfLiteDelegateError : kTfLiteError);
            if (fallback) assert_non_null(strstr(c.log.text, "Retrying without."));
            for (int i = 0; i < 3; i++) invoke_sums_as(&c, fallback ? kTfLiteOk : kTfLiteError);
            assert_int_equal(plan_size(&c), fallback ? 3 : 2);
            client_end(&c);
            assert_int_equal(first.alive + second.alive, 0);
        }
    }
}

// Once shapes are fixed nobody may make them dynamic.
static void dynamic_after_static(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        struct adder fixed = {CLAIMS(1, 0)}, dynamic = {CLAIMS(2, 1, 2), .makes_dynamic = true};
        if (which == 1) { // in front of the other
            fixed = (struct adder){CLAIMS(2, 1, 2)};
            dynamic = (struct adder){CLAIMS(1, 0), .makes_dynamic = true};
        }
        struct client c;
        client_begin(&c, &sums);
        assert_ok(apply(&c, &fixed, kTfLiteDelegateFlagsNone));
        assert_int_equal(apply(&c, &dynamic, kTfLiteDelegateFlagsAllowDynamicTensors), kTfLiteApplicationError);
        assert_int_equal(plan_size(&c), 3);
        assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
        invoke_sums(&c);
        client_end(&c);
    }
}

// ---- graphs with dynamic tensors ----------------------------------------------------------------

static TfLiteStatus dynamic_prepare(TfLiteContext *context, TfLiteNode *node)
{
    TfLiteOpaqueTensorSetAllocationTypeToDynamic((TfLiteOpaqueTensor *)&context->tensors[node->outputs->data[0]]);
    const TfLiteTensor *input = &context->tensors[node->inputs->data[0]];
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[1]], TfLiteIntArrayCopy(input->dims));
}

static TfLiteStatus dynamic_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *input = &context->tensors[node->inputs->data[0]];
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], TfLiteIntArrayCopy(input->dims));
}

static TfLiteStatus checks_prepare(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *input = &context->tensors[node->inputs->data[0]];
    TF_LITE_ENSURE_EQ(context, context->tensors[node->outputs->data[0]].allocation_type, kTfLiteDynamic);
    TF_LITE_ENSURE(context, TfLiteIntArrayEqual(input->dims, context->tensors[node->outputs->data[1]].dims));
    return kTfLiteOk;
}

static TfLiteStatus checks_opaque_prepare(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    return checks_prepare((TfLiteContext *)context, (TfLiteNode *)node);
}

static TfLiteStatus take_plan(TfLiteContext *context, TfLiteDelegate *delegate)
{
    TfLiteIntArray *plan;
    assert_ok(context->GetExecutionPlan(context, &plan));
    ++*(int *)delegate->data_;
    return context->ReplaceNodeSubsetsWithDelegateKernels(context, (TfLiteRegistration){.prepare = checks_prepare},
                                                          plan, delegate);
}

static TfLiteStatus take_opaque_plan(TfLiteOpaqueContext *context, TfLiteOpaqueDelegate *delegate, void *data)
{
    TfLiteIntArray *plan;
    assert_ok(TfLiteOpaqueContextGetExecutionPlan(context, &plan));
    ++*(int *)data;
    TfLiteOperator *kernel = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, "Checks", 1, NULL);
    TfLiteOperatorSetPrepare(kernel, checks_opaque_prepare);
    return TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(context, kernel, plan, delegate);
}

static void graphs_with_dynamic_tensors(void **state)
{
    (void)state;
    static const struct test_tensor tensors[] = {FLOATS("x", 3), FLOATS("dynamic", 3), FLOATS("like x", 3)};
    static const struct test_node nodes[] = {
        {.builtin = kTfLiteBuiltinCustom, .custom = "Dynamic", TEST_INPUTS(0), TEST_OUTPUTS(1, 2)}};
    static const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(0),
                                            TEST_OUTPUTS(1, 2)};
    static const TfLiteRegistration op = {.prepare = dynamic_prepare, .invoke = dynamic_invoke};
    enum { DYNAMIC = kTfLiteDelegateFlagsAllowDynamicTensors, SHAPES = kTfLiteDelegateFlagsRequirePropagatedShapes };
    static const int64_t flags[] = {0, SHAPES, DYNAMIC, DYNAMIC | SHAPES};
    for (int f = 0; f < 4; f++) {
        for (int opaque = 0; opaque < 2; opaque++) {
            int prepared = 0;
            TfLiteOpaqueDelegateBuilder builder = {.data = &prepared, .Prepare = take_opaque_plan, .flags = flags[f]};
            TfLiteDelegate delegate = {.data_ = &prepared, .Prepare = take_plan, .flags = flags[f]};
            if (opaque) delegate = (TfLiteDelegate){.opaque_delegate_builder = &builder};
            struct client c;
            client_load(&c, &model);
            TfLiteInterpreterOptionsAddCustomOp(c.options, "Dynamic", &op, 1, 1);
            client_create(&c);
            assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
            TfLiteStatus status = TfLiteInterpreterModifyGraphWithDelegate(c.interpreter, &delegate);
            if (f < 2) {
                assert_int_equal(status, kTfLiteApplicationError);
                assert_non_null(strstr(c.log.text,
                                       "Attempting to use a delegate that only supports static-sized tensors "
                                       "with a graph that has dynamic-sized tensors "
                                       "(tensor#1 is a dynamic-sized tensor)."));
                assert_int_equal(prepared, 0);
                assert_ok(TfLiteInterpreterInvoke(c.interpreter)); // on the CPU
            } else {
                assert_ok(status);
                assert_int_equal(prepared, 1);
                assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
                client_resize(&c, 0, 4);
                assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), f == 3 ? kTfLiteOk : kTfLiteError);
            }
            client_end(&c);
        }
    }
}

// An operator without kernel may be the delegate's.
static void operators_that_only_a_delegate_knows(void **state)
{
    (void)state;
    static const struct test_node nodes[] = {
        {.builtin = kTfLiteBuiltinCustom, .custom = "my_add", TEST_INPUTS(A, A), TEST_OUTPUTS(M)},
        NODE_2_1(kTfLiteBuiltinAdd, B, B, P),
        NODE_2_1(kTfLiteBuiltinAdd, M, B, Q)};
    struct test_model model = sums;
    model.nodes = nodes;
    struct adder adder = {CLAIMS(1, 0)};
    struct client c;
    client_begin(&c, &model);
    assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteUnresolvedOps);
    // A delegate for fixed shapes would have to know all of them before it is asked.
    assert_int_equal(apply(&c, &adder, kTfLiteDelegateFlagsNone), kTfLiteUnresolvedOps);
    assert_int_equal(plan_size(&c), 3);
    assert_ok(apply(&c, &adder, kTfLiteDelegateFlagsAllowDynamicTensors));
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    invoke_sums(&c);
    client_end(&c);
}

// ---- several subgraphs --------------------------------------------------------------------------

static int fail_at, visits;

static TfLiteStatus fail_at_a_visit(TfLiteContext *context, TfLiteDelegate *delegate)
{
    return ++visits == fail_at ? kTfLiteError : adder_prepare(context, delegate);
}

static void all_subgraphs_or_none(void **state)
{
    (void)state;
    struct test_model model = sums;
    model.more_count = 1;
    model.more = &sums;
    for (fail_at = 0; fail_at < 3; fail_at++) {
        visits = 0;
        struct adder adder = {CLAIMS(3, 0, 1, 2)};
        ready(&adder, kTfLiteDelegateFlagsNone)->Prepare = fail_at_a_visit;
        struct client c;
        client_begin(&c, &model);
        assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(c.interpreter, &adder.delegate),
                         fail_at ? kTfLiteDelegateError : kTfLiteOk);
        assert_int_equal(plan_size(&c), fail_at ? 3 : 1);
        assert_int_equal(adder.alive, fail_at ? 0 : 2);
        invoke_sums(&c);
        client_end(&c);
        assert_int_equal(adder.alive, 0);
    }
}

// ---- values in a delegate's own buffers ---------------------------------------------------------

static void values_in_buffers(void **state)
{
    (void)state;
    struct adder adder = {CLAIMS(3, 0, 1, 2), .keeps_values = true}, stranger = {CLAIMS(1, 0)};
    struct client c;
    client_begin(&c, &sums);
    assert_ok(apply(&c, &adder, kTfLiteDelegateFlagsNone));
    TfLiteTensor *a = TfLiteInterpreterGetTensor(c.interpreter, A), *p = TfLiteInterpreterGetTensor(c.interpreter, P);
    TfLiteTensor *q = TfLiteInterpreterGetTensor(c.interpreter, Q);
    assert_true(a->delegate == NULL && a->buffer_handle == kTfLiteNullBufferHandle);
    assert_true(p->delegate == &adder.delegate && p->buffer_handle == kTfLiteNullBufferHandle); // it writes this one
    invoke_sums(&c);
    assert_int_equal(adder.copied, 0);

    assert_int_equal(TfLiteInterpreterSetBufferHandle(c.interpreter, p, 0, ready(&stranger, 0)), kTfLiteError);
    assert_true(p->delegate == &adder.delegate && p->buffer_handle == kTfLiteNullBufferHandle);
    assert_ok(TfLiteInterpreterSetBufferHandle(c.interpreter, a, 1234, &adder.delegate)); // inputs can have one
    assert_ok(TfLiteInterpreterSetBufferHandle(c.interpreter, p, 0, &adder.delegate));    // zero is a handle
    assert_ok(TfLiteInterpreterSetBufferHandle(c.interpreter, q, 7, &adder.delegate));
    TfLiteBufferHandle handle;
    TfLiteOpaqueDelegate *owner;
    assert_ok(TfLiteInterpreterGetBufferHandle(c.interpreter, A, &handle, &owner));
    assert_true(handle == 1234 && owner == &adder.delegate);
    invoke_sums(&c);
    assert_int_equal(adder.copied, 2);
    assert_int_equal(adder.freed, 0);
    assert_true(p->delegate == &adder.delegate && p->buffer_handle == 0 && !p->data_is_stale);

    TfLiteSetAllowBufferHandleOutput(c.interpreter, true); // now they are fetched on demand
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    assert_int_equal(adder.copied, 2);
    assert_true(p->data_is_stale && q->data_is_stale);
    assert_ok(TfLiteInterpreterEnsureTensorDataIsReadable(c.interpreter, P));
    assert_int_equal(adder.copied, 3);
    assert_false(p->data_is_stale);

    assert_ok(TfLiteInterpreterSetBufferHandle(c.interpreter, q, 8, &adder.delegate)); // frees the one before
    assert_int_equal(adder.freed, 1);
    client_end(&c);
    assert_int_equal(adder.freed, 4);
}

// Stale without a handle, or without a function to fetch it: an error, and nothing else.
static void values_that_cannot_be_fetched(void **state)
{
    (void)state;
    struct adder adder = {CLAIMS(3, 0, 1, 2), .keeps_values = true};
    struct client c;
    client_begin(&c, &sums);
    assert_ok(apply(&c, &adder, kTfLiteDelegateFlagsNone));
    TfLiteTensor *p = TfLiteInterpreterGetTensor(c.interpreter, P);
    p->data_is_stale = true;
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(c.interpreter, P), kTfLiteError);
    p->data_is_stale = false;
    assert_ok(TfLiteInterpreterSetBufferHandle(c.interpreter, p, 3, &adder.delegate));
    adder.delegate.CopyFromBufferHandle = NULL;
    invoke_sums_as(&c, kTfLiteError);
    assert_true(c.log.count >= 2);
    adder.delegate.CopyFromBufferHandle = copy_from_buffer;
    invoke_sums(&c);
    client_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_delegate),
        cmocka_unit_test(failures_leave_the_graph_as_it_was),
        cmocka_unit_test(resizes_with_a_static_delegate),
        cmocka_unit_test(shapes_for_a_dynamic_delegate),
        cmocka_unit_test(two_delegates),
        cmocka_unit_test(second_delegate_fails),
        cmocka_unit_test(pieces_may_be_too_small),
        cmocka_unit_test(falling_back_from_two_delegates),
        cmocka_unit_test(dynamic_after_static),
        cmocka_unit_test(graphs_with_dynamic_tensors),
        cmocka_unit_test(operators_that_only_a_delegate_knows),
        cmocka_unit_test(all_subgraphs_or_none),
        cmocka_unit_test(values_in_buffers),
        cmocka_unit_test(values_that_cannot_be_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
