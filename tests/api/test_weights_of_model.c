// SPDX-License-Identifier: Apache-2.0
// Interpreters of one model share its packed weights without being told to: the second one keeps little of its own,
// results stay the same bit for bit, whatever ends first, whatever shapes they have, and while threads come and go.
#include <pthread.h>

#include "weights_client.h"

// An interpreter of the client's model, which runs once with so many equal images.
static TfLiteInterpreter *create(struct client *client, int images, unsigned char *y)
{
    HaliteInterpreterOptionsSetKernels(client->options, kHaliteKernelsFast);
    TfLiteInterpreterOptionsSetNumThreads(client->options, 1);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(client->model, client->options);
    assert_non_null(interpreter);
    const int *dims = TfLiteInterpreterGetInputTensor(interpreter, 0)->dims->data;
    const int shape[4] = {images, dims[1], dims[2], dims[3]};
    assert_ok(TfLiteInterpreterResizeInputTensor(interpreter, 0, shape, 4));
    assert_ok(TfLiteInterpreterAllocateTensors(interpreter));
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    const size_t size = TfLiteTensorByteSize(input) / (size_t)images;
    unsigned char *x = TfLiteTensorData(input);
    for (size_t i = 0; i < size * (size_t)images; i++)
        x[i] = image_byte(TfLiteTensorType(input) == kTfLiteFloat32, i % size);
    assert_ok(TfLiteInterpreterInvoke(interpreter));
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    memcpy(y, TfLiteTensorData(output), TfLiteTensorByteSize(output));
    return interpreter;
}

static void invoke_again(TfLiteInterpreter *interpreter, const unsigned char *want)
{
    assert_ok(TfLiteInterpreterInvoke(interpreter));
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    assert_memory_equal(TfLiteTensorData(output), want, TfLiteTensorByteSize(output));
}

// The model goes first, then the interpreter that has packed.
static void test_second_needs_little(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        static unsigned char y[3][UNITS * sizeof(float)];
        struct client client, other;
        client_load(&client, &models[m]);
        client_load(&other, &models[m]); // the same bytes, another model
        TfLiteInterpreter *first = create(&client, 1, y[0]), *second = create(&client, 1, y[1]);
        TfLiteInterpreter *alone = create(&other, 1, y[2]);
        assert_true(kept_by(second) * 20 < kept_by(first));
        assert_int_equal(kept_by(alone), kept_by(first));
        assert_memory_equal(y[0], y[1], sizeof *y);
        assert_memory_equal(y[0], y[2], sizeof *y);
        TfLiteModelDelete(client.model);
        client.model = NULL;
        TfLiteInterpreterDelete(first);
        invoke_again(second, y[0]);
        // It is alone now, and packs what it gave back to be prepared anew.
        const int shape[4] = {2, SIZE, SIZE, CHANNELS};
        assert_ok(TfLiteInterpreterResizeInputTensor(second, 0, shape, 4));
        assert_ok(TfLiteInterpreterAllocateTensors(second));
        assert_true(kept_by(second) >= kept_by(alone));
        TfLiteInterpreterDelete(second);
        TfLiteInterpreterDelete(alone);
        client_end(&client);
        client_end(&other);
    }
}

// Weights that were packed for other shapes are found by their bytes, and from then on by their names.
static void test_other_shapes(void **state)
{
    (void)state;
    enum { IMAGES = 3 };
    for (int m = 0; m < MODELS; m++) {
        static unsigned char y[2 * IMAGES][IMAGES * UNITS * sizeof(float)];
        struct client client;
        client_load(&client, &models[m]);
        TfLiteInterpreter *interpreters[2 * IMAGES];
        const size_t weights = m == 0 ? sizeof fc_f32 : sizeof fc_i8;
        for (int i = 0; i < 2 * IMAGES; i++) interpreters[i] = create(&client, i % IMAGES + 1, y[i]);
        for (int i = 1; i < 2 * IMAGES; i++) {
            const size_t one = TfLiteTensorByteSize(TfLiteInterpreterGetOutputTensor(interpreters[0], 0));
            for (int image = 0; image <= i % IMAGES; image++)
                assert_memory_equal(y[i] + (size_t)image * one, y[0], one);
            // Scratch of up to three images. One image of int8 may have weights as bytes, and the first interpreter of
            // several images packs them as int16.
            const size_t again = m == 1 && i == 1 ? 2 * weights : 0;
            assert_true(kept_by(interpreters[i]) < again + weights / 4);
        }
        for (int i = 0; i < 2 * IMAGES; i++) TfLiteInterpreterDelete(interpreters[i]);
        client_end(&client);
    }
}

// A cache that the application gives holds what its interpreters have, and nobody else's.
static void test_given_cache(void **state)
{
    (void)state;
    static unsigned char y[3][UNITS * sizeof(float)];
    struct client client;
    client_load(&client, &models[0]);
    TfLiteInterpreter *first = create(&client, 1, y[0]);
    HaliteWeightsCache *cache = HaliteWeightsCacheCreate();
    HaliteInterpreterOptionsSetWeightsCache(client.options, cache);
    TfLiteInterpreter *second = create(&client, 1, y[1]);
    assert_int_equal(kept_by(second), kept_by(first));
    assert_in_range(HaliteWeightsCacheGetBytes(cache), sizeof fc_f32, 2 * sizeof fc_f32);
    HaliteInterpreterOptionsSetWeightsCache(client.options, NULL);
    TfLiteInterpreter *third = create(&client, 1, y[2]);
    assert_true(kept_by(third) * 20 < kept_by(first));
    for (int i = 1; i < 3; i++) assert_memory_equal(y[i], y[0], sizeof *y);
    TfLiteInterpreterDelete(first);
    TfLiteInterpreterDelete(second);
    assert_int_equal(HaliteWeightsCacheGetBytes(cache), 0);
    TfLiteInterpreterDelete(third);
    HaliteWeightsCacheDelete(cache);
    client_end(&client);
}

