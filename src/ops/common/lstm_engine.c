// SPDX-License-Identifier: Apache-2.0
// LSTM layers: their tensors and the checks of them, and the step in float, with float or 8-bit
// weights. See lstm_engine.h.
#include "ops/common/lstm_engine.h"

#include <math.h>
#include <string.h>

#include "ops/common/matvec.h"
#include "ops/common/sparse_rows.h"

static const char *const gate_name[HL_LSTM_GATES] = {"input", "forget", "cell", "output"};

// ---- tensors ------------------------------------------------------------------------------------

static const TfLiteTensor *optional(TfLiteContext *ctx, const TfLiteNode *node, int first, int index)
{
    if (first < 0 || first + index >= hl_input_count(node)) return NULL;
    return hl_input(ctx, node, first + index);
}

void hl_lstm_collect(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_lstm_places *places,
                     const struct hl_lstm_options *options, struct hl_lstm *lstm)
{
    *lstm = (struct hl_lstm){.options = *options};
    lstm->input = hl_input(ctx, node, 0);
    lstm->auxiliary = optional(ctx, node, places->auxiliary_input, 0);
    static const int peephole_place[HL_LSTM_GATES] = {0, 1, -1, 2};
    for (int g = 0; g < HL_LSTM_GATES; g++) {
        lstm->input_weights[g] = optional(ctx, node, places->weights, g);
        lstm->recurrent_weights[g] = optional(ctx, node, places->weights, 4 + g);
        lstm->auxiliary_weights[g] = optional(ctx, node, places->auxiliary_weights, g);
        if (peephole_place[g] >= 0) lstm->peephole[g] = optional(ctx, node, places->weights, 8 + peephole_place[g]);
        lstm->bias[g] = optional(ctx, node, places->weights, 11 + g);
        lstm->norm[g] = optional(ctx, node, places->norms, g);
    }
    lstm->projection = optional(ctx, node, places->weights, 15);
    lstm->projection_bias = optional(ctx, node, places->weights, 16);
    lstm->output_state = hl_variable_input(ctx, node, places->states);
    lstm->cell_state = hl_variable_input(ctx, node, places->states + 1);

    // Sizes; hl_lstm_check makes sure that what they are taken from exists.
    const TfLiteTensor *weights = lstm->input_weights[HL_LSTM_OUTPUT];
    const TfLiteTensor *recurrent = lstm->recurrent_weights[HL_LSTM_OUTPUT];
    if (lstm->input && hl_rank(lstm->input) > 0) lstm->inputs = hl_dim(lstm->input, hl_rank(lstm->input) - 1);
    if (lstm->auxiliary && hl_rank(lstm->auxiliary) > 0)
        lstm->auxiliary_inputs = hl_dim(lstm->auxiliary, hl_rank(lstm->auxiliary) - 1);
    if (weights && hl_rank(weights) == 2) lstm->cells = hl_dim(weights, 0);
    if (recurrent && hl_rank(recurrent) == (options->diagonal ? 1 : 2))
        lstm->outputs = hl_dim(recurrent, options->diagonal ? 0 : 1);
}

// ---- checks -------------------------------------------------------------------------------------

struct check {
    TfLiteContext *ctx;
    const TfLiteNode *node;
    enum hl_lstm_kind kind;
};

// rows 0: a vector of `columns` elements.
static TfLiteStatus check_tensor(const struct check *c, const TfLiteTensor *tensor, const char *gate, const char *what,
                                 TfLiteType type, int rows, int columns)
{
    HL_REQUIRE(c->ctx, c->node, tensor, "the %s%s are absent", gate, what);
    HL_REQUIRE(c->ctx, c->node,
               tensor->type == type ||
                   (c->kind == HL_LSTM_HYBRID && type == kTfLiteInt8 && tensor->type == kTfLiteUInt8),
               "the %s%s are %s, not %s", gate, what, hl_type_name(tensor->type), hl_type_name(type));
    HL_REQUIRE(c->ctx, c->node, !tensor->sparsity || (c->kind == HL_LSTM_HYBRID && tensor->type == kTfLiteInt8),
               "sparse %s%s are supported in int8 with float32 inputs only", gate, what);
    HL_TRY(hl_require_sparse_rows(c->ctx, c->node, tensor));
    if (rows > 0)
        HL_REQUIRE(c->ctx, c->node, hl_rank(tensor) == 2 && hl_dim(tensor, 0) == rows && hl_dim(tensor, 1) == columns,
                   "the %s%s do not have the shape [%d, %d]", gate, what, rows, columns);
    else
        HL_REQUIRE(c->ctx, c->node, hl_rank(tensor) == 1 && hl_dim(tensor, 0) == columns,
                   "the %s%s do not have the shape [%d]", gate, what, columns);
    return kTfLiteOk;
}

