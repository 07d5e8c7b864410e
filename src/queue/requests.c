// SPDX-License-Identifier: Apache-2.0
// The table of a queue's requests: submission with its bound, the order in which requests wait, and cancellation.
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/report.h"
#include "queue/queue.h"

// ---- the table ----------------------------------------------------------------------------------

bool hl_queue_table_create(HaliteQueue *queue)
{
    size_t size = (size_t)queue->options.max_requests;
    const struct hl_queue_model *model = &queue->workers[0].model;
    size_t inputs = (size_t)model->input_count, outputs = (size_t)model->output_count;
    queue->table = calloc(size, sizeof *queue->table);
    queue->pointers = calloc(size * (inputs + outputs) + 1, sizeof *queue->pointers);
    if (!queue->table || !queue->pointers) return false;
    for (size_t i = size; i-- > 0;) {
        struct hl_queue_request *request = &queue->table[i];
        const void **pointers = queue->pointers + i * (inputs + outputs);
        *request = (struct hl_queue_request){.next = queue->free,
                                             .number = i,
                                             .inputs = pointers,
                                             .outputs = (void **)(pointers + inputs)};
        atomic_init(&request->cancelled, false);
        queue->free = request;
    }
    return true;
}

void hl_queue_table_destroy(HaliteQueue *queue)
{
    free(queue->table);
    free(queue->pointers);
}

void hl_queue_free_request(HaliteQueue *queue, struct hl_queue_request *request)
{
    request->state = kHaliteRunIdle;
    request->next = queue->free;
    queue->free = request;
}

// ---- submission ---------------------------------------------------------------------------------

static const char *refuse(const HaliteQueue *queue, const HaliteRequest *description)
{
    const struct hl_queue_model *model = &queue->workers[0].model;
    if (!description) return "the description is NULL";
    if (description->struct_size < sizeof *description) return "struct_size is less than sizeof(HaliteRequest)";
    if ((!description->inputs && model->input_count > 0) || (!description->outputs && model->output_count > 0))
        return "the list of inputs, or of outputs, is NULL";
    for (int32_t i = 0; i < model->input_count; i++)
        if (!description->inputs[i]) return "an input is NULL";
    return description->timeout_nanoseconds < 0 ? "the time limit is negative (0: none)" : NULL;
}

// Behind all of equal or higher priority.
static void insert(HaliteQueue *queue, struct hl_queue_request *request)
{
    struct hl_queue_request *previous = queue->last;
    while (previous && previous->priority < request->priority) previous = previous->previous;
    request->previous = previous;
    request->next = previous ? previous->next : queue->first;
    *(previous ? &previous->next : &queue->first) = request;
    *(request->next ? &request->next->previous : &queue->last) = request;
}

static void remove_request(HaliteQueue *queue, struct hl_queue_request *request)
{
    *(request->previous ? &request->previous->next : &queue->first) = request->next;
    *(request->next ? &request->next->previous : &queue->last) = request->previous;
}

static void fill(const HaliteQueue *queue, struct hl_queue_request *request, const HaliteRequest *description)
{
    const struct hl_queue_model *model = &queue->workers[0].model;
    size_t inputs = (size_t)model->input_count, outputs = (size_t)model->output_count;
    if (inputs > 0) memcpy(request->inputs, description->inputs, inputs * sizeof *request->inputs);
    if (outputs > 0) memcpy(request->outputs, description->outputs, outputs * sizeof *request->outputs);
    request->number += (uint64_t)queue->options.max_requests; // a number of its own
    request->priority = description->priority;
    request->submitted = hl_nanoseconds();
    request->deadline =
        description->timeout_nanoseconds ? request->submitted + (uint64_t)description->timeout_nanoseconds : 0;
    request->done = description->done;
    request->data = description->data;
    request->state = kHaliteRunQueued;
    atomic_store(&request->cancelled, false);
}

// Waits until the table has room, or the time is over, or the queue ends. The caller holds the mutex.
static void wait_for_room(HaliteQueue *queue, int64_t nanoseconds)
{
    uint64_t begin = hl_nanoseconds();
    while (!queue->free && !queue->ends && nanoseconds != 0) {
        if (nanoseconds < 0) {
            hl_condition_wait(&queue->answered, &queue->mutex);
            continue;
        }
        uint64_t passed = hl_nanoseconds() - begin;
        if (passed >= (uint64_t)nanoseconds) break;
        hl_condition_wait_for(&queue->answered, &queue->mutex, 1e-9 * (double)((uint64_t)nanoseconds - passed));
    }
}

