// SPDX-License-Identifier: Apache-2.0
// Options of a delegate as the plug-in interface passes them: keys and values, both texts. In: a const table of the
// options that there are, and the caller's pairs. Out: members of the delegate's struct of options. A key that is
// unknown and a value that does not fit are refused with a message that lists what would fit. Integers are decimal, or
// hexadecimal after 0x, with blanks around them if the caller likes.
#ifndef HALITE_DELEGATES_COMMON_OPTIONS_H
#define HALITE_DELEGATES_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/report.h"

struct delegate_word {
    const char *name; // NULL ends a list
    int value;
};

struct delegate_option {
    const char *name;
    enum {
        DELEGATE_BOOL,  // bool: true, false, 1 or 0
        DELEGATE_INT,   // int
        DELEGATE_INT64, // int64_t
        DELEGATE_COUNT, // uint64_t
        DELEGATE_TEXT,  // char *, from malloc: delegate_options_free frees it
        DELEGATE_NAME,  // the same, and not empty
        DELEGATE_WORD,  // int: one of `words`, by name or number
        DELEGATE_NAMED  // int: one of `words`, by name alone
    } kind;
    size_t at; // in the struct of options
    const struct delegate_word *words;
    const char *expected; // what a message says of the values that would fit; NULL: what follows from the kind
};

// False after a message that begins with `who`. Options that were read before the fault keep their values.
bool delegate_options_read(const struct delegate_option *known, size_t known_count, const char *const *keys,
                           const char *const *values, size_t count, const char *who, const struct hl_reporter *reporter,
                           void *options);
// Frees the texts.
void delegate_options_free(const struct delegate_option *known, size_t known_count, void *options);
// Replaces a text by a copy. from may be NULL. False without memory.
bool delegate_option_text(const char *from, char **to);

#endif
