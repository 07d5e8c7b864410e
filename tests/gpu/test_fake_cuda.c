// SPDX-License-Identifier: Apache-2.0
// The CUDA backend before a fake of the driver and of NVRTC (tests/fakes/cuda): calls that fail, a device that is lost,
// which kernels of a list wait for which, machine code of earlier processes, memory that host and device share. Without
// the fake it is skipped.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/library.h"
#include "gpu/backend/devices.h"
#include "gpu/backend_bench.h"
#include "support/messages.h"
#include "support/random.h"

enum { SKIPPED = 77 };

#if defined(HALITE_GPU_CUDA)
static struct {
    void (*reset)(void);
    void (*set)(const char *knob, long long value);
    long long (*get)(const char *knob);
} fake;

// Without the fake there is nothing to test.
static bool find_fake(void)
{
    const char *path = getenv("HALITE_CUDA_LIBRARY");
    struct hl_library *library = path ? hl_library_open(path) : NULL;
    if (library && hl_library_find(library, "fakeCuda_reset", &fake.reset, sizeof fake.reset) &&
        hl_library_find(library, "fakeCuda_set", &fake.set, sizeof fake.set) &&
        hl_library_find(library, "fakeCuda_get", &fake.get, sizeof fake.get))
        return gpu_backend_cuda.count(NULL) > 0;
    print_message("skipped: HALITE_CUDA_LIBRARY names no fake\n");
    return false;
}

static void begin_with_fake(void)
{
    assert_int_equal(fake.get("live"), 0);
    assert_int_equal(fake.get("complaints"), 0);
    fake.reset();
}

static void end_with_fake(const struct messages *messages)
{
    assert_int_equal(messages->count, 0);
    assert_int_equal(fake.get("live"), 0);
    assert_int_equal(fake.get("complaints"), 0);
}

static struct bench open_fake(struct messages *messages)
{
    struct bench bench = {.backend = &gpu_backend_cuda, .api = "CUDA"};
    bench.device = gpu_backend_cuda.open(0, &(struct hl_reporter){keep_message, messages});
    assert_non_null(bench.device);
    bench.arena = gpu_backend_cuda.buffer_create(bench.device, ARENA);
    assert_non_null(bench.arena);
    return bench;
}

// A call that fails ends in one message, unless there is another way (copies go without pinned memory).
static void cuda_fails_at_every_call(void **state)
{
    (void)state;
    begin_with_fake();
    static const int codes[] = {2, 719}; // no memory, a kernel that failed
    struct messages messages = {0};
    struct hl_reporter reporter = {keep_message, &messages};
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        int failed = 0;
        for (int n = 1;; n++) {
            fake.reset();
            fake.set("fail_code", codes[c]);
            fake.set("fail_at", n);
            bool ok = whole_life(&gpu_backend_cuda, &reporter, NULL);
            assert_int_equal(fake.get("live"), 0);
            assert_int_equal(fake.get("complaints"), 0);
            failed += !ok;
            if (!ok) said(&messages, "CUDA", "");
            assert_int_equal(messages.count, 0);
            assert_true(n < 200);
            if (fake.get("calls") < n) break;
        }
        assert_true(failed > 30);
    }
    fake.reset();
}

// From some call on every one fails, as after a kernel that failed, or that the system's watchdog has ended: one
// message with the reason, no call that waits for what will not come, and all of it can be deleted. A new process has a
// new context, and so has the next device here.
static void cuda_is_lost_at_every_call(void **state)
{
    (void)state;
    begin_with_fake();
    static const struct {
        int code;
        const char *name;
    } losses[] = {{702, "CUDA_ERROR_LAUNCH_TIMEOUT"}, {719, "CUDA_ERROR_LAUNCH_FAILED"}};
    struct messages messages = {0};
    struct hl_reporter reporter = {keep_message, &messages};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        int waits = 0;
        bool ok = false;
        for (int n = 1; !ok; n++) {
            fake.reset();
            fake.set("lost_code", losses[i].code);
            fake.set("lost_at", n);
            ok = whole_life(&gpu_backend_cuda, &reporter, NULL);
            waits += !ok && strstr(messages.last, "the device is lost") && strstr(messages.last, losses[i].name);
            if (!ok) said(&messages, "CUDA", "");
            assert_int_equal(messages.count, 0);
            assert_int_equal(fake.get("complaints"), 0);
            fake.set("lost_at", 0);
            assert_true(n < 200);
        }
        assert_true(waits > 20);
        fake.reset();
        assert_true(whole_life(&gpu_backend_cuda, &reporter, NULL));
        assert_int_equal(messages.count, 0);
    }
}

