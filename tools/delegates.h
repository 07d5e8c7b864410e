// SPDX-License-Identifier: Apache-2.0
// The delegates that TensorFlow Lite's tools are asked for by flags, one list of flags for all tools. In: a command
// line as flags_tflite.h reads it. Out: delegates, in the order in which they were asked for, ready for an interpreter.
#ifndef HALITE_TOOLS_DELEGATES_H
#define HALITE_TOOLS_DELEGATES_H

#include <limits.h>
#include <stdbool.h>

#include "flags_tflite.h"
#include "gpu_library.h"
#include "tensorflow/lite/c/c_api.h"

// Why flags of the original do nothing here.
#define HL_FOR_SHAPES "the delegate is applied anew when shapes change"
#define HL_FOR_HALVES "Halite's CPU kernels compute float32 as float32"
#define HL_FOR_XNNPACK "Halite's own CPU kernels do the work of XNNPACK's runtime"
#define HL_FOR_YNNPACK "Halite's own CPU kernels do the work of YNNPACK"
#define HL_FOR_STABLE "there are no stable delegates, use --external_delegate_path"
#define HL_FOR_DEBUG "only debugging builds of the original's delegates read it"

// X(at, kind, name, default, idle, help): a flag of this kind (HL_FLAG_...), with the reason for which it does nothing
// here, or NULL. `at` is handed through.
// clang-format off
#define HL_DELEGATE_FLAG_LIST(X, at)                                                                                        \
    X(at, BOOL, help, false, NULL, "print this text")                                                                       \
    X(at, INT, num_threads, -1, NULL, "threads on the CPU; -1: the library's choice")                                       \
    X(at, INT, max_delegated_partitions, 0, NULL, "most parts of the graph that a delegate takes; 0: its own choice")       \
    X(at, INT, min_nodes_per_partition, 0, NULL, "NNAPI, Hexagon, Core ML: fewest nodes of a part")                         \
    X(at, STRING, delegate_serialize_dir, "", NULL, "folder where a delegate keeps what it compiles; with a token")         \
    X(at, STRING, delegate_serialize_token, "", NULL, "name of the model in that folder")                                   \
    X(at, INT, first_delegate_node_index, 0, HL_FOR_DEBUG, "first node that may be delegated")                              \
    X(at, INT, last_delegate_node_index, INT_MAX, HL_FOR_DEBUG, "last node that may be delegated")                          \
    X(at, INT, gpu_invoke_loop_times, 1, HL_FOR_DEBUG, "GPU: repeat each run")                                              \
    X(at, BOOL, use_gpu, false, NULL, "run what it can on the GPU")                                                         \
    X(at, BOOL, gpu_precision_loss_allowed, true, NULL, "GPU: half precision; false: float32 throughout")                   \
    X(at, BOOL, gpu_experimental_enable_quant, true, NULL, "GPU: 8-bit models too (false changes nothing)")                 \
    X(at, BOOL, gpu_inference_for_sustained_speed, false, NULL, "GPU: start slower, run faster")                            \
    X(at, STRING, gpu_backend, "", NULL, "GPU: cl, gl, vulkan or cuda, or one device: vulkan:1")                     \
    X(at, STRING, gpu_wait_type, "", "only Metal has ways to wait", "GPU: passive, active, do_not_wait or aggressive")      \
    X(at, BOOL, use_xnnpack, false, NULL, "XNNPACK, whose work Halite's own CPU kernels do")                                \
    X(at, BOOL, xnnpack_force_fp16, false, HL_FOR_HALVES, "XNNPACK: half precision")                                        \
    X(at, STRING, xnnpack_weight_cache_file_path, "", NULL, "XNNPACK: keep packed weights in this file")                    \
    X(at, INT, xnnpack_runtime_flags, 0, HL_FOR_XNNPACK, "XNNPACK: flags of its runtime")                                   \
    X(at, BOOL, use_nnapi, false, NULL, "use NNAPI")                                                                        \
    X(at, STRING, nnapi_execution_preference, "", NULL, "NNAPI: fast_single_answer, sustained_speed, low_power")            \
    X(at, STRING, nnapi_execution_priority, "", NULL, "NNAPI: default, low, medium or high")                                \
    X(at, STRING, nnapi_accelerator_name, "", NULL, "NNAPI: the device")                                                    \
    X(at, BOOL, disable_nnapi_cpu, true, NULL, "NNAPI: no work for its own CPU device")                                     \
    X(at, BOOL, nnapi_allow_fp16, false, NULL, "NNAPI: half precision")                                                     \
    X(at, BOOL, nnapi_allow_dynamic_dimensions, false, HL_FOR_SHAPES, "NNAPI: take tensors without fixed dimensions")       \
    X(at, BOOL, nnapi_use_burst_mode, false, NULL, "NNAPI: many runs in a row")                                             \
    X(at, STRING, nnapi_support_library_path, "", NULL, "NNAPI: library of the vendor, in place of the system's")            \
    X(at, BOOL, use_hexagon, false, NULL, "use a Hexagon processor, for 8-bit models")                                      \
    X(at, STRING, hexagon_lib_path, "/data/local/tmp", NULL, "Hexagon: folder of the processor's libraries")                \
    X(at, BOOL, hexagon_profiling, false, NULL, "Hexagon: print the cycles of each node after each run")                    \
    X(at, BOOL, use_coreml, false, NULL, "use Core ML, on Apple's systems")                                                 \
    X(at, INT, coreml_version, 0, NULL, "Core ML: version, 2 or 3; 0: the newest")                                          \
    X(at, STRING, external_delegate_path, "", NULL, "library of an external delegate")                                      \
    X(at, STRING, external_delegate_options, "", NULL, "options for it: key:value;key:value")                               \
    X(at, BOOL, use_ynnpack, false, HL_FOR_YNNPACK, "use YNNPACK")                                                          \
    X(at, BOOL, ynnpack_static_shape, false, HL_FOR_YNNPACK, "YNNPACK: shapes do not change")                               \
    X(at, BOOL, ynnpack_fast_math, false, HL_FOR_YNNPACK, "YNNPACK: faster, less exact")                                    \
    X(at, BOOL, ynnpack_consistent_arithmetic, false, HL_FOR_YNNPACK, "YNNPACK: the same results everywhere")               \
    X(at, BOOL, ynnpack_no_excess_precision, false, HL_FOR_YNNPACK, "YNNPACK: no wider intermediate values")                \
    X(at, STRING, stable_delegate_settings_file, "", HL_FOR_STABLE, "settings of a stable delegate")                        \
    X(at, STRING, stable_delegate_loader_settings, "", HL_FOR_STABLE, "settings of a stable delegate")
