// SPDX-License-Identifier: Apache-2.0
// Operations that move bytes and compute nothing. Most of them say for each element of the result where it comes from.
#include <string.h>

#include "fake.h"

// An element's position by dimension, and back.
static void locate(size_t index, const unsigned dims[4], int at[4])
{
    for (int i = 3; i >= 0; index /= dims[i--]) at[i] = (int)(index % dims[i]);
}

static size_t index_of(const struct fake_tensor *tensor, const int at[4])
{
    size_t index = 0;
    for (int i = 0; i < 4; i++) index = index * tensor->dims[i] + (size_t)at[i];
    return index;
}

static bool is_inside(const struct fake_tensor *tensor, const int at[4])
{
    bool inside = true;
    for (int i = 0; i < 4; i++) inside = inside && at[i] >= 0 && at[i] < (int)tensor->dims[i];
    return inside;
}

// Hands the range of the input on; the byte that says 0.
static uint8_t keep_range(struct fake_call *call, int min)
{
    struct fake_scale scale = fake_scale(call, min, min + 1);
    fake_ends(call, call->node->output_count - 2, fake_float(call, min), fake_float(call, min + 1));
    return fake_byte(scale, 0);
}

// Fills in the result: `from` replaces a position of the result by one of the input.
static void move(struct fake_call *call, const unsigned dims[4], uint8_t zero,
                 void (*from)(const struct fake_tensor *in, const int *params, int at[4]), const int *params)
{
    const struct fake_tensor *in = fake_in(call, 0);
    if (!fake_hold(call, in->bytes == fake_elements(in->dims), "the input is not of bytes")) return;
    uint8_t *result = fake_result(call, dims, 1);
    for (size_t i = 0; result && i < fake_elements(dims); i++) {
        int at[4];
        locate(i, dims, at);
        from(in, params, at);
        result[i] = is_inside(in, at) ? ((uint8_t *)in->data)[index_of(in, at)] : zero;
    }
}

// ---- RESHAPE and TRANSPOSE ----------------------------------------------------------------------

void fake_run_reshape(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0);
    int list[4];
    fake_ints(call, 1, 4, list);
    unsigned dims[4], element = call->node->declared[0].elementsize;
    for (int i = 0; i < 4; i++) dims[i] = (unsigned)list[i];
    if (!fake_hold(call, fake_elements(dims) * element == in->bytes, "the shape has another number of elements"))
        return;
    void *result = fake_result(call, dims, element);
    if (result) memcpy(result, in->data, in->bytes);
}

static void from_transposed(const struct fake_tensor *in, const int *order, int at[4])
{
    (void)in;
    int to[4];
    memcpy(to, at, sizeof to);
    for (int i = 0; i < 4; i++) at[order[i]] = to[i];
}

void fake_run_transpose(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0);
    int order[4];
    unsigned dims[4], seen = 0;
    fake_ints(call, 1, 4, order);
    keep_range(call, 2);
    for (int i = 0; i < 4; i++) {
        if (!fake_hold(call, order[i] >= 0 && order[i] < 4, "there is no such axis")) return;
        dims[i] = in->dims[order[i]];
        seen |= 1u << order[i];
    }
    if (fake_hold(call, seen == 15, "an axis is missing")) move(call, dims, 0, from_transposed, order);
}

// ---- CONCAT, PACK and SPLIT ---------------------------------------------------------------------

// Copies `parts` chunks of each of `count` inputs in turn, from byte to byte of the range of all.
static void join(struct fake_call *call, int count, size_t parts, const unsigned dims[4])
{
    double low = fake_float(call, 1 + count), high = fake_float(call, 1 + 2 * count);
    for (int i = 1; i < count; i++) {
        double min = fake_float(call, 1 + count + i), max = fake_float(call, 1 + 2 * count + i);
        low = min < low ? min : low;
        high = max > high ? max : high;
    }
    struct fake_scale to = fake_ends(call, 1, low, high);
    uint8_t *result = fake_result(call, dims, 1);
    for (size_t part = 0; result && part < parts; part++)
        for (int i = 0; i < count; i++) {
            const struct fake_tensor *in = fake_in(call, 1 + i);
            struct fake_scale from = fake_scale(call, 1 + count + i, 1 + 2 * count + i);
            size_t chunk = in->bytes / parts;
            for (size_t k = 0; k < chunk; k++)
                *result++ = fake_byte(to, fake_value(from, ((uint8_t *)in->data)[part * chunk + k]));
        }
}

