// SPDX-License-Identifier: Apache-2.0
// The functions of halite/halite.h that show the graph as it is: subgraphs, tensors, nodes, and what signatures name.
// Language bindings stand on them, since the C API knows the inputs and outputs of the primary subgraph alone.
#include "halite/halite.h"
#include "runtime/interpreter.h"
#include "runtime/signature.h"

static const struct hl_subgraph *subgraph_at(const TfLiteInterpreter *interpreter, int32_t subgraph)
{
    bool exists = interpreter && subgraph >= 0 && subgraph < interpreter->subgraph_count;
    return exists ? interpreter->subgraphs[subgraph] : NULL;
}

int32_t HaliteInterpreterGetSubgraphCount(const TfLiteInterpreter *interpreter)
{
    return interpreter ? interpreter->subgraph_count : 0;
}

int32_t HaliteInterpreterGetSubgraphTensorCount(const TfLiteInterpreter *interpreter, int32_t subgraph)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    return found ? found->tensor_count : 0;
}

TfLiteTensor *HaliteInterpreterGetSubgraphTensor(const TfLiteInterpreter *interpreter, int32_t subgraph, int32_t tensor)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    return found && hl_subgraph_has_tensor(found, tensor) ? &found->context.tensors[tensor] : NULL;
}

int32_t HaliteInterpreterGetSubgraphNodeCount(const TfLiteInterpreter *interpreter, int32_t subgraph)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    return found ? found->plan->size : 0;
}

static HaliteNode describe(const struct hl_node *node)
{
    return (HaliteNode){
        .index = node->index,
        .op = node->name,
        .builtin_code = node->registration.builtin_code,
        .version = node->registration.version,
        .node = hl_node_shown(node),
        .registration = &node->registration,
    };
}

TfLiteStatus HaliteInterpreterGetSubgraphNode(const TfLiteInterpreter *interpreter, int32_t subgraph, int32_t position,
                                              HaliteNode *node)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    if (!found || !node || position < 0 || position >= found->plan->size) return kTfLiteError;
    *node = describe(found->nodes[found->plan->data[position]]);
    return kTfLiteOk;
}

int32_t HaliteInterpreterGetSubgraphNodeTotal(const TfLiteInterpreter *interpreter, int32_t subgraph)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    return found ? found->node_count : 0;
}

TfLiteStatus HaliteInterpreterGetSubgraphNodeByIndex(const TfLiteInterpreter *interpreter, int32_t subgraph,
                                                     int32_t index, HaliteNode *node)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    if (!found || !node || index < 0 || index >= found->node_count) return kTfLiteError;
    *node = describe(found->nodes[index]);
    return kTfLiteOk;
}

// ---- lists and names --------------------------------------------------------------------------------------------

static const int *lend(const TfLiteIntArray *list, int32_t *count)
{
    if (count) *count = list ? list->size : 0;
    return list ? list->data : NULL;
}

const int *HaliteInterpreterGetSubgraphInputs(const TfLiteInterpreter *interpreter, int32_t subgraph, int32_t *count)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    return lend(found ? found->inputs : NULL, count);
}

const int *HaliteInterpreterGetSubgraphOutputs(const TfLiteInterpreter *interpreter, int32_t subgraph, int32_t *count)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    return lend(found ? found->outputs : NULL, count);
}

const int *HaliteInterpreterGetSubgraphVariables(const TfLiteInterpreter *interpreter, int32_t subgraph, int32_t *count)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    return lend(found ? found->variables : NULL, count);
}

const int *HaliteInterpreterGetSubgraphPlan(const TfLiteInterpreter *interpreter, int32_t subgraph, int32_t *count)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    return lend(found ? found->plan : NULL, count);
}

const char *HaliteInterpreterGetSubgraphName(const TfLiteInterpreter *interpreter, int32_t subgraph)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    return found ? found->model->name : NULL;
}

TfLiteContext *HaliteInterpreterGetSubgraphContext(TfLiteInterpreter *interpreter, int32_t subgraph)
{
    return subgraph_at(interpreter, subgraph) ? &interpreter->subgraphs[subgraph]->context : NULL;
}

// ---- running any subgraph ---------------------------------------------------------------------------------------

TfLiteStatus HaliteInterpreterAllocateSubgraph(TfLiteInterpreter *interpreter, int32_t subgraph)
{
    if (!subgraph_at(interpreter, subgraph)) return kTfLiteError;
    return hl_subgraph_allocate(interpreter->subgraphs[subgraph]);
}

TfLiteStatus HaliteInterpreterInvokeSubgraph(TfLiteInterpreter *interpreter, int32_t subgraph)
{
    if (!subgraph_at(interpreter, subgraph)) return kTfLiteError;
    return hl_interpreter_invoke(interpreter, interpreter->subgraphs[subgraph]);
}

TfLiteStatus HaliteInterpreterEnsureSubgraphTensorIsReadable(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                             int32_t tensor)
{
    if (!subgraph_at(interpreter, subgraph)) return kTfLiteError;
    return hl_subgraph_make_readable(interpreter->subgraphs[subgraph], tensor);
}

TfLiteStatus HaliteInterpreterSetSubgraphCustomAllocation(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                          int32_t tensor, const TfLiteCustomAllocation *allocation,
                                                          int64_t flags)
{
    if (!subgraph_at(interpreter, subgraph)) return kTfLiteError;
    return hl_subgraph_set_custom_allocation(interpreter->subgraphs[subgraph], tensor, allocation, flags);
}

TfLiteStatus HaliteInterpreterResizeTensor(TfLiteInterpreter *interpreter, int32_t subgraph, int32_t tensor,
                                           const int *dims, int32_t rank, bool strict)
{
    if (!subgraph_at(interpreter, subgraph) || (!dims && rank != 0)) return kTfLiteError;
    struct hl_subgraph *found = interpreter->subgraphs[subgraph];
    return strict ? hl_subgraph_resize_input_strict(found, tensor, dims, rank)
                  : hl_subgraph_resize_input(found, tensor, dims, rank);
}

int32_t HaliteSignatureRunnerGetSubgraph(const TfLiteSignatureRunner *runner)
{
    return runner ? runner->subgraph->index : -1;
}

int32_t HaliteSignatureRunnerGetInputTensorIndex(const TfLiteSignatureRunner *runner, const char *name)
{
    return runner ? hl_signature_input(runner, name) : -1;
}

int32_t HaliteSignatureRunnerGetOutputTensorIndex(const TfLiteSignatureRunner *runner, const char *name)
{
    return runner ? hl_signature_output(runner, name) : -1;
}
