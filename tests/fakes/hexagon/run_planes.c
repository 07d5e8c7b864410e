// SPDX-License-Identifier: Apache-2.0
// Operations that make planes smaller or larger, or leave axes out.
#include <math.h>

#include "fake.h"

// The byte at a position of a tensor of bytes.
static uint8_t byte_at(const struct fake_tensor *tensor, unsigned b, unsigned y, unsigned x, unsigned d)
{
    return ((uint8_t *)tensor->data)[((b * (size_t)tensor->dims[1] + y) * tensor->dims[2] + x) * tensor->dims[3] + d];
}

// ---- pools --------------------------------------------------------------------------------------

struct window {
    int top, left, height, width; // within the data
};

static uint8_t greatest(const struct fake_tensor *in, unsigned b, const struct window *window, unsigned d)
{
    uint8_t most = 0;
    for (int y = 0; y < window->height; y++)
        for (int x = 0; x < window->width; x++) {
            uint8_t byte = byte_at(in, b, (unsigned)(window->top + y), (unsigned)(window->left + x), d);
            if (byte > most) most = byte;
        }
    return most;
}

static uint8_t average(const struct fake_tensor *in, unsigned b, const struct window *window, unsigned d)
{
    double sum = 0;
    for (int y = 0; y < window->height; y++)
        for (int x = 0; x < window->width; x++)
            sum += byte_at(in, b, (unsigned)(window->top + y), (unsigned)(window->left + x), d);
    return (uint8_t)floor(sum / (window->height * window->width) + 0.5);
}

static unsigned pooled(hexagon_nn_padding_type padding, int size, int filter, int stride, int *before)
{
    int count = padding == HEXAGON_PAD_VALID ? (size - filter) / stride + 1 : (size + stride - 1) / stride;
    int total = (count - 1) * stride + filter - size;
    *before = padding == HEXAGON_PAD_VALID || total < 0 ? 0 : total / 2;
    return (unsigned)count;
}

static void clip(int *start, int *length, int size)
{
    int end = *start + *length;
    if (*start < 0) *start = 0;
    *length = (end > size ? size : end) - *start;
}

static void pool(struct fake_call *call,
                 uint8_t (*reduce)(const struct fake_tensor *, unsigned, const struct window *, unsigned))
{
    const struct fake_tensor *in = fake_in(call, 0);
    int filter[2], stride[2], before[2];
    fake_scale(call, 1, 2);
    fake_ends(call, 1, fake_float(call, 1), fake_float(call, 2));
    fake_window(call, 3, &filter[0], &filter[1]);
    fake_window(call, 4, &stride[0], &stride[1]);
    unsigned dims[4] = {in->dims[0], 0, 0, in->dims[3]};
    for (int i = 0; i < 2; i++)
        dims[1 + i] = pooled(call->node->padding, (int)in->dims[1 + i], filter[i], stride[i], &before[i]);
    uint8_t *result = fake_result(call, dims, 1);
    for (size_t i = 0; result && i < fake_elements(dims); i++) {
        unsigned d = (unsigned)(i % dims[3]), x = (unsigned)(i / dims[3] % dims[2]);
        unsigned y = (unsigned)(i / dims[3] / dims[2] % dims[1]), b = (unsigned)(i / dims[3] / dims[2] / dims[1]);
        struct window window = {(int)y * stride[0] - before[0], (int)x * stride[1] - before[1], filter[0], filter[1]};
        clip(&window.top, &window.height, (int)in->dims[1]);
        clip(&window.left, &window.width, (int)in->dims[2]);
        result[i] = reduce(in, b, &window, d);
    }
}

void fake_run_max_pool(struct fake_call *call)
{
    int height, width;
    fake_window(call, 3, &height, &width);
    bool padded = call->node->padding == HEXAGON_PAD_SAME;
    fake_hold(call, !padded || (height < 13 && width < 13), "a padded filter of 13 or more");
    pool(call, greatest);
}

void fake_run_average_pool(struct fake_call *call)
{
    pool(call, average);
}

// ---- axes ---------------------------------------------------------------------------------------

void fake_run_mean(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0), *list = fake_in(call, 3);
    struct fake_scale from = fake_scale(call, 1, 2);
    struct fake_scale to = fake_ends(call, 1, fake_float(call, 4), fake_float(call, 5));
    int axes[4] = {0}, count = (int)fake_elements(list->dims);
    if (!fake_hold(call, count >= 1 && count <= 4, "there are more axes than four")) return;
    fake_ints(call, 3, count, axes);
    unsigned dims[4] = {in->dims[0], in->dims[1], in->dims[2], in->dims[3]}, span[4] = {1, 1, 1, 1};
    for (int i = 0; i < count; i++) {
        if (!fake_hold(call, axes[i] >= 0 && axes[i] < 4 && dims[axes[i]] == in->dims[axes[i]], "an axis is wrong"))
            return;
        span[axes[i]] = in->dims[axes[i]];
        dims[axes[i]] = 1;
    }
    uint8_t *result = fake_result(call, dims, 1);
    for (size_t i = 0; result && i < fake_elements(dims); i++) {
        unsigned at[4] = {0};
        size_t rest = i;
        for (int k = 3; k >= 0; rest /= dims[k--]) at[k] = (unsigned)(rest % dims[k]);
        double sum = 0;
        for (size_t n = 0; n < fake_elements(span); n++) {
            unsigned d = (unsigned)(n % span[3]), x = (unsigned)(n / span[3] % span[2]);
            unsigned y = (unsigned)(n / span[3] / span[2] % span[1]), b = (unsigned)(n / span[3] / span[2] / span[1]);
            sum += fake_value(from, byte_at(in, at[0] + b, at[1] + y, at[2] + x, at[3] + d));
        }
        result[i] = fake_byte(to, sum / (double)fake_elements(span));
    }
}

