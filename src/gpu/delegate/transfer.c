// SPDX-License-Identifier: Apache-2.0
// Tensors on their way between host and device. In: a port, which knows the value's format on the device, and a tensor.
// Out: bytes for the device, or a tensor with what the device has computed. Where the formats differ, elements go
// through floats (graph/convert.h), and from there into the format of a bound buffer.
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "gpu/delegate/part.h"
#include "gpu/graph/convert.h"

bool gpu_part_complain(const struct gpu_part *part, const TfLiteTensor *tensor, const char *problem)
{
    hl_report(&part->engine->reporter, "tensor %s %s", tensor->name ? tensor->name : "(no name)", problem);
    return false;
}

// ---- formats ------------------------------------------------------------------------------------

static size_t index_outside(const struct gpu_value *value, int64_t element)
{
    struct gpu_shape shape = value->shape;
    if (gpu_caller_format(value) == GPU_FORMAT_HALVES) return (size_t)element;
    int c = (int)(element % shape.c), x = (int)(element / shape.c % shape.w);
    int64_t row = element / shape.c / shape.w;
    return gpu_slice_index(shape, (int)(row / shape.h), (int)(row % shape.h), x, c);
}

static bool is_half(const struct gpu_value *value)
{
    return gpu_caller_format(value) != GPU_FORMAT_VECTORS;
}

static void write_outside(const struct gpu_value *value, const float *from, void *to)
{
    memset(to, 0, gpu_caller_bytes(value)); // for channels that do not exist
    for (int64_t i = 0; i < gpu_elements(value->shape); i++) {
        size_t at = index_outside(value, i);
        if (is_half(value))
            ((uint16_t *)to)[at] = hl_half_from_float(from[i]);
        else
            ((float *)to)[at] = from[i];
    }
}

static void read_outside(const struct gpu_value *value, const void *from, float *to)
{
    if (gpu_is_picture(gpu_caller_format(value))) {
        gpu_image_to_floats(value, from, to);
        return;
    }
    for (int64_t i = 0; i < gpu_elements(value->shape); i++) {
        size_t at = index_outside(value, i);
        to[i] = is_half(value) ? hl_half_to_float(((const uint16_t *)from)[at]) : ((const float *)from)[at];
    }
}

// ---- ports --------------------------------------------------------------------------------------

// Whether host and device can exchange the bytes of such a tensor.
static bool is_same(const struct gpu_value *value, TfLiteType type)
{
    enum gpu_format format = gpu_caller_format(value);
    return (format == GPU_FORMAT_FLOATS && type == kTfLiteFloat32) ||
           (format == GPU_FORMAT_BYTES && type == value->type);
}

bool gpu_port_is_same(const struct gpu_port *port, const TfLiteTensor *tensor)
{
    return !port->floats && is_same(port->value, tensor->type);
}

bool gpu_port_begin(struct gpu_port *port, const struct gpu_value *value, const TfLiteContext *context)
{
    enum gpu_format format = gpu_caller_format(value);
    *port = (struct gpu_port){.value = value,
                              .tensor = value->is_checked ? -1 : value->tensor,
                              .reader = -1,
                              .handle = kTfLiteNullBufferHandle};
    if (port->tensor >= 0 && is_same(value, context->tensors[port->tensor].type)) return true;
    port->floats = malloc((size_t)gpu_elements(value->shape) * sizeof *port->floats);
    if (!port->floats || format == GPU_FORMAT_FLOATS) return port->floats != NULL;
    port->outside = malloc(gpu_caller_bytes(value));
    return port->outside != NULL;
}

void gpu_port_end(struct gpu_port *port)
{
    free(port->floats);
    free(port->outside);
}

static bool has_room(const TfLiteTensor *tensor, const struct gpu_port *port)
{
    return tensor->data.raw && tensor->bytes >= gpu_caller_bytes(port->value);
}

const void *gpu_port_from_tensor(const struct gpu_part *part, const struct gpu_port *port, const TfLiteTensor *tensor)
{
    if (gpu_is_picture(gpu_caller_format(port->value))) {
        gpu_part_complain(part, tensor, "is a picture on the device, which tensors are not copied to");
        return NULL;
    }
    if (port->floats ? !gpu_floats_from(tensor, port->floats) : !has_room(tensor, port)) {
        gpu_part_complain(part, tensor, "has no memory");
        return NULL;
    }
    if (port->outside) write_outside(port->value, port->floats, port->outside);
    if (port->outside) return port->outside;
    return port->floats ? (const void *)port->floats : tensor->data.raw;
}

void *gpu_port_room(const struct gpu_part *part, const struct gpu_port *port, const TfLiteTensor *tensor)
{
    if (port->outside) return port->outside;
    if (port->floats) return port->floats;
    if (has_room(tensor, port)) return tensor->data.raw;
    gpu_part_complain(part, tensor, "has no memory");
    return NULL;
}

bool gpu_port_to_tensor(const struct gpu_part *part, const struct gpu_port *port, TfLiteTensor *tensor)
{
    if (port->outside) read_outside(port->value, port->outside, port->floats);
    return !port->floats || gpu_floats_to(port->floats, tensor) || gpu_part_complain(part, tensor, "has no memory");
}

// ---- copies -------------------------------------------------------------------------------------

// tensor: NULL where it is none, or where its memory counts as any other.
void gpu_port_count(const struct gpu_part *part, const struct gpu_port *port, const TfLiteTensor *tensor)
{
    struct gpu_buffers *buffers = &part->engine->buffers;
    const size_t bytes = gpu_runner_moved_bytes(part->runner, port->value);
    const bool is_lent = tensor && port->lent && port->lent->memory == tensor->data.raw;
    if (is_lent && port->lent->is_direct && !port->application) return;
    buffers->copied += bytes;
    if (!is_lent) buffers->carried += bytes;
}

// A handle may be of a port of another tensor, whose type must then be the same.
static bool fits(const struct gpu_part *part, const struct gpu_port *port, const TfLiteTensor *tensor)
{
    if (port->floats ? hl_elements(tensor) == gpu_elements(port->value->shape) : is_same(port->value, tensor->type))
        return true;
    return gpu_part_complain(part, tensor, "has another type or size than the value in its buffer");
}

bool gpu_port_fetch(struct gpu_part *part, const struct gpu_port *port, TfLiteTensor *tensor)
{
    void *room = fits(part, port, tensor) ? gpu_port_room(part, port, tensor) : NULL;
    if (!room || !gpu_runner_read(part->runner, port->value, room)) return false;
    gpu_port_count(part, port, tensor);
    return gpu_port_to_tensor(part, port, tensor);
}

bool gpu_port_store(struct gpu_part *part, const struct gpu_port *port, const TfLiteTensor *tensor)
{
    const void *from = fits(part, port, tensor) ? gpu_port_from_tensor(part, port, tensor) : NULL;
    if (!from || !gpu_runner_write(part->runner, port->value, from)) return false;
    gpu_port_count(part, port, NULL);
    return true;
}
