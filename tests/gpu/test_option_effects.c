// SPDX-License-Identifier: Apache-2.0
// Every field of the GPU delegate's option structs: another value makes other options inside, or its header says that
// it has no effect. The fields are read from the headers, so that a new one cannot be forgotten here.
#include <stddef.h>

#include "gpu/delegate_session.h"
#include "support/text_file.h"
#include "tensorflow/lite/delegates/gpu/cl/gpu_api_delegate.h"

// ---- what a field changes -----------------------------------------------------------------------

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool same(const struct gpu_options *a, const struct gpu_options *b)
{
    return same_text(a->problem, b->problem) && a->precision == b->precision && a->quantized == b->quantized &&
           a->exact_integers == b->exact_integers && a->prefer_memory == b->prefer_memory &&
           a->max_partitions == b->max_partitions && a->full_delegation == b->full_delegation &&
           a->skip_small == b->skip_small && a->keep_tensor_memory == b->keep_tensor_memory && a->tune == b->tune &&
           strcmp(a->backend, b->backend) == 0 && strcmp(a->device, b->device) == 0 &&
           a->context.api == b->context.api && a->egl_display == b->egl_display && a->egl_context == b->egl_context &&
           same_text(a->serialization_dir, b->serialization_dir) && same_text(a->model_token, b->model_token) &&
           a->cache_bytes == b->cache_bytes && a->sustained == b->sustained && a->wait == b->wait &&
           a->wait_limit == b->wait_limit;
}

static TfLiteGpuDelegateOptionsV2 kept_in(const char *folder, const char *token)
{
    TfLiteGpuDelegateOptionsV2 v2 = TfLiteGpuDelegateOptionsV2Default();
    v2.experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION;
    v2.serialization_dir = folder;
    v2.model_token = token;
    return v2;
}

// Each gives options where the field has another value than in `base`.
#define V2(field, value)                                                        \
    static void v2_##field(struct gpu_options *base, struct gpu_options *other) \
    {                                                                           \
        TfLiteGpuDelegateOptionsV2 v2 = kept_in("/a", "a"), changed = v2;       \
        changed.field = value;                                                  \
        assert_true(gpu_options_from_v2(&v2, base));                            \
        assert_true(gpu_options_from_v2(&changed, other));                      \
    }
V2(is_precision_loss_allowed, 1)
V2(inference_preference, TFLITE_GPU_INFERENCE_PREFERENCE_SUSTAINED_SPEED)
V2(inference_priority1, TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY)
V2(inference_priority2, TFLITE_GPU_INFERENCE_PRIORITY_MIN_MEMORY_USAGE)
V2(inference_priority3, TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY) // after AUTO, which is refused
V2(experimental_flags, 0)
V2(max_delegated_partitions, 3)
V2(serialization_dir, "/b")
V2(model_token, "b")
#undef V2

static const HaliteGpuContext context = {.struct_size = sizeof context,
                                         .api = kHaliteGpuApiOpenCl,
                                         .cl_context = "",
                                         .cl_device_id = ""};
static const TfLiteGpuDelegateOptionsV2 no_v2 = {.max_delegated_partitions = 2};
#define HALITE(field, value)                                                        \
    static void halite_##field(struct gpu_options *base, struct gpu_options *other) \
    {                                                                               \
        HaliteGpuDelegateOptions own = {.struct_size = sizeof own}, changed = own;  \
        changed.field = value;                                                      \
        assert_true(gpu_options_from_halite(&own, NULL, base));                     \
        assert_true(gpu_options_from_halite(&changed, NULL, other));                \
    }
HALITE(v2, &no_v2)
HALITE(device, "vulkan")
HALITE(precision, kHaliteGpuPrecisionF16)
HALITE(require_full_delegation, true)
HALITE(take_small_partitions, true)
HALITE(context, &context)
HALITE(quantized, kHaliteGpuQuantizedExact)
HALITE(serialization_max_bytes, 1)
HALITE(tune, true)
HALITE(wait_limit_ms, 1)
HALITE(keep_tensor_memory, true)
#undef HALITE

