// SPDX-License-Identifier: Apache-2.0
// Facts about element types and operator names that need no model.
#include <stdint.h>

#include "base/checked.h"
#include "model/model.h"

// Elements and products of dimensions above this are refused everywhere, so that sums of offsets
// cannot overflow 64 bits.
static const int64_t most_elements = (int64_t)1 << 48;

size_t hl_type_size(TfLiteType type)
{
    switch (type) {
    case kTfLiteUInt8:
    case kTfLiteInt8:
    case kTfLiteBool:
    case kTfLiteFloat8E4M3FN:
    case kTfLiteFloat8E5M2: return 1;
    case kTfLiteInt16:
    case kTfLiteUInt16:
    case kTfLiteFloat16:
    case kTfLiteBFloat16: return 2;
    case kTfLiteFloat32:
    case kTfLiteInt32:
    case kTfLiteUInt32: return 4;
    case kTfLiteInt64:
    case kTfLiteUInt64:
    case kTfLiteFloat64:
    case kTfLiteComplex64: return 8;
    case kTfLiteComplex128: return 16;
    default: return 0;
    }
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
    int64_t count, total;
    if (!count_elements(rank, dims, &count)) return false;
    size_t size = hl_type_size(type);
    if (size != 0)
        total = count * (int64_t)size;
    else if (type == kTfLiteInt4 || type == kTfLiteUInt4)
        total = (count + 1) / 2;
    else if (type == kTfLiteInt2)
        total = (count + 3) / 4;
    else
        return false;
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
    const char *name =
        builtin >= 0 && (size_t)builtin < sizeof names / sizeof *names ? names[builtin] : NULL;
    return name ? name : "UNKNOWN";
}

const char *hl_model_code_name(const struct hl_model_code *code)
{
    return code->custom_name ? code->custom_name : hl_builtin_name(code->builtin);
}
