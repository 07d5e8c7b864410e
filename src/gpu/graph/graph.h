// SPDX-License-Identifier: Apache-2.0
// The delegated part of a model as the GPU sees it: nodes, and values, which are tensors as floats of shape [b, h, w,
// c]. graph/build.c builds it from the runtime's context, the passes (graph/passes.c) change it, and the plan reads it.
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
// In a tensor of higher rank all axes but the last three become b. Only operators with gpu_operands.any_rank take
// those.
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
// The index of an element in slices of four channels.
static inline size_t gpu_slice_index(struct gpu_shape shape, int b, int y, int x, int c)
{
    size_t slice = (size_t)b * (size_t)gpu_slices(shape) + (size_t)(c / 4);
    return 4 * ((slice * (size_t)shape.h + (size_t)y) * (size_t)shape.w + (size_t)x) + (size_t)(c % 4);
}
static inline bool gpu_same_shape(struct gpu_shape a, struct gpu_shape b)
{
    return a.b == b.b && a.h == b.h && a.w == b.w && a.c == b.c;
}

// How the tensor of a value is quantized on the CPU. A scale of 0 says that the tensor is float.
struct gpu_quantization {
    TfLiteType type; // kTfLiteInt8 or kTfLiteUInt8
    float scale;
    int zero_point;
};
// The zero point of the value's codes: 128 less than that of a uint8 tensor.
static inline int gpu_code_zero(const struct gpu_quantization *q)
{
    return q->type == kTfLiteUInt8 ? q->zero_point - 128 : q->zero_point;
}

// How the elements of an input or output are stored outside of the delegated part: by the runtime, or in a buffer of
// the application. Dense: [b, h, w, c]. Vectors: as the values of the plan, in slices of four channels (lang/kernel.h).
enum gpu_format {
    GPU_FORMAT_DEFAULT, // as gpu_caller_format says
    GPU_FORMAT_FLOATS,
    GPU_FORMAT_BYTES, // the 8-bit integers of a quantized tensor
    GPU_FORMAT_HALVES,
    GPU_FORMAT_VECTORS,
    GPU_FORMAT_HALF_VECTORS,
    // Pictures (struct gpu_image), whose pixels have four bytes, halves or floats.
    GPU_FORMAT_PIXELS,
    GPU_FORMAT_HALF_PIXELS,
    GPU_FORMAT_FLOAT_PIXELS,
};
static inline bool gpu_is_picture(enum gpu_format format)
{
    return format >= GPU_FORMAT_PIXELS;
}

// How the pixels of an input lie and become its values, or those of an output are made of its values: HaliteGpuImage
// with its defaults filled in, in pixels.
struct gpu_image {
    int height, row;    // of the picture; row: from one to the next
    int x, y;           // of the part that is used
    int part_w, part_h; // its size
    int order[4];       // the byte of each channel, or its half or float
    float mean[4], scale[4];
};

struct gpu_node;

