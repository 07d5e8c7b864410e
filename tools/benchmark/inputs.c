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
static bool each(const char *text, char separator, bool doubled, bool (*take)(void *user, char *item, int index),
                 void *user)
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

// ---- inputs by name -----------------------------------------------------------------------------

// --input_layer: which input each name is.
struct layers {
    struct hl_graph *graph;
    int count;
    char **names;
    int *inputs;
};

// The input that the model calls so, or -1.
static int named_input(const struct hl_graph *graph, const char *name)
{
    for (int i = 0; i < graph->input_count; i++) {
        const char *tensor = TfLiteTensorName(hl_graph_input(graph, i));
        if (strcmp(hl_graph_input_name(graph, i), name) == 0 || (tensor != NULL && strcmp(tensor, name) == 0)) return i;
    }
    return -1;
}

static int no_input(const struct hl_graph *graph, const char *name)
{
    struct hl_text names = {0};
    for (int i = 0; i < graph->input_count; i++)
        hl_text_add(&names, "%s%s", i > 0 ? ", " : "", hl_graph_input_name(graph, i));
    hl_error(HL_TFLITE, NULL, "there is no input '%s'; the inputs are: %s", name, hl_text_string(&names));
    hl_text_free(&names);
    return -1;
}

static bool take_layer(void *user, char *item, int index)
{
    struct layers *layers = user;
    size_t count = (size_t)index + 1;
    layers->names = hl_alloc_grow(layers->names, count, sizeof *layers->names);
    layers->inputs = hl_alloc_grow(layers->inputs, count, sizeof *layers->inputs);
    layers->names[index] = hl_alloc_string(item);
    layers->inputs[index] = named_input(layers->graph, item);
    layers->count = index + 1;
    return true;
}

// Names that the model does not know stand for its inputs in their order, one for each, as in the original.
static bool find_layers(struct layers *layers, struct hl_graph *graph, const char *list)
{
    *layers = (struct layers){.graph = graph};
    each(list, ',', false, take_layer, layers);
    const char *unknown = NULL;
    for (int i = 0; i < layers->count && unknown == NULL; i++)
        if (layers->inputs[i] < 0) unknown = layers->names[i];
    if (unknown == NULL) return true;
    if (layers->count != graph->input_count) return no_input(graph, unknown) >= 0;
    for (int i = 0; i < layers->count; i++) layers->inputs[i] = i;
    return true;
}

static void warn_of_names(const struct layers *layers)
{
    for (int i = 0; i < layers->count; i++)
        if (named_input(layers->graph, layers->names[i]) != layers->inputs[i])
            hl_warn(HL_TFLITE, NULL, "Tensor # %d is named %s but flags call it %s", layers->inputs[i],
                    hl_graph_input_name(layers->graph, layers->inputs[i]), layers->names[i]);
}

static void free_layers(struct layers *layers)
{
    for (int i = 0; i < layers->count; i++) free(layers->names[i]);
    free(layers->names);
    free(layers->inputs);
}

// By the name that --input_layer gives it, or its own; -1 after a message.
static int find_input(const struct layers *layers, const char *name)
{
    for (int i = 0; i < layers->count; i++)
        if (strcmp(layers->names[i], name) == 0) return layers->inputs[i];
    int input = named_input(layers->graph, name);
    return input >= 0 ? input : no_input(layers->graph, name);
}

// ---- shapes -------------------------------------------------------------------------------------

static bool take_shape(void *user, char *item, int index)
{
    struct layers *layers = user;
    int dims[8], rank = 0;
    if (index >= layers->count) {
        hl_error(HL_TFLITE, NULL, "--input_layer_shape has more shapes than --input_layer names");
        return false;
    }
    for (char *at = item, *end = item; *at != '\0' && end != NULL; at = *end == ',' ? end + 1 : end) {
        errno = 0;
        long value = strtol(at, &end, 10);
        if (end == at || errno != 0 || value < 0 || value > INT_MAX || (*end != ',' && *end != '\0') ||
            rank == (int)(sizeof dims / sizeof *dims)) {
            hl_error(HL_TFLITE, NULL, "--input_layer_shape: '%s' is no shape like 1,224,224,3", item);
            return false;
        }
        dims[rank++] = (int)value;
    }
    if (hl_graph_resize_input(layers->graph, layers->inputs[index], rank, dims) == kTfLiteOk) return true;
    hl_model_file_failed(layers->graph->file, "the shape is refused");
    return false;
}

bool hl_benchmark_inputs_resize(struct hl_graph *graph, const struct hl_benchmark_options *options)
{
    struct layers layers;
    bool ok = find_layers(&layers, graph, options->input_layer);
    if (ok) warn_of_names(&layers);
    ok = ok && each(options->input_layer_shape, ':', false, take_shape, &layers);
    free_layers(&layers);
    return ok;
}

// ---- values -------------------------------------------------------------------------------------

struct maker {
    struct hl_graph *graph;
    struct layers layers;
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
    int input = find_input(&maker->layers, item);
    if (input < 0) return false;
    struct range range = {.given = true, .low = strtoll(first, &end, 10)};
    bool ok = end != first && *end == '\0';
    range.high = strtoll(second, &end, 10);
    if (!ok || end == second || *end != '\0' || range.low > range.high || range.low < INT32_MIN ||
        range.high > INT32_MAX) {
        hl_error(HL_TFLITE, NULL, "--input_layer_value_range: %s: '%s' to '%s' is no range of whole numbers", item,
                 first, second);
        return false;
    }
    maker->ranges[input] = range;
    return true;
}

