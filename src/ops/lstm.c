// SPDX-License-Identifier: Apache-2.0
// LSTM: one step of an LSTM layer.
// Full kernel (20 or 24 inputs): inputs and formulas of unidirectional_sequence_lstm.c with
// x [batch, n]; out 0: the output state [batch, outputs].
// Basic kernel (5 inputs): in 0: x [batch, n]; in 1: last output h [batch, outputs];
// in 2: weights [4 * outputs, n + outputs]; in 3: biases [4 * outputs]; in 4: last cell state c
// [batch, outputs]; out 0, 1: the new h and c, which also replace in 1 and in 4 where those are
// variables; out 2, 3: working memory. Gates come in the order input, cell, forget, output:
//     gates = weights [x, h] + biases
//     c = sigmoid(input) tanh(cell) + sigmoid(forget) c,  h = sigmoid(output) tanh(c)
// float32; uint8 with int16 cell state in Q4, gates in Q3, x and h in 1/128 around 128.
#include <math.h>
#include <string.h>

#include "ops/common/fixed_point_i16.h"
#include "ops/common/lstm_engine.h"
#include "ops/common/matvec.h"
#include "ops/common/work.h"

struct lstm {
    struct hl_lstm_single full;
    struct hl_rescale to_gate; // basic, uint8
};

// ---- full kernel --------------------------------------------------------------------------------

static struct hl_lstm_single_desc describe(const TfLiteNode *node)
{
    const TfLiteLSTMParams *params = node->builtin_data;
    return (struct hl_lstm_single_desc){.rank = 2, .options = {HL_LSTM_OPTIONS(params)}};
}

static TfLiteStatus full_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct lstm *op = node->user_data;
    const struct hl_lstm_single_desc desc = describe(node);
    return hl_lstm_single_prepare(ctx, node, &desc, &op->full);
}

static TfLiteStatus full_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct lstm *op = node->user_data;
    const struct hl_lstm_single_desc desc = describe(node);
    return hl_lstm_single_invoke(ctx, node, &desc, &op->full);
}

// ---- basic kernel -------------------------------------------------------------------------------

enum { X, LAST_OUTPUT, WEIGHTS, BIASES, LAST_CELL };
enum { NEW_OUTPUT, NEW_CELL, JOINED, GATES };

static TfLiteStatus check_basic_shapes(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, X), *output = hl_input(ctx, node, LAST_OUTPUT);
    const TfLiteTensor *weights = hl_input(ctx, node, WEIGHTS), *biases = hl_input(ctx, node, BIASES);
    const TfLiteTensor *cell = hl_input(ctx, node, LAST_CELL);
    HL_REQUIRE(ctx, node,
               hl_rank(x) == 2 && hl_rank(output) == 2 && hl_rank(cell) == 2 && hl_rank(weights) == 2 &&
                   hl_rank(biases) == 1,
               "input, states and weights must have 2 dimensions, the biases 1");
    int batch = hl_dim(x, 0), outputs = hl_dim(output, 1);
    HL_REQUIRE(ctx, node, outputs > 0 && outputs <= INT32_MAX / 4, "%d outputs are not supported", outputs);
    HL_REQUIRE(ctx, node, hl_dim(output, 0) == batch && hl_same_shape(output, cell),
               "the states [%d, %d] and [%d, %d] do not fit batch %d", hl_dim(output, 0), outputs, hl_dim(cell, 0),
               hl_dim(cell, 1), batch);
    HL_REQUIRE(ctx, node, hl_dim(weights, 0) == 4 * outputs && hl_dim(weights, 1) == (int64_t)hl_dim(x, 1) + outputs,
               "weights [%d, %d] do not fit %d inputs and %d outputs", hl_dim(weights, 0), hl_dim(weights, 1),
               hl_dim(x, 1), outputs);
    HL_REQUIRE(ctx, node, hl_dim(biases, 0) == 4 * outputs, "%d biases do not fit %d outputs", hl_dim(biases, 0),
               outputs);
    HL_REQUIRE(ctx, node, !weights->sparsity, "sparse weights are not supported");
    return kTfLiteOk;
}

static bool is_power_of_two_scale(const TfLiteTensor *tensor, float scale)
{
    return tensor->params.scale > 0 && fabsf(log2f(tensor->params.scale / scale)) < 1e-3f;
}

