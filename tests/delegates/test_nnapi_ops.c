// SPDX-License-Identifier: Apache-2.0
// The op table (tests/gpu/op_case.h) through the NNAPI delegate, before the fake of the system: what it takes of each
// family, and that floats lie within 1e-5 of the CPU's, integers within one step.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "delegates/op_families.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

static void say(const char *text)
{
    print_error("%s\n", text);
}

static TfLiteDelegate *create(const struct op_target *target)
{
    const char *keys[] = {"library_path", "max_delegated_partitions", "accelerator_name"};
    const char *values[] = {FAKE_NNAPI, "0", target->device};
    return tflite_plugin_create_delegate(keys, values, 3, say);
}

static double allowed(const struct op_target *target, const struct op_case *row, bool behind, TfLiteType type,
                      double expected)
{
    (void)target;
    (void)row;
    (void)behind;
    if (type == kTfLiteInt8 || type == kTfLiteUInt8) return 1;
    if (type != kTfLiteFloat32 && type != kTfLiteFloat16) return 0;
    return isfinite(expected) ? 1e-5 * fmax(1, fabs(expected)) : 0;
}

// Made of SUB and others, which lose infinities and the phase of large arguments: tests/delegates/tolerances.md.
static bool leaves_out(const struct op_case *row)
{
    bool made = row->builtin == kTfLiteBuiltinCos || row->builtin == kTfLiteBuiltinSquaredDifference;
    return made && (row->inputs[0].values >= VALUES_SPECIAL || row->inputs[1].values >= VALUES_SPECIAL);
}

static const struct op_target_kind nnapi_target = {
    .name = "NNAPI",
    .create = create,
    .leaves_out = leaves_out,
    .allowed = allowed,
};

int main(void)
{
    const struct op_target target = {&nnapi_target, "google-edgetpu", GPU_F32};
    return op_families_main(&target, true, NULL, NULL);
}
