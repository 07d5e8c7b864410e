// SPDX-License-Identifier: Apache-2.0
// halite inspect: what is in a model? In: .tflite files. Out: its tensors, operators, signatures, metadata and memory
// plan as text or JSON; or, over many models, which operators they use with which types.
#include "inspect.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "commands.h"
#include "message.h"

static const struct hl_inspect_options defaults = {.model = HL_MODEL_DEFAULTS};

// clang-format off
static const struct hl_flag flags[] = {
    {.name = "tensors", .letter = 't', .kind = HL_FLAG_SWITCH,
     .offset = offsetof(struct hl_inspect_options, tensors), .help = "list all tensors as well"},
    {.name = "nodes", .letter = 'n', .kind = HL_FLAG_SWITCH,
     .offset = offsetof(struct hl_inspect_options, nodes), .help = "list all nodes as well, with their options and their work"},
    {.name = "memory", .letter = 'm', .kind = HL_FLAG_SWITCH,
     .offset = offsetof(struct hl_inspect_options, memory),
     .help = "plan the memory and show the plan and the largest tensors"},
    {.name = "placement", .letter = 'p', .kind = HL_FLAG_SWITCH,
     .offset = offsetof(struct hl_inspect_options, placement),
     .help = "show which nodes a delegate would take, and why not the others"},
    {.name = "delegate", .letter = 'd', .kind = HL_FLAG_STRING, .value = "NAME",
     .offset = offsetof(struct hl_inspect_options, model.delegate),
     .help = "which delegate --placement asks: gpu, nnapi, hexagon, coreml,\n"
             "xnnpack, or a library of Halite's; default: gpu"},
    {.name = "device", .letter = 'D', .kind = HL_FLAG_STRING, .value = "NAME",
     .offset = offsetof(struct hl_inspect_options, model.device),
     .help = "which of its devices, see halite devices; default for a GPU:\n"
             "HALITE_DEVICE, else the fastest, and without any what a GPU would take"},
    HL_MODEL_PARTITIONS(hl_inspect_options, model),
    {.name = "json", .letter = 'j', .kind = HL_FLAG_SWITCH,
     .offset = offsetof(struct hl_inspect_options, json), .help = "everything, as JSON"},
    {.name = "ops", .letter = 'o', .kind = HL_FLAG_SWITCH,
     .offset = offsetof(struct hl_inspect_options, ops),
     .help = "over all models in and below the paths: each operator with\n"
             "its versions and types, how often, and whether it runs here"},
    {.name = "kernels", .letter = 'k', .kind = HL_FLAG_CHOICE, .choices = hl_model_kernels,
     .offset = offsetof(struct hl_inspect_options, model.kernels), .help = "whose memory --memory plans"},
};
// clang-format on

static const char details[] =
    "Work: multiply-adds are those of convolutions, matrix products and recurrent cells; ops/byte is\n"
    "twice their number for each byte read and written, 0 and left out where nothing multiplies. All\n"
    "from the shapes in the file: what may change counts as it stands there, a loop's body once.\n"
    "\n"
    "Types of --ops: inputs -> outputs; '-' is an absent optional input, '/ch' marks one scale for\n"
    "each channel, '...' more inputs of the same type.\n";

// ---- shared by text and JSON --------------------------------------------------------------------

static int compare_codes(const void *a, const void *b)
{
    const struct hl_inspect_count *x = a, *y = b;
    int name = strcmp(hl_model_code_name(x->code), hl_model_code_name(y->code));
    return name != 0 ? name : x->code->version - y->code->version;
}

static void add_work(struct hl_node_work *sum, const struct hl_node_work *work)
{
    sum->multiply_adds += work->multiply_adds;
    sum->parameters += work->parameters;
    sum->bytes += work->bytes;
}

static void count_node(struct hl_inspect_count *counts, const TfLiteModel *model,
                       const struct hl_model_subgraph *subgraph, const struct hl_model_node *node)
{
    struct hl_node_work work = hl_node_work(model, subgraph, node);
    counts[node->code].nodes++;
    add_work(&counts[node->code].work, &work);
}

static void merge_counts(struct hl_inspect_count *into, const struct hl_inspect_count *from)
{
    into->nodes += from->nodes;
    add_work(&into->work, &from->work);
}

