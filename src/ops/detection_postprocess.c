// SPDX-License-Identifier: Apache-2.0
// TFLite_Detection_PostProcess: encodings of boxes and scores of classes to detections.
// in 0: encodings [1, n, 4 or more]: y, x, h, w relative to the anchors;
// in 1: scores [1, n, classes], or with one more in front for the background;
// in 2: anchors [n, 4]: y, x, h, w. All float32, or uint8 with scales.
// out 0: boxes [1, m, 4]: top, left, bottom, right; out 1: classes [1, m]; out 2: scores [1, m];
// out 3: number of detections [1]. All float32; m = max_detections * max_classes_per_detection;
// rows without a detection are 0.
// Fast: one non-maximum suppression over the best score of each box; a box left gives its best
// classes, in neighboring rows. Regular: a suppression per class, then the best of all classes.
#include <math.h>
#include <string.h>

#include "abi/detection_options.h"
#include "ops/common/boxes.h"
#include "ops/op.h"

struct candidate {
    float score;
    int32_t index;
};

enum { BOXES, CANDIDATES, RESULTS, TEMPORARIES };
enum { MAX_ROWS = 1 << 20 };

static TfLiteStatus detection_parse(TfLiteContext *ctx, void *state, const void *options, size_t size)
{
    (void)ctx;
    *(struct hl_detection_options *)state = hl_detection_options_of(options, size);
    return kTfLiteOk;
}

// ---- shapes -------------------------------------------------------------------------------------

static bool is_wanted_type(const TfLiteTensor *tensor)
{
    return tensor->type == kTfLiteFloat32 || tensor->type == kTfLiteUInt8;
}

static TfLiteStatus check_inputs(TfLiteContext *ctx, TfLiteNode *node)
{
    const TfLiteTensor *encodings = hl_input(ctx, node, 0), *scores = hl_input(ctx, node, 1);
    const TfLiteTensor *anchors = hl_input(ctx, node, 2);
    const struct hl_detection_options *op = node->user_data;

    if (!is_wanted_type(encodings)) return hl_unsupported_type(ctx, node, encodings);
    if (!is_wanted_type(scores)) return hl_unsupported_type(ctx, node, scores);
    HL_REQUIRE(ctx, node, hl_same_type(encodings, anchors), "anchors are %s, encodings %s", hl_type_name(anchors->type),
               hl_type_name(encodings->type));
    HL_REQUIRE(ctx, node, hl_rank(encodings) == 3 && hl_rank(scores) == 3,
               "encodings and scores must have 3 dimensions");
    int boxes = hl_dim(encodings, 1);
    HL_REQUIRE(ctx, node, hl_dim(encodings, 0) == 1 && hl_dim(scores, 0) == 1, "batch %d is not supported, only 1",
               hl_dim(encodings, 0));
    HL_REQUIRE(ctx, node, hl_dim(encodings, 2) >= 4, "%d values for each box, at least 4 are wanted",
               hl_dim(encodings, 2));
    HL_REQUIRE(ctx, node, hl_dim(scores, 1) == boxes, "scores for %d boxes, encodings for %d", hl_dim(scores, 1),
               boxes);
    HL_REQUIRE(ctx, node, hl_elements(anchors) == 4 * (int64_t)boxes,
               "%lld anchor values for %d boxes, 4 for each are wanted", (long long)hl_elements(anchors), boxes);
    int background = hl_dim(scores, 2) - op->classes;
    HL_REQUIRE(ctx, node, background == 0 || background == 1, "%d scores for each box do not fit num_classes %d",
               hl_dim(scores, 2), op->classes);
    HL_REQUIRE(ctx, node, scores->type != kTfLiteUInt8 || hl_scale(scores) >= 0,
               "the scale %g of the scores must not be negative", (double)hl_scale(scores));
    HL_REQUIRE(ctx, node, hl_elements(scores) <= INT32_MAX, "%d boxes of %d scores are too many", boxes,
               hl_dim(scores, 2));
    return kTfLiteOk;
}

