// SPDX-License-Identifier: Apache-2.0
// Constants that operators compute in prepare, as DEQUANTIZE makes floats of a model's float16 weights. In: an output
// whose value follows from its node alone. Out: one copy of it for all interpreters of the model, in the cache that
// also holds their packed weights (weights.h). Such a tensor is kTfLiteMmapRo, read-only memory of somebody else, and
// each interpreter keeps the memory until it ends.
#include <stdlib.h>

#include "runtime/interpreter.h"
#include "runtime/op_context.h"
#include "runtime/weights.h"

// Less is copied sooner than found.
enum { MIN_BYTES = 4096 };

// Memory for the value, or the value. NULL: without memory.
static struct hl_weights *find(const TfLiteContext *ctx, const TfLiteNode *node, HaliteWeightsCache *cache, size_t size,
                               char **room)
{
    static const char kind[] = "constant"; // apart from what fast kernels keep of the node
    struct hl_digest name = {{0}};
    hl_digest_add(&name, kind, sizeof kind);
    const bool named = hl_digest_node(ctx, node, cache, &name);
    struct hl_weights *weights = named ? hl_weights_find(cache, ctx, &name, size) : NULL;
    return weights ? weights : hl_weights_create(cache, size, false, named ? &name : NULL, room);
}

static bool has_entry(const struct hl_subgraph *subgraph, int tensor)
{
    for (int i = 0; i < subgraph->shared_constant_count; i++)
        if (subgraph->shared_constants[i].tensor == tensor) return true;
    return false;
}

// The entry of a tensor that gets its value for the first time, or none.
static struct hl_shared_constant *add_entry(struct hl_subgraph *subgraph, int tensor)
{
    const size_t count = (size_t)subgraph->shared_constant_count + 1;
    struct hl_shared_constant *list = realloc(subgraph->shared_constants, count * sizeof *list);
    if (!list) return NULL;
    subgraph->shared_constants = list;
    list[count - 1] = (struct hl_shared_constant){.tensor = tensor};
    return &list[count - 1];
}

TfLiteStatus hl_make_shared_constant(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *model,
                                     bool *is_known)
{
    struct hl_subgraph *subgraph = hl_subgraph_of(ctx);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    HaliteWeightsCache *cache = hl_weights_of_model(subgraph->interpreter->model);
    *is_known = output->allocation_type == kTfLiteMmapRo && has_entry(subgraph, node->outputs->data[0]);
    if (*is_known) return kTfLiteOk; // from an earlier prepare
    if (output->allocation_type == kTfLiteArenaRw) HL_TRY(hl_resize_like(ctx, output, model));
    const size_t size = output->bytes + HL_TENSOR_TAIL;
    const bool shares =
        cache && output->allocation_type == kTfLiteArenaRw && output->bytes >= MIN_BYTES && size <= hl_memory_left(ctx);
    if (!shares) {
        hl_make_constant(output);
        return hl_resize_like(ctx, output, model);
    }
    struct hl_shared_constant *entry = add_entry(subgraph, node->outputs->data[0]);
    char *room = NULL;
    if (entry) entry->weights = find(ctx, node, cache, size, &room);
    HL_REQUIRE(ctx, node, entry && entry->weights, "no memory for the %zu bytes of a constant", size);
    subgraph->shared_constant_count++;
    *is_known = room == NULL;
    if (!*is_known) hl_count_memory(ctx, (ptrdiff_t)size);
    output->allocation_type = kTfLiteMmapRo;
    output->data.raw = *is_known ? (char *)(uintptr_t)entry->weights->data : room; // nobody writes the former
    return kTfLiteOk;
}

void hl_share_constant(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_subgraph *subgraph = hl_subgraph_of(ctx);
    const int last = subgraph->shared_constant_count - 1;
    if (last < 0 || subgraph->shared_constants[last].tensor != node->outputs->data[0]) return; // it has its own
    struct hl_shared_constant *entry = &subgraph->shared_constants[last];
    struct hl_weights *own = entry->weights;
    const size_t size = own->size;
    entry->weights = hl_weights_share(own);
    if (entry->weights != own) hl_count_memory(ctx, -(ptrdiff_t)size);
    hl_output(ctx, node, 0)->data.raw_const = entry->weights->data;
}

void hl_subgraph_free_shared_constants(struct hl_subgraph *subgraph)
{
    for (int i = 0; i < subgraph->shared_constant_count; i++) hl_weights_release(subgraph->shared_constants[i].weights);
    free(subgraph->shared_constants);
}
