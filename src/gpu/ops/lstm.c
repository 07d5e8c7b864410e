// SPDX-License-Identifier: Apache-2.0
// LSTM (both kernels) and UNIDIRECTIONAL_SEQUENCE_LSTM in float. With s for the sigmoid, (.) for the product of
// elements, and the states h and c, each time step computes
//     gate = W x + R h + P (.) c + b                  of input, forget, cell and output
//     c    = clip(s(forget) (.) c + s(input) (.) activation(cell)),  h = s(output) (.) activation(c)
// Without an input gate, 1 - s(forget) takes its place. P of the output gate multiplies the new c. With normalization a
// gate is n (.) normalized(W x + R h + P (.) c) + b. With a projection h = clip(Q h + q).
// W x + b of all steps is one product. The states are a value of two columns, h and c. Each step reads one such value
// and writes another. With a projection there is a third one for the h before it. The gates are stored one after the
// other, each padded to whole slices.
#include <stdlib.h>
#include <string.h>

#include "gpu/graph/convert.h"
#include "gpu/ops/affine.h"
#include "gpu/ops/concatenation.h"
#include "gpu/ops/convolve.h"
#include "tensorflow/lite/builtin_ops.h"

enum { MAX_TIMES = 1024 }; // each step takes three or four dispatches

#define GATE_NAMES(X) X(INPUT) X(FORGET) X(CELL) X(OUTPUT)
enum gate { GATE_NAMES(GPU_VALUE) GATES };

// ---- kernels ------------------------------------------------------------------------------------

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off
#define ADD_PRODUCT(V, AT)                              \
    sum = mad(to_acc4(k(AT)), V.x, sum);                \
    sum = mad(to_acc4(k(AT + 1)), V.y, sum);            \
    sum = mad(to_acc4(k(AT + 2)), V.z, sum);            \
    sum = mad(to_acc4(k(AT + 3)), V.w, sum);

static const struct gpu_kernel put_kernel = {
    .name = "lstm_put",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "states"}},
    .params = {"position"}, // column
    .body = GPU_TEXT(
        if (GID0 >= x_s || GID1 >= x_b) return;
        write_states(mki4(P_position.x, 0, GID0, GID1), read_x(mki4(0, 0, GID0, GID1)));
    ),
};

// P_position: the column, the row of y.
static const struct gpu_kernel take_kernel = {
    .name = "lstm_take",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "states"}, {GPU_OUT, "y"}},
    .params = {"position"},
    GPU_CONSTANTS({"TIME_MAJOR", 0}),
    .body = GPU_TEXT(
        if (GID0 >= y_s || GID1 >= states_b) return;
        int4 p = mki4(P_position.y, 0, GID0, GID1);
        if (TIME_MAJOR == 1) p = mki4(GID1, 0, GID0, P_position.y);
        write_y(p, read_states(mki4(P_position.x, 0, GID0, GID1)));
    ),
};

// x + R h + P (.) c. P_step: the step, slices of h and of a gate. k: R, then P.
static const struct gpu_kernel gates_kernel = {
    .name = "lstm_gates",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_IN, "states"}, {GPU_WEIGHTS, "k"}, {GPU_OUT, "y"}},
    .params = {"step"},
    GPU_CONSTANTS({"TIME_MAJOR", 0}, {"PEEPHOLE", 0}),
    .body = GPU_TEXT_OF(
        int q = GID0;
        int n = GID1;
        if (q >= y_s || n >= y_b) return;
        int4 p = mki4(P_step.x, 0, q, n);
        if (TIME_MAJOR == 1) p = mki4(n, 0, q, P_step.x);
        acc4 sum = to_acc4(read_x(p));
        for (int s = 0; s < P_step.y; s += 1) {
            acc4 h = to_acc4(read_states(mki4(0, 0, s, n)));
            int at = (q * P_step.y + s) * 4;
            ADD_PRODUCT(h, at)
        }
        if (PEEPHOLE == 1) {
            acc4 c = to_acc4(read_states(mki4(1, 0, q % P_step.z, n)));
            sum += to_acc4(k(y_s * P_step.y * 4 + q)) * c;
        }
        write_y(mki4(0, 0, q, n), to_real4(sum));
    ),
};

// A work-group computes a batch row. P_step: slices and number of cells. P_clip: whether to clip, the limit. k: with
// normalization n and then b of all gates; then P of the output gate.
#define GATE(G) to_acc4(read_gates(mki4(0, 0, G * P_step.x + s, n)))
#define NORMED(V, G, MEAN, SCALE) \
    ((V - splatf4(MEAN)) * (SCALE) * to_acc4(k(G * P_step.x + s)) + to_acc4(k((4 + G) * P_step.x + s)))
