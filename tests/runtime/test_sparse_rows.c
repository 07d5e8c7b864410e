// SPDX-License-Identifier: Apache-2.0
// Constants that store only some of their elements: FULLY_CONNECTED takes them as weights, and as nothing else, since
// whoever reads a bias by its shape reads past the few bytes that are stored.
#include "unit/small_model.h"

#include "tensorflow/lite/c/c_api.h"

// x [1, 3], dense weights [4, 3] of ones, bias [4]: y = FULLY_CONNECTED(x), then RELU.
static struct small_model make_model(void)
{
    struct small_model m = small_model_create(1);
    struct model_file *f = &m.file;
    static const float ones[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, bias[4] = {10, 20, 30, 40};
    file_set(f, m.codes[0], HL_OperatorCode_builtin_code, kTfLiteBuiltinFullyConnected);
    file_set(f, m.codes[1], HL_OperatorCode_builtin_code, kTfLiteBuiltinRelu);
    file_set_vector(f, m.buffers[1], HL_Buffer_data, ones, sizeof ones);
    file_set_vector(f, m.buffers[2], HL_Buffer_data, bias, sizeof bias);
    FILE_INTS(f, m.tensors[1], HL_Tensor_shape, 4, 3);
    FILE_INTS(f, m.tensors[3], HL_Tensor_shape, 4);
    FILE_INTS(f, m.tensors[2], HL_Tensor_shape, 1, 4);
    FILE_INTS(f, m.tensors[4], HL_Tensor_shape, 1, 4);
    FILE_INTS(f, m.nodes[0], HL_Operator_inputs, 0, 1, 3);
    FILE_INTS(f, m.nodes[1], HL_Operator_inputs, 2);
    return m;
}

// Makes a tensor compressed along its last dimension: of its rows the first stores the element at `index`, which is
// `value`, the others nothing.
static void compress(struct small_model *m, int tensor, int buffer, int rank, int rows, uint8_t index, float value)
{
    struct model_file *f = &m->file;
    size_t levels[2], sparsity = file_child(f, m->tensors[tensor], HL_Tensor_sparsity, HL_SparsityParameters);
    static const int order[2] = {0, 1};
    file_set_vector(f, sparsity, HL_SparsityParameters_traversal_order, order, (size_t)rank);
    file_children(f, sparsity, HL_SparsityParameters_dim_metadata, rank, levels);
    if (rank == 2) file_set(f, levels[0], HL_DimensionMetadata_dense_size, rows);
    size_t listed = levels[rank - 1];
    file_set(f, listed, HL_DimensionMetadata_format, 1);
    file_set(f, listed, HL_DimensionMetadata_array_segments_type, 3);
    size_t segments = file_child(f, listed, HL_DimensionMetadata_array_segments, HL_Uint8Vector);
    file_set_vector(f, segments, HL_Uint8Vector_values, (const uint8_t[]){0, 1, 1, 1, 1}, (size_t)rows + 1);
    file_set(f, listed, HL_DimensionMetadata_array_indices_type, 3);
    size_t indices = file_child(f, listed, HL_DimensionMetadata_array_indices, HL_Uint8Vector);
    file_set_vector(f, indices, HL_Uint8Vector_values, &index, 1);
    file_set_vector(f, m->buffers[buffer], HL_Buffer_data, &value, sizeof value);
}

static void ignore(void *user_data, const char *format, va_list args)
{
    (void)user_data, (void)format, (void)args;
}

static TfLiteInterpreter *interpret(TfLiteModel *model)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, ignore, NULL);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_non_null(interpreter);
    return interpreter;
}

// Loads a model and allocates its tensors, which must give this status.
static TfLiteInterpreter *allocate(struct small_model *m, TfLiteModel **model, TfLiteStatus status)
{
    *model = expect_loads(m);
    TfLiteInterpreter *interpreter = interpret(*model);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), status);
    return interpreter;
}

static void test_weights_may_be_sparse(void **state)
{
    (void)state;
    struct small_model m = make_model();
    compress(&m, 1, 1, 2, 4, 2, 5);
    TfLiteModel *model;
    TfLiteInterpreter *interpreter = allocate(&m, &model, kTfLiteOk);
    static const float x[3] = {1, 2, 3}, expected[4] = {10 + 5 * 3, 20, 30, 40};
    TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), x, sizeof x);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    assert_memory_equal(TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0)), expected, sizeof expected);
    TfLiteInterpreterDelete(interpreter);
    hl_model_release(model);
    free(m.file.bytes);
}

static void test_bias_may_not(void **state)
{
    (void)state;
    struct small_model m = make_model();
    compress(&m, 3, 2, 1, 1, 2, 7);
    TfLiteModel *model;
    TfLiteInterpreter *interpreter = allocate(&m, &model, kTfLiteError);
    TfLiteInterpreterDelete(interpreter);
    hl_model_release(model);
    free(m.file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_may_be_sparse),
        cmocka_unit_test(test_bias_may_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
