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

// Begins the sums of a work-item with the bias of its output slices, from first_slice on; there are SLICES.
#define GPU_MATRIX_BEGIN_SUMS GPU_MATRIX_BEGIN_SUMS_OF(y_s)
#define GPU_MATRIX_BEGIN_SUMS_OF(SLICES)                                                                 \
    GPU_TEXT_OF(                                                                                          \
        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {                                                    \
            int4 bits = early_weights(min(first_slice + j * 4, SLICES - 1));                             \
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
                if (MATRIX < MATRIX_HALVES) last_half[n * BLOCK_O + j] = LOAD(k + 32);                   \
            }                                                                                            \
        }                                                                                                \
    )

// Adds step n of those that are loaded, of tile i of the positions, whose operands are FIRST and LAST.
#define GPU_MATRIX_ADD_STEP(FIRST, LAST)                                                                 \
    GPU_TEXT(                                                                                            \
        UNROLL for (int j = 0; j < BLOCK_O; j += 1) {                                                    \
            MATRIX_STEP(sums[(j * BLOCK_X + i) * 2], sums[(j * BLOCK_X + i) * 2 + 1],                    \
                        rest[(j * BLOCK_X + i) * 2], rest[(j * BLOCK_X + i) * 2 + 1], FIRST, LAST,       \
                        first_half[n * BLOCK_O + j], last_half[n * BLOCK_O + j]);                        \
        }                                                                                                \
    )

// Where x is GUARDED, a work-item keeps the size of the largest number that it has split (extent). If one of the group's
// is too large for a half, or all are so small that halves round them coarsely, the group takes its sums once more, of
// numbers times a power of two (scale) that makes the largest of them about as large as halves can be. The kernel has
// `int vote[4]` in shared memory, lid, and a loop while pass < passes.
#define GPU_MATRIX_GUARD                                                                                 \
    GPU_TEXT(                                                                                            \
        int passes = 1;                                                                                  \
        float extent = 0.0f;                                                                             \
        float scale = 1.0f;                                                                              \
        float scale_back = 1.0f;                                                                         \
    )
#define GPU_MATRIX_MEASURE(V)                                                                            \
    GPU_TEXT(                                                                                            \
        if (GUARDED == 1) {                                                                              \
            acc4 size = abs(V);                                                                          \
            extent = max(extent, max(max(size.x, size.y), max(size.z, size.w)));                         \
            V = V * scale;                                                                               \
        }                                                                                                \
    )
// Finds the exponent of the group's largest number bit by bit. AGAIN: what loads the first weights again and lets the
// sums begin, times scale where they begin with the bias.
#define GPU_MATRIX_JUDGE(AGAIN)                                                                          \
    GPU_TEXT(                                                                                            \
        if (GUARDED == 1 && pass == 0) {                                                                 \
            if (lid < 4) vote[lid] = 0;                                                                  \
            BARRIER;                                                                                     \
            if (extent >= 60000.0f) vote[0] = 1;                                                         \
            if (extent >= 0.0001220703125f) vote[1] = 1;                                                 \
            if (extent > 0.0f) vote[2] = 1;                                                              \
            BARRIER;                                                                                     \
            if (vote[0] > 0 || (vote[1] == 0 && vote[2] > 0)) {                                          \
                int exponent = 0;                                                                        \
                for (int bit = 128; bit > 0; bit = bit / 2) {                                            \
                    if (float_to_bits(extent) / 8388608 >= exponent + bit) vote[3] = bit;                \
                    BARRIER;                                                                             \
                    if (vote[3] == bit) exponent += bit;                                                 \
                    BARRIER;                                                                             \
                }                                                                                        \
                exponent = min(max(267 - exponent, 1), 253);                                             \
                scale = bits_to_float(exponent * 8388608);                                               \
                scale_back = bits_to_float((254 - exponent) * 8388608);                                  \
                passes = 2;                                                                              \
    ) AGAIN GPU_TEXT(                                                                                    \
            }                                                                                            \
        }                                                                                                \
    )
// Of kernels with weights in dynamic shared memory, from AT on: fetches the first ones for a second pass.
#define GPU_MATRIX_FETCH_AGAIN(AT)                                                                       \
    GPU_TEXT_OF(                                                                                         \
        for (int n = 0; n < STAGES; n += 1) {                                                            \
            int slot = (chunks + n) % STAGES;                                                            \
            fetch_weights(slot, AT + slot * each, stream + n * each, each);                              \
        }                                                                                                \
    )
#define GPU_MATRIX_SCALE_SUMS                                                                            \
    GPU_TEXT(UNROLL for (int n = 0; n < 2 * BLOCK_X * BLOCK_O; n += 1) sums[n] = sums[n] * scale;)
#define GPU_MATRIX_SCALE_BACK                                                                            \
    GPU_TEXT(                                                                                            \
        if (GUARDED == 1) {                                                                              \
            UNROLL for (int n = 0; n < 2 * BLOCK_X * BLOCK_O; n += 1) {                                  \
                sums[n] = sums[n] * scale_back;                                                          \
                rest[n] = rest[n] * scale_back;                                                          \
            }                                                                                            \
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
