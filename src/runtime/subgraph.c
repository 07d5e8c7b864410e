// SPDX-License-Identifier: Apache-2.0
// A subgraph's tensors and nodes: made from the model, resized by callers and kernels, freed.
// In: hl_model_subgraph, resolver. Out: TfLiteTensors without memory and nodes with their kernels' state.
#include "runtime/subgraph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "runtime/interpreter.h"
#include "runtime/operator.h"

// Room for scratch tensors that kernels add, so that tensors seldom move.
enum { SPARE_TENSORS = 64, TENSOR_HEADROOM = 16 };

void hl_subgraph_error(const struct hl_subgraph *subgraph, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_report_va(&subgraph->interpreter->options->reporter, format, args);
    va_end(args);
}

static TfLiteStatus out_of_memory(const struct hl_subgraph *subgraph)
{
    hl_subgraph_error(subgraph, "subgraph %d: out of memory", subgraph->index);
    return kTfLiteError;
}

static TfLiteIntArray *int_array(int count, const int *values)
{
    TfLiteIntArray *array = TfLiteIntArrayCreate(count);
    if (array && count) memcpy(array->data, values, (size_t)count * sizeof *values);
    return array;
}

// ---- tensors ------------------------------------------------------------------------------------

static void clear_tensor(TfLiteTensor *tensor)
{
    *tensor = (TfLiteTensor){.buffer_handle = kTfLiteNullBufferHandle};
}

// The array moves each time it grows, so that a kernel that keeps a pointer for too long is found out at once.
static bool reserve_tensors(struct hl_subgraph *subgraph, int count)
{
    if (count <= subgraph->tensor_capacity) return true;
    int capacity = count < INT32_MAX / 2 ? count + count / 8 + SPARE_TENSORS : count + SPARE_TENSORS;
    TfLiteTensor *tensors = malloc((size_t)capacity * sizeof *tensors), *before = subgraph->context.tensors;
    if (!tensors) return false;
    if (before) memcpy(tensors, before, (size_t)subgraph->tensor_count * sizeof *tensors);
    free(before);
    subgraph->context.tensors = tensors;
    size_t *heap_bytes = realloc(subgraph->heap_bytes, (size_t)capacity * sizeof *heap_bytes);
    if (!heap_bytes) return false;
    memset(heap_bytes + subgraph->tensor_capacity, 0,
           (size_t)(capacity - subgraph->tensor_capacity) * sizeof *heap_bytes);
    subgraph->heap_bytes = heap_bytes;
    subgraph->tensor_capacity = capacity;
    return true;
}

TfLiteStatus hl_subgraph_keep_headroom(struct hl_subgraph *subgraph)
{
    return reserve_tensors(subgraph, subgraph->tensor_count + TENSOR_HEADROOM) ? kTfLiteOk : out_of_memory(subgraph);
}

TfLiteStatus hl_subgraph_add_tensors(struct hl_subgraph *subgraph, int count, int *first)
{
    int64_t total = (int64_t)subgraph->tensor_count + count;
    if (count < 0 || total > INT32_MAX - SPARE_TENSORS) {
        hl_subgraph_error(subgraph, "subgraph %d: cannot add %d tensors to its %d", subgraph->index, count,
                          subgraph->tensor_count);
        return kTfLiteError;
    }
    if (!reserve_tensors(subgraph, (int)total)) return out_of_memory(subgraph);
    if (first) *first = subgraph->tensor_count;
    for (int i = subgraph->tensor_count; i < total; i++) // without dims: nobody gave them a shape yet
        clear_tensor(&subgraph->context.tensors[i]);
    subgraph->tensor_count = (int)total;
    subgraph->context.tensors_size = (size_t)total;
    return kTfLiteOk;
}

