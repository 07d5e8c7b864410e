// SPDX-License-Identifier: Apache-2.0
// Strided copies and fills: neighboring axes are merged (hl_walk), a run that is contiguous on both sides is one unit,
// and planes of units are copied by loops for their size. Packed elements (4 and 2 bits, low bits first) go one by one.
#include "ops/common/copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/turn.h"

TfLiteStatus hl_require_type_of_both(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *input,
                                     const TfLiteTensor *output, uint32_t types)
{
    if (!hl_type_in(input->type, types)) return hl_unsupported_type(ctx, node, input);
    return hl_require_same_type(ctx, node, input, output);
}

TfLiteStatus hl_require_int32_or_int64(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor,
                                       const char *name)
{
    HL_REQUIRE(ctx, node, tensor->type == kTfLiteInt32 || tensor->type == kTfLiteInt64,
               "the %s must be int32 or int64, not %s", name, hl_type_name(tensor->type));
    return kTfLiteOk;
}

struct hl_layout hl_row_major(int rank, const int *dims)
{
    struct hl_layout
        layout; // strides beyond the rank stay as they are: clearing them all takes as long as a small copy
    int64_t step = 1;
    layout.offset = 0;
    for (int axis = rank - 1; axis >= 0; axis--) {
        layout.stride[axis] = step;
        step *= dims[axis];
    }
    return layout;
}

struct hl_layout hl_without_axis(const struct hl_layout *layout, int rank, int axis, int index)
{
    struct hl_layout rest;
    rest.offset = layout->offset + index * layout->stride[axis];
    for (int i = 0; i < rank - 1; i++) rest.stride[i] = layout->stride[i < axis ? i : i + 1];
    return rest;
}

// ---- units --------------------------------------------------------------------------------------

// Two axes of a copy: rows times count units, with the distances between them in bytes.
struct plane {
    int64_t rows, to_row, from_row;
    int64_t count, to_step, from_step;
};

// One function for each kind of unit, so that the compiler sees the size: FRONT bytes, and as many at the unit's end.
// Sizes between the powers of two are copied in two pieces that overlap.
#define DEFINE_COPY_PLANE(name, FRONT, BACK)                                                               \
    static void name(char *restrict to, const char *restrict from, size_t size, const struct plane *plane) \
    {                                                                                                      \
        const int64_t to_step = plane->to_step, from_step = plane->from_step;                              \
        const size_t back = size - (BACK);                                                                 \
        for (int64_t r = 0; r < plane->rows; r++) {                                                        \
            char *restrict y = to + r * plane->to_row;                                                     \
            const char *restrict x = from + r * plane->from_row;                                           \
            for (int64_t i = 0; i < plane->count; i++) {                                                   \
                memcpy(y + i * to_step, x + i * from_step, (FRONT));                                       \
                if ((BACK) > 0) memcpy(y + i * to_step + back, x + i * from_step + back, (BACK));          \
            }                                                                                              \
        }                                                                                                  \
    }
DEFINE_COPY_PLANE(copy_1, 1, 0)
DEFINE_COPY_PLANE(copy_2, 2, 0)
DEFINE_COPY_PLANE(copy_3, 2, 1)
DEFINE_COPY_PLANE(copy_4, 4, 0)
DEFINE_COPY_PLANE(copy_5_to_7, 4, 4)
DEFINE_COPY_PLANE(copy_8, 8, 0)
DEFINE_COPY_PLANE(copy_9_to_15, 8, 8)
DEFINE_COPY_PLANE(copy_16, 16, 0)
DEFINE_COPY_PLANE(copy_17_to_32, 16, 16)
DEFINE_COPY_PLANE(copy_33_to_64, 32, 32)
DEFINE_COPY_PLANE(copy_any, size, 0)

static void copy_plane(char *to, const char *from, size_t size, const struct plane *plane)
{
    static void (*const by_size[])(char *, const char *, size_t, const struct plane *) = {
        NULL,         copy_1,       copy_2,       copy_3,       copy_4,       copy_5_to_7,
        copy_5_to_7,  copy_5_to_7,  copy_8,       copy_9_to_15, copy_9_to_15, copy_9_to_15,
        copy_9_to_15, copy_9_to_15, copy_9_to_15, copy_9_to_15, copy_16,
    };
    (size <= 16   ? by_size[size]
     : size <= 32 ? copy_17_to_32
     : size <= 64 ? copy_33_to_64
                  : copy_any)(to, from, size, plane);
}

