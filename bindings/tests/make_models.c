// SPDX-License-Identifier: Apache-2.0
// Writes the models that the cases of all languages (cases.json) need beside the golden ones, so that a clone without
// these tests something, too: make_models FOLDER. For each row of a table below it writes NAME.tflite, NAME.bin
// with the numbers that go in and come out, and NAME.txt, which says what is where as a golden manifest does. The
// expected numbers stand here as literals: they are computed by hand, or by the official runtime where that is said.
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/schema.h"
#include "support/model_writer.h"

enum { ADD = 0, FLOOR_DIV = 90, RESHAPE = 22, SPLIT = 49, GATHER = 36, MUL = 18, CUSTOM = 32 };
enum { MAX_PORTS = 4, ALIGNMENT = 16 };

// One tensor of a case: bytes in memory order, as they stand in the file.
struct port {
    const char *name, *type;
    int rank, dims[4];
    const void *data;
    size_t bytes;
};
#define PORT(name, type, values, ...)                                                                \
    {                                                                                                \
        name, type, TEST_LENGTH(((const int[]){__VA_ARGS__})), {__VA_ARGS__}, values, sizeof(values) \
    }

struct row {
    const char *name;
    const struct test_model *model; // NULL: the demo model that the name begins with
    const char *signature;          // run this one, or NULL
    int input_count, output_count;
    struct port inputs[MAX_PORTS], outputs[MAX_PORTS];
    const char *fails; // "allocate TEXT" or "invoke TEXT", or NULL
};

// ---- values -------------------------------------------------------------------------------------

