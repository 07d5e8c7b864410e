// SPDX-License-Identifier: Apache-2.0
// Landmark models by the shapes of their outputs. In: an interpreter that has run. Out: points in parts of the input's
// sides, with names and connections where the kind of model has them.
#ifndef HALITE_TOOLS_BODY_H
#define HALITE_TOOLS_BODY_H

#include "model_file.h"
#include "picture_input.h"

enum { HL_BODY_MAX_POINTS = 1024 };

struct hl_body_point {
    float x, y;  // of the input, 0 to 1; of the picture in pixels once it was located
    float score; // 0 to 1
};

struct hl_body {
    float score; // 0 to 1: is it there at all?
    int count;
    struct hl_body_point points[HL_BODY_MAX_POINTS];
};

// A kind of model.
struct hl_body_model {
    const struct hl_body_family *family;
    const char *name;
    int points;
    const char *const *point_names; // NULL: they have numbers alone
    const signed char (*bones)[2];  // points that belong together
    int bone_count;
    int outputs[2]; // the numbers of those that the family reads
};

// Takes the model for what it is, and says in `input` how a picture fills it. False where it is no landmark model known
// here, with what was looked for in `why`.
bool hl_body_look(const struct hl_model_file *file, struct hl_body_model *model, struct hl_picture_input *input,
                  struct hl_text *why);

// Reads the outputs.
void hl_body_read(const struct hl_body_model *model, const struct hl_model_file *file,
                  const struct hl_picture_input *input, struct hl_body *body);

#endif
