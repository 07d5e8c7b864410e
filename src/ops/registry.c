// SPDX-License-Identifier: Apache-2.0
// From rows of operators.def, in a selective build of those that cmake/select.cmake keeps, to registrations. An hl_op
// has no init and free of its own: a node's state is a zeroed block, and before it lie the operator and what a fast
// kernel made that has taken the node over.
#include <stdlib.h>
#include <string.h>

#include "abi/built_types.h"
#include "fast/fast.h"
#include "ops/common/pool_rows.h"
#include "ops/common/row_kernels.h"
#include "ops/op.h"
#include "runtime/builtin_kernels.h"

struct block {
    const struct hl_op *op;
    void *fast;             // state of op->fast, NULL: the reference kernel runs
    size_t fast_bytes;      // counted
    double fast_steps;      // of op->work, for a node taken over, too; a fast kernel knows all shapes in prepare
    struct hl_chain *chain; // of the nodes that are computed with this one; NULL: none
    size_t chain_bytes;
    max_align_t state[];
};

// Of node->user_data.
static struct block *block_of(void *state)
{
    return (struct block *)((char *)state - offsetof(struct block, state));
}

static void *create_state(TfLiteContext *ctx, const char *options, size_t size, const struct hl_op *op)
{
    struct block *block = calloc(1, offsetof(struct block, state) + op->state_size);
    if (!block) return NULL;
    block->op = op;
    if (!op->parse || op->parse(ctx, block->state, options, size) == kTfLiteOk) return block->state;
    if (op->release) op->release(block->state);
    free(block);
    return NULL;
}

static void drop_fast(TfLiteContext *ctx, struct block *block)
{
    if (block->fast) block->op->fast->release(block->fast);
    free(block->chain);
    hl_count_memory(ctx, -(ptrdiff_t)(block->fast_bytes + block->chain_bytes));
    block->fast = NULL;
    block->chain = NULL;
    block->fast_bytes = block->chain_bytes = 0;
}

static void destroy_state(TfLiteContext *ctx, void *state)
{
    if (!state) return;
    struct block *block = block_of(state);
    drop_fast(ctx, block);
    if (block->op->release) block->op->release(state);
    free(block);
}

// Gives the node to the fast kernel, if that takes it.
static TfLiteStatus prepare_fast(TfLiteContext *ctx, TfLiteNode *node, struct block *block)
{
    drop_fast(ctx, block);
    if (!hl_wants_fast(ctx)) return kTfLiteOk;
    size_t bytes = 0;
    block->fast_steps = 0;
    HL_TRY(block->op->fast->prepare(ctx, node, &block->fast, &bytes));
    if (!block->fast) return kTfLiteOk;
    block->fast_bytes = bytes;
    block->fast_steps += block->op->work ? block->op->work(ctx, node) : 0;
    hl_count_memory(ctx, (ptrdiff_t)block->fast_bytes);
    for (int i = 0; i < node->temporaries->size; i++) // the reference kernel's
        HL_TRY(hl_set_temporary(ctx, node, i, hl_temporary(ctx, node, i)->type, false, 1, (const int[]){0}));
    return kTfLiteOk;
}

// A type without kernels ends here, so that no kernel meets it.
static TfLiteStatus check_types(TfLiteContext *ctx, const TfLiteNode *node)
{
    for (int i = 0; i < node->inputs->size + node->outputs->size && !HL_ALL_TYPES; i++) {
        const bool output = i >= node->inputs->size;
        const int at = output ? i - node->inputs->size : i;
        const TfLiteTensor *tensor = output ? hl_output(ctx, node, at) : hl_input(ctx, node, at);
        HL_REQUIRE(
            ctx, node, !tensor || HL_HAS_TYPE(tensor->type),
            "%s %d is %s, which was left out of this build: build with it among HALITE_TYPES, or with this model "
            "among HALITE_MODELS",
            output ? "output" : "input", at, hl_type_name(tensor->type));
    }
    return kTfLiteOk;
}

// create_state gave NULL: memory ran out, or options that parse has reported.
static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_REQUIRE(ctx, node, node->user_data, "the kernel could not be set up: no memory, or unusable options");
    struct block *block = block_of(node->user_data);
    const struct hl_op *op = block->op;
    HL_TRY(check_types(ctx, node));
    for (int i = 0; i < node->inputs->size; i++) {
        const TfLiteTensor *input = hl_input(ctx, node, i);
        bool may_be_sparse = i < 32 && (op->sparse_inputs >> i & 1);
        // A sparse constant has fewer bytes than its shape says.
        HL_REQUIRE(ctx, node, may_be_sparse || !input || !input->sparsity,
                   "input %d is sparse, which this operator does not take", i);
    }
    HL_TRY(op->prepare(ctx, node));
    return op->fast ? prepare_fast(ctx, node, block) : kTfLiteOk;
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct block *block = block_of(node->user_data);
    const struct hl_op *op = block->op;
    if (op->work) HL_TRY(hl_count_work(ctx, node, block->fast ? block->fast_steps : op->work(ctx, node)));
    return block->fast ? op->fast->invoke(ctx, node, block->fast) : op->invoke(ctx, node);
}

