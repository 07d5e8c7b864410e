// SPDX-License-Identifier: Apache-2.0
// UNIDIRECTIONAL_SEQUENCE_LSTM: an LSTM layer over time: see lstm_engine.h.
// in 0: x [batch, time, n], or [time, batch, n] (time_major); in 1..4: input weights [cells, n] of
// the input, forget, cell and output gates; 5..8: recurrent weights [cells, outputs] ([cells] where
// diagonal); 9..11: peephole weights [cells] of the input, forget and output gates; 12..15: biases
// [cells]; 16, 17: projection [outputs, cells] and its bias; 18, 19: output and cell state,
// variables [batch, outputs] and [batch, cells]; 20..23: norms [cells] (older models have 20
// inputs).
// out 0: the output state after each time, x's shape with n = outputs.
#include "ops/common/lstm_engine.h"
#include "ops/common/work.h"

struct sequence_lstm {
    enum hl_lstm_kind kind;
    struct hl_lstm_integer integer;
};

static void collect(TfLiteContext *ctx, TfLiteNode *node, struct hl_lstm *lstm)
{
    static const struct hl_lstm_places places = {
        .weights = 1,
        .states = 18,
        .norms = 20,
        .auxiliary_input = -1,
        .auxiliary_weights = -1,
    };
    const TfLiteUnidirectionalSequenceLSTMParams *params = node->builtin_data;
    const struct hl_lstm_options options = {
        .activation = params->activation,
        .cell_clip = params->cell_clip,
        .projection_clip = params->proj_clip,
        .asymmetric = params->asymmetric_quantize_inputs,
        .diagonal = params->diagonal_recurrent_tensors,
    };
    hl_lstm_collect(ctx, node, &places, &options, lstm);
}

static struct hl_lstm_sequence sequence_of(TfLiteNode *node, const struct hl_lstm *lstm)
{
    const TfLiteUnidirectionalSequenceLSTMParams *params = node->builtin_data;
    return (struct hl_lstm_sequence){
        .batch = hl_dim(lstm->input, params->time_major ? 1 : 0),
        .time = hl_dim(lstm->input, params->time_major ? 0 : 1),
        .time_major = params->time_major,
        .output_stride = lstm->outputs,
    };
}

static TfLiteStatus sequence_lstm_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_REQUIRE(ctx, node, hl_input_count(node) == 20 || hl_input_count(node) == 24,
               "an LSTM has 20 or 24 inputs, not %d", hl_input_count(node));
    HL_TRY(hl_require_counts(ctx, node, 1, 24, 1));
    HL_TRY(hl_make_temporaries(ctx, node, HL_LSTM_FLOAT_TEMPORARIES));
    struct sequence_lstm *op = node->user_data;
    struct hl_lstm lstm;
    collect(ctx, node, &lstm);
    HL_REQUIRE(ctx, node, hl_rank(lstm.input) == 3, "the input has %d dimensions, not 3", hl_rank(lstm.input));
    struct hl_lstm_sequence sequence = sequence_of(node, &lstm);
    HL_TRY(hl_lstm_check(ctx, node, &lstm, sequence.batch, &op->kind));
    TfLiteTensor *y = hl_output(ctx, node, 0);
    HL_REQUIRE(ctx, node, y->type == lstm.input->type, "output type %s must be the input's, %s", hl_type_name(y->type),
               hl_type_name(lstm.input->type));

    const int dims[3] = {hl_dim(lstm.input, 0), hl_dim(lstm.input, 1), lstm.outputs};
    HL_TRY(hl_resize(ctx, y, 3, dims));
    HL_TRY(hl_lstm_set_temporaries(ctx, node, &lstm, 0));
    if (op->kind != HL_LSTM_INTEGER) return kTfLiteOk;
    return hl_lstm_integer_prepare(ctx, node, &lstm, &op->integer, 0);
}

static TfLiteStatus sequence_lstm_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct sequence_lstm *op = node->user_data;
    TfLiteTensor *y = hl_output(ctx, node, 0);
    struct hl_lstm lstm;
    collect(ctx, node, &lstm);
    struct hl_lstm_sequence sequence = sequence_of(node, &lstm);
    if (op->kind == HL_LSTM_INTEGER)
        hl_lstm_run_integer(ctx, node, &lstm, &op->integer, 0, &sequence, HL_OUT(int8_t, y));
    else
        hl_lstm_run_float(ctx, node, &lstm, 0, &sequence, HL_OUT(float, y));
    return kTfLiteOk;
}

const struct hl_op hl_op_unidirectional_sequence_lstm = {
    .state_size = sizeof(struct sequence_lstm),
    .prepare = sequence_lstm_prepare,
    .invoke = sequence_lstm_invoke,
    .work = hl_work_of_rows,
};
