// SPDX-License-Identifier: Apache-2.0
// What the inputs of halite run hold: shapes first, before memory is planned, then values.
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "element.h"
#include "files.h"
#include "image.h"
#include "message.h"
#include "npy.h"
#include "run_graph.h"
#include "values.h"

static const uint64_t default_seed = 1;

static bool failed(const struct hl_graph *graph, int index, const char *from, const char *why)
{
    struct hl_text where = {0};
    hl_text_add(&where, "%s%sinput %d '%s'", from != NULL ? from : "", from != NULL ? ": for " : "", index,
                hl_graph_input_name(graph, index));
    hl_error(graph->file->command, where.data, "%s", why);
    hl_text_free(&where);
    return false;
}

// ---- shapes -------------------------------------------------------------------------------------

static bool resize(struct hl_graph *graph, int index, int rank, const int *dims, const char *from)
{
    const TfLiteTensor *tensor = hl_graph_input(graph, index);
    bool same = TfLiteTensorNumDims(tensor) == rank;
    for (int i = 0; same && i < rank; i++) same = TfLiteTensorDim(tensor, i) == dims[i];
    if (same) return true;
    hl_text_clear(&graph->file->messages);
    if (hl_graph_resize_input(graph, index, rank, dims) == kTfLiteOk) return true;
    struct hl_text why = {0};
    const char *said = hl_text_string(&graph->file->messages);
    hl_text_add(&why, "the shape ");
    for (int i = 0; i < rank; i++) hl_text_add(&why, "%s%d", i > 0 ? "," : "", dims[i]);
    hl_text_add(&why, " is refused%s%.*s", *said ? ": " : "", (int)strcspn(said, "\n"), said);
    failed(graph, index, from, why.data);
    hl_text_free(&why);
    return false;
}

// "1,224,224,3", or "" for a scalar.
static bool parse_dims(const char *text, int *rank, int *dims)
{
    *rank = 0;
    if (*text == '\0') return true;
    for (const char *at = text;; at++) {
        if (!isdigit((unsigned char)*at) || *rank == HL_NPY_MAX_RANK) return false;
        char *end;
        errno = 0;
        long value = strtol(at, &end, 10);
        if (errno != 0 || value > INT_MAX) return false;
        dims[(*rank)++] = (int)value;
        at = end;
        if (*at == '\0') return true;
        if (*at != ',' && *at != 'x') return false;
    }
}

bool hl_graph_resize(struct hl_graph *graph, const struct hl_flag_list *shapes, const struct hl_flag_list *inputs)
{
    int index, rank, dims[HL_NPY_MAX_RANK];
    const char *rest;
    for (int i = 0; i < shapes->count; i++) {
        if (!hl_graph_parse(graph, true, shapes->items[i], &index, &rest)) return false;
        if (!parse_dims(rest, &rank, dims))
            return failed(graph, index, NULL,
                          "the shape is not made of whole numbers up to 2147483647, like 1,224,224,3");
        if (!resize(graph, index, rank, dims, NULL)) return false;
    }
    for (int i = 0; i < inputs->count; i++) {
        if (!hl_graph_parse(graph, true, inputs->items[i], &index, &rest)) return false;
        const char *name, *path = hl_files_split_format(rest, &name);
        if (!hl_files_ends_with(name, ".npy")) continue;
        struct hl_npy npy;
        struct hl_text error = {0};
        bool ok = hl_npy_read(path, &npy, &error);
        if (!ok) hl_error(graph->file->command, rest, "%s", error.data);
        ok = ok && resize(graph, index, npy.rank, npy.dims, rest);
        hl_text_free(&error);
        hl_npy_free(&npy);
        if (!ok) return false;
    }
    return true;
}

// ---- values -------------------------------------------------------------------------------------

// A string tensor's bytes have no fixed size: the tensor is made to fit them.
static bool set_strings(const struct hl_graph *graph, int index, const char *from, int64_t count,
                        const struct hl_text *packed)
{
    TfLiteTensor *tensor = hl_graph_input(graph, index);
    if (count != hl_model_elements(tensor)) {
        struct hl_text why = {0};
        hl_text_add(&why, "%" PRId64 " strings where the tensor takes %" PRId64 "; resize it with --shape", count,
                    hl_model_elements(tensor));
        failed(graph, index, from, why.data);
        hl_text_free(&why);
        return false;
    }
    if (TfLiteTensorRealloc(packed->length, tensor) != kTfLiteOk || tensor->bytes != packed->length)
        return failed(graph, index, from, "no memory for the strings");
    memcpy(tensor->data.raw, packed->data, packed->length);
    return true;
}

