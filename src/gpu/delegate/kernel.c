// SPDX-License-Identifier: Apache-2.0
// A claimed partition as a node of the runtime. init builds the graph, runs the passes, makes the plan and records the
// list. invoke copies inputs to the device and runs the list. Outputs stay on the device until the runtime asks for
// them, except those that the host must see at once.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/delegate/delegate.h"
#include "gpu/delegate/disk_cache.h"
#include "gpu/delegate/part.h"
#include "gpu/delegate/tuning_file.h"
#include "gpu/graph/build.h"
#include "gpu/graph/convert.h"
#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "gpu/graph/quantize.h"

// ---- init ---------------------------------------------------------------------------------------

static void end_port(const struct gpu_part *part, struct gpu_port *port)
{
    const struct gpu_engine *engine = part->engine;
    if (port->application) engine->info.backend->buffer_destroy(engine->device, port->application);
    if (port->aside) engine->info.backend->buffer_destroy(engine->device, port->aside);
    gpu_port_end(port);
}

// Frees everything but the struct itself.
static void end_part(struct gpu_part *part)
{
    gpu_lend_end(part);
    gpu_buffers_end(part);
    gpu_profile_end(&part->engine->profiles, &part->profile);
    gpu_runner_destroy(part->runner);
    gpu_plan_destroy(part->plan);
    gpu_graph_destroy(part->graph);
    for (int i = 0; part->inputs && i < part->input_count; i++) end_port(part, &part->inputs[i]);
    for (int i = 0; part->outputs && i < part->output_count; i++) end_port(part, &part->outputs[i]);
    free(part->inputs);
    free(part->outputs);
    free(part->constants);
    free(part->from);
    free(part->to);
    gpu_checks_end(&part->checks);
}

// Whether the value is a constant that the runtime expects as an output and does not hold itself.
static bool is_constant_output(const TfLiteContext *context, const struct gpu_value *value,
                               const TfLiteIntArray *outputs)
{
    for (int i = 0; value->data && i < outputs->size; i++)
        if (outputs->data[i] == value->tensor) return !hl_is_constant(&context->tensors[value->tensor]);
    return false;
}

// An output stays on the device unless the host checks it, or it is a variable, whose value the next run takes from the
// tensor.
static void keep_output(struct gpu_part *part, struct gpu_port *port)
{
    port->is_kept = port->tensor >= 0 && !port->value->is_input && !gpu_checks_concern(&part->checks, port->value);
    if (port->is_kept) port->handle = ++part->engine->buffers.last_handle;
}

// Finds the node of an input's tensor that stays on the CPU.
static void find_reader(struct gpu_port *port, TfLiteContext *context, const struct delegate_graph *graph)
{
    for (int r = 0; r < graph->count; r++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        if (graph->rows[r].reason.code == DELEGATE_OK || graph->rows[r].reason.code == DELEGATE_FOLDED ||
            context->GetNodeAndRegistration(context, graph->rows[r].node, &node, &registration) != kTfLiteOk)
            continue;
        for (int i = 0; i < node->inputs->size; i++)
            if (node->inputs->data[i] == port->tensor) port->reader = graph->rows[r].node;
    }
}

// Makes ports of inputs and outputs in the order of the graph's values, as gpu_runner_run expects them.
static bool make_ports(struct gpu_part *part, TfLiteContext *context, const TfLiteIntArray *outputs,
                       const struct delegate_graph *rows)
{
    const struct gpu_graph *graph = part->graph;
    size_t room = (size_t)graph->value_count + 1;
    part->inputs = calloc(room, sizeof *part->inputs);
    part->outputs = calloc(room, sizeof *part->outputs);
    part->constants = calloc(room, sizeof *part->constants);
    part->from = calloc(room, sizeof *part->from);
    part->to = calloc(room, sizeof *part->to);
    bool ok = part->inputs && part->outputs && part->constants && part->from && part->to;
    for (int v = 0; v < graph->value_count && ok; v++) {
        const struct gpu_value *value = graph->values[v];
        struct gpu_port *input = &part->inputs[part->input_count], *output = &part->outputs[part->output_count];
        if (value->is_input) {
            ok = gpu_port_begin(input, value, context);
            find_reader(input, context, rows);
            part->input_count++;
        }
        if (value->is_output && ok) {
            ok = gpu_port_begin(output, value, context);
            keep_output(part, output);
            part->output_count++;
        }
        if (is_constant_output(context, value, outputs))
            part->constants[part->constant_count++] = (struct gpu_port){.value = value, .tensor = value->tensor};
    }
    if (!ok) hl_report(&part->engine->reporter, "out of memory");
    return ok;
}

