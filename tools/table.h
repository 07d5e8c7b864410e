// SPDX-License-Identifier: Apache-2.0
// Text in aligned columns. In: rows of cells. Out: lines, every column as wide as its widest cell; on a terminal, or
// where COLUMNS says how wide, columns of text are narrowed until lines fit.
#ifndef HALITE_TOOLS_TABLE_H
#define HALITE_TOOLS_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "base/report.h"

enum { HL_TABLE_COLUMNS = 16 };

struct hl_table {
    const char *align;     // a letter per column: 'l' or 'r'
    int row_count, column; // column: the next cell's
    char **cells;          // row after row, strlen(align) each; NULL: empty
};

// Begins a table; hl_table_print ends it.
void hl_table_start(struct hl_table *table, const char *align);
// Adds a cell to the current row; a row that is full is followed by the next one.
void hl_table_add(struct hl_table *table, const char *format, ...) HL_PRINTF(2, 3);
// The same for text from a file, with control characters escaped.
void hl_table_add_name(struct hl_table *table, const char *name);
// Prints with `indent` blanks in front of each line, and frees all cells.
void hl_table_print(struct hl_table *table, int indent, FILE *out);

// "512 B", "13.4 KiB", "4.03 MiB".
void hl_format_bytes(char *text, size_t size, uint64_t bytes);
// "12.3 us", "4.56 ms", "1.20 s".
void hl_format_seconds(char *text, size_t size, double seconds);
// Joules and watts, positive: "12.3 uJ", "4.56 mJ", "1.20 J".
void hl_format_quantity(char *text, size_t size, double value, const char *unit);

#endif