// The same string for every element.
static bool set_one_string(const struct hl_graph *graph, int index, const char *string)
{
    int64_t count = hl_model_elements(hl_graph_input(graph, index));
    if (count > HL_VALUES_MOST_STRINGS) return failed(graph, index, NULL, "has more than a million strings");
    struct hl_text packed = {0};
    hl_values_pack_string(string, (int)count, &packed);
    bool ok = set_strings(graph, index, NULL, count, &packed);
    hl_text_free(&packed);
    return ok;
}

static bool set_lines(const struct hl_graph *graph, int index, const char *from, const struct hl_text *text)
{
    struct hl_text packed = {0};
    int count = hl_values_pack_parts(hl_text_string(text), text->length, '\n', &packed);
    bool ok = set_strings(graph, index, from, count, &packed);
    hl_text_free(&packed);
    return ok;
}

bool hl_graph_fill_random(struct hl_graph *graph, int index, uint64_t seed)
{
    TfLiteTensor *tensor = hl_graph_input(graph, index);
    if (TfLiteTensorType(tensor) == kTfLiteString) return set_one_string(graph, index, "halite");
    if (TfLiteTensorByteSize(tensor) == 0) return true;
    if (TfLiteTensorData(tensor) != NULL &&
        hl_values_random(TfLiteTensorType(tensor), seed, TfLiteTensorData(tensor), hl_model_elements(tensor)))
        return true;
    return failed(graph, index, NULL, "cannot be filled with random values; give a file");
}

static bool fill_zeros(struct hl_graph *graph, int index)
{
    TfLiteTensor *tensor = hl_graph_input(graph, index);
    if (TfLiteTensorType(tensor) == kTfLiteString) return set_one_string(graph, index, "");
    if (TfLiteTensorByteSize(tensor) > 0) memset(TfLiteTensorData(tensor), 0, TfLiteTensorByteSize(tensor));
    return true;
}

// int8 and uint8 arrays fill packed types element by element.
static bool copy_array(struct hl_graph *graph, int index, const char *path, const struct hl_npy *npy)
{
    TfLiteTensor *tensor = hl_graph_input(graph, index);
    TfLiteType type = TfLiteTensorType(tensor);
    if (!hl_npy_type_fits(npy->type, type)) {
        struct hl_text why = {0};
        hl_text_add(&why, "the file holds %s, the tensor takes %s; convert it with numpy's astype",
                    hl_element_name(npy->type), hl_element_name(type));
        failed(graph, index, path, why.data);
        hl_text_free(&why);
        return false;
    }
    int bits = hl_element_type(type).bits;
    if (bits < 8) {
        for (int64_t i = 0; i < hl_model_elements(tensor); i++)
            hl_element_set_bits(TfLiteTensorData(tensor), bits, i, hl_element_bits(npy->data, 8, i));
        return true;
    }
    if (npy->bytes == 0 && TfLiteTensorByteSize(tensor) == 0) return true;
    if (TfLiteTensorCopyFromBuffer(tensor, npy->data, npy->bytes) == kTfLiteOk) return true;
    return failed(graph, index, path, "the array does not fit the tensor");
}

static bool fill_array(struct hl_graph *graph, int index, const char *path)
{
    struct hl_npy npy;
    struct hl_text error = {0};
    bool ok = hl_npy_read(path, &npy, &error);
    if (!ok) hl_error(graph->file->command, path, "%s", error.data);
    ok = ok && copy_array(graph, index, path, &npy);
    hl_text_free(&error);
    hl_npy_free(&npy);
    return ok;
}

static bool fill_bytes(struct hl_graph *graph, int index, const char *path, const struct hl_text *bytes)
{
    TfLiteTensor *tensor = hl_graph_input(graph, index);
    if (TfLiteTensorType(tensor) != kTfLiteString && bytes->length == TfLiteTensorByteSize(tensor)) {
        if (bytes->length > 0) memcpy(TfLiteTensorData(tensor), bytes->data, bytes->length);
        return true;
    }
    struct hl_text why = {0};
    if (TfLiteTensorType(tensor) == kTfLiteString)
        hl_text_add(&why, "strings come from a .txt file, one a line");
    else
        hl_text_add(&why, "the file has %zu bytes, the tensor takes %zu", bytes->length, TfLiteTensorByteSize(tensor));
    failed(graph, index, path, why.data);
    hl_text_free(&why);
    return false;
}

