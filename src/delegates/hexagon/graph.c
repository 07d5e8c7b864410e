// SPDX-License-Identifier: Apache-2.0
// See graph.h.
#include "delegates/hexagon/graph.h"

#include <stdlib.h>
#include <string.h>

#include "abi/tensor.h"
#include "base/grow.h"
#include "delegates/hexagon/op.h"

enum { LOG_BYTES = 16 * 1024 };

bool hexagon_failed(const struct hexagon_delegate *delegate, TfLiteContext *context, int graph, const char *doing,
                    int result)
{
    unsigned char *log = graph >= 0 ? calloc(1, LOG_BYTES + 1) : NULL;
    bool said = log && delegate->system.getlog(graph, log, LOG_BYTES) == 0 && log[0];
    context->ReportError(context, "TfLiteHexagonDelegate: error %d while %s%s%s", result, doing,
                         said ? "; the processor's log: " : "", said ? (const char *)log : "");
    free(log);
    return false;
}

void hexagon_graph_fail(struct hexagon_graph *graph, const char *why)
{
    if (!graph->failed) graph->context->ReportError(graph->context, "TfLiteHexagonDelegate: %s", why);
    graph->failed = true;
}

// ---- nodes --------------------------------------------------------------------------------------

static unsigned new_node(struct hexagon_graph *graph)
{
    if (graph->failed) return 0;
    if (graph->node_count >= HEXAGON_MAX_NODE_ID) hexagon_graph_fail(graph, "the partition has too many nodes");
    int count = (int)graph->node_count + 1;
    if (!graph->failed && count >= graph->name_room) {
        const char **names = hl_grow(graph->names, count, &graph->name_room, sizeof *names);
        if (!names) {
            hexagon_graph_fail(graph, "out of memory");
            return 0;
        }
        graph->names = names;
    }
    if (graph->failed) return 0;
    graph->names[count] = graph->name;
    return ++graph->node_count;
}

hexagon_nn_input hexagon_constant(struct hexagon_graph *graph, struct hexagon_shape shape, const void *bytes,
                                  size_t size)
{
    hexagon_nn_input port = {new_node(graph), 0};
    if (graph->failed) return port;
    if (size > INT32_MAX) {
        hexagon_graph_fail(graph, "a constant is too large");
        return port;
    }
    int result = graph->delegate->system.append_const_node(graph->id, port.src_id, shape.dims[0], shape.dims[1],
                                                           shape.dims[2], shape.dims[3], bytes, (int)size);
    if (result != 0)
        graph->failed = !hexagon_failed(graph->delegate, graph->context, graph->id, "adding a constant", result);
    return port;
}

// Appends the operation whose inputs have been added, and starts the next one.
static unsigned append_node(struct hexagon_graph *graph, unsigned operation, hexagon_nn_padding_type padding,
                            const hexagon_nn_output *outputs, int output_count)
{
    unsigned node = new_node(graph);
    if (!graph->failed) {
        int result = graph->delegate->system.append_node(graph->id, node, operation, padding,
                                                         graph->from_count ? graph->from : NULL, graph->from_count,
                                                         output_count ? outputs : NULL, output_count);
        if (result != 0)
            graph->failed = !hexagon_failed(graph->delegate, graph->context, graph->id, "adding a node", result);
    }
    graph->from_count = 0;
    return node;
}

static hexagon_nn_output output_of(struct hexagon_shape shape, size_t element)
{
    hexagon_nn_output output = {.rank = 4, .elementsize = (unsigned)element};
    memcpy(output.max_sizes, shape.dims, sizeof shape.dims);
    return output;
}

static const struct hexagon_shape scalar = {{1, 1, 1, 1}};

static struct hexagon_value end_with_range(struct hexagon_graph *graph, unsigned operation,
                                           hexagon_nn_padding_type padding, struct hexagon_shape shape, size_t element)
{
    hexagon_nn_output outputs[] = {output_of(shape, element), output_of(scalar, sizeof(float)),
                                   output_of(scalar, sizeof(float))};
    unsigned node = append_node(graph, operation, padding, outputs, 3);
    return (struct hexagon_value){{node, 0}, {node, 1}, {node, 2}};
}

struct hexagon_value hexagon_end(struct hexagon_graph *graph, enum hexagon_operation operation,
                                 hexagon_nn_padding_type padding, struct hexagon_shape shape)
{
    return end_with_range(graph, operation, padding, shape, sizeof(uint8_t));
}

