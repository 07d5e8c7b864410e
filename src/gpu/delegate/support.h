// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph the GPU can take. In: the runtime's context and the options. Out: a row of the report per
// node, and for each tensor the constant that it is a dequantized copy of.
#ifndef HALITE_GPU_DELEGATE_SUPPORT_H
#define HALITE_GPU_DELEGATE_SUPPORT_H

#include "gpu/delegate/report.h"

// An array of integers that free releases; NULL without memory. The runtime's own functions for these arrays are not
// there in every host.
TfLiteIntArray *gpu_int_array(int size);

// rows: one per node of the plan, zeroed. source: one int per tensor of the context, filled with -1 or a tensor index.
// False after a message.
bool gpu_support_find(TfLiteContext *context, const TfLiteIntArray *plan, bool quantized, struct gpu_report_row *rows,
                      int *source);

// "Following operations are not supported …" as section for people; malloc'ed, NULL without memory or when all run on
// the GPU.
char *gpu_support_text(const struct gpu_report_row *rows, int count);

#endif
