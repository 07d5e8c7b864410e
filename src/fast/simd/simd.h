// SPDX-License-Identifier: Apache-2.0
// The microkernels, which exist once for each CPU level. microkernels_tmpl.h and integer_tmpl.h hold their text, each
// level_*.c compiles it for one level, and hl_simd_best chooses the level. All levels give the same integers. Floats
// differ by the rounding of fused multiply-adds, and by the order in which SOFTMAX adds.
#ifndef HALITE_FAST_SIMD_SIMD_H
#define HALITE_FAST_SIMD_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/report.h"
#include "fast/elements.h"
#include "ops/common/quant.h"
#include "ops/common/row_kernels.h"

// One tile of a matrix product, y[r][c] = initial[c] + sum over k of x[r][k] * w[k][c], for a few rows r and one panel
// of columns. A step of the panel holds all its columns for one k (floats), or for hl_simd.dot_width neighboring k
// (integers).
struct hl_tile {
    int rows; // 1 .. hl_simd.rows
    const void *x;
    ptrdiff_t x_stride; // from row to row: in floats, or in bytes
    const void *w;
    int64_t steps; // of one segment
    // Rows of x may continue in so many further segments of as many steps, each x_segment floats or bytes behind the
    // one before.
    int segments;
    ptrdiff_t x_segment;
    // Dilated windows: all these segments come so many times more, each time x_line floats or bytes behind where the
    // next segment would be.
    int lines;
    ptrdiff_t x_line;
    // Several narrow groups of columns in one panel: column c reads each step spread[c] * 4 bytes behind where x says.
    // Only hl_simd.spread_columns columns, and whole vectors are read. NULL: all columns read the same.
    const int32_t *spread;
    bool rounded; // floats of one segment: products are rounded before they are added, not fused
    // The initial accumulators of the panel's columns, float or int32. Floats are added last, like the reference
    // kernel's bias.
    const void *initial;
    void *y; // float or int32
    ptrdiff_t y_stride;
    bool narrow;        // bytes: none of the weights is -128, so that the sum of two products fits an int16
    ptrdiff_t prefetch; // bytes from the weights that are read to those that are fetched with them; 0: none
    int columns;        // of the panel, to be written
    float low, high;    // floats: the range of y
    // multiply_row_integer: the sums are scaled and become these bytes, and are not written to y. NULL: sums.
    const struct hl_byte_tile *scaled;
    // multiply_to_floats: what the sums become.
    const struct hl_float_tile *floats;
};

// From sums to stored 8-bit values, by channel: the rescaling of ops/common/quant.h.
struct hl_requantize {
    int32_t *multiplier, *left, *right; // shifts, of which at least one is 0
    int32_t zero, low, high;            // zero point and range of stored values
    bool right_only;                    // hl_requantize_right_only of all channels
};

static inline void hl_requantize_set(struct hl_rescale rescale, int32_t *multiplier, int32_t *left, int32_t *right)
{
    *multiplier = rescale.multiplier;
    *left = rescale.shift > 0 ? rescale.shift : 0;
    *right = rescale.shift > 0 ? 0 : -rescale.shift;
}

// Whether every channel is shifted right, as in nearly all models, and none left: then both roundings are one step.
static inline bool hl_requantize_right_only(const struct hl_rescale *rescales, int channels)
{
    bool only = true;
    for (int c = 0; c < channels; c++) only &= rescales[c].shift < 0;
    return only;
}

// From sums to floats, by channel: (sums[i] - zero * w_sums[i]) * scales[i] * x_scale + bias[i], kept in a range.
struct hl_unquantize {
    float *scales, *bias;
    uint32_t *w_sums;
    uint32_t zero;
    float x_scale;
    int two_steps; // multiply by one scale after the other, not by their product
    float low, high;
};

