// SPDX-License-Identifier: Apache-2.0
// See custom_op.h. In: structs and calls of the application, all of them checked here. Out: what the library's own
// operators give: refusals of nodes, and dispatches, weights and scratch values of a plan.
#include "gpu/delegate/custom_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/delegate/custom_kernel.h"
#include "gpu/delegate/delegate.h"
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

enum {
    MAX_KERNELS = 64,
    MAX_NAME = 127,
    MAX_VECTORS = 1 << 27,
    FIRST_WEIGHTS = 1 << 30, // operands from here on are weights, those below values
};

struct custom_op {
    struct gpu_op op; // first
    HaliteGpuOp from; // its functions and data
    struct hl_arena arena;
};

struct HaliteGpuNode {
    const struct gpu_node_view *view;
};

struct HaliteGpuPlan {
    struct gpu_plan *plan;
    const struct gpu_node *node;
    int first_step;    // of the node
    int first_value;   // values from here on are scratch values of the node
    int first_weights; // weights from here on are the node's
    bool failed;
};

// ---- supported ----------------------------------------------------------------------------------

int32_t HaliteGpuNodeGetInputCount(const HaliteGpuNode *node)
{
    return node->view->node->inputs->size;
}

int32_t HaliteGpuNodeGetOutputCount(const HaliteGpuNode *node)
{
    return node->view->node->outputs->size;
}

const TfLiteTensor *HaliteGpuNodeGetInput(const HaliteGpuNode *node, int32_t index)
{
    return index >= 0 ? gpu_view_input(node->view, index) : NULL;
}

const TfLiteTensor *HaliteGpuNodeGetOutput(const HaliteGpuNode *node, int32_t index)
{
    return index >= 0 ? gpu_view_output(node->view, index) : NULL;
}

const void *HaliteGpuNodeGetOptions(const HaliteGpuNode *node, size_t *bytes)
{
    const TfLiteNode *from = node->view->node;
    bool any = from->custom_initial_data && from->custom_initial_data_size > 0;
    if (bytes) *bytes = any ? (size_t)from->custom_initial_data_size : 0;
    return any ? from->custom_initial_data : NULL;
}

int32_t HaliteGpuNodeGetVersion(const HaliteGpuNode *node)
{
    return node->view->registration->version;
}

static bool supported(const struct gpu_node_view *view)
{
    const struct custom_op *own = (const struct custom_op *)view->op;
    const HaliteGpuNode node = {view};
    char why[sizeof view->reason->text] = "";
    if (!own->from.supported || own->from.supported(own->from.data, &node, why, sizeof why)) return true;
    why[sizeof why - 1] = 0;
    return gpu_refuse(view, DELEGATE_PARAMETER, -1, "%s", why[0] ? why : "its supported function refuses the node");
}

// ---- what a plan function may ask ---------------------------------------------------------------

