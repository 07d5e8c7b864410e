// SPDX-License-Identifier: Apache-2.0
// options.def and the options column of operators.def as tables, and one loop that obeys them. In: an operator's table
// in the file. Out: a TfLite…Params. An operator without options, or with those of another operator, gets all zeros,
// not the schema's defaults, as in the official runtime.
#include "model/options.h"

#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/c/builtin_op_data.h"

enum rule_kind {
    RULE_END,
    RULE_OPTIONS, // opens a table
    RULE_INT,
    RULE_INT64,
    RULE_BOOL,
    RULE_FLOAT,
    RULE_TEXT,
    RULE_CHOICE,
    RULE_SUBGRAPH,
    RULE_SUBGRAPHS,
    RULE_LIST,
    RULE_ALIGNED,
    RULE_FLOATS,
    RULE_BYTES,
    RULE_NEEDED
};

enum absence { OPTIONAL, REQUIRED };

struct rule {
    uint8_t kind;
    uint8_t capacity; // of an array: elements
    uint8_t times, fill;
    uint8_t choice;  // of a CHOICE: offset in struct choices
    uint16_t field;  // row of the schema; of OPTIONS: the union's member
    uint16_t like;   // likewise
    uint16_t offset; // of the member; of OPTIONS: size of the struct
    uint16_t count;  // offset of the member that takes the length; of OPTIONS: enum absence
};

// The enumerations one after the other, of each how many values it has, and these. (With pointers to them rules took
// twice the memory.)
#define ENUMERATION(name, ...) int8_t choice_##name[1 + sizeof((int8_t[]){__VA_ARGS__})];
struct choices {
#include "model/enumerations.def"
};
#define ENUMERATION(name, ...) .choice_##name = {(int8_t)sizeof((int8_t[]){__VA_ARGS__}), __VA_ARGS__},
static const struct choices choices = {
#include "model/enumerations.def"
};

// offsetof, and a compile error where the member's size is not the expected one.
#define SIZED(type, member, size) \
    (offsetof(type, member) + 0 * sizeof(char[sizeof(((type *)0)->member) == (size) ? 1 : -1]))
