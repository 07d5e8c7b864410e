// SPDX-License-Identifier: Apache-2.0
// The vector types of one CPU level, and the few macros that templates need. An architecture header includes this file
// after it has defined BYTES, the size of a vector register.
#ifndef HALITE_FAST_SIMD_VECTOR_TYPES_H
#define HALITE_FAST_SIMD_VECTOR_TYPES_H

#include <stdint.h>
#include <string.h>

enum {
    LANES = BYTES / 4, // 32-bit lanes of a vector
    WIDE = BYTES / 2,  // 16-bit lanes of a vector
};

// Arithmetic on u32_vector wraps modulo 2^32, so sums of integers have this type.
typedef float f32_vector __attribute__((vector_size(BYTES)));
typedef uint32_t u32_vector __attribute__((vector_size(BYTES)));
typedef int32_t i32_vector __attribute__((vector_size(BYTES)));
typedef double f64_vector __attribute__((vector_size(BYTES)));
typedef int64_t i64_vector __attribute__((vector_size(BYTES)));
typedef uint64_t u64_vector __attribute__((vector_size(BYTES)));
typedef int16_t i16_vector __attribute__((vector_size(BYTES)));
typedef uint8_t u8_vector __attribute__((vector_size(BYTES)));
typedef float f32_half __attribute__((vector_size(BYTES / 2)));
typedef uint32_t u32_half __attribute__((vector_size(BYTES / 2)));
typedef int32_t i32_half __attribute__((vector_size(BYTES / 2)));
typedef int16_t i16_half __attribute__((vector_size(BYTES / 2)));
typedef int16_t i16_quarter __attribute__((vector_size(BYTES / 4)));
typedef uint8_t u8_lanes __attribute__((vector_size(LANES)));
typedef int16_t i16_lanes __attribute__((vector_size(2 * LANES)));
typedef int8_t i8_lanes __attribute__((vector_size(LANES)));
typedef float f32_quad __attribute__((vector_size(16)));
typedef uint32_t u32_quad __attribute__((vector_size(16)));
typedef uint8_t u8_quad __attribute__((vector_size(16)));

// A loop of constant length is unrolled in full, so that its arrays of vectors become registers. OUTLINE: a function is
// there once, and gcc makes no copies of it for constant arguments.
#if defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define OUTLINE static __attribute__((noinline))
#else
#define UNROLL _Pragma("GCC unroll 16")
#define OUTLINE static __attribute__((noinline, noclone))
#endif
#define INLINE static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline, cold))
#define SYMBOL(prefix, level) JOIN(prefix, level)
#define JOIN(a, b) a##b

static inline u32_vector load_u32(const void *at)
{
    u32_vector v;
    memcpy(&v, at, sizeof v);
    return v;
}

static inline u32_vector splat_i32(int32_t x)
{
    return (uint32_t)x + (u32_vector){0};
}

// A value of which compilers know nothing. With such an index, a loop that looks up a table does not become one of
// vectors, whose lanes go in and out one by one. (SOFTMAX of bytes by AVX-512: 25,689 bytes of code with vectors, 3,953
// so, and 0.53 and 0.50 ns a byte of rows of 1024.) With such a condition, a loop is not there twice.
INLINE unsigned opaque(unsigned value)
{
    __asm__("" : "+r"(value));
    return value;
}

#endif
