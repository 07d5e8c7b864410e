// SPDX-License-Identifier: Apache-2.0
// One interpreter of a queue's model, for batches of any size: n requests are inputs whose first dimension is n times
// that of the file.
#include <limits.h>
#include <stdlib.h>

#include "queue/queue.h"

static bool refuse(const struct hl_queue_model *model, const TfLiteTensor *tensor, const char *side, const char *why)
{
    hl_report(model->reporter, "HaliteQueueCreate: the model cannot be served: %s '%s' %s", side,
              TfLiteTensorName(tensor), why);
    return false;
}

static bool can_serve(const struct hl_queue_model *model, const TfLiteTensor *tensor, const char *side)
{
    if (!tensor) {
        hl_report(model->reporter, "HaliteQueueCreate: the model cannot be served: it leaves out an %s", side);
        return false;
    }
    if (tensor->type == kTfLiteString) return refuse(model, tensor, side, "is of strings");
    if (tensor->allocation_type == kTfLiteDynamic)
        return refuse(model, tensor, side, "has no size before the model runs");
    return true;
}

static size_t *measure(const struct hl_queue_model *model, bool outputs)
{
    int32_t count = outputs ? model->output_count : model->input_count;
    size_t *bytes = calloc((size_t)count + 1, sizeof *bytes);
    for (int32_t i = 0; i < count && bytes; i++) {
        const TfLiteTensor *tensor = outputs ? TfLiteInterpreterGetOutputTensor(model->interpreter, i)
                                             : TfLiteInterpreterGetInputTensor(model->interpreter, i);
        if (!can_serve(model, tensor, outputs ? "output" : "input")) {
            free(bytes);
            return NULL;
        }
        bytes[i] = TfLiteTensorByteSize(tensor);
    }
    return bytes;
}

static bool keeps_variables(const TfLiteInterpreter *interpreter)
{
    for (int32_t i = 0; i < HaliteInterpreterGetSubgraphCount(interpreter); i++) {
        int32_t count = 0;
        HaliteInterpreterGetSubgraphVariables(interpreter, i, &count);
        if (count > 0) return true;
    }
    return false;
}

static TfLiteInterpreter *create_interpreter(const TfLiteModel *file, const TfLiteInterpreterOptions *options,
                                             HaliteWeightsCache *cache)
{
    TfLiteInterpreterOptions *copy = options ? TfLiteInterpreterOptionsCopy(options) : TfLiteInterpreterOptionsCreate();
    if (!copy) return NULL;
    HaliteInterpreterOptionsSetWeightsCache(copy, cache);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(file, copy);
    TfLiteInterpreterOptionsDelete(copy);
    return interpreter;
}

static bool keep_shapes(struct hl_queue_model *model)
{
    model->shapes = calloc((size_t)model->input_count + 1, sizeof *model->shapes);
    bool kept = model->shapes != NULL;
    for (int32_t i = 0; i < model->input_count && kept; i++) {
        model->shapes[i] = TfLiteIntArrayCopy(TfLiteInterpreterGetInputTensor(model->interpreter, i)->dims);
        kept = model->shapes[i] != NULL;
    }
    return kept;
}

bool hl_queue_model_create(struct hl_queue_model *model, const TfLiteModel *file,
                           const TfLiteInterpreterOptions *options, HaliteWeightsCache *cache)
{
    model->batch = 1;
    model->interpreter = create_interpreter(file, options, cache);
    if (!model->interpreter) return false;
    if (keeps_variables(model->interpreter)) {
        hl_report(model->reporter, "HaliteQueueCreate: the model cannot be served: it keeps variables from run to run");
        return false;
    }
    if (TfLiteInterpreterAllocateTensors(model->interpreter) != kTfLiteOk) return false;
    model->input_count = TfLiteInterpreterGetInputTensorCount(model->interpreter);
    model->output_count = TfLiteInterpreterGetOutputTensorCount(model->interpreter);
    model->input_bytes = measure(model, false);
    if (model->input_bytes) model->output_bytes = measure(model, true);
    return model->output_bytes && keep_shapes(model);
}

