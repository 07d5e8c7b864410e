// SPDX-License-Identifier: Apache-2.0
// Bytes of .tflite files for tests, right ones and wrong ones, by the rows of the schema. Tables, vectors and strings
// are appended one behind the other, so offsets lead forward; every table has room for all fields of the schema, and a
// field exists once it is set. Nothing stops a test from linking two offsets to one target, or from changing bytes
// afterwards.
#ifndef HALITE_TESTS_SUPPORT_MODEL_FILE_H
#define HALITE_TESTS_SUPPORT_MODEL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "model/schema.h"

struct model_file {
    uint8_t *bytes; // from malloc, so that sanitizers see its end
    size_t size, room;
};

// Opens a file: the root's offset, the identifier, and a Model table of version 3, whose position it gives.
size_t file_begin(struct model_file *file);

size_t file_grow(struct model_file *file, size_t bytes, size_t alignment, size_t phase);
void file_poke(struct model_file *file, size_t at, const void *value, size_t size);
void file_poke_u32(struct model_file *file, size_t at, uint32_t value);
// Appends a table without fields. Field id is at table + 4 + 8 * id, 8-aligned, once its vtable
// entry is set.
size_t file_table(struct model_file *file, enum hl_schema row);
// Position of a field's bytes; makes it exist.
size_t file_field(struct model_file *file, size_t table, enum hl_schema field);
// Makes it absent again.
void file_drop(struct model_file *file, size_t table, enum hl_schema field);
void file_set(struct model_file *file, size_t table, enum hl_schema field, int64_t value);
void file_set_float(struct model_file *file, size_t table, enum hl_schema field, float value);
// Lets the offset at `at` lead to target, which must lie behind it.
void file_link_at(struct model_file *file, size_t at, size_t target);
void file_link(struct model_file *file, size_t table, enum hl_schema field, size_t target);
size_t file_child(struct model_file *file, size_t table, enum hl_schema field, enum hl_schema child);
// Position of the first element; data NULL: zeros. The length is in the four bytes before it.
size_t file_append_vector(struct model_file *file, const void *data, size_t count, size_t size);
size_t file_set_vector(struct model_file *file, size_t table, enum hl_schema field, const void *data, size_t count);
size_t file_set_string(struct model_file *file, size_t table, enum hl_schema field, const char *text);
// A vector of new tables; out takes their positions.
void file_children(struct model_file *file, size_t table, enum hl_schema field, int count, size_t *out);

#define FILE_INTS(file, table, field, ...)                                    \
    file_set_vector((file), (table), (field), (const int32_t[]){__VA_ARGS__}, \
                    sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

#endif
