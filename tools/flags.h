// SPDX-License-Identifier: Apache-2.0
// Command lines as data. Each subcommand is one table: parsing, error messages and --help come from it (and whatever
// else lists flags: manual pages, completion). In: argv. Out: the subcommand's options struct, filled at the tables'
// offsets. There are two ways to write flags: halite's, and that of TensorFlow Lite's own tools (flags_tflite.h).
#ifndef HALITE_TOOLS_FLAGS_H
#define HALITE_TOOLS_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum hl_flag_kind {
    HL_FLAG_SWITCH,  // bool, no value
    HL_FLAG_BOOL,    // bool: true, false, 1 or 0
    HL_FLAG_INT,     // int, from min to max
    HL_FLAG_NUMBER,  // double, from min to max
    HL_FLAG_STRING,  // const char *
    HL_FLAG_CHOICE,  // int, index into choices
    HL_FLAG_LIST,    // struct hl_flag_list, may be repeated
    HL_FLAG_INTS,    // struct hl_flag_ints of numbers from min to max: "1,2,4"; may be repeated
    HL_FLAG_CHOICES, // struct hl_flag_ints of indices into choices: "f32,f16"; may be repeated
};

struct hl_flag_list {
    int count;
    const char **items;
};

struct hl_flag_ints {
    int count;
    int *items;
};

struct hl_flag {
    const char *name; // without its dashes
    char letter;      // of the short form, 0: none
    enum hl_flag_kind kind;
    size_t offset;              // of the value in the options struct
    const char *value;          // what --help calls the value: "FILE"; NULL for a switch
    const char *help;           // one line, or several separated by \n
    double min, max;            // of a number
    const char *const *choices; // NULL at the end
    bool required;
};

struct hl_example {
    const char *line, *text; // a command line, and what it does
};

// Groups of environment variables (environment.def).
enum {
    HL_ENVIRONMENT_CPU = 1,
    HL_ENVIRONMENT_GPU = 2,
    HL_ENVIRONMENT_PYTHON = 4,
    HL_ENVIRONMENT_TABLES = 8,
    HL_ENVIRONMENT_DELEGATES = 16,
    HL_ENVIRONMENT_ENERGY = 32,
    HL_ENVIRONMENT_RUNS = HL_ENVIRONMENT_CPU | HL_ENVIRONMENT_GPU | HL_ENVIRONMENT_DELEGATES, // of what runs models
};

struct hl_command {
    const char *name;
    const char *summary;               // one line, for the list of commands
    const char *operands;              // what stands behind the flags: "PHOTO..."; NULL: nothing
    const char *details;               // more for --help, NULL: nothing; ends with a newline
    const struct hl_example *examples; // for --help and the manual, text NULL at the end; NULL: none
    unsigned environment;              // HL_ENVIRONMENT_..., for the manual
    const struct hl_flag *flags;
    int flag_count;
    int min_operands, max_operands; // max -1: any number
    size_t options_size;
    const void *defaults; // options_size bytes
    bool tflite;          // flags are written as flags_tflite.h says
    // Offset in the options of a `const int *` that is to be the place of each flag on the command line, in the order
    // of `flags`: an index into argv, 0 for those not given. 0: not wanted. Valid while `run` runs.
    size_t positions;
    // Exit code 0 or 1. `options` is a struct of options_size bytes.
    int (*run)(const void *options, int operand_count, char **operands);
};

// The members of a struct hl_command that name its tables: an array of flags, and the defaults, of the options' type.
#define HL_COMMAND_TABLES(table, initial)                                                             \
    .flags = (table), .flag_count = sizeof(table) / sizeof *(table), .options_size = sizeof(initial), \
    .defaults = &(initial)

enum { HL_EXIT_OK = 0, HL_EXIT_FAILED = 1, HL_EXIT_USAGE = 2 };

// Parses what follows the subcommand's name, runs it and returns the exit code. --help is understood everywhere.
int hl_command_main(const struct hl_command *command, int argc, char **argv);
void hl_command_help(const struct hl_command *command, FILE *out);

// Writes a flag's value into the options. False where the value does not suit the flag; an empty string does.
bool hl_flags_store(const struct hl_flag *flag, const char *value, void *options);

// The required flag whose value may also be the first operand: halite bench MODEL, halite label MODEL PHOTO. NULL:
// none.
const struct hl_flag *hl_flags_operand(const struct hl_command *command);

// The place of the flag of this name, from a command's positions; 0: not given.
int hl_flags_position(const struct hl_command *command, const int *positions, const char *name);

// The word of `words` (NULL at the end) that the user may have meant, or NULL.
const char *hl_flags_nearest(const char *word, const char *const *words);

#endif