static void arg(struct fake_call *call, bool greatest_one)
{
    const struct fake_tensor *in = fake_in(call, 0);
    int axis = fake_int(call, 1);
    fake_scale(call, 2, 3);
    if (!fake_hold(call, axis >= 0 && axis < 4, "there is no such axis")) return;
    unsigned dims[4] = {in->dims[0], in->dims[1], in->dims[2], in->dims[3]};
    dims[axis] = 1;
    int32_t *result = fake_result(call, dims, 4);
    size_t step = 1;
    for (int i = axis + 1; i < 4; i++) step *= in->dims[i];
    for (size_t i = 0; result && i < fake_elements(dims); i++) {
        const uint8_t *from = (uint8_t *)in->data + i / step * step * in->dims[axis] + i % step;
        int32_t best = 0;
        for (unsigned k = 1; k < in->dims[axis]; k++)
            if (greatest_one ? from[k * step] > from[(size_t)best * step] : from[k * step] < from[(size_t)best * step])
                best = (int32_t)k;
        result[i] = best;
    }
}

void fake_run_arg_max(struct fake_call *call)
{
    arg(call, true);
}

void fake_run_arg_min(struct fake_call *call)
{
    arg(call, false);
}

// ---- resizing -----------------------------------------------------------------------------------

struct resize {
    const struct fake_tensor *in;
    unsigned dims[4];
    bool align, half;
};

static uint8_t *begin_resize(struct fake_call *call, struct resize *resize)
{
    int size[2];
    resize->in = fake_in(call, 0);
    fake_ints(call, 1, 2, size);
    fake_scale(call, 2, 3);
    fake_ends(call, 1, fake_float(call, 2), fake_float(call, 3));
    resize->align = fake_int(call, 4) != 0;
    resize->half = fake_int(call, 5) != 0;
    resize->dims[0] = resize->in->dims[0];
    resize->dims[1] = (unsigned)size[0];
    resize->dims[2] = (unsigned)size[1];
    resize->dims[3] = resize->in->dims[3];
    return fake_result(call, resize->dims, 1);
}

// How far one step of the result goes in the data, on axis 1 or 2.
static float stride_of(const struct resize *resize, int axis)
{
    unsigned in = resize->in->dims[axis], out = resize->dims[axis];
    return resize->align && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
}

static void find_neighbors(const struct resize *resize, int axis, unsigned at, unsigned pair[2], double *part)
{
    float stride = stride_of(resize, axis), last = (float)resize->in->dims[axis] - 1;
    float position = resize->half ? ((float)at + 0.5f) * stride - 0.5f : (float)at * stride;
    float low = floorf(position);
    *part = (double)(position - low);
    pair[0] = (unsigned)fminf(fmaxf(low, 0), last);
    pair[1] = (unsigned)fminf(fmaxf(ceilf(position), 0), last);
}

void fake_run_resize_bilinear(struct fake_call *call)
{
    struct resize resize;
    uint8_t *result = begin_resize(call, &resize);
    const unsigned *dims = resize.dims;
    for (size_t i = 0; result && i < fake_elements(dims); i++) {
        unsigned d = (unsigned)(i % dims[3]), b = (unsigned)(i / dims[3] / dims[2] / dims[1]), ys[2], xs[2];
        double down, right;
        find_neighbors(&resize, 1, (unsigned)(i / dims[3] / dims[2] % dims[1]), ys, &down);
        find_neighbors(&resize, 2, (unsigned)(i / dims[3] % dims[2]), xs, &right);
        double top =
            byte_at(resize.in, b, ys[0], xs[0], d) * (1 - right) + byte_at(resize.in, b, ys[0], xs[1], d) * right;
        double bottom =
            byte_at(resize.in, b, ys[1], xs[0], d) * (1 - right) + byte_at(resize.in, b, ys[1], xs[1], d) * right;
        result[i] = (uint8_t)floor(top * (1 - down) + bottom * down + 0.5);
    }
}

static unsigned nearest(const struct resize *resize, int axis, unsigned at)
{
    float position = ((float)at + (resize->half ? 0.5f : 0)) * stride_of(resize, axis);
    float whole = resize->align ? floorf(position + 0.5f) : floorf(position);
    return (unsigned)fminf(fmaxf(whole, 0), (float)resize->in->dims[axis] - 1);
}

void fake_run_resize_nearest(struct fake_call *call)
{
    struct resize resize;
    uint8_t *result = begin_resize(call, &resize);
    const unsigned *dims = resize.dims;
    for (size_t i = 0; result && i < fake_elements(dims); i++)
        result[i] = byte_at(resize.in, (unsigned)(i / dims[3] / dims[2] / dims[1]),
                            nearest(&resize, 1, (unsigned)(i / dims[3] / dims[2] % dims[1])),
                            nearest(&resize, 2, (unsigned)(i / dims[3] % dims[2])), (unsigned)(i % dims[3]));
}
