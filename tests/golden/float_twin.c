// SPDX-License-Identifier: Apache-2.0
// See float_twin.h. The verified model's structs are changed in place, in a copy of the model that nobody else has.
#include "float_twin.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/alloc.h"
#include "../../tools/element.h"
#include "halite/halite.h"
#include "model/model.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api_experimental.h"

struct golden_twin {
    TfLiteModel *model;
    TfLiteInterpreter *interpreter; // with the reference kernels
    TfLiteInterpreter *fast;        // with the fast kernels, which add in another order
    float **floats;                 // of each tensor of the first subgraph that became floats, else NULL
    struct weights *weights;
    int count;
    bool first_step_done;
};

// What a tensor was.
struct weights {
    bool turned;
    TfLiteType type;
    struct hl_model_quantization quantization;
};

// ---- which tensors ------------------------------------------------------------------------------

// The input that holds activations, of nodes that round them; -1: it is none.
static int activations_of(int builtin)
{
    switch (builtin) {
    case kTfLiteBuiltinConv2d:
    case kTfLiteBuiltinDepthwiseConv2d:
    case kTfLiteBuiltinFullyConnected:
    case kTfLiteBuiltinBatchMatmul:
    case kTfLiteBuiltinLstm:
    case kTfLiteBuiltinUnidirectionalSequenceLstm: return 0;
    case kTfLiteBuiltinTransposeConv: return 2;
    default: return -1;
    }
}

static bool is_short(const struct hl_model_tensor *tensor)
{
    struct hl_element_type how = hl_element_type(tensor->type);
    return how.view == HL_ELEMENT_SIGNED && how.bits <= 8 && tensor->quantization.scale_count > 0;
}

// ---- to floats ----------------------------------------------------------------------------------

static float real_of(const struct weights *was, const struct hl_model_tensor *tensor, const void *data, int64_t i)
{
    const struct hl_model_quantization *q = &was->quantization;
    int64_t inner = 1;
    for (int d = q->dimension + 1; d < tensor->rank; d++) inner *= tensor->dims[d];
    int channel = q->scale_count > 1 ? (int)(i / inner % q->scale_count) : 0;
    return q->scales[channel] * (float)hl_element_signed(data, hl_element_type(was->type).bits, i);
}

static int64_t elements_of(const struct hl_model_tensor *tensor)
{
    int64_t count = 1;
    for (int d = 0; d < tensor->rank; d++) count *= tensor->dims[d];
    return count;
}

// Where stored elements of a sparse tensor lie: dense or compressed dimensions of the traversal, then blocks.
static void scatter(const struct hl_model_tensor *tensor, int level, int64_t at, const int *places, const float *from,
                    int64_t *used, float *to)
{
    const struct hl_model_sparsity *sparsity = tensor->sparsity;
    int next[16];
    memcpy(next, places, sizeof next);
    if (level == sparsity->dimension_count) {
        int dims[16] = {0}, blocks[16];
        for (int d = 0; d < 16; d++) blocks[d] = 1;
        for (int b = 0; b < sparsity->block_map_count; b++)
            blocks[sparsity->block_map[b]] = sparsity->dimensions[tensor->rank + b].dense_size;
        for (int l = 0; l < sparsity->dimension_count; l++) {
            int d = sparsity->order[l];
            if (d < tensor->rank) dims[d] += places[l] * blocks[d];
        }
        for (int l = 0; l < sparsity->dimension_count; l++) {
            int d = sparsity->order[l];
            if (d >= tensor->rank) dims[sparsity->block_map[d - tensor->rank]] += places[l];
        }
        int64_t place = 0;
        for (int d = 0; d < tensor->rank; d++) place = place * tensor->dims[d] + dims[d];
        to[place] = from[(*used)++];
        return;
    }
    const struct hl_model_sparse_dimension *dimension = &sparsity->dimensions[level];
    bool dense = dimension->format == kTfLiteDimDense;
    int64_t begin = dense ? 0 : dimension->segments[at],
            end = dense ? dimension->dense_size : dimension->segments[at + 1];
    for (int64_t i = begin; i < end; i++) {
        next[level] = dense ? (int)i : dimension->indices[i];
        scatter(tensor, level + 1, dense ? at * dimension->dense_size + i : i, next, from, used, to);
    }
}

