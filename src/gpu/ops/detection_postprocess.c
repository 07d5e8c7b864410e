// SPDX-License-Identifier: Apache-2.0
// The custom operator TFLite_Detection_PostProcess (src/ops/detection_postprocess.c says what it means), as kernels:
//   detection_decode  each box [1, 1, n, 8]: its corners, then area, best score, whether that counts, whether the box
//                     has no area. A box with a corner or area that is not finite overlaps nothing: its area is 0.
//   detection_pick    a work-group takes the best box again and again, until enough are taken or none is left. Each
//                     work-item keeps a candidate, the best of its own boxes that overlaps none of those taken, so that
//                     nothing has to be marked in memory. In regular mode there is a group for each class.
//   detection_merge   regular mode: the best of all classes' lists, whose heads the work-items compare
//   detection_rows    the rows [1, 1, m, 8] of what was picked (corners, then class and score) as the three outputs
// The order is that of the CPU: the better score first, then the lower class, then the lower index. Scores are compared
// as integers of the same order, because compilers may assume that there are neither NaN nor infinities.
#include "gpu/ops/detection_postprocess.h"

#include <math.h>

#include "abi/detection_options.h"
#include "gpu/ops/reshape.h"
#include "tensorflow/lite/builtin_ops.h"

enum { ENCODINGS, SCORES, ANCHORS };
enum { BOXES_OUT, CLASSES_OUT, SCORES_OUT, COUNT_OUT };
enum {
    MAX_DETECTIONS = 500, // the boxes taken lie in shared memory, 24 bytes each, and 16 KiB is what every device has
    MAX_CLASSES = 2048,   // regular mode: 4 bytes each
    LARGE_GROUP = 256,    // groups are powers of 4, see BEST_OF_GROUP
    SMALL_GROUP = 64,
};

// Kernel bodies are formatted by hand, a statement a line.
// clang-format off

// The integer of a float, for zeros of both signs the same. NaN is less than all others, and so is what there is not.
#define NONE (-2147483647 - 1)
#define ALL 2147483647
#define KEY(X) pick(is_nan(X), NONE, pick(float_to_bits(X) < 0, NONE - float_to_bits(X), float_to_bits(X)))

