// SPDX-License-Identifier: Apache-2.0
// Mfcc: mel-frequency cepstral coefficients of spectrograms.
// in 0: powers [channels, windows, n frequencies] float32, in 1: samples per second, one int32;
// out 0: y [channels, windows, dct_coefficient_count] float32.
// Each window: magnitudes, gathered by triangular filters whose centers lie evenly on the mel scale
// between the two frequency limits; logarithms; the first coefficients of their cosine transform.
#include <math.h>

#include "abi/custom_options.h"
#include "ops/op.h"

// More than any use has, and few enough for tables of their product.
enum { MAX_FILTERS = 4096 };
// COSINES [coefficients, filters], CENTERS [filters + 1], BANDS [n, 2]: filter and share of each
// frequency, ENERGIES [filters].
enum { COSINES, CENTERS, BANDS, ENERGIES, TEMPORARIES };

struct mfcc {
    float upper_limit, lower_limit;
    int filters, coefficients;
};

static TfLiteStatus mfcc_parse(TfLiteContext *ctx, void *state, const void *options, size_t size)
{
    (void)ctx;
    struct hl_flex map = hl_options_map(options, size);
    struct mfcc *op = state;
    op->upper_limit = hl_option_float(&map, "upper_frequency_limit", 0);
    op->lower_limit = hl_option_float(&map, "lower_frequency_limit", 0);
    op->filters = hl_option_int(&map, "filterbank_channel_count", 0);
    op->coefficients = hl_option_int(&map, "dct_coefficient_count", 0);
    return kTfLiteOk;
}

static TfLiteStatus mfcc_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 2, 2, 1));
    HL_TRY(hl_make_temporaries(ctx, node, TEMPORARIES));
    const TfLiteTensor *x = hl_input(ctx, node, 0), *rate = hl_input(ctx, node, 1);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    const struct mfcc *op = node->user_data;
    if (x->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, x);
    if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
    HL_REQUIRE(ctx, node, rate->type == kTfLiteInt32 && hl_elements(rate) == 1, "the sample rate must be one int32");
    HL_REQUIRE(ctx, node, hl_rank(x) == 3, "the input has %d dimensions, not 3", hl_rank(x));
    HL_REQUIRE(ctx, node, hl_dim(x, 2) >= 2, "%d frequencies are too few", hl_dim(x, 2));
    HL_REQUIRE(ctx, node, op->filters >= 1 && op->filters <= MAX_FILTERS, "filterbank_channel_count %d is not in 1..%d",
               op->filters, MAX_FILTERS);
    HL_REQUIRE(ctx, node, op->coefficients >= 1 && op->coefficients <= op->filters,
               "dct_coefficient_count %d is not in 1..%d", op->coefficients, op->filters);
    HL_REQUIRE(ctx, node, op->lower_limit >= 0 && op->upper_limit > op->lower_limit && isfinite(op->upper_limit),
               "frequency limits %g and %g are no range", (double)op->lower_limit, (double)op->upper_limit);

    const int sizes[TEMPORARIES][2] = {
        [COSINES] = {op->coefficients, op->filters},
        [CENTERS] = {1, op->filters + 1},
        [BANDS] = {hl_dim(x, 2), 2},
        [ENERGIES] = {1, op->filters},
    };
    for (int i = 0; i < TEMPORARIES; i++) HL_TRY(hl_set_temporary(ctx, node, i, kTfLiteFloat64, false, 2, sizes[i]));
    return hl_resize(ctx, hl_output(ctx, node, 0), 3, (const int[]){hl_dim(x, 0), hl_dim(x, 1), op->coefficients});
}

static double mel_of(double frequency)
{
    return 1127.0 * log1p(frequency / 700.0);
}

// Which filter's falling side a frequency belongs to (-1: before the first), and its share in it;
// the rest is the next one's.
struct band {
    double filter, share;
};

static void fill_bands(const struct mfcc *op, double step, int first, int last, double *centers, struct band *bands)
{
    double low = mel_of((double)op->lower_limit), high = mel_of((double)op->upper_limit);
    double spacing = (high - low) / (op->filters + 1);
    for (int i = 0; i <= op->filters; i++) centers[i] = low + spacing * (i + 1);
    for (int i = first, next = 0; i <= last; i++) {
        double mel = mel_of(i * step);
        while (next < op->filters && centers[next] < mel) next++;
        double left = next > 0 ? centers[next - 1] : low;
        bands[i].filter = next - 1;
        bands[i].share = (centers[next] - mel) / (centers[next] - left);
    }
}

static void fill_cosines(const struct mfcc *op, double *cosines)
{
    const double norm = sqrt(2.0 / op->filters), arc = 3.14159265358979323846 / op->filters;
    for (int i = 0; i < op->coefficients; i++)
        for (int j = 0; j < op->filters; j++) *cosines++ = norm * cos(i * arc * (j + 0.5));
}

static void gather_energies(const struct mfcc *op, const float *powers, int first, int last, const struct band *bands,
                            double *energies)
{
    for (int i = 0; i < op->filters; i++) energies[i] = 0;
    for (int i = first; i <= last; i++) {
        double magnitude = sqrt((double)powers[i]), share = magnitude * bands[i].share;
        int filter = (int)bands[i].filter;
        if (filter >= 0) energies[filter] += share;
        if (filter + 1 < op->filters) energies[filter + 1] += magnitude - share;
    }
    for (int i = 0; i < op->filters; i++) energies[i] = log(fmax(energies[i], 1e-12));
}

static TfLiteStatus mfcc_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    const struct mfcc *op = node->user_data;
    double *cosines = HL_OUT(double, hl_temporary(ctx, node, COSINES));
    double *centers = HL_OUT(double, hl_temporary(ctx, node, CENTERS));
    struct band *bands = (void *)hl_temporary(ctx, node, BANDS)->data.data;
    double *energies = HL_OUT(double, hl_temporary(ctx, node, ENERGIES));

    int rate = *HL_IN(int32_t, hl_input(ctx, node, 1)), count = hl_dim(x, 2);
    HL_REQUIRE(ctx, node, rate > 0, "sample rate %d must be positive", rate);
    double step = 0.5 * rate / (count - 1);
    HL_REQUIRE(ctx, node, (double)op->upper_limit / step < count,
               "upper_frequency_limit %g is above the highest of %d frequencies at rate %d", (double)op->upper_limit,
               count, rate);
    // The constant part never counts.
    int first = (int)(1.5 + (double)op->lower_limit / step);
    int last = (int)((double)op->upper_limit / step);
    fill_bands(op, step, first, last, centers, bands);
    fill_cosines(op, cosines);

    const float *powers = HL_IN(float, x);
    float *y = HL_OUT(float, hl_output(ctx, node, 0));
    for (int64_t window = 0, n = hl_product(x->dims, 0, 2); window < n; window++, powers += count) {
        gather_energies(op, powers, first, last, bands, energies);
        for (int i = 0; i < op->coefficients; i++) {
            double sum = 0;
            for (int j = 0; j < op->filters; j++)
                sum += cosines[(size_t)i * (size_t)op->filters + (size_t)j] * energies[j];
            *y++ = (float)sum;
        }
    }
    return kTfLiteOk;
}

static double mfcc_work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct mfcc *op = node->user_data;
    return (double)hl_elements(hl_output(ctx, node, 0)) * op->filters;
}

const struct hl_op hl_op_mfcc = {
    .state_size = sizeof(struct mfcc),
    .parse = mfcc_parse,
    .prepare = mfcc_prepare,
    .invoke = mfcc_invoke,
    .work = mfcc_work,
};
