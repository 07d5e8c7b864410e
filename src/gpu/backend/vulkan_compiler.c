// SPDX-License-Identifier: Apache-2.0
// See vulkan_compiler.h. The library is opened for each kernel and closed again: applications have few kernels, and an
// application that counts the milliseconds brings SPIR-V.
#if defined(HALITE_GPU_VULKAN)
#include "gpu/backend/vulkan_compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/loader_names.h"

// The numbers of shaderc's enums.
enum { COMPUTE_SHADER = 2, FOR_VULKAN = 0, VULKAN_1_1 = (1 << 22) | (1 << 12), COMPILED = 0 };

// X(name, result, parameters): the functions of libshaderc that are used. Its objects are opaque.
#define SHADERC_FUNCTIONS(X)                                                                             \
    X(compiler_initialize, void *, (void))                                                               \
    X(compiler_release, void, (void *))                                                                  \
    X(compile_options_initialize, void *, (void))                                                        \
    X(compile_options_release, void, (void *))                                                           \
    X(compile_options_set_target_env, void, (void *, int, uint32_t))                                     \
    X(compile_into_spv, void *, (void *, const char *, size_t, int, const char *, const char *, void *)) \
    X(result_get_compilation_status, int, (const void *))                                                \
    X(result_get_length, size_t, (const void *))                                                         \
    X(result_get_bytes, const char *, (const void *))                                                    \
    X(result_get_error_message, const char *, (const void *))                                            \
    X(result_release, void, (void *))

struct shaderc {
#define X(name, result, parameters) result(*name) parameters;
    SHADERC_FUNCTIONS(X)
#undef X
};

static bool find_functions(struct hl_library *library, struct shaderc *shaderc)
{
    bool all = true;
#define X(name, result, parameters) \
    all = hl_library_find(library, "shaderc_" #name, &shaderc->name, sizeof shaderc->name) && all;
    SHADERC_FUNCTIONS(X)
#undef X
    return all;
}

static uint32_t *copy_result(const struct shaderc *shaderc, const void *result, size_t *bytes, char *why, size_t room)
{
    if (!result || shaderc->result_get_compilation_status(result) != COMPILED) {
        snprintf(why, room, "it does not compile: %s", result ? shaderc->result_get_error_message(result) : "");
        return NULL;
    }
    size_t length = shaderc->result_get_length(result);
    uint32_t *words = malloc(length);
    snprintf(why, room, "out of memory");
    if (!words) return NULL;
    memcpy(words, shaderc->result_get_bytes(result), length);
    *bytes = length;
    return words;
}

static uint32_t *compile(const struct shaderc *shaderc, const char *name, const char *text, size_t *bytes, char *why,
                         size_t room)
{
    void *compiler = shaderc->compiler_initialize(), *options = shaderc->compile_options_initialize(), *result = NULL;
    if (compiler && options) {
        shaderc->compile_options_set_target_env(options, FOR_VULKAN, VULKAN_1_1);
        result = shaderc->compile_into_spv(compiler, text, strlen(text), COMPUTE_SHADER, name, "main", options);
    }
    uint32_t *words = copy_result(shaderc, result, bytes, why, room);
    if (result) shaderc->result_release(result);
    if (options) shaderc->compile_options_release(options);
    if (compiler) shaderc->compiler_release(compiler);
    return words;
}

uint32_t *gpu_vulkan_compile(const struct gpu_kernel *kernel, enum gpu_precision precision, size_t *bytes, char *why,
                             size_t room)
{
    *bytes = 0;
    const char *named = hl_library_named("HALITE_SHADERC_LIBRARY");
    struct hl_library *library = named ? hl_library_open(named) : hl_library_open_first(hl_loader_names.shaderc);
    struct shaderc shaderc;
    if (!library || !find_functions(library, &shaderc)) {
        snprintf(why, room, "Vulkan takes SPIR-V: give it with the kernel, or install %s, which makes it",
                 hl_loader_names.shaderc[0]);
        if (library) hl_library_close(library);
        return NULL;
    }
    char *text = gpu_emit(kernel, GPU_VULKAN, precision, 0, NULL, NULL);
    snprintf(why, room, "out of memory");
    uint32_t *words = text ? compile(&shaderc, kernel->name, text, bytes, why, room) : NULL;
    free(text);
    hl_library_close(library);
    return words;
}
#endif
