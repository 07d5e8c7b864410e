// SPDX-License-Identifier: Apache-2.0
// Packed SPIR-V becomes words again. In: a module's bytes and those of its bases. Out: its words, in two steps: bytes
// to symbols, symbols to words (spirv.h describes both). Bytes that gpu_shaders did not write give NULL.
#include <stdlib.h>

#include "gpu/lang/spirv/spirv.h"

struct stream {
    const unsigned char *at, *end;
};

static bool take(struct stream *stream, uint64_t *number)
{
    *number = 0;
    for (int shift = 0; stream->at < stream->end && shift < 35; shift += 7) {
        *number |= (uint64_t)(*stream->at & 127) << shift;
        if (*stream->at++ < 128) return true;
    }
    return false;
}

// Appends the symbols of a module to the *at that are there.
static bool append(const struct gpu_spirv_module *module, uint64_t *symbols, size_t *at)
{
    struct stream stream = {module->packed, module->packed + module->size};
    uint64_t run, distance;
    for (size_t end = *at + module->words; *at < end;) {
        if (!take(&stream, &run) || run < 2 || run >> 1 > end - *at) return false;
        size_t stop = *at + (size_t)(run >> 1);
        if (run & 1) {
            if (!take(&stream, &distance) || distance == 0 || distance > *at) return false;
            for (; *at < stop; ++*at) symbols[*at] = symbols[*at - (size_t)distance];
        }
        for (; *at < stop; ++*at)
            if (!take(&stream, &symbols[*at])) return false;
    }
    return stream.at == stream.end;
}

// The bases come first, the oldest before the others.
static bool append_all(const struct gpu_spirv_module *modules, int index, uint64_t *symbols, size_t *at)
{
    int base = modules[index].base;
    return (base < 0 || append_all(modules, base, symbols, at)) && append(&modules[index], symbols, at);
}

static bool expand(const uint64_t *symbols, size_t count, uint32_t *words)
{
    if (count < GPU_SPIRV_HEADER) return false;
    uint32_t next = (uint32_t)(symbols[GPU_SPIRV_BOUND] >> 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = symbols[i] >> 1;
        if (value > UINT32_MAX) return false;
        words[i] = (uint32_t)value;
        if (symbols[i] & 1) words[i] = value ? next - words[i] : next++;
    }
    words[GPU_SPIRV_BOUND] = next;
    return true;
}

uint32_t *gpu_spirv_unpack(const struct gpu_spirv_module *modules, int index)
{
    size_t count = modules[index].words, all = 0, at = 0;
    for (int i = index; i >= 0; i = modules[i].base) all += modules[i].words;
    uint64_t *symbols = malloc(all * sizeof *symbols);
    uint32_t *words = malloc(count * sizeof *words);
    if (!symbols || !words || !append_all(modules, index, symbols, &at) ||
        !expand(symbols + all - count, count, words)) {
        free(words);
        words = NULL;
    }
    free(symbols);
    return words;
}