// Stored numbers of a sparse tensor, laid out densely, then times their channel's scale.
static void fill(const struct weights *was, const struct hl_model_tensor *tensor, float *floats)
{
    int64_t count = elements_of(tensor), used = 0;
    int bits = hl_element_type(was->type).bits;
    if (!tensor->sparsity) {
        for (int64_t i = 0; i < count; i++) floats[i] = real_of(was, tensor, tensor->data, i);
        return;
    }
    int64_t stored = (int64_t)tensor->bytes * 8 / bits;
    float *codes = hl_alloc_grow(NULL, (size_t)stored + 1, sizeof *codes);
    for (int64_t i = 0; i < stored; i++) codes[i] = (float)hl_element_signed(tensor->data, bits, i);
    memset(floats, 0, (size_t)count * sizeof *floats);
    scatter(tensor, 0, 0, (int[16]){0}, codes, &used, floats);
    free(codes);
    const struct hl_model_quantization *q = &was->quantization;
    int64_t inner = 1;
    for (int d = q->dimension + 1; d < tensor->rank; d++) inner *= tensor->dims[d];
    for (int64_t i = 0; i < count; i++) floats[i] *= q->scales[q->scale_count > 1 ? i / inner % q->scale_count : 0];
}

static void turn(struct golden_twin *twin, int index)
{
    struct hl_model_tensor *tensor = (struct hl_model_tensor *)(uintptr_t)&twin->model->subgraphs[0].tensors[index];
    struct weights *was = &twin->weights[index];
    if (was->turned) return;
    *was = (struct weights){true, tensor->type, tensor->quantization};
    if (tensor->data) {
        size_t count = (size_t)elements_of(tensor);
        twin->floats[index] = hl_alloc_grow(NULL, count + 1, sizeof(float));
        fill(was, tensor, twin->floats[index]);
        tensor->data = twin->floats[index];
        tensor->bytes = count * sizeof(float);
    }
    tensor->type = kTfLiteFloat32;
    tensor->sparsity = NULL;
    tensor->quantization = (struct hl_model_quantization){.scales_tensor = -1, .zero_points_tensor = -1};
}

static bool turn_all(struct golden_twin *twin)
{
    const struct hl_model_subgraph *graph = &twin->model->subgraphs[0];
    bool any = false;
    for (int n = 0; n < graph->node_count; n++) {
        const struct hl_model_node *node = &graph->nodes[n];
        int x = activations_of(twin->model->codes[node->code].builtin);
        if (x < 0 || x >= node->input_count || node->inputs[x] < 0) continue;
        if (graph->tensors[node->inputs[x]].type != kTfLiteFloat32) continue;
        for (int i = 0; i < node->input_count; i++) {
            if (i == x || node->inputs[i] < 0 || !is_short(&graph->tensors[node->inputs[i]])) continue;
            turn(twin, node->inputs[i]);
            any = true;
        }
    }
    return any;
}

struct golden_twin *golden_twin_create(const struct golden_case *c)
{
    struct golden_twin *twin = hl_alloc_grow(NULL, 1, sizeof *twin);
    *twin = (struct golden_twin){.model = TfLiteModelCreateFromFile(c->model_path)};
    if (twin->model) {
        twin->count = twin->model->subgraphs[0].tensor_count;
        twin->floats = hl_alloc_grow(NULL, (size_t)twin->count + 1, sizeof *twin->floats);
        twin->weights = hl_alloc_grow(NULL, (size_t)twin->count + 1, sizeof *twin->weights);
        memset(twin->floats, 0, (size_t)twin->count * sizeof *twin->floats);
        memset(twin->weights, 0, (size_t)twin->count * sizeof *twin->weights);
        if (turn_all(twin)) {
            TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
            HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsReference);
            HaliteInterpreterOptionsSetPreserveTensors(options, true);
            twin->interpreter = TfLiteInterpreterCreate(twin->model, options);
            HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsFast);
            twin->fast = TfLiteInterpreterCreate(twin->model, options);
            TfLiteInterpreterOptionsDelete(options);
        }
    }
    if (twin->interpreter && twin->fast) return twin;
    golden_twin_destroy(twin);
    return NULL;
}

void golden_twin_destroy(struct golden_twin *twin)
{
    if (!twin) return;
    TfLiteInterpreterDelete(twin->interpreter);
    TfLiteInterpreterDelete(twin->fast);
    TfLiteModelDelete(twin->model);
    for (int i = 0; i < twin->count; i++) free(twin->floats[i]);
    free(twin->floats);
    free(twin->weights);
    free(twin);
}

// ---- running ------------------------------------------------------------------------------------

static bool set_input(const struct golden_twin *twin, TfLiteInterpreter *interpreter, const struct golden_tensor *in,
                      const unsigned char *data)
{
    const struct hl_model_subgraph *graph = &twin->model->subgraphs[0];
    int index = graph->inputs[in->index];
    TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(interpreter, in->index);
    if (!twin->weights[index].turned)
        return TfLiteTensorCopyFromBuffer(tensor, data + in->offset, in->bytes) == kTfLiteOk;
    float *floats = TfLiteTensorData(tensor);
    for (size_t i = 0; i < TfLiteTensorByteSize(tensor) / sizeof *floats; i++)
        floats[i] = real_of(&twin->weights[index], &graph->tensors[index], data + in->offset, (int64_t)i);
    return true;
}

