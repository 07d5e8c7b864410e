// SPDX-License-Identifier: Apache-2.0
// Operators that move, choose or combine elements: graphs of one node through plan and runner, on every backend that has a
// device (software ones too), in every precision that the device has, with one batch and two, with channels that fill slices
// and channels that do not, with and without an epilogue; against plain C that says what one element is.
#include "gpu/graph/passes.h"
#include "gpu/one_op.h"

// ---- binary -------------------------------------------------------------------------------------

static float binary_element(const struct test *test, int output, const int *at)
{
    int rank = test->outputs[output].rank;
    float u = get_broadcast(&test->inputs[0], rank, at), v = get_broadcast(&test->inputs[1], rank, at);
    switch (test->builtin) {
    case kTfLiteBuiltinAdd: return u + v;
    case kTfLiteBuiltinSub: return u - v;
    case kTfLiteBuiltinMul: return u * v;
    case kTfLiteBuiltinDiv: return u / v;
    case kTfLiteBuiltinMaximum: return u > v ? u : v;
    case kTfLiteBuiltinMinimum: return u < v ? u : v;
    case kTfLiteBuiltinSquaredDifference: return (u - v) * (u - v);
    case kTfLiteBuiltinPow: return powf(u, v);
    case kTfLiteBuiltinFloorDiv: return floorf(u / v);
    case kTfLiteBuiltinFloorMod: return u - floorf(u / v) * v;
    case kTfLiteBuiltinPrelu: return u < 0 ? u * v : u;
    case kTfLiteBuiltinEqual: return u == v;
    case kTfLiteBuiltinNotEqual: return u != v;
    case kTfLiteBuiltinLess: return u < v;
    case kTfLiteBuiltinLessEqual: return u <= v;
    case kTfLiteBuiltinGreater: return u > v;
    case kTfLiteBuiltinGreaterEqual: return u >= v;
    case kTfLiteBuiltinLogicalAnd: return u != 0 && v != 0;
    case kTfLiteBuiltinLogicalOr: return u != 0 || v != 0;
    default: fail_msg("no such function"); return 0;
    }
}

// Operands for which the function is defined, and divisors that quotients are exact by.
static void tame(struct test *test)
{
    bool divides = test->builtin == kTfLiteBuiltinFloorDiv || test->builtin == kTfLiteBuiltinFloorMod;
    bool logical = test->builtin == kTfLiteBuiltinLogicalAnd || test->builtin == kTfLiteBuiltinLogicalOr;
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < elements_of(&test->inputs[n]); i++) {
            float *v = &test->inputs[n].data[i];
            if (logical) *v = *v > 0;
            else if (test->builtin == kTfLiteBuiltinPow) *v = n == 0 ? fabsf(*v) * 0.5f + 0.5f : *v * 0.5f;
            else if (divides && n == 1) *v = *v < 0 ? -0.5f : 2.0f;
            else if (test->builtin == kTfLiteBuiltinDiv && n == 1) *v = fabsf(*v) + 0.5f;
        }
}

static void run_binary(const char *name, int builtin, enum gpu_tolerance tolerance, struct tensor a, struct tensor b,
                       int rank, const int *dims)
{
    struct test test = test_of(name, builtin, binary_element, tolerance);
    test.inputs[test.input_count++] = a;
    test.inputs[test.input_count++] = b;
    tame(&test);
    add_output(&test, rank, dims);
    run(&test);
}

static struct tensor constant(struct tensor tensor)
{
    tensor.constant = true;
    return tensor;
}

static void test_binary(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int builtin;
        enum gpu_tolerance tolerance;
    } functions[] = {
        {"add", kTfLiteBuiltinAdd, GPU_ROUNDS}, {"sub", kTfLiteBuiltinSub, GPU_ROUNDS}, {"mul", kTfLiteBuiltinMul, GPU_ROUNDS},
        {"div", kTfLiteBuiltinDiv, GPU_ROUNDS}, {"maximum", kTfLiteBuiltinMaximum, GPU_MOVES},
        {"minimum", kTfLiteBuiltinMinimum, GPU_MOVES}, {"squared difference", kTfLiteBuiltinSquaredDifference, GPU_ROUNDS},
        {"pow", kTfLiteBuiltinPow, GPU_FUNCTION}, {"floor div", kTfLiteBuiltinFloorDiv, GPU_MOVES},
        {"floor mod", kTfLiteBuiltinFloorMod, GPU_MOVES}, {"prelu", kTfLiteBuiltinPrelu, GPU_ROUNDS},
        {"equal", kTfLiteBuiltinEqual, GPU_MOVES}, {"not equal", kTfLiteBuiltinNotEqual, GPU_MOVES},
        {"less", kTfLiteBuiltinLess, GPU_MOVES}, {"less equal", kTfLiteBuiltinLessEqual, GPU_MOVES},
        {"greater", kTfLiteBuiltinGreater, GPU_MOVES}, {"greater equal", kTfLiteBuiltinGreaterEqual, GPU_MOVES},
        {"logical and", kTfLiteBuiltinLogicalAnd, GPU_MOVES}, {"logical or", kTfLiteBuiltinLogicalOr, GPU_MOVES},
    };
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        run_binary(functions[f].name, functions[f].builtin, functions[f].tolerance, tensor_of(DIMS(1, 3, 4, 5)),
                   tensor_of(DIMS(1, 3, 4, 5)), DIMS(1, 3, 4, 5));
        run_binary(functions[f].name, functions[f].builtin, functions[f].tolerance, tensor_of(DIMS(2, 3, 4, 5)),
                   constant(tensor_of(DIMS(5))), DIMS(2, 3, 4, 5));
    }
}

