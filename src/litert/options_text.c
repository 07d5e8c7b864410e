// SPDX-License-Identifier: Apache-2.0
// See options_text.h. What LiteRT writes is the part of TOML that has no tables.
#include "litert/options_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r");
}

static bool fail(struct litert_options_text *text, const char *problem)
{
    text->problem = problem;
    return false;
}

static bool read_key(struct litert_options_text *text, struct litert_option *option)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = strspn(text->at, letters);
    if (length == 0) return fail(text, "a key is missing");
    if (length >= sizeof option->key) return fail(text, "the key is too long");
    memcpy(option->key, text->at, length);
    option->key[length] = 0;
    text->at = skip_blanks(text->at + length);
    if (*text->at != '=') return fail(text, "there is no = after the key");
    text->at = skip_blanks(text->at + 1);
    return true;
}

static bool read_text(struct litert_options_text *text, struct litert_option *option)
{
    static const char escapes[] = "\"\\nrt", meanings[] = "\"\\\n\r\t";
    size_t length = 0;
    const char *at = text->at + 1;
    for (; *at != '"'; at++) {
        char letter = *at;
        if (letter == 0 || letter == '\n') return fail(text, "a text does not end");
        if (letter == '\\') {
            const char *escape = *++at ? strchr(escapes, *at) : NULL;
            if (!escape) return fail(text, "a text has an escape that is not one of \\\" \\\\ \\n \\r \\t");
            letter = meanings[escape - escapes];
        }
        if (length + 1 >= sizeof option->text) return fail(text, "a text is too long");
        option->text[length++] = letter;
    }
    option->text[length] = 0;
    option->type = LITERT_OPTION_TEXT;
    text->at = at + 1;
    return true;
}

// A bare value up to the end of the line: a word, a number or a list.
static bool read_bare(struct litert_options_text *text, struct litert_option *option)
{
    size_t length = strcspn(text->at, "\n");
    const char *end = text->at + length;
    while (end > text->at && strchr(" \t\r", end[-1])) end--;
    length = (size_t)(end - text->at);
    if (length == 0) return fail(text, "the value is missing");
    option->type = LITERT_OPTION_BOOLEAN;
    option->integer = length == 4 && strncmp(text->at, "true", 4) == 0;
    if (!option->integer && !(length == 5 && strncmp(text->at, "false", 5) == 0)) {
        char *stop;
        errno = 0;
        option->integer = strtoll(text->at, &stop, 10);
        option->type = stop == end ? LITERT_OPTION_INTEGER : LITERT_OPTION_OTHER;
        if (stop == end && errno) return fail(text, "the number is too large");
    }
    text->at = end;
    return true;
}

bool litert_options_text_next(struct litert_options_text *text, struct litert_option *option)
{
    if (!text->at || text->problem) return false;
    for (;;) {
        text->line++;
        text->at = skip_blanks(text->at);
        if (*text->at == '#') text->at += strcspn(text->at, "\n");
        if (*text->at == 0) return false;
        if (*text->at != '\n') break;
        text->at++;
    }
    option->integer = 0;
    option->text[0] = 0;
    if (!read_key(text, option)) return false;
    if (*text->at == '"' ? !read_text(text, option) : !read_bare(text, option)) return false;
    text->at = skip_blanks(text->at);
    if (*text->at && *text->at != '\n') return fail(text, "more follows after the value");
    if (*text->at) text->at++;
    return true;
}
