// SPDX-License-Identifier: Apache-2.0
// halite tune: which blocks of kernels are the fastest on this device for this model? In: a model, a device, a folder
// of kept kernels. Out: the measured times in a file of that folder, which every later run with the folder uses, and
// a table of what has changed. Each round applies the delegate anew; it takes blocks that have no time yet.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/file.h"
#include "base/path.h"
#include "commands.h"
#include "message.h"
#include "model_file.h"
#include "output_file.h"
#include "progress.h"
#include "run_graph.h"
#include "table.h"

enum { MAX_BYTES = 8 << 20 };

struct options {
    struct hl_model_options model;
    int rounds, runs;
    const char *export;
};

static const struct options defaults = {.model = HL_MODEL_DEFAULTS, .rounds = 12, .runs = 10};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, model),
    {.name = "cache", .letter = 'C', .kind = HL_FLAG_STRING, .value = "FOLDER", .required = true,
     .offset = offsetof(struct options, model.cache),
     .help = "where the times are kept; runs that are given the same folder\nuse them"},
    {.name = "device", .letter = 'D', .kind = HL_FLAG_STRING, .value = "NAME",
     .offset = offsetof(struct options, model.device),
     .help = "which GPU: auto, opencl:1, vulkan, cuda; default: HALITE_DEVICE,\nelse auto"},
    {.name = "precision", .letter = 'P', .kind = HL_FLAG_CHOICE, .choices = hl_model_precisions,
     .offset = offsetof(struct options, model.precision), .help = HL_MODEL_PRECISION_HELP},
    {.name = "quantized", .kind = HL_FLAG_CHOICE, .choices = hl_model_quantized,
     .offset = offsetof(struct options, model.quantized),
     .help = "8-bit tensors: float (default), or exact: in integers"},
    HL_MODEL_PARTITIONS(options, model),
    {.name = "rounds", .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 1000, .offset = offsetof(struct options, rounds),
     .help = "blocks that are tried for each size of a kernel, those first\n"
             "that the cost model likes best; default 12, which is all"},
    {.name = "runs", .letter = 'r', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 100000,
     .offset = offsetof(struct options, runs), .help = "timed runs of each; the shortest counts; default 10"},
    {.name = "export", .letter = 'o', .kind = HL_FLAG_STRING, .value = "FILE", .offset = offsetof(struct options, export),
     .help = "write a copy of the times there, to be sent"},
};
// clang-format on

// The file in the folder, malloc'ed.
static char *kept_path(const struct hl_gpu_library *gpu, const TfLiteDelegate *delegate, const char *folder)
{
    char name[HL_FILE_NAME_BYTES] = "", api[32];
    struct hl_text path = {0};
    HaliteDelegateReport *report = hl_alloc_check(gpu->HaliteDelegateReportCreate(delegate));
    const HaliteDevice *device = gpu->HaliteDelegateReportGetDevice(report);
    if (device != NULL) {
        snprintf(api, sizeof api, "%.*s", (int)strcspn(device->name, ":"), device->name);
        hl_file_tuned_name(name, api, device->description);
        hl_text_add(&path, "%s/%s", folder, name);
    }
    gpu->HaliteDelegateReportDelete(report);
    return hl_text_take(&path);
}

// One application of the delegate and its runs. *path: see kept_path; NULL where nothing runs on a GPU.
static bool measure(const struct options *options, struct hl_progress *progress, char **path)
{
    struct hl_model_file file;
    struct hl_graph graph = {.file = &file};
    bool ok = hl_model_file_open(&file, "tune", options->model.model) && hl_model_file_start(&file, &options->model) &&
              hl_graph_open(&graph, NULL) && hl_graph_allocate(&graph);
    for (int i = 0; ok && i < graph.input_count; i++) ok = hl_graph_fill_random(&graph, i, 1 + (uint64_t)i);
    if (ok) {
        file.gpu.HaliteDelegateSetProfiling(file.delegate, true, NULL);
        ok = hl_graph_repeat(&graph, options->runs, NULL, progress);
        free(*path);
        *path = kept_path(&file.gpu, file.delegate, options->model.cache);
    }
    hl_graph_close(&graph);
    hl_model_file_close(&file);
    return ok;
}

// ---- the table --------------------------------------------------------------------------------------------------

// Of one size of a kernel: the time of the block that the cost model likes best, and the shortest.
struct size {
    char text[200]; // kernel and sizes, as in the file
    uint64_t first, best;
    char block[80];
};

struct sizes {
    struct size *list;
    int count;
};

