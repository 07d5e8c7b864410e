// SPDX-License-Identifier: Apache-2.0
// Layers of the fake that compute element by element, or move elements: activations, unary functions, sums, products,
// softmax, concatenation, reshaping.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "fake.h"

// ---- activations, unary functions ---------------------------------------------------------------

static bool check_activation(struct fake_step *step, const struct fake_place *place)
{
    FAKE_WANT(place, step->layer->activation->nonlinearity_type_case != 0, "no function");
    return true;
}

static float activate(const Coreml__ActivationParams *params, float x)
{
    switch (params->nonlinearity_type_case) {
    case COREML__ACTIVATION_PARAMS__NONLINEARITY_TYPE_LINEAR: return params->linear->alpha * x + params->linear->beta;
    case COREML__ACTIVATION_PARAMS__NONLINEARITY_TYPE_RE_LU: return x < 0 ? 0 : x;
    case COREML__ACTIVATION_PARAMS__NONLINEARITY_TYPE_TANH: return (float)tanh((double)x);
    default: return (float)(1 / (1 + exp(-(double)x)));
    }
}

static void compute_activation(const struct fake_step *step)
{
    for (int64_t i = 0; i < fake_count(step->output); i++)
        step->output->data[i] = activate(step->layer->activation, step->inputs[0]->data[i]);
}

const struct fake_kind fake_activation = {COREML__NEURAL_NETWORK_LAYER__LAYER_ACTIVATION,
                                          {1, 1},
                                          check_activation,
                                          compute_activation};

static bool check_unary(struct fake_step *step, const struct fake_place *place)
{
    const Coreml__UnaryFunctionLayerParams *params = step->layer->unary;
    FAKE_WANT(place, params->type == COREML__UNARY_FUNCTION_LAYER_PARAMS__OPERATION__THRESHOLD, "function %d",
              (int)params->type);
    FAKE_WANT(place, params->scale != 0, "a scale of 0");
    return true;
}

static void compute_unary(const struct fake_step *step)
{
    const Coreml__UnaryFunctionLayerParams *params = step->layer->unary;
    for (int64_t i = 0; i < fake_count(step->output); i++) {
        float x = params->scale * step->inputs[0]->data[i] + params->shift;
        step->output->data[i] = x < params->alpha ? params->alpha : x;
    }
}

const struct fake_kind fake_unary = {COREML__NEURAL_NETWORK_LAYER__LAYER_UNARY, {1, 1}, check_unary, compute_unary};

// ---- sums and products --------------------------------------------------------------------------

// The first input has the output's shape. Another is broadcast over channels, over height and width, or over all.
static bool check_arithmetic(struct fake_step *step, const struct fake_place *place)
{
    const struct fake_blob *out = step->output;
    for (int i = 1; i < step->input_count; i++) {
        const struct fake_blob *in = step->inputs[i];
        FAKE_WANT(place, in->b == out->b && (in->c == out->c || in->c == 1), "batch or channels of input %d", i);
        FAKE_WANT(place, (in->h == out->h && in->w == out->w) || (in->h == 1 && in->w == 1),
                  "height or width of input %d", i);
    }
    return true;
}

static void compute_arithmetic(const struct fake_step *step, bool multiplies, float alpha)
{
    const struct fake_blob *out = step->output, *in = step->inputs[0], *other = in;
    if (step->input_count > 1) other = step->inputs[1];
    for (int64_t b = 0; b < out->b; b++)
        for (int64_t c = 0; c < out->c; c++)
            for (int64_t y = 0; y < out->h; y++)
                for (int64_t x = 0; x < out->w; x++) {
                    int64_t small_c = other->c == 1 ? 0 : c, small_y = other->h == 1 ? 0 : y,
                            small_x = other->w == 1 ? 0 : x;
                    float a = *fake_at(in, b, c, y, x);
                    float second = step->input_count > 1 ? *fake_at(other, b, small_c, small_y, small_x) : alpha;
                    *fake_at(out, b, c, y, x) = multiplies ? a * second : a + second;
                }
}

static void compute_add(const struct fake_step *step)
{
    compute_arithmetic(step, false, step->layer->add->alpha);
}

static void compute_multiply(const struct fake_step *step)
{
    compute_arithmetic(step, true, step->layer->multiply->alpha);
}

