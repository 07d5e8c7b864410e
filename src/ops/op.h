// SPDX-License-Identifier: Apache-2.0
// The words in which an operator is written. An operator file exports `const struct hl_op hl_op_<symbol>`, listed in
// ops.def; everything else in it is static. prepare checks the node completely, computes what invoke needs into its
// state and resizes the outputs; invoke trusts what prepare checked and checks only what depends on the tensors'
// values.
//
// The runtime owns the state (state_size zeroed bytes, in node->user_data), all tensors and all memory.
#ifndef HALITE_OPS_OP_H
#define HALITE_OPS_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/checked.h"
#include "base/half.h"
#include "base/report.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

// Ranks above this are refused by the verifier and by hl_resize.
enum { HL_MAX_RANK = 32 };

struct hl_fast;
struct hl_row_loops;

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
    uint64_t inplace;             // kTfLiteInplaceOp… bits: outputs that may lie in an input's memory
    const struct hl_fast *fast;   // takes over the nodes that it can (fast/fast.h); NULL: there is none
};

// ---- messages
// -----------------------------------------------------------------------------------------------------------

// Reports `OP (node N of subgraph S): text`, followed by the shapes and types of the inputs. Always returns
// kTfLiteError.
TfLiteStatus hl_op_error(TfLiteContext *ctx, const TfLiteNode *node, const char *format, ...) HL_PRINTF(3, 4);

// Ends the function with kTfLiteError and a message when the condition does not hold.
#define HL_REQUIRE(ctx, node, condition, ...)                             \
    do {                                                                  \
        if (!(condition)) return hl_op_error((ctx), (node), __VA_ARGS__); \
    } while (0)

// Ends the function with the status of a call that did not succeed (which has reported already).
#define HL_TRY(call)                                    \
    do {                                                \
        TfLiteStatus hl_status_ = (call);               \
        if (hl_status_ != kTfLiteOk) return hl_status_; \
    } while (0)

// Checks the numbers of inputs and outputs, and that none of the first `inputs` required inputs and the outputs is
// absent.
TfLiteStatus hl_require_counts(TfLiteContext *ctx, const TfLiteNode *node, int min_inputs, int max_inputs, int outputs);
// "<type> is not supported" for the tensor, naming it: the default of a switch over types.
TfLiteStatus hl_unsupported_type(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor);

// ---- tensors of a node
// --------------------------------------------------------------------------------------------------

static inline int hl_input_count(const TfLiteNode *node)
{
    return node->inputs->size;
}
static inline int hl_output_count(const TfLiteNode *node)
{
    return node->outputs->size;
}
// NULL when there is no such input or it is an absent optional one.
const TfLiteTensor *hl_input(const TfLiteContext *ctx, const TfLiteNode *node, int index);
// For state that an operator writes (LSTM, SVDF): NULL unless the tensor is a variable.
TfLiteTensor *hl_variable_input(TfLiteContext *ctx, const TfLiteNode *node, int index);
TfLiteTensor *hl_output(TfLiteContext *ctx, const TfLiteNode *node, int index);
const TfLiteTensor *hl_intermediate(const TfLiteContext *ctx, const TfLiteNode *node, int index);

// Scratch tensors: the first call makes `count` of them, later calls find them again. Call it in prepare before taking
// any TfLiteTensor pointer: it may move the tensors. Each then needs type and size by hl_set_temporary, each time in
// prepare; its memory is there during invoke only (persistent: from invoke to invoke).
TfLiteStatus hl_make_temporaries(TfLiteContext *ctx, TfLiteNode *node, int count);
TfLiteTensor *hl_temporary(TfLiteContext *ctx, const TfLiteNode *node, int index);
TfLiteStatus hl_set_temporary(TfLiteContext *ctx, TfLiteNode *node, int index, TfLiteType type, bool persistent,
                              int rank, const int *dims);

static inline bool hl_is_constant(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteMmapRo || tensor->allocation_type == kTfLitePersistentRo;
}
static inline bool hl_is_dynamic(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteDynamic;
}

// ---- shapes
// -------------------------------------------------------------------------------------------------------------

static inline int hl_rank(const TfLiteTensor *tensor)
{
    return tensor->dims->size;
}
static inline int hl_dim(const TfLiteTensor *tensor, int axis)
{
    return tensor->dims->data[axis];
}
// Elements of a tensor, and of the dimensions [from, to) of a shape. The runtime refuses shapes whose product could
// overflow.
int64_t hl_elements(const TfLiteTensor *tensor);
int64_t hl_product(const TfLiteIntArray *dims, int from, int to);
bool hl_same_shape(const TfLiteTensor *a, const TfLiteTensor *b);
bool hl_same_type(const TfLiteTensor *a, const TfLiteTensor *b);
// Axis in [-rank, rank) to [0, rank); false outside.
bool hl_normalize_axis(int64_t axis, int rank, int *result);

