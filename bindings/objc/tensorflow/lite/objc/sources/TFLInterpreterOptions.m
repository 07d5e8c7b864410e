// SPDX-License-Identifier: Apache-2.0
// See TFLInterpreterOptions.h.
#import "../apis/TFLInterpreterOptions.h"

@implementation TFLInterpreterOptions

@synthesize numberOfThreads = _numberOfThreads;
@synthesize useXNNPACK = _useXNNPACK;

- (instancetype)init
{
    return [super init]; // zero is the default of all fields
}

@end
