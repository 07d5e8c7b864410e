// SPDX-License-Identifier: Apache-2.0
// Operations that work element by element, on one tensor or on two that are broadcast, and those along the depth.
#include <math.h>

#include "fake.h"

// ---- two tensors --------------------------------------------------------------------------------

static bool broadcast(struct fake_call *call, unsigned dims[4])
{
    const struct fake_tensor *a = fake_in(call, 0), *b = fake_in(call, 1);
    for (int i = 0; i < 4; i++) {
        dims[i] = a->dims[i] > b->dims[i] ? a->dims[i] : b->dims[i];
        if (!fake_hold(call, (a->dims[i] == dims[i] || a->dims[i] == 1) && (b->dims[i] == dims[i] || b->dims[i] == 1),
                       "the inputs cannot be broadcast"))
            return false;
    }
    return fake_hold(call, a->bytes == fake_elements(a->dims) && b->bytes == fake_elements(b->dims),
                     "an input is not of bytes");
}

// Where the element of the result at this position lies in an input.
static size_t broadcast_index(const struct fake_tensor *tensor, const unsigned dims[4], size_t position)
{
    size_t index = 0, step = 1;
    for (int i = 3; i >= 0; i--) {
        size_t at = position % dims[i];
        position /= dims[i];
        if (tensor->dims[i] > 1) index += at * step;
        step *= tensor->dims[i];
    }
    return index;
}

static void binary(struct fake_call *call, double (*compute)(double, double), double min, double max)
{
    struct fake_scale a = fake_scale(call, 2, 3), b = fake_scale(call, 4, 5);
    struct fake_scale to = fake_ends(call, 1, min, max);
    unsigned dims[4];
    if (!broadcast(call, dims)) return;
    uint8_t *result = fake_result(call, dims, 1);
    const struct fake_tensor *x = fake_in(call, 0), *y = fake_in(call, 1);
    for (size_t i = 0; result && i < fake_elements(dims); i++)
        result[i] = fake_byte(to, compute(fake_value(a, ((uint8_t *)x->data)[broadcast_index(x, dims, i)]),
                                          fake_value(b, ((uint8_t *)y->data)[broadcast_index(y, dims, i)])));
}

static double plus(double a, double b)
{
    return a + b;
}
static double minus(double a, double b)
{
    return a - b;
}
static double over(double a, double b)
{
    return b != 0 ? a / b : a > 0 ? INFINITY : a < 0 ? -INFINITY : 0;
}

void fake_run_add(struct fake_call *call)
{
    if (call->node->input_count == 6)
        binary(call, plus, (double)fake_float(call, 2) + fake_float(call, 4),
               (double)fake_float(call, 3) + fake_float(call, 5));
    else
        binary(call, plus, fake_float(call, 6), fake_float(call, 7));
}

void fake_run_sub(struct fake_call *call)
{
    if (call->node->input_count == 6)
        binary(call, minus, (double)fake_float(call, 2) - fake_float(call, 5),
               (double)fake_float(call, 3) - fake_float(call, 4));
    else
        binary(call, minus, fake_float(call, 6), fake_float(call, 7));
}

void fake_run_divide(struct fake_call *call)
{
    binary(call, over, fake_float(call, 6), fake_float(call, 7));
}

void fake_run_maximum(struct fake_call *call)
{
    binary(call, fmax, fake_float(call, 6), fake_float(call, 7));
}

void fake_run_minimum(struct fake_call *call)
{
    binary(call, fmin, fake_float(call, 6), fake_float(call, 7));
}

void fake_run_multiply(struct fake_call *call)
{
    struct fake_scale a = fake_scale(call, 2, 3), b = fake_scale(call, 4, 5);
    double step = a.step * b.step;
    fake_ends(call, 1, -2147483648.0 * step, 2147483648.0 * step);
    unsigned dims[4];
    if (!broadcast(call, dims)) return;
    int32_t *result = fake_result(call, dims, 4);
    const struct fake_tensor *x = fake_in(call, 0), *y = fake_in(call, 1);
    for (size_t i = 0; result && i < fake_elements(dims); i++)
        result[i] = (((uint8_t *)x->data)[broadcast_index(x, dims, i)] - fake_zero(a)) *
                    (((uint8_t *)y->data)[broadcast_index(y, dims, i)] - fake_zero(b));
}

// ---- one tensor ---------------------------------------------------------------------------------

static void unary(struct fake_call *call, double (*compute)(double, double), double parameter, double min, double max)
{
    const struct fake_tensor *in = fake_in(call, 0);
    struct fake_scale from = fake_scale(call, 1, 2), to = fake_ends(call, 1, min, max);
    if (!fake_hold(call, in->bytes == fake_elements(in->dims), "the input is not of bytes")) return;
    uint8_t *result = fake_result(call, in->dims, 1);
    for (size_t i = 0; result && i < in->bytes; i++)
        result[i] = fake_byte(to, compute(fake_value(from, ((uint8_t *)in->data)[i]), parameter));
}

