// SPDX-License-Identifier: Apache-2.0
// See wide_windows.h.
#include "base/wide_windows.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

wchar_t *hl_wide_join(const char *first, const char *second)
{
    size_t head = strlen(first), length = head + strlen(second);
    char *text = malloc(length + 1);
    // A character of UTF-8 is as many bytes as it has units of UTF-16, or more.
    wchar_t *wide = length < INT_MAX ? malloc((length + 1) * sizeof *wide) : NULL;
    bool ok = text && wide;
    errno = ENOMEM;
    if (ok) {
        memcpy(text, first, head);
        memcpy(text + head, second, length - head + 1);
        ok = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, (int)length + 1, wide, (int)length + 1) > 0;
        errno = ok ? 0 : EILSEQ;
    }
    free(text);
    if (ok) return wide;
    free(wide);
    return NULL;
}

char *hl_wide_narrow(const wchar_t *text)
{
    int size = WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, text, -1, NULL, 0, NULL, NULL);
    char *narrow = size > 0 ? malloc((size_t)size) : NULL;
    errno = size > 0 ? ENOMEM : EILSEQ;
    if (narrow) WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, text, -1, narrow, size, NULL, NULL);
    return narrow;
}

const char *hl_wide_error(unsigned long code)
{
    static _Thread_local char text[256];
    wchar_t wide[128];
    DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, code, 0, wide,
                                  sizeof wide / sizeof *wide, NULL);
    while (length > 0 && wcschr(L"\r\n. ", wide[length - 1])) length--;
    wide[length] = L'\0';
    if (length == 0 || !WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, sizeof text, NULL, NULL))
        snprintf(text, sizeof text, "system error %lu", code);
    return text;
}
