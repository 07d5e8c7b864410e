// SPDX-License-Identifier: Apache-2.0
// Every kernel of the library: its table keeps to the limits, its text to the rules of docs/kernel_dialect.md, and the
// emitter makes a program of it in every language and precision. `test_kernels --write FOLDER` writes these programs
// for kernels.sh, which shows them to the compilers that are there; `test_kernels --build` has devices make programs of
// them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "gpu/backend/devices.h"
#include "gpu/dialect_kernels.h"
#include "gpu/lang/spirv/kernels.h"
#include "gpu/lang/spirv/spirv.h"

static const char *const endings[] = {
    [GPU_OPENCL] = "cl", [GPU_VULKAN] = "vk.comp", [GPU_GLES] = "es.comp", [GPU_CUDA] = "cu", [GPU_METAL] = "metal"};
enum { LANGUAGES = GPU_METAL + 1 };

// Words of the languages, and of their headers, that no name in a kernel may be. What the dialect offers is not among
// them.
static const char *const reserved[] = {
    // C and C++
    "auto",
    "case",
    "char",
    "const",
    "default",
    "do",
    "double",
    "enum",
    "extern",
    "goto",
    "inline",
    "long",
    "register",
    "restrict",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "alignas",
    "alignof",
    "and",
    "asm",
    "bitand",
    "bitor",
    "catch",
    "class",
    "compl",
    "concept",
    "constexpr",
    "decltype",
    "delete",
    "explicit",
    "export",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "nullptr",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "requires",
    "template",
    "this",
    "throw",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
    "xor",
    "NULL",
    "INFINITY",
    "NAN",
    "MAXFLOAT",
    "size_t",
    "ptrdiff_t",
    // OpenCL
    "kernel",
    "global",
    "local",
    "constant",
    "generic",
    "read_only",
    "write_only",
    "read_write",
    "pipe",
    "half",
    "uint",
    "uchar",
    "ushort",
    "ulong",
    "half4",
    "half2",
    "float2",
    "float3",
    "float8",
    "float16",
    "int2",
    "int3",
    "int8",
    "int16",
    "uint2",
    "uint4",
    "char4",
    "uchar4",
    "short4",
    "ushort4",
    "event_t",
    "image2d_t",
    "sampler_t",
    "barrier",
    "as_float",
    "select",
    "vload4",
    "vstore4",
    "convert_float4",
    "convert_int4",
    "complex",
    "quad",
    // CUDA
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "dim3",
    // Metal
    "device",
    "thread",
    "threadgroup",
    "threadgroup_imageblock",
    "vertex",
    "fragment",
    "metal",
    "texture2d",
    "ray_data",
    "object_data",
    "simdgroup",
    "quadgroup",
};

static const char *const reserved_glsl[] = {
    "attribute", "varying",   "uniform",        "buffer",     "shared",    "coherent",      "readonly",
    "writeonly", "layout",    "centroid",       "flat",       "smooth",    "noperspective", "patch",
    "sample",    "invariant", "precise",        "subroutine", "in",        "out",           "inout",
    "lowp",      "mediump",   "highp",          "precision",  "discard",   "vec2",          "vec3",
    "vec4",      "ivec2",     "ivec3",          "ivec4",      "uvec2",     "uvec4",         "bvec4",
    "mat2",      "mat3",      "mat4",           "common",     "partition", "active",        "filter",
    "input",     "output",    "superp",         "noinline",   "external",  "interface",     "fixed",
    "resource",  "cast",      "packed",         "hvec2",      "dvec2",     "sampler",       "sampler2D",
    "image2D",   "texture",   "intBitsToFloat", "main",       "fvec4",     "row_major",     "column_major"};

// What a body may be written in besides its own names and those that the emitter makes of the tables.
static const char *const never_named[] = {"int",   "int4",  "float",    "float4", "bool", "real",
                                          "real4", "acc4",  "stor4",    "if",     "else", "for",
                                          "while", "break", "continue", "return", "true", "false"};

static int faults;

static void fault(const struct gpu_kernel *kernel, const char *what, const char *word, int length)
{
    print_error("kernel %s: %s: %.*s\n", kernel->name, what, length, word);
    faults++;
}

