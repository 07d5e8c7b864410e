// SPDX-License-Identifier: Apache-2.0
// operator.h and c_api_opaque.h: operators and delegates that see opaque types only.
#include <unistd.h>

#include "client.h"

#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/c_api_opaque.h"

// ---- operators ----------------------------------------------------------------------------------

static void operators_tell_what_they_are(void **state)
{
    (void)state;
    static const char name[] = "Sinh";
    int data;
    TfLiteOperator *op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, name, 3, &data);
    assert_int_equal(TfLiteOperatorGetBuiltInCode(op), kTfLiteBuiltinCustom);
    assert_ptr_equal(TfLiteOperatorGetCustomName(op), name); // programs compare the pointer
    assert_int_equal(TfLiteOperatorGetVersion(op), 3);
    assert_ptr_equal(TfLiteOperatorGetUserData(op), &data);
    TfLiteOperatorDelete(op);
    op = TfLiteOperatorCreate(kTfLiteBuiltinAdd, NULL, 1, NULL);
    assert_null(TfLiteOperatorGetCustomName(op));
    assert_null(TfLiteOperatorGetUserData(op));
    TfLiteOperatorDelete(op);
    op = TfLiteOperatorCreateWithData(kTfLiteBuiltinCustom, name, 2, &data);
    assert_ptr_equal(TfLiteOperatorGetUserData(op), &data);
    assert_int_equal(TfLiteOperatorGetVersion(op), 2);
    TfLiteOperatorDelete(op);

    assert_int_equal(TfLiteOperatorGetVersion(NULL), -1);
    assert_null(TfLiteOperatorGetUserData(NULL));
    assert_int_equal(TfLiteOperatorSetInitWithData(NULL, NULL), kTfLiteError);
    assert_int_equal(TfLiteOperatorSetFreeWithData(NULL, NULL), kTfLiteError);
    assert_int_equal(TfLiteOperatorSetPrepareWithData(NULL, NULL), kTfLiteError);
    assert_int_equal(TfLiteOperatorSetInvokeWithData(NULL, NULL), kTfLiteError);
    assert_int_equal(TfLiteOperatorSetAsyncKernelWithData(NULL, NULL), kTfLiteError);
    TfLiteOperatorDelete(NULL);
}

// An operator that copies its input by way of a scratch tensor, and counts its calls.
static struct {
    void *user_data; // expected in the forms that get it
    int inits, frees, prepares, invokes;
    bool metadata;
} seen;

struct copy_state {
    int temporary;
    char options[16];
};

static void *copy_init(TfLiteOpaqueContext *context, const char *buffer, size_t length)
{
    assert_non_null(context);
    struct copy_state *copy = calloc(1, sizeof *copy);
    assert_true(copy && length < sizeof copy->options);
    if (length) memcpy(copy->options, buffer, length);
    copy->temporary = -1;
    seen.inits++;
    return copy;
}

static void copy_free(TfLiteOpaqueContext *context, void *data)
{
    assert_true(context && data);
    free(data);
    seen.frees++;
}

static TfLiteStatus copy_prepare(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    struct copy_state *copy = TfLiteOpaqueNodeGetUserData(node);
    const TfLiteOpaqueTensor *x = TfLiteOpaqueNodeGetInput(context, node, 0);
    const int *temporaries;
    int count;
    assert_int_equal(TfLiteOpaqueNodeSetTemporaries(node, &copy->temporary, -1), kTfLiteError);
    assert_ok(TfLiteOpaqueNodeSetTemporaries(node, NULL, 0));
    assert_ok(TfLiteOpaqueNodeTemporaries(node, &temporaries, &count));
    assert_int_equal(count, 0);
    if (copy->temporary < 0) {
        TfLiteOpaqueTensorBuilder *builder = TfLiteOpaqueTensorBuilderCreate();
        assert_ptr_equal(TfLiteOpaqueTensorBuilderSetType(builder, kTfLiteFloat32), builder);
        assert_ptr_equal(TfLiteOpaqueTensorBuilderSetAllocationType(builder, kTfLiteArenaRw), builder);
        assert_ok(TfLiteOpaqueContextAddTensor(context, builder, &copy->temporary));
        TfLiteOpaqueTensorBuilderDelete(builder);
        x = TfLiteOpaqueNodeGetInput(context, node, 0); // tensors may have moved
    }
    assert_ok(TfLiteOpaqueNodeSetTemporaries(node, &copy->temporary, 1));
    TfLiteIntArray *dims = TfLiteIntArrayCreate(1), *same = TfLiteIntArrayCreate(1);
    dims->data[0] = same->data[0] = TfLiteOpaqueTensorDim(x, 0);
    TfLiteOpaqueTensor *temporary = TfLiteOpaqueContextGetOpaqueTensor(context, copy->temporary);
    assert_ok(TfLiteOpaqueContextResizeTensor(context, temporary, dims));
    assert_ok(TfLiteOpaqueContextResizeTensor(context, TfLiteOpaqueNodeGetOutput(context, node, 0), same));
    assert_int_equal(dims->data[0], TfLiteOpaqueTensorDim(temporary, 0)); // the array is the tensor's now
    seen.prepares++;
    return kTfLiteOk;
}

