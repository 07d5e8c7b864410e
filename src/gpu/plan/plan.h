// SPDX-License-Identifier: Apache-2.0
// The plan: dispatches in order, with the values they read and write, and the constants they need. Ops fill it
// (gpu_plan_…), memory.c gives values places, record.c makes programs and a command list of it. Running it again costs
// one list_run.
#ifndef HALITE_GPU_PLAN_PLAN_H
#define HALITE_GPU_PLAN_PLAN_H

#include "gpu/backend/backend.h"
#include "gpu/graph/graph.h"

// Constants in the device's storage type: vectors of four.
struct gpu_weights {
    size_t vectors;
    float *data;   // 4 * vectors, host; freed once uploaded
    bool exact;    // floats in every precision
    size_t offset; // in the weights buffer, bytes
};

// Operand of a dispatch, in the order of the kernel's args.
struct gpu_operand {
    const struct gpu_value *value;     // GPU_IN, GPU_OUT, or a graph input or output for GPU_RAW_…
    const struct gpu_weights *weights; // GPU_WEIGHTS; a value in their place is read as its vectors lie
};

struct gpu_plan_step {
    const struct gpu_kernel *kernel;
    struct gpu_operand operands[GPU_MAX_BUFFERS];
    int operand_count;
    int32_t params[GPU_MAX_PARAMS][4];
    int constants[GPU_KERNEL_CONSTANTS + GPU_EPILOGUE_STAGES];
    int group[3], groups[3];
    const struct gpu_node *node; // that it is a part of, NULL: copies between dense floats and values
    int level;                   // order.c: steps of one level need nothing of each other
    char label[48];
};

// What an op says of one dispatch; the rest is worked out.
struct gpu_dispatch_desc {
    const struct gpu_kernel *kernel;
    struct gpu_operand operands[GPU_KERNEL_ARGS]; // in the order of the kernel's args, the residual not among them
    int32_t params[GPU_KERNEL_PARAMS][4];
    struct gpu_setting {
        const char *name;
        int value;
    } constants[GPU_KERNEL_CONSTANTS];   // those that differ from the kernel's own values
    int group[3];                        // 0: the kernel's own
    int grid[3];                         // work-items per axis: rounded up to whole groups
    const struct gpu_epilogue *epilogue; // NULL: none
    // A shape to be seen in place of an operand's own (reshape-like views), per operand; b == 0: its own.
    struct gpu_shape views[GPU_KERNEL_ARGS];
};

// In half precision, what is no larger is kept in floats all the same: values and constants of so many elements,
// channels rounded up to fours. By calculation a megabyte takes an H200 less than a microsecond and a phone's GPU 20,
// about as long as either needs to begin a dispatch; measured was the H200 alone. (docs/accuracy.md has what it is good
// for.)
enum { GPU_FLOAT_ELEMENTS = 1 << 18 };

struct gpu_plan {
    struct gpu_graph *graph;
    const struct gpu_caps *caps;
    enum gpu_precision precision;
    int float_elements; // GPU_FLOAT_ELEMENTS, or 0: small memory matters more
    struct gpu_plan_step *steps;
    int step_count, step_capacity;
    struct gpu_weights **weights;
    int weight_count, weight_capacity;
    const struct gpu_node *node; // being planned: labels and messages
    const struct hl_reporter *reporter;

    // memory.c: bytes of each value in the arena, by value id
    struct gpu_allocation {
        bool used;
        size_t offset, bytes;
        int first, last; // levels
    } * allocations;
    size_t arena_bytes, arena_unshared;
};

// ---- for ops
bool gpu_plan_dispatch(struct gpu_plan *plan, const struct gpu_dispatch_desc *desc);
// Room for constants, zeroed; the op writes weights->data. Owned by the plan.
struct gpu_weights *gpu_plan_weights(struct gpu_plan *plan, size_t vectors);
// A value between two dispatches of one op.
struct gpu_value *gpu_plan_scratch(struct gpu_plan *plan, struct gpu_shape shape);
// One work-item per slice element of `over`: grid (w, h, slices * b), which position() in the text undoes.
void gpu_grid_over(struct gpu_dispatch_desc *desc, struct gpu_shape over);
// For grids of `rows` along y, of `width` work-items each: how many rows a group of 64 takes, or more of them where the
// device would not have that many groups. Every device takes GPU_MAX_ROWS.
int gpu_rows_per_group(const struct gpu_caps *caps, int width, int64_t rows);
// "CONV_2D (node 3): text" to the reporter; always false.
bool gpu_plan_fail(struct gpu_plan *plan, const char *format, ...) HL_PRINTF(2, 3);
static inline int32_t gpu_float_bits(float value)
{
    union {
        float f;
        int32_t i;
    } both = {value};
    return both.i;
}

// ---- for the delegate
// Plans every node. NULL after a message.
struct gpu_plan *gpu_plan_create(struct gpu_graph *graph, const struct gpu_caps *caps, enum gpu_precision precision,
                                 int float_elements);
void gpu_plan_destroy(struct gpu_plan *plan);
// Steps by levels. False after a message.
bool gpu_plan_order(struct gpu_plan *plan);
// Offsets of all values in one arena by life and size. False after a message.
bool gpu_plan_memory(struct gpu_plan *plan);
static inline size_t gpu_value_vectors(const struct gpu_value *value)
{
    struct gpu_shape s = value->shape;
    return (size_t)s.b * (size_t)s.h * (size_t)s.w * (size_t)gpu_slices(s);
}
// Bytes of one of the vectors of four that a value or constants are: 16, or 8 where they are halves.
size_t gpu_plan_vector_bytes(const struct gpu_plan *plan, size_t vectors, bool exact);
static inline size_t gpu_value_vector_bytes(const struct gpu_plan *plan, const struct gpu_value *value)
{
    return gpu_plan_vector_bytes(plan, gpu_value_vectors(value), value->exact);
}
static inline size_t gpu_weights_vector_bytes(const struct gpu_plan *plan, const struct gpu_weights *weights)
{
    return gpu_plan_vector_bytes(plan, weights->vectors, weights->exact);
}
// Whether a value is an input or output that lies on the device as the caller has it: then it has no place in the arena
// but its raw buffer, and no step copies it.
bool gpu_plan_is_dense(const struct gpu_plan *plan, const struct gpu_value *value);

// A plan on a device: programs, buffers, list.
struct gpu_runner;
struct gpu_runner *gpu_runner_create(struct gpu_plan *plan, const struct gpu_backend *backend,
                                     struct gpu_device *device);
void gpu_runner_destroy(struct gpu_runner *runner);
// What the CPU gives or takes of an input or output, dense [b, h, w, c]: 8-bit integers where the tensor has them,
// which the device turns into floats and back, else float32. Values of one place are few and need no copy as floats.
static inline bool gpu_caller_has_bytes(const struct gpu_value *value)
{
    bool places = value->shape.w > 1 || value->shape.h > 1;
    return places && (value->type == kTfLiteInt8 || value->type == kTfLiteUInt8) && value->quantization.scale > 0;
}
static inline size_t gpu_caller_bytes(const struct gpu_value *value)
{
    return (size_t)gpu_elements(value->shape) * (gpu_caller_has_bytes(value) ? 1 : sizeof(float));
}
// inputs and outputs: host memory, gpu_caller_bytes each, in the order of the graph's input and output values.
// nanoseconds: room for the time of each step of the plan, on the device's clock and one after the other; NULL: no
// clock.
bool gpu_runner_run(struct gpu_runner *runner, const void *const *inputs, void *const *outputs, uint64_t *nanoseconds);

#endif
