// SPDX-License-Identifier: Apache-2.0
// Subgraphs that call each other without end: loops, and calls that double from level to level. They end with a
// message, and the interpreter goes on working. And branches that change what the graph around them reads.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halite/halite.h"
#include "model/schema.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/common.h"

#define X(label)                                                      \
    {                                                                 \
        .name = label, .type = TEST_FLOAT32, .rank = 1, .dims = { 1 } \
    }
#define FLAG(label)                                                \
    {                                                              \
        .name = label, .type = TEST_BOOL, .rank = 1, .dims = { 1 } \
    }

struct session {
    char messages[4096];
    unsigned char *bytes;
    TfLiteModel *model;
    TfLiteInterpreterOptions *options;
    TfLiteInterpreter *interpreter;
};

static void collect(void *user_data, const char *format, va_list args)
{
    char *text = user_data;
    size_t length = strlen(text);
    vsnprintf(text + length, sizeof((struct session *)0)->messages - length, format, args);
}

static void prepare_session(struct session *session, const struct test_model *model)
{
    size_t size;
    *session = (struct session){.options = TfLiteInterpreterOptionsCreate()};
    TfLiteInterpreterOptionsSetErrorReporter(session->options, collect, session->messages);
    session->bytes = test_model_write(model, &size);
    session->model = TfLiteModelCreateWithErrorReporter(session->bytes, size, collect, session->messages);
    assert_non_null(session->model);
}

static void open_session(struct session *session)
{
    session->interpreter = TfLiteInterpreterCreate(session->model, session->options);
    if (!session->interpreter) fail_msg("%s", session->messages);
}

static void close_session(struct session *session)
{
    TfLiteInterpreterDelete(session->interpreter);
    TfLiteInterpreterOptionsDelete(session->options);
    TfLiteModelDelete(session->model);
    free(session->bytes);
}

// ---- loops --------------------------------------------------------------------------------------

// x = while (x < 100) x + 1, or while (true) x.
static const float one = 1, hundred = 100;
static const uint8_t always = 1;
static const struct test_tensor loop_tensors[] = {X("x"), X("y")};
static const struct test_node loop_node = {.builtin = kTfLiteBuiltinWhile,
                                           TEST_INPUTS(0),
                                           TEST_OUTPUTS(1),
                                           .settings = {{HL_WhileOptions_cond_subgraph_index, 1, 0, NULL},
                                                        {HL_WhileOptions_body_subgraph_index, 2, 0, NULL}}};
#define LOOP(subgraphs)                                                                                      \
    {                                                                                                        \
        TEST_TENSORS(loop_tensors), TEST_NODE(loop_node), TEST_INPUTS(0), TEST_OUTPUTS(1), .more_count = 2,  \
                                                                                           .more = subgraphs \
    }

static const struct test_tensor below_tensors[] = {
    X("x"),
    {.name = "hundred", .type = TEST_FLOAT32, .rank = 1, .dims = {1}, .data = &hundred, .bytes = 4},
    FLAG("below")};
static const struct test_node below_node = {.builtin = kTfLiteBuiltinLess, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
static const struct test_tensor next_tensors[] = {
    X("x"), {.name = "one", .type = TEST_FLOAT32, .rank = 1, .dims = {1}, .data = &one, .bytes = 4}, X("next")};
static const struct test_node next_node = {.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
static const struct test_model counting_parts[] = {{TEST_TENSORS(below_tensors), TEST_NODE(below_node), TEST_INPUTS(0),
                                                    TEST_OUTPUTS(2)},
                                                   {TEST_TENSORS(next_tensors), TEST_NODE(next_node), TEST_INPUTS(0),
                                                    TEST_OUTPUTS(2)}};
static const struct test_model counting = LOOP(counting_parts);

static const struct test_tensor always_tensors[] = {
    X("x"), {.name = "always", .type = TEST_BOOL, .rank = 1, .dims = {1}, .data = &always, .bytes = 1}};
static const struct test_tensor same_tensors[] = {X("x")};
static const struct test_model endless_parts[] = {{TEST_TENSORS(always_tensors), TEST_INPUTS(0), TEST_OUTPUTS(1)},
                                                  {TEST_TENSORS(same_tensors), TEST_INPUTS(0), TEST_OUTPUTS(0)}};
static const struct test_model endless = LOOP(endless_parts);

static float run(struct session *session, float x, TfLiteStatus wanted)
{
    float y = 0;
    session->messages[0] = 0;
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(session->interpreter, 0);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, &x, sizeof x), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(session->interpreter), wanted);
    if (wanted == kTfLiteOk)
        TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(session->interpreter, 0), &y, sizeof y);
    return y;
}

