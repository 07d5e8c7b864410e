// SPDX-License-Identifier: Apache-2.0
// What drivers say of themselves in words. In: lists of extensions, names of makers. Out: what is among them.
#ifndef HALITE_GPU_BACKEND_WORDS_H
#define HALITE_GPU_BACKEND_WORDS_H

#include "gpu/backend/backend.h"

// Whether a list, whose words are apart by spaces, has a word. NULL: a list of none.
bool gpu_has_word(const char *words, const char *word);

// The maker that a text names; GPU_VENDOR_OTHER where it names none, or is NULL.
enum gpu_vendor gpu_vendor_in(const char *text);

#endif
