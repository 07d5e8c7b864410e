// SPDX-License-Identifier: Apache-2.0
// From the tables of a structurally valid file to the structs of model.h. In: hl_loader.file. Out:
// hl_loader.model, in which every count is right and every value fits its type; indices and sizes
// are as the file has them until verify.c has seen them, but for those that are followed here:
// buffers, operator codes, subgraphs of options.
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "model/loader.h"
#include "model/options.h"

struct decoder {
    struct hl_loader *loader;
    struct hl_vector buffers;
    const void **aligned; // copies of buffers whose bytes do not lie as their tensors' types need;
                          // made on demand
};

// Copies integers of at most 32 bits. Empty vectors give a pointer that may be read zero times.
static int *read_ints(struct hl_loader *l, size_t table, enum hl_schema field, int *count)
{
    struct hl_vector vector;
    hl_read_vector(&l->file, table, field, &vector);
    if (vector.count > INT32_MAX) {
        hl_load_fail(l, "%s has %u elements", hl_schema_name(field), vector.count);
        return NULL;
    }
    int *values = hl_load_array(l, vector.count, sizeof *values);
    if (!values) return NULL;
    for (uint32_t i = 0; i < vector.count; i++) values[i] = (int)hl_vector_integer(&l->file, &vector, i);
    *count = (int)vector.count;
    return values;
}

static const char *read_name(const struct hl_loader *l, size_t table, enum hl_schema field)
{
    const char *name = hl_read_string(&l->file, table, field, NULL);
    return name ? name : "";
}

// Room for the structs of a vector of tables.
static void *make_room(struct hl_loader *l, const struct hl_vector *vector, size_t size)
{
    if (vector->count <= INT32_MAX) return hl_load_array(l, vector->count, size);
    hl_load_fail(l, "a vector of the model has %u elements", vector->count);
    return NULL;
}

// ---- Constants

// Finds the bytes of a buffer: inside the flatbuffer, or behind it where the buffer has an offset.
// NULL where it has none.
static bool find_buffer(const struct decoder *d, uint32_t index, const uint8_t **data, size_t *size)
{
    struct hl_loader *l = d->loader;
    *data = NULL;
    *size = 0;
    if (index >= d->buffers.count)
        return hl_load_fail(l, "its buffer is number %u, but the model has %u buffer%s", index, d->buffers.count,
                            HL_PLURAL(d->buffers.count));
    size_t table = hl_vector_child(&l->file, &d->buffers, index);
    uint64_t offset = (uint64_t)hl_read_integer(&l->file, table, HL_Buffer_offset);
    uint64_t bytes = (uint64_t)hl_read_integer(&l->file, table, HL_Buffer_size);
    struct hl_vector inside;
    if (hl_read_vector(&l->file, table, HL_Buffer_data, &inside) && (inside.count > 0 || offset <= 1)) {
        *data = l->file.bytes + inside.start;
        *size = inside.count;
    } else if (offset > 1) { // writers that know of offsets set 1 where they do not use them
        if (offset > l->file.size || bytes > l->file.size - offset)
            return hl_load_fail(l, "its buffer %u has %llu bytes at offset %llu, but the file ends at %zu", index,
                                (unsigned long long)bytes, (unsigned long long)offset, l->file.size);
        *data = l->file.bytes + offset;
        *size = (size_t)bytes;
    }
    return true;
}

static size_t alignment_of(TfLiteType type)
{
    size_t size = hl_type_size(type);
    return type == kTfLiteString ? 4 : size > 8 ? 8 : size ? size : 1;
}

