// SPDX-License-Identifier: Apache-2.0
// The op table (tests/gpu/op_case.h) through the Core ML delegate, before the fake of Core ML: floats lie within 1e-5
// of the CPU's, and each operator of ops.def is taken at least once.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/process.h"
#include "delegates/op_families.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

static void say(const char *text)
{
    print_error("%s\n", text);
}

static TfLiteDelegate *create(const struct op_target *target)
{
    const char *keys[] = {"enabled_devices", "min_nodes_per_partition", "coreml_version"};
    const char *values[] = {"all", "1", target->device};
    return tflite_plugin_create_delegate(keys, values, 3, say);
}

static double allowed(const struct op_target *target, const struct op_case *row, bool behind, TfLiteType type,
                      double expected)
{
    (void)target;
    (void)row;
    (void)behind;
    return type == kTfLiteFloat32 && isfinite(expected) ? 1e-5 * fmax(1, fabs(expected)) : 0;
}

// Core ML's ADD and others do not keep to float32's range, as the CPU's do: tests/delegates/tolerances.md.
static bool leaves_out(const struct op_case *row)
{
    return row->inputs[0].values >= VALUES_SPECIAL || row->inputs[1].values >= VALUES_SPECIAL;
}

// ---- operators that were taken ------------------------------------------------------------------

static const char *const operators[] = {
#define COREML_OP(builtin, name, version, family) name,
#include "delegates/coreml/ops.def"
#undef COREML_OP
};

static void each_operator_was_taken(void **state)
{
    (void)state;
    op_families_check_taken(operators, sizeof operators / sizeof *operators);
}

static const struct op_target_kind coreml_target = {
    .name = "Core ML",
    .create = create,
    .check_report = op_families_count,
    .leaves_out = leaves_out,
    .allowed = allowed,
};

// test_coreml_ops [VERSION]: of Core ML, 2 by default, which has RESHAPE.
int main(int argc, char **argv)
{
    if (!hl_process_set_variable("HALITE_COREML_RUNNER", FAKE_COREML)) return 1;
    const struct op_target target = {&coreml_target, argc > 1 ? argv[1] : "2", GPU_F32};
    return op_families_main(&target, false, NULL, argc > 1 ? NULL : each_operator_was_taken);
}
