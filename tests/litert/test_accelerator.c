// SPDX-License-Identifier: Apache-2.0
// libLiteRtGpuAccelerator as a runtime sees it, with a runtime made of functions below: what it makes of options, of
// runtimes that it does not know, of devices that are not there, and what it tells as metrics. Runs on the null device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "litert/accelerator/options.h"
#include "litert/c/internal/litert_accelerator_def.h"

extern const LiteRtAcceleratorDef LiteRtAcceleratorImpl;
extern LiteRtStatus LiteRtRegisterGpuAccelerator(LiteRtEnvironment environment);

_Static_assert(sizeof(void *) != 8 || sizeof(LiteRtAcceleratorDef) == 200, "LiteRT's layout");
_Static_assert(sizeof(void *) != 8 || sizeof(LiteRtCustomTensorBufferHandlersDef) == 136, "LiteRT's layout");
_Static_assert(sizeof(void *) != 8 || sizeof(LiteRtRuntimeContext) == 416, "LiteRT's layout");
_Static_assert(sizeof(void *) != 8 || offsetof(LiteRtRuntimeContext, wrap_delegate) == 144, "LiteRT's layout");
_Static_assert(sizeof(void *) != 8 || offsetof(LiteRtRuntimeContext, lock_tensor_buffer) == 224, "LiteRT's layout");
_Static_assert(sizeof(void *) != 8 || offsetof(LiteRtRuntimeContext, append_metric) == 408, "LiteRT's layout");
_Static_assert(sizeof(LiteRtRankedTensorType) == 72 && sizeof(LiteRtLayout) == 68, "LiteRT's layout");
_Static_assert(sizeof(LiteRtEnvOption) == 24 && sizeof(LiteRtAny) == 16, "LiteRT's layout");

// ---- a runtime of a few functions ---------------------------------------------------------------

struct LiteRtOptionsT {
    const char *gpu, *halite;
};

struct LiteRtDelegateWrapperT {
    TfLiteOpaqueDelegate *delegate;
    void (*deleter)(TfLiteOpaqueDelegate *delegate);
};

static bool no_wrapper; // wrap_delegate fails
static int metric_count;
static char first_metric[64], second_metric[64];

static LiteRtStatus get_opaque_options(LiteRtOptions options, LiteRtOpaqueOptions *opaque)
{
    *opaque = (LiteRtOpaqueOptions)options;
    return kLiteRtStatusOk;
}

static LiteRtStatus find_data(LiteRtOpaqueOptions opaque, const char *identifier, void **data)
{
    const struct LiteRtOptionsT *options = (const struct LiteRtOptionsT *)opaque;
    const char *text = strcmp(identifier, "gpu_options") == 0 ? options->gpu : options->halite;
    *data = (void *)text;
    return text ? kLiteRtStatusOk : kLiteRtStatusErrorNotFound;
}

static LiteRtStatus wrap(TfLiteOpaqueDelegate *delegate, void (*deleter)(TfLiteOpaqueDelegate *),
                         LiteRtDelegateWrapper *wrapper)
{
    if (no_wrapper) return kLiteRtStatusErrorMemoryAllocationFailure;
    *wrapper = malloc(sizeof **wrapper);
    assert_non_null(*wrapper);
    **wrapper = (struct LiteRtDelegateWrapperT){delegate, deleter};
    return kLiteRtStatusOk;
}

static LiteRtStatus unwrap(LiteRtDelegateWrapper wrapper, TfLiteOpaqueDelegate **delegate)
{
    *delegate = wrapper->delegate;
    return kLiteRtStatusOk;
}

static LiteRtStatus append_metric(LiteRtMetrics metrics, const LiteRtMetric *metric)
{
    (void)metrics;
    assert_int_equal(metric->value.type, kLiteRtAnyTypeInt);
    char *name = metric_count == 0 ? first_metric : second_metric;
    snprintf(name, sizeof first_metric, "%s", metric->name);
    metric_count++;
    return kLiteRtStatusOk;
}

static LiteRtRuntimeContext known_runtime(void)
{
    return (LiteRtRuntimeContext){
        .abi_header = {.struct_size = sizeof(LiteRtRuntimeContext), .major_version = 1, .minor_version = 2},
        .get_opaque_options = get_opaque_options,
        .find_opaque_options_data = find_data,
        .wrap_delegate = wrap,
        .unwrap_delegate = unwrap,
        .append_metric = append_metric,
    };
}

static LiteRtStatus create(const char *gpu, const char *halite, LiteRtDelegateWrapper *wrapper)
{
    LiteRtRuntimeContext runtime = known_runtime();
    struct LiteRtOptionsT options = {gpu, halite};
    *wrapper = (LiteRtDelegateWrapper)&options; // has to be overwritten
    return LiteRtAcceleratorImpl.create_delegate(&runtime, NULL, NULL, &options, wrapper);
}

static void destroy(LiteRtDelegateWrapper wrapper)
{
    wrapper->deleter(wrapper->delegate);
    free(wrapper);
}

