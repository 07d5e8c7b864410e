// SPDX-License-Identifier: Apache-2.0
// One picture scaled into one input, by the steps of preprocess.h.
#include "picture_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "metadata.h"

const char *hl_picture_input_look(const TfLiteTensor *tensor, bool planar, struct hl_picture_input *input)
{
    *input = (struct hl_picture_input){0};
    const char *wanted = hl_preprocess_look(tensor, &input->shape);
    if (wanted == NULL || !planar) return wanted;
    TfLiteType type = TfLiteTensorType(tensor);
    bool known = type == kTfLiteFloat32 || type == kTfLiteUInt8 || type == kTfLiteInt8;
    if (!known || TfLiteTensorNumDims(tensor) != 4 || TfLiteTensorDim(tensor, 0) != 1 ||
        TfLiteTensorDim(tensor, 1) != 3)
        return wanted;
    input->planar = true;
    input->shape = (struct hl_preprocess_shape){.width = TfLiteTensorDim(tensor, 3),
                                                .height = TfLiteTensorDim(tensor, 2),
                                                .channels = 3,
                                                .type = type};
    return input->shape.width > 0 && input->shape.height > 0 ? NULL : wanted;
}

void hl_picture_input_normalize(struct hl_picture_input *input, const TfLiteModel *model, int index)
{
    struct hl_normalization *normalization = &input->normalization;
    if (normalization->given || input->shape.type != kTfLiteFloat32) return;
    if (!hl_metadata_normalization(model, index, normalization)) return;
    // The same as the default, which rounds as the official evaluation does.
    bool same = true;
    for (int i = 0; i < input->shape.channels; i++)
        same = same && normalization->mean[i] == 127.5 && normalization->std[i] == 127.5;
    normalization->given = !same;
}

// The part of the input that the picture fills.
struct area {
    int left, top, width, height;
};

static struct area area_of(const struct hl_picture_input *input, const struct hl_image *image)
{
    struct area area = {0, 0, input->shape.width, input->shape.height};
    if (input->fit == HL_FIT_STRETCH) return area;
    double x = (double)area.width / image->width, y = (double)area.height / image->height, scale = x < y ? x : y;
    int width = (int)floor(image->width * scale + 0.5), height = (int)floor(image->height * scale + 0.5);
    area.width = width < 1 ? 1 : width < area.width ? width : area.width;
    area.height = height < 1 ? 1 : height < area.height ? height : area.height;
    if (input->fit == HL_FIT_CENTER) {
        area.left = (input->shape.width - area.width) / 2;
        area.top = (input->shape.height - area.height) / 2;
    }
    return area;
}

// Planes of blue, green and red from pixels of red, green and blue.
static void make_planes(const float *pixels, size_t count, float *planes)
{
    for (size_t i = 0; i < count; i++)
        for (size_t plane = 0; plane < 3; plane++) planes[plane * count + i] = pixels[3 * i + 2 - plane];
}

void hl_picture_input_fill(const struct hl_picture_input *input, const struct hl_image *image, TfLiteTensor *tensor)
{
    struct area area = area_of(input, image);
    size_t channels = (size_t)input->shape.channels, width = (size_t)input->shape.width;
    size_t count = width * (size_t)input->shape.height, row_floats = (size_t)area.width * channels;
    float *scaled = hl_alloc((size_t)area.height * row_floats, sizeof *scaled);
    float *pixels = hl_alloc(count * channels, sizeof *pixels);
    hl_preprocess_scale(image, input->crop, area.width, area.height, (int)channels, scaled);
    for (size_t i = 0; i < count * channels; i++) pixels[i] = input->bars;
    for (int row = 0; row < area.height; row++)
        memcpy(pixels + ((size_t)(area.top + row) * width + (size_t)area.left) * channels,
               scaled + (size_t)row * row_floats, row_floats * sizeof *pixels);
    free(scaled);
    if (input->planar) {
        float *planes = hl_alloc(count * channels, sizeof *planes);
        make_planes(pixels, count, planes);
        free(pixels);
        pixels = planes;
    }
    hl_preprocess_store(pixels, count * channels, (int)channels, &input->normalization, TfLiteTensorType(tensor),
                        TfLiteTensorQuantizationParams(tensor), TfLiteTensorData(tensor));
    free(pixels);
}

static float to_picture(float part, int input, int start, int length, int side)
{
    float pixels = (part * (float)input - (float)start) / (float)length * (float)side;
    return pixels < 0 ? 0 : pixels > (float)side ? (float)side : pixels;
}

void hl_picture_input_locate(const struct hl_picture_input *input, const struct hl_image *image, float *x, float *y)
{
    struct area area = area_of(input, image);
    *x = to_picture(*x, input->shape.width, area.left, area.width, image->width);
    *y = to_picture(*y, input->shape.height, area.top, area.height, image->height);
}
