// SPDX-License-Identifier: Apache-2.0
// See options.h. The precision follows from the position of MAX_PRECISION among the three priorities:
//   first: f32      second: f16s (halves in memory, float arithmetic)      third: f16 (half arithmetic, float sums)
#include "gpu/delegate/options.h"

#include <stdlib.h>
#include <string.h>

#include "delegates/common/options.h"
#include "gpu/backend/devices.h"

TfLiteGpuDelegateOptionsV2 TfLiteGpuDelegateOptionsV2Default(void)
{
    return (TfLiteGpuDelegateOptionsV2){
        .is_precision_loss_allowed = -1,
        .inference_preference = TFLITE_GPU_INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER,
        .inference_priority1 = TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION,
        .inference_priority2 = TFLITE_GPU_INFERENCE_PRIORITY_AUTO,
        .inference_priority3 = TFLITE_GPU_INFERENCE_PRIORITY_AUTO,
        .experimental_flags = TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT,
        .max_delegated_partitions = 1,
    };
}

TfLiteGlCompileOptions TfLiteGlCompileOptionsDefault(void)
{
    return (TfLiteGlCompileOptions){0};
}

TfLiteGpuDelegateOptions TfLiteGpuDelegateOptionsDefault(void)
{
    return (TfLiteGpuDelegateOptions){.compile_options = TfLiteGlCompileOptionsDefault()};
}

TFLGpuDelegateOptions TFLGpuDelegateOptionsDefault(void)
{
    return (TFLGpuDelegateOptions){.wait_type = TFLGpuDelegateWaitTypePassive, .enable_quantization = true};
}

// ---- priorities ---------------------------------------------------------------------------------

enum {
    AUTO = TFLITE_GPU_INFERENCE_PRIORITY_AUTO,
    PRECISION = TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION,
    LATENCY = TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY,
    MEMORY = TFLITE_GPU_INFERENCE_PRIORITY_MIN_MEMORY_USAGE
};

static bool priorities_are_valid(const int priorities[3])
{
    for (int i = 0; i < 3; i++)
        if (priorities[i] < AUTO || priorities[i] > MEMORY) return false;
    if (priorities[0] == AUTO || (priorities[1] == AUTO && priorities[2] != AUTO)) return false;
    if (priorities[0] == priorities[1] || priorities[0] == priorities[2]) return false;
    return priorities[1] == AUTO || priorities[1] != priorities[2];
}

// Replaces AUTO. Latency is followed by memory, memory by precision and precision by latency; what is left comes last.
static void resolve_auto(int priorities[3])
{
    if (priorities[1] == AUTO)
        priorities[1] = priorities[0] == LATENCY ? MEMORY : priorities[0] == MEMORY ? PRECISION : LATENCY;
    if (priorities[2] == AUTO) priorities[2] = PRECISION + LATENCY + MEMORY - priorities[0] - priorities[1];
}

static void apply_priorities(const TfLiteGpuDelegateOptionsV2 *from, struct gpu_options *options)
{
    int priorities[3] = {from->inference_priority1, from->inference_priority2, from->inference_priority3};
    if (from->is_precision_loss_allowed != -1) {
        priorities[0] = from->is_precision_loss_allowed != 0 ? LATENCY : PRECISION;
        priorities[1] = priorities[2] = AUTO;
    }
    bool usage_is_valid = from->inference_preference >= TFLITE_GPU_INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER &&
                          from->inference_preference <= TFLITE_GPU_INFERENCE_PREFERENCE_BALANCED;
    if (!usage_is_valid || !priorities_are_valid(priorities)) {
        options->problem =
            "InferenceOptions are invalid. inference_preference is 0, 1 or 2; inference priorities are 1 to "
            "3, each of them once, and 0 behind those that matter.";
        return;
    }
    resolve_auto(priorities);
    options->sustained = from->inference_preference == TFLITE_GPU_INFERENCE_PREFERENCE_SUSTAINED_SPEED;
    options->precision = priorities[0] == PRECISION ? GPU_F32 : priorities[1] == PRECISION ? GPU_F16S : GPU_F16;
    int latency = 0, memory = 0;
    for (int i = 0; i < 3; i++) {
        if (priorities[i] == LATENCY) latency = i;
        if (priorities[i] == MEMORY) memory = i;
    }
    options->prefer_memory = memory < latency;
}

