// SPDX-License-Identifier: Apache-2.0
// See tuning.h.
#include "gpu/plan/tuning.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MAX_ROWS = 1 << 16 };

void gpu_ranking_add(struct gpu_ranking *ranking, const struct gpu_tuned_block *block, int64_t cycles)
{
    if (cycles >= gpu_ranking_limit(ranking)) return;
    int at = ranking->count < ranking->room ? ranking->count++ : ranking->count - 1;
    for (; at > 0 && ranking->cycles[at - 1] > cycles; at--) {
        ranking->blocks[at] = ranking->blocks[at - 1];
        ranking->cycles[at] = ranking->cycles[at - 1];
    }
    ranking->blocks[at] = *block;
    ranking->cycles[at] = cycles;
}

static bool is_of(const struct gpu_tuned_row *row, const struct gpu_tuned_size *size)
{
    return strcmp(row->kernel, size->kernel) == 0 && memcmp(row->sizes, size->sizes, sizeof row->sizes) == 0;
}

static int find(const struct gpu_tuning *tuning, const struct gpu_tuned_size *size, const struct gpu_tuned_block *block)
{
    for (int i = 0; i < tuning->count; i++)
        if (is_of(&tuning->rows[i], size) && memcmp(&tuning->rows[i].block, block, sizeof *block) == 0) return i;
    return -1;
}

static struct gpu_tuned_row *append(struct gpu_tuning *tuning)
{
    if (tuning->count == MAX_ROWS) return NULL;
    struct gpu_tuned_row *rows = hl_grow(tuning->rows, tuning->count, &tuning->capacity, sizeof *rows);
    if (!rows) return NULL;
    tuning->rows = rows;
    rows[tuning->count] = (struct gpu_tuned_row){.ns = UINT64_MAX};
    return &rows[tuning->count++];
}

// The row of a new trial, counted from 1. Two steps of the same size in one plan try two blocks.
static int begin_trial(struct gpu_tuning *tuning, const struct gpu_tuned_size *size,
                       const struct gpu_tuned_block *block, int rank)
{
    struct gpu_tuned_row *row = append(tuning);
    if (!row) return 0;
    size_t length = strlen(size->kernel);
    memcpy(row->kernel, size->kernel, length < sizeof row->kernel ? length : sizeof row->kernel - 1);
    memcpy(row->sizes, size->sizes, sizeof row->sizes);
    row->block = *block;
    row->rank = rank;
    return tuning->count;
}

const struct gpu_tuned_block *gpu_tuning_choose(struct gpu_tuning *tuning, const struct gpu_tuned_size *size,
                                                const struct gpu_ranking *candidates, int *row)
{
    const struct gpu_tuned_block *best = NULL;
    int best_row = -1;
    *row = 0;
    for (int i = 0; i < candidates->count; i++) {
        int found = find(tuning, size, &candidates->blocks[i]);
        if (found < 0 && tuning->tries) {
            *row = begin_trial(tuning, size, &candidates->blocks[i], i);
            return &candidates->blocks[i];
        }
        if (found < 0 || tuning->rows[found].ns == UINT64_MAX) continue;
        if (best && tuning->rows[found].ns >= tuning->rows[best_row].ns) continue;
        best = &candidates->blocks[i];
        best_row = found;
    }
    if (tuning->tries) *row = best_row + 1;
    return best;
}

void gpu_tuning_note(struct gpu_tuning *tuning, int row, uint64_t ns)
{
    if (row < 1 || row > tuning->count || ns >= tuning->rows[row - 1].ns) return;
    tuning->rows[row - 1].ns = ns;
    tuning->changed = true;
}

// ---- text -------------------------------------------------------------------------------------------------------

static void print_numbers(struct hl_text *text, const int32_t *numbers, int count)
{
    for (int i = 0; i < count; i++) hl_text_append(text, "%c%" PRId32, i ? ',' : ' ', numbers[i]);
}

void gpu_tuning_print(const struct gpu_tuning *tuning, struct hl_text *text)
{
    for (int i = 0; i < tuning->count; i++) {
        const struct gpu_tuned_row *row = &tuning->rows[i];
        if (row->ns == UINT64_MAX) continue;
        hl_text_append(text, "%s", row->kernel);
        print_numbers(text, row->sizes, GPU_TUNED_SIZES);
        print_numbers(text, row->block.numbers, GPU_TUNED_NUMBERS);
        hl_text_append(text, " %d %" PRIu64 "\n", row->rank, row->ns);
    }
}

// Reads digits, and a minus before them where the smallest number is below 0; goes on to what follows.
static bool parse_number(const char **at, int64_t smallest, int64_t largest, int64_t *number)
{
    bool minus = **at == '-';
    int digits = 0;
    *number = 0;
    for (*at += minus; **at >= '0' && **at <= '9' && digits < 18; ++*at, digits++)
        *number = *number * 10 + (**at - '0');
    if (minus) *number = -*number;
    return digits > 0 && *number >= smallest && *number <= largest;
}

static bool parse_char(const char **at, char wanted)
{
    if (**at != wanted) return false;
    ++*at;
    return true;
}

static bool parse_numbers(const char **at, int32_t *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t number;
        if (!parse_char(at, i ? ',' : ' ') || !parse_number(at, INT32_MIN, INT32_MAX, &number)) return false;
        numbers[i] = (int32_t)number;
    }
    return true;
}

static bool parse_row(const char **at, struct gpu_tuned_row *row)
{
    size_t length = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    int64_t rank, ns;
    if (length == 0 || length >= sizeof row->kernel) return false;
    memcpy(row->kernel, *at, length);
    *at += length;
    if (!parse_numbers(at, row->sizes, GPU_TUNED_SIZES) || !parse_numbers(at, row->block.numbers, GPU_TUNED_NUMBERS) ||
        !parse_char(at, ' ') || !parse_number(at, 0, INT_MAX, &rank) || !parse_char(at, ' ') ||
        !parse_number(at, 0, INT64_MAX, &ns) || !parse_char(at, '\n'))
        return false;
    row->rank = (int)rank;
    row->ns = (uint64_t)ns;
    return true;
}

bool gpu_tuning_parse(struct gpu_tuning *tuning, const char *text)
{
    while (*text) {
        struct gpu_tuned_row *row = append(tuning);
        if (!row || !parse_row(&text, row)) return false;
    }
    return true;
}

void gpu_tuning_free(struct gpu_tuning *tuning)
{
    free(tuning->rows);
    *tuning = (struct gpu_tuning){.rows = NULL};
}
