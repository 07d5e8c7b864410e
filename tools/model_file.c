// SPDX-License-Identifier: Apache-2.0
// Thin layer over the C API. The library reports a failure in one or several messages, the cause first: that one is
// shown, with the model's path in front.
#include "model_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/library.h"
#include "delegate_choice.h"
#include "delegates/external.h"
#include "element.h"
#include "files.h"
#include "message.h"
#include "opset.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"
#include "values.h"

const char *const hl_model_kernels[] = {"default", "reference", "fast", NULL};
const char *const hl_model_precisions[] = {"f32", "f16s", "f16", NULL};
const char *const hl_model_quantized[] = {"float", "exact", NULL};

// The library names the file, and so does every message here: once is enough. Drops "PATH: " at the start, else " PATH"
// or " 'PATH'".
static void drop_path(struct hl_text *line, const char *path)
{
    size_t length = strlen(path);
    char *at = strstr(line->data, path);
    if (at == NULL || length == 0) return;
    if (at > line->data && at[-1] == '\'' && at[length] == '\'') at--, length += 2;
    if (at == line->data && strncmp(at + length, ": ", 2) == 0)
        length += 2;
    else if (at > line->data && at[-1] == ' ')
        length++, at--;
    else
        return;
    memmove(at, at + length, strlen(at + length) + 1);
}

// The library tells programs what to call; here that is a flag.
static void replace_hint(struct hl_text *line)
{
    static const char hint[] = "add it with TfLiteInterpreterOptionsAddCustomOp";
    char *at = line->data != NULL ? strstr(line->data, hint) : NULL;
    if (at == NULL) return;
    struct hl_text text = {0};
    hl_text_add(&text, "%.*sname a library that has it with --custom-ops%s", (int)(at - line->data), line->data,
                at + sizeof hint - 1);
    hl_text_free(line);
    *line = text;
}

// Where nodes run is told elsewhere (hl_model_file_placement), so that this part of what a delegate says is left out.
static const char *after_placement(const char *line)
{
    static const char end[] = " will run on the CPU.";
    if (strncmp(line, "Following operations are not supported by", 41) != 0) return line;
    const char *last = strstr(line, end);
    if (last == NULL) return line;
    last += sizeof end - 1;
    return last + (*last == '\n');
}

void hl_model_file_failed(struct hl_model_file *file, const char *what)
{
    const char *said = after_placement(hl_text_string(&file->messages));
    struct hl_text line = {0};
    hl_text_add(&line, "%.*s", (int)strcspn(said, "\n"), said);
    if (line.length == 0) hl_text_add(&line, "%s", what);
    drop_path(&line, file->path);
    replace_hint(&line);
    hl_error(file->command, file->path, "%s", line.data);
    hl_text_free(&line);
}

// A file without any graph loads, but there is nothing to do with it. False after a message.
static bool is_loaded(struct hl_model_file *file)
{
    if (file->model != NULL && file->model->subgraph_count > 0) return true;
    TfLiteModelDelete(file->model);
    hl_model_file_failed(file, file->model != NULL ? "the model has no subgraph" : "cannot be loaded");
    file->model = NULL;
    return false;
}

// What is no file that can be mapped: standard input, a pipe.
static bool open_stream(struct hl_model_file *file, const char *command, const char *path)
{
    struct hl_text bytes = {0}, error = {0};
    const char *name = hl_files_is_stdin(path) ? "standard input" : path;
    bool ok = hl_files_read(path, HL_FILES_MOST, &bytes, &error);
    *file = (struct hl_model_file){.command = command, .path = name};
    if (ok && bytes.length == 0) {
        hl_text_add(&error, "is empty; a .tflite file is wanted");
        ok = false;
    }
    if (!ok) {
        hl_error(command, name, "%s", error.data);
        hl_text_free(&bytes);
    }
    hl_text_free(&error);
    return ok && hl_model_file_open_bytes(file, command, name, bytes.data, bytes.length);
}

