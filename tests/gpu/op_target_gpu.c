// SPDX-License-Identifier: Apache-2.0
// The GPU delegate as a target of the op table (op_case.h): it takes every row, in a precision that it is told, and its
// results lie within the bounds of tolerance.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gpu/op_case.h"
#include "gpu/ops/op.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

static void say(const char *text)
{
    print_error("%s\n", text);
}

static TfLiteDelegate *create_as(const struct op_target *target, const char *quantized)
{
    static const char *const precisions[] = {"f32", "f16s", "f16"};
    // MIN_MEMORY_USAGE first: halves are kept even where they save little.
    const char *keys[] = {"device",    "precision",          "take_small_partitions", "max_delegated_partitions",
                          "quantized", "inference_priority1"};
    const char *values[] = {target->device, precisions[target->precision], "true", "1000", quantized, "3"};
    return tflite_plugin_create_delegate(keys, values, 6, say);
}

static TfLiteDelegate *create(const struct op_target *target)
{
    return create_as(target, "float");
}

// Whether it computes as it was told to.
static void check_report(const struct op_target *target, const HaliteDelegateReport *report)
{
    static const HaliteGpuPrecision reported[] = {kHaliteGpuPrecisionF32, kHaliteGpuPrecisionF16S,
                                                  kHaliteGpuPrecisionF16};
    assert_int_equal(HaliteDelegateReportGetPrecision(report), reported[target->precision]);
}

static bool has_epilogue(const struct op_case *row)
{
    const struct gpu_op *op = gpu_op_find(row->builtin, row->custom);
    if (!op) fail_msg("%s: ops.def has no such operator", row->name);
    return op->epilogue;
}

static double allowed(const struct op_target *target, const struct op_case *row, bool behind, TfLiteType type,
                      double expected)
{
    if (type == kTfLiteInt8 || type == kTfLiteUInt8) return row->steps;
    if (type != kTfLiteFloat32 && type != kTfLiteFloat16) return 0;
    // Behind an element that is exact, a sum and a product round.
    enum gpu_tolerance kind = behind && row->tolerance == GPU_MOVES ? GPU_ROUNDS : row->tolerance;
    return gpu_tolerance_at(kind, target->precision, expected);
}

// ---- exact integers ------------------------------------------------------------------------------

static TfLiteDelegate *create_exact(const struct op_target *target)
{
    return create_as(target, "exact");
}

static bool is_8bit(enum test_type type)
{
    return type == TEST_INT8 || type == TEST_UINT8;
}

// Whether the row has no 8-bit tensors or an operator that stays on the CPU.
static bool has_no_codes(const struct op_case *row)
{
    bool codes = is_8bit(row->output.type);
    for (int i = 0; i < CASE_INPUTS; i++)
        codes = codes || (row->inputs[i].kind == TENSOR_INPUT && is_8bit(row->inputs[i].type));
    return !codes || !gpu_integer_op_find(row->builtin, row->custom);
}

// None, but in floats that an operator computes of integers with a function of the device's.
static double allowed_exact(const struct op_target *target, const struct op_case *row, bool behind, TfLiteType type,
                            double expected)
{
    bool function = type == kTfLiteFloat32 && row->tolerance == GPU_FUNCTION;
    return function ? allowed(target, row, behind, type, expected) : 0;
}

const struct op_target_kind op_target_exact = {
    .name = "the GPU in integers",
    .create = create_exact,
    .takes_all = true,
    .check_report = check_report,
    .leaves_out = has_no_codes,
    .allowed = allowed_exact,
};

const struct op_target_kind op_target_gpu = {
    .name = "the GPU",
    .create = create,
    .takes_all = true,
    .check_report = check_report,
    .has_epilogue = has_epilogue,
    .allowed = allowed,
};
