// SPDX-License-Identifier: Apache-2.0
// Models behind queues. In: files and options. Out: for each model the names and shapes that clients see, and a queue
// with its workers.
#include "serve/serve.h"

#include <limits.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "base/path.h"
#include "base/threads.h"
#include "json.h"
#include "message.h"

// ---- names --------------------------------------------------------------------------------------

// The protocol's word for a type; NULL: it has none.
static const char *datatype_of(TfLiteType type)
{
    switch (type) {
    case kTfLiteBool: return "BOOL";
    case kTfLiteUInt8: return "UINT8";
    case kTfLiteUInt16: return "UINT16";
    case kTfLiteUInt32: return "UINT32";
    case kTfLiteUInt64: return "UINT64";
    case kTfLiteInt8: return "INT8";
    case kTfLiteInt16: return "INT16";
    case kTfLiteInt32: return "INT32";
    case kTfLiteInt64: return "INT64";
    case kTfLiteFloat16: return "FP16";
    case kTfLiteBFloat16: return "BF16";
    case kTfLiteFloat32: return "FP32";
    case kTfLiteFloat64: return "FP64";
    default: return NULL;
    }
}

// The part of a path that names the model.
static char *name_of_file(const char *path)
{
    char *name = hl_alloc_string(hl_path_name(path));
    char *end = strrchr(name, '.');
    if (end != NULL && end != name && strcmp(end, ".tflite") == 0) *end = '\0';
    return name;
}

// "NAME=FILE", where FILE may hold further signs of equality; a name holds no slash.
static const char *split_operand(const char *operand, char **name)
{
    const char *sign = strchr(operand, '='), *slash = strchr(operand, '/');
    if (sign == NULL || sign == operand || (slash != NULL && slash < sign)) {
        *name = name_of_file(operand);
        return operand;
    }
    *name = hl_alloc_string(operand);
    (*name)[sign - operand] = '\0';
    return sign + 1;
}

// The name that the first signature of the primary subgraph gives a tensor; NULL: none.
static const char *signature_name(const TfLiteModel *model, bool output, int tensor)
{
    for (int i = 0; i < model->signature_count; i++) {
        const struct hl_model_signature *signature = &model->signatures[i];
        if (signature->subgraph != 0) continue;
        const struct hl_model_signature_entry *entries = output ? signature->outputs : signature->inputs;
        int count = output ? signature->output_count : signature->input_count;
        for (int entry = 0; entry < count; entry++)
            if (entries[entry].tensor == tensor) return entries[entry].name;
        return NULL;
    }
    return NULL;
}

static bool is_taken(const struct hl_serve_tensor *tensors, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(tensors[i].name, name) == 0) return true;
    return false;
}

// A name that none of the tensors before has: clients tell tensors apart by nothing else.
static char *name_apart(const struct hl_serve_tensor *tensors, int count, const char *wanted, const char *side)
{
    struct hl_text name = {0};
    hl_text_add(&name, "%s", wanted);
    for (int number = count; name.length == 0 || is_taken(tensors, count, name.data); number++) {
        hl_text_clear(&name);
        hl_text_add(&name, "%s_%d", wanted[0] != '\0' ? wanted : side, number);
    }
    return hl_text_take(&name);
}

// ---- tensors ------------------------------------------------------------------------------------

static bool describe_tensor(struct hl_serve_tensor *made, const TfLiteTensor *tensor, const char *model)
{
    made->type = TfLiteTensorType(tensor);
    made->datatype = datatype_of(made->type);
    if (made->datatype == NULL) {
        struct hl_text shape = {0};
        hl_model_add_tensor_shape(&shape, tensor);
        hl_error("serve", model, "tensor '%s' is %s, a type that the protocol has no word for",
                 TfLiteTensorName(tensor), shape.data);
        hl_text_free(&shape);
        return false;
    }
    made->rank = TfLiteTensorNumDims(tensor);
    made->dims = hl_alloc((size_t)made->rank, sizeof *made->dims);
    for (int i = 0; i < made->rank; i++) made->dims[i] = TfLiteTensorDim(tensor, i);
    made->elements = hl_model_elements(tensor);
    made->bytes = TfLiteTensorByteSize(tensor);
    return true;
}

