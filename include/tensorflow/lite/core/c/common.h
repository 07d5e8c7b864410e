// SPDX-License-Identifier: Apache-2.0
//
// The structs through which the runtime, its kernels, custom ops and delegates meet: tensors,
// nodes, operator registrations, delegates and the context. Layouts and values are the binary
// interface of TensorFlow Lite: no field may move, grow or change its type.
// Application code needs c_api.h only; this header is for code that adds ops or delegates.
#ifndef TENSORFLOW_LITE_CORE_C_COMMON_H_
#define TENSORFLOW_LITE_CORE_C_COMMON_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/core/c/c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct TfLiteAsyncKernel;
struct TfLiteContext;
struct TfLiteOpaqueDelegateBuilder;
struct TfLiteRegistration;

// ---------------------------------------------------------------------------------------------
// External contexts: objects that several ops of one interpreter share.

typedef enum TfLiteExternalContextType {
    kTfLiteEigenContext = 0,
    kTfLiteGemmLowpContext = 1,
    kTfLiteEdgeTpuContext = 2,
    kTfLiteCpuBackendContext = 3,
    kTfLiteLiteRtBufferContext = 4,
    kTfLiteMaxExternalContexts = 5  // count, not a type
} TfLiteExternalContextType;

// First member of every external context.
typedef struct TfLiteExternalContext {
    TfLiteExternalContextType type;
    // Called after the recommended number of threads changed. May be NULL.
    TfLiteStatus (*Refresh)(struct TfLiteContext* context);
} TfLiteExternalContext;

// Index that a node's input list holds for an optional input that was left out.
#define kTfLiteOptionalTensor (-1)

// ---------------------------------------------------------------------------------------------
// Arrays that carry their length.

// Arrays of unknown length at the end of a struct are an extension in C++.
#if defined(_MSC_VER) && !defined(__clang__)
#pragma warning(push)
#pragma warning(disable : 4200)
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wc99-extensions"
#endif
#endif

// size is the count of ints in data, not of bytes. Made with TfLiteIntArrayCreate (malloc) and
// freed with TfLiteIntArrayFree; plain free() is the same.
typedef struct TfLiteIntArray {
    int size;
    int data[];
} TfLiteIntArray;

// As TfLiteIntArray, with floats.
typedef struct TfLiteFloatArray {
    int size;
    float data[];
} TfLiteFloatArray;

#if defined(_MSC_VER) && !defined(__clang__)
#pragma warning(pop)
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

// Bytes that an array of `size` elements takes, header included. size must not be negative.
TFL_CAPI_EXPORT extern size_t TfLiteIntArrayGetSizeInBytes(int size);

// New array with its elements not yet set. The caller owns it. NULL when memory is short or
// size is negative.
TFL_CAPI_EXPORT extern TfLiteIntArray* TfLiteIntArrayCreate(int size);

// 1 when both hold the same elements in the same order, else 0. NULL equals only NULL.
TFL_CAPI_EXPORT extern int TfLiteIntArrayEqual(const TfLiteIntArray* a, const TfLiteIntArray* b);

// As TfLiteIntArrayEqual, against b_size plain ints. A NULL `a` equals an empty b.
TFL_CAPI_EXPORT extern int TfLiteIntArrayEqualsArray(const TfLiteIntArray* a, int b_size,
                                                     const int b_data[]);

// Copy that the caller owns. NULL when src is NULL or memory is short.
TFL_CAPI_EXPORT extern TfLiteIntArray* TfLiteIntArrayCopy(const TfLiteIntArray* src);

// Frees an array. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteIntArrayFree(TfLiteIntArray* a);

// The same for floats.
TFL_CAPI_EXPORT extern int TfLiteFloatArrayGetSizeInBytes(int size);
TFL_CAPI_EXPORT extern TfLiteFloatArray* TfLiteFloatArrayCreate(int size);
TFL_CAPI_EXPORT extern TfLiteFloatArray* TfLiteFloatArrayCopy(const TfLiteFloatArray* src);
TFL_CAPI_EXPORT extern void TfLiteFloatArrayFree(TfLiteFloatArray* a);

// ---------------------------------------------------------------------------------------------
// Logging and checks for kernels. Each check logs file, line and what failed through the
// context, then returns an error from the enclosing function, which must return TfLiteStatus.
// The arguments of a failing check are evaluated twice. Define TF_LITE_STRIP_ERROR_STRINGS to
// drop all texts from the binary.

#ifndef TF_LITE_STRIP_ERROR_STRINGS
// Formats like printf.
#define TF_LITE_KERNEL_LOG(context, ...)                \
    do {                                                \
        (context)->ReportError((context), __VA_ARGS__); \
    } while (false)

// As TF_LITE_KERNEL_LOG; silent when context is NULL.
#define TF_LITE_MAYBE_KERNEL_LOG(context, ...)              \
    do {                                                    \
        if ((context) != NULL) {                            \
            (context)->ReportError((context), __VA_ARGS__); \
        }                                                   \
    } while (false)
#else
#define TF_LITE_KERNEL_LOG(context, ...) ((void)sizeof(#__VA_ARGS__))
#define TF_LITE_MAYBE_KERNEL_LOG(context, ...) ((void)sizeof(#__VA_ARGS__))
#endif

#define TFLITE_TEXT_OF_(x) #x
#define TFLITE_TEXT_OF(x) TFLITE_TEXT_OF_(x)

// value must hold, else logs the rest, a string literal as for printf and its arguments, and
// returns kTfLiteError.
#define TF_LITE_ENSURE_MSG(context, value, ...)                                                   \
    do {                                                                                          \
        if (!(value)) {                                                                           \
            TF_LITE_KERNEL_LOG((context), __FILE__ ":" TFLITE_TEXT_OF(__LINE__) " " __VA_ARGS__); \
            return kTfLiteError;                                                                  \
        }                                                                                         \
    } while (false)

