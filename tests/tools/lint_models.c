// SPDX-License-Identifier: Apache-2.0
// lint_models FOLDER: for each rule of halite lint two models, FOLDER/RULE.with.tflite, which has what the rule is
// about, and FOLDER/RULE.without.tflite, which lacks it; rules that end in several ways have RULE.2.with.tflite too.
#include <stdio.h>
#include <stdlib.h>

#include "model/schema.h"
#include "support/model_writer.h"

enum { CONV_2D = 3, DEQUANTIZE = 6, RELU = 19, RESHAPE = 22, TANH = 28, TRANSPOSE = 39, TOPK_V2 = 48, QUANTIZE = 114 };

#define SHAPE(...) .rank = sizeof((const int[]){__VA_ARGS__}) / sizeof(int), .dims = {__VA_ARGS__}
#define FLOATS(...) .type = TEST_FLOAT32, SHAPE(__VA_ARGS__)
#define INT8S(...) .type = TEST_INT8, .scale = 0.03f, .zero_point = 5, SHAPE(__VA_ARGS__)
#define INTS(...)                                                                                                   \
    .type = TEST_INT32, .rank = 1, .data = (const int[]){__VA_ARGS__}, .bytes = sizeof((const int[]){__VA_ARGS__}), \
    .dims = {sizeof((const int[]){__VA_ARGS__}) / sizeof(int)}
#define CONSTANT(values, ...) .type = TEST_FLOAT32, .data = (values), .bytes = sizeof(values), SHAPE(__VA_ARGS__)
#define NODE(code, inputs, outputs)        \
    {                                      \
        .builtin = (code), inputs, outputs \
    }
#define STRIDES .settings = {{HL_Conv2DOptions_stride_w, 1, 0, NULL}, {HL_Conv2DOptions_stride_h, 1, 0, NULL}}

static const char *folder;

static void write_model(const char *name, int tensor_count, const struct test_tensor *tensors, int node_count,
                        const struct test_node *nodes)
{
    enum { MAX_TENSORS = 16 };
    struct test_tensor named[MAX_TENSORS];
    char names[MAX_TENSORS][16];
    for (int i = 0; i < tensor_count; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        named[i] = tensors[i];
        named[i].name = names[i];
    }
    const struct test_model model = {
        .tensor_count = tensor_count,
        .tensors = named,
        .node_count = node_count,
        .nodes = nodes,
    };
    char path[4096];
    size_t size;
    unsigned char *bytes = test_model_write(&model, &size);
    snprintf(path, sizeof path, "%s/%s.tflite", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    free(bytes);
}
#define WRITE(name, tensors, nodes) write_model((name), TEST_LENGTH(tensors), (tensors), TEST_LENGTH(nodes), (nodes))

static void write_reshapes(void)
{
    struct test_tensor tensors[] = {
        {FLOATS(2, 4), .is_input = true},
        {INTS(2, 4)},
        {FLOATS(2, 4)},
        {FLOATS(2, 4)},
        {FLOATS(2, 4), .is_output = true},
        {INTS(4, 2)},
        {FLOATS(4, 2)},
        {INTS(8)},
        {FLOATS(8)},
        {FLOATS(4, 2), .is_output = true},
    };
    const struct test_node same[] = {
        NODE(RELU, TEST_INPUTS(0), TEST_OUTPUTS(2)),
        NODE(RESHAPE, TEST_INPUTS(2, 1), TEST_OUTPUTS(3)),
        NODE(TANH, TEST_INPUTS(3), TEST_OUTPUTS(4)),
    };
    const struct test_node one[] = {
        NODE(RELU, TEST_INPUTS(0), TEST_OUTPUTS(2)),
        NODE(RESHAPE, TEST_INPUTS(2, 5), TEST_OUTPUTS(6)),
        NODE(TANH, TEST_INPUTS(6), TEST_OUTPUTS(9)),
    };
    const struct test_node two[] = {
        NODE(RELU, TEST_INPUTS(0), TEST_OUTPUTS(2)),
        NODE(RESHAPE, TEST_INPUTS(2, 7), TEST_OUTPUTS(8)),
        NODE(RESHAPE, TEST_INPUTS(8, 5), TEST_OUTPUTS(6)),
        NODE(TANH, TEST_INPUTS(6), TEST_OUTPUTS(9)),
    };
    const struct test_node back[] = {
        NODE(RELU, TEST_INPUTS(0), TEST_OUTPUTS(2)),
        NODE(RESHAPE, TEST_INPUTS(2, 7), TEST_OUTPUTS(8)),
        NODE(RESHAPE, TEST_INPUTS(8, 1), TEST_OUTPUTS(3)),
        NODE(TANH, TEST_INPUTS(3), TEST_OUTPUTS(4)),
    };
    tensors[9].is_output = false;
    WRITE("identity_operator.with", tensors, same);
    WRITE("reshape_chain.2.with", tensors, back);
    tensors[4].is_output = false;
    tensors[9].is_output = true;
    WRITE("identity_operator.without", tensors, one);
    WRITE("reshape_chain.without", tensors, one);
    WRITE("reshape_chain.with", tensors, two);
}

static void write_transposes(void)
{
    const struct test_tensor tensors[] = {
        {FLOATS(2, 3, 4), .is_input = true},  {INTS(1, 2, 0)}, {INTS(2, 0, 1)}, {FLOATS(3, 4, 2)}, {FLOATS(2, 3, 4)},
        {FLOATS(2, 3, 4), .is_output = true},
    };
    const struct test_tensor single[] = {
        {FLOATS(2, 3, 4), .is_input = true},
        {INTS(1, 2, 0)},
        {FLOATS(3, 4, 2)},
        {FLOATS(3, 4, 2), .is_output = true},
    };
    const struct test_tensor onward[] = {
        {FLOATS(2, 3, 4), .is_input = true},  {INTS(1, 2, 0)}, {INTS(1, 0, 2)}, {FLOATS(3, 4, 2)}, {FLOATS(4, 3, 2)},
        {FLOATS(4, 3, 2), .is_output = true},
    };
    const struct test_node pair[] = {
        NODE(TRANSPOSE, TEST_INPUTS(0, 1), TEST_OUTPUTS(3)),
        NODE(TRANSPOSE, TEST_INPUTS(3, 2), TEST_OUTPUTS(4)),
        NODE(RELU, TEST_INPUTS(4), TEST_OUTPUTS(5)),
    };
    const struct test_node alone[] = {
        NODE(TRANSPOSE, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)),
        NODE(RELU, TEST_INPUTS(2), TEST_OUTPUTS(3)),
    };
    WRITE("transpose_pair.with", tensors, pair);
    WRITE("transpose_pair.2.with", onward, pair);
    WRITE("transpose_pair.without", single, alone);
}

