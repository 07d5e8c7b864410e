// SPDX-License-Identifier: Apache-2.0
// See average_precision.h. Rank n of the predictions has recall and precision; the curve is cut to its upper hull from
// the right, and read at the recall points.
#include "eval/average_precision.h"

#include <stdbool.h>
#include <stdlib.h>

#include "alloc.h"

static float length_of(float low, float high)
{
    return high > low ? high - low : 0;
}

static float common(float a_low, float a_high, float b_low, float b_high)
{
    return length_of(a_low > b_low ? a_low : b_low, a_high < b_high ? a_high : b_high);
}

static float area(const struct hl_box *box)
{
    return length_of(box->left, box->right) * length_of(box->top, box->bottom);
}

float hl_box_overlap(const struct hl_box *a, const struct hl_box *b)
{
    float both = common(a->left, a->right, b->left, b->right) * common(a->top, a->bottom, b->top, b->bottom);
    float either = area(a) + area(b) - both;
    return either > 0 ? both / either : 0;
}

// ---- matching -----------------------------------------------------------------------------------

static int by_score(const void *a, const void *b)
{
    const struct hl_box *x = *(const struct hl_box *const *)a, *y = *(const struct hl_box *const *)b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return x < y ? -1 : x > y;
}

// Pointers, best score first.
static const struct hl_box **ranked(const struct hl_box *boxes, int count)
{
    const struct hl_box **order = hl_alloc((size_t)count, sizeof *order);
    for (int i = 0; i < count; i++) order[i] = &boxes[i];
    qsort(order, (size_t)count, sizeof *order, by_score);
    return order;
}

// Takes the true box that a prediction stands for, if there is one.
static bool match(const struct hl_box *prediction, const struct hl_box *truth, int truth_count, bool *taken,
                  float threshold)
{
    int low = 0, high = truth_count, best = -1;
    while (low < high) { // to the first of the picture
        int middle = low + (high - low) / 2;
        if (truth[middle].picture < prediction->picture)
            low = middle + 1;
        else
            high = middle;
    }
    float most = -1;
    for (int i = low; i < truth_count && truth[i].picture == prediction->picture; i++) {
        float overlap = taken[i] ? -1 : hl_box_overlap(prediction, &truth[i]);
        if (overlap <= most) continue;
        most = overlap;
        best = i;
    }
    if (best < 0 || most < threshold) return false;
    taken[best] = true;
    return true;
}

// ---- the curve ----------------------------------------------------------------------------------

static float area_under(const bool *right, int count, int right_count, int truth_count)
{
    const int last = HL_RECALL_POINTS - 1;
    float best = 0, sum = 0;
    int point = last;
    for (int i = count - 1; i >= 0; i--) {
        float precision = (float)right_count / (float)(i + 1), recall = (float)right_count / (float)truth_count;
        for (; recall * (float)last < (float)point; point--) sum += best;
        if (precision > best) best = precision;
        right_count -= right[i];
    }
    for (; point >= 0; point--) sum += best;
    return sum / (float)HL_RECALL_POINTS;
}

float hl_average_precision(const struct hl_box *truth, int truth_count, const struct hl_box *predictions,
                           int prediction_count, float threshold)
{
    if (truth_count == 0) return 0;
    const struct hl_box **order = ranked(predictions, prediction_count);
    bool *taken = hl_alloc((size_t)truth_count, sizeof *taken),
         *right = hl_alloc((size_t)prediction_count, sizeof *right);
    int right_count = 0;
    for (int i = 0; i < prediction_count; i++) {
        right[i] = match(order[i], truth, truth_count, taken, threshold);
        right_count += right[i];
    }
    float precision = area_under(right, prediction_count, right_count, truth_count);
    free(order);
    free(taken);
    free(right);
    return precision;
}