bool hl_model_file_open(struct hl_model_file *file, const char *command, const char *path)
{
    struct hl_path_facts facts;
    if (hl_files_is_stdin(path) || (hl_path_look(path, &facts) && facts.kind == HL_PATH_OTHER))
        return open_stream(file, command, path);
    *file = (struct hl_model_file){.command = command, .path = path};
    file->model = TfLiteModelCreateFromFileWithErrorReporter(path, hl_text_reporter, &file->messages);
    return is_loaded(file);
}

bool hl_model_file_open_bytes(struct hl_model_file *file, const char *command, const char *path, void *bytes,
                              size_t size)
{
    *file = (struct hl_model_file){.command = command, .path = path, .bytes = bytes};
    file->model = TfLiteModelCreateWithErrorReporter(bytes, size, hl_text_reporter, &file->messages);
    return is_loaded(file);
}

// Looked at before the library does, which would write to standard error in its own words.
static bool is_delegate(struct hl_model_file *file, const char *path)
{
    struct hl_library *library = hl_library_open(path);
    void (*create)(void);
    if (library == NULL) {
        hl_error(file->command, NULL, "the delegate cannot be opened: %s", hl_library_error());
        return false;
    }
    bool found = hl_library_find(library, "tflite_plugin_create_delegate", &create, sizeof create);
    if (!found) hl_error(file->command, path, "is no delegate: it has no tflite_plugin_create_delegate");
    hl_library_close(library);
    return found;
}

// What a cache calls the model.
static const char *token_of(const struct hl_model_file *file)
{
    return hl_path_name(file->path);
}

// Without a cache that can be written the delegate works on, and its message is shown only where something else fails.
static void check_cache(const struct hl_model_file *file, const char *folder)
{
    if (folder != NULL && !hl_folder_may_make(folder))
        hl_warn(file->command, folder, "compiled kernels cannot be kept there: %s", strerror(errno));
}

// Messages of a plug-in, each a line, as one.
static void join_lines(struct hl_text *messages)
{
    while (messages->length > 0 && messages->data[messages->length - 1] == '\n') messages->data[--messages->length] = 0;
    struct hl_text joined = {0};
    for (const char *at = hl_text_string(messages); *at != '\0'; at++)
        hl_text_add(&joined, *at == '\n' ? "; " : "%c", *at);
    hl_text_free(messages);
    *messages = joined;
}

// Options of the command line, and those that the delegate was given behind its name.
static void add_options(const struct hl_model_file *file, const struct hl_model_options *options,
                        TfLiteExternalDelegateOptions *from)
{
    if (options->device != NULL) TfLiteExternalDelegateOptionsInsert(from, "device", options->device);
    if (options->cache != NULL) {
        TfLiteExternalDelegateOptionsInsert(from, "serialization_dir", options->cache);
        TfLiteExternalDelegateOptionsInsert(from, "model_token", token_of(file));
    }
}

static bool create_delegate(struct hl_model_file *file, const struct hl_model_options *options,
                            struct hl_delegate_choice *choice)
{
    struct hl_text path = {0};
    const char *name = choice->options.lib_path;
    hl_delegate_library_path(name, &path);
    if (is_delegate(file, path.data)) {
        const struct hl_reporter reporter = {hl_text_reporter, &file->messages};
        check_cache(file, options->cache);
        choice->options.lib_path = path.data;
        add_options(file, options, &choice->options);
        file->delegate = hl_external_delegate_create(&choice->options, &reporter);
        join_lines(&file->messages);
        if (file->delegate == NULL)
            hl_error(file->command, NULL, "%s", hl_text_string(&file->messages));
        else if (file->messages.length > 0)
            hl_warn(file->command, NULL, "%s", file->messages.data);
        hl_text_clear(&file->messages);
    }
    hl_text_free(&path);
    return file->delegate != NULL;
}

