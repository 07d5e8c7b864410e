// SPDX-License-Identifier: Apache-2.0
// What Halite's GPU delegate adds to tensorflow/lite/delegates/gpu/delegate.h: a choice of the device, the list of
// devices, a report of where each node runs and why, and the time of each GPU kernel. These functions are in
// libtensorflowlite_gpu_delegate and work inside Halite's runtime and the official one.
//
// Structs that functions lend by pointer belong to the object they were asked of and are gone with it, texts and arrays
// in them too. A later version may append fields: read them by name, do not copy or compare them by size. All functions
// may be called from any thread, though not from a reporter or profiler that a call of the delegate is calling; a NULL
// object has nothing in it. Names of operators are cut after 127 bytes, those of tensors after 255, reasons after 159.
#ifndef HALITE_GPU_DELEGATE_H
#define HALITE_GPU_DELEGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/lite/c/c_api_types.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/gpu/delegate_options.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- making a delegate --------------------------------------------------------------------------

// What a GPU computes with. A device that lacks one takes the next better one.
typedef enum HaliteGpuPrecision {
    kHaliteGpuPrecisionDefault = 0, // as the priorities of the TfLiteGpuDelegateOptionsV2 say
    kHaliteGpuPrecisionF32 = 1,     // 32-bit floats
    // Large weights and activations stored as half floats, 32-bit arithmetic. Those that are small (a MB) stay 32-bit
    // floats, unless the priorities put small memory before short time; but a card gets 32-bit inputs of 256 KB to a MB
    // as half floats, which hold no numbers beyond 65504.
    kHaliteGpuPrecisionF16S = 2,
    // Half arithmetic too, where a kernel gains by it: today products on matrix units, whose sums are 32-bit floats.
    kHaliteGpuPrecisionF16 = 3,
} HaliteGpuPrecision;

// How the 8-bit tensors of a quantized model are computed.
typedef enum HaliteGpuQuantized {
    // In floats, rounded to the steps of each tensor: the CPU's integers within a few steps (docs/accuracy.md), and as
    // fast as float models.
    kHaliteGpuQuantizedFloat = 0,
    // In integers: the results are those of the CPU's reference kernels, bit for bit. Operators without such a kernel
    // stay on the CPU, and the report says which.
    kHaliteGpuQuantizedExact = 1,
} HaliteGpuQuantized;

// The API of a context or a buffer.
typedef enum HaliteGpuApi {
    kHaliteGpuApiNone = 0,
    kHaliteGpuApiOpenCl = 1,
    kHaliteGpuApiVulkan = 2,
    kHaliteGpuApiOpenGlEs = 3,
    kHaliteGpuApiCuda = 4,
    kHaliteGpuApiMetal = 5,
} HaliteGpuApi;

// A context of the application, in which a delegate computes instead of one of its own, so that both may use the same
// buffers. Handles are not retained: they must live until the delegate and the interpreters with it are deleted. Zero
// is the default of every field but the first two, and fields of other APIs do not count.
typedef struct HaliteGpuContext {
    size_t struct_size; // sizeof(HaliteGpuContext) where the program was compiled
    HaliteGpuApi api;   // kHaliteGpuApiOpenCl
    // OpenCL: a cl_context, and a cl_device_id of it.
    void *cl_context;
    void *cl_device_id;
    // A cl_command_queue of both, whose commands run in order. The delegate puts its kernels behind what the
    // application has put there. NULL: the delegate makes a queue of its own, and the application finishes what it
    // writes to inputs before Invoke.
    void *cl_command_queue;
    // Vulkan, all needed: the VkInstance of version 1.1 or later, a VkPhysicalDevice of it, a VkDevice of that, and a
    // VkQueue of that device, which computes, with the index of its family. Invoke submits to the queue, so the
    // application's other threads must not use it meanwhile. Commands that were submitted to this queue before need no
    // barrier for what they write to bound buffers, and later ones none for what Invoke wrote; other queues need a
    // semaphore or a fence.
    void *vk_instance, *vk_physical_device, *vk_device, *vk_queue;
    uint32_t vk_queue_family;
    // vkGetInstanceProcAddr of the loader that the instance is from. NULL: the delegate looks for the loader itself.
    void (*vk_get_instance_proc_addr)(void);
    // OpenGL ES: an EGLDisplay and an EGLContext of version 3.1 or later. Both NULL: those that are current in the
    // thread that creates the delegate. The delegate makes a context of its own that shares objects with this one, so
    // that Invoke may be called in any thread. In a thread in which the application's context is current, Invoke
    // finishes its commands first; before Invoke in another thread, the application does (glFinish).
    void *egl_display, *egl_context;
    // Metal: an id<MTLDevice>, and an id<MTLCommandQueue> of it, as pointers ((__bridge void *)device). The delegate
    // commits its command buffers to this queue, behind those that the application has committed before. NULL: the
    // delegate makes a queue of its own, and the application waits for what it writes to inputs before Invoke. Unlike
    // the objects of other APIs both are retained.
    void *mtl_device, *mtl_command_queue;
    // CUDA: a CUcontext, which may be a primary one, and a CUstream of it. The delegate puts its kernels into this
    // stream, after what the application has put there before, and Invoke waits for them. A stream of NULL: the
    // delegate makes one of its own, and the application waits for what it writes to inputs before Invoke.
    void *cu_context, *cu_stream;
} HaliteGpuContext;

