// SPDX-License-Identifier: Apache-2.0
// What a model holds after loading: a small one field by field, at every alignment, from memory and
// from a file; and what the loader says to files that are not models.
#include "small_model.h"

#include <unistd.h>

static void check_small(const TfLiteModel *model)
{
    assert_int_equal(model->schema_version, 3);
    assert_string_equal(model->description, "small");
    assert_int_equal(model->code_count, 2);
    assert_int_equal(model->codes[0].builtin, kTfLiteBuiltinMul);
    assert_int_equal(model->codes[0].version, 1);
    assert_null(model->codes[0].custom_name);
    assert_string_equal(hl_model_code_name(&model->codes[1]), "ADD");
    assert_int_equal(model->subgraph_count, 1);
    const struct hl_model_subgraph *subgraph = &model->subgraphs[0];
    assert_string_equal(subgraph->name, "main");
    assert_int_equal(subgraph->tensor_count, 5);
    assert_int_equal(subgraph->node_count, 2);
    assert_int_equal(subgraph->input_count, 1);
    assert_int_equal(subgraph->inputs[0], 0);
    assert_int_equal(subgraph->outputs[0], 4);
    const struct hl_model_tensor *bias = &subgraph->tensors[3];
    assert_string_equal(bias->name, "bias");
    assert_int_equal(bias->type, kTfLiteFloat32);
    assert_int_equal(bias->rank, 2);
    assert_int_equal(bias->dims[1], 3);
    assert_int_equal(bias->signature_rank, -1);
    assert_int_equal(bias->bytes, 12);
    assert_int_equal((uintptr_t)bias->data % 4, 0);
    assert_true(((const float *)bias->data)[2] == 30);
    assert_null(subgraph->tensors[0].data);
    assert_int_equal(bias->quantization.type, kTfLiteNoQuantization);
    const struct hl_model_node *add = &subgraph->nodes[1];
    assert_int_equal(add->code, 1);
    assert_int_equal(add->input_count, 2);
    assert_int_equal(add->inputs[1], 3);
    assert_int_equal(add->outputs[0], 4);
    assert_int_equal(add->intermediate_count, 0);
}

static void test_small_model_at_every_alignment(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    for (size_t misplaced = 0; misplaced < 8; misplaced++) {
        struct messages messages;
        uint8_t *copy;
        TfLiteModel *model = load_at(&m.file, m.file.size, misplaced, &messages, &copy);
        assert_non_null(model);
        check_small(model);
        // Constants lie in the file wherever its address allows.
        const uint8_t *data = model->subgraphs[0].tensors[1].data;
        assert_int_equal(data >= copy && data < copy + misplaced + m.file.size, misplaced % 4 == 0);
        assert_int_equal(hl_model_file_descriptor(model), -1);
        assert_int_equal(model->file_size, m.file.size);
        hl_model_release(model);
        free(copy);
    }
    free(m.file.bytes);
}

static void test_bytes_behind_the_model(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    file_grow(&m.file, 1000, 1, 0);
    expect_loads_and_free(&m);
}

static void test_every_cut(void **state)
{
    (void)state;
    struct small_model m = small_model_create(2);
    for (size_t size = 0; size < m.file.size; size++) {
        struct messages messages;
        uint8_t *copy;
        TfLiteModel *model = load_at(&m.file, size, 0, &messages, &copy);
        if (!model) assert_int_equal(messages.count, 1);
        hl_model_release(model);
        free(copy);
    }
    free(m.file.bytes);
}

// Most of these files are broken, many are not; none may crash, and each refusal has exactly one
// message.
static void test_every_changed_byte(void **state)
{
    (void)state;
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    struct small_model m = small_model_create(2);
    for (size_t at = 0; at < m.file.size; at++) {
        uint8_t old = m.file.bytes[at];
        for (size_t i = 0; i < sizeof values; i++) {
            struct messages messages;
            uint8_t *copy;
            m.file.bytes[at] = values[i];
            TfLiteModel *model = load_at(&m.file, m.file.size, 0, &messages, &copy);
            if (!model) assert_int_equal(messages.count, 1);
            hl_model_release(model);
            free(copy);
        }
        m.file.bytes[at] = old;
    }
    free(m.file.bytes);
}

