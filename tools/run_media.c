// SPDX-License-Identifier: Apache-2.0
// Pictures and sounds as inputs of halite run. In: a file, and an input tensor. Out: its elements, made as the commands
// for tasks make them; or why they cannot be made.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "files.h"
#include "picture_input.h"
#include "run_graph.h"
#include "wave.h"

bool hl_graph_fill_picture(struct hl_graph *graph, int index, const char *path, struct hl_text *why)
{
    TfLiteTensor *tensor = hl_graph_input(graph, index);
    struct hl_picture_input input;
    struct hl_image image;
    const char *wanted = hl_picture_input_look(tensor, true, &input);
    if (wanted != NULL) {
        hl_text_add(why, "is a picture, for which %s", wanted);
        return false;
    }
    if (!hl_image_load_upright(path, &image, why)) return false;
    if (graph->signature == NULL) hl_picture_input_normalize(&input, graph->file->model, index);
    hl_picture_input_fill(&input, &image, tensor);
    hl_image_free(&image);
    return true;
}

static size_t read_file(void *file, unsigned char *bytes, size_t size)
{
    return fread(bytes, 1, size, file);
}

// As many samples as there is room for, and zeros behind them where the sound is shorter.
static bool read_samples(FILE *file, float *samples, size_t room, struct hl_text *why)
{
    struct hl_wave wave = {.read = read_file, .user_data = file};
    if (!hl_wave_open(&wave, NULL, why)) return false;
    size_t count = hl_wave_read(&wave, samples, room);
    for (size_t i = count; i < room; i++) samples[i] = 0;
    if (wave.not_finite) hl_text_add(why, "holds a sample that is no number");
    return !wave.not_finite;
}

bool hl_graph_fill_sound(struct hl_graph *graph, int index, const char *path, struct hl_text *why)
{
    TfLiteTensor *tensor = hl_graph_input(graph, index);
    TfLiteType type = TfLiteTensorType(tensor);
    size_t count = (size_t)hl_model_elements(tensor);
    if (type != kTfLiteFloat32 && type != kTfLiteInt16) {
        hl_text_add(why, "is a sound, for which the tensor has to be float32 or int16");
        return false;
    }
    FILE *file = hl_file_stream(path, "rb");
    if (file == NULL) {
        hl_text_add(why, "cannot be opened: %s", strerror(errno));
        return false;
    }
    float *samples = hl_alloc(count + 1, sizeof *samples);
    bool ok = read_samples(file, samples, count, why);
    for (size_t i = 0; ok && i < count; i++) {
        if (type == kTfLiteFloat32)
            tensor->data.f[i] = samples[i];
        else
            tensor->data.i16[i] = (int16_t)fmaxf(-32768, fminf(32767, roundf(samples[i] * 32768)));
    }
    free(samples);
    fclose(file);
    return ok;
}
