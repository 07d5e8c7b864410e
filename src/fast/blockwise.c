// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits stay 4 bits: they are packed so that two vectors of a level hold an octet of columns for a panel of
// units, and are taken apart in registers. (1024 x 1024 and one row: 1218 us on the reference kernel, 7.9 us so.) The
// reference kernel takes the row's zero point from each value of x; here it is taken from all blocks at once, by way
// of the sum of a unit's weights, as the official runtime does: results differ by the rounding of floats.
#include "fast/blockwise.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fast/quantize.h"
#include "fast/simd/simd.h"

enum { OCTET = 8, OFFSET = 8, MAX_BLOCK = 1 << 16 }; // sums of a block fit int32

struct blockwise {
    const struct hl_simd *simd;
    struct hl_weights *shared; // the memory of constant arrays; NULL: the state's
    int rows, columns, units, block, blocks, panels;
    bool asymmetric;
    float low, high;
    uint8_t *w;                    // struct hl_block_tile.w, panel by panel
    float *scales, *w_sums, *bias; // the same
    int8_t *stored;                // [rows][columns]
    int16_t *wide;                 // the same in the order of dot width 2; NULL: dot width 4 multiplies `stored`
    int32_t *zeros, *corrections;  // [rows], [rows][blocks]
    float *x_scales;               // [rows]
    int64_t piece;                 // panels of an item of work
};

bool hl_blockwise_fits(const struct hl_fully_connected *op, const TfLiteTensor *w)
{
    return w->type == kTfLiteInt4 && op->block % OCTET == 0 && op->block <= MAX_BLOCK;
}

// ---- packing ------------------------------------------------------------------------------------

// Four nibbles as the lower halves of four bytes.
static uint32_t spread_nibbles(uint32_t nibbles)
{
    nibbles = (nibbles | nibbles << 8) & 0x00ff00ff;
    return (nibbles | nibbles << 4) & 0x0f0f0f0f;
}

// Eight neighboring values of a unit, the lowest nibble first, as the panel has them.
static uint32_t pack_octet(const uint8_t *from)
{
    const uint32_t first = spread_nibbles((uint32_t)(from[0] | from[1] << 8));
    return (first | spread_nibbles((uint32_t)(from[2] | from[3] << 8)) << 4) ^ OFFSET * 0x11111111u;
}

static int sum_of_octet(uint32_t packed)
{
    const uint32_t pairs = (packed & 0x0f0f0f0f) + (packed >> 4 & 0x0f0f0f0f);
    return (int)((pairs * 0x01010101u) >> 24) - OCTET * OFFSET;
}

static void pack_unit(const struct blockwise *b, const uint8_t *from, const float *scales, int unit)
{
    const int columns = b->simd->block_columns, panel = unit / columns, column = unit % columns;
    const int octets = b->block / OCTET;
    const int64_t first = (int64_t)panel * b->blocks;
    double total = 0;
    for (int n = 0; n < b->blocks; n++) {
        int sum = 0;
        for (int o = 0; o < octets; o++, from += OCTET / 2) {
            const uint32_t packed = pack_octet(from);
            memcpy(b->w + (((first + n) * octets + o) * columns + column) * 4, &packed, sizeof packed);
            sum += sum_of_octet(packed);
        }
        b->scales[(first + n) * columns + column] = scales[n];
        total += (double)scales[n] * sum;
    }
    b->w_sums[unit] = (float)total;
}

static void list_parts(struct blockwise *b, struct hl_parts *parts)
{
    const int64_t units = (int64_t)b->panels * b->simd->block_columns, rows = b->rows;
    hl_parts_add_constant(parts, &b->w, units, b->columns / 2, 1);
    hl_parts_add_constant(parts, &b->scales, units, b->blocks, sizeof *b->scales);
    hl_parts_add_constant(parts, &b->w_sums, units, 1, sizeof *b->w_sums);
    hl_parts_add_constant(parts, &b->bias, units, 1, sizeof *b->bias);
    hl_parts_add(parts, &b->x_scales, rows, 1, sizeof *b->x_scales);
    hl_parts_add(parts, &b->zeros, rows, 1, sizeof *b->zeros);
    hl_parts_add(parts, &b->corrections, rows, b->blocks, sizeof *b->corrections);
    hl_parts_add(parts, &b->wide, b->simd->dot_width == 2 ? rows : 0, b->columns, sizeof *b->wide);
    hl_parts_add(parts, &b->stored, rows, b->columns, sizeof *b->stored);
}

