// SPDX-License-Identifier: Apache-2.0
// Whether a GPU is worth it: the rules on devices that are made up here, and the whole answer on those of this machine.
// The environment is changed in processes of their own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/delegate/compatibility.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

// What a real GPU says of itself.
static HaliteDevice real_gpu(void)
{
    return (HaliteDevice){.name = "vulkan:0",
                          .api = "Vulkan",
                          .description = "Some GPU 100",
                          .driver = "driver 550.54",
                          .half_storage = true,
                          .memory = (uint64_t)8 << 30,
                          .max_buffer = (uint64_t)2 << 30,
                          .max_group_size = 1024,
                          .shared_memory = 49152};
}

static char text[256];

static HaliteCompatibilityDevice judge(const HaliteDevice *device)
{
    return gpu_compatibility_judge(device, false, text, sizeof text);
}

static void real_gpu_is_worth_it(void **state)
{
    (void)state;
    HaliteDevice device = real_gpu();
    HaliteCompatibilityDevice verdict = judge(&device);
    assert_true(verdict.is_worth_it);
    assert_string_equal(verdict.reason, "");
    assert_ptr_equal(verdict.device, &device);
    assert_int_equal(verdict.precision, kHaliteGpuPrecisionF16S);
}

// The name decides nothing: the same device is worth it where its driver does not call it software.
static void software_is_not(void **state)
{
    (void)state;
    HaliteDevice device = real_gpu();
    device.is_software = true;
    HaliteCompatibilityDevice verdict = judge(&device);
    assert_false(verdict.is_worth_it);
    assert_non_null(strstr(verdict.reason, "software"));
    verdict = gpu_compatibility_judge(&device, true, text, sizeof text);
    assert_true(verdict.is_worth_it);
}

static void device_without_half_floats_takes_floats(void **state)
{
    (void)state;
    HaliteDevice device = real_gpu();
    device.half_storage = false;
    HaliteCompatibilityDevice verdict = judge(&device);
    assert_true(verdict.is_worth_it);
    assert_int_equal(verdict.precision, kHaliteGpuPrecisionF32);
    assert_non_null(strstr(verdict.precision_reason, "no half floats"));
}

static void too_small_a_device_is_not(void **state)
{
    (void)state;
    HaliteDevice device = real_gpu();
    device.max_group_size = 32;
    device.shared_memory = 8192;
    HaliteCompatibilityDevice verdict = judge(&device);
    assert_false(verdict.is_worth_it);
    assert_non_null(strstr(verdict.reason, "at most 32 work-items"));
    assert_non_null(strstr(verdict.reason, "; "));
    assert_non_null(strstr(verdict.reason, "8192 bytes"));
}

static void known_problem_of_a_driver_is_told(void **state)
{
    (void)state;
    HaliteDevice device = real_gpu();
    device.api = "OpenCL";
    device.description = "NVIDIA GeForce";
    device.driver = "OpenCL 3.0 CUDA, driver 470.57";
    assert_false(judge(&device).is_worth_it);
    assert_non_null(strstr(text, "mul_hi"));
    device.driver = "OpenCL 3.0 CUDA, driver 550.54";
    assert_true(judge(&device).is_worth_it);
}

static void reason_is_cut_to_its_room(void **state)
{
    (void)state;
    HaliteDevice device = real_gpu();
    device.is_software = true;
    device.max_group_size = device.shared_memory = 1;
    char small[16];
    HaliteCompatibilityDevice verdict = gpu_compatibility_judge(&device, false, small, sizeof small);
    assert_false(verdict.is_worth_it);
    assert_int_equal(strlen(small), sizeof small - 1);
}

// ---- this machine -------------------------------------------------------------------------------

