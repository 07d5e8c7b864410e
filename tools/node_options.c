// SPDX-License-Identifier: Apache-2.0
// See node_options.h. The rows come from src/model/options.def, the list by which the runtime itself reads options: an
// option that is read is an option that is shown.
#include "node_options.h"

#include <ctype.h>
#include <string.h>

#include "element.h"
#include "json.h"
#include "tensorflow/lite/c/builtin_op_data.h"

enum kind {
    KIND_TABLE,
    KIND_INT,
    KIND_INT64,
    KIND_BOOL,
    KIND_FLOAT,
    KIND_TEXT,
    KIND_CHOICE,
    KIND_LIST,
    KIND_ALIGNED,
    KIND_FLOATS,
    KIND_BYTES
};

// The C names of an enumeration's values, in the order of the schema.
struct names {
    const int *values;
    int count;
    const char *words; // "kTfLitePaddingSame, kTfLitePaddingValid"
};

// A table of the schema, or one of its fields, which follow it.
struct row {
    const char *name;
    enum kind kind;
    size_t offset, count_offset; // of the member, and of the one with its length, in the TfLite...Params
    size_t element;              // bytes of an array's element
    int capacity;                // elements of an array
    const struct names *names;   // of a choice; NULL: the values are tensor types
};

// clang-format off
#define ENUMERATION(name, ...) \
    static const int values_##name[] = {__VA_ARGS__}; \
    static const struct names names_##name = {values_##name, sizeof values_##name / sizeof(int), #__VA_ARGS__};
#include "model/enumerations.def"

#define ROW(kind_, field, type, member, ...) {.name = #field, .kind = (kind_), .offset = offsetof(type, member), __VA_ARGS__},
#define ARRAY(kind_, field, type, member, ...)                                                            \
    ROW(kind_, field, type, member, .element = sizeof(((type *)0)->member[0]),                            \
        .capacity = (int)(sizeof(((type *)0)->member) / sizeof(((type *)0)->member[0])), __VA_ARGS__)
static const struct row rows[] = {
#define OPTIONS(table, ...) {.name = #table, .kind = KIND_TABLE},
#define INT(table, field, type, member) ROW(KIND_INT, field, type, member, .count_offset = 0)
#define INT64(table, field, type, member) ROW(KIND_INT64, field, type, member, .count_offset = 0)
#define BOOL(table, field, type, member) ROW(KIND_BOOL, field, type, member, .count_offset = 0)
#define FLOAT(table, field, type, member) ROW(KIND_FLOAT, field, type, member, .count_offset = 0)
#define TEXT(table, field, type, member) ROW(KIND_TEXT, field, type, member, .count_offset = 0)
#define CHOICE(table, field, type, member, enumeration) ROW(KIND_CHOICE, field, type, member, .names = &names_##enumeration)
#define SUBGRAPH(table, field, type, member) ROW(KIND_INT, field, type, member, .count_offset = 0)
#define SUBGRAPHS(table, field, type, member, count) LIST(table, field, type, member, count)
#define LIST(table, field, type, member, count) ARRAY(KIND_LIST, field, type, member, .count_offset = offsetof(type, count))
#define ALIGNED(table, field, type, member, like, times, fill) ARRAY(KIND_ALIGNED, field, type, member, .count_offset = (times))
#define FLOATS(table, field, type, member, count) ROW(KIND_FLOATS, field, type, member, .count_offset = offsetof(type, count))
#define BYTES(table, field, type, member, count) ROW(KIND_BYTES, field, type, member, .count_offset = offsetof(type, count))
#define NEEDED(...)
#define END
#include "model/options.def"
};
// clang-format on
enum { ROWS = sizeof rows / sizeof rows[0] };

// The first row of the options that an operator takes, NULL where it takes none.
static const struct row *find_rows(const struct hl_model_code *code)
{
    static const struct {
        int builtin;
        const char *table;
    } tables[] = {
#define OP(name, builtin, first, last, options, symbol, file) {builtin, #options},
#define GAP(name, builtin, first, last, options) {builtin, #options},
#define CUSTOM(name, symbol, file)
#include "abi/operators.def"
#undef OP
#undef GAP
#undef CUSTOM
    };
    for (size_t t = 0; code->custom_name == NULL && t < sizeof tables / sizeof tables[0]; t++)
        for (int i = 0; tables[t].builtin == code->builtin && i < ROWS; i++)
            if (rows[i].kind == KIND_TABLE && strcmp(rows[i].name, tables[t].table) == 0) return &rows[i + 1];
    return NULL;
}

// ---- values as JSON -----------------------------------------------------------------------------

