// SPDX-License-Identifier: Apache-2.0
// libLiteRt as a program uses it: environments, options, models, buffers, events, metrics; with what each function of
// include/litert/c gives and what it refuses. tests/litert/core_symbols.sh sees that no function is left out.
#include "core_fixture.h"
#include "support/model_writer.h"

// ---- environment, accelerators ------------------------------------------------------------------

static void an_environment_keeps_its_options(void **state)
{
    (void)state;
    char folder[] = "/no/such/folder";
    LiteRtEnvOption options[] = {
        {kLiteRtEnvOptionTagRuntimeLibraryDir, {.type = kLiteRtAnyTypeString, .str_value = folder}},
        {kLiteRtEnvOptionTagMinLoggerSeverity, {.type = kLiteRtAnyTypeInt, .int_value = 3}},
    };
    LiteRtEnvironment environment = NULL;
    LiteRtEnvironmentOptions kept = NULL;
    LiteRtAny value;
    assert_ok(LiteRtCreateEnvironment(2, options, &environment));
    folder[1] = 'x'; // it has a copy
    assert_ok(LiteRtGetEnvironmentOptions(environment, &kept));
    assert_ok(LiteRtGetEnvironmentOptionsValue(kept, kLiteRtEnvOptionTagRuntimeLibraryDir, &value));
    assert_string_equal(value.str_value, "/no/such/folder");
    assert_ok(LiteRtGetEnvironmentOptionsValue(kept, kLiteRtEnvOptionTagMinLoggerSeverity, &value));
    assert_int_equal(value.int_value, 3);
    assert_int_equal(LiteRtGetEnvironmentOptionsValue(kept, kLiteRtEnvOptionTagEglContext, &value),
                     kLiteRtStatusErrorNotFound);
    LiteRtParamIndex count = 0;
    assert_ok(LiteRtGetNumAccelerators(environment, &count)); // no library is in that folder
    assert_int_equal(count, 1);
    LiteRtDestroyEnvironment(environment);
    LiteRtDestroyEnvironment(NULL);

    assert_int_equal(LiteRtCreateEnvironment(1, NULL, &environment), INVALID);
    assert_int_equal(LiteRtCreateEnvironment(-1, options, &environment), INVALID);
    assert_int_equal(LiteRtCreateEnvironment(0, NULL, NULL), INVALID);
    options[0].value.str_value = NULL;
    assert_int_equal(LiteRtCreateEnvironment(2, options, &environment), INVALID);
    options[0].value.type = (LiteRtAnyType)77;
    assert_int_equal(LiteRtCreateEnvironment(2, options, &environment), INVALID);
    assert_int_equal(LiteRtGetEnvironmentOptions(NULL, &kept), INVALID);
    assert_int_equal(LiteRtGetEnvironmentOptionsValue(NULL, kLiteRtEnvOptionTagEglContext, &value), INVALID);
}

static void accelerators_are_listed(void **state)
{
    struct fixture *f = *state;
    LiteRtParamIndex count = 0;
    LiteRtAccelerator accelerator = NULL;
    LiteRtHwAcceleratorSet hardware = 0;
    LiteRtApiVersion version;
    const char *name = NULL;
    assert_ok(LiteRtGetNumAccelerators(f->environment, &count));
    assert_int_equal(count, 2);
    assert_ok(LiteRtGetAccelerator(f->environment, 0, &accelerator));
    assert_ok(LiteRtGetAcceleratorName(accelerator, &name));
    assert_string_equal(name, "Halite");
    assert_ok(LiteRtGetAcceleratorVersion(accelerator, &version));
    assert_ok(LiteRtGetAcceleratorHardwareSupport(accelerator, &hardware));
    assert_int_equal(hardware, kLiteRtHwAcceleratorGpu);
    assert_ok(LiteRtGetAccelerator(f->environment, 1, &accelerator));
    assert_ok(LiteRtGetAcceleratorName(accelerator, &name));
    assert_string_equal(name, "CpuAccelerator");
    assert_ok(LiteRtGetAcceleratorVersion(accelerator, &version));
    assert_ok(LiteRtGetAcceleratorHardwareSupport(accelerator, &hardware));
    assert_int_equal(hardware, kLiteRtHwAcceleratorCpu);
    assert_int_equal(LiteRtGetAccelerator(f->environment, 2, &accelerator), OUTSIDE);
    assert_int_equal(LiteRtGetNumAccelerators(NULL, &count), INVALID);
    assert_int_equal(LiteRtGetAcceleratorName(NULL, &name), INVALID);
    assert_int_equal(LiteRtGetAcceleratorVersion(NULL, &version), INVALID);
    assert_int_equal(LiteRtGetAcceleratorHardwareSupport(NULL, &hardware), INVALID);
}

