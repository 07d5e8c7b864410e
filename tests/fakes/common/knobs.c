// SPDX-License-Identifier: Apache-2.0
// See knobs.h.
#include "common/knobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long long *fake_knob_find(const struct fake_knob *knobs, const char *name, size_t length)
{
    for (; knobs->name; knobs++)
        if (strlen(knobs->name) == length && memcmp(knobs->name, name, length) == 0) return knobs->value;
    fprintf(stderr, "fake: there is no knob %.*s\n", (int)length, name);
    abort();
}

void fake_knobs_reset(const struct fake_knob *knobs)
{
    for (; knobs->name; knobs++) *knobs->value = knobs->first;
}

void fake_knobs_read(const struct fake_knob *knobs, const char *text)
{
    while (text && *text) {
        const char *equals = strchr(text, '=');
        if (!equals) break;
        *fake_knob_find(knobs, text, (size_t)(equals - text)) = strtoll(equals + 1, NULL, 10);
        text = strchr(equals, ',');
        text = text ? text + 1 : NULL;
    }
}
