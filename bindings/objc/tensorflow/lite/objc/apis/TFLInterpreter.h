// SPDX-License-Identifier: Apache-2.0
// Runs a model: made of a file, options and delegates; resize inputs, allocate, copy data into inputs, invoke, read
// outputs. An interpreter may be used by one thread at a time; several interpreters run side by side.
#ifndef TENSORFLOW_LITE_OBJC_APIS_TFLINTERPRETER_H_
#define TENSORFLOW_LITE_OBJC_APIS_TFLINTERPRETER_H_

#import <Foundation/Foundation.h>

@class TFLDelegate;
@class TFLInterpreterOptions;
@class TFLSignatureRunner;
@class TFLTensor;

NS_ASSUME_NONNULL_BEGIN

// Codes of errors in the domain "org.tensorflow.lite.interpreter". The localized description says what failed, with the
// numbers and names at fault, and what the runtime had to say about it.
typedef NS_ENUM(NSUInteger, TFLInterpreterErrorCode) {
    TFLInterpreterErrorCodeInvalidTensorIndex,            // the model has no input or output of that index
    TFLInterpreterErrorCodeInvalidInputByteSize,          // data has another size than the tensor
    TFLInterpreterErrorCodeInvalidShape,                  // a shape is empty, or a size not positive or above 2^31 - 1
    TFLInterpreterErrorCodeFailedToLoadModel,             // no such file, or it is not a model
    TFLInterpreterErrorCodeFailedToCreateInterpreter,     // an operator is missing, or a delegate failed
    TFLInterpreterErrorCodeFailedToInvoke,                // tensors are not allocated, or an operator failed
    TFLInterpreterErrorCodeFailedToGetTensor,             // there is no such tensor
    TFLInterpreterErrorCodeInvalidTensor,                 // a tensor has no shape
    TFLInterpreterErrorCodeFailedToResizeInputTensor,     // the runtime refuses the shape
    TFLInterpreterErrorCodeFailedToCopyDataToInputTensor, // the input has no memory
    TFLInterpreterErrorCodeCopyDataToOutputTensorNotAllowed, // data goes into inputs alone
    TFLInterpreterErrorCodeFailedToGetDataFromTensor,        // the tensor has no memory
    TFLInterpreterErrorCodeFailedToAllocateTensors,          // shapes do not fit the operators, or memory is short
    TFLInterpreterErrorCodeAllocateTensorsRequired,          // part of the interface; never raised
    TFLInterpreterErrorCodeInvokeInterpreterRequired,        // part of the interface; never raised
};

@interface TFLInterpreter : NSObject {
  @private
    struct TFLMessages *_messages;
    struct TfLiteModel *_model;
    struct TfLiteInterpreter *_interpreter;
    struct TfLiteDelegate *_xnnpack;
    NSArray<TFLDelegate *> *_delegates;
    NSArray<NSString *> *_signatureKeys;
}

@property(nonatomic, readonly) NSUInteger inputTensorCount;
@property(nonatomic, readonly) NSUInteger outputTensorCount;

// Keys of the model's signatures, in the model's order; empty where it has none.
@property(nonatomic, readonly) NSArray<NSString *> *signatureKeys;

// A model is needed.
- (instancetype)init NS_UNAVAILABLE;

// With default options and no delegate.
- (nullable instancetype)initWithModelPath:(NSString *)modelPath error:(NSError **)error;

// Without a delegate.
- (nullable instancetype)initWithModelPath:(NSString *)modelPath
                                   options:(TFLInterpreterOptions *)options
                                     error:(NSError **)error;

// Loads the model from the file at modelPath and applies delegates in order; they are kept as long as the interpreter
// lives. The file must not change meanwhile. Memory of tensors is not allocated yet. nil with an error where the model
// cannot be loaded, it needs an operator that is missing, or a delegate fails.
- (nullable instancetype)initWithModelPath:(NSString *)modelPath
                                   options:(TFLInterpreterOptions *)options
                                 delegates:(NSArray<TFLDelegate *> *)delegates
                                     error:(NSError **)error NS_DESIGNATED_INITIALIZER;

// Computes the outputs from the inputs. Memory must be allocated, again after inputs were resized.
- (BOOL)invokeWithError:(NSError **)error;

// Input or output number index, from 0 on; nil with the code InvalidTensorIndex where there is none. Valid before and
// after inputs are resized.
- (nullable TFLTensor *)inputTensorAtIndex:(NSUInteger)index error:(NSError **)error;
- (nullable TFLTensor *)outputTensorAtIndex:(NSUInteger)index error:(NSError **)error;

// Gives an input another shape, of positive sizes, outermost dimension first. Tensors have no memory then until
// allocateTensorsWithError: is called.
- (BOOL)resizeInputTensorAtIndex:(NSUInteger)index toShape:(NSArray<NSNumber *> *)shape error:(NSError **)error;

// Gives all tensors their memory: once before the first invocation, and again after inputs were resized.
- (BOOL)allocateTensorsWithError:(NSError **)error;

// A runner of the signature with that key; nil with the code
// TFLSignatureRunnerErrorCodeFailedToCreateSignatureRunner where there is none. It keeps the interpreter.
- (nullable TFLSignatureRunner *)signatureRunnerWithKey:(NSString *)key error:(NSError **)error;

@end

NS_ASSUME_NONNULL_END

#endif
