// SPDX-License-Identifier: Apache-2.0
// What the kernels on matrix units have in common whose taps read a patch of x in shared memory (matrix_window.c,
// cooperative_window.c). In: a convolution, and the rows of a work-group's tile of positions, 16 wide. Out: the size of
// its patch, and texts that say where its vectors lie in x.
#ifndef HALITE_GPU_OPS_WINDOW_TEXT_H
#define HALITE_GPU_OPS_WINDOW_TEXT_H

#include "gpu/ops/convolve_text.h"
#include "gpu/ops/costs.h"

enum { GPU_WINDOW_TILE_W = 16, GPU_WINDOW_CHUNK = 4 }; // positions of a tile's row; input slices of a chunk

struct gpu_window_patch {
    int w, h;      // w: a multiple of the stride, whose columns lie apart by their place in a stride
    int64_t tiles; // of all images
};

static inline struct gpu_window_patch gpu_window_patch_of(const struct gpu_convolution *conv, int rows)
{
    const struct gpu_shape y = conv->y->shape;
    const int stride = conv->stride_w;
    return (struct gpu_window_patch){
        .w = (int)gpu_divide_up((GPU_WINDOW_TILE_W - 1) * stride + conv->kernel_w, stride) * stride,
        .h = (rows - 1) * stride + conv->kernel_h,
        .tiles = gpu_divide_up(y.w, GPU_WINDOW_TILE_W) * gpu_divide_up(y.h, rows) * y.b,
    };
}

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Declares the tile's place, and for TURNS vectors of a work-item, each of EACH slices at one position, the first slice
// in a chunk (slice_of; 4 or more: there is none), where that lies in x (from; below zero: outside), and the position's
// number in the patch (place). Params: step has the padding. Subgroups stand ACROSS beside each other along outputs.
#define GPU_WINDOW_PLACES(EACH)                                                                          \
    GPU_TEXT(                                                                                            \
        int rows = GROUP_Y / ACROSS * BLOCK_X;                                                           \
        int tiles_x = (y_w + 15) / 16;                                                                   \
        int tiles_y = (y_h + rows - 1) / rows;                                                           \
        int tile_row = GROUP0 / tiles_x;                                                                 \
        int batch = tile_row / tiles_y;                                                                  \
        int first_x = (GROUP0 - tile_row * tiles_x) * 16;                                                \
        int first_y = (tile_row - batch * tiles_y) * rows;                                               \
        int plane = x_w * x_h;                                                                           \
        int from[TURNS];                                                                                 \
        int place[TURNS];                                                                                \
        int slice_of[TURNS];                                                                             \
        UNROLL for (int t = 0; t < TURNS; t += 1) {                                                      \
            int vector = lid + t * (GROUP_Y * 32);                                                       \
            int slice = vector / (PATCH_W * PATCH_H) * EACH;                                             \
            int line = vector / PATCH_W % PATCH_H;                                                       \
            int column = vector % PATCH_W;                                                               \
            int ax = first_x * STRIDE + column - P_step.x;                                               \
            int ay = first_y * STRIDE + line - P_step.y;                                                 \
            bool inside = slice < 4;                                                                     \
            if (IN == IN_WINDOW) inside = inside && ax >= 0 && ay >= 0 && ax < x_w && ay < x_h;          \
            if (IN == IN_MIRROR) {                                                                       \
                ax = min(ax, (y_w - 1) * STRIDE + WINDOW_W - 1 - P_step.x);                              \
                ay = min(ay, (y_h - 1) * STRIDE + WINDOW_H - 1 - P_step.y);                              \
    ) GPU_CONV_MIRROR(ax, ay) GPU_TEXT(                                                                  \
            }                                                                                            \
            slice_of[t] = slice;                                                                         \
            from[t] = pick(inside, (batch * x_s + slice) * plane + ay * x_w + ax, -1);                   \
            place[t] = line * PATCH_W + column % STRIDE * (PATCH_W / STRIDE) + column / STRIDE;          \
        }                                                                                                \
    )
// Loads slices of the work-item's vectors of chunk C into NEXT, EACH for each vector.
#define GPU_WINDOW_LOAD(NEXT, EACH, C)                                                                   \
    GPU_TEXT(                                                                                            \
        UNROLL for (int t = 0; t < TURNS; t += 1) {                                                      \
            UNROLL for (int h = 0; h < EACH; h += 1) {                                                   \
                NEXT[t * EACH + h] = splatf4(0.0f);                                                      \
                if (from[t] >= 0 && slice_of[t] + (C) * 4 + h < x_s)                                     \
                    NEXT[t * EACH + h] = to_acc4(load_x(from[t] + ((C) * 4 + h) * plane));               \
            }                                                                                            \
        }                                                                                                \
    )
// Where the patch of a tap's first column is, beside that of the first tap.
#define GPU_WINDOW_TAP "(ty * PATCH_W + tx % STRIDE * (PATCH_W / STRIDE) + tx / STRIDE)"
// clang-format on

#endif
