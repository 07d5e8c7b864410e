// SPDX-License-Identifier: Apache-2.0
// The frame of operators that take two tensors element by element, stretching shapes to fit:
// y[i] = f(a[i], b[i]).
//
// An operator is a table of runs by type; a run is a loop along which each operand moves by a fixed
// step. The state of every such operator begins with struct hl_binary, and most need nothing more:
//     HL_BINARY_RUN(xor_i32, int32_t, int32_t, void, u ^ v)
//     static const hl_binary_runs xor_runs = {[kTfLiteInt32] = xor_i32};
//     and hl_binary_prepare(ctx, node, xor_runs, kTfLiteNoType) in prepare, hl_binary_invoke.
#ifndef HALITE_OPS_COMMON_BINARY_H
#define HALITE_OPS_COMMON_BINARY_H

#include "ops/op.h"

struct hl_binary_args {
    const void *a, *b;
    void *y;
    int64_t a_step, b_step; // in elements; y moves by one
    int count;
    const void *state; // the node's, beginning with struct hl_binary
};
typedef void hl_binary_run(const struct hl_binary_args *args);

enum { HL_TYPES = kTfLiteFloat8E5M2 + 1 };
typedef hl_binary_run *hl_binary_runs[HL_TYPES]; // by the inputs' type; NULL: not supported

struct hl_binary {
    hl_binary_run *run;
    // Checks the inputs' values before each run; NULL: nothing to check.
    TfLiteStatus (*check_values)(TfLiteContext *ctx, const TfLiteNode *node);
    bool folded; // both inputs are constant: prepare has computed the output
};

// Defines the run `name`: one element of each input in u and v, the state in s.
#define HL_BINARY_RUN(name, InputType, OutputType, StateType, expression) \
    static void name(const struct hl_binary_args *args)                   \
    {                                                                     \
        const InputType *a = args->a, *b = args->b;                       \
        OutputType *y = args->y;                                          \
        const StateType *s = args->state;                                 \
        const int64_t a_step = args->a_step, b_step = args->b_step;       \
        const int count = args->count;                                    \
        HL_INDEPENDENT for (int i = 0; i < count; i++)                    \
        {                                                                 \
            const InputType u = a[i * a_step], v = b[i * b_step];         \
            y[i] = (OutputType)(expression);                              \
        }                                                                 \
        (void)s;                                                          \
    }

// prepare, whole: the three steps below.
TfLiteStatus hl_binary_prepare(TfLiteContext *ctx, TfLiteNode *node, const hl_binary_runs runs, TfLiteType output_type);
// The same for inputs that must have one shape, and an output of their type.
TfLiteStatus hl_binary_prepare_same(TfLiteContext *ctx, TfLiteNode *node, const hl_binary_runs runs);
// 1. Two inputs of one type; the output takes output_type (kTfLiteNoType: the inputs').
TfLiteStatus hl_binary_check(TfLiteContext *ctx, const TfLiteNode *node, TfLiteType output_type);
// 2. The run for the inputs' type, or an error.
TfLiteStatus hl_binary_choose(TfLiteContext *ctx, const TfLiteNode *node, const hl_binary_runs runs);
// 3. The output's shape; computes the output if both inputs are constant.
TfLiteStatus hl_binary_finish(TfLiteContext *ctx, TfLiteNode *node);

TfLiteStatus hl_binary_invoke(TfLiteContext *ctx, TfLiteNode *node);

#endif
