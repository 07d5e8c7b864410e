// SPDX-License-Identifier: Apache-2.0
// The subcommands, one file each, and all of them in one list.
#ifndef HALITE_TOOLS_COMMANDS_H
#define HALITE_TOOLS_COMMANDS_H

#include "flags.h"

extern const struct hl_command hl_command_label;
extern const struct hl_command hl_command_run;
extern const struct hl_command hl_command_inspect;
extern const struct hl_command hl_command_bench;
extern const struct hl_command hl_command_report;
extern const struct hl_command hl_command_diff;
extern const struct hl_command hl_command_compat;
extern const struct hl_command hl_command_devices;

#define PROGRAM(name) extern const struct hl_command hl_command_##name;
#include "programs.def"
#undef PROGRAM

#endif
