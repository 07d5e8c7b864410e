// SPDX-License-Identifier: Apache-2.0
// What the tests share: models, and bytes as data and back. A test whose model is not here is skipped.
#ifndef HALITE_OBJC_TESTS_TESTMODELS_H
#define HALITE_OBJC_TESTS_TESTMODELS_H

#import <XCTest/XCTest.h>

#import "tensorflow/lite/objc/apis/TFLTensorFlowLite.h"

// demo/digits.tflite: input "image" [1, 8, 8, 1] float32, output "probabilities" [1, 10], signature "serving_default".
NSString *digits_path(void);
// One of the documents' own test models: add (input "input", x + x + x), add_quantized, multi_add (a, b, c, d to
// a + (b + c) and (b + c) + d), multi_signatures ("add": x + 2, "sub": x - 3) ...
NSString *test_model(NSString *name);

// An interpreter without delegates that is there, with memory.
TFLInterpreter *interpreter_of(NSString *path);

NSData *floats(NSUInteger count, const float *values);
// NAN where there is no such element.
float float_at(NSData *data, NSUInteger index);

// A handwritten seven as the digits' model takes it: 64 floats from -1 to 1.
NSData *a_seven(void);
// What the digits' model finds most likely in output 0.
NSUInteger best_digit(TFLInterpreter *interpreter);

#endif