// Zero is the default of every field but the first:
//     HaliteGpuDelegateOptions options = {.struct_size = sizeof options, .device = "vulkan"};
typedef struct HaliteGpuDelegateOptions {
    // sizeof(HaliteGpuDelegateOptions) where the program was compiled: a library that knows more fields takes their
    // defaults.
    size_t struct_size;
    // Options of the documented interface; NULL: TfLiteGpuDelegateOptionsV2Default().
    const TfLiteGpuDelegateOptionsV2 *v2;
    // Which device: "opencl", "vulkan", "gles" or "cuda" (the fastest of that API, a software device where it has no
    // other), "vulkan:1" (one of a HaliteDeviceList by name), "auto" (the fastest real GPU), "null" (computes nothing:
    // for a report without a GPU). NULL or "": what the environment variable HALITE_DEVICE says, and without that
    // "auto". A device that is not there is an error when the delegate is applied, as is auto without a real GPU.
    const char *device;
    HaliteGpuPrecision precision;
    // Applying fails with kTfLiteDelegateError rather than leave a node on the CPU.
    bool require_full_delegation;
    // Take partitions behind the largest even where they are too small to be worth their copies.
    // v2->max_delegated_partitions still limits them.
    bool take_small_partitions;
    // The application's context to compute in; NULL: one of the delegate's own. The struct is copied. It excludes
    // `device`. An object in it that is none, or not fit, is an error when the delegate is applied.
    const HaliteGpuContext *context;
    // Of models with 8-bit tensors, where v2 takes them at all. With kHaliteGpuQuantizedExact a buffer of the
    // application for such a tensor has bytes.
    HaliteGpuQuantized quantized;
    // Bytes that the files in v2->serialization_dir may have together. Whenever one is written, those that no start has
    // used for the longest time are removed until the others fit; files of anybody else are never touched. 0: 256 MiB;
    // UINT64_MAX: any number.
    uint64_t serialization_max_bytes;
    // Tries the blocks in which kernels may be computed: each time the delegate is applied, it takes some that no time
    // is known of, and notes the times of runs while profiling is on (HaliteDelegateSetProfiling) in a file in
    // v2->serialization_dir. Delegates with this folder and without this option then take the fastest. `halite tune`
    // does all that.
    bool tune;
    // Milliseconds that a thread waits for one run, and for all that the device has to do before it. A run that takes
    // longer fails with a message, the device counts as lost, and its memory stays allocated until the process ends,
    // since the device may still be using it. 0: two minutes, on software devices an hour; UINT64_MAX: no limit. Waits
    // inside other functions of a driver have none, nor has waitUntilCompleted of Metal, where the system ends runs.
    uint64_t wait_limit_ms;
    // Inputs and outputs of the graph stay in the memory that the runtime gives them. Otherwise those whose copies
    // would take long lie in memory of the delegate's (allocation_type is kTfLiteCustom) from AllocateTensors on, until
    // the delegate is taken off the graph, unless the application has set a custom allocation in it.
    bool keep_tensor_memory;
} HaliteGpuDelegateOptions;

