// SPDX-License-Identifier: Apache-2.0
// Pictures from files: JPEG (libjpeg-turbo, accurate integer transform, as the official evaluation decodes them), PNG,
// BMP, PGM and PPM (stb_image). In: a path. Out: 8-bit RGB, or a message; a damaged or cut file is an error, never half
// a picture.
#ifndef HALITE_TOOLS_IMAGE_H
#define HALITE_TOOLS_IMAGE_H

#include <stdbool.h>

#include "text.h"

struct hl_image {
    int width, height;
    unsigned char *rgb; // height rows of width pixels of 3 bytes, no padding
    int orientation;    // of a JPEG file, as Exif counts; 0 and 1: upright
};

// Endings of the names of such files, in small letters; NULL at the end.
extern const char *const hl_image_endings[];
bool hl_image_is_named(const char *path);
// False on failure, with the reason in `error`: "is no picture that ...".
bool hl_image_load(const char *path, struct hl_image *image, struct hl_text *error);
// The same of a file's bytes; *image is zeroed before.
bool hl_image_decode(const struct hl_text *file, struct hl_image *image, struct hl_text *error);
// Turns the pixels as the orientation says, so that the picture stands upright. False, with the picture as it was,
// where there is no memory for it.
bool hl_image_turn_upright(struct hl_image *image);
// The two in one.
bool hl_image_load_upright(const char *path, struct hl_image *image, struct hl_text *error);
void hl_image_free(struct hl_image *image);

#endif