static bool read_constant(struct decoder *d, uint32_t buffer, struct hl_model_tensor *tensor)
{
    struct hl_loader *l = d->loader;
    const uint8_t *data;
    if (buffer == 0) return true; // means none
    if (!find_buffer(d, buffer, &data, &tensor->bytes)) return false;
    if (data && (uintptr_t)data % alignment_of(tensor->type) != 0) {
        if (!d->aligned) d->aligned = hl_load_array(l, d->buffers.count, sizeof *d->aligned);
        if (!d->aligned) return false;
        if (!d->aligned[buffer]) {
            void *copy = hl_load_array(l, tensor->bytes, 1);
            if (!copy) return false;
            memcpy(copy, data, tensor->bytes);
            d->aligned[buffer] = copy;
        }
        data = d->aligned[buffer];
    }
    tensor->data = data;
    // Some writers pad their buffers. What lies behind the elements is nobody's.
    size_t needed;
    if (!tensor->sparsity && hl_tensor_bytes(tensor->type, tensor->rank, tensor->dims, &needed) &&
        needed < tensor->bytes)
        tensor->bytes = needed;
    return true;
}

// ---- Tensors

static bool read_quantization(struct hl_loader *l, size_t table, struct hl_model_quantization *q)
{
    size_t details = hl_read_child(&l->file, table, HL_QuantizationParameters_details);
    int64_t type = hl_read_integer(&l->file, table, HL_QuantizationParameters_details_type);
    q->dimension = (int)hl_read_integer(&l->file, table, HL_QuantizationParameters_quantized_dimension);
    if (details != 0 && type == hl_schema[HL_QuantizationDetails_BlockwiseQuantization].id) {
        q->type = kTfLiteBlockwiseQuantization;
        q->scales_tensor = (int)hl_read_integer(&l->file, details, HL_BlockwiseQuantization_scales);
        q->zero_points_tensor = (int)hl_read_integer(&l->file, details, HL_BlockwiseQuantization_zero_points);
        q->block_size = (int)hl_read_integer(&l->file, details, HL_BlockwiseQuantization_block_size);
        return true;
    }
    if (details != 0 && type == hl_schema[HL_QuantizationDetails_MultiAxisQuantization].id) {
        q->type = kTfLiteMultiAxisQuantization;
        q->scales_tensor = (int)hl_read_integer(&l->file, details, HL_MultiAxisQuantization_scales);
        q->zero_points_tensor = (int)hl_read_integer(&l->file, details, HL_MultiAxisQuantization_zero_points);
        q->block_size = (int)hl_read_integer(&l->file, details, HL_MultiAxisQuantization_block_size);
        q->dimensions = read_ints(l, details, HL_MultiAxisQuantization_quantized_dimensions, &q->dimension_count);
        return q->dimensions != NULL;
    }

    struct hl_vector scales, zero_points;
    hl_read_vector(&l->file, table, HL_QuantizationParameters_scale, &scales);
    hl_read_vector(&l->file, table, HL_QuantizationParameters_zero_point, &zero_points);
    if (scales.count == 0) {
        *q = (struct hl_model_quantization){.type = kTfLiteNoQuantization};
        return true;
    }
    if (scales.count != zero_points.count)
        return hl_load_fail(l, "it has %u scale%s, but %u zero point%s", scales.count, HL_PLURAL(scales.count),
                            zero_points.count, HL_PLURAL(zero_points.count));
    float *scale = hl_load_array(l, scales.count, sizeof *scale);
    int *zero_point = hl_load_array(l, scales.count, sizeof *zero_point);
    if (!scale || !zero_point) return false;
    for (uint32_t i = 0; i < scales.count; i++) {
        int64_t value = hl_vector_integer(&l->file, &zero_points, i);
        scale[i] = hl_vector_float(&l->file, &scales, i);
        if (!hl_to_int(value, &zero_point[i]))
            return hl_load_fail(l, "zero point %u is %lld, which does not fit 32 bits", i, (long long)value);
    }
    q->type = kTfLiteAffineQuantization;
    q->scale_count = (int)scales.count;
    q->scales = scale;
    q->zero_points = zero_point;
    return true;
}

