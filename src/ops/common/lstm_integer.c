// SPDX-License-Identifier: Apache-2.0
// LSTM layers in int8 with an int16 cell state, bit for bit: see lstm_engine.h for the formulas.
// 5 intermediates: gates are int16 in Q3 (with norms: in the intermediates' scales before them),
// activations fixed-point.
// 12 intermediates: W x and R h are int8 (intermediates 3g + 1 and 3g + 2), their sum, norm and
// activation pass through float.
#include <math.h>
#include <string.h>

#include "ops/common/fixed_point.h"
#include "ops/common/fixed_point_i16.h"
#include "ops/common/lstm_engine.h"
#include "ops/common/matvec.h"

// ---- parameters ---------------------------------------------------------------------------------

static TfLiteStatus check_scale(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *tensor)
{
    HL_REQUIRE(ctx, node, !tensor || (tensor->params.scale > 0 && isfinite(tensor->params.scale)),
               "scale %g must be positive and finite", hl_scale(tensor));
    HL_REQUIRE(ctx, node, !tensor || (hl_zero(tensor) >= INT16_MIN && hl_zero(tensor) <= INT16_MAX),
               "zero point %d is outside int16", hl_zero(tensor));
    return kTfLiteOk;
}

// What is multiplied less its zero point must not be longer than hl_long_dots_i8 takes it.
static TfLiteStatus check_int8(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *tensor)
{
    HL_TRY(check_scale(ctx, node, tensor));
    HL_REQUIRE(ctx, node, hl_zero(tensor) >= INT8_MIN && hl_zero(tensor) <= INT8_MAX, "zero point %d is outside int8",
               hl_zero(tensor));
    return kTfLiteOk;
}

static TfLiteStatus check_scales(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm)
{
    for (int g = 0; g < HL_LSTM_GATES; g++) {
        HL_TRY(check_scale(ctx, node, lstm->input_weights[g]));
        HL_TRY(check_scale(ctx, node, lstm->recurrent_weights[g]));
        HL_TRY(check_scale(ctx, node, lstm->peephole[g]));
        HL_TRY(check_scale(ctx, node, lstm->norm[g]));
        // It is multiplied by 2^12 later and must still fit.
        HL_REQUIRE(ctx, node, !lstm->norm[g] || lstm->norm[g]->params.scale < 1 << 16, "norm scale %g is too large",
                   hl_scale(lstm->norm[g]));
    }
    HL_TRY(check_int8(ctx, node, lstm->input));
    HL_TRY(check_scale(ctx, node, lstm->projection));
    HL_TRY(check_int8(ctx, node, lstm->output_state));
    HL_TRY(check_scale(ctx, node, lstm->cell_state));
    // Without norms the first four of five intermediates say nothing.
    int intermediates = node->intermediates->size;
    for (int i = intermediates == 5 && !lstm->norm[HL_LSTM_FORGET] ? 4 : 0; i < intermediates; i++) {
        const TfLiteTensor *tensor = hl_intermediate(ctx, node, i);
        HL_REQUIRE(ctx, node, tensor, "intermediate %d is absent", i);
        HL_TRY(i == 4 && intermediates == 5 ? check_int8(ctx, node, tensor) : check_scale(ctx, node, tensor));
    }
    return kTfLiteOk;
}

static struct hl_rescale rescale_f32(float real)
{
    return hl_rescale_from((double)real);
}

static float scale_of(const TfLiteTensor *tensor)
{
    return tensor ? tensor->params.scale : 1;
}

