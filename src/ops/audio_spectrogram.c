// SPDX-License-Identifier: Apache-2.0
// AudioSpectrogram: power, or magnitude, of the frequencies in successive windows of sound.
// in 0: samples [n, channels] float32; out 0: y [channels, windows, frequencies] float32.
// A window is window_size samples long and starts stride samples after the last; it is weighted
// with a periodic Hann window, filled with zeros to the next power of two f, and transformed:
// frequencies = f / 2 + 1.
// magnitude_squared: squares of the magnitudes, else their roots.
#include <math.h>

#include "abi/custom_options.h"
#include "ops/common/fft.h"
#include "ops/op.h"

enum { MAX_WINDOW = 1 << 24 };
enum { WEIGHTS, LINE, ROOTS, TEMPORARIES };

struct spectrogram {
    int window, stride;
    bool squared;
    int length; // of the transform
};

static TfLiteStatus spectrogram_parse(TfLiteContext *ctx, void *state, const void *options, size_t size)
{
    (void)ctx;
    struct hl_flex map = hl_options_map(options, size);
    struct spectrogram *op = state;
    op->window = hl_option_int(&map, "window_size", 0);
    op->stride = hl_option_int(&map, "stride", 0);
    op->squared = hl_option_bool(&map, "magnitude_squared", false);
    return kTfLiteOk;
}

static TfLiteStatus spectrogram_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    HL_TRY(hl_make_temporaries(ctx, node, TEMPORARIES));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct spectrogram *op = node->user_data;
    if (x->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, x);
    if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
    HL_REQUIRE(ctx, node, hl_rank(x) == 2, "the input has %d dimensions, not 2", hl_rank(x));
    HL_REQUIRE(ctx, node, op->window >= 2 && op->window <= MAX_WINDOW, "window_size %d is not in 2..%d", op->window,
               MAX_WINDOW);
    HL_REQUIRE(ctx, node, op->stride >= 1, "stride %d must be positive", op->stride);

    op->length = 1;
    while (op->length < op->window) op->length *= 2;
    HL_TRY(hl_set_temporary(ctx, node, WEIGHTS, kTfLiteFloat64, false, 1, &op->window));
    HL_TRY(hl_set_temporary(ctx, node, LINE, kTfLiteFloat64, false, 1, (const int[]){op->length + 2}));
    HL_TRY(hl_set_temporary(ctx, node, ROOTS, kTfLiteFloat64, false, 1, &op->length));
    int samples = hl_dim(x, 0);
    int windows = samples < op->window ? 0 : 1 + (samples - op->window) / op->stride;
    return hl_resize(ctx, hl_output(ctx, node, 0), 3, (const int[]){hl_dim(x, 1), windows, op->length / 2 + 1});
}

static TfLiteStatus spectrogram_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const struct spectrogram *op = node->user_data;
    double *weights = HL_OUT(double, hl_temporary(ctx, node, WEIGHTS));
    double *line = HL_OUT(double, hl_temporary(ctx, node, LINE));
    double *roots = HL_OUT(double, hl_temporary(ctx, node, ROOTS));
    if (hl_elements(y) == 0) return kTfLiteOk; // without samples there may be any number of channels
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < op->window; i++) weights[i] = 0.5 - 0.5 * cos(2 * pi * i / op->window);
    hl_fft_roots(op->length, roots);

    int channels = hl_dim(x, 1), windows = hl_dim(y, 1);
    float *out = HL_OUT(float, y);
    for (int channel = 0; channel < channels; channel++) {
        for (int w = 0; w < windows; w++) {
            const float *in = HL_IN(float, x) + (int64_t)w * op->stride * channels + channel;
            for (int i = 0; i < op->length; i++)
                line[i] = i < op->window ? (double)in[(int64_t)i * channels] * weights[i] : 0;
            hl_fft_real(op->length, roots, line);
            for (int k = 0; k <= op->length / 2; k++) {
                float power = (float)(line[2 * k] * line[2 * k] + line[2 * k + 1] * line[2 * k + 1]);
                *out++ = op->squared ? power : sqrtf(power);
            }
        }
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_audio_spectrogram = {
    .state_size = sizeof(struct spectrogram),
    .parse = spectrogram_parse,
    .prepare = spectrogram_prepare,
    .invoke = spectrogram_invoke,
};
