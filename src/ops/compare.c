// SPDX-License-Identifier: Apache-2.0
// EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL: y = a < b and so on.
// in 0: a, in 1: b of the same type, shapes broadcast; out 0: y, bool.
// float32, float16, bfloat16, int8, uint8, int16, int32, int64; EQUAL and NOT_EQUAL also bool and
// string (byte by byte).
// 8-bit values are compared as (stored - zero) * 2^8 * scale, rounded to integers: values closer
// than that rounding are equal. EQUAL and NOT_EQUAL compare int16 with quantization parameters in
// the same way, the orderings compare it as it is stored, like the original.
#include <math.h>
#include <string.h>

#include "ops/common/binary.h"
#include "ops/common/quant.h"
#include "ops/common/strings.h"

struct comparison {
    struct hl_binary binary;
    hl_binary_run *swapped; // of GREATER and GREATER_EQUAL: the run that the inputs go to in the other order
    int32_t a_zero, b_zero;
    struct hl_rescale a_by, b_by;
};

// ---- runs ---------------------------------------------------------------------------------------

static int32_t scaled(int32_t stored, int32_t zero, struct hl_rescale rescale)
{
    return hl_rescale_apply((stored - zero) * (1 << 8), rescale);
}

// A call keeps the six operators' loops small: as vectors of widened halves they took 90 KB.
__attribute__((noinline)) static float half_value(uint16_t half)
{
    return hl_half_to_float(half);
}

#define STORED(order) scaled(u, s->a_zero, s->a_by) order scaled(v, s->b_zero, s->b_by)

