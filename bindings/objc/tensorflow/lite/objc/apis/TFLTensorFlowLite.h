// SPDX-License-Identifier: Apache-2.0
// All of the interface but the delegates for Metal and Core ML, whose headers an application imports by their names.
// (The module TFLTensorFlowLite has them all.)
#ifndef TENSORFLOW_LITE_OBJC_APIS_TFLTENSORFLOWLITE_H_
#define TENSORFLOW_LITE_OBJC_APIS_TFLTENSORFLOWLITE_H_

#import <Foundation/Foundation.h>

#import "TFLDelegate.h"
#import "TFLInterpreter.h"
#import "TFLInterpreterOptions.h"
#import "TFLQuantizationParameters.h"
#import "TFLSignatureRunner.h"
#import "TFLTensor.h"

NS_ASSUME_NONNULL_BEGIN

// The TensorFlow Lite version whose interface and operators this is: "2.19.0". Halite's own is HaliteVersion() in C.
FOUNDATION_EXPORT NSString *const TFLVersion;

NS_ASSUME_NONNULL_END

#endif
