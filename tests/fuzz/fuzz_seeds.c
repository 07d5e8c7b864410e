// SPDX-License-Identifier: Apache-2.0
// What fuzzing starts from, made here so that no file of others is needed: fuzz_seeds FOLDER writes for each target X the
// files FOLDER/X.corpus/… and the dictionary FOLDER/X.dict. Models: every operator of ops.def, in some shapes and types.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/model_file.h"

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
    for (size_t i = 0; i < size; i++)
        fprintf(dictionary, "\\x%02X", ((const unsigned char *)bytes)[i]);
    fputs("\"\n", dictionary);
}

// ---- models -------------------------------------------------------------------------------------

enum { MOST_INPUTS = 5, MOST_ELEMENTS = 64 };

// Inputs of a node: those with numbers are constant int32.
static const struct shapes {
    const char *name;
    int input_count;
    struct {
        int rank, dims[4];
        const char *numbers;
    } inputs[MOST_INPUTS];
} shapes[] = {
    {"one", 1, {{4, {1, 4, 4, 2}, NULL}}},
    {"same", 2, {{4, {1, 4, 4, 2}, NULL}, {4, {1, 4, 4, 2}, NULL}}},
    {"three", 3, {{2, {2, 3}, NULL}, {2, {2, 3}, NULL}, {2, {2, 3}, NULL}}},
    {"image", 3, {{4, {1, 4, 4, 2}, NULL}, {4, {2, 3, 3, 2}, NULL}, {1, {2}, NULL}}},
    {"rows", 3, {{2, {2, 4}, NULL}, {2, {3, 4}, NULL}, {1, {3}, NULL}}},
    {"axis", 2, {{3, {2, 3, 4}, NULL}, {0, {0}, "\1"}}},
    {"sizes", 2, {{4, {1, 4, 4, 2}, NULL}, {1, {2}, "\2\2"}}},
    {"pairs", 2, {{2, {2, 4}, NULL}, {2, {2, 2}, "\1\1\1\1"}}},
    {"blocks", 3, {{4, {1, 4, 4, 2}, NULL}, {1, {2}, "\2\2"}, {2, {2, 2}, "\0\0\0\0"}}},
    {"slices", 4, {{2, {3, 4}, NULL}, {1, {2}, "\0\1"}, {1, {2}, "\2\3"}, {1, {2}, "\1\1"}}},
    {"scatter", 3, {{2, {2, 1}, "\0\1"}, {2, {2, 4}, NULL}, {1, {2}, "\4\4"}}},
    {"state",
     5,
     {{2, {1, 4}, NULL}, {2, {4, 4}, NULL}, {2, {4, 4}, NULL}, {1, {4}, NULL}, {2, {1, 4}, NULL}}},
    {"boxes",
     5,
     {{2, {4, 4}, NULL}, {1, {4}, NULL}, {0, {0}, "\3"}, {0, {0}, NULL}, {0, {0}, NULL}}},
};
static const struct {
    const char *name;
    int type; // the schema's
    bool quantised;
} types[] = {{"float32", 0, false},
             {"int8", 9, true},
             {"int32", 2, false},
             {"int16", 7, true},
             {"bool", 6, false}};
enum { TYPES = sizeof types / sizeof *types };

static void write_options(struct model_file *file, size_t node, int table)
{
    bool second = false;
    unsigned type = 1;
    while (hl_schema_member(second ? HL_BuiltinOptions2 : HL_BuiltinOptions, type) != table) {
        type++;
        if (hl_schema_member(second ? HL_BuiltinOptions2 : HL_BuiltinOptions, type) >= 0) continue;
        if (second) return;
        second = true;
        type = 1;
    }
    file_set(file, node,
             second ? HL_Operator_builtin_options_2_type : HL_Operator_builtin_options_type, type);
    size_t options =
        file_child(file, node, second ? HL_Operator_builtin_options_2 : HL_Operator_builtin_options,
                   (enum hl_schema)table);
    for (int field = table + 1;
         hl_schema[field].kind != HL_KIND_TABLE && hl_schema[field].kind != HL_KIND_UNION_TYPE;
         field++)
        if (hl_schema[field].kind == HL_KIND_SCALAR && hl_schema[field].scalar == HL_SCALAR_F32)
            file_set_float(file, options, (enum hl_schema)field, 1);
        else if (hl_schema[field].kind == HL_KIND_SCALAR)
            file_set(file, options, (enum hl_schema)field,
                     !strstr(hl_schema[field].name, "activation"));
}

