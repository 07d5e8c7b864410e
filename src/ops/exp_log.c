// SPDX-License-Identifier: Apache-2.0
// EXP: e^x. LOG: natural logarithm.
// in 0: x of any shape, out 0: the same shape and type.
// float32, float16, bfloat16; quantized int8 and int16 (tables). The logarithm of a stored value
// that is not positive is the smallest value.
#include <math.h>

#include "fast/fast.h"
#include "ops/common/map.h"

static TfLiteStatus exp_log_prepare(TfLiteContext *ctx, TfLiteNode *node, double (*function)(double))
{
    HL_TRY(hl_map_prepare(ctx, node));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    if (hl_is_real(input->type)) return kTfLiteOk;
    if (input->type != kTfLiteInt8 && input->type != kTfLiteInt16) return hl_unsupported_type(ctx, node, input);
    return hl_map_prepare_table(ctx, node, function, node->user_data);
}

#define EXP_LOG(symbol, function, taken_by)                                    \
    HL_REAL_FUNCTION(symbol, function)                                         \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node) \
    {                                                                          \
        return exp_log_prepare(ctx, node, symbol##_value);                     \
    }                                                                          \
    static TfLiteStatus symbol##_invoke(TfLiteContext *ctx, TfLiteNode *node)  \
    {                                                                          \
        return hl_map_invoke(ctx, node, symbol##_real);                        \
    }                                                                          \
    HL_MAP_OPERATOR(symbol, struct hl_table, taken_by)

EXP_LOG(exp, expf, &hl_fast_exp)
EXP_LOG(log, logf, &hl_fast_log)