// The strings of a file end with zero bytes; where that does not give as many as the input takes, they are its lines.
static bool pack_strings(const TfLiteTensor *tensor, const char *path, const struct hl_text *content,
                         struct hl_text *values)
{
    size_t length = strlen(path);
    int64_t wanted = hl_model_elements(tensor);
    const char *text = hl_text_string(content);
    // As in the original, a message is one string.
    bool message = length > 3 && strcmp(path + length - 3, ".pb") == 0;
    int count = hl_values_pack_parts(text, content->length, message ? -1 : '\0', values);
    if (count == wanted) return true;
    hl_text_clear(values);
    int lines = hl_values_pack_parts(text, content->length, '\n', values);
    if (!message && lines == wanted) return true;
    hl_error(HL_TFLITE, path,
             "the file has %d strings that end with a zero byte and %d lines, the input takes %lld "
             "strings",
             count, lines, (long long)wanted);
    return false;
}

static bool take_file(void *user, char *item, int index)
{
    (void)index;
    struct maker *maker = user;
    // The first ':' that is not doubled ends the name; a doubled one is one.
    struct hl_text parts[2] = {{0}};
    int part = 0;
    for (int i = 0; i < 2; i++) hl_text_add(&parts[i], "%s", "");
    for (const char *at = item; *at != '\0'; at++) {
        bool colon = *at == ':', doubled = colon && at[1] == ':';
        if (colon && !doubled && part == 0)
            part = 1;
        else
            hl_text_add_bytes(&parts[part], at, 1);
        at += doubled;
    }
    const char *path = parts[1].data;
    if (part == 0) hl_error(HL_TFLITE, NULL, "--input_layer_value_files: '%s' is not NAME:FILE", item);
    int input = part == 1 ? find_input(&maker->layers, parts[0].data) : -1;
    struct hl_text content = {0}, error = {0};
    bool ok = input >= 0 && hl_files_read(path, HL_FILES_MOST, &content, &error);
    if (input >= 0 && !ok) hl_error(HL_TFLITE, path, "%s", error.data);
    const TfLiteTensor *tensor = input >= 0 ? hl_graph_input(maker->graph, input) : NULL;
    if (ok && maker->ranges[input].given)
        hl_warn(HL_TFLITE, NULL,
                "The input_name:%s appears both in input_layer_value_files and "
                "input_layer_value_range. The input_layer_value_range of the input_name will be "
                "ignored.",
                parts[0].data);
    if (ok && TfLiteTensorType(tensor) == kTfLiteString) {
        ok = pack_strings(tensor, path, &content, &maker->inputs->values[input]);
    } else if (ok && content.length != TfLiteTensorByteSize(tensor)) {
        hl_error(HL_TFLITE, path, "the file has %zu bytes, input '%s' takes %zu", content.length,
                 hl_graph_input_name(maker->graph, input), TfLiteTensorByteSize(tensor));
        ok = false;
    } else if (ok) {
        hl_text_add_bytes(&maker->inputs->values[input], hl_text_string(&content), content.length);
    }
    hl_text_free(&content);
    hl_text_free(&error);
    for (int i = 0; i < 2; i++) hl_text_free(&parts[i]);
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
        return how.view == HL_ELEMENT_SIGNED ? (struct range){true, -127, 127} : (struct range){true, 0, 254};
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
        double value = (double)range.low + floor(uniform(maker) * (double)(range.high - range.low + 1));
        switch (how.view) {
        case HL_ELEMENT_SIGNED: hl_element_set_bits(values->data, how.bits, i, (uint64_t)(int64_t)value); break;
        case HL_ELEMENT_UNSIGNED: hl_element_set_bits(values->data, how.bits, i, (uint64_t)value); break;
        case HL_ELEMENT_COMPLEX:
        case HL_ELEMENT_REAL:
            hl_element_set_real(type, values->data, i, maker->ranges[input].given ? value : uniform(maker) - 0.5);
            break;
        default:
            hl_error(HL_TFLITE, NULL, "input '%s' is of type %s: give its values with --input_layer_value_files",
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
    bool ok = find_layers(&maker.layers, graph, options->input_layer) &&
              each(options->input_layer_value_range, ':', false, take_range, &maker) &&
              each(options->input_layer_value_files, ',', false, take_file, &maker);
    for (int i = 0; ok && i < inputs->count; i++)
        if (inputs->values[i].data == NULL) ok = make_random(&maker, i);
    free_layers(&maker.layers);
    free(maker.ranges);
    return ok;
}

bool hl_benchmark_inputs_write(const struct hl_benchmark_inputs *inputs, struct hl_graph *graph)
{
    for (int i = 0; i < inputs->count; i++) {
        TfLiteTensor *tensor = hl_graph_input(graph, i);
        const struct hl_text *values = &inputs->values[i];
        if (TfLiteTensorType(tensor) == kTfLiteString && TfLiteTensorRealloc(values->length, tensor) != kTfLiteOk)
            return false;
        if (values->length == 0) continue;
        if (TfLiteTensorByteSize(tensor) != values->length || TfLiteTensorData(tensor) == NULL) {
            hl_error(HL_TFLITE, NULL, "input '%s' takes %zu bytes, its values have %zu", hl_graph_input_name(graph, i),
                     TfLiteTensorByteSize(tensor), values->length);
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
