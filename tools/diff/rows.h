// SPDX-License-Identifier: Apache-2.0
// How far a node's output in one run is from the same in another. In: two tensors of the same shape and type. Out: the
// distance, as a row of a table or of JSON.
#ifndef HALITE_TOOLS_DIFF_ROWS_H
#define HALITE_TOOLS_DIFF_ROWS_H

#include <cjson/cJSON.h>

#include "diff/setting.h"

struct hl_diff_row {
    int node, tensor;
    const char *op, *name;
    TfLiteType type;
    bool compared, beyond, shown;
    int64_t count, at;                         // elements; the one that differs most
    double a, b, most, mean;                   // its values; largest and mean difference
    double relative;                           // of reals: to the largest value in `a`
    int64_t nans[2], infinities[2], too_large; // too_large: in a, beyond the largest half float
};

// bound: of reals, as a part of the largest value; steps: of integers.
void hl_diff_row_compare(struct hl_diff_row *row, const struct hl_diff_tensor *a, const struct hl_diff_tensor *b,
                         double bound, double steps);
// A table of the rows that are to be shown, with what the two are called, and notes about values that are no numbers in
// any of them.
void hl_diff_rows_print(const struct hl_diff_row *rows, int count, const char *a_name, const char *b_name);
// A line: all are within the bound, or how many are not, and the first of them.
void hl_diff_rows_conclude(const struct hl_diff_row *rows, int count, double bound, double steps);
cJSON *hl_diff_row_json(const struct hl_diff_row *row);

#endif
