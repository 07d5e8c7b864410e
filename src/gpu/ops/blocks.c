// SPDX-License-Identifier: Apache-2.0
// SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND turn blocks of positions into channels or
// batches, and back. In the one kernel each element of the output computes its position in the input.
#include "gpu/ops/blocks.h"
#include "tensorflow/lite/builtin_ops.h"

#define MODES(X) X(SPACE_TO_DEPTH) X(DEPTH_TO_SPACE) X(SPACE_TO_BATCH) X(BATCH_TO_SPACE)
enum mode { MODES(GPU_VALUE) };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Finds the position (w, h, n) and the channel in the input for channel C of the output. C becomes the channel of the
// input.
#define POSITION(C)                                                              \
    if (MODE == SPACE_TO_DEPTH) {                                                          \
        int part = C / x_c;                                                   \
        w = p.x * P_block.x + part % P_block.x;                               \
        h = p.y * P_block.y + part / P_block.x;                               \
        C = C % x_c;                                                          \
    }                                                                         \
    if (MODE == DEPTH_TO_SPACE) {                                                          \
        w = p.x / P_block.x;                                                  \
        h = p.y / P_block.y;                                                  \
        C = ((p.y % P_block.y) * P_block.x + p.x % P_block.x) * y_c + C;      \
    }
#define LANE(I, NAME)                                                         \
    real NAME = to_real(0.0f);                                                \
    if (p.z * 4 + I < y_c) {                                                  \
        int c = p.z * 4 + I;                                                  \
        POSITION(c)                                                              \
        NAME = lane(read_x(mki4(w, h, c / 4, p.w)), c % 4);                   \
    }

static const char body[] = GPU_TEXT_OF(
    int4 p = position();
    if (outside_y(p)) return;
    int w = p.x;
    int h = p.y;
    real4 v = splat4(to_real(0.0f));
    if (MODE == SPACE_TO_BATCH) {
        int part = p.w / x_b;
        w = p.x * P_block.x + part % P_block.x - P_block.z;
        h = p.y * P_block.y + part / P_block.x - P_block.w;
        v = read_x_or_zero(mki4(w, h, p.z, p.w - part * x_b));
    }
    if (MODE == BATCH_TO_SPACE) {
        w = p.x - P_block.z;
        h = p.y - P_block.w;
        int part = (h % P_block.y) * P_block.x + w % P_block.x;
        v = read_x(mki4(w / P_block.x, h / P_block.y, p.z, part * y_b + p.w));
    }
    if (MODE == SPACE_TO_DEPTH || MODE == DEPTH_TO_SPACE) {
        if (WHOLE == 1) {
            int c = p.z * 4;
            POSITION(c)
            v = read_x(mki4(w, h, c / 4, p.w));
        } else {
            GPU_LANES
            v = mk4(v0, v1, v2, v3);
        }
    }
    write_y(p, finish(v, p));
);

// P_block: width and height of a block, and then the offsets on the left and at the top: paddings, or negative crops.
static const struct gpu_kernel kernel = {
    .name = "blocks",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"block"},
    GPU_CONSTANTS({"MODE", SPACE_TO_DEPTH}, {"WHOLE", 0}),
    .value_names = {MODES(GPU_VALUE_NAME)},
    .epilogue = true,
    .body = body,
};

const struct gpu_kernel gpu_kernel_blocks_codes = {
    .name = "blocks_codes",
    .group = {32, 4, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_CODES_OUT, "y"}},
    .params = {"block"},
    GPU_CONSTANTS({"MODE", SPACE_TO_DEPTH}, {"WHOLE", 0}),
    .value_names = {MODES(GPU_VALUE_NAME)},
    .moves_codes = true,
    .body = body,
};
// clang-format on