static bool read_sparse_vector(struct hl_loader *l, size_t table, enum hl_schema field, const char *what,
                               const int **values, int *count)
{
    static const uint16_t member_field[] = {HL_Int32Vector_values, HL_Uint16Vector_values, HL_Uint8Vector_values};
    size_t vector = hl_read_child(&l->file, table, field);
    int64_t type = hl_read_integer(&l->file, table, (enum hl_schema)(field - 1));
    if (vector == 0 || type < 1 || type > 3) return hl_load_fail(l, "a sparse dimension has no %s", what);
    *values = read_ints(l, vector, (enum hl_schema)member_field[type - 1], count);
    return *values != NULL;
}

static bool read_sparsity(struct hl_loader *l, size_t table, struct hl_model_tensor *tensor)
{
    struct hl_model_sparsity *sparsity = hl_load_array(l, 1, sizeof *sparsity);
    struct hl_vector dimensions;
    if (!sparsity) return false;
    sparsity->order = read_ints(l, table, HL_SparsityParameters_traversal_order, &sparsity->order_count);
    sparsity->block_map = read_ints(l, table, HL_SparsityParameters_block_map, &sparsity->block_map_count);
    hl_read_vector(&l->file, table, HL_SparsityParameters_dim_metadata, &dimensions);
    struct hl_model_sparse_dimension *dimension = make_room(l, &dimensions, sizeof *dimension);
    if (!sparsity->order || !sparsity->block_map || !dimension) return false;
    for (uint32_t i = 0; i < dimensions.count; i++) {
        size_t entry = hl_vector_child(&l->file, &dimensions, i);
        int64_t format = hl_read_integer(&l->file, entry, HL_DimensionMetadata_format);
        if (format != kTfLiteDimDense && format != kTfLiteDimSparseCSR)
            return hl_load_fail(l, "sparse dimension %u has the unknown format %lld", i, (long long)format);
        dimension[i].format = (TfLiteDimensionType)format;
        dimension[i].dense_size = (int)hl_read_integer(&l->file, entry, HL_DimensionMetadata_dense_size);
        if (format == kTfLiteDimDense) continue;
        if (!read_sparse_vector(l, entry, HL_DimensionMetadata_array_segments, "segments", &dimension[i].segments,
                                &dimension[i].segment_count) ||
            !read_sparse_vector(l, entry, HL_DimensionMetadata_array_indices, "indices", &dimension[i].indices,
                                &dimension[i].index_count))
            return false;
    }
    sparsity->dimensions = dimension;
    sparsity->dimension_count = (int)dimensions.count;
    tensor->sparsity = sparsity;
    return true;
}

static bool read_tensor(struct decoder *d, size_t table, struct hl_model_tensor *tensor)
{
    struct hl_loader *l = d->loader;
    tensor->name = l->tensor_name = read_name(l, table, HL_Tensor_name);

    int64_t type = hl_read_integer(&l->file, table, HL_Tensor_type);
    int known = hl_options_tensor_type(type);
    if (known < 0) return hl_load_fail(l, "its type is %lld, which the format does not define", (long long)type);
    tensor->type = (TfLiteType)known;

    struct hl_vector shape;
    hl_read_vector(&l->file, table, HL_Tensor_shape, &shape);
    if (shape.count > HL_MAX_RANK)
        return hl_load_fail(l, "it has %u dimensions; at most %d are supported", shape.count, HL_MAX_RANK);
    tensor->dims = read_ints(l, table, HL_Tensor_shape, &tensor->rank);
    if (!tensor->dims) return false;

    struct hl_vector signature;
    tensor->signature_rank = -1;
    // A signature of another rank says nothing about this shape.
    if (hl_read_vector(&l->file, table, HL_Tensor_shape_signature, &signature) && signature.count == shape.count) {
        int *dims = read_ints(l, table, HL_Tensor_shape_signature, &tensor->signature_rank);
        if (!dims) return false;
        for (int i = 0; i < tensor->signature_rank; i++)
            if (dims[i] < -1) dims[i] = -1;
        tensor->signature = dims;
    }

    tensor->is_variable = hl_read_integer(&l->file, table, HL_Tensor_is_variable) != 0;
    tensor->external_data = hl_read_integer(&l->file, table, HL_Tensor_external_buffer) != 0;
    size_t quantization = hl_read_child(&l->file, table, HL_Tensor_quantization);
    size_t sparsity = hl_read_child(&l->file, table, HL_Tensor_sparsity);
    if (quantization != 0 && !read_quantization(l, quantization, &tensor->quantization)) return false;
    if (sparsity != 0 && !read_sparsity(l, sparsity, tensor)) return false;
    return read_constant(d, (uint32_t)hl_read_integer(&l->file, table, HL_Tensor_buffer), tensor);
}

