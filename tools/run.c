// SPDX-License-Identifier: Apache-2.0
// halite run: any model, once or several times. In: tensors from files or made up. Out: tensors in files, or a line
// about each. What the graph is fed with is in run_input.c, what becomes of the results in run_output.c.
#include <string.h>

#include "base/clock.h"
#include "commands.h"
#include "message.h"
#include "run_dump.h"
#include "run_graph.h"
#include "table.h"

struct options {
    struct hl_model_options model;
    struct hl_flag_list inputs, shapes, outputs;
    const char *signature, *dump;
    int repeat;
    bool allow_nan;
};

static const struct options defaults = {.model = HL_MODEL_DEFAULTS, .repeat = 1};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, model),
    {.name = "input", .letter = 'i', .kind = HL_FLAG_LIST, .value = "TENSOR=VALUE",
     .offset = offsetof(struct options, inputs),
     .help = "what an input holds; may be repeated; default: random"},
    {.name = "shape", .letter = 's', .kind = HL_FLAG_LIST, .value = "TENSOR=DIMS",
     .offset = offsetof(struct options, shapes), .help = "resize an input: 1,224,224,3"},
    {.name = "output", .letter = 'o', .kind = HL_FLAG_LIST, .value = "TENSOR=FILE",
     .offset = offsetof(struct options, outputs),
     .help = "write an output to FILE.npy, FILE.txt or FILE.raw;\nthose without a file are summed up on screen"},
    {.name = "dump-all", .kind = HL_FLAG_STRING, .value = "FOLDER", .offset = offsetof(struct options, dump),
     .help = "write what every node makes to FOLDER/nodeNNNN_M.npy, with\nindex.json, from one more run with the same inputs"},
    {.name = "signature", .kind = HL_FLAG_STRING, .value = "KEY",
     .offset = offsetof(struct options, signature), .help = "run this signature; default: the main graph"},
    {.name = "repeat", .letter = 'r', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 1000000000,
     .offset = offsetof(struct options, repeat),
     .help = "run N times with the same inputs; variables carry over"},
    {.name = "allow-nan", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, allow_nan),
     .help = "take inputs that hold NaN"},
    HL_MODEL_RUN_FLAGS(options, model),
};
// clang-format on

static const char details[] =
    "TENSOR is the name of an input or output, or its number from 0 on. VALUE is one of\n"
    "  FILE.npy          an array; the input takes on its shape\n"
    "  FILE.txt, .csv    numbers separated by blanks or commas; for strings, one a line\n"
    "  FILE.raw, .bin    the bytes as they are\n"
    "  FILE.jpg, .png    a picture (.jpeg, .bmp, .pgm, .ppm as well), scaled to the input's height and\n"
    "                    width; pixels become values as in halite label\n"
    "  FILE.wav          a sound: its samples, from -1 to 1 or as int16, as many as the input takes, at\n"
    "                    their own rate; zeros behind them where there are fewer\n"
    "  random[:SEED]     reals from -1 to 1, small integers over their whole range, int32 and above\n"
    "                    from 0 to 9; the same for the same SEED (1) on every machine\n"
    "  zeros             zeros, or empty strings\n"
    "  text:STRING       one string, for a string tensor\n"
    "  -, -.npy, -.raw   standard input as text, as an array, as bytes\n"
    "An output's FILE may be -, -.npy or -.raw as well: standard output, where then nothing else is\n"
    "written.\n"
    "A file name with a slash or dot is needed where a file is meant: ./random, not random.\n";

static bool run_times(struct hl_graph *graph, const struct options *options)
{
    int repeat = options->repeat;
    double best = 0, total = 0;
    bool ok = true;
    struct hl_progress progress;
    hl_progress_start(&progress, "running", 0, repeat);
    for (int i = 0; ok && i < repeat; i++) {
        double start = hl_seconds();
        ok = hl_graph_invoke(graph) == kTfLiteOk;
        double seconds = hl_seconds() - start;
        if (i == 0 || seconds < best) best = seconds;
        total += seconds;
        hl_progress_step(&progress);
    }
    hl_progress_end(&progress);
    if (!ok) {
        hl_model_file_failed(graph->file, "the run failed");
        return false;
    }
    if (hl_graph_streams(graph, &options->outputs)) return true;
    char mean[32], fastest[32];
    hl_format_seconds(mean, sizeof mean, total / repeat);
    hl_format_seconds(fastest, sizeof fastest, best);
    if (repeat == 1)
        printf("one run in %s\n", mean);
    else
        printf("%d runs, %s each, the fastest in %s\n", repeat, mean, fastest);
    return true;
}

static bool run_graph(struct hl_graph *graph, const void *given)
{
    const struct options *options = given;
    struct hl_diff_inputs inputs = {0}; // a run may write over them
    if (options->dump != NULL && options->signature != NULL) {
        hl_error("run", NULL, "--dump-all shows the main graph and does not go with --signature");
        return false;
    }
    bool ok = hl_graph_open(graph, options->signature) && hl_graph_resize(graph, &options->shapes, &options->inputs) &&
              hl_graph_allocate(graph) && hl_graph_check_outputs(graph, &options->outputs) &&
              hl_graph_fill(graph, &options->inputs, options->allow_nan) &&
              (options->dump == NULL || hl_diff_inputs_take(&inputs, graph)) && run_times(graph, options) &&
              hl_graph_show(graph, &options->outputs) &&
              (options->dump == NULL || hl_run_dump(graph->file, &options->model, &inputs, options->dump));
    hl_diff_inputs_free(&inputs);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    (void)operands;
    const struct options *options = given;
    return hl_graph_with("run", &options->model, run_graph, options) ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite run model.tflite", "with random inputs, outputs in a few lines each"},
    {"halite run model.tflite -i image=photo.npy -o 0=scores.npy", "from and to arrays of numpy"},
    {"halite run model.tflite -i image=photo.npy --dump-all tensors", "all tensors between as well, for numpy"},
    {"cat numbers.txt | halite run model.tflite -i 0=- -o 0=- | sort -g", "in a pipe, as text"},
    {NULL, NULL},
};

const struct hl_command hl_command_run = {
    .name = "run",
    .summary = "Run any model on tensors from files, or on random ones.",
    .details = details,
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS,
    .run = run,
};
