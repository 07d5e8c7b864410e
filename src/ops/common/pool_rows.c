// SPDX-License-Identifier: Apache-2.0
// The plain kernels of pools, which add or compare the values of a window row by row, and the walk along a line.
#include "ops/common/pool_rows.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "abi/built_types.h"
#include "ops/common/quant.h"

// A kernel: `start` for each value, `step` for each tap of its window with its `value` and the `sum` so far, `finish`
// for the result, with the number of `taps`.
#define POOL(name, type, sum_type, start, step_, finish)                                 \
    static void name(const struct hl_pool_run *run)                                      \
    {                                                                                    \
        const type *in = run->x;                                                         \
        type *out = run->y;                                                              \
        const sum_type taps = (sum_type)run->rows * (sum_type)run->columns;              \
        (void)taps;                                                                      \
        for (int64_t p = 0; p < run->positions; p++, in += run->step, out += run->count) \
            for (int64_t c = 0; c < run->count; c++) {                                   \
                sum_type sum = (start);                                                  \
                for (int k = 0; k < run->rows; k++)                                      \
                    for (int l = 0; l < run->columns; l++) {                             \
                        const sum_type value = in[k * run->down + l * run->right + c];   \
                        sum = (step_);                                                   \
                    }                                                                    \
                out[c] = (type)(finish);                                                 \
            }                                                                            \
    }

static float clamp_f32(const struct hl_pool_run *run, float value)
{
    return value < run->low_f32 ? run->low_f32 : value > run->high_f32 ? run->high_f32 : value;
}

static int32_t rounded_mean(const struct hl_pool_run *run, int64_t sum, int64_t taps)
{
    int64_t mean = (sum > 0 ? sum + taps / 2 : sum - taps / 2) / taps;
    return hl_clamp_i32((int32_t)mean, run->low, run->high);
}

#define AVERAGE(name, type) POOL(name, type, int64_t, 0, sum + value, rounded_mean(run, sum, taps))
AVERAGE(average_u8, uint8_t)
AVERAGE(average_i8, int8_t)
AVERAGE(average_i16, int16_t)
POOL(average_f32, float, float, 0, sum + value, clamp_f32(run, sum / taps))
POOL(l2_f32, float, float, 0, sum + value * value, clamp_f32(run, sqrtf(sum / taps)))

#define MAX(name, type) POOL(name, type, int32_t, run->low, sum<value ? value : sum, sum> run->high ? run->high : sum)
MAX(max_u8, uint8_t)
MAX(max_i8, int8_t)
MAX(max_i16, int16_t)
POOL(max_f32, float, float, -FLT_MAX, sum < value ? value : sum, clamp_f32(run, sum))

hl_pool_kernel *const hl_pool_plain[HL_POOL_KINDS] = {
    [HL_POOL_AVERAGE_F32] = HL_WHERE(HL_HAS_AVERAGE_POOL && HL_HAS_FLOATS, average_f32),
    [HL_POOL_AVERAGE_U8] = HL_WHERE(HL_HAS_AVERAGE_POOL && HL_HAS_BYTES, average_u8),
    [HL_POOL_AVERAGE_I8] = HL_WHERE(HL_HAS_AVERAGE_POOL && HL_HAS_BYTES, average_i8),
    [HL_POOL_MAX_F32] = HL_WHERE(HL_HAS_MAX_POOL && HL_HAS_FLOATS, max_f32),
    [HL_POOL_MAX_U8] = HL_WHERE(HL_HAS_MAX_POOL && HL_HAS_BYTES, max_u8),
    [HL_POOL_MAX_I8] = HL_WHERE(HL_HAS_MAX_POOL && HL_HAS_BYTES, max_i8),
    [HL_POOL_AVERAGE_I16] = HL_WHERE(HL_HAS_AVERAGE_POOL && HL_HAS_INTEGERS, average_i16),
    [HL_POOL_MAX_I16] = HL_WHERE(HL_HAS_MAX_POOL && HL_HAS_INTEGERS, max_i16),
    [HL_POOL_L2_F32] = HL_WHERE(HL_HAS_L2_POOL && HL_HAS_FLOATS, l2_f32),
};

struct hl_pool_run hl_pool_begin(const struct hl_pool *pool, const void *x_end, void *y_end)
{
    return (struct hl_pool_run){
        .down = (ptrdiff_t)pool->width * pool->channels,
        .right = pool->channels,
        .step = (ptrdiff_t)pool->stride_w * pool->channels,
        .x_end = x_end,
        .y_end = y_end,
        .is_signed = pool->is_signed,
        .low = pool->low,
        .high = pool->high,
        .low_f32 = pool->low_f32,
        .high_f32 = pool->high_f32,
    };
}

// The positions [*first, *first + result) of window number `at` inside an image of `in` positions.
static int clip(const struct hl_window *window, int at, int stride, int filter, int in, int64_t *first)
{
    int64_t begin = (int64_t)at * stride - window->before, end = begin + filter;
    *first = begin < 0 ? 0 : begin;
    if (end > in) end = in;
    return end > *first ? (int)(end - *first) : 0;
}

// Windows that reach beyond the image one by one, those between them at once. With a stride of 1 their values lie side
// by side as those of one position.
void hl_pool_line(const struct hl_pool *pool, const char *x, int first, int row, char *y, struct hl_pool_run *run)
{
    int64_t top, left;
    run->rows = clip(&pool->y, row, pool->stride_h, pool->filter_h, pool->height, &top);
    const char *line = x + (top - first) * run->down * pool->size;
    for (int j = 0, windows; j < pool->x.out; j += windows, y += (int64_t)windows * pool->channels * pool->size) {
        const bool inside = j >= pool->first_inside && j < pool->end_inside;
        const bool together = inside && pool->stride_w == 1;
        windows = inside ? pool->end_inside - j : 1;
        run->columns = clip(&pool->x, j, pool->stride_w, pool->filter_w, pool->width, &left);
        assert(run->rows > 0 && run->columns > 0);
        run->positions = together ? 1 : windows;
        run->count = (int64_t)(together ? windows : 1) * pool->channels;
        run->x = line + left * pool->channels * pool->size;
        run->y = y;
        pool->kernel(run);
    }
}