static void cuda_lost_stays_lost(void **state)
{
    (void)state;
    begin_with_fake();
    struct messages messages = {0};
    struct bench bench = open_fake(&messages);
    const struct gpu_backend *backend = bench.backend;
    unsigned char bytes[16] = {0};
    struct gpu_program *program = make_program(&bench, &bench_copy, GPU_F32, 0, NULL);
    struct gpu_list *list = backend->list_create(bench.device);
    assert_true(program && list);
    struct gpu_dispatch dispatch = over_places(bench.arena, program, &bench_copy, 2, (int[]){0, 1});
    assert_true(backend->list_dispatch(list, &dispatch) && backend->list_finish(list) && backend->list_run(list));
    fake.set("lost", 1);
    assert_false(backend->list_wait(list));
    said(&messages, "CUDA_ERROR_LAUNCH_FAILED", "the device is lost");
    fake.set("lost", 0); // it must not try again
    long long calls = fake.get("calls");
    assert_false(backend->list_run(list));
    said(&messages, "cannot run", "lost earlier");
    assert_false(backend->list_wait(list));
    said(&messages, "cannot wait", "lost earlier");
    assert_false(backend->buffer_write(bench.device, bench.arena, 0, bytes, 16));
    said(&messages, "cannot write", "lost earlier");
    assert_false(backend->buffer_read(bench.device, bench.arena, 0, bytes, 16));
    said(&messages, "cannot read", "lost earlier");
    assert_null(backend->buffer_create(bench.device, 16));
    said(&messages, "cannot create", "lost earlier");
    assert_null(make_program(&bench, &bench_copy, GPU_F32, 0, NULL));
    said(&messages, "cannot compile", "lost earlier");
    assert_null(backend->list_create(bench.device));
    said(&messages, "cannot create", "lost earlier");
    assert_int_equal(fake.get("calls"), calls);
    backend->list_destroy(list);
    backend->program_destroy(bench.device, program);
    backend->buffer_destroy(bench.device, bench.arena);
    backend->close(bench.device);
    end_with_fake(&messages);
}

// A stream that never ends: one message when the time is over, no call that would wait for it, and everything can be
// deleted. What the device may still be using is left to the driver.
static void cuda_gives_a_hang_up(void **state)
{
    (void)state;
    begin_with_fake();
    static unsigned char bytes[5 << 20]; // more than is staged
    for (int waits = 0; waits < 4; waits++) {
        struct messages messages = {0};
        struct bench bench = open_fake(&messages);
        const struct gpu_backend *backend = bench.backend;
        struct gpu_buffer *large = backend->buffer_create(bench.device, sizeof bytes);
        struct gpu_program *program = make_program(&bench, &bench_copy, GPU_F32, 0, NULL);
        struct gpu_list *list = backend->list_create(bench.device);
        assert_true(large && program && list);
        struct gpu_dispatch dispatch = over_places(bench.arena, program, &bench_copy, 2, (int[]){0, 1});
        assert_true(backend->list_dispatch(list, &dispatch) && backend->list_finish(list) && backend->list_run(list));
        backend->set_wait_limit(bench.device, 1000);
        fake.set("hangs", 1);
        if (waits == 0) assert_false(backend->list_wait(list));
        if (waits == 1) assert_false(backend->buffer_read(bench.device, bench.arena, 0, bytes, 16));
        if (waits == 2) assert_false(backend->buffer_read(bench.device, large, 0, bytes, sizeof bytes));
        if (waits == 3) backend->buffer_destroy(bench.device, large);
        said(&messages, "a run has not ended in 1e-06 s", "the device is lost");
        assert_false(backend->list_run(list));
        said(&messages, "cannot run", "lost earlier");
        backend->list_destroy(list);
        backend->program_destroy(bench.device, program);
        if (waits < 3) backend->buffer_destroy(bench.device, large);
        backend->buffer_destroy(bench.device, bench.arena);
        backend->close(bench.device);
        assert_int_equal(messages.count, 0);
        assert_true(fake.get("live") > 0);
        assert_int_equal(fake.get("complaints"), 0);
        fake.reset();
    }
}