static TfLiteStatus check_absent(const struct check *c, const TfLiteTensor *tensor, const char *gate, const char *what)
{
    HL_REQUIRE(c->ctx, c->node, !tensor, "the %s%s have nothing to belong to", gate, what);
    return kTfLiteOk;
}

struct types {
    TfLiteType weights, peephole, bias, norm, output_state, cell_state;
};

static TfLiteStatus check_gate(const struct check *c, const struct hl_lstm *lstm, enum hl_lstm_gate g,
                               const struct types *types)
{
    const char *name = gate_name[g];
    int cells = lstm->cells;
    bool diagonal = lstm->options.diagonal;
    HL_TRY(check_tensor(c, lstm->input_weights[g], name, " gate's input weights", types->weights, cells, lstm->inputs));
    HL_TRY(check_tensor(c, lstm->recurrent_weights[g], name, " gate's recurrent weights", types->weights,
                        diagonal ? 0 : cells, lstm->outputs));
    HL_TRY(check_tensor(c, lstm->bias[g], name, " gate's biases", types->bias, 0, cells));
    if (lstm->auxiliary_weights[HL_LSTM_OUTPUT])
        HL_TRY(check_tensor(c, lstm->auxiliary_weights[g], name, " gate's auxiliary weights", types->weights, cells,
                            lstm->auxiliary_inputs));
    else
        HL_TRY(check_absent(c, lstm->auxiliary_weights[g], name, " gate's auxiliary weights"));
    if (lstm->peephole[HL_LSTM_OUTPUT] && g != HL_LSTM_CELL)
        HL_TRY(check_tensor(c, lstm->peephole[g], name, " gate's peephole weights", types->peephole, 0, cells));
    else
        HL_TRY(check_absent(c, lstm->peephole[g], name, " gate's peephole weights"));
    if (lstm->norm[HL_LSTM_FORGET]) return check_tensor(c, lstm->norm[g], name, " gate's norms", types->norm, 0, cells);
    return check_absent(c, lstm->norm[g], name, " gate's norms");
}

static TfLiteStatus check_projection(const struct check *c, const struct hl_lstm *lstm, const struct types *types)
{
    if (lstm->projection) {
        HL_TRY(check_tensor(c, lstm->projection, "", "projection weights", types->weights, lstm->outputs, lstm->cells));
        if (!lstm->projection_bias) return kTfLiteOk;
        return check_tensor(c, lstm->projection_bias, "", "projection biases", types->bias, 0, lstm->outputs);
    }
    HL_REQUIRE(c->ctx, c->node, lstm->outputs == lstm->cells,
               "%d outputs of %d cells need a projection, which is absent", lstm->outputs, lstm->cells);
    return check_absent(c, lstm->projection_bias, "", "projection biases");
}

static TfLiteStatus check_state(const struct check *c, const TfLiteTensor *state, const char *name, TfLiteType type,
                                int64_t elements)
{
    HL_REQUIRE(c->ctx, c->node, state, "the %s state is not a variable tensor", name);
    HL_REQUIRE(c->ctx, c->node, state->type == type, "the %s state is %s, not %s", name, hl_type_name(state->type),
               hl_type_name(type));
    HL_REQUIRE(c->ctx, c->node, hl_elements(state) == elements, "the %s state has %lld elements, not %lld", name,
               (long long)hl_elements(state), (long long)elements);
    return kTfLiteOk;
}

