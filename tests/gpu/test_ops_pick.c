// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements by numbers which come while running, with numbers that are beyond what there is, which the CPU
// refuses, and beyond what halves hold; and unpooling to windows that overlap. The rest is in the op table.
#include "gpu/one_op.h"

// ---- rows by their numbers ----------------------------------------------------------------------

enum source { BY_INPUT, BY_COMPUTED };
static const char *const source_names[] = {"input", "computed"};

// A list of integers as the operator's next input, each below `below` but the first and the last.
static void add_numbers(struct test *test, int rank, const int *dims, int below, enum source source)
{
    add_input(test, rank, dims);
    struct tensor *numbers = &test->inputs[test->input_count - 1];
    numbers->type = kTfLiteInt32;
    numbers->computed = source == BY_COMPUTED;
    for (int i = 0; i < elements_of(numbers); i++) numbers->data[i] = (float)((i * 7 + 3) % below);
    numbers->data[0] = -1;
    numbers->data[elements_of(numbers) - 1] = (float)below;
}

static float row_of(const struct tensor *x, const int *at, int axis, int number)
{
    int from[4] = {0};
    for (int i = 0; i < x->rank; i++) from[i] = i == axis ? number : at[i];
    return number >= 0 && number < x->dims[axis] ? get(x, from) : 0.0f;
}

static float gather_element(const struct test *test, int output, const int *at)
{
    const struct tensor *x = &test->inputs[0], *numbers = &test->inputs[1];
    const TfLiteGatherParams *params = test->params;
    int axis = params->axis, from[4] = {0}, number[4] = {0};
    (void)output;
    for (int i = 0; i < axis; i++) from[i] = at[i];
    for (int i = 0; i < numbers->rank; i++)
        number[i] = i < params->batch_dims ? at[i] : at[axis + i - params->batch_dims];
    for (int i = axis + 1; i < x->rank; i++) from[i] = at[i + numbers->rank - params->batch_dims - 1];
    return row_of(x, from, axis, (int)get(numbers, number));
}

static void run_gather(struct tensor x, int axis, int batches, int rank, const int *list, enum source source)
{
    TfLiteGatherParams params = {.axis = axis, .batch_dims = batches};
    struct test test = test_of("gather", kTfLiteBuiltinGather, gather_element, GPU_MOVES);
    snprintf(test.name, sizeof test.name, "gather along %d with %d batch axes, %s indices, %s", axis, batches,
             source_names[source], x.constant ? "table" : "value");
    set_params(&test, &params, sizeof params);
    int out[4], n = 0;
    for (int i = 0; i < axis; i++) out[n++] = x.dims[i];
    for (int i = batches; i < rank; i++) out[n++] = list[i];
    for (int i = axis + 1; i < x.rank; i++) out[n++] = x.dims[i];
    test.inputs[test.input_count++] = x;
    add_numbers(&test, rank, list, x.dims[axis], source);
    add_output(&test, n, out);
    run(&test);
}

static void test_gather(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int source = BY_INPUT; source <= BY_COMPUTED; source++) {
            for (int axis = 0; axis < 4; axis++)
                run_gather(tensor_of(DIMS(b + 1, 3, 4, c)), axis, 0, DIMS(5), (enum source)source);
            run_gather(tensor_of(DIMS(6, c)), 0, 0, DIMS(b, 2, 3), (enum source)source);
        }
}

static struct tensor table_of(int rank, const int *dims)
{
    struct tensor table = tensor_of(rank, dims);
    table.constant = true;
    return table;
}

static void test_table(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int source = BY_INPUT; source <= BY_COMPUTED; source++) {
            run_gather(table_of(DIMS(19, c)), 0, 0, DIMS(b, 6), (enum source)source);
            run_gather(table_of(DIMS(b, 3, c)), 1, 0, DIMS(7), (enum source)source);
            run_gather(table_of(DIMS(b, 3, c)), 2, 0, DIMS(7), (enum source)source);
        }
}

// Numbers that no half can hold, given by the CPU: right in every precision.
static void test_large_table(void **state)
{
    (void)state;
    TfLiteGatherParams params = {.axis = 0};
    struct test test = test_of("gather from a large table", kTfLiteBuiltinGather, gather_element, GPU_MOVES);
    set_params(&test, &params, sizeof params);
    test.inputs[test.input_count++] = table_of(DIMS(5003, 3));
    add_numbers(&test, DIMS(1, 4), 5003, BY_INPUT);
    static const float numbers[] = {5002, 2049, 4099, 4097};
    memcpy(test.inputs[1].data, numbers, sizeof numbers);
    add_output(&test, DIMS(1, 4, 3));
    run(&test);
}

static float gather_nd_element(const struct test *test, int output, const int *at)
{
    const struct tensor *x = &test->inputs[0], *numbers = &test->inputs[1];
    int axes = numbers->dims[numbers->rank - 1], outer = numbers->rank - 1, from[4] = {0}, number[4];
    (void)output;
    for (int i = 0; i < outer; i++) number[i] = at[i];
    for (int i = 0; i < axes; i++) {
        number[outer] = i;
        from[i] = (int)get(numbers, number);
        if (from[i] < 0 || from[i] >= x->dims[i]) return 0;
    }
    for (int i = axes; i < x->rank; i++) from[i] = at[outer + i - axes];
    return get(x, from);
}