// 0 and 1 are added to 2, which two copies read, whose sum is written to 1: the graph is a diamond and not a chain, and
// what the last one overwrites needs no further edge. The fake runs it in the order that is the least likely to be
// right.
static void run_diamond(int capability, int units)
{
    struct messages messages = {0};
    fake.set("capability", capability);
    fake.set("multiprocessors", units);
    struct bench bench = open_fake(&messages);
    const struct gpu_backend *backend = bench.backend;
    struct gpu_buffer *more = backend->buffer_create(bench.device, ARENA);
    struct gpu_program *adder = make_program(&bench, &bench_add, GPU_F32, 0, NULL),
                       *copier = make_program(&bench, &bench_copy, GPU_F32, 0, NULL);
    struct gpu_list *list = backend->list_create(bench.device);
    assert_true(more && adder && copier && list);
    struct gpu_dispatch sum = over_places(bench.arena, adder, &bench_add, 3, (int[]){0, 1, 2});
    struct gpu_dispatch left = over_places(bench.arena, copier, &bench_copy, 2, (int[]){2, 3});
    struct gpu_dispatch right = over_places(bench.arena, copier, &bench_copy, 2, (int[]){2, 0});
    struct gpu_dispatch last = over_places(bench.arena, adder, &bench_add, 3, (int[]){3, 0, 1});
    right.buffers[1] = last.buffers[1] = more;
    assert_true(backend->list_dispatch(list, &sum) && backend->list_barrier(list));
    assert_true(backend->list_dispatch(list, &left) && backend->list_dispatch(list, &right));
    assert_true(backend->list_barrier(list) && backend->list_dispatch(list, &last) && backend->list_finish(list));
    assert_int_equal(fake.get("edges"), 4);
    assert_int_equal(fake.get("overlapping"), capability >= 90 ? 4 : 0);
    // The first and the last have groups for no more than all units, and nothing runs beside them.
    assert_int_equal(fake.get("lone"), capability >= 90 && units > 0 ? 2 : 0);
    float a[FLOATS], b[FLOATS], y[FLOATS];
    for (int i = 0; i < FLOATS; i++) a[i] = (float)i, b[i] = 3;
    write_place(&bench, 0, a, sizeof a);
    write_place(&bench, 1, b, sizeof b);
    assert_true(backend->list_run(list));
    read_place(&bench, 1, y, sizeof y);
    for (int i = 0; i < FLOATS; i++) assert_true(y[i] == 2 * ((float)i + 3));
    assert_int_equal(fake.get("launches"), 4);
    backend->list_destroy(list);
    backend->program_destroy(bench.device, adder);
    backend->program_destroy(bench.device, copier);
    backend->buffer_destroy(bench.device, more);
    backend->buffer_destroy(bench.device, bench.arena);
    backend->close(bench.device);
    end_with_fake(&messages);
    fake.reset();
}

static void cuda_branches_have_no_order(void **state)
{
    (void)state;
    begin_with_fake();
    run_diamond(90, 16);
    run_diamond(90, 0);
    run_diamond(75, 16);
}

// Machine code of an earlier process is not compiled again, unless the driver refuses it.
static void cuda_programs_are_kept(void **state)
{
    (void)state;
    begin_with_fake();
    void *bytes = NULL, *again = NULL;
    size_t size, other_size;
    static const int compiled[] = {1, 0, 1}; // without a cache, with it, with one that does not load
    for (int i = 0; i < 3; i++) {
        struct messages messages = {0};
        fake.reset();
        struct bench bench = open_fake(&messages);
        assert_true(bench.backend->cache_load(bench.device, bytes, bytes ? size : 0));
        fake.set("refuse_binaries", i == 2);
        struct gpu_program *program = make_program(&bench, &bench_copy, GPU_F32, 0, NULL);
        assert_non_null(program);
        assert_int_equal(fake.get("compiled"), compiled[i]);
        assert_true(bench.backend->cache_save(bench.device, &again, &other_size));
        assert_int_equal(again != NULL, compiled[i]); // nothing new: nothing to write
        if (i == 0) {
            bytes = again;
            size = other_size;
        } else {
            free(again);
        }
        bench.backend->program_destroy(bench.device, program);
        bench.backend->buffer_destroy(bench.device, bench.arena);
        bench.backend->close(bench.device);
        end_with_fake(&messages);
    }
    free(bytes);
}