static TfLiteStatus copy_invoke(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    const struct copy_state *copy = TfLiteOpaqueNodeGetUserData(node);
    const int *temporaries;
    int count;
    assert_ok(TfLiteOpaqueNodeTemporaries(node, &temporaries, &count));
    assert_int_equal(count, 1);
    assert_int_equal(temporaries[0], copy->temporary);
    TfLiteOpaqueTensor *temporary = TfLiteOpaqueContextGetOpaqueTensor(context, copy->temporary);
    assert_int_equal(TfLiteOpaqueTensorType(temporary), kTfLiteFloat32);
    assert_int_equal(TfLiteOpaqueTensorGetAllocationType(temporary), kTfLiteArenaRw);
    assert_int_equal(TfLiteOpaqueNodeNumberOfInputs(node), 1);
    assert_int_equal(TfLiteOpaqueNodeNumberOfOutputs(node), 1);
    assert_null(TfLiteOpaqueNodeGetInput(context, node, 1));
    assert_null(TfLiteOpaqueNodeGetInput(context, node, -1));
    assert_null(TfLiteOpaqueNodeGetOutput(context, node, 1));
    const TfLiteOpaqueTensor *x = TfLiteOpaqueNodeGetInput(context, node, 0);
    TfLiteOpaqueTensor *y = TfLiteOpaqueNodeGetOutput(context, node, 0);
    size_t bytes = TfLiteOpaqueTensorByteSize(x);
    assert_int_equal(TfLiteOpaqueTensorByteSize(temporary), bytes);
    assert_ok(TfLiteOpaqueTensorCopyFromBuffer(temporary, TfLiteOpaqueTensorData(x), bytes));
    assert_ok(TfLiteOpaqueTensorCopyToBuffer(temporary, TfLiteOpaqueTensorData(y), bytes));
    assert_int_equal(TfLiteOpaqueTensorCopyFromBuffer(y, TfLiteOpaqueTensorData(x), bytes - 1), kTfLiteError);
    if (seen.metadata) {
        const char *data;
        size_t size;
        assert_ok(TfLiteOpaqueContextGetMetadata(context, "note", &data, &size));
        assert_int_equal(size, 5);
        assert_memory_equal(data, "hello", 5);
        assert_int_equal(TfLiteOpaqueContextGetMetadata(context, "other", &data, &size), kTfLiteError);
    }
    seen.invokes++;
    return kTfLiteOk;
}

static void *copy_init_with_data(void *user_data, TfLiteOpaqueContext *context, const char *buffer, size_t length)
{
    assert_ptr_equal(user_data, seen.user_data);
    return copy_init(context, buffer, length);
}

static void copy_free_with_data(void *user_data, TfLiteOpaqueContext *context, void *data)
{
    assert_ptr_equal(user_data, seen.user_data);
    copy_free(context, data);
}

static TfLiteStatus copy_prepare_with_data(void *user_data, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    assert_ptr_equal(user_data, seen.user_data);
    return copy_prepare(context, node);
}

static TfLiteStatus copy_invoke_with_data(void *user_data, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    assert_ptr_equal(user_data, seen.user_data);
    return copy_invoke(context, node);
}

#define COPY(x, y)                                                                                                 \
    {                                                                                                              \
        .builtin = kTfLiteBuiltinCustom, .custom = "Copy", TEST_INPUTS(x), TEST_OUTPUTS(y), .options = "use_cosh", \
        .option_bytes = 8                                                                                          \
    }
static const struct test_tensor copy_tensors[] = {FLOATS("x", 1), FLOATS("m", 1), FLOATS("y", 1)};
static const struct test_node copy_nodes[] = {COPY(0, 1), COPY(1, 2)};
static const struct test_metadata copy_metadata[] = {{"empty", "", 1}, {"note", "hello", 5}};
static const struct test_model copies = {
    TEST_TENSORS(copy_tensors), TEST_NODES(copy_nodes),    TEST_INPUTS(0), TEST_OUTPUTS(2),
    .metadata_count = 2,        .metadata = copy_metadata,
};