#define SIGMOID(V) (one / (exp(min(-(V), splatf4(80.0f))) + one))
#define ACTIVATE(V)                                                                        \
    if (ACTIVATION == RELU) V = max(V, splatf4(0.0f));                                     \
    if (ACTIVATION == RELU_N1_TO_1) V = min(max(V, splatf4(-1.0f)), one);                  \
    if (ACTIVATION == RELU6) V = min(max(V, splatf4(0.0f)), splatf4(6.0f));                \
    if (ACTIVATION == TANH) V = tanh(min(max(V, splatf4(-15.0f)), splatf4(15.0f)));        \
    if (ACTIVATION == LOGISTIC) V = SIGMOID(V);
#define REDUCE(V)                                                                          \
    parts[LID0] = V;                                                                       \
    BARRIER;                                                                               \
    UNROLL for (int apart = GROUP_X / 2; apart > 0; apart /= 2) {                          \
        if (LID0 < apart) parts[LID0] = parts[LID0] + parts[LID0 + apart];                 \
        BARRIER;                                                                           \
    }                                                                                      \
    V = parts[0];                                                                          \
    BARRIER;
#define EACH_SLICE for (int s = LID0; s < P_step.x; s += GROUP_X)
// The cells that pad the last slice are zero, so that their distance from the mean is the mean. INVERSE subtracts them.
#define INVERSE(SQUARES, MEAN) rsqrt(max((SQUARES - MEAN * MEAN * filling) / cells, 0.0f) + 1.0e-8f)

// P of the output gate multiplies the new cell, so that the normalization of this gate takes two more passes over the
// cells: one for the mean, one for the deviation, one for the results. There is no room to keep what a pass computes
// for the next.
static const struct gpu_kernel cell_kernel = {
    .name = "lstm_cell",
    .group = {64, 1, 1},
    .args = {{GPU_IN, "gates"}, {GPU_IN, "states"}, {GPU_WEIGHTS, "k"}, {GPU_OUT, "next"}},
    .params = {"step", "clip"},
    GPU_CONSTANTS({"NORM", 0}, {"PEEPHOLE", 0}, {"INPUT_GATE", 1}, {"ACTIVATION", kTfLiteActTanh}),
    .value_names = {GATE_NAMES(GPU_VALUE_NAME), "LINEAR RELU RELU_N1_TO_1 RELU6 TANH SIGN_BIT LOGISTIC "},
    .shared = {"float4 parts[GROUP_X]"},
    .body = GPU_TEXT_OF(
        int n = GROUP1;
        acc4 one = splatf4(1.0f);
        acc4 mean = splatf4(0.0f);
        acc4 scale = one;
        acc4 total = mean;
        float cells = to_float(P_step.y);
        float filling = to_float(P_step.x * 4) - cells;
        if (NORM == 1) {
            EACH_SLICE total += mkf4(dot4(GATE(INPUT), one), dot4(GATE(FORGET), one), dot4(GATE(CELL), one), 0.0f);
            REDUCE(total)
            mean = total * (1.0f / cells);
            total = splatf4(0.0f);
            EACH_SLICE {
                acc4 a = GATE(INPUT) - splatf4(mean.x);
                acc4 b = GATE(FORGET) - splatf4(mean.y);
                acc4 c = GATE(CELL) - splatf4(mean.z);
                total += mkf4(dot4(a, a), dot4(b, b), dot4(c, c), 0.0f);
            }
            REDUCE(total)
            scale = mkf4(INVERSE(total.x, mean.x), INVERSE(total.y, mean.y), INVERSE(total.z, mean.z), 1.0f);
        }
        int last = pick(NORM == 1, 2, 0);
        for (int pass = 0; pass <= last; pass += 1) {
            total = splatf4(0.0f);
            EACH_SLICE {
                acc4 forget = GATE(FORGET);
                acc4 cell = GATE(CELL);
                if (NORM == 1) forget = NORMED(forget, FORGET, mean.y, scale.y);
                if (NORM == 1) cell = NORMED(cell, CELL, mean.z, scale.z);
                forget = SIGMOID(forget);
                acc4 enter = one - forget;
                if (INPUT_GATE == 1) {
                    enter = GATE(INPUT);
                    if (NORM == 1) enter = NORMED(enter, INPUT, mean.x, scale.x);
                    enter = SIGMOID(enter);
                }
                ACTIVATE(cell)
                cell = forget * to_acc4(read_states(mki4(1, 0, s, n))) + enter * cell;
                float clip = bits_to_float(P_clip.y);
                if (P_clip.x == 1) cell = min(max(cell, splatf4(-clip)), splatf4(clip));
                if (pass == 0) write_next(mki4(1, 0, s, n), to_real4(cell));
                acc4 leave = GATE(OUTPUT);
                if (PEEPHOLE == 1) leave += to_acc4(k(NORM * 8 * P_step.x + s)) * cell;
                acc4 distance = leave - splatf4(mean.w);
                if (NORM == 1) total.w += pick(pass == 0, dot4(leave, one), dot4(distance, distance));
                if (pass == last) {
                    if (NORM == 1) leave = NORMED(leave, OUTPUT, mean.w, scale.w);
                    ACTIVATE(cell)
                    write_next(mki4(0, 0, s, n), to_real4(SIGMOID(leave) * cell));
                }
            }
            if (NORM == 1) {
                REDUCE(total)
                if (pass == 0) mean.w = total.w / cells;
                if (pass == 1) scale.w = INVERSE(total.w, mean.w);
            }
        }
    ),
};