static void set_wide_gates(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm, struct hl_lstm_integer *op)
{
    float input = scale_of(lstm->input), state = scale_of(lstm->output_state);
    for (int g = 0; g < HL_LSTM_GATES; g++) {
        // Without norms a gate is Q3.
        float gate = lstm->norm[HL_LSTM_FORGET] ? scale_of(hl_intermediate(ctx, node, g)) : 0x1p-12f;
        op->input[g] = rescale_f32(scale_of(lstm->input_weights[g]) * input / gate);
        op->recurrent[g] = rescale_f32(scale_of(lstm->recurrent_weights[g]) * state / gate);
        op->peephole[g] =
            rescale_f32((float)(ldexp(1, op->cell_exponent) * (double)scale_of(lstm->peephole[g]) / (double)gate));
    }
    const TfLiteTensor *hidden = hl_intermediate(ctx, node, 4);
    // Before a projection the original takes the zero point with the other sign, in storing and in
    // reading: that shows where stored values saturate.
    op->hidden_zero = lstm->projection ? -hl_zero(hidden) : hl_zero(hidden);
    op->hidden = rescale_f32((float)(0x1p-15 / hl_scale(hidden) * 0x1p-15));
    op->projection = rescale_f32(scale_of(lstm->projection) * scale_of(hidden) / state);
}

static void set_narrow_gates(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm,
                             struct hl_lstm_integer *op)
{
    float input = scale_of(lstm->input), state = scale_of(lstm->output_state);
    for (int g = 0; g < HL_LSTM_GATES; g++) {
        const TfLiteTensor *sum = hl_intermediate(ctx, node, 3 * g);
        const TfLiteTensor *from_input = hl_intermediate(ctx, node, 3 * g + 1);
        const TfLiteTensor *from_state = hl_intermediate(ctx, node, 3 * g + 2);
        op->input[g] = rescale_f32(scale_of(lstm->input_weights[g]) * input / scale_of(from_input));
        op->recurrent[g] = rescale_f32(scale_of(lstm->recurrent_weights[g]) * state / scale_of(from_state));
        op->input_zero[g] = hl_zero(from_input);
        op->recurrent_zero[g] = hl_zero(from_state);
        op->input_to_sum[g] = rescale_f32(scale_of(from_input) / scale_of(sum));
        op->recurrent_to_sum[g] = rescale_f32(scale_of(from_state) / scale_of(sum));
    }
    // The original takes the output gate's second multiplier from the wrong place, where the forget
    // gate's shift lies, and its zero point from the cell gate. Results follow it.
    op->recurrent_to_sum[HL_LSTM_OUTPUT].multiplier = op->recurrent_to_sum[HL_LSTM_FORGET].shift;
    op->recurrent_zero[HL_LSTM_OUTPUT] = op->input_zero[HL_LSTM_CELL];
    op->projection = rescale_f32((float)((double)scale_of(lstm->projection) * 0x1p-15 / (double)state));
}

TfLiteStatus hl_lstm_integer_prepare(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm,
                                     struct hl_lstm_integer *op, int temporary)
{
    int intermediates = node->intermediates ? node->intermediates->size : 0;
    HL_REQUIRE(ctx, node, intermediates == 5 || intermediates == 12, "an int8 layer has 5 or 12 intermediates, not %d",
               intermediates);
    HL_TRY(check_scales(ctx, node, lstm));
    op->narrow_gates = intermediates == 12;
    float cell_scale = lstm->cell_state->params.scale;
    float exponent = roundf(log2f(cell_scale));
    op->cell_exponent = (int)exponent;
    if (op->narrow_gates) {
        HL_REQUIRE(ctx, node, lstm->norm[HL_LSTM_FORGET] && lstm->projection && lstm->projection_bias,
                   "with 12 intermediates norms, a projection and its bias are wanted");
        HL_REQUIRE(ctx, node, !lstm->input_weights[HL_LSTM_INPUT] && !lstm->peephole[HL_LSTM_OUTPUT],
                   "with 12 intermediates input gates and peepholes are not supported");
        set_narrow_gates(ctx, node, lstm, op);
    } else {
        HL_REQUIRE(ctx, node, fabsf(log2f(cell_scale) - exponent) < 1e-3f && exponent <= -9 && exponent >= -15,
                   "cell state scale %g is not a power of two from 2^-15 to 2^-9", (double)cell_scale);
        set_wide_gates(ctx, node, lstm, op);
    }
    for (int g = 0; g < HL_LSTM_GATES; g++) {
        float scale = scale_of(lstm->norm[g]);
        op->norm[g] = rescale_f32(scale);
        int guard = (int)(10000 * scale);
        op->variance_guard[g] = guard > 1 ? guard : 1;
    }
    const struct hl_lstm_options *options = &lstm->options;
    op->cell_clip = hl_saturate_i16((int64_t)fminf(options->cell_clip / cell_scale, 32767));
    op->projection_clip = hl_saturate_i8((int64_t)fminf(options->projection_clip / scale_of(lstm->output_state), 127));
    // The original's parameters end before the clips where the cell state's scale is not the 2^-15 that narrow gates
    // are for.
    if (op->narrow_gates && fabsf(log2f(cell_scale) + 15) >= 1e-3f) op->cell_clip = 0, op->projection_clip = 0;
    int64_t values = (int64_t)HL_LSTM_GATES * lstm->cells + lstm->inputs + lstm->outputs;
    HL_REQUIRE(ctx, node, values <= INT32_MAX, "the layer is too large");
    return hl_set_temporary(ctx, node, temporary, kTfLiteInt16, false, 1, (const int[]){(int)values});
}

