// SPDX-License-Identifier: Apache-2.0
// Texts that the kernels on matrix units have in common: loading weights ahead, adding up the sums of
// subgroups, and writing them.
// In: the constants BLOCK_X, BLOCK_O, DEPTH, ROUND and MATRIX, and the weights as gpu_matrix_pack writes them. Out:
// pieces of a body, in the dialect.
#ifndef HALITE_GPU_OPS_MATRIX_TEXT_H
#define HALITE_GPU_OPS_MATRIX_TEXT_H

#include "gpu/ops/convolve_text.h"
#include "gpu/ops/matrix.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Declares where a work-item's weights begin (stream) and which output slices it has, and loads what does not depend
// on earlier dispatches: weights of the first steps, and the bias, with which the sums begin. FIRST: where the streams
// begin; STEPS: the steps of each. The bias of output slice o is vector o of the weights.
#define GPU_MATRIX_BEGIN(FIRST, STEPS)                                                                   \
    GPU_TEXT(                                                                                            \
        int row = LID0 / 4;                                                                              \
        int part = LID0 % 4;                                                                             \
        int vectors = pick(MATRIX < MATRIX_HALVES, 2, 1);                                                \
        int stream = FIRST + (GROUP1 * GROUP_Y + LID1) * (STEPS * BLOCK_O * vectors * 32) + LID0;        \
        int first_slice = (GROUP1 * GROUP_Y + LID1) * (4 * BLOCK_O) + part;                              \
        int4 first_half[DEPTH * BLOCK_O];                                                                \
        int4 last_half[DEPTH * BLOCK_O];                                                                 \
        acc4 sums[2 * BLOCK_X * BLOCK_O];                                                                \
        acc4 rest[2 * BLOCK_X * BLOCK_O];                                                                \
        int s0 = LID2;                                                                                   \
    ) GPU_MATRIX_LOAD_WEIGHTS(early_weights) GPU_MATRIX_BEGIN_SUMS

// Begins the sums of a work-item with the bias of its output slices, from first_slice on.
#define GPU_MATRIX_BEGIN_SUMS                                                                            \
    GPU_TEXT(                                                                                            \
        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {                                                    \
            int4 bits = early_weights(min(first_slice + j * 4, y_s - 1));                                \
            acc4 bias = bits_to_float4(bits);                                                            \
            if (LID2 > 0) bias = splatf4(0.0f);                                                          \
            UNROLL for (int i = 0; i < 2 * BLOCK_X; i += 1) {                                            \
                sums[j * 2 * BLOCK_X + i] = bias;                                                        \
                rest[j * 2 * BLOCK_X + i] = splatf4(0.0f);                                               \
            }                                                                                            \
        }                                                                                                \
    )

// Loads the weights of DEPTH steps from step s0 on. LOAD: weights, or early_weights before the kernel waits.
#define GPU_MATRIX_LOAD_WEIGHTS(LOAD)                                                                    \
    GPU_TEXT_OF(                                                                                         \
        UNROLL for (int n = 0; n < DEPTH; n += 1) {                                                      \
            UNROLL for (int j = 0; j < BLOCK_O; j += 1) {                                                \
                int k = stream + ((s0 + n * GROUP_Z) * BLOCK_O + j) * (vectors * 32);                    \
                first_half[n * BLOCK_O + j] = LOAD(k);                                                   \
                if (MATRIX < MATRIX_HALVES) last_half[n * BLOCK_O + j] = LOAD(k + 32);                  \
            }                                                                                            \
        }                                                                                                \
    )

// Adds step n of those that are loaded, of tile i of the positions, whose operands are FIRST and LAST.
#define GPU_MATRIX_ADD_STEP(FIRST, LAST)                                                                    \
    GPU_TEXT(                                                                                            \
        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {                                                    \
            MATRIX_STEP(sums[(j * BLOCK_X + i) * 2], sums[(j * BLOCK_X + i) * 2 + 1],                    \
                        rest[(j * BLOCK_X + i) * 2], rest[(j * BLOCK_X + i) * 2 + 1], FIRST, LAST,       \
                        first_half[n * BLOCK_O + j], last_half[n * BLOCK_O + j]);                        \
        }                                                                                                \
    )

// Adds up the sums of the subgroups along z, a ROUND at a time in shared memory, and finishes each: FINISH takes v,
// output n of the block.
#define GPU_MATRIX_END_SUMS(FINISH)                                                                      \
    GPU_TEXT(                                                                                            \
        if (MATRIX == MATRIX_SPLIT || MATRIX == MATRIX_NARROW) {                                         \
            UNROLL for (int n = 0; n < 2 * BLOCK_X * BLOCK_O; n += 1) sums[n] += rest[n] * MATRIX_REST;  \
        }                                                                                                \
        if (GROUP_Z == 1) {                                                                              \
            UNROLL for (int n = 0; n < 2 * BLOCK_X * BLOCK_O; n += 1) {                                  \
                acc4 v = sums[n];                                                                        \
    ) FINISH GPU_TEXT(                                                                                   \
            }                                                                                            \
        } else {                                                                                         \
            int beside = LID1 * 32 + LID0;                                                               \
            UNROLL for (int n0 = 0; n0 < 2 * BLOCK_X * BLOCK_O; n0 += ROUND) {                           \
                BARRIER;                                                                                 \
                UNROLL for (int m = 0; m < ROUND; m += 1)                                                \
                    tile[(m * GROUP_Z + LID2) * (32 * GROUP_Y) + beside] = sums[n0 + m];                 \
                BARRIER;                                                                                 \
                for (int m = LID2; m < ROUND; m += GROUP_Z) {                                            \
                    int n = n0 + m;                                                                      \
                    acc4 v = tile[m * GROUP_Z * (32 * GROUP_Y) + beside];                                \
                    UNROLL for (int z = 1; z < GROUP_Z; z += 1)                                          \
                        v += tile[(m * GROUP_Z + z) * (32 * GROUP_Y) + beside];                          \
    ) FINISH GPU_TEXT(                                                                                   \
                }                                                                                        \
            }                                                                                            \
        }                                                                                                \
    )

// Writes v, output n of the block of a convolution whose positions are counted (GPU_CONV_PLACE_IN_Y).
#define GPU_MATRIX_FINISH                                                                                \
    GPU_TEXT(                                                                                            \
        int position = GROUP0 * (16 * BLOCK_X) + row + n % (2 * BLOCK_X) * 8;                            \
        int o = first_slice + n / (2 * BLOCK_X) * 4;                                                     \
        if (position < positions && o < y_s) {                                                           \
    ) GPU_CONV_PLACE_IN_Y GPU_TEXT(                                                                      \
            write_y(p, finish(to_real4(v), p));                                                          \
        }                                                                                                \
    )
// clang-format on

#endif
