// SPDX-License-Identifier: Apache-2.0
// See input.h.
#include "transcribe/input.h"

#include <math.h>
#include <string.h>

#include "message.h"
#include "metadata.h"

// ---- what the model takes -----------------------------------------------------------------------

static bool is_float_or_short(TfLiteType type)
{
    return type == kTfLiteFloat32 || type == kTfLiteInt16;
}

// Samples in a row: [n], [1,n], [n,1], [1,n,1].
static bool is_row(const TfLiteTensor *tensor)
{
    int64_t count = hl_model_elements(tensor);
    for (int d = 0; d < TfLiteTensorNumDims(tensor); d++)
        if (TfLiteTensorDim(tensor, d) == count) return true;
    return false;
}

static bool fits_kind(const TfLiteTensor *tensor, const struct hl_feature_kind *kind)
{
    TfLiteType type = TfLiteTensorType(tensor);
    int rank = TfLiteTensorNumDims(tensor);
    int64_t count = hl_model_elements(tensor);
    if (type != kTfLiteFloat32 && type != kTfLiteInt8 && type != kTfLiteUInt8) return false;
    if (rank < 2 || count <= 0 || count % kind->channels != 0) return false;
    if (is_row(tensor)) return count > kind->channels; // [1,frames * channels]
    int last = TfLiteTensorDim(tensor, rank - 1);
    return last == kind->channels || (last == 1 && TfLiteTensorDim(tensor, rank - 2) == kind->channels);
}

// The largest real number that an 8-bit input holds; 0 for floats.
static double range_of(const TfLiteTensor *tensor)
{
    TfLiteQuantizationParams quantization = TfLiteTensorQuantizationParams(tensor);
    int top = TfLiteTensorType(tensor) == kTfLiteInt8 ? 127 : 255;
    if (TfLiteTensorType(tensor) == kTfLiteFloat32) return 0;
    return (double)quantization.scale * (top - quantization.zero_point);
}

