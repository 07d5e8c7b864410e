// SPDX-License-Identifier: Apache-2.0
// SOFTMAX of 8-bit tensors in fixed point, as the CPU's reference kernel: exponentials of the 256 possible differences
// from the largest code are a table, their sum is a Q12, and its reciprocal comes from three steps of Newton's method.
// A group computes one row.
#include <math.h>

#include "gpu/integer/integer.h"

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#define EXPONENTIAL(CODE) int_lane(table((top - (CODE)) / 4), (top - (CODE)) % 4)
#define LARGEST(NUMBER) if (s * 4 + NUMBER < x_c) top = max(top, byte_of(four, NUMBER));
#define SUMMED(NUMBER) if (s * 4 + NUMBER < x_c) sum += shift_round(EXPONENTIAL(byte_of(four, NUMBER)), 12);
#define SCALED(NUMBER) \
    int part##NUMBER = 0; \
    if (shift < 32) part##NUMBER = shift_round(high_product(inverse, EXPONENTIAL(byte_of(four, NUMBER))), shift); \
    part##NUMBER = min(part##NUMBER - 128, 127);

static const struct gpu_kernel kernel = {
    .name = "softmax_codes",
    .group = {32, 1, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_INTS, "table"}, {GPU_CODES_OUT, "y"}},
    .shared = {"int parts[GROUP_X]"},
    .integers = true,
    .body = GPU_TEXT_OF(
        int row = GROUP0 / x_w;
        int4 p = mki4(GROUP0 - row * x_w, row, 0, GROUP1);
        int top = -128;
        for (int s = LID0; s < x_s; s += GROUP_X) {
            int four = read_x(mki4(p.x, p.y, s, p.w));
            EACH(LARGEST)
        }
        parts[LID0] = top;
        BARRIER;
        for (int i = 0; i < GROUP_X; i += 1) top = max(top, parts[i]);
        BARRIER;
        int sum = 0;
        for (int s = LID0; s < x_s; s += GROUP_X) {
            int four = read_x(mki4(p.x, p.y, s, p.w));
            EACH(SUMMED)
        }
        parts[LID0] = sum;
        BARRIER;
        sum = 0;
        for (int i = 0; i < GROUP_X; i += 1) sum += parts[i];
        int zeros = leading_zeros(sum);
        int above = (sum << zeros) & 2147483647;
        int d = (above >> 1) + (1 << 30);
        int inverse = 1515870810 + high_product(d, -1010580540);
        for (int i = 0; i < 3; i += 1) {
            int error = (1 << 29) - high_product(d, inverse);
            inverse += high_product(inverse, error) * 4;
        }
        inverse = pick(inverse >= (1 << 30), 2147483647, inverse * 2);
        int shift = 35 - zeros;
        for (int s = LID0; s < x_s; s += GROUP_X) {
            int four = read_x(mki4(p.x, p.y, s, p.w));
            EACH(SCALED)
            write_y(mki4(p.x, p.y, s, p.w), pack_bytes(part0, part1, part2, part3));
        }
    ),
};
// clang-format on

// More exponentials may have a sum of more than 31 bits.
enum { MAX_CHANNELS = 4095 };

static bool supported(const struct gpu_node_view *view)
{
    const TfLiteSoftmaxParams *params = view->node->builtin_data;
    if (!gpu_check_like_floats(view) || !gpu_check_unary_codes(view)) return false;
    const TfLiteIntArray *dims = gpu_view_input(view, 0)->dims;
    if (dims->size < 1 || dims->data[dims->size - 1] > MAX_CHANNELS)
        return gpu_refuse(view, DELEGATE_SHAPE, 0, "exact integers: rows of more than %d elements", MAX_CHANNELS);
    return (params->beta >= 0 && isfinite(params->beta)) ||
           gpu_refuse(view, DELEGATE_PARAMETER, -1, "exact integers: beta is %g", (double)params->beta);
}

// ---- the exponentials ---------------------------------------------------------------------------

// e^x of x in [-1/4, 0), both as Q0: the Taylor series around -1/8 up to the fourth power.
static int32_t exp_of_quarter(int32_t x)
{
    const int32_t exp_of_middle = 1895147668, third = 715827883; // e^-1/8 and 1/3 as Q0
    int32_t t = x + (1 << 28), t2 = hl_high_mul(t, t), t3 = hl_high_mul(t2, t), t4 = hl_high_mul(t2, t2);
    int32_t cubic = hl_high_mul(hl_shift_right_round(t4, 2) + t3, third);
    return exp_of_middle + hl_high_mul(exp_of_middle, t + hl_shift_right_round(cubic + t2, 1));
}

// e^x as Q0 of x <= 0 as Q5: that of the rest in the quarter below 0, times a factor for each bit of the quarters.
static int32_t fixed_exp(int32_t x)
{
    static const int32_t factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int32_t quarter = 1 << 24;
    if (x == 0) return INT32_MAX;
    int32_t rest = (x & (quarter - 1)) - quarter, result = exp_of_quarter(rest * 32);
    int64_t quarters = (int64_t)rest - x;
    for (int i = 0; i < 7; i++)
        if (quarters & (INT64_C(1) << (24 + i))) result = hl_high_mul(result, factors[i]);
    return result;
}

// By difference from the largest code; 0 for those that count as minus infinity.
static void fill_exponentials(double beta, double scale, int32_t to[256])
{
    double real = beta * scale * (1 << 26);
    struct hl_rescale rescale = hl_rescale_from(real < INT32_MAX ? real : INT32_MAX);
    double lowest = floor(ldexp(31, 26 - rescale.shift));
    int most = lowest < 256 ? (int)lowest : 256;
    for (int i = 0; i < 256; i++) to[i] = i <= most ? fixed_exp(hl_rescale_apply(-i, rescale)) : 0;
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const TfLiteSoftmaxParams *params = node->params;
    const struct gpu_value *x = node->inputs[0], *y = node->outputs[0];
    struct gpu_weights *table = gpu_plan_integers(plan, 64);
    if (!table) return false;
    fill_exponentials((double)params->beta, (double)x->quantization.scale, table->integers);
    int share = 1;
    while (share < 64 && share < gpu_slices(y->shape)) share *= 2;
    struct gpu_dispatch_desc desc = {
        .kernel = &kernel,
        .operands = {{.value = x}, {.weights = table}, {.value = y}},
        .group = {share, 1, 1},
        .grid = {y->shape.w * y->shape.h * share, y->shape.b, 1},
    };
    return gpu_plan_dispatch(plan, &desc);
}

const struct gpu_op gpu_integer_softmax = {
    GPU_INTEGER_OP("SOFTMAX", 4),    .operands = {.inputs = {1}, .any_rank = true},
    .supported = supported,          .plan = plan,
    GPU_PARAMS(TfLiteSoftmaxParams), GPU_KERNELS(&kernel),
};
