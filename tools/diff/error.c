// SPDX-License-Identifier: Apache-2.0
// See error.h.
#include "diff/error.h"

#include <math.h>

#include "element.h"
#include "values.h"

static bool is_one_scale(const struct hl_model_quantization *scale)
{
    return scale->type == kTfLiteNoQuantization ||
           (scale->type == kTfLiteAffineQuantization && scale->scale_count == 1);
}

double hl_tensor_real(TfLiteType type, const void *data, const struct hl_model_quantization *scale, int64_t i)
{
    double value = hl_values_at(type, data, i);
    enum hl_element_view view = hl_element_type(type).view;
    bool integer = view == HL_ELEMENT_SIGNED || view == HL_ELEMENT_UNSIGNED;
    if (!integer || scale->type != kTfLiteAffineQuantization || scale->scale_count != 1) return value;
    return (value - scale->zero_points[0]) * (double)scale->scales[0];
}

// Sums over all elements.
struct sums {
    double difference, noise, a, b, product; // of differences; of squares, but the last
    double largest;                          // of the values of a
};

static void add_element(struct hl_tensor_error *error, struct sums *sums, int64_t i, double x, double y)
{
    error->not_finite[0] += !isfinite(x);
    error->not_finite[1] += !isfinite(y);
    double difference = x == y || (isnan(x) && isnan(y)) ? 0 : fabs(x - y);
    if (isnan(difference)) difference = (double)INFINITY;
    if (isfinite(x) && isfinite(y)) {
        sums->a += x * x;
        sums->b += y * y;
        sums->product += x * y;
        sums->largest = fmax(sums->largest, fabs(x));
    }
    sums->difference += difference;
    sums->noise += difference * difference;
    if (i > 0 && difference <= error->largest) return;
    error->largest = difference;
    error->at = i;
    error->value_a = x;
    error->value_b = y;
}

struct hl_tensor_error hl_tensor_error(const struct hl_diff_tensor *a, const struct hl_model_quantization *a_scale,
                                       const struct hl_diff_tensor *b, const struct hl_model_quantization *b_scale)
{
    enum hl_element_view a_view = hl_element_type(a->type).view, b_view = hl_element_type(b->type).view;
    struct hl_tensor_error error = {.count = a_view == HL_ELEMENT_COMPLEX ? 2 * a->count : a->count};
    struct sums sums = {0};
    error.compared = a->count == b->count && (a_view == HL_ELEMENT_COMPLEX) == (b_view == HL_ELEMENT_COMPLEX) &&
                     a_view != HL_ELEMENT_NONE && a_view != HL_ELEMENT_STRING && b_view != HL_ELEMENT_NONE &&
                     b_view != HL_ELEMENT_STRING && is_one_scale(a_scale) && is_one_scale(b_scale);
    if (!error.compared) return error;
    for (int64_t i = 0; i < error.count; i++)
        add_element(&error, &sums, i, hl_tensor_real(a->type, a->bytes.data, a_scale, i),
                    hl_tensor_real(b->type, b->bytes.data, b_scale, i));
    error.mean = error.count > 0 ? sums.difference / (double)error.count : 0;
    error.relative = error.largest == 0 ? 0 : error.largest / sums.largest;
    error.snr = sums.noise == 0 ? (double)INFINITY : 10 * log10(sums.a / sums.noise);
    bool zero = sums.a == 0 || sums.b == 0;
    error.cosine = sums.noise == 0 ? 1 : zero ? 0 : sums.product / sqrt(sums.a * sums.b);
    return error;
}
