// SPDX-License-Identifier: Apache-2.0
// Steps of operators whose work grows faster than their tensors: what hl_op.work is made of, and what
// HaliteInterpreterOptionsSetWorkLimit counts. As doubles: shapes are what a file says, and their products may be
// beyond any integer.
#ifndef HALITE_OPS_COMMON_WORK_H
#define HALITE_OPS_COMMON_WORK_H

#include "ops/op.h"

// Elements of a tensor, less the last dimension.
double hl_rows(const TfLiteTensor *tensor);

// hl_op.work: input 1, a filter or a matrix, once for each position of the output.
double hl_work_of_filter(TfLiteContext *ctx, const TfLiteNode *node);
// hl_op.work: all other inputs but the state, once for each row of input 0, a batch or a sequence.
double hl_work_of_rows(TfLiteContext *ctx, const TfLiteNode *node);
// A window of so many taps, at each element of the output; taps beside an image of height * width do not count.
double hl_work_of_window(const TfLiteTensor *image, const TfLiteTensor *output, int filter_height, int filter_width);

#endif
