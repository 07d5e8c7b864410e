// SPDX-License-Identifier: Apache-2.0
// halite manual: the tables that --help is made of, and environment.def, as manual pages. In: a command's name, or a
// folder. Out: a page in roff, or a page for each command in the folder.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "halite/halite.h"
#include "message.h"
#include "output_file.h"

struct options {
    const char *folder;
};

static const struct options defaults = {.folder = NULL};

// clang-format off
static const struct hl_flag flags[] = {
    {.name = "folder", .letter = 'f', .kind = HL_FLAG_STRING, .value = "FOLDER", .offset = offsetof(struct options, folder),
     .help = "write the pages of all commands there"},
};
// clang-format on

// Text as roff shows it: dashes that can be searched for, no line taken for a command, line ends as blanks or breaks.
static void add_escaped(struct hl_text *text, const char *plain, bool breaks)
{
    bool first = true;
    for (; *plain != '\0'; plain++) {
        if (first && (*plain == '.' || *plain == '\'')) hl_text_add(text, "\\&");
        first = *plain == '\n';
        if (*plain == '\\')
            hl_text_add(text, "\\e");
        else if (*plain == '-')
            hl_text_add(text, "\\-");
        else if (*plain == '\n')
            hl_text_add(text, breaks ? "\n.br\n" : "\n");
        else
            hl_text_add_bytes(text, plain, 1);
    }
}

static void add_flag(struct hl_text *text, const struct hl_flag *flag, bool tflite)
{
    hl_text_add(text, ".TP\n.B ");
    if (flag->letter != '\0') hl_text_add(text, "\\-%c, ", flag->letter);
    hl_text_add(text, "\\-\\-");
    add_escaped(text, flag->name, false);
    if (flag->choices != NULL) {
        hl_text_add(text, " ");
        for (int i = 0; flag->choices[i] != NULL; i++) hl_text_add(text, "%s%s", i > 0 ? "|" : "", flag->choices[i]);
        if (flag->kind == HL_FLAG_CHOICES) hl_text_add(text, ",...");
    } else if (flag->value != NULL) {
        hl_text_add(text, tflite ? "=\\fI%s\\fR" : " \\fI%s\\fR", flag->value);
    }
    hl_text_add(text, "\n");
    add_escaped(text, flag->help, false);
    hl_text_add(text, "\n");
}

// A name in bold, and what it means.
static void add_entry(struct hl_text *text, const char *name, const char *meaning)
{
    hl_text_add(text, ".TP\n.B ");
    add_escaped(text, name, false);
    hl_text_add(text, "\n");
    add_escaped(text, meaning, false);
    hl_text_add(text, "\n");
}

static void add_environment(struct hl_text *text, unsigned groups)
{
    static const struct {
        unsigned group;
        const char *name, *meaning;
    } variables[] = {
#define ENVIRONMENT(group, name, meaning) {HL_ENVIRONMENT_##group, name, meaning},
#include "environment.def"
#undef ENVIRONMENT
    };
    if (groups != 0) hl_text_add(text, ".SH ENVIRONMENT\n");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (variables[i].group & groups) add_entry(text, variables[i].name, variables[i].meaning);
}

static void add_examples(struct hl_text *text, const struct hl_example *example)
{
    if (example != NULL) hl_text_add(text, ".SH EXAMPLES\n");
    for (; example != NULL && example->text != NULL; example++) add_entry(text, example->line, example->text);
}

static void add_exit_status(struct hl_text *text, bool tflite)
{
    hl_text_add(text,
                ".SH EXIT STATUS\n.TP\n.B 0\nall is well\n.TP\n.B 1\n%s, and a message on standard error "
                "says what, where, and what to do\n",
                tflite ? "something failed, or the command line is wrong" : "something failed");
    if (!tflite) add_entry(text, "2", "the command line is wrong");
    if (tflite) add_entry(text, "130", "an evaluation was interrupted (Ctrl-C) and has written what it had");
}