// A run of neighboring output positions of a depthwise convolution:
// y[p][c] = initial[c] + sum over t of x[p * x_step + tap[t]][c] * w[t][c].
struct hl_depthwise_run {
    int count, channels;
    // Pointers to the channels of input positions. A position outside the input has a pointer to zero points.
    const void *const *x;
    ptrdiff_t x_step;
    const int32_t *tap;
    int taps; // integers: a multiple of hl_simd.dot_width, of which the last ones may have weights of 0
    // Floats: w [taps][channels], initial [channels].
    // Integers: w [blocks][taps / dot_width][layers][bytes][4 bytes], initial [blocks][bytes] int32, both in the order
    // of hl_depthwise_channel. The initial accumulators hold the bias and the correction of x's zero point.
    const void *w, *initial;
    void *y;         // [count][channels]
    float low, high; // floats: the range of y
    // Floats: the width of windows whose columns are next to each other, and how many columns lie between neighboring
    // windows. The pointers of a column follow each other, and so do columns. 0: other windows.
    int kw, stride;
    // depthwise_pair_f32: the pointers of a column, and how far the second row of y lies behind the first.
    int height;
    ptrdiff_t y_row;
    // Integers only, from here on. Bytes of x are xored with this before they are multiplied.
    uint8_t sign_offset;
    // A weight that does not fit the multiplication is a sum of layers: one of its own, and one or two that all share.
    int layers;
    // A block is hl_simd.bytes channels, and the last block ends with the last channel. Where there are fewer channels,
    // a block is the channels of `parts` neighboring positions; all its bytes can be read.
    int parts;
    bool side_by_side; // what a tap reads for neighboring positions lies side by side
    // 1 or 2: the stride of 3x3 windows whose columns are next to each other. Each column has 3 pointers, and its
    // weights are one dot product of 4. 0: other windows.
    int stride_3x3;
    const struct hl_requantize *to_bytes;  // its arrays are [blocks][bytes], in the order of the weights
    const struct hl_unquantize *to_floats; // or this, by channel
};

// The channel, in its block, of element i of a packed array.
static inline int hl_depthwise_channel(int i, int bytes, int parts)
{
    int lanes = bytes / 4;
    return (i % lanes / 4 * 16 + i / lanes * 4 + i % 4) % (bytes / parts);
}

// Adds rows of sums to rows of y that may overlap (col2im): y[r][c] += sums[r][c] - corrections[r].
struct hl_scatter_add {
    const void *sums; // float or int32
    ptrdiff_t stride; // from row to row
    void *y;
    ptrdiff_t y_stride;
    const int32_t *corrections; // integers only
    int64_t rows;
    int columns;
};

// Sums of products of Winograd's algorithm that become 2x2 output positions.
struct hl_winograd_output {
    const float *products; // 16 times so many columns as whole vectors have, `stride` apart
    ptrdiff_t stride;
    const float *bias; // goes on to a whole vector
    float low, high;
    float *y[4]; // NULL: there is no such position
    int columns;
};

// Values that a vector of the widest level may reach beyond a row.
enum { HL_RESIZE_SPARE = 16 };

// A row of an image between two rows of another, whose pixels have `channels` values.
struct hl_resize_row {
    const void *top, *bottom; // in_count values each
    int64_t in_count;
    float down; // how far the row lies below `top`; the 8-bit signed form counts in units of 2^-10
    int32_t down_1024;
    void *mixed; // room for 2 * (in_count + HL_RESIZE_SPARE) floats or int32
    // Of each output pixel: the values of its neighbors begin here, and how far it lies right of the first.
    const int32_t *left, *right;
    const float *part;
    const int32_t *part_1024;
    int width, channels;
    void *y;
    int64_t y_stride; // values from one output pixel to the next
};

// SOFTMAX of bytes in fixed point. Entries 0 to HL_SOFTMAX_LAST of its tables are for differences of -255 to 0 from a
// row's largest value.
enum { HL_SOFTMAX_LAST = 255, HL_SOFTMAX_PLANES = 3 };
struct hl_softmax_bytes {
    const int32_t *exponentials, *terms;                    // as Q0, and as the Q12 that is summed
    uint8_t planes[HL_SOFTMAX_PLANES][HL_SOFTMAX_LAST + 1]; // the bytes of terms, lowest first
    bool wide;                                              // hl_simd_has_wide_tables
    uint8_t flip;                                           // int8: 0x80, uint8: 0
    int32_t low;                                            // how a probability of 0 is stored
    int length;                                             // of a row, at most HL_LARGEST_MAX_COLUMNS
};

// Rows of int8 times a panel of weights of 4 bits that have a scale for each block of columns, as floats:
// y[r][c] = (sum over b of scales[b][c] * (sum over k of block b of x[r][k] * w[k][c]) - zeros[r] * w_sums[c]) *
// x_scales[r] + bias[c], kept in a range.
struct hl_block_tile {
    int rows, columns;  // to be written; arrays of a panel's columns go on to whole panels
    int blocks, octets; // of a row: blocks; of a block: 8 neighboring values each
    const void *x;      // int8 (dot width 4), or int16 of which each octet is in the order of hl_block_order
    ptrdiff_t x_stride; // in bytes
    // [rows][blocks]: -8 times the sum of x in a block, because weights are stored with 8 added.
    const int32_t *corrections;
    const uint8_t
        *w; // [blocks][octets][columns][4 bytes]: byte i has w[i] in its low half and w[4 + i] in its high one
    const float *scales; // [blocks][columns]
    const float *w_sums; // sums of weights times their scales
    const float *bias;
    const float *x_scales;
    const int32_t *zeros;
    float *y;
    ptrdiff_t y_stride;
    float low, high;
};

