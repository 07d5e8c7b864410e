// SPDX-License-Identifier: Apache-2.0
// The knobs of the fake, its complaints, and its lock.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

struct fake_knobs fake = {FAKE_KNOBS(FAKE_KNOB_FIRST)};
static const struct fake_knob knobs[] = {FAKE_KNOBS(FAKE_KNOB_ROW){NULL, 0, NULL}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char last_complaint[512];

void fake_lock(void)
{
    pthread_mutex_lock(&lock);
}

void fake_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void fake_read_environment(void)
{
    fake_lock();
    fake_knobs_read(knobs, getenv("FAKE_METAL"));
    fake_unlock();
}

bool fake_begin(void)
{
    fake_lock();
    bool fails = ++fake.calls == fake.fail_at;
    fake_unlock();
    return !fails;
}

void fake_count(long long *knob)
{
    fake_lock();
    ++*knob;
    fake_unlock();
}

bool objc_has_new_methods(void)
{
    return !fake.is_old;
}

void objc_complain(const char *format, ...)
{
    va_list args;
    fake_lock();
    va_start(args, format);
    vsnprintf(last_complaint, sizeof last_complaint, format, args);
    va_end(args);
    fprintf(stderr, "fake Metal: %s\n", last_complaint);
    fake.complaints++;
    fake_unlock();
}

// ---- for tests ------------------------------------------------------------------------------------------------------

// Everything as at first; what is committed runs before.
FAKE_EXPORT void fakeMetal_reset(void);
void fakeMetal_reset(void)
{
    fake_run_until(NULL);
    long long kept = fake.kept;
    fake_knobs_reset(knobs);
    fake.kept = kept;
    fake_read_environment();
    objc_sweep();
    last_complaint[0] = 0;
}

FAKE_EXPORT void fakeMetal_set(const char *knob, long long value);
void fakeMetal_set(const char *knob, long long value)
{
    fake_lock();
    *fake_knob_find(knobs, knob, strlen(knob)) = value;
    fake_unlock();
}

FAKE_EXPORT long long fakeMetal_get(const char *knob);
long long fakeMetal_get(const char *knob)
{
    fake_lock();
    long long value = *fake_knob_find(knobs, knob, strlen(knob));
    fake_unlock();
    return value;
}

// Objects that live, when all that was committed has run. Devices are for good and do not count.
FAKE_EXPORT long long fakeMetal_live(void);
long long fakeMetal_live(void)
{
    fake_run_until(NULL);
    return objc_live() - fake.kept;
}

FAKE_EXPORT const char *fakeMetal_complaint(void);
const char *fakeMetal_complaint(void)
{
    return last_complaint;
}
