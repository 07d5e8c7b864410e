// SPDX-License-Identifier: Apache-2.0
// See delegates.h. Each delegate is a row: what asks for it, how it is made and deleted.
#include "delegates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "message.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"
#include "tensorflow/lite/delegates/hexagon/hexagon_delegate.h"
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"

// ---- the GPU delegate -----------------------------------------------------------------------------

static bool wants_gpu(const struct hl_delegate_flags *flags)
{
    return flags->use_gpu;
}

// TensorFlow Lite's names of two backends; all others are Halite's own.
static const char *gpu_device(const char *backend)
{
    if (strcmp(backend, "cl") == 0) return "opencl";
    if (strcmp(backend, "gl") == 0) return "gles";
    return backend;
}

static void set_gpu_options(const struct hl_delegate_flags *flags, TfLiteGpuDelegateOptionsV2 *options)
{
    if (flags->gpu_precision_loss_allowed) {
        options->inference_priority1 = TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY;
        options->inference_priority2 = TFLITE_GPU_INFERENCE_PRIORITY_MIN_MEMORY_USAGE;
        options->inference_priority3 = TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION;
    }
    if (flags->gpu_inference_for_sustained_speed)
        options->inference_preference = TFLITE_GPU_INFERENCE_PREFERENCE_SUSTAINED_SPEED;
    if (flags->max_delegated_partitions > 0) options->max_delegated_partitions = flags->max_delegated_partitions;
    const char *folder = flags->delegate_serialize_dir, *token = flags->delegate_serialize_token;
    const char *problem = *folder == '\0' || hl_folder_may_make(folder) ? NULL : strerror(errno);
    if ((*folder != '\0') != (*token != '\0'))
        hl_warn(HL_TFLITE, NULL,
                "--delegate_serialize_dir and --delegate_serialize_token do nothing without each other");
    else if (problem != NULL)
        hl_warn(HL_TFLITE, folder, "compiled kernels cannot be kept there: %s", problem);
    if (*folder != '\0' && *token != '\0') {
        options->experimental_flags |= TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION;
        options->serialization_dir = folder;
        options->model_token = token;
    }
}

static TfLiteDelegate *create_gpu(struct hl_delegates *delegates, const struct hl_delegate_flags *flags)
{
    struct hl_text problem = {0};
    bool ok = hl_gpu_library_open(&delegates->gpu, &problem);
    if (!ok) hl_error(HL_TFLITE, NULL, "%s", problem.data);
    hl_text_free(&problem);
    if (!ok) return NULL;
    TfLiteGpuDelegateOptionsV2 v2 = delegates->gpu.TfLiteGpuDelegateOptionsV2Default();
    set_gpu_options(flags, &v2);
    HaliteGpuDelegateOptions options = {
        .struct_size = sizeof options,
        .v2 = &v2,
        .device = gpu_device(flags->gpu_backend),
    };
    return delegates->gpu.HaliteGpuDelegateCreate(&options);
}

static void delete_gpu(struct hl_delegates *delegates, TfLiteDelegate *delegate)
{
    delegates->gpu.TfLiteGpuDelegateV2Delete(delegate);
}

// Opens a library of Halite's. False after a message.
static bool open_library(struct hl_delegate_library *library, const char *delegate)
{
    struct hl_text problem = {0};
    bool ok = hl_delegate_library_open(library, delegate, &problem);
    if (!ok) hl_error(HL_TFLITE, NULL, "%s", problem.data);
    hl_text_free(&problem);
    return ok;
}

// Keys and values as a plug-in takes them.
enum { MAX_NUMBERS = 4 };
struct pairs {
    const char *keys[16], *values[16];
    size_t count;
    char numbers[MAX_NUMBERS][16]; // what some of the values point to
    int number_count;
};

static void add_pair(struct pairs *pairs, const char *key, const char *value)
{
    if (*value == '\0') return;
    pairs->keys[pairs->count] = key;
    pairs->values[pairs->count++] = value;
}

// Numbers that are 0 are the delegate's choice.
static void add_number(struct pairs *pairs, const char *key, int value)
{
    if (value <= 0 || pairs->number_count == MAX_NUMBERS) return;
    char *text = pairs->numbers[pairs->number_count++];
    snprintf(text, sizeof pairs->numbers[0], "%d", value);
    add_pair(pairs, key, text);
}

static void report(const char *text)
{
    hl_error(HL_TFLITE, NULL, "%s", text);
}

// Where the tools go on without the delegate.
static void report_mildly(const char *text)
{
    hl_warn(HL_TFLITE, NULL, "%s", text);
}

