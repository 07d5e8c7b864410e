// SPDX-License-Identifier: Apache-2.0
// What Halite adds to the TensorFlow Lite C API: choice of kernels, limits, reports of where and how long each node ran
// and where each tensor lies, the nodes and tensors of every subgraph, and changes to an interpreter that is there.
// Everything here works on objects of tensorflow/lite/c/c_api.h; nothing here is needed to run a model.
#ifndef HALITE_HALITE_H
#define HALITE_HALITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "halite/gpu_delegate.h" // the GPU delegate's part, which is in a library of its own
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Version of Halite itself, "major.minor.patch". TfLiteVersion tells which TensorFlow Lite interface it follows.
TFL_CAPI_EXPORT const char *HaliteVersion(void);

// Which CPU kernels an interpreter takes.
typedef enum HaliteKernels {
    kHaliteKernelsDefault = 0,   // what the environment variable HALITE_KERNELS says ("reference", "fast"), else fast
    kHaliteKernelsReference = 1, // plain and exact: the oracle for everything else
    kHaliteKernelsFast = 2,      // the fastest known to be right; integers as the reference, bit for bit
} HaliteKernels;

// For interpreters created from these options.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetKernels(TfLiteInterpreterOptions *options, HaliteKernels kernels);

// The most memory, in bytes, that all tensors of one interpreter and what fast kernels keep (packed weights, scratch)
// may take (constants in the model file not counted). Nodes for whose fast kernels it leaves no room run on the
// reference kernels.
// 0: the default, three quarters of the machine's memory. Going past it fails with a message, in AllocateTensors or
// Invoke.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetMemoryLimit(TfLiteInterpreterOptions *options, size_t bytes);

// How often the nodes that run other subgraphs (IF, WHILE, STABLEHLO_CASE, STABLEHLO_COMPOSITE, CALL_ONCE) may do so in
// one Invoke, or in one AllocateTensors: each turn of a loop runs two. 0: the default, 10 million. One more fails with
// a message, so that a model whose loop never ends does not hang. Negative numbers are ignored.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetCallLimit(TfLiteInterpreterOptions *options, int64_t calls);

// How many steps one Invoke may take in all. A step is about a multiply-add, a comparison or a byte of a tensor; nodes
// say how many they need before they run, from the shapes that they have by then (operators of other libraries and
// delegates: the bytes of their tensors). 0: the default, 10^15, days on one processor and more than any model known
// needs. Going past it fails with a message that names the node, so that a small file cannot keep a program busy for
// ever. Negative numbers are ignored.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetWorkLimit(TfLiteInterpreterOptions *options, int64_t steps);

// Keep the value of every tensor of the graph until the next Invoke, so that all of them can be read afterwards: no two
// tensors share memory, and no node works in place. Costs memory (HaliteMemoryReport.arena_unshared). Off by default.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetPreserveTensors(TfLiteInterpreterOptions *options, bool preserve);

// Start or stop timing each node in Invoke; starting clears the times. Costs two clock reads a node.
TFL_CAPI_EXPORT void HaliteInterpreterSetProfiling(TfLiteInterpreter *interpreter, bool enable);

// One node of the primary subgraph's execution plan, as it will run: delegated partitions are one node.
typedef struct HaliteNodeReport {
    int node;       // index of the node in the subgraph
    const char *op; // "CONV_2D", a custom operator's name, or a delegate's node name; lives as long as the interpreter
    int version;    // of the operator in the model
    const char *where;    // "CPU", or the name of the delegate's kernel
    int replaced_nodes;   // how many nodes of the model a delegate's node stands for; 0 on the CPU
    uint64_t runs;        // timed runs
    uint64_t nanoseconds; // all of them together
} HaliteNodeReport;

// How many nodes the plan has.
TFL_CAPI_EXPORT int32_t HaliteInterpreterGetNodeCount(const TfLiteInterpreter *interpreter);
// kTfLiteError where index is outside the plan.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterGetNodeReport(const TfLiteInterpreter *interpreter, int32_t index,
                                                            HaliteNodeReport *report);

// Memory of the primary subgraph, in bytes, after AllocateTensors.
typedef struct HaliteMemoryReport {
    size_t arena;          // shared by tensors that do not live at the same time
    size_t arena_unshared; // what the same tensors would take side by side
    size_t persistent;     // variables and what kernels keep from run to run
    size_t dynamic;        // tensors whose size was known only while running
    size_t constants;      // weights, in the model file
} HaliteMemoryReport;
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterGetMemoryReport(const TfLiteInterpreter *interpreter,
                                                              HaliteMemoryReport *report);

// One tensor of the primary subgraph in the memory plan.
typedef struct HaliteTensorReport {
    const char *name;
    TfLiteAllocationType where; // kTfLiteArenaRw: at offset of the arena
    size_t offset, bytes;
    int first_node, last_node; // plan positions between which the memory is its own; -1, -1: always
    int shares_with;           // tensor whose memory this one takes over in place, -1: none
} HaliteTensorReport;
// kTfLiteError where index is no tensor.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterGetTensorReport(const TfLiteInterpreter *interpreter, int32_t index,
                                                              HaliteTensorReport *report);
// How many tensors the subgraph has, kernels' scratch tensors included (they come last).
TFL_CAPI_EXPORT int32_t HaliteInterpreterGetTensorCount(const TfLiteInterpreter *interpreter);

// ---- the graph as it is -----------------------------------------------------------------------------------------
// Subgraph 0 is the primary one, which TfLiteInterpreterInvoke runs; others are run by control flow and by signatures.

