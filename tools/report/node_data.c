// SPDX-License-Identifier: Apache-2.0
// In: a report's JSON. Out: what Model Explorer lays over its graph of the same file: for each subgraph a value for
// each node, and colors. Nodes are named there by a tensor that they make, or by their number as its adapter gives it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "alloc.h"
#include "report/report.h"

static const cJSON *member(const cJSON *json, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(json, name);
}

// As Model Explorer names the graph of a subgraph.
static void graph_name(char *name, size_t size, const cJSON *subgraph, int index)
{
    const cJSON *given = member(subgraph, "name");
    if (cJSON_IsString(given) && *given->valuestring != '\0')
        snprintf(name, size, "%s", given->valuestring);
    else if (index == 0)
        snprintf(name, size, "main");
    else
        snprintf(name, size, "subgraph_%d", index);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The name of each node's first output, NULL where it has none, or where it is also another's: Model Explorer would not
// know which. The caller frees.
static const char **output_names(const cJSON *subgraph, int count)
{
    const cJSON *tensor, *node;
    size_t tensor_count = (size_t)cJSON_GetArraySize(member(subgraph, "tensors")), i = 0;
    const char **all = hl_alloc(tensor_count + 1, sizeof *all), **names = hl_alloc((size_t)count + 1, sizeof *names);
    cJSON_ArrayForEach(tensor, member(subgraph, "tensors")) all[i++] = member(tensor, "name")->valuestring;
    i = 0;
    cJSON_ArrayForEach(node, member(subgraph, "nodes"))
    {
        const cJSON *output = cJSON_GetArrayItem(member(node, "outputs"), 0);
        names[i++] = output != NULL && output->valueint >= 0 ? all[output->valueint] : NULL;
    }
    qsort(all, tensor_count, sizeof *all, compare_names);
    for (int n = 0; n < count; n++) {
        if (names[n] == NULL) continue;
        const char **found = bsearch(&names[n], all, tensor_count, sizeof *all, compare_names);
        bool twice = (found > all && strcmp(found[-1], names[n]) == 0) ||
                     (found + 1 < all + tensor_count && strcmp(found[1], names[n]) == 0);
        if (twice || *names[n] == '\0') names[n] = NULL;
    }
    free(all);
    return names;
}

// The object for a node's value.
static cJSON *add_result(cJSON *results, const char *const *names, int node)
{
    char number[16];
    snprintf(number, sizeof number, "%d", node);
    return cJSON_AddObjectToObject(results, names[node] != NULL ? names[node] : number);
}

static void add_times(cJSON *results, const char *const *names, int count, const cJSON *rows)
{
    double *spent = hl_alloc((size_t)count + 1, sizeof *spent);
    for (int i = 0; i < count; i++) spent[i] = -1;
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        int node = member(row, "node")->valueint; // of a delegated part as a whole: one more than there are
        if (node < 0 || node >= count) continue;
        spent[node] = (spent[node] < 0 ? 0 : spent[node]) + member(row, "ns")->valuedouble;
    }
    for (int i = 0; i < count; i++)
        if (spent[i] >= 0) cJSON_AddNumberToObject(add_result(results, names, i), "value", spent[i] / 1e3);
    free(spent);
}

static void add_places(cJSON *results, const char *const *names, int count, const cJSON *rows)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        int node = member(row, "node")->valueint;
        const char *where = member(row, "where")->valuestring;
        if (node < 0 || node >= count) continue;
        cJSON *result = add_result(results, names, node);
        cJSON_AddStringToObject(result, "value", where);
        cJSON_AddStringToObject(result, "bgColor", strcmp(where, "CPU") == 0 ? "#f4c9a8" : "#b5d5f0");
    }
}

static void add_stop(cJSON *gradient, double stop, const char *color)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "stop", stop);
    cJSON_AddStringToObject(item, "bgColor", color);
    cJSON_AddItemToArray(gradient, item);
}

// One subgraph, where anything is known of it.
static void add_graph(cJSON *data, const cJSON *json, const cJSON *subgraph, int index)
{
    const cJSON *times = index == 0 ? member(member(json, "times"), "nodes") : NULL,
                *places = cJSON_GetArrayItem(member(member(json, "placement"), "subgraphs"), index);
    if (times == NULL && places == NULL) return;
    char name[256];
    graph_name(name, sizeof name, subgraph, index);
    int count = cJSON_GetArraySize(member(subgraph, "nodes"));
    const char **names = output_names(subgraph, count);
    cJSON *graph = cJSON_AddObjectToObject(data, name), *results;
    cJSON_AddStringToObject(graph, "name", times != NULL ? "Halite: microseconds" : "Halite: place");
    results = cJSON_AddObjectToObject(graph, "results");
    if (times != NULL) {
        cJSON *gradient = cJSON_AddArrayToObject(graph, "gradient");
        add_times(results, names, count, times);
        add_stop(gradient, 0, "#ffffff");
        add_stop(gradient, 1, "#e5533d");
    } else {
        add_places(results, names, count, places);
    }
    free(names);
}

cJSON *hl_report_node_data(const cJSON *json)
{
    cJSON *data = cJSON_CreateObject();
    const cJSON *subgraph;
    int index = 0;
    cJSON_ArrayForEach(subgraph, member(json, "subgraphs")) add_graph(data, json, subgraph, index++);
    return data;
}
