// SPDX-License-Identifier: Apache-2.0
// Interpreter options: made, copied, freed.
#include "runtime/options.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/weights.h"

struct TfLiteInterpreterOptions *hl_options_create(void)
{
    struct TfLiteInterpreterOptions *options = calloc(1, sizeof *options);
    if (options) options->num_threads = -1;
    return options;
}

struct TfLiteInterpreterOptions *hl_options_copy(const struct TfLiteInterpreterOptions *from)
{
    struct TfLiteInterpreterOptions *copy = malloc(sizeof *copy);
    if (!copy) return NULL;
    *copy = *from;
    copy->weights_cache = NULL;
    copy->delegates = NULL;
    copy->delegate_count = 0;
    if (!hl_resolver_copy(&copy->resolver, &from->resolver)) {
        free(copy);
        return NULL;
    }
    for (int i = 0; i < from->delegate_count; i++) {
        if (hl_options_add_delegate(copy, from->delegates[i])) continue;
        hl_options_destroy(copy);
        return NULL;
    }
    copy->weights_cache = hl_weights_cache_keep(from->weights_cache);
    return copy;
}

void hl_options_destroy(struct TfLiteInterpreterOptions *options)
{
    if (!options) return;
    hl_resolver_free(&options->resolver);
    hl_weights_cache_drop(options->weights_cache);
    free(options->delegates);
    free(options);
}

bool hl_options_add_delegate(struct TfLiteInterpreterOptions *options, TfLiteDelegate *delegate)
{
    TfLiteDelegate **list = realloc(options->delegates, (size_t)(options->delegate_count + 1) * sizeof *list);
    if (!list) return false;
    options->delegates = list;
    list[options->delegate_count++] = delegate;
    return true;
}