static const float float6[] = {1, -2, 3.5f, -4.25f, 0, 65504}, float3[] = {10, 20, 30};
static const float sums[] = {11, 18, 33.5f, 5.75f, 20, 65534};
static const uint16_t half6[] = {0x3c00, 0xc000, 0x4300, 0xc440, 0x0000, 0x7bff}; // float6 as halves
static const int8_t int8_6[] = {-128, -1, 0, 1, 2, 127};
static const uint8_t uint8_6[] = {0, 1, 127, 128, 254, 255}, bool6[] = {1, 0, 0, 1, 1, 0};
static const int16_t int16_6[] = {-32768, -1, 0, 1, 256, 32767};
static const int32_t int32_6[] = {INT32_MIN, -1, 0, 1, 65536, INT32_MAX}, three_two[] = {3, 2}, six[] = {6};
static const int64_t int64_6[] = {INT64_MIN, -1, 0, 1, 4294967296, INT64_MAX};
static const int32_t zero[] = {0}, two[] = {2}, seven[] = {7}, minus_seven[] = {-7}, minus_four[] = {-4}, nine[] = {9};
static const float one_float[] = {2.5f}, doubled[] = {5}, doubles6[] = {2, -4, 7, -8.5f, 0, 131008};
static const float left[] = {1, -4.25f}, middle[] = {-2, 0}, right[] = {3.5f, 65504};
static const float float12[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const float sums12[] = {11, 22, 33, 14, 25, 36, 17, 28, 39, 20, 31, 42};
static const float products3[] = {100, 400, 900}, doubles3[] = {20, 40, 60};
static const float five[] = {1, 2, 3, 4, 5};
// Two strings of a tensor, in the format's packed form: count, where each begins, where the last ends, characters.
static const struct {
    int32_t count, offsets[4];
    char text[9];
} strings3 = {3, {20, 22, 22, 29}, "hi\0world"};

// The "2" of the README, and what the official runtime's reference kernels (ai-edge-litert 2.3.0) make of it with the
// demo's two models.
#define PICTURE(o, X)                                                                                                  \
    {                                                                                                                  \
        o, o, X, X, X, X, o, o, o, X, o, o, o, o, X, o, o, o, o, o, o, o, X, o, o, o, o, o, o, X, o, o, o, o, o, o, X, \
            o, o, o, o, o, o, X, o, o, o, o, o, o, X, o, o, o, o, o, o, X, X, X, X, X, X, o                            \
    }
static const float picture[] = PICTURE(-1, 1);
static const int8_t picture_int8[] = PICTURE(-128, 126);
static const float digits[] = {9.649575360981544e-08f,  1.6945117184419267e-12f, 0.9999997615814209f,
                               1.4577054230358044e-07f, 8.273868650756841e-14f,  1.8787740807546527e-10f,
                               3.728375681105733e-12f,  1.861173437589514e-09f,  3.2463869370502607e-09f,
                               4.351957905157633e-09f};
static const int8_t digits_int8[] = {-128, -128, 127, -128, -128, -128, -128, -128, -128, -128};

// ---- models -------------------------------------------------------------------------------------

// y = RESHAPE(x) from [2, 3] to [3, 2], which leaves the bytes as they are.
#define RESHAPED(id, element)                                                                                     \
    static const struct test_tensor id##_tensors[] = {{.name = "x", .type = element, .rank = 2, .dims = {2, 3}},  \
                                                      {.name = "y", .type = element, .rank = 2, .dims = {3, 2}}}; \
    static const struct test_model id = {TEST_TENSORS(id##_tensors), TEST_NODE(reshape_3_2), TEST_INPUTS(0),      \
                                         TEST_OUTPUTS(1)};
static const struct test_node reshape_3_2 = {
    .builtin = RESHAPE,
    TEST_INPUTS(0),
    TEST_OUTPUTS(1),
    .settings = {{.field = HL_ReshapeOptions_new_shape, .count = 2, .list = three_two}}};
RESHAPED(of_float32, TEST_FLOAT32)
RESHAPED(of_float16, TEST_FLOAT16)
RESHAPED(of_int8, TEST_INT8)
RESHAPED(of_uint8, TEST_UINT8)
RESHAPED(of_int16, TEST_INT16)
RESHAPED(of_int32, TEST_INT32)
RESHAPED(of_int64, TEST_INT64)
RESHAPED(of_bool, TEST_BOOL)

// Strings go through a RESHAPE whose shape is an input, so that the output is dynamic.
static const struct test_tensor string_tensors[] = {{.name = "x", .type = TEST_STRING, .rank = 2, .dims = {3, 1}},
                                                    {.name = "shape", .type = TEST_INT32, .rank = 1, .dims = {1}},
                                                    {.name = "y", .type = TEST_STRING, .rank = 1, .dims = {3}}};
static const struct test_node reshape_by_input = {.builtin = RESHAPE, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
static const struct test_model of_strings = {TEST_TENSORS(string_tensors), TEST_NODE(reshape_by_input),
                                             TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
static const int32_t three[] = {3};

static const struct test_tensor dynamic_tensors[] = {{.name = "x", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 3}},
                                                     {.name = "shape", .type = TEST_INT32, .rank = 1, .dims = {1}},
                                                     {.name = "y", .type = TEST_FLOAT32, .rank = 1, .dims = {6}}};
static const struct test_model dynamic_shape = {TEST_TENSORS(dynamic_tensors), TEST_NODE(reshape_by_input),
                                                TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};

static const struct test_tensor scalar_tensors[] = {{.name = "x", .type = TEST_FLOAT32},
                                                    {.name = "y", .type = TEST_FLOAT32}};
static const struct test_node add_itself = {.builtin = ADD, TEST_INPUTS(0, 0), TEST_OUTPUTS(1)};
static const struct test_model of_scalar = {TEST_TENSORS(scalar_tensors), TEST_NODE(add_itself), TEST_INPUTS(0),
                                            TEST_OUTPUTS(1)};

static const struct test_tensor broadcast_tensors[] = {
    {.name = "x", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 3}, .has_signature = true, .signature = {-1, 3}},
    {.name = "y", .type = TEST_FLOAT32, .rank = 1, .dims = {3}},
    {.name = "sum", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 3}, .has_signature = true, .signature = {-1, 3}}};
static const struct test_node add_two = {.builtin = ADD, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
static const struct test_model broadcast = {TEST_TENSORS(broadcast_tensors), TEST_NODE(add_two), TEST_INPUTS(0, 1),
                                            TEST_OUTPUTS(2)};

static const int32_t last_axis[] = {1};
static const struct test_tensor split_tensors[] = {
    {.name = "axis", .type = TEST_INT32, .data = last_axis, .bytes = sizeof last_axis},
    {.name = "x", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 3}},
    {.name = "left", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 1}},
    {.name = "middle", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 1}},
    {.name = "right", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 1}}};
