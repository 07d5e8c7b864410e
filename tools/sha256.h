// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), so that everybody can tell with sha256sum which model a capsule is about.
#ifndef HALITE_TOOLS_SHA256_H
#define HALITE_TOOLS_SHA256_H

#include <stddef.h>

enum { HL_SHA256_TEXT = 65 };

// As 64 hexadecimal digits and a zero.
void hl_sha256(const void *bytes, size_t size, char text[HL_SHA256_TEXT]);

#endif
