// SPDX-License-Identifier: Apache-2.0
// See options.h.
#include "delegates/common/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

bool delegate_option_text(const char *from, char **to)
{
    size_t size = from ? strlen(from) + 1 : 0;
    char *copy = from ? malloc(size) : NULL;
    if (from && !copy) return false;
    if (from) memcpy(copy, from, size);
    free(*to);
    *to = copy;
    return true;
}

static bool parse_number(const char *text, long long low, long long high, long long *value)
{
    char *end;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    errno = 0;
    *value = strtoll(text, &end, hexadecimal ? 16 : 10);
    end += end == text ? 0 : strspn(end, " \t\n\r\f\v");
    return end != text && !*end && !errno && *value >= low && *value <= high;
}

static bool parse_bool(const char *text, bool *value)
{
    *value = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    return *value || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static bool parse_word(const char *text, const struct delegate_word *words, bool by_number, int *value)
{
    long long number;
    bool is_number = by_number && parse_number(text, INT32_MIN, INT32_MAX, &number);
    for (; words->name; words++)
        if (strcmp(words->name, text) == 0 || (is_number && words->value == number)) {
            *value = words->value;
            return true;
        }
    return false;
}

static bool parse(const struct delegate_option *option, const char *text, void *options)
{
    void *to = (char *)options + option->at;
    long long number;
    switch (option->kind) {
    case DELEGATE_BOOL: return parse_bool(text, to);
    case DELEGATE_INT:
        if (!parse_number(text, INT32_MIN, INT32_MAX, &number)) return false;
        *(int *)to = (int)number;
        return true;
    case DELEGATE_COUNT:
        if (!parse_number(text, 0, INT64_MAX, &number)) return false;
        *(uint64_t *)to = (uint64_t)number;
        return true;
    case DELEGATE_INT64:
        if (!parse_number(text, INT64_MIN, INT64_MAX, &number)) return false;
        *(int64_t *)to = number;
        return true;
    case DELEGATE_WORD: return parse_word(text, option->words, true, to);
    case DELEGATE_NAMED: return parse_word(text, option->words, false, to);
    case DELEGATE_NAME: return *text && delegate_option_text(text, to);
    default: return delegate_option_text(text, to);
    }
}

static void list_expected(const struct delegate_option *option, struct hl_text *text)
{
    if (option->expected) {
        hl_text_append(text, "%s", option->expected);
        return;
    }
    switch (option->kind) {
    case DELEGATE_BOOL: hl_text_append(text, "true or false"); break;
    case DELEGATE_INT:
    case DELEGATE_INT64: hl_text_append(text, "an integer"); break;
    case DELEGATE_COUNT: hl_text_append(text, "an integer of at least 0"); break;
    case DELEGATE_WORD:
    case DELEGATE_NAMED:
        for (const struct delegate_word *word = option->words; word->name; word++)
            hl_text_append(text, "%s%s", word == option->words ? "" : ", ", word->name);
        break;
    case DELEGATE_NAME: hl_text_append(text, "a text that is not empty"); break;
    default: hl_text_append(text, "a text, for which there is no memory");
    }
}

static bool read_one(const struct delegate_option *known, size_t known_count, const char *key, const char *value,
                     const char *who, const struct hl_reporter *reporter, void *options)
{
    struct hl_text text = {0};
    for (size_t i = 0; i < known_count; i++) {
        if (strcmp(known[i].name, key) != 0) continue;
        if (parse(&known[i], value, options)) return true;
        list_expected(&known[i], &text);
        hl_report(reporter, "%s: option %s is \"%s\", expected %s", who, key, value, text.data ? text.data : "another");
        hl_text_free(&text);
        return false;
    }
    for (size_t i = 0; i < known_count; i++) hl_text_append(&text, "%s%s", i ? ", " : "", known[i].name);
    hl_report(reporter, "%s: unknown option %s; known are %s", who, key, text.data ? text.data : "others");
    hl_text_free(&text);
    return false;
}

bool delegate_options_read(const struct delegate_option *known, size_t known_count, const char *const *keys,
                           const char *const *values, size_t count, const char *who, const struct hl_reporter *reporter,
                           void *options)
{
    for (size_t i = 0; i < count; i++) {
        if (!keys || !values || !keys[i] || !values[i]) {
            hl_report(reporter, "%s: option %zu has no %s", who, i, keys && keys[i] ? "value" : "key");
            return false;
        }
        if (!read_one(known, known_count, keys[i], values[i], who, reporter, options)) return false;
    }
    return true;
}

void delegate_options_free(const struct delegate_option *known, size_t known_count, void *options)
{
    for (size_t i = 0; i < known_count; i++) {
        if (known[i].kind != DELEGATE_TEXT && known[i].kind != DELEGATE_NAME) continue;
        char **text = (char **)(void *)((char *)options + known[i].at);
        free(*text);
        *text = NULL;
    }
}
