// SPDX-License-Identifier: Apache-2.0
// What was heard, and from when to when. In: the scores of one window of sound after the other. Out: events: windows in
// a row in which a class is among the best and its score, the mean of the last windows, reaches a threshold.
#ifndef HALITE_TOOLS_TRANSCRIBE_EVENTS_H
#define HALITE_TOOLS_TRANSCRIBE_EVENTS_H

#include "class_scores.h"

struct hl_event {
    int class;
    double start, end; // seconds: of the first and the last window
    float score;       // the highest
    int64_t last;      // number of the last window
    bool over;
};

struct hl_listening {
    double threshold;
    int windows; // whose mean counts
    bool every;  // each window is an event of its own, whatever its score
    int count, given, capacity;
    struct hl_event *events; // in the order in which they begin
    int *open;               // of each class: the number of its event behind 0, 0: none
    float *history;          // [windows][classes], a ring
    int64_t seen;            // windows
};

// threshold, windows and every are set.
void hl_listening_start(struct hl_listening *listening, int classes);
// Smooths the scores, in which the mean stands then, and takes note of the window.
void hl_listening_add(struct hl_listening *listening, struct hl_class_scores *scores, double start, double end);
// Ends all events.
void hl_listening_finish(struct hl_listening *listening);
// The next event that is over, where all before it were given; NULL: none yet.
const struct hl_event *hl_listening_next(struct hl_listening *listening);
void hl_listening_free(struct hl_listening *listening);

#endif
