// SPDX-License-Identifier: Apache-2.0
// What the semantic verifier refuses and what it lets pass, class by class; every refusal names
// place and value.
#include "small_model.h"

#include <math.h>

#define NEW_NAN ((float)NAN)
#define NEW_INFINITY ((float)INFINITY)

// ---- Indices

static void test_tensor_indices(void **state)
{
    (void)state;
    static const int32_t wrong[] = {5, 999, -2, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char words[100];
        struct small_model m = small_model_create(1);
        FILE_INTS(&m.file, m.nodes[1], HL_Operator_inputs, 2, wrong[i]);
        snprintf(words, sizeof words, "subgraph 0, node 1 (ADD): input 1 is tensor %d, but the subgraph has 5 tensors",
                 wrong[i]);
        expect_refusal(&m, words);
        m = small_model_create(1);
        FILE_INTS(&m.file, m.nodes[1], HL_Operator_outputs, wrong[i]);
        snprintf(words, sizeof words, "node 1 (ADD): output 0 is tensor %d", wrong[i]);
        expect_refusal(&m, words);
        m = small_model_create(1);
        FILE_INTS(&m.file, m.nodes[1], HL_Operator_intermediates, wrong[i]);
        snprintf(words, sizeof words, "node 1 (ADD): intermediate 0 is tensor %d", wrong[i]);
        expect_refusal(&m, words);
        m = small_model_create(1);
        FILE_INTS(&m.file, m.subgraphs[0], HL_SubGraph_inputs, wrong[i]);
        snprintf(words, sizeof words, "subgraph 0: input 0 is tensor %d", wrong[i]);
        expect_refusal(&m, words);
        m = small_model_create(1);
        FILE_INTS(&m.file, m.subgraphs[0], HL_SubGraph_outputs, wrong[i]);
        snprintf(words, sizeof words, "subgraph 0: output 0 is tensor %d", wrong[i]);
        expect_refusal(&m, words);
    }
    // -1 leaves an optional input out, but nothing else.
    struct small_model m = small_model_create(1);
    FILE_INTS(&m.file, m.nodes[1], HL_Operator_inputs, 2, -1);
    expect_loads_and_free(&m);
    m = small_model_create(1);
    FILE_INTS(&m.file, m.nodes[1], HL_Operator_outputs, -1);
    expect_refusal(&m, "output 0 is tensor -1");
    m = small_model_create(1);
    FILE_INTS(&m.file, m.subgraphs[0], HL_SubGraph_inputs, -1);
    expect_refusal(&m, "input 0 is tensor -1");
}

static void test_other_indices(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    file_set(&m.file, m.tensors[1], HL_Tensor_buffer, 4);
    expect_refusal(&m, "subgraph 0, tensor 1 (scale): its buffer is number 4, but the model has 4 buffers");
    m = small_model_create(1);
    file_set(&m.file, m.tensors[1], HL_Tensor_buffer, 0xffffffff);
    expect_refusal(&m, "its buffer is number 4294967295");
    m = small_model_create(1);
    file_set(&m.file, m.nodes[1], HL_Operator_opcode_index, 2);
    expect_refusal(&m, "subgraph 0, node 1 (operator): its operator code is number 2, but the "
                       "model has 2 operator codes");
}

// ---- Shapes and constants

static void test_shapes(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    FILE_INTS(&m.file, m.tensors[0], HL_Tensor_shape, 1, -5);
    expect_refusal(&m, "subgraph 0, tensor 0 (x): dimension 1 is -5");
    m = small_model_create(1);
    FILE_INTS(&m.file, m.tensors[0], HL_Tensor_shape, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX);
    expect_refusal(&m, "tensor 0 (x): its shape [2147483647,2147483647,");
    m = small_model_create(1);
    FILE_INTS(&m.file, m.tensors[0], HL_Tensor_shape, INT32_MAX, INT32_MAX, 0);
    expect_refusal(&m, "tensor 0 (x): its shape [2147483647,2147483647,");
    m = small_model_create(1);
    file_set_vector(&m.file, m.tensors[0], HL_Tensor_shape, NULL, 33);
    expect_refusal(&m, "it has 33 dimensions; at most 32 are supported");
    m = small_model_create(1);
    file_set_vector(&m.file, m.tensors[0], HL_Tensor_shape, NULL, 32);
    expect_loads_and_free(&m);
    m = small_model_create(1);
    file_set(&m.file, m.tensors[0], HL_Tensor_type, 23);
    expect_refusal(&m, "tensor 0 (x): its type is 23, which the format does not define");
    m = small_model_create(1);
    file_set(&m.file, m.tensors[0], HL_Tensor_type, -1);
    expect_refusal(&m, "tensor 0 (x): its type is -1");
}

