// SPDX-License-Identifier: Apache-2.0
// CONCATENATION along any axis, and PACK, whose parts have length 1 along a new axis. A part that lies in the output in
// one piece is computed there, if no stage follows and it begins where a buffer may. Of others, where no two parts meet
// within a slice, a dispatch for each inserts it into the output as soon as the part is there, whatever its own shape
// is. Where they meet, or if there are two parts alone, a dispatch joins two of them and writes every slice of its
// output whole; more parts are then joined as a tree. An output of the graph whose parts follow each other in the
// caller's memory, as those of detectors do, has each of them written there.
#include "gpu/ops/concatenation.h"
#include "tensorflow/lite/builtin_ops.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// AXIS: 0 b, 1 h, 2 w, 3 c. Reads the element of channel C from the part that has it.
#define PART(C, V, I)                                                                       \
    if (AXIS == AXIS_B && p.w >= head_b) V = I(read_tail(mki4(p.x, p.y, C / 4, p.w - head_b)));            \
    if (AXIS == AXIS_B && p.w < head_b) V = I(read_head(mki4(p.x, p.y, C / 4, p.w)));                   \
    if (AXIS == AXIS_H && p.y >= head_h) V = I(read_tail(mki4(p.x, p.y - head_h, C / 4, p.w)));            \
    if (AXIS == AXIS_H && p.y < head_h) V = I(read_head(mki4(p.x, p.y, C / 4, p.w)));                   \
    if (AXIS == AXIS_W && p.x >= head_w) V = I(read_tail(mki4(p.x - head_w, p.y, C / 4, p.w)));            \
    if (AXIS == AXIS_W && p.x < head_w) V = I(read_head(mki4(p.x, p.y, C / 4, p.w)));
#define SAME(v) v
#define LANE(I, NAME)                                                                       \
    real NAME = to_real(0.0f);                                                              \
    if (p.z * 4 + I < y_c) {                                                                \
        int c = p.z * 4 + I;                                                                \
        if (c < head_c) NAME = lane(read_head(mki4(p.x, p.y, c / 4, p.w)), c % 4);                 \
        if (c >= head_c) NAME = lane(read_tail(mki4(p.x, p.y, (c - head_c) / 4, p.w)), (c - head_c) % 4); \
    }

static const char body[] = GPU_TEXT_OF(
    int4 p = position();
    if (outside_y(p)) return;
    real4 v = splat4(to_real(0.0f));
    if (AXIS != AXIS_C) {
        PART(p.z * 4, v, SAME)
    } else {
        if (WHOLE == 1) {
            if (p.z < head_s) v = read_head(p);
            if (p.z >= head_s) v = read_tail(mki4(p.x, p.y, p.z - head_s, p.w));
        } else {
            GPU_LANES
            v = mk4(v0, v1, v2, v3);
        }
    }
    write_y(p, finish(v, p));
);

const struct gpu_kernel gpu_kernel_concatenate = {
    .name = "concatenate",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "head"}, {GPU_IN, "tail"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"AXIS", AXIS_C}, {"WHOLE", 0}),
    .value_names = {GPU_AXES(GPU_VALUE_NAME)},
    .epilogue = true,
    .body = body,
};

const struct gpu_kernel gpu_kernel_concatenate_codes = {
    .name = "concatenate_codes",
    .group = {32, 4, 1},
    .args = {{GPU_CODES_IN, "head"}, {GPU_CODES_IN, "tail"}, {GPU_CODES_OUT, "y"}},
    GPU_CONSTANTS({"AXIS", AXIS_C}, {"WHOLE", 0}),
    .value_names = {GPU_AXES(GPU_VALUE_NAME)},
    .moves_codes = true,
    .body = body,
};

// P_part: w, h, c, b of the elements of x in the output, P_at: where they begin. WHOLE: whole slices of x are such of the
// output.
#define FROM_X(I, NAME)                                                                     \
    real NAME = to_real(0.0f);                                                              \
    if (p.z * 4 + I < P_part.z) {                                                           \
        int c = (e + I) % x_c;                                                              \
        int r = (e + I) / x_c;                                                              \
        NAME = lane(read_x(mki4(r % x_w, (r / x_w) % x_h, c / 4, r / x_w / x_h)), c % 4);    \
    }
