// SPDX-License-Identifier: Apache-2.0
// CONV_2D with constant weights, float32, 8-bit (weights of 4 bits, too) or hybrid, in any number of groups, and int16
// with 64-bit sums in one group. Groups of one channel of 8 bits are a depthwise convolution.
#include <stdlib.h>

#include "abi/built_types.h"
#include "fast/chain.h"
#include "fast/convolve.h"
#include "fast/depthwise.h"
#include "fast/fast.h"
#include "fast/winograd.h"
#include "ops/common/conv.h"

// One of them.
struct conv_2d {
    void *winograd, *convolve, *depthwise;
};

static void conv_2d_release(void *state)
{
    struct conv_2d *conv = state;
    if (!conv) return;
    hl_winograd_destroy(conv->winograd);
    hl_convolve_destroy(conv->convolve);
    hl_fast_depthwise_conv_2d.release(conv->depthwise);
    free(conv);
}

// Where there is no memory for the one, there may be for the other.
static TfLiteStatus create(TfLiteContext *ctx, TfLiteNode *node, const struct hl_conv_shape *shape,
                           const struct hl_convolve_params *params, struct conv_2d *made, size_t *bytes)
{
    HL_TRY(hl_depthwise_of_groups(ctx, node, shape, &made->depthwise, bytes));
    if (made->depthwise) return kTfLiteOk;
    if (HL_HAS_WINOGRAD && hl_winograd_pays(shape, params))
        HL_TRY(hl_winograd_create(ctx, node, shape, params, &made->winograd, bytes));
    return made->winograd ? kTfLiteOk : hl_convolve_create(ctx, node, shape, params, &made->convolve, bytes);
}

static bool takes_words(const struct hl_conv_2d *op)
{
    return HL_HAS_WORDS && op->conv.wide_sums && hl_conv_groups(&op->shape) == 1 && hl_simd_best_of_pairs();
}

// The depthwise convolution that a 1x1 convolution may have the lines made by that it reads; NULL: none.
static const TfLiteNode *depthwise_before(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_conv_shape *s)
{
    const bool pointwise = s->kh == 1 && s->kw == 1 && s->stride_h == 1 && s->stride_w == 1;
    return pointwise ? hl_find_depthwise(ctx, node) : NULL;
}

static TfLiteStatus conv_2d_prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const struct hl_conv_2d *op = node->user_data;
    const TfLiteTensor *w = hl_input(ctx, node, 1), *bias = hl_input(ctx, node, 2);
    const TfLiteTensor *y = hl_output(ctx, node, 0);
    bool hybrid = op->conv.mode == HL_CONV_HYBRID;
    if (op->conv.mode == HL_CONV_INT16 && !takes_words(op)) return kTfLiteOk;
    if (hybrid && w->type == kTfLiteUInt8) return kTfLiteOk;
    if (!hl_is_packable(w) || (bias && !hl_is_packable(bias)) || hl_elements(y) == 0) return kTfLiteOk;
    struct hl_convolve_params params = hl_convolve_conv_params(ctx, node, &op->conv);
    struct hl_conv_shape shape = op->shape;
    const bool pads = hl_fast_pads(ctx, node, &op->conv, true, &shape);
    const TfLiteNode *depthwise = depthwise_before(ctx, node, &shape);
    if (depthwise) params.depthwise = hl_fast_state_of(depthwise);
    struct conv_2d *made = calloc(1, sizeof *made);
    HL_REQUIRE(ctx, node, made, "no memory for the %zu bytes of a fast kernel", sizeof *made);
    TfLiteStatus status = create(ctx, node, &shape, &params, made, bytes);
    if (!made->winograd && !made->convolve && !made->depthwise) {
        free(made);
        return status;
    }
    *state = made;
    *bytes += sizeof *made;
    const bool has_depthwise = hl_convolve_has_depthwise(made->convolve);
    if (has_depthwise) hl_fast_take_work(node, depthwise);
    if (pads || has_depthwise) hl_take_over(ctx, node);
    return kTfLiteOk;
}

static TfLiteStatus conv_2d_invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct conv_2d *conv = state;
    if (conv->depthwise) return hl_fast_depthwise_conv_2d.invoke(ctx, node, conv->depthwise);
    const void *x = hl_data(hl_read_input(ctx, node));
    void *y = hl_result_data(ctx, node);
    if (HL_HAS_WINOGRAD && conv->winograd)
        hl_winograd_run(ctx, conv->winograd, x, y);
    else
        hl_convolve_run(ctx, conv->convolve, x, y);
    return kTfLiteOk;
}

static bool conv_2d_lead(void *state, const struct hl_chain *chain)
{
    const struct conv_2d *conv = state;
    if (conv->depthwise) return !chain->pool && hl_fast_depthwise_conv_2d.lead(conv->depthwise, chain);
    return conv->winograd ? hl_winograd_lead(conv->winograd, chain) : hl_convolve_lead(conv->convolve, chain);
}

static bool conv_2d_set_row_stride(void *state, int64_t stride)
{
    const struct conv_2d *conv = state;
    if (conv->depthwise) return false;
    return conv->winograd ? hl_winograd_set_row_stride(conv->winograd, stride)
                          : hl_convolve_set_row_stride(conv->convolve, stride);
}

const struct hl_fast hl_fast_conv_2d = {
    .prepare = conv_2d_prepare,
    .invoke = conv_2d_invoke,
    .release = conv_2d_release,
    .lead = conv_2d_lead,
    .set_row_stride = conv_2d_set_row_stride,
    .leads_to_pools = true,
};
