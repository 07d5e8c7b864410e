// SPDX-License-Identifier: Apache-2.0
// Signature runners: names, order, which tensors they hand out, strict resizing, several subgraphs, and models without
// signatures.
#include "client.h"

#include "tensorflow/lite/c/c_api_experimental.h"

// Two inputs, two outputs, not in the order of their names: sum = y + x, product = y * x.
enum { Y, X, SUM, PRODUCT };
#define OPEN(label)                                                                                             \
    {                                                                                                           \
        .name = label, .type = TEST_FLOAT32, .rank = 1, .dims = {1}, .has_signature = true, .signature = { -1 } \
    }
static const struct test_tensor pair_tensors[] = {OPEN("y"), OPEN("x"), OPEN("sum"), OPEN("product")};
static const struct test_node pair_nodes[] = {NODE_2_1(kTfLiteBuiltinAdd, Y, X, SUM),
                                              NODE_2_1(kTfLiteBuiltinMul, Y, X, PRODUCT)};
#define PAIR TEST_TENSORS(pair_tensors), TEST_NODES(pair_nodes), TEST_INPUTS(Y, X), TEST_OUTPUTS(SUM, PRODUCT)

// Another subgraph: z = w - w * w, where only the second length may change.
static const struct test_tensor other_tensors[] = {
    {.name = "w", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 1}, .has_signature = true, .signature = {1, -1}},
    {.name = "square", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 1}},
    {.name = "z", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 1}}};
static const struct test_node other_nodes[] = {NODE_2_1(kTfLiteBuiltinMul, 0, 0, 1),
                                               NODE_2_1(kTfLiteBuiltinSub, 0, 1, 2)};
static const struct test_model other = {
    .name = "other", TEST_TENSORS(other_tensors), TEST_NODES(other_nodes), TEST_INPUTS(0), TEST_OUTPUTS(2)};

static const struct test_signature signatures[] = {
    {.key = "on_other",
     .subgraph = 1,
     .input_count = 1,
     .inputs = {{"w", 0}},
     .output_count = 1,
     .outputs = {{"z", 2}}},
    {.key = "serve",
     .subgraph = 0,
     .input_count = 2,
     .inputs = {{"right", X}, {"left", Y}},
     .output_count = 2,
     .outputs = {{"total", SUM}, {"area", PRODUCT}}},
    {.key = "again",
     .subgraph = 0,
     .input_count = 2,
     .inputs = {{"a", X}, {"b", Y}},
     .output_count = 1,
     .outputs = {{"only", PRODUCT}}},
};
static const struct test_model with_signatures = {PAIR, .more_count = 1, .more = &other, .signature_count = 3,
                                                  .signatures = signatures};

static float *floats_of(const TfLiteTensor *tensor)
{
    assert_non_null(tensor);
    assert_non_null(TfLiteTensorData(tensor));
    return TfLiteTensorData(tensor);
}

