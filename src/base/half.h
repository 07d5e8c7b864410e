// SPDX-License-Identifier: Apache-2.0
// IEEE binary16 and bfloat16 bits to float and back, rounding to nearest even; NaN stays NaN.
#ifndef HALITE_BASE_HALF_H
#define HALITE_BASE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t hl_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float hl_float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float hl_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 0x1fu, mantissa = half & 0x3ffu;
    if (exponent == 0x1f) return hl_float_from_bits(sign | 0x7f800000u | mantissa << 13);
    if (exponent == 0) {
        float magnitude = (float)mantissa * 5.9604644775390625e-8f; // 2^-24, exact
        return sign ? -magnitude : magnitude;
    }
    return hl_float_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

static inline uint16_t hl_half_from_float(float value)
{
    uint32_t bits = hl_float_bits(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u;
    if (magnitude >= 0x477ff000u) return sign | 0x7c00u; // 65520 and above round to infinity
    if (magnitude < 0x38800000u) {                       // below 2^-14: subnormal, units of 2^-24
        if (magnitude < 0x33000000u) return sign;        // below 2^-25
        uint32_t shift = 126 - (magnitude >> 23);        // 14..24
        uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
        uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1), middle = 1u << (shift - 1);
        return (uint16_t)(sign | (kept + (rest > middle || (rest == middle && (kept & 1)))));
    }
    uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1);
    return (uint16_t)(sign | ((rounded - 0x38000000u) >> 13));
}

static inline float hl_bfloat16_to_float(uint16_t bits)
{
    return hl_float_from_bits((uint32_t)bits << 16);
}

static inline uint16_t hl_bfloat16_from_float(float value)
{
    uint32_t bits = hl_float_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

#endif
