// SPDX-License-Identifier: Apache-2.0
// Parser and help printer for the tables of flags.h. Accepts --name VALUE, --name=VALUE, -n VALUE, -nVALUE, -- before
// operands that begin with a dash, and what a command requires as its operand where it has no others. One message on
// standard error, exit code 2, for whatever does not fit.
#include "flags.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "flags_tflite.h"
#include "message.h"
#include "text.h"

// Edit distance, or a large number for long words.
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 31 };
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    int row[LONGEST + 1];
    for (size_t j = 0; j <= m; j++) row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < best ? change : best;
        }
    }
    return row[m];
}

const char *hl_flags_nearest(const char *word, const char *const *words)
{
    const char *best = NULL;
    int best_distance = 3; // two slips at most
    for (; *words != NULL; words++) {
        size_t length = strlen(word);
        bool beginning = length >= 2 && strncmp(*words, word, length) == 0;
        int d = beginning ? 0 : distance(word, *words);
        if (d < best_distance && (size_t)d < strlen(*words)) {
            best = *words;
            best_distance = d;
        }
    }
    return best;
}

static int usage(const struct hl_command *command, const char *format, ...) HL_PRINTF(2, 3);
static int usage(const struct hl_command *command, const char *format, ...)
{
    struct hl_text text = {0};
    va_list args;
    va_start(args, format);
    hl_text_add_va(&text, format, args);
    va_end(args);
    hl_error(command->name, NULL, "%s; see halite %s --help", text.data, command->name);
    hl_text_free(&text);
    return HL_EXIT_USAGE;
}

static void add_choices(struct hl_text *text, const char *const *choices, const char *between, const char *last)
{
    for (int i = 0; choices[i] != NULL; i++)
        hl_text_add(text, "%s%s", i == 0 ? "" : choices[i + 1] == NULL ? last : between, choices[i]);
}

static const struct hl_flag *find_flag(const struct hl_command *command, const char *name, size_t length)
{
    for (int i = 0; i < command->flag_count; i++) {
        const struct hl_flag *flag = &command->flags[i];
        if (strlen(flag->name) == length && memcmp(flag->name, name, length) == 0) return flag;
    }
    return NULL;
}

static const struct hl_flag *find_letter(const struct hl_command *command, char letter)
{
    for (int i = 0; i < command->flag_count; i++)
        if (command->flags[i].letter == letter && letter != '\0') return &command->flags[i];
    return NULL;
}

static int unknown_flag(const struct hl_command *command, const char *argument, size_t length)
{
    const char **names = hl_alloc((size_t)command->flag_count + 2, sizeof *names);
    for (int i = 0; i < command->flag_count; i++) names[i] = command->flags[i].name;
    names[command->flag_count] = "help";
    struct hl_text name = {0};
    hl_text_add_bytes(&name, argument, length);
    const char *nearest = strncmp(name.data, "--", 2) == 0 ? hl_flags_nearest(name.data + 2, names) : NULL;
    int code = nearest != NULL ? usage(command, "unknown flag %s, perhaps --%s was meant", name.data, nearest)
                               : usage(command, "unknown flag %s", name.data);
    hl_text_free(&name);
    free(names);
    return code;
}

static void add_number(struct hl_text *text, double value)
{
    hl_text_add(text, "%.10g", value);
}

static int bad_number(const struct hl_command *command, const struct hl_flag *flag, const char *value)
{
    struct hl_text range = {0};
    bool whole = flag->kind != HL_FLAG_NUMBER, below = flag->max < (whole ? INT_MAX : HUGE_VAL);
    const char *what = flag->kind == HL_FLAG_INT ? "a whole number" : whole ? "whole numbers" : "a number";
    if (flag->min > -HUGE_VAL && below) {
        hl_text_add(&range, " from ");
        add_number(&range, flag->min);
        hl_text_add(&range, " to ");
        add_number(&range, flag->max);
    } else if (flag->min > -HUGE_VAL) {
        hl_text_add(&range, ", at least ");
        add_number(&range, flag->min);
    }
    int code = usage(command, "--%s takes %s%s, not '%s'", flag->name, what, hl_text_string(&range), value);
    hl_text_free(&range);
    return code;
}

