// SPDX-License-Identifier: Apache-2.0
// What all delegates of this tree share, the GPU's (src/gpu) and those for other accelerators: the delegate object, the
// choice of nodes, and the node that replaces a partition. In: a delegate_kind, a const table of what one delegate does
// differently, and the runtime's public interface. Out: partitions of claimed nodes, each run by a kernel of that
// delegate, and a report of why every other node stays on the CPU.
//   prepare (partition.c)   asks about every node, previews partitions, claims the largest
//   kernel  (kernel.c)      one for each claimed partition; calls the functions of the kind
//   report  (report.c)      keeps what prepare found; report_api.c shows it to users
#ifndef HALITE_DELEGATES_COMMON_DELEGATE_H
#define HALITE_DELEGATES_COMMON_DELEGATE_H

#include "base/mutex.h"
#include "delegates/common/report.h"
#include "tensorflow/lite/c/common.h"

struct delegate;

// A node of the runtime, as `supported` sees it.
struct delegate_view {
    const struct delegate *delegate;
    const TfLiteContext *context;
    const TfLiteNode *node;
    const TfLiteRegistration *registration;
    struct delegate_reason *reason;
};

// NULL: there is no such operand, or it is left out.
static inline const TfLiteTensor *delegate_input(const struct delegate_view *view, int index)
{
    const TfLiteIntArray *list = view->node->inputs;
    return index < list->size && list->data[index] >= 0 ? &view->context->tensors[list->data[index]] : NULL;
}
static inline const TfLiteTensor *delegate_output(const struct delegate_view *view, int index)
{
    const TfLiteIntArray *list = view->node->outputs;
    return index < list->size && list->data[index] >= 0 ? &view->context->tensors[list->data[index]] : NULL;
}

// Writes down why the node cannot run. input: the one at fault; -1: none in particular; DELEGATE_OUTPUT(n): an output.
// Returns false, so that a check can end with it.
#define DELEGATE_OUTPUT(number) (-2 - (number))
bool delegate_refuse(const struct delegate_view *view, enum delegate_reason_code code, int input, const char *format,
                     ...) HL_PRINTF(4, 5);

enum delegate_state {
    DELEGATE_READY,
    DELEGATE_ABSENT, // nothing that it could use is here: the graph stays on the CPU, and that is no error
    DELEGATE_FAILED, // after a message: applying it fails, and the graph stays on the CPU
    DELEGATE_WRONG,  // the same, because the options name what is not here: the application should know
};

// One partition that prepare would like to claim.
struct delegate_piece {
    const int *nodes;
    int count;
    const TfLiteIntArray *inputs, *outputs; // tensors
};

// A function that is NULL does nothing; what that means stands beside it.
struct delegate_kind {
    const char *name; // begins its messages, and is the API of its device in reports: "TfLiteNnapiDelegate"
    // Reasons in reports that have no text of their own get those of halite/gpu_delegate.h, which speak of the GPU.
    bool is_gpu;

    // ---- prepare, in the order of the calls; all of it with the mutex held

    // Opens the system's library and finds devices. ABSENT: writes why, in one line, into `why` of `size` bytes. NULL:
    // READY.
    enum delegate_state (*open)(struct delegate *delegate, TfLiteContext *context, char *why, size_t size);
    // Whether the node's output is a constant that its readers can do without: the node is claimed with its readers or
    // not at all. *constant: the tensor that they read in its place, or -1. NULL: delegate_widens_constant.
    bool (*makes_constant)(const struct delegate_view *view, int *constant);
    // Asked about all other nodes. Says no with delegate_refuse.
    bool (*supported)(const struct delegate_view *view);
    // Asks the device about the nodes of a partition, and sets refused[i] for those that it cannot run. False after a
    // message. NULL: the device takes what `supported` does.
    bool (*confirm)(struct delegate *delegate, TfLiteContext *context, const struct delegate_piece *piece,
                    bool *refused);
    // Why a partition, the number-th by size, costs more than it saves: a text for the report, or NULL if it does not.
    const char *(*cost)(const struct delegate *delegate, TfLiteContext *context, const struct delegate_piece *piece,
                        int number);
    // The last word before `count` nodes are claimed, perhaps none. False after a message: none is.
    bool (*ready)(struct delegate *delegate, TfLiteContext *context, int count);
    // What is left to say when nodes were claimed, or failed to be.
    void (*done)(struct delegate *delegate, TfLiteContext *context, TfLiteStatus status);

    // ---- the kernel of a partition

    // NULL after a message.
    void *(*create)(struct delegate *delegate, TfLiteContext *context, const TfLiteDelegateParams *params);
    TfLiteStatus (*prepare)(void *kernel, TfLiteContext *context, TfLiteNode *node);
    TfLiteStatus (*invoke)(void *kernel, TfLiteContext *context, TfLiteNode *node);
    void (*destroy)(void *kernel);
    // What the runtime asks for where an application wants runs that do not block. Lent until `destroy`. NULL: there is
    // none.
    struct TfLiteAsyncKernel *(*async_kernel)(void *kernel, TfLiteContext *context);

    // ---- the report

    // Fills in the device, the precision and the kernels. False without memory. NULL: the device is delegate->device,
    // and nothing is known about the others.
    bool (*describe)(struct delegate *delegate, HaliteDelegateReport *report);
};

struct delegate {
    TfLiteDelegate tflite;     // data_ points back to this struct
    struct delegate_sign sign; // directly after it: see report.h
    const struct delegate_kind *kind;
    const char *node_name; // of the operator that replaces partitions, static text; the kind's name at first
    int max_partitions;    // 0 or less: any number
    int min_nodes;         // of a partition
    struct hl_mutex mutex; // guards all members below: one graph is prepared at a time
    struct delegate_report report;
    char device[128]; // what runs the nodes, for the report; "" while nothing does
    // Only while prepare runs. The runtime calls the init of kernels from within it.
    bool kernel_failed;
    const int *source; // for each tensor: the constant that stands in for it, or -1
    size_t source_count;
};

// Fills in the struct, which is the first member of a delegate's own. False without memory.
bool delegate_init(struct delegate *delegate, const struct delegate_kind *kind);
void delegate_end(struct delegate *delegate);
// The object of a TfLiteDelegate of this kind, else NULL.
struct delegate *delegate_of(const TfLiteDelegate *tflite, const struct delegate_kind *kind);

// Gives a reason to all nodes of the latest graph that were to run on the device, because the graph stays as it is.
void delegate_withdraw(struct delegate *delegate, enum delegate_reason_code code, const char *text);

// Whether the node only turns a float16 constant into floats.
bool delegate_widens_constant(const TfLiteContext *context, const TfLiteNode *node,
                              const TfLiteRegistration *registration);

// An array from malloc; NULL without memory. It serves in place of TfLiteIntArrayCreate, which some hosts do not
// export.
TfLiteIntArray *delegate_int_array(int size);

// For kernel.c and partition.c: the delegate's Prepare, and the operator that replaces a partition.
TfLiteStatus delegate_prepare(TfLiteContext *context, TfLiteDelegate *tflite);
TfLiteRegistration delegate_registration(const struct delegate *delegate);

#endif
