// SPDX-License-Identifier: Apache-2.0
// The subcommands, one file each, and all of them in one list.
#ifndef HALITE_TOOLS_COMMANDS_H
#define HALITE_TOOLS_COMMANDS_H

#include "flags.h"

#define COMMAND(name) extern const struct hl_command hl_command_##name;
#define PROGRAM(name) COMMAND(name)
#include "commands.def"
#undef COMMAND
#undef PROGRAM

enum {
#define COMMAND(name) +1
#define PROGRAM(name)
    HL_FIRST_PROGRAM = 0 // in hl_commands, of TensorFlow Lite's own tools
#include "commands.def"
#undef PROGRAM
#define PROGRAM(name) +1
    ,
    HL_COMMAND_COUNT = 0
#include "commands.def"
#undef COMMAND
#undef PROGRAM
};

extern const struct hl_command *const hl_commands[HL_COMMAND_COUNT];

#endif
