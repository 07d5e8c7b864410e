// SPDX-License-Identifier: Apache-2.0
// Layers with a state: RNN, SVDF, LSTM and their sequences. NNAPI keeps nothing from run to run: a state is an input of
// the operation, which gives the new one as an output, and kernel.c writes that into the runtime's variable. The
// sequences give their states only from feature level 4 on.
#include "delegates/nnapi/op.h"

// ---- checks -------------------------------------------------------------------------------------

// hybrid: int8 weights are taken, too; NNAPI dequantizes them.
static bool check_floats(const struct delegate_view *view, bool hybrid)
{
    for (int i = 0; i < view->node->inputs->size; i++) {
        const TfLiteTensor *tensor = delegate_input(view, i);
        if (!tensor || tensor->type == kTfLiteFloat32) continue;
        if (hybrid && i > 0 && tensor->type == kTfLiteInt8) {
            if (!nnapi_check_level(view, NNAPI_LEVEL_3, "hybrid") || !nnapi_check_constant(view, i)) return false;
            continue;
        }
        return delegate_refuse(view, DELEGATE_TYPE, i, "input %d is %s, where NNAPI wants float32", i,
                               hl_type_name(tensor->type));
    }
    for (int i = 0; i < view->node->outputs->size; i++)
        if (delegate_output(view, i)->type != kTfLiteFloat32)
            return delegate_refuse(view, DELEGATE_TYPE, DELEGATE_OUTPUT(i), "output %d is not float32", i);
    return true;
}

static bool check_state(const struct delegate_view *view, int input)
{
    const TfLiteTensor *state = delegate_input(view, input);
    return (state && state->is_variable) ||
           delegate_refuse(view, DELEGATE_PARAMETER, input, "input %d is a state and must be a variable", input);
}

// The activations of the gates and of the other layers have the same numbers here and there.
static bool check_function(const struct delegate_view *view, TfLiteFusedActivation activation, bool gates)
{
    bool known = activation >= kTfLiteActNone && activation <= kTfLiteActSigmoid && activation != kTfLiteActSignBit;
    if (known && !(gates && activation == kTfLiteActReluN1To1)) return true;
    return delegate_refuse(view, DELEGATE_PARAMETER, -1, "activation %d is none of NNAPI's", (int)activation);
}

// ---- operands -----------------------------------------------------------------------------------

static void add_optional(struct nnapi_model *model, const struct nnapi_node *node, int input, int32_t absent_type)
{
    int tensor = nnapi_input_index(node, input);
    if (tensor >= 0)
        nnapi_add_tensor(model, tensor);
    else
        nnapi_add_absent(model, absent_type);
}

static void add_floats(struct nnapi_model *model, const struct nnapi_node *node, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        int tensor = nnapi_input_index(node, i);
        if (tensor >= 0)
            nnapi_add_weights(model, tensor, true);
        else
            nnapi_add_absent(model, ANEURALNETWORKS_TENSOR_FLOAT32);
    }
}

static void add_clips(struct nnapi_model *model, TfLiteFusedActivation activation, float cell, float projection)
{
    nnapi_add_i32(model, (int32_t)activation);
    nnapi_add_f32(model, cell);
    nnapi_add_f32(model, projection);
}

static void set_states(struct nnapi_model *model, const struct nnapi_node *node, int first, int count)
{
    for (int i = first; i < first + count; i++) nnapi_set_state(model, nnapi_input_index(node, i));
}

static void finish(struct nnapi_model *model, const struct nnapi_node *node)
{
    for (int i = 0; i < node->node->outputs->size; i++) nnapi_set_output(model, node->node->outputs->data[i]);
}

// ---- RNN, SVDF ----------------------------------------------------------------------------------

enum { INPUTS = 5, STATE = 4 }; // of both

static bool check_rnn(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteRNNParams *params = view->node->builtin_data;
    return check_floats(view, false) && check_state(view, STATE) && check_function(view, params->activation, false);
}