static void keys_and_names(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &with_signatures);
    assert_int_equal(TfLiteInterpreterGetSignatureCount(c.interpreter), 3);
    for (int i = 0; i < 3; i++) // in the order of the file
        assert_string_equal(TfLiteInterpreterGetSignatureKey(c.interpreter, i), signatures[i].key);
    assert_null(TfLiteInterpreterGetSignatureKey(c.interpreter, 3));
    assert_null(TfLiteInterpreterGetSignatureKey(c.interpreter, -1));
    assert_null(TfLiteInterpreterGetSignatureRunner(c.interpreter, "foo"));
    assert_null(TfLiteInterpreterGetSignatureRunner(c.interpreter, ""));

    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(c.interpreter, "serve");
    assert_non_null(runner);
    assert_int_equal(TfLiteSignatureRunnerGetInputCount(runner), 2);
    assert_int_equal(TfLiteSignatureRunnerGetOutputCount(runner), 2);
    assert_string_equal(TfLiteSignatureRunnerGetInputName(runner, 0), "left"); // names in the order of the alphabet
    assert_string_equal(TfLiteSignatureRunnerGetInputName(runner, 1), "right");
    assert_string_equal(TfLiteSignatureRunnerGetOutputName(runner, 0), "area");
    assert_string_equal(TfLiteSignatureRunnerGetOutputName(runner, 1), "total");
    assert_null(TfLiteSignatureRunnerGetInputName(runner, 2));
    assert_null(TfLiteSignatureRunnerGetInputName(runner, -1));
    assert_null(TfLiteSignatureRunnerGetOutputName(runner, 2));
    assert_null(TfLiteSignatureRunnerGetOutputName(runner, -1));
    assert_null(TfLiteSignatureRunnerGetInputTensor(runner, "foo"));
    assert_null(TfLiteSignatureRunnerGetInputTensor(runner, "total"));
    assert_null(TfLiteSignatureRunnerGetInputTensor(runner, NULL));
    assert_null(TfLiteSignatureRunnerGetOutputTensor(runner, "left"));
    assert_null(TfLiteSignatureRunnerGetOutputTensor(runner, NULL));
    assert_ptr_equal(TfLiteSignatureRunnerGetInputTensor(runner, "left"),
                     TfLiteInterpreterGetInputTensor(c.interpreter, 0));
    assert_ptr_equal(TfLiteSignatureRunnerGetInputTensor(runner, "right"),
                     TfLiteInterpreterGetInputTensor(c.interpreter, 1));
    assert_ptr_equal(TfLiteSignatureRunnerGetOutputTensor(runner, "area"),
                     TfLiteInterpreterGetOutputTensor(c.interpreter, 1));
    TfLiteSignatureRunnerDelete(runner);
    client_end(&c);
}

static void each_signature_runs(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &with_signatures);
    TfLiteSignatureRunner *serve = TfLiteInterpreterGetSignatureRunner(c.interpreter, "serve");
    TfLiteSignatureRunner *on_other = TfLiteInterpreterGetSignatureRunner(c.interpreter, "on_other");
    TfLiteSignatureRunner *again = TfLiteInterpreterGetSignatureRunner(c.interpreter, "again");
    assert_int_equal(TfLiteSignatureRunnerInvoke(serve), kTfLiteError); // no memory yet
    for (int length = 1; length <= 3; length++) {
        const int one[] = {length}, two[] = {1, length};
        assert_ok(TfLiteSignatureRunnerResizeInputTensor(serve, "left", one, 1));
        assert_ok(TfLiteSignatureRunnerResizeInputTensor(serve, "right", one, 1));
        assert_ok(TfLiteSignatureRunnerResizeInputTensor(on_other, "w", two, 2));
        assert_ok(TfLiteSignatureRunnerAllocateTensors(serve));
        assert_ok(TfLiteSignatureRunnerAllocateTensors(on_other));
        float *left = floats_of(TfLiteSignatureRunnerGetInputTensor(serve, "left"));
        float *right = floats_of(TfLiteSignatureRunnerGetInputTensor(serve, "right"));
        float *w = floats_of(TfLiteSignatureRunnerGetInputTensor(on_other, "w"));
        for (int i = 0; i < length; i++) {
            left[i] = (float)(i + 2);
            right[i] = (float)(5 * i + 1);
            w[i] = (float)(i + 3);
        }
        assert_ok(TfLiteSignatureRunnerInvoke(serve));
        assert_ok(TfLiteSignatureRunnerInvoke(on_other)); // its tensors are others
        assert_ok(TfLiteSignatureRunnerInvoke(again));    // the same tensors by other names
        const float *total = floats_of(TfLiteSignatureRunnerGetOutputTensor(serve, "total"));
        const float *area = floats_of(TfLiteSignatureRunnerGetOutputTensor(again, "only"));
        const TfLiteTensor *z = TfLiteSignatureRunnerGetOutputTensor(on_other, "z");
        assert_int_equal(TfLiteTensorDim(z, 1), length);
        for (int i = 0; i < length; i++) {
            assert_true(total[i] == left[i] + right[i]);
            assert_true(area[i] == left[i] * right[i]);
            assert_true(floats_of(z)[i] == w[i] - w[i] * w[i]);
        }
    }
    TfLiteSignatureRunnerDelete(serve);
    TfLiteSignatureRunnerDelete(on_other);
    TfLiteSignatureRunnerDelete(again);
    client_end(&c);
}

