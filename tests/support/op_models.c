// SPDX-License-Identifier: Apache-2.0
// See op_models.h. A form's text is read word by word while its model is written.
#include "support/op_models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "support/flex_map.h"

enum { CUSTOM_CODE = 32, MOST_CODES = 8, MOST_DIMS = 5 };

static const struct form {
    const char *ops, *nodes, *options;
} forms[] = {
#define FORM(ops, nodes, options) {ops, nodes, options},
#include "support/op_forms.def"
#undef FORM
};

static const struct op {
    const char *name;
    int code, version, options;
} ops[] = {
#define HL_NONE (-1)
#define OP(name, code, first, last, options, symbol, file) {#name, code, last, HL_##options},
#define GAP(name, code, first, last, options)
#define CUSTOM(name, symbol, file) {name, CUSTOM_CODE, 1, HL_NONE},
#include "abi/operators.def"
#undef OP
#undef GAP
#undef CUSTOM
};

enum { F32 = 0, F16 = 1, I32 = 2, U8 = 3, I64 = 4, STRING = 5, BOOL = 6, I16 = 7, I8 = 9, F64 = 10, BF16 = 18 };
static const struct type {
    const char *name;
    int code, bits; // the schema's code
    bool quantized, usual;
} types[] = {
    {"f32", F32, 32, false, true},   {"f16", F16, 16, false, false},  {"bf16", BF16, 16, false, false},
    {"f64", F64, 64, false, false},  {"i8", I8, 8, true, true},       {"u8", U8, 8, true, false},
    {"i16", I16, 16, true, true},    {"i4", 17, 4, true, false},      {"u4", 20, 4, true, false},
    {"i2", 19, 2, true, false},      {"i8", I8, 8, false, false},     {"u8", U8, 8, false, false},
    {"i16", I16, 16, false, false},  {"u16", 16, 16, false, false},   {"i32", I32, 32, false, true},
    {"i32", I32, 32, true, false},   {"u32", 15, 32, false, false},   {"i64", I64, 64, false, true},
    {"u64", 12, 64, false, false},   {"bool", BOOL, 8, false, true},  {"string", STRING, 0, false, true},
    {"c64", 8, 64, false, true},     {"c128", 11, 128, false, false}, {"f8e4m3", 21, 8, false, false},
    {"f8e5m2", 22, 8, false, false},
};
enum { TYPES = sizeof types / sizeof *types };
static const struct type resource = {"resource", 13, 0, false, false};

static const struct type *type_of_code(int code, bool quantized)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].code == code && types[i].quantized == quantized) return &types[i];
    return NULL;
}

// ---- words --------------------------------------------------------------------------------------

struct writer {
    struct op_model m;
    const struct form *form;
    const struct op *op;
    const struct type *first, *second; // T, and W or Y
    size_t root, codes[MOST_CODES], buffers[OP_MODEL_TENSORS + 2];
    const struct op *used[MOST_CODES];
    int code_count, resource;
    int given[OP_MODEL_TENSORS], given_count, results[OP_MODEL_TENSORS], result_count;
    int like_rank, like[MOST_DIMS]; // of the node's first input: what its outputs declare
    int most_tensors;
};

// What a word of a form says of a tensor.
struct word {
    const struct type *type;
    char letter, scale; // p, q, t, l or 0
    bool ones, variable, sparse, shaped;
    int rank, dims[MOST_DIMS], number_count, numbers[OP_MODEL_NUMBERS];
    int channels; // scales, 0: one
    int times;
};

static int read_numbers(const char **text, int *numbers, int most)
{
    int count = 0;
    char *end;
    do {
        int number = (int)strtol(*text, &end, 10);
        if (end == *text || count == most) abort(); // the form is wrong
        numbers[count++] = number;
        *text = end + (*end == ',');
    } while (end[0] == ',');
    return count;
}

