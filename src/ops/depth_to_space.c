// SPDX-License-Identifier: Apache-2.0
// SPACE_TO_DEPTH: blocks of block * block pixels become one pixel of as many times the channels.
//     in 0: x [b, h, w, c]; out 0: y [b, h / block, w / block, block * block * c], row by row
// DEPTH_TO_SPACE: the reverse.
// float32 uint8 int8 int32 int64; the block is an option.
#include "ops/common/copy.h"

static const uint32_t types = HL_TYPE(Float32) | HL_TYPE(UInt8) | HL_TYPE(Int8) | HL_TYPE(Int32) | HL_TYPE(Int64);

static TfLiteStatus check(TfLiteContext *ctx, const TfLiteNode *node, int block)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *y = hl_output(ctx, node, 0);

    HL_TRY(hl_require_type_of_both(ctx, node, x, y, types));
    HL_REQUIRE(ctx, node, hl_rank(x) == 4, "the input has %d dimensions, not 4", hl_rank(x));
    HL_REQUIRE(ctx, node, block > 0, "block size %d must be positive", block);
    return kTfLiteOk;
}

// Both tensors as [b, h, block, w, block, c] of the smaller picture, in the order of the larger
// one.
static void copy_blocks(const TfLiteContext *ctx, const TfLiteTensor *x, TfLiteTensor *y, const TfLiteTensor *small,
                        int block, int channels)
{
    const int dims[6] = {hl_dim(small, 0), hl_dim(small, 1), block, hl_dim(small, 2), block, channels};
    const struct hl_layout large_layout = hl_row_major(6, dims);
    const int64_t pixel = (int64_t)block * block * channels, row = pixel * dims[3];
    const struct hl_layout small_layout = {
        .stride = {row * dims[1], row, (int64_t)block * channels, pixel, channels, 1},
    };
    hl_copy_shared(ctx, hl_type_bits(x->type), 6, dims, y->data.data, small == y ? &small_layout : &large_layout,
                   hl_data(x), small == y ? &large_layout : &small_layout);
}

// ---- SPACE_TO_DEPTH -----------------------------------------------------------------------------

static TfLiteStatus space_to_depth_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteSpaceToDepthParams *params = node->builtin_data;
    const int block = params->block_size;
    HL_TRY(check(ctx, node, block));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    int dims[4] = {hl_dim(x, 0), hl_dim(x, 1) / block, hl_dim(x, 2) / block, 0};
    int64_t channels = hl_dim(x, 3);

    HL_REQUIRE(ctx, node, hl_dim(x, 1) % block == 0 && hl_dim(x, 2) % block == 0,
               "%d x %d pixels do not make blocks of %d x %d", hl_dim(x, 1), hl_dim(x, 2), block, block);
    HL_REQUIRE(ctx, node, hl_mul_i64(channels, (int64_t)block * block, &channels) && hl_to_int(channels, &dims[3]),
               "%d channels become too many with blocks of %d x %d", hl_dim(x, 3), block, block);
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

static TfLiteStatus space_to_depth_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteSpaceToDepthParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    copy_blocks(ctx, x, y, y, params->block_size, hl_dim(x, 3));
    return kTfLiteOk;
}

const struct hl_op hl_op_space_to_depth = {
    .prepare = space_to_depth_prepare,
    .invoke = space_to_depth_invoke,
};

// ---- DEPTH_TO_SPACE -----------------------------------------------------------------------------

static TfLiteStatus depth_to_space_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteDepthToSpaceParams *params = node->builtin_data;
    const int block = params->block_size;
    HL_TRY(check(ctx, node, block));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const int64_t area = (int64_t)block * block;
    int dims[4] = {hl_dim(x, 0)};

    HL_REQUIRE(ctx, node, hl_dim(x, 3) % area == 0, "%d channels do not make blocks of %d x %d", hl_dim(x, 3), block,
               block);
    for (int axis = 1; axis <= 2; axis++)
        HL_REQUIRE(ctx, node, hl_to_int((int64_t)hl_dim(x, axis) * block, &dims[axis]),
                   "%d times %d pixels are too many", hl_dim(x, axis), block);
    dims[3] = (int)(hl_dim(x, 3) / area);
    return hl_resize(ctx, hl_output(ctx, node, 0), 4, dims);
}

static TfLiteStatus depth_to_space_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteDepthToSpaceParams *params = node->builtin_data;
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    copy_blocks(ctx, x, y, x, params->block_size, hl_dim(y, 3));
    return kTfLiteOk;
}

const struct hl_op hl_op_depth_to_space = {
    .prepare = depth_to_space_prepare,
    .invoke = depth_to_space_invoke,
};