static void map_rnn(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteRNNParams *params = node->node->builtin_data;
    add_floats(model, node, 0, INPUTS);
    nnapi_add_i32(model, (int32_t)params->activation);
    set_states(model, node, STATE, 1);
    finish(model, node);
    nnapi_end(model, NNAPI_RNN);
}

const struct nnapi_family nnapi_family_rnn = {.inputs = {INPUTS, INPUTS},
                                              .needs_params = true,
                                              .check = check_rnn,
                                              .map = map_rnn};

static bool check_sequence_rnn(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteSequenceRNNParams *params = view->node->builtin_data;
    return check_floats(view, false) && check_state(view, STATE) && check_function(view, params->activation, false);
}

static void map_sequence_rnn(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteSequenceRNNParams *params = node->node->builtin_data;
    add_floats(model, node, 0, INPUTS);
    nnapi_add_i32(model, (int32_t)params->activation);
    nnapi_add_i32(model, params->time_major);
    finish(model, node);
    set_states(model, node, STATE, 1);
    nnapi_end(model, NNAPI_UNIDIRECTIONAL_SEQUENCE_RNN);
}

const struct nnapi_family nnapi_family_sequence_rnn = {.inputs = {INPUTS, INPUTS},
                                                       .needs_params = true,
                                                       .check = check_sequence_rnn,
                                                       .map = map_sequence_rnn};

static bool check_svdf(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteSVDFParams *params = view->node->builtin_data;
    return check_floats(view, false) && check_state(view, STATE) && check_function(view, params->activation, false);
}

static void map_svdf(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteSVDFParams *params = node->node->builtin_data;
    add_floats(model, node, 0, INPUTS);
    nnapi_add_i32(model, params->rank);
    nnapi_add_i32(model, (int32_t)params->activation);
    set_states(model, node, STATE, 1);
    finish(model, node);
    nnapi_end(model, NNAPI_SVDF);
}

const struct nnapi_family nnapi_family_svdf = {.inputs = {INPUTS, INPUTS},
                                               .needs_params = true,
                                               .check = check_svdf,
                                               .map = map_svdf};

// ---- LSTM ---------------------------------------------------------------------------------------

// Inputs of one layer, as the runtime and NNAPI have them: x, weights of four gates for x and for the last output,
// peepholes of three, biases of four, a projection and its bias, two states, norms of four.
enum {
    INPUT_WEIGHTS = 1,
    RECURRENT_WEIGHTS = 5,
    PEEPHOLES = 9,
    BIASES = 12,
    PROJECTION = 16,
    PROJECTION_BIAS = 17,
    OUTPUT_STATE = 18,
    CELL_STATE = 19,
    NORMS = 20,
    WITHOUT_NORMS = 20,
    WITH_NORMS = 24,
};
enum { GATES = 4, INTERMEDIATES = GATES + 1 };

static const TfLiteTensor *intermediate(const TfLiteContext *context, const TfLiteNode *node, int index)
{
    return &context->tensors[node->intermediates->data[index]];
}

// int8: NNAPI has the form whose gates have 16 bits, with symmetric weights.
static bool check_lstm_int8(const struct delegate_view *view)
{
    int intermediates = view->node->intermediates ? view->node->intermediates->size : 0;
    if (intermediates != INTERMEDIATES)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "%d intermediates, NNAPI has %d", intermediates,
                               INTERMEDIATES);
    for (int i = 0; i < INTERMEDIATES; i++)
        if (view->node->intermediates->data[i] < 0)
            return delegate_refuse(view, DELEGATE_PARAMETER, -1, "intermediate %d is left out", i);
    for (int i = INPUT_WEIGHTS; i <= PROJECTION; i++) {
        const TfLiteTensor *weights = delegate_input(view, i);
        if (!weights || weights->type != kTfLiteInt8) continue;
        if (!nnapi_check_constant(view, i)) return false;
        if (nnapi_scale_count(weights) != 1 || nnapi_zero_point(weights) != 0)
            return delegate_refuse(view, DELEGATE_QUANTIZATION, i, "weights with a zero point or scales by channel");
    }
    const TfLiteTensor *cell = delegate_input(view, CELL_STATE);
    return cell->type == kTfLiteInt16 ||
           delegate_refuse(view, DELEGATE_TYPE, CELL_STATE, "the cell state is %s", hl_type_name(cell->type));
}

