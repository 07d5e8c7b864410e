// SPDX-License-Identifier: Apache-2.0
// What the evaluation tools have in common: the flags for a model and how to run it, and that model, ready to run.
#ifndef HALITE_TOOLS_EVAL_SETTING_H
#define HALITE_TOOLS_EVAL_SETTING_H

#include "delegates.h"
#include "model_file.h"

struct hl_eval_setting {
    const char *model_file, *output_file_path, *delegate;
    int num_interpreter_threads;
    struct hl_delegate_flags flags;
    const int *positions; // of the command's flags
};

// clang-format off
#define HL_EVAL_DEFAULTS                                                                  \
    {                                                                                     \
        .model_file = "", .output_file_path = "", .delegate = "",                         \
        .num_interpreter_threads = 1, .flags = HL_DELEGATE_DEFAULTS                       \
    }
// The rows of a command's table, for its options `struct type` with a member `member` of the type above.
#define HL_EVAL_FLAGS(type, member)                                                        \
    HL_TFLITE_ROW(STRING, offsetof(struct type, member.model_file), model_file,            \
                  "the model, a .tflite file"),                                            \
    HL_TFLITE_ROW(STRING, offsetof(struct type, member.output_file_path), output_file_path, \
                  "file for the results: JSON where it ends in .json, else the message EvaluationStageMetrics"), \
    HL_TFLITE_ROW(INT, offsetof(struct type, member.num_interpreter_threads), num_interpreter_threads, \
                  "threads on the CPU"),                                                   \
    HL_TFLITE_ROW(STRING, offsetof(struct type, member.delegate), delegate,                \
                  "gpu, xnnpack, nnapi, hexagon or coreml; as --use_gpu=true and so on"),  \
    HL_DELEGATE_FLAGS(type, member.flags)
// clang-format on

// The model in this setting. All zeros is closed; it must stay where it is.
struct hl_eval_model {
    struct hl_delegates delegates;
    struct hl_model_file file;
};

// Delegates, model, interpreter, memory. False after a message; hl_eval_model_close is right in both cases.
bool hl_eval_model_open(struct hl_eval_model *model, const struct hl_eval_setting *setting,
                        const struct hl_command *command);
// The same model on one thread of the CPU.
bool hl_eval_model_open_reference(struct hl_eval_model *model, const struct hl_eval_setting *setting);
void hl_eval_model_close(struct hl_eval_model *model);

#endif
