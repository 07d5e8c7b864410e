// SPDX-License-Identifier: Apache-2.0
// What an operator was told: stride, padding, axes and the like. In: a node of a verified model. Out: its options by
// the schema's names, as JSON, and in short for people. halite inspect and the page of halite report show these.
#ifndef HALITE_TOOLS_NODE_OPTIONS_H
#define HALITE_TOOLS_NODE_OPTIONS_H

#include <cjson/cJSON.h>

#include "model/model.h"
#include "text.h"

// Returns an object with a member for each option that the schema gives the operator, in the schema's order; the caller
// deletes it. It is empty for operators that take none and for custom operators.
cJSON *hl_node_options_json(const TfLiteModel *model, const struct hl_model_subgraph *subgraph,
                            const struct hl_model_node *node);

// Adds "padding same, stride 2x2, relu6" to text: the options that say something, then small constant inputs
// ("input 1 = [1, 2]"), where many operators have their axes, shapes and paddings. Pairs are height x width.
void hl_node_options_text(struct hl_text *text, const cJSON *options, const struct hl_model_subgraph *subgraph,
                          const struct hl_model_node *node);

#endif
