// SPDX-License-Identifier: Apache-2.0
// See outputs.h. A tf.Example is three messages deep: a map from names to features, a feature a list of one kind. It is
// written here byte by byte; the map is a repeated pair.
#include "benchmark/outputs.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/path.h"
#include "element.h"
#include "message.h"
#include "output_file.h"
#include "values.h"

// ---- the model ----------------------------------------------------------------------------------

static bool open_part(struct hl_model_file *file, const char *graph)
{
    long long offset, size;
    int number, end = 0;
    if (sscanf(graph, "fd:%d:%lld:%lld%n", &number, &offset, &size, &end) != 3 || graph[end] != '\0' || offset < 0 ||
        size < 1 || (unsigned long long)size > SIZE_MAX / 2) {
        hl_error(HL_TFLITE, NULL, "--graph: '%s' is not fd:NUMBER:OFFSET:SIZE", graph);
        return false;
    }
    char *bytes = malloc((size_t)size);
    size_t got = 0;
    if (bytes != NULL && hl_file_read_part(number, (uint64_t)offset, bytes, (size_t)size, &got) && got == (size_t)size)
        return hl_model_file_open_bytes(file, HL_TFLITE, graph, bytes, (size_t)size);
    if (bytes == NULL)
        hl_error(HL_TFLITE, graph, "no memory for %lld bytes", size);
    else
        hl_error(HL_TFLITE, graph, "only %zu of %lld bytes can be read", got, size);
    free(bytes);
    return false;
}

bool hl_benchmark_open_model(struct hl_model_file *file, const char *graph)
{
    return strncmp(graph, "fd:", 3) == 0 ? open_part(file, graph) : hl_model_file_open(file, HL_TFLITE, graph);
}

// ---- tf.Example ---------------------------------------------------------------------------------

enum wire { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static void add_varint(struct hl_text *text, uint64_t value)
{
    for (; value > 127; value >>= 7) hl_text_add_bytes(text, &(char){(char)(value | 128)}, 1);
    hl_text_add_bytes(text, &(char){(char)value}, 1);
}

static void add_field(struct hl_text *text, int field, const char *bytes, size_t count)
{
    add_varint(text, (uint64_t)field << 3 | WIRE_BYTES);
    add_varint(text, count);
    hl_text_add_bytes(text, bytes, count);
}

// Field 1 of a BytesList, FloatList or Int64List; the number of that list in a Feature, or 0 where the type has none.
static int add_list(struct hl_text *list, const TfLiteTensor *tensor)
{
    enum { BYTES = 1, FLOATS = 2, INTEGERS = 3 };
    TfLiteType type = TfLiteTensorType(tensor);
    struct hl_element_type how = hl_element_type(type);
    const void *data = TfLiteTensorData(tensor);
    int64_t count = TfLiteTensorByteSize(tensor) > 0 ? hl_model_elements(tensor) : 0;
    struct hl_text packed = {0};
    int kind = how.view == HL_ELEMENT_REAL ? FLOATS : INTEGERS;
    if (how.view == HL_ELEMENT_STRING) {
        kind = BYTES;
        count = hl_values_strings(data, TfLiteTensorByteSize(tensor));
        for (int64_t i = 0; i < count; i++) {
            size_t length;
            const char *string = hl_values_string(data, i, &length);
            add_field(list, 1, string, length);
        }
        return kind;
    }
    for (int64_t i = 0; i < count; i++) {
        switch (how.view) {
        case HL_ELEMENT_REAL: {
            float value = (float)hl_element_real(type, data, i);
            hl_text_add_bytes(&packed, (const char *)&value, sizeof value);
            break;
        }
        case HL_ELEMENT_SIGNED: add_varint(&packed, (uint64_t)hl_element_signed(data, how.bits, i)); break;
        case HL_ELEMENT_UNSIGNED: add_varint(&packed, hl_element_bits(data, how.bits, i)); break;
        default: kind = 0; break;
        }
    }
    if (kind != 0) add_field(list, 1, hl_text_string(&packed), packed.length);
    hl_text_free(&packed);
    return kind;
}

static void add_feature(struct hl_text *features, const char *name, const TfLiteTensor *tensor)
{
    struct hl_text list = {0}, feature = {0}, pair = {0};
    int kind = add_list(&list, tensor);
    if (kind == 0) {
        hl_warn(HL_TFLITE, NULL, "output '%s' is of type %s, which a tf.Example does not hold", name,
                hl_element_name(TfLiteTensorType(tensor)));
    } else {
        add_field(&feature, kind, hl_text_string(&list), list.length);
        add_field(&pair, 1, name, strlen(name));
        add_field(&pair, 2, feature.data, feature.length);
        add_field(features, 1, pair.data, pair.length);
    }
    hl_text_free(&list);
    hl_text_free(&feature);
    hl_text_free(&pair);
}

// ---- both ---------------------------------------------------------------------------------------

bool hl_benchmark_write_outputs(const struct hl_graph *graph, const struct hl_benchmark_options *options)
{
    struct hl_text raw = {0}, features = {0}, example = {0};
    bool ok = true;
    for (int i = 0; i < graph->output_count; i++) {
        const TfLiteTensor *output = hl_graph_output(graph, i);
        if (TfLiteTensorByteSize(output) > 0)
            hl_text_add_bytes(&raw, TfLiteTensorData(output), TfLiteTensorByteSize(output));
        if (*options->output_proto_filepath != '\0') add_feature(&features, hl_graph_output_name(graph, i), output);
    }
    add_field(&example, 1, hl_text_string(&features), features.length);
    if (*options->output_filepath != '\0')
        ok = hl_output_write(HL_TFLITE, options->output_filepath, raw.data, raw.length);
    if (*options->output_proto_filepath != '\0')
        ok = hl_output_write(HL_TFLITE, options->output_proto_filepath, example.data, example.length) && ok;
    hl_text_free(&raw);
    hl_text_free(&features);
    hl_text_free(&example);
    return ok;
}
