// SPDX-License-Identifier: Apache-2.0
// See options.h. The precision follows from the position of MAX_PRECISION among the three priorities:
//   first: f32      second: f16s (halves in memory, float arithmetic)      third: f16 (half arithmetic, float sums)
#include "gpu/delegate/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        options->problem = "InferenceOptions are invalid.";
        return;
    }
    options->usage = (enum TfLiteGpuInferenceUsage)from->inference_preference;
    resolve_auto(priorities);
    options->precision = priorities[0] == PRECISION ? GPU_F32 : priorities[1] == PRECISION ? GPU_F16S : GPU_F16;
    int latency = 0, memory = 0;
    for (int i = 0; i < 3; i++) {
        if (priorities[i] == LATENCY) latency = i;
        if (priorities[i] == MEMORY) memory = i;
    }
    options->prefer_memory = memory < latency;
}

// ---- the structs --------------------------------------------------------------------------------

static bool copy_text(const char *from, char **to)
{
    size_t size = strlen(from) + 1;
    *to = malloc(size);
    if (*to) memcpy(*to, from, size);
    return *to != NULL;
}

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
    return copy_text(from->serialization_dir, &options->serialization_dir) &&
           copy_text(from->model_token, &options->model_token);
}

static struct gpu_options plain_options(const char *node_name)
{
    return (struct gpu_options){.node_name = node_name, .max_partitions = 1, .skip_small = true};
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

bool gpu_options_from_halite(const HaliteGpuDelegateOptions *from, const struct hl_reporter *reporter,
                             struct gpu_options *options)
{
    HaliteGpuDelegateOptions own = {.struct_size = sizeof own};
    if (from && from->struct_size < sizeof own) {
        hl_report(reporter, "GPU delegate: struct_size of the options is %zu, sizeof(HaliteGpuDelegateOptions) is %zu",
                  from->struct_size, sizeof own);
        return false;
    }
    if (from) own = *from;
    if (own.precision < kHaliteGpuPrecisionDefault || own.precision > kHaliteGpuPrecisionF16) {
        hl_report(reporter, "GPU delegate: there is no precision %d", (int)own.precision);
        return false;
    }
    if (!gpu_options_from_v2(own.v2, options)) {
        hl_report(reporter, "GPU delegate: out of memory");
        return false;
    }
    if (own.precision != kHaliteGpuPrecisionDefault)
        options->precision = (enum gpu_precision)(own.precision - kHaliteGpuPrecisionF32);
    options->full_delegation = own.require_full_delegation;
    options->skip_small = !own.take_small_partitions;
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
    return true;
}

// ---- keys and values ----------------------------------------------------------------------------

// Collects the values of all keys before they become options, so that their order does not matter.
struct parsed {
    TfLiteGpuDelegateOptionsV2 v2;
    HaliteGpuDelegateOptions own;
};

// Reads a decimal number, or a hexadecimal one after 0x. The original takes no hexadecimal numbers, but it takes blanks
// before and after the number, and so does this function.
static bool parse_integer(const char *text, int64_t low, int64_t high, int64_t *value)
{
    char *end;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    errno = 0;
    long long number = strtoll(text, &end, hexadecimal ? 16 : 10);
    end += end == text ? 0 : strspn(end, " \t\n\r\f\v");
    if (end == text || *end || errno || number < low || number > high) return false;
    *value = number;
    return true;
}

static bool parse_i32(const char *text, void *to)
{
    int64_t number;
    if (!parse_integer(text, INT32_MIN, INT32_MAX, &number)) return false;
    *(int32_t *)to = (int32_t)number;
    return true;
}

static bool parse_i64(const char *text, void *to)
{
    return parse_integer(text, INT64_MIN, INT64_MAX, to);
}

static bool parse_bool(const char *text, void *to)
{
    bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "0") != 0) return false;
    *(bool *)to = yes;
    return true;
}

