// SPDX-License-Identifier: Apache-2.0
// A function that a thread calls at regular intervals while something else runs: looks at memory and at power, which
// the system shows only as they are at the moment. In: a function and seconds. Out: its calls.
#ifndef HALITE_TOOLS_PERIODIC_H
#define HALITE_TOOLS_PERIODIC_H

#include <stdbool.h>

#include "base/thread.h"

struct hl_periodic {
    struct hl_thread thread;
    struct hl_mutex lock;
    struct hl_condition wake;
    bool running, stop;
    double seconds; // between two calls
    void (*call)(void *user_data);
    void *user_data;
};

// Calls call(user_data) at once and every so many seconds from then on, on a thread of its own. False where the system
// has no thread to give; then nothing is called.
bool hl_periodic_start(struct hl_periodic *periodic, double seconds, void (*call)(void *user_data), void *user_data);
// Ends the calls: none runs when it returns. Right after a start that failed, too.
void hl_periodic_stop(struct hl_periodic *periodic);

#endif
