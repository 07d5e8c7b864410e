// SPDX-License-Identifier: Apache-2.0
// RNN, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN: layers of units that see the input
// and their own last outputs: h = activation(b + W x + R h), once, for each time, or for each time
// in both directions.
// in 0: x [batch, n] (RNN), [batch, time, n], or [time, batch, n] (time_major);
// in 1: W [units, n]; in 2: R [units, units]; in 3: b [units]; in 4: h, a variable [batch, units];
// bidirectional: in 5..8: the same for the backward layer; in 9: auxiliary input, x's shape with
// another n; in 10, 11: its weights in either layer. Without them it is the backward layer's input
// where time comes first; where the batch comes first, the original never reads it.
// out 0: h after each time; bidirectional: out 1 the backward layer's, or with merge_outputs both
// beside each other.
// float32, and float32 with int8 weights (uint8 ones are read as int8).
#include <string.h>

#include "ops/common/matvec.h"
#include "ops/common/work.h"
#include "ops/op.h"

// One layer in one direction, its tensors and what it does with them. Made anew for each call.
struct layer {
    const TfLiteTensor *input, *weights, *recurrent, *bias;
    const TfLiteTensor *auxiliary, *auxiliary_weights; // NULL where absent
    TfLiteTensor *state;                               // NULL where it is not variable
    const struct hl_row_kernels *kernels;
    TfLiteFusedActivation activation;
    bool asymmetric, time_major, backward;
    int batch, time, inputs, units;
    int output_stride; // elements from one output row to the next
};

// Sizes from the tensors, whose ranks check_ranks has checked.
static void measure(struct layer *l)
{
    bool sequence = hl_rank(l->input) == 3;
    l->batch = hl_dim(l->input, sequence && l->time_major ? 1 : 0);
    l->time = sequence ? hl_dim(l->input, l->time_major ? 0 : 1) : 1;
    l->inputs = hl_dim(l->input, sequence ? 2 : 1);
    l->units = hl_dim(l->weights, 0);
    if (l->output_stride == 0) l->output_stride = l->units;
}

static TfLiteStatus check_ranks(TfLiteContext *ctx, TfLiteNode *node, const struct layer *l, int rank)
{
    HL_REQUIRE(ctx, node, hl_rank(l->input) == rank, "the input has %d dimensions, not %d", hl_rank(l->input), rank);
    HL_REQUIRE(ctx, node, hl_rank(l->weights) == 2 && hl_rank(l->recurrent) == 2, "the weights must have 2 dimensions");
    return kTfLiteOk;
}

static TfLiteStatus check_weights(TfLiteContext *ctx, TfLiteNode *node, const TfLiteTensor *weights, TfLiteType type,
                                  int rows, int columns)
{
    HL_REQUIRE(ctx, node, weights->type == type, "weights of types %s and %s do not go together", hl_type_name(type),
               hl_type_name(weights->type));
    HL_REQUIRE(ctx, node, !weights->sparsity, "sparse weights are not supported");
    HL_REQUIRE(ctx, node,
               hl_rank(weights) == 2 && hl_dim(weights, 0) == rows && hl_dim(weights, 1) == columns && columns > 0,
               "weights do not have the shape [%d, %d]", rows, columns);
    return kTfLiteOk;
}

