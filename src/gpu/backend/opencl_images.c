// SPDX-License-Identifier: Apache-2.0
// Images of the application in the OpenCL backend. In: a cl_mem image of the device's context. Out: a buffer for its
// texels, and the copy between the two that a list enqueues with each run.
#include <stdio.h>
#include <stdlib.h>

#include "gpu/backend/opencl_device.h"

// What is wrong with the image; NULL: nothing, or a query has failed after a message.
static const char *find_problem(struct gpu_device *device, const struct gpu_image_desc *desc, char *text, size_t room,
                                bool *asked)
{
    static const cl_channel_type types[] = {CL_UNORM_INT8, CL_HALF_FLOAT, CL_FLOAT};
    static const char *const names[] = {"CL_UNORM_INT8", "CL_HALF_FLOAT", "CL_FLOAT"};
    const struct opencl_api *cl = device->cl;
    cl_mem memory = (cl_mem)(uintptr_t)desc->handle;
    cl_context context = NULL;
    cl_mem_object_type type = 0;
    cl_image_format format = {0, 0};
    size_t width = 0, height = 0;
    cl_int code = cl->clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (code == CL_SUCCESS) code = cl->clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    *asked = gpu_opencl_check(device, code, "clGetMemObjectInfo", "an image of the application");
    if (!*asked) return NULL;
    if (type != CL_MEM_OBJECT_IMAGE2D) return "is no two-dimensional image";
    if (context != device->context) return "is of another context";
    code = cl->clGetImageInfo(memory, CL_IMAGE_FORMAT, sizeof format, &format, NULL);
    if (code == CL_SUCCESS) code = cl->clGetImageInfo(memory, CL_IMAGE_WIDTH, sizeof width, &width, NULL);
    if (code == CL_SUCCESS) code = cl->clGetImageInfo(memory, CL_IMAGE_HEIGHT, sizeof height, &height, NULL);
    *asked = gpu_opencl_check(device, code, "clGetImageInfo", "an image of the application");
    if (!*asked) return NULL;
    if (format.image_channel_order != CL_RGBA || format.image_channel_data_type != types[desc->texel]) {
        snprintf(text, room, "has another format than CL_RGBA with %s", names[desc->texel]);
        return text;
    }
    if (width == (size_t)desc->width && height == (size_t)desc->height) return NULL;
    snprintf(text, room, "has %zu x %zu texels and not %d x %d", width, height, desc->width, desc->height);
    return text;
}

struct gpu_buffer *gpu_opencl_image_import(struct gpu_device *device, const struct gpu_image_desc *desc)
{
    char text[128];
    bool asked = true;
    if (!gpu_device_is_alive(&device->base, "take an image")) return NULL;
    const char *problem = find_problem(device, desc, text, sizeof text, &asked);
    if (problem) gpu_device_fail(&device->base, "the application's cl_mem %s", problem);
    if (problem || !asked) return NULL;
    size_t bytes = (size_t)desc->width * (size_t)desc->height * gpu_texel_bytes(desc->texel);
    struct gpu_buffer *buffer = gpu_opencl_buffer_create(device, (bytes + 15) / 16 * 16); // whole vectors of floats
    if (!buffer) return NULL;
    cl_mem memory = (cl_mem)(uintptr_t)desc->handle;
    if (gpu_opencl_check(device, device->cl->clRetainMemObject(memory), "clRetainMemObject",
                         "an image of the application")) {
        buffer->image = (struct opencl_image){memory, (size_t)desc->width, (size_t)desc->height, desc->is_input};
        return buffer;
    }
    gpu_opencl_buffer_destroy(device, buffer);
    return NULL;
}

bool gpu_opencl_image_copy(struct gpu_device *device, const struct gpu_buffer *buffer, cl_command_queue queue)
{
    static const size_t origin[3] = {0, 0, 0};
    const struct opencl_image *image = &buffer->image;
    const size_t region[3] = {image->width, image->height, 1};
    if (image->is_input) {
        cl_int code = device->cl->clEnqueueCopyImageToBuffer(queue, image->memory, buffer->memory, origin, region, 0, 0,
                                                             NULL, NULL);
        return gpu_opencl_check(device, code, "clEnqueueCopyImageToBuffer", "an image of the application");
    }
    cl_int code =
        device->cl->clEnqueueCopyBufferToImage(queue, buffer->memory, image->memory, 0, origin, region, 0, NULL, NULL);
    return gpu_opencl_check(device, code, "clEnqueueCopyBufferToImage", "an image of the application");
}