// A delegate as from TfLiteGpuDelegateV2Create; TfLiteGpuDelegateV2Delete deletes it, after the interpreters that use
// it. Options are copied. No device is opened before the delegate is applied. NULL, after a message on standard error:
// no memory, a struct_size below that of the first version, a precision or device text that cannot be one, or a context
// that lacks what its API demands.
TFL_CAPI_EXPORT extern TfLiteDelegate *HaliteGpuDelegateCreate(const HaliteGpuDelegateOptions *options);

// ---- devices ------------------------------------------------------------------------------------

// A device of one API. One GPU is several devices where several APIs know it.
typedef struct HaliteDevice {
    const char *name;        // chooses it, see HaliteGpuDelegateOptions.device: "opencl:0"
    const char *api;         // "OpenCL"
    const char *description; // what its driver calls it: "NVIDIA H200"
    const char *driver;      // versions of API and driver, as text
    bool is_software;        // it is the CPU after all (PoCL, lavapipe): auto never takes it
    bool is_integrated;      // it shares its memory with the CPU
    bool half_storage;       // kHaliteGpuPrecisionF16S works
    bool half_arithmetic;    // kHaliteGpuPrecisionF16 works: half arithmetic, or products of halves
    uint64_t memory;         // bytes; 0: not known
    uint64_t max_buffer;     // bytes of one buffer
    int32_t max_group_size;  // work-items in one work-group
    int32_t max_group[3];    // the same along each axis
    int32_t shared_memory;   // bytes that a work-group shares
    int32_t compute_units;   // 0: not known
    int32_t subgroup_size;   // work-items that run in step; 0: not known
} HaliteDevice;

// An API that was looked for.
typedef struct HaliteDeviceApi {
    const char *name;    // "Vulkan"
    const char *problem; // why it has no device and what to do about it; NULL: it has one
} HaliteDeviceApi;

// What this machine has, at the time of the call.
typedef struct HaliteDeviceList HaliteDeviceList;
// The caller deletes it. NULL without memory; no device at all is a list without one.
TFL_CAPI_EXPORT extern HaliteDeviceList *HaliteDeviceListCreate(void);
TFL_CAPI_EXPORT extern void HaliteDeviceListDelete(HaliteDeviceList *list);
// Devices, by API. NULL where index is outside.
TFL_CAPI_EXPORT extern int32_t HaliteDeviceListGetCount(const HaliteDeviceList *list);
TFL_CAPI_EXPORT extern const HaliteDevice *HaliteDeviceListGetDevice(const HaliteDeviceList *list, int32_t index);
// APIs, those without a device too. NULL where index is outside.
TFL_CAPI_EXPORT extern int32_t HaliteDeviceListGetApiCount(const HaliteDeviceList *list);
TFL_CAPI_EXPORT extern const HaliteDeviceApi *HaliteDeviceListGetApi(const HaliteDeviceList *list, int32_t index);
// The device that "auto" takes: never software; cards of their own before GPUs that share the CPU's memory; of these
// Vulkan before OpenCL, as measured (docs/performance.md); then the one with more memory; then the first. OpenGL ES
// only where the others have none. -1: none.
TFL_CAPI_EXPORT extern int32_t HaliteDeviceListGetAuto(const HaliteDeviceList *list);
// Why that one, or why none: one sentence. "" for a NULL list.
TFL_CAPI_EXPORT extern const char *HaliteDeviceListGetAutoReason(const HaliteDeviceList *list);

// ---- is a GPU worth it? -------------------------------------------------------------------------

// What a program asks before it takes the GPU. The answers are rules about what drivers say of their devices, and need
// no model: a device is not worth it that is the CPU after all (llvmpipe, lavapipe, PoCL), that has too few work-items
// or too little shared memory for the kernels, or whose driver is known to compute wrong results. Whether one model
// gains is another question: `halite compat MODEL --measure` times it.
//
// The environment variable HALITE_COMPATIBILITY is for tests of programs. "software" lets software devices count as
// GPUs, as allow_software does; "none" lets no device be worth it. Other values change nothing.

