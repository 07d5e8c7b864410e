// SPDX-License-Identifier: Apache-2.0
// Object detectors by the shapes of their tensors. In: an interpreter, a picture. Out: what its input wants, and what
// its outputs say: boxes, whatever their format.
#ifndef HALITE_TOOLS_DETECTOR_H
#define HALITE_TOOLS_DETECTOR_H

#include "eval/average_precision.h"
#include "picture_input.h"
#include "tensorflow/lite/c/c_api.h"

struct hl_detector {
    const struct hl_detector_family *family;
    const char *name;              // of the family, for people
    struct hl_picture_input input; // its normalization is not given where the model's metadata may say otherwise
    const char *only_class;        // the one class that it finds; NULL: there are several
    int class_count;               // of the outputs; 0: unknown
    int class_offset;              // label of class 0 where labels begin with the background
    int outputs[4];                // their numbers in the order that the family reads them
    const int *strides, *per;      // of anchors: pixels of a cell, anchors in it
};

struct hl_found {
    struct hl_box box; // in pixels of the picture
    int class;
};

struct hl_finds {
    int count, capacity;
    struct hl_found *items;
};

// False where the model is of no family known here, with what was looked for in `why`.
bool hl_detector_look(const TfLiteInterpreter *interpreter, struct hl_detector *detector, struct hl_text *why);

// Reads the outputs: what has this score at least, best first, boxes that mean the same object once. `finds` is emptied
// first.
void hl_detector_read(const struct hl_detector *detector, const struct hl_image *image,
                      const TfLiteInterpreter *interpreter, double score, struct hl_finds *finds);

#endif
