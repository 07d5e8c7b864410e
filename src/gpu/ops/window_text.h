// SPDX-License-Identifier: Apache-2.0
// Texts that the kernels with a patch of x in shared memory have in common (matrix_window.c, cooperative_window.c).
// In: the constants BLOCK_X, ACROSS, IN, WINDOW_W, WINDOW_H, STRIDE, PATCH_W, PATCH_H and TURNS, and lid. Out: pieces
// of a body that say where a work-item's vectors of the patch lie in x, and load them.
#ifndef HALITE_GPU_OPS_WINDOW_TEXT_H
#define HALITE_GPU_OPS_WINDOW_TEXT_H

#include "gpu/ops/convolve_text.h"

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
