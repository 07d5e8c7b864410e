// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR: images to another height and width.
// in 0: x [b, h, w, c]; in 1: new height and width, int32 [2]; out 0: y [b, new h, new w, c].
// Output row r samples x at row r * h / new h; align_corners: at r * (h-1) / (new h - 1);
// half_pixel_centers: at (r + 1/2) * h / new h - 1/2. Columns likewise.
// Bilinear: float32; uint8 in float, plus 1/2, truncated; int8 and int16 with coordinates in units
// of 2^-10. Nearest: any type of 1, 2 or 4 bytes. Stored values are not rescaled.
#include "ops/resize.h"

#include <math.h>
#include <string.h>

#include "fast/fast.h"

static bool size_is_wanted(const TfLiteTensor *size)
{
    return size->type == kTfLiteInt32 && hl_rank(size) == 1 && hl_dim(size, 0) == 2;
}

static TfLiteStatus resize_output(TfLiteContext *ctx, const TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int32_t *size = HL_IN(int32_t, hl_input(ctx, node, 1));
    HL_REQUIRE(ctx, node, size[0] > 0 && size[1] > 0, "new size %dx%d must be positive", (int)size[0], (int)size[1]);
    HL_REQUIRE(ctx, node, hl_dim(x, 1) > 0 && hl_dim(x, 2) > 0, "an image of %dx%d cannot be resized", hl_dim(x, 1),
               hl_dim(x, 2));
    const int dims[4] = {hl_dim(x, 0), size[0], size[1], hl_dim(x, 3)};
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *size = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, hl_rank(x) == 4, "the input has %d dimensions, not 4", hl_rank(x));
    HL_REQUIRE(ctx, node, size_is_wanted(size), "the new size must be 2 int32 values");
    HL_TRY(hl_require_same_type(ctx, node, x, y));
    return hl_resize_when_known(ctx, node, y, hl_is_constant(size), resize_output);
}

// ---- bilinear -----------------------------------------------------------------------------------

struct hl_resize_axis hl_resize_axis(int in, int out, bool align_corners, bool half_pixel)
{
    struct hl_resize_axis axis = {.in = in, .half_pixel = half_pixel};
    int64_t from = in, to = out;
    if (align_corners && out > 1) from--, to--;
    axis.scale = (float)from / (float)to;
    axis.scale_1024 = (1024 * from + to / 2) / to;
    return axis;
}

static int clamp_index(int64_t index, int size)
{
    return index < 0 ? 0 : index >= size ? size - 1 : (int)index;
}

struct hl_resize_sample hl_resize_float(const struct hl_resize_axis *axis, int position)
{
    float at = axis->half_pixel ? ((float)position + 0.5f) * axis->scale - 0.5f : (float)position * axis->scale;
    struct hl_resize_sample s = {
        .first = clamp_index((int64_t)floorf(at), axis->in),
        .second = clamp_index((int64_t)ceilf(at), axis->in),
    };
    s.part = at - (float)s.first;
    return s;
}

struct hl_resize_sample hl_resize_fixed(const struct hl_resize_axis *axis, int position)
{
    int64_t at = position * axis->scale_1024;
    if (axis->half_pixel) at += axis->scale_1024 / 2 - 512;
    struct hl_resize_sample s = {
        .first = clamp_index(at / 1024, axis->in),
        .second = clamp_index((at + 1023) / 1024, axis->in),
    };
    s.part_1024 = at - 1024 * (int64_t)s.first;
    return s;
}

// One output pixel of count channels from the four input pixels around it.
typedef void (*blend_function)(const void *top_left, const void *top_right, const void *bottom_left,
                               const void *bottom_right, const struct hl_resize_sample *row,
                               const struct hl_resize_sample *column, int count, void *pixel);

// `part`: how the two samples tell their distances, as numbers of the type Weight. `blended`: y[i] of a, b, c, d.
#define BLEND(name, type, Weight, part, blended)                                                                     \
    static void name(const void *top_left, const void *top_right, const void *bottom_left, const void *bottom_right, \
                     const struct hl_resize_sample *row, const struct hl_resize_sample *column, int count,           \
                     void *pixel)                                                                                    \
    {                                                                                                                \
        const type *a = top_left, *b = top_right, *c = bottom_left, *d = bottom_right;                               \
        type *y = pixel;                                                                                             \
        Weight down = row->part, right = column->part;                                                               \
        for (int i = 0; i < count; i++) y[i] = (type)(blended);                                                      \
    }
#define BLENDED_FLOAT                                                                                             \
    (float)a[i] * (1 - down) * (1 - right) + (float)c[i] * down *(1 - right) + (float)b[i] * (1 - down) * right + \
        (float)d[i] * down *right
#define BLENDED_FIXED                                                                         \
    rounded_to_integer(a[i] * (1024 - down) * (1024 - right) + c[i] * down * (1024 - right) + \
                       b[i] * (1024 - down) * right + d[i] * down * right)

// From units of 2^-20, half away from 0.
static inline int64_t rounded_to_integer(int64_t sum)
{
    return (sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20);
}

