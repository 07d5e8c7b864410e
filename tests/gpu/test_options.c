// SPDX-License-Identifier: Apache-2.0
// The options of the GPU delegate's interfaces, each field with its values: what becomes of it, by the struct and by
// the plug-in's texts, and what is refused with which words.
#include "gpu/delegate_session.h"
#include "tensorflow/lite/acceleration/configuration/c/gpu_plugin.h"
#include "tensorflow/lite/delegates/gpu/cl/gpu_api_delegate.h"

static const char invalid[] =
    "InferenceOptions are invalid. inference_preference is 0, 1 or 2; inference priorities are 1 "
    "to 3, each of them once, and 0 behind those that matter.";

// ---- version 2, field by field --------------------------------------------------------------------

// What an option sets, beside the defaults.
struct wanted {
    const char *problem; // the other fields do not count then
    enum gpu_precision precision;
    bool not_quantized, prefer_memory;
    int more_partitions;
    const char *backend;
};

#define FIELD(name) #name, offsetof(TfLiteGpuDelegateOptionsV2, name), sizeof((TfLiteGpuDelegateOptionsV2 *)NULL)->name
enum {
    QUANT = TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT,
    CL = TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY,
    GL = TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY,
    SERIALIZATION = TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION
};
static const char both[] = "CL_ONLY and GL_ONLY exclude each other: set one of the flags at most.";

static const struct {
    const char *field;
    size_t at, bytes;
    const char *text;
    int64_t value;
    struct wanted wanted;
} rows[] = {
    {FIELD(is_precision_loss_allowed), "-1", -1, {.precision = GPU_F32}},
    {FIELD(is_precision_loss_allowed), "0", 0, {.precision = GPU_F32}},
    {FIELD(is_precision_loss_allowed), "1", 1, {.precision = GPU_F16}},
    {FIELD(is_precision_loss_allowed), " 7 ", 7, {.precision = GPU_F16}},
    {FIELD(is_precision_loss_allowed), "-2", -2, {.precision = GPU_F16}},
    {FIELD(inference_preference), "0", 0, {.precision = GPU_F32}},
    {FIELD(inference_preference), "1", 1, {.precision = GPU_F32}},
    {FIELD(inference_preference), "+2", 2, {.precision = GPU_F32}},
    {FIELD(inference_preference), "3", 3, {.problem = invalid}},
    {FIELD(inference_preference), "-1", -1, {.problem = invalid}},
    {FIELD(inference_priority1), "1", 1, {.precision = GPU_F32}},
    {FIELD(inference_priority1), "2", 2, {.precision = GPU_F16}},
    {FIELD(inference_priority1), "3", 3, {.precision = GPU_F16S, .prefer_memory = true}},
    {FIELD(inference_priority1), "0", 0, {.problem = invalid}},
    {FIELD(inference_priority1), "4", 4, {.problem = invalid}},
    {FIELD(inference_priority2), "0", 0, {.precision = GPU_F32}},
    {FIELD(inference_priority2), "2", 2, {.precision = GPU_F32}},
    {FIELD(inference_priority2), "3", 3, {.precision = GPU_F32, .prefer_memory = true}},
    {FIELD(inference_priority2), "1", 1, {.problem = invalid}},
    {FIELD(inference_priority3), "0", 0, {.precision = GPU_F32}},
    {FIELD(inference_priority3), "2", 2, {.problem = invalid}}, // behind AUTO
    {FIELD(experimental_flags), "0", 0, {.not_quantized = true}},
    {FIELD(experimental_flags), "1", QUANT, {.precision = GPU_F32}},
    {FIELD(experimental_flags), "2", CL, {.not_quantized = true, .backend = "opencl"}},
    {FIELD(experimental_flags), "3", QUANT | CL, {.backend = "opencl"}},
    {FIELD(experimental_flags), "0x5", QUANT | GL, {.backend = "gles"}},
    {FIELD(experimental_flags), "6", CL | GL, {.problem = both}},
    {FIELD(experimental_flags), "8", SERIALIZATION, {.not_quantized = true}}, // without a folder: nothing is kept
    {FIELD(experimental_flags), "1099511627777", ((int64_t)1 << 40) | QUANT, {.precision = GPU_F32}}, // bits to come
    {FIELD(max_delegated_partitions), "1", 1, {.more_partitions = 0}},
    {FIELD(max_delegated_partitions), "010", 10, {.more_partitions = 9}}, // not octal
    {FIELD(max_delegated_partitions), "0", 0, {.more_partitions = 0}},
    {FIELD(max_delegated_partitions), "-2147483648", INT32_MIN, {.more_partitions = 0}},
    {FIELD(max_delegated_partitions), "2147483647", INT32_MAX, {.more_partitions = INT32_MAX - 1}},
};