static const char insert_body[] = GPU_TEXT_OF(
    int slices = (P_part.z + 3) / 4;
    int4 p = mki4(GID0, GID1, GID2 % slices, GID2 / slices);
    if (p.x >= P_part.x || p.y >= P_part.y || p.w >= P_part.w) return;
    int4 q = p + P_at;
    int e = ((p.w * P_part.y + p.y) * P_part.x + p.x) * P_part.z + p.z * 4;
    if (WHOLE == 1) {
        int c = e % x_c;
        int r = e / x_c;
        write_y(q, finish(read_x(mki4(r % x_w, (r / x_w) % x_h, c / 4, r / x_w / x_h)), q));
    } else {
        FROM_X(0, v0) FROM_X(1, v1) FROM_X(2, v2) FROM_X(3, v3)
        write_y(q, finish(mk4(v0, v1, v2, v3), q));
    }
);

const struct gpu_kernel gpu_kernel_insert = {
    .name = "insert",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"part", "at"},
    GPU_CONSTANTS({"WHOLE", 0}),
    .epilogue = true,
    .body = insert_body,
};

const struct gpu_kernel gpu_kernel_insert_codes = {
    .name = "insert_codes",
    .group = {32, 4, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_CODES_OUT, "y"}},
    .params = {"part", "at"},
    GPU_CONSTANTS({"WHOLE", 0}),
    .moves_codes = true,
    .body = insert_body,
};
// clang-format on
static int axis_of(int builtin, const void *params)
{
    return builtin == kTfLiteBuiltinPack ? ((const TfLitePackParams *)params)->axis
                                         : ((const TfLiteConcatenationParams *)params)->axis;
}

static bool supported(const struct gpu_node_view *view)
{
    int inputs = view->node->inputs->size;
    if (inputs > GPU_NODE_INPUTS) return gpu_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d inputs are too many", inputs);
    int rank = gpu_view_output(view, 0)->dims->size,
        axis = axis_of(view->registration->builtin_code, view->node->builtin_data);
    return (axis >= -rank && axis < rank) ||
           gpu_refuse(view, DELEGATE_PARAMETER, -1, "axis %d of an output of rank %d", axis, rank);
}

struct part {
    const struct gpu_value *value;
    struct gpu_shape shape; // the shape under which the part is joined
    bool is_inside;         // of the output already
};

static bool join(struct gpu_plan *plan, struct part a, struct part b, struct part y, int axis,
                 const struct gpu_epilogue *epilogue)
{
    struct gpu_dispatch_desc desc = {
        .kernel = y.value->codes ? &gpu_kernel_concatenate_codes : &gpu_kernel_concatenate,
        .operands = {{.value = a.value}, {.value = b.value}, {.value = y.value}},
        .views = {a.shape, b.shape, y.shape},
        .constants = {{"AXIS", axis}, {"WHOLE", a.shape.c % 4 == 0}},
        .epilogue = epilogue,
    };
    gpu_grid_over(&desc, y.shape);
    return gpu_plan_dispatch(plan, &desc);
}

// Joins neighbors in rounds until two parts are left, which make the output.
static bool join_all(struct gpu_plan *plan, struct part *parts, int count, struct part y, int axis,
                     const struct gpu_epilogue *epilogue)
{
    while (count > 2) {
        int kept = 0;
        for (int i = 0; i < count; i += 2) {
            if (i + 1 == count) {
                parts[kept++] = parts[i];
                continue;
            }
            struct gpu_shape shape = parts[i].shape;
            *gpu_along(&shape, axis) += *gpu_along(&parts[i + 1].shape, axis);
            struct part joined = {.value = gpu_plan_scratch_like(plan, y.value, shape), .shape = shape};
            if (!joined.value || !join(plan, parts[i], parts[i + 1], joined, axis, NULL)) return false;
            parts[kept++] = joined;
        }
        count = kept;
    }
    return join(plan, parts[0], parts[1], y, axis, epilogue);
}