static TfLiteStatus check_basic_u8(TfLiteContext *ctx, TfLiteNode *node)
{
    struct lstm *op = node->user_data;
    const TfLiteTensor *biases = hl_input(ctx, node, BIASES);
    const TfLiteTensor *const in_out[] = {hl_input(ctx, node, X), hl_input(ctx, node, LAST_OUTPUT),
                                          hl_output(ctx, node, NEW_OUTPUT)};
    const TfLiteTensor *const cells[] = {hl_input(ctx, node, LAST_CELL), hl_output(ctx, node, NEW_CELL)};
    for (int i = 0; i < 3; i++)
        HL_REQUIRE(ctx, node, is_power_of_two_scale(in_out[i], 1 / 128.0f) && hl_zero(in_out[i]) == 128,
                   "uint8 scale %g and zero point %d must be 1/128 and 128", hl_scale(in_out[i]), hl_zero(in_out[i]));
    for (int i = 0; i < 2; i++)
        HL_REQUIRE(ctx, node, is_power_of_two_scale(cells[i], 1 / 2048.0f) && hl_zero(cells[i]) == 0,
                   "cell state scale %g and zero point %d must be 1/2048 and 0", hl_scale(cells[i]), hl_zero(cells[i]));
    HL_REQUIRE(ctx, node, hl_scale(biases) > 0 && isfinite(hl_scale(biases)),
               "bias scale %g must be positive and finite", hl_scale(biases));
    op->to_gate = hl_rescale_from(4096 * hl_scale(biases));
    return kTfLiteOk;
}

static TfLiteStatus basic_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 5, 5, 4));
    HL_TRY(check_basic_shapes(ctx, node));
    const TfLiteTensor *x = hl_input(ctx, node, X), *weights = hl_input(ctx, node, WEIGHTS);
    bool u8 = x->type == kTfLiteUInt8;
    if (!u8 && x->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, x);
    const TfLiteType value = x->type, cell = u8 ? kTfLiteInt16 : kTfLiteFloat32;
    const TfLiteType in_types[5] = {value, value, value, u8 ? kTfLiteInt32 : kTfLiteFloat32, cell};
    const TfLiteType out_types[4] = {value, cell, value, cell};
    for (int i = 0; i < 5; i++)
        if (hl_input(ctx, node, i)->type != in_types[i]) return hl_unsupported_type(ctx, node, hl_input(ctx, node, i));
    for (int i = 0; i < 4; i++)
        if (hl_output(ctx, node, i)->type != out_types[i])
            return hl_unsupported_type(ctx, node, hl_output(ctx, node, i));
    if (u8) HL_TRY(check_basic_u8(ctx, node));

    int batch = hl_dim(x, 0), outputs = hl_dim(weights, 0) / 4;
    const int widths[4] = {outputs, outputs, hl_dim(weights, 1), 4 * outputs};
    for (int i = 0; i < 4; i++) HL_TRY(hl_resize(ctx, hl_output(ctx, node, i), 2, (const int[]){batch, widths[i]}));
    return kTfLiteOk;
}

// The gates themselves are an output: they are activated elsewhere, some cells at a time.
enum { CELLS = 64, INPUT = 0, CHANGE, FORGET, OUTPUT };

static void finish_f32(const struct hl_row_kernels *kernels, const float *gates, int outputs, const float *last_cell,
                       float *cell, float *output)
{
    float some[HL_LSTM_GATES][CELLS];
    for (int first = 0; first < outputs; first += CELLS) {
        int count = outputs - first < CELLS ? outputs - first : CELLS;
        for (int g = 0; g < HL_LSTM_GATES; g++) {
            memcpy(some[g], gates + (int64_t)g * outputs + first, (size_t)count * sizeof **some);
            (g == CHANGE ? kernels->tanh : kernels->logistic)(some[g], count);
        }
        for (int i = 0; i < count; i++)
            cell[first + i] = some[INPUT][i] * some[CHANGE][i] + some[FORGET][i] * last_cell[first + i];
        memcpy(some[CHANGE], cell + first, (size_t)count * sizeof *cell);
        kernels->tanh(some[CHANGE], count);
        for (int i = 0; i < count; i++) output[first + i] = some[OUTPUT][i] * some[CHANGE][i];
    }
}

static void finish_u8(const struct hl_row_kernels *kernels, const int16_t *gates, int outputs, const int16_t *last_cell,
                      int16_t *cell, uint8_t *output)
{
    int16_t some[HL_LSTM_GATES][CELLS];
    for (int first = 0; first < outputs; first += CELLS) {
        int count = outputs - first < CELLS ? outputs - first : CELLS;
        for (int g = 0; g < HL_LSTM_GATES; g++) {
            memcpy(some[g], gates + (int64_t)g * outputs + first, (size_t)count * sizeof **some);
            (g == CHANGE ? kernels->tanh_i16 : kernels->logistic_i16)(some[g], 3, count);
        }
        for (int i = 0; i < count; i++) {
            int16_t change = hl_fixed16_multiply(some[INPUT][i], some[CHANGE][i]);
            int16_t kept = hl_fixed16_multiply(some[FORGET][i], last_cell[first + i]);
            cell[first + i] = hl_saturate_i16(hl_fixed16_divide(change, 4) + kept); // Q0 to Q4
        }
        memcpy(some[CHANGE], cell + first, (size_t)count * sizeof *cell);
        kernels->tanh_i16(some[CHANGE], 4, count);
        for (int i = 0; i < count; i++) {
            int16_t value = hl_fixed16_multiply(some[OUTPUT][i], some[CHANGE][i]);
            output[first + i] = (uint8_t)(128 + hl_clamp_i32(hl_fixed16_divide(value, 8), -128, 127));
        }
    }
}

