// SPDX-License-Identifier: Apache-2.0
// The FlatBuffer reader and the structural verifier: values and defaults, and one broken file per
// kind of damage.
#include "small_model.h"

#include "model/flatbuffer.h"

static void test_values_and_defaults(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    struct hl_flatbuffer file = {m.file.bytes, m.file.size};
    size_t model = hl_flatbuffer_root(&file), length;
    assert_int_equal(model, m.model);
    assert_int_equal(hl_read_integer(&file, model, HL_Model_version), 3);
    assert_int_equal(hl_read_integer(&file, m.codes[0], HL_OperatorCode_version), 1); // default
    assert_int_equal(hl_read_integer(&file, m.nodes[0], HL_Operator_debug_metadata_index), -1);
    assert_string_equal(hl_read_string(&file, model, HL_Model_description, &length), "small");
    assert_int_equal(length, 5);
    assert_null(hl_read_string(&file, m.codes[0], HL_OperatorCode_custom_code, &length));
    assert_int_equal(length, 0);
    struct hl_vector vector;
    assert_true(hl_read_vector(&file, m.subgraphs[0], HL_SubGraph_tensors, &vector));
    assert_int_equal(vector.count, 5);
    assert_int_equal(hl_vector_child(&file, &vector, 4), m.tensors[4]);
    assert_int_equal(hl_vector_child(&file, &vector, 5), 0);
    assert_true(hl_read_vector(&file, m.tensors[0], HL_Tensor_shape, &vector));
    assert_int_equal(hl_vector_integer(&file, &vector, 1), 3);
    assert_int_equal(hl_vector_integer(&file, &vector, 2), 0);
    assert_false(hl_read_vector(&file, m.tensors[0], HL_Tensor_shape_signature, &vector));
    assert_int_equal(vector.count, 0);
    assert_int_equal(hl_read_child(&file, m.tensors[0], HL_Tensor_quantization), 0);
    free(m.file.bytes);
}

// Each kind of scalar, its extremes, and the reader on bytes that nobody has verified.
static void test_scalars(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    size_t buffer = m.buffers[3], tensor = m.tensors[0];
    file_set(&m.file, buffer, HL_Buffer_offset, -1);
    file_set(&m.file, tensor, HL_Tensor_type, -128);
    file_set(&m.file, tensor, HL_Tensor_is_variable, 200);
    file_set(&m.file, tensor, HL_Tensor_buffer, 0xffffffff);
    size_t options = file_child(&m.file, m.nodes[0], HL_Operator_builtin_options, HL_LeakyReluOptions);
    file_set_float(&m.file, options, HL_LeakyReluOptions_alpha, 0.25f);
    struct hl_flatbuffer file = {m.file.bytes, m.file.size};
    assert_true((uint64_t)hl_read_integer(&file, buffer, HL_Buffer_offset) == UINT64_MAX);
    assert_int_equal(hl_read_integer(&file, tensor, HL_Tensor_type), -128);
    assert_int_equal(hl_read_integer(&file, tensor, HL_Tensor_is_variable), 1);
    assert_int_equal(hl_read_integer(&file, tensor, HL_Tensor_buffer), 0xffffffff);
    assert_true(hl_read_float(&file, options, HL_LeakyReluOptions_alpha) == 0.25f);
    for (size_t wrong = 0; wrong < file.size + 64; wrong++) {
        struct hl_vector vector;
        hl_read_integer(&file, wrong, HL_Operator_large_custom_options_size);
        hl_read_string(&file, wrong, HL_Tensor_name, NULL);
        hl_read_child(&file, wrong, HL_Tensor_quantization);
        hl_read_vector(&file, wrong, HL_SubGraph_tensors, &vector);
    }
    free(m.file.bytes);
}

