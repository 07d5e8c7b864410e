// SPDX-License-Identifier: Apache-2.0
// halite capsule: a run that somebody else can look into and repeat. In: a model, its inputs, how to run it; or a
// capsule. Out: a capsule; what is in one; how far its outputs are from those of a run here.
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bench/bench.h"
#include "capsule/capsule.h"
#include "commands.h"
#include "files.h"
#include "halite/halite.h"
#include "json.h"
#include "message.h"
#include "output_file.h"
#include "sha256.h"
#include "table.h"

struct options {
    struct hl_model_options run;
    struct hl_flag_list inputs, shapes;
    const char *output, *model;
    double bound, steps;
    bool without_model, nodes, cpu, json, fail;
    const int *positions;
};

static const struct options defaults = {.run = HL_MODEL_DEFAULTS, .bound = 1e-3, .steps = 1};

// clang-format off
static const struct hl_flag flags[] = {
    {.name = "output", .letter = 'o', .kind = HL_FLAG_STRING, .value = "FILE", .offset = offsetof(struct options, output),
     .help = "make: the capsule; - is standard output"},
    {.name = "input", .letter = 'i', .kind = HL_FLAG_LIST, .value = "TENSOR=VALUE",
     .offset = offsetof(struct options, inputs), .help = "make: as for halite run; default: random"},
    {.name = "shape", .letter = 's', .kind = HL_FLAG_LIST, .value = "TENSOR=DIMS",
     .offset = offsetof(struct options, shapes), .help = "make: resize an input: 1,224,224,3"},
    {.name = "nodes", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, nodes),
     .help = "make: keep what every node makes, too;\n"
             "replay: compare that node by node, or where the capsule has none\n"
             "of it, a run here with the reference kernels'"},
    {.name = "without-model", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, without_model),
     .help = "make: keep only the model's name, size and SHA-256"},
    {.name = "model", .letter = 'm', .kind = HL_FLAG_STRING, .value = "FILE", .offset = offsetof(struct options, model),
     .help = "replay: the model, where the capsule has none"},
    {.name = "cpu", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, cpu),
     .help = "replay: on the CPU, whatever it was"},
    {.name = "bound", .kind = HL_FLAG_NUMBER, .value = "X", .min = 0, .max = 1e300, .offset = offsetof(struct options, bound),
     .help = "replay: for reals: largest difference as a part of the tensor's\nlargest value; default 0.001"},
    {.name = "steps", .kind = HL_FLAG_NUMBER, .value = "N", .min = 0, .max = 1e18, .offset = offsetof(struct options, steps),
     .help = "replay: for integers: largest difference; default 1"},
    {.name = "fail", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, fail),
     .help = "replay: exit code 1 where something is beyond the bound, or where\none run failed and the other one did not"},
    {.name = "json", .letter = 'j', .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, json),
     .help = "show, replay: as JSON"},
    HL_MODEL_RUN_FLAGS(options, run),
};
// clang-format on

static const char details[] =
    "  make MODEL -o FILE  runs the model, and keeps it all: model, inputs, options, device, driver,\n"
    "                      where nodes ran, outputs; a run that fails is kept, too, with its message\n"
    "  show FILE           tells what is in a capsule, and runs nothing\n"
    "  replay FILE         runs it again, as it was or as flags say, and compares the outputs\n"
    "\n"
    "Flags of replay take the place of what the capsule says; --gpu, --device and --delegate of all\n"
    "three, and --cpu of them as well. Libraries that a capsule names (--delegate, --custom-ops) are\n"
    "code: they are loaded only where the command line names them.\n"
    "A capsule is a ZIP archive, nothing in it compressed: capsule.json, model.tflite, inputs/N.npy,\n"
    "outputs/N.npy, nodes/N.npy.\n";

// ---- make ---------------------------------------------------------------------------------------

static bool take_inputs(struct hl_model_file *file, const struct options *options, struct hl_diff_inputs *inputs,
                        struct hl_capsule_tensors *tensors)
{
    const struct hl_model_options plain = {.threads = -1, .custom_ops = options->run.custom_ops};
    struct hl_graph graph = {.file = file};
    bool ok = hl_model_file_start(file, &plain) && hl_graph_open(&graph, NULL) &&
              hl_graph_resize(&graph, &options->shapes, &options->inputs) && hl_graph_allocate(&graph) &&
              hl_graph_fill(&graph, &options->inputs, true) && hl_diff_inputs_take(inputs, &graph);
    tensors->items = hl_alloc((size_t)(ok ? inputs->count : 0), sizeof *tensors->items);
    for (int i = 0; ok && i < inputs->count; i++) {
        const struct hl_diff_input *input = &inputs->items[i];
        const TfLiteTensor *tensor = hl_graph_input(&graph, i);
        struct hl_capsule_tensor *kept = &tensors->items[tensors->count++];
        *kept = (struct hl_capsule_tensor){.name = hl_graph_input_name(&graph, i)};
        kept->value.type = TfLiteTensorType(tensor);
        kept->value.count = hl_model_elements(tensor);
        kept->value.rank = input->rank;
        memcpy(kept->value.dims, input->dims, sizeof input->dims);
        if (input->bytes.length > 0) hl_text_add_bytes(&kept->value.bytes, input->bytes.data, input->bytes.length);
    }
    hl_graph_close(&graph);
    return ok;
}

