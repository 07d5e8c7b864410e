// SPDX-License-Identifier: Apache-2.0
// The C interfaces of the GPU delegate: version 2, Halite's own, the older ones for OpenGL and OpenCL, the one for
// Metal, and two plug-in interfaces. All of them create the same object from different options. Nothing here needs a
// symbol of the runtime. The functions for the report are in delegates/common/report_api.c, those for devices in
// device_list.c,
// those for Metal's objects in metal_objects.c.
#include <stdlib.h>
#include <string.h>

#define TFLITE_GPU_NO_OPTIONS_BY_VALUE
#include "delegates/common/plugin.h"
#include "gpu/delegate/hardware_buffer.h"
#include "gpu/delegate/part.h"
#include "tensorflow/lite/acceleration/configuration/c/gpu_plugin.h"
#include "tensorflow/lite/delegates/gpu/cl/gpu_api_delegate.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"
#include "tensorflow/lite/delegates/gpu/gl_delegate.h"
#include "tensorflow/lite/delegates/gpu/metal_delegate.h"

// ---- the object ---------------------------------------------------------------------------------

static enum delegate_state check_options(struct delegate *delegate, TfLiteContext *context, char *why, size_t size)
{
    const char *problem = ((struct gpu_delegate *)delegate)->engine->options.problem;
    (void)why;
    (void)size;
    if (!problem) return DELEGATE_READY;
    context->ReportError(context, "TfLiteGpuDelegate Init: %s", problem);
    return DELEGATE_FAILED;
}

const struct delegate_kind gpu_delegate_kind = {
    .name = "TfLiteGpuDelegate",
    .is_gpu = true,
    .open = check_options, // the device is opened where nodes are claimed
    .makes_constant = gpu_makes_constant,
    .supported = gpu_supported,
    .cost = gpu_partition_cost,
    .ready = gpu_claim_ready,
    .done = gpu_claim_done,
    .create = gpu_kernel_create,
    .prepare = gpu_kernel_prepare,
    .invoke = gpu_kernel_invoke,
    .destroy = gpu_kernel_destroy,
    .async_kernel = gpu_kernel_async,
    .describe = gpu_describe,
};

struct gpu_delegate *gpu_delegate_create(struct gpu_options *options)
{
    struct gpu_delegate *delegate = calloc(1, sizeof *delegate);
    if (delegate && delegate_init(&delegate->base, &gpu_delegate_kind)) {
        delegate->base.node_name = options->node_name;
        delegate->base.tflite.CopyFromBufferHandle = gpu_copy_from_handle;
        delegate->base.tflite.CopyToBufferHandle = gpu_copy_to_handle;
        delegate->base.tflite.FreeBufferHandle = gpu_free_handle;
        delegate->base.max_partitions = options->max_partitions;
        delegate->engine = gpu_engine_create(options);
        if (delegate->engine) return delegate;
        delegate_end(&delegate->base);
    }
    free(delegate);
    gpu_options_free(options);
    hl_report(NULL, "TfLiteGpuDelegate: out of memory");
    return NULL;
}

void gpu_delegate_destroy(struct gpu_delegate *delegate)
{
    if (!delegate) return;
    gpu_engine_release(delegate->engine);
    delegate_end(&delegate->base);
    free(delegate);
}

static TfLiteDelegate *create(bool options_are_there, struct gpu_options *options)
{
    if (!options_are_there) {
        hl_report(NULL, "TfLiteGpuDelegate: out of memory");
        return NULL;
    }
    struct gpu_delegate *delegate = gpu_delegate_create(options);
    return delegate ? &delegate->base.tflite : NULL;
}

static void destroy(TfLiteDelegate *delegate)
{
    gpu_delegate_destroy(gpu_delegate_of(delegate));
}

// ---- version 2 ----------------------------------------------------------------------------------

TfLiteDelegate *TfLiteGpuDelegateV2Create(const TfLiteGpuDelegateOptionsV2 *options)
{
    struct gpu_options own;
    return create(gpu_options_from_v2(options, &own), &own);
}

TfLiteDelegate *TfLiteGpuDelegateV2CreateAsync(const TfLiteGpuDelegateOptionsV2 *options)
{
    struct gpu_options own;
    if (!gpu_hardware_buffers_exist()) {
        hl_report(NULL, "TfLiteGpuDelegateV2CreateAsync: memory shared between devices exists on Android only");
        return NULL;
    }
    bool there = gpu_options_from_v2(options, &own);
    // Of the devices that are to be had it has to be one that takes such memory.
    if (there && !own.backend[0]) strcpy(own.backend, "vulkan");
    return create(there, &own);
}

void TfLiteGpuDelegateV2Delete(TfLiteDelegate *delegate)
{
    destroy(delegate);
}

// ---- Halite's -----------------------------------------------------------------------------------

TfLiteDelegate *HaliteGpuDelegateCreate(const HaliteGpuDelegateOptions *options)
{
    struct gpu_options own;
    return gpu_options_from_halite(options, NULL, &own) ? create(true, &own) : NULL;
}

// ---- the older one, for OpenGL ------------------------------------------------------------------

