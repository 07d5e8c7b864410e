// SPDX-License-Identifier: Apache-2.0
// The build's part of the Vulkan backend. gpu_shaders write FOLDER: every kernel and precision as
// FOLDER/NAME.PRECISION.comp, rewritten only where the text has changed, and their names as FOLDER/list. spirv.cmake
// compiles them; then gpu_shaders pack FOLDER FILE.c: the .spv files as one C file with gpu_spirv
// (src/gpu/lang/spirv/spirv.h).
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/lang/spirv/kernels.h"

struct job {
    const char *folder;
    FILE *out, *table; // pack: the C file and, until all words are in it, its table; write: the list
};

static bool failure(const char *what, const char *path)
{
    fprintf(stderr, "gpu_shaders: %s %s\n", what, path);
    return false;
}

// The whole file, with a zero byte behind it; NULL: it is not there.
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
    for (int precision = 0; precision < gpu_kernel_precisions; precision++)
        if (!write_shader(user, kernel, (enum gpu_precision)precision)) return false;
    return true;
}

static bool pack_shader(struct job *job, const struct gpu_kernel *kernel, enum gpu_precision precision)
{
    char path[1024];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s.%s.spv", job->folder, kernel->name, gpu_precision_names[precision]);
    char *data = read_file(path, &size);
    if (!data || size < 20 || size % 4) {
        free(data);
        return failure("no SPIR-V in", path);
    }
    fprintf(job->out, "static const unsigned char %s_%s[] = {", kernel->name, gpu_precision_names[precision]);
    for (size_t i = 0; i < size / 4; i++) {
        uint32_t word;
        memcpy(&word, data + 4 * i, 4);
        fputs(i % 12 ? " " : "\n    ", job->out);
        for (; word > 127; word >>= 7) fprintf(job->out, "%u,", (unsigned)(word & 127) | 128);
        fprintf(job->out, "%u,", (unsigned)word);
    }
    fprintf(job->out, "\n};\n");
    fprintf(job->table, "    {\"%s\", %d, %zu, %s_%s},\n", kernel->name, precision, size, kernel->name,
            gpu_precision_names[precision]);
    free(data);
    return true;
}

static bool pack_shaders(const struct gpu_kernel *kernel, void *user)
{
    for (int precision = 0; precision < gpu_kernel_precisions; precision++)
        if (!pack_shader(user, kernel, (enum gpu_precision)precision)) return false;
    return true;
}

static const char pack_head[] = "// SPDX-License-Identifier: Apache-2.0\n"
                                "// Made by gpu_shaders while building: all kernels as SPIR-V. Its words are small numbers,\n"
                                "// mostly: seven bits to a byte, the lowest first, more to come where the highest is set.\n"
                                "#include <stdlib.h>\n"
                                "#include <string.h>\n\n"
                                "#include \"gpu/lang/spirv/spirv.h\"\n\n";
static const char pack_tail[] =
    "};\n\n"
    "static uint32_t *unpack(const unsigned char *from, size_t bytes)\n"
    "{\n"
    "    uint32_t *words = calloc(1, bytes);\n"
    "    for (size_t i = 0; words && i < bytes / 4; i++) {\n"
    "        int shift = 0;\n"
    "        for (; *from > 127; shift += 7) words[i] |= (uint32_t)(*from++ & 127) << shift;\n"
    "        words[i] |= (uint32_t)*from++ << shift;\n"
    "    }\n"
    "    return words;\n"
    "}\n\n"
    "uint32_t *gpu_spirv(const char *kernel, enum gpu_precision precision, size_t *bytes)\n"
    "{\n"
    "    *bytes = 0;\n"
    "    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {\n"
    "        if (table[i].precision != precision || strcmp(table[i].kernel, kernel) != 0) continue;\n"
    "        *bytes = table[i].bytes;\n"
    "        return unpack(table[i].packed, table[i].bytes);\n"
    "    }\n"
    "    return NULL;\n"
    "}\n";
static const char pack_table[] = "\nstatic const struct {\n"
                                 "    const char *kernel;\n"
                                 "    enum gpu_precision precision;\n"
                                 "    size_t bytes;\n"
                                 "    const unsigned char *packed;\n"
                                 "} table[] = {\n";

static bool pack(struct job *job)
{
    fputs(pack_head, job->out);
    if (!gpu_each_kernel(pack_shaders, job)) return false;
    fputs(pack_table, job->out);
    rewind(job->table);
    for (int c = getc(job->table); c != EOF; c = getc(job->table)) putc(c, job->out);
    fputs(pack_tail, job->out);
    return true;
}

int main(int argc, char **argv)
{
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
        job.table = tmpfile();
        done = job.out && job.table && pack(&job);
        if (job.table) fclose(job.table);
    } else {
        fprintf(stderr, "gpu_shaders write FOLDER | gpu_shaders pack FOLDER FILE.c\n");
        return 2;
    }
    bool closed = job.out && fclose(job.out) == 0;
    if (done && closed) return 0;
    if (!closed) fprintf(stderr, "gpu_shaders: cannot write %s\n", path);
    remove(path);
    return 1;
}
