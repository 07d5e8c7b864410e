// SPDX-License-Identifier: Apache-2.0
// This header holds what Halite adds to the TensorFlow Lite C API: the choice of kernels, limits, reports of where and
// how long each node ran and where each tensor lies, the nodes and tensors of every subgraph, and changes to an
// interpreter that exists. Everything here works on objects of tensorflow/lite/c/c_api.h. A program that only runs a
// model needs none of it.
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

// Returns the version of Halite itself, "major.minor.patch". TfLiteVersion tells which TensorFlow Lite interface it
// follows.
TFL_CAPI_EXPORT const char *HaliteVersion(void);

// Says which CPU kernels an interpreter uses.
typedef enum HaliteKernels {
    kHaliteKernelsDefault = 0,   // what the environment variable HALITE_KERNELS says ("reference", "fast"), else fast
    kHaliteKernelsReference = 1, // plain and exact: the oracle for everything else
    kHaliteKernelsFast = 2,      // the fastest known to be right; integers as the reference, bit for bit
} HaliteKernels;

// Sets the kernels of interpreters that are created from these options.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetKernels(TfLiteInterpreterOptions *options, HaliteKernels kernels);

// Limits the memory, in bytes, that all tensors of one interpreter and what fast kernels keep (packed weights, scratch)
// may take. Constants in the model file do not count. A node runs on the reference kernel where the limit leaves no
// room for the fast one. 0 means the default, which is three quarters of the machine's memory. AllocateTensors or
// Invoke fails with a message where the limit is exceeded.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetMemoryLimit(TfLiteInterpreterOptions *options, size_t bytes);

// Limits how often the nodes that run other subgraphs (IF, WHILE, STABLEHLO_CASE, STABLEHLO_COMPOSITE, CALL_ONCE) may
// do so in one Invoke, or in one AllocateTensors. Each iteration of a loop runs two. 0 means the default, which is 10
// million. The next call fails with a message, so that a model whose loop never ends does not hang. Negative numbers
// are ignored.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetCallLimit(TfLiteInterpreterOptions *options, int64_t calls);

// Limits how many steps one Invoke may take in all. A step is about a multiply-add, a comparison or a byte of a tensor.
// Before a node runs it says how many steps it needs, from the shapes that it has by then; operators of other libraries
// and delegates count the bytes of their tensors. 0 means the default, 10^15, which is days on one processor and more
// than any model known needs. Invoke fails with a message that names the node where the limit is exceeded, so that a
// small file cannot keep a program busy for ever. Negative numbers are ignored.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetWorkLimit(TfLiteInterpreterOptions *options, int64_t steps);

// Keeps the value of every tensor of the graph until the next Invoke, so that all of them can be read afterwards. No
// two tensors then share memory, and no node works in place, which costs memory (HaliteMemoryReport.arena_unshared).
// This is off by default.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetPreserveTensors(TfLiteInterpreterOptions *options, bool preserve);

// Holds packed weights for all interpreters that use it. Fast kernels pack a model's constants into a form of their
// own, which takes about as much memory as the constants. The interpreters of one TfLiteModel share it without being
// told to, also after TfLiteModelDelete; those of several models, which may be copies of one file, keep what is equal
// once where their options name a common cache. A block goes when no interpreter uses it any more. Every function on a
// cache may be called from any thread.
typedef struct HaliteWeightsCache HaliteWeightsCache;

