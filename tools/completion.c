// SPDX-License-Identifier: Apache-2.0
// halite completion: the tables of flags as completion for shells. In: bash, zsh or fish. Out: a script for that shell.
// What a flag's value or an operand may be is asked here once (value_of); each shell has its own words for it.
#include <string.h>

#include "commands.h"
#include "message.h"

// ---- what may stand there -----------------------------------------------------------------------

enum kind { NOTHING, ANY_FILE, MODEL, FOLDER, LIBRARY, DEVICE, SETTING, CHOICE, BOOL, WORDS };

// Flags and operands whose values are known by their names; all other strings may be files.
static const struct {
    const char *name;
    enum kind kind;
} known[] = {
    {"model", MODEL},
    {"graph", MODEL},
    {"model_file", MODEL},
    {"tflite_model", MODEL},
    {"MODEL", MODEL},
    {"MODEL...", MODEL},
    {"[MODEL...]", MODEL},
    {"MODEL [MODEL]", MODEL},
    {"cache", FOLDER},
    {"folder", FOLDER},
    {"dump-all", FOLDER},
    {"device", DEVICE},
    {"gpu_backend", DEVICE},
    {"from", SETTING},
    {"to", SETTING},
    {"delegate", LIBRARY},
    {"custom-ops", LIBRARY},
    {"external_delegate_path", LIBRARY},
    {"delegate_serialize_dir", FOLDER},
    {"ground_truth_images_path", FOLDER},
};

static enum kind kind_of_name(const char *name, enum kind otherwise)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return known[i].kind;
    return otherwise;
}

static enum kind value_of(const struct hl_flag *flag, bool tflite)
{
    switch (flag->kind) {
    case HL_FLAG_SWITCH: return NOTHING;
    case HL_FLAG_BOOL: return BOOL;
    case HL_FLAG_CHOICE:
    case HL_FLAG_CHOICES: return CHOICE;
    case HL_FLAG_INT:
    case HL_FLAG_INTS:
    case HL_FLAG_NUMBER:
        return WORDS; // none
    // Of the evaluation tools --delegate is a word.
    default: return tflite && strcmp(flag->name, "delegate") == 0 ? WORDS : kind_of_name(flag->name, ANY_FILE);
    }
}

// What may stand behind the flags. A command whose model is its first operand takes models there as well.
static enum kind operand_of(const struct hl_command *command)
{
    const char *operands = command->operands;
    if (operands == NULL) return hl_flags_operand(command) != NULL ? MODEL : command->tflite ? ANY_FILE : NOTHING;
    if (strchr(operands, '|') != NULL || strcmp(operands, "[COMMAND]") == 0) return WORDS;
    return kind_of_name(operands, ANY_FILE);
}

// The words themselves, with blanks between.
static void print_choices(const struct hl_flag *flag)
{
    for (int i = 0; flag->choices[i] != NULL; i++) printf("%s%s", i > 0 ? " " : "", flag->choices[i]);
}

static void print_operand_words(const char *operands)
{
    if (strcmp(operands, "[COMMAND]") == 0) {
        for (int i = 0; i < HL_COMMAND_COUNT; i++) printf("%s%s", i > 0 ? " " : "", hl_commands[i]->name);
        return;
    }
    for (; *operands != '\0'; operands++) putchar(*operands == '|' ? ' ' : *operands);
}

// A command of the shell that prints the names of devices; with the CPU's ways for settings.
static void print_device_words(enum kind kind)
{
    printf("%s$(halite devices --names 2>/dev/null)", kind == SETTING ? "reference fast official " : "");
}

// ---- bash ---------------------------------------------------------------------------------------

// Shell assignments that say what completes: words, and a pattern of files (no: none, /: folders, *: any).
static void print_bash_values(const struct hl_flag *flag, enum kind kind)
{
    switch (kind) {
    case BOOL: printf("words='true false' files=no"); break;
    case CHOICE:
        printf("words='");
        print_choices(flag);
        printf("' files=no");
        break;
    case DEVICE:
    case SETTING:
        printf("words=\"");
        print_device_words(kind);
        printf("\" files=no");
        break;
    case MODEL: printf("files='*.tflite'"); break;
    case LIBRARY: printf("files='*.so'"); break;
    case FOLDER: printf("files=/"); break;
    case ANY_FILE: printf("files='*'"); break;
    default: printf("files=no"); break;
    }
}

