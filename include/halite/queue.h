// SPDX-License-Identifier: Apache-2.0
// A queue before several interpreters of one model, for programs that serve requests: any thread submits, workers (a
// thread and an interpreter each) compute, a callback answers. Requests that wait together are computed together, in
// one batch. The interpreters share their packed weights.
//
// Everything here may be called from any thread at any time, but HaliteQueueDelete: no other call on the queue may be
// under way then. Structs begin with their size where the program was compiled, so that later versions may append
// fields; zero is the default of every other field.
#ifndef HALITE_QUEUE_H
#define HALITE_QUEUE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "halite/halite.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HaliteQueue HaliteQueue;

typedef struct HaliteQueueOptions {
    size_t struct_size; // sizeof(HaliteQueueOptions)
    // How many requests may be in the queue or under way, up to 1048576; further ones wait or are turned away. 0: 256.
    int32_t max_requests;
    // How many requests one Invoke may compute. A request is an input of the model's own shapes; n of them are computed
    // as inputs whose first dimension is n times as long. 0 or 1: no batches. The model has to treat the items of a
    // batch apart from each other, as classifiers and detectors do; of that the queue checks the shapes alone.
    int32_t max_batch;
    // How long a request may wait for others to fill its batch, while a worker is free. 0: 1 ms; less than 0: not at
    // all.
    int64_t batch_nanoseconds;
    // Packed weights that others share too; NULL: those that the model's interpreters share anyway. The queue holds on
    // to it.
    HaliteWeightsCache *weights_cache;
    // Where the queue's own messages go; NULL: to standard error. Those of an interpreter go where its options say.
    void (*error_reporter)(void *data, const char *format, va_list args);
    void *error_data;
} HaliteQueueOptions;

// Creates a queue with `count` workers (1 to 64). interpreters[i] are the options of the interpreter of worker i,
// NULL for the default, and are copied; delegates in them are the caller's, must outlive the queue, and belong to one
// worker each; error reporters are called by the workers, from several threads where several share one. interpreters
// may be NULL: defaults for all. options may be NULL. The model may be deleted afterwards. Returns NULL after a
// message: an interpreter could not be created, or its tensors not allocated, or the model cannot be served: it keeps
// variables, has strings as inputs or outputs, or outputs whose size is known only while running. A model whose
// outputs do not grow with the first dimension of its inputs is served without batches, after a message.
TFL_CAPI_EXPORT HaliteQueue *HaliteQueueCreate(const TfLiteModel *model,
                                               const TfLiteInterpreterOptions *const *interpreters, int32_t count,
                                               const HaliteQueueOptions *options);

// Cancels what has not begun, waits until everything is answered, and frees the queue. NULL is allowed. A callback
// cannot delete its queue: the call then returns after a message.
TFL_CAPI_EXPORT void HaliteQueueDelete(HaliteQueue *queue);

// Returns how many requests one Invoke may compute: max_batch, or 1 where the model does not allow for batches.
TFL_CAPI_EXPORT int32_t HaliteQueueGetMaxBatch(const HaliteQueue *queue);
// Return the bytes of one request's input or output, 0 out of range.
TFL_CAPI_EXPORT size_t HaliteQueueGetInputBytes(const HaliteQueue *queue, int32_t input);
TFL_CAPI_EXPORT size_t HaliteQueueGetOutputBytes(const HaliteQueue *queue, int32_t output);

typedef struct HaliteRequest {
    size_t struct_size; // sizeof(HaliteRequest)
    // Memory for each input and output of the model, of the sizes above; the arrays are copied. The memory is the
    // queue's from the submission to the answer. An output may be NULL: it is not wanted.
    const void *const *inputs;
    void *const *outputs;
    int32_t priority;            // requests of higher priority go first, those of equal priority in order
    int64_t timeout_nanoseconds; // from the submission to the begin of its batch; 0: no limit
    int64_t room_nanoseconds;    // how long to wait for room in a full queue; 0: not at all, less than 0: for ever
    // The answer, by a worker's thread: kHaliteRunDone, kHaliteRunFailed, kHaliteRunCancelled or kHaliteRunLate. It may
    // submit (without waiting for room) and cancel requests. NULL: nobody is told, use HaliteQueueDrain.
    void (*done)(void *data, uint64_t request, HaliteRunState state);
    void *data;
} HaliteRequest;

typedef enum HaliteSubmission {
    kHaliteSubmissionAccepted = 0, // it will be answered exactly once
    kHaliteSubmissionFull = 1,     // there was no room
    kHaliteSubmissionRefused = 2,  // after a message: an argument is wrong, or the queue is being deleted
} HaliteSubmission;

// Submits a request, and stores its number in *request, unless that is NULL, before it can be answered. Numbers are
// never used again.
TFL_CAPI_EXPORT HaliteSubmission HaliteQueueSubmit(HaliteQueue *queue, const HaliteRequest *description,
                                                   uint64_t *request);

// Cancels a request, which is then answered as kHaliteRunCancelled, and its outputs are not written. A batch goes on
// for its other requests; where all are cancelled, it stops before the next node. Returns kTfLiteError, without a
// message, where the request has been answered, or its answer has begun.
TFL_CAPI_EXPORT TfLiteStatus HaliteQueueCancel(HaliteQueue *queue, uint64_t request);

// Blocks until nothing is in the queue or under way, and all callbacks have returned. Not for callbacks.
TFL_CAPI_EXPORT void HaliteQueueDrain(HaliteQueue *queue);

enum { kHaliteLatencyBuckets = 48 };

typedef struct HaliteQueueStatistics {
    size_t struct_size;                      // sizeof(HaliteQueueStatistics), set by the caller
    uint64_t accepted, full, refused;        // submissions
    uint64_t done, failed, cancelled, late;  // answers
    int32_t queued, running;                 // requests now
    int32_t most_queued;                     // at a time
    uint64_t batches;                        // Invokes
    uint64_t batched;                        // requests in them; batched / batches is the mean batch
    uint64_t elapsed_nanoseconds;            // since the queue was created
    uint64_t busy_nanoseconds;               // of all workers; / (elapsed * workers) is the occupancy
    uint64_t latency[kHaliteLatencyBuckets]; // done requests: entry i counts those answered 2^i up to 2^(i+1) - 1
                                             // nanoseconds after their submission, the last one all that took longer
} HaliteQueueStatistics;
// Fills in the fields that the caller's version has: zeros for a NULL queue. kTfLiteError, without a message, where
// struct_size is below that of the first version.
TFL_CAPI_EXPORT TfLiteStatus HaliteQueueGetStatistics(HaliteQueue *queue, HaliteQueueStatistics *statistics);

#ifdef __cplusplus
}
#endif

#endif