static TfLiteStatus check_options(TfLiteContext *ctx, TfLiteNode *node, int *rows)
{
    const struct hl_detection_options *op = node->user_data;
    HL_REQUIRE(ctx, node, op->classes > 0, "num_classes %d must be positive", op->classes);
    HL_REQUIRE(ctx, node, op->max_detections >= 0, "max_detections %d must not be negative", op->max_detections);
    HL_REQUIRE(ctx, node, op->classes_per_detection > 0, "max_classes_per_detection %d must be positive",
               op->classes_per_detection);
    HL_REQUIRE(ctx, node, !op->regular || op->detections_per_class > 0, "detections_per_class %d must be positive",
               op->detections_per_class);
    HL_REQUIRE(ctx, node, op->overlap_threshold > 0 && op->overlap_threshold <= 1,
               "nms_iou_threshold %g must be above 0 and at most 1", (double)op->overlap_threshold);
    int64_t all = (int64_t)op->max_detections * op->classes_per_detection;
    HL_REQUIRE(ctx, node, all <= MAX_ROWS, "%d detections with %d classes each are too many", op->max_detections,
               op->classes_per_detection);
    *rows = (int)all;
    return kTfLiteOk;
}

static TfLiteStatus detection_prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 3, 3, 4));
    HL_TRY(hl_make_temporaries(ctx, node, TEMPORARIES));
    const struct hl_detection_options *op = node->user_data;
    int rows = 0;
    HL_TRY(check_options(ctx, node, &rows));
    HL_TRY(check_inputs(ctx, node));

    for (int i = 0; i < 4; i++) {
        TfLiteTensor *y = hl_output(ctx, node, i);
        if (y->type != kTfLiteFloat32) return hl_unsupported_type(ctx, node, y);
        static const int rank[4] = {3, 2, 2, 1};
        const int dims[3] = {1, rows, 4};
        HL_TRY(hl_resize(ctx, y, rank[i], dims));
    }
    const TfLiteTensor *scores = hl_input(ctx, node, 1);
    int boxes = hl_dim(scores, 1);
    int sorted = boxes > op->classes ? boxes : op->classes;
    HL_TRY(hl_set_temporary(ctx, node, BOXES, kTfLiteFloat32, false, 2, (const int[]){boxes, 4}));
    // Room to merge into: twice as many candidates of two words.
    HL_TRY(hl_set_temporary(ctx, node, CANDIDATES, kTfLiteInt32, false, 2, (const int[]){sorted, 4}));
    return hl_set_temporary(ctx, node, RESULTS, kTfLiteInt32, false, 2, (const int[]){op->max_detections, 4});
}

// ---- boxes --------------------------------------------------------------------------------------

static float value_of(const TfLiteTensor *tensor, int stored)
{
    return (float)(hl_scale(tensor) * ((double)stored - hl_zero(tensor)));
}

static float value_at(const TfLiteTensor *tensor, int64_t index)
{
    if (tensor->type == kTfLiteFloat32) return HL_IN(float, tensor)[index];
    return value_of(tensor, HL_IN(uint8_t, tensor)[index]);
}

static void decode_box(const struct hl_detection_options *op, const TfLiteTensor *encodings,
                       const TfLiteTensor *anchors, int index, struct hl_box *box)
{
    double code[4], anchor[4];
    for (int i = 0; i < 4; i++) {
        code[i] = (double)value_at(encodings, (int64_t)index * hl_dim(encodings, 2) + i);
        anchor[i] = (double)value_at(anchors, (int64_t)index * 4 + i);
    }
    float y = (float)(code[0] / (double)op->y_scale * anchor[2] + anchor[0]);
    float x = (float)(code[1] / (double)op->x_scale * anchor[3] + anchor[1]);
    float half_height = (float)(0.5 * exp(code[2] / (double)op->h_scale) * anchor[2]);
    float half_width = (float)(0.5 * exp(code[3] / (double)op->w_scale) * anchor[3]);
    *box = (struct hl_box){y - half_height, x - half_width, y + half_height, x + half_width};
}

// ---- suppression --------------------------------------------------------------------------------

// NaN is worse than any number, so that the best class is the one whose score is the box's.
static bool is_better(const struct candidate *a, const struct candidate *b)
{
    return a->score > b->score || (isnan(b->score) && !isnan(a->score));
}

