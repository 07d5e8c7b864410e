// SPDX-License-Identifier: Apache-2.0
// The elementwise microkernels (struct hl_element_kernels of fast/elements.h): pairs of floats or bytes, functions of
// floats, quantization, tables of bytes.
#ifndef HALITE_FAST_SIMD_ELEMENTS_TMPL_H
#define HALITE_FAST_SIMD_ELEMENTS_TMPL_H

#include "abi/built_types.h"
#include "fast/elements.h"
#include "fast/simd/functions_tmpl.h"
#include "fast/simd/vector.h"
#include "ops/arithmetic.h"

// ---- pairs of floats ----------------------------------------------------------------------------

#define FLOAT_PAIRS(name, StateType, expression)                                                           \
    static void name(const void *a, const void *b, void *y, int64_t count, const void *state)              \
    {                                                                                                      \
        const float *us = a, *vs = b;                                                                      \
        float *ys = y;                                                                                     \
        const StateType *s = state;                                                                        \
        int64_t i = 0;                                                                                     \
        for (; i + LANES <= count; i += LANES) {                                                           \
            const f32_vector u = load_f32(us + i), v = load_f32(vs + i);                                   \
            store_f32(ys + i, expression);                                                                 \
        }                                                                                                  \
        if (i < count) {                                                                                   \
            const f32_vector u = load_first_f32(us + i, count - i), v = load_first_f32(vs + i, count - i); \
            const f32_vector out = (expression);                                                           \
            store_first_f32(ys + i, out, count - i);                                                       \
        }                                                                                                  \
        (void)s;                                                                                           \
    }

FLOAT_PAIRS(add_f32, struct hl_arithmetic, clamp_f32(u + v, s->low_f32, s->high_f32))
FLOAT_PAIRS(sub_f32, struct hl_arithmetic, clamp_f32(u - v, s->low_f32, s->high_f32))
FLOAT_PAIRS(mul_f32, struct hl_arithmetic, clamp_f32(u *v, s->low_f32, s->high_f32))
FLOAT_PAIRS(div_f32, struct hl_arithmetic, clamp_f32(u / v, s->low_f32, s->high_f32))
FLOAT_PAIRS(square_f32, void, (u - v) * (u - v))
FLOAT_PAIRS(larger_f32, void, max_f32(u, v))
FLOAT_PAIRS(smaller_f32, void, min_f32(u, v))
FLOAT_PAIRS(prelu_f32, void, choose(u >= 0, u, u *v))
FLOAT_PAIRS(parted_prelu, float, clamp_f32(u, 0, INFINITY) + v * (clamp_f32(-u, 0, INFINITY) * *s))

#if HAS_MASKS
// Bits of any 32, which are copied.
static void select_32(const void *a, const void *b, void *y, int64_t count, const void *state)
{
    const struct hl_selected *other = state;
    const uint8_t *conditions = b;
    const float *xs = a, value = other->value;
    float *ys = y;
    const i32_vector turned = (i32_vector)splat_i32(other->turned ? -1 : 0);
    const f32_vector values = splat_f32(value);
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const i32_vector kept = ((i32_vector)load_u8_as_i32(conditions + i) != 0) ^ turned;
        store_f32(ys + i, choose(kept, load_f32(xs + i), values));
    }
    for (; i < count; i++) memcpy(&ys[i], (conditions[i] != 0) != other->turned ? &xs[i] : &value, sizeof value);
}
#endif

static void repeat(const void *x, int64_t step, int64_t rows, int64_t count, void *y)
{
    const char *from = x;
    float *row = y;
    for (int64_t r = 0; r < rows; r++, from += step * (int64_t)sizeof *row, row += count) {
        int32_t bits;
        memcpy(&bits, from, sizeof bits);
        const f32_vector value = (f32_vector)splat_i32(bits);
        for (int64_t i = 0; i < count; i += LANES) store_first_f32(row + i, value, count - i);
    }
}

// x * scale + shift are the same numbers as sums and products: x * sign + value, x * value - 0.
static void shift_rows(const struct hl_shifted_rows *rows)
{
    const struct hl_shifted_rows s = *rows; // a copy, because stored floats might alias the original
    const float *xs = s.x, *values = s.values;
    float *ys = s.y;
    f32_vector scale = splat_f32(s.sign), shift = splat_f32(-0.0f);
    for (int64_t r = 0; r < s.rows; r++, xs += s.x_step, values += s.step, ys += s.count) {
        if (s.sign != 0)
            shift = splat_f32(*values * s.sign_of_value);
        else
            scale = splat_f32(*values);
        for (int64_t i = 0; i < s.count; i += LANES) {
            const int64_t left = s.count - i;
            const f32_vector x = left < LANES ? load_first_f32(xs + i, left) : load_f32(xs + i);
            store_first_f32(ys + i, clamp_f32(add_product(shift, x, scale), s.low, s.high), left);
        }
    }
}

