// SPDX-License-Identifier: Apache-2.0
// TfLiteXNNPackDelegateOptionsDefault as programs of every release since 2.13 can call it. A function that returns a
// struct writes as many bytes into its caller's memory as it knows of, and these options have grown from 24 bytes to
// 64: returning all of them overwrites the stack of older programs. So this returns the 24 bytes that the oldest of
// them has room for. The convention is the same, for structs of both sizes are returned through a hidden pointer on
// every processor.
//
// All of it is zero, which every release takes for a default: 2.20 put a field in front of the flags, and today's flags
// lie where a program of 2.19 has its pointer to a weights cache. Programs that are built with our header get today's
// values in all fields from there.
//
// This file must not include xnnpack_delegate.h, whose declaration has the whole struct.
#include "tensorflow/lite/core/c/c_api_types.h"

// Three words and a bool in 2.13, the first of them two halves where pointers have 64 bits.
struct oldest_options {
    unsigned char bytes[sizeof(void *) == 8 ? 24 : 16];
};

TFL_CAPI_EXPORT struct oldest_options TfLiteXNNPackDelegateOptionsDefault(void);

struct oldest_options TfLiteXNNPackDelegateOptionsDefault(void)
{
    return (struct oldest_options){{0}};
}
