// SPDX-License-Identifier: Apache-2.0
// See energy.h. The meter: asks all sources for counters, looks at them from time to time and sums what has gone. A
// counter whose values make no sense is lost for the measurement, with the reason: no figure is better than a wrong
// one.
#include "energy/energy.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "energy/source.h"
#include "periodic.h"

// Fast enough for power that changes with the work, and for counters of 32 bits, which begin anew after minutes; slow
// enough to cost nothing.
static const double interval = 0.05;
// More than any one device that is counted takes: a step beyond it is no consumption but a counter that was set.
static const double most_watts = 50e3;

#define ROW(name) &hl_energy_##name,
static const struct hl_energy_source *const sources[] = {HL_ENERGY_SOURCES(ROW)};
#undef ROW
enum { SOURCES = sizeof sources / sizeof *sources };

struct hl_energy {
    struct hl_energy_counter *counters;
    int counter_count, figure_count;
    struct hl_energy_figure *figures;
    struct hl_text reasons[SOURCES]; // of each source
    void *kept;                      // of the one source that is a library
    double start, last;              // seconds
    struct hl_periodic periodic;
};

// ---- finding ------------------------------------------------------------------------------------

void **hl_energy_kept(struct hl_energy *energy)
{
    return &energy->kept;
}

void hl_energy_say(struct hl_energy *energy, const struct hl_energy_source *source, const char *format, ...)
{
    for (int i = 0; i < SOURCES; i++) {
        struct hl_text *reasons = &energy->reasons[i];
        if (sources[i] != source) continue;
        if (reasons->length > 0) hl_text_add(reasons, ", ");
        va_list args;
        va_start(args, format);
        hl_text_add_va(reasons, format, args);
        va_end(args);
    }
}

static void free_counter(struct hl_energy_counter *counter)
{
    free(counter->device);
    free(counter->path);
    free(counter->factor);
}

void hl_energy_add(struct hl_energy *energy, const struct hl_energy_source *source, struct hl_energy_counter counter)
{
    const char *lost = NULL;
    counter.source = source;
    if (!source->read(&counter, &counter.last, &lost)) {
        hl_energy_say(energy, source, "%s: %s", counter.path ? counter.path : counter.device, lost);
        free_counter(&counter);
        return;
    }
    size_t count = (size_t)energy->counter_count + 1;
    energy->counters = hl_alloc_grow(energy->counters, count, sizeof *energy->counters);
    energy->counters[energy->counter_count++] = counter;
}

struct hl_energy *hl_energy_open(void)
{
    struct hl_energy *energy = hl_alloc(1, sizeof *energy);
    for (int i = 0; i < SOURCES; i++) sources[i]->find(energy, sources[i]);
    energy->figures = hl_alloc((size_t)energy->counter_count, sizeof *energy->figures);
    return energy;
}

void hl_energy_close(struct hl_energy *energy)
{
    if (energy == NULL) return;
    for (int i = 0; i < energy->counter_count; i++) free_counter(&energy->counters[i]);
    for (int i = 0; i < SOURCES; i++) {
        if (sources[i]->close != NULL) sources[i]->close(energy);
        hl_text_free(&energy->reasons[i]);
    }
    free(energy->counters);
    free(energy->figures);
    free(energy);
}

// ---- counting -----------------------------------------------------------------------------------

static void step(struct hl_energy_counter *counter, double seconds)
{
    double value;
    if (counter->lost != NULL || !counter->source->read(counter, &value, &counter->lost)) return;
    double joules;
    if (counter->unit == HL_ENERGY_WATTS)
        joules = (counter->last + value) / 2 * seconds;
    else if (value >= counter->last)
        joules = value - counter->last;
    else
        joules = value + counter->range - counter->last;
    if (joules < 0)
        counter->lost = "it went backwards";
    else if (joules > most_watts * (seconds + interval)) // a counter's steps may be late by one look
        counter->lost =
            counter->range > 0 && value < counter->last ? "it was set back" : "it shows more than is possible";
    counter->joules += joules;
    counter->last = value;
}

