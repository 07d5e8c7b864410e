// SPDX-License-Identifier: Apache-2.0
// schema.def as an array of rows, and the two look-ups that readers of it share.
#include "model/schema.h"

#include <string.h>

const struct hl_schema_row hl_schema[HL_SCHEMA_ROWS + 1] = {
#define ROW(kind_, scalar_, id_, value_, of_) \
    {.kind = (kind_), .scalar = (scalar_), .id = (id_), .value = (value_), .of = (of_)},
#define TABLE(table) ROW(HL_KIND_TABLE, HL_SCALAR_NONE, 0, 0, 0)
#define SCALAR(table, field, id, type, value) ROW(HL_KIND_SCALAR, HL_SCALAR_##type, id, value, 0)
#define VECTOR(table, field, id, type) ROW(HL_KIND_VECTOR, HL_SCALAR_##type, id, 0, 0)
#define STRING(table, field, id) ROW(HL_KIND_STRING, HL_SCALAR_NONE, id, 0, 0)
#define CHILD(table, field, id, of) ROW(HL_KIND_CHILD, HL_SCALAR_NONE, id, 0, HL_##of)
#define CHILDREN(table, field, id, of) ROW(HL_KIND_CHILDREN, HL_SCALAR_NONE, id, 0, HL_##of)
#define UNION(table, field, id, of) ROW(HL_KIND_UNION, HL_SCALAR_NONE, id, 0, HL_##of)
#define UNION_TYPE(union_name) ROW(HL_KIND_UNION_TYPE, HL_SCALAR_NONE, 0, 0, 0)
#define MEMBER(union_name, table, id) ROW(HL_KIND_MEMBER, HL_SCALAR_NONE, id, 0, HL_##table)
#include "model/schema.def"
    ROW(HL_KIND_TABLE, HL_SCALAR_NONE, 0, 0, 0)};

// Pointers in the rows would make the library 14 KB larger, and be 447 places that are written whenever it is loaded.
static const char names[] =
#define TABLE(table) #table "\0"
#define SCALAR(table, field, id, type, value) #field "\0"
#define VECTOR(table, field, id, type) #field "\0"
#define STRING(table, field, id) #field "\0"
#define CHILD(table, field, id, of) #field "\0"
#define CHILDREN(table, field, id, of) #field "\0"
#define UNION(table, field, id, of) #field "\0"
#define UNION_TYPE(union_name) #union_name "\0"
#define MEMBER(union_name, table, id) #table "\0"
#include "model/schema.def"
    ;

const char *hl_schema_name(int row)
{
    const char *name = names;
    while (row-- > 0) name += strlen(name) + 1;
    return name;
}

unsigned hl_scalar_size(enum hl_scalar scalar)
{
    switch (scalar) {
    case HL_SCALAR_NONE: return 0;
    case HL_SCALAR_I8:
    case HL_SCALAR_U8:
    case HL_SCALAR_BOOL: return 1;
    case HL_SCALAR_U16: return 2;
    case HL_SCALAR_I32:
    case HL_SCALAR_U32:
    case HL_SCALAR_F32: return 4;
    case HL_SCALAR_I64:
    case HL_SCALAR_U64: return 8;
    }
    return 0;
}

int hl_schema_member(int union_row, unsigned type)
{
    if (type == 0 || type > 255 || (unsigned)union_row + type >= HL_SCHEMA_ROWS) return -1;
    for (int row = union_row + 1; row <= union_row + (int)type; row++)
        if (hl_schema[row].kind != HL_KIND_MEMBER) return -1;
    const struct hl_schema_row *member = &hl_schema[union_row + (int)type];
    return member->id == type ? member->of : -1;
}