// ---- a step -------------------------------------------------------------------------------------

struct step {
    const struct hl_row_kernels *kernels;
    const struct hl_lstm *lstm;
    const struct hl_lstm_integer *op;
    const int8_t *input;
    int8_t *output_state; // of this batch row
    int16_t *cell_state;
    int64_t first_cell, peephole_end; // see add_peephole
    int16_t *gates[HL_LSTM_GATES];
    int16_t *wide_input, *wide_state; // less their zero points
};

static int64_t finish(int64_t sum, int32_t bias, struct hl_rescale rescale)
{
    return hl_rescale_apply(hl_saturate_i32(sum + bias), rescale);
}

// Some rows of a gate's weights from `row` on times the vectors.
static inline void multiply_step(const struct step *s, enum hl_lstm_gate g, int row, int64_t *from_input,
                                 int64_t *from_state)
{
    const struct hl_lstm *lstm = s->lstm;
    int rows = lstm->cells - row < HL_LONG_DOTS_ROWS ? lstm->cells - row : HL_LONG_DOTS_ROWS;
    hl_long_dots_i8(s->kernels, HL_IN(int8_t, lstm->input_weights[g]) + (int64_t)row * lstm->inputs, lstm->inputs, rows,
                    s->wide_input, 0, lstm->inputs, from_input);
    hl_long_dots_i8(s->kernels, HL_IN(int8_t, lstm->recurrent_weights[g]) + (int64_t)row * lstm->outputs, lstm->outputs,
                    rows, s->wide_state, 0, lstm->outputs, from_state);
}

// The original takes the number of outputs for that of cells here, over the rows of all batches that a step computes
// together: the peephole weights repeat after as many cells as there are outputs, and the last cells get nothing.
// first_cell is the number of this row's first cell among those of all rows, peephole_end the first one without.
static int16_t add_peephole(const struct step *s, enum hl_lstm_gate g, int i, int16_t sum)
{
    const struct hl_lstm *lstm = s->lstm;
    int64_t at = s->first_cell + i, weight = at % lstm->outputs;
    if (at >= s->peephole_end || weight >= lstm->cells) return sum;
    int32_t part = HL_IN(int16_t, lstm->peephole[g])[weight] * s->cell_state[i];
    return hl_saturate_i16((int64_t)sum + hl_rescale_apply(part, s->op->peephole[g]));
}

static void sum_wide_gate(const struct step *s, enum hl_lstm_gate g)
{
    const struct hl_lstm *lstm = s->lstm;
    const struct hl_lstm_integer *op = s->op;
    // With norms the bias comes after them.
    const int32_t *bias = lstm->norm[g] ? NULL : HL_IN(int32_t, lstm->bias[g]);
    int64_t from_input[HL_LONG_DOTS_ROWS], from_state[HL_LONG_DOTS_ROWS];
    for (int i = 0; i < lstm->cells; i++) {
        if (i % HL_LONG_DOTS_ROWS == 0) multiply_step(s, g, i, from_input, from_state);
        int16_t sum = hl_saturate_i16(finish(from_input[i % HL_LONG_DOTS_ROWS], bias ? bias[i] : 0, op->input[g]));
        s->gates[g][i] = hl_saturate_i16(sum + finish(from_state[i % HL_LONG_DOTS_ROWS], 0, op->recurrent[g]));
    }
    for (int i = 0; lstm->peephole[g] && i < lstm->cells; i++) s->gates[g][i] = add_peephole(s, g, i, s->gates[g][i]);
}

