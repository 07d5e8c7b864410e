// SPDX-License-Identifier: Apache-2.0
// See delegate_choice.h.
#include "delegate_choice.h"

#include <string.h>

#include "base/path.h"

// The length of the key at the beginning of "key=..."; 0 where there is none.
static size_t key_length(const char *text)
{
    size_t length =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."); // as keys are written
    return text[length] == '=' ? length : 0;
}

// The first such sign that a key follows; NULL: none.
static char *find_key(char *text, char sign)
{
    for (char *at = strchr(text, sign); at != NULL; at = strchr(at + 1, sign))
        if (key_length(at + 1) > 0) return at;
    return NULL;
}

// The colon behind the name: the first that ends the path of a file, else the first of all; NULL: none.
static char *find_options(char *text)
{
    struct hl_path_facts facts;
    char *first = find_key(text, ':');
    if (hl_path_look(text, &facts)) return NULL;
    for (char *colon = first; colon != NULL; colon = find_key(colon + 1, ':')) {
        *colon = '\0';
        bool found = hl_path_look(text, &facts);
        *colon = ':';
        if (found) return colon;
    }
    return first;
}

bool hl_delegate_choice_parse(struct hl_delegate_choice *choice, const char *given, struct hl_text *problem)
{
    char *text = hl_alloc_string(given), *next = find_options(text);
    *choice = (struct hl_delegate_choice){text, TfLiteExternalDelegateOptionsDefault(text)};
    while (next != NULL) {
        char *key = next + 1, *value = key + key_length(key) + 1;
        *next = value[-1] = '\0';
        next = find_key(value, ',');
        if (choice->options.count >= kExternalDelegateMaxOptions) {
            hl_text_add(problem, "--delegate takes %d options at most", kExternalDelegateMaxOptions);
            return false;
        }
        TfLiteExternalDelegateOptionsInsert(&choice->options, key, value);
    }
    return true;
}

void hl_delegate_choice_free(struct hl_delegate_choice *choice)
{
    free(choice->text);
}
