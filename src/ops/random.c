// SPDX-License-Identifier: Apache-2.0
// RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL: in 0: shape, int32 [rank], out 0: float32, in [0, 1) or around 0 with
// deviation 1. MULTINOMIAL: in 0: logits, float32 [batch, classes], in 1: the number of samples, int32; out 0: classes,
//   int32 or int64 [batch, samples], each with probability softmax(logits); logits that are not finite are never drawn.
// The numbers are those of the original for the same seeds: one stream of Philox blocks from prepare on, of which each
// invoke uses up whole blocks of four. With both seeds 0 the stream differs from time to time; only the distribution is
// promised then.
#include <math.h>
#include <string.h>

#include "base/clock.h"

#include "ops/common/copy.h"
#include "ops/common/counter_rng.h"

struct random {
    uint32_t key[2];
    uint64_t at;     // block
    uint64_t second; // seed2: the upper half of the counter
};

static void next_block(struct random *random, uint32_t numbers[4])
{
    const uint32_t counter[4] = {(uint32_t)random->at, (uint32_t)(random->at >> 32), (uint32_t)random->second,
                                 (uint32_t)(random->second >> 32)};
    hl_philox(random->key, counter, numbers);
    random->at++;
}

static uint64_t any_seed(const void *salt)
{
    uint64_t mixed = hl_calendar_nanoseconds() * 1000000007u ^ (uint64_t)(uintptr_t)salt;
    return mixed * 0x9E3779B97F4A7C15u;
}

static void seed(TfLiteNode *node)
{
    const TfLiteRandomParams *params = node->builtin_data;
    struct random *random = node->user_data;
    uint64_t first = (uint64_t)(int64_t)params->seed, second = (uint64_t)(int64_t)params->seed2;
    if (first == 0 && second == 0) {
        first = any_seed(node);
        second = any_seed(random) ^ first;
    }
    *random = (struct random){.key = {(uint32_t)first, (uint32_t)(first >> 32)}, .second = second};
}

// In [0, 1), from the lower 23 bits.
static float to_float(uint32_t number)
{
    uint32_t bits = (number & 0x7fffff) | 0x3f800000;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value - 1;
}

// In [0, 1), from 20 bits and 32 more.
static double to_double(uint32_t upper, uint32_t lower)
{
    uint64_t bits = (uint64_t)1023 << 52 | (uint64_t)(upper & 0xfffff) << 32 | lower;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value - 1;
}

// ---- RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL -----------------------------------------------------

static TfLiteStatus shape_output(TfLiteContext *ctx, const TfLiteNode *node)
{
    return hl_resize_to_input(ctx, node, 0);
}

static TfLiteStatus fill_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *shape = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, shape->type == kTfLiteInt32, "the shape is %s, it must be int32", hl_type_name(shape->type));
    HL_REQUIRE(ctx, node, hl_rank(shape) == 1, "the shape has %d dimensions, it must have 1", hl_rank(shape));
    if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
    seed(node);
    return hl_resize_when_known(ctx, node, y, hl_is_constant(shape), shape_output);
}

// Turns a block of numbers into four values.
typedef void fill_block(const uint32_t numbers[4], float values[4]);

static TfLiteStatus fill(TfLiteContext *ctx, TfLiteNode *node, fill_block *make)
{
    TfLiteTensor *output = hl_output(ctx, node, 0);
    if (hl_is_dynamic(output)) HL_TRY(shape_output(ctx, node));
    float *y = HL_OUT(float, output);
    int64_t count = hl_elements(output);
    for (int64_t i = 0; i < count; i += 4) {
        uint32_t numbers[4];
        float values[4];
        next_block(node->user_data, numbers);
        make(numbers, values);
        memcpy(y + i, values, (size_t)(count - i < 4 ? count - i : 4) * sizeof *y);
    }
    return kTfLiteOk;
}

static void uniform_block(const uint32_t numbers[4], float values[4])
{
    for (int i = 0; i < 4; i++) values[i] = to_float(numbers[i]);
}

// Box and Muller: a radius and an angle give two values.
static void normal_block(const uint32_t numbers[4], float values[4])
{
    for (int i = 0; i < 4; i += 2) {
        float u = to_float(numbers[i]);
        float radius = sqrtf(-2 * logf(u < 1.0e-7f ? 1.0e-7f : u));
        float angle = 2 * 3.14159265358979323846f * to_float(numbers[i + 1]);
        values[i] = sinf(angle) * radius;
        values[i + 1] = cosf(angle) * radius;
    }
}