// Frees the constants on the host, of which the device has copies, except those that are outputs.
static void drop_weights(struct gpu_part *part)
{
    for (int v = 0; v < part->graph->value_count; v++) {
        struct gpu_value *value = part->graph->values[v];
        bool wanted = false;
        for (int i = 0; i < part->constant_count; i++) wanted = wanted || part->constants[i].value == value;
        if (wanted) continue;
        free(value->data);
        value->data = NULL;
    }
}

static bool start_profile(struct gpu_part *part, const struct gpu_delegate *delegate,
                          const TfLiteDelegateParams *params)
{
    const struct delegate_graph *graph = delegate_report_latest(&delegate->base.report);
    part->profile.graph = graph->number;
    for (int i = 0; i < graph->count; i++)
        if (graph->rows[i].node == params->nodes_to_replace->data[0])
            part->profile.partition = graph->rows[i].partition;
    if (gpu_profile_begin(&part->engine->profiles, &part->profile, part->plan)) return true;
    hl_report(&part->engine->reporter, "out of memory");
    return false;
}

static bool build(struct gpu_part *part, TfLiteContext *context, const struct gpu_delegate *delegate,
                  const TfLiteDelegateParams *params)
{
    struct gpu_engine *engine = part->engine;
    if (!gpu_engine_open(engine)) return false;
    struct gpu_partition partition = {
        .context = context,
        .nodes = params->nodes_to_replace,
        .outputs = params->output_tensors,
        .source = delegate->base.source,
        .source_count = delegate->base.source_count,
        .precision = engine->precision,
        .custom_ops = engine->custom_ops,
        .exact_integers = engine->options.exact_integers,
    };
    part->graph = gpu_graph_build(&partition, &engine->reporter);
    if (!part->graph) return false;
    int first_batch = gpu_engine_first_batch(engine, gpu_graph_hash(part->graph), gpu_graph_batch(part->graph));
    gpu_run_passes(part->graph);
    if (!gpu_checks_begin(&part->checks, part->graph)) {
        hl_report(&engine->reporter, "out of memory");
        return false;
    }
    gpu_buffers_choose_formats(part);
    if (engine->precision == GPU_F32 && !gpu_graph_use_whole_numbers(part->graph)) {
        hl_report(&engine->reporter, "out of memory");
        return false;
    }
    if (!make_ports(part, context, params->output_tensors, delegate_report_latest(&delegate->base.report)))
        return false;
    if (part->output_count == 0) return true;
    part->plan =
        gpu_plan_create(part->graph, engine->info.backend->caps(engine->device), &engine->tuning, engine->precision,
                        engine->options.prefer_memory ? 0 : GPU_FLOAT_ELEMENTS, first_batch);
    if (!part->plan) return false;
    struct gpu_disk_cache cache = {.path = NULL};
    if (!engine->options.tune) gpu_disk_cache_begin(&cache, engine, part->plan); // programs of trials are not kept
    part->runner = gpu_runner_create(part->plan, &engine->programs);
    gpu_disk_cache_end(&cache, engine, part->runner);
    if (!part->runner) return false;
    drop_weights(part);
    return start_profile(part, delegate, params) && gpu_buffers_begin(part);
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
    struct gpu_part *part = calloc(1, sizeof *part);
    gpu_engine_enter(delegate->engine, context, "Init");
    bool ok = part != NULL;
    if (ok) {
        part->engine = delegate->engine;
        part->context = context;
        ok = build(part, context, delegate, params);
        if (!ok) end_part(part);
    } else {
        hl_report(&delegate->engine->reporter, "out of memory");
    }
    if (!ok) mark_failed(delegate, params->nodes_to_replace);
    gpu_engine_leave(delegate->engine);
    if (ok) {
        gpu_engine_retain(delegate->engine);
        return part;
    }
    free(part);
    return NULL;
}

