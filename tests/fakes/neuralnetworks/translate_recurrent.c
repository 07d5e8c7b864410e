// SPDX-License-Identifier: Apache-2.0
// Layers with a state, as nodes of Halite's operators. NNAPI has states as inputs and outputs, Halite as variables: the
// tensor of the input is a variable here, which a run sets and reads.
#include "build.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

// The first `count` inputs of the operation, -1 for those that are left out.
static void list_inputs(const struct build *build, int *inputs, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) inputs[i] = fake_optional(build, first + i);
}

#define NODE(build, builtin, params, inputs, count, outputs, output_count) \
    fake_node(build, builtin, &(params), sizeof(params), inputs, count, outputs, output_count)

static void rnn(struct build *build)
{
    TfLiteRNNParams params = {.activation = (TfLiteFusedActivation)fake_int(build, 5)};
    int inputs[FAKE_OPERANDS];
    list_inputs(build, inputs, 0, 5);
    fake_state(build, 4, 0);
    NODE(build, kTfLiteBuiltinRnn, params, inputs, 5, (int[]){fake_out(build, 1)}, 1);
}

static void sequence_rnn(struct build *build)
{
    TfLiteSequenceRNNParams params = {
        .activation = (TfLiteFusedActivation)fake_int(build, 5),
        .time_major = fake_int(build, 6) != 0,
    };
    int inputs[FAKE_OPERANDS];
    list_inputs(build, inputs, 0, 5);
    fake_state(build, 4, 1);
    NODE(build, kTfLiteBuiltinUnidirectionalSequenceRnn, params, inputs, 5, (int[]){fake_out(build, 0)}, 1);
}

static void svdf(struct build *build)
{
    TfLiteSVDFParams params = {
        .rank = fake_int(build, 5),
        .activation = (TfLiteFusedActivation)fake_int(build, 6),
    };
    int inputs[FAKE_OPERANDS];
    list_inputs(build, inputs, 0, 5);
    fake_state(build, 4, 0);
    NODE(build, kTfLiteBuiltinSvdf, params, inputs, 5, (int[]){fake_out(build, 1)}, 1);
}

// The working memory has room for all gates of all cells.
static void check_scratch(struct build *build)
{
    const struct fake_operand *scratch = &build->model->operands[fake_out(build, 0)], *cell = fake_input(build, 19);
    uint32_t gates = fake_optional(build, 1) < 0 ? 3 : 4;
    if (scratch->rank == 2 && scratch->dims[0] == cell->dims[0] && scratch->dims[1] == cell->dims[1] * gates) return;
    fake_complain(__func__, 0, "operand %d is no working memory of %u gates", fake_out(build, 0), gates);
    build->failed = true;
}

static void lstm(struct build *build)
{
    TfLiteLSTMParams params = {
        .activation = (TfLiteFusedActivation)fake_int(build, 20),
        .cell_clip = fake_float(build, 21),
        .proj_clip = fake_float(build, 22),
    };
    int inputs[FAKE_OPERANDS];
    list_inputs(build, inputs, 0, 20);
    list_inputs(build, inputs + 20, 23, 4);
    check_scratch(build);
    fake_state(build, 18, 1);
    fake_state(build, 19, 2);
    NODE(build, kTfLiteBuiltinLstm, params, inputs, 24, (int[]){fake_out(build, 3)}, 1);
}

static void quantized_lstm(struct build *build)
{
    TfLiteLSTMParams params = {
        .activation = kTfLiteActTanh,
        .cell_clip = fake_float(build, 24),
        .proj_clip = fake_float(build, 25),
    };
    int inputs[FAKE_OPERANDS], between[5], output = fake_out(build, 2);
    list_inputs(build, inputs, 0, 24);
    for (uint32_t i = 0; i < 4; i++) between[i] = fake_scaled(build, kTfLiteInt16, fake_float(build, 26 + i), 0);
    between[4] = fake_scaled(build, kTfLiteInt8, fake_float(build, 31), fake_int(build, 30));
    fake_state(build, 18, 0);
    fake_state(build, 19, 1);
    fake_node_with(build, kTfLiteBuiltinLstm, &params, sizeof params, inputs, 24, &output, 1, between, 5);
}

static void sequence_lstm(struct build *build)
{
    TfLiteUnidirectionalSequenceLSTMParams params = {
        .activation = (TfLiteFusedActivation)fake_int(build, 20),
        .cell_clip = fake_float(build, 21),
        .proj_clip = fake_float(build, 22),
        .time_major = fake_bool(build, 23),
    };
    int inputs[FAKE_OPERANDS];
    list_inputs(build, inputs, 0, 20);
    list_inputs(build, inputs + 20, 24, 4);
    fake_state(build, 18, 1);
    fake_state(build, 19, 2);
    NODE(build, kTfLiteBuiltinUnidirectionalSequenceLstm, params, inputs, 24, (int[]){fake_out(build, 0)}, 1);
}

static void bidirectional_lstm(struct build *build)
{
    TfLiteBidirectionalSequenceLSTMParams params = {
        .activation = (TfLiteFusedActivation)fake_int(build, 48),
        .cell_clip = fake_float(build, 49),
        .proj_clip = fake_float(build, 50),
        .merge_outputs = fake_bool(build, FAKE_MERGES),
        .time_major = fake_bool(build, 52),
    };
    int inputs[FAKE_OPERANDS], outputs[2] = {fake_out(build, 0)}, results = params.merge_outputs ? 1 : 2;
    if (results > 1) outputs[1] = fake_out(build, 1);
    list_inputs(build, inputs, 0, 48);
    for (uint32_t i = 0; i < 4; i++) fake_state(build, 35 + i, (uint32_t)results + i);
    NODE(build, kTfLiteBuiltinBidirectionalSequenceLstm, params, inputs, 48, outputs, results);
}

bool fake_translate_recurrent(struct build *build)
{
    switch (build->operation->code) {
    case NNAPI_RNN: rnn(build); return true;
    case NNAPI_UNIDIRECTIONAL_SEQUENCE_RNN: sequence_rnn(build); return true;
    case NNAPI_SVDF: svdf(build); return true;
    case NNAPI_LSTM: lstm(build); return true;
    case NNAPI_QUANTIZED_LSTM: quantized_lstm(build); return true;
    case NNAPI_UNIDIRECTIONAL_SEQUENCE_LSTM: sequence_lstm(build); return true;
    case NNAPI_BIDIRECTIONAL_SEQUENCE_LSTM: bidirectional_lstm(build); return true;
    default: return false;
    }
}
