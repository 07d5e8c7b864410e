// SPDX-License-Identifier: Apache-2.0
// The backend that runs nothing. In: what every backend gets. Out: the same as text, one line per call. Unlike the
// other backends it does not trust its callers: it checks what backend.h demands (barriers, offsets, numbers of
// arguments) and refuses violations with a message. Buffers are host memory with zeros or what was written; kernels
// change nothing.
#include "gpu/backend/null.h"

#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/text.h"
#include "gpu/backend/program_cache.h"
#include "gpu/lang/kernel.h"

enum { OFFSET_MULTIPLE = 256 };

struct gpu_device {
    struct gpu_caps caps;
    struct hl_reporter reporter;
    struct hl_text text;
    int calls, fail_at, lose_at; // the number of the call that fails, or that loses the device; 0: none
    int buffers, lists;          // the numbers of the next ones
    int alive;                   // live objects of this device
    bool lost;
    struct gpu_program_cache program_cache; // the lines of programs, by their hash
};

struct gpu_buffer {
    int number;
    size_t bytes;
    unsigned char *data;
};

struct gpu_program {
    const struct gpu_kernel *kernel;
    int group[3];
};

// A range that a dispatch since the last barrier has used.
struct touched {
    const struct gpu_buffer *buffer;
    size_t begin, end;
    bool written, part;
};

struct gpu_list {
    struct gpu_device *device;
    int number, dispatches;
    bool finished;
    struct touched *touched;
    int touched_count, touched_capacity;
};

// ---- counts, text, failures -----------------------------------------------------------------------------------------

// One count for the process, because tests read it after the last device is closed.
static atomic_int *live_count(void)
{
    static atomic_int count;
    return &count;
}

int gpu_null_live(void)
{
    return atomic_load(live_count());
}

static void born(struct gpu_device *device)
{
    device->alive++;
    atomic_fetch_add(live_count(), 1);
}

static void gone(struct gpu_device *device)
{
    device->alive--;
    atomic_fetch_sub(live_count(), 1);
}

// Reports a message. Always false.
static bool HL_PRINTF(2, 3) refuse(const struct gpu_device *device, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hl_report(&device->reporter, "null device: %s", text);
    return false;
}

// Counts a call. False after a message if this is the call that has to fail.
static bool begin(struct gpu_device *device, const char *action)
{
    device->calls++;
    if (device->lost) return refuse(device, "cannot %s: the device was lost earlier", action);
    device->lost = device->calls == device->lose_at;
    if (device->lost) return refuse(device, "call %d (%s) fails: the device is lost", device->calls, action);
    if (device->calls != device->fail_at) return true;
    return refuse(device, "call %d (%s) fails, as it was told to", device->calls, action);
}

static bool HL_PRINTF(2, 3) put(struct gpu_device *device, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool ok = hl_text_append_va(&device->text, format, args);
    va_end(args);
    return ok || refuse(device, "out of memory for the text");
}

char *gpu_null_text(struct gpu_device *device)
{
    char *copy = malloc(device->text.length + 1);
    if (!copy) return NULL;
    if (device->text.length) memcpy(copy, device->text.data, device->text.length);
    copy[device->text.length] = '\0';
    return copy;
}

void gpu_null_clear(struct gpu_device *device)
{
    hl_text_clear(&device->text);
}

void gpu_null_fail_at(struct gpu_device *device, int n)
{
    device->fail_at = n > 0 ? device->calls + n : 0;
}

int gpu_null_calls(const struct gpu_device *device)
{
    return device->calls;
}

void gpu_null_lose(struct gpu_device *device)
{
    device->lost = true;
}

// ---- devices --------------------------------------------------------------------------------------------------------

static const struct gpu_caps caps = {
    .name = "Null",
    .driver = "records text, runs nothing",
    .vendor = GPU_VENDOR_SOFTWARE,
    .software = true,
    .half_storage = true,
    .half_math = true,
    .max_buffer = (size_t)1 << 31,
    .max_group_size = 1024,
    .max_group = {1024, 1024, 64},
    .max_groups = {INT_MAX, 65535, 65535},
    .shared_bytes = 48 * 1024,
    .compute_units = 16,
    .subgroup_size = 32,
};

static int null_count(const char **why)
{
    if (why) *why = NULL;
    return 1;
}

