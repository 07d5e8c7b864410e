// SPDX-License-Identifier: Apache-2.0
// The knobs of the fake, its objects, and the calls about devices and contexts.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fake.h"

FAKE_DEFINE_KNOBS(fakeCuda, "FAKE_CUDA")

enum { MAX_DEVICES = 4, MAX_DEPTH = 8 };

cuda_result fake_begin(void)
{
    fake_read_environment();
    if (fake.lost) return (cuda_result)fake.lost_code;
    long long call = __atomic_add_fetch(&fake.calls, 1, __ATOMIC_RELAXED);
    if (fake.lost_at && call >= fake.lost_at) return (cuda_result)fake.lost_code;
    return call == fake.fail_at ? (cuda_result)fake.fail_code : CUDA_OK;
}

cuda_result fake_complain(const char *function, cuda_result code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "fake CUDA: %s: ", function);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    fake.complaints++;
    return code;
}

// ---- objects --------------------------------------------------------------------------------------------------------

static struct fake_object *objects;

void *fake_create(size_t bytes, enum fake_kind kind)
{
    struct fake_object *object = calloc(1, bytes);
    if (!object) abort();
    *object = (struct fake_object){.kind = kind, .next = objects};
    objects = object;
    fake.live++;
    return object;
}

bool fake_is(const void *object, enum fake_kind kind, const char *function)
{
    for (const struct fake_object *known = objects; known; known = known->next) {
        if (known != object) continue;
        if (known->kind == kind && !known->gone) return true;
        break;
    }
    fake_complain(function, 0, "%p is no object of this kind, or is gone", object);
    return false;
}

bool fake_end(void *object, enum fake_kind kind, const char *function)
{
    if (!fake_is(object, kind, function)) return false;
    ((struct fake_object *)object)->gone = true;
    fake.live--;
    return true;
}

// ---- errors ---------------------------------------------------------------------------------------------------------

static const struct {
    cuda_result code;
    const char *name, *text;
} errors[] = {
    {CUDA_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {CUDA_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};
enum { ERRORS = sizeof errors / sizeof *errors };

cuda_result cuGetErrorName(cuda_result code, const char **name)
{
    for (int i = 0; i < ERRORS; i++)
        if (errors[i].code == code) *name = errors[i].name;
    return *name ? CUDA_OK : FAKE_INVALID_VALUE;
}

cuda_result cuGetErrorString(cuda_result code, const char **text)
{
    for (int i = 0; i < ERRORS; i++)
        if (errors[i].code == code) *text = errors[i].text;
    return *text ? CUDA_OK : FAKE_INVALID_VALUE;
}

// ---- devices --------------------------------------------------------------------------------------------------------

cuda_result cuInit(unsigned flags)
{
    FAKE_BEGIN();
    return flags == 0 ? CUDA_OK : FAKE_INVALID_VALUE;
}

cuda_result cuDriverGetVersion(int *version)
{
    FAKE_BEGIN();
    *version = 13000;
    return CUDA_OK;
}

cuda_result cuDeviceGetCount(int *count)
{
    FAKE_BEGIN();
    *count = (int)fake.devices;
    return fake.devices ? CUDA_OK : CUDA_NO_DEVICE;
}

cuda_result cuDeviceGet(cuda_device_id *device, int index)
{
    FAKE_BEGIN();
    *device = index;
    return index >= 0 && index < fake.devices ? CUDA_OK : FAKE_INVALID_VALUE;
}

cuda_result cuDeviceGetName(char *name, int bytes, cuda_device_id device)
{
    FAKE_BEGIN();
    snprintf(name, (size_t)bytes, "Fake CUDA %d", device);
    return CUDA_OK;
}

cuda_result cuDeviceTotalMem_v2(size_t *bytes, cuda_device_id device)
{
    FAKE_BEGIN();
    (void)device;
    *bytes = (size_t)1 << 30;
    return CUDA_OK;
}

cuda_result cuDeviceGetAttribute(int *value, int attribute, cuda_device_id device)
{
    static const struct {
        int attribute, value;
    } rows[] = {
        {CUDA_MAX_THREADS_PER_BLOCK, 1024},
        {CUDA_MAX_BLOCK_DIM_X, 1024},
        {CUDA_MAX_BLOCK_DIM_X + 1, 1024},
        {CUDA_MAX_BLOCK_DIM_X + 2, 64},
        {CUDA_MAX_GRID_DIM_X, 0x7fffffff},
        {CUDA_MAX_GRID_DIM_X + 1, 65535},
        {CUDA_MAX_GRID_DIM_X + 2, 65535},
        {CUDA_MAX_SHARED_PER_BLOCK, 49152},
        {CUDA_MAX_SHARED_PER_BLOCK_ASKED, FAKE_GROUP_SHARED},
        {CUDA_MAX_SHARED_PER_MULTIPROCESSOR, FAKE_UNIT_SHARED},
        {CUDA_RESERVED_SHARED_PER_BLOCK, FAKE_RESERVED_SHARED},
        {CUDA_WARP_SIZE, 32},
        {CUDA_INTEGRATED, 0},
    };
    FAKE_BEGIN();
    (void)device;
    *value = attribute == CUDA_CAPABILITY_MAJOR ? (int)fake.capability / 10 : (int)fake.capability % 10;
    if (attribute == CUDA_CAPABILITY_MAJOR || attribute == CUDA_CAPABILITY_MINOR) return CUDA_OK;
    *value = (int)fake.multiprocessors;
    if (attribute == CUDA_MULTIPROCESSORS) return CUDA_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].attribute != attribute) continue;
        *value = rows[i].value;
        return CUDA_OK;
    }
    return fake_complain(__func__, FAKE_INVALID_VALUE, "there is no attribute %d", attribute);
}

