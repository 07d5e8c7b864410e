// SPDX-License-Identifier: Apache-2.0
// Packed weights in a file (HaliteWeightsCacheCreateWithFile): a later cache packs nothing and gives the same results
// bit for bit; a file that is damaged anywhere, cut, of another CPU level or somebody else's is never believed.
#include <sys/stat.h>
#include <unistd.h>

#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"
#include "weights_client.h"

static char path[] = "/tmp/halite_test_weights.XXXXXX";

static int make_path(void **state)
{
    int descriptor = mkstemp(path);
    if (descriptor < 0 || close(descriptor) != 0 || remove(path) != 0) return -1;
    return fill_weights(state);
}

static int remove_file(void **state)
{
    (void)state;
    remove(path);
    return 0;
}

static unsigned char *read_file(size_t *size)
{
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    *size = (size_t)facts.st_size;
    unsigned char *bytes = malloc(*size);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void write_file(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

// Runs a model as a process of its own would, with a cache on the file. Returns how many bytes were packed.
static size_t start(int model, unsigned char *y, struct client_log *log)
{
    struct client client;
    HaliteWeightsCache *cache = HaliteWeightsCacheCreateWithFile(path);
    assert_non_null(cache);
    run(&client, &models[model], cache, y);
    const size_t packed = HaliteWeightsCacheGetPackedBytes(cache);
    if (log) *log = client.log;
    client_end(&client);
    assert_int_equal(HaliteWeightsCacheGetBytes(cache), 0);
    HaliteWeightsCacheDelete(cache);
    return packed;
}

enum { Y_BYTES = UNITS * sizeof(float) };

static void test_second_start(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        unsigned char first[Y_BYTES] = {0}, second[Y_BYTES] = {0}, alone[Y_BYTES] = {0};
        struct client client;
        struct client_log log;
        run(&client, &models[m], NULL, alone);
        client_end(&client);
        const size_t packed = start(m, first, &log);
        assert_int_equal(log.count, 0);
        assert_true(packed >= (m == 0 ? sizeof fc_f32 : sizeof fc_i8));
        assert_int_equal(start(m, second, &log), 0);
        assert_int_equal(log.count, 0);
        assert_memory_equal(first, alone, Y_BYTES);
        assert_memory_equal(second, alone, Y_BYTES);
        struct stat facts;
        assert_int_equal(stat(path, &facts), 0);
        assert_int_equal(facts.st_mode & 0777, 0600);
        assert_true((size_t)facts.st_size >= packed && (size_t)facts.st_size < packed + 4096);
        remove(path);
    }
}

// Several models may share a file. What only the others use stays, as long as it is not more than what is in use.
static void test_two_models(void **state)
{
    (void)state;
    unsigned char y[Y_BYTES];
    size_t both, bytes;
    assert_true(start(1, y, NULL) > 0);
    assert_true(start(0, y, NULL) > 0);
    free(read_file(&both));
    assert_int_equal(start(0, y, NULL), 0);
    assert_int_equal(start(1, y, NULL), 0);
    free(read_file(&bytes));
    assert_int_equal(bytes, both); // nothing was missing, so nothing was written
    remove(path);
    start(0, y, NULL);
    start(1, y, NULL); // a quarter of the other's
    free(read_file(&bytes));
    assert_true(bytes < both / 2);
}

// The same weights are packed in the same way where the model differs elsewhere; what differs is packed anew.
static void test_other_weights(void **state)
{
    (void)state;
    unsigned char y[Y_BYTES], alone[Y_BYTES], before[Y_BYTES];
    struct client client;
    const size_t all = start(0, before, NULL);
    bias_f32[0] += 1;
    const size_t changed = start(0, y, NULL);
    run(&client, &models[0], NULL, alone);
    client_end(&client);
    bias_f32[0] -= 1;
    assert_memory_equal(y, alone, Y_BYTES);
    assert_true(memcmp(y, before, Y_BYTES) != 0);
    assert_int_equal(changed, all); // both nodes have this bias
    fc_f32[7] += 1;
    assert_in_range(start(0, y, NULL), sizeof fc_f32, all - sizeof conv_f32);
    run(&client, &models[0], NULL, alone);
    client_end(&client);
    fc_f32[7] -= 1;
    assert_memory_equal(y, alone, Y_BYTES);
}

// Each byte of what is read before the weights, and some of these. After a damaged start all is well again.
static void test_damage(void **state)
{
    (void)state;
    unsigned char y[Y_BYTES], again[Y_BYTES];
    size_t size;
    start(1, y, NULL);
    unsigned char *good = read_file(&size), *bad = malloc(size);
    for (size_t at = sizeof "HaliteWC" - 1; at < size; at += at < 600 ? 29 : size / 6) {
        struct client_log log;
        memcpy(bad, good, size);
        bad[at] ^= 4;
        write_file(bad, size);
        const size_t packed = start(1, again, &log);
        if (packed == 0) // bytes between the blocks
            assert_int_equal(bad[at] ^ 4, 0);
        else
            assert_non_null(strstr(log.text, "packed anew"));
        assert_memory_equal(again, y, UNITS);
        if (packed > 0) assert_int_equal(start(1, again, &log), 0);
    }
    for (size_t left = 8; left < size; left += size / 5) {
        struct client_log log;
        write_file(good, left);
        assert_true(start(1, again, &log) > 0);
        assert_non_null(strstr(log.text, "it is damaged"));
        assert_memory_equal(again, y, UNITS);
        assert_int_equal(start(1, again, NULL), 0);
    }
    free(good);
    free(bad);
}

// A file that somebody named by mistake stays as it is.
static void test_something_else(void **state)
{
    (void)state;
    static const char text[] = "a letter to my aunt, and no weights at all";
    unsigned char y[Y_BYTES];
    struct client_log log;
    size_t size;
    write_file(text, sizeof text);
    assert_true(start(0, y, &log) > 0);
    assert_int_equal(log.count, 1);
    assert_non_null(strstr(log.text, "it is something else, and is left alone"));
    unsigned char *bytes = read_file(&size);
    assert_int_equal(size, sizeof text);
    assert_memory_equal(bytes, text, size);
    free(bytes);
    assert_int_equal(chmod(path, 0666), 0);
    start(0, y, &log);
    assert_non_null(strstr(log.text, "other users may write it"));
}

static void test_no_folder(void **state)
{
    (void)state;
    struct client client;
    unsigned char y[Y_BYTES];
    HaliteWeightsCache *cache = HaliteWeightsCacheCreateWithFile("/no such folder/weights");
    run(&client, &models[0], cache, y);
    assert_int_equal(client.log.count, 1);
    assert_non_null(strstr(client.log.text, "packed weights cannot be kept in /no such folder/weights: "));
    assert_ok(TfLiteInterpreterAllocateTensors(client.interpreter));
    assert_int_equal(client.log.count, 1);
    client_end(&client);
    HaliteWeightsCacheDelete(cache);
    assert_null(HaliteWeightsCacheCreateWithFile(NULL));
    assert_null(HaliteWeightsCacheCreateWithFile(""));
}

// What was packed for one CPU level is of no use for another.
static void test_other_level(void **state)
{
    (void)state;
    const char *level = getenv("HALITE_SIMD");
    char *kept_level = level ? strdup(level) : NULL;
    unsigned char y[Y_BYTES], again[Y_BYTES];
    struct client_log log;
    start(1, y, NULL);
    setenv("HALITE_SIMD", "baseline", 1);
    const size_t packed = start(1, again, &log);
    if (kept_level)
        setenv("HALITE_SIMD", kept_level, 1);
    else
        unsetenv("HALITE_SIMD");
    free(kept_level);
    assert_memory_equal(again, y, UNITS);
    if (packed == 0) skip(); // this CPU has one level
    assert_non_null(strstr(log.text, "it was packed for another CPU level"));
}

// An interpreter that goes on while its file is replaced keeps what it has mapped.
static void test_file_goes_first(void **state)
{
    (void)state;
    struct client mapped, other;
    unsigned char y[Y_BYTES], again[Y_BYTES];
    start(0, y, NULL);
    HaliteWeightsCache *cache = HaliteWeightsCacheCreateWithFile(path);
    run(&mapped, &models[0], cache, again);
    run(&other, &models[1], cache, again); // writes the file anew
    assert_int_equal(remove(path), 0);
    client_end(&other);
    HaliteWeightsCacheDelete(cache);
    assert_ok(TfLiteInterpreterInvoke(mapped.interpreter));
    invoke(&mapped, &models[0], again);
    assert_memory_equal(again, y, Y_BYTES);
    client_end(&mapped);
}

// ---- under XNNPACK's name ---------------------------------------------------------------------------

static void start_xnnpack(const char *file, unsigned char *y, size_t *persistent)
{
    TfLiteXNNPackDelegateOptions options = TfLiteXNNPackDelegateOptionsDefault();
    char *passing = strdup(file);
    options.weight_cache_file_path = passing;
    TfLiteDelegate *delegate = TfLiteXNNPackDelegateCreate(&options);
    memset(passing, '?', strlen(passing)); // the delegate has its own
    free(passing);
    assert_string_equal(TfLiteXNNPackDelegateGetOptions(delegate)->weight_cache_file_path, file);
    struct client clients[2];
    for (int i = 0; i < 2; i++) {
        client_load(&clients[i], &models[0]);
        HaliteInterpreterOptionsSetKernels(clients[i].options, kHaliteKernelsFast);
        TfLiteInterpreterOptionsAddDelegate(clients[i].options, delegate);
        client_create(&clients[i]);
        invoke(&clients[i], &models[0], y);
        persistent[i] = kept(&clients[i]);
        assert_int_equal(clients[i].log.count, 0);
    }
    for (int i = 0; i < 2; i++) client_end(&clients[i]);
    TfLiteXNNPackDelegateDelete(delegate);
}

static void test_xnnpack(void **state)
{
    (void)state;
    unsigned char first[Y_BYTES], second[Y_BYTES];
    size_t cold[2], warm[2];
    start_xnnpack(path, first, cold);
    assert_true(cold[0] > sizeof fc_f32 && cold[1] * 20 < cold[0]);
    start_xnnpack(path, second, warm);
    assert_true(warm[0] * 20 < cold[0] && warm[1] * 20 < cold[0]);
    assert_memory_equal(first, second, Y_BYTES);
    remove(path);
    // In memory alone: the delegate's interpreters share, and nothing is written.
    assert_true(TfLiteXNNPackDelegateCanUseInMemoryWeightCacheProvider());
    start_xnnpack(TfLiteXNNPackDelegateInMemoryFilePath(), second, cold);
    assert_true(cold[0] > sizeof fc_f32 && cold[1] * 20 < cold[0]);
    assert_int_not_equal(access(TfLiteXNNPackDelegateInMemoryFilePath(), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_second_start, remove_file),
        cmocka_unit_test_teardown(test_two_models, remove_file),
        cmocka_unit_test_teardown(test_other_weights, remove_file),
        cmocka_unit_test_teardown(test_damage, remove_file),
        cmocka_unit_test_teardown(test_something_else, remove_file),
        cmocka_unit_test_teardown(test_no_folder, remove_file),
        cmocka_unit_test_teardown(test_other_level, remove_file),
        cmocka_unit_test_teardown(test_file_goes_first, remove_file),
        cmocka_unit_test_teardown(test_xnnpack, remove_file),
    };
    return cmocka_run_group_tests(tests, make_path, NULL);
}
