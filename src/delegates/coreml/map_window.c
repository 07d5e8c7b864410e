// SPDX-License-Identifier: Apache-2.0
// Operators on the height and width of images: pools, MEAN over all pixels, PAD and MIRROR_PAD, RESIZE_BILINEAR.
#include "delegates/coreml/activation.h"
#include "delegates/coreml/constant.h"
#include "delegates/coreml/op.h"

// ---- pools, MEAN --------------------------------------------------------------------------------

struct pooling {
    Coreml__NeuralNetworkLayer layer;
    Coreml__PoolingLayerParams params;
    Coreml__ValidPadding valid;
    Coreml__SamePadding same;
    uint64_t kernel[2], stride[2]; // height, width
};

static struct pooling *add_pooling(struct coreml_model *model, const struct coreml_node *node, TfLitePadding padding)
{
    char *from = coreml_name(model, coreml_input(node, 0));
    struct pooling *own = (void *)coreml_add_layer(model, sizeof *own, 1, &from);
    if (!own) return NULL;
    Coreml__PoolingLayerParams *params = &own->params;
    coreml__pooling_layer_params__init(params);
    coreml__valid_padding__init(&own->valid);
    coreml__same_padding__init(&own->same);
    if (padding == kTfLitePaddingSame) {
        params->pooling_padding_type_case = COREML__POOLING_LAYER_PARAMS__POOLING_PADDING_TYPE_SAME;
        params->same = &own->same;
    } else {
        params->pooling_padding_type_case = COREML__POOLING_LAYER_PARAMS__POOLING_PADDING_TYPE_VALID;
        params->valid = &own->valid;
    }
    params->type = COREML__POOLING_LAYER_PARAMS__POOLING_TYPE__AVERAGE;
    params->avgpoolexcludepadding = true;
    own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_POOLING;
    own->layer.pooling = params;
    return own;
}

static bool check_pool(const struct delegate_view *view)
{
    const TfLitePoolParams *params = view->node->builtin_data;
    if (params->padding != kTfLitePaddingSame && params->padding != kTfLitePaddingValid)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "padding %d", (int)params->padding);
    if (params->filter_height <= 0 || params->filter_width <= 0)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "a window of %d x %d", params->filter_height,
                               params->filter_width);
    return coreml_check_rank(view, 0, 4) && coreml_check_no_activation(view, params->activation) &&
           coreml_check_strides(view, params->stride_height, params->stride_width);
}

static void map_pool(struct coreml_model *model, const struct coreml_node *node)
{
    const TfLitePoolParams *params = node->node->builtin_data;
    struct pooling *own = add_pooling(model, node, params->padding);
    if (!own) return;
    if (node->builtin == kTfLiteBuiltinMaxPool2d) {
        own->params.type = COREML__POOLING_LAYER_PARAMS__POOLING_TYPE__MAX;
        own->params.avgpoolexcludepadding = false;
    }
    own->kernel[0] = (uint64_t)params->filter_height;
    own->kernel[1] = (uint64_t)params->filter_width;
    own->stride[0] = (uint64_t)params->stride_height;
    own->stride[1] = (uint64_t)params->stride_width;
    own->params.kernelsize = own->kernel;
    own->params.stride = own->stride;
    own->params.n_kernelsize = own->params.n_stride = 2;
    coreml_finish(model, &own->layer, kTfLiteActNone, coreml_result(node));
}

const struct coreml_family coreml_family_pool = {
    .inputs = {1, 1}, .data = 1, .needs_params = true, .check = check_pool, .map = map_pool};

