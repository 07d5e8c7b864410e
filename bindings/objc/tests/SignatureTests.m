// SPDX-License-Identifier: Apache-2.0
// TFLSignatureRunner: every member, every error with its code and what its text names.
#import "TestModels.h"

@interface SignatureTests : XCTestCase

// Its methods are XCTest's, see there.
@property(nonatomic, retain) TFLInterpreter *interpreter;

@end

static void check_error(NSError *error, NSUInteger code, NSString *part)
{
    XCTAssertEqualObjects([error domain], TFLSignatureRunnerErrorDomain);
    XCTAssertEqual((NSUInteger)[error code], code);
    XCTAssertTrue([[error localizedDescription] rangeOfString:part].length > 0, @"'%@' in '%@'", part,
                  [error localizedDescription]);
}

static TFLInterpreter *new_interpreter(void)
{
    NSString *path = test_model(@"multi_signatures");
    return [[[TFLInterpreter alloc] initWithModelPath:path error:NULL] autorelease];
}

@implementation SignatureTests

@dynamic interpreter;

- (void)tearDown
{
    self.interpreter = nil;
    XCTAssertNil(self.interpreter);
}

- (void)testMembers
{
    NSError *error = nil;
    self.interpreter = new_interpreter();
    XCTAssertEqualObjects(self.interpreter.signatureKeys, (@[ @"add", @"sub" ]));
    TFLSignatureRunner *runner = [self.interpreter signatureRunnerWithKey:@"sub" error:&error];
    XCTAssertEqualObjects(runner.signatureKey, @"sub");
    XCTAssertEqualObjects(runner.inputs, @[ @"x" ]);
    XCTAssertEqualObjects(runner.outputs, @[ @"output_0" ]);
    XCTAssertNil(error);
}

- (void)testRuns
{
    TFLInterpreter *interpreter = new_interpreter();
    NSError *error = nil;
    TFLSignatureRunner *add = [interpreter signatureRunnerWithKey:@"add" error:&error];
    TFLSignatureRunner *sub = [interpreter signatureRunnerWithKey:@"sub" error:&error];
    XCTAssertTrue([add resizeInputTensorWithName:@"x" toShape:@[ @3 ] error:&error]);
    XCTAssertTrue(([add invokeWithInputs:@{@"x" : floats(3, (const float[]){1, 2, 3})} Error:&error]), @"%@", error);
    XCTAssertTrue([sub invokeWithInputs:@{@"x" : floats(1, (const float[]){1})} Error:&error], @"%@", error);
    TFLTensor *sum = [add outputTensorWithName:@"output_0" error:&error];
    TFLTensor *difference = [sub outputTensorWithName:@"output_0" error:&error];
    XCTAssertEqual(sum.dataType, TFLTensorDataTypeFloat32);
    XCTAssertEqualObjects([sum shapeWithError:&error], @[ @3 ]);
    for (NSUInteger i = 0; i < 3; i++) XCTAssertEqual(float_at([sum dataWithError:&error], i), (float)(i + 3));
    XCTAssertEqual(float_at([difference dataWithError:&error], 0), -2.0f);
    // An input that is not named keeps what it has.
    XCTAssertTrue([add invokeWithInputs:@{} Error:&error]);
    XCTAssertEqual(float_at([sum dataWithError:&error], 2), 5.0f);
    XCTAssertNil(error);
}

- (void)testHasMemoryWhenNew
{
    NSError *error = nil;
    TFLSignatureRunner *add = [new_interpreter() signatureRunnerWithKey:@"add" error:&error];
    TFLTensor *input = [add inputTensorWithName:@"x" error:&error];
    XCTAssertEqual([[input dataWithError:&error] length], sizeof(float));
    XCTAssertEqual([[[add outputTensorWithName:@"output_0" error:&error] dataWithError:&error] length], sizeof(float));
    XCTAssertTrue((([input copyData:floats(1, (const float[]){3}) error:&error])));
    XCTAssertTrue([add invokeWithInputs:@{} Error:&error]);
    XCTAssertEqual(float_at([[add outputTensorWithName:@"output_0" error:&error] dataWithError:&error], 0), 5.0f);
    XCTAssertNil(error);
}