static void accelerators_of_another_version_are_left_out(void **state)
{
    (void)state;
    LiteRtAcceleratorDef other = LiteRtAcceleratorImpl;
    other.abi_header.major_version = 2;
    LiteRtEnvOption options[] = {
        {kLiteRtEnvOptionTagSystemGpuAcceleratorHandle, {.type = kLiteRtAnyTypeVoidPtr, .ptr_value = &other}},
        {kLiteRtEnvOptionTagAutoRegisterAccelerators, {.type = kLiteRtAnyTypeInt, .int_value = 3}},
    };
    LiteRtEnvironment environment;
    LiteRtParamIndex count = 0;
    assert_ok(LiteRtCreateEnvironment(2, options, &environment));
    assert_ok(LiteRtGetNumAccelerators(environment, &count));
    assert_int_equal(count, 1);
    LiteRtDestroyEnvironment(environment);
    other.abi_header.major_version = 1;
    options[1].value.int_value = kLiteRtHwAcceleratorCpu; // the GPU is not asked for
    assert_ok(LiteRtCreateEnvironment(2, options, &environment));
    assert_ok(LiteRtGetNumAccelerators(environment, &count));
    assert_int_equal(count, 1);
    LiteRtDestroyEnvironment(environment);
}

// ---- options ------------------------------------------------------------------------------------

static int destroyed; // payloads

static void count_destroyed(void *payload)
{
    (void)payload;
    destroyed++;
}

static void opaque_options_are_a_list(void **state)
{
    (void)state;
    LiteRtOptions options = NULL;
    LiteRtOpaqueOptions first = NULL, second = NULL, at = NULL;
    LiteRtHwAcceleratorSet hardware = -1;
    int payload[2];
    void *data = NULL;
    const char *identifier = NULL;
    destroyed = 0;
    assert_ok(LiteRtCreateOptions(&options));
    assert_ok(LiteRtGetOptionsHardwareAccelerators(options, &hardware));
    assert_int_equal(hardware, 0);
    assert_ok(LiteRtSetOptionsHardwareAccelerators(options, 3));
    assert_ok(LiteRtGetOptionsHardwareAccelerators(options, &hardware));
    assert_int_equal(hardware, 3);
    assert_int_equal(LiteRtSetOptionsHardwareAccelerators(options, 8), INVALID);
    assert_int_equal(LiteRtGetOpaqueOptions(options, &at), kLiteRtStatusErrorNotFound);
    assert_ok(LiteRtCreateOpaqueOptions("a", &payload[0], count_destroyed, &first));
    assert_ok(LiteRtCreateOpaqueOptions("b", &payload[1], count_destroyed, &second));
    assert_ok(LiteRtAddOpaqueOptions(options, first));
    assert_ok(LiteRtAppendOpaqueOptions(&first, second));
    assert_int_equal(LiteRtAppendOpaqueOptions(&first, second), INVALID); // a list must not have an end in itself
    assert_ok(LiteRtGetOpaqueOptions(options, &at));
    assert_ok(LiteRtFindOpaqueOptionsData(at, "b", &data));
    assert_ptr_equal(data, &payload[1]);
    assert_int_equal(LiteRtFindOpaqueOptionsData(at, "c", &data), kLiteRtStatusErrorNotFound);
    assert_ok(LiteRtGetOpaqueOptionsIdentifier(at, &identifier));
    assert_string_equal(identifier, "a");
    assert_ok(LiteRtGetOpaqueOptionsData(at, &data));
    assert_ptr_equal(data, &payload[0]);
    assert_ok(LiteRtGetNextOpaqueOptions(&at));
    assert_ptr_equal(at, second);
    assert_ok(LiteRtGetNextOpaqueOptions(&at));
    assert_null(at);
    assert_int_equal(LiteRtGetNextOpaqueOptions(&at), INVALID);
    assert_ok(LiteRtPopOpaqueOptions(&first));
    assert_int_equal(destroyed, 1);
    LiteRtDestroyOptions(options);
    assert_int_equal(destroyed, 2);
    LiteRtDestroyOptions(NULL);

    assert_ok(LiteRtCreateOpaqueOptions("a", NULL, NULL, &first));
    assert_ok(LiteRtPopOpaqueOptions(&first));
    assert_null(first);
    assert_int_equal(LiteRtPopOpaqueOptions(&first), INVALID);
    assert_ok(LiteRtCreateOpaqueOptions("a", NULL, NULL, &first));
    LiteRtDestroyOpaqueOptions(first);
    LiteRtDestroyOpaqueOptions(NULL);
    assert_int_equal(LiteRtCreateOptions(NULL), INVALID);
    assert_int_equal(LiteRtCreateOpaqueOptions(NULL, NULL, NULL, &first), INVALID);
    assert_int_equal(LiteRtAddOpaqueOptions(NULL, NULL), INVALID);
    assert_int_equal(LiteRtGetOpaqueOptionsIdentifier(NULL, &identifier), INVALID);
    assert_int_equal(LiteRtGetOpaqueOptionsData(NULL, &data), INVALID);
    assert_int_equal(LiteRtFindOpaqueOptionsData(NULL, "a", &data), INVALID);
    assert_int_equal(LiteRtGetOptionsHardwareAccelerators(NULL, &hardware), INVALID);
}

