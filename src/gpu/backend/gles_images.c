// SPDX-License-Identifier: Apache-2.0
// Textures of the application in the OpenGL ES backend. In: a texture of a context that shares with the device's. Out:
// a buffer for its texels, and the copy between the two that a list makes with each run. A texture is read by a small
// program, because glReadPixels needs a framebuffer, which may refuse formats of floats; it is written from the buffer
// as from pixels of the host, which every format allows.
#include <stdio.h>
#include <stdlib.h>

#include "gpu/backend/gles_device.h"

enum { READER_W = 16, READER_H = 4 };

static const struct texel {
    int32_t format, unsized; // of the texture; what drivers say of a texture without a sized format, or 0
    const char *name;
    unsigned type;     // of glTexSubImage2D
    const char *store; // puts vec4 v at int at
} texels[] = {
    [GPU_TEXEL_BYTES] = {GL_RGBA8, GL_RGBA, "GL_RGBA8", GL_UNSIGNED_BYTE, "texels[at] = packUnorm4x8(v);"},
    [GPU_TEXEL_HALVES] = {GL_RGBA16F, 0, "GL_RGBA16F", GL_HALF_FLOAT,
                          "texels[2 * at] = packHalf2x16(v.xy); texels[2 * at + 1] = packHalf2x16(v.zw);"},
    [GPU_TEXEL_FLOATS] = {GL_RGBA32F, 0, "GL_RGBA32F", GL_FLOAT,
                          "texels[4 * at] = floatBitsToUint(v.x); texels[4 * at + 1] = floatBitsToUint(v.y);"
                          "texels[4 * at + 2] = floatBitsToUint(v.z); texels[4 * at + 3] = floatBitsToUint(v.w);"},
};

static const char reader_text[] = "#version 310 es\n"
                                  "precision highp float;\n"
                                  "precision highp int;\n"
                                  "layout(local_size_x = 16, local_size_y = 4) in;\n"
                                  "layout(binding = 0) uniform highp sampler2D image;\n"
                                  "layout(std430, binding = 0) writeonly buffer Texels { uint texels[]; };\n"
                                  "void main() {\n"
                                  "    ivec2 size = textureSize(image, 0);\n"
                                  "    ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n"
                                  "    if (p.x >= size.x || p.y >= size.y) return;\n"
                                  "    vec4 v = texelFetch(image, p, 0);\n"
                                  "    int at = p.y * size.x + p.x;\n";

// ---- what is made once ----------------------------------------------------------------------------------------------

static bool make_reader(struct gpu_device *device, enum gpu_texel texel)
{
    const struct gles_api *gl = device->gl;
    const char *parts[] = {reader_text, texels[texel].store, "}\n"};
    int32_t linked = 0;
    if (device->readers[texel]) return true;
    unsigned program = gl->glCreateProgram(), shader = gl->glCreateShader(GL_COMPUTE_SHADER);
    gl->glShaderSource(shader, 3, parts, NULL);
    gl->glCompileShader(shader);
    gl->glAttachShader(program, shader);
    gl->glLinkProgram(program);
    gl->glDeleteShader(shader);
    gl->glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!device->sampler) {
        gl->glGenSamplers(1, &device->sampler);
        gl->glSamplerParameteri(device->sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST); // else it is to have all levels
        gl->glSamplerParameteri(device->sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    }
    bool ok = gpu_gles_check(device, "glLinkProgram", "a program that reads textures");
    if (ok && !linked) ok = gpu_device_fail(&device->base, "a program that reads textures does not compile");
    if (ok)
        device->readers[texel] = program;
    else
        gl->glDeleteProgram(program);
    return ok;
}

void gpu_gles_images_end(struct gpu_device *device)
{
    if (!device->sampler || device->base.lost || !gpu_gles_enter(device, "delete what reads textures")) return;
    for (int i = 0; i <= GPU_TEXEL_FLOATS; i++)
        if (device->readers[i]) device->gl->glDeleteProgram(device->readers[i]);
    device->gl->glDeleteSamplers(1, &device->sampler);
    gpu_gles_leave(device, true);
}

// ---- textures -------------------------------------------------------------------------------------------------------

// Whether the texture is there, as it has to be. Leaves it bound. False after a message.
static bool bind_texture(struct gpu_device *device, const struct gles_image *image)
{
    const struct gles_api *gl = device->gl;
    const struct texel *texel = &texels[image->texel];
    int32_t width = 0, height = 0, format = 0;
    if (!gl->glIsTexture(image->texture))
        return gpu_device_fail(&device->base,
                               "%u is no texture of the application's context that has been bound once, or was "
                               "deleted: bind another one, or none",
                               image->texture);
    gl->glActiveTexture(GL_TEXTURE0);
    gl->glBindTexture(GL_TEXTURE_2D, image->texture);
    gl->glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    gl->glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &height);
    gl->glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_INTERNAL_FORMAT, &format);
    if (!gpu_gles_check(device, "glBindTexture", "a two-dimensional texture of the application")) return false;
    if (width != image->width || height != image->height)
        return gpu_device_fail(&device->base, "texture %u of the application has %d x %d texels and not %d x %d",
                               image->texture, width, height, image->width, image->height);
    return format == texel->format || (texel->unsized && format == texel->unsized) ||
           gpu_device_fail(&device->base, "texture %u of the application has another format (0x%04x) than %s",
                           image->texture, (unsigned)format, texel->name);
}

struct gpu_buffer *gpu_gles_image_import(struct gpu_device *device, const struct gpu_image_desc *desc)
{
    struct gles_image image = {.width = desc->width,
                               .height = desc->height,
                               .texel = desc->texel,
                               .is_input = desc->is_input,
                               .texture = desc->handle <= UINT32_MAX ? (unsigned)desc->handle : 0};
    if (!gpu_gles_enter(device, "take a texture")) return NULL;
    bool ok = bind_texture(device, &image) && (!image.is_input || make_reader(device, image.texel));
    if (!gpu_gles_leave(device, ok)) return NULL;
    size_t bytes = (size_t)image.width * (size_t)image.height * gpu_texel_bytes(image.texel);
    struct gpu_buffer *buffer = gpu_gles_buffer_create(device, (bytes + 15) / 16 * 16); // whole vectors of floats
    if (buffer) buffer->image = image;
    return buffer;
}

bool gpu_gles_image_copy(struct gpu_device *device, const struct gpu_buffer *buffer)
{
    const struct gles_api *gl = device->gl;
    const struct gles_image *image = &buffer->image;
    if (!bind_texture(device, image)) return false;
    if (image->is_input) {
        gl->glBindSampler(0, device->sampler);
        gl->glUseProgram(device->readers[image->texel]);
        gl->glBindBufferRange(GL_SHADER_STORAGE_BUFFER, 0, buffer->buffer, 0, (intptr_t)buffer->bytes);
        gl->glDispatchCompute((unsigned)(image->width + READER_W - 1) / READER_W,
                              (unsigned)(image->height + READER_H - 1) / READER_H, 1);
        gl->glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
        return gpu_gles_check(device, "glDispatchCompute", "reading a texture of the application");
    }
    gl->glMemoryBarrier(GL_PIXEL_BUFFER_BARRIER_BIT);
    gl->glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer->buffer);
    gl->glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, image->width, image->height, GL_RGBA, texels[image->texel].type, NULL);
    gl->glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    return gpu_gles_check(device, "glTexSubImage2D", "writing a texture of the application");
}
