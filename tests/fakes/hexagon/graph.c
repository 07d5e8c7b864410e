// SPDX-License-Identifier: Apache-2.0
// Graphs: built node by node, prepared once, executed, torn down. Each call wants the graph in the right state.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

enum { GRAPHS = 64, FIRST_ID = 7 }; // ids are not indices

static struct fake_graph graphs[GRAPHS];

static struct fake_graph *find_graph(int id)
{
    return id >= FIRST_ID && id < FIRST_ID + GRAPHS && graphs[id - FIRST_ID].exists ? &graphs[id - FIRST_ID] : NULL;
}

static struct fake_node *find_node(const struct fake_graph *graph, unsigned id)
{
    for (int i = 0; i < graph->count; i++)
        if (graph->nodes[i].id == id) return &graph->nodes[i];
    return NULL;
}

int hexagon_nn_init(int *id)
{
    FAKE_BEGIN();
    FAKE_WANT(id, "no id");
    FAKE_WANT(fake.connected > 0, "global_init comes first");
    int free_one = 0;
    while (free_one < GRAPHS && graphs[free_one].exists) free_one++;
    FAKE_WANT(free_one < GRAPHS, "more than %d graphs", (int)GRAPHS);
    graphs[free_one] = (struct fake_graph){.exists = true};
    *id = FIRST_ID + free_one;
    fake.live++;
    return 0;
}

int hexagon_nn_set_debug_level(int id, int level)
{
    FAKE_BEGIN();
    FAKE_WANT(find_graph(id), "there is no graph %d", id);
    fake.debug_level = level;
    return 0;
}

static void free_node(struct fake_node *node)
{
    for (int i = 0; node->outputs && i < node->output_count; i++) free(node->outputs[i].data);
    free(node->outputs);
    free(node->declared);
    free(node->inputs);
}

int hexagon_nn_teardown(int id)
{
    int failure = fake_begin(); // which does not keep the graph
    struct fake_graph *graph = find_graph(id);
    FAKE_WANT(graph, "there is no graph %d", id);
    for (int i = 0; i < graph->count; i++) free_node(&graph->nodes[i]);
    free(graph->nodes);
    *graph = (struct fake_graph){0};
    fake.live--;
    return failure;
}

// ---- building -----------------------------------------------------------------------------------

// A copy, NULL where there is nothing to copy.
static void *copy_of(const void *bytes, size_t size)
{
    void *copy = size ? malloc(size) : NULL;
    if (size && !copy) abort();
    return size ? memcpy(copy, bytes, size) : NULL;
}

static int check_new_node(const struct fake_graph *graph, int graph_id, unsigned id, const char *function)
{
    if (!graph) return fake_complain(function, -1, "there is no graph %d", graph_id);
    if (graph->prepared) return fake_complain(function, -1, "the graph is prepared");
    if (id == 0 || id > 0xF0000000u) return fake_complain(function, -1, "node id %u is the library's", id);
    if (find_node(graph, id)) return fake_complain(function, -1, "there is a node %u", id);
    return 0;
}

static struct fake_node *new_node(struct fake_graph *graph, unsigned id)
{
    if (graph->count == graph->room) {
        graph->room = graph->room ? 2 * graph->room : 64;
        graph->nodes = realloc(graph->nodes, (size_t)graph->room * sizeof *graph->nodes);
        if (!graph->nodes) abort();
    }
    struct fake_node *node = &graph->nodes[graph->count++];
    *node = (struct fake_node){.id = id};
    return node;
}

int hexagon_nn_append_const_node(int graph_id, unsigned id, unsigned batches, unsigned height, unsigned width,
                                 unsigned depth, const unsigned char *data, int size)
{
    FAKE_BEGIN();
    struct fake_graph *graph = find_graph(graph_id);
    int status = check_new_node(graph, graph_id, id, __func__);
    if (status != 0) return status;
    FAKE_WANT(size > 0 && data, "constant %u has no data", id);
    FAKE_WANT(batches && height && width && depth, "constant %u has no elements", id);
    struct fake_node *node = new_node(graph, id);
    node->is_constant = true;
    node->output_count = 1;
    node->outputs = calloc(1, sizeof *node->outputs);
    if (!node->outputs) abort();
    *node->outputs =
        (struct fake_tensor){{batches, height, width, depth}, 1, (size_t)size, copy_of(data, (size_t)size)};
    return 0;
}

static int check_output(const hexagon_nn_output *output)
{
    FAKE_WANT(output->rank == 4, "an output of rank %u", output->rank);
    FAKE_WANT(output->elementsize == 1 || output->elementsize == 4, "elements of %u bytes", output->elementsize);
    for (int i = 0; i < 4; i++) FAKE_WANT(output->max_sizes[i] > 0, "an output of size 0");
    return 0;
}

