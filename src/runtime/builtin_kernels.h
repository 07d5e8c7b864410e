// SPDX-License-Identifier: Apache-2.0
// This table is what the runtime asks of the built-in operators. The runtime declares it here and src/ops defines it
// (registry.c), so that the runtime includes nothing of src/ops: operators know the runtime, and not the other way
// round.
#ifndef HALITE_RUNTIME_BUILTIN_KERNELS_H
#define HALITE_RUNTIME_BUILTIN_KERNELS_H

#include <stdbool.h>

#include "model/model.h"
#include "tensorflow/lite/c/common.h"

struct hl_reporter;
struct hl_row_kernels;

// What an operator makes of the order of its dimensions.
enum hl_order_use {
    HL_ORDER_MATTERS,
    HL_ELEMENTWISE, // nothing: an element follows from those at its position, or from one that is broadcast
    HL_TRANSPOSES,  // input 1 is the permutation
    HL_PADS,        // input 1 has a row for each dimension
    HL_JOINS,       // the axis of TfLiteConcatenationParams is one of them
};

// What a node does where a product computes those that make its first operand, too, row by row (attention.c).
enum hl_row_part {
    HL_NO_PART,
    HL_PRODUCT_PART, // the first or the last one
    HL_STEP_PART,    // it is element-wise and can be computed as a step of a chain
    HL_COPY_PART,    // its output has the values of input 0
    HL_ROWS_PART,    // a row of its output follows from that of its input
};

// What runs a node: `direct` with its state, or, where that is NULL, `plain`. Both NULL: it has nothing to do.
struct hl_call {
    TfLiteNode *node;
    TfLiteStatus (*plain)(TfLiteContext *ctx, TfLiteNode *node);
    TfLiteStatus (*direct)(TfLiteContext *ctx, TfLiteNode *node, void *state);
    void *state;
};

struct hl_builtin_kernels {
    // Gives the registration of an operator in that version. Returns false where this build has no kernel for it.
    bool (*find)(const struct hl_model_code *code, TfLiteRegistration *registration);
    // Chooses the microkernels for rows that an interpreter's operators use: those of the best CPU level, or the
    // reference ones. It reports settings of the user that make no sense.
    const struct hl_row_kernels *(*choose_row_kernels)(bool fast, const struct hl_reporter *reporter);
    // Of nodes before they are prepared (transposes.c). Custom operators and replaced ones count as HL_ORDER_MATTERS.
    enum hl_order_use (*use_of_order)(const TfLiteNode *node);
    // Of nodes that are prepared (chain.c): whether a node can compute others in the blocks of its output; whether it
    // is element-wise and can be computed so; whether it is a pool that `lead` may compute behind those. lead: the node
    // computes those from now on, until it is prepared again, or *leads is false.
    bool (*is_lead)(const TfLiteNode *node);
    bool (*is_step)(TfLiteContext *ctx, const TfLiteNode *node);
    bool (*is_end)(const TfLiteNode *lead, const TfLiteNode *node);
    TfLiteStatus (*lead)(TfLiteContext *ctx, TfLiteNode *node, const TfLiteNode *const *followers, int count,
                         bool *leads);
    // Of nodes that are prepared (attention.c). join: the node computes those from now on, a product, what goes on with
    // its rows, and one with HL_ROWS_PART, until it is prepared again, or *joins is false.
    enum hl_row_part (*row_part)(TfLiteContext *ctx, const TfLiteNode *node);
    TfLiteStatus (*join)(TfLiteContext *ctx, TfLiteNode *node, const TfLiteNode *const *nodes, bool *joins);
    // Of nodes that are prepared (concat_in_place.c): whether a node is the library's and its outputs keep their shapes
    // when it runs. set_row_stride: whether the rows of its output, of the last dimension, lie so many values apart
    // from now on, until it is prepared again.
    bool (*keeps_shapes)(const TfLiteNode *node);
    bool (*set_row_stride)(const TfLiteNode *node, int64_t stride);
    // Of nodes that are prepared (execute.c): changes *call, which calls the registration's invoke, to what does the
    // same until the node is prepared again, where something does; *steps grows by what the caller is to count then.
    void (*find_call)(TfLiteContext *ctx, const TfLiteNode *node, struct hl_call *call, double *steps);
};

extern const struct hl_builtin_kernels hl_builtin_kernels;

#endif
