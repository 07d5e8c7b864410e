// SPDX-License-Identifier: Apache-2.0
// Texts that the kernels of convolutions have in common: how a position number, counted over the grid and the batches,
// becomes a position in x and in y. In: the kernel's params "sum", "step", "space" and "grid", and its constants OUT
// and IN. Out: pieces of a body, in the dialect.
#ifndef HALITE_GPU_OPS_CONVOLVE_TEXT_H
#define HALITE_GPU_OPS_CONVOLVE_TEXT_H

#include "gpu/ops/convolve.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Values of OUT. OUT_SPREAD: by stride and offset. OUT_SAME: y counts its positions in the same way, as one row for
// each batch. OUT_ROWS: position n is batch n. Values of IN. IN_WINDOW: the taps may be outside of x. IN_POINT: there is
// one tap, which is always inside. IN_SAME: x counts its positions in the same way. IN_MIRROR: as IN_WINDOW, but x is
// reflected at its borders, not padded with zeros.
#define GPU_CONV_OUTS(X) X(OUT_SPREAD) X(OUT_SAME) X(OUT_ROWS)
#define GPU_CONV_INS(X) X(IN_WINDOW) X(IN_POINT) X(IN_SAME) X(IN_MIRROR)
enum { GPU_CONV_OUTS(GPU_VALUE) };
enum { GPU_CONV_INS(GPU_VALUE) };

// Declares p, where output slice o of a position lies in y.
#define GPU_CONV_PLACE_IN_Y                                                             \
    GPU_TEXT(                                                                           \
        int4 p = mki4(position, 0, o, 0);                                               \
        if (OUT == OUT_ROWS) p = mki4(0, 0, o, position);                               \
        if (OUT == OUT_SAME && y_b > 1) {                                               \
            p.w = position / y_w;                                                       \
            p.x = position - p.w * y_w;                                                 \
        }                                                                               \
        if (OUT == OUT_SPREAD) {                                                        \
            int row = position / P_grid.x;                                              \
            p.w = row / P_grid.y;                                                       \
            p.x = (position - row * P_grid.x) * P_step.x + P_grid.z;                    \
            p.y = (row - p.w * P_grid.y) * P_step.y + P_grid.w;                         \
        }                                                                               \
    )

// Declares for COUNT positions, which begin at first_position and are STEP apart, where the first input slice that is
// read lies in x (base), and which tap is the first (left, top). skipped: input slices before it; plane: x_w * x_h.
#define GPU_CONV_PLACES_IN_X(COUNT, STEP)                                               \
    GPU_TEXT(                                                                           \
        int base[COUNT];                                                                \
        int left[COUNT];                                                                \
        int top[COUNT];                                                                 \
        if (IN == IN_SAME) {                                                            \
            UNROLL for (int i = 0; i < COUNT; i += 1) {                                 \
                int position = min(first_position + i * STEP, positions - 1);           \
                int batch = 0;                                                          \
                if (x_b > 1) batch = position / plane;                                  \
                base[i] = batch * (x_s - 1) * plane + skipped * plane + position;       \
            }                                                                           \
        } else {                                                                        \
            int stride_x = pick(OUT == OUT_SPREAD, 1, P_step.x);                        \
            int stride_y = pick(OUT == OUT_SPREAD, 1, P_step.y);                        \
            int position = min(first_position, positions - 1);                          \
            int row = position / P_grid.x;                                              \
            int batch = row / P_grid.y;                                                 \
            int grid_x = position - row * P_grid.x;                                     \
            int grid_y = row - batch * P_grid.y;                                        \
            UNROLL for (int i = 0; i < COUNT; i += 1) {                                 \
                left[i] = grid_x * stride_x - P_step.z;                                 \
                top[i] = grid_y * stride_y - P_step.w;                                  \
                base[i] = (min(batch, x_b - 1) * x_s + skipped) * plane;                \
                if (IN == IN_POINT) base[i] += top[i] * x_w + left[i];                  \
                grid_x += STEP;                                                         \
                for (; grid_x >= P_grid.x; grid_x -= P_grid.x) grid_y += 1;             \
                for (; grid_y >= P_grid.y; grid_y -= P_grid.y) batch += 1;              \
            }                                                                           \
        }                                                                               \
    )

// Reflects the column AT_X and the row AT_Y into x where they lie outside of it, which few do.
#define GPU_CONV_MIRROR(AT_X, AT_Y)                                                     \
    GPU_TEXT_OF(                                                                        \
        if (AT_X < 0 || AT_Y < 0 || AT_X >= x_w || AT_Y >= x_h) {                       \
            GPU_REFLECT(AT_X, x_w)                                                      \
            GPU_REFLECT(AT_Y, x_h)                                                      \
        }                                                                               \
    )

// Declares the input slice of a term of the sum, and where its tap lies beside the first one (px, py). Quotients without
// rests: BY_SLICES of term and x_s, BY_TAPS of tap and P_sum.y.
#define GPU_CONV_FIND_TERM(BY_SLICES, BY_TAPS)                                          \
    GPU_TEXT(                                                                           \
        int slice = term;                                                               \
        int px = 0;                                                                     \
        int py = 0;                                                                     \
        if (IN == IN_WINDOW || IN == IN_MIRROR) {                                       \
            int tap = BY_SLICES;                                                        \
            slice = term - tap * x_s;                                                   \
            py = BY_TAPS;                                                               \
            px = (tap - py * P_sum.y) * P_space.x;                                      \
            py = py * P_space.y;                                                        \
        }                                                                               \
    )

// Declares where that slice lies in x (from) for place I of GPU_CONV_PLACES_IN_X, and whether there is such a term and
// x has this place.
#define GPU_CONV_LOCATE(I)                                                              \
    GPU_TEXT(                                                                           \
        int from = base[I] + slice * plane;                                             \
        bool inside = term < P_sum.x;                                                   \
        if (IN == IN_WINDOW) {                                                          \
            int ax = left[I] + px;                                                      \
            int ay = top[I] + py;                                                       \
            inside = inside && ax >= 0 && ay >= 0 && ax < x_w && ay < x_h;              \
            from += ay * x_w + ax;                                                      \
        }                                                                               \
        if (IN == IN_MIRROR) {                                                          \
            int ax = left[I] + px;                                                      \
            int ay = top[I] + py;                                                       \
    ) GPU_CONV_MIRROR(ax, ay) GPU_TEXT(                                                 \
            from += ay * x_w + ax;                                                      \
        }                                                                               \
    )
// clang-format on

#endif