TfLiteStatus hl_lstm_check(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_lstm *lstm, int batch,
                           enum hl_lstm_kind *kind)
{
    static const struct types types[] = {
        [HL_LSTM_FLOAT] = {kTfLiteFloat32, kTfLiteFloat32, kTfLiteFloat32, kTfLiteFloat32, kTfLiteFloat32,
                           kTfLiteFloat32},
        [HL_LSTM_HYBRID] = {kTfLiteInt8, kTfLiteInt8, kTfLiteFloat32, kTfLiteFloat32, kTfLiteFloat32, kTfLiteFloat32},
        [HL_LSTM_INTEGER] = {kTfLiteInt8, kTfLiteInt16, kTfLiteInt32, kTfLiteInt16, kTfLiteInt8, kTfLiteInt16},
    };
    const struct hl_lstm_options *options = &lstm->options;
    const TfLiteTensor *weights = lstm->input_weights[HL_LSTM_OUTPUT];
    HL_REQUIRE(ctx, node, weights && lstm->recurrent_weights[HL_LSTM_OUTPUT], "the output gate's weights are absent");
    HL_REQUIRE(ctx, node, lstm->inputs > 0 && (!lstm->auxiliary || lstm->auxiliary_inputs > 0), "the input is empty");
    HL_REQUIRE(ctx, node, lstm->cells > 0 && lstm->outputs > 0,
               "the output gate's weights have the wrong number of dimensions or are empty");
    HL_REQUIRE(ctx, node, options->cell_clip >= 0 && options->projection_clip >= 0,
               "clips %g and %g must not be negative", (double)options->cell_clip, (double)options->projection_clip);

    if (lstm->input->type == kTfLiteInt8)
        *kind = HL_LSTM_INTEGER;
    else if (lstm->input->type != kTfLiteFloat32)
        return hl_unsupported_type(ctx, node, lstm->input);
    else
        *kind = weights->type == kTfLiteFloat32 ? HL_LSTM_FLOAT : HL_LSTM_HYBRID;
    HL_REQUIRE(ctx, node, !options->diagonal || *kind == HL_LSTM_FLOAT,
               "diagonal recurrent weights are supported in float32 only");
    HL_REQUIRE(ctx, node, hl_recurrent_activation(options->activation), "activation %d is not supported",
               (int)options->activation);

    const struct check c = {ctx, node, *kind};
    bool input_gate = lstm->input_weights[HL_LSTM_INPUT] != NULL;
    HL_REQUIRE(ctx, node, input_gate == (lstm->recurrent_weights[HL_LSTM_INPUT] != NULL),
               "the input gate has only some of its weights");
    for (enum hl_lstm_gate g = HL_LSTM_INPUT; g < HL_LSTM_GATES; g++)
        if (g != HL_LSTM_INPUT || input_gate) HL_TRY(check_gate(&c, lstm, g, &types[*kind]));
    HL_TRY(check_projection(&c, lstm, &types[*kind]));
    HL_TRY(check_state(&c, lstm->output_state, "output", types[*kind].output_state, (int64_t)batch * lstm->outputs));
    return check_state(&c, lstm->cell_state, "cell", types[*kind].cell_state, (int64_t)batch * lstm->cells);
}

int64_t hl_lstm_row(const struct hl_lstm_sequence *sequence, int b, int step)
{
    int time = sequence->backward ? sequence->time - 1 - step : step;
    return sequence->time_major ? (int64_t)time * sequence->batch + b : (int64_t)b * sequence->time + time;
}

// ---- float and hybrid ---------------------------------------------------------------------------

TfLiteStatus hl_lstm_set_temporaries(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm, int first)
{
    HL_TRY(hl_set_temporary(ctx, node, first, kTfLiteFloat32, false, 2, (const int[]){HL_LSTM_GATES, lstm->cells}));
    // The vectors that are multiplied: input, auxiliary input, output state, and the cells' outputs
    // before a projection.
    const int sizes[4] = {lstm->inputs, lstm->auxiliary_inputs, lstm->outputs, lstm->cells};
    int64_t room = 0;
    for (int i = 0; i < 4; i++) room += hl_stored_room(sizes[i]);
    HL_REQUIRE(ctx, node, room <= INT32_MAX, "the layer is too large");
    return hl_set_temporary(ctx, node, first + 1, kTfLiteInt16, false, 1, (const int[]){(int)room});
}

// A vector to be multiplied with weights: its values, and for 8-bit weights the stored form.
struct operand {
    const float *values;
    int count;
    struct hl_stored_vector stored;
};

static void set_operand(const struct hl_row_kernels *kernels, struct operand *operand, const float *values, bool hybrid,
                        bool asymmetric)
{
    operand->values = values;
    if (hybrid) hl_store_vector(kernels, &operand->stored, values, operand->count, asymmetric);
}

