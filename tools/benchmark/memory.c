// SPDX-License-Identifier: Apache-2.0
// See memory.h.
#include "benchmark/memory.h"

#include "base/process.h"

static const double megabyte = 1 << 20;

double hl_memory_most(void)
{
    return (double)hl_process_most_memory() / megabyte;
}

static void watch_memory(void *user_data)
{
    struct hl_memory_watch *watch = user_data;
    struct hl_process_memory memory;
    hl_process_memory(&memory);
    double now = (double)(memory.anonymous + memory.file + memory.shared) / megabyte;
    if (now > watch->most) watch->most = now;
}

bool hl_memory_watch_start(struct hl_memory_watch *watch, int interval_ms)
{
    watch->most = 0;
    return hl_periodic_start(&watch->periodic, 1e-3 * (interval_ms > 0 ? interval_ms : 1), watch_memory, watch);
}

double hl_memory_watch_stop(struct hl_memory_watch *watch)
{
    hl_periodic_stop(&watch->periodic);
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