// Memory of the host that kernels use: what the host writes while they run must not reach them.
static void cuda_shares_memory_with_the_host(void **state)
{
    (void)state;
    begin_with_fake();
    struct messages messages = {0};
    struct bench bench = open_fake(&messages);
    const struct gpu_backend *backend = bench.backend;
    struct gpu_buffer *from = backend->buffer_create_for_host(bench.device, PLACE, true);
    struct gpu_buffer *to = backend->buffer_create_for_host(bench.device, PLACE, false);
    struct gpu_program *program = make_program(&bench, &bench_copy, GPU_F32, 0, NULL);
    struct gpu_list *list = backend->list_create(bench.device);
    assert_true(from && to && program && list);
    struct gpu_dispatch dispatch = over_places(from, program, &bench_copy, 2, (int[]){0, 0});
    dispatch.buffers[1] = to;
    assert_true(backend->list_dispatch(list, &dispatch) && backend->list_finish(list));
    float x[FLOATS], y[FLOATS];
    for (int i = 0; i < FLOATS; i++) x[i] = (float)i;
    assert_true(backend->buffer_write(bench.device, from, 0, x, sizeof x));
    assert_true(backend->list_run(list));
    for (int i = 0; i < FLOATS; i++) x[i] = -1;
    assert_true(backend->buffer_write(bench.device, from, 0, x, sizeof x)); // for the next run
    assert_true(backend->buffer_read(bench.device, to, 0, y, sizeof y));
    for (int i = 0; i < FLOATS; i++) assert_true(y[i] == (float)i);
    assert_true(backend->list_run(list));
    assert_true(backend->buffer_read(bench.device, to, 0, y, sizeof y));
    for (int i = 0; i < FLOATS; i++) assert_true(y[i] == -1);
    backend->list_destroy(list);
    backend->program_destroy(bench.device, program);
    backend->buffer_destroy(bench.device, from);
    backend->buffer_destroy(bench.device, to);
    backend->buffer_destroy(bench.device, bench.arena);
    backend->close(bench.device);
    end_with_fake(&messages);
}

// ---- large copies ---------------------------------------------------------------------------------------------------

enum { LARGE = 11 << 20 }; // more than is staged at a time

static void fill(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)pick(256);
}

// Chunks arrive one by one in the fake, and one that is sent too early overwrites what nobody has read yet.
static void cuda_copies_large_ranges(void **state)
{
    (void)state;
    begin_with_fake();
    static const size_t sizes[] = {1,       (1 << 20) + 1, (2 << 20) - 1, 2 << 20,       (3 << 20) + 5,
                                   4 << 20, (4 << 20) + 1, 5548116,       (8 << 20) + 3, LARGE};
    static unsigned char from[LARGE], to[LARGE];
    struct messages messages = {0};
    struct bench bench = open_fake(&messages);
    const struct gpu_backend *backend = bench.backend;
    struct gpu_buffer *buffer = backend->buffer_create(bench.device, LARGE);
    assert_non_null(buffer);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i], offset = (LARGE - bytes) / 2;
        fill(from, bytes);
        assert_true(backend->buffer_write(bench.device, buffer, offset, from, bytes));
        memset(to, 0, bytes);
        assert_true(backend->buffer_read(bench.device, buffer, offset, to, bytes));
        assert_memory_equal(to, from, bytes);
        // A small write before it takes a part of the staging memory, and its bytes are the later ones.
        assert_true(backend->buffer_write(bench.device, buffer, offset, from, bytes));
        unsigned char other = (unsigned char)(from[0] + 1);
        assert_true(backend->buffer_write(bench.device, buffer, offset, &other, 1));
        assert_true(backend->buffer_write(bench.device, buffer, 0, from, bytes));
        assert_true(backend->buffer_read(bench.device, buffer, 0, to, bytes));
        assert_memory_equal(to, from, bytes);
        assert_true(backend->buffer_read(bench.device, buffer, offset, to, 1));
        assert_int_equal(to[0], offset < bytes ? from[offset] : other);
    }
    backend->buffer_destroy(bench.device, buffer);
    backend->buffer_destroy(bench.device, bench.arena);
    backend->close(bench.device);
    end_with_fake(&messages);
}

