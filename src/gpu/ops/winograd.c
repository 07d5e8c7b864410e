// SPDX-License-Identifier: Apache-2.0
// See winograd.h. The output is cut into tiles of 4x4. The 6x6 inputs of a tile are transformed to 36 numbers for each
// channel. The weights, as 36 matrices, take these to 36 numbers for each output channel by a 1x1 convolution in 36
// groups. These are transformed to the tile.
//
// The polynomials are interpolated at the points 0, a, -a, b, -b and infinity with a = sqrt(1/2) and b = sqrt(2). Of
// the points tried, numbers grow least with these, so that float loses one digit. Halves would lose digits that are
// visible in images, so that the numbers are floats in every precision.
//
// Microseconds of a layer in a chain of 24 on an H100: by this algorithm, by the direct kernel, and on matrix units,
// which Vulkan has for none of these floats.
//
//     plane, channels        CUDA      Vulkan             plane, channels     CUDA      Vulkan
//     490 x 490, 32   163 191 102     171 202             56 x 56, 128    23 53 22       30 63
//     320 x 320, 64   193 336 162     178 283             56 x 56, 64     13 20  9       15 25
//     224 x 224, 64    91 220  77      86 143             28 x 28, 256    25 58 26       27 68
//     112 x 112, 64    31  53  24      40  61             14 x 14, 512    37 43 33      194 51
//     256 x 256, 16    21  14  13      27  19
//
// Since then taps share what a group loads on CUDA (matrix_window.c): Zero-DCE's seven layers of 600 x 400 positions,
// six of them with 32 or 64 channels, take an H200 506 us in place of 911.
//
// OpenCL on an H200, four layers in a row, by this and by the direct kernel: 224 x 224, 64 350 597; 112 x 112, 64 132
// 157; 56 x 56, 128 123 158. The numbers between the three kernels are 2.25 times those of x and y; writing and reading
// them is most of the time of large planes.
#include "gpu/ops/winograd.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/ops/convolve_text.h"

enum { TILE = 4, SPAN = 6, NUMBERS = SPAN * SPAN };
// What one more dispatch costs beside its step, in cycles of a compute unit (a microsecond on an H100), the bytes that
// it moves in a cycle, and four times what the products take of the model for values that lie in a cache: fitted to
// the layers above.
enum { START = 2000, MOVED = 16, PRODUCTS_TIMES_4 = 7 };
// With more weights for few positions the 36 matrices are most of what is read: 37 MB take Vulkan on an H100 190 us.
enum { MAX_WEIGHTS = 1 << 17 };

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Transforms six numbers of v that are `step` apart: the transpose of evaluating a polynomial with these coefficients
// at the six points.
#define SPREAD(at, step)                                                                  \
    GPU_TEXT({                                                                            \
        acc4 v1 = v[at + step];                                                           \
        acc4 v2 = v[at + 2 * step];                                                       \
        acc4 v3 = v[at + 3 * step];                                                       \
        acc4 v4 = v[at + 4 * step];                                                       \
        acc4 even_a = v4 - v2 * 2.0f;                                                     \
        acc4 odd_a = (v3 - v1 * 2.0f) * 0.70710678f;                                      \
        acc4 even_b = v4 - v2 * 0.5f;                                                     \
        acc4 odd_b = (v3 - v1 * 0.5f) * 1.41421356f;                                      \
        v[at] = v[at] - v2 * 2.5f + v4;                                                   \
        v[at + 5 * step] = v1 - v3 * 2.5f + v[at + 5 * step];                             \
        v[at + step] = even_a + odd_a;                                                    \
        v[at + 2 * step] = even_a - odd_a;                                                \
        v[at + 3 * step] = even_b + odd_b;                                                \
        v[at + 4 * step] = even_b - odd_b;                                                \
    })
// Transforms six numbers to the four outputs, which replace the first four.
#define GATHER(at, step)                                                                  \
    GPU_TEXT({                                                                            \
        acc4 sum_a = v[at + step] + v[at + 2 * step];                                     \
        acc4 apart_a = v[at + step] - v[at + 2 * step];                                   \
        acc4 sum_b = v[at + 3 * step] + v[at + 4 * step];                                 \
        acc4 apart_b = v[at + 3 * step] - v[at + 4 * step];                               \
        v[at] = v[at] + sum_a + sum_b;                                                    \
        v[at + step] = apart_a * 0.70710678f + apart_b * 1.41421356f;                     \
        v[at + 2 * step] = sum_a * 0.5f + sum_b * 2.0f;                                   \
        v[at + 3 * step] = apart_a * 0.35355339f + apart_b * 2.82842712f + v[at + 5 * step]; \
    })

