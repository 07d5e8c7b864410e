// SPDX-License-Identifier: Apache-2.0
// SVDF, RNN and LSTM with the row kernels of every level of instructions that this CPU has (ops/common/row_kernels.h)
// against the plain ones, on random layers: integers bit for bit, floats but for rounding.
#include "both_kernels.h"

#include <math.h>
#include <string.h>

#include "model/schema.h"
#include "tensorflow/lite/builtin_ops.h"

enum { LAYERS = 60, MAX_TENSORS = 32, STEPS = 4 };

struct layer {
    int count; // of tensors; the last is the output
    struct test_tensor tensors[MAX_TENSORS];
    void *data[MAX_TENSORS];
    int node_count;
    struct test_node nodes[STEPS];
    float tolerance;
};

static int add(struct layer *layer, enum test_type type, int rank, int a, int b, int c, float scale, int zero)
{
    layer->tensors[layer->count] = (struct test_tensor){
        .name = "tensor",
        .type = type,
        .rank = rank,
        .dims = {a, b, c},
        .scale = scale,
        .zero_point = zero,
    };
    return layer->count++;
}

static void *random_values(const struct test_tensor *tensor, size_t *bytes)
{
    size_t count = (size_t)count_of(tensor);
    enum test_type type = tensor->type;
    *bytes = count * (type == TEST_INT8 ? 1 : type == TEST_INT16 ? 2 : 4);
    void *values = malloc(*bytes);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        if (type == TEST_FLOAT32)
            ((float *)values)[i] = (float)(pick(2001) - 1000) / 1000;
        else if (type == TEST_INT8)
            ((int8_t *)values)[i] = (int8_t)(pick(255) - 127);
        else if (type == TEST_INT16)
            ((int16_t *)values)[i] = (int16_t)(pick(65535) - 32767);
        else
            ((int32_t *)values)[i] = pick(2001) - 1000;
    return values;
}

static int constant(struct layer *layer, enum test_type type, int rows, int columns, float scale)
{
    int i = columns ? add(layer, type, 2, rows, columns, 0, scale, 0) : add(layer, type, 1, rows, 0, 0, scale, 0);
    layer->data[i] = random_values(&layer->tensors[i], &layer->tensors[i].bytes);
    layer->tensors[i].data = layer->data[i];
    return i;
}

static int variable(struct layer *layer, enum test_type type, int rows, int columns, float scale, int zero)
{
    int i = add(layer, type, 2, rows, columns, 0, scale, zero);
    layer->tensors[i].is_variable = true;
    return i;
}

// The compared one follows a few others with the same state.
static void make_svdf(struct layer *layer)
{
    enum { FLOAT, HYBRID, INT16_STATE, INT8_STATE, KINDS } kind = (unsigned)pick(KINDS);
    bool floats = kind <= HYBRID;
    int batch = 1 + pick(3), inputs = 1 + pick(40), rank = 1 + pick(3), units = 1 + pick(60), memory = 1 + pick(40);
    enum test_type value = floats ? TEST_FLOAT32 : TEST_INT8, weight = kind == FLOAT ? TEST_FLOAT32 : TEST_INT8;
    enum test_type state = floats ? TEST_FLOAT32 : kind == INT16_STATE ? TEST_INT16 : TEST_INT8;
    enum test_type time = kind == HYBRID ? TEST_INT8 : state;
    float scale = floats ? 0 : 0.05f;
    int x = add(layer, value, 2, batch, inputs, 0, scale, floats ? 0 : pick(256) - 128);
    int w = constant(layer, weight, rank * units, inputs, weight == TEST_INT8 ? 0.01f : 0);
    int t = constant(layer, time, rank * units, memory, time == TEST_INT16 ? 1e-4f : time == TEST_INT8 ? 0.02f : 0);
    int bias = pick(2) ? constant(layer, floats ? TEST_FLOAT32 : TEST_INT32, units, 0, 0) : -1;
    int kept = variable(layer, state, batch, rank * units * memory,
                        kind == INT16_STATE ? 1e-3f
                        : floats            ? 0
                                            : 0.05f,
                        floats || pick(2) ? 0 : pick(200) - 100);
    bool asymmetric = pick(2);
    layer->node_count = STEPS;
    for (int i = 0; i < STEPS; i++) {
        int y = add(layer, value, 2, batch, units, 0, floats ? 0 : 0.5f, floats ? 0 : pick(256) - 128);
        layer->nodes[i] = (struct test_node){.builtin = kTfLiteBuiltinSvdf,
                                             .version = 3,
                                             TEST_INPUTS(x, w, t, bias, kept),
                                             TEST_OUTPUTS(y)};
        set_option(&layer->nodes[i], HL_SVDFOptions_rank, rank);
        set_option(&layer->nodes[i], HL_SVDFOptions_fused_activation_function, floats ? 4 * pick(2) : 1); // TANH; RELU
        set_option(&layer->nodes[i], HL_SVDFOptions_asymmetric_quantize_inputs, asymmetric);
    }
    layer->tolerance = 1e-4f * (float)memory;
}

