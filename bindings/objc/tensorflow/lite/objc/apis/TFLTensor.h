// SPDX-License-Identifier: Apache-2.0
// An input or output of a model: its name, type, shape and bytes. A tensor belongs to the TFLInterpreter or
// TFLSignatureRunner that gave it, which lives as long as any of its tensors is in use.
#ifndef TENSORFLOW_LITE_OBJC_APIS_TFLTENSOR_H_
#define TENSORFLOW_LITE_OBJC_APIS_TFLTENSOR_H_

#import <Foundation/Foundation.h>

@class TFLQuantizationParameters;
@protocol TFLTensorProvider;

NS_ASSUME_NONNULL_BEGIN

// What an element is. The numbers are those of this enumeration alone, not the C interface's.
typedef NS_ENUM(NSUInteger, TFLTensorDataType) {
    // A type that has no name here: strings, complex numbers, 4-bit integers. Shape and bytes are there all the same.
    TFLTensorDataTypeNoType,
    TFLTensorDataTypeFloat32,
    TFLTensorDataTypeFloat16,
    TFLTensorDataTypeInt32,
    TFLTensorDataTypeUInt8,
    TFLTensorDataTypeInt64,
    TFLTensorDataTypeBool, // one byte, 0 or 1
    TFLTensorDataTypeInt16,
    TFLTensorDataTypeInt8,
    TFLTensorDataTypeFloat64,
    TFLTensorDataTypeBFloat16, // the upper half of a Float32
};

@interface TFLTensor : NSObject {
  @private
    id<TFLTensorProvider> _provider;
    BOOL _isInput;
    NSUInteger _index;
    NSString *_nameInSignature;
    NSString *_name;
    TFLTensorDataType _dataType;
    TFLQuantizationParameters *_quantizationParameters;
}

// As the model says; "" where it has none.
@property(nonatomic, readonly, copy) NSString *name;

@property(nonatomic, readonly) TFLTensorDataType dataType;

// nil where the tensor is not quantized, or with a scale for each channel.
@property(nonatomic, readonly, nullable) TFLQuantizationParameters *quantizationParameters;

// Interpreters and signature runners make tensors.
- (instancetype)init NS_UNAVAILABLE;

// Copies data, elements in row-major order and native byte order, into an input: exactly as many bytes as it has. (Of
// strings, in TensorFlow Lite's packed form, as many as there are.) Errors: CopyDataToOutputTensorNotAllowed,
// InvalidInputByteSize, FailedToCopyDataToInputTensor where memory has not been allocated or is short.
- (BOOL)copyData:(NSData *)data error:(NSError **)error;

// A copy of the bytes; of an output, what the latest invocation has computed. Error: FailedToGetDataFromTensor where
// memory has not been allocated, or an output's size is only known after an invocation.
- (nullable NSData *)dataWithError:(NSError **)error;

// Sizes of the dimensions, outermost first; of a scalar an empty array.
- (nullable NSArray<NSNumber *> *)shapeWithError:(NSError **)error;

@end

NS_ASSUME_NONNULL_END

#endif
