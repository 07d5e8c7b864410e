// SPDX-License-Identifier: Apache-2.0
// Floats that are float16 constants in the model's file, widened by a DEQUANTIZE which a partition has swallowed. In:
// what prepare found (struct delegate, source). Out: the constant behind a tensor, for delegates that send it as it is;
// and its floats, where a tensor that leaves the partition has to have them.
#ifndef HALITE_DELEGATES_COMMON_WIDENED_H
#define HALITE_DELEGATES_COMMON_WIDENED_H

#include "delegates/common/delegate.h"

// The float16 constant that a tensor is widened from; -1: it is none. Only while prepare runs.
int delegate_widened_source(const struct delegate *delegate, int tensor);
void delegate_widen(const TfLiteTensor *halves, float *floats);

// The outputs of a partition that are such constants.
struct delegate_widened {
    int *pairs; // an output, and its constant
    int count;
};
// False without memory. delegate_widened_free is right in both cases.
bool delegate_widened_find(struct delegate_widened *widened, const struct delegate *delegate,
                           const TfLiteIntArray *outputs);
void delegate_widened_write(const struct delegate_widened *widened, TfLiteContext *context);
void delegate_widened_free(struct delegate_widened *widened);

#endif
