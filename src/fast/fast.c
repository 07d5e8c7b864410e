// SPDX-License-Identifier: Apache-2.0
// Memory of fast kernels, and the row kernels that operators without a fast kernel use.
#include "fast/fast.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fast/simd/simd.h"

void hl_parts_add(struct hl_parts *parts, void *pointer, int64_t rows, int64_t columns, size_t size)
{
    assert(parts->count < HL_MAX_PARTS);
    parts->parts[parts->count++] =
        (struct hl_part){.pointer = pointer, .workers = 1, .rows = rows, .columns = columns, .size = size};
}

void hl_parts_add_scratch(struct hl_parts *parts, struct hl_scratch *scratch, int workers, int64_t rows,
                          int64_t columns, size_t size)
{
    hl_parts_add(parts, &scratch->first, rows, columns, size);
    parts->parts[parts->count - 1].workers = workers;
    parts->parts[parts->count - 1].scratch = scratch;
}

static bool multiply(size_t a, int64_t b, size_t *product)
{
    return b >= 0 && (int64_t)(size_t)b == b && hl_mul_size(a, (size_t)b, product);
}

// The bytes of one worker's array, in whole cache lines; SIZE_MAX: too many.
static size_t bytes_of(const struct hl_part *part)
{
    size_t bytes;
    bool fits = multiply(part->size, part->rows, &bytes) && multiply(bytes, part->columns, &bytes);
    return fits && bytes <= SIZE_MAX / 4 ? (bytes + HL_LINE - 1) / HL_LINE * HL_LINE : SIZE_MAX;
}

// The bytes of the arrays that all workers share, and of those that each has. False: more than fits.
static bool sizes_of(const struct hl_parts *parts, size_t *shared, size_t *each, int64_t *workers)
{
    *shared = *each = 0;
    *workers = 1;
    for (int i = 0; i < parts->count; i++) {
        const struct hl_part *part = &parts->parts[i];
        size_t *sum = part->scratch ? each : shared, bytes = bytes_of(part);
        if (bytes > SIZE_MAX / 4 - *sum) return false;
        *sum += bytes;
        if (part->scratch) *workers = part->workers;
    }
    return true;
}

TfLiteStatus hl_fast_build(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_parts *parts, void *made,
                           size_t size, void **state, size_t *bytes)
{
    size_t shared, each, scratch;
    int64_t workers;
    *state = NULL;
    if (!sizes_of(parts, &shared, &each, &workers) || !multiply(each, workers, &scratch)) return kTfLiteOk;
    if (scratch > SIZE_MAX / 4) return kTfLiteOk;
    size_t total = size + HL_LINE + shared + scratch;
    HL_TRY(hl_fast_make(ctx, node, total, state));
    if (!*state) return kTfLiteOk;
    char *at = (char *)*state + size;
    at += HL_LINE - (uintptr_t)at % HL_LINE;
    char *of_worker = at + shared;
    for (int i = 0; i < parts->count; i++) {
        const struct hl_part *part = &parts->parts[i];
        size_t one = bytes_of(part);
        char **next = part->scratch ? &of_worker : &at, *array = one > 0 ? *next : NULL;
        if (part->scratch) part->scratch->stride = each;
        memcpy(part->pointer, &array, sizeof array); // pointers to any type have one form
        *next += one;
    }
    memcpy(*state, made, size);
    *bytes = total;
    return kTfLiteOk;
}

TfLiteStatus hl_fast_make(TfLiteContext *ctx, const TfLiteNode *node, size_t bytes, void **state)
{
    *state = NULL;
    if (bytes > SIZE_MAX / 2 || bytes > hl_memory_left(ctx)) return kTfLiteOk;
    *state = calloc(1, bytes);
    HL_REQUIRE(ctx, node, *state, "no memory for the %zu bytes of a fast kernel", bytes);
    return kTfLiteOk;
}

const struct hl_row_kernels *hl_fast_row_kernels(const struct hl_reporter *reporter)
{
    hl_simd_check(reporter);
    return &hl_simd_best(INT_MAX)->kernels->row_kernels;
}
