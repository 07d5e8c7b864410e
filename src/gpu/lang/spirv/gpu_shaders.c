// SPDX-License-Identifier: Apache-2.0
// The build's part of the Vulkan backend. `gpu_shaders write FOLDER` writes every kernel in every precision as
// FOLDER/NAME.PRECISION.comp, where the text has changed, and their names as FOLDER/list. spirv.cmake compiles them to
// .spv files, and has `gpu_shaders types FILE.spv` complete those with cooperative matrices (matrix_types.c). Then
// `gpu_shaders pack FOLDER FILE.c` packs these into one C file (src/gpu/lang/spirv/spirv.h).
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/lang/spirv/kernels.h"
#include "gpu/lang/spirv/pack.h"
#include "gpu/lang/spirv/spirv.h"

struct job {
    const char *folder;
    FILE *out; // the list
};

static bool failure(const char *what, const char *path)
{
    fprintf(stderr, "gpu_shaders: %s %s\n", what, path);
    return false;
}

// The whole file, with a zero byte after it; NULL: it is not there.
static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t room = 1 << 16, length = 0;
    char *data = malloc(room);
    while (data) {
        length += fread(data + length, 1, room - length, file);
        if (length < room) break;
        char *larger = realloc(data, room *= 2);
        if (!larger) free(data);
        data = larger;
    }
    fclose(file);
    if (!data) return NULL;
    data[length] = '\0';
    *size = length;
    return data;
}

static bool write_shader(struct job *job, const struct gpu_kernel *kernel, enum gpu_precision precision)
{
    char path[1024];
    size_t size;
    snprintf(path, sizeof path, "%s/%s.%s.comp", job->folder, kernel->name, gpu_precision_names[precision]);
    fprintf(job->out, "%s.%s\n", kernel->name, gpu_precision_names[precision]);
    char *text = gpu_emit(kernel, GPU_VULKAN, precision, 0, NULL, NULL);
    if (!text) return failure("no memory for", path);
    char *before = read_file(path, &size);
    bool written = before && strcmp(before, text) == 0;
    free(before);
    if (!written) {
        FILE *file = fopen(path, "wb");
        written = file && fputs(text, file) >= 0;
        if (file && fclose(file) != 0) written = false;
    }
    free(text);
    return written || failure("cannot write", path);
}

static bool write_shaders(const struct gpu_kernel *kernel, void *user)
{
    if (!gpu_kernel_has_language(kernel, GPU_VULKAN)) return true;
    for (int precision = 0; precision < gpu_kernel_precisions; precision++)
        if (!write_shader(user, kernel, (enum gpu_precision)precision)) return false;
    return true;
}

// ---- types ----------------------------------------------------------------------------------------------------------

static bool complete_types(const char *path)
{
    size_t size = 0, count;
    uint32_t *words = (uint32_t *)(void *)read_file(path, &size);
    count = size / sizeof *words;
    uint32_t *complete = words && size % sizeof *words == 0 ? gpu_spirv_complete_types(words, &count) : NULL;
    FILE *file = complete ? fopen(path, "wb") : NULL;
    bool written = file && fwrite(complete, sizeof *complete, count, file) == count;
    if (file && fclose(file) != 0) written = false;
    free(complete);
    free(words);
    return written || failure("cannot complete the types of", path);
}

// ---- pack -----------------------------------------------------------------------------------------------------------

// What all modules are packed against is unpacked with each of them, so it is not to be long. Of the library's kernels the
// largest one below 8,192 words brings 2.31 MB down to 196 KB; one of twice the length saves nothing more.
enum { MAX_MODULES = 1024, MAX_ROOT_WORDS = 8192 };
struct modules {
    const char *folder;
    struct gpu_spirv_globals globals;
    struct gpu_spirv_module list[MAX_MODULES]; // packed is the same as bytes
    struct source {
        uint32_t *words, *ids;
        uint64_t *symbols;
        unsigned char *bytes;
    } sources[MAX_MODULES];
    int count, root; // root: what all kernels in floats are packed against, in the end
};

