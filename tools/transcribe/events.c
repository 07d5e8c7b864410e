// SPDX-License-Identifier: Apache-2.0
// See events.h.
#include "transcribe/events.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

void hl_listening_start(struct hl_listening *listening, int classes)
{
    listening->open = hl_alloc((size_t)classes, sizeof *listening->open);
    listening->history = hl_alloc((size_t)listening->windows * (size_t)classes, sizeof *listening->history);
}

static void smooth(struct hl_listening *listening, struct hl_class_scores *scores)
{
    size_t classes = (size_t)scores->classes, row = (size_t)(listening->seen % listening->windows);
    memcpy(listening->history + row * classes, scores->scores, classes * sizeof *scores->scores);
    listening->seen++;
    if (listening->windows == 1) return;
    size_t rows = listening->seen < listening->windows ? (size_t)listening->seen : (size_t)listening->windows;
    for (size_t class = 0; class < classes; class ++) {
        double sum = 0;
        for (size_t i = 0; i < rows; i++) sum += (double)listening->history[i * classes + class];
        scores->scores[class] = (float)(sum / (double)rows);
    }
    hl_class_scores_rank(scores);
}

static struct hl_event *begin(struct hl_listening *listening, int class, double start, float score)
{
    if (listening->count == listening->capacity) {
        listening->capacity = 2 * listening->capacity + 16;
        listening->events = hl_alloc_grow(listening->events, (size_t)listening->capacity, sizeof *listening->events);
    }
    struct hl_event *event = &listening->events[listening->count++];
    *event = (struct hl_event){.class = class, .start = start, .score = score};
    return event;
}

void hl_listening_add(struct hl_listening *listening, struct hl_class_scores *scores, double start, double end)
{
    smooth(listening, scores);
    for (int i = 0; i < scores->ranked; i++) {
        int class = scores->ranking[i];
        float score = scores->scores[class];
        if (!listening->every && (double)score < listening->threshold) continue;
        struct hl_event *event = listening->open[class] > 0 && !listening->every
                                     ? &listening->events[listening->open[class] - 1]
                                     : begin(listening, class, start, score);
        listening->open[class] = (int)(event - listening->events) + 1;
        event->end = end;
        event->last = listening->seen;
        if (score > event->score) event->score = score;
    }
    for (int class = 0; class < scores->classes; class ++) {
        if (listening->open[class] == 0) continue;
        struct hl_event *event = &listening->events[listening->open[class] - 1];
        if (event->last == listening->seen && !listening->every) continue;
        event->over = true;
        listening->open[class] = 0;
    }
}

void hl_listening_finish(struct hl_listening *listening)
{
    for (int i = listening->given; i < listening->count; i++) listening->events[i].over = true;
}

const struct hl_event *hl_listening_next(struct hl_listening *listening)
{
    bool there = listening->given < listening->count && listening->events[listening->given].over;
    return there ? &listening->events[listening->given++] : NULL;
}

void hl_listening_free(struct hl_listening *listening)
{
    free(listening->events);
    free(listening->open);
    free(listening->history);
    *listening = (struct hl_listening){0};
}