// Sparse weights are multiplied with the stored values as they are: the original leaves their zero point out.
static void multiply_add_sparse(const TfLiteTensor *weights, int rows, const int8_t *x, float x_scale, float *sums)
{
    float scale = weights->params.scale * x_scale;
    for (int r = 0; r < rows; r++) sums[r] += (float)hl_sparse_row_dot_i8(weights, r, x) * scale;
}

static inline void multiply_add(const struct hl_row_kernels *kernels, const TfLiteTensor *weights, int rows,
                                const struct operand *x, float *sums)
{
    if (weights->sparsity)
        multiply_add_sparse(weights, rows, hl_stored_values(&x->stored, x->count), x->stored.scale, sums);
    else if (weights->type == kTfLiteFloat32)
        hl_matvec_f32(kernels, HL_IN(float, weights), rows, x->count, x->values, sums);
    else
        hl_matvec_hybrid(kernels, HL_IN(int8_t, weights), weights->params.scale, rows, x->count, &x->stored, sums);
}

static void multiply_add_elements(const TfLiteTensor *weights, const float *x, int count, float *sums)
{
    if (weights->type == kTfLiteFloat32)
        for (int i = 0; i < count; i++) sums[i] += HL_IN(float, weights)[i] * x[i];
    else
        for (int i = 0; i < count; i++) sums[i] += (float)HL_IN(int8_t, weights)[i] * weights->params.scale * x[i];
}