// The params of the quantization field, as malloc gives them: callers free and replace them.
static bool copy_quantization(TfLiteTensor *tensor, const struct hl_model_quantization *from)
{
    switch (from->type) {
    case kTfLiteAffineQuantization: {
        TfLiteAffineQuantization *affine = calloc(1, sizeof *affine);
        if (!affine) return false;
        tensor->quantization = (TfLiteQuantization){kTfLiteAffineQuantization, affine};
        affine->scale = TfLiteFloatArrayCreate(from->scale_count);
        affine->zero_point = int_array(from->scale_count, from->zero_points);
        affine->quantized_dimension = from->dimension;
        if (!affine->scale || !affine->zero_point) return false;
        memcpy(affine->scale->data, from->scales, (size_t)from->scale_count * sizeof(float));
        if (from->scale_count == 1) tensor->params = (TfLiteQuantizationParams){from->scales[0], from->zero_points[0]};
        return true;
    }
    case kTfLiteBlockwiseQuantization: {
        TfLiteBlockwiseQuantization *blockwise = calloc(1, sizeof *blockwise);
        if (!blockwise) return false;
        tensor->quantization = (TfLiteQuantization){kTfLiteBlockwiseQuantization, blockwise};
        *blockwise = (TfLiteBlockwiseQuantization){
            .scale = from->scales_tensor,
            .zero_point = from->zero_points_tensor,
            .blocksize = from->block_size,
            .quantized_dimension = from->dimension,
        };
        return true;
    }
    default: return true;
    }
}

static bool copy_sparsity(TfLiteTensor *tensor, const struct hl_model_sparsity *from)
{
    if (!from) return true;
    TfLiteSparsity *sparsity = tensor->sparsity = calloc(1, sizeof *sparsity);
    if (!sparsity) return false;
    sparsity->dim_metadata =
        calloc((size_t)(from->dimension_count ? from->dimension_count : 1), sizeof *sparsity->dim_metadata);
    if (!sparsity->dim_metadata) return false;
    sparsity->dim_metadata_size = from->dimension_count;
    sparsity->traversal_order = int_array(from->order_count, from->order);
    sparsity->block_map = int_array(from->block_map_count, from->block_map);
    if (!sparsity->traversal_order || !sparsity->block_map) return false;
    for (int i = 0; i < from->dimension_count; i++) {
        const struct hl_model_sparse_dimension *dimension = &from->dimensions[i];
        TfLiteDimensionMetadata *metadata = &sparsity->dim_metadata[i];
        metadata->format = dimension->format;
        metadata->dense_size = dimension->dense_size;
        if (dimension->format != kTfLiteDimSparseCSR) continue;
        metadata->array_segments = int_array(dimension->segment_count, dimension->segments);
        metadata->array_indices = int_array(dimension->index_count, dimension->indices);
        if (!metadata->array_segments || !metadata->array_indices) return false;
    }
    return true;
}

static bool create_tensor(TfLiteTensor *tensor, const struct hl_model_tensor *from)
{
    clear_tensor(tensor);
    tensor->type = from->type;
    tensor->name = from->name;
    tensor->is_variable = from->is_variable;
    tensor->dims = int_array(from->rank, from->dims);
    if (!tensor->dims) return false;
    if (!from->data) { // empty where all lengths are fixed
        tensor->dims_signature = int_array(from->signature_rank > 0 ? from->signature_rank : 0, from->signature);
        if (!tensor->dims_signature) return false;
    }
    if (!copy_quantization(tensor, &from->quantization)) return false;
    if (!copy_sparsity(tensor, from->sparsity)) return false;
    if (from->data) {
        tensor->allocation_type = kTfLiteMmapRo;
        tensor->data.raw_const = from->data;
        tensor->bytes = from->bytes;
        return true;
    }
    tensor->allocation_type = from->is_variable ? kTfLiteArenaRwPersistent : kTfLiteArenaRw;
    if (from->type == kTfLiteString) {
        tensor->allocation_type = kTfLiteDynamic;
    } else if (from->type == kTfLiteResource || from->type == kTfLiteVariant) {
        tensor->bytes = from->type == kTfLiteResource ? sizeof(int32_t) : sizeof(void *);
    } else if (!hl_tensor_bytes(from->type, from->rank, from->dims, &tensor->bytes)) {
        tensor->bytes = 0; // the verifier has refused what can go wrong here
    }
    return true;
}

