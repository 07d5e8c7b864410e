// SPDX-License-Identifier: Apache-2.0
// Which operators this build has kernels for, from the one table of all operators (src/abi/operators.def).
#ifndef HALITE_TOOLS_OPSET_H
#define HALITE_TOOLS_OPSET_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "model/model.h"

static inline bool hl_opset_has(const struct hl_model_code *code)
{
    static const struct {
        int builtin; // -1: a custom operator, of this name
        const char *custom_name;
    } built[] = {
#define OP(name, builtin, first, last, options, symbol, file) {builtin, NULL},
#define GAP(name, builtin, first, last, options)
#define CUSTOM(name, symbol, file) {-1, name},
#include "abi/operators.def"
#undef OP
#undef GAP
#undef CUSTOM
        {-1, ""},
    };
    for (size_t i = 0; i < sizeof built / sizeof built[0]; i++) {
        if (code->custom_name != NULL) {
            if (built[i].builtin < 0 && strcmp(built[i].custom_name, code->custom_name) == 0) return true;
        } else if (built[i].builtin == code->builtin) {
            return true;
        }
    }
    return false;
}

// The first operator of the model that has no kernel here, NULL where all have one. Codes that no node uses do not
// count.
static inline const struct hl_model_code *hl_opset_missing(const TfLiteModel *model)
{
    for (int s = 0; s < model->subgraph_count; s++) {
        const struct hl_model_subgraph *subgraph = &model->subgraphs[s];
        for (int n = 0; n < subgraph->node_count; n++) {
            const struct hl_model_code *code = &model->codes[subgraph->nodes[n].code];
            if (!hl_opset_has(code)) return code;
        }
    }
    return NULL;
}

#endif
