// SPDX-License-Identifier: Apache-2.0
// A claimed partition, ready to run: its graph, plan and runner, and how its inputs and outputs get to the device and
// back. kernel.c makes and runs it; transfer.c moves tensors between host and device; lend.c gives tensors memory of
// the backend; buffers.c lets buffers of the application, and outputs of other partitions, stand for inputs and
// outputs. All functions are called between gpu_engine_enter and gpu_engine_leave.
#ifndef HALITE_GPU_DELEGATE_PART_H
#define HALITE_GPU_DELEGATE_PART_H

#include "gpu/delegate/delegate.h"
#include "gpu/delegate/refuse.h"
#include "gpu/plan/plan.h"

// An input or output, or a constant that is an output.
struct gpu_port {
    const struct gpu_value *value;
    int tensor;    // -1: a value that only the host checks
    float *floats; // the converted tensor; NULL if host and device exchange the bytes of the tensor itself
    void *outside; // the floats in the value's format; NULL if that is GPU_FORMAT_FLOATS, or there are no floats
    bool is_kept;  // an output that stays on the device until somebody reads it
    int reader;    // of an input: a node on the CPU that reads the tensor as well; -1: none
    TfLiteBufferHandle handle;      // of an output that is kept
    struct gpu_buffer *application; // the application's buffer that was imported for it; NULL: none
    void *host;               // the application's memory on the host, in the value's format, that runs copy; NULL: none
    struct gpu_lent *lent;    // the memory that its tensor has from us; NULL: none
    struct gpu_buffer *aside; // takes the place of the runner's in asynchronous runs; NULL: not needed yet
    const struct gpu_port *source; // of an input: the output of another partition that stands for it; NULL: none
};

struct gpu_part {
    struct gpu_engine *engine;
    const TfLiteContext *context; // of its graph
    struct gpu_part *next;        // in the engine's list
    struct gpu_graph *graph;
    struct gpu_plan *plan;
    struct gpu_runner *runner; // NULL if all outputs are constants
    struct gpu_port *inputs, *outputs, *constants;
    int input_count, output_count, constant_count;
    const void **from; // the arguments of the runner, filled in by each run
    void **to;
    struct gpu_profile profile;
    struct gpu_checks checks;
    struct gpu_async *async; // for runs that do not block; NULL until the runtime asks for its kernel
};

// Reports "tensor NAME PROBLEM". Always false.
bool gpu_part_complain(const struct gpu_part *part, const TfLiteTensor *tensor, const char *problem);

// ---- transfer.c

// Prepares the port of a value. False without memory.
bool gpu_port_begin(struct gpu_port *port, const struct gpu_value *value, const TfLiteContext *context);
void gpu_port_end(struct gpu_port *port);
// Where the bytes for the device are once the tensor is converted; NULL after a message.
const void *gpu_port_from_tensor(const struct gpu_part *part, const struct gpu_port *port, const TfLiteTensor *tensor);
// Where the bytes of the device may go before gpu_port_to_tensor converts them; NULL after a message.
void *gpu_port_room(const struct gpu_part *part, const struct gpu_port *port, const TfLiteTensor *tensor);
bool gpu_port_to_tensor(const struct gpu_part *part, const struct gpu_port *port, TfLiteTensor *tensor);
// Copies a value that is on the device to a tensor, or the other way. False after a message.
bool gpu_port_fetch(struct gpu_part *part, const struct gpu_port *port, TfLiteTensor *tensor);
bool gpu_port_store(struct gpu_part *part, const struct gpu_port *port, const TfLiteTensor *tensor);

// Whether host and device exchange the bytes of the tensor itself.
bool gpu_port_is_same(const struct gpu_port *port, const TfLiteTensor *tensor);
// Counts a copy between the port and a tensor.
void gpu_port_count(const struct gpu_part *part, const struct gpu_port *port, const TfLiteTensor *tensor);