static bool find_what_is_read(struct hl_subgraph *subgraph)
{
    const struct hl_model_subgraph *model = subgraph->model;
    subgraph->is_read = calloc((size_t)model->tensor_count + 1, sizeof *subgraph->is_read); // at least one
    if (!subgraph->is_read) return false;
    subgraph->is_read_size = model->tensor_count;
    for (int n = 0; n < model->node_count; n++)
        for (int i = 0; i < model->nodes[n].input_count; i++)
            if (model->nodes[n].inputs[i] >= 0) subgraph->is_read[model->nodes[n].inputs[i]] = true;
    for (int i = 0; i < model->output_count; i++)
        if (model->outputs[i] >= 0) subgraph->is_read[model->outputs[i]] = true;
    return true;
}

static TfLiteStatus create_tensors(struct hl_subgraph *subgraph)
{
    const struct hl_model_subgraph *model = subgraph->model;
    if (!reserve_tensors(subgraph, model->tensor_count + SPARE_TENSORS)) return out_of_memory(subgraph);
    int variables = 0;
    for (int i = 0; i < model->tensor_count; i++) {
        bool ok = create_tensor(&subgraph->context.tensors[i], &model->tensors[i]);
        subgraph->tensor_count = i + 1;
        subgraph->context.tensors_size = (size_t)subgraph->tensor_count;
        if (!ok) return out_of_memory(subgraph);
        if (model->tensors[i].external_data) {
            hl_subgraph_error(subgraph,
                              "subgraph %d: the data of tensor %d (%s) lies in another file, which is not supported",
                              subgraph->index, i, model->tensors[i].name);
            return kTfLiteError;
        }
        variables += model->tensors[i].is_variable;
    }
    subgraph->inputs = int_array(model->input_count, model->inputs);
    subgraph->outputs = int_array(model->output_count, model->outputs);
    subgraph->variables = TfLiteIntArrayCreate(variables);
    if (!subgraph->inputs || !subgraph->outputs || !subgraph->variables || !find_what_is_read(subgraph))
        return out_of_memory(subgraph);
    for (int i = 0, v = 0; i < model->tensor_count; i++)
        if (model->tensors[i].is_variable) subgraph->variables->data[v++] = i;
    return kTfLiteOk;
}

static bool lies_on_heap(const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteDynamic || tensor->allocation_type == kTfLitePersistentRo;
}

void hl_subgraph_count_bytes(struct hl_subgraph *subgraph, ptrdiff_t bytes)
{
    subgraph->interpreter->tensor_bytes += (size_t)bytes;
}

static void count_heap_tensor(struct hl_subgraph *subgraph, int index)
{
    const TfLiteTensor *tensor = &subgraph->context.tensors[index];
    size_t bytes = lies_on_heap(tensor) && tensor->data.raw ? tensor->bytes : 0;
    if (bytes == subgraph->heap_bytes[index]) return;
    hl_subgraph_count_bytes(subgraph, (ptrdiff_t)(bytes - subgraph->heap_bytes[index]));
    subgraph->heap_bytes[index] = bytes;
}

void hl_subgraph_count_heap(struct hl_subgraph *subgraph)
{
    for (int i = 0; i < subgraph->tensor_count; i++) count_heap_tensor(subgraph, i);
}

void hl_subgraph_count_heap_of(struct hl_subgraph *subgraph, const TfLiteIntArray *tensors)
{
    for (int i = 0; i < tensors->size; i++)
        if (hl_subgraph_has_tensor(subgraph, tensors->data[i])) count_heap_tensor(subgraph, tensors->data[i]);
}

