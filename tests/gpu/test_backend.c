// SPDX-License-Identifier: Apache-2.0
// Backends through their table of functions alone. The devices' part runs for OpenCL, OpenGL ES, Metal and CUDA, each
// on HALITE_DEVICE where that names a device of it, else on the first one (PoCL, llvmpipe and the fakes will do), and
// is skipped where there is none. The null part needs nothing.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "gpu/backend/devices.h"
#include "gpu/backend/null.h"
#include "gpu/backend_bench.h"
#include "support/messages.h"

// ---- kernels --------------------------------------------------------------------------------------------------------

// clang-format off
// Everything that a kernel can have.
static const struct gpu_kernel scale = {
    .name = "scale",
    .group = {8, 8, 1},
    .args = {{GPU_IN, "x"}, {GPU_WEIGHTS, "k"}, {GPU_OUT, "y"}},
    .params = {"factor"},
    GPU_CONSTANTS({"TIMES", 1}),
    .shared = {"float part[GROUP_X * GROUP_Y]"},
    .epilogue = true,
    .body = GPU_TEXT(
        int4 p = position();
        part[LID1 * GROUP_X + LID0] = bits_to_float(P_factor.x);
        BARRIER;
        float f = part[0];
        if (outside_y(p)) return;
        real4 v = read_x(p) * to_real(f);
        for (int i = 0; i < TIMES; i += 1) v = v + k(p.z);
        write_y(p, finish(v, p));
    ),
};

static const struct gpu_kernel broken = {
    .name = "broken",
    .group = {8, 1, 1},
    .args = {{GPU_IN, "x"}, {GPU_OUT, "y"}},
    .body = GPU_TEXT(
        int4 p = position();
        write_y(p, no_such_word(p));
    ),
};
// clang-format on

// ---- a device, two values of 5 x 3 x 8 in one buffer ----------------------------------------------------------------

static int open_bench(void **state, const char *name, const char *api)
{
    struct bench *bench = calloc(1, sizeof *bench);
    if (!bench) return -1;
    bench->reporter = (struct hl_reporter){keep_message, &bench->messages};
    const char *wanted = getenv("HALITE_DEVICE");
    if (!wanted || strncmp(wanted, name, strlen(name)) != 0) wanted = name;
    bench->api = api;
    struct gpu_device_info info;
    if (gpu_device_choose(wanted, "", false, &bench->reporter, &info)) {
        bench->backend = info.backend;
        bench->device = info.backend->open(info.index, &bench->reporter);
    }
    if (bench->device) {
        bench->arena = bench->backend->buffer_create(bench->device, ARENA);
        if (!bench->arena) return -1;
    } else {
        print_message("no device to test on: %s\n", bench->messages.last);
    }
    *state = bench;
    return 0;
}

static int open_opencl(void **state)
{
    return open_bench(state, "opencl", "OpenCL");
}

static int open_gles(void **state)
{
    return open_bench(state, "gles", "OpenGL ES");
}

static int open_metal(void **state)
{
    return open_bench(state, "metal", "Metal");
}

static int open_cuda(void **state)
{
    return open_bench(state, "cuda", "CUDA");
}

// What a failed test left unsaid.
static int tell(void **state)
{
    struct bench *bench = *state;
    if (bench->messages.count) print_message("%s\n", bench->messages.last);
    bench->messages.count = 0;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;
    if (bench->device) {
        bench->backend->buffer_destroy(bench->device, bench->arena);
        bench->backend->close(bench->device);
    }
    free(bench);
    return 0;
}

static struct bench *get_bench(void **state)
{
    struct bench *bench = *state;
    if (!bench->device) skip();
    bench->messages.count = 0;
    return bench;
}

// ---- devices --------------------------------------------------------------------------------------------------------

static void device_says_what_it_is(void **state)
{
    struct bench *bench = get_bench(state);
    const struct gpu_caps *caps = bench->backend->caps(bench->device);
    struct gpu_caps described;
    assert_true(bench->backend->describe(0, &described));
    assert_true(strlen(caps->name) > 0 && strlen(caps->driver) > 0);
    assert_true(caps->half_storage);
    assert_true(caps->max_buffer >= (size_t)1 << 20);
    assert_true(caps->max_group_size >= 64 && caps->max_group[0] >= 64 && caps->max_groups[0] >= 65535);
    assert_true(caps->shared_bytes >= 16384);
    assert_int_equal(caps->software, caps->vendor == GPU_VENDOR_SOFTWARE);
    print_message("%s, %s\n", caps->name, caps->driver);
}

