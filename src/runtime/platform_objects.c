// SPDX-License-Identifier: Apache-2.0
// The functions of core/async/interop/c/types.h: wrappers for a platform's buffers and synchronization objects, which
// the application and a delegate hand to each other through this library. The objects stay their maker's.
#include "tensorflow/lite/core/async/interop/c/types.h"

#include <stdlib.h>

struct TfLiteBackendBuffer {
    void *buffer;
};

struct TfLiteSynchronization {
    void *object;
};

TfLiteBackendBuffer *TfLiteBackendBufferCreate(void)
{
    return calloc(1, sizeof(TfLiteBackendBuffer));
}

void TfLiteBackendBufferDelete(TfLiteBackendBuffer *buf)
{
    free(buf);
}

void TfLiteBackendBufferSetPtr(TfLiteBackendBuffer *buf, void *ptr)
{
    if (buf) buf->buffer = ptr;
}

void *TfLiteBackendBufferGetPtr(const TfLiteBackendBuffer *buf)
{
    return buf ? buf->buffer : NULL;
}

TfLiteSynchronization *TfLiteSynchronizationCreate(void)
{
    return calloc(1, sizeof(TfLiteSynchronization));
}

void TfLiteSynchronizationDelete(TfLiteSynchronization *sync)
{
    free(sync);
}

void TfLiteSynchronizationSetPtr(TfLiteSynchronization *sync, void *ptr)
{
    if (sync) sync->object = ptr;
}

void *TfLiteSynchronizationGetPtr(const TfLiteSynchronization *sync)
{
    return sync ? sync->object : NULL;
}
