// SPDX-License-Identifier: Apache-2.0
// A built-in operator may ask this of the runtime, beyond the interface's TfLiteContext: messages about its node, the
// node's tensors and scratch tensors, sizes, memory, threads, and its share of the limits. Operators see the
// interpreter through this header, calls.h and resources.h alone.
#ifndef HALITE_RUNTIME_OP_CONTEXT_H
#define HALITE_RUNTIME_OP_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/tensor.h"
#include "base/report.h"
#include "tensorflow/lite/c/common.h"

// ---- messages -----------------------------------------------------------------------------------

// Reports `OP (node N of subgraph S): text`, followed by the shapes and types of the inputs. It always returns
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

// Checks the numbers of inputs and outputs, and that neither a required input (the first min_inputs) nor an output is
// absent.
TfLiteStatus hl_require_counts(TfLiteContext *ctx, const TfLiteNode *node, int min_inputs, int max_inputs, int outputs);
// Reports that the tensor's type is not supported, and names both. A switch over types calls it in its default case.
TfLiteStatus hl_unsupported_type(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor);

// ---- tensors of a node --------------------------------------------------------------------------

static inline int hl_input_count(const TfLiteNode *node)
{
    return node->inputs->size;
}
static inline int hl_output_count(const TfLiteNode *node)
{
    return node->outputs->size;
}
// Returns NULL where there is no such input, or where it is optional and absent.
const TfLiteTensor *hl_input(const TfLiteContext *ctx, const TfLiteNode *node, int index);
// Returns the input that holds state which the operator writes (LSTM, SVDF), or NULL where it is no variable.
TfLiteTensor *hl_variable_input(TfLiteContext *ctx, const TfLiteNode *node, int index);
TfLiteTensor *hl_output(TfLiteContext *ctx, const TfLiteNode *node, int index);
const TfLiteTensor *hl_intermediate(const TfLiteContext *ctx, const TfLiteNode *node, int index);

// The first call makes `count` scratch tensors, and later calls find them again. Call it in prepare before you take any
// TfLiteTensor pointer, since it may move the tensors. Each scratch tensor then needs a type and a size from
// hl_set_temporary, every time in prepare. Its memory exists during invoke only; that of a persistent one stays from
// invoke to invoke.
TfLiteStatus hl_make_temporaries(TfLiteContext *ctx, TfLiteNode *node, int count);
TfLiteTensor *hl_temporary(TfLiteContext *ctx, const TfLiteNode *node, int index);
TfLiteStatus hl_set_temporary(TfLiteContext *ctx, TfLiteNode *node, int index, TfLiteType type, bool persistent,
                              int rank, const int *dims);

// ---- the nodes around a node ----------------------------------------------------------------------

// A border of zeros, or zero points, around the images of input 0, as the PAD before the node makes it.
struct hl_border {
    int height, width; // of the images without it
    int top, left;
};
// In prepare: whether input 0, with four dimensions, is the output of a PAD that this node may take over, because
// nobody else sees it.
bool hl_find_pad(TfLiteContext *ctx, const TfLiteNode *node, struct hl_border *border);
// In prepare: whether input 0 is the output of a MUL of a tensor of floats with itself that this node may take over,
// because nobody else sees it.
bool hl_find_squares(TfLiteContext *ctx, const TfLiteNode *node);
// In prepare: the DEPTHWISE_CONV_2D whose output is input 0, that this node may take over, because nobody else sees it;
// NULL: there is none.
const TfLiteNode *hl_find_depthwise(TfLiteContext *ctx, const TfLiteNode *node);
// In prepare, after one of these found something: the node before does not run, and this one does its work.
void hl_take_over(TfLiteContext *ctx, TfLiteNode *node);
// In invoke: input 0, or that of the node that was taken over.
const TfLiteTensor *hl_read_input(const TfLiteContext *ctx, const TfLiteNode *node);

// In invoke: the tensor that the node writes, output 0, or that of the chain of nodes it computes (runtime/chain.c).
TfLiteTensor *hl_result(TfLiteContext *ctx, const TfLiteNode *node);
// And where it writes it: that tensor's data, or rows of a CONCATENATION's output (runtime/concat_in_place.c).
void *hl_result_data(TfLiteContext *ctx, const TfLiteNode *node);