static TfLiteOperator *copy_operator(bool with_data, void *user_data)
{
    TfLiteOperator *op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Copy", 1, user_data);
    if (with_data) {
        assert_ok(TfLiteOperatorSetInitWithData(op, copy_init_with_data));
        assert_ok(TfLiteOperatorSetFreeWithData(op, copy_free_with_data));
        assert_ok(TfLiteOperatorSetPrepareWithData(op, copy_prepare_with_data));
        assert_ok(TfLiteOperatorSetInvokeWithData(op, copy_invoke_with_data));
    } else {
        TfLiteOperatorSetInit(op, copy_init);
        TfLiteOperatorSetFree(op, copy_free);
        TfLiteOperatorSetPrepare(op, copy_prepare);
        TfLiteOperatorSetInvoke(op, copy_invoke);
    }
    return op;
}

static void operators_run(void **state)
{
    (void)state;
    int data;
    for (int form = 0; form < 3; form++) { // plain; with data that is NULL; with data
        memset(&seen, 0, sizeof seen);
        seen.user_data = form == 2 ? &data : NULL;
        seen.metadata = true;
        TfLiteOperator *op = copy_operator(form > 0, seen.user_data);
        struct client c;
        client_load(&c, &copies);
        TfLiteInterpreterOptionsAddOperator(c.options, op);
        client_create(&c);
        assert_int_equal(seen.inits, 2); // one for each node
        for (int length = 1; length < 4; length++) {
            client_resize(&c, 0, length);
            assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
            const float x[3] = {42, -1, 0.5f};
            float y[3];
            size_t bytes = (size_t)length * sizeof(float);
            client_set(&c, 0, x, bytes);
            assert_ok(TfLiteInterpreterInvoke(c.interpreter));
            client_get(&c, 0, y, bytes);
            assert_memory_equal(x, y, bytes);
        }
        assert_int_equal(seen.prepares, 6);
        assert_int_equal(seen.invokes, 6);
        client_end(&c);
        assert_int_equal(seen.frees, 2);
        TfLiteOperatorDelete(op);
    }
}

// ---- strings ------------------------------------------------------------------------------------

// y holds the strings of both inputs; on its way it holds one of them.
static TfLiteStatus join_invoke(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    const TfLiteOpaqueTensor *a = TfLiteOpaqueNodeGetInput(context, node, 0),
                             *b = TfLiteOpaqueNodeGetInput(context, node, 1);
    TfLiteOpaqueTensor *y = TfLiteOpaqueNodeGetOutput(context, node, 0);
    const char *text[8];
    int lengths[8], count = TfLiteOpaqueTensorGetStringCount(a);
    assert_true(count >= 0 && count < 8);
    assert_int_equal(TfLiteOpaqueTensorGetStringCount(b), 1);
    for (int i = 0; i < count; i++) assert_ok(TfLiteOpaqueTensorGetString(a, i, &text[i], &lengths[i]));
    assert_int_equal(TfLiteOpaqueTensorGetString(a, count, &text[count], &lengths[count]), kTfLiteError);
    assert_int_equal(TfLiteOpaqueTensorGetString(a, -1, &text[count], &lengths[count]), kTfLiteError);
    assert_ok(TfLiteOpaqueTensorGetString(b, 0, &text[count], &lengths[count]));
    assert_ok(TfLiteOpaqueTensorWriteString(y, text[count], lengths[count]));
    assert_int_equal(TfLiteOpaqueTensorGetStringCount(y), 1);
    return TfLiteOpaqueTensorWriteStrings(y, text, count + 1, lengths);
}

