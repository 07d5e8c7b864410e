// SPDX-License-Identifier: Apache-2.0
// Structs that grew between releases, with the form that older programs have: what both know must lie where it lay.
// Nothing runs: what does not compile is broken. Sizes of older forms were read from libraries of 2.14.0 and 2.17.1 and
// from headers of 2.19 and of LiteRT 1.4 to 2.2; of no other struct was a size found there that abi_layout.c does not
// demand. docs/compatibility.md has the table for people: abi_releases.sh compares the two. Compiles as C and as C++.
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"

#ifdef __cplusplus
#define HOLDS(condition) static_assert(condition, #condition)
#else
#define HOLDS(condition) _Static_assert(condition, #condition)
#endif

// In 64-bit programs that know `form`, the struct is `bytes` long and ends before `field`.
#define GREW(type, bytes, form, field) HOLDS(offsetof(type, field) == (bytes))

#if UINTPTR_MAX == UINT64_MAX
// clang-format off
GREW(TfLiteRegistration,         64, V1,   registration_external);
GREW(TfLiteRegistration,         72, V2,   async_kernel);
GREW(TfLiteRegistration,         80, V3,   inplace_operator);
GREW(TfLiteConvParams,           24, 2.14, quantized_bias_type);
GREW(TfLiteFullyConnectedParams, 12, 2.14, quantized_bias_type);
GREW(TfLiteTransposeConvParams,  16, 2.14, quantized_bias_type);
// clang-format on

// XNNPACK's options alone got a field in the middle, so that of older forms only the first field can be read.
struct xnnpack_2_13 {
    int32_t num_threads;
    uint32_t flags;
    void *weights_cache;
    bool handle_variable_ops;
};
struct xnnpack_2_17 {
    int32_t num_threads;
    uint32_t flags;
    void *weights_cache;
    bool handle_variable_ops;
    const char *weight_cache_file_path;
};
struct xnnpack_litert_1_4 {
    int32_t num_threads;
    uint32_t runtime_flags;
    uint32_t flags;
    void *weights_cache;
    bool handle_variable_ops;
    const char *weight_cache_file_path;
    int weight_cache_file_descriptor;
    void *weight_cache_provider;
};
HOLDS(sizeof(struct xnnpack_2_13) == 24);
HOLDS(sizeof(struct xnnpack_2_17) == 32);
HOLDS(sizeof(struct xnnpack_litert_1_4) == 56);
HOLDS(sizeof(TfLiteXNNPackDelegateOptions) == 64);
HOLDS(offsetof(TfLiteXNNPackDelegateOptions, num_threads) == offsetof(struct xnnpack_2_13, num_threads));
HOLDS(offsetof(TfLiteXNNPackDelegateOptions, weight_cache_lock_memory) == sizeof(struct xnnpack_litert_1_4));
#endif

int main(void)
{
    return 0;
}
