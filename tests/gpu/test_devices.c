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

struct messages {
    int count;
    char last[4096];
};

static void keep(void *user_data, const char *format, va_list args)
{
    struct messages *messages = user_data;
    messages->count++;
    vsnprintf(messages->last, sizeof messages->last, format, args);
}

static bool choose(const char *text, struct messages *messages, struct gpu_device_info *chosen)
{
    struct hl_reporter reporter = {keep, messages};
    *messages = (struct messages){0};
    bool ok = gpu_device_choose(text, &reporter, chosen);
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
    struct hl_reporter reporter = {keep, &messages};
    struct gpu_device_info info;
    if (gpu_device_choose("opencl", &reporter, &info)) return 1;
    if (messages.count != 1 || !strstr(messages.last, words)) {
        fprintf(stderr, "%d messages: %s\n", messages.count, messages.last);
        return 2;
    }
    struct gpu_device_list list; // a list says why as well
    gpu_devices_find(&list);
    for (int i = 0; i < list.missing_count; i++)
        if (strstr(list.missing[i].why, words) && strcmp(list.missing[i].name, "OpenCL") == 0) return 0;
    return 3;
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
    if (!gpu_device_choose(NULL, NULL, &info) || strcmp(info.text, "null:0") != 0) return 1;
    if (!gpu_device_choose("", NULL, &info) || strcmp(info.text, "null:0") != 0) return 2;
    // A text of the caller's comes first.
    struct messages messages = {0};
    struct hl_reporter reporter = {keep, &messages};
    if (gpu_device_choose("null:7", &reporter, &info) || !strstr(messages.last, "device null:7")) return 3;
    if (gpu_device_choose("auto", &reporter, &info) && info.backend == &gpu_backend_null) return 4;
    return 0;
}

static int check_wrong_environment(void)
{
    struct messages messages = {0};
    struct hl_reporter reporter = {keep, &messages};
    struct gpu_device_info info;
    return gpu_device_choose(NULL, &reporter, &info) || messages.count != 1 ||
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
    static const char *const unknown[] = {"cuda9", "nul", "nulll", ":0", "opencl1", "OpenCL", "auto:0"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_false(choose(unknown[i], &messages, &info));
        assert_non_null(strstr(messages.last, "known are auto, opencl, vulkan, null"));
    }
    assert_false(choose("opencl:9999", &messages, &info));
    assert_non_null(strstr(messages.last, "opencl:9999"));
#if !defined(HALITE_GPU_VULKAN)
    assert_false(choose("vulkan", &messages, &info));
    assert_non_null(strstr(messages.last, "not in this build"));
#endif
}

static void opens_what_it_chose(void **state)
{
    (void)state;
    const struct gpu_backend *backend = NULL;
    struct gpu_device *device = gpu_device_open("null", NULL, &backend);
    assert_non_null(device);
    assert_ptr_equal(backend, &gpu_backend_null);
    assert_string_equal(backend->caps(device)->name, "Null");
    backend->close(device);
    struct messages messages = {0};
    struct hl_reporter reporter = {keep, &messages};
    assert_null(gpu_device_open("null:3", &reporter, &backend));
    assert_int_equal(messages.count, 1);
    assert_int_equal(gpu_null_live(), 0);
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
        assert_int_equal(info.index, list.devices[i].index);
        assert_string_equal(info.caps.name, list.devices[i].caps.name);
        assert_ptr_not_equal(info.backend, &gpu_backend_null);
        print_message("%s: %s, %s\n", list.devices[i].text, info.caps.name, info.caps.driver);
    }
    for (int i = 0; i < list.missing_count; i++) print_message("%s: %s\n", list.missing[i].name, list.missing[i].why);
    const struct gpu_device_info *fastest = gpu_devices_fastest(&list);
    if (choose("auto", &messages, &info)) {
        assert_non_null(fastest);
        assert_string_equal(info.text, fastest->text);
        assert_false(info.caps.software);
    } else {
        assert_null(fastest);
        print_message("%s\n", messages.last);
        assert_non_null(strstr(messages.last, "No GPU found. "));
        for (int i = 0; i < list.missing_count; i++) assert_non_null(strstr(messages.last, list.missing[i].why));
        for (int i = 0; i < list.count; i++) assert_non_null(strstr(messages.last, list.devices[i].caps.name));
        if (list.count) assert_non_null(strstr(messages.last, "name it with HALITE_DEVICE="));
    }
}

static struct gpu_device_info made_up(enum gpu_vendor vendor, int rank, int units, const char *text)
{
    struct gpu_device_info info = {.rank = rank};
    info.caps = (struct gpu_caps){.vendor = vendor, .software = vendor == GPU_VENDOR_SOFTWARE, .compute_units = units};
    snprintf(info.text, sizeof info.text, "%s", text);
    return info;
}

static void the_fastest_of_many(void **state)
{
    (void)state;
    struct gpu_device_list list = {.count = 1};
    assert_null(gpu_devices_fastest(&(struct gpu_device_list){.count = 0}));
    list.devices[0] = made_up(GPU_VENDOR_SOFTWARE, 9, 1000, "software");
    assert_null(gpu_devices_fastest(&list));
    list.devices[list.count++] = made_up(GPU_VENDOR_INTEL, 2, 96, "intel");
    assert_string_equal(gpu_devices_fastest(&list)->text, "intel");
    list.devices[list.count++] = made_up(GPU_VENDOR_NVIDIA, 1, 20, "small opencl");
    assert_string_equal(gpu_devices_fastest(&list)->text, "small opencl");
    list.devices[list.count++] = made_up(GPU_VENDOR_NVIDIA, 1, 132, "large opencl");
    list.devices[list.count++] = made_up(GPU_VENDOR_NVIDIA, 1, 132, "second large opencl");
    assert_string_equal(gpu_devices_fastest(&list)->text, "large opencl");
    list.devices[list.count++] = made_up(GPU_VENDOR_NVIDIA, 2, 0, "vulkan");
    assert_string_equal(gpu_devices_fastest(&list)->text, "vulkan");
}

int main(void)
{
    unsetenv("HALITE_DEVICE");
    unsetenv("HALITE_GPU_NULL_FAIL");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_library),
        cmocka_unit_test(by_environment),
        cmocka_unit_test(by_name),
        cmocka_unit_test(opens_what_it_chose),
        cmocka_unit_test(what_this_machine_has),
        cmocka_unit_test(the_fastest_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