static void write_quantized(void)
{
    const struct test_tensor pair[] = {
        {INT8S(1, 16), .is_input = true},
        {FLOATS(1, 16)},
        {INT8S(1, 16)},
        {INT8S(1, 16), .is_output = true},
    };
    const struct test_node in_vain[] = {
        NODE(DEQUANTIZE, TEST_INPUTS(0), TEST_OUTPUTS(1)),
        NODE(QUANTIZE, TEST_INPUTS(1), TEST_OUTPUTS(2)),
        NODE(RELU, TEST_INPUTS(2), TEST_OUTPUTS(3)),
    };
    const struct test_node none[] = {
        NODE(RELU, TEST_INPUTS(0), TEST_OUTPUTS(2)),
        NODE(RELU, TEST_INPUTS(2), TEST_OUTPUTS(3)),
    };
    const struct test_tensor rounded[] = {
        {FLOATS(1, 16), .is_input = true},
        {INT8S(1, 16)},
        {FLOATS(1, 16)},
        {FLOATS(1, 16), .is_output = true},
    };
    const struct test_node rounding[] = {
        NODE(QUANTIZE, TEST_INPUTS(0), TEST_OUTPUTS(1)),
        NODE(DEQUANTIZE, TEST_INPUTS(1), TEST_OUTPUTS(2)),
        NODE(RELU, TEST_INPUTS(2), TEST_OUTPUTS(3)),
    };
    const struct test_tensor floats[] = {
        {INT8S(1, 16), .is_input = true},
        {FLOATS(1, 16)},
        {FLOATS(1, 16)},
        {INT8S(1, 16), .is_output = true},
    };
    const struct test_node island[] = {
        NODE(DEQUANTIZE, TEST_INPUTS(0), TEST_OUTPUTS(1)),
        NODE(TANH, TEST_INPUTS(1), TEST_OUTPUTS(2)),
        NODE(QUANTIZE, TEST_INPUTS(2), TEST_OUTPUTS(3)),
    };
    WRITE("quantize_pair.with", pair, in_vain);
    WRITE("quantize_pair.2.with", rounded, rounding);
    WRITE("quantize_pair.without", pair, none);
    WRITE("float_island.with", floats, island);
    WRITE("float_island.without", pair, none);
}

