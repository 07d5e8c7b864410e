// SPDX-License-Identifier: Apache-2.0
// Windows of any rank that slide over x, each reduced to one value: y[i] = init o x[taps of window i].
//   REDUCE_WINDOW            in 0: x, in 1: init, one element, in 2, 3, 4: lengths, strides and dilations of the
//   window, int64
//                            [rank], constant. o: add, mul, min, max, all, any.
//   STABLEHLO_REDUCE_WINDOW  in 0: x, in 1: init. The window is in the options, with a padding (negative: elements cut
//   off) and
//                            a dilation of x itself; what they add holds init. o is the only operator of a subgraph.
// out 0: y, of x's type: bool, int8, uint8, int16, int32, int64 (sums and products wrap), float32, float64. All and any
// give 1 or 0; of bool, a sum is any, a product all.
#include <string.h>

#include "ops/op.h"
#include "runtime/calls.h"
#include "tensorflow/lite/builtin_ops.h"

// Makes a value of it and `count` elements of x, from element `at` on, `step` apart.
typedef void reducer(void *value, const void *x, int64_t at, int64_t step, int64_t count);

struct axis {
    int dimension; // of x and y
    int in, out, window;
    int64_t spread;           // dilation of x
    int64_t padding;          // in front
    int64_t stride, dilation; // of the window
    int64_t elements;         // of x, from one position to the next
    int64_t below;            // taps that each tap of this axis stands for
};

struct reduce_window {
    reducer *reduce;
    int rank;
    struct axis axes[HL_MAX_RANK]; // in the order of the loops: the longest window is the innermost
};

// ---- reducers -----------------------------------------------------------------------------------

#define REDUCER(name, type, expression)                                                   \
    static void name(void *value, const void *x, int64_t at, int64_t step, int64_t count) \
    {                                                                                     \
        type a = *(type *)value;                                                          \
        for (int64_t i = 0; i < count; i++, at += step) {                                 \
            type b = ((const type *)x)[at];                                               \
            a = (type)(expression);                                                       \
        }                                                                                 \
        *(type *)value = a;                                                               \
    }
