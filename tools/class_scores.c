// SPDX-License-Identifier: Apache-2.0
// See class_scores.h.
#include "class_scores.h"

#include <stdlib.h>

#include "alloc.h"
#include "message.h"

static bool check_output(struct hl_task *task, int *class_count)
{
    const TfLiteTensor *output = hl_task_output(task);
    if (output == NULL) return false;
    int rank = TfLiteTensorNumDims(output);
    int64_t classes = hl_model_elements(output);
    bool list = rank >= 1 && classes > 0 && classes == TfLiteTensorDim(output, rank - 1);
    TfLiteType type = TfLiteTensorType(output);
    if (!list)
        return hl_task_misfit(task, "the first output", output, "one score for each class, [1,classes], is wanted");
    if (type != kTfLiteFloat32 && type != kTfLiteUInt8 && type != kTfLiteInt8)
        return hl_task_misfit(task, "the first output", output, "float32, uint8 or int8 is wanted");
    *class_count = (int)classes;
    return true;
}

static bool check_labels(struct hl_task *task, int classes)
{
    const char *path = task->options->labels;
    int names = task->labels.count;
    if (names == classes) return true;
    if (path == NULL) {
        hl_labels_free(&task->labels);
        return true;
    }
    const char *hint = names == classes - 1   ? " (the model may count a background class first)"
                       : names == classes + 1 ? " (the file may name a background class first)"
                                              : "";
    hl_error(task->kind->command, path, "holds %d names, but %s has %d classes%s; give the labels of this model", names,
             task->file.path, classes, hint);
    return false;
}

bool hl_class_scores_prepare(struct hl_class_scores *scores, struct hl_task *task, int top)
{
    *scores = (struct hl_class_scores){0};
    if (!check_output(task, &scores->classes) || !check_labels(task, scores->classes)) return false;
    scores->scores = hl_alloc((size_t)scores->classes, sizeof *scores->scores);
    scores->ranking = hl_alloc((size_t)scores->classes, sizeof *scores->ranking);
    scores->ranked = top < scores->classes ? top : scores->classes;
    return true;
}

// By insertion into a short list.
void hl_class_scores_rank(struct hl_class_scores *scores)
{
    int used = 0;
    for (int i = 0; i < scores->classes; i++) {
        float score = scores->scores[i];
        if (used == scores->ranked && score <= scores->scores[scores->ranking[used - 1]]) continue;
        int at = used < scores->ranked ? used++ : used - 1;
        for (; at > 0 && score > scores->scores[scores->ranking[at - 1]]; at--)
            scores->ranking[at] = scores->ranking[at - 1];
        scores->ranking[at] = i;
    }
}

bool hl_class_scores_read(struct hl_class_scores *scores, const struct hl_task *task, const char *item,
                          const char *hint)
{
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(task->file.interpreter, 0);
    if (!hl_task_reals(task, item, output, hint, scores->scores)) return false;
    hl_class_scores_rank(scores);
    return true;
}

bool hl_class_scores_are_probabilities(const struct hl_class_scores *scores)
{
    bool probabilities = true;
    for (int i = 0; i < scores->classes; i++)
        probabilities = probabilities && scores->scores[i] >= 0 && scores->scores[i] <= 1 + 1e-6f;
    return probabilities;
}

void hl_class_scores_free(struct hl_class_scores *scores)
{
    free(scores->scores);
    free(scores->ranking);
    *scores = (struct hl_class_scores){0};
}
