// SPDX-License-Identifier: Apache-2.0
// See node_work.h. A row of the table says which rule counts an operator's multiply-adds; all rules use shapes only.
#include "node_work.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "element.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

static double elements(const struct hl_model_tensor *tensor)
{
    double product = 1;
    for (int i = 0; i < tensor->rank; i++) product *= tensor->dims[i];
    return product;
}

static double dim(const struct hl_model_tensor *tensor, int from_end)
{
    return from_end <= tensor->rank ? tensor->dims[tensor->rank - from_end] : 1;
}

// ---- rules: in are the node's inputs (NULL: absent), of which there are as many as the table says ----------------

typedef double rule(const struct hl_model_tensor *const *in, int count, const struct hl_model_tensor *out,
                    const struct hl_model_node *node);

// Filters [outputs, ..., inputs]: an output takes a filter of one output channel.
static double by_filter(const struct hl_model_tensor *const *in, int count, const struct hl_model_tensor *out,
                        const struct hl_model_node *node)
{
    (void)count, (void)node;
    double channels = in[1]->rank > 0 ? in[1]->dims[0] : 1;
    return channels > 0 ? elements(out) * elements(in[1]) / channels : 0;
}

// Filters [..., outputs] (CONV_3D), and [1, height, width, channels] of depthwise convolutions.
static double by_last_channel(const struct hl_model_tensor *const *in, int count, const struct hl_model_tensor *out,
                              const struct hl_model_node *node)
{
    (void)count, (void)node;
    double channels = dim(in[1], 1);
    return channels > 0 ? elements(out) * elements(in[1]) / channels : 0;
}

// Transposed, filters [..., inputs]: an input is multiplied by a filter of one input channel. The node's inputs are a
// shape, the filter, and what flows in.
static double by_input(const struct hl_model_tensor *const *in, int count, const struct hl_model_tensor *out,
                       const struct hl_model_node *node)
{
    (void)count, (void)out, (void)node;
    double channels = dim(in[1], 1);
    return channels > 0 ? elements(in[2]) * elements(in[1]) / channels : 0;
}

static double matrix_product(const struct hl_model_tensor *const *in, int count, const struct hl_model_tensor *out,
                             const struct hl_model_node *node)
{
    (void)count;
    const TfLiteBatchMatMulParams *params = node->params;
    return elements(out) * dim(in[0], params != NULL && params->adj_x ? 2 : 1);
}

// Recurrent cells and rows of a matrix: each matrix of weights is used once for each row of the input.
static double by_rows(const struct hl_model_tensor *const *in, int count, const struct hl_model_tensor *out,
                      const struct hl_model_node *node)
{
    (void)out, (void)node;
    double weights = 0, width = dim(in[0], 1);
    for (int i = 1; i < count; i++)
        if (in[i] != NULL && in[i]->rank == 2 && !in[i]->is_variable) weights += elements(in[i]);
    return width > 0 ? elements(in[0]) / width * weights : 0;
}

// The basic cell has one matrix for all its gates, and its state among the inputs.
static double lstm(const struct hl_model_tensor *const *in, int count, const struct hl_model_tensor *out,
                   const struct hl_model_node *node)
{
    enum { WEIGHTS = 2 };
    const TfLiteLSTMParams *params = node->params;
    if (params == NULL || params->kernel_type != kTfLiteLSTMBasicKernel) return by_rows(in, count, out, node);
    double width = dim(in[0], 1);
    return count > WEIGHTS && in[WEIGHTS] != NULL && width > 0 ? elements(in[0]) / width * elements(in[WEIGHTS]) : 0;
}

// A matrix [units, width], whose input may be of any shape.
static double fully_connected(const struct hl_model_tensor *const *in, int count, const struct hl_model_tensor *out,
                              const struct hl_model_node *node)
{
    (void)count, (void)out, (void)node;
    return elements(in[0]) * (in[1]->rank > 0 ? in[1]->dims[0] : 1);
}

static const struct {
    int builtin, inputs; // inputs that must be present
    rule *count;
} rules[] = {
    {kTfLiteBuiltinConv2d, 2, by_filter},
    {kTfLiteBuiltinDepthwiseConv2d, 2, by_last_channel},
    {kTfLiteBuiltinConv3d, 2, by_last_channel},
    {kTfLiteBuiltinTransposeConv, 3, by_input},
    {kTfLiteBuiltinConv3dTranspose, 3, by_input},
    {kTfLiteBuiltinFullyConnected, 2, fully_connected},
    {kTfLiteBuiltinBatchMatmul, 2, matrix_product},
    {kTfLiteBuiltinLstm, 1, lstm},
    {kTfLiteBuiltinUnidirectionalSequenceLstm, 1, by_rows},
    {kTfLiteBuiltinBidirectionalSequenceLstm, 1, by_rows},
    {kTfLiteBuiltinRnn, 1, by_rows},
    {kTfLiteBuiltinUnidirectionalSequenceRnn, 1, by_rows},
    {kTfLiteBuiltinBidirectionalSequenceRnn, 1, by_rows},
    {kTfLiteBuiltinSvdf, 1, by_rows},
};

