// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a model, through load, allocate, zero inputs, invoke, read outputs. Whatever they are, each
// call returns, memory stays below the limit, and loops end.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "halite/halite.h"
#include "tensorflow/lite/c/c_api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *user_data, const char *format, va_list arguments)
{
    (void)user_data;
    (void)format;
    (void)arguments;
}

static void run(TfLiteInterpreter *interpreter)
{
    if (TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) return;
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); i++) {
        TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, i);
        if (input && TfLiteTensorType(input) != kTfLiteString && TfLiteTensorData(input))
            memset(TfLiteTensorData(input), 0, TfLiteTensorByteSize(input));
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TfLiteModel *model = TfLiteModelCreateWithErrorReporter(data, size, ignore, NULL);
    if (!model) return 0;
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, ignore, NULL);
    HaliteInterpreterOptionsSetMemoryLimit(options, (size_t)64 << 20);
    HaliteInterpreterOptionsSetCallLimit(options, 1000);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    if (interpreter) run(interpreter);
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    return 0;
}
