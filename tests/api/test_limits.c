// SPDX-License-Identifier: Apache-2.0
// The limits of an interpreter: of memory, for tensors of the plan, for variables, for tensors whose size a run finds
// out; and of work. Going past one is told, and what fits runs afterwards. (The limit of calls:
// tests/runtime/test_calls.c.)
#include "client.h"

#include "halite/halite.h"
#include "support/model_file.h"

static const size_t limit = 4096;

static void begin(struct client *c, const struct test_model *model)
{
    client_load(c, model);
    HaliteInterpreterOptionsSetMemoryLimit(c->options, limit);
    client_create(c);
}

static const struct test_tensor sum_tensors[] = {FLOATS("a", 2), FLOATS("b", 2), FLOATS("y", 2)};
static const struct test_node sum_node = NODE_2_1(kTfLiteBuiltinAdd, 0, 1, 2);
static const struct test_model sum = {TEST_TENSORS(sum_tensors), TEST_NODE(sum_node), TEST_INPUTS(0, 1),
                                      TEST_OUTPUTS(2)};

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
    const struct test_node node = {.builtin = kTfLiteBuiltinTanh, TEST_INPUTS(0), TEST_OUTPUTS(1)};
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODE(node), TEST_INPUTS(0), TEST_OUTPUTS(1)};
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
    const struct test_node node = {.builtin = kTfLiteBuiltinRange, TEST_INPUTS(0, 1, 2), TEST_OUTPUTS(3)};
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODE(node), TEST_INPUTS(0, 1, 2), TEST_OUTPUTS(3)};
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
        for (int input = 0; input < 3; input++) client_set(&c, input, &values[input], sizeof values[input]);
        assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), runs[i].status);
        if (runs[i].status != kTfLiteOk)
            assert_non_null(strstr(c.log.text, "4096 bytes"));
        else
            assert_int_equal(TfLiteTensorByteSize(TfLiteInterpreterGetOutputTensor(c.interpreter, 0)), 40);
    }
    client_end(&c);
}

// A plan that fails has placed some tensors already. The next Invoke, with other sizes, must not believe in them: the
// second run places "minus" for 200 numbers, the third has 300.
static void a_plan_after_one_that_failed(void **state)
{
    (void)state;
    enum { FROM, TO, STEP, END, NUMBERS, OTHERS, MINUS, LESS };
    const struct test_tensor tensors[] = {{.name = "from", .type = TEST_FLOAT32},
                                          {.name = "to", .type = TEST_FLOAT32},
                                          {.name = "step", .type = TEST_FLOAT32},
                                          {.name = "end", .type = TEST_FLOAT32},
                                          FLOATS("numbers", 2),
                                          FLOATS("others", 2),
                                          FLOATS("minus", 2),
                                          FLOATS("less", 2)};
    const struct test_node nodes[] = {
        {.builtin = kTfLiteBuiltinRange, TEST_INPUTS(FROM, TO, STEP), TEST_OUTPUTS(NUMBERS)},
        {.builtin = kTfLiteBuiltinRange, TEST_INPUTS(FROM, END, STEP), TEST_OUTPUTS(OTHERS)},
        NODE_1_1(kTfLiteBuiltinNeg, NUMBERS, MINUS),
        NODE_1_1(kTfLiteBuiltinNeg, OTHERS, LESS)};
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(FROM, TO, STEP, END),
                                     TEST_OUTPUTS(MINUS, LESS)};
    static const struct {
        int to, end;
        TfLiteStatus status;
    } runs[] = {{210, 10, kTfLiteOk}, {200, 190, kTfLiteError}, {300, 10, kTfLiteOk}};
    struct client c;
    client_load(&c, &model);
    HaliteInterpreterOptionsSetMemoryLimit(c.options, 3400);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    for (size_t run = 0; run < sizeof runs / sizeof *runs; run++) {
        const float values[] = {0, (float)runs[run].to, 1, (float)runs[run].end};
        for (int input = 0; input < 4; input++) client_set(&c, input, &values[input], sizeof values[input]);
        assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), runs[run].status);
        if (runs[run].status != kTfLiteOk) continue;
        const float *minus = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(c.interpreter, 0));
        const float *less = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(c.interpreter, 1));
        for (int i = 0; i < runs[run].to; i++) assert_true(minus[i] == (float)-i);
        for (int i = 0; i < runs[run].end; i++) assert_true(less[i] == (float)-i);
    }
    client_end(&c);
}