static void strings(void **state)
{
    (void)state;
#define STRINGS(label)                                               \
    {                                                                \
        .name = label, .type = TEST_STRING, .rank = 1, .dims = { 1 } \
    }
    static const struct test_tensor tensors[] = {STRINGS("a"), STRINGS("b"), STRINGS("y")};
    static const struct test_node nodes[] = {
        {.builtin = kTfLiteBuiltinCustom, .custom = "Join", TEST_INPUTS(0, 1), TEST_OUTPUTS(2)}};
    static const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(0, 1),
                                            TEST_OUTPUTS(2)};
    TfLiteOperator *op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Join", 1, NULL);
    TfLiteOperatorSetInvoke(op, join_invoke);
    struct client c;
    client_load(&c, &model);
    TfLiteInterpreterOptionsAddOperator(c.options, op);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    TfLiteOpaqueTensor *a = (TfLiteOpaqueTensor *)TfLiteInterpreterGetInputTensor(c.interpreter, 0);
    TfLiteOpaqueTensor *b = (TfLiteOpaqueTensor *)TfLiteInterpreterGetInputTensor(c.interpreter, 1);
    assert_int_equal(TfLiteOpaqueTensorGetAllocationType(a), kTfLiteDynamic);
    assert_int_equal(TfLiteOpaqueTensorGetStringCount(a), -1); // nothing in it yet
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);

    static const char *const words[] = {"ABC", "DDD\0EE", "", "1234"}; // zeros inside and empty ones are fine
    static const int lengths[] = {3, 6, 0, 4};
    const TfLiteOpaqueTensor *y = (const TfLiteOpaqueTensor *)TfLiteInterpreterGetOutputTensor(c.interpreter, 0);
    for (int count = 4; count >= 0; count--) {
        assert_ok(TfLiteOpaqueTensorWriteStrings(a, words, count, lengths));
        assert_ok(TfLiteOpaqueTensorWriteString(b, "XYZ", 3));
        assert_int_equal(TfLiteOpaqueTensorNumDims(a), 1);
        assert_int_equal(TfLiteOpaqueTensorDim(a, 0), count);
        assert_ok(TfLiteInterpreterInvoke(c.interpreter));
        assert_int_equal(TfLiteOpaqueTensorGetStringCount(y), count + 1);
        for (int i = 0; i <= count; i++) {
            const char *text;
            int length, expected = i == count ? 3 : lengths[i];
            assert_ok(TfLiteOpaqueTensorGetString(y, i, &text, &length));
            assert_int_equal(length, expected);
            if (expected) assert_memory_equal(text, i == count ? "XYZ" : words[i], (size_t)expected);
        }
    }
    assert_int_equal(TfLiteOpaqueTensorWriteStrings(a, words, -1, lengths), kTfLiteError);
    assert_int_equal(TfLiteOpaqueTensorWriteString(a, "x", -1), kTfLiteError);
    client_end(&c);

    client_begin(&c, &triple); // not a tensor of strings
    TfLiteOpaqueTensor *x = (TfLiteOpaqueTensor *)TfLiteInterpreterGetInputTensor(c.interpreter, 0);
    assert_int_equal(TfLiteOpaqueTensorGetStringCount(x), -1);
    assert_int_equal(TfLiteOpaqueTensorWriteString(x, "a", 1), kTfLiteError);
    client_end(&c);
    TfLiteOperatorDelete(op);
}

// ---- what a delegate sees -----------------------------------------------------------------------

#define WITH_SIGNATURE(label, variable)                                                                              \
    {                                                                                                                \
        .name = label, .type = TEST_FLOAT32, .rank = 2, .dims = {1, 3}, .has_signature = true, .signature = {-1, 3}, \
        .scale = 1, .is_variable = variable                                                                          \
    }
static const struct test_tensor looked_at_tensors[] = {WITH_SIGNATURE("a", false),
                                                       WITH_SIGNATURE("b", true),
                                                       {.name = "c", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 3}}};
static const struct test_node looked_at_nodes[] = {NODE_2_1(kTfLiteBuiltinAdd, 0, 1, 2)};
static const struct test_model looked_at = {
    .name = "TheName", TEST_TENSORS(looked_at_tensors), TEST_NODES(looked_at_nodes), TEST_INPUTS(0), TEST_OUTPUTS(2)};

static void look_at_tensors(TfLiteOpaqueContext *context)
{
    const TfLiteOpaqueTensor *a = TfLiteOpaqueContextGetOpaqueTensor(context, 0);
    int32_t number = 0;
    assert_int_equal(TfLiteOpaqueTensorNumDims(a), 2);
    assert_int_equal(TfLiteOpaqueTensorDim(a, 1), 3);
    assert_ok(TfLiteOpaqueTensorGetNumDimsSignature(a, &number));
    assert_int_equal(number, 2);
    assert_ok(TfLiteOpaqueTensorGetDimSignature(a, 0, &number));
    assert_int_equal(number, -1);
    assert_ok(TfLiteOpaqueTensorGetDimSignature(a, 1, &number));
    assert_int_equal(number, 3);
    const TfLiteOpaqueTensor *c = TfLiteOpaqueContextGetOpaqueTensor(context, 2);
    assert_ok(TfLiteOpaqueTensorGetNumDimsSignature(c, &number)); // all lengths are fixed
    assert_int_equal(number, 0);
    assert_ok(TfLiteOpaqueTensorGetDimSignature(c, 0, &number));
    assert_int_equal(number, -1);
    assert_string_equal(TfLiteOpaqueTensorName(a), "a");
    assert_int_equal(TfLiteOpaqueTensorGetAllocationType(a), kTfLiteArenaRw);
    assert_true(TfLiteOpaqueTensorGetQuantizationParams(a).scale == 1);
    assert_int_equal(TfLiteOpaqueTensorGetQuantization(a).type, kTfLiteAffineQuantization);
    assert_false(TfLiteOpaqueTensorIsVariable(a));
    assert_true(TfLiteOpaqueTensorIsVariable(TfLiteOpaqueContextGetOpaqueTensor(context, 1)));
    assert_null(TfLiteOpaqueContextGetOpaqueTensor(context, -1));
    assert_null(TfLiteOpaqueContextGetOpaqueTensor(context, 1000));
    assert_null(TfLiteOpaqueTensorData(NULL));
}