// ---- models -------------------------------------------------------------------------------------

static void models_are_read_from_anywhere(void **state)
{
    struct fixture *f = *state;
    LiteRtModel model = NULL;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite("head", 1, 4, file), 4);
    assert_int_equal(fwrite(f->bytes, 1, f->size, file), f->size);
    fflush(file);
    int descriptor = fileno(file);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    assert_ok(LiteRtCreateModelFromFd(f->environment, descriptor, 4, f->size, &model));
    LiteRtDestroyModel(model);
    assert_int_equal(LiteRtCreateModelFromFd(f->environment, descriptor, 4, f->size + 1, &model),
                     kLiteRtStatusErrorFileIO);
    assert_int_equal(LiteRtCreateModelFromFd(f->environment, descriptor, SIZE_MAX, 16, &model),
                     kLiteRtStatusErrorFileIO);
    assert_int_equal(LiteRtCreateModelFromFd(f->environment, -1, 0, 16, &model), kLiteRtStatusErrorFileIO);
    assert_int_equal(LiteRtCreateModelFromFile(f->environment, path, &model), // it begins with "head"
                     kLiteRtStatusErrorInvalidFlatbuffer);
    fclose(file);
    assert_ok(LiteRtCreateModelFromFile(f->environment, "demo/digits.tflite", &model));
    LiteRtDestroyModel(model);
    LiteRtDestroyModel(NULL);
    assert_int_equal(LiteRtCreateModelFromFile(f->environment, "no/such.tflite", &model), kLiteRtStatusErrorFileIO);
    assert_int_equal(LiteRtCreateModelFromFile(f->environment, NULL, &model), INVALID);
    assert_int_equal(LiteRtCreateModelFromBuffer(f->environment, f->bytes, 20, &model),
                     kLiteRtStatusErrorInvalidFlatbuffer);
    assert_int_equal(LiteRtCreateModelFromBuffer(f->environment, NULL, 20, &model), INVALID);
}

static void metadata_is_found_and_added(void **state)
{
    struct fixture *f = *state;
    const void *bytes = NULL;
    size_t size = 0;
    assert_ok(LiteRtGetModelMetadata(f->model, "author", &bytes, &size));
    assert_int_equal(size, 2);
    assert_memory_equal(bytes, "us", 2);
    assert_int_equal(LiteRtGetModelMetadata(f->model, "title", &bytes, &size), kLiteRtStatusErrorNotFound);
    assert_ok(LiteRtAddModelMetadata(f->model, "title", "sums", 4));
    assert_ok(LiteRtAddModelMetadata(f->model, "empty", NULL, 0));
    assert_ok(LiteRtGetModelMetadata(f->model, "title", &bytes, &size));
    assert_int_equal(size, 4);
    assert_memory_equal(bytes, "sums", 4);
    assert_int_equal(LiteRtAddModelMetadata(f->model, "title", "x", 1), kLiteRtStatusErrorAlreadyExists);
    assert_int_equal(LiteRtAddModelMetadata(f->model, "author", "x", 1), kLiteRtStatusErrorAlreadyExists);
    assert_int_equal(LiteRtAddModelMetadata(f->model, "more", NULL, 1), INVALID);
}

static void signatures_name_tensors(void **state)
{
    struct fixture *f = *state;
    LiteRtParamIndex count = 0;
    LiteRtSignature signature = NULL;
    LiteRtSubgraph subgraph = NULL, second = NULL;
    LiteRtTensor tensor = NULL, same = NULL;
    const char *text = NULL;
    uint32_t index = 0;
    assert_ok(LiteRtGetNumModelSignatures(f->model, &count));
    assert_int_equal(count, 2);
    assert_ok(LiteRtGetModelSignature(f->model, 1, &signature));
    assert_int_equal(LiteRtGetModelSignature(f->model, 2, &signature), OUTSIDE);
    assert_ok(LiteRtGetSignatureKey(signature, &text));
    assert_string_equal(text, "mul");
    assert_ok(LiteRtGetNumSignatureInputs(signature, &count));
    assert_int_equal(count, 2);
    assert_ok(LiteRtGetNumSignatureOutputs(signature, &count));
    assert_int_equal(count, 1);
    assert_ok(LiteRtGetSignatureInputName(signature, 1, &text));
    assert_string_equal(text, "y");
    assert_int_equal(LiteRtGetSignatureInputName(signature, 2, &text), OUTSIDE);
    assert_ok(LiteRtGetSignatureOutputName(signature, 0, &text));
    assert_string_equal(text, "z");
    assert_int_equal(LiteRtGetSignatureOutputName(signature, 1, &text), OUTSIDE);
    assert_ok(LiteRtGetSignatureInputTensor(signature, "y", &tensor));
    assert_ok(LiteRtGetSignatureInputTensorByIndex(signature, 1, &same));
    assert_ptr_equal(tensor, same);
    assert_ok(LiteRtGetTensorName(tensor, &text));
    assert_string_equal(text, "mul_y");
    assert_int_equal(LiteRtGetSignatureInputTensor(signature, "z", &tensor), kLiteRtStatusErrorNotFound);
    assert_int_equal(LiteRtGetSignatureInputTensorByIndex(signature, 2, &same), OUTSIDE);
    assert_ok(LiteRtGetSignatureOutputTensor(signature, "z", &tensor));
    assert_ok(LiteRtGetSignatureOutputTensorByIndex(signature, 0, &same));
    assert_ptr_equal(tensor, same);
    assert_ok(LiteRtGetTensorIndex(tensor, &index));
    assert_int_equal(index, 2);
    assert_int_equal(LiteRtGetSignatureOutputTensor(signature, "x", &tensor), kLiteRtStatusErrorNotFound);
    assert_int_equal(LiteRtGetSignatureOutputTensorByIndex(signature, 1, &same), OUTSIDE);
    assert_ok(LiteRtGetSignatureSubgraph(signature, &subgraph));
    assert_ok(LiteRtGetModelSubgraph(f->model, 1, &second));
    assert_ptr_equal(subgraph, second);
}

