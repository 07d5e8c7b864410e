// SPDX-License-Identifier: Apache-2.0
// The C interfaces of the Hexagon delegate: the documented one and the plug-in interface. Both make the same
// object; only the documented one refuses to make it where the processor cannot be used, because its callers ask for
// that, while a plug-in says so for each node. Nothing here needs a symbol of the runtime.
#include <stdio.h>
#include <stdlib.h>

#include "base/process.h"
#include "base/text.h"
#include "delegates/common/plugin.h"
#include "delegates/hexagon/hexagon.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

// ---- the process --------------------------------------------------------------------------------

// Where the processor's own libraries lie, after the application's folder.
static const char system_folders[] = ";/system/lib/rfsa/adsp;/system/vendor/lib/rfsa/adsp;/dsp";

// What is missing TfLiteHexagonDelegateCreate says, once.
void TfLiteHexagonInit(void)
{
    struct hexagon system = {0};
    char why[256];
    if (hexagon_open(&system, NULL, why, sizeof why)) system.global_init();
}

void TfLiteHexagonInitWithPath(const char *lib_directory_path)
{
    struct hl_text path = {0};
    if (lib_directory_path) {
        hl_text_append(&path, "%s%s", lib_directory_path, system_folders);
        if (!path.data || !hl_process_set_variable("ADSP_LIBRARY_PATH", path.data))
            hl_report(NULL, "TfLiteHexagonInitWithPath: ADSP_LIBRARY_PATH cannot be set to %s", lib_directory_path);
    }
    hl_text_free(&path);
    TfLiteHexagonInit();
}

void TfLiteHexagonTearDown(void)
{
    struct hexagon system = {0};
    char why[256];
    if (hexagon_open(&system, NULL, why, sizeof why)) system.global_teardown();
}

// ---- the delegate -------------------------------------------------------------------------------

static bool find_processor(struct hexagon_delegate *delegate, char *why, size_t size)
{
    if (!hexagon_open(&delegate->system, delegate->options.library_path, why, size)) return false;
    if (delegate->connects && !delegate->connected) delegate->system.global_init();
    delegate->connected = delegate->connects;
    if (!hexagon_usable(&delegate->system, why, size)) return false;
    snprintf(delegate->base.device, sizeof delegate->base.device, "Hexagon");
    return true;
}

static enum delegate_state open_system(struct delegate *delegate, TfLiteContext *context, char *why, size_t size)
{
    (void)context;
    delegate->device[0] = 0;
    return find_processor((struct hexagon_delegate *)delegate, why, size) ? DELEGATE_READY : DELEGATE_ABSENT;
}

const struct delegate_kind hexagon_kind = {
    .name = "TfLiteHexagonDelegate",
    .open = open_system,
    .supported = hexagon_supported,
    .create = hexagon_kernel_create,
    .prepare = hexagon_kernel_prepare,
    .invoke = hexagon_kernel_invoke,
    .destroy = hexagon_kernel_destroy,
};

// Takes the options over, even if it fails.
static struct hexagon_delegate *create(struct hexagon_options *options, bool connects,
                                       const struct hl_reporter *reporter)
{
    hexagon_options_settle(options, reporter);
    struct hexagon_delegate *delegate = calloc(1, sizeof *delegate);
    if (delegate && delegate_init(&delegate->base, &hexagon_kind)) {
        delegate->options = *options;
        delegate->connects = connects;
        delegate->base.max_partitions = options->c.max_delegated_partitions;
        delegate->base.min_nodes = options->c.min_nodes_per_partition;
        return delegate;
    }
    free(delegate);
    hexagon_options_free(options);
    hl_report(reporter, "TfLiteHexagonDelegate: out of memory");
    return NULL;
}

TfLiteDelegate *TfLiteHexagonDelegateCreate(const TfLiteHexagonDelegateOptions *options)
{
    struct hexagon_options own = {.c = options ? *options : TfLiteHexagonDelegateOptionsDefault()};
    struct hexagon_delegate *delegate = create(&own, false, NULL);
    char why[256];
    if (!delegate || find_processor(delegate, why, sizeof why)) return delegate ? &delegate->base.tflite : NULL;
    hl_report(NULL, "Hexagon Delegate is not supported: %s", why);
    TfLiteHexagonDelegateDelete(&delegate->base.tflite);
    return NULL;
}

void TfLiteHexagonDelegateDelete(TfLiteDelegate *tflite)
{
    struct hexagon_delegate *delegate = (struct hexagon_delegate *)delegate_of(tflite, &hexagon_kind);
    if (!delegate) return;
    if (delegate->connected) delegate->system.global_teardown();
    hexagon_options_free(&delegate->options);
    delegate_end(&delegate->base);
    free(delegate);
}

// ---- plug-in ------------------------------------------------------------------------------------

static TfLiteDelegate *create_from_keys(const char *const *keys, const char *const *values, size_t count,
                                        const struct hl_reporter *reporter)
{
    struct hexagon_options own;
    if (!hexagon_options_from_keys(keys, values, count, reporter, &own)) return NULL;
    struct hexagon_delegate *delegate = create(&own, true, reporter);
    return delegate ? &delegate->base.tflite : NULL;
}

TfLiteDelegate *tflite_plugin_create_delegate(const char *const *options_keys, const char *const *options_values,
                                              size_t num_options, void (*report_error)(const char *))
{
    return delegate_plugin_create(options_keys, options_values, num_options, report_error, create_from_keys);
}

void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate)
{
    TfLiteHexagonDelegateDelete(delegate);
}
