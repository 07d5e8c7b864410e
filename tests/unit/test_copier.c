// SPDX-License-Identifier: Apache-2.0
// Copies that threads share: every byte arrives and none beside them changes, at sizes around those that are shared, at
// any alignment, with any number of threads. For the tsan preset, too.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/copier.h"
#include "base/half.h"
#include "support/random.h"

enum { MARGIN = 64, MOST = 5 << 20 };

// Copies to a place in memory that is marked before and after.
static bool copies(struct hl_copier *copier, size_t bytes, size_t to_offset, size_t from_offset)
{
    static unsigned char from[MOST + MARGIN], to[MOST + 2 * MARGIN];
    for (size_t i = 0; i < bytes; i++) from[from_offset + i] = (unsigned char)pick(255);
    memset(to, 255, sizeof to);
    (pick(2) ? hl_copier_copy : hl_copier_send)(copier, to + to_offset, from + from_offset, bytes);
    bool right = memcmp(to + to_offset, from + from_offset, bytes) == 0;
    for (size_t i = 0; i < MARGIN; i++) right = right && to[to_offset + bytes + i] == 255;
    for (size_t i = 0; i < to_offset; i++) right = right && to[i] == 255;
    return right;
}

static void every_byte_arrives(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,
                                   1,
                                   4096,
                                   HL_LARGE_SEND - 1,
                                   HL_LARGE_SEND,
                                   HL_LARGE_SEND + 54321,
                                   HL_LARGE_COPY - 1,
                                   HL_LARGE_COPY,
                                   HL_LARGE_COPY + 1,
                                   2 * HL_LARGE_COPY + 12345,
                                   MOST};
    for (int threads = 1; threads <= 4; threads++) {
        struct hl_copier copier = {0};
        hl_copier_begin(&copier, threads);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int turn = 0; turn < 4; turn++)
                assert_true(copies(&copier, sizes[i], (size_t)pick(MARGIN), (size_t)pick(MARGIN)));
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); // threads fall asleep
        assert_true(copies(&copier, MOST, 0, 0));
        hl_copier_end(&copier);
    }
}

// Every half is the one that half.h makes, and nothing beside them changes, at any place in memory.
static void floats_become_halves(void **state)
{
    (void)state;
    enum { COUNT = HL_LARGE_SEND / 2, FEW = 1000 };
    static _Alignas(64) uint16_t to[COUNT + 2 * MARGIN];
    static float from[COUNT + 1];
    struct hl_copier copier = {0};
    hl_copier_begin(&copier, 3);
    for (int turn = 0; turn < 220; turn++) {
        size_t count = turn < 70 ? (size_t)turn : (size_t)pick(turn < 200 ? FEW : COUNT);
        size_t at = turn % 3 ? (size_t)pick(MARGIN) : 0, first = turn % 2;
        for (size_t i = 0; i <= count && i < COUNT + 1; i++) {
            uint32_t bits = (uint32_t)pick(1 << 16) << 16 | (uint32_t)pick(1 << 16); // of any size, and NaN
            if (pick(2)) bits = (bits & 0x87ffffffu) + 0x33000000u;                  // about as halves are
            memcpy(&from[i], &bits, sizeof bits);
        }
        memset(to, 255, sizeof to);
        hl_copier_send_halves(&copier, to + at, from + first, count);
        for (size_t i = 0; i < count; i++) {
            uint16_t wanted = hl_half_from_float(from[first + i]), got = to[at + i];
            bool both_nan = (wanted & 0x7fff) > 0x7c00 && (got & 0x7fff) > 0x7c00;
            assert_true(wanted == got || both_nan);
        }
        for (size_t i = 0; i < at; i++) assert_int_equal(to[i], 65535);
        for (size_t i = at + count; i < COUNT + 2 * MARGIN; i++) assert_int_equal(to[i], 65535);
    }
    hl_copier_end(&copier);
}

static void threads_come_with_the_first_large_copy(void **state)
{
    (void)state;
    struct hl_copier copier = {0};
    static unsigned char from[HL_LARGE_COPY], to[HL_LARGE_COPY];
    hl_copier_copy(&copier, to, from, HL_LARGE_COPY - 1);
    hl_copier_send(&copier, to, from, HL_LARGE_SEND); // not soon after another one
    hl_copier_send(&copier, to, from, HL_LARGE_SEND - 1);
    assert_false(copier.is_ready);
    while (!copier.is_ready) hl_copier_send(&copier, to, from, HL_LARGE_SEND);
    assert_true(hl_threads_count(copier.threads) <= 4);
    assert_true(hl_processors() >= 4 || !copier.threads);
    hl_copier_end(&copier);
    assert_true(copies(&copier, HL_LARGE_COPY, 0, 0)); // and can begin again
    hl_copier_end(&copier);
    hl_copier_end(&copier);
}

static void a_forked_process_copies_alone(void **state)
{
    (void)state;
    struct hl_copier copier = {0};
    hl_copier_begin(&copier, 3);
    assert_true(copies(&copier, MOST, 0, 0));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool right = copies(&copier, MOST, 1, 2);
        hl_copier_end(&copier);
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(copies(&copier, MOST, 0, 0));
    hl_copier_end(&copier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_arrives),
        cmocka_unit_test(floats_become_halves),
        cmocka_unit_test(threads_come_with_the_first_large_copy),
        cmocka_unit_test(a_forked_process_copies_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
