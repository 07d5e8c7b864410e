// SPDX-License-Identifier: Apache-2.0
// The memory limit of an interpreter: for tensors of the plan, for variables, for tensors whose size a run finds out. Going
// past it is told, and what fits runs afterwards. (The limit of calls: tests/runtime/test_calls.c.)
#include "client.h"

#include "halite/halite.h"

static const size_t limit = 4096;

static void begin(struct client *c, const struct test_model *model)
{
    client_load(c, model);
    HaliteInterpreterOptionsSetMemoryLimit(c->options, limit);
    client_create(c);
}

static const struct test_tensor sum_tensors[] = {FLOATS("a", 2), FLOATS("b", 2), FLOATS("y", 2)};
static const struct test_node sum_node = NODE_2_1(kTfLiteBuiltinAdd, 0, 1, 2);
static const struct test_model sum = {.tensor_count = 3,
                                      .tensors = sum_tensors,
                                      .node_count = 1,
                                      .nodes = &sum_node,
                                      .input_count = 2,
                                      .inputs = {0, 1},
                                      .output_count = 1,
                                      .outputs = {2}};

static void resize(struct client *c, int length)
{
    for (int i = 0; i < 2; i++) client_resize(c, i, length);
}

static void planned_tensors(void **state)
{
    (void)state;
    struct client c;
    begin(&c, &sum);
    resize(&c, 1000);
    assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteError);
    assert_non_null(strstr(c.log.text, "limit of 4096 bytes"));
    resize(&c, 100); // 3 tensors of 400 bytes
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_end(&c);
    client_load(&c, &sum); // 0: the default
    HaliteInterpreterOptionsSetMemoryLimit(c.options, limit);
    HaliteInterpreterOptionsSetMemoryLimit(c.options, 0);
    client_create(&c);
    resize(&c, 1000);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    client_end(&c);
}

static void variables(void **state)
{
    (void)state;
    const struct test_tensor tensors[] = {
        FLOATS("a", 2),
        FLOATS("y", 2),
        {.name = "kept", .type = TEST_FLOAT32, .rank = 1, .dims = {2000}, .is_variable = true}};
    const struct test_node node = {.builtin = kTfLiteBuiltinTanh,
                                   .input_count = 1,
                                   .inputs = {0},
                                   .output_count = 1,
                                   .outputs = {1}};
    const struct test_model model = {.tensor_count = 3,
                                     .tensors = tensors,
                                     .node_count = 1,
                                     .nodes = &node,
                                     .input_count = 1,
                                     .inputs = {0},
                                     .output_count = 1,
                                     .outputs = {1}};
    struct client c;
    begin(&c, &model);
    assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteError);
    assert_non_null(strstr(c.log.text, "kept"));
    assert_non_null(strstr(c.log.text, "limit of 4096 bytes"));
    client_end(&c);
}

static void tensors_sized_by_a_run(void **state)
{
    (void)state;
    const struct test_tensor tensors[] = {{.name = "from", .type = TEST_FLOAT32},
                                          {.name = "to", .type = TEST_FLOAT32},
                                          {.name = "step", .type = TEST_FLOAT32},
                                          FLOATS("numbers", 2)};
    const struct test_node node = {.builtin = kTfLiteBuiltinRange,
                                   .input_count = 3,
                                   .inputs = {0, 1, 2},
                                   .output_count = 1,
                                   .outputs = {3}};
    const struct test_model model = {.tensor_count = 4,
                                     .tensors = tensors,
                                     .node_count = 1,
                                     .nodes = &node,
                                     .input_count = 3,
                                     .inputs = {0, 1, 2},
                                     .output_count = 1,
                                     .outputs = {3}};
    static const struct {
        float to;
        TfLiteStatus status;
    } runs[] = {{10, kTfLiteOk}, {1e6f, kTfLiteError}, {1e9f, kTfLiteError}, {10, kTfLiteOk}};
    struct client c;
    begin(&c, &model);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        const float values[] = {0, runs[i].to, 1};
        client_forget(&c.log);
        for (int input = 0; input < 3; input++)
            client_set(&c, input, &values[input], sizeof values[input]);
        assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), runs[i].status);
        if (runs[i].status != kTfLiteOk)
            assert_non_null(strstr(c.log.text, "4096 bytes"));
        else
            assert_int_equal(TfLiteTensorByteSize(
                                 TfLiteInterpreterGetOutputTensor(c.interpreter, 0)),
                             40);
    }
    client_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planned_tensors),
        cmocka_unit_test(variables),
        cmocka_unit_test(tensors_sized_by_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