#define COMPARISON_RUNS(name, order)                                                                           \
    HL_BINARY_RUN(name##_f32, float, uint8_t, void, u order v)                                                 \
    HL_BINARY_RUN(name##_f16, uint16_t, uint8_t, void, half_value(u) order half_value(v))                      \
    HL_BINARY_RUN(name##_bf16, uint16_t, uint8_t, void, hl_bfloat16_to_float(u) order hl_bfloat16_to_float(v)) \
    HL_BINARY_RUN(name##_i16, int16_t, uint8_t, void, u order v)                                               \
    HL_BINARY_RUN(name##_i32, int32_t, uint8_t, void, u order v)                                               \
    HL_BINARY_RUN(name##_i64, int64_t, uint8_t, void, u order v)                                               \
    HL_BINARY_RUN(name##_stored_i8, int8_t, uint8_t, struct comparison, STORED(order))                         \
    HL_BINARY_RUN(name##_stored_u8, uint8_t, uint8_t, struct comparison, STORED(order))

#define ROWS(name)                                                                                 \
    [kTfLiteFloat32] = name##_f32, [kTfLiteFloat16] = name##_f16, [kTfLiteBFloat16] = name##_bf16, \
    [kTfLiteInt16] = name##_i16, [kTfLiteInt32] = name##_i32, [kTfLiteInt64] = name##_i64,         \
    [kTfLiteInt8] = name##_stored_i8, [kTfLiteUInt8] = name##_stored_u8

COMPARISON_RUNS(equal, ==)
COMPARISON_RUNS(not_equal, !=)
COMPARISON_RUNS(less, <)
COMPARISON_RUNS(less_equal, <=)
HL_BINARY_RUN(equal_stored_i16, int16_t, uint8_t, struct comparison, STORED(==))
HL_BINARY_RUN(not_equal_stored_i16, int16_t, uint8_t, struct comparison, STORED(!=))
HL_BINARY_RUN(equal_bool, uint8_t, uint8_t, void, !u == !v)
HL_BINARY_RUN(not_equal_bool, uint8_t, uint8_t, void, !u != !v)

static const hl_binary_runs equal_runs = {ROWS(equal), [kTfLiteBool] = equal_bool};
static const hl_binary_runs not_equal_runs = {ROWS(not_equal), [kTfLiteBool] = not_equal_bool};
static const hl_binary_runs less_runs = {ROWS(less)};
static const hl_binary_runs less_equal_runs = {ROWS(less_equal)};

// a > b is b < a, NaNs included. (Loops of their own took 14 KB.)
static void run_swapped(const struct hl_binary_args *args)
{
    struct hl_binary_args other = *args;
    other.a = args->b, other.a_step = args->b_step;
    other.b = args->a, other.b_step = args->a_step;
    ((const struct comparison *)args->state)->swapped(&other);
}

// ---- numbers ------------------------------------------------------------------------------------

static TfLiteStatus set_scales(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *a, const TfLiteTensor *b)
{
    struct comparison *op = node->user_data;
    HL_TRY(hl_require_quantized(ctx, node, a));
    HL_TRY(hl_require_quantized(ctx, node, b));
    // Scales of one and more would shift values out of their 32 bits: both are brought below,
    // which orders alike.
    int exponent;
    frexp(fmax(hl_scale(a), hl_scale(b)), &exponent);
    int excess = exponent > 0 ? exponent : 0;
    op->a_zero = hl_zero(a);
    op->b_zero = hl_zero(b);
    op->a_by = hl_rescale_from(ldexp(hl_scale(a), -excess));
    op->b_by = hl_rescale_from(ldexp(hl_scale(b), -excess));
    return kTfLiteOk;
}

// stored_i16: the run for quantized int16, NULL where that is compared like plain int16. swapped: runs take b first.
static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, const hl_binary_runs runs, hl_binary_run *stored_i16,
                            bool swapped)
{
    struct comparison *op = node->user_data;
    HL_TRY(hl_binary_check(ctx, node, kTfLiteBool));
    HL_TRY(hl_binary_choose(ctx, node, runs));
    const TfLiteTensor *a = hl_input(ctx, node, swapped), *b = hl_input(ctx, node, !swapped);
    bool quantized_i16 = stored_i16 && a->type == kTfLiteInt16 && hl_is_quantized(a);
    if (quantized_i16) op->binary.run = stored_i16;
    if (quantized_i16 || a->type == kTfLiteInt8 || a->type == kTfLiteUInt8) HL_TRY(set_scales(ctx, node, a, b));
    if (swapped) {
        op->swapped = op->binary.run;
        op->binary.run = run_swapped;
    }
    return hl_binary_finish(ctx, node);
}

// ---- strings ------------------------------------------------------------------------------------

static bool is_string(TfLiteContext *ctx, const TfLiteNode *node)
{
    return hl_input(ctx, node, 0)->type == kTfLiteString;
}

static TfLiteStatus prepare_strings(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_binary_check(ctx, node, kTfLiteBool));
    int rank, dims[HL_MAX_RANK];
    HL_REQUIRE(ctx, node, hl_broadcast(hl_input(ctx, node, 0)->dims, hl_input(ctx, node, 1)->dims, NULL, &rank, dims),
               "the inputs' shapes do not broadcast");
    return hl_resize(ctx, hl_output(ctx, node, 0), rank, dims);
}

static TfLiteStatus compare_strings(TfLiteContext *ctx, TfLiteNode *node, bool where_equal)
{
    const TfLiteTensor *a = hl_input(ctx, node, 0), *b = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_strings a_strings, b_strings;
    HL_TRY(hl_strings_open(ctx, node, a, &a_strings));
    HL_TRY(hl_strings_open(ctx, node, b, &b_strings));
    struct hl_walk walk;
    hl_walk_start(&walk, hl_rank(y), y->dims->data, 2, (const TfLiteIntArray *[]){a->dims, b->dims});
    for (int64_t i = 0; i < walk.count; i++, hl_walk_next(&walk)) {
        size_t a_length, b_length;
        const char *u = hl_string_at(&a_strings, walk.at[0], &a_length);
        const char *v = hl_string_at(&b_strings, walk.at[1], &b_length);
        bool equal = a_length == b_length && (a_length == 0 || memcmp(u, v, a_length) == 0);
        HL_OUT(uint8_t, y)[i] = equal == where_equal;
    }
    return kTfLiteOk;
}

// ---- the operators ------------------------------------------------------------------------------

#define EQUALITY(symbol, where_equal)                                                                        \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node)                               \
    {                                                                                                        \
        HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));                                                       \
        if (is_string(ctx, node)) return prepare_strings(ctx, node);                                         \
        return prepare(ctx, node, symbol##_runs, symbol##_stored_i16, false);                                \
    }                                                                                                        \
    static TfLiteStatus symbol##_invoke(TfLiteContext *ctx, TfLiteNode *node)                                \
    {                                                                                                        \
        return is_string(ctx, node) ? compare_strings(ctx, node, where_equal) : hl_binary_invoke(ctx, node); \
    }                                                                                                        \
    const struct hl_op hl_op_##symbol = {                                                                    \
        .state_size = sizeof(struct comparison),                                                             \
        .prepare = symbol##_prepare,                                                                         \
        .invoke = symbol##_invoke,                                                                           \
    };

#define ORDERING(symbol, runs, swapped)                                        \
    static TfLiteStatus symbol##_prepare(TfLiteContext *ctx, TfLiteNode *node) \
    {                                                                          \
        return prepare(ctx, node, runs, NULL, swapped);                        \
    }                                                                          \
    const struct hl_op hl_op_##symbol = {HL_BINARY_FIELDS(symbol, struct comparison)};

EQUALITY(equal, true)
EQUALITY(not_equal, false)
ORDERING(less, less_runs, false)
ORDERING(less_equal, less_equal_runs, false)
ORDERING(greater, less_runs, true)
ORDERING(greater_equal, less_equal_runs, true)