static bool parse_bool(const char *value, bool *at)
{
    bool yes = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    if (!yes && strcmp(value, "false") != 0 && strcmp(value, "0") != 0) return false;
    *at = yes;
    return true;
}

// A whole number in the flag's range. False where `value` is none.
static bool parse_int(const struct hl_flag *flag, const char *value, int *at)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number < INT_MIN || number > INT_MAX ||
        (double)number < flag->min || (double)number > flag->max)
        return false;
    *at = (int)number;
    return true;
}

static bool parse_choice(const struct hl_flag *flag, const char *value, int *at)
{
    int i = 0;
    while (flag->choices[i] != NULL && strcmp(flag->choices[i], value) != 0) i++;
    if (flag->choices[i] == NULL) return false;
    *at = i;
    return true;
}

// Adds the parts of a value that commas separate.
static bool parse_parts(const struct hl_flag *flag, const char *value, struct hl_flag_ints *list)
{
    bool ok = true;
    for (const char *end; ok; value = end + 1) {
        end = value + strcspn(value, ",");
        struct hl_text part = {0};
        int item = 0;
        hl_text_add_bytes(&part, value, (size_t)(end - value));
        ok = flag->kind == HL_FLAG_INTS ? parse_int(flag, hl_text_string(&part), &item)
                                        : parse_choice(flag, hl_text_string(&part), &item);
        hl_text_free(&part);
        if (!ok) break;
        list->items = hl_alloc_grow(list->items, (size_t)list->count + 1, sizeof *list->items);
        list->items[list->count++] = item;
        if (*end == '\0') break;
    }
    return ok;
}

bool hl_flags_store(const struct hl_flag *flag, const char *value, void *options)
{
    char *at = (char *)options + flag->offset, *end;
    switch (flag->kind) {
    case HL_FLAG_SWITCH: *(bool *)at = true; break;
    case HL_FLAG_BOOL: return parse_bool(value, (bool *)at);
    case HL_FLAG_STRING: *(const char **)at = value; break;
    case HL_FLAG_INT: return parse_int(flag, value, (int *)at);
    case HL_FLAG_NUMBER: {
        double number = strtod(value, &end);
        if (end == value || *end != '\0' || !isfinite(number) || number < flag->min || number > flag->max) return false;
        *(double *)at = number;
        break;
    }
    case HL_FLAG_CHOICE: return parse_choice(flag, value, (int *)at);
    case HL_FLAG_INTS:
    case HL_FLAG_CHOICES: return parse_parts(flag, value, (struct hl_flag_ints *)at);
    case HL_FLAG_LIST: {
        struct hl_flag_list *list = (struct hl_flag_list *)at;
        list->items = hl_alloc_grow(list->items, (size_t)list->count + 1, sizeof *list->items);
        list->items[list->count++] = value;
        break;
    }
    }
    return true;
}

static int bad_value(const struct hl_command *command, const struct hl_flag *flag, const char *value)
{
    if (flag->kind == HL_FLAG_INT || flag->kind == HL_FLAG_INTS || flag->kind == HL_FLAG_NUMBER)
        return bad_number(command, flag, value);
    static const char *const bools[] = {"true", "false", NULL};
    struct hl_text list = {0};
    add_choices(&list, flag->kind == HL_FLAG_BOOL ? bools : flag->choices, ", ", " or ");
    int code = usage(command, "--%s takes %s, not '%s'", flag->name, list.data, value);
    hl_text_free(&list);
    return code;
}

int hl_flags_position(const struct hl_command *command, const int *positions, const char *name)
{
    const struct hl_flag *flag = find_flag(command, name, strlen(name));
    return flag != NULL ? positions[flag - command->flags] : 0;
}

