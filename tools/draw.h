// SPDX-License-Identifier: Apache-2.0
// Drawing on pictures, and writing them as PNG files.
#ifndef HALITE_TOOLS_DRAW_H
#define HALITE_TOOLS_DRAW_H

#include "image.h"

// Draws a frame in the color of that number, and the text in it above its upper left corner.
void hl_draw_box(struct hl_image *image, double left, double top, double right, double bottom, int color,
                 const char *text);
// Draws the text on a ground in the color of that number, its upper left corner there.
void hl_draw_label(struct hl_image *image, double left, double top, int color, const char *text);
// Draws a line, and a dot, in the color of that number; a fine dot is the smallest that is seen.
void hl_draw_line(struct hl_image *image, double x0, double y0, double x1, double y1, int color);
void hl_draw_dot(struct hl_image *image, double x, double y, bool fine, int color);
// How high such a label is on this picture.
int hl_draw_label_height(const struct hl_image *image);
// The color of that number: red, green, blue. Neighbors differ, far ones come again.
const unsigned char *hl_draw_color(int color);
// Writes a PNG file. False after a message of this command.
bool hl_draw_write(const char *command, const char *path, const struct hl_image *image);

#endif