// clang-format on

#define HL_DELEGATE_TYPE_BOOL bool
#define HL_DELEGATE_TYPE_INT int
#define HL_DELEGATE_TYPE_STRING const char *
#define HL_DELEGATE_FIELD(at, kind, name, initial, idle, help) HL_DELEGATE_TYPE_##kind name;
struct hl_delegate_flags {
    HL_DELEGATE_FLAG_LIST(HL_DELEGATE_FIELD, )
};

// Initializer of a struct hl_delegate_flags.
#define HL_DELEGATE_DEFAULT(at, kind, name, initial, idle, help) .name = (initial),
#define HL_DELEGATE_DEFAULTS                         \
    {                                                \
        HL_DELEGATE_FLAG_LIST(HL_DELEGATE_DEFAULT, ) \
    }

// The rows of a command's table, for its options `struct type` with a member `member` of the type above. They end with
// a comma.
#define HL_DELEGATE_ROW(at, kind, name, initial, idle, help) \
    HL_TFLITE_ROW(kind, (at) + offsetof(struct hl_delegate_flags, name), name, help),
#define HL_DELEGATE_FLAGS(type, member) HL_DELEGATE_FLAG_LIST(HL_DELEGATE_ROW, offsetof(struct type, member))

// Says, a line each, which of these flags are on the command line and do nothing here, and why. NULL: it does
// something.
struct hl_idle_flag {
    const char *name, *idle;
};
void hl_idle_flags_warn(const struct hl_idle_flag *flags, size_t count, const struct hl_command *command,
                        const int *positions);

enum { HL_DELEGATES_MAX = 6 };

// The name of the delegate that takes no node: Halite's own kernels do its work.
#define HL_XNNPACK "XNNPACK"

struct hl_delegates {
    int count;
    struct hl_delegate {
        const char *name; // "GPU", "XNNPACK", "NNAPI", "HEXAGON", "COREML", "EXTERNAL"
        TfLiteDelegate *delegate;
        const struct hl_delegate_library *library; // whose report tells of it; NULL: it has none, or another kind of it
        void (*delete)(struct hl_delegates *delegates, TfLiteDelegate *delegate);
    } items[HL_DELEGATES_MAX];
    struct hl_gpu_library gpu;                         // open where there is a GPU delegate
    struct hl_delegate_library nnapi, hexagon, coreml; // the same for these
};

// Makes what the flags ask for and says, a line each, which of those given do nothing here. False after a message where
// a delegate cannot be made, but for Hexagon's and Core ML's: where there is none, the tools of the original warn and
// use the CPU.
// hl_delegates_free is right in both cases, after the interpreters.
bool hl_delegates_create(const struct hl_delegate_flags *flags, const struct hl_command *command, const int *positions,
                         struct hl_delegates *delegates);
void hl_delegates_free(struct hl_delegates *delegates);

#endif