static const struct type *type_of_letter(const struct writer *w, char letter)
{
    const struct type *t = w->first;
    switch (letter) {
    case 'T': return t;
    case 'W':
    case 'Y': return w->second;
    case 'B': return !t->quantized ? type_of_code(F32, false) : type_of_code(t->code == I16 ? I64 : I32, false);
    case 'S': return t->code == I8 ? type_of_code(I16, true) : t->code == U8 ? type_of_code(I16, true) : t;
    case 'f': return type_of_code(F32, false);
    case 'h': return type_of_code(I16, true);
    case 'i': return type_of_code(I32, false);
    case 'l': return type_of_code(I64, false);
    case 'u': return type_of_code(U8, false);
    case 'U': return type_of_code(12, false);
    case 'b': return type_of_code(BOOL, false);
    case 'c': return type_of_code(8, false);
    case 's': return type_of_code(STRING, false);
    case 'r': return &resource;
    default: abort();
    }
}

static struct word read_word(const struct writer *w, const char *text)
{
    struct word word = {.letter = *text, .times = 1};
    if (*text != '-') word.type = type_of_letter(w, *text);
    for (text++; *text && *text != ' ';) {
        switch (*text++) {
        case '[':
            word.rank = read_numbers(&text, word.dims, MOST_DIMS);
            word.shaped = true;
            text++;
            break;
        case '=': word.number_count = read_numbers(&text, word.numbers, OP_MODEL_NUMBERS); break;
        case '*': word.times = (int)strtol(text, (char **)&text, 10); break;
        case '/': word.channels = (int)strtol(text, (char **)&text, 10); break;
        case '#': word.ones = true; break;
        case '!': word.variable = true; break;
        case '%': word.sparse = true; break;
        case '@': word.scale = *text++; break;
        default: abort();
        }
    }
    return word;
}

// ---- tensors ------------------------------------------------------------------------------------

static void write_quantization(struct writer *w, const struct word *word, size_t tensor)
{
    static const struct {
        char scale;
        float narrow, wide; // of 8 and 16 bits
        int zero_i8, zero_u8, zero_i16;
    } known[] = {{0, 0.5f, 0.5f, 0, 0, 0},
                 {'p', 1 / 256.0f, 1 / 32768.0f, -128, 0, 0},
                 {'q', 1 / 256.0f, 1 / 65536.0f, -128, 0, -32768},
                 {'t', 1 / 128.0f, 1 / 32768.0f, 0, 128, 0},
                 {'l', 16 / 256.0f, 16 / 32768.0f, 127, 255, 0}};
    int code = word->type->code, row = 0, count = word->channels ? word->channels : 1;
    while (known[row].scale != word->scale) row++;
    float scales[OP_MODEL_NUMBERS], scale = code == I16 ? known[row].wide : known[row].narrow;
    int64_t zeros[OP_MODEL_NUMBERS];
    if (word->letter == 'B') scale = 0.25f;       // input's times weights'
    if (word->letter == 'S') scale = 1 / 2048.0f; // a power of two, for cells
    for (int i = 0; i < count; i++) {
        scales[i] = scale;
        zeros[i] = code == I8    ? known[row].zero_i8
                   : code == U8  ? known[row].zero_u8
                   : code == I16 ? known[row].zero_i16
                                 : 0;
    }
    size_t q = file_child(&w->m.file, tensor, HL_Tensor_quantization, HL_QuantizationParameters);
    file_set_vector(&w->m.file, q, HL_QuantizationParameters_scale, scales, (size_t)count);
    file_set_vector(&w->m.file, q, HL_QuantizationParameters_zero_point, zeros, (size_t)count);
    int axis = 0;
    while (word->channels && axis < word->rank - 1 && word->dims[axis] != word->channels) axis++;
    file_set(&w->m.file, q, HL_QuantizationParameters_quantized_dimension, axis);
}

static void write_sparsity(struct writer *w, const struct word *word, size_t tensor)
{
    size_t levels[MOST_DIMS];
    size_t sparsity = file_child(&w->m.file, tensor, HL_Tensor_sparsity, HL_SparsityParameters);
    const int order[MOST_DIMS] = {0, 1, 2, 3, 4};
    file_set_vector(&w->m.file, sparsity, HL_SparsityParameters_traversal_order, order, (size_t)word->rank);
    file_children(&w->m.file, sparsity, HL_SparsityParameters_dim_metadata, word->rank, levels);
    for (int i = 0; i < word->rank; i++)
        file_set(&w->m.file, levels[i], HL_DimensionMetadata_dense_size, word->dims[i]);
}

// A one of the type, little-endian.
static uint64_t one_of(const struct type *type)
{
    switch (type->code) {
    case F32: return 0x3f800000;
    case F16: return 0x3c00;
    case BF16: return 0x3f80;
    case F64: return 0x3ff0000000000000;
    default: return 1;
    }
}

