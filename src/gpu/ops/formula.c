// SPDX-License-Identifier: Apache-2.0
// A function of single elements of up to three values (struct gpu_formula). In: what graph/formula.c has joined. Out:
// one dispatch, whose kernel reads each value once, from any channel on, and goes through the steps in registers.
#include "gpu/ops/op.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Declares NAME: the four elements of a value at p, with channel AT as channel 0.
#define READ(NAME, AT, IS_USED)                                                                          \
    acc4 NAME = splatf4(0.0f);                                                                           \
    if (IS_USED) {                                                                                       \
        int4 at = mki4(p.x, p.y, p.z + AT / 4, p.w);                                                     \
        NAME = to_acc4(read_from_##NAME(at));                                                            \
        if (AT % 4 != 0) {                                                                               \
            at.z = min(at.z + 1, from_##NAME##_s - 1);                                                   \
            acc4 next = to_acc4(read_from_##NAME(at));                                                   \
            if (AT % 4 == 1) NAME = mkf4(NAME.y, NAME.z, NAME.w, next.x);                                \
            if (AT % 4 == 2) NAME = mkf4(NAME.z, NAME.w, next.x, next.y);                                \
            if (AT % 4 == 3) NAME = mkf4(NAME.w, next.x, next.y, next.z);                                \
        }                                                                                                \
    }
// A digit of OTHERS: the other value of a step, and 8 if v is kept before it.
#define STEP(STAGE, DIGIT, A, B)                                                                         \
    if (DIGIT % 16 >= 8) kept = v;                                                                       \
    other = x;                                                                                           \
    if (DIGIT % 8 == OF_FIRST) other = first;                                                            \
    if (DIGIT % 8 == OF_SECOND) other = second;                                                          \
    if (DIGIT % 8 == OF_KEPT) other = kept;                                                              \
    v = stage_with(STAGE, v, other, bits_to_float(A), bits_to_float(B));

static const struct gpu_kernel kernel = {
    .name = "formula",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "from_x"}, {GPU_IN, "from_first"}, {GPU_IN, "from_second"}, {GPU_OUT, "y"}},
    .params = {"step_0", "step_2", "step_4", "step_6"}, // a and b of two steps each
    GPU_CONSTANTS({"STAGE_0", 0}, {"STAGE_1", 0}, {"STAGE_2", 0}, {"STAGE_3", 0}, {"STAGE_4", 0}, {"STAGE_5", 0},
                  {"STAGE_6", 0}, {"STAGE_7", 0}, {"OTHERS_0", 0}, {"OTHERS_4", 0}, {"VALUES", 3},
                  {"X_AT", 0}, {"FIRST_AT", 0}, {"SECOND_AT", 0}),
    .value_names = {GPU_FORMULA_OTHERS(GPU_VALUE_NAME)},
    .body = GPU_TEXT_OF(
        int4 p = position();
        if (outside_y(p)) return;
        READ(x, X_AT, VALUES > 0)
        READ(first, FIRST_AT, VALUES > 1)
        READ(second, SECOND_AT, VALUES > 2)
        acc4 v = x;
        acc4 kept = x;
        acc4 other = x;
        STEP(STAGE_0, OTHERS_0, P_step_0.x, P_step_0.y)
        STEP(STAGE_1, OTHERS_0 / 16, P_step_0.z, P_step_0.w)
        STEP(STAGE_2, OTHERS_0 / 256, P_step_2.x, P_step_2.y)
        STEP(STAGE_3, OTHERS_0 / 4096, P_step_2.z, P_step_2.w)
        STEP(STAGE_4, OTHERS_4, P_step_4.x, P_step_4.y)
        STEP(STAGE_5, OTHERS_4 / 16, P_step_4.z, P_step_4.w)
        STEP(STAGE_6, OTHERS_4 / 256, P_step_6.x, P_step_6.y)
        STEP(STAGE_7, OTHERS_4 / 4096, P_step_6.z, P_step_6.w)
        write_y(p, to_real4(v));
    ),
};
// clang-format on

// The indices of the kernel's constants behind those of the stages.
enum { OTHERS = GPU_FORMULA_STEPS, VALUES = OTHERS + GPU_FORMULA_STEPS / 4, CHANNEL };

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct gpu_formula *formula = node->params;
    int values[CHANNEL + GPU_FORMULA_VALUES] = {[VALUES] = node->input_count};
    struct gpu_dispatch_desc desc = {.kernel = &kernel};
    for (int i = 0; i < GPU_FORMULA_VALUES; i++) {
        desc.operands[i].value = node->inputs[i < node->input_count ? i : 0];
        values[CHANNEL + i] = formula->channel[i];
    }
    desc.operands[GPU_FORMULA_VALUES].value = node->outputs[0];
    for (int s = 0; s < formula->count; s++) {
        const struct gpu_formula_step *step = &formula->steps[s];
        values[s] = (int)step->op;
        values[OTHERS + s / 4] += ((int)step->other + 8 * step->keeps) << 4 * (s % 4);
        desc.params[s / 2][s % 2 * 2] = gpu_float_bits(step->a);
        desc.params[s / 2][s % 2 * 2 + 1] = gpu_float_bits(step->b);
    }
    for (int i = 0; i < (int)(sizeof values / sizeof *values); i++)
        desc.constants[i] = (struct gpu_setting){kernel.constants[i].name, values[i]};
    gpu_grid_over(&desc, node->outputs[0]->shape);
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_formula = {
    .name = "FORMULA",
    .max_version = 1,
    .operands = {.inputs = {1, GPU_FORMULA_VALUES}, .any_rank = true},
    .plan = plan,
    GPU_KERNELS(&kernel),
};
