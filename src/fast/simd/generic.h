// SPDX-License-Identifier: Apache-2.0
// The SIMD wrappers in plain C with the compiler's vector types, for architectures that have no header of their own.
// It and lanes.h say what each wrapper does. x86.h and neon.h define the same constants and functions with
// instructions; a function that belongs to a capability (HAS_...) is missing where the capability is 0.
#ifndef HALITE_FAST_SIMD_GENERIC_H
#define HALITE_FAST_SIMD_GENERIC_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BYTES_ABOVE_QUAD 0 // max_u8_quad: max_u8 of 16 bytes, where vectors are longer
enum { BYTES = 16 };       // of a vector register
#include "fast/simd/lanes.h"
#include "fast/simd/vector_types.h"

// ---- what the level can do ----------------------------------------------------------------------

#define TILE_ROWS 4 // rows of a matrix product's tile: so many that 2 * TILE_ROWS sums and the operands fit registers
enum { REGISTERS = 16 };     // vector registers
#define MAX_PARTS 1          // vectors are loaded from up to so many addresses: 1, 2 (load_halves), 4 (load_quarters)
#define HAS_HALVES 0         // add_product_half and widen_half: half a vector of sums takes half the time
#define HAS_MASKS 0          // load_first and store_first cost no more than whole vectors
#define HAS_RESCALE 0        // high_product, rescale_lanes, narrow, store_clamped, clamp_i32: integer sums become bytes
#define HAS_RESCALE_RIGHT 0  // rescale_right is faster than rescale_lanes
#define HAS_RESCALE_FLOATS 0 // rescale_doubled and narrow_doubled are faster than both
#define SETS_RESCALE_RIGHT 0 // right_rescale_of takes hardly any time
#define TO_I32_LOW 0         // to_i32 gives INT32_MIN for NaN, and for what is too small or too large
#define HAS_TERNARY 0        // with_sign_of, and to choose between bits, is one instruction
#define HAS_TABLES 0         // struct byte_table, load_table, look_up: tables of 256 bytes
#define HAS_WIDE_TABLES 0    // sum_by_wide_tables, map_by_wide_table: the same in a few instructions, on some CPUs
#define HAS_RSQRT 0          // rsqrt_estimate
#define HAS_ROUND 0          // round_f32, floor_f32, ceil_f32: to whole numbers
#define HAS_PARTS 0          // exponent_of, fraction_of: the parts of floats
#define HAS_FUSED 0          // add_product rounds once
#define HAS_SPREAD 0         // permute: lanes in any order, as tiles of several groups of columns need it
#define HAS_POWER_TABLE 0    // permute of 16 lanes, and scale_by_power: v * 2^floor(n)
#define HAS_LANE_PRODUCTS 0  // load_quad and products with its lanes
#define HAS_DOT2_HALVES 0    // sums of products of int16 in two vectors
#define HAS_OCTETS 0         // add_octet_products and others: eight bytes times eight
#define HAS_DOT4 0           // add_dot4: dot products of four bytes
#define DOT4_SIGNED_X 0      // the second operand of add_dot4 is int8; otherwise it is uint8

// ---- loads and stores ---------------------------------------------------------------------------

// LANES bytes as 32-bit lanes.
static inline u32_vector load_u8_as_i32(const uint8_t *at)
{
    u8_lanes bytes;
    memcpy(&bytes, at, sizeof bytes);
    return __builtin_convertvector(bytes, u32_vector);
}

static inline u32_vector load_i8_as_i32(const uint8_t *at)
{
    i8_lanes bytes;
    memcpy(&bytes, at, sizeof bytes);
    return (u32_vector) __builtin_convertvector(bytes, i32_vector);
}

// WIDE int8 as 16-bit lanes.
static inline u32_vector load_i8_as_i16(const int8_t *at)
{
    int8_t bytes __attribute__((vector_size(WIDE)));
    memcpy(&bytes, at, sizeof bytes);
    return (u32_vector) __builtin_convertvector(bytes, i16_vector);
}

