// SPDX-License-Identifier: Apache-2.0
// SVDF: a layer of filters over the recent past, r (the rank) of them for each unit.
// A filter f keeps its last m features. A step drops the oldest and adds weights_feature[f] . x,
// then y[u] = activation(bias[u] + sum over the unit's filters of weights_time[f] . memory[f]).
// in 0: x [b, n]; in 1: weights_feature [filters, n]; in 2: weights_time [filters, m];
// in 3: bias [units] (optional); in 4: state, a variable [b, filters * m]; out 0: y [b, units].
// float32; hybrid (float32 with int8 weights; uint8 ones are read as int8); int8 with int16 state
// and time weights, or with int8 ones. int8 asks for RELU and does not apply it.
#include <math.h>
#include <string.h>

#include "ops/common/dot.h"
#include "ops/common/matvec.h"
#include "ops/common/quant.h"
#include "ops/common/work.h"
#include "ops/op.h"

enum { FEATURES, TIME_WEIGHTS, WIDE, TEMPORARIES };

struct svdf {
    bool hybrid;
    struct hl_rescale to_state, to_output; // int8
};

struct shape {
    int batch, inputs, filters, rank, units, memory;
};

static struct shape shape_of(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *time = hl_input(ctx, node, 2);
    const TfLiteSVDFParams *params = node->builtin_data;
    return (struct shape){
        .batch = hl_dim(x, 0),
        .inputs = hl_dim(x, 1),
        .filters = hl_dim(time, 0),
        .rank = params->rank,
        .units = hl_dim(time, 0) / params->rank,
        .memory = hl_dim(time, 1),
    };
}

// Filters from `first` on.
static int at_a_time(const struct shape *s, int first)
{
    return s->filters - first < HL_LONG_DOTS_ROWS ? s->filters - first : HL_LONG_DOTS_ROWS;
}

static TfLiteStatus check_shapes(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *features = hl_input(ctx, node, 1);
    const TfLiteTensor *time = hl_input(ctx, node, 2), *bias = hl_input(ctx, node, 3);
    const TfLiteTensor *state = hl_variable_input(ctx, node, 4);
    int rank = ((const TfLiteSVDFParams *)node->builtin_data)->rank;
    HL_REQUIRE(ctx, node, state, "the state is not a variable tensor");
    HL_REQUIRE(ctx, node, hl_rank(x) == 2 && hl_rank(features) == 2 && hl_rank(time) == 2 && hl_rank(state) == 2,
               "input, weights and state must have 2 dimensions");
    int filters = hl_dim(features, 0);
    HL_REQUIRE(ctx, node, filters > 0 && hl_dim(x, 1) > 0, "%d filters of %d inputs are not supported", filters,
               hl_dim(x, 1));
    HL_REQUIRE(ctx, node, rank >= 1 && filters % rank == 0, "rank %d does not divide %d filters", rank, filters);
    HL_REQUIRE(ctx, node, hl_dim(features, 1) == hl_dim(x, 1), "features of %d inputs, %d are given",
               hl_dim(features, 1), hl_dim(x, 1));
    HL_REQUIRE(ctx, node, hl_dim(time, 0) == filters, "time weights of %d filters, features of %d", hl_dim(time, 0),
               filters);
    HL_REQUIRE(ctx, node, hl_dim(time, 1) >= 1, "the filters' memory is empty");
    HL_REQUIRE(ctx, node, !bias || (hl_rank(bias) == 1 && hl_dim(bias, 0) == filters / rank),
               "the bias does not fit %d units", filters / rank);
    HL_REQUIRE(ctx, node, hl_dim(state, 0) == hl_dim(x, 0) && hl_dim(state, 1) == (int64_t)filters * hl_dim(time, 1),
               "state [%d, %d] does not fit batch %d, %d filters and memory %d", hl_dim(state, 0), hl_dim(state, 1),
               hl_dim(x, 0), filters, hl_dim(time, 1));
    return kTfLiteOk;
}

