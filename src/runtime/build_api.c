// SPDX-License-Identifier: Apache-2.0
// The functions of halite/halite.h that build a graph in memory: subgraphs, tensors, nodes, and the lists that name
// inputs, outputs, variables and the order of execution. What they make is what subgraph.c makes of a file.
#include <stdlib.h>
#include <string.h>

#include "abi/tensor.h"
#include "base/checked.h"
#include "halite/halite.h"
#include "runtime/builtin_kernels.h"
#include "runtime/interpreter.h"

TfLiteInterpreter *HaliteInterpreterCreateEmpty(const TfLiteInterpreterOptions *options)
{
    TfLiteModel *model = hl_model_create_empty();
    if (!model) {
        hl_report(options ? &options->reporter : NULL, "out of memory while creating an interpreter");
        return NULL;
    }
    TfLiteInterpreter *interpreter = hl_interpreter_create(model, options);
    hl_model_release(model); // the interpreter holds a reference of its own
    return interpreter;
}

// The subgraph, where callers may change its graph. The caller's name is for the message.
static struct hl_subgraph *open_subgraph(TfLiteInterpreter *interpreter, int32_t index, const char *function)
{
    if (!interpreter) return NULL;
    if (index < 0 || index >= interpreter->subgraph_count) {
        hl_report(&interpreter->options->reporter, "%s: subgraph %d does not exist, the interpreter has %d", function,
                  (int)index, interpreter->subgraph_count);
        return NULL;
    }
    struct hl_subgraph *subgraph = interpreter->subgraphs[index];
    if (subgraph->state == HL_IMMUTABLE || subgraph->delegate_count > 0) {
        hl_subgraph_error(subgraph, "%s is disallowed when graph is immutable: a delegate has taken nodes of it.",
                          function);
        return NULL;
    }
    return subgraph;
}

static TfLiteStatus out_of_memory(struct hl_subgraph *subgraph)
{
    hl_subgraph_error(subgraph, "subgraph %d: out of memory", subgraph->index);
    return kTfLiteError;
}

TfLiteStatus HaliteInterpreterAddSubgraphs(TfLiteInterpreter *interpreter, int32_t count, int32_t *first)
{
    enum { MAX_SUBGRAPHS = 1 << 20 };
    if (!interpreter || count < 0) return kTfLiteError;
    if (first) *first = interpreter->subgraph_count;
    if (count > MAX_SUBGRAPHS - interpreter->subgraph_count) {
        hl_report(&interpreter->options->reporter, "cannot add %d subgraphs to the interpreter's %d", (int)count,
                  interpreter->subgraph_count);
        return kTfLiteError;
    }
    size_t total = (size_t)interpreter->subgraph_count + (size_t)count;
    struct hl_subgraph **subgraphs = realloc(interpreter->subgraphs, total * sizeof *subgraphs);
    if (subgraphs) interpreter->subgraphs = subgraphs;
    bool *initialized = subgraphs ? realloc(interpreter->resources.initialized, total * sizeof(bool)) : NULL;
    if (!initialized) return out_of_memory(interpreter->subgraphs[0]);
    interpreter->resources.initialized = initialized;
    for (int i = interpreter->subgraph_count; i < (int)total; i++) {
        struct hl_subgraph *subgraph = hl_subgraph_create(interpreter, i);
        if (!subgraph || hl_subgraph_create_nodes(subgraph) != kTfLiteOk) {
            hl_subgraph_destroy(subgraph);
            return kTfLiteError;
        }
        const TfLiteContext *primary = &interpreter->subgraphs[0]->context;
        subgraph->context.recommended_num_threads = primary->recommended_num_threads;
        subgraph->context.allow_fp32_relax_to_fp16 = primary->allow_fp32_relax_to_fp16;
        initialized[i] = false;
        subgraphs[i] = subgraph;
        interpreter->subgraph_count = i + 1;
    }
    return kTfLiteOk;
}

// ---- tensors ----------------------------------------------------------------------------------------------------

