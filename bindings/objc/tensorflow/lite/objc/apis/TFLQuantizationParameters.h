// SPDX-License-Identifier: Apache-2.0
// What the integers of a quantized tensor mean: real value = scale * (integer - zeroPoint).
#ifndef TENSORFLOW_LITE_OBJC_APIS_TFLQUANTIZATIONPARAMETERS_H_
#define TENSORFLOW_LITE_OBJC_APIS_TFLQUANTIZATIONPARAMETERS_H_

#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

@interface TFLQuantizationParameters : NSObject {
  @private
    float _scale;
    int32_t _zeroPoint;
}

// The real difference between two neighboring integers; of the whole tensor (a tensor that is quantized per channel has
// no such object).
@property(nonatomic, readonly) float scale;

// The integer that means 0.
@property(nonatomic, readonly) int32_t zeroPoint;

// Tensors make these objects.
- (instancetype)init NS_UNAVAILABLE;

@end

NS_ASSUME_NONNULL_END

#endif
