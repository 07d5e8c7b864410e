// SPDX-License-Identifier: Apache-2.0
// An evaluation on a folder of pictures, whatever the task: files, model, pipeline, journal, progress, result file. In:
// flags. Out: for each picture, in order, a call that looks at the model's outputs, and one that counts what it saw.
#ifndef HALITE_TOOLS_EVAL_EVALUATION_H
#define HALITE_TOOLS_EVAL_EVALUATION_H

#include <cjson/cJSON.h>

#include "base/process.h"
#include "eval/journal.h"
#include "eval/setting.h"
#include "labels.h"
#include "preprocess.h"
#include "stat.h"

// Flags of all such tools.
struct hl_pictures_setting {
    struct hl_eval_setting base;
    const char *ground_truth_images_path, *model_output_labels, *shard;
    const char *mean, *std; // of pixels from 0 to 255: one number, or three for red, green and blue; "": the original's
    int num_preprocess_threads;
    bool stop_on_error, resume;
};

// clang-format off
#define HL_PICTURES_DEFAULTS \
    {                                                                                                       \
        .base = HL_EVAL_DEFAULTS, .ground_truth_images_path = "", .model_output_labels = "", .shard = "",   \
        .mean = "", .std = ""                                                                               \
    }
#define HL_PICTURES_ROW(flag_kind, type, member, field, text) \
    HL_TFLITE_ROW(flag_kind, offsetof(struct type, member.field), field, text)
#define HL_PICTURES_FLAGS(type, member)                                                              \
    HL_PICTURES_ROW(STRING, type, member, ground_truth_images_path, "folder of the pictures"),       \
    HL_PICTURES_ROW(STRING, type, member, model_output_labels, "names of the classes, one a line"),  \
    HL_PICTURES_ROW(INT, type, member, num_preprocess_threads,                                       \
                    "threads that read pictures while the model runs; 0: one per processor"),        \
    HL_PICTURES_ROW(STRING, type, member, mean,                                                      \
                    "subtracted from a pixel (0 to 255): a number, or three as 123.7,116.3,103.5; default: as the original"), \
    HL_PICTURES_ROW(STRING, type, member, std, "what the difference is divided by, likewise"),       \
    HL_PICTURES_ROW(BOOL, type, member, stop_on_error, "a picture that cannot be read ends the run"), \
    HL_PICTURES_ROW(BOOL, type, member, resume,                                                      \
                    "go on with an evaluation that was interrupted (with --output_file_path)"),      \
    HL_PICTURES_ROW(STRING, type, member, shard,                                                     \
                    "2/8: only the second eighth of the pictures, for halite.evaluate, which joins them"), \
    HL_EVAL_FLAGS(type, member.base)
// clang-format on

struct hl_evaluation {
    const struct hl_command *command;
    const struct hl_pictures_setting *setting;
    struct hl_eval_model model;
    struct hl_preprocess_shape shape; // of the model's input
    struct hl_normalization normalization;
    struct hl_labels labels; // of the model's classes
    char **paths;            // pictures
    int path_count;
    uint64_t fingerprint; // of what must be the same to go on later; a task may add to it before the run
    struct hl_interrupts interrupts;
    // While it runs:
    struct hl_stat preprocess_us, inference_us;
    int first, end;   // pictures of this run, all of them unless it is a shard
    int done, broken; // pictures; the rest of those from `first` to `done` were counted
    bool interrupted;
    struct hl_journal journal;
};

struct hl_evaluation_task {
    const char *word; // of the progress: "Evaluated"
    bool talks;       // `look` prints, so that there is no place for a bar
    double crop;      // of pictures in color; of gray ones the whole square is taken
    // Looks at the model's outputs for the picture of this number and writes what counts of them as text in one line.
    bool (*look)(void *user_data, int picture, struct hl_text *outcome);
    // Counts what `look` wrote for it, now or in an earlier run. False where it is damaged.
    bool (*count)(void *user_data, int picture, const char *outcome);
};

// A flag that cannot be done without, what its value is, and what was given.
struct hl_eval_missing {
    const char *name, *value, *given;
};

// Pictures, labels, model. `options` are the command's; task_flag: what the task needs beside what all need;
// NULL: nothing. False after a message; hl_evaluation_close is right in both
// cases.
bool hl_evaluation_open(struct hl_evaluation *evaluation, const struct hl_command *command, const void *options,
                        const struct hl_pictures_setting *setting, const struct hl_eval_missing *task_flag);
// False after a message. True as well when interrupted. A shard leaves the lines of its pictures in its journal,
// which is kept, and has nothing to report: joined in order they are the journal of the whole evaluation.
bool hl_evaluation_run(struct hl_evaluation *evaluation, const struct hl_evaluation_task *task, void *user_data);
void hl_evaluation_close(struct hl_evaluation *evaluation);

static inline bool hl_evaluation_is_shard(const struct hl_evaluation *evaluation)
{
    return *evaluation->setting->shard != '\0';
}

// Drops the pictures that are NULL in `paths`.
void hl_evaluation_compact(struct hl_evaluation *evaluation);

// Prints the lines that all tasks have.
void hl_evaluation_print(const struct hl_evaluation *evaluation);
// Writes the result file, where one is wanted: the message EvaluationStageMetrics, with `metrics` (taken) as this
// member of ProcessMetrics; the figures that all tasks have are added here. And ends the journal. False after a
// message.
bool hl_evaluation_write(struct hl_evaluation *evaluation, const char *member, cJSON *metrics);

// The last of a tool: message, exit code.
int hl_evaluation_finish(const struct hl_evaluation *evaluation, bool ok);

#endif
