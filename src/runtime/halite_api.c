// SPDX-License-Identifier: Apache-2.0
// The functions of halite/halite.h that concern the runtime.
#include "halite/halite.h"

#include "runtime/interpreter.h"
#include "runtime/weights.h"

const char *HaliteVersion(void)
{
    return HALITE_VERSION;
}

void HaliteInterpreterOptionsSetKernels(TfLiteInterpreterOptions *options, HaliteKernels kernels)
{
    if (options) options->kernels = kernels;
}

void HaliteInterpreterOptionsSetMemoryLimit(TfLiteInterpreterOptions *options, size_t bytes)
{
    if (options) options->memory_limit = bytes;
}

void HaliteInterpreterOptionsSetCallLimit(TfLiteInterpreterOptions *options, int64_t calls)
{
    if (options && calls >= 0) options->call_limit = calls;
}

void HaliteInterpreterOptionsSetWorkLimit(TfLiteInterpreterOptions *options, int64_t steps)
{
    if (options && steps >= 0) options->work_limit = steps;
}

void HaliteInterpreterOptionsSetWeightsCache(TfLiteInterpreterOptions *options, HaliteWeightsCache *cache)
{
    if (!options) return;
    HaliteWeightsCache *kept = hl_weights_cache_keep(cache);
    hl_weights_cache_drop(options->weights_cache);
    options->weights_cache = kept;
}

void HaliteInterpreterOptionsSetPreserveTensors(TfLiteInterpreterOptions *options, bool preserve)
{
    if (options) options->preserve_tensors = preserve;
}

static struct hl_subgraph *primary(const TfLiteInterpreter *interpreter)
{
    return interpreter->subgraphs[0];
}

void HaliteInterpreterSetProfiling(TfLiteInterpreter *interpreter, bool enable)
{
    if (!interpreter) return;
    interpreter->profiling = enable;
    if (!enable) return;
    for (int s = 0; s < interpreter->subgraph_count; s++)
        for (int n = 0; n < interpreter->subgraphs[s]->node_count; n++) {
            interpreter->subgraphs[s]->nodes[n]->runs = 0;
            interpreter->subgraphs[s]->nodes[n]->nanoseconds = 0;
        }
}

int32_t HaliteInterpreterGetNodeCount(const TfLiteInterpreter *interpreter)
{
    return interpreter ? primary(interpreter)->plan->size : 0;
}

TfLiteStatus HaliteInterpreterGetNodeReport(const TfLiteInterpreter *interpreter, int32_t index,
                                            HaliteNodeReport *report)
{
    if (!interpreter || !report || index < 0 || index >= primary(interpreter)->plan->size) return kTfLiteError;
    const struct hl_node *node = primary(interpreter)->nodes[primary(interpreter)->plan->data[index]];
    *report = (HaliteNodeReport){
        .node = node->index,
        .op = node->name,
        .version = node->registration.version,
        .where = node->node.delegate ? node->name : "CPU",
        .replaced_nodes = node->replaced,
        .runs = node->runs,
        .nanoseconds = node->nanoseconds,
    };
    return kTfLiteOk;
}

int32_t HaliteInterpreterGetNodeRunBy(const TfLiteInterpreter *interpreter, int32_t index)
{
    if (!interpreter || index < 0 || index >= primary(interpreter)->plan->size) return -1;
    return hl_subgraph_runs_at(primary(interpreter), index);
}

TfLiteStatus HaliteInterpreterGetMemoryReport(const TfLiteInterpreter *interpreter, HaliteMemoryReport *report)
{
    if (!interpreter || !report) return kTfLiteError;
    const struct hl_subgraph *subgraph = primary(interpreter);
    *report = (HaliteMemoryReport){
        .arena = subgraph->planner.arena_size,
        .arena_unshared = hl_planner_unshared_bytes(&subgraph->planner),
        .persistent = hl_planner_persistent_bytes(&subgraph->planner) + subgraph->kept_bytes,
    };
    for (int i = 0; i < subgraph->tensor_count; i++) {
        const TfLiteTensor *tensor = &subgraph->context.tensors[i];
        if (tensor->allocation_type == kTfLiteMmapRo) report->constants += tensor->bytes;
        bool on_heap = tensor->allocation_type == kTfLiteDynamic || tensor->allocation_type == kTfLitePersistentRo;
        if (on_heap && tensor->data.raw) report->dynamic += tensor->bytes;
    }
    return kTfLiteOk;
}

int32_t HaliteInterpreterGetTensorCount(const TfLiteInterpreter *interpreter)
{
    return interpreter ? primary(interpreter)->tensor_count : 0;
}

TfLiteStatus HaliteInterpreterGetTensorReport(const TfLiteInterpreter *interpreter, int32_t index,
                                              HaliteTensorReport *report)
{
    if (!interpreter || !report || !hl_subgraph_has_tensor(primary(interpreter), index)) return kTfLiteError;
    const struct hl_subgraph *subgraph = primary(interpreter);
    const TfLiteTensor *tensor = &subgraph->context.tensors[index];
    *report = (HaliteTensorReport){
        .name = tensor->name,
        .where = tensor->allocation_type,
        .bytes = tensor->bytes,
        .first_node = -1,
        .last_node = -1,
        .shares_with = -1,
    };
    if (tensor->allocation_type != kTfLiteArenaRw || index >= subgraph->planner.count) return kTfLiteOk;
    const struct hl_placement *placement = &subgraph->planner.placements[index];
    int last_position = subgraph->plan->size > 0 ? subgraph->plan->size - 1 : 0;
    report->offset = hl_planner_offset(&subgraph->planner, index);
    report->shares_with = placement->shares;
    if (placement->first > placement->last) return kTfLiteOk;
    report->first_node = placement->first;
    report->last_node = placement->last < last_position ? placement->last : last_position;
    return kTfLiteOk;
}
