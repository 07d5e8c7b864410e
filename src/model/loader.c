// SPDX-License-Identifier: Apache-2.0
// What the steps of loading share: messages that name the place in the file, memory of the model, and a bound on work.
#include "model/loader.h"

#include <stdio.h>

bool hl_load_fail(const struct hl_loader *loader, const char *format, ...)
{
    char place[256] = "", text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (loader->subgraph >= 0 && loader->node >= 0)
        snprintf(place, sizeof place, "subgraph %d, node %d (%.100s): ", loader->subgraph, loader->node,
                 loader->node_name);
    else if (loader->subgraph >= 0 && loader->tensor >= 0)
        snprintf(place, sizeof place, "subgraph %d, tensor %d (%.100s): ", loader->subgraph, loader->tensor,
                 loader->tensor_name);
    else if (loader->subgraph >= 0)
        snprintf(place, sizeof place, "subgraph %d: ", loader->subgraph);
    // What a file says must not steer a terminal.
    for (char *c = place; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
    hl_report(loader->reporter, "%s%s", place, text);
    return false;
}

void *hl_load_array(struct hl_loader *loader, size_t count, size_t size)
{
    if (loader->exhausted) return NULL; // said before
    void *piece = hl_arena_array(loader->arena, count, size, 8);
    loader->exhausted = !piece;
    if (!piece && loader->arena->limit_reached)
        hl_load_fail(loader, "the model describes more than its %zu bytes can hold", loader->file.size);
    else if (!piece)
        hl_load_fail(loader, "out of memory");
    return piece;
}

bool hl_load_work(struct hl_loader *loader, uint64_t bytes)
{
    if (bytes > loader->work_left)
        return hl_load_fail(loader, "the model describes more than its %zu bytes can hold", loader->file.size);
    loader->work_left -= bytes;
    return true;
}