// So that the runtime does not ask the delegate to free them, which a program may have deleted before the interpreter.
static void forget_handles(const struct gpu_part *part)
{
    for (int i = 0; i < part->output_count; i++) {
        const struct gpu_port *port = &part->outputs[i];
        TfLiteTensor *tensor = port->is_kept ? &part->context->tensors[port->tensor] : NULL;
        if (tensor && tensor->buffer_handle == port->handle) tensor->buffer_handle = kTfLiteNullBufferHandle;
    }
}

void gpu_kernel_destroy(void *own)
{
    struct gpu_part *part = own;
    struct gpu_engine *engine = part->engine;
    gpu_async_destroy(part->async);
    forget_handles(part);
    gpu_engine_enter(engine, NULL, "Free"); // parts of the runtime may already be freed: messages go to standard error
    gpu_tuning_file_save(engine);
    end_part(part);
    gpu_engine_leave(engine);
    free(part);
    gpu_engine_release(engine);
}

// ---- prepare ------------------------------------------------------------------------------------

static TfLiteStatus check_shape(TfLiteContext *context, const struct gpu_port *port)
{
    if (port->tensor < 0) return kTfLiteOk;
    const TfLiteTensor *tensor = &context->tensors[port->tensor];
    const struct gpu_value *value = port->value;
    bool same = tensor->dims && tensor->dims->size == value->rank;
    for (int i = 0; i < value->rank && i < GPU_MAX_RANK && same; i++) same = tensor->dims->data[i] == value->dims[i];
    if (same) return kTfLiteOk;
    context->ReportError(context,
                         "TfLiteGpuDelegate Prepare: tensor %s has another shape than when the delegate was applied",
                         tensor->name ? tensor->name : "(no name)");
    return kTfLiteError;
}

// A graph is prepared when all of its partitions have been made.
static bool outputs_have_handles(struct gpu_part *part, const TfLiteContext *context, const TfLiteNode *node)
{
    for (int i = 0; i < part->output_count; i++) {
        struct gpu_port *port = &part->outputs[i];
        TfLiteTensor *tensor = port->is_kept ? &context->tensors[port->tensor] : NULL;
        if (!tensor) continue;
        if (tensor->delegate == node->delegate && node->delegate->CopyFromBufferHandle)
            tensor->buffer_handle = port->handle;
        else
            port->is_kept = false; // this runtime would not ask for it
    }
    return gpu_buffers_are_used(part);
}

TfLiteStatus gpu_kernel_prepare(void *own, TfLiteContext *context, TfLiteNode *node)
{
    struct gpu_part *part = own;
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < part->input_count && status == kTfLiteOk; i++) status = check_shape(context, &part->inputs[i]);
    for (int i = 0; i < part->output_count && status == kTfLiteOk; i++)
        status = check_shape(context, &part->outputs[i]);
    if (status != kTfLiteOk) return status;
    gpu_engine_enter(part->engine, context, "Prepare");
    bool ok = outputs_have_handles(part, context, node);
    if (ok) gpu_lend(part);
    gpu_engine_leave(part->engine);
    return ok ? kTfLiteOk : kTfLiteError;
}

// ---- invoke -------------------------------------------------------------------------------------

static bool gather_inputs(struct gpu_part *part, const TfLiteContext *context, const TfLiteNode *node)
{
    for (int i = 0; i < part->input_count; i++) {
        struct gpu_port *port = &part->inputs[i];
        TfLiteTensor *tensor = &context->tensors[port->tensor];
        part->from[i] = NULL;
        if (port->application) continue;
        if (port->host) {
            part->from[i] = port->host;
            gpu_port_count(part, port, NULL);
            continue;
        }
        if (part->runner && !gpu_buffers_connect(part, port, tensor, node)) return false;
        if (port->source) continue;
        if (!(part->from[i] = gpu_port_from_tensor(part, port, tensor))) return false;
        if (part->runner) gpu_port_count(part, port, tensor);
    }
    return true;
}

