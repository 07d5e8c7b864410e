// SPDX-License-Identifier: Apache-2.0
// Changes to an interpreter that is there: threads, memory, delegates, external contexts, precision; and metadata of
// models. What a facade over the C library needs.
#include "api/client.h"
#include "halite/halite.h"
#include "tensorflow/lite/c/c_api_experimental.h"

// ---- a delegate for fixed shapes, which takes all nodes and computes 3 x -------------------------

static int alive;

static void *init(TfLiteContext *context, const char *buffer, size_t length)
{
    (void)context;
    (void)length;
    alive++;
    return (void *)buffer;
}

static void forget(TfLiteContext *context, void *state)
{
    (void)context;
    (void)state;
    alive--;
}

static TfLiteStatus invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *x = &context->tensors[node->inputs->data[0]];
    TfLiteTensor *y = &context->tensors[node->outputs->data[0]];
    for (size_t i = 0; i < y->bytes / sizeof(float); i++) y->data.f[i] = 3 * x->data.f[i];
    return kTfLiteOk;
}

static bool saw_half_precision;

static TfLiteStatus take_all(TfLiteContext *context, TfLiteDelegate *delegate)
{
    TfLiteIntArray *plan;
    saw_half_precision = context->allow_fp32_relax_to_fp16;
    TfLiteStatus status = context->GetExecutionPlan(context, &plan);
    TfLiteRegistration kernel = {.init = init, .free = forget, .invoke = invoke, .custom_name = "All", .version = 1};
    return status == kTfLiteOk ? context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, plan, delegate)
                               : status;
}

static TfLiteDelegate all = {.Prepare = take_all};

// ---- changes ------------------------------------------------------------------------------------

static void threads_may_change(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    run_triple(&c);
    static const int counts[] = {4, 1, 0, -1, 2};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_ok(HaliteInterpreterSetNumThreads(c.interpreter, counts[i]));
        assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError); // no memory yet
        run_triple(&c);
    }
    client_forget(&c.log);
    assert_int_equal(HaliteInterpreterSetNumThreads(c.interpreter, -2), kTfLiteError);
    assert_non_null(strstr(c.log.text, "the number of threads cannot be -2"));
    assert_int_equal(HaliteInterpreterSetNumThreads(NULL, 1), kTfLiteError);
    run_triple(&c); // as before
    client_end(&c);
}

static void memory_is_given_back(void **state)
{
    (void)state;
    struct client c;
    HaliteMemoryReport report;
    client_begin(&c, &triple);
    run_triple(&c);
    assert_ok(HaliteInterpreterGetMemoryReport(c.interpreter, &report));
    assert_true(report.arena > 0);
    assert_ok(HaliteInterpreterReleaseMemory(c.interpreter));
    assert_ok(HaliteInterpreterGetMemoryReport(c.interpreter, &report));
    assert_int_equal(report.arena, 0);
    assert_null(TfLiteTensorData(TfLiteInterpreterGetInputTensor(c.interpreter, 0)));
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    run_triple(&c);
    assert_int_equal(HaliteInterpreterReleaseMemory(NULL), kTfLiteError);
    client_end(&c);
}

static void a_static_delegate_outlives_changes(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    assert_ok(TfLiteInterpreterModifyGraphWithDelegate(c.interpreter, &all));
    assert_int_equal(HaliteInterpreterGetNodeCount(c.interpreter), 1);
    run_triple(&c);
    assert_ok(HaliteInterpreterReleaseMemory(c.interpreter));
    run_triple(&c);
    assert_int_equal(HaliteInterpreterGetNodeCount(c.interpreter), 1);
    assert_ok(HaliteInterpreterSetNumThreads(c.interpreter, 2));
    run_triple(&c);
    assert_int_equal(HaliteInterpreterGetNodeCount(c.interpreter), 1);
    client_resize(&c, 0, 6);
    run_triple(&c);
    client_end(&c);
    assert_int_equal(alive, 0);
}

static void delegates_are_taken_off(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    assert_ok(TfLiteInterpreterModifyGraphWithDelegate(c.interpreter, &all));
    run_triple(&c);
    assert_int_equal(alive, 1);
    assert_ok(HaliteInterpreterRemoveDelegates(c.interpreter));
    assert_int_equal(alive, 0);
    assert_int_equal(HaliteInterpreterGetNodeCount(c.interpreter), 2);
    run_triple(&c);
    assert_int_equal(HaliteInterpreterGetNodeCount(c.interpreter), 2); // they do not come back
    assert_ok(HaliteInterpreterRemoveDelegates(c.interpreter));        // there are none
    run_triple(&c);
    assert_int_equal(HaliteInterpreterRemoveDelegates(NULL), kTfLiteError);
    client_end(&c);
}