// Room to note for each tensor whether somebody reads it.
static bool reserve_is_read(struct hl_subgraph *subgraph)
{
    int size = subgraph->tensor_count;
    bool *is_read = realloc(subgraph->is_read, ((size_t)size + 1) * sizeof *is_read);
    if (!is_read) return false;
    for (int i = subgraph->is_read_size; i < size; i++) is_read[i] = false;
    subgraph->is_read = is_read;
    subgraph->is_read_size = size;
    return true;
}

TfLiteStatus HaliteInterpreterAddTensors(TfLiteInterpreter *interpreter, int32_t index, int32_t count, int32_t *first)
{
    struct hl_subgraph *subgraph = open_subgraph(interpreter, index, "AddTensors");
    if (!subgraph) return kTfLiteError;
    int begin;
    TfLiteStatus status = hl_subgraph_add_tensors(subgraph, count, &begin);
    if (status != kTfLiteOk) return status;
    if (!reserve_is_read(subgraph)) return out_of_memory(subgraph);
    for (int i = begin; i < subgraph->tensor_count; i++) {
        subgraph->context.tensors[i].dims = TfLiteIntArrayCreate(0);
        if (!subgraph->context.tensors[i].dims) return out_of_memory(subgraph);
    }
    if (first) *first = begin;
    subgraph->state = HL_NOT_READY;
    return kTfLiteOk;
}

// Whether type and shape say how many bytes a tensor has.
static bool has_size(const HaliteTensorDescription *from)
{
    return from->type != kTfLiteString && from->type != kTfLiteResource && from->type != kTfLiteVariant &&
           !(from->data && from->sparsity);
}

// Of a shape that no tensor may have here. The original refuses what a size_t cannot count, in these words with their
// line break, and takes what is only too large to run. So does this, and the graph is unusable from here on. Returns
// whether the shape is taken.
static bool take_oversized(struct hl_subgraph *subgraph, int tensor, const HaliteTensorDescription *from, size_t *bytes)
{
    size_t count = 1;
    bool positive = from->dims != NULL && from->rank >= 0, fits = true;
    for (int i = 0; positive && i < from->rank; i++) {
        positive = from->dims[i] >= 0;
        fits = fits && (!positive || hl_mul_size(count, (size_t)from->dims[i], &count));
    }
    bool sized = positive && fits && hl_mul_size(count, (size_t)(hl_type_bits(from->type) + 7) / 8, bytes);
    if (positive && !sized)
        hl_subgraph_error(subgraph, "BytesRequired number of %s overflowed.\n", fits ? "bytes" : "elements");
    else
        hl_subgraph_error(
            subgraph,
            "tensor %d (%s) cannot have this shape: its rank is %d, or a length is negative, or it is too "
            "large",
            tensor, TfLiteTypeGetName(from->type), (int)from->rank);
    bool taken = sized && from->rank <= HL_MAX_RANK && !from->data;
    if (taken) subgraph->inconsistent = true;
    return taken;
}

static TfLiteStatus check_description(struct hl_subgraph *subgraph, int tensor, const HaliteTensorDescription *from,
                                      size_t *bytes)
{
    if (!hl_subgraph_has_tensor(subgraph, tensor)) {
        hl_subgraph_error(subgraph, "tensor %d does not exist: subgraph %d has %d tensors", tensor, subgraph->index,
                          subgraph->tensor_count);
        return kTfLiteError;
    }
    bool sized = has_size(from);
    bool right = from->rank >= 0 && from->rank <= HL_MAX_RANK && (from->dims || from->rank == 0);
    if ((!right || !hl_tensor_bytes(sized ? from->type : kTfLiteInt8, from->rank, from->dims, bytes)) &&
        !take_oversized(subgraph, tensor, from, bytes))
        return kTfLiteError;
    if (from->signature_rank != 0 && (from->signature_rank != from->rank || !from->signature)) {
        hl_subgraph_error(subgraph, "tensor %d has %d dimensions, its shape signature has %d", tensor, (int)from->rank,
                          (int)from->signature_rank);
        return kTfLiteError;
    }
    if (from->is_variable && (from->data || from->type == kTfLiteString)) {
        hl_subgraph_error(subgraph, "tensor %d cannot be a variable: it is a constant or has strings", tensor);
        return kTfLiteError;
    }
    if (from->data && sized && from->bytes != *bytes) {
        hl_subgraph_error(subgraph, "tensor %d (%s) has %zu bytes by its shape, and %zu bytes of data were given",
                          tensor, TfLiteTypeGetName(from->type), *bytes, from->bytes);
        return kTfLiteError;
    }
    if (from->type == kTfLiteString) *bytes = 0;
    if (from->type == kTfLiteResource) *bytes = sizeof(int32_t);
    if (from->type == kTfLiteVariant) *bytes = sizeof(void *);
    if (from->data) *bytes = from->bytes;
    return kTfLiteOk;
}