static TfLiteStatus check_layer(TfLiteContext *ctx, TfLiteNode *node, const struct layer *l)
{
    TfLiteType type = l->weights->type;
    if (l->input->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, l->input);
    if (type != kTfLiteFloat32 && type != kTfLiteInt8 && type != kTfLiteUInt8)
        return hl_unsupported_type(ctx, node, l->weights);
    HL_REQUIRE(ctx, node, l->units > 0, "a layer without units is not supported");
    HL_TRY(check_weights(ctx, node, l->weights, type, l->units, l->inputs));
    HL_TRY(check_weights(ctx, node, l->recurrent, type, l->units, l->units));
    HL_REQUIRE(ctx, node, l->bias->type == kTfLiteFloat32 && hl_rank(l->bias) == 1 && hl_dim(l->bias, 0) == l->units,
               "the bias is not float32 [%d]", l->units);
    HL_REQUIRE(ctx, node, l->state, "the state is not a variable tensor");
    HL_REQUIRE(ctx, node,
               l->state->type == kTfLiteFloat32 && hl_rank(l->state) == 2 && hl_dim(l->state, 0) == l->batch &&
                   hl_dim(l->state, 1) == l->units,
               "the state is not float32 [%d, %d]", l->batch, l->units);
    HL_REQUIRE(ctx, node, hl_recurrent_activation(l->activation), "activation %d is not supported", (int)l->activation);
    if (!l->auxiliary) return kTfLiteOk;
    const TfLiteTensor *x = l->input, *aux = l->auxiliary;
    HL_REQUIRE(ctx, node,
               aux->type == x->type && hl_rank(aux) == 3 && hl_dim(aux, 0) == hl_dim(x, 0) &&
                   hl_dim(aux, 1) == hl_dim(x, 1),
               "the auxiliary input does not fit the input");
    return check_weights(ctx, node, l->auxiliary_weights, type, l->units, hl_dim(aux, 2));
}

// Scratch for one stored vector: the longest of input, auxiliary input and state.
static TfLiteStatus set_temporary(TfLiteContext *ctx, TfLiteNode *node, const struct layer *l, int index)
{
    int longest = l->inputs > l->units ? l->inputs : l->units;
    if (l->auxiliary && hl_dim(l->auxiliary, 2) > longest) longest = hl_dim(l->auxiliary, 2);
    int64_t room = hl_stored_room(longest);
    HL_REQUIRE(ctx, node, room <= INT32_MAX, "the layer is too large");
    return hl_set_temporary(ctx, node, index, kTfLiteInt16, false, 1, (const int[]){(int)room});
}

static void multiply_add(const struct layer *l, const TfLiteTensor *weights, const float *x,
                         struct hl_stored_vector *stored, float *sums)
{
    int columns = hl_dim(weights, 1);
    if (weights->type == kTfLiteFloat32) {
        hl_matvec_f32(l->kernels, HL_IN(float, weights), l->units, columns, x, sums);
    } else {
        hl_store_vector(l->kernels, stored, x, columns, l->asymmetric);
        hl_matvec_hybrid(l->kernels, HL_IN(int8_t, weights), weights->params.scale, l->units, columns, stored, sums);
    }
}

static void run(const struct layer *l, int16_t *scratch, float *output)
{
    struct hl_stored_vector stored = {.wide = scratch};
    size_t units = (size_t)l->units;
    for (int b = 0; b < l->batch; b++) {
        float *state = HL_OUT(float, l->state) + (size_t)b * units;
        for (int step = 0; step < l->time; step++) {
            int time = l->backward ? l->time - 1 - step : step;
            int64_t row = l->time_major ? (int64_t)time * l->batch + b : (int64_t)b * l->time + time;
            float *y = output + row * l->output_stride;
            memcpy(y, HL_IN(float, l->bias), units * sizeof *y);
            multiply_add(l, l->weights, HL_IN(float, l->input) + row * l->inputs, &stored, y);
            if (l->auxiliary)
                multiply_add(l, l->auxiliary_weights, HL_IN(float, l->auxiliary) + row * hl_dim(l->auxiliary, 2),
                             &stored, y);
            multiply_add(l, l->recurrent, state, &stored, y);
            hl_activate_vector(l->kernels, l->activation, y, l->units);
            memcpy(state, y, units * sizeof *y);
        }
    }
}

static void collect(TfLiteContext *ctx, const TfLiteNode *node, int first, struct layer *l)
{
    l->kernels = hl_row_kernels(ctx);
    l->input = hl_input(ctx, node, 0);
    l->weights = hl_input(ctx, node, first);
    l->recurrent = hl_input(ctx, node, first + 1);
    l->bias = hl_input(ctx, node, first + 2);
    l->state = hl_variable_input(ctx, node, first + 3);
}

