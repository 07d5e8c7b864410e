// SPDX-License-Identifier: Apache-2.0
// A model's input for one picture: its shape, what stands between pixels and elements, and how a picture of another
// shape fills it. In: a picture. Out: a filled input tensor, and the way back from positions in the input to pixels.
#ifndef HALITE_TOOLS_PICTURE_INPUT_H
#define HALITE_TOOLS_PICTURE_INPUT_H

#include "image.h"
#include "model/model.h"
#include "preprocess.h"
#include "tensorflow/lite/c/c_api.h"

// How a picture fills an input of another shape.
enum hl_fit {
    HL_FIT_STRETCH, // to the input's width and height
    HL_FIT_CENTER,  // with its own proportions, in the middle, and bars around it
    HL_FIT_CORNER,  // the same in the upper left corner
};

struct hl_picture_input {
    struct hl_preprocess_shape shape;
    bool planar; // [1,3,height,width], in the order blue, green, red
    struct hl_normalization normalization;
    enum hl_fit fit;
    double crop; // with HL_FIT_STRETCH: part of the shorter side that a central square keeps; 0: the whole picture
    unsigned char bars; // the gray of them
};

// NULL, or what is wanted instead of this input: [1,height,width,channels], or with `planar` [1,3,height,width] too.
const char *hl_picture_input_look(const TfLiteTensor *tensor, bool planar, struct hl_picture_input *input);

// Takes the normalization of input `index` from the model's metadata, where none is given yet and the input has floats.
void hl_picture_input_normalize(struct hl_picture_input *input, const TfLiteModel *model, int index);

// Fills the tensor that was looked at.
void hl_picture_input_fill(const struct hl_picture_input *input, const struct hl_image *image, TfLiteTensor *tensor);

// A position in parts of the input's width and height (0 to 1) becomes pixels of the picture, within it.
void hl_picture_input_locate(const struct hl_picture_input *input, const struct hl_image *image, float *x, float *y);

#endif
