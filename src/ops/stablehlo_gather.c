// SPDX-License-Identifier: Apache-2.0
// STABLEHLO_GATHER and STABLEHLO_SCATTER: windows of an operand at places that a tensor of indices names.
//   GATHER   in 0: operand, in 1: start indices; out 0: the windows, of slice_sizes, starts held inside the operand.
//   SCATTER  in 0: operand, in 1: indices, in 2: updates; out 0: the operand, with each update combined with the
//   element it
//            falls on: put in its place, or added, multiplied, the larger or smaller of both; outside of the operand:
// dropped. Indices, int32 or int64: along index_vector_dim (which may be one behind the last) they name a place, whose
// numbers belong to the dimensions start_index_map (scatter_dims_to_operand_dims) of the operand. The windows' own
// dimensions are offset_dims (update_window_dims) of the result, the others of it run over the places. Dimensions
// collapsed_slice_dims (inserted_window_dims) of the operand are not among the windows' own.
// GATHER takes all types of whole bytes. SCATTER: bool, all integers (sums wrap), float16, float32, float64.
#include <string.h>

#include "base/half.h"
#include "ops/common/copy.h"
#include "runtime/calls.h"
#include "tensorflow/lite/builtin_ops.h"

// Where windows lie in operand and result.
struct places {
    const TfLiteTensor *operand, *indices;
    int rank;                           // of the result
    const int *dims;                    // of the result
    int depth;                          // numbers of an index
    int64_t depth_stride;               // elements of the indices, from one number to the next
    int64_t place_stride[HL_MAX_RANK];  // and from one position of the result to the next; 0 in window dimensions
    int64_t window_stride[HL_MAX_RANK]; // elements of the operand; 0 in the others
    int window_axis[HL_MAX_RANK];       // of the operand; -1 in the others
    int index_axis[HL_MAX_RANK];        // of the operand, for each number of an index
    int64_t operand_stride[HL_MAX_RANK];
};

static bool is_listed(const int64_t *list, int count, int64_t value)
{
    for (int i = 0; i < count; i++)
        if (list[i] == value) return true;
    return false;
}

// Different numbers in [0, rank).
static TfLiteStatus check_axes(TfLiteContext *ctx, const TfLiteNode *node, const char *name, const int64_t *list,
                               int count, int rank)
{
    for (int i = 0; i < count; i++) {
        HL_REQUIRE(ctx, node, list[i] >= 0 && list[i] < rank, "%s %lld is no dimension of %d", name, (long long)list[i],
                   rank);
        HL_REQUIRE(ctx, node, !is_listed(list, i, list[i]), "%s names dimension %lld twice", name, (long long)list[i]);
    }
    return kTfLiteOk;
}

struct axes {
    const char *window_name, *left_out_name, *map_name;
    const int64_t *window, *left_out, *map;
    int window_count, left_out_count, map_count;
    int64_t index_vector_dim;
};

// The rank of the result, and everything that follows from the options; dims of the result come later.
static TfLiteStatus set_places(TfLiteContext *ctx, const TfLiteNode *node, const struct axes *axes, struct places *p)
{
    int operand_rank = hl_rank(p->operand), index_rank = hl_rank(p->indices);
    HL_TRY(hl_require_int32_or_int64(ctx, node, p->indices, "indices"));
    HL_REQUIRE(ctx, node, axes->index_vector_dim >= 0 && axes->index_vector_dim <= index_rank,
               "index_vector_dim %lld does not fit indices of %d dimensions", (long long)axes->index_vector_dim,
               index_rank);
    int vector = (int)axes->index_vector_dim;
    p->depth = vector < index_rank ? hl_dim(p->indices, vector) : 1;
    p->rank = index_rank - (vector < index_rank) + axes->window_count;
    HL_REQUIRE(ctx, node, p->rank <= HL_MAX_RANK, "the result would have %d dimensions", p->rank);
    HL_TRY(check_axes(ctx, node, axes->window_name, axes->window, axes->window_count, p->rank));
    HL_TRY(check_axes(ctx, node, axes->left_out_name, axes->left_out, axes->left_out_count, operand_rank));
    HL_TRY(check_axes(ctx, node, axes->map_name, axes->map, axes->map_count, operand_rank));
    HL_REQUIRE(ctx, node, axes->window_count + axes->left_out_count == operand_rank,
               "%d window dimensions and %d left out do not make the operand's %d", axes->window_count,
               axes->left_out_count, operand_rank);
    HL_REQUIRE(ctx, node, p->depth == axes->map_count, "indices of %d numbers do not fit %d dimensions", p->depth,
               axes->map_count);

    struct hl_layout operand = hl_row_major(operand_rank, p->operand->dims->data);
    struct hl_layout indices = hl_row_major(index_rank, p->indices->dims->data);
    memcpy(p->operand_stride, operand.stride, sizeof p->operand_stride);
    p->depth_stride = vector < index_rank ? indices.stride[vector] : 0;
    for (int i = 0; i < p->depth; i++) p->index_axis[i] = (int)axes->map[i];
    for (int axis = 0, place = 0, window = 0; axis < p->rank; axis++) {
        p->place_stride[axis] = p->window_stride[axis] = 0;
        p->window_axis[axis] = -1;
        if (is_listed(axes->window, axes->window_count, axis)) {
            while (is_listed(axes->left_out, axes->left_out_count, window)) window++;
            p->window_axis[axis] = window;
            p->window_stride[axis] = operand.stride[window++];
        } else {
            if (place == vector) place++;
            p->place_stride[axis] = indices.stride[place++];
        }
    }
    return kTfLiteOk;
}

