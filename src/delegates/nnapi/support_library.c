// SPDX-License-Identifier: Apache-2.0
// See support_library.h.
#include "delegates/nnapi/support_library.h"

#include <string.h>

size_t nnapi_support_library_offset(const char *name)
{
    static const struct {
        const char *name;
        size_t at;
    } members[] = {
#define X(prefix, rest) {#prefix #rest, offsetof(struct nnapi_support_library, prefix##rest)},
        NNAPI_SUPPORT_LIBRARY(X)
#undef X
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].name, name) == 0) return members[i].at;
    return 0;
}
