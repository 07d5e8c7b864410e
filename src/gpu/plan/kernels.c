// SPDX-License-Identifier: Apache-2.0
// See kernels.h. Raw arguments are dense float32 [b, h, w, c] in every precision, if nothing else is said.
#include "gpu/plan/kernels.h"

#include "gpu/plan/dense_text.h"

// Kernel bodies are formatted by hand, one statement on a line.
// clang-format off
// Axis x of the grid runs over the slices of a position and then over positions, as the raw argument does, so that
// neighboring work-items access neighboring memory. Copying 257 x 257 x 21 floats to raw memory takes an H200 10 us this
// way, and 20 us with the grid of the value.
#define AT_DENSE(value)                                                                      \
    GPU_TEXT(                                                                                \
        int slices = value##_s;                                                              \
        int column = GID0 / slices;                                                          \
        int4 p = mki4(column, GID1, GID0 - column * slices, GID2);                           \
        if (outside_##value(p)) return;                                                      \
        int at = ((p.w * value##_h + p.y) * value##_w + p.x) * value##_c + p.z * 4;          \
        int left = value##_c - p.z * 4;                                                      \
    )

// Element i of the four of a work-item: its position p in x, and its channel. last: the number of the value's last one.
#define AT_ELEMENT                                                                           \
    GPU_TEXT(                                                                                \
        int at = min(GID0 * 4 + i, last);                                                    \
        int pixel = at / x_c;                                                                \
        int channel = at - pixel * x_c;                                                      \
        int row = pixel / x_w;                                                               \
        int batch = row / x_h;                                                               \
        int4 p = mki4(pixel - row * x_w, row - batch * x_h, channel / 4, batch);             \
    )
#define SET_LANE                                                                             \
    GPU_TEXT(                                                                                \
        if (i == 0) v.x = one;                                                               \
        if (i == 1) v.y = one;                                                               \
        if (i == 2) v.z = one;                                                               \
        if (i == 3) v.w = one;                                                               \
    )

const struct gpu_kernel gpu_kernel_from_dense = {
    .name = "from_dense",
    .group = {64, 2, 1},
    .args = {{GPU_BYTES_IN, "raw"}, {GPU_OUT, "y"}},
    .params = {"form"},
    .epilogue = true,
    .narrows = true,
    .body = AT_DENSE(y) GPU_TEXT(
        acc4 v = splatf4(0.0f);
        UNROLL for (int i = 0; i < 4; i += 1) {
            if (i < left) {
                float one = 0.0f;
    ) GPU_DENSE_ELEMENT(one, (at + i)) SET_LANE GPU_TEXT(
            }
        }
        write_y(p, finish(to_real4(v), p));
    ),
};

// first.x: where x begins in the caller's memory.
const struct gpu_kernel gpu_kernel_to_dense = {
    .name = "to_dense",
    .group = {64, 2, 1},
    .args = {{GPU_IN, "x"}, {GPU_RAW_OUT, "raw"}},
    .params = {"first"},
    .body = AT_DENSE(x) GPU_TEXT(
        at += P_first.x;
        acc4 v = to_acc4(read_x(p));
        raw[at] = v.x;
        if (left > 1) raw[at + 1] = v.y;
        if (left > 2) raw[at + 2] = v.z;
        if (left > 3) raw[at + 3] = v.w;
    ),
};

// Copying 8-bit integers moves a quarter of the bytes, and saves the conversion on the CPU. stored: scale, zero point,
// smallest integer (0 or -128).
const struct gpu_kernel gpu_kernel_from_bytes = {
    .name = "from_bytes",
    .group = {64, 2, 1},
    .args = {{GPU_BYTES_IN, "raw"}, {GPU_OUT, "y"}},
    .params = {"stored"},
    .epilogue = true,
    .body = AT_DENSE(y) GPU_TEXT(
        acc4 v = splatf4(0.0f);
        UNROLL for (int i = 0; i < 4; i += 1) {
            if (i < left) {
                float one = 0.0f;
    ) GPU_DENSE_BYTE(one, (at + i), P_stored.x, P_stored.y, P_stored.z) SET_LANE GPU_TEXT(
            }
        }
        write_y(p, finish(to_real4(v), p));
    ),
};

// Each work-item packs four neighboring elements.
const struct gpu_kernel gpu_kernel_to_bytes = {
    .name = "to_bytes",
    .group = {64, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_BYTES_OUT, "bytes"}},
    .params = {"stored"},
    .body = GPU_TEXT(
        int last = x_b * x_h * x_w * x_c - 1;
        if (GID0 * 4 > last) return;
        float least = to_float(P_stored.z - P_stored.y);
        int four = 0;
        UNROLL for (int i = 0; i < 4; i += 1) {
    ) AT_ELEMENT GPU_TEXT(
            float steps = round_away(to_float(lane(read_x(p), channel % 4)) / bits_to_float(P_stored.x));
            steps = min(max(steps, least), least + 255.0f);
            four = four | (((to_int(steps) + P_stored.y) & 255) << (8 * i));
        }
        bytes[GID0] = four;
    ),
};

// Dense halves are read and written as a value of a single row, whose positions are vectors of four: element e is channel
// e % 4 of position e / 4.
const struct gpu_kernel gpu_kernel_from_halves = {
    .name = "from_halves",
    .group = {64, 2, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .body = AT_DENSE(y) GPU_TEXT(
        acc4 v = splatf4(0.0f);
        UNROLL for (int i = 0; i < 4; i += 1) {
            if (i < left) {
                float one = to_float(lane(read_x(mki4((at + i) / 4, 0, 0, 0)), (at + i) % 4));
    ) SET_LANE GPU_TEXT(
            }
        }
        write_y(p, to_real4(v));
    ),
};

const struct gpu_kernel gpu_kernel_to_halves = {
    .name = "to_halves",
    .group = {64, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .body = GPU_TEXT(
        int last = x_b * x_h * x_w * x_c - 1;
        if (GID0 * 4 > last) return;
        acc4 v = splatf4(0.0f);
        UNROLL for (int i = 0; i < 4; i += 1) {
    ) AT_ELEMENT GPU_TEXT(
            float one = to_float(lane(read_x(p), channel % 4));
    ) SET_LANE GPU_TEXT(
        }
        write_y(mki4(GID0, 0, 0, 0), to_real4(v));
    ),
};

// One of the two is outside, and may be stored with another precision.
const struct gpu_kernel gpu_kernel_copy_vectors = {
    .name = "copy_vectors",
    .group = {32, 4, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .body = GPU_TEXT(
        int4 p = position();
        if (outside_y(p)) return;
        write_y(p, read_x(p));
    ),
};

const struct gpu_kernel gpu_kernel_from_weights = {
    .name = "from_weights",
    .group = {32, 4, 1},
    .args = {{GPU_WEIGHTS, "k"}, {GPU_OUT, "y"}},
    .body = GPU_TEXT(
        int4 p = position();
        if (outside_y(p)) return;
        write_y(p, k(((p.w * y_s + p.z) * y_h + p.y) * y_w + p.x));
    ),
};

// ---- 8-bit integers that stay integers. sign: 0x80 in each byte for uint8, zeros for int8.
const struct gpu_kernel gpu_kernel_bytes_to_codes = {
    .name = "bytes_to_codes",
    .group = {64, 2, 1},
    .args = {{GPU_BYTES_IN, "bytes"}, {GPU_CODES_OUT, "y"}},
    .params = {"sign"},
    .integers = true,
    .body = AT_DENSE(y) GPU_TEXT(
        int skipped = at % 4 * 8;
        int v = shift_right_u(bytes[at / 4], skipped);
        if (skipped > 0 && at / 4 != (at + min(left, 4) - 1) / 4) v = v | (bytes[at / 4 + 1] << (32 - skipped));
        write_y(p, v ^ P_sign.x);
    ),
};

const struct gpu_kernel gpu_kernel_codes_to_bytes = {
    .name = "codes_to_bytes",
    .group = {64, 1, 1},
    .args = {{GPU_CODES_IN, "x"}, {GPU_BYTES_OUT, "bytes"}},
    .params = {"sign"},
    .body = GPU_TEXT(
        int last = x_b * x_h * x_w * x_c - 1;
        if (GID0 * 4 > last) return;
        int four = 0;
        UNROLL for (int i = 0; i < 4; i += 1) {
    ) AT_ELEMENT GPU_TEXT(
            int v = read_x(p);
            four = four | (((v >> (channel % 4 * 8)) & 255) << (8 * i));
        }
        bytes[GID0] = four ^ P_sign.x;
    ),
};

const struct gpu_kernel gpu_kernel_codes_from_ints = {
    .name = "codes_from_ints",
    .group = {64, 1, 1},
    .args = {{GPU_INTS, "k"}, {GPU_CODES_OUT, "y"}},
    .body = GPU_TEXT(
        int i = GID0;
        if (i >= y_w * y_h * y_s * y_b) return;
        int4 four = k(i / 4);
        store_y(i, pick(i % 4 < 2, pick(i % 4 == 0, four.x, four.y), pick(i % 4 == 2, four.z, four.w)));
    ),
};

const struct gpu_kernel *const gpu_plan_kernels[] = {
    &gpu_kernel_from_dense,  &gpu_kernel_to_dense,  &gpu_kernel_from_bytes,   &gpu_kernel_to_bytes,
    &gpu_kernel_from_halves, &gpu_kernel_to_halves, &gpu_kernel_from_pixels, &gpu_kernel_from_float_pixels,
    &gpu_kernel_to_pixels, &gpu_kernel_to_float_pixels, &gpu_kernel_copy_vectors, &gpu_kernel_from_weights,
    &gpu_kernel_bytes_to_codes, &gpu_kernel_codes_to_bytes, &gpu_kernel_codes_from_ints, NULL};
