// SPDX-License-Identifier: Apache-2.0
// The steps of a FlatBuffer reader, written once. Each step returns NULL or a text that says what
// is wrong; the accessors turn a text into "absent", the verifier into a message. Layout: an offset
// (u32) leads forward to a table, which starts with the distance (i32) back to its vtable: u16
// size, u16 size of the table, then one u16 position per field, 0 for absent.
#include "model/flatbuffer.h"

#include <string.h>

// A schema has no loops, so tables nest no deeper than its rows do: this is for those who add some.
enum { deepest_table = 16 };

static uint16_t load_u16(const struct hl_flatbuffer *file, size_t at)
{
    uint16_t value;
    memcpy(&value, file->bytes + at, sizeof value);
    return value;
}

static uint32_t load_u32(const struct hl_flatbuffer *file, size_t at)
{
    uint32_t value;
    memcpy(&value, file->bytes + at, sizeof value);
    return value;
}

static int64_t load_integer(const struct hl_flatbuffer *file, size_t at, enum hl_scalar scalar)
{
    int8_t i8;
    int32_t i32;
    int64_t i64;
    switch (scalar) {
    case HL_SCALAR_I8: memcpy(&i8, file->bytes + at, sizeof i8); return i8;
    case HL_SCALAR_U8: return file->bytes[at];
    case HL_SCALAR_BOOL: return file->bytes[at] != 0;
    case HL_SCALAR_U16: return load_u16(file, at);
    case HL_SCALAR_I32: memcpy(&i32, file->bytes + at, sizeof i32); return i32;
    case HL_SCALAR_U32: return load_u32(file, at);
    case HL_SCALAR_I64:
    case HL_SCALAR_U64: memcpy(&i64, file->bytes + at, sizeof i64); return i64;
    case HL_SCALAR_F32:
    case HL_SCALAR_NONE: break;
    }
    return 0;
}

static bool inside(const struct hl_flatbuffer *file, size_t at, size_t length)
{
    return at <= file->size && length <= file->size - at;
}

static const char *check_table(const struct hl_flatbuffer *file, size_t table, size_t *vtable, size_t *vtable_size)
{
    if (table % 4 != 0) return "is not aligned to 4 bytes";
    if (!inside(file, table, 4)) return "lies outside the file";
    int32_t back;
    memcpy(&back, file->bytes + table, sizeof back);
    size_t distance = back < 0 ? (size_t) - (int64_t)back : (size_t)back;
    if (back > 0 ? distance > table : distance > file->size - table) return "has its vtable outside the file";
    *vtable = back > 0 ? table - distance : table + distance;
    if (*vtable % 2 != 0) return "has a vtable that is not aligned to 2 bytes";
    if (!inside(file, *vtable, 4)) return "has its vtable outside the file";
    *vtable_size = load_u16(file, *vtable);
    if (*vtable_size < 4 || *vtable_size % 2 != 0) return "has a vtable of impossible size";
    if (!inside(file, *vtable, *vtable_size)) return "has its vtable outside the file";
    return NULL;
}

// Position of the field's own bytes in the table, whose vtable has been checked: the value of a
// scalar, else an offset.
static const char *locate(const struct hl_flatbuffer *file, size_t table, size_t vtable, size_t vtable_size,
                          enum hl_schema field, size_t *at)
{
    *at = 0;
    size_t slot = 4 + 2 * (size_t)hl_schema[field].id;
    if (slot + 2 > vtable_size) return NULL;
    size_t step = load_u16(file, vtable + slot);
    if (step == 0) return NULL;
    size_t size = hl_schema[field].kind == HL_KIND_SCALAR ? hl_scalar_size((enum hl_scalar)hl_schema[field].scalar) : 4;
    if (step < 4 || step > file->size - table || !inside(file, table + step, size)) return "lies outside the file";
    if ((table + step) % size != 0) return "is not aligned";
    *at = table + step;
    return NULL;
}

