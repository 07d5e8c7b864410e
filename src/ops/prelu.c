// SPDX-License-Identifier: Apache-2.0
// PRELU: y = x >= 0 ? x : alpha * x, alpha stretched to x.
// in 0: x of any shape, in 1: alpha, which must not widen x, out 0: the shape and type of x.
// float32; quantized uint8 and int8, alpha of the same type; int16 with zero points 0, alpha int8.
// One multiplier rescales the values from 0 on, another the products.
#include "ops/prelu.h"

#include "fast/fast.h"
#include "ops/common/map.h"

static TfLiteStatus prelu_prepare_quantized(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *alpha = hl_input(ctx, node, 1);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_prelu *op = node->user_data;
    bool wide = x->type == kTfLiteInt16;
    TfLiteType alpha_type = wide ? kTfLiteInt8 : x->type;
    HL_REQUIRE(ctx, node, alpha->type == alpha_type, "alpha is %s, a %s input wants %s", hl_type_name(alpha->type),
               hl_type_name(x->type), hl_type_name(alpha_type));
    HL_TRY(wide ? hl_require_symmetric(ctx, node, x) : hl_require_quantized(ctx, node, x));
    HL_TRY(wide ? hl_require_symmetric(ctx, node, y) : hl_require_quantized(ctx, node, y));
    HL_TRY(hl_require_quantized(ctx, node, alpha));

    float product = x->params.scale * alpha->params.scale;
    op->positive = hl_rescale_from((double)(x->params.scale / y->params.scale));
    op->negative = hl_rescale_from((double)(product / y->params.scale));
    hl_type_range(y->type, &op->low, &op->high);
    return kTfLiteOk;
}

static TfLiteStatus prelu_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *alpha = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_TRY(hl_require_same_type(ctx, node, x, y));
    switch (x->type) {
    case kTfLiteFloat32:
        HL_REQUIRE(ctx, node, alpha->type == kTfLiteFloat32, "alpha is %s, must be float32", hl_type_name(alpha->type));
        break;
    case kTfLiteUInt8:
    case kTfLiteInt8:
    case kTfLiteInt16: HL_TRY(prelu_prepare_quantized(ctx, node)); break;
    default: return hl_unsupported_type(ctx, node, x);
    }

    int rank, dims[HL_MAX_RANK];
    bool fits = hl_broadcast(x->dims, alpha->dims, NULL, &rank, dims) && rank == hl_rank(x);
    for (int axis = 0; fits && axis < rank; axis++) fits = dims[axis] == hl_dim(x, axis);
    HL_REQUIRE(ctx, node, fits, "alpha does not broadcast to the input");
    return hl_resize_like(ctx, y, x);
}

static void prelu_run_f32(const float *x, const float *alpha, float *y, int run, int64_t step)
{
    HL_INDEPENDENT for (int i = 0; i < run; i++)
    {
        const float scaled = x[i] * alpha[i * step]; // always: so a vector takes it
        y[i] = x[i] >= 0 ? x[i] : scaled;
    }
}

struct zero_points {
    int32_t x, alpha, y;
};

#define PRELU_RUN(name, type, alpha_type)                                                                 \
    static void name(const struct hl_prelu *op, const type *x, const alpha_type *alpha, type *y, int run, \
                     int64_t step, struct zero_points zero)                                               \
    {                                                                                                     \
        for (int i = 0; i < run; i++)                                                                     \
            y[i] = (type)hl_prelu_apply(op, x[i] - zero.x, alpha[i * step] - zero.alpha, zero.y);         \
    }
PRELU_RUN(prelu_run_u8, uint8_t, uint8_t)
PRELU_RUN(prelu_run_i8, int8_t, int8_t)
PRELU_RUN(prelu_run_i16, int16_t, int8_t)

static TfLiteStatus prelu_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *alpha = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const struct hl_prelu *op = node->user_data;
    const struct zero_points zero = {hl_zero(x), hl_zero(alpha), hl_zero(y)};
    struct hl_walk walk;
    hl_walk_start(&walk, hl_rank(x), x->dims->data, 1, (const TfLiteIntArray *[]){alpha->dims});
    int run = hl_walk_run(&walk);
    int64_t step = walk.rank == 0 ? 0 : walk.stride[0][walk.rank - 1];
    for (int64_t i = 0; i < walk.count; i += run, hl_walk_skip_run(&walk)) {
        int64_t at = walk.at[0];
        switch (x->type) {
        case kTfLiteUInt8:
            prelu_run_u8(op, HL_IN(uint8_t, x) + i, HL_IN(uint8_t, alpha) + at, HL_OUT(uint8_t, y) + i, run, step,
                         zero);
            break;
        case kTfLiteInt8:
            prelu_run_i8(op, HL_IN(int8_t, x) + i, HL_IN(int8_t, alpha) + at, HL_OUT(int8_t, y) + i, run, step, zero);
            break;
        case kTfLiteInt16:
            prelu_run_i16(op, HL_IN(int16_t, x) + i, HL_IN(int8_t, alpha) + at, HL_OUT(int16_t, y) + i, run, step,
                          zero);
            break;
        default: prelu_run_f32(HL_IN(float, x) + i, HL_IN(float, alpha) + at, HL_OUT(float, y) + i, run, step); break;
        }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_prelu = {
    .state_size = sizeof(struct hl_prelu),
    .prepare = prelu_prepare,
    .invoke = prelu_invoke,
    .inplace = kTfLiteInplaceOpInput0Shared,
    .fast = &hl_fast_prelu,
};