// Without pinned memory or events copies are right as well; where they fail there is one message.
static void cuda_large_copies_fail_at_every_call(void **state)
{
    (void)state;
    begin_with_fake();
    enum { BYTES = 6 << 20 };
    static unsigned char from[BYTES], to[BYTES];
    fill(from, BYTES);
    int failed = 0, right = 0;
    for (int n = 1;; n++) {
        struct messages messages = {0};
        struct bench bench = open_fake(&messages);
        const struct gpu_backend *backend = bench.backend;
        struct gpu_buffer *buffer = backend->buffer_create(bench.device, BYTES);
        assert_non_null(buffer);
        long long before = fake.get("calls");
        memset(to, 0, BYTES);
        fake.set("fail_at", before + n);
        bool ok = backend->buffer_write(bench.device, buffer, 0, from, BYTES) &&
                  backend->buffer_read(bench.device, buffer, 0, to, BYTES);
        bool all = fake.get("calls") < before + n;
        if (ok) assert_memory_equal(to, from, BYTES);
        if (!ok) said(&messages, "CUDA", "");
        failed += !ok;
        right += ok;
        fake.set("fail_at", 0);
        backend->buffer_destroy(bench.device, buffer);
        backend->buffer_destroy(bench.device, bench.arena);
        backend->close(bench.device);
        end_with_fake(&messages);
        assert_true(n < 100);
        if (all) break;
    }
    assert_true(failed > 15 && right > 5); // without events or pinned memory there is another way
}

// ---- inputs in the card ---------------------------------------------------------------------------------------------

#if defined(HALITE_GPU_VULKAN)
enum { INPUT = 600 << 10 };

// An input, written before and during a run, and read back; the fake has it at other addresses than the host.
static void run_with_input(struct bench *bench, struct gpu_buffer *from)
{
    const struct gpu_backend *backend = bench->backend;
    static unsigned char bytes[INPUT], back[INPUT];
    struct gpu_program *program = make_program(bench, &bench_copy, GPU_F32, 0, NULL);
    struct gpu_list *list = backend->list_create(bench->device);
    assert_true(program && list);
    struct gpu_dispatch dispatch = over_places(from, program, &bench_copy, 2, (int[]){0, 1});
    dispatch.buffers[1] = bench->arena;
    assert_true(backend->list_dispatch(list, &dispatch) && backend->list_finish(list));
    float x[FLOATS], y[FLOATS];
    fill(bytes, INPUT);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < FLOATS; i++) x[i] = (float)(i + turn);
        memcpy(bytes, x, sizeof x);
        assert_true(backend->buffer_write(bench->device, from, 0, bytes, INPUT));
        assert_true(backend->list_run(list));
        for (int i = 0; i < FLOATS; i++) x[i] = -1;
        assert_true(backend->buffer_write(bench->device, from, 0, x, sizeof x)); // the run must not see it
        read_place(bench, 1, y, sizeof y);
        for (int i = 0; i < FLOATS; i++) assert_true(y[i] == (float)(i + turn));
        assert_true(backend->buffer_read(bench->device, from, 0, back, INPUT));
        assert_memory_equal(back, x, sizeof x);
        assert_memory_equal(back + sizeof x, bytes + sizeof x, INPUT - sizeof x);
    }
    backend->list_destroy(list);
    backend->program_destroy(bench->device, program);
}

// Copies a tensor's memory to the card and back to another's with the calls of a run. False after a message.
static bool send_and_read(const struct bench *bench, struct gpu_list *list, struct gpu_buffer *buffer,
                          const struct gpu_lent *from, struct gpu_lent *to, size_t bytes)
{
    const struct gpu_backend *backend = bench->backend;
    fill(from->memory, bytes);
    memset(to->memory, 0, bytes);
    bool ok = backend->buffer_send(bench->device, buffer, 0, from->memory, bytes) && backend->list_run(list);
    unsigned char *first = from->memory, kept = *first;
    *first = (unsigned char)(kept + 1); // what was sent may change now
    ok = ok && backend->buffer_read(bench->device, buffer, 0, to->memory, bytes);
    *first = kept;
    return ok;
}

