// SPDX-License-Identifier: Apache-2.0
// A value of one of several types: of an environment's option, of a metric.
#ifndef LITERT_C_LITERT_ANY_H_
#define LITERT_C_LITERT_ANY_H_

#include <stdbool.h>
#include <stdint.h>

// The union below has no name, which C99 lacks and every compiler has.
#if defined(__GNUC__)
#define LITERT_NAMELESS __extension__
#else
#define LITERT_NAMELESS
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LiteRtAnyType {
    kLiteRtAnyTypeNone = 0,
    kLiteRtAnyTypeBool = 1,
    kLiteRtAnyTypeInt = 2,
    kLiteRtAnyTypeReal = 3,
    kLiteRtAnyTypeString = 8,
    kLiteRtAnyTypeVoidPtr = 9
} LiteRtAnyType;

typedef struct LiteRtAny {
    LiteRtAnyType type;
    LITERT_NAMELESS union {
        bool bool_value;       // kLiteRtAnyTypeBool
        int64_t int_value;     // kLiteRtAnyTypeInt
        double real_value;     // kLiteRtAnyTypeReal
        const char *str_value; // kLiteRtAnyTypeString; ends with a zero byte
        const void *ptr_value; // kLiteRtAnyTypeVoidPtr
    };
} LiteRtAny;

#ifdef __cplusplus
}
#endif

#endif
