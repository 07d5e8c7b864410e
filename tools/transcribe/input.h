// SPDX-License-Identifier: Apache-2.0
// The input of a keyword model: samples as they are, or features of frames. In: a model, or what the user knows of it;
// samples at its rate, as they come. Out: the input, filled once for each window.
#ifndef HALITE_TOOLS_TRANSCRIBE_INPUT_H
#define HALITE_TOOLS_TRANSCRIBE_INPUT_H

#include "task.h"
#include "transcribe/features.h"
#include "transcribe/resample.h"

struct hl_sound_input {
    bool features;                    // else samples
    int rate;                         // samples a second
    int64_t window, step;             // samples: of one inference, and from one to the next
    struct hl_features make;          // with features: its kind and state
    int frames, frame_step, row_step; // frames of a window; samples between two; frames between two windows
    struct hl_samples samples;        // to come
    struct hl_samples rows;           // features of the window to come, as far as they are known
    int64_t taken, windows;           // samples so far; windows so far
};

struct hl_sound_options {
    const char *features; // name of the kind; NULL: what the model looks like
    int rate;             // 0: the model's
    double step;          // seconds; 0: half a window, of a model that keeps a state a whole one
    double frame_step;    // seconds; 0: the kind's
};

// False after a message; hl_sound_input_free is right in both cases.
bool hl_sound_input_look(struct hl_sound_input *input, const struct hl_task *task,
                         const struct hl_sound_options *options);
// Forgets what it has heard.
void hl_sound_input_reset(struct hl_sound_input *input);
// Takes samples, and runs `window` once for each window that is complete. False where it says so.
bool hl_sound_input_add(struct hl_sound_input *input, const struct hl_task *task, const float *samples, size_t count,
                        bool (*window)(void *user_data), void *user_data);
// Silence for the rest of a window at the end of a sound, where half a step of it or more was not heard.
bool hl_sound_input_finish(struct hl_sound_input *input, const struct hl_task *task, bool (*window)(void *user_data),
                           void *user_data);
void hl_sound_input_free(struct hl_sound_input *input);

#endif