// ---- a convolution that may take a PAD over -----------------------------------------------------------

enum { PX, PADS, PADDED, PW, PB, PY };
// Padding makes the images so much larger that a PAD which was taken over leaves each window to be gathered, where the
// PAD's own output is read in rows of windows. Three rows of five channels take as many words as the whole window.
enum { FEW = 5, SMALL = 4, BORDER = 4, LARGE = SMALL + 2 * BORDER, PAD_OUT = LARGE - 2 };
static const int32_t pads[4][2] = {{0, 0}, {BORDER, BORDER}, {BORDER, BORDER}, {0, 0}};
static const struct test_tensor pad_tensors[] = {
    {.name = "x", INT8, .rank = 4, .dims = {1, SMALL, SMALL, FEW}, .scale = 0.02f, .zero_point = 3},
    {.name = "pads", .type = TEST_INT32, .rank = 2, .dims = {4, 2}, .data = pads, .bytes = sizeof pads},
    {.name = "p", INT8, .rank = 4, .dims = {1, LARGE, LARGE, FEW}, .scale = 0.02f, .zero_point = 3},
    {.name = "w",
     INT8,
     .rank = 4,
     .dims = {FILTERS, 3, 3, FEW},
     .data = conv_i8,
     .bytes = FILTERS * 9 * FEW,
     .scale = 0.01f},
    {.name = "b",
     .type = TEST_INT32,
     .rank = 1,
     .dims = {FILTERS},
     .data = bias_i32,
     .bytes = sizeof bias_i32,
     .scale = 0.0002f},
    {.name = "y", INT8, .rank = 4, .dims = {1, PAD_OUT, PAD_OUT, FILTERS}, .scale = 0.05f, .zero_point = -7},
};
static const struct test_node pad_nodes[] = {
    {.builtin = kTfLiteBuiltinPad, .version = 2, TEST_INPUTS(PX, PADS), TEST_OUTPUTS(PADDED)},
    {.builtin = kTfLiteBuiltinConv2d,
     .version = 3,
     TEST_INPUTS(PADDED, PW, PB),
     TEST_OUTPUTS(PY),
     .settings = {{HL_Conv2DOptions_padding, 1, 0, NULL},
                  {HL_Conv2DOptions_stride_w, 1, 0, NULL},
                  {HL_Conv2DOptions_stride_h, 1, 0, NULL}}},
};
static const struct test_model pad_model = {TEST_TENSORS(pad_tensors), TEST_NODES(pad_nodes), TEST_INPUTS(PX),
                                            TEST_OUTPUTS(PY)};

// Where all tensors keep their values the PAD runs, and weights are packed in another way.
static void test_pads(void **state)
{
    (void)state;
    static unsigned char y[4][PAD_OUT * PAD_OUT * FILTERS];
    struct client client;
    client_load(&client, &pad_model);
    TfLiteInterpreter *interpreters[4];
    for (int i = 0; i < 4; i++) {
        HaliteInterpreterOptionsSetPreserveTensors(client.options, i % 2 == 1);
        interpreters[i] = create(&client, 1, y[i]);
        assert_memory_equal(y[i], y[0], sizeof *y);
    }
    for (int i = 0; i < 4; i++) TfLiteInterpreterDelete(interpreters[i]);
    client_end(&client);
}

// ---- threads ----------------------------------------------------------------------------------------

struct work {
    struct client *client;
    unsigned char want[UNITS * sizeof(float)];
    int wrong;
};

static void *come_and_go(void *user_data)
{
    struct work *work = user_data;
    for (int i = 0; i < 8; i++) {
        unsigned char y[sizeof work->want] = {0};
        // The client's options are the other threads', too.
        TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
        struct client own = {.model = work->client->model, .options = options};
        TfLiteInterpreter *interpreter = create(&own, 1, y);
        if (memcmp(y, work->want, sizeof y) != 0) work->wrong++;
        TfLiteInterpreterDelete(interpreter);
        TfLiteInterpreterOptionsDelete(options);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    for (int m = 0; m < MODELS; m++) {
        struct client client, reference;
        static struct work work[THREADS];
        pthread_t threads[THREADS];
        memset(work, 0, sizeof work);
        client_load(&reference, &models[m]);
        client_load(&client, &models[m]);
        TfLiteInterpreterDelete(create(&reference, 1, work[0].want));
        for (int i = 0; i < THREADS; i++) {
            memcpy(work[i].want, work[0].want, sizeof work[0].want);
            work[i].client = &client;
            assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &work[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(work[i].wrong, 0);
        }
        client_end(&client);
        client_end(&reference);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_needs_little),
        cmocka_unit_test(test_other_shapes),
        cmocka_unit_test(test_given_cache),
        cmocka_unit_test(test_pads),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, fill_weights, NULL);
}