// Zero is the default of every field but the first.
typedef struct HaliteCompatibilityOptions {
    size_t struct_size; // sizeof(HaliteCompatibilityOptions) where the program was compiled
    // The only device to be judged, as in HaliteGpuDelegateOptions.device. NULL or "": what the environment variable
    // HALITE_DEVICE says, and without that "auto", which judges all devices and takes the fastest one that is worth it.
    const char *device;
    bool allow_software; // software devices count as GPUs
} HaliteCompatibilityOptions;

// What is known of one device.
typedef struct HaliteCompatibilityDevice {
    const HaliteDevice *device;
    bool is_worth_it;             // nothing speaks against it
    const char *reason;           // what does, for people, in parts that "; " separates; "" where nothing does
    HaliteGpuPrecision precision; // the fastest that its driver can do, where loss of precision is allowed
    const char *precision_reason; // why that one, for people
} HaliteCompatibilityDevice;

// The judgment of this machine, at the time of the call.
typedef struct HaliteCompatibility HaliteCompatibility;
// Looks for devices, which may take a tenth of a second, and judges them. Options may be NULL; they are copied. The
// caller deletes the result. Returns NULL without memory, and for a struct_size below that of the first version.
TFL_CAPI_EXPORT extern HaliteCompatibility *HaliteCompatibilityCreate(const HaliteCompatibilityOptions *options);
TFL_CAPI_EXPORT extern void HaliteCompatibilityDelete(HaliteCompatibility *compatibility);
// Says whether a GPU is worth it. False for NULL.
TFL_CAPI_EXPORT extern bool HaliteCompatibilityIsGpuWorthIt(const HaliteCompatibility *compatibility);
// Why, or why not: a sentence for people. "" for NULL.
TFL_CAPI_EXPORT extern const char *HaliteCompatibilityGetReason(const HaliteCompatibility *compatibility);
// The options for the device that is worth it: its name and its precision, everything else as by default. NULL where
// none is. Lent, with the texts in it. Where no precision may be lost, take kHaliteGpuPrecisionF32 in a copy.
TFL_CAPI_EXPORT extern const HaliteGpuDelegateOptions *HaliteCompatibilityGetBestOptions(
    const HaliteCompatibility *compatibility);
// The number of threads for what runs on the CPU: that of its processors, 4 at most, beyond which small models grow
// slower. 1 for NULL.
TFL_CAPI_EXPORT extern int32_t HaliteCompatibilityGetBestThreads(const HaliteCompatibility *compatibility);
// The devices that were judged. NULL where index is outside.
TFL_CAPI_EXPORT extern int32_t HaliteCompatibilityGetDeviceCount(const HaliteCompatibility *compatibility);
TFL_CAPI_EXPORT extern const HaliteCompatibilityDevice *HaliteCompatibilityGetDevice(
    const HaliteCompatibility *compatibility, int32_t index);

// ---- where nodes run ----------------------------------------------------------------------------

// Why a node runs where it runs: X(name of the constant, name as text, what it means).
// clang-format off
#define HALITE_DELEGATE_REASONS(X)                                                                       \
    X(Ok, OK, "runs on the GPU")                                                                         \
    X(NoKernel, NO_KERNEL, "the operator has no GPU kernel")                                             \
    X(Version, VERSION, "the operator's version is too new")                                             \
    X(InputCount, INPUT_COUNT, "unexpected number of inputs or outputs")                                 \
    X(Type, TYPE, "a tensor has a type that the GPU does not take")                                      \
    X(Rank, RANK, "a tensor has a rank that the kernel does not take")                                   \
    X(Shape, SHAPE, "shapes do not fit each other or the kernel")                                        \
    X(NotConstant, NOT_CONSTANT, "an input must be a constant")                                          \
    X(Constant, CONSTANT, "an input must not be a constant")                                             \
    X(Parameter, PARAMETER, "an option has a value that the kernel lacks")                               \
    X(Quantization, QUANTIZATION, "quantization that has no float twin")                                 \
    X(Dynamic, DYNAMIC, "a shape is known only while running")                                           \
    X(Partition, PARTITION, "supported, but max_delegated_partitions larger partitions were taken")      \
    X(Cost, COST, "supported, but its partition is too small to be worth the copies")                    \
    X(Folded, FOLDED, "makes a constant, which the GPU reads where it is stored")                        \
    X(Device, DEVICE, "supported, but the delegate could not be made ready: the graph runs on the CPU")  \
    X(Refused, REFUSED, "supported, but not all nodes are, as require_full_delegation demands")
