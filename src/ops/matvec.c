// SPDX-License-Identifier: Apache-2.0
// Matrices times one vector and activations of vectors: see matvec.h.
#include "ops/matvec.h"

#include <math.h>

#include "ops/quant.h"

// Four rows at a time: their sums do not wait for each other, each keeps its order.
void hl_matvec_f32(const float *matrix, int rows, int columns, const float *vector, float *sums)
{
    int row = 0;
    for (; row + 4 <= rows; row += 4) {
        const float *a = matrix + (size_t)row * (size_t)columns;
        const float *b = a + columns, *c = b + columns, *d = c + columns;
        float sum[4] = {0, 0, 0, 0};
        for (int i = 0; i < columns; i++) {
            sum[0] += a[i] * vector[i];
            sum[1] += b[i] * vector[i];
            sum[2] += c[i] * vector[i];
            sum[3] += d[i] * vector[i];
        }
        for (int i = 0; i < 4; i++) sums[row + i] += sum[i];
    }
    for (; row < rows; row++) {
        const float *a = matrix + (size_t)row * (size_t)columns;
        float sum = 0;
        for (int i = 0; i < columns; i++) sum += a[i] * vector[i];
        sums[row] += sum;
    }
}

void hl_store_vector(struct hl_stored_vector *vector, const float *values, int count,
                     bool asymmetric)
{
    vector->scale = 1;
    vector->zero_point = 0;
    if (asymmetric)
        hl_quantise_row_asymmetric(values, count, vector->stored, &vector->scale,
                                   &vector->zero_point);
    else
        hl_quantise_row_symmetric(values, count, vector->stored, &vector->scale);
}

void hl_matvec_hybrid(const int8_t *matrix, float matrix_scale, int rows, int columns,
                      const struct hl_stored_vector *vector, float *sums)
{
    float scale = vector->scale * matrix_scale;
    for (int row = 0; row < rows; row++) {
        int64_t sum = hl_dot_i8(matrix + (size_t)row * (size_t)columns, vector->stored, columns,
                                vector->zero_point);
        sums[row] += (float)sum * scale;
    }
}

// In pieces whose sums fit 32 bits.
int64_t hl_dot_i8(const int8_t *weights, const int8_t *values, int count, int32_t zero_point)
{
    int64_t total = 0;
    for (int start = 0; start < count;) {
        int end = count - start > 1 << 16 ? start + (1 << 16) : count;
        int32_t sum = 0, weight_sum = 0;
        for (int i = start; i < end; i++) {
            sum += weights[i] * values[i];
            weight_sum += weights[i];
        }
        total += sum - (int64_t)zero_point * weight_sum;
        start = end;
    }
    return total;
}

bool hl_recurrent_activation(TfLiteFusedActivation activation)
{
    return activation >= kTfLiteActNone && activation <= kTfLiteActSigmoid;
}

void hl_activate_vector(TfLiteFusedActivation activation, float *values, int count)
{
    switch (activation) {
    case kTfLiteActRelu:
        for (int i = 0; i < count; i++) values[i] = fmaxf(values[i], 0);
        return;
    case kTfLiteActReluN1To1:
        for (int i = 0; i < count; i++) values[i] = fminf(fmaxf(values[i], -1), 1);
        return;
    case kTfLiteActRelu6:
        for (int i = 0; i < count; i++) values[i] = fminf(fmaxf(values[i], 0), 6);
        return;
    case kTfLiteActTanh:
        for (int i = 0; i < count; i++) values[i] = tanhf(values[i]);
        return;
    case kTfLiteActSignBit:
        for (int i = 0; i < count; i++) values[i] = signbit(values[i]) ? 1 : 0;
        return;
    case kTfLiteActSigmoid:
        for (int i = 0; i < count; i++) values[i] = 1 / (1 + expf(-values[i]));
        return;
    case kTfLiteActNone: return;
    }
}
