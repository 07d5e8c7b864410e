// SPDX-License-Identifier: Apache-2.0
// The tables of tensor.h, made of types.def and operators.def, and what is computed from them.
#include "abi/tensor.h"

#include <stddef.h>

#include "base/checked.h"

// Elements and products of dimensions above this are refused everywhere, so that sums of offsets
// cannot overflow 64 bits.
static const int64_t most_elements = (int64_t)1 << 48;

enum { TYPES = kTfLiteFloat8E5M2 + 1 };

int hl_type_bits(TfLiteType type)
{
#define TYPE(suffix, public_name, name, bits) [kTfLite##suffix] = bits,
    static const uint8_t bits_of[TYPES] = {
#include "abi/types.def"
    };
#undef TYPE
    return (unsigned)type < TYPES ? bits_of[type] : 0;
}

size_t hl_type_size(TfLiteType type)
{
    int bits = hl_type_bits(type);
    return bits % 8 == 0 ? (size_t)bits / 8 : 0;
}

static bool count_elements(int rank, const int *dims, int64_t *count)
{
    int64_t product = 1, zeros_as_ones = 1;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0 || dims[i] > HL_MAX_DIMENSION) return false;
        if (zeros_as_ones > most_elements / (dims[i] ? dims[i] : 1)) return false;
        zeros_as_ones *= dims[i] ? dims[i] : 1;
        product *= dims[i];
    }
    *count = product;
    return true;
}

bool hl_tensor_bytes(TfLiteType type, int rank, const int *dims, size_t *bytes)
{
    int64_t count;
    int bits = hl_type_bits(type);
    if (bits == 0 || !count_elements(rank, dims, &count)) return false;
    int64_t total = bits % 8 == 0 ? count * (bits / 8) : (count * bits + 7) / 8;
    if ((uint64_t)total > SIZE_MAX) return false;
    *bytes = (size_t)total;
    return true;
}

// Names and public names come from the same rows.
static const char *find_name(const char *const *names, TfLiteType type, const char *otherwise)
{
    return (unsigned)type < TYPES ? names[type] : otherwise;
}

const char *hl_type_name(TfLiteType type)
{
#define TYPE(suffix, public_name, name, bits) [kTfLite##suffix] = #name,
    static const char *const names[TYPES] = {
        [kTfLiteNoType] = "no type",
#include "abi/types.def"
    };
#undef TYPE
    return find_name(names, type, "unknown type");
}

const char *hl_type_public_name(TfLiteType type)
{
#define TYPE(suffix, public_name, name, bits) [kTfLite##suffix] = #public_name,
    static const char *const names[TYPES] = {
        [kTfLiteNoType] = "NOTYPE",
#include "abi/types.def"
    };
#undef TYPE
    return find_name(names, type, "Unknown type");
}

int64_t hl_product(const TfLiteIntArray *dims, int from, int to)
{
    int64_t product = 1;
    for (int axis = from; axis < to; axis++) product *= dims->data[axis];
    return product;
}

int64_t hl_elements(const TfLiteTensor *tensor)
{
    return tensor->dims ? hl_product(tensor->dims, 0, tensor->dims->size) : 1;
}

bool hl_same_shape(const TfLiteTensor *a, const TfLiteTensor *b)
{
    if (hl_rank(a) != hl_rank(b)) return false;
    for (int axis = 0; axis < hl_rank(a); axis++)
        if (hl_dim(a, axis) != hl_dim(b, axis)) return false;
    return true;
}

int64_t hl_integer_at(const TfLiteTensor *tensor, int64_t index)
{
    switch (tensor->type) {
    case kTfLiteInt8: return tensor->data.int8[index];
    case kTfLiteUInt8: return tensor->data.uint8[index];
    case kTfLiteInt16: return tensor->data.i16[index];
    case kTfLiteInt32: return tensor->data.i32[index];
    case kTfLiteInt64: return tensor->data.i64[index];
    default: return 0;
    }
}

// Names lie one after the other, and a table has where. (Pointers to them made the library 6 KB larger, and were 210
// numbers that are written whenever it is loaded.)
#define CUSTOM(name, symbol, file)
#define OP(name, code, first, last, table, symbol, file) GAP(name, code, first, last, table)
#define GAP(name, code, first, last, table) char name_##name[sizeof #name];
struct names {
    char none;
#include "abi/operators.def"
};
#undef GAP

#define GAP(name, code, first, last, table) .name_##name = #name,
static const struct names builtin_names = {
#include "abi/operators.def"
};
#undef GAP

#define GAP(name, code, first, last, table) [code] = offsetof(struct names, name_##name),
static const uint16_t builtin_name_at[] = {
#include "abi/operators.def"
};
#undef GAP
#undef OP
#undef CUSTOM

const char *hl_builtin_name(int builtin)
{
    const bool known = builtin >= 0 && (size_t)builtin < sizeof builtin_name_at / sizeof *builtin_name_at;
    const size_t at = known ? builtin_name_at[builtin] : offsetof(struct names, none);
    return at != offsetof(struct names, none) ? (const char *)&builtin_names + at : NULL;
}
