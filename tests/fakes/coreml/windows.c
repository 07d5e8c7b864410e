// SPDX-License-Identifier: Apache-2.0
// Layers of the fake that look at windows of height and width, and the one with weights alone: convolution, pooling,
// padding, resizing, inner product. Sums are of doubles.
#include <stdlib.h>

#include "fake.h"

static int64_t at_least_0(int64_t number)
{
    return number > 0 ? number : 0;
}

// ---- sizes --------------------------------------------------------------------------------------

// How long the output of windows is, and what is added before the input, in one direction.
struct window {
    int64_t in, kernel, stride, dilation;
};

static int64_t window_output(const struct window *window, bool same, int64_t *before)
{
    int64_t whole = (window->kernel - 1) * window->dilation + 1;
    int64_t out = same ? (window->in + window->stride - 1) / window->stride : (window->in - whole) / window->stride + 1;
    *before = same ? at_least_0((out - 1) * window->stride + whole - window->in) / 2 : 0;
    return window->in < whole && !same ? 0 : out;
}

static bool check_pair(const uint64_t *pair, size_t count, const char *what, const struct fake_place *place)
{
    FAKE_WANT(place, count == 2 && pair[0] > 0 && pair[1] > 0, "%s is no pair of lengths", what);
    return true;
}

// ---- convolution --------------------------------------------------------------------------------

static bool set_deconvolution_size(struct fake_step *step, bool same, const struct fake_place *place)
{
    const Coreml__ConvolutionLayerParams *params = step->layer->convolution;
    const struct fake_blob *in = step->inputs[0];
    if (!check_pair(params->outputshape, params->n_outputshape, "outputShape", place)) return false;
    const int64_t size[2] = {in->h, in->w};
    int64_t before[2];
    for (int i = 0; i < 2; i++) {
        int64_t out = (int64_t)params->outputshape[i], stride = (int64_t)params->stride[i];
        int64_t whole =
            (size[i] - 1) * stride + ((int64_t)params->kernelsize[i] - 1) * (int64_t)params->dilationfactor[i] + 1;
        FAKE_WANT(place, same ? (out + stride - 1) / stride == size[i] : out == whole, "output size %lld",
                  (long long)out);
        before[i] = same ? at_least_0(whole - out) / 2 : 0;
    }
    step->pad_top = before[0];
    step->pad_left = before[1];
    step->output->h = (int64_t)params->outputshape[0];
    step->output->w = (int64_t)params->outputshape[1];
    return true;
}

static bool set_convolution_size(struct fake_step *step, bool same, const struct fake_place *place)
{
    const Coreml__ConvolutionLayerParams *params = step->layer->convolution;
    const struct fake_blob *in = step->inputs[0];
    FAKE_WANT(place, params->n_outputshape == 0, "an output size that a convolution does not have");
    struct window rows = {in->h, (int64_t)params->kernelsize[0], (int64_t)params->stride[0],
                          (int64_t)params->dilationfactor[0]};
    struct window columns = {in->w, (int64_t)params->kernelsize[1], (int64_t)params->stride[1],
                             (int64_t)params->dilationfactor[1]};
    step->output->h = window_output(&rows, same, &step->pad_top);
    step->output->w = window_output(&columns, same, &step->pad_left);
    FAKE_WANT(place, step->output->h > 0 && step->output->w > 0, "the kernel is larger than the input");
    return true;
}

static bool check_convolution(struct fake_step *step, const struct fake_place *place)
{
    const Coreml__ConvolutionLayerParams *params = step->layer->convolution;
    const struct fake_blob *in = step->inputs[0];
    bool same =
        params->convolution_padding_type_case == COREML__CONVOLUTION_LAYER_PARAMS__CONVOLUTION_PADDING_TYPE_SAME;
    if (!check_pair(params->kernelsize, params->n_kernelsize, "kernelSize", place) ||
        !check_pair(params->stride, params->n_stride, "stride", place) ||
        !check_pair(params->dilationfactor, params->n_dilationfactor, "dilationFactor", place))
        return false;
    FAKE_WANT(place, params->convolution_padding_type_case != 0, "no padding type");
    FAKE_WANT(place, same || !params->valid->paddingamounts, "amounts of padding");
    uint64_t groups = params->ngroups, out = params->outputchannels;
    FAKE_WANT(place, groups > 0 && out > 0 && out % groups == 0, "%llu groups", (unsigned long long)groups);
    FAKE_WANT(place, (int64_t)(params->kernelchannels * (params->isdeconvolution ? 1 : groups)) == in->c,
              "%llu kernel channels", (unsigned long long)params->kernelchannels);
    FAKE_WANT(place, !params->isdeconvolution || groups == 1, "groups of a deconvolution");
    FAKE_WANT(place, params->hasbias == (params->bias != NULL), "hasBias");
    if (!(params->isdeconvolution ? set_deconvolution_size : set_convolution_size)(step, same, place)) return false;
    step->output->c = (int64_t)out;
    step->weights = fake_weights(params->weights,
                                 out * params->kernelchannels * params->kernelsize[0] * params->kernelsize[1], place);
    step->bias = params->hasbias ? fake_weights(params->bias, out, place) : NULL;
    return step->weights && (!params->hasbias || step->bias);
}

