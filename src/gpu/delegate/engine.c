// SPDX-License-Identifier: Apache-2.0
// See engine.h.
#include "gpu/delegate/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/delegate/custom_op.h"
#include "gpu/delegate/tuning_file.h"
#include "gpu/ops/cooperative.h"

// ---- messages -----------------------------------------------------------------------------------

static void write_message(void *user_data, const char *format, va_list args)
{
    static const char prefix[] = "TfLiteGpuDelegate ";
    struct gpu_engine *engine = user_data;
    char text[2048];
    vsnprintf(text, sizeof text, format, args);
    snprintf(engine->last_error, sizeof engine->last_error, "%.*s", (int)sizeof engine->last_error - 1, text);
    bool has_prefix = strncmp(text, prefix, sizeof prefix - 1) == 0;
    if (!engine->context)
        hl_report(NULL, "%s", text);
    else if (has_prefix)
        engine->context->ReportError(engine->context, "%s", text);
    else
        engine->context->ReportError(engine->context, "%s%s: %s", prefix, engine->stage, text);
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
    if (engine->device) {
        if (engine->buffers.commands) engine->info.backend->commands_release(engine->device, engine->buffers.commands);
        gpu_programs_destroy(&engine->programs);
        engine->info.backend->close(engine->device);
    }
    gpu_tuning_free(&engine->tuning);
    gpu_options_free(&engine->options);
    free(engine->buffers.list);
    gpu_custom_ops_free(engine->custom_ops);
    hl_mutex_destroy(&engine->mutex);
    hl_mutex_destroy(&engine->references_mutex);
    free(engine);
}

void gpu_engine_enter(struct gpu_engine *engine, TfLiteContext *context, const char *stage)
{
    hl_mutex_lock(&engine->mutex);
    engine->context = context;
    engine->stage = stage;
}

void gpu_engine_leave(struct gpu_engine *engine)
{
    engine->context = NULL;
    hl_mutex_unlock(&engine->mutex);
}

// ---- the device ---------------------------------------------------------------------------------

bool gpu_engine_open(struct gpu_engine *engine)
{
    if (engine->device) return true;
    struct gpu_device_info *info = &engine->info;
    if (engine->options.context.api != kHaliteGpuApiNone) {
        engine->device = gpu_device_adopt(&engine->options.context, &engine->reporter, info);
    } else {
        const struct gpu_options *options = &engine->options;
        if (!gpu_device_choose(options->device, options->backend, options->sustained, &engine->reporter, info))
            return false;
        engine->device = info->backend->open(info->index, &engine->reporter);
    }
    if (!engine->device) return false;
    if (info->backend->set_wait_limit) info->backend->set_wait_limit(engine->device, engine->options.wait_limit);
    if (info->backend->set_wait && !info->backend->set_wait(engine->device, engine->options.wait)) {
        info->backend->close(engine->device);
        engine->device = NULL;
        return false;
    }
    engine->programs =
        (struct gpu_program_pool){.backend = info->backend, .device = engine->device, .reporter = &engine->reporter};
    engine->precision = engine->options.precision;
    if (engine->precision == GPU_F16 && !gpu_caps_take_f16(&info->caps)) engine->precision = GPU_F16S;
    if (engine->precision == GPU_F16S && !info->caps.half_storage) engine->precision = GPU_F32;
    gpu_cooperative_check(info->backend, engine->device, engine->precision, &engine->reporter);
    gpu_tuning_file_load(engine);
    return true;
}

int gpu_engine_first_batch(struct gpu_engine *engine, uint64_t graph, int batch)
{
    enum { ROOM = sizeof engine->first_batches / sizeof *engine->first_batches };
    for (int i = 0; i < engine->first_batch_count && i < ROOM; i++)
        if (engine->first_batches[i].graph == graph) return engine->first_batches[i].batch;
    engine->first_batches[engine->first_batch_count++ % ROOM] = (struct gpu_first_batch){graph, batch};
    return batch;
}

const struct gpu_device_info *gpu_engine_info(const struct gpu_engine *engine)
{
    return engine->device ? &engine->info : NULL;
}
