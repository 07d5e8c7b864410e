// SPDX-License-Identifier: Apache-2.0
// See options.h.
#include "delegates/nnapi/options.h"

#include "delegates/common/options.h"
#include "delegates/nnapi/abi.h"

static const struct delegate_word preferences[] = {
    {"undefined", -1},
    {"low_power", ANEURALNETWORKS_PREFER_LOW_POWER},
    {"fast_single_answer", ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER},
    {"sustained_speed", ANEURALNETWORKS_PREFER_SUSTAINED_SPEED},
    {NULL, 0},
};
static const struct delegate_word priorities[] = {
    {"default", ANEURALNETWORKS_PRIORITY_MEDIUM},
    {"low", ANEURALNETWORKS_PRIORITY_LOW},
    {"medium", ANEURALNETWORKS_PRIORITY_MEDIUM},
    {"high", ANEURALNETWORKS_PRIORITY_HIGH},
    {NULL, 0},
};

#define OPTION(name, kind, ...)                                                         \
    {                                                                                   \
#name, DELEGATE_##kind, offsetof(struct nnapi_options, name), __VA_ARGS__, NULL \
    }
static const struct delegate_option known[] = {
    OPTION(execution_preference, WORD, preferences),
    OPTION(execution_priority, WORD, priorities),
    OPTION(accelerator_name, TEXT, NULL),
    OPTION(cache_dir, TEXT, NULL),
    OPTION(model_token, TEXT, NULL),
    OPTION(library_path, TEXT, NULL),
    OPTION(support_library_path, TEXT, NULL),
    OPTION(disallow_nnapi_cpu, BOOL, NULL),
    OPTION(allow_fp16, BOOL, NULL),
    OPTION(allow_dynamic_dimensions, BOOL, NULL),
    OPTION(use_burst_computation, BOOL, NULL),
    OPTION(max_number_delegated_partitions, INT, NULL),
    {"max_delegated_partitions", DELEGATE_INT, offsetof(struct nnapi_options, max_number_delegated_partitions), NULL,
     NULL},
    // Names that Halite's other delegates and its tools have for the same.
    {"device", DELEGATE_TEXT, offsetof(struct nnapi_options, accelerator_name), NULL, NULL},
    {"serialization_dir", DELEGATE_TEXT, offsetof(struct nnapi_options, cache_dir), NULL, NULL},
    OPTION(min_nodes_per_partition, INT, NULL),
    OPTION(max_execution_cache_size, INT, NULL),
    OPTION(max_compilation_timeout_duration_ns, COUNT, NULL),
    OPTION(max_execution_timeout_duration_ns, COUNT, NULL),
    OPTION(max_execution_loop_timeout_duration_ns, COUNT, NULL),
};
enum { KNOWN = sizeof known / sizeof *known };

TfLiteNnapiDelegateOptions TfLiteNnapiDelegateOptionsDefault(void)
{
    return (TfLiteNnapiDelegateOptions){
        .execution_preference = kUndefined,
        .disallow_nnapi_cpu = 1,
        .max_number_delegated_partitions = 3,
    };
}

struct nnapi_options nnapi_options_default(void)
{
    return (struct nnapi_options){
        .execution_preference = -1,
        .execution_priority = ANEURALNETWORKS_PRIORITY_MEDIUM,
        .disallow_nnapi_cpu = true,
        .max_number_delegated_partitions = 3,
        .min_nodes_per_partition = 1,
        .max_execution_cache_size = 4,
    };
}

bool nnapi_options_from_c(const TfLiteNnapiDelegateOptions *from, struct nnapi_options *options)
{
    *options = nnapi_options_default();
    if (!from) return true;
    options->execution_preference = from->execution_preference;
    options->disallow_nnapi_cpu = from->disallow_nnapi_cpu != 0;
    options->allow_fp16 = from->allow_fp16 != 0;
    options->max_number_delegated_partitions = from->max_number_delegated_partitions;
    options->support_library = from->nnapi_support_library_handle;
    if (delegate_option_text(from->accelerator_name, &options->accelerator_name) &&
        delegate_option_text(from->cache_dir, &options->cache_dir) &&
        delegate_option_text(from->model_token, &options->model_token))
        return true;
    nnapi_options_free(options);
    return false;
}

bool nnapi_options_from_keys(const char *const *keys, const char *const *values, size_t count,
                             const struct hl_reporter *reporter, struct nnapi_options *options)
{
    *options = nnapi_options_default();
    if (delegate_options_read(known, KNOWN, keys, values, count, "NNAPI delegate", reporter, options)) {
        if (!options->cache_dir != !options->model_token)
            hl_report(reporter, "NNAPI delegate: no compiled models are kept: option %s is missing",
                      options->cache_dir ? "model_token" : "cache_dir");
        return true;
    }
    nnapi_options_free(options);
    return false;
}

void nnapi_options_free(struct nnapi_options *options)
{
    delegate_options_free(known, KNOWN, options);
}
