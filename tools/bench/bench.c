// SPDX-License-Identifier: Apache-2.0
// halite bench: how fast are models? In: models, and lists of devices, precisions and thread counts; inputs are made
// up. Out: a row of figures for each combination, as a table, Markdown, CSV or JSON, and what changed since an earlier
// one.
#include "bench/bench.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/path.h"
#include "commands.h"
#include "message.h"

struct options {
    struct hl_model_options model; // its threads and precision are those of the lists, one at a time
    const char *device;
    struct hl_flag_ints threads, precisions;
    int warmup, runs, format;
    bool per_op, energy, fail;
    const char *compare;
    double noise;
};

static const struct options defaults = {.model = HL_MODEL_DEFAULTS, .warmup = 3, .runs = 50, .noise = 2};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, model),
    {.name = "runs", .letter = 'r', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 10000000,
     .offset = offsetof(struct options, runs), .help = "timed runs; default 50"},
    {.name = "warmup", .letter = 'w', .kind = HL_FLAG_INT, .value = "N", .min = 0, .max = 10000000,
     .offset = offsetof(struct options, warmup), .help = "runs before them, not timed; default 3"},
    {.name = "threads", .letter = 't', .kind = HL_FLAG_INTS, .value = "N,...", .min = 1, .max = HL_MODEL_MAX_THREADS,
     .offset = offsetof(struct options, threads), .help = "threads, or a list: 1,2,4; default: the library's choice"},
    {.name = "device", .letter = 'D', .kind = HL_FLAG_STRING, .value = "NAME,...",
     .offset = offsetof(struct options, device),
     .help = "where, or a list: cpu, auto, opencl:1, vulkan, gles, cuda;\n"
             "default: cpu, with --gpu what HALITE_DEVICE says, else auto"},
    {.name = "precision", .letter = 'P', .kind = HL_FLAG_CHOICES, .choices = hl_model_precisions,
     .offset = offsetof(struct options, precisions), .help = HL_MODEL_PRECISION_HELP ";\nor a list of them"},
    {.name = "format", .letter = 'f', .kind = HL_FLAG_CHOICE, .choices = hl_bench_formats,
     .offset = offsetof(struct options, format), .help = "default table; json has the time of each run"},
    {.name = "compare", .letter = 'c', .kind = HL_FLAG_STRING, .value = "FILE",
     .offset = offsetof(struct options, compare), .help = "say what changed since this file of --format json"},
    {.name = "noise", .kind = HL_FLAG_NUMBER, .value = "PERCENT", .min = 0, .max = 1000,
     .offset = offsetof(struct options, noise), .help = "with --compare: changes that never count; default 2"},
    {.name = "fail", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, fail),
     .help = "with --compare: exit code 1 where something became slower"},
    {.name = "per-op", .letter = 'p', .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, per_op),
     .help = "the share of each operator, and of each kernel on the\n"
             "GPU, from as many runs again"},
    {.name = "energy", .letter = 'e', .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, energy),
     .help = "joules of a run as well, for each device of this machine\n"
             "that counts them, and why the others do not"},
    HL_MODEL_KERNELS_FLAG(options, model),
    HL_MODEL_DELEGATE_FLAGS(options, model),
    HL_MODEL_OTHER_FLAGS(options, model),
};
// clang-format on

// ---- the matrix -----------------------------------------------------------------------------------

struct matrix {
    struct hl_bench_setup *setups;
    int count;
    char *devices; // the list of names, ended each; the setups point into it
};

static void add_setup(struct matrix *matrix, const struct options *options, struct hl_model_options model,
                      const char *device)
{
    struct hl_bench_setup setup = {
        .model = model,
        .device = device,
        .warmup = options->warmup,
        .runs = options->runs,
        .per_op = options->per_op,
        .energy = options->energy,
    };
    matrix->setups = hl_alloc_grow(matrix->setups, (size_t)matrix->count + 1, sizeof *matrix->setups);
    matrix->setups[matrix->count++] = setup;
}

// A model in one place, with all precisions and thread counts. Precisions are those of a GPU; a CPU has one row.
static void add_place(struct matrix *matrix, const struct options *options, const char *path, const char *device)
{
    static const int library[] = {-1}, full[] = {0};
    bool cpu = device != NULL && strcmp(device, "cpu") == 0;
    const int *precisions = options->precisions.count > 0 && !cpu ? options->precisions.items : full;
    const int *threads = options->threads.count > 0 ? options->threads.items : library;
    int precision_count = options->precisions.count > 0 && !cpu ? options->precisions.count : 1;
    int thread_count = options->threads.count > 0 ? options->threads.count : 1;
    for (int p = 0; p < precision_count; p++) {
        struct hl_model_options model = options->model;
        model.model = path;
        model.device = cpu ? NULL : device;
        model.precision = precisions[p];
        if (options->precisions.count > 0 && !cpu && model.delegate == NULL) model.gpu = true;
        if (cpu) {
            model.gpu = false;
            model.delegate = NULL;
            model.partitions = 0;
        }
        const char *name = device != NULL                 ? device
                           : model.delegate != NULL       ? model.delegate
                           : hl_model_options_gpu(&model) ? "gpu"
                                                          : "cpu";
        for (int t = 0; t < thread_count; t++) {
            model.threads = threads[t];
            add_setup(matrix, options, model, name);
        }
    }
}

