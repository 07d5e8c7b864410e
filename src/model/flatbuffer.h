// SPDX-License-Identifier: Apache-2.0
// The reader of FlatBuffers checks every step against the bytes. In: bytes at any address, and fields as rows of the
// schema. Out: values, positions (bytes from the start; 0 means absent) and vectors. No function trusts an earlier
// check: where the bytes are wrong a field reads as absent, and hl_flatbuffer_verify says why. Numbers are
// little-endian, and the code expects a little-endian machine.
#ifndef HALITE_MODEL_FLATBUFFER_H
#define HALITE_MODEL_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/report.h"
#include "model/schema.h"

struct hl_flatbuffer {
    const uint8_t *bytes;
    size_t size;
};

struct hl_vector {
    size_t start; // position of the first element
    uint32_t count;
    uint8_t scalar; // enum hl_scalar; HL_SCALAR_NONE: tables
};

// Returns the position of the root table.
size_t hl_flatbuffer_root(const struct hl_flatbuffer *file);

// These read a scalar field, or its default where it is absent. 64-bit unsigned values keep their bits.
int64_t hl_read_integer(const struct hl_flatbuffer *file, size_t table, enum hl_schema field);
float hl_read_float(const struct hl_flatbuffer *file, size_t table, enum hl_schema field);
// Reads a NUL-terminated string, or returns NULL where it is absent. length may be NULL.
const char *hl_read_string(const struct hl_flatbuffer *file, size_t table, enum hl_schema field, size_t *length);
// Reads a VECTOR or CHILDREN row. Returns false, and no elements, where it is absent.
bool hl_read_vector(const struct hl_flatbuffer *file, size_t table, enum hl_schema field, struct hl_vector *vector);
// Returns the position of the table of a CHILD or UNION row.
size_t hl_read_child(const struct hl_flatbuffer *file, size_t table, enum hl_schema field);

// These read an element of a vector, and return 0 where index is not below count.
int64_t hl_vector_integer(const struct hl_flatbuffer *file, const struct hl_vector *vector, uint32_t index);
float hl_vector_float(const struct hl_flatbuffer *file, const struct hl_vector *vector, uint32_t index);
size_t hl_vector_child(const struct hl_flatbuffer *file, const struct hl_vector *vector, uint32_t index);

// Checks all that the schema knows of the table at the root, which is of type root_table: offsets, vtables, alignment
// relative to the first byte, vectors, terminators of strings, unions. A count of tables bounds the time by the size of
// the file. Returns false after one message.
bool hl_flatbuffer_verify(const struct hl_flatbuffer *file, enum hl_schema root_table,
                          const struct hl_reporter *reporter);

#endif