// A square of elements of 4 bytes or 1, dense along its columns in `to` and along its rows in `from`, in smaller
// squares that are turned over in registers. The last ones end where it does, and overlap those before.
#define DEFINE_TURN_SQUARE(name, SIDE, SIZE, turn)                                                                  \
    static void name(char *restrict to, const char *restrict from, const struct plane *square)                      \
    {                                                                                                               \
        const ptrdiff_t to_row = (ptrdiff_t)square->to_row, from_step = (ptrdiff_t)square->from_step;               \
        const int64_t last_row = square->rows - (SIDE), last = square->count - (SIDE);                              \
        for (int64_t r = 0; r < last_row + (SIDE); r += (SIDE)) {                                                   \
            const int64_t row = r < last_row ? r : last_row;                                                        \
            char *y = to + row * to_row;                                                                            \
            const char *x = from + row * (SIZE);                                                                    \
            for (int64_t i = 0; i <= last; i += (SIDE)) turn(y + i * (SIZE), to_row, x + i * from_step, from_step); \
            if (last % (SIDE) != 0) turn(y + last * (SIZE), to_row, x + last * from_step, from_step);               \
        }                                                                                                           \
    }
DEFINE_TURN_SQUARE(turn_4x4, 4, 4, hl_turn_4x4)
DEFINE_TURN_SQUARE(turn_8x8, 8, 1, hl_turn_8x8)
DEFINE_TURN_SQUARE(turn_16x16, 16, 1, hl_turn_16x16)

// Bytes whose last rows would be turned twice for the most part take smaller squares.
static void turn_bytes(char *to, const char *from, const struct plane *square)
{
    struct plane part = *square;
    const int64_t rest = square->rows % 16;
    part.rows = rest <= 8 ? square->rows - rest : square->rows;
    if (square->count < 16 || square->rows < 16) part.rows = 0;
    if (part.rows > 0) turn_16x16(to, from, &part);
    if (part.rows == square->rows) return;
    const int64_t first = square->rows - part.rows >= 8 ? part.rows : square->rows - 8;
    part.rows = square->rows - first;
    turn_8x8(to + first * square->to_row, from + first, &part);
}

static void turn_square(char *to, const char *from, size_t size, const struct plane *square)
{
    const int64_t least = square->rows < square->count ? square->rows : square->count;
    if (least < (size == 4 ? 4 : 8))
        copy_plane(to, from, size, square);
    else
        (size == 4 ? turn_4x4 : turn_bytes)(to, from, square);
}

// The same in squares whose cache lines stay in the cache until all of their units are done: for planes that are
// transposed. (NHWC to NCHW of 208x208x16 floats: 0.25 ms, memcpy 0.21 ms; element by element 0.53 ms.)
static void copy_squares(char *to, const char *from, size_t size, const struct plane *plane)
{
    enum { SIDE = 32, SIDE_OF_BYTES = 64 };
    const bool dense = (size == 4 || size == 1) && plane->to_step == (int64_t)size && plane->from_row == (int64_t)size;
    const int side = size == 1 ? SIDE_OF_BYTES : SIDE;
    for (int64_t r = 0; r < plane->rows; r += side)
        for (int64_t i = 0; i < plane->count; i += side) {
            struct plane square = *plane;
            square.rows = plane->rows - r < side ? plane->rows - r : side;
            square.count = plane->count - i < side ? plane->count - i : side;
            char *y = to + r * plane->to_row + i * plane->to_step;
            const char *x = from + r * plane->from_row + i * plane->from_step;
            if (dense)
                turn_square(y, x, size, &square);
            else
                copy_plane(y, x, size, &square);
        }
}