static void buffers_keep_bytes(void **state)
{
    struct bench *bench = get_bench(state);
    unsigned char out[ARENA], in[ARENA];
    for (int i = 0; i < ARENA; i++) out[i] = (unsigned char)(i * 7);
    assert_true(bench->backend->buffer_write(bench->device, bench->arena, 0, out, ARENA));
    out[100] = 1, out[101] = 2;
    assert_true(bench->backend->buffer_write(bench->device, bench->arena, 100, out + 100, 2));
    assert_true(bench->backend->buffer_write(bench->device, bench->arena, ARENA, out, 0));
    assert_true(bench->backend->buffer_read(bench->device, bench->arena, 0, in, ARENA));
    assert_memory_equal(in, out, ARENA);
    assert_true(bench->backend->buffer_read(bench->device, bench->arena, 99, in, 4));
    assert_memory_equal(in, out + 99, 4);
}

// More than a backend may keep in a hurry: many writes without a wait between, and one large one.
static void many_writes_arrive(void **state)
{
    struct bench *bench = get_bench(state);
    enum { PIECE = 300 * 1000, PIECES = 40, ALL = PIECE * PIECES };
    unsigned char *out = malloc(ALL), *in = malloc(ALL);
    struct gpu_buffer *buffer = bench->backend->buffer_create(bench->device, ALL);
    assert_true(out && in && buffer);
    for (int i = 0; i < ALL; i++) out[i] = (unsigned char)(i * 31 >> 3);
    unsigned char piece[PIECE];
    for (int i = 0; i < PIECES; i++) {
        memcpy(piece, out + (size_t)i * PIECE, PIECE);
        assert_true(bench->backend->buffer_write(bench->device, buffer, (size_t)i * PIECE, piece, PIECE));
        memset(piece, 0, PIECE); // the bytes may be reused
    }
    assert_true(bench->backend->buffer_read(bench->device, buffer, 0, in, ALL));
    assert_memory_equal(in, out, ALL);
    memset(out, 0x5a, ALL);
    assert_true(bench->backend->buffer_write(bench->device, buffer, 0, out, ALL));
    assert_true(bench->backend->buffer_read(bench->device, buffer, 0, in, ALL));
    assert_memory_equal(in, out, ALL);
    bench->backend->buffer_destroy(bench->device, buffer);
    free(out);
    free(in);
}

static void buffers_out_of_range(void **state)
{
    struct bench *bench = get_bench(state);
    char bytes[8] = "";
    assert_false(bench->backend->buffer_write(bench->device, bench->arena, ARENA - 4, bytes, 8));
    said(&bench->messages, "writing 8 bytes at 3068", "3072");
    assert_false(bench->backend->buffer_read(bench->device, bench->arena, ARENA + 1, bytes, 0));
    said(&bench->messages, "reading 0 bytes at 3073", "3072");
    assert_false(bench->backend->buffer_read(bench->device, bench->arena, SIZE_MAX, bytes, 8));
    said(&bench->messages, "reading", "3072");
    assert_null(bench->backend->buffer_create(bench->device, SIZE_MAX / 2));
    said(&bench->messages, "a buffer of", "the device allows");
    assert_null(bench->backend->buffer_create(bench->device, 0));
    said(&bench->messages, "0 bytes", bench->api);
    bench->backend->buffer_destroy(bench->device, NULL);
}

