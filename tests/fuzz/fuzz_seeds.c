// SPDX-License-Identifier: Apache-2.0
// What fuzzing starts from, made here so that no file of others is needed: fuzz_seeds FOLDER writes for each target X
// the files FOLDER/X.corpus/… and the dictionary FOLDER/X.dict. Models: every operator of operators.def, in some
// shapes and types.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/op_models.h"

static const char *folder;

static FILE *open_file(const char *target, const char *kind, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, target, kind);
    if (name) {
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            fprintf(stderr, "fuzz_seeds: cannot make %s: %s\n", path, strerror(errno));
            exit(1);
        }
        size_t length = strlen(path);
        snprintf(path + length, sizeof path - length, "/%s", name);
    }
    FILE *file = fopen(path, "wb");
    if (file) return file;
    fprintf(stderr, "fuzz_seeds: cannot write %s: %s\n", path, strerror(errno));
    exit(1);
}

static void write_seed(const char *target, const char *name, const void *bytes, size_t size)
{
    FILE *file = open_file(target, "corpus", name);
    bool written = fwrite(bytes, 1, size, file) == size;
    if (fclose(file) == 0 && written) return;
    fprintf(stderr, "fuzz_seeds: cannot write seeds to %s\n", folder);
    exit(1);
}

static void write_word(FILE *dictionary, const void *bytes, size_t size)
{
    fputc('"', dictionary);
    for (size_t i = 0; i < size; i++) fprintf(dictionary, "\\x%02X", ((const unsigned char *)bytes)[i]);
    fputs("\"\n", dictionary);
}

// ---- models -------------------------------------------------------------------------------------

static void write_model(const struct op_choice *choice, bool first)
{
    struct op_model m = op_model_make(choice);
    static const char suffix[] = ".tflite";
    char name[200];
    file_grow(&m.file, 1, 1, 0);
    m.file.bytes[m.file.size - 1] = (uint8_t)(choice->type + m.input_count); // which inputs: fuzz_invoke
    op_models_name(choice, name, sizeof name - sizeof suffix);
    strcat(name, suffix);
    if (first) write_seed("fuzz_load", name, m.file.bytes, m.file.size); // its readers look no deeper
    write_seed("fuzz_invoke", name, m.file.bytes, m.file.size);
    free(m.file.bytes);
}

static void write_models(void)
{
    FILE *dictionaries[] = {open_file("fuzz_load", "dict", NULL), open_file("fuzz_invoke", "dict", NULL)};
    struct op_choice choice = {.op = -1};
    for (int op = -1; op_models_next(&choice, false); op = choice.op) write_model(&choice, choice.op != op);
    for (int op = 0; op < op_models_ops(); op++) {
        int number;
        const char *name = op_models_op(op, &number);
        const unsigned char code[4] = {(unsigned char)number};
        for (int d = 0; d < 2 && number == 32; d++) write_word(dictionaries[d], name, strlen(name) + 1);
        for (int d = 0; d < 2 && number != 32; d++) write_word(dictionaries[d], code, sizeof code);
    }
    static const int32_t numbers[] = {-1, -2, INT32_MAX, INT32_MIN, 65536, 0x7f800000, 0x7fc00000, 0x3f800000};
    for (int d = 0; d < 2; d++) {
        write_word(dictionaries[d], "TFL3", 4);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) write_word(dictionaries[d], &numbers[i], 4);
        fclose(dictionaries[d]);
    }
}

// ---- FlexBuffers: laid out by hand, as the format says -------------------------------------------

// Behind the values: the root's packed type (kind * 4 + width) and its width in bytes.
#define FLEX(...) (const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__})