static void subgraphs_have_inputs_and_outputs(void **state)
{
    struct fixture *f = *state;
    LiteRtParamIndex count = 0, main_graph = 7;
    LiteRtSubgraph subgraph = NULL;
    LiteRtTensor tensor = NULL;
    const char *text = NULL;
    assert_ok(LiteRtGetMainModelSubgraphIndex(f->model, &main_graph));
    assert_int_equal(main_graph, 0);
    assert_ok(LiteRtGetNumModelSubgraphs(f->model, &count));
    assert_int_equal(count, 2);
    assert_int_equal(LiteRtGetModelSubgraph(f->model, 2, &subgraph), OUTSIDE);
    for (LiteRtParamIndex i = 0; i < 2; i++) {
        assert_ok(LiteRtGetModelSubgraph(f->model, i, &subgraph));
        assert_ok(LiteRtGetNumSubgraphInputs(subgraph, &count));
        assert_int_equal(count, 2);
        assert_ok(LiteRtGetSubgraphInput(subgraph, 1, &tensor));
        assert_ok(LiteRtGetTensorName(tensor, &text));
        assert_string_equal(text, i ? "mul_y" : "add_y");
        assert_int_equal(LiteRtGetSubgraphInput(subgraph, 2, &tensor), OUTSIDE);
        assert_ok(LiteRtGetNumSubgraphOutputs(subgraph, &count));
        assert_int_equal(count, 1);
        assert_ok(LiteRtGetSubgraphOutput(subgraph, 0, &tensor));
        assert_ok(LiteRtGetTensorName(tensor, &text));
        assert_string_equal(text, i ? "mul_z" : "add_z");
        assert_int_equal(LiteRtGetSubgraphOutput(subgraph, 1, &tensor), OUTSIDE);
    }
}

static void a_model_without_signatures_has_one(void **state)
{
    struct fixture *f = *state;
    size_t size;
    unsigned char *bytes = write_model(false, &size);
    LiteRtModel model = NULL;
    LiteRtSignature signature = NULL;
    LiteRtParamIndex count = 0;
    const char *text = NULL;
    assert_ok(LiteRtCreateModelFromBuffer(f->environment, bytes, size, &model));
    assert_ok(LiteRtGetNumModelSignatures(model, &count));
    assert_int_equal(count, 1);
    assert_ok(LiteRtGetModelSignature(model, 0, &signature));
    assert_ok(LiteRtGetSignatureKey(signature, &text));
    assert_string_equal(text, "<placeholder signature>");
    assert_ok(LiteRtGetSignatureInputName(signature, 0, &text));
    assert_string_equal(text, "add_x");
    assert_ok(LiteRtGetSignatureOutputName(signature, 0, &text));
    assert_string_equal(text, "add_z");
    LiteRtDestroyModel(model);
    free(bytes);
}