static bool is_one_of(const char *const *list, size_t count, const char *word, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length && memcmp(list[i], word, length) == 0) return true;
    return false;
}
#define IS_ONE_OF(list, word, length) is_one_of(list, sizeof(list) / sizeof *(list), word, length)

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// bare: it stands in the programs as it is.
static void lint_name(const struct gpu_kernel *kernel, const char *name, bool bare)
{
    size_t length = strlen(name);
    if (length == 0 || length > 40 || !isalpha((unsigned char)name[0]) || name[length - 1] == '_' ||
        strstr(name, "__") || strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != length)
        fault(kernel, "a name that is not plain", name, (int)length);
    // In GLSL every kernel's function is named main.
    bool is_reserved = IS_ONE_OF(reserved, name, length) || IS_ONE_OF(never_named, name, length) ||
                       (name != kernel->name && IS_ONE_OF(reserved_glsl, name, length));
    if (bare && is_reserved) fault(kernel, "a name that is a word of some language", name, (int)length);
}

static void lint_table(const struct gpu_kernel *kernel)
{
    int args = gpu_kernel_arg_count(kernel) + kernel->epilogue;
    bool output = false;
    lint_name(kernel, kernel->name, true);
    if (args < 1 || args > GPU_MAX_BUFFERS) fault(kernel, "too many args or none", "", 0);
    if (gpu_kernel_param_count(kernel) > GPU_MAX_PARAMS) fault(kernel, "too many params", "", 0);
    if (gpu_kernel_constant_count(kernel) > GPU_KERNEL_CONSTANTS + GPU_EPILOGUE_STAGES)
        fault(kernel, "too many constants", "", 0);
    if (kernel->group[0] < 1 || kernel->group[1] < 1 || kernel->group[2] < 1)
        fault(kernel, "a work-group without a size", "", 0);
    if (kernel->group[0] * kernel->group[1] * kernel->group[2] > 256)
        fault(kernel, "work-groups that many devices do not take: more than 256", "", 0);
    for (const struct gpu_arg *arg = kernel->args; arg->kind != GPU_ARG_END; arg++) {
        lint_name(kernel, arg->name, !gpu_arg_is_value(arg->kind));
        output = output || gpu_arg_is_written(arg->kind);
    }
    if (!output) fault(kernel, "no output", "", 0);
    if (kernel->dynamic_shared && gpu_kernel_constant_index(kernel, "TILE") < 0)
        fault(kernel, "dynamic shared memory without the constant TILE", "", 0);
    for (const char *const *param = kernel->params; *param; param++) lint_name(kernel, *param, false);
    for (const struct gpu_constant *constant = kernel->constants; constant && constant->name; constant++) {
        lint_name(kernel, constant->name, true);
        for (const char *at = constant->name; *at; at++)
            if (islower((unsigned char)*at)) {
                fault(kernel, "a constant is UPPER_CASE", constant->name, (int)strlen(constant->name));
                break;
            }
    }
    for (const char *const *array = kernel->shared; *array; array++) {
        static const char *const types[] = {"stor4", "float", "float4", "int", "int4", "acc4"};
        if (!IS_ONE_OF(types, *array, strcspn(*array, " ")) || !strchr(*array, '['))
            fault(kernel, "shared memory is an array of stor4, float, float4, int, int4", *array, (int)strlen(*array));
    }
    if (kernel->epilogue && !strstr(kernel->body, "finish(")) fault(kernel, "never calls finish", "", 0);
    if (!kernel->epilogue && !kernel->moves_codes && strstr(kernel->body, "finish("))
        fault(kernel, "finish without .epilogue", "", 0);
}

// One number; returns what is behind it.
static const char *lint_number(const struct gpu_kernel *kernel, const char *at)
{
    const char *start = at;
    bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X'), real = false;
    while (in_word(*at) || *at == '.' ||
           ((*at == '+' || *at == '-') && !hex && tolower((unsigned char)at[-1]) == 'e')) {
        real = real || (!hex && (*at == '.' || tolower((unsigned char)*at) == 'e'));
        at++;
    }
    if (real && at[-1] != 'f')
        fault(kernel, "a number that would be a double: put an f behind it", start, (int)(at - start));
    if (!real && !hex && !isdigit((unsigned char)at[-1]))
        fault(kernel, "a number with an ending", start, (int)(at - start));
    return at;
}