const struct hl_flag *hl_flags_operand(const struct hl_command *command)
{
    const struct hl_flag *found = NULL;
    for (int i = 0; i < command->flag_count; i++)
        if (command->flags[i].required && command->flags[i].kind == HL_FLAG_STRING && found == NULL)
            found = &command->flags[i];
    return found;
}

struct parsing {
    const struct hl_command *command;
    void *options;
    int *positions; // per flag: where it was given, 0: nowhere
    int operand_count;
    char **operands;
    bool help;
};

// Takes the argument at argv[*i], and the value behind it where the flag has one.
static int parse_flag(struct parsing *parsing, int argc, char **argv, int *i)
{
    const struct hl_command *command = parsing->command;
    char *argument = argv[*i];
    int position = *i + 1;
    bool is_long = argument[1] == '-';
    char *equals = is_long ? strchr(argument, '=') : NULL;
    size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
    if ((length == 6 && memcmp(argument, "--help", 6) == 0) || strcmp(argument, "-h") == 0) {
        parsing->help = true;
        return HL_EXIT_OK;
    }
    const struct hl_flag *flag =
        is_long ? find_flag(command, argument + 2, length - 2) : find_letter(command, argument[1]);
    if (flag == NULL) return unknown_flag(command, argument, length);
    const char *value = equals != NULL ? equals + 1 : !is_long && argument[2] != '\0' ? argument + 2 : NULL;
    if (flag->kind == HL_FLAG_SWITCH) {
        if (value != NULL) return usage(command, "--%s takes no value", flag->name);
    } else if (value == NULL) {
        if (*i + 1 >= argc) return usage(command, "--%s needs a value: %s", flag->name, flag->value);
        value = argv[++*i];
    }
    if (flag->kind == HL_FLAG_STRING && *value == '\0') return usage(command, "--%s is empty", flag->name);
    parsing->positions[flag - command->flags] = position;
    if (!hl_flags_store(flag, value, parsing->options)) return bad_value(command, flag, value);
    return HL_EXIT_OK;
}

static int parse(struct parsing *parsing, int argc, char **argv)
{
    const struct hl_command *command = parsing->command;
    bool flags = true;
    for (int i = 0; i < argc && !parsing->help; i++) {
        if (flags && strcmp(argv[i], "--") == 0) {
            flags = false;
        } else if (flags && argv[i][0] == '-' && argv[i][1] != '\0') {
            int code = parse_flag(parsing, argc, argv, &i);
            if (code != HL_EXIT_OK) return code;
        } else {
            parsing->operands[parsing->operand_count++] = argv[i];
        }
    }
    if (parsing->help) return HL_EXIT_OK;
    const struct hl_flag *operand = hl_flags_operand(command);
    bool bare = operand != NULL && parsing->positions[operand - command->flags] == 0 && parsing->operand_count > 0;
    if (bare) {
        hl_flags_store(operand, parsing->operands[0], parsing->options);
        parsing->positions[operand - command->flags] = 1;
        parsing->operand_count--;
        memmove(parsing->operands, parsing->operands + 1, (size_t)parsing->operand_count * sizeof *parsing->operands);
    }
    for (int i = 0; i < command->flag_count; i++)
        if (command->flags[i].required && parsing->positions[i] == 0)
            return usage(command, "--%s %s is missing", command->flags[i].name, command->flags[i].value);
    if (parsing->operand_count < command->min_operands) {
        if (!bare) return usage(command, "%s is missing", command->operands);
        const char *taken = *(const char **)((char *)parsing->options + operand->offset);
        return usage(command, "%s is missing: '%s' is taken for --%s %s", command->operands, taken, operand->name,
                     operand->value);
    }
    if (command->max_operands >= 0 && parsing->operand_count > command->max_operands)
        return usage(command, "'%s' is one argument too many", parsing->operands[command->max_operands]);
    return HL_EXIT_OK;
}

