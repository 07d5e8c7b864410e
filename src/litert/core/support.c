// SPDX-License-Identifier: Apache-2.0
// See core.h: messages, texts, layouts.
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "litert/core/core.h"

LiteRtStatus litert_fail(LiteRtStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_report_va(NULL, format, args);
    va_end(args);
    return status;
}

char *litert_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

static LiteRtStatus fill_layout(const TfLiteTensor *tensor, const TfLiteIntArray *dims, LiteRtLayout *layout)
{
    int rank = dims ? dims->size : 0;
    if (rank > LITERT_TENSOR_MAX_RANK)
        return litert_fail(kLiteRtStatusErrorUnsupported, "tensor %s has %d dimensions, LiteRT's layouts have %d",
                           tensor->name ? tensor->name : "", rank, LITERT_TENSOR_MAX_RANK);
    *layout = (LiteRtLayout){.rank = (unsigned)rank & 0x7fu};
    for (int i = 0; i < rank; i++) layout->dimensions[i] = dims->data[i];
    return kLiteRtStatusOk;
}

LiteRtStatus litert_model_layout(const TfLiteTensor *tensor, LiteRtLayout *layout)
{
    bool open = tensor->dims_signature && tensor->dims_signature->size > 0;
    return fill_layout(tensor, open ? tensor->dims_signature : tensor->dims, layout);
}

LiteRtStatus litert_present_layout(const TfLiteTensor *tensor, LiteRtLayout *layout)
{
    return fill_layout(tensor, tensor->dims, layout);
}
