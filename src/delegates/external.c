// SPDX-License-Identifier: Apache-2.0
// A delegate from a shared library: opens it, calls its tflite_plugin_create_delegate with the options as texts, and
// wraps what comes back so that deleting the wrapper destroys the inner delegate and closes the library, in this order.
// A plug-in may return either form of delegate: functions of its own, or a builder with opaque types.
#include "delegates/external.h"

#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/text.h"

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

// NULL: the inner delegate has functions of its own.
static const TfLiteOpaqueDelegateBuilder *builder_of(const TfLiteDelegate *inner)
{
    return inner->Prepare ? NULL : inner->opaque_delegate_builder;
}

static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    TfLiteDelegate *inner = wrapper_of(delegate)->inner;
    const TfLiteOpaqueDelegateBuilder *builder = builder_of(inner);
    if (inner->Prepare) return inner->Prepare(context, inner);
    if (builder && builder->Prepare) return builder->Prepare((TfLiteOpaqueContext *)context, inner, builder->data);
    context->ReportError(context, "external delegate: the plug-in's delegate has no Prepare function");
    return kTfLiteDelegateError;
}

static TfLiteStatus copy_from(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                              TfLiteTensor *tensor)
{
    TfLiteDelegate *inner = wrapper_of(delegate)->inner;
    const TfLiteOpaqueDelegateBuilder *builder = builder_of(inner);
    if (!builder) return inner->CopyFromBufferHandle(context, inner, handle, tensor);
    return builder->CopyFromBufferHandle((TfLiteOpaqueContext *)context, inner, builder->data, handle,
                                         (TfLiteOpaqueTensor *)tensor);
}

static TfLiteStatus copy_to(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle handle,
                            TfLiteTensor *tensor)
{
    TfLiteDelegate *inner = wrapper_of(delegate)->inner;
    const TfLiteOpaqueDelegateBuilder *builder = builder_of(inner);
    if (!builder) return inner->CopyToBufferHandle(context, inner, handle, tensor);
    return builder->CopyToBufferHandle((TfLiteOpaqueContext *)context, inner, builder->data, handle,
                                       (TfLiteOpaqueTensor *)tensor);
}

static void free_handle(TfLiteContext *context, TfLiteDelegate *delegate, TfLiteBufferHandle *handle)
{
    TfLiteDelegate *inner = wrapper_of(delegate)->inner;
    const TfLiteOpaqueDelegateBuilder *builder = builder_of(inner);
    if (!builder)
        inner->FreeBufferHandle(context, inner, handle);
    else
        builder->FreeBufferHandle((TfLiteOpaqueContext *)context, inner, builder->data, handle);
}

static TfLiteDelegate wrapper_for(struct external_delegate *delegate)
{
    const TfLiteDelegate *inner = delegate->inner;
    const TfLiteOpaqueDelegateBuilder *builder = builder_of(inner);
    bool from = builder ? builder->CopyFromBufferHandle != NULL : inner->CopyFromBufferHandle != NULL,
         to = builder ? builder->CopyToBufferHandle != NULL : inner->CopyToBufferHandle != NULL,
         release = builder ? builder->FreeBufferHandle != NULL : inner->FreeBufferHandle != NULL;
    return (TfLiteDelegate){
        .data_ = delegate,
        .Prepare = prepare,
        .CopyFromBufferHandle = from ? copy_from : NULL,
        .CopyToBufferHandle = to ? copy_to : NULL,
        .FreeBufferHandle = release ? free_handle : NULL,
        .flags = builder ? builder->flags : inner->flags,
    };
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

// ---- what a plug-in says --------------------------------------------------------------------------

// The call that a plug-in's message belongs to: its reporter has no argument of ours, and it may come at any time, from
// any thread.
struct making {
    const struct hl_reporter *reporter;
    const char *path;
    bool has_spoken;
};
static _Thread_local struct making *current;

// Never NULL for the plug-in, for those that report do not ask.
static void report_error(const char *message)
{
    const char *text = message && *message ? message : "fails without a message";
    if (!current) {
        hl_report(NULL, "external delegate: %s", text);
        return;
    }
    current->has_spoken = true;
    hl_report(current->reporter, "external delegate: %s: %s", current->path, text);
}

static void report_none(const struct making *making, const TfLiteExternalDelegateOptions *options)
{
    struct hl_text given = {0};
    for (int i = 0; i < options->count; i++)
        hl_text_append(&given, "%s%s=%s", i > 0 ? ", " : "", options->keys[i], options->values[i]);
    hl_report(making->reporter, "external delegate: %s gave no delegate%s%s%s", options->lib_path,
              options->count > 0 ? " for the options " : ", without options", given.data ? given.data : "",
              making->has_spoken ? ""
                                 : "; it does not say why: ask its documentation which options it takes, and whether "
                                   "its device is here");
    hl_text_free(&given);
}

// ---- life ---------------------------------------------------------------------------------------

// Finds both doors, or says which is missing.
static bool find_doors(struct external_delegate *delegate, const char *path, create_function *create,
                       const struct hl_reporter *reporter)
{
    bool creates = hl_library_find(delegate->library, "tflite_plugin_create_delegate", create, sizeof *create),
         destroys = hl_library_find(delegate->library, "tflite_plugin_destroy_delegate", &delegate->destroy,
                                    sizeof delegate->destroy);
    if (creates && destroys) return true;
    hl_report(reporter, "external delegate: %s is no plug-in for delegates: it does not export %s%s%s", path,
              creates ? "" : "tflite_plugin_create_delegate", creates || destroys ? "" : " and ",
              destroys ? "" : "tflite_plugin_destroy_delegate");
    return false;
}

TfLiteDelegate *hl_external_delegate_create(const TfLiteExternalDelegateOptions *options,
                                            const struct hl_reporter *reporter)
{
    if (!options || !options->lib_path || options->count < 0 || options->count > kExternalDelegateMaxOptions) {
        hl_report(reporter, "external delegate: the options are missing, name no library, or are not between 0 and %d",
                  kExternalDelegateMaxOptions);
        return NULL;
    }
    struct external_delegate *delegate = calloc(1, sizeof *delegate);
    if (!delegate) {
        hl_report(reporter, "external delegate: out of memory");
        return NULL;
    }
    create_function create;
    delegate->library = hl_library_open(options->lib_path);
    if (!delegate->library) {
        hl_report(reporter, "external delegate: cannot open %s: %s", options->lib_path, hl_library_error());
        goto fail;
    }
    if (!find_doors(delegate, options->lib_path, &create, reporter)) goto fail;
    struct making making = {.reporter = reporter, .path = options->lib_path}, *outer = current;
    current = &making;
    delegate->inner = create(options->keys, options->values, (size_t)options->count, report_error);
    current = outer; // a plug-in may itself load another
    if (!delegate->inner) {
        report_none(&making, options);
        goto fail;
    }
    delegate->outer = wrapper_for(delegate);
    return &delegate->outer;

fail:
    if (delegate->library) hl_library_close(delegate->library);
    free(delegate);
    return NULL;
}

TfLiteDelegate *TfLiteExternalDelegateCreate(const TfLiteExternalDelegateOptions *options)
{
    return hl_external_delegate_create(options, NULL);
}

void TfLiteExternalDelegateDelete(TfLiteDelegate *delegate)
{
    if (!delegate) return;
    struct external_delegate *external = wrapper_of(delegate);
    external->destroy(external->inner);
    hl_library_close(external->library);
    free(external);
}
