// SPDX-License-Identifier: Apache-2.0
// What the fakes of GPU APIs run their kernels with: positions, barriers and what is wrong about them, the object that
// the next compilation finds, a text that does not compile.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fakes/common/grid.h"

enum { SKIPPED = 77 };

static const char texts[] =
    "#include \"common/grid_kernel.h\"\n"
    "static void where(int *out, const int first)\n"
    "{\n"
    "    int x = grid_now.group.x * grid_now.group_size.x + grid_now.local.x;\n"
    "    int y = grid_now.group.y * grid_now.group_size.y + grid_now.local.y;\n"
    "    int z = grid_now.group.z * grid_now.group_size.z + grid_now.local.z;\n"
    "    int w = grid_now.groups.x * grid_now.group_size.x, h = grid_now.groups.y * grid_now.group_size.y;\n"
    "    out[(z * h + y) * w + x] += first + 100 * x + 10 * y + z;\n"
    "}\n"
    "GRID_KERNEL(where)\n"
    "static void reverse(int *values)\n"
    "{\n"
    "    GRID_SHARED int shared[64];\n"
    "    int i = grid_now.local.x, at = grid_now.group.x * 64;\n"
    "    for (int round = 0; round < 3; round++) {\n"
    "        shared[i] = values[at + i];\n"
    "        GRID_BARRIER();\n"
    "        values[at + i] = shared[63 - i] + 1;\n"
    "        GRID_BARRIER();\n"
    "    }\n"
    "}\n"
    "GRID_KERNEL(reverse)\n"
    "static void lacks(int *values)\n"
    "{\n"
    "    GRID_SHARED int shared[64];\n"
    "    shared[grid_now.local.x] = values[grid_now.local.x];\n"
    "    values[grid_now.local.x] = shared[63 - grid_now.local.x];\n"
    "}\n"
    "GRID_KERNEL(lacks)\n"
    "static void first_only() { if (grid_now.local.x == 0) GRID_BARRIER(); }\n"
    "GRID_KERNEL(first_only)\n"
    "static void all_but_first() { if (grid_now.local.x > 0) GRID_BARRIER(); }\n"
    "GRID_KERNEL(all_but_first)\n";

static const unsigned one[3] = {1, 1, 1}, row[3] = {64, 1, 1};

static grid_kernel find(const struct grid_module *module, const char *name)
{
    grid_kernel kernel = grid_find(module, name);
    assert_non_null(kernel);
    return kernel;
}

static void each_position_comes_once(void **state)
{
    const struct grid_module *module = *state;
    enum { W = 6, H = 6, D = 2 };
    int out[W * H * D] = {0}, *at = out, first = 1000;
    const unsigned groups[3] = {3, 2, 2}, size[3] = {2, 3, 1};
    assert_null(grid_run(module, find(module, "where"), groups, size, (void *[]){&at, &first}));
    for (int i = 0; i < W * H * D; i++) assert_int_equal(out[i], 1000 + 100 * (i % W) + 10 * (i / W % H) + i / W / H);
}

static void barriers_hold_all(void **state)
{
    const struct grid_module *module = *state;
    int values[192], *at = values;
    const unsigned groups[3] = {3, 1, 1};
    for (int i = 0; i < 192; i++) values[i] = i;
    assert_null(grid_run(module, find(module, "reverse"), groups, row, (void *[]){&at}));
    for (int i = 0; i < 192; i++) assert_int_equal(values[i], i / 64 * 64 + 63 - i % 64 + 3);
}

// Without its barrier a kernel must not look right.
static void a_missing_barrier_shows(void **state)
{
    const struct grid_module *module = *state;
    int values[64], *at = values, right = 0;
    for (int i = 0; i < 64; i++) values[i] = i + 1;
    assert_null(grid_run(module, find(module, "lacks"), one, row, (void *[]){&at}));
    for (int i = 0; i < 64; i++) right += values[i] == 64 - i;
    assert_true(right < 64);
}

static void a_barrier_for_some_is_refused(void **state)
{
    const struct grid_module *module = *state;
    const char *wrong = grid_run(module, find(module, "first_only"), one, row, NULL);
    assert_non_null(wrong);
    assert_non_null(strstr(wrong, "some work-items"));
    wrong = grid_run(module, find(module, "all_but_first"), one, row, NULL);
    assert_non_null(wrong);
    assert_non_null(strstr(wrong, "first work-item"));
    assert_non_null(grid_run(module, find(module, "lacks"), one, (const unsigned[3]){2048, 1, 1}, NULL));
}

static void the_next_compilation_finds_the_object(void **state)
{
    (void)state;
    char *log, *again, *path = grid_compile(texts, &log);
    assert_non_null(path);
    again = grid_compile(texts, &log);
    assert_string_equal(path, again);
    free(path);
    free(again);
    assert_null(grid_open("no/such/object.so"));
}

static void errors_come_back_as_text(void **state)
{
    (void)state;
    char *log, *path = grid_compile("int broken() { return no_such_word; }\n", &log);
    assert_null(path);
    assert_non_null(strstr(log, "no_such_word"));
    free(log);
}

int main(void)
{
    char *log, *path = grid_compile(texts, &log);
    if (!path && strstr(log, "did not run")) {
        printf("skipped: %s\n", log);
        free(log);
        return SKIPPED;
    }
    if (!path) fprintf(stderr, "%s\n", log);
    struct grid_module *module = path ? grid_open(path) : NULL;
    if (!module) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(each_position_comes_once, module),
        cmocka_unit_test_prestate(barriers_hold_all, module),
        cmocka_unit_test_prestate(a_missing_barrier_shows, module),
        cmocka_unit_test_prestate(a_barrier_for_some_is_refused, module),
        cmocka_unit_test(the_next_compilation_finds_the_object),
        cmocka_unit_test(errors_come_back_as_text),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    grid_close(module);
    free(path);
    return failed;
}
