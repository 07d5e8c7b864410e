// SPDX-License-Identifier: Apache-2.0
// How interpreters and signature runners make tensors, and what tensors ask of them.
#ifndef TENSORFLOW_LITE_OBJC_SOURCES_TFLTENSOR_INTERNAL_H_
#define TENSORFLOW_LITE_OBJC_SOURCES_TFLTENSOR_INTERNAL_H_

#import "../apis/TFLSignatureRunner.h"
#import "../apis/TFLTensor.h"
#import "TFLSupport.h"

#include "tensorflow/lite/c/common.h"

NS_ASSUME_NONNULL_BEGIN

// Who a tensor belongs to.
@protocol TFLTensorProvider <NSObject>

// The tensor of the C interface, looked up anew for each call, since delegates may move tensors; NULL where it is gone.
// By index, or by name where that is not nil.
- (nullable TfLiteTensor *)cTensorOfInput:(BOOL)isInput
                                    index:(NSUInteger)index
                          nameInSignature:(nullable NSString *)name;

// Where errors of its tensors belong: the domain, and the code that stands for the signature runner's.
@property(nonatomic, readonly) NSErrorDomain errorDomain;
- (NSUInteger)codeOf:(TFLSignatureRunnerErrorCode)code;

// What the runtime has said since it was last asked.
@property(nonatomic, readonly) struct TFLMessages *messages;

@end

@interface TFLTensor (Internal)

// The provider is kept. Without a name in a signature the index counts.
- (instancetype)initWithProvider:(id<TFLTensorProvider>)provider
                         isInput:(BOOL)isInput
                           index:(NSUInteger)index
                 nameInSignature:(nullable NSString *)nameInSignature
                         cTensor:(const TfLiteTensor *)cTensor;

// Of any input, as copyData:error: of a tensor.
+ (BOOL)copyData:(NSData *)data
            toInput:(NSUInteger)index
    nameInSignature:(nullable NSString *)nameInSignature
           provider:(id<TFLTensorProvider>)provider
              error:(NSError **)error;

@end

NS_ASSUME_NONNULL_END

#endif
