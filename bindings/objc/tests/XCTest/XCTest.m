// SPDX-License-Identifier: Apache-2.0
// See XCTest.h. The Objective-C runtime lists classes and methods; each test gets an object and an autorelease pool of
// its own.
#import "XCTest.h"

#import <objc/runtime.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int failures, skipped, run; // of all tests
    BOOL failed;                // the one that runs
} state;

@implementation XCTestCase

+ (void)setUp
{
}

+ (void)tearDown
{
}

- (void)setUp
{
}

- (void)tearDown
{
}

- (void)dealloc
{
    [_values release];
    [super dealloc];
}

// Properties of test classes, which hold objects: gcc's runtime leaves their methods to be written out, which classes that
// were written for another do not do.
- (NSMethodSignature *)methodSignatureForSelector:(SEL)selector
{
    NSString *name = NSStringFromSelector(selector);
    if ([name hasPrefix:@"set"] && [name rangeOfString:@":"].location == [name length] - 1)
        return [NSMethodSignature signatureWithObjCTypes:"v@:@"];
    if ([_values objectForKey:[name lowercaseString]]) return [NSMethodSignature signatureWithObjCTypes:"@@:"];
    return [super methodSignatureForSelector:selector];
}

- (void)forwardInvocation:(NSInvocation *)invocation
{
    NSString *name = [NSStringFromSelector([invocation selector]) lowercaseString];
    id value = nil;
    if ([name hasSuffix:@":"]) {
        if (!_values) _values = [[NSMutableDictionary alloc] init];
        [invocation getArgument:&value atIndex:2];
        [_values setObject:value ? value : [NSNull null]
                    forKey:[name substringWithRange:NSMakeRange(3, [name length] - 4)]];
    } else {
        value = [_values objectForKey:name];
        if (value == [NSNull null]) value = nil;
        [invocation setReturnValue:&value];
    }
}

@end

@interface XCTSkipped : NSException
@end

@implementation XCTSkipped
@end

void XCTRecordFailure(const char *file, int line, NSString *why, NSString *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    NSString *message = [[[NSString alloc] initWithFormat:format arguments:arguments] autorelease];
    va_end(arguments);
    fprintf(stderr, "%s:%d: failed: %s %s\n", file, line, [why UTF8String], [message UTF8String]);
    state.failed = YES;
}

void XCTRecordSkip(NSString *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    NSString *message = [[[NSString alloc] initWithFormat:format arguments:arguments] autorelease];
    va_end(arguments);
    @throw [[[XCTSkipped alloc] initWithName:@"XCTSkipped" reason:message userInfo:nil] autorelease];
}

#define VALUE(type, format) [NSString stringWithFormat:format, *(const type *)value]

NSString *XCTDescribe(const void *value, const char *encoding)
{
    while (*encoding && strchr("rnNoORV", *encoding)) encoding++;
    switch (*encoding) {
    case '@': return [NSString stringWithFormat:@"%@", *(const id *)value];
    case 'f': return VALUE(float, @"%.9g");
    case 'd': return VALUE(double, @"%.17g");
    case 'c': return VALUE(signed char, @"%d");
    case 'C': return VALUE(unsigned char, @"%d");
    case 'B': return VALUE(bool, @"%d");
    case 's': return VALUE(short, @"%d");
    case 'S': return VALUE(unsigned short, @"%d");
    case 'i': return VALUE(int, @"%d");
    case 'I': return VALUE(unsigned, @"%u");
    case 'l': return VALUE(long, @"%ld");
    case 'L': return VALUE(unsigned long, @"%lu");
    case 'q': return VALUE(long long, @"%lld");
    case 'Q': return VALUE(unsigned long long, @"%llu");
    default: return [NSString stringWithFormat:@"<%s>", encoding];
    }
}

static BOOL is_wanted(NSArray<NSString *> *wanted, NSString *class, NSString *test)
{
    if ([wanted count] == 0) return YES;
    return [wanted containsObject:class] || [wanted containsObject:[NSString stringWithFormat:@"%@/%@", class, test]];
}

static void run_test(Class class, NSString *name)
{
    state.failed = NO;
    NSString *problem = nil;
    BOOL skipped = NO;
    @autoreleasepool {
        XCTestCase *test = [[class alloc] init];
        @try {
            [test setUp];
            [test performSelector:NSSelectorFromString(name)];
            [test tearDown];
        } @catch (XCTSkipped *exception) {
            skipped = YES;
            problem = [[exception reason] copy];
        } @catch (NSException *exception) {
            state.failed = YES;
            problem = [[exception description] copy];
        }
        [test release];
    }
    state.run++;
    state.failures += state.failed;
    state.skipped += skipped && !state.failed;
    printf("%s %s/%s%s%s\n",
           state.failed ? "FAILED"
           : skipped    ? "skipped"
                        : "ok",
           class_getName(class), [name UTF8String], problem ? ": " : "", problem ? [problem UTF8String] : "");
    fflush(stdout);
    [problem release];
}

static void run_class(Class class, NSArray<NSString *> *wanted)
{
    @autoreleasepool {
        NSMutableArray<NSString *> *names = [NSMutableArray array];
        unsigned count = 0;
        Method *methods = class_copyMethodList(class, &count);
        for (unsigned i = 0; i < count; i++) {
            NSString *name = NSStringFromSelector(method_getName(methods[i]));
            if ([name hasPrefix:@"test"] && ![name hasSuffix:@":"] && is_wanted(wanted, NSStringFromClass(class), name))
                [names addObject:name];
        }
        free(methods);
        if ([names count] == 0) return;
        [names sortUsingSelector:@selector(compare:)];
        [class setUp];
        for (NSString *name in names) run_test(class, name);
        [class tearDown];
    }
}

int main(int argc, char **argv)
{
    @autoreleasepool {
        NSMutableArray<NSString *> *wanted = [NSMutableArray array];
        for (int i = 1; i < argc; i++) [wanted addObject:[NSString stringWithUTF8String:argv[i]]];
        int count = objc_getClassList(NULL, 0);
        Class *classes = calloc((size_t)count + 1, sizeof *classes);
        if (!classes) return 1;
        count = objc_getClassList(classes, count);
        for (int i = 0; i < count; i++)
            if (class_getSuperclass(classes[i]) == [XCTestCase class]) run_class(classes[i], wanted);
        free(classes);
    }
    printf("%d tests, %d failed, %d skipped\n", state.run, state.failures, state.skipped);
    fflush(stdout);
    if (state.failures > 0 || state.run == 0) return 1;
    return state.skipped == state.run ? 77 : 0;
}
