// SPDX-License-Identifier: Apache-2.0
// Named values that accelerators tell of their runs.
#ifndef LITERT_C_LITERT_METRICS_H_
#define LITERT_C_LITERT_METRICS_H_

#include "litert/c/litert_any.h"
#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LiteRtMetric {
    const char *name;
    LiteRtAny value;
} LiteRtMetric;

#ifdef __cplusplus
}
#endif

#endif