// Returns an empty cache, which the caller deletes, or NULL without memory.
TFL_CAPI_EXPORT HaliteWeightsCache *HaliteWeightsCacheCreate(void);
// Returns a cache that also keeps its blocks in a file, from one process to the next: AllocateTensors of an interpreter
// that uses it maps the file and packs nothing that is there, and writes it anew where something was missing. Processes
// that map one file share its memory. The path is copied. The file is this user's alone; it is replaced as a whole, and
// a program may run while another one does that. One that is damaged, or was written by another version of the library
// or for another kind of CPU, is reported through the interpreter's error reporter and written anew; one that is
// something else is reported and left alone. Blocks are found by fingerprints of the weights and of all that says how
// to pack them, which are no defense against models that are made to collide: give models that do not trust each other
// files of their own. Returns NULL without a path or memory. Systems without POSIX files keep nothing, after a message.
TFL_CAPI_EXPORT HaliteWeightsCache *HaliteWeightsCacheCreateWithFile(const char *path);
// Gives the cache up. Interpreters that use it keep what they need. NULL is allowed.
TFL_CAPI_EXPORT void HaliteWeightsCacheDelete(HaliteWeightsCache *cache);
// Ends the filling of a cache. Kernels that are prepared later still find what is in it; if hard is true they do not
// even look. What they do not find they keep for themselves. Returns false where it was finalized before, or is NULL.
TFL_CAPI_EXPORT bool HaliteWeightsCacheFinalize(HaliteWeightsCache *cache, bool hard);
// Returns the bytes of all blocks that the cache holds.
TFL_CAPI_EXPORT size_t HaliteWeightsCacheGetBytes(HaliteWeightsCache *cache);
// Returns how many bytes kernels have packed since the cache was created: those that they found in it do not count, but
// those that turned out to be equal to others do.
TFL_CAPI_EXPORT size_t HaliteWeightsCacheGetPackedBytes(HaliteWeightsCache *cache);
// Sets the cache of interpreters that are created from these options, which hold on to it. NULL: the one that every
// model has for its own interpreters, the default.
TFL_CAPI_EXPORT void HaliteInterpreterOptionsSetWeightsCache(TfLiteInterpreterOptions *options,
                                                             HaliteWeightsCache *cache);

// For delegates that choose how the CPU's kernels work, to be called in their Prepare: the cache of the interpreter
// that the context belongs to, as HaliteInterpreterOptionsSetWeightsCache sets it, its threads, as
// TfLiteInterpreterOptionsSetNumThreads does, and its kernels, which are not to be the default. All return kTfLiteError
// for a context of another runtime; the last two also while another subgraph has its memory, whose kernels rely on what
// there was.
TFL_CAPI_EXPORT TfLiteStatus HaliteContextSetWeightsCache(TfLiteContext *context, HaliteWeightsCache *cache);
TFL_CAPI_EXPORT TfLiteStatus HaliteContextSetNumThreads(TfLiteContext *context, int32_t num_threads);
TFL_CAPI_EXPORT TfLiteStatus HaliteContextSetKernels(TfLiteContext *context, HaliteKernels kernels);

// Starts or stops timing each node in Invoke; starting clears the times. Timing reads the clock twice for each node.
TFL_CAPI_EXPORT void HaliteInterpreterSetProfiling(TfLiteInterpreter *interpreter, bool enable);

// Describes one node of the primary subgraph's execution plan, as it will run. A delegated partition is one node.
typedef struct HaliteNodeReport {
    int node;       // index of the node in the subgraph
    const char *op; // "CONV_2D", a custom operator's name, or a delegate's node name; lives as long as the interpreter
    int version;    // of the operator in the model
    const char *where;    // "CPU", or the name of the delegate's kernel
    int replaced_nodes;   // how many nodes of the model a delegate's node stands for; 0 on the CPU
    uint64_t runs;        // timed runs
    uint64_t nanoseconds; // all of them together
} HaliteNodeReport;

// Returns how many nodes the plan has.
TFL_CAPI_EXPORT int32_t HaliteInterpreterGetNodeCount(const TfLiteInterpreter *interpreter);
// Returns kTfLiteError where index is outside the plan.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterGetNodeReport(const TfLiteInterpreter *interpreter, int32_t index,
                                                            HaliteNodeReport *report);
// Returns the position in the plan of the node that computes the result of the one at index, and whose report has the
// time of both: index itself, unless a node nearby computes it, too, as a convolution does the PAD in front of it.
// After AllocateTensors; -1 where index is outside the plan.
TFL_CAPI_EXPORT int32_t HaliteInterpreterGetNodeRunBy(const TfLiteInterpreter *interpreter, int32_t index);

// Gives the memory of the primary subgraph, in bytes, after AllocateTensors.
typedef struct HaliteMemoryReport {
    size_t arena;          // shared by tensors that do not live at the same time
    size_t arena_unshared; // what the same tensors would take side by side
    size_t persistent;     // variables and what kernels keep from run to run
    size_t dynamic;        // tensors whose size was known only while running
    size_t constants;      // weights, in the model file
} HaliteMemoryReport;
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterGetMemoryReport(const TfLiteInterpreter *interpreter,
                                                              HaliteMemoryReport *report);

