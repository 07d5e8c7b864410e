// SPDX-License-Identifier: Apache-2.0
// Two models side by side: operators that one of them lacks, options and types that differ, and how far each pair of
// tensors is apart on the same inputs, so that a float and an 8-bit model show where the error grows.
#ifndef HALITE_TOOLS_DIFF_MODELS_H
#define HALITE_TOOLS_DIFF_MODELS_H

#include "diff/error.h"
#include "diff/setting.h"

struct hl_diff_models_options {
    struct hl_diff_setting a, b;                // how each is run
    const struct hl_flag_list *inputs, *shapes; // as for halite run, of the first model
    double bound, steps;                        // of outputs: reals as a part of the largest value, integers
    bool all, json, structure;
};

// Prints. *beyond: an output is beyond the bound. False after a message.
bool hl_diff_models(const char *a, const char *b, const struct hl_diff_models_options *options, bool *beyond);

// ---- equal.c ------------------------------------------------------------------------------------

// Runs both with the fast kernels on the same random inputs. *different: the first output whose bytes differ, -1: none.
// False after a message.
bool hl_diff_same_outputs(const char *command, const char *a, const char *b, int *different);

// ---- inputs.c -----------------------------------------------------------------------------------

// Two models, each with an interpreter, that are to get the same inputs.
struct hl_diff_both {
    struct hl_model_file a, b;
    struct hl_diff_inputs a_inputs, b_inputs;
};

// Fills the inputs of `a` (as for halite run, else at random) and gives `b` the same real numbers, by the inputs' names
// where both have them, else by their order. Where `b` stores them with less precision, `a` gets what is left of them.
// False after a message; hl_diff_both_free is right in both cases.
bool hl_diff_both_fill(struct hl_diff_both *both, const struct hl_flag_list *inputs, const struct hl_flag_list *shapes);
void hl_diff_both_free(struct hl_diff_both *both);

#endif
