// SPDX-License-Identifier: Apache-2.0
// Memory of fast kernels.
#include "fast/fast.h"

#include <stdlib.h>

TfLiteStatus hl_fast_make(TfLiteContext *ctx, const TfLiteNode *node, size_t bytes, void **state)
{
    *state = NULL;
    if (bytes > hl_memory_left(ctx)) return kTfLiteOk;
    *state = calloc(1, bytes);
    HL_REQUIRE(ctx, node, *state, "no memory for %zu bytes of packed weights", bytes);
    return kTfLiteOk;
}
