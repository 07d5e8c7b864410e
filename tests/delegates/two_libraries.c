// SPDX-License-Identifier: Apache-2.0
// A program that is linked with two of Halite's delegate libraries, each of which exports HaliteDelegateReport…: the
// linker takes those of the library that it sees first. tests.cmake builds the program twice, once with each library
// first, and both answer for both delegates, while a delegate of somebody else is refused.
//
//   the graph:   r = relu(a)   c = ceil(r)   p = c * c       (the GPU takes all of it; CEIL is no operation of NNAPI)
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halite/gpu_delegate.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"
#include "tensorflow/lite/delegates/nnapi/nnapi_delegate_c_api.h"

enum { A, R, C, P, TENSORS };
#define FLOATS(label)                                                          \
    {                                                                          \
        .name = label, .type = TEST_FLOAT32, .rank = 4, .dims = { 1, 2, 3, 5 } \
    }
static const struct test_tensor tensors[TENSORS] = {FLOATS("a"), FLOATS("r"), FLOATS("c"), FLOATS("p")};
static const struct test_node nodes[] = {
    {.builtin = kTfLiteBuiltinRelu, TEST_INPUTS(A), TEST_OUTPUTS(R)},
    {.builtin = kTfLiteBuiltinCeil, TEST_INPUTS(R), TEST_OUTPUTS(C)},
    {.builtin = kTfLiteBuiltinMul, TEST_INPUTS(C, C), TEST_OUTPUTS(P)},
};
static const struct test_model graph = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(A), TEST_OUTPUTS(P)};

struct session {
    unsigned char *bytes;
    TfLiteModel *model;
    TfLiteInterpreter *interpreter;
};

static struct session apply(TfLiteDelegate *delegate)
{
    size_t size;
    struct session session = {.bytes = test_model_write(&graph, &size)};
    session.model = TfLiteModelCreate(session.bytes, size);
    session.interpreter = TfLiteInterpreterCreate(session.model, NULL);
    assert_non_null(session.interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(session.interpreter, delegate), kTfLiteOk);
    return session;
}

static void end(const struct session *session)
{
    TfLiteInterpreterDelete(session->interpreter);
    TfLiteModelDelete(session->model);
    free(session->bytes);
}

static TfLiteDelegate *make_gpu(void)
{
    HaliteGpuDelegateOptions options = {.struct_size = sizeof options, .device = "null", .take_small_partitions = true};
    TfLiteDelegate *delegate = HaliteGpuDelegateCreate(&options);
    assert_non_null(delegate);
    return delegate;
}

static TfLiteDelegate *make_nnapi(void)
{
    TfLiteDelegate *delegate = TfLiteNnapiDelegateCreate(NULL); // the environment names the fake of the system
    assert_non_null(delegate);
    return delegate;
}

static void test_gpu(void **state)
{
    (void)state;
    TfLiteDelegate *delegate = make_gpu();
    struct session session = apply(delegate);
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    assert_non_null(report);
    assert_string_equal(HaliteDelegateReportGetDevice(report)->name, "null:0");
    assert_int_equal(HaliteDelegateReportGetPrecision(report), kHaliteGpuPrecisionF32);
    assert_int_equal(HaliteDelegateReportGetGraphCount(report), 1);
    assert_int_equal(HaliteDelegateReportGetGraph(report, 0)->gpu_node_count, 3);
    assert_null(HaliteDelegateReportGetGraph(report, 1));
    assert_int_equal(HaliteDelegateReportGetNodeCount(report), 3);
    for (int i = 0; i < 3; i++) assert_string_equal(HaliteDelegateReportGetNode(report, i)->text, "runs on the GPU");
    assert_true(HaliteDelegateReportGetKernelCount(report) > 0);
    assert_non_null(HaliteDelegateReportGetKernel(report, 0)->kernel);
    assert_null(HaliteDelegateReportGetKernel(report, HaliteDelegateReportGetKernelCount(report)));
    HaliteDelegateReportDelete(report);
    assert_int_equal(HaliteDelegateSetProfiling(delegate, true, NULL), kTfLiteOk);
    end(&session);
    TfLiteNnapiDelegateDelete(delegate); // the other one's: nothing
    TfLiteGpuDelegateV2Delete(delegate);
}

static void test_nnapi(void **state)
{
    (void)state;
    TfLiteDelegate *delegate = make_nnapi();
    struct session session = apply(delegate);
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    assert_non_null(report);
    assert_non_null(HaliteDelegateReportGetDevice(report));
    assert_string_equal(HaliteDelegateReportGetDevice(report)->api, "TfLiteNnapiDelegate");
    assert_int_equal(HaliteDelegateReportGetPrecision(report), kHaliteGpuPrecisionDefault);
    assert_int_equal(HaliteDelegateReportGetGraphCount(report), 1);
    assert_int_equal(HaliteDelegateReportGetGraph(report, 0)->gpu_node_count, 2);
    assert_int_equal(HaliteDelegateReportGetNodeCount(report), 3);
    const HaliteDelegateNode *relu = HaliteDelegateReportGetNode(report, 0);
    const HaliteDelegateNode *ceil = HaliteDelegateReportGetNode(report, 1);
    assert_string_equal(relu->text, "runs on the delegate's device");
    assert_string_equal(ceil->op, "CEIL");
    assert_int_equal(ceil->reason, kHaliteDelegateReasonNoKernel);
    assert_int_equal(HaliteDelegateReportGetKernelCount(report), 0);
    assert_null(HaliteDelegateReportGetKernel(report, 0));
    HaliteDelegateReportDelete(report);
    assert_int_equal(HaliteDelegateSetProfiling(delegate, true, NULL), kTfLiteError);
    end(&session);
    TfLiteGpuDelegateV2Delete(delegate); // the other one's: nothing
    TfLiteNnapiDelegateDelete(delegate);
}

// What another project's delegate may hold: nothing, a number, less memory than ours, itself.
static void test_foreign(void **state)
{
    (void)state;
    struct {
        TfLiteDelegate delegate;
        char own[64];
    } itself = {.own = "Halite is not my name"};
    itself.delegate.data_ = &itself;
    char *byte = malloc(1);
    assert_non_null(byte);
    TfLiteDelegate others[] = {{.data_ = NULL}, {.data_ = (void *)1}, {.data_ = byte}};
    for (int i = 0; i < 3; i++) assert_null(HaliteDelegateReportCreate(&others[i]));
    assert_null(HaliteDelegateReportCreate(&itself.delegate));
    assert_null(HaliteDelegateReportCreate(NULL));
    TfLiteDelegate *theirs[] = {&others[0], &others[1], &others[2], &itself.delegate, NULL};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(HaliteDelegateSetProfiling(theirs[i], true, NULL), kTfLiteError);
        TfLiteGpuDelegateV2Delete(theirs[i]);
        TfLiteNnapiDelegateDelete(theirs[i]);
    }
    HaliteDelegateReportDelete(NULL);
    assert_null(HaliteDelegateReportGetDevice(NULL));
    assert_int_equal(HaliteDelegateReportGetNodeCount(NULL), 0);
    assert_null(HaliteDelegateReportGetNode(NULL, 0));
    free(byte);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu),
        cmocka_unit_test(test_nnapi),
        cmocka_unit_test(test_foreign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
