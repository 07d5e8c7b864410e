// SPDX-License-Identifier: Apache-2.0
// What library.h has beside the calls of each system.
#include "base/library.h"

struct hl_library *hl_library_open_first(const char *const *names)
{
    struct hl_library *library = NULL;
    for (; *names && !library; names++) library = hl_library_open(*names);
    return library;
}
