// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements by numbers which come while running: gathers, tables, one-hot vectors, places within windows,
// places between elements; and the custom operators of segmentation models.
#include "gpu/one_op.h"

// ---- rows by their numbers ----------------------------------------------------------------------

enum source { BY_CONSTANT, BY_INPUT, BY_COMPUTED };
static const char *const source_names[] = {"constant", "input", "computed"};

// A list of integers as the operator's next input, each below `below`, one of them beyond where the operator may see that.
static void add_numbers(struct test *test, int rank, const int *dims, int below, enum source source)
{
    add_input(test, rank, dims);
    struct tensor *numbers = &test->inputs[test->input_count - 1];
    numbers->type = kTfLiteInt32;
    numbers->constant = source == BY_CONSTANT;
    numbers->computed = source == BY_COMPUTED;
    for (int i = 0; i < elements_of(numbers); i++) numbers->data[i] = (float)((i * 7 + 3) % below);
    if (source != BY_CONSTANT) numbers->data[0] = -1;
    if (source == BY_INPUT) numbers->data[elements_of(numbers) - 1] = (float)below;
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

static void test_gather_batches(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int source = BY_CONSTANT; source <= BY_COMPUTED; source++) {
            run_gather(tensor_of(DIMS(b, 5, c)), 1, 1, DIMS(b, 3), (enum source)source);
            run_gather(tensor_of(DIMS(b, 3, 5, c)), 2, 1, DIMS(b, 4), (enum source)source);
            run_gather(tensor_of(DIMS(b, 3, c)), 2, 2, DIMS(b, 3, 6), (enum source)source);
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
        for (int source = BY_CONSTANT; source <= BY_COMPUTED; source++)
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

// ---- one-hot ------------------------------------------------------------------------------------

static float one_hot_element(const struct test *test, int output, const int *at)
{
    int axis = ((const TfLiteOneHotParams *)test->params)->axis, rank = test->outputs[output].rank, index[4], n = 0;
    if (axis < 0) axis = rank - 1;
    for (int i = 0; i < rank; i++)
        if (i != axis) index[n++] = at[i];
    int hot = (int)get(&test->inputs[0], index);
    return test->inputs[hot == at[axis] ? 2 : 3].data[0];
}

static void test_one_hot(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int source = BY_INPUT; source <= BY_COMPUTED; source++)
            for (int axis = -1; axis < 4; axis++) {
                TfLiteOneHotParams params = {.axis = axis};
                int place = axis < 0 ? 3 : axis, in[] = {b, 3, 5}, out[4];
                for (int i = 0; i < 4; i++) out[i] = i == place ? c : in[i - (i > place)];
                struct test test = test_of("one hot", kTfLiteBuiltinOneHot, one_hot_element, GPU_MOVES);
                set_params(&test, &params, sizeof params);
                add_numbers(&test, 3, in, c, (enum source)source);
                add_integers(&test, 1, &c);
                add_constant(&test, 0, NULL);
                add_constant(&test, 0, NULL);
                add_output(&test, 4, out);
                run(&test);
            }
}

// ---- windows ------------------------------------------------------------------------------------

static const TfLitePoolParams windows[] = {
    {.padding = kTfLitePaddingSame, .stride_width = 2, .stride_height = 2, .filter_width = 2, .filter_height = 2},
    {.padding = kTfLitePaddingSame, .stride_width = 2, .stride_height = 1, .filter_width = 3, .filter_height = 2},
    {.padding = kTfLitePaddingValid, .stride_width = 1, .stride_height = 3, .filter_width = 2, .filter_height = 2},
};

static int length(TfLitePadding padding, int in, int filter, int stride)
{
    return padding == kTfLitePaddingSame ? (in + stride - 1) / stride : (in - filter + stride) / stride;
}

static int pad(TfLitePadding padding, int large, int small, int filter, int stride)
{
    int needed = (small - 1) * stride + filter - large;
    return padding == kTfLitePaddingSame && needed > 0 ? needed / 2 : 0;
}

static float argmax_element(const struct test *test, int output, const int *at)
{
    const TfLitePoolParams *p = test->params;
    const struct tensor *x = &test->inputs[0], *y = &test->outputs[0];
    int top = at[1] * p->stride_height - pad(p->padding, x->dims[1], y->dims[1], p->filter_height, p->stride_height);
    int left = at[2] * p->stride_width - pad(p->padding, x->dims[2], y->dims[2], p->filter_width, p->stride_width);
    float most = -100, place = 0;
    for (int j = 0; j < p->filter_height; j++)
        for (int i = 0; i < p->filter_width; i++) {
            int from[] = {at[0], top + j, left + i, at[3]};
            if (from[1] < 0 || from[1] >= x->dims[1] || from[2] < 0 || from[2] >= x->dims[2]) continue;
            if (get(x, from) <= most) continue;
            most = get(x, from);
            place = (float)(j * p->filter_width + i);
        }
    return output == 0 ? most : place + 0.1f;
}

static void test_argmax_pool(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
            const TfLitePoolParams *p = &windows[i];
            int h = length(p->padding, 7, p->filter_height, p->stride_height);
            int w = length(p->padding, 9, p->filter_width, p->stride_width);
            struct test test = test_of("argmax pool", kTfLiteBuiltinCustom, argmax_element, GPU_ROUNDS);
            test.custom = "MaxPoolingWithArgmax2D";
            set_params(&test, p, sizeof *p);
            add_input(&test, DIMS(b, 7, 9, c));
            add_output(&test, DIMS(b, h, w, c));
            add_output(&test, DIMS(b, h, w, c));
            run(&test);
        }
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

// ---- transposed convolution with a bias ---------------------------------------------------------

static float transposed_element(const struct test *test, int output, const int *at)
{
    const TfLiteTransposeConvParams *p = test->params;
    const struct tensor *x = &test->inputs[0], *weights = &test->inputs[1], *y = &test->outputs[output];
    int top = pad(p->padding, y->dims[1], x->dims[1], weights->dims[1], p->stride_height);
    int left = pad(p->padding, y->dims[2], x->dims[2], weights->dims[2], p->stride_width);
    int one = 1;
    float sum = get_broadcast(&test->inputs[2], one, &at[3]);
    for (int j = 0; j < x->dims[1]; j++)
        for (int i = 0; i < x->dims[2]; i++) {
            int ky = at[1] + top - j * p->stride_height, kx = at[2] + left - i * p->stride_width;
            if (ky < 0 || ky >= weights->dims[1] || kx < 0 || kx >= weights->dims[2]) continue;
            for (int c = 0; c < x->dims[3]; c++) {
                int from[] = {at[0], j, i, c}, tap[] = {at[3], ky, kx, c};
                sum += get(x, from) * get(weights, tap);
            }
        }
    return sum;
}

static void test_transposed(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int same = 0; same < 2; same++) {
            TfLiteTransposeConvParams params = {
                .padding = same ? kTfLitePaddingSame : kTfLitePaddingValid, .stride_width = 2, .stride_height = 2};
            struct test test = test_of("transposed with bias", kTfLiteBuiltinCustom, transposed_element, GPU_ROUNDS);
            test.custom = "Convolution2DTransposeBias";
            set_params(&test, &params, sizeof params);
            add_input(&test, DIMS(b, 3, 4, c));
            add_constant(&test, DIMS(5, 3, 3, c));
            add_constant(&test, DIMS(5));
            add_output(&test, DIMS(b, same ? 6 : 7, same ? 8 : 9, 5));
            run(&test);
        }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather),      cmocka_unit_test(test_gather_batches), cmocka_unit_test(test_table),
        cmocka_unit_test(test_large_table), cmocka_unit_test(test_gather_nd),      cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_one_hot),     cmocka_unit_test(test_argmax_pool),    cmocka_unit_test(test_unpool),
        cmocka_unit_test(test_resampler),   cmocka_unit_test(test_transposed),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