static void vectors_add(void **state)
{
    struct bench *bench = get_bench(state);
    const struct gpu_backend *backend = bench->backend;
    float a[FLOATS], b[FLOATS], y[FLOATS];
    for (int i = 0; i < FLOATS; i++) a[i] = (float)i, b[i] = 0.5f * (float)i - 7;
    write_place(bench, 0, a, sizeof a);
    write_place(bench, 1, b, sizeof b);
    struct gpu_program *program = make_program(bench, &bench_add, GPU_F32, 0, NULL);
    struct gpu_list *list = backend->list_create(bench->device);
    assert_true(program && list);
    struct gpu_dispatch dispatch = over_places(bench->arena, program, &bench_add, 3, (int[]){0, 1, 2});
    assert_true(backend->list_dispatch(list, &dispatch));
    assert_true(backend->list_finish(list));
    assert_true(backend->list_run(list) && backend->list_wait(list));
    read_place(bench, 2, y, sizeof y);
    for (int i = 0; i < FLOATS; i++) assert_true(y[i] == a[i] + b[i]);
    backend->list_destroy(list);
    backend->program_destroy(bench->device, program);
    assert_int_equal(bench->messages.count, 0);
}

// b + b + … through two dispatches with a barrier between; the last run's end is waited for by the read.
static void lists_replay(void **state)
{
    struct bench *bench = get_bench(state);
    const struct gpu_backend *backend = bench->backend;
    float zero[FLOATS] = {0}, b[FLOATS], y[FLOATS];
    for (int i = 0; i < FLOATS; i++) b[i] = (float)(i % 17);
    write_place(bench, 0, zero, sizeof zero);
    write_place(bench, 1, b, sizeof b);
    struct gpu_program *adder = make_program(bench, &bench_add, GPU_F32, 0, NULL),
                       *copier = make_program(bench, &bench_copy, GPU_F32, 0, NULL);
    struct gpu_list *list = backend->list_create(bench->device);
    assert_true(adder && copier && list);
    struct gpu_dispatch sum = over_places(bench->arena, adder, &bench_add, 3, (int[]){0, 1, 2});
    struct gpu_dispatch back = over_places(bench->arena, copier, &bench_copy, 2, (int[]){2, 0});
    assert_true(backend->list_dispatch(list, &sum) && backend->list_barrier(list));
    assert_true(backend->list_dispatch(list, &back) && backend->list_finish(list));
    for (int i = 0; i < 100; i++) assert_true(backend->list_run(list));
    read_place(bench, 0, y, sizeof y);
    for (int i = 0; i < FLOATS; i++) assert_true(y[i] == 100 * b[i]);

    // A new input between runs is seen, and a profiled run is a run as well.
    uint64_t times[2] = {0, 0};
    write_place(bench, 0, zero, sizeof zero);
    assert_true(backend->list_run(list) && backend->list_profile(list, times, 2) && backend->list_run(list));
    read_place(bench, 0, y, sizeof y);
    for (int i = 0; i < FLOATS; i++) assert_true(y[i] == 3 * b[i]);
    assert_true(times[0] > 0 && times[1] > 0 && times[0] < 10000000000u && times[1] < 10000000000u);
    assert_int_equal(bench->messages.count, 0);
    assert_false(backend->list_profile(list, times, 1));
    said(&bench->messages, "profile of 1", "has 2");

    backend->list_destroy(list);
    backend->program_destroy(bench->device, adder);
    backend->program_destroy(bench->device, copier);
}

static void an_empty_list_runs(void **state)
{
    struct bench *bench = get_bench(state);
    struct gpu_list *list = bench->backend->list_create(bench->device);
    assert_non_null(list);
    assert_true(bench->backend->list_finish(list) && bench->backend->list_run(list) && bench->backend->list_wait(list));
    assert_true(bench->backend->list_profile(list, NULL, 0));
    bench->backend->list_destroy(list);
    bench->backend->list_destroy(NULL);
    bench->backend->program_destroy(bench->device, NULL);
}

// Storage of the values and weights in a precision, from floats and back.
static size_t to_storage(enum gpu_precision precision, const float *from, int count, void *to)
{
    for (int i = 0; i < count && precision != GPU_F32; i++) ((uint16_t *)to)[i] = hl_half_from_float(from[i]);
    if (precision == GPU_F32) memcpy(to, from, (size_t)count * sizeof *from);
    return (size_t)count * (precision == GPU_F32 ? sizeof(float) : sizeof(uint16_t));
}

static float from_storage(enum gpu_precision precision, const void *from, int i)
{
    return precision == GPU_F32 ? ((const float *)from)[i] : hl_half_to_float(((const uint16_t *)from)[i]);
}

