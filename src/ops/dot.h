// SPDX-License-Identifier: Apache-2.0
// Sums of products, the heart of convolutions and matrix products: one row of x against a few rows
// of weights at a time, so that x is read once and the sums stay in registers. Floats are added in
// the order of the row, one sum per row of weights, as the reference kernels do.
#ifndef HALITE_OPS_DOT_H
#define HALITE_OPS_DOT_H

#include "ops/op.h"

// Rows of weights that one call takes at most.
enum { HL_DOT_ROWS = 8 };

// sums[r] += sum over i of x[i] * w[r * stride + i], for r < rows and i < count.
void hl_dots_f32(const float *x, const float *w, int64_t stride, int rows, int64_t count, float *sums);
// The same for integers, one of which stays within [-255, 255].
void hl_dots_i16(const int16_t *x, const int16_t *w, int64_t stride, int rows, int64_t count, int64_t *sums);
// The same for any two int16.
void hl_dots_i16_full(const int16_t *x, const int16_t *w, int64_t stride, int rows, int64_t count, int64_t *sums);

// wide[i] = element first + i, less zero. Types int8, uint8, int16, and packed int4 and int2.
void hl_widen(TfLiteType type, const void *data, int64_t first, int64_t count, int zero, int16_t *wide);

#endif