struct hexagon_value hexagon_end_32(struct hexagon_graph *graph, enum hexagon_operation operation,
                                    struct hexagon_shape shape)
{
    return end_with_range(graph, operation, HEXAGON_PAD_NA, shape, sizeof(int32_t));
}

hexagon_nn_input hexagon_end_plain(struct hexagon_graph *graph, enum hexagon_operation operation,
                                   struct hexagon_shape shape, size_t element)
{
    hexagon_nn_output output = output_of(shape, element);
    return (hexagon_nn_input){append_node(graph, operation, HEXAGON_PAD_NA, &output, 1), 0};
}

hexagon_nn_input hexagon_end_many(struct hexagon_graph *graph, enum hexagon_operation operation,
                                  const struct hexagon_shape *shapes, int count)
{
    hexagon_nn_output outputs[HEXAGON_MAX_TENSORS + 2];
    for (int i = 0; i < count; i++) outputs[i] = output_of(shapes[i], sizeof(uint8_t));
    outputs[count] = outputs[count + 1] = output_of(scalar, sizeof(float));
    return (hexagon_nn_input){append_node(graph, operation, HEXAGON_PAD_NA, outputs, count + 2), 0};
}

// ---- inputs of an operation ---------------------------------------------------------------------

void hexagon_add(struct hexagon_graph *graph, hexagon_nn_input port)
{
    if (graph->from_count < HEXAGON_MAX_PORTS)
        graph->from[graph->from_count++] = port;
    else
        hexagon_graph_fail(graph, "an operation has too many inputs");
}

void hexagon_add_constant(struct hexagon_graph *graph, struct hexagon_shape shape, const void *bytes, size_t size)
{
    hexagon_add(graph, hexagon_constant(graph, shape, bytes, size));
}

void hexagon_add_float(struct hexagon_graph *graph, float value)
{
    hexagon_add_constant(graph, scalar, &value, sizeof value);
}

void hexagon_add_int(struct hexagon_graph *graph, int32_t value)
{
    hexagon_add_constant(graph, scalar, &value, sizeof value);
}

void hexagon_add_ints(struct hexagon_graph *graph, const int32_t values[4])
{
    hexagon_add_constant(graph, (struct hexagon_shape){{1, 1, 1, 4}}, values, 4 * sizeof *values);
}

void hexagon_add_window(struct hexagon_graph *graph, int height, int width)
{
    int32_t unread = 0;
    hexagon_add_constant(graph, (struct hexagon_shape){{1, (unsigned)height, (unsigned)width, 1}}, &unread,
                         sizeof unread);
}

void hexagon_add_ends(struct hexagon_graph *graph, struct hexagon_range range)
{
    hexagon_add_float(graph, range.min);
    hexagon_add_float(graph, range.max);
}

void hexagon_add_value(struct hexagon_graph *graph, struct hexagon_value value)
{
    hexagon_add(graph, value.data);
    hexagon_add(graph, value.min);
    hexagon_add(graph, value.max);
}

// ---- values of tensors --------------------------------------------------------------------------

static void make_range(struct hexagon_graph *graph, int tensor)
{
    struct hexagon_value *value = &graph->values[tensor];
    if (value->min.src_id != 0) return;
    struct hexagon_range range = hexagon_range_of(&graph->context->tensors[tensor]);
    value->min = hexagon_constant(graph, scalar, &range.min, sizeof range.min);
    value->max = hexagon_constant(graph, scalar, &range.max, sizeof range.max);
}

static void make_constant(struct hexagon_graph *graph, int index)
{
    const TfLiteTensor *tensor = &graph->context->tensors[index];
    struct hexagon_shape shape = hexagon_shape_of(tensor);
    if (tensor->type != kTfLiteInt8) {
        graph->values[index].data = hexagon_constant(graph, shape, tensor->data.raw, tensor->bytes);
        return;
    }
    uint8_t *shifted = malloc(tensor->bytes + 1);
    if (!shifted) {
        hexagon_graph_fail(graph, "out of memory");
        return;
    }
    for (size_t i = 0; i < tensor->bytes; i++) shifted[i] = tensor->data.uint8[i] ^ 0x80;
    graph->values[index].data = hexagon_constant(graph, shape, shifted, tensor->bytes);
    free(shifted);
}