#define METAL(field, value)                                                        \
    static void metal_##field(struct gpu_options *base, struct gpu_options *other) \
    {                                                                              \
        TFLGpuDelegateOptions own = TFLGpuDelegateOptionsDefault(), changed = own; \
        changed.field = value;                                                     \
        assert_true(gpu_options_from_metal(&own, base));                           \
        assert_true(gpu_options_from_metal(&changed, other));                      \
    }
METAL(allow_precision_loss, true)
METAL(enable_quantization, false)
METAL(wait_type, TFLGpuDelegateWaitTypeActive)
#undef METAL

static void gl_precision_loss_allowed(struct gpu_options *base, struct gpu_options *other)
{
    TfLiteGpuDelegateOptions own = TfLiteGpuDelegateOptionsDefault(), changed = own;
    changed.compile_options.precision_loss_allowed = 1;
    assert_true(gpu_options_from_gl(&own, base));
    assert_true(gpu_options_from_gl(&changed, other));
}

// The first OpenCL interface makes its options within the delegate.
static void from_struct(TfLiteGpuDelegateOptions_New own, struct gpu_options *options)
{
    TfLiteDelegate *delegate = TfLiteGpuDelegateCreate_New(&own);
    *options = gpu_delegate_of(delegate)->engine->options;
    TfLiteGpuDelegateDelete_New(delegate);
    options->serialization_dir = options->model_token = NULL;
}

static void from_new(int32_t loss, int32_t priority, struct gpu_options *options)
{
    TfLiteGpuDelegateOptions_New own = {
        .compile_options = {.precision_loss_allowed = loss, .inference_priority = priority}};
    from_struct(own, options);
}

static void new_precision_loss_allowed(struct gpu_options *base, struct gpu_options *other)
{
    from_new(0, 0, base);
    from_new(1, 0, other);
}

static void new_inference_priority(struct gpu_options *base, struct gpu_options *other)
{
    from_new(1, TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY, base);
    from_new(1, TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION, other);
}

static void new_egl_display(struct gpu_options *base, struct gpu_options *other)
{
    from_struct((TfLiteGpuDelegateOptions_New){.egl_context = ""}, base);
    from_struct((TfLiteGpuDelegateOptions_New){.egl_context = "", .egl_display = ""}, other);
}

static void new_egl_context(struct gpu_options *base, struct gpu_options *other)
{
    from_struct((TfLiteGpuDelegateOptions_New){.egl_display = ""}, base);
    from_struct((TfLiteGpuDelegateOptions_New){.egl_display = "", .egl_context = ""}, other);
}

static const struct {
    const char *type, *field;
    void (*set)(struct gpu_options *base, struct gpu_options *other);
} effects[] = {
#define V2(field)                                        \
    {                                                    \
        "TfLiteGpuDelegateOptionsV2", #field, v2_##field \
    }
#define HALITE(field)                                      \
    {                                                      \
        "HaliteGpuDelegateOptions", #field, halite_##field \
    }
    V2(is_precision_loss_allowed),
    V2(inference_preference),
    V2(inference_priority1),
    V2(inference_priority2),
    V2(inference_priority3),
    V2(experimental_flags),
    V2(max_delegated_partitions),
    V2(serialization_dir),
    V2(model_token),
    HALITE(v2),
    HALITE(device),
    HALITE(precision),
    HALITE(require_full_delegation),
    HALITE(take_small_partitions),
    HALITE(context),
    HALITE(quantized),
    HALITE(serialization_max_bytes),
    HALITE(tune),
    HALITE(wait_limit_ms),
    HALITE(keep_tensor_memory),
    {"TFLGpuDelegateOptions", "allow_precision_loss", metal_allow_precision_loss},
    {"TFLGpuDelegateOptions", "enable_quantization", metal_enable_quantization},
    {"TFLGpuDelegateOptions", "wait_type", metal_wait_type},
    {"TfLiteGlCompileOptions", "precision_loss_allowed", gl_precision_loss_allowed},
    {"TfLiteGpuDelegateOptions", "compile_options", gl_precision_loss_allowed},
    {"TfLiteGpuCompileOptions_New", "precision_loss_allowed", new_precision_loss_allowed},
    {"TfLiteGpuCompileOptions_New", "inference_priority", new_inference_priority},
    {"TfLiteGpuDelegateOptions_New", "compile_options", new_inference_priority},
    {"TfLiteGpuDelegateOptions_New", "egl_display", new_egl_display},
    {"TfLiteGpuDelegateOptions_New", "egl_context", new_egl_context},
#undef V2
#undef HALITE
};