// ---- tests --------------------------------------------------------------------------------------

static void it_says_what_it_is(void **state)
{
    (void)state;
    const LiteRtAcceleratorDef *def = &LiteRtAcceleratorImpl;
    const char *name = NULL;
    LiteRtApiVersion version = {-1, -1, -1};
    LiteRtHwAcceleratorSet hardware = 0;
    bool does_jit = false;
    assert_int_equal(def->abi_header.struct_size, sizeof *def);
    assert_int_equal(def->abi_header.major_version, 1);
    assert_int_equal(def->get_name(NULL, &name), kLiteRtStatusOk);
    assert_string_equal(name, "Halite");
    assert_int_equal(def->get_version(NULL, &version), kLiteRtStatusOk);
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", version.major, version.minor, version.patch);
    assert_string_equal(text, HALITE_VERSION);
    assert_int_equal(def->get_hardware_support(NULL, &hardware), kLiteRtStatusOk);
    assert_int_equal(hardware, kLiteRtHwAcceleratorGpu);
    // With false LiteRT would apply the delegate to models that asked for the CPU alone.
    assert_int_equal(def->is_tflite_delegate_responsible_for_jit_compilation(NULL, &does_jit), kLiteRtStatusOk);
    assert_true(does_jit);
}

static void a_delegate_is_made_and_deleted(void **state)
{
    (void)state;
    LiteRtDelegateWrapper wrapper;
    assert_int_equal(create(NULL, "device = \"null\"\n", &wrapper), kLiteRtStatusOk);
    assert_non_null(wrapper);
    destroy(wrapper);
    assert_int_equal(create("", "device = \"null\"", &wrapper), kLiteRtStatusOk);
    destroy(wrapper);
}

static void a_runtime_without_memory_leaks_nothing(void **state)
{
    (void)state;
    LiteRtDelegateWrapper wrapper;
    no_wrapper = true;
    assert_int_equal(create(NULL, "device = \"null\"\n", &wrapper), kLiteRtStatusErrorMemoryAllocationFailure);
    no_wrapper = false;
    assert_null(wrapper);
}

static void unknown_runtimes_are_left_alone(void **state)
{
    (void)state;
    struct LiteRtOptionsT options = {NULL, "device = \"null\"\n"};
    LiteRtDelegateWrapper wrapper = NULL;
    LiteRtRuntimeContext runtime = known_runtime();
    runtime.abi_header.major_version = 2;
    assert_int_equal(LiteRtAcceleratorImpl.create_delegate(&runtime, NULL, NULL, &options, &wrapper), kLiteRtStatusOk);
    assert_null(wrapper);
    runtime = known_runtime();
    runtime.abi_header.struct_size = offsetof(LiteRtRuntimeContext, unwrap_delegate); // one function short
    assert_int_equal(LiteRtAcceleratorImpl.create_delegate(&runtime, NULL, NULL, &options, &wrapper), kLiteRtStatusOk);
    assert_null(wrapper);
    runtime = known_runtime();
    runtime.abi_header.struct_size = 400; // 1.0, that of LiteRT 2.2
    assert_int_equal(LiteRtAcceleratorImpl.create_delegate(&runtime, NULL, NULL, &options, &wrapper), kLiteRtStatusOk);
    assert_non_null(wrapper);
    metric_count = 0;
    assert_int_equal(LiteRtAcceleratorImpl.stop_metrics_collection(&runtime, wrapper, NULL), kLiteRtStatusOk);
    assert_int_equal(metric_count, 0); // append_metric lies behind the end of that table
    destroy(wrapper);
    assert_int_equal(LiteRtRegisterGpuAccelerator(NULL), kLiteRtStatusErrorWrongVersion);
}

static void a_missing_device_leaves_the_model_to_the_cpu(void **state)
{
    (void)state;
    LiteRtDelegateWrapper wrapper;
    assert_int_equal(create(NULL, "device = \"vulkan:31\"\n", &wrapper), kLiteRtStatusOk);
    assert_null(wrapper);
    assert_int_equal(create("preferred_device_substr = \"No such GPU\"\n", NULL, &wrapper), kLiteRtStatusOk);
    assert_null(wrapper);
}

static void metrics_count_nodes(void **state)
{
    (void)state;
    LiteRtRuntimeContext runtime = known_runtime();
    LiteRtDelegateWrapper wrapper;
    assert_int_equal(create(NULL, "device = \"null\"\n", &wrapper), kLiteRtStatusOk);
    assert_int_equal(LiteRtAcceleratorImpl.start_metrics_collection(&runtime, wrapper, -1),
                     kLiteRtStatusErrorInvalidArgument);
    assert_int_equal(LiteRtAcceleratorImpl.start_metrics_collection(&runtime, wrapper, 0), kLiteRtStatusOk);
    assert_int_equal(LiteRtAcceleratorImpl.start_metrics_collection(&runtime, wrapper, 1), kLiteRtStatusOk);
    metric_count = 0;
    assert_int_equal(LiteRtAcceleratorImpl.stop_metrics_collection(&runtime, wrapper, NULL), kLiteRtStatusOk);
    assert_int_equal(metric_count, 2); // no kernel has run
    assert_string_equal(first_metric, "nodes");
    assert_string_equal(second_metric, "nodes on no GPU"); // none is opened before the delegate is applied
    destroy(wrapper);
}

