// SPDX-License-Identifier: Apache-2.0
// The blocks that convolutions are cut into for a large GPU: every block computes the same (test_ops.c), here only that
// it can run and wastes no registers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/ops/matrix.h"
#include "gpu/ops/window.h"
#include "gpu/ops/winograd.h"

static const struct gpu_caps caps = {.vendor = GPU_VENDOR_NVIDIA,
                                     .compute_units = 132,
                                     .max_group_size = 1024,
                                     .shared_bytes = 49152,
                                     .max_group = {1024, 1024, 64},
                                     .max_groups = {65535, 65535, 65535}};

static void test_blocks(void **state)
{
    (void)state;
    static const struct gpu_conv_size sizes[] = {
        {12544, 8, 9, 1, 0},    {12544, 16, 8, 8, 0},   {3136, 32, 16, 16, 0}, {3136, 32, 32, 32, 0},
        {784, 64, 32, 32, 0},   {784, 64, 64, 64, 0},   {196, 128, 64, 64, 0}, {196, 128, 128, 128, 0},
        {49, 256, 128, 128, 0}, {49, 256, 256, 256, 0}, {1, 251, 256, 256, 0}, {802816, 16, 8, 8, 0},
        {3136, 16, 144, 16, 0}, {784, 32, 288, 32, 0},  {196, 64, 576, 64, 0}, {49, 128, 1152, 128, 0},
        {1, 1, 1, 1, 0},        {7, 3, 1, 1, 0},        {12544, 8, 9, 0, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct gpu_conv_block block = gpu_choose_block(&caps, &sizes[i], NULL, 0);
        int size = block.group[0] * block.group[1] * block.group[2];
        int across = block.positions * block.group[0], down = block.slices * block.group[1];
        int groups = ((int)sizes[i].positions + across - 1) / across * ((sizes[i].slices + down - 1) / down);
        if (getenv("HALITE_TEST_VERBOSE"))
            print_message("%6d positions %3d slices %4d terms: block %d x %d, %d ahead, group %d x %d x %d, %d groups, "
                          "%d work-items\n",
                          (int)sizes[i].positions, sizes[i].slices, sizes[i].terms, block.positions, block.slices,
                          block.depth, block.group[0], block.group[1], block.group[2], groups, groups * size);
        assert_true(size >= 1 && size <= 256);
        assert_true(size > 1 || sizes[i].positions * sizes[i].slices == 1);
        assert_true(block.positions * block.slices <= 16);
        assert_true(block.group[2] <= (sizes[i].run ? sizes[i].terms : 1));
        assert_true(block.depth == 1 || sizes[i].run % (block.depth * block.group[2]) == 0);
    }
}

static bool is_same(const struct gpu_conv_block *a, const struct gpu_conv_block *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

// A block that is at hand is taken where it is about as good as the best, and not where it is far from it.
static void test_blocks_at_hand(void **state)
{
    (void)state;
    struct gpu_conv_size size = {196, 128, 128, 128, 0}, like_it = {196, 128, 64, 64, 0}, unlike = {12544, 16, 8, 8, 0};
    struct gpu_conv_block made = gpu_choose_block(&caps, &size, NULL, 0);
    struct gpu_conv_block best = gpu_choose_block(&caps, &unlike, NULL, 0);
    struct gpu_conv_block poor = {1, 1, 1, {1, 1, 1}};
    struct gpu_conv_block again = gpu_choose_block(&caps, &like_it, &made, 1);
    assert_true(is_same(&again, &made));
    assert_false(is_same(&best, &poor));
    again = gpu_choose_block(&caps, &unlike, &poor, 1);
    assert_true(is_same(&again, &best));
}

// Where it was measured to be shorter, and where it was not (H100, Vulkan); and never where it would be another result
// or take more memory than is wanted.
static void test_winograd(void **state)
{
    (void)state;
    static const struct {
        int side, channels;
        bool pays;
    } sizes[] = {{490, 32, true}, {320, 64, true}, {320, 32, true}, {224, 64, true},  {112, 64, true},
                 {56, 128, true}, {56, 64, true},  {28, 256, true}, {256, 16, false}, {7, 16, false}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int side = sizes[i].side, channels = sizes[i].channels;
        struct gpu_plan plan = {.caps = &caps, .precision = GPU_F32, .batch = 1, .first_batch = 1};
        struct gpu_value x = {.shape = {1, side, side, channels}}, y = x;
        struct gpu_conv_size size = {.positions = side * side,
                                     .slices = channels / 4,
                                     .terms = 9 * channels / 4,
                                     .run = channels / 4};
        struct gpu_convolution what = {
            .x = &x,
            .y = &y,
            .inputs = channels,
            .outputs = channels,
            GPU_ONE_POSITION,
            .pad_left = 1,
            .pad_top = 1,
        };
        what.kernel_w = what.kernel_h = 3;
        assert_int_equal(gpu_winograd_cycles(&plan, &what) < gpu_conv_cycles(&caps, &size), sizes[i].pays);
        struct gpu_caps narrow = caps;
        narrow.max_range = (size_t)36 * (size_t)((side + 3) / 4 * ((side + 3) / 4) * channels) * sizeof(float);
        plan.caps = &narrow;
        assert_true(gpu_winograd_cycles(&plan, &what) < INT64_MAX);
        narrow.max_range--;
        assert_true(gpu_winograd_cycles(&plan, &what) == INT64_MAX);
        plan.caps = &caps;
        plan.precision = GPU_F16; // and small memory matters more
        assert_true(gpu_winograd_cycles(&plan, &what) == INT64_MAX);
        plan.precision = GPU_F32;
        what.dilation_w = 2;
        assert_true(gpu_winograd_cycles(&plan, &what) == INT64_MAX);
        what.dilation_w = 1;
        what.groups = 2;
        assert_true(gpu_winograd_cycles(&plan, &what) == INT64_MAX);
        what.groups = 1;
        what.inputs = what.outputs = 512; // 37 MB of weights
        assert_true(gpu_winograd_cycles(&plan, &what) == INT64_MAX);
    }
}

// Layers of MobileNet v1, style transfer and others.
static const struct gpu_conv_size sizes[] = {{12544, 8, 9, 0, 0},    {12544, 16, 8, 8, 0},    {3136, 32, 16, 16, 0},
                                             {3136, 32, 32, 32, 0},  {784, 64, 32, 32, 0},    {784, 64, 64, 64, 0},
                                             {196, 128, 64, 64, 0},  {196, 128, 128, 128, 0}, {49, 256, 128, 128, 0},
                                             {49, 256, 256, 256, 0}, {1, 251, 256, 256, 0},   {147456, 8, 243, 3, 0},
                                             {9216, 32, 288, 32, 0}, {1089, 24, 40, 40, 0},   {4225, 6, 36, 36, 0},
                                             {1, 1, 1, 1, 0}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void print_block(const struct gpu_conv_size *size, int form, const struct gpu_matrix_block *block,
                        int64_t cycles)
{
    if (!getenv("HALITE_TEST_VERBOSE")) return;
    int64_t rows = (size->positions + 16 * block->positions - 1) / (16 * block->positions);
    int columns = (size->slices + 4 * block->outputs * block->across - 1) / (4 * block->outputs * block->across);
    print_message("%6d positions %3d slices %4d terms, form %d: block %d x %d, %d ahead, %d x %d subgroups, "
                  "%d groups: %d cycles, %d without\n",
                  (int)size->positions, size->slices, size->terms, form, block->positions, block->outputs, block->depth,
                  block->across, block->along, (int)rows * columns, (int)cycles, (int)gpu_conv_cycles(&caps, size));
}

// Every shape has a block of matrix units that fits the device and leaves registers for the rest.
static void test_matrix_blocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++)
        for (int form = MATRIX_FLOATS; form <= MATRIX_HALVES; form++) {
            struct gpu_matrix_block block = {0};
            int64_t cycles = gpu_choose_matrix_block(&caps, &sizes[i], form, &block);
            print_block(&sizes[i], form, &block, cycles);
            assert_true(cycles > 0 && cycles < INT64_MAX);
            assert_true(block.across * block.along <= 8);
            int sums = 8 * block.positions * block.outputs * (form == MATRIX_SPLIT ? 2 : 1);
            int ahead = block.depth * (8 * block.positions + (form == MATRIX_HALVES ? 4 : 8) * block.outputs);
            assert_true(sums + ahead < 200);
        }
}

// The same of fragments, whose group divides evenly what it brings of x.
static void test_fragment_blocks(void **state)
{
    (void)state;
    struct gpu_caps device = caps;
    device.fragment_forms = 1u << MATRIX_SPLIT | 1u << MATRIX_HALVES;
    for (size_t i = 0; i < SIZES; i++)
        for (int form = MATRIX_SPLIT; form <= MATRIX_HALVES; form++) {
            struct gpu_matrix_block block = {0};
            int64_t cycles = gpu_choose_matrix_block(&device, &sizes[i], form, &block);
            print_block(&sizes[i], form, &block, cycles);
            assert_true(cycles > 0 && cycles < INT64_MAX);
            int items = 32 * block.across * block.along, parts = form == MATRIX_SPLIT ? 2 : 1;
            assert_true(items <= device.max_group_size);
            assert_int_equal(16 * block.positions * 2 * block.depth % (32 * block.across), 0);
            assert_true(16 * block.positions <= 32 * block.across);
            assert_true(8 * block.positions * block.outputs * parts < 200);
            assert_true(2 * block.along * parts * 16 * block.positions * block.depth * 32 <= device.shared_bytes);
        }
}

// What shared windows take is counted of the first batch, as all other kernels are, so that the kernel of a layer does
// not change with the images; and only windows that overlap, in steps of one or two, are shared.
static void test_windows(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        struct gpu_caps device = caps;
        if (way == 0) device.fragment_forms = 1u << MATRIX_SPLIT;
        if (way == 1) device.dynamic_shared_bytes = 115584;
        struct gpu_plan plan = {.caps = &device, .precision = GPU_F32, .batch = 8, .first_batch = 1};
        struct gpu_value x = {.shape = {8, 112, 112, 32}}, y = x;
        struct gpu_convolution conv = {.x = &x, .y = &y, .inputs = 32, .outputs = 32, GPU_ONE_POSITION};
        assert_true(gpu_window_cycles(&plan, &conv, MATRIX_SPLIT) == INT64_MAX); // one tap
        conv.kernel_w = conv.kernel_h = 3;
        const int64_t first = gpu_window_cycles(&plan, &conv, MATRIX_SPLIT);
        plan.first_batch = 8;
        assert_true(gpu_window_cycles(&plan, &conv, MATRIX_SPLIT) > 4 * first);
        plan.batch = plan.first_batch = x.shape.b = y.shape.b = 1;
        assert_true(gpu_window_cycles(&plan, &conv, MATRIX_SPLIT) == first);
        assert_true(gpu_window_cycles(&plan, &conv, -1) == INT64_MAX);
        plan.caps = &caps; // neither fragments nor dynamic shared memory
        assert_true(gpu_window_cycles(&plan, &conv, MATRIX_SPLIT) == INT64_MAX);
        plan.caps = &device;
        conv.dilation_w = 2;
        assert_true(gpu_window_cycles(&plan, &conv, MATRIX_SPLIT) == INT64_MAX);
        conv.dilation_w = 1, conv.stride_w = 2;
        assert_true(gpu_window_cycles(&plan, &conv, MATRIX_SPLIT) == INT64_MAX);
        conv.stride_h = 2;
        assert_true(gpu_window_cycles(&plan, &conv, MATRIX_SPLIT) < INT64_MAX);
        device.shared_bytes = device.dynamic_shared_bytes = 1024;
        assert_true(gpu_window_cycles(&plan, &conv, MATRIX_SPLIT) == INT64_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),        cmocka_unit_test(test_blocks_at_hand),
                                       cmocka_unit_test(test_matrix_blocks), cmocka_unit_test(test_fragment_blocks),
                                       cmocka_unit_test(test_winograd),      cmocka_unit_test(test_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