static int refreshed;

static TfLiteStatus refresh(TfLiteContext *context)
{
    assert_int_equal(context->recommended_num_threads, 3);
    refreshed++;
    return kTfLiteOk;
}

static void external_contexts_are_kept(void **state)
{
    (void)state;
    struct client c;
    TfLiteExternalContext tpu = {kTfLiteEdgeTpuContext, refresh};
    client_begin(&c, &triple);
    assert_null(HaliteInterpreterGetExternalContext(c.interpreter, kTfLiteEdgeTpuContext));
    assert_ok(HaliteInterpreterSetExternalContext(c.interpreter, kTfLiteEdgeTpuContext, &tpu));
    assert_ptr_equal(HaliteInterpreterGetExternalContext(c.interpreter, kTfLiteEdgeTpuContext), &tpu);
    assert_null(HaliteInterpreterGetExternalContext(c.interpreter, kTfLiteEigenContext));
    assert_ok(HaliteInterpreterSetNumThreads(c.interpreter, 3));
    assert_int_equal(refreshed, 1);
    assert_ok(HaliteInterpreterSetExternalContext(c.interpreter, kTfLiteEdgeTpuContext, NULL));
    assert_null(HaliteInterpreterGetExternalContext(c.interpreter, kTfLiteEdgeTpuContext));
    const TfLiteExternalContextType bad = (TfLiteExternalContextType)-1;
    assert_int_equal(HaliteInterpreterSetExternalContext(c.interpreter, bad, &tpu), kTfLiteError);
    assert_int_equal(HaliteInterpreterSetExternalContext(c.interpreter, kTfLiteMaxExternalContexts, &tpu),
                     kTfLiteError);
    assert_null(HaliteInterpreterGetExternalContext(c.interpreter, kTfLiteMaxExternalContexts));
    client_end(&c);
}

static void delegates_see_the_precision(void **state)
{
    (void)state;
    struct client c;
    client_begin(&c, &triple);
    assert_false(HaliteInterpreterGetAllowHalfPrecision(c.interpreter));
    HaliteInterpreterSetAllowHalfPrecision(c.interpreter, true);
    assert_true(HaliteInterpreterGetAllowHalfPrecision(c.interpreter));
    assert_ok(TfLiteInterpreterModifyGraphWithDelegate(c.interpreter, &all));
    assert_true(saw_half_precision);
    HaliteInterpreterSetAllowHalfPrecision(NULL, true);
    assert_false(HaliteInterpreterGetAllowHalfPrecision(NULL));
    client_end(&c);
}

// ---- models -------------------------------------------------------------------------------------

static void metadata_is_read(void **state)
{
    (void)state;
    static const struct test_metadata entries[] = {{"min_runtime_version", "1.5.0", 6}, {"empty", NULL, 0}};
    struct test_model model = triple;
    model.metadata_count = 2;
    model.metadata = entries;
    struct client c;
    const char *name;
    const void *data;
    size_t bytes;
    client_load(&c, &model);
    assert_int_equal(HaliteModelGetMetadataCount(c.model), 2);
    assert_ok(HaliteModelGetMetadata(c.model, 0, &name, &data, &bytes));
    assert_string_equal(name, "min_runtime_version");
    assert_int_equal(bytes, 6);
    assert_memory_equal(data, "1.5.0", 6);
    assert_ok(HaliteModelGetMetadata(c.model, 1, &name, &data, &bytes));
    assert_string_equal(name, "empty");
    assert_int_equal(bytes, 0);
    assert_non_null(data);
    assert_int_equal(HaliteModelGetMetadata(c.model, 2, &name, &data, &bytes), kTfLiteError);
    assert_int_equal(HaliteModelGetMetadata(c.model, -1, &name, &data, &bytes), kTfLiteError);
    assert_int_equal(HaliteModelGetMetadata(c.model, 0, NULL, &data, &bytes), kTfLiteError);
    assert_int_equal(HaliteModelGetMetadataCount(NULL), 0);
    assert_non_null(HaliteModelGetDescription(c.model));
    assert_string_equal(HaliteModelGetDescription(NULL), "");
    client_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_may_change),
        cmocka_unit_test(memory_is_given_back),
        cmocka_unit_test(a_static_delegate_outlives_changes),
        cmocka_unit_test(delegates_are_taken_off),
        cmocka_unit_test(external_contexts_are_kept),
        cmocka_unit_test(delegates_see_the_precision),
        cmocka_unit_test(metadata_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
