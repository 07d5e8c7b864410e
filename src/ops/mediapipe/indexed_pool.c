// SPDX-License-Identifier: Apache-2.0
// Pools of MediaPipe's models that remember where the largest value stood, and put values back there.
// MaxPoolingWithArgmax2D: in 0: x [batch, height, width, channels];
//   out 0: the largest value of each window, out 1: its place, row * filter width + column, in the
//   window; both [batch, out height, out width, channels]. Of equal values the first counts.
// MaxUnpooling2D: in 0: x [batch, height, width, channels], in 1: places, as above;
//   out 0: [batch, height * filter height, width * filter width, channels], 0 where nothing was put.
// float32; places are float32 or int32, and as floats a little above the integer. The options are the
// bytes of a TfLitePoolParams.
#include <float.h>
#include <string.h>

#include "ops/common/quant.h"
#include "ops/common/window.h"
#include "ops/common/work.h"

struct indexed_pool {
    TfLitePoolParams params;
    struct hl_window y, x;
    float low, high;
};

static TfLiteStatus parse(TfLiteContext *ctx, void *state, const void *options, size_t size)
{
    enum { NEEDED = offsetof(TfLitePoolParams, computed) };
    if (size < NEEDED) {
        ctx->ReportError(ctx, "an indexed pool has %zu bytes of options, it needs %zu", size, (size_t)NEEDED);
        return kTfLiteError;
    }
    memcpy(&((struct indexed_pool *)state)->params, options, NEEDED);
    return kTfLiteOk;
}

static TfLiteStatus require_places(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *places)
{
    bool known = places->type == kTfLiteFloat32 || places->type == kTfLiteInt32;
    return known ? kTfLiteOk : hl_unsupported_type(ctx, node, places);
}

// ---- MaxPoolingWithArgmax2D ---------------------------------------------------------------------

static TfLiteStatus pool_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct indexed_pool *op = node->user_data;
    const TfLitePoolParams *params = &op->params;
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 2));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0), *places = hl_output(ctx, node, 1);
    HL_REQUIRE(ctx, node, hl_rank(x) == 4, "the input has %d dimensions, it must have 4", hl_rank(x));
    if (x->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, x);
    if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
    HL_TRY(require_places(ctx, node, places));
    HL_TRY(hl_window_size(ctx, node, "height", params->padding, hl_dim(x, 1), params->filter_height,
                          params->stride_height, 1, &op->y));
    HL_TRY(hl_window_size(ctx, node, "width", params->padding, hl_dim(x, 2), params->filter_width, params->stride_width,
                          1, &op->x));
    HL_REQUIRE(ctx, node, (int64_t)params->filter_height * params->filter_width <= INT32_MAX,
               "a window of %dx%d has more positions than places have numbers", params->filter_height,
               params->filter_width);
    hl_activation_range_f32(params->activation, &op->low, &op->high);
    int dims[4] = {hl_dim(x, 0), op->y.out, op->x.out, hl_dim(x, 3)};
    HL_TRY(hl_resize(ctx, y, 4, dims));
    return hl_resize(ctx, places, 4, dims);
}

// A float keeps its place when it is cut off, even after it has been a half float.
static void set_place(const TfLiteTensor *places, int64_t at, int64_t place)
{
    if (places->type == kTfLiteInt32)
        HL_OUT(int32_t, places)[at] = (int32_t)place;
    else
        HL_OUT(float, places)[at] = (float)place + 0.1f;
}

// The window at `top`, `left`, which may lie partly outside of an image of height * width.
static void pool_window(const struct indexed_pool *op, const float *image, int height, int width, int channels,
                        int64_t top, int64_t left, float *y, const TfLiteTensor *places, int64_t at)
{
    int64_t row0 = top < 0 ? 0 : top, column0 = left < 0 ? 0 : left;
    int64_t row1 = top + op->params.filter_height, column1 = left + op->params.filter_width;
    if (row1 > height) row1 = height;
    if (column1 > width) column1 = width;
    enum { BLOCK = 64 }; // channels that are treated at once
    for (int first = 0; first < channels; first += BLOCK) {
        int count = channels - first < BLOCK ? channels - first : BLOCK;
        float best[BLOCK];
        int32_t found[BLOCK] = {0};
        for (int c = 0; c < count; c++) best[c] = -FLT_MAX;
        for (int64_t row = row0; row < row1; row++)
            for (int64_t column = column0; column < column1; column++) {
                const float *values = image + (row * width + column) * channels + first;
                int32_t place = (int32_t)((row - top) * op->params.filter_width + column - left);
                for (int c = 0; c < count; c++) {
                    float value = values[c];
                    int32_t better = -(int32_t)(value > best[c]); // a mask: compilers make no vectors of a branch
                    found[c] = (found[c] & ~better) | (place & better);
                    best[c] = value > best[c] ? value : best[c];
                }
            }
        for (int c = 0; c < count; c++) {
            y[at + first + c] = best[c] < op->low ? op->low : best[c] > op->high ? op->high : best[c];
            set_place(places, at + first + c, found[c]);
        }
    }
}

