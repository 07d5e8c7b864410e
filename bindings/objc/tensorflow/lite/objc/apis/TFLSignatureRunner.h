// SPDX-License-Identifier: Apache-2.0
// Runs one signature of a model, whose inputs and outputs have names. Made by -[TFLInterpreter signatureRunnerWithKey:
// error:], which it keeps; to be used by one thread at a time.
#ifndef TENSORFLOW_LITE_OBJC_APIS_TFLSIGNATURERUNNER_H_
#define TENSORFLOW_LITE_OBJC_APIS_TFLSIGNATURERUNNER_H_

#import <Foundation/Foundation.h>

@class TFLInterpreter;
@class TFLTensor;

NS_ASSUME_NONNULL_BEGIN

// "org.tensorflow.lite.SignatureRunner"
FOUNDATION_EXPORT NSErrorDomain const TFLSignatureRunnerErrorDomain;

// Codes of errors in that domain; the localized description has the names and numbers at fault.
typedef NS_ENUM(NSUInteger, TFLSignatureRunnerErrorCode) {
    TFLSignatureRunnerErrorCodeInvalidInputByteSize,             // data has another size than the tensor
    TFLSignatureRunnerErrorCodeInvalidShape,                     // a shape is empty, or a size not positive
    TFLSignatureRunnerErrorCodeFailedToCreateSignatureRunner,    // the model has no signature of that key
    TFLSignatureRunnerErrorCodeFailedToInvoke,                   // an operator failed
    TFLSignatureRunnerErrorCodeFailedToGetTensor,                // the signature has no tensor of that name
    TFLSignatureRunnerErrorCodeInvalidTensor,                    // a tensor has no shape
    TFLSignatureRunnerErrorCodeFailedToResizeInputTensor,        // no input of that name, or the shape is refused
    TFLSignatureRunnerErrorCodeFailedToCopyDataToInputTensor,    // the input has no memory
    TFLSignatureRunnerErrorCodeCopyDataToOutputTensorNotAllowed, // data goes into inputs alone
    TFLSignatureRunnerErrorCodeFailedToGetDataFromTensor,        // the tensor has no memory
    TFLSignatureRunnerErrorCodeFailedToAllocateTensors,          // shapes do not fit, or memory is short
};

@interface TFLSignatureRunner : NSObject {
  @private
    TFLInterpreter *_interpreter;
    struct TfLiteSignatureRunner *_runner;
    NSString *_signatureKey;
    NSArray<NSString *> *_inputs;
    NSArray<NSString *> *_outputs;
}

@property(nonatomic, readonly) NSString *signatureKey;

// Names of inputs and outputs, in the signature's order.
@property(nonatomic, readonly) NSArray<NSString *> *inputs;
@property(nonatomic, readonly) NSArray<NSString *> *outputs;

// Interpreters make runners.
- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)new NS_UNAVAILABLE;

// nil with the code FailedToGetTensor where the signature has no such name.
- (nullable TFLTensor *)inputTensorWithName:(NSString *)name error:(NSError **)error;
- (nullable TFLTensor *)outputTensorWithName:(NSString *)name error:(NSError **)error;

// Gives an input another shape, of positive sizes. A runner that is new has memory for the model's own shapes, where
// they fit; after a resize it is allocated by the next invocation, or before by allocateTensorsWithError:.
- (BOOL)resizeInputTensorWithName:(NSString *)name toShape:(NSArray<NSNumber *> *)shape error:(NSError **)error;

// Needed only to copy data into resized tensors by hand.
- (BOOL)allocateTensorsWithError:(NSError **)error;

// Allocates where inputs were resized, copies the data of each name into its input, and runs the signature. Inputs that
// are not named keep what they have. (The capital E is the original's.)
- (BOOL)invokeWithInputs:(NSDictionary<NSString *, NSData *> *)inputs Error:(NSError **)error;

@end

NS_ASSUME_NONNULL_END

#endif
