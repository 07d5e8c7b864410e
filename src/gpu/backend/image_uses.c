// SPDX-License-Identifier: Apache-2.0
// See image_uses.h. In: buffers, some of them again and again. Out: a list without repetition.
#include "gpu/backend/image_uses.h"

#include "base/grow.h"

bool gpu_image_uses_add(struct gpu_image_uses *uses, struct gpu_buffer *buffer)
{
    for (int i = 0; i < uses->count; i++)
        if (uses->list[i] == buffer) return true;
    struct gpu_buffer **list = hl_grow(uses->list, uses->count, &uses->capacity, sizeof *list);
    if (!list) return false;
    uses->list = list;
    list[uses->count++] = buffer;
    return true;
}
