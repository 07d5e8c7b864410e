// SPDX-License-Identifier: Apache-2.0
// How much work a node is, from the shapes of its graph alone: those of the file, or others that a caller puts in their
// place. In: a verified model. Out: multiply-adds, parameters and bytes of each node and of the whole model.
#ifndef HALITE_TOOLS_NODE_WORK_H
#define HALITE_TOOLS_NODE_WORK_H

#include <cjson/cJSON.h>

#include "model/model.h"
#include "text.h"

// Doubles, since a file may claim any shape. A dimension that may change counts as what the file has for it, mostly 1.
struct hl_node_work {
    double multiply_adds; // of convolutions, matrix products and recurrent cells; 0 for all other operators
    double parameters;    // elements of the constants that it reads and that are no axes, shapes or the like
    double bytes; // of what it reads and writes, constants too, each tensor once; 0 where all inputs are constants
};

struct hl_node_work hl_node_work(const TfLiteModel *model, const struct hl_model_subgraph *subgraph,
                                 const struct hl_model_node *node);

// All subgraphs, each counted once, however often a loop runs it; a constant of several nodes counts once.
struct hl_node_work hl_model_work(const TfLiteModel *model);

// Arithmetic intensity: operations (a multiply-add is two) for each byte; 0 where nothing multiplies.
double hl_node_work_intensity(const struct hl_node_work *work);

// Adds the members multiply_adds, parameters, bytes_moved and operations_per_byte to an object.
void hl_node_work_add_json(cJSON *json, const struct hl_node_work *work);

// "0", "950", "1.25 k", "569 M", "11.5 G".
void hl_format_count(char *text, size_t size, double count);

#endif