static double convolve_at(const struct fake_step *step, int64_t b, int64_t c, int64_t y, int64_t x)
{
    const Coreml__ConvolutionLayerParams *params = step->layer->convolution;
    const struct fake_blob *in = step->inputs[0];
    int64_t each = (int64_t)params->kernelchannels, kh = (int64_t)params->kernelsize[0],
            kw = (int64_t)params->kernelsize[1];
    int64_t first = c / (step->output->c / (int64_t)params->ngroups) * each;
    double sum = step->bias ? (double)step->bias[c] : 0;
    for (int64_t i = 0; i < each; i++)
        for (int64_t r = 0; r < kh; r++) {
            int64_t h = y * (int64_t)params->stride[0] + r * (int64_t)params->dilationfactor[0] - step->pad_top;
            if (h < 0 || h >= in->h) continue;
            for (int64_t s = 0; s < kw; s++) {
                int64_t w = x * (int64_t)params->stride[1] + s * (int64_t)params->dilationfactor[1] - step->pad_left;
                if (w < 0 || w >= in->w) continue;
                sum += (double)*fake_at(in, b, first + i, h, w) *
                       (double)step->weights[((c * each + i) * kh + r) * kw + s];
            }
        }
    return sum;
}

// Weights are [in, out, height, width]. An input reaches the outputs that a convolution would read it from.
static double deconvolve_at(const struct fake_step *step, int64_t b, int64_t c, int64_t y, int64_t x)
{
    const Coreml__ConvolutionLayerParams *params = step->layer->convolution;
    const struct fake_blob *in = step->inputs[0];
    int64_t kh = (int64_t)params->kernelsize[0], kw = (int64_t)params->kernelsize[1];
    double sum = step->bias ? (double)step->bias[c] : 0;
    for (int64_t i = 0; i < in->c; i++)
        for (int64_t r = 0; r < kh; r++) {
            int64_t h = y + step->pad_top - r * (int64_t)params->dilationfactor[0], sy = (int64_t)params->stride[0];
            if (h < 0 || h % sy != 0 || h / sy >= in->h) continue;
            for (int64_t s = 0; s < kw; s++) {
                int64_t w = x + step->pad_left - s * (int64_t)params->dilationfactor[1],
                        sx = (int64_t)params->stride[1];
                if (w < 0 || w % sx != 0 || w / sx >= in->w) continue;
                sum += (double)*fake_at(in, b, i, h / sy, w / sx) *
                       (double)step->weights[((i * step->output->c + c) * kh + r) * kw + s];
            }
        }
    return sum;
}

static void for_each(const struct fake_step *step,
                     double (*value)(const struct fake_step *, int64_t b, int64_t c, int64_t y, int64_t x))
{
    const struct fake_blob *out = step->output;
    for (int64_t b = 0; b < out->b; b++)
        for (int64_t c = 0; c < out->c; c++)
            for (int64_t y = 0; y < out->h; y++)
                for (int64_t x = 0; x < out->w; x++) *fake_at(out, b, c, y, x) = (float)value(step, b, c, y, x);
}

static void compute_convolution(const struct fake_step *step)
{
    for_each(step, step->layer->convolution->isdeconvolution ? deconvolve_at : convolve_at);
}

const struct fake_kind fake_convolution = {COREML__NEURAL_NETWORK_LAYER__LAYER_CONVOLUTION,
                                           {1, 1},
                                           check_convolution,
                                           compute_convolution};

// ---- inner product ------------------------------------------------------------------------------

static bool check_inner_product(struct fake_step *step, const struct fake_place *place)
{
    const Coreml__InnerProductLayerParams *params = step->layer->innerproduct;
    const struct fake_blob *in = step->inputs[0];
    FAKE_WANT(place, (int64_t)params->inputchannels == in->c * in->h * in->w, "%llu input channels",
              (unsigned long long)params->inputchannels);
    FAKE_WANT(place, params->outputchannels > 0 && params->hasbias == (params->bias != NULL),
              "output channels or bias");
    step->output->c = (int64_t)params->outputchannels;
    step->output->h = step->output->w = 1;
    step->weights = fake_weights(params->weights, params->inputchannels * params->outputchannels, place);
    step->bias = params->hasbias ? fake_weights(params->bias, params->outputchannels, place) : NULL;
    return step->weights && (!params->hasbias || step->bias);
}

