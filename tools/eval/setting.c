// SPDX-License-Identifier: Apache-2.0
// See setting.h.
#include "eval/setting.h"

#include <string.h>

#include "message.h"

// --delegate=gpu is another way to say --use_gpu=true, and so on. False where there is no delegate of that name.
static bool apply_delegate(const char *name, struct hl_delegate_flags *flags)
{
    const struct {
        const char *name;
        bool *flag;
    } known[] = {
        {"gpu", &flags->use_gpu},         {"xnnpack", &flags->use_xnnpack}, {"nnapi", &flags->use_nnapi},
        {"hexagon", &flags->use_hexagon}, {"coreml", &flags->use_coreml},
    };
    if (*name == '\0') return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, name) != 0) continue;
        *known[i].flag = true;
        return true;
    }
    hl_error(HL_TFLITE, NULL, "Unsupported TFLite delegate: %s", name);
    return false;
}

static bool open_model(struct hl_eval_model *model, const char *path, int threads)
{
    if (*path == '\0') {
        hl_error(HL_TFLITE, NULL, "--model_file is missing: write --model_file=FILE, a .tflite file");
        return false;
    }
    struct hl_model_options options = {.threads = threads, .delegates = &model->delegates};
    return hl_model_file_open(&model->file, HL_TFLITE, path) && hl_model_file_start(&model->file, &options) &&
           hl_model_file_allocate(&model->file);
}

bool hl_eval_model_open(struct hl_eval_model *model, const struct hl_eval_setting *setting,
                        const struct hl_command *command)
{
    *model = (struct hl_eval_model){0};
    struct hl_delegate_flags flags = setting->flags;
    if (!apply_delegate(setting->delegate, &flags)) return false;
    if (!hl_delegates_create(&flags, command, setting->positions, &model->delegates)) return false;
    return open_model(model, setting->model_file,
                      flags.num_threads > 0 ? flags.num_threads : setting->num_interpreter_threads);
}

bool hl_eval_model_open_reference(struct hl_eval_model *model, const struct hl_eval_setting *setting)
{
    *model = (struct hl_eval_model){0};
    return open_model(model, setting->model_file, 1);
}

void hl_eval_model_close(struct hl_eval_model *model)
{
    hl_model_file_close(&model->file);
    hl_delegates_free(&model->delegates);
}