struct hl_inspect_count *hl_inspect_count_operators(const TfLiteModel *model, int *count)
{
    struct hl_inspect_count *counts = hl_alloc((size_t)model->code_count, sizeof *counts);
    for (int i = 0; i < model->code_count; i++) counts[i].code = &model->codes[i];
    for (int s = 0; s < model->subgraph_count; s++)
        for (int n = 0; n < model->subgraphs[s].node_count; n++)
            count_node(counts, model, &model->subgraphs[s], &model->subgraphs[s].nodes[n]);
    qsort(counts, (size_t)model->code_count, sizeof *counts, compare_codes);
    // A file may list the same operator twice.
    *count = 0;
    for (int i = 0; i < model->code_count; i++) {
        if (counts[i].nodes == 0) continue;
        if (*count > 0 && compare_codes(&counts[*count - 1], &counts[i]) == 0)
            merge_counts(&counts[*count - 1], &counts[i]);
        else
            counts[(*count)++] = counts[i];
    }
    return counts;
}

static int compare_pointers(const void *a, const void *b)
{
    const struct hl_model_tensor *x = *(const struct hl_model_tensor *const *)a;
    const struct hl_model_tensor *y = *(const struct hl_model_tensor *const *)b;
    return ((const char *)x->data > (const char *)y->data) - ((const char *)x->data < (const char *)y->data);
}

size_t hl_inspect_constant_bytes(const struct hl_model_subgraph *subgraph)
{
    const struct hl_model_tensor **constants = hl_alloc((size_t)subgraph->tensor_count, sizeof *constants);
    size_t count = 0, bytes = 0;
    for (int i = 0; i < subgraph->tensor_count; i++)
        if (subgraph->tensors[i].data != NULL) constants[count++] = &subgraph->tensors[i];
    qsort(constants, count, sizeof *constants, compare_pointers);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || constants[i]->data != constants[i - 1]->data) bytes += constants[i]->bytes;
    free(constants);
    return bytes;
}

int hl_inspect_metadata_text(const struct hl_model_metadata *entry)
{
    enum { LONGEST = 60 };
    int length = 0;
    while ((size_t)length < entry->bytes && entry->data[length] != '\0') {
        unsigned char c = (unsigned char)entry->data[length++];
        if (c < 0x20 || c >= 0x7f || length > LONGEST) return 0;
    }
    return length;
}

// ---- the subcommand -----------------------------------------------------------------------------

static bool inspect(const char *path, const struct hl_inspect_options *options)
{
    struct hl_model_file file;
    bool ok = hl_model_file_open(&file, "inspect", path);
    if (ok) {
        // Without an interpreter there is still a model to show; only --memory needs one.
        bool wanted = options->memory || options->json;
        bool runs = wanted && hl_model_file_try(&file, &options->model);
        if (runs) {
            hl_text_clear(&file.messages);
            runs = TfLiteInterpreterAllocateTensors(file.interpreter) == kTfLiteOk;
            if (!runs) {
                TfLiteInterpreterDelete(file.interpreter);
                file.interpreter = NULL;
            }
        }
        struct hl_node_placement placement = {.report = NULL};
        bool placed = options->placement && hl_node_placement_open(&placement, "inspect", path, &options->model);
        if (options->placement && !placed) ok = false;
        if (options->json)
            hl_inspect_json(&file, placed ? &placement : NULL);
        else
            hl_inspect_text(&file, options);
        if (placed && !options->json) hl_node_placement_text(&placement);
        hl_node_placement_close(&placement);
        if (options->memory && !runs) {
            hl_model_file_failed(&file, "no memory can be planned for it");
            ok = false;
        }
    }
    hl_model_file_close(&file);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    const struct hl_inspect_options *options = given;
    bool ok = true;
    if (options->ops) {
        ok = hl_inspect_ops(operand_count, operands, options->json);
    } else {
        for (int i = 0; i < operand_count; i++) {
            if (i > 0 && !options->json) printf("\n");
            if (!inspect(operands[i], options)) ok = false;
        }
    }
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite inspect model.tflite --nodes --tensors", "everything in it"},
    {"halite inspect model.tflite --memory", "where its memory goes"},
    {"halite inspect model.tflite --placement", "what a GPU would take, and why not the rest"},
    {"halite inspect model.tflite --placement --delegate nnapi", "the same for Android's neural network interface"},
    {"halite inspect --ops models", "which operators the models in a folder use"},
    {NULL, NULL},
};

const struct hl_command hl_command_inspect = {
    .name = "inspect",
    .summary = "Show what is in a model: tensors, operators, signatures, memory.",
    .operands = "MODEL...",
    .details = details,
    HL_COMMAND_TABLES(flags, defaults),
    .min_operands = 1,
    .max_operands = -1,
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS | HL_ENVIRONMENT_TABLES,
    .run = run,
};
