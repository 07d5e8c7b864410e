// SPDX-License-Identifier: Apache-2.0
// See options.h. One table has every key that LiteRT 2.3 writes and what becomes of it here; docs/litert.md has the
// same in words.
#include "litert/accelerator/options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"

typedef bool apply_function(const struct litert_option *option, struct litert_gpu_options *options);

static bool apply_precision(const struct litert_option *option, struct litert_gpu_options *options)
{
    static const HaliteGpuPrecision precisions[] = {kHaliteGpuPrecisionDefault, kHaliteGpuPrecisionF16,
                                                    kHaliteGpuPrecisionF32, kHaliteGpuPrecisionF16S};
    options->precision = precisions[option->integer];
    return true;
}

// WebGPU means Vulkan on the systems that this library runs on.
static bool apply_backend(const struct litert_option *option, struct litert_gpu_options *options)
{
    static const char *const apis[] = {NULL, "opencl", "vulkan", "gles"};
    options->api = apis[option->integer];
    return true;
}

static bool store(const struct litert_option *option, char *to, size_t size)
{
    size_t length = strlen(option->text);
    if (length >= size) return false;
    memcpy(to, option->text, length + 1);
    return true;
}

static bool apply_description(const struct litert_option *option, struct litert_gpu_options *options)
{
    return store(option, options->description, sizeof options->description);
}

static bool apply_cache_folder(const struct litert_option *option, struct litert_gpu_options *options)
{
    return store(option, options->cache_folder, sizeof options->cache_folder);
}

static bool apply_cache_key(const struct litert_option *option, struct litert_gpu_options *options)
{
    return store(option, options->cache_key, sizeof options->cache_key);
}

static bool apply_cache_kernels(const struct litert_option *option, struct litert_gpu_options *options)
{
    options->cache_kernels = option->integer;
    return true;
}

static bool apply_device(const struct litert_option *option, struct litert_gpu_options *options)
{
    return store(option, options->device, sizeof options->device);
}

static bool apply_precision_name(const struct litert_option *option, struct litert_gpu_options *options)
{
    static const char *const names[] = {"f32", "f16s", "f16"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(option->text, names[i]) != 0) continue;
        options->precision = (HaliteGpuPrecision)(kHaliteGpuPrecisionF32 + i);
        return true;
    }
    return false;
}

static bool apply_quantized(const struct litert_option *option, struct litert_gpu_options *options)
{
    options->quantized = option->integer;
    return true;
}

static bool apply_small(const struct litert_option *option, struct litert_gpu_options *options)
{
    options->take_small_partitions = option->integer;
    return true;
}

static bool apply_partitions(const struct litert_option *option, struct litert_gpu_options *options)
{
    options->max_partitions = (int32_t)option->integer;
    return true;
}

// apply NULL: the key is LiteRT's and means nothing to this engine.
struct key {
    const char *name;
    enum litert_option_type type;
    int32_t low, high; // of an integer
    const char *expected;
    apply_function *apply;
};

#define INTEGER(name, low, high, expected, apply)               \
    {                                                           \
        name, LITERT_OPTION_INTEGER, low, high, expected, apply \
    }
#define BOOLEAN(name, apply)                                      \
    {                                                             \
        name, LITERT_OPTION_BOOLEAN, 0, 0, "true or false", apply \
    }
#define TEXT(name, expected, apply)                     \
    {                                                   \
        name, LITERT_OPTION_TEXT, 0, 0, expected, apply \
    }
#define ANYTHING(name)                              \
    {                                               \
        name, LITERT_OPTION_OTHER, 0, 0, NULL, NULL \
    }
