// SPDX-License-Identifier: Apache-2.0
// A delegate from a shared library: opens it, calls its tflite_plugin_create_delegate with the options as texts, and
// wraps what comes back so that deleting the wrapper destroys the inner delegate and closes the library.
#include "tensorflow/lite/delegates/external/external_delegate.h"

#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/report.h"

typedef TfLiteDelegate *(*create_function)(const char *const *keys, const char *const *values, size_t count,
                                           void (*report_error)(const char *));
typedef void (*destroy_function)(TfLiteDelegate *delegate);

struct external_delegate {
    TfLiteDelegate outer; // first: the wrapper's address is the struct's
    TfLiteDelegate *inner;
    destroy_function destroy;
    struct hl_library *library;
};

static struct external_delegate *wrapper_of(TfLiteDelegate *delegate)
{
    return (struct external_delegate *)delegate->data_;
}

// ---- the wrapper's callbacks: the inner delegate gets its own pointer -----------------------------

static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    TfLiteDelegate *inner = wrapper_of(delegate)->inner;
    if (inner->Prepare) return inner->Prepare(context, inner);
    const TfLiteOpaqueDelegateBuilder *builder = inner->opaque_delegate_builder;
    if (!builder || !builder->Prepare) return kTfLiteDelegateError;
    return builder->Prepare((TfLiteOpaqueContext *)context, inner, builder->data);
}

static TfLiteStatus copy_from(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                              TfLiteTensor *tensor)
{
    TfLiteDelegate *inner = wrapper_of(delegate)->inner;
    return inner->CopyFromBufferHandle(context, inner, handle, tensor);
}

static TfLiteStatus copy_to(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                            TfLiteTensor *tensor)
{
    TfLiteDelegate *inner = wrapper_of(delegate)->inner;
    return inner->CopyToBufferHandle(context, inner, handle, tensor);
}

static void free_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle *handle)
{
    TfLiteDelegate *inner = wrapper_of(delegate)->inner;
    inner->FreeBufferHandle(context, inner, handle);
}

// ---- options ------------------------------------------------------------------------------------

TfLiteStatus TfLiteExternalDelegateOptionsInsert(TfLiteExternalDelegateOptions *options, const char *key,
                                                 const char *value)
{
    if (!options || !key || !value) return kTfLiteError;
    if (options->count < 0 || options->count >= kExternalDelegateMaxOptions) {
        hl_report(NULL, "external delegate: no room for option %s: %d are the most", key, kExternalDelegateMaxOptions);
        return kTfLiteError;
    }
    options->keys[options->count] = key;
    options->values[options->count] = value;
    options->count++;
    return kTfLiteOk;
}

TfLiteExternalDelegateOptions TfLiteExternalDelegateOptionsDefault(const char *lib_path)
{
    return (TfLiteExternalDelegateOptions){.lib_path = lib_path, .insert = TfLiteExternalDelegateOptionsInsert};
}

// ---- life ---------------------------------------------------------------------------------------

// Passes on what a plug-in says when it fails.
static void report_error(const char *message)
{
    hl_report(NULL, "external delegate: %s", message ? message : "fails without a message");
}

TfLiteDelegate *TfLiteExternalDelegateCreate(const TfLiteExternalDelegateOptions *options)
{
    if (!options || !options->lib_path || options->count < 0 || options->count > kExternalDelegateMaxOptions) {
        hl_report(NULL, "external delegate: the options are missing, or name no library");
        return NULL;
    }
    struct external_delegate *delegate = calloc(1, sizeof *delegate);
    if (!delegate) {
        hl_report(NULL, "external delegate: out of memory");
        return NULL;
    }
    create_function create;
    delegate->library = hl_library_open(options->lib_path);
    if (!delegate->library) {
        hl_report(NULL, "external delegate: cannot open %s: %s", options->lib_path, hl_library_error());
        goto fail;
    }
    if (!hl_library_find(delegate->library, "tflite_plugin_create_delegate", &create, sizeof create) ||
        !hl_library_find(delegate->library, "tflite_plugin_destroy_delegate", &delegate->destroy,
                         sizeof delegate->destroy)) {
        hl_report(NULL,
                  "external delegate: %s is no delegate: it lacks tflite_plugin_create_delegate or "
                  "tflite_plugin_destroy_delegate",
                  options->lib_path);
        goto fail;
    }
    delegate->inner = create(options->keys, options->values, (size_t)options->count, report_error);
    if (!delegate->inner) {
        hl_report(NULL, "external delegate: %s refused its options or found no device", options->lib_path);
        goto fail;
    }
    delegate->outer = (TfLiteDelegate){
        .data_ = delegate,
        .Prepare = prepare,
        .CopyFromBufferHandle = delegate->inner->CopyFromBufferHandle ? copy_from : NULL,
        .CopyToBufferHandle = delegate->inner->CopyToBufferHandle ? copy_to : NULL,
        .FreeBufferHandle = delegate->inner->FreeBufferHandle ? free_handle : NULL,
        .flags = delegate->inner->flags,
    };
    return &delegate->outer;

fail:
    if (delegate->library) hl_library_close(delegate->library);
    free(delegate);
    return NULL;
}

void TfLiteExternalDelegateDelete(TfLiteDelegate *delegate)
{
    if (!delegate) return;
    struct external_delegate *external = wrapper_of(delegate);
    external->destroy(external->inner);
    hl_library_close(external->library);
    free(external);
}
