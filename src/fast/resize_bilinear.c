// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR of float32, uint8 and int8 to a size that is known in prepare. Each output row is blended from two
// input rows by the microkernel of struct hl_resize_row (simd/simd.h).
#include "ops/resize.h"

#include <stdlib.h>

#include "fast/fast.h"
#include "fast/simd/simd.h"
#include "ops/common/window.h"

struct resize {
    const struct hl_simd *simd;
    int batches, in_height, in_width, channels, height, width;
    int64_t y_stride; // values from one output pixel to the next
    size_t size;      // bytes of an element
    void (*run)(const struct hl_resize_row *row);
    struct hl_resize_sample *rows;     // [height]
    int32_t *left, *right, *part_1024; // [width]
    float *part;                       // [width]
    struct hl_scratch mixed;           // two input rows for each worker
    int64_t block;                     // output rows of one work item
};

// Fewer elements take about as long as waking the other threads.
enum { MIN_SHARED_VALUES = 4000 };

// The sum of the magnitudes of the weights of a sample's two neighbors, in units of 2^-10: 1024 inside the image, and
// more the farther the sample lies outside.
static int64_t weight_at(const struct hl_resize_axis *axis, int position)
{
    int64_t part = hl_resize_fixed(axis, position).part_1024;
    return llabs(part) + llabs(1024 - part);
}

// Of all samples the first or the last one lies farthest outside: an axis is told by its ends, however long a file says
// it is.
static int64_t largest_weight(int in, int out, bool align, bool half)
{
    struct hl_resize_axis axis = hl_resize_axis(in, out, align, half);
    int64_t first = weight_at(&axis, 0), last = weight_at(&axis, out - 1);
    return first > last ? first : last;
}

// A column of single pixels is a row in memory, of which the microkernel makes all pixels at once. (500 rows of 64
// channels to 1,000: floats 19.3 us as a column, 10.0 as a row; int8 22.7, 13.5.)
static void turn_column(struct resize *r, int threads)
{
    if (r->in_width != 1 || r->width != 1 || r->in_height / 2 > r->height || !hl_column_turns(r->height, threads))
        return;
    r->in_width = r->in_height, r->in_height = 1;
    r->width = r->height, r->height = 1;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, void **state, size_t *bytes)
{
    const TfLiteResizeBilinearParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);
    bool align = params->align_corners, half = params->half_pixel_centers;
    if (hl_is_dynamic(y) || hl_elements(y) == 0) return kTfLiteOk;
    const struct hl_simd *simd = hl_simd_best(hl_dim(y, 3));
    struct resize made = {
        .simd = simd,
        .batches = hl_dim(x, 0),
        .in_height = hl_dim(x, 1),
        .in_width = hl_dim(x, 2),
        .channels = hl_dim(x, 3),
        .height = hl_dim(y, 1),
        .width = hl_dim(y, 2),
        .y_stride = hl_dim(y, 3),
        .size = hl_type_size(x->type),
        .run = x->type == kTfLiteFloat32 ? simd->kernels->resize_f32
               : x->type == kTfLiteUInt8 ? simd->kernels->resize_u8
               : x->type == kTfLiteInt8  ? simd->kernels->resize_i8
                                         : NULL,
    };
    turn_column(&made, hl_thread_count(ctx));
    int64_t in_count = (int64_t)made.in_width * made.channels;
    // The microkernel blends whole input rows, which costs more than it saves where the output needs few of their
    // pixels. Its offsets have 31 bits.
    if (!made.run || made.in_width / 2 > made.width || in_count > INT32_MAX / 2) return kTfLiteOk;
    if (x->type == kTfLiteInt8 && largest_weight(made.in_height, made.height, align, half) *
                                          largest_weight(made.in_width, made.width, align, half) >
                                      INT32_MAX / 128 - (1 << 20))
        return kTfLiteOk;
    made.block = hl_piece(ctx, (int64_t)made.batches * made.height, hl_elements(y) >= MIN_SHARED_VALUES);
    struct hl_parts parts = {0};
    hl_parts_add(&parts, &made.rows, made.height, 1, sizeof *made.rows);
    hl_parts_add(&parts, &made.left, made.width, 1, sizeof *made.left);
    hl_parts_add(&parts, &made.right, made.width, 1, sizeof *made.right);
    hl_parts_add(&parts, &made.part_1024, made.width, 1, sizeof *made.part_1024);
    hl_parts_add(&parts, &made.part, made.width, 1, sizeof *made.part);
    hl_parts_add_scratch(&parts, &made.mixed, hl_thread_count(ctx), 2, in_count + HL_RESIZE_SPARE, 4);
    HL_TRY(hl_fast_build(ctx, node, &parts, &made, sizeof made, state, bytes));
    struct resize *r = *state;
    if (!r) return kTfLiteOk;

    struct hl_resize_axis down = hl_resize_axis(r->in_height, r->height, align, half);
    struct hl_resize_axis across = hl_resize_axis(r->in_width, r->width, align, half);
    bool fixed = x->type == kTfLiteInt8;
    for (int i = 0; i < r->height; i++) r->rows[i] = fixed ? hl_resize_fixed(&down, i) : hl_resize_float(&down, i);
    for (int i = 0; i < r->width; i++) {
        struct hl_resize_sample at = fixed ? hl_resize_fixed(&across, i) : hl_resize_float(&across, i);
        r->left[i] = at.first * r->channels;
        r->right[i] = at.second * r->channels;
        r->part[i] = at.part;
        r->part_1024[i] = (int32_t)at.part_1024;
    }
    return kTfLiteOk;
}

struct run {
    const struct resize *r;
    const char *x;
    char *y;
};

static void run_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct resize *r = run->r;
    int64_t in_count = (int64_t)r->in_width * r->channels, first = item * r->block;
    int64_t end = first + r->block, rows = (int64_t)r->batches * r->height;
    for (int64_t i = first; i < end && i < rows; i++) {
        const struct hl_resize_sample *at = &r->rows[i % r->height];
        int64_t image = i / r->height * r->in_height;
        const struct hl_resize_row row = {
            .top = run->x + (size_t)((image + at->first) * in_count) * r->size,
            .bottom = run->x + (size_t)((image + at->second) * in_count) * r->size,
            .in_count = in_count,
            .down = at->part,
            .down_1024 = (int32_t)at->part_1024,
            .mixed = hl_scratch_of(&r->mixed, worker),
            .left = r->left,
            .right = r->right,
            .part = r->part,
            .part_1024 = r->part_1024,
            .width = r->width,
            .channels = r->channels,
            .y = run->y + (size_t)(i * r->width * r->y_stride) * r->size,
            .y_stride = r->y_stride,
        };
        r->run(&row);
    }
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node, void *state)
{
    const struct resize *r = state;
    struct run run = {r, hl_data(hl_input(ctx, node, 0)), hl_result_data(ctx, node)};
    int64_t rows = (int64_t)r->batches * r->height;
    hl_parallel(ctx, (rows + r->block - 1) / r->block, run_item, &run);
    return kTfLiteOk;
}

static bool set_row_stride(void *state, int64_t stride)
{
    ((struct resize *)state)->y_stride = stride;
    return true;
}

const struct hl_fast hl_fast_resize_bilinear = {.prepare = prepare,
                                                .invoke = invoke,
                                                .release = free,
                                                .set_row_stride = set_row_stride};
