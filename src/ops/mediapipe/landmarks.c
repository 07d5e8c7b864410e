// SPDX-License-Identifier: Apache-2.0
// Landmarks of faces and hands in MediaPipe's models: points (x, y[, z]).
// Landmarks2TransformMatrix: in 0: landmarks, 3 values each, out 0: [1, 4, 4], the matrix that takes
//   positions of a crop to positions of the whole image. The crop is the box around some landmarks after
//   the line between two of them has been turned straight.
//     version 1 (options with `landmarks_range`): landmarks [1, 1, 1, 3n] in units of that range;
//     version 2: landmarks [1, n, 3] in pixels.
// TransformLandmarks: in 0: landmarks, [.., .., .., d n] (version 1) or [.., n, d], d 2 or 3;
//   in 1: such a matrix; out 0: (x', y') = matrix * (x, y, 0, 1), z as it was.
// float32.
#include <math.h>

#include "abi/custom_options.h"
#include "ops/op.h"

static TfLiteStatus require_float(TfLiteContext *ctx, const TfLiteNode *node, const TfLiteTensor *tensor)
{
    return tensor->type == kTfLiteFloat32 ? kTfLiteOk : hl_unsupported_type(ctx, node, tensor);
}

// ---- Landmarks2TransformMatrix ------------------------------------------------------------------

struct to_matrix {
    bool by_range;          // version 1
    struct hl_flex subset;  // numbers of the landmarks in the crop
    int left, right;        // the line
    float turned;           // version 2: direction that the line gets, radians
    float scale_x, scale_y; // of the crop, relative to the box
    int out_height, out_width;
    int in_height, in_width, range, dimensions; // version 1
};

static void option_size(const struct hl_flex *map, const char *name, int *height, int *width)
{
    struct hl_flex pair, element;
    int64_t numbers[2] = {0, 0};
    for (size_t i = 0; i < 2; i++)
        if (hl_flex_find(map, name, &pair) && hl_flex_element(&pair, i, &element))
            hl_flex_integer(&element, &numbers[i]);
    *height = numbers[0] > 0 && numbers[0] <= INT32_MAX ? (int)numbers[0] : 0;
    *width = numbers[1] > 0 && numbers[1] <= INT32_MAX ? (int)numbers[1] : 0;
}

static TfLiteStatus to_matrix_parse(TfLiteContext *ctx, void *state, const void *options, size_t size)
{
    (void)ctx;
    struct to_matrix *op = state;
    struct hl_flex map = hl_options_map(options, size);
    op->by_range = hl_flex_find(&map, "landmarks_range", &op->subset);
    if (!hl_flex_find(&map, op->by_range ? "subset" : "subset_idxs", &op->subset)) op->subset = (struct hl_flex){0};
    op->left = hl_option_int(&map, "left_rotation_idx", 0);
    op->right = hl_option_int(&map, "right_rotation_idx", 0);
    if (op->by_range) {
        op->scale_x = op->scale_y = hl_option_float(&map, "bbox_size_multiplier", 0);
        op->range = hl_option_int(&map, "landmarks_range", 0);
        op->dimensions = hl_option_int(&map, "dimensions", 0);
        option_size(&map, "input_hw", &op->in_height, &op->in_width);
        option_size(&map, "output_hw", &op->out_height, &op->out_width);
    } else {
        op->turned = hl_option_float(&map, "target_rotation_radians", 0);
        op->scale_x = hl_option_float(&map, "scale_x", 0);
        op->scale_y = hl_option_float(&map, "scale_y", 0);
        op->out_height = hl_option_int(&map, "output_height", 0);
        op->out_width = hl_option_int(&map, "output_width", 0);
    }
    return kTfLiteOk;
}

static int64_t subset_at(const struct to_matrix *op, size_t i)
{
    struct hl_flex element;
    int64_t index = -1;
    if (hl_flex_element(&op->subset, i, &element)) hl_flex_integer(&element, &index);
    return index;
}

static TfLiteStatus check_indices(TfLiteContext *ctx, const TfLiteNode *node, const struct to_matrix *op,
                                  int64_t landmarks)
{
    HL_REQUIRE(ctx, node, op->left >= 0 && op->left < landmarks && op->right >= 0 && op->right < landmarks,
               "rotation landmarks %d and %d are not among the %lld", op->left, op->right, (long long)landmarks);
    HL_REQUIRE(ctx, node, hl_flex_is_vector(&op->subset) && op->subset.count > 0, "the option `%s` names no landmarks",
               op->by_range ? "subset" : "subset_idxs");
    for (size_t i = 0; i < op->subset.count; i++) {
        int64_t index = subset_at(op, i);
        HL_REQUIRE(ctx, node, index >= 0 && index < landmarks, "landmark %lld of the subset is not among the %lld",
                   (long long)index, (long long)landmarks);
    }
    return kTfLiteOk;
}