static int count_of(const struct word *word)
{
    int count = 1;
    for (int i = 0; i < word->rank; i++) count *= word->dims[i];
    return count;
}

// Constant numbers, ones, or, as strings are always, empty strings.
static void write_constant(struct writer *w, const struct word *word, int number)
{
    struct op_model *m = &w->m;
    size_t table = w->buffers[number + 1];
    int count = count_of(word);
    file_set(&m->file, m->tensors[number], HL_Tensor_buffer, number + 1);
    if (word->type->code == STRING) {
        size_t data = file_set_vector(&m->file, table, HL_Buffer_data, NULL, 4 * (size_t)(count + 2));
        file_poke_u32(&m->file, data, (uint32_t)count);
        for (int i = 0; i <= count; i++) file_poke_u32(&m->file, data + 4 * (size_t)(i + 1), 4 * (uint32_t)(count + 2));
    } else if (word->number_count) {
        size_t size = (size_t)word->type->bits / 8;
        size_t data = file_set_vector(&m->file, table, HL_Buffer_data, NULL, size * (size_t)count);
        for (int i = 0; i < count; i++)
            file_poke(&m->file, data + size * (size_t)i, &(int64_t){word->numbers[i]}, size);
        m->constants[number] = size == 4 ? data : 0;
        m->constant_counts[number] = count;
    } else {
        size_t bits = (size_t)word->type->bits, bytes = ((size_t)count * bits + 7) / 8;
        size_t data = file_set_vector(&m->file, table, HL_Buffer_data, NULL, bytes);
        uint64_t one = bits < 8 ? 0x11 : one_of(word->type);
        for (size_t at = 0, step = bits < 8 ? 1 : bits / 8; at < bytes; at += step)
            file_poke(&m->file, data + at, &one, step < 8 ? step : 8);
    }
}

static int write_tensor(struct writer *w, const struct word *word)
{
    struct op_model *m = &w->m;
    int number = m->tensor_count++;
    size_t tensor = m->tensors[number];
    file_set_vector(&m->file, tensor, HL_Tensor_shape, word->dims, (size_t)word->rank);
    file_set(&m->file, tensor, HL_Tensor_type, word->type->code);
    bool scaled = word->type->quantized || (word->letter == 'B' && w->first->quantized);
    if (scaled) write_quantization(w, word, tensor);
    if (word->sparse) write_sparsity(w, word, tensor);
    if (word->variable) file_set(&m->file, tensor, HL_Tensor_is_variable, 1);
    return number;
}

// Its number; -1: absent. An input that is neither constant nor a variable is the graph's.
static int write_input(struct writer *w, const struct word *word)
{
    if (!word->type) return -1;
    if (word->type == &resource) return w->resource;
    int number = write_tensor(w, word);
    if (word->ones || word->number_count || (word->type->code == STRING && !word->variable))
        write_constant(w, word, number);
    else if (!word->variable)
        w->given[w->given_count++] = number;
    return number;
}

static int write_output(struct writer *w, struct word *word)
{
    if (!word->shaped) {
        word->rank = w->like_rank;
        memcpy(word->dims, w->like, sizeof w->like);
    }
    int number = write_tensor(w, word);
    if (word->type == &resource) w->resource = number;
    w->results[w->result_count++] = number;
    return number;
}

// ---- options ------------------------------------------------------------------------------------

// The text behind "name=" among a form's options, NULL where there is none.
static const char *find_option(const struct form *form, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = form->options; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, length) == 0 && at[length] == '=') return at + length + 1;
    return NULL;
}

static bool is_field(int row)
{
    return hl_schema[row].kind != HL_KIND_TABLE && hl_schema[row].kind != HL_KIND_UNION_TYPE;
}