void fake_run_concat(struct fake_call *call)
{
    int axis = fake_int(call, 0), count = (call->node->input_count - 1) / 3;
    if (!fake_hold(call, axis >= 0 && axis < 4 && call->node->input_count == 1 + 3 * count, "the axis is wrong"))
        return;
    unsigned dims[4];
    memcpy(dims, fake_in(call, 1)->dims, sizeof dims);
    size_t parts = 1;
    for (int i = 0; i < axis; i++) parts *= dims[i];
    for (int k = 1; k < count; k++) {
        const struct fake_tensor *in = fake_in(call, 1 + k);
        for (int i = 0; i < 4; i++)
            if (!fake_hold(call, i == axis || in->dims[i] == dims[i], "the inputs do not fit each other")) return;
        dims[axis] += in->dims[axis];
    }
    join(call, count, parts, dims);
}

void fake_run_pack(struct fake_call *call)
{
    int axis = fake_int(call, 0), count = (call->node->input_count - 1) / 3;
    if (!fake_hold(call, axis >= 0 && axis < 4 && call->node->input_count == 1 + 3 * count, "the axis is wrong"))
        return;
    const unsigned *in = fake_in(call, 1)->dims;
    unsigned dims[4];
    size_t parts = 1;
    if (!fake_hold(call, in[0] == 1, "the result would have five dimensions")) return;
    for (int i = 0; i < axis; i++) parts *= dims[i] = in[i + 1];
    dims[axis] = (unsigned)count;
    for (int i = axis + 1; i < 4; i++) dims[i] = in[i];
    for (int k = 1; k < count; k++)
        if (!fake_hold(call, memcmp(fake_in(call, 1 + k)->dims, in, 4 * sizeof *in) == 0, "the inputs differ")) return;
    join(call, count, parts, dims);
}

void fake_run_split(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 1);
    int axis = fake_int(call, 0), count = call->node->output_count - 2;
    keep_range(call, 2);
    if (!fake_hold(call, axis >= 0 && axis < 4 && in->dims[axis] % (unsigned)count == 0, "the parts are unequal"))
        return;
    unsigned dims[4];
    memcpy(dims, in->dims, sizeof dims);
    dims[axis] /= (unsigned)count;
    size_t chunk = 1;
    for (int i = axis; i < 4; i++) chunk *= dims[i];
    for (int k = 0; k < count; k++) {
        uint8_t *result = fake_result_at(call, k, dims, 1);
        for (size_t i = 0; result && i < fake_elements(dims); i++)
            result[i] = ((uint8_t *)in->data)[i / chunk * chunk * (size_t)count + (size_t)k * chunk + i % chunk];
    }
}

// ---- SLICE and STRIDED_SLICE --------------------------------------------------------------------

static void from_slice(const struct fake_tensor *in, const int *params, int at[4])
{
    (void)in;
    for (int i = 0; i < 4; i++) at[i] = params[i] + at[i] * params[4 + i]; // begin, strides
}

void fake_run_slice(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0);
    int params[8] = {0, 0, 0, 0, 1, 1, 1, 1}, size[4];
    unsigned dims[4];
    fake_ints(call, 1, 4, params);
    fake_ints(call, 2, 4, size);
    keep_range(call, 3);
    for (int i = 0; i < 4; i++) {
        if (!fake_hold(call, params[i] >= 0 && size[i] > 0 && params[i] + size[i] <= (int)in->dims[i],
                       "the slice leaves the input"))
            return;
        dims[i] = (unsigned)size[i];
    }
    move(call, dims, 0, from_slice, params);
}

