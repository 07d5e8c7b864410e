// SPDX-License-Identifier: Apache-2.0
// Matrices times one vector and activations of vectors: see matvec.h.
#include "ops/common/matvec.h"

#include <math.h>

#include "ops/common/dot.h"
#include "ops/common/quant.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

void hl_matvec_f32(const struct hl_row_kernels *kernels, const float *matrix, int rows, int columns,
                   const float *vector, float *sums)
{
    float some[HL_LONG_DOTS_ROWS];
    for (int row = 0; row < rows; row += HL_LONG_DOTS_ROWS) {
        int count = least(rows - row, HL_LONG_DOTS_ROWS);
        kernels->dots_f32(matrix + (int64_t)row * columns, columns, count, vector, 0, columns, some);
        for (int r = 0; r < count; r++) sums[row + r] += some[r];
    }
}

void hl_store_vector(const struct hl_row_kernels *kernels, struct hl_stored_vector *vector, const float *values,
                     int count, bool asymmetric)
{
    int8_t *stored = (int8_t *)(vector->wide + count);
    int32_t zero;
    hl_quantize_row(kernels, asymmetric, values, count, stored, &vector->scale, &zero);
    hl_widen(kTfLiteInt8, stored, 0, count, zero, vector->wide);
}

void hl_matvec_hybrid(const struct hl_row_kernels *kernels, const int8_t *matrix, float matrix_scale, int rows,
                      int columns, const struct hl_stored_vector *vector, float *sums)
{
    float scale = vector->scale * matrix_scale;
    int64_t some[HL_LONG_DOTS_ROWS];
    for (int row = 0; row < rows; row += HL_LONG_DOTS_ROWS) {
        int count = least(rows - row, HL_LONG_DOTS_ROWS);
        hl_long_dots_i8(kernels, matrix + (int64_t)row * columns, columns, count, vector->wide, 0, columns, some);
        for (int r = 0; r < count; r++) sums[row + r] += (float)some[r] * scale;
    }
}

// In pieces whose sums fit 32 bits.
void hl_long_dots_i8(const struct hl_row_kernels *kernels, const int8_t *w, int64_t stride, int rows, const int16_t *x,
                     int64_t x_stride, int count, int64_t *sums)
{
    int32_t some[HL_LONG_DOTS_ROWS];
    for (int r = 0; r < rows; r++) sums[r] = 0;
    for (int at = 0; at < count; at += HL_DOTS_I8_MAX_COLUMNS) {
        kernels->dots_i8(w + at, stride, rows, x + at, x_stride, least(count - at, HL_DOTS_I8_MAX_COLUMNS), some);
        for (int r = 0; r < rows; r++) sums[r] += some[r];
    }
}

bool hl_recurrent_activation(TfLiteFusedActivation activation)
{
    return activation >= kTfLiteActNone && activation <= kTfLiteActSigmoid;
}

// NaN becomes low.
static void clamp(float *values, int count, float low, float high)
{
    for (int i = 0; i < count; i++) {
        float value = values[i] > low ? values[i] : low;
        values[i] = value < high ? value : high;
    }
}

void hl_activate_vector(const struct hl_row_kernels *kernels, TfLiteFusedActivation activation, float *values,
                        int count)
{
    switch (activation) {
    case kTfLiteActRelu: clamp(values, count, 0, INFINITY); return;
    case kTfLiteActReluN1To1: clamp(values, count, -1, 1); return;
    case kTfLiteActRelu6: clamp(values, count, 0, 6); return;
    case kTfLiteActTanh: kernels->tanh(values, count); return;
    case kTfLiteActSignBit:
        for (int i = 0; i < count; i++) values[i] = signbit(values[i]) ? 1 : 0;
        return;
    case kTfLiteActSigmoid: kernels->logistic(values, count); return;
    case kTfLiteActNone: return;
    }
}