int hexagon_nn_append_node(int graph_id, unsigned id, unsigned operation, hexagon_nn_padding_type padding,
                           const hexagon_nn_input *inputs, int input_count, const hexagon_nn_output *outputs,
                           int output_count)
{
    FAKE_BEGIN();
    struct fake_graph *graph = find_graph(graph_id);
    int status = check_new_node(graph, graph_id, id, __func__);
    if (status != 0) return status;
    FAKE_WANT(input_count >= 0 && output_count >= 0, "a negative number of inputs or outputs");
    FAKE_WANT((inputs || !input_count) && (outputs || !output_count), "no inputs or outputs");
    for (int i = 0; i < output_count; i++)
        if (check_output(&outputs[i]) != 0) return -1;
    struct fake_node *node = new_node(graph, id);
    node->operation = operation;
    node->padding = padding;
    node->input_count = input_count;
    node->output_count = output_count;
    node->inputs = copy_of(inputs, (size_t)input_count * sizeof *inputs);
    node->declared = copy_of(outputs, (size_t)output_count * sizeof *outputs);
    node->outputs = calloc((size_t)output_count + 1, sizeof *node->outputs);
    if (!node->outputs) abort();
    return 0;
}

// ---- preparing ----------------------------------------------------------------------------------

const struct fake_tensor *fake_in(const struct fake_call *call, int index)
{
    if (index >= call->node->input_count) return NULL;
    hexagon_nn_input port = call->node->inputs[index];
    return &find_node(call->graph, port.src_id)->outputs[port.output_idx];
}

// Each input is an output of a node that was appended before.
static int check_links(const struct fake_graph *graph, const struct fake_node *node)
{
    for (int i = 0; i < node->input_count; i++) {
        const struct fake_node *source = find_node(graph, node->inputs[i].src_id);
        FAKE_WANT(source, "input %d of node %u is node %u, which is not there", i, node->id, node->inputs[i].src_id);
        FAKE_WANT(source < node, "node %u reads node %u, which comes later", node->id, source->id);
        FAKE_WANT(node->inputs[i].output_idx < (unsigned)source->output_count, "node %u has no output %u", source->id,
                  node->inputs[i].output_idx);
    }
    return 0;
}

static bool take_shape(struct fake_node *node, int index)
{
    struct fake_tensor *tensor = &node->outputs[index];
    memcpy(tensor->dims, node->declared[index].max_sizes, sizeof tensor->dims);
    tensor->element = node->declared[index].elementsize;
    tensor->bytes = fake_elements(tensor->dims) * tensor->element;
    tensor->data = calloc(1, tensor->bytes);
    return tensor->data != NULL;
}

static int find_ends(struct fake_graph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        struct fake_node *node = &graph->nodes[i];
        if (node->is_constant) {
            fake.constants++;
            continue;
        }
        fake.nodes++;
        if (check_links(graph, node) != 0) return -1;
        if (node->operation == HEXAGON_INPUT) {
            FAKE_WANT(!graph->input && node->input_count == 0 && node->output_count > 0, "the input node is wrong");
            graph->input = node;
            for (int k = 0; k < node->output_count; k++)
                if (!take_shape(node, k)) abort();
        } else if (node->operation == HEXAGON_OUTPUT) {
            FAKE_WANT(!graph->output && node->output_count == 0 && node->input_count > 0, "the output node is wrong");
            graph->output = node;
            fake.last_operation = find_node(graph, node->inputs[0].src_id)->operation;
        } else {
            FAKE_WANT(graph->input, "node %u comes before the input node", node->id);
            FAKE_WANT(!graph->output, "node %u comes after the output node", node->id);
        }
    }
    FAKE_WANT(graph->input && graph->output, "there is no input or output node");
    return 0;
}

static bool computes(const struct fake_node *node)
{
    return !node->is_constant && node->operation != HEXAGON_INPUT && node->operation != HEXAGON_OUTPUT;
}

int hexagon_nn_prepare(int id)
{
    FAKE_BEGIN();
    struct fake_graph *graph = find_graph(id);
    FAKE_WANT(graph, "there is no graph %d", id);
    FAKE_WANT(!graph->prepared, "the graph is prepared");
    if (find_ends(graph) != 0) return -1;
    for (int i = 0; i < graph->count; i++)
        if (computes(&graph->nodes[i]) && !fake_run_node(graph, &graph->nodes[i], true)) return -1;
    graph->prepared = true;
    return 0;
}

// ---- running ------------------------------------------------------------------------------------

static int take_input(const struct fake_graph *graph, int index, const hexagon_nn_tensordef *from)
{
    struct fake_tensor *to = &graph->input->outputs[index];
    const unsigned dims[4] = {from->batches, from->height, from->width, from->depth};
    FAKE_WANT(memcmp(dims, to->dims, sizeof dims) == 0, "input %d has another shape than the graph", index);
    FAKE_WANT(from->data && from->data_valid_len == to->bytes && from->dataLen >= 0 &&
                  (unsigned)from->dataLen >= from->data_valid_len,
              "input %d has %u bytes of %zu", index, from->data_valid_len, to->bytes);
    memcpy(to->data, from->data, to->bytes);
    return 0;
}

