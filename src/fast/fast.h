// SPDX-License-Identifier: Apache-2.0
// How a fast kernel takes a node over from the reference kernel. The operator's hl_op names a struct hl_fast; after the
// reference's prepare, which has checked the node and shaped its outputs, hl_fast.prepare makes a state of its own, or
// none: then the node stays with the reference kernel. With a state, hl_fast.invoke runs in place of the reference's
// invoke. Where row kernels are all that a fast kernel would bring, the operator has none, and takes those of
// hl_row_kernels.
#ifndef HALITE_FAST_FAST_H
#define HALITE_FAST_FAST_H

#include "ops/op.h"
#include "runtime/weights.h"

// How an element-wise node computes neighboring elements, as one step of a chain (chain.h): y[i] = f(a[i], b[i]), or
// f(a[i]). y may be the memory of an input.
struct hl_step {
    void (*run)(const struct hl_step *step, const void *a, const void *b, void *y, int64_t count);
    const void *state, *params;
    uint8_t inputs[2];            // of the node: which ones a and b are
    const struct hl_fast *kernel; // of the node, where that says all that it does; NULL: it does more, or is several
};
struct hl_chain;
struct hl_pool;

// What makes the first operand of a node, of the same kernel: a product, its chain of element-wise nodes, and a node
// with run_rows that goes on with those.
struct hl_joined {
    const TfLiteNode *product;
    const struct hl_chain *chain; // borrowed; NULL: none
    const struct hl_fast *rows;
    const void *rows_state;
};

struct hl_fast {
    // *state: made by hl_fast_make, which is told how many *bytes; left NULL where the kernel does not take the node.
    // The node's scratch tensors are the reference kernel's and get no memory in a node that is taken.
    TfLiteStatus (*prepare)(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes);
    TfLiteStatus (*invoke)(TfLiteContext *ctx, TfLiteNode *node, void *state);
    void (*release)(void *state);
    // Of a node that is element-wise and has a state: describes it. NULL: it is not.
    void (*describe)(const TfLiteNode *node, const void *state, struct hl_step *step);
    // From now on the node computes the steps of a chain, too, in the blocks of its output (chain.h). The state borrows
    // the chain. False: not in these blocks. NULL: it never can.
    bool (*lead)(void *state, const struct hl_chain *chain);
    bool leads_to_pools; // lead knows chains that end with a pool
    // From now on the rows of the output, of its last dimension, lie so many values apart. False: they cannot. NULL:
    // they never can.
    bool (*set_row_stride)(void *state, int64_t stride);
    // Rows of the output, of its last dimension, from rows of the input. y may be x. NULL: it has no such rows.
    void (*run_rows)(const void *state, const void *x, void *y, int64_t rows);
    // From now on the node computes what makes its first operand, too, and *bytes says how many it takes for that; 0:
    // it does not. NULL: it never can.
    TfLiteStatus (*join)(TfLiteContext *ctx, TfLiteNode *node, void *state, const struct hl_joined *joined,
                         size_t *bytes);
};

// Whether the node's inputs are such that a chain can read them piece by piece: as large as its output, or as its last
// dimensions, or one value.
bool hl_chain_takes(const TfLiteContext *ctx, const TfLiteNode *node);
// *chain: of nodes that go on with the output of `lead`, with a step for each, and a pool of the last one's output
// (NULL: none); of *bytes bytes, which free takes. A step without run has the values of its input. NULL where the
// memory limit leaves too little.
TfLiteStatus hl_chain_create(TfLiteContext *ctx, const TfLiteNode *lead, const TfLiteNode *const *nodes,
                             const struct hl_step *steps, int count, const struct hl_pool *pool,
                             struct hl_chain **chain, size_t *bytes);
// Whether a chain saves something behind a node that runs anyway.
bool hl_chain_pays(const struct hl_chain *chain);

// The memory of a state: a struct, and behind it arrays that begin at cache lines. A kernel fills a struct of its own
// and lists its arrays; hl_fast_build sizes them all, lets the struct's pointers point to them, and copies the struct.
// An array of no elements is NULL.
enum { HL_MAX_PARTS = 24, HL_LINE = 64 };

// An array that each worker of hl_parallel has. What one worker has lies together, apart from what the next one has:
// the sums of all workers side by side cost MobileNet v2 uint8 with two threads 4.65 ms in place of 4.20, because a
// processor that reads ahead in its own sums takes the lines of its neighbor.
struct hl_scratch {
    char *first;
    size_t stride; // bytes from one worker's array to the next one's
};
static inline void *hl_scratch_of(const struct hl_scratch *scratch, int worker)
{
    return scratch->first ? scratch->first + (size_t)worker * scratch->stride : NULL;
}

