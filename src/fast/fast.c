// SPDX-License-Identifier: Apache-2.0
// Memory of fast kernels, and the loops that operators without a fast kernel use.
#include "fast/fast.h"

#include <limits.h>
#include <stdlib.h>

#include "fast/simd/simd.h"

static bool multiply(size_t a, int64_t b, size_t *product)
{
    return b >= 0 && (int64_t)(size_t)b == b && hl_mul_size(a, (size_t)b, product);
}

size_t hl_fast_part(size_t *total, int64_t rows, int64_t columns, size_t size)
{
    const size_t most = SIZE_MAX / 2 - HL_LINE;
    size_t at = *total, bytes;
    bool fits = at <= most && multiply(size, rows, &bytes) && multiply(bytes, columns, &bytes) && bytes <= most - at;
    *total = fits ? at + (bytes + HL_LINE - 1) / HL_LINE * HL_LINE : SIZE_MAX;
    return at;
}

TfLiteStatus hl_fast_make(TfLiteContext *ctx, const TfLiteNode *node, size_t bytes, void **state)
{
    *state = NULL;
    if (bytes > SIZE_MAX / 2 || bytes > hl_memory_left(ctx)) return kTfLiteOk;
    *state = calloc(1, bytes);
    HL_REQUIRE(ctx, node, *state, "no memory for the %zu bytes of a fast kernel", bytes);
    return kTfLiteOk;
}

const struct hl_row_loops *hl_fast_row_loops(const struct hl_reporter *reporter)
{
    hl_simd_check(reporter);
    return &hl_simd_best(INT_MAX)->kernels->row_loops;
}
