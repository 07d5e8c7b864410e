// SPDX-License-Identifier: Apache-2.0
// The C interfaces of the Core ML delegate: the documented one, and the plug-in's. Both create the same object from
// different options; where no runner can be used, they say why and create none.
#include <stdio.h>
#include <stdlib.h>

#include "delegates/common/plugin.h"
#include "delegates/coreml/coreml.h"
#include "delegates/coreml/options.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

enum { DEFAULT_MIN_NODES = 2 };

// The runner was opened with the delegate.
static enum delegate_state open_runner(struct delegate *base, TfLiteContext *context, char *why, size_t size)
{
    const struct coreml_delegate *delegate = (const struct coreml_delegate *)base;
    (void)context;
    (void)why;
    (void)size;
    snprintf(base->device, sizeof base->device, "Core ML %d", delegate->version);
    return DELEGATE_READY;
}

static const struct delegate_kind coreml_kind = {
    .name = COREML_NAME,
    .open = open_runner,
    .supported = coreml_supported,
    .create = coreml_kernel_create,
    .prepare = coreml_kernel_prepare,
    .invoke = coreml_kernel_invoke,
    .destroy = coreml_kernel_destroy,
};

// ---- create -------------------------------------------------------------------------------------

// The version of Core ML to write models for, where `newest` is the newest that is here.
static int choose_version(int wanted, int newest, const struct hl_reporter *reporter)
{
    if (wanted == 0 || wanted == newest) return newest;
    if (newest == 2) {
        hl_report(reporter, COREML_NAME ": coreml_version is %d, and this system has Core ML 2, which is used", wanted);
        return 2;
    }
    if (wanted == 2 || wanted == 3) return wanted;
    hl_report(reporter, COREML_NAME ": coreml_version is %d, and must be 2 or 3: 3 is used", wanted);
    return 3;
}

static const struct coreml_runner *find_runner(const struct coreml_options *options, int *version,
                                               const struct hl_reporter *reporter)
{
    char why[512] = "";
    const struct coreml_runner *runner =
        options->runner == COREML_RUNNER_NONE ? &coreml_runner_none : coreml_runner_find(why, sizeof why);
    bool engine = options->enabled_devices != TfLiteCoreMlDelegateAllDevices;
    if (runner && runner->open(engine, version, why, sizeof why)) return runner;
    hl_report(reporter, COREML_NAME ": %s; run on the CPU, or with the GPU delegate", why);
    return NULL;
}

static TfLiteDelegate *create(const struct coreml_options *options, const struct hl_reporter *reporter)
{
    int newest = 0;
    const struct coreml_runner *runner = find_runner(options, &newest, reporter);
    if (!runner) return NULL;
    struct coreml_delegate *delegate = calloc(1, sizeof *delegate);
    if (!delegate || !delegate_init(&delegate->base, &coreml_kind)) {
        free(delegate);
        hl_report(reporter, COREML_NAME ": out of memory");
        return NULL;
    }
    delegate->runner = runner;
    delegate->version = choose_version(options->coreml_version, newest, reporter);
    delegate->base.max_partitions = options->max_delegated_partitions;
    delegate->base.min_nodes =
        options->min_nodes_per_partition > 0 ? options->min_nodes_per_partition : DEFAULT_MIN_NODES;
    return &delegate->base.tflite;
}

// ---- the C interface ----------------------------------------------------------------------------

TfLiteDelegate *TfLiteCoreMlDelegateCreate(const TfLiteCoreMlDelegateOptions *options)
{
    struct coreml_options own = coreml_options_from_c(options);
    return create(&own, NULL);
}

void TfLiteCoreMlDelegateDelete(TfLiteDelegate *tflite)
{
    struct delegate *delegate = delegate_of(tflite, &coreml_kind);
    if (!delegate) return;
    delegate_end(delegate);
    free(delegate);
}

// ---- plug-ins -----------------------------------------------------------------------------------

static TfLiteDelegate *create_from_keys(const char *const *keys, const char *const *values, size_t count,
                                        const struct hl_reporter *reporter)
{
    struct coreml_options own;
    return coreml_options_from_keys(keys, values, count, reporter, &own) ? create(&own, reporter) : NULL;
}

TfLiteDelegate *tflite_plugin_create_delegate(const char *const *options_keys, const char *const *options_values,
                                              size_t num_options, void (*report_error)(const char *))
{
    return delegate_plugin_create(options_keys, options_values, num_options, report_error, create_from_keys);
}

void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate)
{
    TfLiteCoreMlDelegateDelete(delegate);
}