static double between(double x, double limit)
{
    return fmin(fmax(x, 0), limit);
}
static double logistic(double x, double unused)
{
    (void)unused;
    return 1 / (1 + exp(-x));
}
static double hyperbolic(double x, double unused)
{
    (void)unused;
    return tanh(x);
}
static double negative(double x, double unused)
{
    (void)unused;
    return -x;
}
static double root(double x, double unused)
{
    (void)unused;
    return sqrt(fmax(x, 0));
}
static double swish(double x, double unused)
{
    (void)unused;
    return x * fmin(fmax(x + 3, 0), 6) / 6;
}
static double same(double x, double unused)
{
    (void)unused;
    return x;
}

void fake_run_relu(struct fake_call *call)
{
    unary(call, between, INFINITY, fake_float(call, 1), fake_float(call, 2));
}

void fake_run_relu_x(struct fake_call *call)
{
    unary(call, between, fake_float(call, 3), fake_float(call, 1), fake_float(call, 2));
}

void fake_run_sigmoid(struct fake_call *call)
{
    unary(call, logistic, 0, 0, 1);
}

void fake_run_tanh(struct fake_call *call)
{
    unary(call, hyperbolic, 0, -1, 1);
}

void fake_run_negate(struct fake_call *call)
{
    unary(call, negative, 0, -fake_float(call, 2), -fake_float(call, 1));
}

void fake_run_square_root(struct fake_call *call)
{
    fake_hold(call, fake_float(call, 1) >= 0, "roots of negative numbers");
    unary(call, root, 0, sqrt((double)fake_float(call, 1)), sqrt((double)fake_float(call, 2)));
}

void fake_run_hard_swish(struct fake_call *call)
{
    unary(call, swish, 0, fake_float(call, 3), fake_float(call, 4));
}

void fake_run_requantize_8(struct fake_call *call)
{
    unary(call, same, 0, fake_float(call, 3), fake_float(call, 4));
}

void fake_run_requantize_32(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0);
    double step = fake_step_32(call, 1, 2);
    struct fake_scale to = fake_ends(call, 1, fake_float(call, 3), fake_float(call, 4));
    if (!fake_hold(call, in->bytes == 4 * fake_elements(in->dims), "the input is not of 32 bits")) return;
    uint8_t *result = fake_result(call, in->dims, 1);
    for (size_t i = 0; result && i < fake_elements(in->dims); i++)
        result[i] = fake_byte(to, step * ((int32_t *)in->data)[i]);
}

void fake_run_cast(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0);
    fake_scale(call, 1, 2);
    fake_ends(call, 1, fake_float(call, 1), fake_float(call, 2));
    if (!fake_hold(call, in->bytes == fake_elements(in->dims), "the input is not of bytes")) return;
    uint8_t *result = fake_result(call, in->dims, 1);
    for (size_t i = 0; result && i < in->bytes; i++) result[i] = ((uint8_t *)in->data)[i] ^ 0x80;
}

// ---- along the depth ----------------------------------------------------------------------------

void fake_run_softmax(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0);
    struct fake_scale from = fake_scale(call, 1, 2), to = fake_ends(call, 1, 0, 1);
    double beta = fake_float(call, 3);
    fake_hold(call, beta > 0, "beta is not positive");
    uint8_t *result = fake_result(call, in->dims, 1);
    size_t depth = in->dims[3];
    for (size_t i = 0; result && i < fake_elements(in->dims); i += depth) {
        const uint8_t *x = (uint8_t *)in->data + i;
        double sum = 0;
        for (size_t k = 0; k < depth; k++) sum += exp(beta * (fake_value(from, x[k]) - fake_value(from, 255)));
        for (size_t k = 0; k < depth; k++)
            result[i + k] = fake_byte(to, exp(beta * (fake_value(from, x[k]) - fake_value(from, 255))) / sum);
    }
}

void fake_run_l2_normalize(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0);
    struct fake_scale from = fake_scale(call, 1, 2), to = fake_ends(call, 1, -1, 1);
    uint8_t *result = fake_result(call, in->dims, 1);
    size_t depth = in->dims[3];
    for (size_t i = 0; result && i < fake_elements(in->dims); i += depth) {
        const uint8_t *x = (uint8_t *)in->data + i;
        double sum = 0;
        for (size_t k = 0; k < depth; k++) sum += fake_value(from, x[k]) * fake_value(from, x[k]);
        for (size_t k = 0; k < depth; k++)
            result[i + k] = fake_byte(to, fake_value(from, x[k]) / sqrt(fmax(sum, 1e-12)));
    }
}
