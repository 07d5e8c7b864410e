// SPDX-License-Identifier: Apache-2.0
// libLiteRtGpuAccelerator: the GPU delegate as an accelerator of LiteRT 2. In: LiteRT's request for a delegate, with a
// table of the runtime's functions. Out: a delegate, and the times of its kernels as metrics. docs/litert.md says how
// LiteRT finds this library and which releases it works with.
//
// Nothing here is kept between calls: LiteRT registers the library once for each environment and asks for a delegate
// once for each compiled model, from any thread.
#include <stdio.h>

#include "base/report.h"
#include "halite/gpu_delegate.h"
#include "litert/accelerator/device.h"
#include "litert/accelerator/options.h"
#include "litert/c/internal/litert_accelerator_def.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

// Whether the runtime that handed over this context has a member: those of later minor versions lie behind its end.
#define HAS(context, member)                                                                                  \
    ((context)->abi_header.struct_size >= offsetof(LiteRtRuntimeContext, member) + sizeof(context)->member && \
     (context)->member)

static bool is_known(const LiteRtRuntimeContext *context)
{
    if (!context) return false;
    if (context->abi_header.major_version == 1 && HAS(context, get_opaque_options) &&
        HAS(context, find_opaque_options_data) && HAS(context, wrap_delegate) && HAS(context, unwrap_delegate))
        return true;
    hl_report(NULL,
              "Halite for LiteRT: the runtime's interface has version %d.%d and %d bytes; this library works with "
              "1.0 and later ones of version 1, from LiteRT 2.2 on",
              context->abi_header.major_version, context->abi_header.minor_version, context->abi_header.struct_size);
    return false;
}

// The payload that options have under an identifier; NULL: none.
static const char *find_payload(const LiteRtRuntimeContext *context, LiteRtOptions options, const char *identifier)
{
    LiteRtOpaqueOptions list = NULL;
    void *payload = NULL;
    if (!options || context->get_opaque_options(options, &list) != kLiteRtStatusOk || !list) return NULL;
    if (context->find_opaque_options_data(list, identifier, &payload) != kLiteRtStatusOk) return NULL;
    return payload;
}

static TfLiteDelegate *create(const struct litert_gpu_options *options, const char *device)
{
    TfLiteGpuDelegateOptionsV2 v2 = TfLiteGpuDelegateOptionsV2Default();
    v2.max_delegated_partitions = options->max_partitions;
    if (!options->quantized) v2.experimental_flags &= ~(int64_t)TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT;
    if (options->cache_folder[0]) {
        v2.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION;
        v2.serialization_dir = options->cache_folder;
        v2.model_token = options->cache_key;
    }
    HaliteGpuDelegateOptions halite = {
        .struct_size = sizeof halite,
        .v2 = &v2,
        .device = device,
        .precision = options->precision,
        .take_small_partitions = options->take_small_partitions,
        .keep_tensor_memory = true, // inputs and outputs get that of LiteRT's buffers
    };
    return HaliteGpuDelegateCreate(&halite);
}

static void delete_delegate(TfLiteOpaqueDelegate *delegate)
{
    TfLiteGpuDelegateV2Delete((TfLiteDelegate *)delegate);
}

// Where the runtime is not one that is known, or has no GPU, the model is left to others: with the CPU allowed LiteRT
// runs it there, and without it refuses the model.
static LiteRtStatus create_delegate(LiteRtRuntimeContext *context, LiteRtEnvironment environment,
                                    LiteRtAccelerator accelerator, LiteRtOptions options,
                                    LiteRtDelegateWrapper *wrapper)
{
    (void)environment;
    (void)accelerator;
    if (!wrapper) return kLiteRtStatusErrorInvalidArgument;
    *wrapper = NULL;
    if (!is_known(context)) return kLiteRtStatusOk;
    struct litert_gpu_options own;
    if (!litert_gpu_options_read(find_payload(context, options, "gpu_options"),
                                 find_payload(context, options, "halite_options"), &own))
        return kLiteRtStatusErrorInvalidArgument;
    char device[LITERT_DEVICE_BYTES];
    if (!litert_device_choose(&own, device)) return kLiteRtStatusOk;
    TfLiteOpaqueDelegate *delegate = (TfLiteOpaqueDelegate *)create(&own, device);
    if (!delegate) return kLiteRtStatusErrorRuntimeFailure;
    LiteRtStatus status = context->wrap_delegate(delegate, delete_delegate, wrapper);
    if (status != kLiteRtStatusOk) delete_delegate(delegate);
    return status;
}

// ---- metrics ------------------------------------------------------------------------------------

static TfLiteDelegate *unwrap(const LiteRtRuntimeContext *context, LiteRtDelegateWrapper wrapper)
{
    TfLiteOpaqueDelegate *delegate = NULL;
    if (!is_known(context) || context->unwrap_delegate(wrapper, &delegate) != kLiteRtStatusOk) return NULL;
    return (TfLiteDelegate *)delegate;
}

// Level 0 counts nodes, from 1 on kernels are timed as well.
static LiteRtStatus start_metrics(LiteRtRuntimeContext *context, LiteRtDelegateWrapper wrapper, int level)
{
    if (level < 0) return kLiteRtStatusErrorInvalidArgument;
    TfLiteDelegate *delegate = unwrap(context, wrapper);
    if (!delegate) return kLiteRtStatusErrorInvalidArgument;
    if (level == 0) return kLiteRtStatusOk;
    return HaliteDelegateSetProfiling(delegate, true, NULL) == kTfLiteOk ? kLiteRtStatusOk
                                                                         : kLiteRtStatusErrorRuntimeFailure;
}