TfLiteStatus hl_subgraph_count_planning(struct hl_subgraph *subgraph, double steps)
{
    struct TfLiteInterpreter *interpreter = subgraph->interpreter;
    interpreter->work += steps;
    if (interpreter->work > interpreter->work_limit) {
        hl_subgraph_error(subgraph,
                          "planning the memory of subgraph %d with its %.3g steps would take %.3g, above the limit of "
                          "%.3g: HaliteInterpreterOptionsSetWorkLimit must allow more",
                          subgraph->index, steps, interpreter->work, interpreter->work_limit);
        return kTfLiteError;
    }
    if (!interpreter->options->cancellation || !atomic_load(&interpreter->cancelled)) return kTfLiteOk;
    hl_subgraph_error(subgraph, "Client requested cancel while memory was planned");
    return kTfLiteCancelled;
}

TfLiteStatus hl_subgraph_resize_heap_tensor(struct hl_subgraph *subgraph, TfLiteTensor *tensor, size_t bytes)
{
    if (tensor->data.raw && tensor->bytes == bytes) return kTfLiteOk;
    size_t before = tensor->data.raw ? tensor->bytes : 0;
    if (bytes > before && bytes - before > hl_interpreter_memory_left(subgraph->interpreter)) {
        hl_subgraph_error(subgraph,
                          "tensor %s would take %zu bytes: with the other tensors that is above the memory limit "
                          "of %zu bytes",
                          hl_tensor_label(tensor), bytes, subgraph->interpreter->memory_limit);
        return kTfLiteError;
    }
    // TfLiteTensorRealloc lets a smaller tensor keep its block, which would no longer count against the limit.
    void *smaller = bytes < before ? realloc(tensor->data.raw, bytes + HL_TENSOR_TAIL) : NULL;
    if (smaller) tensor->data.raw = smaller;
    if (TfLiteTensorRealloc(bytes, tensor) != kTfLiteOk) {
        hl_subgraph_error(subgraph, "out of memory for %zu bytes of tensor %s", bytes, hl_tensor_label(tensor));
        return kTfLiteError;
    }
    // A resource's value is no tensor of the subgraph.
    uintptr_t first = (uintptr_t)subgraph->context.tensors, at = (uintptr_t)tensor;
    if (at >= first && at - first < (size_t)subgraph->tensor_count * sizeof *tensor)
        count_heap_tensor(subgraph, (int)(tensor - subgraph->context.tensors));
    else
        subgraph->interpreter->resources.bytes += bytes - before;
    return kTfLiteOk;
}

static const char *shape_text(const TfLiteIntArray *dims, char text[128])
{
    size_t used = 1;
    text[0] = '[';
    for (int i = 0; i < dims->size && used < 100; i++)
        used += (size_t)snprintf(text + used, 128 - used, i ? ",%d" : "%d", dims->data[i]);
    snprintf(text + used, 128 - used, "]");
    return text;
}

static struct hl_custom_allocation *find_custom(struct hl_subgraph *subgraph, int tensor)
{
    for (int i = 0; i < subgraph->custom_allocation_count; i++)
        if (subgraph->custom_allocations[i].tensor == tensor) return &subgraph->custom_allocations[i];
    return NULL;
}

static TfLiteStatus resize_tensor(struct hl_subgraph *subgraph, TfLiteTensor *tensor, const TfLiteIntArray *dims)
{
    if (tensor->allocation_type == kTfLiteMmapRo || tensor->allocation_type == kTfLiteMemNone) {
        hl_subgraph_error(subgraph, "cannot resize tensor %s: it is a constant of the model", hl_tensor_label(tensor));
        return kTfLiteError;
    }
    // The bytes of strings and handles do not follow from the shape, but its product must be sane all the same.
    bool sized = tensor->type != kTfLiteString && tensor->type != kTfLiteResource && tensor->type != kTfLiteVariant;
    size_t bytes;
    if (dims->size > HL_MAX_RANK ||
        !hl_tensor_bytes(sized ? tensor->type : kTfLiteInt8, dims->size, dims->data, &bytes)) {
        char text[128];
        hl_subgraph_error(subgraph, "cannot give tensor %s (%s) the shape %s: it is negative or too large",
                          hl_tensor_label(tensor), TfLiteTypeGetName(tensor->type), shape_text(dims, text));
        return kTfLiteError;
    }
    if (!sized) return kTfLiteOk;
    if (lies_on_heap(tensor)) return hl_subgraph_resize_heap_tensor(subgraph, tensor, bytes);
    tensor->bytes = bytes;
    if (tensor->allocation_type == kTfLiteCustom) {
        const struct hl_custom_allocation *entry = find_custom(subgraph, (int)(tensor - subgraph->context.tensors));
        tensor->data.data = entry && entry->memory.bytes >= bytes ? entry->memory.data : NULL;
    }
    if (tensor->allocation_type == kTfLiteArenaRw || tensor->allocation_type == kTfLiteArenaRwPersistent)
        tensor->data.raw = NULL; // the planner gives it a place
    return kTfLiteOk;
}