static void test_constants(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    FILE_INTS(&m.file, m.tensors[1], HL_Tensor_shape, 4);
    expect_refusal(&m, "tensor 1 (scale): its buffer has 12 bytes; its type and shape need 16");
    m = small_model_create(1);
    file_set_vector(&m.file, m.buffers[1], HL_Buffer_data, NULL, 0);
    expect_refusal(&m, "tensor 1 (scale): its buffer has 0 bytes; its type and shape need 12");
    m = small_model_create(1);
    file_set(&m.file, m.tensors[1], HL_Tensor_is_variable, 1);
    expect_refusal(&m, "tensor 1 (scale): it is a variable, but has a buffer");
    m = small_model_create(1);
    file_set(&m.file, m.tensors[1], HL_Tensor_type, 13);
    expect_refusal(&m, "tensor 1 (scale): it is constant, but its type cannot be");
    // Padding behind the elements does no harm, and does not count.
    m = small_model_create(1);
    FILE_INTS(&m.file, m.tensors[1], HL_Tensor_shape, 2);
    TfLiteModel *model = expect_loads(&m);
    assert_int_equal(model->subgraphs[0].tensors[1].bytes, 8);
    hl_model_release(model);
    free(m.file.bytes);
    // No elements, no bytes: still a constant, if the buffer is there.
    m = small_model_create(1);
    FILE_INTS(&m.file, m.tensors[1], HL_Tensor_shape, 0);
    file_set_vector(&m.file, m.buffers[1], HL_Buffer_data, NULL, 0);
    model = expect_loads(&m);
    assert_non_null(model->subgraphs[0].tensors[1].data);
    assert_int_equal(model->subgraphs[0].tensors[1].bytes, 0);
    hl_model_release(model);
    free(m.file.bytes);
}

#define STRINGS(m, ...)                                                                    \
    do {                                                                                   \
        static const int32_t words_[] = {__VA_ARGS__};                                     \
        (m) = small_model_create(1);                                                       \
        file_set(&(m).file, (m).tensors[1], HL_Tensor_type, 5);                            \
        FILE_INTS(&(m).file, (m).tensors[1], HL_Tensor_shape, 2);                          \
        file_set_vector(&(m).file, (m).buffers[1], HL_Buffer_data, words_, sizeof words_); \
    } while (0)

static void test_strings(void **state)
{
    (void)state;
    struct small_model m;
    STRINGS(m, 2, 16, 18, 20, 0x64636261);
    TfLiteModel *model = expect_loads(&m);
    assert_int_equal(model->subgraphs[0].tensors[1].bytes, 20);
    hl_model_release(model);
    free(m.file.bytes);
    STRINGS(m, 2, 16, 16, 16);
    expect_loads_and_free(&m);
    STRINGS(m, 3, 20, 20, 20, 20);
    expect_refusal(&m, "tensor 1 (scale): it holds 3 strings, but its shape has 2 elements");
    STRINGS(m, -1, 16, 16, 16);
    expect_refusal(&m, "it holds -1 strings");
    STRINGS(m, 0x3fffffff, 16, 16, 16);
    expect_refusal(&m, "it holds 1073741823 strings");
    STRINGS(m, 2, 16, 16);
    expect_refusal(&m, "it holds 2 strings, but only 12 bytes");
    STRINGS(m, 2, 16, 21, 16, 0);
    expect_refusal(&m, "string offset 1 is 21; it must lie between 16 and 20");
    STRINGS(m, 2, 18, 17, 20, 0);
    expect_refusal(&m, "string offset 1 is 17; it must lie between 18 and 20");
    STRINGS(m, 2, 12, 17, 20, 0);
    expect_refusal(&m, "string offset 0 is 12");
    STRINGS(m, 2, -16, 17, 20, 0);
    expect_refusal(&m, "string offset 0 is -16");
    m = small_model_create(1);
    file_set(&m.file, m.tensors[1], HL_Tensor_type, 5);
    file_set_vector(&m.file, m.buffers[1], HL_Buffer_data, NULL, 3);
    expect_refusal(&m, "its strings take 3 bytes");
}

