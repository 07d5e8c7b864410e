// SPDX-License-Identifier: Apache-2.0
// TFLInterpreter, its options and tensors: every member, every error with its code and what its text names.
#import "TestModels.h"

@interface InterpreterTests : XCTestCase
@end

// A call has failed as it should: with that code, and a description that has all the parts (nil ends them).
static void check_error(NSError *error, NSUInteger code, NSString *part, ...)
{
    XCTAssertEqualObjects([error domain], @"org.tensorflow.lite.interpreter");
    XCTAssertEqual((NSUInteger)[error code], code);
    va_list parts;
    va_start(parts, part);
    for (; part; part = va_arg(parts, NSString *))
        XCTAssertTrue([[error localizedDescription] rangeOfString:part].length > 0, @"'%@' in '%@'", part,
                      [error localizedDescription]);
    va_end(parts);
}

@implementation InterpreterTests

- (void)testRuns
{
    TFLInterpreter *interpreter = interpreter_of(digits_path());
    XCTAssertEqual(interpreter.inputTensorCount, 1u);
    XCTAssertEqual(interpreter.outputTensorCount, 1u);
    XCTAssertEqualObjects(interpreter.signatureKeys, @[ @"serving_default" ]);
    NSError *error = nil;
    TFLTensor *input = [interpreter inputTensorAtIndex:0 error:&error];
    XCTAssertEqualObjects(input.name, @"image");
    XCTAssertEqual(input.dataType, TFLTensorDataTypeFloat32);
    XCTAssertNil(input.quantizationParameters);
    XCTAssertEqualObjects([input shapeWithError:&error], (@[ @1, @8, @8, @1 ]));
    XCTAssertTrue([input copyData:a_seven() error:&error]);
    XCTAssertEqualObjects([input dataWithError:&error], a_seven());
    XCTAssertTrue([interpreter invokeWithError:&error]);
    TFLTensor *output = [interpreter outputTensorAtIndex:0 error:&error];
    XCTAssertEqualObjects(output.name, @"probabilities");
    XCTAssertEqualObjects([output shapeWithError:&error], (@[ @1, @10 ]));
    XCTAssertEqual(best_digit(interpreter), 7u);
    XCTAssertNil(error);
}

- (void)testResizes
{
    TFLInterpreter *interpreter = interpreter_of(test_model(@"add"));
    NSError *error = nil;
    XCTAssertTrue(([interpreter resizeInputTensorAtIndex:0 toShape:@[ @2, @3 ] error:&error]));
    XCTAssertTrue([interpreter allocateTensorsWithError:&error]);
    TFLTensor *input = [interpreter inputTensorAtIndex:0 error:&error];
    XCTAssertEqualObjects([input shapeWithError:&error], (@[ @2, @3 ]));
    XCTAssertTrue(([input copyData:floats(6, (const float[]){1, 2, 3, 4, 5, 6}) error:&error]));
    XCTAssertTrue([interpreter invokeWithError:&error]);
    NSData *data = [[interpreter outputTensorAtIndex:0 error:&error] dataWithError:&error];
    for (NSUInteger i = 0; i < 6; i++) XCTAssertEqual(float_at(data, i), 3 * (float)(i + 1));
    XCTAssertNil(error);
}

// What was asked of a tensor before still holds after its interpreter has given it other memory.
- (void)testTensorsOutliveResizes
{
    TFLInterpreter *interpreter = interpreter_of(test_model(@"add"));
    TFLTensor *input = [interpreter inputTensorAtIndex:0 error:NULL];
    TFLTensor *output = [interpreter outputTensorAtIndex:0 error:NULL];
    for (NSUInteger count = 1; count < 70; count += 17) {
        XCTAssertTrue([interpreter resizeInputTensorAtIndex:0 toShape:@[ @(count) ] error:NULL]);
        XCTAssertTrue([interpreter allocateTensorsWithError:NULL]);
        NSMutableData *data = [NSMutableData dataWithLength:count * sizeof(float)];
        ((float *)[data mutableBytes])[count - 1] = 5;
        XCTAssertTrue([input copyData:data error:NULL]);
        XCTAssertTrue([interpreter invokeWithError:NULL]);
        XCTAssertEqual(float_at([output dataWithError:NULL], count - 1), 15.0f);
    }
}

