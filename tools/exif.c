// SPDX-License-Identifier: Apache-2.0
// An Exif segment is the word "Exif", two zeros and a TIFF file: byte order, the offset of a directory, and there
// entries of 12 bytes, one of which is the orientation. Nothing else of it is read.
#include "exif.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TIFF_ORIENTATION = 0x0112, TIFF_SHORT = 3, ENTRY_BYTES = 12 };

struct tiff {
    const unsigned char *bytes;
    size_t size;
    bool big_endian;
};

// The number of 2 or 4 bytes at this offset; 0 where the file ends before it does.
static uint32_t number_at(const struct tiff *tiff, size_t offset, size_t bytes)
{
    uint32_t value = 0;
    if (offset > tiff->size || tiff->size - offset < bytes) return 0;
    for (size_t i = 0; i < bytes; i++) {
        size_t shift = 8 * (tiff->big_endian ? bytes - 1 - i : i);
        value |= (uint32_t)tiff->bytes[offset + i] << shift;
    }
    return value;
}

int hl_exif_orientation(const unsigned char *segment, size_t size)
{
    static const char head[] = "Exif\0"; // and the zero that ends it
    if (size < sizeof head + 8 || memcmp(segment, head, sizeof head) != 0) return 1;
    struct tiff tiff = {.bytes = segment + sizeof head, .size = size - sizeof head};
    tiff.big_endian = tiff.bytes[0] == 'M';
    if (memcmp(tiff.bytes, tiff.big_endian ? "MM" : "II", 2) != 0 || number_at(&tiff, 2, 2) != 42) return 1;
    size_t directory = number_at(&tiff, 4, 4);
    uint32_t count = number_at(&tiff, directory, 2);
    for (uint32_t i = 0; i < count; i++) {
        size_t entry = directory + 2 + (size_t)i * ENTRY_BYTES;
        if (number_at(&tiff, entry, 2) != TIFF_ORIENTATION) continue;
        uint32_t value = number_at(&tiff, entry + 8, 2);
        bool valid = number_at(&tiff, entry + 2, 2) == TIFF_SHORT && value >= 1 && value <= 8;
        return valid ? (int)value : 1;
    }
    return 1;
}