static void test_endless_loop(void **state)
{
    (void)state;
    struct session session;
    prepare_session(&session, &endless);
    HaliteInterpreterOptionsSetCallLimit(session.options, 1000);
    open_session(&session);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    for (int i = 0; i < 2; i++) {
        run(&session, 1, kTfLiteError);
        assert_non_null(strstr(session.messages, "above the limit"));
    }
    close_session(&session);
}

// The limit is one of each Invoke: 150 turns, with a call of the condition more than of the body.
static void test_limit_of_one_invoke(void **state)
{
    (void)state;
    struct session session;
    prepare_session(&session, &counting);
    HaliteInterpreterOptionsSetCallLimit(session.options, 301);
    HaliteInterpreterOptionsSetCallLimit(session.options, -1); // ignored
    open_session(&session);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    for (int i = 0; i < 3; i++) assert_true(run(&session, -50, kTfLiteOk) == 100);
    run(&session, -51, kTfLiteError);
    assert_true(run(&session, 99.5f, kTfLiteOk) == 100.5f);
    assert_true(run(&session, 123, kTfLiteOk) == 123);
    close_session(&session);
}

// ---- cancellation: an operator that does it while the loop runs ---------------------------------

static TfLiteInterpreter *to_cancel;
static int stop_calls;

static TfLiteStatus stop_prepare(TfLiteContext *context, TfLiteNode *node)
{
    TfLiteIntArray *shape = TfLiteIntArrayCopy(context->tensors[node->inputs->data[0]].dims);
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], shape);
}

static TfLiteStatus stop_invoke(TfLiteContext *context, TfLiteNode *node)
{
    (void)context, (void)node;
    if (++stop_calls == 5) TfLiteInterpreterCancel(to_cancel);
    return kTfLiteOk;
}

static void test_cancelled_loop(void **state)
{
    (void)state;
    static const struct test_tensor tensors[] = {X("x"), X("y")};
    static const struct test_node node = {.builtin = kTfLiteBuiltinCustom,
                                          .custom = "Stop",
                                          TEST_INPUTS(0),
                                          TEST_OUTPUTS(1)};
    struct test_model parts[] = {endless_parts[0],
                                 {TEST_TENSORS(tensors), TEST_NODE(node), TEST_INPUTS(0), TEST_OUTPUTS(1)}};
    const struct test_model model = LOOP(parts);
    const TfLiteRegistration stop = {.prepare = stop_prepare, .invoke = stop_invoke};
    struct session session;
    prepare_session(&session, &model);
    TfLiteInterpreterOptionsAddCustomOp(session.options, "Stop", &stop, 1, 1);
    TfLiteInterpreterOptionsEnableCancellation(session.options, true);
    open_session(&session);
    to_cancel = session.interpreter;
    stop_calls = 0;
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    run(&session, 1, kTfLiteCancelled);
    assert_int_equal(stop_calls, 5);
    close_session(&session);
}

// ---- calls that double --------------------------------------------------------------------------

// Each of 40 subgraphs has two nodes that call the next one: 2^40 calls of the last.
static void test_doubling_calls(void **state)
{
    (void)state;
    enum { LEVELS = 40 };
    static const struct test_tensor tensors[] = {FLAG("which"), X("x"), X("between"), X("y")};
    static struct test_node nodes[LEVELS][2];
    static struct test_model parts[LEVELS];
    for (int level = 0; level < LEVELS; level++) {
        for (int i = 0; i < 2; i++)
            nodes[level][i] = (struct test_node){.builtin = kTfLiteBuiltinIf,
                                                 TEST_INPUTS(0, 0, i + 1),
                                                 TEST_OUTPUTS(i + 2),
                                                 .settings = {{HL_IfOptions_then_subgraph_index, level + 1, 0, NULL},
                                                              {HL_IfOptions_else_subgraph_index, level + 1, 0, NULL}}};
        bool last = level + 1 == LEVELS;
        parts[level] = (struct test_model){TEST_TENSORS(tensors), .node_count = last ? 0 : 2, .nodes = nodes[level],
                                           TEST_INPUTS(0, 1), TEST_OUTPUTS(last ? 1 : 3)};
    }
    struct test_model model = parts[0];
    model.more_count = LEVELS - 1;
    model.more = parts + 1;
    struct session session;
    prepare_session(&session, &model);
    HaliteInterpreterOptionsSetCallLimit(session.options, 10000);
    open_session(&session);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteError);
    assert_non_null(strstr(session.messages, "above the limit"));
    close_session(&session);
}

