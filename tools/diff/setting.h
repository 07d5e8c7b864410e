// SPDX-License-Identifier: Apache-2.0
// One side of halite diff: a way to run a model, and the tensors that come out of it. In: a model, inputs, which
// tensors to see. Out: their values. A tensor is seen by making it an output of the graph.
#ifndef HALITE_TOOLS_DIFF_SETTING_H
#define HALITE_TOOLS_DIFF_SETTING_H

#include "model_file.h"
#include "run_graph.h"
#include "text.h"

// "reference", "fast", "official", or a GPU: "opencl", "vulkan:0", "auto", with "/f32", "/f16s" or "/f16" behind it.
struct hl_diff_setting {
    const char *name; // as it was given
    enum { HL_DIFF_CPU, HL_DIFF_GPU, HL_DIFF_OFFICIAL } kind;
    int kernels;     // CPU
    char device[64]; // GPU
    int precision;
};

// False after a message.
bool hl_diff_setting_parse(struct hl_diff_setting *setting, const char *name);

enum { HL_DIFF_MAX_RANK = 8 };

// Values of one tensor.
struct hl_diff_tensor {
    TfLiteType type;
    int rank, dims[HL_DIFF_MAX_RANK]; // rank -1: not known, or larger
    int64_t count;                    // elements
    struct hl_text bytes;
};

// What a model is fed with.
struct hl_diff_inputs {
    int count;
    struct hl_diff_input {
        int rank, dims[HL_DIFF_MAX_RANK];
        struct hl_text bytes;
    } * items;
};

// From the inputs of a graph that has been filled. False after a message.
bool hl_diff_inputs_take(struct hl_diff_inputs *inputs, const struct hl_graph *graph);
void hl_diff_inputs_free(struct hl_diff_inputs *inputs);

// An output of a node that can be looked at.
struct hl_diff_output {
    int node, tensor;
};
// All of the main graph, in the order of the nodes, each tensor once; the caller frees.
struct hl_diff_output *hl_diff_list_outputs(const TfLiteModel *model, int *count);

// Resizes and fills a graph that was started, and runs it once. False after a message.
bool hl_diff_run_graph(struct hl_graph *graph, const struct hl_diff_inputs *inputs);
// Fills values[i] with output i, of graph->output_count.
void hl_diff_take_outputs(const struct hl_graph *graph, struct hl_diff_tensor *values);

// Runs a model that was opened, and fills values[i] with tensor tensors[i] of the main graph. The interpreter is gone
// afterwards. False after a message; hl_diff_values_free is right in both cases.
bool hl_diff_run_file(struct hl_model_file *file, const struct hl_model_options *options,
                      const struct hl_diff_inputs *inputs, int count, const int *tensors,
                      struct hl_diff_tensor *values);
// The same for the model that the options name. A message begins with the command's name.
bool hl_diff_run_options(const char *command, const struct hl_model_options *options,
                         const struct hl_diff_inputs *inputs, int count, const int *tensors,
                         struct hl_diff_tensor *values);
// The same in this setting.
bool hl_diff_run(const char *command, const char *model, const struct hl_diff_setting *setting,
                 const struct hl_diff_inputs *inputs, int count, const int *tensors, struct hl_diff_tensor *values);
void hl_diff_values_free(struct hl_diff_tensor *values, int count);

// The same in the official runtime, through Python (official.c).
bool hl_diff_run_official(const char *model, const struct hl_diff_inputs *inputs, int count, const int *tensors,
                          struct hl_diff_tensor *values);

#endif