static bool locate_outputs(struct gpu_part *part, const TfLiteContext *context)
{
    for (int i = 0; i < part->output_count; i++) {
        const struct gpu_port *port = &part->outputs[i];
        const TfLiteTensor *tensor = port->tensor >= 0 ? &context->tensors[port->tensor] : NULL;
        part->to[i] = NULL;
        if ((port->is_kept && !port->host) || port->application) continue;
        if (!(part->to[i] = port->host ? port->host : gpu_port_room(part, port, tensor))) return false;
        gpu_port_count(part, port, port->host ? NULL : tensor);
    }
    return true;
}

static bool scatter_outputs(struct gpu_part *part, const TfLiteContext *context)
{
    for (int i = 0; i < part->output_count; i++) {
        const struct gpu_port *port = &part->outputs[i];
        TfLiteTensor *tensor = port->tensor >= 0 ? &context->tensors[port->tensor] : NULL;
        if (port->application && gpu_buffers_are_metal(part->engine)) continue;
        if (tensor && port->is_kept) {
            tensor->buffer_handle = port->handle;
            tensor->data_is_stale = true;
        } else if (tensor && part->to[i] && !port->host && !gpu_port_to_tensor(part, port, tensor)) {
            return false;
        }
    }
    for (int i = 0; i < part->constant_count; i++) {
        TfLiteTensor *tensor = &context->tensors[part->constants[i].tensor];
        if (!gpu_floats_to(part->constants[i].value->data, tensor))
            return gpu_part_complain(part, tensor, "has no memory");
    }
    return true;
}

// Puts the run into the command buffer of the application, once. Nobody can wait for it here, so that nothing may be
// left for the host to copy.
static bool encode(struct gpu_part *part)
{
    struct gpu_engine *engine = part->engine;
    bool all_bound = !engine->buffers.parts->next;
    for (int i = 0; i < part->output_count; i++) all_bound = all_bound && part->outputs[i].application;
    if (!all_bound)
        hl_report(
            &engine->reporter,
            "TfLiteMetalDelegate Invoke: External command encoder is used, but not all output buffers are bound.");
    bool ok = all_bound && gpu_runner_encode(part->runner, part->from, engine->buffers.commands);
    engine->info.backend->commands_release(engine->device, engine->buffers.commands);
    engine->buffers.commands = NULL;
    return ok;
}

static void note_times(struct gpu_part *part)
{
    for (int i = 0; i < part->plan->step_count; i++)
        gpu_tuning_note(&part->engine->tuning, part->plan->steps[i].tuned, part->profile.last[i]);
}

static bool run(struct gpu_part *part)
{
    const struct gpu_profiles *profiles = &part->engine->profiles;
    if (!part->runner) return true;
    if (part->engine->buffers.commands) return encode(part);
    if (!gpu_runner_run(part->runner, part->from, part->to, profiles->on ? part->profile.last : NULL)) return false;
    if (profiles->on) {
        gpu_profile_add(profiles, &part->profile);
        note_times(part);
    }
    bool waits = gpu_buffers_are_shared(part) && part->engine->options.wait != GPU_WAIT_NONE;
    return !waits || gpu_runner_wait(part->runner);
}

// Values with checks are always copied.
static bool check_values(const struct gpu_part *part)
{
    const struct hl_reporter *reporter = &part->engine->reporter;
    bool ok = true;
    for (int i = 0; i < part->input_count && ok; i++)
        ok = !part->from[i] || gpu_checks_hold(&part->checks, part->inputs[i].value, part->from[i], reporter);
    for (int i = 0; i < part->output_count && ok; i++)
        ok = !part->to[i] || gpu_checks_hold(&part->checks, part->outputs[i].value, part->to[i], reporter);
    return ok;
}

TfLiteStatus gpu_kernel_invoke(void *own, TfLiteContext *context, TfLiteNode *node)
{
    struct gpu_part *part = own;
    gpu_engine_enter(part->engine, context, "Invoke");
    bool ok = gather_inputs(part, context, node) && locate_outputs(part, context) && run(part) && check_values(part) &&
              scatter_outputs(part, context);
    gpu_engine_leave(part->engine);
    return ok ? kTfLiteOk : kTfLiteError;
}

struct TfLiteAsyncKernel *gpu_kernel_async(void *own, TfLiteContext *context)
{
    return gpu_async_kernel(own, context);
}