static void add_switch(struct pairs *pairs, const char *key, bool value)
{
    add_pair(pairs, key, value ? "true" : "false");
}

// ---- NNAPI ----------------------------------------------------------------------------------------

static bool wants_nnapi(const struct hl_delegate_flags *flags)
{
    return flags->use_nnapi;
}

// False after a message where the word is none of the list, which ends with NULL.
static bool check_word(const char *word, const char *const *words, const char *what)
{
    if (*word == '\0') return true;
    for (; *words != NULL; words++)
        if (strcmp(*words, word) == 0) return true;
    hl_error(HL_TFLITE, NULL, "The provided value (%s) is not a valid nnapi execution %s.", word, what);
    return false;
}

static TfLiteDelegate *make_nnapi(const struct hl_delegate_library *library, const struct hl_delegate_flags *flags)
{
    struct pairs pairs = {.count = 0};
    add_pair(&pairs, "execution_preference", flags->nnapi_execution_preference);
    add_pair(&pairs, "execution_priority", flags->nnapi_execution_priority);
    add_pair(&pairs, "accelerator_name", flags->nnapi_accelerator_name);
    add_pair(&pairs, "support_library_path", flags->nnapi_support_library_path);
    add_switch(&pairs, "disallow_nnapi_cpu", flags->disable_nnapi_cpu);
    add_switch(&pairs, "allow_fp16", flags->nnapi_allow_fp16);
    add_switch(&pairs, "use_burst_computation", flags->nnapi_use_burst_mode);
    add_number(&pairs, "max_delegated_partitions", flags->max_delegated_partitions);
    add_number(&pairs, "min_nodes_per_partition", flags->min_nodes_per_partition);
    if (*flags->delegate_serialize_dir != '\0' && *flags->delegate_serialize_token != '\0') {
        add_pair(&pairs, "cache_dir", flags->delegate_serialize_dir);
        add_pair(&pairs, "model_token", flags->delegate_serialize_token);
    }
    return library->tflite_plugin_create_delegate(pairs.keys, pairs.values, pairs.count, report);
}

static TfLiteDelegate *create_nnapi(struct hl_delegates *delegates, const struct hl_delegate_flags *flags)
{
    static const char *const preferences[] = {"fast_single_answer", "sustained_speed", "low_power", "undefined", NULL};
    static const char *const priorities[] = {"default", "low", "medium", "high", NULL};
    if (!check_word(flags->nnapi_execution_preference, preferences, "preference") ||
        !check_word(flags->nnapi_execution_priority, priorities, "priority"))
        return NULL;
    return open_library(&delegates->nnapi, "nnapi") ? make_nnapi(&delegates->nnapi, flags) : NULL;
}

static void delete_nnapi(struct hl_delegates *delegates, TfLiteDelegate *delegate)
{
    delegates->nnapi.tflite_plugin_destroy_delegate(delegate);
}

// ---- Hexagon --------------------------------------------------------------------------------------

static bool wants_hexagon(const struct hl_delegate_flags *flags)
{
    return flags->use_hexagon;
}

// X(result, name, arguments): of the documented interface, which tells the processor's library where its own ones lie.
// clang-format off
#define HEXAGON_FUNCTIONS(X)                                                                  \
    X(void, TfLiteHexagonInit, (void))                                                        \
    X(void, TfLiteHexagonInitWithPath, (const char *))                                        \
    X(void, TfLiteHexagonTearDown, (void))                                                    \
    X(TfLiteHexagonDelegateOptions, TfLiteHexagonDelegateOptionsDefault, (void))              \
    X(TfLiteDelegate *, TfLiteHexagonDelegateCreate, (const TfLiteHexagonDelegateOptions *))  \
    X(void, TfLiteHexagonDelegateDelete, (TfLiteDelegate *))
// clang-format on

struct hexagon {
#define X(result, name, arguments) result(*name) arguments;
    HEXAGON_FUNCTIONS(X)
#undef X
};