// XNNPACK's is in no library of its own.
static bool create_xnnpack(struct hl_model_file *file, const TfLiteExternalDelegateOptions *given)
{
    TfLiteXNNPackDelegateOptions options = TfLiteXNNPackDelegateOptionsDefault();
    for (int i = 0; i < given->count; i++) {
        char *end = NULL;
        if (strcmp(given->keys[i], "weight_cache_file_path") == 0)
            options.weight_cache_file_path = given->values[i];
        else if (strcmp(given->keys[i], "num_threads") == 0)
            options.num_threads = (int32_t)strtol(given->values[i], &end, 10);
        if (options.weight_cache_file_path == given->values[i] || (end != NULL && *end == '\0')) continue;
        hl_error(file->command, NULL, "xnnpack takes num_threads=N and weight_cache_file_path=FILE, not %s=%s",
                 given->keys[i], given->values[i]);
        return false;
    }
    file->delegate = hl_alloc_check(TfLiteXNNPackDelegateCreate(&options));
    file->is_xnnpack = true;
    return true;
}

static bool open_delegate(struct hl_model_file *file, const struct hl_model_options *options)
{
    struct hl_delegate_choice choice;
    struct hl_text problem = {0};
    bool ok = hl_delegate_choice_parse(&choice, options->delegate, &problem);
    if (!ok) hl_error(file->command, NULL, "%s", problem.data);
    if (ok && strcmp(choice.options.lib_path, "xnnpack") == 0)
        ok = create_xnnpack(file, &choice.options);
    else
        ok = ok && create_delegate(file, options, &choice);
    hl_text_free(&problem);
    hl_delegate_choice_free(&choice);
    return ok;
}

bool hl_model_file_open_gpu(struct hl_model_file *file)
{
    struct hl_text problem = {0};
    bool ok = hl_gpu_library_open(&file->gpu, &problem);
    if (!ok) {
        hl_error(file->command, NULL, "%s", problem.data);
        hl_text_add(&file->messages, "%s", problem.data); // for whoever keeps it
    }
    hl_text_free(&problem);
    return ok;
}

bool hl_model_file_create_gpu_delegate(struct hl_model_file *file, const struct hl_model_options *options)
{
    TfLiteGpuDelegateOptionsV2 v2 = file->gpu.TfLiteGpuDelegateOptionsV2Default();
    check_cache(file, options->cache);
    if (options->partitions > 0) v2.max_delegated_partitions = options->partitions;
    if (options->cache != NULL) {
        v2.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION;
        v2.serialization_dir = options->cache;
        v2.model_token = token_of(file);
    }
    HaliteGpuDelegateOptions how = {
        .struct_size = sizeof how,
        .v2 = &v2,
        .device = options->device,
        .precision = (HaliteGpuPrecision)(kHaliteGpuPrecisionF32 + options->precision),
        .quantized = (HaliteGpuQuantized)(kHaliteGpuQuantizedFloat + options->quantized),
        .tune = options->tune,
    };
    file->delegate = file->gpu.HaliteGpuDelegateCreate(&how);
    return file->delegate != NULL; // NULL: the delegate has said why
}

