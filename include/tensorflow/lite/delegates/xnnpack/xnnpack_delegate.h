// SPDX-License-Identifier: Apache-2.0
//
// The XNNPACK delegate's interface. Halite's CPU kernels are fast by themselves, so its delegate
// leaves every node to them; programs written for XNNPACK work as they are. Threads, the weights
// cache and the file for it have an effect, on all CPU kernels of the interpreter. What has none says
// so, and why.
#ifndef TENSORFLOW_LITE_DELEGATES_XNNPACK_XNNPACK_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_XNNPACK_XNNPACK_DELEGATE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bits for TfLiteXNNPackDelegateOptions.flags. Most say which ops XNNPACK is to take from the slower
// kernels of the runtime. They are kept and have no effect: there is one set of kernels here, and no
// second one to leave an op to.
// Signed 8-bit quantized ops: always fast, with the results of the reference kernels bit for bit.
#define TFLITE_XNNPACK_DELEGATE_FLAG_QS8 0x00000001
// Unsigned 8-bit quantized ops: the same.
#define TFLITE_XNNPACK_DELEGATE_FLAG_QU8 0x00000002
// Compute float32 ops in half precision, or fail where the CPU cannot. No effect, for no kernel here
// computes with halves: results are those of float32, which is more than what was asked for.
#define TFLITE_XNNPACK_DELEGATE_FLAG_FORCE_FP16 0x00000004
// FULLY_CONNECTED whose weights are not constant: always taken.
#define TFLITE_XNNPACK_DELEGATE_FLAG_DYNAMIC_FULLY_CONNECTED 0x00000008
// VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE: always taken.
#define TFLITE_XNNPACK_DELEGATE_FLAG_VARIABLE_OPERATORS 0x00000010
// Less memory between invocations, for more work in each. No effect: tables of pointers are made in
// each invocation, in scratch memory of their thread.
#define TFLITE_XNNPACK_DELEGATE_FLAG_TRANSIENT_INDIRECTION_BUFFER 0x00000020
// Ops that are newer than the default set: all are taken always.
#define TFLITE_XNNPACK_DELEGATE_FLAG_ENABLE_LATEST_OPERATORS 0x00000040
// Resize without building the delegate's graph again; the other bit switches it off. No effect: the
// delegate has no graph of its own.
#define TFLITE_XNNPACK_DELEGATE_FLAG_ENABLE_SUBGRAPH_RESHAPING 0x00000080
// The same results on every CPU, at the price of speed: the reference kernels, as with
// HaliteInterpreterOptionsSetKernels, whose floats are added in one order everywhere.
#define TFLITE_XNNPACK_DELEGATE_FLAG_SLOW_CONSISTENT_ARITHMETIC 0x00000200
#define TFLITE_XNNPACK_DELEGATE_FLAG_DISABLE_SUBGRAPH_RESHAPING 0x00000400
// Leave float ops that quantize their input on the fly to the runtime. No effect: they quantize here
// as the runtime's own do, and must, for their weights are stored so.
#define TFLITE_XNNPACK_DELEGATE_FLAG_DISABLE_DYNAMICALLY_QUANTIZED_OPS 0x00000800

// Packed weights that the interpreters of several delegates share: a HaliteWeightsCache
// (halite/halite.h).
struct TfLiteXNNPackDelegateWeightsCache;

typedef struct {
    // CPU threads of the interpreter that the delegate is applied to. 0 or negative: as many as its
    // own options say.
    int32_t num_threads;
    // Flags of the XNNPACK runtime; 0. No effect: there is none.
    uint32_t runtime_flags;
    // Bits TFLITE_XNNPACK_DELEGATE_FLAG_...
    uint32_t flags;
    // Not owned; must outlive the delegate. NULL: weights are not shared, but for those of a file.
    struct TfLiteXNNPackDelegateWeightsCache* weights_cache;
    // Take ops on variables. Older way to say VARIABLE_OPERATORS, and like it without an effect.
    bool handle_variable_ops;
    // File that keeps packed weights from one start to the next (HaliteWeightsCacheCreateWithFile),
    // used in place of weights_cache, or NULL. Copied. TfLiteXNNPackDelegateInMemoryFilePath(): no
    // file, but the delegate's interpreters share their weights.
    const char* weight_cache_file_path;
    // Open descriptor of that file, used instead of opening the path; 0 or below: none. No effect:
    // a file is replaced as a whole, which needs its path.
    int weight_cache_file_descriptor;
    // Provider of packed weights in XNNPACK's own form, or NULL. No effect: the form here is another.
    void* weight_cache_provider;
    // Keep packed weights from being paged out. No effect: the system may drop pages of the file, and
    // reads them again. Programs that want none dropped call mlockall.
    bool weight_cache_lock_memory;
} TfLiteXNNPackDelegateOptions;

