// SPDX-License-Identifier: Apache-2.0
// As much of XCTest as classes of tests need, for systems that lack it: test cases whose methods test... a runner finds
// and runs, and assertions. XCTest.m has main, which runs every case, or those named on the command line ("Class" or
// "Class/testMethod"); the status is 0, 1 where a test failed, or 77 where all were skipped.
#ifndef HALITE_OBJC_TESTS_XCTEST_H
#define HALITE_OBJC_TESTS_XCTEST_H

#import <Foundation/Foundation.h>

@interface XCTestCase : NSObject {
  @private
    NSMutableDictionary *_values;
}

+ (void)setUp;
+ (void)tearDown;
- (void)setUp;
- (void)tearDown;

@end

// Notes a failure of the test that runs. why: text of the assertion, and what it found.
void XCTRecordFailure(const char *file, int line, NSString *why, NSString *format, ...);
// Ends the test that runs, which counts as skipped.
void XCTRecordSkip(NSString *format, ...);
// The value of a variable as text.
NSString *XCTDescribe(const void *value, const char *encoding);

#define XCT_FAIL(why, ...) XCTRecordFailure(__FILE__, __LINE__, why, @"" __VA_ARGS__)
#define XCT_CHECK(holds, text, ...)                 \
    do {                                            \
        if (!(holds)) XCT_FAIL(@text, __VA_ARGS__); \
    } while (0)
// Two values of any types that C compares; each is evaluated once.
#define XCT_COMPARE(a, b, holds, text, ...)                                                                            \
    do {                                                                                                               \
        __typeof__(a) xct_a = (a);                                                                                     \
        __typeof__(b) xct_b = (b);                                                                                     \
        if (!(holds))                                                                                                  \
            XCT_FAIL(([NSString stringWithFormat:@"%s: %@, %@", text, XCTDescribe(&xct_a, @encode(__typeof__(xct_a))), \
                                                 XCTDescribe(&xct_b, @encode(__typeof__(xct_b)))]),                    \
                     __VA_ARGS__);                                                                                     \
    } while (0)

#define XCTFail(...) XCT_FAIL(@"XCTFail", __VA_ARGS__)
#define XCTAssert(expression, ...) XCT_CHECK((expression), #expression, __VA_ARGS__)
#define XCTAssertTrue(expression, ...) XCT_CHECK((expression), #expression " is true", __VA_ARGS__)
#define XCTAssertFalse(expression, ...) XCT_CHECK(!(expression), #expression " is false", __VA_ARGS__)
#define XCTAssertNil(expression, ...) \
    XCT_COMPARE((id)(expression), (id)nil, xct_a == xct_b, #expression " is nil", __VA_ARGS__)
#define XCTAssertNotNil(expression, ...) XCT_CHECK((expression) != nil, #expression " is not nil", __VA_ARGS__)
#define XCTAssertEqual(a, b, ...) XCT_COMPARE(a, b, xct_a == xct_b, #a " == " #b, __VA_ARGS__)
#define XCTAssertNotEqual(a, b, ...) XCT_COMPARE(a, b, xct_a != xct_b, #a " != " #b, __VA_ARGS__)
#define XCTAssertLessThan(a, b, ...) XCT_COMPARE(a, b, xct_a < xct_b, #a " < " #b, __VA_ARGS__)
#define XCTAssertGreaterThan(a, b, ...) XCT_COMPARE(a, b, xct_a > xct_b, #a " > " #b, __VA_ARGS__)
#define XCTAssertEqualObjects(a, b, ...) \
    XCT_COMPARE((id)(a), (id)(b), xct_a == xct_b || [xct_a isEqual:xct_b], #a " equals " #b, __VA_ARGS__)
#define XCTAssertEqualWithAccuracy(a, b, accuracy, ...)                                                             \
    XCT_COMPARE(a, b, xct_a == xct_b || (xct_a < xct_b ? xct_b - xct_a : xct_a - xct_b) <= (accuracy), #a " ~ " #b, \
                __VA_ARGS__)
#define XCTAssertThrows(expression, ...)                          \
    do {                                                          \
        BOOL xct_threw = NO;                                      \
        @try {                                                    \
            (void)(expression);                                   \
        } @catch (id exception) {                                 \
            xct_threw = YES;                                      \
        }                                                         \
        XCT_CHECK(xct_threw, #expression " throws", __VA_ARGS__); \
    } while (0)
#define XCTSkip(...) XCTRecordSkip(@"" __VA_ARGS__)
#define XCTSkipIf(expression, ...)                      \
    do {                                                \
        if (expression) XCTRecordSkip(@"" __VA_ARGS__); \
    } while (0)

#endif
