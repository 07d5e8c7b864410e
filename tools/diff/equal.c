// SPDX-License-Identifier: Apache-2.0
// Do two models make the same of the same inputs, bit for bit? For programs that change models. See models.h.
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "diff/models.h"

// The first output that differs, -1: none.
static int find_difference(const struct hl_diff_tensor *a, const struct hl_diff_tensor *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].type != b[i].type || a[i].bytes.length != b[i].bytes.length ||
            memcmp(hl_text_string(&a[i].bytes), hl_text_string(&b[i].bytes), a[i].bytes.length) != 0)
            return i;
    return -1;
}

bool hl_diff_same_outputs(const char *command, const char *a_path, const char *b_path, int *different)
{
    static const struct hl_flag_list none = {0};
    struct hl_diff_both both = {0};
    *different = -1;
    bool ok = hl_model_file_open(&both.a, command, a_path) && hl_model_file_open(&both.b, command, b_path) &&
              hl_diff_both_fill(&both, &none, &none);
    if (ok) {
        const struct hl_model_subgraph *graph_a = &both.a.model->subgraphs[0], *graph_b = &both.b.model->subgraphs[0];
        int count = graph_a->output_count;
        struct hl_diff_tensor *a = hl_alloc((size_t)count, sizeof *a), *b = hl_alloc((size_t)count, sizeof *b);
        struct hl_diff_setting fast;
        ok = hl_diff_setting_parse(&fast, "fast") &&
             hl_diff_run(command, a_path, &fast, &both.a_inputs, count, graph_a->outputs, a);
        if (ok && graph_b->output_count != count) *different = 0;
        ok = ok && *different < 0 && hl_diff_run(command, b_path, &fast, &both.b_inputs, count, graph_b->outputs, b);
        if (ok) *different = find_difference(a, b, count);
        hl_diff_values_free(a, count);
        hl_diff_values_free(b, count);
        free(a);
        free(b);
    }
    hl_diff_both_free(&both);
    return ok;
}