// Where there is no pinned memory nothing is lent, where there are no events copies take another way, and where they
// fail there is one message. A run that never ends keeps the memory, because it may still be written.
static void cuda_lends_memory(void **state)
{
    (void)state;
    begin_with_fake();
    enum { BYTES = 2 << 20 };
    int failed = 0, right = 0, refused = 0;
    for (int n = 1;; n++) {
        struct messages messages = {0};
        struct bench bench = open_fake(&messages);
        const struct gpu_backend *backend = bench.backend;
        struct gpu_buffer *buffer = backend->buffer_create(bench.device, BYTES);
        struct gpu_list *list = backend->list_create(bench.device);
        assert_true(buffer && list && backend->list_finish(list));
        assert_null(backend->lend(bench.device, buffer, 256, true));
        assert_null(backend->lend(bench.device, buffer, 256, false));
        long long before = fake.get("calls");
        fake.set("fail_at", before + n);
        struct gpu_lent *from = backend->lend(bench.device, buffer, BYTES, true),
                        *to = backend->lend(bench.device, buffer, BYTES, false);
        bool both = from && to, ok = both && send_and_read(&bench, list, buffer, from, to, BYTES);
        bool all = fake.get("calls") < before + n;
        if (ok) assert_memory_equal(to->memory, from->memory, BYTES);
        if (both && !ok) said(&messages, "CUDA", "");
        refused += !both;
        failed += both && !ok;
        right += ok;
        fake.set("fail_at", 0);
        if (from) backend->take_back(bench.device, from);
        if (to) backend->take_back(bench.device, to);
        backend->list_destroy(list);
        backend->buffer_destroy(bench.device, buffer);
        backend->buffer_destroy(bench.device, bench.arena);
        backend->close(bench.device);
        end_with_fake(&messages);
        fake.reset();
        if (all) break;
        assert_true(n < 100);
    }
    assert_true(refused >= 2 && failed >= 4 && right >= 2);
}

static void cuda_leaves_lent_memory_to_a_hang(void **state)
{
    (void)state;
    begin_with_fake();
    enum { BYTES = 2 << 20 };
    struct messages messages = {0};
    struct bench bench = open_fake(&messages);
    const struct gpu_backend *backend = bench.backend;
    struct gpu_buffer *buffer = backend->buffer_create(bench.device, BYTES);
    struct gpu_lent *to = buffer ? backend->lend(bench.device, buffer, BYTES, false) : NULL;
    assert_non_null(to);
    backend->set_wait_limit(bench.device, 1000);
    fake.set("hangs", 1);
    assert_false(backend->buffer_read(bench.device, buffer, 0, to->memory, BYTES));
    said(&messages, "a run has not ended in 1e-06 s", "the device is lost");
    unsigned char *memory = to->memory;
    backend->take_back(bench.device, to);
    memory[0] = 1; // it is still there
    backend->buffer_destroy(bench.device, buffer);
    backend->buffer_destroy(bench.device, bench.arena);
    backend->close(bench.device);
    assert_int_equal(messages.count, 0);
    assert_int_equal(fake.get("complaints"), 0);
    fake.reset();
}

static void cuda_inputs_are_written_into_the_card(void **state)
{
    (void)state;
    begin_with_fake();
    static const int imports[] = {0, 1, 0}; // by what Vulkan has of the card
    for (int card = 0; card < 3; card++) {
        struct messages messages = {0};
        fake.reset();
        fake.set("card", card);
        struct bench bench = open_fake(&messages);
        const struct gpu_backend *backend = bench.backend;
        struct gpu_buffer *small = backend->buffer_create_for_host(bench.device, 4096, true);
        struct gpu_buffer *output = backend->buffer_create_for_host(bench.device, INPUT, false);
        assert_true(small && output);
        assert_int_equal(fake.get("imports"), 0);
        struct gpu_buffer *input = backend->buffer_create_for_host(bench.device, INPUT, true);
        assert_non_null(input);
        assert_int_equal(fake.get("imports"), imports[card]);
        run_with_input(&bench, input);
        struct gpu_buffer *other = backend->buffer_create_for_host(bench.device, INPUT, true);
        assert_int_equal(fake.get("imports"), 2 * imports[card]);
        backend->buffer_destroy(bench.device, input);
        run_with_input(&bench, other);
        backend->buffer_destroy(bench.device, other);
        backend->buffer_destroy(bench.device, small);
        backend->buffer_destroy(bench.device, output);
        backend->buffer_destroy(bench.device, bench.arena);
        backend->close(bench.device);
        end_with_fake(&messages);
    }
    fake.reset();
}

