// SPDX-License-Identifier: Apache-2.0
// What --delegate of the halite command names: a delegate, and options for it. In: "nnapi", "./libvendor.so", or one of
// them with options behind a colon, "./libvendor.so:device=npu,threads=2". Out: name, keys and values.
#ifndef HALITE_TOOLS_DELEGATE_CHOICE_H
#define HALITE_TOOLS_DELEGATE_CHOICE_H

#include "tensorflow/lite/delegates/external/external_delegate.h"
#include "text.h"

struct hl_delegate_choice {
    char *text;                            // what the others point into
    TfLiteExternalDelegateOptions options; // lib_path: the name
};

// The name ends at the first colon that a key and '=' follow, a value at the first comma that they follow; so paths and
// values may have colons and commas. A colon that ends the path of a file that exists is preferred. False, with why in
// `problem`, where there are too many options. hl_delegate_choice_free is right in both cases.
bool hl_delegate_choice_parse(struct hl_delegate_choice *choice, const char *given, struct hl_text *problem);
void hl_delegate_choice_free(struct hl_delegate_choice *choice);

#endif