// ---- Quantization

static size_t quantize(struct small_model *m, int scale_count, const float *scales, int zero_point_count,
                       const int64_t *zero_points)
{
    *m = small_model_create(1);
    file_set(&m->file, m->tensors[0], HL_Tensor_type, 9); // int8
    size_t q = file_child(&m->file, m->tensors[0], HL_Tensor_quantization, HL_QuantizationParameters);
    file_set_vector(&m->file, q, HL_QuantizationParameters_scale, scales, (size_t)scale_count);
    file_set_vector(&m->file, q, HL_QuantizationParameters_zero_point, zero_points, (size_t)zero_point_count);
    return q;
}

static void test_affine_quantization(void **state)
{
    (void)state;
    static const float scales[3] = {0.5f, 0.25f, 2};
    static const int64_t zero_points[3] = {-128, 0, 127};
    struct small_model m;
    size_t q = quantize(&m, 3, scales, 3, zero_points);
    file_set(&m.file, q, HL_QuantizationParameters_quantized_dimension, 1);
    TfLiteModel *model = expect_loads(&m);
    const struct hl_model_quantization *read = &model->subgraphs[0].tensors[0].quantization;
    assert_int_equal(read->type, kTfLiteAffineQuantization);
    assert_int_equal(read->scale_count, 3);
    assert_int_equal(read->dimension, 1);
    assert_true(read->scales[2] == 2);
    assert_int_equal(read->zero_points[0], -128);
    hl_model_release(model);
    file_set(&m.file, q, HL_QuantizationParameters_quantized_dimension, 0);
    expect_refusal(&m, "tensor 0 (x): it has 3 scales; there must be 1, or 1 for its quantized dimension 0");

    q = quantize(&m, 1, scales, 1, zero_points);
    file_set(&m.file, q, HL_QuantizationParameters_quantized_dimension, 2);
    expect_refusal(&m, "tensor 0 (x): its quantized dimension is 2, but it has 2 dimensions");
    q = quantize(&m, 1, scales, 1, zero_points);
    file_set(&m.file, q, HL_QuantizationParameters_quantized_dimension, -1);
    expect_refusal(&m, "its quantized dimension is -1");
    quantize(&m, 1, scales, 0, NULL);
    expect_refusal(&m, "it has 1 scale, but 0 zero points");
    quantize(&m, 1, scales, 3, zero_points);
    expect_refusal(&m, "it has 1 scale, but 3 zero points");
    quantize(&m, 0, NULL, 3, zero_points); // zero points alone mean nothing
    expect_loads_and_free(&m);

    static const float wrong[] = {-0.5f, NEW_NAN, NEW_INFINITY};
    for (int i = 0; i < 3; i++) {
        quantize(&m, 1, &wrong[i], 1, zero_points);
        expect_refusal(&m, "subgraph 0, tensor 0 (x): scale 0 is ");
    }
    quantize(&m, 1, &(const float){0}, 1, zero_points);
    expect_loads_and_free(&m);
    quantize(&m, 1, scales, 1, &(const int64_t){128});
    expect_refusal(&m, "zero point 0 is 128; its type allows -128 to 127");
    quantize(&m, 1, scales, 1, &(const int64_t){INT64_MIN});
    expect_refusal(&m, "zero point 0 is -9223372036854775808, which does not fit 32 bits");
}