// Stores the lowest byte of each 32-bit lane: LANES bytes.
static inline void store_bytes(uint8_t *at, i32_vector v)
{
    for (int i = 0; i < LANES; i++) at[i] = (uint8_t)v[i];
}

// ---- floats -------------------------------------------------------------------------------------

// sum + w * x, fused where the CPU can.
static inline f32_vector add_product(f32_vector sum, f32_vector w, f32_vector x)
{
    return sum + w * x;
}

// a < b ? a : b and a > b ? a : b: the result is b where either is a NaN.
static inline f32_vector min_f32(f32_vector a, f32_vector b)
{
    for (int i = 0; i < LANES; i++) a[i] = a[i] < b[i] ? a[i] : b[i];
    return a;
}

static inline f32_vector max_f32(f32_vector a, f32_vector b)
{
    for (int i = 0; i < LANES; i++) a[i] = a[i] > b[i] ? a[i] : b[i];
    return a;
}

static inline f32_vector sqrt_f32(f32_vector x)
{
    for (int i = 0; i < LANES; i++) x[i] = sqrtf(x[i]);
    return x;
}

// Whether a lane of the mask is set; lanes are all ones or all zeros.
static inline bool any_lane(i32_vector mask)
{
    int32_t all = 0;
    for (int i = 0; i < LANES; i++) all |= mask[i];
    return all != 0;
}

// Truncates towards zero.
static inline i32_vector to_i32(f32_vector v)
{
    return __builtin_convertvector(v, i32_vector);
}

// A NaN stays one, as in the reference kernels.
static inline f32_vector clamp_f32(f32_vector v, float low, float high)
{
    for (int i = 0; i < LANES; i++) v[i] = v[i] < low ? low : v[i] > high ? high : v[i];
    return v;
}

// v must not be a NaN.
static inline f64_vector clamp_f64(f64_vector v, double low, double high)
{
    for (int i = 0; i < LANES / 2; i++) v[i] = v[i] < low ? low : v[i] > high ? high : v[i];
    return v;
}

// ---- integers -----------------------------------------------------------------------------------

// Each lane: sum + the two products of its int16.
static inline u32_vector add_dot2(u32_vector sum, u32_vector w, u32_vector x)
{
    i32_vector low = ((i32_vector)(w << 16) >> 16) * ((i32_vector)(x << 16) >> 16);
    return sum + (u32_vector)low + (u32_vector)(((i32_vector)w >> 16) * ((i32_vector)x >> 16));
}

static inline u8_vector max_u8(u8_vector a, u8_vector b)
{
    const u8_vector mask = (u8_vector)(a > b);
    return (a & mask) | (b & ~mask);
}

// Adds 16 bytes, each xor `mask`, to the lanes of sums; it does not matter which byte goes to which lane.
static inline u32_quad add_16_bytes(u32_quad sums, const uint8_t *at, uint8_t mask)
{
    u32_quad x;
    memcpy(&x, at, sizeof x);
    x ^= mask * 0x01010101u;
    return sums + (x & 255) + (x >> 8 & 255) + (x >> 16 & 255) + (x >> 24);
}

static inline u32_quad add_8_bytes(u32_quad sums, const uint8_t *at, uint8_t mask)
{
    for (int i = 0; i < 8; i++) sums[i % 4] += at[i] ^ mask;
    return sums;
}