// The value of an octet that is at position i of its int16: pairs of one step lie 16 bits apart in the bytes of w.
static inline int hl_block_order(int i)
{
    return i / 4 + i % 4 * 2;
}

// Rows of sums that become bytes.
struct hl_byte_tile {
    const struct hl_requantize *params;
    // One for each channel, instead of the multipliers of `params`: products are rounded half away from zero. NULL:
    // none.
    const double *scales;
    int64_t first; // the first channel; the arrays of `params`, and scales, go on to a whole panel
    int rows, columns;
    const int32_t *sums;
    ptrdiff_t sums_stride;
    const int32_t *corrections; // one for each row, taken from its sums; NULL: none
    uint8_t *y;
    ptrdiff_t y_stride;
};

// Rows of sums of products of int16 that become int16, as hl_rescale_apply_i64 makes them of bias[c] + 256 * the first
// `upper` pieces + the other pieces, kept in a range. Pieces of sums fit int32.
struct hl_word_tile {
    // Of the tile's columns; they go on to a whole panel. What a product is multiplied with, what is added, and how far
    // that is shifted to the right.
    const int64_t *multiplier, *rounding, *right, *bias;
    int pieces, upper;
    ptrdiff_t piece_stride;
    int rows, columns; // at most a panel
    const int32_t *sums;
    ptrdiff_t sums_stride;
    int16_t *y;
    ptrdiff_t y_stride;
    int32_t low, high;
};

// Rows of sums that become floats.
struct hl_float_tile {
    const struct hl_unquantize *params; // of the tile's columns; its arrays and the sums go on to a whole vector
    int rows, columns;
    const int32_t *sums;
    ptrdiff_t sums_stride;
    float *y;
    ptrdiff_t y_stride;
    // Of each row, instead of x_scale and zero of `params`, which then has not two steps; NULL: all rows have those, or
    // a zero point of 0.
    const float *x_scales;
    const int32_t *x_zeros;
    int x_step; // multiply_to_floats: from row to row in these; 0 where all rows have the first
};

// Loops that do not depend on how integers are multiplied: levels may share them.
struct hl_microkernels {
    // y[i] of channel first + i, from sums[i] - correction.
    void (*requantize)(const struct hl_requantize *params, const int32_t *sums, uint32_t correction, int64_t first,
                       int count, uint8_t *y);
    void (*requantize_tile)(const struct hl_byte_tile *tile);
    void (*unquantize_tile)(const struct hl_float_tile *tile);
    void (*word_tile)(const struct hl_word_tile *tile);
    // Tells the CPU that so many bytes of each row are going to be written.
    void (*fetch_rows)(const void *rows, ptrdiff_t stride, int count, int bytes);
    // y[i] = x[i] with `bits` flipped.
    void (*xor_bytes)(const uint8_t *x, uint8_t bits, int64_t count, uint8_t *y);
    struct hl_row_kernels row_kernels;
    // wide[i] = x[i] - zero; x: int8, or uint8 where is_unsigned.
    void (*widen)(const uint8_t *x, int is_unsigned, int zero, int64_t count, int16_t *wide);
    void (*depthwise_f32)(const struct hl_depthwise_run *run);
    // Two output rows at once, of square windows whose columns and rows are next to each other, and which move equally
    // far in both directions; taps are not used. The first function says whether there is a loop for such runs.
    int (*depthwise_takes_pair)(int channels, int count, int size, int stride);
    void (*depthwise_pair_f32)(const struct hl_depthwise_run *run);
    const struct hl_element_kernels *elements;
    void (*scatter_add_f32)(const struct hl_scatter_add *scatter);
    void (*scatter_add_integer)(const struct hl_scatter_add *scatter); // modulo 2^32
    // beta >= 0, y may be x. log_softmax_f32 has no beta.
    void (*softmax_f32)(const float *x, float *y, int64_t rows, int length, float beta);
    void (*log_softmax_f32)(const float *x, float *y, int64_t rows, int length, float beta);
    void (*softmax_bytes)(const struct hl_softmax_bytes *params, const uint8_t *x, uint8_t *y,
                          int64_t rows); // y may be x; NULL: the level has none
    // x: 16 positions of at least a vector of channels. Their 16 transformed points are `stride` values apart.
    void (*winograd_input)(const float *const *x, int64_t channels, float *to, ptrdiff_t stride);
    void (*winograd_output)(const struct hl_winograd_output *output);
    void (*resize_f32)(const struct hl_resize_row *row);
    void (*resize_u8)(const struct hl_resize_row *row);
    void (*resize_i8)(const struct hl_resize_row *row);
};

// Whether any level of this architecture has a matrix unit; what serves one is left out where none has.
#if defined HL_CPU_MAY_HAVE_AMX
enum { HL_MAY_HAVE_MATRIX_UNIT = 1 };
#else
enum { HL_MAY_HAVE_MATRIX_UNIT = 0 };
#endif

