// SPDX-License-Identifier: Apache-2.0
// The blocks that convolutions are cut into for a large GPU: every block computes the same (test_ops.c), here only that it
// can run and wastes no registers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gpu/ops/convolve.h"

static void test_blocks(void **state)
{
    (void)state;
    struct gpu_caps caps = {.vendor = GPU_VENDOR_NVIDIA,
                            .compute_units = 132,
                            .max_group_size = 1024,
                            .shared_bytes = 49152,
                            .max_group = {1024, 1024, 64}};
    static const struct {
        int places, slices, terms;
    } shapes[] = {{12544, 8, 9},   {12544, 16, 8},  {3136, 32, 16},  {3136, 32, 32}, {784, 64, 32},
                  {784, 64, 64},   {196, 128, 64},  {196, 128, 128}, {49, 256, 128}, {49, 256, 256},
                  {1, 251, 256},   {802816, 16, 8}, {3136, 16, 144}, {784, 32, 288}, {196, 64, 576},
                  {49, 128, 1152}, {1, 1, 1},       {7, 3, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct gpu_conv_block block =
            gpu_choose_block(&caps, shapes[i].places, shapes[i].slices, shapes[i].terms, shapes[i].terms);
        int size = block.group[0] * block.group[1] * block.group[2];
        int across = block.places * block.group[0], down = block.slices * block.group[1];
        int groups =
            (shapes[i].places + across - 1) / across * ((shapes[i].slices + down - 1) / down);
        if (getenv("HALITE_TEST_VERBOSE"))
            print_message(
                "%6d places %3d slices %4d terms: block %d x %d, group %d x %d x %d, %d groups, %d work-items\n",
                shapes[i].places, shapes[i].slices, shapes[i].terms, block.places, block.slices,
                block.group[0], block.group[1], block.group[2], groups, groups * size);
        assert_true(size >= 1 && size <= 256);
        assert_true(block.places * block.slices <= 16);
        assert_true(block.group[2] <= shapes[i].terms);
        assert_true(block.depth == 1 || shapes[i].terms % (block.depth * block.group[2]) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
