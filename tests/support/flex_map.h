// SPDX-License-Identifier: Apache-2.0
// Options of custom operators for tests: text to a FlexBuffers map.
#ifndef HALITE_TESTS_SUPPORT_FLEX_MAP_H
#define HALITE_TESTS_SUPPORT_FLEX_MAP_H

#include <stddef.h>

enum { FLEX_MAP_BYTES = 1024, FLEX_MAP_NUMBERS = 16 };

// "name=1 name=0.5 name=1,2,3": an integer, a float, since it has a point, and a list of integers. Returns how many of
// the FLEX_MAP_BYTES are in use; aborts where the text is wrong.
size_t flex_map_write(const char *text, unsigned char *bytes);

#endif