#define ELEMENTS(type, member) (sizeof(((type *)0)->member) / sizeof(((type *)0)->member[0]))
#define PLAIN(kind_, table, field_, type, member, size) \
    {.kind = (kind_), .field = HL_##table##_##field_, .offset = SIZED(type, member, size)},

#define OPTIONS(table, union_name, type, absence) \
    static const struct rule rules_##table[] = {  \
        {.kind = RULE_OPTIONS, .field = HL_##union_name##_##table, .offset = sizeof(type), .count = (absence)},
// clang-format off
#define END {.kind = RULE_END}};
// clang-format on
#define INT(table, field, type, member) PLAIN(RULE_INT, table, field, type, member, sizeof(int32_t))
#define INT64(table, field, type, member) PLAIN(RULE_INT64, table, field, type, member, sizeof(int64_t))
#define BOOL(table, field, type, member) PLAIN(RULE_BOOL, table, field, type, member, sizeof(bool))
#define FLOAT(table, field, type, member) PLAIN(RULE_FLOAT, table, field, type, member, sizeof(float))
#define TEXT(table, field, type, member) PLAIN(RULE_TEXT, table, field, type, member, sizeof(char *))
#define SUBGRAPH(table, field, type, member) PLAIN(RULE_SUBGRAPH, table, field, type, member, sizeof(int32_t))
#define CHOICE(table, field_, type, member, enumeration) \
    {.kind = RULE_CHOICE,                                \
     .field = HL_##table##_##field_,                     \
     .offset = SIZED(type, member, sizeof(int32_t)),     \
     .choice = offsetof(struct choices, choice_##enumeration)},
#define ARRAY(kind_, table, field_, type, member, count_) \
    {.kind = (kind_),                                     \
     .field = HL_##table##_##field_,                      \
     .offset = offsetof(type, member),                    \
     .capacity = ELEMENTS(type, member),                  \
     .count = SIZED(type, count_, sizeof(int32_t))},
#define SUBGRAPHS(table, field, type, member, count) ARRAY(RULE_SUBGRAPHS, table, field, type, member, count)
#define LIST(table, field, type, member, count) ARRAY(RULE_LIST, table, field, type, member, count)
#define ALIGNED(table, field_, type, member, like_, times_, fill_) \
    {.kind = RULE_ALIGNED,                                         \
     .field = HL_##table##_##field_,                               \
     .offset = offsetof(type, member),                             \
     .capacity = ELEMENTS(type, member),                           \
     .like = HL_##table##_##like_,                                 \
     .times = (times_),                                            \
     .fill = (fill_)},
#define FLOATS(table, field_, type, member, count_)  \
    {.kind = RULE_FLOATS,                            \
     .field = HL_##table##_##field_,                 \
     .offset = SIZED(type, member, sizeof(float *)), \
     .count = SIZED(type, count_, sizeof(int))},
#define BYTES(table, field_, type, member, count_)     \
    {.kind = RULE_BYTES,                               \
     .field = HL_##table##_##field_,                   \
     .offset = SIZED(type, member, sizeof(uint8_t *)), \
     .count = SIZED(type, count_, sizeof(size_t))},
#define NEEDED(table, field_) {.kind = RULE_NEEDED, .field = HL_##table##_##field_},
#include "model/options.def"

// Which table an operator takes.
#define rules_NONE NULL
#define OP(name, code, first, last, table, symbol, file) [code] = rules_##table,
#define GAP(name, code, first, last, table) [code] = rules_##table,
#define CUSTOM(name, symbol, file)
static const struct rule *const rules_of[] = {
#include "abi/operators.def"
};
#undef OP
#undef GAP
#undef CUSTOM
#undef rules_NONE

static const struct rule *find_rules(int builtin)
{
    return builtin >= 0 && (size_t)builtin < sizeof rules_of / sizeof *rules_of ? rules_of[builtin] : NULL;
}

static int choose(const int8_t *choice, int64_t value)
{
    return value >= 0 && value < choice[0] ? choice[1 + value] : -1;
}

int hl_options_tensor_type(int64_t value)
{
    return choose(choices.choice_TENSOR_TYPE, value);
}

static bool check_subgraph(struct hl_loader *loader, int field, int64_t index)
{
    if (index >= 0 && index < loader->model->subgraph_count) return true;
    return hl_load_fail(loader, "option %s is %lld, but the model has %d subgraph%s", hl_schema_name(field),
                        (long long)index, loader->model->subgraph_count, HL_PLURAL(loader->model->subgraph_count));
}

// Copies a vector of integers into an array of the struct.
static bool read_array(struct hl_loader *loader, const struct rule *rule, const struct hl_vector *vector, char *params)
{
    if (vector->count > rule->capacity)
        return hl_load_fail(loader, "option %s has %u elements; at most %d are allowed", hl_schema_name(rule->field),
                            vector->count, rule->capacity);
    for (uint32_t i = 0; i < vector->count; i++) {
        int64_t value = hl_vector_integer(&loader->file, vector, i);
        if (rule->kind == RULE_SUBGRAPHS && !check_subgraph(loader, rule->field, value)) return false;
        if (vector->scalar == HL_SCALAR_I64)
            memcpy(params + rule->offset + i * sizeof value, &value, sizeof value);
        else
            memcpy(params + rule->offset + i * sizeof(int32_t), &(int32_t){(int32_t)value}, sizeof(int32_t));
    }
    return true;
}

static bool read_member(struct hl_loader *loader, const struct rule *rule, size_t table, char *params)
{
    const struct hl_flatbuffer *file = &loader->file;
    enum hl_schema field = (enum hl_schema)rule->field;
    char *member = params + rule->offset;
    struct hl_vector vector, like;
    int64_t value = 0;
    int32_t narrow;
    const char *text;
    if (hl_schema[field].kind == HL_KIND_SCALAR) value = hl_read_integer(file, table, field);

    switch ((enum rule_kind)rule->kind) {
    case RULE_INT:
        narrow = (int32_t)(uint32_t)((uint64_t)value & UINT32_MAX);
        memcpy(member, &narrow, sizeof narrow);
        return true;
    case RULE_INT64: memcpy(member, &value, sizeof value); return true;
    case RULE_BOOL: memcpy(member, &(bool){value != 0}, sizeof(bool)); return true;
    case RULE_FLOAT: memcpy(member, &(float){hl_read_float(file, table, field)}, sizeof(float)); return true;
    case RULE_TEXT:
        text = hl_read_string(file, table, field, NULL);
        memcpy(member, &text, sizeof text);
        return true;
    case RULE_CHOICE:
        narrow = choose((const int8_t *)&choices + rule->choice, value);
        if (narrow < 0)
            return hl_load_fail(loader, "option %s has the value %lld, which the format does not define",
                                hl_schema_name(field), (long long)value);
        memcpy(member, &narrow, sizeof narrow);
        return true;
    case RULE_SUBGRAPH:
        if (!check_subgraph(loader, field, value)) return false;
        memcpy(member, &(int32_t){(int32_t)value}, sizeof(int32_t));
        return true;
    case RULE_SUBGRAPHS:
    case RULE_LIST:
        hl_read_vector(file, table, field, &vector);
        if (!read_array(loader, rule, &vector, params)) return false;
        memcpy(params + rule->count, &vector.count, sizeof vector.count);
        return true;
    case RULE_ALIGNED:
        hl_read_vector(file, table, field, &vector);
        hl_read_vector(file, table, (enum hl_schema)rule->like, &like);
        if (vector.count != 0 && vector.count != (uint64_t)rule->times * like.count)
            return hl_load_fail(loader, "option %s has %u elements, but %s has %u", hl_schema_name(field), vector.count,
                                hl_schema_name(rule->like), like.count);
        for (unsigned i = 0; i < rule->capacity; i++)
            memcpy(member + i * sizeof(int64_t), &(int64_t){rule->fill}, sizeof(int64_t));
        return read_array(loader, rule, &vector, params);
    case RULE_FLOATS: {
        hl_read_vector(file, table, field, &vector);
        float *values = hl_load_array(loader, vector.count, sizeof *values);
        if (!values) return false;
        for (uint32_t i = 0; i < vector.count; i++) values[i] = hl_vector_float(file, &vector, i);
        memcpy(member, &values, sizeof values);
        memcpy(params + rule->count, &(int){(int)vector.count}, sizeof(int));
        return true;
    }
    case RULE_BYTES:
        hl_read_vector(file, table, field, &vector);
        memcpy(member, &(const uint8_t *){file->bytes + vector.start}, sizeof(uint8_t *));
        memcpy(params + rule->count, &(size_t){vector.count}, sizeof(size_t));
        return true;
    case RULE_NEEDED:
        if (hl_schema[field].kind == HL_KIND_STRING ? hl_read_string(file, table, field, NULL) != NULL
                                                    : hl_read_vector(file, table, field, &vector))
            return true;
        return hl_load_fail(loader, "option %s is missing", hl_schema_name(field));
    case RULE_END:
    case RULE_OPTIONS: break;
    }
    return true;
}

bool hl_options_read(struct hl_loader *loader, int builtin, size_t operator_table, const void **params, size_t *size)
{
    *params = NULL;
    *size = 0;
    const struct rule *rules = find_rules(builtin);
    if (!rules) return true;
    bool second = rules->field >= HL_BuiltinOptions2;
    enum hl_schema type_field = second ? HL_Operator_builtin_options_2_type : HL_Operator_builtin_options_type;
    enum hl_schema union_field = second ? HL_Operator_builtin_options_2 : HL_Operator_builtin_options;

    int64_t type = hl_read_integer(&loader->file, operator_table, type_field);
    size_t table = type == 0 ? 0 : hl_read_child(&loader->file, operator_table, union_field);
    if (type != 0 && type != hl_schema[rules->field].id) {
        // Another operator's options count as none, as in the official runtime.
        if (hl_schema_member(second ? HL_BuiltinOptions2 : HL_BuiltinOptions, (unsigned)type) < 0)
            return hl_load_fail(loader, "its options are of type %lld (not in the schema); the operator takes %s",
                                (long long)type, hl_schema_name(rules->field));
        table = 0;
    }
    if (table == 0 && rules->count == REQUIRED)
        return hl_load_fail(loader, "its %s are missing", hl_schema_name(rules->field));

    char *result = hl_load_array(loader, 1, rules->offset);
    if (!result) return false;
    if (table != 0)
        for (const struct rule *rule = rules + 1; rule->kind != RULE_END; rule++)
            if (!read_member(loader, rule, table, result)) return false;
    *params = result;
    *size = rules->offset;
    return true;
}

size_t hl_options_size(int builtin)
{
    const struct rule *rules = find_rules(builtin);
    return rules ? rules->offset : 0;
}

int hl_options_callee(int builtin, const void *params, int which)
{
    const struct rule *rule = find_rules(builtin);
    if (!rule || !params || which < 0) return -1;
    for (; rule->kind != RULE_END; rule++) {
        int32_t index, count = rule->kind == RULE_SUBGRAPH ? 1 : 0;
        if (rule->kind == RULE_SUBGRAPHS) memcpy(&count, (const char *)params + rule->count, sizeof count);
        if (which < count) {
            memcpy(&index, (const char *)params + rule->offset + (size_t)which * sizeof index, sizeof index);
            return index;
        }
        which -= count;
    }
    return -1;
}
