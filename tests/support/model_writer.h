// SPDX-License-Identifier: Apache-2.0
// Small .tflite files made in tests, so that they need no file of others: a model as C structs, written by the rows of
// the schema (support/model_file.h).
#ifndef HALITE_TESTS_SUPPORT_MODEL_WRITER_H
#define HALITE_TESTS_SUPPORT_MODEL_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEST_LIST = 24, TEST_SETTINGS = 8 };

// Schema numbers of tensor types (they differ from TfLiteType).
enum test_type {
    TEST_FLOAT32 = 0,
    TEST_FLOAT16 = 1,
    TEST_INT32 = 2,
    TEST_UINT8 = 3,
    TEST_INT64 = 4,
    TEST_STRING = 5,
    TEST_BOOL = 6,
    TEST_INT16 = 7,
    TEST_COMPLEX64 = 8,
    TEST_INT8 = 9,
    TEST_UINT32 = 15,
    TEST_INT4 = 17
};

struct test_tensor {
    const char *name;
    enum test_type type;
    int rank;
    int dims[8];
    const void *data; // constant: bytes of it; NULL: none
    size_t bytes;
    bool is_variable;
    float scale; // 0: no quantization
    int zero_point;
    int scale_count; // per channel: so many of `scales` in place of `scale`, the zero point for each
    const float *scales;
    int quantized_dimension;
    int block_size, block_scales; // in blocks: the columns of one, and the tensor that has their scales. 0: it is not
    bool is_input, is_output;     // of the graph, too, behind those in the model's own lists
    bool has_signature;
    int signature[6]; // shape signature: -1 for lengths that may change
};

// A field of a built-in operator's options, by its row in the schema (HL_AddOptions_fused_activation_function); a list
// of integers has a count.
struct test_setting {
    int field;
    double value;
    int count;
    const int *list;
};

// One of a single number, by names: TEST_SET(Conv2DOptions, stride_w, 2).
#define TEST_SET(options_, field_, value_)                           \
    {                                                                \
        .field = HL_##options_##_##field_, .value = (double)(value_) \
    }

struct test_node {
    int builtin;        // schema code; 32 (CUSTOM) with custom
    const char *custom; // name
    int version;        // 0 means 1
    int input_count, inputs[TEST_LIST];
    int output_count, outputs[TEST_LIST];
    int intermediate_count, intermediates[TEST_LIST];
    const void *options; // of a custom operator: bytes of it; NULL: none
    size_t option_bytes;
    struct test_setting settings[TEST_SETTINGS]; // up to the first without a field
};

struct test_signature {
    const char *key;
    int subgraph;
    int input_count, output_count;
    struct test_signature_entry {
        const char *name;
        int tensor;
    } inputs[TEST_LIST], outputs[TEST_LIST]; // in the order they are written in
};

struct test_metadata {
    const char *name;
    const void *data;
    size_t bytes;
};

// A file, whose first subgraph is this one.
struct test_model {
    const char *name; // of the subgraph; NULL: none
    int tensor_count;
    const struct test_tensor *tensors;
    int node_count;
    const struct test_node *nodes;
    int input_count, inputs[TEST_LIST];
    int output_count, outputs[TEST_LIST];
    int more_count; // further subgraphs; only the fields above count in them
    const struct test_model *more;
    int signature_count;
    const struct test_signature *signatures;
    int metadata_count;
    const struct test_metadata *metadata;
};

// The lists of a node or model together with their lengths, so that no count can differ from its list.
#define TEST_LENGTH(array) (int)(sizeof(array) / sizeof *(array))
#define TEST_TENSORS(array) .tensor_count = TEST_LENGTH(array), .tensors = (array)
#define TEST_NODES(array) .node_count = TEST_LENGTH(array), .nodes = (array)
#define TEST_NODE(node) .node_count = 1, .nodes = &(node)
#define TEST_INPUTS(...) .input_count = TEST_LENGTH(((const int[]){__VA_ARGS__})), .inputs = {__VA_ARGS__}
#define TEST_OUTPUTS(...) .output_count = TEST_LENGTH(((const int[]){__VA_ARGS__})), .outputs = {__VA_ARGS__}

// malloc'ed bytes of the file; aborts the test without memory.
unsigned char *test_model_write(const struct test_model *model, size_t *size);

#endif
