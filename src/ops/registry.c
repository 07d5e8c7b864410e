// SPDX-License-Identifier: Apache-2.0
// From rows of ops.def to registrations. An hl_op has no init and free of its own: its state is a zeroed block.
#include "ops/registry.h"

#include <stdlib.h>
#include <string.h>

#include "ops/op.h"

static void *create_state(const struct hl_op *op, TfLiteContext *ctx, const char *options, size_t size)
{
    if (op->state_size == 0) return NULL;
    void *state = calloc(1, op->state_size);
    if (state && op->parse && op->parse(ctx, state, options, size) != kTfLiteOk) {
        if (op->release) op->release(state);
        free(state);
        return NULL;
    }
    return state;
}

static void destroy_state(const struct hl_op *op, void *state)
{
    if (op->release) op->release(state);
    free(state);
}

// create_state gave NULL: memory ran out, or options that parse has reported.
static TfLiteStatus prepare(const struct hl_op *op, TfLiteContext *ctx, TfLiteNode *node)
{
    HL_REQUIRE(ctx, node, op->state_size == 0 || node->user_data,
               "the kernel could not be set up: no memory, or unusable options");
    for (int i = 0; i < node->inputs->size && !op->sparse_inputs; i++) {
        const TfLiteTensor *input = hl_input(ctx, node, i); // its bytes are fewer than its shape says
        HL_REQUIRE(ctx, node, !input || !input->sparsity, "input %d is sparse, which this operator does not take", i);
    }
    return op->prepare(ctx, node);
}

// TfLiteRegistration's functions carry no data of their own, so each operator gets its own four.
#define FUNCTIONS(symbol)                                                                            \
    extern const struct hl_op hl_op_##symbol;                                                        \
    static void *symbol##_init(TfLiteContext *ctx, const char *options, size_t size)                 \
    {                                                                                                \
        return create_state(&hl_op_##symbol, ctx, options, size);                                    \
    }                                                                                                \
    static void symbol##_free(TfLiteContext *ctx, void *state)                                       \
    {                                                                                                \
        (void)ctx;                                                                                   \
        destroy_state(&hl_op_##symbol, state);                                                       \
    }                                                                                                \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node)                       \
    {                                                                                                \
        return prepare(&hl_op_##symbol, ctx, node);                                                  \
    }                                                                                                \
    static TfLiteStatus symbol##_invoke(TfLiteContext *ctx, TfLiteNode *node)                        \
    {                                                                                                \
        return hl_op_##symbol.invoke(ctx, node);                                                     \
    }

#define OP(name, code, first, last, options, symbol, file) FUNCTIONS(symbol)
#define GAP(name, code, first, last, options)
#define CUSTOM(name, symbol, file) FUNCTIONS(symbol)
#include "ops/ops.def"
#undef OP
#undef CUSTOM

struct row {
    int code; // kTfLiteBuiltinCustom: found by name
    const char *custom_name;
    int first_version, last_version;
    const struct hl_op *op;
    TfLiteRegistration registration;
};

#define CALLBACKS(symbol) \
    {.init = symbol##_init, .free = symbol##_free, .prepare = symbol##_prepare, .invoke = symbol##_invoke}
static const struct row rows[] = {
#define OP(name, code, first, last, options, symbol, file) \
    {code, NULL, first, last, &hl_op_##symbol, CALLBACKS(symbol)},
#define CUSTOM(name, symbol, file) {kTfLiteBuiltinCustom, name, 1, 1, &hl_op_##symbol, CALLBACKS(symbol)},
#include "ops/ops.def"
#undef OP
#undef GAP
#undef CUSTOM
    {-1, NULL, 0, -1, NULL, {.init = NULL}}, // so that a selective build without operators has a table too
};

bool hl_registry_find(const struct hl_model_code *code, TfLiteRegistration *registration)
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