// The first element and how many there are, of an axis of this size. Negative numbers count from the end.
static int clamp_slice(int *begin, int end, int stride, int size, int masked)
{
    int low = stride > 0 ? 0 : -1, high = stride > 0 ? size : size - 1;
    if (*begin < 0) *begin += size;
    if (end < 0) end += size;
    *begin = masked & 1 ? (stride > 0 ? 0 : size - 1) : *begin < low ? low : *begin > high ? high : *begin;
    end = masked & 2 ? (stride > 0 ? size : -1) : end < low ? low : end > high ? high : end;
    int count = stride > 0 ? (end - *begin + stride - 1) / stride : (*begin - end - stride - 1) / -stride;
    return count > 0 ? count : 0;
}

void fake_run_strided_slice(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0);
    int params[8], end[4], masks[3];
    fake_ints(call, 1, 4, params);
    fake_ints(call, 2, 4, end);
    fake_ints(call, 3, 4, params + 4);
    for (int i = 0; i < 3; i++) masks[i] = fake_int(call, 4 + i);
    keep_range(call, 7);
    unsigned dims[4] = {1, 1, 1, 1}, count[4];
    int kept = 4;
    for (int i = 3; i >= 0; i--) {
        if (!fake_hold(call, params[4 + i] != 0, "a stride is 0")) return;
        bool shrinks = masks[2] >> i & 1;
        int masked = shrinks ? 0 : (masks[0] >> i & 1) | (masks[1] >> i & 1) << 1;
        if (shrinks) end[i] = params[i] == -1 ? (int)in->dims[i] : params[i] + 1;
        count[i] = (unsigned)clamp_slice(&params[i], end[i], shrinks ? 1 : params[4 + i], (int)in->dims[i], masked);
        if (!fake_hold(call, count[i] > 0, "the slice is empty")) return;
        if (!shrinks) dims[--kept] = count[i];
    }
    uint8_t *result = fake_result(call, dims, 1);
    for (size_t i = 0; result && i < fake_elements(count); i++) {
        int at[4];
        locate(i, count, at);
        from_slice(in, params, at);
        result[i] = ((uint8_t *)in->data)[index_of(in, at)];
    }
}

// ---- PAD and MIRROR_PAD -------------------------------------------------------------------------

static bool padded_shape(struct fake_call *call, const int pads[8], unsigned dims[4])
{
    const struct fake_tensor *in = fake_in(call, 0);
    for (int i = 0; i < 4; i++) {
        if (!fake_hold(call, pads[2 * i] >= 0 && pads[2 * i + 1] >= 0, "negative padding")) return false;
        dims[i] = in->dims[i] + (unsigned)(pads[2 * i] + pads[2 * i + 1]);
    }
    return true;
}

static void from_padded(const struct fake_tensor *in, const int *pads, int at[4])
{
    (void)in;
    for (int i = 0; i < 4; i++) at[i] -= pads[2 * i];
}

void fake_run_pad(struct fake_call *call)
{
    int pads[8];
    unsigned dims[4];
    fake_ints(call, 3, 8, pads);
    uint8_t zero = keep_range(call, 1);
    if (padded_shape(call, pads, dims)) move(call, dims, zero, from_padded, pads);
}

// params: pads, then 1 where the edge itself is not repeated.
static void from_mirrored(const struct fake_tensor *in, const int *params, int at[4])
{
    int skip = params[8];
    from_padded(in, params, at);
    for (int i = 0; i < 4; i++) {
        int size = (int)in->dims[i];
        if (at[i] < 0) at[i] = -at[i] - 1 + skip;
        if (at[i] >= size) at[i] = 2 * size - at[i] - 1 - skip;
    }
}

void fake_run_mirror_pad(struct fake_call *call)
{
    int params[9];
    unsigned dims[4];
    fake_ints(call, 1, 8, params);
    params[8] = call->node->padding == HEXAGON_PAD_MIRROR_REFLECT;
    keep_range(call, 2);
    for (int i = 0; i < 8; i++)
        if (!fake_hold(call, params[i] <= (int)fake_in(call, 0)->dims[i / 2] - params[8], "more padding than data"))
            return;
    if (padded_shape(call, params, dims)) move(call, dims, 0, from_mirrored, params);
}