// What the first version of HaliteGpuDelegateOptions ended with.
#define FIRST_OPTIONS_BYTES offsetof(HaliteGpuDelegateOptions, context)
#define FIRST_CONTEXT_BYTES offsetof(HaliteGpuContext, mtl_device)

// ---- the structs --------------------------------------------------------------------------------

static bool apply_flags(const TfLiteGpuDelegateOptionsV2 *from, struct gpu_options *options)
{
    int64_t flags = from->experimental_flags;
    bool cl = flags & TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY, gl = flags & TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY;
    if (cl && gl) options->problem = "CL_ONLY and GL_ONLY exclude each other: set one of the flags at most.";
    if (cl) strcpy(options->backend, "opencl");
    if (gl) strcpy(options->backend, "gles");
    options->quantized = flags & TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT;
    // The struct of older programs ends here. Only this flag says that the members that follow exist.
    if (!(flags & TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION)) return true;
    if (!from->serialization_dir || !*from->serialization_dir || !from->model_token || !*from->model_token) return true;
    return delegate_option_text(from->serialization_dir, &options->serialization_dir) &&
           delegate_option_text(from->model_token, &options->model_token);
}

// What kept kernels may take together where nobody says: those of a hundred networks or more, because a file has one to
// three megabytes.
static const uint64_t default_cache_bytes = UINT64_C(256) << 20;

static struct gpu_options plain_options(const char *node_name)
{
    return (struct gpu_options){.node_name = node_name,
                                .max_partitions = 1,
                                .skip_small = true,
                                .cache_bytes = default_cache_bytes};
}

bool gpu_options_from_v2(const TfLiteGpuDelegateOptionsV2 *from, struct gpu_options *options)
{
    TfLiteGpuDelegateOptionsV2 defaults = TfLiteGpuDelegateOptionsV2Default();
    if (!from) from = &defaults;
    *options = plain_options("TfLiteGpuDelegateV2");
    if (from->max_delegated_partitions > 1) options->max_partitions = from->max_delegated_partitions;
    apply_priorities(from, options);
    if (apply_flags(from, options)) return true;
    gpu_options_free(options);
    return false;
}

static bool apply_device(const char *text, const struct hl_reporter *reporter, struct gpu_options *options)
{
    if (strlen(text) >= sizeof options->device) {
        hl_report(reporter, "GPU delegate: option device is too long: \"%.40s...\"", text);
        return false;
    }
    if (!gpu_device_text_is_valid(text, reporter)) return false;
    strcpy(options->device, text);
    return true;
}

bool gpu_options_know_api(HaliteGpuApi api)
{
    return api >= kHaliteGpuApiOpenCl && api <= kHaliteGpuApiMetal;
}

static bool apply_context(const HaliteGpuDelegateOptions *from, const struct hl_reporter *reporter,
                          struct gpu_options *options)
{
    HaliteGpuContext own = {.struct_size = sizeof own};
    const HaliteGpuContext *context = &own;
    const char *problem = NULL;
    if (from->context->struct_size >= FIRST_CONTEXT_BYTES)
        memcpy(&own, from->context, from->context->struct_size < sizeof own ? from->context->struct_size : sizeof own);
    if (from->context->struct_size < FIRST_CONTEXT_BYTES)
        problem = "struct_size is less than sizeof(HaliteGpuContext)";
    else if (!gpu_options_know_api(context->api))
        problem = "there is no such api";
    else if (from->device && *from->device)
        problem = "the options name a device as well; leave one of them out";
    else if (context->api == kHaliteGpuApiOpenCl && (!context->cl_context || !context->cl_device_id))
        problem = "cl_context and cl_device_id are needed";
    else if (context->api == kHaliteGpuApiVulkan &&
             (!context->vk_instance || !context->vk_physical_device || !context->vk_device || !context->vk_queue))
        problem = "vk_instance, vk_physical_device, vk_device and vk_queue are needed";
    else if (context->api == kHaliteGpuApiOpenGlEs && !context->egl_display != !context->egl_context)
        problem = "egl_display and egl_context are needed, or neither";
    else if (context->api == kHaliteGpuApiMetal && !context->mtl_device)
        problem = "mtl_device is needed";
    else if (context->api == kHaliteGpuApiCuda && !context->cu_context)
        problem = "cu_context is needed";
    if (!problem) options->context = *context;
    bool current = !problem && context->api == kHaliteGpuApiOpenGlEs && !context->egl_context;
    if (current && !gpu_device_current(&options->context))
        problem = "no context of OpenGL ES is current in this thread";
    if (!problem) return true;
    hl_report(reporter, "GPU delegate: the application's context: %s", problem);
    return false;
}

