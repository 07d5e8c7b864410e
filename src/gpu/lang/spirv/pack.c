// SPDX-License-Identifier: Apache-2.0
// Packs SPIR-V while Halite is built, see pack.h. What it must know of SPIR-V is which operands of an instruction are
// ids; an instruction that the table lacks is an error and no guess.
#include "gpu/lang/spirv/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/lang/spirv/spirv.h"

enum {
    OP_ENTRY_POINT = 15,
    OP_SPEC_CONSTANT_OP = 52,
    OP_FUNCTION = 54,
    OP_DECORATE = 71,
    OP_MEMBER_DECORATE = 72,
    OP_COMPOSITE_EXTRACT = 81,
    SPIRV_MAGIC = 0x07230203,
};

// The operands of the instructions from first to last: i is an id, l a literal, and the last letter stands for all that
// follow.
static const struct layout {
    uint16_t first, last;
    const char *operands;
} layouts[] = {
    {1, 1, "i"}, // OpUndef
    {10, 10, "l"}, // OpExtension
    {11, 11, "il"}, // OpExtInstImport
    {12, 12, "iiili"}, // OpExtInst
    {14, 14, "l"}, // OpMemoryModel
    {OP_ENTRY_POINT, OP_ENTRY_POINT, "li"},
    {16, 16, "il"}, // OpExecutionMode
    {17, 17, "l"}, // OpCapability
    {19, 20, "i"}, // OpTypeVoid, OpTypeBool
    {21, 22, "il"}, // OpTypeInt, OpTypeFloat
    {23, 23, "iil"}, // OpTypeVector
    {28, 30, "i"}, // OpTypeArray, OpTypeRuntimeArray, OpTypeStruct
    {32, 32, "ili"}, // OpTypePointer
    {33, 33, "i"}, // OpTypeFunction
    {41, 42, "i"}, // OpConstantTrue, OpConstantFalse
    {43, 43, "iil"}, // OpConstant
    {44, 44, "i"}, // OpConstantComposite
    {48, 49, "i"}, // OpSpecConstantTrue, OpSpecConstantFalse
    {50, 50, "iil"}, // OpSpecConstant
    {51, 51, "i"}, // OpSpecConstantComposite
    {OP_SPEC_CONSTANT_OP, OP_SPEC_CONSTANT_OP, "iili"},
    {OP_FUNCTION, OP_FUNCTION, "iili"},
    {55, 57, "i"}, // OpFunctionParameter, OpFunctionEnd, OpFunctionCall
    {59, 59, "iili"}, // OpVariable
    {61, 61, "iiili"}, // OpLoad, which may name a scope
    {62, 62, "iili"}, // OpStore
    {65, 65, "i"}, // OpAccessChain
    {OP_DECORATE, OP_MEMBER_DECORATE, "il"},
    {79, 79, "iiiil"}, // OpVectorShuffle
    {80, 80, "i"}, // OpCompositeConstruct
    {OP_COMPOSITE_EXTRACT, OP_COMPOSITE_EXTRACT, "iiil"},
    {109, 124, "i"}, // conversions
    {126, 205, "i"}, // arithmetic, comparisons, bits
    {224, 225, "i"}, // barriers
    {245, 245, "i"}, // OpPhi
    {246, 246, "iil"}, // OpLoopMerge
    {247, 247, "il"}, // OpSelectionMerge
    {248, 249, "i"}, // OpLabel, OpBranch
    {250, 250, "iiil"}, // OpBranchConditional
    {252, 254, "i"}, // OpKill, OpReturn, OpReturnValue
    {4450, 4450, "iiiil"}, // OpSDot
    {4456, 4456, "i"}, // OpTypeCooperativeMatrixKHR
    {4457, 4457, "iiiiili"}, // OpCooperativeMatrixLoadKHR
    {4458, 4458, "iiiili"}, // OpCooperativeMatrixStoreKHR
    {4459, 4459, "i"}, // OpCooperativeMatrixMulAddKHR, without operands
};

static const struct layout *layout_of(uint32_t opcode)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (opcode >= layouts[i].first && opcode <= layouts[i].last) return &layouts[i];
    return NULL;
}

static uint32_t length_of(uint32_t word)
{
    return word >> 16;
}

static uint32_t opcode_of(uint32_t word)
{
    return word & 0xffff;
}

// Which words of an instruction are ids.
static void find_ids(const uint32_t *words, const char *operands, bool *is_id)
{
    size_t length = length_of(*words), text = 0;
    for (size_t i = 1; i < length; i++) {
        is_id[i] = *operands == 'i';
        if (operands[1]) operands++;
    }
    if (opcode_of(*words) == OP_SPEC_CONSTANT_OP && words[3] == OP_COMPOSITE_EXTRACT)
        for (size_t i = 5; i < length; i++) is_id[i] = false;
    if (opcode_of(*words) != OP_ENTRY_POINT) return;
    do is_id[3 + text] = false; // the name's four letters to a word, of which the last has a zero byte
    while (words[3 + text++] >> 24 && 3 + text < length);
}