hexagon_nn_input hexagon_data(struct hexagon_graph *graph, int tensor)
{
    if (graph->values[tensor].data.src_id == 0) {
        if (hl_is_constant(&graph->context->tensors[tensor]))
            make_constant(graph, tensor);
        else
            hexagon_graph_fail(graph, "a node reads what no node of its partition writes");
    }
    return graph->values[tensor].data;
}

void hexagon_add_data(struct hexagon_graph *graph, int tensor)
{
    hexagon_add(graph, hexagon_data(graph, tensor));
}

void hexagon_add_range(struct hexagon_graph *graph, int tensor)
{
    make_range(graph, tensor);
    hexagon_add(graph, graph->values[tensor].min);
    hexagon_add(graph, graph->values[tensor].max);
}

struct hexagon_value hexagon_requantize(struct hexagon_graph *graph, enum hexagon_operation operation,
                                        struct hexagon_value value, struct hexagon_shape shape,
                                        struct hexagon_range range)
{
    hexagon_add_value(graph, value);
    hexagon_add_ends(graph, range);
    return hexagon_end(graph, operation, HEXAGON_PAD_NA, shape);
}

static hexagon_nn_input reshape(struct hexagon_graph *graph, hexagon_nn_input data, struct hexagon_shape from,
                                struct hexagon_shape to, size_t element)
{
    if (memcmp(&from, &to, sizeof from) == 0) return data;
    int32_t dims[4];
    for (int i = 0; i < 4; i++) dims[i] = (int32_t)to.dims[i];
    hexagon_add(graph, data);
    hexagon_add_ints(graph, dims);
    return hexagon_end_plain(graph, HEXAGON_Reshape, to, element);
}

hexagon_nn_input hexagon_reshaped(struct hexagon_graph *graph, int tensor, struct hexagon_shape shape)
{
    return reshape(graph, hexagon_data(graph, tensor), hexagon_shape_of(&graph->context->tensors[tensor]), shape,
                   sizeof(uint8_t));
}

hexagon_nn_input hexagon_data_in(struct hexagon_graph *graph, int index, struct hexagon_range range)
{
    const TfLiteTensor *tensor = &graph->context->tensors[index];
    struct hexagon_value value = {.data = hexagon_data(graph, index)};
    if (hexagon_is_near(hexagon_range_of(tensor), range)) return value.data;
    make_range(graph, index);
    value.min = graph->values[index].min;
    value.max = graph->values[index].max;
    return hexagon_requantize(graph, HEXAGON_Requantize_8to8, value, hexagon_shape_of(tensor), range).data;
}

void hexagon_set_data(struct hexagon_graph *graph, int index, hexagon_nn_input data, struct hexagon_shape shape)
{
    const TfLiteTensor *tensor = &graph->context->tensors[index];
    graph->values[index].data = reshape(graph, data, shape, hexagon_shape_of(tensor), hl_type_size(tensor->type));
}

void hexagon_set(struct hexagon_graph *graph, int tensor, struct hexagon_value value, struct hexagon_shape shape,
                 const struct hexagon_range *known)
{
    struct hexagon_range wanted = hexagon_range_of(&graph->context->tensors[tensor]);
    if (!known || !hexagon_is_near(*known, wanted))
        value = hexagon_requantize(graph, HEXAGON_Requantize_8to8, value, shape, wanted);
    hexagon_set_data(graph, tensor, value.data, shape);
}

// ---- the whole ----------------------------------------------------------------------------------

// Adds an operation that turns int8 into uint8 or back. Both have the same range.
static hexagon_nn_input cast(struct hexagon_graph *graph, enum hexagon_operation operation, int tensor,
                             hexagon_nn_input data)
{
    hexagon_add(graph, data);
    hexagon_add_range(graph, tensor);
    return hexagon_end(graph, operation, HEXAGON_PAD_NA, hexagon_shape_of(&graph->context->tensors[tensor])).data;
}

static void add_inputs(struct hexagon_graph *graph, const TfLiteIntArray *tensors)
{
    hexagon_nn_output *outputs = malloc(((size_t)tensors->size + 1) * sizeof *outputs);
    graph->inputs = malloc(((size_t)tensors->size + 1) * sizeof *graph->inputs);
    if (!outputs || !graph->inputs) {
        hexagon_graph_fail(graph, "out of memory");
        free(outputs);
        return;
    }
    for (int i = 0; i < tensors->size; i++) {
        int tensor = tensors->data[i];
        if (tensor < 0 || hl_is_constant(&graph->context->tensors[tensor])) continue;
        outputs[graph->input_count] = output_of(hexagon_shape_of(&graph->context->tensors[tensor]), sizeof(uint8_t));
        graph->inputs[graph->input_count++] = tensor;
    }
    unsigned node = append_node(graph, HEXAGON_INPUT, HEXAGON_PAD_NA, outputs, graph->input_count);
    free(outputs);
    for (int i = 0; i < graph->input_count && !graph->failed; i++) {
        int tensor = graph->inputs[i];
        hexagon_nn_input data = {node, (unsigned)i};
        if (graph->context->tensors[tensor].type == kTfLiteInt8)
            data = cast(graph, HEXAGON_Quantized_CastInt8ToUInt8, tensor, data);
        graph->values[tensor].data = data;
    }
}

