// SPDX-License-Identifier: Apache-2.0
// See plugin.h.
#include "delegates/common/plugin.h"

#include <stdio.h>

struct loader {
    void (*report_error)(const char *);
};

static void write_to_loader(void *user_data, const char *format, va_list args)
{
    const struct loader *loader = user_data;
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    loader->report_error(text);
}

TfLiteDelegate *delegate_plugin_create(const char *const *keys, const char *const *values, size_t count,
                                       void (*report_error)(const char *), delegate_from_keys *create)
{
    struct loader loader = {report_error};
    struct hl_reporter reporter = {report_error ? write_to_loader : NULL, &loader};
    return create(keys, values, count, &reporter);
}

void delegate_plugin_skip_settings(const char *name, const void *tflite_settings)
{
    if (tflite_settings) hl_report(NULL, "%s: settings are not read; the delegate has the default options", name);
}
