// SPDX-License-Identifier: Apache-2.0
// The GPU delegate under the name that it has on Apple systems. Halite computes through Vulkan, OpenCL or OpenGL ES, on
// the fastest GPU or the device that the environment variable HALITE_DEVICE names, and says so once in the log.
#ifndef TENSORFLOW_LITE_OBJC_APIS_TFLMETALDELEGATE_H_
#define TENSORFLOW_LITE_OBJC_APIS_TFLMETALDELEGATE_H_

#import <Foundation/Foundation.h>

#import "TFLDelegate.h"

NS_ASSUME_NONNULL_BEGIN

// How an invocation waits for the GPU. Without Metal every one is as Passive. The numbers are not those of the C
// interface's TFLGpuDelegateWaitType.
typedef NS_ENUM(NSUInteger, TFLMetalDelegateThreadWaitType) {
    TFLMetalDelegateThreadWaitTypeDoNotWait,  // return at once; outputs are for later work on the GPU
    TFLMetalDelegateThreadWaitTypePassive,    // sleep until the results are there
    TFLMetalDelegateThreadWaitTypeActive,     // spin: less delay, a CPU core busy
    TFLMetalDelegateThreadWaitTypeAggressive, // as Active, and keep the GPU's clock up between invocations
};

@interface TFLMetalDelegateOptions : NSObject {
  @private
    BOOL _precisionLossAllowed;
    TFLMetalDelegateThreadWaitType _waitType;
    BOOL _quantizationEnabled;
}

// Half precision where the device has it. NO by default.
@property(nonatomic, getter=isPrecisionLossAllowed) BOOL precisionLossAllowed;

// TFLMetalDelegateThreadWaitTypePassive by default.
@property(nonatomic) TFLMetalDelegateThreadWaitType waitType;

// Take 8-bit quantized operators too. YES by default.
@property(nonatomic, getter=isQuantizationEnabled) BOOL quantizationEnabled;

@end

@interface TFLMetalDelegate : TFLDelegate {
  @private
    TFLCDelegate _delegate;
}

// With default options.
- (nullable instancetype)init;

// Options are copied. nil where memory is short or Halite was built without its GPU delegate. No device is opened here:
// a machine without a GPU shows when an interpreter is made, whose error says what was looked for.
- (nullable instancetype)initWithOptions:(TFLMetalDelegateOptions *)options NS_DESIGNATED_INITIALIZER;

@end

NS_ASSUME_NONNULL_END

#endif