void hl_model_file_warn(struct hl_model_file *file)
{
    const char *line = hl_text_string(&file->messages);
    while (*(line = after_placement(line)) != '\0') {
        size_t length = strcspn(line, "\n");
        if (length > 0) hl_warn(file->command, NULL, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    hl_text_clear(&file->messages);
}

bool hl_model_file_allocate(struct hl_model_file *file)
{
    bool ok = TfLiteInterpreterAllocateTensors(file->interpreter) == kTfLiteOk;
    if (ok)
        hl_model_file_warn(file);
    else
        hl_model_file_failed(file, "no memory can be planned for it");
    return ok;
}

// The first flag of those that only Halite's GPU delegate takes; NULL: none is set.
static const char *gpu_flag(const struct hl_model_options *options)
{
    if (options->precision != 0) return "precision";
    if (options->quantized != 0) return "quantized";
    return options->partitions > 0 ? "partitions" : NULL;
}

bool hl_model_options_gpu(const struct hl_model_options *options)
{
    bool meant = options->device != NULL || gpu_flag(options) != NULL;
    return options->gpu || (options->delegate == NULL && meant);
}

bool hl_model_file_delegate(struct hl_model_file *file, const struct hl_model_options *options)
{
    bool gpu = hl_model_options_gpu(options);
    if (gpu) return hl_model_file_open_gpu(file) && hl_model_file_create_gpu_delegate(file, options);
    if (options->delegate != NULL && gpu_flag(options) != NULL) {
        hl_error(file->command, NULL, "--%s is for --gpu; the delegate %s chooses its own", gpu_flag(options),
                 options->delegate);
        return false;
    }
    return options->delegate == NULL || open_delegate(file, options);
}

bool hl_model_file_start(struct hl_model_file *file, const struct hl_model_options *options)
{
    if (!hl_model_file_delegate(file, options)) return false;
    if (!hl_model_file_try(file, options)) {
        hl_model_file_failed(file, "no interpreter can be made for it");
        return false;
    }
    hl_model_file_warn(file);
    return true;
}

static TfLiteStatus prepare_nothing(TfLiteContext *context, TfLiteNode *node)
{
    (void)context;
    (void)node;
    return kTfLiteOk;
}

static TfLiteStatus invoke_nothing(TfLiteContext *context, TfLiteNode *node)
{
    (void)node;
    context->ReportError(context, "there is no kernel for this operator here");
    return kTfLiteError;
}

// Shapes of what such an operator writes are those of the file.
static void add_stand_ins(TfLiteInterpreterOptions *options, const TfLiteModel *model)
{
    static const TfLiteRegistration stand_in = {.prepare = prepare_nothing, .invoke = invoke_nothing, .version = 1};
    for (int i = 0; i < model->code_count; i++) {
        const struct hl_model_code *code = &model->codes[i];
        if (hl_opset_has(code)) continue;
        if (code->custom_name != NULL)
            TfLiteInterpreterOptionsAddCustomOp(options, code->custom_name, &stand_in, 1, INT32_MAX);
        else
            TfLiteInterpreterOptionsAddBuiltinOp(options, (TfLiteBuiltinOperator)code->builtin, &stand_in, 1,
                                                 INT32_MAX);
    }
}

// Register_NAME, as C and C++ code for the original calls such functions; what is no letter or digit becomes _.
static void function_name(const char *operator_name, struct hl_text *name)
{
    hl_text_add(name, "Register_%s", operator_name);
    for (char *at = name->data; *at != '\0'; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        if (!letter && !(*at >= '0' && *at <= '9')) *at = '_';
    }
}

// Custom operators of the model that the library has; those that it lacks are reported when the interpreter wants them.
static bool add_custom_ops(TfLiteInterpreterOptions *options, struct hl_model_file *file, const char *path)
{
    struct hl_library *library = hl_library_open(path); // it stays open: its functions are called until the end
    int found = 0;
    if (library == NULL) {
        hl_text_add(&file->messages, "the library of --custom-ops cannot be opened: %s\n", hl_library_error());
        return false;
    }
    for (int i = 0; i < file->model->code_count; i++) {
        const char *operator_name = file->model->codes[i].custom_name;
        struct hl_text name = {0};
        TfLiteRegistration *(*get)(void);
        if (operator_name == NULL) continue;
        function_name(operator_name, &name);
        const TfLiteRegistration *registration = hl_library_find(library, name.data, &get, sizeof get) ? get() : NULL;
        if (registration != NULL)
            TfLiteInterpreterOptionsAddCustomOp(options, operator_name, registration, 1, INT32_MAX);
        found += registration != NULL;
        hl_text_free(&name);
    }
    if (found == 0)
        hl_text_add(&file->messages,
                    "%s of --custom-ops has no function TfLiteRegistration *Register_NAME(void) for "
                    "any custom operator of this model\n",
                    path);
    return found > 0;
}

TfLiteInterpreterOptions *hl_model_file_options(struct hl_model_file *file, const struct hl_model_options *options)
{
    hl_text_clear(&file->messages);
    TfLiteInterpreterOptions *how = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(how, hl_text_reporter, &file->messages);
    TfLiteInterpreterOptionsSetNumThreads(how, options->threads);
    HaliteInterpreterOptionsSetKernels(how, (HaliteKernels)options->kernels);
    if (options->stand_ins) add_stand_ins(how, file->model);
    if (options->custom_ops != NULL && !add_custom_ops(how, file, options->custom_ops)) {
        TfLiteInterpreterOptionsDelete(how);
        return NULL;
    }
    if (file->delegate != NULL) TfLiteInterpreterOptionsAddDelegate(how, file->delegate);
    for (int i = 0; options->delegates != NULL && i < options->delegates->count; i++)
        TfLiteInterpreterOptionsAddDelegate(how, options->delegates->items[i].delegate);
    if (options->profiler != NULL) TfLiteInterpreterOptionsSetTelemetryProfiler(how, options->profiler);
    if (options->weights_cache != NULL) {
        HaliteWeightsCache *cache = HaliteWeightsCacheCreateWithFile(options->weights_cache);
        HaliteInterpreterOptionsSetWeightsCache(how, cache);
        HaliteWeightsCacheDelete(cache); // the interpreter has it
    }
    return how;
}

bool hl_model_file_try(struct hl_model_file *file, const struct hl_model_options *options)
{
    TfLiteInterpreterOptions *how = hl_model_file_options(file, options);
    if (how == NULL) return false;
    file->interpreter = TfLiteInterpreterCreate(file->model, how);
    TfLiteInterpreterOptionsDelete(how);
    return file->interpreter != NULL;
}

void hl_model_file_close(struct hl_model_file *file)
{
    TfLiteInterpreterDelete(file->interpreter);
    if (file->delegate != NULL && file->gpu.handle != NULL)
        file->gpu.TfLiteGpuDelegateV2Delete(file->delegate);
    else if (file->is_xnnpack)
        TfLiteXNNPackDelegateDelete(file->delegate);
    else if (file->delegate != NULL)
        TfLiteExternalDelegateDelete(file->delegate);
    TfLiteModelDelete(file->model);
    free(file->bytes);
    hl_text_free(&file->messages);
    *file = (struct hl_model_file){0};
}

// ---- where nodes run ----------------------------------------------------------------------------

struct op_count {
    const char *where, *op;
    int count, replaced;
};

static int compare_counts(const void *a, const void *b)
{
    const struct op_count *x = a, *y = b;
    int place = strcmp(x->where, y->where);
    if (place != 0) return place;
    return x->count != y->count ? y->count - x->count : strcmp(x->op, y->op);
}

static void count_op(struct op_count *counts, int *used, const HaliteNodeReport *node)
{
    for (int i = 0; i < *used; i++) {
        if (strcmp(counts[i].where, node->where) != 0 || strcmp(counts[i].op, node->op) != 0) continue;
        counts[i].count++;
        counts[i].replaced += node->replaced_nodes;
        return;
    }
    counts[(*used)++] = (struct op_count){node->where, node->op, 1, node->replaced_nodes};
}

static void add_place(struct hl_text *text, const struct op_count *counts, int from, int to)
{
    int nodes = 0, replaced = 0;
    for (int i = from; i < to; i++) {
        nodes += counts[i].count;
        replaced += counts[i].replaced;
    }
    bool cpu = strcmp(counts[from].where, "CPU") == 0;
    const char *place = counts[from].where;
    if (!cpu && replaced > 0) {
        hl_text_add(text, "%d node%s on ", replaced, replaced == 1 ? "" : "s");
        hl_text_add_escaped(text, place, strlen(place));
        hl_text_add(text, " in %d part%s\n", nodes, nodes == 1 ? "" : "s");
        return;
    }
    hl_text_add(text, "%d node%s on %s", nodes, nodes == 1 ? "" : "s", cpu ? "the " : "");
    hl_text_add_escaped(text, place, strlen(place));
    for (int i = from; i < to; i++) {
        hl_text_add(text, i == from ? ": " : ", ");
        hl_text_add_escaped(text, counts[i].op, strlen(counts[i].op));
        hl_text_add(text, " %d", counts[i].count);
    }
    hl_text_add(text, "\n");
}

static void add_gpu(struct hl_text *text, const struct hl_model_file *file)
{
    const struct hl_gpu_library *gpu = &file->gpu;
    HaliteDelegateReport *report = hl_alloc_check(gpu->HaliteDelegateReportCreate(file->delegate));
    const HaliteDevice *device = gpu->HaliteDelegateReportGetDevice(report);
    if (device != NULL)
        hl_text_add(text, "on %s, %s, %s\n", device->name, device->description,
                    hl_model_precisions[gpu->HaliteDelegateReportGetPrecision(report) - kHaliteGpuPrecisionF32]);
    gpu->HaliteDelegateReportDelete(report);
}

void hl_model_file_placement(const struct hl_model_file *file, struct hl_text *text)
{
    int node_count = HaliteInterpreterGetNodeCount(file->interpreter), used = 0;
    struct op_count *counts = hl_alloc((size_t)node_count, sizeof *counts);
    for (int i = 0; i < node_count; i++) {
        HaliteNodeReport node;
        if (HaliteInterpreterGetNodeReport(file->interpreter, i, &node) == kTfLiteOk) count_op(counts, &used, &node);
    }
    qsort(counts, (size_t)used, sizeof *counts, compare_counts);
    for (int from = 0, to; from < used; from = to) {
        for (to = from; to < used && strcmp(counts[to].where, counts[from].where) == 0;) to++;
        add_place(text, counts, from, to);
    }
    if (used == 0) hl_text_add(text, "0 nodes: the model hands its inputs on\n");
    if (file->gpu.handle != NULL) add_gpu(text, file);
    free(counts);
}

// ---- shapes and time ----------------------------------------------------------------------------

void hl_model_add_shape(struct hl_text *text, TfLiteType type, int rank, const int *dims)
{
    hl_text_add(text, "%s[", hl_element_name(type));
    for (int i = 0; i < rank; i++) {
        hl_text_add(text, i > 0 ? "," : "");
        if (dims[i] < 0)
            hl_text_add(text, "?");
        else
            hl_text_add(text, "%d", dims[i]);
    }
    hl_text_add(text, "]");
}

void hl_model_add_tensor_shape(struct hl_text *text, const TfLiteTensor *tensor)
{
    const TfLiteIntArray *dims = tensor->dims;
    hl_model_add_shape(text, tensor->type, dims != NULL ? dims->size : 0, dims != NULL ? dims->data : NULL);
}

int64_t hl_model_elements(const TfLiteTensor *tensor)
{
    int64_t count = 1;
    for (int i = 0; i < TfLiteTensorNumDims(tensor); i++) count *= TfLiteTensorDim(tensor, i);
    return count;
}

bool hl_model_has_shape(const TfLiteTensor *tensor, int rank, const int *dims)
{
    TfLiteType type = TfLiteTensorType(tensor);
    if (type != kTfLiteFloat32 && type != kTfLiteUInt8 && type != kTfLiteInt8) return false;
    if (TfLiteTensorNumDims(tensor) != rank) return false;
    for (int i = 0; i < rank; i++)
        if (dims[i] >= 0 && TfLiteTensorDim(tensor, i) != dims[i]) return false;
    return true;
}

int hl_model_output_operator(const TfLiteModel *model, int output)
{
    const struct hl_model_subgraph *graph = &model->subgraphs[0];
    for (int i = 0; i < graph->node_count && output < graph->output_count; i++) {
        const struct hl_model_node *node = &graph->nodes[i];
        for (int j = 0; j < node->output_count; j++)
            if (node->outputs[j] == graph->outputs[output]) return model->codes[node->code].builtin;
    }
    return -1;
}

float hl_model_real(const TfLiteTensor *tensor, int64_t i)
{
    TfLiteQuantizationParams q = TfLiteTensorQuantizationParams(tensor);
    double stored = hl_values_at(TfLiteTensorType(tensor), TfLiteTensorData(tensor), i);
    bool quantized = TfLiteTensorType(tensor) != kTfLiteFloat32 && q.scale != 0;
    return (float)(quantized ? (double)q.scale * (stored - q.zero_point) : stored);
}