static void check(const struct gpu_options *have, const struct wanted *want)
{
    assert_string_equal(have->node_name, "TfLiteGpuDelegateV2");
    assert_null(have->serialization_dir);
    assert_null(have->model_token);
    if (want->problem) {
        assert_non_null(have->problem);
        assert_string_equal(have->problem, want->problem);
        return;
    }
    assert_null(have->problem);
    assert_int_equal(have->precision, want->precision);
    assert_int_equal(have->quantized, !want->not_quantized);
    assert_int_equal(have->prefer_memory, want->prefer_memory);
    assert_int_equal(have->max_partitions, 1 + want->more_partitions);
    assert_string_equal(have->backend, want->backend ? want->backend : "");
    assert_string_equal(have->device, "");
    assert_false(have->full_delegation);
    assert_true(have->skip_small);
}

static void test_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TfLiteGpuDelegateOptionsV2 v2 = TfLiteGpuDelegateOptionsV2Default();
        struct gpu_options options;
        int32_t narrow = (int32_t)rows[i].value;
        memcpy((char *)&v2 + rows[i].at, rows[i].bytes == 4 ? (void *)&narrow : (void *)&rows[i].value, rows[i].bytes);
        assert_true(gpu_options_from_v2(&v2, &options));
        check(&options, &rows[i].wanted);

        struct messages messages = {0};
        struct hl_reporter reporter = {collect, &messages};
        assert_true(gpu_options_from_keys(&rows[i].field, &rows[i].text, 1, &reporter, &options));
        check(&options, &rows[i].wanted);
        assert_string_equal(messages.text, "");
    }
}

// ---- structs ---------------------------------------------------------------------------------------

