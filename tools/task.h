// SPDX-License-Identifier: Apache-2.0
// What the commands for tasks (label, detect, segment, pose, transform, transcribe-keywords) have in common: the model
// and its labels, pictures or sounds from files, folders and standard input, the clock, three forms of output, and
// pictures as results. In: a command's table of functions and its options. Out: the command's exit code.
#ifndef HALITE_TOOLS_TASK_H
#define HALITE_TOOLS_TASK_H

#include <cjson/cJSON.h>

#include "flags.h"
#include "frames.h"
#include "image.h"
#include "labels.h"
#include "model_file.h"
#include "picture_input.h"
#include "table.h"

enum hl_task_format { HL_TASK_TABLE, HL_TASK_TSV, HL_TASK_JSON };
extern const char *const hl_task_formats[];

// The first member of a command's options.
struct hl_task_options {
    struct hl_model_options model;
    const char *labels, *output;
    const char *frames; // the format of a video; NULL: standard input is one picture
    int format;         // enum hl_task_format
};

// clang-format off
// The rows of these flags in a command's table, for its options `struct type` with the first member `task`. `columns`
// are those of a line of --format tsv.
#define HL_TASK_FORMAT_FLAG(type, columns)                                                        \
    {                                                                                             \
        .name = "format", .letter = 'f', .kind = HL_FLAG_CHOICE, .choices = hl_task_formats,      \
        .offset = offsetof(struct type, task.format), .help = "default table; tsv: " columns      \
    }
#define HL_TASK_OUTPUT_FLAG(type, content)                                                        \
    {                                                                                             \
        .name = "output", .letter = 'o', .kind = HL_FLAG_STRING, .value = "FILE",                 \
        .offset = offsetof(struct type, task.output),                                             \
        .help = "a PNG file of " content ";\n"                                                    \
                "of several pictures a folder for files of their names with .png"                 \
    }
#define HL_TASK_FRAMES_FLAG(type)                                                                 \
    {                                                                                             \
        .name = "frames", .kind = HL_FLAG_STRING, .value = "FORMAT",                              \
        .offset = offsetof(struct type, task.frames),                                             \
        .help = "the one picture is -, and standard input a video:\n" HL_FRAMES_FORMATS           \
    }
// clang-format on

// The end of a command's table: what it needs of the command line, and its way to hl_task_run.
#define HL_TASK_COMMAND(names, run_function) \
    .operands = names, .min_operands = 1, .max_operands = -1, .environment = HL_ENVIRONMENT_RUNS, .run = run_function

// Two sentences for a command's details.
#define HL_TASK_PICTURES                                                                              \
    "Pictures are JPEG, PNG, BMP, PGM or PPM files, - (standard input), or folders of them; a JPEG\n" \
    "file is turned as its Exif orientation says. A picture that cannot be used is reported, the\n"   \
    "others go on.\n"

struct hl_task {
    const struct hl_task_kind *kind;
    const struct hl_task_options *options;
    void *state; // the command's own
    struct hl_model_file file;
    struct hl_labels labels;
    struct hl_picture_input input; // of the model's input 0, where it takes pictures
    cJSON *json;                   // of all that was given; NULL: another format, or frames
    bool to_folder;                // the output
    bool keeps_state;              // an inference changes what the next one gives
    int items, failed;             // pictures or sounds
    int inferences;                // so far; the first one touches memory for the first time, and may compile kernels
};

// What a command takes.
struct hl_task_medium {
    const char *name;                                        // "pictures"
    const char *const *endings;                              // of the files in a folder that count, NULL at the end
    bool (*run)(struct hl_task *task, const char *path);     // all of one; false after a message
    bool (*check)(struct hl_task *task, int count, char **); // before all; NULL: nothing to do
    void (*prepared)(struct hl_task *task);                  // behind the command's own prepare; NULL: nothing to do
};
// Reads, infers, shows and draws by the functions of hl_task_kind.
extern const struct hl_task_medium hl_task_pictures;

struct hl_task_kind {
    const char *command;
    const struct hl_task_medium *medium;
    // Once all is there but the input, which this looks at: false after a message.
    bool (*prepare)(struct hl_task *task);
    const char *(*name)(const struct hl_task *task); // of the model's family; NULL: none

    // Of pictures alone.
    // Fills the inputs; NULL: hl_picture_input_fill does.
    bool (*fill)(struct hl_task *task, const char *picture, const struct hl_image *image);
    // Reads the outputs; false after a message.
    bool (*read)(struct hl_task *task, const char *picture, const struct hl_image *image);
    void (*summary)(const struct hl_task *task, struct hl_text *text);       // ", 2 boxes"; NULL: none
    void (*print)(const struct hl_task *task, const struct hl_image *image); // lines for people below the first
    void (*lines)(const struct hl_task *task, const char *picture, struct hl_text *lines); // each begins with `picture`
    void (*members)(const struct hl_task *task, cJSON *picture);
    void (*draw)(const struct hl_task *task, struct hl_image *image); // onto it, or another in its place; NULL: never
};

// The whole command: opens the model, goes through what is given, closes everything but `state`.
int hl_task_run(const struct hl_task_kind *kind, const struct hl_task_options *options, void *state, int operand_count,
                char **operands);

// For prepare: looks at input 0, of `inputs` in all. False after a message.
bool hl_task_look(struct hl_task *task, int inputs, bool planar);
// For prepare: a message about a tensor, "the input is float32[1,2]; [1,height,width,3] is wanted". False.
bool hl_task_misfit(const struct hl_task *task, const char *what, const TfLiteTensor *tensor, const char *wanted);

// The first output; NULL after a message where the model has none.
const TfLiteTensor *hl_task_output(const struct hl_task *task);
// The real numbers of all its elements. False after a message where one is none (NaN); `hint`: what may help.
bool hl_task_reals(const struct hl_task *task, const char *item, const TfLiteTensor *output, const char *hint,
                   float *reals);

// Does the result go to standard output, where then nothing else is written?
bool hl_task_streams(const struct hl_task *task);

// The name of a class, "" where there is none.
const char *hl_task_class_name(const struct hl_task *task, int class);
// A name of a class, or "class 3" where it is empty, as text; number, name and score as cells of --format tsv, behind a
// tab, and as members "class", "label" and "score" (NAN: none).
void hl_task_add_class(struct hl_text *text, const char *name, int class);
void hl_task_add_class_cells(struct hl_text *line, const char *name, int class, double score);
void hl_task_add_class_members(cJSON *json, const char *name, int class, double score);

#endif