// A tensor that is added has no shape until it gets one.
static int add_tensor(TfLiteOpaqueContext *context, TfLiteAllocationType allocation, void *data, TfLiteStatus expected)
{
    TfLiteAffineQuantization *affine = NULL;
    TfLiteOpaqueTensorBuilder *builder = TfLiteOpaqueTensorBuilderCreate();
    TfLiteOpaqueTensorBuilderSetType(builder, kTfLiteUInt8);
    TfLiteOpaqueTensorBuilderSetAllocationType(builder, allocation);
    TfLiteOpaqueTensorBuilderSetData(builder, data);
    TfLiteOpaqueTensorBuilderSetQuantizationParams(builder, (TfLiteQuantizationParams){16.0f / 256, 255});
    if (expected == kTfLiteOk) {
        affine = malloc(sizeof *affine);
        affine->scale = TfLiteFloatArrayCreate(1);
        affine->zero_point = TfLiteIntArrayCreate(1);
        TfLiteOpaqueTensorBuilderSetQuantization(builder, (TfLiteQuantization){kTfLiteAffineQuantization, affine});
    }
    int index = -1;
    assert_int_equal(TfLiteOpaqueContextAddTensor(context, builder, &index), expected);
    TfLiteOpaqueTensorBuilderDelete(builder);
    if (expected != kTfLiteOk) return -1;
    const TfLiteOpaqueTensor *tensor = TfLiteOpaqueContextGetOpaqueTensor(context, index);
    int32_t number = 0;
    assert_int_equal(TfLiteOpaqueTensorNumDims(tensor), -1);
    assert_ok(TfLiteOpaqueTensorGetNumDimsSignature(tensor, &number));
    assert_int_equal(number, -1);
    assert_int_equal(TfLiteOpaqueTensorType(tensor), kTfLiteUInt8);
    assert_ptr_equal(TfLiteOpaqueTensorData(tensor), data);
    assert_int_equal(TfLiteOpaqueTensorGetAllocationType(tensor), allocation);
    assert_ptr_equal(TfLiteOpaqueTensorGetQuantization(tensor).params, affine);
    assert_int_equal(TfLiteOpaqueTensorGetQuantizationParams(tensor).zero_point, 255);
    return index;
}

static void look_at_context(TfLiteOpaqueContext *context)
{
    const int *list;
    int count;
    assert_string_equal(TfLiteOpaqueContextGetName(context), "TheName");
    assert_ok(TfLiteOpaqueContextGetInputs(context, &list, &count));
    assert_true(count == 1 && list[0] == 0);
    assert_ok(TfLiteOpaqueContextGetOutputs(context, &list, &count));
    assert_true(count == 1 && list[0] == 2);
    assert_ok(TfLiteOpaqueContextGetVariables(context, &list, &count));
    assert_true(count == 1 && list[0] == 1);
    void *external = &list;
    assert_ok(TfLiteOpaqueContextGetExternalContext(context, &external, kTfLiteCpuBackendContext));
    assert_null(external);
    static const struct {
        TfLiteType type;
        size_t bytes;
    } sizes[] = {{kTfLiteFloat32, 4}, {kTfLiteInt8, 1},        {kTfLiteBool, 1}, {kTfLiteFloat16, 2},
                 {kTfLiteInt64, 8},   {kTfLiteComplex128, 16}, {kTfLiteInt4, 1}, {kTfLiteResource, 4}};
    size_t bytes;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_ok(TfLiteOpaqueContextGetSizeOfType(context, sizes[i].type, &bytes));
        assert_int_equal(bytes, sizes[i].bytes);
    }
    assert_int_equal(TfLiteOpaqueContextGetSizeOfType(context, kTfLiteString, &bytes), kTfLiteError);
    assert_int_equal(TfLiteOpaqueContextGetSizeOfType(context, kTfLiteNoType, &bytes), kTfLiteError);
    assert_int_equal(TfLiteOpaqueContextGetSizeOfType(NULL, kTfLiteString, &bytes), kTfLiteError);
}

