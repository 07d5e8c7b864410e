// SPDX-License-Identifier: Apache-2.0
// What the two plug-in interfaces of each delegate have in common. In: the arguments of a loader, which takes messages
// as plain text. Out: the delegate that the library makes of its own options.
#ifndef HALITE_DELEGATES_COMMON_PLUGIN_H
#define HALITE_DELEGATES_COMMON_PLUGIN_H

#include "base/report.h"
#include "tensorflow/lite/c/common.h"

// Makes a delegate of options in keys and values; NULL after a message.
typedef TfLiteDelegate *delegate_from_keys(const char *const *keys, const char *const *values, size_t count,
                                           const struct hl_reporter *reporter);

// tflite_plugin_create_delegate.
TfLiteDelegate *delegate_plugin_create(const char *const *keys, const char *const *values, size_t count,
                                       void (*report_error)(const char *), delegate_from_keys *create);

// For the create of a TfLiteDelegatePlugin: says that settings are not read, if there are any. name: of the function
// that returns the plug-in.
void delegate_plugin_skip_settings(const char *name, const void *tflite_settings);

#endif