// ---- Operators

static bool read_custom_options(struct hl_loader *l, size_t table, struct hl_model_node *node)
{
    struct hl_vector options;
    uint64_t offset = (uint64_t)hl_read_integer(&l->file, table, HL_Operator_large_custom_options_offset);
    uint64_t size = (uint64_t)hl_read_integer(&l->file, table, HL_Operator_large_custom_options_size);
    node->custom_options_offset = -1;
    if (hl_read_vector(&l->file, table, HL_Operator_custom_options, &options)) {
        node->custom_options = l->file.bytes + options.start;
        node->custom_options_size = options.count;
        node->custom_options_offset = (int64_t)options.start;
    } else if (offset > 1) {
        if (offset > l->file.size || size > l->file.size - offset)
            return hl_load_fail(l, "its custom options have %llu bytes at offset %llu, but the file ends at %zu",
                                (unsigned long long)size, (unsigned long long)offset, l->file.size);
        node->custom_options = l->file.bytes + offset;
        node->custom_options_size = (size_t)size;
        node->custom_options_offset = (int64_t)offset;
    }
    return true;
}

static bool read_node(struct hl_loader *l, size_t table, struct hl_model_node *node)
{
    int64_t code = hl_read_integer(&l->file, table, HL_Operator_opcode_index);
    l->node_name = "operator";
    if (code >= l->model->code_count)
        return hl_load_fail(l, "its operator code is number %lld, but the model has %d operator code%s",
                            (long long)code, l->model->code_count, HL_PLURAL(l->model->code_count));
    node->code = (int)code;
    l->node_name = hl_model_code_name(&l->model->codes[code]);
    node->inputs = read_ints(l, table, HL_Operator_inputs, &node->input_count);
    node->outputs = read_ints(l, table, HL_Operator_outputs, &node->output_count);
    node->intermediates = read_ints(l, table, HL_Operator_intermediates, &node->intermediate_count);
    if (!node->inputs || !node->outputs || !node->intermediates) return false;
    if (l->model->codes[code].custom_name) return read_custom_options(l, table, node);
    return hl_options_read(l, l->model->codes[code].builtin, table, &node->params, &node->params_size);
}

static bool read_codes(struct hl_loader *l, size_t model)
{
    struct hl_vector tables;
    hl_read_vector(&l->file, model, HL_Model_operator_codes, &tables);
    struct hl_model_code *codes = make_room(l, &tables, sizeof *codes);
    if (!codes) return false;
    for (uint32_t i = 0; i < tables.count; i++) {
        size_t table = hl_vector_child(&l->file, &tables, i);
        int64_t old_code = hl_read_integer(&l->file, table, HL_OperatorCode_deprecated_builtin_code);
        int64_t new_code = hl_read_integer(&l->file, table, HL_OperatorCode_builtin_code);
        codes[i].builtin = (int)(old_code > new_code ? old_code : new_code);
        codes[i].version = (int)hl_read_integer(&l->file, table, HL_OperatorCode_version);
        if (codes[i].builtin == kTfLiteBuiltinCustom) {
            codes[i].custom_name = hl_read_string(&l->file, table, HL_OperatorCode_custom_code, NULL);
            if (!codes[i].custom_name) return hl_load_fail(l, "operator code %u is custom, but has no name", i);
        }
    }
    l->model->codes = codes;
    l->model->code_count = (int)tables.count;
    return true;
}

// ---- Subgraphs

