// SPDX-License-Identifier: Apache-2.0
// Threads: interpreters of one model run in parallel and share nothing that changes; one interpreter moves from thread
// to thread; another thread cancels an invoke. Meant for the tsan preset.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"

enum { THREADS = 4, RUNS = 50, LENGTH = 64 };

static float slopes[LENGTH];

#define VECTOR(label, ...)                                                            \
    {                                                                                 \
        .name = label, .type = TEST_FLOAT32, .rank = 1, .dims = {LENGTH}, __VA_ARGS__ \
    }
// y = relu(x * slopes)
static const struct test_tensor tensors[] = {VECTOR("x", .data = NULL), VECTOR("p", .data = NULL),
                                             VECTOR("y", .data = NULL),
                                             VECTOR("k", .data = slopes, .bytes = sizeof slopes)};
static const struct test_node nodes[] = {
    {.builtin = kTfLiteBuiltinMul, TEST_INPUTS(0, 3), TEST_OUTPUTS(1)},
    {.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(1), TEST_OUTPUTS(2)},
};
static const struct test_model product = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(0), TEST_OUTPUTS(2)};

static bool run_once(TfLiteInterpreter *interpreter, int seed)
{
    float x[LENGTH], y[LENGTH];
    for (int i = 0; i < LENGTH; i++) x[i] = (float)((i * 7 + seed) % 11 - 5);
    if (TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), x, sizeof x) != kTfLiteOk ||
        TfLiteInterpreterInvoke(interpreter) != kTfLiteOk ||
        TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), y, sizeof y) != kTfLiteOk)
        return false;
    for (int i = 0; i < LENGTH; i++) {
        float expected = x[i] * slopes[i];
        if (y[i] != (expected > 0 ? expected : 0)) return false;
    }
    return true;
}

struct job {
    const TfLiteModel *model;
    TfLiteInterpreter *interpreter; // NULL: make one
    int seed;
    bool ok;
};

static void *work(void *argument)
{
    struct job *job = argument;
    TfLiteInterpreter *interpreter = job->interpreter ? job->interpreter : TfLiteInterpreterCreate(job->model, NULL);
    job->ok = interpreter && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk;
    for (int i = 0; i < RUNS && job->ok; i++) job->ok = run_once(interpreter, job->seed + i);
    if (!job->interpreter) TfLiteInterpreterDelete(interpreter);
    return NULL;
}

static TfLiteModel *make_model(unsigned char **file)
{
    size_t size;
    for (int i = 0; i < LENGTH; i++) slopes[i] = (float)i / 8;
    *file = test_model_write(&product, &size);
    TfLiteModel *model = TfLiteModelCreate(*file, size);
    assert_non_null(model);
    return model;
}

static void interpreters_in_parallel(void **state)
{
    (void)state;
    unsigned char *file;
    TfLiteModel *model = make_model(&file);
    pthread_t threads[THREADS];
    struct job jobs[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.model = model, .seed = i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(jobs[i].ok);
    }
    TfLiteModelDelete(model);
    free(file);
}

static void interpreter_moves(void **state)
{
    (void)state;
    unsigned char *file;
    TfLiteModel *model = make_model(&file);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        struct job job = {.interpreter = interpreter, .seed = i};
        assert_int_equal(pthread_create(&thread, NULL, work, &job), 0);
        pthread_join(thread, NULL);
        assert_true(job.ok);
    }
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    free(file);
}

// ---- cancelling ---------------------------------------------------------------------------------

// A kernel of the caller's in place of RELU: says that it runs, and waits until it is allowed to end.
static atomic_bool kernel_runs, kernel_may_end;

static TfLiteStatus waiting_invoke(TfLiteContext *context, TfLiteNode *node)
{
    (void)context;
    (void)node;
    atomic_store(&kernel_runs, true);
    while (!atomic_load(&kernel_may_end)) {
    }
    return kTfLiteOk;
}

static void *cancel(void *interpreter)
{
    while (!atomic_load(&kernel_runs)) {
    }
    TfLiteStatus *status = malloc(sizeof *status);
    *status = TfLiteInterpreterCancel(interpreter);
    atomic_store(&kernel_may_end, true);
    return status;
}

static void ignore(void *user_data, const char *format, va_list args)
{
    (void)user_data;
    (void)format;
    (void)args;
}

static void cancels(void **state)
{
    (void)state;
    unsigned char *file;
    TfLiteModel *model = make_model(&file);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteRegistration waiting = {.invoke = waiting_invoke};
    TfLiteInterpreterOptionsAddBuiltinOp(options, kTfLiteBuiltinMul, &waiting, 1, 9);
    TfLiteInterpreterOptionsSetErrorReporter(options, ignore, NULL);
    TfLiteInterpreter *refuses = TfLiteInterpreterCreate(model, options);
    assert_int_equal(TfLiteInterpreterCancel(refuses), kTfLiteError); // not enabled
    TfLiteInterpreterDelete(refuses);

    assert_int_equal(TfLiteInterpreterOptionsEnableCancellation(options, true), kTfLiteOk);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel, interpreter), 0);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteCancelled);
    void *status;
    pthread_join(thread, &status);
    assert_int_equal(*(TfLiteStatus *)status, kTfLiteOk);
    free(status);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter),
                     kTfLiteOk); // the next one is not cancelled
    TfLiteInterpreterDelete(interpreter);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpreters_in_parallel),
        cmocka_unit_test(interpreter_moves),
        cmocka_unit_test(cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
