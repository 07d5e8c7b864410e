// SPDX-License-Identifier: Apache-2.0
// Tensors of the runtime as floats and back: types, scales per tensor and per channel, sparse constants, what must be
// refused; and the stages that stand for 8-bit rounding.
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "gpu/graph/build.h"
#include "gpu/graph/convert.h"
#include "gpu/graph/op.h"
#include "gpu/graph/passes.h"
#include "gpu/graph/quantize.h"
#include "gpu/graph/sparse.h"
#include "gpu/ops/op.h"
#include "tensorflow/lite/builtin_ops.h"

// ---- tensors ------------------------------------------------------------------------------------

static TfLiteIntArray *ints(int count, const int *values)
{
    TfLiteIntArray *array = malloc(sizeof *array + (size_t)count * sizeof(int));
    assert_non_null(array);
    array->size = count;
    memcpy(array->data, values, (size_t)count * sizeof(int));
    return array;
}

static TfLiteFloatArray *floats(int count, const float *values)
{
    TfLiteFloatArray *array = malloc(sizeof *array + (size_t)count * sizeof(float));
    assert_non_null(array);
    array->size = count;
    memcpy(array->data, values, (size_t)count * sizeof(float));
    return array;
}

// A tensor of two dimensions over the caller's elements.
struct box {
    TfLiteTensor tensor;
    TfLiteAffineQuantization affine;
};

static void box_make(struct box *box, TfLiteType type, int rows, int columns, void *data, size_t bytes)
{
    memset(box, 0, sizeof *box);
    box->tensor.type = type;
    box->tensor.dims = ints(2, (int[]){rows, columns});
    box->tensor.data.data = data;
    box->tensor.bytes = bytes;
}

static void box_quantize(struct box *box, int count, const float *scales, const int *zeros, int axis)
{
    box->affine = (TfLiteAffineQuantization){floats(count, scales), ints(count, zeros), axis};
    box->tensor.quantization = (TfLiteQuantization){kTfLiteAffineQuantization, &box->affine};
}

static void box_free(struct box *box)
{
    free(box->tensor.dims);
    free(box->affine.scale);
    free(box->affine.zero_point);
}

// ---- to floats ----------------------------------------------------------------------------------

static void test_plain_types(void **state)
{
    (void)state;
    float to[4];
    struct box box;
    uint16_t halves[4] = {hl_half_from_float(1.5f), hl_half_from_float(-2), 0, hl_half_from_float(65504)};
    box_make(&box, kTfLiteFloat16, 2, 2, halves, sizeof halves);
    assert_true(gpu_floats_from(&box.tensor, to));
    assert_true(to[0] == 1.5f && to[1] == -2 && to[2] == 0 && to[3] == 65504);
    box_free(&box);
    int32_t whole[4] = {-3, 1 << 24, 7, 0};
    box_make(&box, kTfLiteInt32, 2, 2, whole, sizeof whole);
    assert_true(gpu_floats_from(&box.tensor, to));
    assert_true(to[0] == -3 && to[1] == 16777216.0f && to[2] == 7);
    box.tensor.bytes = 15; // not all of it is there
    assert_false(gpu_floats_from(&box.tensor, to));
    box.tensor.data.data = NULL;
    assert_false(gpu_floats_from(&box.tensor, to));
    box_free(&box);
    char other[64] = {0};
    box_make(&box, kTfLiteString, 2, 2, other, sizeof other);
    assert_false(gpu_floats_from(&box.tensor, to));
    box.tensor.type = kTfLiteInt8; // without a scale
    assert_false(gpu_floats_from(&box.tensor, to));
    box_free(&box);
}

static void test_channels(void **state)
{
    (void)state;
    int8_t bytes[6] = {-128, 127, 0, 1, 2, 3};
    float to[6];
    struct box box;
    box_make(&box, kTfLiteInt8, 2, 3, bytes, sizeof bytes);
    box_quantize(&box, 2, (float[]){0.5f, 2}, (int[]){0, 1}, 0);
    assert_true(gpu_floats_from(&box.tensor, to));
    assert_true(to[0] == -64 && to[1] == 63.5f && to[2] == 0 && to[3] == 0 && to[4] == 2 && to[5] == 4);
    box.affine.quantized_dimension = 1; // three channels, two scales
    assert_null(gpu_affine_of(&box.tensor));
    assert_false(gpu_floats_from(&box.tensor, to));
    box_free(&box);
    box_make(&box, kTfLiteInt8, 2, 3, bytes, sizeof bytes);
    box_quantize(&box, 3, (float[]){1, 2, 4}, (int[]){0, 0, 0}, 1);
    assert_true(gpu_floats_from(&box.tensor, to));
    assert_true(to[0] == -128 && to[1] == 254 && to[2] == 0 && to[3] == 1 && to[4] == 4 && to[5] == 12);
    box.affine.scale->data[1] = 0;
    assert_null(gpu_affine_of(&box.tensor));
    box_free(&box);
    // Sums of products fill 32 bits: the difference to the zero point is exact all the same.
    int32_t bias[1] = {INT_MAX};
    box_make(&box, kTfLiteInt32, 1, 1, bias, sizeof bias);
    box_quantize(&box, 1, (float[]){0.25f}, (int[]){0}, 0);
    assert_true(gpu_floats_from(&box.tensor, to));
    assert_true(to[0] == 536870911.75f);
    box_free(&box);
}

