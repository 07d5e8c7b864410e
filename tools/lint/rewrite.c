// SPDX-License-Identifier: Apache-2.0
// See rewrite.h. A copy by the rows of the schema: a table, then what its fields lead to, so that offsets lead forward
// as they must. The bytes are those of a model that was verified, so every offset and length in them holds.
#include "lint/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "model/flatbuffer.h"

enum { MAX_FIELDS = 64 };

struct copy {
    struct hl_flatbuffer in;
    const TfLiteModel *model;
    const struct hl_rewrite *edits;
    struct hl_text *out;
    int subgraph;       // which one is copied now
    bool *used_buffers; // by number
    uint32_t buffer_count;
    size_t *vtables; // positions of those that were written
    size_t vtable_count;
    const char *problem; // NULL: none so far
};

static size_t copy_table(struct copy *copy, enum hl_schema table, size_t from);

// ---- reading ------------------------------------------------------------------------------------

static uint32_t load(const struct copy *copy, size_t at, size_t bytes)
{
    uint32_t value = 0;
    memcpy(&value, copy->in.bytes + at, bytes);
    return value;
}

// Position of a field's own bytes, 0: absent.
static size_t field_at(const struct copy *copy, size_t table, int id)
{
    size_t vtable = table - (size_t)(int64_t)(int32_t)load(copy, table, 4), slot = 4 + 2 * (size_t)id;
    if (slot + 2 > load(copy, vtable, 2)) return 0;
    size_t step = load(copy, vtable + slot, 2);
    return step != 0 ? table + step : 0;
}

static size_t target_of(const struct copy *copy, size_t at)
{
    return at + load(copy, at, 4);
}

// ---- writing ------------------------------------------------------------------------------------

static void pad(struct copy *copy, size_t alignment, size_t phase)
{
    while (copy->out->length % alignment != phase) hl_text_add_bytes(copy->out, "", 1);
}

static void put(struct copy *copy, size_t at, const void *value, size_t bytes)
{
    memcpy(copy->out->data + at, value, bytes);
}

static void link_to(struct copy *copy, size_t at, size_t target)
{
    uint32_t offset = (uint32_t)(target - at);
    put(copy, at, &offset, sizeof offset);
}

// A table's fields that are there.
struct field {
    const struct hl_schema_row *row;
    size_t from, size, to; // to: from the table's start
};

// Reads them. A field that the schema lacks would be lost, which is a problem.
static int take_fields(struct copy *copy, enum hl_schema table, size_t from, struct field *fields)
{
    size_t vtable = from - (size_t)(int64_t)(int32_t)load(copy, from, 4);
    int count = 0, there = 0;
    for (size_t slot = 4; slot + 2 <= load(copy, vtable, 2); slot += 2) there += load(copy, vtable + slot, 2) != 0;
    for (const struct hl_schema_row *row = &hl_schema[table + 1];
         row->kind != HL_KIND_TABLE && row->kind != HL_KIND_UNION_TYPE && count < MAX_FIELDS; row++) {
        size_t at = field_at(copy, from, row->id);
        if (at == 0) continue;
        size_t size = row->kind == HL_KIND_SCALAR ? hl_scalar_size((enum hl_scalar)row->scalar) : 4;
        fields[count++] = (struct field){.row = row, .from = at, .size = size};
    }
    if (count != there) copy->problem = "has fields that this program does not know, which would be lost";
    return count;
}

// Places the fields, the large ones first. The size of the table.
static size_t lay_out(struct field *fields, int count)
{
    size_t end = 4;
    for (size_t size = 8; size > 0; size /= 2)
        for (int i = 0; i < count; i++) {
            if (fields[i].size != size) continue;
            end = (end + size - 1) / size * size;
            fields[i].to = end;
            end += size;
        }
    return end;
}

// Position of a vtable like this one, which is written where there is none yet.
static size_t put_vtable(struct copy *copy, const uint16_t *vtable)
{
    for (size_t i = copy->vtable_count; i-- > 0;)
        if (copy->out->length - copy->vtables[i] >= vtable[0] &&
            memcmp(copy->out->data + copy->vtables[i], vtable, vtable[0]) == 0)
            return copy->vtables[i];
    pad(copy, 2, 0);
    size_t at = copy->out->length;
    hl_text_add_bytes(copy->out, (const char *)vtable, vtable[0]);
    copy->vtables = hl_alloc_grow(copy->vtables, copy->vtable_count + 1, sizeof *copy->vtables);
    return copy->vtables[copy->vtable_count++] = at;
}

