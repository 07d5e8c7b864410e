// SPDX-License-Identifier: Apache-2.0
// See index.h.
#include "gpu/ops/index.h"

#include "tensorflow/lite/builtin_ops.h"

struct gpu_index gpu_index_of(const struct gpu_value *value)
{
    const struct gpu_node *maker = value->producer;
    bool integers = value->type == kTfLiteInt32 || value->type == kTfLiteInt64;
    bool cast = maker && integers && maker->builtin == kTfLiteBuiltinCast && maker->epilogue.count == 0;
    if (cast && maker->inputs[0]->is_input) value = maker->inputs[0];
    return (struct gpu_index){value, value->is_input};
}
