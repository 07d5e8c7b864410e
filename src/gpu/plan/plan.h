// SPDX-License-Identifier: Apache-2.0
// The plan: dispatches in order, the values that they read and write, and the constants that they need. Operators add
// dispatches to it (plan.c), create.c completes it, order.c sorts the steps, memory.c allocates the values, and
// record.c makes programs and a command list of it. Each run then costs one list_run.
#ifndef HALITE_GPU_PLAN_PLAN_H
#define HALITE_GPU_PLAN_PLAN_H

#include "gpu/backend/backend.h"
#include "gpu/graph/graph.h"
#include "gpu/plan/programs.h"
#include "gpu/plan/tuning.h"

// Constants in the storage type of the device, as vectors of four.
struct gpu_weights {
    size_t vectors;
    union { // 4 * vectors on the host; freed after the upload
        float *data;
        int32_t *integers; // of gpu_plan_integers
    };
    bool exact;    // stored as floats in every precision
    size_t offset; // bytes from the start of the weights buffer
};

// An operand of a dispatch. Operands are in the order of the kernel's arguments.
struct gpu_operand {
    const struct gpu_value *value; // for GPU_IN and GPU_OUT; for raw arguments an input or output of the graph
    const struct gpu_weights
        *weights; // for GPU_WEIGHTS; a value here instead is read as the vectors that it consists of
    bool outside; // for GPU_IN and GPU_OUT: the value as it is stored outside, like that of a raw argument
};

struct gpu_plan_step {
    const struct gpu_kernel *kernel;
    struct gpu_operand operands[GPU_MAX_BUFFERS];
    int operand_count;
    int32_t params[GPU_MAX_PARAMS][4];
    int constants[GPU_KERNEL_CONSTANTS + GPU_EPILOGUE_STAGES];
    int group[3], groups[3];
    const struct gpu_node *node; // the node that it belongs to; NULL for copies between dense memory and values
    int level;                   // from order.c: steps of the same level are independent
    int tuned;                   // the row that its time belongs to (gpu_tuning_note); 0: none
    bool part;                   // see gpu_dispatch_desc
    char label[48];
};

// What an operator states about one dispatch. gpu_plan_dispatch computes the rest.
struct gpu_dispatch_desc {
    const struct gpu_kernel *kernel;
    struct gpu_operand operands[GPU_KERNEL_ARGS]; // in the order of the kernel's arguments, without the residual
    int32_t params[GPU_KERNEL_PARAMS][4];
    struct gpu_setting {
        const char *name;
        int value;
    } constants[GPU_KERNEL_CONSTANTS];   // those that differ from the kernel's defaults
    int group[3];                        // 0: the kernel's default
    int grid[3];                         // work-items per axis; rounded up to whole groups
    const struct gpu_epilogue *epilogue; // NULL: none
    // For each operand, the shape that the kernel sees instead of the value's own (as RESHAPE does); b == 0: its own.
    struct gpu_shape views[GPU_KERNEL_ARGS];
    int tuned; // as in the step
    // It writes elements of its output that no other such dispatch of the node writes: their order does not matter.
    bool part;
};

// In half precision, values and constants of at most this many elements (channels rounded up to a multiple of four) are
// stored as floats nevertheless; docs/accuracy.md shows what this gains. The limit is a megabyte, which an H200
// transfers in less than a microsecond and a phone's GPU in about 20, no longer than either needs to start a dispatch.
// Only the H200 was measured; the number for phones is calculated.
enum { GPU_FLOAT_ELEMENTS = 1 << 18 };

enum { GPU_ALIGNMENT = 256 }; // of values, in bytes: no API demands more of offsets

// A copy of an input, as the caller has it, to a value of the same shape, with the stages of an operator. It is planned
// when all nodes are, unless the only reader of y applies the stages to x itself.
struct gpu_dense_copy {
    const struct gpu_value *x, *y;
    struct gpu_epilogue epilogue;
    const struct gpu_node *node; // the operator
    bool taken;                  // by that reader
};

struct gpu_plan {
    struct gpu_graph *graph;
    const struct gpu_caps *caps;
    struct gpu_tuning *tuning; // what was measured on the device; NULL: nothing
    enum gpu_precision precision;
    int float_elements; // GPU_FLOAT_ELEMENTS, or 0 if the user prefers small memory
    // The batch of the graph's first input, and that of the first plan that was made for the same graph. Kernels and
    // work-groups are chosen as though the batch were still the first, so that a resized batch needs no new programs.
    int batch, first_batch;
    // An output needs no to_dense, but may need it in another batch: its program is made all the same.
    bool wants_to_dense;
    struct gpu_plan_step *steps;
    int step_count, step_capacity;
    struct gpu_weights **weights;
    int weight_count, weight_capacity;
    struct gpu_dense_copy *copies;
    int copy_count, copy_capacity;
    const struct gpu_node *node; // the node that is being planned, for labels and messages
    // The last answer of gpu_separable_reader, which is asked twice for a node. asked: NULL before the first.
    struct {
        const struct gpu_node *asked, *reader;
    } separable;
    const struct hl_reporter *reporter;

