// SPDX-License-Identifier: Apache-2.0
// See model_file.h.
#include "support/model_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// What a test must not ask for, or no memory. (Not cmocka's: programs that are no tests write models, too.)
static void must(bool holds)
{
    if (!holds) abort();
}

// ---- Bytes

size_t file_grow(struct model_file *file, size_t bytes, size_t alignment, size_t phase)
{
    size_t start = file->size;
    while (start % alignment != phase) start++;
    if (start + bytes > file->room) {
        file->room = (start + bytes) * 2;
        file->bytes = realloc(file->bytes, file->room);
        must(file->bytes);
    }
    memset(file->bytes + file->size, 0, start + bytes - file->size);
    file->size = start + bytes;
    return start;
}

void file_poke(struct model_file *file, size_t at, const void *value, size_t size)
{
    must(at + size <= file->size);
    memcpy(file->bytes + at, value, size);
}

void file_poke_u32(struct model_file *file, size_t at, uint32_t value)
{
    file_poke(file, at, &value, sizeof value);
}

static unsigned file_field_count(enum hl_schema table)
{
    unsigned count = 0;
    for (int row = table + 1; hl_schema[row].kind >= HL_KIND_SCALAR; row++)
        if (hl_schema[row].id + 1u > count) count = hl_schema[row].id + 1u;
    return count;
}

// ---- Tables

size_t file_table(struct model_file *file, enum hl_schema row)
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

size_t file_field(struct model_file *file, size_t table, enum hl_schema field)
{
    int32_t back;
    memcpy(&back, file->bytes + table, sizeof back);
    uint16_t step = (uint16_t)(4 + 8 * hl_schema[field].id);
    file_poke(file, table - (size_t)back + 4 + 2 * (size_t)hl_schema[field].id, &step, sizeof step);
    return table + step;
}

void file_drop(struct model_file *file, size_t table, enum hl_schema field)
{
    file_field(file, table, field);
    int32_t back;
    memcpy(&back, file->bytes + table, sizeof back);
    file_poke(file, table - (size_t)back + 4 + 2 * (size_t)hl_schema[field].id, &(uint16_t){0}, 2);
}

void file_set(struct model_file *file, size_t table, enum hl_schema field, int64_t value)
{
    must(hl_schema[field].kind == HL_KIND_SCALAR);
    file_poke(file, file_field(file, table, field), &value, hl_scalar_size((enum hl_scalar)hl_schema[field].scalar));
}

void file_set_float(struct model_file *file, size_t table, enum hl_schema field, float value)
{
    file_poke(file, file_field(file, table, field), &value, sizeof value);
}

void file_link_at(struct model_file *file, size_t at, size_t target)
{
    must(target > at);
    file_poke_u32(file, at, (uint32_t)(target - at));
}

void file_link(struct model_file *file, size_t table, enum hl_schema field, size_t target)
{
    file_link_at(file, file_field(file, table, field), target);
}

size_t file_child(struct model_file *file, size_t table, enum hl_schema field, enum hl_schema child)
{
    size_t target = file_table(file, child);
    file_link(file, table, field, target);
    return target;
}

size_t file_begin(struct model_file *file)
{
    file_grow(file, 8, 1, 0);
    file_poke(file, 4, "TFL3", 4);
    size_t model = file_table(file, HL_Model);
    file_link_at(file, 0, model);
    file_set(file, model, HL_Model_version, 3);
    return model;
}

// ---- Vectors and strings

size_t file_append_vector(struct model_file *file, const void *data, size_t count, size_t size)
{
    size_t length = file_grow(file, 4 + count * size, 16, 12); // elements 16-aligned, as constants should be
    file_poke_u32(file, length, (uint32_t)count);
    if (data) file_poke(file, length + 4, data, count * size);
    return length + 4;
}

size_t file_set_vector(struct model_file *file, size_t table, enum hl_schema field, const void *data, size_t count)
{
    must(hl_schema[field].kind == HL_KIND_VECTOR);
    size_t size = hl_scalar_size((enum hl_scalar)hl_schema[field].scalar);
    size_t start = file_append_vector(file, data, count, size);
    file_link(file, table, field, start - 4);
    return start;
}

size_t file_set_string(struct model_file *file, size_t table, enum hl_schema field, const char *text)
{
    size_t start = file_append_vector(file, NULL, strlen(text) + 1, 1);
    file_poke_u32(file, start - 4, (uint32_t)strlen(text));
    file_poke(file, start, text, strlen(text) + 1);
    file_link(file, table, field, start - 4);
    return start;
}

void file_children(struct model_file *file, size_t table, enum hl_schema field, int count, size_t *out)
{
    size_t start = file_append_vector(file, NULL, (size_t)count, 4);
    file_link(file, table, field, start - 4);
    for (int i = 0; i < count; i++) {
        out[i] = file_table(file, (enum hl_schema)hl_schema[field].of);
        file_link_at(file, start + 4 * (size_t)i, out[i]);
    }
}