static bool plan_blocks(struct gpu_plan *plan, const struct gpu_node *node, enum mode mode, const int block[4])
{
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    struct gpu_dispatch_desc desc = {
        .kernel = y->codes ? &gpu_kernel_blocks_codes : &kernel,
        .operands = {{.value = x}, {.value = y}},
        .params = {{block[0], block[1], block[2], block[3]}},
        .constants = {{"MODE", (int)mode}, {"WHOLE", x->shape.c % 4 == 0 && y->shape.c % 4 == 0}},
        .epilogue = &node->epilogue,
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

// ---- channels -----------------------------------------------------------------------------------

static int block_size(bool gather, const void *params)
{
    return gather ? ((const TfLiteSpaceToDepthParams *)params)->block_size
                  : ((const TfLiteDepthToSpaceParams *)params)->block_size;
}

static bool depth_supported(const struct gpu_node_view *view)
{
    if (hl_is_constant(gpu_view_input(view, 0)))
        return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    if (gpu_view_input(view, 0)->dims->size != 4)
        return gpu_refuse(view, DELEGATE_RANK, 0, "the input must have rank 4");
    bool gather = view->registration->builtin_code == kTfLiteBuiltinSpaceToDepth;
    int size = block_size(gather, view->node->builtin_data);
    return size > 0 || gpu_refuse(view, DELEGATE_PARAMETER, -1, "blocks of %d", size);
}

static bool depth_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    bool gather = node->builtin == kTfLiteBuiltinSpaceToDepth;
    int size = block_size(gather, node->params);
    return plan_blocks(plan, node, gather ? SPACE_TO_DEPTH : DEPTH_TO_SPACE, (int[4]){size, size});
}

// ---- batches ------------------------------------------------------------------------------------

static bool batch_supported(const struct gpu_node_view *view)
{
    if (hl_is_constant(gpu_view_input(view, 0)))
        return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    int rank = gpu_view_input(view, 0)->dims->size;
    if (rank < 3) return gpu_refuse(view, DELEGATE_RANK, 0, "the input must have rank 3 or 4");
    if (!gpu_check_integers(view, 1, rank - 2) || !gpu_check_integers(view, 2, 2 * (rank - 2))) return false;
    for (int i = 0; i < rank - 2; i++) {
        int size = gpu_integer_at(gpu_view_input(view, 1), i);
        if (size < 1) return gpu_refuse(view, DELEGATE_PARAMETER, 1, "blocks of %d", size);
    }
    return true;
}

// At rank 3 there is only w.
static bool batch_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_value *sizes = node->inputs[1], *margins = node->inputs[2];
    bool gather = node->builtin == kTfLiteBuiltinSpaceToBatchNd;
    int w = node->inputs[0]->rank - 3, sign = gather ? 1 : -1; // the last entry is for w
    int block[4] = {gpu_constant_int(sizes, w), w ? gpu_constant_int(sizes, 0) : 1,
                    sign * gpu_constant_int(margins, 2 * w), w ? sign * gpu_constant_int(margins, 0) : 0};
    return plan_blocks(plan, node, gather ? SPACE_TO_BATCH : BATCH_TO_SPACE, block);
}

static const struct gpu_kernel *const kernels[] = {&kernel, NULL};
#define DEPTH(symbol, text, params)                                      \
    const struct gpu_op gpu_op_##symbol = {.name = text,                 \
                                           .max_version = 2,             \
                                           .operands = {.inputs = {1}},  \
                                           .supported = depth_supported, \
                                           .plan = depth_plan,           \
                                           GPU_PARAMS(params),           \
                                           .epilogue = true,             \
                                           .bytes = GPU_BYTES_MOVED,     \
                                           .rank_blind = true,           \
                                           .kernels = kernels};
DEPTH(space_to_depth, "SPACE_TO_DEPTH", TfLiteSpaceToDepthParams)
DEPTH(depth_to_space, "DEPTH_TO_SPACE", TfLiteDepthToSpaceParams)

#define BATCH(symbol, text)                                                                                            \
    const struct gpu_op gpu_op_##symbol = {.name = text,                                                               \
                                           .max_version = 4,                                                           \
                                           .operands = {.inputs = {3}, .integer_inputs = GPU_INPUT(1) | GPU_INPUT(2)}, \
                                           .supported = batch_supported,                                               \
                                           .plan = batch_plan,                                                         \
                                           .epilogue = true,                                                           \
                                           .bytes = GPU_BYTES_MOVED,                                                   \
                                           .kernels = kernels};
BATCH(space_to_batch_nd, "SPACE_TO_BATCH_ND")
BATCH(batch_to_space_nd, "BATCH_TO_SPACE_ND")
