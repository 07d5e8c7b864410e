// SPDX-License-Identifier: Apache-2.0
// See engine.h.
#include "gpu/delegate/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"

struct gpu_engine {
    struct gpu_options options;
    struct hl_mutex mutex; // held between enter and leave
    struct hl_mutex references_mutex;
    int references;
    struct hl_reporter reporter;
    TfLiteContext *context; // of the call that holds the mutex
    const char *stage;
    char said[160]; // the last message
    struct gpu_device_info info;
    struct gpu_device *device; // NULL until opened
    enum gpu_precision precision;
    struct gpu_profiles profiles;
};

// ---- messages -----------------------------------------------------------------------------------

static void write_message(void *user_data, const char *format, va_list args)
{
    static const char prefix[] = "TfLiteGpuDelegate ";
    struct gpu_engine *engine = user_data;
    char text[2048];
    vsnprintf(text, sizeof text, format, args);
    snprintf(engine->said, sizeof engine->said, "%.*s", (int)sizeof engine->said - 1, text);
    bool has_prefix = strncmp(text, prefix, sizeof prefix - 1) == 0;
    if (!engine->context)
        hl_report(NULL, "%s", text);
    else if (has_prefix)
        engine->context->ReportError(engine->context, "%s", text);
    else
        engine->context->ReportError(engine->context, "%s%s: %s", prefix, engine->stage, text);
}

const struct hl_reporter *gpu_engine_reporter(const struct gpu_engine *engine)
{
    return &engine->reporter;
}

// ---- life ---------------------------------------------------------------------------------------

struct gpu_engine *gpu_engine_create(const struct gpu_options *options)
{
    struct gpu_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return NULL;
    if (!hl_mutex_init(&engine->mutex)) {
        free(engine);
        return NULL;
    }
    if (!hl_mutex_init(&engine->references_mutex)) {
        hl_mutex_destroy(&engine->mutex);
        free(engine);
        return NULL;
    }
    engine->options = *options;
    engine->references = 1;
    engine->reporter = (struct hl_reporter){write_message, engine};
    return engine;
}

void gpu_engine_retain(struct gpu_engine *engine)
{
    hl_mutex_lock(&engine->references_mutex);
    engine->references++;
    hl_mutex_unlock(&engine->references_mutex);
}

void gpu_engine_release(struct gpu_engine *engine)
{
    if (!engine) return;
    hl_mutex_lock(&engine->references_mutex);
    bool last = --engine->references == 0;
    hl_mutex_unlock(&engine->references_mutex);
    if (!last) return;
    if (engine->device) engine->info.backend->close(engine->device);
    gpu_options_free(&engine->options);
    hl_mutex_destroy(&engine->mutex);
    hl_mutex_destroy(&engine->references_mutex);
    free(engine);
}

const struct gpu_options *gpu_engine_options(const struct gpu_engine *engine)
{
    return &engine->options;
}

void gpu_engine_enter(struct gpu_engine *engine, TfLiteContext *context, const char *stage)
{
    hl_mutex_lock(&engine->mutex);
    engine->context = context;
    engine->stage = stage;
}

const char *gpu_engine_last_error(const struct gpu_engine *engine)
{
    return engine->said;
}

void gpu_engine_leave(struct gpu_engine *engine)
{
    engine->context = NULL;
    hl_mutex_unlock(&engine->mutex);
}

struct gpu_profiles *gpu_engine_profiles(struct gpu_engine *engine)
{
    return &engine->profiles;
}

// ---- the device ---------------------------------------------------------------------------------

bool gpu_engine_open(struct gpu_engine *engine)
{
    if (engine->device) return true;
    struct gpu_device_info *info = &engine->info;
    if (!gpu_device_choose(engine->options.device, engine->options.backend, &engine->reporter, info)) return false;
    engine->device = info->backend->open(info->index, &engine->reporter);
    if (!engine->device) return false;
    engine->precision = engine->options.precision;
    if (engine->precision == GPU_F16 && !info->caps.half_math) engine->precision = GPU_F16S;
    if (engine->precision == GPU_F16S && !info->caps.half_storage) engine->precision = GPU_F32;
    return true;
}

const struct gpu_device_info *gpu_engine_info(const struct gpu_engine *engine)
{
    return engine->device ? &engine->info : NULL;
}

const struct gpu_backend *gpu_engine_backend(const struct gpu_engine *engine)
{
    return engine->info.backend;
}

struct gpu_device *gpu_engine_device(const struct gpu_engine *engine)
{
    return engine->device;
}

enum gpu_precision gpu_engine_precision(const struct gpu_engine *engine)
{
    return engine->precision;
}