int hl_command_main(const struct hl_command *command, int argc, char **argv)
{
    struct parsing parsing = {
        .command = command,
        .options = hl_alloc(1, command->options_size),
        .positions = hl_alloc((size_t)command->flag_count, sizeof(int)),
        .operands = hl_alloc((size_t)argc + 1, sizeof(char *)),
    };
    memcpy(parsing.options, command->defaults, command->options_size);
    // A line of the originals is there when it is printed, in a pipe too.
    if (command->tflite) setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (command->positions != 0) *(const int **)((char *)parsing.options + command->positions) = parsing.positions;
    int code = command->tflite ? hl_flags_tflite_parse(command, argc, argv, parsing.options, parsing.positions)
                               : parse(&parsing, argc, argv);
    if (code == HL_EXIT_OK && parsing.help)
        hl_command_help(command, stdout);
    else if (code == HL_EXIT_OK)
        code = command->run(parsing.options, parsing.operand_count, parsing.operands);
    for (int i = 0; i < command->flag_count; i++) {
        char *at = (char *)parsing.options + command->flags[i].offset;
        enum hl_flag_kind kind = command->flags[i].kind;
        if (kind == HL_FLAG_LIST) free(((struct hl_flag_list *)at)->items);
        if (kind == HL_FLAG_INTS || kind == HL_FLAG_CHOICES) free(((struct hl_flag_ints *)at)->items);
    }
    free(parsing.options);
    free(parsing.positions);
    free(parsing.operands);
    return code;
}

// ---- help ---------------------------------------------------------------------------------------

enum { HELP_COLUMN = 28 };

// Text whose further lines are indented to the column of the first.
static void print_help_text(FILE *out, const char *help)
{
    for (;; help++) {
        size_t length = strcspn(help, "\n");
        fprintf(out, "%.*s\n", (int)length, help);
        help += length;
        if (*help == '\0') return;
        fprintf(out, "%*s", HELP_COLUMN, "");
    }
}

static void print_flag(FILE *out, const struct hl_flag *flag)
{
    struct hl_text left = {0};
    if (flag->letter != '\0')
        hl_text_add(&left, "  -%c, --%s", flag->letter, flag->name);
    else
        hl_text_add(&left, "      --%s", flag->name);
    if (flag->choices != NULL) {
        hl_text_add(&left, " ");
        add_choices(&left, flag->choices, "|", "|");
        if (flag->kind == HL_FLAG_CHOICES) hl_text_add(&left, ",...");
    } else if (flag->value != NULL) {
        hl_text_add(&left, " %s", flag->value);
    }
    fputs(left.data, out);
    if (left.length + 2 > HELP_COLUMN)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(out, "%*s", HELP_COLUMN - (int)left.length, "");
    print_help_text(out, flag->help);
    hl_text_free(&left);
}

void hl_command_help(const struct hl_command *command, FILE *out)
{
    if (command->tflite) {
        hl_flags_tflite_help(command, out);
        return;
    }
    fprintf(out, "usage: halite %s", command->name);
    for (int i = 0; i < command->flag_count; i++) {
        const struct hl_flag *flag = &command->flags[i];
        bool operand = flag == hl_flags_operand(command);
        if (flag->required) fprintf(out, operand ? " [--%s] %s" : " --%s %s", flag->name, flag->value);
    }
    fprintf(out, " [FLAG...]%s%s\n", command->operands != NULL ? " " : "",
            command->operands != NULL ? command->operands : "");
    fprintf(out, "%s\n\n", command->summary);
    for (int i = 0; i < command->flag_count; i++) print_flag(out, &command->flags[i]);
    print_flag(out, &(struct hl_flag){.name = "help", .letter = 'h', .help = "this text"});
    if (command->details != NULL) fprintf(out, "\n%s", command->details);
    for (const struct hl_example *example = command->examples; example != NULL && example->text != NULL; example++)
        fprintf(out, "%s  %s\n      %s\n", example == command->examples ? "\nexamples:\n" : "", example->line,
                example->text);
}