static TfLiteStatus check_float(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *features = hl_input(ctx, node, 1), *time = hl_input(ctx, node, 2);
    const TfLiteTensor *bias = hl_input(ctx, node, 3), *state = hl_input(ctx, node, 4);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    const TfLiteSVDFParams *params = node->builtin_data;
    struct svdf *op = node->user_data;

    op->hybrid = features->type != kTfLiteFloat32;
    HL_REQUIRE(ctx, node, !op->hybrid || features->type == kTfLiteInt8 || features->type == kTfLiteUInt8,
               "weights of type %s are not supported", hl_type_name(features->type));
    HL_REQUIRE(ctx, node, hl_same_type(features, time), "the two weights differ in type");
    HL_REQUIRE(ctx, node,
               state->type == kTfLiteFloat32 && y->type == kTfLiteFloat32 && (!bias || bias->type == kTfLiteFloat32),
               "bias, state and output must be float32");
    HL_REQUIRE(ctx, node, hl_recurrent_activation(params->activation), "activation %d is not supported",
               (int)params->activation);
    return kTfLiteOk;
}

static TfLiteStatus check_int8(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *features = hl_input(ctx, node, 1);
    const TfLiteTensor *time = hl_input(ctx, node, 2), *bias = hl_input(ctx, node, 3);
    const TfLiteTensor *state = hl_input(ctx, node, 4), *y = hl_output(ctx, node, 0);
    const TfLiteSVDFParams *params = node->builtin_data;
    struct svdf *op = node->user_data;

    HL_REQUIRE(ctx, node, features->type == kTfLiteInt8 && y->type == kTfLiteInt8,
               "feature weights and output must be int8");
    HL_REQUIRE(ctx, node, state->type == kTfLiteInt16 || state->type == kTfLiteInt8,
               "state of type %s is not supported", hl_type_name(state->type));
    HL_REQUIRE(ctx, node, hl_same_type(time, state), "time weights are %s, the state is %s", hl_type_name(time->type),
               hl_type_name(state->type));
    HL_REQUIRE(ctx, node, !bias || bias->type == kTfLiteInt32, "the bias is not int32");
    HL_REQUIRE(ctx, node, params->activation == kTfLiteActRelu, "activation %d is not supported, only RELU",
               (int)params->activation);
    const TfLiteTensor *const scaled[] = {x, features, time, state, y};
    for (int i = 0; i < 5; i++) {
        HL_REQUIRE(ctx, node, hl_scale(scaled[i]) > 0 && isfinite(hl_scale(scaled[i])),
                   "scale %g must be positive and finite", hl_scale(scaled[i]));
        HL_REQUIRE(ctx, node, hl_zero(scaled[i]) >= INT8_MIN && hl_zero(scaled[i]) <= INT8_MAX,
                   "zero point %d is outside int8", hl_zero(scaled[i]));
    }
    op->to_state = hl_rescale_from((double)(x->params.scale * features->params.scale / state->params.scale));
    op->to_output = hl_rescale_from((double)(state->params.scale * time->params.scale / y->params.scale));
    return kTfLiteOk;
}

