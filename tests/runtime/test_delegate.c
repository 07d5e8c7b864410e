// SPDX-License-Identifier: Apache-2.0
// A toy delegate that takes ADD and MUL nodes, through everything a delegate can meet: partition, prepare, invoke,
// buffer handles, failure, undo, resize, fallback, and its opaque form.
//
//   the graph:   s = a + b      p = s * b      m = max(p, a)      y = m + s      (MAXIMUM stays on the CPU)
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halite/halite.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/c_api_opaque.h"
#include "tensorflow/lite/c/common.h"

enum { A, B, S, P, M, Y, TENSORS };

#define FLOAT4(label)                                                 \
    {                                                                 \
        .name = label, .type = TEST_FLOAT32, .rank = 1, .dims = { 4 } \
    }
static const struct test_tensor graph_tensors[TENSORS] = {
    [A] = FLOAT4("a"), [B] = FLOAT4("b"), [S] = FLOAT4("s"), [P] = FLOAT4("p"), [M] = FLOAT4("m"), [Y] = FLOAT4("y")};

#define NODE(code, x, y, z)                                 \
    {                                                       \
        .builtin = code, TEST_INPUTS(x, y), TEST_OUTPUTS(z) \
    }
static const struct test_node graph_nodes[] = {NODE(kTfLiteBuiltinAdd, A, B, S), NODE(kTfLiteBuiltinMul, S, B, P),
                                               NODE(kTfLiteBuiltinMaximum, P, A, M), NODE(kTfLiteBuiltinAdd, M, S, Y)};

static const struct test_model graph = {TEST_TENSORS(graph_tensors), TEST_NODES(graph_nodes), TEST_INPUTS(A, B),
                                        TEST_OUTPUTS(Y)};

static const float a_values[8] = {1, -2, 3, 4, 5, 6, -7, 8}, b_values[8] = {2, 0.5f, -1, 3, 1, -1, 2, 0};

static float expected(int i)
{
    float s = a_values[i] + b_values[i], p = s * b_values[i];
    return (p > a_values[i] ? p : a_values[i]) + s;
}

// ---- the toy ------------------------------------------------------------------------------------

enum failure { NO_FAILURE, FAIL_PREPARE, FAIL_INIT, FAIL_NODE_PREPARE, FAIL_INVOKE };

struct toy {
    TfLiteDelegate delegate;
    enum failure failure;
    bool use_handles;  // outputs stay in `buffers` until somebody asks for them
    bool garbage_tail; // a registration from a binary with a shorter struct
    float buffers[TENSORS][8];
    int previewed, made, alive, copies, freed_handles;
};

struct toy_node {
    int builtin, inputs[2], output;
};

struct toy_kernel {
    struct toy *toy;
    int count, output_count;
    struct toy_node nodes[4];
    int outputs[TENSORS];
};

static void *kernel_init(TfLiteContext *context, const char *buffer, size_t length)
{
    const TfLiteDelegateParams *params = (const void *)buffer;
    assert_int_equal(length, sizeof *params);
    struct toy *toy = params->delegate->data_;
    if (toy->failure == FAIL_INIT) return NULL;
    struct toy_kernel *kernel = calloc(1, sizeof *kernel);
    assert_non_null(kernel);
    kernel->toy = toy;
    for (int i = 0; i < params->nodes_to_replace->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        assert_int_equal(context->GetNodeAndRegistration(context, params->nodes_to_replace->data[i], &node,
                                                         &registration),
                         kTfLiteOk);
        kernel->nodes[kernel->count++] = (struct toy_node){registration->builtin_code,
                                                           {node->inputs->data[0], node->inputs->data[1]},
                                                           node->outputs->data[0]};
    }
    for (int i = 0; i < params->output_tensors->size; i++)
        kernel->outputs[kernel->output_count++] = params->output_tensors->data[i];
    toy->made++;
    toy->alive++;
    return kernel;
}

static void kernel_free(TfLiteContext *context, void *state)
{
    (void)context;
    struct toy_kernel *kernel = state;
    kernel->toy->alive--;
    free(kernel);
}

static TfLiteStatus kernel_prepare(TfLiteContext *context, TfLiteNode *node)
{
    (void)context;
    struct toy_kernel *kernel = node->user_data;
    if (!kernel || kernel->toy->failure == FAIL_NODE_PREPARE) return kTfLiteError;
    return kTfLiteOk;
}

static const float *value_of(TfLiteContext *context, const struct toy_kernel *kernel, int tensor)
{
    const TfLiteTensor *t = &context->tensors[tensor];
    return t->data_is_stale && t->delegate == &kernel->toy->delegate ? kernel->toy->buffers[tensor] : t->data.f;
}