// Best first, equal scores in their old order. Merges runs of doubling length between the array and
// its room behind.
static void sort_candidates(struct candidate *array, struct candidate *room, int count)
{
    struct candidate *from = array, *to = room;
    for (int64_t run = 1; run < count; run *= 2) {
        for (int64_t start = 0; start < count; start += 2 * run) {
            int64_t middle = start + run < count ? start + run : count;
            int64_t end = middle + run < count ? middle + run : count;
            int64_t left = start, right = middle;
            for (int64_t i = start; i < end; i++) {
                bool take_right = left == middle || (right < end && is_better(&from[right], &from[left]));
                to[i] = from[take_right ? right++ : left++];
            }
        }
        struct candidate *swap = from;
        from = to;
        to = swap;
    }
    if (from != array && count > 0) memcpy(array, from, (size_t)count * sizeof *array);
}

// Keeps those of the sorted candidates that overlap no better one too much, up to limit. Returns
// how many remain.
static int suppress(const struct hl_detection_options *op, const struct hl_box *boxes, struct candidate *candidates,
                    int count, int limit)
{
    int kept = 0;
    for (int i = 0; i < count && kept < limit; i++) {
        const struct hl_box *box = &boxes[candidates[i].index];
        bool free = true;
        for (int k = 0; k < kept && free; k++)
            free = !(hl_box_overlap(&boxes[candidates[k].index], box) > op->overlap_threshold);
        if (free) candidates[kept++] = candidates[i];
    }
    return kept;
}

static void write_row(TfLiteContext *ctx, TfLiteNode *node, int row, const struct hl_box *box, int class_index,
                      float score)
{
    memcpy(HL_OUT(float, hl_output(ctx, node, 0)) + 4 * (size_t)row, box, sizeof *box);
    HL_OUT(float, hl_output(ctx, node, 1))[row] = (float)class_index;
    HL_OUT(float, hl_output(ctx, node, 2))[row] = score;
}

struct work {
    int count, score_count, classes; // boxes, scores for each (with the background's), and without it
    const struct hl_box *boxes;
    // Of the first class that is not background; one of them is NULL.
    const float *scores;
    const uint8_t *codes;
    float values[256]; // of the codes
    struct candidate *candidates, *room;
};

static float score_of(const struct work *work, int box, int class_index)
{
    const int64_t at = (int64_t)box * work->score_count + class_index;
    return work->scores ? work->scores[at] : work->values[work->codes[at]];
}

// The score that no other is better than: NaN where the first one is, which no other is compared with then.
static float best_score(const struct work *work, int box)
{
    enum { LANES = 8 };
    const int64_t first = (int64_t)box * work->score_count;
    if (!work->scores) { // values do not fall as their codes rise
        const uint8_t *codes = work->codes + first;
        uint8_t best = 0;
        for (int c = 0; c < work->classes; c++) best = codes[c] > best ? codes[c] : best;
        return work->values[best];
    }
    // One after the other, each would wait for the one before.
    const float *scores = work->scores + first;
    float best[LANES], most = scores[0];
    int c = 0;
    for (int i = 0; i < LANES; i++) best[i] = most;
    for (; c + LANES <= work->classes; c += LANES)
        for (int i = 0; i < LANES; i++) best[i] = scores[c + i] > best[i] ? scores[c + i] : best[i];
    for (int i = 0; i < LANES; i++) most = best[i] > most ? best[i] : most;
    for (; c < work->classes; c++) most = scores[c] > most ? scores[c] : most;
    return most;
}

static int detect_fast(TfLiteContext *ctx, TfLiteNode *node, const struct work *work)
{
    const struct hl_detection_options *op = node->user_data;
    int above = 0;
    for (int b = 0; b < work->count; b++) {
        const float best = best_score(work, b);
        if (best >= op->score_threshold) work->candidates[above++] = (struct candidate){best, b};
    }
    sort_candidates(work->candidates, work->room, above);
    int kept = suppress(op, work->boxes, work->candidates, above, op->max_detections);

    // The sort of classes needs the candidates' room: keep the boxes in the results first.
    int32_t *winners = HL_OUT(int32_t, hl_temporary(ctx, node, RESULTS));
    for (int i = 0; i < kept; i++) winners[i] = work->candidates[i].index;
    for (int i = 0; i < kept; i++) {
        for (int c = 0; c < op->classes; c++)
            work->candidates[c] = (struct candidate){score_of(work, winners[i], c), c};
        sort_candidates(work->candidates, work->room, op->classes);
        for (int k = 0; k < op->classes && k < op->classes_per_detection; k++)
            write_row(ctx, node, i * op->classes_per_detection + k, &work->boxes[winners[i]], work->candidates[k].index,
                      work->candidates[k].score);
    }
    return kept;
}

