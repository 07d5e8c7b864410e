// SPDX-License-Identifier: Apache-2.0
// Paths for Windows, which takes them as UTF-16: ours are UTF-8, whatever the process's code page is.
#ifndef HALITE_BASE_WIDE_WINDOWS_H
#define HALITE_BASE_WIDE_WINDOWS_H

#include <wchar.h>

// A copy in the other encoding, malloc'ed; first and second are joined, either may be "". NULL, with errno set, without
// memory and where the text is not valid in its encoding.
wchar_t *hl_wide_join(const char *first, const char *second);
char *hl_wide_narrow(const wchar_t *text);
// The sentence that Windows has for an error (GetLastError) in UTF-8, without a line's end, until the next call of this
// thread.
const char *hl_wide_error(unsigned long code);

#endif