// A bias counts in steps of input times weights, whatever scale it has itself.
static void test_bias(void **state)
{
    (void)state;
    int32_t stored[3] = {10, -20, 30};
    float to[3];
    struct box bias, x, weights;
    box_make(&bias, kTfLiteInt32, 1, 3, stored, sizeof stored);
    box_quantize(&bias, 1, (float[]){7}, (int[]){0}, 0);
    box_make(&x, kTfLiteInt8, 1, 1, NULL, 0);
    box_quantize(&x, 1, (float[]){0.5f}, (int[]){3}, 0);
    box_make(&weights, kTfLiteInt8, 3, 1, NULL, 0);
    box_quantize(&weights, 3, (float[]){0.25f, 0.5f, 1}, (int[]){0, 0, 0}, 0);
    assert_true(gpu_bias_from(&bias.tensor, gpu_affine_of(&x.tensor), gpu_affine_of(&weights.tensor), to));
    assert_float_equal(to[0], 1.25f, 0);
    assert_float_equal(to[1], -5, 0);
    assert_float_equal(to[2], 15, 0);
    assert_true(gpu_bias_from(&bias.tensor, gpu_affine_of(&x.tensor), gpu_affine_of(&x.tensor), to));
    assert_float_equal(to[2], 7.5f, 0);
    bias.tensor.bytes = 8;
    assert_false(gpu_bias_from(&bias.tensor, gpu_affine_of(&x.tensor), gpu_affine_of(&weights.tensor), to));
    box_free(&bias);
    box_free(&x);
    box_free(&weights);
}

// ---- from floats --------------------------------------------------------------------------------

static void test_back(void **state)
{
    (void)state;
    float from[8] = {0.25f, -0.25f, 1000, -1000, 0.24f, NAN, 63, INFINITY};
    int8_t bytes[8];
    struct box box;
    box_make(&box, kTfLiteInt8, 2, 4, bytes, sizeof bytes);
    box_quantize(&box, 1, (float[]){0.5f}, (int[]){1}, 0);
    assert_true(gpu_floats_to(from, &box.tensor));
    static const int8_t expected[8] = {2, 0, 127, -128, 1, -128, 127, 127}; // half away from zero, saturated
    assert_memory_equal(bytes, expected, sizeof expected);
    box.tensor.type = kTfLiteUInt8;
    assert_true(gpu_floats_to(from, &box.tensor));
    static const uint8_t unsigned_bytes[8] = {2, 0, 255, 0, 1, 0, 127, 255};
    assert_memory_equal(bytes, unsigned_bytes, sizeof unsigned_bytes);
    box_free(&box);
    int32_t whole[8];
    float large[8] = {3e9f, -3e9f, 1.5f, 2.5f, -7, 0, NAN, 16777216};
    box_make(&box, kTfLiteInt32, 2, 4, whole, sizeof whole);
    assert_true(gpu_floats_to(large, &box.tensor));
    // NaN as the CPU's CAST has it
    static const int32_t rounded[8] = {INT_MAX, INT_MIN, 2, 2, -7, 0, INT_MAX, 16777216};
    assert_memory_equal(whole, rounded, sizeof rounded);
    int64_t wide[8];
    box.tensor.type = kTfLiteInt64;
    box.tensor.data.data = wide;
    box.tensor.bytes = sizeof wide;
    assert_true(gpu_floats_to(large, &box.tensor));
    static const int64_t wider[8] = {3000000000, -3000000000, 2, 2, -7, 0, INT64_MAX, 16777216};
    assert_memory_equal(wide, wider, sizeof wider);
    bool truths[8];
    box.tensor.type = kTfLiteBool;
    box.tensor.data.data = truths;
    box.tensor.bytes = sizeof truths;
    assert_true(gpu_floats_to(from, &box.tensor));
    assert_true(truths[0] && truths[2]);
    box.tensor.bytes = 7;
    assert_false(gpu_floats_to(from, &box.tensor));
    box_free(&box);
}