static void sum_narrow_gate(const struct step *s, enum hl_lstm_gate g)
{
    const struct hl_lstm *lstm = s->lstm;
    const struct hl_lstm_integer *op = s->op;
    int64_t inputs[HL_LONG_DOTS_ROWS], states[HL_LONG_DOTS_ROWS];
    for (int i = 0; i < lstm->cells; i++) {
        if (i % HL_LONG_DOTS_ROWS == 0) multiply_step(s, g, i, inputs, states);
        int8_t from_input = hl_saturate_i8(finish(inputs[i % HL_LONG_DOTS_ROWS], 0, op->input[g]) + op->input_zero[g]);
        int8_t from_state =
            hl_saturate_i8(finish(states[i % HL_LONG_DOTS_ROWS], 0, op->recurrent[g]) + op->recurrent_zero[g]);
        int64_t sum = hl_rescale_apply(from_input - op->input_zero[g], op->input_to_sum[g]);
        sum += hl_rescale_apply(from_state - op->recurrent_zero[g], op->recurrent_to_sum[g]);
        s->gates[g][i] = hl_saturate_i16(sum);
    }
}

// Mean and deviation in units of 2^-10; the variance is exact for powers of two of cells only, as
// in the original.
static void normalize(const struct step *s, enum hl_lstm_gate g)
{
    const struct hl_lstm_integer *op = s->op;
    const int16_t *norm = HL_IN(int16_t, s->lstm->norm[g]);
    const int32_t *bias = HL_IN(int32_t, s->lstm->bias[g]);
    int cells = s->lstm->cells;
    int16_t *gate = s->gates[g];
    int64_t sum = 0, squares = 0;
    for (int i = 0; i < cells; i++) {
        sum += gate[i];
        squares += gate[i] * gate[i];
    }
    int32_t mean = (int32_t)(sum * 1024 / cells);
    int64_t variance = squares * ((1 << 20) / cells) - (int64_t)mean * mean;
    int32_t whole = (int32_t)(variance / (1 << 20));
    struct hl_rescale inverse = hl_fixed_inverse_sqrt(whole < 1 ? op->variance_guard[g] : whole);
    struct hl_rescale scale = op->norm[g];
    scale.shift += 12;
    for (int i = 0; i < cells; i++) {
        int64_t value = hl_rescale_apply(1024 * gate[i] - mean, inverse);
        value = value * norm[i] + bias[i];
        value = (value > 0 ? value + 512 : value - 512) / 1024;
        gate[i] = hl_saturate_i16(hl_rescale_apply(hl_saturate_i32(value), scale));
    }
}

static void normalize_in_float(const struct step *s, enum hl_lstm_gate g)
{
    const int16_t *norm = HL_IN(int16_t, s->lstm->norm[g]);
    const int32_t *bias = HL_IN(int32_t, s->lstm->bias[g]);
    int cells = s->lstm->cells;
    int16_t *gate = s->gates[g];
    struct hl_rescale rescale = s->op->norm[g];
    float scale = (float)(rescale.multiplier * ldexp(1, rescale.shift - 31)), bias_scale = 0x1p-10f * scale;
    float sum = 0, squares = 0;
    for (int i = 0; i < cells; i++) {
        sum += (float)gate[i];
        squares += (float)gate[i] * (float)gate[i];
    }
    float mean = sum / (float)cells, variance = squares / (float)cells - mean * mean;
    float inverse = variance > 0 ? 1 / sqrtf(variance) : 1 / sqrtf(1e-8f);
    for (int i = 0; i < cells; i++) {
        float value = ((float)gate[i] - mean) * inverse;
        value = value * (float)norm[i] * scale + (float)bias[i] * bias_scale;
        gate[i] = hl_saturate_i16((int64_t)fmax(fmin(round((double)value * 4096), INT32_MAX), INT32_MIN));
    }
}