// Reports, and remembers the failure. Always false.
static bool fail(HaliteGpuPlan *plan, const char *format, ...) HL_PRINTF(2, 3);
static bool fail(HaliteGpuPlan *plan, const char *format, ...)
{
    char text[192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    plan->failed = true;
    return gpu_plan_fail(plan->plan, "%s", text);
}

int32_t HaliteGpuPlanGetInput(const HaliteGpuPlan *plan, int32_t index)
{
    const struct gpu_node *node = plan->node;
    return index >= 0 && index < node->input_count && node->inputs[index] ? node->inputs[index]->id : -1;
}

int32_t HaliteGpuPlanGetOutput(const HaliteGpuPlan *plan, int32_t index)
{
    const struct gpu_node *node = plan->node;
    return index >= 0 && index < node->output_count ? node->outputs[index]->id : -1;
}

static bool is_output(const HaliteGpuPlan *plan, const struct gpu_value *value)
{
    for (int i = 0; i < plan->node->output_count; i++)
        if (plan->node->outputs[i] == value) return true;
    return false;
}

// The value of an operand, if the node has anything to do with it; else NULL.
static struct gpu_value *value_of(const HaliteGpuPlan *plan, int32_t operand)
{
    const struct gpu_graph *graph = plan->plan->graph;
    if (operand < 0 || operand >= graph->value_count) return NULL;
    struct gpu_value *value = graph->values[operand];
    bool is_own = operand >= plan->first_value || is_output(plan, value);
    for (int i = 0; i < plan->node->input_count; i++) is_own = is_own || plan->node->inputs[i] == value;
    return is_own ? value : NULL;
}

bool HaliteGpuPlanGetShape(const HaliteGpuPlan *plan, int32_t operand, int32_t shape[4])
{
    const struct gpu_value *value = value_of(plan, operand);
    struct gpu_shape s = value ? value->shape : (struct gpu_shape){0, 0, 0, 0};
    const int32_t sizes[4] = {s.b, s.h, s.w, s.c};
    memcpy(shape, sizes, sizeof sizes);
    return value != NULL;
}

const float *HaliteGpuPlanGetConstant(const HaliteGpuPlan *plan, int32_t operand, size_t *count)
{
    const struct gpu_value *value = value_of(plan, operand);
    bool any = value && value->data;
    if (count) *count = any ? (size_t)gpu_elements(value->shape) : 0;
    return any ? value->data : NULL;
}

const void *HaliteGpuPlanGetOptions(const HaliteGpuPlan *plan, size_t *bytes)
{
    if (bytes) *bytes = plan->node->params_size;
    return plan->node->params;
}

int32_t HaliteGpuPlanAddScratch(HaliteGpuPlan *plan, const int32_t shape[4])
{
    struct gpu_shape wanted = {shape[0], shape[1], shape[2], shape[3]};
    bool fits = true;
    for (int i = 0; i < 4; i++) fits = fits && shape[i] >= 1 && shape[i] <= GPU_MAX_LENGTH;
    if (!fits || !gpu_extent_fits(wanted)) {
        fail(plan, "a scratch value of [%d, %d, %d, %d] is beyond what a device can count", wanted.b, wanted.h,
             wanted.w, wanted.c);
        return -1;
    }
    const struct gpu_value *value = gpu_plan_scratch(plan->plan, wanted);
    if (value) return value->id;
    plan->failed = true;
    return -1;
}

int32_t HaliteGpuPlanAddWeights(HaliteGpuPlan *plan, const float *elements, size_t vectors)
{
    if (vectors < 1 || vectors > MAX_VECTORS || !elements) {
        fail(plan, "%zu vectors of weights, expected 1 to %d", elements ? vectors : 0, (int)MAX_VECTORS);
        return -1;
    }
    struct gpu_weights *weights = gpu_plan_weights(plan->plan, vectors);
    plan->failed = plan->failed || !weights;
    if (!weights) return -1;
    memcpy(weights->data, elements, vectors * 4 * sizeof *elements);
    return FIRST_WEIGHTS + plan->plan->weight_count - 1;
}

// ---- dispatches ---------------------------------------------------------------------------------

// Whether an earlier dispatch of the node writes the value.
static bool is_written(const HaliteGpuPlan *plan, const struct gpu_value *value)
{
    for (int s = plan->first_step; s < plan->plan->step_count; s++) {
        const struct gpu_plan_step *step = &plan->plan->steps[s];
        for (int i = 0; i < step->operand_count; i++)
            if (step->operands[i].value == value && step->kernel->args[i].kind == GPU_OUT) return true;
    }
    return false;
}

static bool set_weights(HaliteGpuPlan *plan, const struct gpu_kernel *kernel, int i, int32_t operand,
                        struct gpu_dispatch_desc *desc)
{
    int number = operand - FIRST_WEIGHTS;
    if (number < plan->first_weights || number >= plan->plan->weight_count)
        return fail(plan, "argument %s of kernel %s gets operand %d, which is none of the node's weights",
                    kernel->args[i].name, kernel->name, (int)operand);
    desc->operands[i].weights = plan->plan->weights[number];
    return true;
}

static bool set_value(HaliteGpuPlan *plan, const struct gpu_kernel *kernel, int i, int32_t operand,
                      struct gpu_dispatch_desc *desc)
{
    const char *name = kernel->args[i].name;
    struct gpu_value *value = value_of(plan, operand);
    if (!value)
        return fail(plan, "argument %s of kernel %s gets operand %d, which is no value of the node", name, kernel->name,
                    (int)operand);
    bool scratch = value->id >= plan->first_value, output = is_output(plan, value);
    if (kernel->args[i].kind == GPU_OUT) {
        if (!scratch && !output)
            return fail(plan, "kernel %s would write an input of the node through argument %s", kernel->name, name);
    } else if ((scratch || output) && !is_written(plan, value)) {
        return fail(plan, "kernel %s reads argument %s before a dispatch has written it", kernel->name, name);
    }
    for (int k = 0; k < i; k++) // two outputs, or an input and an output, in one
        if (desc->operands[k].value == value && (kernel->args[k].kind == GPU_OUT || kernel->args[i].kind == GPU_OUT))
            return fail(plan, "kernel %s gets one value for %s and %s", kernel->name, kernel->args[k].name, name);
    desc->operands[i].value = value;
    return true;
}

static bool set_operands(HaliteGpuPlan *plan, const HaliteGpuDispatch *from, struct gpu_dispatch_desc *desc)
{
    const struct gpu_kernel *kernel = desc->kernel;
    int count = gpu_kernel_arg_count(kernel);
    if (from->operand_count != count || !from->operands)
        return fail(plan, "kernel %s gets %d operands, it has %d arguments", kernel->name,
                    from->operands ? (int)from->operand_count : 0, count);
    for (int i = 0; i < count; i++) {
        bool weights = kernel->args[i].kind == GPU_WEIGHTS;
        bool ok = weights ? set_weights(plan, kernel, i, from->operands[i], desc)
                          : set_value(plan, kernel, i, from->operands[i], desc);
        if (!ok) return false;
    }
    return true;
}

static bool set_numbers(HaliteGpuPlan *plan, const HaliteGpuDispatch *from, struct gpu_dispatch_desc *desc)
{
    const char *name = desc->kernel->name;
    int params = 0;
    while (desc->kernel->params[params]) params++;
    if (from->params && from->param_count != params)
        return fail(plan, "kernel %s gets %d parameters, it has %d", name, (int)from->param_count, params);
    for (int i = 0; from->params && i < params; i++) memcpy(desc->params[i], from->params[i], sizeof desc->params[i]);
    if (from->constant_count < 0 || from->constant_count > GPU_CUSTOM_CONSTANTS ||
        (from->constant_count > 0 && !from->constants))
        return fail(plan, "kernel %s gets %d constants, expected 0 to %d in a list", name, (int)from->constant_count,
                    (int)GPU_CUSTOM_CONSTANTS);
    for (int i = 0; i < from->constant_count; i++) {
        if (!from->constants[i].name) return fail(plan, "kernel %s gets a constant without a name", name);
        desc->constants[i] = (struct gpu_setting){from->constants[i].name, from->constants[i].value};
    }
    return true;
}

// The work of position(), unless the application says another.
static bool set_grid(HaliteGpuPlan *plan, const HaliteGpuDispatch *from, struct gpu_dispatch_desc *desc)
{
    const struct gpu_kernel *kernel = desc->kernel;
    const struct gpu_caps *caps = plan->plan->caps;
    int64_t size = 1;
    for (int i = 0; i < 3; i++) {
        int group = from->group[i] ? from->group[i] : kernel->group[i];
        if (group < 1 || group > caps->max_group[i] || from->grid[i] < 0)
            return fail(plan, "kernel %s on axis %d: a work-group of %d, a grid of %d, the device allows groups of %d",
                        kernel->name, i, group, (int)from->grid[i], caps->max_group[i]);
        desc->group[i] = group;
        desc->grid[i] = from->grid[i];
        size *= group;
    }
    if (size > caps->max_group_size)
        return fail(plan, "kernel %s has work-groups of %lld, the device allows %d", kernel->name, (long long)size,
                    caps->max_group_size);
    if (from->grid[0] || from->grid[1] || from->grid[2]) return true;
    int first = 0;
    while (kernel->args[first].kind != GPU_OUT) first++; // there is one
    gpu_grid_over(desc, desc->operands[first].value->shape);
    return true;
}

bool HaliteGpuPlanAddDispatch(HaliteGpuPlan *plan, const HaliteGpuDispatch *from)
{
    const struct custom_op *own = (const struct custom_op *)plan->node->op;
    if (plan->failed) return false; // the first message is enough
    if (!from || from->struct_size < sizeof *from)
        return fail(plan, "struct_size is less than sizeof(HaliteGpuDispatch)");
    if (from->kernel < 0 || from->kernel >= own->from.kernel_count)
        return fail(plan, "there is no kernel %d", (int)from->kernel);
    struct gpu_dispatch_desc desc = {.kernel = own->op.kernels[from->kernel]};
    bool ok = set_operands(plan, from, &desc) && set_numbers(plan, from, &desc) && set_grid(plan, from, &desc) &&
              gpu_plan_dispatch(plan->plan, &desc);
    plan->failed = plan->failed || !ok;
    return ok;
}

static bool plan_node(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct custom_op *own = (const struct custom_op *)node->op;
    HaliteGpuPlan asked = {
        .plan = plan,
        .node = node,
        .first_step = plan->step_count,
        .first_value = plan->graph->value_count,
        .first_weights = plan->weight_count,
    };
    bool ok = own->from.plan(own->from.data, &asked);
    if (asked.failed) return false;
    if (!ok) return fail(&asked, "its plan function has failed");
    for (int i = 0; i < node->output_count; i++)
        if (!is_written(&asked, node->outputs[i])) return fail(&asked, "no dispatch writes output %d", i);
    return true;
}

// ---- operators ----------------------------------------------------------------------------------

void gpu_custom_ops_free(const struct gpu_op *list)
{
    while (list) {
        struct custom_op *own = (struct custom_op *)list;
        list = list->next;
        hl_arena_clear(&own->arena);
        free(own);
    }
}

static bool check_op(const HaliteGpuOp *from, struct gpu_problem *problem)
{
    if (from->struct_size < sizeof *from)
        return gpu_set_problem(problem, "struct_size is less than sizeof(HaliteGpuOp)");
    size_t length = 0;
    while (from->name && length <= MAX_NAME && from->name[length]) length++;
    if (length == 0 || length > MAX_NAME)
        return gpu_set_problem(problem, "the name is to have 1 to %d bytes", (int)MAX_NAME);
    int most = from->input_max ? from->input_max : from->input_min;
    if (from->input_min < 1 || most < from->input_min || most > GPU_NODE_INPUTS)
        return gpu_set_problem(problem, "input_min %d and input_max %d are to be within 1 to %d", (int)from->input_min,
                               (int)from->input_max, (int)GPU_NODE_INPUTS);
    if (from->output_count < 0 || from->output_count > GPU_NODE_OUTPUTS)
        return gpu_set_problem(problem, "output_count is %d, expected 0 to %d", (int)from->output_count,
                               (int)GPU_NODE_OUTPUTS);
    if (from->max_version < 0) return gpu_set_problem(problem, "max_version is %d", (int)from->max_version);
    if (from->kernel_count < 1 || from->kernel_count > MAX_KERNELS || !from->kernels)
        return gpu_set_problem(problem, "kernel_count is %d, expected 1 to %d in a list", (int)from->kernel_count,
                               (int)MAX_KERNELS);
    return from->plan || gpu_set_problem(problem, "there is no plan function");
}

static bool copy_kernels(struct custom_op *own, const HaliteGpuOp *from, struct gpu_problem *problem)
{
    size_t room = (size_t)from->kernel_count + 1;
    const struct gpu_kernel **list = hl_arena_array(&own->arena, room, sizeof *list, sizeof(void *));
    if (!list) return gpu_set_problem(problem, "out of memory");
    for (int i = 0; i < from->kernel_count; i++) {
        struct gpu_problem inner = {""};
        if (!(list[i] = gpu_custom_kernel(&from->kernels[i], &own->arena, &inner)))
            return gpu_set_problem(problem, "kernel %d: %.160s", i, inner.text);
        for (int k = 0; k < i; k++)
            if (strcmp(list[k]->name, list[i]->name) == 0)
                return gpu_set_problem(problem, "kernels %d and %d have one name", k, i);
    }
    own->op.kernels = list;
    return true;
}

static struct custom_op *create(const HaliteGpuOp *from, struct gpu_problem *problem)
{
    struct custom_op *own = check_op(from, problem) ? calloc(1, sizeof *own) : NULL;
    if (!own) {
        if (!problem->text[0]) gpu_set_problem(problem, "out of memory");
        return NULL;
    }
    hl_arena_init(&own->arena, SIZE_MAX);
    own->from = *from;
    own->op = (struct gpu_op){
        .name = gpu_copy_text(&own->arena, from->name, strlen(from->name), problem),
        .max_version = from->max_version ? from->max_version : 1,
        .operands = {.inputs = {(signed char)from->input_min, (signed char)from->input_max},
                     .outputs = (signed char)from->output_count},
        .supported = supported,
        .plan = plan_node,
        .bytes = GPU_BYTES_COMPUTED,
        .keeps_options = true,
    };
    if (own->op.name && copy_kernels(own, from, problem)) return own;
    gpu_custom_ops_free(&own->op);
    return NULL;
}

TfLiteStatus HaliteDelegateAddGpuOp(TfLiteDelegate *delegate, const HaliteGpuOp *op)
{
    const struct gpu_delegate *own = gpu_delegate_of(delegate);
    struct gpu_problem problem = {""};
    struct custom_op *made = NULL;
    if (!own)
        gpu_set_problem(&problem, "the delegate is none of Halite's GPU delegates");
    else if (!op)
        gpu_set_problem(&problem, "there is no operator");
    else
        made = create(op, &problem);
    if (made) {
        struct gpu_engine *engine = own->engine;
        gpu_engine_enter(engine, NULL, "Add");
        for (const struct gpu_op *other = engine->custom_ops; other; other = other->next)
            if (strcmp(other->name, made->op.name) == 0) gpu_set_problem(&problem, "it is there already");
        if (!problem.text[0]) {
            made->op.next = engine->custom_ops;
            engine->custom_ops = &made->op;
        }
        gpu_engine_leave(engine);
    }
    if (!problem.text[0]) return kTfLiteOk;
    if (made) gpu_custom_ops_free(&made->op);
    hl_report(NULL, "cannot add GPU operator \"%.127s\": %s", op && op->name ? op->name : "", problem.text);
    return kTfLiteError;
}