static void set_option(struct writer *w, size_t table, int field, const char *text)
{
    const struct hl_schema_row *row = &hl_schema[field];
    int numbers[OP_MODEL_NUMBERS], count;
    if (row->kind == HL_KIND_STRING) {
        if (text) file_set_string(&w->m.file, table, (enum hl_schema)field, "a");
    } else if (row->kind == HL_KIND_SCALAR && text && (*text == 'T' || *text == 'Y')) {
        file_set(&w->m.file, table, (enum hl_schema)field, type_of_letter(w, *text)->code);
    } else if (row->kind == HL_KIND_SCALAR) {
        int value = text ? (int)strtol(text, NULL, 10) : !strstr(hl_schema_name(field), "activation");
        if (row->scalar == HL_SCALAR_F32)
            file_set_float(&w->m.file, table, (enum hl_schema)field, (float)value);
        else
            file_set(&w->m.file, table, (enum hl_schema)field, value);
    } else if (row->kind == HL_KIND_VECTOR && text) {
        count = read_numbers(&text, numbers, OP_MODEL_NUMBERS);
        int64_t wide[OP_MODEL_NUMBERS];
        float floats[OP_MODEL_NUMBERS];
        for (int i = 0; i < count; i++) wide[i] = numbers[i], floats[i] = (float)numbers[i];
        const void *data = row->scalar == HL_SCALAR_F32   ? floats
                           : row->scalar == HL_SCALAR_I64 ? (void *)wide
                                                          : numbers;
        file_set_vector(&w->m.file, table, (enum hl_schema)field, data, (size_t)count);
    }
}

static size_t write_options(struct writer *w, size_t node, int table)
{
    static const struct {
        int of;
        enum hl_schema type, value;
    } unions[] = {{HL_BuiltinOptions, HL_Operator_builtin_options_type, HL_Operator_builtin_options},
                  {HL_BuiltinOptions2, HL_Operator_builtin_options_2_type, HL_Operator_builtin_options_2}};
    for (int u = 0; u < 2; u++)
        for (unsigned type = 1; hl_schema_member(unions[u].of, type) >= 0; type++) {
            if (hl_schema_member(unions[u].of, type) != table) continue;
            file_set(&w->m.file, node, unions[u].type, type);
            size_t options = file_child(&w->m.file, node, unions[u].value, (enum hl_schema)table);
            for (int field = table + 1; is_field(field); field++)
                set_option(w, options, field, find_option(w->form, hl_schema_name(field)));
            return options;
        }
    return 0;
}

static void write_custom_options(struct writer *w, size_t node)
{
    int numbers[OP_MODEL_NUMBERS];
    const char *bytes = find_option(w->form, "bytes");
    if (bytes) {
        size_t count = (size_t)read_numbers(&bytes, numbers, OP_MODEL_NUMBERS);
        file_set_vector(&w->m.file, node, HL_Operator_custom_options, numbers, count * sizeof *numbers);
    } else if (*w->form->options) {
        unsigned char map[FLEX_MAP_BYTES];
        size_t size = flex_map_write(w->form->options, map);
        file_set_vector(&w->m.file, node, HL_Operator_custom_options, map, size);
    }
}

// ---- nodes --------------------------------------------------------------------------------------

// Of the operator named by a word, "?" for the model's own.
static const struct op *find_op(const struct writer *w, const char *word)
{
    size_t length = strcspn(word, " ");
    if (*word == '?') return w->op;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strlen(ops[i].name) == length && memcmp(ops[i].name, word, length) == 0) return &ops[i];
    abort();
}

static int use_code(struct writer *w, const struct op *op)
{
    for (int i = 0; i < w->code_count; i++)
        if (w->used[i] == op) return i;
    size_t code = w->codes[w->code_count];
    file_set(&w->m.file, code, HL_OperatorCode_deprecated_builtin_code, op->code < 127 ? op->code : 127);
    file_set(&w->m.file, code, HL_OperatorCode_builtin_code, op->code);
    const char *version = op == w->op ? find_option(w->form, "version") : NULL;
    file_set(&w->m.file, code, HL_OperatorCode_version, version ? strtol(version, NULL, 10) : op->version);
    if (op->code == CUSTOM_CODE) file_set_string(&w->m.file, code, HL_OperatorCode_custom_code, op->name);
    w->used[w->code_count] = op;
    return w->code_count++;
}

static const char *next_word(const char *at)
{
    at += strcspn(at, " ");
    return at + (*at == ' ');
}

