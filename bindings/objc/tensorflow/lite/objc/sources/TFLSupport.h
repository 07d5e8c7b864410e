// SPDX-License-Identifier: Apache-2.0
// What the classes share: reference counting that reads the same with ARC and without, errors, and the runtime's
// messages during a call.
#ifndef TENSORFLOW_LITE_OBJC_SOURCES_TFLSUPPORT_H_
#define TENSORFLOW_LITE_OBJC_SOURCES_TFLSUPPORT_H_

#import <Foundation/Foundation.h>

#include <stdarg.h>

#include "tensorflow/lite/c/c_api_types.h"

// TFL_SUPER_DEALLOC ends a -dealloc.
#if __has_feature(objc_arc)
#define TFL_RETAIN(object) (object)
#define TFL_RELEASE(object) ((void)(object))
#define TFL_AUTORELEASE(object) (object)
#define TFL_SUPER_DEALLOC ((void)0)
#else
#define TFL_RETAIN(object) [(object) retain]
#define TFL_RELEASE(object) [(object) release]
#define TFL_AUTORELEASE(object) [(object) autorelease]
#define TFL_SUPER_DEALLOC [super dealloc]
#endif

NS_ASSUME_NONNULL_BEGIN

FOUNDATION_EXPORT NSErrorDomain const TFLInterpreterErrorDomain;

// What the runtime and its delegates report during one call of the interface. A message of a call that fails becomes
// part of its NSError, one of a call that succeeds goes to the log.
struct TFLMessages {
    char text[2048]; // lines, cut where they no longer fit
    size_t length;
};

// An error reporter of the C interface; messages is the user data.
void TFLMessagesAdd(void *messages, const char *format, va_list arguments);
// Logs what is there and forgets it.
void TFLMessagesFlush(struct TFLMessages *messages);

// Stores an error with that description, followed by the messages (NULL: none), and returns NO.
BOOL TFLFail(NSError *_Nullable *_Nullable error, NSErrorDomain domain, NSUInteger code,
             struct TFLMessages *_Nullable messages, NSString *format, ...) NS_FORMAT_FUNCTION(5, 6);

// The sizes of a shape as the C interface takes them, in memory of malloc; NULL where the shape is empty or a size is
// not a positive int.
int *_Nullable TFLSizesOfShape(NSArray<NSNumber *> *shape);

// "[1, 224, 224, 3]"
NSString *TFLTextOfShape(NSArray<NSNumber *> *shape);

// The text, or "" for NULL and what is not UTF-8.
NSString *TFLStringOfText(const char *_Nullable text);

NS_ASSUME_NONNULL_END

#endif