static void test_gather_nd(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int source = BY_INPUT; source <= BY_COMPUTED; source++)
            for (int axes = 1; axes <= 3; axes++) {
                struct test test = test_of("gather_nd", kTfLiteBuiltinGatherNd, gather_nd_element, GPU_MOVES);
                int in[] = {3, 3, 4, c}, out[4] = {b, 5};
                add_input(&test, axes + 1, in + 3 - axes);
                add_numbers(&test, DIMS(b, 5, axes), 3, (enum source)source);
                out[2] = c;
                add_output(&test, 3, out);
                run(&test);
            }
}

static float lookup_element(const struct test *test, int output, const int *at)
{
    int from[4] = {0, at[1], at[2]};
    (void)output;
    return row_of(&test->inputs[1], from, 0, integer(test, 0, at[0]));
}

static void test_lookup(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int constant = 0; constant < 2; constant++) {
            struct test test = test_of("embedding lookup", kTfLiteBuiltinEmbeddingLookup, lookup_element, GPU_MOVES);
            add_numbers(&test, DIMS(3 + b), 9, BY_INPUT);
            if (constant) add_constant(&test, DIMS(9, 2, c));
            else add_input(&test, DIMS(9, 2, c));
            add_output(&test, DIMS(3 + b, 2, c));
            run(&test);
        }
}

// ---- windows ------------------------------------------------------------------------------------

static const TfLitePoolParams windows[] = {
    {.padding = kTfLitePaddingSame, .stride_width = 2, .stride_height = 2, .filter_width = 2, .filter_height = 2},
    {.padding = kTfLitePaddingSame, .stride_width = 2, .stride_height = 1, .filter_width = 3, .filter_height = 2},
    {.padding = kTfLitePaddingValid, .stride_width = 1, .stride_height = 3, .filter_width = 2, .filter_height = 2},
};

static int pad(TfLitePadding padding, int large, int small, int filter, int stride)
{
    int needed = (small - 1) * stride + filter - large;
    return padding == kTfLitePaddingSame && needed > 0 ? needed / 2 : 0;
}

// As the original scatters: window after window, later ones over earlier ones.
static float unpool_element(const struct test *test, int output, const int *at)
{
    const TfLitePoolParams *p = test->params;
    const struct tensor *x = &test->inputs[0], *y = &test->outputs[output];
    int top = pad(kTfLitePaddingSame, y->dims[1], x->dims[1], p->filter_height, p->stride_height);
    int left = pad(kTfLitePaddingSame, y->dims[2], x->dims[2], p->filter_width, p->stride_width);
    float found = 0;
    for (int j = 0; j < x->dims[1]; j++)
        for (int i = 0; i < x->dims[2]; i++) {
            int from[] = {at[0], j, i, at[3]}, place = (int)get(&test->inputs[1], from);
            int row = j * p->stride_height - top + place / p->filter_width;
            int column = i * p->stride_width - left + place % p->filter_width;
            if (row == at[1] && column == at[2]) found = get(x, from);
        }
    return found;
}

static void test_unpool(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
            const TfLitePoolParams *p = &windows[i];
            struct test test = test_of("unpool", kTfLiteBuiltinCustom, unpool_element, GPU_MOVES);
            test.custom = "MaxUnpooling2D";
            set_params(&test, p, sizeof *p);
            add_input(&test, DIMS(b, 3, 4, c));
            add_input(&test, DIMS(b, 3, 4, c));
            struct tensor *places = &test.inputs[1];
            for (int k = 0; k < elements_of(places); k++)
                places->data[k] = (float)(k * 5 % (p->filter_width * p->filter_height)) + 0.125f;
            add_output(&test, DIMS(b, 3 * p->filter_height, 4 * p->filter_width, c));
            run(&test);
        }
}

// ---- places between elements --------------------------------------------------------------------

static float at_or_zero(const struct tensor *x, int b, int h, int w, int c)
{
    int from[] = {b, h, w, c};
    return h >= 0 && h < x->dims[1] && w >= 0 && w < x->dims[2] ? get(x, from) : 0.0f;
}

static float resampler_element(const struct test *test, int output, const int *at)
{
    const struct tensor *x = &test->inputs[0];
    int place[] = {at[0], at[1], at[2], 0}, below[] = {at[0], at[1], at[2], 1};
    float u = get(&test->inputs[1], place), v = get(&test->inputs[1], below);
    int i = (int)floorf(u), j = (int)floorf(v);
    float du = u - floorf(u), dv = v - floorf(v);
    (void)output;
    return (1 - dv) * ((1 - du) * at_or_zero(x, at[0], j, i, at[3]) + du * at_or_zero(x, at[0], j, i + 1, at[3])) +
           dv * ((1 - du) * at_or_zero(x, at[0], j + 1, i, at[3]) + du * at_or_zero(x, at[0], j + 1, i + 1, at[3]));
}

static void test_resampler(void **state)
{
    (void)state;
    EACH_SIZE(b, c) {
        struct test test = test_of("resampler", kTfLiteBuiltinCustom, resampler_element, GPU_BLENDS);
        test.custom = "Resampler";
        add_input(&test, DIMS(b, 5, 4, c));
        add_input(&test, DIMS(b, 6, 7, 2));
        for (int i = 0; i < elements_of(&test.inputs[1]); i++) test.inputs[1].data[i] += 2; // -2 to 6: beyond the edges too
        test.inputs[1].data[0] = 30000;
        test.inputs[1].data[3] = -30000;
        add_output(&test, DIMS(b, 6, 7, c));
        run(&test);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather),    cmocka_unit_test(test_table),  cmocka_unit_test(test_large_table),
        cmocka_unit_test(test_gather_nd), cmocka_unit_test(test_lookup), cmocka_unit_test(test_unpool),
        cmocka_unit_test(test_resampler),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
