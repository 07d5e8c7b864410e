// SPDX-License-Identifier: Apache-2.0
// See model_writer.h.
#include "support/model_writer.h"

#include <stdlib.h>
#include <string.h>

#include "support/model_file.h"

// Positions of `count` new tables, to be freed. One more than wanted, so that none are something.
static size_t *add_children(struct model_file *file, size_t table, enum hl_schema field, int count)
{
    size_t *children = malloc(((size_t)count + 1) * sizeof *children);
    if (!children) abort();
    file_children(file, table, field, count, children);
    return children;
}

static void set_ints(struct model_file *file, size_t table, enum hl_schema field, int count, const int *values)
{
    file_set_vector(file, table, field, values, (size_t)count);
}

// ---- tensors ------------------------------------------------------------------------------------

static void write_quantization(struct model_file *file, size_t table, const struct test_tensor *tensor)
{
    int count = tensor->scale_count ? tensor->scale_count : 1;
    size_t quantization = file_child(file, table, HL_Tensor_quantization, HL_QuantizationParameters);
    file_set_vector(file, quantization, HL_QuantizationParameters_scale,
                    tensor->scale_count ? tensor->scales : &tensor->scale, (size_t)count);
    size_t zero_points = file_set_vector(file, quantization, HL_QuantizationParameters_zero_point, NULL, (size_t)count);
    for (int i = 0; i < count; i++)
        file_poke(file, zero_points + (size_t)i * sizeof(int64_t), &(int64_t){tensor->zero_point}, sizeof(int64_t));
    file_set(file, quantization, HL_QuantizationParameters_quantized_dimension, tensor->quantized_dimension);
}

static void write_blocks(struct model_file *file, size_t table, const struct test_tensor *tensor)
{
    size_t quantization = file_child(file, table, HL_Tensor_quantization, HL_QuantizationParameters);
    int type = 1;
    while (hl_schema_member(HL_QuantizationDetails, (unsigned)type) != HL_BlockwiseQuantization) type++;
    file_set(file, quantization, HL_QuantizationParameters_details_type, type);
    size_t blocks = file_child(file, quantization, HL_QuantizationParameters_details, HL_BlockwiseQuantization);
    file_set(file, blocks, HL_BlockwiseQuantization_scales, tensor->block_scales);
    file_set(file, blocks, HL_BlockwiseQuantization_zero_points, -1);
    file_set(file, blocks, HL_BlockwiseQuantization_block_size, tensor->block_size);
}

static void write_tensor(struct model_file *file, size_t table, const struct test_tensor *tensor, int buffer)
{
    set_ints(file, table, HL_Tensor_shape, tensor->rank, tensor->dims);
    file_set(file, table, HL_Tensor_type, tensor->type);
    file_set(file, table, HL_Tensor_buffer, tensor->data ? buffer : 0);
    file_set_string(file, table, HL_Tensor_name, tensor->name);
    file_set(file, table, HL_Tensor_is_variable, tensor->is_variable);
    if (tensor->has_signature) set_ints(file, table, HL_Tensor_shape_signature, tensor->rank, tensor->signature);
    if (tensor->scale != 0 || tensor->scale_count) write_quantization(file, table, tensor);
    if (tensor->block_size) write_blocks(file, table, tensor);
}

// ---- nodes --------------------------------------------------------------------------------------

// A table's fields follow its own row.
static int table_of(int field)
{
    while (hl_schema[field].kind != HL_KIND_TABLE) field--;
    return field;
}

static void write_settings(struct model_file *file, size_t table, const struct test_setting *settings)
{
    int of = table_of(settings[0].field), type = 1;
    while (hl_schema_member(HL_BuiltinOptions, (unsigned)type) != of) type++;
    file_set(file, table, HL_Operator_builtin_options_type, type);
    size_t options = file_child(file, table, HL_Operator_builtin_options, (enum hl_schema)of);
    for (int i = 0; i < TEST_SETTINGS && settings[i].field; i++) {
        enum hl_schema field = (enum hl_schema)settings[i].field;
        if (hl_schema[field].kind == HL_KIND_VECTOR)
            set_ints(file, options, field, settings[i].count, settings[i].list);
        else if (hl_schema[field].scalar == HL_SCALAR_F32)
            file_set_float(file, options, field, (float)settings[i].value);
        else
            file_set(file, options, field, (int64_t)settings[i].value);
    }
}

static void write_node(struct model_file *file, size_t table, const struct test_node *node, int code)
{
    file_set(file, table, HL_Operator_opcode_index, code);
    set_ints(file, table, HL_Operator_inputs, node->input_count, node->inputs);
    set_ints(file, table, HL_Operator_outputs, node->output_count, node->outputs);
    if (node->intermediate_count > 0)
        set_ints(file, table, HL_Operator_intermediates, node->intermediate_count, node->intermediates);
    if (node->options) file_set_vector(file, table, HL_Operator_custom_options, node->options, node->option_bytes);
    if (node->settings[0].field) write_settings(file, table, node->settings);
}

static void write_code(struct model_file *file, size_t table, const struct test_node *node)
{
    file_set(file, table, HL_OperatorCode_deprecated_builtin_code, node->builtin < 127 ? node->builtin : 127);
    file_set(file, table, HL_OperatorCode_version, node->version ? node->version : 1);
    file_set(file, table, HL_OperatorCode_builtin_code, node->builtin);
    if (node->custom) file_set_string(file, table, HL_OperatorCode_custom_code, node->custom);
}