// The file that spirv.cmake made.
static bool add_module(struct modules *all, const struct gpu_kernel *kernel, int precision)
{
    char path[1024];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s.%s.spv", all->folder, kernel->name, gpu_precision_names[precision]);
    if (all->count == MAX_MODULES) return failure("MAX_MODULES is too small for", path);
    int i = all->count++;
    struct source *source = &all->sources[i];
    source->words = (uint32_t *)(void *)read_file(path, &size);
    if (!source->words || size % sizeof *source->words != 0) return failure("no SPIR-V in", path);
    all->list[i] = (struct gpu_spirv_module){
        .kernel = kernel->name,
        .precision = (enum gpu_precision)precision,
        .words = size / sizeof *source->words,
    };
    source->ids = gpu_spirv_number(&all->globals, source->words, all->list[i].words);
    return source->ids || failure("cannot number the ids of", path);
}

static bool add_modules(const struct gpu_kernel *kernel, void *user)
{
    if (!gpu_kernel_has_language(kernel, GPU_VULKAN)) return true;
    for (int precision = 0; precision < gpu_kernel_precisions; precision++)
        if (!add_module(user, kernel, precision)) return false;
    return true;
}

// Whether what was packed comes out again, but for the ids' new names.
static bool comes_out_again(const struct modules *all, int index)
{
    const struct source *source = &all->sources[index];
    uint32_t *words = gpu_spirv_unpack(all->list, index), bound = source->words[GPU_SPIRV_BOUND];
    bool same = words != NULL;
    for (size_t i = 0; same && i < all->list[index].words; i++) {
        uint32_t word = source->words[i];
        same = i == GPU_SPIRV_BOUND || words[i] == word || (word < bound && words[i] == source->ids[word]);
    }
    free(words);
    return same;
}

// The root is the longest kernel in floats that is not beyond MAX_ROOT_WORDS.
static void choose_root(struct modules *all)
{
    size_t most = 0;
    for (int i = 0; i < all->count; i++) {
        all->list[i].base = -1;
        if (all->list[i].precision != GPU_F32 || all->list[i].words > MAX_ROOT_WORDS || all->list[i].words <= most) continue;
        most = all->list[i].words;
        all->root = i;
    }
}

// Packs a module with this base, and keeps that where it is the smallest so far.
static bool try_base(struct modules *all, int index, int base)
{
    struct gpu_spirv_module *module = &all->list[index];
    struct source *source = &all->sources[index];
    size_t own = 0, size = 0;
    for (int i = base; i >= 0; i = all->list[i].base) own += all->list[i].words;
    uint64_t *symbols = malloc((own + module->words) * sizeof *symbols);
    if (!symbols) return false;
    size_t end = own;
    memcpy(symbols + own, source->symbols, module->words * sizeof *symbols);
    for (int i = base; i >= 0; i = all->list[i].base) {
        end -= all->list[i].words;
        memcpy(symbols + end, all->sources[i].symbols, all->list[i].words * sizeof *symbols);
    }
    unsigned char *bytes = gpu_spirv_pack(symbols, own, own + module->words, &size);
    free(symbols);
    if (bytes && (!source->bytes || size < module->size)) {
        free(source->bytes);
        source->bytes = bytes;
        module->packed = bytes;
        module->size = size;
        module->base = base;
    } else {
        free(bytes);
    }
    return bytes != NULL;
}

static int depth_of(const struct modules *all, int index)
{
    int depth = 0;
    for (int i = all->list[index].base; i >= 0; i = all->list[i].base) depth++;
    return depth;
}

