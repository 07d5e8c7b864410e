// SPDX-License-Identifier: Apache-2.0
// TFLite_Detection_PostProcess for floats, and for codes: the same checks, plan and dispatches.
#ifndef HALITE_GPU_OPS_DETECTION_POSTPROCESS_H
#define HALITE_GPU_OPS_DETECTION_POSTPROCESS_H

#include "gpu/ops/op.h"

bool gpu_detection_supported(const struct gpu_node_view *view);
bool gpu_detection_plan(struct gpu_plan *plan, const struct gpu_node *node);
bool gpu_detection_check(const struct gpu_node *node, struct gpu_value_check *check);

extern const struct gpu_kernel gpu_kernel_detection_decode_codes, gpu_kernel_detection_pick_codes,
    gpu_kernel_detection_merge, gpu_kernel_detection_rows;

#endif
