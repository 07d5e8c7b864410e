// SPDX-License-Identifier: Apache-2.0
// See rows.h.
#include "diff/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "element.h"
#include "json.h"
#include "table.h"
#include "values.h"

static bool is_real(TfLiteType type)
{
    enum hl_element_view view = hl_element_type(type).view;
    return view == HL_ELEMENT_REAL || view == HL_ELEMENT_COMPLEX;
}

void hl_diff_row_compare(struct hl_diff_row *row, const struct hl_diff_tensor *a, const struct hl_diff_tensor *b,
                         double bound, double steps)
{
    enum { LARGEST_HALF = 65504 };
    enum hl_element_view view = hl_element_type(a->type).view;
    row->type = a->type;
    row->count = view == HL_ELEMENT_COMPLEX ? 2 * a->count : a->count;
    row->compared = a->type == b->type && a->count == b->count && a->bytes.length == b->bytes.length &&
                    view != HL_ELEMENT_NONE && view != HL_ELEMENT_STRING;
    row->beyond =
        !row->compared && (a->bytes.length != b->bytes.length ||
                           memcmp(hl_text_string(&a->bytes), hl_text_string(&b->bytes), a->bytes.length) != 0);
    double sum = 0, largest = 0;
    for (int64_t i = 0; row->compared && i < row->count; i++) {
        double x = hl_values_at(a->type, a->bytes.data, i), y = hl_values_at(b->type, b->bytes.data, i),
               difference = fabs(x - y);
        row->nans[0] += isnan(x) != 0;
        row->nans[1] += isnan(y) != 0;
        row->infinities[0] += isinf(x) != 0;
        row->infinities[1] += isinf(y) != 0;
        row->too_large += isfinite(x) && fabs(x) > LARGEST_HALF;
        if (x == y || (isnan(x) && isnan(y))) difference = 0;
        if (isnan(difference)) difference = INFINITY;
        if (isfinite(x) && fabs(x) > largest) largest = fabs(x);
        sum += difference;
        if (i > 0 && difference <= row->most) continue;
        row->most = difference;
        row->at = i;
        row->a = x;
        row->b = y;
    }
    if (!row->compared || row->count == 0) return;
    row->mean = sum / (double)row->count;
    row->relative = row->most == 0 ? 0 : row->most / largest;
    row->beyond = is_real(a->type) ? row->relative > bound : row->most > steps;
}

static void add_row(struct hl_table *table, const struct hl_diff_row *row)
{
    hl_table_add(table, "%d", row->node);
    hl_table_add_name(table, row->op);
    hl_table_add(table, "%d", row->tensor);
    hl_table_add(table, "%s", hl_element_name(row->type));
    if (!row->compared) {
        for (int i = 0; i < 6; i++) hl_table_add(table, i == 0 ? "not alike" : "");
        return;
    }
    hl_table_add(table, "%g", row->most);
    if (is_real(row->type))
        hl_table_add(table, "%.2g", row->relative);
    else
        hl_table_add(table, "steps");
    hl_table_add(table, "%g", row->mean);
    hl_table_add(table, "%" PRId64, row->at);
    hl_table_add(table, "%g", row->a);
    hl_table_add(table, "%g", row->b);
}

static void print_notes(const struct hl_diff_row *rows, int count, const char *a_name, const char *b_name)
{
    for (int i = 0; i < count; i++) {
        const struct hl_diff_row *row = &rows[i];
        for (int side = 0; side < 2; side++)
            if (row->nans[side] > 0 || row->infinities[side] > 0)
                printf("node %d, tensor %d: %" PRId64 " NaN and %" PRId64 " infinite values in %s\n", row->node,
                       row->tensor, row->nans[side], row->infinities[side], side == 0 ? a_name : b_name);
        if (row->too_large > 0)
            printf("node %d, tensor %d: %" PRId64 " values beyond 65504, which half floats do not hold\n", row->node,
                   row->tensor, row->too_large);
    }
}

void hl_diff_rows_print(const struct hl_diff_row *rows, int count, const char *a_name, const char *b_name)
{
    static const char *const heads[] = {"node", "operator", "tensor", "type", "largest", "relative", "mean", "element"};
    struct hl_table table;
    hl_table_start(&table, "rlrlrrrrrr");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) hl_table_add(&table, "%s", heads[i]);
    hl_table_add_name(&table, a_name);
    hl_table_add_name(&table, b_name);
    for (int i = 0; i < count; i++)
        if (rows[i].shown) add_row(&table, &rows[i]);
    hl_table_print(&table, 2, stdout);
    print_notes(rows, count, a_name, b_name);
}

void hl_diff_rows_conclude(const struct hl_diff_row *rows, int count, double bound, double steps)
{
    int beyond = 0, first = count;
    for (int i = count; i-- > 0;) {
        if (!rows[i].beyond) continue;
        beyond++;
        first = i;
    }
    if (beyond == 0)
        printf("all within the bound (%g of the largest value, %g steps)\n", bound, steps);
    else
        printf("%d of %d beyond the bound, first node %d, %s\n", beyond, count, rows[first].node, rows[first].op);
}

cJSON *hl_diff_row_json(const struct hl_diff_row *row)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "node", row->node);
    hl_json_add_string(item, "operator", row->op);
    cJSON_AddNumberToObject(item, "tensor", row->tensor);
    hl_json_add_string(item, "name", row->name);
    cJSON_AddStringToObject(item, "type", hl_element_name(row->type));
    cJSON_AddBoolToObject(item, "compared", row->compared);
    cJSON_AddBoolToObject(item, "beyond", row->beyond);
    cJSON_AddNumberToObject(item, "largest", row->most);
    cJSON_AddNumberToObject(item, "relative", row->relative);
    cJSON_AddNumberToObject(item, "mean", row->mean);
    cJSON_AddNumberToObject(item, "element", (double)row->at);
    cJSON_AddNumberToObject(item, "value_from", row->a);
    cJSON_AddNumberToObject(item, "value_to", row->b);
    cJSON_AddNumberToObject(item, "nan", (double)row->nans[1]);
    cJSON_AddNumberToObject(item, "infinite", (double)row->infinities[1]);
    cJSON_AddNumberToObject(item, "beyond_half", (double)row->too_large);
    return item;
}