// The kind that shape and range give away: the publicly known models' own. NULL: none does.
static const struct hl_feature_kind *guess_kind(const TfLiteTensor *tensor)
{
    enum { MICRO, MFCC, LFBE };
    const double range = range_of(tensor);
    const int64_t count = hl_model_elements(tensor);
    static const struct {
        int kind, frames; // 0: any number
        double low, high; // of the range
    } known[] = {
        {MICRO, 0, 24, 28}, // 0 to 670, divided by 25.6
        {MFCC, 49, 0, 1000},
        {LFBE, 30, 0.9, 1.1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct hl_feature_kind *kind = &hl_feature_kinds[known[i].kind];
        if (fits_kind(tensor, kind) && range >= known[i].low && range <= known[i].high &&
            (known[i].frames == 0 || count == (int64_t)known[i].frames * kind->channels))
            return kind;
    }
    return NULL;
}

static bool named_kind(const struct hl_task *task, const char *name, const TfLiteTensor *tensor,
                       const struct hl_feature_kind **kind)
{
    struct hl_text names = {0};
    for (*kind = hl_feature_kinds; (*kind)->name != NULL; (*kind)++) {
        if (strcmp((*kind)->name, name) == 0) break;
        hl_text_add(&names, "%s, ", (*kind)->name);
    }
    bool found = (*kind)->name != NULL;
    if (!found) hl_error(task->kind->command, NULL, "--features %s: %sor samples are known", name, names.data);
    hl_text_free(&names);
    if (!found || fits_kind(tensor, *kind)) return found;
    return hl_task_misfit(task, "the input", tensor, "the features named with --features have other numbers a frame");
}

// A model whose first second input takes the rate hears samples as well.
static bool has_rate_input(const struct hl_task *task)
{
    if (TfLiteInterpreterGetInputTensorCount(task->file.interpreter) != 2) return false;
    const TfLiteTensor *second = TfLiteInterpreterGetInputTensor(task->file.interpreter, 1);
    return TfLiteTensorType(second) == kTfLiteInt32 && hl_model_elements(second) == 1;
}

static bool check_inputs(const struct hl_task *task)
{
    int count = TfLiteInterpreterGetInputTensorCount(task->file.interpreter);
    if (count == 1 || has_rate_input(task)) return true;
    hl_error(task->kind->command, task->file.path,
             "has %d inputs; a model with one input, sound, is wanted, or with its rate as a second one", count);
    return false;
}

static bool use_samples(struct hl_sound_input *input, const struct hl_task *task,
                        const struct hl_sound_options *options, const TfLiteTensor *tensor)
{
    enum { SHORTEST = 4000 }; // fewer may be anything
    bool named = options->features != NULL, fits = is_row(tensor) && is_float_or_short(TfLiteTensorType(tensor));
    int told = hl_metadata_sound_rate(task->file.model, 0);
    if (named && !fits) return hl_task_misfit(task, "the input", tensor, "samples are [1,n], float32 or int16");
    if (!fits || (!named && told == 0 && !has_rate_input(task) && hl_model_elements(tensor) < SHORTEST))
        return hl_task_misfit(task, "the input", tensor,
                              "neither samples (float32 or int16, 4000 or more) nor features whose formulas are known "
                              "here, and its file does not say how they are made; --features may name them");
    input->window = hl_model_elements(tensor);
    input->rate = options->rate > 0 ? options->rate : told > 0 ? told : HL_FEATURES_RATE;
    return true;
}

static int64_t in_samples(double seconds, int rate, int64_t otherwise)
{
    double samples = floor(seconds * rate + 0.5);
    return seconds <= 0 ? otherwise : samples < 1 ? 1 : (int64_t)samples;
}

static bool use_features(struct hl_sound_input *input, const struct hl_task *task,
                         const struct hl_sound_options *options, const TfLiteTensor *tensor,
                         const struct hl_feature_kind *kind)
{
    if (options->rate > 0 && options->rate != HL_FEATURES_RATE) {
        hl_error(task->kind->command, NULL, "--rate %d: the features %s are made of %d samples a second", options->rate,
                 kind->name, HL_FEATURES_RATE);
        return false;
    }
    input->features = true;
    input->rate = HL_FEATURES_RATE;
    input->frames = (int)(hl_model_elements(tensor) / kind->channels);
    // Models that go on where they stopped are trained on twice as many frames of the micro frontend.
    int usual = task->keeps_state && !kind->by_window ? kind->step / 2 : kind->step;
    input->frame_step = (int)in_samples(options->frame_step, input->rate, usual);
    if (input->frame_step > kind->frame) input->frame_step = kind->frame;
    input->window = (int64_t)(input->frames - 1) * input->frame_step + kind->frame;
    hl_features_start(&input->make, kind, input->frame_step);
    return true;
}

bool hl_sound_input_look(struct hl_sound_input *input, const struct hl_task *task,
                         const struct hl_sound_options *options)
{
    const TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(task->file.interpreter, 0);
    const struct hl_feature_kind *kind = NULL;
    *input = (struct hl_sound_input){0};
    if (!check_inputs(task)) return false;
    bool samples = options->features != NULL && strcmp(options->features, "samples") == 0;
    if (options->features == NULL)
        kind = guess_kind(tensor);
    else if (!samples && !named_kind(task, options->features, tensor, &kind))
        return false;
    if (kind != NULL ? !use_features(input, task, options, tensor, kind) : !use_samples(input, task, options, tensor))
        return false;
    // A model with a state hears everything once.
    int64_t once = input->features ? (int64_t)input->frames * input->frame_step : input->window;
    input->step = in_samples(options->step, input->rate, task->keeps_state ? once : (input->window + 1) / 2);
    if (input->step > once) input->step = once;
    if (!input->features) return true;
    input->row_step = (int)((input->step + input->frame_step / 2) / input->frame_step);
    if (input->row_step < 1) input->row_step = 1;
    input->step = (int64_t)input->row_step * input->frame_step;
    return true;
}

// ---- filling it ---------------------------------------------------------------------------------

static void store(TfLiteTensor *tensor, int64_t i, float value)
{
    TfLiteQuantizationParams quantization = TfLiteTensorQuantizationParams(tensor);
    float scaled = quantization.scale > 0 ? roundf(value / quantization.scale) + (float)quantization.zero_point : 0;
    switch (TfLiteTensorType(tensor)) {
    case kTfLiteInt8: ((int8_t *)TfLiteTensorData(tensor))[i] = (int8_t)fmaxf(-128, fminf(127, scaled)); break;
    case kTfLiteUInt8: ((uint8_t *)TfLiteTensorData(tensor))[i] = (uint8_t)fmaxf(0, fminf(255, scaled)); break;
    case kTfLiteInt16: // samples as they are counted, whatever the scale
        ((int16_t *)TfLiteTensorData(tensor))[i] = (int16_t)fmaxf(-32768, fminf(32767, roundf(value * 32768)));
        break;
    default: ((float *)TfLiteTensorData(tensor))[i] = value;
    }
}

static void fill(const struct hl_sound_input *input, const struct hl_task *task, const float *values)
{
    TfLiteInterpreter *interpreter = task->file.interpreter;
    TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(interpreter, 0);
    int64_t count = hl_model_elements(tensor);
    for (int64_t i = 0; i < count; i++) store(tensor, i, values[i]);
    if (TfLiteInterpreterGetInputTensorCount(interpreter) == 2)
        *(int32_t *)TfLiteTensorData(TfLiteInterpreterGetInputTensor(interpreter, 1)) = input->rate;
}

// The features of all frames of a window, whose samples are divided by the largest.
static void add_window_rows(struct hl_sound_input *input)
{
    const float *samples = input->samples.items;
    float largest = 0, row[HL_FEATURES_MAX];
    for (int64_t i = 0; i < input->window; i++) largest = fmaxf(largest, samples[i]);
    double gain = largest > 0 ? 1 / (double)largest : 1;
    for (int frame = 0; frame < input->frames; frame++) {
        hl_features_add(&input->make, samples + (size_t)frame * (size_t)input->frame_step, gain, row);
        hl_samples_add(&input->rows, row, (size_t)input->make.kind->channels);
    }
}

// The next window of samples, or of all features of a window. False where there is none yet.
static bool take_window(struct hl_sound_input *input, const struct hl_task *task)
{
    if (input->samples.count < (size_t)input->window) return false;
    if (input->features) {
        add_window_rows(input);
        fill(input, task, input->rows.items);
        hl_samples_drop(&input->rows, input->rows.count);
    } else {
        fill(input, task, input->samples.items);
    }
    hl_samples_drop(&input->samples, (size_t)input->step);
    return true;
}

// The next window of features that are made frame by frame. False where there is none yet.
static bool take_rows(struct hl_sound_input *input, const struct hl_task *task)
{
    const struct hl_feature_kind *kind = input->make.kind;
    const size_t channels = (size_t)kind->channels, wanted = (size_t)input->frames * channels;
    float row[HL_FEATURES_MAX];
    while (input->rows.count < wanted && input->samples.count >= (size_t)kind->frame) {
        hl_features_add(&input->make, input->samples.items, 1, row);
        hl_samples_add(&input->rows, row, channels);
        hl_samples_drop(&input->samples, (size_t)input->frame_step);
    }
    if (input->rows.count < wanted) return false;
    fill(input, task, input->rows.items);
    hl_samples_drop(&input->rows, (size_t)input->row_step * channels);
    return true;
}

static bool feed(struct hl_sound_input *input, const struct hl_task *task, const float *samples, size_t count,
                 bool (*window)(void *user_data), void *user_data)
{
    bool by_frame = input->features && !input->make.kind->by_window;
    hl_samples_add(&input->samples, samples, count);
    while (by_frame ? take_rows(input, task) : take_window(input, task)) {
        if (!window(user_data)) return false;
        input->windows++;
    }
    return true;
}

bool hl_sound_input_add(struct hl_sound_input *input, const struct hl_task *task, const float *samples, size_t count,
                        bool (*window)(void *user_data), void *user_data)
{
    input->taken += (int64_t)count;
    return feed(input, task, samples, count, window, user_data);
}

bool hl_sound_input_finish(struct hl_sound_input *input, const struct hl_task *task, bool (*window)(void *user_data),
                           void *user_data)
{
    int64_t next = input->windows * input->step, heard = input->windows > 0 ? next - input->step + input->window : 0;
    int64_t left = input->taken - heard, wanted = next + input->window - input->taken;
    if (left <= 0 || (input->windows > 0 && 2 * left < input->step)) return true;
    return feed(input, task, NULL, (size_t)wanted, window, user_data);
}

void hl_sound_input_reset(struct hl_sound_input *input)
{
    hl_samples_drop(&input->samples, input->samples.count);
    hl_samples_drop(&input->rows, input->rows.count);
    input->taken = input->windows = 0;
    if (input->features) hl_features_reset(&input->make);
}

void hl_sound_input_free(struct hl_sound_input *input)
{
    hl_features_free(&input->make);
    hl_samples_free(&input->samples);
    hl_samples_free(&input->rows);
    *input = (struct hl_sound_input){0};
}
