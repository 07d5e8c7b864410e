// SPDX-License-Identifier: Apache-2.0
// One LSTM layer in one direction, as the operators LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM and
// BIDIRECTIONAL_SEQUENCE_LSTM share it. A step of one batch row, with x the input row, h the output
// state, c the cell state, s the sigmoid and (.) the product by elements:
//     gate[g] = W[g] x + R[g] h + P[g] (.) c + b[g]               g: input, forget, cell, output
//     c       = clip(s(gate[forget]) (.) c + s(gate[input]) (.) activation(gate[cell]))
//     h       = s(gate[output]) (.) activation(c); projected: h = clip(Q h + q)
// CIFG: there is no input gate, 1 - s(gate[forget]) takes its place. Peephole weights P (none for
// the cell gate; the output gate sees the new c), the projection and layer norms are optional;
// norms make gate = n[g] (.) normalized(W x + R h + P (.) c) + b[g].
// Types: float32; hybrid (float32 with int8 weights, which LSTM takes with compressed rows too, uint8
// read as int8); int8 with int16 cell
// state, which has two forms: with 5 intermediates gates are int16, with 12 (older, CIFG with norms
// and projection only) products are int8.
#ifndef HALITE_OPS_COMMON_LSTM_ENGINE_H
#define HALITE_OPS_COMMON_LSTM_ENGINE_H

#include "ops/common/dot.h"
#include "ops/common/quant.h"
#include "ops/op.h"

enum hl_lstm_gate { HL_LSTM_INPUT, HL_LSTM_FORGET, HL_LSTM_CELL, HL_LSTM_OUTPUT, HL_LSTM_GATES };

// Where a layer's tensors stand among a node's inputs. Behind `weights` follow four input weights,
// four recurrent weights, three peepholes, four biases, projection and its bias. -1: the operator
// has no such tensors.
struct hl_lstm_places {
    int weights, states, norms, auxiliary_input, auxiliary_weights;
};

struct hl_lstm_options {
    TfLiteFusedActivation activation;
    float cell_clip, projection_clip; // 0: none
    bool asymmetric;                  // hybrid: rows are stored with a zero point
    bool diagonal;                    // recurrent weights are vectors
};

// Those that all three operators have, under the same names.
#define HL_LSTM_OPTIONS(params)                                                                                   \
    .activation = (params)->activation, .cell_clip = (params)->cell_clip, .projection_clip = (params)->proj_clip, \
    .asymmetric = (params)->asymmetric_quantize_inputs

// A layer: its tensors (NULL where absent) and sizes. Made anew for each call: tensors may move
// between the calls.
struct hl_lstm {
    struct hl_lstm_options options;
    const TfLiteTensor *input, *auxiliary;
    const TfLiteTensor *input_weights[HL_LSTM_GATES], *recurrent_weights[HL_LSTM_GATES];
    const TfLiteTensor *auxiliary_weights[HL_LSTM_GATES], *peephole[HL_LSTM_GATES];
    const TfLiteTensor *bias[HL_LSTM_GATES], *norm[HL_LSTM_GATES];
    const TfLiteTensor *projection, *projection_bias;
    TfLiteTensor *output_state, *cell_state; // NULL where they are not variable
    int inputs, auxiliary_inputs, cells, outputs;
};

enum hl_lstm_kind { HL_LSTM_FLOAT, HL_LSTM_HYBRID, HL_LSTM_INTEGER };

void hl_lstm_collect(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_lstm_places *places,
                     const struct hl_lstm_options *options, struct hl_lstm *lstm);
// Checks types and shapes of a layer that runs on `batch` rows at a time.
TfLiteStatus hl_lstm_check(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_lstm *lstm, int batch,
                           enum hl_lstm_kind *kind);

// Input rows, time after time: where they lie and where the outputs go. Strides are in rows.
struct hl_lstm_sequence {
    int batch, time;
    bool time_major;   // rows lie [time, batch], else [batch, time]
    bool backward;     // the last time comes first
    int output_stride; // elements from one output row to the next
};
// Row of batch b at the step-th time.
int64_t hl_lstm_row(const struct hl_lstm_sequence *sequence, int b, int step);

// Float and hybrid. Scratch is a float and an int16 temporary, from `first` on.
enum { HL_LSTM_FLOAT_TEMPORARIES = 2 };
TfLiteStatus hl_lstm_set_temporaries(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm, int first);
void hl_lstm_run_float(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm, int first_temporary,
                       const struct hl_lstm_sequence *sequence, float *output);

// int8. The parameters are computed in prepare; scratch is one int16 temporary.
struct hl_lstm_integer {
    bool narrow_gates; // 12 intermediates
    struct hl_rescale input[HL_LSTM_GATES], recurrent[HL_LSTM_GATES], peephole[HL_LSTM_GATES];
    struct hl_rescale norm[HL_LSTM_GATES], hidden, projection;
    int32_t variance_guard[HL_LSTM_GATES]; // stands in for variances below 1
    int hidden_zero, cell_exponent;        // the cell state's scale is 2^cell_exponent
    int16_t cell_clip;
    int8_t projection_clip;
    // Narrow gates: W x and R h are int8 with zero points, rescaled again into their sum.
    int input_zero[HL_LSTM_GATES], recurrent_zero[HL_LSTM_GATES];
    struct hl_rescale input_to_sum[HL_LSTM_GATES], recurrent_to_sum[HL_LSTM_GATES];
};
TfLiteStatus hl_lstm_integer_prepare(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm,
                                     struct hl_lstm_integer *op, int temporary);
void hl_lstm_run_integer(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm *lstm,
                         const struct hl_lstm_integer *op, int temporary, const struct hl_lstm_sequence *sequence,
                         int8_t *output);

// ---- operators of one layer ---------------------------------------------------------------------

// LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM are one layer each, whose 20 inputs, 24 with norms, stand in one order.
struct hl_lstm_single {
    enum hl_lstm_kind kind;
    struct hl_lstm_integer integer;
};
struct hl_lstm_single_desc {
    struct hl_lstm_options options;
    int rank;        // of the input: 2 for one step, 3 for a sequence
    bool time_major; // of a sequence: the input is [time, batch, n], else [batch, time, n]
};
TfLiteStatus hl_lstm_single_prepare(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm_single_desc *desc,
                                    struct hl_lstm_single *op);
TfLiteStatus hl_lstm_single_invoke(TfLiteContext *ctx, TfLiteNode *node, const struct hl_lstm_single_desc *desc,
                                   const struct hl_lstm_single *op);

#endif