static void write_unused(void)
{
    static const float weights[1000] = {1, 2, 3};
    const struct test_tensor tensors[] = {
        {FLOATS(1, 16), .is_input = true}, {FLOATS(1, 16), .is_output = true}, {FLOATS(1, 16)}, {FLOATS(1, 16)},
        {CONSTANT(weights, 1000)},
    };
    const struct test_node dead[] = {
        NODE(RELU, TEST_INPUTS(0), TEST_OUTPUTS(1)),
        NODE(TANH, TEST_INPUTS(0), TEST_OUTPUTS(2)),
        NODE(RELU, TEST_INPUTS(2), TEST_OUTPUTS(3)),
    };
    write_model("dead_operator.with", 4, tensors, 3, dead);
    write_model("dead_operator.without", 4, tensors, 1, dead);
    write_model("unused_constant.with", 5, tensors, 1, dead);
    write_model("unused_constant.without", 4, tensors, 1, dead);
}

// A picture, and a convolution of so many channels to so many.
static void write_convolution(const char *name, int from, int to, enum test_type type)
{
    static const float filter[8 * 8], bias[8];
    const struct test_tensor tensors[] = {
        {.type = type, SHAPE(1, 8, 8, from), .is_input = true, .scale = type == TEST_UINT8 ? 0.5f : 0},
        {.type = TEST_FLOAT32, SHAPE(to, 1, 1, from), .data = filter, .bytes = sizeof(float) * (size_t)(to * from)},
        {.type = TEST_FLOAT32, SHAPE(to), .data = bias, .bytes = sizeof(float) * (size_t)to},
        {FLOATS(1, 8, 8, to)},
        {FLOATS(1, 8, 8, to), .is_output = true},
        {FLOATS(1, 8, 8, from)},
    };
    const struct test_node floats[] = {
        {.builtin = CONV_2D, TEST_INPUTS(0, 1, 2), TEST_OUTPUTS(3), STRIDES},
        NODE(RELU, TEST_INPUTS(3), TEST_OUTPUTS(4)),
    };
    const struct test_node bytes[] = {
        NODE(DEQUANTIZE, TEST_INPUTS(0), TEST_OUTPUTS(5)),
        {.builtin = CONV_2D, TEST_INPUTS(5, 1, 2), TEST_OUTPUTS(3), STRIDES},
        NODE(RELU, TEST_INPUTS(3), TEST_OUTPUTS(4)),
    };
    if (type == TEST_UINT8)
        WRITE(name, tensors, bytes);
    else
        WRITE(name, tensors, floats);
}

static void write_others(void)
{
    const struct test_tensor scalar[] = {
        {FLOATS(1, 16), .is_input = true},
        {FLOATS(1, 16)},
        {.type = TEST_INT32, .data = (const int[]){4}, .bytes = 4},
        {FLOATS(1, 4)},
        {.type = TEST_INT32, SHAPE(1, 4)},
        {FLOATS(1, 4), .is_output = true},
    };
    const struct test_node topk[] = {
        NODE(RELU, TEST_INPUTS(0), TEST_OUTPUTS(1)),
        NODE(TOPK_V2, TEST_INPUTS(1, 2), TEST_OUTPUTS(3, 4)),
        NODE(RELU, TEST_INPUTS(3), TEST_OUTPUTS(5)),
    };
    const struct test_tensor fixed[] = {{FLOATS(1, 16), .is_input = true}, {FLOATS(1, 16), .is_output = true}};
    const struct test_tensor open[] = {
        {FLOATS(1, 16), .is_input = true, .has_signature = true, .signature = {-1, 16}},
        {FLOATS(1, 16), .is_output = true, .has_signature = true, .signature = {-1, 16}},
    };
    const struct test_node relu[] = {NODE(RELU, TEST_INPUTS(0), TEST_OUTPUTS(1))};
    WRITE("not_on_gpu.with", scalar, topk);
    WRITE("not_on_gpu.without", fixed, relu);
    WRITE("dynamic_shape.with", open, relu);
    WRITE("dynamic_shape.without", fixed, relu);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: lint_models FOLDER\n");
        return 2;
    }
    folder = argv[1];
    write_reshapes();
    write_transposes();
    write_quantized();
    write_unused();
    write_convolution("channels_not_in_fours.with", 4, 5, TEST_FLOAT32);
    write_convolution("channels_not_in_fours.without", 4, 8, TEST_FLOAT32);
    write_convolution("rgb_input.with", 3, 8, TEST_FLOAT32);
    write_convolution("rgb_input.without", 4, 8, TEST_FLOAT32);
    write_convolution("float_input.with", 4, 8, TEST_FLOAT32);
    write_convolution("float_input.without", 4, 8, TEST_UINT8);
    write_others();
    return 0;
}
