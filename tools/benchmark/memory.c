// SPDX-License-Identifier: Apache-2.0
// See memory.h.
#include "benchmark/memory.h"

#include "base/process.h"

static const double megabyte = 1 << 20;

double hl_memory_most(void)
{
    return (double)hl_process_most_memory() / megabyte;
}

static void watch_memory(void *user)
{
    struct hl_memory_watch *watch = user;
    hl_mutex_lock(&watch->lock);
    while (!watch->stop) {
        struct hl_process_memory memory;
        hl_process_memory(&memory);
        double now = (double)(memory.anonymous + memory.file + memory.shared) / megabyte;
        if (now > watch->most) watch->most = now;
        while (!watch->stop && hl_condition_wait_for(&watch->wake, &watch->lock, 1e-3 * watch->interval_ms)) continue;
    }
    hl_mutex_unlock(&watch->lock);
}

bool hl_memory_watch_start(struct hl_memory_watch *watch, int interval_ms)
{
    *watch = (struct hl_memory_watch){.interval_ms = interval_ms > 0 ? interval_ms : 1};
    hl_mutex_init(&watch->lock);
    hl_condition_init(&watch->wake);
    watch->running = hl_thread_start(&watch->thread, watch_memory, watch);
    return watch->running;
}

double hl_memory_watch_stop(struct hl_memory_watch *watch)
{
    if (watch->running) {
        hl_mutex_lock(&watch->lock);
        watch->stop = true;
        hl_condition_signal(&watch->wake);
        hl_mutex_unlock(&watch->lock);
        hl_thread_join(&watch->thread);
    }
    hl_condition_destroy(&watch->wake);
    hl_mutex_destroy(&watch->lock);
    return watch->most;
}

void hl_memory_status(struct hl_text *text)
{
    struct hl_process_memory memory;
    if (!hl_process_memory(&memory)) return;
    long own = (long)(memory.anonymous >> 10), others = (long)((memory.file + memory.shared) >> 10);
    hl_text_add(text, "- VmRSS              : %ld MB\n", (own + others) / 1024);
    hl_text_add(text, "+ RssAnnon           : %ld MB\n", own / 1024);
    hl_text_add(text, "+ RssFile + RssShmem : %ld MB", others / 1024);
}