// Nodes of one Invoke are counted together, each Invoke from the start.
static void work_of_small_nodes(void **state)
{
    (void)state;
    struct client c;
    client_load(&c, &sum);
    HaliteInterpreterOptionsSetWorkLimit(c.options, 3 * 400);
    HaliteInterpreterOptionsSetWorkLimit(c.options, -1); // ignored
    client_create(&c);
    resize(&c, 100); // 3 tensors of 400 bytes
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    for (int times = 0; times < 3; times++) assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    resize(&c, 101);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    assert_non_null(strstr(c.log.text, "ADD (node 0"));
    assert_non_null(strstr(c.log.text, "limit of 1.2e+03"));
    resize(&c, 100);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_end(&c);
}

// A file of some hundred bytes: a window as wide as the image, at each of its positions. The default limit ends it,
// too.
static void work_of_a_wide_window(void **state)
{
    (void)state;
    enum { WIDE = 1 << 26 };
    const struct test_tensor tensors[] = {
        {.name = "x", .type = TEST_INT8, .rank = 4, .dims = {1, 1, 1, 1}, .scale = 1},
        {.name = "y", .type = TEST_INT8, .rank = 4, .dims = {1, 1, 1, 1}, .scale = 1}};
    const struct test_node node = {.builtin = kTfLiteBuiltinAveragePool2d,
                                   .version = 2,
                                   TEST_INPUTS(0),
                                   TEST_OUTPUTS(1),
                                   .settings = {{.field = HL_Pool2DOptions_stride_h, .value = 1},
                                                {.field = HL_Pool2DOptions_stride_w, .value = 1},
                                                {.field = HL_Pool2DOptions_filter_height, .value = 1},
                                                {.field = HL_Pool2DOptions_filter_width, .value = WIDE}}};
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODE(node), TEST_INPUTS(0), TEST_OUTPUTS(1)};
    static const struct {
        int64_t limit; // 0: the default
        int width;
        TfLiteStatus status;
    } runs[] = {{1000000, 100, kTfLiteOk},
                {1000000, 1000, kTfLiteError},
                {0, 1000, kTfLiteOk},
                {0, WIDE, kTfLiteError}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct client c;
        client_load(&c, &model);
        HaliteInterpreterOptionsSetWorkLimit(c.options, runs[i].limit);
        client_create(&c);
        const int dims[] = {1, 1, runs[i].width, 1};
        assert_ok(TfLiteInterpreterResizeInputTensor(c.interpreter, 0, dims, 4));
        assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
        assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), runs[i].status);
        if (runs[i].status != kTfLiteOk)
            assert_non_null(strstr(c.log.text, "HaliteInterpreterOptionsSetWorkLimit must allow more"));
        client_end(&c);
    }
}

// The original goes over a time-major sequence with int8 weights as often as it is long: that square counts.
static void a_sequence_gone_over_again(void **state)
{
    (void)state;
    static const int8_t weight = 1;
    static const float bias = 0;
    struct test_tensor tensors[11] = {{.name = "x", .type = TEST_FLOAT32, .rank = 3}};
    for (int layer = 0; layer < 2; layer++) {
        struct test_tensor *t = &tensors[1 + 4 * layer];
        t[0] = t[1] = (struct test_tensor){
            .name = "weights",
            .type = TEST_INT8,
            .rank = 2,
            .dims = {1, 1},
            .data = &weight,
            .bytes = 1,
            .scale = 0.5f,
        };
        t[2] = (struct test_tensor){
            .name = "bias",
            .type = TEST_FLOAT32,
            .rank = 1,
            .dims = {1},
            .data = &bias,
            .bytes = sizeof bias,
        };
        t[3] = (struct test_tensor){
            .name = "state",
            .type = TEST_FLOAT32,
            .rank = 2,
            .dims = {1, 1},
            .is_variable = true,
        };
    }
    tensors[9] = (struct test_tensor){.name = "forward", .type = TEST_FLOAT32, .rank = 3};
    tensors[10] = (struct test_tensor){.name = "backward", .type = TEST_FLOAT32, .rank = 3};
    const struct test_node node = {.builtin = kTfLiteBuiltinBidirectionalSequenceRnn,
                                   .version = 3,
                                   TEST_INPUTS(0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -1, -1),
                                   TEST_OUTPUTS(9, 10),
                                   .settings = {{.field = HL_BidirectionalSequenceRNNOptions_time_major, .value = 1}}};
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODE(node), TEST_INPUTS(0), TEST_OUTPUTS(9, 10)};
    for (int time = 1000; time <= 2000; time += 1000) {
        const int lengths[] = {0, 9, 10};
        for (int i = 0; i < 3; i++) memcpy(tensors[lengths[i]].dims, (const int[]){time, 1, 1}, 3 * sizeof(int));
        struct client c;
        client_load(&c, &model);
        HaliteInterpreterOptionsSetWorkLimit(c.options, 10 * 1000 * 1000); // six weights: 6 * 1000 * 1000
        client_create(&c);
        assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
        assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), time == 1000 ? kTfLiteOk : kTfLiteError);
        if (time == 2000) assert_non_null(strstr(c.log.text, "with its 2.4e+07 steps"));
        client_end(&c);
    }
}

