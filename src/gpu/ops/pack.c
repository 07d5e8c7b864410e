// SPDX-License-Identifier: Apache-2.0
// See gpu_plan_packed in convolve.h. In the one kernel each vector of the stream computes which weights it consists of.
// Where weights and bias are constants, the CPU packs them once, while planning.
#include "gpu/ops/convolve.h"
#include "gpu/ops/index.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define LANE(I, NAME)                                                                                        \
    real NAME = to_real(0.0f);                                                                               \
    if (o + I < P_from.y && row == 0 && P_from.w == 1) NAME = GPU_ELEMENT(bias, (o + I));                    \
    if (o + I < P_from.y && row > 0 && channel < P_from.z) NAME = GPU_ELEMENT(k, (first + (o + I) * P_by.x));

const struct gpu_kernel gpu_kernel_pack = {
    .name = "pack",
    .group = {64, 1, 1},
    .args = {{GPU_IN, "k"}, {GPU_IN, "bias"}, {GPU_OUT, "y"}},
    // stream: vectors of a row, rows in all and of a tap, taps along x; by: elements of k from one output, tap along y
    // and along x, and input to the next; from: the first element, outputs, inputs, whether there is a bias
    .params = {"stream", "by", "from"},
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        int i = p.y * y_w + p.x;
        int row = i / P_stream.x % P_stream.y;
        int o = 4 * (i / (P_stream.x * P_stream.y) * P_stream.x + i % P_stream.x);
        int tap = max(row - 1, 0) / P_stream.z;
        int channel = max(row - 1, 0) % P_stream.z;
        int first = P_from.x + tap / P_stream.w * P_by.y + tap % P_stream.w * P_by.z + channel * P_by.w;
        GPU_LANES
        write_y(p, mk4(v0, v1, v2, v3));
    ),
};
// clang-format on

// The width of the grid in vectors. With the rows that every device allows it is enough for all weights that
// gpu_check_weights accepts.
enum { WIDTH = 1 << 14 };

void gpu_set_weights(struct gpu_convolution *conv, const struct gpu_value *weights, const struct gpu_value *bias,
                     int64_t first)
{
    if (weights->data && (!bias || bias->data)) {
        conv->weights = weights->data + first;
        conv->bias = bias ? bias->data : NULL;
    } else {
        conv->weights_value = weights;
        conv->bias_value = bias;
        conv->first = first;
    }
}

const struct gpu_value *gpu_plan_packed(struct gpu_plan *plan, const struct gpu_convolution *conv, int tile,
                                        int rows_per_tap, int streams)
{
    int taps = conv->kernel_w * conv->kernel_h, rows = taps * rows_per_tap + 1, vectors = streams * rows * tile;
    int width = vectors < WIDTH ? vectors : WIDTH;
    const struct gpu_value *weights = conv->weights_value, *bias = conv->bias_value;
    struct gpu_value *packed = gpu_plan_scratch(plan, (struct gpu_shape){1, (vectors + width - 1) / width, width, 4});
    if (!packed) return NULL;
    struct gpu_dispatch_desc desc = {
        .kernel = &gpu_kernel_pack,
        .operands = {{.value = weights}, {.value = bias ? bias : weights}, {.value = packed}},
        .params = {{tile, rows, rows_per_tap, taps ? conv->kernel_w : 1},
                   {(int)conv->by_output, (int)conv->by_h, (int)conv->by_w, (int)conv->by_input},
                   {(int)conv->first, conv->outputs, conv->inputs, bias != NULL}},
    };
    gpu_grid_over(&desc, packed->shape);
    return gpu_plan_dispatch(plan, &desc) ? packed : NULL;
}