// ---- one direction ------------------------------------------------------------------------------

static TfLiteStatus prepare_one(TfLiteContext *ctx, TfLiteNode *node, struct layer *l, int rank)
{
    HL_TRY(hl_require_counts(ctx, node, 5, 5, 1));
    HL_TRY(hl_make_temporaries(ctx, node, 1));
    collect(ctx, node, 1, l);
    HL_TRY(check_ranks(ctx, node, l, rank));
    measure(l);
    HL_TRY(check_layer(ctx, node, l));
    HL_TRY(set_temporary(ctx, node, l, 0));
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
    int dims[3];
    for (int i = 0; i < rank; i++) dims[i] = hl_dim(l->input, i);
    dims[rank - 1] = l->units;
    return hl_resize(ctx, y, rank, dims);
}

static TfLiteStatus run_one(TfLiteContext *ctx, TfLiteNode *node, struct layer *l)
{
    collect(ctx, node, 1, l);
    measure(l);
    run(l, HL_OUT(int16_t, hl_temporary(ctx, node, 0)), HL_OUT(float, hl_output(ctx, node, 0)));
    return kTfLiteOk;
}

static struct layer rnn_layer(const TfLiteNode *node)
{
    const TfLiteRNNParams *params = node->builtin_data;
    return (struct layer){
        .activation = params->activation,
        .asymmetric = params->asymmetric_quantize_inputs,
    };
}

static TfLiteStatus rnn_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct layer layer = rnn_layer(node);
    return prepare_one(ctx, node, &layer, 2);
}

static TfLiteStatus rnn_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    struct layer layer = rnn_layer(node);
    return run_one(ctx, node, &layer);
}

const struct hl_op hl_op_rnn = {.prepare = rnn_prepare, .invoke = rnn_invoke, .work = hl_work_of_rows};

static struct layer sequence_layer(const TfLiteNode *node)
{
    const TfLiteSequenceRNNParams *params = node->builtin_data;
    return (struct layer){
        .activation = params->activation,
        .asymmetric = params->asymmetric_quantize_inputs,
        .time_major = params->time_major,
    };
}

static TfLiteStatus sequence_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct layer layer = sequence_layer(node);
    return prepare_one(ctx, node, &layer, 3);
}

static TfLiteStatus sequence_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    struct layer layer = sequence_layer(node);
    return run_one(ctx, node, &layer);
}

const struct hl_op hl_op_unidirectional_sequence_rnn = {
    .prepare = sequence_prepare,
    .invoke = sequence_invoke,
    .work = hl_work_of_rows,
};

// ---- both directions ----------------------------------------------------------------------------

enum { FORWARD, BACKWARD, LAYERS };

static void collect_both(TfLiteContext *ctx, const TfLiteNode *node, struct layer *layers)
{
    const TfLiteBidirectionalSequenceRNNParams *params = node->builtin_data;
    const TfLiteTensor *auxiliary = hl_input(ctx, node, 9);
    bool weighted = hl_input(ctx, node, 10) != NULL && hl_input(ctx, node, 11) != NULL;
    for (int i = 0; i < LAYERS; i++) {
        struct layer *l = &layers[i];
        *l = (struct layer){
            .activation = params->activation,
            .asymmetric = params->asymmetric_quantize_inputs,
            .time_major = params->time_major,
            .backward = i == BACKWARD,
        };
        collect(ctx, node, i == FORWARD ? 1 : 5, l);
        if (weighted) {
            l->auxiliary = auxiliary;
            l->auxiliary_weights = hl_input(ctx, node, 10 + i);
        } else if (auxiliary && i == BACKWARD && params->time_major) {
            l->input = auxiliary;
        }
    }
}

static void measure_both(const TfLiteNode *node, struct layer *layers)
{
    const TfLiteBidirectionalSequenceRNNParams *params = node->builtin_data;
    for (int i = 0; i < LAYERS; i++) measure(&layers[i]);
    if (params->merge_outputs)
        for (int i = 0; i < LAYERS; i++) layers[i].output_stride = layers[FORWARD].units + layers[BACKWARD].units;
}