static void test_not_a_model(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    memcpy(m.file.bytes + 4, "TFL2", 4);
    expect_refusal(&m, "The model is not a valid Flatbuffer buffer");

    m = small_model_create(1);
    struct small_model prefixed = {.file = {0}};
    file_grow(&prefixed.file, m.file.size + 4, 1, 0);
    memcpy(prefixed.file.bytes + 4, m.file.bytes, m.file.size);
    free(m.file.bytes);
    expect_refusal(&prefixed, "4-byte size prefix");

    m = small_model_create(1);
    file_set(&m.file, m.model, HL_Model_version, 2);
    expect_refusal(&m, "schema version 2");

    struct messages messages = {.count = 0};
    struct hl_reporter reporter = {keep_message, &messages};
    assert_null(hl_model_create(NULL, 10, &reporter));
    assert_null(hl_model_create("", 0, &reporter));
    assert_null(hl_model_create("TFL3", 4, &reporter));
    assert_int_equal(messages.count, 3);
}

// As in the original: the file is right, and an interpreter of it cannot be made.
static void test_no_graph(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    file_children(&m.file, m.model, HL_Model_subgraphs, 0, NULL);
    struct messages messages;
    uint8_t *copy;
    TfLiteModel *model = load_at(&m.file, m.file.size, 0, &messages, &copy);
    assert_non_null(model);
    assert_int_equal(model->subgraph_count, 0);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, keep_message, &messages);
    assert_null(TfLiteInterpreterCreate(model, options));
    assert_string_equal(messages.text, "the model has no subgraph\n");
    TfLiteInterpreterOptionsDelete(options);
    hl_model_release(model);
    free(copy);
    free(m.file.bytes);
}

static void test_missing_tables(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    file_drop(&m.file, m.model, HL_Model_subgraphs);
    expect_refusal(&m, "the model has no subgraph");
    m = small_model_create(1);
    file_drop(&m.file, m.model, HL_Model_buffers);
    expect_refusal(&m, "the model has no buffers");
    m = small_model_create(1);
    file_drop(&m.file, m.model, HL_Model_operator_codes);
    expect_refusal(&m, "subgraph 0, node 0 (operator): its operator code is number 0, but the "
                       "model has 0 operator codes");
    m = small_model_create(1);
    file_drop(&m.file, m.subgraphs[0], HL_SubGraph_tensors);
    expect_refusal(&m, "subgraph 0: it has no tensors");
    // Without a shape: a scalar. Without names: empty ones.
    m = small_model_create(1);
    file_drop(&m.file, m.tensors[0], HL_Tensor_shape);
    file_drop(&m.file, m.tensors[0], HL_Tensor_name);
    file_drop(&m.file, m.subgraphs[0], HL_SubGraph_name);
    file_drop(&m.file, m.model, HL_Model_description);
    TfLiteModel *model = expect_loads(&m);
    assert_int_equal(model->subgraphs[0].tensors[0].rank, 0);
    assert_string_equal(model->subgraphs[0].tensors[0].name, "");
    assert_string_equal(model->subgraphs[0].name, "");
    assert_string_equal(model->description, "");
    hl_model_release(model);
    free(m.file.bytes);
}

