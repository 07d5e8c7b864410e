// SPDX-License-Identifier: Apache-2.0
// The first output of a classifier: one score for each class. In: a model whose output and labels have to fit, then
// inferences. Out: the scores as real numbers, and the best classes in order.
#ifndef HALITE_TOOLS_CLASS_SCORES_H
#define HALITE_TOOLS_CLASS_SCORES_H

#include "task.h"

struct hl_class_scores {
    int classes;
    float *scores;
    int *ranking; // classes, best first, the lower class first among equals
    int ranked;   // how many of them
};

// For a task's prepare. Labels that were given have to be as many as there are classes; packed ones that are not are
// those of another output, and go. False after a message; hl_class_scores_free is right in both cases.
bool hl_class_scores_prepare(struct hl_class_scores *scores, struct hl_task *task, int top);
// After an inference. False after a message where one is no number; `hint`: what may help.
bool hl_class_scores_read(struct hl_class_scores *scores, const struct hl_task *task, const char *item,
                          const char *hint);
// Ranks the best classes anew, where the caller has changed scores.
void hl_class_scores_rank(struct hl_class_scores *scores);
bool hl_class_scores_are_probabilities(const struct hl_class_scores *scores);
void hl_class_scores_free(struct hl_class_scores *scores);

#endif