static void test_broadcast(void **state)
{
    (void)state;
    int sub = kTfLiteBuiltinSub;
    EACH_SIZE(b, c) {
        static const char *const names[] = {"channels", "constant channels", "column", "scalar", "rank 3", "constant rank 3"};
        for (int swap = 0; swap < 2; swap++)
            for (int kind = 0; kind < 6; kind++) {
                struct tensor large = tensor_of(DIMS(b, 3, 4, c));
                struct tensor small = kind < 2    ? tensor_of(DIMS(c))
                                      : kind == 2 ? tensor_of(DIMS(b, 1, 4, 1))
                                      : kind == 3 ? tensor_of(0, NULL)
                                                  : tensor_of(DIMS(3, 1, c));
                small.constant = kind % 2 == 1;
                run_binary(names[kind], sub, GPU_ROUNDS, swap ? small : large, swap ? large : small, DIMS(b, 3, 4, c));
            }
        run_binary("both stretch", sub, GPU_ROUNDS, tensor_of(DIMS(b, 1, c)), tensor_of(DIMS(6, 1)), DIMS(b, 6, c));
    }
}

static float sum_element(const struct test *test, int output, const int *at)
{
    (void)output;
    float sum = 0;
    for (int i = 0; i < test->input_count; i++) sum += get(&test->inputs[i], at);
    return sum;
}

static void test_add_n(void **state)
{
    (void)state;
    EACH_SIZE(b, c) {
        struct test test = test_of("add n", kTfLiteBuiltinAddN, sum_element, GPU_ROUNDS);
        for (int i = 0; i < 4; i++) add_input(&test, DIMS(b, 2, 3, c));
        add_constant(&test, DIMS(b, 2, 3, c));
        add_output(&test, DIMS(b, 2, 3, c));
        run(&test);
    }
}

static float select_element(const struct test *test, int output, const int *at)
{
    int rank = test->outputs[output].rank;
    bool by_first = test->builtin == kTfLiteBuiltinSelect && test->inputs[0].rank == 1;
    float wanted = by_first ? test->inputs[0].data[at[0]] : get_broadcast(&test->inputs[0], rank, at);
    return get_broadcast(&test->inputs[wanted != 0 ? 1 : 2], rank, at);
}

static void run_select(const char *name, int builtin, struct tensor wanted, struct tensor yes, struct tensor no, int rank,
                       const int *dims)
{
    struct test test = test_of(name, builtin, select_element, GPU_MOVES);
    for (int i = 0; i < elements_of(&wanted); i++) wanted.data[i] = wanted.data[i] > 0;
    test.inputs[0] = wanted;
    test.inputs[1] = yes;
    test.inputs[2] = no;
    test.input_count = 3;
    add_output(&test, rank, dims);
    run(&test);
}

static void test_select(void **state)
{
    (void)state;
    EACH_SIZE(b, c) {
        run_select("select", kTfLiteBuiltinSelect, tensor_of(DIMS(b, 2, 3, c)), tensor_of(DIMS(b, 2, 3, c)),
                   tensor_of(DIMS(b, 2, 3, c)), DIMS(b, 2, 3, c));
        run_select("select by first index", kTfLiteBuiltinSelect, tensor_of(DIMS(b)), tensor_of(DIMS(b, 2, 3, c)),
                   tensor_of(DIMS(b, 2, 3, c)), DIMS(b, 2, 3, c));
        run_select("select v2", kTfLiteBuiltinSelectV2, tensor_of(DIMS(2, 3, 1)), tensor_of(DIMS(b, 2, 3, c)),
                   constant(tensor_of(0, NULL)), DIMS(b, 2, 3, c));
        run_select("select v2 of rank 3", kTfLiteBuiltinSelectV2, tensor_of(DIMS(b, 2, 3, c)), tensor_of(DIMS(2, 3, c)),
                   tensor_of(DIMS(c)), DIMS(b, 2, 3, c));
    }
}

// ---- parts --------------------------------------------------------------------------------------

static float slice_element(const struct test *test, int output, const int *at)
{
    (void)output;
    int from[4];
    for (int i = 0; i < test->inputs[0].rank; i++) from[i] = at[i] + integer(test, 1, i);
    return get(&test->inputs[0], from);
}

static void test_slice(void **state)
{
    (void)state;
    EACH_SIZE(b, c) {
        for (int first = 0; first < 2; first++) { // with the channels as they are, and shifted
            struct test test = test_of("slice", kTfLiteBuiltinSlice, slice_element, GPU_MOVES);
            add_input(&test, DIMS(b, 4, 5, c + 4));
            add_integers(&test, DIMS(0, 1, 2, first ? 3 : 4));
            add_integers(&test, DIMS(b, 2, 3, c));
            add_output(&test, DIMS(b, 2, 3, c));
            run(&test);
        }
        struct test test = test_of("slice of rank 2", kTfLiteBuiltinSlice, slice_element, GPU_MOVES);
        add_input(&test, DIMS(b + 1, c));
        add_integers(&test, DIMS(1, 0));
        add_integers(&test, DIMS(-1, c));
        add_output(&test, DIMS(b, c));
        run(&test);
    }
}

