// SPDX-License-Identifier: Apache-2.0
// Completes the types of cooperative matrices, see pack.h. The compiler writes them with a constant, a number of bits,
// where a type of floats belongs. That type comes just before the first matrix of it, and not where it stood. The
// names of things go, which the compiler leaves in modules with instructions that it does not know.
#include <stdlib.h>
#include <string.h>

#include "gpu/lang/spirv/pack.h"
#include "gpu/lang/spirv/spirv.h"

enum { OP_SOURCE = 3, OP_MEMBER_NAME = 6, OP_TYPE_FLOAT = 22, OP_CONSTANT = 43, OP_TYPE_MATRIX = 4456 };
enum { FLOAT_WORDS = 3, MAX_TYPES = 2 };

struct type {
    uint32_t bits, id;
};

static uint32_t opcode_at(const uint32_t *words, size_t at)
{
    return words[at] & 0xffff;
}

static size_t next(const uint32_t *words, size_t at)
{
    return at + (words[at] >> 16);
}

// The value of a constant of one word, 0: there is none of that id.
static uint32_t value_of(const uint32_t *words, size_t count, uint32_t id)
{
    for (size_t at = GPU_SPIRV_HEADER; at < count; at = next(words, at))
        if (opcode_at(words, at) == OP_CONSTANT && words[at + 2] == id) return words[at + 3];
    return 0;
}

static uint32_t float_type(const uint32_t *words, size_t count, uint32_t bits)
{
    for (size_t at = GPU_SPIRV_HEADER; at < count; at = next(words, at))
        if (opcode_at(words, at) == OP_TYPE_FLOAT && words[at + 2] == bits) return words[at + 1];
    return 0;
}

static bool is_whole(const uint32_t *words, size_t count)
{
    size_t at = GPU_SPIRV_HEADER;
    while (at < count && words[at] >> 16) at = next(words, at);
    return count > GPU_SPIRV_HEADER && at == count;
}

// Returns the words of `out`; 0: a matrix names no number that is known.
static size_t complete(const uint32_t *words, size_t count, uint32_t *out)
{
    struct type moved[MAX_TYPES];
    int moved_count = 0;
    size_t to = GPU_SPIRV_HEADER;
    memcpy(out, words, GPU_SPIRV_HEADER * sizeof *out);
    for (size_t at = GPU_SPIRV_HEADER; at < count; at = next(words, at)) {
        uint32_t opcode = opcode_at(words, at), bits = 0;
        if (opcode >= OP_SOURCE && opcode <= OP_MEMBER_NAME) continue;
        if (opcode == OP_TYPE_FLOAT) bits = words[at + 2];
        if (opcode == OP_TYPE_MATRIX) bits = value_of(words, count, words[at + 2]);
        int known = 0;
        while (known < moved_count && moved[known].bits != bits) known++;
        if (opcode == OP_TYPE_FLOAT && known < moved_count) continue;
        if (opcode == OP_TYPE_MATRIX) {
            if (bits != 16 && bits != 32) return 0;
            if (known == moved_count) {
                uint32_t id = float_type(words, at, bits);
                bool declared = id != 0;
                if (!declared) id = float_type(words, count, bits);
                if (!id) id = out[GPU_SPIRV_BOUND]++;
                moved[moved_count++] = (struct type){bits, id};
                const uint32_t type[FLOAT_WORDS] = {FLOAT_WORDS << 16 | OP_TYPE_FLOAT, id, bits};
                if (!declared) memcpy(out + to, type, sizeof type);
                if (!declared) to += FLOAT_WORDS;
            }
        }
        memcpy(out + to, words + at, (words[at] >> 16) * sizeof *out);
        if (opcode == OP_TYPE_MATRIX) out[to + 2] = moved[known].id;
        to += words[at] >> 16;
    }
    return to;
}

uint32_t *gpu_spirv_complete_types(const uint32_t *words, size_t *count)
{
    uint32_t *out = is_whole(words, *count) ? malloc((*count + MAX_TYPES * FLOAT_WORDS) * sizeof *out) : NULL;
    if (!out) return NULL;
    size_t completed = complete(words, *count, out);
    if (completed > 0) {
        *count = completed;
        return out;
    }
    free(out);
    return NULL;
}
