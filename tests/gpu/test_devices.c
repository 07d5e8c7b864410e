// SPDX-License-Identifier: Apache-2.0
// The choice of a device by text and by environment. What depends on the machine is only asked for what must hold on
// every machine; each case that needs another environment runs in a process of its own, since OpenCL is loaded once per
// process.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/backend/devices.h"
#include "gpu/backend/null.h"
#include "support/messages.h"

static bool choose(const char *text, struct messages *messages, struct gpu_device_info *chosen)
{
    struct hl_reporter reporter = {keep_message, messages};
    *messages = (struct messages){0};
    bool ok = gpu_device_choose(text, "", false, &reporter, chosen);
    assert_int_equal(messages->count, ok ? 0 : 1);
    return ok;
}

// Runs check in a child with one variable set: 0 from it is a pass.
static void in_child(const char *variable, const char *value, int (*check)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        unsetenv("HALITE_DEVICE");
        setenv(variable, value, 1);
        _exit(check());
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int opencl_refused_with(const char *words)
{
    struct messages messages = {0};
    struct hl_reporter reporter = {keep_message, &messages};
    struct gpu_device_info info;
    if (gpu_device_choose("opencl", "", false, &reporter, &info)) return 1;
    if (messages.count != 1 || !strstr(messages.last, words)) {
        fprintf(stderr, "%d messages: %s\n", messages.count, messages.last);
        return 2;
    }
    struct gpu_device_list list; // a list says why as well
    gpu_devices_find(&list);
    for (int i = 0; i < list.api_count; i++)
        if (strcmp(list.apis[i].name, "OpenCL") == 0)
            return list.apis[i].why && strstr(list.apis[i].why, words) ? 0 : 3;
    return 4;
}

static int check_no_library(void)
{
    return opencl_refused_with("HALITE_OPENCL_LIBRARY names does not open");
}

static int check_wrong_library(void)
{
    return opencl_refused_with("lacks functions of OpenCL 1.2");
}

// Must come before whatever loads OpenCL in this process.
static void without_a_library(void **state)
{
    (void)state;
    in_child("HALITE_OPENCL_LIBRARY", "/nowhere/libOpenCL.so.1", check_no_library);
    in_child("HALITE_OPENCL_LIBRARY", "libm.so.6", check_wrong_library);
}

static int check_environment(void)
{
    struct gpu_device_info info;
    if (!gpu_device_choose(NULL, "", false, NULL, &info) || strcmp(info.text, "null:0") != 0) return 1;
    if (!gpu_device_choose("", "", false, NULL, &info) || strcmp(info.text, "null:0") != 0) return 2;
    // A text of the caller's comes first.
    struct messages messages = {0};
    struct hl_reporter reporter = {keep_message, &messages};
    if (gpu_device_choose("null:7", "", false, &reporter, &info) || !strstr(messages.last, "device null:7")) return 3;
    if (gpu_device_choose("auto", "", false, &reporter, &info) && info.backend == &gpu_backend_null) return 4;
    return 0;
}

static int check_wrong_environment(void)
{
    struct messages messages = {0};
    struct hl_reporter reporter = {keep_message, &messages};
    struct gpu_device_info info;
    return gpu_device_choose(NULL, "", false, &reporter, &info) || messages.count != 1 ||
           !strstr(messages.last, "HALITE_DEVICE=gpu");
}

static void by_environment(void **state)
{
    (void)state;
    in_child("HALITE_DEVICE", "null", check_environment);
    in_child("HALITE_DEVICE", "gpu", check_wrong_environment);
}

static void by_name(void **state)
{
    (void)state;
    struct messages messages;
    struct gpu_device_info info;
    assert_true(choose("null", &messages, &info));
    assert_ptr_equal(info.backend, &gpu_backend_null);
    assert_true(choose("null:0", &messages, &info));
    assert_int_equal(info.index, 0);
    assert_string_equal(info.text, "null:0");
    assert_false(choose("null:1", &messages, &info));
    assert_non_null(strstr(messages.last, "null:1: there is no such device, only null:0 (Null)"));
    static const char *const wrong_numbers[] = {"null:", "null:x", "null:-1", "opencl:1x", "null:99999", "opencl: 1"};
    for (size_t i = 0; i < sizeof wrong_numbers / sizeof *wrong_numbers; i++) {
        assert_false(choose(wrong_numbers[i], &messages, &info));
        assert_non_null(strstr(messages.last, "no number of a device"));
    }
    static const char *const unknown[] = {"cuda9", "gl", "gles3", "nul", "nulll", ":0", "opencl1", "OpenCL", "auto:0"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_false(choose(unknown[i], &messages, &info));
        assert_non_null(strstr(messages.last, "known are auto, opencl, vulkan, gles, metal, cuda, null"));
    }
    assert_false(choose("opencl:9999", &messages, &info));
    assert_non_null(strstr(messages.last, "opencl:9999"));
#if !defined(HALITE_GPU_VULKAN)
    assert_false(choose("vulkan", &messages, &info));
    assert_non_null(strstr(messages.last, "not in this build"));
#endif
}

static void a_backend_that_is_demanded(void **state)
{
    (void)state;
    static const struct {
        const char *text, *only, *message;
    } cases[] = {
        {"null", "opencl", "device null: the options demand the backend opencl"},
        {"opencl:0", "vulkan", "device opencl:0: the options demand the backend vulkan"},
        {"auto", "webgpu", "the options demand the backend webgpu. No GPU found."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct messages messages = {0};
        struct hl_reporter reporter = {keep_message, &messages};
        struct gpu_device_info info;
        assert_false(gpu_device_choose(cases[i].text, cases[i].only, i % 2, &reporter, &info));
        assert_int_equal(messages.count, 1);
        assert_string_equal(messages.last, cases[i].message);
    }
    // Software does not count, though nothing else may be taken.
    struct messages messages = {0};
    struct hl_reporter reporter = {keep_message, &messages};
    struct gpu_device_info info;
    if (gpu_device_choose("auto", "gles", false, &reporter, &info)) {
        assert_ptr_equal(info.backend, &gpu_backend_gles);
        assert_false(info.caps.software);
    } else {
        const char *says = "the options demand the backend gles. No GPU found by OpenGL ES";
        assert_memory_equal(messages.last, says, strlen(says));
    }
    assert_true(gpu_device_choose("null", "null", false, NULL, &info));
}

// On every machine: a list names only devices that can be chosen, "auto" never takes a software device, and where it
// takes none its message says how to have one.
static void what_this_machine_has(void **state)
{
    (void)state;
    struct messages messages;
    struct gpu_device_info info;
    struct gpu_device_list list;
    gpu_devices_find(&list);
    for (int i = 0; i < list.count; i++) {
        assert_true(choose(list.devices[i].text, &messages, &info));
        assert_ptr_equal(info.backend, list.devices[i].backend);
        assert_string_equal(info.why, "");
        assert_int_equal(info.index, list.devices[i].index);
        assert_string_equal(info.caps.name, list.devices[i].caps.name);
        assert_ptr_not_equal(info.backend, &gpu_backend_null);
        print_message("%s: %s, %s\n", list.devices[i].text, info.caps.name, info.caps.driver);
    }
    char why[GPU_REASON_BYTES];
    const struct gpu_device_info *best = gpu_devices_auto(&list, why);
    print_message("auto: %s: %s\n", best ? best->text : "none", why);
    if (choose("auto", &messages, &info)) {
        assert_non_null(best);
        assert_string_equal(info.text, best->text);
        assert_false(info.caps.software);
        assert_string_equal(info.why, why);
    } else {
        assert_null(best);
        assert_string_equal(messages.last, why);
        assert_memory_equal(why, "No GPU found by ", 16);
        for (int i = 0; i < list.api_count; i++) assert_non_null(strstr(why, list.apis[i].name));
        for (int i = 0; i < list.count; i++) assert_non_null(strstr(why, list.devices[i].text));
        assert_non_null(strstr(why, list.count ? "--device " : list.apis[0].why));
    }
}

static void add(struct gpu_device_list *list, const char *text, bool software, bool integrated, int rank,
                uint64_t memory)
{
    struct gpu_device_info *info = &list->devices[list->count++];
    *info = (struct gpu_device_info){.api = "Made up", .rank = rank};
    info->caps = (struct gpu_caps){.software = software, .integrated = integrated, .memory = memory};
    snprintf(info->text, sizeof info->text, "%s", text);
}

static void the_fastest_of_many(void **state)
{
    (void)state;
    enum { GIB = 1 << 30 };
    static const struct {
        const char *text;
        bool software, integrated;
        int rank;
        uint64_t memory;
        const char *best, *why; // with this one among them
    } steps[] = {
        {"soft:0", true, false, 9, (uint64_t)99 * GIB, NULL,
         "No GPU found, only software: soft:0. To run on software, name it: HALITE_DEVICE=soft:0, or --device soft:0 "
         "of halite."},
        {"late:0", false, false, -1, (uint64_t)99 * GIB, "late:0", "the only real GPU"},
        {"two:0", false, true, 2, (uint64_t)50 * GIB, "two:0", "the only real GPU"},
        {"one:0", false, false, 1, (uint64_t)2 * GIB, "one:0",
         "before two:0, since it does not share the CPU's memory"},
        {"one:1", false, false, 1, (uint64_t)8 * GIB, "one:1", "before one:0, since it has more memory"},
        {"one:2", false, false, 1, (uint64_t)8 * GIB, "one:1", "the first of equals"},
        {"two:1", false, false, 2, (uint64_t)1 * GIB, "two:1", "before one:1, since its API starts kernels faster"},
    };
    struct gpu_device_list list = {.count = 0};
    char why[GPU_REASON_BYTES];
    assert_null(gpu_devices_auto(&list, why));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        add(&list, steps[i].text, steps[i].software, steps[i].integrated, steps[i].rank, steps[i].memory);
        const struct gpu_device_info *best = gpu_devices_auto(&list, why);
        if (steps[i].best)
            assert_string_equal(best->text, steps[i].best);
        else
            assert_null(best);
        assert_string_equal(why, steps[i].why);
    }
}

int main(void)
{
    unsetenv("HALITE_DEVICE");
    unsetenv("HALITE_GPU_NULL_FAIL");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_library),
        cmocka_unit_test(by_environment),
        cmocka_unit_test(by_name),
        cmocka_unit_test(a_backend_that_is_demanded),
        cmocka_unit_test(what_this_machine_has),
        cmocka_unit_test(the_fastest_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
