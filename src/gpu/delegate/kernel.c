// SPDX-License-Identifier: Apache-2.0
// A claimed partition as a node of the runtime. init builds the graph, runs the passes, makes the plan and records the
// list. invoke copies inputs to the device, runs the list and copies outputs back. Tensors of types that the device
// cannot read are converted through a buffer of floats.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/delegate/delegate.h"
#include "gpu/delegate/disk_cache.h"
#include "gpu/delegate/refuse.h"
#include "gpu/graph/build.h"
#include "gpu/graph/convert.h"
#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "gpu/plan/plan.h"

// An input or output, or a constant that is an output.
struct binding {
    const struct gpu_value *value;
    int tensor;
    float *floats; // the converted tensor; NULL if the runner uses the memory of the tensor itself
};

struct kernel {
    struct gpu_engine *engine;
    struct gpu_graph *graph;
    struct gpu_plan *plan;
    struct gpu_runner *runner; // NULL if all outputs are constants
    struct binding *inputs, *outputs, *constants;
    int input_count, output_count, constant_count;
    const void **from; // the arguments of the runner, filled in by each run
    void **to;
    struct gpu_profile profile;
    struct gpu_checks checks;
};

// ---- init ---------------------------------------------------------------------------------------

static void destroy_parts(struct kernel *kernel)
{
    gpu_profile_end(&kernel->engine->profiles, &kernel->profile);
    gpu_runner_destroy(kernel->runner);
    gpu_plan_destroy(kernel->plan);
    gpu_graph_destroy(kernel->graph);
    for (int i = 0; kernel->inputs && i < kernel->input_count; i++) free(kernel->inputs[i].floats);
    for (int i = 0; kernel->outputs && i < kernel->output_count; i++) free(kernel->outputs[i].floats);
    free(kernel->inputs);
    free(kernel->outputs);
    free(kernel->constants);
    free(kernel->from);
    free(kernel->to);
    gpu_checks_end(&kernel->checks);
}

static bool bind(const TfLiteContext *context, const struct gpu_value *value, struct binding *binding)
{
    *binding = (struct binding){.value = value, .tensor = value->tensor};
    if (value->is_checked)
        binding->tensor = -1;
    else if (context->tensors[value->tensor].type == kTfLiteFloat32 || gpu_caller_has_bytes(value))
        return true;
    binding->floats = malloc((size_t)gpu_elements(value->shape) * sizeof *binding->floats);
    return binding->floats != NULL;
}

// Whether the value is a constant that the runtime expects as an output and does not hold itself.
static bool is_constant_output(const TfLiteContext *context, const struct gpu_value *value,
                               const TfLiteIntArray *outputs)
{
    for (int i = 0; value->data && i < outputs->size; i++)
        if (outputs->data[i] == value->tensor) return !hl_is_constant(&context->tensors[value->tensor]);
    return false;
}

// Binds inputs and outputs in the order of the graph's values, as gpu_runner_run expects them.
static bool bind_values(struct kernel *kernel, const TfLiteContext *context, const TfLiteIntArray *outputs)
{
    const struct gpu_graph *graph = kernel->graph;
    size_t room = (size_t)graph->value_count + 1;
    kernel->inputs = calloc(room, sizeof *kernel->inputs);
    kernel->outputs = calloc(room, sizeof *kernel->outputs);
    kernel->constants = calloc(room, sizeof *kernel->constants);
    kernel->from = calloc(room, sizeof *kernel->from);
    kernel->to = calloc(room, sizeof *kernel->to);
    bool ok = kernel->inputs && kernel->outputs && kernel->constants && kernel->from && kernel->to;
    for (int v = 0; v < graph->value_count && ok; v++) {
        const struct gpu_value *value = graph->values[v];
        if (value->is_input) ok = bind(context, value, &kernel->inputs[kernel->input_count++]);
        if (value->is_output) ok = ok && bind(context, value, &kernel->outputs[kernel->output_count++]);
        if (is_constant_output(context, value, outputs))
            kernel->constants[kernel->constant_count++] = (struct binding){.value = value, .tensor = value->tensor};
    }
    if (!ok) hl_report(&kernel->engine->reporter, "out of memory");
    return ok;
}

// Frees the constants on the host, of which the device has copies, except those that are outputs.
static void drop_weights(struct kernel *kernel)
{
    for (int v = 0; v < kernel->graph->value_count; v++) {
        struct gpu_value *value = kernel->graph->values[v];
        bool wanted = false;
        for (int i = 0; i < kernel->constant_count; i++) wanted = wanted || kernel->constants[i].value == value;
        if (wanted) continue;
        free(value->data);
        value->data = NULL;
    }
}

