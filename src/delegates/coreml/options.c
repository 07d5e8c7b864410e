// SPDX-License-Identifier: Apache-2.0
// See options.h.
#include "delegates/coreml/options.h"

#include "delegates/common/options.h"

static const struct delegate_word devices[] = {
    {"neural_engine", TfLiteCoreMlDelegateDevicesWithNeuralEngine},
    {"all", TfLiteCoreMlDelegateAllDevices},
    {NULL, 0},
};
static const struct delegate_word runners[] = {
    {"system", COREML_RUNNER_SYSTEM},
    {"none", COREML_RUNNER_NONE},
    {NULL, 0},
};

// clang-format off
#define OPTION(key, member, type, ...) \
    {.name = key, .kind = DELEGATE_##type, .at = offsetof(struct coreml_options, member), __VA_ARGS__}
static const struct delegate_option known[] = {
    OPTION("enabled_devices", enabled_devices, WORD, .words = devices),
    OPTION("device", enabled_devices, WORD, .words = devices), // as tools call it
    OPTION("coreml_version", coreml_version, INT, .words = NULL),
    OPTION("max_delegated_partitions", max_delegated_partitions, INT, .words = NULL),
    OPTION("min_nodes_per_partition", min_nodes_per_partition, INT, .words = NULL),
    OPTION("runner", runner, WORD, .words = runners),
};
// clang-format on

struct coreml_options coreml_options_from_c(const TfLiteCoreMlDelegateOptions *from)
{
    if (!from) return (struct coreml_options){0};
    return (struct coreml_options){
        .enabled_devices = from->enabled_devices,
        .coreml_version = from->coreml_version,
        .max_delegated_partitions = from->max_delegated_partitions,
        .min_nodes_per_partition = from->min_nodes_per_partition,
    };
}

bool coreml_options_from_keys(const char *const *keys, const char *const *values, size_t count,
                              const struct hl_reporter *reporter, struct coreml_options *options)
{
    *options = coreml_options_from_c(NULL);
    return delegate_options_read(known, sizeof known / sizeof *known, keys, values, count, "Core ML delegate", reporter,
                                 options);
}