// ---- blocks -------------------------------------------------------------------------------------

// params: block height and width, rows and columns before the data, batches of the data.
static void from_batches(const struct fake_tensor *in, const int *params, int at[4])
{
    int block = at[0] / (int)in->dims[0];
    at[0] %= (int)in->dims[0];
    at[1] = at[1] * params[0] + block / params[1] - params[2];
    at[2] = at[2] * params[1] + block % params[1] - params[3];
}

static void from_space(const struct fake_tensor *in, const int *params, int at[4])
{
    (void)in;
    int y = at[1] + params[2], x = at[2] + params[3];
    at[0] += (y % params[0] * params[1] + x % params[1]) * params[4];
    at[1] = y / params[0];
    at[2] = x / params[1];
}

void fake_run_space_to_batch(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0);
    int params[5], pads[4];
    fake_ints(call, 1, 2, params);
    fake_ints(call, 2, 4, pads);
    uint8_t zero = keep_range(call, 3);
    unsigned dims[4] = {in->dims[0] * (unsigned)(params[0] * params[1]), 0, 0, in->dims[3]};
    for (int i = 0; i < 2; i++) {
        int size = (int)in->dims[1 + i] + pads[2 * i] + pads[2 * i + 1];
        if (!fake_hold(call, params[i] > 0 && size % params[i] == 0, "the block does not divide the plane")) return;
        dims[1 + i] = (unsigned)(size / params[i]);
        params[2 + i] = pads[2 * i];
    }
    move(call, dims, zero, from_batches, params);
}

void fake_run_batch_to_space(struct fake_call *call)
{
    const struct fake_tensor *in = fake_in(call, 0);
    int params[5], crops[4];
    fake_ints(call, 1, 2, params);
    fake_ints(call, 2, 4, crops);
    keep_range(call, 3);
    int blocks = params[0] * params[1];
    if (!fake_hold(call, blocks > 0 && in->dims[0] % (unsigned)blocks == 0, "the block does not divide the batch"))
        return;
    params[4] = (int)in->dims[0] / blocks;
    unsigned dims[4] = {(unsigned)params[4], 0, 0, in->dims[3]};
    for (int i = 0; i < 2; i++) {
        dims[1 + i] = in->dims[1 + i] * (unsigned)params[i] - (unsigned)(crops[2 * i] + crops[2 * i + 1]);
        params[2 + i] = crops[2 * i];
    }
    move(call, dims, 0, from_space, params);
}

static void from_depth(const struct fake_tensor *in, const int *block, int at[4])
{
    int depth = (int)in->dims[3], part = at[3] / depth;
    at[1] = at[1] * *block + part / *block;
    at[2] = at[2] * *block + part % *block;
    at[3] %= depth;
}

static void to_depth(const struct fake_tensor *in, const int *block, int at[4])
{
    int depth = (int)in->dims[3] / (*block * *block);
    at[3] += (at[1] % *block * *block + at[2] % *block) * depth;
    at[1] /= *block;
    at[2] /= *block;
}

void fake_run_space_to_depth(struct fake_call *call)
{
    const unsigned *in = fake_in(call, 0)->dims;
    int block = fake_int(call, 1);
    unsigned size = (unsigned)block;
    keep_range(call, 2);
    if (!fake_hold(call, block > 0 && in[1] % size == 0 && in[2] % size == 0, "the block does not divide the plane"))
        return;
    move(call, (unsigned[]){in[0], in[1] / size, in[2] / size, in[3] * size * size}, 0, from_depth, &block);
}

void fake_run_depth_to_space(struct fake_call *call)
{
    const unsigned *in = fake_in(call, 0)->dims;
    int block = fake_int(call, 1);
    unsigned size = (unsigned)block;
    keep_range(call, 2);
    if (!fake_hold(call, block > 0 && in[3] % (size * size) == 0, "the block does not divide the depth")) return;
    move(call, (unsigned[]){in[0], in[1] * size, in[2] * size, in[3] / (size * size)}, 0, to_depth, &block);
}
