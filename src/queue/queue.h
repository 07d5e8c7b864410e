// SPDX-License-Identifier: Apache-2.0
// Inside of halite/queue.h. Requests lie in a table of fixed size, which is the queue's bound. A request is in one of
// three lists, or on the way from one to the next in a worker's hands:
//
//   submission -> waiting (by priority) -> a worker's batch -> answered: its place in the table is free again
//
//   queue.c     life, and what a model has to be like     requests.c   the table: submission, order, cancellation
//   worker.c    batches: copies, Invoke, answers          batch.c      one interpreter and its batch dimension
#ifndef HALITE_QUEUE_QUEUE_H
#define HALITE_QUEUE_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/report.h"
#include "base/thread.h"
#include "halite/queue.h"

struct hl_queue_request {
    struct hl_queue_request *next, *previous; // among those that wait; `next` also among the free ones and in a batch
    uint64_t number;                          // its position in the table, plus a multiple of the table's size
    const void **inputs;                      // of the queue's input_count and output_count
    void **outputs;
    int32_t priority;
    uint64_t submitted, deadline; // on the clock of hl_nanoseconds; deadline 0: none
    void (*done)(void *data, uint64_t request, HaliteRunState state);
    void *data;
    HaliteRunState state;  // kHaliteRunIdle: free
    atomic_bool cancelled; // a worker asks while it computes
};

// One interpreter of the model. Its inputs are those of `batch` requests.
struct hl_queue_model {
    const struct hl_reporter *reporter; // the queue's
    TfLiteInterpreter *interpreter;
    int32_t batch;                      // 0: unknown, a change of it failed
    TfLiteIntArray **shapes;            // of the inputs of one request
    size_t *input_bytes, *output_bytes; // of one request
    int32_t input_count, output_count;
};

struct hl_queue_worker {
    HaliteQueue *queue;
    struct hl_queue_model model;
    struct hl_thread thread;
    struct hl_queue_request *computing; // the batch that it computes
};

struct HaliteQueue {
    HaliteQueueOptions options;
    struct hl_reporter reporter;
    int32_t max_batch; // that the model allows
    int32_t worker_count, started;
    struct hl_queue_worker *workers;

    // The mutex guards what follows.
    struct hl_mutex mutex;
    struct hl_condition submitted; // workers wait for it
    struct hl_condition answered;  // those who want room, or silence
    bool ends;
    struct hl_queue_request *table;
    const void **pointers; // inputs and outputs of all requests
    struct hl_queue_request *free;
    struct hl_queue_request *first, *last; // that wait, in the order in which they are to run
    int32_t calls;                         // callbacks that have not returned
    uint64_t created;
    HaliteQueueStatistics statistics; // `accepted` less all answers is what is in flight
};

// ---- batch.c

// Creates an interpreter for one request at a time, from a copy of the options. False after a message;
// hl_queue_model_destroy is due all the same.
bool hl_queue_model_create(struct hl_queue_model *model, const TfLiteModel *file,
                           const TfLiteInterpreterOptions *options, HaliteWeightsCache *cache);
void hl_queue_model_destroy(struct hl_queue_model *model);
// Gives the inputs the shape of so many requests. kTfLiteError after a message.
TfLiteStatus hl_queue_model_resize(struct hl_queue_model *model, int32_t batch);
// Returns whether the model takes batches of that size: inputs can grow, and outputs grow with them. False after a
// message. The batch is then another one.
bool hl_queue_model_has_batches(struct hl_queue_model *model, int32_t batch);

// ---- requests.c

bool hl_queue_table_create(HaliteQueue *queue);
void hl_queue_table_destroy(HaliteQueue *queue);
// For these the caller holds the mutex.
// Takes the requests of the next batch from those that wait: all that were stopped, or the first; waits for them, and
// for more where that is wanted. NULL where the queue ends and nothing waits.
struct hl_queue_request *hl_queue_take(HaliteQueue *queue);
// Whether a request was cancelled or is late.
bool hl_queue_is_stopped(const struct hl_queue_request *request, uint64_t now);
void hl_queue_free_request(HaliteQueue *queue, struct hl_queue_request *request);

// ---- worker.c

// Computes and answers batches until the queue ends. arg: struct hl_queue_worker.
void hl_queue_work(void *arg);

#endif