struct gpu_value {
    int id;     // index in graph->values
    int tensor; // index in the TFLite graph; -1 if a pass or an operator made the value
    const char *name;
    struct gpu_shape shape;
    int rank;                 // the tensor's rank, which says what its axes are
    int dims[GPU_MAX_RANK];   // the tensor's dimensions
    TfLiteType type;          // the tensor's type; kTfLiteNoType if there is no tensor
    bool is_input, is_output; // of the delegated part: the CPU writes or reads it
    bool is_kept;             // a constant that the CPU reads as well: no pass changes it
    bool is_checked;          // an output without a tensor, whose elements the host checks (gpu/delegate/refuse.h)
    enum gpu_format format;   // of an input or output; set only where the application has bound a buffer
    struct gpu_image image;   // if the format is that of a picture
    bool exact;               // is stored as floats in every precision
    // The value whose memory this one's is a part of, from so many vectors on: who writes this one writes that part of
    // it. NULL: it has its own. The plan sets it.
    struct gpu_value *inside;
    size_t inside_at;
    bool has_parts; // is `inside` of some value
    // The value that this one is, in another shape: no step writes this one. NULL: it has its own. The plan sets it.
    struct gpu_value *seen;
    // Its elements are the whole numbers that quantization.scale multiplies, not the products (quantize.h).
    bool whole;
    bool codes; // an 8-bit tensor whose integers are computed with (lang/kernel.h, GPU_CODES_IN)
    // Elements of a constant, dense in [b, h, w, c] order; owned by the graph. A constant with `codes`, and the bias of
    // an operator that computes with integers, has integers: 8 bits as signed ones.
    union {
        float *data;
        int32_t *integers;
    };
    struct gpu_quantization quantization;
    const TfLiteFloatArray *scales; // of a constant of 8 bits, lent by the runtime until the plan is made; else NULL
    struct gpu_node *producer;      // NULL for inputs and constants
    int consumers;                  // how many inputs of nodes read it
};

// The caller's side of an input or output is dense [b, h, w, c], either 8-bit integers, which the device converts from
// and to floats, or float32. Values with a single position are converted on the CPU, because they are small and may
// then need no copy on the device.
static inline enum gpu_format gpu_caller_format(const struct gpu_value *value)
{
    if (value->format != GPU_FORMAT_DEFAULT) return value->format;
    bool several = value->shape.w > 1 || value->shape.h > 1 || value->codes;
    bool stored = (value->type == kTfLiteInt8 || value->type == kTfLiteUInt8) && value->quantization.scale > 0;
    return several && stored ? GPU_FORMAT_BYTES : GPU_FORMAT_FLOATS;
}

// The stages that were fused into a node, in order. The operands of a stage are two floats; one stage may read a value,
// the residual, and any may read a number for each channel instead.
struct gpu_epilogue {
    int count;
    struct {
        enum gpu_epilogue_op op;
        float a, b;
        const struct gpu_value *channels; // a constant of one number for each channel of the output; NULL: none
    } stages[GPU_EPILOGUE_STAGES];
    struct gpu_value *residual; // read by a stage that takes one and has no channels
    // The residual's slices, where it has fewer channels than the output and zeros stand for the others; 0: it has all.
    int residual_slices;
};
static inline bool gpu_reads_channels(const struct gpu_epilogue *epilogue)
{
    for (int s = 0; s < epilogue->count; s++)
        if (epilogue->stages[s].channels) return true;
    return false;
}
// Whether a stage reads a residual of fewer channels.
static inline bool gpu_stage_reads_fewer(const struct gpu_epilogue *epilogue, int s)
{
    return epilogue->residual_slices > 0 && !epilogue->stages[s].channels &&
           gpu_stage_takes_value(epilogue->stages[s].op);
}
// Returns the value of the constant EPI_<s> (lang/kernel.h). With a residual, r_ is that.
static inline int gpu_stage_constant(const struct gpu_epilogue *epilogue, int s)
{
    enum gpu_stage_source source = epilogue->residual ? GPU_STAGE_OF_WEIGHTS : GPU_STAGE_OF_CHANNELS;
    if (!epilogue->stages[s].channels)
        source = gpu_stage_reads_fewer(epilogue, s) ? GPU_STAGE_OF_FEWER : GPU_STAGE_OF_VALUE;
    return (int)epilogue->stages[s].op + (int)source;
}

enum { GPU_NODE_INPUTS = 64, GPU_NODE_OUTPUTS = 64 };

