// SPDX-License-Identifier: Apache-2.0
// halite completion: the tables of flags as completion for shells. In: bash or zsh. Out: a script for that shell.
#include <string.h>

#include "commands.h"
#include "message.h"

// ---- bash ---------------------------------------------------------------------------------------

// "yes--name" and, where a value may stand behind a blank, "--name" and "-n".
static void print_bash_place(const struct hl_flag *flag, bool tflite, const char *before)
{
    printf("%syes--%s", before, flag->name);
    if (!tflite) printf("|--%s", flag->name);
    if (!tflite && flag->letter != '\0') printf("|-%c", flag->letter);
}

// The words that a command takes, and behind which flags stand which choices.
static void print_bash_command(const struct hl_command *command, bool program)
{
    bool bools = false;
    printf("        %s)\n            words='", command->name);
    for (int i = 0; i < command->flag_count; i++)
        printf("%s--%s%s", i > 0 ? " " : "", command->flags[i].name, command->tflite ? "=" : "");
    printf("%s'\n            [ -z \"$value\" ] || words=\n            case $value$before in\n",
           program ? "" : " --help");
    for (int i = 0; i < command->flag_count; i++) {
        const struct hl_flag *flag = &command->flags[i];
        if (flag->kind != HL_FLAG_CHOICE) continue;
        print_bash_place(flag, command->tflite, "                ");
        printf(") words='");
        for (int c = 0; flag->choices[c] != NULL; c++) printf("%s%s", c > 0 ? " " : "", flag->choices[c]);
        printf("' files= ;;\n");
    }
    for (int i = 0; i < command->flag_count; i++) {
        if (command->flags[i].kind != HL_FLAG_BOOL) continue;
        print_bash_place(&command->flags[i], command->tflite, bools ? "|" : "                ");
        bools = true;
    }
    printf("%s            esac ;;\n", bools ? ") words='true false' files= ;;\n" : "");
}

static void print_bash(void)
{
    printf("# Completion of halite and TensorFlow Lite's tools for bash, made by: halite completion bash\n"
           "_halite() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local command=${COMP_WORDS[0]##*/} words= files=yes value=\n"
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
           "    [[ $word == -* || -z $files ]] || COMPREPLY+=($(compgen -f -- \"$word\"))\n"
           "}\n"
           "complete -o filenames -F _halite halite");
    for (int i = HL_FIRST_PROGRAM; i < HL_COMMAND_COUNT; i++) printf(" %s", hl_commands[i]->name);
    printf("\n");
}

// ---- zsh ----------------------------------------------------------------------------------------

// Inside of '...[here]:...': the first line of the help.
static void print_zsh_text(const char *text)
{
    for (; *text != '\0' && *text != '\n'; text++) {
        if (*text == '\'')
            printf("'\\''");
        else if (strchr("[]:\\", *text) != NULL)
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_zsh_flag(const struct hl_flag *flag, bool tflite)
{
    printf(" \\\n                '--%s%s[", flag->name, tflite ? "=-" : "");
    print_zsh_text(flag->help);
    printf("]");
    if (flag->kind == HL_FLAG_CHOICE) {
        printf(":%s:(", flag->name);
        for (int c = 0; flag->choices[c] != NULL; c++) printf("%s%s", c > 0 ? " " : "", flag->choices[c]);
        printf(")");
    } else if (flag->kind == HL_FLAG_BOOL) {
        printf(":%s:(true false)", flag->name);
    } else if (flag->value != NULL) {
        printf(":%s:_files", flag->name);
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
        printf("        %s)\n            _arguments -s", hl_commands[i]->name);
        for (int f = 0; f < hl_commands[i]->flag_count; f++)
            print_zsh_flag(&hl_commands[i]->flags[f], hl_commands[i]->tflite);
        printf(" \\\n                '*:file:_files' ;;\n");
    }
    printf("    esac\n"
           "}\n"
           "_halite \"$@\"\n");
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
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].shell, operands[0]) != 0) continue;
        shells[i].print();
        return HL_EXIT_OK;
    }
    hl_error("completion", NULL, "there is none for '%s', only for bash and zsh", operands[0]);
    return HL_EXIT_FAILED;
}

const struct hl_command hl_command_completion = {
    .name = "completion",
    .summary = "Print completion for a shell: source <(halite completion bash).",
    .operands = "bash|zsh",
    .min_operands = 1,
    .max_operands = 1,
    .options_size = sizeof no_options,
    .defaults = &no_options,
    .run = run,
};
