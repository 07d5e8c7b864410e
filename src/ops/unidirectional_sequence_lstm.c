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

static struct hl_lstm_single_desc describe(const TfLiteNode *node)
{
    const TfLiteUnidirectionalSequenceLSTMParams *params = node->builtin_data;
    return (struct hl_lstm_single_desc){
        .rank = 3,
        .time_major = params->time_major,
        .options = {HL_LSTM_OPTIONS(params), .diagonal = params->diagonal_recurrent_tensors},
    };
}

static TfLiteStatus sequence_lstm_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_lstm_single_desc desc = describe(node);
    return hl_lstm_single_prepare(ctx, node, &desc, node->user_data);
}

static TfLiteStatus sequence_lstm_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_lstm_single_desc desc = describe(node);
    return hl_lstm_single_invoke(ctx, node, &desc, node->user_data);
}

const struct hl_op hl_op_unidirectional_sequence_lstm = {
    .state_size = sizeof(struct hl_lstm_single),
    .prepare = sequence_lstm_prepare,
    .invoke = sequence_lstm_invoke,
    .work = hl_work_of_rows,
};