// Which words of the module are ids below its bound; NULL: it is not what pack.c knows.
static bool *mark_ids(const uint32_t *words, size_t count)
{
    bool *is_id = calloc(count, sizeof *is_id);
    bool right = is_id && count > GPU_SPIRV_HEADER && words[0] == SPIRV_MAGIC;
    for (size_t at = GPU_SPIRV_HEADER; right && at < count; at += length_of(words[at])) {
        const struct layout *layout = layout_of(opcode_of(words[at]));
        right = layout && length_of(words[at]) > 0 && length_of(words[at]) <= count - at;
        if (right) find_ids(words + at, layout->operands, is_id + at);
        else fprintf(stderr, "gpu_shaders: SPIR-V opcode %u is not in pack.c\n", (unsigned)opcode_of(words[at]));
    }
    for (size_t i = 0; right && i < count; i++) right = !is_id[i] || words[i] < words[GPU_SPIRV_BOUND];
    if (right) return is_id;
    free(is_id);
    return NULL;
}

// Which word of an instruction before the functions is its result's id, 0: none.
static size_t result_of(uint32_t opcode)
{
    if (opcode == 11 || (opcode >= 19 && opcode <= 33) || opcode == 4456) return 1;
    return opcode == 1 || (opcode >= 41 && opcode <= 59) ? 2 : 0;
}

// Appends an instruction to a key, with new ids and `without` as 0. False: an id is not known yet.
static bool append_key(const uint32_t *words, const bool *is_id, const uint32_t *ids, uint32_t without, uint32_t *key,
                       size_t *length)
{
    for (size_t i = 0; i < length_of(*words); i++) {
        bool renamed = is_id[i] && words[i] != without;
        if (renamed && ids[words[i]] == 0) return false;
        key[(*length)++] = !is_id[i] ? words[i] : renamed ? ids[words[i]] : 0;
    }
    return true;
}

// The instruction at `at` with its decorations, malloc'ed, with room for one more word; NULL: no memory.
static uint32_t *make_key(const uint32_t *words, size_t at, const bool *is_id, const uint32_t *ids, size_t *length)
{
    uint32_t id = words[at + result_of(opcode_of(words[at]))];
    uint32_t *key = malloc((at + length_of(words[at]) + 1) * sizeof *key);
    *length = 0;
    if (!key || !append_key(words + at, is_id + at, ids, id, key, length)) {
        free(key);
        return NULL;
    }
    for (size_t i = GPU_SPIRV_HEADER; i < at; i += length_of(words[i]))
        if ((opcode_of(words[i]) == OP_DECORATE || opcode_of(words[i]) == OP_MEMBER_DECORATE) && words[i + 1] == id)
            append_key(words + i, is_id + i, ids, id, key, length);
    return key;
}

static bool taken(const uint32_t *ids, uint32_t bound, uint32_t id)
{
    for (uint32_t i = 0; i < bound; i++)
        if (ids[i] == id) return true;
    return false;
}

// The number of a key that the module has not used yet, 0: no memory. Takes the key.
static uint32_t number_of(struct gpu_spirv_globals *globals, uint32_t *key, size_t length, const uint32_t *ids,
                          uint32_t bound)
{
    for (uint32_t i = 0; i < globals->count; i++) {
        if (globals->list[i].length != length || memcmp(globals->list[i].key, key, length * sizeof *key) != 0) continue;
        if (taken(ids, bound, i + 1)) continue;
        free(key);
        return i + 1;
    }
    if (globals->count == globals->room) {
        uint32_t room = globals->room ? 2 * globals->room : 256;
        void *larger = realloc(globals->list, room * sizeof *globals->list);
        if (!larger) {
            free(key);
            return 0;
        }
        globals->list = larger;
        globals->room = room;
    }
    globals->list[globals->count] = (struct gpu_spirv_global){key, length};
    return ++globals->count;
}

uint32_t *gpu_spirv_number(struct gpu_spirv_globals *globals, const uint32_t *words, size_t count)
{
    bool *is_id = mark_ids(words, count);
    uint32_t *ids = is_id ? calloc(words[GPU_SPIRV_BOUND], sizeof *ids) : NULL;
    bool right = ids != NULL;
    for (size_t at = GPU_SPIRV_HEADER; right && at < count && opcode_of(words[at]) != OP_FUNCTION;
         at += length_of(words[at])) {
        size_t result = result_of(opcode_of(words[at])), length;
        if (result == 0) continue;
        uint32_t *key = make_key(words, at, is_id, ids, &length);
        uint32_t *id = &ids[words[at + result]];
        right = key && (*id = number_of(globals, key, length, ids, words[GPU_SPIRV_BOUND])) != 0;
    }
    free(is_id);
    if (right) return ids;
    free(ids);
    return NULL;
}