// False after a message.
static bool find_hexagon(const struct hl_delegate_library *library, struct hexagon *hexagon)
{
#define X(result, name, arguments)                                                                      \
    if (!hl_library_find(library->handle, #name, &hexagon->name, sizeof hexagon->name)) {               \
        hl_error(HL_TFLITE, NULL, "the Hexagon delegate has no " #name ": it is none of this version"); \
        return false;                                                                                   \
    }
    HEXAGON_FUNCTIONS(X)
#undef X
    return true;
}

static TfLiteDelegate *create_hexagon(struct hl_delegates *delegates, const struct hl_delegate_flags *flags)
{
    struct hexagon hexagon;
    if (!open_library(&delegates->hexagon, "hexagon") || !find_hexagon(&delegates->hexagon, &hexagon)) return NULL;
    if (*flags->hexagon_lib_path != '\0')
        hexagon.TfLiteHexagonInitWithPath(flags->hexagon_lib_path);
    else
        hexagon.TfLiteHexagonInit();
    TfLiteHexagonDelegateOptions options = hexagon.TfLiteHexagonDelegateOptionsDefault();
    options.print_graph_profile = flags->hexagon_profiling;
    options.max_delegated_partitions = flags->max_delegated_partitions;
    options.min_nodes_per_partition = flags->min_nodes_per_partition;
    TfLiteDelegate *delegate = hexagon.TfLiteHexagonDelegateCreate(&options);
    if (delegate == NULL) hexagon.TfLiteHexagonTearDown();
    return delegate;
}

static void delete_hexagon(struct hl_delegates *delegates, TfLiteDelegate *delegate)
{
    struct hexagon hexagon;
    if (!find_hexagon(&delegates->hexagon, &hexagon)) return;
    hexagon.TfLiteHexagonDelegateDelete(delegate);
    hexagon.TfLiteHexagonTearDown();
}

// ---- Core ML --------------------------------------------------------------------------------------

static bool wants_coreml(const struct hl_delegate_flags *flags)
{
    return flags->use_coreml;
}

static TfLiteDelegate *create_coreml(struct hl_delegates *delegates, const struct hl_delegate_flags *flags)
{
    struct pairs pairs = {.count = 0};
    add_pair(&pairs, "enabled_devices", "all");
    add_number(&pairs, "coreml_version", flags->coreml_version);
    add_number(&pairs, "max_delegated_partitions", flags->max_delegated_partitions);
    add_number(&pairs, "min_nodes_per_partition", flags->min_nodes_per_partition);
    if (!open_library(&delegates->coreml, "coreml")) return NULL;
    return delegates->coreml.tflite_plugin_create_delegate(pairs.keys, pairs.values, pairs.count, report_mildly);
}

static void delete_coreml(struct hl_delegates *delegates, TfLiteDelegate *delegate)
{
    delegates->coreml.tflite_plugin_destroy_delegate(delegate);
}

// ---- XNNPACK --------------------------------------------------------------------------------------

static bool wants_xnnpack(const struct hl_delegate_flags *flags)
{
    return flags->use_xnnpack;
}

static TfLiteDelegate *create_xnnpack(struct hl_delegates *delegates, const struct hl_delegate_flags *flags)
{
    (void)delegates;
    TfLiteXNNPackDelegateOptions options = TfLiteXNNPackDelegateOptionsDefault();
    options.num_threads = flags->num_threads;
    options.runtime_flags = (uint32_t)flags->xnnpack_runtime_flags;
    options.weight_cache_file_path = flags->xnnpack_weight_cache_file_path;
    if (flags->xnnpack_force_fp16) options.flags |= TFLITE_XNNPACK_DELEGATE_FLAG_FORCE_FP16;
    return TfLiteXNNPackDelegateCreate(&options);
}

static void delete_xnnpack(struct hl_delegates *delegates, TfLiteDelegate *delegate)
{
    (void)delegates;
    TfLiteXNNPackDelegateDelete(delegate);
}

// ---- external delegates ---------------------------------------------------------------------------

static bool wants_external(const struct hl_delegate_flags *flags)
{
    return *flags->external_delegate_path != '\0';
}

static TfLiteDelegate *create_external(struct hl_delegates *delegates, const struct hl_delegate_flags *flags)
{
    (void)delegates;
    TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault(flags->external_delegate_path);
    char *text = hl_alloc_string(flags->external_delegate_options);
    TfLiteDelegate *delegate = NULL;
    for (char *item = text, *next; item != NULL; item = next) {
        next = strchr(item, ';');
        if (next != NULL) *next++ = '\0';
        if (*item == '\0') continue;
        char *colon = strchr(item, ':');
        if (colon == NULL) {
            hl_error(HL_TFLITE, NULL, "--external_delegate_options: '%s' has no ':'; write key:value;key:value", item);
            goto done;
        }
        *colon = '\0';
        if (TfLiteExternalDelegateOptionsInsert(&options, item, colon + 1) != kTfLiteOk) goto done;
    }
    delegate = TfLiteExternalDelegateCreate(&options);
done:
    free(text);
    return delegate;
}

static void delete_external(struct hl_delegates *delegates, TfLiteDelegate *delegate)
{
    (void)delegates;
    TfLiteExternalDelegateDelete(delegate);
}

// ---- all of them ----------------------------------------------------------------------------------

static const struct provider {
    const char *flag, *name;
    bool (*wanted)(const struct hl_delegate_flags *flags);
    TfLiteDelegate *(*create)(struct hl_delegates *delegates, const struct hl_delegate_flags *flags);
    void (*delete)(struct hl_delegates *delegates, TfLiteDelegate *delegate);
    size_t library;      // of its report, in struct hl_delegates; 0: it has none of this kind
    const char *without; // why the tools go on where it cannot be made; NULL: they end
} providers[] = {
    {"use_gpu", "GPU", wants_gpu, create_gpu, delete_gpu, 0, NULL},
    {"use_xnnpack", HL_XNNPACK, wants_xnnpack, create_xnnpack, delete_xnnpack, 0, NULL},
    {"use_nnapi", "NNAPI", wants_nnapi, create_nnapi, delete_nnapi, offsetof(struct hl_delegates, nnapi), NULL},
    {"use_hexagon", "HEXAGON", wants_hexagon, create_hexagon, delete_hexagon, offsetof(struct hl_delegates, hexagon),
     "Could not create Hexagon delegate: platform may not support delegate or required libraries are missing"},
    {"use_coreml", "COREML", wants_coreml, create_coreml, delete_coreml, offsetof(struct hl_delegates, coreml),
     "CoreML acceleration is unsupported on this platform."},
    {"external_delegate_path", "EXTERNAL", wants_external, create_external, delete_external, 0, NULL},
};
enum { PROVIDERS = sizeof providers / sizeof *providers };
_Static_assert((int)PROVIDERS <= (int)HL_DELEGATES_MAX, "room for one of each kind");

void hl_idle_flags_warn(const struct hl_idle_flag *flags, size_t count, const struct hl_command *command,
                        const int *positions)
{
    for (size_t i = 0; i < count; i++)
        if (flags[i].idle != NULL && hl_flags_position(command, positions, flags[i].name) > 0)
            hl_warn(HL_TFLITE, NULL, "--%s does nothing here: %s", flags[i].name, flags[i].idle);
}

static bool create(const struct provider *provider, const struct hl_delegate_flags *flags,
                   struct hl_delegates *delegates)
{
    TfLiteDelegate *delegate = provider->create(delegates, flags);
    if (delegate == NULL && provider->without != NULL) {
        hl_warn(HL_TFLITE, NULL, "%s", provider->without);
        return true;
    }
    if (delegate == NULL) {
        hl_error(HL_TFLITE, NULL, "--%s: the delegate cannot be made", provider->flag);
        return false;
    }
    const struct hl_delegate_library *library = NULL;
    if (provider->library > 0) library = (const void *)((const char *)delegates + provider->library);
    delegates->items[delegates->count++] = (struct hl_delegate){provider->name, delegate, library, provider->delete};
    return true;
}

bool hl_delegates_create(const struct hl_delegate_flags *flags, const struct hl_command *command, const int *positions,
                         struct hl_delegates *delegates)
{
#define IDLE(at, kind, flag, initial, idle, help) {#flag, idle},
    static const struct hl_idle_flag idle_flags[] = {HL_DELEGATE_FLAG_LIST(IDLE, )};
    *delegates = (struct hl_delegates){0};
    if (!flags->use_nnapi && *flags->nnapi_accelerator_name != '\0')
        hl_warn(HL_TFLITE, NULL, "`--use_nnapi=true` must be set for the provided NNAPI accelerator (%s) to be used.",
                flags->nnapi_accelerator_name);
    if (!flags->use_xnnpack && *flags->xnnpack_weight_cache_file_path != '\0')
        hl_warn(HL_TFLITE, NULL, "`--use_xnnpack=true` must be set for the weights to be kept in %s.",
                flags->xnnpack_weight_cache_file_path);
    hl_idle_flags_warn(idle_flags, sizeof idle_flags / sizeof *idle_flags, command, positions);
    bool done[PROVIDERS] = {false};
    for (int n = 0; n < PROVIDERS; n++) {
        int next = -1, place = INT_MAX;
        for (int i = 0; i < PROVIDERS; i++) {
            int position = hl_flags_position(command, positions, providers[i].flag);
            if (done[i] || !providers[i].wanted(flags) || position >= place) continue;
            next = i;
            place = position;
        }
        if (next < 0) break;
        done[next] = true;
        if (!create(&providers[next], flags, delegates)) return false;
    }
    return true;
}

void hl_delegates_free(struct hl_delegates *delegates)
{
    while (delegates->count > 0) {
        struct hl_delegate *last = &delegates->items[--delegates->count];
        last->delete (delegates, last->delegate);
    }
}
