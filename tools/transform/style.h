// SPDX-License-Identifier: Apache-2.0
// The second input of models that paint one picture as another. In: the model that reads styles, a picture. Out: the
// numbers of its style.
#ifndef HALITE_TOOLS_STYLE_H
#define HALITE_TOOLS_STYLE_H

#include "model_file.h"

struct hl_style {
    float *values;
    int64_t count;
};

// Runs the model `path`, in the way of these options, over the picture. `wanted` is the input that its output is for.
// False after a message of halite transform.
bool hl_style_read(struct hl_style *style, const struct hl_model_options *options, const char *path,
                   const char *picture, const TfLiteTensor *wanted);
void hl_style_free(struct hl_style *style);

#endif
