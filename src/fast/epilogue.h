// SPDX-License-Identifier: Apache-2.0
// What becomes of the sums of a product: floats are bounded, integers are requantized to bytes, scaled in doubles to
// bytes, or, in hybrid nodes, made floats; sums of products of int16 become int16. In: one tile of sums. Out: values of
// the output tensor. Each way is a struct hl_epilogue_form, which also knows what it keeps for each output channel.
#ifndef HALITE_FAST_EPILOGUE_H
#define HALITE_FAST_EPILOGUE_H

#include "fast/fast.h"
#include "fast/gemm.h"

// What the operator wants done.
struct hl_epilogue_params {
    float low_f32, high_f32; // floats: the range of outputs
    int32_t low, high, zero; // bytes: the range of stored outputs, and their zero point
    // One of these says what kind of sums there are; all NULL: floats. Each has one element for each output channel,
    // filter_scales only where its step is 1 and not 0.
    const struct hl_rescale *rescales;
    const double *scales; // products are rounded half away from zero
    const float *filter_scales;
    int filter_scale_step;
    bool two_steps;    // hybrid: multiply by the filter's scale, then by the input's, not by the product of both
    const float *bias; // hybrid, may be NULL; other biases are initial accumulators
    bool words; // the outputs are int16: `rescales` are those of 64-bit sums, to which bias_i64 (or NULL) is added
    const int64_t *bias_i64;
    int pieces, upper; // words: of struct hl_word_tile
};

// A block of rows that is being multiplied, as the epilogue sees it.
struct hl_output {
    void *y;                    // the output tensor, or a part of it in a worker's memory
    int32_t *sums;              // of the panels and rows that are finished together
    const int32_t *corrections; // taken from the sums of each row of the block; NULL: none
    const float *x_scales;      // hybrid, for each batch
    const int32_t *x_zeros;
};

// Neighboring panels of some rows of it.
struct hl_output_tile {
    int64_t position;      // of the first row, in y
    int row, rows;         // that row in the block, and how many there are
    int64_t channel;       // the first output channel
    int64_t column;        // the same in arrays that are padded to whole panels
    ptrdiff_t sums_stride; // from row to row
};

struct hl_epilogue;
struct hl_epilogue_form {
    const char *name;
    bool (*fits)(const struct hl_epilogue_params *params);
    // Lists the arrays, of `columns` elements.
    void (*parts)(struct hl_epilogue *epilogue, int64_t columns, struct hl_parts *parts);
    // Fills element `column` of the arrays for an output channel.
    void (*set)(const struct hl_epilogue *epilogue, const struct hl_epilogue_params *params, int64_t channel,
                int64_t column);
    // Sets what all tiles of a block have in common: y_stride, and the range or (sums) y.
    void (*begin)(const struct hl_epilogue *epilogue, const struct hl_output *output, struct hl_tile *tile);
    // After the products of some rows with panels of so many columns. NULL: the product writes the output itself, to
    // hl_epilogue_y.
    void (*finish)(const struct hl_epilogue *epilogue, const struct hl_output *output, const struct hl_output_tile *at,
                   int columns);
};
extern const struct hl_epilogue_form hl_epilogue_f32, hl_epilogue_words, hl_epilogue_requantized, hl_epilogue_scaled,
    hl_epilogue_hybrid;

struct hl_epilogue {
    const struct hl_epilogue_form *form;
    const struct hl_simd *simd;
    ptrdiff_t row_stride;                          // values from one row of the output to the next
    int64_t positions;                             // hybrid: of one batch
    float low, high;                               // f32
    struct hl_requantize requant;                  // requantized; its range and zero point: scaled, too
    double *scales;                                // scaled
    int64_t *multiplier, *rounding, *right, *bias; // words, as struct hl_word_tile, which has pieces and upper as well
    int pieces, upper;
    struct hl_unquantize unquant; // hybrid, without what a batch has
};

// Everything but the memory. channels: of the output; positions: of one batch of it.
void hl_epilogue_init(struct hl_epilogue *epilogue, const struct hl_simd *simd, int channels, int64_t positions,
                      const struct hl_epilogue_params *params);

// The tile of bytes (requantized and scaled) that sums become.
struct hl_byte_tile hl_epilogue_bytes(const struct hl_epilogue *epilogue, const struct hl_output *output,
                                      const struct hl_output_tile *at, int columns);

// Where a tile begins in the output, whose elements have `size` bytes.
static inline void *hl_epilogue_y(const struct hl_epilogue *epilogue, const struct hl_output *output,
                                  const struct hl_output_tile *at, int64_t size)
{
    return (char *)output->y + (at->position * epilogue->row_stride + at->channel) * size;
}

#endif
