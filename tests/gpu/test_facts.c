// SPDX-License-Identifier: Apache-2.0
// What every operator of src/gpu/ops/ops.def must say of itself (struct gpu_op), held against what is known elsewhere:
// the options tables of the runtime, the rows of the op table, and the plans that the null backend gets for these rows.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/check_plan.h"
#include "gpu/graph/op.h"
#include "gpu/op_case.h"
#include "gpu/ops/convolve.h"
#include "gpu/ops/dense_pair.h"
#include "gpu/ops/separable.h"

// The lists of the runtime have columns with these names.
#undef INT
#undef OP

static const struct row {
    int builtin;
    const char *custom, *name;
} rows[] = {
#define GPU_OP(name, suffix, symbol) {kTfLiteBuiltin##suffix, NULL, #name},
#define GPU_CUSTOM(name, symbol) {kTfLiteBuiltinCustom, name, name},
#include "gpu/ops/ops.def"
#undef GPU_OP
#undef GPU_CUSTOM
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct op_family *const families[] = {
#define OP_FAMILY(name) &op_family_##name,
    OP_FAMILIES(OP_FAMILY)
#undef OP_FAMILY
};
enum { FAMILIES = sizeof families / sizeof *families };

static bool is_row_of(const struct op_case *case_, const struct row *row)
{
    return case_->builtin == row->builtin &&
           (!row->custom || (case_->custom && strcmp(case_->custom, row->custom) == 0));
}

static bool is_8_bit(enum test_type type)
{
    return type == TEST_INT8 || type == TEST_UINT8;
}

// Rows of the op table that are for this operator; only those whose output has 8 bits.
static int count_rows(const struct row *row, bool only_8_bit)
{
    int count = 0;
    for (int f = 0; f < FAMILIES; f++)
        for (const struct op_case *case_ = families[f]->cases; case_->name; case_++)
            count += is_row_of(case_, row) && (!only_8_bit || is_8_bit(case_->output.type));
    return count;
}

// The delegate makes such nodes itself; no model has them.
static bool is_own(const struct row *row)
{
    return row->custom && strncmp(row->custom, "Halite.", 7) == 0;
}

static void every_operator_has_a_row_in_the_op_table(void **state)
{
    (void)state;
    int missing = 0;
    for (int i = 0; i < ROWS; i++) {
        if (is_own(&rows[i]) || count_rows(&rows[i], false) > 0) continue;
        print_error("%s is in src/gpu/ops/ops.def, but in no row of tests/gpu/cases_*.c\n", rows[i].name);
        missing++;
    }
    assert_int_equal(missing, 0);
}

// ---- activations --------------------------------------------------------------------------------

// All params structs with a member `activation`, by the tables of the schema that fill it in.
static const struct activation {
    const char *table;
    size_t size, offset;
} activations[] = {
#define ENUMERATION(...)
#define OPTIONS(...)
#define INT(...)
#define INT64(...)
#define BOOL(...)
#define FLOAT(...)
#define TEXT(...)
#define IS_ACTIVATION_ACTIVATION(table, type, member) {#table, sizeof(type), offsetof(type, member)},
#define IS_ACTIVATION_PADDING(...)
#define IS_ACTIVATION_TENSOR_TYPE(...)
#define IS_ACTIVATION_LSH_PROJECTION(...)
#define IS_ACTIVATION_WEIGHTS_FORMAT(...)
#define IS_ACTIVATION_LSTM_KERNEL(...)
#define IS_ACTIVATION_COMBINER(...)
#define IS_ACTIVATION_MIRROR_PAD(...)
#define IS_ACTIVATION_RNG_ALGORITHM(...)
#define IS_ACTIVATION_WINDOW_FUNCTION(...)
#define CHOICE(table, field, type, member, enumeration) IS_ACTIVATION_##enumeration(table, type, member)
#define SUBGRAPH(...)
#define SUBGRAPHS(...)
#define LIST(...)
#define ALIGNED(...)
#define FLOATS(...)
#define BYTES(...)
#define NEEDED(...)
#define END
#include "model/options.def"
};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

// The schema table that the runtime reads a builtin operator's options from.
static const char *options_table(int builtin)
{
    static const struct {
        int builtin;
        const char *table;
    } tables[] = {
#define OP(name, code, first, last, options, ...) {code, #options},
#define CUSTOM(...)
#define GAP(...)
#include "abi/operators.def"
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (tables[i].builtin == builtin) return tables[i].table;
    return "";
}

static void options_with_an_activation_state_it(void **state)
{
    (void)state;
    int found = 0;
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].custom) continue;
        const struct gpu_op *op = gpu_op_find(rows[i].builtin, NULL);
        const struct activation *has = NULL;
        for (int a = 0; a < ACTIVATIONS; a++)
            if (strcmp(activations[a].table, options_table(rows[i].builtin)) == 0) has = &activations[a];
        if ((has != NULL) != (op->has_activation || op->applies_activation))
            fail_msg("%s: its options have %s activation: GPU_PARAMS_ACTIVATION or .applies_activation says so",
                     rows[i].name, has ? "an" : "no");
        if (!has) continue;
        found++;
        assert_int_equal(op->params_size, has->size);
        if (op->has_activation) assert_int_equal(op->activation, has->offset);
    }
    assert_true(found >= 10);
}