// ---- pairs of stored integers, the larger or the smaller one ------------------------------------

// What is left behind whole vectors goes through one, too.
#define PICKS(name, type, order)                                                               \
    INLINE void name##_vector(const type *a, const type *b, type *y, size_t bytes)             \
    {                                                                                          \
        typedef type vector __attribute__((vector_size(BYTES)));                               \
        vector u = {0}, v = {0};                                                               \
        memcpy(&u, a, bytes);                                                                  \
        memcpy(&v, b, bytes);                                                                  \
        const vector mask = (vector)(u order v), picked = (u & mask) | (v & ~mask);            \
        memcpy(y, &picked, bytes);                                                             \
    }                                                                                          \
    static void name(const void *a, const void *b, void *y, int64_t count, const void *state)  \
    {                                                                                          \
        enum { VALUES = BYTES / sizeof(type) };                                                \
        const type *us = a, *vs = b;                                                           \
        type *ys = y;                                                                          \
        int64_t i = 0;                                                                         \
        for (; i + VALUES <= count; i += VALUES) name##_vector(us + i, vs + i, ys + i, BYTES); \
        name##_vector(us + i, vs + i, ys + i, (size_t)(count - i) * sizeof(type));             \
        (void)state;                                                                           \
    }
PICKS(larger_i8, int8_t, >)
PICKS(larger_u8, uint8_t, >)
PICKS(larger_i16, int16_t, >)
PICKS(smaller_i8, int8_t, <)
PICKS(smaller_u8, uint8_t, <)
PICKS(smaller_i16, int16_t, <)

// ---- pairs of bytes and of int16 ----------------------------------------------------------------

#if HAS_RESCALE
// The constants of x / 2^right, rounded half away from zero, for |x| below 2^30.
struct rounding {
    uint32_t half;           // is added before the shift
    int32_t less_below_zero; // -1: a negative x gets half - 1
    int right;               // the shift
};

static inline struct rounding rounding_of(struct hl_rescale rescale)
{
    if (rescale.shift >= 0) return (struct rounding){0};
    return (struct rounding){UINT32_C(1) << (-rescale.shift - 1), -1, -rescale.shift};
}

INLINE i32_vector round_right(i32_vector x, struct rounding rounding)
{
    return (i32_vector)((u32_vector)x + rounding.half + (u32_vector)((x >> 31) & rounding.less_below_zero)) >>
           rounding.right;
}

// The constants of ops/arithmetic.c's arithmetic on two bytes or int16. They are computed before the loop. Computed
// inside it, they keep compilers from vectorizing (AVX-512: 0.8 ns for each element in place of 0.44).
struct stored_pair {
    int32_t u_zero, v_zero;
    // A sum needs (u << bits) * multiplier / 2^31, where u has 9 bits. The product with the multiplier's upper bits is
    // a whole number; the product with the lower bits is the fraction. The multiplier of v is one half.
    int32_t upper, lower;
    int fraction; // bits of the product with `lower`
    int32_t u_multiplier;
    struct rounding u;
    int left; // shift of the sum or product
    int32_t multiplier;
    struct rounding y;
    int32_t zero, low, high; // of y; the range is relative to the zero point
    int32_t less_u, less_v;  // of sums: -1 where the operand is subtracted, else 0
};

enum pair_kind { SUM, PRODUCT, SQUARE };

static inline struct stored_pair stored_pair_of(const struct hl_arithmetic *s, const struct hl_operand *u,
                                                const struct hl_operand *v)
{
    const int fraction = 31 - s->bits;
    return (struct stored_pair){
        .u_zero = u->zero,
        .v_zero = v->zero,
        .upper = u->rescale.multiplier >> fraction,
        .lower = u->rescale.multiplier & (INT32_MAX >> s->bits),
        .fraction = fraction,
        .u_multiplier = u->rescale.multiplier,
        .u = rounding_of(u->rescale),
        .left = s->y.rescale.shift > 0 ? s->y.rescale.shift : 0,
        .multiplier = s->y.rescale.multiplier,
        .y = rounding_of(s->y.rescale),
        .zero = s->y.zero,
        .low = (int32_t)s->low - s->y.zero,
        .high = (int32_t)s->high - s->y.zero,
    };
}

// Both operands of a sum at one scale, each with its sign.
INLINE u32_vector add_signed(u32_vector u, u32_vector v, const struct stored_pair *params)
{
    const uint32_t less_u = (uint32_t)params->less_u, less_v = (uint32_t)params->less_v;
    return ((u ^ less_u) - less_u) + ((v ^ less_v) - less_v);
}

