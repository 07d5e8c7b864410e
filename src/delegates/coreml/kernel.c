// SPDX-License-Identifier: Apache-2.0
// A claimed partition as Core ML runs it. create writes the specification and has it compiled, while the delegate is
// applied, so that a failure leaves the graph to the CPU. invoke turns inputs to channels first, runs the compiled
// model and turns outputs to channels last.
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "delegates/common/widened.h"
#include "delegates/coreml/model.h"

// A tensor of the runtime and its array of the model.
struct port {
    int tensor;
    char name[24];
    struct coreml_shape shape;
};

struct kernel {
    const struct coreml_runner *runner;
    void *model; // NULL: the partition makes constants alone
    struct port *ports;
    struct coreml_array *arrays; // of the ports; inputs come first
    int input_count, output_count;
    float *floats; // of all arrays
    struct delegate_widened widened;
};

// ---- create -------------------------------------------------------------------------------------

static bool out_of_memory(TfLiteContext *context)
{
    context->ReportError(context, COREML_NAME ": out of memory");
    return false;
}

static void set_port(struct kernel *kernel, int index, const struct coreml_model *model, int tensor)
{
    const TfLiteTensor *from = &model->context->tensors[tensor];
    struct port *port = &kernel->ports[index];
    struct coreml_array *array = &kernel->arrays[index];
    port->tensor = tensor;
    port->shape = coreml_shape_of(from);
    coreml_tensor_name(tensor, port->name);
    array->name = port->name;
    array->rank = coreml_feature_shape(model->delegate, from, array->shape);
    array->count = (size_t)hl_elements(from);
}

static bool make_arrays(struct kernel *kernel, const struct coreml_model *model)
{
    int count = model->input_count + model->output_count;
    size_t floats = 0, bytes;
    kernel->input_count = model->input_count;
    kernel->output_count = model->output_count;
    kernel->ports = calloc((size_t)count + 1, sizeof *kernel->ports);
    kernel->arrays = calloc((size_t)count + 1, sizeof *kernel->arrays);
    if (!kernel->ports || !kernel->arrays) return out_of_memory(model->context);
    for (int i = 0; i < count; i++) {
        set_port(kernel, i, model, i < model->input_count ? model->inputs[i] : model->outputs[i - model->input_count]);
        if (!hl_add_size(floats, kernel->arrays[i].count, &floats)) return out_of_memory(model->context);
    }
    if (!hl_mul_size(floats, sizeof *kernel->floats, &bytes)) return out_of_memory(model->context);
    kernel->floats = malloc(bytes + 1);
    if (!kernel->floats) return out_of_memory(model->context);
    float *next = kernel->floats;
    for (int i = 0; i < count; i++) {
        kernel->arrays[i].data = next;
        next += kernel->arrays[i].count;
    }
    return true;
}

static bool compile(struct kernel *kernel, struct coreml_model *model)
{
    char why[512] = "";
    size_t size;
    uint8_t *bytes = coreml_model_pack(model, &size);
    if (!bytes) return out_of_memory(model->context);
    kernel->model = kernel->runner->compile(bytes, size, why, sizeof why);
    free(bytes);
    if (kernel->model) return true;
    model->context->ReportError(model->context, COREML_NAME ": Failed to compile and save model: %s", why);
    return false;
}

static bool build(struct kernel *kernel, struct coreml_model *model, const struct coreml_delegate *delegate,
                  TfLiteContext *context, const TfLiteDelegateParams *params)
{
    if (!coreml_model_build(model, delegate, context, params)) return false;
    if (!delegate_widened_find(&kernel->widened, &delegate->base, params->output_tensors))
        return out_of_memory(context);
    return model->layer_count == 0 || (make_arrays(kernel, model) && compile(kernel, model));
}

void *coreml_kernel_create(struct delegate *base, TfLiteContext *context, const TfLiteDelegateParams *params)
{
    const struct coreml_delegate *delegate = (const struct coreml_delegate *)base;
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) {
        out_of_memory(context);
        return NULL;
    }
    kernel->runner = delegate->runner;
    struct coreml_model model;
    bool ok = build(kernel, &model, delegate, context, params);
    coreml_model_free(&model);
    if (ok) return kernel;
    coreml_kernel_destroy(kernel);
    return NULL;
}

void coreml_kernel_destroy(void *data)
{
    struct kernel *kernel = data;
    if (kernel->model) kernel->runner->free(kernel->model);
    delegate_widened_free(&kernel->widened);
    free(kernel->ports);
    free(kernel->arrays);
    free(kernel->floats);
    free(kernel);
}

// The model has the shapes that the tensors had when the delegate was applied: the runtime applies it again when an
// input is resized.
TfLiteStatus coreml_kernel_prepare(void *kernel, TfLiteContext *context, TfLiteNode *node)
{
    (void)kernel;
    (void)context;
    (void)node;
    return kTfLiteOk;
}

// ---- invoke -------------------------------------------------------------------------------------

TfLiteStatus coreml_kernel_invoke(void *data, TfLiteContext *context, TfLiteNode *node)
{
    (void)node;
    struct kernel *kernel = data;
    char why[512] = "";
    delegate_widened_write(&kernel->widened, context);
    if (!kernel->model) return kTfLiteOk;
    const struct port *port = kernel->ports;
    const struct coreml_array *array = kernel->arrays;
    for (int i = 0; i < kernel->input_count; i++, port++, array++)
        coreml_to_channels_first(&port->shape, context->tensors[port->tensor].data.f, array->data);
    if (!kernel->runner->run(kernel->model, kernel->arrays, kernel->input_count, array, kernel->output_count, why,
                             sizeof why)) {
        context->ReportError(context, COREML_NAME ": Error executing model: %s", why);
        return kTfLiteError;
    }
    for (int i = 0; i < kernel->output_count; i++, port++, array++)
        coreml_to_channels_last(&port->shape, array->data, context->tensors[port->tensor].data.f);
    return kTfLiteOk;
}