struct hl_parts {
    int count;
    struct hl_part {
        void *pointer;              // the address of the struct's pointer to the array
        struct hl_scratch *scratch; // or what the workers have; otherwise NULL
        int64_t workers;
        int64_t rows, columns; // elements of one array: the product of both
        size_t size;           // of an element
        bool constant;         // filled in prepare and never changed: interpreters may share it (hl_fast_share)
    } parts[HL_MAX_PARTS];
    struct hl_weights **weights; // where the struct keeps the memory of constant arrays; NULL: it has none to share
    bool filled;                 // by hl_fast_build: the constant arrays were found packed, and must not be written
    struct hl_digest how;        // of what says how constant arrays lie, beside the node and their sizes
};
void hl_parts_add(struct hl_parts *parts, void *pointer, int64_t rows, int64_t columns, size_t size);
void hl_parts_add_constant(struct hl_parts *parts, void *pointer, int64_t rows, int64_t columns, size_t size);
void hl_parts_add_scratch(struct hl_parts *parts, struct hl_scratch *scratch, int workers, int64_t rows,
                          int64_t columns, size_t size);

// *state: a copy of the `size` bytes of `made` with its arrays, zeroed, or NULL as from hl_fast_make. With a cache for
// weights (runtime/weights.h) constant arrays have memory of their own, which the state's release gives back. Where the
// cache has them already (parts->filled), they are not zeroed, and read-only.
TfLiteStatus hl_fast_build(TfLiteContext *ctx, const TfLiteNode *node, struct hl_parts *parts, void *made, size_t size,
                           void **state, size_t *bytes);
// To be called when the constant arrays are filled, or were found so: lets the state's pointers to them point to what
// another state has, where that is the same, and takes that from *bytes. Pointers derived from them must be set
// afterwards.
void hl_fast_share(const struct hl_parts *parts, const void *made, void *state, size_t *bytes);

// Fewer products than this take about as long as it takes to share them among threads. A quarter and this, a tenth, of
// a bound of 200,000 were measured on a Xeon with 16 cores: 12 networks took 0.90, 0.96, 0.99 and 1.00 of the quarter's
// times with 2, 4, 8 and 16 threads. Where it takes longer to hand work over, more of them do (hl_pays_to_share): on
// another such Xeon ToyADMOS int8 took 7.2, 10.3 and 13.7 us with 2, 4 and 8 threads, and 3.3 so, as with one; in
// floats 13, 13.5 and 15.9, and 9 to 10; face blendshapes 448 and 404 with 4 and 8, and 339 and 325. (Depthwise and
// element-wise nodes that were judged in this way between convolutions that are shared cost person detection 15 to 40 %
// with 8 threads: what they read lies in the caches of all processors.)
enum { HL_MIN_SHARED_PRODUCTS = 15000 };

// The state with which a fast kernel has taken a node over; NULL: the reference kernel runs.
void *hl_fast_state_of(const TfLiteNode *node);
// In prepare: the work of a node that this one takes over is its own, for the interpreter's limit.
void hl_fast_take_work(const TfLiteNode *node, const TfLiteNode *taken);

// Zeroed bytes. NULL, and no error, where the memory limit does not leave so many: the reference kernel needs fewer.
TfLiteStatus hl_fast_make(TfLiteContext *ctx, const TfLiteNode *node, size_t bytes, void **state);

// Its value is known in prepare and does not change before the next one: of the model, or of a node like DEQUANTIZE
// before it.
static inline bool hl_is_packable(const TfLiteTensor *tensor)
{
    return hl_is_constant(tensor) && tensor->data.raw_const && !tensor->sparsity;
}

// Returns the row kernels of the best CPU level. Reports a HALITE_SIMD that names none.
const struct hl_row_kernels *hl_fast_row_kernels(const struct hl_reporter *reporter);

extern const struct hl_fast hl_fast_conv_2d, hl_fast_depthwise_conv_2d, hl_fast_fully_connected;
extern const struct hl_fast hl_fast_relu, hl_fast_relu6, hl_fast_relu_n1_to_1, hl_fast_relu_0_to_1, hl_fast_quantize,
    hl_fast_dequantize;
extern const struct hl_fast hl_fast_add, hl_fast_sub, hl_fast_mul, hl_fast_div, hl_fast_squared_difference,
    hl_fast_maximum, hl_fast_minimum, hl_fast_prelu;
extern const struct hl_fast hl_fast_logistic, hl_fast_tanh, hl_fast_exp, hl_fast_sqrt, hl_fast_rsqrt,
    hl_fast_hard_swish, hl_fast_leaky_relu, hl_fast_neg, hl_fast_abs, hl_fast_square, hl_fast_floor, hl_fast_ceil,
    hl_fast_round, hl_fast_elu, hl_fast_gelu, hl_fast_log, hl_fast_sin, hl_fast_cos;
extern const struct hl_fast hl_fast_batch_matmul, hl_fast_resize_bilinear, hl_fast_softmax, hl_fast_log_softmax,
    hl_fast_transpose_conv, hl_fast_select;

#endif
