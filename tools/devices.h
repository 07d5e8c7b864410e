// SPDX-License-Identifier: Apache-2.0
// A GPU as JSON, as halite devices --json has it.
#ifndef HALITE_TOOLS_DEVICES_H
#define HALITE_TOOLS_DEVICES_H

#include <cjson/cJSON.h>

#include "halite/gpu_delegate.h"

cJSON *hl_device_json(const HaliteDevice *device);

#endif