// The caller holds the mutex.
static HaliteSubmission submit(HaliteQueue *queue, const HaliteRequest *description, uint64_t *number)
{
    HaliteQueueStatistics *statistics = &queue->statistics;
    wait_for_room(queue, description->room_nanoseconds);
    if (queue->ends) return kHaliteSubmissionRefused;
    struct hl_queue_request *request = queue->free;
    if (!request) {
        statistics->full++;
        return kHaliteSubmissionFull;
    }
    queue->free = request->next;
    fill(queue, request, description);
    insert(queue, request);
    statistics->accepted++;
    if (++statistics->queued > statistics->most_queued) statistics->most_queued = statistics->queued;
    if (number) *number = request->number;
    hl_condition_signal(&queue->submitted);
    return kHaliteSubmissionAccepted;
}

HaliteSubmission HaliteQueueSubmit(HaliteQueue *queue, const HaliteRequest *description, uint64_t *request)
{
    if (!queue) return kHaliteSubmissionRefused;
    const char *refusal = refuse(queue, description);
    hl_mutex_lock(&queue->mutex);
    HaliteSubmission submission = refusal ? kHaliteSubmissionRefused : submit(queue, description, request);
    if (submission == kHaliteSubmissionRefused) queue->statistics.refused++;
    hl_mutex_unlock(&queue->mutex);
    if (submission == kHaliteSubmissionRefused)
        hl_report(&queue->reporter, "HaliteQueueSubmit: %s", refusal ? refusal : "the queue is being deleted");
    return submission;
}

TfLiteStatus HaliteQueueCancel(HaliteQueue *queue, uint64_t number)
{
    if (!queue) return kTfLiteError;
    struct hl_queue_request *request = &queue->table[number % (uint64_t)queue->options.max_requests];
    hl_mutex_lock(&queue->mutex);
    bool in_flight =
        request->number == number && (request->state == kHaliteRunQueued || request->state == kHaliteRunRunning);
    if (in_flight) atomic_store(&request->cancelled, true);
    if (in_flight) hl_condition_signal(&queue->submitted); // a free worker answers it
    hl_mutex_unlock(&queue->mutex);
    return in_flight ? kTfLiteOk : kTfLiteError;
}

// ---- batches ------------------------------------------------------------------------------------

bool hl_queue_is_stopped(const struct hl_queue_request *request, uint64_t now)
{
    return atomic_load(&request->cancelled) || (request->deadline > 0 && now >= request->deadline);
}

static void begin(HaliteQueue *queue, struct hl_queue_request *request, struct hl_queue_request ***end)
{
    remove_request(queue, request);
    request->state = kHaliteRunRunning;
    request->next = NULL;
    **end = request;
    *end = &request->next;
    queue->statistics.queued--;
    queue->statistics.running++;
}

// Takes all requests that were stopped while they waited; NULL where there are none.
static struct hl_queue_request *take_stopped(HaliteQueue *queue)
{
    struct hl_queue_request *batch = NULL, **end = &batch;
    uint64_t now = queue->first ? hl_nanoseconds() : 0;
    for (struct hl_queue_request *request = queue->first, *next; request; request = next) {
        next = request->next;
        if (hl_queue_is_stopped(request, now)) begin(queue, request, &end);
    }
    return batch;
}

static struct hl_queue_request *take_first(HaliteQueue *queue)
{
    struct hl_queue_request *batch = NULL, **end = &batch;
    for (int32_t i = 0; i < queue->max_batch && queue->first; i++) begin(queue, queue->first, &end);
    return batch;
}

// Returns how long the first request still waits for others, 0: no longer.
static uint64_t window(const HaliteQueue *queue)
{
    if (queue->statistics.queued >= queue->max_batch || queue->ends) return 0;
    uint64_t waited = hl_nanoseconds() - queue->first->submitted, allowed = (uint64_t)queue->options.batch_nanoseconds;
    return waited < allowed ? allowed - waited : 0;
}

struct hl_queue_request *hl_queue_take(HaliteQueue *queue)
{
    for (;;) {
        struct hl_queue_request *batch = take_stopped(queue);
        if (batch) return batch;
        uint64_t wait = queue->first ? window(queue) : 0;
        if (queue->first && wait == 0) return take_first(queue);
        if (!queue->first && queue->ends) return NULL;
        if (queue->first)
            hl_condition_wait_for(&queue->submitted, &queue->mutex, 1e-9 * (double)wait);
        else
            hl_condition_wait(&queue->submitted, &queue->mutex);
    }
}