static bool describe_side(struct hl_serve_model *model, bool output)
{
    const struct hl_model_file *file = &model->files[0];
    int count = output ? TfLiteInterpreterGetOutputTensorCount(file->interpreter)
                       : TfLiteInterpreterGetInputTensorCount(file->interpreter);
    struct hl_serve_tensor *tensors = hl_alloc((size_t)count, sizeof *tensors);
    *(output ? &model->outputs : &model->inputs) = tensors;
    const struct hl_model_subgraph *graph = &file->model->subgraphs[0];
    for (int i = 0; i < count; i++) {
        const TfLiteTensor *tensor = output ? TfLiteInterpreterGetOutputTensor(file->interpreter, i)
                                            : TfLiteInterpreterGetInputTensor(file->interpreter, i);
        if (tensor == NULL) {
            hl_error("serve", file->path, "leaves out an %s, and cannot be served", output ? "output" : "input");
            return false;
        }
        const char *name = signature_name(file->model, output, output ? graph->outputs[i] : graph->inputs[i]);
        const char *own = TfLiteTensorName(tensor) != NULL ? TfLiteTensorName(tensor) : "";
        tensors[i].name =
            name_apart(tensors, i, name != NULL && *name != '\0' ? name : own, output ? "output" : "input");
        tensors[i].tensor_name = hl_alloc_string(own);
        *(output ? &model->output_count : &model->input_count) = i + 1;
        if (!describe_tensor(&tensors[i], tensor, file->path)) return false;
    }
    return true;
}

// Looks at the shapes with an interpreter of its own: those of outputs may be known only when memory is planned.
static bool describe(struct hl_serve_model *model, const struct hl_model_options *options)
{
    struct hl_model_file *file = &model->files[0];
    const struct hl_model_options plain = {.threads = 1,
                                           .kernels = options->kernels,
                                           .custom_ops = options->custom_ops};
    bool ok = hl_model_file_start(file, &plain) && hl_model_file_allocate(file) && describe_side(model, false) &&
              describe_side(model, true);
    TfLiteInterpreterDelete(file->interpreter);
    file->interpreter = NULL;
    return ok;
}

static void add_tensors(cJSON *json, const char *side, const struct hl_serve_tensor *tensors, int count, bool batched)
{
    cJSON *list = cJSON_AddArrayToObject(json, side);
    for (int i = 0; i < count; i++) {
        cJSON *tensor = cJSON_CreateObject();
        hl_json_add_string(tensor, "name", tensors[i].name);
        cJSON_AddStringToObject(tensor, "datatype", tensors[i].datatype);
        cJSON *shape = cJSON_AddArrayToObject(tensor, "shape");
        for (int dim = 0; dim < tensors[i].rank; dim++)
            cJSON_AddItemToArray(shape, cJSON_CreateNumber(batched && dim == 0 ? -1 : tensors[i].dims[dim]));
        cJSON_AddItemToArray(list, tensor);
    }
}

void hl_serve_model_describe(const struct hl_serve_model *model, struct hl_text *text)
{
    cJSON *json = hl_alloc_check(cJSON_CreateObject());
    hl_json_add_string(json, "name", model->name);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "versions"), cJSON_CreateString("1"));
    cJSON_AddStringToObject(json, "platform", "tflite");
    add_tensors(json, "inputs", model->inputs, model->input_count, model->batch > 1);
    add_tensors(json, "outputs", model->outputs, model->output_count, model->batch > 1);
    char *printed = hl_alloc_check(cJSON_PrintUnformatted(json));
    hl_text_add(text, "%s\n", printed);
    cJSON_free(printed);
    cJSON_Delete(json);
}

size_t hl_serve_model_body(const struct hl_serve_model *model)
{
    enum { NUMBER = 32, REST = 65536 }; // "-1.7976931348623157e+308," and a blank or two; names, shapes, parameters
    double bytes = REST;
    for (int i = 0; i < model->input_count; i++) bytes += (double)model->inputs[i].elements * model->batch * NUMBER;
    return bytes < (double)INT_MAX ? (size_t)bytes : INT_MAX;
}

// ---- workers ------------------------------------------------------------------------------------

// Messages of interpreters and of the queue, while they are made and later.
static void report(void *data, const char *format, va_list args)
{
    const struct hl_serve_model *model = data;
    hl_message_va(HL_ERROR, "serve", model->name, format, args);
}

