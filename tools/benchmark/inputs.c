// SPDX-License-Identifier: Apache-2.0
// See inputs.h.
#include "benchmark/inputs.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "element.h"
#include "files.h"
#include "message.h"
#include "values.h"

// Random strings are all this one.
static const char sentence[] = "Salt is what remains when the sea goes.";

// ---- lists in flags -----------------------------------------------------------------------------

// Calls take(item) for each part of text between separators; a doubled ':' is part of an item where `doubled`.
static bool each(const char *text, char separator, bool doubled,
                 bool (*take)(void *user, char *item, int index), void *user)
{
    bool ok = true;
    struct hl_text item = {0};
    for (int index = 0; ok && *text != '\0'; index++) {
        hl_text_clear(&item);
        hl_text_add(&item, "%s", "");
        for (; *text != '\0' && *text != separator; text++) {
            hl_text_add_bytes(&item, text, 1);
            if (doubled && text[0] == ':' && text[1] == ':') hl_text_add_bytes(&item, ++text, 1);
        }
        ok = take(user, item.data, index);
        if (*text != '\0') text++;
    }
    hl_text_free(&item);
    return ok;
}

static int find_input(const struct hl_graph *graph, const char *name)
{
    for (int i = 0; i < graph->input_count; i++)
        if (strcmp(hl_graph_input_name(graph, i), name) == 0) return i;
    struct hl_text names = {0};
    for (int i = 0; i < graph->input_count; i++)
        hl_text_add(&names, "%s%s", i > 0 ? ", " : "", hl_graph_input_name(graph, i));
    hl_error(HL_TFLITE, NULL, "there is no input '%s'; the inputs are: %s", name,
             hl_text_string(&names));
    hl_text_free(&names);
    return -1;
}

// ---- shapes -------------------------------------------------------------------------------------

struct layers {
    struct hl_graph *graph;
    int count;
    int *inputs; // index of each layer named
};

static bool take_layer(void *user, char *item, int index)
{
    struct layers *layers = user;
    layers->inputs = hl_alloc_grow(layers->inputs, (size_t)index + 1, sizeof *layers->inputs);
    layers->inputs[index] = find_input(layers->graph, item);
    layers->count = index + 1;
    return layers->inputs[index] >= 0;
}

static bool take_shape(void *user, char *item, int index)
{
    struct layers *layers = user;
    int dims[8], rank = 0;
    if (index >= layers->count) {
        hl_error(HL_TFLITE, NULL, "--input_layer_shape has more shapes than --input_layer names");
        return false;
    }
    for (char *at = item, *end = item; *at != '\0' && end != NULL;
         at = *end == ',' ? end + 1 : end) {
        errno = 0;
        long value = strtol(at, &end, 10);
        if (end == at || errno != 0 || value < 0 || value > INT_MAX ||
            (*end != ',' && *end != '\0') || rank == (int)(sizeof dims / sizeof *dims)) {
            hl_error(HL_TFLITE, NULL, "--input_layer_shape: '%s' is no shape like 1,224,224,3",
                     item);
            return false;
        }
        dims[rank++] = (int)value;
    }
    if (hl_graph_resize_input(layers->graph, layers->inputs[index], rank, dims) == kTfLiteOk)
        return true;
    hl_model_file_failed(layers->graph->file, "the shape is refused");
    return false;
}

bool hl_benchmark_inputs_resize(struct hl_graph *graph, const struct hl_benchmark_options *options)
{
    struct layers layers = {.graph = graph};
    bool ok = each(options->input_layer, ',', false, take_layer, &layers) &&
              each(options->input_layer_shape, ':', false, take_shape, &layers);
    free(layers.inputs);
    return ok;
}

// ---- values -------------------------------------------------------------------------------------

struct maker {
    struct hl_graph *graph;
    struct hl_benchmark_inputs *inputs;
    struct range {
        bool given;
        long long low, high;
    } * ranges;
    uint64_t random;
};

static bool take_range(void *user, char *item, int index)
{
    (void)index;
    struct maker *maker = user;
    char *second = strrchr(item, ','), *first = NULL, *end;
    if (second != NULL) {
        *second++ = '\0';
        first = strrchr(item, ',');
    }
    if (first == NULL) {
        hl_error(HL_TFLITE, NULL, "--input_layer_value_range: '%s' is not NAME,LOW,HIGH", item);
        return false;
    }
    *first++ = '\0';
    int input = find_input(maker->graph, item);
    if (input < 0) return false;
    struct range range = {.given = true, .low = strtoll(first, &end, 10)};
    bool ok = end != first && *end == '\0';
    range.high = strtoll(second, &end, 10);
    if (!ok || end == second || *end != '\0' || range.low > range.high || range.low < INT32_MIN ||
        range.high > INT32_MAX) {
        hl_error(HL_TFLITE, NULL,
                 "--input_layer_value_range: %s: '%s' to '%s' is no range of whole numbers", item,
                 first, second);
        return false;
    }
    maker->ranges[input] = range;
    return true;
}

