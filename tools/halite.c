// SPDX-License-Identifier: Apache-2.0
// The halite command: takes the subcommand's name off the command line and hands the rest on; called by the name of one
// of TensorFlow Lite's tools it is that. Exit codes: 0, 1 when something failed, 2 for a wrong command line.
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/process.h"
#include "commands.h"
#include "files.h"
#include "halite/halite.h"
#include "message.h"

const struct hl_command *const hl_commands[HL_COMMAND_COUNT] = {
#define COMMAND(name) &hl_command_##name,
#define PROGRAM(name) COMMAND(name)
#include "commands.def"
#undef COMMAND
#undef PROGRAM
};

static const struct hl_command *find(const char *name)
{
    for (int i = 0; i < HL_COMMAND_COUNT; i++)
        if (strcmp(hl_commands[i]->name, name) == 0) return hl_commands[i];
    return NULL;
}

// The tool that a path names: run_eval, or halite-run_eval where the original's names belong to another package, and
// with what a system puts behind the names of programs.
static const struct hl_command *find_program(const char *path)
{
    static const char prefix[] = "halite-", ending[] = ".exe";
    const char *name = hl_path_name(path);
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
    size_t length = strlen(name);
    if (hl_files_ends_with_any_case(name, ending)) length -= sizeof ending - 1;
    for (int i = HL_FIRST_PROGRAM; i < HL_COMMAND_COUNT; i++)
        if (strlen(hl_commands[i]->name) == length && strncmp(hl_commands[i]->name, name, length) == 0)
            return hl_commands[i];
    return NULL;
}

static void print_help(FILE *out)
{
    fputs("usage: halite COMMAND [FLAG...] [ARGUMENT...]\n"
          "Runs TensorFlow Lite models (.tflite).\n\n",
          out);
    for (int i = 0; i < HL_FIRST_PROGRAM; i++)
        fprintf(out, "  %-21s%s\n", hl_commands[i]->name, hl_commands[i]->summary);
    fputs("\nTensorFlow Lite's own tools, also as programs of these names:\n", out);
    for (int i = HL_FIRST_PROGRAM; i < HL_COMMAND_COUNT; i++)
        fprintf(out, "  %s\n      %s\n", hl_commands[i]->name, hl_commands[i]->summary);
    fputs("\nhalite COMMAND --help tells more. halite --version prints the version.\n", out);
}

static int unknown(const char *name)
{
    const char *names[HL_COMMAND_COUNT + 1] = {NULL};
    for (int i = 0; i < HL_COMMAND_COUNT; i++) names[i] = hl_commands[i]->name;
    const char *nearest = hl_flags_nearest(name, names);
    if (nearest != NULL)
        hl_error(NULL, NULL, "unknown command '%s', perhaps %s was meant; see halite --help", name, nearest);
    else
        hl_error(NULL, NULL, "unknown command '%s'; see halite --help", name);
    return HL_EXIT_USAGE;
}

// Buffered output that cannot be written (a full disk) is a failure as well.
static int finish(int code)
{
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (written && !ferror(stderr)) return code; // where label_image writes its result, as the original
    if (!written) hl_error(NULL, NULL, "standard output cannot be written");
    return code == HL_EXIT_OK ? HL_EXIT_FAILED : code;
}

int main(int argc, char **argv)
{
    if (!hl_process_begin(&argc, &argv)) hl_alloc_check(NULL);
    const struct hl_command *program = argc > 0 ? find_program(argv[0]) : NULL;
    if (program != NULL) return finish(hl_command_main(program, argc - 1, argv + 1));
    const char *name = argc > 1 ? argv[1] : "";
    if (*name == '\0') {
        print_help(stderr);
        return HL_EXIT_USAGE;
    }
    bool help = strcmp(name, "help") == 0;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (help && argc == 2)) {
        print_help(stdout);
        return finish(HL_EXIT_OK);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("halite %s (TensorFlow Lite interface %s)\n", HaliteVersion(), TfLiteVersion());
        return finish(HL_EXIT_OK);
    }
    if (help) name = argv[2];
    const struct hl_command *command = find(name);
    if (command == NULL) return unknown(name);
    if (help) {
        hl_command_help(command, stdout);
        return finish(HL_EXIT_OK);
    }
    return finish(hl_command_main(command, argc - 2, argv + 2));
}
