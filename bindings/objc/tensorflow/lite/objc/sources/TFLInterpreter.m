// SPDX-License-Identifier: Apache-2.0
// See TFLInterpreter.h. The C objects are made in the initializer and deleted in -dealloc: interpreter first, then the
// delegates and the model that it uses.
#import "TFLInterpreter+Internal.h"

#include <limits.h>
#include <stdlib.h>

#import "../apis/TFLTensorFlowLite.h"
#import "TFLSignatureRunner+Internal.h"

#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"

@implementation TFLInterpreter

@synthesize signatureKeys = _signatureKeys;

- (instancetype)init
{
    NSString *none = nil;
    return [self initWithModelPath:none error:NULL];
}

- (instancetype)initWithModelPath:(NSString *)modelPath error:(NSError **)error
{
    TFLInterpreterOptions *options = TFL_AUTORELEASE([[TFLInterpreterOptions alloc] init]);
    return [self initWithModelPath:modelPath options:options delegates:[NSArray array] error:error];
}

- (instancetype)initWithModelPath:(NSString *)modelPath options:(TFLInterpreterOptions *)options error:(NSError **)error
{
    return [self initWithModelPath:modelPath options:options delegates:[NSArray array] error:error];
}

- (instancetype)initWithModelPath:(NSString *)modelPath
                          options:(TFLInterpreterOptions *)options
                        delegates:(NSArray<TFLDelegate *> *)delegates
                            error:(NSError **)error
{
    self = [super init];
    if (!self) return nil;
    if (![self loadModel:modelPath error:error] || ![self createWithOptions:options delegates:delegates error:error]) {
        TFL_RELEASE(self);
        return nil;
    }
    [self readSignatureKeys];
    TFLMessagesFlush(_messages);
    return self;
}

- (void)dealloc
{
    TfLiteInterpreterDelete(_interpreter);
    TfLiteXNNPackDelegateDelete(_xnnpack);
    TfLiteModelDelete(_model);
    TFL_RELEASE(_delegates);
    TFL_RELEASE(_signatureKeys);
    free(_messages);
    TFL_SUPER_DEALLOC;
}

// ---- making it ----------------------------------------------------------------------------------

- (BOOL)loadModel:(NSString *)path error:(NSError **)error
{
    _messages = calloc(1, sizeof *_messages);
    if (_messages && path)
        _model = TfLiteModelCreateFromFileWithErrorReporter([path fileSystemRepresentation], TFLMessagesAdd, _messages);
    if (_model) return YES;
    return TFLFail(error, TFLInterpreterErrorDomain, TFLInterpreterErrorCodeFailedToLoadModel, _messages,
                   @"Failed to load the model from '%@'", path);
}

- (BOOL)createWithOptions:(TFLInterpreterOptions *)options
                delegates:(NSArray<TFLDelegate *> *)delegates
                    error:(NSError **)error
{
    TfLiteInterpreterOptions *own = TfLiteInterpreterOptionsCreate();
    if (own) {
        int32_t threads = options.numberOfThreads > INT32_MAX ? INT32_MAX : (int32_t)options.numberOfThreads;
        if (threads > 0) TfLiteInterpreterOptionsSetNumThreads(own, threads);
        TfLiteInterpreterOptionsSetErrorReporter(own, TFLMessagesAdd, _messages);
        _delegates = [delegates copy];
        for (TFLDelegate *delegate in _delegates)
            if (delegate.cDelegate) TfLiteInterpreterOptionsAddDelegate(own, delegate.cDelegate);
        if (options.useXNNPACK) {
            TfLiteXNNPackDelegateOptions xnnpack = TfLiteXNNPackDelegateOptionsDefault();
            xnnpack.num_threads = threads;
            _xnnpack = TfLiteXNNPackDelegateCreate(&xnnpack);
            if (_xnnpack) TfLiteInterpreterOptionsAddDelegate(own, _xnnpack);
        }
        _interpreter = TfLiteInterpreterCreate(_model, own);
        TfLiteInterpreterOptionsDelete(own);
    }
    if (_interpreter) return YES;
    return TFLFail(error, TFLInterpreterErrorDomain, TFLInterpreterErrorCodeFailedToCreateInterpreter, _messages,
                   @"Failed to create the interpreter");
}

- (void)readSignatureKeys
{
    int32_t count = TfLiteInterpreterGetSignatureCount(_interpreter);
    NSMutableArray<NSString *> *keys = [[NSMutableArray alloc] init];
    for (int32_t i = 0; i < count; i++)
        [keys addObject:TFLStringOfText(TfLiteInterpreterGetSignatureKey(_interpreter, i))];
    _signatureKeys = keys;
}

// ---- what tensors and signature runners ask -----------------------------------------------------

- (TfLiteInterpreter *)cInterpreter
{
    return _interpreter;
}

- (TfLiteTensor *)cTensorOfInput:(BOOL)isInput index:(NSUInteger)index nameInSignature:(NSString *)name
{
    (void)name;
    if (index > INT32_MAX) return NULL;
    if (isInput) return TfLiteInterpreterGetInputTensor(_interpreter, (int32_t)index);
    return (TfLiteTensor *)TfLiteInterpreterGetOutputTensor(_interpreter, (int32_t)index);
}

- (NSErrorDomain)errorDomain
{
    return TFLInterpreterErrorDomain;
}