static void add_outputs(struct hexagon_graph *graph, const TfLiteIntArray *tensors)
{
    hexagon_nn_input *ports = malloc(((size_t)tensors->size + 1) * sizeof *ports);
    graph->outputs = malloc(((size_t)tensors->size + 1) * sizeof *graph->outputs);
    if (!ports || !graph->outputs) hexagon_graph_fail(graph, "out of memory");
    for (int i = 0; i < tensors->size && !graph->failed; i++) {
        int tensor = tensors->data[i];
        if (tensor < 0) continue;
        hexagon_nn_input data = graph->values[tensor].data;
        if (graph->context->tensors[tensor].type == kTfLiteInt8)
            data = cast(graph, HEXAGON_Quantized_CastUInt8ToInt8, tensor, data);
        ports[graph->output_count] = data;
        graph->outputs[graph->output_count++] = tensor;
    }
    for (int i = 0; i < graph->output_count && !graph->failed; i++) hexagon_add(graph, ports[i]);
    append_node(graph, HEXAGON_OUTPUT, HEXAGON_PAD_NA, NULL, 0);
    free(ports);
}

static void map_nodes(struct hexagon_graph *graph, const struct delegate_piece *piece)
{
    for (int i = 0; i < piece->count && !graph->failed; i++) {
        TfLiteNode *plain;
        TfLiteRegistration *registration;
        if (graph->context->GetNodeAndRegistration(graph->context, piece->nodes[i], &plain, &registration) !=
            kTfLiteOk) {
            hexagon_graph_fail(graph, "a node cannot be read");
            return;
        }
        struct hexagon_node node = {hexagon_op_find(registration->builtin_code), graph->context, plain};
        graph->name = hl_builtin_name(registration->builtin_code);
        if (node.op)
            node.op->family->map(graph, &node);
        else
            hexagon_graph_fail(graph, "a node has no operation"); // support.c does not let it through
    }
    graph->name = NULL;
}

static bool begin(struct hexagon_graph *graph)
{
    const struct hexagon *system = &graph->delegate->system;
    const TfLiteHexagonDelegateOptions *options = &graph->delegate->options.c;
    int result = system->config();
    const char *doing = "configuring the library";
    if (result == 0) {
        doing = "creating a graph";
        result = system->init(&graph->id);
        graph->exists = result == 0;
    }
    if (result == 0) {
        doing = "setting the debug level";
        result = system->set_debug_level(graph->id, options->debug_level);
    }
    if (result == 0) {
        doing = "setting the power level";
        result = system->set_powersave_level((unsigned)options->powersave_level);
    }
    return result == 0 ||
           hexagon_failed(graph->delegate, graph->context, graph->exists ? graph->id : -1, doing, result);
}

bool hexagon_graph_build(struct hexagon_graph *graph, struct hexagon_delegate *delegate, TfLiteContext *context,
                         const struct delegate_piece *piece)
{
    *graph = (struct hexagon_graph){.delegate = delegate, .context = context};
    graph->values = calloc(context->tensors_size + 1, sizeof *graph->values);
    if (!graph->values) hexagon_graph_fail(graph, "out of memory");
    if (graph->failed || !begin(graph)) return false;
    add_inputs(graph, piece->inputs);
    map_nodes(graph, piece);
    add_outputs(graph, piece->outputs);
    if (graph->failed) return false;
    int result = delegate->system.prepare(graph->id);
    return result == 0 || hexagon_failed(delegate, context, graph->id, "preparing the graph", result);
}

void hexagon_graph_free(struct hexagon_graph *graph)
{
    if (graph->exists) graph->delegate->system.teardown(graph->id);
    free(graph->values);
    free(graph->names);
    free(graph->inputs);
    free(graph->outputs);
    *graph = (struct hexagon_graph){0};
}