// Projects h and copies c. P_step: slices of cells and of h. k: Q, then q.
static const struct gpu_kernel project_kernel = {
    .name = "lstm_project",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "states"}, {GPU_WEIGHTS, "k"}, {GPU_OUT, "next"}},
    .params = {"step", "clip"},
    .body = GPU_TEXT_OF(
        int q = GID0;
        int n = GID1;
        if (n >= states_b) return;
        if (q < P_step.x) write_next(mki4(1, 0, q, n), read_states(mki4(1, 0, q, n)));
        if (q >= P_step.y) return;
        acc4 sum = to_acc4(k(P_step.y * P_step.x * 4 + q));
        for (int s = 0; s < P_step.x; s += 1) {
            acc4 h = to_acc4(read_states(mki4(0, 0, s, n)));
            int at = (q * P_step.x + s) * 4;
            ADD_PRODUCT(h, at)
        }
        if (P_clip.x == 1) sum = min(max(sum, splatf4(-bits_to_float(P_clip.y))), splatf4(bits_to_float(P_clip.y)));
        write_next(mki4(0, 0, q, n), to_real4(sum));
    ),
};
// clang-format on

// ---- a layer ------------------------------------------------------------------------------------

// The tensors of a full layer: four of each kind, and three peepholes, because the cell gate has none.
enum { W = 1, R = 5, P = 9, B = 12, Q = 16, Q_BIAS = 17, STATE_H = 18, STATE_C = 19, NORM = 20 };
// The tensors of a basic layer, whose gates are rows of one matrix with the columns x and h.
enum { BASIC_H = 1, BASIC_WEIGHTS = 2, BASIC_BIAS = 3, BASIC_C = 4 };
static const int basic_rows[GATES] = {0, 2, 1, 3};

static int peephole_of(int gate)
{
    return gate == CELL ? -1 : gate == OUTPUT ? P + 2 : P + gate;
}

// A matrix of the model: element (row, column) is rows[row * stride + column]. NULL stands for zeros.
struct matrix {
    const float *rows;
    int64_t stride;
};

struct layer {
    const struct gpu_value *x;
    struct gpu_value *h, *c; // before the first step
    int batch, times, inputs, cells, outputs;
    bool time_major, diagonal, has_input_gate, has_peepholes;
    TfLiteFusedActivation activation;
    float cell_clip, projection_clip;
    struct matrix w[GATES], r[GATES];
    const float *bias[GATES], *peephole[GATES], *norm[GATES]; // NULL: none
    struct matrix projection;
    const float *projection_bias;
};

static bool is_basic(int builtin, const void *params)
{
    return builtin == kTfLiteBuiltinLstm && ((const TfLiteLSTMParams *)params)->kernel_type == kTfLiteLSTMBasicKernel;
}

// ---- supported ----------------------------------------------------------------------------------

static bool has(const struct gpu_node_view *view, int input)
{
    return gpu_view_input(view, input) != NULL;
}

// Checks that an input is a constant of this many elements.
static bool check_size(const struct gpu_node_view *view, int input, int64_t elements)
{
    if (!gpu_check_constant(view, input)) return false;
    return hl_elements(gpu_view_input(view, input)) == elements ||
           gpu_refuse(view, DELEGATE_SHAPE, input, "input %d has not the layer's size", input);
}

static bool check_size_if_there(const struct gpu_node_view *view, int input, int64_t elements)
{
    return !has(view, input) || check_size(view, input, elements);
}

