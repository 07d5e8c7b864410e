// SPDX-License-Identifier: Apache-2.0
// Objective-C's runner of bindings/tests/cases.json, whose README says what a runner does. Runs in the repository's
// root.
#import "TestModels.h"

#include <math.h>
#include <stdlib.h>

// A case on its way through the steps.
@interface CaseRun : NSObject {
  @public
    NSDictionary *_case;
    TFLInterpreter *_interpreter;
    TFLSignatureRunner *_runner;
    NSMutableArray<TFLTensor *> *_outputs;
    NSMutableArray<NSData *> *_results;
    NSError *_error;
}
@end

// Subscripts are not for gcc's runtime.
static id get(NSDictionary *dictionary, NSString *key)
{
    return [dictionary objectForKey:key];
}

static id at(NSArray *array, NSUInteger index)
{
    return [array objectAtIndex:index];
}

static NSString *path_of(NSString *name)
{
    const char *shared = getenv("HALITE_SHARED");
    if ([name hasPrefix:@"repo:"]) return [name substringFromIndex:5];
    return [NSString stringWithFormat:@"%s/%@", shared ? shared : "../shared", [name substringFromIndex:7]];
}

static NSData *bytes_of(NSDictionary *port)
{
    NSData *file = [NSData dataWithContentsOfFile:path_of(get(port, @"file"))];
    NSRange range =
        NSMakeRange([get(port, @"offset") unsignedIntegerValue], [get(port, @"bytes") unsignedIntegerValue]);
    return NSMaxRange(range) <= [file length] ? [file subdataWithRange:range] : nil;
}

@implementation CaseRun

- (instancetype)initWithCase:(NSDictionary *)given
{
    self = [super init];
    if (self) _case = [given retain];
    return self;
}

- (void)dealloc
{
    [_case release];
    [_interpreter release];
    [_runner release];
    [_outputs release];
    [_results release];
    [super dealloc];
}

- (BOOL)create
{
    TFLInterpreterOptions *options = [[[TFLInterpreterOptions alloc] init] autorelease];
    options.numberOfThreads = [get(_case, @"threads") unsignedIntegerValue];
    _interpreter = [[TFLInterpreter alloc] initWithModelPath:path_of(get(_case, @"model"))
                                                     options:options
                                                       error:&_error];
    if (!_interpreter || !get(_case, @"signature")) return _interpreter != nil;
    _runner = [[_interpreter signatureRunnerWithKey:get(_case, @"signature") error:&_error] retain];
    return _runner != nil;
}

- (BOOL)resize
{
    NSArray *shapes = get(_case, @"resize");
    for (NSUInteger i = 0; i < [shapes count]; i++) {
        if (at(shapes, i) == [NSNull null]) continue;
        if (_runner ? ![_runner resizeInputTensorWithName:get(at(get(_case, @"inputs"), i), @"name")
                                                  toShape:at(shapes, i)
                                                    error:&_error]
                    : ![_interpreter resizeInputTensorAtIndex:i toShape:at(shapes, i) error:&_error])
            return NO;
    }
    return YES;
}

- (BOOL)allocate
{
    return _runner ? [_runner allocateTensorsWithError:&_error] : [_interpreter allocateTensorsWithError:&_error];
}

- (BOOL)input
{
    NSArray *ports = get(_case, @"inputs");
    for (NSUInteger i = 0; i < [ports count]; i++) {
        TFLTensor *input = _runner ? [_runner inputTensorWithName:get(at(ports, i), @"name") error:&_error]
                                   : [_interpreter inputTensorAtIndex:i error:&_error];
        if (![input copyData:bytes_of(at(ports, i)) error:&_error]) return NO;
    }
    return YES;
}

- (BOOL)run
{
    return _runner ? [_runner invokeWithInputs:@{} Error:&_error] : [_interpreter invokeWithError:&_error];
}

- (BOOL)output
{
    NSArray *ports = get(_case, @"outputs");
    _outputs = [[NSMutableArray alloc] init];
    _results = [[NSMutableArray alloc] init];
    for (NSUInteger i = 0; i < [ports count]; i++) {
        TFLTensor *output = _runner ? [_runner outputTensorWithName:get(at(ports, i), @"name") error:&_error]
                                    : [_interpreter outputTensorAtIndex:i error:&_error];
        NSData *data = [output dataWithError:&_error];
        if (!data) return NO;
        [_outputs addObject:output];
        [_results addObject:data];
    }
    return YES;
}

// The step that failed, with _error; nil: none.
- (NSString *)failingStep
{
    for (NSString *step in @[ @"create", @"resize", @"allocate", @"input", @"run", @"output" ]) {
        if ([get(_case, @"skip") containsObject:step]) continue;
        BOOL (*method)(id, SEL) = (BOOL(*)(id, SEL))[self methodForSelector:NSSelectorFromString(step)];
        if (!method(self, NSSelectorFromString(step))) return step;
    }
    return nil;
}

@end

// ---- comparing ----------------------------------------------------------------------------------

static const struct type {
    NSString *name;
    TFLTensorDataType type;
    NSUInteger size; // bytes of an element; 0: compared as they are
} types[] = {
    {@"float32", TFLTensorDataTypeFloat32, 4}, {@"float16", TFLTensorDataTypeFloat16, 2},
    {@"int8", TFLTensorDataTypeInt8, 1},       {@"uint8", TFLTensorDataTypeUInt8, 1},
    {@"int16", TFLTensorDataTypeInt16, 2},     {@"int32", TFLTensorDataTypeInt32, 4},
    {@"int64", TFLTensorDataTypeInt64, 8},     {@"bool", TFLTensorDataTypeBool, 0},
    {@"string", TFLTensorDataTypeNoType, 0},
};

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? fraction ? NAN : INFINITY
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static double float_value(const struct type *type, const void *element)
{
    return type->type == TFLTensorDataTypeFloat16 ? half_value(*(const uint16_t *)element) : *(const float *)element;
}