void hl_queue_model_destroy(struct hl_queue_model *model)
{
    TfLiteInterpreterDelete(model->interpreter);
    for (int32_t i = 0; i < model->input_count && model->shapes; i++) TfLiteIntArrayFree(model->shapes[i]);
    free(model->shapes);
    free(model->input_bytes);
    free(model->output_bytes);
}

// ---- the batch dimension ------------------------------------------------------------------------

static TfLiteStatus resize_input(const struct hl_queue_model *model, int32_t input, int32_t batch)
{
    TfLiteIntArray *dims = TfLiteIntArrayCopy(model->shapes[input]);
    if (!dims) return kTfLiteError;
    if (dims->size > 0) dims->data[0] *= batch;
    TfLiteStatus status = TfLiteInterpreterResizeInputTensor(model->interpreter, input, dims->data, dims->size);
    TfLiteIntArrayFree(dims);
    return status;
}

TfLiteStatus hl_queue_model_resize(struct hl_queue_model *model, int32_t batch)
{
    if (batch == model->batch) return kTfLiteOk;
    TfLiteStatus status = kTfLiteOk;
    model->batch = 0; // until all inputs have the new shape, and the tensors memory
    for (int32_t i = 0; i < model->input_count && status == kTfLiteOk; i++) status = resize_input(model, i, batch);
    if (status == kTfLiteOk) status = TfLiteInterpreterAllocateTensors(model->interpreter);
    if (status == kTfLiteOk) model->batch = batch;
    return status;
}

// Returns whether n requests would be inputs that are longer, and within the range of int.
static bool can_grow(const struct hl_queue_model *model, int32_t batch)
{
    for (int32_t i = 0; i < model->input_count; i++) {
        const TfLiteIntArray *shape = model->shapes[i];
        if (shape->size > 0 && shape->data[0] > 0 && shape->data[0] <= INT_MAX / batch) continue;
        hl_report(model->reporter,
                  "HaliteQueueCreate: requests run one by one: input '%s' has no first dimension that can grow",
                  TfLiteTensorName(TfLiteInterpreterGetInputTensor(model->interpreter, i)));
        return false;
    }
    return model->input_count > 0;
}

// Returns whether an output of two requests has twice the first dimension of one, after a message where not.
static bool has_doubled(const struct hl_queue_model *model, const TfLiteTensor *tensor, const TfLiteIntArray *one)
{
    bool doubled = one->size > 0 && tensor->dims->size == one->size && tensor->allocation_type != kTfLiteDynamic;
    for (int i = 0; i < one->size && doubled; i++) doubled = tensor->dims->data[i] == (i == 0 ? 2 : 1) * one->data[i];
    if (!doubled)
        hl_report(model->reporter,
                  "HaliteQueueCreate: requests run one by one: output '%s' does not grow with the inputs",
                  TfLiteTensorName(tensor));
    return doubled;
}

static bool doubles_outputs(struct hl_queue_model *model, TfLiteIntArray **shapes)
{
    bool doubled = true;
    for (int32_t i = 0; i < model->output_count && doubled; i++) {
        shapes[i] = TfLiteIntArrayCopy(TfLiteInterpreterGetOutputTensor(model->interpreter, i)->dims);
        doubled = shapes[i] != NULL;
    }
    if (doubled && hl_queue_model_resize(model, 2) != kTfLiteOk) {
        hl_report(model->reporter,
                  "HaliteQueueCreate: requests run one by one: the model does not take the inputs of two");
        doubled = false;
    }
    for (int32_t i = 0; i < model->output_count && doubled; i++)
        doubled = has_doubled(model, TfLiteInterpreterGetOutputTensor(model->interpreter, i), shapes[i]);
    return doubled;
}

bool hl_queue_model_has_batches(struct hl_queue_model *model, int32_t batch)
{
    if (!can_grow(model, batch)) return false;
    TfLiteIntArray **shapes = calloc((size_t)model->output_count + 1, sizeof *shapes);
    bool doubled = shapes && doubles_outputs(model, shapes);
    for (int32_t i = 0; i < model->output_count && shapes; i++) TfLiteIntArrayFree(shapes[i]);
    free(shapes);
    return doubled;
}
