// SPDX-License-Identifier: Apache-2.0
// The four outputs of SSD's post-processing, in whatever order an export has them: boxes [1,n,4] as top, left, bottom,
// right; classes [1,n]; scores [1,n]; their number [1].
#ifndef HALITE_TOOLS_SSD_H
#define HALITE_TOOLS_SSD_H

#include "tensorflow/lite/c/c_api.h"

enum { HL_SSD_BOXES, HL_SSD_CLASSES, HL_SSD_SCORES, HL_SSD_COUNT, HL_SSD_OUTPUTS };

// By their shapes, which do not tell classes from scores: the first is taken for the classes, as in the original's
// operator. False where they are no such outputs.
bool hl_ssd_find(const TfLiteInterpreter *interpreter, int outputs[HL_SSD_OUTPUTS]);
// After a run, by `count` values: scores have fractions, classes do not.
bool hl_ssd_are_swapped(const TfLiteTensor *classes, const TfLiteTensor *scores, int count);

#endif