// Elements of 8, 16, 32 or 64 bits of a and b in turn, from the lower or the upper half of each 16 bytes.
static inline u8_vector interleave_low_8(u8_vector a, u8_vector b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

static inline u8_vector interleave_high_8(u8_vector a, u8_vector b)
{
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

static inline u8_vector interleave_low_16(u8_vector a, u8_vector b)
{
    return (u8_vector)__builtin_shufflevector((i16_vector)a, (i16_vector)b, 0, 8, 1, 9, 2, 10, 3, 11);
}

static inline u8_vector interleave_high_16(u8_vector a, u8_vector b)
{
    return (u8_vector)__builtin_shufflevector((i16_vector)a, (i16_vector)b, 4, 12, 5, 13, 6, 14, 7, 15);
}

static inline u8_vector interleave_low_32(u8_vector a, u8_vector b)
{
    return (u8_vector)__builtin_shufflevector((u32_vector)a, (u32_vector)b, 0, 4, 1, 5);
}

static inline u8_vector interleave_high_32(u8_vector a, u8_vector b)
{
    return (u8_vector)__builtin_shufflevector((u32_vector)a, (u32_vector)b, 2, 6, 3, 7);
}

static inline u8_vector interleave_low_64(u8_vector a, u8_vector b)
{
    return (u8_vector)__builtin_shufflevector((u32_vector)a, (u32_vector)b, 0, 1, 4, 5);
}

static inline u8_vector interleave_high_64(u8_vector a, u8_vector b)
{
    return (u8_vector)__builtin_shufflevector((u32_vector)a, (u32_vector)b, 2, 3, 6, 7);
}

// What the capabilities add, for the architectures that have them:
//
// HAS_RESCALE (see ops/quant.h for the arithmetic)
// u32_vector high_product(u32_vector value, u32_vector multiplier)
//     hl_high_mul of each lane, modulo 2^32: value * multiplier / 2^31, rounded to the nearest, halves up. The
//     multiplier is not negative.
// u32_vector rescale_lanes(u32_vector value, u32_vector multiplier, u32_vector left, u32_vector right)
//     hl_rescale_apply of each lane: shifted left, times multiplier / 2^31, divided by 2^right with halves away from 0.
// struct right_rescale right_rescale_of(u32_vector multiplier, u32_vector right)
// u32_vector rescale_right(u32_vector value, const struct right_rescale *params)
//     The same of lanes that are not shifted left, and to the right by at least 1; others have any result.
//     HAS_RESCALE_RIGHT: the architecture has a faster way than rescale_lanes; else vector.h adds these two.
// u8_vector narrow(const u32_vector values[4], int32_t zero, int32_t low, int32_t high)
//     Four vectors of int32 plus zero, as bytes in [low, high]: uint8, or int8 where low < 0. Each 16 bytes of the
//     result are 4 bytes each of the same 16 bytes of all four.
// u8_vector narrow_in_order(const u32_vector values[4], int32_t zero, int32_t low, int32_t high)
//     The same, with the bytes of the first vector first, then those of the second and so on.
// struct float_rescale float_rescale_of(u32_vector multiplier, u32_vector right)
// bool fits_float_rescale(u32_vector right, int columns)
// u32_vector rescale_doubled(u32_vector value, const struct float_rescale *params)
// u8_vector narrow_doubled(...) and narrow_doubled_in_order(...)
//     HAS_RESCALE_FLOATS: (rescale_doubled() + 1) >> 1 is rescale_right() of lanes that become bytes, and of others any
//     value on the same side. The shifts of the first `columns` lanes must fit. narrow_doubled takes four such vectors.
// void store_some_bytes(uint8_t *at, u8_vector v, int first, int count)
//     HAS_MASKS: stores bytes [first, first + count) of v; first is a constant, a multiple of 16, and count at most 32.
// void store_clamped(uint8_t *at, u32_vector value, int32_t zero, int32_t low, int32_t high)
//     LANES int32 plus zero, as bytes in [low, high].
//
// HAS_RSQRT
// f32_vector rsqrt_estimate(f32_vector x)
//     1 / sqrt(x) to 14 bits, also of subnormal numbers, with libm's results for 0, infinities, NaN and negative x.
//
// HAS_ROUND
// f32_vector round_f32(f32_vector x), floor_f32, ceil_f32
//     x as a whole number: the nearest, halves to the even one; the next that is not above x; that is not below x.
//
// HAS_PARTS
// f32_vector fraction_of(f32_vector x), exponent_of
//     x = m 2^n with m in [0.75, 1.5), also for subnormal x: m; and n, or n - 1 where m < 1. NaN is the fraction
//     where x is NaN or below 0; of 0 and of infinity the exponents are -infinity and infinity.
//
// HAS_TABLES
// struct byte_table load_table(const uint8_t table[256])
// u8_vector look_up(const struct byte_table *table, u8_vector index)
//     table[index] of each byte.
//
// HAS_WIDE_TABLES, where hl_simd_has_wide_tables
// uint64_t sum_by_wide_tables(const uint8_t *x, int64_t count, uint8_t add, const uint8_t planes[3][256])
//     The sum of numbers of three bytes: entries x[i] + add of the three planes, the lowest byte first.
// void map_by_wide_table(const uint8_t *x, uint8_t *y, int64_t count, uint8_t add, const uint8_t table[256])
//     y[i] = table[x[i] + add]; y may be x.
//
// HAS_DOT4
// u32_vector load_first_bytes(const uint8_t *at, int count)
//     HAS_MASKS: `count` bytes, less than a vector; others are 0.
// u32_vector add_dot4(u32_vector sum, u32_vector w, u32_vector x)
//     Each lane: sum + the four products of its bytes, int8 of w with int8 or uint8 of x (DOT4_SIGNED_X).
//
// HAS_DOT2_HALVES
// u32_vector add_dot2_low(u32_vector sum, u32_vector w, u32_vector x) and add_dot2_high
//     Each lane: sum + one product, of the int16 in the lower, or upper, half of the vectors.
// u32_vector join_dots(u32_vector low, u32_vector high)
//     Such sums as add_dot2 has them: a lane is two of them.
//
// HAS_OCTETS, of vectors of 16 bytes
// octet load_octet(const char *at) and load_half_octet
//     8 int8; or 4, and zeros.
// u32_vector add_octet_products(u32_vector sum, octet w, octet x)
//     Each lane: sum + two of the 8 products.
// u32_vector add_narrow_products(u32_vector sum, octet w0, octet x0, octet w1, octet x1)
//     Those of w0 and x0, and of w1 and x1. No int8 of w0 and w1 is -128.
// u32_vector add_up(const u32_vector v[4])
//     The sum of the lanes of each.
//
// HAS_HALVES
// f32_half add_product_half(f32_half sum, f32_half w, f32_half x), and load_f32_half, store_f32_half, clamp_f32_half
// u32_half add_dot4_half(u32_half sum, u32_half w, u32_half x)
//     HAS_DOT4.
// f32_half low_half(f32_vector v)
// f32_vector widen_half(f32_half v)
//     The first half of the result is v, the second is anything.
//
// HAS_LANE_PRODUCTS
// u32_vector load_quad(const void *at)
//     The same 16 bytes in each 16 bytes of a vector.
// f32_vector add_product_by_lane(f32_vector sum, f32_vector w, u32_vector quad, int lane)
// u32_vector add_dot4_by_lane(u32_vector sum, u32_vector w, u32_vector quad, int lane)
//     add_product and add_dot4 (HAS_DOT4) where all lanes of x are this one of the quad: 0 to 3, a constant.
//
// What pairs_tmpl.h takes besides, of levels that multiply two rows with two columns at a time:
// u32_vector add_dot8(u32_vector sum, u32_vector x, u32_vector w)
//     Each 16 bytes of int32: sums 0 and 1 get the dot products of the first 8 int8 of x with the first 8 of w, and
//     with the second 8 of w; sums 2 and 3 those of the second 8 of x.
// u32_vector splat_u64(uint64_t x)
// u32_vector interleave_low_u64(u32_vector a, u32_vector b) and interleave_high_u64
//     The first, or second, 8 bytes of a, then those of b, in each 16 bytes.
// u32_vector zip_low_u64(u32_vector a, u32_vector b), zip_high_u64, zip_low_u32 and zip_high_u32
//     Elements of the lower, or upper, half of the whole vectors in turn.
// u32_vector unzip_even_u64(u32_vector a, u32_vector b) and unzip_odd_u64
//     Elements 0, 2, 4 ... or 1, 3, 5 ... of a, then those of b.
//
// MAX_PARTS of 2 and 4
// u8_vector load_halves(const void *a, const void *b)
// u8_vector load_quarters(const void *a, const void *b, const void *c, const void *d)
//     A vector whose halves, or quarters, are loaded from these addresses.

#endif
