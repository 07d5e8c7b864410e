// SPDX-License-Identifier: Apache-2.0
// One case per family of operators that adds up. Operators not named here work element by element: length 1.
#include "accumulation.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

struct shape {
    int rank;
    const int *dims;
};

struct graph {
    const struct hl_model_subgraph *subgraph;
    const TfLiteInterpreter *interpreter; // NULL where it holds another subgraph
};

// Shape of a tensor of the graph; rank 0 for an absent one.
static struct shape shape_of(const struct graph *graph, int tensor)
{
    struct shape shape = {0, NULL};
    if (tensor < 0 || tensor >= graph->subgraph->tensor_count) return shape;
    if (graph->interpreter != NULL) {
        const TfLiteTensor *now = TfLiteInterpreterGetTensor(graph->interpreter, tensor);
        if (now != NULL && now->dims != NULL) return (struct shape){now->dims->size, now->dims->data};
    }
    const struct hl_model_tensor *stored = &graph->subgraph->tensors[tensor];
    return (struct shape){stored->rank, stored->dims};
}

static struct shape input_shape(const struct graph *graph, const struct hl_model_node *node, int i)
{
    return i < node->input_count ? shape_of(graph, node->inputs[i]) : (struct shape){0, NULL};
}

static struct shape output_shape(const struct graph *graph, const struct hl_model_node *node, int i)
{
    return i < node->output_count ? shape_of(graph, node->outputs[i]) : (struct shape){0, NULL};
}

// Product of the dimensions [from, to).
static double product(struct shape shape, int from, int to)
{
    double result = 1;
    for (int i = from; i < to && i < shape.rank; i++) result *= shape.dims[i];
    return result;
}

static double elements(struct shape shape)
{
    return product(shape, 0, shape.rank);
}

static double dim_from_end(struct shape shape, int back)
{
    return shape.rank >= back ? shape.dims[shape.rank - back] : 1;
}

static double largest_dim(struct shape shape)
{
    double largest = 1;
    for (int i = 0; i < shape.rank; i++) largest = fmax(largest, shape.dims[i]);
    return largest;
}

// What one element of the output is reduced from, where every input element goes into one output element.
static double ratio(const struct graph *graph, const struct hl_model_node *node)
{
    double out = elements(output_shape(graph, node, 0));
    return out > 0 ? elements(input_shape(graph, node, 0)) / out : 1;
}

// Recurrent layers: an element of the state is the sum over a row of the input weights and one of the recurrent
// weights; a sequence carries the error of the state from step to step.
static double recurrent(const struct graph *graph, const struct hl_model_node *node, int input_weights,
                        int recurrent_weights, bool sequence, bool time_major)
{
    double row = dim_from_end(input_shape(graph, node, input_weights), 1) +
                 dim_from_end(input_shape(graph, node, recurrent_weights), 1);
    struct shape in = input_shape(graph, node, 0);
    if (!sequence || in.rank < 3) return row;
    return row * in.dims[time_major ? 0 : 1];
}

static double matmul(const struct graph *graph, const struct hl_model_node *node)
{
    const TfLiteBatchMatMulParams *params = node->params;
    return dim_from_end(input_shape(graph, node, 0), params != NULL && params->adj_x ? 2 : 1);
}

static double pool(const struct hl_model_node *node)
{
    const TfLitePoolParams *params = node->params;
    return params != NULL ? (double)params->filter_height * params->filter_width : 1;
}

static double window(const struct hl_model_node *node, struct shape input)
{
    const TfLiteStablehloReduceWindowParams *params = node->params;
    double result = 1;
    for (int i = 0; params != NULL && i < input.rank && i < 8; i++) result *= (double)params->window_dimensions[i];
    return result;
}

// The audio operators: a spectrum of n lines comes from 2 (n - 1) samples, a coefficient from all lines.
static double custom_length(const struct graph *graph, const struct hl_model_node *node, const char *name)
{
    if (strcmp(name, "AudioSpectrogram") == 0) return fmax(1, 2 * (dim_from_end(output_shape(graph, node, 0), 1) - 1));
    if (strcmp(name, "Mfcc") == 0) return dim_from_end(input_shape(graph, node, 0), 1);
    return 1;
}