// relu6(x * factor + TIMES * k) + residual, in one precision. floats: buffers in floats all the same, a bit each.
static void run_scale(struct bench *bench, enum gpu_precision precision, unsigned floats)
{
    enum gpu_precision stored[4]; // x, k, y, residual
    for (int i = 0; i < 4; i++) stored[i] = floats >> i & 1 ? GPU_F32 : precision;
    const struct gpu_backend *backend = bench->backend;
    float x[FLOATS], k[C], storage[FLOATS];
    for (int i = 0; i < FLOATS; i++) x[i] = 0.25f * (float)(i % 32) - 2;
    for (int i = 0; i < C; i++) k[i] = 0.125f * (float)i;
    size_t bytes = to_storage(stored[0], x, FLOATS, storage);
    write_place(bench, 0, storage, bytes);
    size_t weight_bytes = to_storage(stored[1], k, C, storage);
    write_place(bench, 1, storage, weight_bytes);
    size_t residual_bytes = to_storage(stored[3], x, FLOATS, storage);
    write_place(bench, 3, storage, residual_bytes);
    size_t result_bytes = FLOATS * (stored[2] == GPU_F32 ? sizeof(float) : sizeof(uint16_t));

    struct gpu_program *program =
        make_program(bench, &scale, precision, floats, (int[]){3, GPU_EPI_RELU6, GPU_EPI_ADD_VALUE, 0, 0});
    struct gpu_list *list = backend->list_create(bench->device);
    assert_true(program && list);
    struct gpu_dispatch dispatch = {
        .program = program,
        .buffer_count = 4,
        .buffers = {bench->arena, bench->arena, bench->arena, bench->arena},
        .offsets = {0, PLACE, 2 * PLACE, 3 * PLACE},
        .sizes = {bytes, weight_bytes, result_bytes, residual_bytes},
        .writes = {false, false, true, false},
        .params = {{W, H, C, 1}, {W, H, C, 1}, {0}},
        .param_count = gpu_kernel_param_count(&scale),
        .groups = {groups_for(W, 8), groups_for(H, 8), SLICES},
    };
    float factor = 1.5f;
    memcpy(&dispatch.params[2][0], &factor, sizeof factor);
    assert_int_equal(dispatch.param_count, 5);
    assert_true(backend->list_dispatch(list, &dispatch) && backend->list_finish(list));
    assert_true(backend->list_run(list) && backend->list_wait(list));
    read_place(bench, 2, storage, result_bytes);
    for (int i = 0; i < FLOATS; i++) {
        int channel = i / 4 / (W * H) * 4 + i % 4;
        float wanted = fminf(fmaxf(x[i] * factor + 3 * k[channel], 0), 6) + x[i];
        assert_true(fabsf(from_storage(stored[2], storage, i) - wanted) < 1e-2f);
    }
    backend->list_destroy(list);
    backend->program_destroy(bench->device, program);
    assert_int_equal(bench->messages.count, 0);
}

static void kernels_with_everything(void **state)
{
    struct bench *bench = get_bench(state);
    run_scale(bench, GPU_F32, 0);
    for (unsigned floats = 0; floats < 16; floats++) run_scale(bench, GPU_F16S, floats);
    if (bench->backend->caps(bench->device)->half_math) run_scale(bench, GPU_F16, 0);
}

static void bad_kernels_are_refused(void **state)
{
    struct bench *bench = get_bench(state);
    assert_null(make_program(bench, &broken, GPU_F32, 0, NULL));
    said(&bench->messages, "kernel broken does not compile", "no_such_word");
    struct gpu_program_desc huge = {.kernel = &bench_copy, .precision = GPU_F32, .group = {1 << 20, 1, 1}};
    struct gpu_program *none;
    assert_false(bench->backend->programs_create(bench->device, &huge, 1, &none));
    assert_null(none);
    said(&bench->messages, "copy_value", bench->api);
    // and the device goes on
    struct gpu_program *program = make_program(bench, &bench_copy, GPU_F32, 0, NULL);
    assert_non_null(program);
    bench->backend->program_destroy(bench->device, program);
}