INLINE void byte_pairs(const uint8_t *us, const uint8_t *vs, uint8_t *y, struct stored_pair params, int is_unsigned,
                       enum pair_kind kind)
{
    u32_vector u = load_bytes(us, is_unsigned, params.u_zero);
    u32_vector v = load_bytes(vs, is_unsigned, params.v_zero);
    if (kind == PRODUCT) {
        u = u * v << params.left;
    } else if (kind == SQUARE) { // of the difference, whose operands have 7 bits to spare
        u = (u32_vector)round_right((i32_vector)high_product(u << 7, splat_i32(params.u_multiplier)), params.u);
        u = u - (v << 6);
        u = u * u;
    } else {
        u32_vector half = splat_i32(1 << (params.fraction - 1));
        i32_vector part = (i32_vector)add_dot2(half, splat_i32(params.lower), u) >> params.fraction;
        u = (u32_vector)round_right((i32_vector)(u * (uint32_t)params.upper) + part, params.u);
        u = add_signed(u, v << (30 - params.fraction), &params);
    }
    i32_vector value = round_right((i32_vector)high_product(u, splat_i32(params.multiplier)), params.y);
    store_bytes(y, clamp_i32(value, params.low, params.high) + params.zero);
}

INLINE void byte_pair_loop(const uint8_t *us, const uint8_t *vs, uint8_t *ys, int64_t count, struct stored_pair params,
                           int is_unsigned, enum pair_kind kind)
{
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) byte_pairs(us + i, vs + i, ys + i, params, is_unsigned, kind);
    if (i == count) return;
    uint8_t u[LANES] = {0}, v[LANES] = {0};
    memcpy(u, us + i, (size_t)(count - i));
    memcpy(v, vs + i, (size_t)(count - i));
    byte_pairs(u, v, u, params, is_unsigned, kind);
    memcpy(ys + i, u, (size_t)(count - i));
}

// Products of whole vectors of bytes, rescaled by floats, which give the same bytes. Returns how many it did: none
// where the rescale does not fit. (MUL of 75,264 int8 on a Zen 4: 19.8 us by 64-bit products, 11.5 so.)
INLINE int64_t product_loop(const uint8_t *us, const uint8_t *vs, uint8_t *ys, int64_t count,
                            const struct hl_arithmetic *s, int is_unsigned)
{
    int64_t i = 0;
#if HAS_RESCALE_FLOATS
    const u32_vector right = splat_i32(-s->y.rescale.shift), multiplier = splat_i32(s->y.rescale.multiplier);
    if (s->y.rescale.shift >= 0 || !fits_float_rescale(right, LANES)) return 0;
    const struct float_rescale rescale = float_rescale_of(multiplier, right);
    const int32_t u_zero = s->a.zero, v_zero = s->b.zero, zero = s->y.zero, low = (int32_t)s->low;
    const int32_t high = (int32_t)s->high;
    for (; i + BYTES <= count; i += BYTES) {
        u32_vector values[4];
        UNROLL for (int k = 0; k < 4; k++) values[k] =
            rescale_doubled(load_bytes(us + i + k * LANES, is_unsigned, u_zero) *
                                load_bytes(vs + i + k * LANES, is_unsigned, v_zero),
                            &rescale);
        const u8_vector bytes = narrow_doubled_in_order(values, zero, low, high);
        memcpy(ys + i, &bytes, sizeof bytes);
    }
#else
    (void)us, (void)vs, (void)ys, (void)count, (void)s, (void)is_unsigned;
#endif
    return i;
}

// The operands of a sum or difference; v is that of the larger scale, whose multiplier is 1/2 (set_common_scale).
struct sum_operands {
    const void *u, *v;
    struct stored_pair params;
};

static inline struct sum_operands sum_operands_of(const void *a, const void *b, const struct hl_arithmetic *s,
                                                  bool subtracts)
{
    const bool b_is_halved = s->b.rescale.multiplier == 1 << 30 && s->b.rescale.shift == 0;
    struct sum_operands of = {b_is_halved ? a : b, b_is_halved ? b : a,
                              b_is_halved ? stored_pair_of(s, &s->a, &s->b) : stored_pair_of(s, &s->b, &s->a)};
    if (subtracts) *(b_is_halved ? &of.params.less_v : &of.params.less_u) = -1;
    return of;
}

// One loop for ADD and SUB: with four for each type the kernels of a level are 5 KB larger.
#define BYTE_KERNELS(type, is_unsigned)                                                                          \
    static void sums_##type(const void *a, const void *b, void *y, int64_t count, const void *state, bool less)  \
    {                                                                                                            \
        const struct sum_operands of = sum_operands_of(a, b, state, less);                                       \
        byte_pair_loop(of.u, of.v, y, count, of.params, is_unsigned, SUM);                                       \
    }                                                                                                            \
    static void add_##type(const void *a, const void *b, void *y, int64_t count, const void *state)              \
    {                                                                                                            \
        sums_##type(a, b, y, count, state, false);                                                               \
    }                                                                                                            \
    static void sub_##type(const void *a, const void *b, void *y, int64_t count, const void *state)              \
    {                                                                                                            \
        sums_##type(a, b, y, count, state, true);                                                                \
    }                                                                                                            \
    static void mul_##type(const void *a, const void *b, void *y, int64_t count, const void *state)              \
    {                                                                                                            \
        const struct hl_arithmetic *s = state;                                                                   \
        const uint8_t *us = a, *vs = b;                                                                          \
        const int64_t done = product_loop(us, vs, y, count, s, is_unsigned);                                     \
        byte_pair_loop(us + done, vs + done, (uint8_t *)y + done, count - done, stored_pair_of(s, &s->a, &s->b), \
                       is_unsigned, PRODUCT);                                                                    \
    }
