// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 and a libnvrtc.so in one library that compute: they stand for NVIDIA's in tests. In: the calls of the
// driver and of its compiler. Out: kernels run on the CPU (common/grid.h). Copies and launches are put into the
// stream's queue and happen only when someone waits, pinned memory is read at that time, and the nodes of a graph run
// in the order that is the least likely to be right: of those whose dependencies are done, the last one first. What is
// wrong with a call (an object that is gone, memory that no allocation has, no current context, a kernel that may
// overlap with the one before it and does not wait for it) is written to standard error and counted. It proves what the
// backend sends; how a card computes it cannot know. Tests turn its knobs with fakeCuda_set, programs with
// FAKE_CUDA="lost=1".
#ifndef HALITE_TESTS_FAKES_CUDA_FAKE_H
#define HALITE_TESTS_FAKES_CUDA_FAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/grid.h"
#include "common/knobs.h"
#include "gpu/backend/cuda_api.h"

// X(name, at first, what it is)
#define FAKE_KNOBS(X)                                                        \
    X(devices, 1, "how many there are")                                      \
    X(capability, 90, "of each device")                                      \
    X(multiprocessors, 16, "of each device")                                 \
    X(fail_at, 0, "number of the call that fails, from 1 on; 0: none")       \
    X(fail_code, 2, "what that call returns")                                \
    X(refuse_binaries, 0, "machine code that does not load: so many times")  \
    X(lost, 0, "whether every call returns lost_code")                       \
    X(hangs, 0, "whether a stream that is asked never ends")                 \
    X(lost_at, 0, "number of the first call that does; 0: none")             \
    X(lost_code, 719, "what a context without a working kernel returns")     \
    X(calls, 0, "calls so far that can fail")                                \
    X(live, 0, "objects that exist: contexts, memory, streams, events, ...") \
    X(compiled, 0, "programs that the compiler was asked for")               \
    X(launches, 0, "kernels that ran")                                       \
    X(edges, 0, "dependencies of all graphs so far")                         \
    X(overlapping, 0, "those of them that are programmatic")                 \
    X(lone, 0, "kernels of graphs of which a unit takes one group")          \
    X(card, 1, "what Vulkan sees: 0 nothing, 1 all, 2 a window")             \
    X(imports, 0, "memories of Vulkan's that were imported")                 \
    X(complaints, 0, "calls so far whose order or arguments were wrong")

FAKE_DECLARE_KNOBS(fakeCuda);

#define X(name, symbol, arguments) FAKE_EXPORT cuda_result symbol arguments;
CUDA_FUNCTIONS(X)
CUDA_LATER_FUNCTIONS(X)
#undef X
#define X(name, symbol, arguments) FAKE_EXPORT int symbol arguments;
NVRTC_FUNCTIONS(X)
#undef X
FAKE_EXPORT const char *nvrtcGetErrorString(int code);

enum { FAKE_INVALID_VALUE = 1, FAKE_INVALID_IMAGE = 200, FAKE_INVALID_HANDLE = 400, FAKE_NOT_FOUND = 500 };
// Bytes of shared memory: of a unit, what a group may ask for, what each takes besides, what each kernel has unasked.
enum { FAKE_UNIT_SHARED = 233472, FAKE_GROUP_SHARED = 232448, FAKE_RESERVED_SHARED = 1024, FAKE_STATIC_SHARED = 48 };

// ---- control.c ------------------------------------------------------------------------------------------------------

// Begins a call that can fail: counts it, and returns what it has to return where it is to fail.
cuda_result fake_begin(void);
#define FAKE_BEGIN()                              \
    do {                                          \
        cuda_result failure_ = fake_begin();      \
        if (failure_ != CUDA_OK) return failure_; \
    } while (0)
// Says what is wrong with a call of this function, counts it, and returns the code.
cuda_result fake_complain(const char *function, cuda_result code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Objects begin with this. They are never freed, so that the use of one that is gone shows.
enum fake_kind {
    FAKE_CONTEXT = 1,
    FAKE_STREAM,
    FAKE_EVENT,
    FAKE_MODULE,
    FAKE_FUNCTION,
    FAKE_GRAPH,
    FAKE_NODE,
    FAKE_EXEC,
    FAKE_EXTERNAL,
    FAKE_CARD,       // a VkDevice
    FAKE_CARD_MEMORY // a VkDeviceMemory
};
struct fake_object {
    enum fake_kind kind;
    bool gone;
    struct fake_object *next;
};
// A new object; the process ends without memory.
void *fake_create(size_t bytes, enum fake_kind kind);
// Whether it is an object of this kind that exists. False after a complaint about the function.
bool fake_is(const void *object, enum fake_kind kind, const char *function);
// Ends an object. False after a complaint.
bool fake_end(void *object, enum fake_kind kind, const char *function);
// Whether a context is current in this thread. False after a complaint.
bool fake_has_context(const char *function);
#define FAKE_NEED(condition, code)       \
    do {                                 \
        if (!(condition)) return (code); \
    } while (0)

// ---- memory.c -------------------------------------------------------------------------------------------------------

// Whether all these bytes are in one allocation that exists. False after a complaint. bytes: 0 for the address alone.
bool fake_is_memory(cuda_pointer address, size_t bytes, const char *function);
// Whether it is in pinned memory of the host.
bool fake_is_pinned(const void *address);

// Memory of the device that the driver has mapped. Its end by cuMemFree lowers *mappings.
void fake_add_mapping(void *memory, size_t bytes, int *mappings);

// ---- vulkan.c -------------------------------------------------------------------------------------------------------

#define FAKE_UUID "fake CUDA card 0"
// Where the memory of this descriptor counts its imports, and its size. NULL: it is none.
int *fake_card_imports(int descriptor, size_t *bytes);

// ---- stream.c -------------------------------------------------------------------------------------------------------

struct fake_work {
    enum { FAKE_COPY, FAKE_LAUNCH, FAKE_RUN_GRAPH, FAKE_MARK } kind;
    void *to;
    const void *from;
    size_t bytes;
    struct cuda_graph_node *kernel; // of FAKE_LAUNCH
    struct cuda_graph_exec *exec;
    struct cuda_event *event;
};
// Puts work into the stream's queue.
cuda_result fake_enqueue(struct cuda_stream *stream, const struct fake_work *work, const char *function);
// Does all that is in any stream's queue.
void fake_drain(void);

// ---- graph.c --------------------------------------------------------------------------------------------------------

void fake_run_kernel(struct cuda_graph_node *kernel);
void fake_run_graph(struct cuda_graph_exec *exec);

#endif
