// SPDX-License-Identifier: Apache-2.0
// See op_models.h.
#include "support/op_models.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MOST_INPUTS = 5, MOST_ELEMENTS = 64, CUSTOM_CODE = 32 };

// Inputs of a node: those with numbers are constant int32.
static const struct shapes {
    const char *name;
    int input_count;
    struct {
        int rank, dims[4];
        const char *numbers;
    } inputs[MOST_INPUTS];
} shapes[] = {
    {"one", 1, {{4, {1, 4, 4, 2}, NULL}}},
    {"same", 2, {{4, {1, 4, 4, 2}, NULL}, {4, {1, 4, 4, 2}, NULL}}},
    {"three", 3, {{2, {2, 3}, NULL}, {2, {2, 3}, NULL}, {2, {2, 3}, NULL}}},
    {"image", 3, {{4, {1, 4, 4, 2}, NULL}, {4, {2, 3, 3, 2}, NULL}, {1, {2}, NULL}}},
    {"rows", 3, {{2, {2, 4}, NULL}, {2, {3, 4}, NULL}, {1, {3}, NULL}}},
    {"axis", 2, {{3, {2, 3, 4}, NULL}, {0, {0}, "\1"}}},
    {"sizes", 2, {{4, {1, 4, 4, 2}, NULL}, {1, {2}, "\2\2"}}},
    {"pairs", 2, {{2, {2, 4}, NULL}, {2, {2, 2}, "\1\1\1\1"}}},
    {"blocks", 3, {{4, {1, 4, 4, 2}, NULL}, {1, {2}, "\2\2"}, {2, {2, 2}, "\0\0\0\0"}}},
    {"slices", 4, {{2, {3, 4}, NULL}, {1, {2}, "\0\1"}, {1, {2}, "\2\3"}, {1, {2}, "\1\1"}}},
    {"scatter", 3, {{2, {2, 1}, "\0\1"}, {2, {2, 4}, NULL}, {1, {2}, "\4\4"}}},
    {"state",
     5,
     {{2, {1, 4}, NULL}, {2, {4, 4}, NULL}, {2, {4, 4}, NULL}, {1, {4}, NULL}, {2, {1, 4}, NULL}}},
    {"boxes",
     5,
     {{2, {4, 4}, NULL}, {1, {4}, NULL}, {0, {0}, "\3"}, {0, {0}, NULL}, {0, {0}, NULL}}},
};
static const struct {
    const char *name;
    int type; // the schema's
    bool quantised;
} types[] = {{"float32", 0, false},
             {"int8", 9, true},
             {"int32", 2, false},
             {"int16", 7, true},
             {"bool", 6, false}};

// The options table, with ones everywhere; 0 where the operator has none.
static size_t write_options(struct model_file *file, size_t node, int table)
{
    bool second = false;
    unsigned type = 1;
    while (hl_schema_member(second ? HL_BuiltinOptions2 : HL_BuiltinOptions, type) != table) {
        type++;
        if (hl_schema_member(second ? HL_BuiltinOptions2 : HL_BuiltinOptions, type) >= 0) continue;
        if (second) return 0;
        second = true;
        type = 1;
    }
    file_set(file, node,
             second ? HL_Operator_builtin_options_2_type : HL_Operator_builtin_options_type, type);
    size_t options =
        file_child(file, node, second ? HL_Operator_builtin_options_2 : HL_Operator_builtin_options,
                   (enum hl_schema)table);
    for (int field = table + 1;
         hl_schema[field].kind != HL_KIND_TABLE && hl_schema[field].kind != HL_KIND_UNION_TYPE;
         field++)
        if (hl_schema[field].kind == HL_KIND_SCALAR && hl_schema[field].scalar == HL_SCALAR_F32)
            file_set_float(file, options, (enum hl_schema)field, 1);
        else if (hl_schema[field].kind == HL_KIND_SCALAR)
            file_set(file, options, (enum hl_schema)field,
                     !strstr(hl_schema[field].name, "activation"));
    return options;
}

static int count_of(const struct shapes *s, int i)
{
    int count = 1;
    for (int d = 0; d < s->inputs[i].rank; d++) count *= s->inputs[i].dims[d];
    return count;
}

