// SPDX-License-Identifier: Apache-2.0
// This is the inside of a TfLiteOperator: callbacks with opaque types, each in a plain form and in one that also gets
// the user's data.
#ifndef HALITE_RUNTIME_OPERATOR_H
#define HALITE_RUNTIME_OPERATOR_H

#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/c/operator.h"

struct TfLiteOperator {
    int builtin_code;
    const char *custom_name; // the caller's own text: clients compare the pointer
    int version;
    void *user_data;
    uint64_t inplace;
    int node_index; // of the node whose registration asks for it, -1: made by a caller
    void *(*init)(TfLiteOpaqueContext *, const char *, size_t);
    void *(*init_with_data)(void *, TfLiteOpaqueContext *, const char *, size_t);
    void (*free)(TfLiteOpaqueContext *, void *);
    void (*free_with_data)(void *, TfLiteOpaqueContext *, void *);
    TfLiteStatus (*prepare)(TfLiteOpaqueContext *, TfLiteOpaqueNode *);
    TfLiteStatus (*prepare_with_data)(void *, TfLiteOpaqueContext *, TfLiteOpaqueNode *);
    TfLiteStatus (*invoke)(TfLiteOpaqueContext *, TfLiteOpaqueNode *);
    TfLiteStatus (*invoke_with_data)(void *, TfLiteOpaqueContext *, TfLiteOpaqueNode *);
    struct TfLiteAsyncKernel *(*async_kernel)(TfLiteOpaqueContext *, TfLiteOpaqueNode *);
    struct TfLiteAsyncKernel *(*async_kernel_with_data)(void *, TfLiteOpaqueContext *, TfLiteOpaqueNode *);
};

// An init that fails returns this value, which the original calls TfLiteKernelInitFailed.
#define HL_KERNEL_INIT_FAILED ((void *)-1)

// These call a node's kernel, whichever form it has. A missing callback succeeds (init returns NULL), except invoke.
void *hl_kernel_init(const TfLiteRegistration *registration, TfLiteContext *context, const char *buffer, size_t length);
void hl_kernel_free(const TfLiteRegistration *registration, TfLiteContext *context, void *state);
TfLiteStatus hl_kernel_prepare(const TfLiteRegistration *registration, TfLiteContext *context, TfLiteNode *node);
TfLiteStatus hl_kernel_invoke(const TfLiteRegistration *registration, TfLiteContext *context, TfLiteNode *node);

#endif
