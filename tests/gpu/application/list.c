// SPDX-License-Identifier: Apache-2.0
// The applications of this build: one for each API that the delegate and this machine's headers have. And the images
// of the one that runs.
#include <assert.h>

#include "gpu/application/application.h"

const struct application *const applications[] = {
    &application_opencl,
    &application_gles,
    &application_cuda,
#if defined(HALITE_GPU_VULKAN)
    &application_vulkan,
#endif
#if defined(HALITE_GPU_METAL)
    &application_metal,
#endif
    NULL,
};

static struct application_image *find(uint64_t handle)
{
    static struct application_image images[APPLICATION_IMAGES];
    for (int i = 0; i < APPLICATION_IMAGES; i++)
        if (images[i].handle == handle) return &images[i];
    assert(!"more images than a test has");
    return images;
}

struct application_image *application_image_add(int width, int height, HaliteGpuElement element)
{
    struct application_image *image = find(0);
    *image = (struct application_image){.width = width, .height = height, .element = element};
    return image;
}

struct application_image *application_image_find(uint64_t handle)
{
    return find(handle);
}
