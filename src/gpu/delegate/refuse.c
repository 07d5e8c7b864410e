// SPDX-License-Identifier: Apache-2.0
// See refuse.h.
#include "gpu/delegate/refuse.h"

#include <stdlib.h>

#include "gpu/plan/plan.h"

bool gpu_checks_begin(struct gpu_checks *checks, struct gpu_graph *graph)
{
    *checks = (struct gpu_checks){.items = calloc((size_t)graph->node_count + 1, sizeof *checks->items)};
    if (!checks->items) return false;
    for (int n = 0; n < graph->node_count; n++) {
        const struct gpu_node *node = graph->nodes[n];
        struct gpu_value_check check = {0};
        if (node->dead || !node->op->check || !node->op->check(node, &check)) continue;
        struct gpu_value *value = graph->values[check.value->id];
        if (value->data) continue; // constants are checked before a node is claimed
        if (!value->is_input && !value->is_output) value->is_output = value->is_checked = true;
        checks->items[checks->count++] = (struct gpu_check_item){node, check};
    }
    return true;
}

void gpu_checks_end(struct gpu_checks *checks)
{
    free(checks->items);
    *checks = (struct gpu_checks){0};
}

static float real_at(const struct gpu_value *value, const void *data, int64_t i)
{
    const struct gpu_quantization *q = &value->quantization;
    if (!gpu_caller_has_bytes(value)) return ((const float *)data)[i];
    int stored = q->type == kTfLiteInt8 ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
    return q->scale * (float)(stored - q->zero_point);
}

static bool is_fine(const struct gpu_value_check *check, int64_t i, float real)
{
    switch (check->rule) {
    case GPU_CHECK_INDICES: return real > -1 && real < (float)check->lengths[i % check->axes];
    case GPU_CHECK_NOT_ZERO: return real != 0;
    default: return real >= 0;
    }
}

static bool complain(const struct gpu_check_item *item, int64_t i, float real, const struct hl_reporter *reporter)
{
    const struct gpu_value_check *check = &item->check;
    const char *op = item->node->op->name;
    int node = item->node->index;
    switch (check->rule) {
    case GPU_CHECK_INDICES:
        hl_report(reporter, "%s (node %d): index %.0f of an axis of length %d: element %lld of input %d", op, node,
                  (double)real, check->lengths[i % check->axes], (long long)i, check->input);
        break;
    case GPU_CHECK_NOT_ZERO:
        hl_report(reporter, "%s (node %d): division by zero: element %lld of input %d", op, node, (long long)i,
                  check->input);
        break;
    case GPU_CHECK_BOXES: hl_report(reporter, "%s (node %d): box %.0f has no area", op, node, -1 - (double)real); break;
    default:
        hl_report(reporter, "%s (node %d): element %lld of input %d is negative", op, node, (long long)i, check->input);
    }
    return false;
}

bool gpu_checks_concern(const struct gpu_checks *checks, const struct gpu_value *value)
{
    bool concern = false;
    for (int n = 0; n < checks->count; n++) concern = concern || checks->items[n].check.value == value;
    return concern;
}

bool gpu_checks_hold(const struct gpu_checks *checks, const struct gpu_value *value, const void *data,
                     const struct hl_reporter *reporter)
{
    for (int n = 0; n < checks->count; n++) {
        const struct gpu_check_item *item = &checks->items[n];
        if (item->check.value != value) continue;
        int64_t count = gpu_elements(value->shape);
        for (int64_t i = 0; i < count; i++) {
            float real = real_at(value, data, i);
            if (!is_fine(&item->check, i, real)) return complain(item, i, real, reporter);
        }
    }
    return true;
}
