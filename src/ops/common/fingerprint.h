// SPDX-License-Identifier: Apache-2.0
// The 64-bit fingerprint of bytes that FarmHash calls Fingerprint64: the same on every machine, for ever.
#ifndef HALITE_OPS_COMMON_FINGERPRINT_H
#define HALITE_OPS_COMMON_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

uint64_t hl_fingerprint(const void *bytes, size_t size);

#endif