static double inner_product_at(const struct fake_step *step, int64_t b, int64_t c, int64_t y, int64_t x)
{
    int64_t count = (int64_t)step->layer->innerproduct->inputchannels;
    const float *in = step->inputs[0]->data + b * count;
    double sum = step->bias ? (double)step->bias[c] : 0;
    for (int64_t i = 0; i < count; i++) sum += (double)in[i] * (double)step->weights[c * count + i];
    (void)y;
    (void)x;
    return sum;
}

static void compute_inner_product(const struct fake_step *step)
{
    for_each(step, inner_product_at);
}

const struct fake_kind fake_inner_product = {COREML__NEURAL_NETWORK_LAYER__LAYER_INNER_PRODUCT,
                                             {1, 1},
                                             check_inner_product,
                                             compute_inner_product};

// ---- pooling ------------------------------------------------------------------------------------

static bool check_pooling(struct fake_step *step, const struct fake_place *place)
{
    const Coreml__PoolingLayerParams *params = step->layer->pooling;
    const struct fake_blob *in = step->inputs[0];
    bool same = params->pooling_padding_type_case == COREML__POOLING_LAYER_PARAMS__POOLING_PADDING_TYPE_SAME;
    FAKE_WANT(place, params->pooling_padding_type_case != 0, "no padding type");
    FAKE_WANT(place, same || !params->valid->paddingamounts, "amounts of padding");
    bool average = params->type == COREML__POOLING_LAYER_PARAMS__POOLING_TYPE__AVERAGE;
    FAKE_WANT(place, params->avgpoolexcludepadding == average, "avgPoolExcludePadding");
    if (params->globalpooling) {
        FAKE_WANT(place, params->n_kernelsize == 0 && params->n_stride == 0, "a window of a global pool");
        step->output->h = step->output->w = 1;
        return true;
    }
    if (!check_pair(params->kernelsize, params->n_kernelsize, "kernelSize", place) ||
        !check_pair(params->stride, params->n_stride, "stride", place))
        return false;
    struct window rows = {in->h, (int64_t)params->kernelsize[0], (int64_t)params->stride[0], 1};
    struct window columns = {in->w, (int64_t)params->kernelsize[1], (int64_t)params->stride[1], 1};
    step->output->h = window_output(&rows, same, &step->pad_top);
    step->output->w = window_output(&columns, same, &step->pad_left);
    FAKE_WANT(place, step->output->h > 0 && step->output->w > 0, "the window is larger than the input");
    return true;
}

static double pool_at(const struct fake_step *step, int64_t b, int64_t c, int64_t y, int64_t x)
{
    const Coreml__PoolingLayerParams *params = step->layer->pooling;
    const struct fake_blob *in = step->inputs[0];
    bool whole = params->globalpooling, average = params->type == COREML__POOLING_LAYER_PARAMS__POOLING_TYPE__AVERAGE;
    int64_t top = whole ? 0 : y * (int64_t)params->stride[0] - step->pad_top;
    int64_t left = whole ? 0 : x * (int64_t)params->stride[1] - step->pad_left;
    int64_t bottom = top + (whole ? in->h : (int64_t)params->kernelsize[0]);
    int64_t right = left + (whole ? in->w : (int64_t)params->kernelsize[1]);
    double sum = 0, most = 0;
    int64_t count = 0;
    for (int64_t h = at_least_0(top); h < bottom && h < in->h; h++)
        for (int64_t w = at_least_0(left); w < right && w < in->w; w++) {
            double value = (double)*fake_at(in, b, c, h, w);
            sum += value;
            if (count++ == 0 || value > most) most = value;
        }
    return average ? sum / (double)count : most;
}

static void compute_pooling(const struct fake_step *step)
{
    for_each(step, pool_at);
}

const struct fake_kind fake_pooling = {COREML__NEURAL_NETWORK_LAYER__LAYER_POOLING,
                                       {1, 1},
                                       check_pooling,
                                       compute_pooling};

// ---- padding ------------------------------------------------------------------------------------

