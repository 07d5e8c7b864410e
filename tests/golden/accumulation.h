// SPDX-License-Identifier: Apache-2.0
// The length of the longest sum in a model: how many products or values the worst node adds up for one element of its
// output. The bound on float outputs grows with its square root, as rounding errors do that have no common direction.
#ifndef HALITE_GOLDEN_ACCUMULATION_H
#define HALITE_GOLDEN_ACCUMULATION_H

#include "model/model.h"
#include "tensorflow/lite/c/c_api.h"

// At least 1. The interpreter, where it is not NULL, knows the shapes as they are now: inputs may have been resized.
double golden_longest_accumulation(const TfLiteModel *model, const TfLiteInterpreter *interpreter);

#endif
