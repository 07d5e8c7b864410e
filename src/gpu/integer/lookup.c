// SPDX-License-Identifier: Apache-2.0
// Functions of single 8-bit elements: whatever the CPU computes, there are 256 results, which the plan computes with
// the CPU's arithmetic and the kernel looks up.
#include "gpu/integer/integer.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define FOUND(NUMBER) \
    int i##NUMBER = byte_of(v, NUMBER) & 255; \
    int r##NUMBER = byte_of(int_lane(table(i##NUMBER / 16), i##NUMBER / 4 % 4), i##NUMBER % 4);

const struct gpu_kernel gpu_kernel_lookup = {
    .name = "lookup_codes",
    .group = {32, 4, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_INTS, "table"}, {GPU_CODES_OUT, "y"}},
    .integers = true,
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        int v = read_x(p);
        FOUND(0) FOUND(1) FOUND(2) FOUND(3)
        write_y(p, pack_bytes(r0, r1, r2, r3));
    ),
};
// clang-format on

bool gpu_plan_lookup(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                     const int8_t table[256])
{
    struct gpu_weights *packed = gpu_plan_integers(plan, 16);
    if (!packed) return false;
    for (int i = 0; i < 256; i++) {
        uint32_t *to = (uint32_t *)&packed->integers[i / 4];
        *to |= (uint32_t)(uint8_t)table[i] << 8 * (i % 4);
    }
    struct gpu_dispatch_desc desc = {
        .kernel = &gpu_kernel_lookup,
        .operands = {{.value = x}, {.weights = packed}, {.value = y}},
        .views = {y->shape},
    };
    gpu_grid_over(&desc, y->shape);
    return gpu_plan_dispatch(plan, &desc);
}