    // From memory.c: the position of each value in the arena, by value id.
    struct gpu_allocation {
        bool used;
        size_t offset, bytes;
        int first, last; // levels between which the value lives
    } * allocations;
    size_t arena_bytes, arena_unshared;
};

// ---- for operators
// `count` is of so many images; returns how many there would be in the first batch, for the choice of kernels. Images
// that the batch does not divide have nothing to do with it.
static inline int64_t gpu_in_first_batch(const struct gpu_plan *plan, int64_t count, int images)
{
    return images % plan->batch == 0 ? count / plan->batch * plan->first_batch : count;
}
bool gpu_plan_dispatch(struct gpu_plan *plan, const struct gpu_dispatch_desc *desc);
// Room for constants, zeroed. The operator writes weights->data; the plan owns it. NULL after a message.
struct gpu_weights *gpu_plan_weights(struct gpu_plan *plan, size_t vectors);
// The same for constant integers (GPU_INTS), which are written to weights->integers.
struct gpu_weights *gpu_plan_integers(struct gpu_plan *plan, size_t vectors);
// A value that passes between two dispatches of one operator.
struct gpu_value *gpu_plan_scratch(struct gpu_plan *plan, struct gpu_shape shape);
// The same of codes, quantized like another value, if that has codes.
struct gpu_value *gpu_plan_scratch_like(struct gpu_plan *plan, const struct gpu_value *other, struct gpu_shape shape);
// Puts a value that a node writes into the memory of `whole`, from so many vectors on, if it can be there: a step that
// copies it is not needed then. False if not, without a message.
bool gpu_plan_put_inside(struct gpu_plan *plan, const struct gpu_value *part, const struct gpu_value *whole,
                         size_t vectors);
// Lets a value of the same channels and positions, in the same order, be another one: steps that read it read that one
// in its shape. False if it must have memory of its own, without a message.
bool gpu_plan_see(struct gpu_plan *plan, const struct gpu_value *value, const struct gpu_value *other);
// Whether the operator that reads an input may read it as the caller has it, floats or bytes: it alone does so, and a
// dispatch would have to copy it.
bool gpu_plan_may_read_dense(const struct gpu_plan *plan, const struct gpu_value *value);
// Adds that copy, of x to another value of the same shape, with the stages of an operator.
bool gpu_plan_read_dense(struct gpu_plan *plan, const struct gpu_value *x, const struct gpu_value *y,
                         const struct gpu_epilogue *epilogue);
// The copy that writes y, whose only reader may take it; NULL: there is none.
struct gpu_dense_copy *gpu_plan_dense_copy(const struct gpu_plan *plan, const struct gpu_value *y);
// Whether an operator may write an output as the caller has it, in floats, in place of a value of the plan: nobody
// reads it on the device, and a dispatch would have to copy it.
bool gpu_plan_may_write_dense(const struct gpu_plan *plan, const struct gpu_value *value);
// Sets the grid to one work-item for each vector of `over`: (w, h, slices * b), which position() in a kernel decodes.
void gpu_grid_over(struct gpu_dispatch_desc *desc, struct gpu_shape over);
// The height of a work-group for a grid of `rows` rows of `width` work-items: groups have 64 work-items, or more if the
// device does not allow that many groups. Every device can take GPU_MAX_ROWS rows this way.
int gpu_rows_per_group(const struct gpu_caps *caps, int width, int64_t rows);
// Reports "CONV_2D (node 3): text". Always false.
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
// Plans every node. tuning, first_batch: see struct gpu_plan; a first_batch of 0: this is the first. NULL after a
// message.
struct gpu_plan *gpu_plan_create(struct gpu_graph *graph, const struct gpu_caps *caps, struct gpu_tuning *tuning,
                                 enum gpu_precision precision, int float_elements, int first_batch);
