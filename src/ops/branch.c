// SPDX-License-Identifier: Apache-2.0
// Nodes that run one of several subgraphs and give what it gives:
//   IF                   in 0: bool of one element; true: the first of two subgraphs. The arguments follow.
//   STABLEHLO_CASE       in 0: int32 of one element, the subgraph's number; outside of the list: the last. Arguments
//   follow.
//   STABLEHLO_COMPOSITE  always its decomposition; all inputs are arguments.
// Any types; the outputs' shapes are known before running where all subgraphs give the same.
#include "ops/op.h"
#include "runtime/calls.h"

struct branch {
    int count;
    int subgraphs[TFLITE_STABLEHLO_CASE_PARAMS_MAX_BRANCHES_COUNT];
    int first; // argument among the inputs
};

static TfLiteStatus require_selector(TfLiteContext *ctx, const TfLiteNode *node, TfLiteType type)
{
    HL_REQUIRE(ctx, node, hl_input_count(node) >= 1 && hl_input(ctx, node, 0),
               "the input that selects a branch is absent");
    const TfLiteTensor *selector = hl_input(ctx, node, 0);
    HL_REQUIRE(ctx, node, selector->type == type, "the input that selects a branch is %s, it must be %s",
               hl_type_name(selector->type), hl_type_name(type));
    HL_REQUIRE(ctx, node, hl_elements(selector) == 1,
               "the input that selects a branch has %lld elements instead of one", (long long)hl_elements(selector));
    return kTfLiteOk;
}

// The shapes that all branches agree on become the outputs'.
static TfLiteStatus shape_outputs(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct branch *op = node->user_data;
    bool known = true;
    for (int b = 0; b < op->count && known; b++) {
        known = hl_call_is_static(ctx, op->subgraphs[b]);
        for (int i = 0; i < hl_output_count(node) && known; i++)
            known = hl_same_shape(hl_call_result(ctx, op->subgraphs[b], i), hl_call_result(ctx, op->subgraphs[0], i));
    }
    for (int i = 0; i < hl_output_count(node); i++) {
        TfLiteTensor *output = hl_output(ctx, node, i);
        if (known && !hl_is_dynamic(output))
            HL_TRY(hl_resize_like(ctx, output, hl_call_result(ctx, op->subgraphs[0], i)));
        else
            hl_make_dynamic(output);
    }
    return kTfLiteOk;
}

static TfLiteStatus prepare_branches(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct branch *op = node->user_data;
    for (int b = 0; b < op->count; b++) {
        HL_TRY(hl_call_prepare(ctx, node, op->subgraphs[b], node->inputs, op->first));
        HL_TRY(hl_call_check_results(ctx, node, op->subgraphs[b], node->outputs));
    }
    return shape_outputs(ctx, node);
}

static TfLiteStatus run_branch(TfLiteContext *ctx, TfLiteNode *node, int number)
{
    const struct branch *op = node->user_data;
    HL_TRY(hl_call(ctx, node, op->subgraphs[number], node->inputs, op->first));
    for (int i = 0; i < hl_output_count(node); i++)
        HL_TRY(hl_call_take(ctx, node, hl_output(ctx, node, i), hl_call_result(ctx, op->subgraphs[number], i)));
    return kTfLiteOk;
}

// ---- IF -----------------------------------------------------------------------------------------

static TfLiteStatus if_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteIfParams *params = node->builtin_data;
    HL_TRY(require_selector(ctx, node, kTfLiteBool));
    *(struct branch *)node->user_data = (struct branch){
        .count = 2,
        .subgraphs = {params->then_subgraph_index, params->else_subgraph_index},
        .first = 1,
    };
    return prepare_branches(ctx, node);
}

static TfLiteStatus if_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    bool condition = HL_IN(uint8_t, hl_input(ctx, node, 0))[0] != 0;
    return run_branch(ctx, node, condition ? 0 : 1);
}

const struct hl_op hl_op_if = {
    .state_size = sizeof(struct branch),
    .prepare = if_prepare,
    .invoke = if_invoke,
    .may_resize = true,
};

// ---- STABLEHLO_CASE -----------------------------------------------------------------------------

static TfLiteStatus case_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloCaseParams *params = node->builtin_data;
    struct branch *op = node->user_data;
    HL_TRY(require_selector(ctx, node, kTfLiteInt32));
    HL_REQUIRE(ctx, node, params->num_branches >= 1, "there is no branch");
    *op = (struct branch){.count = (int)params->num_branches, .first = 1};
    for (int b = 0; b < op->count; b++) op->subgraphs[b] = params->branch_subgraph_indices[b];
    return prepare_branches(ctx, node);
}

static TfLiteStatus case_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct branch *op = node->user_data;
    int32_t number = HL_IN(int32_t, hl_input(ctx, node, 0))[0];
    return run_branch(ctx, node, number >= 0 && number < op->count ? number : op->count - 1);
}

const struct hl_op hl_op_stablehlo_case = {
    .state_size = sizeof(struct branch),
    .prepare = case_prepare,
    .invoke = case_invoke,
    .may_resize = true,
};

// ---- STABLEHLO_COMPOSITE ------------------------------------------------------------------------

static TfLiteStatus composite_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteStablehloCompositeParams *params = node->builtin_data;
    *(struct branch *)node->user_data = (struct branch){.count = 1, .subgraphs = {params->subgraph_index}};
    return prepare_branches(ctx, node);
}

static TfLiteStatus composite_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return run_branch(ctx, node, 0);
}

const struct hl_op hl_op_stablehlo_composite = {
    .state_size = sizeof(struct branch),
    .prepare = composite_prepare,
    .invoke = composite_invoke,
    .may_resize = true,
};
