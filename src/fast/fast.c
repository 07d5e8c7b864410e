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

void hl_parts_add_constant(struct hl_parts *parts, void *pointer, int64_t rows, int64_t columns, size_t size)
{
    hl_parts_add(parts, pointer, rows, columns, size);
    parts->parts[parts->count - 1].constant = true;
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

// The memory of a state's arrays: those that it shares with other interpreters, those that its workers share, those
// that each of them has.
enum room { CONSTANT, SHARED, SCRATCH, ROOMS };

struct rooms {
    size_t bytes[ROOMS]; // SCRATCH: of one worker
    int64_t workers;
};

static enum room room_of(const struct hl_part *part, bool caches)
{
    return part->scratch ? SCRATCH : part->constant && caches ? CONSTANT : SHARED;
}

// False: more than fits.
static bool sizes_of(const struct hl_parts *parts, bool caches, struct rooms *rooms)
{
    *rooms = (struct rooms){.workers = 1};
    for (int i = 0; i < parts->count; i++) {
        const struct hl_part *part = &parts->parts[i];
        size_t *sum = &rooms->bytes[room_of(part, caches)], bytes = bytes_of(part);
        if (bytes > SIZE_MAX / 8 - *sum) return false;
        *sum += bytes;
        if (part->scratch) rooms->workers = part->workers;
    }
    return true;
}

// The name of constant arrays: what they are made from, and how they lie. False: they have none.
static bool find_name(const TfLiteContext *ctx, const TfLiteNode *node, const struct hl_parts *parts,
                      struct hl_digest *name)
{
    *name = parts->how;
    for (int i = 0; i < parts->count; i++) {
        const struct hl_part *part = &parts->parts[i];
        const int64_t layout[] = {i, part->rows, part->columns, (int64_t)part->size};
        if (part->constant) hl_digest_add(name, layout, sizeof layout);
    }
    return hl_weights_find_name(ctx, node, hl_simd_best(INT_MAX)->name, name);
}

// Sets *parts->weights to a block of constant arrays that were packed before, or else to memory for them, and *room to
// its bytes. No memory is counted for what was packed. NULL, and no error: the memory limit leaves too little.
static TfLiteStatus find_weights(TfLiteContext *ctx, const TfLiteNode *node, const struct rooms *rooms, size_t total,
                                 struct hl_parts *parts, char **room)
{
    HaliteWeightsCache *cache = hl_weights_cache_of(ctx);
    const size_t size = rooms->bytes[CONSTANT];
    struct hl_digest name;
    const bool named = find_name(ctx, node, parts, &name);
    struct hl_weights *weights = named ? hl_weights_find(cache, ctx, &name, size) : NULL;
    parts->filled = weights != NULL;
    *parts->weights = weights;
    if (parts->filled) {
        *room = (char *)(uintptr_t)weights->data; // nobody writes it
        return kTfLiteOk;
    }
    if (size + total > hl_memory_left(ctx)) return kTfLiteOk;
    *parts->weights = hl_weights_create(cache, size, true, named ? &name : NULL, room);
    HL_REQUIRE(ctx, node, *parts->weights, "no memory for the %zu bytes of packed weights", size);
    return kTfLiteOk;
}

// Sets the struct's pointers.
static void point(const struct hl_parts *parts, const struct rooms *rooms, bool caches, char *next[ROOMS])
{
    for (int i = 0; i < parts->count; i++) {
        const struct hl_part *part = &parts->parts[i];
        size_t one = bytes_of(part);
        char **room = &next[room_of(part, caches)], *array = one > 0 ? *room : NULL;
        if (part->scratch) part->scratch->stride = rooms->bytes[SCRATCH];
        memcpy(part->pointer, &array, sizeof array); // pointers to any type have one form
        if (one > 0) *room += one;
    }
}

TfLiteStatus hl_fast_build(TfLiteContext *ctx, const TfLiteNode *node, struct hl_parts *parts, void *made, size_t size,
                           void **state, size_t *bytes)
{
    struct rooms rooms;
    size_t scratch;
    const bool caches = parts->weights && hl_weights_cache_of(ctx);
    char *next[ROOMS] = {NULL};
    *state = NULL;
    if (!sizes_of(parts, caches, &rooms) || !multiply(rooms.bytes[SCRATCH], rooms.workers, &scratch)) return kTfLiteOk;
    if (scratch > SIZE_MAX / 8) return kTfLiteOk;
    size_t total = size + HL_LINE + rooms.bytes[SHARED] + scratch;
    if (total > hl_memory_left(ctx)) return kTfLiteOk;
    if (rooms.bytes[CONSTANT] > 0) {
        HL_TRY(find_weights(ctx, node, &rooms, total, parts, &next[CONSTANT]));
        if (!*parts->weights) return kTfLiteOk;
    }
    TfLiteStatus status = hl_fast_make(ctx, node, total, state);
    if (!*state) {
        if (parts->weights) hl_weights_release(*parts->weights);
        return status;
    }
    next[SHARED] = (char *)*state + size;
    next[SHARED] += HL_LINE - (uintptr_t)next[SHARED] % HL_LINE;
    next[SCRATCH] = next[SHARED] + rooms.bytes[SHARED];
    point(parts, &rooms, caches, next);
    memcpy(*state, made, size);
    *bytes = total + (parts->filled ? 0 : rooms.bytes[CONSTANT]);
    return kTfLiteOk;
}

void hl_fast_share(const struct hl_parts *parts, const void *made, void *state, size_t *bytes)
{
    struct hl_weights **weights = (struct hl_weights **)((char *)state + ((char *)parts->weights - (const char *)made));
    if (!*weights || parts->filled) return;
    struct hl_weights *own = *weights;
    *weights = hl_weights_share(own);
    if (*weights == own) return;
    *bytes -= (*weights)->size;
    const char *next = (*weights)->data;
    for (int i = 0; i < parts->count; i++) {
        const struct hl_part *part = &parts->parts[i];
        size_t one = bytes_of(part);
        if (!part->constant || one == 0) continue;
        memcpy((char *)state + ((char *)part->pointer - (const char *)made), &next, sizeof next);
        next += one;
    }
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