// The words that a command takes, and behind which flags stand which values: after "yes--name", and where a value may
// stand behind a blank, "--name" and "-n".
static void print_bash_command(const struct hl_command *command, bool program)
{
    printf("        %s)\n            words='", command->name);
    for (int i = 0; i < command->flag_count; i++)
        printf("%s--%s%s", i > 0 ? " " : "", command->flags[i].name, command->tflite ? "=" : "");
    printf("%s", program ? "" : " --help");
    enum kind operand = operand_of(command);
    if (operand == WORDS) {
        printf(" ");
        print_operand_words(command->operands);
    }
    printf("' ");
    print_bash_values(NULL, operand);
    printf("\n            [ -z \"$value\" ] || words=\n            case $value$before in\n");
    for (int i = 0; i < command->flag_count; i++) {
        const struct hl_flag *flag = &command->flags[i];
        enum kind kind = value_of(flag, command->tflite);
        if (kind == NOTHING) continue;
        printf("                yes--%s", flag->name);
        if (!command->tflite) printf("|--%s", flag->name);
        if (!command->tflite && flag->letter != '\0') printf("|-%c", flag->letter);
        printf(") words= ");
        print_bash_values(flag, kind);
        printf(" ;;\n");
    }
    printf("            esac ;;\n");
}