static int detect_regular(TfLiteContext *ctx, TfLiteNode *node, const struct work *work)
{
    const struct hl_detection_options *op = node->user_data;
    struct candidate *best = (void *)hl_temporary(ctx, node, RESULTS)->data.data;
    struct candidate *merged = best + op->max_detections;
    int limit = op->detections_per_class, found = 0;
    if (limit > op->max_detections) limit = op->max_detections;

    // A result's index counts boxes times classes.
    for (int c = 0; c < op->classes; c++) {
        int above = 0;
        for (int b = 0; b < work->count; b++) {
            const float score = score_of(work, b, c);
            if (score >= op->score_threshold) work->candidates[above++] = (struct candidate){score, b};
        }
        sort_candidates(work->candidates, work->room, above);
        int kept = suppress(op, work->boxes, work->candidates, above, limit);

        // The better ones of the best so far and of this class, into merged.
        int held = 0, fresh = 0, count = 0;
        while (count < op->max_detections && (held < found || fresh < kept)) {
            const struct candidate *next = &work->candidates[fresh];
            if (fresh < kept && (held == found || next->score > best[held].score)) {
                merged[count++] = (struct candidate){next->score, next->index * op->classes + c};
                fresh++;
            } else {
                merged[count++] = best[held++];
            }
        }
        struct candidate *swap = best;
        best = merged;
        merged = swap;
        found = count;
    }
    for (int i = 0; i < found; i++)
        write_row(ctx, node, i, &work->boxes[best[i].index / op->classes], best[i].index % op->classes, best[i].score);
    return found;
}

static TfLiteStatus detection_invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    const struct hl_detection_options *op = node->user_data;
    const TfLiteTensor *encodings = hl_input(ctx, node, 0), *scores = hl_input(ctx, node, 1);
    const TfLiteTensor *anchors = hl_input(ctx, node, 2);
    struct hl_box *boxes = (void *)hl_temporary(ctx, node, BOXES)->data.data;
    struct work work = {
        .count = hl_dim(scores, 1),
        .score_count = hl_dim(scores, 2),
        .classes = op->classes,
        .boxes = boxes,
        .candidates = (void *)hl_temporary(ctx, node, CANDIDATES)->data.data,
    };

    for (int b = 0; b < work.count; b++) {
        decode_box(op, encodings, anchors, b, &boxes[b]);
        HL_REQUIRE(ctx, node, !(boxes[b].top >= boxes[b].bottom || boxes[b].left >= boxes[b].right),
                   "box %d has no area: top %g, left %g, bottom %g, right %g", b, (double)boxes[b].top,
                   (double)boxes[b].left, (double)boxes[b].bottom, (double)boxes[b].right);
    }
    for (int i = 0; i < 3; i++) {
        TfLiteTensor *y = hl_output(ctx, node, i);
        if (y->bytes > 0) memset(y->data.data, 0, y->bytes);
    }
    HL_OUT(float, hl_output(ctx, node, 3))[0] = 0;
    if (work.count == 0 || op->max_detections == 0) return kTfLiteOk;

    const int background = work.score_count - op->classes;
    if (scores->type == kTfLiteUInt8) {
        work.codes = HL_IN(uint8_t, scores) + background;
        for (int i = 0; i < 256; i++) work.values[i] = value_of(scores, i);
    } else {
        work.scores = HL_IN(float, scores) + background;
    }
    work.room = work.candidates + hl_dim(hl_temporary(ctx, node, CANDIDATES), 0);
    int found = op->regular ? detect_regular(ctx, node, &work) : detect_fast(ctx, node, &work);
    HL_OUT(float, hl_output(ctx, node, 3))[0] = (float)found;
    return kTfLiteOk;
}

// Each box of each class is compared with each that is kept.
static double detection_work(TfLiteContext *ctx, const TfLiteNode *node)
{
    const struct hl_detection_options *op = node->user_data;
    const TfLiteTensor *scores = hl_input(ctx, node, 1);
    int boxes = hl_dim(scores, 1), most = op->max_detections < boxes ? op->max_detections : boxes;
    return (double)hl_elements(scores) * most;
}

const struct hl_op hl_op_detection_postprocess = {
    .state_size = sizeof(struct hl_detection_options),
    .parse = detection_parse,
    .prepare = detection_prepare,
    .invoke = detection_invoke,
    .work = detection_work,
};