static TfLiteStatus svdf_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 5, 1));
    HL_TRY(hl_make_temporaries(ctx, node, TEMPORARIES));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    struct svdf *op = node->user_data;
    HL_TRY(check_shapes(ctx, node));
    if (x->type == kTfLiteFloat32)
        HL_TRY(check_float(ctx, node));
    else if (x->type == kTfLiteInt8)
        HL_TRY(check_int8(ctx, node));
    else
        return hl_unsupported_type(ctx, node, x);

    struct shape s = shape_of(ctx, node);
    bool floats = x->type == kTfLiteFloat32;
    int features = floats ? s.filters : 0, weights = op->hybrid ? s.memory : 0;
    int64_t wide = op->hybrid ? hl_stored_room(s.inputs) : floats ? 0 : s.inputs;
    // Beside the input, int8 memory of the filters that are multiplied at a time.
    if (hl_input(ctx, node, 4)->type == kTfLiteInt8) wide += (int64_t)at_a_time(&s, 0) * s.memory;
    HL_REQUIRE(ctx, node, wide <= INT32_MAX, "the layer is too large");
    HL_TRY(hl_set_temporary(ctx, node, FEATURES, kTfLiteFloat32, false, 1, &features));
    HL_TRY(hl_set_temporary(ctx, node, TIME_WEIGHTS, kTfLiteFloat32, false, 2, (const int[]){s.filters, weights}));
    HL_TRY(hl_set_temporary(ctx, node, WIDE, kTfLiteInt16, false, 1, (const int[]){(int)wide}));
    return hl_resize(ctx, hl_output(ctx, node, 0), 2, (const int[]){s.batch, s.units});
}

// The state of all filters and batches is one array to this: each value moves one place to the
// front.
static void forget_oldest(TfLiteTensor *state)
{
    size_t size = hl_type_size(state->type), bytes = hl_dense_bytes(state);
    if (bytes > size) memmove(state->data.raw, state->data.raw + size, bytes - size);
}

static void run_float(TfLiteContext *ctx, TfLiteNode *node, const struct shape *s)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *weights = hl_input(ctx, node, 1);
    const TfLiteTensor *time_weights = hl_input(ctx, node, 2), *bias = hl_input(ctx, node, 3);
    const TfLiteSVDFParams *params = node->builtin_data;
    const struct svdf *op = node->user_data;
    float *features = HL_OUT(float, hl_temporary(ctx, node, FEATURES));
    const float *time = HL_IN(float, time_weights);
    if (op->hybrid) {
        float *real = HL_OUT(float, hl_temporary(ctx, node, TIME_WEIGHTS));
        const int8_t *stored = HL_IN(int8_t, time_weights);
        for (int64_t i = 0, n = hl_elements(time_weights); i < n; i++)
            real[i] = (float)stored[i] * time_weights->params.scale;
        time = real;
    }
    float *memory = HL_OUT(float, hl_variable_input(ctx, node, 4));
    float *y = HL_OUT(float, hl_output(ctx, node, 0));
    struct hl_stored_vector stored = {.wide = HL_OUT(int16_t, hl_temporary(ctx, node, WIDE))};
    const struct hl_row_kernels *kernels = hl_row_kernels(ctx);
    const int length = s->memory;

    for (int b = 0; b < s->batch; b++, y += s->units) {
        const float *row = HL_IN(float, x) + (size_t)b * (size_t)s->inputs;
        for (int f = 0; f < s->filters; f++) features[f] = 0;
        if (op->hybrid) {
            hl_store_vector(kernels, &stored, row, s->inputs, params->asymmetric_quantize_inputs);
            hl_matvec_hybrid(kernels, HL_IN(int8_t, weights), weights->params.scale, s->filters, s->inputs, &stored,
                             features);
        } else {
            hl_matvec_f32(kernels, HL_IN(float, weights), s->filters, s->inputs, row, features);
        }
        for (int f = 0; f < s->filters; f++) memory[(int64_t)f * length + length - 1] = features[f];
        kernels->dots_f32(time, length, s->filters, memory, length, length, features);
        memory += (int64_t)s->filters * length;
        for (int u = 0; u < s->units; u++) {
            y[u] = bias ? HL_IN(float, bias)[u] : 0;
            for (int r = 0; r < s->rank; r++) y[u] += features[u * s->rank + r];
        }
        hl_activate_vector(kernels, params->activation, y, s->units);
    }
}

