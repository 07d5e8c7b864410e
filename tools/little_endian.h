// SPDX-License-Identifier: Apache-2.0
// Numbers as WAV, BMP and ZIP files hold them: of 1 to 4 bytes, the lowest first.
#ifndef HALITE_TOOLS_LITTLE_ENDIAN_H
#define HALITE_TOOLS_LITTLE_ENDIAN_H

#include <stdint.h>

static inline uint32_t hl_little_endian(const unsigned char *at, int bytes)
{
    uint32_t value = 0;
    for (int i = bytes; i-- > 0;) value = value << 8 | at[i];
    return value;
}

#endif