void gpu_plan_destroy(struct gpu_plan *plan);
// Assigns levels and sorts the steps by level. False after a message.
bool gpu_plan_order(struct gpu_plan *plan);
// Places all values in one arena by lifetime and size. False after a message.
bool gpu_plan_memory(struct gpu_plan *plan);
static inline size_t gpu_value_vectors(const struct gpu_value *value)
{
    struct gpu_shape s = value->shape;
    return (size_t)s.b * (size_t)s.h * (size_t)s.w * (size_t)gpu_slices(s);
}
// Bytes of one vector of four in a value or in constants: 16, 8 if they are halves, 4 if they are codes.
size_t gpu_plan_vector_bytes(const struct gpu_plan *plan, size_t vectors, bool exact);
static inline size_t gpu_value_vector_bytes(const struct gpu_plan *plan, const struct gpu_value *value)
{
    if (value->codes) return 4;
    int64_t vectors = gpu_in_first_batch(plan, (int64_t)gpu_value_vectors(value), value->shape.b);
    return gpu_plan_vector_bytes(plan, (size_t)vectors, value->exact);
}
static inline size_t gpu_weights_vector_bytes(const struct gpu_plan *plan, const struct gpu_weights *weights)
{
    return gpu_plan_vector_bytes(plan, weights->vectors, weights->exact);
}
// Whether an input or output has the same layout on the device as outside. Its raw buffer then serves as the value: it
// needs no allocation in the arena and no copy.
bool gpu_plan_is_direct(const struct gpu_plan *plan, const struct gpu_value *value);
// Whether an operand of a step is an input or output as it is stored outside.
bool gpu_plan_is_outside(const struct gpu_plan *plan, const struct gpu_plan_step *step, int operand);
// Whether the host writes an input of floats as halves where the raw buffer is the runner's. An application's buffer
// has floats all the same.
bool gpu_plan_narrows(const struct gpu_plan *plan, const struct gpu_value *value);
// The bytes of the raw buffer of an input or output that kernels may access.
size_t gpu_plan_raw_bytes(const struct gpu_plan *plan, const struct gpu_value *value);

// A plan on a device, with its programs, buffers and list.
struct gpu_runner;
// pool: that of the device, and it outlives the runner.
struct gpu_runner *gpu_runner_create(struct gpu_plan *plan, struct gpu_program_pool *pool);
void gpu_runner_destroy(struct gpu_runner *runner);
static inline bool gpu_caller_has_bytes(const struct gpu_value *value)
{
    return gpu_caller_format(value) == GPU_FORMAT_BYTES;
}
// The bytes of a value as it is stored outside.
size_t gpu_caller_bytes(const struct gpu_value *value);
// inputs and outputs: host memory of gpu_caller_bytes each, in the order of the graph's input and output values; NULL
// for a value that is on the device already, or stays there. Without outputs it does not wait for the device.
// nanoseconds: receives the device time of each step, which then run one after the other; NULL: no measurement.
bool gpu_runner_run(struct gpu_runner *runner, const void *const *inputs, void *const *outputs, uint64_t *nanoseconds);
bool gpu_runner_wait(struct gpu_runner *runner);
// Runs once with inputs of zeros and waits, so that the driver has compiled all that it compiles at the first run.
bool gpu_runner_rehearse(struct gpu_runner *runner);
// As a run without outputs, but the kernels go into a command buffer of the application (list_encode of the backend).
bool gpu_runner_encode(struct gpu_runner *runner, const void *const *inputs, void *commands);
// Copies gpu_caller_bytes of an input or output to or from the device. Reading waits for the last run.
bool gpu_runner_read(struct gpu_runner *runner, const struct gpu_value *value, void *to);
bool gpu_runner_write(struct gpu_runner *runner, const struct gpu_value *value, const void *from);
// The bytes that such a copy moves: fewer where the device has halves of an input.
size_t gpu_runner_moved_bytes(const struct gpu_runner *runner, const struct gpu_value *value);
// Makes later runs use this buffer for an input or output, from the offset on; NULL: one of the runner's own. The
// buffer belongs to the caller, and must be there until another is bound. False after a message.
bool gpu_runner_bind(struct gpu_runner *runner, const struct gpu_value *value, struct gpu_buffer *buffer,
                     size_t offset);
// The buffer that the last run used for an input or output, and where the value begins in it.
struct gpu_buffer *gpu_runner_buffer(const struct gpu_runner *runner, const struct gpu_value *value, size_t *offset);

// Bindings, and the commands that were recorded with them. A runner has one set; others change places with it, so that
// runs with different buffers are under way at the same time, and none waits for another to be recorded anew.
struct gpu_recording;
// One without bindings. NULL after a message.
struct gpu_recording *gpu_recording_create(const struct gpu_runner *runner);
// Accepts NULL. The runs with it must be done.
void gpu_recording_destroy(const struct gpu_runner *runner, struct gpu_recording *recording);
// Lets the runner's set and this one change places.
void gpu_runner_exchange(struct gpu_runner *runner, struct gpu_recording *recording);

#endif
