// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph can run on the GPU. In: the runtime's context and the options. Out: a row of the report for
// each node, and for each tensor the constant of which it is a dequantized copy.
#ifndef HALITE_GPU_DELEGATE_SUPPORT_H
#define HALITE_GPU_DELEGATE_SUPPORT_H

#include "gpu/delegate/report.h"

// An array from malloc; NULL without memory. It serves in place of TfLiteIntArrayCreate, which some hosts do not
// export.
TfLiteIntArray *gpu_int_array(int size);

// rows: one for each node of the plan, zeroed. source: one int for each tensor of the context; becomes -1 or the index
// of a tensor. False after a message.
bool gpu_support_find(TfLiteContext *context, const TfLiteIntArray *plan, bool quantized, struct gpu_report_row *rows,
                      int *source);

// The message "Following operations are not supported …", malloc'ed. NULL without memory, or if all nodes run on the
// GPU.
char *gpu_support_text(const struct gpu_report_row *rows, int count);

#endif
