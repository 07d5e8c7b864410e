// SPDX-License-Identifier: Apache-2.0
// What a signature runner asks of its interpreter.
#ifndef TENSORFLOW_LITE_OBJC_SOURCES_TFLINTERPRETER_INTERNAL_H_
#define TENSORFLOW_LITE_OBJC_SOURCES_TFLINTERPRETER_INTERNAL_H_

#import "../apis/TFLInterpreter.h"
#import "TFLTensor+Internal.h"

#include "tensorflow/lite/c/c_api.h"

NS_ASSUME_NONNULL_BEGIN

@interface TFLInterpreter () <TFLTensorProvider>

@property(nonatomic, readonly) TfLiteInterpreter *cInterpreter;

@end

NS_ASSUME_NONNULL_END

#endif
