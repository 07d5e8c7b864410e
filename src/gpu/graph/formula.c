// SPDX-License-Identifier: Apache-2.0
// Joins nodes that are functions of single elements and did not become stages of another node:
//   y = f(x, a), z = g(y, b)         =>  z = formula(x, a, b)      (nothing else reads y)
//   a = channels of w, y = f(x, a)   =>  y = formula(x, w)
// In: nodes as the passes before have left them. Out: nodes of gpu_op_formula, each one dispatch in place of several.
#include <string.h>

#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"

// What a step reads: as many channels of a value as the output has, from one on.
struct operand {
    struct gpu_value *value; // NULL: nothing, or what was kept
    int channel;
};

// A formula before its values are numbered.
struct steps {
    struct operand x;
    int count;
    struct step {
        enum gpu_epilogue_op op;
        float a, b;
        struct operand other;
        bool of_kept, keeps;
    } steps[GPU_FORMULA_STEPS];
};

static bool is_same(const struct operand *a, const struct operand *b)
{
    return a->value == b->value && a->channel == b->channel;
}

// ---- a node as steps ------------------------------------------------------------------------------------------------

static bool add_stages(struct steps *steps, const struct gpu_epilogue *stages)
{
    for (int s = 0; s < stages->count; s++) {
        if (steps->count == GPU_FORMULA_STEPS || stages->stages[s].channels) return false;
        struct step *step = &steps->steps[steps->count++];
        *step = (struct step){.op = stages->stages[s].op, .a = stages->stages[s].a, .b = stages->stages[s].b};
        if (gpu_stage_takes_value(step->op)) step->other.value = stages->residual;
    }
    return true;
}

static struct operand input_of(const struct gpu_node *node, int input)
{
    const struct gpu_formula *formula = node->params;
    return (struct operand){node->inputs[input], formula->channel[input]};
}

static void read_formula(const struct gpu_node *node, struct steps *steps)
{
    const struct gpu_formula *formula = node->params;
    steps->x = input_of(node, 0);
    steps->count = formula->count;
    for (int s = 0; s < formula->count; s++) {
        const struct gpu_formula_step *step = &formula->steps[s];
        steps->steps[s] = (struct step){.op = step->op, .a = step->a, .b = step->b, .keeps = step->keeps};
        steps->steps[s].of_kept = step->other == OF_KEPT;
        if (step->other != OF_NONE && step->other != OF_KEPT)
            steps->steps[s].other = input_of(node, (int)step->other - OF_X);
    }
}

static bool fits(const struct operand *operand, const struct gpu_value *output)
{
    const struct gpu_value *value = operand->value;
    if (!value || value->data || value->codes || value->rank != output->rank) return false;
    struct gpu_shape part = value->shape;
    part.c -= operand->channel;
    if (part.c > output->shape.c) part.c = output->shape.c;
    return gpu_same_shape(part, output->shape);
}

// Finds the first operand of a node that is not a formula, and its own operation if it has one.
static bool read_own(const struct gpu_node *node, int output, struct operand *x, struct gpu_epilogue *own)
{
    const enum gpu_epilogue_op two = gpu_stage_of_two(node, 0);
    *x = (struct operand){node->inputs[0], 0};
    if (node->op->channels_of) {
        x->value = node->op->channels_of(node, output, &x->channel);
    } else if (two != GPU_EPI_NONE) {
        const struct operand other = {node->inputs[1], 0};
        *own = (struct gpu_epilogue){.count = 1, .stages = {{.op = two}}, .residual = other.value};
        if (fits(&other, node->outputs[0])) return true;
    }
    return node->op->channels_of || node->op == &gpu_op_stages || (node->op->as_stage && node->op->as_stage(node, own));
}

// Reads what a node computes as its output `output`. False: it is no function of single elements, or too long.
static bool read_steps(const struct gpu_node *node, const struct gpu_value *output, struct steps *steps)
{
    int number = 0;
    struct gpu_epilogue own = {0};
    *steps = (struct steps){.count = 0};
    if (node->dead || node->op->integers || output->codes) return false;
    if (node->op == &gpu_op_formula) {
        read_formula(node, steps);
        return true;
    }
    while (node->outputs[number] != output) number++;
    if (!read_own(node, number, &steps->x, &own) || !add_stages(steps, &own) || !add_stages(steps, &node->epilogue))
        return false;
    const struct operand residual = {node->epilogue.residual, 0};
    return fits(&steps->x, output) && (!residual.value || fits(&residual, output));
}

// ---- joining --------------------------------------------------------------------------------------------------------

// Lets x be a value that the first step reads, if it is not.
static bool turn_to(struct steps *steps, const struct operand *x)
{
    struct step *first = &steps->steps[0];
    if (is_same(&steps->x, x)) return steps->count > 0;
    if (steps->count == 0 || !is_same(&first->other, x) || first->keeps) return false;
    switch (first->op) {
    case GPU_EPI_ADD_VALUE:
    case GPU_EPI_MUL_VALUE: break;
    case GPU_EPI_SUB_VALUE: first->op = GPU_EPI_FROM_VALUE; break;
    case GPU_EPI_FROM_VALUE: first->op = GPU_EPI_SUB_VALUE; break;
    default: return false;
    }
    first->other = steps->x;
    steps->x = *x;
    return true;
}

