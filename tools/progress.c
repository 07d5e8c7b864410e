// SPDX-License-Identifier: Apache-2.0
// See progress.h. The bar is one line, cut where the terminal ends, which each drawing begins anew.
#include "progress.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/process.h"
#include "table.h"
#include "text.h"

static void draw(struct hl_progress *progress, double now)
{
    enum { WIDTH = 30 };
    int fresh = progress->done - progress->first, columns = hl_stream_columns(stderr);
    struct hl_text line = {0};
    hl_text_add(&line, "%s: ", progress->word);
    if (progress->total > 0) {
        int filled = (int)((double)WIDTH * progress->done / progress->total);
        char left[32] = "?";
        if (fresh > 0)
            hl_format_seconds(left, sizeof left, (now - progress->start) / fresh * (progress->total - progress->done));
        hl_text_add(&line, "[%.*s%*s] %d of %d, %s left", filled, "##############################", WIDTH - filled, "",
                    progress->done, progress->total, left);
    } else {
        hl_text_add(&line, "%d", progress->done);
    }
    int length = columns > 1 && line.length >= (size_t)columns ? columns - 1 : (int)line.length;
    fflush(stdout); // in order, where both go to the same place
    fprintf(stderr, "\r%.*s\033[K", length, line.data);
    fflush(stderr);
    progress->shown = now;
    hl_text_free(&line);
}

void hl_progress_start(struct hl_progress *progress, const char *word, int first, int total)
{
    *progress = (struct hl_progress){
        .word = word,
        .first = first,
        .done = first,
        .total = total,
        .on = hl_stream_is_terminal(stderr),
        .start = hl_seconds(),
    };
    if (progress->on) draw(progress, progress->start);
}

void hl_progress_step(struct hl_progress *progress)
{
    if (progress == NULL) return;
    progress->done++;
    double now = progress->on ? hl_seconds() : 0;
    if (progress->on && now - progress->shown >= 0.1) draw(progress, now);
}

void hl_progress_word(struct hl_progress *progress, const char *word)
{
    progress->word = word;
    if (progress->on) draw(progress, hl_seconds());
}

void hl_progress_end(struct hl_progress *progress)
{
    if (!progress->on) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->on = false;
}