// The length that the result has along a dimension that runs over places.
static int place_length(const struct places *p, int64_t index_vector_dim, int axis)
{
    int place = 0;
    for (int before = 0; before < axis; before++) place += p->window_axis[before] < 0;
    return hl_dim(p->indices, place >= index_vector_dim ? place + 1 : place);
}

// The offset in indices at which the numbers of a position's index begin.
static int64_t index_at(const struct places *p, const int *at)
{
    int64_t offset = 0;
    for (int axis = 0; axis < p->rank; axis++) offset += at[axis] * p->place_stride[axis];
    return offset;
}

static void step(const struct places *p, int *at)
{
    for (int axis = p->rank - 1; axis >= 0 && ++at[axis] == p->dims[axis]; axis--) at[axis] = 0;
}

// ---- STABLEHLO_GATHER ---------------------------------------------------------------------------

static TfLiteStatus gather_places(TfLiteContext *ctx, const TfLiteNode *node, struct places *p)
{
    const TfLiteStablehloGatherParams *params = node->builtin_data;
    p->operand = hl_input(ctx, node, 0);
    p->indices = hl_input(ctx, node, 1);
    const struct axes axes = {"offset_dims",           "collapsed_slice_dims",           "start_index_map",
                              params->offset_dims,     params->collapsed_slice_dims,     params->start_index_map,
                              params->num_offset_dims, params->num_collapsed_slice_dims, params->num_start_index_map,
                              params->index_vector_dim};
    return set_places(ctx, node, &axes, p);
}

static TfLiteStatus gather_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloGatherParams *params = node->builtin_data;
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    struct places p;
    HL_TRY(gather_places(ctx, node, &p));
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_type_bits(p.operand->type) < 8) return hl_unsupported_type(ctx, node, p.operand);
    HL_REQUIRE(ctx, node, hl_same_type(p.operand, y), "the output's type %s differs from the operand's, %s",
               hl_type_name(y->type), hl_type_name(p.operand->type));
    HL_REQUIRE(ctx, node, hl_rank(y) == p.rank, "the model declares %d dimensions for the output, which has %d",
               hl_rank(y), p.rank);
    int operand_rank = hl_rank(p.operand), dims[HL_MAX_RANK];
    HL_REQUIRE(ctx, node, params->num_slice_sizes == operand_rank, "%d slice sizes for %d dimensions",
               params->num_slice_sizes, operand_rank);
    for (int axis = 0; axis < operand_rank; axis++) {
        int64_t size = params->slice_sizes[axis];
        bool collapsed = is_listed(params->collapsed_slice_dims, params->num_collapsed_slice_dims, axis);
        HL_REQUIRE(ctx, node, size >= 0 && size <= hl_dim(p.operand, axis),
                   "slice size %lld does not fit dimension %d: %d", (long long)size, axis, hl_dim(p.operand, axis));
        HL_REQUIRE(ctx, node, !collapsed || size == 1, "slice size %lld of collapsed dimension %d must be 1",
                   (long long)size, axis);
    }
    for (int axis = 0; axis < p.rank; axis++)
        dims[axis] = p.window_axis[axis] >= 0 ? (int)params->slice_sizes[p.window_axis[axis]]
                                              : place_length(&p, params->index_vector_dim, axis);
    return hl_resize(ctx, y, p.rank, dims);
}

