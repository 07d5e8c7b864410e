// SPDX-License-Identifier: Apache-2.0
// A small model of which tests know where everything lies, to break one thing at a time; and loading it while its
// messages are kept.
#ifndef HALITE_TESTS_UNIT_SMALL_MODEL_H
#define HALITE_TESTS_UNIT_SMALL_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "support/model_file.h"
#include "tensorflow/lite/builtin_ops.h"

// ---- A whole model: y = x * scale + bias, float32 [1, 3]

enum { most_children = 64 };

struct small_model {
    struct model_file file;
    size_t model, codes[2], subgraphs[most_children], buffers[4];
    size_t tensors[5]; // 0 x, 1 scale, 2 product, 3 bias, 4 y
    size_t nodes[2];   // MUL, ADD
};

static inline void small_model_tensor(struct small_model *m, int index, const char *name, int buffer)
{
    file_set_string(&m->file, m->tensors[index], HL_Tensor_name, name);
    FILE_INTS(&m->file, m->tensors[index], HL_Tensor_shape, 1, 3);
    file_set(&m->file, m->tensors[index], HL_Tensor_buffer, buffer);
}

// subgraph_count above 1 adds subgraphs without operators, each with a tensor "pass" that is input
// and output.
static inline struct small_model small_model_create(int subgraph_count)
{
    struct small_model m = {.file = {0}};
    struct model_file *f = &m.file;
    assert_true(subgraph_count <= most_children);
    m.model = file_begin(f);
    file_set_string(f, m.model, HL_Model_description, "small");
    file_children(f, m.model, HL_Model_operator_codes, 2, m.codes);
    file_set(f, m.codes[0], HL_OperatorCode_builtin_code, kTfLiteBuiltinMul);
    file_set(f, m.codes[1], HL_OperatorCode_builtin_code, kTfLiteBuiltinAdd);
    file_children(f, m.model, HL_Model_buffers, 4, m.buffers);
    file_set_vector(f, m.buffers[1], HL_Buffer_data, (const float[]){2, 3, 4}, 12);
    file_set_vector(f, m.buffers[2], HL_Buffer_data, (const float[]){10, 20, 30}, 12);
    file_children(f, m.model, HL_Model_subgraphs, subgraph_count, m.subgraphs);

    file_set_string(f, m.subgraphs[0], HL_SubGraph_name, "main");
    file_children(f, m.subgraphs[0], HL_SubGraph_tensors, 5, m.tensors);
    small_model_tensor(&m, 0, "x", 0);
    small_model_tensor(&m, 1, "scale", 1);
    small_model_tensor(&m, 2, "product", 0);
    small_model_tensor(&m, 3, "bias", 2);
    small_model_tensor(&m, 4, "y", 0);
    file_children(f, m.subgraphs[0], HL_SubGraph_operators, 2, m.nodes);
    FILE_INTS(f, m.nodes[0], HL_Operator_inputs, 0, 1);
    FILE_INTS(f, m.nodes[0], HL_Operator_outputs, 2);
    file_set(f, m.nodes[1], HL_Operator_opcode_index, 1);
    FILE_INTS(f, m.nodes[1], HL_Operator_inputs, 2, 3);
    FILE_INTS(f, m.nodes[1], HL_Operator_outputs, 4);
    FILE_INTS(f, m.subgraphs[0], HL_SubGraph_inputs, 0);
    FILE_INTS(f, m.subgraphs[0], HL_SubGraph_outputs, 4);
    for (int i = 1; i < subgraph_count; i++) {
        size_t tensor;
        file_children(f, m.subgraphs[i], HL_SubGraph_tensors, 1, &tensor);
        file_set_string(f, tensor, HL_Tensor_name, "pass");
        FILE_INTS(f, m.subgraphs[i], HL_SubGraph_inputs, 0);
        FILE_INTS(f, m.subgraphs[i], HL_SubGraph_outputs, 0);
    }
    return m;
}

// ---- Loading

struct messages {
    char text[4096]; // all of them, one per line
    int count;
};

static inline void keep_message(void *user_data, const char *format, va_list args)
{
    struct messages *messages = user_data;
    size_t used = strlen(messages->text);
    vsnprintf(messages->text + used, sizeof messages->text - used, format, args);
    used = strlen(messages->text);
    snprintf(messages->text + used, sizeof messages->text - used, "\n");
    messages->count++;
}

// Loads a copy of exactly the file's size at an address that is misplaced bytes away from
// alignment; the copy goes to *copy, to be freed after the model.
static inline TfLiteModel *load_at(const struct model_file *file, size_t size, size_t misplaced,
                                   struct messages *messages, uint8_t **copy)
{
    struct hl_reporter reporter = {keep_message, messages};
    *messages = (struct messages){.count = 0};
    *copy = malloc(size + misplaced + 1);
    assert_non_null(*copy);
    memcpy(*copy + misplaced, file->bytes, size);
    *copy = realloc(*copy, size + misplaced ? size + misplaced : 1);
    return hl_model_create(*copy + misplaced, size, &reporter);
}

// Expects the model to load, without a message.
static inline TfLiteModel *expect_loads(struct small_model *m)
{
    struct messages messages = {.count = 0};
    struct hl_reporter reporter = {keep_message, &messages};
    TfLiteModel *model = hl_model_create(m->file.bytes, m->file.size, &reporter);
    if (!model) print_error("%s", messages.text);
    assert_non_null(model);
    assert_int_equal(messages.count, 0);
    return model;
}

static inline void expect_loads_and_free(struct small_model *m)
{
    hl_model_release(expect_loads(m));
    free(m->file.bytes);
}

// Expects one message that holds the words; frees the file.
static inline void expect_refusal(struct small_model *m, const char *words)
{
    struct messages messages;
    uint8_t *copy;
    TfLiteModel *model = load_at(&m->file, m->file.size, 0, &messages, &copy);
    if (model) print_error("loads, but should say: %s\n", words);
    assert_null(model);
    assert_int_equal(messages.count, 1);
    if (!strstr(messages.text, words)) print_error("wanted: %s\ngot: %s", words, messages.text);
    assert_non_null(strstr(messages.text, words));
    free(copy);
    free(m->file.bytes);
}

#endif
