// SPDX-License-Identifier: Apache-2.0
// See pairs.h. The alignment with the highest score, by dynamic programming over what is between the common beginning
// and end.
#include "diff/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

// Above so many cells (of a byte and an int32 each) what is between stays without partners.
enum { MAX_CELLS = 1 << 25 };

struct sides {
    const TfLiteModel *a, *b;
    const struct hl_model_subgraph *a_graph, *b_graph;
};

static const struct hl_model_tensor *first_output(const struct hl_model_subgraph *graph, int node)
{
    const struct hl_model_node *of = &graph->nodes[node];
    return of->output_count > 0 && of->outputs[0] >= 0 ? &graph->tensors[of->outputs[0]] : NULL;
}

// How much speaks for it that these two are the same; 0: they are not.
static int score_of(const struct sides *sides, int a, int b)
{
    const char *x = hl_model_code_name(&sides->a->codes[sides->a_graph->nodes[a].code]),
               *y = hl_model_code_name(&sides->b->codes[sides->b_graph->nodes[b].code]);
    if (strcmp(x, y) != 0) return 0;
    const struct hl_model_tensor *from = first_output(sides->a_graph, a), *to = first_output(sides->b_graph, b);
    if (from == NULL || to == NULL) return 1;
    bool name = from->name[0] != '\0' && strcmp(from->name, to->name) == 0;
    bool shape = from->rank == to->rank && memcmp(from->dims, to->dims, (size_t)from->rank * sizeof *from->dims) == 0;
    return 1 + 4 * name + 3 * shape;
}

enum { WITH_BOTH, SKIP_A, SKIP_B };

// Adds the pairs of nodes a0 to a1 and b0 to b1, without the last of each.
static void align(const struct sides *sides, int a0, int a1, int b0, int b1, struct hl_diff_pair *pairs, int *count)
{
    size_t n = (size_t)(a1 - a0), m = (size_t)(b1 - b0), row = m + 1;
    bool fits = row <= MAX_CELLS && n + 1 <= MAX_CELLS / row;
    unsigned char *steps = fits ? hl_alloc((n + 1) * row, 1) : NULL;
    int *scores = hl_alloc(2 * row, sizeof *scores); // of a's rest from i on, and from i + 1 on
    for (size_t i = n + 1; fits && i-- > 0;) {
        int *now = scores + (i % 2) * row, *next = scores + ((i + 1) % 2) * row;
        for (size_t j = m + 1; j-- > 0;) {
            int best = i < n ? next[j] : 0, step = SKIP_A;
            if (i == n || (j < m && now[j + 1] > best)) best = j < m ? now[j + 1] : 0, step = SKIP_B;
            int score = i < n && j < m ? score_of(sides, a0 + (int)i, b0 + (int)j) : 0;
            if (score > 0 && score + next[j + 1] >= best) best = score + next[j + 1], step = WITH_BOTH;
            now[j] = best;
            steps[i * row + j] = (unsigned char)step;
        }
    }
    for (size_t i = 0, j = 0; i < n || j < m;) {
        int step = fits ? steps[i * row + j] : i < n ? SKIP_A : SKIP_B;
        pairs[(*count)++] = (struct hl_diff_pair){
            .a = step == SKIP_B ? -1 : a0 + (int)i++,
            .b = step == SKIP_A ? -1 : b0 + (int)j++,
        };
    }
    free(steps);
    free(scores);
}

struct hl_diff_pair *hl_diff_pair_nodes(const TfLiteModel *a, const TfLiteModel *b, int *count)
{
    enum { SURE = 4 }; // operator and shape, or operator and name
    const struct sides sides = {a, b, &a->subgraphs[0], &b->subgraphs[0]};
    int a_end = sides.a_graph->node_count, b_end = sides.b_graph->node_count, head = 0, tail = 0;
    struct hl_diff_pair *pairs = hl_alloc((size_t)a_end + (size_t)b_end, sizeof *pairs);
    *count = 0;
    while (head < a_end && head < b_end && score_of(&sides, head, head) >= SURE) {
        pairs[(*count)++] = (struct hl_diff_pair){head, head};
        head++;
    }
    while (a_end - tail > head && b_end - tail > head && score_of(&sides, a_end - tail - 1, b_end - tail - 1) >= SURE)
        tail++;
    align(&sides, head, a_end - tail, head, b_end - tail, pairs, count);
    for (; tail > 0; tail--) pairs[(*count)++] = (struct hl_diff_pair){a_end - tail, b_end - tail};
    return pairs;
}