static void write_tensor(struct model_file *file, size_t table, const struct shapes *s, int i,
                         int type, bool quantised, size_t buffer)
{
    file_set_vector(file, table, HL_Tensor_shape, s->inputs[i].dims, (size_t)s->inputs[i].rank);
    file_set(file, table, HL_Tensor_type, s->inputs[i].numbers ? 2 : type);
    if (s->inputs[i].numbers) {
        int32_t numbers[MOST_ELEMENTS], count = 1;
        for (int d = 0; d < s->inputs[i].rank; d++) count *= s->inputs[i].dims[d];
        for (int n = 0; n < count; n++) numbers[n] = s->inputs[i].numbers[n];
        file_set(file, table, HL_Tensor_buffer, i + 1);
        file_set_vector(file, buffer, HL_Buffer_data, numbers, (size_t)count * sizeof *numbers);
    } else if (quantised) {
        size_t q = file_child(file, table, HL_Tensor_quantization, HL_QuantizationParameters);
        file_set_vector(file, q, HL_QuantizationParameters_scale, (const float[]){0.5f}, 1);
        file_set_vector(file, q, HL_QuantizationParameters_zero_point, NULL, 1);
    }
}

static void write_model(const char *op, int code, int version, int options, const struct shapes *s,
                        int type)
{
    struct model_file file = {0};
    size_t code_table, graphs[2], node, tensors[MOST_INPUTS + 1], buffers[MOST_INPUTS + 1];
    int32_t inputs[MOST_INPUTS], runtime_inputs[MOST_INPUTS], runtime_count = 0,
                                                              output = s->input_count;
    size_t root = file_begin(&file);
    file_children(&file, root, HL_Model_operator_codes, 1, &code_table);
    file_set(&file, code_table, HL_OperatorCode_deprecated_builtin_code, code < 127 ? code : 127);
    file_set(&file, code_table, HL_OperatorCode_builtin_code, code);
    file_set(&file, code_table, HL_OperatorCode_version, version);
    if (code == 32) file_set_string(&file, code_table, HL_OperatorCode_custom_code, op);
    file_children(&file, root, HL_Model_buffers, MOST_INPUTS + 1, buffers);
    file_children(&file, root, HL_Model_subgraphs, 2,
                  graphs); // the second for those that call one: input to output
    file_children(&file, graphs[0], HL_SubGraph_tensors, s->input_count + 1, tensors);
    for (int i = 0; i < s->input_count; i++) {
        write_tensor(&file, tensors[i], s, i, types[type].type, types[type].quantised,
                     buffers[i + 1]);
        inputs[i] = i;
        if (!s->inputs[i].numbers) runtime_inputs[runtime_count++] = i;
    }
    struct shapes result = {.inputs = {{s->inputs[0].rank, {0}, NULL}}};
    memcpy(result.inputs[0].dims, s->inputs[0].dims, sizeof result.inputs[0].dims);
    write_tensor(&file, tensors[output], &result, 0, types[type].type, types[type].quantised, 0);
    file_children(&file, graphs[0], HL_SubGraph_operators, 1, &node);
    file_set_vector(&file, node, HL_Operator_inputs, inputs, (size_t)s->input_count);
    file_set_vector(&file, node, HL_Operator_outputs, &output, 1);
    if (options >= 0) write_options(&file, node, options);
    file_set_vector(&file, graphs[0], HL_SubGraph_inputs, runtime_inputs, (size_t)runtime_count);
    file_set_vector(&file, graphs[0], HL_SubGraph_outputs, &output, 1);
    size_t pass;
    file_children(&file, graphs[1], HL_SubGraph_tensors, 1, &pass);
    write_tensor(&file, pass, &result, 0, types[type].type, types[type].quantised, 0);
    FILE_INTS(&file, graphs[1], HL_SubGraph_inputs, 0);
    FILE_INTS(&file, graphs[1], HL_SubGraph_outputs, 0);
    file_grow(&file, 1, 1, 0);
    file.bytes[file.size - 1] = (uint8_t)(type + s->input_count); // which inputs: fuzz_invoke
    char name[200];
    snprintf(name, sizeof name, "%s_%s_%s.tflite", op, s->name, types[type].name);
    for (char *c = name; *c; c++)
        if (*c == '/') *c = '_';
    if (type == 0 && s == shapes)
        write_seed("fuzz_load", name, file.bytes, file.size); // its readers look no deeper
    write_seed("fuzz_invoke", name, file.bytes, file.size);
    free(file.bytes);
}