#define REDUCERS(name, type, wide)               \
    REDUCER(add_##name, type, (wide)a + (wide)b) \
    REDUCER(mul_##name, type, (wide)a *(wide)b)  \
    REDUCER(min_##name, type, b < a ? b : a)     \
    REDUCER(max_##name, type, a < b ? b : a)     \
    REDUCER(all_##name, type, a != 0 && b != 0)  \
    REDUCER(any_##name, type, a != 0 || b != 0)
REDUCERS(i8, int8_t, int)
REDUCERS(u8, uint8_t, int)
REDUCERS(i16, int16_t, int)
REDUCERS(i32, int32_t, uint32_t)
REDUCERS(i64, int64_t, uint64_t)
REDUCERS(f32, float, float)
REDUCERS(f64, double, double)

static reducer *find_reducer(TfLiteType type, enum TfLiteReduceWindowFunction function)
{
    enum { FUNCTIONS = TfLiteReduceWindowFunctionAny + 1 };
#define ROW(add, mul, min, max, name)                                                                   \
    {                                                                                                   \
        [TfLiteReduceWindowFunctionAdd] = add##_##name, [TfLiteReduceWindowFunctionMul] = mul##_##name, \
        [TfLiteReduceWindowFunctionMin] = min##_##name, [TfLiteReduceWindowFunctionMax] = max##_##name, \
        [TfLiteReduceWindowFunctionAll] = all_##name, [TfLiteReduceWindowFunctionAny] = any_##name      \
    }
    static reducer *const table[][FUNCTIONS] = {
        [kTfLiteBool] = ROW(any, all, all, any, u8),     [kTfLiteInt8] = ROW(add, mul, min, max, i8),
        [kTfLiteUInt8] = ROW(add, mul, min, max, u8),    [kTfLiteInt16] = ROW(add, mul, min, max, i16),
        [kTfLiteInt32] = ROW(add, mul, min, max, i32),   [kTfLiteInt64] = ROW(add, mul, min, max, i64),
        [kTfLiteFloat32] = ROW(add, mul, min, max, f32), [kTfLiteFloat64] = ROW(add, mul, min, max, f64),
    };
#undef ROW
    bool known = (unsigned)type < sizeof table / sizeof *table && (unsigned)function < FUNCTIONS;
    return known ? table[type][function] : NULL;
}

// ---- prepare ------------------------------------------------------------------------------------

static TfLiteStatus check_tensors(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *init = hl_input(ctx, node, 1), *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, hl_same_type(x, init) && hl_same_type(x, y), "input, init value and output differ in type");
    HL_REQUIRE(ctx, node, hl_rank(x) >= 1, "the input must have a dimension");
    HL_REQUIRE(ctx, node, hl_elements(init) == 1, "the init value has %lld elements instead of one",
               (long long)hl_elements(init));
    return kTfLiteOk;
}

// Windows that fit into x as spread and padded. What an array of that size could not hold is refused.
static TfLiteStatus set_axis(TfLiteContext *ctx, TfLiteNode *node, int axis, int64_t window, int64_t stride,
                             int64_t dilation, int64_t spread, int64_t before, int64_t after)
{
    enum { LONGEST = INT32_MAX };
    struct reduce_window *op = node->user_data;
    int in = hl_dim(hl_input(ctx, node, 0), axis);
    HL_REQUIRE(ctx, node, window >= 1 && stride >= 1 && dilation >= 1 && spread >= 1,
               "dimension %d: window %lld, stride %lld and dilations %lld and %lld must be positive", axis,
               (long long)window, (long long)stride, (long long)dilation, (long long)spread);
    bool sane = window <= LONGEST && stride <= LONGEST && dilation <= LONGEST && spread <= LONGEST &&
                before >= -LONGEST && before <= LONGEST && after >= -LONGEST && after <= LONGEST;
    int64_t spread_in = sane && in > 0 ? ((int64_t)in - 1) * spread + 1 : 0;
    int64_t padded = sane ? spread_in + before + after : 0, reach = sane ? (window - 1) * dilation + 1 : 0;
    HL_REQUIRE(ctx, node, sane && padded <= LONGEST,
               "dimension %d: numbers too large: window %lld, padding %lld and %lld", axis, (long long)window,
               (long long)before, (long long)after);
    HL_REQUIRE(ctx, node, padded > 0 || in == 0, "dimension %d: padding %lld and %lld leaves nothing", axis,
               (long long)before, (long long)after);
    op->axes[axis] = (struct axis){
        .dimension = axis,
        .in = in,
        .out = padded >= reach ? (int)((padded - reach) / stride + 1) : 0,
        .window = (int)window,
        .spread = spread,
        .padding = before,
        .stride = stride,
        .dilation = dilation,
    };
    return kTfLiteOk;
}

static TfLiteStatus finish_axes(TfLiteContext *ctx, TfLiteNode *node)
{
    struct reduce_window *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    int dims[HL_MAX_RANK], last = hl_rank(x) - 1, longest = last;
    int64_t elements = 1;
    bool empty = false;
    op->rank = hl_rank(x);
    for (int axis = last; axis >= 0; axis--) {
        op->axes[axis].elements = elements;
        dims[axis] = op->axes[axis].out;
        empty |= dims[axis] == 0;
        elements *= hl_dim(x, axis);
        if (op->axes[axis].window > op->axes[longest].window) longest = axis;
    }
    struct axis inner = op->axes[longest];
    op->axes[longest] = op->axes[last];
    op->axes[last] = inner;

    size_t taps = 1;
    for (int axis = last; axis >= 0 && !empty; axis--) {
        op->axes[axis].below = (int64_t)taps;
        HL_REQUIRE(ctx, node, hl_mul_size(taps, (size_t)op->axes[axis].window, &taps) && taps <= PTRDIFF_MAX,
                   "the window has too many positions");
    }
    return hl_resize(ctx, hl_output(ctx, node, 0), op->rank, dims);
}

// ---- invoke -------------------------------------------------------------------------------------

struct reduction {
    const struct reduce_window *op;
    const void *x, *init;
    void *value;
    int at[HL_MAX_RANK]; // output position
};

// Window taps of this axis and those below it, for positions of x from element `from` on.
static void reduce_axis(const struct reduction *r, int axis, int64_t from)
{
    const struct axis *a = &r->op->axes[axis];
    reducer *reduce = r->op->reduce;
    int64_t start = r->at[a->dimension] * a->stride - a->padding;
    if (axis == r->op->rank - 1 && a->spread == 1) { // a run of elements
        int64_t first = start < 0 ? (-start + a->dilation - 1) / a->dilation : 0;
        int64_t end = start < a->in ? (a->in - start + a->dilation - 1) / a->dilation : 0;
        if (end > a->window) end = a->window;
        if (first > end) first = end;
        reduce(r->value, r->init, 0, 0, a->window - (end - first));
        reduce(r->value, r->x, from + (start + first * a->dilation) * a->elements, a->dilation * a->elements,
               end - first);
        return;
    }
    for (int tap = 0; tap < a->window; tap++) {
        int64_t position = start + tap * a->dilation;
        bool inside = position >= 0 && position % a->spread == 0 && position / a->spread < a->in;
        int64_t here = inside ? from + position / a->spread * a->elements : 0;
        if (!inside)
            reduce(r->value, r->init, 0, 0, a->below);
        else if (axis == r->op->rank - 1)
            reduce(r->value, r->x, here, 0, 1);
        else
            reduce_axis(r, axis + 1, here);
    }
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct reduce_window *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    size_t size = hl_type_size(x->type);
    struct reduction r = {.op = op, .x = hl_data(x), .init = hl_data(hl_input(ctx, node, 1)), .value = y->data.raw};
    int64_t count = hl_elements(y);
    for (int64_t i = 0; i < count; i++) {
        memcpy(r.value, r.init, size);
        reduce_axis(&r, 0, 0);
        r.value = (char *)r.value + size;
        for (int axis = op->rank - 1; axis >= 0 && ++r.at[axis] == hl_dim(y, axis); axis--) r.at[axis] = 0;
    }
    return kTfLiteOk;
}

static double work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct reduce_window *op = node->user_data;
    double taps = 1;
    for (int axis = 0; axis < op->rank; axis++) taps *= op->axes[axis].window;
    return taps * (double)hl_elements(hl_output(ctx, node, 0));
}

// ---- REDUCE_WINDOW ------------------------------------------------------------------------------

static TfLiteStatus window_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteReduceWindowParams *params = node->builtin_data;
    struct reduce_window *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 5, 5, 1));
    HL_TRY(check_tensors(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    op->reduce = find_reducer(x->type, params->reduce_function);
    HL_REQUIRE(ctx, node, op->reduce, "function %d is not supported for %s", (int)params->reduce_function,
               hl_type_name(x->type));
    for (int i = 2; i < 5; i++) {
        const TfLiteTensor *list = hl_input(ctx, node, i);
        HL_REQUIRE(ctx, node, list->type == kTfLiteInt64, "input %d is %s, it must be int64", i,
                   hl_type_name(list->type));
        HL_REQUIRE(ctx, node, hl_is_constant(list), "input %d must be constant", i);
        HL_REQUIRE(ctx, node, hl_rank(list) == 1 && hl_dim(list, 0) == hl_rank(x),
                   "input %d must hold a number for each of %d dimensions", i, hl_rank(x));
    }
    const int64_t *window = HL_IN(int64_t, hl_input(ctx, node, 2)), *strides = HL_IN(int64_t, hl_input(ctx, node, 3));
    const int64_t *dilations = HL_IN(int64_t, hl_input(ctx, node, 4));
    for (int axis = 0; axis < hl_rank(x); axis++)
        HL_TRY(set_axis(ctx, node, axis, window[axis], strides[axis], dilations[axis], 1, 0, 0));
    return finish_axes(ctx, node);
}

const struct hl_op hl_op_reduce_window = {
    .state_size = sizeof(struct reduce_window),
    .prepare = window_prepare,
    .invoke = invoke,
    .work = work,
};

// ---- STABLEHLO_REDUCE_WINDOW --------------------------------------------------------------------

static enum TfLiteReduceWindowFunction function_of(int code)
{
    switch (code) {
    case kTfLiteBuiltinStablehloAdd:
    case kTfLiteBuiltinAdd: return TfLiteReduceWindowFunctionAdd;
    case kTfLiteBuiltinStablehloMultiply:
    case kTfLiteBuiltinMul: return TfLiteReduceWindowFunctionMul;
    case kTfLiteBuiltinStablehloMinimum:
    case kTfLiteBuiltinMinimum: return TfLiteReduceWindowFunctionMin;
    case kTfLiteBuiltinStablehloMaximum:
    case kTfLiteBuiltinMaximum: return TfLiteReduceWindowFunctionMax;
    case kTfLiteBuiltinStablehloAnd:
    case kTfLiteBuiltinLogicalAnd: return TfLiteReduceWindowFunctionAll;
    case kTfLiteBuiltinStablehloOr:
    case kTfLiteBuiltinLogicalOr: return TfLiteReduceWindowFunctionAny;
    default: return TfLiteReduceWindowFunctionUnsupported;
    }
}

static TfLiteStatus stablehlo_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloReduceWindowParams *params = node->builtin_data;
    struct reduce_window *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    HL_TRY(check_tensors(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    int nodes = hl_callee_node_count(ctx, params->body_subgraph_index);
    HL_REQUIRE(ctx, node, nodes == 1, "the body, subgraph %d, must have one operator, it has %d",
               params->body_subgraph_index, nodes);
    op->reduce = find_reducer(x->type, function_of(hl_callee_code(ctx, params->body_subgraph_index, 0)));
    HL_REQUIRE(ctx, node, op->reduce, "the operator of the body, subgraph %d, is not supported for %s",
               params->body_subgraph_index, hl_type_name(x->type));
    HL_REQUIRE(ctx, node, hl_rank(x) <= TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT,
               "%d dimensions are too many", hl_rank(x));
    for (int axis = 0; axis < hl_rank(x); axis++)
        HL_TRY(set_axis(ctx, node, axis, params->window_dimensions[axis], params->window_strides[axis],
                        params->window_dilations[axis], params->base_dilations[axis], params->padding[2 * axis],
                        params->padding[2 * axis + 1]));
    return finish_axes(ctx, node);
}

const struct hl_op hl_op_stablehlo_reduce_window = {
    .state_size = sizeof(struct reduce_window),
    .prepare = stablehlo_prepare,
    .invoke = invoke,
    .work = work,
};