static TfLiteAllocationType allocation_of(const HaliteTensorDescription *from)
{
    if (from->data) return kTfLiteMmapRo;
    if (from->type == kTfLiteString) return kTfLiteDynamic;
    return from->is_variable ? kTfLiteArenaRwPersistent : kTfLiteArenaRw;
}

// The scale and zero point that old code reads.
static TfLiteQuantizationParams single_scale(const TfLiteQuantization *quantization)
{
    const TfLiteAffineQuantization *affine = quantization->params;
    bool single = quantization->type == kTfLiteAffineQuantization && affine && affine->scale && affine->zero_point &&
                  affine->scale->size == 1 && affine->zero_point->size == 1;
    return single ? (TfLiteQuantizationParams){affine->scale->data[0], affine->zero_point->data[0]}
                  : (TfLiteQuantizationParams){0};
}

static TfLiteIntArray *copy_ints(const int *values, int count)
{
    TfLiteIntArray *array = TfLiteIntArrayCreate(count);
    if (array && count > 0) memcpy(array->data, values, (size_t)count * sizeof *values);
    return array;
}

static void drop_custom_allocation(struct hl_subgraph *subgraph, int tensor)
{
    for (int i = 0; i < subgraph->custom_allocation_count; i++) {
        if (subgraph->custom_allocations[i].tensor != tensor) continue;
        subgraph->custom_allocations[i] = subgraph->custom_allocations[--subgraph->custom_allocation_count];
        return;
    }
}

TfLiteStatus HaliteInterpreterSetTensor(TfLiteInterpreter *interpreter, int32_t index, int32_t tensor,
                                        const HaliteTensorDescription *from)
{
    if (!from) return kTfLiteError;
    // The tensor frees what it was given, also where it becomes nothing.
    TfLiteTensor made = {.quantization = from->quantization,
                         .sparsity = from->sparsity,
                         .buffer_handle = kTfLiteNullBufferHandle};
    size_t bytes = 0;
    struct hl_subgraph *subgraph = open_subgraph(interpreter, index, "SetTensorParameters");
    TfLiteStatus status = subgraph ? check_description(subgraph, tensor, from, &bytes) : kTfLiteError;
    if (status == kTfLiteOk) {
        made.dims = copy_ints(from->dims, from->rank);
        made.dims_signature = copy_ints(from->signature, from->signature_rank);
        if (!made.dims || !made.dims_signature) status = out_of_memory(subgraph);
    }
    if (status != kTfLiteOk) {
        TfLiteTensorFree(&made);
        return status;
    }
    made.type = from->type;
    made.name = from->name;
    made.params = single_scale(&from->quantization);
    made.allocation_type = allocation_of(from);
    made.data.raw_const = from->data;
    made.bytes = bytes;
    made.is_variable = from->is_variable;
    drop_custom_allocation(subgraph, tensor);
    TfLiteTensorFree(&subgraph->context.tensors[tensor]);
    subgraph->context.tensors[tensor] = made;
    subgraph->state = HL_NOT_READY;
    return kTfLiteOk;
}

// ---- lists of tensors -------------------------------------------------------------------------------------------