// Whichever call fails: the input lies in other memory, nobody hears of it, and nothing is left.
static void cuda_goes_without_the_card(void **state)
{
    (void)state;
    begin_with_fake();
    int without = 0;
    for (int n = 1;; n++) {
        struct messages messages = {0};
        fake.reset();
        struct bench bench = open_fake(&messages);
        long long before = fake.get("calls");
        fake.set("fail_at", before + n);
        struct gpu_buffer *input = bench.backend->buffer_create_for_host(bench.device, INPUT, true);
        assert_non_null(input);
        bool all = fake.get("calls") < before + n;
        fake.set("fail_at", 0);
        without += fake.get("calls") > before + n;
        run_with_input(&bench, input);
        bench.backend->buffer_destroy(bench.device, input);
        bench.backend->buffer_destroy(bench.device, bench.arena);
        bench.backend->close(bench.device);
        end_with_fake(&messages);
        assert_true(n < 30);
        if (all) break;
    }
    assert_int_equal(without, 9); // UUID, extensions (asked twice), device, memory, map, descriptor, import, mapping
    fake.reset();
}

// A run that does not end may still read the input: its memory stays, and the Vulkan device with it.
static void cuda_leaves_the_card_to_a_hang(void **state)
{
    (void)state;
    begin_with_fake();
    struct messages messages = {0};
    struct bench bench = open_fake(&messages);
    const struct gpu_backend *backend = bench.backend;
    struct gpu_buffer *input = backend->buffer_create_for_host(bench.device, INPUT, true);
    assert_non_null(input);
    backend->set_wait_limit(bench.device, 1000);
    fake.set("hangs", 1);
    backend->buffer_destroy(bench.device, input);
    said(&messages, "a run has not ended in 1e-06 s", "the device is lost");
    backend->buffer_destroy(bench.device, bench.arena);
    backend->close(bench.device);
    assert_int_equal(messages.count, 0);
    assert_int_equal(fake.get("complaints"), 0);
    assert_true(fake.get("live") > 4); // memory, mapping, import and device, beside the rest
    fake.reset();
}

// Opened before any test lets a call fail: it stays open.
static bool has_vulkan(void)
{
    return gpu_backend_vulkan.count(NULL) == 1;
}
#endif

#if defined(HALITE_GPU_VULKAN)
// One card by both APIs: runs that go on are worth CUDA's start.
static void automatic_device(void **state)
{
    (void)state;
    struct messages messages = {.count = 0};
    struct hl_reporter reporter = {keep_message, &messages};
    struct gpu_device_info info;
    begin_with_fake();
    assert_true(gpu_device_choose("auto", "", false, &reporter, &info));
    assert_string_equal(info.text, "vulkan:0");
    assert_true(gpu_device_choose("auto", "", true, &reporter, &info));
    assert_string_equal(info.text, "cuda:0");
    assert_non_null(strstr(info.why, "before vulkan:0, since its API starts kernels faster"));
    assert_true(gpu_device_choose("auto", "vulkan", true, &reporter, &info));
    assert_string_equal(info.text, "vulkan:0");
    end_with_fake(&messages);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuda_fails_at_every_call),
        cmocka_unit_test(cuda_is_lost_at_every_call),
        cmocka_unit_test(cuda_lost_stays_lost),
        cmocka_unit_test(cuda_branches_have_no_order),
        cmocka_unit_test(cuda_programs_are_kept),
        cmocka_unit_test(cuda_shares_memory_with_the_host),
        cmocka_unit_test(cuda_copies_large_ranges),
        cmocka_unit_test(cuda_large_copies_fail_at_every_call),
        cmocka_unit_test(cuda_lends_memory),
#if defined(HALITE_GPU_VULKAN)
        cmocka_unit_test(cuda_inputs_are_written_into_the_card),
        cmocka_unit_test(cuda_goes_without_the_card),
        cmocka_unit_test(cuda_leaves_the_card_to_a_hang),
        cmocka_unit_test(automatic_device),
#endif
        cmocka_unit_test(cuda_leaves_lent_memory_to_a_hang),
        cmocka_unit_test(cuda_gives_a_hang_up),
    };
#if defined(HALITE_GPU_VULKAN)
    if (find_fake()) assert_true(has_vulkan());
#endif
    return find_fake() ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
#else
int main(void)
{
    return SKIPPED; // no part of this build
}
#endif