static bool null_describe(int index, struct gpu_caps *described)
{
    if (index == 0) *described = caps;
    return index == 0;
}

static void null_close(struct gpu_device *device)
{
    if (!device) return;
    if (device->alive > 1) refuse(device, "closed while %d of its objects are alive", device->alive - 1);
    gone(device);
    gpu_program_cache_free(&device->program_cache);
    hl_text_free(&device->text);
    free(device);
}

static struct gpu_device *null_open(int index, const struct hl_reporter *reporter)
{
    struct gpu_device *device = index == 0 ? calloc(1, sizeof *device) : NULL;
    if (!device) {
        hl_report(reporter, index == 0 ? "null device: out of memory" : "null device: there is only number 0, not %d",
                  index);
        return NULL;
    }
    device->caps = caps;
    if (reporter) device->reporter = *reporter;
    born(device);
    const char *fail = getenv("HALITE_GPU_NULL_FAIL");
    if (fail) gpu_null_fail_at(device, atoi(fail));
    const char *lose = getenv("HALITE_GPU_NULL_LOSE");
    if (lose) device->lose_at = atoi(lose);
    if (begin(device, "open")) return device;
    null_close(device);
    return NULL;
}

static const struct gpu_caps *null_caps(const struct gpu_device *device)
{
    return &device->caps;
}

// ---- buffers --------------------------------------------------------------------------------------------------------

static void null_buffer_destroy(struct gpu_device *device, struct gpu_buffer *buffer)
{
    if (!buffer) return;
    gone(device);
    free(buffer->data);
    free(buffer);
}

static struct gpu_buffer *null_buffer_create(struct gpu_device *device, size_t bytes)
{
    if (!begin(device, "create a buffer")) return NULL;
    if (bytes == 0 || bytes > device->caps.max_buffer) {
        refuse(device, "a buffer of %zu bytes: at least 1, at most %zu", bytes, device->caps.max_buffer);
        return NULL;
    }
    struct gpu_buffer *buffer = calloc(1, sizeof *buffer);
    unsigned char *data = calloc(1, bytes);
    if (buffer && data && put(device, "buffer %d: %zu bytes\n", device->buffers, bytes)) {
        *buffer = (struct gpu_buffer){.number = device->buffers++, .bytes = bytes, .data = data};
        born(device);
        return buffer;
    }
    if (!buffer || !data) refuse(device, "out of memory for a buffer of %zu bytes", bytes);
    free(buffer);
    free(data);
    return NULL;
}

static bool in_range(const struct gpu_device *device, const struct gpu_buffer *buffer, size_t offset, size_t bytes)
{
    if (offset <= buffer->bytes && bytes <= buffer->bytes - offset) return true;
    return refuse(device, "%zu bytes at %zu of buffer %d, which has %zu bytes", bytes, offset, buffer->number,
                  buffer->bytes);
}

// Every tensor gets such memory, however small it is, so that whoever tests with this backend tests that as well.
static struct gpu_lent *null_lend(struct gpu_device *device, struct gpu_buffer *buffer, size_t bytes, bool from_host)
{
    (void)from_host;
    struct gpu_lent *lent = device->lost ? NULL : calloc(1, sizeof *lent);
    void *memory = lent ? calloc(1, bytes ? bytes : 1) : NULL;
    if (!memory) {
        free(lent);
        return NULL;
    }
    *lent = (struct gpu_lent){.memory = memory, .bytes = bytes, .of = buffer};
    born(device);
    return lent;
}

static void null_take_back(struct gpu_device *device, struct gpu_lent *lent)
{
    gone(device);
    free(lent->memory);
    free(lent);
}

static bool null_buffer_write(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, const void *from,
                              size_t bytes)
{
    if (!begin(device, "write a buffer") || !in_range(device, buffer, offset, bytes)) return false;
    if (bytes) memcpy(buffer->data + offset, from, bytes);
    return put(device, "write %d@%zu+%zu\n", buffer->number, offset, bytes);
}

static bool null_buffer_read(struct gpu_device *device, struct gpu_buffer *buffer, size_t offset, void *to,
                             size_t bytes)
{
    if (!begin(device, "read a buffer") || !in_range(device, buffer, offset, bytes)) return false;
    if (bytes) memcpy(to, buffer->data + offset, bytes);
    return put(device, "read %d@%zu+%zu\n", buffer->number, offset, bytes);
}

