// SPDX-License-Identifier: Apache-2.0
// Waits that end. In: a question whether something is still under way, and how long to ask it. Out: whether it came to
// its end. For APIs whose own functions wait for a device without a limit.
#ifndef HALITE_GPU_BACKEND_WAIT_H
#define HALITE_GPU_BACKEND_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct gpu_wait_desc {
    bool (*is_busy)(void *about);
    void *about;
    uint64_t spin;  // nanoseconds in which the thread asks again at once; then it sleeps between questions
    uint64_t limit; // nanoseconds until it gives up
};
// False: it was still busy when the time was over.
bool gpu_wait_until_done(const struct gpu_wait_desc *desc);

#endif
