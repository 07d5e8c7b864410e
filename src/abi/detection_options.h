// SPDX-License-Identifier: Apache-2.0
// The options of TFLite_Detection_PostProcess as its FlexBuffers map has them, for the CPU's kernel and the GPU's.
// Nothing is checked here.
#ifndef HALITE_ABI_DETECTION_OPTIONS_H
#define HALITE_ABI_DETECTION_OPTIONS_H

#include "abi/custom_options.h"

struct hl_detection_options {
    int max_detections, classes_per_detection, detections_per_class, classes;
    float score_threshold, overlap_threshold;
    float y_scale, x_scale, h_scale, w_scale;
    bool regular; // a suppression for each class
};

static inline struct hl_detection_options hl_detection_options_of(const void *bytes, size_t size)
{
    struct hl_flex map = hl_options_map(bytes, size);
    return (struct hl_detection_options){
        .max_detections = hl_option_int(&map, "max_detections", 0),
        .classes_per_detection = hl_option_int(&map, "max_classes_per_detection", 0),
        .detections_per_class = hl_option_int(&map, "detections_per_class", 100),
        .classes = hl_option_int(&map, "num_classes", 0),
        .score_threshold = hl_option_float(&map, "nms_score_threshold", 0),
        .overlap_threshold = hl_option_float(&map, "nms_iou_threshold", 0),
        .y_scale = hl_option_float(&map, "y_scale", 0),
        .x_scale = hl_option_float(&map, "x_scale", 0),
        .h_scale = hl_option_float(&map, "h_scale", 0),
        .w_scale = hl_option_float(&map, "w_scale", 0),
        .regular = hl_option_bool(&map, "use_regular_nms", false),
    };
}

#endif