// Puts `before`, which makes `between`, in front of the steps.
static bool put_before(struct steps *steps, const struct steps *before, const struct operand *between)
{
    bool again = false, kept = false;
    if (before->count + steps->count > GPU_FORMULA_STEPS || !turn_to(steps, between)) return false;
    for (int s = 0; s < steps->count; s++) {
        again = again || is_same(&steps->steps[s].other, between);
        kept = kept || steps->steps[s].of_kept;
    }
    if (again && kept) return false; // one value is kept at a time
    for (int s = 0; s < steps->count; s++) {
        if (!is_same(&steps->steps[s].other, between)) continue;
        steps->steps[s].other = (struct operand){NULL, 0};
        steps->steps[s].of_kept = true;
    }
    if (again) steps->steps[0].keeps = true;
    memmove(steps->steps + before->count, steps->steps, (size_t)steps->count * sizeof *steps->steps);
    memcpy(steps->steps, before->steps, (size_t)before->count * sizeof *steps->steps);
    steps->count += before->count;
    steps->x = before->x;
    return true;
}

// Lets an operand that is channels of `between` be those of what `between` is channels of.
static void look_through(struct operand *operand, const struct gpu_value *between, const struct operand *source)
{
    if (operand->value == between) *operand = (struct operand){source->value, source->channel + operand->channel};
}

static void read_instead(struct steps *steps, const struct gpu_value *between, const struct operand *source)
{
    look_through(&steps->x, between, source);
    for (int s = 0; s < steps->count; s++) look_through(&steps->steps[s].other, between, source);
}

// Makes the node a formula of these steps. False: they read too many values, or there is no memory.
static bool become(struct gpu_node *node, const struct steps *steps)
{
    struct gpu_formula formula = {.count = steps->count};
    struct operand values[GPU_FORMULA_VALUES] = {steps->x};
    int count = 1;
    for (int s = 0; s < steps->count; s++) {
        const struct step *step = &steps->steps[s];
        enum gpu_formula_other other = step->of_kept ? OF_KEPT : OF_NONE;
        if (step->other.value) {
            int i = 0;
            while (i < count && !is_same(&values[i], &step->other)) i++;
            if (i == GPU_FORMULA_VALUES) return false;
            if (i == count) values[count++] = step->other;
            other = (enum gpu_formula_other)(OF_X + i);
        }
        formula.steps[s] = (struct gpu_formula_step){step->op, step->a, step->b, other, step->keeps};
    }
    for (int i = 0; i < count; i++) formula.channel[i] = values[i].channel;
    if (!gpu_graph_set_params(node, &formula, sizeof formula)) return false;
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i]) node->inputs[i]->consumers--;
    if (node->epilogue.residual) node->epilogue.residual->consumers--;
    node->op = &gpu_op_formula;
    node->epilogue = (struct gpu_epilogue){0};
    node->input_count = 0;
    for (int i = 0; i < count; i++) gpu_graph_connect_input(node, values[i].value);
    return true;
}

// Whether nothing but the node reads the value.
static bool is_read_by_one(const struct gpu_value *value, const struct gpu_node *node)
{
    int reads = node->epilogue.residual == value;
    for (int i = 0; i < node->input_count; i++) reads += node->inputs[i] == value;
    return !value->is_output && !value->is_input && !value->data && value->consumers == reads;
}

// Joins the node and the one that makes a value that it reads.
static bool join(struct gpu_graph *graph, struct gpu_node *node, struct gpu_value *value)
{
    struct gpu_node *maker = value ? value->producer : NULL;
    const struct operand between = {value, 0};
    struct steps steps, before;
    if (!maker || node->output_count != 1 || !is_read_by_one(value, node) ||
        !read_steps(node, node->outputs[0], &steps) || steps.count == 0 || !read_steps(maker, value, &before))
        return false;
    if (before.count == 0)
        read_instead(&steps, value, &before.x);
    else if (!put_before(&steps, &before, &between))
        return false;
    if (!become(node, &steps)) return false;
    for (int i = 0; i < maker->output_count; i++)
        if (maker->outputs[i]->consumers || maker->outputs[i]->is_output) return true;
    gpu_graph_remove_node(graph, maker);
    return true;
}

bool gpu_pass_join_formulas(struct gpu_graph *graph)
{
    bool changed = false;
    for (int n = 0; n < graph->node_count; n++) {
        struct gpu_node *node = graph->nodes[n];
        for (bool joined = !node->dead; joined;) {
            joined = join(graph, node, node->epilogue.residual);
            for (int i = 0; i < node->input_count && !joined; i++) joined = join(graph, node, node->inputs[i]);
            changed = changed || joined;
        }
    }
    return changed;
}