static void test_operator_codes(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    // Old files have the old field alone; new ones set it to 127 where the code does not fit.
    file_drop(&m.file, m.codes[0], HL_OperatorCode_builtin_code);
    file_set(&m.file, m.codes[0], HL_OperatorCode_deprecated_builtin_code, kTfLiteBuiltinMul);
    file_set(&m.file, m.codes[1], HL_OperatorCode_deprecated_builtin_code, 127);
    file_set(&m.file, m.codes[1], HL_OperatorCode_builtin_code, 100000);
    file_set(&m.file, m.codes[1], HL_OperatorCode_version, 7);
    TfLiteModel *model = expect_loads(&m);
    assert_int_equal(model->codes[0].builtin, kTfLiteBuiltinMul);
    assert_int_equal(model->codes[1].builtin, 100000);
    assert_int_equal(model->codes[1].version, 7);
    assert_string_equal(hl_model_code_name(&model->codes[1]), "UNKNOWN");
    hl_model_release(model);

    file_set(&m.file, m.codes[1], HL_OperatorCode_builtin_code, kTfLiteBuiltinCustom);
    file_drop(&m.file, m.codes[1], HL_OperatorCode_deprecated_builtin_code);
    file_set_string(&m.file, m.codes[1], HL_OperatorCode_custom_code, "Mine");
    file_set_vector(&m.file, m.nodes[1], HL_Operator_custom_options, "abc", 3);
    model = expect_loads(&m);
    const struct hl_model_node *node = &model->subgraphs[0].nodes[1];
    assert_string_equal(hl_model_code_name(&model->codes[1]), "Mine");
    assert_null(node->params);
    assert_int_equal(node->custom_options_size, 3);
    assert_memory_equal(node->custom_options, "abc", 3);
    assert_int_equal(node->custom_options_offset, (const unsigned char *)node->custom_options - m.file.bytes);
    hl_model_release(model);

    file_drop(&m.file, m.codes[1], HL_OperatorCode_custom_code);
    expect_refusal(&m, "operator code 1 is custom, but has no name");
}

static void test_data_behind_the_flatbuffer(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    static const float values[3] = {7, 8, 9};
    size_t at = file_grow(&m.file, sizeof values, 16, 4);
    file_poke(&m.file, at, values, sizeof values);
    file_drop(&m.file, m.buffers[1], HL_Buffer_data);
    file_set(&m.file, m.buffers[1], HL_Buffer_offset, (int64_t)at);
    file_set(&m.file, m.buffers[1], HL_Buffer_size, sizeof values);
    file_set(&m.file, m.buffers[2], HL_Buffer_offset, 1); // means inline
    TfLiteModel *model = expect_loads(&m);
    assert_memory_equal(model->subgraphs[0].tensors[1].data, values, sizeof values);
    assert_true(((const float *)model->subgraphs[0].tensors[3].data)[0] == 10);
    hl_model_release(model);
    file_set(&m.file, m.buffers[1], HL_Buffer_size, sizeof values + 1);
    expect_refusal(&m, "tensor 1 (scale): its buffer 1 has 13 bytes at offset");

    m = small_model_create(1);
    file_drop(&m.file, m.buffers[1], HL_Buffer_data);
    file_set(&m.file, m.buffers[1], HL_Buffer_offset, -8);
    file_set(&m.file, m.buffers[1], HL_Buffer_size, 16);
    expect_refusal(&m, "at offset 18446744073709551608");

    m = small_model_create(1);
    file_set(&m.file, m.codes[1], HL_OperatorCode_builtin_code, kTfLiteBuiltinCustom);
    file_set_string(&m.file, m.codes[1], HL_OperatorCode_custom_code, "Mine");
    file_set(&m.file, m.nodes[1], HL_Operator_large_custom_options_offset, 16);
    file_set(&m.file, m.nodes[1], HL_Operator_large_custom_options_size, 5);
    model = expect_loads(&m);
    assert_int_equal(model->subgraphs[0].nodes[1].custom_options_offset, 16);
    assert_ptr_equal(model->subgraphs[0].nodes[1].custom_options, m.file.bytes + 16);
    assert_int_equal(model->subgraphs[0].nodes[1].custom_options_size, 5);
    hl_model_release(model);
    file_set(&m.file, m.nodes[1], HL_Operator_large_custom_options_size, INT64_MAX);
    expect_refusal(&m, "node 1 (Mine): its custom options have 9223372036854775807 bytes");
}

