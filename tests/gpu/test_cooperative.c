// SPDX-License-Identifier: Apache-2.0
// The check that a device's products of fragments pass before plans use them. Vulkan's device stands for one that
// computes well, with plain code if it has no cooperative matrices. The others are made of it: their memory loses what
// a driver's mistakes lose.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "gpu/backend_bench.h"
#include "gpu/ops/cooperative.h"

static const struct gpu_backend *vulkan;
static struct gpu_caps seen;
static struct gpu_device *device;
static struct messages messages;
static const struct hl_reporter reporter = {keep_message, &messages};
static int writes, drops;

static const struct gpu_caps *seen_caps(const struct gpu_device *own)
{
    (void)own;
    return &seen;
}

static void drop(struct gpu_device *own)
{
    (void)own;
    seen.fragment_forms = 0;
    drops++;
}

// Numbers of x, the first buffer that is written, lose what a half does not hold.
static bool write_halves(struct gpu_device *own, struct gpu_buffer *buffer, size_t offset, const void *from,
                         size_t bytes)
{
    float *values = malloc(bytes);
    assert_non_null(values);
    memcpy(values, from, bytes);
    for (size_t i = 0; i < bytes / sizeof *values && writes == 0; i++)
        values[i] = hl_half_to_float(hl_half_from_float(values[i]));
    writes++;
    bool written = vulkan->buffer_write(own, buffer, offset, values, bytes);
    free(values);
    return written;
}

// The last one of the results is another one.
static float last_factor;
static bool read_changed(struct gpu_device *own, struct gpu_buffer *buffer, size_t offset, void *to, size_t bytes)
{
    if (!vulkan->buffer_read(own, buffer, offset, to, bytes)) return false;
    ((float *)to)[bytes / sizeof(float) - 1] *= last_factor;
    return true;
}

static bool create_none(struct gpu_device *own, const struct gpu_program_desc *descs, int count,
                        struct gpu_program **programs)
{
    (void)own, (void)descs, (void)count, (void)programs;
    hl_report(&reporter, "no program");
    return false;
}

static struct gpu_backend begin_device(enum gpu_precision precision)
{
    struct gpu_backend backend = *vulkan;
    memset(&messages, 0, sizeof messages);
    writes = drops = 0;
    backend.caps = seen_caps;
    backend.drop_fragments = drop;
    seen = *vulkan->caps(device);
    seen.fragment_forms = 1u << (precision == GPU_F16 ? MATRIX_HALVES : MATRIX_SPLIT);
    return backend;
}

static void expect_kept(const struct gpu_backend *backend, enum gpu_precision precision)
{
    gpu_cooperative_check(backend, device, precision, &reporter);
    assert_int_equal(messages.count, 0);
    assert_int_equal(drops, 0);
}

static void expect_dropped(const struct gpu_backend *backend, enum gpu_precision precision, const char *word)
{
    gpu_cooperative_check(backend, device, precision, &reporter);
    assert_int_equal(messages.count, 1);
    assert_non_null(strstr(messages.last, word));
    assert_int_equal(drops, 1);
    assert_int_equal(seen.fragment_forms, 0);
}

static void right_products_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        enum gpu_precision precision = i == 0 ? GPU_F32 : GPU_F16;
        struct gpu_backend backend = begin_device(precision);
        expect_kept(&backend, precision);
    }
}

static void lost_second_halves_are_found(void **state)
{
    (void)state;
    struct gpu_backend backend = begin_device(GPU_F32);
    backend.buffer_write = write_halves;
    expect_dropped(&backend, GPU_F32, "wrong products");
    backend = begin_device(GPU_F16);
    backend.buffer_write = write_halves;
    expect_kept(&backend, GPU_F16);
}

static void one_wrong_sum_is_found(void **state)
{
    (void)state;
    static const float factors[] = {0, 1.5f, NAN};
    for (size_t i = 0; i < 2 * sizeof factors / sizeof *factors; i++) {
        enum gpu_precision precision = i % 2 ? GPU_F32 : GPU_F16;
        struct gpu_backend backend = begin_device(precision);
        backend.buffer_read = read_changed;
        last_factor = factors[i / 2];
        expect_dropped(&backend, precision, "wrong products");
    }
}

static void a_kernel_that_does_not_compile_is_no_product(void **state)
{
    (void)state;
    struct gpu_backend backend = begin_device(GPU_F32);
    backend.programs_create = create_none;
    expect_dropped(&backend, GPU_F32, "no program");
}

static void a_form_that_no_plan_uses_is_not_checked(void **state)
{
    (void)state;
    struct gpu_backend backend = begin_device(GPU_F32);
    backend.programs_create = create_none;
    expect_kept(&backend, GPU_F16);
}

static int close_device(void **state)
{
    (void)state;
    vulkan->close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_products_are_kept),
        cmocka_unit_test(lost_second_halves_are_found),
        cmocka_unit_test(one_wrong_sum_is_found),
        cmocka_unit_test(a_kernel_that_does_not_compile_is_no_product),
        cmocka_unit_test(a_form_that_no_plan_uses_is_not_checked),
    };
    struct gpu_device_info info;
    if (!gpu_device_choose("vulkan", "", false, NULL, &info)) return 77; // a message says why
    vulkan = info.backend;
    device = vulkan->open(info.index, NULL);
    return device ? cmocka_run_group_tests(tests, NULL, close_device) : 1;
}