// Returns the shape under which parts are joined, and the axis that they are joined along. It is the shape of the
// output, unless several axes are stored as b and the axis is one of these: then it is [axes before, axis, axes
// between, c].
static struct gpu_shape joined_shape(const struct gpu_value *y, int axis, int *where)
{
    *where = gpu_axis_of(y->rank, axis);
    if (y->rank <= 4 || *where > 0) return y->shape;
    struct gpu_shape shape = {1, y->dims[axis], 1, y->shape.c};
    for (int i = 0; i < axis; i++) shape.b *= y->dims[i];
    for (int i = axis + 1; i < y->rank - 1; i++) shape.w *= y->dims[i];
    *where = 1;
    return shape;
}

// The shape under which input i is joined to an output of this shape. Its own may be another one of as many elements
// (gpu_pass_drop_reshapes).
static struct gpu_shape part_shape(const struct gpu_node *node, int i, struct gpu_shape joined, int where)
{
    int64_t others = gpu_elements(joined) / *gpu_along(&joined, where);
    *gpu_along(&joined, where) = (int)(gpu_elements(node->inputs[i]->shape) / others);
    return joined;
}

// Whether the node that computes a part can write it to its place, from `begin` on along the axis: its elements lie
// there as they lie in a value of its own.
static bool put_inside(struct gpu_plan *plan, const struct part *part, struct part y, int where, int begin)
{
    struct gpu_shape s = y.shape;
    bool one = s.b == 1 && (where == AXIS_C || gpu_slices(s) == 1) && (where != AXIS_W || s.h == 1);
    if ((where != AXIS_B && !one) || !gpu_can_view(part->value->shape, part->shape)) return false;
    size_t before = where == AXIS_C ? (size_t)begin / 4 * (size_t)(s.h * s.w) : (size_t)begin * (size_t)s.w;
    if (where == AXIS_W) before = (size_t)begin;
    if (where == AXIS_B) before *= (size_t)s.h * (size_t)gpu_slices(s);
    return gpu_plan_put_inside(plan, part->value, y.value, before);
}

// Whether parts go to their places each by itself: slices are written whole so, and it takes fewer steps one behind the
// other than joining does. Those that need no step are marked.
static bool can_insert(struct gpu_plan *plan, struct part *parts, int count, struct part y, int where, bool as_is)
{
    bool fewer = count > 2;
    for (int i = 0; i < count; i++) {
        if (where == AXIS_C && i + 1 < count && parts[i].shape.c % 4 != 0) return false;
        fewer = fewer || !gpu_can_view(parts[i].value->shape, parts[i].shape);
    }
    for (int i = 0, begin = 0; i < count && as_is; begin += *gpu_along(&parts[i++].shape, where)) {
        bool once = true;
        for (int k = 0; k < count; k++) once = once && (k == i || parts[k].value != parts[i].value);
        parts[i].is_inside = once && put_inside(plan, &parts[i], y, where, begin);
        fewer = fewer || parts[i].is_inside;
    }
    return fewer;
}

static bool insert_all(struct gpu_plan *plan, const struct part *parts, int count, struct part y, int where,
                       const struct gpu_epilogue *epilogue)
{
    int begin = 0;
    for (int i = 0; i < count; i++) {
        struct gpu_shape x = parts[i].value->shape, part = parts[i].shape;
        bool whole = x.c == part.c || (x.c % 4 == 0 && part.c % 4 == 0);
        struct gpu_dispatch_desc desc = {
            .kernel = y.value->codes ? &gpu_kernel_insert_codes : &gpu_kernel_insert,
            .operands = {{.value = parts[i].value}, {.value = y.value}},
            .views = {[1] = y.shape},
            .params = {{part.w, part.h, part.c, part.b},
                       {where == AXIS_W ? begin : 0, where == AXIS_H ? begin : 0, where == AXIS_C ? begin / 4 : 0,
                        where == AXIS_B ? begin : 0}},
            .constants = {{"WHOLE", whole}},
            .epilogue = epilogue,
            .part = true,
        };
        gpu_grid_over(&desc, part);
        if (!parts[i].is_inside && !gpu_plan_dispatch(plan, &desc)) return false;
        begin += *gpu_along(&part, where);
    }
    return true;
}

