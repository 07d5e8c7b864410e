// SPDX-License-Identifier: Apache-2.0
// What CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV share: the types that go together, the input
// and the weights in a form that can be multiplied, and the way from sums to output values.
//
// Float operands are used as they are. Integer ones are widened to int16 less their zero points: the
// whole input once per invoke, weights a few rows at a time. Hybrid nodes (float input, integer
// weights) quantize each batch of the input to int8 first.
#ifndef HALITE_OPS_COMMON_CONV_H
#define HALITE_OPS_COMMON_CONV_H

#include "abi/built_types.h"
#include "ops/common/dot.h"
#include "ops/common/quant.h"
#include "ops/common/window.h"

enum hl_conv_mode {
    HL_CONV_F32,
    HL_CONV_8BIT,   // int8 or uint8 throughout
    HL_CONV_INT16,  // int16 activations, int8 weights
    HL_CONV_HYBRID, // float32 activations, integer weights
};

// What an operator accepts beyond the combinations that all three accept.
enum {
    HL_CONV_NO_BIAS = 1,        // the bias may be absent
    HL_CONV_INT4 = 2,           // int4 weights with integer activations
    HL_CONV_HYBRID_UINT8 = 4,   // uint8 weights in hybrid nodes, taken as int8
    HL_CONV_INT16_BIAS_I32 = 8, // int16 activations with an int32 bias
    HL_CONV_HYBRID_INT4 = 16,   // int4 weights in hybrid nodes
};

// Which inputs a node has, and what its options say.
struct hl_conv_node {
    int input, filter, bias; // numbers of the node's inputs
    int channel_axis;        // of the filter: its output channels
    TfLitePadding padding;
    int stride_h, stride_w, dilation_h, dilation_w;
    TfLiteFusedActivation activation;
    unsigned accepts;
    bool short_sums; // int16 activations without a bias: the options say int32
};

// The sizes of a convolution. Prepare fills them once, for the reference kernel and the fast one. A transposed
// convolution has the same fields: its windows slide over the output, and the padding is the output's.
struct hl_conv_shape {
    int batches, height, width, channels; // of the input
    int outputs, kh, kw;                  // of the filter: output channels and taps
    int filter_channels;                  // input channels that one output channel sees
    int out_height, out_width;
    int stride_h, stride_w, dilation_h, dilation_w;
    int pad_top, pad_left;
};

static inline int hl_conv_groups(const struct hl_conv_shape *shape)
{
    return shape->channels / shape->filter_channels;
}

// Whether windows move along a column of single positions, as in a series whose time is the height. In memory a column
// is a row, which loops over the positions of a row take at once: hl_conv_as_row turns it.
static inline bool hl_conv_is_column(const struct hl_conv_shape *shape)
{
    return shape->width == 1 && shape->kw == 1 && shape->out_width == 1 && shape->kh > 1;
}

// The same of a node whose threads share rows.
static inline bool hl_conv_turns(const struct hl_conv_shape *shape, int threads)
{
    return hl_conv_is_column(shape) && hl_column_turns(shape->out_height, threads);
}

static inline struct hl_conv_shape hl_conv_as_row(const struct hl_conv_shape *shape)
{
    struct hl_conv_shape row = *shape;
    row.height = shape->width, row.width = shape->height, row.kh = shape->kw, row.kw = shape->kh;
    row.out_height = shape->out_width, row.out_width = shape->out_height;
    row.stride_h = shape->stride_w, row.stride_w = shape->stride_h;
    row.dilation_h = shape->dilation_w, row.dilation_w = shape->dilation_h;
    row.pad_top = shape->pad_left, row.pad_left = shape->pad_top;
    return row;
}

struct hl_conv {
    enum hl_conv_mode mode;
    bool asymmetric;             // hybrid: the quantized input has a zero point
    bool two_steps;              // hybrid: multiply with one scale after the other (rounding!)
    bool scaled_products;        // hybrid: products are scaled before they are added, as floats (rounding!)
    bool wide_sums;              // int16: sums are rescaled as int64
    struct hl_rescale *rescales; // one per output channel, owned; NULL unless the mode is integer
    int32_t low, high;           // range of stored outputs
    float low_f32, high_f32;     // range of float outputs
};

// As all nodes are in a build without integers.
static inline bool hl_conv_is_f32(const struct hl_conv *conv)
{
    return !HL_HAS_INTEGERS || conv->mode == HL_CONV_F32;
}

// The state of CONV_2D and DEPTHWISE_CONV_2D.
struct hl_conv_2d {
    struct hl_conv conv; // first: hl_conv_release
    struct hl_conv_shape shape;
};

// What the hl_op of both has in common.
#define HL_CONV_2D_FIELDS .state_size = sizeof(struct hl_conv_2d), .work = hl_work_of_filter, .release = hl_conv_release