// Puts features at the ends of the memory of `rows` filters, which lies `at` values into the state, and makes sums of
// them: w . memory.
static void remember(const struct hl_row_kernels *kernels, TfLiteTensor *state, int64_t at, int rows, int length,
                     const TfLiteTensor *time, int64_t w_at, struct hl_rescale rescale, int16_t *wide, int64_t *sums)
{
    int32_t zero = hl_zero(state);
    if (state->type == kTfLiteInt8) {
        int8_t *memory = HL_OUT(int8_t, state) + at;
        for (int r = 0; r < rows; r++)
            memory[r * (int64_t)length + length - 1] =
                hl_saturate_i8((int64_t)hl_rescale_apply(hl_saturate_i32(sums[r]), rescale) + zero);
        hl_widen(kTfLiteInt8, memory, 0, (int64_t)rows * length, zero, wide);
        hl_long_dots_i8(kernels, HL_IN(int8_t, time) + w_at, length, rows, wide, length, length, sums);
        return;
    }
    int16_t *memory = HL_OUT(int16_t, state) + at;
    const int16_t *w = HL_IN(int16_t, time) + w_at;
    for (int r = 0; r < rows; r++)
        memory[r * (int64_t)length + length - 1] =
            hl_saturate_i16((int64_t)hl_rescale_apply(hl_saturate_i32(sums[r]), rescale) + zero);
    kernels->dots_i16(w, length, rows, memory, length, length, sums);
    for (int r = 0; zero != 0 && r < rows; r++, w += length) {
        int64_t sum = 0;
        for (int i = 0; i < length; i++) sum += w[i];
        sums[r] -= zero * sum;
    }
}

static void run_int8(TfLiteContext *ctx, TfLiteNode *node, const struct shape *s)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0), *weights = hl_input(ctx, node, 1);
    const TfLiteTensor *time = hl_input(ctx, node, 2), *bias = hl_input(ctx, node, 3);
    TfLiteTensor *state = hl_variable_input(ctx, node, 4), *y = hl_output(ctx, node, 0);
    const struct svdf *op = node->user_data;
    const struct hl_row_kernels *kernels = hl_row_kernels(ctx);
    int16_t *wide = HL_OUT(int16_t, hl_temporary(ctx, node, WIDE)), *wide_memory = wide + s->inputs;
    int8_t *out = HL_OUT(int8_t, y);

    for (int b = 0; b < s->batch; b++) {
        hl_widen(kTfLiteInt8, hl_data(x), (int64_t)b * s->inputs, s->inputs, hl_zero(x), wide);
        int unit = 0, left = s->rank; // filters of the unit
        int64_t sum = bias ? HL_IN(int32_t, bias)[0] : 0, sums[HL_LONG_DOTS_ROWS];
        for (int first = 0; first < s->filters; first += HL_LONG_DOTS_ROWS) {
            int rows = at_a_time(s, first);
            hl_long_dots_i8(kernels, HL_IN(int8_t, weights) + (int64_t)first * s->inputs, s->inputs, rows, wide, 0,
                            s->inputs, sums);
            remember(kernels, state, ((int64_t)b * s->filters + first) * s->memory, rows, s->memory, time,
                     (int64_t)first * s->memory, op->to_state, wide_memory, sums);
            for (int r = 0; r < rows; r++) {
                sum += sums[r];
                if (--left > 0) continue;
                *out++ = hl_saturate_i8((int64_t)hl_rescale_apply(hl_saturate_i32(sum), op->to_output) + hl_zero(y));
                left = s->rank;
                sum = bias && ++unit < s->units ? HL_IN(int32_t, bias)[unit] : 0;
            }
        }
    }
}

static TfLiteStatus svdf_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    struct shape s = shape_of(ctx, node);
    forget_oldest(hl_variable_input(ctx, node, 4));
    if (hl_input(ctx, node, 0)->type == kTfLiteFloat32)
        run_float(ctx, node, &s);
    else
        run_int8(ctx, node, &s);
    return kTfLiteOk;
}

const struct hl_op hl_op_svdf = {
    .state_size = sizeof(struct svdf),
    .prepare = svdf_prepare,
    .invoke = svdf_invoke,
    .work = hl_work_of_rows,
};
