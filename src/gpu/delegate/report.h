// SPDX-License-Identifier: Apache-2.0
// What the GPU adds to texts and reports for users, in the form of halite/gpu_delegate.h.
#ifndef HALITE_GPU_DELEGATE_REPORT_H
#define HALITE_GPU_DELEGATE_REPORT_H

#include "delegates/common/report.h"
#include "gpu/backend/devices.h"

// A device in the form of the public interface. Its texts belong to info.
HaliteDevice gpu_public_device(const struct gpu_device_info *info);

// The message "Following operations are not supported …", malloc'ed. NULL without memory, or if all nodes run on the
// GPU.
char *gpu_support_text(const struct delegate_row *rows, int count);

#endif