BYTE_KERNELS(i8, 0)
BYTE_KERNELS(u8, 1)

static void square_i8(const void *a, const void *b, void *y, int64_t count, const void *state)
{
    const struct sum_operands of = sum_operands_of(a, b, state, false);
    byte_pair_loop(of.u, of.v, y, count, of.params, 0, SQUARE);
}

// The same of int16, whose zero points are 0. An operand has 15 bits to spare, so that no product needs to be cut in
// two.
INLINE void short_pairs(const int16_t *us, const int16_t *vs, int16_t *y, struct stored_pair params,
                        enum pair_kind kind)
{
    u32_vector u = (u32_vector)load_i16_as_i32(us), v = (u32_vector)load_i16_as_i32(vs);
    if (kind == PRODUCT) {
        u = u * v;
    } else {
        u = (u32_vector)round_right((i32_vector)high_product(u << 15, splat_i32(params.u_multiplier)), params.u);
        u = add_signed(u, v << 14, &params);
    }
    const i32_vector value = round_right((i32_vector)high_product(u, splat_i32(params.multiplier)), params.y);
    store_i16(y, clamp_i32(value, params.low, params.high));
}

INLINE void short_pair_loop(const int16_t *us, const int16_t *vs, int16_t *ys, int64_t count, struct stored_pair params,
                            enum pair_kind kind)
{
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) short_pairs(us + i, vs + i, ys + i, params, kind);
    if (i == count) return;
    int16_t u[LANES] = {0}, v[LANES] = {0};
    memcpy(u, us + i, (size_t)(count - i) * sizeof *u);
    memcpy(v, vs + i, (size_t)(count - i) * sizeof *v);
    short_pairs(u, v, u, params, kind);
    memcpy(ys + i, u, (size_t)(count - i) * sizeof *u);
}

static void sums_i16(const void *a, const void *b, void *y, int64_t count, const void *state, bool less)
{
    const struct sum_operands of = sum_operands_of(a, b, state, less);
    short_pair_loop(of.u, of.v, y, count, of.params, SUM);
}

static void add_i16(const void *a, const void *b, void *y, int64_t count, const void *state)
{
    sums_i16(a, b, y, count, state, false);
}

static void sub_i16(const void *a, const void *b, void *y, int64_t count, const void *state)
{
    sums_i16(a, b, y, count, state, true);
}

static void mul_i16(const void *a, const void *b, void *y, int64_t count, const void *state)
{
    const struct hl_arithmetic *s = state;
    short_pair_loop(a, b, y, count, stored_pair_of(s, &s->a, &s->b), PRODUCT);
}

INLINE void sum_vector(const uint8_t *us, const uint8_t *vs, uint8_t *y, const struct hl_byte_sum *s, bool excepts)
{
    const u8_vector u_stored = (u8_vector)load_u32(us), v_stored = (u8_vector)load_u32(vs);
    const u8_vector u = u_stored ^ s->flip, v = v_stored ^ s->flip;
    const u8_vector none = {0}, low = interleave_low_8(u, v), high = interleave_high_8(u, v);
    u32_vector values[4] = {
        (u32_vector)interleave_low_8(low, none),
        (u32_vector)interleave_high_8(low, none),
        (u32_vector)interleave_low_8(high, none),
        (u32_vector)interleave_high_8(high, none),
    };
    UNROLL for (int i = 0; i < 4; i++)
    {
        const u32_vector upper = add_dot2((u32_vector){0}, splat_i32((int32_t)s->upper), values[i]);
        const i32_vector lower = (i32_vector)add_dot2((u32_vector){0}, splat_i32((int32_t)s->lower), values[i]);
        const u32_vector sum = (upper << s->left) + (u32_vector)(lower >> s->right) + (uint32_t)s->add;
        values[i] = (u32_vector)((i32_vector)sum >> s->fraction);
    }
    u8_vector bytes = narrow(values, s->zero, s->low, s->high);
    if (excepts) UNROLL for (int i = 0; i < HL_SUM_EXCEPTIONS; i++)
        {
            const struct hl_byte_sum_exception *e = &s->exception[i];
            bytes += (u8_vector)(u_stored == e->u) & (u8_vector)(v_stored == e->v) & e->difference;
        }
    memcpy(y, &bytes, sizeof bytes);
}