bool gpu_options_from_halite(const HaliteGpuDelegateOptions *from, const struct hl_reporter *reporter,
                             struct gpu_options *options)
{
    HaliteGpuDelegateOptions own = {.struct_size = sizeof own};
    if (from && from->struct_size < FIRST_OPTIONS_BYTES) {
        hl_report(reporter, "GPU delegate: struct_size of the options is %zu, sizeof(HaliteGpuDelegateOptions) is %zu",
                  from->struct_size, sizeof own);
        return false;
    }
    if (from) memcpy(&own, from, from->struct_size < sizeof own ? from->struct_size : sizeof own);
    if (own.precision < kHaliteGpuPrecisionDefault || own.precision > kHaliteGpuPrecisionF16) {
        hl_report(reporter, "GPU delegate: there is no precision %d", (int)own.precision);
        return false;
    }
    if (own.quantized < kHaliteGpuQuantizedFloat || own.quantized > kHaliteGpuQuantizedExact) {
        hl_report(reporter, "GPU delegate: there is no way %d to compute quantized models", (int)own.quantized);
        return false;
    }
    if (!gpu_options_from_v2(own.v2, options)) {
        hl_report(reporter, "GPU delegate: out of memory");
        return false;
    }
    if (own.precision != kHaliteGpuPrecisionDefault)
        options->precision = (enum gpu_precision)(own.precision - kHaliteGpuPrecisionF32);
    options->exact_integers = own.quantized == kHaliteGpuQuantizedExact;
    options->full_delegation = own.require_full_delegation;
    options->tune = own.tune;
    options->skip_small = !own.take_small_partitions;
    options->keep_tensor_memory = own.keep_tensor_memory;
    if (own.serialization_max_bytes) options->cache_bytes = own.serialization_max_bytes;
    bool endless = own.wait_limit_ms > UINT64_MAX / 1000000;
    options->wait_limit = endless ? UINT64_MAX : own.wait_limit_ms * 1000000;
    if (own.context && !apply_context(&own, reporter, options)) {
        gpu_options_free(options);
        return false;
    }
    if (!own.device || apply_device(own.device, reporter, options)) return true;
    gpu_options_free(options);
    return false;
}

bool gpu_options_from_gl(const TfLiteGpuDelegateOptions *from, struct gpu_options *options)
{
    *options = plain_options("TfLiteGpuDelegate");
    options->precision = from && from->compile_options.precision_loss_allowed ? GPU_F16 : GPU_F32;
    return true;
}

bool gpu_options_from_metal(const TFLGpuDelegateOptions *from, struct gpu_options *options)
{
    TFLGpuDelegateOptions defaults = TFLGpuDelegateOptionsDefault();
    if (!from) from = &defaults;
    *options = plain_options("TfLiteMetalDelegate");
    options->precision = from->allow_precision_loss ? GPU_F16 : GPU_F32;
    options->quantized = from->enable_quantization;
    options->is_for_metal = true;
    switch (from->wait_type) {
    case TFLGpuDelegateWaitTypeActive: options->wait = GPU_WAIT_SPIN; break;
    case TFLGpuDelegateWaitTypeDoNotWait: options->wait = GPU_WAIT_NONE; break;
    case TFLGpuDelegateWaitTypeAggressive: options->wait = GPU_WAIT_AWAKE; break;
    default: options->wait = GPU_WAIT_SLEEP;
    }
    return true;
}

// ---- keys and values ----------------------------------------------------------------------------

// Collects the values of all keys before they become options, so that their order does not matter.
struct parsed {
    TfLiteGpuDelegateOptionsV2 v2;
    char *serialization_dir, *model_token, *device;
    int precision, quantized;
    bool require_full_delegation, take_small_partitions, tune, keep_tensor_memory;
    int64_t serialization_max_bytes, wait_limit_ms;
};

