// SPDX-License-Identifier: Apache-2.0
// Knobs of a fake: numbers with names, which tests set and read, and programs set by an environment variable
// ("level=29,refuse=3"). A fake declares them once, as a list FAKE_KNOBS(X) of X(name, at first, what it is), and then
// FAKE_DECLARE_KNOBS in its header and FAKE_DEFINE_KNOBS in one file. Its values are `fake.name`, and tests find
// PREFIX_reset, PREFIX_set and PREFIX_get in the library.
#ifndef HALITE_TESTS_FAKES_COMMON_KNOBS_H
#define HALITE_TESTS_FAKES_COMMON_KNOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct fake_knob {
    const char *name;
    long long first;
    long long *value;
};

#define FAKE_EXPORT __attribute__((visibility("default")))
#define FAKE_KNOB_FIELD(name, first, text) long long name;
#define FAKE_KNOB_FIRST(name, first, text) .name = (first),
#define FAKE_KNOB_ROW(name, first, text) {#name, first, &fake.name},

#define FAKE_DECLARE_KNOBS(prefix)                                    \
    struct fake_knobs {                                               \
        FAKE_KNOBS(FAKE_KNOB_FIELD)                                   \
    };                                                                \
    extern struct fake_knobs fake;                                    \
    FAKE_EXPORT void prefix##_reset(void);                            \
    FAKE_EXPORT void prefix##_set(const char *knob, long long value); \
    FAKE_EXPORT long long prefix##_get(const char *knob)

// variable: of the environment, read by the first call of fake_read_environment, unless a test has reset the knobs.
#define FAKE_DEFINE_KNOBS(prefix, variable)                                                 \
    struct fake_knobs fake = {FAKE_KNOBS(FAKE_KNOB_FIRST)};                                 \
    static const struct fake_knob fake_rows[] = {FAKE_KNOBS(FAKE_KNOB_ROW){NULL, 0, NULL}}; \
    static bool fake_environment_was_read;                                                  \
    static void fake_read_environment(void)                                                 \
    {                                                                                       \
        if (!fake_environment_was_read) fake_knobs_read(fake_rows, getenv(variable));       \
        fake_environment_was_read = true;                                                   \
    }                                                                                       \
    void prefix##_reset(void)                                                               \
    {                                                                                       \
        fake_knobs_reset(fake_rows);                                                        \
        fake_environment_was_read = true;                                                   \
    }                                                                                       \
    void prefix##_set(const char *knob, long long value)                                    \
    {                                                                                       \
        *fake_knob_find(fake_rows, knob, strlen(knob)) = value;                             \
    }                                                                                       \
    long long prefix##_get(const char *knob)                                                \
    {                                                                                       \
        return *fake_knob_find(fake_rows, knob, strlen(knob));                              \
    }

// Lists of rows end with one without a name. A name that is none ends the program: a test would test nothing.
long long *fake_knob_find(const struct fake_knob *knobs, const char *name, size_t length);
void fake_knobs_reset(const struct fake_knob *knobs);
// text: of the environment; may be NULL.
void fake_knobs_read(const struct fake_knob *knobs, const char *text);

#endif
