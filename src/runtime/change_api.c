// SPDX-License-Identifier: Apache-2.0
// The functions of halite/halite.h that change an interpreter after it was created, and those that read a model's
// metadata: what the original's C++ classes can do and its C API cannot.
#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/threads.h"
#include "halite/halite.h"
#include "runtime/interpreter.h"

// Takes back the memory of all tensors that AllocateTensors gave it to. A delegate that relies on them is applied again
// by the next AllocateTensors.
static TfLiteStatus release_memory(TfLiteInterpreter *interpreter)
{
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < interpreter->subgraph_count && status == kTfLiteOk; i++) {
        struct hl_subgraph *subgraph = interpreter->subgraphs[i];
        if (subgraph->state == HL_IMMUTABLE) status = hl_subgraph_undo_delegates(subgraph);
        subgraph->state = HL_NOT_READY;
        hl_planner_reset(subgraph);
    }
    return status;
}

TfLiteStatus HaliteInterpreterReleaseMemory(TfLiteInterpreter *interpreter)
{
    return interpreter ? release_memory(interpreter) : kTfLiteError;
}

static void set_threads(TfLiteInterpreter *interpreter, int threads)
{
    interpreter->options->num_threads = threads;
    hl_threads_destroy(interpreter->threads);
    interpreter->threads = interpreter->options->kernels == kHaliteKernelsFast ? hl_threads_create(threads) : NULL;
    for (int i = 0; i < interpreter->subgraph_count; i++)
        interpreter->subgraphs[i]->context.recommended_num_threads = threads;
}

TfLiteStatus HaliteContextSetWeightsCache(TfLiteContext *context, HaliteWeightsCache *cache)
{
    if (!hl_context_is_own(context)) return kTfLiteError;
    HaliteInterpreterOptionsSetWeightsCache(hl_subgraph_of(context)->interpreter->options, cache);
    return kTfLiteOk;
}

// Whether all nodes of the interpreter are still to be prepared. Those of the subgraph that a delegate is applied to
// are prepared again when that is done.
static bool is_open(const struct hl_subgraph *own)
{
    const TfLiteInterpreter *interpreter = own->interpreter;
    for (int i = 0; i < interpreter->subgraph_count; i++) {
        const struct hl_subgraph *other = interpreter->subgraphs[i];
        if (other != own && (other->state != HL_NOT_READY || other->prepared > 0)) return false;
    }
    return true;
}

TfLiteStatus HaliteContextSetNumThreads(TfLiteContext *context, int32_t num_threads)
{
    if (!hl_context_is_own(context) || num_threads < -1) return kTfLiteError;
    TfLiteInterpreter *interpreter = hl_subgraph_of(context)->interpreter;
    int threads = num_threads == 0 ? 1 : num_threads;
    if (interpreter->options->num_threads == threads) return kTfLiteOk;
    if (!is_open(hl_subgraph_of(context))) return kTfLiteError;
    set_threads(interpreter, threads);
    return kTfLiteOk;
}

TfLiteStatus HaliteContextSetKernels(TfLiteContext *context, HaliteKernels kernels)
{
    if (!hl_context_is_own(context)) return kTfLiteError;
    if (kernels != kHaliteKernelsReference && kernels != kHaliteKernelsFast) return kTfLiteError;
    TfLiteInterpreter *interpreter = hl_subgraph_of(context)->interpreter;
    if (interpreter->options->kernels == kernels) return kTfLiteOk;
    if (!is_open(hl_subgraph_of(context))) return kTfLiteError;
    hl_interpreter_use_kernels(interpreter, kernels);
    return kTfLiteOk;
}

TfLiteStatus HaliteInterpreterSetNumThreads(TfLiteInterpreter *interpreter, int32_t num_threads)
{
    if (!interpreter) return kTfLiteError;
    if (num_threads < -1) {
        hl_report(&interpreter->options->reporter, "the number of threads cannot be %d: -1 leaves it to the library",
                  (int)num_threads);
        return kTfLiteError;
    }
    // Kernels keep scratch memory for as many threads as there were when they were prepared.
    TfLiteStatus status = release_memory(interpreter);
    if (status != kTfLiteOk) return status;
    int threads = num_threads == 0 ? 1 : num_threads;
    set_threads(interpreter, threads);
    TfLiteContext *context = &interpreter->subgraphs[0]->context;
    for (int type = 0; type < kTfLiteMaxExternalContexts && status == kTfLiteOk; type++) {
        const TfLiteExternalContext *external = interpreter->external_contexts[type];
        if (external && external->Refresh) status = external->Refresh(context);
    }
    return status;
}