- (void)testRunsByHand
{
    NSError *error = nil;
    TFLSignatureRunner *add = [new_interpreter() signatureRunnerWithKey:@"add" error:&error];
    XCTAssertTrue(([add resizeInputTensorWithName:@"x" toShape:@[ @2 ] error:&error]));
    XCTAssertTrue([add allocateTensorsWithError:&error]);
    TFLTensor *input = [add inputTensorWithName:@"x" error:&error];
    XCTAssertTrue(([input copyData:floats(2, (const float[]){5, 6}) error:&error]));
    XCTAssertTrue([add invokeWithInputs:@{} Error:&error]);
    NSData *data = [[add outputTensorWithName:@"output_0" error:&error] dataWithError:&error];
    XCTAssertEqual(float_at(data, 0), 7.0f);
    XCTAssertEqual(float_at(data, 1), 8.0f);
}

- (void)testErrors
{
    TFLInterpreter *interpreter = new_interpreter();
    NSError *error = nil;
    XCTAssertNil([interpreter signatureRunnerWithKey:@"mul" error:&error]);
    check_error(error, TFLSignatureRunnerErrorCodeFailedToCreateSignatureRunner, @"'mul': the model has 'add', 'sub'");
    TFLSignatureRunner *add = [interpreter signatureRunnerWithKey:@"add" error:NULL];
    XCTAssertNil([add inputTensorWithName:@"y" error:&error]);
    check_error(error, TFLSignatureRunnerErrorCodeFailedToGetTensor, @"input tensor 'y': signature 'add' has 'x'");
    XCTAssertNil([add outputTensorWithName:@"x" error:&error]);
    check_error(error, TFLSignatureRunnerErrorCodeFailedToGetTensor, @"output tensor 'x'");
    XCTAssertFalse([add resizeInputTensorWithName:@"y" toShape:@[ @1 ] error:&error]);
    check_error(error, TFLSignatureRunnerErrorCodeFailedToResizeInputTensor, @"'y' to [1]");
    XCTAssertFalse([add resizeInputTensorWithName:@"x" toShape:@[ @0 ] error:&error]);
    check_error(error, TFLSignatureRunnerErrorCodeInvalidShape, @"[0] for input tensor 'x'");
    NSData *two = floats(2, (const float[]){1, 2});
    XCTAssertFalse([add invokeWithInputs:@{@"x" : two} Error:&error]);
    check_error(error, TFLSignatureRunnerErrorCodeInvalidInputByteSize, @"8 bytes for input tensor 'x'");
    XCTAssertFalse([add invokeWithInputs:@{@"y" : two} Error:&error]);
    check_error(error, TFLSignatureRunnerErrorCodeFailedToGetTensor, @"'y'");
    TFLTensor *output = [add outputTensorWithName:@"output_0" error:NULL];
    XCTAssertFalse([output copyData:two error:&error]);
    check_error(error, TFLSignatureRunnerErrorCodeCopyDataToOutputTensorNotAllowed, @"output tensor 'output_0'");
}

- (void)testWithoutSignatures
{
    NSError *error = nil;
    TFLInterpreter *interpreter = [[[TFLInterpreter alloc] initWithModelPath:test_model(@"no_signatures")
                                                                       error:&error] autorelease];
    XCTAssertEqualObjects(interpreter.signatureKeys, @[]);
    XCTAssertNil([interpreter signatureRunnerWithKey:@"serving_default" error:&error]);
    check_error(error, TFLSignatureRunnerErrorCodeFailedToCreateSignatureRunner, @"the model has none");
}

// A runner keeps its interpreter, and a tensor its runner.
- (void)testTensorsKeepTheirRunner
{
    TFLTensor *input = nil;
    @autoreleasepool {
        TFLSignatureRunner *runner = [new_interpreter() signatureRunnerWithKey:@"add" error:NULL];
        XCTAssertTrue([runner allocateTensorsWithError:NULL]);
        input = [[runner inputTensorWithName:@"x" error:NULL] retain];
    }
    XCTAssertTrue([input copyData:floats(1, (const float[]){1}) error:NULL]);
    [input release];
}

@end
