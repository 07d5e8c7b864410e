// SPDX-License-Identifier: Apache-2.0
// Operators that map one input, element by element, to an output of its shape: their checks and
// loops. A function of real numbers is given as a map over a run of floats; on 8-bit and 16-bit
// quantized tensors it becomes a table.
#ifndef HALITE_OPS_COMMON_MAP_H
#define HALITE_OPS_COMMON_MAP_H

#include "ops/common/quant.h"
#include "ops/op.h"

// y[i] = f(x[i]); x and y may be the same memory.
typedef void hl_real_map(const float *x, float *y, int64_t count);

// Defines such a map from an expression in `x`.
#define HL_REAL_MAP(name, expression)                           \
    static void name(const float *xs, float *ys, int64_t count) \
    {                                                           \
        HL_INDEPENDENT for (int64_t i = 0; i < count; i++)      \
        {                                                       \
            float x = xs[i];                                    \
            ys[i] = (expression);                               \
        }                                                       \
    }

// Defines the map name##_real of a function of floats, and name##_value, the same for a table.
#define HL_REAL_FUNCTION(name, function)   \
    HL_REAL_MAP(name##_real, function(x))  \
    static double name##_value(double x)   \
    {                                      \
        return (double)function((float)x); \
    }

// float32, float16 and bfloat16; the latter two are computed in float.
static inline bool hl_is_real(TfLiteType type)
{
    return type == kTfLiteFloat32 || type == kTfLiteFloat16 || type == kTfLiteBFloat16;
}

// One input and one output of the same type, which takes the input's shape.
TfLiteStatus hl_map_prepare(TfLiteContext *ctx, TfLiteNode *node);

// Both tensors are of one real type.
void hl_map_real(const TfLiteTensor *input, TfLiteTensor *output, hl_real_map *map);

// ---- quantized ----------------------------------------------------------------------------------

// The nearest stored value of the type to `value`.
static inline int32_t hl_clamp_stored(int64_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : (int32_t)value;
}

struct hl_table {
    uint8_t bytes[256]; // of 8-bit inputs, by the stored value's byte
    int16_t words[513]; // of int16 inputs, see hl_table_lookup_i16
};

// fast/elementwise.c finds an operator's table of bytes where its state begins.
#define HL_TABLE_FIRST(Type, field) _Static_assert(offsetof(Type, field) == 0, "fast/elementwise.c looks for it there")
HL_TABLE_FIRST(struct hl_table, bytes);

// Fills the table for a quantized input and output of one type, int8, uint8 or int16, checking
// their parameters; int16 wants zero points of 0.
TfLiteStatus hl_map_prepare_table(TfLiteContext *ctx, const TfLiteNode *node, double (*function)(double),
                                  struct hl_table *table);
void hl_map_table(const TfLiteTensor *input, TfLiteTensor *output, const struct hl_table *table);
// The invoke of an operator whose state is a struct hl_table: the map for real types, the table for others.
TfLiteStatus hl_map_invoke(TfLiteContext *ctx, const TfLiteNode *node, hl_real_map *map);

// Just the tables. The 16-bit one is computed in float, as the official kernels of these operators
// do it; where the function is not finite, the output's smallest (-inf, NaN) or largest (+inf)
// value counts.
void hl_map_bytes(const TfLiteTensor *input, TfLiteTensor *output, const uint8_t table[256]);
void hl_map_words(float input_scale, int input_zero, float output_scale, int output_zero, double (*function)(double),
                  int16_t table[513]);

// The row of an operator that maps values and may write over its input. `symbol`_prepare and `symbol`_invoke are its.
#define HL_MAP_OPERATOR(symbol, State, fast_kernel) \
    const struct hl_op hl_op_##symbol = {           \
        .state_size = sizeof(State),                \
        .prepare = symbol##_prepare,                \
        .invoke = symbol##_invoke,                  \
        .inplace = kTfLiteInplaceOpInput0Shared,    \
        .fast = fast_kernel,                        \
    };

#endif