// ---- subgraphs ----------------------------------------------------------------------------------

// The graph's own list, then the tensors that say so themselves.
static void write_ends(struct model_file *file, size_t table, enum hl_schema field, int count, const int *own,
                       const struct test_model *model)
{
    int *ends = malloc(((size_t)count + (size_t)model->tensor_count + 1) * sizeof *ends);
    if (!ends) abort();
    memcpy(ends, own, (size_t)count * sizeof *ends);
    for (int i = 0; i < model->tensor_count; i++)
        if (field == HL_SubGraph_inputs ? model->tensors[i].is_input : model->tensors[i].is_output) ends[count++] = i;
    set_ints(file, table, field, count, ends);
    free(ends);
}

static void write_subgraph(struct model_file *file, size_t table, const struct test_model *model, int first_code,
                           int first_buffer)
{
    size_t *tensors = add_children(file, table, HL_SubGraph_tensors, model->tensor_count);
    for (int i = 0; i < model->tensor_count; i++) write_tensor(file, tensors[i], &model->tensors[i], first_buffer + i);
    free(tensors);
    size_t *nodes = add_children(file, table, HL_SubGraph_operators, model->node_count);
    for (int i = 0; i < model->node_count; i++) write_node(file, nodes[i], &model->nodes[i], first_code + i);
    free(nodes);
    write_ends(file, table, HL_SubGraph_inputs, model->input_count, model->inputs, model);
    write_ends(file, table, HL_SubGraph_outputs, model->output_count, model->outputs, model);
    if (model->name) file_set_string(file, table, HL_SubGraph_name, model->name);
}

// ---- the file -----------------------------------------------------------------------------------

static void write_signature(struct model_file *file, size_t table, const struct test_signature *signature)
{
    for (int outputs = 0; outputs < 2; outputs++) {
        const struct test_signature_entry *entries = outputs ? signature->outputs : signature->inputs;
        int count = outputs ? signature->output_count : signature->input_count;
        size_t *maps = add_children(file, table, outputs ? HL_SignatureDef_outputs : HL_SignatureDef_inputs, count);
        for (int i = 0; i < count; i++) {
            file_set_string(file, maps[i], HL_TensorMap_name, entries[i].name);
            file_set(file, maps[i], HL_TensorMap_tensor_index, entries[i].tensor);
        }
        free(maps);
    }
    file_set_string(file, table, HL_SignatureDef_signature_key, signature->key);
    file_set(file, table, HL_SignatureDef_subgraph_index, signature->subgraph);
}

static void write_buffer(struct model_file *file, size_t table, const void *data, size_t bytes)
{
    if (data) file_set_vector(file, table, HL_Buffer_data, data, bytes);
}

// Subgraph i of the file.
static const struct test_model *subgraph_at(const struct test_model *model, int i)
{
    return i == 0 ? model : &model->more[i - 1];
}

static void write_metadata(struct model_file *file, size_t root, const struct test_model *model, int first_buffer)
{
    if (model->metadata_count == 0) return;
    size_t *metadata = add_children(file, root, HL_Model_metadata, model->metadata_count);
    for (int i = 0; i < model->metadata_count; i++) {
        file_set_string(file, metadata[i], HL_Metadata_name, model->metadata[i].name);
        file_set(file, metadata[i], HL_Metadata_buffer, first_buffer + i);
    }
    free(metadata);
}

static void write_signatures(struct model_file *file, size_t root, const struct test_model *model)
{
    if (model->signature_count == 0) return;
    size_t *signatures = add_children(file, root, HL_Model_signature_defs, model->signature_count);
    for (int i = 0; i < model->signature_count; i++) write_signature(file, signatures[i], &model->signatures[i]);
    free(signatures);
}

// Buffer 0 is empty, then come the tensors' in the order of subgraphs and tensors, then those of the metadata; each
// node has an operator code of its own.
unsigned char *test_model_write(const struct test_model *model, size_t *size)
{
    struct model_file file = {0};
    int subgraph_count = 1 + model->more_count, code_count = 0, buffer_count = 1;
    for (int s = 0; s < subgraph_count; s++) {
        code_count += subgraph_at(model, s)->node_count;
        buffer_count += subgraph_at(model, s)->tensor_count;
    }
    size_t root = file_begin(&file);
    size_t *codes = add_children(&file, root, HL_Model_operator_codes, code_count);
    size_t *subgraphs = add_children(&file, root, HL_Model_subgraphs, subgraph_count);
    size_t *buffers = add_children(&file, root, HL_Model_buffers, buffer_count + model->metadata_count);
    for (int s = 0, code = 0, buffer = 1; s < subgraph_count; s++) {
        const struct test_model *subgraph = subgraph_at(model, s);
        write_subgraph(&file, subgraphs[s], subgraph, code, buffer);
        for (int i = 0; i < subgraph->node_count; i++) write_code(&file, codes[code++], &subgraph->nodes[i]);
        for (int i = 0; i < subgraph->tensor_count; i++)
            write_buffer(&file, buffers[buffer++], subgraph->tensors[i].data, subgraph->tensors[i].bytes);
    }
    for (int i = 0; i < model->metadata_count; i++)
        write_buffer(&file, buffers[buffer_count + i], model->metadata[i].data, model->metadata[i].bytes);
    write_metadata(&file, root, model, buffer_count);
    write_signatures(&file, root, model);
    free(codes);
    free(subgraphs);
    free(buffers);
    *size = file.size;
    return file.bytes;
}
