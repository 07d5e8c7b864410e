// SPDX-License-Identifier: Apache-2.0
// Checks of the graph: that every index names something, that every tensor is written before it is
// read and at most once, and that subgraphs do not call themselves. In: the decoded model. Out:
// true, or one message that names subgraph, node and tensor. Time and memory are linear in the size
// of the model.
#include <stdlib.h>

#include "model/loader.h"
#include "model/options.h"

enum { nobody = -1 };

// For the time of one check. One message, however many of them fail.
static void *allocate(struct hl_loader *l, size_t count, size_t size)
{
    if (l->exhausted) return NULL;
    void *memory = calloc(count ? count : 1, size);
    l->exhausted = !memory;
    if (!memory) hl_load_fail(l, "out of memory");
    return memory;
}

static const char *code_name(const struct hl_loader *l, const struct hl_model_node *node)
{
    return hl_model_code_name(&l->model->codes[node->code]);
}

// Every entry in lowest … tensor_count - 1.
static bool verify_indices(const struct hl_loader *l, const struct hl_model_subgraph *subgraph, const char *what,
                           const int *indices, int count, int lowest)
{
    for (int i = 0; i < count; i++)
        if (indices[i] < lowest || indices[i] >= subgraph->tensor_count)
            return hl_load_fail(l, "%s %d is tensor %d, but the subgraph has %d tensor%s", what, i, indices[i],
                                subgraph->tensor_count, HL_PLURAL(subgraph->tensor_count));
    return true;
}

// Whether a tensor has a value before any operator has run.
static bool has_value(const struct hl_model_tensor *tensor)
{
    size_t elements;
    return tensor->data || tensor->external_data || tensor->is_variable ||
           (hl_tensor_bytes(kTfLiteInt8, tensor->rank, tensor->dims, &elements) && elements == 0);
}

// Fills writer with the node that writes each tensor.
static bool find_writers(struct hl_loader *l, const struct hl_model_subgraph *subgraph, int *writer)
{
    for (int i = 0; i < subgraph->tensor_count; i++) writer[i] = nobody;
    for (int n = 0; n < subgraph->node_count; n++) {
        const struct hl_model_node *node = &subgraph->nodes[n];
        l->node = n;
        l->node_name = code_name(l, node);
        if (!verify_indices(l, subgraph, "input", node->inputs, node->input_count, kTfLiteOptionalTensor) ||
            !verify_indices(l, subgraph, "output", node->outputs, node->output_count, 0) ||
            !verify_indices(l, subgraph, "intermediate", node->intermediates, node->intermediate_count,
                            kTfLiteOptionalTensor))
            return false;
        for (int i = 0; i < node->output_count; i++) {
            int t = node->outputs[i];
            const struct hl_model_tensor *tensor = &subgraph->tensors[t];
            if (tensor->data || tensor->external_data)
                return hl_load_fail(l, "output %d is tensor %d (%.60s), which is constant", i, t, tensor->name);
            if (writer[t] != nobody)
                return hl_load_fail(l, "output %d is tensor %d (%.60s), which node %d (%.60s) writes too", i, t,
                                    tensor->name, writer[t], code_name(l, &subgraph->nodes[writer[t]]));
            writer[t] = n;
        }
    }
    l->node = -1;
    return true;
}

static bool verify_order(struct hl_loader *l, const struct hl_model_subgraph *subgraph, const int *writer,
                         bool *is_input)
{
    for (int i = 0; i < subgraph->tensor_count; i++) is_input[i] = false;
    for (int i = 0; i < subgraph->input_count; i++) is_input[subgraph->inputs[i]] = true;
    for (int n = 0; n < subgraph->node_count; n++) {
        const struct hl_model_node *node = &subgraph->nodes[n];
        l->node = n;
        l->node_name = code_name(l, node);
        for (int i = 0; i < node->input_count; i++) {
            int t = node->inputs[i];
            if (t == kTfLiteOptionalTensor) continue;
            const struct hl_model_tensor *tensor = &subgraph->tensors[t];
            if (writer[t] == n)
                return hl_load_fail(l, "input %d is tensor %d (%.60s), which the node itself writes", i, t,
                                    tensor->name);
            // Whatever value it has before: the later node may give it another shape than this one was prepared for.
            if (writer[t] > n)
                return hl_load_fail(l, "input %d is tensor %d (%.60s), which node %d (%.60s) writes only later", i, t,
                                    tensor->name, writer[t], code_name(l, &subgraph->nodes[writer[t]]));
            if (is_input[t] || has_value(tensor)) continue;
            // RESHAPE may name a tensor for its shape alone.
            bool shape_only =
                l->model->codes[node->code].builtin == kTfLiteBuiltinReshape && i == 1 && tensor->rank != 1;
            if (writer[t] == nobody && !shape_only)
                return hl_load_fail(l,
                                    "input %d is tensor %d (%.60s), which is neither written by a "
                                    "node before it nor "
                                    "constant, variable or an input of the subgraph",
                                    i, t, tensor->name);
        }
    }
    l->node = -1;
    for (int i = 0; i < subgraph->output_count; i++) {
        int t = subgraph->outputs[i];
        if (writer[t] == nobody && !is_input[t] && !has_value(&subgraph->tensors[t]))
            return hl_load_fail(l, "output %d is tensor %d (%.60s), which no node writes", i, t,
                                subgraph->tensors[t].name);
    }
    return true;
}

