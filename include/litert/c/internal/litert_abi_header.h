// SPDX-License-Identifier: Apache-2.0
// What every table of functions that LiteRT and its accelerators hand each other begins with.
#ifndef LITERT_C_INTERNAL_LITERT_ABI_HEADER_H_
#define LITERT_C_INTERNAL_LITERT_ABI_HEADER_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Within a major version functions are appended and nothing else changes: who reads a member that came later asks
// struct_size first.
typedef struct LiteRtAbiHeader {
    uint16_t struct_size; // bytes, this header among them
    uint16_t major_version, minor_version;
    uint16_t reserved; // 0
} LiteRtAbiHeader;

#ifdef __cplusplus
}
#endif

#endif