TfLiteStatus hl_blockwise_create(TfLiteContext *ctx, const TfLiteNode *node, const struct hl_fully_connected *op,
                                 float low, float high, void **state, size_t *bytes)
{
    const TfLiteFullyConnectedParams *params = node->builtin_data;
    const TfLiteTensor *w = hl_input(ctx, node, 1), *bias = hl_input(ctx, node, 2);
    const struct hl_simd *simd = hl_simd_best(INT_MAX);
    struct blockwise made = {
        .simd = simd,
        .rows = op->rows,
        .columns = op->columns,
        .units = op->units,
        .block = op->block,
        .blocks = op->columns / op->block,
        .panels = (op->units - 1) / simd->block_columns + 1,
        .asymmetric = params->asymmetric_quantize_inputs,
        .low = low,
        .high = high,
    };
    const double products = (double)op->rows * op->columns * op->units;
    made.piece = hl_piece(ctx, made.panels, hl_pays_to_share(ctx, products, HL_MIN_SHARED_PRODUCTS));
    struct hl_parts parts = {.weights = &made.shared};
    // The scales are no input of the node.
    hl_digest_add(&parts.how, op->scales, (size_t)op->units * (size_t)made.blocks * sizeof *made.scales);
    list_parts(&made, &parts);
    HL_TRY(hl_fast_build(ctx, node, &parts, &made, sizeof made, state, bytes));
    const struct blockwise *b = *state;
    if (!b) return kTfLiteOk;
    for (int n = 0; n < b->units && !parts.filled; n++) {
        pack_unit(b, (const uint8_t *)hl_data(w) + (int64_t)n * b->columns / 2,
                  (const float *)op->scales + (int64_t)n * b->blocks, n);
        b->bias[n] = bias ? HL_IN(float, bias)[n] : 0;
    }
    hl_fast_share(&parts, &made, *state, bytes);
    return kTfLiteOk;
}

void hl_blockwise_destroy(void *blockwise)
{
    struct blockwise *b = blockwise;
    if (!b) return;
    hl_weights_release(b->shared);
    free(b);
}

// ---- running ------------------------------------------------------------------------------------

static void prepare_row(const struct blockwise *b, int64_t row)
{
    const int8_t *restrict x = b->stored + row * b->columns;
    for (int n = 0; n < b->blocks; n++) {
        int32_t sum = 0;
        for (int k = 0; k < b->block; k++) sum += x[n * b->block + k];
        b->corrections[row * b->blocks + n] = -OFFSET * sum;
    }
    if (!b->wide) return;
    int16_t *restrict wide = b->wide + row * b->columns;
    for (int k = 0; k < b->columns; k += OCTET)
        for (int i = 0; i < OCTET; i++) wide[k + i] = x[k + hl_block_order(i)];
}

struct run {
    const struct blockwise *b;
    float *y;
};

static void run_item(void *arg, int64_t item, int worker)
{
    const struct run *run = arg;
    const struct blockwise *b = run->b;
    const int columns = b->simd->block_columns;
    const int64_t end = (item + 1) * b->piece < b->panels ? (item + 1) * b->piece : b->panels;
    (void)worker;
    struct hl_block_tile tile = {
        .rows = b->rows,
        .blocks = b->blocks,
        .octets = b->block / OCTET,
        .x = b->wide ? (const void *)b->wide : b->stored,
        .x_stride = (ptrdiff_t)b->columns * (b->wide ? (ptrdiff_t)sizeof *b->wide : 1),
        .corrections = b->corrections,
        .x_scales = b->x_scales,
        .zeros = b->zeros,
        .y_stride = b->units,
        .low = b->low,
        .high = b->high,
    };
    for (int64_t panel = item * b->piece; panel < end; panel++) {
        const int64_t first = panel * columns;
        tile.columns = b->units - first < columns ? (int)(b->units - first) : columns;
        tile.w = b->w + first * (b->columns / 2);
        tile.scales = b->scales + first * b->blocks;
        tile.w_sums = b->w_sums + first;
        tile.bias = b->bias + first;
        tile.y = run->y + first;
        b->simd->multiply_blocks(&tile);
    }
}

void hl_blockwise_run(TfLiteContext *ctx, const void *blockwise, const float *x, float *y)
{
    const struct blockwise *b = blockwise;
    struct run run = {b, y};
    hl_quantize_rows(ctx, &b->simd->kernels->row_kernels, b->asymmetric, x, b->rows, b->columns, 0, b->stored,
                     b->x_scales, b->zeros);
    for (int64_t r = 0; r < b->rows; r++) prepare_row(b, r);
    hl_parallel(ctx, (b->panels - 1) / b->piece + 1, run_item, &run);
}
