// SPDX-License-Identifier: Apache-2.0
// See ssd.h.
#include "detect/ssd.h"

#include <math.h>
#include <string.h>

#include "model_file.h"

bool hl_ssd_find(const TfLiteInterpreter *interpreter, int outputs[HL_SSD_OUTPUTS])
{
    int boxes = -1, number = -1, lists[2] = {-1, -1}, list_count = 0;
    if (TfLiteInterpreterGetOutputTensorCount(interpreter) != HL_SSD_OUTPUTS) return false;
    for (int i = 0; i < HL_SSD_OUTPUTS; i++) {
        const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, i);
        if (hl_model_has_shape(output, 3, (const int[]){1, -1, 4}))
            boxes = i;
        else if (hl_model_has_shape(output, 1, (const int[]){1}))
            number = i;
        else if (hl_model_has_shape(output, 2, (const int[]){1, -1}) && list_count < 2)
            lists[list_count++] = i;
    }
    if (boxes < 0 || number < 0 || list_count != 2) return false;
    int rows = TfLiteTensorDim(TfLiteInterpreterGetOutputTensor(interpreter, boxes), 1);
    for (int i = 0; i < 2; i++)
        if (TfLiteTensorDim(TfLiteInterpreterGetOutputTensor(interpreter, lists[i]), 1) != rows) return false;
    memcpy(outputs, (const int[]){boxes, lists[0], lists[1], number}, HL_SSD_OUTPUTS * sizeof *outputs);
    return true;
}

static bool are_whole(const TfLiteTensor *tensor, int count)
{
    for (int i = 0; i < count; i++)
        if (hl_model_real(tensor, i) != floorf(hl_model_real(tensor, i))) return false;
    return true;
}

bool hl_ssd_are_swapped(const TfLiteTensor *classes, const TfLiteTensor *scores, int count)
{
    return !are_whole(classes, count) && are_whole(scores, count);
}