static void lint_body(const struct gpu_kernel *kernel)
{
    const char *last_barrier = NULL, *first_return = NULL;
    for (const char *at = kernel->body; *at;) {
        const char *start = at;
        if (isdigit((unsigned char)*at)) {
            at = lint_number(kernel, at);
        } else if (in_word(*at)) {
            while (in_word(*at)) at++;
            size_t length = (size_t)(at - start);
            bool member = start > kernel->body && start[-1] == '.';
            if (member && (length != 1 || !strchr("xyzw", *start)))
                fault(kernel, "members are .x .y .z .w, one at a time", start, (int)length);
            const char *after = at + strspn(at, " ");
            if (member && start - kernel->body > 1 && start[-2] == ']' && (after[0] == '=' || after[1] == '=') &&
                !strchr("=<>!", after[after[0] == '=']))
                fault(kernel, "a lane of an element that is set", start, (int)length);
            if (IS_ONE_OF(reserved, start, length) || IS_ONE_OF(reserved_glsl, start, length))
                fault(kernel, "a word of some language", start, (int)length);
            if (start[length - 1] == '_' || strncmp(start, "gl_", 3) == 0 || memcmp(start, "__", 2) == 0)
                fault(kernel, "a name of the emitter's or a compiler's", start, (int)length);
            if (length == 7 && memcmp(start, "BARRIER", 7) == 0) last_barrier = start;
            if (length == 6 && memcmp(start, "return", 6) == 0 && !first_return) first_return = start;
        } else {
            char before = start > kernel->body ? start[-1] : ' ';
            for (const char *back = start; before == ' ' && back > kernel->body;) before = *--back;
            at++;
            if (*start == ';' && at[strspn(at, " ")] == ')') fault(kernel, "a for that changes nothing", start, 1);
            if (strchr("#?\\\"'`@$", *start)) fault(kernel, "a character that the dialect has not", start, 1);
            if (*start == '-' && *at == '>') fault(kernel, "a pointer", start, 2);
            if (*start == '&' && in_word(*at) && strchr("(,=", before)) fault(kernel, "an address", start, 2);
            if (*start == '=' && strspn(at, " ") + 1 <= strlen(at) && at[strspn(at, " ")] == '{')
                fault(kernel, "braces as an initial value", start, 8);
            if (*start == '(') {
                size_t inner = strcspn(at, ")");
                if (IS_ONE_OF(never_named, at, inner) && inner > 2) fault(kernel, "a cast", start, (int)inner + 2);
            }
        }
    }
    if (last_barrier && first_return && first_return < last_barrier)
        fault(kernel, "return before a BARRIER", first_return, 20);
}

static bool lint(const struct gpu_kernel *kernel, void *user)
{
    (void)user;
    lint_table(kernel);
    lint_body(kernel);
    return true;
}

static void kernels_keep_to_the_dialect(void **state)
{
    (void)state;
    faults = 0;
    assert_true(gpu_each_kernel(lint, NULL));
    for (const struct gpu_kernel *const *kernel = dialect_kernels; *kernel; kernel++) lint(*kernel, NULL);
    assert_int_equal(faults, 0);
}

// The lint sees what it should.
static void lint_finds_faults(void **state)
{
    (void)state;
    static const char *const wrong[] = {"float a = 1.0;",       "half h = 0.0f;",
                                        "float a = (float)i;",  "float4 v = x.xyzw;",
                                        "int a[2] = {1, 2};",   "if (a > 1) return; BARRIER; int b = 0;",
                                        "real4 v = c ? a : b;", "float input = 1.0f;",
                                        "int *p = &q;",         "x->y = 1;",
                                        "int i = 3u;",          "for (; i < 3;) i += 1;",
                                        "tile[i].x = 1.0f;",    "tile[i + 1].w += 1.0f;"};
    static const char right[] =
        "float a = 1.0e-5f; int i = 0x7f; if (i < 3 && tile[i].x == a) { v.x = a; } BARRIER; return;";
    struct gpu_kernel kernel = {.name = "sample_kernel", .group = {1, 1, 1}, .args = {{GPU_OUT, "y"}}, .body = right};
    faults = 0;
    lint(&kernel, NULL);
    assert_int_equal(faults, 0);
    printf("    %zu faults follow, as they should:\n", sizeof wrong / sizeof *wrong);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        faults = 0;
        kernel.body = wrong[i];
        lint_body(&kernel);
        assert_int_not_equal(faults, 0);
    }
    faults = 0;
}

