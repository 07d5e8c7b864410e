// SPDX-License-Identifier: Apache-2.0
// What all delegates are: an object that owns a TfLiteDelegate of the C interface. An application that has a delegate
// of its own makes a subclass with another -cDelegate.
#ifndef TENSORFLOW_LITE_OBJC_APIS_TFLDELEGATE_H_
#define TENSORFLOW_LITE_OBJC_APIS_TFLDELEGATE_H_

#import <Foundation/Foundation.h>

// A TfLiteDelegate *, without the C headers.
typedef void *TFLCDelegate;

NS_ASSUME_NONNULL_BEGIN

@interface TFLDelegate : NSObject

// The delegate of the C interface, which this object owns. NULL in TFLDelegate itself: an interpreter passes it over.
// (No nullability here: Swift sees an implicitly unwrapped pointer, as with the original.)
@property(nonatomic, readonly) TFLCDelegate cDelegate;

@end

NS_ASSUME_NONNULL_END

#endif
