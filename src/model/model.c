// SPDX-License-Identifier: Apache-2.0
// Questions about a model that its structs alone answer. load.c makes models and ends them.
#include "model/model.h"

const char *hl_model_code_name(const struct hl_model_code *code)
{
    const char *name = code->custom_name ? code->custom_name : hl_builtin_name(code->builtin);
    return name ? name : "UNKNOWN";
}