// x[:, ::-2, 3, 1:] and x[..., tf.newaxis, 1, :, ::2], as axis of the output, begin and stride for each axis of x.
static float strided_element(const struct test *test, int output, const int *at)
{
    const TfLiteStridedSliceParams *params = test->params;
    (void)output;
    if (params->new_axis_mask) return get(&test->inputs[0], (int[]){at[0], 1, at[2], at[3] * 2});
    return get(&test->inputs[0], (int[]){at[0], 3 - 2 * at[1], 3, at[2] + 1});
}

static void test_strided_slice(void **state)
{
    (void)state;
    static const TfLiteStridedSliceParams shrinks = {.begin_mask = 1 | 2, .end_mask = 1 | 2 | 8, .shrink_axis_mask = 4};
    static const TfLiteStridedSliceParams widens = {
        .begin_mask = 8, .end_mask = 8, .ellipsis_mask = 1, .new_axis_mask = 2, .shrink_axis_mask = 4};
    EACH_SIZE(b, c) {
        struct test test = test_of("strided slice that takes an axis", kTfLiteBuiltinStridedSlice, strided_element, GPU_MOVES);
        set_params(&test, &shrinks, sizeof shrinks);
        add_input(&test, DIMS(b, 4, 5, c + 1));
        add_integers(&test, DIMS(0, 0, -2, 1));
        add_integers(&test, DIMS(0, 0, 0, 0));
        add_integers(&test, DIMS(1, -2, 1, 1));
        add_output(&test, DIMS(b, 2, c));
        run(&test);
        test = test_of("strided slice that adds an axis", kTfLiteBuiltinStridedSlice, strided_element, GPU_MOVES);
        set_params(&test, &widens, sizeof widens);
        add_input(&test, DIMS(b, 4, 5, 2 * c));
        add_integers(&test, DIMS(0, 0, 1, 0, 0));
        add_integers(&test, DIMS(0, 0, 0, 0, 2 * c));
        add_integers(&test, DIMS(1, 1, 1, 1, 2));
        add_output(&test, DIMS(b, 1, 5, c));
        run(&test);
    }
}

static int axis_of_params(const struct test *test)
{
    switch (test->builtin) {
    case kTfLiteBuiltinUnpack: return ((const TfLiteUnpackParams *)test->params)->axis;
    case kTfLiteBuiltinPack: return ((const TfLitePackParams *)test->params)->axis;
    case kTfLiteBuiltinConcatenation: return ((const TfLiteConcatenationParams *)test->params)->axis;
    case kTfLiteBuiltinGather: return ((const TfLiteGatherParams *)test->params)->axis;
    case kTfLiteBuiltinSplit: return integer(test, 0, 0);
    default: return integer(test, 2, 0);
    }
}

static float split_element(const struct test *test, int output, const int *at)
{
    const struct tensor *x = &test->inputs[test->builtin == kTfLiteBuiltinSplit];
    int axis = axis_of_params(test), from[4];
    memcpy(from, at, sizeof from);
    if (axis < 0) axis += x->rank;
    for (int i = 0; i < output; i++) from[axis] += test->outputs[i].dims[axis];
    return get(x, from);
}

static void test_split(void **state)
{
    (void)state;
    static const TfLiteSplitParams two = {.num_splits = 2};
    static const TfLiteSplitVParams three = {.num_splits = 3};
    EACH_SIZE(b, c) {
        for (int axis = 0; axis < 4; axis++) {
            int whole[] = {b, 3, 5, c}, part[] = {b, 3, 5, c};
            whole[axis] *= 2;
            struct test test = test_of("split", kTfLiteBuiltinSplit, split_element, GPU_MOVES);
            set_params(&test, &two, sizeof two);
            add_integers(&test, 1, &axis);
            add_input(&test, 4, whole);
            add_output(&test, 4, part);
            add_output(&test, 4, part);
            run(&test);
        }
        struct test test = test_of("split v", kTfLiteBuiltinSplitV, split_element, GPU_MOVES);
        set_params(&test, &three, sizeof three);
        add_input(&test, DIMS(b, 3, c + 6));
        add_integers(&test, DIMS(1, c, 5));
        add_integers(&test, DIMS(-1));
        add_output(&test, DIMS(b, 3, 1));
        add_output(&test, DIMS(b, 3, c));
        add_output(&test, DIMS(b, 3, 5));
        run(&test);
    }
}

static float unpack_element(const struct test *test, int output, const int *at)
{
    int axis = axis_of_params(test), from[4], n = 0;
    for (int i = 0; i < test->inputs[0].rank; i++) from[i] = i == axis ? output : at[n++];
    return get(&test->inputs[0], from);
}

static float pack_element(const struct test *test, int output, const int *at)
{
    int axis = axis_of_params(test), from[4], n = 0;
    if (axis < 0) axis += test->outputs[output].rank;
    for (int i = 0; i < test->outputs[output].rank; i++)
        if (i != axis) from[n++] = at[i];
    return get(&test->inputs[at[axis]], from);
}

