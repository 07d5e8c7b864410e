// SPDX-License-Identifier: Apache-2.0
// See TFLTensor.h. A tensor knows its provider and where it is there; the tensor of the C interface is asked for anew
// for each call.
#import "TFLQuantizationParameters+Internal.h"
#import "TFLTensor+Internal.h"

#include <stdint.h>
#include <string.h>

#include "tensorflow/lite/c/c_api.h"

static TFLTensorDataType data_type_of(TfLiteType type)
{
    switch (type) {
    case kTfLiteFloat32: return TFLTensorDataTypeFloat32;
    case kTfLiteFloat16: return TFLTensorDataTypeFloat16;
    case kTfLiteInt32: return TFLTensorDataTypeInt32;
    case kTfLiteUInt8: return TFLTensorDataTypeUInt8;
    case kTfLiteInt64: return TFLTensorDataTypeInt64;
    case kTfLiteBool: return TFLTensorDataTypeBool;
    case kTfLiteInt16: return TFLTensorDataTypeInt16;
    case kTfLiteInt8: return TFLTensorDataTypeInt8;
    case kTfLiteFloat64: return TFLTensorDataTypeFloat64;
    case kTfLiteBFloat16: return TFLTensorDataTypeBFloat16;
    default: return TFLTensorDataTypeNoType;
    }
}

static bool is_empty(const TfLiteTensor *tensor)
{
    for (int32_t i = 0; i < TfLiteTensorNumDims(tensor); i++)
        if (TfLiteTensorDim(tensor, i) == 0) return true;
    return false;
}

static int32_t integer_at(const uint8_t *bytes, size_t index)
{
    int32_t value;
    memcpy(&value, bytes + index * sizeof value, sizeof value);
    return value;
}

// Whether bytes are that many strings in TensorFlow Lite's packed form: a count n, n + 1 offsets that grow from the end
// of themselves to the size, and the characters; all of the numbers are int32.
static bool holds_strings(const uint8_t *bytes, size_t size, int64_t strings)
{
    if (size > INT32_MAX || size < 2 * sizeof(int32_t)) return false;
    int64_t count = integer_at(bytes, 0);
    if (count != strings || count > (int64_t)(size / sizeof(int32_t)) - 2) return false;
    int64_t before = (count + 2) * (int64_t)sizeof(int32_t);
    if (integer_at(bytes, 1) != before) return false;
    for (int64_t i = 1; i <= count; i++) {
        int64_t offset = integer_at(bytes, (size_t)i + 1);
        if (offset < before) return false;
        before = offset;
    }
    return before == (int64_t)size;
}

static int64_t elements_of(const TfLiteTensor *tensor)
{
    int64_t elements = 1;
    for (int32_t i = 0; i < TfLiteTensorNumDims(tensor); i++) {
        int32_t size = TfLiteTensorDim(tensor, i);
        if (size < 0 || (size > 0 && elements > INT32_MAX / size)) return -1; // more strings than offsets could tell
        elements *= size;
    }
    return elements;
}

// "input tensor 0" or "input tensor 'x'"
static NSString *text_of(BOOL isInput, NSUInteger index, NSString *nameInSignature)
{
    NSString *kind = isInput ? @"input" : @"output";
    if (nameInSignature) return [NSString stringWithFormat:@"%@ tensor '%@'", kind, nameInSignature];
    return [NSString stringWithFormat:@"%@ tensor %lu", kind, (unsigned long)index];
}

@implementation TFLTensor

@synthesize name = _name;
@synthesize dataType = _dataType;
@synthesize quantizationParameters = _quantizationParameters;

- (instancetype)init
{
    TFL_RELEASE(self);
    return nil;
}

- (instancetype)initWithProvider:(id<TFLTensorProvider>)provider
                         isInput:(BOOL)isInput
                           index:(NSUInteger)index
                 nameInSignature:(NSString *)nameInSignature
                         cTensor:(const TfLiteTensor *)cTensor
{
    self = [super init];
    if (!self) return nil;
    _provider = TFL_RETAIN(provider);
    _isInput = isInput;
    _index = index;
    _nameInSignature = [nameInSignature copy];
    _name = [TFLStringOfText(TfLiteTensorName(cTensor)) copy];
    _dataType = data_type_of(TfLiteTensorType(cTensor));
    TfLiteQuantizationParams params = TfLiteTensorQuantizationParams(cTensor);
    if (params.scale != 0)
        _quantizationParameters = [[TFLQuantizationParameters alloc] initWithScale:params.scale
                                                                         zeroPoint:params.zero_point];
    return self;
}

- (void)dealloc
{
    TFL_RELEASE(_provider);
    TFL_RELEASE(_nameInSignature);
    TFL_RELEASE(_name);
    TFL_RELEASE(_quantizationParameters);
    TFL_SUPER_DEALLOC;
}