// Items without elements are hashed all the same: 1000 hashes of 65536 keys.
static void hashes_of_empty_items(void **state)
{
    (void)state;
    static const float hashes[1000];
    const struct test_tensor tensors[] = {
        {.name = "hashes", .type = TEST_FLOAT32, .rank = 2, .dims = {1000, 1}, .data = hashes, .bytes = sizeof hashes},
        {.name = "items", .type = TEST_INT64, .rank = 2, .dims = {1 << 16, 0}},
        {.name = "y", .type = TEST_INT32, .rank = 1, .dims = {1000}}};
    const struct test_node node = {.builtin = kTfLiteBuiltinLshProjection,
                                   TEST_INPUTS(0, 1),
                                   TEST_OUTPUTS(2),
                                   .settings = {{.field = HL_LSHProjectionOptions_type, .value = 1}}};
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODE(node), TEST_INPUTS(1), TEST_OUTPUTS(2)};
    struct client c;
    client_load(&c, &model);
    HaliteInterpreterOptionsSetWorkLimit(c.options, 1000 * 1000);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    assert_non_null(strstr(c.log.text, "HaliteInterpreterOptionsSetWorkLimit must allow more"));
    client_end(&c);
}

// Tensors that all live to the end, as outputs: with 10000 of them a search of each among the others would take 10^8
// steps.
static void planning_counts(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    static struct test_tensor tensors[MANY + 1];
    static struct test_node nodes[MANY];
    tensors[0] = (struct test_tensor)FLOATS("x", 2);
    for (int i = 0; i < MANY; i++) {
        tensors[i + 1] = (struct test_tensor)FLOATS("y", 2);
        tensors[i + 1].is_output = i > 0;
        nodes[i] = (struct test_node){.builtin = kTfLiteBuiltinTanh, TEST_INPUTS(0), TEST_OUTPUTS(i + 1)};
    }
    const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(0), TEST_OUTPUTS(1)};
    static const struct {
        int64_t limit;
        TfLiteStatus status;
    } runs[] = {{MANY / 2, kTfLiteError}, {100 * MANY, kTfLiteOk}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct client c;
        client_load(&c, &model);
        HaliteInterpreterOptionsSetWorkLimit(c.options, runs[i].limit);
        client_create(&c);
        assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), runs[i].status);
        if (runs[i].status != kTfLiteOk) assert_non_null(strstr(c.log.text, "planning the memory"));
        client_end(&c);
    }
}

// Blocks of up to 4096 may follow the last element, and their counters are ints.
static void the_longest_dimension(void **state)
{
    (void)state;
    struct client c;
    client_load(&c, &sum);
    client_create(&c);
    TfLiteInterpreterResizeInputTensor(c.interpreter, 0, (const int[]){INT32_MAX - 4095, 0}, 2);
    assert_non_null(strstr(c.log.text, "too large"));
    client_forget(&c.log);
    for (int i = 0; i < 2; i++)
        assert_ok(TfLiteInterpreterResizeInputTensor(c.interpreter, i, (const int[]){INT32_MAX - 4096, 0}, 2));
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planned_tensors),        cmocka_unit_test(variables),
        cmocka_unit_test(tensors_sized_by_a_run), cmocka_unit_test(work_of_small_nodes),
        cmocka_unit_test(work_of_a_wide_window),  cmocka_unit_test(a_sequence_gone_over_again),
        cmocka_unit_test(hashes_of_empty_items),  cmocka_unit_test(the_longest_dimension),
        cmocka_unit_test(planning_counts),        cmocka_unit_test(a_plan_after_one_that_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
