// SPDX-License-Identifier: Apache-2.0
// Writes .tflite files for tests, right ones and wrong ones. Tables, vectors and strings are
// appended one behind the other, so offsets lead forward; every table has room for all fields of
// the schema, and a field exists once it is set. Nothing stops a test from linking two offsets to
// one target, or from changing bytes afterwards.
#ifndef HALITE_TESTS_UNIT_MODEL_FILE_H
#define HALITE_TESTS_UNIT_MODEL_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

struct model_file {
    uint8_t *bytes; // from malloc, so that sanitizers see its end
    size_t size, room;
};

// ---- Bytes

static inline size_t file_grow(struct model_file *file, size_t bytes, size_t alignment,
                               size_t phase)
{
    size_t start = file->size;
    while (start % alignment != phase) start++;
    if (start + bytes > file->room) {
        file->room = (start + bytes) * 2;
        file->bytes = realloc(file->bytes, file->room);
        assert_non_null(file->bytes);
    }
    memset(file->bytes + file->size, 0, start + bytes - file->size);
    file->size = start + bytes;
    return start;
}

static inline void file_poke(struct model_file *file, size_t at, const void *value, size_t size)
{
    assert_true(at + size <= file->size);
    memcpy(file->bytes + at, value, size);
}

static inline void file_poke_u32(struct model_file *file, size_t at, uint32_t value)
{
    file_poke(file, at, &value, sizeof value);
}

// ---- Tables

static inline unsigned file_field_count(enum hl_schema table)
{
    unsigned count = 0;
    for (int row = table + 1; hl_schema[row].kind >= HL_KIND_SCALAR; row++)
        if (hl_schema[row].id + 1u > count) count = hl_schema[row].id + 1u;
    return count;
}

// Appends a table without fields. Field id is at table + 4 + 8 * id, 8-aligned, once its vtable
// entry is set.
static inline size_t file_table(struct model_file *file, enum hl_schema row)
{
    unsigned fields = file_field_count(row);
    size_t vtable = file_grow(file, 4 + 2 * (size_t)fields, 2, 0);
    size_t table = file_grow(file, 4 + 8 * (size_t)fields, 8, 4);
    uint16_t sizes[2] = {(uint16_t)(4 + 2 * fields), (uint16_t)(4 + 8 * fields)};
    int32_t back = (int32_t)(table - vtable);
    file_poke(file, vtable, sizes, sizeof sizes);
    file_poke(file, table, &back, sizeof back);
    return table;
}

// Position of a field's bytes; makes it exist.
static inline size_t file_field(struct model_file *file, size_t table, enum hl_schema field)
{
    int32_t back;
    memcpy(&back, file->bytes + table, sizeof back);
    uint16_t step = (uint16_t)(4 + 8 * hl_schema[field].id);
    file_poke(file, table - (size_t)back + 4 + 2 * (size_t)hl_schema[field].id, &step, sizeof step);
    return table + step;
}

// Makes it absent again.
static inline void file_drop(struct model_file *file, size_t table, enum hl_schema field)
{
    file_field(file, table, field);
    int32_t back;
    memcpy(&back, file->bytes + table, sizeof back);
    file_poke(file, table - (size_t)back + 4 + 2 * (size_t)hl_schema[field].id, &(uint16_t){0}, 2);
}

static inline void file_set(struct model_file *file, size_t table, enum hl_schema field,
                            int64_t value)
{
    assert_int_equal(hl_schema[field].kind, HL_KIND_SCALAR);
    file_poke(file, file_field(file, table, field), &value,
              hl_scalar_size((enum hl_scalar)hl_schema[field].scalar));
}

static inline void file_set_float(struct model_file *file, size_t table, enum hl_schema field,
                                  float value)
{
    file_poke(file, file_field(file, table, field), &value, sizeof value);
}

// Lets the offset at `at` lead to target, which must lie behind it.
static inline void file_link_at(struct model_file *file, size_t at, size_t target)
{
    assert_true(target > at);
    file_poke_u32(file, at, (uint32_t)(target - at));
}

static inline void file_link(struct model_file *file, size_t table, enum hl_schema field,
                             size_t target)
{
    file_link_at(file, file_field(file, table, field), target);
}

