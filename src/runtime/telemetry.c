// SPDX-License-Identifier: Apache-2.0
// Telemetry. In: an interpreter and its application's profiler. Out: calls of the profiler, with settings that it reads
// by the functions of telemetry_setting.h, which are here too. Settings live as long as the call.
#include "runtime/telemetry.h"

#include <stdlib.h>
#include <string.h>

#include "model/flatbuffer.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"
#include "tensorflow/lite/profiling/telemetry/c/telemetry_setting.h"

// Who reports, as the original numbers them: in settings, and in the upper half of an event's status.
enum { SOURCE_INTERPRETER = 1 };

struct TfLiteTelemetryConversionMetadata {
    int32_t *modes;
    size_t mode_count;
};

struct TfLiteTelemetrySubgraphInfo {
    TfLiteQuantization *quantizations;
    size_t quantization_count;
};

struct TfLiteTelemetryInterpreterSettings {
    const TfLiteTelemetryConversionMetadata *metadata;
    TfLiteTelemetrySubgraphInfo *subgraphs;
    size_t subgraph_count;
};

// As the original's GPU delegates have them.
struct TfLiteTelemetryGpuDelegateSettings {
    size_t nodes_delegated;
    int backend;
};

void hl_telemetry_event(const TfLiteInterpreter *interpreter, const char *event, TfLiteStatus status)
{
    TfLiteTelemetryProfilerStruct *telemetry = interpreter->options->telemetry;
    if (telemetry && telemetry->ReportTelemetryEvent)
        telemetry->ReportTelemetryEvent(telemetry, event, (uint64_t)SOURCE_INTERPRETER << 32 | (uint32_t)status);
}

// ---- settings -----------------------------------------------------------------------------------

// The converter leaves a FlatBuffer of its own among the model's metadata. False where there is none, or nothing in it.
static bool read_metadata(const TfLiteModel *model, TfLiteTelemetryConversionMetadata *metadata)
{
    const struct hl_model_metadata *entry = model->metadata;
    const struct hl_model_metadata *end = entry + model->metadata_count;
    while (entry < end && strcmp(entry->name, "CONVERSION_METADATA") != 0) entry++;
    if (entry == end) return false;
    struct hl_flatbuffer file = {(const uint8_t *)entry->data, entry->bytes};
    size_t root = hl_flatbuffer_root(&file); // reading checks each step: what is broken is not there
    if (root == 0) return false;
    size_t options = hl_read_child(&file, root, HL_ConversionMetadata_options);
    struct hl_vector modes = {0};
    if (options == 0 || !hl_read_vector(&file, options, HL_ConversionOptions_model_optimization_modes, &modes))
        return true;
    metadata->modes = calloc(modes.count ? modes.count : 1, sizeof *metadata->modes);
    if (!metadata->modes) return false;
    metadata->mode_count = modes.count;
    for (uint32_t i = 0; i < modes.count; i++) metadata->modes[i] = (int32_t)hl_vector_integer(&file, &modes, i);
    return true;
}

// Quantization of every tensor that the model has.
static bool read_subgraph(const struct hl_subgraph *subgraph, TfLiteTelemetrySubgraphInfo *info)
{
    size_t count = (size_t)subgraph->model->tensor_count;
    info->quantizations = calloc(count ? count : 1, sizeof *info->quantizations);
    if (!info->quantizations) return false;
    info->quantization_count = count;
    for (size_t i = 0; i < count; i++) info->quantizations[i] = subgraph->context.tensors[i].quantization;
    return true;
}

void hl_telemetry_settings(const TfLiteInterpreter *interpreter)
{
    TfLiteTelemetryProfilerStruct *telemetry = interpreter->options->telemetry;
    if (!telemetry || !telemetry->ReportSettings) return;
    size_t count = (size_t)interpreter->subgraph_count;
    TfLiteTelemetryConversionMetadata metadata = {0};
    TfLiteTelemetryInterpreterSettings settings = {
        .metadata = read_metadata(interpreter->model, &metadata) ? &metadata : NULL,
        .subgraphs = calloc(count, sizeof *settings.subgraphs),
    };
    bool complete = settings.subgraphs != NULL;
    while (complete && settings.subgraph_count < count) {
        size_t i = settings.subgraph_count++;
        complete = read_subgraph(interpreter->subgraphs[i], &settings.subgraphs[i]);
    }
    if (complete) // under the name that the original's profilers know
        telemetry->ReportSettings(telemetry, "InterpreterBuilder::operator()",
                                  &(TfLiteTelemetrySettings){SOURCE_INTERPRETER, &settings});
    for (size_t i = 0; i < settings.subgraph_count; i++) free(settings.subgraphs[i].quantizations);
    free(settings.subgraphs);
    free(metadata.modes);
}

// ---- what profilers read them with --------------------------------------------------------------

const int32_t *TfLiteTelemetryConversionMetadataGetModelOptimizationModes(
    const TfLiteTelemetryConversionMetadata *metadata)
{
    return metadata ? metadata->modes : NULL;
}

size_t TfLiteTelemetryConversionMetadataGetNumModelOptimizationModes(const TfLiteTelemetryConversionMetadata *metadata)
{
    return metadata ? metadata->mode_count : 0;
}

const TfLiteTelemetryConversionMetadata *TfLiteTelemetryInterpreterSettingsGetConversionMetadata(
    const TfLiteTelemetryInterpreterSettings *settings)
{
    return settings ? settings->metadata : NULL;
}

size_t TfLiteTelemetryInterpreterSettingsGetNumSubgraphInfo(const TfLiteTelemetryInterpreterSettings *settings)
{
    return settings ? settings->subgraph_count : 0;
}

const TfLiteTelemetrySubgraphInfo *TfLiteTelemetryInterpreterSettingsGetSubgraphInfo(
    const TfLiteTelemetryInterpreterSettings *settings)
{
    return settings ? settings->subgraphs : NULL;
}

size_t TfLiteTelemetrySubgraphInfoGetNumQuantizations(TfLiteTelemetrySubgraphInfo *subgraph_info)
{
    return subgraph_info ? subgraph_info->quantization_count : 0;
}

const TfLiteQuantization *TfLiteTelemetrySubgraphInfoGetQuantizations(TfLiteTelemetrySubgraphInfo *subgraph_info)
{
    return subgraph_info ? subgraph_info->quantizations : NULL;
}

size_t TfLiteTelemetryGpuDelegateSettingsGetNumNodesDelegated(const TfLiteTelemetryGpuDelegateSettings *settings)
{
    return settings ? settings->nodes_delegated : 0;
}

int TfLiteTelemetryGpuDelegateSettingsGetBackend(const TfLiteTelemetryGpuDelegateSettings *settings)
{
    return settings ? settings->backend : 0;
}
