// SPDX-License-Identifier: Apache-2.0
// Which device runs a model, asked before there is a delegate: a delegate whose device is missing fails with its model,
// while LiteRT can go on with the CPU where an accelerator says in time that it has nothing to offer.
#ifndef HALITE_LITERT_ACCELERATOR_DEVICE_H
#define HALITE_LITERT_ACCELERATOR_DEVICE_H

#include "litert/accelerator/options.h"

enum { LITERT_DEVICE_BYTES = 32 };

// Finds the device: the one that halite_options names, else that of the environment variable HALITE_DEVICE, else the
// first that fits backend and preferred_device_substr of gpu_options, else the fastest real GPU. name: what
// HaliteGpuDelegateOptions.device takes. False after a message that says what was looked for and why it is not there.
bool litert_device_choose(const struct litert_gpu_options *options, char name[LITERT_DEVICE_BYTES]);

#endif