// The model keeps its tensors in one array: the quantized ones follow the output.
static void tensors_tell_their_type(void **state)
{
    struct fixture *f = *state;
    LiteRtSubgraph subgraph;
    LiteRtTensor x;
    LiteRtTensorTypeId id = kLiteRtUnrankedTensorType;
    LiteRtRankedTensorType type;
    LiteRtUnrankedTensorType unranked;
    LiteRtQuantizationTypeId quantization;
    LiteRtQuantizationPerTensor per_tensor;
    LiteRtQuantizationPerChannel per_channel;
    assert_ok(LiteRtGetModelSubgraph(f->model, 0, &subgraph));
    assert_ok(LiteRtGetSubgraphInput(subgraph, 0, &x));
    assert_ok(LiteRtGetTensorTypeId(x, &id));
    assert_int_equal(id, kLiteRtRankedTensorType);
    assert_int_equal(LiteRtGetUnrankedTensorType(x, &unranked), kLiteRtStatusErrorInvalidIrType);
    assert_ok(LiteRtGetRankedTensorType(x, &type));
    assert_int_equal(type.element_type, kLiteRtElementTypeFloat32);
    assert_int_equal(type.layout.rank, 2);
    assert_int_equal(type.layout.dimensions[0], -1);
    assert_int_equal(type.layout.dimensions[1], 2);
    assert_int_equal(type.layout.has_strides, 0);
    assert_ok(LiteRtGetQuantizationTypeId(x, &quantization));
    assert_int_equal(quantization, kLiteRtQuantizationNone);
    assert_int_equal(LiteRtGetPerTensorQuantization(x, &per_tensor), kLiteRtStatusErrorInvalidIrType);
    assert_int_equal(LiteRtGetPerChannelQuantization(x, &per_channel), kLiteRtStatusErrorInvalidIrType);
    assert_int_equal(LiteRtGetRankedTensorType(NULL, &type), INVALID);
    assert_int_equal(LiteRtGetTensorName(NULL, NULL), INVALID);
}

static void quantization_is_told(void **state)
{
    struct fixture *f = *state;
    static const float scales[] = {0.5f, 0.25f};
    static const struct test_tensor tensors[] = {
        {.name = "q", .type = TEST_INT8, .rank = 1, .dims = {2}, .scale = 0.5f, .zero_point = 3, .is_input = true},
        {.name = "c", .type = TEST_INT8, .rank = 1, .dims = {2}, .scale_count = 2, .scales = scales, .is_input = true},
    };
    struct test_model model = {.tensor_count = 2, .tensors = tensors};
    size_t size;
    unsigned char *bytes = test_model_write(&model, &size);
    LiteRtModel made = NULL;
    LiteRtSubgraph subgraph;
    LiteRtTensor q, c;
    LiteRtQuantizationTypeId quantization;
    LiteRtQuantizationPerTensor per_tensor;
    LiteRtQuantizationPerChannel per_channel;
    assert_ok(LiteRtCreateModelFromBuffer(f->environment, bytes, size, &made));
    assert_ok(LiteRtGetModelSubgraph(made, 0, &subgraph));
    assert_ok(LiteRtGetSubgraphInput(subgraph, 0, &q));
    assert_ok(LiteRtGetSubgraphInput(subgraph, 1, &c));
    assert_ok(LiteRtGetQuantizationTypeId(q, &quantization));
    assert_int_equal(quantization, kLiteRtQuantizationPerTensor);
    assert_ok(LiteRtGetPerTensorQuantization(q, &per_tensor));
    assert_true(per_tensor.scale == 0.5f);
    assert_int_equal(per_tensor.zero_point, 3);
    assert_ok(LiteRtGetQuantizationTypeId(c, &quantization));
    assert_int_equal(quantization, kLiteRtQuantizationPerChannel);
    assert_ok(LiteRtGetPerChannelQuantization(c, &per_channel));
    assert_int_equal(per_channel.num_channels, 2);
    assert_int_equal(per_channel.quantized_dimension, 0);
    assert_true(per_channel.scales[1] == 0.25f);
    assert_int_equal(per_channel.zero_points[1], 0);
    LiteRtDestroyModel(made);
    free(bytes);
}

// ---- buffers ------------------------------------------------------------------------------------

static void free_aligned(void *memory)
{
    destroyed++;
    free(memory);
}

