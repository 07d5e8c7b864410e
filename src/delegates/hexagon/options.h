// SPDX-License-Identifier: Apache-2.0
// The options of the Hexagon delegate: those of the documented C struct, which also come by key and value, and Halite's
// own, which only come so.
#ifndef HALITE_DELEGATES_HEXAGON_OPTIONS_H
#define HALITE_DELEGATES_HEXAGON_OPTIONS_H

#include "base/report.h"
#include "tensorflow/lite/delegates/hexagon/hexagon_delegate.h"

enum {
    HEXAGON_DEFAULT_PARTITIONS = 4,
    HEXAGON_MAX_PARTITIONS = 16,
    HEXAGON_DEFAULT_NODES = 2, // of a partition
};

struct hexagon_options {
    TfLiteHexagonDelegateOptions c;
    char *library_path; // in place of the system's library; a copy
};

// Replaces what stands for a default, and what is too much, after a message.
void hexagon_options_settle(struct hexagon_options *options, const struct hl_reporter *reporter);
// False after a message.
bool hexagon_options_from_keys(const char *const *keys, const char *const *values, size_t count,
                               const struct hl_reporter *reporter, struct hexagon_options *options);
void hexagon_options_free(struct hexagon_options *options);

#endif
