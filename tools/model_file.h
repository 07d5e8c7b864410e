// SPDX-License-Identifier: Apache-2.0
// A model opened for a subcommand: file, interpreter, and what the library said meanwhile.
#ifndef HALITE_TOOLS_MODEL_FILE_H
#define HALITE_TOOLS_MODEL_FILE_H

#include <stdbool.h>

#include "delegates.h"
#include "flags.h"
#include "gpu_library.h"
#include "halite/halite.h"
#include "model/model.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/common.h"
#include "text.h"

// How to run a model: what every subcommand that does so asks for.
struct hl_model_options {
    const char *model;
    int kernels; // index into hl_model_kernels
    int threads;
    const char *delegate;                 // as delegate_choice.h reads it; NULL: none
    bool gpu;                             // Halite's own GPU delegate
    const char *device;                   // for it, or any delegate with an option of this name; NULL: its choice
    int precision;                        // index into hl_model_precisions
    int quantized;                        // index into hl_model_quantized
    int partitions;                       // most parts of the graph on the GPU; 0: the delegate's default
    const struct hl_delegates *delegates; // made elsewhere, applied in their order; NULL: none
    struct TfLiteTelemetryProfilerStruct *profiler; // hears of every node that runs; NULL: none
    const char *cache;                              // folder for compiled kernels; NULL: none are kept
    const char *weights_cache;                      // file for packed weights; NULL: they are not kept
    bool tune;                                      // blocks of the GPU's kernels are to be tried
    const char *custom_ops;                         // library with custom operators; NULL: none
    // Operators that have no kernel here get one that computes nothing: to look at the graph, not to run it.
    bool stand_ins;
};

// Does Halite's GPU delegate run it? --gpu asks for it, and so do --device, --precision, --partitions and --quantized
// where no other delegate is named.
bool hl_model_options_gpu(const struct hl_model_options *options);

extern const char *const hl_model_kernels[];
extern const char *const hl_model_precisions[];
extern const char *const hl_model_quantized[];

#define HL_MODEL_DEFAULTS \
    {                     \
        .threads = -1     \
    }

enum { HL_MODEL_MAX_THREADS = 1024 };

// clang-format off
// The rows of these flags in a subcommand's table, for its options struct `type` with a member `member`.
#define HL_MODEL_FLAG(type, member)                                                               \
    {                                                                                             \
        .name = "model", .letter = 'm', .kind = HL_FLAG_STRING, .value = "FILE",                  \
        .offset = offsetof(struct type, member.model), .required = true,                          \
        .help = "the model, a .tflite file",                                                      \
    }
#define HL_MODEL_PARTITIONS(type, member)                                                         \
    {                                                                                             \
        .name = "partitions", .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 1000000,        \
        .offset = offsetof(struct type, member.partitions),                                       \
        .help = "most parts of the graph on the GPU (and --gpu), the largest\n"                   \
                "first, further ones where they are worth their copies; default 1",               \
    }
#define HL_MODEL_PRECISION_HELP                                                                   \
    "on the GPU (and --gpu): f32 (default), f16s (large tensors lie\n"                            \
    "in memory as halves, arithmetic is in floats); f16 allows half\n"                            \
    "arithmetic where a kernel gains by it, as matrix units do"
#define HL_MODEL_KERNELS_FLAG(type, member)                                                       \
    {                                                                                             \
        .name = "kernels", .letter = 'k', .kind = HL_FLAG_CHOICE, .choices = hl_model_kernels,    \
        .offset = offsetof(struct type, member.kernels),                                          \
        .help = "which CPU kernels; default: what HALITE_KERNELS says, else fast",                \
    }
#define HL_MODEL_DELEGATE_FLAGS(type, member)                                                     \
    {                                                                                             \
        .name = "delegate", .letter = 'd', .kind = HL_FLAG_STRING, .value = "FILE",               \
        .offset = offsetof(struct type, member.delegate),                                         \
        .help = "give what it can take to this delegate: nnapi, hexagon, coreml,\n"               \
                "xnnpack (which leaves all to the CPU's kernels), or a library;\n"                \
                "its options behind it: ./libvendor.so:key=value,key=value",                      \
    },                                                                                            \
    {                                                                                             \
        .name = "gpu", .letter = 'g', .kind = HL_FLAG_SWITCH,                                     \
        .offset = offsetof(struct type, member.gpu),                                              \
        .help = "give what it can take to the GPU",                                               \
    }
#define HL_MODEL_OTHER_FLAGS(type, member)                                                        \
    {                                                                                             \
        .name = "quantized", .kind = HL_FLAG_CHOICE, .choices = hl_model_quantized,               \
        .offset = offsetof(struct type, member.quantized),                                        \
        .help = "8-bit tensors on the GPU (and --gpu): float (default), or exact: in\n"           \
                "integers, as the CPU's reference kernels bit for bit, but slower",               \
    },                                                                                            \
    HL_MODEL_PARTITIONS(type, member),                                                            \
    {                                                                                             \
        .name = "custom-ops", .kind = HL_FLAG_STRING, .value = "FILE",                            \
        .offset = offsetof(struct type, member.custom_ops),                                       \
        .help = "library with custom operators: for each operator NAME a\n"                       \
                "function TfLiteRegistration *Register_NAME(void)",                               \
    },                                                                                            \
    {                                                                                             \
        .name = "cache", .letter = 'C', .kind = HL_FLAG_STRING, .value = "FOLDER",                \
        .offset = offsetof(struct type, member.cache),                                            \
        .help = "GPU: keep compiled kernels in this folder, for a quicker next start",            \
    },                                                                                            \
    {                                                                                             \
        .name = "weights-cache", .kind = HL_FLAG_STRING, .value = "FILE",                         \
        .offset = offsetof(struct type, member.weights_cache),                                    \
        .help = "CPU: keep packed weights in this file, for a quicker next start;\n"              \
                "it is mapped, and processes share its memory",                                   \
    }
