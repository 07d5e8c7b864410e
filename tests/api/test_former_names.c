// SPDX-License-Identifier: Apache-2.0
// Names of earlier releases: in source code, where the creation of an operator takes three arguments or four, and as
// symbols that older binaries ask for.
#include <dlfcn.h>

#include "api/client.h"
#include "tensorflow/lite/c/registration_external.h"

static int states[4], freed, invocations;

static void *init(TfLiteOpaqueContext *context, const char *buffer, size_t length)
{
    (void)context;
    (void)buffer;
    (void)length;
    return states;
}

static void forget(TfLiteOpaqueContext *context, void *data)
{
    (void)context;
    assert_ptr_equal(data, states);
    freed++;
}

static TfLiteStatus nothing(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    (void)context;
    (void)node;
    return kTfLiteOk;
}

static TfLiteStatus count(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    (void)context;
    (void)node;
    invocations++;
    return kTfLiteOk;
}

static void operators_are_made_with_or_without_data(void **state)
{
    (void)state;
    int data = 0;
    TfLiteRegistrationExternal *three = TfLiteRegistrationExternalCreate(kTfLiteBuiltinCustom, "Three", 3);
    TfLiteRegistrationExternal *four = TfLiteRegistrationExternalCreate(kTfLiteBuiltinDelegate, "Four", 4, &data);
    assert_int_equal(TfLiteRegistrationExternalGetBuiltInCode(three), kTfLiteBuiltinCustom);
    assert_string_equal(TfLiteRegistrationExternalGetCustomName(three), "Three");
    assert_int_equal(TfLiteRegistrationExternalGetVersion(three), 3);
    assert_null(TfLiteOperatorGetUserData(three));
    assert_ptr_equal(TfLiteOperatorGetUserData(four), &data);
    TfLiteRegistrationExternalDelete(three);
    TfLiteRegistrationExternalDelete(four);
}

// The symbol has the three parameters that all releases with it had.
static void binaries_find_the_creation(void **state)
{
    (void)state;
    TfLiteRegistrationExternal *(*create)(TfLiteBuiltinOperator, const char *, int);
    void *symbol = dlsym(RTLD_DEFAULT, "TfLiteRegistrationExternalCreate");
    assert_non_null(symbol);
    memcpy(&create, &symbol, sizeof create);
    TfLiteRegistrationExternal *made = create(kTfLiteBuiltinCustom, "Made", 1);
    assert_null(TfLiteOperatorGetUserData(made));
    TfLiteRegistrationExternalDelete(made);
}

// It takes the place of the model's ADD.
static void an_operator_runs_that_was_made_by_former_names(void **state)
{
    (void)state;
    TfLiteRegistrationExternal *made = TfLiteRegistrationExternalCreate(kTfLiteBuiltinAdd, NULL, 1);
    TfLiteRegistrationExternalSetInit(made, init);
    TfLiteRegistrationExternalSetFree(made, forget);
    TfLiteRegistrationExternalSetPrepare(made, nothing);
    TfLiteRegistrationExternalSetInvoke(made, count);
    struct client client;
    client_load(&client, &triple);
    TfLiteInterpreterOptionsAddRegistrationExternal(client.options, made);
    client_create(&client);
    assert_ok(TfLiteInterpreterAllocateTensors(client.interpreter));
    assert_ok(TfLiteInterpreterInvoke(client.interpreter));
    assert_int_equal(invocations, 2);
    assert_int_equal(freed, 0);
    client_end(&client);
    assert_int_equal(freed, 2);
    TfLiteRegistrationExternalDelete(made);
}

static TfLiteStatus see_graph(TfLiteOpaqueContext *context, TfLiteOpaqueDelegate *delegate, void *data)
{
    (void)context;
    (void)delegate;
    *(bool *)data = true;
    return kTfLiteOk;
}

static void an_opaque_delegate_is_added(void **state)
{
    (void)state;
    bool seen = false;
    TfLiteOpaqueDelegateBuilder builder = {.data = &seen, .Prepare = see_graph};
    TfLiteOpaqueDelegate *delegate = TfLiteOpaqueDelegateCreate(&builder);
    struct client client;
    client_load(&client, &triple);
    TfLiteInterpreterOptionsAddOpaqueDelegate(client.options, delegate);
    client_create(&client);
    assert_true(seen);
    client_end(&client);
    TfLiteOpaqueDelegateDelete(delegate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_are_made_with_or_without_data),
        cmocka_unit_test(binaries_find_the_creation),
        cmocka_unit_test(an_operator_runs_that_was_made_by_former_names),
        cmocka_unit_test(an_opaque_delegate_is_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