static double multiply_adds(const struct hl_model_code *code, const struct hl_model_subgraph *subgraph,
                            const struct hl_model_node *node)
{
    enum { MAX_INPUTS = 64 };
    const struct hl_model_tensor *in[MAX_INPUTS] = {NULL};
    int count = node->input_count < MAX_INPUTS ? node->input_count : MAX_INPUTS;
    for (int i = 0; i < count; i++)
        if (node->inputs[i] >= 0) in[i] = &subgraph->tensors[node->inputs[i]];
    if (code->custom_name != NULL || node->output_count == 0 || node->outputs[0] < 0) return 0;
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        if (rules[r].builtin != code->builtin || count < rules[r].inputs) continue;
        for (int i = 0; i < rules[r].inputs; i++)
            if (in[i] == NULL) return 0;
        return rules[r].count(in, count, &subgraph->tensors[node->outputs[0]], node);
    }
    return 0;
}

// ---- parameters and bytes -----------------------------------------------------------------------

// Integers without a scale are axes, shapes, indices; the rest of the constants was learned.
static bool is_parameter(const struct hl_model_tensor *tensor)
{
    if (tensor->data == NULL || tensor->type == kTfLiteString || tensor->type == kTfLiteBool) return false;
    enum hl_element_view view = hl_element_type(tensor->type).view;
    return view == HL_ELEMENT_REAL || view == HL_ELEMENT_COMPLEX || tensor->quantization.type != kTfLiteNoQuantization;
}

static double bytes_of(const struct hl_model_tensor *tensor)
{
    if (tensor->data != NULL) return (double)tensor->bytes;
    struct hl_element_type type = hl_element_type(tensor->type);
    return elements(tensor) * type.bits / 8 * (type.view == HL_ELEMENT_COMPLEX ? 2 : 1);
}

static bool seen_before(const int *tensors, int at)
{
    for (int i = 0; i < at; i++)
        if (tensors[i] == tensors[at]) return true;
    return false;
}

struct hl_node_work hl_node_work(const TfLiteModel *model, const struct hl_model_subgraph *subgraph,
                                 const struct hl_model_node *node)
{
    struct hl_node_work work = {.multiply_adds = multiply_adds(&model->codes[node->code], subgraph, node)};
    bool computes = false; // something flows in
    for (int i = 0; i < node->input_count; i++) {
        if (node->inputs[i] < 0 || seen_before(node->inputs, i)) continue;
        const struct hl_model_tensor *tensor = &subgraph->tensors[node->inputs[i]];
        if (is_parameter(tensor)) work.parameters += elements(tensor);
        work.bytes += bytes_of(tensor);
        if (tensor->data == NULL) computes = true;
    }
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0) work.bytes += bytes_of(&subgraph->tensors[node->outputs[i]]);
    if (!computes) work.bytes = 0;
    return work;
}

// A constant that some node reads: its data tells it apart, in which tensors may share.
struct constant {
    const void *data;
    double elements;
};

static int compare_constants(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct constant *)a)->data, y = (uintptr_t)((const struct constant *)b)->data;
    return (x > y) - (x < y);
}

static double read_parameters(const struct hl_model_subgraph *subgraph)
{
    struct constant *constants = hl_alloc((size_t)subgraph->tensor_count, sizeof *constants);
    bool *read = hl_alloc((size_t)subgraph->tensor_count, sizeof *read);
    for (int n = 0; n < subgraph->node_count; n++)
        for (int i = 0; i < subgraph->nodes[n].input_count; i++)
            if (subgraph->nodes[n].inputs[i] >= 0) read[subgraph->nodes[n].inputs[i]] = true;
    size_t count = 0;
    for (int i = 0; i < subgraph->tensor_count; i++)
        if (read[i] && is_parameter(&subgraph->tensors[i]))
            constants[count++] = (struct constant){subgraph->tensors[i].data, elements(&subgraph->tensors[i])};
    qsort(constants, count, sizeof *constants, compare_constants);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || constants[i].data != constants[i - 1].data) sum += constants[i].elements;
    free(read);
    free(constants);
    return sum;
}

struct hl_node_work hl_model_work(const TfLiteModel *model)
{
    struct hl_node_work sum = {0};
    for (int s = 0; s < model->subgraph_count; s++) {
        const struct hl_model_subgraph *subgraph = &model->subgraphs[s];
        for (int n = 0; n < subgraph->node_count; n++) {
            struct hl_node_work work = hl_node_work(model, subgraph, &subgraph->nodes[n]);
            sum.multiply_adds += work.multiply_adds;
            sum.bytes += work.bytes;
        }
        sum.parameters += read_parameters(subgraph);
    }
    return sum;
}

double hl_node_work_intensity(const struct hl_node_work *work)
{
    return work->bytes > 0 ? 2 * work->multiply_adds / work->bytes : 0;
}

// ---- shown --------------------------------------------------------------------------------------

void hl_node_work_add_json(cJSON *json, const struct hl_node_work *work)
{
    cJSON_AddNumberToObject(json, "multiply_adds", work->multiply_adds);
    cJSON_AddNumberToObject(json, "parameters", work->parameters);
    cJSON_AddNumberToObject(json, "bytes_moved", work->bytes);
    cJSON_AddNumberToObject(json, "operations_per_byte", hl_node_work_intensity(work));
}

void hl_format_count(char *text, size_t size, double count)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    size_t unit = 0;
    for (; count >= 999.5 && unit + 1 < sizeof units / sizeof units[0]; unit++) count /= 1000;
    int digits = unit == 0 ? 0 : count < 9.995 ? 2 : count < 99.95 ? 1 : 0;
    snprintf(text, size, "%.*f%s", digits, count, units[unit]);
}