static bool fill_text(struct hl_graph *graph, int index, const char *path, const struct hl_text *text)
{
    TfLiteTensor *tensor = hl_graph_input(graph, index);
    if (TfLiteTensorType(tensor) == kTfLiteString) return set_lines(graph, index, path, text);
    struct hl_text error = {0};
    bool ok = hl_values_parse(TfLiteTensorType(tensor), hl_text_string(text), TfLiteTensorData(tensor),
                              hl_model_elements(tensor), &error);
    if (!ok) failed(graph, index, path, error.data);
    hl_text_free(&error);
    return ok;
}

static bool fill_media(struct hl_graph *graph, int index, const char *path, bool picture)
{
    struct hl_text why = {0};
    bool ok = picture ? hl_graph_fill_picture(graph, index, path, &why) : hl_graph_fill_sound(graph, index, path, &why);
    if (!ok) failed(graph, index, path, why.data);
    hl_text_free(&why);
    return ok;
}

static bool fill_file(struct hl_graph *graph, int index, const char *value)
{
    const char *name, *path = hl_files_split_format(value, &name);
    if (hl_image_is_named(name)) return fill_media(graph, index, path, true);
    if (hl_files_ends_with_any_case(name, ".wav")) return fill_media(graph, index, path, false);
    if (hl_files_ends_with(name, ".npy")) return fill_array(graph, index, path);
    bool text = hl_files_ends_with(name, ".txt") || hl_files_ends_with(name, ".csv");
    bool raw = hl_files_ends_with(name, ".raw") || hl_files_ends_with(name, ".bin");
    if (!text && !raw)
        return failed(graph, index, path,
                      "is no value: write random, zeros, text:STRING, - or a file that ends in .npy, .txt, .csv, .raw "
                      "or .bin, or as a picture's name does, or in .wav");
    struct hl_text content = {0}, error = {0};
    bool ok = hl_files_read(path, HL_FILES_MOST, &content, &error);
    if (!ok)
        hl_error(graph->file->command, path, "%s", error.data);
    else
        ok = text ? fill_text(graph, index, path, &content) : fill_bytes(graph, index, path, &content);
    hl_text_free(&content);
    hl_text_free(&error);
    return ok;
}

static bool fill(struct hl_graph *graph, int index, const char *value)
{
    if (strcmp(value, "zeros") == 0) return fill_zeros(graph, index);
    if (strncmp(value, "random", 6) == 0 && (value[6] == '\0' || value[6] == ':')) {
        char *end = NULL;
        uint64_t seed = value[6] == ':' ? strtoull(value + 7, &end, 10) : default_seed;
        if (end != NULL && (end == value + 7 || *end != '\0'))
            return failed(graph, index, value, "the seed is not a whole number");
        return hl_graph_fill_random(graph, index, seed + (uint64_t)index);
    }
    if (strncmp(value, "text:", 5) == 0) {
        if (TfLiteTensorType(hl_graph_input(graph, index)) != kTfLiteString)
            return failed(graph, index, NULL, "text: is for string tensors, and this one has numbers");
        return set_one_string(graph, index, value + 5);
    }
    return fill_file(graph, index, value);
}

static bool check_nan(const struct hl_graph *graph, int index, const char *from)
{
    const TfLiteTensor *tensor = hl_graph_input(graph, index);
    struct hl_values_summary summary =
        hl_values_summarize(TfLiteTensorType(tensor), TfLiteTensorData(tensor), hl_model_elements(tensor));
    if (summary.nans == 0) return true;
    struct hl_text why = {0};
    hl_text_add(&why, "element %" PRId64 " is not a number (NaN), one of %" PRId64 "; --allow-nan takes it",
                summary.first_nan, summary.nans);
    failed(graph, index, from, why.data);
    hl_text_free(&why);
    return false;
}

bool hl_graph_fill(struct hl_graph *graph, const struct hl_flag_list *inputs, bool allow_nan)
{
    bool *given = hl_alloc((size_t)graph->input_count, sizeof *given), ok = true;
    for (int i = 0; ok && i < inputs->count; i++) {
        int index;
        const char *value;
        ok = hl_graph_parse(graph, true, inputs->items[i], &index, &value);
        if (ok && given[index]) ok = failed(graph, index, NULL, "is given twice");
        ok = ok && fill(graph, index, value) && (allow_nan || check_nan(graph, index, value));
        if (ok) given[index] = true;
    }
    for (int i = 0; ok && i < graph->input_count; i++)
        if (!given[i]) ok = hl_graph_fill_random(graph, i, default_seed + (uint64_t)i);
    free(given);
    return ok;
}
