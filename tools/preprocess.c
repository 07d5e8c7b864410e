// SPDX-License-Identifier: Apache-2.0
// The arithmetic is float32 throughout and in the evaluation's order: one rounding elsewhere moves single input bytes by one,
// and with them near-ties between classes.
#include "preprocess.h"

#include <math.h>
#include <stdint.h>

// Rec. 601 luminance in thousandths; a grey pixel keeps its value exactly.
static unsigned char luminance(const unsigned char *rgb)
{
    return (unsigned char)((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
}

struct square {
    const struct hl_image *image;
    int left, top, side;
};

static float sample(const struct square *square, int y, int x, int channel, int channels)
{
    const struct hl_image *image = square->image;
    const unsigned char *pixel =
        image->rgb +
        3 * ((size_t)(square->top + y) * (size_t)image->width + (size_t)(square->left + x));
    return channels == 1 ? luminance(pixel) : pixel[channel];
}

static struct square central_square(const struct hl_image *image, double crop)
{
    int shorter = image->width < image->height ? image->width : image->height;
    int side = (int)floor(crop * shorter + 0.5);
    if (side < 1) side = 1;
    return (struct square){
        .image = image,
        .left = (int)floor((image->width - side) / 2.0 + 0.5),
        .top = (int)floor((image->height - side) / 2.0 + 0.5),
        .side = side,
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

void hl_preprocess_scale(const struct hl_image *image, double crop, int width, int height,
                         int channels, float *pixels)
{
    struct square square = central_square(image, crop);
    float x_scale = (float)square.side / (float)width, y_scale = (float)square.side / (float)height;
    for (int row = 0; row < height; row++) {
        struct between y = source(row, y_scale, square.side);
        for (int column = 0; column < width; column++) {
            struct between x = source(column, x_scale, square.side);
            for (int c = 0; c < channels; c++) {
                float sum =
                    sample(&square, y.low, x.low, c, channels) * (1 - y.part) * (1 - x.part);
                sum += sample(&square, y.high, x.low, c, channels) * y.part * (1 - x.part);
                sum += sample(&square, y.low, x.high, c, channels) * (1 - y.part) * x.part;
                sum += sample(&square, y.high, x.high, c, channels) * y.part * x.part;
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
static double quantise(double real, TfLiteQuantizationParams q, double low, double high)
{
    double scale = q.scale != 0 ? (double)q.scale : 1;
    return clamp(floor(real / scale + 0.5) + q.zero_point, low, high);
}

bool hl_preprocess_store(const float *pixels, size_t count, int channels,
                         const struct hl_normalisation *normalisation, TfLiteType type,
                         TfLiteQuantizationParams quantisation, void *input)
{
    bool given = normalisation->given;
    for (size_t i = 0; i < count; i++) {
        size_t channel = i % (size_t)channels;
        double real =
            given ? ((double)pixels[i] - normalisation->mean[channel]) / normalisation->std[channel]
                  : 0;
        double stored;
        switch (type) {
        case kTfLiteFloat32:
            ((float *)input)[i] = given ? (float)real : (pixels[i] - 127.5f) * (float)(1 / 127.5);
            break;
        case kTfLiteUInt8:
            stored = given ? quantise(real, quantisation, 0, 255) : (double)pixels[i];
            ((uint8_t *)input)[i] = (uint8_t)stored;
            break;
        case kTfLiteInt8:
            stored = given ? quantise(real, quantisation, -128, 127) : (double)(pixels[i] - 128.0f);
            ((int8_t *)input)[i] = (int8_t)stored;
            break;
        default: return false;
        }
    }
    return true;
}
