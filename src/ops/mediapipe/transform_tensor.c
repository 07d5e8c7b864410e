// SPDX-License-Identifier: Apache-2.0
// TransformTensorBilinear, of MediaPipe's models: a crop of an image, turned and scaled.
// in 0: x [1, height, width, channels], in 1: a matrix of 4 columns, of whose first rows
// (x', y') = matrix * (column, row, 0, 1) is the place in x that an output position shows;
// out 0: [1, out height, out width, channels], bilinear between four positions, 0 outside of x.
// Version 1 (option `output_size`) counts from the middle of the first pixel, version 2 (options
// `output_height`, `output_width`) from its corner. float32.
#include <string.h>

#include "abi/custom_options.h"
#include "ops/op.h"

struct transform_tensor {
    int height, width; // of the output
    bool corners;      // version 2
    bool bilinear;
};

enum { MAX_SIDE = 1 << 24 };

static TfLiteStatus parse(TfLiteContext *ctx, void *state, const void *options, size_t size)
{
    (void)ctx;
    struct transform_tensor *op = state;
    struct hl_flex map = hl_options_map(options, size), value, element;
    const char *mode = "bilinear";
    size_t length = 8;
    if (hl_flex_find(&map, "mode", &value)) hl_flex_string(&value, &mode, &length);
    op->bilinear = length == 8 && memcmp(mode, "bilinear", 8) == 0;
    op->corners = !hl_flex_find(&map, "output_size", &value);
    int64_t sizes[2] = {hl_option_int(&map, "output_height", 0), hl_option_int(&map, "output_width", 0)};
    for (size_t i = 0; i < 2 && !op->corners; i++)
        if (hl_flex_element(&value, i, &element)) hl_flex_integer(&element, &sizes[i]);
    for (int i = 0; i < 2; i++)
        if (sizes[i] < 0 || sizes[i] > INT32_MAX) sizes[i] = 0;
    op->height = (int)sizes[0];
    op->width = (int)sizes[1];
    return kTfLiteOk;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct transform_tensor *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *matrix = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (x->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, x);
    if (matrix->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, matrix);
    if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
    HL_REQUIRE(ctx, node, op->bilinear, "only the mode \"bilinear\" is supported");
    HL_REQUIRE(ctx, node, op->height > 0 && op->width > 0, "output size %dx%d must be positive", op->height, op->width);
    HL_REQUIRE(ctx, node, hl_rank(x) == 4 && hl_dim(x, 0) == 1,
               "the input must have 4 dimensions, the first of them 1");
    HL_REQUIRE(ctx, node, hl_dim(x, 1) <= MAX_SIDE && hl_dim(x, 2) <= MAX_SIDE,
               "an input of %dx%d is too large: its positions must be exact as floats", hl_dim(x, 1), hl_dim(x, 2));
    HL_REQUIRE(ctx, node, hl_elements(matrix) >= 8, "a matrix of %lld values, at least 8 are wanted",
               (long long)hl_elements(matrix));
    return hl_resize(ctx, y, 4, (const int[]){1, op->height, op->width, hl_dim(x, 3)});
}

// Output values at place (column, row) of x, which lies inside.
static void blend(const TfLiteTensor *x, float column, float row, float *y)
{
    int width = hl_dim(x, 2), channels = hl_dim(x, 3);
    int left = (int)column, top = (int)row;
    float right_part = column - (float)left, lower_part = row - (float)top;
    // On the last row or column the part beyond has no weight.
    int64_t across = left + 1 < width ? channels : 0;
    int64_t down = top + 1 < hl_dim(x, 1) ? (int64_t)width * channels : 0;
    const float *corner = HL_IN(float, x) + ((int64_t)top * width + left) * channels;
    for (int c = 0; c < channels; c++) {
        float upper = (1 - right_part) * corner[c] + right_part * corner[c + across];
        float lower = (1 - right_part) * corner[c + down] + right_part * corner[c + down + across];
        y[c] = (1 - lower_part) * upper + lower_part * lower;
    }
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct transform_tensor *op = node->user_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *output = hl_output(ctx, node, 0);
    const float *m = HL_IN(float, hl_input(ctx, node, 1));
    float last_column = (float)hl_dim(x, 2) - 1, last_row = (float)hl_dim(x, 1) - 1;
    float shift_x = m[3], shift_y = m[7];
    if (op->corners) { // half a pixel before, half a pixel back after
        shift_x += m[0] * 0.5f + m[1] * 0.5f - 0.5f;
        shift_y += m[4] * 0.5f + m[5] * 0.5f - 0.5f;
    }
    if (hl_elements(output) == 0) return kTfLiteOk;
    memset(output->data.raw, 0, output->bytes);
    float *y = HL_OUT(float, output);
    for (int i = 0; i < op->height; i++)
        for (int j = 0; j < op->width; j++, y += hl_dim(x, 3)) {
            float column = m[0] * (float)j + m[1] * (float)i + shift_x;
            float row = m[4] * (float)j + m[5] * (float)i + shift_y;
            if (column >= 0 && column <= last_column && row >= 0 && row <= last_row) blend(x, column, row, y);
        }
    return kTfLiteOk;
}

const struct hl_op hl_op_transform_tensor_bilinear = {
    .state_size = sizeof(struct transform_tensor),
    .parse = parse,
    .prepare = prepare,
    .invoke = invoke,
};
