// SPDX-License-Identifier: Apache-2.0
// Reductions of a shape are known when tensors are allocated, so that a RESHAPE to what they make has its shape then,
// as Keras writes it for a batch that is not known; and they are known anew with another shape.
//
//   s = shape(x)    g = gather(s, [0, 1])    p = reduce(g, 0)    d = pack(p, 4)    y = reshape(x, d)
#include "two_ways.h"

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { X, S, I, G, A, P, C, D, Y, TENSORS, NODES = 5, CHANNELS = 4 };

static const int32_t both[2] = {0, 1}, first[1] = {0}, channels[1] = {CHANNELS};

static struct test_tensor integers(const char *name, int rank, int count, const int32_t *data)
{
    return (struct test_tensor){.name = name,
                                .type = TEST_INT32,
                                .rank = rank,
                                .dims = {count},
                                .data = data,
                                .bytes = data ? (size_t)count * sizeof *data : 0};
}

static void reductions(void **state)
{
    (void)state;
    static const int builtins[] = {kTfLiteBuiltinReduceProd, kTfLiteBuiltinSum, kTfLiteBuiltinReduceMax,
                                   kTfLiteBuiltinReduceMin};
    for (int b = 0; b < 4; b++) {
        struct test_tensor tensors[TENSORS] = {
            [X] = {.name = "x", .type = TEST_FLOAT32, .rank = 3, .dims = {1, 6, CHANNELS}},
            [S] = integers("s", 1, 3, NULL),
            [I] = integers("i", 1, 2, both),
            [G] = integers("g", 1, 2, NULL),
            [A] = integers("a", 1, 1, first),
            [P] = integers("p", 0, 1, NULL),
            [C] = integers("c", 0, 1, channels),
            [D] = integers("d", 1, 2, NULL),
            [Y] = {.name = "y", .type = TEST_FLOAT32, .rank = 2, .dims = {6, CHANNELS}},
        };
        struct test_node nodes[NODES] = {
            {.builtin = kTfLiteBuiltinShape, TEST_INPUTS(X), TEST_OUTPUTS(S)},
            {.builtin = kTfLiteBuiltinGather, TEST_INPUTS(S, I), TEST_OUTPUTS(G)},
            {.builtin = builtins[b], TEST_INPUTS(G, A), TEST_OUTPUTS(P)},
            {.builtin = kTfLiteBuiltinPack, TEST_INPUTS(P, C), TEST_OUTPUTS(D)},
            {.builtin = kTfLiteBuiltinReshape, TEST_INPUTS(X, D), TEST_OUTPUTS(Y)},
        };
        set_option(&nodes[0], HL_ShapeOptions_out_type, TEST_INT32);
        set_option(&nodes[3], HL_PackOptions_values_count, 2);
        const int count = b == 0 ? NODES : 3;
        struct test_model model = {TEST_TENSORS(tensors), .node_count = count, .nodes = nodes, TEST_INPUTS(X),
                                   TEST_OUTPUTS(b == 0 ? Y : P)};
        size_t size;
        unsigned char *file = test_model_write(&model, &size);
        TfLiteModel *loaded = TfLiteModelCreate(file, size);
        assert_non_null(loaded);
        TfLiteInterpreter *interpreter = interpreter_of(loaded, false, NULL);
        for (int batch = 1; batch < 9; batch += 3) {
            const int dims[3] = {batch, 6, CHANNELS}, product = batch * 6, sum = batch + 6;
            const int expected[] = {product, sum, batch > 6 ? batch : 6, batch < 6 ? batch : 6};
            assert_int_equal(TfLiteInterpreterResizeInputTensor(interpreter, 0, dims, 3), kTfLiteOk);
            assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
            assert_int_equal(*tensor_of(interpreter, P)->data.i32, expected[b]);
            if (b == 0) assert_int_equal(tensor_of(interpreter, Y)->allocation_type, kTfLiteArenaRw);
            run_with(interpreter, 3);
            assert_int_equal(*tensor_of(interpreter, P)->data.i32, expected[b]);
            if (b > 0) continue;
            const TfLiteTensor *x = tensor_of(interpreter, X), *y = tensor_of(interpreter, Y);
            assert_int_equal(y->dims->data[0], product);
            assert_memory_equal(x->data.raw, y->data.raw, x->bytes);
        }
        TfLiteInterpreterDelete(interpreter);
        TfLiteModelDelete(loaded);
        free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reductions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