// Whether each is a tensor, or -1. Where one is not, the graph is unusable from here on.
static bool are_tensors(struct hl_subgraph *subgraph, const char *function, const int *tensors, int32_t count)
{
    bool right = count >= 0 && (tensors || count == 0);
    if (!right) hl_subgraph_error(subgraph, "%s: the list of tensors is NULL or its length negative", function);
    for (int32_t i = 0; right && i < count; i++) {
        if (tensors[i] == kTfLiteOptionalTensor || hl_subgraph_has_tensor(subgraph, tensors[i])) continue;
        hl_subgraph_error(subgraph, "Invalid tensor index %d in %s. The subgraph has %d tensors", tensors[i], function,
                          subgraph->tensor_count);
        right = false;
    }
    if (!right) subgraph->inconsistent = true;
    return right;
}

static TfLiteStatus set_list(struct hl_subgraph *subgraph, TfLiteIntArray **list, const char *function,
                             const int *tensors, int32_t count)
{
    if (!subgraph || !are_tensors(subgraph, function, tensors, count)) return kTfLiteError;
    TfLiteIntArray *copy = copy_ints(tensors, count);
    if (!copy) return out_of_memory(subgraph);
    TfLiteIntArrayFree(*list);
    *list = copy;
    subgraph->state = HL_NOT_READY;
    return kTfLiteOk;
}

static void mark_read(struct hl_subgraph *subgraph, const TfLiteIntArray *tensors)
{
    for (int i = 0; i < tensors->size; i++)
        if (tensors->data[i] >= 0 && tensors->data[i] < subgraph->is_read_size)
            subgraph->is_read[tensors->data[i]] = true;
}

TfLiteStatus HaliteInterpreterSetSubgraphInputs(TfLiteInterpreter *interpreter, int32_t index, const int *tensors,
                                                int32_t count)
{
    struct hl_subgraph *subgraph = open_subgraph(interpreter, index, "SetInputs");
    return set_list(subgraph, subgraph ? &subgraph->inputs : NULL, "inputs", tensors, count);
}

TfLiteStatus HaliteInterpreterSetSubgraphOutputs(TfLiteInterpreter *interpreter, int32_t index, const int *tensors,
                                                 int32_t count)
{
    struct hl_subgraph *subgraph = open_subgraph(interpreter, index, "SetOutputs");
    TfLiteStatus status = set_list(subgraph, subgraph ? &subgraph->outputs : NULL, "outputs", tensors, count);
    if (status == kTfLiteOk) mark_read(subgraph, subgraph->outputs);
    return status;
}

TfLiteStatus HaliteInterpreterSetSubgraphVariables(TfLiteInterpreter *interpreter, int32_t index, const int *tensors,
                                                   int32_t count)
{
    struct hl_subgraph *subgraph = open_subgraph(interpreter, index, "SetVariables");
    for (int32_t i = 0; subgraph && tensors && i < count; i++) {
        if (tensors[i] != kTfLiteOptionalTensor) continue;
        hl_subgraph_error(subgraph, "SetVariables: a variable cannot be left out");
        return kTfLiteError;
    }
    return set_list(subgraph, subgraph ? &subgraph->variables : NULL, "variables", tensors, count);
}

// ---- nodes ------------------------------------------------------------------------------------------------------

static TfLiteStatus check_node(struct hl_subgraph *subgraph, const HaliteNodeDescription *from)
{
    if (!from->registration) {
        hl_subgraph_error(subgraph, "AddNode: the node has no registration");
        return kTfLiteError;
    }
    if (!are_tensors(subgraph, "node inputs", from->inputs, from->input_count) ||
        !are_tensors(subgraph, "node outputs", from->outputs, from->output_count) ||
        !are_tensors(subgraph, "node intermediates", from->intermediates, from->intermediate_count))
        return kTfLiteError;
    for (int32_t i = 0; i < from->input_count; i++)
        for (int32_t o = 0; o < from->output_count; o++) {
            if (from->inputs[i] != from->outputs[o] || from->inputs[i] < 0) continue;
            hl_subgraph_error(subgraph, "Tensor %d is both input %d and output %d", from->inputs[i], (int)i, (int)o);
            subgraph->inconsistent = true;
            return kTfLiteError;
        }
    return kTfLiteOk;
}

