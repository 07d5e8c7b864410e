// SPDX-License-Identifier: Apache-2.0
// NON_MAX_SUPPRESSION_V4, V5: the best-scored boxes among those that overlap.
// in 0: boxes [n, 4]: two opposite corners y, x, y, x; in 1: scores [n];
// in 2: most outputs m (one int32); in 3: overlap from which a box falls to a better one;
// in 4: score that a box must exceed; V5: in 5: sigma. All else float32.
// out 0: indices int32 [m], zero where there is none; V5: out 1: their scores [m]; last: their
// number (int32 scalar). Overlap is the area of the intersection over that of the union.
// sigma > 0: a box that overlaps a better one less than that has its score multiplied by
// exp(-overlap^2 / (2 sigma)).
#include <math.h>
#include <string.h>

#include "ops/common/boxes.h"
#include "ops/op.h"

enum { MAX_OUTPUTS = 1 << 26 };

// ---- a heap of boxes, best on top ---------------------------------------------------------------
// Equal scores leave it in the order of the GNU standard library's heap, which the original's
// results show.

struct candidate {
    int32_t index;
    float score;
    int32_t compared; // how many of the boxes selected it has been compared with
};

static void sift_up(struct candidate *heap, int64_t at, struct candidate candidate)
{
    for (; at > 0 && heap[(at - 1) / 2].score < candidate.score; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = candidate;
}

// Takes the best of count candidates off.
static struct candidate pop(struct candidate *heap, int64_t count)
{
    struct candidate best = heap[0];
    int64_t hole = 0, left = count - 1; // candidates that stay
    for (int64_t child = 2; child <= left; child = 2 * hole + 2) {
        if (child == left || heap[child].score < heap[child - 1].score) child--;
        heap[hole] = heap[child];
        hole = child;
    }
    if (left > 0) sift_up(heap, hole, heap[left]);
    return best;
}

// ---- shapes -------------------------------------------------------------------------------------

static bool is_scalar(const TfLiteTensor *tensor, TfLiteType type)
{
    return tensor->type == type && hl_elements(tensor) == 1;
}

static TfLiteStatus resize_outputs(TfLiteContext *ctx, TfLiteNode *node)
{
    int most = *HL_IN(int32_t, hl_input(ctx, node, 2));
    HL_REQUIRE(ctx, node, most >= 0 && most <= MAX_OUTPUTS, "the number of outputs %d is not in 0..%d", most,
               MAX_OUTPUTS);
    for (int i = 0; i < hl_output_count(node) - 1; i++) HL_TRY(hl_resize(ctx, hl_output(ctx, node, i), 1, &most));
    return kTfLiteOk;
}

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node, int inputs)
{
    int outputs = inputs - 3;
    HL_TRY(hl_require_counts(ctx, node, inputs, inputs, outputs));
    HL_TRY(hl_make_temporaries(ctx, node, 1));
    const TfLiteTensor *boxes = hl_input(ctx, node, 0), *scores = hl_input(ctx, node, 1);
    const TfLiteTensor *most = hl_input(ctx, node, 2);
    if (boxes->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, boxes);
    if (scores->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, scores);
    HL_REQUIRE(ctx, node, hl_rank(boxes) == 2 && hl_dim(boxes, 1) == 4, "the boxes are not [n, 4]");
    HL_REQUIRE(ctx, node, hl_rank(scores) == 1 && hl_dim(scores, 0) == hl_dim(boxes, 0), "the scores are not [%d]",
               hl_dim(boxes, 0));
    HL_REQUIRE(ctx, node, is_scalar(most, kTfLiteInt32), "the number of outputs is not one int32");
    for (int i = 3; i < inputs; i++)
        HL_REQUIRE(ctx, node, is_scalar(hl_input(ctx, node, i), kTfLiteFloat32), "input %d is not one float32", i);
    for (int i = 0; i < outputs; i++) {
        TfLiteTensor *y = hl_output(ctx, node, i);
        TfLiteType type = outputs == 3 && i == 1 ? kTfLiteFloat32 : kTfLiteInt32;
        if (y->type != type) return hl_unsupported_type(ctx, node, y);
    }

    // Room for the candidates, three words each.
    HL_TRY(hl_set_temporary(ctx, node, 0, kTfLiteInt32, false, 2, (const int[]){hl_dim(boxes, 0), 3}));
    HL_TRY(hl_resize(ctx, hl_output(ctx, node, outputs - 1), 0, NULL));
    if (hl_is_constant(most)) return resize_outputs(ctx, node);
    for (int i = 0; i < outputs - 1; i++) hl_make_dynamic(hl_output(ctx, node, i));
    return kTfLiteOk;
}

