// SPDX-License-Identifier: Apache-2.0
// The frame of operators that take two tensors element by element, stretching shapes to fit:
// y[i] = f(a[i], b[i]).
//
// An operator is a table of runs by type; a run is a loop along which each operand moves by a fixed
// step. The state of every such operator begins with struct hl_binary, and most need nothing more:
//     HL_BINARY_RUN(xor_i32, int32_t, int32_t, void, u ^ v)
//     static const hl_binary_runs xor_runs = {[kTfLiteInt32] = xor_i32};
//     HL_BINARY_OPERATOR(bitwise_xor, xor_runs, NULL)
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

// What the hl_op of every such operator has: its state, its own prepare, and hl_binary_invoke.
#define HL_BINARY_FIELDS(symbol, State) \
    .state_size = sizeof(State), .prepare = symbol##_prepare, .invoke = hl_binary_invoke
#define HL_INPLACE_EITHER (kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpInput1Shared)

// Defines, whole, an operator that is its runs alone, with an output of the inputs' type that may lie in either.
#define HL_BINARY_OPERATOR(symbol, runs, fast_kernel)                                                              \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node)                                     \
    {                                                                                                              \
        return hl_binary_prepare(ctx, node, runs, kTfLiteNoType);                                                  \
    }                                                                                                              \
    const struct hl_op hl_op_##symbol = {HL_BINARY_FIELDS(symbol, struct hl_binary), .inplace = HL_INPLACE_EITHER, \
                                         .fast = fast_kernel};

#endif
