// SPDX-License-Identifier: Apache-2.0
// What src/base hides of the system: aligned memory, shared libraries, clocks, processors, a function that runs once;
// threads and conditions, folders, other programs, this one.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/mutex.h"
#include "base/path.h"
#include "base/process.h"
#include "base/thread.h"
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

struct ball {
    struct hl_mutex mutex;
    struct hl_condition turned;
    int turn; // 0: ours, 1: the other thread's
    int count;
};

static void play(struct ball *ball, int side)
{
    hl_mutex_lock(&ball->mutex);
    for (int i = 0; i < 100; i++) {
        while (ball->turn != side) hl_condition_wait(&ball->turned, &ball->mutex);
        ball->count++;
        ball->turn = 1 - side;
        hl_condition_broadcast(&ball->turned);
    }
    hl_mutex_unlock(&ball->mutex);
}

static void play_other(void *arg)
{
    play(arg, 1);
}

static void two_threads_take_turns(void **state)
{
    (void)state;
    struct ball ball = {.turn = 0};
    struct hl_thread thread;
    assert_true(hl_mutex_init(&ball.mutex) && hl_condition_init(&ball.turned));
    assert_true(hl_thread_start(&thread, play_other, &ball));
    play(&ball, 0);
    hl_thread_join(&thread);
    assert_int_equal(ball.count, 200);
    // Nobody signals any more: the wait ends by itself.
    hl_mutex_lock(&ball.mutex);
    uint64_t before = hl_nanoseconds();
    while (hl_condition_wait_for(&ball.turned, &ball.mutex, 0.01)) continue;
    assert_true(hl_nanoseconds() - before >= 5000000);
    hl_mutex_unlock(&ball.mutex);
    hl_condition_destroy(&ball.turned);
    hl_mutex_destroy(&ball.mutex);
}

static char *path_in(const char *folder, const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_text(const char *folder, const char *name, const char *text)
{
    char *beside;
    FILE *file = hl_file_open_beside(path_in(folder, name), &beside);
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    assert_true(hl_file_move(beside, path_in(folder, name)));
    free(beside);
}

static void folders_list_what_is_in_them(void **state)
{
    (void)state;
    size_t count;
    struct hl_path_facts facts;
    char *folder = hl_folder_make_temporary("halite_test");
    assert_non_null(folder);
    assert_true(hl_path_is_folder(folder) && hl_folder_may_make(folder));
    char **names = hl_folder_list(folder, &count);
    assert_non_null(names);
    assert_int_equal(count, 0);
    hl_folder_free(names, count);
    assert_null(hl_folder_list(path_in(folder, "nothing"), &count));

    write_text(folder, "b", "one");
    write_text(folder, "a", "three");
    write_text(folder, "b", "four"); // in place of the other
    names = hl_folder_list(folder, &count);
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "b");
    hl_folder_free(names, count);
    assert_true(hl_path_look(path_in(folder, "b"), &facts));
    assert_true(facts.kind == HL_PATH_FILE && facts.size == 4 && !facts.is_link && facts.modified > 0);
    assert_false(hl_path_look(path_in(folder, "c"), &facts));
    assert_string_equal(hl_path_name(path_in(folder, "b")), "b");

    FILE *file = fopen(path_in(folder, "a"), "r+b");
    char bytes[8] = "";
    size_t got;
    assert_true(file && hl_file_cut(file, 4));
    fclose(file);
    file = fopen(path_in(folder, "a"), "rb");
    assert_true(hl_file_read_part(fileno(file), 1, bytes, sizeof bytes, &got));
    assert_int_equal(got, 3);
    assert_memory_equal(bytes, "hre", 3);
    fclose(file);
    assert_false(hl_folder_remove(folder)); // it is not empty
    remove(path_in(folder, "a"));
    remove(path_in(folder, "b"));
    assert_true(hl_folder_remove(folder));
    free(folder);
}

static void programs_run_and_end(void **state)
{
    (void)state;
    char path[4096];
    struct hl_process_memory memory;
    assert_true(hl_process_path(path, sizeof path));
    assert_true(hl_path_may_read(path));
    assert_false(hl_process_path(path, 4)); // too small
    assert_int_equal(hl_process_run((const char *const[]){"sh", "-c", "exit 7", NULL}), 7);
    assert_int_equal(hl_process_run((const char *const[]){"/no/such/program", NULL}), 127);
    assert_int_equal(hl_process_run((const char *const[]){"sh", "-c", "kill -9 $$", NULL}), -1);
    assert_true(hl_process_most_memory() > 100000);
    if (hl_process_memory(&memory)) assert_true(memory.anonymous + memory.file > 100000);
}

static void interrupts_wait(void **state)
{
    (void)state;
    struct hl_interrupts interrupts;
    hl_interrupts_hold(&interrupts);
    assert_false(hl_interrupts_pending());
    raise(SIGINT);
    assert_true(hl_interrupts_pending());
    hl_interrupts_release(&interrupts); // takes it: this process lives on
    assert_false(hl_interrupts_pending());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_lie_at_their_alignment),
        cmocka_unit_test(a_library_that_is_missing_says_why),
        cmocka_unit_test(functions_are_found_by_name),
        cmocka_unit_test(time_passes),
        cmocka_unit_test(once_is_once),
        cmocka_unit_test(two_threads_take_turns),
        cmocka_unit_test(folders_list_what_is_in_them),
        cmocka_unit_test(programs_run_and_end),
        cmocka_unit_test(interrupts_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
