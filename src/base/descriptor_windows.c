// SPDX-License-Identifier: Apache-2.0
// See descriptor.h. What drivers export are handles here, which nobody imports yet.
#include "base/descriptor.h"

int hl_descriptor_copy(int descriptor)
{
    (void)descriptor;
    return -1;
}

void hl_descriptor_close(int descriptor)
{
    (void)descriptor;
}
