// SPDX-License-Identifier: Apache-2.0
// How far long work is: a bar on standard error, for people alone. Where that is no terminal nothing is written.
#ifndef HALITE_TOOLS_PROGRESS_H
#define HALITE_TOOLS_PROGRESS_H

#include <stdbool.h>

struct hl_progress {
    const char *word;       // what is done now; may change between two steps
    int first, done, total; // steps: done before the start, done, in all; total 0: not known
    bool on;                // there is a terminal
    double start, shown;    // seconds; shown: when the bar was drawn last
};

// Draws the bar, which stands until hl_progress_end; a message in between (message.h) takes its line.
void hl_progress_start(struct hl_progress *progress, const char *word, int first, int total);
// One more step is done. The bar is drawn ten times a second at most. NULL does nothing.
void hl_progress_step(struct hl_progress *progress);
// What is done from now on; the bar is drawn with it. The word must live as long as the bar.
void hl_progress_word(struct hl_progress *progress, const char *word);
// Takes the bar away, before other output.
void hl_progress_end(struct hl_progress *progress);

#endif