static void test_metadata_and_signatures(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    size_t metadata[2], signatures[2], maps[3];
    file_children(&m.file, m.model, HL_Model_metadata, 2, metadata);
    file_set_string(&m.file, metadata[0], HL_Metadata_name, "lost");
    file_set(&m.file, metadata[0], HL_Metadata_buffer, 99);
    file_set_string(&m.file, metadata[1], HL_Metadata_name, "note");
    file_set(&m.file, metadata[1], HL_Metadata_buffer, 2);
    file_children(&m.file, m.model, HL_Model_signature_defs, 2, signatures);
    file_set_string(&m.file, signatures[0], HL_SignatureDef_signature_key, "serve");
    file_children(&m.file, signatures[0], HL_SignatureDef_inputs, 3, maps);
    file_set_string(&m.file, maps[0], HL_TensorMap_name, "c");
    file_set_string(&m.file, maps[1], HL_TensorMap_name, "a");
    file_set_string(&m.file, maps[2], HL_TensorMap_name, "b");
    file_set(&m.file, maps[1], HL_TensorMap_tensor_index, 4);
    file_set_string(&m.file, signatures[1], HL_SignatureDef_signature_key, "other");
    TfLiteModel *model = expect_loads(&m);
    assert_int_equal(model->metadata_count, 1);
    assert_string_equal(model->metadata[0].name, "note");
    assert_int_equal(model->metadata[0].bytes, 12);
    assert_int_equal(model->signature_count, 2);
    assert_string_equal(model->signatures[0].key, "serve");
    assert_int_equal(model->signatures[0].input_count, 3);
    assert_string_equal(model->signatures[0].inputs[0].name, "a");
    assert_int_equal(model->signatures[0].inputs[0].tensor, 4);
    assert_string_equal(model->signatures[0].inputs[2].name, "c");
    assert_int_equal(model->signatures[1].output_count, 0);
    hl_model_release(model);

    // A signature that points nowhere is left out; the graph is as good as before.
    file_set(&m.file, maps[2], HL_TensorMap_tensor_index, 5);
    struct messages messages;
    uint8_t *copy;
    model = load_at(&m.file, m.file.size, 0, &messages, &copy);
    assert_non_null(model);
    assert_int_equal(model->signature_count, 1);
    assert_string_equal(model->signatures[0].key, "other");
    assert_non_null(strstr(messages.text, "signature 'serve' is left out: 'b' of its inputs is tensor 5"));
    hl_model_release(model);
    free(copy);

    file_set(&m.file, maps[2], HL_TensorMap_tensor_index, 0);
    file_drop(&m.file, maps[2], HL_TensorMap_name);
    expect_refusal(&m, "signature 'serve': number 2 of its inputs has no name");
}

static void test_shape_signature(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    FILE_INTS(&m.file, m.tensors[0], HL_Tensor_shape_signature, -1, 3);
    FILE_INTS(&m.file, m.tensors[4], HL_Tensor_shape_signature, -1, 3, 1); // of another rank: none
    TfLiteModel *model = expect_loads(&m);
    assert_int_equal(model->subgraphs[0].tensors[0].signature_rank, 2);
    assert_int_equal(model->subgraphs[0].tensors[0].signature[0], -1);
    assert_int_equal(model->subgraphs[0].tensors[4].signature_rank, -1);
    hl_model_release(model);
    free(m.file.bytes);
}