// clang-format off
static const struct key gpu_keys[] = {
    INTEGER("precision", 0, 3, "0 (default), 1 (f16), 2 (f32) or 3 (f16s)", apply_precision),
    INTEGER("backend", 0, 3, "0 (automatic), 1 (OpenCL), 2 (WebGPU, here Vulkan) or 3 (OpenGL)", apply_backend),
    INTEGER("priority", 0, 3, "0 to 3", NULL),
    INTEGER("wait_type", 0, 3, "0 to 3", NULL),
    INTEGER("buffer_storage_type", 0, 2, "0 to 2", NULL),
    TEXT("preferred_device_substr", "a part of a device's name, up to 255 bytes", apply_description),
    TEXT("serialization_dir", "a folder", apply_cache_folder),
    TEXT("model_cache_key", "a name", apply_cache_key),
    BOOLEAN("serialize_program_cache", apply_cache_kernels),
    BOOLEAN("enable_constant_tensors_sharing", NULL),
    BOOLEAN("enable_infinite_float_capping", NULL),
    BOOLEAN("benchmark_mode", NULL),
    BOOLEAN("allow_src_quantized_fc_conv_ops", NULL),
    BOOLEAN("hint_waiting_for_completion", NULL),
    BOOLEAN("hint_fully_delegated_to_single_delegate", NULL),
    BOOLEAN("serialize_external_tensors", NULL),
    BOOLEAN("cache_only_compiled_programs", NULL),
    BOOLEAN("external_tensors_mode", NULL),
    BOOLEAN("prefer_texture_weights", NULL),
    BOOLEAN("madvise_original_shared_tensors", NULL),
    BOOLEAN("convert_weights_on_gpu", NULL),
    BOOLEAN("wait_for_weights_conversion_complete", NULL),
    BOOLEAN("disable_shader_optimization", NULL),
    BOOLEAN("use_metal_argument_buffers", NULL),
    BOOLEAN("enable_metal_residency_set", NULL),
    ANYTHING("program_cache_fd"),
    ANYTHING("weight_cache_fd"),
    ANYTHING("shared_tensor_maps"),
    ANYTHING("kernel_batch_size"),
    ANYTHING("num_steps_of_command_buffer_preparations"),
    ANYTHING("num_threads_to_upload"),
    ANYTHING("num_threads_to_compile"),
    ANYTHING("external_tensor_patterns"),
    ANYTHING("buffer_storage_tensor_patterns"),
    {.name = NULL},
};
static const struct key halite_keys[] = {
    TEXT("device", "auto, opencl, vulkan ..., or one with a number (opencl:0)", apply_device),
    TEXT("precision", "f32, f16s or f16", apply_precision_name),
    BOOLEAN("quantized", apply_quantized),
    BOOLEAN("take_small_partitions", apply_small),
    INTEGER("max_delegated_partitions", 1, INT32_MAX, "a number from 1 on", apply_partitions),
    {.name = NULL},
};
// clang-format on

static bool value_fits(const struct key *key, const struct litert_option *option)
{
    if (key->type == LITERT_OPTION_OTHER) return true;
    if (key->type != option->type) return false;
    return key->type != LITERT_OPTION_INTEGER || (option->integer >= key->low && option->integer <= key->high);
}

static void report_value(const char *identifier, int line, const struct key *key, const struct litert_option *option)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)option->integer);
    const char *values[] = {
        [LITERT_OPTION_INTEGER] = number,
        [LITERT_OPTION_BOOLEAN] = option->integer ? "true" : "false",
        [LITERT_OPTION_TEXT] = option->text,
        [LITERT_OPTION_OTHER] = "a list or a fraction",
    };
    hl_report(NULL, "Halite for LiteRT: %s: line %d: %s is %.80s, expected %s", identifier, line, key->name,
              values[option->type], key->expected);
}

static bool read_payload(const char *identifier, const struct key *keys, const char *payload,
                         struct litert_gpu_options *options)
{
    struct litert_options_text text = {.at = payload};
    struct litert_option option;
    while (litert_options_text_next(&text, &option)) {
        const struct key *key = keys;
        while (key->name && strcmp(key->name, option.key) != 0) key++;
        if (!key->name) {
            hl_report(NULL, "Halite for LiteRT: %s: %s is not known here and has no effect", identifier, option.key);
            continue;
        }
        if (value_fits(key, &option) && (!key->apply || key->apply(&option, options))) continue;
        report_value(identifier, text.line, key, &option);
        return false;
    }
    if (!text.problem) return true;
    hl_report(NULL, "Halite for LiteRT: %s: line %d: %s", identifier, text.line, text.problem);
    return false;
}

bool litert_gpu_options_read(const char *gpu_options, const char *halite_options, struct litert_gpu_options *options)
{
    *options = (struct litert_gpu_options){.cache_kernels = true, .quantized = true, .max_partitions = 1};
    if (!read_payload("gpu_options", gpu_keys, gpu_options, options)) return false;
    if (!read_payload("halite_options", halite_keys, halite_options, options)) return false;
    bool folder = options->cache_folder[0] && options->cache_kernels, key = options->cache_key[0];
    if (folder && !key)
        hl_report(NULL, "Halite for LiteRT: no compiled kernels are kept: gpu_options has serialization_dir "
                        "and no model_cache_key");
    if (!folder || !key) options->cache_folder[0] = 0;
    return true;
}
