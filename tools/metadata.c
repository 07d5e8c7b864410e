// SPDX-License-Identifier: Apache-2.0
// The few fields of a model's metadata that tools ask for. In: a model, whose metadata is a FlatBuffer of its own that
// the verifier of models does not look into. Out: texts and normalization options. The reader checks every step, and
// whatever does not fit reads as absent.
#include "metadata.h"

#include <math.h>
#include <string.h>

#include "model/flatbuffer.h"

static struct hl_flatbuffer find(const TfLiteModel *model)
{
    for (int i = 0; i < model->metadata_count; i++) {
        const struct hl_model_metadata *entry = &model->metadata[i];
        if (entry->name != NULL && strcmp(entry->name, "TFLITE_METADATA") == 0 && entry->data != NULL)
            return (struct hl_flatbuffer){.bytes = (const uint8_t *)entry->data, .size = entry->bytes};
    }
    return (struct hl_flatbuffer){0};
}

static size_t child(const struct hl_flatbuffer *file, size_t table, enum hl_schema field, uint32_t index)
{
    struct hl_vector vector;
    return hl_read_vector(file, table, field, &vector) ? hl_vector_child(file, &vector, index) : 0;
}

// One value for all channels, or one for each.
static bool read_channels(const struct hl_flatbuffer *file, size_t table, enum hl_schema field, double values[3])
{
    struct hl_vector vector;
    if (!hl_read_vector(file, table, field, &vector)) return false;
    if (vector.count != 1 && vector.count != 3) return false;
    for (uint32_t i = 0; i < 3; i++) {
        values[i] = (double)hl_vector_float(file, &vector, vector.count == 1 ? 0 : i);
        if (!isfinite(values[i])) return false;
    }
    return true;
}

// The table of an input of the primary subgraph, 0: there is none.
static size_t find_input(const struct hl_flatbuffer *file, int input)
{
    size_t subgraph = child(file, hl_flatbuffer_root(file), HL_ModelMetadata_subgraph_metadata, 0);
    return child(file, subgraph, HL_SubGraphMetadata_input_tensor_metadata, (uint32_t)input);
}

int hl_metadata_sound_rate(const TfLiteModel *model, int input)
{
    struct hl_flatbuffer file = find(model);
    size_t content = hl_read_child(&file, find_input(&file, input), HL_TensorMetadata_content);
    unsigned type = (unsigned)hl_read_integer(&file, content, HL_Content_content_properties_type);
    if (hl_schema_member(HL_ContentProperties, type) != HL_AudioProperties) return 0;
    size_t sound = hl_read_child(&file, content, HL_Content_content_properties);
    int64_t rate = hl_read_integer(&file, sound, HL_AudioProperties_sample_rate);
    return rate > 0 && rate <= INT32_MAX ? (int)rate : 0;
}

bool hl_metadata_normalization(const TfLiteModel *model, int input, struct hl_normalization *normalization)
{
    struct hl_flatbuffer file = find(model);
    size_t tensor = find_input(&file, input);
    for (uint32_t i = 0;; i++) {
        size_t unit = child(&file, tensor, HL_TensorMetadata_process_units, i);
        if (unit == 0) return false;
        unsigned type = (unsigned)hl_read_integer(&file, unit, HL_ProcessUnit_options_type);
        if (hl_schema_member(HL_ProcessUnitOptions, type) != HL_NormalizationOptions) continue;
        size_t options = hl_read_child(&file, unit, HL_ProcessUnit_options);
        struct hl_normalization found = {.given = true};
        if (!read_channels(&file, options, HL_NormalizationOptions_mean, found.mean) ||
            !read_channels(&file, options, HL_NormalizationOptions_std, found.std))
            return false;
        if (found.std[0] == 0 || found.std[1] == 0 || found.std[2] == 0) return false;
        *normalization = found;
        return true;
    }
}

// NULL where the text is absent or empty.
static const char *read_text(const struct hl_flatbuffer *file, enum hl_schema field)
{
    size_t length;
    const char *text = hl_read_string(file, hl_flatbuffer_root(file), field, &length);
    return length > 0 ? text : NULL;
}

void hl_metadata_about(const TfLiteModel *model, struct hl_metadata_about *about)
{
    struct hl_flatbuffer file = find(model);
    *about = (struct hl_metadata_about){
        .name = read_text(&file, HL_ModelMetadata_name),
        .description = read_text(&file, HL_ModelMetadata_description),
        .version = read_text(&file, HL_ModelMetadata_version),
        .author = read_text(&file, HL_ModelMetadata_author),
        .license = read_text(&file, HL_ModelMetadata_license),
    };
}