static inline size_t file_child(struct model_file *file, size_t table, enum hl_schema field,
                                enum hl_schema child)
{
    size_t target = file_table(file, child);
    file_link(file, table, field, target);
    return target;
}

// ---- Vectors and strings

// Returns the position of the first element; data NULL: zeros.
static inline size_t file_append_vector(struct model_file *file, const void *data, size_t count,
                                        size_t size)
{
    size_t length =
        file_grow(file, 4 + count * size, 16, 12); // elements 16-aligned, as constants should be
    file_poke_u32(file, length, (uint32_t)count);
    if (data) file_poke(file, length + 4, data, count * size);
    return length + 4;
}

static inline size_t file_set_vector(struct model_file *file, size_t table, enum hl_schema field,
                                     const void *data, size_t count)
{
    assert_int_equal(hl_schema[field].kind, HL_KIND_VECTOR);
    size_t size = hl_scalar_size((enum hl_scalar)hl_schema[field].scalar);
    size_t start = file_append_vector(file, data, count, size);
    file_link(file, table, field, start - 4);
    return start;
}

static inline size_t file_set_string(struct model_file *file, size_t table, enum hl_schema field,
                                     const char *text)
{
    size_t start = file_append_vector(file, NULL, strlen(text) + 1, 1);
    file_poke_u32(file, start - 4, (uint32_t)strlen(text));
    file_poke(file, start, text, strlen(text) + 1);
    file_link(file, table, field, start - 4);
    return start;
}

enum { most_children = 64 };

// A vector of new tables; out takes their positions.
static inline void file_children(struct model_file *file, size_t table, enum hl_schema field,
                                 int count, size_t *out)
{
    assert_true(count <= most_children);
    size_t start = file_append_vector(file, NULL, (size_t)count, 4);
    file_link(file, table, field, start - 4);
    for (int i = 0; i < count; i++) {
        out[i] = file_table(file, (enum hl_schema)hl_schema[field].of);
        file_link_at(file, start + 4 * (size_t)i, out[i]);
    }
}

