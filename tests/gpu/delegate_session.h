// SPDX-License-Identifier: Apache-2.0
// What tests of the delegate share: a small graph with one operator that no GPU knows, an interpreter with its
// messages, delegates made of texts.
//
//   the graph:   r = relu(a)    t = toy(r)    s = a + t    p = s * s     (toy: a custom operator, stays on the CPU)
#ifndef HALITE_TESTS_GPU_DELEGATE_SESSION_H
#define HALITE_TESTS_GPU_DELEGATE_SESSION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/backend/devices.h"
#include "gpu/delegate/delegate.h"
#include "halite/halite.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

// ---- the graph ----------------------------------------------------------------------------------

enum { A, R, T, S, P, TENSORS };
enum { ELEMENTS = 2 * 3 * 5 };

#define FLOATS(label)                                                          \
    {                                                                          \
        .name = label, .type = TEST_FLOAT32, .rank = 4, .dims = { 1, 2, 3, 5 } \
    }
#define ONE_IN(code, x, y)                               \
    {                                                    \
        .builtin = code, TEST_INPUTS(x), TEST_OUTPUTS(y) \
    }
#define TWO_IN(code, x, y, z)                               \
    {                                                       \
        .builtin = code, TEST_INPUTS(x, y), TEST_OUTPUTS(z) \
    }

static const struct test_tensor tensors[TENSORS] = {
    [A] = FLOATS("a"), [R] = FLOATS("r"), [T] = FLOATS("t"), [S] = FLOATS("s"), [P] = FLOATS("p")};
static const struct test_node nodes[] = {
    ONE_IN(kTfLiteBuiltinRelu, A, R),
    {.builtin = kTfLiteBuiltinCustom, .custom = "Toy", TEST_INPUTS(R), TEST_OUTPUTS(T)},
    TWO_IN(kTfLiteBuiltinAdd, A, T, S),
    TWO_IN(kTfLiteBuiltinMul, S, S, P)};
static const struct test_model graph = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(A), TEST_OUTPUTS(P)};

// The same without the custom operator: all of it can go to the GPU.
static const struct test_node whole_nodes[] = {ONE_IN(kTfLiteBuiltinRelu, A, R), TWO_IN(kTfLiteBuiltinAdd, A, R, S),
                                               TWO_IN(kTfLiteBuiltinMul, S, S, P)};
static const struct test_model whole = {TEST_TENSORS(tensors), TEST_NODES(whole_nodes), TEST_INPUTS(A),
                                        TEST_OUTPUTS(P)};

static inline float input_value(int i)
{
    return (float)(i % 7 - 3) * 0.5f;
}

static inline float expected_value(int i)
{
    float a = input_value(i), s = a + (a > 0 ? a : 0);
    return s * s;
}

// t = r
static inline TfLiteStatus toy_prepare(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *from = &context->tensors[node->inputs->data[0]];
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], TfLiteIntArrayCopy(from->dims));
}
static inline TfLiteStatus toy_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *from = &context->tensors[node->inputs->data[0]];
    memcpy(context->tensors[node->outputs->data[0]].data.raw, from->data.raw, from->bytes);
    return kTfLiteOk;
}
static const TfLiteRegistration toy = {.prepare = toy_prepare, .invoke = toy_invoke};

// ---- a session ----------------------------------------------------------------------------------

struct messages {
    char text[16384];
    size_t length;
};

static inline void collect(void *user_data, const char *format, va_list args)
{
    struct messages *messages = user_data;
    char *at = messages->text + messages->length;
    size_t room = sizeof messages->text - messages->length;
    int length = vsnprintf(at, room, format, args);
    if (length > 0) messages->length += (size_t)length < room ? (size_t)length : room - 1;
}

static inline void collect_text(struct messages *messages, const char *format, ...) HL_PRINTF(2, 3);
static inline void collect_text(struct messages *messages, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    collect(messages, format, args);
    va_end(args);
}

// For tflite_plugin_create_delegate, whose function gets no pointer of ours.
static inline struct messages *plugin_messages(void)
{
    static struct messages messages;
    return &messages;
}
static inline void collect_plugin(const char *text)
{
    collect_text(plugin_messages(), "%s\n", text);
}

struct session {
    struct messages messages;
    unsigned char *bytes;
    TfLiteModel *model;
    TfLiteInterpreter *interpreter;
};

static inline void begin(struct session *session, const struct test_model *from)
{
    size_t size;
    memset(session, 0, sizeof *session);
    session->bytes = test_model_write(from, &size);
    session->model = TfLiteModelCreate(session->bytes, size);
    assert_non_null(session->model);
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, collect, &session->messages);
    TfLiteInterpreterOptionsAddCustomOp(options, "Toy", &toy, 1, 1);
    session->interpreter = TfLiteInterpreterCreate(session->model, options);
    TfLiteInterpreterOptionsDelete(options);
    assert_non_null(session->interpreter);
    if (TfLiteInterpreterAllocateTensors(session->interpreter) != kTfLiteOk) fail_msg("%s", session->messages.text);
}

static inline void end(struct session *session)
{
    TfLiteInterpreterDelete(session->interpreter);
    TfLiteModelDelete(session->model);
    free(session->bytes);
}

static inline TfLiteStatus apply(struct session *session, TfLiteDelegate *delegate)
{
    return TfLiteInterpreterModifyGraphWithDelegate(session->interpreter, delegate);
}

