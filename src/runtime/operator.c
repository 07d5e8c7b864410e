// SPDX-License-Identifier: Apache-2.0
// TfLiteOperator: an operator whose callbacks see opaque types only, and the calls of a node's kernel in either form.
#include "runtime/operator.h"

#include <stdlib.h>

TfLiteOperator *TfLiteOperatorCreate(TfLiteBuiltinOperator builtin_code, const char *custom_name, int version,
                                     void *user_data)
{
    TfLiteOperator *op = calloc(1, sizeof *op);
    if (op)
        *op = (TfLiteOperator){
            .builtin_code = builtin_code,
            .custom_name = custom_name,
            .version = version,
            .user_data = user_data,
            .node_index = -1,
        };
    return op;
}

TfLiteOperator *TfLiteOperatorCreateWithData(TfLiteBuiltinOperator builtin_code, const char *custom_name, int version,
                                             void *user_data)
{
    return TfLiteOperatorCreate(builtin_code, custom_name, version, user_data);
}

void TfLiteOperatorDelete(TfLiteOperator *registration)
{
    free(registration);
}

TfLiteBuiltinOperator TfLiteOperatorGetBuiltInCode(const TfLiteOperator *registration)
{
    return registration ? (TfLiteBuiltinOperator)registration->builtin_code : kTfLiteBuiltinCustom;
}

const char *TfLiteOperatorGetCustomName(const TfLiteOperator *registration)
{
    return registration ? registration->custom_name : NULL;
}

int TfLiteOperatorGetVersion(const TfLiteOperator *registration)
{
    return registration ? registration->version : -1;
}

void *TfLiteOperatorGetUserData(const TfLiteOperator *registration)
{
    return registration ? registration->user_data : NULL;
}

// ---- setters: the plain form and the one with user data; the latter wins where both are set -------

void TfLiteOperatorSetInit(TfLiteOperator *registration, void *(*init)(TfLiteOpaqueContext *, const char *, size_t))
{
    if (registration) registration->init = init;
}

TfLiteStatus TfLiteOperatorSetInitWithData(TfLiteOperator *registration,
                                           void *(*init)(void *, TfLiteOpaqueContext *, const char *, size_t))
{
    if (!registration) return kTfLiteError;
    registration->init_with_data = init;
    return kTfLiteOk;
}

void TfLiteOperatorSetFree(TfLiteOperator *registration, void (*free_state)(TfLiteOpaqueContext *, void *))
{
    if (registration) registration->free = free_state;
}

TfLiteStatus TfLiteOperatorSetFreeWithData(TfLiteOperator *registration,
                                           void (*free_state)(void *, TfLiteOpaqueContext *, void *))
{
    if (!registration) return kTfLiteError;
    registration->free_with_data = free_state;
    return kTfLiteOk;
}

void TfLiteOperatorSetPrepare(TfLiteOperator *registration,
                              TfLiteStatus (*prepare)(TfLiteOpaqueContext *, TfLiteOpaqueNode *))
{
    if (registration) registration->prepare = prepare;
}

TfLiteStatus TfLiteOperatorSetPrepareWithData(TfLiteOperator *registration,
                                              TfLiteStatus (*prepare)(void *, TfLiteOpaqueContext *,
                                                                      TfLiteOpaqueNode *))
{
    if (!registration) return kTfLiteError;
    registration->prepare_with_data = prepare;
    return kTfLiteOk;
}

void TfLiteOperatorSetInvoke(TfLiteOperator *registration,
                             TfLiteStatus (*invoke)(TfLiteOpaqueContext *, TfLiteOpaqueNode *))
{
    if (registration) registration->invoke = invoke;
}

TfLiteStatus TfLiteOperatorSetInvokeWithData(TfLiteOperator *registration,
                                             TfLiteStatus (*invoke)(void *, TfLiteOpaqueContext *, TfLiteOpaqueNode *))
{
    if (!registration) return kTfLiteError;
    registration->invoke_with_data = invoke;
    return kTfLiteOk;
}

void TfLiteOperatorSetAsyncKernel(TfLiteOperator *registration,
                                  struct TfLiteAsyncKernel *(*async_kernel)(TfLiteOpaqueContext *, TfLiteOpaqueNode *))
{
    if (registration) registration->async_kernel = async_kernel;
}

TfLiteStatus TfLiteOperatorSetAsyncKernelWithData(TfLiteOperator *registration,
                                                  struct TfLiteAsyncKernel *(*async_kernel)(void *,
                                                                                            TfLiteOpaqueContext *,
                                                                                            TfLiteOpaqueNode *))
{
    if (!registration) return kTfLiteError;
    registration->async_kernel_with_data = async_kernel;
    return kTfLiteOk;
}

void TfLiteOperatorSetInplaceOperator(TfLiteOperator *registration, uint64_t inplace_operator)
{
    if (registration) registration->inplace = inplace_operator;
}

// ---- a node's kernel ----------------------------------------------------------------------------

static TfLiteOpaqueContext *opaque_context(TfLiteContext *context)
{
    return (TfLiteOpaqueContext *)context;
}

void *hl_kernel_init(const TfLiteRegistration *registration, TfLiteContext *context, const char *buffer, size_t length)
{
    const TfLiteOperator *op = registration->registration_external;
    if (!op) return registration->init ? registration->init(context, buffer, length) : NULL;
    if (op->init_with_data) return op->init_with_data(op->user_data, opaque_context(context), buffer, length);
    return op->init ? op->init(opaque_context(context), buffer, length) : NULL;
}

void hl_kernel_free(const TfLiteRegistration *registration, TfLiteContext *context, void *state)
{
    const TfLiteOperator *op = registration->registration_external;
    if (!op) {
        if (registration->free && state) registration->free(context, state);
        return;
    }
    if (!state) return;
    if (op->free_with_data)
        op->free_with_data(op->user_data, opaque_context(context), state);
    else if (op->free)
        op->free(opaque_context(context), state);
}

TfLiteStatus hl_kernel_prepare(const TfLiteRegistration *registration, TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteOperator *op = registration->registration_external;
    if (!op) return registration->prepare ? registration->prepare(context, node) : kTfLiteOk;
    TfLiteOpaqueNode *opaque_node = (TfLiteOpaqueNode *)node;
    if (op->prepare_with_data) return op->prepare_with_data(op->user_data, opaque_context(context), opaque_node);
    return op->prepare ? op->prepare(opaque_context(context), opaque_node) : kTfLiteOk;
}

TfLiteStatus hl_kernel_invoke(const TfLiteRegistration *registration, TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteOperator *op = registration->registration_external;
    if (!op) return registration->invoke ? registration->invoke(context, node) : kTfLiteError;
    TfLiteOpaqueNode *opaque_node = (TfLiteOpaqueNode *)node;
    if (op->invoke_with_data) return op->invoke_with_data(op->user_data, opaque_context(context), opaque_node);
    return op->invoke ? op->invoke(opaque_context(context), opaque_node) : kTfLiteError;
}
