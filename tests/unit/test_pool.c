// SPDX-License-Identifier: Apache-2.0
// The pool of threads: each item once, workers' numbers in use once at a time, rounds close together and far apart. For
// the tsan preset, too.
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/threads.h"

enum { ITEMS = 100, THREADS = 4 };

struct record {
    atomic_int times[ITEMS];
    atomic_int within[THREADS]; // calls that are under way with this number
    atomic_int clashes;
    int plain[ITEMS]; // written without locks: done when hl_threads_run returns
};

static void note(void *arg, int64_t item, int worker)
{
    struct record *record = arg;
    if (worker < 0 || worker >= THREADS || atomic_fetch_add(&record->within[worker], 1) != 0)
        atomic_fetch_add(&record->clashes, 1);
    else
        atomic_fetch_sub(&record->within[worker], 1);
    atomic_fetch_add(&record->times[item], 1);
    record->plain[item] += (int)item;
}

static void check_rounds(struct hl_threads *threads)
{
    static struct record record;
    memset(&record, 0, sizeof record);
    int done[ITEMS] = {0};
    for (int round = 1; round <= 200; round++) {
        int items = round % ITEMS;
        hl_threads_run(threads, items, note, &record);
        for (int i = 0; i < ITEMS; i++) {
            if (i < items) done[i]++;
            assert_int_equal(atomic_load(&record.times[i]), done[i]);
            assert_int_equal(record.plain[i], done[i] * i);
        }
        if (round % 50 == 0) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); // workers fall asleep
    }
    assert_int_equal(atomic_load(&record.clashes), 0);
}

static void shares_items(void **state)
{
    (void)state;
    struct hl_threads *threads = hl_threads_create(THREADS);
    assert_int_equal(hl_threads_count(threads), THREADS);
    check_rounds(threads);
    hl_threads_destroy(threads);
}

// More items than a round can count: the pool makes several of it.
enum { MANY = 3 * 65535 + 7 };

static void count_one(void *arg, int64_t item, int worker)
{
    (void)worker;
    ((unsigned char *)arg)[item]++;
}

static void shares_many_items(void **state)
{
    (void)state;
    static unsigned char times[MANY];
    struct hl_threads *threads = hl_threads_create(THREADS);
    hl_threads_run(threads, MANY, count_one, times);
    for (int i = 0; i < MANY; i++) assert_int_equal(times[i], 1);
    hl_threads_destroy(threads);
}

static void does_without_threads(void **state)
{
    (void)state;
    assert_null(hl_threads_create(-1));
    assert_null(hl_threads_create(1));
    assert_int_equal(hl_threads_count(NULL), 1);
    check_rounds(NULL);
    assert_int_equal(hl_threads_delay(NULL), 0);
    hl_threads_destroy(NULL);
}

// A later pool of as many threads may find a shorter delay, and never a longer one; rounds work as before.
static void knows_its_delay(void **state)
{
    (void)state;
    int least = INT_MAX;
    for (int i = 0; i < 5; i++) {
        struct hl_threads *threads = hl_threads_create(THREADS);
        const int delay = hl_threads_delay(threads);
        assert_true(delay > 0 && delay <= least);
        assert_true(hl_threads_delay(threads) <= delay);
        check_rounds(threads);
        hl_threads_destroy(threads);
        least = delay;
    }
}

static void ends_without_work(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) hl_threads_destroy(hl_threads_create(1 + i % 4));
    struct hl_threads *most = hl_threads_create(1000);
    assert_true(hl_threads_count(most) <= HL_MAX_THREADS);
    hl_threads_destroy(most);
}

// A forked process has the memory of the pool and none of its threads: it runs all items itself, and may delete the
// pool.
static void a_forked_process_works_alone(void **state)
{
    (void)state;
    struct hl_threads *threads = hl_threads_create(THREADS);
    check_rounds(threads);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static struct record record;
        hl_threads_run(threads, ITEMS, note, &record);
        bool all = true;
        for (int i = 0; i < ITEMS; i++) all = all && atomic_load(&record.times[i]) == 1;
        hl_threads_destroy(threads);
        _exit(all ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_rounds(threads);
    hl_threads_destroy(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_items),         cmocka_unit_test(shares_many_items),
        cmocka_unit_test(does_without_threads), cmocka_unit_test(knows_its_delay),
        cmocka_unit_test(ends_without_work),    cmocka_unit_test(a_forked_process_works_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
