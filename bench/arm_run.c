// SPDX-License-Identifier: Apache-2.0
// arm_run MODEL RUNS: so many inferences of random inputs, for arm_instructions.py. Out: a sum over all outputs' bytes,
// which is the same wherever they are.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tensorflow/lite/c/c_api.h"

// Floats lie in [-1, 1).
static void fill(TfLiteTensor *tensor, uint32_t *state)
{
    const size_t bytes = TfLiteTensorByteSize(tensor);
    void *data = TfLiteTensorData(tensor);
    const int floats = TfLiteTensorType(tensor) == kTfLiteFloat32;
    for (size_t i = 0; i < bytes / (floats ? sizeof(float) : 1); i++) {
        *state = *state * 1664525 + 1013904223;
        if (floats)
            ((float *)data)[i] = (float)(*state >> 8) / 0x1p23f - 1;
        else
            ((uint8_t *)data)[i] = (uint8_t)(*state >> 24);
    }
}

int main(int argc, char **argv)
{
    TfLiteModel *model = argc == 3 ? TfLiteModelCreateFromFile(argv[1]) : NULL;
    TfLiteInterpreter *interpreter = model ? TfLiteInterpreterCreate(model, NULL) : NULL;
    uint32_t state = 1;
    uint64_t sum = 0;
    if (!interpreter || TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) return 1;
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); i++)
        fill(TfLiteInterpreterGetInputTensor(interpreter, i), &state);
    for (int run = 0; run < atoi(argv[2]); run++)
        if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return 1;
    for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); i++) {
        const TfLiteTensor *tensor = TfLiteInterpreterGetOutputTensor(interpreter, i);
        const uint8_t *bytes = TfLiteTensorData(tensor);
        for (size_t k = 0; k < TfLiteTensorByteSize(tensor); k++) sum = sum * 31 + bytes[k];
    }
    printf("%016llx\n", (unsigned long long)sum);
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return 0;
}