static bool is_own(const TfLiteNode *node)
{
    return hl_node_of(node)->registration.invoke == invoke && node->user_data;
}

static enum hl_order_use use_of_order(const TfLiteNode *node)
{
    const struct hl_op *op = is_own(node) ? block_of(node->user_data)->op : NULL;
    if (!op) return HL_ORDER_MATTERS;
    // What a chain can compute is element-wise. A select, which has a third input, is not asked to transpose that.
    return op->fast && op->fast->describe && node->inputs->size < 3 ? HL_ELEMENTWISE : op->order;
}

// The fast kernel that has taken a node over; NULL: none has, or the node is of another's making.
static const struct hl_fast *fast_of(const TfLiteNode *node)
{
    const struct block *block = is_own(node) ? block_of(node->user_data) : NULL;
    return block && block->fast ? block->op->fast : NULL;
}

void *hl_fast_state_of(const TfLiteNode *node)
{
    return fast_of(node) ? block_of(node->user_data)->fast : NULL;
}

void hl_fast_take_work(const TfLiteNode *node, const TfLiteNode *taken)
{
    block_of(node->user_data)->fast_steps += block_of(taken->user_data)->fast_steps;
}

static bool is_lead(const TfLiteNode *node)
{
    const struct hl_fast *fast = fast_of(node);
    return fast && fast->lead;
}

static bool is_step(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_fast *fast = fast_of(node);
    return fast && fast->describe && hl_chain_takes(ctx, node);
}

// The state of a pool that a chain can end with; NULL: the node is none.
static const struct hl_pool *pool_of(const TfLiteNode *node)
{
    return is_own(node) && block_of(node->user_data)->op->ends_chains ? node->user_data : NULL;
}

static bool is_end(const TfLiteNode *lead, const TfLiteNode *node)
{
    return pool_of(node) && fast_of(lead)->leads_to_pools;
}

static TfLiteStatus lead(TfLiteContext *ctx, TfLiteNode *node, const TfLiteNode *const *followers, int count,
                         bool *leads)
{
    struct hl_step steps[HL_MAX_STEPS];
    struct block *block = block_of(node->user_data);
    const struct hl_pool *pool = pool_of(followers[count - 1]);
    const int step_count = pool ? count - 1 : count;
    for (int i = 0; i < step_count; i++) {
        fast_of(followers[i])->describe(followers[i], block_of(followers[i]->user_data)->fast, &steps[i]);
        steps[i].kernel = fast_of(followers[i]);
    }
    struct hl_chain *chain;
    size_t bytes;
    HL_TRY(hl_chain_create(ctx, node, followers, steps, step_count, pool, &chain, &bytes));
    *leads = chain && hl_chain_pays(chain) && block->op->fast->lead(block->fast, chain);
    if (!*leads) {
        free(chain);
        return kTfLiteOk;
    }
    block->chain = chain;
    block->chain_bytes = bytes;
    if (pool) block->fast_steps += block_of(followers[count - 1]->user_data)->op->work(ctx, followers[count - 1]);
    hl_count_memory(ctx, (ptrdiff_t)bytes);
    return kTfLiteOk;
}

static enum hl_row_part row_part(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_fast *fast = fast_of(node);
    if (fast && fast->join) return HL_PRODUCT_PART;
    if (fast && fast->run_rows) return HL_ROWS_PART;
    if (is_step(ctx, node)) return HL_STEP_PART;
    const bool copies = is_own(node) && (block_of(node->user_data)->op->inplace & kTfLiteInplaceOpDataUnmodified);
    return copies ? HL_COPY_PART : HL_NO_PART;
}

