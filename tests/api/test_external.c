// SPDX-License-Identifier: Apache-2.0
// Delegates from shared libraries, through external_delegate.h: one of a third party (third_party/delegate.c, built
// apart), with options, with each of its steps failing, and files that are no such library.
//
//   the graph:   s = a + a      p = s * a      y = p + s      (the third party takes the ADDs)
#include <dlfcn.h>
#include <unistd.h>

#include "client.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"

enum { A, S, P, Y, TENSORS };
enum { LENGTH = 5 };

static const struct test_tensor tensors[TENSORS] = {FLOATS("a", LENGTH), FLOATS("s", LENGTH), FLOATS("p", LENGTH),
                                                    FLOATS("y", LENGTH)};
static const struct test_node nodes[] = {NODE_2_1(kTfLiteBuiltinAdd, A, A, S), NODE_2_1(kTfLiteBuiltinMul, S, A, P),
                                         NODE_2_1(kTfLiteBuiltinAdd, P, S, Y)};
static const struct test_model graph = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(A), TEST_OUTPUTS(Y)};

static TfLiteDelegate *load(const char *path, const char *key, const char *value)
{
    TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault(path);
    if (key) assert_ok(options.insert(&options, key, value));
    return TfLiteExternalDelegateCreate(&options);
}

// Of the library that is loaded already.
static int alive(void)
{
    void *library = dlopen(THIRD_PARTY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    void *symbol = dlsym(library, "third_party_alive");
    assert_non_null(symbol);
    int (*function)(void);
    memcpy(&function, &symbol, sizeof symbol);
    int count = function();
    dlclose(library);
    return count;
}

static void run(struct client *client, float gain)
{
    float a[LENGTH] = {0, 1, -2, 0.5f, 8}, y[LENGTH];
    assert_ok(TfLiteInterpreterAllocateTensors(client->interpreter));
    client_set(client, 0, a, sizeof a);
    assert_ok(TfLiteInterpreterInvoke(client->interpreter));
    client_get(client, 0, y, sizeof y);
    for (int i = 0; i < LENGTH; i++) {
        float s = gain * (a[i] + a[i]);
        assert_float_equal(y[i], gain * (s * a[i] + s), 0);
    }
}

// ---- it works -----------------------------------------------------------------------------------

static void test_options_reach_it(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
        float gain;
    } cases[] = {{NULL, NULL, 1}, {"gain", "3", 3}, {"gain", "-0.5", -0.5f}};
    void *library = dlopen(THIRD_PARTY, RTLD_NOW | RTLD_LOCAL); // so that its count outlives the delegates
    assert_non_null(library);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client client;
        client_load(&client, &graph);
        TfLiteDelegate *delegate = load(THIRD_PARTY, cases[i].key, cases[i].value);
        assert_non_null(delegate);
        TfLiteInterpreterOptionsAddDelegate(client.options, delegate);
        client_create(&client);
        assert_int_equal(alive(), 3); // itself, and the ADD on each side of the MUL
        run(&client, cases[i].gain);
        run(&client, cases[i].gain);
        client_end(&client);
        assert_int_equal(alive(), 1);
        TfLiteExternalDelegateDelete(delegate);
        assert_int_equal(alive(), 0);
    }
    dlclose(library);
}

// ---- a step of it does not ------------------------------------------------------------------------

static void test_its_failures(void **state)
{
    (void)state;
    void *library = dlopen(THIRD_PARTY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    assert_null(load(THIRD_PARTY, "fail", "create"));
    assert_null(load(THIRD_PARTY, "fail", "silently"));
    assert_null(load(THIRD_PARTY, "no such option", "1"));
    assert_int_equal(alive(), 0);
    static const char *const steps[] = {"prepare", "late", "init", "invoke"};
    for (int i = 0; i < 4; i++) {
        char words[64];
        snprintf(words, sizeof words, "third party: %s fails", steps[i]);
        struct client client;
        client_load(&client, &graph);
        client_create(&client);
        TfLiteDelegate *delegate = load(THIRD_PARTY, "fail", steps[i]);
        assert_non_null(delegate);
        TfLiteStatus status = TfLiteInterpreterModifyGraphWithDelegate(client.interpreter, delegate);
        if (i < 3) {
            assert_int_equal(status, kTfLiteDelegateError);
            run(&client, 1); // on the CPU
        } else {
            assert_ok(status);
            assert_ok(TfLiteInterpreterAllocateTensors(client.interpreter));
            assert_int_equal(TfLiteInterpreterInvoke(client.interpreter), kTfLiteError);
        }
        assert_non_null(strstr(client.log.text, words));
        client_end(&client);
        TfLiteExternalDelegateDelete(delegate);
        assert_int_equal(alive(), 0);
    }
    dlclose(library);
}

// ---- it is none -----------------------------------------------------------------------------------

static void test_no_delegate(void **state)
{
    (void)state;
    assert_null(TfLiteExternalDelegateCreate(NULL));
    assert_null(load(NULL, NULL, NULL));
    assert_null(load("/nowhere/libdelegate.so", NULL, NULL));
    assert_null(load("/dev/null", NULL, NULL));
    assert_null(load(THIRD_PARTY_HALF, NULL, NULL)); // creates, and cannot destroy
    char path[] = "/tmp/halite_test_external.XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0 && write(descriptor, "no library", 10) == 10 && close(descriptor) == 0);
    assert_null(load(path, NULL, NULL));
    remove(path);
    TfLiteExternalDelegateDelete(NULL);
}

static void test_places_for_options(void **state)
{
    (void)state;
    TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault(THIRD_PARTY);
    assert_int_equal(TfLiteExternalDelegateOptionsInsert(NULL, "gain", "1"), kTfLiteError);
    assert_int_equal(options.insert(&options, NULL, "1"), kTfLiteError);
    assert_int_equal(options.insert(&options, "gain", NULL), kTfLiteError);
    for (int i = 0; i < kExternalDelegateMaxOptions; i++) assert_ok(options.insert(&options, "gain", "2"));
    assert_int_equal(options.insert(&options, "gain", "3"), kTfLiteError);
    assert_int_equal(options.count, kExternalDelegateMaxOptions);
    TfLiteDelegate *delegate = TfLiteExternalDelegateCreate(&options);
    assert_non_null(delegate);
    TfLiteExternalDelegateDelete(delegate);
    options.count = kExternalDelegateMaxOptions + 1;
    assert_null(TfLiteExternalDelegateCreate(&options));
    options.count = -1;
    assert_null(TfLiteExternalDelegateCreate(&options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_reach_it),
        cmocka_unit_test(test_its_failures),
        cmocka_unit_test(test_no_delegate),
        cmocka_unit_test(test_places_for_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