TfLiteStatus hl_subgraph_resize_tensor(struct hl_subgraph *subgraph, TfLiteTensor *tensor, TfLiteIntArray *dims)
{
    if (!dims) return out_of_memory(subgraph);
    bool same = tensor->dims && TfLiteIntArrayEqual(tensor->dims, dims);
    // A kernel that resizes to the same shape on every run keeps its memory and its successors.
    if (tensor->allocation_type == kTfLiteDynamic && !(same && tensor->data.raw)) subgraph->resized = true;
    TfLiteStatus status = resize_tensor(subgraph, tensor, dims);
    if (dims == tensor->dims) return status; // kernels may pass the shape that the tensor has
    TfLiteIntArrayFree(status == kTfLiteOk ? tensor->dims : dims);
    if (status == kTfLiteOk) tensor->dims = dims;
    return status;
}

static TfLiteTensor *input_to_resize(struct hl_subgraph *subgraph, int index, int rank)
{
    if (!hl_subgraph_has_tensor(subgraph, index)) {
        hl_subgraph_error(subgraph, "cannot resize tensor %d: subgraph %d has %d tensors", index, subgraph->index,
                          subgraph->tensor_count);
        return NULL;
    }
    if (rank < 0) {
        hl_subgraph_error(subgraph, "cannot resize tensor %d to rank %d", index, rank);
        return NULL;
    }
    return &subgraph->context.tensors[index];
}

TfLiteStatus hl_subgraph_resize_input(struct hl_subgraph *subgraph, int index, const int *dims, int rank)
{
    bool immutable = subgraph->state == HL_IMMUTABLE;
    if (immutable && !subgraph->undelegated_plan) {
        hl_subgraph_error(subgraph, "ResizeInputTensor is disallowed when graph is immutable.");
        return kTfLiteError;
    }
    TfLiteTensor *tensor = input_to_resize(subgraph, index, rank);
    if (!tensor) return kTfLiteError;
    if (tensor->data.raw && TfLiteIntArrayEqualsArray(tensor->dims, rank, dims)) return kTfLiteOk;
    // A delegate that relies on the shapes is taken off; AllocateTensors applies it to the new ones.
    if (immutable && hl_subgraph_undo_delegates(subgraph) != kTfLiteOk) return kTfLiteError;
    subgraph->state = HL_NOT_READY;
    return hl_subgraph_resize_tensor(subgraph, tensor, int_array(rank, dims));
}

TfLiteStatus hl_subgraph_resize_input_strict(struct hl_subgraph *subgraph, int index, const int *dims, int rank)
{
    TfLiteTensor *tensor = input_to_resize(subgraph, index, rank);
    if (!tensor) return kTfLiteError;
    const TfLiteIntArray *open =
        tensor->dims_signature && tensor->dims_signature->size ? tensor->dims_signature : tensor->dims;
    if (open->size != rank) {
        hl_subgraph_error(subgraph, "cannot resize tensor %s to rank %d: the model declares rank %d", tensor->name,
                          rank, open->size);
        return kTfLiteError;
    }
    for (int i = 0; i < rank; i++) {
        if (open->data[i] == -1 || open->data[i] == dims[i]) continue;
        hl_subgraph_error(subgraph,
                          "ResizeInputTensorStrict only allows mutating unknown dimensions identified by -1: dimension "
                          "%d of tensor %s is %d in the model, and %d was asked for",
                          i, tensor->name, open->data[i], dims[i]);
        return kTfLiteError;
    }
    return hl_subgraph_resize_input(subgraph, index, dims, rank);
}

