// SPDX-License-Identifier: Apache-2.0
// See widened.h.
#include "delegates/common/widened.h"

#include <stdlib.h>

#include "base/half.h"

int delegate_widened_source(const struct delegate *delegate, int tensor)
{
    return delegate->source && tensor >= 0 && (size_t)tensor < delegate->source_count ? delegate->source[tensor] : -1;
}

void delegate_widen(const TfLiteTensor *halves, float *floats)
{
    const uint16_t *from = (const void *)halves->data.raw;
    for (size_t i = 0; i < halves->bytes / sizeof *from; i++) floats[i] = hl_half_to_float(from[i]);
}

bool delegate_widened_find(struct delegate_widened *widened, const struct delegate *delegate,
                           const TfLiteIntArray *outputs)
{
    *widened = (struct delegate_widened){.pairs = malloc(((size_t)outputs->size + 1) * 2 * sizeof *widened->pairs)};
    if (!widened->pairs) return false;
    for (int i = 0; i < outputs->size; i++) {
        int source = delegate_widened_source(delegate, outputs->data[i]);
        if (source < 0) continue;
        widened->pairs[2 * widened->count] = outputs->data[i];
        widened->pairs[2 * widened->count++ + 1] = source;
    }
    return true;
}

void delegate_widened_write(const struct delegate_widened *widened, TfLiteContext *context)
{
    for (int i = 0; i < widened->count; i++)
        delegate_widen(&context->tensors[widened->pairs[2 * i + 1]], context->tensors[widened->pairs[2 * i]].data.f);
}

void delegate_widened_free(struct delegate_widened *widened)
{
    free(widened->pairs);
    *widened = (struct delegate_widened){0};
}