// clang-format on
// kHaliteDelegateReasonOk = 0, kHaliteDelegateReasonNoKernel = 1, … Later versions append.
typedef enum HaliteDelegateReason {
#define HALITE_DELEGATE_REASON(name, code, text) kHaliteDelegateReason##name,
    HALITE_DELEGATE_REASONS(HALITE_DELEGATE_REASON)
#undef HALITE_DELEGATE_REASON
} HaliteDelegateReason;

// One node of a graph that the delegate was applied to.
typedef struct HaliteDelegateNode {
    int32_t graph;     // number of its graph, see HaliteDelegateGraph
    int32_t node;      // index in its subgraph
    const char *op;    // "CONV_2D", or a custom operator's name
    int32_t version;   // of the operator in the model
    bool on_gpu;       // reason is kHaliteDelegateReasonOk
    int32_t partition; // which part of connected supported nodes, 0 the largest; -1: in none
    HaliteDelegateReason reason;
    const char *reason_name; // "TYPE"
    const char *text;        // the reason for people, with numbers
    // index of the tensor at fault; -1: none in particular, then the fields below are empty
    int32_t tensor;
    const char *tensor_name;
    TfLiteType tensor_type;
    int32_t rank;        // of dims
    const int32_t *dims; // the tensor's shape
} HaliteDelegateNode;

// One application of the delegate to a graph: a model's subgraph in an interpreter. The runtime applies a delegate to
// each subgraph in turn, and again when inputs are resized.
typedef struct HaliteDelegateGraph {
    int32_t number;     // of the application, counted by the delegate from 0 on: the highest is the latest
    int32_t first_node; // of its nodes in the report, which follow each other in order of execution
    int32_t node_count;
    int32_t gpu_node_count;
    int32_t partition_count; // that run on the GPU
} HaliteDelegateGraph;

// What a delegate has done so far: a copy, which stays as it is when the delegate is applied again or deleted.
//
// A delegate remembers a graph, also when its interpreter is gone, until it is applied again to the same graph or to
// one that took its place in memory, or to 64 others. A program that uses one delegate for many interpreters notes the
// highest number before it applies the delegate: the graphs above are new.
typedef struct HaliteDelegateReport HaliteDelegateReport;
// The caller deletes it. NULL: the delegate is none of Halite's (a wrapper of TfLiteExternalDelegateCreate is none
// either), or there is no memory. All of Halite's delegate libraries export these functions, and each answers for the
// delegates and reports of all of them: it does not matter which one a program is linked with first.
TFL_CAPI_EXPORT extern HaliteDelegateReport *HaliteDelegateReportCreate(const TfLiteDelegate *delegate);
TFL_CAPI_EXPORT extern void HaliteDelegateReportDelete(HaliteDelegateReport *report);
// The device that the delegate has opened; NULL: none, since nothing was to run there, or it failed.
TFL_CAPI_EXPORT extern const HaliteDevice *HaliteDelegateReportGetDevice(const HaliteDelegateReport *report);
// What it computes with there; kHaliteGpuPrecisionDefault: no device is open.
TFL_CAPI_EXPORT extern HaliteGpuPrecision HaliteDelegateReportGetPrecision(const HaliteDelegateReport *report);
// Graphs, the latest last. NULL where index is outside.
TFL_CAPI_EXPORT extern int32_t HaliteDelegateReportGetGraphCount(const HaliteDelegateReport *report);
TFL_CAPI_EXPORT extern const HaliteDelegateGraph *HaliteDelegateReportGetGraph(const HaliteDelegateReport *report,
                                                                               int32_t index);
// Nodes of all graphs. NULL where index is outside.
TFL_CAPI_EXPORT extern int32_t HaliteDelegateReportGetNodeCount(const HaliteDelegateReport *report);
TFL_CAPI_EXPORT extern const HaliteDelegateNode *HaliteDelegateReportGetNode(const HaliteDelegateReport *report,
                                                                             int32_t index);

// ---- how long GPU kernels take ------------------------------------------------------------------