static void write_flex(void)
{
    write_seed("fuzz_flex", "integer", FLEX(7, 1 * 4, 1));
    write_seed("fuzz_flex", "wide_integer", FLEX(1, 2, 3, 4, 5, 6, 7, 8, 2 * 4 + 3, 8));
    write_seed("fuzz_flex", "float", FLEX(0, 0, 0x80, 0x3f, 3 * 4 + 2, 4));
    write_seed("fuzz_flex", "boolean", FLEX(1, 26 * 4, 1));
    write_seed("fuzz_flex", "null", FLEX(0, 0, 1));
    write_seed("fuzz_flex", "string", FLEX(2, 'a', 'b', 0, 3, 5 * 4, 1));
    write_seed("fuzz_flex", "blob", FLEX(2, 8, 9, 2, 25 * 4, 1));
    write_seed("fuzz_flex", "vector", FLEX(2, 5, 6, 4, 8, 4, 10 * 4, 1));
    write_seed("fuzz_flex", "typed_vector", FLEX(3, 5, 6, 7, 3, 11 * 4, 1));
    write_seed("fuzz_flex", "triple", FLEX(5, 6, 7, 3, 19 * 4, 1));
    write_seed("fuzz_flex", "indirect", FLEX(9, 1, 6 * 4, 1));
    // The key "a", the vector of keys, then the map: where its keys are, their width, count, value, type.
    write_seed("fuzz_flex", "map", FLEX('a', 0, 1, 3, 1, 1, 1, 7, 4, 2, 9 * 4, 1));
    write_seed("fuzz_flex", "map_in_vector", FLEX('a', 0, 1, 3, 1, 1, 1, 7, 4, 1, 3, 36, 2, 10 * 4, 1));
    FILE *dictionary = open_file("fuzz_flex", "dict", NULL);
    for (unsigned char kind = 0; kind <= 36; kind++)
        for (unsigned char width = 0; width < 4; width++)
            write_word(dictionary,
                       (const unsigned char[]){(unsigned char)(kind * 4 + width), (unsigned char)(1 << width)}, 2);
    write_word(dictionary, "num_classes", sizeof "num_classes");
    write_word(dictionary, "padding", sizeof "padding");
    fclose(dictionary);
}

// ---- calls of the C API, and what the GPU delegate takes ------------------------------------------

static void write_calls(void)
{
    FILE *dictionary = open_file("fuzz_api", "dict", NULL);
    static const unsigned char create[] = {3, 0}, allocate[] = {11, 2, 2}, invoke[] = {11, 2, 0},
                               resize[] = {11, 2, 4, 1, 3}, write[] = {11, 2, 6, 1}, runner[] = {5, 0}, remove[] = {4},
                               forget[] = {10};
    const struct {
        const unsigned char *bytes;
        size_t size;
    } words[] = {{create, 2}, {allocate, 3}, {invoke, 3}, {resize, 5},
                 {write, 4},  {runner, 2},   {remove, 1}, {forget, 1}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) write_word(dictionary, words[i].bytes, words[i].size);
    fclose(dictionary);
    for (unsigned char model = 0; model < 4; model++) {
        const unsigned char calls[] = {model, 0,  0, 0, 3,  0,  11, 2, 2,  11, 2, 0,  11, 2, 4, 1,
                                       3,     11, 2, 2, 11, 2,  0,  5, 0,  6,  1, 1,  6,  1, 0, 2,
                                       1,     1,  1, 3, 0,  11, 2,  2, 11, 2,  0, 10, 11, 2, 0, 4};
        char name[20];
        snprintf(name, sizeof name, "model_%d", model);
        write_seed("fuzz_api", name, calls, sizeof calls);
    }
}