static void test_pack(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int axis = 0; axis < 4; axis++) {
            int whole[] = {b, 4, 5, c}, part[3], n = 0;
            whole[axis] = 3;
            for (int i = 0; i < 4; i++)
                if (i != axis) part[n++] = whole[i];
            TfLiteUnpackParams apart = {.num = 3, .axis = axis};
            struct test test = test_of("unpack", kTfLiteBuiltinUnpack, unpack_element, GPU_MOVES);
            set_params(&test, &apart, sizeof apart);
            add_input(&test, 4, whole);
            for (int i = 0; i < 3; i++) add_output(&test, 3, part);
            run(&test);
            TfLitePackParams together = {.values_count = 3, .axis = axis == 3 ? -1 : axis};
            test = test_of("pack", kTfLiteBuiltinPack, pack_element, GPU_MOVES);
            set_params(&test, &together, sizeof together);
            for (int i = 0; i < 3; i++) add_input(&test, 3, part);
            add_output(&test, 4, whole);
            run(&test);
        }
}

static float concatenation_element(const struct test *test, int output, const int *at)
{
    int axis = axis_of_params(test), from[4], i = 0;
    (void)output;
    memcpy(from, at, sizeof from);
    for (; from[axis] >= test->inputs[i].dims[axis]; i++) from[axis] -= test->inputs[i].dims[axis];
    return get(&test->inputs[i], from);
}

static void test_concatenation(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int axis = 0; axis < 4; axis++)
            for (int parts = 1; parts <= 5; parts += 2) {
                int whole[] = {b, 2, 3, c};
                whole[axis] = 0;
                TfLiteConcatenationParams params = {.axis = axis};
                struct test test = test_of("concatenation", kTfLiteBuiltinConcatenation, concatenation_element, GPU_MOVES);
                set_params(&test, &params, sizeof params);
                for (int i = 0; i < parts; i++) {
                    int part[] = {b, 2, 3, c};
                    part[axis] += i;
                    whole[axis] += part[axis];
                    add_input(&test, 4, part);
                    test.inputs[i].constant = i == 2;
                }
                add_output(&test, 4, whole);
                run(&test);
            }
}

static float gather_element(const struct test *test, int output, const int *at)
{
    const struct tensor *x = &test->inputs[0], *indices = &test->inputs[1];
    int axis = axis_of_params(test), from[4], n = 0;
    (void)output;
    for (int i = 0; i < x->rank; i++) {
        from[i] = i == axis ? (int)get(indices, at + n) : at[n];
        n += i == axis ? indices->rank : 1;
    }
    return get(x, from);
}

static void test_gather(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int axis = 0; axis < 4; axis++) {
            int in[] = {b, 3, 4, c}, out[] = {b, 3, 4, c};
            out[axis] = 5;
            TfLiteGatherParams params = {.axis = axis};
            struct test test = test_of("gather", kTfLiteBuiltinGather, gather_element, GPU_MOVES);
            set_params(&test, &params, sizeof params);
            add_input(&test, 4, in);
            add_integers(&test, DIMS(in[axis] - 1, 0, 0, in[axis] / 2, 0));
            add_output(&test, 4, out);
            run(&test);
            if (axis == 3) continue;
            int list[] = {b, 3, c}, grid[] = {b, 3, c, 0};
            for (int i = 3; i > axis; i--) grid[i] = list[i - 1];
            grid[axis] = 3;
            grid[axis + 1] = 2;
            test = test_of("gather with a matrix of indices", kTfLiteBuiltinGather, gather_element, GPU_MOVES);
            set_params(&test, &params, sizeof params);
            add_input(&test, 3, list);
            add_integers(&test, DIMS(0, list[axis] - 1, 0, 0, list[axis] / 2, 0));
            test.inputs[1].rank = 2;
            test.inputs[1].dims[0] = 3;
            test.inputs[1].dims[1] = 2;
            add_output(&test, 4, grid);
            run(&test);
        }
}

// ---- orders and repetitions ---------------------------------------------------------------------

static float transpose_element(const struct test *test, int output, const int *at)
{
    int from[4];
    (void)output;
    for (int i = 0; i < test->inputs[0].rank; i++) from[integer(test, 1, i)] = at[i];
    return get(&test->inputs[0], from);
}

static void run_transpose(int rank, const int *in, const int *perm)
{
    struct test test = test_of("transpose", kTfLiteBuiltinTranspose, transpose_element, GPU_MOVES);
    int out[4];
    for (int i = 0; i < rank; i++) out[i] = in[perm[i]];
    add_input(&test, rank, in);
    add_integers(&test, rank, perm);
    add_output(&test, rank, out);
    run(&test);
}

static void test_transpose(void **state)
{
    (void)state;
    EACH_SIZE(b, c) {
        run_transpose(4, (int[]){b, 3, 5, c}, (int[]){0, 2, 1, 3});
        run_transpose(4, (int[]){b, 3, 5, c}, (int[]){0, 3, 1, 2});
        run_transpose(4, (int[]){b, 3, 5, c}, (int[]){3, 2, 1, 0});
        run_transpose(4, (int[]){b, 3, 5, c}, (int[]){1, 0, 2, 3});
        run_transpose(3, (int[]){b, 3, c}, (int[]){2, 0, 1});
        run_transpose(2, (int[]){b, c}, (int[]){1, 0});
    }
}