// Only lengths that the model leaves open may change; the interpreter itself is not so strict.
static void strict_resizing(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &with_signatures);
    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(c.interpreter, "on_other");
    assert_ok(TfLiteSignatureRunnerResizeInputTensor(runner, "w", (const int[]){1, 4}, 2));
    assert_ok(TfLiteSignatureRunnerAllocateTensors(runner));
    assert_int_equal(c.log.count, 0);
    assert_int_equal(TfLiteSignatureRunnerResizeInputTensor(runner, "w", (const int[]){2, 4}, 2), kTfLiteError);
    assert_int_equal(TfLiteSignatureRunnerResizeInputTensor(runner, "w", (const int[]){4}, 1), kTfLiteError);
    assert_int_equal(TfLiteSignatureRunnerResizeInputTensor(runner, "w", (const int[]){1, 4, 1}, 3), kTfLiteError);
    assert_int_equal(TfLiteSignatureRunnerResizeInputTensor(runner, "foo", (const int[]){1, 4}, 2), kTfLiteError);
    assert_int_equal(TfLiteSignatureRunnerResizeInputTensor(runner, NULL, (const int[]){1, 4}, 2), kTfLiteError);
    assert_int_equal(c.log.count, 5);
    assert_int_equal(TfLiteTensorByteSize(TfLiteSignatureRunnerGetInputTensor(runner, "w")), 4 * sizeof(float));
    assert_ok(TfLiteSignatureRunnerInvoke(runner)); // refused resizes leave it ready
    TfLiteSignatureRunnerDelete(runner);
    client_end(&c);

    client_begin(&c, &triple); // no shape signature: nothing may change, but everything may stay
    runner = TfLiteInterpreterGetSignatureRunner(c.interpreter, NULL);
    assert_ok(TfLiteSignatureRunnerResizeInputTensor(runner, "input", (const int[]){TRIPLE_LENGTH}, 1));
    assert_int_equal(TfLiteSignatureRunnerResizeInputTensor(runner, "input", (const int[]){2}, 1), kTfLiteError);
    client_resize(&c, 0, 2);
    run_triple(&c);
    TfLiteSignatureRunnerDelete(runner);
    client_end(&c);
}

static void null_key(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &with_signatures); // the first signature of the main graph
    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(c.interpreter, NULL);
    assert_non_null(runner);
    assert_string_equal(TfLiteSignatureRunnerGetInputName(runner, 0), "left");
    TfLiteSignatureRunnerDelete(runner);
    client_end(&c);

    struct test_model only_other = with_signatures;
    only_other.signature_count = 1;
    client_begin(&c, &only_other);
    assert_null(TfLiteInterpreterGetSignatureRunner(c.interpreter, NULL));
    client_end(&c);
}