// Pixels of two or three floats, or of up to seven bytes, and planes of one value of each, a few pixels at a time.
// Where pixels lie one after the other, what comes after each is read, or written, with it; so the last pixels are
// left. Both return how many are done. (128x128 of 3 bytes, us, to planes and back: 7.3, 8.0; one by one 29, 33.
// Floats: 8.9, 9.8; 20, 30.)
#define DEFINE_FEW_VALUES(split_name, join_name, SIDE, SIZE, turn)                                               \
    static int64_t split_name(char *restrict to, const char *restrict from, const struct plane *plane)           \
    {                                                                                                            \
        enum { WIDTH = (SIDE) * (SIZE) };                                                                        \
        const int64_t step = plane->from_step, to_row = plane->to_row, rows = plane->rows;                       \
        int64_t i = 0;                                                                                           \
        for (; (i + (SIDE)-1) * step + WIDTH <= plane->count * step; i += (SIDE)) {                              \
            char square[(SIDE)*WIDTH];                                                                           \
            turn(square, WIDTH, from + i * step, (ptrdiff_t)step);                                               \
            for (int64_t r = 0; r < rows; r++) memcpy(to + r * to_row + i * (SIZE), square + r * WIDTH, WIDTH);  \
        }                                                                                                        \
        return i;                                                                                                \
    }                                                                                                            \
    static int64_t join_name(char *restrict to, const char *restrict from, const struct plane *plane)            \
    {                                                                                                            \
        enum { WIDTH = (SIDE) * (SIZE) };                                                                        \
        const int64_t step = plane->from_step, to_row = plane->to_row, count = plane->count;                     \
        int64_t r = 0;                                                                                           \
        char square[(SIDE)*WIDTH] = {0};                                                                         \
        for (; (r + (SIDE)-1) * to_row + WIDTH <= plane->rows * to_row; r += (SIDE)) {                           \
            for (int64_t i = 0; i < count; i++) memcpy(square + i * WIDTH, from + i * step + r * (SIZE), WIDTH); \
            turn(to + r * to_row, (ptrdiff_t)to_row, square, WIDTH);                                             \
        }                                                                                                        \
        return r;                                                                                                \
    }
DEFINE_FEW_VALUES(split_floats, join_floats, 4, 4, hl_turn_4x4)
DEFINE_FEW_VALUES(split_bytes, join_bytes, 8, 1, hl_turn_8x8)

static void copy_transposed(char *to, const char *from, size_t size, const struct plane *plane)
{
    const int64_t side = size == 4 ? 4 : size == 1 ? 8 : 0, bytes = (int64_t)size;
    const bool dense = plane->to_step == bytes && plane->from_row == bytes;
    struct plane rest = *plane;
    if (dense && plane->rows < side && plane->from_step == plane->rows * bytes) {
        const int64_t done = (size == 4 ? split_floats : split_bytes)(to, from, plane);
        rest.count -= done;
        copy_squares(to + done * bytes, from + done * plane->from_step, size, &rest);
    } else if (dense && plane->count < side && plane->to_row == plane->count * bytes) {
        const int64_t done = (size == 4 ? join_floats : join_bytes)(to, from, plane);
        rest.rows -= done;
        copy_squares(to + done * plane->to_row, from + done * bytes, size, &rest);
    } else {
        copy_squares(to, from, size, plane);
    }
}

// ---- copies of whole bytes ----------------------------------------------------------------------

// The axis along which `from` is densest.
static int densest(const struct hl_walk *walk, int rank)
{
    int best = rank - 1;
    for (int axis = rank - 2; axis >= 0; axis--)
        if (llabs(walk->stride[1][axis]) < llabs(walk->stride[1][best])) best = axis;
    return best;
}

// walk: its strides are in bytes, it has positions.
static void copy_units(struct hl_walk *walk, size_t size, char *to, const char *from)
{
    int rank = walk->rank, last = rank - 1;
    if (rank > 0 && walk->stride[0][last] == (int64_t)size &&
        walk->stride[1][last] == (int64_t)size) { // runs are units
        size *= (size_t)walk->dims[last];
        rank--, last--;
    }
    struct plane plane = {.rows = 1, .count = 1};
    int other = last - 1, best = rank > 0 ? densest(walk, rank) : last;
    bool transposed = best != last && size < 64;
    if (transposed) other = best;
    if (rank > 0) {
        plane.count = walk->dims[last];
        plane.to_step = walk->stride[0][last];
        plane.from_step = walk->stride[1][last];
    }
    if (rank > 1) {
        plane.rows = walk->dims[other];
        plane.to_row = walk->stride[0][other];
        plane.from_row = walk->stride[1][other];
    }
    int dims[HL_MAX_RANK], left = 0;
    int64_t strides[2][HL_MAX_RANK];
    for (int axis = 0; axis < last; axis++) {
        if (axis == other) continue;
        dims[left] = walk->dims[axis];
        for (int o = 0; o < 2; o++) strides[o][left] = walk->stride[o][axis];
        left++;
    }
    struct hl_walk rest;
    hl_walk_start_strided(&rest, left, dims, 2, (const int64_t(*)[HL_MAX_RANK])strides);
    for (int64_t i = 0; i < rest.count; i++, hl_walk_next(&rest))
        (transposed ? copy_transposed : copy_plane)(to + rest.at[0], from + rest.at[1], size, &plane);
}

