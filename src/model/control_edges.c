// SPDX-License-Identifier: Apache-2.0
// Which nodes must run after which others although no tensor says so: the metadata "model_control_dependencies", which
// converters write for operators with side effects. In: the metadata's bytes. Out: edges for each subgraph.
//
// The bytes are varints (seven bits each, the lowest first): the version 1, the number of subgraphs, and for each of
// them the number of edges and the two nodes of each edge. Nodes are signed, with the sign in the lowest bit.
#include <string.h>

#include "model/loader.h"

struct reader {
    const uint8_t *at, *end;
    bool failed;
};

static uint32_t read_number(struct reader *reader)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 35 && reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128) && value <= UINT32_MAX) return (uint32_t)value;
    }
    reader->failed = true;
    return 0;
}

// -1 for negative numbers, which name no node.
static int read_node(struct reader *reader)
{
    uint32_t value = read_number(reader);
    return value % 2 ? -1 : (int)(value / 2);
}

// The order of the file is the order of execution, so an edge that leads backwards cannot be kept.
static bool read_edges(struct hl_loader *l, struct reader *reader, struct hl_model_subgraph *subgraph)
{
    uint32_t count = read_number(reader);
    if (count > (size_t)(reader->end - reader->at) / 2) return false; // a byte for each node at least
    struct hl_model_edge *edges = hl_load_array(l, count, sizeof *edges);
    if (!edges) return false;
    for (uint32_t i = 0; i < count; i++) {
        edges[i].from = read_node(reader);
        edges[i].to = read_node(reader);
        if (edges[i].from < 0 || edges[i].from >= edges[i].to || edges[i].to >= subgraph->node_count) return false;
    }
    subgraph->control_edges = edges;
    subgraph->control_edge_count = (int)count;
    return true;
}

static bool read_all(struct hl_loader *l, struct reader *reader, struct hl_model_subgraph *subgraphs, int count)
{
    if (read_number(reader) != 1 || read_number(reader) != (uint32_t)count) return false;
    for (int i = 0; i < count; i++)
        if (!read_edges(l, reader, &subgraphs[i])) return false;
    return !reader->failed && reader->at == reader->end;
}

bool hl_load_control_edges(struct hl_loader *l, struct hl_model_subgraph *subgraphs)
{
    const struct TfLiteModel *model = l->model;
    for (int i = 0; i < model->metadata_count; i++) {
        const struct hl_model_metadata *metadata = &model->metadata[i];
        if (strcmp(metadata->name, "model_control_dependencies") != 0) continue;
        if (!hl_load_work(l, metadata->bytes)) return false;
        const uint8_t *bytes = (const uint8_t *)metadata->data;
        struct reader reader = {.at = bytes, .end = bytes + metadata->bytes};
        if (read_all(l, &reader, subgraphs, model->subgraph_count)) return true;
        if (l->exhausted) return false;
        for (int s = 0; s < model->subgraph_count; s++) subgraphs[s].control_edges = NULL;
        hl_report(l->reporter, "the metadata model_control_dependencies is broken near byte %zu of %zu and not used",
                  (size_t)(reader.at - bytes), metadata->bytes);
        return true; // nodes with side effects keep their order
    }
    return true;
}