static const char *word_after(const char *word)
{
    const char *comma = strchr(word, ',');
    return comma != NULL ? comma + 1 + strspn(comma + 1, " ") : NULL;
}

// How many characters all C names of an enumeration begin with: "kTfLiteAct".
static size_t common_prefix(const char *words)
{
    const char *first = words[0] == '-' ? word_after(words) : words; // -1: the schema's value has no name in C
    size_t length = strcspn(first, ",");
    for (const char *word = word_after(first); word != NULL; word = word_after(word)) {
        size_t same = 0;
        while (same < length && word[same] == first[same]) same++;
        length = same;
    }
    return length;
}

// "relu6" of kTfLiteActRelu6, and the name that Halite shows of a tensor type.
static void add_choice(cJSON *object, const char *name, const struct names *names, int value)
{
    if (names == &names_TENSOR_TYPE) {
        cJSON_AddStringToObject(object, name, hl_element_name((TfLiteType)value));
        return;
    }
    const char *word = names->words;
    for (int i = 0; i < names->count; i++, word = word_after(word)) {
        if (names->values[i] != value) continue;
        struct hl_text text = {0};
        size_t prefix = common_prefix(names->words), length = strcspn(word, ",");
        for (size_t at = prefix; at < length; at++) hl_text_add(&text, "%c", tolower((unsigned char)word[at]));
        cJSON_AddStringToObject(object, name, hl_text_string(&text));
        hl_text_free(&text);
        return;
    }
    cJSON_AddNumberToObject(object, name, value);
}

static int read_int(const char *from)
{
    int value;
    memcpy(&value, from, sizeof value);
    return value;
}

static double read_integer(const char *from, size_t bytes)
{
    int64_t value;
    if (bytes == sizeof(int)) return read_int(from);
    memcpy(&value, from, sizeof value);
    return (double)value;
}

static double read_float(const char *from)
{
    float value;
    memcpy(&value, from, sizeof value);
    return (double)value;
}

static void add_array(cJSON *object, const struct row *row, const char *params, int count)
{
    cJSON *array = cJSON_AddArrayToObject(object, row->name);
    const char *elements = params + row->offset;
    if (row->kind == KIND_FLOATS) memcpy(&elements, params + row->offset, sizeof elements);
    if (row->kind != KIND_FLOATS && count > row->capacity) count = row->capacity;
    for (int i = 0; i < count; i++) {
        double value = row->kind == KIND_FLOATS ? read_float(elements + (size_t)i * sizeof(float))
                                                : read_integer(elements + (size_t)i * row->element, row->element);
        cJSON_AddItemToArray(array, cJSON_CreateNumber(value));
    }
}

// rank: of the node's first input, by which the schema's aligned vectors are as long as they are.
static void add_option(cJSON *object, const struct row *row, const char *params, int rank)
{
    const char *member = params + row->offset, *text;
    size_t bytes;
    switch (row->kind) {
    case KIND_INT: cJSON_AddNumberToObject(object, row->name, read_int(member)); break;
    case KIND_INT64: cJSON_AddNumberToObject(object, row->name, read_integer(member, sizeof(int64_t))); break;
    case KIND_BOOL: cJSON_AddBoolToObject(object, row->name, *(const bool *)member); break;
    case KIND_FLOAT: cJSON_AddNumberToObject(object, row->name, read_float(member)); break;
    case KIND_CHOICE: add_choice(object, row->name, row->names, read_int(member)); break;
    case KIND_TEXT:
        memcpy(&text, member, sizeof text);
        hl_json_add_string(object, row->name, text != NULL ? text : "");
        break;
    case KIND_LIST:
    case KIND_FLOATS: add_array(object, row, params, read_int(params + row->count_offset)); break;
    case KIND_ALIGNED: add_array(object, row, params, (int)row->count_offset * rank); break;
    case KIND_BYTES:
        memcpy(&bytes, params + row->count_offset, sizeof bytes);
        cJSON_AddNumberToObject(object, row->name, (double)bytes);
        break;
    case KIND_TABLE: break;
    }
}

cJSON *hl_node_options_json(const TfLiteModel *model, const struct hl_model_subgraph *subgraph,
                            const struct hl_model_node *node)
{
    cJSON *object = cJSON_CreateObject();
    const struct row *row = node->params != NULL ? find_rows(&model->codes[node->code]) : NULL;
    int rank = node->input_count > 0 && node->inputs[0] >= 0 ? subgraph->tensors[node->inputs[0]].rank : 0;
    for (; row != NULL && row < rows + ROWS && row->kind != KIND_TABLE; row++)
        add_option(object, row, node->params, rank);
    return object;
}