static bool read_subgraph(struct decoder *d, size_t table, struct hl_model_subgraph *subgraph)
{
    struct hl_loader *l = d->loader;
    struct hl_vector tensors, operators;
    subgraph->name = read_name(l, table, HL_SubGraph_name);
    if (!hl_read_vector(&l->file, table, HL_SubGraph_tensors, &tensors)) return hl_load_fail(l, "it has no tensors");
    hl_read_vector(&l->file, table, HL_SubGraph_operators, &operators);
    struct hl_model_tensor *tensor = make_room(l, &tensors, sizeof *tensor);
    struct hl_model_node *node = make_room(l, &operators, sizeof *node);
    if (!tensor || !node) return false;
    for (uint32_t i = 0; i < tensors.count; i++) {
        l->tensor = (int)i;
        if (!read_tensor(d, hl_vector_child(&l->file, &tensors, i), &tensor[i])) return false;
    }
    l->tensor = -1;
    for (uint32_t i = 0; i < operators.count; i++) {
        l->node = (int)i;
        if (!read_node(l, hl_vector_child(&l->file, &operators, i), &node[i])) return false;
    }
    l->node = -1;
    subgraph->tensors = tensor;
    subgraph->tensor_count = (int)tensors.count;
    subgraph->nodes = node;
    subgraph->node_count = (int)operators.count;
    subgraph->inputs = read_ints(l, table, HL_SubGraph_inputs, &subgraph->input_count);
    subgraph->outputs = read_ints(l, table, HL_SubGraph_outputs, &subgraph->output_count);
    return subgraph->inputs && subgraph->outputs;
}

// ---- Signatures and metadata

static int compare_entries(const void *a, const void *b)
{
    const struct hl_model_signature_entry *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : (left->tensor > right->tensor) - (left->tensor < right->tensor);
}

// *usable becomes false, after a message, where an entry names no tensor.
static bool read_entries(struct hl_loader *l, size_t table, enum hl_schema field,
                         const struct hl_model_signature *signature, const struct hl_model_signature_entry **entries,
                         int *count, bool *usable)
{
    struct hl_vector maps;
    hl_read_vector(&l->file, table, field, &maps);
    struct hl_model_signature_entry *entry = make_room(l, &maps, sizeof *entry);
    if (!entry) return false;
    int tensor_count = l->model->subgraphs[signature->subgraph].tensor_count;
    size_t longest = 0;
    for (uint32_t i = 0; i < maps.count; i++) {
        size_t length;
        size_t map = hl_vector_child(&l->file, &maps, i);
        int64_t tensor = hl_read_integer(&l->file, map, HL_TensorMap_tensor_index);
        entry[i].name = hl_read_string(&l->file, map, HL_TensorMap_name, &length);
        if (length > longest) longest = length;
        if (!entry[i].name)
            return hl_load_fail(l, "signature '%.60s': number %u of its %s has no name", signature->key, i,
                                hl_schema_name(field));
        if (tensor >= tensor_count) {
            hl_load_fail(l,
                         "signature '%.60s' is left out: '%.60s' of its %s is tensor %lld, but "
                         "subgraph %d has %d tensor%s",
                         signature->key, entry[i].name, hl_schema_name(field), (long long)tensor, signature->subgraph,
                         tensor_count, HL_PLURAL(tensor_count));
            *usable = false;
            return true;
        }
        entry[i].tensor = (int)tensor;
    }
    uint64_t comparisons = maps.count;
    for (uint32_t rest = maps.count; rest > 1; rest /= 2) comparisons += maps.count;
    if (!hl_load_work(l, longest > UINT64_MAX / (comparisons + 1) ? UINT64_MAX : comparisons * longest)) return false;
    qsort(entry, maps.count, sizeof *entry, compare_entries);
    *entries = entry;
    *count = (int)maps.count;
    return true;
}

