// SPDX-License-Identifier: Apache-2.0
// See TestModels.h.
#import "TestModels.h"

#include <math.h>
#include <stdlib.h>

NSString *digits_path(void)
{
    return @"demo/digits.tflite";
}

NSString *test_model(NSString *name)
{
    const char *shared = getenv("HALITE_SHARED");
    NSString *path =
        [NSString stringWithFormat:@"%s/models/litert_testdata/tflite/%@.bin", shared ? shared : "../shared", name];
    XCTSkipIf(![[NSFileManager defaultManager] fileExistsAtPath:path], @"no %@", path);
    return path;
}

TFLInterpreter *interpreter_of(NSString *path)
{
    NSError *error = nil;
    TFLInterpreter *interpreter = [[[TFLInterpreter alloc] initWithModelPath:path error:&error] autorelease];
    XCTAssertNotNil(interpreter, @"%@", error);
    XCTAssertNil(error);
    XCTAssertTrue([interpreter allocateTensorsWithError:&error], @"%@", error);
    return interpreter;
}

NSData *floats(NSUInteger count, const float *values)
{
    return [NSData dataWithBytes:values length:count * sizeof *values];
}

float float_at(NSData *data, NSUInteger index)
{
    float value = NAN;
    if ([data length] >= (index + 1) * sizeof value)
        [data getBytes:&value range:NSMakeRange(index * sizeof value, sizeof value)];
    return value;
}

NSData *a_seven(void)
{
    // demo/seven.png, a pixel for each of its squares; letters go on after 9.
    static const char rows[] = "0018bdf3"
                               "007gaag5"
                               "01d309e0"
                               "03f02f40"
                               "0580ab00"
                               "0002f400"
                               "0008e000"
                               "000d7000";
    float pixels[64];
    for (int i = 0; i < 64; i++) pixels[i] = (float)(rows[i] < 'a' ? rows[i] - '0' : rows[i] - 'a' + 10) / 8 - 1;
    return floats(64, pixels);
}

NSUInteger best_digit(TFLInterpreter *interpreter)
{
    NSData *scores = [[interpreter outputTensorAtIndex:0 error:NULL] dataWithError:NULL];
    NSUInteger best = 0;
    XCTAssertEqual([scores length], 10 * sizeof(float));
    for (NSUInteger i = 1; i < 10; i++)
        if (float_at(scores, i) > float_at(scores, best)) best = i;
    return best;
}