static int give_output(const struct fake_graph *graph, int index, hexagon_nn_tensordef *to)
{
    const struct fake_tensor *from = fake_in(&(struct fake_call){.graph = graph, .node = graph->output}, index);
    FAKE_WANT(to->data && to->dataLen >= 0 && (size_t)to->dataLen >= from->bytes, "output %d has %d bytes of %zu",
              index, to->dataLen, from->bytes);
    memcpy(to->data, from->data, from->bytes);
    to->batches = from->dims[0];
    to->height = from->dims[1];
    to->width = from->dims[2];
    to->depth = from->dims[3];
    to->data_valid_len = (unsigned)from->bytes;
    return 0;
}

int hexagon_nn_execute_new(int id, const hexagon_nn_tensordef *inputs, int input_count, hexagon_nn_tensordef *outputs,
                           int output_count)
{
    FAKE_BEGIN();
    struct fake_graph *graph = find_graph(id);
    FAKE_WANT(graph, "there is no graph %d", id);
    FAKE_WANT(graph->prepared, "the graph is not prepared");
    FAKE_WANT(inputs && outputs && input_count == graph->input->output_count &&
                  output_count == graph->output->input_count,
              "%d inputs and %d outputs", input_count, output_count);
    for (int i = 0; i < input_count; i++)
        if (take_input(graph, i, &inputs[i]) != 0) return -1;
    for (int i = 0; i < graph->count; i++)
        if (computes(&graph->nodes[i]) && !fake_run_node(graph, &graph->nodes[i], false)) return -1;
    for (int i = 0; i < output_count; i++)
        if (give_output(graph, i, &outputs[i]) != 0) return -1;
    graph->executions++;
    fake.runs++;
    return 0;
}

int hexagon_nn_execute(int id, unsigned batches, unsigned height, unsigned width, unsigned depth,
                       const unsigned char *data, int size, unsigned *out_batches, unsigned *out_height,
                       unsigned *out_width, unsigned *out_depth, unsigned char *out, int room, unsigned *out_size)
{
    hexagon_nn_tensordef from = {batches, height,         width, depth, (unsigned char *)(uintptr_t)data,
                                 size,    (unsigned)size, 0};
    hexagon_nn_tensordef to = {.data = out, .dataLen = room};
    int status = hexagon_nn_execute_new(id, &from, 1, &to, 1);
    *out_batches = to.batches;
    *out_height = to.height;
    *out_width = to.width;
    *out_depth = to.depth;
    *out_size = to.data_valid_len;
    return status;
}

// ---- what is told of a graph --------------------------------------------------------------------

int hexagon_nn_getlog(int id, unsigned char *text, int size)
{
    FAKE_BEGIN();
    FAKE_WANT(find_graph(id) && text && size > 0, "graph %d", id);
    snprintf((char *)text, (size_t)size, "%s", fake_last_complaint());
    return 0;
}

int hexagon_nn_snpprint(int id, unsigned char *text, int size)
{
    FAKE_BEGIN();
    const struct fake_graph *graph = find_graph(id);
    FAKE_WANT(graph && text && size > 0, "graph %d", id);
    size_t at = 0;
    for (int i = 0; i < graph->count && at < (size_t)size; i++) {
        const struct fake_operation *row = fake_find_operation(graph->nodes[i].operation);
        int written = snprintf((char *)text + at, (size_t)size - at, "%u: %s\n", graph->nodes[i].id,
                               graph->nodes[i].is_constant ? "Const"
                               : row                       ? row->name
                                                           : "end");
        at += (size_t)written;
    }
    return 0;
}

int hexagon_nn_get_perfinfo(int id, hexagon_nn_perfinfo *rows, int room, unsigned *count)
{
    FAKE_BEGIN();
    const struct fake_graph *graph = find_graph(id);
    FAKE_WANT(graph && rows && count && room >= 0, "graph %d", id);
    *count = 0;
    for (int i = 0; i < graph->count && *count < (unsigned)room; i++) {
        if (graph->nodes[i].is_constant) continue;
        rows[(*count)++] = (hexagon_nn_perfinfo){graph->nodes[i].id, (unsigned)graph->executions, 1000, 1};
    }
    fake.profiles++;
    return 0;
}

int hexagon_nn_reset_perfinfo(int id, unsigned event)
{
    FAKE_BEGIN();
    struct fake_graph *graph = find_graph(id);
    FAKE_WANT(graph && event == 0, "graph %d, event %u", id, event);
    graph->executions = 0;
    return 0;
}
