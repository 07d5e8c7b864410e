// SPDX-License-Identifier: Apache-2.0
// Models: files that are read, and the tensors, subgraphs and signatures in them. These are looked up in an interpreter
// that belongs to the model and never runs.
#include "litert/c/litert_model.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "litert/core/core.h"

// ---- subgraphs and tensors ----------------------------------------------------------------------

// Zero points as LiteRT's struct has them. False without memory.
static bool copy_zero_points(struct LiteRtTensorT *tensor)
{
    const TfLiteAffineQuantization *params = tensor->tensor->quantization.params;
    if (tensor->tensor->quantization.type != kTfLiteAffineQuantization || !params || !params->scale ||
        params->scale->size < 2 || !params->zero_point)
        return true;
    int count = params->scale->size;
    tensor->zero_points = calloc((size_t)count, sizeof *tensor->zero_points);
    if (!tensor->zero_points) return false;
    for (int i = 0; i < count; i++)
        tensor->zero_points[i] = params->zero_point->data[params->zero_point->size > 1 ? i : 0];
    return true;
}

static bool add_subgraph(LiteRtModel model, int index)
{
    struct LiteRtSubgraphT *subgraph = &model->subgraphs[index];
    subgraph->tensor_count = (size_t)HaliteInterpreterGetSubgraphTensorCount(model->interpreter, index);
    subgraph->tensors = calloc(subgraph->tensor_count + 1, sizeof *subgraph->tensors);
    if (!subgraph->tensors) return false;
    for (size_t i = 0; i < subgraph->tensor_count; i++) {
        struct LiteRtTensorT *tensor = &subgraph->tensors[i];
        tensor->index = (uint32_t)i;
        tensor->tensor = HaliteInterpreterGetSubgraphTensor(model->interpreter, index, (int32_t)i);
        if (!copy_zero_points(tensor)) return false;
    }
    if (index == 0) {
        subgraph->is_known = true;
        subgraph->input_count = (size_t)TfLiteInterpreterGetInputTensorCount(model->interpreter);
        subgraph->output_count = (size_t)TfLiteInterpreterGetOutputTensorCount(model->interpreter);
        subgraph->inputs = TfLiteInterpreterInputTensorIndices(model->interpreter);
        subgraph->outputs = TfLiteInterpreterOutputTensorIndices(model->interpreter);
    }
    return true;
}

// ---- signatures ---------------------------------------------------------------------------------

static bool reserve_signature(struct LiteRtSignatureT *signature, size_t inputs, size_t outputs)
{
    signature->input_count = inputs;
    signature->output_count = outputs;
    signature->names = calloc(inputs + outputs + 1, sizeof *signature->names);
    signature->tensors = calloc(inputs + outputs + 1, sizeof *signature->tensors);
    return signature->names && signature->tensors;
}

static bool add_placeholder(LiteRtModel model)
{
    struct LiteRtSignatureT *signature = &model->signatures[0];
    struct LiteRtSubgraphT *graph = &model->subgraphs[0];
    signature->key = "<placeholder signature>";
    signature->graph = graph;
    if (!reserve_signature(signature, graph->input_count, graph->output_count)) return false;
    for (size_t i = 0; i < graph->input_count + graph->output_count; i++) {
        int tensor = i < graph->input_count ? graph->inputs[i] : graph->outputs[i - graph->input_count];
        const char *name = tensor >= 0 ? graph->tensors[tensor].tensor->name : NULL;
        signature->tensors[i] = tensor;
        signature->names[i] = name ? name : "";
    }
    return true;
}

