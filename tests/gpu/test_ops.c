// SPDX-License-Identifier: Apache-2.0
// The op table of the GPU delegate on one device, in every precision that it has:
//     test_ops DEVICE [FAMILY [ROWS]] [--bench]   DEVICE: opencl, vulkan:0 …; ROWS: a part of rows' names
// Ends with 77 where there is no such device. With --bench it also prints each row's time on the CPU and on the device.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/backend/devices.h"
#include "gpu/check_plan.h"
#include "gpu/op_case.h"
#include "support/bench.h"

static const struct op_family *const families[] = {
#define OP_FAMILY(name) &op_family_##name,
    OP_FAMILIES(OP_FAMILY)
#undef OP_FAMILY
};
enum { FAMILIES = sizeof families / sizeof *families, MAX_RUNS = FAMILIES * (2 * GPU_PRECISIONS + 2) };

// ---- a device that passes for a large one -------------------------------------------------------

static struct {
    bool wanted;
    struct gpu_backend backend; // the real one, but for its caps
    struct gpu_caps caps;
} large;

static const struct gpu_caps *large_caps(const struct gpu_device *device)
{
    (void)device;
    return &large.caps;
}

bool __real_gpu_device_choose(const char *text, const char *only, bool sustained, const struct hl_reporter *reporter,
                              struct gpu_device_info *chosen);
bool __wrap_gpu_device_choose(const char *text, const char *only, bool sustained, const struct hl_reporter *reporter,
                              struct gpu_device_info *chosen);
bool __wrap_gpu_device_choose(const char *text, const char *only, bool sustained, const struct hl_reporter *reporter,
                              struct gpu_device_info *chosen)
{
    if (!__real_gpu_device_choose(text, only, sustained, reporter, chosen)) return false;
    if (!large.wanted) return true;
    large.backend = *chosen->backend;
    large.caps = chosen->caps;
    large.caps.vendor = GPU_VENDOR_NVIDIA;
    large.caps.compute_units = 132;
    large.backend.caps = large_caps;
    chosen->backend = &large.backend;
    return true;
}

// ---- one family, one precision ------------------------------------------------------------------

struct run {
    const struct op_family *family;
    const char *device, *only;
    enum gpu_precision precision;
    bool large, exact;
};

static void test_family(void **state)
{
    const struct run *run = *state;
    large.wanted = run->large;
    int plans = check_plan_count();
    const struct op_target target = {run->exact ? &op_target_exact : &op_target_gpu, run->device, run->precision};
    op_family_run(run->family, &target, run->only);
    assert_true(check_plan_count() > plans);
    if (bench_wanted) op_family_bench(run->family, &target, run->only);
}

// The families with rows that a device computes in integers; as a large one, too, which divides sums otherwise.
static bool has_codes(const struct op_family *family)
{
    bool some = false;
    for (const struct op_case *row = family->cases; row->name; row++) some = some || !op_target_exact.leaves_out(row);
    return some;
}

static int run_all(const struct gpu_device_info *info, const char *device, const char *family, const char *only)
{
    static const char *const names[] = {"f32", "f16s", "f16"};
    static struct run runs[MAX_RUNS];
    static char titles[MAX_RUNS][64];
    static struct CMUnitTest tests[MAX_RUNS];
    int count = 0;
    for (int f = 0; f < FAMILIES; f++) {
        if (family && strcmp(families[f]->name, family) != 0) continue;
        for (int as_large = 0; as_large < 2 && has_codes(families[f]); as_large++) {
            runs[count] = (struct run){families[f], device, only, GPU_F32, as_large, true};
            snprintf(titles[count], sizeof titles[count], "%s in integers%s", families[f]->name,
                     as_large ? " as a large device" : "");
            tests[count] = (struct CMUnitTest){
                .name = titles[count],
                .test_func = test_family,
                .initial_state = &runs[count],
            };
            count++;
        }
        for (int precision = GPU_F32; precision < GPU_PRECISIONS; precision++) {
            if (precision == GPU_F16S && !info->caps.half_storage) continue;
            if (precision == GPU_F16 && !info->caps.half_math) continue;
            // Where blocks depend on the device: all precisions as a large one, and floats as it is.
            for (int as_large = 0; as_large < 2; as_large++) {
                if (families[f]->by_device ? !as_large && precision != GPU_F32 : as_large) continue;
                runs[count] = (struct run){families[f], device, only, (enum gpu_precision)precision, as_large, false};
                snprintf(titles[count], sizeof titles[count], "%s %s%s", families[f]->name, names[precision],
                         as_large ? " as a large device" : "");
                tests[count] = (struct CMUnitTest){
                    .name = titles[count],
                    .test_func = test_family,
                    .initial_state = &runs[count],
                };
                count++;
            }
        }
    }
    if (count == 0) {
        fprintf(stderr, "there is no family %s\n", family);
        return EXIT_FAILURE;
    }
    return _cmocka_run_group_tests("ops", tests, (size_t)count, NULL, NULL);
}

// The Khronos layer, with its checks of synchronization: what it says fails the table like any other message.
static void note_missing_layer(void *missing, const char *format, va_list args)
{
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    if (strstr(text, "there is no VK_LAYER")) *(bool *)missing = true;
}

static void ask_for_validation(const struct gpu_device_info *info)
{
    if (bench_wanted || strcmp(info->backend->name, "vulkan") != 0) return; // its checks take most of the time
    bool missing = false;
    const struct hl_reporter reporter = {note_missing_layer, &missing};
    setenv("HALITE_VULKAN_VALIDATION", "1", 0);
    info->backend->close(info->backend->open(info->index, &reporter));
    if (!missing) return;
    print_message("without validation: the layer is not installed\n");
    setenv("HALITE_VULKAN_VALIDATION", "0", 1);
}

int main(int argc, char **argv)
{
    bench_read_flags(argc, argv);
    if (bench_wanted && strcmp(argv[argc - 1], "--bench") == 0) argc--;
    if (argc < 2) {
        fprintf(stderr, "usage: test_ops DEVICE [FAMILY [ROWS]] [--bench]\n");
        return EXIT_FAILURE;
    }
    struct gpu_device_info info;
    if (!gpu_device_choose(argv[1], "", false, NULL, &info)) return 77; // after a message
    ask_for_validation(&info);
    return run_all(&info, argv[1], argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
}