static void print_bash(void)
{
    printf("# Completion of halite and TensorFlow Lite's tools for bash, made by: halite completion bash\n"
           "_halite() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local command=${COMP_WORDS[0]##*/} words= files='*' value=\n"
           "    # Bash takes --flag=word for three words.\n"
           "    if [ \"$word\" = = ]; then\n"
           "        word= value=yes\n"
           "    elif [ \"$before\" = = ]; then\n"
           "        before=${COMP_WORDS[COMP_CWORD - 2]} value=yes\n"
           "    fi\n"
           "    if [ \"$command\" = halite ]; then\n"
           "        command=${COMP_WORDS[1]}\n"
           "        if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "            COMPREPLY=($(compgen -W '");
    for (int i = 0; i < HL_COMMAND_COUNT; i++) printf("%s ", hl_commands[i]->name);
    printf("--help --version' -- \"$word\"))\n"
           "            return\n"
           "        fi\n"
           "    fi\n"
           "    case $command in\n");
    for (int i = 0; i < HL_COMMAND_COUNT; i++) print_bash_command(hl_commands[i], i >= HL_FIRST_PROGRAM);
    printf("    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
           "    [[ $word != -* && $files != no ]] || return 0\n"
           "    local IFS=$'\\n'\n"
           "    [ \"$files\" = / ] || COMPREPLY+=($(compgen -f -X \"!$files\" -- \"$word\"))\n"
           "    [ \"$files\" = '*' ] || COMPREPLY+=($(compgen -d -- \"$word\"))\n"
           "}\n"
           "complete -o filenames -F _halite halite");
    for (int i = HL_FIRST_PROGRAM; i < HL_COMMAND_COUNT; i++) printf(" %s", hl_commands[i]->name);
    printf("\n");
}

// ---- zsh ----------------------------------------------------------------------------------------

// Inside of quotes, the first line of the help: `special` characters get a backslash.
static void print_quoted(const char *text, const char *special, const char *quote)
{
    for (; *text != '\0' && *text != '\n'; text++) {
        if (*text == '\'')
            printf("%s", quote);
        else if (strchr(special, *text) != NULL)
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_zsh_text(const char *text)
{
    print_quoted(text, "[]:\\", "'\\''");
}

// The action of _arguments for such a value.
static void print_zsh_values(const struct hl_flag *flag, enum kind kind, const char *operands)
{
    switch (kind) {
    case BOOL: printf("(true false)"); break;
    case CHOICE:
        printf("(");
        print_choices(flag);
        printf(")");
        break;
    case WORDS:
        printf("(");
        if (operands != NULL) print_operand_words(operands);
        printf(")");
        break;
    case DEVICE:
    case SETTING:
        // A colon in a word wants a backslash there.
        printf("_values device %s${(f)\"$(halite devices --names 2>/dev/null | sed \"s/\\:/\\\\\\\\\\:/\")\"}",
               kind == SETTING ? "reference fast official " : "");
        break;
    case MODEL: printf("_files -g \"*.tflite\""); break;
    case LIBRARY: printf("_files -g \"*.so\""); break;
    case FOLDER: printf("_files -/"); break;
    default: printf("_files"); break;
    }
}

static void print_zsh_flag(const struct hl_flag *flag, bool tflite)
{
    enum kind kind = value_of(flag, tflite);
    printf(" \\\n                '--%s%s[", flag->name, tflite ? "=-" : "");
    print_zsh_text(flag->help);
    printf("]");
    if (kind != NOTHING) {
        printf(":%s:", flag->name);
        print_zsh_values(flag, kind, NULL);
    }
    printf("'");
}

static void print_zsh(void)
{
    printf("#compdef halite");
    for (int i = HL_FIRST_PROGRAM; i < HL_COMMAND_COUNT; i++) printf(" %s", hl_commands[i]->name);
    printf("\n# Completion of halite and TensorFlow Lite's tools for zsh, made by: halite completion zsh\n"
           "_halite() {\n"
           "    local command=${words[1]:t}\n"
           "    if [[ $command == halite ]]; then\n"
           "        if (( CURRENT == 2 )); then\n"
           "            local -a commands=(");
    for (int i = 0; i < HL_COMMAND_COUNT; i++) {
        printf("\n                '%s:", hl_commands[i]->name);
        print_zsh_text(hl_commands[i]->summary);
        printf("'");
    }
    printf(")\n"
           "            _describe command commands\n"
           "            return\n"
           "        fi\n"
           "        command=${words[2]}\n"
           "        shift words\n"
           "        (( CURRENT-- ))\n"
           "    fi\n"
           "    case $command in\n");
    for (int i = 0; i < HL_COMMAND_COUNT; i++) {
        const struct hl_command *command = hl_commands[i];
        printf("        %s)\n            _arguments -s", command->name);
        for (int f = 0; f < command->flag_count; f++) print_zsh_flag(&command->flags[f], command->tflite);
        printf(" \\\n                '*:operand:");
        print_zsh_values(NULL, operand_of(command), command->operands);
        printf("' ;;\n");
    }
    printf("    esac\n"
           "}\n"
           "_halite \"$@\"\n");
}

// ---- fish ---------------------------------------------------------------------------------------

static void print_fish_values(const struct hl_flag *flag, enum kind kind, const char *operands)
{
    switch (kind) {
    case BOOL: printf(" -x -a 'true false'"); break;
    case CHOICE:
        printf(" -x -a '");
        print_choices(flag);
        printf("'");
        break;
    case WORDS:
        printf(" -x");
        if (operands != NULL) {
            printf(" -a '");
            print_operand_words(operands);
            printf("'");
        }
        break;
    case DEVICE: printf(" -x -a '(halite devices --names 2>/dev/null)'"); break;
    case SETTING: printf(" -x -a 'reference fast official (halite devices --names 2>/dev/null)'"); break;
    case MODEL: printf(" -r -k -a '(__fish_complete_suffix .tflite)'"); break;
    case LIBRARY: printf(" -r -k -a '(__fish_complete_suffix .so)'"); break;
    case FOLDER: printf(" -x -a '(__fish_complete_directories)'"); break;
    case ANY_FILE: printf(" -r -F"); break;
    default: break;
    }
}

static void print_fish_start(const struct hl_command *command, bool program)
{
    if (program)
        printf("complete -c %s", command->name);
    else
        printf("complete -c halite -n '__fish_seen_subcommand_from %s'", command->name);
}

static void print_fish(void)
{
    printf("# Completion of halite and TensorFlow Lite's tools for fish, made by: halite completion fish\n"
           "complete -c halite -f\n");
    for (int i = 0; i < HL_COMMAND_COUNT; i++) {
        printf("complete -c halite -n __fish_use_subcommand -a %s -d '", hl_commands[i]->name);
        print_quoted(hl_commands[i]->summary, "\\", "\\'");
        printf("'\n");
    }
    for (int i = 0; i < HL_COMMAND_COUNT; i++) {
        const struct hl_command *command = hl_commands[i];
        bool program = i >= HL_FIRST_PROGRAM;
        for (int f = 0; f < command->flag_count; f++) {
            const struct hl_flag *flag = &command->flags[f];
            print_fish_start(command, program);
            printf(" -l %s", flag->name);
            if (flag->letter != '\0') printf(" -s %c", flag->letter);
            print_fish_values(flag, value_of(flag, command->tflite), NULL);
            printf(" -d '");
            print_quoted(flag->help, "\\", "\\'");
            printf("'\n");
        }
        enum kind operand = operand_of(command);
        if (operand == NOTHING || program) continue;
        print_fish_start(command, program);
        print_fish_values(NULL, operand, command->operands);
        printf("\n");
    }
}

// ---- the subcommand -----------------------------------------------------------------------------

static const int no_options = 0;

static int run(const void *options, int operand_count, char **operands)
{
    (void)options;
    (void)operand_count;
    static const struct {
        const char *shell;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].shell, operands[0]) != 0) continue;
        shells[i].print();
        return HL_EXIT_OK;
    }
    hl_error("completion", NULL, "there is none for '%s', only for bash, zsh and fish", operands[0]);
    return HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"source <(halite completion bash)", "in bash, for this shell"},
    {"halite completion fish > ~/.config/fish/completions/halite.fish", "in fish, for all"},
    {NULL, NULL},
};

const struct hl_command hl_command_completion = {
    .name = "completion",
    .summary = "Print completion for a shell: source <(halite completion bash).",
    .operands = "bash|zsh|fish",
    .min_operands = 1,
    .max_operands = 1,
    .options_size = sizeof no_options,
    .defaults = &no_options,
    .examples = examples,
    .run = run,
};
