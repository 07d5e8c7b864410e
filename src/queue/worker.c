// SPDX-License-Identifier: Apache-2.0
// What a worker does with a batch: it copies the inputs of its requests side by side, invokes, and answers each
// request: outputs to the request's memory, its place in the table free again, then the callback.
#include <string.h>

#include "base/clock.h"
#include "queue/queue.h"

// ---- computing ----------------------------------------------------------------------------------

// Asked before each node: whether nobody wants the batch any more.
static bool nobody_waits(void *data)
{
    const struct hl_queue_worker *worker = data;
    for (const struct hl_queue_request *request = worker->computing; request; request = request->next)
        if (!atomic_load(&request->cancelled)) return false;
    return worker->computing != NULL;
}

static void load(const struct hl_queue_model *model, int32_t item, const struct hl_queue_request *request)
{
    for (int32_t i = 0; i < model->input_count; i++) {
        size_t bytes = model->input_bytes[i];
        char *data = TfLiteTensorData(TfLiteInterpreterGetInputTensor(model->interpreter, i));
        if (bytes > 0) memcpy(data + (size_t)item * bytes, request->inputs[i], bytes);
    }
}

static void store(const struct hl_queue_model *model, int32_t item, const struct hl_queue_request *request)
{
    for (int32_t i = 0; i < model->output_count; i++) {
        size_t bytes = model->output_bytes[i];
        const char *data = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(model->interpreter, i));
        if (bytes > 0 && request->outputs[i]) memcpy(request->outputs[i], data + (size_t)item * bytes, bytes);
    }
}

static TfLiteStatus compute(struct hl_queue_worker *worker, struct hl_queue_request *batch, int32_t count)
{
    TfLiteStatus status = hl_queue_model_resize(&worker->model, count);
    if (status != kTfLiteOk) return status;
    int32_t item = 0;
    for (const struct hl_queue_request *request = batch; request; request = request->next)
        load(&worker->model, item++, request);
    uint64_t begin = hl_nanoseconds();
    worker->computing = batch;
    status = TfLiteInterpreterInvoke(worker->model.interpreter);
    worker->computing = NULL;
    uint64_t spent = hl_nanoseconds() - begin;
    HaliteQueue *queue = worker->queue;
    hl_mutex_lock(&queue->mutex);
    queue->statistics.batches++;
    queue->statistics.batched += (uint64_t)count;
    queue->statistics.busy_nanoseconds += spent;
    hl_mutex_unlock(&queue->mutex);
    return status;
}

// ---- answers ------------------------------------------------------------------------------------

static void count_answer(HaliteQueueStatistics *statistics, HaliteRunState state, uint64_t latency)
{
    int bucket = 0;
    if (state == kHaliteRunFailed) statistics->failed++;
    if (state == kHaliteRunCancelled) statistics->cancelled++;
    if (state == kHaliteRunLate) statistics->late++;
    if (state != kHaliteRunDone) return;
    statistics->done++;
    while (bucket < kHaliteLatencyBuckets - 1 && latency >> (bucket + 1) != 0) bucket++;
    statistics->latency[bucket]++;
}

// Once it is decided how a request ends, it can no longer be cancelled.
static HaliteRunState decide(HaliteQueue *queue, struct hl_queue_request *request, HaliteRunState state)
{
    hl_mutex_lock(&queue->mutex);
    request->state = atomic_load(&request->cancelled) ? kHaliteRunCancelled : state;
    HaliteRunState decided = request->state;
    hl_mutex_unlock(&queue->mutex);
    return decided;
}

// `item` is the request's position in the batch that was computed.
static void answer(struct hl_queue_worker *worker, struct hl_queue_request *request, HaliteRunState state, int32_t item)
{
    HaliteQueue *queue = worker->queue;
    const struct hl_queue_request copy = {.number = request->number, .done = request->done, .data = request->data};
    state = decide(queue, request, state);
    if (state == kHaliteRunDone) store(&worker->model, item, request);

    hl_mutex_lock(&queue->mutex);
    count_answer(&queue->statistics, state, hl_nanoseconds() - request->submitted);
    queue->statistics.running--;
    queue->calls++;
    hl_queue_free_request(queue, request); // first, so that the callback finds room for the next one
    hl_condition_broadcast(&queue->answered);
    hl_mutex_unlock(&queue->mutex);
    if (copy.done) copy.done(copy.data, copy.number, state);

    hl_mutex_lock(&queue->mutex);
    queue->calls--;
    hl_condition_broadcast(&queue->answered);
    hl_mutex_unlock(&queue->mutex);
}

static HaliteRunState state_after(TfLiteStatus status)
{
    if (status == kTfLiteOk) return kHaliteRunDone;
    return status == kTfLiteCancelled ? kHaliteRunCancelled : kHaliteRunFailed;
}

static void answer_all(struct hl_queue_worker *worker, struct hl_queue_request *batch, HaliteRunState state)
{
    int32_t item = 0;
    for (struct hl_queue_request *request = batch, *next; request; request = next) {
        next = request->next;
        answer(worker, request, state, item++);
    }
}

// Where a batch fails, each of its requests is computed alone: the fault of one is not the others'.
static void compute_apart(struct hl_queue_worker *worker, struct hl_queue_request *batch)
{
    for (struct hl_queue_request *request = batch, *next; request; request = next) {
        next = request->next;
        request->next = NULL;
        TfLiteStatus status = compute(worker, request, 1);
        answer(worker, request, state_after(status), 0);
    }
}

// Answers those that need not be computed. Returns the others, and stores how many they are.
static struct hl_queue_request *answer_stopped(struct hl_queue_worker *worker, struct hl_queue_request *batch,
                                               int32_t *count)
{
    struct hl_queue_request *live = NULL, **end = &live;
    uint64_t now = hl_nanoseconds();
    *count = 0;
    for (struct hl_queue_request *request = batch, *next; request; request = next) {
        next = request->next;
        request->next = NULL;
        if (hl_queue_is_stopped(request, now)) {
            answer(worker, request, kHaliteRunLate, 0); // or cancelled
            continue;
        }
        *end = request;
        end = &request->next;
        ++*count;
    }
    return live;
}

static void serve(struct hl_queue_worker *worker, struct hl_queue_request *batch)
{
    int32_t count;
    batch = answer_stopped(worker, batch, &count);
    if (!batch) return;
    TfLiteStatus status = compute(worker, batch, count);
    if (status != kTfLiteOk && status != kTfLiteCancelled && count > 1)
        compute_apart(worker, batch);
    else
        answer_all(worker, batch, state_after(status));
}

void hl_queue_work(void *arg)
{
    struct hl_queue_worker *worker = arg;
    HaliteQueue *queue = worker->queue;
    HaliteInterpreterSetCancellation(worker->model.interpreter, nobody_waits, worker);
    hl_mutex_lock(&queue->mutex);
    for (struct hl_queue_request *batch; (batch = hl_queue_take(queue));) {
        if (queue->first) hl_condition_signal(&queue->submitted); // what is left is another worker's
        hl_mutex_unlock(&queue->mutex);
        serve(worker, batch);
        hl_mutex_lock(&queue->mutex);
    }
    hl_mutex_unlock(&queue->mutex);
}