// a must hold, else logs the expression and returns kTfLiteError.
#define TF_LITE_ENSURE(context, a)                                                           \
    do {                                                                                     \
        if (!(a)) {                                                                          \
            TF_LITE_KERNEL_LOG((context), "%s:%d %s was not true.", __FILE__, __LINE__, #a); \
            return kTfLiteError;                                                             \
        }                                                                                    \
    } while (false)

// a must be kTfLiteOk, else returns it. Logs nothing: whoever made the status did.
#define TF_LITE_ENSURE_STATUS(a)                   \
    do {                                           \
        const TfLiteStatus tflite_ensure_s_ = (a); \
        if (tflite_ensure_s_ != kTfLiteOk) {       \
            return tflite_ensure_s_;               \
        }                                          \
    } while (false)

// As TF_LITE_ENSURE_STATUS. A string literal as for printf and its arguments may follow: then they are logged.
#define TF_LITE_ENSURE_OK(context, ...) \
    TFLITE_PICK_4_(__VA_ARGS__, TFLITE_ENSURE_OK_LOG_, TFLITE_ENSURE_OK_LOG_, TFLITE_ENSURE_OK_LOG_, \
                   TFLITE_ENSURE_OK_LOG_, TFLITE_ENSURE_OK_, unused)(context, __VA_ARGS__)
#define TFLITE_PICK_4_(a, b, c, d, e, picked, ...) picked
#define TFLITE_ENSURE_OK_(context, status) TF_LITE_ENSURE_STATUS(status)
#define TFLITE_ENSURE_OK_LOG_(context, status, ...)                                               \
    do {                                                                                          \
        const TfLiteStatus tflite_ensure_s_ = (status);                                           \
        if (tflite_ensure_s_ != kTfLiteOk) {                                                      \
            TF_LITE_KERNEL_LOG((context), __FILE__ ":" TFLITE_TEXT_OF(__LINE__) " " __VA_ARGS__); \
            return tflite_ensure_s_;                                                              \
        }                                                                                         \
    } while (false)

// a == b must hold, for integers.
#define TF_LITE_ENSURE_EQ(context, a, b)                                                       \
    do {                                                                                       \
        if ((a) != (b)) {                                                                      \
            TF_LITE_KERNEL_LOG((context), "%s:%d %s != %s (%lld != %lld)", __FILE__, __LINE__, \
                               #a, #b, (long long)(a), (long long)(b));                        \
            return kTfLiteError;                                                               \
        }                                                                                      \
    } while (false)

// a == b must hold, for two values of TfLiteType.
#define TF_LITE_ENSURE_TYPES_EQ(context, a, b)                                                 \
    do {                                                                                       \
        if ((a) != (b)) {                                                                      \
            TF_LITE_KERNEL_LOG((context), "%s:%d %s != %s (%s != %s)", __FILE__, __LINE__, #a, \
                               #b, TfLiteTypeGetName(a), TfLiteTypeGetName(b));                \
            return kTfLiteError;                                                               \
        }                                                                                      \
    } while (false)

// |a - b| <= epsilon must hold, for real numbers. NaN fails.
#define TF_LITE_ENSURE_NEAR(context, a, b, epsilon)                                            \
    do {                                                                                       \
        const double tflite_ensure_d_ =                                                        \
            (double)(a) > (double)(b) ? (double)(a) - (double)(b) : (double)(b) - (double)(a); \
        if (!(tflite_ensure_d_ <= (double)(epsilon))) {                                        \
            TF_LITE_KERNEL_LOG((context), "%s:%d %s not near %s (%f != %f)", __FILE__,         \
                               __LINE__, #a, #b, (double)(a), (double)(b));                    \
            return kTfLiteError;                                                               \
        }                                                                                      \
    } while (false)

// The same for code that sees opaque types only. They call functions of c_api_opaque.h: include
// it where they are used.
#ifndef TF_LITE_STRIP_ERROR_STRINGS
#define TF_LITE_OPAQUE_KERNEL_LOG(opaque_context, ...)                 \
    do {                                                               \
        TfLiteOpaqueContextReportError((opaque_context), __VA_ARGS__); \
    } while (false)

#define TF_LITE_OPAQUE_MAYBE_KERNEL_LOG(opaque_context, ...)               \
    do {                                                                   \
        if ((opaque_context) != NULL) {                                    \
            TfLiteOpaqueContextReportError((opaque_context), __VA_ARGS__); \
        }                                                                  \
    } while (false)
#else
#define TF_LITE_OPAQUE_KERNEL_LOG(opaque_context, ...) ((void)sizeof(#__VA_ARGS__))
#define TF_LITE_OPAQUE_MAYBE_KERNEL_LOG(opaque_context, ...) ((void)sizeof(#__VA_ARGS__))
#endif

// The message is no format here: it may hold percent signs.
#define TF_LITE_OPAQUE_ENSURE_MSG(opaque_context, value, msg)                                            \
    do {                                                                                                 \
        if (!(value)) {                                                                                  \
            TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s", __FILE__, __LINE__, (msg));          \
            return kTfLiteError;                                                                         \
        }                                                                                                \
    } while (false)

#define TF_LITE_OPAQUE_ENSURE(opaque_context, a)                                            \
    do {                                                                                    \
        if (!(a)) {                                                                         \
            TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s was not true.", __FILE__, \
                                      __LINE__, #a);                                        \
            return kTfLiteError;                                                            \
        }                                                                                   \
    } while (false)

#define TF_LITE_OPAQUE_ENSURE_STATUS(a) TF_LITE_ENSURE_STATUS(a)

#define TF_LITE_OPAQUE_ENSURE_EQ(opaque_context, a, b)                                   \
    do {                                                                                 \
        if ((a) != (b)) {                                                                \
            TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s != %s (%lld != %lld)", \
                                      __FILE__, __LINE__, #a, #b, (long long)(a),        \
                                      (long long)(b));                                   \
            return kTfLiteError;                                                         \
        }                                                                                \
    } while (false)

#define TF_LITE_OPAQUE_ENSURE_TYPES_EQ(opaque_context, a, b)                                   \
    do {                                                                                       \
        if ((a) != (b)) {                                                                      \
            TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s != %s (%s != %s)", __FILE__, \
                                      __LINE__, #a, #b, TfLiteTypeGetName(a),                  \
                                      TfLiteTypeGetName(b));                                   \
            return kTfLiteError;                                                               \
        }                                                                                      \
    } while (false)

#define TF_LITE_OPAQUE_ENSURE_NEAR(opaque_context, a, b, epsilon)                              \
    do {                                                                                       \
        const double tflite_ensure_d_ =                                                        \
            (double)(a) > (double)(b) ? (double)(a) - (double)(b) : (double)(b) - (double)(a); \
        if (!(tflite_ensure_d_ <= (double)(epsilon))) {                                        \
            TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s not near %s (%f != %f)",     \
                                      __FILE__, __LINE__, #a, #b, (double)(a), (double)(b));   \
            return kTfLiteError;                                                               \
        }                                                                                      \
    } while (false)

// ---------------------------------------------------------------------------------------------
// Element types without a C twin, and the pointer to a tensor's elements.

typedef struct TfLiteComplex64 {
    float re;
    float im;
} TfLiteComplex64;

typedef struct TfLiteComplex128 {
    double re;
    double im;
} TfLiteComplex128;

// Bits of an IEEE binary16 number.
typedef struct TfLiteFloat16 {
    uint16_t data;
} TfLiteFloat16;

// Upper half of the bits of an IEEE binary32 number.
typedef struct TfLiteBFloat16 {
    uint16_t data;
} TfLiteBFloat16;

// Name such as "FLOAT32", or "Unknown type" for a value outside the enum. Never NULL.
TFL_CAPI_EXPORT extern const char* TfLiteTypeGetName(TfLiteType type);

// One address under many types. Read the member that fits the tensor's type.
typedef union TfLitePtrUnion {
    int32_t* i32;
    uint32_t* u32;
    int64_t* i64;
    uint64_t* u64;
    float* f;
    TfLiteFloat16* f16;
    TfLiteBFloat16* bf16;
    double* f64;
    char* raw;
    const char* raw_const;
    uint8_t* uint8;
    bool* b;
    int16_t* i16;
    uint16_t* ui16;
    TfLiteComplex64* c64;
    TfLiteComplex128* c128;
    int8_t* int8;
    void* data;
} TfLitePtrUnion;

// ---------------------------------------------------------------------------------------------
// Quantization and sparsity.

// Says what TfLiteQuantization.params points to.
typedef enum TfLiteQuantizationType {
    kTfLiteNoQuantization = 0,         // NULL
    kTfLiteAffineQuantization = 1,     // TfLiteAffineQuantization
    kTfLiteBlockwiseQuantization = 2,  // TfLiteBlockwiseQuantization
    kTfLiteMultiAxisQuantization = 3   // TfLiteMultiAxisQuantization
} TfLiteQuantizationType;

typedef struct TfLiteQuantization {
    TfLiteQuantizationType type;
    // From malloc, as are the arrays inside; freed with the tensor.
    void* params;
} TfLiteQuantization;

// real = scale[c] * (quantized - zero_point[c]), c being the index along quantized_dimension.
typedef struct TfLiteAffineQuantization {
    // One element (whole tensor) or one for each index along quantized_dimension.
    TfLiteFloatArray* scale;
    // Same count as scale, or one element that serves all.
    TfLiteIntArray* zero_point;
    int32_t quantized_dimension;
} TfLiteAffineQuantization;

// Parameters for each block of `blocksize` elements along quantized_dimension.
typedef struct TfLiteBlockwiseQuantization {
    int32_t scale;       // index of the tensor that holds the scales
    int32_t zero_point;  // index of the tensor that holds the zero points, or -1
    int32_t blocksize;
    int32_t quantized_dimension;
} TfLiteBlockwiseQuantization;

// Parameters for each combination of indices along several dimensions.
typedef struct TfLiteMultiAxisQuantization {
    int32_t scales;       // index of the tensor that holds the scales
    int32_t zero_points;  // index of the tensor that holds the zero points, or -1
    int32_t blocksize;
    TfLiteIntArray* quantized_dimensions;
} TfLiteMultiAxisQuantization;

// How one dimension of a sparse tensor is stored.
typedef enum TfLiteDimensionType {
    kTfLiteDimDense = 0,
    kTfLiteDimSparseCSR = 1
} TfLiteDimensionType;

typedef struct TfLiteDimensionMetadata {
    TfLiteDimensionType format;
    int dense_size;                  // length, for a dense dimension
    TfLiteIntArray* array_segments;  // start of each segment in array_indices, for a sparse one
    TfLiteIntArray* array_indices;   // coordinates of the stored elements, for a sparse one
} TfLiteDimensionMetadata;

// Storage of a sparse constant. The arrays are from malloc and freed with the tensor.
typedef struct TfLiteSparsity {
    // Order in which the dimensions are walked; block dimensions come after the others.
    TfLiteIntArray* traversal_order;
    // For each block dimension, the dimension that it splits.
    TfLiteIntArray* block_map;
    // One element per entry of traversal_order.
    TfLiteDimensionMetadata* dim_metadata;
    int dim_metadata_size;
} TfLiteSparsity;

// ---------------------------------------------------------------------------------------------
// Tensors.

// Where a tensor's bytes come from, and so who frees them and when.
typedef enum TfLiteAllocationType {
    kTfLiteMemNone = 0,             // no bytes yet
    kTfLiteMmapRo = 1,              // constant inside the model; never written
    kTfLiteArenaRw = 2,             // arena, shared with tensors alive at other times
    kTfLiteArenaRwPersistent = 3,   // arena, kept between invocations
    kTfLiteDynamic = 4,             // malloc, sized by a kernel while it runs
    kTfLitePersistentRo = 5,        // malloc, written once by a kernel in prepare
    kTfLiteCustom = 6,              // memory of the application
    kTfLiteVariantObject = 7,       // data points to a VariantData (C++, below), not to elements
    kTfLiteNonCpu = 8               // bytes live on a device; data is NULL
} TfLiteAllocationType;

// How the bytes were obtained.
typedef enum TfLiteAllocationStrategy {
    kTfLiteAllocationStrategyUnknown = 0,
    kTfLiteAllocationStrategyNone = 1,
    kTfLiteAllocationStrategyMMap = 2,
    kTfLiteAllocationStrategyArena = 3,
    kTfLiteAllocationStrategyMalloc = 4,
    kTfLiteAllocationStrategyNew = 5
} TfLiteAllocationStrategy;

// How long an address or a value stays as it is.
typedef enum TfLiteRunStability {
    kTfLiteRunStabilityUnknown = 0,
    kTfLiteRunStabilityUnstable = 1,   // may change within one invocation
    kTfLiteRunStabilitySingleRun = 2,  // stays for one invocation
    kTfLiteRunStabilityAcrossRuns = 3  // stays from one invocation to the next
} TfLiteRunStability;

// Step of an operator's life at which something becomes known.
typedef enum TfLiteRunStep {
    kTfLiteRunStepUnknown = 0,
    kTfLiteRunStepInit = 1,
    kTfLiteRunStepPrepare = 2,
    kTfLiteRunStepEval = 3
} TfLiteRunStep;

// A delegate's name for memory of its own that backs a tensor.
typedef int TfLiteBufferHandle;
enum {
    kTfLiteNullBufferHandle = -1
};

// Memory functions that replace malloc for large blocks. `data` is passed to each function.
typedef struct TfLiteAllocator {
    void* data;
    // Returns `bytes` bytes at a multiple of `alignment`, or NULL.
    void* (*allocate)(void* data, size_t bytes, size_t alignment);
    // Grows or shrinks a block, keeping its content up to the smaller size. On NULL the old
    // block is still valid.
    void* (*reallocate)(void* data, void* ptr, size_t old_bytes, size_t new_bytes,
                        size_t alignment);
    // Takes a block back; `bytes` is its size.
    void (*deallocate)(void* data, void* ptr, size_t bytes, size_t alignment);
} TfLiteAllocator;

// Bits for TfLiteInterpreterSetCustomAllocationForTensor.
typedef enum TfLiteCustomAllocationFlags {
    kTfLiteCustomAllocationFlagsNone = 0,
    // Accept data that is not a multiple of 64. Kernels then may be slower.
    kTfLiteCustomAllocationFlagsSkipAlignCheck = 1
} TfLiteCustomAllocationFlags;

// Memory of the application for one tensor. The application keeps it alive as long as the
// interpreter and frees it afterwards.
typedef struct TfLiteCustomAllocation {
    void* data;    // a multiple of 64, unless the check is skipped
    size_t bytes;  // at least the tensor's size
} TfLiteCustomAllocation;

// A multi-dimensional array. Row-major, last dimension fastest.
// What a pointer field holds, the interpreter owns, unless said otherwise. dims, a dynamic
// data.raw and quantization.params with its arrays come from malloc: some callers free() and
// replace them.
struct TfLiteTensor {
    TfLiteType type;
    // The elements, or NULL before allocation. Changes when tensors are allocated again.
    TfLitePtrUnion data;
    // Current shape. Size 0 is a scalar.
    TfLiteIntArray* dims;
    // Scale and zero point if there is one pair for the whole tensor, else zeros.
    TfLiteQuantizationParams params;
    TfLiteAllocationType allocation_type;
    // Size of data.
    size_t bytes;
    // The model file's memory for a constant; its keeper is the model.
    const void* allocation;
    // From the model, UTF-8; may be NULL.
    const char* name;
    // Delegate that holds the value under buffer_handle, or NULL. Not owned.
    TfLiteDelegate* delegate;
    // kTfLiteNullBufferHandle when there is none.
    TfLiteBufferHandle buffer_handle;
    // True: the value in `delegate` is newer than data. Fetch it with CopyFromBufferHandle.
    bool data_is_stale;
    // True: keeps its value between invocations.
    bool is_variable;
    TfLiteQuantization quantization;
    // NULL unless the tensor is a sparse constant.
    TfLiteSparsity* sparsity;
    // Shape as in the model, -1 for dimensions that may change. NULL or empty when all are fixed.
    const TfLiteIntArray* dims_signature;
};

// The part of a tensor that kernels of the micro runtime see while they run.
typedef struct TfLiteEvalTensor {
    TfLitePtrUnion data;
    TfLiteIntArray* dims;
    TfLiteType type;
} TfLiteEvalTensor;

// Frees data of a tensor that owns it (dynamic, persistent read-only, variant object); sets data.raw to
// NULL.
TFL_CAPI_EXPORT extern void TfLiteTensorDataFree(TfLiteTensor* t);

// Copy with params and arrays of its own. Without memory params is NULL and the type kTfLiteNoQuantization.
TFL_CAPI_EXPORT extern TfLiteQuantization TfLiteQuantizationClone(TfLiteQuantization src);

// Frees params with their arrays as the type says, and sets the type to kTfLiteNoQuantization and
// params to NULL. With that type, params is not looked at. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteQuantizationFree(TfLiteQuantization* quantization);

// Frees the arrays and the struct itself. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteSparsityFree(TfLiteSparsity* sparsity);

// Frees all that the tensor owns, not the struct itself. The fields are NULL afterwards.
TFL_CAPI_EXPORT extern void TfLiteTensorFree(TfLiteTensor* t);

// Frees what the tensor owns and fills it anew. Takes ownership of dims; name, buffer and
// allocation are borrowed and must outlive the tensor.
TFL_CAPI_EXPORT extern void TfLiteTensorReset(TfLiteType type, const char* name,
                                              TfLiteIntArray* dims,
                                              TfLiteQuantizationParams quantization, char* buffer,
                                              size_t size, TfLiteAllocationType allocation_type,
                                              const void* allocation, bool is_variable,
                                              TfLiteTensor* tensor);

// Copies elements and dims of src into dst's own memory; a variant object is cloned. kTfLiteOk and
// nothing done when either is NULL; kTfLiteError when their sizes in bytes differ, one of them has no
// data, or memory is short.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteTensorCopy(const TfLiteTensor* src, TfLiteTensor* dst);

// Copy of a tensor with arrays, quantization and sparsity of its own. data and allocation are src's where src does not
// own them, else copies.
TFL_CAPI_EXPORT extern TfLiteTensor TfLiteTensorClone(TfLiteTensor src);

// dims_signature where there is one, else dims. The tensor's own.
TFL_CAPI_EXPORT extern const TfLiteIntArray* TfLiteTensorGetDimsSignature(const TfLiteTensor* t);

// Gives a dynamic or persistent read-only tensor num_bytes of memory; other tensors stay as they
// are. A tensor that shrinks keeps its block. Keeps the old content up to the smaller size if
// preserve_data; then a tensor that fails to grow stays as it was, otherwise it has no memory.
// kTfLiteError without memory, for impossible sizes, and when tensor is NULL.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteTensorResizeMaybeCopy(size_t num_bytes,
                                                                TfLiteTensor* tensor,
                                                                bool preserve_data);

// TfLiteTensorResizeMaybeCopy with the content kept.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteTensorRealloc(size_t num_bytes, TfLiteTensor* tensor);

// The same with the allocator's memory instead of malloc's; NULL stands for malloc. The allocator is
// told sizes with 16 bytes of padding, and wants to be told a block's size exactly: a tensor that
// shrinks is reallocated. Free such a tensor's data with the same allocator before anything else
// frees the tensor: it does not remember where its memory came from.
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteTensorResizeMaybeCopyWithAllocator(
    size_t num_bytes, TfLiteTensor* tensor, bool preserve_data, TfLiteAllocator* allocator);
TFL_CAPI_EXPORT extern TfLiteStatus TfLiteTensorReallocWithAllocator(size_t num_bytes,
                                                                     TfLiteTensor* tensor,
                                                                     TfLiteAllocator* allocator);
TFL_CAPI_EXPORT extern void TfLiteTensorDataFreeWithAllocator(TfLiteTensor* t,
                                                              TfLiteAllocator* allocator);

// What is known of a tensor's memory and value. Each accepts any tensor that is not NULL.
TFL_CAPI_EXPORT extern TfLiteAllocationStrategy
TfLiteTensorGetAllocationStrategy(const TfLiteTensor* t);
TFL_CAPI_EXPORT extern TfLiteRunStability
TfLiteTensorGetBufferAddressStability(const TfLiteTensor* t);
TFL_CAPI_EXPORT extern TfLiteRunStability TfLiteTensorGetDataStability(const TfLiteTensor* t);
// First step at which the elements are known.
TFL_CAPI_EXPORT extern TfLiteRunStep TfLiteTensorGetDataKnownStep(const TfLiteTensor* t);
// First step at which the shape is known.
TFL_CAPI_EXPORT extern TfLiteRunStep TfLiteTensorGetShapeKnownStep(const TfLiteTensor* t);

// ---------------------------------------------------------------------------------------------
// Nodes.

// One use of an operator in a graph. The lists hold tensor indices. The interpreter owns all but
// the fields marked otherwise.
typedef struct TfLiteNode {
    // kTfLiteOptionalTensor stands for an input left out.
    TfLiteIntArray* inputs;
    TfLiteIntArray* outputs;
    // State tensors that only the op itself uses, from the model.
    TfLiteIntArray* intermediates;
    // Scratch tensors, set by the kernel in prepare (free the old list first).
    TfLiteIntArray* temporaries;
    // What init returned; the kernel's `free` gets it back.
    void* user_data;
    // Parameter struct of a built-in op (builtin_op_data.h), else NULL. From malloc.
    void* builtin_data;
    // Options of a custom op, as bytes inside the model. Not aligned.
    const void* custom_initial_data;
    int custom_initial_data_size;
    // Set for the node of a delegate kernel, else NULL. Not owned.
    TfLiteDelegate* delegate;
    // True when leaving out or repeating the node could change results: variables, control flow.
    bool might_have_side_effect;
} TfLiteNode;

// ---------------------------------------------------------------------------------------------
// Operator registrations.

// Bits for TfLiteRegistration.inplace_operator: which outputs may use an input's memory.
typedef enum {
    kTfLiteInplaceOpNone = 0,
    // The op changes no element, so the output may be the input (for example a reshape).
    kTfLiteInplaceOpDataUnmodified = 1,
    // Output i may take the memory of input i.
    kTfLiteInplaceInputCanBeSharedWithCorrespondingOutput = 2,
    // Output 0 may take the memory of input 0, 1 or 2.
    kTfLiteInplaceOpInput0Shared = 4,
    kTfLiteInplaceOpInput1Shared = 8,
    kTfLiteInplaceOpInput2Shared = 16
} TfLiteInPlaceOp;
// All bits. A macro, because an enumerator of C11 has to fit an int.
#define kTfLiteInplaceOpMaxValue UINT64_MAX

enum {
    // Inputs that the shared bits can name.
    kTfLiteMaxSharableOpInputs = 3
};

// The callbacks that make up an operator.
// The runtime copies registrations; custom_name and registration_external are borrowed and must
// outlive the interpreter. It is passed by value through TfLiteContext, so its size is part of
// the interface. Fields that are not used must be zero.
typedef struct TfLiteRegistration {
    // Called once for each node. For a built-in op `buffer` is its parameter struct and length is
    // 0; for a custom op its option bytes; for a delegate kernel a TfLiteDelegateParams. All are
    // lent for the call. The result becomes node->user_data; NULL is fine. May be NULL.
    void* (*init)(struct TfLiteContext* context, const char* buffer, size_t length);
    // Frees what init returned. May be NULL.
    void (*free)(struct TfLiteContext* context, void* buffer);
    // Checks the node and sets its outputs' shapes, each time shapes are fixed. May be NULL.
    TfLiteStatus (*prepare)(struct TfLiteContext* context, TfLiteNode* node);
    // Computes the outputs.
    TfLiteStatus (*invoke)(struct TfLiteContext* context, TfLiteNode* node);
    // Text that a profiler shows for the node; may be NULL, and may return NULL.
    const char* (*profiling_string)(const struct TfLiteContext* context, const TfLiteNode* node);
    // A TfLiteBuiltinOperator. The runtime sets it, like the next two, when ops are added.
    int32_t builtin_code;
    // Name of a custom op or delegate kernel, else NULL.
    const char* custom_name;
    // Version of the op that this implements.
    int version;
    // The operator behind these callbacks when it uses opaque types, else NULL.
    TfLiteOperator* registration_external;
    // Makes the object for asynchronous runs of a delegate kernel. May be NULL.
    struct TfLiteAsyncKernel* (*async_kernel)(struct TfLiteContext* context, TfLiteNode* node);
    // Bits of TfLiteInPlaceOp.
    uint64_t inplace_operator;
} TfLiteRegistration;

// Earlier, shorter forms of TfLiteRegistration, for op resolvers of older programs. Fields have
// the meaning given there.
typedef struct TfLiteRegistration_V3 {
    void* (*init)(struct TfLiteContext* context, const char* buffer, size_t length);
    void (*free)(struct TfLiteContext* context, void* buffer);
    TfLiteStatus (*prepare)(struct TfLiteContext* context, TfLiteNode* node);
    TfLiteStatus (*invoke)(struct TfLiteContext* context, TfLiteNode* node);
    const char* (*profiling_string)(const struct TfLiteContext* context, const TfLiteNode* node);
    int32_t builtin_code;
    const char* custom_name;
    int version;
    TfLiteOperator* registration_external;
    struct TfLiteAsyncKernel* (*async_kernel)(struct TfLiteContext* context, TfLiteNode* node);
} TfLiteRegistration_V3;

typedef struct TfLiteRegistration_V2 {
    void* (*init)(struct TfLiteContext* context, const char* buffer, size_t length);
    void (*free)(struct TfLiteContext* context, void* buffer);
    TfLiteStatus (*prepare)(struct TfLiteContext* context, TfLiteNode* node);
    TfLiteStatus (*invoke)(struct TfLiteContext* context, TfLiteNode* node);
    const char* (*profiling_string)(const struct TfLiteContext* context, const TfLiteNode* node);
    int32_t builtin_code;
    const char* custom_name;
    int version;
    TfLiteOperator* registration_external;
} TfLiteRegistration_V2;

typedef struct TfLiteRegistration_V1 {
    void* (*init)(struct TfLiteContext* context, const char* buffer, size_t length);
    void (*free)(struct TfLiteContext* context, void* buffer);
    TfLiteStatus (*prepare)(struct TfLiteContext* context, TfLiteNode* node);
    TfLiteStatus (*invoke)(struct TfLiteContext* context, TfLiteNode* node);
    const char* (*profiling_string)(const struct TfLiteContext* context, const TfLiteNode* node);
    int32_t builtin_code;
    const char* custom_name;
    int version;
} TfLiteRegistration_V1;

// ---------------------------------------------------------------------------------------------
// Delegates.

// Bits for the `flags` of a delegate.
typedef enum TfLiteDelegateFlags {
    kTfLiteDelegateFlagsNone = 0,
    // The delegate handles tensors whose size is known only while running. Without it the
    // runtime refuses to apply the delegate to a graph that has such tensors.
    kTfLiteDelegateFlagsAllowDynamicTensors = 1,
    // With AllowDynamicTensors: the runtime must set the output shapes of delegated nodes.
    kTfLiteDelegateFlagsRequirePropagatedShapes = 2,
    // The delegate reports its inner ops to the profiler.
    kTfLiteDelegateFlagsPerOperatorProfiling = 4,
    // When the whole graph became one kernel of this delegate, no other delegate is applied.
    kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate = 8
} TfLiteDelegateFlags;

// Code that takes over parts of a graph. Whoever made it frees it, after every interpreter that
// uses it.
struct TfLiteDelegate {
    // For the delegate's own use.
    void* data_;
    // Looks at the graph and claims nodes with ReplaceNodeSubsetsWithDelegateKernels. On an error
    // the runtime restores the graph.
    TfLiteStatus (*Prepare)(struct TfLiteContext* context, TfLiteDelegate* delegate);
    // Copies the value under the handle into tensor->data. NULL when there are no handles.
    TfLiteStatus (*CopyFromBufferHandle)(struct TfLiteContext* context, TfLiteDelegate* delegate,
                                         TfLiteBufferHandle buffer_handle, TfLiteTensor* tensor);
    // Copies tensor->data into the memory under the handle. May be NULL.
    TfLiteStatus (*CopyToBufferHandle)(struct TfLiteContext* context, TfLiteDelegate* delegate,
                                       TfLiteBufferHandle buffer_handle, TfLiteTensor* tensor);
    // Releases the handle and sets it to kTfLiteNullBufferHandle. The memory behind it is the
    // delegate's business. May be NULL.
    void (*FreeBufferHandle)(struct TfLiteContext* context, TfLiteDelegate* delegate,
                             TfLiteBufferHandle* handle);
    // Bits of TfLiteDelegateFlags.
    int64_t flags;
    // Set when the delegate was made from a builder: the callbacks above are then NULL and those
    // of the builder count.
    struct TfLiteOpaqueDelegateBuilder* opaque_delegate_builder;
};

// A delegate with every field zero.
TFL_CAPI_EXPORT extern TfLiteDelegate TfLiteDelegateCreate(void);

// Recipe for a delegate that sees opaque types only. Meanings as in TfLiteDelegate; each callback
// also gets `data`.
typedef struct TfLiteOpaqueDelegateBuilder {
    void* data;
    TfLiteStatus (*Prepare)(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate,
                            void* data);
    TfLiteStatus (*CopyFromBufferHandle)(TfLiteOpaqueContext* context,
                                         TfLiteOpaqueDelegate* delegate, void* data,
                                         TfLiteBufferHandle buffer_handle,
                                         TfLiteOpaqueTensor* tensor);
    TfLiteStatus (*CopyToBufferHandle)(TfLiteOpaqueContext* context,
                                       TfLiteOpaqueDelegate* delegate, void* data,
                                       TfLiteBufferHandle buffer_handle,
                                       TfLiteOpaqueTensor* tensor);
    void (*FreeBufferHandle)(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate,
                             void* data, TfLiteBufferHandle* handle);
    int64_t flags;
} TfLiteOpaqueDelegateBuilder;

// Makes a delegate from a copy of the builder. The caller frees it with
// TfLiteOpaqueDelegateDelete. NULL when the builder is NULL or memory is short.
TFL_CAPI_EXPORT extern TfLiteOpaqueDelegate*
TfLiteOpaqueDelegateCreate(const TfLiteOpaqueDelegateBuilder* opaque_delegate_builder);

// Frees a delegate made by TfLiteOpaqueDelegateCreate, not its `data`. NULL is allowed.
TFL_CAPI_EXPORT extern void TfLiteOpaqueDelegateDelete(TfLiteOpaqueDelegate* delegate);

// The `data` of the builder, or data_ of a delegate made otherwise. NULL when delegate is NULL.
TFL_CAPI_EXPORT extern void* TfLiteOpaqueDelegateGetData(const TfLiteOpaqueDelegate* delegate);

// What an init returns to say that it failed.
TFL_CAPI_EXPORT extern void* TfLiteKernelInitFailed(void);

// What the init of a delegate kernel gets as `buffer`: the piece of the graph that it replaces.
// Lives as long as the node, whose builtin_data it is.
typedef struct TfLiteDelegateParams {
    TfLiteDelegate* delegate;
    TfLiteIntArray* nodes_to_replace;  // node indices in execution order
    TfLiteIntArray* input_tensors;     // tensors that the piece reads from outside
    TfLiteIntArray* output_tensors;    // tensors that are read outside the piece
} TfLiteDelegateParams;

// The same for kernels given as a TfLiteOperator.
typedef struct TfLiteOpaqueDelegateParams {
    TfLiteOpaqueDelegate* delegate;
    void* delegate_data;  // TfLiteOpaqueDelegateGetData(delegate)
    TfLiteIntArray* nodes_to_replace;
    TfLiteIntArray* input_tensors;
    TfLiteIntArray* output_tensors;
} TfLiteOpaqueDelegateParams;

// ---------------------------------------------------------------------------------------------
// The context: what the runtime offers to kernels and delegates. One per subgraph.
// Function fields may be NULL where a runtime lacks them; which may be called when is said at
// each. Arrays handed out stay the runtime's unless said otherwise.

typedef struct TfLiteContext {
    // Number of elements of `tensors`.
    size_t tensors_size;
    // Node indices in the order they run. Delegates only, in Prepare. The array is lent until the
    // next call.
    TfLiteStatus (*GetExecutionPlan)(struct TfLiteContext* context,
                                     TfLiteIntArray** execution_plan);
    // All tensors of the subgraph. The array may move when tensors are added.
    TfLiteTensor* tensors;
    // The runtime's own.
    void* impl_;
    // Sets a tensor's shape and, for tensors outside the arena, its memory. Takes ownership of
    // new_size also on failure.
    TfLiteStatus (*ResizeTensor)(struct TfLiteContext* context, TfLiteTensor* tensor,
                                 TfLiteIntArray* new_size);
    // Reports an error; formats like printf.
    void (*ReportError)(struct TfLiteContext* context, const char* msg, ...);
    // Adds tensors and stores the index of the first one, unless that pointer is NULL. Pointers to
    // tensors are invalid afterwards.
    TfLiteStatus (*AddTensors)(struct TfLiteContext* context, int tensors_to_add,
                               int* first_new_tensor_index);
    // Node and registration at node_index. Delegates only, in Prepare and in a kernel's init.
    TfLiteStatus (*GetNodeAndRegistration)(struct TfLiteContext* context, int node_index,
                                           TfLiteNode** node, TfLiteRegistration** registration);
    // Splits the given nodes into pieces that can run as one and puts a node of `registration` in
    // place of each. nodes_to_replace is copied. Delegates only, in Prepare.
    TfLiteStatus (*ReplaceNodeSubsetsWithDelegateKernels)(struct TfLiteContext* context,
                                                          TfLiteRegistration registration,
                                                          const TfLiteIntArray* nodes_to_replace,
                                                          TfLiteDelegate* delegate);
    // Threads a kernel should use; -1 leaves it to the kernel.
    int recommended_num_threads;
    // An external context, or NULL when none was set.
    TfLiteExternalContext* (*GetExternalContext)(struct TfLiteContext* context,
                                                 TfLiteExternalContextType type);
    // Sets an external context; the setter keeps it alive as long as the interpreter.
    void (*SetExternalContext)(struct TfLiteContext* context, TfLiteExternalContextType type,
                               TfLiteExternalContext* external_context);
    // True: kernels may compute float32 ops in half precision.
    bool allow_fp32_relax_to_fp16;
    // The profiler in use, or NULL.
    void* profiler;
    // Memory that lives as long as the interpreter. In init and prepare. NULL without memory.
    void* (*AllocatePersistentBuffer)(struct TfLiteContext* context, size_t bytes);
    // Memory for the current invoke only. In invoke. May be NULL.
    TfLiteStatus (*AllocateBufferForEval)(struct TfLiteContext* context, size_t bytes, void** ptr);
    // Asks in prepare for memory during invoke, and stores the number to fetch it with.
    TfLiteStatus (*RequestScratchBufferInArena)(struct TfLiteContext* context, size_t bytes,
                                                int* buffer_idx);
    // Memory for a number from RequestScratchBufferInArena. In invoke.
    void* (*GetScratchBuffer)(struct TfLiteContext* context, int buffer_idx);
    // ResizeTensor with a borrowed shape of `dims` lengths.
    TfLiteStatus (*ResizeTensorExplicit)(struct TfLiteContext* context, TfLiteTensor* tensor,
                                         int dims, const int* shape);
    // The pieces that ReplaceNodeSubsetsWithDelegateKernels would make. The array is the runtime's,
    // valid until the next call. Delegates only, in Prepare.
    TfLiteStatus (*PreviewDelegatePartitioning)(struct TfLiteContext* context,
                                                const TfLiteIntArray* nodes_to_replace,
                                                TfLiteDelegateParams** partition_params_array,
                                                int* num_partitions);
    // The tensor at an index, or NULL when out of range. May itself be NULL: use `tensors` then.
    TfLiteTensor* (*GetTensor)(const struct TfLiteContext* context, int tensor_idx);
    // For the micro runtime; NULL here.
    TfLiteEvalTensor* (*GetEvalTensor)(const struct TfLiteContext* context, int tensor_idx);
    // Bytes of the model's metadata of that name, inside the model. kTfLiteError when there is
    // none.
    TfLiteStatus (*GetModelMetadata)(const struct TfLiteContext* context, const char* name,
                                     const char** ptr, size_t* bytes);
    // Lends the context of another subgraph, with the functions for delegates switched on, until
    // ReleaseSubgraphContext. Delegates only, in Prepare.
    TfLiteStatus (*AcquireSubgraphContext)(struct TfLiteContext* context, int subgraph_index,
                                           struct TfLiteContext** acquired_context);
    // Ends AcquireSubgraphContext.
    TfLiteStatus (*ReleaseSubgraphContext)(struct TfLiteContext* context, int subgraph_index);
#if defined(_WIN32)
    // The array functions of this library, for delegates built against another C runtime.
    TfLiteIntArray* (*TfLiteIntArrayCreate)(int size);
    void (*TfLiteIntArrayFree)(TfLiteIntArray* a);
#endif
} TfLiteContext;

#ifdef __cplusplus
}  // extern "C"

#include <new>
#include <utility>

// ---------------------------------------------------------------------------------------------
// Variant objects: what data.data points to in tensors of type kTfLiteVariant and allocation type
// kTfLiteVariantObject. Custom operators in C++ make them, of a class of their own; the runtime
// copies and deletes them through the two virtual functions, whose order is part of the binary
// interface. The pointer in the tensor is one to VariantData: convert with static_cast.

class VariantData {
   public:
    virtual ~VariantData() = default;
    // A copy of this object: in the place of `target`, which must be of the same class, or new if
    // that is NULL.
    virtual VariantData* CloneTo(VariantData* target) const = 0;
};

// Base of a variant class T: class T : public AbstractVariantData<T>. Copies by T's copy constructor.
template <typename T>
class AbstractVariantData : public VariantData {
   public:
    VariantData* CloneTo(VariantData* target) const override {
        const T& self = static_cast<const T&>(*this);
        if (target == nullptr) return new T(self);
        T* place = static_cast<T*>(target);
        place->~T();
        return new (place) T(self);
    }

   protected:
    AbstractVariantData() = default;
    AbstractVariantData(const AbstractVariantData&) = default;
};

// Makes a T, constructed from the arguments, the value of a tensor of type kTfLiteVariant. An object
// that the tensor has is destroyed and must be of the same class: its memory is used again.
// kTfLiteError when the tensor has another type.
template <class T, class... Arguments>
TfLiteStatus TfLiteTensorVariantRealloc(TfLiteTensor* tensor, Arguments&&... arguments) {
    if (tensor->type != kTfLiteVariant) return kTfLiteError;
    T* object;
    if (tensor->data.data == nullptr) {
        object = new T(std::forward<Arguments>(arguments)...);
    } else {
        T* place = static_cast<T*>(static_cast<VariantData*>(tensor->data.data));
        place->~T();
        object = new (place) T(std::forward<Arguments>(arguments)...);
    }
    tensor->data.data = static_cast<VariantData*>(object);
    tensor->allocation_type = kTfLiteVariantObject;
    return kTfLiteOk;
}
#endif

#endif  // TENSORFLOW_LITE_CORE_C_COMMON_H_