// The names that a runner lends belong to the model and stay when it is deleted.
static bool add_signature(LiteRtModel model, int index)
{
    struct LiteRtSignatureT *signature = &model->signatures[index];
    signature->key = TfLiteInterpreterGetSignatureKey(model->interpreter, index);
    TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(model->interpreter, signature->key);
    if (!runner) return false;
    signature->subgraph = HaliteSignatureRunnerGetSubgraph(runner);
    signature->graph = &model->subgraphs[signature->subgraph];
    bool good = reserve_signature(signature, TfLiteSignatureRunnerGetInputCount(runner),
                                  TfLiteSignatureRunnerGetOutputCount(runner));
    for (size_t i = 0; good && i < signature->input_count; i++) {
        signature->names[i] = TfLiteSignatureRunnerGetInputName(runner, (int32_t)i);
        signature->tensors[i] = HaliteSignatureRunnerGetInputTensorIndex(runner, signature->names[i]);
    }
    for (size_t i = 0; good && i < signature->output_count; i++) {
        size_t at = signature->input_count + i;
        signature->names[at] = TfLiteSignatureRunnerGetOutputName(runner, (int32_t)i);
        signature->tensors[at] = HaliteSignatureRunnerGetOutputTensorIndex(runner, signature->names[at]);
    }
    TfLiteSignatureRunnerDelete(runner);
    if (good && !signature->graph->is_known) {
        struct LiteRtSubgraphT *graph = signature->graph;
        graph->is_known = true;
        graph->input_count = signature->input_count;
        graph->output_count = signature->output_count;
        graph->inputs = signature->tensors;
        graph->outputs = signature->tensors + signature->input_count;
    }
    return good;
}

// ---- reading ------------------------------------------------------------------------------------

static bool look_into(LiteRtModel model)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    if (options) HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsReference);
    model->interpreter = options ? TfLiteInterpreterCreate(model->tflite, options) : NULL;
    TfLiteInterpreterOptionsDelete(options);
    if (!model->interpreter) return false;
    int subgraphs = HaliteInterpreterGetSubgraphCount(model->interpreter);
    int signatures = TfLiteInterpreterGetSignatureCount(model->interpreter);
    model->subgraphs = calloc((size_t)subgraphs + 1, sizeof *model->subgraphs);
    model->signatures = calloc((size_t)signatures + 1, sizeof *model->signatures);
    if (!model->subgraphs || !model->signatures) return false;
    model->subgraph_count = (size_t)subgraphs;
    model->signature_count = signatures ? (size_t)signatures : 1;
    for (int i = 0; i < subgraphs; i++)
        if (!add_subgraph(model, i)) return false;
    if (!signatures) return add_placeholder(model);
    for (int i = 0; i < signatures; i++)
        if (!add_signature(model, i)) return false;
    return true;
}