static float reverse_element(const struct test *test, int output, const int *at)
{
    int from[4];
    (void)output;
    memcpy(from, at, sizeof from);
    for (int i = 0; i < test->inputs[1].dims[0]; i++) {
        int axis = integer(test, 1, i);
        from[axis] = test->inputs[0].dims[axis] - 1 - at[axis];
    }
    return get(&test->inputs[0], from);
}

static float wrapped_element(const struct test *test, int output, const int *at)
{
    const struct tensor *x = &test->inputs[0];
    int from[4], before = test->outputs[output].rank - x->rank;
    for (int i = 0; i < x->rank; i++) from[i] = at[before + i] % x->dims[i];
    return get(x, from);
}

static void test_repeat(void **state)
{
    (void)state;
    EACH_SIZE(b, c) {
        struct test test = test_of("reverse channels", kTfLiteBuiltinReverseV2, reverse_element, GPU_MOVES);
        add_input(&test, DIMS(b, 3, 4, c));
        add_integers(&test, DIMS(3));
        add_output(&test, DIMS(b, 3, 4, c));
        run(&test);
        test = test_of("reverse others", kTfLiteBuiltinReverseV2, reverse_element, GPU_MOVES);
        add_input(&test, DIMS(b, 3, 4, c));
        add_integers(&test, DIMS(0, 2));
        add_output(&test, DIMS(b, 3, 4, c));
        run(&test);
        test = test_of("tile", kTfLiteBuiltinTile, wrapped_element, GPU_MOVES);
        add_input(&test, DIMS(1, 2, 3, c));
        add_integers(&test, DIMS(b, 2, 1, 3));
        add_output(&test, DIMS(b, 4, 3, 3 * c));
        run(&test);
        test = test_of("broadcast to", kTfLiteBuiltinBroadcastTo, wrapped_element, GPU_MOVES);
        add_input(&test, DIMS(3, 1, c));
        add_integers(&test, DIMS(b, 3, 4, c));
        add_output(&test, DIMS(b, 3, 4, c));
        run(&test);
        test = test_of("broadcast channels", kTfLiteBuiltinBroadcastTo, wrapped_element, GPU_MOVES);
        add_input(&test, DIMS(b, 3, 1));
        add_integers(&test, DIMS(b, 3, c));
        add_output(&test, DIMS(b, 3, c));
        run(&test);
    }
}

static int folded(int i, int n, bool reflect)
{
    if (i < 0) i = reflect ? -i : -i - 1;
    return i < n ? i : reflect ? 2 * n - 2 - i : 2 * n - 1 - i;
}

static float pad_element(const struct test *test, int output, const int *at)
{
    const struct tensor *x = &test->inputs[0];
    const TfLiteMirrorPaddingParams *mirror = test->params;
    int from[4];
    (void)output;
    for (int i = 0; i < x->rank; i++) {
        from[i] = at[i] - integer(test, 1, 2 * i);
        if (mirror) from[i] = folded(from[i], x->dims[i], mirror->mode == kTfLiteMirrorPaddingReflect);
        else if (from[i] < 0 || from[i] >= x->dims[i]) return test->input_count > 2 ? test->inputs[2].data[0] : 0;
    }
    return get(x, from);
}

static void run_pad(const char *name, int builtin, const TfLiteMirrorPaddingParams *mirror, const int *in, const int *by)
{
    struct test test = test_of(name, builtin, pad_element, GPU_MOVES);
    if (mirror) set_params(&test, mirror, sizeof *mirror);
    int out[4], count = 8;
    for (int i = 0; i < 4; i++) out[i] = in[i] + by[2 * i] + by[2 * i + 1];
    add_input(&test, 4, in);
    add_integers(&test, count, by);
    test.inputs[1].rank = 2;
    test.inputs[1].dims[0] = 4;
    test.inputs[1].dims[1] = 2;
    if (builtin == kTfLiteBuiltinPadv2) add_constant(&test, 0, NULL);
    add_output(&test, 4, out);
    run(&test);
}

static void test_pad(void **state)
{
    (void)state;
    static const TfLiteMirrorPaddingParams reflect = {kTfLiteMirrorPaddingReflect}, symmetric = {kTfLiteMirrorPaddingSymmetric};
    static const int around[] = {0, 0, 1, 2, 2, 1, 0, 0}, channels[] = {0, 0, 0, 1, 0, 0, 2, 1},
                     behind[] = {0, 0, 0, 0, 0, 0, 0, 2};
    EACH_SIZE(b, c) {
        const int in[] = {b, 3, 4, c};
        run_pad("pad", kTfLiteBuiltinPad, NULL, in, around);
        run_pad("pad channels", kTfLiteBuiltinPad, NULL, in, channels);
        run_pad("pad behind channels", kTfLiteBuiltinPad, NULL, in, behind);
        run_pad("pad v2", kTfLiteBuiltinPadv2, NULL, in, around);
        run_pad("pad v2 channels", kTfLiteBuiltinPadv2, NULL, in, channels);
        run_pad("reflect", kTfLiteBuiltinMirrorPad, &reflect, in, around);
        run_pad("reflect channels", kTfLiteBuiltinMirrorPad, &reflect, in, channels);
        run_pad("symmetric", kTfLiteBuiltinMirrorPad, &symmetric, in, around);
        run_pad("symmetric channels", kTfLiteBuiltinMirrorPad, &symmetric, in, channels);
    }
}

// ---- shapes -------------------------------------------------------------------------------------