// Starts or stops timing each kernel of each Invoke on the device's own clock; starting clears the times. Without it
// nothing is timed and nothing costs time; with it kernels run one after the other, with a clock around each, so an
// Invoke as a whole takes longer than it does. HaliteInterpreterSetProfiling times whole nodes, of which a delegated
// partition is one. telemetry: NULL, or a profiler that gets ReportOpInvokeEvent for each kernel when its Invoke is
// done: op_name is operator, node and kernel ("CONV_2D 3 conv"), op_idx the node or -1, subgraph_idx the number of the
// graph in the report. It stays the caller's, and must live until profiling is stopped or the last interpreter with the
// delegate is deleted. kTfLiteError: the delegate is none of Halite's GPU delegates. While profiling, Invoke fails on a
// device without a clock.
TFL_CAPI_EXPORT extern TfLiteStatus HaliteDelegateSetProfiling(TfLiteDelegate *delegate, bool enable,
                                                               struct TfLiteTelemetryProfilerStruct *telemetry);

// One kernel that each Invoke starts on the device.
typedef struct HaliteDelegateKernel {
    int32_t graph, partition; // that it belongs to, as in HaliteDelegateNode
    int32_t node;             // of the model that it computes, with others that were fused into it; -1: of none
    const char *op;       // that node's operator; "": it copies between the CPU's layout of a tensor and the device's
    const char *kernel;   // its name: "conv"
    uint64_t runs;        // timed ones
    uint64_t nanoseconds; // of all of them together
} HaliteDelegateKernel;

// Kernels of all graphs whose interpreters live, by partition and in order of execution. NULL where index is outside.
TFL_CAPI_EXPORT extern int32_t HaliteDelegateReportGetKernelCount(const HaliteDelegateReport *report);
TFL_CAPI_EXPORT extern const HaliteDelegateKernel *HaliteDelegateReportGetKernel(const HaliteDelegateReport *report,
                                                                                 int32_t index);

// ---- buffers of the application -----------------------------------------------------------------

// An input or output of the graph can lie in a buffer on the device that the application made: its own kernels write
// the input and read the output, and Invoke copies nothing between device and host. docs/gpu.md has an example.

typedef enum HaliteGpuElement {
    kHaliteGpuElementFloat32 = 0, // of quantized tensors, too: their real values
    kHaliteGpuElementFloat16 = 1, // the same as half floats; where HaliteDevice.half_storage is true
    kHaliteGpuElementBytes = 2,   // the 8-bit integers of a quantized tensor, for the dense layout
    // Pixels of four bytes, for inputs and outputs of up to four channels: HaliteGpuImage says how they become the
    // tensor's values, or are made of them.
    kHaliteGpuElementRgba8 = 3,
} HaliteGpuElement;

typedef enum HaliteGpuLayout {
    kHaliteGpuLayoutDense = 0, // as in the tensor: [batch, height, width, channel]
    // Slices of four channels: [batch, slice, height, width, 4]. The last slice of channels that are no multiple of
    // four has zeros at its end in outputs, and anything in inputs.
    kHaliteGpuLayoutSlices = 1,
} HaliteGpuLayout;

