// SPDX-License-Identifier: Apache-2.0
// SKIP_GRAM: in 0: a text, string (the first one of the tensor), out 0: string [n], its n-grams: ngram_size words of
// the text in their order, joined by a blank, with at most max_skip_size words left out between two neighbors.
// include_all_ngrams: shorter ones too, unless the text has fewer words than ngram_size: then there are none. Words are
// what blanks, tabs and line ends separate.
#include <stdlib.h>
#include <string.h>

#include "ops/common/strings.h"

static TfLiteStatus prepare(TfLiteContext *ctx, TfLiteNode *node)
{
    HL_TRY(hl_require_counts(ctx, node, 1, 1, 1));
    const TfLiteTensor *x = hl_input(ctx, node, 0);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (x->type != kTfLiteString) return hl_unsupported_type(ctx, node, x);
    if (y->type != kTfLiteString) return hl_unsupported_type(ctx, node, y);
    hl_make_dynamic(y);
    return kTfLiteOk;
}

struct word {
    const char *text;
    size_t length;
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Fills `words`, which has room for every second character; returns how many there are.
static int64_t find_words(const char *text, size_t length, struct word *words)
{
    int64_t count = 0;
    for (size_t at = 0; at < length;) {
        size_t begin = at;
        while (at < length && !is_blank(text[at])) at++;
        if (at > begin)
            words[count++] = (struct word){text + begin, at - begin};
        else
            at++;
    }
    return count;
}

struct grams {
    const struct word *words;
    int64_t count;
    int64_t *chosen; // words of the n-gram in the making
    char *joined;    // room for it
    struct hl_string_list list;
};

static void append(struct grams *grams, int64_t size)
{
    size_t length = 0;
    for (int64_t i = 0; i < size; i++) {
        const struct word *word = &grams->words[grams->chosen[i]];
        if (i > 0) grams->joined[length++] = ' ';
        memcpy(grams->joined + length, word->text, word->length);
        length += word->length;
    }
    hl_strings_append(&grams->list, grams->joined, length);
}

// All n-grams in order: each behind those that it begins. The words that are chosen count up like the digits of a
// number.
static void enumerate(struct grams *grams, const TfLiteSkipGramParams *params)
{
    int64_t most = params->ngram_size, *chosen = grams->chosen, depth = 0; // chosen[depth] is the next to be tried
    if (most < 1 || grams->count < most) return;
    chosen[0] = 0;
    while (depth >= 0 && !grams->list.failed) {
        // Words behind this one must still fill the n-gram, unless shorter ones count.
        int64_t last = params->include_all_ngrams ? grams->count - 1 : grams->count - (most - depth);
        if (depth > 0 && last > chosen[depth - 1] + 1 + params->max_skip_size)
            last = chosen[depth - 1] + 1 + params->max_skip_size;
        if (depth < most && chosen[depth] <= last) {
            depth++;
            if (depth < most) chosen[depth] = chosen[depth - 1] + 1;
            continue;
        }
        if (depth == most || (depth > 0 && params->include_all_ngrams)) append(grams, depth);
        depth--;
        if (depth >= 0) chosen[depth]++;
    }
}

static TfLiteStatus invoke(TfLiteContext *ctx, TfLiteNode *node)
{
    struct hl_strings strings;
    HL_TRY(hl_strings_open(ctx, node, hl_input(ctx, node, 0), &strings));
    size_t length = 0;
    const char *text = strings.count > 0 ? hl_string_at(&strings, 0, &length) : "";
    size_t most_words = length / 2 + 1;
    struct word *words = hl_make_table(ctx, most_words, sizeof *words);
    struct grams grams = {.words = words, .list = {.limit = hl_memory_left(ctx)}};
    grams.chosen = hl_make_table(ctx, most_words, sizeof *grams.chosen);
    grams.joined = hl_make_table(ctx, length + 1, 1);
    TfLiteStatus status = kTfLiteOk;
    if (words && grams.chosen && grams.joined) {
        grams.count = find_words(text, length, words);
        enumerate(&grams, node->builtin_data);
    } else {
        status = hl_op_error(ctx, node, "no memory for a text of %zu bytes", length);
    }
    free(words);
    free(grams.chosen);
    free(grams.joined);
    TfLiteTensor *y = hl_output(ctx, node, 0);
    if (status == kTfLiteOk) status = hl_strings_resize(ctx, node, y, 1, (const int[]){(int)grams.list.count});
    if (status == kTfLiteOk) return hl_strings_write(ctx, node, &grams.list, y);
    hl_strings_free(&grams.list);
    return status;
}

const struct hl_op hl_op_skip_gram = {
    .prepare = prepare,
    .invoke = invoke,
};
