// SPDX-License-Identifier: Apache-2.0
// What an evaluation has seen so far, a line for each picture, so that one that was interrupted (or lost its power)
// goes on where it was. In: lines of text. Out: the same lines, when the same evaluation begins again. The file lies
// beside the result file and goes when that is complete.
#ifndef HALITE_TOOLS_EVAL_JOURNAL_H
#define HALITE_TOOLS_EVAL_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "text.h"

struct hl_journal {
    char *path; // NULL: no journal is kept
    FILE *file;
};

// Opens the journal that belongs to the result file `path`. With resume each complete line of an older one of the same
// evaluation (the same fingerprint) is handed to `replay`; without, an older one is dropped. False on failure, with the
// reason in `error`, which names the file.
bool hl_journal_open(struct hl_journal *journal, const char *path, uint64_t fingerprint, bool resume,
                     bool (*replay)(void *user_data, const char *line), void *user_data, struct hl_text *error);
// Adds a line. A journal that cannot be written is given up, with false and the reason in errno.
bool hl_journal_add(struct hl_journal *journal, const char *line);
// complete: the journal has done its duty and is removed.
void hl_journal_close(struct hl_journal *journal, bool complete);

// FNV-1a, over strings with their ends. Begin with HL_FINGERPRINT.
#define HL_FINGERPRINT UINT64_C(14695981039346656037)
static inline uint64_t hl_fingerprint_add(uint64_t hash, const char *string)
{
    for (;; string++) {
        hash = (hash ^ (unsigned char)*string) * UINT64_C(1099511628211);
        if (*string == '\0') return hash;
    }
}

#endif
