// SPDX-License-Identifier: Apache-2.0
// Drawing on pictures, and writing them as PNG files.
#ifndef HALITE_TOOLS_DRAW_H
#define HALITE_TOOLS_DRAW_H

#include "image.h"

// Draws a frame in the color of that number, and the text in it above its upper left corner.
void hl_draw_box(struct hl_image *image, double left, double top, double right, double bottom, int color,
                 const char *text);
// Writes a PNG file. False after a message of this command.
bool hl_draw_write(const char *command, const char *path, const struct hl_image *image);

#endif
