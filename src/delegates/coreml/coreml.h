// SPDX-License-Identifier: Apache-2.0
// The Core ML delegate object. What flows through the house, in the order of its files:
//   entry.c      the C interfaces: options become a delegate, where there is a runner
//   runner.c     what runs models: Core ML itself (run_apple.c), or a stand-in
//   support.c    one question for each node: may it go there? The rows are in ops.def, the reasons beside the mapping
//   model.c      a partition as a model specification (coreml_model.proto); map_*.c say which layers, for each operator
//   layout.c     channels last, as the runtime has them, and channels first, as Core ML has them
//   kernel.c     the compiled model, its arrays and its runs
// without_protobuf.c stands for all of it where the build has no protobuf-c.
#ifndef HALITE_DELEGATES_COREML_COREML_H
#define HALITE_DELEGATES_COREML_COREML_H

#include "delegates/common/delegate.h"
#include "delegates/coreml/runner.h"

#define COREML_NAME "TfLiteCoreMlDelegate"

struct coreml_delegate {
    struct delegate base; // first
    const struct coreml_runner *runner;
    int version; // of Core ML, for which models are written: 2 or 3
};

static inline const struct coreml_delegate *coreml_of(const struct delegate_view *view)
{
    return (const struct coreml_delegate *)view->delegate;
}

// support.c and kernel.c, for the kind.
bool coreml_supported(const struct delegate_view *view);
void *coreml_kernel_create(struct delegate *delegate, TfLiteContext *context, const TfLiteDelegateParams *params);
TfLiteStatus coreml_kernel_prepare(void *kernel, TfLiteContext *context, TfLiteNode *node);
TfLiteStatus coreml_kernel_invoke(void *kernel, TfLiteContext *context, TfLiteNode *node);
void coreml_kernel_destroy(void *kernel);

#endif