static void buffers_hold_host_memory(void **state)
{
    struct fixture *f = *state;
    float *memory = aligned_alloc(64, 64);
    LiteRtTensorBuffer buffer = NULL;
    LiteRtTensorBufferType type;
    LiteRtRankedTensorType tensor_type;
    size_t bytes = 0;
    void *at = NULL;
    destroyed = 0;
    assert_ok(LiteRtCreateTensorBufferFromHostMemory(&pair, memory, 64, free_aligned, &buffer));
    assert_ok(LiteRtGetTensorBufferType(buffer, &type));
    assert_int_equal(type, kLiteRtTensorBufferTypeHostMemory);
    assert_ok(LiteRtGetTensorBufferTensorType(buffer, &tensor_type));
    assert_memory_equal(&tensor_type, &pair, sizeof pair);
    assert_ok(LiteRtGetTensorBufferSize(buffer, &bytes));
    assert_int_equal(bytes, 64);
    assert_ok(LiteRtGetTensorBufferPackedSize(buffer, &bytes));
    assert_int_equal(bytes, 8);
    assert_ok(LiteRtGetTensorBufferOffset(buffer, &bytes));
    assert_int_equal(bytes, 0);
    assert_ok(LiteRtGetTensorBufferHostMemory(buffer, &at));
    assert_ptr_equal(at, memory);
    assert_ok(LiteRtLockTensorBuffer(buffer, &at, kLiteRtTensorBufferLockModeWrite));
    assert_ptr_equal(at, memory);
    assert_int_equal(LiteRtLockTensorBuffer(buffer, &at, kLiteRtTensorBufferLockModeRead),
                     kLiteRtStatusErrorRuntimeFailure);
    assert_ok(LiteRtUnlockTensorBuffer(buffer));
    assert_int_equal(LiteRtUnlockTensorBuffer(buffer), kLiteRtStatusErrorRuntimeFailure);
    assert_int_equal(LiteRtLockTensorBuffer(buffer, &at, (LiteRtTensorBufferLockMode)3), INVALID);
    memory[1] = 5;
    assert_ok(LiteRtClearTensorBuffer(buffer));
    assert_true(memory[1] == 0);
    assert_ok(LiteRtDuplicateTensorBuffer(buffer));
    LiteRtDestroyTensorBuffer(buffer);
    assert_int_equal(destroyed, 0);
    assert_int_equal(LiteRtCreateTensorBufferFromHostMemory(&pair, memory, 7, NULL, &buffer), INVALID);
    assert_int_equal(LiteRtCreateTensorBufferFromHostMemory(&pair, memory + 1, 8, NULL, &buffer),
                     kLiteRtStatusErrorRuntimeFailure);
    LiteRtDestroyTensorBuffer(buffer);
    assert_int_equal(destroyed, 1);
    LiteRtDestroyTensorBuffer(NULL);

    assert_ok(LiteRtCreateManagedTensorBuffer(f->environment, kLiteRtTensorBufferTypeHostMemory, &pair, 1, &buffer));
    assert_ok(LiteRtGetTensorBufferSize(buffer, &bytes)); // the larger of the two
    assert_int_equal(bytes, 8);
    assert_ok(LiteRtGetTensorBufferHostMemory(buffer, &at));
    assert_int_equal((uintptr_t)at % 64, 0);
    LiteRtDestroyTensorBuffer(buffer);
    assert_int_equal(LiteRtCreateManagedTensorBuffer(f->environment, kLiteRtTensorBufferTypeOpenClBuffer, &pair, 8,
                                                     &buffer),
                     kLiteRtStatusErrorUnsupported);
}

static void buffers_of_no_size_are_refused(void **state)
{
    struct fixture *f = *state;
    LiteRtTensorBuffer buffer = NULL;
    LiteRtRankedTensorType type = pair;
    type.element_type = kLiteRtElementTypeTfString;
    assert_int_equal(LiteRtCreateManagedTensorBuffer(f->environment, kLiteRtTensorBufferTypeHostMemory, &type, 8,
                                                     &buffer),
                     kLiteRtStatusErrorUnsupported);
    type.element_type = (LiteRtElementType)99;
    assert_int_equal(LiteRtCreateManagedTensorBuffer(f->environment, kLiteRtTensorBufferTypeHostMemory, &type, 8,
                                                     &buffer),
                     kLiteRtStatusErrorUnsupported);
    type = pair;
    type.layout.dimensions[0] = -1;
    assert_int_equal(LiteRtCreateManagedTensorBuffer(f->environment, kLiteRtTensorBufferTypeHostMemory, &type, 8,
                                                     &buffer),
                     INVALID);
    type.layout.rank = 100;
    assert_int_equal(LiteRtCreateManagedTensorBuffer(f->environment, kLiteRtTensorBufferTypeHostMemory, &type, 8,
                                                     &buffer),
                     INVALID);
    type.layout.rank = 8;
    for (int i = 0; i < 8; i++) type.layout.dimensions[i] = INT32_MAX;
    assert_int_equal(LiteRtCreateManagedTensorBuffer(f->environment, kLiteRtTensorBufferTypeHostMemory, &type, 8,
                                                     &buffer),
                     INVALID);
    type.layout = (LiteRtLayout){.rank = 1, .dimensions = {3}};
    type.element_type = kLiteRtElementTypeInt4; // three halves of a byte take two
    size_t bytes = 0;
    assert_ok(LiteRtCreateManagedTensorBuffer(f->environment, kLiteRtTensorBufferTypeHostMemory, &type, 0, &buffer));
    assert_ok(LiteRtGetTensorBufferPackedSize(buffer, &bytes));
    assert_int_equal(bytes, 2);
    LiteRtDestroyTensorBuffer(buffer);
    assert_int_equal(LiteRtDuplicateTensorBuffer(NULL), INVALID);
    assert_int_equal(LiteRtClearTensorBuffer(NULL), INVALID);
}

