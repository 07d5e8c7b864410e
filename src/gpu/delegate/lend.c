// SPDX-License-Identifier: Apache-2.0
// Memory of the backend for tensors of the runtime. In: the inputs and outputs of a partition. Out: tensors whose data
// lies where the device copies it by itself, so that no processor carries it between the runtime's arena and memory
// that the device sees. To the runtime such a tensor looks as if the application had set a custom allocation: its
// planner leaves it alone. Only the address is lent: each run asks the tensor where its data is, so that an application
// may set an allocation of its own at any time.
#include "gpu/delegate/part.h"

// The memory that the tensor has from the port; a runtime may have taken the address away, as ours does when a kernel
// gives the tensor its shape again.
static bool has_memory_of(const struct gpu_port *port, int index, const TfLiteTensor *tensor)
{
    return port->lent && port->tensor == index && tensor->allocation_type == kTfLiteCustom &&
           (!tensor->data.raw || tensor->data.raw == port->lent->memory);
}

static bool is_ours(const struct gpu_engine *engine, const TfLiteContext *context, int index)
{
    const TfLiteTensor *tensor = &context->tensors[index];
    for (const struct gpu_part *part = engine->buffers.parts; part; part = part->next) {
        if (part->context != context) continue;
        for (int i = 0; i < part->input_count; i++)
            if (has_memory_of(&part->inputs[i], index, tensor)) return true;
        for (int i = 0; i < part->output_count; i++)
            if (has_memory_of(&part->outputs[i], index, tensor)) return true;
    }
    return false;
}

// The original, once an application has set any custom allocation, wants to know the size of all that there are, and
// refuses a graph with others. Another delegate's memory looks the same.
static bool has_custom_allocations(const struct gpu_engine *engine, const TfLiteContext *context)
{
    for (size_t i = 0; i < context->tensors_size; i++)
        if (context->tensors[i].allocation_type == kTfLiteCustom && !is_ours(engine, context, (int)i)) return true;
    return false;
}

// Whether runs read or write the memory of the tensor, whose size no run changes, and nothing else than its bytes.
static bool is_suitable(const struct gpu_port *port, const TfLiteTensor *tensor)
{
    return tensor->allocation_type == kTfLiteArenaRw && !tensor->is_variable && !port->application && !port->host &&
           !port->source && !(port->value->is_input && port->value->is_output) && gpu_port_is_same(port, tensor) &&
           tensor->bytes == gpu_caller_bytes(port->value);
}

static void lend(const struct gpu_part *part, struct gpu_port *port, const TfLiteContext *context)
{
    const struct gpu_backend *backend = part->engine->info.backend;
    TfLiteTensor *tensor = port->tensor >= 0 ? &context->tensors[port->tensor] : NULL;
    size_t offset;
    if (!tensor || !(has_memory_of(port, port->tensor, tensor) || is_suitable(port, tensor))) return;
    struct gpu_buffer *buffer = gpu_runner_buffer(part->runner, port->value, &offset);
    if (!port->lent && !part->async)
        port->lent = backend->lend(part->engine->device, buffer, tensor->bytes, port->value->is_input);
    if (!port->lent) return;
    tensor->data.raw = port->lent->memory;
    tensor->allocation_type = kTfLiteCustom;
}

static void take_back(const struct gpu_part *part, struct gpu_port *port)
{
    if (!port->lent) return;
    TfLiteTensor *tensor = &part->context->tensors[port->tensor];
    if (has_memory_of(port, port->tensor, tensor)) {
        tensor->allocation_type = kTfLiteArenaRw;
        tensor->data.raw = NULL;
    }
    part->engine->info.backend->take_back(part->engine->device, port->lent);
    port->lent = NULL;
}

void gpu_lend(struct gpu_part *part)
{
    const struct gpu_engine *engine = part->engine;
    if (!part->runner || engine->options.keep_tensor_memory || !engine->info.backend->lend) return;
    if (has_custom_allocations(engine, part->context)) {
        gpu_lend_end(part);
        return;
    }
    for (int i = 0; i < part->input_count; i++) lend(part, &part->inputs[i], part->context);
    for (int i = 0; i < part->output_count; i++) lend(part, &part->outputs[i], part->context);
}

void gpu_lend_end(struct gpu_part *part)
{
    for (int i = 0; part->inputs && i < part->input_count; i++) take_back(part, &part->inputs[i]);
    for (int i = 0; part->outputs && i < part->output_count; i++) take_back(part, &part->outputs[i]);
}
