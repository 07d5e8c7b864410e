// SPDX-License-Identifier: Apache-2.0
// What is in a capsule, for people. Every text of it comes from a file, and is shown with its controls escaped.
#include <string.h>

#include "capsule/capsule.h"
#include "table.h"

static void add_fact(struct hl_table *table, const char *what, const char *text)
{
    if (*text == '\0') return;
    hl_table_add(table, "%s", what);
    hl_table_add_name(table, text);
}

static void add_line(struct hl_table *table, const char *what, const struct hl_text *text)
{
    hl_table_add(table, "%s", what);
    hl_table_add(table, "%s", hl_text_string(text));
}

static void add_tensors(struct hl_table *table, const char *what, const struct hl_capsule_tensors *tensors)
{
    struct hl_text text = {0};
    for (int i = 0; i < tensors->count; i++) {
        const struct hl_capsule_tensor *tensor = &tensors->items[i];
        hl_text_clear(&text);
        hl_model_add_shape(&text, tensor->value.type, tensor->value.rank, tensor->value.dims);
        hl_text_add(&text, "  ");
        hl_text_add_escaped(&text, tensor->name, strlen(tensor->name));
        add_line(table, i == 0 ? what : "", &text);
    }
    hl_text_free(&text);
}

static const cJSON *member(const struct hl_capsule *capsule, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(capsule->manifest, name);
}

static double number_of(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static void add_machine(struct hl_table *table, const struct hl_capsule *capsule)
{
    const cJSON *device = member(capsule, "device"), *system = member(capsule, "system"), *item;
    struct hl_text text = {0};
    add_fact(table, "cpu", hl_capsule_string(system, "cpu"));
    add_fact(table, "machine", hl_capsule_string(system, "machine"));
    add_fact(table, "device", hl_capsule_string(device, "name"));
    add_fact(table, "", hl_capsule_string(device, "description"));
    add_fact(table, "driver", hl_capsule_string(device, "driver"));
    cJSON_ArrayForEach(item, member(capsule, "environment"))
    {
        if (!cJSON_IsString(item) || item->string == NULL) continue;
        hl_text_clear(&text);
        hl_text_add(&text, "%s=%s", item->string, item->valuestring);
        add_fact(table, "environment", text.data);
    }
    hl_text_free(&text);
}

void hl_capsule_show(const struct hl_capsule *capsule, const char *path)
{
    struct hl_text text = {0};
    struct hl_table table;
    const cJSON *model = member(capsule, "model");
    hl_text_add_escaped(&text, path, strlen(path));
    printf("%s\n", text.data);
    hl_table_start(&table, "ll");
    add_fact(&table, "made", hl_capsule_string(capsule->manifest, "date"));
    add_fact(&table, "halite", hl_capsule_string(capsule->manifest, "version"));
    add_fact(&table, "model", hl_capsule_string(model, "name"));
    hl_text_clear(&text);
    hl_text_add(&text, "%.0f bytes, %s the capsule", number_of(model, "bytes"),
                capsule->model != NULL ? "in" : "not in");
    add_line(&table, "", &text);
    add_fact(&table, "sha256", hl_capsule_string(model, "sha256"));
    hl_text_clear(&text);
    hl_capsule_add_settings(&text, member(capsule, "options"));
    add_line(&table, "options", &text);
    add_machine(&table, capsule);
    add_tensors(&table, "inputs", &capsule->inputs);
    add_tensors(&table, "outputs", &capsule->outputs);
    hl_text_clear(&text);
    hl_text_add(&text, "%d tensors", capsule->nodes.count);
    if (capsule->nodes.count > 0) add_line(&table, "nodes", &text);
    add_fact(&table, "failure", hl_capsule_string(capsule->manifest, "failure"));
    hl_table_print(&table, 2, stdout);
    const char *place = hl_capsule_string(capsule->manifest, "placement");
    for (size_t length; (length = strcspn(place, "\n")) > 0; place += length + (place[length] == '\n')) {
        hl_text_clear(&text);
        hl_text_add_escaped(&text, place, length);
        printf("%s\n", text.data);
    }
    const cJSON *node;
    cJSON_ArrayForEach(node, member(capsule, "not_on_gpu"))
    {
        hl_text_clear(&text);
        hl_text_add(&text, "not on the GPU: node %.0f, %s: %s", number_of(node, "node"),
                    hl_capsule_string(node, "operator"), hl_capsule_string(node, "text"));
        struct hl_text line = {0};
        hl_text_add_escaped(&line, text.data, text.length);
        printf("%s\n", line.data);
        hl_text_free(&line);
    }
    hl_text_free(&text);
}