static void requirements_join(void **state)
{
    struct fixture *f = *state;
    static const LiteRtTensorBufferType both[] = {kLiteRtTensorBufferTypeOpenClBuffer,
                                                  kLiteRtTensorBufferTypeHostMemory};
    static const uint32_t strides[] = {4, 1};
    LiteRtTensorBufferRequirements a = NULL, b = NULL, joined = NULL;
    LiteRtTensorBufferType type;
    LiteRtTensorBuffer buffer = NULL;
    const uint32_t *found = NULL;
    size_t size = 0;
    int count = 0;
    assert_ok(LiteRtCreateTensorBufferRequirements(2, both, 100, 0, NULL, &a));
    assert_ok(LiteRtCreateTensorBufferRequirementsWithAlignment(1, both + 1, 50, 0, NULL, 256, &b));
    assert_ok(LiteRtJoinTensorBufferRequirements(a, b, &joined));
    assert_ok(LiteRtGetNumTensorBufferRequirementsSupportedBufferTypes(joined, &count));
    assert_int_equal(count, 1);
    assert_ok(LiteRtGetTensorBufferRequirementsSupportedTensorBufferType(joined, 0, &type));
    assert_int_equal(type, kLiteRtTensorBufferTypeHostMemory);
    assert_int_equal(LiteRtGetTensorBufferRequirementsSupportedTensorBufferType(joined, 1, &type), OUTSIDE);
    assert_int_equal(LiteRtGetTensorBufferRequirementsSupportedTensorBufferType(joined, -1, &type), OUTSIDE);
    assert_ok(LiteRtGetTensorBufferRequirementsBufferSize(joined, &size));
    assert_int_equal(size, 100);
    assert_ok(LiteRtGetTensorBufferRequirementsAlignment(joined, &size));
    assert_int_equal(size, 256);
    assert_ok(LiteRtGetTensorBufferRequirementsStrides(joined, &count, &found));
    assert_int_equal(count, 0);
    assert_null(found);
    assert_ok(LiteRtCreateManagedTensorBufferFromRequirements(f->environment, &pair, joined, &buffer));
    assert_ok(LiteRtGetTensorBufferSize(buffer, &size));
    assert_int_equal(size, 100);
    LiteRtDestroyTensorBuffer(buffer);
    assert_int_equal(LiteRtCreateManagedTensorBufferFromRequirements(f->environment, &pair, a, &buffer),
                     kLiteRtStatusErrorUnsupported); // it wants OpenCL first
    LiteRtDestroyTensorBufferRequirements(joined);
    LiteRtDestroyTensorBufferRequirements(b);
    assert_ok(LiteRtCreateTensorBufferRequirements(2, both, 100, 2, strides, &b));
    assert_ok(LiteRtGetTensorBufferRequirementsStrides(b, &count, &found));
    assert_int_equal(count, 2);
    assert_int_equal(found[0], 4);
    assert_int_equal(LiteRtJoinTensorBufferRequirements(a, b, &joined), kLiteRtStatusErrorUnsupported);
    LiteRtDestroyTensorBufferRequirements(b);
    assert_ok(LiteRtCreateTensorBufferRequirements(1, both, 100, 0, NULL, &b));
    LiteRtDestroyTensorBufferRequirements(a);
    assert_ok(LiteRtCreateTensorBufferRequirements(1, both + 1, 100, 0, NULL, &a));
    assert_int_equal(LiteRtJoinTensorBufferRequirements(a, b, &joined), kLiteRtStatusErrorUnsupported);
    LiteRtDestroyTensorBufferRequirements(a);
    LiteRtDestroyTensorBufferRequirements(b);
    LiteRtDestroyTensorBufferRequirements(NULL);
    assert_int_equal(LiteRtCreateTensorBufferRequirements(17, both, 1, 0, NULL, &a), INVALID);
    assert_int_equal(LiteRtCreateTensorBufferRequirements(0, both, 1, 0, NULL, &a), INVALID);
    assert_int_equal(LiteRtCreateTensorBufferRequirements(1, both, 1, 9, strides, &a), INVALID);
    assert_int_equal(LiteRtCreateTensorBufferRequirementsWithAlignment(1, both, 1, 0, NULL, 48, &a), INVALID);
}

// ---- events -------------------------------------------------------------------------------------

struct own_event {
    LiteRtCustomEventT head;
    int references, waits;
    bool over;
};

static void retain(LiteRtCustomEvent event)
{
    ((struct own_event *)event)->references++;
}

static void release(LiteRtCustomEvent event)
{
    ((struct own_event *)event)->references--;
}

static LiteRtStatus wait_for(LiteRtCustomEvent event, int64_t milliseconds)
{
    struct own_event *own = (struct own_event *)event;
    own->waits++;
    if (milliseconds < 0) own->over = true;
    return own->over ? kLiteRtStatusOk : kLiteRtStatusErrorTimeoutExpired;
}

static LiteRtStatus is_over(LiteRtCustomEvent event, bool *over)
{
    *over = ((struct own_event *)event)->over;
    return kLiteRtStatusOk;
}

