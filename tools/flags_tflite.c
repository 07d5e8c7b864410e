// SPDX-License-Identifier: Apache-2.0
// See flags_tflite.h. Stricter than the original in one thing: a number with something behind it ("12abc") is refused.
#include "flags_tflite.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "message.h"
#include "text.h"

// The value in "--name=value" where this is the flag's name, else NULL.
static const char *value_of(const struct hl_flag *flag, const char *argument)
{
    size_t length = strlen(flag->name);
    if (strncmp(argument, "--", 2) != 0 || strncmp(argument + 2, flag->name, length) != 0 ||
        argument[2 + length] != '=')
        return NULL;
    return argument + 2 + length + 1;
}

// The first argument that is the flag, or argc.
static int find(const struct hl_flag *flag, int argc, char **argv)
{
    int i = 0;
    while (i < argc && value_of(flag, argv[i]) == NULL) i++;
    return i;
}

// Why an argument was of no use, where that can be told: a flag without its value, or a slip of the finger.
static void hint(const struct hl_command *command, const char *argument)
{
    if (strncmp(argument, "--", 2) != 0) return;
    struct hl_text name = {0};
    hl_text_add_bytes(&name, argument + 2, strcspn(argument + 2, "="));
    const char **names = hl_alloc((size_t)command->flag_count + 1, sizeof *names);
    for (int i = 0; i < command->flag_count; i++) names[i] = command->flags[i].name;
    const char *nearest = hl_flags_nearest(name.data, names);
    if (nearest != NULL && strcmp(nearest, name.data) == 0 && strchr(argument, '=') == NULL)
        hl_warn(HL_TFLITE, NULL, "%s needs a value: write %s=VALUE", argument, argument);
    else if (nearest != NULL && strcmp(nearest, name.data) != 0)
        hl_warn(HL_TFLITE, NULL, "unknown flag --%s, perhaps --%s was meant", name.data, nearest);
    free(names);
    hl_text_free(&name);
}

static void report_unknown(const struct hl_command *command, int argc, char **argv, const bool *taken)
{
    struct hl_text text = {0};
    for (int i = 0; i < argc; i++)
        if (!taken[i]) hl_text_add(&text, " %s", argv[i]);
    if (text.length > 0) hl_warn(HL_TFLITE, NULL, "Unconsumed cmdline flags:%s", text.data);
    for (int i = 0; i < argc; i++)
        if (!taken[i]) hint(command, argv[i]);
    hl_text_free(&text);
}

int hl_flags_tflite_parse(const struct hl_command *command, int argc, char **argv, void *options, int *positions)
{
    bool *taken = hl_alloc((size_t)argc, sizeof *taken), ok = true, help = false;
    for (int f = 0; f < command->flag_count; f++) {
        const struct hl_flag *flag = &command->flags[f];
        int at = find(flag, argc, argv);
        if (at == argc) {
            if (flag->required) hl_error(HL_TFLITE, NULL, "Required flag not provided: %s", flag->name);
            ok = ok && !flag->required;
            continue;
        }
        taken[at] = true;
        positions[f] = at + 1;
        if (hl_flags_store(flag, value_of(flag, argv[at]), options)) {
            help = help || (strcmp(flag->name, "help") == 0 && *(const bool *)((char *)options + flag->offset));
            continue;
        }
        hl_error(HL_TFLITE, NULL, "Failed to parse flag '%s' against argv '%s'", flag->name, argv[at]);
        ok = false;
    }
    for (int i = 0; i < argc; i++) {
        if (taken[i] || strcmp(argv[i], "--help") != 0) continue;
        help = taken[i] = true;
    }
    if (help || !ok)
        hl_flags_tflite_help(command, help ? stdout : stderr);
    else
        report_unknown(command, argc, argv, taken);
    free(taken);
    return ok && !help ? HL_EXIT_OK : HL_EXIT_FAILED;
}

// ---- help ---------------------------------------------------------------------------------------

static const char *type_name(enum hl_flag_kind kind)
{
    switch (kind) {
    case HL_FLAG_BOOL: return "bool";
    case HL_FLAG_INT: return "int32";
    case HL_FLAG_NUMBER: return "float";
    default: return "string";
    }
}

static void add_default(struct hl_text *text, const struct hl_flag *flag, const void *defaults)
{
    const void *at = (const char *)defaults + flag->offset;
    switch (flag->kind) {
    case HL_FLAG_BOOL: hl_text_add(text, "%s", *(const bool *)at ? "true" : "false"); break;
    case HL_FLAG_INT: hl_text_add(text, "%d", *(const int *)at); break;
    case HL_FLAG_NUMBER: hl_text_add(text, "%g", *(const double *)at); break;
    default: {
        const char *string = *(const char *const *)at;
        hl_text_add(text, "%s", string != NULL ? string : "");
    }
    }
}

void hl_flags_tflite_help(const struct hl_command *command, FILE *out)
{
    struct hl_text *names = hl_alloc((size_t)command->flag_count, sizeof *names);
    size_t width = 0;
    for (int i = 0; i < command->flag_count; i++) {
        hl_text_add(&names[i], "--%s=", command->flags[i].name);
        add_default(&names[i], &command->flags[i], command->defaults);
        if (names[i].length > width) width = names[i].length;
    }
    fprintf(out, "usage: %s <flags>\nFlags:\n", command->name);
    for (int i = 0; i < command->flag_count; i++) {
        const struct hl_flag *flag = &command->flags[i];
        fprintf(out, "\t%-*s\t%s\t%s\t%s\n", (int)width, names[i].data, type_name(flag->kind),
                flag->required ? "required" : "optional", flag->help);
        hl_text_free(&names[i]);
    }
    free(names);
    if (command->details != NULL) fprintf(out, "\n%s", command->details);
}
