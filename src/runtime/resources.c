// SPDX-License-Identifier: Apache-2.0
// Resource variables and tables of an interpreter. See resources.h.
#include "runtime/resources.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/interpreter.h"

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

int hl_resource_id(struct hl_resources *resources, const char *container, const char *name)
{
    if (!container) container = "";
    if (!name) name = "";
    for (int i = 0; i < resources->variable_count; i++)
        if (strcmp(resources->variables[i].container, container) == 0 &&
            strcmp(resources->variables[i].name, name) == 0)
            return i;
    struct hl_resource_variable *list =
        realloc(resources->variables, (size_t)(resources->variable_count + 1) * sizeof *list);
    if (!list) return -1;
    resources->variables = list;
    struct hl_resource_variable *variable = &list[resources->variable_count];
    *variable = (struct hl_resource_variable){
        .container = copy_text(container),
        .name = copy_text(name),
        .value = {.allocation_type = kTfLiteDynamic, .buffer_handle = kTfLiteNullBufferHandle},
    };
    if (!variable->container || !variable->name) {
        free(variable->container);
        free(variable->name);
        return -1;
    }
    return resources->variable_count++;
}

struct hl_resource_variable *hl_resource_variable(struct hl_resources *resources, int id)
{
    return id >= 0 && id < resources->variable_count ? &resources->variables[id] : NULL;
}

int hl_resource_table_id(struct hl_resources *resources, int number, TfLiteType key_type, TfLiteType value_type)
{
    for (int i = 0; i < resources->table_count; i++)
        if (resources->tables[i].number == number && resources->tables[i].key_type == key_type &&
            resources->tables[i].value_type == value_type)
            return HL_TABLE_HANDLES + i;
    struct hl_resource_table *list = realloc(resources->tables, (size_t)(resources->table_count + 1) * sizeof *list);
    if (!list) return -1;
    resources->tables = list;
    list[resources->table_count] = (struct hl_resource_table){
        .number = number,
        .key_type = key_type,
        .value_type = value_type,
        .keys = {.allocation_type = kTfLiteDynamic, .buffer_handle = kTfLiteNullBufferHandle},
        .values = {.allocation_type = kTfLiteDynamic, .buffer_handle = kTfLiteNullBufferHandle},
    };
    return HL_TABLE_HANDLES + resources->table_count++;
}

void hl_resources_free(struct hl_resources *resources)
{
    for (int i = 0; i < resources->variable_count; i++) {
        free(resources->variables[i].container);
        free(resources->variables[i].name);
        TfLiteTensorFree(&resources->variables[i].value);
    }
    for (int i = 0; i < resources->table_count; i++) {
        TfLiteTensorFree(&resources->tables[i].keys);
        TfLiteTensorFree(&resources->tables[i].values);
        free(resources->tables[i].order);
    }
    free(resources->variables);
    free(resources->tables);
    free(resources->initialized);
    *resources = (struct hl_resources){0};
}

// ---- for kernels --------------------------------------------------------------------------------

struct hl_resources *hl_context_resources(const TfLiteContext *ctx)
{
    return &hl_subgraph_of(ctx)->interpreter->resources;
}

static int32_t id_in(const TfLiteTensor *handle)
{
    int32_t id = -1;
    if (handle->type == kTfLiteResource && handle->data.raw && handle->bytes >= sizeof id)
        memcpy(&id, handle->data.raw, sizeof id);
    return id;
}

struct hl_resource_variable *hl_context_variable(const TfLiteContext *ctx, const TfLiteTensor *handle)
{
    return hl_resource_variable(hl_context_resources(ctx), id_in(handle));
}

struct hl_resource_table *hl_context_table(const TfLiteContext *ctx, const TfLiteTensor *handle)
{
    struct hl_resources *resources = hl_context_resources(ctx);
    int32_t id = id_in(handle);
    bool found = id >= HL_TABLE_HANDLES && id - HL_TABLE_HANDLES < resources->table_count;
    return found ? &resources->tables[id - HL_TABLE_HANDLES] : NULL;
}
