// SPDX-License-Identifier: Apache-2.0
// See progress.h. The signals are blocked, not handled: whoever works asks between two pictures, and nothing is cut in
// two. Those that are ignored (as nohup and shells' background jobs have it) stay so.
#include "eval/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "message.h"
#include "model_file.h"
#include "table.h"

static void stopping_signals(sigset_t *set)
{
    static const int signals[] = {SIGINT, SIGTERM};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action;
        bool ignored = sigaction(signals[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN;
        if (!ignored) sigaddset(set, signals[i]);
    }
}

void hl_progress_hold(struct hl_progress *progress)
{
    sigset_t signals;
    stopping_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, &progress->before);
}

bool hl_progress_interrupted(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

void hl_progress_release(struct hl_progress *progress)
{
    sigset_t signals;
    stopping_signals(&signals);
    while (hl_progress_interrupted()) {
        int taken;
        if (sigwait(&signals, &taken) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &progress->before, NULL);
}

// ---- the bar ------------------------------------------------------------------------------------

void hl_progress_start(struct hl_progress *progress, const char *word, int first, int total, bool bar)
{
    progress->word = word;
    progress->first = first;
    progress->total = total;
    progress->bar = bar && isatty(STDOUT_FILENO);
    progress->start = hl_seconds();
}

static void show_bar(struct hl_progress *progress, int done)
{
    enum { WIDTH = 30 };
    double now = hl_seconds();
    if (now - progress->shown < 0.1) return;
    progress->shown = now;
    int filled = (int)((double)WIDTH * done / progress->total), fresh = done - progress->first;
    char left[32] = "?";
    if (fresh > 0) hl_format_seconds(left, sizeof left, (now - progress->start) / fresh * (progress->total - done));
    printf("\r%s: [%.*s%*s] %d of %d, %s left \033[K", progress->word, filled, "##############################",
           WIDTH - filled, "", done, progress->total, left);
    fflush(stdout);
}

void hl_progress_show(struct hl_progress *progress, int done)
{
    int step = progress->total / 100;
    if (progress->bar)
        show_bar(progress, done);
    else if (step > 1 && done % step == 0)
        hl_info(HL_TFLITE, NULL, "%s: %d%%", progress->word, done / step);
}

void hl_progress_clear(const struct hl_progress *progress)
{
    if (!progress->bar) return;
    fputs("\r\033[K", stdout);
    fflush(stdout);
}
