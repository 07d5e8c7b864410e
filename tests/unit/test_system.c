// SPDX-License-Identifier: Apache-2.0
// What src/base hides of the system: aligned memory, shared libraries, clocks, processors, a function that runs once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/mutex.h"
#include "base/threads.h"

static void blocks_lie_at_their_alignment(void **state)
{
    (void)state;
    for (size_t alignment = sizeof(void *); alignment <= 4096; alignment *= 2) {
        unsigned char *block = hl_aligned_alloc(alignment, 100);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % alignment, 0);
        memset(block, 1, 100);
        hl_aligned_free(block);
    }
    hl_aligned_free(NULL);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ // which end the program instead
    assert_null(hl_aligned_alloc(64, SIZE_MAX / 2));
#endif
}

static void a_library_that_is_missing_says_why(void **state)
{
    (void)state;
    static const char *const none[] = {"no_such_library_1", "no_such_library_2", NULL};
    assert_null(hl_library_open("no_such_library_1"));
    assert_non_null(strstr(hl_library_error(), "no_such_library_1"));
    assert_null(hl_library_open_first(none));
}

static void functions_are_found_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"no_such_library", "libm.so.6", "libm.dylib", NULL};
    struct hl_library *library = hl_library_open_first(names);
    if (!library) skip(); // not every system has a library of mathematics
    double (*cosine)(double) = NULL;
    assert_true(hl_library_find(library, "cos", &cosine, sizeof cosine));
    assert_true(cosine(0) == 1);
    assert_false(hl_library_find(library, "no_such_function", &cosine, sizeof cosine));
    assert_null(cosine);
    hl_library_close(library);
}

static void time_passes(void **state)
{
    (void)state;
    uint64_t before = hl_nanoseconds();
    hl_sleep(0.002);
    assert_true(hl_nanoseconds() - before >= 2000000);
    hl_sleep(0);
    hl_sleep(-1);
    assert_true(hl_calendar_nanoseconds() > UINT64_C(1700000000) * 1000000000); // this test is of a later year
}

static int *runs(void)
{
    static int count;
    return &count;
}

static void count_run(void)
{
    ++*runs();
}

static void once_is_once(void **state)
{
    (void)state;
    struct hl_once once = HL_ONCE_INIT;
    hl_once(&once, count_run);
    hl_once(&once, count_run);
    assert_int_equal(*runs(), 1);
    assert_true(hl_processors() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_lie_at_their_alignment),
        cmocka_unit_test(a_library_that_is_missing_says_why),
        cmocka_unit_test(functions_are_found_by_name),
        cmocka_unit_test(time_passes),
        cmocka_unit_test(once_is_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