static bool open_workers(struct hl_serve_model *model, const char *path, const struct hl_model_options *options,
                         TfLiteInterpreterOptions **interpreters)
{
    for (int i = 0; i < model->worker_count; i++) {
        struct hl_model_file *file = &model->files[i];
        if (i > 0 && !hl_model_file_open(file, "serve", path)) return false;
        if (!hl_model_file_delegate(file, options)) return false;
        interpreters[i] = hl_model_file_options(file, options);
        if (interpreters[i] == NULL) {
            hl_model_file_failed(file, "no interpreter can be made for it");
            return false;
        }
        TfLiteInterpreterOptionsSetErrorReporter(interpreters[i], report, model);
    }
    return true;
}

// Whether the workers' tensors have the sizes that were looked at without a delegate.
static bool has_sizes(const struct hl_serve_model *model, const char *path)
{
    bool same = true;
    for (int i = 0; i < model->input_count; i++)
        same = same && model->inputs[i].bytes == HaliteQueueGetInputBytes(model->queue, i);
    for (int i = 0; i < model->output_count; i++)
        same = same && model->outputs[i].bytes == HaliteQueueGetOutputBytes(model->queue, i);
    if (!same) hl_error("serve", path, "its tensors have other sizes on the delegate than on the CPU");
    return same;
}

static bool create_queue(struct hl_serve_model *model, const char *path, const struct hl_serve_options *options)
{
    TfLiteInterpreterOptions **interpreters = hl_alloc((size_t)model->worker_count, sizeof *interpreters);
    HaliteWeightsCache *weights = NULL;
    struct hl_model_options each = options->model;
    each.weights_cache = NULL; // the queue gives all of them the same
    bool ok = open_workers(model, path, &each, interpreters);
    if (ok && options->model.weights_cache != NULL)
        weights = HaliteWeightsCacheCreateWithFile(options->model.weights_cache);
    const HaliteQueueOptions queue = {
        .struct_size = sizeof queue,
        .max_requests = options->queue,
        .max_batch = options->batch,
        .batch_nanoseconds = options->batch_wait > 0 ? (int64_t)(1e6 * options->batch_wait) : -1,
        .weights_cache = weights,
        .error_reporter = report,
        .error_data = model,
    };
    if (ok)
        model->queue = HaliteQueueCreate(model->files[0].model, (const TfLiteInterpreterOptions *const *)interpreters,
                                         model->worker_count, &queue);
    HaliteWeightsCacheDelete(weights); // the queue holds on to it
    for (int i = 0; i < model->worker_count; i++) TfLiteInterpreterOptionsDelete(interpreters[i]);
    free(interpreters);
    if (model->queue != NULL) model->batch = HaliteQueueGetMaxBatch(model->queue);
    return model->queue != NULL && has_sizes(model, path);
}

static int choose_workers(const struct hl_serve_options *options)
{
    enum { MOST = 64 };
    if (options->workers > 0) return options->workers;
    if (options->model.delegate != NULL || hl_model_options_gpu(&options->model)) return 1;
    int processors = hl_processors();
    return processors < 1 ? 1 : processors < MOST ? processors : MOST;
}

bool hl_serve_model_open(struct hl_serve_model *model, const char *operand, const struct hl_serve_options *options)
{
    const char *path = split_operand(operand, &model->name);
    model->worker_count = choose_workers(options);
    model->files = hl_alloc((size_t)model->worker_count, sizeof *model->files);
    model->limit = options->queue;
    model->deadline = options->deadline;
    return hl_model_file_open(&model->files[0], "serve", path) && describe(model, &options->model) &&
           create_queue(model, path, options);
}

void hl_serve_model_stop(struct hl_serve_model *model)
{
    HaliteQueueDelete(model->queue);
    model->queue = NULL;
}

static void free_tensors(struct hl_serve_tensor *tensors, int count)
{
    for (int i = 0; i < count; i++) {
        free(tensors[i].name);
        free(tensors[i].tensor_name);
        free(tensors[i].dims);
    }
    free(tensors);
}

void hl_serve_model_free(struct hl_serve_model *model)
{
    hl_serve_model_stop(model);
    for (int i = 0; i < model->worker_count; i++) hl_model_file_close(&model->files[i]);
    free(model->files);
    free_tensors(model->inputs, model->input_count);
    free_tensors(model->outputs, model->output_count);
    free(model->name);
}