static void look_at_node(TfLiteOpaqueContext *context, int index)
{
    TfLiteOpaqueNode *node;
    TfLiteOperator *op, *again;
    const int *list;
    const void *data = &node;
    int count;
    assert_ok(TfLiteOpaqueContextGetNodeAndRegistration(context, index, &node, &op));
    assert_ok(TfLiteOpaqueContextGetNodeAndRegistration(context, index, &node, &again));
    assert_ptr_equal(op, again);
    assert_int_equal(TfLiteOperatorGetBuiltInCode(op), kTfLiteBuiltinAdd);
    assert_null(TfLiteOperatorGetCustomName(op));
    assert_int_equal(TfLiteOperatorGetVersion(op), 1);
    assert_ok(TfLiteOpaqueNodeGetCustomInitialData(node, &data, &count));
    assert_true(data == NULL && count == 0);
    assert_int_equal(((TfLiteAddParams *)TfLiteOpaqueNodeGetBuiltinData(node))->activation, kTfLiteActNone);
    assert_ok(TfLiteOpaqueNodeInputs(node, &list, &count));
    assert_true(count == 2 && list[0] == 0 && list[1] == 1);
    assert_ok(TfLiteOpaqueNodeOutputs(node, &list, &count));
    assert_true(count == 1 && list[0] == 2);
    assert_ok(TfLiteOpaqueNodeTemporaries(node, &list, &count));
    assert_int_equal(TfLiteOpaqueNodeGetInputTensorIndex(node, 1), 1);
    assert_int_equal(TfLiteOpaqueNodeGetInputTensorIndex(node, 2), -1);
    assert_int_equal(TfLiteOpaqueNodeGetInputTensorIndex(node, -1), -1);
    assert_int_equal(TfLiteOpaqueNodeGetOutputTensorIndex(node, 0), 2);
    assert_int_equal(TfLiteOpaqueNodeGetOutputTensorIndex(node, 123), -1);
    assert_int_equal(TfLiteOpaqueNodeGetOutputTensorIndex(node, -1), -1);
    assert_int_equal(TfLiteOpaqueContextGetNodeAndRegistration(context, 1000, &node, &op), kTfLiteError);
    assert_int_equal(TfLiteOpaqueContextGetNodeAndRegistration(context, -1, &node, &op), kTfLiteError);
}

static const TfLiteOpaqueDelegateParams *kept_params;

static void *looker_init(void *user_data, TfLiteOpaqueContext *context, const char *buffer, size_t length)
{
    (void)user_data;
    (void)length;
    const TfLiteOpaqueDelegateParams *params = (const void *)buffer;
    assert_int_equal(params->nodes_to_replace->size, 1);
    assert_int_equal(params->input_tensors->size, 2);
    assert_int_equal(params->output_tensors->size, 1);
    look_at_tensors(context);
    look_at_context(context);
    look_at_node(context, params->nodes_to_replace->data[0]);
    assert_int_equal(TfLiteOpaqueContextGetNumTensors(context), 3);
    assert_int_equal(TfLiteOpaqueContextGetNumNodes(context), 2); // the kernel's own is there already

    TfLiteOpaqueContext *acquired;
    assert_ok(TfLiteOpaqueContextAcquireSubgraphContext(context, 0, &acquired));
    assert_ptr_equal(acquired, context);
    assert_ok(TfLiteOpaqueContextReleaseSubgraphContext(context, 0));
    add_tensor(context, kTfLiteDynamic, malloc(1), kTfLiteOk);
    int index = add_tensor(context, kTfLiteArenaRw, NULL, kTfLiteOk);
    TfLiteOpaqueTensor *tensor = TfLiteOpaqueContextGetOpaqueTensor(context, index);
    TfLiteOpaqueTensorSetAllocationTypeToDynamic(tensor);
    assert_int_equal(TfLiteOpaqueTensorGetAllocationType(tensor), kTfLiteDynamic);
    add_tensor(context, kTfLiteVariantObject, NULL, kTfLiteError);
    add_tensor(context, kTfLiteArenaRw, &index, kTfLiteError); // memory that the runtime is to provide
    assert_int_equal(TfLiteOpaqueContextGetNumTensors(context), 5);

    kept_params = params;
    *(bool *)params->delegate_data = true;
    return NULL;
}

// The params live as long as the node does.
static TfLiteStatus looker_prepare(void *user_data, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    (void)user_data;
    (void)context;
    assert_ptr_equal(TfLiteOpaqueNodeGetBuiltinData(node), kept_params);
    assert_int_equal(kept_params->nodes_to_replace->size, 1);
    assert_int_equal(kept_params->output_tensors->data[0], 2);
    return kTfLiteOk;
}

static TfLiteStatus look(TfLiteOpaqueContext *context, TfLiteOpaqueDelegate *delegate, void *data)
{
    TfLiteIntArray *plan;
    *(bool *)data = false;
    assert_ok(TfLiteOpaqueContextGetExecutionPlan(context, &plan));
    TfLiteOperator *kernel = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, NULL, 123, NULL); // a name is not needed
    TfLiteOperatorSetInitWithData(kernel, looker_init);
    TfLiteOperatorSetPrepareWithData(kernel, looker_prepare);
    assert_ok(TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(context, kernel, plan, delegate));
    assert_ok(TfLiteOpaqueContextReleaseSubgraphContext(context, 0));
    return kTfLiteOk;
}