static void test_priorities(void **state)
{
    (void)state;
    static const struct {
        int loss, priorities[3];
        bool valid, prefer_memory;
        enum gpu_precision precision;
    } cases[] = {
        {-1, {1, 0, 0}, true, false, GPU_F32}, {-1, {2, 0, 0}, true, false, GPU_F16},
        {-1, {3, 0, 0}, true, true, GPU_F16S}, {-1, {2, 1, 0}, true, false, GPU_F16S},
        {-1, {2, 3, 1}, true, false, GPU_F16}, {-1, {1, 3, 2}, true, true, GPU_F32},
        {-1, {3, 2, 0}, true, true, GPU_F16},  {0, {2, 0, 0}, true, false, GPU_F32},
        {1, {1, 0, 0}, true, false, GPU_F16},  {-1, {0, 0, 0}, false, false, 0},
        {-1, {1, 1, 0}, false, false, 0},      {-1, {1, 0, 2}, false, false, 0},
        {-1, {1, 2, 2}, false, false, 0},      {-1, {1, 2, 1}, false, false, 0},
        {-1, {1, 2, 9}, false, false, 0},      {-1, {-1, 2, 3}, false, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TfLiteGpuDelegateOptionsV2 v2 = TfLiteGpuDelegateOptionsV2Default();
        v2.is_precision_loss_allowed = cases[i].loss;
        v2.inference_priority1 = cases[i].priorities[0];
        v2.inference_priority2 = cases[i].priorities[1];
        v2.inference_priority3 = cases[i].priorities[2];
        struct gpu_options options;
        assert_true(gpu_options_from_v2(&v2, &options));
        assert_int_equal(options.problem == NULL, cases[i].valid);
        if (!cases[i].valid) continue;
        assert_int_equal(options.precision, cases[i].precision);
        assert_int_equal(options.prefer_memory, cases[i].prefer_memory);
    }
}

static void test_struct_options(void **state)
{
    (void)state;
    struct gpu_options options;
    assert_true(gpu_options_from_v2(NULL, &options));
    assert_int_equal(options.precision, GPU_F32);
    assert_int_equal(options.max_partitions, 1);
    assert_true(options.quantized);
    assert_string_equal(options.backend, "");

    // An older program's struct ends before the folder: nothing behind it may be read without the flag.
    TfLiteGpuDelegateOptionsV2 full = TfLiteGpuDelegateOptionsV2Default();
    full.max_delegated_partitions = -3;
    TfLiteGpuDelegateOptionsV2 *older = malloc(offsetof(TfLiteGpuDelegateOptionsV2, serialization_dir));
    assert_non_null(older);
    memcpy(older, &full, offsetof(TfLiteGpuDelegateOptionsV2, serialization_dir));
    assert_true(gpu_options_from_v2(older, &options));
    assert_int_equal(options.max_partitions, 1);
    free(older);

    full.experimental_flags =
        TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY | TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION;
    full.serialization_dir = "/tmp";
    full.model_token = "model";
    assert_true(gpu_options_from_v2(&full, &options));
    assert_false(options.quantized);
    assert_string_equal(options.backend, "opencl");
    assert_string_equal(options.serialization_dir, "/tmp");
    assert_string_equal(options.model_token, "model");
    gpu_options_free(&options);

    // Half of it is nothing.
    full.model_token = NULL;
    assert_true(gpu_options_from_v2(&full, &options));
    assert_null(options.serialization_dir);
    full.model_token = "";
    assert_true(gpu_options_from_v2(&full, &options));
    assert_null(options.serialization_dir);
    full.model_token = "model";
    full.serialization_dir = NULL;
    assert_true(gpu_options_from_v2(&full, &options));
    assert_null(options.model_token);
    full.serialization_dir = ""; // not the root's
    assert_true(gpu_options_from_v2(&full, &options));
    assert_null(options.model_token);
}

static void test_older_interfaces(void **state)
{
    (void)state;
    struct gpu_options options;
    TfLiteGpuDelegateOptions gl = TfLiteGpuDelegateOptionsDefault();
    const TfLiteGpuDelegateOptions gl_zero = {.metadata = NULL};
    assert_memory_equal(&gl, &gl_zero, sizeof gl);
    assert_true(gpu_options_from_gl(NULL, &options));
    assert_string_equal(options.node_name, "TfLiteGpuDelegate");
    assert_int_equal(options.precision, GPU_F32);
    assert_false(options.quantized);
    assert_int_equal(options.max_partitions, 1);
    gl = (TfLiteGpuDelegateOptions){
        .metadata = (const uint8_t *)"not read",
        .compile_options = {.precision_loss_allowed = 1,
                            .preferred_gl_object_type = TFLITE_GL_OBJECT_TYPE_TEXTURE,
                            .dynamic_batch_enabled = 1,
                            .inline_parameters = 1},
    };
    assert_true(gpu_options_from_gl(&gl, &options));
    assert_int_equal(options.precision, GPU_F16);

    TFLGpuDelegateOptions metal = TFLGpuDelegateOptionsDefault();
    assert_false(metal.allow_precision_loss);
    assert_int_equal(metal.wait_type, TFLGpuDelegateWaitTypePassive);
    assert_true(metal.enable_quantization);
    assert_true(gpu_options_from_metal(NULL, &options));
    assert_string_equal(options.node_name, "TfLiteMetalDelegate");
    assert_true(options.quantized);
    assert_int_equal(options.precision, GPU_F32);
    metal = (TFLGpuDelegateOptions){.allow_precision_loss = true, .wait_type = TFLGpuDelegateWaitTypeAggressive};
    assert_true(gpu_options_from_metal(&metal, &options));
    assert_false(options.quantized);
    assert_int_equal(options.precision, GPU_F16);
    assert_null(options.problem);
}

static void test_halite_options(void **state)
{
    (void)state;
    TfLiteGpuDelegateOptionsV2 v2 = TfLiteGpuDelegateOptionsV2Default();
    v2.max_delegated_partitions = 7;
    HaliteGpuDelegateOptions from = {
        .struct_size = sizeof from,
        .v2 = &v2,
        .device = "null:0",
        .precision = kHaliteGpuPrecisionF16S,
        .quantized = kHaliteGpuQuantizedExact,
    };
    TfLiteDelegate *delegate = HaliteGpuDelegateCreate(&from);
    assert_non_null(delegate);
    const struct gpu_options *options = &gpu_delegate_of(delegate)->engine->options;
    assert_string_equal(options->device, "null:0");
    assert_int_equal(options->precision, GPU_F16S);
    assert_int_equal(options->max_partitions, 7);
    assert_true(options->skip_small);
    assert_false(options->full_delegation);
    assert_true(options->exact_integers);
    TfLiteGpuDelegateV2Delete(delegate);
    // A program that was compiled before the field was there has the default.
    from.struct_size = offsetof(HaliteGpuDelegateOptions, quantized);
    delegate = HaliteGpuDelegateCreate(&from);
    assert_non_null(delegate);
    assert_false(gpu_delegate_of(delegate)->engine->options.exact_integers);
    TfLiteGpuDelegateV2Delete(delegate);
    // Without options of one's own they are those of V2.
    TfLiteGpuDelegateV2Delete(HaliteGpuDelegateCreate(NULL));

    struct messages messages = {0};
    struct hl_reporter reporter = {collect, &messages};
    struct gpu_options out;
    char name[100];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    const struct {
        HaliteGpuDelegateOptions options;
        const char *message;
    } bad[] = {
        {{.struct_size = 0}, "GPU delegate: struct_size of the options is 0, "},
        {{.struct_size = sizeof from, .precision = (HaliteGpuPrecision)4}, "GPU delegate: there is no precision 4"},
        {{.struct_size = sizeof from, .quantized = (HaliteGpuQuantized)2},
         "GPU delegate: there is no way 2 to compute quantized models"},
        {{.struct_size = sizeof from, .device = name}, "GPU delegate: option device is too long: \"xxxx"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        messages.length = 0;
        assert_false(gpu_options_from_halite(&bad[i].options, &reporter, &out));
        assert_ptr_equal(strstr(messages.text, bad[i].message), messages.text);
    }
}

// ---- texts -----------------------------------------------------------------------------------------

static void test_key_options(void **state)
{
    (void)state;
    static const char *const good[] = {"device",
                                       "null",
                                       "precision",
                                       "f16s",
                                       "max_delegated_partitions",
                                       "3",
                                       "inference_priority1",
                                       "2",
                                       "require_full_delegation",
                                       "true",
                                       "quantized",
                                       "exact",
                                       NULL};
    TfLiteDelegate *delegate = make(good);
    assert_non_null(delegate);
    const struct gpu_options *options = &gpu_delegate_of(delegate)->engine->options;
    assert_string_equal(options->device, "null");
    assert_int_equal(options->precision, GPU_F16S); // said outright: stronger than the priorities
    assert_int_equal(options->max_partitions, 3);
    assert_true(options->full_delegation);
    assert_true(options->exact_integers);
    tflite_plugin_destroy_delegate(delegate);

    static const struct {
        const char *texts[3], *message;
    } bad[] = {
        {{"presicion", "f16"}, "GPU delegate: unknown option presicion; known are "},
        {{"precision", "f64"}, "option precision is \"f64\", expected f32, f16s or f16"},
        {{"quantized", "int8"}, "option quantized is \"int8\", expected float or exact"},
        {{"max_delegated_partitions", "many"}, "option max_delegated_partitions is \"many\", expected an integer"},
        {{"max_delegated_partitions", "99999999999"}, "expected an integer"},
        {{"max_delegated_partitions", "2147483648"}, "expected an integer"},
        {{"experimental_flags", "99999999999999999999"}, "expected an integer"},
        {{"experimental_flags", "0x"}, "expected an integer"},
        {{"inference_priority1", ""}, "option inference_priority1 is \"\", expected an integer"},
        {{"inference_priority2", "1.0"}, "expected an integer"},
        {{"inference_priority3", "1 1"}, "expected an integer"},
        {{"serialization_dir", ""}, "expected a folder"},
        {{"model_token", ""}, "expected a name"},
        {{"", "1"}, "unknown option ; known are "},
        {{"require_full_delegation", "yes"}, "expected true or false"},
        {{"device", ""}, "option device is \"\""},
        {{"device", "nosuch"}, "device nosuch: unknown; known are auto, opencl, vulkan, gles, metal, cuda, null"},
        {{"device", "vulkan:x"}, "device vulkan:x: what follows the colon is no number of a device"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(make(bad[i].texts));
        assert_non_null(strstr(plugin_messages()->text, bad[i].message));
    }
    const char *key = "device", *value = NULL;
    assert_null(tflite_plugin_create_delegate(&key, &value, 1, collect_plugin));
    assert_null(tflite_plugin_create_delegate(NULL, NULL, 1, collect_plugin));
}

static void test_key_of_a_folder(void **state)
{
    (void)state;
    const char *keys[] = {"serialization_dir", "model_token", "model_token"}, *values[] = {"/tmp/a", "b", "c"};
    struct messages messages = {0};
    struct hl_reporter reporter = {collect, &messages};
    struct gpu_options options;
    assert_true(gpu_options_from_keys(keys, values, 3, &reporter, &options));
    assert_string_equal(options.serialization_dir, "/tmp/a");
    assert_string_equal(options.model_token, "c"); // the last one counts
    assert_true(options.quantized);                // and the flags are as they were
    assert_string_equal(messages.text, "");
    gpu_options_free(&options);
    for (int i = 0; i < 2; i++) {
        assert_true(gpu_options_from_keys(keys + i, values + i, 1, &reporter, &options));
        assert_null(options.serialization_dir);
        assert_non_null(strstr(messages.text, "no compiled kernels are kept: option "));
        assert_non_null(strstr(messages.text, i == 0 ? "model_token is missing" : "serialization_dir is missing"));
        messages.length = 0;
    }
}

static void test_limit_of_waits(void **state)
{
    (void)state;
    const char *keys[] = {"wait_limit_ms"}, *values[] = {"1500", "0", "-1"};
    struct messages messages = {0};
    struct hl_reporter reporter = {collect, &messages};
    struct gpu_options options;
    for (int i = 0; i < 2; i++) {
        assert_true(gpu_options_from_keys(keys, values + i, 1, &reporter, &options));
        assert_true(options.wait_limit == (i == 0 ? 1500000000 : 0));
    }
    assert_string_equal(messages.text, "");
    assert_false(gpu_options_from_keys(keys, values + 2, 1, &reporter, &options));
    assert_non_null(strstr(messages.text, "wait_limit_ms is -1, which is to be 0 or more"));
    HaliteGpuDelegateOptions own = {.struct_size = sizeof own, .wait_limit_ms = UINT64_MAX};
    assert_true(gpu_options_from_halite(&own, &reporter, &options));
    assert_true(options.wait_limit == UINT64_MAX);
}

static void test_limit_of_a_folder(void **state)
{
    (void)state;
    const char *keys[] = {"serialization_max_bytes"}, *values[] = {"5000000000", "0", "-1"};
    const uint64_t bytes[] = {UINT64_C(5000000000), UINT64_C(256) << 20}; // 0 is the default
    struct messages messages = {0};
    struct hl_reporter reporter = {collect, &messages};
    struct gpu_options options;
    for (int i = 0; i < 2; i++) {
        assert_true(gpu_options_from_keys(keys, values + i, 1, &reporter, &options));
        assert_true(options.cache_bytes == bytes[i]);
    }
    assert_string_equal(messages.text, "");
    assert_false(gpu_options_from_keys(keys, values + 2, 1, &reporter, &options));
    assert_non_null(strstr(messages.text, "serialization_max_bytes is -1"));

    HaliteGpuDelegateOptions own = {.struct_size = sizeof own, .serialization_max_bytes = UINT64_MAX};
    assert_true(gpu_options_from_halite(&own, &reporter, &options));
    assert_true(options.cache_bytes == UINT64_MAX);
    own.struct_size = offsetof(HaliteGpuDelegateOptions, serialization_max_bytes); // a program of before
    assert_true(gpu_options_from_halite(&own, &reporter, &options));
    assert_true(options.cache_bytes == UINT64_C(256) << 20);
}

// ---- the first OpenCL interface ------------------------------------------------------------------

static void the_first_interface_chooses_the_precision(void **state)
{
    (void)state;
    static const struct {
        TfLiteGpuCompileOptions_New given;
        enum gpu_precision precision;
        const char *problem;
    } cases[] = {
        {{.precision_loss_allowed = 0, .inference_priority = TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY}, GPU_F32, NULL},
        {{.precision_loss_allowed = 1}, GPU_F16, NULL},
        {{.precision_loss_allowed = 1, .inference_priority = TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION},
         GPU_F32,
         NULL},
        {{.precision_loss_allowed = 1, .inference_priority = TFLITE_GPU_INFERENCE_PRIORITY_MIN_MEMORY_USAGE},
         GPU_F16S,
         NULL},
        {{.precision_loss_allowed = 1, .inference_priority = 9}, GPU_F32, invalid},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TfLiteGpuDelegateOptions_New options = {.compile_options = cases[i].given};
        TfLiteDelegate *delegate = TfLiteGpuDelegateCreate_New(&options);
        const struct gpu_options *have = &gpu_delegate_of(delegate)->engine->options;
        if (cases[i].problem)
            assert_string_equal(have->problem, cases[i].problem);
        else
            assert_int_equal(have->precision, cases[i].precision);
        assert_true(have->quantized);
        TfLiteGpuDelegateDelete_New(delegate);
    }
    TfLiteGpuDelegateDelete_New(NULL);
}

static void the_first_interface_has_neither_buffers_nor_a_cache(void **state)
{
    (void)state;
    TfLiteDelegate *delegate = TfLiteGpuDelegateCreate_New(NULL);
    assert_int_equal(TfLiteGpuDelegateBindGlBufferToTensor(delegate, 1, 0, kTfLiteFloat32, TFLITE_GPU_DATA_LAYOUT_BHWC),
                     kTfLiteError);
    size_t size = 1;
    const uint8_t *data = (const uint8_t *)"";
    assert_false(TfLiteGpuDelegateGetSerializedBinaryCache(delegate, &size, &data));
    assert_true(size == 0 && !data);
    TfLiteGpuDelegateDelete_New(delegate);
}

static void the_table_of_functions_makes_the_delegate(void **state)
{
    (void)state;
    const TfLiteDelegatePlugin *plugin = TfLiteGpuDelegatePluginCApi();
    TfLiteDelegate *delegate = plugin->create(NULL);
    assert_non_null(gpu_delegate_of(delegate));
    assert_int_equal(plugin->get_delegate_errno(delegate), 0);
    plugin->destroy(delegate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_interface_chooses_the_precision),
        cmocka_unit_test(the_first_interface_has_neither_buffers_nor_a_cache),
        cmocka_unit_test(the_table_of_functions_makes_the_delegate),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_struct_options),
        cmocka_unit_test(test_older_interfaces),
        cmocka_unit_test(test_halite_options),
        cmocka_unit_test(test_key_options),
        cmocka_unit_test(test_key_of_a_folder),
        cmocka_unit_test(test_limit_of_a_folder),
        cmocka_unit_test(test_limit_of_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