static bool check_activation(const struct gpu_node_view *view, TfLiteFusedActivation activation)
{
    if (activation != kTfLiteActNone && gpu_check_activation(view, activation)) return true;
    return gpu_refuse(view, DELEGATE_PARAMETER, -1, "a layer with activation %d", (int)activation);
}

static bool check_states(const struct gpu_node_view *view, int h, int c, int batch, int cells, int *outputs)
{
    const TfLiteTensor *output = gpu_view_input(view, h), *cell = gpu_view_input(view, c);
    if (!output || !cell) return gpu_refuse(view, DELEGATE_INPUT_COUNT, -1, "a state is left out");
    if (output->dims->size != 2 || cell->dims->size != 2)
        return gpu_refuse(view, DELEGATE_RANK, h, "the states must have rank 2");
    *outputs = output->dims->data[1];
    bool fit = output->dims->data[0] == batch && cell->dims->data[0] == batch && cell->dims->data[1] == cells;
    return fit || gpu_refuse(view, DELEGATE_SHAPE, h, "the states do not fit %d rows of %d cells", batch, cells);
}

// Checks that x and the outputs are floats of these shapes.
static bool check_ends(const struct gpu_node_view *view, int rank, int outputs)
{
    const TfLiteTensor *x = gpu_view_input(view, 0), *y = gpu_view_output(view, 0);
    if (hl_is_constant(x)) return gpu_refuse(view, DELEGATE_CONSTANT, 0, "the input is a constant");
    if (x->type != kTfLiteFloat32) return gpu_refuse(view, DELEGATE_TYPE, 0, "a layer of integers");
    bool fit = x->dims->size == rank && y->dims->size == rank && y->dims->data[rank - 1] == outputs;
    for (int i = 0; fit && i < rank - 1; i++) fit = x->dims->data[i] == y->dims->data[i];
    return fit || gpu_refuse(view, DELEGATE_SHAPE, 0, "input and output do not fit each other");
}

static bool check_gates(const struct gpu_node_view *view, bool diagonal, int inputs, int cells, int outputs)
{
    bool norms = has(view, NORM + OUTPUT);
    int64_t recurrent = diagonal ? cells : (int64_t)cells * outputs;
    for (int g = INPUT; g < GATES; g++) {
        if (g == INPUT && !has(view, W)) {
            if (has(view, R) || has(view, B) || has(view, NORM) || has(view, P))
                return gpu_refuse(view, DELEGATE_INPUT_COUNT, W, "half an input gate");
            continue;
        }
        if (!check_size(view, W + g, (int64_t)cells * inputs) || !check_size(view, R + g, recurrent) ||
            !check_size(view, B + g, cells))
            return false;
        if (norms ? !check_size(view, NORM + g, cells) : has(view, NORM + g))
            return gpu_refuse(view, DELEGATE_INPUT_COUNT, NORM + g, "norms of some gates only");
        if (peephole_of(g) >= 0 && !check_size_if_there(view, peephole_of(g), cells)) return false;
    }
    return true;
}

static bool check_full(const struct gpu_node_view *view, int rank, TfLiteFusedActivation activation, bool time_major,
                       bool diagonal)
{
    int count = view->node->inputs->size, outputs;
    static const struct gpu_operands operands = {.inputs = {1, 24}};
    if (!gpu_check_operands(view, &operands) || !check_activation(view, activation)) return false;
    if (count != 20 && count != 24) return gpu_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d inputs", count);
    if (!gpu_check_constant(view, W + OUTPUT)) return false;
    const TfLiteIntArray *x = gpu_view_input(view, 0)->dims, *weights = gpu_view_input(view, W + OUTPUT)->dims;
    if (x->size != rank || weights->size != 2)
        return gpu_refuse(view, DELEGATE_RANK, 0, "the input must have rank %d, the weights 2", rank);
    int batch = x->data[time_major ? 1 : 0], times = rank == 3 ? x->data[time_major ? 0 : 1] : 1;
    int cells = weights->data[0], inputs = weights->data[1];
    if (times > MAX_TIMES) return gpu_refuse(view, DELEGATE_SHAPE, 0, "%d times, at most %d", times, MAX_TIMES);
    if (x->data[rank - 1] != inputs)
        return gpu_refuse(view, DELEGATE_SHAPE, 0, "%d inputs, the weights have %d", x->data[rank - 1], inputs);
    if (!check_states(view, STATE_H, STATE_C, batch, cells, &outputs) || !check_ends(view, rank, outputs)) return false;
    for (int i = STATE_H; i <= STATE_C; i++)
        if (!gpu_view_input(view, i)->is_variable)
            return gpu_refuse(view, DELEGATE_PARAMETER, i, "the state is not a variable");
    if (has(view, Q) ? !check_size(view, Q, (int64_t)outputs * cells) || !check_size_if_there(view, Q_BIAS, outputs)
                     : outputs != cells || has(view, Q_BIAS))
        return gpu_refuse(view, DELEGATE_SHAPE, -1, "%d outputs of %d cells with this projection", outputs, cells);
    return check_gates(view, diagonal, inputs, cells, outputs);
}