const struct fake_kind fake_add = {COREML__NEURAL_NETWORK_LAYER__LAYER_ADD, {1, 2}, check_arithmetic, compute_add};
const struct fake_kind fake_multiply = {COREML__NEURAL_NETWORK_LAYER__LAYER_MULTIPLY,
                                        {1, 2},
                                        check_arithmetic,
                                        compute_multiply};

// ---- softmax ------------------------------------------------------------------------------------

static bool check_softmax(struct fake_step *step, const struct fake_place *place)
{
    (void)step;
    (void)place;
    return true;
}

static void softmax_pixel(const struct fake_blob *in, const struct fake_blob *out, int64_t b, int64_t y, int64_t x)
{
    double most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < in->c; c++) most = fmax(most, (double)*fake_at(in, b, c, y, x));
    for (int64_t c = 0; c < in->c; c++) sum += exp((double)*fake_at(in, b, c, y, x) - most);
    for (int64_t c = 0; c < in->c; c++)
        *fake_at(out, b, c, y, x) = (float)(exp((double)*fake_at(in, b, c, y, x) - most) / sum);
}

static void compute_softmax(const struct fake_step *step)
{
    const struct fake_blob *out = step->output;
    for (int64_t b = 0; b < out->b; b++)
        for (int64_t y = 0; y < out->h; y++)
            for (int64_t x = 0; x < out->w; x++) softmax_pixel(step->inputs[0], out, b, y, x);
}

const struct fake_kind fake_softmax = {COREML__NEURAL_NETWORK_LAYER__LAYER_SOFTMAX,
                                       {1, 1},
                                       check_softmax,
                                       compute_softmax};

// ---- concatenation ------------------------------------------------------------------------------

static bool check_concat(struct fake_step *step, const struct fake_place *place)
{
    FAKE_WANT(place, !step->layer->concat->sequenceconcat, "sequenceConcat");
    struct fake_blob *out = step->output;
    for (int i = 1; i < step->input_count; i++) {
        const struct fake_blob *in = step->inputs[i];
        FAKE_WANT(place, in->b == out->b && in->h == out->h && in->w == out->w, "input %d has another size", i);
        out->c += in->c;
    }
    return true;
}

static void compute_concat(const struct fake_step *step)
{
    const struct fake_blob *out = step->output;
    int64_t first = 0;
    for (int i = 0; i < step->input_count; i++) {
        const struct fake_blob *in = step->inputs[i];
        for (int64_t b = 0; b < in->b; b++)
            memcpy(fake_at(out, b, first, 0, 0), fake_at(in, b, 0, 0, 0),
                   (size_t)(in->c * in->h * in->w) * sizeof(float));
        first += in->c;
    }
}

const struct fake_kind fake_concat = {COREML__NEURAL_NETWORK_LAYER__LAYER_CONCAT,
                                      {2, INT32_MAX},
                                      check_concat,
                                      compute_concat};

// ---- reshaping ----------------------------------------------------------------------------------

static bool check_reshape(struct fake_step *step, const struct fake_place *place)
{
    const Coreml__ReshapeLayerParams *params = step->layer->reshape;
    struct fake_blob *out = step->output;
    FAKE_WANT(place, params->n_targetshape == 3 && out->b == 1, "a shape of %zu dimensions", params->n_targetshape);
    out->c = params->targetshape[0];
    out->h = params->targetshape[1];
    out->w = params->targetshape[2];
    FAKE_WANT(place, fake_count(out) == fake_count(step->inputs[0]), "another number of elements");
    return true;
}

// The element that comes at `position` where channels are innermost.
static float *at_last(const struct fake_blob *blob, int64_t position)
{
    int64_t c = position % blob->c, pixel = position / blob->c;
    return fake_at(blob, 0, c, pixel / blob->w, pixel % blob->w);
}

static void compute_reshape(const struct fake_step *step)
{
    const struct fake_blob *in = step->inputs[0], *out = step->output;
    bool last = step->layer->reshape->mode == COREML__RESHAPE_LAYER_PARAMS__RESHAPE_ORDER__CHANNEL_LAST;
    for (int64_t i = 0; i < fake_count(out); i++)
        if (last)
            *at_last(out, i) = *at_last(in, i);
        else
            out->data[i] = in->data[i];
}

const struct fake_kind fake_reshape = {COREML__NEURAL_NETWORK_LAYER__LAYER_RESHAPE,
                                       {1, 1},
                                       check_reshape,
                                       compute_reshape};