// Writes the node whose words start here; the words behind it.
static const char *write_node(struct writer *w, size_t node, const struct op *op, const char *at)
{
    int lists[3][OP_MODEL_TENSORS], counts[3] = {0}, list = 0; // inputs, outputs, intermediates
    w->like_rank = 0;
    for (; *at && *at != ';'; at = next_word(at)) {
        if (*at == '>' || *at == '&') {
            list++;
            continue;
        }
        struct word word = read_word(w, at);
        if (list == 0 && counts[0] == 0) {
            w->like_rank = word.rank;
            memcpy(w->like, word.dims, sizeof w->like);
        }
        for (int i = 0; i < word.times; i++)
            lists[list][counts[list]++] = list == 0   ? write_input(w, &word)
                                          : list == 1 ? write_output(w, &word)
                                                      : write_tensor(w, &word);
    }
    file_set(&w->m.file, node, HL_Operator_opcode_index, use_code(w, op));
    file_set_vector(&w->m.file, node, HL_Operator_inputs, lists[0], (size_t)counts[0]);
    file_set_vector(&w->m.file, node, HL_Operator_outputs, lists[1], (size_t)counts[1]);
    if (counts[2]) file_set_vector(&w->m.file, node, HL_Operator_intermediates, lists[2], (size_t)counts[2]);
    size_t options = op->options >= 0 ? write_options(w, node, op->options) : 0;
    if (op->code == CUSTOM_CODE) write_custom_options(w, node);
    if (op == w->op) {
        w->m.node = node;
        w->m.input_count = counts[0];
        memcpy(w->m.inputs, lists[0], (size_t)counts[0] * sizeof(int));
        w->m.output = counts[1] ? lists[1][0] : -1;
        w->m.table = op->options;
        w->m.options = options;
    }
    return *at ? next_word(at) : at;
}

// Those that the words of all nodes stand for.
static int count_tensors(const struct writer *w)
{
    int count = 0;
    for (const char *at = w->form->nodes; *at; at = next_word(at))
        if (at[1] == 0 || strchr(" [=*#!@", at[1])) // no operator's name
            if (strchr(">&;?-", *at) == NULL) count += read_word(w, at).times;
    return count;
}

static void write_main(struct writer *w, size_t graph)
{
    struct op_model *m = &w->m;
    size_t nodes[3];
    int count = 1;
    for (const char *at = w->form->nodes; *at; at++) count += *at == ';';
    file_children(&m->file, graph, HL_SubGraph_tensors, w->most_tensors, m->tensors);
    file_children(&m->file, graph, HL_SubGraph_operators, count, nodes);
    const char *at = w->form->nodes;
    for (int i = 0; i < count; i++) {
        const struct op *op = count > 1 ? find_op(w, at) : w->op;
        if (count > 1) at = next_word(at);
        at = write_node(w, nodes[i], op, at);
    }
    file_set_vector(&m->file, graph, HL_SubGraph_inputs, w->given, (size_t)w->given_count);
    file_set_vector(&m->file, graph, HL_SubGraph_outputs, w->results, (size_t)w->result_count);
}

// A subgraph that the node may call: so many tensors of the tried type, and perhaps a bool behind them.
static void write_callee(struct writer *w, size_t graph, int rank, int tensors, int inputs, int output,
                         const char *body)
{
    struct op_model *m = &w->m;
    size_t tables[3];
    int numbers[] = {0, 1};
    file_children(&m->file, graph, HL_SubGraph_tensors, tensors, tables);
    for (int i = 0; i < tensors; i++) {
        file_set_vector(&m->file, tables[i], HL_Tensor_shape, &(int){2}, (size_t)rank);
        file_set(&m->file, tables[i], HL_Tensor_type, i < inputs || body ? w->first->code : BOOL);
        if (i < inputs || body) continue;
        file_set(&m->file, tables[i], HL_Tensor_buffer, w->most_tensors + 1);
        file_set_vector(&m->file, tables[i], HL_Tensor_shape, NULL, 0);
    }
    file_set_vector(&m->file, graph, HL_SubGraph_inputs, numbers, (size_t)inputs);
    file_set_vector(&m->file, graph, HL_SubGraph_outputs, &output, tensors > 0);
    if (!body) return;
    size_t node;
    file_children(&m->file, graph, HL_SubGraph_operators, 1, &node);
    file_set(&m->file, node, HL_Operator_opcode_index, use_code(w, find_op(w, body)));
    file_set_vector(&m->file, node, HL_Operator_inputs, numbers, 2);
    file_set_vector(&m->file, node, HL_Operator_outputs, &output, 1);
}