// ---- bytes --------------------------------------------------------------------------------------

static void operators_with_8_bit_rows_state_what_they_do_with_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const struct gpu_op *op = gpu_op_find(rows[i].builtin, rows[i].custom);
        if (op->bytes == GPU_BYTES_NONE && count_rows(&rows[i], true) > 0)
            fail_msg("%s has 8-bit rows in the op table: its .bytes must say what the CPU does with them",
                     rows[i].name);
        if (op->moved_inputs && !gpu_moves_only(op->bytes))
            fail_msg("%s has .moved_inputs, and its .bytes say that it computes", rows[i].name);
    }
}

// ---- the rest -----------------------------------------------------------------------------------

static void demand(const struct row *row, bool holds, const char *what)
{
    if (!holds) fail_msg("%s: %s", row->name, what);
}

static void facts_fit_each_other(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        const struct gpu_op *op = gpu_op_find(row->builtin, row->custom);
        const signed char *inputs = op->operands.inputs;
        const struct gpu_weighted *in = &op->weighted;
        demand(row, op->name && op->plan && op->max_version >= 1, "it needs a name, a version and a plan");
        demand(row, op->supported || inputs[0] > 0, "nothing checks its operands");
        demand(row, inputs[1] == 0 || inputs[1] >= inputs[0], "fewer inputs at most than at least");
        demand(row, !op->has_activation || op->activation + sizeof(TfLiteFusedActivation) <= op->params_size,
               "the activation is outside of the options");
        demand(row, op->min_params_size <= op->params_size, "more options at least than there are");
        if (!in->weights) continue;
        demand(row, op->macs, "it has weights and no multiply-adds");
        demand(row, op->hybrid, "it has weights and does not say that the CPU takes them in 8 bits beside floats");
        demand(row, in->x != in->weights && in->bias != in->x && in->bias != in->weights, "one input has two roles");
        demand(row, in->bias < inputs[1], "the bias is beyond the last input");
    }
}

// ---- kernels ------------------------------------------------------------------------------------

// An operator can plan only what it lists: gpu_plan_dispatch refuses anything else. Families of operators share a list,
// so that some kernel of it may be for others; but no kernel is for none.
static void every_listed_kernel_is_planned_by_some_row(void **state)
{
    (void)state;
    for (int f = 0; f < FAMILIES; f++)
        for (int precision = GPU_F32; precision <= GPU_F16S; precision++) {
            const struct op_target target = {&op_target_gpu, "null", (enum gpu_precision)precision};
            op_family_plan(families[f], &target);
        }
    int unused = 0;
    for (int i = 0; i < ROWS; i++) {
        const struct gpu_op *op = gpu_op_find(rows[i].builtin, rows[i].custom);
        if (is_own(&rows[i])) continue;
        for (const struct gpu_kernel *const *kernel = op->kernels; *kernel; kernel++) {
            // A row is one node, on the null device: test_separable and test_dense_pair have the kernels of two,
            // test_matrix those of devices with matrix units.
            const bool of_two = *kernel == &gpu_kernel_separable || *kernel == &gpu_kernel_dense_pair;
            if (check_plan_used(*kernel) || of_two || (*kernel)->matrix || (*kernel)->fragments) continue;
            print_error("%s lists the kernel %s, and no row of the op table plans it\n", op->name, (*kernel)->name);
            unused++;
        }
    }
    assert_int_equal(unused, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_has_a_row_in_the_op_table),
        cmocka_unit_test(options_with_an_activation_state_it),
        cmocka_unit_test(operators_with_8_bit_rows_state_what_they_do_with_bytes),
        cmocka_unit_test(facts_fit_each_other),
        cmocka_unit_test(every_listed_kernel_is_planned_by_some_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
