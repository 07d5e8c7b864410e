// SPDX-License-Identifier: Apache-2.0
// The GPU delegate: what src/delegates/common asks of it, for all C interfaces (entry.c) and one engine.
//   support.c   which nodes can run on the GPU, and which make constants that it reads where they are stored
//   claim.c     what a partition costs, the device that is opened for the first, and what is said about the rest
//   kernel.c    one for each claimed partition: builds the gpu graph, the plan and the list, and runs it
//   report.c    the device and the times of kernels, for users
#ifndef HALITE_GPU_DELEGATE_DELEGATE_H
#define HALITE_GPU_DELEGATE_DELEGATE_H

#include "delegates/common/delegate.h"
#include "gpu/delegate/engine.h"

struct gpu_delegate {
    struct delegate base; // first
    struct gpu_engine *engine;
    bool is_new_device; // opened by the prepare that runs; for claim.c
};

// Takes the options over, even if it fails. NULL without memory.
struct gpu_delegate *gpu_delegate_create(struct gpu_options *options);
void gpu_delegate_destroy(struct gpu_delegate *delegate); // accepts NULL
extern const struct delegate_kind gpu_delegate_kind;      // in entry.c
// The object of a TfLiteDelegate that this library has made, else NULL.
static inline struct gpu_delegate *gpu_delegate_of(const TfLiteDelegate *delegate)
{
    return (struct gpu_delegate *)delegate_of(delegate, &gpu_delegate_kind);
}

// ---- for the table in entry.c, see struct delegate_kind

bool gpu_makes_constant(const struct delegate_view *view, int *constant);
bool gpu_supported(const struct delegate_view *view);

const char *gpu_partition_cost(const struct delegate *delegate, TfLiteContext *context,
                               const struct delegate_piece *piece, int number);
bool gpu_claim_ready(struct delegate *delegate, TfLiteContext *context, int count);
void gpu_claim_done(struct delegate *delegate, TfLiteContext *context, TfLiteStatus status);

void *gpu_kernel_create(struct delegate *delegate, TfLiteContext *context, const TfLiteDelegateParams *params);
TfLiteStatus gpu_kernel_prepare(void *kernel, TfLiteContext *context, TfLiteNode *node);
TfLiteStatus gpu_kernel_invoke(void *kernel, TfLiteContext *context, TfLiteNode *node);
void gpu_kernel_destroy(void *kernel);
struct TfLiteAsyncKernel *gpu_kernel_async(void *kernel, TfLiteContext *context);

bool gpu_describe(struct delegate *delegate, HaliteDelegateReport *report);

#endif
