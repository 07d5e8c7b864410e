// SPDX-License-Identifier: Apache-2.0
// The NNAPI delegate object. What flows through the house, in the order of its files:
//   entry.c    the C interfaces: options become a delegate
//   system.c   the system's library, opened when a graph comes
//   devices.c  the devices that may be used, and the feature level that they all have
//   support.c  one question for each node: may it go there? The rows are in ops.def, the reasons beside the mapping
//   model.c    a partition as NNAPI's model: operands, constants, operations; map_*.c say which, for each operator
//   kernel.c   the compiled model, its memory and its runs
#ifndef HALITE_DELEGATES_NNAPI_NNAPI_H
#define HALITE_DELEGATES_NNAPI_NNAPI_H

#include "base/hash.h"
#include "delegates/common/delegate.h"
#include "delegates/nnapi/options.h"
#include "delegates/nnapi/system.h"

enum { NNAPI_MAX_DEVICES = 16 };

struct nnapi_delegate {
    struct delegate base; // first
    struct nnapi_options options;
    struct nnapi system;
    const ANeuralNetworksDevice *devices[NNAPI_MAX_DEVICES];
    int device_count; // 0: NNAPI chooses by itself
    struct hl_digest device_names;
    bool asks_devices; // they say which operations they support
    int64_t level;     // of the system's library, or a lower one where no device has that
    int last_result;   // of the last call that failed
};

extern const struct delegate_kind nnapi_kind;

static inline const struct nnapi_delegate *nnapi_of(const struct delegate_view *view)
{
    return (const struct nnapi_delegate *)view->delegate;
}

// Whether a call succeeded. If not, it is remembered and reported: what the code is called and what was being done.
bool nnapi_succeeded(struct nnapi_delegate *delegate, TfLiteContext *context, int result, int line, const char *doing);
#define NNAPI_TRY(delegate, context, call, doing) nnapi_succeeded(delegate, context, call, __LINE__, doing)

enum delegate_state nnapi_find_devices(struct nnapi_delegate *delegate, TfLiteContext *context, char *why, size_t size);

// support.c and kernel.c, for the kind.
bool nnapi_supported(const struct delegate_view *view);
bool nnapi_confirm(struct delegate *delegate, TfLiteContext *context, const struct delegate_piece *piece,
                   bool *refused);
void *nnapi_kernel_create(struct delegate *delegate, TfLiteContext *context, const TfLiteDelegateParams *params);
TfLiteStatus nnapi_kernel_prepare(void *kernel, TfLiteContext *context, TfLiteNode *node);
TfLiteStatus nnapi_kernel_invoke(void *kernel, TfLiteContext *context, TfLiteNode *node);
void nnapi_kernel_destroy(void *kernel);

#endif
