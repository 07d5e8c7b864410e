// SPDX-License-Identifier: Apache-2.0
// Metrics: a list that grows by what accelerators append.
#include "litert/c/litert_metrics.h"

#include <limits.h>
#include <stdlib.h>

#include "litert/core/core.h"

struct LiteRtMetricsT {
    int count, capacity;
    LiteRtMetric *metrics; // names, and values that are texts, are copies
};

LiteRtStatus LiteRtCreateMetrics(LiteRtMetrics *metrics)
{
    LITERT_NEED(metrics);
    LiteRtMetrics made = calloc(1, sizeof *made);
    LITERT_MEMORY(made);
    *metrics = made;
    return kLiteRtStatusOk;
}

static void free_metric(LiteRtMetric *metric)
{
    free((char *)metric->name);
    if (metric->value.type == kLiteRtAnyTypeString) free((char *)metric->value.str_value);
}

void LiteRtDestroyMetrics(LiteRtMetrics metrics)
{
    if (!metrics) return;
    for (int i = 0; i < metrics->count; i++) free_metric(&metrics->metrics[i]);
    free(metrics->metrics);
    free(metrics);
}

LITERT_GETTER(LiteRtGetNumMetrics, LiteRtMetrics, int, object->count)

LiteRtStatus LiteRtGetMetric(LiteRtMetrics metrics, int index, LiteRtMetric *metric)
{
    LITERT_NEED(metrics && metric);
    LITERT_INDEX(index, metrics->count);
    *metric = metrics->metrics[index];
    return kLiteRtStatusOk;
}

static bool grow(LiteRtMetrics metrics)
{
    if (metrics->count < metrics->capacity) return true;
    if (metrics->capacity > INT_MAX / 2 / (int)sizeof *metrics->metrics) return false;
    int capacity = metrics->capacity ? 2 * metrics->capacity : 16;
    LiteRtMetric *grown = realloc(metrics->metrics, (size_t)capacity * sizeof *grown);
    if (!grown) return false;
    metrics->metrics = grown;
    metrics->capacity = capacity;
    return true;
}

LiteRtStatus LiteRtAppendMetric(LiteRtMetrics metrics, const LiteRtMetric *metric)
{
    bool is_text = metric && metric->value.type == kLiteRtAnyTypeString;
    LITERT_NEED(metrics && metric && metric->name && (!is_text || metric->value.str_value));
    LITERT_MEMORY(grow(metrics));
    LiteRtMetric copy = *metric;
    copy.name = litert_copy_text(metric->name);
    if (is_text) copy.value.str_value = litert_copy_text(metric->value.str_value);
    if (!copy.name || (is_text && !copy.value.str_value)) {
        free_metric(&copy);
        LITERT_MEMORY(NULL);
    }
    metrics->metrics[metrics->count++] = copy;
    return kLiteRtStatusOk;
}
