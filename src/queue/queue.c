// SPDX-License-Identifier: Apache-2.0
// A queue's life: interpreters that share a cache of packed weights, the table of requests, and one thread for each
// interpreter.
#include "queue/queue.h"

#include <stdlib.h>

#include "base/clock.h"

enum { MAX_WORKERS = 64, MAX_REQUESTS = 1 << 20, MAX_BATCH = 1 << 16 };

static void set_defaults(HaliteQueueOptions *options)
{
    if (options->max_requests == 0) options->max_requests = 256;
    if (options->max_batch == 0) options->max_batch = 1;
    if (options->batch_nanoseconds == 0) options->batch_nanoseconds = 1000000;
    if (options->batch_nanoseconds < 0) options->batch_nanoseconds = 0;
}

// ---- creation -----------------------------------------------------------------------------------

static bool are_valid(const HaliteQueueOptions *options, const struct hl_reporter *reporter, const TfLiteModel *model,
                      int32_t count)
{
    const char *why = NULL;
    if (!model) why = "the model is NULL";
    if (count < 1 || count > MAX_WORKERS) why = "the number of workers is not 1 to 64";
    if (options->max_requests < 1 || options->max_requests > MAX_REQUESTS) why = "max_requests is not 1 to 1048576";
    if (options->max_batch < 1 || options->max_batch > MAX_BATCH) why = "max_batch is not 1 to 65536";
    if (why) hl_report(reporter, "HaliteQueueCreate: %s", why);
    return !why;
}

// Finds out whether the model takes batches. False where its tensors cannot have the shapes of one request again.
static bool try_batches(HaliteQueue *queue)
{
    struct hl_queue_model *model = &queue->workers[0].model;
    queue->max_batch = queue->options.max_batch;
    if (queue->max_batch == 1) return true;
    if (!hl_queue_model_has_batches(model, queue->max_batch)) queue->max_batch = 1;
    return hl_queue_model_resize(model, 1) == kTfLiteOk;
}

static bool create_models(HaliteQueue *queue, const TfLiteModel *model,
                          const TfLiteInterpreterOptions *const *interpreters)
{
    bool made = true;
    for (int32_t i = 0; i < queue->worker_count && made; i++) {
        struct hl_queue_worker *worker = &queue->workers[i];
        worker->queue = queue;
        worker->model.reporter = &queue->reporter;
        made = hl_queue_model_create(&worker->model, model, interpreters ? interpreters[i] : NULL,
                                     queue->options.weights_cache);
    }
    return made && try_batches(queue);
}

static bool start_workers(HaliteQueue *queue)
{
    for (int32_t i = 0; i < queue->worker_count; i++) {
        if (!hl_thread_start(&queue->workers[i].thread, hl_queue_work, &queue->workers[i])) return false;
        queue->started++;
    }
    return true;
}

static bool create_locks(HaliteQueue *queue)
{
    if (!hl_mutex_init(&queue->mutex)) return false;
    if (!hl_condition_init(&queue->submitted)) goto no_submitted;
    if (hl_condition_init(&queue->answered)) return true;
    hl_condition_destroy(&queue->submitted);
no_submitted:
    hl_mutex_destroy(&queue->mutex);
    return false;
}

// Ends the threads that were started, and frees all.
static void destroy(HaliteQueue *queue)
{
    hl_mutex_lock(&queue->mutex);
    queue->ends = true;
    for (struct hl_queue_request *request = queue->first; request; request = request->next)
        atomic_store(&request->cancelled, true);
    hl_condition_broadcast(&queue->submitted);
    hl_condition_broadcast(&queue->answered);
    hl_mutex_unlock(&queue->mutex);
    for (int32_t i = 0; i < queue->started; i++) hl_thread_join(&queue->workers[i].thread);
    for (int32_t i = 0; i < queue->worker_count; i++) hl_queue_model_destroy(&queue->workers[i].model);
    hl_queue_table_destroy(queue);
    hl_condition_destroy(&queue->answered);
    hl_condition_destroy(&queue->submitted);
    hl_mutex_destroy(&queue->mutex);
    free(queue->workers);
    free(queue);
}