static const struct test_node split_three = {.builtin = SPLIT,
                                             TEST_INPUTS(0, 1),
                                             TEST_OUTPUTS(2, 3, 4),
                                             .settings = {{.field = HL_SplitOptions_num_splits, .value = 3}}};
static const struct test_model split = {TEST_TENSORS(split_tensors), TEST_NODE(split_three), TEST_INPUTS(1),
                                        TEST_OUTPUTS(2, 3, 4)};

// Two signatures of two subgraphs.
static const struct test_tensor vector_tensors[] = {{.name = "x", .type = TEST_FLOAT32, .rank = 1, .dims = {3}},
                                                    {.name = "y", .type = TEST_FLOAT32, .rank = 1, .dims = {3}}};
static const struct test_node square_node = {.builtin = MUL, TEST_INPUTS(0, 0), TEST_OUTPUTS(1)};
static const struct test_model square = {TEST_TENSORS(vector_tensors), TEST_NODE(square_node), TEST_INPUTS(0),
                                         TEST_OUTPUTS(1)};
static const struct test_signature two_signatures[] = {{"twice", 0, 1, 1, .inputs = {{"x", 0}},
                                                        .outputs = {{"twice", 1}}},
                                                       {"square", 1, 1, 1, .inputs = {{"x", 0}},
                                                        .outputs = {{"square", 1}}}};
static const struct test_model signatures = {TEST_TENSORS(vector_tensors),
                                             TEST_NODE(add_itself),
                                             TEST_INPUTS(0),
                                             TEST_OUTPUTS(1),
                                             .more_count = 1,
                                             .more = &square,
                                             .signature_count = 2,
                                             .signatures = two_signatures};

static const struct test_tensor divide_tensors[] = {{.name = "x", .type = TEST_INT32, .rank = 1, .dims = {1}},
                                                    {.name = "y", .type = TEST_INT32, .rank = 1, .dims = {1}},
                                                    {.name = "z", .type = TEST_INT32, .rank = 1, .dims = {1}}};
