// SPDX-License-Identifier: Apache-2.0
// UNIQUE: the different values of x in the order of their first occurrence, and for each element
// the number of its value.
//     in 0: x [n]; out 0: values [how many], as x, out 1: numbers [n], int32 or int64 by the option
//     float32 int8 uint8 int16 int32 int64; +0 and -0 are one value, a NaN equals the same NaN
//
// Values are found by their bits in a hash table with at least half of its places free.
#include "ops/common/copy.h"

#include <string.h>

static const uint32_t types =
    HL_TYPE(Float32) | HL_TYPE(Int8) | HL_TYPE(UInt8) | HL_TYPE(Int16) | HL_TYPE(Int32) | HL_TYPE(Int64);

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 2));
    HL_TRY(hl_make_temporaries(ctx, node, 2));
    const TfLiteUniqueParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *values = hl_output(ctx, node, 0), *numbers = hl_output(ctx, node, 1);

    HL_TRY(hl_require_type_of_both(ctx, node, x, values, types));
    HL_TRY(hl_require_int32_or_int64(ctx, node, numbers, "numbers"));
    HL_REQUIRE(ctx, node, numbers->type == params->index_out_type, "the options speak of %s numbers, not %s",
               hl_type_name(params->index_out_type), hl_type_name(numbers->type));
    HL_REQUIRE(ctx, node, values != numbers, "values and numbers are one tensor");
    HL_REQUIRE(ctx, node, hl_rank(x) == 1, "the input has %d dimensions, not 1", hl_rank(x));

    const int n = hl_dim(x, 0);
    HL_REQUIRE(ctx, node, n <= INT32_MAX / 4, "%d elements are too many", n);
    int places = 2;
    while (places < 2 * n) places *= 2;
    HL_TRY(hl_set_temporary(ctx, node, 0, kTfLiteInt32, false, 1, &places));
    HL_TRY(hl_set_temporary(ctx, node, 1, kTfLiteInt32, false, 1, &n));
    hl_make_dynamic(values);
    return hl_resize(ctx, numbers, 1, &n);
}

// The same number for equal values, different ones for others.
static uint64_t key_of(const TfLiteTensor *x, int index)
{
    if (x->type != kTfLiteFloat32) return (uint64_t)hl_integer_at(x, index);
    const uint32_t bits = hl_float_bits(HL_IN(float, x)[index]);
    return bits == 0x80000000u ? 0 : bits;
}

// Where to look for a key first. The secret keeps a file from choosing keys that all meet in one place.
static uint64_t scatter(uint64_t key, uint64_t secret)
{
    key ^= secret;
    key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9); // the rounds of splitmix64
    key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
    return key ^ key >> 31;
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *values = hl_output(ctx, node, 0), *numbers = hl_output(ctx, node, 1);
    TfLiteTensor *table = hl_temporary(ctx, node, 0);
    int32_t *places = HL_OUT(int32_t, table);                      // number of a value + 1, 0: free
    int32_t *firsts = HL_OUT(int32_t, hl_temporary(ctx, node, 1)); // of each value, an element that has it
    const int n = hl_dim(x, 0);
    const uint64_t mask = (uint64_t)hl_dim(table, 0) - 1;
    int count = 0;

    memset(places, 0, (size_t)hl_dim(table, 0) * sizeof *places);
    for (int i = 0; i < n; i++) {
        const uint64_t key = key_of(x, i);
        uint64_t place = scatter(key, (uintptr_t)places) & mask; // where memory lies, no file knows
        while (places[place] && key_of(x, firsts[places[place] - 1]) != key) place = (place + 1) & mask;
        if (!places[place]) {
            firsts[count++] = i;
            places[place] = count;
        }
        if (numbers->type == kTfLiteInt32)
            HL_OUT(int32_t, numbers)[i] = places[place] - 1;
        else
            HL_OUT(int64_t, numbers)[i] = places[place] - 1;
    }
    HL_TRY(hl_resize(ctx, values, 1, &count));
    for (int i = 0; i < count; i++) hl_copy_run(hl_type_bits(x->type), 1, values->data.data, i, hl_data(x), firsts[i]);
    return kTfLiteOk;
}

const struct hl_op hl_op_unique = {
    .prepare = prepare,
    .invoke = invoke,
};
