// SPDX-License-Identifier: Apache-2.0
// See periodic.h. The lock is held during a call, so a call and the stop never overlap.
#include "periodic.h"

static void run(void *user_data)
{
    struct hl_periodic *periodic = user_data;
    hl_mutex_lock(&periodic->lock);
    while (!periodic->stop) {
        periodic->call(periodic->user_data);
        while (!periodic->stop && hl_condition_wait_for(&periodic->wake, &periodic->lock, periodic->seconds)) continue;
    }
    hl_mutex_unlock(&periodic->lock);
}

bool hl_periodic_start(struct hl_periodic *periodic, double seconds, void (*call)(void *user_data), void *user_data)
{
    *periodic = (struct hl_periodic){.seconds = seconds, .call = call, .user_data = user_data};
    hl_mutex_init(&periodic->lock);
    hl_condition_init(&periodic->wake);
    periodic->running = hl_thread_start(&periodic->thread, run, periodic);
    return periodic->running;
}

void hl_periodic_stop(struct hl_periodic *periodic)
{
    if (periodic->running) {
        hl_mutex_lock(&periodic->lock);
        periodic->stop = true;
        hl_condition_signal(&periodic->wake);
        hl_mutex_unlock(&periodic->lock);
        hl_thread_join(&periodic->thread);
    }
    hl_condition_destroy(&periodic->wake);
    hl_mutex_destroy(&periodic->lock);
}