static void test_files_and_references(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    char path[] = "/tmp/halite_test_XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, m.file.bytes, m.file.size), m.file.size);
    close(descriptor);

    struct messages messages = {.count = 0};
    struct hl_reporter reporter = {keep_message, &messages};
    TfLiteModel *model = hl_model_create_from_file(path, &reporter);
    assert_non_null(model);
    check_small(model);
    assert_true(hl_model_file_descriptor(model) >= 0);
    assert_ptr_equal(hl_model_retain(model), model);
    hl_model_release(model);
    check_small(model); // somebody still holds it
    hl_model_release(model);
    hl_model_release(NULL);

    assert_int_equal(truncate(path, 100), 0);
    assert_null(hl_model_create_from_file(path, &reporter));
    assert_non_null(strstr(messages.text, path));
    assert_int_equal(truncate(path, 0), 0);
    assert_null(hl_model_create_from_file(path, &reporter));
    assert_non_null(strstr(messages.text, "the file is empty"));
    unlink(path);
    assert_null(hl_model_create_from_file(path, &reporter));
    assert_non_null(strstr(messages.text, "No such file"));
    assert_null(hl_model_create_from_file("/", &reporter));
    assert_non_null(strstr(messages.text, "not a regular file"));
    assert_int_equal(messages.count, 4);
    free(m.file.bytes);
}

static void test_sizes(void **state)
{
    (void)state;
    size_t bytes = 77;
    assert_true(hl_tensor_bytes(kTfLiteFloat32, 0, NULL, &bytes));
    assert_int_equal(bytes, 4);
    assert_true(hl_tensor_bytes(kTfLiteInt4, 1, (const int[]){5}, &bytes));
    assert_int_equal(bytes, 3);
    assert_true(hl_tensor_bytes(kTfLiteUInt4, 2, (const int[]){2, 3}, &bytes));
    assert_int_equal(bytes, 3);
    assert_true(hl_tensor_bytes(kTfLiteInt2, 1, (const int[]){5}, &bytes));
    assert_int_equal(bytes, 2);
    assert_true(hl_tensor_bytes(kTfLiteComplex128, 2, (const int[]){0, 7}, &bytes));
    assert_int_equal(bytes, 0);
    assert_false(hl_tensor_bytes(kTfLiteFloat32, 1, (const int[]){-1}, &bytes));
    assert_false(hl_tensor_bytes(kTfLiteString, 1, (const int[]){1}, &bytes));
    assert_false(hl_tensor_bytes(kTfLiteNoType, 1, (const int[]){1}, &bytes));
    // Products are limited on the way, zeros counted as ones.
    assert_false(hl_tensor_bytes(kTfLiteInt8, 4, (const int[]){INT32_MAX, INT32_MAX, INT32_MAX, 0}, &bytes));
    assert_false(hl_tensor_bytes(kTfLiteInt8, 2, (const int[]){1 << 25, 1 << 24}, &bytes));
    assert_int_equal(bytes, 0);
    if (sizeof(size_t) == 8) assert_true(hl_tensor_bytes(kTfLiteInt8, 2, (const int[]){1 << 24, 1 << 24}, &bytes));
    assert_int_equal(hl_type_size(kTfLiteBFloat16), 2);
    assert_int_equal(hl_type_size(kTfLiteInt4), 0);
    assert_string_equal(hl_builtin_name(kTfLiteBuiltinConv2d), "CONV_2D");
    assert_string_equal(hl_builtin_name(209), "STABLEHLO_CASE");
    assert_null(hl_builtin_name(210));
    assert_null(hl_builtin_name(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_model_at_every_alignment),
        cmocka_unit_test(test_bytes_behind_the_model),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_every_changed_byte),
        cmocka_unit_test(test_not_a_model),
        cmocka_unit_test(test_no_graph),
        cmocka_unit_test(test_missing_tables),
        cmocka_unit_test(test_operator_codes),
        cmocka_unit_test(test_data_behind_the_flatbuffer),
        cmocka_unit_test(test_metadata_and_signatures),
        cmocka_unit_test(test_shape_signature),
        cmocka_unit_test(test_files_and_references),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
