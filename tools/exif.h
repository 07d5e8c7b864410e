// SPDX-License-Identifier: Apache-2.0
// How a camera was held: the orientation in the Exif part of a JPEG file. In: the bytes of its APP1 segment. Out: a
// number from 1 to 8, as Exif counts; 1 is upright, and what is damaged or absent counts as that.
#ifndef HALITE_TOOLS_EXIF_H
#define HALITE_TOOLS_EXIF_H

#include <stddef.h>

int hl_exif_orientation(const unsigned char *segment, size_t size);

#endif
