// SPDX-License-Identifier: Apache-2.0
// A document of halite bench as people and programs want it. One list of columns makes the table, Markdown and CSV; a
// single row has a page of its own in place of a table.
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "json.h"
#include "table.h"

const char *const hl_bench_formats[] = {"table", "md", "csv", "json", NULL};

enum kind { TEXT, COUNT, SECONDS, BYTES, JOULES, CHANGE };

// A member of a row; `within`: of this object in it. Tables show those with a title, and of these the ones that a row
// has; CSV has all.
static const struct column {
    const char *within, *name, *title;
    enum kind kind;
} columns[] = {
    {NULL, "model", "model", TEXT},
    {NULL, "device", "device", TEXT},
    {NULL, "device_name", NULL, TEXT},
    {NULL, "precision", "precision", TEXT},
    {NULL, "precision_used", NULL, TEXT},
    {NULL, "kernels", NULL, TEXT},
    {NULL, "threads", "threads", COUNT},
    {NULL, "model_bytes", NULL, COUNT},
    {NULL, "initialization_s", "init", SECONDS},
    {NULL, "first_run_s", "first run", SECONDS},
    {NULL, "mean_s", "mean", SECONDS},
    {NULL, "deviation_s", "deviation", SECONDS},
    {NULL, "min_s", NULL, SECONDS},
    {NULL, "p50_s", "p50", SECONDS},
    {NULL, "p90_s", "p90", SECONDS},
    {NULL, "p99_s", "p99", SECONDS},
    {NULL, "max_s", NULL, SECONDS},
    {NULL, "peak_memory_bytes", "peak memory", BYTES},
    {NULL, "memory_bytes", NULL, BYTES},
    {NULL, "joules", "joules", JOULES},
    {"compare", "old_p50_s", "old p50", SECONDS},
    {"compare", "change", "change", CHANGE},
    {"compare", "change_low", NULL, CHANGE},
    {"compare", "change_high", NULL, CHANGE},
    {"compare", "verdict", "verdict", TEXT},
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

static const cJSON *cell_of(const cJSON *row, const struct column *column)
{
    const cJSON *object = column->within != NULL ? cJSON_GetObjectItemCaseSensitive(row, column->within) : row;
    return cJSON_GetObjectItemCaseSensitive(object, column->name);
}

// The cell for people.
static void add_cell(struct hl_text *text, const cJSON *row, const struct column *column)
{
    const cJSON *cell = cell_of(row, column);
    char number[32] = "";
    if (cJSON_IsString(cell)) {
        hl_text_add_escaped(text, cell->valuestring, strlen(cell->valuestring));
    } else if (cJSON_IsNumber(cell)) {
        double value = cell->valuedouble;
        switch (column->kind) {
        case SECONDS: hl_format_seconds(number, sizeof number, value); break;
        case BYTES: hl_format_bytes(number, sizeof number, (uint64_t)value); break;
        case JOULES: hl_format_quantity(number, sizeof number, value, "J"); break;
        case CHANGE: snprintf(number, sizeof number, "%+.1f %%", 100 * value); break;
        case TEXT:
        case COUNT:
            if (value < 0)
                snprintf(number, sizeof number, "default");
            else
                snprintf(number, sizeof number, "%.0f", value);
            break;
        }
        hl_text_add(text, "%s", number);
    } else if (strcmp(column->name, "p50_s") == 0) {
        hl_text_add(text, "failed");
    }
}

static bool is_shown(const cJSON *rows, const struct column *column)
{
    if (column->title == NULL) return false;
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        const cJSON *cell = cell_of(row, column);
        if (cJSON_IsNumber(cell) || (cJSON_IsString(cell) && cell->valuestring[0] != '\0')) return true;
    }
    return false;
}

