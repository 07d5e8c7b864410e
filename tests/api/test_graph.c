// SPDX-License-Identifier: Apache-2.0
// The graph as halite.h shows it: subgraphs, tensors by index, nodes, resizing by tensor, signatures' indices, and
// values that stay readable after Invoke.
#include "client.h"

#include "halite/halite.h"

// y = abs(-(-x)): the middle values would share memory, or be computed in place.
enum { X, ONE, TWO, Y };
static const struct test_tensor chain_tensors[] = {FLOATS("x", 4), FLOATS("one", 4), FLOATS("two", 4), FLOATS("y", 4)};
static const struct test_node chain_nodes[] = {NODE_1_1(kTfLiteBuiltinNeg, X, ONE),
                                               NODE_1_1(kTfLiteBuiltinNeg, ONE, TWO),
                                               NODE_1_1(kTfLiteBuiltinAbs, TWO, Y)};
static const struct test_tensor second_tensors[] = {FLOATS("a", 2), FLOATS("b", 2)};
static const struct test_node second_node = NODE_1_1(kTfLiteBuiltinAbs, 0, 1);
static const struct test_model second = {
    .name = "second", TEST_TENSORS(second_tensors), TEST_NODE(second_node), TEST_INPUTS(0), TEST_OUTPUTS(1)};
static const struct test_signature signature = {
    .key = "go", .subgraph = 1, .input_count = 1, .inputs = {{"in", 0}}, .output_count = 1, .outputs = {{"out", 1}}};
static const struct test_model chain = {TEST_TENSORS(chain_tensors),
                                        TEST_NODES(chain_nodes),
                                        TEST_INPUTS(X),
                                        TEST_OUTPUTS(Y),
                                        .more_count = 1,
                                        .more = &second,
                                        .signature_count = 1,
                                        .signatures = &signature};

static void subgraphs_and_tensors(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &chain);
    assert_int_equal(HaliteInterpreterGetSubgraphCount(c.interpreter), 2);
    assert_int_equal(HaliteInterpreterGetSubgraphTensorCount(c.interpreter, 0), 4);
    assert_int_equal(HaliteInterpreterGetSubgraphTensorCount(c.interpreter, 1), 2);
    assert_string_equal(TfLiteTensorName(HaliteInterpreterGetSubgraphTensor(c.interpreter, 0, TWO)), "two");
    assert_string_equal(TfLiteTensorName(HaliteInterpreterGetSubgraphTensor(c.interpreter, 1, 1)), "b");
    assert_null(HaliteInterpreterGetSubgraphTensor(c.interpreter, 1, 2));
    assert_null(HaliteInterpreterGetSubgraphTensor(c.interpreter, 0, -1));
    assert_null(HaliteInterpreterGetSubgraphTensor(c.interpreter, 2, 0));
    assert_int_equal(HaliteInterpreterGetSubgraphTensorCount(c.interpreter, -1), 0);
    assert_int_equal(HaliteInterpreterGetSubgraphCount(NULL), 0);
    client_end(&c);
}

static void nodes(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &chain);
    assert_int_equal(HaliteInterpreterGetSubgraphNodeCount(c.interpreter, 0), 3);
    assert_int_equal(HaliteInterpreterGetSubgraphNodeCount(c.interpreter, 9), 0);
    HaliteNode node;
    assert_ok(HaliteInterpreterGetSubgraphNode(c.interpreter, 0, 2, &node));
    assert_int_equal(node.index, 2);
    assert_string_equal(node.op, "ABS");
    assert_int_equal(node.builtin_code, kTfLiteBuiltinAbs);
    assert_int_equal(node.version, 1);
    assert_int_equal(node.node->inputs->data[0], TWO);
    assert_int_equal(node.node->outputs->data[0], Y);
    assert_int_equal(HaliteInterpreterGetSubgraphNode(c.interpreter, 0, 3, &node), kTfLiteError);
    assert_int_equal(HaliteInterpreterGetSubgraphNode(c.interpreter, 2, 0, &node), kTfLiteError);
    assert_int_equal(HaliteInterpreterGetSubgraphNode(c.interpreter, 0, 0, NULL), kTfLiteError);
    client_end(&c);
}

static void resizing(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &chain);
    const int longer = 7, more[] = {1, 7};
    assert_ok(HaliteInterpreterResizeTensor(c.interpreter, 0, X, &longer, 1, false));
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_int_equal(TfLiteTensorByteSize(TfLiteInterpreterGetOutputTensor(c.interpreter, 0)), 7 * sizeof(float));
    assert_int_equal(HaliteInterpreterResizeTensor(c.interpreter, 0, X, more, 2, true), kTfLiteError);
    assert_int_equal(HaliteInterpreterResizeTensor(c.interpreter, 2, X, &longer, 1, false), kTfLiteError);
    assert_int_equal(HaliteInterpreterResizeTensor(c.interpreter, 0, 99, &longer, 1, false), kTfLiteError);
    assert_int_equal(HaliteInterpreterResizeTensor(c.interpreter, 0, X, NULL, 1, false), kTfLiteError);
    client_end(&c);
}

