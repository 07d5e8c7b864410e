// SPDX-License-Identifier: Apache-2.0
// How tensors make their quantization parameters.
#ifndef TENSORFLOW_LITE_OBJC_SOURCES_TFLQUANTIZATIONPARAMETERS_INTERNAL_H_
#define TENSORFLOW_LITE_OBJC_SOURCES_TFLQUANTIZATIONPARAMETERS_INTERNAL_H_

#import "../apis/TFLQuantizationParameters.h"

NS_ASSUME_NONNULL_BEGIN

@interface TFLQuantizationParameters (Internal)

- (instancetype)initWithScale:(float)scale zeroPoint:(int32_t)zeroPoint;

@end

NS_ASSUME_NONNULL_END

#endif
