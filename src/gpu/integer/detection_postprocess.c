// SPDX-License-Identifier: Apache-2.0
// TFLite_Detection_PostProcess of codes: the kernels for floats, which make the CPU's numbers of the codes as they read
// them. The outputs are floats as ever.
#include "gpu/ops/detection_postprocess.h"

#include "gpu/integer/integer.h"
#include "gpu/ops/reshape.h"

static bool supported(const struct gpu_node_view *view)
{
    if (!gpu_detection_supported(view) || !gpu_check_codes(view, 0) || !gpu_check_codes(view, 1)) return false;
    const TfLiteTensor *anchors = gpu_view_input(view, 2);
    return hl_is_constant(anchors) ||
           gpu_refuse(view, DELEGATE_NOT_CONSTANT, 2, "exact integers: anchors that are no constant");
}

const struct gpu_op gpu_integer_detection_postprocess = {
    GPU_INTEGER_OP("TFLite_Detection_PostProcess", 1),
    .operands = {.inputs = {3}, .outputs = 4},
    .supported = supported,
    .plan = gpu_detection_plan,
    .check = gpu_detection_check,
    .keeps_options = true,
    .any_shape = GPU_INPUT(0) | GPU_INPUT(1),
    GPU_KERNELS(&gpu_kernel_detection_decode_codes, &gpu_kernel_detection_pick_codes, &gpu_kernel_detection_merge,
                &gpu_kernel_detection_rows, &gpu_kernel_reshape_codes),
};
