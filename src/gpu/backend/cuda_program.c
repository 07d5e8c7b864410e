// SPDX-License-Identifier: Apache-2.0
// The CUDA backend's programs. In: kernels as data. Out: a module for each, of machine code that NVRTC makes of the
// text for exactly this device. Several threads compile; modules are loaded and messages written in the caller's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "gpu/backend/cuda_device.h"

enum { LOG_BYTES = 6000 };

// A program that is being made.
struct compilation {
    struct gpu_device *device;
    const struct gpu_program_desc *desc;
    char *text;
    uint64_t key;
    const void *cached; // machine code from the program cache, or NULL
    char *binary, *log; // what the compiler made and said, malloc'ed
    size_t binary_size;
    const char *call; // the last call of NVRTC and its result
    int code;
};

void gpu_cuda_program_destroy(struct gpu_device *device, struct gpu_program *program)
{
    if (!program) return;
    if (program->module && gpu_cuda_enter_to_destroy(device)) {
        device->cuda->module_unload(program->module);
        gpu_cuda_leave(device);
    }
    free(program);
}

// ---- compiling ------------------------------------------------------------------------------------------------------

// The beginning of the compiler's log, malloc'ed; NULL if there is none.
static char *take_log(const struct nvrtc_api *nvrtc, struct nvrtc_program *program)
{
    size_t bytes = 0;
    if (nvrtc->log_size(program, &bytes) != 0 || bytes == 0) return NULL;
    char *log = calloc(1, bytes + 1);
    if (log && nvrtc->log(program, log) == 0) {
        if (bytes > LOG_BYTES) memcpy(log + LOG_BYTES - 4, "...", 4);
        return log;
    }
    free(log);
    return NULL;
}

static bool called(struct compilation *compilation, const char *call, int code)
{
    compilation->call = call;
    compilation->code = code;
    return code == 0;
}

static void compile_text(struct compilation *compilation, struct nvrtc_program *program)
{
    const struct nvrtc_api *nvrtc = compilation->device->nvrtc;
    char architecture[48];
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d", compilation->device->capability);
    const char *const options[] = {architecture, "--std=c++14", "-w"};
    if (!called(compilation, "nvrtcCompileProgram", nvrtc->compile(program, 3, options))) {
        compilation->log = take_log(nvrtc, program);
        return;
    }
    if (!called(compilation, "nvrtcGetCUBINSize", nvrtc->binary_size(program, &compilation->binary_size))) return;
    compilation->binary = malloc(compilation->binary_size + 1);
    if (compilation->binary) called(compilation, "nvrtcGetCUBIN", nvrtc->binary(program, compilation->binary));
}

// Several threads call this at the same time, each for an item of its own.
static void compile(void *arg, int64_t item, int worker)
{
    struct compilation *compilation = (struct compilation *)arg + item;
    const struct nvrtc_api *nvrtc = compilation->device->nvrtc;
    struct nvrtc_program *program = NULL;
    (void)worker;
    if (compilation->cached) return;
    int code = nvrtc->create(&program, compilation->text, compilation->desc->kernel->name, 0, NULL, NULL);
    if (!called(compilation, "nvrtcCreateProgram", code)) return;
    compile_text(compilation, program);
    nvrtc->destroy(&program);
}

static bool has_compiled(const struct compilation *compilation)
{
    struct gpu_device *device = compilation->device;
    const char *name = compilation->desc->kernel->name;
    if (compilation->cached || (compilation->code == 0 && compilation->binary)) return true;
    if (compilation->code == 0) return gpu_device_no_memory(&device->base, "a program");
    return gpu_device_fail(&device->base, "%s: kernel %s does not compile: %s (%d); the compiler says:\n%s",
                           compilation->call, name, device->nvrtc->error_text(compilation->code), compilation->code,
                           compilation->log ? compilation->log : "nothing");
}

// ---- modules --------------------------------------------------------------------------------------------------------

// Whether the work-group fits: a kernel that needs many registers may allow fewer work-items than the device does.
static bool group_fits(struct gpu_device *device, const struct gpu_program *program)
{
    int most = 0;
    cuda_result code = device->cuda->function_attribute(&most, CUDA_FUNCTION_MAX_THREADS, program->function);
    if (!gpu_cuda_succeeded(device, code, "cuFuncGetAttribute", program->name)) return false;
    return gpu_device_allows_group(&device->base, program->name, program->group, (size_t)most);
}

// The bytes of the kernel's dynamic shared memory.
static unsigned dynamic_shared_of(const struct gpu_program_desc *desc)
{
    if (!desc->kernel->dynamic_shared) return 0;
    int tile = gpu_kernel_constant_index(desc->kernel, "TILE");
    return 16u * (unsigned)(desc->constants ? desc->constants[tile] : desc->kernel->constants[tile].value);
}