// The main graph by the names of its tensors.
static void model_without_signatures(void **state)
{
    (void)state;
    static const struct test_model model = {PAIR};
    struct client c;
    client_begin(&c, &model);
    assert_int_equal(TfLiteInterpreterGetSignatureCount(c.interpreter), 0);
    assert_null(TfLiteInterpreterGetSignatureKey(c.interpreter, 0));
    assert_null(TfLiteInterpreterGetSignatureRunner(c.interpreter, "foo"));
    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(c.interpreter, NULL);
    assert_non_null(runner);
    assert_int_equal(TfLiteSignatureRunnerGetInputCount(runner), 2);
    assert_int_equal(TfLiteSignatureRunnerGetOutputCount(runner), 2);
    for (int i = 0; i < 2; i++) {
        TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(c.interpreter, i);
        assert_ptr_equal(TfLiteSignatureRunnerGetInputTensor(runner, TfLiteTensorName(tensor)), tensor);
        const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(c.interpreter, i);
        assert_ptr_equal(TfLiteSignatureRunnerGetOutputTensor(runner, TfLiteTensorName(output)), output);
    }
    assert_ok(TfLiteSignatureRunnerResizeInputTensor(runner, "x", (const int[]){2}, 1));
    assert_ok(TfLiteSignatureRunnerResizeInputTensor(runner, "y", (const int[]){2}, 1));
    assert_ok(TfLiteSignatureRunnerAllocateTensors(runner));
    memcpy(floats_of(TfLiteSignatureRunnerGetInputTensor(runner, "x")), (const float[]){-8, 0.5f}, 2 * sizeof(float));
    memcpy(floats_of(TfLiteSignatureRunnerGetInputTensor(runner, "y")), (const float[]){-1, 1.5f}, 2 * sizeof(float));
    assert_ok(TfLiteSignatureRunnerInvoke(runner));
    const float *sum = floats_of(TfLiteSignatureRunnerGetOutputTensor(runner, "sum"));
    assert_true(sum[0] == -9 && sum[1] == 2);
    TfLiteSignatureRunnerDelete(runner);
    client_end(&c);
}

static void cancelling_and_null_arguments(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &with_signatures);
    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(c.interpreter, "serve");
    assert_int_equal(TfLiteSignatureRunnerCancel(runner), kTfLiteError); // not enabled
    TfLiteSignatureRunnerDelete(runner);
    client_end(&c);
    client_load(&c, &with_signatures);
    assert_ok(TfLiteInterpreterOptionsEnableCancellation(c.options, true));
    client_create(&c);
    runner = TfLiteInterpreterGetSignatureRunner(c.interpreter, "serve");
    assert_ok(TfLiteSignatureRunnerCancel(runner));
    assert_ok(TfLiteSignatureRunnerAllocateTensors(runner));
    assert_ok(TfLiteSignatureRunnerInvoke(runner));
    assert_int_equal(TfLiteSignatureRunnerResizeInputTensor(runner, "left", NULL, 1), kTfLiteError);
    TfLiteSignatureRunnerDelete(runner);
    client_end(&c);

    assert_null(TfLiteInterpreterGetSignatureRunner(NULL, "serve"));
    assert_int_equal(TfLiteInterpreterGetSignatureCount(NULL), 0);
    assert_null(TfLiteInterpreterGetSignatureKey(NULL, 0));
    assert_int_equal(TfLiteSignatureRunnerGetInputCount(NULL), 0);
    assert_int_equal(TfLiteSignatureRunnerGetOutputCount(NULL), 0);
    assert_null(TfLiteSignatureRunnerGetInputName(NULL, 0));
    assert_null(TfLiteSignatureRunnerGetOutputName(NULL, 0));
    assert_null(TfLiteSignatureRunnerGetInputTensor(NULL, "left"));
    assert_null(TfLiteSignatureRunnerGetOutputTensor(NULL, "total"));
    assert_int_equal(TfLiteSignatureRunnerResizeInputTensor(NULL, "left", (const int[]){1}, 1), kTfLiteError);
    assert_int_equal(TfLiteSignatureRunnerAllocateTensors(NULL), kTfLiteError);
    assert_int_equal(TfLiteSignatureRunnerInvoke(NULL), kTfLiteError);
    assert_int_equal(TfLiteSignatureRunnerCancel(NULL), kTfLiteError);
    TfLiteSignatureRunnerDelete(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_names),           cmocka_unit_test(each_signature_runs),
        cmocka_unit_test(strict_resizing),          cmocka_unit_test(null_key),
        cmocka_unit_test(model_without_signatures), cmocka_unit_test(cancelling_and_null_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