static void signatures(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &chain);
    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(c.interpreter, "go");
    assert_non_null(runner);
    assert_int_equal(HaliteSignatureRunnerGetSubgraph(runner), 1);
    assert_int_equal(HaliteSignatureRunnerGetInputTensorIndex(runner, "in"), 0);
    assert_int_equal(HaliteSignatureRunnerGetOutputTensorIndex(runner, "out"), 1);
    assert_int_equal(HaliteSignatureRunnerGetInputTensorIndex(runner, "out"), -1);
    assert_int_equal(HaliteSignatureRunnerGetSubgraph(NULL), -1);
    TfLiteSignatureRunnerDelete(runner);
    client_end(&c);
}

// Every value is what its node computed, though none but the last is an output.
static void preserved(void **state)
{
    (void)state;
    const float x[4] = {1, -2, 3, -4};
    static const float sign[4] = {1, -1, 1, 1}; // of tensor X, ONE, TWO; the last is the absolute value
    struct client c;
    client_load(&c, &chain);
    HaliteInterpreterOptionsSetPreserveTensors(c.options, true);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ok(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(c.interpreter, 0), x, sizeof x));
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    for (int t = X; t <= TWO; t++) {
        float values[4];
        assert_ok(TfLiteTensorCopyToBuffer(TfLiteInterpreterGetTensor(c.interpreter, t), values, sizeof values));
        for (int i = 0; i < 4; i++) assert_true(values[i] == sign[t] * x[i]);
    }
    HaliteMemoryReport report;
    assert_ok(HaliteInterpreterGetMemoryReport(c.interpreter, &report));
    assert_true(report.arena >= report.arena_unshared);
    client_end(&c);
}

// Tensors whose size only a run tells: the memory that the file's sizes would need must not be what they keep.
static void preserved_when_sized_by_a_run(void **state)
{
    (void)state;
    enum { FROM, TO, STEP, NUMBERS, MINUS, AGAIN, LONG = 100000 };
    const struct test_tensor tensors[] = {{.name = "from", .type = TEST_FLOAT32},
                                          {.name = "to", .type = TEST_FLOAT32},
                                          {.name = "step", .type = TEST_FLOAT32},
                                          FLOATS("numbers", 2),
                                          FLOATS("minus", 2),
                                          FLOATS("again", 2)};
    const struct test_node range_and_signs[] = {{.builtin = kTfLiteBuiltinRange,
                                                 TEST_INPUTS(FROM, TO, STEP),
                                                 TEST_OUTPUTS(NUMBERS)},
                                                NODE_1_1(kTfLiteBuiltinNeg, NUMBERS, MINUS),
                                                NODE_1_1(kTfLiteBuiltinNeg, MINUS, AGAIN)};
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(range_and_signs), TEST_INPUTS(FROM, TO, STEP),
                                     TEST_OUTPUTS(AGAIN)};
    struct client c;
    client_load(&c, &model);
    HaliteInterpreterOptionsSetPreserveTensors(c.options, true);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    static const int lengths[] = {2, LONG, 3};
    for (int run = 0; run < 3; run++) {
        const float values[] = {0, (float)lengths[run], 1};
        for (int input = 0; input < 3; input++) client_set(&c, input, &values[input], sizeof values[input]);
        assert_ok(TfLiteInterpreterInvoke(c.interpreter));
        const TfLiteTensor *minus = TfLiteInterpreterGetTensor(c.interpreter, MINUS);
        const TfLiteTensor *again = TfLiteInterpreterGetTensor(c.interpreter, AGAIN);
        assert_int_equal(TfLiteTensorByteSize(minus), (size_t)lengths[run] * sizeof(float));
        assert_int_equal(TfLiteTensorByteSize(again), (size_t)lengths[run] * sizeof(float));
        const float *below = TfLiteTensorData(minus), *above = TfLiteTensorData(again);
        for (int i = 0; i < lengths[run]; i++) assert_true(below[i] == (float)-i && above[i] == (float)i);
    }
    client_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subgraphs_and_tensors),
        cmocka_unit_test(nodes),
        cmocka_unit_test(resizing),
        cmocka_unit_test(signatures),
        cmocka_unit_test(preserved),
        cmocka_unit_test(preserved_when_sized_by_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