static int in_child(const char *variable, const char *value, int (*check)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        unsetenv("HALITE_DEVICE");
        unsetenv("HALITE_COMPATIBILITY");
        if (variable != NULL) setenv(variable, value, 1);
        _exit(check());
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// The answer, the devices' verdicts and the list of devices say the same. 0: they do.
static int agrees_with_devices(void)
{
    HaliteCompatibility *found = HaliteCompatibilityCreate(NULL);
    HaliteDeviceList *list = HaliteDeviceListCreate();
    const HaliteGpuDelegateOptions *best = HaliteCompatibilityGetBestOptions(found);
    int count = HaliteCompatibilityGetDeviceCount(found), worthy = 0, wrong = 0;
    if (count != HaliteDeviceListGetCount(list)) wrong = 1;
    for (int i = 0; i < count; i++) {
        const HaliteCompatibilityDevice *verdict = HaliteCompatibilityGetDevice(found, i);
        if (verdict->is_worth_it) worthy++;
        if (verdict->is_worth_it && verdict->device->is_software) wrong = 2;
        if (verdict->is_worth_it != (verdict->reason[0] == '\0')) wrong = 3;
    }
    if (HaliteCompatibilityIsGpuWorthIt(found) != (worthy > 0) || (best != NULL) != (worthy > 0)) wrong = 4;
    if (HaliteDeviceListGetAuto(list) < 0 && worthy > 0) wrong = 5;
    if (HaliteCompatibilityGetReason(found)[0] == '\0') wrong = 6;
    if (HaliteCompatibilityGetBestThreads(found) < 1 || HaliteCompatibilityGetBestThreads(found) > 4) wrong = 7;
    if (HaliteCompatibilityGetDevice(found, count) != NULL || HaliteCompatibilityGetDevice(found, -1) != NULL)
        wrong = 8;
    HaliteDeviceListDelete(list);
    HaliteCompatibilityDelete(found);
    return wrong;
}

// With software allowed the best device is one that a delegate can be made for.
static int software_counts(void)
{
    HaliteCompatibility *found = HaliteCompatibilityCreate(NULL);
    const HaliteGpuDelegateOptions *best = HaliteCompatibilityGetBestOptions(found);
    int wrong = 0;
    if ((HaliteCompatibilityGetDeviceCount(found) > 0) != HaliteCompatibilityIsGpuWorthIt(found)) wrong = 1;
    if (best != NULL) {
        TfLiteDelegate *delegate = HaliteGpuDelegateCreate(best);
        if (delegate == NULL || best->struct_size != sizeof *best) wrong = 2;
        TfLiteGpuDelegateV2Delete(delegate);
    }
    HaliteCompatibilityDelete(found);
    return wrong;
}

static int none_is_worth_it(void)
{
    HaliteCompatibilityOptions options = {.struct_size = sizeof options, .allow_software = true};
    HaliteCompatibility *found = HaliteCompatibilityCreate(&options);
    int wrong = HaliteCompatibilityIsGpuWorthIt(found) || HaliteCompatibilityGetBestOptions(found) != NULL;
    if (strstr(HaliteCompatibilityGetReason(found), "HALITE_COMPATIBILITY") == NULL) wrong = 2;
    HaliteCompatibilityDelete(found);
    return wrong;
}

// HALITE_DEVICE names the null device, which computes nothing.
static int named_device_alone_is_judged(void)
{
    HaliteCompatibility *found = HaliteCompatibilityCreate(NULL);
    int wrong = HaliteCompatibilityGetDeviceCount(found) != 1 || HaliteCompatibilityIsGpuWorthIt(found);
    if (wrong == 0 && strcmp(HaliteCompatibilityGetDevice(found, 0)->device->name, "null:0") != 0) wrong = 2;
    HaliteCompatibilityDelete(found);
    return wrong;
}

static int missing_device_is_told(void)
{
    HaliteCompatibilityOptions options = {.struct_size = sizeof options, .device = "opencl:99"};
    HaliteCompatibility *found = HaliteCompatibilityCreate(&options);
    int wrong = HaliteCompatibilityGetDeviceCount(found) != 0 || HaliteCompatibilityIsGpuWorthIt(found);
    if (strstr(HaliteCompatibilityGetReason(found), "opencl") == NULL &&
        strstr(HaliteCompatibilityGetReason(found), "OpenCL") == NULL)
        wrong = 2;
    HaliteCompatibilityDelete(found);
    return wrong;
}

static void this_machine(void **state)
{
    (void)state;
    assert_int_equal(in_child(NULL, NULL, agrees_with_devices), 0);
    assert_int_equal(in_child("HALITE_COMPATIBILITY", "software", software_counts), 0);
    assert_int_equal(in_child("HALITE_COMPATIBILITY", "none", none_is_worth_it), 0);
    assert_int_equal(in_child("HALITE_DEVICE", "null", named_device_alone_is_judged), 0);
    assert_int_equal(in_child(NULL, NULL, missing_device_is_told), 0);
}

static void nothing_and_too_old_options(void **state)
{
    (void)state;
    HaliteCompatibilityOptions old = {.struct_size = 4};
    assert_null(HaliteCompatibilityCreate(&old));
    HaliteCompatibilityDelete(NULL);
    assert_false(HaliteCompatibilityIsGpuWorthIt(NULL));
    assert_string_equal(HaliteCompatibilityGetReason(NULL), "");
    assert_null(HaliteCompatibilityGetBestOptions(NULL));
    assert_int_equal(HaliteCompatibilityGetBestThreads(NULL), 1);
    assert_int_equal(HaliteCompatibilityGetDeviceCount(NULL), 0);
    assert_null(HaliteCompatibilityGetDevice(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_gpu_is_worth_it),
        cmocka_unit_test(software_is_not),
        cmocka_unit_test(device_without_half_floats_takes_floats),
        cmocka_unit_test(too_small_a_device_is_not),
        cmocka_unit_test(known_problem_of_a_driver_is_told),
        cmocka_unit_test(reason_is_cut_to_its_room),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(nothing_and_too_old_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
