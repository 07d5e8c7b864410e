// SPDX-License-Identifier: Apache-2.0
// See TFLSignatureRunner.h.
#import "TFLSignatureRunner+Internal.h"

#include <stdlib.h>

#import "TFLInterpreter+Internal.h"

NSErrorDomain const TFLSignatureRunnerErrorDomain = @"org.tensorflow.lite.SignatureRunner";

// "'add', 'sub'"; "none" of none
static NSString *quoted(NSArray<NSString *> *names)
{
    return [names count] > 0 ? [NSString stringWithFormat:@"'%@'", [names componentsJoinedByString:@"', '"]] : @"none";
}

@interface TFLSignatureRunner () <TFLTensorProvider>
@end

@implementation TFLSignatureRunner

@synthesize signatureKey = _signatureKey;
@synthesize inputs = _inputs;
@synthesize outputs = _outputs;

- (instancetype)init
{
    TFL_RELEASE(self);
    return nil;
}

+ (instancetype)new
{
    return nil;
}

- (instancetype)initWithInterpreter:(TFLInterpreter *)interpreter signatureKey:(NSString *)key error:(NSError **)error
{
    self = [super init];
    if (!self) return nil;
    _interpreter = TFL_RETAIN(interpreter);
    _signatureKey = [key copy];
    bool known = key && [interpreter.signatureKeys containsObject:key];
    if (known) _runner = TfLiteInterpreterGetSignatureRunner(interpreter.cInterpreter, [key UTF8String]);
    if (!_runner) {
        TFLFail(error, TFLSignatureRunnerErrorDomain, TFLSignatureRunnerErrorCodeFailedToCreateSignatureRunner,
                interpreter.messages, @"Failed to create a runner of the signature '%@': the model has %@", key,
                quoted(interpreter.signatureKeys));
        TFL_RELEASE(self);
        return nil;
    }
    [self readNames];
    TFLMessagesFlush(interpreter.messages);
    // A runner is ready to run. What keeps tensors from their memory now may be a shape that is going to be changed, and
    // is an error of the invocation otherwise.
    (void)TfLiteSignatureRunnerAllocateTensors(_runner);
    interpreter.messages->length = 0;
    return self;
}

- (void)readNames
{
    NSMutableArray<NSString *> *inputs = [[NSMutableArray alloc] init];
    NSMutableArray<NSString *> *outputs = [[NSMutableArray alloc] init];
    int32_t count = (int32_t)TfLiteSignatureRunnerGetInputCount(_runner);
    for (int32_t i = 0; i < count; i++)
        [inputs addObject:TFLStringOfText(TfLiteSignatureRunnerGetInputName(_runner, i))];
    count = (int32_t)TfLiteSignatureRunnerGetOutputCount(_runner);
    for (int32_t i = 0; i < count; i++)
        [outputs addObject:TFLStringOfText(TfLiteSignatureRunnerGetOutputName(_runner, i))];
    _inputs = inputs;
    _outputs = outputs;
}

- (void)dealloc
{
    TfLiteSignatureRunnerDelete(_runner);
    TFL_RELEASE(_interpreter);
    TFL_RELEASE(_signatureKey);
    TFL_RELEASE(_inputs);
    TFL_RELEASE(_outputs);
    TFL_SUPER_DEALLOC;
}

// ---- what tensors ask ---------------------------------------------------------------------------

- (TfLiteTensor *)cTensorOfInput:(BOOL)isInput index:(NSUInteger)index nameInSignature:(NSString *)name
{
    (void)index;
    // The runtime reports a name that it does not know; our own error has the names that there are.
    if (![isInput ? _inputs : _outputs containsObject:name]) return NULL;
    if (isInput) return TfLiteSignatureRunnerGetInputTensor(_runner, [name UTF8String]);
    return (TfLiteTensor *)TfLiteSignatureRunnerGetOutputTensor(_runner, [name UTF8String]);
}

