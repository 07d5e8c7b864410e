// SPDX-License-Identifier: Apache-2.0
// The float twin of a dynamic-range model: the same graph with its 8-bit weights read as the floats they stand for, on
// the CPU's reference kernels. In: the model's file, the inputs of each step. Out: what the model computes where nobody
// rounds activations, and how far the rounding can carry.
//
// The original rounds the activations of such a node to 8 bits, each row with a step of its own; a delegate multiplies
// floats. So the twin, whose kernels the float cases check, says what a delegate has to give, to the bound of floats: a
// weight that is off by one step fails. And the original's result lies near: each product of a sum is off by half a
// step of the row times the weight, so the sum by half a step times the sum of the weights' magnitudes.
#ifndef HALITE_GOLDEN_FLOAT_TWIN_H
#define HALITE_GOLDEN_FLOAT_TWIN_H

#include <stdbool.h>

#include "manifest.h"
#include "tensorflow/lite/c/c_api.h"

struct golden_twin;

// NULL: the model has no node that rounds its activations, or no twin can be made of it.
struct golden_twin *golden_twin_create(const struct golden_case *c);
void golden_twin_destroy(struct golden_twin *twin); // NULL is fine
// Runs a step with inputs from the case's data. False: it cannot.
bool golden_twin_run(struct golden_twin *twin, const struct golden_step *step, const unsigned char *data);
// After a step.
const TfLiteTensor *golden_twin_output(const struct golden_twin *twin, int index);
// The largest difference of an output of floats between the reference kernels and the fast ones, which add in another
// order: how far the rounding of floats carries in this graph.
double golden_twin_spread(const struct golden_twin *twin, int index);
// How far the original's rounding of activations can take the outputs of the last step; INFINITY where sums are not all
// that the graph computes.
double golden_twin_rounding(const struct golden_twin *twin);

#endif
