// SPDX-License-Identifier: Apache-2.0
// The kernels between values and pictures of the application (struct gpu_image). In: pixels of four bytes, halves or
// floats, of which a part is cut out, resized, reordered and scaled; or a value. Out: that value; or pixels. An image
// object of the application (a texture, a cl_mem image, a VkImage) gets here as a copy of its texels in a buffer.
#include "gpu/plan/kernels.h"

// Kernel bodies are formatted by hand, one statement on a line.
// clang-format off
// A body with macros in it.
#define TEXT_OF(...) GPU_TEXT(__VA_ARGS__)

// part: its first pixel, width, height, pixels of a picture. source: pixels of a row, the bytes of the channels (two bits
// each), steps along x and y as float bits; then mean and scale of each channel.
#define PICTURE .params = {"part", "source", "mean", "scale"}
#define PLACE_OF(CHANNEL) ((P_source.y >> (2 * CHANNEL)) & 3)

// Pixels of a picture are in one row.
#define INDEX(X, Y) (P_part.x + (Y) * P_source.x + (X))

// The four pixels around the middle of an element, and how far the middle is from the first of them.
#define AROUND_ELEMENT                                                                       \
    int4 p = position();                                                                     \
    if (outside_y(p)) return;                                                                \
    float s = (to_float(p.x) + 0.5f) * bits_to_float(P_source.z) - 0.5f;                     \
    float t = (to_float(p.y) + 0.5f) * bits_to_float(P_source.w) - 0.5f;                     \
    s = min(max(s, 0.0f), to_float(P_part.y - 1));                                           \
    t = min(max(t, 0.0f), to_float(P_part.z - 1));                                           \
    int x0 = to_int(s);                                                                      \
    int y0 = to_int(t);                                                                      \
    int x1 = min(x0 + 1, P_part.y - 1);                                                      \
    int y1 = min(y0 + 1, P_part.z - 1);                                                      \
    float u = s - to_float(x0);                                                              \
    float d = t - to_float(y0);

#define CHANNEL_OF(OF, CHANNEL, LANE) {                                                                  \
        float above = OF(p00, CHANNEL) + (OF(p01, CHANNEL) - OF(p00, CHANNEL)) * u;                       \
        float below = OF(p10, CHANNEL) + (OF(p11, CHANNEL) - OF(p10, CHANNEL)) * u;                       \
        v.LANE = (above + (below - above) * d - bits_to_float(P_mean.LANE)) * bits_to_float(P_scale.LANE); }
#define WRITE_ELEMENT(OF)                                                                    \
    acc4 v = splatf4(0.0f);                                                                  \
    CHANNEL_OF(OF, 0, x)                                                                     \
    CHANNEL_OF(OF, 1, y)                                                                     \
    CHANNEL_OF(OF, 2, z)                                                                     \
    CHANNEL_OF(OF, 3, w)                                                                     \
    write_y(p, to_real4(v));

#define BYTE_OF(PIXEL, CHANNEL) to_float((PIXEL >> (PLACE_OF(CHANNEL) * 8)) & 255)
const struct gpu_kernel gpu_kernel_from_pixels = {
    .name = "from_pixels",
    .group = {32, 4, 1},
    .args = {{GPU_BYTES_IN, "bytes"}, {GPU_OUT, "y"}},
    PICTURE,
    .body = TEXT_OF(
        AROUND_ELEMENT
        int p00 = bytes[p.w * P_part.w + INDEX(x0, y0)];
        int p01 = bytes[p.w * P_part.w + INDEX(x1, y0)];
        int p10 = bytes[p.w * P_part.w + INDEX(x0, y1)];
        int p11 = bytes[p.w * P_part.w + INDEX(x1, y1)];
        WRITE_ELEMENT(BYTE_OF)
    ),
};

#define LANE_OF(PIXEL, CHANNEL) to_float(lane(PIXEL, PLACE_OF(CHANNEL)))
#define PIXEL_AT(X, Y) read_x(mki4(INDEX(X, Y), 0, 0, p.w))
const struct gpu_kernel gpu_kernel_from_float_pixels = {
    .name = "from_float_pixels",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    PICTURE,
    .body = TEXT_OF(
        AROUND_ELEMENT
        real4 p00 = PIXEL_AT(x0, y0);
        real4 p01 = PIXEL_AT(x1, y0);
        real4 p10 = PIXEL_AT(x0, y1);
        real4 p11 = PIXEL_AT(x1, y1);
        WRITE_ELEMENT(LANE_OF)
    ),
};

// What an element is in a pixel, before it is rounded. P_scale has the reciprocals here.
#define UNSCALED                                                                             \
    int4 p = position();                                                                     \
    if (outside_x(p)) return;                                                                \
    acc4 v = to_acc4(read_x(p));                                                             \
    v.x = v.x * bits_to_float(P_scale.x) + bits_to_float(P_mean.x);                          \
    v.y = v.y * bits_to_float(P_scale.y) + bits_to_float(P_mean.y);                          \
    v.z = v.z * bits_to_float(P_scale.z) + bits_to_float(P_mean.z);                          \
    v.w = v.w * bits_to_float(P_scale.w) + bits_to_float(P_mean.w);                          \
    int at = INDEX(p.x, p.y);

// Bytes of no channel are 0, and an alpha of no channel is opaque.
#define PUT_BYTE(CHANNEL, LANE)                                                              \
    if (CHANNEL < x_c) {                                                                     \
        int shift = PLACE_OF(CHANNEL) * 8;                                                   \
        int byte = to_int(min(max(v.LANE, 0.0f), 255.0f) + 0.5f);                            \
        four = (four & ~(255 << shift)) | (byte << shift);                                   \
    }
const struct gpu_kernel gpu_kernel_to_pixels = {
    .name = "to_pixels",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_BYTES_OUT, "bytes"}},
    PICTURE,
    .body = TEXT_OF(
        UNSCALED
        int four = -16777216;
        PUT_BYTE(0, x)
        PUT_BYTE(1, y)
        PUT_BYTE(2, z)
        PUT_BYTE(3, w)
        bytes[p.w * P_part.w + at] = four;
    ),
};

#define PUT_LANE(CHANNEL, LANE)                                                              \
    if (CHANNEL < x_c) {                                                                     \
        int place = PLACE_OF(CHANNEL);                                                       \
        if (place == 0) four.x = v.LANE;                                                     \
        if (place == 1) four.y = v.LANE;                                                     \
        if (place == 2) four.z = v.LANE;                                                     \
        if (place == 3) four.w = v.LANE;                                                     \
    }
const struct gpu_kernel gpu_kernel_to_float_pixels = {
    .name = "to_float_pixels",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    PICTURE,
    .body = TEXT_OF(
        UNSCALED
        acc4 four = mkf4(0.0f, 0.0f, 0.0f, 1.0f);
        PUT_LANE(0, x)
        PUT_LANE(1, y)
        PUT_LANE(2, z)
        PUT_LANE(3, w)
        write_y(mki4(at, 0, 0, p.w), to_real4(four));
    ),
};