// ---- programs -------------------------------------------------------------------------------------------------------

static void null_program_destroy(struct gpu_device *device, struct gpu_program *program)
{
    if (!program) return;
    gone(device);
    free(program);
}

static bool put_constants(struct gpu_device *device, const struct gpu_program_desc *desc)
{
    const struct gpu_kernel *kernel = desc->kernel;
    int count = gpu_kernel_constant_count(kernel), own = 0;
    while (kernel->constants && kernel->constants[own].name) own++;
    for (int i = 0; i < count; i++) {
        int value = desc->constants ? desc->constants[i] : i < own ? kernel->constants[i].value : 0;
        if (i < own ? !put(device, " %s=%d", kernel->constants[i].name, value)
                    : !put(device, " EPI_%d=%d", i - own, value))
            return false;
    }
    return true;
}

// The line from offset `begin` is a program. It ends with a mark if the cache has it, and is added to the cache if not.
static bool put_cached(struct gpu_device *device, size_t begin)
{
    const char *line = device->text.data + begin;
    size_t length = device->text.length - begin, size;
    uint64_t key = hl_hash(0, line, length);
    const void *known = gpu_program_cache_find(&device->program_cache, key, &size);
    if (known && size == length && memcmp(known, line, size) == 0) return put(device, " ; kept\n");
    char *copy = device->program_cache.open ? malloc(length) : NULL;
    if (copy) gpu_program_cache_add(&device->program_cache, key, memcpy(copy, line, length), length);
    return put(device, "\n");
}

static struct gpu_program *create_program(struct gpu_device *device, const struct gpu_program_desc *desc)
{
    static const char *const precisions[GPU_PRECISIONS] = {"f32", "f16s", "f16"};
    const int *group = desc->group;
    if (!begin(device, "create a program")) return NULL;
    for (int i = 0; i < 3; i++)
        if (group[i] < 1 || group[i] > device->caps.max_group[i] ||
            group[0] * group[1] * group[2] > device->caps.max_group_size) {
            refuse(device, "kernel %s in work-groups of [%d,%d,%d]", desc->kernel->name, group[0], group[1], group[2]);
            return NULL;
        }
    struct gpu_program *program = calloc(1, sizeof *program);
    if (!program) {
        refuse(device, "out of memory for a program");
        return NULL;
    }
    *program = (struct gpu_program){.kernel = desc->kernel, .group = {group[0], group[1], group[2]}};
    size_t begins = device->text.length;
    if (put(device, "program %s %s [%d,%d,%d]", desc->kernel->name, precisions[desc->precision], group[0], group[1],
            group[2]) &&
        (!desc->floats || put(device, " FLOATS=%u", desc->floats)) && put_constants(device, desc) &&
        put_cached(device, begins)) {
        born(device);
        return program;
    }
    free(program);
    return NULL;
}

static bool null_programs_create(struct gpu_device *device, const struct gpu_program_desc *descs, int count,
                                 struct gpu_program **programs)
{
    for (int i = 0; i < count; i++) programs[i] = NULL;
    for (int i = 0; i < count; i++)
        if (!(programs[i] = create_program(device, &descs[i]))) return false;
    return true;
}

static bool null_cache_load(struct gpu_device *device, const void *bytes, size_t size)
{
    bool ok = begin(device, "load a cache");
    if (gpu_program_cache_open(&device->program_cache, ok ? bytes : NULL, size)) return ok;
    return refuse(device, "the cached programs are not as they were written");
}

// As though it compiled at the first run, for tests.
static bool null_cache_waits(const struct gpu_device *device)
{
    return device->program_cache.open && device->program_cache.changed;
}

static bool null_cache_save(struct gpu_device *device, void **bytes, size_t *size)
{
    bool ok = begin(device, "save a cache");
    if (!gpu_program_cache_close(&device->program_cache, bytes, size))
        return refuse(device, "out of memory for a cache");
    if (ok) return true;
    free(*bytes);
    *bytes = NULL;
    return false;
}

// ---- lists ----------------------------------------------------------------------------------------------------------

static void null_list_destroy(struct gpu_list *list)
{
    if (!list) return;
    gone(list->device);
    free(list->touched);
    free(list);
}

