// SPDX-License-Identifier: Apache-2.0
// The tensors of a run. They are of kind kTfLiteDynamic, with memory of malloc, so that strings and results whose size
// is known only while running can grow.
#include <stdlib.h>
#include <string.h>

#include "runtime/run.h"

static bool make_tensor(TfLiteTensor *tensor, const TfLiteTensor *like)
{
    TfLiteTensor description = *like;
    description.allocation_type = kTfLiteArenaRw; // not to be copied: its data
    description.allocation = NULL;
    description.sparsity = NULL;
    description.delegate = NULL;
    description.buffer_handle = kTfLiteNullBufferHandle;
    description.data_is_stale = false;
    description.is_variable = false;
    *tensor = TfLiteTensorClone(description);
    tensor->allocation_type = kTfLiteDynamic;
    tensor->data.raw = NULL;
    tensor->bytes = 0;
    if (!tensor->dims || TfLiteTensorRealloc(like->bytes, tensor) != kTfLiteOk) return false;
    if (like->bytes > 0) memset(tensor->data.raw, 0, like->bytes);
    return true;
}

bool hl_run_tensors_create(struct hl_run_tensors *tensors, const struct hl_subgraph *subgraph,
                           const TfLiteIntArray *list)
{
    tensors->tensors = calloc(list->size > 0 ? (size_t)list->size : 1, sizeof *tensors->tensors);
    if (!tensors->tensors) return false;
    tensors->count = list->size;
    for (int i = 0; i < list->size; i++) {
        int tensor = list->data[i];
        if (tensor >= 0 && !make_tensor(&tensors->tensors[i], &subgraph->context.tensors[tensor])) return false;
    }
    return true;
}

void hl_run_tensors_free(struct hl_run_tensors *tensors)
{
    for (int i = 0; i < tensors->count; i++) TfLiteTensorFree(&tensors->tensors[i]);
    free(tensors->tensors);
    *tensors = (struct hl_run_tensors){0};
}

// ---- copies -------------------------------------------------------------------------------------

static TfLiteStatus load_input(const struct hl_subgraph *subgraph, int input, const TfLiteTensor *from,
                               TfLiteTensor *to)
{
    if (!TfLiteIntArrayEqual(from->dims, to->dims)) {
        hl_subgraph_error(subgraph,
                          "input %d (%s) was resized after this run was created: delete the run and create it again",
                          input, hl_tensor_label(to));
        return kTfLiteError;
    }
    if (to->allocation_type == kTfLiteDynamic && TfLiteTensorRealloc(from->bytes, to) != kTfLiteOk) {
        hl_subgraph_error(subgraph, "out of memory: input %d (%s) of a run has %zu bytes", input, hl_tensor_label(to),
                          from->bytes);
        return kTfLiteError;
    }
    if (from->bytes != to->bytes || (from->bytes > 0 && !to->data.raw)) {
        hl_subgraph_error(subgraph, "input %d (%s) of a run has %zu bytes, the interpreter's has memory for %zu", input,
                          hl_tensor_label(to), from->bytes, to->data.raw ? to->bytes : 0);
        return kTfLiteError;
    }
    if (from->bytes > 0) memcpy(to->data.raw, from->data.raw_const, from->bytes);
    return kTfLiteOk;
}

TfLiteStatus hl_run_load_inputs(const HaliteRun *run)
{
    const struct hl_subgraph *subgraph = run->interpreter->subgraphs[0];
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < run->inputs.count && status == kTfLiteOk; i++) {
        int tensor = subgraph->inputs->data[i];
        if (tensor < 0) continue;
        status = load_input(subgraph, i, &run->inputs.tensors[i], &subgraph->context.tensors[tensor]);
    }
    return status;
}

static bool copy_dims(const TfLiteIntArray *from, TfLiteTensor *to)
{
    if (TfLiteIntArrayEqual(from, to->dims)) return true;
    TfLiteIntArray *dims = TfLiteIntArrayCopy(from);
    if (!dims) return false;
    TfLiteIntArrayFree(to->dims);
    to->dims = dims;
    return true;
}

static TfLiteStatus store_output(const struct hl_subgraph *subgraph, int output, const TfLiteTensor *from,
                                 TfLiteTensor *to)
{
    if (!copy_dims(from->dims, to) || TfLiteTensorRealloc(from->bytes, to) != kTfLiteOk) {
        hl_subgraph_error(subgraph, "out of memory: output %d (%s) of a run has %zu bytes", output,
                          hl_tensor_label(from), from->bytes);
        return kTfLiteError;
    }
    if (from->bytes > 0 && !from->data.raw) {
        hl_subgraph_error(subgraph, "output %d (%s) has no data to copy to a run", output, hl_tensor_label(from));
        return kTfLiteError;
    }
    if (from->bytes > 0) memcpy(to->data.raw, from->data.raw_const, from->bytes);
    return kTfLiteOk;
}

TfLiteStatus hl_run_store_outputs(HaliteRun *run)
{
    struct hl_subgraph *subgraph = run->interpreter->subgraphs[0];
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < run->outputs.count && status == kTfLiteOk; i++) {
        int tensor = subgraph->outputs->data[i];
        if (tensor < 0) continue;
        status = hl_subgraph_make_readable(subgraph, tensor);
        if (status == kTfLiteOk)
            status = store_output(subgraph, i, &subgraph->context.tensors[tensor], &run->outputs.tensors[i]);
    }
    return status;
}