// ---- packed elements ----------------------------------------------------------------------------

// Elements of a run: `count` of them, from and to every step-th.
struct run {
    int64_t count, to_at, to_step, from_at, from_step;
};

static void copy_packed(int bits, uint8_t *to, const uint8_t *from, const struct run *run)
{
    const int per_byte = 8 / bits;
    const unsigned mask = (1u << bits) - 1;
    for (int64_t i = 0; i < run->count; i++) {
        int64_t source = run->from_at + i * run->from_step, target = run->to_at + i * run->to_step;
        int shift = (int)(target % per_byte) * bits;
        unsigned value = from[source / per_byte] >> (source % per_byte) * bits & mask;
        uint8_t *byte = &to[target / per_byte];
        *byte = (uint8_t)((*byte & ~(mask << shift)) | value << shift);
    }
}

// ---- copies and fills ---------------------------------------------------------------------------

void hl_copy(int bits, int rank, const int *dims, void *to, const struct hl_layout *to_layout, const void *from,
             const struct hl_layout *from_layout)
{
    const int64_t size = bits / 8, unit = size > 0 ? size : 1;
    int64_t strides[2][HL_MAX_RANK];
    for (int axis = 0; axis < rank; axis++) {
        strides[0][axis] = to_layout->stride[axis] * unit;
        strides[1][axis] = from_layout->stride[axis] * unit;
    }
    struct hl_walk walk;
    hl_walk_start_strided(&walk, rank, dims, 2, (const int64_t(*)[HL_MAX_RANK])strides);
    if (walk.count == 0) return;
    if (size > 0) {
        copy_units(&walk, (size_t)size, (char *)to + to_layout->offset * size,
                   (const char *)from + from_layout->offset * size);
        return;
    }
    struct run run = {.count = hl_walk_run(&walk), .to_step = 1, .from_step = 1};
    if (walk.rank > 0) {
        run.to_step = walk.stride[0][walk.rank - 1];
        run.from_step = walk.stride[1][walk.rank - 1];
    }
    for (int64_t done = 0; done < walk.count; done += run.count, hl_walk_skip_run(&walk)) {
        run.to_at = to_layout->offset + walk.at[0];
        run.from_at = from_layout->offset + walk.at[1];
        copy_packed(bits, to, from, &run);
    }
}

// A copy in pieces along one axis.
struct pieces {
    int bits, rank, axis, piece; // positions of a piece
    const int *dims;
    void *to;
    const void *from;
    const struct hl_layout *to_layout, *from_layout;
};

static void copy_piece(void *arg, int64_t item, int worker)
{
    const struct pieces *p = arg;
    struct hl_layout to = *p->to_layout, from = *p->from_layout;
    int dims[HL_MAX_RANK], first = (int)item * p->piece, left = p->dims[p->axis] - first;
    (void)worker;
    memcpy(dims, p->dims, (size_t)p->rank * sizeof *dims);
    dims[p->axis] = left < p->piece ? left : p->piece;
    to.offset += first * to.stride[p->axis];
    from.offset += first * from.stride[p->axis];
    hl_copy(p->bits, p->rank, dims, p->to, &to, p->from, &from);
}

// Chooses the axis and the positions of a piece along it, so that there are about `pieces` and no two threads touch the
// same cache lines, neither in the target nor in the source. Returns how many there are; 1: the copy is not to be cut.
static int cut(struct pieces *p, int pieces)
{
    enum { LINE = 64 };
    int best = 1;
    int64_t best_stride = 0;
    for (int axis = 0; axis < p->rank; axis++) {
        const int64_t to = llabs(p->to_layout->stride[axis]), from = llabs(p->from_layout->stride[axis]);
        const int64_t stride = (from > 0 && from < to ? from : to) * (p->bits / 8);
        const int least = stride > 0 && stride < LINE ? (int)((LINE - 1) / stride) + 1 : 1;
        int piece = (p->dims[axis] - 1) / pieces + 1;
        piece = (piece + least - 1) / least * least;
        const int count = (p->dims[axis] - 1) / piece + 1;
        if (count < best || (count == best && stride <= best_stride) || count == 1) continue;
        best = count;
        best_stride = stride;
        p->axis = axis;
        p->piece = piece;
    }
    return best;
}