// Whether packed weights can be kept in a file that exists in memory only: true.
TFL_CAPI_EXPORT extern bool TfLiteXNNPackDelegateCanUseInMemoryWeightCacheProvider(void);

// Value of weight_cache_file_path that asks for such a file. Static.
TFL_CAPI_EXPORT extern const char* TfLiteXNNPackDelegateInMemoryFilePath(void);

// The values that a delegate made without options has. The library's function writes the first 24
// bytes only, all zero, because programs built with older headers have no room for more. Programs
// built with this header get every field: the macro below takes the place of the call.
TFL_CAPI_EXPORT extern TfLiteXNNPackDelegateOptions TfLiteXNNPackDelegateOptionsDefault(void);
static inline TfLiteXNNPackDelegateOptions HaliteXNNPackDelegateOptionsDefault(void) {
    TfLiteXNNPackDelegateOptions options;
    options.num_threads = 0;
    options.runtime_flags = 0;
    options.flags = TFLITE_XNNPACK_DELEGATE_FLAG_QS8 | TFLITE_XNNPACK_DELEGATE_FLAG_QU8;
    options.weights_cache = NULL;
    options.handle_variable_ops = false;
    options.weight_cache_file_path = NULL;
    options.weight_cache_file_descriptor = -1;
    options.weight_cache_provider = NULL;
    options.weight_cache_lock_memory = false;
    return options;
}
#define TfLiteXNNPackDelegateOptionsDefault() HaliteXNNPackDelegateOptionsDefault()

// New delegate; options are copied, NULL means the defaults. The caller frees it with
// TfLiteXNNPackDelegateDelete after every interpreter that uses it. NULL on failure. The library's
// function reads num_threads only, because structs of other releases differ after it and may end
// there. Programs built with this header get every field: the macro below takes the place of the
// call, and says how many bytes of `options` there are.
TFL_CAPI_EXPORT extern TfLiteDelegate* TfLiteXNNPackDelegateCreate(
    const TfLiteXNNPackDelegateOptions* options);
TFL_CAPI_EXPORT extern TfLiteDelegate* HaliteXNNPackDelegateCreate(
    const TfLiteXNNPackDelegateOptions* options, size_t size);
#define TfLiteXNNPackDelegateCreate(...) \
    HaliteXNNPackDelegateCreate((__VA_ARGS__), sizeof(TfLiteXNNPackDelegateOptions))

// As the library's TfLiteXNNPackDelegateCreate, with the thread pool of `context` where it has one.
// The context must outlive the delegate.
TFL_CAPI_EXPORT extern TfLiteDelegate* TfLiteXNNPackDelegateCreateWithThreadpool(
    const TfLiteXNNPackDelegateOptions* options, TfLiteContext* context);

// The delegate's pthreadpool_t; NULL here, for the threads are the interpreter's own.
TFL_CAPI_EXPORT extern void* TfLiteXNNPackDelegateGetThreadPool(TfLiteDelegate* delegate);

// The options in use. The delegate's own. NULL for a NULL delegate.
TFL_CAPI_EXPORT extern const TfLiteXNNPackDelegateOptions* TfLiteXNNPackDelegateGetOptions(
    TfLiteDelegate* delegate);

// The `flags` in use; 0 for a NULL delegate.
TFL_CAPI_EXPORT extern int TfLiteXNNPackDelegateGetFlags(TfLiteDelegate* delegate);

// Frees a delegate, not its weights cache. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteXNNPackDelegateDelete(TfLiteDelegate* delegate);

// New cache. The caller frees it with TfLiteXNNPackDelegateWeightsCacheDelete after every delegate
// that uses it. NULL when memory is short.
TFL_CAPI_EXPORT extern struct TfLiteXNNPackDelegateWeightsCache*
TfLiteXNNPackDelegateWeightsCacheCreate(void);

// The same with room for `size` bytes from the start; it grows as needed.
TFL_CAPI_EXPORT extern struct TfLiteXNNPackDelegateWeightsCache*
TfLiteXNNPackDelegateWeightsCacheCreateWithSize(size_t size);

// Ends the filling of a cache; XNNPACK needs it before the first invocation, Halite does not. Soft:
// interpreters still share what is in it. Hard: later ones do not. Either way they work, with
// weights of their own. False when it was finalized before or is NULL.
TFL_CAPI_EXPORT extern bool TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(
    struct TfLiteXNNPackDelegateWeightsCache* cache);
TFL_CAPI_EXPORT extern bool TfLiteXNNPackDelegateWeightsCacheFinalizeHard(
    struct TfLiteXNNPackDelegateWeightsCache* cache);

// Frees a cache. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteXNNPackDelegateWeightsCacheDelete(
    struct TfLiteXNNPackDelegateWeightsCache* cache);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_XNNPACK_XNNPACK_DELEGATE_H_