// All of them.
#define HL_MODEL_RUN_FLAGS(type, member)                                                          \
    HL_MODEL_KERNELS_FLAG(type, member),                                                          \
    {                                                                                             \
        .name = "threads", .letter = 't', .kind = HL_FLAG_INT, .value = "N", .min = 1,            \
        .max = HL_MODEL_MAX_THREADS, .offset = offsetof(struct type, member.threads),             \
        .help = "threads; default: the library's choice",                                         \
    },                                                                                            \
    HL_MODEL_DELEGATE_FLAGS(type, member),                                                        \
    {                                                                                             \
        .name = "device", .letter = 'D', .kind = HL_FLAG_STRING, .value = "NAME",                 \
        .offset = offsetof(struct type, member.device),                                           \
        .help = "which GPU (and --gpu): auto, opencl:1, vulkan, gles, cuda;\n"                     \
                "default: HALITE_DEVICE, else auto",                                              \
    },                                                                                            \
    {                                                                                             \
        .name = "precision", .letter = 'P', .kind = HL_FLAG_CHOICE,                               \
        .choices = hl_model_precisions, .offset = offsetof(struct type, member.precision),        \
        .help = HL_MODEL_PRECISION_HELP,                                                          \
    },                                                                                            \
    HL_MODEL_OTHER_FLAGS(type, member)
// clang-format on

struct hl_model_file {
    const char *command; // for messages
    const char *path;
    TfLiteModel *model;
    TfLiteInterpreter *interpreter;
    TfLiteDelegate *delegate;
    struct hl_gpu_library gpu; // where it is Halite's
    void *bytes;               // of the model, where it is not read from `path`
    bool is_xnnpack;           // the delegate is XNNPACK's
    struct hl_text messages;   // the library's, one a line; the struct must stay where it is
};

// Loads the model; "-" is standard input. False on failure, after a message on standard error; hl_model_file_close is
// right in both cases.
bool hl_model_file_open(struct hl_model_file *file, const char *command, const char *path);
// The same for a model in memory from malloc, which belongs to the file from now on; `path` is what messages call it.
bool hl_model_file_open_bytes(struct hl_model_file *file, const char *command, const char *path, void *bytes,
                              size_t size);
// Makes the interpreter, likewise.
bool hl_model_file_start(struct hl_model_file *file, const struct hl_model_options *options);
// The same without a message where the library refuses.
bool hl_model_file_try(struct hl_model_file *file, const struct hl_model_options *options);
// The two steps of start, for whoever makes the interpreter otherwise: the delegate that the options ask for (false
// after a message), and the options of the C API, to be deleted (NULL where the library refuses, with its message in
// file->messages).
bool hl_model_file_delegate(struct hl_model_file *file, const struct hl_model_options *options);
TfLiteInterpreterOptions *hl_model_file_options(struct hl_model_file *file, const struct hl_model_options *options);
// Gives the tensors memory. False after a message.
bool hl_model_file_allocate(struct hl_model_file *file);
// Prints what the library said though it did what was asked: settings and kept files that it ignores.
void hl_model_file_warn(struct hl_model_file *file);
void hl_model_file_close(struct hl_model_file *file);

// The two steps to Halite's GPU delegate, which start takes for --gpu. False after a message.
bool hl_model_file_open_gpu(struct hl_model_file *file);
bool hl_model_file_create_gpu_delegate(struct hl_model_file *file, const struct hl_model_options *options);

// Prints the message for a failed call: what the library said first, else `what`.
void hl_model_file_failed(struct hl_model_file *file, const char *what);

// Adds "31 nodes on the CPU: CONV_2D 15, DEPTHWISE_CONV_2D 13, ..." to text, one line for each place where nodes run,
// and which GPU it is.
void hl_model_file_placement(const struct hl_model_file *file, struct hl_text *text);

// "float32[1,224,224,3]", and "[1,?,?,3]" where `signature` has -1. dims may be NULL where rank is 0.
void hl_model_add_shape(struct hl_text *text, TfLiteType type, int rank, const int *dims);
void hl_model_add_tensor_shape(struct hl_text *text, const TfLiteTensor *tensor);

// Elements of a tensor with a shape.
int64_t hl_model_elements(const TfLiteTensor *tensor);
// Has it this shape (-1: any number) and elements that stand for real numbers: float32, uint8 or int8?
bool hl_model_has_shape(const TfLiteTensor *tensor, int rank, const int *dims);
// The builtin operator that makes output number `output` (TfLiteBuiltinOperator); -1: none does.
int hl_model_output_operator(const TfLiteModel *model, int output);
// The real number that element i of a tensor of numbers stands for.
float hl_model_real(const TfLiteTensor *tensor, int64_t i);

#endif