static const char *find_field(const struct hl_flatbuffer *file, size_t table, enum hl_schema field, size_t *at)
{
    size_t vtable, vtable_size;
    const char *fault = check_table(file, table, &vtable, &vtable_size);
    *at = 0;
    return fault ? fault : locate(file, table, vtable, vtable_size, field, at);
}

static const char *follow(const struct hl_flatbuffer *file, size_t at, size_t *target)
{
    uint32_t offset = load_u32(file, at);
    if (offset == 0) return "has offset 0";
    if (offset > file->size - at || !inside(file, at + offset, 4)) return "lies outside the file";
    if ((at + offset) % 4 != 0) return "is not aligned to 4 bytes";
    *target = at + offset;
    return NULL;
}

// The vector or string that the field at position `at` leads to.
static const char *read_vector(const struct hl_flatbuffer *file, size_t at, enum hl_schema field,
                               struct hl_vector *vector)
{
    const struct hl_schema_row *row = &hl_schema[field];
    *vector = (struct hl_vector){.scalar = row->scalar};
    size_t target;
    if (at == 0) return NULL;
    const char *fault = follow(file, at, &target);
    if (fault) return fault;
    size_t element = row->kind == HL_KIND_VECTOR   ? hl_scalar_size((enum hl_scalar)row->scalar)
                     : row->kind == HL_KIND_STRING ? 1
                                                   : 4;
    uint32_t count = load_u32(file, target);
    if (count > (file->size - target - 4) / element) return "is longer than the file";
    size_t end = target + 4 + count * element;
    if (row->kind == HL_KIND_STRING && (end == file->size || file->bytes[end] != 0))
        return "does not end with a zero byte";
    vector->start = target + 4;
    vector->count = count;
    return NULL;
}

static const char *find_vector(const struct hl_flatbuffer *file, size_t table, enum hl_schema field,
                               struct hl_vector *vector)
{
    size_t at;
    const char *fault = find_field(file, table, field, &at);
    const char *vector_fault = read_vector(file, at, field, vector);
    return fault ? fault : vector_fault;
}

size_t hl_flatbuffer_root(const struct hl_flatbuffer *file)
{
    size_t root;
    return inside(file, 0, 4) && !follow(file, 0, &root) ? root : 0;
}

int64_t hl_read_integer(const struct hl_flatbuffer *file, size_t table, enum hl_schema field)
{
    size_t at;
    if (find_field(file, table, field, &at) || at == 0) return hl_schema[field].value;
    return load_integer(file, at, (enum hl_scalar)hl_schema[field].scalar);
}

float hl_read_float(const struct hl_flatbuffer *file, size_t table, enum hl_schema field)
{
    size_t at;
    float value;
    if (find_field(file, table, field, &at) || at == 0) return hl_schema[field].value;
    memcpy(&value, file->bytes + at, sizeof value);
    return value;
}

const char *hl_read_string(const struct hl_flatbuffer *file, size_t table, enum hl_schema field, size_t *length)
{
    struct hl_vector vector;
    if (length) *length = 0;
    if (find_vector(file, table, field, &vector) || vector.start == 0) return NULL;
    if (length) *length = vector.count;
    return (const char *)file->bytes + vector.start;
}

bool hl_read_vector(const struct hl_flatbuffer *file, size_t table, enum hl_schema field, struct hl_vector *vector)
{
    return !find_vector(file, table, field, vector) && vector->start != 0;
}

size_t hl_read_child(const struct hl_flatbuffer *file, size_t table, enum hl_schema field)
{
    size_t at, target;
    if (find_field(file, table, field, &at) || at == 0 || follow(file, at, &target)) return 0;
    return target;
}

int64_t hl_vector_integer(const struct hl_flatbuffer *file, const struct hl_vector *vector, uint32_t index)
{
    if (index >= vector->count) return 0;
    enum hl_scalar scalar = (enum hl_scalar)vector->scalar;
    return load_integer(file, vector->start + (size_t)index * hl_scalar_size(scalar), scalar);
}