- (void)testQuantized
{
    TFLInterpreter *interpreter = interpreter_of(test_model(@"add_quantized"));
    NSError *error = nil;
    TFLTensor *input = [interpreter inputTensorAtIndex:0 error:&error];
    XCTAssertEqual(input.dataType, TFLTensorDataTypeUInt8);
    XCTAssertEqualWithAccuracy(input.quantizationParameters.scale, 1 / 255.0f, 1e-5f);
    XCTAssertEqual(input.quantizationParameters.zeroPoint, 0);
    XCTAssertTrue([interpreter resizeInputTensorAtIndex:0 toShape:@[ @2 ] error:&error]);
    XCTAssertTrue([interpreter allocateTensorsWithError:&error]);
    XCTAssertTrue(([input copyData:[NSData dataWithBytes:(const uint8_t[]){4, 50} length:2] error:&error]));
    XCTAssertTrue([interpreter invokeWithError:&error]);
    NSData *data = [[interpreter outputTensorAtIndex:0 error:&error] dataWithError:&error];
    XCTAssertEqualObjects(data, ([NSData dataWithBytes:(const uint8_t[]){12, 150} length:2]));
}

- (void)testOptions
{
    TFLInterpreterOptions *options = [[[TFLInterpreterOptions alloc] init] autorelease];
    XCTAssertEqual(options.numberOfThreads, 0u);
    XCTAssertFalse(options.useXNNPACK);
    options.numberOfThreads = 2;
    options.useXNNPACK = YES;
    XCTAssertEqual(options.numberOfThreads, 2u);
    XCTAssertTrue(options.useXNNPACK);
    NSError *error = nil;
    TFLInterpreter *interpreter = [[[TFLInterpreter alloc] initWithModelPath:digits_path() options:options
                                                                       error:&error] autorelease];
    XCTAssertTrue([interpreter allocateTensorsWithError:&error], @"%@", error);
    XCTAssertTrue([[interpreter inputTensorAtIndex:0 error:NULL] copyData:a_seven() error:NULL]);
    XCTAssertTrue([interpreter invokeWithError:&error]);
    XCTAssertEqual(best_digit(interpreter), 7u);
}

- (void)testVersion
{
    NSArray<NSString *> *parts = [TFLVersion componentsSeparatedByString:@"."];
    XCTAssertEqual([parts count], 3u);
    XCTAssertEqual([[parts objectAtIndex:0] intValue], 2);
}

- (void)testWithoutModel
{
    NSError *error = nil;
    XCTAssertNil([[TFLInterpreter alloc] initWithModelPath:@"no/such.tflite" error:&error]);
    check_error(error, TFLInterpreterErrorCodeFailedToLoadModel, @"'no/such.tflite'", @"No such file", nil);
    XCTAssertNil([[TFLInterpreter alloc] initWithModelPath:@"README.md" error:&error]);
    check_error(error, TFLInterpreterErrorCodeFailedToLoadModel, @"'README.md'", @"Flatbuffer", nil);
    XCTAssertNil([[TFLInterpreter alloc] initWithModelPath:@"no/such.tflite" error:NULL]);
    XCTAssertNil([[TFLInterpreter alloc] init]);
    XCTAssertNil([[TFLTensor alloc] init]);
    XCTAssertNil([[TFLSignatureRunner alloc] init]);
    XCTAssertNil([TFLSignatureRunner new]);
}

- (void)testIndicesOutside
{
    TFLInterpreter *interpreter = interpreter_of(digits_path());
    NSError *error = nil;
    XCTAssertNil([interpreter inputTensorAtIndex:1 error:&error]);
    check_error(error, TFLInterpreterErrorCodeInvalidTensorIndex, @"input tensor index 1", @"has 1", nil);
    XCTAssertNil([interpreter outputTensorAtIndex:NSUIntegerMax error:&error]);
    check_error(error, TFLInterpreterErrorCodeInvalidTensorIndex, @"output tensor index 18446744073709551615", nil);
    XCTAssertFalse([interpreter resizeInputTensorAtIndex:1 toShape:@[ @1 ] error:&error]);
    check_error(error, TFLInterpreterErrorCodeInvalidTensorIndex, @"input tensor index 1", nil);
}

- (void)testShapesThatAreNone
{
    TFLInterpreter *interpreter = interpreter_of(digits_path());
    NSArray *shapes = @[ @[], @[ @0 ], @[ @2, @-1 ], @[ @1.5 ], @[ @2147483648.0 ], @[ @(NAN) ] ];
    for (NSArray<NSNumber *> *shape in shapes) {
        NSError *error = nil;
        XCTAssertFalse([interpreter resizeInputTensorAtIndex:0 toShape:shape error:&error]);
        check_error(error, TFLInterpreterErrorCodeInvalidShape, @"input tensor 0",
                    [shape componentsJoinedByString:@", "].length > 0 ? [shape componentsJoinedByString:@", "] : @"[]",
                    nil);
    }
}

