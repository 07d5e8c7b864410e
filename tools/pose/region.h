// SPDX-License-Identifier: Apache-2.0
// Where on a picture a landmark model is to look. In: a box from the command line, or a detector and a picture. Out:
// boxes with the room around them that such models were made with.
#ifndef HALITE_TOOLS_REGION_H
#define HALITE_TOOLS_REGION_H

#include "detect/detector.h"
#include "model_file.h"

// The detector, once for all pictures.
struct hl_region_finder {
    struct hl_model_file file;
    struct hl_detector detector;
    struct hl_finds finds;
};

// False after a message of halite pose.
bool hl_region_open(struct hl_region_finder *finder, const struct hl_model_options *options, const char *path);
void hl_region_close(struct hl_region_finder *finder);

// Leaves boxes of this score in finder->finds, the best first, in the picture's pixels; they may reach beyond it.
bool hl_region_find(struct hl_region_finder *finder, const struct hl_image *image, double score);

// "left,top,right,bottom" in pixels. False where it is not.
bool hl_region_parse(const char *text, struct hl_box *box);

// The pixels in a box, as a picture of its own; beyond the picture they are black. False where it is empty or larger
// than what may be a picture.
bool hl_region_cut(const struct hl_image *image, const struct hl_box *box, struct hl_image *cut);

#endif