void hl_copy_shared(const TfLiteContext *ctx, int bits, int rank, const int *dims, void *to,
                    const struct hl_layout *to_layout, const void *from, const struct hl_layout *from_layout)
{
    struct pieces all = {bits, rank, 0, 0, dims, to, from, to_layout, from_layout};
    double bytes = bits / 8;
    for (int axis = 0; axis < rank; axis++) bytes *= dims[axis];
    const int count = hl_is_copied_alone(ctx, bytes) ? 1 : cut(&all, 2 * hl_thread_count(ctx));
    if (count > 1)
        hl_parallel(ctx, count, copy_piece, &all);
    else
        hl_copy(bits, rank, dims, to, to_layout, from, from_layout);
}

bool hl_is_copied_alone(const TfLiteContext *ctx, double bytes)
{
    return bytes < HL_MIN_SHARED_BYTES || hl_thread_count(ctx) == 1;
}

void hl_copy_byte_runs(const struct hl_byte_runs *runs, void *to, const void *from)
{
    // An empty tensor may have no address to count from.
    if (runs->size == 0 || runs->count <= 0) return;
    const struct plane plane = {.rows = 1,
                                .count = runs->count,
                                .to_step = runs->to_step,
                                .from_step = runs->from_step};
    if (runs->count == 1)
        memcpy((char *)to + runs->to, (const char *)from + runs->from, runs->size);
    else
        copy_plane((char *)to + runs->to, (const char *)from + runs->from, runs->size, &plane);
}

bool hl_find_byte_runs(int bits, int rank, const int *dims, const struct hl_layout *to_layout,
                       const struct hl_layout *from_layout, struct hl_byte_runs *runs)
{
    const int64_t size = bits / 8;
    struct hl_walk walk;
    if (size == 0) return false;
    int64_t strides[2][HL_MAX_RANK];
    for (int axis = 0; axis < rank; axis++) {
        strides[0][axis] = to_layout->stride[axis] * size;
        strides[1][axis] = from_layout->stride[axis] * size;
    }
    hl_walk_start_strided(&walk, rank, dims, 2, (const int64_t(*)[HL_MAX_RANK])strides);
    if (walk.count == 0) return false;
    *runs = (struct hl_byte_runs){.count = 1,
                                  .size = (size_t)size,
                                  .to = to_layout->offset * size,
                                  .from = from_layout->offset * size};
    int axes = walk.rank;
    if (axes > 0 && walk.stride[0][axes - 1] == size && walk.stride[1][axes - 1] == size)
        runs->size *= (size_t)walk.dims[--axes];
    if (axes > 0) {
        runs->count = walk.dims[axes - 1];
        runs->to_step = walk.stride[0][axes - 1];
        runs->from_step = walk.stride[1][axes - 1];
    }
    return axes <= 1;
}

// Runs of bytes; what is packed, and what threads share, needs layouts.
void hl_copy_part(const TfLiteContext *ctx, int bits, const TfLiteIntArray *part, int axis, int start, int length,
                  bool is_source, void *to, const void *from)
{
    const int rank = part->size;
    const int64_t inner = hl_product(part, axis + 1, rank), rows = hl_product(part, 0, axis);
    const int64_t unit = inner * (bits / 8), row = unit * part->data[axis], step = unit * length, at = start * unit;
    if (bits >= 8 && hl_is_copied_alone(ctx, (double)rows * (double)row)) {
        const struct hl_byte_runs runs = {
            .count = rows,
            .size = (size_t)row,
            .to_step = is_source ? step : row,
            .from_step = is_source ? row : step,
            .to = is_source ? at : 0,
            .from = is_source ? 0 : at,
        };
        hl_copy_byte_runs(&runs, to, from);
        return;
    }
    int dims[HL_MAX_RANK];
    memcpy(dims, part->data, (size_t)rank * sizeof *dims);
    dims[axis] = length;
    struct hl_layout whole = hl_row_major(rank, dims);
    const struct hl_layout own = hl_row_major(rank, part->data);
    whole.offset = start * whole.stride[axis];
    hl_copy_shared(ctx, bits, rank, part->data, to, is_source ? &whole : &own, from, is_source ? &own : &whole);
}