static float same_element(const struct test *test, int output, const int *at)
{
    const struct tensor *y = &test->outputs[output];
    int place = 0;
    for (int i = 0; i < y->rank; i++) place = place * y->dims[i] + at[i];
    return test->inputs[0].data[place];
}

static void run_reshape(const char *name, int builtin, int in_rank, const int *in, int out_rank, const int *out)
{
    struct test test = test_of(name, builtin, same_element, GPU_MOVES);
    add_input(&test, in_rank, in);
    add_output(&test, out_rank, out);
    run(&test);
}

static void test_reshape(void **state)
{
    (void)state;
    EACH_SIZE(b, c) {
        run_reshape("reshape to a row", kTfLiteBuiltinReshape, DIMS(b, 3, 4, c), DIMS(b, 12 * c));
        run_reshape("reshape to an image", kTfLiteBuiltinReshape, DIMS(b, 12 * c), DIMS(b, 3, 4, c));
        run_reshape("reshape with the channels", kTfLiteBuiltinReshape, DIMS(b, 3, 4, c), DIMS(b, 12, c));
        run_reshape("reshape of channels", kTfLiteBuiltinReshape, DIMS(b, 3, 8, c), DIMS(b, 3, c, 8));
        run_reshape("squeeze", kTfLiteBuiltinSqueeze, DIMS(b, 1, 4, c), DIMS(b, 4, c));
        run_reshape("expand dims", kTfLiteBuiltinExpandDims, DIMS(b, 4, c), DIMS(b, 4, c, 1));
        run_reshape("dequantize", kTfLiteBuiltinDequantize, DIMS(b, 3, 4, c), DIMS(b, 3, 4, c));
        run_reshape("quantize", kTfLiteBuiltinQuantize, DIMS(b, 3, 4, c), DIMS(b, 3, 4, c));
    }
}

// [b, 1, 4, c] and [b, 4, c] are the same to the device, but not to an operator that has axes: the pass that takes reshapes out
// must leave it the rank that it was made for.
static void test_ranks(void **state)
{
    (void)state;
    struct tensor x = tensor_of(DIMS(2, 1, 4, 5)), between = tensor_of(DIMS(2, 4, 5)), y = tensor_of(DIMS(5, 2, 4));
    struct tensor perm = tensor_of(DIMS(3));
    perm.constant = true;
    memcpy(perm.data, (float[]){2, 0, 1}, 3 * sizeof(float));
    for (int d = 0; d < device_count; d++) {
        struct gpu_graph *graph = gpu_graph_create(NULL);
        assert_non_null(graph);
        struct gpu_value *in = add_value(graph, &x), *middle = add_value(graph, &between), *out = add_value(graph, &y);
        struct gpu_node *reshape = gpu_graph_add_node(graph, kTfLiteBuiltinReshape, -1);
        struct gpu_node *transpose = gpu_graph_add_node(graph, kTfLiteBuiltinTranspose, -1);
        assert_true(reshape && transpose);
        reshape->op = gpu_op_find(kTfLiteBuiltinReshape, NULL);
        transpose->op = gpu_op_find(kTfLiteBuiltinTranspose, NULL);
        in->is_input = out->is_output = true;
        gpu_graph_connect_input(reshape, in);
        gpu_graph_connect_output(reshape, middle);
        gpu_graph_connect_input(transpose, middle);
        gpu_graph_connect_input(transpose, add_value(graph, &perm));
        gpu_graph_connect_output(transpose, out);
        gpu_run_passes(graph);
        struct gpu_plan *plan = gpu_plan_create(graph, devices[d].backend->caps(devices[d].device), GPU_F32);
        assert_non_null(plan);
        struct gpu_runner *runner = gpu_runner_create(plan, devices[d].backend, devices[d].device);
        assert_non_null(runner);
        assert_true(gpu_runner_run(runner, (const float *[]){x.data}, (float *[]){y.data}));
        for (int i = 0; i < elements_of(&y); i++) {
            int at[4];
            indices_of(&y, i, at);
            assert_true(y.data[i] == get(&x, (int[]){at[1], 0, at[2], at[0]}));
        }
        gpu_runner_destroy(runner);
        gpu_plan_destroy(plan);
        gpu_graph_destroy(graph);
    }
    free(x.data);
    free(between.data);
    free(y.data);
    free(perm.data);
}

static float cast_element(const struct test *test, int output, const int *at)
{
    float v = get(&test->inputs[0], at);
    if (test->builtin == kTfLiteBuiltinLogicalNot) return v == 0;
    TfLiteType type = test->outputs[output].type;
    return type == kTfLiteInt32 ? (float)(int)v : type == kTfLiteBool ? v != 0 : v;
}

static void test_cast(void **state)
{
    (void)state;
    static const TfLiteType types[] = {kTfLiteFloat32, kTfLiteInt32, kTfLiteBool};
    EACH_SIZE(b, c)
        for (int i = 0; i < 4; i++) {
            struct test test = test_of("cast", i < 3 ? kTfLiteBuiltinCast : kTfLiteBuiltinLogicalNot, cast_element, GPU_MOVES);
            add_input(&test, DIMS(b, 3, 4, c));
            add_output(&test, DIMS(b, 3, 4, c));
            test.outputs[0].type = types[i < 3 ? i : 2];
            run(&test);
        }
}