// Core ML's global pool takes height and width together. An axis that is not named may have the length 1.
static bool check_mean(const struct delegate_view *view)
{
    const TfLiteTensor *in = delegate_input(view, 0), *axes = delegate_input(view, 1);
    if (!coreml_check_rank(view, 0, 4) || !coreml_check_ints(view, 1, 1, 4)) return false;
    if (!((const TfLiteReducerParams *)view->node->builtin_data)->keep_dims)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "keep_dims is false");
    bool named[4] = {false};
    for (int64_t i = 0; i < hl_elements(axes); i++) {
        int64_t axis = hl_integer_at(axes, i);
        if (axis < 0) axis += 4;
        if (axis != 1 && axis != 2)
            return delegate_refuse(view, DELEGATE_PARAMETER, 1, "axis %d; 1 and 2 are taken",
                                   (int)hl_integer_at(axes, i));
        named[axis] = true;
    }
    for (int axis = 1; axis <= 2; axis++)
        if (!named[axis] && hl_dim(in, axis) != 1)
            return delegate_refuse(view, DELEGATE_PARAMETER, 1, "axis %d alone; both height and width are taken",
                                   3 - axis);
    return true;
}

static void map_mean(struct coreml_model *model, const struct coreml_node *node)
{
    struct pooling *own = add_pooling(model, node, kTfLitePaddingValid);
    if (!own) return;
    own->params.globalpooling = true;
    coreml_finish(model, &own->layer, kTfLiteActNone, coreml_result(node));
}

const struct coreml_family coreml_family_mean = {
    .inputs = {2, 2}, .data = 1, .needs_params = true, .check = check_mean, .map = map_mean};

// ---- PAD, PADV2, MIRROR_PAD ---------------------------------------------------------------------

struct padding {
    Coreml__NeuralNetworkLayer layer;
    Coreml__PaddingLayerParams params;
    Coreml__PaddingLayerParams__PaddingConstant constant;
    Coreml__PaddingLayerParams__PaddingReflection reflection;
    Coreml__BorderAmounts amounts;
    Coreml__EdgeSizes edges[2], *edge_list[2]; // height, width
};

static struct padding *add_padding(struct coreml_model *model, const struct coreml_node *node)
{
    char *from = coreml_name(model, coreml_input(node, 0));
    struct padding *own = (void *)coreml_add_layer(model, sizeof *own, 1, &from);
    if (!own) return NULL;
    const TfLiteTensor *amounts = &node->context->tensors[coreml_input(node, 1)];
    coreml__padding_layer_params__init(&own->params);
    coreml__padding_layer_params__padding_constant__init(&own->constant);
    coreml__padding_layer_params__padding_reflection__init(&own->reflection);
    coreml__border_amounts__init(&own->amounts);
    for (int i = 0; i < 2; i++) {
        coreml__edge_sizes__init(&own->edges[i]);
        own->edges[i].startedgesize = (uint64_t)hl_integer_at(amounts, 2 * (i + 1));
        own->edges[i].endedgesize = (uint64_t)hl_integer_at(amounts, 2 * (i + 1) + 1);
        own->edge_list[i] = &own->edges[i];
    }
    own->amounts.borderamounts = own->edge_list;
    own->amounts.n_borderamounts = 2;
    own->params.paddingamounts = &own->amounts;
    own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_PADDING;
    own->layer.padding = &own->params;
    return own;
}

static bool check_amounts(const struct delegate_view *view)
{
    const TfLiteTensor *amounts = delegate_input(view, 1);
    if (!coreml_check_rank(view, 0, 4) || !coreml_check_ints(view, 1, 8, 8)) return false;
    for (int i = 0; i < 8; i++) {
        int64_t amount = hl_integer_at(amounts, i);
        if (amount < 0) return delegate_refuse(view, DELEGATE_PARAMETER, 1, "an amount is negative");
        if (amount > 0 && (i < 2 || i >= 6))
            return delegate_refuse(view, DELEGATE_PARAMETER, 1, "batch or channels are padded");
    }
    return true;
}

static bool check_pad(const struct delegate_view *view)
{
    if (!check_amounts(view)) return false;
    const TfLiteTensor *value = delegate_input(view, 2);
    return !value || (coreml_check_weights(view, 2) &&
                      (hl_elements(value) == 1 || delegate_refuse(view, DELEGATE_SHAPE, 2, "more than one value")));
}