// ---- lend.c

// Gives tensors of inputs and outputs memory of the backend where that saves copies. Comes with each prepare, before
// the runtime plans its own.
void gpu_lend(struct gpu_part *part);
// Takes it back: the tensors get memory of the runtime's when it next plans its memory.
void gpu_lend_end(struct gpu_part *part);

// ---- images.c

// Fills in the picture's defaults for a value. Returns what is wrong with it, NULL: nothing.
const char *gpu_image_resolve(const HaliteGpuBuffer *buffer, const struct gpu_value *value, struct gpu_image *image);
// An image object for a value whose format is that of the image. NULL after a message.
struct gpu_buffer *gpu_image_import(const struct gpu_engine *engine, const struct gpu_value *value,
                                    const HaliteGpuBuffer *from);
// An output's picture as the floats of its tensor.
void gpu_image_to_floats(const struct gpu_value *value, const void *from, float *to);

// ---- async.c

// The kernel for runs that do not block, which the part owns. NULL: there is none for such a part, or for this runtime.
struct TfLiteAsyncKernel *gpu_async_kernel(struct gpu_part *part, TfLiteContext *context);
// Called outside of gpu_engine_enter, when no run is under way.
void gpu_async_destroy(struct gpu_async *async); // accepts NULL

// ---- memory.c

// Whether a handle of this kind is memory and no object of an API.
bool gpu_memory_is_kind(HaliteGpuKind kind);
// Where the memory ends, in bytes from its beginning. False after a message.
bool gpu_memory_measure(const struct gpu_engine *engine, const HaliteGpuBuffer *from, size_t *end);
// So much memory of the application as a buffer. NULL after a message, or without one for memory of the host that the
// device cannot use.
struct gpu_buffer *gpu_memory_import(const struct gpu_engine *engine, const HaliteGpuBuffer *from, size_t bytes);

// ---- buffers.c

// Gives values the formats in which the application has bound them. Comes before the plan.
void gpu_buffers_choose_formats(const struct gpu_part *part);
// Enters a part that is ready into the engine's list, with the application's buffers for its inputs and outputs. False
// after a message. gpu_buffers_end, which is always allowed, takes it out of the list.
bool gpu_buffers_begin(struct gpu_part *part);
void gpu_buffers_end(struct gpu_part *part);
// A buffer of the application for one run, as the backend knows it; the caller gives it to buffer_destroy. NULL after a
// message.
struct gpu_buffer *gpu_buffers_import(const struct gpu_part *part, const struct gpu_port *port,
                                      const HaliteGpuBuffer *from);
// Fills in element and layout as the value is stored outside.
void gpu_buffers_describe(const struct gpu_value *value, HaliteGpuBuffer *buffer);
// When all partitions of a graph are there: whether every bound tensor is an input or output of one of them.
bool gpu_buffers_are_used(const struct gpu_part *part);
// Before a run: lets an input stand for the output whose handle its tensor has, or copies that to the tensor. False
// after a message.
bool gpu_buffers_connect(struct gpu_part *part, struct gpu_port *port, TfLiteTensor *tensor, const TfLiteNode *node);
// Whether the delegate was made by the interface for Metal and computes on it. Buffers are as that one demands then.
bool gpu_buffers_are_metal(const struct gpu_engine *engine);
// Whether a run must end before its Invoke, because the application may look at a buffer of its own then.
bool gpu_buffers_are_shared(const struct gpu_part *part);

// Makes a delegate that has no device yet compute in the context of OpenGL ES that its options name, else in that which
// is current in this thread. False after a message.
bool gpu_buffers_take_context(TfLiteDelegate *delegate);

// The functions of a TfLiteDelegate.
TfLiteStatus gpu_copy_from_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                                  TfLiteTensor *tensor);
TfLiteStatus gpu_copy_to_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                                TfLiteTensor *tensor);
void gpu_free_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle *handle);

#endif