static TfLiteStatus pool_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct indexed_pool *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *places = hl_output(ctx, node, 1);
    float *y = HL_OUT(float, hl_output(ctx, node, 0));
    int height = hl_dim(x, 1), width = hl_dim(x, 2), channels = hl_dim(x, 3);
    int64_t at = 0;
    if (hl_elements(places) == 0) return kTfLiteOk;
    for (int b = 0; b < hl_dim(x, 0); b++) {
        const float *image = HL_IN(float, x) + (int64_t)b * height * width * channels;
        for (int i = 0; i < op->y.out; i++)
            for (int j = 0; j < op->x.out; j++, at += channels)
                pool_window(op, image, height, width, channels, (int64_t)i * op->params.stride_height - op->y.before,
                            (int64_t)j * op->params.stride_width - op->x.before, y, places, at);
    }
    return kTfLiteOk;
}

static double pool_work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLitePoolParams *params = &((const struct indexed_pool *)node->user_data)->params;
    return hl_work_of_window(hl_input(ctx, node, 0), hl_output(ctx, node, 0), params->filter_height,
                             params->filter_width);
}

const struct hl_op hl_op_max_pooling_with_argmax_2d = {
    .state_size = sizeof(struct indexed_pool),
    .parse = parse,
    .prepare = pool_prepare,
    .invoke = pool_invoke,
    .work = pool_work,
};

// ---- MaxUnpooling2D -----------------------------------------------------------------------------

// One axis: the size after, and what a pool over it would have been padded with.
static TfLiteStatus unpool_size(TfLiteContext *ctx, TfLiteNode *node, const char *axis, int in, int filter, int stride,
                                struct hl_window *window)
{
    HL_REQUIRE(ctx, node, filter >= 1 && stride >= 1, "%s: filter %d and stride %d must be positive", axis, filter,
               stride);
    int64_t out = (int64_t)in * filter;
    int64_t reach = ((int64_t)in - 1) * stride + filter;
    HL_REQUIRE(ctx, node, out <= INT32_MAX && reach <= INT32_MAX, "%s %d is too large for filter %d and stride %d",
               axis, in, filter, stride);
    *window = (struct hl_window){.out = (int)out, .before = reach > out ? (int)((reach - out) / 2) : 0};
    return kTfLiteOk;
}

static TfLiteStatus unpool_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct indexed_pool *op = node->user_data;
    const TfLitePoolParams *params = &op->params;
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *places = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, hl_rank(x) == 4, "the input has %d dimensions, it must have 4", hl_rank(x));
    HL_REQUIRE(ctx, node, hl_same_shape(x, places), "values and places differ in shape");
    if (x->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, x);
    if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
    HL_TRY(require_places(ctx, node, places));
    HL_TRY(unpool_size(ctx, node, "height", hl_dim(x, 1), params->filter_height, params->stride_height, &op->y));
    HL_TRY(unpool_size(ctx, node, "width", hl_dim(x, 2), params->filter_width, params->stride_width, &op->x));
    int dims[4] = {hl_dim(x, 0), op->y.out, op->x.out, hl_dim(x, 3)};
    return hl_resize(ctx, y, 4, dims);
}

// -1: no place of a window of `taps` positions.
static int64_t place_at(const TfLiteTensor *places, int64_t at, int64_t taps)
{
    if (places->type == kTfLiteInt32) {
        int32_t place = HL_IN(int32_t, places)[at];
        return place >= 0 && place < taps ? place : -1;
    }
    float place = HL_IN(float, places)[at];
    return place >= 0 && place < (float)taps ? (int64_t)place : -1;
}

static TfLiteStatus unpool_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct indexed_pool *op = node->user_data;
    const TfLitePoolParams *params = &op->params;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *places = hl_input(ctx, node, 1), *y = hl_output(ctx, node, 0);
    int height = hl_dim(x, 1), width = hl_dim(x, 2), channels = hl_dim(x, 3);
    int64_t taps = (int64_t)params->filter_height * params->filter_width, at = 0;
    if (hl_elements(y) == 0) return kTfLiteOk;
    memset(y->data.raw, 0, y->bytes);
    for (int b = 0; b < hl_dim(x, 0); b++) {
        float *image = HL_OUT(float, y) + (int64_t)b * op->y.out * op->x.out * channels;
        for (int i = 0; i < height; i++)
            for (int j = 0; j < width; j++)
                for (int c = 0; c < channels; c++, at++) {
                    int64_t place = place_at(places, at, taps);
                    int64_t row = (int64_t)i * params->stride_height - op->y.before + place / params->filter_width;
                    int64_t column = (int64_t)j * params->stride_width - op->x.before + place % params->filter_width;
                    bool inside = place >= 0 && row >= 0 && row < op->y.out && column >= 0 && column < op->x.out;
                    if (inside) image[(row * op->x.out + column) * channels + c] = HL_IN(float, x)[at];
                }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_max_unpooling_2d = {
    .state_size = sizeof(struct indexed_pool),
    .parse = parse,
    .prepare = unpool_prepare,
    .invoke = unpool_invoke,
};