static void programs_are_made_together(void **state)
{
    enum { COUNT = 9, BAD = 4 };
    struct bench *bench = get_bench(state);
    const struct gpu_backend *backend = bench->backend;
    struct gpu_program_desc descs[COUNT];
    struct gpu_program *programs[COUNT];
    for (int i = 0; i < COUNT; i++)
        descs[i] = (struct gpu_program_desc){.kernel = &bench_copy, .precision = GPU_F32, .group = {1 + i, 1, 1}};
    assert_true(backend->programs_create(bench->device, descs, COUNT, programs));
    for (int i = 0; i < COUNT; i++) {
        assert_non_null(programs[i]);
        backend->program_destroy(bench->device, programs[i]);
    }
    descs[BAD].kernel = &broken;
    assert_false(backend->programs_create(bench->device, descs, COUNT, programs));
    said(&bench->messages, "kernel broken does not compile", "no_such_word");
    assert_null(programs[BAD]);
    for (int i = 0; i < COUNT; i++) backend->program_destroy(bench->device, programs[i]);
    assert_true(backend->programs_create(bench->device, descs, 0, programs));
}

static void bad_dispatches_are_refused(void **state)
{
    struct bench *bench = get_bench(state);
    const struct gpu_backend *backend = bench->backend;
    struct gpu_program *program = make_program(bench, &bench_copy, GPU_F32, 0, NULL);
    struct gpu_list *list = backend->list_create(bench->device);
    assert_true(program && list);
    struct gpu_dispatch good = over_places(bench->arena, program, &bench_copy, 2, (int[]){0, 1}), bad = good;
    bad.groups[1] = 0;
    assert_false(backend->list_dispatch(list, &bad));
    said(&bench->messages, "0 work-groups", "copy_value");
    bad = good;
    bad.offsets[1] = ARENA - 256;
    assert_false(backend->list_dispatch(list, &bad));
    said(&bench->messages, "a kernel uses 480 bytes at 2816", "3072");
    bad = good;
    bad.offsets[1] = 4; // what is too little differs; where it is refused, the message says what would do
    struct gpu_list *other = backend->list_create(bench->device);
    if (!backend->list_dispatch(other, &bad)) said(&bench->messages, "offset 4", "multiples of");
    backend->list_destroy(other);
    // the list holds nothing of them
    assert_true(backend->list_dispatch(list, &good) && backend->list_finish(list));
    uint64_t time;
    assert_true(backend->list_profile(list, &time, 1));
    backend->list_destroy(list);
    backend->program_destroy(bench->device, program);
}

static void absent_devices_are_refused(void **state)
{
    struct bench *bench = get_bench(state);
    struct gpu_caps caps;
    assert_false(bench->backend->describe(-1, &caps));
    assert_false(bench->backend->describe(1000, &caps));
    assert_null(bench->backend->open(1000, &bench->reporter));
    said(&bench->messages, "number 1000", bench->api);
}

static void two_devices_do_not_mix(void **state)
{
    struct bench *bench = get_bench(state);
    for (int i = 0; i < 3; i++) {
        struct gpu_device *other = bench->backend->open(0, &bench->reporter);
        assert_non_null(other);
        struct gpu_buffer *buffer = bench->backend->buffer_create(other, 64);
        assert_non_null(buffer);
        bench->backend->buffer_destroy(other, buffer);
        bench->backend->close(other);
    }
    bench->backend->close(NULL);
    assert_int_equal(bench->messages.count, 0);
}

// ---- null -----------------------------------------------------------------------------------------------------------

static void null_writes_what_it_was_asked(void **state)
{
    (void)state;
    static const char golden[] =
        "buffer 0: 3072 bytes\n"
        "program add f32 [8,4,1]\n"
        "program copy_value f16s [16,1,1]\n"
        "dispatch list 0: add [1,1,2]x[8,4,1] reads 0@0+480 0@768+480 writes 0@1536+480 params 5,3,8,1 5,3,8,1 5,3,8,1 "
        "; add\n"
        "barrier list 0\n"
        "dispatch list 0: copy_value [1,3,2]x[16,1,1] reads 0@1536+480 writes 0@0+480 params 5,3,8,1 5,3,8,1\n"
        "finish list 0: 2 dispatches\n"
        "write 0@768+480\n"
        "run list 0\n"
        "wait list 0\n"
        "profile list 0\n"
        "read 0@768+480\n";
    char *text = NULL;
    assert_true(whole_life(&gpu_backend_null, NULL, &text));
    assert_string_equal(text, golden);
    free(text);
    assert_int_equal(gpu_null_live(), 0);
}

