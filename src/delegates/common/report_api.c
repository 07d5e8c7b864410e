// SPDX-License-Identifier: Apache-2.0
// The functions HaliteDelegateReport… of halite/gpu_delegate.h, which every library with a delegate exports. In: a
// delegate or a report of any such library, or something else. Out: what the owner's own functions answer, see
// report.h; nothing for what is not ours.
#include <string.h>

#include "delegates/common/delegate.h"

// NULL: the delegate is not one of Halite's. A foreign one is read no further than its TfLiteDelegate, unless that is
// the beginning of its private data, too.
static const struct delegate_sign *sign_of(const TfLiteDelegate *tflite)
{
    if (!tflite || tflite->data_ != tflite) return NULL;
    const struct delegate *delegate = tflite->data_;
    bool same = memcmp(delegate->sign.text, DELEGATE_SIGN, sizeof DELEGATE_SIGN) == 0;
    return same ? &delegate->sign : NULL;
}

HaliteDelegateReport *HaliteDelegateReportCreate(const TfLiteDelegate *delegate)
{
    const struct delegate_sign *sign = sign_of(delegate);
    return sign ? sign->report->create(delegate) : NULL;
}

void HaliteDelegateReportDelete(HaliteDelegateReport *report)
{
    if (report) report->functions->destroy(report);
}

const HaliteDevice *HaliteDelegateReportGetDevice(const HaliteDelegateReport *report)
{
    return report ? report->functions->device(report) : NULL;
}

HaliteGpuPrecision HaliteDelegateReportGetPrecision(const HaliteDelegateReport *report)
{
    return report ? report->functions->precision(report) : kHaliteGpuPrecisionDefault;
}

int32_t HaliteDelegateReportGetGraphCount(const HaliteDelegateReport *report)
{
    return report ? report->functions->graph_count(report) : 0;
}

const HaliteDelegateGraph *HaliteDelegateReportGetGraph(const HaliteDelegateReport *report, int32_t index)
{
    return report ? report->functions->graph(report, index) : NULL;
}

int32_t HaliteDelegateReportGetNodeCount(const HaliteDelegateReport *report)
{
    return report ? report->functions->node_count(report) : 0;
}

const HaliteDelegateNode *HaliteDelegateReportGetNode(const HaliteDelegateReport *report, int32_t index)
{
    return report ? report->functions->node(report, index) : NULL;
}

int32_t HaliteDelegateReportGetKernelCount(const HaliteDelegateReport *report)
{
    return report ? report->functions->kernel_count(report) : 0;
}

const HaliteDelegateKernel *HaliteDelegateReportGetKernel(const HaliteDelegateReport *report, int32_t index)
{
    return report ? report->functions->kernel(report, index) : NULL;
}
