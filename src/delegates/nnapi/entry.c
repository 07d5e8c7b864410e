// SPDX-License-Identifier: Apache-2.0
// The C interfaces of the NNAPI delegate: the documented one, and two plug-in interfaces. All of them create the same
// object from different options. Nothing here needs a symbol of the runtime.
#include <stdlib.h>

#include "delegates/common/plugin.h"
#include "delegates/nnapi/nnapi.h"
#include "tensorflow/lite/acceleration/configuration/c/nnapi_plugin.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

static enum delegate_state open_system(struct delegate *delegate, TfLiteContext *context, char *why, size_t size)
{
    return nnapi_find_devices((struct nnapi_delegate *)delegate, context, why, size);
}

const struct delegate_kind nnapi_kind = {
    .name = "TfLiteNnapiDelegate",
    .open = open_system,
    .supported = nnapi_supported,
    .confirm = nnapi_confirm,
    .create = nnapi_kernel_create,
    .prepare = nnapi_kernel_prepare,
    .invoke = nnapi_kernel_invoke,
    .destroy = nnapi_kernel_destroy,
};

// Takes the options over, even if it fails.
static TfLiteDelegate *create(struct nnapi_options *options)
{
    struct nnapi_delegate *delegate = calloc(1, sizeof *delegate);
    if (delegate && delegate_init(&delegate->base, &nnapi_kind)) {
        delegate->options = *options;
        delegate->base.max_partitions = options->max_number_delegated_partitions;
        delegate->base.min_nodes = options->min_nodes_per_partition;
        return &delegate->base.tflite;
    }
    free(delegate);
    nnapi_options_free(options);
    hl_report(NULL, "TfLiteNnapiDelegate: out of memory");
    return NULL;
}

TfLiteDelegate *TfLiteNnapiDelegateCreate(const TfLiteNnapiDelegateOptions *options)
{
    struct nnapi_options own;
    if (nnapi_options_from_c(options, &own)) return create(&own);
    hl_report(NULL, "TfLiteNnapiDelegate: out of memory");
    return NULL;
}

void TfLiteNnapiDelegateDelete(TfLiteDelegate *tflite)
{
    struct nnapi_delegate *delegate = (struct nnapi_delegate *)delegate_of(tflite, &nnapi_kind);
    if (!delegate) return;
    nnapi_options_free(&delegate->options);
    delegate_end(&delegate->base);
    free(delegate);
}

// ---- plug-ins -----------------------------------------------------------------------------------

static TfLiteDelegate *create_from_keys(const char *const *keys, const char *const *values, size_t count,
                                        const struct hl_reporter *reporter)
{
    struct nnapi_options own;
    return nnapi_options_from_keys(keys, values, count, reporter, &own) ? create(&own) : NULL;
}

TfLiteDelegate *tflite_plugin_create_delegate(const char *const *options_keys, const char *const *options_values,
                                              size_t num_options, void (*report_error)(const char *))
{
    return delegate_plugin_create(options_keys, options_values, num_options, report_error, create_from_keys);
}

void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate)
{
    TfLiteNnapiDelegateDelete(delegate);
}

static TfLiteDelegate *create_from_settings(const void *tflite_settings)
{
    delegate_plugin_skip_settings("TfLiteNnapiDelegatePluginCApi", tflite_settings);
    return TfLiteNnapiDelegateCreate(NULL);
}

static int last_result(TfLiteDelegate *tflite)
{
    const struct nnapi_delegate *delegate = (struct nnapi_delegate *)delegate_of(tflite, &nnapi_kind);
    return delegate ? delegate->last_result : 0;
}

const TfLiteDelegatePlugin *TfLiteNnapiDelegatePluginCApi(void)
{
    static const TfLiteDelegatePlugin plugin = {create_from_settings, TfLiteNnapiDelegateDelete, last_result};
    return &plugin;
}