- (void)testBeforeAllocation
{
    NSError *error = nil;
    TFLInterpreter *interpreter = [[[TFLInterpreter alloc] initWithModelPath:digits_path() error:&error] autorelease];
    XCTAssertFalse([interpreter invokeWithError:&error]);
    check_error(error, TFLInterpreterErrorCodeFailedToInvoke, @"Failed to invoke", @"not ready", nil);
    TFLTensor *input = [interpreter inputTensorAtIndex:0 error:NULL];
    XCTAssertFalse([input copyData:a_seven() error:&error]);
    check_error(error, TFLInterpreterErrorCodeFailedToCopyDataToInputTensor, @"256 bytes", @"allocate tensors", nil);
    XCTAssertNil([input dataWithError:&error]);
    check_error(error, TFLInterpreterErrorCodeFailedToGetDataFromTensor, @"input tensor 0", @"allocate tensors", nil);
    XCTAssertNil([[interpreter outputTensorAtIndex:0 error:NULL] dataWithError:&error]);
    check_error(error, TFLInterpreterErrorCodeFailedToGetDataFromTensor, @"output tensor 0", nil);
}

- (void)testDataOfOtherSizes
{
    TFLInterpreter *interpreter = interpreter_of(digits_path());
    NSError *error = nil;
    TFLTensor *input = [interpreter inputTensorAtIndex:0 error:NULL];
    XCTAssertFalse([input copyData:[NSData data] error:&error]);
    check_error(error, TFLInterpreterErrorCodeInvalidInputByteSize, @"0 bytes", @"takes 256 bytes", nil);
    XCTAssertFalse([input copyData:[NSMutableData dataWithLength:257] error:&error]);
    check_error(error, TFLInterpreterErrorCodeInvalidInputByteSize, @"257 bytes", nil);
    XCTAssertFalse([[interpreter outputTensorAtIndex:0 error:NULL] copyData:[NSData data] error:&error]);
    check_error(error, TFLInterpreterErrorCodeCopyDataToOutputTensorNotAllowed, @"output tensor 0", nil);
}

- (void)testShapesThatDoNotFit
{
    TFLInterpreter *interpreter = interpreter_of(digits_path());
    NSError *error = nil;
    XCTAssertTrue(([interpreter resizeInputTensorAtIndex:0 toShape:@[ @1, @8, @8, @3 ] error:&error]), @"%@", error);
    XCTAssertFalse([interpreter allocateTensorsWithError:&error]);
    check_error(error, TFLInterpreterErrorCodeFailedToAllocateTensors, @"Failed to allocate", @"Node number 0", nil);
}

// A tensor keeps its interpreter, and an interpreter its delegates.
- (void)testTensorsKeepTheirInterpreter
{
    TFLTensor *output = nil;
    @autoreleasepool {
        TFLInterpreter *interpreter = [[TFLInterpreter alloc] initWithModelPath:digits_path() error:NULL];
        XCTAssertTrue([interpreter allocateTensorsWithError:NULL]);
        output = [[interpreter outputTensorAtIndex:0 error:NULL] retain];
        [interpreter release];
    }
    XCTAssertEqual([[output dataWithError:NULL] length], 40u);
    [output release];
}

- (void)testStrings
{
    TFLInterpreter *interpreter = interpreter_of(test_model(@"string_input_model"));
    NSError *error = nil;
    TFLTensor *input = [interpreter inputTensorAtIndex:0 error:&error];
    XCTAssertEqual(input.dataType, TFLTensorDataTypeNoType);
    NSUInteger strings = 1;
    for (NSNumber *size in [input shapeWithError:&error]) strings *= [size unsignedIntegerValue];
    NSMutableData *packed = [NSMutableData dataWithLength:(strings + 2) * 4 + strings * 2];
    int32_t *numbers = [packed mutableBytes];
    numbers[0] = (int32_t)strings;
    for (NSUInteger i = 0; i <= strings; i++) numbers[i + 1] = (int32_t)((strings + 2) * 4 + i * 2);
    XCTAssertTrue([input copyData:packed error:&error], @"%@", error);
    XCTAssertEqualObjects([input dataWithError:&error], packed);
    // Counts and offsets that lead outside, backwards, or leave bytes over.
    for (NSUInteger i = 0; i < strings + 2; i++) {
        for (int32_t change = -1; change <= 1; change += 2) {
            NSMutableData *broken = [[packed mutableCopy] autorelease];
            ((int32_t *)[broken mutableBytes])[i] += i > 1 && i < strings + 1 ? change * 1000 : change;
            XCTAssertFalse([input copyData:broken error:&error]);
            check_error(error, TFLInterpreterErrorCodeInvalidInputByteSize, @"packed form", nil);
        }
    }
    XCTAssertFalse([input copyData:[NSData data] error:&error]);
    XCTAssertFalse([input copyData:[NSMutableData dataWithLength:4] error:&error]);
    XCTAssertEqualObjects([input dataWithError:&error], packed);
}

@end
