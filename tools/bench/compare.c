// SPDX-License-Identifier: Apache-2.0
// What changed since an earlier document, beyond noise. Rows belong together that ran a model of the same path, or, if
// only one has it, the same file name, on the same device with the same precision, kernels and threads. A row changed
// where the whole interval of statistics.h lies beyond the noise that is allowed.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bench/bench.h"
#include "bench/statistics.h"
#include "files.h"
#include "json.h"
#include "message.h"

// ---- reading --------------------------------------------------------------------------------------

struct samples {
    int count;
    double *values;
};

// The times of a row. False where it has none, or what no run can take.
static bool take_samples(const cJSON *row, struct samples *samples)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(row, "samples_s"), *item;
    *samples = (struct samples){0};
    if (!cJSON_IsArray(list) || list->child == NULL) return false;
    samples->values = hl_alloc((size_t)cJSON_GetArraySize(list), sizeof *samples->values);
    cJSON_ArrayForEach(item, list)
    {
        bool positive = cJSON_IsNumber(item) && item->valuedouble > 0 && isfinite(item->valuedouble);
        if (positive) samples->values[samples->count++] = item->valuedouble;
        if (positive && samples->count <= HL_BENCH_MAX_SAMPLES) continue;
        free(samples->values);
        *samples = (struct samples){0};
        return false;
    }
    return true;
}

// What is wrong with a document, NULL: nothing. *number: the row that it is about, from 1 on.
static const char *problem_of(const cJSON *document, int *number)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(document, "rows"), *row;
    *number = 0;
    if (strcmp(hl_bench_string(document, "kind"), "halite bench") != 0 || !cJSON_IsArray(rows))
        return "it was not written by halite bench --format json";
    cJSON_ArrayForEach(row, rows)
    {
        struct samples samples;
        ++*number;
        if (!cJSON_IsObject(row)) return "it is no object";
        if (hl_bench_string(row, "model")[0] == '\0') return "it has no \"model\"";
        if (hl_bench_string(row, "device")[0] == '\0') return "it has no \"device\"";
        if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "ok"))) continue;
        bool taken = take_samples(row, &samples);
        free(samples.values);
        if (!taken) return "\"samples_s\" is no list of times, positive and at most 10000";
    }
    *number = 0;
    return NULL;
}

cJSON *hl_bench_read(const char *path)
{
    struct hl_text bytes = {0}, error = {0};
    cJSON *document = NULL;
    if (!hl_files_read(path, HL_FILES_MOST, &bytes, &error)) {
        hl_error("bench", path, "%s", error.data);
    } else {
        int number;
        document = cJSON_ParseWithLength(hl_text_string(&bytes), bytes.length);
        const char *problem =
            document == NULL ? "it is no JSON, or a part of it is missing" : problem_of(document, &number);
        if (problem != NULL && document != NULL && number > 0)
            hl_error("bench", path, "cannot be compared with: row %d: %s", number, problem);
        else if (problem != NULL)
            hl_error("bench", path, "cannot be compared with: %s", problem);
        if (problem != NULL) {
            cJSON_Delete(document);
            document = NULL;
        }
    }
    hl_text_free(&bytes);
    hl_text_free(&error);
    return document;
}

// ---- comparing ------------------------------------------------------------------------------------

static const char *name_of(const cJSON *row)
{
    return hl_path_name(hl_bench_string(row, "model"));
}

static bool is_same_way(const cJSON *a, const cJSON *b)
{
    static const char *const words[] = {"device", "precision", "kernels"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(hl_bench_string(a, words[i]), hl_bench_string(b, words[i])) != 0) return false;
    double x = hl_bench_number(a, "threads"), y = hl_bench_number(b, "threads");
    return x == y || (isnan(x) && isnan(y));
}

// The row of `old` that is to be compared with this one, NULL: there is none, or no telling which.
static const cJSON *partner_of(const cJSON *row, const cJSON *old)
{
    const cJSON *other, *found = NULL;
    int count = 0;
    cJSON_ArrayForEach(other, cJSON_GetObjectItemCaseSensitive(old, "rows"))
    {
        if (!is_same_way(row, other)) continue;
        if (strcmp(hl_bench_string(row, "model"), hl_bench_string(other, "model")) == 0) return other;
        if (strcmp(name_of(row), name_of(other)) != 0) continue;
        found = other;
        count++;
    }
    return count == 1 ? found : NULL;
}

static const char *verdict_of(const struct hl_change *change, double noise)
{
    if (change->low > 1 + noise) return "slower";
    if (change->high < 1 - noise) return "faster";
    return "same";
}

static bool compare_row(cJSON *row, const cJSON *other, double noise)
{
    struct samples before = {0}, after = {0};
    cJSON *compare = cJSON_AddObjectToObject(row, "compare");
    const char *verdict = other == NULL ? "new" : "not measured";
    bool both = other != NULL && take_samples(other, &before) && take_samples(row, &after);
    if (both) {
        cJSON_AddNumberToObject(compare, "old_p50_s", hl_statistics_of(before.values, before.count).p50);
        bool enough = before.count >= HL_STATISTICS_MIN_COUNT && after.count >= HL_STATISTICS_MIN_COUNT;
        struct hl_change change = {.ratio = hl_statistics_of(after.values, after.count).p50 /
                                            hl_statistics_of(before.values, before.count).p50};
        if (enough) {
            change = hl_statistics_change(before.values, before.count, after.values, after.count);
            cJSON_AddNumberToObject(compare, "change_low", change.low - 1);
            cJSON_AddNumberToObject(compare, "change_high", change.high - 1);
        }
        cJSON_AddNumberToObject(compare, "change", change.ratio - 1);
        verdict = enough ? verdict_of(&change, noise) : "too few runs";
    }
    cJSON_AddStringToObject(compare, "verdict", verdict);
    free(before.values);
    free(after.values);
    return strcmp(verdict, "slower") == 0;
}

// Figures of two machines differ for other reasons than the program.
static void warn_of_system(const cJSON *document, const cJSON *old, const char *path)
{
    static const char *const words[] = {"cpu", "governor"};
    const cJSON *now = cJSON_GetObjectItemCaseSensitive(document, "system"),
                *then = cJSON_GetObjectItemCaseSensitive(old, "system");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *x = hl_bench_string(now, words[i]), *y = hl_bench_string(then, words[i]);
        if (strcmp(x, y) != 0)
            hl_warn("bench", path,
                    "was measured with another %s ('%s', here '%s'): differences may be those of the machine", words[i],
                    y, x);
    }
}

int hl_bench_compare(cJSON *document, const cJSON *old, const char *path, double noise)
{
    int slower = 0;
    cJSON *row;
    warn_of_system(document, old, path);
    hl_json_add_string(document, "compared_with", path);
    cJSON_AddNumberToObject(document, "noise", noise);
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(document, "rows")) slower +=
        compare_row(row, partner_of(row, old), noise);
    return slower;
}
