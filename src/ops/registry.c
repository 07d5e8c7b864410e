// SPDX-License-Identifier: Apache-2.0
// From rows of operators.def, in a selective build of those that cmake/select.cmake keeps, to registrations. An hl_op
// has no init and free of its own: its state is a zeroed block, and before it lies what a fast kernel made that has
// taken the node over.
#include <stdlib.h>
#include <string.h>

#include "fast/fast.h"
#include "ops/common/row_loops.h"
#include "ops/op.h"
#include "runtime/builtin_kernels.h"

struct block {
    void *fast;        // state of op->fast, NULL: the reference kernel runs
    size_t fast_bytes; // counted
    max_align_t state[];
};

// Of node->user_data.
static struct block *block_of(void *state)
{
    return (struct block *)((char *)state - offsetof(struct block, state));
}

static void *create_state(const struct hl_op *op, TfLiteContext *ctx, const char *options, size_t size)
{
    if (op->state_size == 0 && !op->fast) return NULL;
    struct block *block = calloc(1, offsetof(struct block, state) + op->state_size);
    if (block && op->parse && op->parse(ctx, block->state, options, size) != kTfLiteOk) {
        if (op->release) op->release(block->state);
        free(block);
        return NULL;
    }
    return block ? block->state : NULL;
}

static void drop_fast(const struct hl_op *op, TfLiteContext *ctx, struct block *block)
{
    if (block->fast) op->fast->release(block->fast);
    hl_count_memory(ctx, -(ptrdiff_t)block->fast_bytes);
    block->fast = NULL;
    block->fast_bytes = 0;
}

static void destroy_state(const struct hl_op *op, TfLiteContext *ctx, void *state)
{
    if (!state) return;
    drop_fast(op, ctx, block_of(state));
    if (op->release) op->release(state);
    free(block_of(state));
}

// Gives the node to the fast kernel, if that takes it.
static TfLiteStatus prepare_fast(const struct hl_op *op, TfLiteContext *ctx, TfLiteNode *node)
{
    struct block *block = block_of(node->user_data);
    drop_fast(op, ctx, block);
    if (!hl_wants_fast(ctx)) return kTfLiteOk;
    size_t bytes = 0;
    HL_TRY(op->fast->prepare(ctx, node, &block->fast, &bytes));
    if (!block->fast) return kTfLiteOk;
    block->fast_bytes = bytes;
    hl_count_memory(ctx, (ptrdiff_t)block->fast_bytes);
    for (int i = 0; i < node->temporaries->size; i++) // the reference kernel's
        HL_TRY(hl_set_temporary(ctx, node, i, hl_temporary(ctx, node, i)->type, false, 1, (const int[]){0}));
    return kTfLiteOk;
}

// create_state gave NULL: memory ran out, or options that parse has reported.
static TfLiteStatus prepare(const struct hl_op *op, TfLiteContext *ctx, TfLiteNode *node)
{
    HL_REQUIRE(ctx, node, (op->state_size == 0 && !op->fast) || node->user_data,
               "the kernel could not be set up: no memory, or unusable options");
    for (int i = 0; i < node->inputs->size; i++) {
        const TfLiteTensor *input = hl_input(ctx, node, i);
        bool may_be_sparse = i < 32 && (op->sparse_inputs >> i & 1);
        // A sparse constant has fewer bytes than its shape says.
        HL_REQUIRE(ctx, node, may_be_sparse || !input || !input->sparsity,
                   "input %d is sparse, which this operator does not take", i);
    }
    HL_TRY(op->prepare(ctx, node));
    return op->fast ? prepare_fast(op, ctx, node) : kTfLiteOk;
}

static TfLiteStatus invoke(const struct hl_op *op, TfLiteContext *ctx, TfLiteNode *node)
{
    if (op->work) HL_TRY(hl_count_work(ctx, node, op->work(ctx, node)));
    void *fast = op->fast ? block_of(node->user_data)->fast : NULL;
    return fast ? op->fast->invoke(ctx, node, fast) : op->invoke(ctx, node);
}

// TfLiteRegistration's functions carry no data of their own, so each operator gets its own four.
#define FUNCTIONS(symbol)                                                            \
    extern const struct hl_op hl_op_##symbol;                                        \
    static void *symbol##_init(TfLiteContext *ctx, const char *options, size_t size) \
    {                                                                                \
        return create_state(&hl_op_##symbol, ctx, options, size);                    \
    }                                                                                \
    static void symbol##_free(TfLiteContext *ctx, void *state)                       \
    {                                                                                \
        destroy_state(&hl_op_##symbol, ctx, state);                                  \
    }                                                                                \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node)       \
    {                                                                                \
        return prepare(&hl_op_##symbol, ctx, node);                                  \
    }                                                                                \
    static TfLiteStatus symbol##_invoke(TfLiteContext *ctx, TfLiteNode *node)        \
    {                                                                                \
        return invoke(&hl_op_##symbol, ctx, node);                                   \
    }

#define OP(name, code, first, last, options, symbol, file) FUNCTIONS(symbol)
#define GAP(name, code, first, last, options)
#define CUSTOM(name, symbol, file) FUNCTIONS(symbol)
#include "abi/operators.def"
#undef OP
#undef CUSTOM

struct row {
    int code; // kTfLiteBuiltinCustom: found by name
    const char *custom_name;
    int first_version, last_version;
    const struct hl_op *op;
    TfLiteRegistration registration;
};

#define CALLBACKS(symbol)                                                                                    \
    {                                                                                                        \
        .init = symbol##_init, .free = symbol##_free, .prepare = symbol##_prepare, .invoke = symbol##_invoke \
    }
static const struct row rows[] = {
#define OP(name, code, first, last, options, symbol, file) \
    {code, NULL, first, last, &hl_op_##symbol, CALLBACKS(symbol)},
#define CUSTOM(name, symbol, file) {kTfLiteBuiltinCustom, name, 1, 1, &hl_op_##symbol, CALLBACKS(symbol)},
#include "abi/operators.def"
#undef OP
#undef GAP
#undef CUSTOM
    {-1, NULL, 0, -1, NULL, {.init = NULL}}, // so that a selective build without operators has a table too
};

static bool find(const struct hl_model_code *code, TfLiteRegistration *registration)
{
    for (size_t i = 0; i + 1 < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        if (row->code != code->builtin) continue;
        if (row->custom_name) {
            if (strcmp(row->custom_name, code->custom_name) != 0) continue;
        } else if (code->version < row->first_version || code->version > row->last_version) {
            continue;
        }
        *registration = row->registration;
        registration->inplace_operator = row->op->inplace;
        return true;
    }
    return false;
}

const struct hl_builtin_kernels hl_builtin_kernels = {.find = find, .choose_row_loops = hl_row_loops_choose};
