// SPDX-License-Identifier: Apache-2.0
// A claimed partition as the processor runs it. create builds and prepares the graph while the delegate is applied, so
// that a failure leaves the runtime's graph to the CPU; invoke hands the tensors' own memory to the library.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "delegates/hexagon/graph.h"

struct kernel {
    struct hexagon_graph graph;
    hexagon_nn_tensordef *tensors; // inputs, then outputs
};

enum { TEXT_BYTES = 1024 * 1024, PERFINFO_ROWS = 4096 };

// ---- what is printed ----------------------------------------------------------------------------

static void print_graph(const struct hexagon_graph *graph)
{
    unsigned char *text = calloc(1, TEXT_BYTES + 1);
    if (text && graph->delegate->system.snpprint(graph->id, text, TEXT_BYTES) == 0) printf("%s\n", (char *)text);
    free(text);
}

static void print_profile(const struct hexagon_graph *graph)
{
    const struct hexagon *system = &graph->delegate->system;
    hexagon_nn_perfinfo *rows = calloc(PERFINFO_ROWS, sizeof *rows);
    unsigned count = 0;
    if (rows && system->get_perfinfo(graph->id, rows, PERFINFO_ROWS, &count) == 0) {
        printf("node, operator, executions, cycles\n");
        for (unsigned i = 0; i < count && i < PERFINFO_ROWS; i++) {
            uint64_t cycles = ((uint64_t)rows[i].counter_hi << 32) | rows[i].counter_lo;
            const char *name = rows[i].node_id <= graph->node_count ? graph->names[rows[i].node_id] : NULL;
            printf("%u, %s, %u, %" PRIu64 "\n", rows[i].node_id, name ? name : "(data)", rows[i].executions, cycles);
        }
        system->reset_perfinfo(graph->id, 0);
    }
    free(rows);
}

// ---- create -------------------------------------------------------------------------------------

static hexagon_nn_tensordef describe(const TfLiteTensor *tensor)
{
    struct hexagon_shape shape = hexagon_shape_of(tensor);
    return (hexagon_nn_tensordef){
        .batches = shape.dims[0],
        .height = shape.dims[1],
        .width = shape.dims[2],
        .depth = shape.dims[3],
    };
}

static bool describe_tensors(struct kernel *kernel, TfLiteContext *context)
{
    const struct hexagon_graph *graph = &kernel->graph;
    kernel->tensors = calloc((size_t)graph->input_count + (size_t)graph->output_count + 1, sizeof *kernel->tensors);
    if (!kernel->tensors) {
        context->ReportError(context, "TfLiteHexagonDelegate: out of memory");
        return false;
    }
    hexagon_nn_tensordef *to = kernel->tensors;
    for (int i = 0; i < graph->input_count; i++) *to++ = describe(&context->tensors[graph->inputs[i]]);
    for (int i = 0; i < graph->output_count; i++) *to++ = describe(&context->tensors[graph->outputs[i]]);
    return true;
}

void *hexagon_kernel_create(struct delegate *base, TfLiteContext *context, const TfLiteDelegateParams *params)
{
    struct hexagon_delegate *delegate = (struct hexagon_delegate *)base;
    struct delegate_piece piece = {params->nodes_to_replace->data, params->nodes_to_replace->size,
                                   params->input_tensors, params->output_tensors};
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) {
        context->ReportError(context, "TfLiteHexagonDelegate: out of memory");
        return NULL;
    }
    if (!hexagon_graph_build(&kernel->graph, delegate, context, &piece) || !describe_tensors(kernel, context)) {
        hexagon_kernel_destroy(kernel);
        return NULL;
    }
    if (delegate->options.c.print_graph_debug) print_graph(&kernel->graph);
    return kernel;
}

void hexagon_kernel_destroy(void *data)
{
    struct kernel *kernel = data;
    hexagon_graph_free(&kernel->graph);
    free(kernel->tensors);
    free(kernel);
}

// The graph has the shapes that the tensors had when the delegate was applied: the runtime applies it again when an
// input is resized.
TfLiteStatus hexagon_kernel_prepare(void *kernel, TfLiteContext *context, TfLiteNode *node)
{
    (void)kernel;
    (void)context;
    (void)node;
    return kTfLiteOk;
}

// ---- invoke -------------------------------------------------------------------------------------

TfLiteStatus hexagon_kernel_invoke(void *data, TfLiteContext *context, TfLiteNode *node)
{
    (void)node;
    struct kernel *kernel = data;
    const struct hexagon_graph *graph = &kernel->graph;
    hexagon_nn_tensordef *inputs = kernel->tensors, *outputs = kernel->tensors + graph->input_count;
    for (int i = 0; i < graph->input_count; i++) {
        const TfLiteTensor *tensor = &context->tensors[graph->inputs[i]];
        inputs[i].data = tensor->data.uint8;
        inputs[i].dataLen = (int)tensor->bytes;
        inputs[i].data_valid_len = (unsigned)tensor->bytes;
    }
    for (int i = 0; i < graph->output_count; i++) {
        const TfLiteTensor *tensor = &context->tensors[graph->outputs[i]];
        outputs[i] = describe(tensor);
        outputs[i].data = tensor->data.uint8;
        outputs[i].dataLen = (int)tensor->bytes;
    }
    int result =
        graph->delegate->system.execute_new(graph->id, inputs, graph->input_count, outputs, graph->output_count);
    if (result != 0) {
        hexagon_failed(graph->delegate, context, graph->id, "executing the graph", result);
        return kTfLiteError;
    }
    for (int i = 0; i < graph->output_count; i++) {
        const TfLiteTensor *tensor = &context->tensors[graph->outputs[i]];
        if (outputs[i].data_valid_len == tensor->bytes) continue;
        context->ReportError(context, "TfLiteHexagonDelegate: the processor wrote %u bytes of output %d, expected %zu",
                             outputs[i].data_valid_len, i, tensor->bytes);
        return kTfLiteError;
    }
    if (graph->delegate->options.c.print_graph_profile) print_profile(graph);
    return kTfLiteOk;
}
