// SPDX-License-Identifier: Apache-2.0
// Facts about element types and operator names that need no model.
#include <stdint.h>

#include "base/checked.h"
#include "model/model.h"

// Elements and products of dimensions above this are refused everywhere, so that sums of offsets
// cannot overflow 64 bits.
static const int64_t most_elements = (int64_t)1 << 48;

enum { TYPES = kTfLiteFloat8E5M2 + 1 };

int hl_type_bits(TfLiteType type)
{
#define TYPE(suffix, public_name, name, bits) [kTfLite##suffix] = bits,
    static const uint8_t bits_of[TYPES] = {
#include "model/types.def"
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
        if (dims[i] < 0) return false;
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

const char *hl_builtin_name(int builtin)
{
#define OP(name, code, first, last, table, symbol, file) [code] = #name,
#define GAP(name, code, first, last, table) [code] = #name,
#define CUSTOM(name, symbol, file)
    static const char *const names[] = {
#include "ops/ops.def"
    };
#undef OP
#undef GAP
#undef CUSTOM
    const char *name = builtin >= 0 && (size_t)builtin < sizeof names / sizeof *names ? names[builtin] : NULL;
    return name ? name : "UNKNOWN";
}

const char *hl_model_code_name(const struct hl_model_code *code)
{
    return code->custom_name ? code->custom_name : hl_builtin_name(code->builtin);
}
