// SPDX-License-Identifier: Apache-2.0
// document_client DEVICE MODEL: runs the documents' examples, which documents.sh has put into files of their own, and
// compares what the GPU computes with the CPU's result. Reads as Objective-C and, for the options in C, as Objective-C++.
#import <Foundation/Foundation.h>

#import "interpreter_head.h"

#import "c_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 64, OUTPUTS = 10 };

static void fill(float *input)
{
    for (int i = 0; i < INPUTS; i++) input[i] = (float)(i * 7 % 17) / 8 - 1;
}

// Runs an interpreter that has memory; NO with an error.
static BOOL run(TFLInterpreter *interpreter, float *output, NSError **error)
{
    NSMutableData *data = [NSMutableData dataWithLength:INPUTS * sizeof(float)];
    fill((float *)[data mutableBytes]);
    if (![[interpreter inputTensorAtIndex:0 error:error] copyData:data error:error]) return NO;
    if (![interpreter invokeWithError:error]) return NO;
    NSData *scores = [[interpreter outputTensorAtIndex:0 error:error] dataWithError:error];
    if ([scores length] != OUTPUTS * sizeof(float)) return NO;
    [scores getBytes:output length:OUTPUTS * sizeof(float)];
    return YES;
}

static BOOL is_same(const char *what, const float *got, const float *want)
{
    for (int i = 0; i < OUTPUTS; i++) {
        if (fabsf(got[i] - want[i]) <= 1e-5f) continue;
        printf("%s: output %d is %g and not %g\n", what, i, (double)got[i], (double)want[i]);
        return NO;
    }
    printf("%s: as on the CPU\n", what);
    return YES;
}

static TFLInterpreter *of_objective_c(NSString *modelPath, NSError **problem)
{
#include "interpreter.h"
    *problem = error;
    return interpreter;
}

static TFLMetalDelegate *with_options(BOOL spelled_out)
{
    if (!spelled_out) {
#include "options_short.h"
        return delegate;
    }
#include "options_long.h"
    return delegate;
}

static TFLMetalDelegateOptions *without_quantization(void)
{
#include "quantization.h"
    return options;
}

#define GIVE_INPUT fill((float *)input_data.mutableBytes);
#define TAKE_OUTPUT memcpy(result, output_data.bytes, sizeof(float) * OUTPUTS);

// Apple's nil is a null pointer of any type; that of gcc's runtime is an object.
#undef nil
#define nil NULL

static void in_c(const char *model_path, int input_size, int output_size, float *result)
{
#include "c.h"
}

static TfLiteDelegate *in_c_without_quantization(void)
{
#include "c_quantization.h"
    return delegate;
}

#ifdef __cplusplus
static TfLiteDelegate *in_c_with_options(int example)
{
    if (example == 0) {
#include "c_options_long.h"
        return delegate;
    }
    if (example == 1) {
#include "c_options_short.h"
        return delegate;
    }
    if (example == 2) {
#include "c_old_long.h"
        return delegate;
    }
    if (example == 3) {
#include "c_old_short.h"
        return delegate;
    }
#include "c_old_2.h"
    return delegate;
}
#endif

// The program has the examples' delegates made and deleted, without a device.
static BOOL make_delegates(void)
{
    BOOL made = YES;
    for (int i = 0; i < 2; i++) {
        TFLMetalDelegate *delegate = with_options(i);
        made = made && delegate.cDelegate;
    }
    made = made && !without_quantization().isQuantizationEnabled;
    TfLiteDelegate *delegate = in_c_without_quantization();
    made = made && delegate;
    TFLGpuDelegateDelete(delegate);
#ifdef __cplusplus
    for (int i = 0; i < 5; i++) {
        delegate = in_c_with_options(i);
        made = made && delegate;
        TFLGpuDelegateDelete(delegate);
    }
#endif
    return made;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    @autoreleasepool {
        NSString *path = [NSString stringWithUTF8String:argv[2]];
        NSError *error = nil;
        float cpu[OUTPUTS], got[OUTPUTS] = {0};
        TFLInterpreter *on_cpu = [[TFLInterpreter alloc] initWithModelPath:path error:&error];
        if (![on_cpu allocateTensorsWithError:&error] || !run(on_cpu, cpu, &error) || !make_delegates()) {
            printf("the CPU alone, or making delegates: %s\n", [[error description] UTF8String]);
            return 1;
        }
        TFLInterpreter *interpreter = of_objective_c(path, &error);
        if (strcmp(argv[1], "none") == 0) return interpreter || !error;
        NSString *text = [error localizedDescription];
        if (text && [text rangeOfString:@"HALITE_DEVICE="].length > 0) {
            printf("skipped: %s\n", [text UTF8String]);
            return 77;
        }
        if (!interpreter || !run(interpreter, got, &error)) {
            printf("Objective-C: %s\n", [[error description] UTF8String]);
            return 1;
        }
        if (!is_same("Objective-C", got, cpu)) return 1;
        memset(got, 0, sizeof got);
        in_c(argv[2], INPUTS, OUTPUTS, got);
        return is_same("C", got, cpu) ? 0 : 1;
    }
}
