// SPDX-License-Identifier: Apache-2.0
// Rules by which a device is worth it or not. In: what its driver says of it. Out: what speaks against it, and the
// precision that suits it. compatibility.c shows users the answers.
#ifndef HALITE_GPU_DELEGATE_COMPATIBILITY_H
#define HALITE_GPU_DELEGATE_COMPATIBILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "halite/gpu_delegate.h"

// Fills in all but `device`. The reason is written to `text`, which the result lends.
HaliteCompatibilityDevice gpu_compatibility_judge(const HaliteDevice *device, bool allow_software, char *text,
                                                  size_t size);

#endif
