// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: elements that change positions: parts, orders, repetitions, paddings, shapes, blocks, resizing.
#include "gpu/op_case.h"

#define ANY IN(B, 3, 4, C)
// A resize of [3, 4] in each of the three ways to count positions.
#define RESIZE(name_, suffix_, options_, tolerance_, h_, w_)                                            \
    {.name = name_,                                                                                     \
     OP(suffix_),                                                                                       \
     .settings = {SET(options_, align_corners, 0)},                                                     \
     .inputs = {ANY, INTS(h_, w_)},                                                                     \
     .tolerance = GPU_##tolerance_},                                                                    \
        {.name = name_ " with corners",                                                                 \
         OP(suffix_),                                                                                   \
         .settings = {SET(options_, align_corners, 1)},                                                 \
         .inputs = {ANY, INTS(h_, w_)},                                                                 \
         .tolerance = GPU_##tolerance_},                                                                \
    {                                                                                                   \
        .name = name_ " with centers", OP(suffix_), .settings = {SET(options_, half_pixel_centers, 1)}, \
        .inputs = {ANY, INTS(h_, w_)}, .tolerance = GPU_##tolerance_                                    \
    }
#define CONCATENATION(name_, axis_, ...)                                                                    \
    {                                                                                                       \
        .name = name_, OP(Concatenation), .settings = {SET(ConcatenationOptions, axis, axis_)}, .inputs = { \
            __VA_ARGS__                                                                                     \
        }                                                                                                   \
    }
#define GATHER(name_, axis_, input_, ...)                                                                           \
    {                                                                                                               \
        .name = name_, OP(Gather), .settings = {SET(GatherOptions, axis, axis_)}, .inputs = { input_, __VA_ARGS__ } \
    }
#define MIRROR(name_, mode_, ...)                                                                   \
    {                                                                                               \
        .name = name_, OP(MirrorPad), .settings = {SET(MirrorPadOptions, mode, mode_)}, .inputs = { \
            ANY,                                                                                    \
            PAIRS(__VA_ARGS__)                                                                      \
        }                                                                                           \
    }
#define AROUND 0, 0, 1, 2, 2, 1, 0, 0
#define CHANNELS 0, 0, 0, 1, 0, 0, 2, 1
#define SLICES_BEHIND 0, 0, 0, 0, 0, 0, 0, 2
#define MASKS(begin_, end_, ellipsis_, new_, shrink_)                                                          \
    {                                                                                                          \
        SET(StridedSliceOptions, begin_mask, begin_), SET(StridedSliceOptions, end_mask, end_),                \
            SET(StridedSliceOptions, ellipsis_mask, ellipsis_), SET(StridedSliceOptions, new_axis_mask, new_), \
            SET(StridedSliceOptions, shrink_axis_mask, shrink_)                                                \
    }

static const struct op_case cases[] = {
    // ---- parts
    {.name = "SLICE", OP(Slice), .inputs = {IN(B, 4, 5, C + 4), INTS(0, 1, 2, 4), INTS(B, 2, 3, C)}},
    {.name = "SLICE of shifted channels",
     OP(Slice),
     .inputs = {IN(B, 4, 5, C + 4), INTS(0, 1, 2, 3), INTS(-1, 2, 3, C)}},
    {.name = "SLICE of rank 3", OP(Slice), .inputs = {IN(B, 5, C), INTS(0, 2, 1), INTS(-1, -1, -1)}},
    {.name = "SLICE of rank 2", OP(Slice), .inputs = {IN(B + 1, C), INTS(1, 0), INTS(-1, C)}},
    {.name = "SLICE of rank 1", OP(Slice), .inputs = {IN(C + 3), INTS(2), INTS(C)}},
    {.name = "STRIDED_SLICE",
     OP(StridedSlice),
     .settings = MASKS(0, 0, 0, 0, 0),
     .inputs = {IN(B, 7, 9, C), INTS(0, 1, 0, 0), INTS(B, 6, 9, C), INTS(1, 2, 3, 1)}},
    {.name = "STRIDED_SLICE of channels",
     OP(StridedSlice),
     .settings = MASKS(0, 8, 0, 0, 0),
     .inputs = {IN(B, 3, 4, 2 * C), INTS(0, 0, 0, 1), INTS(B, 3, 4, 0), INTS(1, 1, 1, 2)}},
    {.name = "STRIDED_SLICE backwards that takes an axis",
     OP(StridedSlice),
     .settings = MASKS(3, 11, 0, 0, 4),
     .inputs = {IN(B, 4, 5, C + 1), INTS(0, 0, -2, 1), INTS(0, 0, 0, 0), INTS(1, -2, 1, 1)}},
    {.name = "STRIDED_SLICE that adds an axis",
     OP(StridedSlice),
     .settings = MASKS(8, 8, 1, 2, 4),
     .inputs = {IN(B, 4, 5, 2 * C), INTS(0, 0, 1, 0, 0), INTS(0, 0, 0, 0, 2 * C), INTS(1, 1, 1, 1, 2)}},
    {.name = "STRIDED_SLICE of rank 2",
     OP(StridedSlice),
     .settings = MASKS(0, 1, 0, 0, 0),
     .inputs = {IN(B, C), INTS(0, 1), INTS(0, C), INTS(1, 1)}},
    SPLIT("of batches", 0, 2 * B, 3, 5, C),
    SPLIT("of rows", 1, B, 6, 5, C),
    SPLIT("of columns", -2, B, 3, 4, C),
    SPLIT("of channels", 3, B, 3, 5, 2 * C),
    SPLIT("of rank 2", 1, B, 2 * C),
    {.name = "SPLIT_V",
     OP(SplitV),
     .settings = {SET(SplitVOptions, num_splits, 3)},
     .inputs = {IN(B, 3, C + 6), INTS(1, C, 5), INT(-1)},
     .output_count = 3},
    {.name = "SPLIT_V with a rest",
     OP(SplitV),
     .settings = {SET(SplitVOptions, num_splits, 2)},
     .inputs = {IN(B, 6, 2, C), INTS(4, -1), INT(1)},
     .output_count = 2},
    UNPACK("of batches", 0, 3, 4, 5, C),
    UNPACK("of rows", 1, B, 3, 5, C),
    UNPACK("of columns", 2, B, 4, 3, C),
    UNPACK("of channels", -1, B, 4, C, 3),

    // ---- together
    PACK("of batches", 0, 4, 5, C),
    PACK("of rows", 1, B, 5, C),
    PACK("of columns", 2, B, 4, C),
    PACK("of channels", -1, B, 4, C),
    PACK("of rank 1", 0, C),
    CONCATENATION("CONCATENATION of batches", 0, ANY, IN(2, 3, 4, C)),
    CONCATENATION("CONCATENATION of rows", 1, ANY, IN(B, 1, 4, C), CONST(B, 2, 4, C), IN(B, 2, 4, C), IN(B, 1, 4, C)),
    CONCATENATION("CONCATENATION of columns", -2, ANY, IN(B, 3, 1, C), ANY),
    CONCATENATION("CONCATENATION of channels", 3, ANY, IN(B, 3, 4, C + 1), IN(B, 3, 4, 4)),
    CONCATENATION("CONCATENATION of channels and a constant", 3, ANY, CONST(B, 3, 4, 2), IN(B, 3, 4, C),
                  IN(B, 3, 4, 1)),
    CONCATENATION("CONCATENATION of full slices", 3, IN(B, 3, 4, 8), IN(B, 3, 4, 12), IN(B, 3, 4, 4), IN(B, 3, 4, C)),
    CONCATENATION("CONCATENATION of one", 3, ANY),
    CONCATENATION("CONCATENATION of rank 2", 1, IN(B, C), IN(B, 3)),
    GATHER("GATHER of batches", 0, IN(3, 3, 4, C), INTS(2, 0, 0, 1)),
    GATHER("GATHER of rows", 1, ANY, INTS(2, 0, 0, 1, 2)),
    GATHER("GATHER of columns", -2, ANY, INTS(3, 0, 1)),
    GATHER("GATHER of channels", 3, ANY, INTS(2, 0, 1, 1, 0)),
    GATHER("GATHER of one", 1, ANY, INT(2)),
    GATHER("GATHER by a matrix", 1, IN(B, 3, C), PAIRS(0, 2, 1, 0, 2, 2)),

    // ---- orders
    {.name = "TRANSPOSE of the image", OP(Transpose), .inputs = {IN(B, 3, 5, C), INTS(0, 2, 1, 3)}},
    {.name = "TRANSPOSE channels first", OP(Transpose), .inputs = {IN(B, 3, 5, C), INTS(0, 3, 1, 2)}},
    {.name = "TRANSPOSE channels last", OP(Transpose), .inputs = {IN(B, C, 3, 5), INTS(0, 2, 3, 1)}},
    {.name = "TRANSPOSE of all", OP(Transpose), .inputs = {IN(B, 3, 5, C), INTS(3, 2, 1, 0)}},
    {.name = "TRANSPOSE of batches", OP(Transpose), .inputs = {IN(B, 3, 5, C), INTS(1, 0, 2, 3)}},
    {.name = "TRANSPOSE of rank 3", OP(Transpose), .inputs = {IN(B, 3, C), INTS(2, 0, 1)}},
    {.name = "TRANSPOSE of rank 2", OP(Transpose), .inputs = {IN(B, C), INTS(1, 0)}},
    {.name = "REVERSE_V2 of channels", OP(ReverseV2), .inputs = {ANY, INTS(3)}},
    {.name = "REVERSE_V2 of columns", OP(ReverseV2), .inputs = {ANY, INTS(2)}},
    {.name = "REVERSE_V2 of batches and rows", OP(ReverseV2), .inputs = {ANY, INTS(0, 1)}},

    // ---- repetitions
    {.name = "TILE", OP(Tile), .inputs = {IN(1, 2, 3, C), INTS(B, 2, 1, 3)}},
    {.name = "TILE of rank 2", OP(Tile), .inputs = {IN(B, C), INTS(2, 2)}},
    {.name = "BROADCAST_TO", OP(BroadcastTo), .version = 2, .inputs = {IN(3, 1, C), INTS(B, 3, 4, C)}},
    {.name = "BROADCAST_TO of channels", OP(BroadcastTo), .version = 2, .inputs = {IN(B, 3, 1), INTS(B, 3, C)}},

    // ---- paddings
    {.name = "PAD", OP(Pad), .inputs = {ANY, PAIRS(AROUND)}},
    {.name = "PAD of channels", OP(Pad), .inputs = {ANY, PAIRS(CHANNELS)}},
    {.name = "PAD behind channels", OP(Pad), .inputs = {ANY, PAIRS(SLICES_BEHIND)}},
    {.name = "PAD of batches", OP(Pad), .inputs = {ANY, PAIRS(1, 0, 0, 0, 0, 0, 0, 0)}},
    {.name = "PAD of rank 2", OP(Pad), .inputs = {IN(B, C), PAIRS(0, 1, 2, 0)}},
    {.name = "PADV2", OP(Padv2), .inputs = {ANY, PAIRS(AROUND), CONST_SCALAR}},
    {.name = "PADV2 of channels", OP(Padv2), .inputs = {ANY, PAIRS(CHANNELS), CONST_SCALAR}},
    MIRROR("MIRROR_PAD reflecting", 0, AROUND),
    MIRROR("MIRROR_PAD reflecting channels", 0, CHANNELS),
    MIRROR("MIRROR_PAD symmetric", 1, AROUND),
    MIRROR("MIRROR_PAD symmetric channels", 1, CHANNELS),

    // ---- shapes
    {.name = "RESHAPE to a row", OP(Reshape), .inputs = {ANY, INTS(B, 12 * C)}},
    {.name = "RESHAPE to an image", OP(Reshape), .inputs = {IN(B, 12 * C), INTS(B, 3, 4, C)}},
    {.name = "RESHAPE with the channels", OP(Reshape), .inputs = {ANY, INTS(B, 12, C)}},
    {.name = "RESHAPE of channels", OP(Reshape), .inputs = {IN(B, 3, 8, C), INTS(B, 3, C, 8)}},
    {.name = "RESHAPE to the same", OP(Reshape), .inputs = {ANY, INTS(B, 3, 4, -1)}},
    {.name = "SQUEEZE",
     OP(Squeeze),
     .settings = {{.field = HL_SqueezeOptions_squeeze_dims, .count = 1, .list = (const int[]){1}}},
     .inputs = {IN(B, 1, 4, C)}},
    {.name = "SQUEEZE of an axis from behind",
     OP(Squeeze),
     .settings = {{.field = HL_SqueezeOptions_squeeze_dims, .count = 1, .list = (const int[]){-1}}},
     .inputs = {IN(B, 3, C, 1)}},
    {.name = "EXPAND_DIMS behind", OP(ExpandDims), .inputs = {IN(B, 4, C), INT(-1)}},
    {.name = "EXPAND_DIMS in front", OP(ExpandDims), .inputs = {IN(3, 4, C), INT(0)}},

    // ---- blocks
    {.name = "SPACE_TO_DEPTH",
     OP(SpaceToDepth),
     .settings = {SET(SpaceToDepthOptions, block_size, 2)},
     .inputs = {IN(B, 4, 6, C)}},
    {.name = "DEPTH_TO_SPACE",
     OP(DepthToSpace),
     .settings = {SET(DepthToSpaceOptions, block_size, 2)},
     .inputs = {IN(B, 2, 3, 4 * C)}},
    {.name = "SPACE_TO_BATCH_ND", OP(SpaceToBatchNd), .inputs = {ANY, INTS(2, 3), PAIRS(1, 2, 2, 0)}},
    {.name = "BATCH_TO_SPACE_ND", OP(BatchToSpaceNd), .inputs = {IN(6 * B, 3, 2, C), INTS(2, 3), PAIRS(1, 2, 2, 1)}},

    // ---- resizing
    RESIZE("RESIZE_BILINEAR larger", ResizeBilinear, ResizeBilinearOptions, BLENDS, 7, 8),
    RESIZE("RESIZE_BILINEAR smaller", ResizeBilinear, ResizeBilinearOptions, BLENDS, 2, 3),
    RESIZE("RESIZE_NEAREST_NEIGHBOR larger", ResizeNearestNeighbor, ResizeNearestNeighborOptions, MOVES, 7, 8),
    RESIZE("RESIZE_NEAREST_NEIGHBOR smaller", ResizeNearestNeighbor, ResizeNearestNeighborOptions, MOVES, 2, 3),
    {.name = "RESIZE_BILINEAR to the same",
     OP(ResizeBilinear),
     .settings = {SET(ResizeBilinearOptions, align_corners, 0)},
     .inputs = {ANY, INTS(3, 4)},
     .tolerance = GPU_BLENDS},
    {0}};

const struct op_family op_family_move = {.name = "move", .cases = cases};