// ---- sizes and memory of tensors ----------------------------------------------------------------

// Gives an output its shape. It fails with a message where the runtime refuses the shape (negative or huge dimensions,
// memory limit). A dynamic tensor gets its memory at once.
TfLiteStatus hl_resize(TfLiteContext *ctx, TfLiteTensor *tensor, int rank, const int *dims);
TfLiteStatus hl_resize_like(TfLiteContext *ctx, TfLiteTensor *tensor, const TfLiteTensor *model);
// Resizes a tensor on the heap whose bytes do not follow from its shape. It keeps as much of the content as fits, and
// fails with a message.
TfLiteStatus hl_resize_bytes(TfLiteContext *ctx, TfLiteTensor *tensor, size_t bytes);
// Marks an output, in prepare, whose shape is known only in invoke. The operator then calls hl_resize in invoke.
void hl_make_dynamic(TfLiteTensor *tensor);
// Marks an output whose value is known in prepare, because all inputs are constant. The operator then calls hl_resize
// and writes the value, which stays.
void hl_make_constant(TfLiteTensor *tensor);
// The same for a value that follows from the node alone and may be large: interpreters of one model share it
// (runtime/shared_constant.c). Gives output 0 the shape of `model` and memory. *is_known: the value is there already,
// and must not be written. Otherwise the operator writes it, and then calls hl_share_constant.
TfLiteStatus hl_make_shared_constant(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *model,
                                     bool *is_known);
void hl_share_constant(TfLiteContext *ctx, const TfLiteNode *node);

// ---- limits, kernels, threads -------------------------------------------------------------------

// Returns how many bytes the interpreter's memory limit leaves for what a kernel allocates beside tensors.
size_t hl_memory_left(const TfLiteContext *ctx);
// Counts bytes that a kernel keeps beside tensors against the limit. A negative number gives them back.
void hl_count_memory(TfLiteContext *ctx, ptrdiff_t bytes);
// Allocates a zeroed table for a kernel's state, which the kernel frees in release. Returns NULL where memory or the
// limit is exhausted.
void *hl_make_table(const TfLiteContext *ctx, size_t count, size_t size);
// Counts steps that are about to be taken against the interpreter's limit of work. It fails with a message above it.
TfLiteStatus hl_count_work(TfLiteContext *ctx, const TfLiteNode *node, double steps);

// Returns whether the interpreter wants fast kernels where there are some.
bool hl_wants_fast(const TfLiteContext *ctx);
// Returns the microkernels for rows (ops/common/row_kernels.h) that src/ops has chosen for this interpreter.
const struct hl_row_kernels *hl_row_kernels(const TfLiteContext *ctx);

// Where a node leaves, in invoke, what nodes behind it may use before the run of the subgraph ends and before one is
// prepared anew: what it made of an input, for others that read the same tensor. NULL: nothing. src/fast/convolve.c
// alone uses it, and knows its type.
const void **hl_left_for_others(const TfLiteContext *ctx);

// Returns how many threads the interpreter runs kernels with.
int hl_thread_count(const TfLiteContext *ctx);
// Whether it takes less time to share so much work among the threads. least: from how much on it does where
// hl_threads_delay is HL_USUAL_DELAY. Measured were 250 to 1,000 on two cores of a Zen 4 and 800 to 2,600 on 16 cores
// of a Xeon; 200 was chosen for these two machines alone.
enum { HL_USUAL_DELAY = 200 };
bool hl_pays_to_share(const TfLiteContext *ctx, double amount, double least);
// Positions of one item of work where `count` of them, at least one, are shared among these threads: two items for
// each thread, or all positions in one where sharing is not worth it.
int64_t hl_piece(const TfLiteContext *ctx, int64_t count, bool is_worth_it);
// Runs hl_threads_run of base/threads.h with these threads.
void hl_parallel(const TfLiteContext *ctx, int64_t items, void (*work)(void *arg, int64_t item, int worker), void *arg);

#endif