static const char *name_of(const TfLiteRegistration *registration)
{
    const char *builtin = hl_builtin_name(registration->builtin_code);
    if (registration->custom_name) return registration->custom_name;
    return builtin ? builtin : "CUSTOM";
}

// The plan with one node more.
static TfLiteIntArray *longer_plan(const TfLiteIntArray *plan, int node)
{
    TfLiteIntArray *longer = TfLiteIntArrayCreate(plan->size + 1);
    if (!longer) return NULL;
    memcpy(longer->data, plan->data, (size_t)plan->size * sizeof *plan->data);
    longer->data[plan->size] = node;
    return longer;
}

TfLiteStatus HaliteInterpreterAddNode(TfLiteInterpreter *interpreter, int32_t index, const HaliteNodeDescription *from,
                                      int32_t *node)
{
    if (!from) return kTfLiteError;
    struct hl_subgraph *subgraph = open_subgraph(interpreter, index, "AddNodeWithParameters");
    if (!subgraph || check_node(subgraph, from) != kTfLiteOk) {
        free(from->builtin_data);
        return kTfLiteError;
    }
    TfLiteIntArray *plan = longer_plan(subgraph->plan, subgraph->node_count);
    if (!plan) {
        free(from->builtin_data);
        return out_of_memory(subgraph);
    }
    const void *init = from->init_data ? from->init_data : from->builtin_data;
    int added =
        hl_subgraph_add_node(subgraph, from->registration, name_of(from->registration),
                             copy_ints(from->inputs, from->input_count), copy_ints(from->outputs, from->output_count),
                             copy_ints(from->intermediates, from->intermediate_count), from->builtin_data, init,
                             from->init_data ? from->init_bytes : 0);
    if (added < 0) {
        TfLiteIntArrayFree(plan);
        return kTfLiteError;
    }
    mark_read(subgraph, subgraph->nodes[added]->node.inputs);
    TfLiteIntArrayFree(subgraph->plan);
    subgraph->plan = plan;
    subgraph->model_node_count = subgraph->node_count;
    subgraph->state = HL_NOT_READY;
    if (node) *node = added;
    return kTfLiteOk;
}

TfLiteStatus HaliteInterpreterSetExecutionPlan(TfLiteInterpreter *interpreter, int32_t index, const int *nodes,
                                               int32_t count)
{
    struct hl_subgraph *subgraph = open_subgraph(interpreter, index, "SetExecutionPlan");
    if (!subgraph || count < 0 || (!nodes && count > 0)) return kTfLiteError;
    for (int32_t i = 0; i < count; i++) {
        if (nodes[i] >= 0 && nodes[i] < subgraph->node_count) continue;
        hl_subgraph_error(subgraph, "SetExecutionPlan: node %d does not exist, the subgraph has %d", nodes[i],
                          subgraph->node_count);
        return kTfLiteError;
    }
    TfLiteIntArray *plan = copy_ints(nodes, count);
    if (!plan) return out_of_memory(subgraph);
    TfLiteIntArrayFree(subgraph->plan);
    subgraph->plan = plan;
    subgraph->state = HL_NOT_READY;
    return kTfLiteOk;
}

// ---- operators --------------------------------------------------------------------------------------------------

TfLiteStatus HaliteFindOperator(TfLiteBuiltinOperator op, const char *custom_name, int32_t version,
                                TfLiteRegistration *registration)
{
    bool custom = op == kTfLiteBuiltinCustom;
    if (!registration || (custom && !custom_name)) return kTfLiteError;
    const struct hl_model_code code = {.builtin = op, .custom_name = custom ? custom_name : NULL, .version = version};
    if (!hl_builtin_kernels.find(&code, registration)) return kTfLiteError;
    registration->builtin_code = op;
    registration->custom_name = code.custom_name;
    registration->version = version;
    return kTfLiteOk;
}

const char *HaliteGetOperatorName(int32_t op)
{
    return hl_builtin_name(op);
}
