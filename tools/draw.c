// SPDX-License-Identifier: Apache-2.0
// Frames and letters are filled rectangles; the letters' are stb_easy_font's, the file's form is stb_image_write's.
#include "draw.h"

#include <math.h>
#include <string.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_easy_font.h>
#include <stb/stb_image_write.h>

#include "message.h"
#include "output_file.h"

// Colors that are told apart by most people, on dark and on light.
static const unsigned char colors[][3] = {
    {230, 159, 0}, {86, 180, 233}, {0, 158, 115}, {240, 228, 66}, {0, 114, 178}, {213, 94, 0}, {204, 121, 167},
};

static void fill(struct hl_image *image, int left, int top, int right, int bottom, const unsigned char *rgb)
{
    if (left < 0) left = 0;
    if (top < 0) top = 0;
    if (right > image->width) right = image->width;
    if (bottom > image->height) bottom = image->height;
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++)
            memcpy(image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x), rgb, 3);
}

// stb_easy_font knows the printable characters of ASCII alone.
static void add_ascii(struct hl_text *shown, const char *text)
{
    enum { MOST = 60 };
    for (; *text != '\0' && shown->length < MOST; text++)
        if ((*text & 0xc0) != 0x80) hl_text_add(shown, "%c", *text >= ' ' && *text <= '~' ? *text : '?');
}

static void draw_text(struct hl_image *image, int x, int y, int scale, char *text, const unsigned char *rgb)
{
    enum { CORNERS = 4, VERTEX = 16, ROOM = 60 * 300 }; // an average letter takes 270 bytes
    static const unsigned char dark[] = {20, 20, 20};
    unsigned char vertices[ROOM * 2];
    int quads = stb_easy_font_print(0, 0, text, NULL, vertices, sizeof vertices);
    fill(image, x, y, x + scale * (stb_easy_font_width(text) + 3), y + scale * 11, rgb);
    for (int i = 0; i < quads; i++) {
        float corners[2][2]; // the first and the third of a rectangle's
        memcpy(corners[0], vertices + (size_t)i * CORNERS * VERTEX, sizeof corners[0]);
        memcpy(corners[1], vertices + ((size_t)i * CORNERS + 2) * VERTEX, sizeof corners[1]);
        fill(image, x + scale * ((int)corners[0][0] + 2), y + scale * ((int)corners[0][1] + 2),
             x + scale * ((int)corners[1][0] + 2), y + scale * ((int)corners[1][1] + 2), dark);
    }
}

const unsigned char *hl_draw_color(int color)
{
    return colors[(size_t)color % (sizeof colors / sizeof *colors)];
}

// How many pixels a dot of the font takes, and the width of a line, on a picture of this size.
static int unit_of(const struct hl_image *image, int part)
{
    int side = image->width < image->height ? image->width : image->height;
    return side / part + 1;
}

int hl_draw_label_height(const struct hl_image *image)
{
    return 11 * unit_of(image, 500);
}

void hl_draw_label(struct hl_image *image, double left, double top, int color, const char *text)
{
    struct hl_text shown = {0};
    add_ascii(&shown, text);
    if (shown.length > 0)
        draw_text(image, (int)floor(left), (int)floor(top), unit_of(image, 500), shown.data, hl_draw_color(color));
    hl_text_free(&shown);
}

void hl_draw_box(struct hl_image *image, double left, double top, double right, double bottom, int color,
                 const char *text)
{
    const unsigned char *rgb = hl_draw_color(color);
    int line = unit_of(image, 200), height = hl_draw_label_height(image);
    int x0 = (int)floor(left), y0 = (int)floor(top), x1 = (int)ceil(right), y1 = (int)ceil(bottom);
    fill(image, x0, y0, x1, y0 + line, rgb);
    fill(image, x0, y1 - line, x1, y1, rgb);
    fill(image, x0, y0, x0 + line, y1, rgb);
    fill(image, x1 - line, y0, x1, y1, rgb);
    hl_draw_label(image, x0, y0 >= height ? y0 - height : y0, color, text);
}

void hl_draw_dot(struct hl_image *image, double x, double y, bool fine, int color)
{
    int radius = unit_of(image, fine ? 500 : 150);
    for (int row = -radius; row <= radius; row++) {
        int half = (int)sqrt((double)(radius * radius - row * row)), at = (int)floor(y) + row;
        fill(image, (int)floor(x) - half, at, (int)floor(x) + half + 1, at + 1, hl_draw_color(color));
    }
}

// A row of squares as wide as the line, a pixel apart.
void hl_draw_line(struct hl_image *image, double x0, double y0, double x1, double y1, int color)
{
    int wide = unit_of(image, 200), steps = (int)ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)));
    for (int i = 0; i <= steps; i++) {
        double part = steps > 0 ? (double)i / steps : 0;
        int x = (int)floor(x0 + (x1 - x0) * part) - wide / 2, y = (int)floor(y0 + (y1 - y0) * part) - wide / 2;
        fill(image, x, y, x + wide, y + wide, hl_draw_color(color));
    }
}

static void collect(void *context, void *data, int size)
{
    hl_text_add_bytes(context, data, (size_t)size);
}

bool hl_draw_write(const char *command, const char *path, const struct hl_image *image)
{
    struct hl_text png = {0};
    bool ok = stbi_write_png_to_func(collect, &png, image->width, image->height, 3, image->rgb, 3 * image->width) != 0;
    if (!ok) hl_error(command, path, "there is no memory to write a picture of %d x %d", image->width, image->height);
    ok = ok && hl_output_write(command, path, png.data, png.length);
    hl_text_free(&png);
    return ok;
}