// This kernel rounds half up, twice, where hl_rescale_apply rounds half away from zero the second
// time.
static int64_t rescale_half_up(int32_t value, struct hl_rescale rescale)
{
    int left = rescale.shift > 0 ? rescale.shift : 0, right = rescale.shift > 0 ? 0 : -rescale.shift;
    int64_t shifted = (int32_t)((uint32_t)value << left);
    int64_t product = (shifted * rescale.multiplier + (INT64_C(1) << 30)) >> 31;
    return right > 0 ? (product + (INT64_C(1) << (right - 1))) >> right : product;
}

static void gates_u8(const struct lstm *op, const TfLiteTensor *weights, const TfLiteTensor *biases,
                     const uint8_t *joined, int16_t *gates)
{
    int count = hl_dim(weights, 1), zero = hl_zero(weights);
    for (int g = 0; g < hl_dim(weights, 0); g++) {
        const uint8_t *w = HL_IN(uint8_t, weights) + (int64_t)g * count;
        int64_t sum = HL_IN(int32_t, biases)[g];
        for (int i = 0; i < count; i++) sum += (int64_t)(joined[i] - 128) * (w[i] - (int64_t)zero);
        gates[g] = hl_saturate_i16(rescale_half_up(hl_saturate_i32(sum), op->to_gate));
    }
}

// Copies a row of x and of the last output beside each other.
static void join(TfLiteContext *ctx, TfLiteNode *node, int b, void *joined)
{
    for (int i = X; i <= LAST_OUTPUT; i++) {
        const TfLiteTensor *part = hl_input(ctx, node, i);
        size_t bytes = (size_t)hl_dim(part, 1) * hl_type_size(part->type);
        if (bytes > 0) memcpy(joined, HL_IN(char, part) + (size_t)b * bytes, bytes);
        joined = (char *)joined + bytes;
    }
}

static TfLiteStatus basic_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct lstm *op = node->user_data;
    const struct hl_row_kernels *kernels = hl_row_kernels(ctx);
    const TfLiteTensor *weights = hl_input(ctx, node, WEIGHTS), *biases = hl_input(ctx, node, BIASES);
    const TfLiteTensor *last_cell = hl_input(ctx, node, LAST_CELL);
    TfLiteTensor *output = hl_output(ctx, node, NEW_OUTPUT), *cell = hl_output(ctx, node, NEW_CELL);
    TfLiteTensor *joined = hl_output(ctx, node, JOINED), *gates = hl_output(ctx, node, GATES);
    int outputs = hl_dim(output, 1), gate_count = 4 * outputs, width = hl_dim(weights, 1);
    for (int b = 0; b < hl_dim(output, 0); b++) {
        int64_t at = (int64_t)b * outputs, joined_at = (int64_t)b * width, gates_at = 4 * at;
        if (output->type == kTfLiteUInt8) {
            uint8_t *row = HL_OUT(uint8_t, joined) + joined_at;
            int16_t *gate = HL_OUT(int16_t, gates) + gates_at;
            join(ctx, node, b, row);
            gates_u8(op, weights, biases, row, gate);
            finish_u8(kernels, gate, outputs, HL_IN(int16_t, last_cell) + at, HL_OUT(int16_t, cell) + at,
                      HL_OUT(uint8_t, output) + at);
        } else {
            float *row = HL_OUT(float, joined) + joined_at, *gate = HL_OUT(float, gates) + gates_at;
            join(ctx, node, b, row);
            for (int i = 0; i < gate_count; i++) gate[i] = 0;
            hl_matvec_f32(kernels, HL_IN(float, weights), gate_count, width, row, gate);
            for (int i = 0; i < gate_count; i++) gate[i] += HL_IN(float, biases)[i];
            finish_f32(kernels, gate, outputs, HL_IN(float, last_cell) + at, HL_OUT(float, cell) + at,
                       HL_OUT(float, output) + at);
        }
    }
    TfLiteTensor *output_state = hl_variable_input(ctx, node, LAST_OUTPUT);
    TfLiteTensor *cell_state = hl_variable_input(ctx, node, LAST_CELL);
    if (output_state && output->bytes > 0) memcpy(output_state->data.data, output->data.data, output->bytes);
    if (cell_state && cell->bytes > 0) memcpy(cell_state->data.data, cell->data.data, cell->bytes);
    return kTfLiteOk;
}

// ---- both ---------------------------------------------------------------------------------------

static bool is_basic(const TfLiteNode *node)
{
    return ((const TfLiteLSTMParams *)node->builtin_data)->kernel_type == kTfLiteLSTMBasicKernel;
}

static TfLiteStatus lstm_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    return is_basic(node) ? basic_prepare(ctx, node) : full_prepare(ctx, node);
}

static TfLiteStatus lstm_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    return is_basic(node) ? basic_invoke(ctx, node) : full_invoke(ctx, node);
}

const struct hl_op hl_op_lstm = {
    .sparse_inputs = 0x1fe | 1 << 16, // input and recurrent weights, projection
    .state_size = sizeof(struct lstm),
    .prepare = lstm_prepare,
    .invoke = lstm_invoke,
    .work = hl_work_of_rows,
};
