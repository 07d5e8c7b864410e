// SPDX-License-Identifier: Apache-2.0
// The CUDA backend's lists. In: dispatches with the ranges of buffers that they read and write, and barriers. Out: one
// CUDA graph, whose launch runs all of them. A kernel's node depends on those nodes before the last barrier that use
// the same memory and that no other of its dependencies depends on, so that branches of a network run side by side.
//
// From compute capability 9.0 on, edges are programmatic: a kernel may be started while the one before it runs, and
// waits on the device (cuda.c of src/gpu/lang). On an H200 this takes a dependent step from 1.36 us to 0.9.
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"
#include "gpu/backend/cuda_device.h"

struct record {
    const struct gpu_program *program;
    unsigned groups[3];
    cuda_pointer addresses[GPU_MAX_BUFFERS];
    size_t sizes[GPU_MAX_BUFFERS];
    bool writes[GPU_MAX_BUFFERS];
    int buffer_count, param_count;
    int32_t params[GPU_MAX_PARAMS][4];
    int level; // how many barriers came before it
};

struct gpu_list {
    struct gpu_device *device;
    struct record *records;
    int count, capacity;
    int level;
    struct cuda_graph_exec *exec; // NULL: not finished, or empty
};

struct gpu_list *gpu_cuda_list_create(struct gpu_device *device)
{
    if (!gpu_device_is_alive(&device->base, "create a command list")) return NULL;
    struct gpu_list *list = calloc(1, sizeof *list);
    if (!list) return gpu_device_no_memory(&device->base, "a command list");
    list->device = device;
    return list;
}

void gpu_cuda_list_destroy(struct gpu_list *list)
{
    if (!list) return;
    if (list->exec && gpu_cuda_enter_to_destroy(list->device)) {
        list->device->cuda->graph_exec_destroy(list->exec);
        gpu_cuda_leave(list->device);
    }
    free(list->records);
    free(list);
}

// ---- recording ------------------------------------------------------------------------------------------------------

bool gpu_cuda_list_dispatch(struct gpu_list *list, const struct gpu_dispatch *dispatch)
{
    struct gpu_device_base *base = &list->device->base;
    const struct gpu_program *program = dispatch->program;
    if (!gpu_device_is_alive(base, "record a kernel") ||
        !gpu_device_allows_groups(base, program->name, dispatch->groups))
        return false;
    struct record record = {.program = program,
                            .buffer_count = dispatch->buffer_count,
                            .param_count = dispatch->param_count,
                            .level = list->level};
    for (int i = 0; i < 3; i++) record.groups[i] = (unsigned)dispatch->groups[i];
    for (int i = 0; i < dispatch->buffer_count; i++) {
        const struct gpu_buffer *buffer = dispatch->buffers[i];
        if (!gpu_device_has_range(base, buffer->bytes, dispatch->offsets[i], dispatch->sizes[i], "a kernel uses"))
            return false;
        if (dispatch->offsets[i] % 16 != 0)
            return gpu_device_fail(base, "kernel %s at offset %zu of a buffer, which must be multiples of 16",
                                   program->name, dispatch->offsets[i]);
        record.addresses[i] = buffer->address + dispatch->offsets[i];
        record.sizes[i] = dispatch->sizes[i];
        record.writes[i] = dispatch->writes[i];
    }
    memcpy(record.params, dispatch->params, sizeof record.params);
    struct record *records = hl_grow(list->records, list->count, &list->capacity, sizeof *records);
    if (!records) return gpu_device_no_memory(base, "a command list");
    list->records = records;
    list->records[list->count++] = record;
    return true;
}

bool gpu_cuda_list_barrier(struct gpu_list *list)
{
    list->level++;
    return gpu_device_is_alive(&list->device->base, "record a barrier");
}

// ---- the graph ------------------------------------------------------------------------------------------------------

// The addresses of a kernel's arguments; room: for one more than there are buffers.
static void fill_arguments(struct record *record, void *arguments[GPU_MAX_BUFFERS + 1])
{
    for (int i = 0; i < record->buffer_count; i++) arguments[i] = &record->addresses[i];
    arguments[record->buffer_count] = record->params;
}

static bool overlap(const struct record *a, int i, const struct record *b, int j)
{
    return (a->writes[i] || b->writes[j]) && a->addresses[i] < b->addresses[j] + b->sizes[j] &&
           b->addresses[j] < a->addresses[i] + a->sizes[i];
}

// Whether the later of two dispatches must see what the earlier one wrote, or must not write what that one reads.
static bool depends(const struct record *later, const struct record *earlier)
{
    for (int i = 0; i < later->buffer_count; i++)
        for (int j = 0; j < earlier->buffer_count; j++)
            if (overlap(later, i, earlier, j)) return true;
    return false;
}