static void add_page(struct hl_text *text, const struct hl_command *command, bool program)
{
    const char *before = program ? "" : "halite ", *dash = program ? "" : "halite\\-";
    hl_text_add(text, ".TH \"%s%s\" 1 \"\" \"Halite %s\" \"Halite\"\n.SH NAME\n%s", dash, command->name,
                HaliteVersion(), dash);
    add_escaped(text, command->name, false);
    hl_text_add(text, " \\- ");
    add_escaped(text, command->summary, false);
    hl_text_add(text, "\n.SH SYNOPSIS\n.B %s%s\n[flags]", before, command->name);
    const struct hl_flag *operand = hl_flags_operand(command);
    if (operand != NULL) hl_text_add(text, " [\\-\\-%s] \\fI%s\\fR", operand->name, operand->value);
    if (command->operands != NULL) hl_text_add(text, " \\fI%s\\fR", command->operands);
    if (command->flag_count > 0) hl_text_add(text, "\n.SH OPTIONS");
    hl_text_add(text, "\n");
    for (int i = 0; i < command->flag_count; i++) add_flag(text, &command->flags[i], command->tflite);
    if (command->details != NULL) {
        hl_text_add(text, ".SH NOTES\n");
        add_escaped(text, command->details, true);
    }
    add_environment(text, command->environment);
    add_examples(text, command->examples);
    add_exit_status(text, command->tflite);
    hl_text_add(text, ".SH SEE ALSO\n.BR halite (1)\n");
}

static void add_overview(struct hl_text *text)
{
    static const struct hl_example examples[] = {
        {"halite label mobilenet.tflite --labels labels.txt photo.jpg", "what is on a picture"},
        {"halite bench model.tflite --per-op", "how fast a model is, and what takes the time"},
        {"halite report model.tflite --gpu", "a page that shows its graph and where each node runs"},
        {NULL, NULL},
    };
    hl_text_add(text,
                ".TH halite 1 \"\" \"Halite %s\" \"Halite\"\n.SH NAME\nhalite \\- runs TensorFlow Lite models\n"
                ".SH SYNOPSIS\n.B halite\n\\fICOMMAND\\fR [flags] [arguments]\n.SH COMMANDS\n",
                HaliteVersion());
    for (int i = 0; i < HL_COMMAND_COUNT; i++) {
        hl_text_add(text, ".TP\n.BR %s%s (1)\n", i < HL_FIRST_PROGRAM ? "halite\\-" : "", hl_commands[i]->name);
        add_escaped(text, hl_commands[i]->summary, false);
        hl_text_add(text, "\n");
    }
    hl_text_add(text, ".SH FILES\nWhere a file is read or written, \\- is standard input or output.\n");
    add_environment(text, ~0u);
    add_examples(text, examples);
    add_exit_status(text, false);
}

static bool write_page(const char *folder, const char *name, bool subcommand, const struct hl_text *page)
{
    struct hl_text path = {0};
    hl_text_add(&path, "%s/%s%s.1", folder, subcommand ? "halite-" : "", name);
    bool ok = hl_output_write("manual", path.data, page->data, page->length);
    hl_text_free(&path);
    return ok;
}

static bool write_all(const char *folder)
{
    struct hl_text page = {0};
    add_overview(&page);
    bool ok = write_page(folder, "halite", false, &page);
    for (int i = 0; ok && i < HL_COMMAND_COUNT; i++) {
        hl_text_clear(&page);
        add_page(&page, hl_commands[i], i >= HL_FIRST_PROGRAM);
        ok = write_page(folder, hl_commands[i]->name, i < HL_FIRST_PROGRAM, &page);
    }
    hl_text_free(&page);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    const struct options *options = given;
    if (options->folder != NULL) return write_all(options->folder) ? HL_EXIT_OK : HL_EXIT_FAILED;
    struct hl_text page = {0};
    if (operand_count == 0) add_overview(&page);
    for (int i = 0; i < HL_COMMAND_COUNT && operand_count > 0; i++)
        if (strcmp(hl_commands[i]->name, operands[0]) == 0) add_page(&page, hl_commands[i], i >= HL_FIRST_PROGRAM);
    bool ok = page.length > 0;
    if (ok)
        fputs(page.data, stdout);
    else
        hl_error("manual", NULL, "there is no command '%s'; see halite --help", operands[0]);
    hl_text_free(&page);
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite manual bench | man -l -", "read a page"},
    {"halite manual --folder ~/.local/share/man/man1", "install all"},
    {NULL, NULL},
};

const struct hl_command hl_command_manual = {
    .name = "manual",
    .summary = "Print manual pages, for man -l or /usr/share/man.",
    .operands = "[COMMAND]",
    HL_COMMAND_TABLES(flags, defaults),
    .max_operands = 1,
    .examples = examples,
    .run = run,
};