static const struct {
    const char *name;
    int code, version, options;
} ops[] = {
#define HL_NONE (-1)
#define OP(name, code, first, last, options, symbol, file) {#name, code, last, HL_##options},
#define GAP(name, code, first, last, options)
#define CUSTOM(name, symbol, file) {name, 32, 1, HL_NONE},
#include "ops/ops.def"
#undef OP
#undef GAP
#undef CUSTOM
};

static void write_models(void)
{
    FILE *dictionaries[] = {open_file("fuzz_load", "dict", NULL),
                            open_file("fuzz_invoke", "dict", NULL)};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int type = 0; type < TYPES;
                 type += 1 + (int)((i + s) % (TYPES - 1))) // float32 and some others
                write_model(ops[i].name, ops[i].code, ops[i].version, ops[i].options, &shapes[s],
                            type);
        const unsigned char code[4] = {(unsigned char)ops[i].code};
        for (int d = 0; d < 2 && ops[i].code == 32; d++)
            write_word(dictionaries[d], ops[i].name, strlen(ops[i].name) + 1);
        for (int d = 0; d < 2 && ops[i].code != 32; d++)
            write_word(dictionaries[d], code, sizeof code);
    }
    static const int32_t numbers[] = {-1,    -2,         INT32_MAX,  INT32_MIN,
                                      65536, 0x7f800000, 0x7fc00000, 0x3f800000};
    for (int d = 0; d < 2; d++) {
        write_word(dictionaries[d], "TFL3", 4);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            write_word(dictionaries[d], &numbers[i], 4);
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
    write_seed("fuzz_flex", "map_in_vector",
               FLEX('a', 0, 1, 3, 1, 1, 1, 7, 4, 1, 3, 36, 2, 10 * 4, 1));
    FILE *dictionary = open_file("fuzz_flex", "dict", NULL);
    for (unsigned char kind = 0; kind <= 36; kind++)
        for (unsigned char width = 0; width < 4; width++)
            write_word(dictionary,
                       (const unsigned char[]){(unsigned char)(kind * 4 + width),
                                               (unsigned char)(1 << width)},
                       2);
    write_word(dictionary, "num_classes", sizeof "num_classes");
    write_word(dictionary, "padding", sizeof "padding");
    fclose(dictionary);
}

// ---- calls of the C API, and what the GPU delegate takes ------------------------------------------

static void write_calls(void)
{
    FILE *dictionary = open_file("fuzz_api", "dict", NULL);
    static const unsigned char create[] = {3, 0}, allocate[] = {11, 2, 2}, invoke[] = {11, 2, 0},
                               resize[] = {11, 2, 4, 1, 3}, write[] = {11, 2, 6, 1},
                               runner[] = {5, 0}, remove[] = {4}, forget[] = {10};
    const struct {
        const unsigned char *bytes;
        size_t size;
    } words[] = {{create, 2}, {allocate, 3}, {invoke, 3}, {resize, 5},
                 {write, 4},  {runner, 2},   {remove, 1}, {forget, 1}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        write_word(dictionary, words[i].bytes, words[i].size);
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
    static const char options[] = "\0device\0null\0precision\0fp16\0A\0001\0B\0002",
                      device[] = "\1null:0";
    static const char kept[] = "\2halite kept\n", programs[] = "\3\0\0\0\0\0\0\0\0";
    write_seed("fuzz_gpu", "options", options, sizeof options);
    write_seed("fuzz_gpu", "device", device, sizeof device);
    write_seed("fuzz_gpu", "kept", kept, sizeof kept);
    write_seed("fuzz_gpu", "programs", programs, sizeof programs);
    FILE *dictionary = open_file("fuzz_gpu", "dict", NULL);
    static const char *const words[] = {"null", "device",         "precision",        "fp16",
                                        "fp32", "backend null\n", "serialization_dir"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        write_word(dictionary, words[i], strlen(words[i]));
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
    write_gpu();
    return 0;
}