static bool check_padding(struct fake_step *step, const struct fake_place *place)
{
    const Coreml__PaddingLayerParams *params = step->layer->padding;
    const struct fake_blob *in = step->inputs[0];
    FAKE_WANT(place, params->padding_type_case != 0, "no padding type");
    FAKE_WANT(place, params->paddingamounts && params->paddingamounts->n_borderamounts == 2, "no amounts of two axes");
    const Coreml__EdgeSizes *rows = params->paddingamounts->borderamounts[0];
    const Coreml__EdgeSizes *columns = params->paddingamounts->borderamounts[1];
    uint64_t most = 1u << 20;
    FAKE_WANT(place,
              rows->startedgesize < most && rows->endedgesize < most && columns->startedgesize < most &&
                  columns->endedgesize < most,
              "amounts that cannot be meant");
    if (params->padding_type_case == COREML__PADDING_LAYER_PARAMS__PADDING_TYPE_REFLECTION)
        FAKE_WANT(place,
                  (int64_t)rows->startedgesize < in->h && (int64_t)rows->endedgesize < in->h &&
                      (int64_t)columns->startedgesize < in->w && (int64_t)columns->endedgesize < in->w,
                  "more is reflected than there is");
    step->pad_top = (int64_t)rows->startedgesize;
    step->pad_left = (int64_t)columns->startedgesize;
    step->output->h = in->h + step->pad_top + (int64_t)rows->endedgesize;
    step->output->w = in->w + step->pad_left + (int64_t)columns->endedgesize;
    return true;
}

static int64_t reflect(int64_t position, int64_t length)
{
    if (position < 0) return -position;
    return position >= length ? 2 * (length - 1) - position : position;
}

static double padded_at(const struct fake_step *step, int64_t b, int64_t c, int64_t y, int64_t x)
{
    const Coreml__PaddingLayerParams *params = step->layer->padding;
    const struct fake_blob *in = step->inputs[0];
    int64_t h = y - step->pad_top, w = x - step->pad_left;
    if (params->padding_type_case == COREML__PADDING_LAYER_PARAMS__PADDING_TYPE_REFLECTION)
        return (double)*fake_at(in, b, c, reflect(h, in->h), reflect(w, in->w));
    bool inside = h >= 0 && h < in->h && w >= 0 && w < in->w;
    return (double)(inside ? *fake_at(in, b, c, h, w) : params->constant->value);
}

static void compute_padding(const struct fake_step *step)
{
    for_each(step, padded_at);
}

const struct fake_kind fake_padding = {COREML__NEURAL_NETWORK_LAYER__LAYER_PADDING,
                                       {1, 1},
                                       check_padding,
                                       compute_padding};

// ---- resizing -----------------------------------------------------------------------------------

static bool check_resize_bilinear(struct fake_step *step, const struct fake_place *place)
{
    const Coreml__ResizeBilinearLayerParams *params = step->layer->resizebilinear;
    if (!check_pair(params->targetsize, params->n_targetsize, "targetSize", place)) return false;
    FAKE_WANT(place, params->mode, "no mode");
    step->output->h = (int64_t)params->targetsize[0];
    step->output->w = (int64_t)params->targetsize[1];
    return true;
}

static double source_of(int64_t position, int64_t in, int64_t out, bool strict)
{
    if (strict) return out > 1 ? (double)(position * (in - 1)) / (double)(out - 1) : 0;
    return (double)(position * in) / (double)out;
}

static double resized_at(const struct fake_step *step, int64_t b, int64_t c, int64_t y, int64_t x)
{
    const struct fake_blob *in = step->inputs[0], *out = step->output;
    bool strict =
        step->layer->resizebilinear->mode->samplingmethod == COREML__SAMPLING_MODE__METHOD__STRICT_ALIGN_ENDPOINTS_MODE;
    double h = source_of(y, in->h, out->h, strict), w = source_of(x, in->w, out->w, strict);
    int64_t top = (int64_t)h, left = (int64_t)w;
    int64_t bottom = top + 1 < in->h ? top + 1 : top, right = left + 1 < in->w ? left + 1 : left;
    double v = h - (double)top, u = w - (double)left;
    double above = (double)*fake_at(in, b, c, top, left) * (1 - u) + (double)*fake_at(in, b, c, top, right) * u;
    double below = (double)*fake_at(in, b, c, bottom, left) * (1 - u) + (double)*fake_at(in, b, c, bottom, right) * u;
    return above * (1 - v) + below * v;
}

static void compute_resize_bilinear(const struct fake_step *step)
{
    for_each(step, resized_at);
}

const struct fake_kind fake_resize_bilinear = {COREML__NEURAL_NETWORK_LAYER__LAYER_RESIZE_BILINEAR,
                                               {1, 1},
                                               check_resize_bilinear,
                                               compute_resize_bilinear};