static void write_gpu(void)
{
    static const char options[] = "\0device\0null\0precision\0fp16\0A\0001\0B\0002", device[] = "\1null:0";
    static const char kept[] = "\2halite kept\n", programs[] = "\3\0\0\0\0\0\0\0\0";
    write_seed("fuzz_gpu", "options", options, sizeof options);
    write_seed("fuzz_gpu", "device", device, sizeof device);
    write_seed("fuzz_gpu", "kept", kept, sizeof kept);
    write_seed("fuzz_gpu", "programs", programs, sizeof programs);
    FILE *dictionary = open_file("fuzz_gpu", "dict", NULL);
    static const char *const words[] = {"null", "device",         "precision",        "fp16",
                                        "fp32", "backend null\n", "serialization_dir"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) write_word(dictionary, words[i], strlen(words[i]));
    fclose(dictionary);
}

// ---- sounds -------------------------------------------------------------------------------------

// One frame of two channels; the first byte says that there has to be a header.
static void write_sound(const char *name, unsigned char tag, unsigned char bits, const void *samples, size_t size)
{
    unsigned char file[80] = "\0RIFF\0\0\0\0WAVEfmt \20\0\0\0\0\0\2\0\200\76\0\0\0\372\0\0\0\0\0\0data";
    enum { HEAD = 45, TAG = 21, BLOCK = 33, BITS = 35, SIZE = 41 };
    file[TAG] = tag;
    file[BITS] = bits;
    file[BLOCK] = file[SIZE] = (unsigned char)size;
    memcpy(file + HEAD, samples, size);
    write_seed("fuzz_wave", name, file, HEAD + size);
}

static void write_sounds(void)
{
    static const double both[] = {0.5, -2};
    static const float floats[] = {0.5f, -1};
    static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (unsigned char bits = 8; bits <= 32; bits += 8) {
        char name[20];
        snprintf(name, sizeof name, "pcm_%d", bits);
        write_sound(name, 1, bits, bytes, bits / 4);
    }
    write_sound("float", 3, 32, floats, sizeof floats);
    write_sound("double", 3, 64, both, sizeof both);
    for (char format = 1; format <= 6; format++) {
        char name[20], bare[] = {format, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        snprintf(name, sizeof name, "bare_%d", format);
        write_seed("fuzz_wave", name, bare, sizeof bare);
    }
    FILE *dictionary = open_file("fuzz_wave", "dict", NULL);
    static const char *const words[] = {"RIFF", "WAVE", "fmt ", "data", "LIST", "\376\377", "\377\377\377\377"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) write_word(dictionary, words[i], strlen(words[i]));
    fclose(dictionary);
}

// ---- capsules -----------------------------------------------------------------------------------

// capsule.json for the archive that fuzz_capsule makes around it; its model is empty.
static void write_capsules(void)
{
    static const char begin[] = "j{\"capsule\":1,\"model\":{\"sha256\":"
                                "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}",
                      array[] =
                          ",\"inputs\":[{\"name\":\"x\",\"type\":\"float32\",\"shape\":[2,3],\"file\":\"a.npy\"}]",
                      bytes[] = ",\"nodes\":[{\"type\":\"int16\",\"shape\":[12],\"file\":\"b.bin\",\"node\":3}]";
    char text[512];
    snprintf(text, sizeof text, "%s%s%s}", begin, array, bytes);
    write_seed("fuzz_capsule", "both", text, strlen(text));
    snprintf(text, sizeof text, "%s%s}", begin, array);
    write_seed("fuzz_capsule", "array", text, strlen(text));
    write_seed("fuzz_capsule", "empty", "zPK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 23);
    FILE *dictionary = open_file("fuzz_capsule", "dict", NULL);
    static const char *const words[] = {"PK\1\2", "PK\3\4",  "PK\5\6", "inputs", "outputs", "nodes", "a.npy",
                                        "b.bin",  "float64", "string", "int4",   "shape",   "type",  "file"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) write_word(dictionary, words[i], strlen(words[i]));
    fclose(dictionary);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    folder = argv[1];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "fuzz_seeds: cannot make %s: %s\n", folder, strerror(errno));
        return 1;
    }
    write_models();
    write_flex();
    write_calls();
    write_sounds();
    write_capsules();
    write_gpu();
    return 0;
}