TfLiteStatus hl_subgraph_set_custom_allocation(struct hl_subgraph *subgraph, int index,
                                               const TfLiteCustomAllocation *memory, int64_t flags)
{
    if (!hl_subgraph_has_tensor(subgraph, index) || !memory || !memory->data) {
        hl_subgraph_error(subgraph, "custom allocation: tensor %d does not exist or the memory is NULL", index);
        return kTfLiteError;
    }
    TfLiteTensor *tensor = &subgraph->context.tensors[index];
    if (tensor->allocation_type != kTfLiteArenaRw && tensor->allocation_type != kTfLiteArenaRwPersistent &&
        tensor->allocation_type != kTfLiteCustom) {
        hl_subgraph_error(subgraph, "custom allocation: tensor %s is a constant or dynamic", hl_tensor_label(tensor));
        return kTfLiteError;
    }
    if (!(flags & kTfLiteCustomAllocationFlagsSkipAlignCheck) && (uintptr_t)memory->data % HL_TENSOR_ALIGNMENT) {
        hl_subgraph_error(subgraph, "custom allocation: the memory for tensor %s is not aligned to %d bytes",
                          tensor->name, HL_TENSOR_ALIGNMENT);
        return kTfLiteError;
    }
    struct hl_custom_allocation *entry = find_custom(subgraph, index);
    if (!entry) {
        struct hl_custom_allocation *list =
            realloc(subgraph->custom_allocations, (size_t)(subgraph->custom_allocation_count + 1) * sizeof *list);
        if (!list) return out_of_memory(subgraph);
        subgraph->custom_allocations = list;
        entry = &list[subgraph->custom_allocation_count++];
    }
    // Whether it is large enough is known when all shapes are: AllocateTensors and Invoke check it.
    *entry = (struct hl_custom_allocation){index, *memory};
    if (hl_subgraph_has_taken(subgraph, index) || hl_subgraph_passes_on(subgraph, index) ||
        hl_subgraph_has_in_place(subgraph, index))
        subgraph->state = HL_NOT_READY; // it is to be written now, and there
    tensor->allocation_type = kTfLiteCustom;
    tensor->data.data = memory->data;
    hl_subgraph_unsettle(subgraph);
    return kTfLiteOk;
}

// ---- nodes --------------------------------------------------------------------------------------

static bool reserve_nodes(struct hl_subgraph *subgraph)
{
    if (subgraph->node_count < subgraph->node_capacity) return true;
    int capacity = subgraph->node_capacity ? subgraph->node_capacity * 2 : subgraph->model->node_count + 8;
    struct hl_node **nodes = realloc(subgraph->nodes, (size_t)capacity * sizeof *nodes);
    if (!nodes) return false;
    subgraph->nodes = nodes;
    struct hl_call *calls = realloc(subgraph->calls, (size_t)capacity * sizeof *calls);
    if (!calls) return false;
    subgraph->calls = calls;
    subgraph->node_capacity = capacity;
    return true;
}

static void *copy_params(const void *params, size_t size)
{
    void *copy = malloc(size);
    if (copy) memcpy(copy, params, size);
    return copy;
}

