// SPDX-License-Identifier: Apache-2.0
// What a program asked the GPU for. In: the payloads of LiteRT's options "gpu_options" and of our own "halite_options".
// Out: options of the delegate, apart from the device, which device.h chooses.
#ifndef HALITE_LITERT_ACCELERATOR_OPTIONS_H
#define HALITE_LITERT_ACCELERATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "halite/gpu_delegate.h"
#include "litert/options_text.h"

struct litert_gpu_options {
    HaliteGpuPrecision precision;
    const char *api;                    // that every device must have, "opencl"; NULL: any
    char device[32];                    // a device by name, as HaliteGpuDelegateOptions.device; "": none
    char description[256];              // a part of what the device's driver calls it; "": any
    char cache_folder[LITERT_MAX_TEXT]; // for compiled kernels; "": nothing is kept
    char cache_key[LITERT_MAX_TEXT];    // names the model there
    bool cache_kernels;                 // unless a program says that they shall not be kept
    bool quantized;                     // take 8-bit quantized nodes
    bool take_small_partitions;
    int32_t max_partitions;
};

// Reads both payloads, each of which may be NULL. False after a message where a line cannot be read or has a value that
// its key cannot have. A key that is not known is a message and no more: a later LiteRT has more of them.
bool litert_gpu_options_read(const char *gpu_options, const char *halite_options, struct litert_gpu_options *options);

#endif