// The base of a kernel in halves is the same one in floats, or that one's base in halves; of a kernel in floats the
// root, or one of the kernels before it in the list, which stand beside those that they resemble. (355 KB in
// place of 395 against the root alone.) So no module has more than four behind it.
static bool pack_module(struct modules *all, int index)
{
    enum { NEIGHBORS = 8, MOST_DEPTH = 2 };
    struct source *source = &all->sources[index];
    const int floats = index - (int)all->list[index].precision;
    source->symbols = malloc(all->list[index].words * sizeof *source->symbols);
    bool done = source->symbols && gpu_spirv_symbols(source->words, all->list[index].words, source->ids,
                                                     all->globals.count + 1, source->symbols);
    if (index == all->root) {
        done = done && try_base(all, index, -1);
    } else if (floats != index) {
        const int like = all->list[floats].base;
        done = done && try_base(all, index, floats);
        if (like >= 0 && like != all->root) done = done && try_base(all, index, like + index - floats);
    } else {
        done = done && try_base(all, index, all->root);
        for (int i = index - 1, tried = 0; done && i >= 0 && tried < NEIGHBORS; i--) {
            if (all->list[i].precision != GPU_F32 || depth_of(all, i) > MOST_DEPTH) continue;
            done = try_base(all, index, i);
            tried++;
        }
    }
    return (done && comes_out_again(all, index)) || failure("cannot pack", all->list[index].kernel);
}

static void write_module(FILE *out, const struct gpu_spirv_module *module)
{
    fprintf(out, "static const unsigned char %s_%s[] = {", module->kernel, gpu_precision_names[module->precision]);
    for (size_t i = 0; i < module->size; i++) fprintf(out, "%s%d,", i % 24 ? " " : "\n    ", module->packed[i]);
    fprintf(out, "\n};\n");
}

static bool pack(const char *folder, FILE *out)
{
    struct modules *all = calloc(1, sizeof *all);
    if (!all) return failure("no memory for", folder);
    all->folder = folder;
    bool done = gpu_each_kernel(add_modules, all);
    fprintf(out, "// SPDX-License-Identifier: Apache-2.0\n"
                 "// Made by gpu_shaders while building: all kernels as SPIR-V, packed.\n"
                 "#include \"gpu/lang/spirv/spirv.h\"\n\n");
    choose_root(all);
    done = done && pack_module(all, all->root);
    for (int i = 0; done && i < all->count; i++) done = i == all->root || pack_module(all, i);
    for (int i = 0; done && i < all->count; i++) write_module(out, &all->list[i]);
    fprintf(out, "\nconst int gpu_spirv_module_count = %d;\n", all->count);
    fprintf(out, "const struct gpu_spirv_module gpu_spirv_modules[] = {\n");
    for (int i = 0; i < all->count; i++) {
        const struct gpu_spirv_module *module = &all->list[i];
        fprintf(out, "    {\"%s\", %d, %d, %zu, %zu, %s_%s},\n", module->kernel, (int)module->precision, module->base,
                module->words, module->size, module->kernel, gpu_precision_names[module->precision]);
        free(all->sources[i].words);
        free(all->sources[i].ids);
        free(all->sources[i].symbols);
        free(all->sources[i].bytes);
    }
    fprintf(out, "};\n");
    gpu_spirv_globals_free(&all->globals);
    free(all);
    return done;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "types") == 0) return complete_types(argv[2]) ? 0 : 1;
    struct job job = {.folder = argc > 2 ? argv[2] : NULL};
    char path[1024] = "";
    bool done = false;
    if (argc == 3 && strcmp(argv[1], "write") == 0) {
        snprintf(path, sizeof path, "%s/list", argv[2]);
        job.out = fopen(path, "w");
        done = job.out && gpu_each_kernel(write_shaders, &job);
    } else if (argc == 4 && strcmp(argv[1], "pack") == 0) {
        snprintf(path, sizeof path, "%s", argv[3]);
        job.out = fopen(path, "w");
        done = job.out && pack(argv[2], job.out);
    } else {
        fprintf(stderr, "gpu_shaders write FOLDER | gpu_shaders types FILE.spv | gpu_shaders pack FOLDER FILE.c\n");
        return 2;
    }
    bool closed = job.out && fclose(job.out) == 0;
    if (done && closed) return 0;
    if (!closed) fprintf(stderr, "gpu_shaders: cannot write %s\n", path);
    remove(path);
    return 1;
}