static void add_row(struct sizes *sizes, const char *line)
{
    char kernel[40], numbers[120], block[80], text[200];
    int rank;
    uint64_t ns;
    if (sscanf(line, "%39s %119s %79s %d %" SCNu64, kernel, numbers, block, &rank, &ns) != 5) return; // a head's line
    snprintf(text, sizeof text, "%s %s", kernel, numbers);
    int i = 0;
    while (i < sizes->count && strcmp(sizes->list[i].text, text) != 0) i++;
    if (i == sizes->count) {
        sizes->list = hl_alloc_check(realloc(sizes->list, (size_t)(i + 1) * sizeof *sizes->list));
        sizes->list[sizes->count++] = (struct size){.first = UINT64_MAX, .best = UINT64_MAX};
        snprintf(sizes->list[i].text, sizeof sizes->list[i].text, "%s", text);
    }
    struct size *size = &sizes->list[i];
    if (rank == 0) size->first = ns;
    if (ns >= size->best) return;
    size->best = ns;
    snprintf(size->block, sizeof size->block, "%s", block);
}

static void print(const struct sizes *sizes)
{
    struct hl_table table;
    uint64_t first = 0, best = 0;
    hl_table_start(&table, "lrrl");
    hl_table_add(&table, "kernel and sizes");
    hl_table_add(&table, "model's block");
    hl_table_add(&table, "best");
    hl_table_add(&table, "best block");
    for (int i = 0; i < sizes->count; i++) {
        const struct size *size = &sizes->list[i];
        uint64_t before = size->first == UINT64_MAX ? size->best : size->first; // the first round measures it
        first += before;
        best += size->best;
        hl_table_add(&table, "%s", size->text);
        hl_table_add(&table, "%.1f us", (double)before / 1000);
        hl_table_add(&table, "%.1f us", (double)size->best / 1000);
        hl_table_add(&table, "%s", size->block);
    }
    hl_table_print(&table, 0, stdout);
    printf("%d sizes, each once: %.1f us with the blocks of the cost model, %.1f us with the best\n", sizes->count,
           (double)first / 1000, (double)best / 1000);
}

// Prints the file that the rounds have made, and copies it.
static bool show(const char *path, const char *export)
{
    size_t size = 0;
    const char *why = "the GPU took nothing that has blocks to choose among";
    struct sizes sizes = {.count = 0};
    char *bytes = path != NULL ? hl_file_read_kept(path, MAX_BYTES, &size, &why) : NULL;
    if (bytes == NULL) {
        hl_error("tune", path, "nothing was measured: %s", why != NULL ? why : "there is no such file");
        return false;
    }
    char *text = hl_alloc_check(calloc(1, size + 1));
    memcpy(text, bytes, size);
    bool ok = export == NULL || hl_output_write("tune", export, bytes, size);
    free(bytes);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) add_row(&sizes, line);
    if (export == NULL || !hl_output_is_standard(export)) print(&sizes);
    free(sizes.list);
    free(text);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    struct options options = *(const struct options *)given;
    char *path = NULL;
    bool ok = options.export == NULL || hl_output_check("tune", options.export);
    (void)operands, (void)operand_count;
    if (ok && !hl_folder_may_make(options.model.cache)) {
        hl_error("tune", options.model.cache, "the times cannot be kept there: %s", strerror(errno));
        ok = false;
    }
    options.model.gpu = options.model.tune = true;
    struct hl_progress progress;
    hl_progress_start(&progress, "measuring", 0, options.rounds * options.runs);
    for (int round = 0; round < options.rounds && ok; round++) ok = measure(&options, &progress, &path);
    hl_progress_end(&progress);
    ok = ok && show(path, options.export);
    free(path);
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite tune model.tflite --cache ~/.cache/halite", "measure, and keep the times there"},
    {"halite bench model.tflite --gpu --cache ~/.cache/halite", "which this run then uses"},
    {"halite tune model.tflite --cache folder --export times.txt", "a copy, to be sent"},
    {NULL, NULL},
};

const struct hl_command hl_command_tune = {
    .name = "tune",
    .summary = "Measure which blocks of GPU kernels are the fastest here, for later runs.",
    .details = "Convolutions and fully connected layers are computed in blocks, of which a cost model\n"
               "chooses one for each size. This measures others on the device, and keeps what they\n"
               "take. Results change as little as with another device: sums are added up in another\n"
               "order.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    .environment = HL_ENVIRONMENT_GPU,
    .run = run,
};