// ---- contexts -------------------------------------------------------------------------------------------------------

struct cuda_context {
    struct fake_object object;
    int users;
};
static struct cuda_context *primary[MAX_DEVICES];
static __thread struct cuda_context *current[MAX_DEPTH];
static __thread int depth;

cuda_result cuDevicePrimaryCtxRetain(struct cuda_context **context, cuda_device_id device)
{
    FAKE_BEGIN();
    if (device < 0 || device >= MAX_DEVICES) return FAKE_INVALID_VALUE;
    if (!primary[device]) primary[device] = fake_create(sizeof *primary[device], FAKE_CONTEXT);
    primary[device]->users++;
    *context = primary[device];
    return CUDA_OK;
}

cuda_result cuDevicePrimaryCtxRelease_v2(cuda_device_id device)
{
    struct cuda_context *context = primary[device];
    if (!context) return fake_complain(__func__, FAKE_INVALID_VALUE, "nobody has retained it");
    if (--context->users > 0) return CUDA_OK;
    fake_drain();
    fake_end(context, FAKE_CONTEXT, __func__);
    primary[device] = NULL;
    return CUDA_OK;
}

cuda_result cuCtxPushCurrent_v2(struct cuda_context *context)
{
    if (!fake_is(context, FAKE_CONTEXT, __func__)) return CUDA_INVALID_CONTEXT;
    if (depth == MAX_DEPTH) return fake_complain(__func__, FAKE_INVALID_VALUE, "pushed and never popped");
    current[depth++] = context; // also where the device is lost
    return CUDA_OK;
}

cuda_result cuCtxPopCurrent_v2(struct cuda_context **context)
{
    if (depth == 0) return fake_complain(__func__, CUDA_INVALID_CONTEXT, "no context is current");
    *context = current[--depth];
    return CUDA_OK;
}

cuda_result cuCtxGetDevice(cuda_device_id *device)
{
    FAKE_BEGIN();
    FAKE_NEED(fake_has_context(__func__), CUDA_INVALID_CONTEXT);
    for (*device = 0; primary[*device] != current[depth - 1];) ++*device; // there are only primary contexts
    return CUDA_OK;
}

bool fake_has_context(const char *function)
{
    if (depth > 0) return true;
    fake_complain(function, 0, "no context is current");
    return false;
}