static bool verify_subgraph(struct hl_loader *l, const struct hl_model_subgraph *subgraph, int *writer, bool *is_input)
{
    for (int i = 0; i < subgraph->tensor_count; i++) {
        l->tensor = i;
        l->tensor_name = subgraph->tensors[i].name;
        if (!hl_load_verify_tensor(l, subgraph, &subgraph->tensors[i])) return false;
    }
    l->tensor = -1;
    if (!verify_indices(l, subgraph, "input", subgraph->inputs, subgraph->input_count, 0) ||
        !verify_indices(l, subgraph, "output", subgraph->outputs, subgraph->output_count, 0))
        return false;
    return find_writers(l, subgraph, writer) && verify_order(l, subgraph, writer, is_input);
}

// ---- Calls between subgraphs

struct call {
    int subgraph; // that has been entered
    int node;     // whose callees are being looked at
    int which;
};

// Finds the next call that this level makes: -1 when there is no more.
static int next_callee(const struct hl_loader *l, struct call *call)
{
    const struct hl_model_subgraph *subgraph = &l->model->subgraphs[call->subgraph];
    for (; call->node < subgraph->node_count; call->node++, call->which = 0) {
        const struct hl_model_node *node = &subgraph->nodes[call->node];
        int callee = hl_options_callee(l->model->codes[node->code].builtin, node->params, call->which);
        if (callee >= 0) {
            call->which++;
            return callee;
        }
    }
    return -1;
}

// Walks the calls below one subgraph, deepest first. levels[s] is how many subgraphs nest below s,
// counting itself: 0 not seen yet, -1 while it is being walked.
static bool walk_calls(struct hl_loader *l, int root, int *levels, bool *called, struct call *stack)
{
    int depth = 0;
    stack[0] = (struct call){.subgraph = root};
    levels[root] = -1;
    while (depth >= 0) {
        struct call *call = &stack[depth];
        int callee = next_callee(l, call);
        if (callee < 0) {
            int deepest = 0;
            struct call again = {.subgraph = call->subgraph};
            while ((callee = next_callee(l, &again)) >= 0)
                if (levels[callee] > deepest) deepest = levels[callee];
            levels[call->subgraph] = deepest + 1;
            depth--;
            continue;
        }
        l->subgraph = call->subgraph;
        l->node = call->node;
        l->node_name = code_name(l, &l->model->subgraphs[call->subgraph].nodes[call->node]);
        if (levels[callee] < 0)
            return hl_load_fail(l, "it calls subgraph %d, which is still running: subgraphs must not call themselves",
                                callee);
        if (depth + 1 + (levels[callee] > 0 ? levels[callee] : 1) > HL_DEEPEST_CALLS)
            return hl_load_fail(l, "subgraphs call each other more than %d levels deep", HL_DEEPEST_CALLS);
        called[callee] = true;
        if (levels[callee] > 0) continue;
        levels[callee] = -1;
        stack[++depth] = (struct call){.subgraph = callee};
    }
    l->subgraph = l->node = -1;
    return true;
}

// A call writes its arguments into the callee's inputs, so they must be writable. (Inputs of the
// main graph may be constant: there are such models, whose constants serve as default values.)
static bool verify_arguments(struct hl_loader *l, int index)
{
    const struct hl_model_subgraph *subgraph = &l->model->subgraphs[index];
    l->subgraph = index;
    for (int i = 0; i < subgraph->input_count; i++) {
        const struct hl_model_tensor *tensor = &subgraph->tensors[subgraph->inputs[i]];
        if (tensor->data || tensor->external_data)
            return hl_load_fail(l, "input %d is tensor %d (%.60s), which is constant, but nodes call this subgraph", i,
                                subgraph->inputs[i], tensor->name);
    }
    l->subgraph = -1;
    return true;
}

static bool verify_calls(struct hl_loader *l)
{
    int count = l->model->subgraph_count;
    int *levels = allocate(l, (size_t)count, sizeof *levels);
    bool *called = allocate(l, (size_t)count, sizeof *called);
    struct call *stack = allocate(l, HL_DEEPEST_CALLS, sizeof *stack);
    bool fine = levels && called && stack;
    for (int i = 0; fine && i < count; i++)
        if (levels[i] == 0) fine = walk_calls(l, i, levels, called, stack);
    for (int i = 0; fine && i < count; i++)
        if (called[i]) fine = verify_arguments(l, i);
    free(levels);
    free(called);
    free(stack);
    return fine;
}

bool hl_load_verify_graph(struct hl_loader *l)
{
    int most_tensors = 0;
    for (int i = 0; i < l->model->subgraph_count; i++)
        if (l->model->subgraphs[i].tensor_count > most_tensors) most_tensors = l->model->subgraphs[i].tensor_count;
    int *writer = allocate(l, (size_t)most_tensors, sizeof *writer);
    bool *is_input = allocate(l, (size_t)most_tensors, sizeof *is_input);
    bool fine = writer && is_input;
    for (int i = 0; fine && i < l->model->subgraph_count; i++) {
        l->subgraph = i;
        fine = verify_subgraph(l, &l->model->subgraphs[i], writer, is_input);
    }
    free(writer);
    free(is_input);
    l->subgraph = -1;
    return fine && verify_calls(l);
}
