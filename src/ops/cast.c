// SPDX-License-Identifier: Apache-2.0
// CAST: the same values in another type.
// in 0: x of any shape, out 0: the same shape. Quantization is not looked at.
// Between float32, float16, bfloat16, float64, int8, uint8, int16, uint16, int32, uint32, int64,
// bool and complex64; int4, uint4 and int2 from and to float32. Real numbers are cut to integers
// and saturate, NaN gives the largest; integers wrap; bool is "not 0"; of complex numbers the real
// part counts.
#include <math.h>
#include <string.h>

#include "ops/op.h"

// Elements travel in blocks, as int64 (integers and bool) or as double (the others); both hold
// every value of the types that use them.
enum { BLOCK = 256 };

union block {
    int64_t integers[BLOCK];
    double reals[BLOCK];
};

struct cast_type {
    bool is_real; // which member of the block `load` fills
    void (*load)(const void *data, int64_t at, int count, union block *block);
    void (*store_integers)(void *data, int64_t at, int count, const union block *block);
    void (*store_reals)(void *data, int64_t at, int count, const union block *block);
};

#define LOAD(name, type, member, expression)                                             \
    static void load_##name(const void *data, int64_t at, int count, union block *block) \
    {                                                                                    \
        const type *values = (const type *)data + at;                                    \
        for (int i = 0; i < count; i++) {                                                \
            type x = values[i];                                                          \
            block->member[i] = (expression);                                             \
        }                                                                                \
    }

#define STORE(name, type, integers_to, reals_to)                                                   \
    static void store_integers_##name(void *data, int64_t at, int count, const union block *block) \
    {                                                                                              \
        type *values = (type *)data + at;                                                          \
        for (int i = 0; i < count; i++) values[i] = integers_to(block->integers[i]);               \
    }                                                                                              \
    static void store_reals_##name(void *data, int64_t at, int count, const union block *block)    \
    {                                                                                              \
        type *values = (type *)data + at;                                                          \
        for (int i = 0; i < count; i++) values[i] = reals_to(block->reals[i]);                     \
    }

