// SPDX-License-Identifier: Apache-2.0
// See delegates.h. Each delegate is a row: what asks for it, how it is made and deleted.
#include "delegates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "message.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"

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
            hl_error(HL_TFLITE, NULL, "--external_delegate_options: '%s' has no ':'; write key:value", item);
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
} providers[] = {
    {"use_gpu", "GPU", wants_gpu, create_gpu, delete_gpu},
    {"external_delegate_path", "EXTERNAL", wants_external, create_external, delete_external},
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
    if (delegate == NULL) {
        hl_error(HL_TFLITE, NULL, "--%s: the delegate cannot be made", provider->flag);
        return false;
    }
    delegates->items[delegates->count++] = (struct hl_delegate){provider->name, delegate, provider->delete};
    return true;
}

bool hl_delegates_create(const struct hl_delegate_flags *flags, const struct hl_command *command, const int *positions,
                         struct hl_delegates *delegates)
{
#define IDLE(at, kind, flag, initial, idle, help) {#flag, idle},
    static const struct hl_idle_flag idle_flags[] = {HL_DELEGATE_FLAG_LIST(IDLE, )};
    *delegates = (struct hl_delegates){0};
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