// ---- selection ----------------------------------------------------------------------------------

static struct hl_box box_at(const float *boxes, int index)
{
    const float *corners = boxes + 4 * (int64_t)index;
    return (struct hl_box){fminf(corners[0], corners[2]), fminf(corners[1], corners[3]), fmaxf(corners[0], corners[2]),
                           fmaxf(corners[1], corners[3])};
}

static float overlap(const float *boxes, int index_a, int index_b)
{
    const struct hl_box a = box_at(boxes, index_a), b = box_at(boxes, index_b);
    return hl_box_overlap(&a, &b);
}

struct selection {
    const float *boxes;
    float overlap_threshold, score_threshold, sigma;
    int32_t *indices;
    float *scores; // NULL: not wanted
    int count;
};

// Compares a candidate with the boxes selected since it was compared last, the latest first. False:
// it falls.
static bool survives(const struct selection *s, struct candidate *candidate)
{
    float scale = s->sigma > 0 ? -0.5f / s->sigma : 0;
    for (int i = s->count - 1; i >= candidate->compared; i--) {
        float part = overlap(s->boxes, candidate->index, s->indices[i]);
        if (part >= s->overlap_threshold) return false;
        if (s->sigma > 0) candidate->score *= expf(scale * part * part);
        if (candidate->score <= s->score_threshold) break;
    }
    candidate->compared = s->count;
    return true;
}

static void select_boxes(struct selection *s, struct candidate *heap, int64_t candidates, int most)
{
    if (most > candidates) most = (int)candidates;
    while (s->count < most && candidates > 0) {
        struct candidate next = pop(heap, candidates--);
        float score = next.score;
        if (!survives(s, &next)) continue;
        if (next.score == score) {
            s->indices[s->count] = next.index;
            if (s->scores) s->scores[s->count] = score;
            s->count++;
        }
        // A box selected comes back too, and falls to itself.
        if (next.score > s->score_threshold) sift_up(heap, candidates++, next);
    }
}

static TfLiteStatus non_max_suppression_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    int outputs = hl_output_count(node);
    if (hl_is_dynamic(hl_output(ctx, node, 0))) HL_TRY(resize_outputs(ctx, node));
    const TfLiteTensor *scores = hl_input(ctx, node, 1), *sigma = hl_input(ctx, node, 5);
    TfLiteTensor *indices = hl_output(ctx, node, 0);
    TfLiteTensor *selected = outputs == 3 ? hl_output(ctx, node, 1) : NULL;
    struct selection s = {
        .boxes = HL_IN(float, hl_input(ctx, node, 0)),
        .overlap_threshold = *HL_IN(float, hl_input(ctx, node, 3)),
        .score_threshold = *HL_IN(float, hl_input(ctx, node, 4)),
        .sigma = sigma ? *HL_IN(float, sigma) : 0,
        .indices = HL_OUT(int32_t, indices),
        .scores = selected ? HL_OUT(float, selected) : NULL,
    };
    HL_REQUIRE(ctx, node, s.sigma >= 0, "sigma %g must not be negative", (double)s.sigma);

    int most = hl_dim(indices, 0);
    if (most > 0) memset(s.indices, 0, (size_t)most * sizeof *s.indices);
    if (most > 0 && s.scores) memset(s.scores, 0, (size_t)most * sizeof *s.scores);
    struct candidate *heap = (void *)hl_temporary(ctx, node, 0)->data.data;
    int64_t candidates = 0;
    for (int i = 0; i < hl_dim(scores, 0); i++) {
        float score = HL_IN(float, scores)[i];
        if (score > s.score_threshold) sift_up(heap, candidates++, (struct candidate){i, score, 0});
    }
    select_boxes(&s, heap, candidates, most);
    *HL_OUT(int32_t, hl_output(ctx, node, outputs - 1)) = s.count;
    return kTfLiteOk;
}

static TfLiteStatus v4_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    return prepare(ctx, node, 5);
}

static TfLiteStatus v5_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    return prepare(ctx, node, 6);
}

// Each box is compared with each that is selected.
static double work(TfLiteContext *ctx, const TfLiteNode *node)
{
    int boxes = hl_dim(hl_input(ctx, node, 0), 0), most = *HL_IN(int32_t, hl_input(ctx, node, 2));
    return (double)boxes * (most < boxes ? most : boxes);
}

const struct hl_op hl_op_non_max_suppression_v4 = {
    .prepare = v4_prepare,
    .invoke = non_max_suppression_invoke,
    .work = work,
};

const struct hl_op hl_op_non_max_suppression_v5 = {
    .prepare = v5_prepare,
    .invoke = non_max_suppression_invoke,
    .work = work,
};