static void delegates_look_around(void **state)
{
    (void)state;
    bool looked = false;
    TfLiteOpaqueDelegateBuilder builder = {.data = &looked, .Prepare = look};
    TfLiteDelegate delegate = {.opaque_delegate_builder = &builder}; // as C++ programs make them
    struct client c;
    client_begin(&c, &looked_at);
    assert_ok(TfLiteInterpreterModifyGraphWithDelegate(c.interpreter, &delegate));
    assert_true(looked);
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError); // the kernel has no invoke
    client_end(&c);
}

// ---- operators of delegates belong to the runtime -----------------------------------------------

static bool take_nothing, fail_after;

static void *keep_params(void *user_data, TfLiteOpaqueContext *context, const char *buffer, size_t length)
{
    (void)length;
    const TfLiteOpaqueDelegateParams *params = (const void *)buffer;
    assert_non_null(context);
    assert_ptr_equal(params->delegate_data, user_data);
    assert_ptr_equal(TfLiteOpaqueDelegateGetData(params->delegate), user_data);
    int *inits = user_data;
    ++*inits;
    return malloc(1);
}

static void free_state(void *user_data, TfLiteOpaqueContext *context, void *data)
{
    assert_non_null(context);
    int *inits = user_data;
    --*inits;
    free(data);
}

static TfLiteStatus triple_it(void *user_data, TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    assert_non_null(user_data);
    const TfLiteOpaqueTensor *x = TfLiteOpaqueNodeGetInput(context, node, 0);
    float *y = TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetOutput(context, node, 0));
    const float *values = TfLiteOpaqueTensorData(x);
    for (size_t i = 0; i < TfLiteOpaqueTensorByteSize(x) / sizeof(float); i++) y[i] = 3 * values[i];
    return kTfLiteOk;
}

static TfLiteStatus take_all(TfLiteOpaqueContext *context, TfLiteOpaqueDelegate *delegate, void *data)
{
    TfLiteIntArray *plan, *none = TfLiteIntArrayCreate(0);
    assert_ok(TfLiteOpaqueContextGetExecutionPlan(context, &plan));
    assert_int_equal(plan->size, 2);
    TfLiteOperator *kernel = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, "Triple", 1, data);
    TfLiteOperatorSetInitWithData(kernel, keep_params);
    TfLiteOperatorSetFreeWithData(kernel, free_state);
    TfLiteOperatorSetInvokeWithData(kernel, triple_it);
    TfLiteStatus status =
        TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(context, kernel, take_nothing ? none : plan, delegate);
    TfLiteIntArrayFree(none);
    TF_LITE_OPAQUE_ENSURE_STATUS(status);
    TF_LITE_OPAQUE_MAYBE_KERNEL_LOG(context, "kernel number %d", 7);
    TF_LITE_OPAQUE_ENSURE_MSG(context, !fail_after, "cannot go on");
    return kTfLiteOk;
}

static void delegates_take_nodes(void **state)
{
    (void)state;
    int alive = 0;
    TfLiteOpaqueDelegateBuilder builder = {.data = &alive, .Prepare = take_all};
    TfLiteOpaqueDelegate *delegate = TfLiteOpaqueDelegateCreate(&builder);
    for (int way = 0; way < 3; way++) {
        take_nothing = way == 1;
        fail_after = way == 2;
        struct client c;
        client_load(&c, &triple);
        TfLiteInterpreterOptionsAddDelegate(c.options, delegate);
        c.interpreter = TfLiteInterpreterCreate(c.model, c.options);
        assert_non_null(strstr(c.log.text, "kernel number 7\n"));
        assert_int_equal(alive, way == 0);
        if (way == 2) {
            assert_null(c.interpreter);
            assert_non_null(strstr(c.log.text, "test_opaque.c"));
            assert_non_null(strstr(c.log.text, "cannot go on\n"));
            assert_non_null(
                strstr(c.log.text, "Restored original execution plan after delegate application failure.\n"));
        } else {
            for (int length = 4; length < 7; length++) { // taken off and put on again by each resize
                run_triple(&c);
                client_resize(&c, 0, length + 1);
            }
            run_triple(&c);
            assert_int_equal(alive, way == 0);
        }
        client_end(&c);
        assert_int_equal(alive, 0);
    }
    TfLiteOpaqueDelegateDelete(delegate);
}

// ---- several subgraphs --------------------------------------------------------------------------

static int prepared_subgraphs, skip;

