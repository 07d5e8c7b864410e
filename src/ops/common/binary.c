// SPDX-License-Identifier: Apache-2.0
// The frame of binary.h: it checks two inputs, broadcasts their shapes, and calls the operator's run for each stretch
// of elements along which both inputs move by fixed steps.
#include "ops/common/binary.h"

TfLiteStatus hl_binary_check(TfLiteContext *ctx, const TfLiteNode *node, TfLiteType output_type)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *a = hl_input(ctx, node, 0), *b = hl_input(ctx, node, 1);
    HL_REQUIRE(ctx, node, hl_same_type(a, b), "the inputs have different types, %s and %s", hl_type_name(a->type),
               hl_type_name(b->type));
    // Whatever type the model declares: there are files that declare float32 for an 8-bit sum.
    hl_output(ctx, node, 0)->type = output_type == kTfLiteNoType ? a->type : output_type;
    return kTfLiteOk;
}

TfLiteStatus hl_binary_choose(TfLiteContext *ctx, const TfLiteNode *node, const hl_binary_runs runs)
{
    struct hl_binary *op = node->user_data;
    const TfLiteTensor *a = hl_input(ctx, node, 0);
    op->run = (int)a->type >= 0 && (int)a->type < HL_TYPES ? runs[a->type] : NULL;
    return op->run ? kTfLiteOk : hl_unsupported_type(ctx, node, a);
}

// The output in pieces along the walk's first axis.
struct pieces {
    const struct hl_binary *op;
    const struct hl_walk *walk;
    const TfLiteTensor *a, *b;
    TfLiteTensor *y;
    int64_t piece; // positions; 0: all
};

static void compute_piece(void *arg, int64_t item, int worker)
{
    const struct pieces *pieces = arg;
    const TfLiteTensor *a = pieces->a, *b = pieces->b;
    const int64_t input_size = (int64_t)hl_type_size(a->type), output_size = (int64_t)hl_type_size(pieces->y->type);
    struct hl_walk walk = *pieces->walk;
    int64_t start = 0; // element of y
    (void)worker;
    if (pieces->piece > 0) {
        const int64_t first = item * pieces->piece, left = walk.dims[0] - first;
        start = walk.count / walk.dims[0] * first;
        hl_walk_take(&walk, first, left < pieces->piece ? left : pieces->piece);
    }
    const int last = walk.rank - 1;
    struct hl_binary_args args = {
        .a_step = last < 0 ? 0 : walk.stride[0][last],
        .b_step = last < 0 ? 0 : walk.stride[1][last],
        .count = hl_walk_run(&walk),
        .state = pieces->op,
    };
    for (int64_t done = 0; done < walk.count; done += args.count, hl_walk_skip_run(&walk)) {
        args.a = HL_IN(char, a) + walk.at[0] * input_size;
        args.b = HL_IN(char, b) + walk.at[1] * input_size;
        args.y = HL_OUT(char, pieces->y) + (start + done) * output_size;
        pieces->op->run(&args);
    }
}

static TfLiteStatus compute(TfLiteContext *ctx, const TfLiteNode *node)
{
    enum { MIN_SHARED_ELEMENTS = 4096, LINE = 64 }; // fewer elements take about as long as it takes to share them
    const struct hl_binary *op = node->user_data;
    if (op->check_values) HL_TRY(op->check_values(ctx, node));

    const TfLiteTensor *a = hl_input(ctx, node, 0), *b = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_walk walk;
    hl_walk_start(&walk, hl_rank(y), y->dims->data, 2, (const TfLiteIntArray *[]){a->dims, b->dims});
    struct pieces pieces = {.op = op, .walk = &walk, .a = a, .b = b, .y = y};
    int64_t items = 1;
    if (walk.rank > 0 && walk.count >= MIN_SHARED_ELEMENTS && hl_thread_count(ctx) > 1) {
        // Two threads should not write to one cache line.
        const int64_t step = walk.rank == 1 ? LINE : 1, piece = hl_piece(ctx, walk.dims[0], true);
        pieces.piece = (piece + step - 1) / step * step;
        items = (walk.dims[0] - 1) / pieces.piece + 1;
    }
    hl_parallel(ctx, items, compute_piece, &pieces);
    return kTfLiteOk;
}

TfLiteStatus hl_binary_finish(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_binary *op = node->user_data;
    const TfLiteTensor *a = hl_input(ctx, node, 0), *b = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    int rank, dims[HL_MAX_RANK];
    HL_REQUIRE(ctx, node, hl_broadcast(a->dims, b->dims, NULL, &rank, dims), "the inputs' shapes do not broadcast");
    op->folded = hl_is_constant(a) && hl_is_constant(b);
    if (op->folded) hl_make_constant(y);
    HL_TRY(hl_resize(ctx, y, rank, dims));
    return op->folded ? compute(ctx, node) : kTfLiteOk;
}

TfLiteStatus hl_binary_prepare(TfLiteContext *ctx, TfLiteNode *node, const hl_binary_runs runs, TfLiteType output_type)
{
    HL_TRY(hl_binary_check(ctx, node, output_type));
    HL_TRY(hl_binary_choose(ctx, node, runs));
    return hl_binary_finish(ctx, node);
}

TfLiteStatus hl_binary_prepare_same(TfLiteContext *ctx, TfLiteNode *node, const hl_binary_runs runs)
{
    HL_TRY(hl_binary_check(ctx, node, kTfLiteNoType));
    HL_REQUIRE(ctx, node, hl_same_shape(hl_input(ctx, node, 0), hl_input(ctx, node, 1)),
               "the inputs have different shapes");
    return hl_binary_prepare(ctx, node, runs, kTfLiteNoType);
}

TfLiteStatus hl_binary_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_binary *op = node->user_data;
    return op->folded ? kTfLiteOk : compute(ctx, node);
}
