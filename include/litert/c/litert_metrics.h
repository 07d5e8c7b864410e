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

LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateMetrics(LiteRtMetrics *metrics);
LITERT_CAPI_EXPORT void LiteRtDestroyMetrics(LiteRtMetrics metrics);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumMetrics(LiteRtMetrics metrics, int *num_metrics);
// Lends name and value until the metrics are destroyed.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetMetric(LiteRtMetrics metrics, int index, LiteRtMetric *metric);
// Copies the metric, texts too.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAppendMetric(LiteRtMetrics metrics, const LiteRtMetric *metric);

#ifdef __cplusplus
}
#endif

#endif
