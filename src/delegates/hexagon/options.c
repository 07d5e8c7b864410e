// SPDX-License-Identifier: Apache-2.0
// See options.h.
#include "delegates/hexagon/options.h"

#include "delegates/common/options.h"

#define OPTION(name, kind)                                                           \
    {                                                                                \
#name, DELEGATE_##kind, offsetof(struct hexagon_options, c.name), NULL, NULL \
    }
static const struct delegate_option known[] = {
    OPTION(debug_level, INT),
    OPTION(powersave_level, INT),
    OPTION(print_graph_profile, BOOL),
    OPTION(print_graph_debug, BOOL),
    OPTION(max_delegated_partitions, INT),
    OPTION(min_nodes_per_partition, INT),
    {"library_path", DELEGATE_TEXT, offsetof(struct hexagon_options, library_path), NULL, NULL},
};
enum { KNOWN = sizeof known / sizeof *known };

TfLiteHexagonDelegateOptions TfLiteHexagonDelegateOptionsDefault(void)
{
    return (TfLiteHexagonDelegateOptions){0};
}

void hexagon_options_settle(struct hexagon_options *options, const struct hl_reporter *reporter)
{
    TfLiteHexagonDelegateOptions *c = &options->c;
    if (c->max_delegated_partitions > HEXAGON_MAX_PARTITIONS) {
        hl_report(reporter,
                  "Hexagon delegate: cannot have this many %d partitions, and will cap to at most %d partitions.",
                  c->max_delegated_partitions, (int)HEXAGON_MAX_PARTITIONS);
        c->max_delegated_partitions = HEXAGON_MAX_PARTITIONS;
    }
    if (c->max_delegated_partitions <= 0) c->max_delegated_partitions = HEXAGON_DEFAULT_PARTITIONS;
    if (c->min_nodes_per_partition <= 0) c->min_nodes_per_partition = HEXAGON_DEFAULT_NODES;
}

bool hexagon_options_from_keys(const char *const *keys, const char *const *values, size_t count,
                               const struct hl_reporter *reporter, struct hexagon_options *options)
{
    *options = (struct hexagon_options){.c = TfLiteHexagonDelegateOptionsDefault()};
    if (delegate_options_read(known, KNOWN, keys, values, count, "Hexagon delegate", reporter, options)) return true;
    hexagon_options_free(options);
    return false;
}

void hexagon_options_free(struct hexagon_options *options)
{
    delegate_options_free(known, KNOWN, options);
}
