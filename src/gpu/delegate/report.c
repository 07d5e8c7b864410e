// SPDX-License-Identifier: Apache-2.0
// See report.h, and describe of struct delegate_kind.
#include "gpu/delegate/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "gpu/delegate/delegate.h"
#include "gpu/graph/op.h"

// ---- what only the engine knows -----------------------------------------------------------------

static bool copy_profiles(HaliteDelegateReport *report, const struct gpu_profiles *from)
{
    size_t count = 1;
    for (const struct gpu_profile *profile = from->first; profile; profile = profile->next)
        count += (size_t)profile->plan->step_count;
    report->kernels = calloc(count, sizeof *report->kernels);
    if (!report->kernels) return false;
    for (const struct gpu_profile *profile = from->first; profile; profile = profile->next)
        for (int i = 0; i < profile->plan->step_count; i++) {
            const struct gpu_plan_step *step = &profile->plan->steps[i];
            report->kernels[report->kernel_count++] = (HaliteDelegateKernel){
                .graph = profile->graph,
                .partition = profile->partition,
                .node = step->node ? step->node->index : -1,
                .op = step->node ? gpu_node_name(step->node) : "",
                .kernel = step->kernel->name,
                .runs = profile->runs,
                .nanoseconds = profile->sums[i],
            };
        }
    return true;
}

static bool copy_device(HaliteDelegateReport *report, const struct gpu_engine *engine)
{
    const struct gpu_device_info *info = gpu_engine_info(engine);
    if (!info) return true;
    struct gpu_device_info *own = report->device_texts = malloc(sizeof *own);
    if (!own) return false;
    *own = *info;
    report->device = gpu_public_device(own);
    report->precision = kHaliteGpuPrecisionF32 + engine->precision;
    return true;
}

bool gpu_describe(struct delegate *delegate, HaliteDelegateReport *report)
{
    struct gpu_engine *engine = ((struct gpu_delegate *)delegate)->engine;
    gpu_engine_enter(engine, NULL, "Report");
    bool ok = copy_profiles(report, &engine->profiles) && copy_device(report, engine);
    gpu_engine_leave(engine);
    return ok;
}

// ---- the message --------------------------------------------------------------------------------

static bool is_unsupported(const struct delegate_row *row)
{
    enum delegate_reason_code code = row->reason.code;
    return code != DELEGATE_OK && code != DELEGATE_PARTITION && code != DELEGATE_COST && code != DELEGATE_FOLDED &&
           code != DELEGATE_DEVICE && code != DELEGATE_REFUSED;
}

static bool is_repeated(const struct delegate_row *rows, int row)
{
    for (int i = 0; i < row; i++)
        if (is_unsupported(&rows[i]) && strcmp(rows[i].op, rows[row].op) == 0 &&
            strcmp(rows[i].reason.text, rows[row].reason.text) == 0)
            return true;
    return false;
}

char *gpu_support_text(const struct delegate_row *rows, int count)
{
    struct hl_text text = {0};
    int unsupported = 0, on_gpu = 0;
    hl_text_append(&text, "Following operations are not supported by GPU delegate:\n");
    for (int i = 0; i < count; i++) {
        on_gpu += rows[i].reason.code == DELEGATE_OK;
        if (!is_unsupported(&rows[i])) continue;
        unsupported++;
        if (!is_repeated(rows, i)) hl_text_append(&text, "%s: %s\n", rows[i].op, rows[i].reason.text);
    }
    if (on_gpu > 0)
        hl_text_append(&text, "%d operations will run on the GPU, and the remaining %d operations will run on the CPU.",
                       on_gpu, count - on_gpu);
    else
        hl_text_append(&text, "No operations will run on the GPU, and all %d operations will run on the CPU.", count);
    if (unsupported > 0) return hl_text_take(&text);
    hl_text_free(&text);
    return NULL;
}