static void normalize(float *values, int count)
{
    float sum = 0, squares = 0;
    for (int i = 0; i < count; i++) sum += values[i];
    float mean = sum / (float)count;
    for (int i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
    float inverse = 1 / sqrtf(squares / (float)count + 1e-8f);
    for (int i = 0; i < count; i++) values[i] = (values[i] - mean) * inverse;
}

// What a step works on.
struct step {
    const struct hl_row_kernels *kernels;
    const struct hl_lstm *lstm;
    struct operand input, auxiliary, state, hidden;
    float *gates[HL_LSTM_GATES];
    float *output_state, *cell_state; // of this batch row
    bool incomplete;                  // the cell gate lacks the output state's part
};

static void compute_gate(const struct step *s, enum hl_lstm_gate g)
{
    const struct hl_lstm *lstm = s->lstm;
    const TfLiteTensor *norm = lstm->norm[g];
    const float *bias = HL_IN(float, lstm->bias[g]);
    int cells = lstm->cells;
    float *gate = s->gates[g];
    if (norm)
        memset(gate, 0, (size_t)cells * sizeof *gate);
    else
        memcpy(gate, bias, (size_t)cells * sizeof *gate);
    multiply_add(s->kernels, lstm->input_weights[g], cells, &s->input, gate);
    if (lstm->auxiliary_weights[g]) multiply_add(s->kernels, lstm->auxiliary_weights[g], cells, &s->auxiliary, gate);
    if (g == HL_LSTM_CELL && s->incomplete) return;
    if (lstm->options.diagonal)
        multiply_add_elements(lstm->recurrent_weights[g], s->output_state, cells, gate);
    else if (lstm->recurrent_weights[g]->sparsity) // the original scales them as it does the input
        multiply_add_sparse(lstm->recurrent_weights[g], cells, hl_stored_values(&s->state.stored, s->state.count),
                            s->input.stored.scale, gate);
    else
        multiply_add(s->kernels, lstm->recurrent_weights[g], cells, &s->state, gate);
    if (lstm->peephole[g]) multiply_add_elements(lstm->peephole[g], s->cell_state, cells, gate);
    if (norm) {
        normalize(gate, cells);
        for (int i = 0; i < cells; i++) gate[i] = gate[i] * HL_IN(float, norm)[i] + bias[i];
    }
    hl_activate_vector(s->kernels, g == HL_LSTM_CELL ? lstm->options.activation : kTfLiteActSigmoid, gate, cells);
}

static void clip(float *values, int count, float limit)
{
    if (limit <= 0) return;
    for (int i = 0; i < count; i++) {
        float value = values[i] < limit ? values[i] : limit; // NaN becomes the limit
        values[i] = value > -limit ? value : -limit;
    }
}

static void update_cell(const struct step *s)
{
    const struct hl_lstm *lstm = s->lstm;
    float *restrict input = s->gates[HL_LSTM_INPUT], *restrict state = s->cell_state;
    const float *restrict forget = s->gates[HL_LSTM_FORGET], *restrict cell = s->gates[HL_LSTM_CELL];
    int cells = lstm->cells;
    if (!lstm->input_weights[HL_LSTM_INPUT])
        for (int i = 0; i < cells; i++) input[i] = 1 - forget[i];
    for (int i = 0; i < cells; i++) state[i] = forget[i] * state[i] + cell[i] * input[i];
    clip(state, cells, lstm->options.cell_clip);
}

static void compute_output(struct step *s)
{
    const struct hl_lstm *lstm = s->lstm;
    int cells = lstm->cells, outputs = lstm->outputs;
    float *restrict hidden = s->gates[HL_LSTM_CELL];
    const float *restrict gate = s->gates[HL_LSTM_OUTPUT];
    // Without an activation the original leaves the cell gate where the cell state should come.
    if (lstm->options.activation != kTfLiteActNone) memcpy(hidden, s->cell_state, (size_t)cells * sizeof *hidden);
    hl_activate_vector(s->kernels, lstm->options.activation, hidden, cells);
    for (int i = 0; i < cells; i++) hidden[i] *= gate[i];
    if (!lstm->projection) {
        memcpy(s->output_state, hidden, (size_t)cells * sizeof *hidden);
        return;
    }
    set_operand(s->kernels, &s->hidden, hidden, lstm->projection->type != kTfLiteFloat32, lstm->options.asymmetric);
    for (int i = 0; i < outputs; i++)
        s->output_state[i] = lstm->projection_bias ? HL_IN(float, lstm->projection_bias)[i] : 0;
    multiply_add(s->kernels, lstm->projection, outputs, &s->hidden, s->output_state);
    clip(s->output_state, outputs, lstm->options.projection_clip);
}

static void run_step(struct step *s, const float *input, const float *auxiliary)
{
    const struct hl_lstm *lstm = s->lstm;
    bool hybrid = lstm->input_weights[HL_LSTM_OUTPUT]->type != kTfLiteFloat32;
    bool asymmetric = lstm->options.asymmetric;
    set_operand(s->kernels, &s->input, input, hybrid, asymmetric);
    set_operand(s->kernels, &s->state, s->output_state, hybrid, asymmetric);
    if (auxiliary) set_operand(s->kernels, &s->auxiliary, auxiliary, hybrid, asymmetric);
    if (lstm->input_weights[HL_LSTM_INPUT]) compute_gate(s, HL_LSTM_INPUT);
    compute_gate(s, HL_LSTM_FORGET);
    compute_gate(s, HL_LSTM_CELL);
    update_cell(s);
    compute_gate(s, HL_LSTM_OUTPUT);
    compute_output(s);
}

static bool all_zero(const float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (values[i] != 0) return false;
    return true;
}

// The original adds products from one buffer into another and back. Without an activation the cell gate stays in the
// first one, and lacks the last product where their number is odd. Inputs that are all zeros, in time-major sequences
// those of all batches, are not multiplied.
static bool is_incomplete(const struct hl_lstm *lstm, const struct hl_lstm_sequence *sequence, int64_t row)
{
    if (lstm->options.activation != kTfLiteActNone || lstm->options.diagonal ||
        lstm->input_weights[HL_LSTM_OUTPUT]->type != kTfLiteFloat32)
        return false;
    int batch = sequence->time_major ? sequence->batch : 1;
    if (sequence->time_major) row -= row % batch;
    bool odd = true; // the output state's
    const float *x = HL_IN(float, lstm->input) + row * lstm->inputs;
    if (!all_zero(x, (int64_t)batch * lstm->inputs)) odd = !odd;
    if (!lstm->auxiliary_weights[HL_LSTM_OUTPUT]) return odd;
    x = HL_IN(float, lstm->auxiliary) + row * lstm->auxiliary_inputs;
    return all_zero(x, (int64_t)batch * lstm->auxiliary_inputs) ? odd : !odd;
}

void hl_lstm_run_float(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm, int first_temporary,
                       const struct hl_lstm_sequence *sequence, float *output)
{
    struct step s = {
        .kernels = hl_row_kernels(ctx),
        .lstm = lstm,
        .input = {.count = lstm->inputs},
        .auxiliary = {.count = lstm->auxiliary_inputs},
        .state = {.count = lstm->outputs},
        .hidden = {.count = lstm->cells},
    };
    struct operand *const operands[] = {&s.input, &s.auxiliary, &s.state, &s.hidden};
    int16_t *wide = HL_OUT(int16_t, hl_temporary(ctx, node, first_temporary + 1));
    for (int i = 0; i < 4; i++) {
        operands[i]->stored.wide = wide;
        wide += hl_stored_room(operands[i]->count);
    }
    for (int g = 0; g < HL_LSTM_GATES; g++)
        s.gates[g] = HL_OUT(float, hl_temporary(ctx, node, first_temporary)) + (int64_t)g * lstm->cells;

    bool auxiliary = lstm->auxiliary_weights[HL_LSTM_OUTPUT] != NULL;
    for (int b = 0; b < sequence->batch; b++) {
        s.output_state = HL_OUT(float, lstm->output_state) + (int64_t)b * lstm->outputs;
        s.cell_state = HL_OUT(float, lstm->cell_state) + (int64_t)b * lstm->cells;
        for (int t = 0; t < sequence->time; t++) {
            int64_t row = hl_lstm_row(sequence, b, t);
            s.incomplete = is_incomplete(lstm, sequence, row);
            run_step(&s, HL_IN(float, lstm->input) + row * lstm->inputs,
                     auxiliary ? HL_IN(float, lstm->auxiliary) + row * lstm->auxiliary_inputs : NULL);
            memcpy(output + row * sequence->output_stride, s.output_state, (size_t)lstm->outputs * sizeof *output);
        }
    }
}

// ---- operators of one layer ---------------------------------------------------------------------

static void collect_single(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_lstm_single_desc *desc,
                           struct hl_lstm *lstm)
{
    static const struct hl_lstm_places places = {
        .weights = 1,
        .states = 18,
        .norms = 20,
        .auxiliary_input = -1,
        .auxiliary_weights = -1,
    };
    hl_lstm_collect(ctx, node, &places, &desc->options, lstm);
}

static struct hl_lstm_sequence sequence_of(const struct hl_lstm_single_desc *desc, const struct hl_lstm *lstm)
{
    bool one_step = desc->rank == 2;
    return (struct hl_lstm_sequence){
        .batch = hl_dim(lstm->input, one_step || !desc->time_major ? 0 : 1),
        .time = one_step ? 1 : hl_dim(lstm->input, desc->time_major ? 0 : 1),
        .time_major = one_step || desc->time_major,
        .output_stride = lstm->outputs,
    };
}

TfLiteStatus hl_lstm_single_prepare(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm_single_desc *desc,
                                    struct hl_lstm_single *op)
{
    HL_REQUIRE(ctx, node, hl_input_count(node) == 20 || hl_input_count(node) == 24,
               "an LSTM has 20 or 24 inputs, not %d", hl_input_count(node));
    HL_TRY(hl_require_counts(ctx, node, 1, 24, 1));
    HL_TRY(hl_make_temporaries(ctx, node, HL_LSTM_FLOAT_TEMPORARIES));
    struct hl_lstm lstm;
    collect_single(ctx, node, desc, &lstm);
    HL_REQUIRE(ctx, node, hl_rank(lstm.input) == desc->rank, "the input has %d dimensions, not %d", hl_rank(lstm.input),
               desc->rank);
    HL_TRY(hl_lstm_check(ctx, node, &lstm, sequence_of(desc, &lstm).batch, &op->kind));
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_TRY(hl_require_same_type(ctx, node, lstm.input, y));

    int dims[3] = {hl_dim(lstm.input, 0), hl_dim(lstm.input, 1)};
    dims[desc->rank - 1] = lstm.outputs;
    HL_TRY(hl_resize(ctx, y, desc->rank, dims));
    HL_TRY(hl_lstm_set_temporaries(ctx, node, &lstm, 0));
    if (op->kind != HL_LSTM_INTEGER) return kTfLiteOk;
    return hl_lstm_integer_prepare(ctx, node, &lstm, &op->integer, 0);
}

TfLiteStatus hl_lstm_single_invoke(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm_single_desc *desc,
                                   const struct hl_lstm_single *op)
{
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_lstm lstm;
    collect_single(ctx, node, desc, &lstm);
    const struct hl_lstm_sequence sequence = sequence_of(desc, &lstm);
    if (op->kind == HL_LSTM_INTEGER)
        hl_lstm_run_integer(ctx, node, &lstm, &op->integer, 0, &sequence, HL_OUT(int8_t, y));
    else
        hl_lstm_run_float(ctx, node, &lstm, 0, &sequence, HL_OUT(float, y));
    return kTfLiteOk;
}