// ---- in short -----------------------------------------------------------------------------------

// What nearly every node says is left out.
static bool is_usual(const cJSON *option)
{
    static const struct {
        const char *name, *value;
    } usual[] = {
        {"fused_activation_function", "none"},
        {"quantized_bias_type", "float32"},
        {"weights_format", "default"},
        {"kernel_type", "fullkernel"},
        {"shared_name", ""},
        {"container", ""},
    };
    if (cJSON_IsArray(option)) return cJSON_GetArraySize(option) == 0;
    if (cJSON_IsBool(option)) return cJSON_IsFalse(option);
    if (cJSON_IsNumber(option)) {
        bool dilation = strncmp(option->string, "dilation_", 9) == 0;
        bool off = strstr(option->string, "_mask") != NULL || strstr(option->string, "_clip") != NULL;
        return (dilation && option->valuedouble == 1) || (off && option->valuedouble == 0);
    }
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcmp(option->string, usual[i].name) == 0 && strcmp(option->valuestring, usual[i].value) == 0) return true;
    return false;
}

// Are these the width and the height of one thing? Then *length characters of the name say which.
static bool is_pair(const cJSON *width, const cJSON *height, size_t *length)
{
    if (height == NULL || !cJSON_IsNumber(width) || !cJSON_IsNumber(height)) return false;
    const char *w = width->string, *h = height->string;
    size_t same = 0;
    while (w[same] != '\0' && w[same] == h[same]) same++;
    *length = same > 0 ? same - 1 : 0; // without the underscore
    return same > 0 && w[same] == 'w' && h[same] == 'h';
}

static void add_words(struct hl_text *text, const char *name)
{
    for (; *name != '\0'; name++) hl_text_add(text, "%c", *name == '_' ? ' ' : *name);
}

static void add_value(struct hl_text *text, const cJSON *option)
{
    if (strcmp(option->string, "fused_activation_function") == 0) {
        hl_text_add(text, "%s", option->valuestring);
        return;
    }
    add_words(text, option->string);
    if (cJSON_IsBool(option)) return;
    if (cJSON_IsString(option)) {
        hl_text_add(text, " ");
        hl_text_add_escaped(text, option->valuestring, strlen(option->valuestring));
    } else if (cJSON_IsNumber(option)) {
        hl_text_add(text, " %.7g", option->valuedouble);
    } else {
        const cJSON *item;
        hl_text_add(text, " [");
        cJSON_ArrayForEach(item, option)
            hl_text_add(text, "%s%.7g", item != option->child ? ", " : "", item->valuedouble);
        hl_text_add(text, "]");
    }
}

// Small constants of integers: axes, shapes, begins and ends. Integers with a scale are weights or biases.
static void add_constants(struct hl_text *text, const struct hl_model_subgraph *subgraph,
                          const struct hl_model_node *node, const char *between)
{
    enum { LONGEST = 8 };
    for (int i = 0; i < node->input_count; i++) {
        const struct hl_model_tensor *tensor = node->inputs[i] >= 0 ? &subgraph->tensors[node->inputs[i]] : NULL;
        if (tensor == NULL || tensor->data == NULL || tensor->quantization.type != kTfLiteNoQuantization) continue;
        size_t size = tensor->type == kTfLiteInt32 ? 4 : tensor->type == kTfLiteInt64 ? 8 : 0;
        if (size == 0 || tensor->bytes > LONGEST * size || tensor->sparsity != NULL) continue;
        hl_text_add(text, "%sinput %d = %s", between, i, tensor->rank > 0 ? "[" : "");
        for (size_t at = 0; at < tensor->bytes; at += size)
            hl_text_add(text, "%s%.0f", at > 0 ? ", " : "", read_integer((const char *)tensor->data + at, size));
        if (tensor->rank > 0) hl_text_add(text, "]");
        between = ", ";
    }
}

void hl_node_options_text(struct hl_text *text, const cJSON *options, const struct hl_model_subgraph *subgraph,
                          const struct hl_model_node *node)
{
    const char *between = "";
    for (const cJSON *option = options->child; option != NULL; option = option->next) {
        size_t length = 0;
        bool pair = is_pair(option, option->next, &length);
        if (is_usual(option) && (!pair || is_usual(option->next))) continue;
        hl_text_add(text, "%s", between);
        if (pair) {
            hl_text_add(text, "%.*s %.0fx%.0f", (int)length, option->string, option->next->valuedouble,
                        option->valuedouble);
            option = option->next;
        } else {
            add_value(text, option);
        }
        between = ", ";
    }
    add_constants(text, subgraph, node, between);
}
