// SPDX-License-Identifier: Apache-2.0
// Names what a picture shows: objc_classify [MODEL LABELS PICTURE [gpu]], by default a seven with the demo's model. The
// picture is a PGM or PPM file of the model's size and channels; labels are lines of a text file. With gpu the
// graph runs on a GPU, where there is one. Prints the three best classes.
#import "tensorflow/lite/objc/apis/TFLMetalDelegate.h"
#import "tensorflow/lite/objc/apis/TFLTensorFlowLite.h"

// Pixels of a PGM or PPM file with 8 bits a channel (P5, P6; P2 with numbers as text): width, height and channels in
// that order in size. nil where it is none.
static NSData *read_picture(NSString *path, int size[3])
{
    NSData *file = [NSData dataWithContentsOfFile:path];
    NSString *text = [[[NSString alloc] initWithData:file encoding:NSISOLatin1StringEncoding] autorelease];
    if ([text length] < 3) return nil;
    NSScanner *scanner = [NSScanner scannerWithString:[text substringFromIndex:2]];
    int most = 0;
    size[2] = [text hasPrefix:@"P6"] ? 3 : 1;
    if (![scanner scanInt:&size[0]] || ![scanner scanInt:&size[1]] || ![scanner scanInt:&most] || most != 255 ||
        size[0] <= 0 || size[1] <= 0)
        return nil;
    NSUInteger begin = 2 + [scanner scanLocation] + 1,
               count = (NSUInteger)size[0] * (NSUInteger)size[1] * (NSUInteger)size[2];
    if ([text hasPrefix:@"P2"]) {
        NSMutableData *pixels = [NSMutableData data];
        for (int gray;[pixels length] < count && [scanner scanInt:&gray];)
            [pixels appendBytes:(const uint8_t[]){(uint8_t)gray} length:1];
        return [pixels length] == count ? pixels : nil;
    }
    if (![text hasPrefix:@"P5"] && ![text hasPrefix:@"P6"]) return nil;
    return [file length] >= begin && [file length] - begin == count ? [file subdataWithRange:NSMakeRange(begin, count)]
                                                                    : nil;
}

// Pixels as the model takes them: floats from -1 to 1, or bytes.
static NSData *input_of(NSData *pixels, TFLTensorDataType type)
{
    const uint8_t *bytes = [pixels bytes];
    NSUInteger count = [pixels length];
    NSMutableData *data =
        [NSMutableData dataWithLength:type == TFLTensorDataTypeFloat32 ? count * sizeof(float) : count];
    for (NSUInteger i = 0; i < count; i++) {
        if (type == TFLTensorDataTypeFloat32)
            ((float *)[data mutableBytes])[i] = bytes[i] / 127.5f - 1;
        else if (type == TFLTensorDataTypeInt8)
            ((int8_t *)[data mutableBytes])[i] = (int8_t)(bytes[i] - 128);
        else
            ((uint8_t *)[data mutableBytes])[i] = bytes[i];
    }
    return data;
}

// What class i has got, as a real number.
static float score_at(TFLTensor *output, NSData *data, NSUInteger i)
{
    TFLQuantizationParameters *parameters = output.quantizationParameters;
    if (output.dataType == TFLTensorDataTypeFloat32) return ((const float *)[data bytes])[i];
    int value = output.dataType == TFLTensorDataTypeInt8 ? ((const int8_t *)[data bytes])[i]
                                                         : ((const uint8_t *)[data bytes])[i];
    return parameters.scale * (float)(value - parameters.zeroPoint);
}

static void print_best(TFLTensor *output, NSData *data, NSArray<NSString *> *labels)
{
    NSUInteger count = [data length] / (output.dataType == TFLTensorDataTypeFloat32 ? sizeof(float) : 1);
    NSMutableIndexSet *told = [NSMutableIndexSet indexSet];
    for (NSUInteger rank = 0; rank < 3 && rank < count; rank++) {
        NSUInteger best = NSNotFound;
        for (NSUInteger i = 0; i < count; i++) {
            if ([told containsIndex:i]) continue;
            if (best == NSNotFound || score_at(output, data, i) > score_at(output, data, best)) best = i;
        }
        [told addIndex:best];
        printf("%5.1f %%  %s\n", 100 * (double)score_at(output, data, best),
               best < [labels count] ? [[labels objectAtIndex:best] UTF8String] : "?");
    }
}

// NO with an error, or with none where the picture is not one that the model takes.
static BOOL classify(NSString *model, NSArray<NSString *> *labels, NSString *path, BOOL gpu, NSError **error)
{
    TFLInterpreterOptions *options = [[[TFLInterpreterOptions alloc] init] autorelease];
    TFLMetalDelegate *delegate = gpu ? [[[TFLMetalDelegate alloc] init] autorelease] : nil;
    NSArray<TFLDelegate *> *delegates = delegate ? @[ delegate ] : @[];
    options.numberOfThreads = 2;
    TFLInterpreter *interpreter = [[[TFLInterpreter alloc] initWithModelPath:model
                                                                     options:options
                                                                   delegates:delegates
                                                                       error:error] autorelease];
    if (!interpreter || ![interpreter allocateTensorsWithError:error]) return NO;
    TFLTensor *input = [interpreter inputTensorAtIndex:0 error:error];
    NSArray<NSNumber *> *shape = [input shapeWithError:error];
    int size[3];
    NSData *pixels = read_picture(path, size);
    if (!pixels || ![shape isEqualToArray:@[ @1, @(size[1]), @(size[0]), @(size[2]) ]]) {
        fprintf(stderr, "%s is no PGM or PPM file of the model's shape, %s\n", [path UTF8String],
                [[shape description] UTF8String]);
        return NO;
    }
    TFLTensor *output = [interpreter outputTensorAtIndex:0 error:error];
    NSData *scores = nil;
    if ([input copyData:input_of(pixels, input.dataType) error:error] && [interpreter invokeWithError:error])
        scores = [output dataWithError:error];
    if (scores) print_best(output, scores, labels);
    return scores != nil;
}

int main(int argc, char **argv)
{
    BOOL done = NO;
    @autoreleasepool {
        NSString *model = argc > 3 ? [NSString stringWithUTF8String:argv[1]] : @"demo/digits.tflite";
        NSString *names = argc > 3 ? [NSString stringWithUTF8String:argv[2]] : @"demo/digits.txt";
        NSString *path = argc > 3 ? [NSString stringWithUTF8String:argv[3]] : @"bindings/objc/example/seven.pgm";
        NSString *lines = [NSString stringWithContentsOfFile:names encoding:NSUTF8StringEncoding error:NULL];
        NSError *error = nil;
        done = classify(model, [lines componentsSeparatedByString:@"\n"], path, argc > 4, &error);
        if (error) fprintf(stderr, "%s\n", [[error localizedDescription] UTF8String]);
    }
    return done ? 0 : 1;
}