// The bounds of every type but int64 are doubles; INT64_MAX becomes 2^63, the first too large one.
#define INTEGER(name, type, low, high)                                      \
    static type type_of_integer_##name(int64_t x)                           \
    {                                                                       \
        return (type)x;                                                     \
    }                                                                       \
    static type type_of_real_##name(double x)                               \
    {                                                                       \
        if (x < (double)(high)) return x > (double)(low) ? (type)x : (low); \
        return high;                                                        \
    }                                                                       \
    LOAD(name, type, integers, (int64_t)x)                                  \
    STORE(name, type, type_of_integer_##name, type_of_real_##name)

INTEGER(i8, int8_t, INT8_MIN, INT8_MAX)
INTEGER(u8, uint8_t, 0, UINT8_MAX)
INTEGER(i16, int16_t, INT16_MIN, INT16_MAX)
INTEGER(u16, uint16_t, 0, UINT16_MAX)
INTEGER(i32, int32_t, INT32_MIN, INT32_MAX)
INTEGER(u32, uint32_t, 0, UINT32_MAX)
INTEGER(i64, int64_t, INT64_MIN, INT64_MAX)

static uint8_t bool_of_integer(int64_t x)
{
    return x != 0;
}
static uint8_t bool_of_real(double x)
{
    return x != 0;
}
LOAD(bool, uint8_t, integers, x != 0)
STORE(bool, uint8_t, bool_of_integer, bool_of_real)

// Halves are converted as floats are.
#define HALF(name, format)                                         \
    static uint16_t name##_of_integer(int64_t x)                   \
    {                                                              \
        return hl_##format##_from_float((float)x);                 \
    }                                                              \
    static uint16_t name##_of_real(double x)                       \
    {                                                              \
        return hl_##format##_from_float((float)x);                 \
    }                                                              \
    LOAD(name, uint16_t, reals, (double)hl_##format##_to_float(x)) \
    STORE(name, uint16_t, name##_of_integer, name##_of_real)

HALF(f16, half)
HALF(bf16, bfloat16)

LOAD(f32, float, reals, (double)x)
STORE(f32, float, (float), (float))
LOAD(f64, double, reals, x)
STORE(f64, double, (double), (double))

struct complex64 {
    float real, imaginary;
};
static struct complex64 complex_of_integer(int64_t x)
{
    return (struct complex64){(float)x, 0};
}
static struct complex64 complex_of_real(double x)
{
    return (struct complex64){(float)x, 0};
}
LOAD(c64, struct complex64, reals, (double)x.real)
STORE(c64, struct complex64, complex_of_integer, complex_of_real)

static const struct cast_type *cast_type(TfLiteType type)
{
#define ROW(name, real)                                              \
    {                                                                \
        real, load_##name, store_integers_##name, store_reals_##name \
    }
    static const struct cast_type types[] = {
        [kTfLiteFloat32] = ROW(f32, true), [kTfLiteFloat16] = ROW(f16, true),   [kTfLiteBFloat16] = ROW(bf16, true),
        [kTfLiteFloat64] = ROW(f64, true), [kTfLiteComplex64] = ROW(c64, true), [kTfLiteInt8] = ROW(i8, false),
        [kTfLiteUInt8] = ROW(u8, false),   [kTfLiteInt16] = ROW(i16, false),    [kTfLiteUInt16] = ROW(u16, false),
        [kTfLiteInt32] = ROW(i32, false),  [kTfLiteUInt32] = ROW(u32, false),   [kTfLiteInt64] = ROW(i64, false),
        [kTfLiteBool] = ROW(bool, false),
    };
#undef ROW
    if (type < 0 || (size_t)type >= sizeof types / sizeof *types) return NULL;
    return types[type].load ? &types[type] : NULL;
}

// ---- packed types -------------------------------------------------------------------------------

struct packed_type {
    int bits, low, high;
};

static bool find_packed_type(TfLiteType type, struct packed_type *packed)
{
    switch (type) {
    case kTfLiteInt4: *packed = (struct packed_type){4, -8, 7}; return true;
    case kTfLiteUInt4: *packed = (struct packed_type){4, 0, 15}; return true;
    case kTfLiteInt2: *packed = (struct packed_type){2, -2, 1}; return true;
    default: return false;
    }
}

static void unpack(const uint8_t *bytes, float *values, int64_t count, struct packed_type type)
{
    int per_byte = 8 / type.bits, mask = (1 << type.bits) - 1;
    for (int64_t i = 0; i < count; i++) {
        int value = bytes[i / per_byte] >> (i % per_byte * type.bits) & mask;
        values[i] = (float)(value > type.high ? value - (1 << type.bits) : value);
    }
}

static void pack(const float *values, uint8_t *bytes, int64_t count, struct packed_type type)
{
    int per_byte = 8 / type.bits, mask = (1 << type.bits) - 1;
    memset(bytes, 0, (size_t)((count + per_byte - 1) / per_byte));
    for (int64_t i = 0; i < count; i++) {
        float x = values[i];
        int value = !(x < (float)type.high) ? type.high : x > (float)type.low ? (int)x : type.low;
        bytes[i / per_byte] |= (uint8_t)((value & mask) << (i % per_byte * type.bits));
    }
}

// ---- the operator -------------------------------------------------------------------------------

static TfLiteStatus cast_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    struct packed_type packed;
    bool from_packed = find_packed_type(input->type, &packed);
    bool to_packed = find_packed_type(output->type, &packed);
    if (!from_packed && !cast_type(input->type)) return hl_unsupported_type(ctx, node, input);
    if (!to_packed && !cast_type(output->type)) return hl_unsupported_type(ctx, node, output);
    HL_REQUIRE(ctx, node,
               (!from_packed || output->type == kTfLiteFloat32) && (!to_packed || input->type == kTfLiteFloat32),
               "%s to %s is not supported, only float32 from and to packed types", hl_type_name(input->type),
               hl_type_name(output->type));
    return hl_resize_like(ctx, output, input);
}

static TfLiteStatus cast_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *input = hl_input(ctx, node, 0);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    int64_t count = hl_elements(input);
    struct packed_type packed;
    if (count == 0) return kTfLiteOk;
    if (hl_same_type(input, output)) {
        memcpy(HL_OUT(char, output), hl_data(input), hl_dense_bytes(input));
    } else if (find_packed_type(input->type, &packed)) {
        unpack(HL_IN(uint8_t, input), HL_OUT(float, output), count, packed);
    } else if (find_packed_type(output->type, &packed)) {
        pack(HL_IN(float, input), HL_OUT(uint8_t, output), count, packed);
    } else {
        const struct cast_type *from = cast_type(input->type), *to = cast_type(output->type);
        union block block;
        for (int64_t at = 0; at < count; at += BLOCK) {
            int length = count - at < BLOCK ? (int)(count - at) : BLOCK;
            from->load(hl_data(input), at, length, &block);
            (from->is_real ? to->store_reals : to->store_integers)(HL_OUT(void, output), at, length, &block);
        }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_cast = {
    .prepare = cast_prepare,
    .invoke = cast_invoke,
};
