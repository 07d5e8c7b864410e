// SPDX-License-Identifier: Apache-2.0
// Random numbers from a counter and a key: the same counter gives the same numbers on every machine. Philox 4x32 with
// ten rounds, Threefry 2x32 with twenty (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011).
#ifndef HALITE_OPS_COMMON_COUNTER_RNG_H
#define HALITE_OPS_COMMON_COUNTER_RNG_H

#include <stdint.h>

static inline void hl_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t numbers[4])
{
    uint32_t k0 = key[0], k1 = key[1], c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)c0 * 0xD2511F53u, b = (uint64_t)c2 * 0xCD9E8D57u;
        uint32_t next0 = (uint32_t)(b >> 32) ^ c1 ^ k0, next2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c0 = next0;
        c1 = (uint32_t)b;
        c2 = next2;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    numbers[0] = c0;
    numbers[1] = c1;
    numbers[2] = c2;
    numbers[3] = c3;
}

static inline void hl_threefry(const uint32_t key[2], const uint32_t counter[2], uint32_t numbers[2])
{
    static const uint8_t turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAu};
    uint32_t x0 = counter[0] + keys[0], x1 = counter[1] + keys[1];
    for (uint32_t group = 0; group < 5; group++) {
        for (int round = 0; round < 4; round++) {
            int turn = turns[group % 2][round];
            x0 += x1;
            x1 = x1 << turn | x1 >> (32 - turn);
            x1 ^= x0;
        }
        x0 += keys[(group + 1) % 3];
        x1 += keys[(group + 2) % 3] + group + 1;
    }
    numbers[0] = x0;
    numbers[1] = x1;
}

#endif
