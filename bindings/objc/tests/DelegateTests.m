// SPDX-License-Identifier: Apache-2.0
// The delegates: options and their defaults, graphs on the device that HALITE_DEVICE names, delegates that are not
// there, and those that fail.
#import "TestModels.h"

#import "tensorflow/lite/objc/apis/TFLCoreMLDelegate.h"
#import "tensorflow/lite/objc/apis/TFLMetalDelegate.h"

#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/c/common.h"

@interface DelegateTests : XCTestCase
@end

// An application's own: it fails when it is applied, and counts itself.
@interface FailingDelegate : TFLDelegate {
    TfLiteDelegate _delegate;
}
@end

static int failing_delegates;

static TfLiteStatus fail(TfLiteContext *context, TfLiteDelegate *delegate)
{
    (void)delegate;
    context->ReportError(context, "it is %d o'clock", 5);
    return kTfLiteError;
}

@implementation FailingDelegate

- (instancetype)init
{
    self = [super init];
    if (self) _delegate = (TfLiteDelegate){.Prepare = fail};
    failing_delegates++;
    return self;
}

- (void)dealloc
{
    failing_delegates--;
    [super dealloc];
}

- (TFLCDelegate)cDelegate
{
    return &_delegate;
}

@end

static TFLInterpreter *with_delegate(NSString *path, TFLDelegate *delegate, NSError **error)
{
    TFLInterpreterOptions *options = [[[TFLInterpreterOptions alloc] init] autorelease];
    return [[[TFLInterpreter alloc] initWithModelPath:path options:options delegates:@[ delegate ]
                                                error:error] autorelease];
}

@implementation DelegateTests

- (void)testDelegateThatIsNone
{
    NSError *error = nil;
    TFLDelegate *delegate = [[[TFLDelegate alloc] init] autorelease];
    XCTAssertTrue(delegate.cDelegate == NULL);
    TFLInterpreter *interpreter = with_delegate(digits_path(), delegate, &error);
    XCTAssertNotNil(interpreter, @"%@", error);
    XCTAssertTrue([interpreter allocateTensorsWithError:&error]);
}

- (void)testDelegateThatFails
{
    @autoreleasepool {
        NSError *error = nil;
        FailingDelegate *delegate = [[FailingDelegate alloc] init];
        XCTAssertNil(with_delegate(digits_path(), delegate, &error));
        XCTAssertEqual((NSUInteger)[error code], (NSUInteger)TFLInterpreterErrorCodeFailedToCreateInterpreter);
        XCTAssertTrue([[error localizedDescription] rangeOfString:@"it is 5 o'clock"].length > 0, @"%@", error);
        XCTAssertEqual(failing_delegates, 1);
        [delegate release];
    }
    XCTAssertEqual(failing_delegates, 0);
}

- (void)testMetalOptions
{
    TFLMetalDelegateOptions *options = [[[TFLMetalDelegateOptions alloc] init] autorelease];
    XCTAssertFalse(options.isPrecisionLossAllowed);
    XCTAssertEqual(options.waitType, TFLMetalDelegateThreadWaitTypePassive);
    XCTAssertTrue(options.isQuantizationEnabled);
    options.precisionLossAllowed = YES;
    options.quantizationEnabled = NO;
    for (NSUInteger type = 0; type < 4; type++) {
        options.waitType = type;
        TFLMetalDelegate *delegate = [[[TFLMetalDelegate alloc] initWithOptions:options] autorelease];
        XCTAssertTrue(delegate.cDelegate != NULL);
    }
    XCTAssertEqual((NSUInteger)TFLMetalDelegateThreadWaitTypeDoNotWait, 0u);
    XCTAssertEqual((NSUInteger)TFLMetalDelegateThreadWaitTypeAggressive, 3u);
}

// Skipped where HALITE_DEVICE names no device that is here.
- (void)testMetalRuns
{
    XCTSkipIf(!getenv("HALITE_DEVICE"), @"HALITE_DEVICE names no device");
    NSError *error = nil;
    TFLMetalDelegate *delegate = [[[TFLMetalDelegate alloc] init] autorelease];
    TFLInterpreter *interpreter = with_delegate(test_model(@"multi_add"), delegate, &error);
    XCTSkipIf(!interpreter && [[error localizedDescription] rangeOfString:@"HALITE_DEVICE="].length > 0, @"%@",
              [error localizedDescription]);
    XCTAssertTrue([interpreter allocateTensorsWithError:&error], @"%@", error);
    for (NSUInteger i = 0; i < 4; i++) {
        TFLTensor *input = [interpreter inputTensorAtIndex:i error:&error];
        NSUInteger count = [[input dataWithError:&error] length] / sizeof(float);
        NSMutableData *data = [NSMutableData dataWithLength:count * sizeof(float)];
        for (NSUInteger k = 0; k < count; k++) ((float *)[data mutableBytes])[k] = (float)(k % 11 * (i + 1));
        XCTAssertTrue([input copyData:data error:&error]);
    }
    XCTAssertTrue([interpreter invokeWithError:&error], @"%@", error);
    for (NSUInteger i = 0; i < 2; i++) { // a + b + c, and b + c + d
        NSData *data = [[interpreter outputTensorAtIndex:i error:&error] dataWithError:&error];
        XCTAssertGreaterThan([data length], 11 * sizeof(float));
        for (NSUInteger k = 0; k < [data length] / sizeof(float); k++)
            XCTAssertEqualWithAccuracy(float_at(data, k), (float)(k % 11 * (i ? 9 : 6)), 1e-5f);
    }
    XCTAssertNil(error);
}

// A device that cannot be there: the interpreter is not made, and the error says what was asked for.
- (void)testMetalWithoutDevice
{
    const char *device = getenv("HALITE_DEVICE");
    XCTSkipIf(!device || strcmp(device, "vulkan:77") != 0, @"HALITE_DEVICE is not vulkan:77");
    NSError *error = nil;
    TFLMetalDelegate *delegate = [[[TFLMetalDelegate alloc] init] autorelease];
    XCTAssertNotNil(delegate);
    XCTAssertNil(with_delegate(test_model(@"multi_add"), delegate, &error));
    XCTAssertEqual((NSUInteger)[error code], (NSUInteger)TFLInterpreterErrorCodeFailedToCreateInterpreter);
    XCTAssertTrue([[error localizedDescription] rangeOfString:@"vulkan:77"].length > 0, @"%@", error);
}

- (void)testCoreML
{
    TFLCoreMLDelegateOptions *options = [[[TFLCoreMLDelegateOptions alloc] init] autorelease];
    XCTAssertEqual(options.enabledDevices, TFLCoreMLDelegateEnabledDevicesNeuralEngine);
    XCTAssertEqual(options.coreMLVersion, 0u);
    XCTAssertEqual(options.maxDelegatedPartitions, 0u);
    XCTAssertEqual(options.minNodesPerPartition, 2u);
    XCTAssertNil([[TFLCoreMLDelegate alloc] init]);
    XCTAssertNil([[TFLCoreMLDelegate alloc] initWithOptions:options]);
    options.enabledDevices = TFLCoreMLDelegateEnabledDevicesAll;
    options.coreMLVersion = 3;
    options.maxDelegatedPartitions = NSUIntegerMax;
    XCTAssertNil([[TFLCoreMLDelegate alloc] initWithOptions:options]);
}

@end