static void options_mean_what_litert_says(void **state)
{
    (void)state;
    struct litert_gpu_options options;
    assert_true(litert_gpu_options_read(NULL, NULL, &options));
    assert_int_equal(options.precision, kHaliteGpuPrecisionDefault);
    assert_null(options.api);
    assert_true(options.quantized);
    assert_int_equal(options.max_partitions, 1);
    assert_true(
        litert_gpu_options_read("# a comment\n\nprecision = 1\nbackend = 2\r\npriority = 3\nkernel_batch_size = 1.5\n"
                                "serialization_dir = \"/tmp/a \\\"b\\\"\"\nmodel_cache_key = \"m\"\n"
                                "preferred_device_substr = \"H200\"\nbenchmark_mode = true\n"
                                "external_tensor_patterns = [\"a\", \"b\"]",
                                NULL, &options));
    assert_int_equal(options.precision, kHaliteGpuPrecisionF16);
    assert_string_equal(options.api, "vulkan");
    assert_string_equal(options.cache_folder, "/tmp/a \"b\"");
    assert_string_equal(options.cache_key, "m");
    assert_string_equal(options.description, "H200");
    assert_true(litert_gpu_options_read("precision = 2\nbackend = 1",
                                        "device = \"opencl:1\"\nprecision = \"f16s\"\n"
                                        "quantized = false\ntake_small_partitions = true\n"
                                        "max_delegated_partitions = 7",
                                        &options));
    assert_int_equal(options.precision, kHaliteGpuPrecisionF16S); // ours counts after LiteRT's
    assert_string_equal(options.device, "opencl:1");
    assert_false(options.quantized);
    assert_true(options.take_small_partitions);
    assert_int_equal(options.max_partitions, 7);
    // Kernels are kept only where a folder and a name are given and nobody forbids it.
    assert_true(litert_gpu_options_read("serialization_dir = \"/tmp\"", NULL, &options));
    assert_string_equal(options.cache_folder, "");
    assert_true(litert_gpu_options_read("serialization_dir = \"/tmp\"\nmodel_cache_key = \"m\"\n"
                                        "serialize_program_cache = false",
                                        NULL, &options));
    assert_string_equal(options.cache_folder, "");
    // A later LiteRT has more keys.
    assert_true(litert_gpu_options_read("a_key_of_tomorrow = 12\nprecision = 2\n", NULL, &options));
    assert_int_equal(options.precision, kHaliteGpuPrecisionF32);
}

static void broken_options_are_refused(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "precision = 4",
        "precision = -1",
        "precision = \"fp16\"",
        "precision = true",
        "backend = 9",
        "precision",
        "precision =",
        "= 1",
        "precision = 99999999999999999999",
        "serialization_dir = \"/tmp",
        "priority = 4",
        "serialization_dir = \"\\q\"",
        "serialization_dir = \"a\" b",
        "benchmark_mode = 1",
        "serialization_dir = 1",
        "a_key_that_is_longer_than_any_key_of_any_release_has_been_until_today_and_more = 1",
    };
    struct litert_gpu_options options;
    LiteRtDelegateWrapper wrapper;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        if (litert_gpu_options_read(broken[i], NULL, &options)) fail_msg("taken: %s", broken[i]);
        assert_int_equal(create(broken[i], "device = \"null\"", &wrapper), kLiteRtStatusErrorInvalidArgument);
        assert_null(wrapper);
    }
    assert_false(litert_gpu_options_read(NULL, "max_delegated_partitions = 0", &options));
    assert_false(litert_gpu_options_read(NULL, "precision = \"half\"", &options));
    assert_false(litert_gpu_options_read(NULL, "device = \"a name that no device of ours has, ever\"", &options));
    char *text = malloc(2 * LITERT_MAX_TEXT);
    assert_non_null(text);
    int length = sprintf(text, "serialization_dir = \"");
    memset(text + length, 'x', LITERT_MAX_TEXT);
    strcpy(text + length + LITERT_MAX_TEXT, "\"");
    assert_false(litert_gpu_options_read(text, NULL, &options));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_it_is),
        cmocka_unit_test(a_delegate_is_made_and_deleted),
        cmocka_unit_test(a_runtime_without_memory_leaks_nothing),
        cmocka_unit_test(unknown_runtimes_are_left_alone),
        cmocka_unit_test(a_missing_device_leaves_the_model_to_the_cpu),
        cmocka_unit_test(metrics_count_nodes),
        cmocka_unit_test(options_mean_what_litert_says),
        cmocka_unit_test(broken_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