static bool check_basic(const struct gpu_node_view *view)
{
    const TfLiteLSTMParams *params = view->node->builtin_data;
    static const struct gpu_operands operands = {.inputs = {5}, .outputs = 4};
    if (!gpu_check_operands(view, &operands) || !check_activation(view, params->activation)) return false;
    if (params->cell_clip != 0 || params->proj_clip != 0)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "the basic kernel does not clip");
    const TfLiteIntArray *x = gpu_view_input(view, 0)->dims, *h = gpu_view_input(view, BASIC_H)->dims;
    if (x->size != 2 || h->size != 2) return gpu_refuse(view, DELEGATE_RANK, 0, "input and states must have rank 2");
    int outputs = h->data[1];
    return check_states(view, BASIC_H, BASIC_C, x->data[0], outputs, &outputs) && check_ends(view, 2, outputs) &&
           check_size(view, BASIC_WEIGHTS, 4 * (int64_t)outputs * (x->data[1] + outputs)) &&
           check_size(view, BASIC_BIAS, 4 * (int64_t)outputs);
}

static bool lstm_supported(const struct gpu_node_view *view)
{
    const TfLiteLSTMParams *params = view->node->builtin_data;
    if (is_basic(kTfLiteBuiltinLstm, params)) return check_basic(view);
    return check_full(view, 2, params->activation, false, false);
}

static bool sequence_supported(const struct gpu_node_view *view)
{
    const TfLiteUnidirectionalSequenceLSTMParams *params = view->node->builtin_data;
    return check_full(view, 3, params->activation, params->time_major, params->diagonal_recurrent_tensors);
}

// ---- from a node to a layer ---------------------------------------------------------------------

static const float *data_of(const struct gpu_node *node, int input)
{
    return input >= 0 && input < node->input_count && node->inputs[input] ? node->inputs[input]->data : NULL;
}

static void read_full(const struct gpu_node *node, struct layer *layer)
{
    layer->h = node->inputs[STATE_H];
    layer->c = node->inputs[STATE_C];
    for (int g = INPUT; g < GATES; g++) {
        layer->w[g] = (struct matrix){data_of(node, W + g), layer->inputs};
        layer->r[g] = (struct matrix){data_of(node, R + g), layer->h->shape.c};
        layer->bias[g] = data_of(node, B + g);
        layer->peephole[g] = data_of(node, peephole_of(g));
        layer->norm[g] = data_of(node, NORM + g);
        layer->has_peepholes = layer->has_peepholes || layer->peephole[g];
    }
    layer->has_input_gate = layer->w[INPUT].rows != NULL;
    layer->projection = (struct matrix){data_of(node, Q), layer->c->shape.c};
    layer->projection_bias = data_of(node, Q_BIAS);
}

static void read_basic(const struct gpu_node *node, struct layer *layer)
{
    int cells = node->inputs[BASIC_H]->shape.c, width = layer->inputs + cells;
    layer->h = node->inputs[BASIC_H];
    layer->c = node->inputs[BASIC_C];
    layer->has_input_gate = true;
    for (int g = INPUT; g < GATES; g++) {
        const float *rows = node->inputs[BASIC_WEIGHTS]->data + (int64_t)basic_rows[g] * cells * width;
        layer->w[g] = (struct matrix){rows, width};
        layer->r[g] = (struct matrix){rows + layer->inputs, width};
        layer->bias[g] = node->inputs[BASIC_BIAS]->data + (int64_t)basic_rows[g] * cells;
    }
}

static struct layer layer_of(const struct gpu_node *node)
{
    const struct gpu_value *x = node->inputs[0];
    struct layer layer = {.x = x, .inputs = x->dims[x->rank - 1], .batch = x->dims[0], .times = 1};
    if (node->builtin == kTfLiteBuiltinLstm) {
        const TfLiteLSTMParams *params = node->params;
        layer.activation = params->activation;
        layer.cell_clip = params->cell_clip;
        layer.projection_clip = params->proj_clip;
    } else {
        const TfLiteUnidirectionalSequenceLSTMParams *params = node->params;
        layer.activation = params->activation;
        layer.cell_clip = params->cell_clip;
        layer.projection_clip = params->proj_clip;
        layer.time_major = params->time_major;
        layer.diagonal = params->diagonal_recurrent_tensors;
        layer.batch = x->dims[params->time_major ? 1 : 0];
        layer.times = x->dims[params->time_major ? 0 : 1];
    }
    if (is_basic(node->builtin, node->params))
        read_basic(node, &layer);
    else
        read_full(node, &layer);
    layer.cells = layer.c->shape.c;
    layer.outputs = layer.h->shape.c;
    return layer;
}

