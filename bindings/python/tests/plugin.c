// SPDX-License-Identifier: Apache-2.0
// What the Python tests load beside the package: a delegate that counts what happens to it, and two SOFTMAX kernels.
// In: the doors of a delegate plug-in, and registerers that get a TfLiteInterpreterOptions. Out: counters.
//
// The second kernel proves that runs overlap: each of its calls waits until as many as the test asked for are inside.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

// ---- the delegate ---------------------------------------------------------------------------------------------------

static int created, destroyed, invoked, options_sum;

TFL_CAPI_EXPORT void reset_counters(void);
TFL_CAPI_EXPORT int get_counter(int which);

void reset_counters(void)
{
    created = destroyed = invoked = options_sum = 0;
}

int get_counter(int which)
{
    const int values[] = {created, destroyed, invoked, options_sum};
    return values[which];
}

static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate)
{
    (void)context, (void)delegate;
    invoked++;
    return kTfLiteOk;
}

TfLiteDelegate *tflite_plugin_create_delegate(const char *const *keys, const char *const *values, size_t count,
                                              void (*report)(const char *))
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i], "sum") == 0) options_sum += atoi(values[i]);
        if (strcmp(keys[i], "fail") != 0) continue;
        if (report) report("asked to fail.");
        return NULL;
    }
    TfLiteDelegate *delegate = calloc(1, sizeof *delegate);
    if (!delegate) return NULL;
    delegate->Prepare = prepare;
    created++;
    return delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate)
{
    free(delegate);
    destroyed++;
}

// ---- for bench/python_peers.py --------------------------------------------------------------------------------------

TFL_CAPI_EXPORT int invoke_many(TfLiteInterpreter *interpreter, int runs);

int invoke_many(TfLiteInterpreter *interpreter, int runs)
{
    while (runs-- > 0)
        if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return 1;
    return 0;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int wanted, inside;

TFL_CAPI_EXPORT void expect_callers(int count);
TFL_CAPI_EXPORT void register_constant(TfLiteInterpreterOptions *options);
TFL_CAPI_EXPORT void register_meeting(TfLiteInterpreterOptions *options);

void expect_callers(int count)
{
    pthread_mutex_lock(&lock);
    wanted = count;
    inside = 0;
    pthread_mutex_unlock(&lock);
}

// Writes 42 into every element.
static TfLiteStatus write_constant(TfLiteContext *context, TfLiteNode *node)
{
    TfLiteTensor *output = &context->tensors[node->outputs->data[0]];
    for (size_t i = 0; i < output->bytes / sizeof(float); i++) output->data.f[i] = 42.0f;
    return kTfLiteOk;
}

static TfLiteStatus meet(TfLiteContext *context, TfLiteNode *node)
{
    pthread_mutex_lock(&lock);
    inside++;
    pthread_cond_broadcast(&changed);
    while (inside < wanted) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return write_constant(context, node);
}

static TfLiteStatus same_shape(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *input = &context->tensors[node->inputs->data[0]];
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], TfLiteIntArrayCopy(input->dims));
}

void register_constant(TfLiteInterpreterOptions *options)
{
    static const TfLiteRegistration kernel = {.prepare = same_shape, .invoke = write_constant};
    TfLiteInterpreterOptionsAddBuiltinOp(options, kTfLiteBuiltinSoftmax, &kernel, 1, 9);
}

void register_meeting(TfLiteInterpreterOptions *options)
{
    static const TfLiteRegistration kernel = {.prepare = same_shape, .invoke = meet};
    TfLiteInterpreterOptionsAddBuiltinOp(options, kTfLiteBuiltinSoftmax, &kernel, 1, 9);
}
