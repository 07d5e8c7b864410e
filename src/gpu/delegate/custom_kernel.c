// SPDX-License-Identifier: Apache-2.0
// See custom_kernel.h. The compilers of the devices judge the text itself; what is checked here keeps a text within its
// function and its names apart, because the emitter writes both into the source as they are.
#include "gpu/delegate/custom_kernel.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_BODY = 1 << 16,
    MAX_SHARED = 128, // characters of a shared array
    MAX_GROUP = 1024,
    MAX_SPIRV = 1 << 22,
    MIN_SPIRV = 5 * 4, // the header of a module
};
static const uint32_t spirv_magic = 0x07230203;

bool gpu_set_problem(struct gpu_problem *problem, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(problem->text, sizeof problem->text, format, args);
    va_end(args);
    return false;
}

char *gpu_copy_text(struct hl_arena *arena, const char *text, size_t length, struct gpu_problem *problem)
{
    char *copy = hl_arena_alloc(arena, length + 1, 1);
    if (copy)
        memcpy(copy, text, length); // the zero is there: an arena gives zeros
    else
        gpu_set_problem(problem, "out of memory");
    return copy;
}

// ---- names --------------------------------------------------------------------------------------

static const char small[] = "abcdefghijklmnopqrstuvwxyz", capital[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Copies a name that begins with one of `letters` and goes on with these, digits and '_'.
static const char *copy_name(const char *name, const char *letters, const char *what, struct hl_arena *arena,
                             struct gpu_problem *problem)
{
    size_t length = 0;
    while (name && length <= GPU_CUSTOM_NAME && name[length] &&
           (strchr(letters, name[length]) || (length > 0 && strchr("0123456789_", name[length]))))
        length++;
    if (length > 0 && length <= GPU_CUSTOM_NAME && !name[length]) return gpu_copy_text(arena, name, length, problem);
    gpu_set_problem(problem, "%s has the name \"%.40s\", which is to be 1 to %d %s letters, digits and \"_\"", what,
                    name ? name : "", (int)GPU_CUSTOM_NAME, letters == small ? "small" : "capital");
    return NULL;
}

static bool check_count(const char *what, int32_t count, int least, int most, const void *list,
                        struct gpu_problem *problem)
{
    if (count < least || count > most)
        return gpu_set_problem(problem, "%s is %d, expected %d to %d", what, (int)count, least, most);
    return count == 0 || list || gpu_set_problem(problem, "%s is %d, but the list is NULL", what, (int)count);
}

// Whether the name is that of an argument or parameter that comes before.
static bool is_taken(const struct gpu_kernel *kernel, const char *name)
{
    for (const struct gpu_arg *arg = kernel->args; arg->kind != GPU_ARG_END; arg++)
        if (strcmp(arg->name, name) == 0) return true;
    for (const char *const *param = kernel->params; *param; param++)
        if (strcmp(*param, name) == 0) return true;
    return strcmp(kernel->name, name) == 0;
}

static bool copy_args(const HaliteGpuKernel *from, struct gpu_kernel *to, struct hl_arena *arena,
                      struct gpu_problem *problem)
{
    static const enum gpu_arg_kind kinds[] = {
        [kHaliteGpuArgInput] = GPU_IN, [kHaliteGpuArgOutput] = GPU_OUT, [kHaliteGpuArgWeights] = GPU_WEIGHTS};
    if (!check_count("arg_count", from->arg_count, 1, GPU_KERNEL_ARGS, from->args, problem)) return false;
    bool writes = false;
    for (int i = 0; i < from->arg_count; i++) {
        const HaliteGpuArg *arg = &from->args[i];
        if (arg->kind < kHaliteGpuArgInput || arg->kind > kHaliteGpuArgWeights)
            return gpu_set_problem(problem, "argument %d is of kind %d, which there is not", i, (int)arg->kind);
        const char *name = copy_name(arg->name, small, "an argument", arena, problem);
        if (!name) return false;
        if (is_taken(to, name)) return gpu_set_problem(problem, "the name \"%s\" stands for two things", name);
        to->args[i] = (struct gpu_arg){kinds[arg->kind], name};
        writes = writes || arg->kind == kHaliteGpuArgOutput;
    }
    return writes || gpu_set_problem(problem, "no argument is an output");
}

static bool copy_params(const HaliteGpuKernel *from, struct gpu_kernel *to, struct hl_arena *arena,
                        struct gpu_problem *problem)
{
    if (!check_count("param_count", from->param_count, 0, GPU_KERNEL_PARAMS, from->params, problem)) return false;
    for (int i = 0; i < from->param_count; i++) {
        const char *name = copy_name(from->params[i], small, "a parameter", arena, problem);
        if (!name) return false;
        if (is_taken(to, name)) return gpu_set_problem(problem, "the name \"%s\" stands for two things", name);
        to->params[i] = name;
    }
    return true;
}

static bool copy_constants(const HaliteGpuKernel *from, struct gpu_kernel *to, struct hl_arena *arena,
                           struct gpu_problem *problem)
{
    int count = from->constant_count;
    if (!check_count("constant_count", count, 0, GPU_CUSTOM_CONSTANTS, from->constants, problem)) return false;
    struct gpu_constant *list = hl_arena_array(arena, (size_t)count + 1, sizeof *list, sizeof(void *));
    if (!list) return gpu_set_problem(problem, "out of memory");
    for (int i = 0; i < count; i++) {
        const char *name = copy_name(from->constants[i].name, capital, "a constant", arena, problem);
        if (!name) return false;
        for (int k = 0; k < i; k++)
            if (strcmp(list[k].name, name) == 0)
                return gpu_set_problem(problem, "the name \"%s\" stands for two things", name);
        list[i] = (struct gpu_constant){name, from->constants[i].value};
    }
    to->constants = list;
    return true;
}

// ---- texts --------------------------------------------------------------------------------------

// Where a comment that starts here ends; NULL: none starts here.
static const char *end_of_comment(const char *at, const char *end)
{
    if (end - at < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*')) return NULL;
    bool line = at[1] == '/';
    for (at += 2; at < end; at++) {
        if (line && *at == '\n') return at;
        if (!line && end - at >= 2 && at[0] == '*' && at[1] == '/') return at + 2;
    }
    return end;
}

// Takes comments and line breaks out, which the emitter sets anew, and checks that the text stays within its braces.
static bool clean_body(char *body, struct gpu_problem *problem)
{
    const char *end = body + strlen(body);
    char *to = body;
    int braces = 0, parentheses = 0;
    for (const char *at = body; at < end;) {
        const char *after = end_of_comment(at, end);
        char c = after || *at == '\n' || *at == '\r' || *at == '\t' ? ' ' : *at;
        if (c < ' ' || c > '~' || strchr("#\"'\\`@$", c))
            return gpu_set_problem(problem, "the body has a byte 0x%02x, which no text may have",
                                   (unsigned)(unsigned char)c);
        braces += (c == '{') - (c == '}');
        parentheses += (c == '(') - (c == ')');
        if (braces < 0 || parentheses < 0)
            return gpu_set_problem(problem, "the body closes a %s that it has not opened",
                                   braces < 0 ? "brace" : "parenthesis");
        *to++ = c;
        at = after ? after : at + 1;
    }
    *to = 0;
    return (braces == 0 && parentheses == 0) ||
           gpu_set_problem(problem, "the body leaves a %s open", braces > 0 ? "brace" : "parenthesis");
}

static bool copy_body(const HaliteGpuKernel *from, struct gpu_kernel *to, struct hl_arena *arena,
                      struct gpu_problem *problem)
{
    size_t length = 0;
    while (from->body && length <= MAX_BODY && from->body[length]) length++;
    if (length == 0 || length > MAX_BODY)
        return gpu_set_problem(problem, "the body is %s", length == 0 ? "empty" : "longer than 65536 bytes");
    char *body = gpu_copy_text(arena, from->body, length, problem);
    to->body = body;
    return body && clean_body(body, problem);
}

static bool copy_shared(const HaliteGpuKernel *from, struct gpu_kernel *to, struct hl_arena *arena,
                        struct gpu_problem *problem)
{
    if (!check_count("shared_count", from->shared_count, 0, GPU_KERNEL_SHARED, from->shared, problem)) return false;
    for (int i = 0; i < from->shared_count; i++) {
        const char *text = from->shared[i] ? from->shared[i] : "";
        size_t length = 0;
        while (length <= MAX_SHARED && text[length] >= ' ' && text[length] <= '~' &&
               !strchr("#;{}\"'\\`@$", text[length]))
            length++;
        if (length == 0 || length > MAX_SHARED || text[length] || text[length - 1] != ']')
            return gpu_set_problem(problem, "shared array %d is to be declared as in \"stor4 tile[TILE]\"", i);
        if (!(to->shared[i] = gpu_copy_text(arena, text, length, problem))) return false;
    }
    return true;
}

static bool copy_spirv(const HaliteGpuKernel *from, struct gpu_kernel *to, struct hl_arena *arena,
                       struct gpu_problem *problem)
{
    struct gpu_kernel_modules *modules = hl_arena_alloc(arena, sizeof *modules, sizeof(void *));
    if (!modules) return gpu_set_problem(problem, "out of memory");
    for (int i = 0; i < 2; i++) {
        size_t bytes = from->spirv_bytes[i];
        if (!from->spirv[i]) continue;
        if (bytes < MIN_SPIRV || bytes > MAX_SPIRV || bytes % 4 != 0 || from->spirv[i][0] != spirv_magic)
            return gpu_set_problem(problem, "spirv[%d] is no module of SPIR-V", i);
        uint32_t *words = hl_arena_alloc(arena, bytes, sizeof *words);
        if (!words) return gpu_set_problem(problem, "out of memory");
        modules->words[i] = memcpy(words, from->spirv[i], bytes);
        modules->bytes[i] = bytes;
    }
    to->modules = modules;
    return true;
}

// ---- kernels ------------------------------------------------------------------------------------

static bool copy_group(const HaliteGpuKernel *from, struct gpu_kernel *to, struct gpu_problem *problem)
{
    int64_t size = 1;
    for (int i = 0; i < 3; i++) {
        if (from->group[i] < 0 || from->group[i] > MAX_GROUP)
            return gpu_set_problem(problem, "group[%d] is %d, expected 0 to %d", i, (int)from->group[i],
                                   (int)MAX_GROUP);
        size *= to->group[i] = from->group[i] ? from->group[i] : 1;
    }
    return size <= MAX_GROUP || gpu_set_problem(problem, "a work-group has %lld work-items, at most %d may be",
                                                (long long)size, (int)MAX_GROUP);
}

const struct gpu_kernel *gpu_custom_kernel(const HaliteGpuKernel *from, struct hl_arena *arena,
                                           struct gpu_problem *problem)
{
    if (from->struct_size < sizeof *from) {
        gpu_set_problem(problem, "struct_size is less than sizeof(HaliteGpuKernel)");
        return NULL;
    }
    struct gpu_kernel *kernel = hl_arena_alloc(arena, sizeof *kernel, sizeof(void *));
    if (!kernel) {
        gpu_set_problem(problem, "out of memory");
        return NULL;
    }
    kernel->name = copy_name(from->name, small, "a kernel", arena, problem);
    bool ok = kernel->name && copy_group(from, kernel, problem) && copy_args(from, kernel, arena, problem) &&
              copy_params(from, kernel, arena, problem) && copy_constants(from, kernel, arena, problem) &&
              copy_shared(from, kernel, arena, problem) && copy_body(from, kernel, arena, problem) &&
              copy_spirv(from, kernel, arena, problem);
    return ok ? kernel : NULL;
}

size_t HaliteGpuKernelGetSource(const HaliteGpuKernel *from, HaliteGpuApi api, bool halves, char *text, size_t size)
{
    static const enum gpu_language languages[] = {
        [kHaliteGpuApiOpenCl] = GPU_OPENCL, [kHaliteGpuApiVulkan] = GPU_VULKAN, [kHaliteGpuApiOpenGlEs] = GPU_GLES};
    struct gpu_problem problem = {""};
    struct hl_arena arena;
    hl_arena_init(&arena, SIZE_MAX);
    const struct gpu_kernel *kernel = NULL;
    if (!from)
        gpu_set_problem(&problem, "there is no kernel");
    else if (api <= kHaliteGpuApiNone || (size_t)api >= sizeof languages / sizeof *languages)
        gpu_set_problem(&problem, "there is no such api");
    else
        kernel = gpu_custom_kernel(from, &arena, &problem);
    char *source = kernel ? gpu_emit(kernel, languages[api], halves ? GPU_F16S : GPU_F32, 0, NULL, NULL) : NULL;
    size_t length = source ? strlen(source) : 0;
    if (!source) hl_report(NULL, "HaliteGpuKernelGetSource: %s", problem.text[0] ? problem.text : "out of memory");
    if (source && size > 0) snprintf(text, size, "%s", source);
    free(source);
    hl_arena_clear(&arena);
    return length;
}
