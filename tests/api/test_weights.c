// SPDX-License-Identifier: Apache-2.0
// Weights that interpreters share (HaliteWeightsCache): how much the second one of a model needs, results that stay the
// same bit for bit, and blocks that go with their last user, whatever goes first.
#include <pthread.h>
#include <sys/stat.h>

#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"
#include "weights_client.h"

// ---- sharing --------------------------------------------------------------------------------------

static void test_second_needs_little(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        static unsigned char y[3][UNITS * sizeof(float)];
        struct client alone, first, second;
        HaliteWeightsCache *cache = HaliteWeightsCacheCreate();
        assert_non_null(cache);
        run(&alone, &models[m], NULL, y[0]);
        run(&first, &models[m], cache, y[1]);
        size_t held = HaliteWeightsCacheGetBytes(cache);
        run(&second, &models[m], cache, y[2]);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        assert_memory_equal(y[0], y[2], sizeof y[0]);
        // About as many bytes as the constants have; all of them are there once, and the second has only scratch.
        assert_in_range(held, m == 0 ? sizeof fc_f32 : sizeof fc_i8, 4 * sizeof fc_f32);
        assert_int_equal(HaliteWeightsCacheGetBytes(cache), held);
        printf("model %d: %zu bytes alone, %zu the first, %zu the second\n", m, kept(&alone), kept(&first),
               kept(&second));
        assert_true(kept(&second) * 20 < kept(&first));
        assert_true(kept(&first) >= kept(&alone) && kept(&first) < kept(&alone) + 4096);
        client_end(&first);
        assert_int_equal(HaliteWeightsCacheGetBytes(cache), held);
        client_end(&second);
        assert_int_equal(HaliteWeightsCacheGetBytes(cache), 0);
        client_end(&alone);
        HaliteWeightsCacheDelete(cache);
    }
}

// One weight is another: nothing but the other node's block is shared.
static void test_other_weights(void **state)
{
    (void)state;
    static unsigned char y[3][UNITS * sizeof(float)];
    struct client first, second, alone;
    HaliteWeightsCache *cache = HaliteWeightsCacheCreate();
    run(&first, &models[0], cache, y[0]);
    size_t held = HaliteWeightsCacheGetBytes(cache);
    fc_f32[UNITS * LONG - 1] += 1;
    run(&second, &models[0], cache, y[1]);
    run(&alone, &models[0], NULL, y[2]);
    fc_f32[UNITS * LONG - 1] -= 1;
    assert_memory_equal(y[1], y[2], sizeof y[1]);
    assert_true(memcmp(y[0], y[1], sizeof y[0]) != 0);
    assert_in_range(HaliteWeightsCacheGetBytes(cache), held + sizeof fc_f32, 2 * held - sizeof conv_f32);
    client_end(&second);
    assert_int_equal(HaliteWeightsCacheGetBytes(cache), held);
    client_end(&first);
    client_end(&alone);
    HaliteWeightsCacheDelete(cache);
}

// ---- life -----------------------------------------------------------------------------------------

static void test_cache_goes_first(void **state)
{
    (void)state;
    static unsigned char y[UNITS * sizeof(float)], again[sizeof y];
    struct client first, second;
    HaliteWeightsCache *cache = HaliteWeightsCacheCreate();
    run(&first, &models[1], cache, y);
    run(&second, &models[1], cache, y);
    HaliteWeightsCacheDelete(cache);
    client_end(&first);
    // Preparing anew finds the cache where it was.
    assert_ok(TfLiteInterpreterResizeInputTensor(second.interpreter, 0, (const int[]){1, SIZE, SIZE, CHANNELS}, 4));
    assert_ok(TfLiteInterpreterAllocateTensors(second.interpreter));
    assert_ok(TfLiteInterpreterInvoke(second.interpreter));
    client_end(&second);
    run(&first, &models[1], NULL, again);
    assert_memory_equal(y, again, UNITS);
    client_end(&first);
    HaliteWeightsCacheDelete(NULL);
    assert_int_equal(HaliteWeightsCacheGetBytes(NULL), 0);
}

static void test_finalized(void **state)
{
    (void)state;
    static unsigned char y[UNITS * sizeof(float)];
    for (int hard = 0; hard < 2; hard++) {
        struct client first, same, other;
        HaliteWeightsCache *cache = HaliteWeightsCacheCreate();
        run(&first, &models[1], cache, y);
        size_t held = HaliteWeightsCacheGetBytes(cache);
        assert_true(HaliteWeightsCacheFinalize(cache, hard));
        assert_false(HaliteWeightsCacheFinalize(cache, !hard));
        run(&same, &models[1], cache, y);
        assert_true(hard ? kept(&same) == kept(&first) : kept(&same) * 20 < kept(&first));
        run(&other, &models[0], cache, y);
        assert_int_equal(HaliteWeightsCacheGetBytes(cache), held); // nothing new
        client_end(&other);
        client_end(&first);
        client_end(&same);
        assert_int_equal(HaliteWeightsCacheGetBytes(cache), 0);
        HaliteWeightsCacheDelete(cache);
    }
    assert_false(HaliteWeightsCacheFinalize(NULL, false));
}