// Takes what was read, NULL where that failed, and bytes, which may be NULL.
static LiteRtStatus create(TfLiteModel *tflite, void *bytes, LiteRtStatus failure, LiteRtModel *model)
{
    LiteRtModel made = calloc(1, sizeof *made);
    if (!made || !tflite) {
        TfLiteModelDelete(tflite);
        free(bytes);
        free(made);
        return made ? failure : litert_fail(kLiteRtStatusErrorMemoryAllocationFailure, "no memory for a model");
    }
    made->tflite = tflite;
    made->bytes = bytes;
    if (!look_into(made)) {
        LiteRtDestroyModel(made);
        return litert_fail(kLiteRtStatusErrorRuntimeFailure, "the model has no interpreter");
    }
    *model = made;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCreateModelFromFile(LiteRtEnvironment environment, const char *path, LiteRtModel *model)
{
    (void)environment;
    LITERT_NEED(path && model);
    FILE *file = fopen(path, "rb"); // to tell a file that is not there from one that is no model
    if (!file) return litert_fail(kLiteRtStatusErrorFileIO, "cannot read the model %s", path);
    fclose(file);
    return create(TfLiteModelCreateFromFile(path), NULL, kLiteRtStatusErrorInvalidFlatbuffer, model);
}

LiteRtStatus LiteRtCreateModelFromBuffer(LiteRtEnvironment environment, const void *bytes, size_t size,
                                         LiteRtModel *model)
{
    (void)environment;
    LITERT_NEED(bytes && size && model);
    return create(TfLiteModelCreate(bytes, size), NULL, kLiteRtStatusErrorInvalidFlatbuffer, model);
}

LiteRtStatus LiteRtCreateModelFromFd(LiteRtEnvironment environment, int descriptor, size_t offset, size_t size,
                                     LiteRtModel *model)
{
    (void)environment;
    LITERT_NEED(size && model);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    FILE *file = fopen(path, "rb");
    bool found = file && offset <= LONG_MAX && fseek(file, 0, SEEK_END) == 0;
    long end = found ? ftell(file) : -1;
    found = end >= 0 && offset <= (size_t)end && size <= (size_t)end - offset;
    char *bytes = found ? malloc(size) : NULL;
    bool read = bytes && fseek(file, (long)offset, SEEK_SET) == 0 && fread(bytes, 1, size, file) == size;
    if (file) fclose(file);
    if (!read) {
        free(bytes);
        return litert_fail(kLiteRtStatusErrorFileIO, "descriptor %d has no %zu bytes from %zu on that can be read",
                           descriptor, size, offset);
    }
    return create(TfLiteModelCreate(bytes, size), bytes, kLiteRtStatusErrorInvalidFlatbuffer, model);
}

void LiteRtDestroyModel(LiteRtModel model)
{
    if (!model) return;
    for (size_t i = 0; model->signatures && i < model->signature_count; i++) {
        free(model->signatures[i].names);
        free(model->signatures[i].tensors);
    }
    for (size_t i = 0; i < model->subgraph_count; i++) {
        struct LiteRtSubgraphT *subgraph = &model->subgraphs[i];
        for (size_t k = 0; subgraph->tensors && k < subgraph->tensor_count; k++) free(subgraph->tensors[k].zero_points);
        free(subgraph->tensors);
    }
    while (model->metadata) {
        struct litert_metadata *next = model->metadata->next;
        free(model->metadata->name);
        free(model->metadata->bytes);
        free(model->metadata);
        model->metadata = next;
    }
    free(model->signatures);
    free(model->subgraphs);
    TfLiteInterpreterDelete(model->interpreter);
    TfLiteModelDelete(model->tflite);
    free(model->bytes);
    free(model);
}

// ---- metadata -----------------------------------------------------------------------------------

static bool find_metadata(LiteRtModel model, const char *name, const void **bytes, size_t *size)
{
    for (const struct litert_metadata *entry = model->metadata; entry; entry = entry->next) {
        if (strcmp(entry->name, name) != 0) continue;
        *bytes = entry->bytes;
        *size = entry->size;
        return true;
    }
    for (int32_t i = 0; i < HaliteModelGetMetadataCount(model->tflite); i++) {
        const char *found;
        if (HaliteModelGetMetadata(model->tflite, i, &found, bytes, size) == kTfLiteOk && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

LiteRtStatus LiteRtGetModelMetadata(LiteRtModel model, const char *name, const void **bytes, size_t *size)
{
    LITERT_NEED(model && name && bytes && size);
    const void *found;
    size_t found_size;
    if (!find_metadata(model, name, &found, &found_size)) return kLiteRtStatusErrorNotFound;
    *bytes = found;
    *size = found_size;
    return kLiteRtStatusOk;
}

LiteRtStatus LiteRtAddModelMetadata(LiteRtModel model, const char *name, const void *bytes, size_t size)
{
    LITERT_NEED(model && name && (bytes || size == 0));
    const void *found;
    size_t found_size;
    if (find_metadata(model, name, &found, &found_size))
        return litert_fail(kLiteRtStatusErrorAlreadyExists, "the model has metadata %s already", name);
    struct litert_metadata *entry = calloc(1, sizeof *entry);
    LITERT_MEMORY(entry);
    entry->name = litert_copy_text(name);
    entry->bytes = malloc(size ? size : 1);
    if (!entry->name || !entry->bytes) {
        free(entry->name);
        free(entry->bytes);
        free(entry);
        LITERT_MEMORY(NULL);
    }
    if (size) memcpy(entry->bytes, bytes, size);
    entry->size = size;
    entry->next = model->metadata;
    model->metadata = entry;
    return kLiteRtStatusOk;
}
