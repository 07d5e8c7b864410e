// SPDX-License-Identifier: Apache-2.0
// How far a long run is: a bar on a terminal, else a line for each percent as the original's tools print them; and
// whether someone asked it to stop.
#ifndef HALITE_TOOLS_EVAL_PROGRESS_H
#define HALITE_TOOLS_EVAL_PROGRESS_H

#include <signal.h>
#include <stdbool.h>

struct hl_progress {
    sigset_t before;  // signals as they were
    const char *word; // "Evaluated"
    int total, first; // the run begins behind `first`
    bool bar;
    double start, shown; // seconds
};

// From here to hl_progress_release SIGINT and SIGTERM wait to be asked for. Before any thread starts, which would take
// them.
void hl_progress_hold(struct hl_progress *progress);
bool hl_progress_interrupted(void);
void hl_progress_release(struct hl_progress *progress);

// bar: there may be one, where standard output is a terminal.
void hl_progress_start(struct hl_progress *progress, const char *word, int first, int total, bool bar);
// Picture `done` is about to begin.
void hl_progress_show(struct hl_progress *progress, int done);
// Takes the bar away, before other output.
void hl_progress_clear(const struct hl_progress *progress);

#endif
