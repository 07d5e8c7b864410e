// SPDX-License-Identifier: Apache-2.0
// LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT: y = a && b, a || b, !a.
// in 0: a, in 1 (not for LOGICAL_NOT): b, shapes broadcast; out 0: y. bool: any stored byte but 0
// is true.
#include "ops/common/binary.h"

HL_BINARY_RUN(and_bool, uint8_t, uint8_t, void, u &&v)
HL_BINARY_RUN(or_bool, uint8_t, uint8_t, void, u || v)

static const hl_binary_runs and_runs = {[kTfLiteBool] = and_bool};
static const hl_binary_runs or_runs = {[kTfLiteBool] = or_bool};

HL_BINARY_OPERATOR(logical_and, and_runs, NULL)
HL_BINARY_OPERATOR(logical_or, or_runs, NULL)

static TfLiteStatus logical_not_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *a = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (a->type != kTfLiteBool) return hl_unsupported_type(ctx, node, a);
    HL_REQUIRE(ctx, node, y->type == kTfLiteBool, "the output is %s, it must be bool", hl_type_name(y->type));
    return hl_resize_like(ctx, y, a);
}

static TfLiteStatus logical_not_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const uint8_t *a = HL_IN(uint8_t, hl_input(ctx, node, 0));
    TfLiteTensor *output = hl_output(ctx, node, 0);
    uint8_t *y = HL_OUT(uint8_t, output);
    int64_t count = hl_elements(output);
    for (int64_t i = 0; i < count; i++) y[i] = !a[i];
    return kTfLiteOk;
}

const struct hl_op hl_op_logical_not = {
    .prepare = logical_not_prepare,
    .invoke = logical_not_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
};