// A graph in the making. For each node, `before` has a bit for each earlier one that ends before it starts.
struct building {
    struct gpu_list *list;
    struct cuda_graph *graph;
    struct cuda_graph_node **nodes, **after;
    uint64_t *before;
    size_t words; // of `before` for each node
};

// Writes the nodes that node `index` must wait for to building->after; returns how many.
static size_t find_dependencies(struct building *building, int index)
{
    const struct record *records = building->list->records;
    uint64_t *mine = building->before + (size_t)index * building->words;
    size_t count = 0;
    for (int i = index - 1; i >= 0; i--) {
        if (records[i].level == records[index].level || (mine[i / 64] >> i % 64 & 1)) continue;
        if (!depends(&records[index], &records[i])) continue;
        building->after[count++] = building->nodes[i];
        const uint64_t *its = building->before + (size_t)i * building->words;
        for (size_t word = 0; word < building->words; word++) mine[word] |= its[word];
        mine[i / 64] |= UINT64_C(1) << i % 64;
    }
    return count;
}

static cuda_result add_edges(struct building *building, struct cuda_graph_node *node, size_t count)
{
    static const struct cuda_edge programmatic = {.from_port = CUDA_PORT_PROGRAMMATIC,
                                                  .type = CUDA_DEPENDS_PROGRAMMATIC};
    cuda_result code = CUDA_OK;
    for (size_t i = 0; i < count && code == CUDA_OK; i++)
        code = building->list->device->cuda->graph_add_edges(building->graph, &building->after[i], &node, &programmatic,
                                                             1);
    return code;
}

// Whether no other kernel comes between the same barriers.
static bool is_alone(const struct gpu_list *list, int index)
{
    int level = list->records[index].level;
    return (index == 0 || list->records[index - 1].level != level) &&
           (index == list->count - 1 || list->records[index + 1].level != level);
}

// The dynamic shared memory of a kernel's launch. A kernel that starts early finds compute units idle on which the one
// before it has no group, and would put two or more of its own there while others have one. So one that could have a
// unit for each group is given more than half of a unit's memory. On an H200 MobileNet v1 takes 112 us for 117, hand
// landmarks 151 for 165, pose landmarks 253 for 260, others as long as before. Where kernels run side by side, as in
// SSD and face detection, such memory keeps them apart, and is slower.
static unsigned shared_of(const struct gpu_list *list, int index)
{
    const struct record *record = &list->records[index];
    const struct gpu_program *program = record->program;
    uint64_t groups = (uint64_t)record->groups[0] * record->groups[1] * record->groups[2];
    bool is_lone = groups <= (uint64_t)list->device->base.caps.compute_units && is_alone(list, index);
    return is_lone && program->lone_shared ? program->lone_shared : program->dynamic_shared;
}

static bool add_node(struct building *building, int index)
{
    struct gpu_device *device = building->list->device;
    struct record *record = &building->list->records[index];
    const struct gpu_program *program = record->program;
    void *arguments[GPU_MAX_BUFFERS + 1];
    fill_arguments(record, arguments);
    struct cuda_kernel_node kernel = {
        .function = program->function,
        .shared_bytes = shared_of(building->list, index),
        .params = arguments,
    };
    for (int i = 0; i < 3; i++) {
        kernel.grid[i] = record->groups[i];
        kernel.block[i] = (unsigned)program->group[i];
    }
    size_t count = find_dependencies(building, index);
    cuda_result code = device->cuda->graph_add_kernel(&building->nodes[index], building->graph, building->after,
                                                      device->overlaps ? 0 : count, &kernel);
    if (!gpu_cuda_succeeded(device, code, "cuGraphAddKernelNode", program->name)) return false;
    if (!device->overlaps) return true;
    return gpu_cuda_succeeded(device, add_edges(building, building->nodes[index], count), "cuGraphAddDependencies",
                              program->name);
}

static bool build(struct building *building)
{
    struct gpu_list *list = building->list;
    struct gpu_device *device = list->device;
    cuda_result code = device->cuda->graph_create(&building->graph, 0);
    if (code != CUDA_OK) building->graph = NULL;
    if (!gpu_cuda_succeeded(device, code, "cuGraphCreate", "a command list")) return false;
    for (int i = 0; i < list->count; i++)
        if (!add_node(building, i)) return false;
    code = device->cuda->graph_instantiate(&list->exec, building->graph, 0);
    if (code != CUDA_OK) list->exec = NULL;
    return gpu_cuda_succeeded(device, code, "cuGraphInstantiate", "a command list");
}