void hl_copy_run(int bits, int64_t count, void *to, int64_t to_at, const void *from, int64_t from_at)
{
    if (count == 0) return;
    const size_t size = (size_t)bits / 8;
    if (size > 0)
        memcpy((char *)to + (size_t)to_at * size, (const char *)from + (size_t)from_at * size, (size_t)count * size);
    else
        copy_packed(bits, to, from,
                    &(struct run){.count = count, .to_at = to_at, .to_step = 1, .from_at = from_at, .from_step = 1});
}

void hl_fill(int bits, int64_t count, void *to, const void *value)
{
    if (count == 0) return;
    const size_t size = (size_t)bits / 8;
    bool same = true;
    for (size_t i = 1; i < size; i++) same = same && ((const char *)value)[i] == *(const char *)value;
    if (same)
        memset(to, *(const unsigned char *)value, (size_t)count * size);
    else
        copy_plane(to, value, size, &(struct plane){.rows = 1, .count = count, .to_step = (int64_t)size});
}

void hl_fill_zero(TfLiteTensor *tensor)
{
    const int zero = hl_has_zero_point(tensor->type) ? hl_zero(tensor) : 0;
    if (tensor->type == kTfLiteInt16)
        hl_fill(16, hl_elements(tensor), tensor->data.data, &(int16_t){(int16_t)zero});
    else if (tensor->bytes > 0)
        memset(tensor->data.data, (uint8_t)zero, tensor->bytes);
}

void hl_clear_packed(TfLiteTensor *tensor)
{
    int bits = hl_type_bits(tensor->type);
    if (bits > 0 && bits < 8 && tensor->bytes > 0) memset(tensor->data.data, 0, tensor->bytes);
}

// ---- small inputs -------------------------------------------------------------------------------

TfLiteStatus hl_read_shape(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor, int lowest,
                           int *rank, int *dims)
{
    HL_TRY(hl_require_int32_or_int64(ctx, node, tensor, "shape"));
    HL_REQUIRE(ctx, node, hl_rank(tensor) == 1, "a shape must have one dimension, not %d", hl_rank(tensor));
    HL_REQUIRE(ctx, node, hl_dim(tensor, 0) <= HL_MAX_RANK, "a shape of %d dimensions is above %d", hl_dim(tensor, 0),
               HL_MAX_RANK);
    for (int axis = 0; axis < hl_dim(tensor, 0); axis++) {
        int64_t dim = hl_integer_at(tensor, axis);
        HL_REQUIRE(ctx, node, dim >= lowest && dim <= INT32_MAX,
                   "dimension %d of the shape is %lld, which is not possible", axis, (long long)dim);
        dims[axis] = (int)dim;
    }
    *rank = hl_dim(tensor, 0);
    return kTfLiteOk;
}

TfLiteStatus hl_resize_to_input(TfLiteContext *ctx, const TfLiteNode *node, int input)
{
    int rank, dims[HL_MAX_RANK];
    HL_TRY(hl_read_shape(ctx, node, hl_input(ctx, node, input), 0, &rank, dims));
    return hl_resize(ctx, hl_output(ctx, node, 0), rank, dims);
}

TfLiteStatus hl_require_scalar(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor, const char *name)
{
    HL_TRY(hl_require_int32_or_int64(ctx, node, tensor, name));
    HL_REQUIRE(ctx, node, hl_elements(tensor) == 1, "the %s must be one value, not %lld", name,
               (long long)hl_elements(tensor));
    return kTfLiteOk;
}

bool hl_fold(const TfLiteContext *ctx, const TfLiteNode *node, TfLiteTensor *output)
{
    if (output->type != kTfLiteInt32 && output->type != kTfLiteInt64) return false;
    for (int i = 0; i < hl_input_count(node); i++) {
        const TfLiteTensor *input = hl_input(ctx, node, i);
        if (input && !hl_is_constant(input)) return false;
    }
    hl_make_constant(output);
    return true;
}

TfLiteStatus hl_resize_and_fold(TfLiteContext *ctx, const TfLiteNode *node, TfLiteTensor *output, int rank,
                                const int *dims, TfLiteStatus (*compute)(TfLiteContext *ctx, const TfLiteNode *node))
{
    const bool folds = hl_fold(ctx, node, output);
    HL_TRY(hl_resize(ctx, output, rank, dims));
    return folds ? compute(ctx, node) : kTfLiteOk;
}

TfLiteStatus hl_invoke_nothing(TfLiteContext *ctx, TfLiteNode *node)
{
    (void)ctx;
    (void)node;
    return kTfLiteOk;
}