const struct gpu_kernel gpu_kernel_winograd_in = {
    .name = "winograd_in",
    .group = {16, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"tiles"}, // tiles across and down, padding left and above
    GPU_CONSTANTS({"MIRROR", 0}), // 1: x is reflected at its borders, not padded with zeros
    .body = GPU_TEXT(
        int n = GID0;
        int s = GID1;
        if (n < y_w && s < x_s) {
            int row = n / P_tiles.x;
            int batch = row / P_tiles.y;
            int left = (n - row * P_tiles.x) * 4 - P_tiles.z;
            int top = (row - batch * P_tiles.y) * 4 - P_tiles.w;
            acc4 v[36];
            UNROLL for (int k = 0; k < 36; k += 1) {
                int px = left + k % 6;
                int py = top + k / 6;
                if (MIRROR == 1) {
    ) GPU_CONV_MIRROR(px, py) GPU_TEXT(
                }
                v[k] = to_acc4(read_x_or_zero(mki4(px, py, s, batch)));
            }
            UNROLL for (int i = 0; i < 6; i += 1)
    ) SPREAD(6 * i, 1) GPU_TEXT(
            UNROLL for (int i = 0; i < 6; i += 1)
    ) SPREAD(i, 6) GPU_TEXT(
            UNROLL for (int k = 0; k < 36; k += 1)
                store_y((k * x_s + s) * y_w + n, to_real4(v[k]));
        }
    ),
};

const struct gpu_kernel gpu_kernel_winograd_out = {
    .name = "winograd_out",
    .group = {16, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "bias"}, {GPU_OUT, "y"}},
    .params = {"tiles"}, // across and down
    .epilogue = true,
    .body = GPU_TEXT(
        int n = GID0;
        int s = GID1;
        if (n < x_w && s < y_s) {
            int row = n / P_tiles.x;
            int batch = row / P_tiles.y;
            int left = (n - row * P_tiles.x) * 4;
            int top = (row - batch * P_tiles.y) * 4;
            acc4 v[36];
            UNROLL for (int k = 0; k < 36; k += 1)
                v[k] = to_acc4(load_x((k * y_s + s) * x_w + n));
            UNROLL for (int i = 0; i < 6; i += 1)
    ) GATHER(i, 6) GPU_TEXT(
            UNROLL for (int i = 0; i < 4; i += 1)
    ) GATHER(6 * i, 1) GPU_TEXT(
            acc4 more = to_acc4(bias(s));
            UNROLL for (int k = 0; k < 16; k += 1) {
                int4 p = mki4(left + k % 4, top + k / 4, s, batch);
                acc4 sum = v[k / 4 * 6 + k % 4] + more;
                if (p.x < y_w && p.y < y_h) write_y(p, finish(to_real4(sum), p));
            }
        }
    ),
};
// clang-format on

// ---- whether -----------------------------------------------------------------------------------

struct tiles {
    int across, down;
    int64_t all;
    struct gpu_shape in, out; // 36 numbers of each channel of each tile
};

static struct tiles tiles_of(const struct gpu_convolution *conv)
{
    struct gpu_shape x = conv->x->shape, y = conv->y->shape;
    struct tiles tiles = {.across = (y.w + TILE - 1) / TILE, .down = (y.h + TILE - 1) / TILE};
    tiles.all = (int64_t)tiles.across * tiles.down * y.b;
    int width = tiles.all <= INT32_MAX ? (int)tiles.all : 0;
    tiles.in = (struct gpu_shape){1, 1, width, NUMBERS * 4 * gpu_slices(x)};
    tiles.out = (struct gpu_shape){1, 1, width, NUMBERS * 4 * gpu_slices(y)};
    return tiles;
}

static bool can_be_so(const struct gpu_plan *plan, const struct gpu_convolution *conv)
{
    bool dense = conv->stride_w == 1 && conv->stride_h == 1 && conv->dilation_w == 1 && conv->dilation_h == 1;
    bool whole = conv->grid_w == 0 && conv->spread_w <= 1 && conv->spread_h <= 1 && !conv->rows;
    bool constant = !conv->weights_value && !conv->bias_value;
    bool small = (int64_t)conv->inputs * conv->outputs <= MAX_WEIGHTS;
    bool roomy = plan->precision == GPU_F32 || plan->float_elements > 0;
    if (conv->kernel_w != 3 || conv->kernel_h != 3 || conv->groups > 1) return false;
    return roomy && dense && whole && constant && small && !conv->offset_x && !conv->offset_y;
}

static struct gpu_conv_size products_of(const struct tiles *tiles)
{
    int in = gpu_slices(tiles->in) / NUMBERS, out = gpu_slices(tiles->out);
    return (struct gpu_conv_size){
        .positions = tiles->all,
        .slices = out,
        .terms = in,
        .run = in,
        .alike = out / NUMBERS,
    };
}

// Whether kernels can access all of the numbers at once: phones and software devices end at 128 MB.
static bool is_in_range(const struct gpu_plan *plan, const struct tiles *tiles)
{
    int64_t most =
        gpu_elements(tiles->in) > gpu_elements(tiles->out) ? gpu_elements(tiles->in) : gpu_elements(tiles->out);
    return plan->caps->max_range == 0 || most <= (int64_t)(plan->caps->max_range / sizeof(float));
}