int hl_subgraph_add_node(struct hl_subgraph *subgraph, const TfLiteRegistration *registration, const char *name,
                         TfLiteIntArray *inputs, TfLiteIntArray *outputs, TfLiteIntArray *intermediates,
                         void *builtin_data, const void *init_data, size_t init_size)
{
    struct hl_node *node = calloc(1, sizeof *node);
    TfLiteIntArray *temporaries = TfLiteIntArrayCreate(0);
    if (!node || !temporaries || !inputs || !outputs || !intermediates || !reserve_nodes(subgraph)) {
        free(node);
        free(builtin_data);
        TfLiteIntArrayFree(temporaries);
        TfLiteIntArrayFree(inputs);
        TfLiteIntArrayFree(outputs);
        TfLiteIntArrayFree(intermediates);
        out_of_memory(subgraph);
        return -1;
    }
    *node = (struct hl_node){
        .node = {.inputs = inputs,
                 .outputs = outputs,
                 .intermediates = intermediates,
                 .temporaries = temporaries,
                 .builtin_data = builtin_data},
        .registration = *registration,
        .reads = -1,
        .index = subgraph->node_count,
        .name = name,
    };
    if (registration->builtin_code == kTfLiteBuiltinCustom) {
        node->node.custom_initial_data = init_data;
        node->node.custom_initial_data_size = (int)init_size;
    }
    for (int i = 0; i < inputs->size; i++) {
        int input = inputs->data[i];
        if (input >= 0 && subgraph->context.tensors[input].type == kTfLiteResource)
            node->node.might_have_side_effect = true;
    }
    subgraph->nodes[subgraph->node_count++] = node;
    void *state = hl_kernel_init(&node->registration, &subgraph->context, init_data, init_size);
    if (state == HL_KERNEL_INIT_FAILED) {
        hl_subgraph_error(subgraph, "Node number %d (%s) failed to initialize.", node->index, node->name);
        subgraph->node_count--;
        hl_subgraph_free_node(subgraph, node);
        return -1;
    }
    node->node.user_data = state;
    node->has_state = true;
    return node->index;
}

static void free_temporaries(struct hl_subgraph *subgraph, const struct hl_node *node)
{
    for (int i = 0; i < node->node.temporaries->size; i++) {
        int tensor = node->node.temporaries->data[i];
        if (hl_subgraph_has_tensor(subgraph, tensor)) TfLiteTensorDataFree(&subgraph->context.tensors[tensor]);
    }
}

void hl_subgraph_free_node(struct hl_subgraph *subgraph, struct hl_node *node)
{
    if (!node) return;
    hl_subgraph_restore_node(subgraph, node);
    free(node->transposed);
    free_temporaries(subgraph, node);
    if (node->has_state) hl_kernel_free(&node->registration, &subgraph->context, node->node.user_data);
    TfLiteIntArrayFree(node->node.inputs);
    TfLiteIntArrayFree(node->node.outputs);
    TfLiteIntArrayFree(node->node.intermediates);
    TfLiteIntArrayFree(node->node.temporaries);
    free(node->node.builtin_data);
    free(node);
}

static bool changes_state(int builtin)
{
    switch (builtin) { // their order matters beyond their tensors
    case kTfLiteBuiltinCallOnce:
    case kTfLiteBuiltinIf:
    case kTfLiteBuiltinWhile:
    case kTfLiteBuiltinAssignVariable:
    case kTfLiteBuiltinHashtableImport: return true;
    default: return false;
    }
}

static TfLiteStatus create_node(struct hl_subgraph *subgraph, const struct hl_model_node *from, int index)
{
    const TfLiteModel *model = subgraph->interpreter->model;
    const struct hl_model_code *code = &model->codes[from->code];
    const char *name = hl_model_code_name(code);
    bool custom = code->builtin == kTfLiteBuiltinCustom;
    TfLiteRegistration registration;
    bool resolved = hl_resolve(&subgraph->interpreter->options->resolver, code, &registration);
    if (!resolved && !custom) {
        hl_subgraph_error(
            subgraph,
            "Didn't find op for builtin opcode '%s' version '%d'. Node %d of subgraph %d needs it: the "
            "model may be newer than this library, or HALITE_OPS or HALITE_MODELS left the op out of this build.",
            name, code->version, index, subgraph->index);
        hl_subgraph_error(subgraph, "Registration failed: the interpreter is not created.");
        return kTfLiteUnresolvedOps;
    }
    if (!resolved)
        registration = (TfLiteRegistration){
            .builtin_code = kTfLiteBuiltinCustom,
            .custom_name = code->custom_name,
            .version = code->version,
        };
    void *params = NULL;
    if (!custom && from->params && !(params = copy_params(from->params, from->params_size)))
        return out_of_memory(subgraph);
    int added = hl_subgraph_add_node(subgraph, &registration, name, int_array(from->input_count, from->inputs),
                                     int_array(from->output_count, from->outputs),
                                     int_array(from->intermediate_count, from->intermediates), params,
                                     custom ? from->custom_options : params, custom ? from->custom_options_size : 0);
    if (added < 0) return kTfLiteError;
    subgraph->nodes[added]->unresolved = !resolved;
    subgraph->nodes[added]->node.might_have_side_effect |= changes_state(code->builtin);
    return kTfLiteOk;
}