// A table with room for its fields; the scalars are filled.
static size_t put_table(struct copy *copy, struct field *fields, int count)
{
    uint16_t vtable[2 + MAX_FIELDS] = {4};
    size_t size = lay_out(fields, count);
    for (int i = 0; i < count; i++) {
        uint16_t end = (uint16_t)(4 + 2 * (fields[i].row->id + 1));
        if (end > vtable[0]) vtable[0] = end;
        vtable[2 + fields[i].row->id] = (uint16_t)fields[i].to;
    }
    vtable[1] = (uint16_t)size;
    size_t at_vtable = put_vtable(copy, vtable);
    pad(copy, 8, 0);
    size_t table = copy->out->length;
    int32_t back = (int32_t)((int64_t)table - (int64_t)at_vtable);
    hl_text_add_bytes(copy->out, (const char *)&back, sizeof back);
    while (copy->out->length < table + size) hl_text_add_bytes(copy->out, "", 1);
    for (int i = 0; i < count; i++)
        if (fields[i].row->kind == HL_KIND_SCALAR)
            put(copy, table + fields[i].to, copy->in.bytes + fields[i].from, fields[i].size);
    return table;
}

// ---- vectors ------------------------------------------------------------------------------------

// A string, or a vector of scalars. Bytes are aligned to 16, which data of buffers needs.
static size_t copy_vector(struct copy *copy, const struct hl_schema_row *row, size_t from)
{
    bool string = row->kind == HL_KIND_STRING;
    uint32_t count = load(copy, from, 4);
    size_t element = string ? 1 : hl_scalar_size((enum hl_scalar)row->scalar);
    size_t alignment = string ? 4 : element == 1 ? 16 : element < 4 ? 4 : element;
    pad(copy, alignment, alignment - 4);
    size_t at = copy->out->length;
    hl_text_add_bytes(copy->out, (const char *)copy->in.bytes + from, 4 + (size_t)count * element);
    if (string) hl_text_add_bytes(copy->out, "", 1);
    if (row != &hl_schema[HL_Operator_inputs] || copy->subgraph != 0) return at;
    for (uint32_t i = 0; i < count; i++) {
        int32_t tensor;
        memcpy(&tensor, copy->out->data + at + 4 + 4 * (size_t)i, sizeof tensor);
        if (tensor < 0) continue;
        while (copy->edits->replaced[tensor] != tensor) tensor = copy->edits->replaced[tensor];
        put(copy, at + 4 + 4 * (size_t)i, &tensor, sizeof tensor);
    }
    return at;
}

static bool is_left_out(const struct copy *copy, const struct hl_schema_row *row, uint32_t index)
{
    return row == &hl_schema[HL_SubGraph_operators] && copy->subgraph == 0 && copy->edits->removed[index];
}

static size_t copy_children(struct copy *copy, const struct hl_schema_row *row, size_t from)
{
    uint32_t count = load(copy, from, 4), kept = 0;
    for (uint32_t i = 0; i < count; i++) kept += !is_left_out(copy, row, i);
    pad(copy, 4, 0);
    size_t at = copy->out->length, slot = at + 4;
    hl_text_add_bytes(copy->out, (const char *)&kept, sizeof kept);
    for (uint32_t i = 0; i < kept; i++) hl_text_add_bytes(copy->out, "\0\0\0", 4);
    for (uint32_t i = 0; i < count && copy->problem == NULL; i++) {
        if (is_left_out(copy, row, i)) continue;
        if (row == &hl_schema[HL_Model_subgraphs]) copy->subgraph = (int)i;
        bool empty = row == &hl_schema[HL_Model_buffers] && i < copy->buffer_count && !copy->used_buffers[i];
        size_t child = empty ? put_table(copy, NULL, 0)
                             : copy_table(copy, (enum hl_schema)row->of, target_of(copy, from + 4 + 4 * (size_t)i));
        link_to(copy, slot, child);
        slot += 4;
    }
    return at;
}

// The table that a union's field leads to: the field before it says of which type.
static size_t copy_union(struct copy *copy, const struct hl_schema_row *row, size_t table, size_t from)
{
    size_t type_at = field_at(copy, table, row->id - 1);
    int member = type_at != 0 ? hl_schema_member(row->of, copy->in.bytes[type_at]) : -1;
    if (member >= 0) return copy_table(copy, (enum hl_schema)member, from);
    copy->problem = "has options of a type that this program does not know";
    return 0;
}

