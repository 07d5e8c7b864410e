// SPDX-License-Identifier: Apache-2.0
// Flags as TensorFlow Lite's own tools take them: --name=value and nothing else, bools as true, false, 1 or 0. Of a
// flag given twice the first counts; what no flag takes is warned of and passed over; --help prints the table and is a
// failure. The macros write rows of such tables.
#ifndef HALITE_TOOLS_FLAGS_TFLITE_H
#define HALITE_TOOLS_FLAGS_TFLITE_H

#include <float.h>

#include "flags.h"

// A row of kind HL_FLAG_`flag_kind` for `field` at this offset, under the field's name.
#define HL_TFLITE_ROW(flag_kind, at, field, text)                                                       \
    {                                                                                                   \
        .name = #field, .kind = HL_FLAG_##flag_kind, .offset = (at), .value = "VALUE", .min = -DBL_MAX, \
        .max = DBL_MAX, .help = (text)                                                                  \
    }
// The same for a field of `struct type`.
#define HL_TFLITE_FLAG(flag_kind, type, field, text) HL_TFLITE_ROW(flag_kind, offsetof(struct type, field), field, text)

// The members of a struct hl_command of such a tool: HL_COMMAND_TABLES, and where in `type` the positions go.
#define HL_TFLITE_TABLES(table, initial, type, member) \
    HL_COMMAND_TABLES(table, initial), .tflite = true, .positions = offsetof(type, member)

// argv without the program's name. Every flag's place goes to positions, 1 for argv[0]. HL_EXIT_FAILED after a message
// and the table of flags.
int hl_flags_tflite_parse(const struct hl_command *command, int argc, char **argv, void *options, int *positions);
void hl_flags_tflite_help(const struct hl_command *command, FILE *out);

#endif