static LiteRtStatus append(const LiteRtRuntimeContext *context, LiteRtMetrics metrics, const char *name, int64_t value)
{
    LiteRtMetric metric = {.name = name, .value = {.type = kLiteRtAnyTypeInt, .int_value = value}};
    return context->append_metric(metrics, &metric);
}

static LiteRtStatus append_node_counts(const LiteRtRuntimeContext *context, LiteRtMetrics metrics,
                                       const HaliteDelegateReport *report)
{
    int64_t nodes = 0, gpu_nodes = 0;
    for (int i = 0; i < HaliteDelegateReportGetGraphCount(report); i++) {
        const HaliteDelegateGraph *graph = HaliteDelegateReportGetGraph(report, i);
        nodes += graph->node_count;
        gpu_nodes += graph->gpu_node_count;
    }
    const HaliteDevice *device = HaliteDelegateReportGetDevice(report);
    char name[64];
    snprintf(name, sizeof name, "nodes on %s", device ? device->name : "no GPU");
    LiteRtStatus status = append(context, metrics, "nodes", nodes);
    return status == kLiteRtStatusOk ? append(context, metrics, name, gpu_nodes) : status;
}

// "CONV_2D 3 conv": operator, node and kernel, as the delegate's telemetry spells it. The mean of all runs, in ns.
static LiteRtStatus append_kernel(const LiteRtRuntimeContext *context, LiteRtMetrics metrics,
                                  const HaliteDelegateKernel *kernel)
{
    char name[256];
    if (kernel->node >= 0)
        snprintf(name, sizeof name, "%s %d %s", kernel->op, (int)kernel->node, kernel->kernel);
    else
        snprintf(name, sizeof name, "%s", kernel->kernel);
    return append(context, metrics, name, (int64_t)(kernel->nanoseconds / kernel->runs));
}

static LiteRtStatus stop_metrics(LiteRtRuntimeContext *context, LiteRtDelegateWrapper wrapper, LiteRtMetrics metrics)
{
    TfLiteDelegate *delegate = unwrap(context, wrapper);
    if (!delegate) return kLiteRtStatusErrorInvalidArgument;
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    if (!report) return kLiteRtStatusErrorMemoryAllocationFailure;
    LiteRtStatus status = kLiteRtStatusOk;
    if (HAS(context, append_metric)) status = append_node_counts(context, metrics, report);
    for (int i = 0; status == kLiteRtStatusOk && i < HaliteDelegateReportGetKernelCount(report); i++) {
        const HaliteDelegateKernel *kernel = HaliteDelegateReportGetKernel(report, i);
        if (HAS(context, append_metric) && kernel->runs) status = append_kernel(context, metrics, kernel);
    }
    HaliteDelegateReportDelete(report);
    HaliteDelegateSetProfiling(delegate, false, NULL);
    return status;
}

// ---- what LiteRT reads --------------------------------------------------------------------------

static LiteRtStatus get_name(LiteRtAccelerator accelerator, const char **name)
{
    (void)accelerator;
    *name = "Halite";
    return kLiteRtStatusOk;
}

static LiteRtStatus get_version(LiteRtAccelerator accelerator, LiteRtApiVersion *version)
{
    (void)accelerator;
    *version = (LiteRtApiVersion){0};
    sscanf(HALITE_VERSION, "%d.%d.%d", &version->major, &version->minor, &version->patch);
    return kLiteRtStatusOk;
}

static LiteRtStatus get_hardware_support(LiteRtAccelerator accelerator, LiteRtHwAcceleratorSet *supported_hardware)
{
    (void)accelerator;
    *supported_hardware = kLiteRtHwAcceleratorGpu;
    return kLiteRtStatusOk;
}

static LiteRtStatus compiles_graphs(LiteRtAccelerator accelerator, bool *does_jit)
{
    (void)accelerator;
    *does_jit = true;
    return kLiteRtStatusOk;
}

LITERT_CAPI_EXPORT extern const LiteRtAcceleratorDef LiteRtAcceleratorImpl;
const LiteRtAcceleratorDef LiteRtAcceleratorImpl = {
    .abi_header = {.struct_size = sizeof(LiteRtAcceleratorDef), .major_version = 1},
    .get_name = get_name,
    .get_version = get_version,
    .get_hardware_support = get_hardware_support,
    .is_tflite_delegate_responsible_for_jit_compilation = compiles_graphs,
    .create_delegate = create_delegate,
    .start_metrics_collection = start_metrics,
    .stop_metrics_collection = stop_metrics,
    .buffer_handlers = {.device_tag = kLiteRtEnvOptionTagNull, .queue_tag = kLiteRtEnvOptionTagNull},
};

// Runtimes that refuse the table above look for this function: those before 2.2, whose tables are others.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRegisterGpuAccelerator(LiteRtEnvironment environment);
LiteRtStatus LiteRtRegisterGpuAccelerator(LiteRtEnvironment environment)
{
    (void)environment;
    hl_report(NULL, "Halite for LiteRT: this runtime does not take accelerators of version 1.0 with a header; "
                    "LiteRT 2.2 and later ones do (pip install 'ai-edge-litert>=2.2')");
    return kLiteRtStatusErrorWrongVersion;
}
