// SPDX-License-Identifier: Apache-2.0
// From a picture to a model's input, step by step as the official image classification evaluation does it: central
// square, bilinear scaling without half-pixel centers, normalization.
#ifndef HALITE_TOOLS_PREPROCESS_H
#define HALITE_TOOLS_PREPROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "image.h"
#include "tensorflow/lite/c/c_api.h"

// Part of the shorter side that the central square keeps.
#define HL_PREPROCESS_CROP 0.875
// In its place: the whole picture, of any shape.
#define HL_PREPROCESS_WHOLE 0

// An input for pictures: [1,height,width,3] (RGB), [1,height,width,1] or [1,height,width] (gray), float32, uint8 or
// int8.
struct hl_preprocess_shape {
    int width, height, channels;
    TfLiteType type;
};

// NULL, or what is wanted instead of this input.
const char *hl_preprocess_look(const TfLiteTensor *input, struct hl_preprocess_shape *shape);

// What stands between a pixel (0 to 255) and an element of the input.
struct hl_normalization {
    bool given;             // false: the evaluation's own, which depends on the input's type
    double mean[3], std[3]; // per channel: (pixel - mean) / std is the real value; std is not 0
};

// Cuts the central square of round(crop * shorter side) pixels out and scales it to width x height. `pixels` takes
// height * width * channels floats from 0 to 255; channels is 3 (RGB) or 1 (luminance).
void hl_preprocess_scale(const struct hl_image *image, double crop, int width, int height, int channels, float *pixels);

// Writes count values (channels to a pixel) as elements of an input of type float32, uint8 or int8. Where no
// normalization is given: float32 gets (pixel - 127.5) / 127.5, uint8 the pixel, int8 the pixel minus 128, both cut to
// an integer. Where one is given, 8-bit inputs get the real value quantized with the tensor's own scale and zero point.
// False for other types.
bool hl_preprocess_store(const float *pixels, size_t count, int channels, const struct hl_normalization *normalization,
                         TfLiteType type, TfLiteQuantizationParams quantization, void *input);

#endif
