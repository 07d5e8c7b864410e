// SPDX-License-Identifier: Apache-2.0
// Matrices times one vector, as the recurrent operators (SVDF, RNN, LSTM) multiply: row by row,
// sums in the order of the columns. Hybrid products have float vectors, stored as int8 first, and
// int8 weights of one scale.
#ifndef HALITE_OPS_COMMON_MATVEC_H
#define HALITE_OPS_COMMON_MATVEC_H

#include "ops/common/row_kernels.h"
#include "ops/op.h"

// sums[r] += matrix[r] . vector
void hl_matvec_f32(const struct hl_row_kernels *kernels, const float *matrix, int rows, int columns,
                   const float *vector, float *sums);

// A float vector stored as int8: value = scale * wide, which is the stored value less the zero point.
struct hl_stored_vector {
    int16_t *wide; // room for hl_stored_room of the longest vector
    float scale;
};
static inline int64_t hl_stored_room(int count)
{
    return count + (int64_t)count / 2 + 1; // the int8 values follow the int16 ones
}
// The stored values themselves, of a vector of `count`.
static inline const int8_t *hl_stored_values(const struct hl_stored_vector *vector, int count)
{
    return (const int8_t *)(vector->wide + count);
}
void hl_store_vector(const struct hl_row_kernels *kernels, struct hl_stored_vector *vector, const float *values,
                     int count, bool asymmetric);
// sums[r] += matrix_scale * vector->scale * (matrix[r] . vector->wide)
void hl_matvec_hybrid(const struct hl_row_kernels *kernels, const int8_t *matrix, float matrix_scale, int rows,
                      int columns, const struct hl_stored_vector *vector, float *sums);

// The function dots_i8 of row_kernels.h for rows of any length, HL_LONG_DOTS_ROWS rows at most.
enum { HL_LONG_DOTS_ROWS = 64 };
void hl_long_dots_i8(const struct hl_row_kernels *kernels, const int8_t *w, int64_t stride, int rows, const int16_t *x,
                     int64_t x_stride, int count, int64_t *sums);

// Activations of the recurrent operators on whole vectors; hl_recurrent_activation says whether
// there is such a one.
bool hl_recurrent_activation(TfLiteFusedActivation activation);
void hl_activate_vector(const struct hl_row_kernels *kernels, TfLiteFusedActivation activation, float *values,
                        int count);

#endif
