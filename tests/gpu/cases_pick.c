// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: elements that are picked by numbers which come while running: gathers, tables, one-hot vectors,
// positions within windows and between elements; and the custom operators of segmentation models and detectors.
#include <math.h>

#include "gpu/op_case.h"
#include "tensorflow/lite/c/builtin_op_data.h"

#define GATHER(name_, axis_, batches_, ...)                                                                  \
    {                                                                                                        \
        .name = "GATHER " name_, OP(Gather), .version = batches_ ? 5 : 1,                                    \
        .settings = {SET(GatherOptions, axis, axis_), SET(GatherOptions, batch_dims, batches_)}, .inputs = { \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define ONE_HOT(name_, axis_, ...)                                                                       \
    {                                                                                                    \
        .name = "ONE_HOT " name_, OP(OneHot), .settings = {SET(OneHotOptions, axis, axis_)}, .inputs = { \
            __VA_ARGS__,                                                                                 \
            INT(C),                                                                                      \
            CONST_SCALAR,                                                                                \
            CONST_SCALAR                                                                                 \
        }                                                                                                \
    }
#define CUSTOM(name_, options_) .custom = name_, OP(Custom), .options = &(options_), .option_bytes = sizeof(options_)

#define DETECTION(name_, map_, ...)                                                                           \
    {                                                                                                         \
        .name = "TFLite_Detection_PostProcess " name_, .custom = "TFLite_Detection_PostProcess", OP(Custom),  \
        .map = "y_scale=10 x_scale=10 h_scale=5 w_scale=5 " map_, .inputs = {__VA_ARGS__}, .output_count = 4, \
        .tolerance = GPU_FUNCTION                                                                             \
    }

#define ANCHORS_8(count_)                                                                                             \
    {                                                                                                                 \
        .kind = TENSOR_CONSTANT, .type = TEST_UINT8, .values = VALUES_POSITIVE, .scale = 0.015625f, SHAPED(count_, 4) \
    }

static const TfLitePoolParams windows[] = {
    {.padding = kTfLitePaddingSame, .stride_width = 2, .stride_height = 2, .filter_width = 2, .filter_height = 2},
    {.padding = kTfLitePaddingSame, .stride_width = 2, .stride_height = 1, .filter_width = 3, .filter_height = 2},
    {.padding = kTfLitePaddingValid, .stride_width = 1, .stride_height = 3, .filter_width = 2, .filter_height = 2},
};
static const TfLiteTransposeConvParams same = {.padding = kTfLitePaddingSame, .stride_width = 2, .stride_height = 2};
static const TfLiteTransposeConvParams valid = {.padding = kTfLitePaddingValid, .stride_width = 2, .stride_height = 2};

// ---- RESAMPLER, which the CPU does not have -----------------------------------------------------

static TfLiteStatus resampler_prepare(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *x = &context->tensors[node->inputs->data[0]],
                       *positions = &context->tensors[node->inputs->data[1]];
    TfLiteIntArray *dims = TfLiteIntArrayCopy(positions->dims);
    dims->data[3] = x->dims->data[3];
    TfLiteTensor *y = &context->tensors[node->outputs->data[0]];
    y->type = kTfLiteFloat32;
    return context->ResizeTensor(context, y, dims);
}

static float at_or_zero(const TfLiteTensor *x, int b, int h, int w, int c)
{
    const int *d = x->dims->data;
    return h >= 0 && h < d[1] && w >= 0 && w < d[2] ? x->data.f[((b * d[1] + h) * d[2] + w) * d[3] + c] : 0.0f;
}

static TfLiteStatus resampler_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *x = &context->tensors[node->inputs->data[0]],
                       *positions = &context->tensors[node->inputs->data[1]];
    TfLiteTensor *y = &context->tensors[node->outputs->data[0]];
    const int *d = y->dims->data;
    for (int n = 0; n < d[0] * d[1] * d[2] * d[3]; n++) {
        int c = n % d[3], position = n / d[3], b = position / d[1] / d[2];
        float u = positions->data.f[2 * position], v = positions->data.f[2 * position + 1];
        float du = u - floorf(u), dv = v - floorf(v);
        int i = (int)floorf(u), j = (int)floorf(v);
        y->data.f[n] = (1 - dv) * ((1 - du) * at_or_zero(x, b, j, i, c) + du * at_or_zero(x, b, j, i + 1, c)) +
                       dv * ((1 - du) * at_or_zero(x, b, j + 1, i, c) + du * at_or_zero(x, b, j + 1, i + 1, c));
    }
    return kTfLiteOk;
}

static const TfLiteRegistration resampler = {.prepare = resampler_prepare, .invoke = resampler_invoke};

// ---- rows ---------------------------------------------------------------------------------------

static const struct op_case cases[] = {
    GATHER("of batches by an input", 0, 0, IN(3, 3, 4, C), IN_INT(5)),
    GATHER("of rows by an input", 1, 0, IN(B, 3, 4, C), IN_INT(5)),
    GATHER("of columns by numbers of the device", 2, 0, IN(B, 3, 4, C), MADE_INT(5)),
    GATHER("of channels by an input", 3, 0, IN(B, 3, 4, C), IN_INT(5)),
    GATHER("of rank 2 by a cube", 0, 0, IN(6, C), IN_INT(B, 2, 3)),
    GATHER("of a table", 0, 0, CONST(19, C), IN_INT(B, 6)),
    GATHER("of a table by numbers of the device", 0, 0, CONST(19, C), MADE_INT(B, 6)),
    GATHER("of a table of rank 3", 1, 0, CONST(B, 3, C), IN_INT(7)),
    GATHER("in batches by constants", 1, 1, IN(2, 5, C), PAIRS(2, 0, 4, 1)),
    GATHER("in batches by an input", 1, 1, IN(B, 5, C), IN_INT(B, 3)),
    GATHER("in batches of rank 4", 2, 1, IN(B, 3, 5, C), IN_INT(B, 4)),
    GATHER("in two batches", 2, 2, IN(B, 3, C), MADE_INT(B, 3, 6)),
    GATHER("by numbers that are computed", 2, 0, IN(B, 3, 4, C), COMPUTED_INT(5)),
    GATHER("of a table by numbers that are computed", 0, 0, CONST(19, C), COMPUTED_INT(B, 6)),
    {.name = "GATHER_ND of rows", OP(GatherNd), .inputs = {IN(3, C), IN_INT(B, 5, 1)}},
    {.name = "GATHER_ND of positions", OP(GatherNd), .inputs = {IN(3, 4, C), IN_INT(B, 5, 2)}},
    {.name = "GATHER_ND by numbers of the device", OP(GatherNd), .inputs = {IN(3, 3, 4, C), MADE_INT(B, 5, 3)}},
    {.name = "GATHER_ND by constants", OP(GatherNd), .inputs = {IN(3, 4, C), PAIRS(2, 3, 0, 1, 1, 0)}},
    {.name = "EMBEDDING_LOOKUP of a table", OP(EmbeddingLookup), .inputs = {IN_INT(B + 3), CONST(9, 2, C)}},
    {.name = "EMBEDDING_LOOKUP of values", OP(EmbeddingLookup), .inputs = {IN_INT(B + 3), IN(9, 2, C)}},
    {.name = "DYNAMIC_UPDATE_SLICE", OP(DynamicUpdateSlice), .inputs = {IN(B + 1, 3, 5, C), IN(1, 2, 3, 2), IN_INT(4)}},
    {.name = "DYNAMIC_UPDATE_SLICE of rows", OP(DynamicUpdateSlice), .inputs = {IN(9, C), IN(B, C), MADE_INT(2)}},
    {.name = "DYNAMIC_UPDATE_SLICE at a constant position",
     OP(DynamicUpdateSlice),
     .inputs = {IN(B, 5, C), IN(B, 3, C), INTS(0, 1, 0)}},
    ONE_HOT("behind", -1, IN_INT(B, 3, 5)),
    ONE_HOT("in front", 0, IN_INT(B, 3, 5)),
    ONE_HOT("between", 2, MADE_INT(B, 3, 5)),
    ONE_HOT("of numbers that are computed", -1, COMPUTED_INT(B, 3, 5)),

    {.name = "MaxPoolingWithArgmax2D",
     CUSTOM("MaxPoolingWithArgmax2D", windows[0]),
     .inputs = {IN(B, 7, 9, C)},
     .output_count = 2,
     .tolerance = GPU_ROUNDS},
    {.name = "MaxPoolingWithArgmax2D 2x3",
     CUSTOM("MaxPoolingWithArgmax2D", windows[1]),
     .inputs = {IN(B, 7, 9, C)},
     .output_count = 2,
     .tolerance = GPU_ROUNDS},
    {.name = "MaxPoolingWithArgmax2D without padding",
     CUSTOM("MaxPoolingWithArgmax2D", windows[2]),
     .inputs = {IN(B, 7, 9, C)},
     .output_count = 2,
     .tolerance = GPU_ROUNDS},
    {.name = "MaxUnpooling2D",
     CUSTOM("MaxUnpooling2D", windows[0]),
     .inputs = {IN(B, 3, 4, C), IN_OF(INDICES, B, 3, 4, C)}},
    {.name = "MaxUnpooling2D of windows that overlap",
     CUSTOM("MaxUnpooling2D", windows[1]),
     .inputs = {IN(B, 3, 4, C), IN_OF(INDICES, B, 3, 4, C)}},
    {.name = "MaxUnpooling2D of windows apart",
     CUSTOM("MaxUnpooling2D", windows[2]),
     .inputs = {IN(B, 3, 4, C), IN_OF(INDICES, B, 3, 4, C)}},
    {.name = "Resampler far away",
     .custom = "Resampler",
     OP(Custom),
     .reference = &resampler,
     .inputs = {IN(B, 5, 4, C), IN_OF(FAR, B, 6, 7, 2)},
     .tolerance = GPU_BLENDS},
    {.name = "Resampler",
     .custom = "Resampler",
     OP(Custom),
     .reference = &resampler,
     .inputs = {IN(B, 5, 4, C), IN(B, 6, 7, 2)},
     .tolerance = GPU_BLENDS},
    {.name = "Convolution2DTransposeBias",
     CUSTOM("Convolution2DTransposeBias", same),
     .inputs = {IN(B, 3, 4, C), CONST_OF(SMALL, 5, 3, 3, C), CONST(5)},
     .tolerance = GPU_SUMS},
    {.name = "Convolution2DTransposeBias without padding",
     CUSTOM("Convolution2DTransposeBias", valid),
     .inputs = {IN(B, 3, 4, C), CONST_OF(SMALL, 5, 3, 3, C), CONST(5)},
     .tolerance = GPU_SUMS},
    DETECTION(
        "of the best class",
        "max_detections=10 max_classes_per_detection=1 num_classes=5 nms_iou_threshold=0.37 nms_score_threshold=0.1",
        IN(1, 70, 4), IN(1, 70, 6), CONST_OF(POSITIVE, 70, 4)),
    DETECTION(
        "of two classes, many of them equal",
        "max_detections=20 max_classes_per_detection=2 num_classes=4 nms_iou_threshold=0.61 nms_score_threshold=-3.0",
        IN(1, 700, 6), IN_OF(EQUAL, 1, 700, 4), CONST_OF(POSITIVE, 700, 4)),
    DETECTION(
        "of all classes, for fewer boxes than it may find",
        "max_detections=9 max_classes_per_detection=4 num_classes=3 nms_iou_threshold=1.0 nms_score_threshold=-4.0",
        IN(1, 5, 4), IN(1, 5, 3), CONST_OF(POSITIVE, 1, 5, 4)),
    DETECTION(
        "of each class",
        "max_detections=30 max_classes_per_detection=2 num_classes=7 nms_iou_threshold=0.43 nms_score_threshold=0.5 "
        "detections_per_class=6 use_regular_nms=1",
        IN(1, 90, 4), IN_OF(EQUAL, 1, 90, 8), CONST_OF(POSITIVE, 90, 4)),
    DETECTION(
        "of nothing",
        "max_detections=7 max_classes_per_detection=1 num_classes=3 nms_iou_threshold=0.5 nms_score_threshold=5.0",
        IN(1, 12, 4), IN(1, 12, 3), IN_OF(POSITIVE, 12, 4)),
    DETECTION(
        "of numbers that are none",
        "max_detections=20 max_classes_per_detection=3 num_classes=4 nms_iou_threshold=0.53 nms_score_threshold=-1e30",
        IN(1, 40, 5), IN_OF(SPECIAL, 1, 40, 5), IN_OF(POSITIVE, 40, 4)),
    DETECTION(
        "of bytes",
        "max_detections=15 max_classes_per_detection=2 num_classes=9 nms_iou_threshold=0.33 nms_score_threshold=1e-8",
        IN_8(UINT8, 0.03125f, 128, 1, 300, 4), IN_8(UINT8, 0.0625f, 20, 1, 300, 10), ANCHORS_8(300)),
    DETECTION(
        "of bytes in each class",
        "max_detections=12 max_classes_per_detection=1 num_classes=3 nms_iou_threshold=0.47 nms_score_threshold=1e-8 "
        "use_regular_nms=1",
        IN_8(UINT8, 0.03125f, 128, 1, 40, 4), IN_8(UINT8, 0.0625f, 20, 1, 40, 4), ANCHORS_8(40)),
    // Indices that a half does not hold.
    {.name = "GATHER of a table of 4003 rows",
     OP(Gather),
     .settings = {SET(GatherOptions, axis, 0), SET(GatherOptions, batch_dims, 0)},
     .inputs = {CONST(4003, 3), IN_LIST((1, 4), 4002, 2049, 3001, 2051)}},
    {0}};

const struct op_family op_family_pick = {.name = "pick", .cases = cases};