static bool start_profile(struct kernel *kernel, const struct gpu_delegate *delegate,
                          const TfLiteDelegateParams *params)
{
    const struct delegate_graph *graph = delegate_report_latest(&delegate->base.report);
    kernel->profile.graph = graph->number;
    for (int i = 0; i < graph->count; i++)
        if (graph->rows[i].node == params->nodes_to_replace->data[0])
            kernel->profile.partition = graph->rows[i].partition;
    if (gpu_profile_begin(&kernel->engine->profiles, &kernel->profile, kernel->plan)) return true;
    hl_report(&kernel->engine->reporter, "out of memory");
    return false;
}

static bool build(struct kernel *kernel, TfLiteContext *context, const struct gpu_delegate *delegate,
                  const TfLiteDelegateParams *params)
{
    struct gpu_engine *engine = kernel->engine;
    if (!gpu_engine_open(engine)) return false;
    struct gpu_partition partition = {
        .context = context,
        .nodes = params->nodes_to_replace,
        .outputs = params->output_tensors,
        .source = delegate->base.source,
        .source_count = delegate->base.source_count,
        .precision = engine->precision,
    };
    kernel->graph = gpu_graph_build(&partition, &engine->reporter);
    if (!kernel->graph) return false;
    gpu_run_passes(kernel->graph);
    if (!gpu_checks_begin(&kernel->checks, kernel->graph)) {
        hl_report(&engine->reporter, "out of memory");
        return false;
    }
    if (!bind_values(kernel, context, params->output_tensors)) return false;
    if (kernel->output_count == 0) return true;
    const struct gpu_backend *backend = engine->info.backend;
    struct gpu_device *device = engine->device;
    kernel->plan = gpu_plan_create(kernel->graph, backend->caps(device), engine->precision,
                                   engine->options.prefer_memory ? 0 : GPU_FLOAT_ELEMENTS);
    if (!kernel->plan) return false;
    struct gpu_disk_cache cache;
    gpu_disk_cache_begin(&cache, engine, kernel->plan);
    kernel->runner = gpu_runner_create(kernel->plan, backend, device);
    gpu_disk_cache_end(&cache, engine, kernel->runner != NULL);
    if (!kernel->runner) return false;
    drop_weights(kernel);
    return start_profile(kernel, delegate, params);
}

// Marks these nodes as failed in the report, with the last error as their reason. Called between enter and leave.
static void mark_failed(const struct gpu_delegate *delegate, const TfLiteIntArray *nodes)
{
    const struct delegate_graph *graph = delegate_report_latest(&delegate->base.report);
    for (int i = 0; i < nodes->size; i++)
        for (int r = 0; r < graph->count; r++) {
            struct delegate_reason *reason = &graph->rows[r].reason;
            if (graph->rows[r].node != nodes->data[i]) continue;
            reason->code = DELEGATE_DEVICE;
            snprintf(reason->text, sizeof reason->text, "%s", delegate->engine->last_error);
        }
}

void *gpu_kernel_create(struct delegate *base, TfLiteContext *context, const TfLiteDelegateParams *params)
{
    const struct gpu_delegate *delegate = (struct gpu_delegate *)base;
    struct kernel *kernel = calloc(1, sizeof *kernel);
    gpu_engine_enter(delegate->engine, context, "Init");
    bool ok = kernel != NULL;
    if (ok) {
        kernel->engine = delegate->engine;
        ok = build(kernel, context, delegate, params);
        if (!ok) destroy_parts(kernel);
    } else {
        hl_report(&delegate->engine->reporter, "out of memory");
    }
    if (!ok) mark_failed(delegate, params->nodes_to_replace);
    gpu_engine_leave(delegate->engine);
    if (ok) {
        gpu_engine_retain(delegate->engine);
        return kernel;
    }
    free(kernel);
    return NULL;
}

void gpu_kernel_destroy(void *own)
{
    struct kernel *kernel = own;
    struct gpu_engine *engine = kernel->engine;
    gpu_engine_enter(engine, NULL, "Free"); // parts of the runtime may already be freed: messages go to standard error
    destroy_parts(kernel);
    gpu_engine_leave(engine);
    free(kernel);
    gpu_engine_release(engine);
}

// ---- prepare ------------------------------------------------------------------------------------