static int64_t integer_value(const struct type *type, const void *element)
{
    switch (type->type) {
    case TFLTensorDataTypeInt8: return *(const int8_t *)element;
    case TFLTensorDataTypeUInt8: return *(const uint8_t *)element;
    case TFLTensorDataTypeInt16: return *(const int16_t *)element;
    case TFLTensorDataTypeInt32: return *(const int32_t *)element;
    default: return *(const int64_t *)element;
    }
}

static BOOL is_near(NSDictionary *port, const struct type *type, const void *got, const void *want)
{
    if (type->type == TFLTensorDataTypeFloat32 || type->type == TFLTensorDataTypeFloat16) {
        double a = float_value(type, got), b = float_value(type, want);
        double bound = [get(port, @"absolute") doubleValue] + [get(port, @"relative") doubleValue] * fmax(1, fabs(b));
        return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= bound;
    }
    int64_t a = integer_value(type, got), b = integer_value(type, want);
    uint64_t apart = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    return apart <= [get(port, @"steps") unsignedLongLongValue];
}

// What is wrong with an output; nil: nothing.
static NSString *difference(NSDictionary *port, TFLTensor *tensor, NSData *got)
{
    NSData *want = bytes_of(port);
    const struct type *type = types;
    while (![type->name isEqualToString:get(port, @"type")]) type++;
    NSArray *shape = [tensor shapeWithError:NULL];
    if (tensor.dataType != type->type) return [NSString stringWithFormat:@"type %lu", (unsigned long)tensor.dataType];
    if (![shape isEqualToArray:get(port, @"shape")]) return [NSString stringWithFormat:@"shape %@", shape];
    if ([got length] != [want length]) return [NSString stringWithFormat:@"%lu bytes", (unsigned long)[got length]];
    if (type->size == 0) return [got isEqualToData:want] ? nil : [NSString stringWithFormat:@"%@ is not %@", got, want];
    for (NSUInteger byte = 0; byte < [got length]; byte += type->size)
        if (!is_near(port, type, (const char *)[got bytes] + byte, (const char *)[want bytes] + byte))
            return [NSString stringWithFormat:@"element %lu", (unsigned long)(byte / type->size)];
    return nil;
}

// ---- the table ----------------------------------------------------------------------------------

// nil: the case passes.
static NSString *problem_of(NSDictionary *given)
{
    CaseRun *run = [[[CaseRun alloc] initWithCase:given] autorelease];
    NSString *step = [run failingStep];
    NSDictionary *expected = get(given, @"expect"), *error = get(expected, @"objc");
    if (!expected && step) return [NSString stringWithFormat:@"at %@: %@", step, [run->_error localizedDescription]];
    if (!expected) {
        for (NSUInteger i = 0; i < [run->_results count]; i++) {
            NSString *wrong = difference(at(get(given, @"outputs"), i), at(run->_outputs, i), at(run->_results, i));
            if (wrong) return [NSString stringWithFormat:@"output %lu: %@", (unsigned long)i, wrong];
        }
        return nil;
    }
    if (![step isEqualToString:get(expected, @"at")])
        return [NSString
            stringWithFormat:@"at %@ and not %@: %@", step, get(expected, @"at"), [run->_error localizedDescription]];
    NSString *text = [run->_error localizedDescription];
    if ([text length] == 0) return @"an error without a text";
    if (get(error, @"code") && [run->_error code] != [get(error, @"code") integerValue])
        return [NSString stringWithFormat:@"code %ld: %@", (long)[run->_error code], text];
    if (get(error, @"code") && ![[run->_error domain] isEqualToString:@"org.tensorflow.lite.interpreter"])
        return [NSString stringWithFormat:@"domain %@", [run->_error domain]];
    if (get(error, @"text") && [text rangeOfString:get(error, @"text")].length == 0) return text;
    return nil;
}

@interface CaseTests : XCTestCase
@end

@implementation CaseTests

- (void)testAll
{
    NSData *file = [NSData dataWithContentsOfFile:@"bindings/tests/cases.json"];
    NSDictionary *table = [NSJSONSerialization JSONObjectWithData:file options:0 error:NULL];
    BOOL shared = [[NSFileManager defaultManager] fileExistsAtPath:path_of(@"shared:golden")];
    NSUInteger passed = 0, left_out = 0;
    XCTAssertEqual([get(table, @"version") intValue], 1);
    for (NSDictionary *given in get(table, @"cases")) {
        @autoreleasepool {
            if ([get(given, @"optional") containsObject:@"objc"] ||
                (!shared && [get(given, @"model") hasPrefix:@"shared:"])) {
                left_out++;
                continue;
            }
            NSString *problem = problem_of(given);
            XCTAssertNil(problem, @"case %@", get(given, @"name"));
            passed += problem == nil;
        }
    }
    printf("%lu of %lu cases passed, %lu left out\n", (unsigned long)passed,
           (unsigned long)[get(table, @"cases") count], (unsigned long)left_out);
    XCTAssertGreaterThan(passed, 0u);
}

@end