static void test_schema_rows(void **state)
{
    (void)state;
    assert_string_equal(hl_schema_name(hl_schema_member(HL_BuiltinOptions, 1)), "Conv2DOptions");
    assert_string_equal(hl_schema_name(hl_schema_member(HL_BuiltinOptions, 126)), "RightShiftOptions");
    assert_string_equal(hl_schema_name(hl_schema_member(HL_BuiltinOptions2, 23)), "StablehloCaseOptions");
    assert_int_equal(hl_schema_member(HL_BuiltinOptions, 0), -1);
    assert_int_equal(hl_schema_member(HL_BuiltinOptions, 127), -1);
    assert_int_equal(hl_schema_member(HL_BuiltinOptions2, 24), -1);
    for (int row = 0, before = -1; row < HL_SCHEMA_ROWS; row++) {
        const struct hl_schema_row *field = &hl_schema[row];
        if (field->kind == HL_KIND_TABLE || field->kind == HL_KIND_UNION_TYPE) before = -1;
        if (field->kind == HL_KIND_MEMBER) assert_int_equal(field->id, before < 0 ? 1 : before + 1);
        if (field->kind == HL_KIND_TABLE || field->kind == HL_KIND_UNION_TYPE) continue;
        assert_true(field->id > before || field->id == 0); // ids rise
        before = field->id;
        if (field->kind == HL_KIND_UNION) { // its type is the field before
            assert_int_equal(hl_schema[row - 1].scalar, HL_SCALAR_U8);
            assert_int_equal(hl_schema[row - 1].id, field->id - 1);
            assert_int_equal(hl_schema[field->of].kind, HL_KIND_UNION_TYPE);
        }
        if (field->kind == HL_KIND_CHILD || field->kind == HL_KIND_CHILDREN)
            assert_int_equal(hl_schema[field->of].kind, HL_KIND_TABLE);
    }
}

static size_t vtable_of(const struct small_model *m, size_t table)
{
    int32_t back;
    memcpy(&back, m->file.bytes + table, sizeof back);
    return (size_t)((int64_t)table - back);
}

static void test_broken_tables(void **state)
{
    (void)state;
    static const int32_t far[] = {INT32_MAX, INT32_MIN, INT32_MIN + 4, -1000000, 1000000};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        struct small_model m = small_model_create(1);
        file_poke(&m.file, m.nodes[0], &far[i], 4);
        expect_refusal(&m, "the Operator at byte");
    }
    struct small_model m = small_model_create(1);
    size_t vtable = vtable_of(&m, m.subgraphs[0]);
    file_poke(&m.file, vtable, &(uint16_t){0xfffe}, 2);
    expect_refusal(&m, "has its vtable outside the file");
    m = small_model_create(1);
    file_poke(&m.file, vtable, &(uint16_t){2}, 2);
    expect_refusal(&m, "has a vtable of impossible size");
    m = small_model_create(1);
    file_poke(&m.file, vtable, &(uint16_t){7}, 2);
    expect_refusal(&m, "has a vtable of impossible size");
    m = small_model_create(1);
    file_poke(&m.file, m.subgraphs[0], &(int32_t){(int32_t)(m.subgraphs[0] - vtable) + 1}, 4);
    expect_refusal(&m, "has a vtable that is not aligned");
    m = small_model_create(1);
    file_poke(&m.file, vtable + 4, &(uint16_t){0xfffc}, 2);
    expect_refusal(&m, "field tensors of the SubGraph at byte");
    m = small_model_create(1);
    file_poke(&m.file, vtable + 4, &(uint16_t){2}, 2);
    expect_refusal(&m, "lies outside the file");
    m = small_model_create(1);
    file_poke(&m.file, vtable + 4, &(uint16_t){6}, 2);
    expect_refusal(&m, "is not aligned");
}

static void test_broken_offsets(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0, 2, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct small_model m = small_model_create(1);
        file_poke_u32(&m.file, file_field(&m.file, m.model, HL_Model_subgraphs), wrong[i]);
        expect_refusal(&m, "field subgraphs of the Model at byte");
        m = small_model_create(1);
        file_poke_u32(&m.file, 0, wrong[i]);
        expect_refusal(&m, "not a valid model file: the ");
        m = small_model_create(1);
        file_poke_u32(&m.file, file_field(&m.file, m.tensors[1], HL_Tensor_name), wrong[i]);
        expect_refusal(&m, "field name of the Tensor at byte");
    }
}

