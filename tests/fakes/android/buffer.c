// SPDX-License-Identifier: Apache-2.0
// The functions of AHardwareBuffer over plain pages. Nobody waits: fences are refused.
#include <errno.h>
#include <unistd.h>

#include "fake.h"

FAKE_DEFINE_KNOBS(fakeAndroid, "FAKE_ANDROID")

enum { FORMAT_RGBA8 = 1, FORMAT_BLOB = 0x21 };

int AHardwareBuffer_allocate(const AHardwareBuffer_Desc *desc, AHardwareBuffer **buffer)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), texel = desc->format == FORMAT_BLOB ? 1 : 4;
    void *pages;
    fake_read_environment();
    if (desc->format != FORMAT_BLOB && desc->format != FORMAT_RGBA8) return -EINVAL;
    if (desc->format == FORMAT_BLOB && (desc->height != 1 || desc->layers != 1)) return -EINVAL;
    AHardwareBuffer *made = calloc(1, sizeof *made);
    fake_must(made);
    made->desc = *desc;
    made->desc.stride = desc->width;
    made->references = 1;
    made->bytes = (desc->width * texel * desc->height + page - 1) / page * page;
    fake_must(posix_memalign(&pages, page, made->bytes) == 0);
    made->pages = pages;
    memset(pages, 0, made->bytes);
    fake.buffers++;
    *buffer = made;
    return 0;
}

void AHardwareBuffer_acquire(AHardwareBuffer *buffer)
{
    buffer->references++;
}

void AHardwareBuffer_release(AHardwareBuffer *buffer)
{
    fake_must(buffer->references > 0);
    if (--buffer->references > 0) return;
    free(buffer->pages);
    free(buffer);
    fake.buffers--;
}

void AHardwareBuffer_describe(const AHardwareBuffer *buffer, AHardwareBuffer_Desc *desc)
{
    *desc = buffer->desc;
}

int AHardwareBuffer_lock(AHardwareBuffer *buffer, uint64_t usage, int32_t fence, const void *part, void **address)
{
    if (!(usage & buffer->desc.usage) || fence != -1 || part) return -EINVAL;
    buffer->locks++;
    *address = buffer->pages;
    return 0;
}

int AHardwareBuffer_unlock(AHardwareBuffer *buffer, int32_t *fence)
{
    if (buffer->locks == 0) return -EINVAL;
    buffer->locks--;
    if (fence) *fence = -1;
    return 0;
}