static TfLiteStatus gather_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloGatherParams *params = node->builtin_data;
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    struct places p;
    HL_TRY(gather_places(ctx, node, &p));
    p.dims = y->dims->data;
    int bits = hl_type_bits(p.operand->type), at[HL_MAX_RANK] = {0};
    int64_t count = hl_elements(y);
    for (int64_t i = 0; i < count; i++, step(&p, at)) {
        int64_t index = index_at(&p, at), from = 0;
        for (int axis = 0; axis < p.rank; axis++) from += at[axis] * p.window_stride[axis];
        for (int k = 0; k < p.depth; k++) {
            int axis = p.index_axis[k];
            int64_t start = hl_integer_at(p.indices, index + k * p.depth_stride);
            int64_t last = hl_dim(p.operand, axis) - params->slice_sizes[axis];
            from += (start < 0 ? 0 : start > last ? last : start) * p.operand_stride[axis];
        }
        hl_copy_run(bits, 1, y->data.raw, i, hl_data(p.operand), from);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_stablehlo_gather = {
    .prepare = gather_prepare,
    .invoke = gather_invoke,
};

// ---- STABLEHLO_SCATTER --------------------------------------------------------------------------

enum combination { UPDATE, ADD, MULTIPLY, MAXIMUM, MINIMUM, UNKNOWN };

// Combines element `at` of y with element `i` of the updates.
typedef void combiner(enum combination how, void *y, int64_t at, const void *updates, int64_t i);

#define COMBINE(name, type, wide, read, write)                                                  \
    static void name(enum combination how, void *y, int64_t at, const void *updates, int64_t i) \
    {                                                                                           \
        type *to = (type *)y + at;                                                              \
        wide a = (wide)read(*to), b = (wide)read(((const type *)updates)[i]);                   \
        switch (how) {                                                                          \
        case ADD: a = a + b; break;                                                             \
        case MULTIPLY: a = a * b; break;                                                        \
        case MAXIMUM: a = read((type)write(a)) < read((type)write(b)) ? b : a; break;           \
        case MINIMUM: a = read((type)write(b)) < read((type)write(a)) ? b : a; break;           \
        default: a = b; break;                                                                  \
        }                                                                                       \
        *to = (type)write(a);                                                                   \
    }
#define AS_IS(value) (value)
COMBINE(combine_i8, int8_t, int, AS_IS, AS_IS)
COMBINE(combine_u8, uint8_t, int, AS_IS, AS_IS)
COMBINE(combine_i16, int16_t, int, AS_IS, AS_IS)
COMBINE(combine_u16, uint16_t, uint32_t, AS_IS, AS_IS)
COMBINE(combine_i32, int32_t, uint32_t, AS_IS, AS_IS)
COMBINE(combine_u32, uint32_t, uint32_t, AS_IS, AS_IS)
COMBINE(combine_i64, int64_t, uint64_t, AS_IS, AS_IS)
COMBINE(combine_u64, uint64_t, uint64_t, AS_IS, AS_IS)
COMBINE(combine_f32, float, float, AS_IS, AS_IS)
COMBINE(combine_f64, double, double, AS_IS, AS_IS)
COMBINE(combine_f16, uint16_t, float, hl_half_to_float, hl_half_from_float)
#define TRUTH(value) ((value) != 0)
COMBINE(combine_bool, uint8_t, int, TRUTH, TRUTH)

static combiner *find_combiner(TfLiteType type)
{
    switch (type) {
    case kTfLiteInt8: return combine_i8;
    case kTfLiteUInt8: return combine_u8;
    case kTfLiteInt16: return combine_i16;
    case kTfLiteUInt16: return combine_u16;
    case kTfLiteInt32: return combine_i32;
    case kTfLiteUInt32: return combine_u32;
    case kTfLiteInt64: return combine_i64;
    case kTfLiteUInt64: return combine_u64;
    case kTfLiteFloat32: return combine_f32;
    case kTfLiteFloat64: return combine_f64;
    case kTfLiteFloat16: return combine_f16;
    case kTfLiteBool: return combine_bool;
    default: return NULL;
    }
}

// The update computation: none, the update itself; else one operator.
static enum combination find_combination(const TfLiteContext *ctx, int subgraph)
{
    int nodes = hl_callee_node_count(ctx, subgraph);
    if (nodes == 0) return UPDATE;
    switch (nodes == 1 ? hl_callee_code(ctx, subgraph, 0) : -1) {
    case kTfLiteBuiltinStablehloAdd: return ADD;
    case kTfLiteBuiltinStablehloMultiply: return MULTIPLY;
    case kTfLiteBuiltinStablehloMaximum: return MAXIMUM;
    case kTfLiteBuiltinStablehloMinimum: return MINIMUM;
    default: return UNKNOWN;
    }
}

static TfLiteStatus scatter_places(TfLiteContext *ctx, const TfLiteNode *node, struct places *p)
{
    const TfLiteStablehloScatterParams *params = node->builtin_data;
    p->operand = hl_input(ctx, node, 0);
    p->indices = hl_input(ctx, node, 1);
    const struct axes axes = {
        "update_window_dims",           "inserted_window_dims",           "scatter_dims_to_operand_dims",
        params->update_window_dims,     params->inserted_window_dims,     params->scatter_dims_to_operand_dims,
        params->num_update_window_dims, params->num_inserted_window_dims, params->num_scatter_dims_to_operand_dims,
        params->index_vector_dim};
    return set_places(ctx, node, &axes, p);
}

static TfLiteStatus scatter_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloScatterParams *params = node->builtin_data;
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 1));
    struct places p;
    HL_TRY(scatter_places(ctx, node, &p));
    const TfLiteTensor *updates = hl_input(ctx, node, 2);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (!find_combiner(p.operand->type)) return hl_unsupported_type(ctx, node, p.operand);
    HL_REQUIRE(ctx, node, hl_same_type(p.operand, y) && hl_same_type(p.operand, updates),
               "operand, updates and output differ in type");
    HL_REQUIRE(
        ctx, node, find_combination(ctx, params->update_computation_subgraph_index) != UNKNOWN,
        "the update computation, subgraph %d, is neither the update itself nor one STABLEHLO_ADD, MULTIPLY, MAXIMUM "
        "or MINIMUM",
        params->update_computation_subgraph_index);
    HL_REQUIRE(ctx, node, hl_rank(updates) == p.rank, "the updates have %d dimensions instead of %d", hl_rank(updates),
               p.rank);
    for (int axis = 0; axis < p.rank; axis++) {
        int length = hl_dim(updates, axis), window = p.window_axis[axis];
        if (window >= 0)
            HL_REQUIRE(ctx, node, length <= hl_dim(p.operand, window),
                       "updates of length %d do not fit dimension %d: %d", length, window, hl_dim(p.operand, window));
        else
            HL_REQUIRE(ctx, node, length == place_length(&p, params->index_vector_dim, axis),
                       "dimension %d of the updates, %d, differs from the indices'", axis, length);
    }
    return hl_resize_like(ctx, y, p.operand);
}