static struct gpu_list *null_list_create(struct gpu_device *device)
{
    if (!begin(device, "create a list")) return NULL;
    struct gpu_list *list = calloc(1, sizeof *list);
    if (!list) {
        refuse(device, "out of memory for a list");
        return NULL;
    }
    *list = (struct gpu_list){.device = device, .number = device->lists++};
    born(device);
    return list;
}

static bool overlap(const struct touched *a, const struct touched *b)
{
    bool parts = a->part && b->part && a->begin == b->begin && a->end == b->end;
    return a->buffer == b->buffer && a->begin < b->end && b->begin < a->end && (a->written || b->written) && !parts;
}

// Adds the ranges that a dispatch uses. False after a message if a barrier is missing or if the dispatch writes a range
// that overlaps another of its arguments.
static bool touch(struct gpu_list *list, const struct gpu_dispatch *dispatch)
{
    struct gpu_device *device = list->device;
    const char *name = dispatch->program->kernel->name;
    int earlier = list->touched_count;
    for (int i = 0; i < dispatch->buffer_count; i++) {
        struct touched now = {
            .buffer = dispatch->buffers[i],
            .begin = dispatch->offsets[i],
            .end = dispatch->offsets[i] + dispatch->sizes[i],
            .written = dispatch->writes[i],
            .part = dispatch->part && dispatch->writes[i],
        };
        for (int k = 0; k < list->touched_count; k++) {
            if (!overlap(&list->touched[k], &now)) continue;
            list->touched_count = earlier;
            return refuse(
                device,
                k < earlier ? "kernel %s, argument %d: no barrier since buffer %d was used at %zu..%zu"
                            : "kernel %s, argument %d: what it writes overlaps another argument, buffer %d at %zu..%zu",
                name, i, now.buffer->number, now.begin, now.end);
        }
        struct touched *touched = hl_grow(list->touched, list->touched_count, &list->touched_capacity, sizeof *touched);
        if (!touched) return refuse(device, "out of memory for a list");
        list->touched = touched;
        touched[list->touched_count++] = now;
    }
    return true;
}

static bool check_counts(const struct gpu_device *device, const struct gpu_dispatch *dispatch)
{
    const struct gpu_kernel *kernel = dispatch->program->kernel;
    int buffers = gpu_kernel_arg_count(kernel) + (kernel->epilogue ? 1 : 0), params = gpu_kernel_param_count(kernel);
    if (dispatch->buffer_count != buffers)
        return refuse(device, "kernel %s has %d buffers, not %d", kernel->name, buffers, dispatch->buffer_count);
    if (dispatch->param_count != params)
        return refuse(device, "kernel %s has %d int4 params, not %d", kernel->name, params, dispatch->param_count);
    for (int i = 0; i < 3; i++)
        if (dispatch->groups[i] < 1 || dispatch->groups[i] > device->caps.max_groups[i])
            return refuse(device, "kernel %s with %d work-groups on axis %d", kernel->name, dispatch->groups[i], i);
    return true;
}

static bool check_buffers(const struct gpu_device *device, const struct gpu_dispatch *dispatch)
{
    const struct gpu_kernel *kernel = dispatch->program->kernel;
    int args = gpu_kernel_arg_count(kernel);
    for (int i = 0; i < dispatch->buffer_count; i++) {
        enum gpu_arg_kind kind = i < args ? kernel->args[i].kind : GPU_IN;
        if (!dispatch->buffers[i]) return refuse(device, "kernel %s, argument %d: no buffer", kernel->name, i);
        if (!in_range(device, dispatch->buffers[i], dispatch->offsets[i], dispatch->sizes[i])) return false;
        if (dispatch->offsets[i] % OFFSET_MULTIPLE != 0 || dispatch->sizes[i] == 0)
            return refuse(device, "kernel %s, argument %d: %zu bytes at %zu, no multiple of %d", kernel->name, i,
                          dispatch->sizes[i], dispatch->offsets[i], OFFSET_MULTIPLE);
        if (dispatch->writes[i] != gpu_arg_is_written(kind))
            return refuse(device, "kernel %s, argument %d: is declared as %s", kernel->name, i,
                          dispatch->writes[i] ? "written" : "read");
    }
    return true;
}