// What was measured on what, a line.
static void print_setting(const cJSON *document)
{
    const cJSON *system = cJSON_GetObjectItemCaseSensitive(document, "system");
    struct hl_text line = {0};
    const char *cpu = hl_bench_string(system, "cpu"), *governor = hl_bench_string(system, "governor");
    hl_text_add_escaped(&line, cpu, strlen(cpu));
    hl_text_add(&line, ", %.0f processors, governor ", hl_bench_number(system, "processors"));
    hl_text_add_escaped(&line, governor, strlen(governor));
    hl_text_add(&line, "; halite %s, %s; ", hl_bench_string(document, "version"), hl_bench_string(document, "date"));
    printf("%s%.0f runs after %.0f to warm up\n", line.data, hl_bench_number(document, "runs"),
           hl_bench_number(document, "warmup"));
    hl_text_free(&line);
}

static void print_missing(const cJSON *document)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(document, "rows"))
    {
        const char *reason = hl_bench_string(row, "energy_not_counted");
        struct hl_text line = {0};
        hl_text_add_escaped(&line, reason, strlen(reason));
        if (line.length > 0) printf("energy that is not counted: %s\n", line.data);
        bool said = line.length > 0;
        hl_text_free(&line);
        if (said) return; // the reasons are those of the machine
    }
}

// ---- one row --------------------------------------------------------------------------------------

static void print_energy(const cJSON *row)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(row, "energy"), *item;
    const char *reason = hl_bench_string(row, "energy_not_counted");
    if (cJSON_GetArraySize(list) > 0) printf("\nenergy of a run, mean power, and the source that counts it\n");
    struct hl_table table;
    hl_table_start(&table, "lrrl");
    cJSON_ArrayForEach(item, list)
    {
        char joules[32], watts[32];
        hl_format_quantity(joules, sizeof joules, hl_bench_number(item, "joules"), "J");
        hl_format_quantity(watts, sizeof watts, hl_bench_number(item, "watts"), "W");
        hl_table_add_name(&table, hl_bench_string(item, "device"));
        hl_table_add(&table, "%s", joules);
        hl_table_add(&table, "%s", watts);
        hl_table_add_name(&table, hl_bench_string(item, "source"));
    }
    hl_table_print(&table, 2, stdout);
    struct hl_text line = {0};
    hl_text_add_escaped(&line, reason, strlen(reason));
    if (line.length > 0)
        printf("%senergy that is not counted: %s\n", cJSON_GetArraySize(list) > 0 ? "" : "\n", line.data);
    hl_text_free(&line);
}

static void print_one(const cJSON *document, const cJSON *row)
{
    static const struct {
        const char *name, *title;
        enum kind kind;
    } figures[] = {
        {"p50_s", "median", SECONDS},
        {"min_s", "min", SECONDS},
        {"p90_s", "p90", SECONDS},
        {"p99_s", "p99", SECONDS},
        {"max_s", "max", SECONDS},
        {"mean_s", "mean", SECONDS},
        {"deviation_s", "deviation", SECONDS},
        {"initialization_s", "initialization", SECONDS},
        {"first_run_s", "first run", SECONDS},
        {"peak_memory_bytes", "peak memory", BYTES},
    };
    if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "ok"))) return;
    printf("%.0f runs after %.0f to warm up\n%s", hl_bench_number(document, "runs"),
           hl_bench_number(document, "warmup"), hl_bench_string(row, "placement"));
    struct hl_table table;
    hl_table_start(&table, "lr");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const struct column column = {NULL, figures[i].name, figures[i].title, figures[i].kind};
        struct hl_text cell = {0};
        if (!cJSON_HasObjectItem(row, figures[i].name)) continue;
        add_cell(&cell, row, &column);
        hl_table_add(&table, "%s", figures[i].title);
        hl_table_add(&table, "%s", hl_text_string(&cell));
        hl_text_free(&cell);
    }
    hl_table_print(&table, 2, stdout);
    print_energy(row);
    hl_bench_print_operators(row);
}

// ---- all rows -------------------------------------------------------------------------------------