struct op_model op_model_make(const struct op_choice *choice)
{
    struct writer w = {
        .form = &forms[choice->form],
        .op = &ops[choice->op],
        .first = &types[choice->type],
        .second = choice->second >= 0 ? &types[choice->second] : NULL,
        .resource = -1,
    };
    struct model_file *f = &w.m.file;
    size_t graphs[5];
    w.root = file_begin(f);
    file_children(f, w.root, HL_Model_operator_codes, MOST_CODES, w.codes);
    w.most_tensors = count_tensors(&w);
    file_children(f, w.root, HL_Model_buffers, w.most_tensors + 2, w.buffers);
    file_children(f, w.root, HL_Model_subgraphs, 5, graphs);
    write_main(&w, graphs[0]);
    const char *body = find_option(w.form, "body");
    file_set_vector(f, w.buffers[w.most_tensors + 1], HL_Buffer_data, "", 1); // false
    write_callee(&w, graphs[1], 1, 1, 1, 0, NULL);
    write_callee(&w, graphs[2], 1, 2, 1, 1, NULL);
    write_callee(&w, graphs[3], 0, body ? 3 : 2, 2, body ? 2 : 1, body);
    write_callee(&w, graphs[4], 0, 0, 0, 0, NULL);
    return w.m;
}

// ---- choices ------------------------------------------------------------------------------------

static bool is_for(const struct form *form, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = form->ops; (at = strstr(at, name)) != NULL; at += length)
        if ((at == form->ops || at[-1] == ' ') && (at[length] == 0 || at[length] == ' ')) return true;
    return false;
}

static bool has_second(const struct form *form)
{
    return strpbrk(form->nodes, "WY") || strstr(form->options, "=Y"); // no operator in a form has these letters
}

bool op_models_next(struct op_choice *c, bool all)
{
    const int most_forms = (int)(sizeof forms / sizeof *forms);
    bool fits = true;
    if (c->op < 0) {
        *c = (struct op_choice){0, -1, TYPES, -1};
        fits = false;
    }
    do {
        if (fits && has_second(&forms[c->form]) && c->second + 1 < TYPES) {
            c->second++;
        } else if (fits && c->type + 1 < TYPES) {
            c->type++;
            c->second = has_second(&forms[c->form]) ? 0 : -1;
        } else {
            c->type = c->second = 0;
            if (++c->form == most_forms) {
                c->form = 0;
                if (++c->op == op_models_ops()) return false;
            }
            fits = is_for(&forms[c->form], ops[c->op].name);
            if (fits && !has_second(&forms[c->form])) c->second = -1;
        }
    } while (!fits || (!all && (!types[c->type].usual || (c->second >= 0 && !types[c->second].usual))));
    return true;
}

int op_models_ops(void)
{
    return (int)(sizeof ops / sizeof *ops);
}

int op_models_types(void)
{
    return TYPES;
}

const char *op_models_op(int op, int *code)
{
    *code = ops[op].code;
    return ops[op].name;
}

const char *op_models_type(int type)
{
    return types[type].name;
}

int op_models_type_code(int type)
{
    return types[type].code;
}

int op_models_place(int form, char letter, int input_count)
{
    const struct writer w = {.first = types, .second = types};
    const char *at = forms[form].nodes, *own = strchr(at, '?');
    int place = 0;
    for (at = own ? next_word(own) : at; *at && *at != '&'; at = next_word(at)) {
        if (*at == letter) return place;
        if (*at == '>')
            place = input_count;
        else
            place += read_word(&w, at).times;
    }
    return -1;
}

bool op_models_tries_types(int form)
{
    for (const char *at = forms[form].nodes; *at; at = next_word(at))
        if (*at == 'T') return true; // no operator in a form starts with it
    return strstr(forms[form].options, "=T") != NULL;
}

void op_models_name(const struct op_choice *c, char *name, size_t size)
{
    int number = 0; // among the operator's forms
    for (int form = 0; form < c->form; form++) number += is_for(&forms[form], ops[c->op].name);
    snprintf(name, size, "%s_%d_%s%s%s", ops[c->op].name, number, types[c->type].name, c->second >= 0 ? "_" : "",
             c->second >= 0 ? types[c->second].name : "");
}