// Gives the position of the numbers, where it has some.
static size_t write_tensor(struct model_file *file, size_t table, const struct shapes *s, int i,
                           int type, bool quantised, size_t buffer)
{
    file_set_vector(file, table, HL_Tensor_shape, s->inputs[i].dims, (size_t)s->inputs[i].rank);
    file_set(file, table, HL_Tensor_type, s->inputs[i].numbers ? 2 : type);
    if (s->inputs[i].numbers) {
        int32_t numbers[MOST_ELEMENTS];
        int count = count_of(s, i);
        for (int n = 0; n < count; n++) numbers[n] = s->inputs[i].numbers[n];
        file_set(file, table, HL_Tensor_buffer, i + 1);
        return file_set_vector(file, buffer, HL_Buffer_data, numbers,
                               (size_t)count * sizeof *numbers);
    }
    if (quantised) {
        size_t q = file_child(file, table, HL_Tensor_quantization, HL_QuantizationParameters);
        file_set_vector(file, q, HL_QuantizationParameters_scale, (const float[]){0.5f}, 1);
        file_set_vector(file, q, HL_QuantizationParameters_zero_point, NULL, 1);
    }
    return 0;
}

static const struct {
    const char *name;
    int code, version, options;
} ops[] = {
#define HL_NONE (-1)
#define OP(name, code, first, last, options, symbol, file) {#name, code, last, HL_##options},
#define GAP(name, code, first, last, options)
#define CUSTOM(name, symbol, file) {name, 32, 1, HL_NONE},
#include "ops/ops.def"
#undef OP
#undef GAP
#undef CUSTOM
};

struct op_model op_model_make(int op, int shape, int type)
{
    struct op_model m = {.file = {0}};
    struct model_file *f = &m.file;
    const struct shapes *s = &shapes[shape];
    bool quantised = types[type].quantised;
    size_t code, graphs[2], pass, buffers[MOST_INPUTS + 1], root = file_begin(f);
    int32_t inputs[MOST_INPUTS], given[MOST_INPUTS], given_count = 0, output = s->input_count;
    file_children(f, root, HL_Model_operator_codes, 1, &code);
    file_set(f, code, HL_OperatorCode_deprecated_builtin_code,
             ops[op].code < 127 ? ops[op].code : 127);
    file_set(f, code, HL_OperatorCode_builtin_code, ops[op].code);
    file_set(f, code, HL_OperatorCode_version, ops[op].version);
    if (ops[op].code == CUSTOM_CODE)
        file_set_string(f, code, HL_OperatorCode_custom_code, ops[op].name);
    file_children(f, root, HL_Model_buffers, MOST_INPUTS + 1, buffers);
    file_children(f, root, HL_Model_subgraphs, 2, graphs);
    file_children(f, graphs[0], HL_SubGraph_tensors, s->input_count + 1, m.tensors);
    for (int i = 0; i < s->input_count; i++) {
        m.constants[i] =
            write_tensor(f, m.tensors[i], s, i, types[type].type, quantised, buffers[i + 1]);
        m.constant_counts[i] = s->inputs[i].numbers ? count_of(s, i) : 0;
        inputs[i] = i;
        if (!s->inputs[i].numbers) given[given_count++] = i;
    }
    struct shapes result = {.inputs = {{s->inputs[0].rank, {0}, NULL}}};
    memcpy(result.inputs[0].dims, s->inputs[0].dims, sizeof result.inputs[0].dims);
    write_tensor(f, m.tensors[output], &result, 0, types[type].type, quantised, 0);
    file_children(f, graphs[0], HL_SubGraph_operators, 1, &m.node);
    file_set_vector(f, m.node, HL_Operator_inputs, inputs, (size_t)s->input_count);
    file_set_vector(f, m.node, HL_Operator_outputs, &output, 1);
    m.input_count = s->input_count;
    m.table = ops[op].options;
    m.options = m.table >= 0 ? write_options(f, m.node, m.table) : 0;
    file_set_vector(f, graphs[0], HL_SubGraph_inputs, given, (size_t)given_count);
    file_set_vector(f, graphs[0], HL_SubGraph_outputs, &output, 1);
    file_children(f, graphs[1], HL_SubGraph_tensors, 1, &pass);
    write_tensor(f, pass, &result, 0, types[type].type, quantised, 0);
    FILE_INTS(f, graphs[1], HL_SubGraph_inputs, 0);
    FILE_INTS(f, graphs[1], HL_SubGraph_outputs, 0);
    return m;
}

int op_models_ops(void)
{
    return (int)(sizeof ops / sizeof *ops);
}

int op_models_shapes(void)
{
    return (int)(sizeof shapes / sizeof *shapes);
}

int op_models_types(void)
{
    return (int)(sizeof types / sizeof *types);
}

const char *op_models_op(int op, int *code)
{
    *code = ops[op].code;
    return ops[op].name;
}

void op_models_name(int op, int shape, int type, char *name, size_t size)
{
    snprintf(name, size, "%s_%s_%s", ops[op].name, shapes[shape].name, types[type].name);
}