// False after a message where the list of devices has an empty name.
static bool make_matrix(struct matrix *matrix, const struct options *options, int more, char **operands)
{
    const char *given = options->device;
    matrix->devices = hl_alloc_string(given != NULL ? given : "");
    int names = 1;
    for (char *comma = matrix->devices; (comma = strchr(comma, ',')) != NULL; names++) *comma++ = '\0';
    for (int i = 0; i <= more; i++) {
        const char *path = i == 0 ? options->model.model : operands[i - 1], *device = matrix->devices;
        for (int n = 0; n < names; n++, device += strlen(device) + 1) {
            if (given != NULL && *device == '\0') {
                hl_error("bench", NULL, "--device %s has an empty name in its list", given);
                return false;
            }
            add_place(matrix, options, path, given != NULL ? device : NULL);
        }
    }
    return true;
}

// ---- measuring ------------------------------------------------------------------------------------

// What the bar says: "timing" of one row, "timing 2 of 6: b.tflite, vulkan" of many.
static void add_word(struct hl_text *word, const struct matrix *matrix, int i)
{
    const struct hl_bench_setup *setup = &matrix->setups[i];
    const char *name = hl_path_name(setup->model.model);
    hl_text_add(word, "timing");
    if (matrix->count == 1) return;
    hl_text_add(word, " %d of %d, ", i + 1, matrix->count);
    hl_text_add_escaped(word, name, strlen(name));
    hl_text_add(word, ", ");
    hl_text_add_escaped(word, setup->device, strlen(setup->device));
}

// Adds the rows. False where one of them failed, after its message.
static bool measure(cJSON *document, const struct matrix *matrix)
{
    int64_t steps = 0;
    for (int i = 0; i < matrix->count; i++) steps += hl_bench_steps(&matrix->setups[i]);
    cJSON *rows = cJSON_AddArrayToObject(document, "rows");
    struct hl_progress progress;
    bool ok = true;
    hl_progress_start(&progress, "timing", 0, steps < INT_MAX ? (int)steps : INT_MAX);
    for (int i = 0; i < matrix->count; i++) {
        struct hl_text word = {0};
        add_word(&word, matrix, i);
        hl_progress_word(&progress, word.data);
        int due = progress.done + hl_bench_steps(&matrix->setups[i]);
        cJSON *row = hl_bench_measure(&matrix->setups[i], &progress);
        progress.done = due; // what failed did not take all of its steps
        ok = ok && cJSON_IsTrue(cJSON_GetObjectItem(row, "ok"));
        cJSON_AddItemToArray(rows, row);
        progress.word = "timing";
        hl_text_free(&word);
    }
    hl_progress_end(&progress);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    const struct options *options = given;
    struct matrix matrix = {0};
    cJSON *old = NULL, *document = NULL;
    int slower = 0;
    bool ok = make_matrix(&matrix, options, operand_count, operands) &&
              (options->compare == NULL || (old = hl_bench_read(options->compare)) != NULL);
    if (ok) {
        document = hl_bench_document("halite bench");
        cJSON_AddNumberToObject(document, "runs", options->runs);
        cJSON_AddNumberToObject(document, "warmup", options->warmup);
        ok = measure(document, &matrix);
        if (old != NULL) slower = hl_bench_compare(document, old, options->compare, options->noise / 100);
        hl_bench_print(document, options->format);
    }
    cJSON_Delete(document);
    cJSON_Delete(old);
    free(matrix.setups);
    free(matrix.devices);
    return ok && !(options->fail && slower > 0) ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite bench model.tflite --per-op", "time it, and see which operators take the time"},
    {"halite bench float.tflite int8.tflite --threads 1,2,4", "a table of six rows"},
    {"halite bench model.tflite --device cpu,opencl,vulkan --precision f32,f16s --format md",
     "the CPU and two GPUs, as Markdown"},
    {"halite bench *.tflite --format json >before.json", "all figures, to be compared with later"},
    {"halite bench *.tflite --compare before.json --fail",
     "what changed beyond noise, and exit code 1 if it is slower"},
    {"halite bench model.tflite --energy --runs 1000", "what a run costs, from enough runs for the counters to move"},
    {"halite bench model.tflite --gpu --precision f16s --partitions 4",
     "on the GPU, large tensors as halves, in up to four parts"},
    {NULL, NULL},
};

const struct hl_command hl_command_bench = {
    .name = "bench",
    .summary = "Time models, as a whole and operator by operator.",
    .operands = "[MODEL...]",
    .details = "Inputs hold the random values of halite run. Every combination of models, devices, precisions\n"
               "and threads is a row; one that cannot be run is named, and the others go on.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .max_operands = -1,
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS | HL_ENVIRONMENT_ENERGY | HL_ENVIRONMENT_TABLES,
    .run = run,
};