static size_t quantize_in_blocks(struct small_model *m, int scales, int zero_points, int block_size)
{
    *m = small_model_create(1);
    size_t q = file_child(&m->file, m->tensors[0], HL_Tensor_quantization, HL_QuantizationParameters);
    file_set(&m->file, q, HL_QuantizationParameters_details_type, 2);
    file_set(&m->file, q, HL_QuantizationParameters_quantized_dimension, 1);
    size_t blocks = file_child(&m->file, q, HL_QuantizationParameters_details, HL_BlockwiseQuantization);
    file_set(&m->file, blocks, HL_BlockwiseQuantization_scales, scales);
    file_set(&m->file, blocks, HL_BlockwiseQuantization_zero_points, zero_points);
    file_set(&m->file, blocks, HL_BlockwiseQuantization_block_size, block_size);
    return q;
}

static void test_blockwise_quantization(void **state)
{
    (void)state;
    struct small_model m;
    quantize_in_blocks(&m, 1, -1, 32);
    TfLiteModel *model = expect_loads(&m);
    const struct hl_model_quantization *read = &model->subgraphs[0].tensors[0].quantization;
    assert_int_equal(read->type, kTfLiteBlockwiseQuantization);
    assert_int_equal(read->scales_tensor, 1);
    assert_int_equal(read->zero_points_tensor, -1);
    assert_int_equal(read->block_size, 32);
    assert_int_equal(read->dimension, 1);
    hl_model_release(model);
    free(m.file.bytes);
    quantize_in_blocks(&m, 5, -1, 32);
    expect_refusal(&m, "tensor 0 (x): its scales are tensor 5, but the subgraph has 5 tensors");
    quantize_in_blocks(&m, 1, 5, 32);
    expect_refusal(&m, "tensor 0 (x): its zero points are tensor 5, but the subgraph has 5 tensors");
    quantize_in_blocks(&m, 1, 1, -32);
    expect_refusal(&m, "tensor 0 (x): its block size is -32");
    size_t q = quantize_in_blocks(&m, 1, 1, 32);
    file_set(&m.file, q, HL_QuantizationParameters_quantized_dimension, 2);
    expect_refusal(&m, "its quantized dimension is 2");

    m = small_model_create(1);
    q = file_child(&m.file, m.tensors[0], HL_Tensor_quantization, HL_QuantizationParameters);
    file_set(&m.file, q, HL_QuantizationParameters_details_type, 3);
    size_t axes = file_child(&m.file, q, HL_QuantizationParameters_details, HL_MultiAxisQuantization);
    file_set(&m.file, axes, HL_MultiAxisQuantization_scales, 3);
    FILE_INTS(&m.file, axes, HL_MultiAxisQuantization_quantized_dimensions, 1, 0);
    model = expect_loads(&m);
    read = &model->subgraphs[0].tensors[0].quantization;
    assert_int_equal(read->type, kTfLiteMultiAxisQuantization);
    assert_int_equal(read->scales_tensor, 3);
    assert_int_equal(read->dimension_count, 2);
    assert_int_equal(read->dimensions[0], 1);
    hl_model_release(model);
    FILE_INTS(&m.file, axes, HL_MultiAxisQuantization_quantized_dimensions, 1, 2);
    expect_refusal(&m, "its quantized dimension is 2, but it has 2 dimensions");
}

// ---- Sparsity: a 4 x 6 matrix in compressed rows, blocks of 1 x 2 (so 4 x 3 blocks), with 3
// blocks stored

struct sparse_model {
    struct small_model m;
    size_t sparsity, dimensions[3], segments, indices;
};