void hl_energy_begin(struct hl_energy *energy, double now)
{
    energy->start = energy->last = now;
    energy->figure_count = 0;
    for (int i = 0; i < energy->counter_count; i++) {
        struct hl_energy_counter *counter = &energy->counters[i];
        counter->lost = NULL;
        counter->joules = 0;
        counter->source->read(counter, &counter->last, &counter->lost);
    }
}

void hl_energy_sample(struct hl_energy *energy, double now)
{
    for (int i = 0; i < energy->counter_count; i++) step(&energy->counters[i], now - energy->last);
    energy->last = now;
}

// The first counter of the same device, which may be this one.
static int first_of_device(const struct hl_energy *energy, int index)
{
    const struct hl_energy_counter *counter = &energy->counters[index];
    int first = 0;
    while (energy->counters[first].source != counter->source ||
           strcmp(energy->counters[first].device, counter->device) != 0)
        first++;
    return first;
}

// A device is as good as the worst of its counters: a sum that lacks one would be too small.
static void add_figure(struct hl_energy *energy, int first, double seconds)
{
    const struct hl_energy_counter *head = &energy->counters[first];
    double joules = 0;
    for (int i = first; i < energy->counter_count; i++) {
        if (first_of_device(energy, i) != first) continue;
        if (energy->counters[i].lost != NULL) return;
        joules += energy->counters[i].joules;
    }
    if (joules > 0 && seconds > 0)
        energy->figures[energy->figure_count++] =
            (struct hl_energy_figure){head->source->name, head->device, joules, joules / seconds};
}

void hl_energy_end(struct hl_energy *energy, double now)
{
    hl_energy_sample(energy, now);
    for (int i = 0; i < energy->counter_count; i++)
        if (first_of_device(energy, i) == i) add_figure(energy, i, now - energy->start);
}

static void look(void *user_data)
{
    hl_energy_sample(user_data, hl_seconds());
}

void hl_energy_start(struct hl_energy *energy)
{
    hl_energy_begin(energy, hl_seconds());
    if (energy->counter_count > 0) hl_periodic_start(&energy->periodic, interval, look, energy);
}

void hl_energy_stop(struct hl_energy *energy)
{
    if (energy->counter_count > 0) hl_periodic_stop(&energy->periodic);
    hl_energy_end(energy, hl_seconds());
}

// ---- saying -------------------------------------------------------------------------------------

const struct hl_energy_figure *hl_energy_figures(const struct hl_energy *energy, int *count)
{
    *count = energy->figure_count;
    return energy->figures;
}

static bool has_figure(const struct hl_energy *energy, const struct hl_energy_counter *counter)
{
    for (int i = 0; i < energy->figure_count; i++)
        if (energy->figures[i].source == counter->source->name &&
            strcmp(energy->figures[i].device, counter->device) == 0)
            return true;
    return false;
}

static void add_separator(struct hl_text *text, size_t start)
{
    if (text->length > start) hl_text_add(text, "; ");
}

void hl_energy_add_reasons(const struct hl_energy *energy, struct hl_text *text)
{
    size_t start = text->length;
    for (int s = 0; s < SOURCES; s++) {
        if (energy->reasons[s].length > 0) {
            add_separator(text, start);
            hl_text_add(text, "%s: %s", sources[s]->name, energy->reasons[s].data);
        }
        for (int i = 0; i < energy->counter_count; i++) {
            const struct hl_energy_counter *counter = &energy->counters[i];
            if (counter->source != sources[s] || has_figure(energy, counter)) continue;
            bool shares = counter->lost == NULL && counter->joules > 0;
            if (shares) continue; // the counter beside it is named
            add_separator(text, start);
            hl_text_add(text, "%s: %s: %s", sources[s]->name, counter->path ? counter->path : counter->device,
                        counter->lost ? counter->lost : "it did not change meanwhile: time more runs");
        }
    }
}
