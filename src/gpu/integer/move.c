// SPDX-License-Identifier: Apache-2.0
// Elements that move: RESHAPE and all operators that say where each output element comes from by axes with a stride.
#include "gpu/integer/integer.h"

#include "gpu/ops/reshape.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// The input element of output element `e`; -1: there is none.
#define FIND \
    int from = P_move.y; \
    int outside = 0; \
    for (int i = 0; i < P_move.x; i += 1) { \
        int4 axis = axes(i); \
        int at = e % axis.x - axis.w; \
        e = e / axis.x; \
        if (at < 0 || at >= axis.z) outside = 1; \
        from += at * axis.y; \
    } \
    int c = from % x_c; \
    int r = from / x_c;

const struct gpu_kernel gpu_kernel_move_codes = {
    .name = "move_codes",
    .group = {32, 4, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_INTS, "axes"}, {GPU_CODES_OUT, "y"}},
    .params = {"move"}, // how many axes, the first element, the code of elements that are outside
    GPU_CONSTANTS({"WHOLE", 0}), // the four elements of a slice follow each other in one slice of x
    .integers = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        int first = ((p.w * y_h + p.y) * y_w + p.x) * y_c + p.z * 4;
        int four = 0;
        if (WHOLE == 1) {
            int e = first;
            FIND
            four = P_move.z;
            if (outside == 0) four = read_x(mki4(r % x_w, (r / x_w) % x_h, c / 4, r / x_w / x_h));
        } else {
            for (int n = 0; n < 4; n += 1) {
                int e = first + min(n, y_c - p.z * 4 - 1);
                FIND
                int one = P_move.z;
                if (outside == 0) one = read_x(mki4(r % x_w, (r / x_w) % x_h, c / 4, r / x_w / x_h)) >> (c % 4 * 8);
                four = four | ((one & 255) << (8 * n));
            }
        }
        write_y(p, four);
    ),
};
// clang-format on

static bool moves_slices(const struct gpu_code_move *move, struct gpu_shape x, struct gpu_shape y)
{
    const struct gpu_code_axis *inner = &move->axes[move->count - 1];
    bool whole = x.c % 4 == 0 && y.c % 4 == 0 && inner->stride == 1 && inner->size % 4 == 0 && inner->length % 4 == 0 &&
                 inner->before % 4 == 0 && move->base % 4 == 0;
    for (int i = 0; i + 1 < move->count; i++) whole = whole && move->axes[i].stride % 4 == 0;
    return whole;
}

bool gpu_plan_move(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                   const struct gpu_code_move *move)
{
    struct gpu_weights *axes = gpu_plan_integers(plan, (size_t)move->count);
    if (!axes) return false;
    for (int i = 0; i < move->count; i++) {
        const struct gpu_code_axis *axis = &move->axes[move->count - 1 - i];
        int32_t *to = axes->integers + 4 * i;
        to[0] = axis->size;
        to[1] = axis->stride;
        to[2] = axis->length;
        to[3] = axis->before;
    }
    struct gpu_dispatch_desc desc = {
        .kernel = &gpu_kernel_move_codes,
        .operands = {{.value = x}, {.weights = axes}, {.value = y}},
        .params = {{move->count, move->base, (int32_t)((uint32_t)(move->fill & 255) * 0x01010101u)}},
        .constants = {{"WHOLE", moves_slices(move, x->shape, y->shape)}},
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}

bool gpu_plan_reshape_codes(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y)
{
    int count = (int)gpu_elements(y->shape);
    struct gpu_code_move move = {.count = 1, .axes = {{count, 1, count, 0}}};
    return gpu_plan_move(plan, x, y, &move);
}

const struct gpu_value *gpu_plan_codes_seen_as(struct gpu_plan *plan, const struct gpu_value *x, struct gpu_shape shape)
{
    if (gpu_can_view(x->shape, shape)) return x;
    struct gpu_value *copy = gpu_plan_scratch_codes(plan, shape);
    if (!copy) return NULL;
    copy->quantization = x->quantization;
    return gpu_plan_reshape_codes(plan, x, copy) ? copy : NULL;
}

// ---- RESHAPE, SQUEEZE, EXPAND_DIMS --------------------------------------------------------------

static bool supported_reshape(const struct gpu_node_view *view)
{
    return gpu_check_unary_codes(view);
}

static bool plan_reshape(struct gpu_plan *plan, const struct gpu_node *node)
{
    return gpu_plan_reshape_codes(plan, node->inputs[0], node->outputs[0]);
}

#define SHAPED(symbol, text, version)                                                        \
    const struct gpu_op gpu_integer_##symbol = {GPU_INTEGER_OP(text, version),               \
                                                .operands = {.inputs = {1, 2},               \
                                                             .integer_inputs = GPU_INPUT(1), \
                                                             .any_rank = true},              \
                                                .supported = supported_reshape,              \
                                                .plan = plan_reshape,                        \
                                                .rank_blind = true,                          \
                                                .copies = gpu_always,                        \
                                                GPU_KERNELS(&gpu_kernel_move_codes)};
SHAPED(reshape, "RESHAPE", 1)
SHAPED(squeeze, "SQUEEZE", 2)
SHAPED(expand_dims, "EXPAND_DIMS", 1)
