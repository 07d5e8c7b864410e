// SPDX-License-Identifier: Apache-2.0
// CALL_ONCE: runs an initialization subgraph the first time any node names it; later runs do nothing.
// No inputs, no outputs; the subgraph has none either, and works through resource variables.
#include "ops/op.h"
#include "runtime/calls.h"

static int init_subgraph(const TfLiteNode *node)
{
    const TfLiteCallOnceParams *params = node->builtin_data;
    return params->init_subgraph_index;
}

static TfLiteStatus call_once_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 0, 0, 0));
    HL_REQUIRE(ctx, node, hl_call_is_procedure(ctx, init_subgraph(node)),
               "subgraph %d does not exist, or has inputs or outputs", init_subgraph(node));
    return kTfLiteOk;
}

static TfLiteStatus call_once_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return hl_call_once(ctx, node, init_subgraph(node));
}

const struct hl_op hl_op_call_once = {
    .prepare = call_once_prepare,
    .invoke = call_once_invoke,
};
