// SPDX-License-Identifier: Apache-2.0
// See fingerprint.h. Four ways by length: to 16 bytes, to 32, to 64, and a loop over blocks of 64 with a state of 56
// bytes.
#include "ops/common/fingerprint.h"

#include <string.h>

static const uint64_t k0 = 0xc3a5c85c97cb3127u, k1 = 0xb492b66fbe98f273u, k2 = 0x9ae16a3b2f90404fu;

static uint64_t word(const unsigned char *at) // little-endian
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | at[i];
    return value;
}

static uint64_t half_word(const unsigned char *at)
{
    return word((const unsigned char[8]){at[0], at[1], at[2], at[3]});
}

static uint64_t turned(uint64_t value, int by)
{
    return value >> by | value << (64 - by);
}

static uint64_t mixed(uint64_t value)
{
    return value ^ value >> 47;
}

static uint64_t joined(uint64_t u, uint64_t v, uint64_t factor)
{
    uint64_t a = mixed((u ^ v) * factor);
    return mixed((v ^ a) * factor) * factor;
}

static uint64_t to_16(const unsigned char *s, size_t n)
{
    uint64_t factor = k2 + n * 2;
    if (n >= 8) {
        uint64_t a = word(s) + k2, b = word(s + n - 8);
        return joined(turned(b, 37) * factor + a, (turned(a, 25) + b) * factor, factor);
    }
    if (n >= 4) return joined(n + (half_word(s) << 3), half_word(s + n - 4), factor);
    if (n == 0) return k2;
    uint64_t y = s[0] + ((uint64_t)s[n / 2] << 8), z = n + ((uint64_t)s[n - 1] << 2);
    return mixed(y * k2 ^ z * k0) * k2;
}

static uint64_t to_32(const unsigned char *s, size_t n)
{
    uint64_t factor = k2 + n * 2;
    uint64_t a = word(s) * k1, b = word(s + 8), c = word(s + n - 8) * factor, d = word(s + n - 16) * k2;
    return joined(turned(a + b, 43) + turned(c, 30) + d, a + turned(b + k2, 18) + c, factor);
}

static uint64_t to_64(const unsigned char *s, size_t n)
{
    uint64_t factor = k2 + n * 2;
    uint64_t a = word(s) * k2, b = word(s + 8), c = word(s + n - 8) * factor, d = word(s + n - 16) * k2;
    uint64_t y = turned(a + b, 43) + turned(c, 30) + d;
    uint64_t z = joined(y, a + turned(b + k2, 18) + c, factor);
    uint64_t e = word(s + 16) * factor, f = word(s + 24);
    uint64_t g = (y + word(s + n - 32)) * factor, h = (z + word(s + n - 24)) * factor;
    return joined(turned(e + f, 43) + turned(g, 30) + h, e + turned(f + a, 18) + g, factor);
}

struct pair {
    uint64_t a, b;
};

static struct pair absorbed(const unsigned char *s, uint64_t a, uint64_t b)
{
    uint64_t w = word(s), x = word(s + 8), y = word(s + 16), z = word(s + 24);
    a += w;
    b = turned(b + a + z, 21);
    uint64_t c = a;
    a += x + y;
    b += turned(a, 44);
    return (struct pair){a + z, b + c};
}

struct state {
    uint64_t x, y, z;
    struct pair v, w;
};

// One block of 64 bytes; the last one weighs some of the state more.
static void absorb(struct state *t, const unsigned char *s, uint64_t factor, uint64_t weight)
{
    t->x = turned(t->x + t->y + t->v.a + word(s + 8), 37) * factor;
    t->y = turned(t->y + t->v.b + word(s + 48), 42) * factor;
    t->x ^= t->w.b * weight;
    t->y += t->v.a * weight + word(s + 40);
    t->z = turned(t->z + t->w.a, 33) * factor;
    t->v = absorbed(s, t->v.b * factor, t->x + t->w.a);
    t->w = absorbed(s + 32, t->z + t->w.b, t->y + word(s + 16));
    uint64_t z = t->z;
    t->z = t->x;
    t->x = z;
}

uint64_t hl_fingerprint(const void *bytes, size_t size)
{
    const unsigned char *s = bytes;
    if (size <= 16) return to_16(s, size);
    if (size <= 32) return to_32(s, size);
    if (size <= 64) return to_64(s, size);

    const uint64_t seed = 81;
    struct state t = {.x = seed * k2 + word(s), .y = seed * k1 + 113};
    t.z = mixed(t.y * k2 + 113) * k2;
    size_t blocks = (size - 1) / 64, rest = (size - 1) % 64;
    for (size_t i = 0; i < blocks; i++) absorb(&t, s + 64 * i, k1, 1);

    uint64_t factor = k1 + ((t.z & 0xff) << 1);
    t.w.a += rest;
    t.v.a += t.w.a;
    t.w.a += t.v.a;
    absorb(&t, s + size - 64, factor, 9);
    return joined(joined(t.v.a, t.w.a, factor) + mixed(t.y) * k0 + t.z, joined(t.v.b, t.w.b, factor) + t.x, factor);
}
