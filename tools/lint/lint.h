// SPDX-License-Identifier: Apache-2.0
// halite lint: what a model could do better, and what that costs. In: a verified model, the times of its nodes on the
// CPU, the places of its nodes on a GPU. Out: findings, each of a rule; and for the rules that may be applied without a
// change of results, the model without them.
#ifndef HALITE_TOOLS_LINT_LINT_H
#define HALITE_TOOLS_LINT_LINT_H

#include <cjson/cJSON.h>

#include "lint/rewrite.h"
#include "model_file.h"

struct hl_lint {
    const char *path;
    const TfLiteModel *model;
    const struct hl_model_subgraph *graph; // the main one, which the rules are about
    int *producers;                        // by tensor: the node that makes it, -1: none
    int *reads;                            // by tensor: how often nodes read it
    bool *is_output;                       // by tensor: of the graph or a signature
    double *seconds;                       // by node, NAN: not measured
    const cJSON *placement;                // of halite inspect --placement; NULL: not known
    cJSON *findings;
    struct hl_rewrite edits; // what the safe findings come to
    int edit_count;
};

// X(name, advice): the rules, in the order of the report. check_NAME is in rules.c or rules_gpu.c.
// clang-format off
#define HL_LINT_RULES(X)                                                                                               \
    X(identity_operator, "it hands its input on as it is: leave it out")                                              \
    X(reshape_chain, "of RESHAPEs in a row the last one is enough")                                                   \
    X(transpose_pair, "two TRANSPOSEs in a row are one, or none: change the order of dimensions once")                \
    X(quantize_pair, "values are dequantized and quantized again in vain, or rounded to integers between floats")     \
    X(float_island, "one operator computes in floats among integers: quantize it too, or the conversions stay")        \
    X(dead_operator, "nothing reads what it makes: leave it out")                                                     \
    X(unused_constant, "constants that nothing reads make the file larger")                                           \
    X(channels_not_in_fours, "GPUs hold channels in fours: a number of them that is a multiple of 4 costs the same")   \
    X(rgb_input, "a GPU holds 4 channels for 3: with an RGBA input (a fourth, zero, channel of the first filter) "     \
                 "pictures need no copy")                                                                              \
    X(float_input, "pictures are bytes: a uint8 input with QUANTIZE or DEQUANTIZE in the model moves a quarter")       \
    X(not_on_gpu, "these keep the graph from being one part on a GPU; what would have to change is behind each")       \
    X(dynamic_shape, "a shape that is not known before keeps the graph from a GPU and is planned anew when it "        \
                     "changes: give the converter a fixed one")
// clang-format on

#define HL_LINT_DECLARE(name, advice) void hl_lint_check_##name(struct hl_lint *lint);
HL_LINT_RULES(HL_LINT_DECLARE)
#undef HL_LINT_DECLARE

// ---- view.c -------------------------------------------------------------------------------------

// What the rules look at. `runs`: timed runs on the CPU, 0: none. A model that does not run here has no times, and
// without a GPU delegate beside the program nothing is known of GPUs.
void hl_lint_open(struct hl_lint *lint, const struct hl_model_file *file, const struct hl_model_options *options,
                  int runs, bool gpu);
void hl_lint_check_all(struct hl_lint *lint);
void hl_lint_close(struct hl_lint *lint);

// Adds a finding about these nodes: its text is a printf format. The time is that of the nodes, times `share`.
// `is_safe`: hl_lint's edits hold what does away with it.
void hl_lint_add(struct hl_lint *lint, const char *rule, int count, const int *nodes, double share, bool is_safe,
                 const char *format, ...) HL_PRINTF(7, 8);
// The same about no node: with a time that is estimated, or NAN.
void hl_lint_add_estimate(struct hl_lint *lint, const char *rule, double seconds, bool is_safe, const char *format, ...)
    HL_PRINTF(5, 6);

const char *hl_lint_op(const struct hl_lint *lint, int node);
const struct hl_model_tensor *hl_lint_input(const struct hl_lint *lint, int node, int input);
const struct hl_model_tensor *hl_lint_output(const struct hl_lint *lint, int node);
// The node that makes a node's input, -1: none.
int hl_lint_before(const struct hl_lint *lint, int node, int input);
bool hl_lint_is(const struct hl_lint *lint, int node, const char *op);
// No dimension of it may change.
bool hl_lint_is_static(const struct hl_model_tensor *tensor);

// ---- fix.c --------------------------------------------------------------------------------------

// Applies what is safe, again and again until nothing is left, and writes the model after its outputs were found equal.
// *count: how many findings went. False after a message.
bool hl_lint_fix(const char *path, const char *target, int *count);

#endif