// ---- threads ----------------------------------------------------------------------------------------

struct work {
    HaliteWeightsCache *cache;
    unsigned char want[2][UNITS * sizeof(float)];
    int wrong;
};

static void *come_and_go(void *user_data)
{
    struct work *work = user_data;
    for (int i = 0; i < 8; i++) {
        unsigned char y[UNITS * sizeof(float)] = {0};
        struct client client;
        run(&client, &models[i % 2], work->cache, y);
        client_end(&client);
        if (memcmp(y, work->want[i % 2], i % 2 ? UNITS : sizeof y) != 0) work->wrong++;
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    HaliteWeightsCache *cache = HaliteWeightsCacheCreate();
    static struct work work[THREADS];
    pthread_t threads[THREADS];
    for (int m = 0; m < MODELS; m++) {
        struct client client;
        run(&client, &models[m], NULL, work[0].want[m]);
        client_end(&client);
    }
    for (int i = 0; i < THREADS; i++) {
        if (i > 0) work[i] = work[0];
        work[i].cache = cache;
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &work[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(work[i].wrong, 0);
    }
    assert_int_equal(HaliteWeightsCacheGetBytes(cache), 0);
    HaliteWeightsCacheDelete(cache);
}

// ---- under XNNPACK's name ---------------------------------------------------------------------------

static void test_xnnpack(void **state)
{
    (void)state;
    struct TfLiteXNNPackDelegateWeightsCache *cache = TfLiteXNNPackDelegateWeightsCacheCreateWithSize(1 << 20);
    TfLiteXNNPackDelegateOptions today = TfLiteXNNPackDelegateOptionsDefault();
    today.num_threads = 2;
    today.weights_cache = cache;
    TfLiteDelegate *delegate = TfLiteXNNPackDelegateCreate(&today);
    assert_non_null(delegate);
    assert_ptr_equal(TfLiteXNNPackDelegateGetOptions(delegate)->weights_cache, cache);
    assert_int_equal(TfLiteXNNPackDelegateGetFlags(delegate),
                     TFLITE_XNNPACK_DELEGATE_FLAG_QS8 | TFLITE_XNNPACK_DELEGATE_FLAG_QU8);
    static unsigned char y[3][UNITS * sizeof(float)];
    struct client clients[3];
    for (int i = 0; i < 3; i++) {
        client_load(&clients[i], &models[1]);
        HaliteInterpreterOptionsSetKernels(clients[i].options, kHaliteKernelsFast);
        TfLiteInterpreterOptionsSetNumThreads(clients[i].options, 1);
        if (i == 1) TfLiteInterpreterOptionsAddDelegate(clients[i].options, delegate);
        client_create(&clients[i]);
        // The last one is applied to a graph that has its memory already.
        if (i != 1) assert_ok(TfLiteInterpreterAllocateTensors(clients[i].interpreter));
        if (i == 2) assert_ok(TfLiteInterpreterModifyGraphWithDelegate(clients[i].interpreter, delegate));
        invoke(&clients[i], &models[1], y[i]);
        const TfLiteContext *context = HaliteInterpreterGetSubgraphContext(clients[i].interpreter, 0);
        assert_int_equal(context->recommended_num_threads, i == 0 ? 1 : 2);
        assert_int_equal(HaliteInterpreterGetNodeCount(clients[i].interpreter), 2);
    }
    assert_memory_equal(y[0], y[1], UNITS);
    assert_memory_equal(y[0], y[2], UNITS);
    assert_true(kept(&clients[2]) * 10 < kept(&clients[1])); // of two threads, each with scratch
    assert_true(TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(cache));
    assert_false(TfLiteXNNPackDelegateWeightsCacheFinalizeHard(cache));
    for (int i = 0; i < 3; i++) client_end(&clients[i]);
    TfLiteXNNPackDelegateDelete(delegate);
    TfLiteXNNPackDelegateWeightsCacheDelete(cache);
}

// Consistent arithmetic: the sums of the reference kernels, bit for bit, whatever the interpreter would have chosen.
static void test_xnnpack_consistent(void **state)
{
    (void)state;
    static unsigned char y[3][UNITS * sizeof(float)];
    for (int i = 0; i < 3; i++) {
        TfLiteXNNPackDelegateOptions options = TfLiteXNNPackDelegateOptionsDefault();
        if (i == 2) options.flags |= TFLITE_XNNPACK_DELEGATE_FLAG_SLOW_CONSISTENT_ARITHMETIC;
        TfLiteDelegate *delegate = TfLiteXNNPackDelegateCreate(&options);
        struct client client;
        client_load(&client, &models[0]);
        HaliteInterpreterOptionsSetKernels(client.options, i == 0 ? kHaliteKernelsReference : kHaliteKernelsFast);
        TfLiteInterpreterOptionsAddDelegate(client.options, delegate);
        client_create(&client);
        invoke(&client, &models[0], y[i]);
        assert_true((kept(&client) > sizeof fc_f32) == (i == 1)); // packed weights
        if (i == 1)
            assert_int_equal(HaliteContextSetKernels(HaliteInterpreterGetSubgraphContext(client.interpreter, 0),
                                                     kHaliteKernelsDefault),
                             kTfLiteError);
        client_end(&client);
        TfLiteXNNPackDelegateDelete(delegate);
    }
    assert_memory_equal(y[0], y[2], sizeof y[0]);
}

// A context of another runtime is left alone.
static void test_other_runtime(void **state)
{
    (void)state;
    TfLiteContext other = {.recommended_num_threads = 1};
    assert_int_equal(HaliteContextSetNumThreads(&other, 2), kTfLiteError);
    assert_int_equal(HaliteContextSetWeightsCache(&other, NULL), kTfLiteError);
    assert_int_equal(HaliteContextSetNumThreads(NULL, 2), kTfLiteError);
    assert_int_equal(HaliteContextSetKernels(&other, kHaliteKernelsFast), kTfLiteError);
    TfLiteXNNPackDelegateOptions options = TfLiteXNNPackDelegateOptionsDefault();
    options.num_threads = 2;
    TfLiteDelegate *delegate = TfLiteXNNPackDelegateCreate(&options);
    assert_ok(delegate->Prepare(&other, delegate));
    assert_int_equal(other.recommended_num_threads, 1);
    TfLiteXNNPackDelegateDelete(delegate);
}

// ---- models of others -------------------------------------------------------------------------------

static void test_models(void **state)
{
    (void)state;
    static const char *const names[] = {"mobilenet_v1_1.0_224_float", "mobilenet_v1_1.0_224_int8",
                                        "mobilenet_v1_1.0_224_quant", "mobilenet_v1_1.0_224_dynamic_range"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        struct stat facts;
        snprintf(path, sizeof path, "../shared/models/classification/%s.tflite", names[i]);
        if (stat(path, &facts) != 0) {
            printf("left out: %s is not here\n", path);
            continue;
        }
        HaliteWeightsCache *cache = HaliteWeightsCacheCreate();
        TfLiteModel *model = TfLiteModelCreateFromFile(path);
        TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
        HaliteInterpreterOptionsSetKernels(options, kHaliteKernelsFast);
        HaliteInterpreterOptionsSetWeightsCache(options, cache);
        TfLiteInterpreterOptionsSetNumThreads(options, 1);
        TfLiteInterpreter *interpreters[2];
        HaliteMemoryReport reports[2];
        for (int k = 0; k < 2; k++) {
            interpreters[k] = TfLiteInterpreterCreate(model, options);
            assert_ok(TfLiteInterpreterAllocateTensors(interpreters[k]));
            assert_ok(HaliteInterpreterGetMemoryReport(interpreters[k], &reports[k]));
        }
        size_t packed = HaliteWeightsCacheGetBytes(cache),
               second = packed - (reports[0].persistent - reports[1].persistent);
        printf("%s: %zu bytes packed, the second adds %zu; with scratch %zu and %zu\n", names[i], packed, second,
               reports[0].persistent, reports[1].persistent);
        assert_true(second * 20 < packed);
        for (int k = 0; k < 2; k++) TfLiteInterpreterDelete(interpreters[k]);
        TfLiteInterpreterOptionsDelete(options);
        TfLiteModelDelete(model);
        assert_int_equal(HaliteWeightsCacheGetBytes(cache), 0);
        HaliteWeightsCacheDelete(cache);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_needs_little),
        cmocka_unit_test(test_other_weights),
        cmocka_unit_test(test_cache_goes_first),
        cmocka_unit_test(test_finalized),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_xnnpack),
        cmocka_unit_test(test_xnnpack_consistent),
        cmocka_unit_test(test_other_runtime),
        cmocka_unit_test(test_models),
    };
    return cmocka_run_group_tests(tests, fill_weights, NULL);
}