static double node_length(const struct graph *graph, const struct hl_model_node *node, const struct hl_model_code *code)
{
    struct shape in = input_shape(graph, node, 0), weights = input_shape(graph, node, 1);
    if (code->custom_name != NULL) return custom_length(graph, node, code->custom_name);
    switch (code->builtin) {
    case kTfLiteBuiltinConv2d:        // [out, y, x, in]
    case kTfLiteBuiltinTransposeConv: // the same, behind the shape of the output
        return product(weights, 1, weights.rank);
    case kTfLiteBuiltinDepthwiseConv2d: // [1, y, x, out]
        return product(weights, 1, 3);
    case kTfLiteBuiltinConv3d: // [z, y, x, in, out]
        return product(weights, 0, 4);
    case kTfLiteBuiltinConv3dTranspose: // [z, y, x, out, in]
        return product(weights, 0, 3) * dim_from_end(weights, 1);
    case kTfLiteBuiltinFullyConnected: return dim_from_end(weights, 1);
    case kTfLiteBuiltinBatchMatmul: return matmul(graph, node);
    case kTfLiteBuiltinAveragePool2d:
    case kTfLiteBuiltinL2Pool2d: return pool(node);
    case kTfLiteBuiltinMean:
    case kTfLiteBuiltinSum:
    case kTfLiteBuiltinReduceProd: return ratio(graph, node);
    case kTfLiteBuiltinSoftmax:
    case kTfLiteBuiltinLogSoftmax:
    case kTfLiteBuiltinL2Normalization: return dim_from_end(in, 1);
    case kTfLiteBuiltinLocalResponseNormalization: {
        const TfLiteLocalResponseNormParams *params = node->params;
        return params != NULL ? fmin(2.0 * params->radius + 1, dim_from_end(in, 1)) : 1;
    }
    case kTfLiteBuiltinCumsum: return largest_dim(in);
    case kTfLiteBuiltinAddN: return node->input_count;
    case kTfLiteBuiltinResizeBilinear: return 4;
    case kTfLiteBuiltinRfft2d: // over the last two dimensions
        return dim_from_end(in, 1) * dim_from_end(in, 2);
    case kTfLiteBuiltinSegmentSum:
    case kTfLiteBuiltinUnsortedSegmentSum:
    case kTfLiteBuiltinUnsortedSegmentProd: return elements(weights);
    case kTfLiteBuiltinScatterNd: return elements(in);
    case kTfLiteBuiltinStablehloScatter: return elements(weights);
    case kTfLiteBuiltinEmbeddingLookupSparse: return elements(in);
    case kTfLiteBuiltinStablehloReduceWindow: return window(node, in);
    case kTfLiteBuiltinReduceWindow: return largest_dim(in);
    case kTfLiteBuiltinRnn: return recurrent(graph, node, 1, 2, false, false);
    case kTfLiteBuiltinUnidirectionalSequenceRnn: {
        const TfLiteSequenceRNNParams *params = node->params;
        return recurrent(graph, node, 1, 2, true, params != NULL && params->time_major);
    }
    case kTfLiteBuiltinBidirectionalSequenceRnn: {
        const TfLiteBidirectionalSequenceRNNParams *params = node->params;
        return recurrent(graph, node, 1, 2, true, params != NULL && params->time_major);
    }
    case kTfLiteBuiltinLstm:
        // With five inputs: one matrix over input and state together.
        return node->input_count <= 5 ? dim_from_end(input_shape(graph, node, 2), 1)
                                      : recurrent(graph, node, 2, 6, false, false);
    case kTfLiteBuiltinUnidirectionalSequenceLstm: {
        const TfLiteUnidirectionalSequenceLSTMParams *params = node->params;
        return recurrent(graph, node, 2, 6, true, params != NULL && params->time_major);
    }
    case kTfLiteBuiltinBidirectionalSequenceLstm: {
        const TfLiteBidirectionalSequenceLSTMParams *params = node->params;
        return recurrent(graph, node, 2, 6, true, params != NULL && params->time_major);
    }
    case kTfLiteBuiltinSvdf: { // features, then memory times rank
        const TfLiteSVDFParams *params = node->params;
        double memory = dim_from_end(input_shape(graph, node, 2), 1);
        return dim_from_end(weights, 1) + memory * (params != NULL ? params->rank : 1);
    }
    default: return 1;
    }
}

double golden_longest_accumulation(const TfLiteModel *model, const TfLiteInterpreter *interpreter)
{
    double longest = 1;
    for (int s = 0; s < model->subgraph_count; s++) {
        struct graph graph = {&model->subgraphs[s], s == 0 ? interpreter : NULL};
        for (int n = 0; n < graph.subgraph->node_count; n++) {
            const struct hl_model_node *node = &graph.subgraph->nodes[n];
            longest = fmax(longest, node_length(&graph, node, &model->codes[node->code]));
        }
    }
    return longest;
}