static void test_constant_int(void **state)
{
    (void)state;
    float data[5] = {-3, 16777216, 2147483647.0f, -2147483648.0f, 5};
    struct gpu_value value = {.data = data};
    static const int expected[5] = {-3, 1 << 24, INT_MAX, INT_MIN, 5};
    for (int i = 0; i < 5; i++) assert_int_equal(gpu_constant_int(&value, i), expected[i]);
}

// ---- sparse -------------------------------------------------------------------------------------

// A 4 x 4 matrix in blocks of 2 x 2, two blocks of which are stored:
//    1 2 . .
//    3 4 . .
//    . . 5 6
//    . . 7 8
struct sparse {
    struct box box;
    TfLiteSparsity sparsity;
    TfLiteDimensionMetadata levels[4];
    float stored[8];
};

static void sparse_make(struct sparse *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < 8; i++) s->stored[i] = (float)(i + 1);
    box_make(&s->box, kTfLiteFloat32, 4, 4, s->stored, sizeof s->stored);
    s->levels[0] = (TfLiteDimensionMetadata){kTfLiteDimDense, 2, NULL, NULL};
    s->levels[1] = (TfLiteDimensionMetadata){kTfLiteDimSparseCSR, 0, ints(3, (int[]){0, 1, 2}), ints(2, (int[]){0, 1})};
    s->levels[2] = s->levels[3] = (TfLiteDimensionMetadata){kTfLiteDimDense, 2, NULL, NULL};
    s->sparsity = (TfLiteSparsity){ints(4, (int[]){0, 1, 2, 3}), ints(2, (int[]){0, 1}), s->levels, 4};
    s->box.tensor.sparsity = &s->sparsity;
}

static void sparse_free(struct sparse *s)
{
    free(s->levels[1].array_segments);
    free(s->levels[1].array_indices);
    free(s->sparsity.traversal_order);
    free(s->sparsity.block_map);
    box_free(&s->box);
}

static void test_sparse(void **state)
{
    (void)state;
    struct sparse s;
    sparse_make(&s);
    float to[16];
    assert_true(gpu_floats_from(&s.box.tensor, to));
    static const float expected[16] = {1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 5, 6, 0, 0, 7, 8};
    assert_memory_equal(to, expected, sizeof expected);
    sparse_free(&s);
}

static void test_malformed_sparse(void **state)
{
    (void)state;
    for (int fault = 0; fault < 12; fault++) {
        struct sparse s;
        sparse_make(&s);
        switch (fault) {
        case 0: s.levels[1].array_indices->data[1] = 2; break; // a block outside
        case 1: s.levels[1].array_indices->data[0] = -1; break;
        case 2: s.levels[1].array_segments->data[2] = 9; break; // more children than there are
        case 3: s.levels[1].array_segments->data[1] = -1; break;
        case 4: s.levels[1].array_segments->size = 2; break;
        case 5: s.box.tensor.bytes -= 4; break;                 // the last element is missing
        case 6: s.sparsity.traversal_order->data[3] = 2; break; // one level twice
        case 7: s.sparsity.traversal_order->data[0] = 4; break;
        case 8: s.sparsity.block_map->data[1] = 0; break; // both blocks in one dimension
        case 9: s.levels[0].dense_size = -1; break;
        case 10: s.sparsity.dim_metadata_size = 5; break;
        case 11: s.levels[3].dense_size = 3; break; // blocks that do not tile the matrix
        }
        float to[16];
        assert_false(gpu_floats_from(&s.box.tensor, to));
        sparse_free(&s);
    }
}

// ---- rounding as 8 bits would -------------------------------------------------------------------

static struct gpu_node *add_node(struct gpu_graph *graph, int builtin, struct gpu_value *from, struct gpu_value *to)
{
    struct gpu_node *node = gpu_graph_add_node(graph, builtin, -1);
    node->op = gpu_op_find(builtin, NULL);
    assert_non_null(node->op);
    gpu_graph_connect_input(node, from);
    gpu_graph_connect_output(node, to);
    return node;
}

