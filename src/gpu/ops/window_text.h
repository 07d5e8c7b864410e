// SPDX-License-Identifier: Apache-2.0
// Texts that the kernels with a patch of x in shared memory have in common (matrix_window.c, cooperative_window.c).
// In: the constants BLOCK_X, ACROSS, IN, WINDOW_W, WINDOW_H, STRIDE, PATCH_W, PATCH_H, COLUMNS, SPREAD and TURNS, and
// lid. Out: pieces of a body that say where a work-item's vectors of the patch lie in x, and load them.
//
// Where x has one slice, or two, a chunk's four are those of COLUMNS neighboring columns, and a step has COLUMNS taps.
// Where y has one slice and SPREAD is not 1, the outputs of a step are those of SPREAD columns of taps, four for each,
// and the tiles of a subgroup stand beside each other, not below.
#ifndef HALITE_GPU_OPS_WINDOW_TEXT_H
#define HALITE_GPU_OPS_WINDOW_TEXT_H

#include "gpu/ops/convolve_text.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Declares the tile's place, and for TURNS vectors of a work-item, each of EACH slices at one position, the first slice
// in a chunk (slice_of; 4 or more: there is none), where that lies in x (from; below zero: outside; with four COLUMNS
// each slice has its own), and the position's number in the patch (place). Params: step has the padding. Subgroups stand
// ACROSS beside each other along outputs.
#define GPU_WINDOW_PLACES(EACH)                                                                          \
    GPU_TEXT(                                                                                            \
        int rows = GROUP_Y / ACROSS * pick(SPREAD > 1, 1, BLOCK_X);                                      \
        int wide = pick(SPREAD > 1, 16 * BLOCK_X - SPREAD + 1, 16);                                      \
        int tiles_x = (y_w + wide - 1) / wide;                                                           \
        int tiles_y = (y_h + rows - 1) / rows;                                                           \
        int tile_row = GROUP0 / tiles_x;                                                                 \
        int batch = tile_row / tiles_y;                                                                  \
        int first_x = (GROUP0 - tile_row * tiles_x) * wide;                                              \
        int first_y = (tile_row - batch * tiles_y) * rows;                                               \
        int plane = x_w * x_h;                                                                           \
        int from[TURNS * EACH];                                                                          \
        int place[TURNS];                                                                                \
        int slice_of[TURNS];                                                                             \
        UNROLL for (int t = 0; t < TURNS; t += 1) {                                                      \
            int vector = lid + t * (GROUP_Y * 32);                                                       \
            int slice = vector / (PATCH_W * PATCH_H) * EACH;                                             \
            int line = vector / PATCH_W % PATCH_H;                                                       \
            int column = vector % PATCH_W;                                                               \
            slice_of[t] = slice;                                                                         \
            place[t] = line * PATCH_W + column % STRIDE * (PATCH_W / STRIDE) + column / STRIDE;          \
    ) GPU_WINDOW_FIND(EACH, 0) GPU_WINDOW_FIND_MORE_OF_##EACH GPU_TEXT(                                  \
        }                                                                                                \
    )
#define GPU_WINDOW_FIND_MORE_OF_1
#define GPU_WINDOW_FIND_MORE_OF_2 GPU_TEXT(if (COLUMNS == 4) {) GPU_WINDOW_FIND(2, 1) GPU_TEXT(})

// Finds slice H of vector t.
#define GPU_WINDOW_FIND(EACH, H)                                                                         \
    GPU_TEXT_OF(                                                                                         \
        int ax##H = first_x * STRIDE + column + (slice + H) / (4 / COLUMNS) - P_step.x;                  \
        int ay##H = first_y * STRIDE + line - P_step.y;                                                  \
        if (IN == IN_MIRROR) {                                                                           \
            ax##H = min(ax##H, (y_w - 1) * STRIDE + WINDOW_W - 1 - P_step.x);                            \
            ay##H = min(ay##H, (y_h - 1) * STRIDE + WINDOW_H - 1 - P_step.y);                            \
    ) GPU_CONV_MIRROR(ax##H, ay##H) GPU_TEXT_OF(                                                         \
        }                                                                                                \
        from[t * EACH + H] = (batch * x_s + (slice + H) % (4 / COLUMNS)) * plane + ay##H * x_w + ax##H;  \
        if (slice >= 4) from[t * EACH + H] = -1;                                                         \
        if (IN == IN_WINDOW && (ax##H < 0 || ay##H < 0 || ax##H >= x_w || ay##H >= x_h))                 \
            from[t * EACH + H] = -1;                                                                     \
    )

// Loads slices of the work-item's vectors of chunk C into NEXT, EACH for each vector.
#define GPU_WINDOW_LOAD(NEXT, EACH, C)                                                                   \
    GPU_TEXT(                                                                                            \
        UNROLL for (int t = 0; t < TURNS; t += 1) {                                                      \
            UNROLL for (int h = 0; h < EACH; h += 1) {                                                   \
                int at = from[t * EACH];                                                                 \
                int ahead = ((C) * 4 + h) * plane;                                                       \
                if (COLUMNS == 4) {                                                                      \
                    at = from[t * EACH + h];                                                             \
                    ahead = 0;                                                                           \
                }                                                                                        \
                NEXT[t * EACH + h] = splatf4(0.0f);                                                      \
                if (at >= 0 && (COLUMNS > 1 || slice_of[t] + (C) * 4 + h < x_s))                         \
                    NEXT[t * EACH + h] = to_acc4(load_x(at + ahead));                                    \
            }                                                                                            \
        }                                                                                                \
    )
// Where the patch of a tap is, beside that of the first tap.
#define GPU_WINDOW_TAP "(ty * PATCH_W + tx * COLUMNS % STRIDE * (PATCH_W / STRIDE) + tx * COLUMNS / STRIDE)"
// clang-format on

#endif