static bool take_file(void *user, char *item, int index)
{
    (void)index;
    struct maker *maker = user;
    // The first ':' that is not doubled ends the name; in the path a ':' is one.
    char *colon = item, *name = item;
    struct hl_text unescaped = {0};
    hl_text_add(&unescaped, "%s", "");
    for (; *colon != '\0'; colon++) {
        if (colon[0] == ':' && colon[1] != ':') break;
        if (colon[0] == ':') colon++;
        hl_text_add_bytes(&unescaped, colon, 1);
    }
    bool ok = *colon == ':';
    if (!ok) hl_error(HL_TFLITE, NULL, "--input_layer_value_files: '%s' is not NAME:FILE", name);
    int input = ok ? find_input(maker->graph, unescaped.data) : -1;
    hl_text_free(&unescaped);
    if (input < 0) return false;
    struct hl_text content = {0}, error = {0};
    ok = hl_files_read(colon + 1, HL_FILES_MOST, &content, &error);
    if (!ok) hl_error(HL_TFLITE, colon + 1, "%s", error.data);
    const TfLiteTensor *tensor = hl_graph_input(maker->graph, input);
    if (ok && TfLiteTensorType(tensor) == kTfLiteString) {
        hl_values_pack_lines(hl_text_string(&content), content.length,
                             &maker->inputs->values[input]);
    } else if (ok && content.length != TfLiteTensorByteSize(tensor)) {
        hl_error(HL_TFLITE, colon + 1, "the file has %zu bytes, input '%s' takes %zu",
                 content.length, hl_graph_input_name(maker->graph, input),
                 TfLiteTensorByteSize(tensor));
        ok = false;
    } else if (ok) {
        hl_text_add_bytes(&maker->inputs->values[input], hl_text_string(&content), content.length);
    }
    hl_text_free(&content);
    hl_text_free(&error);
    return ok;
}

// From 0 to 1, without 1: xorshift64*.
static double uniform(struct maker *maker)
{
    maker->random ^= maker->random >> 12;
    maker->random ^= maker->random << 25;
    maker->random ^= maker->random >> 27;
    return (double)(maker->random * UINT64_C(0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

// Random integers where no range is given: the original's.
static struct range default_range(TfLiteType type)
{
    struct hl_element_type how = hl_element_type(type);
    if (type == kTfLiteBool) return (struct range){true, 0, 1};
    if (how.bits == 8)
        return how.view == HL_ELEMENT_SIGNED ? (struct range){true, -127, 127}
                                             : (struct range){true, 0, 254};
    if (how.bits == 16) return (struct range){true, 0, 0};
    return how.bits > 16 ? (struct range){true, 0, 99} : (struct range){true, 0, 1};
}

static bool make_random(struct maker *maker, int input)
{
    const TfLiteTensor *tensor = hl_graph_input(maker->graph, input);
    TfLiteType type = TfLiteTensorType(tensor);
    int64_t count = hl_model_elements(tensor);
    struct hl_text *values = &maker->inputs->values[input];
    if (type == kTfLiteString && count <= HL_VALUES_MOST_STRINGS) {
        hl_values_pack_string(sentence, (int)count, values);
        return true;
    }
    struct hl_element_type how = hl_element_type(type);
    size_t bytes = TfLiteTensorByteSize(tensor);
    hl_text_reserve(values, bytes);
    memset(values->data, 0, bytes);
    values->length = bytes;
    struct range range = maker->ranges[input].given ? maker->ranges[input] : default_range(type);
    if (how.view == HL_ELEMENT_COMPLEX) count *= 2;
    for (int64_t i = 0; i < count; i++) {
        double value =
            (double)range.low + floor(uniform(maker) * (double)(range.high - range.low + 1));
        switch (how.view) {
        case HL_ELEMENT_SIGNED:
            hl_element_set_bits(values->data, how.bits, i, (uint64_t)(int64_t)value);
            break;
        case HL_ELEMENT_UNSIGNED:
            hl_element_set_bits(values->data, how.bits, i, (uint64_t)value);
            break;
        case HL_ELEMENT_COMPLEX:
        case HL_ELEMENT_REAL:
            hl_element_set_real(type, values->data, i,
                                maker->ranges[input].given ? value : uniform(maker) - 0.5);
            break;
        default:
            hl_error(HL_TFLITE, NULL,
                     "input '%s' is of type %s: give its values with --input_layer_value_files",
                     hl_graph_input_name(maker->graph, input), hl_element_name(type));
            return false;
        }
    }
    return true;
}

bool hl_benchmark_inputs_make(struct hl_benchmark_inputs *inputs, struct hl_graph *graph,
                              const struct hl_benchmark_options *options)
{
    struct maker maker = {.graph = graph, .inputs = inputs, .random = 1};
    inputs->count = graph->input_count;
    inputs->values = hl_alloc((size_t)graph->input_count, sizeof *inputs->values);
    maker.ranges = hl_alloc((size_t)graph->input_count, sizeof *maker.ranges);
    bool ok = each(options->input_layer_value_range, ':', false, take_range, &maker) &&
              each(options->input_layer_value_files, ',', false, take_file, &maker);
    for (int i = 0; ok && i < inputs->count; i++)
        if (inputs->values[i].data == NULL) ok = make_random(&maker, i);
    free(maker.ranges);
    return ok;
}

bool hl_benchmark_inputs_write(const struct hl_benchmark_inputs *inputs, struct hl_graph *graph)
{
    for (int i = 0; i < inputs->count; i++) {
        TfLiteTensor *tensor = hl_graph_input(graph, i);
        const struct hl_text *values = &inputs->values[i];
        if (TfLiteTensorType(tensor) == kTfLiteString &&
            TfLiteTensorRealloc(values->length, tensor) != kTfLiteOk)
            return false;
        if (values->length == 0) continue;
        if (TfLiteTensorByteSize(tensor) != values->length || TfLiteTensorData(tensor) == NULL) {
            hl_error(HL_TFLITE, NULL, "input '%s' takes %zu bytes, its values have %zu",
                     hl_graph_input_name(graph, i), TfLiteTensorByteSize(tensor), values->length);
            return false;
        }
        memcpy(TfLiteTensorData(tensor), values->data, values->length);
    }
    return true;
}

void hl_benchmark_inputs_free(struct hl_benchmark_inputs *inputs)
{
    for (int i = 0; i < inputs->count; i++) hl_text_free(&inputs->values[i]);
    free(inputs->values);
    *inputs = (struct hl_benchmark_inputs){0};
}