TfLiteStatus hl_subgraph_create_nodes(struct hl_subgraph *subgraph)
{
    const struct hl_model_subgraph *model = subgraph->model;
    for (int i = 0; i < model->node_count; i++) {
        TfLiteStatus status = create_node(subgraph, &model->nodes[i], i);
        if (status != kTfLiteOk) return status;
    }
    subgraph->model_node_count = model->node_count;
    subgraph->plan = TfLiteIntArrayCreate(model->node_count);
    if (!subgraph->plan) return out_of_memory(subgraph);
    for (int i = 0; i < model->node_count; i++) subgraph->plan->data[i] = i;
    return kTfLiteOk;
}

// ---- life ---------------------------------------------------------------------------------------

struct hl_subgraph *hl_subgraph_create(struct TfLiteInterpreter *interpreter, int index)
{
    struct hl_subgraph *subgraph = calloc(1, sizeof *subgraph);
    if (!subgraph) {
        hl_report(&interpreter->options->reporter, "subgraph %d: out of memory", index);
        return NULL;
    }
    subgraph->interpreter = interpreter;
    // Subgraphs that callers add come after the model's.
    const TfLiteModel *model = interpreter->model;
    subgraph->model = index < model->subgraph_count ? &model->subgraphs[index] : &hl_model_empty_subgraph;
    subgraph->index = index;
    hl_context_init(subgraph);
    if (create_tensors(subgraph) != kTfLiteOk) {
        hl_subgraph_destroy(subgraph);
        return NULL;
    }
    return subgraph;
}

void hl_subgraph_destroy(struct hl_subgraph *subgraph)
{
    if (!subgraph) return;
    hl_subgraph_end_async(subgraph, true);
    // In this order, as the original: a delegate's node may take back the handles of its outputs.
    for (int i = 0; i < subgraph->node_count; i++) hl_subgraph_free_node(subgraph, subgraph->nodes[i]);
    for (int i = 0; i < subgraph->tensor_count; i++)
        hl_delegate_free_handle(&subgraph->context, &subgraph->context.tensors[i]);
    for (int i = 0; i < subgraph->tensor_count; i++) TfLiteTensorFree(&subgraph->context.tensors[i]);
    hl_subgraph_free_shared_constants(subgraph);
    for (int i = 0; i < subgraph->operator_count; i++) TfLiteOperatorDelete(subgraph->operators[i]);
    free(subgraph->operators);
    hl_planner_free(&subgraph->planner);
    hl_subgraph_free_preview(subgraph);
    hl_subgraph_free_buffers(&subgraph->persistent_buffers);
    hl_subgraph_free_buffers(&subgraph->eval_buffers);
    TfLiteIntArrayFree(subgraph->plan);
    TfLiteIntArrayFree(subgraph->plan_copy);
    TfLiteIntArrayFree(subgraph->undelegated_plan);
    TfLiteIntArrayFree(subgraph->inputs);
    TfLiteIntArrayFree(subgraph->outputs);
    TfLiteIntArrayFree(subgraph->variables);
    TfLiteIntArrayFree(subgraph->scratch_tensors);
    free(subgraph->calls);
    free(subgraph->is_read);
    free(subgraph->heap_bytes);
    free(subgraph->custom_allocations);
    free(subgraph->delegates);
    free(subgraph->nodes);
    free(subgraph->context.tensors);
    free(subgraph);
}
