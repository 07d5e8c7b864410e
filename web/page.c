// SPDX-License-Identifier: Apache-2.0
// See page.h. Pictures are cut, scaled and normalized as `halite label` does it.
#include "page.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/report.h"
#include "metadata.h"
#include "own.h"
#include "preprocess.h"
#include "tensorflow/lite/c/c_api.h"

static struct {
    void *bytes; // of the model's file
    TfLiteModel *model;
    TfLiteInterpreter *interpreter;
    struct hl_preprocess_shape shape;
    struct hl_normalization normalization;
    float *pixels; // of the input
    float *scores;
    int classes;
} page;
static char message[500];

static void say(const char *format, ...) HL_PRINTF(1, 2);
static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
}

static void report(void *user_data, const char *format, va_list args)
{
    (void)user_data;
    vsnprintf(message, sizeof message, format, args);
}

const char *page_message(void)
{
    return message;
}

void *page_memory(size_t bytes)
{
    return malloc(bytes);
}

void page_release(void *memory)
{
    free(memory);
}

const unsigned char *page_own_model(void)
{
    return page_model;
}

size_t page_own_model_bytes(void)
{
    return page_model_bytes;
}

const unsigned char *page_own_picture(void)
{
    return page_picture;
}

size_t page_own_picture_bytes(void)
{
    return page_picture_bytes;
}

const char *page_own_labels(void)
{
    return (const char *)page_labels;
}

static void close_model(void)
{
    TfLiteInterpreterDelete(page.interpreter);
    TfLiteModelDelete(page.model);
    free(page.bytes);
    free(page.pixels);
    free(page.scores);
    page.interpreter = NULL;
    page.model = NULL;
    page.bytes = NULL;
    page.pixels = page.scores = NULL;
    page.classes = 0;
    page.normalization = (struct hl_normalization){0};
}

static bool make_interpreter(size_t bytes)
{
    page.model = TfLiteModelCreateWithErrorReporter(page.bytes, bytes, report, NULL);
    TfLiteInterpreterOptions *options = page.model ? TfLiteInterpreterOptionsCreate() : NULL;
    if (options) {
        TfLiteInterpreterOptionsSetErrorReporter(options, report, NULL);
        page.interpreter = TfLiteInterpreterCreate(page.model, options);
    }
    TfLiteInterpreterOptionsDelete(options);
    return page.interpreter && TfLiteInterpreterAllocateTensors(page.interpreter) == kTfLiteOk;
}

// Does the model take a picture and give scores?
static bool look_at_model(void)
{
    if (TfLiteInterpreterGetInputTensorCount(page.interpreter) != 1) {
        say("the model has more than one input; a classifier of pictures is wanted");
        return false;
    }
    const char *wanted = hl_preprocess_look(TfLiteInterpreterGetInputTensor(page.interpreter, 0), &page.shape);
    if (wanted) {
        say("the model's input is no picture: %s", wanted);
        return false;
    }
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(page.interpreter, 0);
    TfLiteType type = output ? TfLiteTensorType(output) : kTfLiteNoType;
    size_t size = type == kTfLiteFloat32 ? sizeof(float) : 1;
    if (type != kTfLiteFloat32 && type != kTfLiteUInt8 && type != kTfLiteInt8) {
        say("the model's first output is neither float32 nor uint8 or int8; a classifier of pictures is wanted");
        return false;
    }
    size_t classes = TfLiteTensorByteSize(output) / size;
    int rank = TfLiteTensorNumDims(output);
    if (classes < 2 || classes > 1000000 || rank < 1 || (size_t)TfLiteTensorDim(output, rank - 1) != classes) {
        say("the model's first output is no list of scores; a classifier of pictures is wanted");
        return false;
    }
    page.classes = (int)classes;
    return true;
}

int page_open(void *model, size_t bytes)
{
    close_model();
    page.bytes = model;
    say("%s", "the model cannot be used");
    if (make_interpreter(bytes) && look_at_model()) {
        hl_metadata_normalization(page.model, 0, &page.normalization);
        if (page.shape.type != kTfLiteFloat32) page.normalization.given = false;
        page.pixels = calloc((size_t)page.shape.width * (size_t)page.shape.height,
                             (size_t)page.shape.channels * sizeof *page.pixels);
        page.scores = calloc((size_t)page.classes, sizeof *page.scores);
        if (page.pixels && page.scores) return page.classes;
        say("%s", "the model does not fit into memory");
    }
    close_model();
    return 0;
}

int page_prepare(const unsigned char *pixels, int width, int height)
{
    if (!page.interpreter) {
        say("%s", "there is no model");
        return 0;
    }
    size_t count = (size_t)width * (size_t)height;
    struct hl_image image = {.width = width, .height = height, .rgb = malloc(count * 3)};
    if (!image.rgb) {
        say("%s", "the picture does not fit into memory");
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < 3; c++) image.rgb[3 * i + c] = pixels[4 * i + c];
    int side = page.shape.width, rows = page.shape.height, channels = page.shape.channels;
    hl_preprocess_scale(&image, channels == 3 ? HL_PREPROCESS_CROP : 1, side, rows, channels, page.pixels);
    free(image.rgb);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(page.interpreter, 0);
    return hl_preprocess_store(page.pixels, (size_t)side * (size_t)rows * (size_t)channels, channels,
                               &page.normalization, page.shape.type, TfLiteTensorQuantizationParams(input),
                               TfLiteTensorData(input));
}

int page_run(void)
{
    if (page.interpreter) return TfLiteInterpreterInvoke(page.interpreter) == kTfLiteOk;
    say("%s", "there is no model");
    return 0;
}

const float *page_scores(void)
{
    const TfLiteTensor *output = page.interpreter ? TfLiteInterpreterGetOutputTensor(page.interpreter, 0) : NULL;
    const void *data = output ? TfLiteTensorData(output) : NULL;
    if (!data) return NULL;
    TfLiteQuantizationParams quantization = TfLiteTensorQuantizationParams(output);
    for (int i = 0; i < page.classes; i++) {
        switch (TfLiteTensorType(output)) {
        case kTfLiteFloat32: page.scores[i] = ((const float *)data)[i]; break;
        case kTfLiteInt8:
            page.scores[i] = quantization.scale * (float)(((const int8_t *)data)[i] - quantization.zero_point);
            break;
        default: page.scores[i] = quantization.scale * (float)(((const uint8_t *)data)[i] - quantization.zero_point);
        }
        if (!isfinite(page.scores[i])) {
            say("%s", "a score is no number: the model may want another range of its input");
            return NULL;
        }
    }
    return page.scores;
}
