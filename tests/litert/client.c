// SPDX-License-Identifier: Apache-2.0
// A program of somebody else, who knows include/litert alone. It does what the bindings of LiteRT for Rust and Swift
// do: names from the signature, buffers from the requirements, locked to be written and read. client MODEL: the digit
// that the model sees in a picture of a 2.
#include <stdio.h>
#include <string.h>

#include "litert/c/litert_compiled_model.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_model.h"
#include "litert/c/litert_options.h"
#include "litert/c/litert_tensor_buffer.h"
#include "litert/c/litert_tensor_buffer_requirements.h"

#define TRY(call)                                                    \
    do {                                                             \
        LiteRtStatus status_ = (call);                               \
        if (status_ != kLiteRtStatusOk) {                            \
            fprintf(stderr, "%s: status %d\n", #call, (int)status_); \
            return 1;                                                \
        }                                                            \
    } while (0)

int main(int argc, char **argv)
{
    static const char picture[] = "..####.."
                                  ".#....#."
                                  "......#."
                                  ".....#.."
                                  "....#..."
                                  "...#...."
                                  "..#....."
                                  ".######.";
    LiteRtEnvironment environment;
    LiteRtModel model;
    LiteRtOptions options;
    LiteRtCompiledModel compiled;
    if (argc != 2) return 2;
    TRY(LiteRtCreateEnvironment(0, NULL, &environment));
    TRY(LiteRtCreateModelFromFile(environment, argv[1], &model));
    TRY(LiteRtCreateOptions(&options));
    TRY(LiteRtSetOptionsHardwareAccelerators(options, kLiteRtHwAcceleratorGpu | kLiteRtHwAcceleratorCpu));
    TRY(LiteRtCreateCompiledModel(environment, model, options, &compiled));
    LiteRtDestroyOptions(options);

    LiteRtSignature signature;
    LiteRtTensor tensors[2];
    LiteRtTensorBufferRequirements requirements[2];
    LiteRtTensorBuffer buffers[2];
    TRY(LiteRtGetModelSignature(model, 0, &signature));
    TRY(LiteRtGetSignatureInputTensorByIndex(signature, 0, &tensors[0]));
    TRY(LiteRtGetSignatureOutputTensorByIndex(signature, 0, &tensors[1]));
    TRY(LiteRtGetCompiledModelInputBufferRequirements(compiled, 0, 0, &requirements[0]));
    TRY(LiteRtGetCompiledModelOutputBufferRequirements(compiled, 0, 0, &requirements[1]));
    for (int i = 0; i < 2; i++) {
        LiteRtRankedTensorType type;
        LiteRtTensorBufferType kind;
        size_t bytes;
        TRY(LiteRtGetRankedTensorType(tensors[i], &type));
        if (i == 0) // the model leaves the batch open; the compiled model has one picture
            TRY(LiteRtGetCompiledModelInputTensorLayout(compiled, 0, 0, &type.layout));
        else
            TRY(LiteRtGetCompiledModelOutputTensorLayouts(compiled, 0, 1, &type.layout, true));
        TRY(LiteRtGetTensorBufferRequirementsSupportedTensorBufferType(requirements[i], 0, &kind));
        TRY(LiteRtGetTensorBufferRequirementsBufferSize(requirements[i], &bytes));
        TRY(LiteRtCreateManagedTensorBuffer(environment, kind, &type, bytes, &buffers[i]));
    }
    void *memory;
    TRY(LiteRtLockTensorBuffer(buffers[0], &memory, kLiteRtTensorBufferLockModeWrite));
    for (int i = 0; i < 64; i++) ((float *)memory)[i] = picture[i] == '#' ? 1.0f : -1.0f;
    TRY(LiteRtUnlockTensorBuffer(buffers[0]));
    TRY(LiteRtRunCompiledModel(compiled, 0, 1, &buffers[0], 1, &buffers[1]));
    TRY(LiteRtLockTensorBuffer(buffers[1], &memory, kLiteRtTensorBufferLockModeRead));
    int best = 0;
    for (int i = 1; i < 10; i++)
        if (((float *)memory)[i] > ((float *)memory)[best]) best = i;
    TRY(LiteRtUnlockTensorBuffer(buffers[1]));
    printf("%d\n", best);
    for (int i = 0; i < 2; i++) LiteRtDestroyTensorBuffer(buffers[i]);
    LiteRtDestroyCompiledModel(compiled);
    LiteRtDestroyModel(model);
    LiteRtDestroyEnvironment(environment);
    return 0;
}