// Describes one tensor of the primary subgraph in the memory plan.
typedef struct HaliteTensorReport {
    const char *name;
    TfLiteAllocationType where; // kTfLiteArenaRw: at offset of the arena
    size_t offset, bytes;
    int first_node, last_node; // plan positions between which the memory is its own; -1, -1: always
    int shares_with;           // tensor in whose memory this one lies: it takes it over in place, has its values, or
                               // is written into it as an input of CONCATENATION; -1: none
} HaliteTensorReport;
// Returns kTfLiteError where index is no tensor.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterGetTensorReport(const TfLiteInterpreter *interpreter, int32_t index,
                                                              HaliteTensorReport *report);
// Returns how many tensors the subgraph has. Kernels' scratch tensors are counted and come last.
TFL_CAPI_EXPORT int32_t HaliteInterpreterGetTensorCount(const TfLiteInterpreter *interpreter);

// ---- the graph as it is -----------------------------------------------------------------------------------------
// Subgraph 0 is the primary one, which TfLiteInterpreterInvoke runs; others are run by control flow and by signatures.

TFL_CAPI_EXPORT int32_t HaliteInterpreterGetSubgraphCount(const TfLiteInterpreter *interpreter);
// Returns how many tensors a subgraph has, or 0 where there is no such subgraph. Kernels' scratch tensors are counted
// and come last.
TFL_CAPI_EXPORT int32_t HaliteInterpreterGetSubgraphTensorCount(const TfLiteInterpreter *interpreter, int32_t subgraph);
// Lends a tensor. It is valid until AllocateTensors or a delegate adds tensors. Returns NULL where there is no such
// tensor.
TFL_CAPI_EXPORT TfLiteTensor *HaliteInterpreterGetSubgraphTensor(const TfLiteInterpreter *interpreter, int32_t subgraph,
                                                                 int32_t tensor);

// Describes the node at a position of a subgraph's execution plan. A delegated partition is one node. Pointers are lent
// and live until a delegate is applied or undone, or the interpreter is deleted.
typedef struct HaliteNode {
    int32_t index;          // of the node in the subgraph
    const char *op;         // as HaliteNodeReport.op
    int32_t builtin_code;   // TfLiteBuiltinOperator; kTfLiteBuiltinCustom and kTfLiteBuiltinDelegate among them
    int32_t version;        // of the operator in the model
    const TfLiteNode *node; // its inputs and outputs are tensor indices, -1: an optional input that is left out
    const TfLiteRegistration *registration;
} HaliteNode;
TFL_CAPI_EXPORT int32_t HaliteInterpreterGetSubgraphNodeCount(const TfLiteInterpreter *interpreter, int32_t subgraph);
// Returns kTfLiteError where there is no such subgraph or position.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterGetSubgraphNode(const TfLiteInterpreter *interpreter, int32_t subgraph,
                                                              int32_t position, HaliteNode *node);

// These give nodes by their index in the subgraph, which delegates never change: nodes that a delegate took keep theirs
// and the delegate's own come after them. HaliteInterpreterGetSubgraphNode gives only those that run.
TFL_CAPI_EXPORT int32_t HaliteInterpreterGetSubgraphNodeTotal(const TfLiteInterpreter *interpreter, int32_t subgraph);
// Returns kTfLiteError where there is no such subgraph or node.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterGetSubgraphNodeByIndex(const TfLiteInterpreter *interpreter,
                                                                     int32_t subgraph, int32_t index, HaliteNode *node);

// Lends the indices of a subgraph's inputs, outputs or variables, and sets *count to how many there are. An index is -1
// where the graph leaves it out. They live until the list is set anew. Returns NULL and sets 0 where there is no such
// subgraph.
TFL_CAPI_EXPORT const int *HaliteInterpreterGetSubgraphInputs(const TfLiteInterpreter *interpreter, int32_t subgraph,
                                                              int32_t *count);
TFL_CAPI_EXPORT const int *HaliteInterpreterGetSubgraphOutputs(const TfLiteInterpreter *interpreter, int32_t subgraph,
                                                               int32_t *count);
