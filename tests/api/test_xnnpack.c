// SPDX-License-Identifier: Apache-2.0
// XNNPACK's options as programs of older releases ask for them: with a shorter struct, after which comes memory that
// the library must not touch.
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tensorflow/lite/acceleration/configuration/c/xnnpack_plugin.h"
#include "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h"

// The options of 2.13 to 2.16. Those of 2.12 came back in registers: such programs cannot be served, here as there.
struct options_2_13 {
    int32_t num_threads;
    uint32_t flags;
    void *weights_cache;
    bool handle_variable_ops;
};

// The options of 2.17 to 2.19.
struct options_2_17 {
    int32_t num_threads;
    uint32_t flags;
    void *weights_cache;
    bool handle_variable_ops;
    const char *weight_cache_file_path;
};

// The function itself; in this file its name is the header's macro.
static void find_default(void *function, size_t size)
{
    void *found = dlsym(RTLD_DEFAULT, "TfLiteXNNPackDelegateOptionsDefault");
    assert_non_null(found);
    memcpy(function, &found, size);
}

static void programs_of_2_13_keep_their_stack(void **state)
{
    (void)state;
    struct options_2_13 (*get)(void);
    find_default(&get, sizeof get);
    struct {
        struct options_2_13 options;
        unsigned char after[64];
    } frame, untouched;
    memset(&frame, 0xa5, sizeof frame);
    memset(&untouched, 0xa5, sizeof untouched);
    frame.options = get();
    assert_memory_equal(frame.after, untouched.after, sizeof frame.after);
    assert_int_equal(frame.options.num_threads, 0);
    assert_int_equal(frame.options.flags, 0);
    assert_null(frame.options.weights_cache);
    assert_false(frame.options.handle_variable_ops);
}

#if defined(__x86_64__) && !defined(_WIN32)
// A compiler may have the struct returned to a temporary and copy the fields it knows, so that the test above sees
// nothing. Here the pointer that it hides is a plain argument.
static void as_many_bytes_are_written_as_2_13_has(void **state)
{
    (void)state;
    void *(*write_to)(void *);
    find_default(&write_to, sizeof write_to);
    unsigned char memory[128], untouched[128];
    memset(memory, 0xa5, sizeof memory);
    memset(untouched, 0xa5, sizeof untouched);
    assert_ptr_equal(write_to(memory), memory);
    assert_int_equal(sizeof(struct options_2_13), 24);
    assert_memory_equal(memory + 24, untouched, sizeof memory - 24);
}
#endif

static void older_options_make_a_delegate(void **state)
{
    (void)state;
    struct options_2_17 (*get)(void);
    find_default(&get, sizeof get);
    struct options_2_17 options = get();
    options.num_threads = 3;
    TfLiteDelegate *delegate = (TfLiteXNNPackDelegateCreate)((const TfLiteXNNPackDelegateOptions *)&options);
    assert_non_null(delegate);
    assert_int_equal(TfLiteXNNPackDelegateGetOptions(delegate)->num_threads, 3);
    assert_null(TfLiteXNNPackDelegateGetOptions(delegate)->weight_cache_file_path);
    TfLiteXNNPackDelegateDelete(delegate);
}

static void programs_of_today_get_every_field(void **state)
{
    (void)state;
    TfLiteXNNPackDelegateOptions options = TfLiteXNNPackDelegateOptionsDefault();
    TfLiteDelegate *delegate = TfLiteXNNPackDelegateCreate(NULL);
    assert_non_null(delegate);
    const TfLiteXNNPackDelegateOptions *in_use = TfLiteXNNPackDelegateGetOptions(delegate);
    assert_int_equal(options.flags, TFLITE_XNNPACK_DELEGATE_FLAG_QS8 | TFLITE_XNNPACK_DELEGATE_FLAG_QU8);
    assert_int_equal(options.flags, TfLiteXNNPackDelegateGetFlags(delegate));
    assert_int_equal(options.num_threads, in_use->num_threads);
    assert_int_equal(options.weight_cache_file_descriptor, -1);
    assert_int_equal(in_use->weight_cache_file_descriptor, -1);
    assert_null(options.weights_cache);
    assert_null(options.weight_cache_file_path);
    assert_null(options.weight_cache_provider);
    assert_false(options.handle_variable_ops || options.weight_cache_lock_memory);
    TfLiteXNNPackDelegateDelete(delegate);
}

static void the_plugin_makes_the_delegate(void **state)
{
    (void)state;
    const TfLiteDelegatePlugin *plugin = TfLiteXnnpackDelegatePluginCApi();
    TfLiteDelegate *delegate = plugin->create(NULL);
    assert_non_null(TfLiteXNNPackDelegateGetOptions(delegate));
    assert_int_equal(plugin->get_delegate_errno(delegate), 0);
    plugin->destroy(delegate);
    plugin->destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_2_13_keep_their_stack),
#if defined(__x86_64__) && !defined(_WIN32)
        cmocka_unit_test(as_many_bytes_are_written_as_2_13_has),
#endif
        cmocka_unit_test(older_options_make_a_delegate),
        cmocka_unit_test(programs_of_today_get_every_field),
        cmocka_unit_test(the_plugin_makes_the_delegate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
