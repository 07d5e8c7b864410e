// SPDX-License-Identifier: Apache-2.0
// gpu/backend/device_base.h: messages that name API and device, the refusal of lost devices, ranges, limits of waits,
// and the program cache behind gpu_backend.cache_load and cache_save.
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/backend/device_base.h"
#include "support/messages.h"

static struct gpu_device_base make_base(struct messages *messages)
{
    *messages = (struct messages){0};
    return (struct gpu_device_base){.api = "Made up", .caps.name = "Card", .reporter = {keep_message, messages}};
}

static void messages_name_api_and_device(void **state)
{
    (void)state;
    struct messages messages;
    struct gpu_device_base base = make_base(&messages);
    assert_false(gpu_device_fail(&base, "%s failed: %d", "call", 7));
    assert_string_equal(messages.last, "Made up on Card: call failed: 7");
    assert_null(gpu_device_no_memory(&base, "a buffer"));
    assert_string_equal(messages.last, "Made up on Card: out of memory for a buffer");
    char log[10000];
    memset(log, 'x', sizeof log);
    log[sizeof log - 1] = '\0';
    assert_false(gpu_device_fail(&base, "%s", log)); // is cut
    assert_in_range(strlen(messages.last), 6000, sizeof log - 1);
    assert_int_equal(messages.count, 3);
}

static void only_lost_devices_are_refused(void **state)
{
    (void)state;
    struct messages messages;
    struct gpu_device_base base = make_base(&messages);
    assert_true(gpu_device_is_alive(&base, "run"));
    assert_int_equal(messages.count, 0);
    base.lost = true;
    assert_false(gpu_device_is_alive(&base, "run"));
    assert_non_null(strstr(messages.last, "Made up on Card: cannot run: the device was lost earlier; "));
}

static void numbers_are_checked(void **state)
{
    (void)state;
    struct messages messages;
    struct gpu_device_base base = make_base(&messages);
    assert_true(gpu_device_exists("Made up", 1, 2, NULL, &base.reporter));
    assert_false(gpu_device_exists("Made up", 2, 2, NULL, &base.reporter));
    assert_string_equal(messages.last, "Made up has 2 devices, none with number 2");
    assert_false(gpu_device_exists("Made up", -1, 0, "no driver", &base.reporter));
    assert_string_equal(messages.last, "Made up has 0 devices, none with number -1: no driver");
}

static void ranges_are_checked(void **state)
{
    (void)state;
    struct messages messages;
    struct gpu_device_base base = make_base(&messages);
    assert_true(gpu_device_has_range(&base, 16, 0, 16, "reading"));
    assert_true(gpu_device_has_range(&base, 16, 16, 0, "reading"));
    assert_int_equal(messages.count, 0);
    assert_false(gpu_device_has_range(&base, 16, 1, 16, "reading"));
    assert_string_equal(messages.last, "Made up on Card: reading 16 bytes at 1 of a buffer of 16 bytes");
    assert_false(gpu_device_has_range(&base, 16, 17, 0, "reading"));
    assert_false(gpu_device_has_range(&base, 16, 8, SIZE_MAX, "reading"));
    assert_int_equal(messages.count, 3);
}

// Says that something is under way for so many questions.
static bool is_busy(void *about)
{
    int *left = about;
    return (*left)-- > 0;
}

static void waits_have_limits(void **state)
{
    (void)state;
    struct messages messages;
    struct gpu_device_base base = make_base(&messages), software = base;
    struct gpu_device *device = (struct gpu_device *)&base;
    software.caps.software = true;
    assert_true(gpu_device_wait_limit(&base) == UINT64_C(120000000000));
    assert_true(gpu_device_wait_limit(&software) == UINT64_C(3600000000000));
    assert_true(gpu_device_wait_spin(&base) > 0 && gpu_device_wait_spin(&software) == 0);
    int left = 10;
    assert_true(gpu_device_wait(&base, is_busy, &left) && left == -1);
    left = 10;
    assert_true(gpu_device_wait(&software, is_busy, &left) && left == -1); // sleeps between the questions
    assert_int_equal(messages.count, 0);
    gpu_device_set_wait_limit(device, UINT64_MAX);
    left = 10;
    assert_true(gpu_device_wait(&base, is_busy, &left));
    assert_false(base.lost || base.is_abandoned);
    gpu_device_set_wait_limit(device, 1000);
    left = INT_MAX;
    assert_false(gpu_device_wait(&base, is_busy, &left));
    assert_true(base.lost && base.is_abandoned);
    assert_int_equal(messages.count, 1);
    assert_string_equal(messages.last, "Made up on Card: a run has not ended in 1e-06 s, the limit of option "
                                       "wait_limit_ms, and what it uses stays allocated; the device is lost: delete "
                                       "the delegate and create it anew, with a higher limit if runs may take so long");
}

static void programs_come_back(void **state)
{
    (void)state;
    struct messages messages;
    struct gpu_device_base base = make_base(&messages);
    struct gpu_device *device = (struct gpu_device *)&base;
    void *bytes;
    size_t size, found_size;
    assert_true(gpu_device_load_programs(device, NULL, 0));
    void *binary = malloc(3);
    assert_non_null(binary);
    gpu_program_cache_add(&base.program_cache, 42, memcpy(binary, "abc", 3), 3);
    assert_true(gpu_device_save_programs(device, &bytes, &size));
    assert_non_null(bytes);
    assert_true(gpu_device_load_programs(device, bytes, size));
    const void *found = gpu_program_cache_find(&base.program_cache, 42, &found_size);
    assert_non_null(found);
    assert_int_equal(found_size, 3);
    assert_memory_equal(found, "abc", 3);
    assert_false(gpu_device_load_programs(device, bytes, size - 1));
    assert_string_equal(messages.last, "Made up on Card: the cached programs are not as they were written");
    gpu_program_cache_free(&base.program_cache);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_name_api_and_device),
        cmocka_unit_test(only_lost_devices_are_refused),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(ranges_are_checked),
        cmocka_unit_test(waits_have_limits),
        cmocka_unit_test(programs_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
