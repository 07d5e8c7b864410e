// SPDX-License-Identifier: Apache-2.0
// See TFLDelegate.h.
#import "../apis/TFLDelegate.h"

@implementation TFLDelegate

- (TFLCDelegate)cDelegate
{
    return NULL;
}

@end