static const int other_group[3] = {4, 4, 2};

static bool emit_all(const struct gpu_kernel *kernel, void *user)
{
    const char *folder = user;
    int constants[GPU_KERNEL_CONSTANTS + GPU_EPILOGUE_STAGES] = {0};
    int count = gpu_kernel_constant_count(kernel), own = count - (kernel->epilogue ? GPU_EPILOGUE_STAGES : 0);
    for (int i = 0; i < own; i++) constants[i] = kernel->constants[i].value;
    // As much of the epilogue as one program can have.
    const int stages[GPU_EPILOGUE_STAGES] = {GPU_EPI_HARD_SWISH, GPU_EPI_ADD_VALUE, GPU_EPI_CLAMP, GPU_EPI_QUANTIZE};
    if (kernel->epilogue) memcpy(constants + own, stages, sizeof stages);
    for (int language = 0; language < LANGUAGES; language++)
        for (int precision = 0; precision < GPU_PRECISIONS; precision++) {
            enum gpu_language l = (enum gpu_language)language;
            enum gpu_precision p = (enum gpu_precision)precision;
            if (!gpu_kernel_has_language(kernel, l)) continue;
            unsigned floats = p == GPU_F16S ? 5 : 0; // the first and the third
            char *own_values = gpu_emit(kernel, l, p, 0, NULL, NULL);
            char *given = gpu_emit(kernel, l, p, floats, constants, other_group);
            assert_non_null(own_values);
            assert_non_null(given);
            assert_true(strlen(own_values) > strlen(kernel->body));
            assert_non_null(strstr(given, l == GPU_VULKAN || l == GPU_GLES ? "void main(" : kernel->name));
            assert_true(kernel->epilogue == (strstr(given, "b_r_") != NULL));
            assert_null(strchr(given, '$'));
            if (folder) {
                char path[1024];
                snprintf(path, sizeof path, "%s/%s.%s.%s", folder, kernel->name, gpu_precision_names[p], endings[l]);
                FILE *file = fopen(path, "w");
                assert_non_null(file);
                assert_true(fputs(given, file) >= 0);
                assert_int_equal(fclose(file), 0);
            }
            free(own_values);
            free(given);
        }
    return true;
}

// The library's, and those that test_dialect runs.
static bool emit_each(char *folder)
{
    for (const struct gpu_kernel *const *kernel = dialect_kernels; *kernel; kernel++) emit_all(*kernel, folder);
    return gpu_each_kernel(emit_all, folder);
}

static void kernels_in_every_language(void **state)
{
    (void)state;
    assert_true(emit_each(NULL));
}

#if defined(HALITE_GPU_VULKAN)
static bool has_spirv(const struct gpu_kernel *kernel, void *user)
{
    (void)user;
    for (int precision = 0; precision < gpu_kernel_precisions; precision++) {
        size_t bytes = 0;
        uint32_t *words = gpu_spirv(kernel->name, (enum gpu_precision)precision, &bytes);
        assert_true((words != NULL) == gpu_kernel_has_language(kernel, GPU_VULKAN));
        if (!words) continue;
        assert_true(bytes > 20 && bytes % 4 == 0);
        assert_int_equal(words[0], 0x07230203);
        // Instructions, each as long as its first word says, end where the words end.
        size_t at = 5;
        while (at < bytes / 4 && words[at] >> 16) at += words[at] >> 16;
        assert_int_equal(at, bytes / 4);
        free(words);
    }
    return true;
}

static void kernels_are_in_the_library(void **state)
{
    (void)state;
    size_t bytes;
    assert_true(gpu_each_kernel(has_spirv, NULL));
    assert_null(gpu_spirv("no_such_kernel", GPU_F32, &bytes));
    assert_null(gpu_spirv("convolve", GPU_F16, &bytes)); // the plan asks for no half arithmetic
}

