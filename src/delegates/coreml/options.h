// SPDX-License-Identifier: Apache-2.0
// The options of the Core ML delegate: those of the documented struct, and one more that comes by key and value.
#ifndef HALITE_DELEGATES_COREML_OPTIONS_H
#define HALITE_DELEGATES_COREML_OPTIONS_H

#include "base/report.h"
#include "tensorflow/lite/delegates/coreml/coreml_delegate.h"

enum coreml_runner_choice {
    COREML_RUNNER_SYSTEM, // Core ML
    COREML_RUNNER_NONE,   // nothing: to see where nodes would run
};

struct coreml_options {
    int enabled_devices;          // TfLiteCoreMlDelegateEnabledDevices
    int coreml_version;           // 2 or 3; 0: the newest that there is
    int max_delegated_partitions; // 0 or less: any number
    int min_nodes_per_partition;  // 0 or less: 2
    int runner;                   // enum coreml_runner_choice
};

// from: NULL for the defaults.
struct coreml_options coreml_options_from_c(const TfLiteCoreMlDelegateOptions *from);
// False after a message.
bool coreml_options_from_keys(const char *const *keys, const char *const *values, size_t count,
                              const struct hl_reporter *reporter, struct coreml_options *options);

#endif
