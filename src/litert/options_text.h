// SPDX-License-Identifier: Apache-2.0
// Options as LiteRT hands them on: a text of lines `key = value`. In: the text, of a program that we do not know. Out:
// one key and its value at a time, or what is wrong with the line.
#ifndef HALITE_LITERT_OPTIONS_TEXT_H
#define HALITE_LITERT_OPTIONS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LITERT_MAX_KEY = 64, LITERT_MAX_TEXT = 4096 };

enum litert_option_type {
    LITERT_OPTION_INTEGER, // decimal: integer
    LITERT_OPTION_BOOLEAN, // true or false: integer is 1 or 0
    LITERT_OPTION_TEXT,    // "in quotation marks", with \" \\ \n \r \t in it: text
    LITERT_OPTION_OTHER,   // a list or a number with a point, which nobody here reads
};

struct litert_option {
    char key[LITERT_MAX_KEY];
    enum litert_option_type type;
    int64_t integer;
    char text[LITERT_MAX_TEXT];
};

// A text that is being read. `struct litert_options_text text = {.at = payload};` starts at its first line.
struct litert_options_text {
    const char *at;      // the rest of the text; NULL is an empty one
    int line;            // number of the line that was read last, from 1 on
    const char *problem; // what is wrong with it; NULL: nothing
};

// Reads the next line that is not blank and no comment (# ...). False at the end, and where the line is wrong.
bool litert_options_text_next(struct litert_options_text *text, struct litert_option *option);

#endif
