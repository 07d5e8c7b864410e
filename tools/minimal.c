// SPDX-License-Identifier: Apache-2.0
// minimal: the smallest use of a model. In: a model. Out: the interpreter's state before and after one run.
#include <stdio.h>

#include "commands.h"
#include "message.h"
#include "model_file.h"
#include "state.h"

// The original tells the place in its source at which it gave up.
static bool failed(int line)
{
    fprintf(stderr, "Error at tools/minimal.c:%d\n", line);
    return false;
}

static void print_state(const struct hl_model_file *file, const char *title)
{
    struct hl_text text = {0};
    hl_state_print(file, (struct hl_state_widths)HL_STATE_WIDTHS, &text);
    printf("%s\n%s", title, text.data);
    hl_text_free(&text);
}

static bool show(struct hl_model_file *file, const char *path)
{
    const struct hl_model_options options = HL_MODEL_DEFAULTS;
    if (!hl_model_file_open(file, HL_TFLITE, path)) return failed(__LINE__);
    if (!hl_model_file_start(file, &options)) return failed(__LINE__);
    if (!hl_model_file_allocate(file)) return failed(__LINE__);
    print_state(file, "=== Pre-invoke Interpreter State ===");
    if (TfLiteInterpreterInvoke(file->interpreter) != kTfLiteOk) {
        hl_model_file_failed(file, "the run failed");
        return failed(__LINE__);
    }
    print_state(file, "\n\n=== Post-invoke Interpreter State ===");
    return true;
}

static int run(const void *options, int operand_count, char **operands)
{
    (void)options;
    if (operand_count != 1) {
        fprintf(stderr, "minimal <tflite model>\n");
        return HL_EXIT_FAILED;
    }
    struct hl_model_file file;
    bool ok = show(&file, operands[0]);
    hl_model_file_close(&file);
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

const struct hl_command hl_command_minimal = {
    .name = "minimal",
    .summary = "Run a model once and show its interpreter's state before and after.",
    .operands = "<tflite model>",
    .max_operands = -1,
    .defaults = "",
    .run = run,
};
