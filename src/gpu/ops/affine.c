// SPDX-License-Identifier: Apache-2.0
// See affine.h. The one kernel moves slices of four channels if the channels of input and output line up, else single
// channels.
#include "gpu/ops/affine.h"
#include "gpu/ops/reshape.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Finds the position along the axis AXIS for channel C of the output.
#define POSITION(AXIS, C) pick(AXIS == AXIS_B, p.w, pick(AXIS == AXIS_H, p.y, pick(AXIS == AXIS_W, p.x, C)))
// Maps a position into [0, n) as EDGE says. A position that no EDGE applies to becomes the nearest one.
#define FOLD(i, n)                                                                          \
    if (EDGE == GPU_EDGE_REFLECT) { GPU_REFLECT(i, n) }                                                 \
    if (EDGE == GPU_EDGE_SYMMETRIC && i < 0) i = 0 - i - 1;                                                  \
    if (EDGE == GPU_EDGE_SYMMETRIC && i >= n) i = 2 * n - 1 - i;                                             \
    if (EDGE == GPU_EDGE_WRAP) i = i % n;                                                               \
    if (EDGE != GPU_EDGE_FILL) i = min(max(i, 0), n - 1);
#define INSIDE (b >= 0 && b < x_b && h >= 0 && h < x_h && w >= 0 && w < x_w && c >= 0 && c < x_c)
#define POSITIONS(C)                                                                           \
    int b = POSITION(FROM_B, C) * P_stride.x + P_offset.x;                                     \
    int h = POSITION(FROM_H, C) * P_stride.y + P_offset.y;                                     \
    int w = POSITION(FROM_W, C) * P_stride.z + P_offset.z;                                     \
    int c = POSITION(FROM_C, C) * P_stride.w + P_offset.w;                                     \
    FOLD(b, x_b) FOLD(h, x_h) FOLD(w, x_w) FOLD(c, x_c)
#define LANE(I, NAME)                                                                       \
    real NAME = to_real(fill);                                                              \
    if (p.z * 4 + I < y_c) {                                                                \
        POSITIONS(p.z * 4 + I)                                                                 \
        if (EDGE != GPU_EDGE_FILL || INSIDE) NAME = lane(read_x(mki4(w, h, c / 4, b)), c % 4);           \
    }

static const char body[] = GPU_TEXT_OF(
    int4 p = position();
    if (outside_y(p)) return;
    float fill = bits_to_float(P_fill.x);
    if (WHOLE == 1) {
        real4 v = splat4(to_real(fill));
        POSITIONS(p.z * 4)
        if (EDGE != GPU_EDGE_FILL || INSIDE) v = read_x(mki4(w, h, c / 4, b));
        write_y(p, finish(v, p));
    } else {
        GPU_LANES
        write_y(p, finish(mk4(v0, v1, v2, v3), p));
    }
);
#define TABLES                                                                              \
    .group = {32, 4, 1},                                                                    \
    .params = {"stride", "offset", "fill"},                                                 \
    GPU_CONSTANTS({"FROM_B", AXIS_B}, {"FROM_H", AXIS_H}, {"FROM_W", AXIS_W}, {"FROM_C", AXIS_C}, \
                  {"EDGE", GPU_EDGE_NONE}, {"WHOLE", 0}),                                   \
    .value_names = {GPU_AXES(GPU_VALUE_NAME), GPU_EDGES(GPU_VALUE_NAME)},                   \
    .body = body

const struct gpu_kernel gpu_kernel_affine = {
    .name = "affine",
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .epilogue = true,
    TABLES,
};

const struct gpu_kernel gpu_kernel_affine_codes = {
    .name = "affine_codes",
    .args = {{GPU_CODES_IN, "x"}, {GPU_CODES_OUT, "y"}},
    .moves_codes = true,
    TABLES,
};
// clang-format on
struct gpu_affine gpu_affine_identity(void)
{
    return (struct gpu_affine){.from = {0, 1, 2, 3}, .stride = {1, 1, 1, 1}};
}

// Returns whether the four channels of every output slice are those of one input slice.
static bool channels_line_up(const struct gpu_affine *affine, int x_channels, int y_channels)
{
    for (int axis = 0; axis < 3; axis++)
        if (affine->from[axis] == 3) return false;
    if (affine->from[3] != 3 || affine->stride[3] != 1 || affine->offset[3] % 4 != 0) return false;
    switch (affine->edge) {
    case GPU_EDGE_NONE: return true; // write masks the channels that the output does not have
    case GPU_EDGE_FILL:
        // The added channels begin and end at slices, or there are none.
        return affine->offset[3] == 0 && (x_channels == y_channels || x_channels % 4 == 0);
    default: return affine->offset[3] == 0 && x_channels == y_channels;
    }
}

bool gpu_plan_affine_as(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_value *x,
                        struct gpu_shape x_shape, struct gpu_value *y, struct gpu_shape y_shape,
                        const struct gpu_affine *affine)
{
    const struct gpu_value *from = gpu_plan_seen_as(plan, x, x_shape);
    struct gpu_value *to = gpu_plan_target(plan, y, y_shape);
    if (!from || !to) return false;
    const struct gpu_epilogue *epilogue = node ? &node->epilogue : NULL;
    struct gpu_dispatch_desc desc = {
        .kernel = y->codes ? &gpu_kernel_affine_codes : &gpu_kernel_affine,
        .operands = {{.value = from}, {.value = to}},
        .views = {x_shape, y_shape},
        .params = {{affine->stride[0], affine->stride[1], affine->stride[2], affine->stride[3]},
                   {affine->offset[0], affine->offset[1], affine->offset[2], affine->offset[3]},
                   {gpu_float_bits(affine->fill)}},
        .constants = {{"FROM_B", affine->from[0]},
                      {"FROM_H", affine->from[1]},
                      {"FROM_W", affine->from[2]},
                      {"FROM_C", affine->from[3]},
                      {"EDGE", (int)affine->edge},
                      {"WHOLE", channels_line_up(affine, x_shape.c, y_shape.c)}},
        .epilogue = to == y ? epilogue : NULL,
    };
    gpu_grid_over(&desc, y_shape);
    return gpu_plan_dispatch(plan, &desc) && gpu_plan_written_as(plan, to, y, epilogue);
}

bool gpu_plan_affine(struct gpu_plan *plan, const struct gpu_node *node, const struct gpu_value *x, struct gpu_value *y,
                     const struct gpu_affine *affine)
{
    return gpu_plan_affine_as(plan, node, x, x->shape, y, y->shape, affine);
}