TfLiteDelegate *TfLiteGpuDelegateCreate(const TfLiteGpuDelegateOptions *options)
{
    struct gpu_options own;
    return create(gpu_options_from_gl(options, &own), &own);
}

void TfLiteGpuDelegateDelete(TfLiteDelegate *delegate)
{
    destroy(delegate);
}

TfLiteStatus TfLiteGpuDelegateBindBufferToTensor(TfLiteDelegate *delegate, GLuint buffer, int tensor_index)
{
    return TfLiteGpuDelegateBindGlBufferToTensor(delegate, buffer, tensor_index, kTfLiteFloat32,
                                                 TFLITE_GPU_DATA_LAYOUT_BHWC);
}

const uint8_t *TfLiteGpuDelegateGetModelMetadata(const void *tflite_model)
{
    (void)tflite_model; // plans are made from the model itself, so no metadata is ever needed
    return NULL;
}

// ---- the older one, for OpenCL ------------------------------------------------------------------

TfLiteDelegate *TfLiteGpuDelegateCreate_New(const TfLiteGpuDelegateOptions_New *options)
{
    TfLiteGpuDelegateOptionsV2 v2 = TfLiteGpuDelegateOptionsV2Default();
    if (options && options->compile_options.precision_loss_allowed) {
        v2.inference_priority1 = options->compile_options.inference_priority;
        if (v2.inference_priority1 == TFLITE_GPU_INFERENCE_PRIORITY_AUTO)
            v2.inference_priority1 = TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY;
    }
    struct gpu_options own;
    bool there = gpu_options_from_v2(&v2, &own);
    if (there && options) {
        own.egl_display = options->egl_display;
        own.egl_context = options->egl_context;
    }
    return create(there, &own);
}

void TfLiteGpuDelegateDelete_New(TfLiteDelegate *delegate)
{
    destroy(delegate);
}

TfLiteStatus TfLiteGpuDelegateBindGlBufferToTensor(TfLiteDelegate *delegate, GLuint buffer_id, int tensor_index,
                                                   TfLiteType data_type, TfLiteGpuDataLayout data_layout)
{
    bool bytes = data_type == kTfLiteInt8 || data_type == kTfLiteUInt8;
    if (!bytes && data_type != kTfLiteFloat32 && data_type != kTfLiteFloat16) {
        hl_report(NULL, "TfLiteGpuDelegateBindGlBufferToTensor: tensor %d: buffers have floats, halves or bytes",
                  tensor_index);
        return kTfLiteError;
    }
    HaliteGpuBuffer buffer = {
        .struct_size = sizeof buffer,
        .api = kHaliteGpuApiOpenGlEs,
        .element = bytes                         ? kHaliteGpuElementBytes
                   : data_type == kTfLiteFloat16 ? kHaliteGpuElementFloat16
                                                 : kHaliteGpuElementFloat32,
        .layout = (HaliteGpuLayout)data_layout, // the same numbers
        .handle = buffer_id,
    };
    if (!gpu_buffers_take_context(delegate)) return kTfLiteError;
    return HaliteDelegateBindBuffer(delegate, tensor_index, &buffer);
}

bool TfLiteGpuDelegateGetSerializedBinaryCache(TfLiteDelegate *delegate, size_t *size, const uint8_t **data)
{
    (void)delegate;
    if (size) *size = 0;
    if (data) *data = NULL;
    return false;
}

// ---- for Metal ----------------------------------------------------------------------------------

TfLiteDelegate *TFLGpuDelegateCreate(const TFLGpuDelegateOptions *options)
{
    struct gpu_options own;
    return create(gpu_options_from_metal(options, &own), &own);
}

TfLiteDelegate *TFLGPUDelegateCreate(const TFLGpuDelegateOptions *options)
{
    return TFLGpuDelegateCreate(options);
}

void TFLGpuDelegateDelete(TfLiteDelegate *delegate)
{
    destroy(delegate);
}

// ---- plug-in ------------------------------------------------------------------------------------

static TfLiteDelegate *create_from_keys(const char *const *keys, const char *const *values, size_t count,
                                        const struct hl_reporter *reporter)
{
    struct gpu_options own;
    return gpu_options_from_keys(keys, values, count, reporter, &own) ? create(true, &own) : NULL;
}

TfLiteDelegate *tflite_plugin_create_delegate(const char *const *options_keys, const char *const *options_values,
                                              size_t num_options, void (*report_error)(const char *))
{
    return delegate_plugin_create(options_keys, options_values, num_options, report_error, create_from_keys);
}

void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate)
{
    destroy(delegate);
}

// ---- plug-in of another kind: a table of functions ----------------------------------------------

static TfLiteDelegate *create_from_settings(const void *tflite_settings)
{
    delegate_plugin_skip_settings("TfLiteGpuDelegatePluginCApi", tflite_settings);
    return TfLiteGpuDelegateV2Create(NULL);
}

static int no_errno(TfLiteDelegate *delegate)
{
    (void)delegate;
    return 0;
}

const TfLiteDelegatePlugin *TfLiteGpuDelegatePluginCApi(void)
{
    static const TfLiteDelegatePlugin plugin = {create_from_settings, destroy, no_errno};
    return &plugin;
}
