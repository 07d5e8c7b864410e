// SPDX-License-Identifier: Apache-2.0
// The op table (tests/gpu/op_case.h) through the Hexagon delegate, before the fake of the interface library: what it
// takes lies within one step of the CPU's, and each operator of ops.def is taken at least once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "abi/tensor.h"
#include "delegates/hexagon_cases.h"
#include "delegates/op_families.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

static void say(const char *text)
{
    print_error("%s\n", text);
}

static TfLiteDelegate *create(const struct op_target *target)
{
    (void)target;
    const char *keys[] = {"library_path", "max_delegated_partitions", "min_nodes_per_partition"};
    const char *values[] = {FAKE_HEXAGON, "16", "1"};
    return tflite_plugin_create_delegate(keys, values, 3, say);
}

static double allowed(const struct op_target *target, const struct op_case *row, bool behind, TfLiteType type,
                      double expected)
{
    (void)target;
    (void)row;
    (void)behind;
    (void)expected;
    return type == kTfLiteInt8 || type == kTfLiteUInt8 ? 1 : 0;
}

static const struct op_target_kind hexagon_target = {
    .name = "Hexagon",
    .create = create,
    .check_report = op_families_count,
    .allowed = allowed,
};

static void each_operator_was_taken(void **state)
{
    (void)state;
    const char *operators[] = {
#define HEXAGON_OP(builtin, operation, version, types, family) hl_builtin_name(kTfLiteBuiltin##builtin),
#include "delegates/hexagon/ops.def"
#undef HEXAGON_OP
    };
    op_families_check_taken(operators, sizeof operators / sizeof *operators);
}

int main(void)
{
    const struct op_target target = {&hexagon_target, "", GPU_F32};
    return op_families_main(&target, false, &hexagon_cases, each_operator_was_taken);
}
