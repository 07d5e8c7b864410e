// SPDX-License-Identifier: Apache-2.0
// What some work costs in energy, where the system counts it. In: the counters that are found (source.h has the list
// of where) and the time between a start and a stop. Out: joules of each device that is counted, and a line that says
// why the other sources count nothing. Counters see a whole device, and all programs that use it meanwhile.
#ifndef HALITE_TOOLS_ENERGY_ENERGY_H
#define HALITE_TOOLS_ENERGY_ENERGY_H

#include <stdbool.h>

#include "text.h"

struct hl_energy;

// One device, or several alike whose counters are added. Devices of different sources may contain each other (a battery
// feeds everything), so nobody adds figures up.
struct hl_energy_figure {
    const char *source; // "rapl"
    const char *device; // "CPU packages"
    double joules;      // between start and stop
    double watts;       // on average
};

// Looks for counters and never fails: without any, it has no figures and says why.
struct hl_energy *hl_energy_open(void);
void hl_energy_close(struct hl_energy *energy); // takes NULL

// Counts from here to there. A thread looks in between, for power that is not summed by the device itself, and for
// counters that begin anew at zero. May be repeated: figures are of the last time.
void hl_energy_start(struct hl_energy *energy);
void hl_energy_stop(struct hl_energy *energy);

// The figures, lent until the next start; *count of them.
const struct hl_energy_figure *hl_energy_figures(const struct hl_energy *energy, int *count);
// Adds what is not counted and why, source by source, on one line: "rapl: no folder /sys/class/powercap; ...". Adds
// nothing where all sources count.
void hl_energy_add_reasons(const struct hl_energy *energy, struct hl_text *text);

// The steps of start and stop, for tests that say what time it is, in seconds.
void hl_energy_begin(struct hl_energy *energy, double now);
void hl_energy_sample(struct hl_energy *energy, double now);
void hl_energy_end(struct hl_energy *energy, double now);

#endif
