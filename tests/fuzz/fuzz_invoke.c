// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a model, through load, allocate, inputs, invoke twice, read outputs. Memory stays
// below the limit, and no work is endless. The last byte says with what inputs and which kernels.
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "halite/halite.h"
#include "tensorflow/lite/c/c_api.h"

// Zeros, small numbers (indices, sizes), the file's own bytes from its end, or all ones (NaN, -1).
static void fill(TfLiteTensor *input, const uint8_t *data, size_t size)
{
    size_t bytes = TfLiteTensorByteSize(input), step = 1;
    uint8_t *to = TfLiteTensorData(input);
    if (!to || TfLiteTensorType(input) == kTfLiteString) return;
    switch (TfLiteTensorType(input)) {
    case kTfLiteInt32: step = 4; break;
    case kTfLiteInt64: step = 8; break;
    default: break;
    }
    memset(to, data[size - 1] % 4 == 3 ? 0xff : 0, bytes);
    for (size_t i = 0; i < bytes && data[size - 1] % 4 == 1; i += step) to[i] = (uint8_t)(i / step % 5);
    for (size_t i = 0; i < bytes && data[size - 1] % 4 == 2; i++) to[i] = data[size - 1 - i % size];
    if (TfLiteTensorType(input) == kTfLiteBool) // other values are the application's mistake
        for (size_t i = 0; i < bytes; i++) to[i] &= 1;
}

static void run(TfLiteInterpreter *interpreter, const uint8_t *data, size_t size)
{
    if (TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) return;
    for (int times = 0; times < 2; times++) {
        for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); i++) {
            TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, i);
            if (input && input->allocation_type != kTfLiteMmapRo) fill(input, data, size);
        }
        if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return;
        for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); i++) {
            const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, i);
            size_t bytes = output ? TfLiteTensorByteSize(output) : 0;
            void *copy = malloc(bytes ? bytes : 1);
            if (copy && bytes && TfLiteTensorData(output)) TfLiteTensorCopyToBuffer(output, copy, bytes);
            free(copy);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TfLiteModel *model = TfLiteModelCreateWithErrorReporter(data, size, fuzz_ignore, NULL);
    if (!model) return 0;
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, fuzz_ignore, NULL);
    TfLiteInterpreterOptionsSetNumThreads(options, 1);
    HaliteInterpreterOptionsSetMemoryLimit(options, (size_t)8 << 20);
    HaliteInterpreterOptionsSetCallLimit(options, 1000);
    HaliteInterpreterOptionsSetWorkLimit(options, 20000000);
    HaliteInterpreterOptionsSetKernels(options, data[size - 1] & 4 ? kHaliteKernelsFast : kHaliteKernelsReference);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    if (interpreter) run(interpreter, data, size);
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    return 0;
}