static size_t copy_table(struct copy *copy, enum hl_schema table, size_t from)
{
    struct field fields[MAX_FIELDS];
    int count = take_fields(copy, table, from, fields);
    // A file may lead to one table from many places; what grows without end is no model that anybody made.
    if (copy->out->length / 2 > copy->in.size + 65536) copy->problem = "becomes more than twice as large";
    if (copy->problem != NULL) return 0;
    size_t to = put_table(copy, fields, count);
    for (int i = 0; i < count && copy->problem == NULL; i++) {
        size_t at = to + fields[i].to, target = 0;
        const struct hl_schema_row *row = fields[i].row;
        if (row->kind == HL_KIND_SCALAR) continue;
        size_t source = target_of(copy, fields[i].from);
        switch ((enum hl_schema_kind)row->kind) {
        case HL_KIND_CHILD: target = copy_table(copy, (enum hl_schema)row->of, source); break;
        case HL_KIND_CHILDREN: target = copy_children(copy, row, source); break;
        case HL_KIND_UNION: target = copy_union(copy, row, from, source); break;
        default: target = copy_vector(copy, row, source); break;
        }
        link_to(copy, at, target);
    }
    return to;
}

// ---- what is used -------------------------------------------------------------------------------

static void mark(bool *used, int count, const int *tensors)
{
    for (int i = 0; i < count; i++)
        if (tensors[i] >= 0) used[tensors[i]] = true;
}

bool *hl_rewrite_used_tensors(const TfLiteModel *model, int subgraph, const struct hl_rewrite *edits)
{
    const struct hl_model_subgraph *graph = &model->subgraphs[subgraph];
    bool *used = hl_alloc((size_t)graph->tensor_count, sizeof *used);
    const struct hl_rewrite *changed = subgraph == 0 ? edits : NULL;
    mark(used, graph->input_count, graph->inputs);
    mark(used, graph->output_count, graph->outputs);
    for (int n = 0; n < graph->node_count; n++) {
        const struct hl_model_node *node = &graph->nodes[n];
        if (changed != NULL && changed->removed[n]) continue;
        mark(used, node->output_count, node->outputs);
        mark(used, node->intermediate_count, node->intermediates);
        mark(used, node->input_count, node->inputs);
        for (int i = 0; changed != NULL && i < node->input_count; i++) {
            int tensor = node->inputs[i];
            while (tensor >= 0 && changed->replaced[tensor] != tensor) tensor = changed->replaced[tensor];
            if (tensor >= 0) used[tensor] = true;
        }
    }
    for (int i = 0; i < graph->tensor_count; i++) {
        const struct hl_model_quantization *q = &graph->tensors[i].quantization;
        bool by_tensors = q->type != kTfLiteNoQuantization && q->type != kTfLiteAffineQuantization;
        if (by_tensors) mark(used, 2, (const int[]){q->scales_tensor, q->zero_points_tensor});
    }
    for (int s = 0; s < model->signature_count; s++) {
        const struct hl_model_signature *signature = &model->signatures[s];
        if (signature->subgraph != subgraph) continue;
        for (int i = 0; i < signature->input_count; i++) used[signature->inputs[i].tensor] = true;
        for (int i = 0; i < signature->output_count; i++) used[signature->outputs[i].tensor] = true;
    }
    return used;
}

static void use_buffer(struct copy *copy, int64_t number)
{
    if (number >= 0 && number < (int64_t)copy->buffer_count) copy->used_buffers[number] = true;
}