// The element of the operand that an update falls on, -1 outside.
static int64_t target(const struct places *p, const int *at)
{
    int64_t position[HL_MAX_RANK] = {0}, index = index_at(p, at), element = 0;
    for (int axis = 0; axis < p->rank; axis++)
        if (p->window_axis[axis] >= 0) position[p->window_axis[axis]] = at[axis];
    for (int k = 0; k < p->depth; k++) {
        int64_t start = hl_integer_at(p->indices, index + k * p->depth_stride);
        if (start < -INT32_MAX || start > INT32_MAX) return -1;
        position[p->index_axis[k]] += start;
    }
    for (int axis = 0; axis < hl_rank(p->operand); axis++) {
        if (position[axis] < 0 || position[axis] >= hl_dim(p->operand, axis)) return -1;
        element += position[axis] * p->operand_stride[axis];
    }
    return element;
}

static TfLiteStatus scatter_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloScatterParams *params = node->builtin_data;
    const TfLiteTensor *updates = hl_input(ctx, node, 2), *y = hl_output(ctx, node, 0);
    enum combination how = find_combination(ctx, params->update_computation_subgraph_index);
    combiner *combine = find_combiner(y->type);
    struct places p;
    HL_TRY(scatter_places(ctx, node, &p));
    p.dims = updates->dims->data;
    int at[HL_MAX_RANK] = {0};
    int64_t count = hl_elements(updates);
    if (y->bytes) memcpy(y->data.raw, hl_data(p.operand), y->bytes);
    for (int64_t i = 0; i < count; i++, step(&p, at)) {
        int64_t element = target(&p, at);
        if (element >= 0) combine(how, y->data.raw, element, hl_data(updates), i);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_stablehlo_scatter = {
    .prepare = scatter_prepare,
    .invoke = scatter_invoke,
};