// What the handle of a HaliteGpuBuffer is.
typedef enum HaliteGpuKind {
    kHaliteGpuKindBuffer = 0,
    // A two-dimensional image: a texture of OpenGL ES (GL_TEXTURE_2D, its level 0), a cl_mem image, a VkImage of one
    // level, layer and sample. Its format must be that of the element: GL_RGBA8, CL_RGBA with CL_UNORM_INT8 or
    // VK_FORMAT_R8G8B8A8_UNORM for kHaliteGpuElementRgba8; GL_RGBA16F, CL_HALF_FLOAT or
    // VK_FORMAT_R16G16B16A16_SFLOAT for kHaliteGpuElementFloat16; GL_RGBA32F, CL_FLOAT or
    // VK_FORMAT_R32G32B32A32_SFLOAT for kHaliteGpuElementFloat32. In the dense layout it is a picture as HaliteGpuImage
    // describes, of whatever element. In slices (floats only) each pixel has four channels of one position: the image
    // is as wide as the tensor, and batch * slices * height rows high.
    kHaliteGpuKindImage = 1,
    // This kind and those after it are memory that is no object of an API yet, which the delegate imports; it may
    // compute on a device of its own, and `api` does not count. Here: the file descriptor, not 0, of an allocation that
    // a Vulkan driver has exported (VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, not dedicated to one buffer or
    // image), in this process or another one, of the same device: for Vulkan with VK_KHR_external_memory_fd.
    // offset + size is the size with which it was allocated, in bytes.
    kHaliteGpuKindOpaqueFd = 2,
    // The file descriptor of a dma-buf, for Vulkan with VK_EXT_external_memory_dma_buf. Descriptors remain the
    // application's, which may close them once they are bound and the delegate is applied.
    kHaliteGpuKindDmaBuf = 3,
    // Memory of the host that the application owns and keeps until it is bound no longer: a pointer. Where the device
    // can use it as it is, it does (Vulkan with VK_EXT_external_memory_host, OpenCL where CPU and GPU share their
    // memory, CUDA): it should begin at a page and have whole pages. Else each Invoke copies from or to it, and
    // HaliteDelegateGetCopiedBytes counts that. It must not be touched during Invoke.
    kHaliteGpuKindHostMemory = 4,
    // Android's memory: an AHardwareBuffer * with AHARDWAREBUFFER_FORMAT_BLOB and
    // AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER, for Vulkan with VK_ANDROID_external_memory_android_hardware_buffer. It has
    // a size of its own. The application may release it once it is bound and the delegate is applied: the device holds
    // a reference while it uses it.
    kHaliteGpuKindHardwareBuffer = 5,
} HaliteGpuKind;

// A picture of pixels of four channels, as cameras and screens have them: bytes in a buffer, or bytes, halves or floats
// in an image. For an input of the graph the device cuts a part out of it, resizes that to the tensor's height and
// width, and makes the tensor's values of it, before the first kernel. A value is that of the four pixels around the
// middle of its own pixel, weighted by how near they are (bilinear, corners not aligned; nothing is averaged where the
// picture shrinks to less than half). For an output the picture has the tensor's height and width, and is made after
// the last kernel: bytes are rounded to the nearest and clamped to 0 to 255. The fourth byte of a pixel is 255 (a float
// 1) where no channel is written to it, and others are 0. Zero is the default of every field but the first.
typedef struct HaliteGpuImage {
    size_t struct_size;    // sizeof(HaliteGpuImage) where the program was compiled
    int32_t width, height; // of the whole picture, in pixels; 0: those of the tensor
    int32_t row_bytes;     // of buffers: from one row to the next, a multiple of 4; 0: 4 * width
    // The part of it that is used, in pixels; crop_width or crop_height 0: from crop_x or crop_y to the end. Outputs
    // have no such part.
    int32_t crop_x, crop_y, crop_width, crop_height;
    // The byte (or half, or float) of a pixel for each channel, 0 to 3. All 0: {0, 1, 2, 3}; for BGRA pixels and a
    // model of RGB {2, 1, 0, 3}. Outputs have each at most once.
    int32_t order[4];
    // A channel's value is (byte - mean) * scale, and so the byte that is made of an output is value / scale + mean.
    // All scales 0: 1 / 255 for bytes and 1 for halves and floats. Those of an output's channels must not be 0.
    float mean[4], scale[4];
} HaliteGpuImage;