INLINE void sum_loop(const uint8_t *us, const uint8_t *vs, uint8_t *ys, int64_t count, const struct hl_byte_sum *s,
                     bool excepts)
{
    int64_t i = 0;
    for (; i + BYTES <= count; i += BYTES) sum_vector(us + i, vs + i, ys + i, s, excepts);
    if (i == count) return;
    uint8_t u[BYTES] = {0}, v[BYTES] = {0};
    memcpy(u, us + i, (size_t)(count - i));
    memcpy(v, vs + i, (size_t)(count - i));
    sum_vector(u, v, u, s, excepts);
    memcpy(ys + i, u, (size_t)(count - i));
}

#if HAS_TERNARY // for the choices between what is below zero and what is not
INLINE void prelu_vector(const uint8_t *xs, const uint8_t *slopes, uint8_t *y, const struct hl_byte_prelu *s)
{
    const int32_t right[2] = {s->positive.shift < 0 ? -s->positive.shift : 0,
                              s->negative.shift < 0 ? -s->negative.shift : 0};
    u32_vector values[4];
    UNROLL for (int v = 0; v < 4; v++)
    {
        const i32_vector x = (i32_vector)load_bytes(xs + v * LANES, s->is_unsigned, s->x_zero);
        const i32_vector slope = (i32_vector)load_bytes(slopes + v * LANES, s->is_unsigned, s->slope_zero);
        const u32_vector below = (u32_vector)(x < 0);
        const u32_vector value = ((u32_vector)(x * slope) & below) | ((u32_vector)x & ~below);
        const u32_vector multiplier =
            (splat_i32(s->negative.multiplier) & below) | (splat_i32(s->positive.multiplier) & ~below);
        const u32_vector shifts_right = (splat_i32(right[1]) & below) | (splat_i32(right[0]) & ~below);
        const u32_vector shifts_left =
            (splat_i32(s->negative.shift + right[1]) & below) | (splat_i32(s->positive.shift + right[0]) & ~below);
        values[v] = rescale_lanes(value, multiplier, shifts_left, shifts_right);
    }
    const u8_vector bytes = narrow_in_order(values, s->y_zero, s->low, s->high);
    memcpy(y, &bytes, sizeof bytes);
}

static void prelu_bytes(const void *a, const void *b, void *y, int64_t count, const void *state)
{
    const uint8_t *x = a, *slopes = b;
    uint8_t *to = y, last[2][BYTES] = {{0}, {0}};
    struct hl_byte_prelu s; // a copy, because stored bytes might alias it
    memcpy(&s, state, sizeof s);
    int64_t i = 0;
    for (; i + BYTES <= count; i += BYTES) prelu_vector(x + i, slopes + i, to + i, &s);
    if (i == count) return;
    memcpy(last[0], x + i, (size_t)(count - i));
    memcpy(last[1], slopes + i, (size_t)(count - i));
    prelu_vector(last[0], last[1], last[0], &s);
    memcpy(to + i, last[0], (size_t)(count - i));
}
#endif

static void sum_pairs(const void *a, const void *b, void *y, int64_t count, const void *state)
{
    const struct hl_byte_sum s = *(const struct hl_byte_sum *)state; // a copy, because stored bytes might alias it
    if (s.exceptions > 0)
        sum_loop(a, b, y, count, &s, true);
    else
        sum_loop(a, b, y, count, &s, false);
}
#endif

// ---- floats to bytes and back -------------------------------------------------------------------

// Computes what quantize() of ops/quantize.c does, for zero points that are values of the type.
INLINE void quantize_lanes(f32_vector x, uint8_t *y, const struct hl_byte_scale *params)
{
    f32_vector steps = x / params->scale;
    const f32_vector low = splat_f32(params->low), high = splat_f32(params->high);
    steps = choose(steps > low, steps, low); // NaN becomes low
    steps = choose(steps < high, steps, high);
    i32_vector whole = __builtin_convertvector(steps, i32_vector);
    const f32_vector rest = steps - __builtin_convertvector(whole, f32_vector);
    whole = whole - (rest >= 0.5f) + (rest <= -0.5f);
    store_bytes(y, whole + params->zero);
}

static void quantize_bytes(const float *x, uint8_t *y, int64_t count, const struct hl_byte_scale *params)
{
    const struct hl_byte_scale to = *params;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) quantize_lanes(load_f32(x + i), y + i, &to);
    if (i == count) return;
    uint8_t last[LANES];
    quantize_lanes(load_first_f32(x + i, count - i), last, &to);
    memcpy(y + i, last, (size_t)(count - i));
}