HaliteQueue *HaliteQueueCreate(const TfLiteModel *model, const TfLiteInterpreterOptions *const *interpreters,
                               int32_t count, const HaliteQueueOptions *options)
{
    HaliteQueueOptions chosen = {.struct_size = sizeof chosen};
    if (options && options->struct_size < sizeof chosen) { // the first version has all fields
        hl_report(NULL, "HaliteQueueCreate: struct_size of the options is %zu, sizeof(HaliteQueueOptions) is %zu",
                  options->struct_size, sizeof chosen);
        return NULL;
    }
    if (options) chosen = *options;
    set_defaults(&chosen);
    struct hl_reporter reporter = {chosen.error_reporter, chosen.error_data};
    if (!are_valid(&chosen, &reporter, model, count)) return NULL;
    HaliteQueue *queue = calloc(1, sizeof *queue);
    struct hl_queue_worker *workers = calloc((size_t)count, sizeof *workers);
    if (!queue || !workers || !create_locks(queue)) {
        hl_report(&reporter, "HaliteQueueCreate: out of memory");
        free(workers);
        free(queue);
        return NULL;
    }
    queue->options = chosen;
    queue->reporter = reporter;
    queue->workers = workers;
    queue->worker_count = count;
    queue->created = hl_nanoseconds();
    bool served = create_models(queue, model, interpreters);
    if (served && hl_queue_table_create(queue) && start_workers(queue)) return queue;
    if (served) hl_report(&reporter, "HaliteQueueCreate: out of memory, or of threads");
    destroy(queue);
    return NULL;
}

void HaliteQueueDelete(HaliteQueue *queue)
{
    if (!queue) return;
    for (int32_t i = 0; i < queue->started; i++)
        if (hl_thread_is_current(&queue->workers[i].thread)) {
            hl_report(&queue->reporter, "a callback cannot delete its queue: it was not deleted");
            return;
        }
    destroy(queue);
}

// ---- questions ----------------------------------------------------------------------------------

int32_t HaliteQueueGetMaxBatch(const HaliteQueue *queue)
{
    return queue ? queue->max_batch : 0;
}

size_t HaliteQueueGetInputBytes(const HaliteQueue *queue, int32_t input)
{
    bool valid = queue && input >= 0 && input < queue->workers[0].model.input_count;
    return valid ? queue->workers[0].model.input_bytes[input] : 0;
}

size_t HaliteQueueGetOutputBytes(const HaliteQueue *queue, int32_t output)
{
    bool valid = queue && output >= 0 && output < queue->workers[0].model.output_count;
    return valid ? queue->workers[0].model.output_bytes[output] : 0;
}

void HaliteQueueDrain(HaliteQueue *queue)
{
    if (!queue) return;
    const HaliteQueueStatistics *statistics = &queue->statistics;
    hl_mutex_lock(&queue->mutex);
    while (statistics->queued > 0 || statistics->running > 0 || queue->calls > 0)
        hl_condition_wait(&queue->answered, &queue->mutex);
    hl_mutex_unlock(&queue->mutex);
}

TfLiteStatus HaliteQueueGetStatistics(HaliteQueue *queue, HaliteQueueStatistics *statistics)
{
    if (!statistics || statistics->struct_size < sizeof *statistics) return kTfLiteError;
    size_t size = statistics->struct_size;
    *statistics = (HaliteQueueStatistics){.struct_size = size};
    if (!queue) return kTfLiteOk;
    hl_mutex_lock(&queue->mutex);
    *statistics = queue->statistics;
    hl_mutex_unlock(&queue->mutex);
    statistics->struct_size = size;
    statistics->elapsed_nanoseconds = hl_nanoseconds() - queue->created;
    return kTfLiteOk;
}
