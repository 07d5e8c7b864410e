// SPDX-License-Identifier: Apache-2.0
// How an interpreter is to run: read once, when an interpreter is made of them.
#ifndef TENSORFLOW_LITE_OBJC_APIS_TFLINTERPRETEROPTIONS_H_
#define TENSORFLOW_LITE_OBJC_APIS_TFLINTERPRETEROPTIONS_H_

#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

@interface TFLInterpreterOptions : NSObject {
  @private
    NSUInteger _numberOfThreads;
    BOOL _useXNNPACK;
}

// CPU threads that an invocation may use. 0, the default: the library decides.
@property(nonatomic) NSUInteger numberOfThreads;

// Adds the XNNPACK delegate after all others. NO by default. Halite's own CPU kernels are its fast path: here the
// delegate leaves every node to them.
@property(nonatomic) BOOL useXNNPACK;

// numberOfThreads 0, useXNNPACK NO.
- (instancetype)init NS_DESIGNATED_INITIALIZER;

@end

NS_ASSUME_NONNULL_END

#endif
