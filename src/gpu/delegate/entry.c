// SPDX-License-Identifier: Apache-2.0
// The C interfaces of the GPU delegate: version 2, Halite's own, the older ones for OpenGL and OpenCL, the one for
// Metal, and two plug-in interfaces. All of them create the same object from different options. Nothing here needs a
// symbol of the runtime. The functions for the report and for devices are in report_api.c and device_list.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TFLITE_GPU_NO_OPTIONS_BY_VALUE
#include "gpu/delegate/delegate.h"
#include "tensorflow/lite/acceleration/configuration/c/gpu_plugin.h"
#include "tensorflow/lite/delegates/gpu/cl/gpu_api_delegate.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"
#include "tensorflow/lite/delegates/gpu/gl_delegate.h"
#include "tensorflow/lite/delegates/gpu/metal_delegate.h"
#include "tensorflow/lite/delegates/gpu/metal_delegate_internal.h"

// ---- the object ---------------------------------------------------------------------------------

struct gpu_delegate *gpu_delegate_create(struct gpu_options *options)
{
    struct gpu_delegate *delegate = calloc(1, sizeof *delegate);
    if (delegate && hl_mutex_init(&delegate->mutex)) {
        delegate->engine = gpu_engine_create(options);
        if (delegate->engine) {
            delegate->tflite = (TfLiteDelegate){.data_ = delegate, .Prepare = gpu_delegate_prepare};
            return delegate;
        }
        hl_mutex_destroy(&delegate->mutex);
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
    gpu_report_free(&delegate->report);
    hl_mutex_destroy(&delegate->mutex);
    free(delegate);
}

struct gpu_delegate *gpu_delegate_of(const TfLiteDelegate *delegate)
{
    return delegate && delegate->Prepare == gpu_delegate_prepare ? delegate->data_ : NULL;
}

static TfLiteDelegate *create(bool options_are_there, struct gpu_options *options)
{
    if (!options_are_there) {
        hl_report(NULL, "TfLiteGpuDelegate: out of memory");
        return NULL;
    }
    struct gpu_delegate *delegate = gpu_delegate_create(options);
    return delegate ? &delegate->tflite : NULL;
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
    (void)options;
    hl_report(NULL, "TfLiteGpuDelegateV2CreateAsync: memory shared between devices exists on Android only");
    return NULL;
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
    (void)delegate;
    hl_report(NULL,
              "TfLiteGpuDelegate: buffer %u for tensor %d: buffers of the application are not taken; "
              "copy to and from the tensor",
              buffer, tensor_index);
    return kTfLiteError;
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
    return TfLiteGpuDelegateV2Create(&v2);
}

void TfLiteGpuDelegateDelete_New(TfLiteDelegate *delegate)
{
    destroy(delegate);
}

TfLiteStatus TfLiteGpuDelegateBindGlBufferToTensor(TfLiteDelegate *delegate, GLuint buffer_id, int tensor_index,
                                                   TfLiteType data_type, TfLiteGpuDataLayout data_layout)
{
    (void)data_type;
    (void)data_layout;
    return TfLiteGpuDelegateBindBufferToTensor(delegate, buffer_id, tensor_index);
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

bool TFLGpuDelegateBindMetalBufferToTensor(TfLiteDelegate *delegate, int tensor_index, TFLGpuMetalBuffer metal_buffer)
{
    (void)delegate;
    (void)metal_buffer;
    hl_report(NULL, "TFLGpuDelegateBindMetalBufferToTensor: tensor %d: this library has no Metal backend",
              tensor_index);
    return false;
}

bool TFLGpuDelegateSetCommandBuffer(TfLiteDelegate *delegate, TFLGpuMetalCommandBuffer command_buffer)
{
    (void)delegate;
    (void)command_buffer;
    hl_report(NULL, "TFLGpuDelegateSetCommandBuffer: this library has no Metal backend");
    return false;
}

// ---- plug-in ------------------------------------------------------------------------------------

// Passes messages to the function of the loader, which takes plain text.
struct loader {
    void (*report_error)(const char *);
};

static void write_to_loader(void *user_data, const char *format, va_list args)
{
    const struct loader *loader = user_data;
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    loader->report_error(text);
}

TfLiteDelegate *tflite_plugin_create_delegate(const char *const *options_keys, const char *const *options_values,
                                              size_t num_options, void (*report_error)(const char *))
{
    struct loader loader = {report_error};
    struct hl_reporter reporter = {report_error ? write_to_loader : NULL, &loader};
    struct gpu_options own;
    if (!gpu_options_from_keys(options_keys, options_values, num_options, &reporter, &own)) return NULL;
    return create(true, &own);
}

void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate)
{
    destroy(delegate);
}

// ---- plug-in of another kind: a table of functions ----------------------------------------------

static TfLiteDelegate *create_from_settings(const void *tflite_settings)
{
    if (tflite_settings)
        hl_report(NULL, "TfLiteGpuDelegatePluginCApi: settings are not read; the delegate has the default options");
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
