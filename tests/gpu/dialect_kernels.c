// SPDX-License-Identifier: Apache-2.0
// See dialect_kernels.h.
#include "gpu/dialect_kernels.h"

// Functions of one number: as float, acc4, real4 and real.
#define UNARY(word)                                                         \
    v = word(x);                                                            \
    result[at] = v;                                                         \
    u = word(mkf4(1.0f, 1.0f, x, 1.0f));                                    \
    result[at + 1] = u.z;                                                   \
    r = word(mk4(to_real(1.0f), to_real(1.0f), to_real(1.0f), to_real(x))); \
    result[at + 2] = to_float(r.w);                                         \
    s = word(to_real(x));                                                   \
    result[at + 3] = to_float(s);                                           \
    at += 4;
#define UNARY_NAMES(X) X(abs) X(floor) X(ceil) X(exp) X(sin) X(cos) X(tanh) X(round_away) X(round_even) X(sign_of)
#define TEXT_OF(...) GPU_TEXT(__VA_ARGS__)

const struct gpu_kernel dialect_unary = {
    .name = "unary_words",
    .group = {8, 1, 1},
    .args = {{GPU_RAW_IN, "a"}, {GPU_RAW_OUT, "result"}},
    .params = {"n"},
    .body = TEXT_OF(int i = GID0; if (i >= P_n.x) return; float x = a[i]; float v; acc4 u; real4 r; real s;
                    int at = i * P_n.y; UNARY_NAMES(UNARY)),
};

const struct gpu_kernel dialect_positive = {
    .name = "positive_words",
    .group = {8, 1, 1},
    .args = {{GPU_RAW_IN, "a"}, {GPU_RAW_OUT, "result"}},
    .params = {"n"},
    .body = TEXT_OF(int i = GID0; if (i >= P_n.x) return; float x = a[i]; float v; acc4 u; real4 r; real s;
                    int at = i * P_n.y; UNARY(log) UNARY(sqrt) UNARY(rsqrt)),
};

// Functions of two numbers, integers, operators.
const struct gpu_kernel dialect_binary = {
    .name = "binary_words",
    .group = {8, 1, 1},
    .args = {{GPU_RAW_IN, "a"}, {GPU_RAW_IN, "c"}, {GPU_RAW_OUT, "result"}},
    .params = {"n"},
    .body = GPU_TEXT(
        int i = GID0; if (i >= P_n.x) return; float x = a[i]; float y = c[i]; int at = i * P_n.y;
        result[at] = min(x, y); result[at + 1] = max(x, y); result[at + 2] = pow_safe(x, y);
        result[at + 3] = mad(x, y, 1.0f); result[at + 4] = pick(x > y, x, y); acc4 u = mkf4(x, y, 1.0f, 2.0f);
        acc4 v = splatf4(y); result[at + 5] = dot4(u, v); acc4 t = pow_safe(u, v); result[at + 6] = t.x;
        t = min(u, v) + max(u, splatf4(0.0f)) * 2.0f - mad(u, 0.5f, v) / splatf4(4.0f); result[at + 7] = t.x;
        real4 r = mk4(to_real(x), to_real(y), to_real(0.0f), to_real(1.0f));
        r = min(max(r, splat4(-2.0f)), splat4(3.0f)) * to_real(2.0f);
        result[at + 8] = to_float(r.x) + to_float(lane(r, i % 2 + 1));
        r = pow_safe(splat4(to_real(x)), splat4(to_real(2.0f))); result[at + 9] = to_float(r.z);
        result[at + 10] = pow(abs(x) + 1.0f, y); int j = to_int(x * 4.0f); int k = to_int(y * 4.0f);
        k = pick(k == 0, 3, k); result[at + 11] = to_float(imod(j, k));
        result[at + 12] = to_float(min(j, k) * 100 + max(j, k)); int4 q = to_int4(mkf4(x, y, x * 3.0f, y * 3.0f));
        q = q + mki4(1, 2, 3, 4) * splati4(2) - splati4(1); float4 f = to_float4(q);
        result[at + 13] = f.x + f.y * 2.0f + f.z * 4.0f + f.w * 8.0f;
        result[at + 14] = bits_to_float(P_n.z) + to_float(P_n.w); t = -u; t += to_acc4(to_real4(v)); t.y = 7.0f;
        result[at + 15] = t.x + t.y; t = mkf4(x, bits_to_float(2143289344), x, x); u = at_least(t, v);
        result[at + 16] = u.x; result[at + 17] = u.y; u = at_most(t, v); result[at + 18] = u.w; result[at + 19] = u.y;),
};