// ---- blocks -------------------------------------------------------------------------------------

static float blocks_element(const struct test *test, int output, const int *at)
{
    const struct tensor *x = &test->inputs[0], *y = &test->outputs[output];
    int in[4] = {at[0], at[1], at[2], at[3]}, part;
    switch (test->builtin) {
    case kTfLiteBuiltinSpaceToDepth:
        part = at[3] / x->dims[3];
        return get(x, (int[]){at[0], at[1] * 2 + part / 2, at[2] * 2 + part % 2, at[3] % x->dims[3]});
    case kTfLiteBuiltinDepthToSpace:
        return get(x, (int[]){at[0], at[1] / 2, at[2] / 2, (at[1] % 2 * 2 + at[2] % 2) * y->dims[3] + at[3]});
    case kTfLiteBuiltinSpaceToBatchNd:
        part = at[0] / x->dims[0];
        in[0] = at[0] % x->dims[0];
        in[1] = at[1] * 2 + part / 3 - 1;
        in[2] = at[2] * 3 + part % 3 - 2;
        return in[1] < 0 || in[1] >= x->dims[1] || in[2] < 0 || in[2] >= x->dims[2] ? 0 : get(x, in);
    default:
        in[1] = at[1] + 1;
        in[2] = at[2] + 2;
        part = in[1] % 2 * 3 + in[2] % 3;
        return get(x, (int[]){part * y->dims[0] + at[0], in[1] / 2, in[2] / 3, at[3]});
    }
}

static void test_blocks(void **state)
{
    (void)state;
    static const TfLiteSpaceToDepthParams gathers = {2};
    static const TfLiteDepthToSpaceParams spreads = {2};
    EACH_SIZE(b, c) {
        struct test test = test_of("space to depth", kTfLiteBuiltinSpaceToDepth, blocks_element, GPU_MOVES);
        set_params(&test, &gathers, sizeof gathers);
        add_input(&test, DIMS(b, 4, 6, c));
        add_output(&test, DIMS(b, 2, 3, 4 * c));
        run(&test);
        test = test_of("depth to space", kTfLiteBuiltinDepthToSpace, blocks_element, GPU_MOVES);
        set_params(&test, &spreads, sizeof spreads);
        add_input(&test, DIMS(b, 2, 3, 4 * c));
        add_output(&test, DIMS(b, 4, 6, c));
        run(&test);
        test = test_of("space to batch", kTfLiteBuiltinSpaceToBatchNd, blocks_element, GPU_MOVES);
        add_input(&test, DIMS(b, 3, 4, c));
        add_integers(&test, DIMS(2, 3));
        add_integers(&test, DIMS(1, 2, 2, 0));
        add_output(&test, DIMS(6 * b, 3, 2, c));
        run(&test);
        test = test_of("batch to space", kTfLiteBuiltinBatchToSpaceNd, blocks_element, GPU_MOVES);
        add_input(&test, DIMS(6 * b, 3, 2, c));
        add_integers(&test, DIMS(2, 3));
        add_integers(&test, DIMS(1, 2, 2, 1));
        add_output(&test, DIMS(b, 3, 3, c));
        run(&test);
    }
}

// ---- resize -------------------------------------------------------------------------------------

static float source(int i, int in, int out, bool align, bool half)
{
    float scale = align && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    return half ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale;
}

