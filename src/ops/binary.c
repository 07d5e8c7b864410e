// SPDX-License-Identifier: Apache-2.0
// The frame of binary.h, and the operators for which a table of runs is all:
//   MAXIMUM, MINIMUM   a > b ? a : b, a < b ? a : b: the second operand when either is NaN. 8- and
//                      16-bit integers are compared as they are stored, whatever their scales
//   BITWISE_XOR        a ^ b
//   RIGHT_SHIFT        a >> b, arithmetic for signed types, b clamped to [0, bits of the type)
// in 0: a, in 1: b of the same type, shapes broadcast; out 0: y.
#include "ops/binary.h"

// ---- the frame ----------------------------------------------------------------------------------

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

static TfLiteStatus compute(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_binary *op = node->user_data;
    if (op->check_values) HL_TRY(op->check_values(ctx, node));

    const TfLiteTensor *a = hl_input(ctx, node, 0), *b = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_walk walk;
    hl_walk_start(&walk, hl_rank(y), y->dims->data, 2, (const TfLiteIntArray *[]){a->dims, b->dims});

    int last = walk.rank - 1;
    struct hl_binary_args args = {
        .a_step = last < 0 ? 0 : walk.stride[0][last],
        .b_step = last < 0 ? 0 : walk.stride[1][last],
        .count = hl_walk_run(&walk),
        .state = op,
    };
    int64_t input_size = (int64_t)hl_element_size(a->type);
    int64_t output_size = (int64_t)hl_element_size(y->type);
    for (int64_t done = 0; done < walk.count; done += args.count, hl_walk_skip_run(&walk)) {
        args.a = HL_IN(char, a) + walk.at[0] * input_size;
        args.b = HL_IN(char, b) + walk.at[1] * input_size;
        args.y = HL_OUT(char, y) + done * output_size;
        op->run(&args);
    }
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

#define BOTH_SHARED (kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpInput1Shared)

// ---- MAXIMUM, MINIMUM ---------------------------------------------------------------------------

// The two operators over all their types; `order` is > or <.
#define PICK_RUNS(name, order)                                                                                 \
    HL_BINARY_RUN(name##_f32, float, float, void, u order v ? u : v)                                           \
    HL_BINARY_RUN(name##_f16, uint16_t, uint16_t, void, hl_half_to_float(u) order hl_half_to_float(v) ? u : v) \
    HL_BINARY_RUN(name##_bf16, uint16_t, uint16_t, void,                                                       \
                  hl_bfloat16_to_float(u) order hl_bfloat16_to_float(v) ? u : v)                               \
    HL_BINARY_RUN(name##_i8, int8_t, int8_t, void, u order v ? u : v)                                          \
    HL_BINARY_RUN(name##_u8, uint8_t, uint8_t, void, u order v ? u : v)                                        \
    HL_BINARY_RUN(name##_i16, int16_t, int16_t, void, u order v ? u : v)                                       \
    HL_BINARY_RUN(name##_i32, int32_t, int32_t, void, u order v ? u : v)                                       \
    HL_BINARY_RUN(name##_i64, int64_t, int64_t, void, u order v ? u : v)                                       \
    static const hl_binary_runs name##_runs = {                                                                \
        [kTfLiteFloat32] = name##_f32, [kTfLiteFloat16] = name##_f16, [kTfLiteBFloat16] = name##_bf16,         \
        [kTfLiteInt8] = name##_i8,     [kTfLiteUInt8] = name##_u8,    [kTfLiteInt16] = name##_i16,             \
        [kTfLiteInt32] = name##_i32,   [kTfLiteInt64] = name##_i64,                                            \
    };

PICK_RUNS(maximum, >)
PICK_RUNS(minimum, <)

static TfLiteStatus maximum_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    return hl_binary_prepare(ctx, node, maximum_runs, kTfLiteNoType);
}

static TfLiteStatus minimum_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    return hl_binary_prepare(ctx, node, minimum_runs, kTfLiteNoType);
}

const struct hl_op hl_op_maximum = {
    .state_size = sizeof(struct hl_binary),
    .prepare = maximum_prepare,
    .invoke = hl_binary_invoke,
    .inplace = BOTH_SHARED,
};

const struct hl_op hl_op_minimum = {
    .state_size = sizeof(struct hl_binary),
    .prepare = minimum_prepare,
    .invoke = hl_binary_invoke,
    .inplace = BOTH_SHARED,
};

// ---- BITWISE_XOR, RIGHT_SHIFT -------------------------------------------------------------------

// Shift amounts of any type, clamped to [0, last].
static int shift_amount(int64_t amount, int last)
{
    return (int)(amount < 0 ? 0 : amount > last ? last : amount);
}

#define BIT_RUNS(suffix, Type, bits)                     \
    HL_BINARY_RUN(xor_##suffix, Type, Type, void, u ^ v) \
    HL_BINARY_RUN(shift_##suffix, Type, Type, void, u >> shift_amount(v, (bits)-1))

BIT_RUNS(i8, int8_t, 8)
BIT_RUNS(u8, uint8_t, 8)
BIT_RUNS(i16, int16_t, 16)
BIT_RUNS(u16, uint16_t, 16)
BIT_RUNS(i32, int32_t, 32)
BIT_RUNS(u32, uint32_t, 32)

static const hl_binary_runs xor_runs = {
    [kTfLiteInt8] = xor_i8,    [kTfLiteUInt8] = xor_u8,  [kTfLiteInt16] = xor_i16,
    [kTfLiteUInt16] = xor_u16, [kTfLiteInt32] = xor_i32, [kTfLiteUInt32] = xor_u32,
};

static const hl_binary_runs shift_runs = {
    [kTfLiteInt8] = shift_i8,    [kTfLiteUInt8] = shift_u8,  [kTfLiteInt16] = shift_i16,
    [kTfLiteUInt16] = shift_u16, [kTfLiteInt32] = shift_i32, [kTfLiteUInt32] = shift_u32,
};

static TfLiteStatus bitwise_xor_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    return hl_binary_prepare(ctx, node, xor_runs, kTfLiteNoType);
}

static TfLiteStatus right_shift_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    return hl_binary_prepare(ctx, node, shift_runs, kTfLiteNoType);
}

const struct hl_op hl_op_bitwise_xor = {
    .state_size = sizeof(struct hl_binary),
    .prepare = bitwise_xor_prepare,
    .invoke = hl_binary_invoke,
    .inplace = BOTH_SHARED,
};

const struct hl_op hl_op_right_shift = {
    .state_size = sizeof(struct hl_binary),
    .prepare = right_shift_prepare,
    .invoke = hl_binary_invoke,
    .inplace = BOTH_SHARED,
};