float hl_vector_float(const struct hl_flatbuffer *file, const struct hl_vector *vector, uint32_t index)
{
    float value = 0;
    if (index < vector->count) memcpy(&value, file->bytes + vector->start + (size_t)index * 4, sizeof value);
    return value;
}

size_t hl_vector_child(const struct hl_flatbuffer *file, const struct hl_vector *vector, uint32_t index)
{
    size_t target;
    if (index >= vector->count || follow(file, vector->start + (size_t)index * 4, &target)) return 0;
    return target;
}

// ---- The verifier

struct verification {
    const struct hl_flatbuffer *file;
    const struct hl_reporter *reporter;
    size_t tables_left;
};

static bool refuse(const struct verification *v, enum hl_schema table_row, size_t table, int field, const char *fault)
{
    if (field >= 0)
        hl_report(v->reporter, "not a valid model file: field %s of the %s at byte %zu %s", hl_schema_name(field),
                  hl_schema_name(table_row), table, fault);
    else
        hl_report(v->reporter, "not a valid model file: the %s at byte %zu %s", hl_schema_name(table_row), table,
                  fault);
    return false;
}

static bool verify_table(struct verification *v, size_t table, enum hl_schema table_row, int depth)
{
    size_t vtable, vtable_size;
    const char *fault = check_table(v->file, table, &vtable, &vtable_size);
    if (!fault && depth == deepest_table) fault = "nests too deep";
    if (!fault && v->tables_left == 0) fault = "is one table more than a file of this size can hold";
    if (fault) return refuse(v, table_row, table, -1, fault);
    v->tables_left--;

    for (int field = table_row + 1; hl_schema[field].kind >= HL_KIND_SCALAR; field++) {
        const struct hl_schema_row *row = &hl_schema[field];
        size_t at, child;
        struct hl_vector vector;
        fault = locate(v->file, table, vtable, vtable_size, (enum hl_schema)field, &at);
        if (!fault && (row->kind == HL_KIND_VECTOR || row->kind == HL_KIND_STRING || row->kind == HL_KIND_CHILDREN))
            fault = read_vector(v->file, at, (enum hl_schema)field, &vector);
        if (!fault && row->kind == HL_KIND_CHILDREN)
            for (uint32_t i = 0; !fault && i < vector.count; i++) {
                fault = follow(v->file, vector.start + (size_t)i * 4, &child);
                if (!fault && !verify_table(v, child, (enum hl_schema)row->of, depth + 1)) return false;
            }
        int child_row = row->kind == HL_KIND_CHILD ? row->of : -1;
        if (row->kind == HL_KIND_UNION) // a type that the schema does not know may hold anything,
                                        // so nobody reads it
            child_row =
                hl_schema_member(row->of, (unsigned)hl_read_integer(v->file, table, (enum hl_schema)(field - 1)));
        if (!fault && at != 0 && child_row >= 0) {
            fault = follow(v->file, at, &child);
            if (!fault && !verify_table(v, child, (enum hl_schema)child_row, depth + 1)) return false;
        }
        if (fault) return refuse(v, table_row, table, field, fault);
    }
    return true;
}

bool hl_flatbuffer_verify(const struct hl_flatbuffer *file, enum hl_schema root_table,
                          const struct hl_reporter *reporter)
{
    // A table and the offset that leads to it take 8 bytes. More tables than that means that
    // offsets share them.
    struct verification v = {.file = file, .reporter = reporter, .tables_left = file->size / 4};
    size_t root;
    const char *fault = inside(file, 0, 4) ? follow(file, 0, &root) : "lies outside the file";
    if (fault) {
        hl_report(reporter, "not a valid model file: the root table %s", fault);
        return false;
    }
    return verify_table(&v, root, root_table, 0);
}
