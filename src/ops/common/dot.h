// SPDX-License-Identifier: Apache-2.0
// Sums of products, the heart of convolutions and matrix products: a few rows of weights against one row of x at a
// time, so that x is read once and the sums stay in registers. Floats are added in the order of the row, with one sum
// for each row of weights, as the reference kernels do. All functions that compute dot products take their arguments
// in one order: the weights, their stride, their rows, x, the number of columns, the sums (see also row_kernels.h and
// matvec.h).
#ifndef HALITE_OPS_COMMON_DOT_H
#define HALITE_OPS_COMMON_DOT_H

#include "ops/op.h"

// A call takes at most so many rows of weights.
enum { HL_ADD_DOTS_ROWS = 8 };

// sums[r] += sum over i of w[r * stride + i] * x[i], for r < rows and i < count.
void hl_add_dots_f32(const float *w, int64_t stride, int rows, const float *x, int64_t count, float *sums);
// The same for integers, one of which stays within [-255, 255].
void hl_add_dots_i16(const int16_t *w, int64_t stride, int rows, const int16_t *x, int64_t count, int64_t *sums);
// The same for any two int16.
void hl_add_dots_i16_full(const int16_t *w, int64_t stride, int rows, const int16_t *x, int64_t count, int64_t *sums);

// wide[i] = element first + i, less zero. Types int8, uint8, int16, and packed int4 and int2.
void hl_widen(TfLiteType type, const void *data, int64_t first, int64_t count, int zero, int16_t *wide);

#endif
