// SPDX-License-Identifier: Apache-2.0
// The knobs of the fake, and the calls that are about no graph.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

FAKE_DEFINE_KNOBS(fakeHexagon, "FAKE_HEXAGON")
static char last_complaint[512];

int fake_begin(void)
{
    fake_read_environment();
    return ++fake.calls == fake.fail_at ? (int)fake.fail_code : 0;
}

int fake_complain(const char *function, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_complaint, sizeof last_complaint, format, args);
    va_end(args);
    fprintf(stderr, "fake Hexagon: %s: %s\n", function, last_complaint);
    fake.complaints++;
    return code;
}

const char *fake_last_complaint(void)
{
    return last_complaint;
}

void hexagon_nn_global_init(void)
{
    fake_read_environment();
    fake.connected++;
}

void hexagon_nn_global_teardown(void)
{
    if (fake.connected <= 0) fake_complain(__func__, 0, "there was no global_init");
    if (fake.live > 0) fake_complain(__func__, 0, "%lld graphs are left", fake.live);
    fake.connected--;
}

bool hexagon_nn_is_device_supported(void)
{
    fake_read_environment();
    return fake.supported != 0;
}

int hexagon_nn_hexagon_interface_version(void)
{
    fake_read_environment();
    return (int)fake.version;
}

int hexagon_nn_version(int *version)
{
    FAKE_BEGIN();
    FAKE_WANT(version, "no version");
    *version = (int)fake.skeleton;
    return 0;
}

int hexagon_nn_config(void)
{
    FAKE_BEGIN();
    FAKE_WANT(fake.connected > 0, "global_init comes first");
    return 0;
}

int hexagon_nn_set_powersave_level(unsigned level)
{
    FAKE_BEGIN();
    FAKE_WANT(level <= 255, "level %u", level);
    fake.powersave_level = level;
    return 0;
}

int hexagon_nn_op_id_to_name(unsigned operation, char *name, int size)
{
    FAKE_BEGIN();
    const struct fake_operation *row = fake_find_operation(operation);
    FAKE_WANT(row && name && size > 0, "operation %u", operation);
    snprintf(name, (size_t)size, "%s", row->name);
    return 0;
}