static void describe(struct hl_capsule *capsule, const struct hl_capsule_model *model,
                     const struct hl_model_options *options, struct hl_capsule_run *run)
{
    char hash[HL_SHA256_TEXT];
    cJSON *manifest = capsule->manifest = hl_bench_document("halite capsule");
    cJSON_AddNumberToObject(manifest, "capsule", HL_CAPSULE_VERSION);
    cJSON *facts = cJSON_AddObjectToObject(manifest, "model");
    hl_sha256(model->bytes, model->size, hash);
    hl_json_add_string(facts, "name", hl_path_name(model->path));
    cJSON_AddNumberToObject(facts, "bytes", (double)model->size);
    cJSON_AddStringToObject(facts, "sha256", hash);
    cJSON_AddItemToObject(manifest, "options", hl_capsule_settings(options));
    cJSON_AddItemToObject(manifest, "environment", hl_capsule_environment());
    if (run->device != NULL) cJSON_AddItemToObject(manifest, "device", run->device);
    if (run->refused != NULL) cJSON_AddItemToObject(manifest, "not_on_gpu", run->refused);
    if (run->place.length > 0) hl_json_add_string(manifest, "placement", run->place.data);
    if (!run->ran) hl_json_add_string(manifest, "failure", run->failure.data);
    run->device = run->refused = NULL;
}

static bool write_capsule(struct hl_capsule *capsule, const char *path)
{
    struct hl_zip_writer writer = {0};
    hl_capsule_write(capsule, &writer);
    bool ok = !writer.too_large;
    if (!ok) hl_error("capsule", path, "would have 4 GiB or more, or 65535 tensors; leave out --nodes, or the model");
    ok = ok && hl_output_write("capsule", path, writer.bytes.data, writer.bytes.length);
    size_t size = writer.bytes.length;
    hl_zip_writer_free(&writer);
    if (!ok || hl_output_is_standard(path)) return ok;
    char bytes[32];
    hl_format_bytes(bytes, sizeof bytes, size);
    printf("%s: %s, %d input%s, %d output%s, %d tensor%s of nodes\n", path, bytes, capsule->inputs.count,
           capsule->inputs.count == 1 ? "" : "s", capsule->outputs.count, capsule->outputs.count == 1 ? "" : "s",
           capsule->nodes.count, capsule->nodes.count == 1 ? "" : "s");
    return true;
}

static bool make(const char *path, const struct options *options)
{
    struct hl_text bytes = {0}, error = {0};
    if (options->output == NULL) {
        hl_error("capsule", NULL, "where does the capsule go? Name a file with --output FILE");
        return false;
    }
    if (!hl_output_check("capsule", options->output)) return false;
    if (!hl_files_read(path, HL_FILES_MOST, &bytes, &error)) {
        hl_error("capsule", path, "%s", error.data);
        hl_text_free(&error);
        hl_text_free(&bytes);
        return false;
    }
    const struct hl_capsule_model model = {"capsule", path, hl_text_string(&bytes), bytes.length};
    struct hl_model_file first = {0}, file = {0};
    struct hl_capsule capsule = {0};
    struct hl_capsule_run run = {0};
    struct hl_diff_inputs inputs = {0};
    bool ok = hl_capsule_open(&first, &model) && take_inputs(&first, options, &inputs, &capsule.inputs) &&
              hl_capsule_run(&run, &file, &model, &options->run, &inputs);
    if (ok && options->nodes && run.ran)
        ok = hl_capsule_run_nodes(&capsule.nodes, &model, &options->run, &inputs, NULL);
    if (ok) {
        capsule.outputs = run.outputs;
        run.outputs = (struct hl_capsule_tensors){0};
        if (!options->without_model) {
            capsule.model = model.bytes;
            capsule.model_size = model.size;
        }
        describe(&capsule, &model, &options->run, &run);
        ok = write_capsule(&capsule, options->output);
    }
    hl_capsule_free(&capsule);
    hl_capsule_run_free(&run);
    hl_diff_inputs_free(&inputs);
    hl_model_file_close(&file);
    hl_model_file_close(&first);
    hl_text_free(&bytes);
    return ok;
}

// ---- replay -------------------------------------------------------------------------------------

static bool is_given(const void *options, const char *flag)
{
    return hl_flags_position(&hl_command_capsule, ((const struct options *)options)->positions, flag) > 0;
}