static TfLiteStatus kernel_invoke(TfLiteContext *context, TfLiteNode *node)
{
    struct toy_kernel *kernel = node->user_data;
    if (kernel->toy->failure == FAIL_INVOKE) return kTfLiteError;
    for (int n = 0; n < kernel->count; n++) {
        const struct toy_node *op = &kernel->nodes[n];
        int count = context->tensors[op->inputs[0]].dims->data[0];
        float result[8];
        for (int i = 0; i < count; i++) {
            float x = value_of(context, kernel, op->inputs[0])[i], y = value_of(context, kernel, op->inputs[1])[i];
            result[i] = op->builtin == kTfLiteBuiltinAdd ? x + y : x * y;
        }
        TfLiteTensor *output = &context->tensors[op->output];
        if (kernel->toy->use_handles) {
            memcpy(kernel->toy->buffers[op->output], result, (size_t)count * sizeof(float));
            output->delegate = &kernel->toy->delegate;
            output->buffer_handle = op->output;
            output->data_is_stale = true;
        } else {
            memcpy(output->data.f, result, (size_t)count * sizeof(float));
        }
    }
    return kTfLiteOk;
}

static TfLiteStatus copy_from_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                                     TfLiteTensor *tensor)
{
    (void)context;
    struct toy *toy = delegate->data_;
    memcpy(tensor->data.f, toy->buffers[handle], tensor->bytes);
    toy->copies++;
    return kTfLiteOk;
}

static void free_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle *handle)
{
    (void)context;
    ((struct toy *)delegate->data_)->freed_handles++;
    *handle = kTfLiteNullBufferHandle;
}

static TfLiteStatus toy_prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    struct toy *toy = delegate->data_;
    TfLiteIntArray *plan;
    assert_int_equal(context->GetExecutionPlan(context, &plan), kTfLiteOk);
    TfLiteIntArray *wanted = TfLiteIntArrayCreate(plan->size);
    wanted->size = 0;
    for (int i = 0; i < plan->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        assert_int_equal(context->GetNodeAndRegistration(context, plan->data[i], &node, &registration), kTfLiteOk);
        if (registration->builtin_code == kTfLiteBuiltinAdd || registration->builtin_code == kTfLiteBuiltinMul)
            wanted->data[wanted->size++] = plan->data[i];
    }
    TfLiteDelegateParams *partitions;
    assert_int_equal(context->PreviewDelegatePartitioning(context, wanted, &partitions, &toy->previewed), kTfLiteOk);
    if (toy->previewed == 2) { // a + b and the product behind it; the last sum
        assert_int_equal(partitions[0].nodes_to_replace->size, 2);
        assert_int_equal(partitions[0].input_tensors->size, 2);
        assert_int_equal(partitions[0].output_tensors->size, 2);
        assert_int_equal(partitions[1].nodes_to_replace->data[0], 3);
    }
    TfLiteRegistration registration = {
        .init = kernel_init,
        .free = kernel_free,
        .prepare = kernel_prepare,
        .invoke = kernel_invoke,
        .custom_name = "Toy",
        .version = 1,
    };
    if (toy->garbage_tail)
        memset(&registration.registration_external, 0xa5,
               sizeof registration - offsetof(TfLiteRegistration, registration_external));
    TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, wanted, delegate);
    TfLiteIntArrayFree(wanted);
    return toy->failure == FAIL_PREPARE ? kTfLiteError : status;
}

static struct toy make_toy(enum failure failure)
{
    return (struct toy){.delegate = {.Prepare = toy_prepare}, .failure = failure};
}

// The delegate points to its own struct, which must have its final address.
static TfLiteDelegate *enable(struct toy *toy)
{
    toy->delegate.data_ = toy;
    if (toy->use_handles) {
        toy->delegate.CopyFromBufferHandle = copy_from_handle;
        toy->delegate.FreeBufferHandle = free_handle;
    }
    return &toy->delegate;
}

// ---- helpers ------------------------------------------------------------------------------------

struct messages {
    char text[4096];
};

static void collect(void *user_data, const char *format, va_list args)
{
    struct messages *messages = user_data;
    size_t used = strlen(messages->text);
    vsnprintf(messages->text + used, sizeof messages->text - used, format, args);
}

struct session {
    unsigned char *file;
    TfLiteModel *model;
    TfLiteInterpreterOptions *options;
    TfLiteInterpreter *interpreter;
    struct messages messages;
};

static void begin(struct session *session, TfLiteDelegate *delegate, bool fallback)
{
    size_t size;
    *session = (struct session){.file = test_model_write(&graph, &size)};
    session->model = TfLiteModelCreate(session->file, size);
    assert_non_null(session->model);
    session->options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(session->options, collect, &session->messages);
    TfLiteInterpreterOptionsSetEnableDelegateFallback(session->options, fallback);
    if (delegate) TfLiteInterpreterOptionsAddDelegate(session->options, delegate);
    session->interpreter = TfLiteInterpreterCreate(session->model, session->options);
}

