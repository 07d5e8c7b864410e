// SPDX-License-Identifier: Apache-2.0
// The delegate object, and a claimed partition as a node of the runtime. In: calls of the runtime. Out: calls of the
// delegate's kind. A kernel that cannot be made is remembered, so that prepare can give the graph back to the CPU.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delegates/common/delegate.h"
#include "tensorflow/lite/builtin_ops.h"

struct delegate_kernel {
    const struct delegate_kind *kind;
    void *own;
};

bool delegate_init(struct delegate *delegate, const struct delegate_kind *kind)
{
    *delegate = (struct delegate){
        .tflite = {.data_ = delegate, .Prepare = delegate_prepare},
        .sign = delegate_report_sign(),
        .kind = kind,
        .node_name = kind->name,
        .min_nodes = 1,
    };
    return hl_mutex_init(&delegate->mutex);
}

void delegate_end(struct delegate *delegate)
{
    delegate_report_free(&delegate->report);
    hl_mutex_destroy(&delegate->mutex);
}

struct delegate *delegate_of(const TfLiteDelegate *tflite, const struct delegate_kind *kind)
{
    if (!tflite || tflite->Prepare != delegate_prepare) return NULL;
    struct delegate *delegate = tflite->data_;
    return delegate->kind == kind ? delegate : NULL;
}

TfLiteIntArray *delegate_int_array(int size)
{
    TfLiteIntArray *array = malloc(sizeof *array + (size_t)size * sizeof(int));
    if (array) array->size = size;
    return array;
}

bool delegate_refuse(const struct delegate_view *view, enum delegate_reason_code code, int input, const char *format,
                     ...)
{
    const TfLiteIntArray *list = input >= -1 ? view->node->inputs : view->node->outputs;
    int index = input >= -1 ? input : -2 - input;
    va_list args;
    va_start(args, format);
    delegate_set_reason(view->reason, code, index >= 0 && index < list->size ? list->data[index] : -1, format, args);
    va_end(args);
    return false;
}

// ---- the node -----------------------------------------------------------------------------------

static void *kernel_init(TfLiteContext *context, const char *buffer, size_t length)
{
    (void)length; // 0 in some runtimes
    if (!buffer) return NULL;
    const TfLiteDelegateParams *params = (const void *)buffer;
    struct delegate *delegate = params->delegate->data_;
    struct delegate_kernel *kernel = malloc(sizeof *kernel);
    if (!kernel) context->ReportError(context, "%s Init: out of memory", delegate->kind->name);
    void *own = kernel ? delegate->kind->create(delegate, context, params) : NULL;
    if (own) {
        *kernel = (struct delegate_kernel){delegate->kind, own};
        return kernel;
    }
    delegate->kernel_failed = true;
    free(kernel);
    return NULL;
}

static void kernel_free(TfLiteContext *context, void *buffer)
{
    (void)context;
    struct delegate_kernel *kernel = buffer;
    if (!kernel) return;
    kernel->kind->destroy(kernel->own);
    free(kernel);
}

static TfLiteStatus kernel_prepare(TfLiteContext *context, TfLiteNode *node)
{
    const struct delegate_kernel *kernel = node->user_data;
    if (kernel) return kernel->kind->prepare(kernel->own, context, node);
    const struct delegate *delegate = node->delegate->data_;
    context->ReportError(context, "%s Prepare: delegate is not initialized", delegate->kind->name);
    return kTfLiteError;
}

static TfLiteStatus kernel_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const struct delegate_kernel *kernel = node->user_data;
    return kernel ? kernel->kind->invoke(kernel->own, context, node) : kTfLiteError;
}

static struct TfLiteAsyncKernel *kernel_async(TfLiteContext *context, TfLiteNode *node)
{
    const struct delegate_kernel *kernel = node->user_data;
    return kernel ? kernel->kind->async_kernel(kernel->own, context) : NULL;
}

TfLiteRegistration delegate_registration(const struct delegate *delegate)
{
    return (TfLiteRegistration){
        .init = kernel_init,
        .free = kernel_free,
        .prepare = kernel_prepare,
        .invoke = kernel_invoke,
        .builtin_code = kTfLiteBuiltinDelegate,
        .custom_name = delegate->node_name,
        .version = 1,
        .async_kernel = delegate->kind->async_kernel ? kernel_async : NULL,
    };
}
