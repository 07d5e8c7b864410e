// SPDX-License-Identifier: Apache-2.0
// The main graph of a model or one of its signatures, seen alike: numbered and named inputs and outputs, resize,
// allocate, fill, invoke, show. Every function that returns false has said why on standard error.
#ifndef HALITE_TOOLS_RUN_GRAPH_H
#define HALITE_TOOLS_RUN_GRAPH_H

#include <stdbool.h>

#include "flags.h"
#include "model_file.h"
#include "progress.h"

struct hl_graph {
    struct hl_model_file *file;
    TfLiteSignatureRunner *signature; // NULL: the main graph
    int input_count, output_count;
};

// Opens the model that the options name and its interpreter, hands them to `use`, and closes them. False where one of
// these fails.
bool hl_graph_with(const char *command, const struct hl_model_options *options,
                   bool (*use)(struct hl_graph *graph, const void *user_data), const void *user_data);

bool hl_graph_open(struct hl_graph *graph, const char *signature);
void hl_graph_close(struct hl_graph *graph);

// ---- run_graph.c --------------------------------------------------------------------------------

TfLiteTensor *hl_graph_input(const struct hl_graph *graph, int index);
const TfLiteTensor *hl_graph_output(const struct hl_graph *graph, int index);
// The name users know it by: the signature's, else the tensor's. Never NULL.
const char *hl_graph_input_name(const struct hl_graph *graph, int index);
const char *hl_graph_output_name(const struct hl_graph *graph, int index);

TfLiteStatus hl_graph_resize_input(struct hl_graph *graph, int index, int rank, const int *dims);
bool hl_graph_allocate(struct hl_graph *graph);
TfLiteStatus hl_graph_invoke(struct hl_graph *graph);
// `runs` runs, each a step of `progress`; seconds: of each, NULL: not wanted. False after a message.
bool hl_graph_repeat(struct hl_graph *graph, int runs, double *seconds, struct hl_progress *progress);
// Median time of `runs` runs behind one to warm up, in seconds; negative where one fails, without a message. Each of
// the runs + 1 is a step of `progress`.
double hl_graph_time(struct hl_graph *graph, int runs, struct hl_progress *progress);

// Takes "TENSOR=REST" apart: the index of the input (or output) named, and what follows. The name may hold '=' itself.
bool hl_graph_parse(const struct hl_graph *graph, bool input, const char *item, int *index, const char **rest);

// ---- run_input.c --------------------------------------------------------------------------------

// Shapes from --shape and from the .npy files of --input.
bool hl_graph_resize(struct hl_graph *graph, const struct hl_flag_list *shapes, const struct hl_flag_list *inputs);
// Every input: the value of its --input, else random.
bool hl_graph_fill(struct hl_graph *graph, const struct hl_flag_list *inputs, bool allow_nan);
// One input with random values (strings: a word each).
bool hl_graph_fill_random(struct hl_graph *graph, int index, uint64_t seed);

// ---- run_media.c --------------------------------------------------------------------------------

// One input from a picture, which fills its height and width, or from the samples of a WAV file, as they are: what has
// no room is left out, zeros follow a shorter one. False with the reason in `why`.
bool hl_graph_fill_picture(struct hl_graph *graph, int index, const char *path, struct hl_text *why);
bool hl_graph_fill_sound(struct hl_graph *graph, int index, const char *path, struct hl_text *why);

// ---- run_output.c -------------------------------------------------------------------------------

// Before the run: do all outputs named exist, and do we know how to write them?
bool hl_graph_check_outputs(const struct hl_graph *graph, const struct hl_flag_list *outputs);
// Does an output go to standard output? Then nothing else is to be written there.
bool hl_graph_streams(const struct hl_graph *graph, const struct hl_flag_list *outputs);
bool hl_graph_show(const struct hl_graph *graph, const struct hl_flag_list *outputs);

#endif