// Q(15 + exponent) to Q0, through float: x is in units of 2^exponent.
static int16_t tanh_in_float(int16_t x, int exponent)
{
    return hl_saturate_i16((int64_t)(tanhf((float)(x * ldexp(1, exponent))) * 0x1p15f));
}

static int16_t logistic_in_float(int16_t x)
{
    return hl_saturate_i16((int64_t)(1 / (1 + expf(-(float)(x * 0x1p-12))) * 0x1p15f));
}

static void compute_gate(const struct step *s, enum hl_lstm_gate g)
{
    bool narrow = s->op->narrow_gates;
    int16_t *gate = s->gates[g];
    if (narrow) {
        sum_narrow_gate(s, g);
        normalize_in_float(s, g);
    } else {
        sum_wide_gate(s, g);
        if (s->lstm->norm[g]) normalize(s, g);
    }
    int cells = s->lstm->cells;
    if (narrow)
        for (int i = 0; i < cells; i++)
            gate[i] = g == HL_LSTM_CELL ? tanh_in_float(gate[i], -12) : logistic_in_float(gate[i]);
    else
        (g == HL_LSTM_CELL ? s->kernels->tanh_i16 : s->kernels->logistic_i16)(gate, 3, cells);
}

static int16_t multiply_i16(int16_t a, int16_t b, int shift)
{
    return (int16_t)hl_fixed16_divide(a * b, shift);
}

static void update_cell(const struct step *s)
{
    const int16_t *forget = s->gates[HL_LSTM_FORGET], *cell = s->gates[HL_LSTM_CELL];
    bool cifg = !s->lstm->input_weights[HL_LSTM_INPUT];
    int shift = s->op->narrow_gates ? 15 : 30 + s->op->cell_exponent;
    int16_t limit = s->op->cell_clip;
    for (int i = 0; i < s->lstm->cells; i++) {
        int16_t input = cifg ? (int16_t)(INT16_MAX - forget[i]) : s->gates[HL_LSTM_INPUT][i];
        int16_t state =
            hl_saturate_i16(multiply_i16(forget[i], s->cell_state[i], 15) + multiply_i16(input, cell[i], shift));
        if (limit > 0) state = (int16_t)hl_clamp_i32(state, -limit, limit);
        s->cell_state[i] = state;
    }
}

static void clip(int8_t *values, int count, int8_t limit)
{
    if (limit <= 0) return;
    for (int i = 0; i < count; i++) values[i] = (int8_t)hl_clamp_i32(values[i], -limit, limit);
}

static void compute_wide_output(const struct step *s)
{
    const struct hl_lstm *lstm = s->lstm;
    const struct hl_lstm_integer *op = s->op;
    int8_t *hidden = lstm->projection ? (int8_t *)s->gates[HL_LSTM_FORGET] : s->output_state;
    int16_t *wide = s->gates[HL_LSTM_CELL];
    memcpy(wide, s->cell_state, (size_t)lstm->cells * sizeof *wide);
    s->kernels->tanh_i16(wide, 15 + op->cell_exponent, lstm->cells);
    for (int i = 0; i < lstm->cells; i++) {
        int32_t value = s->gates[HL_LSTM_OUTPUT][i] * wide[i];
        hidden[i] = hl_saturate_i8((int64_t)hl_rescale_apply(value, op->hidden) + op->hidden_zero);
    }
    if (!lstm->projection) return;
    hl_widen(kTfLiteInt8, hidden, 0, lstm->cells, op->hidden_zero, wide);
    int64_t sums[HL_LONG_DOTS_ROWS];
    for (int i = 0; i < lstm->outputs; i++) {
        int rows = lstm->outputs - i < HL_LONG_DOTS_ROWS ? lstm->outputs - i : HL_LONG_DOTS_ROWS;
        if (i % HL_LONG_DOTS_ROWS == 0)
            hl_long_dots_i8(s->kernels, HL_IN(int8_t, lstm->projection) + (int64_t)i * lstm->cells, lstm->cells, rows,
                            wide, 0, lstm->cells, sums);
        int32_t bias = lstm->projection_bias ? HL_IN(int32_t, lstm->projection_bias)[i] : 0;
        s->output_state[i] =
            hl_saturate_i8(finish(sums[i % HL_LONG_DOTS_ROWS], bias, op->projection) + hl_zero(lstm->output_state));
    }
    clip(s->output_state, lstm->outputs, op->projection_clip);
}

