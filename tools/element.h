// SPDX-License-Identifier: Apache-2.0
// Elements of tensors of any type, read and written one at a time. Every type has one of five views: signed or unsigned
// integers of 2 to 64 bits, real numbers, complex numbers as two reals, strings. Types below 8 bits lie several to a
// byte, the first in the low bits.
#ifndef HALITE_TOOLS_ELEMENT_H
#define HALITE_TOOLS_ELEMENT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/half.h"
#include "tensorflow/lite/c/c_api_types.h"

enum hl_element_view {
    HL_ELEMENT_NONE, // handles and pointers: no values to look at
    HL_ELEMENT_SIGNED,
    HL_ELEMENT_UNSIGNED,
    HL_ELEMENT_REAL,
    HL_ELEMENT_COMPLEX,
    HL_ELEMENT_STRING,
};

struct hl_element_type {
    enum hl_element_view view;
    int bits; // of an element, of one part of a complex number
};

static inline struct hl_element_type hl_element_type(TfLiteType type)
{
    switch (type) {
    case kTfLiteInt2: return (struct hl_element_type){HL_ELEMENT_SIGNED, 2};
    case kTfLiteInt4: return (struct hl_element_type){HL_ELEMENT_SIGNED, 4};
    case kTfLiteInt8: return (struct hl_element_type){HL_ELEMENT_SIGNED, 8};
    case kTfLiteInt16: return (struct hl_element_type){HL_ELEMENT_SIGNED, 16};
    case kTfLiteInt32: return (struct hl_element_type){HL_ELEMENT_SIGNED, 32};
    case kTfLiteInt64: return (struct hl_element_type){HL_ELEMENT_SIGNED, 64};
    case kTfLiteUInt4: return (struct hl_element_type){HL_ELEMENT_UNSIGNED, 4};
    case kTfLiteBool:
    case kTfLiteUInt8: return (struct hl_element_type){HL_ELEMENT_UNSIGNED, 8};
    case kTfLiteUInt16: return (struct hl_element_type){HL_ELEMENT_UNSIGNED, 16};
    case kTfLiteUInt32: return (struct hl_element_type){HL_ELEMENT_UNSIGNED, 32};
    case kTfLiteUInt64: return (struct hl_element_type){HL_ELEMENT_UNSIGNED, 64};
    case kTfLiteFloat8E4M3FN:
    case kTfLiteFloat8E5M2: return (struct hl_element_type){HL_ELEMENT_REAL, 8};
    case kTfLiteFloat16:
    case kTfLiteBFloat16: return (struct hl_element_type){HL_ELEMENT_REAL, 16};
    case kTfLiteFloat32: return (struct hl_element_type){HL_ELEMENT_REAL, 32};
    case kTfLiteFloat64: return (struct hl_element_type){HL_ELEMENT_REAL, 64};
    case kTfLiteComplex64: return (struct hl_element_type){HL_ELEMENT_COMPLEX, 32};
    case kTfLiteComplex128: return (struct hl_element_type){HL_ELEMENT_COMPLEX, 64};
    case kTfLiteString: return (struct hl_element_type){HL_ELEMENT_STRING, 0};
    case kTfLiteNoType:
    case kTfLiteResource:
    case kTfLiteVariant: break;
    }
    return (struct hl_element_type){HL_ELEMENT_NONE, 0};
}

// The field's usual name: "float32".
static inline const char *hl_element_name(TfLiteType type)
{
    switch (type) {
    case kTfLiteNoType: return "none";
    case kTfLiteFloat32: return "float32";
    case kTfLiteInt32: return "int32";
    case kTfLiteUInt8: return "uint8";
    case kTfLiteInt64: return "int64";
    case kTfLiteString: return "string";
    case kTfLiteBool: return "bool";
    case kTfLiteInt16: return "int16";
    case kTfLiteComplex64: return "complex64";
    case kTfLiteInt8: return "int8";
    case kTfLiteFloat16: return "float16";
    case kTfLiteFloat64: return "float64";
    case kTfLiteComplex128: return "complex128";
    case kTfLiteUInt64: return "uint64";
    case kTfLiteResource: return "resource";
    case kTfLiteVariant: return "variant";
    case kTfLiteUInt32: return "uint32";
    case kTfLiteUInt16: return "uint16";
    case kTfLiteInt4: return "int4";
    case kTfLiteBFloat16: return "bfloat16";
    case kTfLiteInt2: return "int2";
    case kTfLiteUInt4: return "uint4";
    case kTfLiteFloat8E4M3FN: return "float8_e4m3fn";
    case kTfLiteFloat8E5M2: return "float8_e5m2";
    }
    return "unknown";
}

