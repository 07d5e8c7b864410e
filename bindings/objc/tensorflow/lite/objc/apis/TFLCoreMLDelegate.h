// SPDX-License-Identifier: Apache-2.0
// The Core ML delegate, under the names of the original. Where the system has no Core ML, or no device that the options
// enable, there is no delegate: nil, as in Swift.
#ifndef TENSORFLOW_LITE_OBJC_APIS_TFLCOREMLDELEGATE_H_
#define TENSORFLOW_LITE_OBJC_APIS_TFLCOREMLDELEGATE_H_

#import <Foundation/Foundation.h>

#import "TFLDelegate.h"

NS_ASSUME_NONNULL_BEGIN

// Where there is to be a delegate.
typedef NS_ENUM(NSUInteger, TFLCoreMLDelegateEnabledDevices) {
    TFLCoreMLDelegateEnabledDevicesNeuralEngine, // on devices with a Neural Engine
    TFLCoreMLDelegateEnabledDevicesAll,          // on every device
};

@interface TFLCoreMLDelegateOptions : NSObject {
  @private
    TFLCoreMLDelegateEnabledDevices _enabledDevices;
    NSUInteger _coreMLVersion;
    NSUInteger _maxDelegatedPartitions;
    NSUInteger _minNodesPerPartition;
}

// TFLCoreMLDelegateEnabledDevicesNeuralEngine by default.
@property(nonatomic) TFLCoreMLDelegateEnabledDevices enabledDevices;

// Version of Core ML to write models for: 2 or 3; 0, the default: the newest that the system has.
@property(nonatomic) NSUInteger coreMLVersion;

// Most connected parts of the graph to take; 0, the default: as many as there are.
@property(nonatomic) NSUInteger maxDelegatedPartitions;

// Parts with fewer nodes stay on the CPU. 2 by default.
@property(nonatomic) NSUInteger minNodesPerPartition;

@end

@interface TFLCoreMLDelegate : TFLDelegate {
  @private
    TFLCDelegate _delegate;
}

// With default options.
- (nullable instancetype)init;

// Options are copied. nil, with the reason on standard error, where the system has no Core ML or no device that the
// options enable.
- (nullable instancetype)initWithOptions:(TFLCoreMLDelegateOptions *)options NS_DESIGNATED_INITIALIZER;

@end

NS_ASSUME_NONNULL_END

#endif