// Whether each part is one piece of the caller's dense memory, into which it can be written.
static bool are_pieces(const struct gpu_plan *plan, const struct gpu_node *node, int axis)
{
    const struct gpu_value *y = node->outputs[0];
    for (int i = 0; i < axis; i++)
        if (y->dims[i] != 1) return false;
    return node->epilogue.count == 0 && gpu_plan_may_write_dense(plan, y);
}

static bool write_pieces(struct gpu_plan *plan, const struct gpu_node *node)
{
    int first = 0;
    for (int i = 0; i < node->input_count; i++) {
        const struct gpu_shape x = node->inputs[i]->shape;
        struct gpu_dispatch_desc desc = {
            .kernel = &gpu_kernel_to_dense,
            .operands = {{.value = node->inputs[i]}, {.value = node->outputs[0], .outside = true}},
            .params = {{first}},
            .grid = {x.w * gpu_slices(x), x.h, x.b},
            .part = true,
        };
        if (!gpu_plan_dispatch(plan, &desc)) return false;
        first += (int)gpu_elements(x);
    }
    return true;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct gpu_value *y = node->outputs[0];
    if (node->input_count == 1) return gpu_plan_reshape(plan, node->inputs[0], y, &node->epilogue);
    int axis = axis_of(node->builtin, node->params), where;
    if (axis < 0) axis += y->rank;
    if (are_pieces(plan, node, axis)) return write_pieces(plan, node);
    struct gpu_shape shape = joined_shape(y, axis, &where);
    struct part parts[GPU_NODE_INPUTS];
    for (int i = 0; i < node->input_count; i++)
        parts[i] = (struct part){.value = node->inputs[i], .shape = part_shape(node, i, shape, where)};
    struct gpu_value *to = gpu_plan_target(plan, y, shape);
    if (!to) return false;
    struct part whole = {.value = to, .shape = shape};
    const struct gpu_epilogue *epilogue = to == y ? &node->epilogue : NULL;
    bool as_is = !epilogue || epilogue->count == 0;
    if (can_insert(plan, parts, node->input_count, whole, where, as_is))
        return insert_all(plan, parts, node->input_count, whole, where, epilogue) &&
               gpu_plan_written_as(plan, to, y, &node->epilogue);
    for (int i = 0; i < node->input_count; i++)
        if (!(parts[i].value = gpu_plan_seen_as(plan, parts[i].value, parts[i].shape))) return false;
    return join_all(plan, parts, node->input_count, whole, where, epilogue) &&
           gpu_plan_written_as(plan, to, y, &node->epilogue);
}

static bool has_one_input(const struct gpu_node *node)
{
    return node->input_count == 1;
}

static const struct gpu_kernel *const kernels[] = {GPU_CONCATENATION_KERNELS, NULL};
const struct gpu_op gpu_op_pack = {
    .name = "PACK",
    .max_version = 5,
    .operands = {.inputs = {1, GPU_NODE_INPUTS}, .any_rank = true},
    .supported = supported,
    .plan = plan,
    GPU_PARAMS(TfLitePackParams),
    .epilogue = true,
    .bytes = GPU_BYTES_MOVED,
    .moved_inputs = GPU_ALL_INPUTS,
    .any_shape = GPU_ALL_INPUTS,
    .kernels = kernels,
};
const struct gpu_op gpu_op_concatenation = {
    .name = "CONCATENATION",
    .max_version = 7,
    .operands = {.inputs = {1, GPU_NODE_INPUTS}, .any_rank = true},
    .supported = supported,
    .plan = plan,
    GPU_PARAMS_ACTIVATION(TfLiteConcatenationParams),
    .epilogue = true,
    .bytes = GPU_BYTES_JOINED,
    .moved_inputs = GPU_ALL_INPUTS,
    .any_shape = GPU_ALL_INPUTS,
    .axes = GPU_AXES_JOINED,
    .copies = has_one_input,
    .kernels = kernels,
};