// The type of that name, kTfLiteNoType where there is none.
static inline TfLiteType hl_element_named(const char *name)
{
    for (int type = kTfLiteFloat8E5M2; type > kTfLiteNoType; type--)
        if (strcmp(hl_element_name((TfLiteType)type), name) == 0) return (TfLiteType)type;
    return kTfLiteNoType;
}

// Bytes that `count` elements take; 0 for strings and handles.
static inline size_t hl_element_bytes(TfLiteType type, int64_t count)
{
    struct hl_element_type how = hl_element_type(type);
    size_t parts = (size_t)count * (how.view == HL_ELEMENT_COMPLEX ? 2 : 1);
    return how.bits < 8 ? (parts * (size_t)how.bits + 7) / 8 : parts * (size_t)how.bits / 8;
}

// The bits of part i.
static inline uint64_t hl_element_bits(const void *data, int bits, int64_t i)
{
    const unsigned char *bytes = data;
    if (bits < 8) {
        int per_byte = 8 / bits;
        return (uint64_t)(bytes[i / per_byte] >> (i % per_byte * bits)) & ((1u << bits) - 1);
    }
    uint64_t value = 0;
    for (int byte = bits / 8 - 1; byte >= 0; byte--) value = value << 8 | bytes[i * (bits / 8) + byte];
    return value;
}

static inline void hl_element_set_bits(void *data, int bits, int64_t i, uint64_t value)
{
    unsigned char *bytes = data;
    if (bits < 8) {
        int per_byte = 8 / bits, shift = (int)(i % per_byte) * bits;
        unsigned mask = ((1u << bits) - 1) << shift;
        unsigned char *byte = &bytes[i / per_byte];
        *byte = (unsigned char)((*byte & ~mask) | ((unsigned)value << shift & mask));
        return;
    }
    for (int byte = 0; byte < bits / 8; byte++, value >>= 8) bytes[i * (bits / 8) + byte] = (unsigned char)value;
}

static inline int64_t hl_element_signed(const void *data, int bits, int64_t i)
{
    uint64_t value = hl_element_bits(data, bits, i);
    if (bits == 64) return (int64_t)value;
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (int64_t)(value ^ sign) - (int64_t)sign;
}

// exponent_bits of exponent with the usual bias, the rest mantissa. E5M2 has infinities; E4M3FN has none and one NaN
// pattern.
static inline double hl_element_float8(unsigned bits, int exponent_bits)
{
    int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    int mantissa = (int)bits & ((1 << mantissa_bits) - 1);
    double sign = bits & 0x80 ? -1 : 1;
    if (exponent_bits == 5 && exponent == 31) return mantissa ? (double)NAN : sign * (double)INFINITY;
    if (exponent_bits == 4 && exponent == 15 && mantissa == 7) return (double)NAN;
    if (exponent == 0) return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

// Part i of a tensor of real or complex numbers.
static inline double hl_element_real(TfLiteType type, const void *data, int64_t i)
{
    int bits = hl_element_type(type).bits;
    uint64_t raw = hl_element_bits(data, bits, i);
    if (type == kTfLiteFloat8E4M3FN) return hl_element_float8((unsigned)raw, 4);
    if (type == kTfLiteFloat8E5M2) return hl_element_float8((unsigned)raw, 5);
    if (type == kTfLiteFloat16) return (double)hl_half_to_float((uint16_t)raw);
    if (type == kTfLiteBFloat16) return (double)hl_bfloat16_to_float((uint16_t)raw);
    if (bits == 32) return (double)hl_float_from_bits((uint32_t)raw);
    double value;
    memcpy(&value, &raw, sizeof value);
    return value;
}

// The inverse; 8-bit floats are not written.
static inline void hl_element_set_real(TfLiteType type, void *data, int64_t i, double value)
{
    int bits = hl_element_type(type).bits;
    uint64_t raw;
    if (type == kTfLiteFloat16)
        raw = hl_half_from_float((float)value);
    else if (type == kTfLiteBFloat16)
        raw = hl_bfloat16_from_float((float)value);
    else if (bits == 32)
        raw = hl_float_bits((float)value);
    else
        memcpy(&raw, &value, sizeof raw);
    hl_element_set_bits(data, bits, i, raw);
}

#endif
