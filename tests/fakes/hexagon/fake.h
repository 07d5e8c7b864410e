// SPDX-License-Identifier: Apache-2.0
// A libhexagon_interface.so that computes: it stands for Qualcomm's in tests. In: the calls of the interface. Out:
// results of plain arithmetic, with real numbers between the 8-bit ones. The order and the arguments of each call are
// checked, and what is wrong is written to standard error; checks of operations (number of inputs, shapes, ranges,
// padding) are made when the graph is prepared. It proves what a delegate sends; how a processor computes it cannot
// know. Tests turn its knobs with fakeHexagon_set, programs with FAKE_HEXAGON="supported=0".
#ifndef HALITE_TESTS_FAKES_HEXAGON_FAKE_H
#define HALITE_TESTS_FAKES_HEXAGON_FAKE_H

#include <stddef.h>

#include "common/knobs.h"
#include "delegates/hexagon/system.h"

// X(name, at first, what it is)
#define FAKE_KNOBS(X)                                                        \
    X(version, HEXAGON_VERSION, "of the interface library")                  \
    X(skeleton, HEXAGON_VERSION, "of the processor's library")               \
    X(supported, 1, "whether there is a processor")                          \
    X(fail_at, 0, "number of the call that fails, from 1 on; 0: none")       \
    X(fail_code, -1, "what that call returns")                               \
    X(calls, 0, "calls so far that return a code")                           \
    X(live, 0, "graphs that exist")                                          \
    X(connected, 0, "global_init less global_teardown")                      \
    X(nodes, 0, "nodes of all prepared graphs so far, without constants")    \
    X(constants, 0, "constants of all prepared graphs so far")               \
    X(last_operation, -1, "of the node before the output of the last graph") \
    X(runs, 0, "executions so far")                                          \
    X(debug_level, 0, "of the last graph")                                   \
    X(powersave_level, -1, "of the last graph")                              \
    X(profiles, 0, "how often someone asked for cycles")                     \
    X(complaints, 0, "calls so far whose order or arguments were wrong")

FAKE_DECLARE_KNOBS(fakeHexagon);

#define X(result, name, symbol, arguments) FAKE_EXPORT result symbol arguments;
HEXAGON_FUNCTIONS(X)
#undef X

// Begins each function that returns a code: counts it, and returns where it is to fail.
int fake_begin(void);
#define FAKE_BEGIN()                        \
    do {                                    \
        int failure_ = fake_begin();        \
        if (failure_ != 0) return failure_; \
    } while (0)
// Says what is wrong with a call of this function, counts it, and returns the code.
int fake_complain(const char *function, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
// The last complaint, "" before the first: the processor's log.
const char *fake_last_complaint(void);
// Returns with a complaint unless the condition holds.
#define FAKE_WANT(condition, ...)                                          \
    do {                                                                   \
        if (!(condition)) return fake_complain(__func__, -1, __VA_ARGS__); \
    } while (0)

// ---- graphs -------------------------------------------------------------------------------------

struct fake_tensor {
    unsigned dims[4];
    unsigned element; // bytes
    size_t bytes;     // of a constant: those that were given
    void *data;       // owned
};

struct fake_node {
    unsigned id, operation;
    bool is_constant;
    hexagon_nn_padding_type padding;
    hexagon_nn_input *inputs;
    int input_count, output_count;
    hexagon_nn_output *declared; // by output
    struct fake_tensor *outputs;
};

struct fake_graph {
    bool exists, prepared;
    struct fake_node *nodes;
    int count, room;
    struct fake_node *input, *output; // once it is prepared
    int executions;
};

// ---- operations ---------------------------------------------------------------------------------

// A node that is being computed, or only checked: then results have shapes and no values.
struct fake_call {
    const struct fake_graph *graph;
    struct fake_node *node;
    const struct fake_operation *operation;
    bool dry, failed;
};

enum fake_padding { PADDING_NONE, PADDING_EDGES, PADDING_MIRROR };

struct fake_operation {
    unsigned number;
    const char *name;
    int least_inputs, most_inputs; // -1: any number
    int outputs;                   // -1: any number
    enum fake_padding padding;
    void (*run)(struct fake_call *call);
};
const struct fake_operation *fake_find_operation(unsigned number);

// Checks or computes a node. False after a complaint.
bool fake_run_node(const struct fake_graph *graph, struct fake_node *node, bool dry);

// ---- for operations: operands

// NULL in place of an input that is not there.
const struct fake_tensor *fake_in(const struct fake_call *call, int index);
static inline size_t fake_elements(const unsigned dims[4])
{
    return (size_t)dims[0] * dims[1] * dims[2] * dims[3];
}
// The call fails unless the condition holds.
bool fake_hold(struct fake_call *call, bool condition, const char *what);
// A scalar input.
float fake_float(struct fake_call *call, int index);
int fake_int(struct fake_call *call, int index);
// `count` integers of an input; zeros where it does not have so many.
void fake_ints(struct fake_call *call, int index, int count, int *values);
// The dimensions of an input of which only they are read: height and width.
void fake_window(struct fake_call *call, int index, int *height, int *width);

// Numbers as bytes: value = low + step * byte. The two ends are inputs.
struct fake_scale {
    double low, step;
};
struct fake_scale fake_scale(struct fake_call *call, int min, int max);
static inline int fake_zero(struct fake_scale scale)
{
    double zero = -scale.low / scale.step;
    return (int)(zero < 0 ? zero - 0.5 : zero + 0.5);
}
static inline double fake_value(struct fake_scale scale, unsigned char byte)
{
    return scale.low + scale.step * byte;
}
unsigned char fake_byte(struct fake_scale scale, double value);
// Numbers as int32: value = step * integer.
double fake_step_32(struct fake_call *call, int min, int max);
int32_t fake_round_32(double value);

// ---- for operations: results

// Memory for output 0 with this shape, which must be the declared one. NULL: there is nothing to compute.
void *fake_result(struct fake_call *call, const unsigned dims[4], unsigned element);
void *fake_result_at(struct fake_call *call, int index, const unsigned dims[4], unsigned element);
// Outputs 1 and 2, or those from `first` on: the range. Its scale.
struct fake_scale fake_ends(struct fake_call *call, int first, double min, double max);

// The operations, by file.
// clang-format off
#define FAKE_RUNS(X)                                                                                              \
    X(add) X(sub) X(multiply) X(divide) X(maximum) X(minimum)                                                     \
    X(relu) X(relu_x) X(sigmoid) X(tanh) X(softmax) X(negate) X(square_root) X(l2_normalize) X(hard_swish)        \
    X(requantize_8) X(requantize_32) X(cast)                                                                      \
    X(convolve) X(convolve_depthwise) X(convolve_transposed) X(matrix_product) X(add_bias)                        \
    X(max_pool) X(average_pool) X(mean) X(arg_max) X(arg_min) X(resize_bilinear) X(resize_nearest)                \
    X(concat) X(pack) X(split) X(slice) X(strided_slice) X(pad) X(mirror_pad) X(reshape) X(transpose)             \
    X(space_to_batch) X(batch_to_space) X(space_to_depth) X(depth_to_space)
// clang-format on
#define X(name) void fake_run_##name(struct fake_call *call);
FAKE_RUNS(X)
#undef X

#endif
