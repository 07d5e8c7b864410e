// SPDX-License-Identifier: Apache-2.0
// The device of a delegate, shared with the kernels that the delegate makes, and freed with the last of them. One
// thread uses it at a time: gpu_engine_enter locks it and says whose call this is, so that messages of every layer
// below reach that interpreter's reporter.
#ifndef HALITE_GPU_DELEGATE_ENGINE_H
#define HALITE_GPU_DELEGATE_ENGINE_H

#include "base/mutex.h"
#include "gpu/backend/devices.h"
#include "gpu/delegate/options.h"
#include "gpu/delegate/profile.h"
#include "gpu/plan/programs.h"
#include "gpu/plan/tuning.h"
#include "tensorflow/lite/c/common.h"

// What the application has bound, and where tensors are; for buffers.c and kernel.c.
struct gpu_part;
struct gpu_buffers {
    struct gpu_bound {
        int tensor;
        HaliteGpuBuffer buffer;       // without its image
        HaliteGpuImage image;         // with a size of 0 where it takes that of the tensor
        const TfLiteContext *context; // of the graph that it belongs to; NULL: none yet
        int users;                    // kernels of this graph that use it
    } * list;
    int count, capacity;
    struct gpu_part *parts;         // that live, the latest first
    TfLiteBufferHandle last_handle; // that was given out, counted from 0
    uint64_t copied;                // bytes of inputs and outputs
    uint64_t carried;               // those of them that a processor has carried
    // A command buffer of the application, retained, that the next run is put into; NULL: none. Only of backends with
    // list_encode.
    void *commands;
};

// Only engine.c writes to it, but for the profiles, buffers, operators and programs. Everything except the options may
// be read only between enter and leave.
struct gpu_engine {
    struct gpu_options options;
    struct hl_reporter reporter;
    char last_error[160]; // the last message, shortened
    struct gpu_profiles profiles;
    struct gpu_buffers buffers;
    const struct gpu_op *custom_ops; // those of the application, for custom_op.c; the last added first
    struct gpu_device_info info;     // of the device, once it is open
    struct gpu_device *device;       // NULL until gpu_engine_open
    enum gpu_precision precision;    // that of the options, or a higher one if the device lacks it
    struct gpu_program_pool programs;
    struct gpu_tuning tuning;
    struct gpu_first_batch {
        uint64_t graph; // gpu_graph_hash
        int batch;
    } first_batches[64]; // of the last graphs
    int first_batch_count;

    // For engine.c alone.
    struct hl_mutex mutex; // held between enter and leave
    struct hl_mutex references_mutex;
    int references;
    TfLiteContext *context; // of the call that holds the mutex
    const char *stage;
};

// Takes the options over. NULL without memory: the options then still belong to the caller.
struct gpu_engine *gpu_engine_create(const struct gpu_options *options);
void gpu_engine_retain(struct gpu_engine *engine);
void gpu_engine_release(struct gpu_engine *engine); // accepts NULL

// stage: "Init", "Prepare" or "Invoke", with which messages begin: "TfLiteGpuDelegate Init: …".
void gpu_engine_enter(struct gpu_engine *engine, TfLiteContext *context, const char *stage);
void gpu_engine_leave(struct gpu_engine *engine);

// Opens the device unless it is open. False after a message.
bool gpu_engine_open(struct gpu_engine *engine);
// The batch of the first graph with this hash, which is `batch` if there was none (struct gpu_plan, first_batch).
int gpu_engine_first_batch(struct gpu_engine *engine, uint64_t graph, int batch);
const struct gpu_device_info *gpu_engine_info(const struct gpu_engine *engine); // NULL if the device is not open

#endif