static TfLiteStatus join(TfLiteContext *ctx, TfLiteNode *node, const TfLiteNode *const *nodes, bool *joins)
{
    struct hl_step steps[HL_MAX_FOLLOWERS];
    struct block *block = block_of(node->user_data);
    struct hl_chain *chain = NULL;
    size_t chain_bytes = 0, bytes = 0;
    int rows = 1;
    *joins = false;
    for (; row_part(ctx, nodes[rows]) != HL_ROWS_PART; rows++) {
        steps[rows - 1] = (struct hl_step){0};
        if (row_part(ctx, nodes[rows]) == HL_STEP_PART)
            fast_of(nodes[rows])->describe(nodes[rows], block_of(nodes[rows]->user_data)->fast, &steps[rows - 1]);
    }
    if (rows > HL_MAX_STEPS + 1) return kTfLiteOk;
    if (rows > 1) {
        HL_TRY(hl_chain_create(ctx, nodes[0], nodes + 1, steps, rows - 1, NULL, &chain, &chain_bytes));
        if (!chain) return kTfLiteOk;
    }
    const struct hl_joined joined = {
        .product = nodes[0],
        .chain = chain,
        .rows = fast_of(nodes[rows]),
        .rows_state = block_of(nodes[rows]->user_data)->fast,
    };
    const TfLiteStatus status = block->op->fast->join(ctx, node, block->fast, &joined, &bytes);
    *joins = bytes > 0;
    if (!*joins) {
        free(chain);
        return status;
    }
    block->chain = chain;
    block->chain_bytes = chain_bytes + bytes;
    hl_count_memory(ctx, (ptrdiff_t)block->chain_bytes);
    return status;
}

static bool keeps_shapes(const TfLiteNode *node)
{
    return is_own(node) && !block_of(node->user_data)->op->may_resize;
}

static bool set_row_stride(const TfLiteNode *node, int64_t stride)
{
    const struct hl_fast *fast = fast_of(node);
    return fast && fast->set_row_stride && fast->set_row_stride(block_of(node->user_data)->fast, stride);
}

// An output that is constant was computed in prepare.
static void find_call(TfLiteContext *ctx, const TfLiteNode *node, struct hl_call *call, double *steps)
{
    const struct block *block = is_own(node) ? block_of(node->user_data) : NULL;
    if (!block || (block->op->work && !block->fast)) return;
    if (block->op->work) *steps += block->fast_steps;
    call->direct = block->fast ? block->op->fast->invoke : NULL;
    call->state = block->fast;
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    call->plain = y && node->outputs->size == 1 && hl_is_constant(y) ? NULL : block->op->invoke;
}

// TfLiteRegistration's functions carry no data of their own, so each operator has its own init, which puts it into the
// node's state. (Its own prepare, invoke and free, too, made the library 55 KB larger.)
#define INIT(symbol)                                                                 \
    extern const struct hl_op hl_op_##symbol;                                        \
    static void *symbol##_init(TfLiteContext *ctx, const char *options, size_t size) \
    {                                                                                \
        return create_state(ctx, options, size, &hl_op_##symbol);                    \
    }

#define OP(name, code, first, last, options, symbol, file) INIT(symbol)
#define GAP(name, code, first, last, options)
#define CUSTOM(name, symbol, file) INIT(symbol)
#include "abi/operators.def"
#undef OP
#undef CUSTOM

struct row {
    int16_t code; // kTfLiteBuiltinCustom: found by name
    uint8_t first_version, last_version;
    const char *custom_name;
    const struct hl_op *op;
    void *(*init)(TfLiteContext *ctx, const char *options, size_t size);
};

static const struct row rows[] = {
#define OP(name, code, first, last, options, symbol, file) {code, first, last, NULL, &hl_op_##symbol, symbol##_init},
#define CUSTOM(name, symbol, file) {kTfLiteBuiltinCustom, 1, 1, name, &hl_op_##symbol, symbol##_init},
#include "abi/operators.def"
#undef OP
#undef GAP
#undef CUSTOM
    {-1, 0, 0, NULL, NULL, NULL}, // so that a selective build without operators has a table too
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
        *registration = (TfLiteRegistration){
            .init = row->init,
            .free = destroy_state,
            .prepare = prepare,
            .invoke = invoke,
            .inplace_operator = row->op->inplace,
        };
        return true;
    }
    return false;
}

const struct hl_builtin_kernels hl_builtin_kernels = {
    .find = find,
    .choose_row_kernels = hl_row_kernels_choose,
    .use_of_order = use_of_order,
    .is_lead = is_lead,
    .is_step = is_step,
    .is_end = is_end,
    .lead = lead,
    .row_part = HL_WHERE(HL_HAS_OP(BATCH_MATMUL), row_part),
    .join = HL_WHERE(HL_HAS_OP(BATCH_MATMUL), join),
    .keeps_shapes = keeps_shapes,
    .set_row_stride = set_row_stride,
    .find_call = find_call,
};