bool gpu_spirv_symbols(const uint32_t *words, size_t count, uint32_t *ids, uint32_t first_new, uint64_t *symbols)
{
    bool *is_id = mark_ids(words, count);
    uint32_t next = first_new;
    for (size_t i = 0; is_id && i < count; i++) {
        symbols[i] = 2 * (uint64_t)(i == GPU_SPIRV_BOUND ? first_new : words[i]);
        if (!is_id[i]) continue;
        uint32_t id = ids[words[i]];
        symbols[i] = id == 0 ? 1 : id < first_new ? 2 * (uint64_t)id : 2 * (uint64_t)(next - id) + 1;
        if (id == 0) ids[words[i]] = next++;
    }
    free(is_id);
    return is_id != NULL;
}

void gpu_spirv_globals_free(struct gpu_spirv_globals *globals)
{
    for (uint32_t i = 0; i < globals->count; i++) free(globals->list[i].key);
    free(globals->list);
    *globals = (struct gpu_spirv_globals){0};
}

// ---- symbols to bytes -----------------------------------------------------------------------------------------------

static size_t bytes_of(uint64_t number)
{
    size_t bytes = 1;
    for (; number > 127; number >>= 7) bytes++;
    return bytes;
}

static void put(unsigned char *to, size_t *size, uint64_t number)
{
    for (; number > 127; number >>= 7) to[(*size)++] = (unsigned char)(number | 128);
    to[(*size)++] = (unsigned char)number;
}

enum { SLOTS = 1 << 14, MAX_TRIES = 256, NONE = -1 };

// Where each pair of symbols stood before: the last position of each slot, and for each position the one before it.
struct pairs {
    int last[SLOTS];
    int *before;
};

static int *slot_of(struct pairs *pairs, const uint64_t *symbols)
{
    return &pairs->last[((symbols[0] * 0x9E3779B1u) ^ (symbols[1] * 0x85EBCA77u)) >> 7 & (SLOTS - 1)];
}

static void note(struct pairs *pairs, const uint64_t *symbols, size_t at, size_t to)
{
    if (at + 1 >= to) return;
    int *slot = slot_of(pairs, symbols + at);
    pairs->before[at] = *slot;
    *slot = (int)at;
}

// The copy that saves most bytes against symbols as they are; length 0: none saves any.
static size_t best_copy(struct pairs *pairs, const uint64_t *symbols, size_t at, size_t to, size_t *distance)
{
    size_t best = 0, best_gain = 1; // one byte for the run that a copy interrupts
    int tries = 0;
    for (int from = at + 1 < to ? *slot_of(pairs, symbols + at) : NONE; from != NONE && tries < MAX_TRIES; tries++) {
        size_t length = 0, gain = 0, cost;
        for (; at + length < to && symbols[(size_t)from + length] == symbols[at + length]; length++)
            gain += bytes_of(symbols[at + length]);
        cost = bytes_of(2 * length + 1) + bytes_of(at - (size_t)from);
        if (length > 0 && gain > cost + best_gain) {
            best = length;
            best_gain = gain - cost;
            *distance = at - (size_t)from;
        }
        from = pairs->before[from];
    }
    return best;
}

static void put_run(unsigned char *bytes, size_t *size, const uint64_t *symbols, size_t from, size_t to)
{
    if (from == to) return;
    put(bytes, size, 2 * (to - from));
    for (; from < to; from++) put(bytes, size, symbols[from]);
}

unsigned char *gpu_spirv_pack(const uint64_t *symbols, size_t from, size_t to, size_t *size)
{
    struct pairs *pairs = malloc(sizeof *pairs);
    int *before = malloc((to + 1) * sizeof *before);
    unsigned char *bytes = malloc(11 * (to - from) + 1); // a run of one symbol takes at most 6 bytes, a copy 10
    *size = 0;
    if (pairs && before && bytes) {
        pairs->before = before;
        for (int i = 0; i < SLOTS; i++) pairs->last[i] = NONE;
        for (size_t i = 0; i < from; i++) note(pairs, symbols, i, to);
        size_t run = from, distance = 0;
        for (size_t at = from; at < to;) {
            size_t length = best_copy(pairs, symbols, at, to, &distance);
            if (length > 0) {
                put_run(bytes, size, symbols, run, at);
                put(bytes, size, 2 * length + 1);
                put(bytes, size, distance);
            }
            for (size_t end = at + (length ? length : 1); at < end; at++) note(pairs, symbols, at, to);
            if (length > 0) run = at;
        }
        put_run(bytes, size, symbols, run, to);
    } else {
        free(bytes);
        bytes = NULL;
    }
    free(before);
    free(pairs);
    return bytes;
}