static void null_fails_at_every_call(void **state)
{
    (void)state;
    struct messages messages = {0};
    struct hl_reporter reporter = {keep_message, &messages};
    int n = 1;
    for (bool ok = false; !ok; n++) {
        char number[16], call[32];
        snprintf(number, sizeof number, "%d", n);
        snprintf(call, sizeof call, "call %d (", n);
        setenv("HALITE_GPU_NULL_FAIL", number, 1);
        ok = whole_life(&gpu_backend_null, &reporter, NULL);
        unsetenv("HALITE_GPU_NULL_FAIL");
        assert_int_equal(gpu_null_live(), 0);
        if (ok)
            assert_int_equal(messages.count, 0);
        else
            said(&messages, call, "null device");
        assert_true(n < 100);
    }
    assert_int_equal(n - 1, 15); // 14 calls, and one time without a failure
}

static struct gpu_device *open_null(struct messages *messages)
{
    struct hl_reporter reporter = {keep_message, messages};
    struct gpu_device *device = gpu_backend_null.open(0, &reporter);
    assert_non_null(device);
    return device;
}

static void null_fails_when_told(void **state)
{
    (void)state;
    struct messages messages = {0};
    struct gpu_device *device = open_null(&messages);
    assert_int_equal(gpu_null_calls(device), 1);
    gpu_null_fail_at(device, 2);
    struct gpu_buffer *first = gpu_backend_null.buffer_create(device, 16);
    assert_non_null(first);
    assert_null(gpu_backend_null.buffer_create(device, 16));
    said(&messages, "call 3", "create a buffer");
    struct gpu_buffer *second = gpu_backend_null.buffer_create(device, 16);
    assert_non_null(second);
    assert_int_equal(gpu_null_live(), 3);

    unsigned char bytes[16] = {1, 2, 3};
    gpu_null_clear(device);
    assert_true(gpu_backend_null.buffer_write(device, second, 4, bytes, 3));
    assert_true(gpu_backend_null.buffer_read(device, second, 0, bytes, 16));
    assert_memory_equal(bytes, ((unsigned char[]){0, 0, 0, 0, 1, 2, 3, 0, 0}), 9);
    char *text = gpu_null_text(device);
    assert_string_equal(text, "write 1@4+3\nread 1@0+16\n");
    free(text);
    assert_false(gpu_backend_null.buffer_write(device, second, 15, bytes, 2));
    said(&messages, "2 bytes at 15", "16 bytes");

    gpu_null_lose(device);
    assert_false(gpu_backend_null.buffer_read(device, first, 0, bytes, 1));
    said(&messages, "lost", "read a buffer");
    gpu_backend_null.buffer_destroy(device, second);
    gpu_backend_null.buffer_destroy(device, first);
    gpu_backend_null.close(device);
    assert_int_equal(gpu_null_live(), 0);
    assert_int_equal(messages.count, 0);
}