static struct sparse_model sparse_create(void)
{
    struct sparse_model s = {.m = small_model_create(1)};
    struct model_file *f = &s.m.file;
    FILE_INTS(f, s.m.tensors[1], HL_Tensor_shape, 4, 6);
    file_set_vector(f, s.m.buffers[1], HL_Buffer_data, NULL, 3 * 2 * sizeof(float));
    s.sparsity = file_child(f, s.m.tensors[1], HL_Tensor_sparsity, HL_SparsityParameters);
    FILE_INTS(f, s.sparsity, HL_SparsityParameters_traversal_order, 0, 1, 2);
    FILE_INTS(f, s.sparsity, HL_SparsityParameters_block_map, 1);
    file_children(f, s.sparsity, HL_SparsityParameters_dim_metadata, 3, s.dimensions);
    file_set(f, s.dimensions[0], HL_DimensionMetadata_dense_size, 4);
    file_set(f, s.dimensions[1], HL_DimensionMetadata_format, 1);
    file_set(f, s.dimensions[1], HL_DimensionMetadata_array_segments_type, 3);
    size_t segments = file_child(f, s.dimensions[1], HL_DimensionMetadata_array_segments, HL_Uint8Vector);
    s.segments = file_set_vector(f, segments, HL_Uint8Vector_values, (const uint8_t[]){0, 2, 2, 3, 3}, 5);
    file_set(f, s.dimensions[1], HL_DimensionMetadata_array_indices_type, 2);
    size_t indices = file_child(f, s.dimensions[1], HL_DimensionMetadata_array_indices, HL_Uint16Vector);
    s.indices = file_set_vector(f, indices, HL_Uint16Vector_values, (const uint16_t[]){0, 2, 1}, 3);
    file_set(f, s.dimensions[2], HL_DimensionMetadata_dense_size, 2);
    return s;
}

static void test_sparsity(void **state)
{
    (void)state;
    struct sparse_model s = sparse_create();
    TfLiteModel *model = expect_loads(&s.m);
    const struct hl_model_tensor *tensor = &model->subgraphs[0].tensors[1];
    assert_non_null(tensor->sparsity);
    assert_int_equal(tensor->bytes, 24);
    assert_int_equal(tensor->sparsity->order_count, 3);
    assert_int_equal(tensor->sparsity->block_map[0], 1);
    assert_int_equal(tensor->sparsity->dimensions[1].format, kTfLiteDimSparseCSR);
    assert_int_equal(tensor->sparsity->dimensions[1].segment_count, 5);
    assert_int_equal(tensor->sparsity->dimensions[1].segments[3], 3);
    assert_int_equal(tensor->sparsity->dimensions[1].indices[1], 2);
    assert_int_equal(tensor->sparsity->dimensions[2].dense_size, 2);
    hl_model_release(model);
    free(s.m.file.bytes);
}

static void refuse_sparse_byte(size_t which, uint8_t value, const char *words)
{
    struct sparse_model s = sparse_create();
    s.m.file.bytes[which ? s.indices + 2 * (which - 10) : s.segments + 1] = value;
    expect_refusal(&s.m, words);
}