// ---- weights ------------------------------------------------------------------------------------

static int slices_of(int channels)
{
    return (channels + 3) / 4;
}

// Finds element (row, column) of a matrix k that is stored in blocks of four rows by four columns, with the rows in
// slices.
static float *element(struct gpu_weights *k, int row, int column, int column_slices)
{
    return &k->data[(((int64_t)(row / 4) * column_slices + column / 4) * 4 + column % 4) * 4 + row % 4];
}

static struct gpu_weights *recurrent_weights(struct gpu_plan *plan, const struct layer *layer)
{
    int cells = slices_of(layer->cells), outputs = slices_of(layer->outputs);
    size_t products = (size_t)GATES * (size_t)cells * (size_t)outputs * 4;
    struct gpu_weights *k = gpu_plan_weights(plan, products + (size_t)(GATES * cells));
    for (int g = INPUT; k && g < GATES; g++)
        for (int row = 0; row < layer->cells; row++) {
            int at = g * cells * 4 + row;
            const struct matrix *r = &layer->r[g];
            if (r->rows && layer->diagonal) *element(k, at, row, outputs) = r->rows[row];
            for (int i = 0; r->rows && !layer->diagonal && i < layer->outputs; i++)
                *element(k, at, i, outputs) = r->rows[row * r->stride + i];
            if (layer->peephole[g] && g != OUTPUT) k->data[products * 4 + (size_t)at] = layer->peephole[g][row];
        }
    return k;
}

static struct gpu_weights *cell_weights(struct gpu_plan *plan, const struct layer *layer)
{
    size_t cells = (size_t)slices_of(layer->cells), parts = layer->norm[OUTPUT] ? 2 * GATES : 0;
    struct gpu_weights *k = gpu_plan_weights(plan, (parts + 1) * cells);
    if (!k) return NULL;
    size_t bytes = (size_t)layer->cells * sizeof(float);
    for (size_t g = INPUT; parts && g < GATES; g++) {
        if (layer->norm[g]) memcpy(k->data + g * cells * 4, layer->norm[g], bytes);
        if (layer->bias[g]) memcpy(k->data + (GATES + g) * cells * 4, layer->bias[g], bytes);
    }
    if (layer->peephole[OUTPUT]) memcpy(k->data + parts * cells * 4, layer->peephole[OUTPUT], bytes);
    return k;
}

static struct gpu_weights *projection_weights(struct gpu_plan *plan, const struct layer *layer)
{
    int cells = slices_of(layer->cells), outputs = slices_of(layer->outputs);
    size_t products = (size_t)outputs * (size_t)cells * 4;
    struct gpu_weights *k = gpu_plan_weights(plan, products + (size_t)outputs);
    for (int row = 0; k && row < layer->outputs; row++) {
        for (int i = 0; i < layer->cells; i++)
            *element(k, row, i, cells) = layer->projection.rows[row * layer->projection.stride + i];
        if (layer->projection_bias) k->data[products * 4 + (size_t)row] = layer->projection_bias[row];
    }
    return k;
}

// ---- plan ---------------------------------------------------------------------------------------

// Plans W x + b of all steps. With normalization b is added later.
static struct gpu_value *plan_inputs(struct gpu_plan *plan, const struct layer *layer)
{
    int rows = GATES * slices_of(layer->cells) * 4;
    struct gpu_shape shape = layer->x->shape;
    shape.c = rows;
    struct gpu_value *y = gpu_plan_scratch(plan, shape);
    float *weights = calloc((size_t)rows * (size_t)layer->inputs + 1, sizeof *weights);
    float *bias = calloc((size_t)rows, sizeof *bias);
    bool ok = y && weights && bias;
    if (y && !ok) gpu_plan_fail(plan, "out of memory");
    for (int g = INPUT; ok && g < GATES; g++)
        for (int row = 0; row < layer->cells; row++) {
            int64_t at = (int64_t)g * slices_of(layer->cells) * 4 + row;
            const struct matrix *w = &layer->w[g];
            if (w->rows)
                memcpy(weights + at * layer->inputs, w->rows + row * w->stride, (size_t)layer->inputs * sizeof(float));
            if (layer->bias[g] && !layer->norm[OUTPUT]) bias[at] = layer->bias[g][row];
        }
    ok = ok && gpu_convolve(plan, &(struct gpu_convolution){.x = layer->x,
                                                            .y = y,
                                                            .inputs = layer->inputs,
                                                            .outputs = rows,
                                                            GPU_ONE_POSITION,
                                                            .weights = weights,
                                                            .by_output = layer->inputs,
                                                            .by_input = 1,
                                                            .bias = bias});
    free(weights);
    free(bias);
    return ok ? y : NULL;
}