// The original goes over time-major sequences with int8 weights as often as they are long, each time
// on from the last one's state.
static int repeats(const struct layer *l)
{
    return l->time_major && l->weights->type != kTfLiteFloat32 ? l->time : 1;
}

static TfLiteStatus bidirectional_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteBidirectionalSequenceRNNParams *params = node->builtin_data;
    HL_TRY(hl_require_counts(ctx, node, 9, 12, params->merge_outputs ? 1 : 2));
    HL_REQUIRE(ctx, node, hl_input_count(node) == 12, "%d inputs are given, not 12", hl_input_count(node));
    HL_TRY(hl_make_temporaries(ctx, node, LAYERS));
    bool forward_weighted = hl_input(ctx, node, 10) != NULL, backward_weighted = hl_input(ctx, node, 11) != NULL;
    HL_REQUIRE(ctx, node, forward_weighted == backward_weighted, "only one layer has weights for the auxiliary input");
    HL_REQUIRE(ctx, node, !forward_weighted || hl_input(ctx, node, 9), "auxiliary weights without an auxiliary input");

    struct layer layers[LAYERS];
    collect_both(ctx, node, layers);
    for (int i = 0; i < LAYERS; i++) HL_TRY(check_ranks(ctx, node, &layers[i], 3));
    const TfLiteTensor *x = layers[FORWARD].input, *other = layers[BACKWARD].input;
    HL_REQUIRE(ctx, node, hl_dim(x, 0) == hl_dim(other, 0) && hl_dim(x, 1) == hl_dim(other, 1),
               "the auxiliary input does not fit the input");
    int64_t both = (int64_t)hl_dim(layers[FORWARD].weights, 0) + hl_dim(layers[BACKWARD].weights, 0);
    HL_REQUIRE(ctx, node, both <= INT32_MAX, "%lld units are too many", (long long)both);
    measure_both(node, layers);
    for (int i = 0; i < LAYERS; i++) {
        HL_TRY(check_layer(ctx, node, &layers[i]));
        HL_TRY(set_temporary(ctx, node, &layers[i], i));
    }
    for (int i = 0; i < hl_output_count(node); i++) {
        TfLiteTensor *y = hl_output(ctx, node, i);
        if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
        const int dims[3] = {hl_dim(x, 0), hl_dim(x, 1), layers[i].output_stride};
        HL_TRY(hl_resize(ctx, y, 3, dims));
    }
    return kTfLiteOk;
}

static TfLiteStatus bidirectional_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteBidirectionalSequenceRNNParams *params = node->builtin_data;
    if (hl_elements(hl_output(ctx, node, 0)) == 0) return kTfLiteOk;
    struct layer layers[LAYERS];
    collect_both(ctx, node, layers);
    measure_both(node, layers);
    for (int i = 0; i < LAYERS; i++) {
        float *y = HL_OUT(float, hl_output(ctx, node, params->merge_outputs ? 0 : i));
        if (params->merge_outputs && i == BACKWARD) y += layers[FORWARD].units;
        int16_t *scratch = HL_OUT(int16_t, hl_temporary(ctx, node, i));
        for (int times = repeats(&layers[i]); times > 0; times--) run(&layers[i], scratch, y);
    }
    return kTfLiteOk;
}

static double bidirectional_work(TfLiteContext *ctx, const TfLiteNode *node)
{
    struct layer layers[LAYERS];
    collect_both(ctx, node, layers);
    measure_both(node, layers);
    int times = repeats(&layers[FORWARD]), others = repeats(&layers[BACKWARD]);
    return hl_work_of_rows(ctx, node) * (times > others ? times : others);
}

const struct hl_op hl_op_bidirectional_sequence_rnn = {
    .prepare = bidirectional_prepare,
    .invoke = bidirectional_invoke,
    .work = bidirectional_work,
};