INLINE void dequantize_bytes(const uint8_t *x, float *y, int64_t count, const struct hl_byte_scale *params,
                             int is_unsigned)
{
    const float scale = params->scale;
    const int32_t zero = params->zero;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        const i32_vector steps = (i32_vector)load_bytes(x + i, is_unsigned, zero);
        store_f32(y + i, scale * __builtin_convertvector(steps, f32_vector));
    }
    for (; i < count; i++) y[i] = scale * (float)((is_unsigned ? x[i] : (int8_t)x[i]) - zero);
}

static void dequantize_i8(const uint8_t *x, float *y, int64_t count, const struct hl_byte_scale *params)
{
    dequantize_bytes(x, y, count, params, 0);
}

static void dequantize_u8(const uint8_t *x, float *y, int64_t count, const struct hl_byte_scale *params)
{
    dequantize_bytes(x, y, count, params, 1);
}

// ---- int16 --------------------------------------------------------------------------------------

#if HAS_RESCALE
INLINE i16_lanes rescale_some_words(i16_lanes x, u32_vector multiplier, u32_vector left, u32_vector right)
{
    const u32_vector value = (u32_vector) __builtin_convertvector(x, i32_vector);
    const i32_vector y = (i32_vector)rescale_lanes(value, multiplier, left, right);
    return __builtin_convertvector(clamp_i32(y, INT16_MIN, INT16_MAX), i16_lanes);
}

// (655,360 values: 1.55 ms one by one, 0.15 ms so, with AVX-512.)
static void rescale_words(const int16_t *x, int16_t *y, int64_t count, const struct hl_rescale *rescale)
{
    const u32_vector multiplier = splat_i32(rescale->multiplier);
    const u32_vector left = splat_i32(rescale->shift > 0 ? rescale->shift : 0);
    const u32_vector right = splat_i32(rescale->shift > 0 ? 0 : -rescale->shift);
    i16_lanes v = {0};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        memcpy(&v, x + i, sizeof v);
        v = rescale_some_words(v, multiplier, left, right);
        memcpy(y + i, &v, sizeof v);
    }
    memcpy(&v, x + i, (size_t)(count - i) * sizeof *x);
    v = rescale_some_words(v, multiplier, left, right);
    memcpy(y + i, &v, (size_t)(count - i) * sizeof *y);
}
#endif

// ---- tables -------------------------------------------------------------------------------------

// y[i] = table[x[i] + add]. A byte takes 0.11 ns with AVX-512 and 0.22 ns with AVX2; a loop over bytes takes 0.34 ns.
OUTLINE void map_moved(const uint8_t *x, uint8_t *y, int64_t count, uint8_t add, const uint8_t *table)
{
#if HAS_TABLES
    if (count >= BYTES) {
        const struct byte_table rows = load_table(table);
        u8_vector v, last; // the last BYTES bytes, some of which may be those of the vector before
        memcpy(&last, x + count - BYTES, sizeof last);
        for (int64_t i = 0; i < count; i += BYTES) {
            const bool whole = i + BYTES <= count;
            if (whole) memcpy(&v, x + i, sizeof v);
            v = look_up(&rows, (whole ? v : last) + add);
            memcpy(whole ? y + i : y + count - BYTES, &v, sizeof v);
        }
        return;
    }
#endif
    for (int64_t i = 0; i < count; i++) y[i] = table[(uint8_t)(x[i] + add)];
}

static void map_bytes(const uint8_t *x, uint8_t *y, int64_t count, const uint8_t *table)
{
    map_moved(x, y, count, 0, table);
}

#if HAS_WIDE_TABLES
static void map_bytes_by_wide_table(const uint8_t *x, uint8_t *y, int64_t count, const uint8_t *table)
{
    map_by_wide_table(x, y, count, 0, table);
}
#endif

// ---- functions of floats ------------------------------------------------------------------------

#define FLOAT_MAP(name, expression)                                                     \
    static void name(const float *xs, float *ys, int64_t count, const float *params)    \
    {                                                                                   \
        int64_t i = 0;                                                                  \
        for (; i + LANES <= count; i += LANES) {                                        \
            const f32_vector x = load_f32(xs + i);                                      \
            store_f32(ys + i, expression);                                              \
        }                                                                               \
        if (i < count) {                                                                \
            const f32_vector x = load_first_f32(xs + i, count - i), out = (expression); \
            store_first_f32(ys + i, out, count - i);                                    \
        }                                                                               \
        (void)params;                                                                   \
    }
FLOAT_MAP(map_sqrt, sqrt_f32(x))
FLOAT_MAP(map_rsqrt, rsqrt_f32(x))
FLOAT_MAP(map_hard_swish, x *clamp_f32(x + 3, 0, 6) * (1.0f / 6))
FLOAT_MAP(map_negative, -x)
FLOAT_MAP(map_magnitude, magnitude_of(x))
FLOAT_MAP(map_square, x *x)
FLOAT_MAP(map_floor, floor_f32(x))
FLOAT_MAP(map_ceil, ceil_f32(x))
FLOAT_MAP(map_round, round_f32(x))
FLOAT_MAP(map_clamp, clamp_f32(x, params[0], params[1]))
FLOAT_MAP(map_leaky_relu, choose(x > 0, x, x *params[0]))

