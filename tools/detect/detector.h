// SPDX-License-Identifier: Apache-2.0
// Object detectors by the shapes of their tensors. In: an interpreter, a picture. Out: what its input wants, and what
// its outputs say: boxes, whatever their format.
#ifndef HALITE_TOOLS_DETECTOR_H
#define HALITE_TOOLS_DETECTOR_H

#include "eval/average_precision.h"
#include "image.h"
#include "preprocess.h"
#include "tensorflow/lite/c/c_api.h"

// How a picture fills an input of another shape.
enum hl_fit {
    HL_FIT_STRETCH, // to the input's width and height
    HL_FIT_CENTER,  // with its own proportions, in the middle, and bars around it
    HL_FIT_CORNER,  // the same in the upper left corner
};

struct hl_detector {
    const struct hl_detector_family *family;
    const char *name; // of the family, for people
    struct hl_preprocess_shape shape;
    bool planar;                           // the input is [1,3,height,width], in the order blue, green, red
    struct hl_normalization normalization; // of the family; not given where the model's metadata may say otherwise
    enum hl_fit fit;
    unsigned char bars;       // the gray of them
    const char *only_class;   // the one class that it finds; NULL: there are several
    int class_count;          // of the outputs; 0: unknown
    int class_offset;         // label of class 0 where labels begin with the background
    int outputs[4];           // their numbers in the order that the family reads them
    const int *strides, *per; // of anchors: pixels of a cell, anchors in it
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

// Fills the input. pixels: room for an input's elements.
void hl_detector_fill(const struct hl_detector *detector, const struct hl_image *image, float *pixels,
                      TfLiteInterpreter *interpreter);

// Reads the outputs: what has this score at least, best first, boxes that mean the same object once. `finds` is emptied
// first.
void hl_detector_read(const struct hl_detector *detector, const struct hl_image *image,
                      const TfLiteInterpreter *interpreter, double score, struct hl_finds *finds);

#endif
