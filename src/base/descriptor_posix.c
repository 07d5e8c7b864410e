// SPDX-License-Identifier: Apache-2.0
// See descriptor.h.
#include <fcntl.h>
#include <unistd.h>

#include "base/descriptor.h"

int hl_descriptor_copy(int descriptor)
{
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

void hl_descriptor_close(int descriptor)
{
    if (descriptor >= 0) close(descriptor);
}
