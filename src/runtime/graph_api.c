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

TfLiteStatus HaliteInterpreterGetSubgraphNode(const TfLiteInterpreter *interpreter, int32_t subgraph, int32_t position,
                                              HaliteNode *node)
{
    const struct hl_subgraph *found = subgraph_at(interpreter, subgraph);
    if (!found || !node || position < 0 || position >= found->plan->size) return kTfLiteError;
    const struct hl_node *at = found->nodes[found->plan->data[position]];
    *node = (HaliteNode){
        .index = at->index,
        .op = at->name,
        .builtin_code = at->registration.builtin_code,
        .version = at->registration.version,
        .node = &at->node,
        .registration = &at->registration,
    };
    return kTfLiteOk;
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
