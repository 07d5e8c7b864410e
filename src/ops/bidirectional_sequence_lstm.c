// SPDX-License-Identifier: Apache-2.0
// BIDIRECTIONAL_SEQUENCE_LSTM: two LSTM layers over time, one from the first time, one from the
// last: see lstm_engine.h.
// in 0: x [batch, time, n], or [time, batch, n] (time_major); in 1..17: the forward layer's
// weights, in the order of unidirectional_sequence_lstm.c; 18..34: the backward layer's; 35, 36 and
// 37, 38: their states, variables; 39: auxiliary input, x's shape with another n; 40..43 and
// 44..47: its weights. An auxiliary input without weights is the backward layer's input.
// out 0, 1: the layers' output states after each time; merge_outputs: out 0 holds both beside each
// other.
// float32, and float32 with 8-bit weights.
#include "ops/common/lstm_engine.h"
#include "ops/common/work.h"

enum { FORWARD, BACKWARD, LAYERS };

static void collect(TfLiteContext *ctx, TfLiteNode *node, struct hl_lstm *layers)
{
    static const struct hl_lstm_places places[LAYERS] = {
        [FORWARD] = {.weights = 1, .states = 35, .norms = -1, .auxiliary_input = 39, .auxiliary_weights = 40},
        [BACKWARD] = {.weights = 18, .states = 37, .norms = -1, .auxiliary_input = 39, .auxiliary_weights = 44},
    };
    const TfLiteBidirectionalSequenceLSTMParams *params = node->builtin_data;
    const struct hl_lstm_options options = {HL_LSTM_OPTIONS(params)};
    for (int i = 0; i < LAYERS; i++) hl_lstm_collect(ctx, node, &places[i], &options, &layers[i]);

    struct hl_lstm *backward = &layers[BACKWARD];
    if (backward->auxiliary && !layers[FORWARD].auxiliary_weights[HL_LSTM_OUTPUT]) {
        backward->input = backward->auxiliary;
        backward->inputs = backward->auxiliary_inputs;
    }
}

static struct hl_lstm_sequence sequence_of(TfLiteNode *node, const struct hl_lstm *layers, int layer)
{
    const TfLiteBidirectionalSequenceLSTMParams *params = node->builtin_data;
    int outputs = layers[layer].outputs, other = layers[layer == FORWARD ? BACKWARD : FORWARD].outputs;
    return (struct hl_lstm_sequence){
        .batch = hl_dim(layers[layer].input, params->time_major ? 1 : 0),
        .time = hl_dim(layers[layer].input, params->time_major ? 0 : 1),
        .time_major = params->time_major,
        .backward = layer == BACKWARD,
        .output_stride = params->merge_outputs ? outputs + other : outputs,
    };
}

static TfLiteStatus bidirectional_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteBidirectionalSequenceLSTMParams *params = node->builtin_data;
    HL_REQUIRE(ctx, node, hl_input_count(node) == 48, "a bidirectional LSTM has 48 inputs, not %d",
               hl_input_count(node));
    HL_TRY(hl_require_counts(ctx, node, 1, 48, params->merge_outputs ? 1 : 2));
    HL_TRY(hl_make_temporaries(ctx, node, LAYERS * HL_LSTM_FLOAT_TEMPORARIES));
    struct hl_lstm layers[LAYERS];
    collect(ctx, node, layers);
    const TfLiteTensor *x = layers[FORWARD].input, *auxiliary = layers[FORWARD].auxiliary;
    HL_REQUIRE(ctx, node, hl_rank(x) == 3, "the input has %d dimensions, not 3", hl_rank(x));
    HL_REQUIRE(ctx, node,
               !auxiliary || (hl_rank(auxiliary) == 3 && hl_dim(auxiliary, 0) == hl_dim(x, 0) &&
                              hl_dim(auxiliary, 1) == hl_dim(x, 1) && auxiliary->type == x->type),
               "the auxiliary input does not fit the input");

    for (int i = 0; i < LAYERS; i++) {
        enum hl_lstm_kind kind;
        HL_REQUIRE(ctx, node, auxiliary || !layers[i].auxiliary_weights[HL_LSTM_OUTPUT],
                   "auxiliary weights without an auxiliary input");
        HL_TRY(hl_lstm_check(ctx, node, &layers[i], sequence_of(node, layers, i).batch, &kind));
        HL_REQUIRE(ctx, node, kind != HL_LSTM_INTEGER, "int8 inputs are not supported");
        HL_TRY(hl_lstm_set_temporaries(ctx, node, &layers[i], i * HL_LSTM_FLOAT_TEMPORARIES));
    }
    HL_REQUIRE(ctx, node,
               layers[FORWARD].cells == layers[BACKWARD].cells && layers[FORWARD].outputs == layers[BACKWARD].outputs,
               "the layers differ: %d and %d cells, %d and %d outputs", layers[FORWARD].cells, layers[BACKWARD].cells,
               layers[FORWARD].outputs, layers[BACKWARD].outputs);
    for (int i = 0; i < hl_output_count(node); i++) {
        TfLiteTensor *y = hl_output(ctx, node, i);
        if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
        const int dims[3] = {hl_dim(x, 0), hl_dim(x, 1), sequence_of(node, layers, i).output_stride};
        HL_TRY(hl_resize(ctx, y, 3, dims));
    }
    return kTfLiteOk;
}

static TfLiteStatus bidirectional_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteBidirectionalSequenceLSTMParams *params = node->builtin_data;
    if (hl_elements(hl_output(ctx, node, 0)) == 0) return kTfLiteOk;
    struct hl_lstm layers[LAYERS];
    collect(ctx, node, layers);
    for (int i = 0; i < LAYERS; i++) {
        struct hl_lstm_sequence sequence = sequence_of(node, layers, i);
        float *y = HL_OUT(float, hl_output(ctx, node, params->merge_outputs ? 0 : i));
        if (params->merge_outputs && i == BACKWARD) y += layers[FORWARD].outputs;
        hl_lstm_run_float(ctx, node, &layers[i], i * HL_LSTM_FLOAT_TEMPORARIES, &sequence, y);
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_bidirectional_sequence_lstm = {
    .prepare = bidirectional_prepare,
    .invoke = bidirectional_invoke,
    .work = hl_work_of_rows,
};