static void test_broken_sparsity(void **state)
{
    (void)state;
    struct sparse_model s = sparse_create();
    file_set_vector(&s.m.file, s.m.buffers[1], HL_Buffer_data, NULL, 20);
    expect_refusal(&s.m, "tensor 1 (scale): its buffer has 20 bytes; its type and shape need 24");
    s = sparse_create();
    FILE_INTS(&s.m.file, s.sparsity, HL_SparsityParameters_traversal_order, 0, 1);
    expect_refusal(&s.m, "its sparsity must describe 3 dimensions; the order has 2");
    s = sparse_create();
    FILE_INTS(&s.m.file, s.sparsity, HL_SparsityParameters_traversal_order, 0, 0, 2);
    expect_refusal(&s.m, "entry 1 of its traversal order is 0");
    s = sparse_create();
    FILE_INTS(&s.m.file, s.sparsity, HL_SparsityParameters_traversal_order, 0, 2, 1);
    expect_refusal(&s.m, "entry 1 of its traversal order is 2");
    s = sparse_create();
    FILE_INTS(&s.m.file, s.sparsity, HL_SparsityParameters_block_map, 7);
    expect_refusal(&s.m, "entry 0 of its block map is 7");
    s = sparse_create();
    FILE_INTS(&s.m.file, s.sparsity, HL_SparsityParameters_block_map, 0, 1, 1);
    expect_refusal(&s.m, "its sparsity has 3 block dimensions, but it has 2 dimensions");
    s = sparse_create();
    file_set(&s.m.file, s.dimensions[0], HL_DimensionMetadata_dense_size, 5);
    expect_refusal(&s.m, "sparse dimension 0 has the size 5; the shape needs 4");
    s = sparse_create();
    file_set(&s.m.file, s.dimensions[2], HL_DimensionMetadata_dense_size, 4);
    expect_refusal(&s.m, "sparse dimension 2 has blocks of 4, which do not divide dimension 1 of 6");
    s = sparse_create();
    file_set(&s.m.file, s.dimensions[2], HL_DimensionMetadata_dense_size, 0);
    expect_refusal(&s.m, "sparse dimension 2 has blocks of 0");
    s = sparse_create();
    file_set(&s.m.file, s.dimensions[1], HL_DimensionMetadata_format, 2);
    expect_refusal(&s.m, "sparse dimension 1 has the unknown format 2");
    s = sparse_create();
    file_drop(&s.m.file, s.dimensions[1], HL_DimensionMetadata_array_indices);
    expect_refusal(&s.m, "a sparse dimension has no indices");
    s = sparse_create();
    file_poke_u32(&s.m.file, s.segments - 4, 4);
    expect_refusal(&s.m, "sparse dimension 1 has 4 segments; there must be 5");
    refuse_sparse_byte(0, 200, "segment 1 is 200 after 0, and there are 3 indices");
    refuse_sparse_byte(0, 3, "segment 2 is 2 after 3");
    refuse_sparse_byte(10, 3, "index 0 is 3; it must rise and stay below 3");
    refuse_sparse_byte(11, 0, "index 1 is 0; it must rise and stay below 3");
    s = sparse_create();
    file_set(&s.m.file, s.m.tensors[1], HL_Tensor_buffer, 0);
    expect_refusal(&s.m, "it is sparse, but not constant");
}

// ---- Order

static void test_order(void **state)
{
    (void)state;
    struct small_model m = small_model_create(1);
    FILE_INTS(&m.file, m.nodes[0], HL_Operator_inputs, 4, 1);
    expect_refusal(&m, "subgraph 0, node 0 (MUL): input 0 is tensor 4 (y), which node 1 (ADD) writes only later");
    m = small_model_create(1); // also where it has a value before: as an input of the graph, or a variable
    FILE_INTS(&m.file, m.nodes[1], HL_Operator_outputs, 0);
    FILE_INTS(&m.file, m.nodes[1], HL_Operator_inputs, 2, 3);
    FILE_INTS(&m.file, m.subgraphs[0], HL_SubGraph_outputs, 0);
    expect_refusal(&m, "node 0 (MUL): input 0 is tensor 0 (x), which node 1 (ADD) writes only later");
    m = small_model_create(1);
    FILE_INTS(&m.file, m.nodes[0], HL_Operator_inputs, 4, 1);
    file_set(&m.file, m.tensors[4], HL_Tensor_is_variable, 1);
    expect_refusal(&m, "node 0 (MUL): input 0 is tensor 4 (y), which node 1 (ADD) writes only later");
    m = small_model_create(1);
    FILE_INTS(&m.file, m.nodes[1], HL_Operator_inputs, 4, 3);
    expect_refusal(&m, "subgraph 0, node 1 (ADD): input 0 is tensor 4 (y), which the node itself writes");
    m = small_model_create(1);
    FILE_INTS(&m.file, m.nodes[0], HL_Operator_outputs, 4);
    FILE_INTS(&m.file, m.nodes[1], HL_Operator_inputs, 0, 3);
    expect_refusal(&m, "node 1 (ADD): output 0 is tensor 4 (y), which node 0 (MUL) writes too");
    m = small_model_create(1);
    FILE_INTS(&m.file, m.nodes[0], HL_Operator_outputs, 2, 2);
    expect_refusal(&m, "output 1 is tensor 2 (product), which node 0 (MUL) writes too");
    m = small_model_create(1);
    FILE_INTS(&m.file, m.nodes[0], HL_Operator_outputs, 3);
    expect_refusal(&m, "node 0 (MUL): output 0 is tensor 3 (bias), which is constant");
    m = small_model_create(1);
    file_set(&m.file, m.tensors[1], HL_Tensor_buffer, 0);
    expect_refusal(&m, "node 0 (MUL): input 1 is tensor 1 (scale), which is neither written by a "
                       "node before it nor");
    m = small_model_create(1);
    FILE_INTS(&m.file, m.nodes[0], HL_Operator_inputs, 1, 1);
    FILE_INTS(&m.file, m.nodes[1], HL_Operator_outputs, 0);
    expect_refusal(&m, "subgraph 0: output 0 is tensor 4 (y), which no node writes");
}