// Give an output its shape. Fails with a message where the runtime refuses it (negative or huge dimensions, memory
// limit). A tensor that is dynamic gets its memory at once.
TfLiteStatus hl_resize(TfLiteContext *ctx, TfLiteTensor *tensor, int rank, const int *dims);
TfLiteStatus hl_resize_like(TfLiteContext *ctx, TfLiteTensor *tensor, const TfLiteTensor *model);
// For a tensor of the heap whose bytes do not follow from its shape. Keeps what fits of the content; fails with a
// message.
TfLiteStatus hl_resize_bytes(TfLiteContext *ctx, TfLiteTensor *tensor, size_t bytes);
// Bytes that the interpreter's memory limit leaves: for what a kernel allocates beside tensors.
size_t hl_memory_left(const TfLiteContext *ctx);
// The interpreter takes fast kernels where there are some.
bool hl_wants_fast(const TfLiteContext *ctx);
// Loops over rows (row_loops.h), the best of this CPU where fast kernels are wanted.
const struct hl_row_loops *hl_row_loops(const TfLiteContext *ctx);
// Threads that the interpreter runs kernels with, and base/threads.h's hl_threads_run with them.
int hl_thread_count(const TfLiteContext *ctx);
void hl_parallel(const TfLiteContext *ctx, int64_t items, void (*work)(void *arg, int64_t item, int worker), void *arg);
// What a kernel keeps beside tensors counts against the limit: so many bytes more, or less where negative.
void hl_count_memory(TfLiteContext *ctx, ptrdiff_t bytes);
// Counts steps that are about to be taken against the interpreter's limit of work. Fails with a message above it.
TfLiteStatus hl_count_work(TfLiteContext *ctx, const TfLiteNode *node, double steps);
// A table for a kernel's state, of zeros, to be freed in release. NULL without memory or above the limit.
void *hl_make_table(const TfLiteContext *ctx, size_t count, size_t size);
// The output's shape is known only in invoke: mark it in prepare, hl_resize it in invoke.
void hl_make_dynamic(TfLiteTensor *tensor);
// The output's value is known in prepare (all inputs constant): call it, then hl_resize, then write the value. It
// stays.
void hl_make_constant(TfLiteTensor *tensor);

// Numpy broadcasting of up to three shapes into dims[HL_MAX_RANK]; false where they do not fit. b and c may be NULL.
bool hl_broadcast(const TfLiteIntArray *a, const TfLiteIntArray *b, const TfLiteIntArray *c, int *rank, int *dims);

// Walks the positions of a shape in memory order, keeping one offset (in elements) per operand:
//     struct hl_walk walk;
//     hl_walk_start(&walk, rank, dims, 2, (const TfLiteIntArray *[]){a->dims, b->dims});
//     for (int64_t i = 0; i < walk.count; i++, hl_walk_next(&walk)) y[i] = x0[walk.at[0]] + x1[walk.at[1]];
// Operands have broadcastable shapes (right-aligned, ones stretch). For speed, contiguous innermost runs can be taken
// whole: see hl_walk_run.
enum { HL_WALK_OPERANDS = 4 };
struct hl_walk {
    int rank, operands;
    int64_t count;                                 // positions in all
    int dims[HL_MAX_RANK];                         // after merging neighbors that every operand walks alike
    int64_t stride[HL_WALK_OPERANDS][HL_MAX_RANK]; // in elements, 0 where the operand is stretched
    int index[HL_MAX_RANK];
    int64_t at[HL_WALK_OPERANDS];
};
void hl_walk_start(struct hl_walk *walk, int rank, const int *dims, int operands, const TfLiteIntArray *const *shapes);
// The same with strides of one's own (transpose, reverse, slices): strides[o][axis] in elements.
void hl_walk_start_strided(struct hl_walk *walk, int rank, const int *dims, int operands,
                           const int64_t (*strides)[HL_MAX_RANK]);
void hl_walk_next(struct hl_walk *walk);
// Length of the innermost run (walk->dims[rank-1]); each operand moves by stride[o][rank-1] in it. hl_walk_skip_run
// goes to the start of the next run. A walk of rank 0 has one run of one element.
int hl_walk_run(const struct hl_walk *walk);
void hl_walk_skip_run(struct hl_walk *walk);

// ---- values
// -------------------------------------------------------------------------------------------------------------

// Data pointers; NULL for tensors without memory (0 elements, not allocated yet).
static inline const void *hl_data(const TfLiteTensor *tensor)
{
    return tensor->data.raw_const;
}
#define HL_IN(type, tensor) ((const type *)hl_data(tensor))
#define HL_OUT(type, tensor) ((type *)(tensor)->data.data)

// Before a loop over elements of which none uses what another wrote: its arrays may be the same memory (hl_op.inplace).
// Without it compilers vectorize only where they find at run time that the arrays differ.
#if defined __clang__
#define HL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined __GNUC__
#define HL_INDEPENDENT _Pragma("GCC ivdep")
#else
#define HL_INDEPENDENT
#endif

// One element of an int8, uint8, int16, int32 or int64 tensor (axis, shape, sizes … that may have several types).
int64_t hl_integer_at(const TfLiteTensor *tensor, int64_t index);
static inline bool hl_is_integer(TfLiteType type)
{
    return type == kTfLiteInt32 || type == kTfLiteInt64 || type == kTfLiteInt16 || type == kTfLiteInt8 ||
           type == kTfLiteUInt8;
}
// Bits of one element: 2 or 4 for packed types, 0 for strings, resources and variants.
int hl_element_bits(TfLiteType type);
// Bytes of one element, 0 for strings and packed types.
size_t hl_element_size(TfLiteType type);
// Bytes that the tensor's dense data takes: elements times size, packed types packed.
size_t hl_dense_bytes(const TfLiteTensor *tensor);

// ---- quantization
// -------------------------------------------------------------------------------------------------------

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
bool hl_same_quantization(const TfLiteTensor *a, const TfLiteTensor *b); // scale and zero point

const char *hl_type_name(TfLiteType type); // "float32"

#endif