// Products of bytes (dot width 4) by a part of the CPU that multiplies whole matrices. Panels of weights are those of
// the level, but for the steps of each segment, which are filled up with zeros.
struct hl_matrix_unit {
    int rows; // of a tile
    // As many rows of x as fill the unit's registers are read, and of each so many steps; what lies beyond the tile has
    // no effect.
    int register_rows, steps;
    // Each thread calls these around its products.
    void (*begin)(void);
    void (*end)(void);
    void (*multiply)(const struct hl_tile *tile); // without `spread`
};

struct hl_simd {
    const char *name;
    int rows, columns;  // of a tile
    int spread_columns; // of a tile with struct hl_tile.spread; 0: the level has none
    int narrow_rows;    // of one of floats whose panel is at most a vector of columns; 0: as many
    int bytes;          // of a vector
    // How integers are multiplied: 2, int16 pairs from which the zero points are taken already; 4, uint8 with int8.
    int dot_width;
    // Panels of integers: two neighboring steps of a segment are one of [columns][8 bytes]. The last one of an odd
    // number is [columns][4 bytes], as it is otherwise.
    bool step_pairs;
    bool asks_narrow; // products are faster with struct hl_tile.narrow
    bool signed_x;    // bytes of x are multiplied as int8; otherwise as uint8
    bool asks_wide;   // microkernels look up wide tables where the CPU has them (hl_simd_has_wide_tables)
    // sums[r] = factor * the sum of `count` bytes of row r of x, as they are multiplied. Modulo 2^32.
    void (*sum_rows)(const uint8_t *x, int64_t stride, int64_t rows, int64_t count, int32_t factor, int32_t *sums);
    void (*multiply_f32)(const struct hl_tile *tile);
    void (*multiply_integer)(const struct hl_tile *tile); // sums modulo 2^32
    // The same of a whole tile, rows x columns, whose sums become floats and are not written to y. NULL: none.
    void (*multiply_to_floats)(const struct hl_tile *tile);
    // The same for one row in one piece, not spread or rounded, and as many columns as one likes, of panels that follow
    // each other. Sums of integers are written to whole panels. NULL: a panel at a time is as fast.
    void (*multiply_row_f32)(const struct hl_tile *tile);
    void (*multiply_row_integer)(const struct hl_tile *tile);
    // The same where dot products are of int16 and w has them as bytes, also of few columns. NULL: not with this level.
    void (*multiply_row_bytes)(const struct hl_tile *tile);
    void (*depthwise_integer)(const struct hl_depthwise_run *run);
    void (*multiply_blocks)(const struct hl_block_tile *tile);
    int block_columns; // of a panel of these
    const struct hl_microkernels *kernels;
    const struct hl_matrix_unit *matrix_unit; // NULL: none
};

// What a stored byte of x is xored with before it is multiplied: 0x80 where its sign differs from what the level takes.
static inline uint8_t hl_simd_sign_offset(const struct hl_simd *simd, bool x_unsigned)
{
    return x_unsigned == simd->signed_x ? 0x80 : 0;
}

// The value, modulo 2^32, that such a byte has in a product.
static inline uint32_t hl_simd_value(const struct hl_simd *simd, uint8_t byte)
{
    return simd->signed_x ? (uint32_t)(int8_t)byte : byte;
}

// The best level of this CPU and library whose tiles `channels` fill at least to the half. The environment variable
// HALITE_SIMD names the highest level that may be chosen.
const struct hl_simd *hl_simd_best(int channels);
// The best level that multiplies pairs of int16 (dot width 2); NULL: there is none.
const struct hl_simd *hl_simd_best_of_pairs(void);
// The levels that this CPU and library have, from the slowest on; NULL after the last.
const struct hl_simd *hl_simd_level(int index);
#if defined __x86_64__ || defined __i386__
enum { HL_MAY_HAVE_WIDE_TABLES = 1, HL_MAY_MULTIPLY_TO_FLOATS = 1 };
#else
enum { HL_MAY_HAVE_WIDE_TABLES = 0, HL_MAY_MULTIPLY_TO_FLOATS = 0 };
#endif
// Whether the level and this CPU look up tables of 256 bytes in a few instructions (AVX-512 VBMI).
bool hl_simd_has_wide_tables(const struct hl_simd *simd);
// The fastest kernel for y[i] = table[x[i]]; NULL: loops over bytes are as fast.
hl_byte_map_kernel *hl_simd_byte_map(const struct hl_simd *simd);
// Reports a HALITE_SIMD that names none of them. hl_simd_best ignores it.
void hl_simd_check(const struct hl_reporter *reporter);

#endif
