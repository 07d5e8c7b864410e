// SPDX-License-Identifier: Apache-2.0
// How interpreters make signature runners.
#ifndef TENSORFLOW_LITE_OBJC_SOURCES_TFLSIGNATURERUNNER_INTERNAL_H_
#define TENSORFLOW_LITE_OBJC_SOURCES_TFLSIGNATURERUNNER_INTERNAL_H_

#import "../apis/TFLSignatureRunner.h"

NS_ASSUME_NONNULL_BEGIN

@interface TFLSignatureRunner (Internal)

// Keeps the interpreter. nil with an error where it has no signature of that key.
- (nullable instancetype)initWithInterpreter:(TFLInterpreter *)interpreter
                                signatureKey:(NSString *)key
                                       error:(NSError **)error;

@end

NS_ASSUME_NONNULL_END

#endif