static bool has_effect(const char *type, const char *field)
{
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
        if (strcmp(effects[i].type, type) != 0 || strcmp(effects[i].field, field) != 0) continue;
        struct gpu_options base, other;
        effects[i].set(&base, &other);
        bool equal = same(&base, &other);
        gpu_options_free(&base);
        gpu_options_free(&other);
        return !equal;
    }
    return strcmp(field, "struct_size") == 0;
}

// ---- what a header says -------------------------------------------------------------------------

static const char *const sentences[] = {"without effect", "Without effect", "Not used by", "Not read by"};

static bool says_so(const char *comment)
{
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (strstr(comment, sentences[i])) return true;
    return false;
}

// Looks at the fields of a struct, whose comments are before them or after them. Returns how many there are.
static int check_struct(const char *header, const char *type)
{
    char path[256], end[96], comment[4096] = "";
    snprintf(path, sizeof path, "include/%s", header);
    snprintf(end, sizeof end, "\n} %s;", type);
    char *text = text_file_read(path);
    char *stop = strstr(text, end), *at = text;
    assert_non_null(stop);
    *stop = 0;
    for (char *next; (next = strstr(at, "typedef struct"));) at = next + 1;
    int fields = 0;
    bool after_field = false;
    strtok(at, "\n");
    for (char *line; (line = strtok(NULL, "\n"));) {
        line += strspn(line, " ");
        if (*line == '#') continue;
        if (strncmp(line, "//", 2) == 0) {
            if (after_field) comment[0] = 0;
            after_field = false;
            strncat(comment, line + 2, sizeof comment - strlen(comment) - 1);
            continue;
        }
        char name[64] = "";
        const char *semicolon = strchr(line, ';');
        assert_non_null(semicolon);
        const char *from = semicolon;
        while (from > line && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", from[-1]))
            from--;
        snprintf(name, sizeof name, "%.*s", (int)(semicolon - from), from);
        if (!has_effect(type, name) && !says_so(comment) && !says_so(semicolon))
            fail_msg("%s.%s has no effect, and %s does not say so", type, name, header);
        after_field = true;
        fields++;
    }
    free(text);
    return fields;
}

static void fields_have_an_effect_or_a_sentence(void **state)
{
    (void)state;
    static const char gl[] = "tensorflow/lite/delegates/gpu/gl_delegate.h";
    static const char cl[] = "tensorflow/lite/delegates/gpu/cl/gpu_api_delegate.h";
    assert_true(check_struct("tensorflow/lite/delegates/gpu/delegate_options.h", "TfLiteGpuDelegateOptionsV2") >= 9);
    assert_true(check_struct("halite/gpu_delegate.h", "HaliteGpuDelegateOptions") >= 9);
    assert_int_equal(check_struct(gl, "TfLiteGlCompileOptions"), 4);
    assert_int_equal(check_struct(gl, "TfLiteGpuDelegateOptions"), 2);
    assert_int_equal(check_struct(cl, "TfLiteGpuCompileOptions_New"), 2);
    assert_int_equal(check_struct(cl, "TfLiteGpuDelegateOptions_New"), 5);
    assert_int_equal(check_struct("tensorflow/lite/delegates/gpu/metal_delegate.h", "TFLGpuDelegateOptions"), 3);
}

int main(void)
{
    unsetenv("HALITE_DEVICE");
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields_have_an_effect_or_a_sentence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