// The tensor of the C interface, or NULL and an error.
- (const TfLiteTensor *)cTensorWithError:(NSError **)error
{
    const TfLiteTensor *tensor = [_provider cTensorOfInput:_isInput index:_index nameInSignature:_nameInSignature];
    if (!tensor)
        TFLFail(error, _provider.errorDomain, [_provider codeOf:TFLSignatureRunnerErrorCodeFailedToGetTensor],
                _provider.messages, @"Failed to get %@", text_of(_isInput, _index, _nameInSignature));
    return tensor;
}

+ (BOOL)copyData:(NSData *)data
            toInput:(NSUInteger)index
    nameInSignature:(NSString *)nameInSignature
           provider:(id<TFLTensorProvider>)provider
              error:(NSError **)error
{
    NSErrorDomain domain = provider.errorDomain;
    NSString *text = text_of(YES, index, nameInSignature);
    TfLiteTensor *tensor = [provider cTensorOfInput:YES index:index nameInSignature:nameInSignature];
    if (!tensor)
        return TFLFail(error, domain, [provider codeOf:TFLSignatureRunnerErrorCodeFailedToGetTensor], provider.messages,
                       @"Failed to get %@", text);
    NSUInteger length = [data length];
    bool strings = TfLiteTensorType(tensor) == kTfLiteString;
    if (strings && !holds_strings([data bytes], length, elements_of(tensor)))
        return TFLFail(error, domain, [provider codeOf:TFLSignatureRunnerErrorCodeInvalidInputByteSize], NULL,
                       @"Data of %lu bytes for %@ are not %lld strings in TensorFlow Lite's packed form",
                       (unsigned long)length, text, (long long)elements_of(tensor));
    if (!strings && length != TfLiteTensorByteSize(tensor))
        return TFLFail(error, domain, [provider codeOf:TFLSignatureRunnerErrorCodeInvalidInputByteSize], NULL,
                       @"Data of %lu bytes for %@, which takes %lu bytes", (unsigned long)length, text,
                       (unsigned long)TfLiteTensorByteSize(tensor));
    bool copied;
    if (strings) {
        copied = TfLiteTensorRealloc(length, tensor) == kTfLiteOk && TfLiteTensorData(tensor);
        if (copied) memcpy(TfLiteTensorData(tensor), [data bytes], length);
    } else {
        copied = length == 0 ||
                 (TfLiteTensorData(tensor) && TfLiteTensorCopyFromBuffer(tensor, [data bytes], length) == kTfLiteOk);
    }
    if (!copied)
        return TFLFail(error, domain, [provider codeOf:TFLSignatureRunnerErrorCodeFailedToCopyDataToInputTensor],
                       provider.messages, @"Failed to copy %lu bytes to %@: it has no memory; allocate tensors first",
                       (unsigned long)length, text);
    return YES;
}

- (BOOL)copyData:(NSData *)data error:(NSError **)error
{
    if (!_isInput)
        return TFLFail(error, _provider.errorDomain,
                       [_provider codeOf:TFLSignatureRunnerErrorCodeCopyDataToOutputTensorNotAllowed], NULL,
                       @"Cannot copy data to %@: data goes into inputs alone",
                       text_of(_isInput, _index, _nameInSignature));
    return [TFLTensor copyData:data toInput:_index nameInSignature:_nameInSignature provider:_provider error:error];
}

- (NSData *)dataWithError:(NSError **)error
{
    const TfLiteTensor *tensor = [self cTensorWithError:error];
    if (!tensor) return nil;
    const void *bytes = TfLiteTensorData(tensor);
    if (!bytes && !is_empty(tensor)) {
        TFLFail(error, _provider.errorDomain, [_provider codeOf:TFLSignatureRunnerErrorCodeFailedToGetDataFromTensor],
                _provider.messages, @"Failed to get data from %@: it has no memory; %@",
                text_of(_isInput, _index, _nameInSignature),
                _isInput ? @"allocate tensors first" : @"allocate tensors and invoke first");
        return nil;
    }
    return [NSData dataWithBytes:bytes length:bytes ? TfLiteTensorByteSize(tensor) : 0];
}

- (NSArray<NSNumber *> *)shapeWithError:(NSError **)error
{
    const TfLiteTensor *tensor = [self cTensorWithError:error];
    if (!tensor) return nil;
    int32_t rank = TfLiteTensorNumDims(tensor);
    if (rank < 0) {
        TFLFail(error, _provider.errorDomain, [_provider codeOf:TFLSignatureRunnerErrorCodeInvalidTensor],
                _provider.messages, @"The shape of %@ is not known before an invocation",
                text_of(_isInput, _index, _nameInSignature));
        return nil;
    }
    NSMutableArray<NSNumber *> *shape = [NSMutableArray arrayWithCapacity:(NSUInteger)rank];
    for (int32_t i = 0; i < rank; i++) [shape addObject:[NSNumber numberWithInt:TfLiteTensorDim(tensor, i)]];
    return shape;
}

@end