static void test_rounding_stages(void **state)
{
    (void)state;
    struct gpu_graph *graph = gpu_graph_create(NULL);
    struct gpu_shape shape = {1, 2, 3, 4};
    struct gpu_quantization unsigned_one = {kTfLiteUInt8, 0.1f, 10}, from_zero = {kTfLiteUInt8, 6.0f / 255, 0};
    struct gpu_value *v[6];
    for (int i = 0; i < 6; i++) v[i] = gpu_graph_add_value(graph, "v", shape);
    v[0]->is_input = v[5]->is_output = true;
    v[0]->quantization = v[1]->quantization = v[2]->quantization = unsigned_one;
    v[3]->quantization = v[5]->quantization = from_zero;
    add_node(graph, kTfLiteBuiltinExp, v[0], v[1]);
    add_node(graph, kTfLiteBuiltinReshape, v[1], v[2]); // moves values of the same scale: nothing to round
    struct gpu_node *sine = add_node(graph, kTfLiteBuiltinSin, v[2], v[3]);
    sine->epilogue = (struct gpu_epilogue){.count = 1, .stages = {{.op = GPU_EPI_RELU6}}}; // what the clamp does, too
    add_node(graph, kTfLiteBuiltinAbs, v[3], v[4]);                                        // float
    add_node(graph, kTfLiteBuiltinCos, v[4], v[5]);                                        // the CPU stores it
    assert_true(gpu_graph_quantize(graph, GPU_F32));
    char *text = gpu_graph_text(graph);
    assert_non_null(text);
    const char *expected = "EXP in0[1,2,3,4] -> v1[1,2,3,4] + quantize\n"
                           "RESHAPE v1[1,2,3,4] -> v2[1,2,3,4]\n"
                           "SIN v2[1,2,3,4] -> v3[1,2,3,4] + quantize\n"
                           "ABS v3[1,2,3,4] -> v4[1,2,3,4]\n"
                           "COS v4[1,2,3,4] -> out5[1,2,3,4]\n";
    assert_string_equal(text, expected);
    free(text);
    const struct gpu_epilogue *stages = &graph->nodes[0]->epilogue;
    assert_float_equal(stages->stages[0].a, 0.1f, 0); // multiples of the scale, exactly as the CPU would read them
    assert_float_equal(stages->stages[0].b, -10, 0);
    gpu_graph_destroy(graph);
}

static void test_stages_without_room(void **state)
{
    (void)state;
    struct gpu_graph *graph = gpu_graph_create(NULL);
    struct gpu_shape shape = {1, 1, 1, 8};
    struct gpu_value *a = gpu_graph_add_value(graph, "a", shape), *b = gpu_graph_add_value(graph, "b", shape);
    a->is_input = b->is_output = true;
    b->consumers = 1;
    b->quantization = (struct gpu_quantization){kTfLiteInt8, 1e-5f, 0};
    struct gpu_node *node = add_node(graph, kTfLiteBuiltinExp, a, b);
    node->epilogue.count = GPU_EPILOGUE_STAGES;
    for (int i = 0; i < node->epilogue.count; i++) node->epilogue.stages[i].op = GPU_EPI_ABS;
    assert_true(gpu_graph_quantize(graph, GPU_F16));
    assert_int_equal(graph->node_count, 2);
    assert_ptr_equal(graph->nodes[1]->op, &gpu_op_stages);
    assert_ptr_equal(graph->nodes[1]->outputs[0], b);
    assert_ptr_equal(b->producer, graph->nodes[1]);
    assert_ptr_equal(node->outputs[0], graph->nodes[1]->inputs[0]);
    assert_ptr_equal(node->outputs[0]->producer, node);
    assert_float_equal(graph->nodes[1]->epilogue.stages[0].a, 0.000062f, 0); // the smallest step that half floats carry
    gpu_graph_destroy(graph);
}

// Several to a byte, the first in the low bits.
static void test_packed(void **state)
{
    (void)state;
    uint8_t nibbles[] = {0x21, 0x8f, 0x07}, pairs[] = {0xe4, 0x02};
    struct box box;
    float to[5];
    box_make(&box, kTfLiteInt4, 1, 5, nibbles, sizeof nibbles);
    assert_false(gpu_can_read(&box.tensor)); // without a scale
    box_quantize(&box, 1, (float[]){0.5f}, (int[]){1}, 0);
    assert_true(gpu_can_read(&box.tensor) && gpu_floats_from(&box.tensor, to));
    const float four[] = {0, 0.5f, -1, -4.5f, 3};
    assert_memory_equal(to, four, sizeof four);
    box.tensor.bytes = 2;
    assert_false(gpu_can_read(&box.tensor));
    box_free(&box);
    box_make(&box, kTfLiteInt2, 1, 5, pairs, sizeof pairs);
    box_quantize(&box, 5, (float[]){1, 2, 3, 4, 5}, (int[]){0, 0, 0, 0, 0}, 1);
    assert_true(gpu_floats_from(&box.tensor, to));
    const float two[] = {0, 2, -6, -4, -10};
    assert_memory_equal(to, two, sizeof two);
    box_free(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_types),
        cmocka_unit_test(test_channels),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_bias),
        cmocka_unit_test(test_back),
        cmocka_unit_test(test_constant_int),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_malformed_sparse),
        cmocka_unit_test(test_rounding_stages),
        cmocka_unit_test(test_stages_without_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
