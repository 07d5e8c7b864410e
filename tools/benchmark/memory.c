// SPDX-License-Identifier: Apache-2.0
// See memory.h.
#include "benchmark/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

double hl_memory_most(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
    return (double)usage.ru_maxrss / 1048576; // bytes there
#else
    return (double)usage.ru_maxrss / 1024;
#endif
}

// MB in physical memory now; 0 where the system does not say.
static double resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

static void *watch_memory(void *user)
{
    struct hl_memory_watch *watch = user;
    pthread_mutex_lock(&watch->lock);
    while (!watch->stop) {
        double now = resident();
        if (now > watch->most) watch->most = now;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += watch->interval_ms / 1000;
        until.tv_nsec += watch->interval_ms % 1000 * 1000000L;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        while (!watch->stop && pthread_cond_timedwait(&watch->wake, &watch->lock, &until) != ETIMEDOUT) {
        }
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

bool hl_memory_watch_start(struct hl_memory_watch *watch, int interval_ms)
{
    *watch = (struct hl_memory_watch){.interval_ms = interval_ms > 0 ? interval_ms : 1};
    pthread_mutex_init(&watch->lock, NULL);
    pthread_cond_init(&watch->wake, NULL);
    watch->running = pthread_create(&watch->thread, NULL, watch_memory, watch) == 0;
    return watch->running;
}

double hl_memory_watch_stop(struct hl_memory_watch *watch)
{
    if (watch->running) {
        pthread_mutex_lock(&watch->lock);
        watch->stop = true;
        pthread_cond_signal(&watch->wake);
        pthread_mutex_unlock(&watch->lock);
        pthread_join(watch->thread, NULL);
    }
    pthread_cond_destroy(&watch->wake);
    pthread_mutex_destroy(&watch->lock);
    return watch->most;
}

void hl_memory_status(struct hl_text *text)
{
    long anonymous = 0, file_backed = 0, shared = 0, value;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "RssAnon: %ld", &value) == 1) anonymous = value;
        if (sscanf(line, "RssFile: %ld", &value) == 1) file_backed = value;
        if (sscanf(line, "RssShmem: %ld", &value) == 1) shared = value;
    }
    fclose(file);
    hl_text_add(text, "- VmRSS              : %ld MB\n", (anonymous + file_backed + shared) / 1024);
    hl_text_add(text, "+ RssAnnon           : %ld MB\n", anonymous / 1024);
    hl_text_add(text, "+ RssFile + RssShmem : %ld MB", (file_backed + shared) / 1024);
}