static inline void set_input(struct session *session)
{
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(session->interpreter, 0);
    float values[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) values[i] = input_value(i);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, values, sizeof values), kTfLiteOk);
}

static inline void check_output(const struct session *session)
{
    const float *output = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(session->interpreter, 0));
    for (int i = 0; i < ELEMENTS; i++) assert_float_equal(output[i], expected_value(i), 1e-5f);
}

// Numbers between -0.5 and 0.5, malloc'ed.
static inline float *numbers(int count, int seed)
{
    float *values = malloc((size_t)count * sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < count; i++)
        values[i] = (float)((unsigned)(i * 37 + seed * 101) * 2654435761u % 257) / 256 - 0.5f;
    return values;
}

// Runs with such numbers as the first input.
static inline void run_on_numbers(struct session *session)
{
    TfLiteTensor *x = TfLiteInterpreterGetInputTensor(session->interpreter, 0);
    size_t bytes = TfLiteTensorByteSize(x);
    float *input = numbers((int)(bytes / sizeof *input), 5);
    assert_int_equal(TfLiteTensorCopyFromBuffer(x, input, bytes), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(session->interpreter), kTfLiteOk);
    free(input);
}

// Compares the outputs of two sessions that have run. Returns the largest difference.
static inline float check_same_outputs(const struct session *expected, const struct session *result, float bound,
                                       const char *name)
{
    float largest = 0;
    for (int o = 0; o < TfLiteInterpreterGetOutputTensorCount(expected->interpreter); o++) {
        const TfLiteTensor *before = TfLiteInterpreterGetOutputTensor(expected->interpreter, o);
        const float *from = TfLiteTensorData(before);
        const float *to = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(result->interpreter, o));
        for (size_t k = 0; k < TfLiteTensorByteSize(before) / sizeof *from; k++) {
            float off = to[k] > from[k] ? to[k] - from[k] : from[k] - to[k];
            if (!(off < bound)) fail_msg("%s, element %zu: %g, expected %g", name, k, (double)to[k], (double)from[k]);
            if (off > largest) largest = off;
        }
    }
    return largest;
}

// A delegate with options as text: key, value, … NULL.
static inline TfLiteDelegate *make(const char *const *texts)
{
    const char *keys[8] = {NULL}, *values[8] = {NULL};
    size_t count = 0;
    for (; texts && texts[2 * count]; count++) {
        keys[count] = texts[2 * count];
        values[count] = texts[2 * count + 1];
    }
    plugin_messages()->length = 0;
    plugin_messages()->text[0] = 0;
    return tflite_plugin_create_delegate(keys, values, count, collect_plugin);
}

static inline int delegated_nodes(const struct session *session)
{
    int count = 0;
    for (int i = 0; i < HaliteInterpreterGetNodeCount(session->interpreter); i++) {
        HaliteNodeReport report;
        assert_int_equal(HaliteInterpreterGetNodeReport(session->interpreter, i, &report), kTfLiteOk);
        count += report.replaced_nodes;
    }
    return count;
}

// What a test goes through that is for every API: the null device first, then those that can be had without a card, and
// CUDA, which has a fake. Ask has_device which of them are here.
static const char *const all_devices[] = {"null", "opencl", "vulkan", "gles", "cuda"};
enum { ALL_DEVICES = sizeof all_devices / sizeof *all_devices };

// Whether a backend has a device; if not, says so.
static inline bool has_device(const char *backend)
{
    struct gpu_device_list *list = malloc(sizeof *list);
    assert_non_null(list);
    gpu_devices_find(list);
    bool found = strcmp(backend, "null") == 0;
    for (int i = 0; i < list->count; i++) found = found || strcmp(list->devices[i].backend->name, backend) == 0;
    free(list);
    if (!found)
        print_message("no device of %s: install pocl-opencl-icd or mesa-vulkan-drivers, or set HALITE_CUDA_LIBRARY\n",
                      backend);
    return found;
}

// A delegate with a device of its own.
static inline TfLiteDelegate *delegate_on(const char *device)
{
    HaliteGpuDelegateOptions options = {.struct_size = sizeof options, .device = device};
    TfLiteDelegate *delegate = HaliteGpuDelegateCreate(&options);
    assert_non_null(delegate);
    return delegate;
}

// Ends a session in which Vulkan's validation layer has said nothing.
static inline void end_without_complaint(struct session *session)
{
    const char *complaint = strstr(session->messages.text, "Vulkan validation:");
    if (complaint) print_error("%s\n", complaint);
    assert_null(complaint);
    end(session);
}

// What a report says of nodes that were to run on the GPU and do not, since applying the delegate failed.
static inline void check_withdrawn(TfLiteDelegate *delegate, HaliteDelegateReason reason, const char *words)
{
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    int withdrawn = 0;
    bool told = false;
    for (int i = 0; i < HaliteDelegateReportGetNodeCount(report); i++) {
        const HaliteDelegateNode *node = HaliteDelegateReportGetNode(report, i);
        assert_false(node->on_gpu);
        withdrawn += node->reason == reason;
        told = told || (node->reason == reason && strstr(node->text, words));
    }
    assert_true(withdrawn > 0);
    assert_true(told);
    assert_int_equal(HaliteDelegateReportGetGraph(report, 0)->gpu_node_count, 0);
    assert_int_equal(HaliteDelegateReportGetGraph(report, 0)->partition_count, 0);
    HaliteDelegateReportDelete(report);
}

#endif