static void end(struct session *session)
{
    TfLiteInterpreterDelete(session->interpreter);
    TfLiteInterpreterOptionsDelete(session->options);
    TfLiteModelDelete(session->model);
    free(session->file);
}

static void set_inputs(TfLiteInterpreter *interpreter, int count)
{
    size_t bytes = (size_t)count * sizeof(float);
    assert_int_equal(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), a_values, bytes),
                     kTfLiteOk);
    assert_int_equal(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 1), b_values, bytes),
                     kTfLiteOk);
}

static void check_output(TfLiteInterpreter *interpreter, int count)
{
    float y[8];
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    assert_int_equal(TfLiteTensorCopyToBuffer(output, y, (size_t)count * sizeof(float)), kTfLiteOk);
    for (int i = 0; i < count; i++) assert_true(y[i] == expected(i));
}

static void run(TfLiteInterpreter *interpreter)
{
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    set_inputs(interpreter, 4);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    check_output(interpreter, 4);
}

// ---- tests --------------------------------------------------------------------------------------

static void partitions_and_runs(void **state)
{
    (void)state;
    for (int garbage = 0; garbage < 2; garbage++) {
        struct toy toy = make_toy(NO_FAILURE);
        toy.garbage_tail = garbage;
        struct session session;
        begin(&session, enable(&toy), false);
        assert_non_null(session.interpreter);
        assert_int_equal(toy.previewed, 2);
        assert_int_equal(toy.alive, 2);
        static const char *const where[] = {"Toy", "CPU", "Toy"};
        assert_int_equal(HaliteInterpreterGetNodeCount(session.interpreter), 3);
        for (int i = 0; i < 3; i++) {
            HaliteNodeReport report;
            assert_int_equal(HaliteInterpreterGetNodeReport(session.interpreter, i, &report), kTfLiteOk);
            assert_string_equal(report.where, where[i]);
        }
        run(session.interpreter);
        run(session.interpreter);
        end(&session);
        assert_int_equal(toy.alive, 0);
    }
}

static void prepare_fails(void **state)
{
    (void)state;
    enum failure failures[] = {FAIL_PREPARE, FAIL_INIT, FAIL_NODE_PREPARE};
    for (int f = 0; f < 3; f++) {
        struct toy toy = make_toy(failures[f]);
        struct session session;
        begin(&session, enable(&toy), false); // among the options: no interpreter
        assert_null(session.interpreter);
        assert_non_null(strstr(session.messages.text, "Restored original execution plan"));
        end(&session);
        assert_int_equal(toy.alive, 0);

        begin(&session, NULL, false); // later: the interpreter is as it was
        assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, &toy.delegate),
                         kTfLiteDelegateError);
        assert_int_equal(HaliteInterpreterGetNodeCount(session.interpreter), 4);
        run(session.interpreter);
        end(&session);
        assert_int_equal(toy.alive, 0);
    }
}

static void invoke_fails(void **state)
{
    (void)state;
    struct toy toy = make_toy(FAIL_INVOKE);
    struct session session;
    begin(&session, enable(&toy), false);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteError);
    assert_non_null(strstr(session.messages.text, "(Toy) failed to invoke"));
    end(&session);

    begin(&session, enable(&toy), true); // with fallback the CPU takes over, and says so
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    set_inputs(session.interpreter, 4);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteDelegateError);
    check_output(session.interpreter, 4);
    assert_int_equal(HaliteInterpreterGetNodeCount(session.interpreter), 4);
    set_inputs(session.interpreter, 4);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    end(&session);
    assert_int_equal(toy.alive, 0);
}

static void resizes(void **state)
{
    (void)state;
    struct toy toy = make_toy(NO_FAILURE);
    struct session session;
    begin(&session, enable(&toy), false);
    run(session.interpreter);
    for (int i = 0; i < 2; i++) // the delegate is taken off, and put on again by AllocateTensors
        assert_int_equal(TfLiteInterpreterResizeInputTensor(session.interpreter, i, (const int[]){8}, 1), kTfLiteOk);
    assert_int_equal(toy.alive, 0);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteError);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(toy.alive, 2);
    set_inputs(session.interpreter, 8);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    check_output(session.interpreter, 8);
    end(&session);
}

static void second_delegate_finds_nothing_left(void **state)
{
    (void)state;
    struct toy first = make_toy(NO_FAILURE), second = make_toy(NO_FAILURE);
    struct session session;
    begin(&session, enable(&first), false);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, enable(&second)), kTfLiteOk);
    assert_int_equal(first.alive, 2);
    assert_int_equal(second.made, 0);
    run(session.interpreter);
    end(&session);
}