TFL_CAPI_EXPORT int32_t HaliteInterpreterGetSubgraphCount(const TfLiteInterpreter *interpreter);
// Tensors of one subgraph, kernels' scratch tensors included (they come last). 0 where there is no such subgraph.
TFL_CAPI_EXPORT int32_t HaliteInterpreterGetSubgraphTensorCount(const TfLiteInterpreter *interpreter, int32_t subgraph);
// Lent: valid until tensors are added, by AllocateTensors or a delegate. NULL where there is no such tensor.
TFL_CAPI_EXPORT TfLiteTensor *HaliteInterpreterGetSubgraphTensor(const TfLiteInterpreter *interpreter, int32_t subgraph,
                                                                 int32_t tensor);

// One node at a position of a subgraph's execution plan; a delegated partition is one node. Pointers are lent and live
// until a delegate is applied or undone, or the interpreter is deleted.
typedef struct HaliteNode {
    int32_t index;          // of the node in the subgraph
    const char *op;         // as HaliteNodeReport.op
    int32_t builtin_code;   // TfLiteBuiltinOperator; kTfLiteBuiltinCustom and kTfLiteBuiltinDelegate among them
    int32_t version;        // of the operator in the model
    const TfLiteNode *node; // its inputs and outputs are tensor indices, -1: an optional input that is left out
    const TfLiteRegistration *registration;
} HaliteNode;
TFL_CAPI_EXPORT int32_t HaliteInterpreterGetSubgraphNodeCount(const TfLiteInterpreter *interpreter, int32_t subgraph);
// kTfLiteError where there is no such subgraph or position.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterGetSubgraphNode(const TfLiteInterpreter *interpreter, int32_t subgraph,
                                                              int32_t position, HaliteNode *node);

// TfLiteInterpreterResizeInputTensor for any subgraph, by the index of the tensor. strict: only dimensions that the
// model leaves open (-1 in dims_signature) may change. kTfLiteError after a message.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterResizeTensor(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                           int32_t tensor, const int *dims, int32_t rank, bool strict);

// The subgraph that a signature runs, and the indices in it of its inputs and outputs. -1: no such name, or no runner.
TFL_CAPI_EXPORT int32_t HaliteSignatureRunnerGetSubgraph(const TfLiteSignatureRunner *runner);
TFL_CAPI_EXPORT int32_t HaliteSignatureRunnerGetInputTensorIndex(const TfLiteSignatureRunner *runner, const char *name);
TFL_CAPI_EXPORT int32_t HaliteSignatureRunnerGetOutputTensorIndex(const TfLiteSignatureRunner *runner,
                                                                  const char *name);

// ---- changes to an interpreter that is there ----------------------------------------------------------------------
// What the original's C++ classes can do with one, for facades in other languages. Not while it runs.

// CPU threads as TfLiteInterpreterOptionsSetNumThreads has them. Tensors lose their memory, and a delegate that relies
// on their shapes is applied again: call TfLiteInterpreterAllocateTensors afterwards. Calls Refresh of external
// contexts. kTfLiteError below -1, after a message, and where a Refresh fails.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterSetNumThreads(TfLiteInterpreter *interpreter, int32_t num_threads);

// Gives the memory of all tensors but variables back until the next TfLiteInterpreterAllocateTensors, and with it their
// values. For interpreters that wait long for their next input.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterReleaseMemory(TfLiteInterpreter *interpreter);

// Takes off all delegates, for good: the nodes are those of the model, on the CPU. Tensors must be allocated again. The
// delegates may be deleted afterwards.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterRemoveDelegates(TfLiteInterpreter *interpreter);

// An object that kernels of one kind share, such as the Edge TPU's. Not owned: the caller keeps it until the
// interpreter is deleted or another takes its place; NULL takes it away. kTfLiteError for a type that does not exist.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterSetExternalContext(TfLiteInterpreter *interpreter,
                                                                 TfLiteExternalContextType type,
                                                                 TfLiteExternalContext *context);
// NULL where none was set.
TFL_CAPI_EXPORT TfLiteExternalContext *HaliteInterpreterGetExternalContext(const TfLiteInterpreter *interpreter,
                                                                           TfLiteExternalContextType type);

// Whether delegates and kernels of others may compute float32 in half precision (allow_fp32_relax_to_fp16 of
// TfLiteContext). Before they are applied or prepared. Halite's own CPU kernels do not. False by default.
TFL_CAPI_EXPORT void HaliteInterpreterSetAllowHalfPrecision(TfLiteInterpreter *interpreter, bool allow);
TFL_CAPI_EXPORT bool HaliteInterpreterGetAllowHalfPrecision(const TfLiteInterpreter *interpreter);

// ---- what a model says of itself ------------------------------------------------------------------------------------

// The metadata entries of the file: a name and bytes of it. Lent, as long as the model lives. kTfLiteError where index
// is outside or a pointer is NULL.
TFL_CAPI_EXPORT int32_t HaliteModelGetMetadataCount(const TfLiteModel *model);
TFL_CAPI_EXPORT TfLiteStatus HaliteModelGetMetadata(const TfLiteModel *model, int32_t index, const char **name,
                                                    const void **data, size_t *bytes);
// The file's description, "" where it has none. Lent, as long as the model lives.
TFL_CAPI_EXPORT const char *HaliteModelGetDescription(const TfLiteModel *model);

#ifdef __cplusplus
}
#endif

#endif
