// SPDX-License-Identifier: Apache-2.0
// With these functions a node runs another subgraph of the model: IF, WHILE, STABLEHLO_CASE, STABLEHLO_COMPOSITE and
// CALL_ONCE are made of them. Arguments and results are copied between the tensors of the two subgraphs. The verifier
// has refused subgraphs that call themselves. The number of calls in one Invoke is limited
// (HaliteInterpreterOptionsSetCallLimit), so that no loop runs for ever.
#ifndef HALITE_RUNTIME_CALLS_H
#define HALITE_RUNTIME_CALLS_H

#include <stdbool.h>

#include "tensorflow/lite/c/common.h"

enum { HL_DEFAULT_CALL_LIMIT = 10000000 };

// A node calls these in prepare. The first checks that subgraph `callee` exists and takes the tensors of `list` from
// `first` on, gives its inputs the shapes of the arguments, and gives its tensors memory. The second checks that it
// returns what `results` lists, in number and type. Both report what does not fit.
TfLiteStatus hl_call_prepare(TfLiteContext *ctx, TfLiteNode *node, int callee, const TfLiteIntArray *list, int first);
TfLiteStatus hl_call_check_results(TfLiteContext *ctx, TfLiteNode *node, int callee, const TfLiteIntArray *results);
// Returns, after hl_call_prepare, whether the shapes of all results are known before the subgraph runs.
bool hl_call_is_static(const TfLiteContext *ctx, int callee);
int hl_call_result_count(const TfLiteContext *ctx, int callee);
const TfLiteTensor *hl_call_result(const TfLiteContext *ctx, int callee, int index);

// A node calls this in invoke. It prepares again where shapes have changed, copies the arguments and runs the subgraph.
TfLiteStatus hl_call(TfLiteContext *ctx, TfLiteNode *node, int callee, const TfLiteIntArray *list, int first);
// Gives one of the node's outputs a value, and its shape where that differs.
TfLiteStatus hl_call_take(TfLiteContext *ctx, TfLiteNode *node, TfLiteTensor *output, const TfLiteTensor *value);

// Runs a subgraph without inputs and outputs, unless it has run before. Its tensors' memory is given back.
TfLiteStatus hl_call_once(TfLiteContext *ctx, TfLiteNode *node, int callee);
// Whether a subgraph exists, and takes and gives nothing.
bool hl_call_is_procedure(const TfLiteContext *ctx, int callee);

// For operators that take a subgraph as a description of what to do with two numbers: its operators, as the model has
// them.
// -1 where there is no such subgraph or node.
int hl_callee_node_count(const TfLiteContext *ctx, int callee);
int hl_callee_code(const TfLiteContext *ctx, int callee, int node); // TfLiteBuiltinOperator

#endif