static bool put_dispatch(struct gpu_list *list, const struct gpu_dispatch *dispatch)
{
    struct gpu_device *device = list->device;
    const int *groups = dispatch->groups, *group = dispatch->program->group;
    bool ok = put(device, "dispatch list %d: %s [%d,%d,%d]x[%d,%d,%d]", list->number, dispatch->program->kernel->name,
                  groups[0], groups[1], groups[2], group[0], group[1], group[2]);
    for (int writes = 0; writes < 2; writes++) {
        const char *word = !writes ? " reads" : dispatch->part ? " writes part of" : " writes";
        for (int i = 0; i < dispatch->buffer_count && ok; i++) {
            if (dispatch->writes[i] != (writes == 1)) continue;
            ok = put(device, "%s %d@%zu+%zu", word, dispatch->buffers[i]->number, dispatch->offsets[i],
                     dispatch->sizes[i]);
            word = "";
        }
    }
    for (int i = 0; i < dispatch->param_count && ok; i++) {
        const int32_t *p = dispatch->params[i];
        ok = put(device, "%s %d,%d,%d,%d", i ? "" : " params", (int)p[0], (int)p[1], (int)p[2], (int)p[3]);
    }
    return ok && put(device, "%s%s\n", dispatch->label ? " ; " : "", dispatch->label ? dispatch->label : "");
}

static bool recording(const struct gpu_list *list)
{
    return !list->finished || refuse(list->device, "list %d is finished: nothing can be recorded", list->number);
}

static bool null_list_dispatch(struct gpu_list *list, const struct gpu_dispatch *dispatch)
{
    struct gpu_device *device = list->device;
    if (!begin(device, "record a dispatch") || !recording(list)) return false;
    if (!dispatch->program) return refuse(device, "a dispatch without a program");
    if (!check_counts(device, dispatch) || !check_buffers(device, dispatch) || !touch(list, dispatch)) return false;
    list->dispatches++;
    return put_dispatch(list, dispatch);
}

static bool null_list_barrier(struct gpu_list *list)
{
    if (!begin(list->device, "record a barrier") || !recording(list)) return false;
    list->touched_count = 0;
    return put(list->device, "barrier list %d\n", list->number);
}

static bool null_list_finish(struct gpu_list *list)
{
    if (!begin(list->device, "finish a list") || !recording(list)) return false;
    list->finished = true;
    return put(list->device, "finish list %d: %d dispatches\n", list->number, list->dispatches);
}

static bool finished(const struct gpu_list *list)
{
    return list->finished || refuse(list->device, "list %d is not finished", list->number);
}

static bool null_list_run(struct gpu_list *list)
{
    return begin(list->device, "run a list") && finished(list) && put(list->device, "run list %d\n", list->number);
}

static bool null_list_wait(struct gpu_list *list)
{
    return begin(list->device, "wait for a list") && finished(list) &&
           put(list->device, "wait list %d\n", list->number);
}

static bool null_list_profile(struct gpu_list *list, uint64_t *nanoseconds, int count)
{
    if (!begin(list->device, "profile a list") || !finished(list)) return false;
    if (count != list->dispatches)
        return refuse(list->device, "a profile of %d dispatches, but list %d has %d", count, list->number,
                      list->dispatches);
    for (int i = 0; i < count; i++) nanoseconds[i] = 0;
    return put(list->device, "profile list %d\n", list->number);
}

const struct gpu_backend gpu_backend_null = {
    .name = "null",
    .language = GPU_OPENCL,
    .count = null_count,
    .describe = null_describe,
    .open = null_open,
    .close = null_close,
    .caps = null_caps,
    .buffer_create = null_buffer_create,
    .buffer_destroy = null_buffer_destroy,
    .lend = null_lend,
    .take_back = null_take_back,
    .buffer_write = null_buffer_write,
    .buffer_read = null_buffer_read,
    .programs_create = null_programs_create,
    .program_destroy = null_program_destroy,
    .cache_load = null_cache_load,
    .cache_waits = null_cache_waits,
    .cache_save = null_cache_save,
    .list_create = null_list_create,
    .list_dispatch = null_list_dispatch,
    .list_barrier = null_list_barrier,
    .list_finish = null_list_finish,
    .list_run = null_list_run,
    .list_wait = null_list_wait,
    .list_profile = null_list_profile,
    .list_destroy = null_list_destroy,
};