TFL_CAPI_EXPORT const int *HaliteInterpreterGetSubgraphVariables(const TfLiteInterpreter *interpreter, int32_t subgraph,
                                                                 int32_t *count);
// The same for the nodes of the execution plan, in the order in which they run. Applying or undoing a delegate sets it
// anew too.
TFL_CAPI_EXPORT const int *HaliteInterpreterGetSubgraphPlan(const TfLiteInterpreter *interpreter, int32_t subgraph,
                                                            int32_t *count);
// Lends the name that the file gives a subgraph, "" where it gives none. Returns NULL where there is no such subgraph.
TFL_CAPI_EXPORT const char *HaliteInterpreterGetSubgraphName(const TfLiteInterpreter *interpreter, int32_t subgraph);
// Lends the context that a subgraph's kernels get, for code that calls kernels or their helpers itself. It lives as
// long as the interpreter. Returns NULL where there is no such subgraph.
TFL_CAPI_EXPORT TfLiteContext *HaliteInterpreterGetSubgraphContext(TfLiteInterpreter *interpreter, int32_t subgraph);

// These do for any subgraph what the C API does for the primary one: TfLiteInterpreterAllocateTensors, Invoke,
// EnsureTensorDataIsReadable and SetCustomAllocationForTensor. They return kTfLiteError where there is no such
// subgraph.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterAllocateSubgraph(TfLiteInterpreter *interpreter, int32_t subgraph);
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterInvokeSubgraph(TfLiteInterpreter *interpreter, int32_t subgraph);
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterEnsureSubgraphTensorIsReadable(TfLiteInterpreter *interpreter,
                                                                             int32_t subgraph, int32_t tensor);
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterSetSubgraphCustomAllocation(TfLiteInterpreter *interpreter,
                                                                          int32_t subgraph, int32_t tensor,
                                                                          const TfLiteCustomAllocation *allocation,
                                                                          int64_t flags);

// Does what TfLiteInterpreterResizeInputTensor does, for any subgraph and by the index of the tensor. Where strict is
// true, only dimensions that the model leaves open (-1 in dims_signature) may change. Returns kTfLiteError after a
// message.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterResizeTensor(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                           int32_t tensor, const int *dims, int32_t rank, bool strict);

// These return the subgraph that a signature runs, and the indices in it of its inputs and outputs. They return -1
// where there is no such name or no runner.
TFL_CAPI_EXPORT int32_t HaliteSignatureRunnerGetSubgraph(const TfLiteSignatureRunner *runner);
TFL_CAPI_EXPORT int32_t HaliteSignatureRunnerGetInputTensorIndex(const TfLiteSignatureRunner *runner, const char *name);
TFL_CAPI_EXPORT int32_t HaliteSignatureRunnerGetOutputTensorIndex(const TfLiteSignatureRunner *runner,
                                                                  const char *name);

// ---- changes to an interpreter that exists ------------------------------------------------------------------------
// The original's C++ classes can do this with an interpreter, and facades in other languages need it too. None of these
// functions may be called while the interpreter runs.

// Sets the number of CPU threads, as TfLiteInterpreterOptionsSetNumThreads does. Tensors lose their memory, and a
// delegate that relies on their shapes is applied again, so call TfLiteInterpreterAllocateTensors afterwards. The
// function calls Refresh of external contexts. It returns kTfLiteError for numbers below -1, after a message, and where
// a Refresh fails.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterSetNumThreads(TfLiteInterpreter *interpreter, int32_t num_threads);

// Gives back the memory of all tensors but variables until the next TfLiteInterpreterAllocateTensors; their values are
// lost. This is meant for interpreters that wait long for their next input.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterReleaseMemory(TfLiteInterpreter *interpreter);

// Does what TfLiteInterpreterModifyGraphWithDelegate does, for the subgraphs with these indices alone. Where the
// delegate fails with kTfLiteDelegateError, all subgraphs lose their delegates. Returns kTfLiteError, after a message,
// where there is no such subgraph; an empty list changes nothing.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterModifySubgraphsWithDelegate(TfLiteInterpreter *interpreter,
                                                                          TfLiteDelegate *delegate,
                                                                          const int *subgraphs, int32_t count);

// Removes all delegates, for good. The nodes are those of the model again and run on the CPU. Tensors must be allocated
// again. The delegates may be deleted afterwards.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterRemoveDelegates(TfLiteInterpreter *interpreter);