static void compute_narrow_output(const struct step *s)
{
    const struct hl_lstm *lstm = s->lstm;
    const struct hl_lstm_integer *op = s->op;
    int16_t *hidden = s->gates[HL_LSTM_OUTPUT];
    for (int i = 0; i < lstm->cells; i++) hidden[i] = multiply_i16(hidden[i], tanh_in_float(s->cell_state[i], -15), 15);
    for (int i = 0; i < lstm->outputs; i++) {
        const int8_t *weights = HL_IN(int8_t, lstm->projection) + (int64_t)i * lstm->cells;
        int64_t sum = HL_IN(int32_t, lstm->projection_bias)[i];
        for (int k = 0; k < lstm->cells; k++) sum += weights[k] * hidden[k];
        s->output_state[i] = hl_saturate_i8((int64_t)hl_rescale_apply(hl_saturate_i32(sum), op->projection) +
                                            hl_zero(lstm->output_state));
    }
    clip(s->output_state, lstm->outputs, op->projection_clip);
}

static void run_step(const struct step *s)
{
    const struct hl_lstm *lstm = s->lstm;
    hl_widen(kTfLiteInt8, s->input, 0, lstm->inputs, hl_zero(lstm->input), s->wide_input);
    hl_widen(kTfLiteInt8, s->output_state, 0, lstm->outputs, hl_zero(lstm->output_state), s->wide_state);
    if (s->lstm->input_weights[HL_LSTM_INPUT]) compute_gate(s, HL_LSTM_INPUT);
    compute_gate(s, HL_LSTM_FORGET);
    compute_gate(s, HL_LSTM_CELL);
    update_cell(s);
    compute_gate(s, HL_LSTM_OUTPUT);
    if (s->op->narrow_gates)
        compute_narrow_output(s);
    else
        compute_wide_output(s);
}

void hl_lstm_run_integer(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm,
                         const struct hl_lstm_integer *op, int temporary, const struct hl_lstm_sequence *sequence,
                         int8_t *output)
{
    struct step s = {.kernels = hl_row_kernels(ctx), .lstm = lstm, .op = op};
    for (int g = 0; g < HL_LSTM_GATES; g++)
        s.gates[g] = HL_OUT(int16_t, hl_temporary(ctx, node, temporary)) + (int64_t)g * lstm->cells;
    s.wide_input = s.gates[0] + (int64_t)HL_LSTM_GATES * lstm->cells;
    s.wide_state = s.wide_input + lstm->inputs;
    int together = sequence->time_major ? sequence->batch : 1; // rows that the original computes in one step
    s.peephole_end = (int64_t)together * lstm->outputs;
    for (int b = 0; b < sequence->batch; b++) {
        s.first_cell = (int64_t)(b % together) * lstm->cells;
        s.output_state = HL_OUT(int8_t, lstm->output_state) + (int64_t)b * lstm->outputs;
        s.cell_state = HL_OUT(int16_t, lstm->cell_state) + (int64_t)b * lstm->cells;
        for (int t = 0; t < sequence->time; t++) {
            int64_t row = hl_lstm_row(sequence, b, t);
            s.input = HL_IN(int8_t, lstm->input) + row * lstm->inputs;
            run_step(&s);
            memcpy(output + row * sequence->output_stride, s.output_state, (size_t)lstm->outputs);
        }
    }
}