static void buffer_handles(void **state)
{
    (void)state;
    struct toy toy = make_toy(NO_FAILURE);
    toy.use_handles = true;
    struct session session;
    begin(&session, enable(&toy), false);
    run(session.interpreter); // s and p are read by the CPU's MAXIMUM or the output: copied where needed
    assert_int_equal(toy.copies, 2);

    TfLiteSetAllowBufferHandleOutput(session.interpreter, true);
    set_inputs(session.interpreter, 4);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    assert_int_equal(toy.copies, 3); // p only: y stays where it is
    int y = TfLiteInterpreterGetOutputTensorIndex(session.interpreter, 0);
    TfLiteBufferHandle handle;
    TfLiteOpaqueDelegate *owner;
    assert_int_equal(TfLiteInterpreterGetBufferHandle(session.interpreter, y, &handle, &owner), kTfLiteOk);
    assert_int_equal(handle, Y);
    assert_ptr_equal(owner, &toy.delegate);
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(session.interpreter, y), kTfLiteOk);
    assert_int_equal(toy.copies, 4);
    check_output(session.interpreter, 4);

    assert_int_equal(TfLiteInterpreterSetBufferHandle(session.interpreter,
                                                      TfLiteInterpreterGetTensor(session.interpreter, y), 7,
                                                      &toy.delegate),
                     kTfLiteOk);
    assert_int_equal(toy.freed_handles, 1);
    end(&session);
    assert_int_equal(toy.freed_handles, 4); // s, p and the new one of y
}

// ---- the opaque form ----------------------------------------------------------------------------

struct opaque_toy {
    int prepared, invoked;
};

static TfLiteStatus opaque_kernel_invoke(void *user_data, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    ((struct opaque_toy *)user_data)->invoked++;
    const float *x = TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetInput(context, node, 0));
    const float *y = TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetInput(context, node, 1));
    TfLiteOpaqueTensor *output = TfLiteOpaqueNodeGetOutput(context, node, 0);
    float *z = TfLiteOpaqueTensorData(output);
    for (int i = 0; i < TfLiteOpaqueTensorDim(output, 0); i++) z[i] = x[i] > y[i] ? x[i] : y[i];
    return kTfLiteOk;
}

static TfLiteStatus opaque_prepare(TfLiteOpaqueContext *context, TfLiteOpaqueDelegate *delegate, void *data)
{
    struct opaque_toy *toy = data;
    toy->prepared++;
    TfLiteIntArray *plan;
    assert_int_equal(TfLiteOpaqueContextGetExecutionPlan(context, &plan), kTfLiteOk);
    TfLiteIntArray *wanted = TfLiteIntArrayCreate(1);
    for (int i = 0; i < plan->size; i++) {
        TfLiteOpaqueNode *node;
        TfLiteOperator *op;
        assert_int_equal(TfLiteOpaqueContextGetNodeAndRegistration(context, plan->data[i], &node, &op), kTfLiteOk);
        if (TfLiteOperatorGetBuiltInCode(op) == kTfLiteBuiltinMaximum) wanted->data[0] = plan->data[i];
    }
    TfLiteOperator *kernel = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, "OpaqueToy", 1, toy);
    TfLiteOperatorSetInvokeWithData(kernel, opaque_kernel_invoke);
    TfLiteStatus status = TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(context, kernel, wanted, delegate);
    TfLiteIntArrayFree(wanted);
    return status;
}

static void opaque_delegate(void **state)
{
    (void)state;
    struct opaque_toy toy = {0};
    TfLiteOpaqueDelegateBuilder builder = {.data = &toy, .Prepare = opaque_prepare};
    TfLiteOpaqueDelegate *delegate = TfLiteOpaqueDelegateCreate(&builder);
    assert_ptr_equal(TfLiteOpaqueDelegateGetData(delegate), &toy);
    struct session session;
    begin(&session, delegate, false);
    assert_non_null(session.interpreter);
    HaliteNodeReport report;
    assert_int_equal(HaliteInterpreterGetNodeReport(session.interpreter, 2, &report), kTfLiteOk);
    assert_string_equal(report.where, "OpaqueToy");
    run(session.interpreter);
    assert_int_equal(toy.invoked, 1);
    end(&session);
    TfLiteOpaqueDelegateDelete(delegate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_and_runs),
        cmocka_unit_test(prepare_fails),
        cmocka_unit_test(invoke_fails),
        cmocka_unit_test(resizes),
        cmocka_unit_test(buffer_handles),
        cmocka_unit_test(opaque_delegate),
        cmocka_unit_test(second_delegate_finds_nothing_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