// Sets an object that kernels of one kind share, such as the Edge TPU's. The caller owns it and keeps it until the
// interpreter is deleted or another object replaces it; NULL removes it. Returns kTfLiteError for a type that does not
// exist.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterSetExternalContext(TfLiteInterpreter *interpreter,
                                                                 TfLiteExternalContextType type,
                                                                 TfLiteExternalContext *context);
// Returns NULL where none was set.
TFL_CAPI_EXPORT TfLiteExternalContext *HaliteInterpreterGetExternalContext(const TfLiteInterpreter *interpreter,
                                                                           TfLiteExternalContextType type);

// Says whether delegates and other people's kernels may compute float32 in half precision (allow_fp32_relax_to_fp16 of
// TfLiteContext). Call it before they are applied or prepared. Halite's own CPU kernels never do. The default is false.
TFL_CAPI_EXPORT void HaliteInterpreterSetAllowHalfPrecision(TfLiteInterpreter *interpreter, bool allow);
TFL_CAPI_EXPORT bool HaliteInterpreterGetAllowHalfPrecision(const TfLiteInterpreter *interpreter);

// Asks is_cancelled, with data, before each node runs; where it returns true, Invoke ends with kTfLiteCancelled. It is
// called by the thread that runs the model. NULL asks nobody. TfLiteInterpreterCancel goes on working beside it.
TFL_CAPI_EXPORT void HaliteInterpreterSetCancellation(TfLiteInterpreter *interpreter, bool (*is_cancelled)(void *data),
                                                      void *data);

// ---- runs that do not block ---------------------------------------------------------------------------------------
// A run has inputs and outputs of its own. HaliteInterpreterInvokeAsync puts it into the queue of its interpreter and
// returns; a thread that belongs to the interpreter, the worker, takes runs from there in the order in which they were
// submitted, and runs them one after the other. With two runs or more an application fills one, or reads one, while the
// other is computed. The results are those of TfLiteInterpreterInvoke, variables included. Inputs and outputs are
// copied between the run and the interpreter.
//
// Who may touch what: the tensors of a run are the application's while it is not in flight, and the library's from
// HaliteInterpreterInvokeAsync until the run has been answered. While any run of an interpreter is in flight, only the
// functions of this section and TfLiteInterpreterCancel may be called on that interpreter, from any thread; Invoke,
// AllocateTensors, ResizeInputTensor and HaliteRunCreate then return with a message. Delegates and custom operators are
// called by the worker, and so are error reporters.

typedef struct HaliteRun HaliteRun;

typedef enum HaliteRunState {
    kHaliteRunIdle = 0,      // never submitted
    kHaliteRunQueued = 1,    // in flight, and not begun
    kHaliteRunRunning = 2,   // in flight
    kHaliteRunDone = 3,      // the outputs are there
    kHaliteRunFailed = 4,    // after a message
    kHaliteRunCancelled = 5, // by HaliteRunCancel, TfLiteInterpreterCancel, or with its interpreter
    kHaliteRunLate = 6,      // its time was over before it was done
} HaliteRunState;

// Returns a run of the model's primary subgraph, with inputs and outputs of the present shapes, all zeros. Call it
// after TfLiteInterpreterAllocateTensors, and again when inputs were resized. Returns NULL after a message. Delete it
// with HaliteRunDelete, or with the interpreter: TfLiteInterpreterDelete cancels all runs in flight, waits until they
// are answered and deletes every run.
TFL_CAPI_EXPORT HaliteRun *HaliteRunCreate(TfLiteInterpreter *interpreter);

// Deletes a run. One in flight is cancelled, and answered before the function returns; where a callback of the same
// interpreter calls it, after that callback has returned. NULL is allowed.
TFL_CAPI_EXPORT void HaliteRunDelete(HaliteRun *run);

// Lend the tensors of a run, which live as long as it does; TfLiteTensorCopyFromBuffer, TfLiteTensorData and the other
// functions on tensors work on them. NULL out of range, and for one that the model leaves out. Outputs are those of the
// last submission that ended as kHaliteRunDone; shape, size and address of an output whose size is known only while
// running change with each.
TFL_CAPI_EXPORT TfLiteTensor *HaliteRunGetInputTensor(const HaliteRun *run, int32_t index);
TFL_CAPI_EXPORT const TfLiteTensor *HaliteRunGetOutputTensor(const HaliteRun *run, int32_t index);