int64_t gpu_winograd_cycles(const struct gpu_plan *plan, const struct gpu_convolution *conv)
{
    if (!can_be_so(plan, conv)) return INT64_MAX;
    struct tiles tiles = tiles_of(conv);
    if (!gpu_extent_fits(tiles.in) || !gpu_extent_fits(tiles.out) || !is_in_range(plan, &tiles)) return INT64_MAX;
    tiles.all = gpu_in_first_batch(plan, tiles.all, conv->y->shape.b);
    tiles.in.w = tiles.out.w = tiles.all <= INT32_MAX ? (int)tiles.all : 0;
    if (!gpu_extent_fits(tiles.in) || !gpu_extent_fits(tiles.out)) return INT64_MAX;
    struct gpu_conv_size products = products_of(&tiles);
    int64_t moved = 2 * 16 * tiles.all * (gpu_slices(tiles.in) + gpu_slices(tiles.out));
    int64_t weights = (int64_t)NUMBERS * conv->inputs * conv->outputs * (int64_t)sizeof(float);
    return (moved + weights) / MOVED / gpu_conv_units(plan->caps) + 2 * (gpu_step_cycles(plan->caps) + START) +
           gpu_conv_cycles(plan->caps, &products) * PRODUCTS_TIMES_4 / 4;
}

// ---- the three dispatches ----------------------------------------------------------------------

// Transforms three taps to the six points. Each number is divided by its factor; infinity comes last.
static void spread_taps(const double *from, int from_step, double *to, int to_step)
{
    static const double points[SPAN - 1] = {0, 0.70710678118654752, -0.70710678118654752, 1.4142135623730950,
                                            -1.4142135623730950};
    static const double divisors[SPAN - 1] = {1, -1.5, -1.5, 6, 6};
    for (int i = 0; i < SPAN - 1; i++)
        to[i * to_step] = (from[0] + points[i] * (from[from_step] + points[i] * from[2 * from_step])) / divisors[i];
    to[(SPAN - 1) * to_step] = from[2 * from_step];
}

// Transforms the weights of output o and input i for the 36 matrices, each of so many rows and columns.
static void spread_weights(const struct gpu_convolution *conv, int o, int i, int64_t rows, int64_t columns, float *to)
{
    const float *from = conv->weights + o * conv->by_output + i * conv->by_input;
    double taps[9], half[3 * SPAN], all[NUMBERS];
    for (int k = 0; k < 9; k++) taps[k] = from[k / 3 * conv->by_h + k % 3 * conv->by_w];
    for (int row = 0; row < 3; row++) spread_taps(taps + 3 * row, 1, half + SPAN * row, 1);
    for (int column = 0; column < SPAN; column++) spread_taps(half + column, SPAN, all + column, SPAN);
    for (int k = 0; k < NUMBERS; k++) to[(k * rows + o) * columns + i] = (float)all[k];
}

static float *make_matrices(struct gpu_plan *plan, const struct gpu_convolution *conv, int64_t rows, int64_t columns)
{
    float *matrices = calloc((size_t)(NUMBERS * rows * columns), sizeof *matrices);
    if (!matrices) {
        gpu_plan_fail(plan, "no memory for the weights");
        return NULL;
    }
    for (int o = 0; o < conv->outputs; o++)
        for (int i = 0; i < conv->inputs; i++) spread_weights(conv, o, i, rows, columns, matrices);
    return matrices;
}

bool gpu_plan_winograd(struct gpu_plan *plan, const struct gpu_convolution *conv)
{
    struct tiles tiles = tiles_of(conv);
    int in = 4 * gpu_slices(conv->x->shape), out = 4 * gpu_slices(conv->y->shape);
    struct gpu_value *before = gpu_plan_scratch(plan, tiles.in), *after = gpu_plan_scratch(plan, tiles.out);
    struct gpu_weights *bias = gpu_plan_weights(plan, (size_t)out / 4);
    float *matrices = before && after && bias ? make_matrices(plan, conv, out, in) : NULL;
    if (!matrices) return false;
    before->exact = after->exact = true;
    if (conv->bias) memcpy(bias->data, conv->bias, (size_t)conv->outputs * sizeof *bias->data);
    struct gpu_dispatch_desc first = {
        .kernel = &gpu_kernel_winograd_in,
        .operands = {{.value = conv->x}, {.value = before}},
        .params = {{tiles.across, tiles.down, conv->pad_left, conv->pad_top}},
        .constants = {{"MIRROR", conv->mirrors}},
        .grid = {tiles.in.w, in / 4, 1},
    };
    struct gpu_convolution products = {
        .x = before,
        .y = after,
        .inputs = in,
        .outputs = NUMBERS * out,
        .groups = NUMBERS,
        GPU_ONE_POSITION,
        .weights = matrices,
        .by_output = in,
        .by_input = 1,
        .inner = true,
        .images = conv->y->shape.b,
    };
    struct gpu_dispatch_desc last = {
        .kernel = &gpu_kernel_winograd_out,
        .operands = {{.value = after}, {.weights = bias}, {.value = conv->y}},
        .params = {{tiles.across, tiles.down, 0, 0}},
        .grid = {tiles.out.w, out / 4, 1},
        .epilogue = plan->node ? &plan->node->epilogue : NULL,
    };
    bool done = gpu_plan_dispatch(plan, &first) && gpu_convolve(plan, &products) && gpu_plan_dispatch(plan, &last);
    free(matrices);
    return done;
}
