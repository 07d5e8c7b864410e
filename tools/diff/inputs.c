// SPDX-License-Identifier: Apache-2.0
// The same inputs for two models, whose types may differ. See models.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/models.h"
#include "element.h"
#include "message.h"

static const struct hl_model_quantization *scale_of(const struct hl_model_file *file, int input)
{
    const struct hl_model_subgraph *graph = &file->model->subgraphs[0];
    return &graph->tensors[graph->inputs[input]].quantization;
}

// Writes a real number as an element; integers are rounded, and cut off where they would not fit.
static void set_real(const TfLiteTensor *tensor, const struct hl_model_quantization *scale, int64_t i, double value)
{
    struct hl_element_type type = hl_element_type(tensor->type);
    if (type.view == HL_ELEMENT_REAL || type.view == HL_ELEMENT_COMPLEX) {
        hl_element_set_real(tensor->type, tensor->data.raw, i, value);
        return;
    }
    if (scale->type == kTfLiteAffineQuantization && scale->scale_count == 1 && scale->scales[0] > 0)
        value = value / (double)scale->scales[0] + scale->zero_points[0];
    bool is_signed = type.view == HL_ELEMENT_SIGNED;
    double low = is_signed ? -ldexp(1, type.bits - 1) : 0;
    double high = tensor->type == kTfLiteBool ? 1 : ldexp(1, type.bits - is_signed) - 1;
    if (type.bits == 64) high = ldexp(1, 62); // which a double holds
    value = isnan(value) ? 0 : rint(fmin(fmax(value, low), high));
    hl_element_set_bits(tensor->data.raw, type.bits, i, is_signed ? (uint64_t)(int64_t)value : (uint64_t)value);
}

static bool has_numbers(TfLiteType type)
{
    enum hl_element_view view = hl_element_type(type).view;
    return view != HL_ELEMENT_NONE && view != HL_ELEMENT_STRING;
}

static void convert(const TfLiteTensor *from, const struct hl_model_quantization *from_scale, const TfLiteTensor *to,
                    const struct hl_model_quantization *to_scale)
{
    int64_t count = hl_model_elements(from) * (hl_element_type(from->type).view == HL_ELEMENT_COMPLEX ? 2 : 1);
    for (int64_t i = 0; i < count; i++)
        set_real(to, to_scale, i, hl_tensor_real(from->type, from->data.raw, from_scale, i));
}

static bool is_same_scale(const struct hl_model_quantization *a, const struct hl_model_quantization *b)
{
    if (a->type != b->type || a->scale_count != b->scale_count) return false;
    for (int i = 0; i < a->scale_count; i++)
        if (a->scales[i] != b->scales[i] || a->zero_points[i] != b->zero_points[i]) return false;
    return true;
}

// The second model's input that is the first one's number `input`.
static int partner_of(const struct hl_graph *a, const struct hl_graph *b, int input)
{
    const char *name = hl_graph_input_name(a, input);
    for (int i = 0; name[0] != '\0' && i < b->input_count; i++)
        if (strcmp(name, hl_graph_input_name(b, i)) == 0) return i;
    return input;
}

// Gives input `to` of b what input `from` of a holds.
static bool copy_input(const struct hl_graph *a, int from, struct hl_graph *b, int to)
{
    const TfLiteTensor *source = hl_graph_input(a, from);
    TfLiteTensor *target = hl_graph_input(b, to);
    const struct hl_model_quantization *source_scale = scale_of(a->file, from), *target_scale = scale_of(b->file, to);
    if (source->type == target->type && is_same_scale(source_scale, target_scale)) {
        size_t bytes = TfLiteTensorByteSize(source);
        if (source->type == kTfLiteString && TfLiteTensorRealloc(bytes, target) != kTfLiteOk) return false;
        return bytes == 0 || TfLiteTensorCopyFromBuffer(target, TfLiteTensorData(source), bytes) == kTfLiteOk;
    }
    if (!has_numbers(source->type) || !has_numbers(target->type) ||
        hl_model_elements(source) != hl_model_elements(target)) {
        hl_error(b->file->command, b->file->path,
                 "input %d '%s' is %s and cannot be given what input %d of %s holds, %s", to,
                 hl_graph_input_name(b, to), hl_element_name(target->type), from, a->file->path,
                 hl_element_name(source->type));
        return false;
    }
    convert(source, source_scale, target, target_scale);
    convert(target, target_scale, source, source_scale);
    return true;
}

static bool resize_like(const struct hl_graph *a, struct hl_graph *b)
{
    for (int i = 0; i < a->input_count; i++) {
        const TfLiteTensor *tensor = hl_graph_input(a, i);
        const TfLiteIntArray *dims = tensor->dims;
        if (hl_graph_resize_input(b, partner_of(a, b, i), dims->size, dims->data) == kTfLiteOk) continue;
        hl_model_file_failed(b->file, "an input cannot be resized");
        return false;
    }
    return true;
}

bool hl_diff_both_fill(struct hl_diff_both *both, const struct hl_flag_list *inputs, const struct hl_flag_list *shapes)
{
    const struct hl_model_options plain = {.threads = -1};
    struct hl_graph a = {.file = &both->a}, b = {.file = &both->b};
    bool ok = hl_model_file_start(&both->a, &plain) && hl_graph_open(&a, NULL) && hl_graph_resize(&a, shapes, inputs) &&
              hl_graph_allocate(&a) && hl_graph_fill(&a, inputs, true) && hl_model_file_start(&both->b, &plain) &&
              hl_graph_open(&b, NULL);
    if (ok && a.input_count != b.input_count) {
        hl_error(both->b.command, both->b.path, "has %d inputs and %s %d: they cannot be given the same", b.input_count,
                 both->a.path, a.input_count);
        ok = false;
    }
    ok = ok && resize_like(&a, &b) && hl_graph_allocate(&b);
    for (int i = 0; ok && i < a.input_count; i++) ok = copy_input(&a, i, &b, partner_of(&a, &b, i));
    ok = ok && hl_diff_inputs_take(&both->a_inputs, &a) && hl_diff_inputs_take(&both->b_inputs, &b);
    hl_graph_close(&a);
    hl_graph_close(&b);
    return ok;
}

void hl_diff_both_free(struct hl_diff_both *both)
{
    hl_diff_inputs_free(&both->a_inputs);
    hl_diff_inputs_free(&both->b_inputs);
    hl_model_file_close(&both->a);
    hl_model_file_close(&both->b);
}