// Submits a run. It is answered exactly once: the state of the run is set, its event becomes readable, and the worker
// calls done with data, the run, and what Invoke returned (kTfLiteCancelled also where it is late). done may be NULL.
// It may submit and delete runs, this one too; it must not wait for runs, nor delete the interpreter.
// timeout_nanoseconds counts from the submission, 0: no limit. A run that is late or cancelled stops before its next
// node; a node that runs is not interrupted, and a delegate's part of the graph is one node. Returns kTfLiteError
// after a message, and then calls nothing: the run is in flight or being deleted, it belongs to another interpreter,
// or the time limit is negative.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterInvokeAsync(TfLiteInterpreter *interpreter, HaliteRun *run,
                                                          int64_t timeout_nanoseconds,
                                                          void (*done)(void *data, HaliteRun *run, TfLiteStatus status),
                                                          void *data);

// Asks for the end of a run in flight, which is answered as kTfLiteCancelled, or as done where it was too late to stop.
// Returns kTfLiteError, without a message, where the run is not in flight.
TFL_CAPI_EXPORT TfLiteStatus HaliteRunCancel(HaliteRun *run);

// Blocks until the last submission of a run is answered and its callback has returned, and returns what Invoke
// returned. Returns kTfLiteError after a message where the run was never submitted, and in a callback.
TFL_CAPI_EXPORT TfLiteStatus HaliteRunWait(HaliteRun *run);

TFL_CAPI_EXPORT HaliteRunState HaliteRunGetState(const HaliteRun *run);

// Lends a file descriptor for poll, select and epoll, which is readable from the answer to the next submission. Do not
// read or close it: it lives as long as the run. Call HaliteRunWait when it is readable. Returns -1 where there is
// none, as on systems other than Linux.
TFL_CAPI_EXPORT int HaliteRunGetEvent(HaliteRun *run);

// Does what TfLiteInterpreterOptionsSetTelemetryProfiler does, with an interpreter that exists. The profiler is the
// caller's and stays until another one, or NULL, takes its place, or the interpreter is deleted.
struct TfLiteTelemetryProfilerStruct;
TFL_CAPI_EXPORT void HaliteInterpreterSetTelemetryProfiler(TfLiteInterpreter *interpreter,
                                                           struct TfLiteTelemetryProfilerStruct *profiler);

// ---- graphs that a program builds ---------------------------------------------------------------------------------
// A graph need not come from a file: create an interpreter without a model, add tensors, describe them, name inputs and
// outputs, add nodes in the order in which they shall run, then allocate and run it as any other. The same functions
// add to the graph of a model. All of them return kTfLiteError after a message, also where a delegate has taken a part
// of the subgraph, and tensors must be allocated again after each. Where a call names a tensor that does not exist, the
// subgraph cannot be allocated or run any more.

// Creates an interpreter whose only subgraph has no tensors and no nodes. Options may be NULL. Returns NULL after a
// message. Delete it with TfLiteInterpreterDelete.
TFL_CAPI_EXPORT TfLiteInterpreter *HaliteInterpreterCreateEmpty(const TfLiteInterpreterOptions *options);

// Adds count empty subgraphs, for nodes that run other subgraphs. *first, where it is not NULL, takes the index of the
// first of them.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterAddSubgraphs(TfLiteInterpreter *interpreter, int32_t count,
                                                           int32_t *first);

// Adds count tensors without type and shape. *first, where it is not NULL, takes the index of the first of them.
// Pointers to tensors of this subgraph are no longer valid.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterAddTensors(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                         int32_t count, int32_t *first);

