// SPDX-License-Identifier: Apache-2.0
// Average precision of detections, as COCO defines it and TensorFlow Lite's evaluation computes it, in float. In: boxes
// of one class in all pictures, true and predicted. Out: a number from 0 to 1.
#ifndef HALITE_TOOLS_EVAL_AVERAGE_PRECISION_H
#define HALITE_TOOLS_EVAL_AVERAGE_PRECISION_H

struct hl_box {
    int picture;
    float top, left, bottom, right, score; // a true box has no score
};

// Shares of the true boxes at which precision is taken: 0, 1/100 ... 1.
enum { HL_RECALL_POINTS = 101 };

// Intersection over union, 0 for boxes without area.
float hl_box_overlap(const struct hl_box *a, const struct hl_box *b);

// Predictions are matched by falling score, those of equal score in their order: each to the true box of its picture
// that is left and overlaps it most, if by the threshold at least. 0 without true boxes. Both lists may be empty; true
// boxes come ordered by picture.
float hl_average_precision(const struct hl_box *truth, int truth_count, const struct hl_box *predictions,
                           int prediction_count, float threshold);

#endif
