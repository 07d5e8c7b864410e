// SPDX-License-Identifier: Apache-2.0
// Texts, functions and pipelines of the fake. A text becomes C++ by the declarations in tests/gpu/stubs/metal_stdlib,
// which are definitions for the host's compiler, and a call of its kernel with arguments given by address.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

// Metal's limit for a kernel that needs few registers.
enum { MAX_THREADS = 1024 };

struct library {
    struct objc_object object;
    struct fake_function *function;
};

// ---- MTLFunction ----------------------------------------------------------------------------------------------------

static void function_dealloc(void *own)
{
    grid_close(((struct fake_function *)own)->module);
}

static const struct objc_class function_class = {.name = "MTLFunction",
                                                 .bytes = sizeof(struct fake_function),
                                                 .dealloc = function_dealloc};

// Reads the kernel's name and what its arguments are: "device const" is read, "device" written, "constant" held by the
// encoder. Returns the end of the arguments; NULL where the text has no kernel.
static const char *read_signature(const char *text, struct fake_function *function)
{
    const char *at = strstr(text, "kernel void "), *open = at ? strchr(at, '(') : NULL;
    const char *end = open ? strstr(open, ")\n{") : NULL;
    if (open && !end) end = strstr(open, ") {");
    if (!end || sscanf(at, "kernel void %127[a-zA-Z0-9_]", function->name) != 1) return NULL;
    for (const char *mark = open; (mark = strstr(mark, "[[buffer(")) && mark < end; mark++) {
        const char *begin = mark;
        while (begin > open && begin[-1] != ',' && begin[-1] != '(') begin--;
        begin += strspn(begin, " \n");
        int index = atoi(mark + strlen("[[buffer("));
        if (index < 0 || index >= FAKE_MAX_ARGUMENTS) return NULL;
        function->is_constant[index] = strncmp(begin, "constant ", 9) == 0;
        function->is_written[index] = strncmp(begin, "device ", 7) == 0 && strncmp(begin, "device const ", 13) != 0;
        if (index >= function->argument_count) function->argument_count = index + 1;
    }
    return end;
}

// The text for the host's compiler, malloc'ed.
static char *make_text(const char *text, const struct fake_function *function, const char *end)
{
    static const char include[] = "#include <metal_stdlib>\n";
    static const char head[] = "#include \"common/grid_kernel.h\"\n#include \"../gpu/stubs/metal_stdlib\"\n";
    const char *position = strstr(text, "thread_position_in_grid");
    bool has_position = position && position < end;
    size_t size = strlen(text) + sizeof head + sizeof function->name + 32;
    char *whole = malloc(size);
    if (!whole) abort();
    if (strncmp(text, include, sizeof include - 1) == 0) text += sizeof include - 1;
    snprintf(whole, size, "%s%s\n%s(%s)\n", head, text, has_position ? "METAL_KERNEL" : "GRID_KERNEL", function->name);
    return whole;
}

static void *no_library(const char *why, void **error)
{
    if (error) *error = fake_error(3, why);
    return NULL;
}

// ---- MTLLibrary -----------------------------------------------------------------------------------------------------

static void *library_new_function(void *own, const char *selector, void *name)
{
    const struct library *library = own;
    (void)selector;
    if (!fake_begin() || strcmp(library->function->name, fake_text(name)) != 0) return NULL;
    return objc_retain(library->function);
}

static void library_dealloc(void *own)
{
    objc_release(((struct library *)own)->function);
}

static const struct objc_method library_methods[] = {OBJC_METHOD("newFunctionWithName:", library_new_function),
                                                     {NULL, NULL, false}};
static const struct objc_class library_class = {.name = "MTLLibrary",
                                                .bytes = sizeof(struct library),
                                                .methods = library_methods,
                                                .dealloc = library_dealloc};

void *fake_library_create(const char *text, void **error)
{
    struct fake_function *function = objc_create(&function_class);
    const char *end = read_signature(text, function);
    char *log = NULL, *whole = end ? make_text(text, function, end) : NULL, *path = NULL;
    if (whole) path = grid_compile(whole, &log);
    if (path) function->module = grid_open(path);
    free(whole);
    free(path);
    struct library *library = NULL;
    if (function->module) {
        library = objc_create(&library_class);
        library->function = objc_retain(function);
    } else {
        no_library(log ? log : "the text has no kernel", error);
    }
    objc_release(function);
    free(log);
    return library;
}

// ---- MTLComputePipelineState ----------------------------------------------------------------------------------------

static unsigned long pipeline_max_threads(void *own, const char *selector)
{
    (void)own;
    (void)selector;
    return MAX_THREADS;
}

static void pipeline_dealloc(void *own)
{
    objc_release(((struct fake_pipeline *)own)->function);
}

static const struct objc_method pipeline_methods[] = {OBJC_METHOD("maxTotalThreadsPerThreadgroup",
                                                                  pipeline_max_threads),
                                                      {NULL, NULL, false}};
static const struct objc_class pipeline_class = {.name = "MTLComputePipelineState",
                                                 .bytes = sizeof(struct fake_pipeline),
                                                 .methods = pipeline_methods,
                                                 .dealloc = pipeline_dealloc};

void *fake_pipeline_create(struct fake_function *function)
{
    struct fake_pipeline *pipeline = objc_create(&pipeline_class);
    pipeline->function = objc_retain(function);
    return pipeline;
}