// Says what a tensor is.
typedef struct HaliteTensorDescription {
    TfLiteType type;
    const char *name; // lent until the interpreter is deleted; NULL: none
    const int *dims;  // the shape, rank lengths of at least 0; copied
    int32_t rank;
    const int *signature;            // -1 where a length may change; copied; NULL: all lengths are as in dims
    int32_t signature_rank;          // 0 or rank
    TfLiteQuantization quantization; // params lie in memory of malloc, and so do their arrays; taken, also on failure
    TfLiteSparsity *sparsity;        // the same; NULL: dense
    bool is_variable;                // keeps its value from run to run; not of a constant
    const void *data;                // a constant's bytes, lent until the interpreter is deleted; NULL: no constant
    size_t bytes; // of data, as type and shape say; strings, sparse tensors and handles have what they take
} HaliteTensorDescription;
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterSetTensor(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                        int32_t tensor, const HaliteTensorDescription *description);

// Sets which tensors are the inputs, the outputs or the variables of a subgraph. Indices are copied; -1 stands for one
// that is left out. Variables are set to 0 by the next AllocateTensors.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterSetSubgraphInputs(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                                const int *tensors, int32_t count);
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterSetSubgraphOutputs(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                                 const int *tensors, int32_t count);
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterSetSubgraphVariables(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                                   const int *tensors, int32_t count);

// Says what a node is. Lists of tensors are copied; -1 stands for an optional one that is left out.
typedef struct HaliteNodeDescription {
    const TfLiteRegistration *registration; // copied; its custom_name is lent until the interpreter is deleted
    const int *inputs, *outputs, *intermediates;
    int32_t input_count, output_count, intermediate_count;
    void *builtin_data;    // a TfLite...Params of malloc; taken, also on failure; NULL: none
    const void *init_data; // given to init in place of builtin_data; of a custom operator lent until the interpreter is
                           // deleted; NULL: none
    size_t init_bytes;
} HaliteNodeDescription;
// Appends a node to a subgraph and to its execution plan, and calls its init. *index, where it is not NULL, takes its
// index.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterAddNode(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                      const HaliteNodeDescription *description, int32_t *index);

// Sets which nodes run and in which order; each must exist. Indices are copied.
TFL_CAPI_EXPORT TfLiteStatus HaliteInterpreterSetExecutionPlan(TfLiteInterpreter *interpreter, int32_t subgraph,
                                                               const int *nodes, int32_t count);

// ---- the operators of this library ----------------------------------------------------------------------------------

// Gives Halite's own kernel of an operator in a version: of a built-in one, or, with kTfLiteBuiltinCustom, of that
// name.
// Its functions work in nodes of any interpreter of this library, and only there. Returns kTfLiteError, without a
// message, where this build has no kernel for it.
TFL_CAPI_EXPORT TfLiteStatus HaliteFindOperator(TfLiteBuiltinOperator op, const char *custom_name, int32_t version,
                                                TfLiteRegistration *registration);
// Returns the schema's name of a built-in operator ("CONV_2D"), which lives for ever, or NULL where there is none.
TFL_CAPI_EXPORT const char *HaliteGetOperatorName(int32_t op);

// ---- what a model says of itself ------------------------------------------------------------------------------------

// These give the metadata entries of the file, each a name and bytes. Both are lent and live as long as the model.
// HaliteModelGetMetadata returns kTfLiteError where index is out of range or a pointer is NULL.
TFL_CAPI_EXPORT int32_t HaliteModelGetMetadataCount(const TfLiteModel *model);
TFL_CAPI_EXPORT TfLiteStatus HaliteModelGetMetadata(const TfLiteModel *model, int32_t index, const char **name,
                                                    const void **data, size_t *bytes);
// Lends the bytes of the file, which live as long as the model, and sets *bytes to how many there are.
TFL_CAPI_EXPORT const void *HaliteModelGetData(const TfLiteModel *model, size_t *bytes);
// Writes a fingerprint of the bytes of the file, 64 hexadecimal digits and a zero byte: two models with the same one
// are the same, unless somebody made them so. It is a good model_token for delegates that keep files, and depends on
// the byte order of the machine. 17 MB take about 3 ms. Returns kTfLiteError where a pointer is NULL or size is below
// HALITE_FINGERPRINT_BYTES.
#define HALITE_FINGERPRINT_BYTES 65
TFL_CAPI_EXPORT TfLiteStatus HaliteModelFingerprint(const TfLiteModel *model, char *text, size_t size);
// Lends the file's description, which lives as long as the model. It is "" where the file has none.
TFL_CAPI_EXPORT const char *HaliteModelGetDescription(const TfLiteModel *model);

#ifdef __cplusplus
}
#endif

#endif
