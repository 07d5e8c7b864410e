// SPDX-License-Identifier: Apache-2.0
// Cells are kept until the widths are known. Width is counted in characters of UTF-8, which is right for the scripts
// that take one column a character.
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/process.h"
#include "text.h"

void hl_table_start(struct hl_table *table, const char *align)
{
    *table = (struct hl_table){.align = align};
}

static void add_cell(struct hl_table *table, char *cell)
{
    int columns = (int)strlen(table->align);
    if (table->column == 0) {
        table->row_count++;
        size_t count = (size_t)table->row_count * (size_t)columns;
        table->cells = hl_alloc_grow(table->cells, count, sizeof *table->cells);
    }
    table->cells[(table->row_count - 1) * columns + table->column] = cell;
    table->column = (table->column + 1) % columns;
}

void hl_table_add(struct hl_table *table, const char *format, ...)
{
    struct hl_text text = {0};
    va_list args;
    va_start(args, format);
    hl_text_add_va(&text, format, args);
    va_end(args);
    add_cell(table, text.data);
}

void hl_table_add_name(struct hl_table *table, const char *name)
{
    struct hl_text text = {0};
    hl_text_add_escaped(&text, name, strlen(name));
    add_cell(table, text.data);
}

static int width(const char *cell)
{
    int count = 0;
    for (; cell != NULL && *cell != '\0'; cell++) count += ((unsigned char)*cell & 0xc0) != 0x80;
    return count;
}

// Columns that a line may have: of the terminal, else what COLUMNS says; 0: any number.
static int line_limit(FILE *out)
{
    int columns = hl_stream_columns(out);
    const char *told = columns == 0 ? getenv("COLUMNS") : NULL;
    return told != NULL ? atoi(told) : columns;
}

// Narrows the widest columns of text, numbers stay, until a line fits.
static void fit(const char *align, int indent, int limit, int *widths)
{
    enum { NARROWEST = 12 };
    int columns = (int)strlen(align), sum = indent + 2 * (columns - 1);
    for (int i = 0; i < columns; i++) sum += widths[i];
    while (limit > 0 && sum > limit) {
        int widest = -1, next = NARROWEST;
        for (int i = 0; i < columns; i++)
            if (align[i] != 'r' && widths[i] > NARROWEST && (widest < 0 || widths[i] > widths[widest])) widest = i;
        if (widest < 0) return;
        for (int i = 0; i < columns; i++) // down to the next widest at once
            if (align[i] != 'r' && widths[i] < widths[widest] && widths[i] > next) next = widths[i];
        int less = widths[widest] - next < sum - limit ? widths[widest] - next : sum - limit;
        if (less == 0) less = 1;
        widths[widest] -= less;
        sum -= less;
    }
}

// Byte at which character number `n` begins.
static size_t byte_of(const char *cell, int n)
{
    size_t at = 0;
    for (; cell[at] != '\0' && n > 0; n--) do
            at++;
        while (((unsigned char)cell[at] & 0xc0) == 0x80);
    return at;
}

// Leaves out the middle of a cell that is wider than its column: names differ at their ends.
static void cut(char *cell, int columns)
{
    static const char mark[] = "...";
    int count = width(cell), kept = columns - 3, head = kept / 2;
    if (cell == NULL || count <= columns || kept < 2) return;
    size_t start = byte_of(cell, head), end = byte_of(cell, count - (kept - head));
    memmove(cell + start + 3, cell + end, strlen(cell + end) + 1);
    memcpy(cell + start, mark, 3);
}

void hl_table_print(struct hl_table *table, int indent, FILE *out)
{
    int columns = (int)strlen(table->align), widths[HL_TABLE_COLUMNS] = {0};
    for (int i = 0; i < table->row_count * columns; i++) {
        int w = width(table->cells[i]);
        if (w > widths[i % columns]) widths[i % columns] = w;
    }
    fit(table->align, indent, line_limit(out), widths);
    for (int i = 0; i < table->row_count * columns; i++) cut(table->cells[i], widths[i % columns]);
    for (int row = 0; row < table->row_count; row++) {
        struct hl_text line = {0};
        hl_text_add(&line, "%*s", indent, "");
        for (int column = 0; column < columns; column++) {
            char *cell = table->cells[row * columns + column];
            int padding = widths[column] - width(cell);
            if (column > 0) hl_text_add(&line, "  ");
            if (table->align[column] == 'r') hl_text_add(&line, "%*s", padding, "");
            hl_text_add(&line, "%s", cell != NULL ? cell : "");
            if (table->align[column] != 'r') hl_text_add(&line, "%*s", padding, "");
            free(cell);
        }
        while (line.length > 0 && line.data[line.length - 1] == ' ') line.data[--line.length] = '\0';
        fprintf(out, "%s\n", line.data);
        hl_text_free(&line);
    }
    free(table->cells);
    *table = (struct hl_table){0};
}

// Three significant digits.
static void format_number(char *text, size_t size, double value, const char *unit)
{
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(text, size, "%.*f %s", digits, value, unit);
}

void hl_format_bytes(char *text, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) {
        snprintf(text, size, "%d B", (int)bytes);
        return;
    }
    double value = (double)bytes / 1024;
    int unit = 0;
    for (; value >= 999.5 && unit < 3; unit++) value /= 1024;
    format_number(text, size, value, units[unit]);
}

void hl_format_quantity(char *text, size_t size, double value, const char *unit)
{
    static const char *const prefixes[] = {"u", "m", ""};
    char full[16];
    int prefix = value < 999.5e-6 ? 0 : value < 0.9995 ? 1 : 2;
    static const double scales[] = {1e6, 1e3, 1};
    snprintf(full, sizeof full, "%s%s", prefixes[prefix], unit);
    format_number(text, size, value * scales[prefix], full);
}

void hl_format_seconds(char *text, size_t size, double seconds)
{
    hl_format_quantity(text, size, seconds, "s");
}