static void map_pad(struct coreml_model *model, const struct coreml_node *node)
{
    struct padding *own = add_padding(model, node);
    if (!own) return;
    if (coreml_input(node, 2) >= 0)
        own->constant.value =
            coreml_float_at(coreml_constant(&model->delegate->base, node->context, coreml_input(node, 2)), 0);
    own->params.padding_type_case = COREML__PADDING_LAYER_PARAMS__PADDING_TYPE_CONSTANT;
    own->params.constant = &own->constant;
    coreml_finish(model, &own->layer, kTfLiteActNone, coreml_result(node));
}

const struct coreml_family coreml_family_pad = {.inputs = {2, 3}, .data = 1, .check = check_pad, .map = map_pad};

static bool check_mirror_pad(const struct delegate_view *view)
{
    if (((const TfLiteMirrorPaddingParams *)view->node->builtin_data)->mode != kTfLiteMirrorPaddingReflect)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "mode SYMMETRIC; REFLECT is taken");
    if (!check_amounts(view)) return false;
    const TfLiteTensor *in = delegate_input(view, 0), *amounts = delegate_input(view, 1);
    for (int i = 2; i < 6; i++)
        if (hl_integer_at(amounts, i) >= hl_dim(in, i / 2))
            return delegate_refuse(view, DELEGATE_PARAMETER, 1, "more is reflected than there is");
    return true;
}

static void map_mirror_pad(struct coreml_model *model, const struct coreml_node *node)
{
    struct padding *own = add_padding(model, node);
    if (!own) return;
    own->params.padding_type_case = COREML__PADDING_LAYER_PARAMS__PADDING_TYPE_REFLECTION;
    own->params.reflection = &own->reflection;
    coreml_finish(model, &own->layer, kTfLiteActNone, coreml_result(node));
}

const struct coreml_family coreml_family_mirror_pad = {
    .inputs = {2, 2}, .data = 1, .needs_params = true, .check = check_mirror_pad, .map = map_mirror_pad};

// ---- RESIZE_BILINEAR ----------------------------------------------------------------------------

static bool check_resize_bilinear(const struct delegate_view *view)
{
    const TfLiteResizeBilinearParams *params = view->node->builtin_data;
    if (params->half_pixel_centers)
        return delegate_refuse(view, DELEGATE_PARAMETER, -1, "half_pixel_centers, which Core ML's layer has not");
    return coreml_check_rank(view, 0, 4) && coreml_check_ints(view, 1, 2, 2);
}

static void map_resize_bilinear(struct coreml_model *model, const struct coreml_node *node)
{
    struct resize {
        Coreml__NeuralNetworkLayer layer;
        Coreml__ResizeBilinearLayerParams params;
        Coreml__SamplingMode mode;
        uint64_t size[2]; // height, width
    } * own;
    char *from = coreml_name(model, coreml_input(node, 0));
    own = (void *)coreml_add_layer(model, sizeof *own, 1, &from);
    if (!own) return;
    const TfLiteTensor *out = &node->context->tensors[coreml_result(node)];
    bool align = ((const TfLiteResizeBilinearParams *)node->node->builtin_data)->align_corners;
    coreml__resize_bilinear_layer_params__init(&own->params);
    coreml__sampling_mode__init(&own->mode);
    own->size[0] = (uint64_t)hl_dim(out, 1);
    own->size[1] = (uint64_t)hl_dim(out, 2);
    own->params.targetsize = own->size;
    own->params.n_targetsize = 2;
    own->mode.samplingmethod = align ? COREML__SAMPLING_MODE__METHOD__STRICT_ALIGN_ENDPOINTS_MODE
                                     : COREML__SAMPLING_MODE__METHOD__UPSAMPLE_MODE;
    own->params.mode = &own->mode;
    own->layer.layer_case = COREML__NEURAL_NETWORK_LAYER__LAYER_RESIZE_BILINEAR;
    own->layer.resizebilinear = &own->params;
    coreml_finish(model, &own->layer, kTfLiteActNone, coreml_result(node));
}

const struct coreml_family coreml_family_resize_bilinear = {
    .inputs = {2, 2}, .data = 1, .needs_params = true, .check = check_resize_bilinear, .map = map_resize_bilinear};