// Declares NAME, four channels of a value of floats or of codes. P_steps: scale and zero point of encodings and scores.
#define FLOATS(NAME, VALUE, SCALE, ZERO, P) acc4 NAME = to_acc4(read_##VALUE(P));
#define CODES(NAME, VALUE, SCALE, ZERO, P) \
    int NAME##_bytes = read_##VALUE(P); \
    acc4 NAME = to_float4(mki4(byte_of(NAME##_bytes, 0), byte_of(NAME##_bytes, 1), byte_of(NAME##_bytes, 2), \
                               byte_of(NAME##_bytes, 3)) - splati4(P_steps.ZERO)) * bits_to_float(P_steps.SCALE);

// Intersection over union beyond the threshold. a and b: corners.
#define OVERLAP(A, AREA_A, B, AREA_B, RESULT) \
    { \
        float both = max(min(A.z, B.z) - max(A.x, B.x), 0.0f) * max(min(A.w, B.w) - max(A.y, B.y), 0.0f); \
        if (AREA_A > 0.0f && AREA_B > 0.0f && both > bits_to_float(P_pick.w) * (AREA_A + AREA_B - both)) RESULT = 1; \
    }

// The largest of all work-items' keys and the lowest index among equal ones, to keys[0] and at[0]. Four at a time: five
// barriers for 256 work-items, where halves would take nine.
#define BEST_OF_GROUP \
    for (int left = GROUP_X / 4; left > 0; left = left / 4) { \
        BARRIER; \
        if (LID0 < left) { \
            for (int j = 1; j < 4; j += 1) { \
                int other = LID0 + j * left; \
                if (keys[other] > keys[LID0] || (keys[other] == keys[LID0] && at[other] < at[LID0])) { \
                    keys[LID0] = keys[other]; \
                    at[LID0] = at[other]; \
                } \
            } \
        } \
    } \
    BARRIER;

// P_pick: channel of the first class, classes, key of the lowest score that counts, overlap.
#define LARGER(LANE, I) if (c + I >= 0 && c + I < P_pick.y) key = max(key, KEY(v.LANE));
#define DECODE(FROM) GPU_TEXT_OF( \
    int i = min(GID0, boxes_w - 1); \
    int key = NONE; \
    for (int s = LID1; s < scores_s; s += GROUP_Y) { \
        FROM(v, scores, z, w, mki4(i, 0, s, 0)) \
        int c = s * 4 - P_pick.x; \
        LARGER(x, 0) \
        LARGER(y, 1) \
        LARGER(z, 2) \
        LARGER(w, 3) \
    } \
    keys[LID1 * GROUP_X + LID0] = key; \
    BARRIER; \
    if (LID1 == 0 && GID0 < boxes_w) { \
        for (int j = 1; j < GROUP_Y; j += 1) key = max(key, keys[j * GROUP_X + LID0]); \
        FROM(first, scores, z, w, mki4(i, 0, 0, 0)) \
        float counts = 0.0f; \
        if (key >= P_pick.z && !is_nan(pick(P_pick.x == 0, first.x, first.y))) counts = 1.0f; \
        FROM(e, encodings, x, y, mki4(i, 0, 0, 0)) \
        acc4 a = to_acc4(anchors(i)); \
        float y = e.x / bits_to_float(P_scales.x) * a.z + a.x; \
        float x = e.y / bits_to_float(P_scales.y) * a.w + a.y; \
        float h = 0.5f * exp(e.z / bits_to_float(P_scales.z)) * a.z; \
        float w = 0.5f * exp(e.w / bits_to_float(P_scales.w)) * a.w; \
        acc4 box = mkf4(y - h, x - w, y + h, x + w); \
        float empty = 0.0f; \
        if (box.x >= box.z && !is_nan(box.x) && !is_nan(box.z)) empty = 1.0f; \
        if (box.y >= box.w && !is_nan(box.y) && !is_nan(box.w)) empty = 1.0f; \
        float area = (box.z - box.x) * (box.w - box.y); \
        int bits = float_to_bits(area); \
        if (bits < 0 || bits >= 2139095040) area = 0.0f; \
        write_boxes(mki4(i, 0, 0, 0), to_real4(box)); \
        float score = bits_to_float(pick(key < 0, NONE - key, key)); \
        write_boxes(mki4(i, 0, 1, 0), to_real4(mkf4(area, score, counts, empty))); \
    } \
)

#define DECODE_KERNEL(SYMBOL, NAME, KIND, FROM, INTEGERS) \
    SYMBOL = { \
        .name = NAME, \
        .group = {32, 4, 1}, \
        .args = {{KIND, "encodings"}, {KIND, "scores"}, {GPU_WEIGHTS, "anchors"}, {GPU_OUT, "boxes"}}, \
        .params = {"pick", "scales", "steps"}, \
        .shared = {"int keys[GROUP_X * GROUP_Y]"}, \
        .integers = INTEGERS, \
        .body = DECODE(FROM), \
    };
DECODE_KERNEL(static const struct gpu_kernel decode_kernel, "detection_decode", GPU_IN, FLOATS, false)
DECODE_KERNEL(const struct gpu_kernel gpu_kernel_detection_decode_codes, "detection_decode_codes", GPU_CODES_IN, CODES,
              true)

// The channel P_pick.x + C of box I to the float S.
#define SCORE(FROM, S, I, C) \
    FROM(S##_four, scores, z, w, mki4(I, 0, (P_pick.x + (C)) / 4, 0)) \
    float S = to_float(lane(to_real4(S##_four), (P_pick.x + (C)) % 4));

// P_rows: boxes to take, rows for each. kept: corners, area and index of those that were taken.
// A work-item searches until its candidate is not stale, in each turn behind the last one. (With a condition alone boxes
// were found twice: docs/kernel_dialect.md.)
#define PICK(FROM) GPU_TEXT_OF( \
    int key = ALL; \
    int own = 0 - 1; \
    for (int i = LID0; i < boxes_w; i += GROUP_X) { \
        if (to_acc4(read_boxes(mki4(i, 0, 1, 0))).w > 0.5f && own < 0) own = i; \
    } \
    int stale = pick(own < 0, 1, 0); \
    acc4 box = splatf4(0.0f); \
    float area = 0.0f; \
    int taken = 0; \
    int failed = 0 - 1; \
    int more = 1; \
    for (int n = 0; n < P_rows.x && more == 1; n += 1) { \
        for (int turn = 0; turn <= boxes_w && stale == 1; turn += 1) { \
            int next = NONE; \
            int index = 0 - 1; \
            for (int i = LID0; i < boxes_w; i += GROUP_X) { \
                int k = NONE; \
                if (REGULAR == 1) { \
                    SCORE(FROM, score, i, GROUP1) \
                    k = KEY(score); \
                    if (k < P_pick.z) k = NONE; \
                } else { \
                    acc4 rest = to_acc4(read_boxes(mki4(i, 0, 1, 0))); \
                    if (rest.z > 0.5f) k = KEY(rest.y); \
                } \
                if (k > next && (k < key || (k == key && i > own))) { \
                    next = k; \
                    index = i; \
                } \
            } \
            stale = 0; \
            key = next; \
            own = index; \
            if (key != NONE) { \
                box = to_acc4(read_boxes(mki4(own, 0, 0, 0))); \
                area = to_acc4(read_boxes(mki4(own, 0, 1, 0))).x; \
                for (int j = 0; j < n * 6 && stale == 0; j += 6) { \
                    acc4 other = mkf4(kept[j], kept[j + 1], kept[j + 2], kept[j + 3]); \
                    OVERLAP(box, area, other, kept[j + 4], stale) \
                } \
            } \
        } \
        keys[LID0] = key; \
        at[LID0] = own; \
        BEST_OF_GROUP \
        int best = keys[0]; \
        int winner = at[0]; \
        if (best == NONE || best == ALL) more = 0; \
        if (best == ALL) failed = winner; \
        if (more == 1 && own == winner) { \
            kept[n * 6] = box.x; \
            kept[n * 6 + 1] = box.y; \
            kept[n * 6 + 2] = box.z; \
            kept[n * 6 + 3] = box.w; \
            kept[n * 6 + 4] = area; \
            kept[n * 6 + 5] = to_float(own); \
            stale = 1; \
        } \
        BARRIER; \
        if (more == 1) { \
            taken = n + 1; \
            acc4 newest = mkf4(kept[n * 6], kept[n * 6 + 1], kept[n * 6 + 2], kept[n * 6 + 3]); \
            if (key != NONE) OVERLAP(box, area, newest, kept[n * 6 + 4], stale) \
        } \
    } \
    for (int r = LID0; r < picks_w; r += GROUP_X) { \
        acc4 corners = splatf4(0.0f); \
        acc4 rest = splatf4(0.0f); \
        int n = r / P_rows.y; \
        int rank = r % P_rows.y; \
        if (n < taken && rank < P_pick.y) { \
            corners = mkf4(kept[n * 6], kept[n * 6 + 1], kept[n * 6 + 2], kept[n * 6 + 3]); \
            int i = to_int(kept[n * 6 + 5]); \
            int found = GROUP1; \
            if (REGULAR == 0) { \
                int last = ALL; \
                found = 0 - 1; \
                for (int j = 0; j <= rank; j += 1) { \
                    int next = NONE; \
                    int index = 0 - 1; \
                    for (int s = 0; s < scores_s; s += 1) { \
                        FROM(v, scores, z, w, mki4(i, 0, s, 0)) \
                        int c = s * 4 - P_pick.x; \
                        BEHIND(x, 0) \
                        BEHIND(y, 1) \
                        BEHIND(z, 2) \
                        BEHIND(w, 3) \
                    } \
                    last = next; \
                    found = index; \
                } \
            } \
            SCORE(FROM, score, i, found) \
            rest = mkf4(to_float(found), score, 0.0f, 0.0f); \
        } \
        write_picks(mki4(r, GROUP1, 0, 0), to_real4(corners)); \
        write_picks(mki4(r, GROUP1, 1, 0), to_real4(rest)); \
    } \
    if (LID0 == 0) { \
        float number = to_float(pick(failed >= 0, 0 - 1 - failed, taken)); \
        write_count(mki4(GROUP1, 0, 0, 0), to_real4(mkf4(number, 0.0f, 0.0f, 0.0f))); \
    } \
)
// The best class that comes behind the last one that was found.
#define BEHIND(LANE, I) \
    if (c + I >= 0 && c + I < P_pick.y) { \
        int k = KEY(v.LANE); \
        if ((index < 0 || k > next) && (k < last || (k == last && c + I > found))) { \
            next = k; \
            index = c + I; \
        } \
    }

#define PICK_KERNEL(SYMBOL, NAME, KIND, FROM, INTEGERS) \
    SYMBOL = { \
        .name = NAME, \
        .group = {SMALL_GROUP, 1, 1}, \
        .args = {{GPU_IN, "boxes"}, {KIND, "scores"}, {GPU_OUT, "picks"}, {GPU_OUT, "count"}}, \
        .params = {"pick", "rows", "steps"}, \
        GPU_CONSTANTS({"REGULAR", 0}, {"KEPT", 1}), \
        .shared = {"int keys[GROUP_X]", "int at[GROUP_X]", "float kept[KEPT * 6]"}, \
        .integers = INTEGERS, \
        .body = PICK(FROM), \
    };
PICK_KERNEL(static const struct gpu_kernel pick_kernel, "detection_pick", GPU_IN, FLOATS, false)
PICK_KERNEL(const struct gpu_kernel gpu_kernel_detection_pick_codes, "detection_pick_codes", GPU_CODES_IN, CODES, true)

// P_rows: boxes to take. heads: how many of each class were taken, which only the work-item of the class looks at.
const struct gpu_kernel gpu_kernel_detection_merge = {
    .name = "detection_merge",
    .group = {SMALL_GROUP, 1, 1},
    .args = {{GPU_IN, "lists"}, {GPU_IN, "counts"}, {GPU_OUT, "picks"}, {GPU_OUT, "count"}},
    .params = {"rows"},
    GPU_CONSTANTS({"CLASSES", 1}),
    .shared = {"int keys[GROUP_X]", "int at[GROUP_X]", "int heads[CLASSES]"},
    .body = GPU_TEXT_OF(
        for (int c = LID0; c < CLASSES; c += GROUP_X) heads[c] = 0;
        float failed = to_acc4(read_counts(mki4(0, 0, 0, 0))).x;
        int key = NONE;
        int own = 0 - 1;
        int stale = 1;
        int taken = 0;
        int more = pick(failed < 0.0f, 0, 1);
        for (int n = 0; n < P_rows.x && more == 1; n += 1) {
            if (stale == 1) {
                key = NONE;
                own = 0 - 1;
                for (int c = LID0; c < CLASSES; c += GROUP_X) {
                    if (heads[c] < to_int(to_acc4(read_counts(mki4(c, 0, 0, 0))).x)) {
                        float score = to_acc4(read_lists(mki4(heads[c], c, 1, 0))).y;
                        int k = KEY(score);
                        if (k > key) {
                            key = k;
                            own = c;
                        }
                    }
                }
                stale = 0;
            }
            keys[LID0] = key;
            at[LID0] = own;
            BEST_OF_GROUP
            if (keys[0] == NONE) more = 0;
            if (more == 1 && own == at[0]) {
                write_picks(mki4(n, 0, 0, 0), read_lists(mki4(heads[own], own, 0, 0)));
                write_picks(mki4(n, 0, 1, 0), read_lists(mki4(heads[own], own, 1, 0)));
                heads[own] += 1;
                stale = 1;
            }
            if (more == 1) taken = n + 1;
            BARRIER;
        }
        for (int r = taken + LID0; r < picks_w; r += GROUP_X) {
            write_picks(mki4(r, 0, 0, 0), splat4(to_real(0.0f)));
            write_picks(mki4(r, 0, 1, 0), splat4(to_real(0.0f)));
        }
        if (LID0 == 0) {
            float number = pick(failed < 0.0f, failed, to_float(taken));
            write_count(mki4(0, 0, 0, 0), to_real4(mkf4(number, 0.0f, 0.0f, 0.0f)));
        }
    ),
};

// Four rows for a work-item: classes and scores are channels of one position.
#define ROW(NAME, I) \
    acc4 NAME = splatf4(0.0f); \
    if (s * 4 + I < picks_w) { \
        write_boxes(mki4(s * 4 + I, 0, 0, 0), read_picks(mki4(s * 4 + I, 0, 0, 0))); \
        NAME = to_acc4(read_picks(mki4(s * 4 + I, 0, 1, 0))); \
    }
const struct gpu_kernel gpu_kernel_detection_rows = {
    .name = "detection_rows",
    .group = {32, 1, 1},
    .args = {{GPU_IN, "picks"}, {GPU_OUT, "boxes"}, {GPU_OUT, "classes"}, {GPU_OUT, "scores"}},
    .body = GPU_TEXT_OF(
        int s = GID0;
        if (s * 4 >= picks_w) return;
        ROW(r0, 0)
        ROW(r1, 1)
        ROW(r2, 2)
        ROW(r3, 3)
        write_classes(mki4(0, 0, s, 0), to_real4(mkf4(r0.x, r1.x, r2.x, r3.x)));
        write_scores(mki4(0, 0, s, 0), to_real4(mkf4(r0.y, r1.y, r2.y, r3.y)));
    ),
};
// clang-format on

// ---- supported ----------------------------------------------------------------------------------

static bool check_numbers(const struct gpu_node_view *view, const struct hl_detection_options *options)
{
    if (options->max_detections < 1 || options->max_detections > MAX_DETECTIONS)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "max_detections is %d, the GPU takes 1 to %d",
                          options->max_detections, (int)MAX_DETECTIONS);
    if (options->regular && options->classes > MAX_CLASSES)
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "a suppression for each of %d classes, the GPU takes up to %d",
                          options->classes, (int)MAX_CLASSES);
    if (options->classes < 1 || options->classes_per_detection < 1 ||
        (options->regular && options->detections_per_class < 1))
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "num_classes %d, max_classes_per_detection %d",
                          options->classes, options->classes_per_detection);
    if (!(options->overlap_threshold > 0 && options->overlap_threshold <= 1))
        return gpu_refuse(view, DELEGATE_PARAMETER, -1, "nms_iou_threshold is %g", (double)options->overlap_threshold);
    const float scales[] = {options->y_scale, options->x_scale, options->h_scale, options->w_scale};
    for (int i = 0; i < 4; i++)
        if (!isnormal(scales[i]))
            return gpu_refuse(view, DELEGATE_PARAMETER, -1, "a scale of the boxes is %g", (double)scales[i]);
    return true;
}

static bool has_dims(const TfLiteTensor *tensor, int rank, const int *dims)
{
    bool same = tensor->dims->size == rank;
    for (int i = 0; i < rank && same; i++) same = tensor->dims->data[i] == dims[i];
    return same;
}

static bool check_shapes(const struct gpu_node_view *view, const struct hl_detection_options *options)
{
    const TfLiteIntArray *e = gpu_view_input(view, ENCODINGS)->dims, *s = gpu_view_input(view, SCORES)->dims;
    if (e->size != 3 || s->size != 3 || e->data[0] != 1 || s->data[0] != 1 || e->data[1] != s->data[1] ||
        e->data[2] < 4 || (s->data[2] != options->classes && s->data[2] - 1 != options->classes))
        return gpu_refuse(view, DELEGATE_SHAPE, SCORES, "the shapes of encodings, scores and num_classes do not fit");
    const TfLiteTensor *anchors = gpu_view_input(view, ANCHORS);
    int rank = anchors->dims->size, rows = (int)hl_elements(gpu_view_output(view, CLASSES_OUT));
    if (hl_elements(anchors) != 4 * (int64_t)e->data[1])
        return gpu_refuse(view, DELEGATE_SHAPE, ANCHORS, "%lld anchor values for %d boxes",
                          (long long)hl_elements(anchors), e->data[1]);
    // The device has the values of an input that is one long row, or has rows of four, in order.
    if (!hl_is_constant(anchors) && rank != 1 && anchors->dims->data[rank - 1] != 4)
        return gpu_refuse(view, DELEGATE_SHAPE, ANCHORS, "anchors that are no constant must come in rows of four");
    static const int ranks[] = {3, 2, 2, 1};
    const int dims[] = {1, rows, 4}, one[] = {1};
    bool fit = rows == (int64_t)options->max_detections * options->classes_per_detection;
    for (int i = 0; i < 4; i++) fit = fit && has_dims(gpu_view_output(view, i), ranks[i], i == COUNT_OUT ? one : dims);
    return fit || gpu_refuse(view, DELEGATE_SHAPE, -1, "the outputs have not the shapes that the options say");
}

bool gpu_detection_supported(const struct gpu_node_view *view)
{
    struct hl_detection_options options =
        hl_detection_options_of(view->node->custom_initial_data, (size_t)view->node->custom_initial_data_size);
    return check_numbers(view, &options) && check_shapes(view, &options);
}

// ---- plan ---------------------------------------------------------------------------------------

static struct hl_detection_options options_of(const struct gpu_node *node)
{
    return hl_detection_options_of(node->params, node->params_size);
}

// Element i of a constant.
static float number_at(const struct gpu_value *value, int64_t i)
{
    if (!value->codes) return value->data[i];
    return value->quantization.scale * (float)(value->integers[i] - gpu_code_zero(&value->quantization));
}

// As the kernels' KEY. Nothing reaches a threshold that is NaN.
static int32_t key_of(float threshold)
{
    int32_t bits = gpu_float_bits(threshold);
    return isnan(threshold) ? INT32_MAX : bits < 0 ? INT32_MIN - bits : bits;
}

static struct gpu_operand anchors_of(struct gpu_plan *plan, const struct gpu_value *anchors)
{
    if (!anchors->data) return (struct gpu_operand){.value = anchors};
    int64_t count = gpu_elements(anchors->shape);
    struct gpu_weights *weights = gpu_plan_weights(plan, (size_t)count / 4);
    if (!weights) return (struct gpu_operand){0};
    weights->exact = true;
    for (int64_t i = 0; i < count; i++) weights->data[i] = number_at(anchors, i);
    return (struct gpu_operand){.weights = weights};
}

// A value whose numbers are those of the CPU in every precision.
static struct gpu_value *exact_scratch(struct gpu_plan *plan, struct gpu_shape shape)
{
    struct gpu_value *value = gpu_plan_scratch(plan, shape);
    if (value) value->exact = true;
    return value;
}

// What the kernels read: an input in rows of each box.
struct rows {
    const struct gpu_value *value;
    struct gpu_shape shape;
};

static struct rows rows_of(struct gpu_plan *plan, const struct gpu_value *value, int count)
{
    struct gpu_shape shape = {1, 1, count, (int)(gpu_elements(value->shape) / count)};
    return (struct rows){gpu_plan_seen_as(plan, value, shape), shape};
}

static bool plan_decode(struct gpu_plan *plan, const struct gpu_node *node, const struct rows *scores,
                        const int32_t pick[4], const int32_t steps[4], const struct gpu_value *boxes)
{
    const struct hl_detection_options options = options_of(node);
    struct rows encodings = rows_of(plan, node->inputs[ENCODINGS], boxes->shape.w);
    struct gpu_operand anchors = anchors_of(plan, node->inputs[ANCHORS]);
    if (!encodings.value || (!anchors.value && !anchors.weights)) return false;
    struct gpu_dispatch_desc desc = {
        .kernel = scores->value->codes ? &gpu_kernel_detection_decode_codes : &decode_kernel,
        .operands = {{.value = encodings.value}, {.value = scores->value}, anchors, {.value = boxes}},
        .views = {encodings.shape, scores->shape},
        .params = {{pick[0], pick[1], pick[2], pick[3]},
                   {gpu_float_bits(options.y_scale), gpu_float_bits(options.x_scale), gpu_float_bits(options.h_scale),
                    gpu_float_bits(options.w_scale)},
                   {steps[0], steps[1], steps[2], steps[3]}},
        .grid = {boxes->shape.w, decode_kernel.group[1], 1},
    };
    return gpu_plan_dispatch(plan, &desc);
}

// How many work-items look for the best of so many.
static int group_for(const struct gpu_plan *plan, int count)
{
    const struct gpu_caps *caps = plan->caps;
    bool large = caps->max_group_size >= LARGE_GROUP && caps->max_group[0] >= LARGE_GROUP;
    return large && count > 4 * SMALL_GROUP ? LARGE_GROUP : SMALL_GROUP;
}

bool gpu_detection_plan(struct gpu_plan *plan, const struct gpu_node *node)
{
    const struct hl_detection_options options = options_of(node);
    const struct gpu_quantization *e = &node->inputs[ENCODINGS]->quantization;
    const struct gpu_quantization *s = &node->inputs[SCORES]->quantization;
    int count = (int)(gpu_elements(node->inputs[ANCHORS]->shape) / 4), classes = options.classes;
    int limit = options.max_detections;
    if (options.regular && options.detections_per_class < limit) limit = options.detections_per_class;
    if (count < limit) limit = count;
    for (int i = 0; i < node->output_count; i++) node->outputs[i]->exact = true;
    struct gpu_value *boxes = exact_scratch(plan, (struct gpu_shape){1, 1, count, 8});
    struct gpu_shape rows = {1, 1, node->outputs[CLASSES_OUT]->shape.c, 8}, list = {1, classes, limit, 8};
    struct gpu_value *picks = exact_scratch(plan, rows), *counted = node->outputs[COUNT_OUT];
    struct gpu_value *lists = options.regular ? exact_scratch(plan, list) : picks;
    struct gpu_value *counts =
        options.regular ? exact_scratch(plan, (struct gpu_shape){1, 1, classes, 1}) : node->outputs[COUNT_OUT];
    struct rows scores = rows_of(plan, node->inputs[SCORES], count);
    if (!boxes || !picks || !lists || !counts || !scores.value) return false;
    const int32_t chosen[4] = {scores.shape.c - classes, classes, key_of(options.score_threshold),
                               gpu_float_bits(options.overlap_threshold)};
    const int32_t steps[4] = {gpu_float_bits(e->scale), gpu_code_zero(e), gpu_float_bits(s->scale), gpu_code_zero(s)};
    int group = group_for(plan, count);
    struct gpu_dispatch_desc pick = {
        .kernel = scores.value->codes ? &gpu_kernel_detection_pick_codes : &pick_kernel,
        .operands = {{.value = boxes}, {.value = scores.value}, {.value = lists}, {.value = counts}},
        .views = {[1] = scores.shape},
        .params = {{chosen[0], chosen[1], chosen[2], chosen[3]},
                   {limit, options.regular ? 1 : options.classes_per_detection},
                   {steps[0], steps[1], steps[2], steps[3]}},
        .constants = {{"REGULAR", options.regular}, {"KEPT", limit}},
        .group = {group},
        .grid = {group, options.regular ? classes : 1, 1},
    };
    struct gpu_dispatch_desc merge = {
        .kernel = &gpu_kernel_detection_merge,
        .operands = {{.value = lists}, {.value = counts}, {.value = picks}, {.value = counted}},
        .params = {{options.max_detections}},
        .constants = {{"CLASSES", classes}},
        .group = {group_for(plan, classes)},
        .grid = {group_for(plan, classes), 1, 1},
    };
    struct gpu_dispatch_desc write = {
        .kernel = &gpu_kernel_detection_rows,
        .operands = {{.value = picks},
                     {.value = node->outputs[BOXES_OUT]},
                     {.value = node->outputs[CLASSES_OUT]},
                     {.value = node->outputs[SCORES_OUT]}},
        .grid = {gpu_slices(node->outputs[CLASSES_OUT]->shape), 1, 1},
    };
    return plan_decode(plan, node, &scores, chosen, steps, boxes) && gpu_plan_dispatch(plan, &pick) &&
           (!options.regular || gpu_plan_dispatch(plan, &merge)) && gpu_plan_dispatch(plan, &write);
}

// ---- boxes without an area ----------------------------------------------------------------------

// Whether no encoding that 8 bits can store makes a box without an area of one of the anchors: half of its side is
// larger than what rounding leaves of its center.
static bool never_empty(const struct gpu_node *node)
{
    const struct hl_detection_options options = options_of(node);
    const struct gpu_value *encodings = node->inputs[ENCODINGS], *anchors = node->inputs[ANCHORS];
    const struct gpu_quantization *q = &encodings->quantization;
    if (q->scale == 0 || encodings->data || !anchors->data) return false;
    int zero = gpu_code_zero(q);
    double low = (double)q->scale * (-128 - zero), high = (double)q->scale * (127 - zero);
    double widest = fmax(fabs(low), fabs(high));
    const float center[] = {options.y_scale, options.x_scale}, side[] = {options.h_scale, options.w_scale};
    for (int64_t i = 0; i < gpu_elements(anchors->shape); i += 4)
        for (int axis = 0; axis < 2; axis++) {
            double at = (double)number_at(anchors, i + axis), length = (double)number_at(anchors, i + 2 + axis);
            double farthest = widest / fabs((double)center[axis]) * fabs(length) + fabs(at);
            double smallest = 0.5 * exp(fmin(low / (double)side[axis], high / (double)side[axis])) * length;
            if (!(smallest > farthest * 0x1p-20 && smallest > 0x1p-100)) return false;
        }
    return true;
}

bool gpu_detection_check(const struct gpu_node *node, struct gpu_value_check *check)
{
    if (never_empty(node)) return false;
    *check = (struct gpu_value_check){.rule = GPU_CHECK_BOXES, .input = ENCODINGS, .value = node->outputs[COUNT_OUT]};
    return true;
}

const struct gpu_op gpu_op_detection_postprocess = {
    .name = "TFLite_Detection_PostProcess",
    .max_version = 1,
    .operands = {.inputs = {3}, .outputs = 4},
    .supported = gpu_detection_supported,
    .plan = gpu_detection_plan,
    .check = gpu_detection_check,
    .keeps_options = true,
    .any_shape = GPU_INPUT(ENCODINGS) | GPU_INPUT(SCORES),
    GPU_KERNELS(&decode_kernel, &pick_kernel, &gpu_kernel_detection_merge, &gpu_kernel_detection_rows,
                &gpu_kernel_reshape),
};