// ---- variables that a branch assigns to ---------------------------------------------------------

// y = -v, after v = one or v = three. The model says that y is one value. What reads the variable looks at its shape
// each time that it gets another one, also where Invoke calls the kernels of the graph without looking at their
// tensors, as it does when nothing changed.
static void test_variable_of_branches(void **state)
{
    (void)state;
    enum { RESOURCE = 13 }; // a type of the schema
    static const float values[] = {1, 2, 3};
    const struct test_tensor handle = {.name = "h", .type = (enum test_type)RESOURCE, .rank = 0};
    const struct test_tensor tensors[] = {FLAG("which"), handle, X("v"), X("y")};
    const struct test_node nodes[] = {{.builtin = kTfLiteBuiltinIf,
                                       TEST_INPUTS(0),
                                       .settings = {{HL_IfOptions_then_subgraph_index, 1, 0, NULL},
                                                    {HL_IfOptions_else_subgraph_index, 2, 0, NULL}}},
                                      {.builtin = kTfLiteBuiltinVarHandle, TEST_OUTPUTS(1)},
                                      {.builtin = kTfLiteBuiltinReadVariable, TEST_INPUTS(1), TEST_OUTPUTS(2)},
                                      {.builtin = kTfLiteBuiltinNeg, TEST_INPUTS(2), TEST_OUTPUTS(3)}};
    struct test_tensor branch_tensors[2][2];
    const struct test_node branch_nodes[] = {{.builtin = kTfLiteBuiltinVarHandle, TEST_OUTPUTS(0)},
                                             {.builtin = kTfLiteBuiltinAssignVariable, TEST_INPUTS(0, 1)}};
    struct test_model branches[2];
    for (int i = 0; i < 2; i++) {
        const int count = i == 0 ? 1 : 3;
        branch_tensors[i][0] = handle;
        branch_tensors[i][1] = (struct test_tensor){.name = "value",
                                                    .type = TEST_FLOAT32,
                                                    .rank = 1,
                                                    .dims = {count},
                                                    .data = values,
                                                    .bytes = (size_t)count * sizeof *values};
        branches[i] = (struct test_model){TEST_TENSORS(branch_tensors[i]), TEST_NODES(branch_nodes)};
    }
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(0),
                                     TEST_OUTPUTS(3),       .more_count = 2,   .more = branches};
    struct session session;
    prepare_session(&session, &model);
    open_session(&session);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    static const bool runs[] = {true, true, true, false, false, true, true, false};
    for (size_t run = 0; run < sizeof runs / sizeof *runs; run++) {
        *(bool *)TfLiteTensorData(TfLiteInterpreterGetInputTensor(session.interpreter, 0)) = runs[run];
        if (TfLiteInterpreterInvoke(session.interpreter) != kTfLiteOk) fail_msg("%s", session.messages);
        const TfLiteTensor *y = TfLiteInterpreterGetOutputTensor(session.interpreter, 0);
        const float *got = TfLiteTensorData(y);
        assert_int_equal(TfLiteTensorDim(y, 0), runs[run] ? 1 : 3);
        for (int i = 0; i < TfLiteTensorDim(y, 0); i++) assert_true(got[i] == -values[i]);
    }
    close_session(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endless_loop),         cmocka_unit_test(test_limit_of_one_invoke),
        cmocka_unit_test(test_cancelled_loop),       cmocka_unit_test(test_doubling_calls),
        cmocka_unit_test(test_variable_of_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
