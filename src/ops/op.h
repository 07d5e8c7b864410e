// SPDX-License-Identifier: Apache-2.0
// The words in which an operator is written. An operator file exports `const struct hl_op hl_op_<symbol>`, listed in
// operators.def; everything else in it is static. prepare checks the node completely, computes what invoke needs into
// its state and resizes the outputs; invoke trusts what prepare checked and checks only what depends on the tensors'
// values.
//
// The runtime owns the state (state_size zeroed bytes, in node->user_data), all tensors and all memory.
#ifndef HALITE_OPS_OP_H
#define HALITE_OPS_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/tensor.h"
#include "base/checked.h"
#include "base/half.h"
#include "ops/common/walk.h"
#include "runtime/builtin_kernels.h"
#include "runtime/op_context.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

struct hl_fast;

struct hl_op {
    size_t state_size; // bytes of node->user_data, 0: none (user_data is NULL then)
    // Called once, when the node is made; options are a custom operator's bytes (NULL, 0 for a builtin one). May be
    // NULL.
    TfLiteStatus (*parse)(TfLiteContext *ctx, void *state, const void *options, size_t size);
    // May be called again after each resize; state keeps its content between the calls.
    TfLiteStatus (*prepare)(TfLiteContext *ctx, TfLiteNode *node);
    TfLiteStatus (*invoke)(TfLiteContext *ctx, TfLiteNode *node);
    // Steps that the next invoke will take, where they grow faster than the tensors' bytes (work.h). NULL: they do not.
    double (*work)(TfLiteContext *ctx, const TfLiteNode *node);
    void (*release)(void *state); // frees what the state points to beyond itself; NULL: nothing
    uint32_t sparse_inputs;       // bit i: input i may be a constant with a sparsity block
    uint8_t order;                // enum hl_order_use; what has a fast kernel that chains can compute need not say so
    bool may_resize;              // invoke may give an output another shape, which prepare thought it knew
    bool ends_chains;             // a chain can end with it: the state is a struct hl_pool (common/pool_rows.h)
    uint64_t inplace;             // kTfLiteInplaceOp… bits: outputs that may lie in an input's memory
    const struct hl_fast *fast;   // takes over the nodes that it can (fast/fast.h); NULL: there is none
};

// ---- shapes -------------------------------------------------------------------------------------

static inline bool hl_same_type(const TfLiteTensor *a, const TfLiteTensor *b)
{
    return a->type == b->type;
}
// Fails unless the output has the input's type.
TfLiteStatus hl_require_same_type(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *input,
                                  const TfLiteTensor *output);
// Fails unless there is an input of this number, with input 0's type and shape.
TfLiteStatus hl_require_like_input_0(TfLiteContext *ctx, const TfLiteNode *node, int input);
// Takes an axis in [-rank, rank) to [0, rank); false outside.
bool hl_normalize_axis(int64_t axis, int rank, int *result);
// The end of a prepare whose output's shape may depend on the value of an input: calls `resize` where that value is
// known, and else leaves it to invoke, which finds the output dynamic.
static inline TfLiteStatus hl_resize_when_known(TfLiteContext *ctx, const TfLiteNode *node, TfLiteTensor *output,
                                                bool known,
                                                TfLiteStatus (*resize)(TfLiteContext *ctx, const TfLiteNode *node))
{
    if (known) return resize(ctx, node);
    hl_make_dynamic(output);
    return kTfLiteOk;
}

// ---- values -------------------------------------------------------------------------------------

// Data pointers; NULL for tensors without memory (0 elements, not allocated yet).
static inline const void *hl_data(const TfLiteTensor *tensor)
{
    return tensor->data.raw_const;
}
#define HL_IN(type, tensor) ((const type *)hl_data(tensor))
#define HL_OUT(type, tensor) ((type *)(tensor)->data.data)

// Before a loop over elements of which none uses what another wrote: its arrays may be the same memory (hl_op.inplace).
// Without it compilers vectorize only where they find at run time that the arrays differ. Not on 32-bit Arm, whose
// vectors take subnormal numbers for 0, which clang otherwise leaves to the scalar unit.
#if defined __clang__ && defined __arm__
#define HL_INDEPENDENT
#elif defined __clang__
#define HL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined __GNUC__
#define HL_INDEPENDENT _Pragma("GCC ivdep")
#else
#define HL_INDEPENDENT
#endif

// Bytes that the tensor's dense data takes: elements times size, packed types packed.
size_t hl_dense_bytes(const TfLiteTensor *tensor);

// ---- quantization -------------------------------------------------------------------------------

static inline bool hl_is_quantized(const TfLiteTensor *tensor)
{
    return tensor->quantization.type != kTfLiteNoQuantization;
}
// Per-tensor parameters.
static inline double hl_scale(const TfLiteTensor *tensor)
{
    return (double)tensor->params.scale;
}
static inline int hl_zero(const TfLiteTensor *tensor)
{
    return tensor->params.zero_point;
}
// Affine parameters, NULL where the tensor has none.
static inline const TfLiteAffineQuantization *hl_affine(const TfLiteTensor *tensor)
{
    return tensor->quantization.type == kTfLiteAffineQuantization ? tensor->quantization.params : NULL;
}
// Per-tensor scale and zero point are the same.
static inline bool hl_same_quantization(const TfLiteTensor *a, const TfLiteTensor *b)
{
    return a->params.scale == b->params.scale && a->params.zero_point == b->params.zero_point;
}

#endif