static TfLiteStatus to_matrix_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct to_matrix *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *landmarks = hl_input(ctx, node, 0);
    TfLiteTensor *matrix = hl_output(ctx, node, 0);
    HL_TRY(require_float(ctx, node, landmarks));
    HL_TRY(require_float(ctx, node, matrix));
    int rank = op->by_range ? 4 : 3;
    HL_REQUIRE(ctx, node, hl_rank(landmarks) == rank, "the landmarks have %d dimensions, they must have %d",
               hl_rank(landmarks), rank);
    HL_REQUIRE(ctx, node, !op->by_range || op->dimensions == 3, "landmarks of %d values, only 3 are supported",
               op->dimensions);
    HL_REQUIRE(ctx, node, !op->by_range || (op->range > 0 && op->in_height > 0 && op->in_width > 0),
               "landmarks_range %d and input_hw %d,%d must be positive", op->range, op->in_height, op->in_width);
    HL_REQUIRE(ctx, node, op->out_height > 0 && op->out_width > 0, "output size %dx%d must be positive", op->out_height,
               op->out_width);
    HL_REQUIRE(ctx, node, op->by_range ? op->scale_x != 0 : op->scale_x > 0 && op->scale_y > 0,
               "the crop's scale %g,%g is not usable", (double)op->scale_x, (double)op->scale_y);
    HL_TRY(check_indices(ctx, node, op, hl_elements(landmarks) / 3));
    return hl_resize(ctx, matrix, 3, (const int[]){1, 4, 4});
}

// The upper rows of a matrix that moves points of a plane; the third would be 0 0 1.
struct motion {
    float m[2][3];
};

static struct motion multiplied(const struct motion *a, const struct motion *b)
{
    struct motion product;
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 3; c++)
            product.m[r][c] = a->m[r][0] * b->m[0][c] + a->m[r][1] * b->m[1][c] + (c == 2 ? a->m[r][2] : 0);
    return product;
}

struct crop {
    float center_x, center_y, width, height;
};

// The box around the subset in a plane turned by `angle`; its center turned back.
static struct crop find_crop(const struct to_matrix *op, const float *landmarks, float angle)
{
    float c = cosf(angle), s = sinf(angle);
    float low_x = INFINITY, low_y = INFINITY, high_x = -INFINITY, high_y = -INFINITY;
    for (size_t i = 0; i < op->subset.count; i++) {
        const float *point = landmarks + 3 * subset_at(op, i);
        float x = c * point[0] - s * point[1], y = s * point[0] + c * point[1];
        low_x = fminf(low_x, x);
        low_y = fminf(low_y, y);
        high_x = fmaxf(high_x, x);
        high_y = fmaxf(high_y, y);
    }
    float x = (low_x + high_x) / 2, y = (low_y + high_y) / 2;
    return (struct crop){c * x + s * y, c * y - s * x, high_x - low_x, high_y - low_y};
}

// Version 1: crop pixels -> [-1, 1] -> the box, turned -> image pixels.
static struct motion motion_by_range(const struct to_matrix *op, const float *landmarks)
{
    const float *left = landmarks + 3 * (int64_t)op->left, *right = landmarks + 3 * (int64_t)op->right;
    float angle = -atanf((right[1] - left[1]) / (right[0] - left[0]));
    float c = cosf(angle), s = sinf(angle), range = (float)op->range;
    float half_width = ((float)op->in_width - 1) / 2, half_height = ((float)op->in_height - 1) / 2;
    struct crop crop = find_crop(op, landmarks, angle);
    struct motion to_image = {{{half_width, 0, half_width}, {0, half_height, half_height}}};
    struct motion turn = {{{c, s, crop.center_x / range * 2 - 1}, {-s, c, crop.center_y / range * 2 - 1}}};
    struct motion scale = {{{crop.width * op->scale_x / range, 0, 0}, {0, crop.height * op->scale_y / range, 0}}};
    struct motion from_crop = {{{2 / ((float)op->out_width - 1), 0, -1}, {0, 2 / ((float)op->out_height - 1), -1}}};
    struct motion motion = multiplied(&to_image, &turn);
    motion = multiplied(&motion, &scale);
    return multiplied(&motion, &from_crop);
}

