// SPDX-License-Identifier: Apache-2.0
// What the delegate says of nodes before it has looked at them closely has to hold: a node that it accepts never fails
// while its graph is built and planned. Over every model of the golden cases of operators, and over models at the
// limits of what is accepted; on the null device, which refuses nothing but what is wrong.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halite/halite.h"
#include "support/model_file.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

static const char folder[] = "../shared/golden/ops";

struct counts {
    int models, nodes, failed; // nodes: that went to the delegate
};

static void collect(void *user_data, const char *format, va_list args)
{
    char *text = user_data;
    size_t length = strlen(text);
    vsnprintf(text + length, 4096 - length, format, args);
}

static void collect_nothing(void *user_data, const char *format, va_list args)
{
    (void)user_data, (void)format, (void)args;
}

static TfLiteDelegate *null_delegate(void)
{
    const char *const keys[] = {"take_small_partitions", "max_delegated_partitions", "device"};
    const char *const values[] = {"true", "1000", "null"};
    return tflite_plugin_create_delegate(keys, values, sizeof keys / sizeof *keys, NULL);
}

static int delegated_nodes(TfLiteInterpreter *interpreter)
{
    int count = 0;
    for (int i = 0; i < HaliteInterpreterGetNodeCount(interpreter); i++) {
        HaliteNodeReport report;
        if (HaliteInterpreterGetNodeReport(interpreter, i, &report) == kTfLiteOk) count += report.replaced_nodes;
    }
    return count;
}

// Takes the model.
static void check_model(TfLiteModel *model, const char *name, struct counts *counts)
{
    char messages[4096] = "";
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, collect, messages);
    TfLiteInterpreter *interpreter = model ? TfLiteInterpreterCreate(model, options) : NULL;
    TfLiteDelegate *delegate = null_delegate();
    assert_non_null(delegate);
    // Models that the runtime refuses, and those with dynamic shapes, are not the delegate's.
    if (interpreter && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk) {
        messages[0] = 0;
        TfLiteStatus status = TfLiteInterpreterModifyGraphWithDelegate(interpreter, delegate);
        counts->models++;
        counts->nodes += delegated_nodes(interpreter);
        if (status != kTfLiteOk && status != kTfLiteApplicationError) {
            print_error("%s: %s\n", name, messages);
            counts->failed++;
        }
    }
    TfLiteInterpreterDelete(interpreter);
    tflite_plugin_destroy_delegate(delegate);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
}

static void check_folder(const char *path, struct counts *counts)
{
    DIR *directory = opendir(path);
    if (!directory) return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char inner[1024];
        size_t length = strlen(entry->d_name);
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (length > 7 && strcmp(entry->d_name + length - 7, ".tflite") == 0)
            check_model(TfLiteModelCreateFromFileWithErrorReporter(inner, collect_nothing, NULL), inner, counts);
        else if (!strchr(entry->d_name, '.'))
            check_folder(inner, counts);
    }
    closedir(directory);
}

static void test_accepted_nodes_never_fail(void **state)
{
    (void)state;
    struct counts counts = {0};
    check_folder(folder, &counts);
    if (counts.models == 0) {
        print_message("no models in %s\n", folder);
        skip();
    }
    print_message("%d models, %d nodes went to the delegate\n", counts.models, counts.nodes);
    assert_int_equal(counts.failed, 0);
    assert_true(counts.nodes > counts.models / 4); // else something else than the operators is at fault
}

// ---- made models --------------------------------------------------------------------------------

// A node from the first tensor to the last. Whether it was delegated.
static bool is_taken(const char *name, const struct test_node *node, const struct test_tensor *tensors, int count)
{
    struct test_model made = {.tensor_count = count,
                              .tensors = tensors,
                              .node_count = 1,
                              .nodes = node,
                              TEST_INPUTS(0),
                              TEST_OUTPUTS(count - 1)};
    size_t size;
    unsigned char *bytes = test_model_write(&made, &size);
    struct counts counts = {0};
    check_model(TfLiteModelCreate(bytes, size), name, &counts);
    free(bytes);
    assert_int_equal(counts.models, 1);
    assert_int_equal(counts.failed, 0);
    return counts.nodes == 1;
}

static bool takes_shape(int builtin, int rank, const int *dims)
{
    char name[80];
    struct test_tensor tensors[2] = {{.name = "x", .rank = rank}, {.name = "y", .rank = rank}};
    struct test_node node = {.builtin = builtin, TEST_INPUTS(0), TEST_OUTPUTS(1)};
    if (builtin == kTfLiteBuiltinSoftmax) node.settings[0] = (struct test_setting){HL_SoftmaxOptions_beta, 1, 0, NULL};
    for (int i = 0; i < rank; i++) tensors[0].dims[i] = tensors[1].dims[i] = dims[i];
    snprintf(name, sizeof name, "operator %d over a rank of %d, %d ...", builtin, rank, dims[0]);
    return is_taken(name, &node, tensors, 2);
}

// Grids that need more work-groups on one axis than devices have, unless the groups are longer there.
static void test_long_tensors(void **state)
{
    (void)state;
    static const int both[] = {kTfLiteBuiltinRelu, kTfLiteBuiltinSoftmax};
    for (int i = 0; i < 2; i++) {
        assert_true(takes_shape(both[i], 2, (int[]){300000, 3}));        // batches
        assert_true(takes_shape(both[i], 4, (int[]){1, 300000, 2, 1}));  // rows
        assert_true(takes_shape(both[i], 4, (int[]){1, 2100, 2100, 1})); // positions
        assert_false(takes_shape(both[i], 2, (int[]){4194241, 1}));      // 65535 groups of 64, and one more
        assert_false(takes_shape(both[i], 4, (int[]){1, 8388481, 1, 1}));
    }
}

// Axes and paddings may be 64 bits wide; with a scale they would be read as real numbers.
static void test_integers(void **state)
{
    (void)state;
    static const int64_t wide[] = {0, 0, 1, 2};
    static const int32_t narrow[] = {0, 0, 1, 2};
    struct test_tensor tensors[] = {
        {.name = "x", .rank = 2, .dims = {2, 3}},
        {.name = "paddings", .type = TEST_INT64, .rank = 2, .dims = {2, 2}, .data = wide, .bytes = sizeof wide},
        {.name = "y", .rank = 2, .dims = {2, 6}},
    };
    struct test_node node = {.builtin = kTfLiteBuiltinPad, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
    assert_true(is_taken("int64 paddings", &node, tensors, 3));
    tensors[1] = (struct test_tensor){
        .name = "paddings",
        .type = TEST_INT32,
        .rank = 2,
        .dims = {2, 2},
        .data = narrow,
        .bytes = sizeof narrow,
    };
    assert_true(is_taken("int32 paddings", &node, tensors, 3));
    tensors[1].scale = 0.5f;
    assert_false(is_taken("paddings with a scale", &node, tensors, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accepted_nodes_never_fail),
                                       cmocka_unit_test(test_long_tensors), cmocka_unit_test(test_integers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
