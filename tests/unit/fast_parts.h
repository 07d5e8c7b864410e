// SPDX-License-Identifier: Apache-2.0
// For tests of the parts that fast kernels are made of: random numbers, and the arrays that a part lists, each in
// memory of its own, so that a sanitizer sees what is read or written beyond one.
#ifndef HALITE_TESTS_UNIT_FAST_PARTS_H
#define HALITE_TESTS_UNIT_FAST_PARTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fast/fast.h"
#include "fast/simd/simd.h"
#include "support/random.h"

static inline void *zeroed(size_t count, size_t size)
{
    void *memory = calloc(count + (count == 0), size);
    assert_non_null(memory);
    return memory;
}

static inline void make_parts(const struct hl_parts *parts)
{
    for (int i = 0; i < parts->count; i++) {
        const struct hl_part *part = &parts->parts[i];
        size_t count = (size_t)(part->rows * part->columns);
        void *memory = count > 0 ? zeroed(count, part->size) : NULL;
        memcpy(part->pointer, &memory, sizeof memory);
    }
}

static inline void free_parts(const struct hl_parts *parts)
{
    for (int i = 0; i < parts->count; i++) {
        void *memory;
        memcpy(&memory, parts->parts[i].pointer, sizeof memory);
        free(memory);
    }
}

#endif