static TfLiteStatus check_shape(TfLiteContext *context, const struct binding *binding)
{
    if (binding->tensor < 0) return kTfLiteOk;
    const TfLiteTensor *tensor = &context->tensors[binding->tensor];
    const struct gpu_value *value = binding->value;
    bool same = tensor->dims && tensor->dims->size == value->rank;
    for (int i = 0; i < value->rank && i < 8 && same; i++) same = tensor->dims->data[i] == value->dims[i];
    if (same) return kTfLiteOk;
    context->ReportError(context,
                         "TfLiteGpuDelegate Prepare: tensor %s has another shape than when the delegate was applied",
                         tensor->name ? tensor->name : "(no name)");
    return kTfLiteError;
}

TfLiteStatus gpu_kernel_prepare(void *own, TfLiteContext *context, TfLiteNode *node)
{
    (void)node;
    const struct kernel *kernel = own;
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < kernel->input_count && status == kTfLiteOk; i++)
        status = check_shape(context, &kernel->inputs[i]);
    for (int i = 0; i < kernel->output_count && status == kTfLiteOk; i++)
        status = check_shape(context, &kernel->outputs[i]);
    return status;
}

// ---- invoke -------------------------------------------------------------------------------------

static bool complain(struct kernel *kernel, const TfLiteTensor *tensor, const char *problem)
{
    hl_report(&kernel->engine->reporter, "tensor %s %s", tensor->name ? tensor->name : "(no name)", problem);
    return false;
}

static bool has_room(const TfLiteTensor *tensor, const struct binding *binding)
{
    return tensor->data.raw && tensor->bytes >= gpu_caller_bytes(binding->value);
}

static bool gather_inputs(struct kernel *kernel, const TfLiteContext *context)
{
    for (int i = 0; i < kernel->input_count; i++) {
        const struct binding *binding = &kernel->inputs[i];
        const TfLiteTensor *tensor = &context->tensors[binding->tensor];
        if (binding->floats ? !gpu_floats_from(tensor, binding->floats) : !has_room(tensor, binding))
            return complain(kernel, tensor, "has no memory");
        kernel->from[i] = binding->floats ? (const void *)binding->floats : tensor->data.raw;
    }
    return true;
}

static bool locate_outputs(struct kernel *kernel, const TfLiteContext *context)
{
    for (int i = 0; i < kernel->output_count; i++) {
        const struct binding *binding = &kernel->outputs[i];
        kernel->to[i] = binding->floats;
        if (binding->floats) continue;
        const TfLiteTensor *tensor = &context->tensors[binding->tensor];
        if (!has_room(tensor, binding)) return complain(kernel, tensor, "has no memory");
        kernel->to[i] = tensor->data.raw;
    }
    return true;
}

static bool scatter_outputs(struct kernel *kernel, const TfLiteContext *context)
{
    for (int i = 0; i < kernel->output_count; i++) {
        const struct binding *binding = &kernel->outputs[i];
        if (binding->tensor < 0) continue;
        TfLiteTensor *tensor = &context->tensors[binding->tensor];
        if (binding->floats && !gpu_floats_to(binding->floats, tensor))
            return complain(kernel, tensor, "has no memory");
    }
    for (int i = 0; i < kernel->constant_count; i++) {
        TfLiteTensor *tensor = &context->tensors[kernel->constants[i].tensor];
        if (!gpu_floats_to(kernel->constants[i].value->data, tensor)) return complain(kernel, tensor, "has no memory");
    }
    return true;
}

static bool run(struct kernel *kernel)
{
    const struct gpu_profiles *profiles = &kernel->engine->profiles;
    if (!kernel->runner) return true;
    if (!gpu_runner_run(kernel->runner, kernel->from, kernel->to, profiles->on ? kernel->profile.last : NULL))
        return false;
    if (profiles->on) gpu_profile_add(profiles, &kernel->profile);
    return true;
}

static bool check_values(const struct kernel *kernel)
{
    const struct hl_reporter *reporter = &kernel->engine->reporter;
    bool ok = true;
    for (int i = 0; i < kernel->input_count && ok; i++)
        ok = gpu_checks_hold(&kernel->checks, kernel->inputs[i].value, kernel->from[i], reporter);
    for (int i = 0; i < kernel->output_count && ok; i++)
        ok = gpu_checks_hold(&kernel->checks, kernel->outputs[i].value, kernel->to[i], reporter);
    return ok;
}

TfLiteStatus gpu_kernel_invoke(void *own, TfLiteContext *context, TfLiteNode *node)
{
    (void)node;
    struct kernel *kernel = own;
    gpu_engine_enter(kernel->engine, context, "Invoke");
    bool ok = gather_inputs(kernel, context) && locate_outputs(kernel, context) && run(kernel) &&
              check_values(kernel) && scatter_outputs(kernel, context);
    gpu_engine_leave(kernel->engine);
    return ok ? kTfLiteOk : kTfLiteError;
}
