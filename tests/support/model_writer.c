// SPDX-License-Identifier: Apache-2.0
// See model_writer.h. Every table field takes a slot of four bytes, which is enough for all that these tests write.
#include "support/model_writer.h"

#include <stdlib.h>
#include <string.h>

struct writer {
    unsigned char *bytes;
    size_t size, capacity;
};

static void put(struct writer *w, const void *bytes, size_t size)
{
    while (w->size + size > w->capacity) {
        w->capacity = w->capacity ? w->capacity * 2 : 4096;
        w->bytes = realloc(w->bytes, w->capacity);
        if (!w->bytes) abort();
    }
    if (size) memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

static void put_u16(struct writer *w, unsigned value)
{
    uint16_t word = (uint16_t)value;
    put(w, &word, sizeof word);
}

static void put_u32(struct writer *w, uint32_t value)
{
    put(w, &value, sizeof value);
}

static void pad_to(struct writer *w, size_t alignment, size_t rest)
{
    while (w->size % alignment != rest) put(w, "", 1);
}

// A field that is to hold an offset gets the position of its slot filled in when the child is placed here.
static void place(struct writer *w, size_t slot)
{
    uint32_t offset = (uint32_t)(w->size - slot);
    memcpy(w->bytes + slot, &offset, sizeof offset);
}

enum { MOST_FIELDS = 9 };

// present: bit i set where field i is there. Gives the position of field 0's slot; field i is 4 * i behind it, absent ones too.
static size_t put_table(struct writer *w, int fields, unsigned present, const uint32_t values[MOST_FIELDS])
{
    pad_to(w, 4, fields % 2 ? 2 : 0); // so that the table itself is aligned
    size_t vtable = w->size;
    put_u16(w, (unsigned)(4 + 2 * fields));
    put_u16(w, (unsigned)(4 + 4 * fields));
    for (int i = 0; i < fields; i++) put_u16(w, present >> i & 1 ? (unsigned)(4 + 4 * i) : 0);
    put_u32(w, (uint32_t)(w->size - vtable));
    size_t first = w->size;
    for (int i = 0; i < fields; i++) put_u32(w, values ? values[i] : 0);
    return first;
}

static void put_string(struct writer *w, size_t slot, const char *text)
{
    pad_to(w, 4, 0);
    place(w, slot);
    put_u32(w, (uint32_t)strlen(text));
    put(w, text, strlen(text) + 1);
    pad_to(w, 4, 0);
}

static void put_vector(struct writer *w, size_t slot, size_t count, const void *items, size_t item_size, size_t alignment)
{
    pad_to(w, alignment, alignment > 4 ? alignment - 4 : 0);
    place(w, slot);
    put_u32(w, (uint32_t)count);
    put(w, items, count * item_size);
    pad_to(w, 4, 0);
}

// A vector of tables: gives the position of the first entry; the tables are placed at them one by one.
static size_t put_table_list(struct writer *w, size_t slot, int count)
{
    pad_to(w, 4, 0);
    place(w, slot);
    put_u32(w, (uint32_t)count);
    size_t first = w->size;
    for (int i = 0; i < count; i++) put_u32(w, 0);
    return first;
}

// place() for a table: its vtable comes first, so the offset is known only when the table is written.
static size_t put_child(struct writer *w, size_t slot, int fields, unsigned present, const uint32_t *values)
{
    size_t first = put_table(w, fields, present, values);
    uint32_t offset = (uint32_t)(first - 4 - slot);
    memcpy(w->bytes + slot, &offset, sizeof offset);
    return first;
}

static void put_tensor(struct writer *w, size_t slot, const struct test_tensor *tensor, int buffer)
{
    bool quantised = tensor->scale != 0;
    uint32_t values[MOST_FIELDS] = {0, (uint32_t)tensor->type, (uint32_t)buffer, 0, 0, tensor->is_variable};
    unsigned present = (quantised ? 0x3fu : 0x2fu) | (tensor->has_signature ? 0x80u : 0u);
    size_t table = put_child(w, slot, 8, present, values);
    put_vector(w, table, (size_t)tensor->rank, tensor->dims, sizeof(int), 4);
    put_string(w, table + 12, tensor->name);
    if (tensor->has_signature) put_vector(w, table + 28, (size_t)tensor->rank, tensor->signature, sizeof(int), 4);
    if (!quantised) return;
    int64_t zero_point = tensor->zero_point;
    size_t quantisation = put_child(w, table + 16, 4, 0xcu, NULL);
    put_vector(w, quantisation + 8, 1, &tensor->scale, sizeof(float), 4);
    put_vector(w, quantisation + 12, 1, &zero_point, sizeof zero_point, 8);
}

static void put_node(struct writer *w, size_t slot, const struct test_node *node, int code)
{
    uint32_t values[MOST_FIELDS] = {(uint32_t)code};
    size_t table = put_child(w, slot, 6, node->options ? 0x27u : 7u, values);
    put_vector(w, table + 4, (size_t)node->input_count, node->inputs, sizeof(int), 4);
    put_vector(w, table + 8, (size_t)node->output_count, node->outputs, sizeof(int), 4);
    if (node->options) put_vector(w, table + 20, node->option_bytes, node->options, 1, 4);
}

static void put_code(struct writer *w, size_t slot, const struct test_node *node)
{
    uint32_t values[MOST_FIELDS] = {(uint32_t)(node->builtin < 127 ? node->builtin : 127), 0,
                                    (uint32_t)(node->version ? node->version : 1), (uint32_t)node->builtin};
    size_t table = put_child(w, slot, 4, node->custom ? 0xfu : 0xdu, values);
    if (node->custom) put_string(w, table + 4, node->custom);
}

static void put_subgraph(struct writer *w, size_t slot, const struct test_model *model, int first_code, int first_buffer)
{
    size_t table = put_child(w, slot, 5, model->name ? 0x1fu : 0xfu, NULL);
    put_vector(w, table + 4, (size_t)model->input_count, model->inputs, sizeof(int), 4);
    put_vector(w, table + 8, (size_t)model->output_count, model->outputs, sizeof(int), 4);
    size_t tensors = put_table_list(w, table, model->tensor_count);
    for (int i = 0; i < model->tensor_count; i++)
        put_tensor(w, tensors + 4 * (size_t)i, &model->tensors[i], model->tensors[i].data ? first_buffer + i : 0);
    size_t nodes = put_table_list(w, table + 12, model->node_count);
    for (int i = 0; i < model->node_count; i++) put_node(w, nodes + 4 * (size_t)i, &model->nodes[i], first_code + i);
    if (model->name) put_string(w, table + 16, model->name);
}

static void put_buffer(struct writer *w, size_t slot, const void *data, size_t bytes)
{
    size_t table = put_child(w, slot, 1, data ? 1u : 0u, NULL);
    if (data) put_vector(w, table, bytes, data, 1, 16);
}

static void put_signature_entries(struct writer *w, size_t slot, int count, const struct test_signature_entry *entries)
{
    size_t list = put_table_list(w, slot, count);
    for (int i = 0; i < count; i++) {
        uint32_t values[MOST_FIELDS] = {0, (uint32_t)entries[i].tensor};
        put_string(w, put_child(w, list + 4 * (size_t)i, 2, 3u, values), entries[i].name);
    }
}

static void put_signature(struct writer *w, size_t slot, const struct test_signature *signature)
{
    uint32_t values[MOST_FIELDS] = {0, 0, 0, 0, (uint32_t)signature->subgraph};
    size_t table = put_child(w, slot, 5, 0x17u, values);
    put_signature_entries(w, table, signature->input_count, signature->inputs);
    put_signature_entries(w, table + 4, signature->output_count, signature->outputs);
    put_string(w, table + 8, signature->key);
}

// Subgraph i of the file.
static const struct test_model *subgraph_at(const struct test_model *model, int i)
{
    return i == 0 ? model : &model->more[i - 1];
}

// Buffer 0 is empty, then come the tensors' in the order of subgraphs and tensors, then those of the metadata; each node has
// an operator code of its own.
unsigned char *test_model_write(const struct test_model *model, size_t *size)
{
    struct writer w = {0};
    int subgraph_count = 1 + model->more_count, code_count = 0, buffer_count = 1;
    for (int s = 0; s < subgraph_count; s++) {
        code_count += subgraph_at(model, s)->node_count;
        buffer_count += subgraph_at(model, s)->tensor_count;
    }
    put_u32(&w, 0); // the root's offset
    put(&w, "TFL3", 4);
    uint32_t values[MOST_FIELDS] = {3};
    unsigned present = 0x17u | (model->metadata_count ? 0x40u : 0u) | (model->signature_count ? 0x80u : 0u);
    size_t table = put_child(&w, 0, 8, present, values);

    size_t codes = put_table_list(&w, table + 4, code_count);
    for (int s = 0; s < subgraph_count; s++)
        for (int i = 0; i < subgraph_at(model, s)->node_count; i++, codes += 4)
            put_code(&w, codes, &subgraph_at(model, s)->nodes[i]);

    size_t subgraphs = put_table_list(&w, table + 8, subgraph_count);
    for (int s = 0, code = 0, buffer = 1; s < subgraph_count; s++) {
        put_subgraph(&w, subgraphs + 4 * (size_t)s, subgraph_at(model, s), code, buffer);
        code += subgraph_at(model, s)->node_count;
        buffer += subgraph_at(model, s)->tensor_count;
    }

    size_t buffers = put_table_list(&w, table + 16, buffer_count + model->metadata_count);
    put_buffer(&w, buffers, NULL, 0);
    for (int s = 0; s < subgraph_count; s++)
        for (int i = 0; i < subgraph_at(model, s)->tensor_count; i++)
            put_buffer(&w, buffers += 4, subgraph_at(model, s)->tensors[i].data, subgraph_at(model, s)->tensors[i].bytes);
    for (int i = 0; i < model->metadata_count; i++)
        put_buffer(&w, buffers += 4, model->metadata[i].data, model->metadata[i].bytes);

    size_t metadata = model->metadata_count ? put_table_list(&w, table + 24, model->metadata_count) : 0;
    for (int i = 0; i < model->metadata_count; i++) {
        uint32_t fields[MOST_FIELDS] = {0, (uint32_t)(buffer_count + i)};
        put_string(&w, put_child(&w, metadata + 4 * (size_t)i, 2, 3u, fields), model->metadata[i].name);
    }
    size_t signatures = model->signature_count ? put_table_list(&w, table + 28, model->signature_count) : 0;
    for (int i = 0; i < model->signature_count; i++)
        put_signature(&w, signatures + 4 * (size_t)i, &model->signatures[i]);
    *size = w.size;
    return w.bytes;
}
