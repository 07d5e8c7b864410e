// SPDX-License-Identifier: Apache-2.0
// Calls of the C API in any order: whatever a program does, each call succeeds or reports an error, what an invocation
// says it computed is right, and everything can be deleted. The orders are random and the same each time.
//
//   the graph:   m = a + b      y = m + Double(a)      Double may make its output dynamic
#include "client.h"

#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/c_api_opaque.h"

enum { A, B, M, D, Y, TENSORS, LONGEST = 6, SEQUENCES = 4000, CALLS = 60 };

static const struct test_tensor graph_tensors[] = {FLOATS("a", 2), FLOATS("b", 2), FLOATS("m", 2), FLOATS("d", 2),
                                                   FLOATS("y", 2)};
static const struct test_node graph_nodes[] = {
    NODE_2_1(kTfLiteBuiltinAdd, A, B, M),
    {.builtin = kTfLiteBuiltinCustom, .custom = "Double", TEST_INPUTS(A), TEST_OUTPUTS(D)},
    NODE_2_1(kTfLiteBuiltinAdd, M, D, Y)};
static const struct test_model graph = {TEST_TENSORS(graph_tensors), TEST_NODES(graph_nodes), TEST_INPUTS(A, B),
                                        TEST_OUTPUTS(Y)};

static uint32_t seed;

static int pick(int below)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 16) % (uint32_t)below);
}

// ---- the custom operator ------------------------------------------------------------------------

static bool op_is_dynamic, op_fails, taker_fails;

static TfLiteStatus double_resize(TfLiteContext *context, TfLiteNode *node)
{
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]],
                                 TfLiteIntArrayCopy(context->tensors[node->inputs->data[0]].dims));
}

static TfLiteStatus double_prepare(TfLiteContext *context, TfLiteNode *node)
{
    if (!op_is_dynamic) return double_resize(context, node);
    TfLiteOpaqueTensorSetAllocationTypeToDynamic((TfLiteOpaqueTensor *)&context->tensors[node->outputs->data[0]]);
    return kTfLiteOk;
}

static TfLiteStatus double_invoke(TfLiteContext *context, TfLiteNode *node)
{
    if (op_fails) return kTfLiteError;
    const TfLiteTensor *x = &context->tensors[node->inputs->data[0]];
    TfLiteTensor *y = &context->tensors[node->outputs->data[0]];
    if (y->allocation_type == kTfLiteDynamic) TF_LITE_ENSURE_STATUS(double_resize(context, node));
    for (size_t i = 0; i < x->bytes / sizeof(float); i++) y->data.f[i] = 2 * x->data.f[i];
    return kTfLiteOk;
}

// ---- delegates that take the first or the last addition ------------------------------------------

enum { DELEGATES = 3 };

static struct taker {
    TfLiteDelegate delegate;
    int node;
    bool fails;
} takers[DELEGATES];

static TfLiteStatus taker_prepare_node(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *x = &context->tensors[node->inputs->data[0]], *y = &context->tensors[node->inputs->data[1]];
    TF_LITE_ENSURE(context, TfLiteIntArrayEqual(x->dims, y->dims)); // it cannot broadcast
    return double_resize(context, node);
}

static TfLiteStatus taker_invoke(TfLiteContext *context, TfLiteNode *node)
{
    if (taker_fails) return kTfLiteError;
    const float *x = context->tensors[node->inputs->data[0]].data.f,
                *y = context->tensors[node->inputs->data[1]].data.f;
    TfLiteTensor *z = &context->tensors[node->outputs->data[0]];
    for (size_t i = 0; i < z->bytes / sizeof(float); i++) z->data.f[i] = x[i] + y[i];
    return kTfLiteOk;
}

static TfLiteStatus taker_prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    const struct taker *taker = delegate->data_;
    TfLiteIntArray *nodes = TfLiteIntArrayCreate(1);
    nodes->data[0] = taker->node;
    const TfLiteRegistration kernel = {.prepare = taker_prepare_node, .invoke = taker_invoke, .custom_name = "Taker"};
    TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, nodes, delegate);
    TfLiteIntArrayFree(nodes);
    return taker->fails ? kTfLiteError : status;
}

static void free_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle *handle)
{
    assert_true(context && delegate && *handle != kTfLiteNullBufferHandle);
}

static void make_takers(void)
{
    for (int i = 0; i < DELEGATES; i++) {
        takers[i] = (struct taker){.node = i < 2 ? 0 : 2, .fails = pick(4) == 0};
        takers[i].delegate = (TfLiteDelegate){
            .data_ = &takers[i],
            .Prepare = taker_prepare,
            .FreeBufferHandle = free_handle,
            .flags = pick(2) ? kTfLiteDelegateFlagsNone : kTfLiteDelegateFlagsAllowDynamicTensors,
        };
    }
}