// A signature that points nowhere is left out, and said so: the graph itself does not need it.
static bool read_signatures(struct hl_loader *l, size_t model)
{
    struct hl_vector tables;
    hl_read_vector(&l->file, model, HL_Model_signature_defs, &tables);
    struct hl_model_signature *signatures = make_room(l, &tables, sizeof *signatures);
    int count = 0;
    if (!signatures) return false;
    for (uint32_t i = 0; i < tables.count; i++) {
        size_t table = hl_vector_child(&l->file, &tables, i);
        struct hl_model_signature signature = {
            .key = hl_read_string(&l->file, table, HL_SignatureDef_signature_key, NULL),
        };
        int64_t subgraph = hl_read_integer(&l->file, table, HL_SignatureDef_subgraph_index);
        bool usable = true;
        if (!signature.key) return hl_load_fail(l, "signature %u has no key", i);
        if (subgraph >= l->model->subgraph_count) {
            hl_load_fail(l,
                         "signature '%.60s' is left out: it names subgraph %lld, but the model has "
                         "%d subgraph%s",
                         signature.key, (long long)subgraph, l->model->subgraph_count,
                         HL_PLURAL(l->model->subgraph_count));
            continue;
        }
        signature.subgraph = (int)subgraph;
        if (!read_entries(l, table, HL_SignatureDef_inputs, &signature, &signature.inputs, &signature.input_count,
                          &usable))
            return false;
        if (usable && !read_entries(l, table, HL_SignatureDef_outputs, &signature, &signature.outputs,
                                    &signature.output_count, &usable))
            return false;
        if (usable) signatures[count++] = signature;
    }
    l->model->signatures = signatures;
    l->model->signature_count = count;
    return true;
}

static bool read_metadata(struct decoder *d, size_t model)
{
    struct hl_loader *l = d->loader;
    struct hl_vector tables;
    hl_read_vector(&l->file, model, HL_Model_metadata, &tables);
    struct hl_model_metadata *metadata = make_room(l, &tables, sizeof *metadata);
    int count = 0;
    if (!metadata) return false;
    for (uint32_t i = 0; i < tables.count; i++) {
        size_t table = hl_vector_child(&l->file, &tables, i);
        const uint8_t *data;
        int64_t buffer = hl_read_integer(&l->file, table, HL_Metadata_buffer);
        if (buffer >= d->buffers.count) continue; // nothing there to read, and nothing depends on it
        if (!find_buffer(d, (uint32_t)buffer, &data, &metadata[count].bytes)) return false;
        metadata[count].name = read_name(l, table, HL_Metadata_name);
        metadata[count].data = data ? (const char *)data : "";
        count++;
    }
    l->model->metadata = metadata;
    l->model->metadata_count = count;
    return true;
}

bool hl_load_decode(struct hl_loader *l)
{
    struct decoder d = {.loader = l};
    struct hl_vector subgraphs;
    size_t model = hl_flatbuffer_root(&l->file);
    int64_t version = hl_read_integer(&l->file, model, HL_Model_version);
    if (version != 3)
        return hl_load_fail(l, "the model has schema version %lld; Halite reads version 3", (long long)version);
    l->model->schema_version = (int)version;
    l->model->description = read_name(l, model, HL_Model_description);
    if (!hl_read_vector(&l->file, model, HL_Model_subgraphs, &subgraphs))
        return hl_load_fail(l, "the model has no subgraph");
    // An empty list is a model that loads, as in the original, and of which no interpreter can be made.
    if (!hl_read_vector(&l->file, model, HL_Model_buffers, &d.buffers) && subgraphs.count > 0)
        return hl_load_fail(l, "the model has no buffers");

    struct hl_model_subgraph *subgraph = make_room(l, &subgraphs, sizeof *subgraph);
    if (!subgraph || !read_codes(l, model)) return false;
    l->model->subgraphs = subgraph;
    l->model->subgraph_count = (int)subgraphs.count;
    for (uint32_t i = 0; i < subgraphs.count; i++) {
        l->subgraph = (int)i;
        if (!read_subgraph(&d, hl_vector_child(&l->file, &subgraphs, i), &subgraph[i])) return false;
    }
    l->subgraph = -1;
    return read_signatures(l, model) && read_metadata(&d, model) && hl_load_control_edges(l, subgraph);
}