static void test_broken_vectors(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0xffffffff, 0x80000000, 0x40000000, 0x3fffffff, 100000};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct small_model m = small_model_create(1);
        size_t start = FILE_INTS(&m.file, m.nodes[0], HL_Operator_inputs, 0, 1);
        file_poke_u32(&m.file, start - 4, wrong[i]);
        expect_refusal(&m, "field inputs of the Operator at byte");
        m = small_model_create(1);
        start = file_set_string(&m.file, m.tensors[1], HL_Tensor_name, "name");
        file_poke_u32(&m.file, start - 4, wrong[i]);
        expect_refusal(&m, "field name of the Tensor at byte");
    }
    struct small_model m = small_model_create(1);
    size_t start = file_set_string(&m.file, m.tensors[1], HL_Tensor_name, "name");
    file_poke(&m.file, start + 4, "s", 1);
    expect_refusal(&m, "does not end with a zero byte");
    m = small_model_create(1); // the zero byte would be the first behind the file
    start = file_set_string(&m.file, m.tensors[1], HL_Tensor_name, "name");
    m.file.size--;
    expect_refusal(&m, "does not end with a zero byte");
}

static void test_unions(void **state)
{
    (void)state;
    // A type that the schema does not know is not followed. (MUL is then told that it is not
    // MulOptions.)
    struct small_model m = small_model_create(1);
    file_set(&m.file, m.nodes[0], HL_Operator_builtin_options_type, 250);
    file_poke_u32(&m.file, file_field(&m.file, m.nodes[0], HL_Operator_builtin_options), 0xfffffffc);
    expect_refusal(&m, "its options are of type 250 (not in the schema); the operator takes MulOptions");
    m = small_model_create(1);
    file_set(&m.file, m.nodes[0], HL_Operator_builtin_options_type, 21);
    file_poke_u32(&m.file, file_field(&m.file, m.nodes[0], HL_Operator_builtin_options), 0xfffffffc);
    expect_refusal(&m, "field builtin_options of the Operator");
    m = small_model_create(1); // type without value, value without type
    file_set(&m.file, m.nodes[0], HL_Operator_builtin_options_type, 21);
    file_child(&m.file, m.nodes[1], HL_Operator_builtin_options, HL_AddOptions);
    expect_loads_and_free(&m);
}

// Offsets that share tables must not multiply time or memory: 3000 subgraphs, each the same 3000
// tensors.
static void test_shared_tables(void **state)
{
    (void)state;
    enum { many = 3000 };
    struct small_model m = small_model_create(1);
    size_t subgraphs = file_append_vector(&m.file, NULL, many, 4);
    file_link(&m.file, m.model, HL_Model_subgraphs, subgraphs - 4);
    size_t subgraph = file_table(&m.file, HL_SubGraph);
    for (size_t i = 0; i < many; i++) file_link_at(&m.file, subgraphs + 4 * i, subgraph);
    size_t tensors = file_append_vector(&m.file, NULL, many, 4);
    file_link(&m.file, subgraph, HL_SubGraph_tensors, tensors - 4);
    size_t tensor = file_table(&m.file, HL_Tensor);
    for (size_t i = 0; i < many; i++) file_link_at(&m.file, tensors + 4 * i, tensor);
    expect_refusal(&m, "is one table more than a file of this size can hold");
}

// One long vector of scales, shared by many tensors: the decoded copies must not grow without
// bound.
static void test_shared_vectors(void **state)
{
    (void)state;
    enum { many = 4000, length = 100000 };
    struct small_model m = small_model_create(1);
    size_t tensors = file_append_vector(&m.file, NULL, many, 4);
    file_link(&m.file, m.subgraphs[0], HL_SubGraph_tensors, tensors - 4);
    size_t tensor = file_table(&m.file, HL_Tensor);
    for (size_t i = 0; i < many; i++) file_link_at(&m.file, tensors + 4 * i, tensor);
    size_t quantization = file_child(&m.file, tensor, HL_Tensor_quantization, HL_QuantizationParameters);
    file_set(&m.file, tensor, HL_Tensor_type, 9);
    FILE_INTS(&m.file, tensor, HL_Tensor_shape, length);
    file_set_vector(&m.file, quantization, HL_QuantizationParameters_scale, NULL, length);
    file_set_vector(&m.file, quantization, HL_QuantizationParameters_zero_point, NULL, length);
    expect_refusal(&m, "the model describes more than its");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_defaults),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_schema_rows),
        cmocka_unit_test(test_broken_tables),
        cmocka_unit_test(test_broken_offsets),
        cmocka_unit_test(test_broken_vectors),
        cmocka_unit_test(test_unions),
        cmocka_unit_test(test_shared_tables),
        cmocka_unit_test(test_shared_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