// Lets launches of the kernel give it that memory, of which they may give 48 KB unasked, or so much that a compute unit
// takes one group (cuda_list.c).
static bool allow_dynamic_shared(struct gpu_device *device, struct gpu_program *program)
{
    const struct cuda_api *cuda = device->cuda;
    const int of_two = device->base.caps.dynamic_shared_bytes;
    int own = 0;
    if (device->overlaps && of_two > 0) {
        cuda_result code = cuda->function_attribute(&own, CUDA_FUNCTION_STATIC_SHARED, program->function);
        if (!gpu_cuda_succeeded(device, code, "cuFuncGetAttribute", program->name)) return false;
        const unsigned all = program->dynamic_shared + (unsigned)own, lone = (unsigned)of_two + 2 * CUDA_SHARED_BESIDE;
        program->lone_shared = lone > all ? lone - (unsigned)own : 0;
    }
    unsigned most = program->lone_shared ? program->lone_shared : program->dynamic_shared;
    if (most == 0) return true;
    cuda_result code = cuda->function_set_attribute(program->function, CUDA_FUNCTION_SHARED_BYTES, (int)most);
    return gpu_cuda_succeeded(device, code, "cuFuncSetAttribute", program->name);
}

// Loads machine code. Without a message where the module does not load; *code is why.
static bool load_module(struct gpu_device *device, struct gpu_program *program, const void *binary, cuda_result *code)
{
    *code = device->cuda->module_load(&program->module, binary);
    if (*code != CUDA_OK) program->module = NULL;
    if (*code == CUDA_OK) *code = device->cuda->module_function(&program->function, program->module, program->name);
    return *code == CUDA_OK;
}

// The module from the cache, or else from the compiler, which is asked where the driver refuses what was in the cache.
static bool make_module(struct compilation *compilation, struct gpu_program *program)
{
    struct gpu_device *device = compilation->device;
    cuda_result code;
    if (compilation->cached) {
        if (load_module(device, program, compilation->cached, &code)) return true;
        if (program->module) device->cuda->module_unload(program->module);
        program->module = NULL;
        compilation->cached = NULL;
        compile(compilation, 0, 0);
        if (!has_compiled(compilation)) return false;
    }
    load_module(device, program, compilation->binary, &code);
    return gpu_cuda_succeeded(device, code, program->module ? "cuModuleGetFunction" : "cuModuleLoadData",
                              program->name);
}

// The finished program; NULL after a message.
static struct gpu_program *finish_program(struct compilation *compilation)
{
    struct gpu_device *device = compilation->device;
    if (!has_compiled(compilation)) return NULL;
    struct gpu_program *program = calloc(1, sizeof *program);
    if (!program) return gpu_device_no_memory(&device->base, "a program");
    program->name = compilation->desc->kernel->name;
    memcpy(program->group, compilation->desc->group, sizeof program->group);
    program->dynamic_shared = dynamic_shared_of(compilation->desc);
    if (make_module(compilation, program) && group_fits(device, program) && allow_dynamic_shared(device, program)) {
        if (!compilation->cached && device->base.program_cache.open) {
            gpu_program_cache_add(&device->base.program_cache, compilation->key, compilation->binary,
                                  compilation->binary_size);
            compilation->binary = NULL;
        }
        return program;
    }
    gpu_cuda_program_destroy(device, program);
    return NULL;
}

// ---- all together ---------------------------------------------------------------------------------------------------

static bool begin(struct gpu_device *device, const struct gpu_program_desc *desc, void *arg)
{
    struct compilation *compilation = arg;
    *compilation = (struct compilation){.device = device, .desc = desc};
    if (!gpu_device_allows_group(&device->base, desc->kernel->name, desc->group,
                                 (size_t)device->base.caps.max_group_size))
        return false;
    compilation->text = gpu_emit(desc->kernel, GPU_CUDA, desc->precision, desc->floats, desc->constants, desc->group);
    if (!compilation->text) return gpu_device_no_memory(&device->base, "a kernel's text");
    if (!device->base.program_cache.open) return true;
    size_t size;
    compilation->key = hl_hash((uint64_t)device->capability, compilation->text, strlen(compilation->text));
    compilation->cached = gpu_program_cache_find(&device->base.program_cache, compilation->key, &size);
    return true;
}

static struct gpu_program *end(void *arg, bool ok)
{
    struct compilation *compilation = arg;
    struct gpu_program *program = ok ? finish_program(compilation) : NULL;
    free(compilation->text);
    free(compilation->binary);
    free(compilation->log);
    return program;
}

bool gpu_cuda_programs_create(struct gpu_device *device, const struct gpu_program_desc *descs, int count,
                              struct gpu_program **programs)
{
    static const struct gpu_compiler compiler = {sizeof(struct compilation), begin, compile, end, false};
    for (int i = 0; i < count; i++) programs[i] = NULL;
    if (!gpu_cuda_enter(device, "compile a kernel")) return false;
    bool ok = gpu_device_compile(device, &compiler, descs, count, programs);
    gpu_cuda_leave(device);
    return ok;
}
