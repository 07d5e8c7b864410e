// SPDX-License-Identifier: Apache-2.0
// See TFLSupport.h.
#import "TFLSupport.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#import "../apis/TFLTensorFlowLite.h"

#include "tensorflow/lite/version.h"

NSString *const TFLVersion = @TFLITE_VERSION_STRING;
NSErrorDomain const TFLInterpreterErrorDomain = @"org.tensorflow.lite.interpreter";

void TFLMessagesAdd(void *user_data, const char *format, va_list arguments)
{
    struct TFLMessages *messages = user_data;
    size_t room = sizeof messages->text - messages->length;
    const char *separator = messages->length > 0 ? "\n" : "";
    if (room < 3) return;
    if (*separator) {
        messages->text[messages->length++] = *separator;
        room--;
    }
    int length = vsnprintf(messages->text + messages->length, room, format, arguments);
    if (length > 0) messages->length += (size_t)length < room ? (size_t)length : room - 1;
}

void TFLMessagesFlush(struct TFLMessages *messages)
{
    if (messages->length > 0) NSLog(@"TensorFlow Lite: %@", TFLStringOfText(messages->text));
    messages->length = 0;
}

BOOL TFLFail(NSError **error, NSErrorDomain domain, NSUInteger code, struct TFLMessages *messages, NSString *format,
             ...)
{
    va_list arguments;
    va_start(arguments, format);
    NSString *description = TFL_AUTORELEASE([[NSString alloc] initWithFormat:format arguments:arguments]);
    va_end(arguments);
    if (messages && messages->length > 0) {
        description = [description stringByAppendingFormat:@": %@", TFLStringOfText(messages->text)];
        messages->length = 0;
    }
    if (error) {
        NSDictionary *info = [NSDictionary dictionaryWithObject:description forKey:NSLocalizedDescriptionKey];
        *error = [NSError errorWithDomain:domain code:(NSInteger)code userInfo:info];
    }
    return NO;
}

int *TFLSizesOfShape(NSArray<NSNumber *> *shape)
{
    NSUInteger rank = [shape count];
    int *sizes = rank > 0 && rank < INT_MAX ? calloc(rank, sizeof *sizes) : NULL;
    if (!sizes) return NULL;
    for (NSUInteger i = 0; i < rank; i++) {
        double size = [[shape objectAtIndex:i] doubleValue];
        if (!(size >= 1 && size <= INT_MAX) || size != (int)size) {
            free(sizes);
            return NULL;
        }
        sizes[i] = (int)size;
    }
    return sizes;
}

NSString *TFLTextOfShape(NSArray<NSNumber *> *shape)
{
    return [NSString stringWithFormat:@"[%@]", [shape componentsJoinedByString:@", "]];
}

NSString *TFLStringOfText(const char *text)
{
    NSString *string = text ? [NSString stringWithUTF8String:text] : nil;
    return string ? string : @"";
}