// ---- one call -----------------------------------------------------------------------------------

static _Alignas(64) char memories[TENSORS][64 * sizeof(float)];

static void invoke_and_check(struct client *c)
{
    TfLiteTensor *a = TfLiteInterpreterGetInputTensor(c->interpreter, 0);
    TfLiteTensor *b = TfLiteInterpreterGetInputTensor(c->interpreter, 1);
    float a_values[LONGEST], b_values[LONGEST], y[LONGEST];
    for (int i = 0; i < LONGEST; i++) {
        a_values[i] = (float)pick(100);
        b_values[i] = (float)pick(100);
    }
    size_t bytes = TfLiteTensorByteSize(a);
    bool same = TfLiteTensorByteSize(b) == bytes; // else they are broadcast
    bool filled = TfLiteTensorCopyFromBuffer(a, a_values, bytes) == kTfLiteOk &&
                  TfLiteTensorCopyFromBuffer(b, b_values, TfLiteTensorByteSize(b)) == kTfLiteOk;
    int before = c->log.count;
    TfLiteStatus status = TfLiteInterpreterInvoke(c->interpreter);
    if (status != kTfLiteOk && status != kTfLiteDelegateError) {
        assert_true(c->log.count > before);
        return;
    }
    assert_true(filled);
    if (!same) return;
    client_get(c, 0, y, bytes);
    for (size_t i = 0; i < bytes / sizeof *y; i++) assert_true(y[i] == 3 * a_values[i] + b_values[i]);
}

static void one_call(struct client *c)
{
    TfLiteInterpreter *interpreter = c->interpreter;
    int length = pick(LONGEST) + 1, tensor = pick(TENSORS);
    const int minus = -length;
    TfLiteStatus status = kTfLiteOk;
    int before = c->log.count;
    switch (pick(14)) {
    case 0:
    case 1:
    case 2: invoke_and_check(c); break;
    case 3:
    case 4:
    case 5: status = TfLiteInterpreterAllocateTensors(interpreter); break;
    case 6: // usually both, so that the graph makes sense
        status = TfLiteInterpreterResizeInputTensor(interpreter, 0, &length, 1);
        if (status == kTfLiteOk && pick(8)) status = TfLiteInterpreterResizeInputTensor(interpreter, 1, &length, 1);
        break;
    case 7: status = TfLiteInterpreterResizeInputTensor(interpreter, pick(2), &minus, 1); break;
    case 8: status = TfLiteInterpreterModifyGraphWithDelegate(interpreter, &takers[pick(DELEGATES)].delegate); break;
    case 9: {
        const TfLiteCustomAllocation memory = {memories[tensor], sizeof(float) * (size_t)(pick(4) ? 64 : length)};
        status = TfLiteInterpreterSetCustomAllocationForTensor(interpreter, tensor, &memory, 0);
        break;
    }
    case 10: op_is_dynamic = pick(2); break;
    case 11:
        op_fails = pick(4) == 0;
        taker_fails = pick(4) == 0;
        break;
    case 12:
        status = TfLiteInterpreterSetBufferHandle(interpreter, TfLiteInterpreterGetTensor(interpreter, tensor), length,
                                                  &takers[pick(DELEGATES)].delegate);
        break;
    default:
        status = TfLiteInterpreterResetVariableTensors(interpreter);
        TfLiteSetAllowBufferHandleOutput(interpreter, pick(2));
    }
    if (status != kTfLiteOk) assert_true(c->log.count > before); // nothing fails silently
    if (c->log.count > 1000) client_forget(&c->log);
}

static void calls_in_any_order(void **state)
{
    (void)state;
    const TfLiteRegistration op = {.prepare = double_prepare, .invoke = double_invoke};
    for (int sequence = 0; sequence < SEQUENCES; sequence++) {
        seed = (uint32_t)sequence * 2654435761u + 1;
        make_takers();
        op_is_dynamic = pick(2);
        op_fails = taker_fails = false;
        struct client c;
        client_load(&c, &graph);
        TfLiteInterpreterOptionsAddCustomOp(c.options, "Double", &op, 1, 1);
        TfLiteInterpreterOptionsSetEnableDelegateFallback(c.options, pick(2));
        if (pick(3) == 0) TfLiteInterpreterOptionsAddDelegate(c.options, &takers[0].delegate);
        c.interpreter = TfLiteInterpreterCreate(c.model, c.options);
        assert_true(c.interpreter || c.log.count > 0);
        for (int call = 0; c.interpreter && call < CALLS; call++) one_call(&c);
        client_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