static int limited(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static float bilinear_element(const struct test *test, int output, const int *at)
{
    const TfLiteResizeBilinearParams *params = test->params;
    const struct tensor *x = &test->inputs[0], *y = &test->outputs[output];
    float v = source(at[1], x->dims[1], y->dims[1], params->align_corners, params->half_pixel_centers);
    float u = source(at[2], x->dims[2], y->dims[2], params->align_corners, params->half_pixel_centers);
    int j = (int)floorf(v), i = (int)floorf(u);
    float sum = 0;
    for (int dy = 0; dy < 2; dy++)
        for (int dx = 0; dx < 2; dx++) {
            float part = (dy ? v - (float)j : 1 - (v - (float)j)) * (dx ? u - (float)i : 1 - (u - (float)i));
            sum += part * get(x, (int[]){at[0], limited(j + dy, x->dims[1]), limited(i + dx, x->dims[2]), at[3]});
        }
    return sum;
}

static float nearest_element(const struct test *test, int output, const int *at)
{
    const TfLiteResizeNearestNeighborParams *params = test->params;
    const struct tensor *x = &test->inputs[0], *y = &test->outputs[output];
    int from[4] = {at[0], 0, 0, at[3]};
    for (int axis = 1; axis < 3; axis++) {
        float place = source(at[axis], x->dims[axis], y->dims[axis], params->align_corners, params->half_pixel_centers);
        if (params->half_pixel_centers) place += 0.5f; // the pixel that the place lies in
        from[axis] = limited((int)floorf(params->align_corners ? place + 0.5f : place), x->dims[axis]);
    }
    return get(x, from);
}

static void test_resize(void **state)
{
    (void)state;
    static const bool ways[3][2] = {{false, false}, {true, false}, {false, true}};
    EACH_SIZE(b, c)
        for (int way = 0; way < 3; way++)
            for (int larger = 0; larger < 2; larger++) {
                int out[] = {b, larger ? 7 : 2, larger ? 8 : 3, c};
                TfLiteResizeBilinearParams smooth = {.align_corners = ways[way][0], .half_pixel_centers = ways[way][1]};
                struct test test = test_of("resize bilinear", kTfLiteBuiltinResizeBilinear, bilinear_element, GPU_BLENDS);
                set_params(&test, &smooth, sizeof smooth);
                add_input(&test, DIMS(b, 3, 4, c));
                add_integers(&test, DIMS(out[1], out[2]));
                add_output(&test, 4, out);
                run(&test);
                TfLiteResizeNearestNeighborParams sharp = {.align_corners = ways[way][0], .half_pixel_centers = ways[way][1]};
                test = test_of("resize nearest", kTfLiteBuiltinResizeNearestNeighbor, nearest_element, GPU_MOVES);
                set_params(&test, &sharp, sizeof sharp);
                add_input(&test, DIMS(b, 3, 4, c));
                add_integers(&test, DIMS(out[1], out[2]));
                add_output(&test, 4, out);
                run(&test);
            }
}

// ---- along an axis ------------------------------------------------------------------------------

static float cumsum_element(const struct test *test, int output, const int *at)
{
    const TfLiteCumsumParams *params = test->params;
    const struct tensor *x = &test->inputs[0];
    int axis = integer(test, 1, 0), from[4];
    float sum = 0;
    (void)output;
    memcpy(from, at, sizeof from);
    for (int i = 0; i < x->dims[axis]; i++) {
        bool before = params->reverse ? i > at[axis] : i < at[axis];
        from[axis] = i;
        if (before || (i == at[axis] && !params->exclusive)) sum += get(x, from);
    }
    return sum;
}

static float arg_element(const struct test *test, int output, const int *at)
{
    const struct tensor *x = &test->inputs[0];
    int axis = integer(test, 1, 0), from[4], n = 0, best = 0;
    bool smallest = test->builtin == kTfLiteBuiltinArgMin;
    (void)output;
    for (int i = 0; i < x->rank; i++) from[i] = i == axis ? 0 : at[n++];
    float value = get(x, from);
    for (int i = 1; i < x->dims[axis]; i++) {
        from[axis] = i;
        float other = get(x, from);
        if (smallest ? other >= value : other <= value) continue;
        value = other;
        best = i;
    }
    return (float)best;
}

static void test_axes(void **state)
{
    (void)state;
    EACH_SIZE(b, c)
        for (int axis = 0; axis < 4; axis++) {
            int in[] = {b, 3, 4, c}, out[3], n = 0;
            for (int i = 0; i < 4; i++)
                if (i != axis) out[n++] = in[i];
            for (int way = 0; way < 3; way++) {
                TfLiteCumsumParams params = {.exclusive = way == 1, .reverse = way == 2};
                struct test test = test_of("cumsum", kTfLiteBuiltinCumsum, cumsum_element, GPU_ROUNDS);
                set_params(&test, &params, sizeof params);
                add_input(&test, 4, in);
                add_integers(&test, 1, &axis);
                add_output(&test, 4, in);
                run(&test);
            }
            for (int least = 0; least < 2; least++) {
                struct test test = test_of(least ? "arg min" : "arg max", least ? kTfLiteBuiltinArgMin : kTfLiteBuiltinArgMax,
                                           arg_element, GPU_MOVES);
                add_input(&test, 4, in);
                add_integers(&test, 1, &axis);
                add_output(&test, 3, out);
                run(&test);
            }
        }
}

static float row_element(const struct test *test, int output, const int *at)
{
    const struct tensor *x = &test->inputs[0];
    int from[4], last = x->rank - 1;
    float sum = 0;
    (void)output;
    memcpy(from, at, sizeof from);
    for (int i = 0; i < x->dims[last]; i++) {
        from[last] = i;
        float v = get(x, from);
        sum += test->builtin == kTfLiteBuiltinLogSoftmax ? expf(v) : v * v;
    }
    return test->builtin == kTfLiteBuiltinLogSoftmax ? get(x, at) - logf(sum) : get(x, at) / sqrtf(sum);
}

static void test_rows(void **state)
{
    (void)state;
    static const TfLiteL2NormParams none = {kTfLiteActNone};
    EACH_SIZE(b, c) {
        struct test test = test_of("l2 normalization", kTfLiteBuiltinL2Normalization, row_element, GPU_FUNCTION);
        set_params(&test, &none, sizeof none);
        add_input(&test, DIMS(b, 3, 4, c + 20));
        add_output(&test, DIMS(b, 3, 4, c + 20));
        run(&test);
        test = test_of("log softmax", kTfLiteBuiltinLogSoftmax, row_element, GPU_FUNCTION);
        add_input(&test, DIMS(b, c));
        add_output(&test, DIMS(b, c));
        run(&test);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary),        cmocka_unit_test(test_broadcast), cmocka_unit_test(test_add_n),
        cmocka_unit_test(test_select),        cmocka_unit_test(test_slice),     cmocka_unit_test(test_strided_slice),
        cmocka_unit_test(test_split),         cmocka_unit_test(test_pack),      cmocka_unit_test(test_concatenation),
        cmocka_unit_test(test_gather),        cmocka_unit_test(test_transpose), cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_pad),           cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_ranks),   cmocka_unit_test(test_cast),
        cmocka_unit_test(test_blocks),        cmocka_unit_test(test_resize),    cmocka_unit_test(test_axes),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
