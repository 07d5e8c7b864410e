// SPDX-License-Identifier: Apache-2.0
// See system.h.
#include "delegates/hexagon/system.h"

#include <stdio.h>

#include "base/library.h"

static const char system_name[] = "libhexagon_interface.so";

bool hexagon_open(struct hexagon *hexagon, const char *path, char *why, size_t size)
{
    if (hexagon->library) return true;
    struct hexagon found = {0};
    if (!path || !*path) path = hl_library_named("HALITE_HEXAGON_LIBRARY");
    if (!path) path = system_name;
    found.library = hl_library_open(path);
    if (!found.library) {
        snprintf(why, size, "no Hexagon here: %s", hl_library_error());
        return false;
    }
    const char *missing = NULL;
#define X(result, name, symbol, arguments) \
    if (!hl_library_find(found.library, #symbol, &found.name, sizeof found.name)) missing = #symbol;
    HEXAGON_FUNCTIONS(X)
#undef X
    if (missing) {
        snprintf(why, size, "%s lacks the function %s", path, missing);
        hl_library_close(found.library);
        return false;
    }
    *hexagon = found;
    return true;
}

bool hexagon_usable(const struct hexagon *hexagon, char *why, size_t size)
{
    int skeleton = -1, interface = hexagon->interface_version();
    if (hexagon->version(&skeleton) != 0) {
        snprintf(why, size,
                 "the processor does not tell its library's version: libhexagon_nn_skel.so is not where "
                 "ADSP_LIBRARY_PATH says, or may not be loaded");
        return false;
    }
    if (skeleton != interface || interface != HEXAGON_VERSION) {
        snprintf(why, size,
                 "libhexagon_interface.so has version %d, the processor's libhexagon_nn_skel.so %d; both must be %d",
                 interface, skeleton, (int)HEXAGON_VERSION);
        return false;
    }
    if (hexagon->is_device_supported()) return true;
    snprintf(why, size, "the interface library does not know this system's Hexagon processor");
    return false;
}
