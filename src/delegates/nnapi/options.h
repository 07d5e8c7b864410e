// SPDX-License-Identifier: Apache-2.0
// The options of the NNAPI delegate: those of the documented C interface, and all others of the original, which come by
// key and value. Texts are copies that belong to the struct.
#ifndef HALITE_DELEGATES_NNAPI_OPTIONS_H
#define HALITE_DELEGATES_NNAPI_OPTIONS_H

#include "base/report.h"
#include "tensorflow/lite/delegates/nnapi/nnapi_delegate_c_api.h"

struct nnapi_options {
    int execution_preference; // -1: none
    int execution_priority;
    char *accelerator_name, *cache_dir, *model_token;
    char *library_path;          // in place of the system's library
    char *support_library_path;  // of a vendor
    const void *support_library; // the struct that one returned; lent
    bool disallow_nnapi_cpu, allow_fp16, allow_dynamic_dimensions, use_burst_computation;
    int max_number_delegated_partitions; // 0 or less: any number
    int min_nodes_per_partition;
    int max_execution_cache_size;
    uint64_t max_compilation_timeout_duration_ns, max_execution_timeout_duration_ns;
    uint64_t max_execution_loop_timeout_duration_ns; // of each: 0: no limit
};

struct nnapi_options nnapi_options_default(void);
// False without memory. from: NULL for the defaults.
bool nnapi_options_from_c(const TfLiteNnapiDelegateOptions *from, struct nnapi_options *options);
// False after a message.
bool nnapi_options_from_keys(const char *const *keys, const char *const *values, size_t count,
                             const struct hl_reporter *reporter, struct nnapi_options *options);
void nnapi_options_free(struct nnapi_options *options);

#endif
