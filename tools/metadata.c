// SPDX-License-Identifier: Apache-2.0
// A reader for the few tables on the way to the normalization options. Metadata is a FlatBuffer inside the model that
// the model's verifier does not look into, so every offset is checked here; whatever does not fit reads as absent.
#include "metadata.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/half.h"

// Field numbers in metadata_schema.fbs.
enum {
    MODEL_NAME = 0,
    MODEL_DESCRIPTION = 1,
    MODEL_VERSION = 2,
    MODEL_SUBGRAPHS = 3,
    MODEL_AUTHOR = 4,
    MODEL_LICENSE = 5,
    SUBGRAPH_INPUTS = 2,
    TENSOR_PROCESS_UNITS = 4,
    UNIT_OPTIONS_TYPE = 0,
    UNIT_OPTIONS = 1,
    NORMALIZATION_MEAN = 0,
    NORMALIZATION_STD = 1,
    OPTIONS_NORMALIZATION = 1, // in the union of process unit options
};

// A part of the buffer, by the position of its first byte; 0 is absent.
struct bytes {
    const unsigned char *data;
    size_t size;
};

static bool has(const struct bytes *bytes, size_t at, size_t count)
{
    return at <= bytes->size && count <= bytes->size - at;
}

static uint32_t word(const struct bytes *bytes, size_t at, int size)
{
    uint32_t value = 0;
    for (int i = size - 1; i >= 0; i--) value = value << 8 | bytes->data[at + (size_t)i];
    return value;
}

// Where the reference stored at `at` points to.
static size_t follow(const struct bytes *bytes, size_t at)
{
    if (at == 0 || !has(bytes, at, 4)) return 0;
    size_t target = at + word(bytes, at, 4);
    return target > at && has(bytes, target, 4) ? target : 0;
}

// Position of a table's field.
static size_t field(const struct bytes *bytes, size_t table, int number)
{
    if (table == 0 || !has(bytes, table, 4)) return 0;
    int64_t place = (int64_t)table - (int32_t)word(bytes, table, 4);
    if (place < 0 || !has(bytes, (size_t)place, 4)) return 0;
    size_t vtable = (size_t)place, entry = 4 + 2 * (size_t)number;
    if (entry + 2 > word(bytes, vtable, 2) || !has(bytes, vtable, entry + 2)) return 0;
    uint32_t offset = word(bytes, vtable + entry, 2);
    return offset != 0 && has(bytes, table + offset, 1) ? table + offset : 0;
}

// Position of element 0 of a vector of 4-byte elements, and their number.
static size_t vector(const struct bytes *bytes, size_t table, int number, uint32_t *count)
{
    size_t start = follow(bytes, field(bytes, table, number));
    *count = start != 0 ? word(bytes, start, 4) : 0;
    if (start == 0 || *count > bytes->size / 4 || !has(bytes, start + 4, 4 * (size_t)*count)) *count = 0;
    return start + 4;
}

static size_t child(const struct bytes *bytes, size_t table, int number, uint32_t index)
{
    uint32_t count;
    size_t start = vector(bytes, table, number, &count);
    return index < count ? follow(bytes, start + 4 * (size_t)index) : 0;
}

// One value for all channels, or one for each.
static bool read_channels(const struct bytes *bytes, size_t table, int number, double values[3])
{
    uint32_t count;
    size_t start = vector(bytes, table, number, &count);
    if (count != 1 && count != 3) return false;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t bits = word(bytes, start + 4 * (size_t)(count == 1 ? 0 : i), 4);
        values[i] = (double)hl_float_from_bits(bits);
        if (!isfinite(values[i])) return false;
    }
    return true;
}

static struct bytes find(const TfLiteModel *model)
{
    for (int i = 0; i < model->metadata_count; i++) {
        const struct hl_model_metadata *entry = &model->metadata[i];
        if (entry->name != NULL && strcmp(entry->name, "TFLITE_METADATA") == 0 && entry->data != NULL)
            return (struct bytes){(const unsigned char *)entry->data, entry->bytes};
    }
    return (struct bytes){NULL, 0};
}

static size_t root(const struct bytes *bytes)
{
    if (!has(bytes, 0, 4)) return 0;
    size_t table = word(bytes, 0, 4);
    return has(bytes, table, 4) ? table : 0;
}

bool hl_metadata_normalization(const TfLiteModel *model, int input, struct hl_normalization *normalization)
{
    struct bytes bytes = find(model);
    size_t subgraph = child(&bytes, root(&bytes), MODEL_SUBGRAPHS, 0);
    size_t tensor = child(&bytes, subgraph, SUBGRAPH_INPUTS, (uint32_t)input);
    for (uint32_t i = 0;; i++) {
        size_t unit = child(&bytes, tensor, TENSOR_PROCESS_UNITS, i);
        if (unit == 0) return false;
        size_t type = field(&bytes, unit, UNIT_OPTIONS_TYPE);
        if (type == 0 || bytes.data[type] != OPTIONS_NORMALIZATION) continue;
        size_t options = follow(&bytes, field(&bytes, unit, UNIT_OPTIONS));
        struct hl_normalization found = {.given = true};
        if (!read_channels(&bytes, options, NORMALIZATION_MEAN, found.mean) ||
            !read_channels(&bytes, options, NORMALIZATION_STD, found.std))
            return false;
        if (found.std[0] == 0 || found.std[1] == 0 || found.std[2] == 0) return false;
        *normalization = found;
        return true;
    }
}

static const char *string(const struct bytes *bytes, int number)
{
    size_t start = follow(bytes, field(bytes, root(bytes), number));
    if (start == 0) return NULL;
    size_t length = word(bytes, start, 4);
    if (length == 0 || !has(bytes, start + 4, length + 1)) return NULL;
    return bytes->data[start + 4 + length] == '\0' ? (const char *)bytes->data + start + 4 : NULL;
}

void hl_metadata_about(const TfLiteModel *model, struct hl_metadata_about *about)
{
    struct bytes bytes = find(model);
    *about = (struct hl_metadata_about){
        .name = string(&bytes, MODEL_NAME),
        .description = string(&bytes, MODEL_DESCRIPTION),
        .version = string(&bytes, MODEL_VERSION),
        .author = string(&bytes, MODEL_AUTHOR),
        .license = string(&bytes, MODEL_LICENSE),
    };
}