static void test_unusual_but_harmless(void **state)
{
    (void)state;
    // A node may write an input of the graph that it does not read.
    struct small_model m = small_model_create(1);
    FILE_INTS(&m.file, m.nodes[0], HL_Operator_inputs, 1, 1);
    FILE_INTS(&m.file, m.nodes[1], HL_Operator_outputs, 0);
    FILE_INTS(&m.file, m.subgraphs[0], HL_SubGraph_outputs, 0);
    expect_loads_and_free(&m);
    // Variables are read before they are written.
    m = small_model_create(1);
    file_set(&m.file, m.tensors[1], HL_Tensor_buffer, 0);
    file_set(&m.file, m.tensors[1], HL_Tensor_is_variable, 1);
    TfLiteModel *model = expect_loads(&m);
    assert_true(model->subgraphs[0].tensors[1].is_variable);
    hl_model_release(model);
    free(m.file.bytes);
    // Data of another file counts as constant.
    m = small_model_create(1);
    file_set(&m.file, m.tensors[1], HL_Tensor_buffer, 0);
    file_set(&m.file, m.tensors[1], HL_Tensor_external_buffer, 1);
    model = expect_loads(&m);
    assert_true(model->subgraphs[0].tensors[1].external_data);
    hl_model_release(model);
    free(m.file.bytes);
    // A tensor without elements has nothing to be written.
    m = small_model_create(1);
    file_set(&m.file, m.tensors[1], HL_Tensor_buffer, 0);
    FILE_INTS(&m.file, m.tensors[1], HL_Tensor_shape, 0);
    expect_loads_and_free(&m);
    // Constants, inputs and one tensor twice may be outputs; inputs may be constant.
    m = small_model_create(1);
    FILE_INTS(&m.file, m.subgraphs[0], HL_SubGraph_inputs, 0, 0, 1);
    FILE_INTS(&m.file, m.subgraphs[0], HL_SubGraph_outputs, 0, 3, 4, 4);
    expect_loads_and_free(&m);
    // RESHAPE may name a second input for its shape alone.
    m = small_model_create(1);
    file_set(&m.file, m.codes[1], HL_OperatorCode_builtin_code, kTfLiteBuiltinReshape);
    file_set(&m.file, m.tensors[3], HL_Tensor_buffer, 0);
    expect_loads_and_free(&m);
    // No operators, no signatures, nothing to do.
    m = small_model_create(1);
    file_drop(&m.file, m.subgraphs[0], HL_SubGraph_operators);
    file_drop(&m.file, m.subgraphs[0], HL_SubGraph_outputs);
    expect_loads_and_free(&m);
}

// ---- Calls

// Turns a subgraph's only operator, made here, into IF with these branches.
static void add_branches(struct small_model *m, int subgraph, int then_index, int else_index)
{
    size_t node;
    file_set(&m->file, m->codes[1], HL_OperatorCode_builtin_code, kTfLiteBuiltinIf);
    file_children(&m->file, m->subgraphs[subgraph], HL_SubGraph_operators, 1, &node);
    file_set(&m->file, node, HL_Operator_opcode_index, 1);
    file_set(&m->file, node, HL_Operator_builtin_options_type, 92);
    size_t options = file_child(&m->file, node, HL_Operator_builtin_options, HL_IfOptions);
    file_set(&m->file, options, HL_IfOptions_then_subgraph_index, then_index);
    file_set(&m->file, options, HL_IfOptions_else_subgraph_index, else_index);
    file_drop(&m->file, m->subgraphs[0], HL_SubGraph_outputs);
}

