// SPDX-License-Identifier: Apache-2.0
// Matrices times one vector, as the recurrent operators (SVDF, RNN, LSTM) multiply: row by row,
// sums in the order of the columns. Hybrid products have float vectors, stored as int8 first, and
// int8 weights of one scale.
#ifndef HALITE_OPS_MATVEC_H
#define HALITE_OPS_MATVEC_H

#include "ops/op.h"

// sums[r] += matrix[r] . vector
void hl_matvec_f32(const float *matrix, int rows, int columns, const float *vector, float *sums);

// A float vector as int8: value = scale * (stored - zero_point).
struct hl_stored_vector {
    int8_t *stored; // room for the longest vector
    float scale;
    int32_t zero_point;
};
void hl_store_vector(struct hl_stored_vector *vector, const float *values, int count,
                     bool asymmetric);
// sums[r] += matrix_scale * vector->scale * (matrix[r] . (stored - zero_point))
void hl_matvec_hybrid(const int8_t *matrix, float matrix_scale, int rows, int columns,
                      const struct hl_stored_vector *vector, float *sums);

// weights . (values - zero_point)
int64_t hl_dot_i8(const int8_t *weights, const int8_t *values, int count, int32_t zero_point);

// Activations of the recurrent operators on whole vectors; hl_recurrent_activation says whether
// there is such a one.
bool hl_recurrent_activation(TfLiteFusedActivation activation);
void hl_activate_vector(TfLiteFusedActivation activation, float *values, int count);

#endif
