// SPDX-License-Identifier: Apache-2.0
// Pictures that the application binds to inputs and outputs. In: a HaliteGpuBuffer of pixels or of an image object, and
// the value that it is for. Out: struct gpu_image, from which the plan makes its kernels; the image object as a buffer
// of the backend; and a picture as floats, for those who read an output on the host after all.
#include "base/half.h"
#include "gpu/delegate/part.h"

enum { MAX_PIXELS = 1 << 28 }; // of a batch; kernels count bytes in 32 bits

static bool is_within(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

static const char *output_problem(const struct gpu_image *image, struct gpu_shape shape, int width)
{
    unsigned used = 0;
    if (width != shape.w || image->height != shape.h || image->x != 0 || image->y != 0 || image->part_w != shape.w ||
        image->part_h != shape.h)
        return "a picture that is written has the size of the tensor, and no part is cut out of it";
    for (int c = 0; c < shape.c; c++) {
        if (image->scale[c] == 0) return "the scale of a picture that is written must not be 0";
        if (used >> image->order[c] & 1) return "order names a byte of a picture that is written twice";
        used |= 1u << image->order[c];
    }
    return NULL;
}

const char *gpu_image_resolve(const HaliteGpuBuffer *buffer, const struct gpu_value *value, struct gpu_image *image)
{
    static const HaliteGpuImage none = {.struct_size = sizeof none};
    const HaliteGpuImage *from = buffer->image ? buffer->image : &none;
    struct gpu_shape shape = value->shape;
    bool ordered = from->order[0] || from->order[1] || from->order[2] || from->order[3];
    bool scaled = from->scale[0] != 0 || from->scale[1] != 0 || from->scale[2] != 0 || from->scale[3] != 0;
    float scale = buffer->element == kHaliteGpuElementRgba8 ? 1.0f / 255 : 1;
    int64_t width = from->width ? from->width : shape.w, height = from->height ? from->height : shape.h;
    int64_t row = from->row_bytes ? from->row_bytes / 4 : width;
    *image = (struct gpu_image){.height = (int)height, .row = (int)row, .x = from->crop_x, .y = from->crop_y};
    int64_t part_w = from->crop_width ? from->crop_width : width - from->crop_x;
    int64_t part_h = from->crop_height ? from->crop_height : height - from->crop_y;
    image->part_w = (int)part_w;
    image->part_h = (int)part_h;
    for (int c = 0; c < 4; c++) {
        image->order[c] = ordered ? from->order[c] : c;
        image->mean[c] = from->mean[c];
        image->scale[c] = scaled ? from->scale[c] : scale;
        if (!is_within(image->order[c], 0, 3)) return "order is to name bytes 0 to 3";
    }
    if (value->codes) return "pixels are taken for tensors of floats only";
    if (shape.c > 4) return "pixels have four channels, and the tensor has more channels";
    if (!is_within(width, 1, MAX_PIXELS) || !is_within(height, 1, MAX_PIXELS) || from->row_bytes % 4 != 0 ||
        !is_within(row, width, MAX_PIXELS) || row * height > MAX_PIXELS / shape.b)
        return "a picture's width, height or row_bytes is out of range";
    if (buffer->kind == kHaliteGpuKindImage && row != width) return "an image has no row_bytes";
    if (!is_within(image->x, 0, width - 1) || !is_within(image->y, 0, height - 1) ||
        !is_within(part_w, 1, width - image->x) || !is_within(part_h, 1, height - image->y))
        return "the part to be cut out is not within the picture";
    return value->is_output ? output_problem(image, shape, (int)width) : NULL;
}

struct gpu_buffer *gpu_image_import(const struct gpu_engine *engine, const struct gpu_value *value,
                                    const HaliteGpuBuffer *from)
{
    static const enum gpu_texel texels[] = {[kHaliteGpuElementFloat32] = GPU_TEXEL_FLOATS,
                                            [kHaliteGpuElementFloat16] = GPU_TEXEL_HALVES,
                                            [kHaliteGpuElementRgba8] = GPU_TEXEL_BYTES};
    struct gpu_shape shape = value->shape;
    bool picture = gpu_is_picture(gpu_caller_format(value));
    int rows = picture ? value->image.height : gpu_slices(shape) * shape.h;
    struct gpu_image_desc desc = {
        .handle = from->handle,
        .width = picture ? value->image.row : shape.w,
        .height = shape.b * rows,
        .texel = texels[from->element],
        .is_input = value->is_input,
        .layout_before = from->vk_layout_before,
        .layout_after = from->vk_layout_after ? from->vk_layout_after : from->vk_layout_before,
    };
    return engine->info.backend->image_import(engine->device, &desc);
}

void gpu_image_to_floats(const struct gpu_value *value, const void *from, float *to)
{
    const struct gpu_image *image = &value->image;
    struct gpu_shape shape = value->shape;
    for (int64_t i = 0; i < gpu_elements(shape); i++) {
        int c = (int)(i % shape.c), x = (int)(i / shape.c % shape.w);
        int64_t line = i / shape.c / shape.w; // pictures of a batch have the tensor's height
        size_t at = 4 * ((size_t)line * (size_t)image->row + (size_t)x) + (size_t)image->order[c];
        float stored = 0;
        switch (gpu_caller_format(value)) {
        case GPU_FORMAT_PIXELS: stored = ((const uint8_t *)from)[at]; break;
        case GPU_FORMAT_HALF_PIXELS: stored = hl_half_to_float(((const uint16_t *)from)[at]); break;
        default: stored = ((const float *)from)[at]; break;
        }
        to[i] = (stored - image->mean[c]) * image->scale[c];
    }
}