static void find_used_buffers(struct copy *copy, size_t root)
{
    struct hl_vector buffers, subgraphs, tensors, list;
    hl_read_vector(&copy->in, root, HL_Model_buffers, &buffers);
    copy->buffer_count = buffers.count;
    copy->used_buffers = hl_alloc(buffers.count, sizeof *copy->used_buffers);
    use_buffer(copy, 0);
    hl_read_vector(&copy->in, root, HL_Model_subgraphs, &subgraphs);
    for (uint32_t s = 0; s < subgraphs.count; s++) {
        bool *used = hl_rewrite_used_tensors(copy->model, (int)s, copy->edits);
        hl_read_vector(&copy->in, hl_vector_child(&copy->in, &subgraphs, s), HL_SubGraph_tensors, &tensors);
        for (uint32_t i = 0; i < tensors.count; i++)
            if (used[i])
                use_buffer(copy, hl_read_integer(&copy->in, hl_vector_child(&copy->in, &tensors, i), HL_Tensor_buffer));
        free(used);
    }
    hl_read_vector(&copy->in, root, HL_Model_metadata, &list);
    for (uint32_t i = 0; i < list.count; i++)
        use_buffer(copy, hl_read_integer(&copy->in, hl_vector_child(&copy->in, &list, i), HL_Metadata_buffer));
    hl_read_vector(&copy->in, root, HL_Model_metadata_buffer, &list);
    for (uint32_t i = 0; i < list.count; i++) use_buffer(copy, hl_vector_integer(&copy->in, &list, i));
}

// Data that lies behind the tables or in other files, by positions that a copy would have to change.
static const char *find_outside(const struct copy *copy, size_t root)
{
    struct hl_vector list;
    if (hl_read_vector(&copy->in, root, HL_Model_external_buffers, &list) && list.count > 0)
        return "has constants in other files";
    hl_read_vector(&copy->in, root, HL_Model_buffers, &list);
    for (uint32_t i = 0; i < list.count; i++)
        if (hl_read_integer(&copy->in, hl_vector_child(&copy->in, &list, i), HL_Buffer_offset) != 0)
            return "has constants behind its tables, as models above 2 GB do";
    for (int s = 0; s < copy->model->subgraph_count; s++) {
        const struct hl_model_subgraph *graph = &copy->model->subgraphs[s];
        if (graph->control_edge_count > 0) return "says in which order its nodes run, by their numbers";
    }
    return NULL;
}

// ---- files behind the model ---------------------------------------------------------------------

// Where a zip archive begins that is packed behind the model, the file's size where there is none. Its own positions
// count from the start of the file, so it has to stay where it is.
static size_t archive_start(const struct copy *copy)
{
    enum { END = 22, ENTRY = 46, MAX_COMMENT = 65535 };
    size_t size = copy->in.size, start = size;
    for (size_t back = END; back <= END + MAX_COMMENT && back <= size; back++) {
        size_t end = size - back;
        if (memcmp(copy->in.bytes + end, "PK\5\6", 4) != 0) continue;
        uint32_t entries = load(copy, end + 10, 2);
        size_t at = load(copy, end + 16, 4);
        for (uint32_t i = 0; i < entries && at < end && end - at >= ENTRY; i++) {
            if (memcmp(copy->in.bytes + at, "PK\1\2", 4) != 0) break;
            size_t local = load(copy, at + 42, 4);
            if (local < start) start = local;
            at += ENTRY + load(copy, at + 28, 2) + load(copy, at + 30, 2) + load(copy, at + 32, 2);
        }
        break;
    }
    return start;
}

static void add_archive(struct copy *copy)
{
    size_t start = archive_start(copy);
    if (start == copy->in.size) return;
    if (copy->out->length > start) {
        copy->problem = "has files packed behind it, and became too large to leave them in their place";
        return;
    }
    while (copy->out->length < start) hl_text_add_bytes(copy->out, "", 1);
    hl_text_add_bytes(copy->out, (const char *)copy->in.bytes + start, copy->in.size - start);
}

bool hl_rewrite_model(const TfLiteModel *model, const struct hl_rewrite *edits, struct hl_text *out,
                      struct hl_text *error)
{
    struct copy copy = {
        .in = {model->file_bytes, model->file_size},
        .model = model,
        .edits = edits,
        .out = out,
        .subgraph = -1,
    };
    size_t root = hl_flatbuffer_root(&copy.in);
    hl_text_add_bytes(out, (const char *)copy.in.bytes, 8); // the root's offset, and the identifier
    copy.problem = find_outside(&copy, root);
    if (copy.problem == NULL) {
        find_used_buffers(&copy, root);
        link_to(&copy, 0, copy_table(&copy, HL_Model, root));
    }
    if (copy.problem == NULL) add_archive(&copy);
    if (copy.problem == NULL && out->length > INT32_MAX) copy.problem = "is larger than a file of this format may be";
    if (copy.problem != NULL) hl_text_add(error, "%s", copy.problem);
    free(copy.used_buffers);
    free(copy.vtables);
    return copy.problem == NULL;
}