- (NSUInteger)codeOf:(TFLSignatureRunnerErrorCode)code
{
    static const TFLInterpreterErrorCode codes[] = {
        [TFLSignatureRunnerErrorCodeInvalidInputByteSize] = TFLInterpreterErrorCodeInvalidInputByteSize,
        [TFLSignatureRunnerErrorCodeInvalidShape] = TFLInterpreterErrorCodeInvalidShape,
        [TFLSignatureRunnerErrorCodeFailedToCreateSignatureRunner] = TFLInterpreterErrorCodeFailedToCreateInterpreter,
        [TFLSignatureRunnerErrorCodeFailedToInvoke] = TFLInterpreterErrorCodeFailedToInvoke,
        [TFLSignatureRunnerErrorCodeFailedToGetTensor] = TFLInterpreterErrorCodeFailedToGetTensor,
        [TFLSignatureRunnerErrorCodeInvalidTensor] = TFLInterpreterErrorCodeInvalidTensor,
        [TFLSignatureRunnerErrorCodeFailedToResizeInputTensor] = TFLInterpreterErrorCodeFailedToResizeInputTensor,
        [TFLSignatureRunnerErrorCodeFailedToCopyDataToInputTensor] =
            TFLInterpreterErrorCodeFailedToCopyDataToInputTensor,
        [TFLSignatureRunnerErrorCodeCopyDataToOutputTensorNotAllowed] =
            TFLInterpreterErrorCodeCopyDataToOutputTensorNotAllowed,
        [TFLSignatureRunnerErrorCodeFailedToGetDataFromTensor] = TFLInterpreterErrorCodeFailedToGetDataFromTensor,
        [TFLSignatureRunnerErrorCodeFailedToAllocateTensors] = TFLInterpreterErrorCodeFailedToAllocateTensors,
    };
    return codes[code];
}

- (struct TFLMessages *)messages
{
    return _messages;
}

// ---- running it ---------------------------------------------------------------------------------

- (NSUInteger)inputTensorCount
{
    return (NSUInteger)TfLiteInterpreterGetInputTensorCount(_interpreter);
}

- (NSUInteger)outputTensorCount
{
    return (NSUInteger)TfLiteInterpreterGetOutputTensorCount(_interpreter);
}

- (BOOL)checkIndex:(NSUInteger)index kind:(NSString *)kind count:(NSUInteger)count error:(NSError **)error
{
    if (index < count) return YES;
    return TFLFail(error, TFLInterpreterErrorDomain, TFLInterpreterErrorCodeInvalidTensorIndex, NULL,
                   @"Invalid %@ tensor index %lu: the model has %lu", kind, (unsigned long)index, (unsigned long)count);
}

- (TFLTensor *)tensorOfInput:(BOOL)isInput index:(NSUInteger)index error:(NSError **)error
{
    const TfLiteTensor *tensor = [self cTensorOfInput:isInput index:index nameInSignature:nil];
    if (!tensor) {
        TFLFail(error, TFLInterpreterErrorDomain, TFLInterpreterErrorCodeFailedToGetTensor, _messages,
                @"Failed to get %@ tensor %lu", isInput ? @"input" : @"output", (unsigned long)index);
        return nil;
    }
    return TFL_AUTORELEASE([[TFLTensor alloc] initWithProvider:self
                                                       isInput:isInput
                                                         index:index
                                               nameInSignature:nil
                                                       cTensor:tensor]);
}

- (TFLTensor *)inputTensorAtIndex:(NSUInteger)index error:(NSError **)error
{
    if (![self checkIndex:index kind:@"input" count:self.inputTensorCount error:error]) return nil;
    return [self tensorOfInput:YES index:index error:error];
}

- (TFLTensor *)outputTensorAtIndex:(NSUInteger)index error:(NSError **)error
{
    if (![self checkIndex:index kind:@"output" count:self.outputTensorCount error:error]) return nil;
    return [self tensorOfInput:NO index:index error:error];
}

- (BOOL)resizeInputTensorAtIndex:(NSUInteger)index toShape:(NSArray<NSNumber *> *)shape error:(NSError **)error
{
    if (![self checkIndex:index kind:@"input" count:self.inputTensorCount error:error]) return NO;
    int *sizes = TFLSizesOfShape(shape);
    if (!sizes)
        return TFLFail(error, TFLInterpreterErrorDomain, TFLInterpreterErrorCodeInvalidShape, NULL,
                       @"Invalid shape %@ for input tensor %lu: sizes are whole numbers from 1 on, at least one",
                       TFLTextOfShape(shape), (unsigned long)index);
    TfLiteStatus status =
        TfLiteInterpreterResizeInputTensor(_interpreter, (int32_t)index, sizes, (int32_t)[shape count]);
    free(sizes);
    if (status != kTfLiteOk)
        return TFLFail(error, TFLInterpreterErrorDomain, TFLInterpreterErrorCodeFailedToResizeInputTensor, _messages,
                       @"Failed to resize input tensor %lu to %@", (unsigned long)index, TFLTextOfShape(shape));
    TFLMessagesFlush(_messages);
    return YES;
}

- (BOOL)allocateTensorsWithError:(NSError **)error
{
    if (TfLiteInterpreterAllocateTensors(_interpreter) != kTfLiteOk)
        return TFLFail(error, TFLInterpreterErrorDomain, TFLInterpreterErrorCodeFailedToAllocateTensors, _messages,
                       @"Failed to allocate memory for tensors");
    TFLMessagesFlush(_messages);
    return YES;
}

- (BOOL)invokeWithError:(NSError **)error
{
    if (TfLiteInterpreterInvoke(_interpreter) != kTfLiteOk)
        return TFLFail(error, TFLInterpreterErrorDomain, TFLInterpreterErrorCodeFailedToInvoke, _messages,
                       @"Failed to invoke the interpreter");
    TFLMessagesFlush(_messages);
    return YES;
}

- (TFLSignatureRunner *)signatureRunnerWithKey:(NSString *)key error:(NSError **)error
{
    return TFL_AUTORELEASE([[TFLSignatureRunner alloc] initWithInterpreter:self signatureKey:key error:error]);
}

@end
