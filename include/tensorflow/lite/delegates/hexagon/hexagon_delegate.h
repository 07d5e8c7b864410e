// SPDX-License-Identifier: Apache-2.0
//
// The delegate for Qualcomm's Hexagon processors, in libtensorflowlite_hexagon_delegate. It runs 8-bit
// quantized operators through libhexagon_interface.so, which comes with the processor's own libraries
// (libhexagon_nn_skel.so and its versions for newer processors); a float model stays on the CPU. All options
// also go by key and value through tflite_plugin_create_delegate (external_delegate_interface.h);
// docs/delegates.md lists them and the operators.
#ifndef TENSORFLOW_LITE_DELEGATES_HEXAGON_HEXAGON_DELEGATE_H_
#define TENSORFLOW_LITE_DELEGATES_HEXAGON_HEXAGON_DELEGATE_H_

#include "tensorflow/lite/core/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TfLiteHexagonDelegateOptions {
    // How much the processor's library writes to its log; 0: nothing.
    int debug_level;
    // 0: the highest performance; greater numbers save more power.
    int powersave_level;
    // True: write a table of cycles by node to standard output after each run.
    bool print_graph_profile;
    // True: write the graph as text to standard output once it is prepared.
    bool print_graph_debug;
    // Partitions to take at most; 0 or below: 4. There are never more than 16.
    int max_delegated_partitions;
    // Nodes that a partition has at least; 0 or below: 2.
    int min_nodes_per_partition;
    // True: the batch of inputs may change from run to run, up to max_batch_size, without a new graph.
    bool enable_dynamic_batch_size;
    int max_batch_size;
    // For each input and output of a partition, which dimension is the batch, -1: none. Used with
    // enable_dynamic_batch_size alone. They are lent: the caller keeps them as long as the delegate, and
    // frees them.
    TfLiteIntArray* input_batch_dimensions;
    TfLiteIntArray* output_batch_dimensions;
} TfLiteHexagonDelegateOptions;

// All zero.
TFL_CAPI_EXPORT extern TfLiteHexagonDelegateOptions TfLiteHexagonDelegateOptionsDefault(void);

// New delegate, to be freed with TfLiteHexagonDelegateDelete after every interpreter that uses it. options
// is copied; NULL: the defaults. NULL, after a message that says why, where libhexagon_interface.so is
// missing or incomplete, does not fit the processor's library, or where there is no supported processor.
// TfLiteHexagonInit or TfLiteHexagonInitWithPath comes first.
TFL_CAPI_EXPORT extern TfLiteDelegate* TfLiteHexagonDelegateCreate(
    const TfLiteHexagonDelegateOptions* options);

// Frees it. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteHexagonDelegateDelete(TfLiteDelegate* delegate);

// Connects the process to the processor; once, before the first delegate. Does nothing where there is none.
TFL_CAPI_EXPORT extern void TfLiteHexagonInit(void);

// The same, after setting the environment variable ADSP_LIBRARY_PATH, in which the processor's libraries are
// looked for, to this folder and then the system's own. NULL: as TfLiteHexagonInit.
TFL_CAPI_EXPORT extern void TfLiteHexagonInitWithPath(const char* lib_directory_path);

// Ends the connection, after the last delegate.
TFL_CAPI_EXPORT extern void TfLiteHexagonTearDown(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_LITE_DELEGATES_HEXAGON_HEXAGON_DELEGATE_H_
