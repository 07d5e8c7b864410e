// SPDX-License-Identifier: Apache-2.0
// What the files of LiteRT's core share: the objects behind the handles, and how a function fails. In: calls of
// include/litert/c. Out: calls of include/tensorflow/lite and include/halite, which is all that the core knows of the
// runtime.
//
// Arguments are checked in the functions that users call and nowhere below them.
#ifndef HALITE_LITERT_CORE_CORE_H
#define HALITE_LITERT_CORE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/report.h"
#include "halite/halite.h"
#include "litert/c/internal/litert_accelerator_def.h"
#include "litert/c/litert_event.h"
#include "litert/c/litert_tensor_buffer.h"

// ---- failing ------------------------------------------------------------------------------------

// Reports one line and gives the status back.
LiteRtStatus litert_fail(LiteRtStatus status, const char *format, ...) HL_PRINTF(2, 3);

// Leaves a function whose caller passed NULL, or an index at or above count.
#define LITERT_NEED(condition)                                                                                   \
    do {                                                                                                         \
        if (!(condition))                                                                                        \
            return litert_fail(kLiteRtStatusErrorInvalidArgument, "%s: an argument is NULL or empty", __func__); \
    } while (0)
#define LITERT_INDEX(index, count)                                                                            \
    do {                                                                                                      \
        if ((size_t)(index) >= (size_t)(count))                                                               \
            return litert_fail(kLiteRtStatusErrorIndexOOB, "%s: index %zu of %zu", __func__, (size_t)(index), \
                               (size_t)(count));                                                              \
    } while (0)
// A function that reads one value of an object; the expression speaks of `object`.
#define LITERT_GETTER(function, Object, Value, expression) \
    LiteRtStatus function(Object object, Value *value)     \
    {                                                      \
        LITERT_NEED(object &&value);                       \
        *value = (expression);                             \
        return kLiteRtStatusOk;                            \
    }
#define LITERT_MEMORY(pointer)                                                                                        \
    do {                                                                                                              \
        if (!(pointer)) return litert_fail(kLiteRtStatusErrorMemoryAllocationFailure, "%s: out of memory", __func__); \
    } while (0)

char *litert_copy_text(const char *text); // NULL without memory

// ---- objects ------------------------------------------------------------------------------------

struct LiteRtAcceleratorT {
    const LiteRtAcceleratorDef *def; // NULL: the CPU
};

struct LiteRtEnvironmentOptionsT {
    int count;
    LiteRtEnvOption *options; // texts in them are copies
};

struct LiteRtEnvironmentT {
    struct LiteRtEnvironmentOptionsT options;
    struct hl_library *library; // of accelerators[0], NULL: none was opened
    int accelerator_count;
    struct LiteRtAcceleratorT accelerators[2]; // the GPU's, if there is one, and the CPU
};

struct LiteRtOptionsT {
    LiteRtHwAcceleratorSet hardware;
    LiteRtOpaqueOptions opaque; // the first item of a list, or NULL
};

struct LiteRtTensorT {
    const TfLiteTensor *tensor; // of the model's own interpreter
    uint32_t index;
    int64_t *zero_points; // of a tensor that is quantized per channel, else NULL
};

struct LiteRtSubgraphT {
    size_t tensor_count;
    struct LiteRtTensorT *tensors;
    bool is_known; // whether inputs and outputs are
    size_t input_count, output_count;
    const int *inputs, *outputs; // tensors
};

// Inputs and outputs of a graph by name.
struct LiteRtSignatureT {
    const char *key;
    int subgraph;
    struct LiteRtSubgraphT *graph;
    size_t input_count, output_count;
    const char **names; // those of the inputs, then those of the outputs
    int *tensors;       // the same for their tensors
};

struct litert_metadata {
    struct litert_metadata *next;
    char *name;
    void *bytes;
    size_t size;
};

struct LiteRtModelT {
    TfLiteModel *tflite;
    void *bytes; // of a model that was read from a descriptor
    // Never allocates nor runs: tensors and signatures are looked up in it.
    TfLiteInterpreter *interpreter;
    size_t subgraph_count, signature_count;
    struct LiteRtSubgraphT *subgraphs;
    struct LiteRtSignatureT *signatures;
    struct litert_metadata *metadata; // what was added
};

struct LiteRtEventT {
    LiteRtCustomEvent custom; // NULL: nothing to wait for
};

struct LiteRtTensorBufferT {
    int references;
    LiteRtRankedTensorType type;
    size_t bytes, packed_bytes;
    void *memory;
    LiteRtHostMemoryDeallocator deallocator; // NULL: memory of the caller
    bool is_locked;
    LiteRtEvent event; // NULL: none
};

enum { LITERT_MAX_BUFFER_TYPES = 16 };

struct LiteRtTensorBufferRequirementsT {
    int type_count, stride_count;
    LiteRtTensorBufferType types[LITERT_MAX_BUFFER_TYPES];
    uint32_t strides[LITERT_TENSOR_MAX_RANK];
    size_t bytes, alignment;
};

struct LiteRtDelegateWrapperT {
    TfLiteOpaqueDelegate *delegate;
    void (*deleter)(TfLiteOpaqueDelegate *delegate);
};

// ---- shared functions ---------------------------------------------------------------------------

// The functions that accelerators get.
LiteRtRuntimeContext *litert_runtime_context(void);
// Copies a program's options, which the other function frees.
LiteRtStatus litert_copy_environment_options(LiteRtEnvironment environment, int count, const LiteRtEnvOption *options);
void litert_free_environment_options(LiteRtEnvironment environment);
// Finds the environment's accelerators; that there is no library of one is no error.
void litert_find_accelerators(LiteRtEnvironment environment);
void litert_close_accelerators(LiteRtEnvironment environment);
// The layout of a tensor: as the model says (-1 where it leaves a dimension open), or as it is now.
LiteRtStatus litert_model_layout(const TfLiteTensor *tensor, LiteRtLayout *layout);
LiteRtStatus litert_present_layout(const TfLiteTensor *tensor, LiteRtLayout *layout);

#endif
