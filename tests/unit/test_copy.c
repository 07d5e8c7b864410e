// SPDX-License-Identifier: Apache-2.0
// Strided copies of random shapes, layouts and element sizes against one element after the other.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/common/copy.h"
#include "support/random.h"

enum { MOST_RANK = 5, MAX_BYTES = 1 << 21 };

// The layout of an array with its axes in some order, some with elements between, some backwards. Its elements.
static int64_t make_layout(int rank, const int *dims, struct hl_layout *layout)
{
    int order[MOST_RANK];
    for (int i = 0; i < rank; i++) order[i] = i;
    for (int i = rank - 1; i > 0 && pick(2); i--) {
        int other = pick(i + 1), axis = order[i];
        order[i] = order[other], order[other] = axis;
    }
    int64_t step = 1, offset = pick(3);
    for (int i = rank - 1; i >= 0; i--) {
        int axis = order[i], gap = pick(5) ? 1 : 1 + pick(3);
        bool backwards = dims[axis] > 0 && pick(8) == 0;
        layout->stride[axis] = backwards ? -step * gap : step * gap;
        if (backwards) offset += (dims[axis] - 1) * step * gap;
        step *= (int64_t)dims[axis] * gap;
        if (pick(6) == 0) step++;
    }
    layout->offset = offset;
    return offset + step;
}

static void set_bits(uint8_t *data, int bits, int64_t at, const uint8_t *value)
{
    if (bits >= 8) {
        memcpy(data + at * (bits / 8), value, (size_t)bits / 8);
        return;
    }
    int shift = (int)(at * bits % 8);
    unsigned mask = (1u << bits) - 1;
    uint8_t *byte = &data[at * bits / 8];
    *byte = (uint8_t)((*byte & ~(mask << shift)) | (*value & mask) << shift);
}

static void get_bits(const uint8_t *data, int bits, int64_t at, uint8_t *value)
{
    if (bits >= 8)
        memcpy(value, data + at * (bits / 8), (size_t)bits / 8);
    else
        *value = (uint8_t)(data[at * bits / 8] >> at * bits % 8);
}

static void one_by_one(int bits, int rank, const int *dims, uint8_t *to, const struct hl_layout *to_layout,
                       const uint8_t *from, const struct hl_layout *from_layout)
{
    int64_t count = 1;
    for (int i = 0; i < rank; i++) count *= dims[i];
    for (int64_t n = 0; n < count; n++) {
        int64_t rest = n, to_at = to_layout->offset, from_at = from_layout->offset;
        for (int axis = rank - 1; axis >= 0; axis--) {
            to_at += rest % dims[axis] * to_layout->stride[axis];
            from_at += rest % dims[axis] * from_layout->stride[axis];
            rest /= dims[axis];
        }
        uint8_t value[16];
        get_bits(from, bits, from_at, value);
        set_bits(to, bits, to_at, value);
    }
}

static void copies(void **state)
{
    (void)state;
    static const int sizes[] = {2, 4, 8, 16, 32, 64, 128};
    uint8_t *from = malloc(MAX_BYTES), *to = malloc(MAX_BYTES), *expected = malloc(MAX_BYTES);
    for (int i = 0; i < MAX_BYTES; i++) from[i] = (uint8_t)pick(256);
    int large = 0, in_runs = 0, not_in_runs = 0;
    for (int n = 0; n < 4000; n++) {
        int rank = pick(MOST_RANK + 1), bits = sizes[pick(7)], dims[MOST_RANK];
        int64_t count = 1;
        for (int i = 0; i < rank; i++) {
            dims[i] = count > 500 ? 1 + pick(2) : pick(20) ? 1 + pick(pick(3) ? 9 : 90) : 0;
            count *= dims[i];
        }
        if (count > 500) large++;
        struct hl_layout to_layout, from_layout;
        int64_t to_count = make_layout(rank, dims, &to_layout);
        int64_t from_count = make_layout(rank, dims, &from_layout);
        if (to_count * bits / 8 >= MAX_BYTES || from_count * bits / 8 >= MAX_BYTES) continue;
        size_t bytes = (size_t)(to_count * bits / 8 + 1);
        memset(to, 0x55, bytes);
        memset(expected, 0x55, bytes);
        hl_copy(bits, rank, dims, to, &to_layout, from, &from_layout);
        one_by_one(bits, rank, dims, expected, &to_layout, from, &from_layout);
        if (memcmp(to, expected, bytes) != 0)
            fail_msg("copy %d differs: %d bits, rank %d, %d %d %d %d %d", n, bits, rank, dims[0], dims[1], dims[2],
                     dims[3], dims[4]);

        struct hl_byte_runs runs;
        if (!hl_find_byte_runs(bits, rank, dims, &to_layout, &from_layout, &runs)) {
            not_in_runs++;
            continue;
        }
        in_runs++;
        memset(to, 0x55, bytes);
        hl_copy_byte_runs(&runs, to, from);
        if (memcmp(to, expected, bytes) != 0) fail_msg("copy %d differs in runs of %zu bytes", n, runs.size);
    }
    assert_true(large > 500);
    assert_true(in_runs > 500 && not_in_runs > 500);
    free(from);
    free(to);
    free(expected);
}

static void fills(void **state)
{
    (void)state;
    static const uint8_t value[2][8] = {{1, 2, 3, 4, 5, 6, 7, 8}, {7, 7, 7, 7, 7, 7, 7, 7}};
    for (int same = 0; same < 2; same++)
        for (int bits = 8; bits <= 64; bits *= 2)
            for (int count = 0; count < 20; count++) {
                uint8_t data[21 * 8], expected[21 * 8];
                size_t size = (size_t)bits / 8;
                memset(data, 0x55, sizeof data);
                memset(expected, 0x55, sizeof expected);
                for (int i = 0; i < count; i++) memcpy(expected + (size_t)i * size, value[same], size);
                hl_fill(bits, count, data, value[same]);
                assert_memory_equal(data, expected, sizeof data);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies), cmocka_unit_test(fills)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