#define RANDOM(symbol, make)                                                  \
    static TfLiteStatus symbol##_invoke(TfLiteContext *ctx, TfLiteNode *node) \
    {                                                                         \
        return fill(ctx, node, make);                                         \
    }                                                                         \
    const struct hl_op hl_op_##symbol = {                                     \
        .state_size = sizeof(struct random),                                  \
        .prepare = fill_prepare,                                              \
        .invoke = symbol##_invoke,                                            \
    };

RANDOM(random_uniform, uniform_block)
RANDOM(random_standard_normal, normal_block)

// ---- MULTINOMIAL --------------------------------------------------------------------------------

// The blocks of an invoke: enough for a sampler that rejects often, as the original's is made for.
enum { BLOCKS_PER_SAMPLE = 2 * 256 };

static TfLiteStatus shape_samples(TfLiteContext *ctx, const TfLiteNode *node)
{
    int32_t samples = HL_IN(int32_t, hl_input(ctx, node, 1))[0];
    HL_REQUIRE(ctx, node, samples >= 0, "%d samples are wanted", (int)samples);
    return hl_resize(ctx, hl_output(ctx, node, 0), 2, (const int[]){hl_dim(hl_input(ctx, node, 0), 0), samples});
}

static TfLiteStatus multinomial_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    HL_TRY(hl_make_temporaries(ctx, node, 1));
    const TfLiteTensor *logits = hl_input(ctx, node, 0), *samples = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (logits->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, logits);
    HL_REQUIRE(ctx, node, hl_rank(logits) == 2, "the logits have %d dimensions, they must have 2", hl_rank(logits));
    HL_REQUIRE(ctx, node, hl_dim(logits, 1) >= 1, "there are no classes");
    HL_REQUIRE(ctx, node, samples->type == kTfLiteInt32 && hl_elements(samples) == 1,
               "the number of samples must be one int32");
    if (y->type != kTfLiteInt32 && y->type != kTfLiteInt64) return hl_unsupported_type(ctx, node, y);
    HL_TRY(hl_set_temporary(ctx, node, 0, kTfLiteFloat64, false, 1, (const int[]){hl_dim(logits, 1)}));
    seed(node);
    return hl_resize_when_known(ctx, node, y, hl_is_constant(samples), shape_samples);
}

// Sums of the probabilities up to each class, less a common factor. The last is the whole.
static void sum_up(const float *logits, int classes, double *sums)
{
    float most = -INFINITY;
    for (int i = 0; i < classes; i++)
        if (isfinite(logits[i]) && logits[i] > most) most = logits[i];
    double sum = 0;
    for (int i = 0; i < classes; i++) {
        if (isfinite(logits[i])) sum += exp((double)logits[i] - (double)most);
        sums[i] = sum;
    }
}

// The first class whose sum is above the value; the last where none is.
static int class_of(const double *sums, int classes, double value)
{
    int low = 0, high = classes;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sums[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    return low < classes ? low : classes - 1;
}

static TfLiteStatus multinomial_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *logits = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_is_dynamic(y)) HL_TRY(shape_samples(ctx, node));
    int batches = hl_dim(y, 0), samples = hl_dim(y, 1), classes = hl_dim(logits, 1);
    double *sums = HL_OUT(double, hl_temporary(ctx, node, 0));
    struct random *random = node->user_data, here = *random;
    uint32_t numbers[4];
    int64_t at = 0;
    for (int b = 0; b < batches; b++) {
        sum_up(HL_IN(float, logits) + (int64_t)b * classes, classes, sums);
        for (int i = 0; i < samples; i++, at++) {
            if (at % 2 == 0) next_block(&here, numbers);
            double drawn = to_double(numbers[at % 2 * 2], numbers[at % 2 * 2 + 1]);
            int class = class_of(sums, classes, drawn * sums[classes - 1]);
            if (y->type == kTfLiteInt32)
                HL_OUT(int32_t, y)[at] = class;
            else
                HL_OUT(int64_t, y)[at] = class;
        }
    }
    random->at += (uint64_t)batches * (((uint64_t)samples + 3) / 4 * 4) * BLOCKS_PER_SAMPLE;
    return kTfLiteOk;
}

const struct hl_op hl_op_multinomial = {
    .state_size = sizeof(struct random),
    .prepare = multinomial_prepare,
    .invoke = multinomial_invoke,
};
