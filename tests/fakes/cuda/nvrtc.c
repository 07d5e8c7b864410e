// SPDX-License-Identifier: Apache-2.0
// The fake's compiler. CUDA C++ is nearly C++: kernel.h, which comes first, spells the rest, except for inline PTX,
// whose colons no macro can take. rewrite_ptx makes calls of ptx_(text, operands...) of it. Machine code is the path of
// an object.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fake.h"

enum { NVRTC_OK = 0, NVRTC_OUT_OF_MEMORY = 1, NVRTC_INVALID_OPTION = 5, NVRTC_COMPILATION = 6 };

struct nvrtc_program {
    char *text, *path, *log;
};

const char *nvrtcGetErrorString(int code)
{
    return code == NVRTC_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OTHER";
}

int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return NVRTC_OK;
}

// The end of what begins at `at`: a text in quotes, or an expression in parentheses.
static const char *skip_one(const char *at)
{
    if (*at == '"') {
        for (at++; *at && *at != '"'; at++)
            if (*at == '\\' && at[1]) at++;
        return *at ? at + 1 : at;
    }
    int depth = 0;
    for (; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0) return at + 1;
    }
    return at;
}

// Copies one statement that begins with asm: the template as it is, then each operand, without its constraint.
static const char *rewrite_statement(const char *at, FILE *to)
{
    at = strchr(at, '(');
    fputs("ptx_(", to);
    for (at++; *at && *at != ':' && *at != ')';) {
        const char *end = *at == '"' ? skip_one(at) : at + 1;
        fwrite(at, 1, (size_t)(end - at), to);
        at = end;
    }
    while (*at && *at != ')') {
        const char *end = *at == '"' || *at == '(' ? skip_one(at) : at + 1;
        if (*at == '(') fputc(',', to);
        if (*at == '(') fwrite(at, 1, (size_t)(end - at), to);
        at = end;
    }
    return at;
}

static void rewrite_ptx(const char *text, FILE *to)
{
    while (*text) {
        const char *statement = strstr(text, "asm");
        while (statement && statement > text && (isalnum((unsigned char)statement[-1]) || statement[-1] == '_'))
            statement = strstr(statement + 1, "asm");
        if (!statement) {
            fputs(text, to);
            return;
        }
        fwrite(text, 1, (size_t)(statement - text), to);
        text = rewrite_statement(statement, to);
    }
}

// C++ has no array whose size comes later: kernel.h spells the declaration of one.
static char *with_dynamic_shared(const char *text)
{
    static const char from[] = "extern __shared__ f4_ tile[];", to[] = "FAKE_DYNAMIC(f4_, tile);     ";
    char *copy = strdup(text), *at = copy ? strstr(copy, from) : NULL;
    if (at) memcpy(at, to, sizeof to - 1);
    return copy;
}

// The kernel's name stands before the first parenthesis of the line after __global__. Writes "" where there is none.
static void find_kernel(const char *text, char name[64])
{
    const char *at = strstr(text, "__global__");
    at = at ? strchr(at, '\n') : NULL;
    name[0] = 0;
    if (at) sscanf(at + 1, "%63[A-Za-z0-9_](", name);
}

int nvrtcCreateProgram(struct nvrtc_program **program, const char *text, const char *name, int header_count,
                       const char *const *headers, const char *const *header_names)
{
    cuda_result code = fake_begin();
    (void)name, (void)headers, (void)header_names;
    if (code != CUDA_OK || header_count) return NVRTC_OUT_OF_MEMORY;
    struct nvrtc_program *created = calloc(1, sizeof *created);
    size_t size;
    FILE *to = created ? open_memstream(&created->text, &size) : NULL;
    if (!to) abort();
    char kernel[64];
    find_kernel(text, kernel);
    fputs("#include \"cuda/kernel.h\"\n", to);
    char *copy = with_dynamic_shared(text);
    if (!copy) abort();
    rewrite_ptx(copy, to);
    free(copy);
    fprintf(to, "\nGRID_KERNEL(%s)\n", kernel);
    fclose(to);
    *program = created;
    __atomic_add_fetch(&fake.live, 1, __ATOMIC_RELAXED);
    return NVRTC_OK;
}

int nvrtcDestroyProgram(struct nvrtc_program **program)
{
    free((*program)->text);
    free((*program)->path);
    free((*program)->log);
    free(*program);
    __atomic_sub_fetch(&fake.live, 1, __ATOMIC_RELAXED);
    return NVRTC_OK;
}

int nvrtcCompileProgram(struct nvrtc_program *program, int option_count, const char *const *options)
{
    char wanted[48];
    snprintf(wanted, sizeof wanted, "--gpu-architecture=sm_%lld", fake.capability);
    if (fake_begin() != CUDA_OK) return NVRTC_OUT_OF_MEMORY;
    if (option_count < 1 || strcmp(options[0], wanted) != 0) return NVRTC_INVALID_OPTION;
    __atomic_add_fetch(&fake.compiled, 1, __ATOMIC_RELAXED);
    program->path = grid_compile(program->text, &program->log);
    return program->path ? NVRTC_OK : NVRTC_COMPILATION;
}

int nvrtcGetProgramLogSize(struct nvrtc_program *program, size_t *bytes)
{
    *bytes = program->log ? strlen(program->log) + 1 : 1;
    return NVRTC_OK;
}

int nvrtcGetProgramLog(struct nvrtc_program *program, char *log)
{
    strcpy(log, program->log ? program->log : "");
    return NVRTC_OK;
}

int nvrtcGetCUBINSize(struct nvrtc_program *program, size_t *bytes)
{
    if (fake_begin() != CUDA_OK) return NVRTC_OUT_OF_MEMORY;
    *bytes = strlen("fake cubin ") + strlen(program->path) + 1;
    return NVRTC_OK;
}

int nvrtcGetCUBIN(struct nvrtc_program *program, char *binary)
{
    if (fake_begin() != CUDA_OK) return NVRTC_OUT_OF_MEMORY;
    sprintf(binary, "fake cubin %s", program->path);
    return NVRTC_OK;
}