static void null_checks_the_contract(void **state)
{
    (void)state;
    struct messages messages = {0};
    struct bench bench = {.backend = &gpu_backend_null, .device = open_null(&messages)};
    const struct gpu_backend *backend = bench.backend;
    struct gpu_buffer *arena = backend->buffer_create(bench.device, ARENA);
    struct gpu_program *program = make_program(&bench, &bench_copy, GPU_F32, 0, NULL);
    struct gpu_list *list = backend->list_create(bench.device);
    assert_true(arena && program && list);

    struct gpu_dispatch good = over_places(arena, program, &bench_copy, 2, (int[]){0, 1}), bad = good;
    assert_true(backend->list_dispatch(list, &good));
    struct gpu_dispatch chain = over_places(arena, program, &bench_copy, 2, (int[]){1, 2});
    assert_false(backend->list_dispatch(list, &chain)); // reads what was written
    said(&messages, "no barrier", "768..1248");
    struct gpu_dispatch reuse = over_places(arena, program, &bench_copy, 2, (int[]){3, 0});
    assert_false(backend->list_dispatch(list, &reuse)); // writes what was read
    said(&messages, "no barrier", "0..480");
    struct gpu_dispatch beside = over_places(arena, program, &bench_copy, 2, (int[]){0, 3});
    assert_true(backend->list_dispatch(list, &beside));
    assert_true(backend->list_barrier(list));
    assert_true(backend->list_dispatch(list, &chain));
    assert_true(backend->list_barrier(list));
    bad.offsets[1] = 256;
    assert_false(backend->list_dispatch(list, &bad));
    said(&messages, "overlaps another argument", "256..736");
    bad = good;
    bad.offsets[0] = 128;
    assert_false(backend->list_dispatch(list, &bad));
    said(&messages, "128", "no multiple of 256");
    bad = good;
    bad.buffer_count = 1;
    assert_false(backend->list_dispatch(list, &bad));
    said(&messages, "has 2 buffers", "not 1");
    bad = good;
    bad.param_count = 3;
    assert_false(backend->list_dispatch(list, &bad));
    said(&messages, "has 2 int4 params", "not 3");
    bad = good;
    bad.writes[0] = true;
    assert_false(backend->list_dispatch(list, &bad));
    said(&messages, "argument 0", "written");
    bad = good;
    bad.groups[2] = 0;
    assert_false(backend->list_dispatch(list, &bad));
    said(&messages, "0 work-groups", "axis 2");

    assert_false(backend->list_run(list));
    said(&messages, "list 0", "not finished");
    assert_true(backend->list_finish(list));
    assert_false(backend->list_dispatch(list, &good));
    said(&messages, "list 0 is finished", "recorded");
    assert_true(backend->list_run(list));
    struct gpu_program_desc huge = {.kernel = &bench_copy, .group = {2048, 1, 1}};
    struct gpu_program *none;
    assert_false(backend->programs_create(bench.device, &huge, 1, &none));
    assert_null(none);
    said(&messages, "copy_value", "2048");

    backend->list_destroy(list);
    backend->program_destroy(bench.device, program);
    backend->close(bench.device); // too early
    said(&messages, "closed while 1", "alive");
    assert_int_equal(gpu_null_live(), 1);
    // What is left is freed as it would have been; the count of the device is gone with it.
    struct gpu_device *other = open_null(&messages);
    backend->buffer_destroy(other, arena);
    backend->close(other);
    assert_int_equal(gpu_null_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(device_says_what_it_is, tell),
        cmocka_unit_test_teardown(buffers_keep_bytes, tell),
        cmocka_unit_test_teardown(many_writes_arrive, tell),
        cmocka_unit_test_teardown(buffers_out_of_range, tell),
        cmocka_unit_test_teardown(vectors_add, tell),
        cmocka_unit_test_teardown(lists_replay, tell),
        cmocka_unit_test_teardown(an_empty_list_runs, tell),
        cmocka_unit_test_teardown(kernels_with_everything, tell),
        cmocka_unit_test_teardown(bad_kernels_are_refused, tell),
        cmocka_unit_test_teardown(programs_are_made_together, tell),
        cmocka_unit_test_teardown(bad_dispatches_are_refused, tell),
        cmocka_unit_test_teardown(absent_devices_are_refused, tell),
        cmocka_unit_test_teardown(two_devices_do_not_mix, tell),
    };
    const struct CMUnitTest null_tests[] = {
        cmocka_unit_test(null_writes_what_it_was_asked),
        cmocka_unit_test(null_fails_at_every_call),
        cmocka_unit_test(null_fails_when_told),
        cmocka_unit_test(null_checks_the_contract),
    };
    unsetenv("HALITE_GPU_NULL_FAIL");
#if defined(FAKE_METAL)
    setenv("HALITE_METAL_LIBRARY", FAKE_METAL, 0);
#endif
    return cmocka_run_group_tests_name("opencl", tests, open_opencl, close_bench) +
           cmocka_run_group_tests_name("gles", tests, open_gles, close_bench) +
           cmocka_run_group_tests_name("metal", tests, open_metal, close_bench) +
           cmocka_run_group_tests_name("cuda", tests, open_cuda, close_bench) +
           cmocka_run_group_tests_name("null", null_tests, NULL, NULL);
}