#define FILE_INTS(file, table, field, ...)                                    \
    file_set_vector((file), (table), (field), (const int32_t[]){__VA_ARGS__}, \
                    sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

// ---- A whole model: y = x * scale + bias, float32 [1, 3]

struct small_model {
    struct model_file file;
    size_t model, codes[2], subgraphs[most_children], buffers[4];
    size_t tensors[5]; // 0 x, 1 scale, 2 product, 3 bias, 4 y
    size_t nodes[2];   // MUL, ADD
};

static inline void small_model_tensor(struct small_model *m, int index, const char *name,
                                      int buffer)
{
    file_set_string(&m->file, m->tensors[index], HL_Tensor_name, name);
    FILE_INTS(&m->file, m->tensors[index], HL_Tensor_shape, 1, 3);
    file_set(&m->file, m->tensors[index], HL_Tensor_buffer, buffer);
}

// subgraph_count above 1 adds subgraphs without operators, each with a tensor "pass" that is input
// and output.
static inline struct small_model small_model_create(int subgraph_count)
{
    struct small_model m = {.file = {0}};
    struct model_file *f = &m.file;
    file_grow(f, 8, 1, 0);
    memcpy(f->bytes + 4, "TFL3", 4);
    m.model = file_table(f, HL_Model);
    file_link_at(f, 0, m.model);
    file_set(f, m.model, HL_Model_version, 3);
    file_set_string(f, m.model, HL_Model_description, "small");
    file_children(f, m.model, HL_Model_operator_codes, 2, m.codes);
    file_set(f, m.codes[0], HL_OperatorCode_builtin_code, kTfLiteBuiltinMul);
    file_set(f, m.codes[1], HL_OperatorCode_builtin_code, kTfLiteBuiltinAdd);
    file_children(f, m.model, HL_Model_buffers, 4, m.buffers);
    file_set_vector(f, m.buffers[1], HL_Buffer_data, (const float[]){2, 3, 4}, 12);
    file_set_vector(f, m.buffers[2], HL_Buffer_data, (const float[]){10, 20, 30}, 12);
    file_children(f, m.model, HL_Model_subgraphs, subgraph_count, m.subgraphs);

    file_set_string(f, m.subgraphs[0], HL_SubGraph_name, "main");
    file_children(f, m.subgraphs[0], HL_SubGraph_tensors, 5, m.tensors);
    small_model_tensor(&m, 0, "x", 0);
    small_model_tensor(&m, 1, "scale", 1);
    small_model_tensor(&m, 2, "product", 0);
    small_model_tensor(&m, 3, "bias", 2);
    small_model_tensor(&m, 4, "y", 0);
    file_children(f, m.subgraphs[0], HL_SubGraph_operators, 2, m.nodes);
    FILE_INTS(f, m.nodes[0], HL_Operator_inputs, 0, 1);
    FILE_INTS(f, m.nodes[0], HL_Operator_outputs, 2);
    file_set(f, m.nodes[1], HL_Operator_opcode_index, 1);
    FILE_INTS(f, m.nodes[1], HL_Operator_inputs, 2, 3);
    FILE_INTS(f, m.nodes[1], HL_Operator_outputs, 4);
    FILE_INTS(f, m.subgraphs[0], HL_SubGraph_inputs, 0);
    FILE_INTS(f, m.subgraphs[0], HL_SubGraph_outputs, 4);
    for (int i = 1; i < subgraph_count; i++) {
        size_t tensor;
        file_children(f, m.subgraphs[i], HL_SubGraph_tensors, 1, &tensor);
        file_set_string(f, tensor, HL_Tensor_name, "pass");
        FILE_INTS(f, m.subgraphs[i], HL_SubGraph_inputs, 0);
        FILE_INTS(f, m.subgraphs[i], HL_SubGraph_outputs, 0);
    }
    return m;
}

// ---- Loading

struct messages {
    char text[4096]; // all of them, one per line
    int count;
};

static inline void keep_message(void *user_data, const char *format, va_list args)
{
    struct messages *messages = user_data;
    size_t used = strlen(messages->text);
    vsnprintf(messages->text + used, sizeof messages->text - used, format, args);
    used = strlen(messages->text);
    snprintf(messages->text + used, sizeof messages->text - used, "\n");
    messages->count++;
}

// Loads a copy of exactly the file's size at an address that is misplaced bytes away from
// alignment; the copy goes to *copy, to be freed after the model.
static inline TfLiteModel *load_at(const struct model_file *file, size_t size, size_t misplaced,
                                   struct messages *messages, uint8_t **copy)
{
    struct hl_reporter reporter = {keep_message, messages};
    *messages = (struct messages){.count = 0};
    *copy = malloc(size + misplaced + 1);
    assert_non_null(*copy);
    memcpy(*copy + misplaced, file->bytes, size);
    *copy = realloc(*copy, size + misplaced ? size + misplaced : 1);
    return hl_model_create(*copy + misplaced, size, &reporter);
}

// Expects the model to load, without a message.
static inline TfLiteModel *expect_loads(struct small_model *m)
{
    struct messages messages = {.count = 0};
    struct hl_reporter reporter = {keep_message, &messages};
    TfLiteModel *model = hl_model_create(m->file.bytes, m->file.size, &reporter);
    if (!model) print_error("%s", messages.text);
    assert_non_null(model);
    assert_int_equal(messages.count, 0);
    return model;
}

static inline void expect_loads_and_free(struct small_model *m)
{
    hl_model_release(expect_loads(m));
    free(m->file.bytes);
}

// Expects one message that holds the words; frees the file.
static inline void expect_refusal(struct small_model *m, const char *words)
{
    struct messages messages;
    uint8_t *copy;
    TfLiteModel *model = load_at(&m->file, m->file.size, 0, &messages, &copy);
    if (model) print_error("loads, but should say: %s\n", words);
    assert_null(model);
    assert_int_equal(messages.count, 1);
    if (!strstr(messages.text, words)) print_error("wanted: %s\ngot: %s", words, messages.text);
    assert_non_null(strstr(messages.text, words));
    free(copy);
    free(m->file.bytes);
}

#endif
