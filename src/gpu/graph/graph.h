// SPDX-License-Identifier: Apache-2.0
// The delegated part of a model as the GPU sees it: values (tensors as [b, h, w, c] floats) and nodes. Built from the
// runtime's context (graph/build.c), changed by passes (graph/passes.c), read by the plan.
#ifndef HALITE_GPU_GRAPH_GRAPH_H
#define HALITE_GPU_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/report.h"
#include "gpu/lang/kernel.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

// A tensor of rank 0 to 4 as [b, h, w, c]: [] is [1,1,1,1], [c] is [1,1,1,c], [b,c] is [b,1,1,c], [b,w,c] is [b,1,w,c].
// Above, all axes but the last three are b; only operators that say so take such tensors (gpu_operands.any_rank).
enum { GPU_MAX_RANK = 8 };
struct gpu_shape {
    int b, h, w, c;
};
static inline int gpu_slices(struct gpu_shape shape)
{
    return (shape.c + 3) / 4;
}
static inline int64_t gpu_elements(struct gpu_shape shape)
{
    return (int64_t)shape.b * shape.h * shape.w * shape.c;
}
static inline bool gpu_same_shape(struct gpu_shape a, struct gpu_shape b)
{
    return a.b == b.b && a.h == b.h && a.w == b.w && a.c == b.c;
}

// How a value's 8-bit twin on the CPU is stored; scale 0: the tensor is float.
struct gpu_quantization {
    TfLiteType type; // kTfLiteInt8 or kTfLiteUInt8
    float scale;
    int zero_point;
};

struct gpu_node;

struct gpu_value {
    int id;     // index in graph->values
    int tensor; // of the TFLite graph, -1: made here
    const char *name;
    struct gpu_shape shape;
    int rank; // of the tensor: what its axes mean
    int dims[GPU_MAX_RANK];
    TfLiteType type;          // of the tensor; kTfLiteNoType: made here
    bool is_input, is_output; // of the delegated part: the CPU gives or takes it
    bool is_checked;          // an output that no tensor takes: the host looks at it (gpu/delegate/refuse.h)
    bool exact;               // floats in every precision
    float *data;              // a constant: elements in [b, h, w, c] order, dense; owned by the graph
    struct gpu_quantization quantization;
    struct gpu_node *producer; // NULL: input or constant
    int consumers;             // how many node inputs read it
};

// What was fused behind a node: stages in order. Stage operands are floats; one stage may be a value (residual).
struct gpu_epilogue {
    int count;
    struct {
        enum gpu_epilogue_op op;
        float a, b;
    } stages[GPU_EPILOGUE_STAGES];
    struct gpu_value *residual; // of a GPU_EPI_ADD_VALUE or GPU_EPI_MUL_VALUE stage
};

enum { GPU_NODE_INPUTS = 64, GPU_NODE_OUTPUTS = 64 };

struct gpu_node {
    int index;   // of the TFLite node, -1: made here
    int builtin; // TfLiteBuiltinOperator
    const struct gpu_op *op;
    int input_count, output_count;
    struct gpu_value *inputs[GPU_NODE_INPUTS]; // NULL: absent optional input
    struct gpu_value *outputs[GPU_NODE_OUTPUTS];
    void *params; // copy of builtin_data, NULL where the op has none
    size_t params_size;
    struct gpu_epilogue epilogue;
    // A PAD merged in front of a convolution or pool: its own padding is then VALID, over an input widened by these.
    int pad_top, pad_left;
    bool dead; // removed by a pass
};

struct gpu_graph {
    struct gpu_value **values;
    int value_count, value_capacity;
    struct gpu_node **nodes; // in order of execution
    int node_count, node_capacity;
    const struct hl_reporter *reporter;
};

// graph.c. Everything returns NULL or false without memory, after a message.
struct gpu_graph *gpu_graph_create(const struct hl_reporter *reporter);
void gpu_graph_destroy(struct gpu_graph *graph); // NULL is fine
struct gpu_value *gpu_graph_add_value(struct gpu_graph *graph, const char *name, struct gpu_shape shape);
// A constant with room for its elements, zeroed.
struct gpu_value *gpu_graph_add_constant(struct gpu_graph *graph, const char *name, struct gpu_shape shape);
struct gpu_node *gpu_graph_add_node(struct gpu_graph *graph, int builtin, int position); // position -1: at the end
bool gpu_graph_set_params(struct gpu_node *node, const void *params, size_t size);
void gpu_graph_connect_input(struct gpu_node *node, struct gpu_value *value);  // counts the consumer
void gpu_graph_connect_output(struct gpu_node *node, struct gpu_value *value); // sets the producer
// Whoever read `from` reads `to`. Does not touch from's producer.
void gpu_graph_replace_value(struct gpu_graph *graph, struct gpu_value *from, struct gpu_value *to);
// Takes a node out: its inputs lose a consumer.
void gpu_graph_remove_node(struct gpu_graph *graph, struct gpu_node *node);

// [b, h, w, c] of a tensor's dims (rank 0 to GPU_MAX_RANK). False above.
bool gpu_shape_of(const TfLiteIntArray *dims, struct gpu_shape *shape);
struct gpu_shape gpu_shape_from(int rank, const int *dims);
// Which of b h w c (0..3) an axis of a tensor of this rank is, or is a part of.
int gpu_axis_of(int rank, int axis);
// The size along one of b h w c (0..3).
static inline int *gpu_along(struct gpu_shape *shape, int axis)
{
    return axis == 0 ? &shape->b : axis == 1 ? &shape->h : axis == 2 ? &shape->w : &shape->c;
}
// What every device can count: 65535 work-groups of 128 over positions, of 64 over slices and batches. Lengths are
// exact as floats, and elements, with channels rounded up to four, fit in 32 bits.
enum {
    GPU_MAX_ROWS = 65535 * 128,
    GPU_MAX_LAYERS = 65535 * 64,
    GPU_MAX_LENGTH = 1 << 24,
    GPU_MAX_ELEMENTS = INT32_MAX / 16,
};
bool gpu_extent_fits(struct gpu_shape shape);
// An element of a constant of integers (axes, sizes, paddings), clamped to int.
int gpu_constant_int(const struct gpu_value *value, int index);

#endif