static void buffers_wait_for_their_event(void **state)
{
    struct fixture *f = *state;
    struct own_event own = {{retain, release, wait_for, is_over, NULL}, 0, 0, false};
    LiteRtEvent event = NULL, found = NULL;
    LiteRtCustomEvent custom = NULL;
    LiteRtEventType type;
    LiteRtTensorBuffer buffer = NULL;
    void *memory = NULL;
    bool yes = false;
    assert_int_equal(LiteRtCreateManagedEvent(f->environment, LiteRtEventTypeOpenCl, &event),
                     kLiteRtStatusErrorUnsupported);
    assert_ok(LiteRtCreateManagedEvent(f->environment, LiteRtEventTypeCustom, &event));
    assert_ok(LiteRtIsEventSignaled(event, &yes)); // nothing is under way
    assert_true(yes);
    assert_ok(LiteRtWaitEvent(event, 0));
    assert_int_equal(LiteRtGetCustomEvent(event, &custom), kLiteRtStatusErrorNotFound);
    assert_ok(LiteRtSetCustomEvent(event, &own.head));
    assert_int_equal(own.references, 1);
    assert_ok(LiteRtGetCustomEvent(event, &custom));
    assert_ptr_equal(custom, &own.head);
    assert_ok(LiteRtGetEventEventType(event, &type));
    assert_int_equal(type, LiteRtEventTypeCustom);
    assert_ok(LiteRtIsEventSignaled(event, &yes));
    assert_false(yes);
    assert_int_equal(LiteRtWaitEvent(event, 5), kLiteRtStatusErrorTimeoutExpired);
    assert_ok(LiteRtCreateManagedTensorBuffer(f->environment, kLiteRtTensorBufferTypeHostMemory, &pair, 8, &buffer));
    assert_ok(LiteRtHasTensorBufferEvent(buffer, &yes));
    assert_false(yes);
    assert_int_equal(LiteRtGetTensorBufferEvent(buffer, &found), kLiteRtStatusErrorNotFound);
    assert_ok(LiteRtSetTensorBufferEvent(buffer, event));
    assert_ok(LiteRtHasTensorBufferEvent(buffer, &yes));
    assert_true(yes);
    assert_ok(LiteRtGetTensorBufferEvent(buffer, &found));
    assert_ptr_equal(found, event);
    assert_ok(LiteRtLockTensorBuffer(buffer, &memory, kLiteRtTensorBufferLockModeRead));
    assert_int_equal(own.waits, 2);
    assert_true(own.over);
    assert_ok(LiteRtUnlockTensorBuffer(buffer));
    assert_ok(LiteRtClearTensorBufferEvent(buffer));
    assert_int_equal(own.references, 0);
    LiteRtDestroyTensorBuffer(buffer);
    LiteRtDestroyEvent(NULL);
    assert_int_equal(LiteRtSetCustomEvent(NULL, &own.head), INVALID);
    assert_int_equal(LiteRtSetTensorBufferEvent(NULL, NULL), INVALID);
}

static void metrics_are_copies(void **state)
{
    (void)state;
    LiteRtMetrics metrics = NULL;
    LiteRtMetric metric = {"", {.type = kLiteRtAnyTypeNone}};
    char text[] = "a";
    int count = -1;
    assert_ok(LiteRtCreateMetrics(&metrics));
    for (int i = 0; i < 40; i++) {
        LiteRtMetric added = {text, {.type = kLiteRtAnyTypeInt, .int_value = i}};
        assert_ok(LiteRtAppendMetric(metrics, &added));
    }
    LiteRtMetric named = {"text", {.type = kLiteRtAnyTypeString, .str_value = text}};
    assert_ok(LiteRtAppendMetric(metrics, &named));
    text[0] = 'b';
    assert_ok(LiteRtGetNumMetrics(metrics, &count));
    assert_int_equal(count, 41);
    assert_ok(LiteRtGetMetric(metrics, 39, &metric));
    assert_string_equal(metric.name, "a");
    assert_int_equal(metric.value.int_value, 39);
    assert_ok(LiteRtGetMetric(metrics, 40, &metric));
    assert_string_equal(metric.value.str_value, "a");
    assert_int_equal(LiteRtGetMetric(metrics, 41, &metric), OUTSIDE);
    assert_int_equal(LiteRtGetMetric(metrics, -1, &metric), OUTSIDE);
    named.value.str_value = NULL;
    assert_int_equal(LiteRtAppendMetric(metrics, &named), INVALID);
    assert_int_equal(LiteRtAppendMetric(metrics, NULL), INVALID);
    LiteRtDestroyMetrics(metrics);
    LiteRtDestroyMetrics(NULL);
    assert_int_equal(LiteRtCreateMetrics(NULL), INVALID);
    assert_int_equal(LiteRtGetNumMetrics(NULL, &count), INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_environment_keeps_its_options),
        TEST(accelerators_are_listed),
        TEST(accelerators_of_another_version_are_left_out),
        TEST(opaque_options_are_a_list),
        TEST(models_are_read_from_anywhere),
        TEST(metadata_is_found_and_added),
        TEST(signatures_name_tensors),
        TEST(subgraphs_have_inputs_and_outputs),
        TEST(a_model_without_signatures_has_one),
        TEST(tensors_tell_their_type),
        TEST(quantization_is_told),
        TEST(buffers_hold_host_memory),
        TEST(buffers_of_no_size_are_refused),
        TEST(requirements_join),
        TEST(buffers_wait_for_their_event),
        TEST(metrics_are_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
