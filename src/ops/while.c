// SPDX-License-Identifier: Apache-2.0
// WHILE: out = in; while cond(out): out = body(out). cond and body are subgraphs: cond takes the loop variables and
// gives a bool of one element, body takes and gives them. Any types. Shapes may change from turn to turn; they are
// known before running where body gives what it takes.
//
// The loop variables live in the node's outputs: body may give its inputs back in any order, and new shapes may move
// what lies in its tensors.
#include "ops/op.h"
#include "runtime/calls.h"

static TfLiteStatus while_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteWhileParams *params = node->builtin_data;
    int cond = params->cond_subgraph_index, body = params->body_subgraph_index;
    HL_REQUIRE(ctx, node, hl_input_count(node) == hl_output_count(node),
               "%d inputs but %d outputs: they are loop variables", hl_input_count(node), hl_output_count(node));
    HL_REQUIRE(ctx, node, cond != body, "subgraph %d is both condition and body", cond);
    HL_TRY(hl_call_prepare(ctx, node, cond, node->inputs, 0));
    HL_REQUIRE(ctx, node, hl_call_result_count(ctx, cond) == 1,
               "the condition, subgraph %d, gives %d outputs instead of one", cond, hl_call_result_count(ctx, cond));
    const TfLiteTensor *verdict = hl_call_result(ctx, cond, 0);
    HL_REQUIRE(ctx, node, verdict && verdict->type == kTfLiteBool, "the condition, subgraph %d, gives no bool", cond);
    HL_REQUIRE(ctx, node, !hl_call_is_static(ctx, cond) || hl_elements(verdict) == 1,
               "the condition, subgraph %d, gives %lld elements instead of one", cond, (long long)hl_elements(verdict));
    HL_TRY(hl_call_prepare(ctx, node, body, node->inputs, 0));
    HL_TRY(hl_call_check_results(ctx, node, body, node->outputs));

    bool known = hl_call_is_static(ctx, body);
    for (int i = 0; i < hl_input_count(node) && known; i++)
        known = hl_same_shape(hl_input(ctx, node, i), hl_call_result(ctx, body, i));
    for (int i = 0; i < hl_output_count(node); i++) {
        TfLiteTensor *output = hl_output(ctx, node, i);
        if (known && !hl_is_dynamic(output))
            HL_TRY(hl_resize_like(ctx, output, hl_input(ctx, node, i)));
        else
            hl_make_dynamic(output);
    }
    return kTfLiteOk;
}

static TfLiteStatus ask(TfLiteContext *ctx, TfLiteNode *node, int cond, bool *more)
{
    HL_TRY(hl_call(ctx, node, cond, node->outputs, 0));
    const TfLiteTensor *verdict = hl_call_result(ctx, cond, 0);
    HL_REQUIRE(ctx, node, hl_elements(verdict) == 1 && hl_data(verdict),
               "the condition, subgraph %d, gives %lld elements instead of one", cond, (long long)hl_elements(verdict));
    *more = HL_IN(uint8_t, verdict)[0] != 0;
    return kTfLiteOk;
}

static TfLiteStatus while_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteWhileParams *params = node->builtin_data;
    for (int i = 0; i < hl_output_count(node); i++)
        HL_TRY(hl_call_take(ctx, node, hl_output(ctx, node, i), hl_input(ctx, node, i)));
    for (bool more;;) {
        HL_TRY(ask(ctx, node, params->cond_subgraph_index, &more));
        if (!more) return kTfLiteOk;
        HL_TRY(hl_call(ctx, node, params->body_subgraph_index, node->outputs, 0));
        for (int i = 0; i < hl_output_count(node); i++)
            HL_TRY(
                hl_call_take(ctx, node, hl_output(ctx, node, i), hl_call_result(ctx, params->body_subgraph_index, i)));
    }
}

const struct hl_op hl_op_while = {
    .prepare = while_prepare,
    .invoke = while_invoke,
    .may_resize = true,
};