// The members of a struct hl_conv_node that come from options, which every kind of convolution calls by the same names.
#define HL_CONV_STRIDES(params)                                                                            \
    .padding = (params)->padding, .stride_h = (params)->stride_height, .stride_w = (params)->stride_width, \
    .activation = (params)->activation
#define HL_CONV_DILATIONS(params) \
    .dilation_h = (params)->dilation_height_factor, .dilation_w = (params)->dilation_width_factor

// The sizes of input and filter, whose ranks it checks, and the strides and dilations. The output's sizes and the
// padding stay 0.
TfLiteStatus hl_conv_read_shape(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_node *desc,
                                struct hl_conv_shape *shape);
// Begins the prepare of CONV_2D and DEPTHWISE_CONV_2D: counts the operands, makes the scratch tensors, and reads the
// same sizes of an input that must not be empty.
TfLiteStatus hl_conv_2d_begin(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc,
                              struct hl_conv_shape *shape);
// The output's sizes and the padding of CONV_2D and DEPTHWISE_CONV_2D, in `shape` and in the output tensor.
TfLiteStatus hl_conv_shape_output(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc,
                                  struct hl_conv_shape *shape);

// In prepare, in this order, before and after taking pointers to tensors:
// the scratch tensors that the node's types need;
TfLiteStatus hl_conv_make_temporaries(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc);
// types, bias, quantization (asymmetric and two_steps, scaled_products are the operator's own to set);
TfLiteStatus hl_conv_check(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc, struct hl_conv *conv);
// sizes of the scratch tensors; rows: how many of the filter's first dimension are widened at once.
TfLiteStatus hl_conv_scratch(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc,
                             const struct hl_conv *conv, int rows);
// The hl_op.release of an operator whose state begins with a struct hl_conv.
void hl_conv_release(void *state);

// Operands during invoke: x_f32 for HL_CONV_F32, the wide pointers for the other modes.
struct hl_conv_work {
    const struct hl_conv *conv;
    const TfLiteTensor *filter, *bias;
    TfLiteTensor *output;
    const float *x_f32;
    const int16_t *x_wide;
    int16_t *w_wide; // scratch of hl_conv_rows
    int filter_zero;
    const float *input_scales;  // hybrid: one for each batch
    const float *filter_scales; // hybrid: filter_scale_step 1 for one per channel, 0 for one in all
    int filter_scale_step;
};
void hl_conv_start(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_node *desc, const struct hl_conv *conv,
                   struct hl_conv_work *work);

// Weights [first, first + count), ready to be multiplied until the next call.
union hl_conv_weights {
    const float *f32;
    const int16_t *wide;
};
union hl_conv_weights hl_conv_rows(const struct hl_conv_work *work, int64_t first, int64_t count);

// Sums of HL_ADD_DOTS_ROWS output channels at one position.
union hl_conv_sums {
    float f32[HL_ADD_DOTS_ROWS];
    int64_t wide[HL_ADD_DOTS_ROWS];
};
static inline void hl_conv_clear(union hl_conv_sums *sums)
{
    *sums = (union hl_conv_sums){.wide = {0}};
}
// Adds the products of input elements from `at` on with `rows` rows of weights, `stride` apart.
static inline void hl_conv_add(const struct hl_conv_work *work, union hl_conv_sums *sums, int64_t at,
                               union hl_conv_weights weights, int64_t weights_at, int64_t stride, int rows,
                               int64_t count)
{
    if (count == 0) return; // there may be no data
    if (hl_conv_is_f32(work->conv))
        hl_add_dots_f32(weights.f32 + weights_at, stride, rows, work->x_f32 + at, count, sums->f32);
    else
        hl_add_dots_i16(weights.wide + weights_at, stride, rows, work->x_wide + at, count, sums->wide);
}
// Bias, scale and activation: sums of `count` output channels from `channel` on become the output
// elements from `at` on. sums are float or int64 as the mode wants.
void hl_conv_store(const struct hl_conv_work *work, int batch, int channel, int count, const void *sums, int64_t at);

// The taps [first, end) of a window at position `start` that lie inside an input of `in` positions.
static inline void hl_conv_taps(int64_t start, int in, int filter, int dilation, int *first, int *end)
{
    int64_t before = start < 0 ? (-start + dilation - 1) / dilation : 0;
    int64_t inside = start < in ? (in - start + dilation - 1) / dilation : 0;
    *end = inside < filter ? (int)inside : filter;
    *first = before < *end ? (int)before : *end;
}

// Transposed: the input positions [first, end) whose windows, `reach` wide and `stride` apart, hold
// output position `at`, which counts the padding in front.
static inline void hl_conv_sources(int64_t at, int in, int64_t reach, int stride, int *first, int *end)
{
    int64_t low = at < reach ? 0 : (at - reach) / stride + 1, high = at / stride + 1;
    *end = high < in ? (int)high : in;
    *first = low < *end ? (int)low : *end;
}

#endif
