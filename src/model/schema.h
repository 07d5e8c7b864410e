// SPDX-License-Identifier: Apache-2.0
// This is schema.def as an array of rows. A table, a union and a field are each named by the number of their row. The
// rows of a table's fields follow the table's own, so one number leads the reader and the verifier to id, type and
// default.
#ifndef HALITE_MODEL_SCHEMA_H
#define HALITE_MODEL_SCHEMA_H

#include <stdint.h>

enum hl_schema_kind {
    HL_KIND_TABLE, // opens a table
    HL_KIND_UNION_TYPE,
    HL_KIND_MEMBER,
    HL_KIND_SCALAR,
    HL_KIND_VECTOR,
    HL_KIND_STRING,
    HL_KIND_CHILD,
    HL_KIND_CHILDREN,
    HL_KIND_UNION
};

enum hl_scalar {
    HL_SCALAR_NONE,
    HL_SCALAR_I8,
    HL_SCALAR_U8,
    HL_SCALAR_BOOL,
    HL_SCALAR_U16,
    HL_SCALAR_I32,
    HL_SCALAR_U32,
    HL_SCALAR_F32,
    HL_SCALAR_I64,
    HL_SCALAR_U64
};

enum hl_schema {
#define TABLE(table) HL_##table,
#define SCALAR(table, field, id, type, value) HL_##table##_##field,
#define VECTOR(table, field, id, type) HL_##table##_##field,
#define STRING(table, field, id) HL_##table##_##field,
#define CHILD(table, field, id, of) HL_##table##_##field,
#define CHILDREN(table, field, id, of) HL_##table##_##field,
#define UNION(table, field, id, of) HL_##table##_##field,
#define UNION_TYPE(union_name) HL_##union_name,
#define MEMBER(union_name, table, id) HL_##union_name##_##table,
#include "model/schema.def"
    HL_SCHEMA_ROWS
};

struct hl_schema_row {
    uint8_t kind;   // enum hl_schema_kind
    uint8_t scalar; // enum hl_scalar, of scalars and vectors
    uint8_t id;     // of a field; the type number of a union's member
    int8_t value;   // default of a scalar
    uint16_t of;    // row of the table or union that a field holds
};

extern const struct hl_schema_row hl_schema[HL_SCHEMA_ROWS + 1]; // a table row closes the list

// Returns the name of a row, for messages: it is searched for.
const char *hl_schema_name(int row);
// Returns the bytes of one scalar in the file.
unsigned hl_scalar_size(enum hl_scalar scalar);
// Returns the row of the table that a union holds under this type number, or -1 where the schema has none.
int hl_schema_member(int union_row, unsigned type);

#endif
