// SPDX-License-Identifier: Apache-2.0
// The arithmetic is float32 throughout and in the evaluation's order: one rounding elsewhere moves single input bytes
// by one, and with them near-ties between classes.
#include "preprocess.h"

#include <math.h>
#include <stdint.h>

// Rec. 601 luminance in thousandths; a gray pixel keeps its value exactly.
static unsigned char luminance(const unsigned char *rgb)
{
    return (unsigned char)((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
}

const char *hl_preprocess_look(const TfLiteTensor *input, struct hl_preprocess_shape *shape)
{
    int rank = TfLiteTensorNumDims(input);
    bool picture = (rank == 3 || rank == 4) && TfLiteTensorDim(input, 0) == 1;
    int channels = rank == 4 ? TfLiteTensorDim(input, 3) : 1;
    if (!picture || (channels != 1 && channels != 3)) return "[1,height,width,3] or [1,height,width,1] is wanted";
    TfLiteType type = TfLiteTensorType(input);
    if (type != kTfLiteFloat32 && type != kTfLiteUInt8 && type != kTfLiteInt8)
        return "float32, uint8 or int8 is wanted";
    *shape = (struct hl_preprocess_shape){
        .width = TfLiteTensorDim(input, 2),
        .height = TfLiteTensorDim(input, 1),
        .channels = channels,
        .type = type,
    };
    return shape->width < 1 || shape->height < 1 ? "it has no pixels" : NULL;
}

// The part of a picture that is scaled.
struct part {
    const struct hl_image *image;
    int left, top, width, height;
};

static float sample(const struct part *part, int y, int x, int channel, int channels)
{
    const struct hl_image *image = part->image;
    const unsigned char *pixel =
        image->rgb + 3 * ((size_t)(part->top + y) * (size_t)image->width + (size_t)(part->left + x));
    return channels == 1 ? luminance(pixel) : pixel[channel];
}

static struct part choose_part(const struct hl_image *image, double crop)
{
    if (crop == HL_PREPROCESS_WHOLE) return (struct part){image, 0, 0, image->width, image->height};
    int shorter = image->width < image->height ? image->width : image->height;
    int side = (int)floor(crop * shorter + 0.5);
    if (side < 1) side = 1;
    return (struct part){
        .image = image,
        .left = (int)floor((image->width - side) / 2.0 + 0.5),
        .top = (int)floor((image->height - side) / 2.0 + 0.5),
        .width = side,
        .height = side,
    };
}

// The two source positions of an output position, and how far between them it lies.
struct between {
    int low, high;
    float part;
};

static struct between source(int position, float scale, int side)
{
    float at = (float)position * scale;
    int low = (int)floorf(at), high = (int)ceilf(at);
    return (struct between){low, high < side - 1 ? high : side - 1, at - floorf(at)};
}

void hl_preprocess_scale(const struct hl_image *image, double crop, int width, int height, int channels, float *pixels)
{
    struct part part = choose_part(image, crop);
    float x_scale = (float)part.width / (float)width, y_scale = (float)part.height / (float)height;
    for (int row = 0; row < height; row++) {
        struct between y = source(row, y_scale, part.height);
        for (int column = 0; column < width; column++) {
            struct between x = source(column, x_scale, part.width);
            for (int c = 0; c < channels; c++) {
                float sum = sample(&part, y.low, x.low, c, channels) * (1 - y.part) * (1 - x.part);
                sum += sample(&part, y.high, x.low, c, channels) * y.part * (1 - x.part);
                sum += sample(&part, y.low, x.high, c, channels) * (1 - y.part) * x.part;
                sum += sample(&part, y.high, x.high, c, channels) * y.part * x.part;
                *pixels++ = sum;
            }
        }
    }
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

// The 8-bit element that stands for a real value.
static double quantize(double real, TfLiteQuantizationParams q, double low, double high)
{
    double scale = q.scale != 0 ? (double)q.scale : 1;
    return clamp(floor(real / scale + 0.5) + q.zero_point, low, high);
}

bool hl_preprocess_store(const float *pixels, size_t count, int channels, const struct hl_normalization *normalization,
                         TfLiteType type, TfLiteQuantizationParams quantization, void *input)
{
    bool given = normalization->given;
    for (size_t i = 0; i < count; i++) {
        size_t channel = i % (size_t)channels;
        double real = given ? ((double)pixels[i] - normalization->mean[channel]) / normalization->std[channel] : 0;
        double stored;
        switch (type) {
        case kTfLiteFloat32:
            ((float *)input)[i] = given ? (float)real : (pixels[i] - 127.5f) * (float)(1 / 127.5);
            break;
        case kTfLiteUInt8:
            stored = given ? quantize(real, quantization, 0, 255) : (double)pixels[i];
            ((uint8_t *)input)[i] = (uint8_t)stored;
            break;
        case kTfLiteInt8:
            stored = given ? quantize(real, quantization, -128, 127) : (double)(pixels[i] - 128.0f);
            ((int8_t *)input)[i] = (int8_t)stored;
            break;
        default: return false;
        }
    }
    return true;
}