static const struct test_node divide_node = {.builtin = FLOOR_DIV, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
static const struct test_model divide = {TEST_TENSORS(divide_tensors), TEST_NODE(divide_node), TEST_INPUTS(0, 1),
                                         TEST_OUTPUTS(2)};

static const struct test_tensor gather_tensors[] = {
    {.name = "rows", .type = TEST_FLOAT32, .rank = 1, .dims = {5}, .data = five, .bytes = sizeof five},
    {.name = "index", .type = TEST_INT32, .rank = 1, .dims = {1}},
    {.name = "y", .type = TEST_FLOAT32, .rank = 1, .dims = {1}}};
static const struct test_node gather_node = {.builtin = GATHER, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
static const struct test_model gather = {TEST_TENSORS(gather_tensors), TEST_NODE(gather_node), TEST_INPUTS(1),
                                         TEST_OUTPUTS(2)};
static const float third[] = {3};

static const struct test_node custom_node = {.builtin = CUSTOM,
                                             .custom = "SomebodysOperator",
                                             TEST_INPUTS(0),
                                             TEST_OUTPUTS(1)};
static const struct test_model custom = {TEST_TENSORS(scalar_tensors), TEST_NODE(custom_node), TEST_INPUTS(0),
                                         TEST_OUTPUTS(1)};

static const struct test_node too_new_node = {.builtin = ADD, .version = 99, TEST_INPUTS(0, 0), TEST_OUTPUTS(1)};
static const struct test_model too_new = {TEST_TENSORS(scalar_tensors), TEST_NODE(too_new_node), TEST_INPUTS(0),
                                          TEST_OUTPUTS(1)};

// ---- rows ---------------------------------------------------------------------------------------

#define RESHAPED_ROW(id, type, values)                                                                           \
    {                                                                                                            \
        "reshape_" type, &id, NULL, 1, 1, {PORT("x", type, values, 2, 3)}, {PORT("y", type, values, 3, 2)}, NULL \
    }
#define ROW_OF_STRINGS(name, ...)                                                               \
    {                                                                                           \
        name, "string", TEST_LENGTH(((const int[]){__VA_ARGS__})), {__VA_ARGS__}, &strings3, 29 \
    }

static const struct row rows[] = {
    RESHAPED_ROW(of_float32, "float32", float6),
    RESHAPED_ROW(of_float16, "float16", half6),
    RESHAPED_ROW(of_int8, "int8", int8_6),
    RESHAPED_ROW(of_uint8, "uint8", uint8_6),
    RESHAPED_ROW(of_int16, "int16", int16_6),
    RESHAPED_ROW(of_int32, "int32", int32_6),
    RESHAPED_ROW(of_int64, "int64", int64_6),
    RESHAPED_ROW(of_bool, "bool", bool6),
    {"reshape_string",
     &of_strings,
     NULL,
     2,
     1,
     {ROW_OF_STRINGS("x", 3, 1), PORT("shape", "int32", three, 1)},
     {ROW_OF_STRINGS("y", 3)},
     NULL},
    {"dynamic_shape",
     &dynamic_shape,
     NULL,
     2,
     1,
     {PORT("x", "float32", float6, 2, 3), PORT("shape", "int32", six, 1)},
     {PORT("y", "float32", float6, 6)},
     NULL},
    {"dynamic_shape_of_seven",
     &dynamic_shape,
     NULL,
     2,
     0,
     {PORT("x", "float32", float6, 2, 3), PORT("shape", "int32", seven, 1)},
     {{0}},
     "invoke Node number 0 (RESHAPE)"},
    {"scalar",
     &of_scalar,
     NULL,
     1,
     1,
     {{"x", "float32", 0, {0}, one_float, sizeof one_float}},
     {{"y", "float32", 0, {0}, doubled, sizeof doubled}},
     NULL},
    {"scalar_resized",
     &of_scalar,
     NULL,
     1,
     1,
     {PORT("x", "float32", float6, 6)},
     {PORT("y", "float32", doubles6, 6)},
     NULL},
    {"broadcast",
     &broadcast,
     NULL,
     2,
     1,
     {PORT("x", "float32", float6, 2, 3), PORT("y", "float32", float3, 3)},
     {PORT("sum", "float32", sums, 2, 3)},
     NULL},
    {"broadcast_resized",
     &broadcast,
     NULL,
     2,
     1,
     {PORT("x", "float32", float12, 4, 3), PORT("y", "float32", float3, 3)},
     {PORT("sum", "float32", sums12, 4, 3)},
     NULL},
    {"broadcast_impossible",
     &broadcast,
     NULL,
     2,
     0,
     {PORT("x", "float32", float6, 2, 3), PORT("y", "float32", left, 2)},
     {{0}},
     "allocate Node number 0 (ADD) failed to prepare"},
    {"split",
     &split,
     NULL,
     1,
     3,
     {PORT("x", "float32", float6, 2, 3)},
     {PORT("left", "float32", left, 2, 1), PORT("middle", "float32", middle, 2, 1),
      PORT("right", "float32", right, 2, 1)},
     NULL},
    {"signature_twice",
     &signatures,
     "twice",
     1,
     1,
     {PORT("x", "float32", float3, 3)},
     {PORT("twice", "float32", doubles3, 3)},
     NULL},
    {"signature_square",
     &signatures,
     "square",
     1,
     1,
     {PORT("x", "float32", float3, 3)},
     {PORT("square", "float32", products3, 3)},
     NULL},
    {"divide",
     &divide,
     NULL,
     2,
     1,
     {PORT("x", "int32", minus_seven, 1), PORT("y", "int32", two, 1)},
     {PORT("z", "int32", minus_four, 1)},
     NULL},
    {"divide_by_zero",
     &divide,
     NULL,
     2,
     0,
     {PORT("x", "int32", minus_seven, 1), PORT("y", "int32", zero, 1)},
     {{0}},
     "invoke Node number 0 (FLOOR_DIV)"},
    {"gather", &gather, NULL, 1, 1, {PORT("index", "int32", two, 1)}, {PORT("y", "float32", third, 1)}, NULL},
    {"gather_outside", &gather, NULL, 1, 0, {PORT("index", "int32", nine, 1)}, {{0}}, "invoke Node number 0 (GATHER)"},
    {"custom_operator",
     &custom,
     NULL,
     0,
     0,
     {{0}},
     {{0}},
     "allocate Encountered unresolved custom op: "
     "SomebodysOperator"},
    {"too_new_operator",
     &too_new,
     NULL,
     0,
     0,
     {{0}},
     {{0}},
     "load Didn't find op for builtin opcode 'ADD' version '99'"},
    {"digits",
     NULL,
     NULL,
     1,
     1,
     {PORT("image", "float32", picture, 1, 8, 8, 1)},
     {PORT("probabilities", "float32", digits, 1, 10)},
     NULL},
    {"digits_signature",
     NULL,
     "serving_default",
     1,
     1,
     {PORT("image", "float32", picture, 1, 8, 8, 1)},
     {PORT("probabilities", "float32", digits, 1, 10)},
     NULL},
    {"digits_int8",
     NULL,
     NULL,
     1,
     1,
     {PORT("image", "int8", picture_int8, 1, 8, 8, 1)},
     {PORT("probabilities", "int8", digits_int8, 1, 10)},
     NULL},
};

// ---- files --------------------------------------------------------------------------------------

static const char *folder;

static FILE *create(const char *name, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    FILE *file = fopen(path, "wb");
    if (file != NULL) return file;
    fprintf(stderr, "make_models: cannot write %s: %s\n", path, strerror(errno));
    exit(1);
}

static void finish(FILE *file, const char *name)
{
    bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed) return;
    fprintf(stderr, "make_models: cannot write what belongs to %s\n", name);
    exit(1);
}

static void write_bytes(const char *name, const char *suffix, const void *bytes, size_t size)
{
    FILE *file = create(name, suffix);
    fwrite(bytes, 1, size, file);
    finish(file, name);
}

static void write_port(FILE *manifest, FILE *data, const char *word, int index, const struct port *port)
{
    static const char padding[ALIGNMENT];
    long offset = ftell(data);
    fprintf(manifest, "%s %d %s ", word, index, port->type);
    for (int i = 0; i < port->rank; i++) fprintf(manifest, "%s%d", i ? "," : "", port->dims[i]);
    fprintf(manifest, "%s @%ld+%zu %s\n", port->rank ? "" : "-", offset, port->bytes, port->name);
    fwrite(port->data, 1, port->bytes, data);
    fwrite(padding, 1, (ALIGNMENT - port->bytes % ALIGNMENT) % ALIGNMENT, data);
}

static void write_row(const struct row *row)
{
    FILE *manifest = create(row->name, ".txt"), *data = create(row->name, ".bin");
    fprintf(manifest, "golden 1\n");
    if (row->model == NULL)
        fprintf(manifest, "model repo:demo/%s.tflite\n", strstr(row->name, "int8") ? "digits_int8" : "digits");
    if (row->signature != NULL) fprintf(manifest, "signature %s\n", row->signature);
    fprintf(manifest, "step\n");
    for (int i = 0; i < row->input_count; i++) write_port(manifest, data, "in", i, &row->inputs[i]);
    for (int i = 0; i < row->output_count; i++) write_port(manifest, data, "out", i, &row->outputs[i]);
    if (row->fails != NULL) fprintf(manifest, "fails %s\n", row->fails);
    finish(manifest, row->name);
    finish(data, row->name);
    if (row->model == NULL) return;
    size_t size;
    unsigned char *bytes = test_model_write(row->model, &size);
    write_bytes(row->name, ".tflite", bytes, size);
    free(bytes);
}

// Files that are no models.
static void write_broken(void)
{
    size_t size;
    unsigned char *bytes = test_model_write(&broadcast, &size);
    write_bytes("broken_empty", ".tflite", bytes, 0);
    write_bytes("broken_four_bytes", ".tflite", bytes, 4);
    write_bytes("broken_half", ".tflite", bytes, size / 2);
    memcpy(bytes + 4, "TFL2", 4);
    write_bytes("broken_identifier", ".tflite", bytes, size);
    memcpy(bytes + 4, "TFL3", 4);
    memset(bytes, 0xff, 4);
    write_bytes("broken_root", ".tflite", bytes, size);
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_models FOLDER\n");
        return 2;
    }
    folder = argv[1];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "make_models: cannot make %s: %s\n", folder, strerror(errno));
        return 1;
    }
    for (int i = 0; i < TEST_LENGTH(rows); i++) write_row(&rows[i]);
    write_broken();
    return 0;
}