// Maps `count` floats by a loop that takes whole vectors.
OUTLINE void map_by_vectors(void (*loop)(const float *xs, float *ys, int64_t count), const float *xs, float *ys,
                            int64_t count)
{
    const int64_t whole = count / LANES * LANES;
    loop(xs, ys, whole);
    if (whole == count) return;
    float rest[LANES];
    store_f32(rest, load_first_f32(xs + whole, count - whole));
    loop(rest, rest, LANES);
    store_first_f32(ys + whole, load_f32(rest), count - whole);
}

// For functions of many instructions: they are there once.
#define LONG_FLOAT_MAP(name, function)                                               \
    static void name##_loop(const float *xs, float *ys, int64_t count)               \
    {                                                                                \
        for (int64_t i = 0; i < count; i += LANES) {                                 \
            const f32_vector x = load_f32(xs + i);                                   \
            store_f32(ys + i, function);                                             \
        }                                                                            \
    }                                                                                \
    static void name(const float *xs, float *ys, int64_t count, const float *params) \
    {                                                                                \
        map_by_vectors(name##_loop, xs, ys, count);                                  \
        (void)params;                                                                \
    }
LONG_FLOAT_MAP(map_logistic, logistic_f32(x))
LONG_FLOAT_MAP(map_tanh, tanh_f32(x))
LONG_FLOAT_MAP(map_exp, exp_f32(clamp_f32(x, -104, 89)))
LONG_FLOAT_MAP(map_elu, elu_f32(x))
LONG_FLOAT_MAP(map_gelu, gelu_f32(x))
LONG_FLOAT_MAP(map_gelu_tanh, gelu_tanh_f32(x))
LONG_FLOAT_MAP(map_log, log_f32(x))
LONG_FLOAT_MAP(map_sin, sin_f32(x))
LONG_FLOAT_MAP(map_cos, cos_f32(x))

static const struct hl_element_kernels element_kernels = {
    .add_f32 = HL_WHERE(HL_HAS_OP(ADD) && HL_HAS_FLOATS, add_f32),
    .sub_f32 = HL_WHERE(HL_HAS_OP(SUB) && HL_HAS_FLOATS, sub_f32),
    .mul_f32 = HL_WHERE(HL_HAS_OP(MUL) && HL_HAS_FLOATS, mul_f32),
    .div_f32 = HL_WHERE(HL_HAS_OP(DIV) && HL_HAS_FLOATS, div_f32),
    .square_f32 = HL_WHERE(HL_HAS_OP(SQUARED_DIFFERENCE) && HL_HAS_FLOATS, square_f32),
    .larger_f32 = HL_WHERE(HL_HAS_OP(MAXIMUM) && HL_HAS_FLOATS, larger_f32),
    .larger_i8 = HL_WHERE(HL_HAS_OP(MAXIMUM) && HL_HAS_BYTES, larger_i8),
    .larger_u8 = HL_WHERE(HL_HAS_OP(MAXIMUM) && HL_HAS_BYTES, larger_u8),
    .larger_i16 = HL_WHERE(HL_HAS_OP(MAXIMUM) && HL_HAS_TYPE(kTfLiteInt16), larger_i16),
    .smaller_f32 = HL_WHERE(HL_HAS_OP(MINIMUM) && HL_HAS_FLOATS, smaller_f32),
    .smaller_i8 = HL_WHERE(HL_HAS_OP(MINIMUM) && HL_HAS_BYTES, smaller_i8),
    .smaller_u8 = HL_WHERE(HL_HAS_OP(MINIMUM) && HL_HAS_BYTES, smaller_u8),
    .smaller_i16 = HL_WHERE(HL_HAS_OP(MINIMUM) && HL_HAS_TYPE(kTfLiteInt16), smaller_i16),
    .prelu_f32 = HL_WHERE(HL_HAS_OP(PRELU) && HL_HAS_FLOATS, prelu_f32),
#if HAS_MASKS
    .select_32 = HL_WHERE(HL_HAS_OP(SELECT_V2), select_32),
#endif
    .repeat = repeat,
    .shift_rows = HL_WHERE((HL_HAS_OP(ADD) || HL_HAS_OP(SUB) || HL_HAS_OP(MUL)) && HL_HAS_FLOATS, shift_rows),
    .parted_prelu = HL_WHERE(HL_HAS_PARTED_PRELU, parted_prelu),
#if HAS_RESCALE
    .add_i8 = HL_WHERE(HL_HAS_OP(ADD) && HL_HAS_BYTES, add_i8),
    .add_u8 = HL_WHERE(HL_HAS_OP(ADD) && HL_HAS_BYTES, add_u8),
    .sub_i8 = HL_WHERE(HL_HAS_OP(SUB) && HL_HAS_BYTES, sub_i8),
    .sub_u8 = HL_WHERE(HL_HAS_OP(SUB) && HL_HAS_BYTES, sub_u8),
    .mul_i8 = HL_WHERE(HL_HAS_OP(MUL) && HL_HAS_BYTES, mul_i8),
    .mul_u8 = HL_WHERE(HL_HAS_OP(MUL) && HL_HAS_BYTES, mul_u8),
    .square_i8 = HL_WHERE(HL_HAS_OP(SQUARED_DIFFERENCE) && HL_HAS_BYTES, square_i8),
#if HAS_TERNARY
    .prelu_bytes = HL_WHERE(HL_HAS_OP(PRELU) && HL_HAS_BYTES, prelu_bytes),
#endif
    .sum_pairs = HL_WHERE((HL_HAS_OP(ADD) || HL_HAS_OP(SUB)) && HL_HAS_BYTES, sum_pairs),
    .rescale_words = HL_WHERE(HL_HAS_OP(QUANTIZE) && HL_HAS_TYPE(kTfLiteInt16), rescale_words),
    .add_i16 = HL_WHERE(HL_HAS_OP(ADD) && HL_HAS_TYPE(kTfLiteInt16), add_i16),
    .sub_i16 = HL_WHERE(HL_HAS_OP(SUB) && HL_HAS_TYPE(kTfLiteInt16), sub_i16),
    .mul_i16 = HL_WHERE(HL_HAS_OP(MUL) && HL_HAS_TYPE(kTfLiteInt16), mul_i16),
#endif
    .quantize = HL_WHERE(HL_HAS_OP(QUANTIZE) && HL_HAS_BYTES, quantize_bytes),
    .dequantize_i8 = HL_WHERE(HL_HAS_OP(DEQUANTIZE) && HL_HAS_BYTES, dequantize_i8),
    .dequantize_u8 = HL_WHERE(HL_HAS_OP(DEQUANTIZE) && HL_HAS_BYTES, dequantize_u8),
#if HAS_TABLES
    .bytes = HL_WHERE(HL_HAS_BYTES, map_bytes),
#endif
#if HAS_WIDE_TABLES
    .bytes_by_wide_table = HL_WHERE(HL_HAS_BYTES, map_bytes_by_wide_table),
#endif
    .logistic = HL_WHERE(HL_HAS_OP(LOGISTIC) && HL_HAS_FLOATS, map_logistic),
    .tanh = HL_WHERE(HL_HAS_OP(TANH) && HL_HAS_FLOATS, map_tanh),
    .exp = HL_WHERE(HL_HAS_OP(EXP) && HL_HAS_FLOATS, map_exp),
    .elu = HL_WHERE(HL_HAS_OP(ELU) && HL_HAS_FLOATS, map_elu),
    .gelu = HL_WHERE(HL_HAS_OP(GELU) && HL_HAS_FLOATS, map_gelu),
    .gelu_tanh = HL_WHERE(HL_HAS_OP(GELU) && HL_HAS_FLOATS, map_gelu_tanh),
    .log = HL_WHERE(HL_HAS_OP(LOG) && HL_HAS_FLOATS, map_log),
    .sin = HL_WHERE(HL_HAS_OP(SIN) && HL_HAS_FLOATS, map_sin),
    .cos = HL_WHERE(HL_HAS_OP(COS) && HL_HAS_FLOATS, map_cos),
    .sqrt = HL_WHERE(HL_HAS_OP(SQRT) && HL_HAS_FLOATS, map_sqrt),
    .rsqrt = HL_WHERE(HL_HAS_OP(RSQRT) && HL_HAS_FLOATS, map_rsqrt),
    .hard_swish = HL_WHERE(HL_HAS_OP(HARD_SWISH) && HL_HAS_FLOATS, map_hard_swish),
    .negative = HL_WHERE(HL_HAS_OP(NEG) && HL_HAS_FLOATS, map_negative),
    .magnitude = HL_WHERE(HL_HAS_OP(ABS) && HL_HAS_FLOATS, map_magnitude),
    .square = HL_WHERE(HL_HAS_OP(SQUARE) && HL_HAS_FLOATS, map_square),
    .floor = HL_WHERE(HL_HAS_OP(FLOOR) && HL_HAS_FLOATS, map_floor),
    .ceil = HL_WHERE(HL_HAS_OP(CEIL) && HL_HAS_FLOATS, map_ceil),
    .round = HL_WHERE(HL_HAS_OP(ROUND) && HL_HAS_FLOATS, map_round),
    .leaky_relu = HL_WHERE(HL_HAS_OP(LEAKY_RELU) && HL_HAS_FLOATS, map_leaky_relu),
    .clamp = HL_WHERE(HL_HAS_FLOATS, map_clamp),
};

#endif