static bool plan_put(struct gpu_plan *plan, const struct gpu_value *state, const struct gpu_value *states, int column)
{
    return gpu_plan_dispatch(plan, &(struct gpu_dispatch_desc){
                                       .kernel = &put_kernel,
                                       .operands = {{.value = state}, {.value = states}},
                                       .params = {{column}},
                                       .grid = {gpu_slices(state->shape), state->shape.b, 1},
                                   });
}

// Copies a column of the states to one time step of y.
static bool plan_take(struct gpu_plan *plan, const struct layer *layer, const struct gpu_value *states,
                      const struct gpu_value *y, int column, int time)
{
    return gpu_plan_dispatch(plan, &(struct gpu_dispatch_desc){
                                       .kernel = &take_kernel,
                                       .operands = {{.value = states}, {.value = y}},
                                       .params = {{column, time}},
                                       .constants = {{"TIME_MAJOR", layer->time_major && y->rank == 3}},
                                       .grid = {gpu_slices(y->shape), layer->batch, 1},
                                   });
}

// The values between dispatches. states: before and after a step, in turns.
struct scratch {
    struct gpu_value *inputs, *gates, *states[2], *unprojected;
};

static bool make_scratch(struct gpu_plan *plan, const struct layer *layer, struct scratch *scratch)
{
    struct gpu_shape gates = {layer->batch, 1, 1, GATES * slices_of(layer->cells) * 4};
    struct gpu_shape states = {layer->batch, 1, 2, layer->cells > layer->outputs ? layer->cells : layer->outputs};
    *scratch = (struct scratch){.inputs = plan_inputs(plan, layer), .gates = gpu_plan_scratch(plan, gates)};
    for (int i = 0; i < 2; i++) scratch->states[i] = gpu_plan_scratch(plan, states);
    if (layer->projection.rows) scratch->unprojected = gpu_plan_scratch(plan, states);
    return scratch->inputs && scratch->gates && scratch->states[0] && scratch->states[1] &&
           (!layer->projection.rows || scratch->unprojected);
}

// Plans all steps. After the last one the states are in states[times % 2].
static bool plan_times(struct gpu_plan *plan, const struct layer *layer, const struct scratch *scratch,
                       const struct gpu_value *y)
{
    int cells = slices_of(layer->cells), outputs = slices_of(layer->outputs);
    bool projected = layer->projection.rows != NULL;
    struct gpu_weights *recurrent = recurrent_weights(plan, layer), *more = cell_weights(plan, layer);
    struct gpu_weights *projection = projected ? projection_weights(plan, layer) : NULL;
    if (!recurrent || !more || (projected && !projection)) return false;
    struct gpu_dispatch_desc sums = {
        .kernel = &gates_kernel,
        .operands = {{.value = scratch->inputs}, {0}, {.weights = recurrent}, {.value = scratch->gates}},
        .params = {{0, outputs, cells}},
        .constants = {{"TIME_MAJOR", layer->time_major}, {"PEEPHOLE", layer->has_peepholes}},
        .grid = {GATES * cells, layer->batch, 1},
    };
    struct gpu_dispatch_desc cell = {
        .kernel = &cell_kernel,
        .operands = {{.value = scratch->gates}, {0}, {.weights = more}},
        .params = {{cells, layer->cells}, {layer->cell_clip > 0, gpu_float_bits(layer->cell_clip)}},
        .constants = {{"NORM", layer->norm[OUTPUT] != NULL},
                      {"PEEPHOLE", layer->peephole[OUTPUT] != NULL},
                      {"INPUT_GATE", layer->has_input_gate},
                      {"ACTIVATION", (int)layer->activation}},
        .grid = {cell_kernel.group[0], layer->batch, 1},
    };
    struct gpu_dispatch_desc project = {
        .kernel = &project_kernel,
        .operands = {{.value = scratch->unprojected}, {.weights = projection}},
        .params = {{cells, outputs}, {layer->projection_clip > 0, gpu_float_bits(layer->projection_clip)}},
        .grid = {cells > outputs ? cells : outputs, layer->batch, 1},
    };
    for (int t = 0; t < layer->times; t++) {
        const struct gpu_value *before = scratch->states[t % 2], *after = scratch->states[(t + 1) % 2];
        sums.params[0][0] = t;
        sums.operands[1].value = cell.operands[1].value = before;
        cell.operands[3].value = projected ? scratch->unprojected : after;
        project.operands[2].value = after;
        if (!gpu_plan_dispatch(plan, &sums) || !gpu_plan_dispatch(plan, &cell) ||
            (projected && !gpu_plan_dispatch(plan, &project)) || !plan_take(plan, layer, after, y, 0, t))
            return false;
    }
    return true;
}

