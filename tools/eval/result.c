// SPDX-License-Identifier: Apache-2.0
// See result.h.
#include "eval/result.h"

#include <stdio.h>

#include "wire.h"

static double whole_deviation(const struct hl_stat *microseconds)
{
    return floor(hl_stat_deviation(microseconds));
}

void hl_result_print_latency(const char *name, const struct hl_stat *microseconds, bool deviation)
{
    printf("%s latency: avg=%g(us), std_dev=%.0f(us)\n", name, hl_stat_average(microseconds),
           deviation ? whole_deviation(microseconds) : 0);
}

cJSON *hl_result_latency(const struct hl_stat *microseconds, bool deviation)
{
    cJSON *tree = hl_alloc_check(cJSON_CreateObject());
    if (microseconds->count == 0) return tree;
    cJSON_AddNumberToObject(tree, "last_us", microseconds->last);
    cJSON_AddNumberToObject(tree, "max_us", microseconds->max);
    cJSON_AddNumberToObject(tree, "min_us", microseconds->min);
    cJSON_AddNumberToObject(tree, "sum_us", microseconds->sum);
    cJSON_AddNumberToObject(tree, "avg_us", hl_stat_average(microseconds));
    if (deviation) cJSON_AddNumberToObject(tree, "std_deviation_us", whole_deviation(microseconds));
    return tree;
}

bool hl_result_write(const char *path, int runs, const char *member, cJSON *metrics)
{
    cJSON *tree = hl_alloc_check(cJSON_CreateObject());
    cJSON_AddNumberToObject(tree, "num_runs", runs);
    cJSON_AddItemToObject(hl_alloc_check(cJSON_AddObjectToObject(tree, "process_metrics")), member, metrics);
    bool ok = *path == '\0' || hl_wire_write(path, HL_WIRE_METRICS, tree);
    cJSON_Delete(tree);
    return ok;
}
