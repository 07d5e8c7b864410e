// SPDX-License-Identifier: Apache-2.0
// A partition as a graph of the processor. In: nodes of the runtime, one after the other, each turned into operations
// by the mapping of its operator (op.h). Out: a prepared graph, and which tensors are its inputs and outputs.
//
// The processor computes with uint8; int8 becomes uint8, 128 higher, where it enters, and int8 again where it leaves.
// Each 8-bit value travels with two floats, the least and the greatest number that it can say; most operations read and
// write all three. A mapping builds an operation input by input; where a call fails, the graph fails as a whole and
// says so once, so that a mapping need not ask after each call.
#ifndef HALITE_DELEGATES_HEXAGON_GRAPH_H
#define HALITE_DELEGATES_HEXAGON_GRAPH_H

#include "delegates/hexagon/hexagon.h"
#include "delegates/hexagon/tensor.h"
#include "tensorflow/lite/c/builtin_op_data.h"

// Operands of one operation: three for each of the tensors that CONCATENATION and PACK join, and an axis.
enum { HEXAGON_MAX_TENSORS = 64, HEXAGON_MAX_PORTS = 3 * HEXAGON_MAX_TENSORS + 1 };

// A value with its range, as the outputs of nodes.
struct hexagon_value {
    hexagon_nn_input data, min, max;
};

struct hexagon_graph {
    struct hexagon_delegate *delegate;
    TfLiteContext *context;
    int id;
    bool exists; // there is a graph of this id to tear down
    unsigned node_count;
    struct hexagon_value *values; // by tensor; data.src_id 0: not there yet; min.src_id 0: its range is not
    const char **names;           // by node id: the operator that made it
    int name_room;
    const char *name;      // of the operator that is being mapped
    int *inputs, *outputs; // tensors; constants are neither
    int input_count, output_count;
    hexagon_nn_input from[HEXAGON_MAX_PORTS]; // of the operation that is being built
    int from_count;
    bool failed;
};

// Builds and prepares the graph of these nodes. False after a message; hexagon_graph_free is right in both cases.
bool hexagon_graph_build(struct hexagon_graph *graph, struct hexagon_delegate *delegate, TfLiteContext *context,
                         const struct delegate_piece *piece);
void hexagon_graph_free(struct hexagon_graph *graph);
// Reports that a call failed: what the library's log says, and what was being done. Returns false.
bool hexagon_failed(const struct hexagon_delegate *delegate, TfLiteContext *context, int graph, const char *doing,
                    int result);
// After a message.
void hexagon_graph_fail(struct hexagon_graph *graph, const char *why);

// ---- for mappings: values

// The data of a tensor, as uint8.
hexagon_nn_input hexagon_data(struct hexagon_graph *graph, int tensor);
// The same in another shape. No operation may have been begun.
hexagon_nn_input hexagon_reshaped(struct hexagon_graph *graph, int tensor, struct hexagon_shape shape);
// The same in another range.
hexagon_nn_input hexagon_data_in(struct hexagon_graph *graph, int tensor, struct hexagon_range range);
// Bytes are copied.
hexagon_nn_input hexagon_constant(struct hexagon_graph *graph, struct hexagon_shape shape, const void *bytes,
                                  size_t size);

// ---- for mappings: inputs of the operation that is being built

void hexagon_add(struct hexagon_graph *graph, hexagon_nn_input port);
void hexagon_add_data(struct hexagon_graph *graph, int tensor);
// The two ends of its range.
void hexagon_add_range(struct hexagon_graph *graph, int tensor);
void hexagon_add_ends(struct hexagon_graph *graph, struct hexagon_range range);
void hexagon_add_value(struct hexagon_graph *graph, struct hexagon_value value);
void hexagon_add_float(struct hexagon_graph *graph, float value);
void hexagon_add_int(struct hexagon_graph *graph, int32_t value);
// Four numbers, one for each dimension.
void hexagon_add_ints(struct hexagon_graph *graph, const int32_t values[4]);
// Numbers that are a shape: of strides and windows only the dimensions are read.
void hexagon_add_window(struct hexagon_graph *graph, int height, int width);
void hexagon_add_constant(struct hexagon_graph *graph, struct hexagon_shape shape, const void *bytes, size_t size);

// ---- for mappings: the end of an operation

// One 8-bit result with its range.
struct hexagon_value hexagon_end(struct hexagon_graph *graph, enum hexagon_operation operation,
                                 hexagon_nn_padding_type padding, struct hexagon_shape shape);
// The same of 32 bits.
struct hexagon_value hexagon_end_32(struct hexagon_graph *graph, enum hexagon_operation operation,
                                    struct hexagon_shape shape);
// One result of this element size without a range.
hexagon_nn_input hexagon_end_plain(struct hexagon_graph *graph, enum hexagon_operation operation,
                                   struct hexagon_shape shape, size_t element);
// Any number of 8-bit results of the same range: their data, then one range. Returns the first one's data.
hexagon_nn_input hexagon_end_many(struct hexagon_graph *graph, enum hexagon_operation operation,
                                  const struct hexagon_shape *shapes, int count);

// ---- for mappings: what becomes of a result

struct hexagon_value hexagon_requantize(struct hexagon_graph *graph, enum hexagon_operation operation,
                                        struct hexagon_value value, struct hexagon_shape shape,
                                        struct hexagon_range range);
// The 8-bit value, which has this shape, is the tensor's. known: the range that it has; NULL: the operation has chosen
// one. Where that or the shape is another than the tensor's, an operation of its own follows.
void hexagon_set(struct hexagon_graph *graph, int tensor, struct hexagon_value value, struct hexagon_shape shape,
                 const struct hexagon_range *known);
// The same for data of the tensor's own range, or without a range.
void hexagon_set_data(struct hexagon_graph *graph, int tensor, hexagon_nn_input data, struct hexagon_shape shape);

#endif
