// SPDX-License-Identifier: Apache-2.0
//
// Element types and per-tensor quantization: what a compiler of models shares with the runtime. It has this path
// because builds of bindings copy the public headers one by one, by name.
// All values are part of the binary interface of TensorFlow Lite and never change.
#ifndef TENSORFLOW_COMPILER_MLIR_LITE_CORE_C_TFLITE_TYPES_H_
#define TENSORFLOW_COMPILER_MLIR_LITE_CORE_C_TFLITE_TYPES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Element type of a tensor. The numbers differ from those of TensorType in the model file.
typedef enum {
    kTfLiteNoType = 0,
    kTfLiteFloat32 = 1,
    kTfLiteInt32 = 2,
    kTfLiteUInt8 = 3,
    kTfLiteInt64 = 4,
    // Packed: int32 count, count + 1 int32 offsets from the start of the buffer, then the bytes.
    kTfLiteString = 5,
    // One byte per element, 0 or 1.
    kTfLiteBool = 6,
    kTfLiteInt16 = 7,
    kTfLiteComplex64 = 8,
    kTfLiteInt8 = 9,
    kTfLiteFloat16 = 10,
    kTfLiteFloat64 = 11,
    kTfLiteComplex128 = 12,
    kTfLiteUInt64 = 13,
    // An int32 handle of a variable or hash table held by the interpreter.
    kTfLiteResource = 14,
    // A pointer to an object that an op owns.
    kTfLiteVariant = 15,
    kTfLiteUInt32 = 16,
    kTfLiteUInt16 = 17,
    // Two elements per byte, the first in the low half.
    kTfLiteInt4 = 18,
    kTfLiteBFloat16 = 19,
    // Four elements per byte, the first in the lowest bits.
    kTfLiteInt2 = 20,
    // As kTfLiteInt4, without sign.
    kTfLiteUInt4 = 21,
    // One byte: 4 exponent bits, 3 mantissa bits, no infinities.
    kTfLiteFloat8E4M3FN = 22,
    // One byte: 5 exponent bits, 2 mantissa bits.
    kTfLiteFloat8E5M2 = 23
} TfLiteType;

// One scale and zero point for a whole tensor: real = scale * (quantized - zero_point).
// Kept for old callers; TfLiteTensor.quantization also says per-channel parameters.
typedef struct TfLiteQuantizationParams {
    // Step between two neighbouring quantized values; 0 means "not quantized this way".
    float scale;
    // Quantized value that stands for real 0.
    int32_t zero_point;
} TfLiteQuantizationParams;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_COMPILER_MLIR_LITE_CORE_C_TFLITE_TYPES_H_