// y(p) = TIMES * (x(p) + x(p + (1, -1), zero outside) + w(slice)), each of them read in two or three ways.
const struct gpu_kernel dialect_value = {
    .name = "value_words",
    .group = {4, 2, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "w"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"TIMES", 1}, {"ROOM", 2}),
    .shared = {"stor4 tile[GROUP_X * GROUP_Y * ROOM]", "float sums[GROUP_X * GROUP_Y]"},
    .body = GPU_TEXT(
        int4 p = position(); int t = LID1 * GROUP_X + LID0; int last = GROUP_X * GROUP_Y - 1;
        int inside = pick(outside_y(p), 0, 1); acc4 sums_of[ROOM];
        UNROLL for (int i = 0; i < ROOM; i++) { sums_of[i] = splatf4(0.0f); } if (inside == 1) {
            tile[t] = pack4(load_x(at_x(p)));
            tile[t + last + 1] = pack4(w(p.z));
            sums_of[0] = to_acc4(read_x(p));
            sums[t] = sums_of[0].x;
        } BARRIER;
        if (inside == 1) {
            real4 v = load4(tile[t]);
            acc4 sum = to_acc4(v);
            v = read_x_or_zero(p + mki4(1, -1, 0, 0));
            sum += to_acc4(v);
            sum += to_acc4(w(p.z)) * 0.5f + to_acc4(load4(tile[t + last + 1])) * 0.5f;
            sum.x += sums[t] - sums_of[0].x;
            v = load_x(at_x(p));
            sum += (to_acc4(v) - sums_of[0]) * to_float(TIMES);
            if (p.z < y_s - 1) {
                store_y(at_y(p), to_real4(sum) * to_real(TIMES));
            } else {
                write_y(p, to_real4(sum) * to_real(TIMES));
            }
        }),
};

// Ids and sizes.
const struct gpu_kernel dialect_sizes = {
    .name = "size_words",
    .group = {2, 3, 2},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}, {GPU_RAW_OUT, "result"}},
    .body = GPU_TEXT(int at = ((GID2 * 3 * GROUP_Y + GID1) * 2 * GROUP_X + GID0) * 4;
                     result[at] = to_float(LID0 + LID1 * 10 + LID2 * 100);
                     result[at + 1] = to_float(GROUP0 + GROUP1 * 10 + GROUP2 * 100);
                     result[at + 2] = to_float(x_w + x_h * 10 + x_c * 100 + x_b * 1000 + x_s * 10000);
                     result[at + 3] = to_float(GROUP_X + GROUP_Y * 10 + GROUP_Z * 100 + y_w * 1000);
                     int4 p = position(); if (!outside_y(p)) write_y(p, splat4(1.0f));),
};

// dot_bytes in plain code and as an instruction.
#define DOTS(NAME, INSTRUCTION)                                                                               \
    {                                                                                                         \
        .name = NAME, .group = {8, 1, 1},                                                                     \
        .args = {{GPU_BYTES_IN, "a"}, {GPU_BYTES_IN, "c"}, {GPU_BYTES_OUT, "result"}}, .params = {"n"},       \
        .integers = true, .byte_dots = INSTRUCTION,                                                           \
        .body = TEXT_OF(int i = GID0; if (i >= P_n.x) return; result[i] = dot_bytes(a[i], c[i], a[i] >> 4);), \
    }
const struct gpu_kernel dialect_plain_dots = DOTS("plain_dots", false), dialect_dots = DOTS("byte_dots", true);

const struct gpu_kernel dialect_epilogue = {
    .name = "epilogue_words",
    .group = {8, 2, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    GPU_CONSTANTS({"FACTOR", 3}),
    .epilogue = true,
    .body =
        GPU_TEXT(int4 p = position(); if (outside_y(p)) return; write_y(p, finish(read_x(p) * to_real(FACTOR), p));),
};

const struct gpu_kernel *const dialect_kernels[] = {&dialect_unary,      &dialect_positive, &dialect_binary,
                                                    &dialect_value,      &dialect_sizes,    &dialect_epilogue,
                                                    &dialect_plain_dots, &dialect_dots,     NULL};