static bool check_lstm(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteLSTMParams *params = view->node->builtin_data;
    int inputs = view->node->inputs->size;
    if (params->kernel_type == kTfLiteLSTMBasicKernel)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "the basic kernel's working memory is an output");
    if (inputs != WITHOUT_NORMS && inputs != WITH_NORMS)
        return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d inputs", inputs);
    if (inputs == WITH_NORMS && !nnapi_check_level(view, NNAPI_LEVEL_3, "layer norms")) return false;
    if (!check_state(view, OUTPUT_STATE) || !check_state(view, CELL_STATE)) return false;
    if (delegate_input(view, 0)->type == kTfLiteInt8) return check_lstm_int8(view);
    return check_floats(view, true) && check_function(view, params->activation, true);
}

// Working memory, which NNAPI wants to be an output: all gates of all cells.
static void set_scratch(struct nnapi_model *model, const struct nnapi_node *node)
{
    struct nnapi_type type = nnapi_type_of(model, nnapi_input_index(node, CELL_STATE));
    type.dims[1] *= nnapi_input(node, INPUT_WEIGHTS) ? GATES : GATES - 1;
    nnapi_set_output_operand(model, nnapi_new_operand(model, &type));
}

static void add_weights_8_bit(struct nnapi_model *model, const struct nnapi_node *node, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        const TfLiteTensor *weights = nnapi_input(node, i);
        if (weights)
            nnapi_add_symmetric(model, nnapi_input_index(node, i));
        else
            nnapi_add_absent(model, ANEURALNETWORKS_TENSOR_QUANT8_SYMM);
    }
}

static void map_lstm_int8(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteLSTMParams *params = node->node->builtin_data;
    const TfLiteTensor *hidden = intermediate(node->context, node->node, GATES);
    nnapi_add_tensor(model, nnapi_input_index(node, 0));
    add_weights_8_bit(model, node, INPUT_WEIGHTS, 2 * GATES);
    for (int i = PEEPHOLES; i < BIASES; i++) add_optional(model, node, i, ANEURALNETWORKS_TENSOR_QUANT16_SYMM);
    for (int i = BIASES; i < PROJECTION; i++) add_optional(model, node, i, ANEURALNETWORKS_TENSOR_INT32);
    add_weights_8_bit(model, node, PROJECTION, 1);
    add_optional(model, node, PROJECTION_BIAS, ANEURALNETWORKS_TENSOR_INT32);
    nnapi_add_tensor(model, nnapi_input_index(node, OUTPUT_STATE));
    nnapi_add_tensor(model, nnapi_input_index(node, CELL_STATE));
    for (int i = NORMS; i < WITH_NORMS; i++) add_optional(model, node, i, ANEURALNETWORKS_TENSOR_QUANT16_SYMM);
    nnapi_add_f32(model, params->cell_clip);
    nnapi_add_f32(model, params->proj_clip);
    for (int i = 0; i < GATES; i++) nnapi_add_f32(model, nnapi_scale(intermediate(node->context, node->node, i)));
    nnapi_add_i32(model, nnapi_zero_point(hidden));
    nnapi_add_f32(model, nnapi_scale(hidden));
    set_states(model, node, OUTPUT_STATE, 2);
    finish(model, node);
    nnapi_end(model, NNAPI_QUANTIZED_LSTM);
}

static void map_lstm(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteLSTMParams *params = node->node->builtin_data;
    if (nnapi_input(node, 0)->type == kTfLiteInt8) {
        map_lstm_int8(model, node);
        return;
    }
    add_floats(model, node, 0, WITHOUT_NORMS);
    add_clips(model, params->activation, params->cell_clip, params->proj_clip);
    if (node->node->inputs->size == WITH_NORMS) add_floats(model, node, NORMS, GATES);
    set_scratch(model, node);
    set_states(model, node, OUTPUT_STATE, 2);
    finish(model, node);
    nnapi_end(model, NNAPI_LSTM);
}

