// SPDX-License-Identifier: Apache-2.0
// The fake's streams and events. Work waits in one queue for all streams, until someone waits for it.
#include <stdlib.h>
#include <string.h>

#include "cuda/fake.h"

enum { MAX_WORK = 4096 };

struct cuda_stream {
    struct fake_object object;
};

struct cuda_event {
    struct fake_object object;
    long long time; // 0: not reached
};

static struct fake_work queue[MAX_WORK];
static int waiting;
static long long now = 1;

static void do_work(const struct fake_work *work)
{
    now += 1000;
    switch (work->kind) {
    case FAKE_COPY: memcpy(work->to, work->from, work->bytes); break;
    case FAKE_LAUNCH: fake_run_kernel(work->kernel); break;
    case FAKE_RUN_GRAPH: fake_run_graph(work->exec); break;
    case FAKE_MARK: work->event->time = now; break;
    }
}

// Does what comes first in the queue.
static void do_next(void)
{
    struct fake_work work = queue[0];
    memmove(queue, queue + 1, (size_t)--waiting * sizeof *queue);
    do_work(&work);
}

void fake_drain(void)
{
    int count = fake.lost ? 0 : waiting;
    waiting = 0;
    for (int i = 0; i < count; i++) do_work(&queue[i]);
}

cuda_result fake_enqueue(struct cuda_stream *stream, const struct fake_work *work, const char *function)
{
    FAKE_NEED(fake_has_context(function), CUDA_INVALID_CONTEXT);
    FAKE_NEED(fake_is(stream, FAKE_STREAM, function), FAKE_INVALID_HANDLE);
    if (waiting == MAX_WORK) fake_drain();
    queue[waiting++] = *work;
    return CUDA_OK;
}

cuda_result cuStreamCreate(struct cuda_stream **stream, unsigned flags)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_has_context(__func__), CUDA_INVALID_CONTEXT);
    if (flags > CUDA_STREAM_NON_BLOCKING) return FAKE_INVALID_VALUE;
    *stream = fake_create(sizeof **stream, FAKE_STREAM);
    return CUDA_OK;
}

cuda_result cuStreamDestroy_v2(struct cuda_stream *stream)
{
    fake_drain();
    return fake_end(stream, FAKE_STREAM, __func__) ? CUDA_OK : FAKE_INVALID_HANDLE;
}

// The first question finds the stream at work, the next one at its end, unless it never comes to that.
cuda_result cuStreamQuery(struct cuda_stream *stream)
{
    static bool was_asked;
    FAKE_NEED(fake_is(stream, FAKE_STREAM, __func__), FAKE_INVALID_HANDLE);
    was_asked = !was_asked && waiting > 0;
    if (!fake.lost && (was_asked || fake.hangs)) return CUDA_NOT_READY;
    fake_drain();
    FAKE_BEGIN();
    return CUDA_OK;
}

// ---- copies ---------------------------------------------------------------------------------------------------------

// The driver takes pageable memory at once, and pinned memory when the copy's turn comes.
cuda_result cuMemcpyHtoDAsync_v2(cuda_pointer to, const void *from, size_t bytes, struct cuda_stream *stream)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_is_memory(to, bytes, __func__), FAKE_INVALID_VALUE);
    if (!fake_is_pinned(from)) {
        fake_drain();
        memcpy((void *)to, from, bytes);
        return CUDA_OK;
    }
    return fake_enqueue(stream, &(struct fake_work){FAKE_COPY, .to = (void *)to, .from = from, .bytes = bytes},
                        __func__);
}

cuda_result cuMemcpyDtoHAsync_v2(void *to, cuda_pointer from, size_t bytes, struct cuda_stream *stream)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_is_memory(from, bytes, __func__), FAKE_INVALID_VALUE);
    if (!fake_is_pinned(to)) {
        fake_drain();
        memcpy(to, (const void *)from, bytes);
        return CUDA_OK;
    }
    return fake_enqueue(stream, &(struct fake_work){FAKE_COPY, .to = to, .from = (const void *)from, .bytes = bytes},
                        __func__);
}

// ---- events ---------------------------------------------------------------------------------------------------------

cuda_result cuEventCreate(struct cuda_event **event, unsigned flags)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_has_context(__func__), CUDA_INVALID_CONTEXT);
    (void)flags;
    *event = fake_create(sizeof **event, FAKE_EVENT);
    return CUDA_OK;
}

cuda_result cuEventDestroy_v2(struct cuda_event *event)
{
    fake_drain();
    return fake_end(event, FAKE_EVENT, __func__) ? CUDA_OK : FAKE_INVALID_HANDLE;
}

cuda_result cuEventRecord(struct cuda_event *event, struct cuda_stream *stream)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_is(event, FAKE_EVENT, __func__), FAKE_INVALID_HANDLE);
    event->time = 0;
    return fake_enqueue(stream, &(struct fake_work){FAKE_MARK, .event = event}, __func__);
}

// The first question finds the stream on its way to the event, the next one there and no further.
cuda_result cuEventQuery(struct cuda_event *event)
{
    static struct cuda_event *asked;
    FAKE_NEED(fake_is(event, FAKE_EVENT, __func__), FAKE_INVALID_HANDLE);
    bool again = asked == event;
    asked = again ? NULL : event;
    if (!fake.lost && (fake.hangs || (!again && event->time == 0))) return CUDA_NOT_READY;
    while (!fake.lost && event->time == 0 && waiting > 0) do_next();
    FAKE_BEGIN();
    return CUDA_OK;
}

cuda_result cuEventElapsedTime(float *milliseconds, struct cuda_event *start, struct cuda_event *end)
{
    FAKE_BEGIN();
    if (!start->time || !end->time)
        return fake_complain(__func__, FAKE_INVALID_HANDLE, "an event that was not reached, or not recorded");
    *milliseconds = (float)(end->time - start->time) * 1e-6f;
    return CUDA_OK;
}