static TfLiteStatus visit(TfLiteOpaqueContext *context, TfLiteOpaqueDelegate *delegate, void *data)
{
    (void)delegate;
    (void)data;
    prepared_subgraphs++;
    if (strcmp(TfLiteOpaqueContextGetName(context), "main") != 0) return kTfLiteOk;
    TfLiteOpaqueContext *acquired = NULL;
    assert_int_equal(TfLiteOpaqueContextAcquireSubgraphContext(context, -1, &acquired), kTfLiteError);
    assert_int_equal(TfLiteOpaqueContextAcquireSubgraphContext(context, 3, &acquired), kTfLiteError);
    assert_null(acquired);
    assert_ok(TfLiteOpaqueContextAcquireSubgraphContext(context, 1, &acquired));
    TfLiteIntArray *plan;
    assert_ok(TfLiteOpaqueContextGetExecutionPlan(acquired, &plan));
    assert_int_equal(plan->size, 2);
    assert_string_equal(TfLiteOpaqueContextGetName(acquired), "branch");
    assert_ok(TfLiteOpaqueContextReleaseSubgraphContext(context, 1));
    assert_int_equal(TfLiteOpaqueContextGetExecutionPlan(acquired, &plan), kTfLiteError);
    assert_int_equal(TfLiteOpaqueContextReleaseSubgraphContext(context, 3), kTfLiteError);
    assert_int_equal(TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(context, 0), kTfLiteError);
    assert_int_equal(TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(context, 3), kTfLiteError);
    assert_int_equal(TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(context, -1), kTfLiteError);
    if (skip) assert_ok(TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(context, skip));
    return kTfLiteOk;
}

static void subgraphs_can_be_skipped(void **state)
{
    (void)state;
    struct test_model more[2] = {triple, triple}, model = triple;
    more[0].name = "branch";
    more[1].name = "VALIDATION:main"; // never shown to delegates
    model.more_count = 2;
    model.more = more;
    for (skip = 0; skip < 2; skip++) {
        prepared_subgraphs = 0;
        TfLiteOpaqueDelegateBuilder builder = {.Prepare = visit};
        TfLiteOpaqueDelegate *delegate = TfLiteOpaqueDelegateCreate(&builder);
        struct client c;
        client_load(&c, &model);
        TfLiteInterpreterOptionsAddDelegate(c.options, delegate);
        client_create(&c);
        assert_int_equal(prepared_subgraphs, 2 - skip);
        run_triple(&c);
        client_end(&c);
        TfLiteOpaqueDelegateDelete(delegate);
    }
}

// ---- options of a node in the model's file ------------------------------------------------------

static bool in_file;

static TfLiteStatus find_options(TfLiteOpaqueContext *context, TfLiteOpaqueDelegate *delegate, void *data)
{
    (void)delegate;
    ++*(int *)data;
    TfLiteOpaqueNode *node;
    TfLiteOperator *op;
    assert_ok(TfLiteOpaqueContextGetNodeAndRegistration(context, 0, &node, &op));
    int fd = 1000;
    int64_t offset = 0, size = 0;
    TfLiteStatus status = TfLiteOpaqueContextGetNodeInitDataMmapInfo(context, node, &fd, &offset, &size);
    assert_int_equal(status, in_file ? kTfLiteOk : kTfLiteError);
    assert_true(in_file ? fd >= 0 : fd == -1);
    assert_true(offset == -1 && size == -1); // a built-in operator has none
    return kTfLiteOk;
}

static void options_in_the_file(void **state)
{
    (void)state;
    int looked = 0;
    TfLiteOpaqueDelegateBuilder builder = {.data = &looked, .Prepare = find_options};
    TfLiteOpaqueDelegate *delegate = TfLiteOpaqueDelegateCreate(&builder);
    struct client c;
    client_load(&c, &triple);
    TfLiteInterpreterOptionsAddDelegate(c.options, delegate);
    in_file = false;
    client_create(&c);
    TfLiteInterpreterDelete(c.interpreter);

    size_t length;
    free(c.file);
    c.file = test_model_write(&triple, &length);
    char path[] = "/tmp/halite_test_opaque_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, c.file, length), length);
    close(file);
    TfLiteModelDelete(c.model);
    c.model = TfLiteModelCreateFromFile(path);
    assert_non_null(c.model);
    in_file = true;
    client_create(&c);
    assert_int_equal(looked, 2);
    run_triple(&c);
    client_end(&c);
    unlink(path);
    TfLiteOpaqueDelegateDelete(delegate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_tell_what_they_are),
        cmocka_unit_test(operators_run),
        cmocka_unit_test(strings),
        cmocka_unit_test(delegates_look_around),
        cmocka_unit_test(delegates_take_nodes),
        cmocka_unit_test(subgraphs_can_be_skipped),
        cmocka_unit_test(options_in_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
