// SPDX-License-Identifier: Apache-2.0
// See text_file.h.
#include "support/text_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROOM = 1 << 20 };

char *text_file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot read %s", path);
    char *text = malloc(ROOM);
    assert_non_null(text);
    text[fread(text, 1, ROOM - 1, file)] = '\0';
    fclose(file);
    return text;
}
