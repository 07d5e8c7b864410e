// SPDX-License-Identifier: Apache-2.0
// LOCAL_RESPONSE_NORMALIZATION: x * (bias + s)^-beta, where s is the sum of alpha * x^2 over the channels from c -
// radius to c + radius. A work-item walks over all channels of a position with a sliding sum in float. The CPU does the
// same, so that both lose the same precision after a large value.
#include "gpu/ops/op.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
// Moves the window to channel c and stores the base of its divisor in one lane.
#define SLIDE(LANE)                                               \
    if (c + reach < x_c) sum += SCALED_SQUARE(c + reach);         \
    base.LANE = bias + sum;                                       \
    if (c >= reach) sum -= SCALED_SQUARE(c - reach);              \
    c += 1;
#define SCALED_SQUARE(CHANNEL) (VALUE(CHANNEL) * VALUE(CHANNEL) * alpha)
#define VALUE(CHANNEL) to_float(lane(read_x(mki4(p.x, p.y, (CHANNEL) / 4, p.w)), (CHANNEL) % 4))

static const struct gpu_kernel kernel = {
    .name = "local_response_normalization",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .params = {"window", "power"}, // window: radius; power: bias, alpha and -beta as float bits
    .epilogue = true,
    .body = GPU_TEXT_OF(
        int4 p = mki4(GID0, GID1, 0, GID2);
        if (outside_y(p)) return;
        int reach = min(P_window.x, x_c);
        float bias = bits_to_float(P_power.x);
        float alpha = bits_to_float(P_power.y);
        acc4 exponent = splatf4(bits_to_float(P_power.z));
        float sum = 0.0f;
        for (int i = 0; i < reach; i += 1) sum += SCALED_SQUARE(i);
        int c = 0;
        for (int s = 0; s < x_s; s += 1) {
            acc4 base = splatf4(1.0f);
            SLIDE(x)
            SLIDE(y)
            SLIDE(z)
            SLIDE(w)
            p.z = s;
            acc4 v = to_acc4(read_x(p)) * pow_safe(base, exponent);
            write_y(p, finish(to_real4(v), p));
        }
    ),
};
// clang-format on

static bool supported(const struct gpu_node_view *view)
{
    const TfLiteTensor *x = gpu_view_input(view, 0);
    const TfLiteLocalResponseNormParams *params = view->node->builtin_data;
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    if (x->dims->size != 4)
        return gpu_refuse(view, DELEGATE_RANK, 0, "the input has %d dimensions, must have 4", x->dims->size);
    return params->radius >= 0 ||
           gpu_refuse(view, DELEGATE_PARAMETER, -1, "radius %d must not be negative", params->radius);
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteLocalResponseNormParams *params = node->params;
    const struct gpu_value *x = node->inputs[0];
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.value = node->outputs[0]}},
        .params = {{params->radius},
                   {gpu_float_bits(params->bias), gpu_float_bits(params->alpha), gpu_float_bits(-params->beta)}},
        .grid = {x->shape.w, x->shape.h, x->shape.b},
        .epilogue = &node->epilogue,
    };
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_op_local_response_normalization = {
    .name = "LOCAL_RESPONSE_NORMALIZATION",
    .max_version = 1,
    .operands = {.inputs = {1}},
    .supported = supported,
    .plan = plan,
    GPU_PARAMS(TfLiteLocalResponseNormParams),
    .epilogue = true,
    GPU_KERNELS(&kernel),
};