BLEND(blend_f32, float, float, part, BLENDED_FLOAT + 0.0f)
BLEND(blend_u8, uint8_t, float, part, BLENDED_FLOAT + 0.5f)
BLEND(blend_i8, int8_t, int64_t, part_1024, BLENDED_FIXED)
BLEND(blend_i16, int16_t, int64_t, part_1024, BLENDED_FIXED)

struct bilinear {
    blend_function blend;
    struct hl_resize_sample (*sample)(const struct hl_resize_axis *axis, int position);
};

static TfLiteStatus bilinear_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(prepare(ctx, node));
    const TfLiteResizeBilinearParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    struct bilinear *op = node->user_data;
    HL_REQUIRE(ctx, node, !params->align_corners || !params->half_pixel_centers,
               "align_corners and half_pixel_centers exclude each other");
    op->sample = hl_resize_float;
    switch (x->type) {
    case kTfLiteFloat32: op->blend = blend_f32; break;
    case kTfLiteUInt8: op->blend = blend_u8; break;
    case kTfLiteInt8: op->blend = blend_i8, op->sample = hl_resize_fixed; break;
    case kTfLiteInt16: op->blend = blend_i16, op->sample = hl_resize_fixed; break;
    default: return hl_unsupported_type(ctx, node, x);
    }
    return kTfLiteOk;
}

static TfLiteStatus bilinear_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteResizeBilinearParams *params = node->builtin_data;
    const struct bilinear *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_is_dynamic(y)) HL_TRY(resize_output(ctx, node));
    if (hl_elements(y) == 0) return kTfLiteOk;

    int in_width = hl_dim(x, 2), height = hl_dim(y, 1), width = hl_dim(y, 2), channels = hl_dim(y, 3);
    bool align = params->align_corners, half = params->half_pixel_centers;
    struct hl_resize_axis rows = hl_resize_axis(hl_dim(x, 1), height, align, half);
    struct hl_resize_axis columns = hl_resize_axis(in_width, width, align, half);
    size_t pixel = (size_t)channels * hl_type_size(x->type), in_row = (size_t)in_width * pixel;
    char *out = y->data.raw;
    for (int b = 0; b < hl_dim(x, 0); b++) {
        const char *image = HL_IN(char, x) + (size_t)b * (size_t)hl_dim(x, 1) * in_row;
        for (int r = 0; r < height; r++) {
            struct hl_resize_sample row = op->sample(&rows, r);
            const char *top = image + (size_t)row.first * in_row;
            const char *bottom = image + (size_t)row.second * in_row;
            for (int c = 0; c < width; c++, out += pixel) {
                struct hl_resize_sample column = op->sample(&columns, c);
                size_t left = (size_t)column.first * pixel, right = (size_t)column.second * pixel;
                op->blend(top + left, top + right, bottom + left, bottom + right, &row, &column, channels, out);
            }
        }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_resize_bilinear = {
    .state_size = sizeof(struct bilinear),
    .prepare = bilinear_prepare,
    .invoke = bilinear_invoke,
    .fast = &hl_fast_resize_bilinear,
};

// ---- nearest neighbor --------------------------------------------------------------------------

static TfLiteStatus nearest_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(prepare(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    size_t size = hl_type_size(x->type);
    if (size != 1 && size != 2 && size != 4) return hl_unsupported_type(ctx, node, x);
    return kTfLiteOk;
}

static int nearest(int position, int in, int out, bool align_corners, bool half_pixel)
{
    float scale = align_corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    float at = ((float)position + (half_pixel ? 0.5f : 0.0f)) * scale;
    return clamp_index((int64_t)(align_corners ? roundf(at) : floorf(at)), in);
}

static TfLiteStatus nearest_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteResizeNearestNeighborParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (hl_is_dynamic(y)) HL_TRY(resize_output(ctx, node));
    if (hl_elements(y) == 0) return kTfLiteOk;

    int in_height = hl_dim(x, 1), in_width = hl_dim(x, 2), height = hl_dim(y, 1), width = hl_dim(y, 2);
    bool align = params->align_corners, half = params->half_pixel_centers;
    if (in_width == 1 && width == 1) { // a column of single pixels is a row in memory
        in_width = in_height, in_height = 1;
        width = height, height = 1;
    }
    size_t pixel = (size_t)hl_dim(x, 3) * hl_type_size(x->type), in_row = (size_t)in_width * pixel;
    char *out = y->data.raw;
    size_t out_row = (size_t)width * pixel;
    for (int b = 0; b < hl_dim(x, 0); b++) {
        const char *image = HL_IN(char, x) + (size_t)b * (size_t)in_height * in_row;
        int before = -1;
        for (int r = 0; r < height; r++, out += out_row) {
            int from = nearest(r, in_height, height, align, half);
            if (from == before) { // the same pixels once more
                memcpy(out, out - out_row, out_row);
                continue;
            }
            before = from;
            const char *row = image + (size_t)from * in_row;
            for (int c = 0; c < width; c++)
                memcpy(out + (size_t)c * pixel, row + (size_t)nearest(c, in_width, width, align, half) * pixel, pixel);
        }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_resize_nearest_neighbor = {
    .prepare = nearest_prepare,
    .invoke = nearest_invoke,
};