// The words of a module whose bytes, `size` of them, stand in memory of just that size.
static uint32_t *unpack(struct gpu_spirv_module *modules, int index, const unsigned char *bytes, size_t size)
{
    struct gpu_spirv_module whole = modules[index];
    unsigned char *copy = malloc(size);
    assert_true(copy || size == 0);
    if (size > 0) memcpy(copy, bytes, size);
    modules[index].packed = copy;
    modules[index].size = size;
    uint32_t *words = gpu_spirv_unpack(modules, index);
    modules[index] = whole;
    free(copy);
    return words;
}

static void packed_kernels_that_are_broken_are_refused(void **state)
{
    (void)state;
    struct gpu_spirv_module *modules = malloc((size_t)gpu_spirv_module_count * sizeof *modules);
    assert_non_null(modules);
    memcpy(modules, gpu_spirv_modules, (size_t)gpu_spirv_module_count * sizeof *modules);
    for (int i = 0; i < gpu_spirv_module_count; i++) {
        size_t size = modules[i].size;
        unsigned char *bytes = calloc(size + 1, 1);
        assert_non_null(bytes);
        memcpy(bytes, modules[i].packed, size);
        for (size_t length = 0; length < size; length += 1 + size / 64)
            assert_null(unpack(modules, i, bytes, length)); // cut off
        assert_null(unpack(modules, i, bytes, size + 1));   // more than the module
        // Other bytes are refused or give other words; a sanitizer sees what they touch.
        uint32_t random = (uint32_t)i + 1;
        for (int round = 0; round < 64; round++) {
            random = random * 1664525 + 1013904223;
            unsigned char *byte = &bytes[(random >> 8) % size], before = *byte;
            *byte = round % 4 ? (unsigned char)(random >> 24) : 255;
            free(unpack(modules, i, bytes, size));
            *byte = before;
        }
        uint32_t *words = unpack(modules, i, bytes, size);
        assert_non_null(words);
        free(words);
        free(bytes);
    }
    free(modules);
}
#endif

static struct gpu_device *building;
static const struct gpu_backend *building_with;

static bool build(const struct gpu_kernel *kernel, void *user)
{
    const struct gpu_caps *caps = building_with->caps(building);
    int constants[GPU_KERNEL_CONSTANTS + GPU_EPILOGUE_STAGES] = {0};
    (void)user;
    if (!gpu_kernel_has_language(kernel, building_with->language)) return true;
    for (int i = 0; kernel->constants && i < GPU_KERNEL_CONSTANTS && kernel->constants[i].name; i++)
        constants[i] = kernel->constants[i].value;
    static const enum gpu_precision made_in[] = {GPU_F32, GPU_F16S}; // plans make no program in GPU_F16
    for (int i = 0; i < 2; i++) {
        if (made_in[i] == GPU_F16S && !caps->half_storage) continue;
        if (kernel->byte_dots && !caps->byte_dots) continue; // no plan asks for it
        if (kernel->cooperative && !caps->cooperative) continue;
        struct gpu_program_desc desc = {.kernel = kernel, .precision = made_in[i], .constants = constants};
        memcpy(desc.group, kernel->group, sizeof desc.group);
        struct gpu_program *program;
        bool made = building_with->programs_create(building, &desc, 1, &program);
        if (!made) fault(kernel, "does not build in", gpu_precision_names[made_in[i]], 4);
        if (made) building_with->program_destroy(building, program);
    }
    return true;
}

// Seconds per kernel on some drivers; a test of its own.
static int build_on_devices(void)
{
    static struct gpu_device_list list;
    gpu_devices_find(&list);
    if (list.count == 0) {
        printf("no device to build for\n");
        return 77;
    }
    for (int i = 0; i < list.count; i++) {
        printf("%s: %s\n", list.devices[i].text, list.devices[i].caps.name);
        building_with = list.devices[i].backend;
        building = building_with->open(list.devices[i].index, NULL);
        if (!building || !gpu_each_kernel(build, NULL)) faults++;
        if (building) building_with->close(building);
    }
    return faults != 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_keep_to_the_dialect),
        cmocka_unit_test(lint_finds_faults),
        cmocka_unit_test(kernels_in_every_language),
#if defined(HALITE_GPU_VULKAN)
        cmocka_unit_test(kernels_are_in_the_library),
        cmocka_unit_test(packed_kernels_that_are_broken_are_refused),
#endif
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return !emit_each(argv[2]);
    if (argc == 2 && strcmp(argv[1], "--build") == 0) return build_on_devices();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
