// SPDX-License-Identifier: Apache-2.0
// See wait.h.
#include "gpu/backend/wait.h"

#include "base/clock.h"

// A thread that sleeps finds out late, by a part of the time that it has waited so far: by 1 % on average.
enum { SLEEPS = 64, MIN_SLEEP = 20000, MAX_SLEEP = 5000000 };

bool gpu_wait_until_done(const struct gpu_wait_desc *desc)
{
    if (!desc->is_busy(desc->about)) return true;
    uint64_t begin = hl_nanoseconds();
    for (;;) {
        uint64_t waited = hl_nanoseconds() - begin, nap = waited / SLEEPS;
        if (!desc->is_busy(desc->about))
            return true; // asked once more after the clock was read: threads may stand still
        if (waited >= desc->limit) return false;
        if (waited < desc->spin) continue;
        if (nap < MIN_SLEEP) nap = MIN_SLEEP;
        if (nap > MAX_SLEEP) nap = MAX_SLEEP;
        if (nap > desc->limit - waited) nap = desc->limit - waited;
        hl_sleep(1e-9 * (double)nap);
    }
}
