// SPDX-License-Identifier: Apache-2.0
// The Hexagon delegate object. What flows through the house, in the order of its files:
//   entry.c    the C interfaces: options become a delegate, the process is connected to the processor
//   system.c   the interface library, opened when a graph comes
//   support.c  one question for each node: may it go there? The rows are in ops.def, the reasons beside the mapping
//   graph.c    a partition as the processor's graph: constants, nodes, ranges; map_*.c say which, for each operator
//   kernel.c   the prepared graph and its runs
#ifndef HALITE_DELEGATES_HEXAGON_HEXAGON_H
#define HALITE_DELEGATES_HEXAGON_HEXAGON_H

#include "delegates/common/delegate.h"
#include "delegates/hexagon/options.h"
#include "delegates/hexagon/system.h"

struct hexagon_delegate {
    struct delegate base; // first
    struct hexagon_options options;
    struct hexagon system;
    bool connects; // calls global_init by itself: nobody calls TfLiteHexagonInit for a plug-in
    bool connected;
};

extern const struct delegate_kind hexagon_kind;

// support.c and kernel.c, for the kind.
bool hexagon_supported(const struct delegate_view *view);
void *hexagon_kernel_create(struct delegate *delegate, TfLiteContext *context, const TfLiteDelegateParams *params);
TfLiteStatus hexagon_kernel_prepare(void *kernel, TfLiteContext *context, TfLiteNode *node);
TfLiteStatus hexagon_kernel_invoke(void *kernel, TfLiteContext *context, TfLiteNode *node);
void hexagon_kernel_destroy(void *kernel);

#endif