static void test_calls(void **state)
{
    (void)state;
    struct small_model m = small_model_create(3);
    add_branches(&m, 0, 1, 2);
    expect_loads_and_free(&m);
    m = small_model_create(3);
    add_branches(&m, 0, 1, 3);
    expect_refusal(&m, "subgraph 0, node 0 (IF): option else_subgraph_index is 3, but the model has 3 subgraphs");
    m = small_model_create(3);
    add_branches(&m, 0, -1, 2);
    expect_refusal(&m, "option then_subgraph_index is -1");
    m = small_model_create(3);
    add_branches(&m, 0, 1, 0);
    expect_refusal(&m, "subgraph 0, node 0 (IF): it calls subgraph 0, which is still running");
    m = small_model_create(4); // 0 -> 1 -> 2 -> 1
    add_branches(&m, 0, 1, 1);
    add_branches(&m, 1, 3, 2);
    add_branches(&m, 2, 3, 1);
    expect_refusal(&m, "subgraph 2, node 0 (IF): it calls subgraph 1, which is still running");
    m = small_model_create(4); // a ring that the main graph does not reach
    add_branches(&m, 2, 3, 3);
    add_branches(&m, 3, 2, 2);
    file_drop(&m.file, m.subgraphs[0], HL_SubGraph_operators);
    expect_refusal(&m, "subgraph 3, node 0 (IF): it calls subgraph 2");
    m = small_model_create(4); // shared callees are no ring
    add_branches(&m, 0, 1, 2);
    add_branches(&m, 1, 3, 2);
    add_branches(&m, 2, 3, 3);
    expect_loads_and_free(&m);
    // Callers write into the inputs.
    m = small_model_create(2);
    add_branches(&m, 0, 1, 1);
    size_t tensor;
    file_children(&m.file, m.subgraphs[1], HL_SubGraph_tensors, 1, &tensor);
    FILE_INTS(&m.file, tensor, HL_Tensor_shape, 3);
    file_set(&m.file, tensor, HL_Tensor_buffer, 1);
    expect_refusal(&m, "subgraph 1: input 0 is tensor 0 (), which is constant, but nodes call this subgraph");
}

static void test_deep_calls(void **state)
{
    (void)state;
    struct small_model m = small_model_create(most_children); // a chain, last to first, so that walks meet known levels
    for (int i = 0; i + 1 < most_children; i++) add_branches(&m, i, i + 1, i + 1);
    expect_loads_and_free(&m);

    for (int deep = 128; deep <= 129; deep++) {
        m = small_model_create(1);
        size_t subgraphs = file_append_vector(&m.file, NULL, (size_t)deep, 4);
        file_link(&m.file, m.model, HL_Model_subgraphs, subgraphs - 4);
        file_set(&m.file, m.codes[1], HL_OperatorCode_builtin_code, kTfLiteBuiltinCallOnce);
        for (int i = 0; i < deep; i++) {
            size_t subgraph = file_table(&m.file, HL_SubGraph), tensor, node;
            file_link_at(&m.file, subgraphs + 4 * (size_t)i, subgraph);
            file_children(&m.file, subgraph, HL_SubGraph_tensors, 1, &tensor);
            if (i + 1 == deep) continue;
            file_children(&m.file, subgraph, HL_SubGraph_operators, 1, &node);
            file_set(&m.file, node, HL_Operator_opcode_index, 1);
            file_set(&m.file, node, HL_Operator_builtin_options_type, 103);
            size_t options = file_child(&m.file, node, HL_Operator_builtin_options, HL_CallOnceOptions);
            file_set(&m.file, options, HL_CallOnceOptions_init_subgraph_index, i + 1);
        }
        if (deep == 128)
            expect_loads_and_free(&m);
        else
            expect_refusal(&m, "subgraphs call each other more than 128 levels deep");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensor_indices),
        cmocka_unit_test(test_other_indices),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_affine_quantization),
        cmocka_unit_test(test_blockwise_quantization),
        cmocka_unit_test(test_sparsity),
        cmocka_unit_test(test_broken_sparsity),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_unusual_but_harmless),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_deep_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
