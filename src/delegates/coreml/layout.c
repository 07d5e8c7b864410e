// SPDX-License-Identifier: Apache-2.0
// See layout.h. Both directions transpose, for each batch, a matrix of pixels and channels.
#include "delegates/coreml/layout.h"

#include <string.h>

// Rows and columns that are transposed at a time, so that neither side's cache lines are read twice.
enum { TILE = 16 };

struct coreml_shape coreml_shape_of(const TfLiteTensor *tensor)
{
    int dims[4] = {1, 1, 1, 1}, rank = hl_rank(tensor);
    for (int i = 0; i < rank; i++) dims[4 - rank + i] = hl_dim(tensor, i);
    return (struct coreml_shape){dims[0], dims[1], dims[2], dims[3]};
}

static void transpose_tile(size_t rows, size_t columns, size_t from_row, size_t from_column, const float *from,
                           float *to)
{
    size_t end_row = rows - from_row < TILE ? rows : from_row + TILE;
    size_t end_column = columns - from_column < TILE ? columns : from_column + TILE;
    for (size_t row = from_row; row < end_row; row++)
        for (size_t column = from_column; column < end_column; column++)
            to[column * rows + row] = from[row * columns + column];
}

static void transpose(size_t batches, size_t rows, size_t columns, const float *from, float *to)
{
    if (rows == 1 || columns == 1) {
        memcpy(to, from, batches * rows * columns * sizeof *to);
        return;
    }
    for (size_t batch = 0; batch < batches; batch++, from += rows * columns, to += rows * columns)
        for (size_t row = 0; row < rows; row += TILE)
            for (size_t column = 0; column < columns; column += TILE)
                transpose_tile(rows, columns, row, column, from, to);
}

void coreml_to_channels_first(const struct coreml_shape *shape, const float *from, float *to)
{
    transpose((size_t)shape->n, (size_t)shape->h * (size_t)shape->w, (size_t)shape->c, from, to);
}

void coreml_to_channels_last(const struct coreml_shape *shape, const float *from, float *to)
{
    transpose((size_t)shape->n, (size_t)shape->c, (size_t)shape->h * (size_t)shape->w, from, to);
}