static bool is_read(const struct gpu_value *value)
{
    return value->is_output || value->consumers > 0;
}

static bool plan_beside(struct gpu_plan *plan, struct gpu_value *const *parts, int count, struct gpu_value *y)
{
    TfLiteConcatenationParams params = {.axis = -1};
    struct gpu_node node = {.builtin = kTfLiteBuiltinConcatenation, .params = &params, .input_count = count};
    for (int i = 0; i < count; i++) node.inputs[i] = parts[i];
    node.outputs[node.output_count++] = y;
    return gpu_op_find(kTfLiteBuiltinConcatenation, NULL)->plan(plan, &node);
}

// Plans outputs 2 and 3 of a basic layer, x and h side by side and the gates before their functions, which few graphs
// read.
static bool plan_working_memory(struct gpu_plan *plan, const struct gpu_node *node, const struct layer *layer,
                                const struct gpu_value *gates)
{
    struct gpu_value *const joined[] = {node->inputs[0], layer->h};
    if (is_read(node->outputs[2]) && !plan_beside(plan, joined, 2, node->outputs[2])) return false;
    if (!is_read(node->outputs[3])) return true;
    struct gpu_value *parts[GATES];
    for (int g = INPUT; g < GATES; g++) {
        struct gpu_value *part = gpu_plan_scratch(plan, layer->c->shape);
        struct gpu_affine affine = gpu_affine_identity();
        affine.offset[3] = g * slices_of(layer->cells) * 4;
        if (!part || !gpu_plan_affine(plan, NULL, gates, part, &affine)) return false;
        parts[basic_rows[g]] = part;
    }
    return plan_beside(plan, parts, GATES, node->outputs[3]);
}

// Stores the states after the last step: in variables, and in the outputs of a basic layer.
static bool plan_states(struct gpu_plan *plan, const struct gpu_node *node, const struct layer *layer,
                        const struct gpu_value *states)
{
    bool basic = is_basic(node->builtin, node->params);
    return (!basic || plan_take(plan, layer, states, node->outputs[1], 1, 0)) &&
           (!layer->h->is_output || plan_take(plan, layer, states, layer->h, 0, 0)) &&
           (!layer->c->is_output || plan_take(plan, layer, states, layer->c, 1, 0));
}

static bool plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    struct layer layer = layer_of(node);
    struct scratch scratch;
    return make_scratch(plan, &layer, &scratch) && plan_put(plan, layer.h, scratch.states[0], 0) &&
           plan_put(plan, layer.c, scratch.states[0], 1) && plan_times(plan, &layer, &scratch, node->outputs[0]) &&
           (!is_basic(node->builtin, node->params) || plan_working_memory(plan, node, &layer, scratch.gates)) &&
           plan_states(plan, node, &layer, scratch.states[layer.times % 2]);
}

#define LSTM_KERNELS &put_kernel, &take_kernel, &gates_kernel, &cell_kernel, &project_kernel, GPU_CONVOLVE_KERNELS

// LSTM has two forms with different operands, between which `supported` decides.
const struct gpu_op gpu_op_lstm = {
    .name = "LSTM",
    .max_version = 4,
    .supported = lstm_supported,
    .plan = plan,
    GPU_PARAMS(TfLiteLSTMParams),
    .applies_activation = true,
    .hybrid = true,
    GPU_KERNELS(LSTM_KERNELS, &gpu_kernel_affine, GPU_CONCATENATION_KERNELS),
};
const struct gpu_op gpu_op_unidirectional_sequence_lstm = {
    .name = "UNIDIRECTIONAL_SEQUENCE_LSTM",
    .max_version = 4,
    .supported = sequence_supported,
    .plan = plan,
    GPU_PARAMS(TfLiteUnidirectionalSequenceLSTMParams),
    .applies_activation = true,
    .hybrid = true,
    GPU_KERNELS(LSTM_KERNELS),
};