// What the capsule says, and the flags in its place. False after a message.
static bool choose_settings(const struct hl_capsule *capsule, const char *path, const struct options *options,
                            struct hl_model_options *run)
{
    const cJSON *recorded = cJSON_GetObjectItemCaseSensitive(capsule->manifest, "options");
    bool moved =
        options->cpu || is_given(options, "gpu") || is_given(options, "device") || is_given(options, "delegate");
    *run = defaults.run;
    hl_capsule_set(run, recorded);
    if (moved) { // to another place than the capsule's
        run->gpu = false;
        run->device = NULL;
    }
    if (options->cpu || is_given(options, "delegate")) run->precision = run->quantized = run->partitions = 0;
    hl_capsule_override(run, &options->run, is_given, options);
    const char *library = hl_capsule_library(recorded);
    bool needed = library != NULL && !is_given(options, library) && !(moved && strcmp(library, "delegate") == 0);
    if (needed)
        hl_error("capsule", path,
                 "was made with --%s %s, which is code of a library; name one with --%s where it is to be loaded%s",
                 library, hl_capsule_string(recorded, library), library,
                 strcmp(library, "delegate") == 0 ? ", or say --cpu" : "");
    return !needed;
}

// The model: the capsule's own, or the one that the command line names, if it is the same. False after a message.
static bool find_model(const struct hl_capsule *capsule, const char *path, const struct options *options,
                       struct hl_text *bytes, struct hl_capsule_model *model)
{
    const cJSON *facts = cJSON_GetObjectItemCaseSensitive(capsule->manifest, "model");
    *model = (struct hl_capsule_model){"capsule", path, capsule->model, capsule->model_size};
    if (options->model == NULL && capsule->model != NULL) return true;
    if (options->model == NULL) {
        hl_error("capsule", path, "has no model in it; give %s with --model", hl_capsule_string(facts, "name"));
        return false;
    }
    struct hl_text error = {0};
    bool ok = hl_files_read(options->model, HL_FILES_MOST, bytes, &error);
    if (!ok) hl_error("capsule", options->model, "%s", error.data);
    hl_text_free(&error);
    if (!ok) return false;
    *model = (struct hl_capsule_model){"capsule", options->model, hl_text_string(bytes), bytes->length};
    char hash[HL_SHA256_TEXT];
    hl_sha256(model->bytes, model->size, hash);
    if (strcmp(hash, hl_capsule_string(facts, "sha256")) == 0) return true;
    hl_error("capsule", options->model, "is another model than the capsule's: its SHA-256 is %s", hash);
    return false;
}

static bool replay(const struct hl_capsule *capsule, const char *path, const struct options *options, bool *differs)
{
    struct hl_model_options run;
    struct hl_capsule_model model;
    struct hl_text bytes = {0};
    const struct hl_capsule_bounds bounds = {options->bound, options->steps};
    bool ok = find_model(capsule, path, options, &bytes, &model) && choose_settings(capsule, path, options, &run) &&
              hl_capsule_replay(capsule, &model, &run, &bounds, options->nodes, options->json, differs);
    hl_text_free(&bytes);
    return ok;
}

// ---- the subcommand -----------------------------------------------------------------------------

static bool use_capsule(bool runs, const char *path, const struct options *options, bool *differs)
{
    struct hl_text bytes = {0}, error = {0};
    struct hl_capsule capsule = {0};
    bool ok = hl_files_read(path, HL_FILES_MOST, &bytes, &error) &&
              hl_capsule_read(&capsule, hl_text_string(&bytes), bytes.length, &error);
    if (!ok)
        hl_error("capsule", path, "%s", error.data);
    else if (runs)
        ok = replay(&capsule, path, options, differs);
    else if (options->json)
        hl_json_print(capsule.manifest);
    else
        hl_capsule_show(&capsule, path);
    hl_capsule_free(&capsule);
    hl_text_free(&bytes);
    hl_text_free(&error);
    return ok;
}

static int run(const void *command_line, int operand_count, char **operands)
{
    static const char *const words[] = {"make", "show", "replay", NULL};
    (void)operand_count;
    const struct options *options = command_line;
    const char *word = operands[0];
    bool differs = false, ok;
    if (strcmp(word, words[0]) == 0) {
        ok = make(operands[1], options);
    } else if (strcmp(word, words[1]) == 0 || strcmp(word, words[2]) == 0) {
        ok = use_capsule(strcmp(word, words[2]) == 0, operands[1], options, &differs);
    } else {
        hl_error("capsule", NULL, "'%s' is no part of it: make, show or replay are wanted", word);
        return HL_EXIT_USAGE;
    }
    return ok && !(differs && options->fail) ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite capsule make model.tflite --gpu -i image=photo.npy -o report.capsule", "for a bug report"},
    {"halite capsule show report.capsule", "what is in it; runs nothing"},
    {"halite capsule replay report.capsule --device vulkan --nodes", "on another device: where do outputs part?"},
    {NULL, NULL},
};

const struct hl_command hl_command_capsule = {
    .name = "capsule",
    .summary = "Keep a run in one file, which somebody else looks into and repeats.",
    .operands = "make|show|replay FILE",
    .details = details,
    HL_COMMAND_TABLES(flags, defaults),
    .min_operands = 2,
    .max_operands = 2,
    .positions = offsetof(struct options, positions),
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS,
    .run = run,
};