static const struct delegate_word precisions[] = {
    {"f32", kHaliteGpuPrecisionF32},
    {"f16s", kHaliteGpuPrecisionF16S},
    {"f16", kHaliteGpuPrecisionF16},
    {NULL, 0},
};

static const struct delegate_word quantized_ways[] = {
    {"float", kHaliteGpuQuantizedFloat},
    {"exact", kHaliteGpuQuantizedExact},
    {NULL, 0},
};

static const struct delegate_option known[] = {
#define V2(field, kind)                                                        \
    {                                                                          \
#field, DELEGATE_##kind, offsetof(struct parsed, v2.field), NULL, NULL \
    }
#define OWN(field, kind, words, expected)                                        \
    {                                                                            \
#field, DELEGATE_##kind, offsetof(struct parsed, field), words, expected \
    }
    V2(is_precision_loss_allowed, INT),
    V2(inference_preference, INT),
    V2(inference_priority1, INT),
    V2(inference_priority2, INT),
    V2(inference_priority3, INT),
    V2(experimental_flags, INT64),
    V2(max_delegated_partitions, INT),
    OWN(serialization_dir, NAME, NULL, "a folder"),
    OWN(model_token, NAME, NULL, "a name"),
    // Keys that the original does not have.
    OWN(device, NAME, NULL, "auto, opencl, vulkan ..., or one with a number (opencl:0)"),
    OWN(precision, NAMED, precisions, "f32, f16s or f16"),
    OWN(quantized, NAMED, quantized_ways, "float or exact"),
    OWN(require_full_delegation, BOOL, NULL, NULL),
    OWN(take_small_partitions, BOOL, NULL, NULL),
    OWN(serialization_max_bytes, INT64, NULL, NULL),
    OWN(tune, BOOL, NULL, NULL),
    OWN(wait_limit_ms, INT64, NULL, NULL),
    OWN(keep_tensor_memory, BOOL, NULL, NULL),
#undef V2
#undef OWN
};
enum { KNOWN = sizeof known / sizeof *known };

static bool options_from_parsed(struct parsed *parsed, const struct hl_reporter *reporter, struct gpu_options *options)
{
    bool folder = parsed->serialization_dir, token = parsed->model_token;
    if (parsed->serialization_max_bytes < 0 || parsed->wait_limit_ms < 0) {
        bool bytes = parsed->serialization_max_bytes < 0;
        hl_report(reporter, "GPU delegate: %s is %lld, which is to be 0 or more",
                  bytes ? "serialization_max_bytes" : "wait_limit_ms",
                  (long long)(bytes ? parsed->serialization_max_bytes : parsed->wait_limit_ms));
        return false;
    }
    if (folder && token) parsed->v2.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION;
    if (folder != token)
        hl_report(reporter, "GPU delegate: no compiled kernels are kept: option %s",
                  folder ? "model_token is missing; auto will do" : "serialization_dir is missing");
    parsed->v2.serialization_dir = parsed->serialization_dir;
    parsed->v2.model_token = parsed->model_token;
    HaliteGpuDelegateOptions own = {
        .struct_size = sizeof own,
        .v2 = &parsed->v2,
        .device = parsed->device,
        .precision = (HaliteGpuPrecision)parsed->precision,
        .quantized = (HaliteGpuQuantized)parsed->quantized,
        .require_full_delegation = parsed->require_full_delegation,
        .take_small_partitions = parsed->take_small_partitions,
        .serialization_max_bytes = (uint64_t)parsed->serialization_max_bytes,
        .tune = parsed->tune,
        .wait_limit_ms = (uint64_t)parsed->wait_limit_ms,
        .keep_tensor_memory = parsed->keep_tensor_memory,
    };
    return gpu_options_from_halite(&own, reporter, options);
}

bool gpu_options_from_keys(const char *const *keys, const char *const *values, size_t count,
                           const struct hl_reporter *reporter, struct gpu_options *options)
{
    struct parsed parsed = {.v2 = TfLiteGpuDelegateOptionsV2Default()};
    bool ok = delegate_options_read(known, KNOWN, keys, values, count, "GPU delegate", reporter, &parsed) &&
              options_from_parsed(&parsed, reporter, options);
    delegate_options_free(known, KNOWN, &parsed);
    return ok;
}

void gpu_options_free(struct gpu_options *options)
{
    free(options->serialization_dir);
    free(options->model_token);
    options->serialization_dir = options->model_token = NULL;
}