struct gpu_node {
    int index;   // index of the TFLite node; -1 if a pass made this node
    int builtin; // TfLiteBuiltinOperator
    const struct gpu_op *op;
    int input_count, output_count;
    struct gpu_value *inputs[GPU_NODE_INPUTS]; // NULL for an optional input that is absent
    struct gpu_value *outputs[GPU_NODE_OUTPUTS];
    void *params; // a copy of builtin_data; NULL if the operator has no options
    size_t params_size;
    struct gpu_epilogue epilogue;
    // A PAD that was merged into this convolution or pool: its padding is then VALID, over an input that is widened by
    // these on top and on the left, with zeros.
    int pad_top, pad_left;
    bool pad_mirrors; // a MIRROR_PAD: the input is reflected at its borders instead
    bool dead;        // a pass has removed it
};

struct gpu_graph {
    struct gpu_value **values;
    int value_count, value_capacity;
    struct gpu_node **nodes; // in order of execution
    int node_count, node_capacity;
    const struct hl_reporter *reporter;
};

// graph.c. Without memory these functions report it and return NULL or false.
struct gpu_graph *gpu_graph_create(const struct hl_reporter *reporter);
void gpu_graph_destroy(struct gpu_graph *graph); // accepts NULL
struct gpu_value *gpu_graph_add_value(struct gpu_graph *graph, const char *name, struct gpu_shape shape);
// Adds a constant whose elements are zeros.
struct gpu_value *gpu_graph_add_constant(struct gpu_graph *graph, const char *name, struct gpu_shape shape);
struct gpu_node *gpu_graph_add_node(struct gpu_graph *graph, int builtin, int position); // position -1: at the end
bool gpu_graph_set_params(struct gpu_node *node, const void *params, size_t size);
void gpu_graph_connect_input(struct gpu_node *node, struct gpu_value *value);  // counts the consumer
void gpu_graph_connect_output(struct gpu_node *node, struct gpu_value *value); // sets the producer
// Makes the readers of `from` read `to`. The producer of `from` stays.
void gpu_graph_replace_value(struct gpu_graph *graph, struct gpu_value *from, struct gpu_value *to);
// Removes a node. Its inputs lose a consumer.
void gpu_graph_remove_node(struct gpu_graph *graph, struct gpu_node *node);

// Whether a value is read by one node and by nobody outside: a pass may remove it.
bool gpu_is_private(const struct gpu_value *value);
// The node that alone reads a value, as its first input. NULL: there is none, or the CPU reads it as well.
const struct gpu_node *gpu_graph_only_reader(const struct gpu_graph *graph, const struct gpu_value *value);

// The batch of the first input; 1 without inputs.
int gpu_graph_batch(const struct gpu_graph *graph);
// A hash of the operators and of the shapes of inputs and constants: the same for every batch of a model.
uint64_t gpu_graph_hash(const struct gpu_graph *graph);

// Finds [b, h, w, c] for a tensor's dims. Returns false above rank GPU_MAX_RANK.
bool gpu_shape_of(const TfLiteIntArray *dims, struct gpu_shape *shape);
struct gpu_shape gpu_shape_from(int rank, const int *dims);
// Returns which of b, h, w, c (0 to 3) an axis of a tensor of this rank is, or is a part of.
int gpu_axis_of(int rank, int axis);
// Returns the size along one of b, h, w, c (0 to 3).
static inline int *gpu_along(struct gpu_shape *shape, int axis)
{
    return axis == 0 ? &shape->b : axis == 1 ? &shape->h : axis == 2 ? &shape->w : &shape->c;
}
// Limits that every device can count to: 65535 work-groups of 128 positions, and of 64 slices and batches. Lengths are
// exact as floats. Elements, with channels rounded up to a multiple of four, fit in 32 bits.
enum {
    GPU_MAX_ROWS = 65535 * 128,
    GPU_MAX_LAYERS = 65535 * 64,
    GPU_MAX_LENGTH = 1 << 24,
    GPU_MAX_ELEMENTS = INT32_MAX / 16,
};
bool gpu_extent_fits(struct gpu_shape shape);
// Returns an element of a constant of integers (axes, sizes, paddings), clamped to int.
int gpu_constant_int(const struct gpu_value *value, int index);

#endif