TfLiteStatus HaliteInterpreterSetExternalContext(TfLiteInterpreter *interpreter, TfLiteExternalContextType type,
                                                 TfLiteExternalContext *context)
{
    if (!interpreter || (int)type < 0 || type >= kTfLiteMaxExternalContexts) return kTfLiteError;
    interpreter->external_contexts[type] = context;
    return kTfLiteOk;
}

TfLiteExternalContext *HaliteInterpreterGetExternalContext(const TfLiteInterpreter *interpreter,
                                                           TfLiteExternalContextType type)
{
    if (!interpreter || (int)type < 0 || type >= kTfLiteMaxExternalContexts) return NULL;
    return interpreter->external_contexts[type];
}

void HaliteInterpreterSetAllowHalfPrecision(TfLiteInterpreter *interpreter, bool allow)
{
    for (int i = 0; interpreter && i < interpreter->subgraph_count; i++)
        interpreter->subgraphs[i]->context.allow_fp32_relax_to_fp16 = allow;
}

bool HaliteInterpreterGetAllowHalfPrecision(const TfLiteInterpreter *interpreter)
{
    return interpreter && interpreter->subgraphs[0]->context.allow_fp32_relax_to_fp16;
}

TfLiteStatus HaliteInterpreterModifySubgraphsWithDelegate(TfLiteInterpreter *interpreter, TfLiteDelegate *delegate,
                                                          const int *subgraphs, int32_t count)
{
    if (!interpreter || count < 0 || (!subgraphs && count > 0)) return kTfLiteError;
    for (int i = 0; i < count; i++) {
        if (subgraphs[i] >= 0 && subgraphs[i] < interpreter->subgraph_count) continue;
        hl_report(&interpreter->options->reporter, "there is no subgraph %d for a delegate: there are %d", subgraphs[i],
                  interpreter->subgraph_count);
        return kTfLiteError;
    }
    return count == 0 ? kTfLiteOk : hl_interpreter_apply_delegate_to(interpreter, delegate, subgraphs, count);
}

TfLiteStatus HaliteInterpreterRemoveDelegates(TfLiteInterpreter *interpreter)
{
    TfLiteStatus status = interpreter ? kTfLiteOk : kTfLiteError;
    for (int i = 0; status == kTfLiteOk && i < interpreter->subgraph_count; i++)
        status = hl_subgraph_remove_delegates(interpreter->subgraphs[i]);
    return status;
}

void HaliteInterpreterSetCancellation(TfLiteInterpreter *interpreter, bool (*is_cancelled)(void *data), void *data)
{
    if (!interpreter) return;
    interpreter->is_cancelled = is_cancelled;
    interpreter->cancellation_data = data;
}

void HaliteInterpreterSetTelemetryProfiler(TfLiteInterpreter *interpreter,
                                           struct TfLiteTelemetryProfilerStruct *profiler)
{
    if (interpreter) interpreter->options->telemetry = profiler;
}

// ---- models -----------------------------------------------------------------------------------------------------

int32_t HaliteModelGetMetadataCount(const TfLiteModel *model)
{
    return model ? model->metadata_count : 0;
}

TfLiteStatus HaliteModelGetMetadata(const TfLiteModel *model, int32_t index, const char **name, const void **data,
                                    size_t *bytes)
{
    if (!model || index < 0 || index >= model->metadata_count || !name || !data || !bytes) return kTfLiteError;
    *name = model->metadata[index].name;
    *data = model->metadata[index].data;
    *bytes = model->metadata[index].bytes;
    return kTfLiteOk;
}

const char *HaliteModelGetDescription(const TfLiteModel *model)
{
    return model ? model->description : "";
}

const void *HaliteModelGetData(const TfLiteModel *model, size_t *bytes)
{
    if (bytes) *bytes = model ? model->file_size : 0;
    return model ? model->file_bytes : NULL;
}

TfLiteStatus HaliteModelFingerprint(const TfLiteModel *model, char *text, size_t size)
{
    if (!model || !text || size < HALITE_FINGERPRINT_BYTES) return kTfLiteError;
    struct hl_digest digest = {{0}};
    hl_digest_add(&digest, model->file_bytes, model->file_size);
    for (int i = 0; i < 4; i++) snprintf(text + 16 * i, 17, "%016" PRIx64, digest.lanes[i]);
    return kTfLiteOk;
}