static void print_table(const cJSON *document, const cJSON *rows)
{
    char align[COLUMN_COUNT + 1] = "";
    const cJSON *row;
    bool shown[COLUMN_COUNT];
    int count = 0;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        shown[i] = is_shown(rows, &columns[i]);
        if (shown[i]) align[count++] = columns[i].kind == TEXT ? 'l' : 'r';
    }
    print_setting(document);
    struct hl_table table;
    hl_table_start(&table, align);
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (shown[i]) hl_table_add(&table, "%s", columns[i].title);
    cJSON_ArrayForEach(row, rows) for (int i = 0; i < COLUMN_COUNT; i++)
    {
        struct hl_text cell = {0};
        if (!shown[i]) continue;
        add_cell(&cell, row, &columns[i]);
        hl_table_add(&table, "%s", hl_text_string(&cell));
        hl_text_free(&cell);
    }
    hl_table_print(&table, 2, stdout);
    print_missing(document);
    cJSON_ArrayForEach(row, rows)
    {
        if (!cJSON_HasObjectItem(row, "operators")) continue;
        struct hl_text name = {0};
        const char *model = hl_bench_string(row, "model");
        hl_text_add_escaped(&name, model, strlen(model));
        printf("\n%s, %s %s\n%s", name.data, hl_bench_string(row, "device"), hl_bench_string(row, "precision"),
               hl_bench_string(row, "placement"));
        hl_text_free(&name);
        hl_bench_print_operators(row);
    }
}

static void print_markdown(const cJSON *document, const cJSON *rows)
{
    const cJSON *row;
    print_setting(document);
    printf("\n|");
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (is_shown(rows, &columns[i])) printf(" %s |", columns[i].title);
    printf("\n|");
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (is_shown(rows, &columns[i])) printf(columns[i].kind == TEXT ? "---|" : "--:|");
    printf("\n");
    cJSON_ArrayForEach(row, rows)
    {
        printf("|");
        for (int i = 0; i < COLUMN_COUNT; i++) {
            struct hl_text cell = {0};
            if (!is_shown(rows, &columns[i])) continue;
            add_cell(&cell, row, &columns[i]);
            printf(" ");
            for (const char *at = hl_text_string(&cell); *at != '\0'; at++) printf(*at == '|' ? "\\|" : "%c", *at);
            printf(" |");
            hl_text_free(&cell);
        }
        printf("\n");
    }
}

// A field in quotes, where it needs them.
static void print_field(const char *text)
{
    if (text[strcspn(text, "\",\r\n")] == '\0') {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) printf(*text == '"' ? "\"\"" : "%c", *text);
    putchar('"');
}

static void print_csv(const cJSON *document, const cJSON *rows)
{
    const cJSON *row, *system = cJSON_GetObjectItemCaseSensitive(document, "system");
    printf("version,date,cpu,processors,governor,runs,warmup");
    for (int i = 0; i < COLUMN_COUNT; i++) printf(",%s", columns[i].name);
    printf("\n");
    cJSON_ArrayForEach(row, rows)
    {
        printf("%s,%s,", hl_bench_string(document, "version"), hl_bench_string(document, "date"));
        print_field(hl_bench_string(system, "cpu"));
        printf(",%.0f,", hl_bench_number(system, "processors"));
        print_field(hl_bench_string(system, "governor"));
        printf(",%.0f,%.0f", hl_bench_number(document, "runs"), hl_bench_number(document, "warmup"));
        for (int i = 0; i < COLUMN_COUNT; i++) {
            const cJSON *cell = cell_of(row, &columns[i]);
            putchar(',');
            if (cJSON_IsString(cell)) print_field(cell->valuestring);
            if (cJSON_IsNumber(cell)) printf("%.9g", cell->valuedouble);
        }
        printf("\n");
    }
}

void hl_bench_print(const cJSON *document, int format)
{
    enum { TABLE, MARKDOWN, CSV, JSON };
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(document, "rows");
    const cJSON *only = cJSON_GetArraySize(rows) == 1 ? cJSON_GetArrayItem(rows, 0) : NULL;
    switch (format) {
    case TABLE:
        if (only != NULL && !cJSON_HasObjectItem(only, "compare"))
            print_one(document, only);
        else
            print_table(document, rows);
        break;
    case MARKDOWN: print_markdown(document, rows); break;
    case CSV: print_csv(document, rows); break;
    case JSON: hl_json_print(document); break;
    }
}