static void make_rnn(struct layer *layer)
{
    bool hybrid = pick(2);
    enum test_type weight = hybrid ? TEST_INT8 : TEST_FLOAT32;
    int batch = 1 + pick(3), time = 1 + pick(5), inputs = 1 + pick(70), units = 1 + pick(90);
    int x = add(layer, TEST_FLOAT32, 3, batch, time, inputs, 0, 0);
    float scale = hybrid ? 0.002f : 0;
    int w = constant(layer, weight, units, inputs, scale), r = constant(layer, weight, units, units, scale);
    int bias = constant(layer, TEST_FLOAT32, units, 0, 0), h = variable(layer, TEST_FLOAT32, batch, units, 0, 0);
    int y = add(layer, TEST_FLOAT32, 3, batch, time, units, 0, 0);
    layer->node_count = 1;
    layer->nodes[0] = (struct test_node){.builtin = kTfLiteBuiltinUnidirectionalSequenceRnn,
                                         .version = hybrid ? 3 : 1,
                                         TEST_INPUTS(x, w, r, bias, h),
                                         TEST_OUTPUTS(y)};
    set_option(&layer->nodes[0], HL_SequenceRNNOptions_fused_activation_function, 4); // TANH
    set_option(&layer->nodes[0], HL_SequenceRNNOptions_asymmetric_quantize_inputs, pick(2));
    layer->tolerance = hybrid ? 0.05f : 1e-3f; // a state may fall into the next of 255 steps
}

static void make_lstm(struct layer *layer)
{
    enum { FLOAT, HYBRID, INTEGER, KINDS } kind = (unsigned)pick(KINDS);
    bool integer = kind == INTEGER, cifg = pick(3) == 0;
    enum test_type value = integer ? TEST_INT8 : TEST_FLOAT32, weight = kind == FLOAT ? TEST_FLOAT32 : TEST_INT8;
    int batch = 1 + pick(3), time = 1 + pick(5), inputs = 1 + pick(70), cells = 1 + pick(90);
    float scale = kind == FLOAT ? 0 : 0.002f, state_scale = integer ? 1.0f / 128 : 0;
    int zero = integer ? pick(256) - 128 : 0;
    struct test_node *node = &layer->nodes[0];
    *node = (struct test_node){
        .builtin = kTfLiteBuiltinUnidirectionalSequenceLstm,
        .version = integer ? 3 : 1,
        .input_count = 24,
        .output_count = 1,
    };
    layer->node_count = 1;
    for (int i = 0; i < 24; i++) node->inputs[i] = -1;
    node->inputs[0] = add(layer, value, 3, batch, time, inputs, integer ? 0.02f : 0, integer ? pick(256) - 128 : 0);
    for (int g = cifg ? 1 : 0; g < 4; g++) {
        node->inputs[1 + g] = constant(layer, weight, cells, inputs, scale);
        node->inputs[5 + g] = constant(layer, weight, cells, cells, scale);
        node->inputs[12 + g] = constant(layer, integer ? TEST_INT32 : TEST_FLOAT32, cells, 0, 0);
    }
    node->inputs[18] = variable(layer, value, batch, cells, state_scale, zero);
    node->inputs[19] = variable(layer, integer ? TEST_INT16 : TEST_FLOAT32, batch, cells, integer ? 0x1p-11f : 0, 0);
    for (int i = 0; integer && i < 5; i++)
        node->intermediates[node->intermediate_count++] = i < 4 ? add(layer, TEST_INT16, 1, 1, 0, 0, 0x1p-12f, 0)
                                                                : add(layer, TEST_INT8, 1, 1, 0, 0, state_scale, zero);
    node->outputs[0] = add(layer, value, 3, batch, time, cells, state_scale, zero);
    set_option(node, HL_UnidirectionalSequenceLSTMOptions_fused_activation_function, 4); // TANH
    set_option(node, HL_UnidirectionalSequenceLSTMOptions_asymmetric_quantize_inputs, pick(2));
    layer->tolerance = kind == HYBRID ? 0.05f : 1e-3f;
}

static void compare(const void *arg, const char *level, bool taken, const void *expected, const void *got, size_t bytes)
{
    (void)taken;
    const struct layer *layer = arg;
    if (layer->tensors[layer->count - 1].type != TEST_FLOAT32) {
        if (memcmp(expected, got, bytes) != 0) fail_msg("%s differs", level);
        return;
    }
    const float *a = expected, *b = got;
    for (size_t i = 0; i < bytes / sizeof *a; i++)
        if (!(fabsf(a[i] - b[i]) <= layer->tolerance))
            fail_msg("%s: element %zu is %g, not %g", level, i, (double)b[i], (double)a[i]);
}

struct maker {
    void (*make)(struct layer *layer);
};

static void check_many(void **state)
{
    const struct maker *maker = *state;
    for (int i = 0; i < LAYERS; i++) {
        struct layer layer = {0};
        maker->make(&layer);
        const struct test_model model = {
            .tensor_count = layer.count,
            .tensors = layer.tensors,
            .node_count = layer.node_count,
            .nodes = layer.nodes,
            TEST_INPUTS(0),
            TEST_OUTPUTS(layer.count - 1),
        };
        size_t size, bytes;
        void *x = random_values(&layer.tensors[0], &bytes);
        unsigned char *file = test_model_write(&model, &size);
        TfLiteModel *loaded = TfLiteModelCreate(file, size);
        assert_non_null(loaded);
        free(on_every_level(&model, loaded, 1, &x, compare, &layer, &bytes));
        TfLiteModelDelete(loaded);
        free(file);
        free(x);
        for (int t = 0; t < layer.count; t++) free(layer.data[t]);
    }
}

int main(int argc, char **argv)
{
    bench_read_flags(argc, argv);
    const struct CMUnitTest tests[] = {
        RANDOM_NODES(make_svdf),
        RANDOM_NODES(make_rnn),
        RANDOM_NODES(make_lstm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
