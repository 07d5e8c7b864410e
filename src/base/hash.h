// SPDX-License-Identifier: Apache-2.0
// A fingerprint of bytes, to tell what is the same and what an accident has changed; no defence against who wants to
// deceive. Every change within eight bytes changes it for certain: each step can be undone. It depends on the machine's
// byte order.
#ifndef HALITE_BASE_HASH_H
#define HALITE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// hash: of what comes before, or 0.
static inline uint64_t hl_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    hash ^= size;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

#endif