- (NSErrorDomain)errorDomain
{
    return TFLSignatureRunnerErrorDomain;
}

- (NSUInteger)codeOf:(TFLSignatureRunnerErrorCode)code
{
    return code;
}

- (struct TFLMessages *)messages
{
    return _interpreter.messages;
}

// ---- running it ---------------------------------------------------------------------------------

- (TFLTensor *)tensorOfInput:(BOOL)isInput name:(NSString *)name error:(NSError **)error
{
    const TfLiteTensor *tensor = [self cTensorOfInput:isInput index:0 nameInSignature:name];
    if (!tensor) {
        TFLFail(error, TFLSignatureRunnerErrorDomain, TFLSignatureRunnerErrorCodeFailedToGetTensor, self.messages,
                @"Failed to get %@ tensor '%@': signature '%@' has %@", isInput ? @"input" : @"output", name,
                _signatureKey, quoted(isInput ? _inputs : _outputs));
        return nil;
    }
    return TFL_AUTORELEASE([[TFLTensor alloc] initWithProvider:self
                                                       isInput:isInput
                                                         index:0
                                               nameInSignature:name
                                                       cTensor:tensor]);
}

- (TFLTensor *)inputTensorWithName:(NSString *)name error:(NSError **)error
{
    return [self tensorOfInput:YES name:name error:error];
}

- (TFLTensor *)outputTensorWithName:(NSString *)name error:(NSError **)error
{
    return [self tensorOfInput:NO name:name error:error];
}

- (BOOL)resizeInputTensorWithName:(NSString *)name toShape:(NSArray<NSNumber *> *)shape error:(NSError **)error
{
    int *sizes = TFLSizesOfShape(shape);
    if (!sizes)
        return TFLFail(error, TFLSignatureRunnerErrorDomain, TFLSignatureRunnerErrorCodeInvalidShape, NULL,
                       @"Invalid shape %@ for input tensor '%@': sizes are whole numbers from 1 on, at least one",
                       TFLTextOfShape(shape), name);
    TfLiteStatus status =
        TfLiteSignatureRunnerResizeInputTensor(_runner, [name UTF8String], sizes, (int32_t)[shape count]);
    free(sizes);
    if (status != kTfLiteOk)
        return TFLFail(error, TFLSignatureRunnerErrorDomain, TFLSignatureRunnerErrorCodeFailedToResizeInputTensor,
                       self.messages, @"Failed to resize input tensor '%@' to %@", name, TFLTextOfShape(shape));
    TFLMessagesFlush(self.messages);
    return YES;
}

- (BOOL)allocateTensorsWithError:(NSError **)error
{
    if (TfLiteSignatureRunnerAllocateTensors(_runner) != kTfLiteOk)
        return TFLFail(error, TFLSignatureRunnerErrorDomain, TFLSignatureRunnerErrorCodeFailedToAllocateTensors,
                       self.messages, @"Failed to allocate memory for the tensors of signature '%@'", _signatureKey);
    TFLMessagesFlush(self.messages);
    return YES;
}

- (BOOL)invokeWithInputs:(NSDictionary<NSString *, NSData *> *)inputs Error:(NSError **)error
{
    // Of no effect where nothing was resized.
    if (![self allocateTensorsWithError:error]) return NO;
    for (NSString *name in inputs) {
        NSData *data = [inputs objectForKey:name];
        if (![self inputTensorWithName:name error:error] || ![TFLTensor copyData:data
                                                                         toInput:0
                                                                 nameInSignature:name
                                                                        provider:self
                                                                           error:error])
            return NO;
    }
    if (TfLiteSignatureRunnerInvoke(_runner) != kTfLiteOk)
        return TFLFail(error, TFLSignatureRunnerErrorDomain, TFLSignatureRunnerErrorCodeFailedToInvoke, self.messages,
                       @"Failed to invoke the signature '%@'", _signatureKey);
    TFLMessagesFlush(self.messages);
    return YES;
}

@end