bool gpu_cuda_list_finish(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    size_t count = (size_t)list->count, bits;
    if (!gpu_device_is_alive(&device->base, "end a command list")) return false;
    if (count == 0) return true;
    struct building building = {.list = list, .words = (count + 63) / 64};
    if (hl_mul_size(count, building.words, &bits)) building.before = calloc(bits, sizeof *building.before);
    building.nodes = calloc(count, sizeof(struct cuda_graph_node *));
    building.after = calloc(count, sizeof(struct cuda_graph_node *));
    bool ok = building.before && building.nodes && building.after;
    if (!ok) gpu_device_no_memory(&device->base, "a command list");
    if (ok && (ok = gpu_cuda_enter(device, "end a command list"))) {
        ok = build(&building);
        if (building.graph) device->cuda->graph_destroy(building.graph);
        gpu_cuda_leave(device);
    }
    free(building.before);
    free(building.nodes);
    free(building.after);
    return ok;
}

// ---- running --------------------------------------------------------------------------------------------------------

bool gpu_cuda_list_run(struct gpu_list *list)
{
    struct gpu_device *device = list->device;
    if (!gpu_cuda_enter(device, "run")) return false;
    cuda_result code = CUDA_OK;
    if (list->exec) {
        device->is_busy = true;
        code = device->cuda->graph_launch(list->exec, device->stream);
    }
    bool ok =
        gpu_cuda_succeeded(device, code, "cuGraphLaunch", "running a command list") && gpu_cuda_await_sent(device);
    gpu_cuda_leave(device);
    return ok;
}

bool gpu_cuda_list_wait(struct gpu_list *list)
{
    if (!gpu_cuda_enter(list->device, "wait for a run")) return false;
    bool ok = gpu_cuda_finish(list->device);
    gpu_cuda_leave(list->device);
    return ok;
}

// ---- profiling ------------------------------------------------------------------------------------------------------

// Launches the kernels one after the other with events between them. False after a message.
static bool run_timed(struct gpu_list *list, struct cuda_event **events)
{
    struct gpu_device *device = list->device;
    const struct cuda_api *cuda = device->cuda;
    device->is_busy = true;
    for (int i = 0; i <= list->count; i++) {
        if (!gpu_cuda_succeeded(device, cuda->event_record(events[i], device->stream), "cuEventRecord", "profiling"))
            return false;
        if (i == list->count) break;
        struct record *record = &list->records[i];
        const int *group = record->program->group;
        void *arguments[GPU_MAX_BUFFERS + 1];
        fill_arguments(record, arguments);
        cuda_result code = cuda->launch(record->program->function, record->groups[0], record->groups[1],
                                        record->groups[2], (unsigned)group[0], (unsigned)group[1], (unsigned)group[2],
                                        record->program->dynamic_shared, device->stream, arguments, NULL);
        if (!gpu_cuda_succeeded(device, code, "cuLaunchKernel", record->program->name)) return false;
    }
    return gpu_cuda_finish(device);
}

static bool profile(struct gpu_list *list, struct cuda_event **events, uint64_t *nanoseconds)
{
    struct gpu_device *device = list->device;
    for (int i = 0; i <= list->count; i++) {
        cuda_result code = device->cuda->event_create(&events[i], CUDA_EVENT_DEFAULT);
        if (code != CUDA_OK) events[i] = NULL;
        if (!gpu_cuda_succeeded(device, code, "cuEventCreate", "profiling")) return false;
    }
    if (!run_timed(list, events)) return false;
    for (int i = 0; i < list->count; i++) {
        float milliseconds = 0;
        cuda_result code = device->cuda->event_elapsed(&milliseconds, events[i], events[i + 1]);
        if (!gpu_cuda_succeeded(device, code, "cuEventElapsedTime", "profiling")) return false;
        nanoseconds[i] = milliseconds > 0 ? (uint64_t)((double)milliseconds * 1e6) : 0;
    }
    return true;
}

bool gpu_cuda_list_profile(struct gpu_list *list, uint64_t *nanoseconds, int count)
{
    struct gpu_device *device = list->device;
    if (count != list->count)
        return gpu_device_fail(&device->base, "a profile of %d dispatches, but the list has %d", count, list->count);
    struct cuda_event **events = calloc((size_t)count + 1, sizeof(struct cuda_event *));
    if (!events) return gpu_device_no_memory(&device->base, "a profile");
    bool ok = gpu_cuda_enter(device, "profile");
    if (ok) {
        ok = profile(list, events, nanoseconds);
        for (int i = 0; i <= count; i++)
            if (events[i]) device->cuda->event_destroy(events[i]);
        gpu_cuda_leave(device);
    }
    free(events);
    return ok;
}
