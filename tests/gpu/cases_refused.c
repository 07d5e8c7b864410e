// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: values that the CPU refuses while running (rule: docs/accuracy.md): indices out of range,
// divisors of zero, and boxes without an area. Each row runs in a model of its own, since Invoke fails: on the CPU, and
// on the device with the words of the row.
#include "gpu/op_case.h"

#define REFUSED(name_, suffix_, refusal_, ...)                                     \
    {                                                                              \
        .name = name_, OP(suffix_), .refusal = refusal_, .inputs = { __VA_ARGS__ } \
    }
#define TRUTH_8(type_, scale_, zero_)                                                                                 \
    {                                                                                                                 \
        .kind = TENSOR_INPUT, .type = TEST_##type_, .values = VALUES_TRUTH, .scale = (scale_), .zero_point = (zero_), \
        SHAPED(2, 5, C)                                                                                               \
    }

// The last of four anchors has no width, the first a negative height where it is said.
#define DETECTION(name_, box_, height_, regular_)                                                                     \
    {                                                                                                                 \
        .name = name_, .custom = "TFLite_Detection_PostProcess", OP(Custom), .refusal = "box " box_ " has no area",   \
        .map = "y_scale=10 x_scale=10 h_scale=5 w_scale=5 max_detections=3 max_classes_per_detection=1 num_classes=2" \
               " nms_iou_threshold=0.5 nms_score_threshold=-4.0 use_regular_nms=" regular_,                           \
        .inputs = {IN(1, 4, 4),                                                                                       \
                   IN(1, 4, 2),                                                                                       \
                   {.kind = TENSOR_INPUT,                                                                             \
                    SHAPED(4, 4),                                                                                     \
                    .ints = {1, 2, height_, 1, 1, 1, 1, 2, 1, 1, 2, 1, 1, 1, 1, 0},                                   \
                    .int_count = 16}},                                                                                \
        .output_count = 4                                                                                             \
    }

static const struct op_case cases[] = {
    REFUSED("GATHER above the last row", Gather, "index 4 of an axis of length 4", IN(4, C), IN_LIST((3), 0, 4, 3)),
    REFUSED("GATHER below the first row", Gather, "index -1 of an axis of length 4", IN(4, C), IN_LIST((3), 0, -1, 3)),
    REFUSED("GATHER by a number of the device", Gather, "index 9 of an axis of length 4", IN(4, C),
            MADE_LIST((3), 0, 9, 3)),
    REFUSED("GATHER_ND above the second axis", GatherNd, "index 3 of an axis of length 3", IN(4, 3, C),
            IN_LIST((2, 2), 3, 2, 0, 3)),
    REFUSED("GATHER_ND below the first axis", GatherNd, "index -2 of an axis of length 4", IN(4, 3, C),
            IN_LIST((2, 2), 3, 2, -2, 0)),
    REFUSED("EMBEDDING_LOOKUP above the last row", EmbeddingLookup, "index 5 of an axis of length 5",
            IN_LIST((3), 0, 5, 4), IN(5, C)),
    REFUSED("FLOOR_DIV by zero", FloorDiv, "division by zero", IN(2, 5, C), IN_OF(TRUTH, 2, 5, C)),
    {.name = "DIV of 8 bits by zero",
     OP(Div),
     .refusal = "division by zero",
     .inputs = {IN_8(UINT8, 0.03125f, 128, 2, 5, C), TRUTH_8(UINT8, 0.0625f, 100)},
     .output = {.type = TEST_UINT8, .scale = 0.0625f, .zero_point = 128}},
    DETECTION("detections in a box without width", "3", 1, "0"),
    DETECTION("detections of each class in a box without width", "3", 1, "1"),
    DETECTION("detections in a box upside down", "0", -1, "0"),
    {0}};

const struct op_family op_family_refused = {.name = "refused", .cases = cases};