// A part of a buffer that holds all elements of one tensor, or an image. Zero is the default of every field but the
// first two.
typedef struct HaliteGpuBuffer {
    size_t struct_size;       // sizeof(HaliteGpuBuffer) where the program was compiled
    HaliteGpuApi api;         // that of the delegate's device
    HaliteGpuElement element; // what lies in it
    HaliteGpuLayout layout;   // in which order
    // The object as an integer. OpenCL: a cl_mem that is a buffer, (uint64_t)(uintptr_t)memory. Vulkan: a VkBuffer
    // with VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, and for copies to the host VK_BUFFER_USAGE_TRANSFER_SRC_BIT. OpenGL ES:
    // the name of a buffer object that has its size. CUDA: a CUdeviceptr into memory that cuMemAlloc has given, a
    // multiple of 16. Metal: an id<MTLBuffer> of the delegate's device, in any storage mode,
    // (uint64_t)(uintptr_t)buffer; it is retained while it is bound. Images of OpenCL and OpenGL ES likewise; a
    // VkImage with VK_IMAGE_USAGE_TRANSFER_SRC_BIT for inputs, and VK_IMAGE_USAGE_TRANSFER_DST_BIT for outputs.
    // Metal's textures are not taken. A file descriptor, or a pointer, for memory.
    uint64_t handle;
    uint64_t offset; // bytes from the start of the buffer to the first element, a multiple of 256; 0 for images
    // Bytes from there on that belong to the tensor: at least its elements, rounded up to 4 bytes for bytes and to 8
    // for dense float16. 0: up to the end of the buffer, which Vulkan and memory do not know, but for
    // an AHardwareBuffer: there it is needed. 0 for images.
    uint64_t size;
    // For kHaliteGpuElementRgba8 and for images, in the dense layout: how the pixels lie, for each picture of a batch
    // one after the other (in an image: one below the other), in height rows of row_bytes each. NULL: as all its
    // defaults. Copied. The delegate is applied for one such struct: bound before, other pictures may follow it with an
    // equal one, and it cannot be taken back.
    const HaliteGpuImage *image;
    HaliteGpuKind kind; // what `handle` is
    // VkImageLayout of a VkImage whenever Invoke begins, and whenever it ends (0: the same as before). An output may
    // begin as VK_IMAGE_LAYOUT_UNDEFINED, and then needs the second.
    int32_t vk_layout_before, vk_layout_after;
    int32_t vk_memory_type; // of kHaliteGpuKindOpaqueFd: the memoryTypeIndex with which it was allocated
} HaliteGpuBuffer;

// Puts an input or output of the graph into a buffer of the application, until another call for the same tensor.
//
// The delegate must compute in the application's context (HaliteGpuDelegateOptions.context). `tensor` is an index as of
// TfLiteInterpreterGetInputTensorIndex, of the first graph with the delegate that has such an input or output on the
// device, which is the model's main graph; so a delegate with bound buffers serves one interpreter. Before the delegate
// is applied, any element and layout may be bound: the plan is made for it. Later calls may bind other buffers of the
// same element and layout (float32 and dense where nothing was bound, or bytes for quantized tensors with more than one
// position), which costs a recording of the commands at the next Invoke, or take the binding back (buffer NULL).
//
// While a buffer is bound, Invoke reads or writes it and not the memory of the tensor. When Invoke returns, outputs are
// written. TfLiteInterpreterEnsureTensorDataIsReadable copies a bound output to the tensor; without
// TfLiteSetAllowBufferHandleOutput(interpreter, true), Invoke does that for each output, as the original does. The
// buffer must live while it is bound and an Invoke may use it.
//
// kTfLiteError after a message, which goes to standard error: the delegate is none of Halite's GPU delegates, a field
// is out of its range, the delegate was applied and the buffer is not fit (of another context, too small, for a tensor
// that is no input or output on the device, that operators on the CPU read as well, whose values the CPU checks, or a
// variable, of another element or layout), or it overlaps the buffer of another tensor. What was bound before stays.
// Before the delegate is applied, such a buffer lets applying it fail. The struct is copied. Waits for an Invoke of
// another thread.
TFL_CAPI_EXPORT extern TfLiteStatus HaliteDelegateBindBuffer(TfLiteDelegate *delegate, int32_t tensor,
                                                             const HaliteGpuBuffer *buffer);

// The bytes of inputs and outputs that the delegate has copied between host and device since it was made, in either
// direction. Weights, which are copied when it is applied, do not count. 0: the delegate is none of Halite's GPU
// delegates.
TFL_CAPI_EXPORT extern uint64_t HaliteDelegateGetCopiedBytes(const TfLiteDelegate *delegate);

// Those of them that a processor has carried, or the driver for it: copies from and to tensors whose memory is the
// runtime's or the application's. Where HaliteGpuDelegateOptions.keep_tensor_memory does not forbid it, large tensors
// lie in the delegate's, which the device copies by itself.
TFL_CAPI_EXPORT extern uint64_t HaliteDelegateGetCarriedBytes(const TfLiteDelegate *delegate);

#ifdef __cplusplus
}
#endif

#endif
