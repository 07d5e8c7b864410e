// SPDX-License-Identifier: Apache-2.0
// See TFLQuantizationParameters.h.
#import "TFLQuantizationParameters+Internal.h"

@implementation TFLQuantizationParameters

@synthesize scale = _scale;
@synthesize zeroPoint = _zeroPoint;

- (instancetype)init
{
    return [self initWithScale:0 zeroPoint:0];
}

- (instancetype)initWithScale:(float)scale zeroPoint:(int32_t)zeroPoint
{
    self = [super init];
    if (self) {
        _scale = scale;
        _zeroPoint = zeroPoint;
    }
    return self;
}

@end