// Version 2: crop pixels -> around 0 -> the box's size -> turned -> around the box's center.
static struct motion motion_in_pixels(const struct to_matrix *op, const float *landmarks)
{
    const float *left = landmarks + 3 * (int64_t)op->left, *right = landmarks + 3 * (int64_t)op->right;
    float angle = op->turned - atan2f(right[1] - left[1], right[0] - left[0]);
    float c = cosf(angle), s = sinf(angle), width = (float)op->out_width, height = (float)op->out_height;
    struct crop crop = find_crop(op, landmarks, angle);
    struct motion turn = {{{c, s, crop.center_x}, {-s, c, crop.center_y}}};
    struct motion scale = {{{op->scale_x * crop.width / width, 0, 0}, {0, op->scale_y * crop.height / height, 0}}};
    struct motion center = {{{1, 0, -width / 2}, {0, 1, -height / 2}}};
    struct motion motion = multiplied(&turn, &scale);
    return multiplied(&motion, &center);
}

static TfLiteStatus to_matrix_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct to_matrix *op = node->user_data;
    const float *landmarks = HL_IN(float, hl_input(ctx, node, 0));
    float *matrix = HL_OUT(float, hl_output(ctx, node, 0));
    struct motion motion = op->by_range ? motion_by_range(op, landmarks) : motion_in_pixels(op, landmarks);
    for (int i = 0; i < 16; i++) matrix[i] = i % 5 == 0 ? 1 : 0;
    for (int r = 0; r < 2; r++) {
        matrix[4 * r] = motion.m[r][0];
        matrix[4 * r + 1] = motion.m[r][1];
        matrix[4 * r + 3] = motion.m[r][2];
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_landmarks_to_transform_matrix = {
    .state_size = sizeof(struct to_matrix),
    .parse = to_matrix_parse,
    .prepare = to_matrix_prepare,
    .invoke = to_matrix_invoke,
};

// ---- TransformLandmarks -------------------------------------------------------------------------

struct transform {
    int dimensions; // of a landmark
    float scale;    // of the matrix's shift
};

static TfLiteStatus transform_parse(TfLiteContext *ctx, void *state, const void *options, size_t size)
{
    (void)ctx;
    struct hl_flex map = hl_options_map(options, size);
    *(struct transform *)state = (struct transform){
        .dimensions = hl_option_int(&map, "dimensions", 3),
        .scale = hl_option_float(&map, "scale", 1),
    };
    return kTfLiteOk;
}

static TfLiteStatus transform_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    struct transform *op = node->user_data;
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    const TfLiteTensor *landmarks = hl_input(ctx, node, 0), *matrix = hl_input(ctx, node, 1);
    TfLiteTensor *output = hl_output(ctx, node, 0);
    HL_TRY(require_float(ctx, node, landmarks));
    HL_TRY(require_float(ctx, node, matrix));
    HL_TRY(require_float(ctx, node, output));
    int rank = hl_rank(landmarks);
    HL_REQUIRE(ctx, node, rank == 3 || rank == 4, "the landmarks have %d dimensions, they must have 3 or 4", rank);
    if (rank == 3) *op = (struct transform){hl_dim(landmarks, 2), 1};
    HL_REQUIRE(ctx, node, op->dimensions == 2 || op->dimensions == 3, "landmarks of %d values, it must be 2 or 3",
               op->dimensions);
    HL_REQUIRE(ctx, node, hl_dim(landmarks, rank - 1) % op->dimensions == 0,
               "%d values do not make whole landmarks of %d", hl_dim(landmarks, rank - 1), op->dimensions);
    HL_REQUIRE(ctx, node, op->scale != 0, "scale 0 is not usable");
    HL_REQUIRE(ctx, node, hl_elements(matrix) >= 8, "a matrix of %lld values, at least 8 are wanted",
               (long long)hl_elements(matrix));
    return hl_resize_like(ctx, output, landmarks);
}

static TfLiteStatus transform_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct transform *op = node->user_data;
    const TfLiteTensor *landmarks = hl_input(ctx, node, 0);
    const float *m = HL_IN(float, hl_input(ctx, node, 1));
    const float *from = HL_IN(float, landmarks);
    float *to = HL_OUT(float, hl_output(ctx, node, 0));
    for (int64_t i = 0; i < hl_elements(landmarks); i += op->dimensions) {
        to[i] = m[0] * from[i] + m[1] * from[i + 1] + m[3] * op->scale;
        to[i + 1] = m[4] * from[i] + m[5] * from[i + 1] + m[7] * op->scale;
        if (op->dimensions == 3) to[i + 2] = from[i + 2];
    }
    return kTfLiteOk;
}

const struct hl_op hl_op_transform_landmarks = {
    .state_size = sizeof(struct transform),
    .parse = transform_parse,
    .prepare = transform_prepare,
    .invoke = transform_invoke,
};
