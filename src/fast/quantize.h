// SPDX-License-Identifier: Apache-2.0
// Rows of floats become int8 for hybrid nodes, each with its own scale, on all threads: several rows at once, or one
// row in pieces. The bytes, scales and zero points are those of hl_quantize_row, or with `flip` 0x80 the same as uint8.
#ifndef HALITE_FAST_QUANTIZE_H
#define HALITE_FAST_QUANTIZE_H

#include "fast/fast.h"
#include "ops/common/quant.h"
#include "ops/common/row_kernels.h"

void hl_quantize_rows(const TfLiteContext *ctx, const struct hl_row_kernels *kernels, bool asymmetric, const float *x,
                      int64_t rows, int64_t size, uint8_t flip, int8_t *stored, float *scales, int32_t *zeros);
// How each row becomes bytes, by which the caller then quantizes it in pieces of its own (hl_quantize_values).
void hl_find_row_scales(const TfLiteContext *ctx, const struct hl_row_kernels *kernels, bool asymmetric, const float *x,
                        int64_t rows, int64_t size, struct hl_row_scale *to);

#endif