static bool parse_precision(const char *text, void *to)
{
    static const char *const names[GPU_PRECISIONS] = {"f32", "f16s", "f16"};
    int i = 0;
    while (i < GPU_PRECISIONS && strcmp(text, names[i]) != 0) i++;
    *(HaliteGpuPrecision *)to = (HaliteGpuPrecision)(kHaliteGpuPrecisionF32 + i);
    return i < GPU_PRECISIONS;
}

static bool parse_text(const char *text, void *to)
{
    *(const char **)to = text;
    return *text != 0;
}

static const struct key {
    const char *name, *wants;
    bool (*parse)(const char *text, void *to);
    size_t at; // in struct parsed
} known_keys[] = {
#define V2(field, parse)                                               \
    {                                                                  \
#field, "an integer", parse, offsetof(struct parsed, v2.field) \
    }
    V2(is_precision_loss_allowed, parse_i32),
    V2(inference_preference, parse_i32),
    V2(inference_priority1, parse_i32),
    V2(inference_priority2, parse_i32),
    V2(inference_priority3, parse_i32),
    V2(experimental_flags, parse_i64),
    V2(max_delegated_partitions, parse_i32),
#undef V2
    {"serialization_dir", "a folder", parse_text, offsetof(struct parsed, v2.serialization_dir)},
    {"model_token", "a name", parse_text, offsetof(struct parsed, v2.model_token)},
    // Keys that the original does not have.
    {"device", "auto, opencl, vulkan ..., or one with a number (opencl:0)", parse_text,
     offsetof(struct parsed, own.device)},
    {"precision", "f32, f16s or f16", parse_precision, offsetof(struct parsed, own.precision)},
    {"require_full_delegation", "true or false", parse_bool, offsetof(struct parsed, own.require_full_delegation)},
    {"take_small_partitions", "true or false", parse_bool, offsetof(struct parsed, own.take_small_partitions)},
};
enum { KEYS = sizeof known_keys / sizeof *known_keys };

static bool unknown_key(const char *key, const struct hl_reporter *reporter)
{
    char list[512];
    size_t length = 0;
    for (int i = 0; i < KEYS && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", known_keys[i].name);
    hl_report(reporter, "GPU delegate: unknown option %s; known are %s", key, list);
    return false;
}

static bool parse_key(const char *key, const char *value, const struct hl_reporter *reporter, struct parsed *parsed)
{
    int i = 0;
    while (i < KEYS && strcmp(known_keys[i].name, key) != 0) i++;
    if (i == KEYS) return unknown_key(key, reporter);
    if (known_keys[i].parse(value, (char *)parsed + known_keys[i].at)) return true;
    hl_report(reporter, "GPU delegate: option %s is \"%s\", expected %s", key, value, known_keys[i].wants);
    return false;
}

bool gpu_options_from_keys(const char *const *keys, const char *const *values, size_t count,
                           const struct hl_reporter *reporter, struct gpu_options *options)
{
    struct parsed parsed = {.v2 = TfLiteGpuDelegateOptionsV2Default(), .own = {.struct_size = sizeof parsed.own}};
    for (size_t i = 0; i < count; i++) {
        if (!keys || !values || !keys[i] || !values[i]) {
            hl_report(reporter, "GPU delegate: option %zu has no %s", i, keys && keys[i] ? "value" : "key");
            return false;
        }
        if (!parse_key(keys[i], values[i], reporter, &parsed)) return false;
    }
    bool folder = parsed.v2.serialization_dir, token = parsed.v2.model_token;
    if (folder && token) parsed.v2.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION;
    if (folder != token)
        hl_report(reporter, "GPU delegate: no compiled kernels are kept: option %s is missing",
                  folder ? "model_token" : "serialization_dir");
    parsed.own.v2 = &parsed.v2;
    return gpu_options_from_halite(&parsed.own, reporter, options);
}

void gpu_options_free(struct gpu_options *options)
{
    free(options->serialization_dir);
    free(options->model_token);
    options->serialization_dir = options->model_token = NULL;
}
