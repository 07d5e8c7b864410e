// SPDX-License-Identifier: Apache-2.0
// Where the rows of the left operand come from, when a convolution is computed as a matrix product: row r holds the
// window of output position r. In: the input tensor. Out: for each tile, a pointer to its rows and the distances
// between them. What differs is a struct hl_row_source; hl_rows_init picks the first one of its list that can serve.
#ifndef HALITE_FAST_ROWS_H
#define HALITE_FAST_ROWS_H

#include "fast/fast.h"
#include "fast/gemm.h"
#include "ops/common/conv.h"

// A block of neighboring rows, in the memory of one worker.
struct hl_row_block {
    int64_t first; // output position
    int64_t to;    // where in the memory of outputs, in positions; first, but for what lies in a worker's memory
    int count;
    int group;            // of struct hl_rows.groups
    char *packed;         // [count][hl_rows_room]; sources that read in place leave it alone
    uint8_t *window;      // [depth] stored bytes of one window
    int32_t *corrections; // [count]: sum of a row times the weights' zero point, where they keep one
};

struct hl_rows;
struct hl_row_source {
    const char *name;
    // Whether this source can serve. It may set rows->segment and its own part of the union.
    bool (*fits)(struct hl_rows *rows);
    bool loads;    // load needs the arrays of struct hl_row_block
    bool segments; // rows may come in several segments
    bool by_lines; // a tile ends with an output line
    // Once for each invoke, before all blocks. NULL: nothing to do.
    void (*start)(TfLiteContext *ctx, const struct hl_rows *rows, const void *x);
    // Before a block is multiplied. NULL: nothing to do.
    void (*load)(const struct hl_rows *rows, const struct hl_row_block *block, const void *x);
    // Sets x, x_stride and the segments of a tile that begins with row r of the block; may take rows away from it.
    void (*locate)(const struct hl_rows *rows, const struct hl_row_block *block, const void *x, int r,
                   struct hl_tile *tile);
};
extern const struct hl_row_source hl_rows_grouped, hl_rows_direct, hl_rows_windows, hl_rows_packed, hl_rows_copy,
    hl_rows_gather, hl_rows_gather_packed, hl_rows_regroup;

enum { HL_MAX_SPREAD = 16 }; // as many as any level's hl_simd.spread_columns

struct hl_rows {
    const struct hl_row_source *source;
    const struct hl_simd *simd;
    struct hl_conv_shape shape;
    // The groups of the convolution, or, where their columns are few, so many times `together` neighboring ones, of
    // which the last may be fewer.
    int groups, together;
    int32_t spread[HL_MAX_SPREAD]; // struct hl_tile.spread of those
    int dot_width;                 // as in struct hl_packed; 1: floats
    int tile_rows;                 // of the products
    int64_t depth;                 // values of a window
    int64_t segment;               // values of a row that lie in one piece
    int64_t segment_steps, steps;  // of such a piece, and of a packed row
    int64_t row_bytes;             // from one packed row to the next, which may begin within its last step
    int spare_rows;                // that products read beyond those of a block
    bool is_unsigned;              // integers: stored as uint8
    bool words;                    // stored as int16, with a dot width of 2 and zero points of 0
    // Hybrid: what makes int8 the bytes that are multiplied: xor with this; and, where the copy is made of the floats,
    // how those of each batch become bytes. NULL: bytes come in.
    uint8_t flip;
    struct hl_row_scale *byte_scales;
    uint8_t sign_offset; // what makes stored bytes those that are multiplied: xor with this
    int w_zero;          // struct hl_packed.w_zero
    // Integers: the zero points of the batches, zero_step apart (0: one for all), which may change with each invoke.
    int32_t *zeros;
    int zero_step;
    // gather: [output positions][taps], where a tap's channels lie in the input, -1: outside of it. NULL: not kept.
    int32_t *taps;
    union {
        struct {
            int first_i, end_i, first_j, end_j; // output positions whose windows lie inside the input
        } windows;
        struct {
            int64_t height, width; // of the padded input
            int items;             // in which threads share its rows
            char *data;            // [batches][height][width][channels], bytes, int16 or floats
            int32_t *sums; // [batches][height][width]: each pixel's corrections, where weights keep a zero point
        } copy;
    };
};

// An output position.
struct hl_position {
    int64_t batch;
    int i, j;
};

// So few products gain nothing by being fused, and the outputs of small networks are compared to the last digits. (27
// terms of hundreds that cancel, litert_testdata/quantization/single_conv_weights_min_minus_127_max_plus_127: 7e-5 off
// when fused.) Products are rounded in rows of one segment only.
enum { HL_FEW_PRODUCTS = 4096 };

// dot_width, w_zero: of the weights; type: of x. Everything but the memory; rows->segment is what the weights must be
// packed with.
void hl_rows_init(struct hl_rows *rows, const struct hl_simd *simd, const struct hl_conv_shape *shape, int dot_width,
                  int w_zero, TfLiteType type);
// Tiles of the products have at most so many rows; rows->tile_rows says how many.
void hl_rows_limit_tile(struct hl_rows *rows, int most);
// A matrix unit multiplies the rows. With `regroups` the windows of hl_rows_copy are gathered; rows->segment changes.
void hl_rows_use(struct hl_rows *rows, const struct hl_matrix_unit *unit, bool regroups);
void hl_rows_parts(struct hl_rows *rows, int threads, struct hl_parts *parts);
// Fills what hl_rows_parts listed, where that depends on the shape alone.
void hl_rows_fill(const struct hl_rows *rows);

// Sets one zero point for all batches. The value in a product of a byte that means 0; 0 for int16.
uint32_t hl_rows_set_zero(const struct hl_rows *rows, int32_t zero);
// `count` stored values as they are multiplied: int16 less their zero point, or bytes with another sign.
void hl_rows_pack(const struct hl_rows *rows, const uint8_t *bytes, int64_t count, int32_t zero, void *packed);

static inline double hl_rows_products(const struct hl_rows *rows)
{
    const struct hl_conv_shape *s = &rows->shape;
    return (double)s->batches * s->out_height * s->out_width * (double)rows->depth * (s->outputs / hl_conv_groups(s));
}

// Whether the source can quantize what comes in, by rows->byte_scales.
static inline bool hl_rows_can_quantize(const struct hl_rows *rows)
{
    return rows->source->start && rows->dot_width == 4;
}

// How many bytes a row of struct hl_row_block.packed needs.
static inline int64_t hl_rows_room(const struct hl_rows *rows)
{
    return rows->row_bytes > rows->steps * 4 ? rows->row_bytes : rows->steps * 4;
}

static inline int32_t hl_rows_zero(const struct hl_rows *rows, int64_t batch)
{
    return rows->zeros[batch * rows->zero_step];
}

#endif