const struct nnapi_family nnapi_family_lstm = {.inputs = {INPUTS, WITH_NORMS},
                                               .outputs = -1,
                                               .needs_params = true,
                                               .takes_int16 = true,
                                               .check = check_lstm,
                                               .map = map_lstm};

// ---- sequences of LSTM --------------------------------------------------------------------------

static bool check_sequence_lstm(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteUnidirectionalSequenceLSTMParams *params = view->node->builtin_data;
    int inputs = view->node->inputs->size;
    if (inputs != WITHOUT_NORMS && inputs != WITH_NORMS)
        return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d inputs", inputs);
    if (params->diagonal_recurrent_tensors)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "NNAPI has no diagonal recurrent weights");
    return check_floats(view, false) && check_state(view, OUTPUT_STATE) && check_state(view, CELL_STATE) &&
           check_function(view, params->activation, true);
}

static void map_sequence_lstm(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteUnidirectionalSequenceLSTMParams *params = node->node->builtin_data;
    add_floats(model, node, 0, WITHOUT_NORMS);
    add_clips(model, params->activation, params->cell_clip, params->proj_clip);
    nnapi_add_bool(model, params->time_major);
    add_floats(model, node, NORMS, GATES);
    finish(model, node);
    set_states(model, node, OUTPUT_STATE, 2);
    nnapi_end(model, NNAPI_UNIDIRECTIONAL_SEQUENCE_LSTM);
}

const struct nnapi_family nnapi_family_sequence_lstm = {.inputs = {WITHOUT_NORMS, WITH_NORMS},
                                                        .needs_params = true,
                                                        .check = check_sequence_lstm,
                                                        .map = map_sequence_lstm};

// Both directions have the inputs of one layer without x, states and norms, one after the other; then come the four
// states, and an auxiliary input with the weights of both.
enum { BIDIRECTIONAL_INPUTS = 48, BIDIRECTIONAL_STATES = 35, STATES = 4, AUXILIARY = 39, FIRST_OF_AUXILIARY = 41 };

static bool check_bidirectional_lstm(const struct delegate_view *view, const struct nnapi_op *op)
{
    (void)op;
    const TfLiteBidirectionalSequenceLSTMParams *params = view->node->builtin_data;
    for (int i = BIDIRECTIONAL_STATES; i < BIDIRECTIONAL_STATES + STATES; i++)
        if (!check_state(view, i)) return false;
    if (delegate_input(view, AUXILIARY) && !delegate_input(view, FIRST_OF_AUXILIARY))
        return delegate_refuse(view, DELEGATE_PARAMETER, AUXILIARY, "an auxiliary input without weights");
    if (view->node->outputs->size != (params->merge_outputs ? 1 : 2))
        return delegate_refuse(view, DELEGATE_INPUT_COUNT, -1, "%d outputs", view->node->outputs->size);
    return check_floats(view, false) && check_function(view, params->activation, true);
}

static void map_bidirectional_lstm(struct nnapi_model *model, const struct nnapi_node *node)
{
    const TfLiteBidirectionalSequenceLSTMParams *params = node->node->builtin_data;
    add_floats(model, node, 0, BIDIRECTIONAL_INPUTS);
    add_clips(model, params->activation, params->cell_clip, params->proj_clip);
    nnapi_add_bool(model, params->merge_outputs);
    nnapi_add_bool(model, params->time_major);
    for (int i = 0; i < 2 * GATES; i++) nnapi_add_absent(model, ANEURALNETWORKS_TENSOR_FLOAT32); // norms
    finish(model, node);
    set_states(model, node, BIDIRECTIONAL_STATES, STATES);
    nnapi_end(model, NNAPI_BIDIRECTIONAL_SEQUENCE_LSTM);
}

const struct nnapi_family nnapi_family_bidirectional_lstm = {.inputs = {BIDIRECTIONAL_INPUTS, BIDIRECTIONAL_INPUTS},
                                                             .outputs = -1,
                                                             .needs_params = true,
                                                             .check = check_bidirectional_lstm,
                                                             .map = map_bidirectional_lstm};