static bool run(const struct golden_twin *twin, TfLiteInterpreter *interpreter, const struct golden_step *step,
                const unsigned char *data)
{
    bool resized = !twin->first_step_done, ok = true;
    for (int i = 0; i < step->in_count && ok; i++) {
        const struct golden_tensor *in = &step->ins[i];
        const TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(interpreter, in->index);
        bool same = tensor && TfLiteTensorNumDims(tensor) == in->rank;
        for (int d = 0; d < in->rank && same; d++) same = TfLiteTensorDim(tensor, d) == in->dims[d];
        if (same) continue;
        ok = tensor && TfLiteInterpreterResizeInputTensor(interpreter, in->index, in->dims, in->rank) == kTfLiteOk;
        resized = true;
    }
    if (ok && resized) ok = TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk;
    if (ok && step->reset) ok = TfLiteInterpreterResetVariableTensors(interpreter) == kTfLiteOk;
    for (int i = 0; i < step->in_count && ok; i++) ok = set_input(twin, interpreter, &step->ins[i], data);
    return ok && TfLiteInterpreterInvoke(interpreter) == kTfLiteOk;
}

bool golden_twin_run(struct golden_twin *twin, const struct golden_step *step, const unsigned char *data)
{
    bool ok = run(twin, twin->interpreter, step, data) && run(twin, twin->fast, step, data);
    twin->first_step_done = true;
    return ok;
}

const TfLiteTensor *golden_twin_output(const struct golden_twin *twin, int index)
{
    return TfLiteInterpreterGetOutputTensor(twin->interpreter, index);
}

double golden_twin_spread(const struct golden_twin *twin, int index)
{
    const TfLiteTensor *a = golden_twin_output(twin, index), *b = TfLiteInterpreterGetOutputTensor(twin->fast, index);
    const float *plain = TfLiteTensorData(a), *fast = TfLiteTensorData(b);
    double largest = 0;
    for (size_t i = 0; i < TfLiteTensorByteSize(a) / sizeof *plain; i++) {
        double difference = fabs((double)plain[i] - (double)fast[i]);
        if (difference > largest) largest = difference;
    }
    return largest;
}

// ---- how far rounding carries -------------------------------------------------------------------

// The largest sum of magnitudes that one output's weights have. Channels are the first axis, of DEPTHWISE_CONV_2D the
// last, of BATCH_MATMUL either of the last two: there both are tried.
static double largest_sum(const float *weights, int64_t count, int64_t channels, bool last)
{
    double largest = 0;
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0;
        for (int64_t i = 0; i < count / channels; i++)
            sum += fabs((double)weights[last ? i * channels + c : c * (count / channels) + i]);
        largest = fmax(largest, sum);
    }
    return largest;
}

// Half a step of a row is at most that of a row with all numbers of the tensor: a symmetric row's step is a 127th of
// its largest magnitude, that of an asymmetric one a 255th of its range, which is not more than twice the magnitude.
static double half_step(const TfLiteTensor *x)
{
    const float *values = TfLiteTensorData(x);
    double largest = 0;
    for (size_t i = 0; i < TfLiteTensorByteSize(x) / sizeof *values; i++)
        largest = fmax(largest, fabs((double)values[i]));
    return largest / 127 / 2;
}

double golden_twin_rounding(const struct golden_twin *twin)
{
    const struct hl_model_subgraph *graph = &twin->model->subgraphs[0];
    if (graph->node_count != 1) return INFINITY;
    const struct hl_model_node *node = &graph->nodes[0];
    int builtin = twin->model->codes[node->code].builtin, x = activations_of(builtin);
    if (builtin == kTfLiteBuiltinLstm || builtin == kTfLiteBuiltinUnidirectionalSequenceLstm) return INFINITY;
    const TfLiteTensor *weights = TfLiteInterpreterGetTensor(twin->interpreter, node->inputs[1]);
    const TfLiteTensor *activations = TfLiteInterpreterGetTensor(twin->interpreter, node->inputs[x]);
    int rank = TfLiteTensorNumDims(weights);
    int64_t count = (int64_t)(TfLiteTensorByteSize(weights) / sizeof(float));
    const float *floats = TfLiteTensorData(weights);
    double sum = 0;
    if (builtin == kTfLiteBuiltinBatchMatmul) {
        int64_t rows = TfLiteTensorDim(weights, rank - 2), columns = TfLiteTensorDim(weights, rank - 1);
        for (int64_t at = 0; at < count; at += rows * columns)
            sum = fmax(sum, fmax(largest_sum(floats + at, rows * columns, rows, false),
                                 largest_sum(floats + at, rows * columns, columns, true)));
    } else {
        bool last = builtin == kTfLiteBuiltinDepthwiseConv2d;
        sum = largest_sum(floats, count, TfLiteTensorDim(weights, last ? rank - 1 : 0), last);
    }
    return half_step(activations) * sum;
}
