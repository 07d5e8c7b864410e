// SPDX-License-Identifier: Apache-2.0
// Knobs of a fake: numbers with names, which tests set and read, and programs set by an environment variable
// ("level=29,refuse=3"). A fake declares them once, as a list X(name, at first, what it is).
#ifndef HALITE_TESTS_FAKES_COMMON_KNOBS_H
#define HALITE_TESTS_FAKES_COMMON_KNOBS_H

#include <stddef.h>

struct fake_knob {
    const char *name;
    long long first;
    long long *value;
};

#define FAKE_KNOB_FIELD(name, first, text) long long name;
#define FAKE_KNOB_FIRST(name, first, text) .name = (first),
// Of a struct `fake` with the fields above.
#define FAKE_KNOB_ROW(name, first, text) {#name, first, &fake.name},

// Lists of rows end with one without a name. A name that is none ends the program: a test would test nothing.
long long *fake_knob_find(const struct fake_knob *knobs, const char *name, size_t length);
void fake_knobs_reset(const struct fake_knob *knobs);
// text: of the environment; may be NULL.
void fake_knobs_read(const struct fake_knob *knobs, const char *text);

#endif
