// SPDX-License-Identifier: Apache-2.0
// c_api_experimental.h without delegates: operators of the caller, lookup functions, memory of the application. What
// concerns delegates is in test_delegation.c.
#include "client.h"

#include <math.h>
#include <stdint.h>

#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/c_api_opaque.h"
#include "tensorflow/lite/core/async/interop/c/types.h"
#include "tensorflow/lite/profiling/telemetry/c/profiler.h"

// ---- operators of the caller --------------------------------------------------------------------

static int no_op_runs;

static TfLiteStatus no_op(TfLiteContext *context, TfLiteNode *node)
{
    assert_true(context && node);
    no_op_runs++;
    return kTfLiteOk;
}

static TfLiteStatus opaque_no_op(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    assert_true(context && node);
    no_op_runs++;
    return kTfLiteOk;
}

static const TfLiteRegistration no_op_registration = {.invoke = no_op};

static void built_in_operators_are_replaced(void **state)
{
    (void)state;
    for (int selected = 0; selected < 2; selected++) {
        struct client c;
        client_load(&c, &triple);
        TfLiteInterpreterOptionsAddBuiltinOp(c.options, kTfLiteBuiltinAdd, &no_op_registration, 1, 1);
        TfLiteInterpreterOptionsSetUseNNAPI(c.options, true); // without effect here
        c.interpreter = selected ? TfLiteInterpreterCreateWithSelectedOps(c.model, c.options)
                                 : TfLiteInterpreterCreate(c.model, c.options);
        assert_non_null(c.interpreter);
        assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
        assert_ok(TfLiteInterpreterResetVariableTensors(c.interpreter));
        no_op_runs = 0;
        assert_ok(TfLiteInterpreterInvoke(c.interpreter));
        assert_int_equal(no_op_runs, 2);
        client_end(&c);
    }
}

// What was added for other versions does not count, and what was added last does.
static void versions_of_operators(void **state)
{
    (void)state;
    struct client c;
    client_load(&c, &triple);
    TfLiteInterpreterOptionsAddBuiltinOp(c.options, kTfLiteBuiltinAdd, &no_op_registration, 2, 9);
    TfLiteInterpreterOptionsAddCustomOp(c.options, "ADD", &no_op_registration, 1, 9);
    client_create(&c);
    run_triple(&c); // the library's own
    client_end(&c);

    client_load(&c, &triple);
    TfLiteInterpreterOptionsAddBuiltinOp(c.options, kTfLiteBuiltinAdd, &(TfLiteRegistration){0}, 1, 9);
    TfLiteInterpreterOptionsAddBuiltinOp(c.options, kTfLiteBuiltinAdd, &no_op_registration, 1, 1);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_end(&c);
}

static void missing_operators(void **state)
{
    (void)state;
    struct client c;
    client_load(&c, &triple);
    assert_null(TfLiteInterpreterCreateWithSelectedOps(c.model, c.options));
    assert_non_null(strstr(c.log.text, "Didn't find op for builtin opcode 'ADD' version '1'."));
    assert_int_equal(c.log.count, 2);
    assert_null(TfLiteInterpreterCreateWithSelectedOps(NULL, c.options));
    TfLiteInterpreterOptionsAddBuiltinOp(NULL, kTfLiteBuiltinAdd, &no_op_registration, 1, 1);
    TfLiteInterpreterOptionsAddBuiltinOp(c.options, kTfLiteBuiltinAdd, NULL, 1, 1);
    TfLiteInterpreterOptionsAddCustomOp(NULL, "x", &no_op_registration, 1, 1);
    TfLiteInterpreterOptionsAddCustomOp(c.options, NULL, &no_op_registration, 1, 1);
    TfLiteInterpreterOptionsSetUseNNAPI(NULL, true);
    TfLiteInterpreterOptionsSetEnableDelegateFallback(NULL, true);
    TfLiteInterpreterOptionsSetTelemetryProfiler(NULL, NULL);
    TfLiteInterpreterOptionsSetOpResolver(NULL, NULL, NULL, NULL);
    client_create(&c); // none of these did anything
    run_triple(&c);
    client_end(&c);
}

// ---- lookup functions ---------------------------------------------------------------------------

// A model with one operator of each kind: m = x + x, y = Twice(m).
static const struct test_tensor mixed_tensors[] = {FLOATS("x", 2), FLOATS("m", 2), FLOATS("y", 2)};
static const struct test_node mixed_nodes[] = {
    NODE_2_1(kTfLiteBuiltinAdd, 0, 0, 1),
    {.builtin = kTfLiteBuiltinCustom, .custom = "Twice", TEST_INPUTS(1), TEST_OUTPUTS(2)}};
static const struct test_model mixed = {TEST_TENSORS(mixed_tensors), TEST_NODES(mixed_nodes), TEST_INPUTS(0),
                                        TEST_OUTPUTS(2)};

static TfLiteStatus twice(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *x = &context->tensors[node->inputs->data[0]];
    TfLiteTensor *y = &context->tensors[node->outputs->data[0]];
    for (int i = 0; i < 2; i++) y->data.f[i] = 2 * x->data.f[i];
    return kTfLiteOk;
}

static TfLiteStatus opaque_twice(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node)
{
    const float *x = TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetInput(context, node, 0));
    float *y = TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetOutput(context, node, 0));
    for (int i = 0; i < 2; i++) y[i] = 2 * x[i];
    return kTfLiteOk;
}

// Who is asked, and by which of the five forms.
static struct lookup {
    int builtin, custom;
    bool knows;
    TfLiteOperator *op;
} lookup;

// Programs of each age pass structs of their size, without a byte behind; the last two have fields that are noise.
static const TfLiteRegistration_V1 twice_v1 = {.invoke = twice};
static const TfLiteRegistration_V2 twice_v2 = {.invoke = twice};
static const TfLiteRegistration_V3 twice_v3 = {.invoke = twice};
static const TfLiteRegistration twice_now = {.invoke = twice,
                                             .builtin_code = 99,
                                             .custom_name = "noise",
                                             .version = 77};

#define FIND(type, suffix)                                                                      \
    static const type *builtin_##suffix(void *user_data, TfLiteBuiltinOperator op, int version) \
    {                                                                                           \
        struct lookup *asked = user_data;                                                       \
        assert_true(op == kTfLiteBuiltinAdd && version == 1);                                   \
        asked->builtin++;                                                                       \
        return asked->knows ? &twice_##suffix : NULL;                                           \
    }                                                                                           \
    static const type *custom_##suffix(void *user_data, const char *op, int version)            \
    {                                                                                           \
        struct lookup *asked = user_data;                                                       \
        assert_true(strcmp(op, "Twice") == 0 && version == 1);                                  \
        asked->custom++;                                                                        \
        return asked->knows ? &twice_##suffix : NULL;                                           \
    }

FIND(TfLiteRegistration_V1, v1)
FIND(TfLiteRegistration_V2, v2)
FIND(TfLiteRegistration_V3, v3)
FIND(TfLiteRegistration, now)

static const TfLiteOperator *builtin_operator(void *user_data, int op, int version)
{
    struct lookup *asked = user_data;
    assert_true(op == kTfLiteBuiltinAdd && version == 1);
    asked->builtin++;
    return asked->op;
}

static const TfLiteOperator *custom_operator(void *user_data, const char *op, int version)
{
    struct lookup *asked = user_data;
    assert_true(strcmp(op, "Twice") == 0 && version == 1);
    asked->custom++;
    return asked->op;
}

static void set_lookup(TfLiteInterpreterOptions *options, int form)
{
    switch (form) {
    case 0: TfLiteInterpreterOptionsSetOpResolverV1(options, builtin_v1, custom_v1, &lookup); break;
    case 1: TfLiteInterpreterOptionsSetOpResolverV2(options, builtin_v2, custom_v2, &lookup); break;
    case 2: TfLiteInterpreterOptionsSetOpResolverV3(options, builtin_v3, custom_v3, &lookup); break;
    case 3: TfLiteInterpreterOptionsSetOpResolver(options, builtin_now, custom_now, &lookup); break;
    case 4: TfLiteInterpreterOptionsSetOpResolverExternal(options, builtin_operator, custom_operator, &lookup); break;
    default:
        TfLiteInterpreterOptionsSetOpResolverExternalWithFallback(options, builtin_operator, custom_operator,
                                                                  builtin_now, custom_now, &lookup);
    }
}

static TfLiteStatus check_stamps(TfLiteContext *context, TfLiteDelegate *delegate)
{
    TfLiteNode *node;
    TfLiteRegistration *registration;
    assert_ok(context->GetNodeAndRegistration(context, 0, &node, &registration));
    assert_int_equal(registration->builtin_code, kTfLiteBuiltinAdd);
    assert_int_equal(registration->version, 1);
    assert_null(registration->custom_name);
    assert_ok(context->GetNodeAndRegistration(context, 1, &node, &registration));
    assert_int_equal(registration->builtin_code, kTfLiteBuiltinCustom);
    assert_string_equal(registration->custom_name, "Twice");
    ++*(int *)delegate->data_;
    return kTfLiteOk;
}

static void lookup_functions_replace_the_search(void **state)
{
    (void)state;
    TfLiteOperator *op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "whatever", 1, NULL);
    TfLiteOperatorSetInvoke(op, opaque_twice);
    for (int form = 0; form < 6; form++) {
        for (int fallback = 0; fallback < (form == 5 ? 2 : 1); fallback++) {
            lookup = (struct lookup){.knows = form != 5 || fallback, .op = fallback ? NULL : op};
            int stamped = 0;
            TfLiteDelegate looker = {.Prepare = check_stamps, .data_ = &stamped};
            struct client c;
            client_load(&c, &mixed);
            TfLiteInterpreterOptionsAddDelegate(c.options, &looker);
            TfLiteInterpreterOptionsAddCustomOp(c.options, "Twice", &no_op_registration, 1, 1); // not looked at
            set_lookup(c.options, form == 0 ? 3 : 0); // replaced by the next call
            set_lookup(c.options, form);
            client_create(&c);
            assert_true(lookup.builtin >= 1 && lookup.custom >= 1);
            assert_int_equal(stamped, 1);
            assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
            const float x[] = {1, -3};
            float y[2];
            client_set(&c, 0, x, sizeof x);
            assert_ok(TfLiteInterpreterInvoke(c.interpreter));
            client_get(&c, 0, y, sizeof y);
            assert_true(y[0] == 4 && y[1] == -12);
            client_end(&c);
        }
    }
    for (int form = 0; form < 6; form++) { // nobody knows the operator
        lookup = (struct lookup){.knows = false};
        struct client c;
        client_load(&c, &mixed);
        set_lookup(c.options, form);
        assert_null(TfLiteInterpreterCreate(c.model, c.options));
        assert_non_null(strstr(c.log.text, "Didn't find op for builtin opcode 'ADD' version '1'."));
        client_end(&c);
    }
    TfLiteOperatorDelete(op);
}

// An operator may stand for a built-in one, too.
static void operators_for_built_in_codes(void **state)
{
    (void)state;
    TfLiteOperator *op = TfLiteOperatorCreate(kTfLiteBuiltinAdd, NULL, 1, NULL);
    TfLiteOperatorSetInvoke(op, opaque_no_op);
    struct client c;
    client_load(&c, &triple);
    TfLiteInterpreterOptionsAddOperator(c.options, op);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    no_op_runs = 0;
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    assert_int_equal(no_op_runs, 2);
    client_end(&c);
    TfLiteOperatorDelete(op);
}

// ---- memory of the application ------------------------------------------------------------------

enum { MAX_BYTES = 256 };

struct memory {
    _Alignas(64) char bytes[MAX_BYTES];
};

static TfLiteStatus set_memory(struct client *c, int tensor, struct memory *memory, size_t bytes)
{
    const TfLiteCustomAllocation allocation = {memory->bytes, bytes};
    return TfLiteInterpreterSetCustomAllocationForTensor(c->interpreter, tensor, &allocation,
                                                         kTfLiteCustomAllocationFlagsNone);
}

static void memory_of_the_application(void **state)
{
    (void)state;
    struct memory input = {{0}}, output = {{0}}, again = {{0}};
    struct client c;
    client_begin(&c, &triple);
    assert_ok(set_memory(&c, TRIPLE_INPUT, &input, 16));
    assert_ok(set_memory(&c, TRIPLE_SUM, &input, 16));
    assert_ok(set_memory(&c, TRIPLE_SUM, &again, 16)); // the last one counts
    assert_ok(set_memory(&c, TRIPLE_OUTPUT, &output, 16));
    run_triple(&c);
    const TfLiteTensor *y = TfLiteInterpreterGetOutputTensor(c.interpreter, 0);
    assert_int_equal(y->allocation_type, kTfLiteCustom);
    assert_ptr_equal(TfLiteTensorData(y), output.bytes);
    assert_ok(set_memory(&c, TRIPLE_INPUT, &again, 32)); // others, at any time
    assert_ok(set_memory(&c, TRIPLE_SUM, &input, 32));
    assert_ok(set_memory(&c, TRIPLE_OUTPUT, &output, 32));
    assert_ptr_equal(TfLiteTensorData(TfLiteInterpreterGetInputTensor(c.interpreter, 0)), again.bytes);
    const float x[] = {1, 2, 3, 4};
    memcpy(again.bytes, x, sizeof x);
    assert_ok(TfLiteInterpreterInvoke(c.interpreter)); // without another AllocateTensors
    for (int i = 0; i < 4; i++) assert_true(((float *)(void *)output.bytes)[i] == 3 * x[i]);
    client_resize(&c, 0, 8);
    run_triple(&c);
    client_resize(&c, 0, 2);
    run_triple(&c);
    client_end(&c);
}

// What an Invoke has found out about memory does not hold when the memory is another one in the next Invoke.
static void memory_between_invokes(void **state)
{
    (void)state;
    static struct memory memory, small;
    struct client c;
    client_begin(&c, &triple);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    TfLiteTensor *x = TfLiteInterpreterGetInputTensor(c.interpreter, 0);
    void *const own = x->data.raw;
    x->data.raw = NULL;
    assert_refused(&c, TfLiteInterpreterInvoke(c.interpreter), "lacks data");
    x->data.raw = own;
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));

    assert_ok(set_memory(&c, TRIPLE_OUTPUT, &small, 4));
    assert_refused(&c, TfLiteInterpreterInvoke(c.interpreter), "needs 16 bytes now");
    assert_ok(set_memory(&c, TRIPLE_OUTPUT, &memory, 16));
    const float values[] = {1, 2, 3, 4};
    memcpy(x->data.raw, values, sizeof values);
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    for (int i = 0; i < 4; i++) assert_true(((float *)(void *)memory.bytes)[i] == 3 * values[i]);
    client_end(&c);
}

// Whether memory is large enough is found out when tensors are allocated, or at the latest when the node runs.
static void memory_that_is_too_small(void **state)
{
    (void)state;
    static struct memory memory, small;
    struct client c;
    client_begin(&c, &triple);
    assert_ok(set_memory(&c, TRIPLE_INPUT, &small, 4));
    assert_int_equal(c.log.count, 0);
    assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteError);
    assert_int_equal(c.log.count, 1);
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    assert_ok(set_memory(&c, TRIPLE_INPUT, &memory, 16));
    run_triple(&c);
    client_resize(&c, 0, 8);
    assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteError);
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    client_resize(&c, 0, 3);
    run_triple(&c);

    assert_ok(set_memory(&c, TRIPLE_OUTPUT, &small, 4)); // while the interpreter is ready
    assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), kTfLiteError);
    assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
    client_resize(&c, 0, 1); // now it is enough
    run_triple(&c);
    client_end(&c);
}

static void memory_that_is_refused(void **state)
{
    (void)state;
    static struct memory memory;
    static const float one[4] = {1, 1, 1, 1};
    static const struct test_tensor tensors[] = {
        FLOATS("sum", 4),
        {.name = "one", .type = TEST_FLOAT32, .rank = 1, .dims = {4}, .data = one, .bytes = sizeof one},
        FLOATS("x", 4)};
    static const struct test_node nodes[] = {NODE_2_1(kTfLiteBuiltinAdd, 2, 1, 0)};
    static const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(2), TEST_OUTPUTS(0)};
    struct client c;
    client_begin(&c, &model);
    TfLiteCustomAllocation allocation = {memory.bytes + 1, 16};
    assert_int_equal(TfLiteInterpreterSetCustomAllocationForTensor(c.interpreter, 0, NULL, 0), kTfLiteError);
    assert_int_equal(TfLiteInterpreterSetCustomAllocationForTensor(c.interpreter, 0, &allocation, 0), kTfLiteError);
    assert_int_equal(set_memory(&c, -1, &memory, 16), kTfLiteError);
    assert_int_equal(set_memory(&c, 3, &memory, 16), kTfLiteError);
    assert_int_equal(set_memory(&c, 1, &memory, 16), kTfLiteError); // a constant
    assert_int_equal(c.log.count, 5);
    allocation.data = NULL;
    assert_int_equal(TfLiteInterpreterSetCustomAllocationForTensor(c.interpreter, 0, &allocation, 0), kTfLiteError);
    assert_int_equal(TfLiteInterpreterSetCustomAllocationForTensor(NULL, 0, &allocation, 0), kTfLiteError);
    allocation.data = memory.bytes + 4; // not aligned, but the caller says it is fine
    assert_ok(TfLiteInterpreterSetCustomAllocationForTensor(c.interpreter, 0, &allocation,
                                                            kTfLiteCustomAllocationFlagsSkipAlignCheck));
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    client_set(&c, 0, one, sizeof one);
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    assert_true(((float *)(void *)(memory.bytes + 4))[3] == 2);
    client_end(&c);
}

// A kernel whose output gets its size while it runs, in the memory of the application: it must not end up in free().
static TfLiteStatus make_dynamic(TfLiteContext *context, TfLiteNode *node)
{
    TfLiteOpaqueTensorSetAllocationTypeToDynamic((TfLiteOpaqueTensor *)&context->tensors[node->outputs->data[0]]);
    return kTfLiteOk;
}

static TfLiteStatus resize_and_double(TfLiteContext *context, TfLiteNode *node)
{
    TfLiteTensor *y = &context->tensors[node->outputs->data[0]];
    assert_ok(context->ResizeTensor(context, y, TfLiteIntArrayCopy(context->tensors[node->inputs->data[0]].dims)));
    return twice(context, node);
}

static void memory_and_dynamic_tensors(void **state)
{
    (void)state;
    static struct memory memory;
    struct test_model model = mixed; // x, m = Twice(x), y = m + m
    static const struct test_node nodes[] = {
        {.builtin = kTfLiteBuiltinCustom, .custom = "Twice", TEST_INPUTS(0), TEST_OUTPUTS(1)},
        NODE_2_1(kTfLiteBuiltinAdd, 1, 1, 2)};
    model.nodes = nodes;
    const TfLiteRegistration dynamic = {.prepare = make_dynamic, .invoke = resize_and_double};
    struct client c;
    for (int tensor = 1; tensor < 3; tensor++) {
        client_load(&c, &model);
        TfLiteInterpreterOptionsAddCustomOp(c.options, "Twice", &dynamic, 1, 1);
        client_create(&c);
        assert_ok(set_memory(&c, tensor, &memory, 8));
        // The dynamic tensor itself cannot lie there; one behind it is checked when its node runs.
        assert_int_equal(TfLiteInterpreterAllocateTensors(c.interpreter), tensor == 1 ? kTfLiteError : kTfLiteOk);
        if (tensor == 2) {
            const float x[] = {1, 2};
            client_set(&c, 0, x, sizeof x);
            assert_ok(TfLiteInterpreterInvoke(c.interpreter));
            assert_true(((float *)(void *)memory.bytes)[1] == 8);
            assert_ok(set_memory(&c, tensor, &memory, 4));
            assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), kTfLiteError);
        }
        client_end(&c);
    }
}

// A variable in the application's memory keeps what the application put there.
// As many ones as |x[0]|; a negative x[0] fails once the output has its size.
static TfLiteStatus grow_and_maybe_fail(TfLiteContext *context, TfLiteNode *node)
{
    float x = context->tensors[node->inputs->data[0]].data.f[0];
    TfLiteTensor *y = &context->tensors[node->outputs->data[0]];
    TfLiteIntArray *dims = TfLiteIntArrayCreate(1);
    dims->data[0] = (int)fabsf(x);
    assert_ok(context->ResizeTensor(context, y, dims));
    for (int i = 0; i < (int)fabsf(x); i++) y->data.f[i] = 1;
    return x < 0 ? kTfLiteError : kTfLiteOk;
}

static void nodes_after_one_that_resized_and_failed(void **state)
{
    (void)state;
    static const struct test_tensor tensors[] = {FLOATS("x", 1), FLOATS("m", 1), FLOATS("y", 1)};
    static const struct test_node nodes[] = {
        {.builtin = kTfLiteBuiltinCustom, .custom = "Grow", TEST_INPUTS(0), TEST_OUTPUTS(1)},
        NODE_1_1(kTfLiteBuiltinNeg, 1, 2)};
    static const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(0), TEST_OUTPUTS(2)};
    const TfLiteRegistration grow = {.prepare = make_dynamic, .invoke = grow_and_maybe_fail};
    struct client c;
    client_load(&c, &model);
    TfLiteInterpreterOptionsAddCustomOp(c.options, "Grow", &grow, 1, 1);
    client_create(&c);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    // The third Invoke resizes to what the second, which failed, has left.
    const float lengths[] = {2, -500, 500};
    for (int i = 0; i < 3; i++) {
        client_set(&c, 0, &lengths[i], sizeof *lengths);
        assert_int_equal(TfLiteInterpreterInvoke(c.interpreter), lengths[i] < 0 ? kTfLiteError : kTfLiteOk);
    }
    const TfLiteTensor *y = TfLiteInterpreterGetOutputTensor(c.interpreter, 0);
    assert_int_equal(TfLiteTensorByteSize(y), 500 * sizeof(float));
    const float *values = TfLiteTensorData(y);
    for (int i = 0; i < 500; i++) assert_true(values[i] == -1);
    client_end(&c);
}

static void memory_of_variables(void **state)
{
    (void)state;
    static const struct test_tensor tensors[] = {
        FLOATS("x", 2),
        {.name = "v", .type = TEST_FLOAT32, .rank = 1, .dims = {2}, .is_variable = true},
        FLOATS("y", 2)};
    static const struct test_node nodes[] = {NODE_2_1(kTfLiteBuiltinAdd, 0, 1, 2)};
    static const struct test_model model = {TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(0), TEST_OUTPUTS(2)};
    static struct memory memory;
    const float v[] = {10, 20}, x[] = {1, 2};
    float y[2];
    memcpy(memory.bytes, v, sizeof v);
    struct client c;
    client_begin(&c, &model);
    assert_ok(set_memory(&c, 1, &memory, sizeof v));
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ok(TfLiteInterpreterResetVariableTensors(c.interpreter));
    client_set(&c, 0, x, sizeof x);
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    client_get(&c, 0, y, sizeof y);
    assert_true(y[0] == 11 && y[1] == 22);
    client_end(&c);
}

// ---- the application's profiler -----------------------------------------------------------------

static char profile[1024];

static void note_in_profile(const char *name, long number, long status)
{
    size_t used = strlen(profile);
    snprintf(profile + used, sizeof profile - used, "%s %ld %ld; ", name, number, status);
}

static void on_event(TfLiteTelemetryProfilerStruct *profiler, const char *name, uint64_t status)
{
    assert_ptr_equal(profiler->data, profile);
    assert_int_equal(status >> 32, 1); // it is the interpreter that reports
    note_in_profile(name, -1, (long)(status & 0xffffffff));
}

static uint32_t on_begin(TfLiteTelemetryProfilerStruct *profiler, const char *name, int64_t node, int64_t subgraph)
{
    assert_ptr_equal(profiler->data, profile);
    note_in_profile(name, (long)node, (long)subgraph);
    return (uint32_t)node + 100;
}

static void on_end(TfLiteTelemetryProfilerStruct *profiler, uint32_t event)
{
    assert_ptr_equal(profiler->data, profile);
    note_in_profile("end", (long)event, 0);
}

static void profiling(void **state)
{
    (void)state;
    TfLiteTelemetryProfilerStruct profiler = {
        .data = profile,
        .ReportTelemetryEvent = on_event,
        .ReportBeginOpInvokeEvent = on_begin,
        .ReportEndOpInvokeEvent = on_end,
    };
    struct client c;
    client_load(&c, &triple);
    TfLiteInterpreterOptionsSetTelemetryProfiler(c.options, &profiler);
    client_create(&c);
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(c.interpreter, NULL), kTfLiteDelegateError);
    assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
    assert_ok(TfLiteInterpreterInvoke(c.interpreter));
    assert_string_equal(profile, "ModifyGraphWithDelegate -1 2; ADD 0 0; end 100 0; ADD 1 0; end 101 0; Invoke -1 0; ");
    client_end(&c);

    client_load(&c, &triple); // a profiler need not want everything
    TfLiteInterpreterOptionsSetTelemetryProfiler(c.options, &(TfLiteTelemetryProfilerStruct){0});
    client_create(&c);
    run_triple(&c);
    client_end(&c);
}

// A model whose second subgraph has a quantized tensor, and what a converter says of itself: a FlatBuffer with a table
// (field 1 is another table, whose field 0 is a list of numbers), made by hand.
static const unsigned char conversion[] = {
    16, 0, 0, 0,                                // the root table is at 16
    8,  0, 8, 0, 0,    0, 4, 0,                 // 4: its vtable: 8 bytes, a table of 8; field 0 absent, field 1 at 4
    0,  0, 0, 0, 12,   0, 0, 0, 12,   0, 0, 0,  // 16: the vtable is 12 bytes before; field 1 is at 20 + 12
    6,  0, 8, 0, 4,    0, 0, 0,                 // 24: vtable of the second table: field 0 at 4
    8,  0, 0, 0, 4,    0, 0, 0,                 // 32: the vtable is 8 bytes before; field 0 is at 36 + 4
    2,  0, 0, 0, 0xe9, 3, 0, 0, 0xd2, 7, 0, 0}; // 40: two numbers, 1001 and 2002
static const struct test_tensor told_tensors[] = {
    FLOATS("x", 4), {.name = "q", .type = TEST_INT8, .rank = 1, .dims = {4}, .scale = 0.5f, .zero_point = 3}};
static const struct test_model told_more = {TEST_TENSORS(told_tensors), TEST_INPUTS(1), TEST_OUTPUTS(1)};
static struct test_metadata told_metadata = {"CONVERSION_METADATA", conversion, sizeof conversion};
static const struct test_model told = {
    .tensor_count = 1,
    .tensors = told_tensors,
    TEST_INPUTS(0),
    TEST_OUTPUTS(0),
    .more_count = 1,
    .more = &told_more,
    .metadata_count = 1,
    .metadata = &told_metadata,
};

static void read_settings(TfLiteTelemetryProfilerStruct *profiler, const char *name,
                          const TfLiteTelemetrySettings *settings)
{
    assert_ptr_equal(profiler->data, profile);
    assert_string_equal(name, "InterpreterBuilder::operator()");
    assert_int_equal(settings->source, 1);
    const TfLiteTelemetryInterpreterSettings *all = settings->data;
    assert_int_equal(TfLiteTelemetryInterpreterSettingsGetNumSubgraphInfo(all), 2);
    TfLiteTelemetrySubgraphInfo *first = (void *)TfLiteTelemetryInterpreterSettingsGetSubgraphInfo(all);
    assert_int_equal(TfLiteTelemetrySubgraphInfoGetNumQuantizations(first), 1);
    assert_int_equal(TfLiteTelemetrySubgraphInfoGetQuantizations(first)[0].type, kTfLiteNoQuantization);
    const TfLiteTelemetryConversionMetadata *metadata = TfLiteTelemetryInterpreterSettingsGetConversionMetadata(all);
    size_t modes = TfLiteTelemetryConversionMetadataGetNumModelOptimizationModes(metadata);
    note_in_profile("modes", metadata != NULL, (long)modes);
    for (size_t i = 0; i < modes; i++)
        note_in_profile("mode", TfLiteTelemetryConversionMetadataGetModelOptimizationModes(metadata)[i], 0);
}

static void settings_are_told_once(void **state)
{
    (void)state;
    TfLiteTelemetryProfilerStruct profiler = {.data = profile, .ReportSettings = read_settings};
    static const struct {
        size_t bytes; // so much of the metadata is there
        const char *want;
    } cases[] = {{sizeof conversion, "modes 1 2; mode 1001 0; mode 2002 0; "},
                 {sizeof conversion - 4, "modes 1 0; "}, // broken: not there
                 {10, "modes 0 0; "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client c;
        *profile = '\0';
        told_metadata.bytes = cases[i].bytes;
        client_load(&c, &told);
        TfLiteInterpreterOptionsSetTelemetryProfiler(c.options, &profiler);
        client_create(&c);
        assert_ok(TfLiteInterpreterAllocateTensors(c.interpreter));
        assert_string_equal(profile, cases[i].want);
        client_end(&c);
    }
    assert_null(TfLiteTelemetryInterpreterSettingsGetConversionMetadata(NULL));
    assert_null(TfLiteTelemetryInterpreterSettingsGetSubgraphInfo(NULL));
    assert_int_equal(TfLiteTelemetryInterpreterSettingsGetNumSubgraphInfo(NULL), 0);
    assert_null(TfLiteTelemetryConversionMetadataGetModelOptimizationModes(NULL));
    assert_int_equal(TfLiteTelemetryConversionMetadataGetNumModelOptimizationModes(NULL), 0);
    assert_null(TfLiteTelemetrySubgraphInfoGetQuantizations(NULL));
    assert_int_equal(TfLiteTelemetrySubgraphInfoGetNumQuantizations(NULL), 0);
    assert_int_equal(TfLiteTelemetryGpuDelegateSettingsGetNumNodesDelegated(NULL), 0);
    assert_int_equal(TfLiteTelemetryGpuDelegateSettingsGetBackend(NULL), 0);
}

// ---- wrappers of what a platform has ------------------------------------------------------------

static void platform_objects(void **state)
{
    (void)state;
    int object;
    TfLiteBackendBuffer *buffer = TfLiteBackendBufferCreate();
    assert_null(TfLiteBackendBufferGetPtr(buffer));
    TfLiteBackendBufferSetPtr(buffer, &object);
    assert_ptr_equal(TfLiteBackendBufferGetPtr(buffer), &object);
    TfLiteBackendBufferDelete(buffer);
    TfLiteBackendBufferDelete(NULL);
    TfLiteSynchronization *fence = TfLiteSynchronizationCreate();
    assert_null(TfLiteSynchronizationGetPtr(fence));
    TfLiteSynchronizationSetPtr(fence, &object);
    assert_ptr_equal(TfLiteSynchronizationGetPtr(fence), &object);
    TfLiteSynchronizationDelete(fence);
    TfLiteSynchronizationDelete(NULL);
}

static void null_arguments(void **state)
{
    (void)state;
    TfLiteBufferHandle handle;
    TfLiteOpaqueDelegate *delegate;
    assert_int_equal(TfLiteInterpreterResetVariableTensors(NULL), kTfLiteError);
    assert_int_equal(TfLiteInterpreterGetVariableTensorCount(NULL), 0);
    assert_null(TfLiteInterpreterGetVariableTensor(NULL, 0));
    assert_int_equal(TfLiteInterpreterModifyGraphWithDelegate(NULL, NULL), kTfLiteError);
    assert_int_equal(TfLiteInterpreterGetInputTensorIndex(NULL, 0), -1);
    assert_int_equal(TfLiteInterpreterGetOutputTensorIndex(NULL, 0), -1);
    assert_int_equal(TfLiteInterpreterSetBufferHandle(NULL, NULL, 0, NULL), kTfLiteError);
    assert_int_equal(TfLiteInterpreterGetBufferHandle(NULL, 0, &handle, &delegate), kTfLiteError);
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(NULL, 0), kTfLiteError);
    TfLiteSetAllowBufferHandleOutput(NULL, true);

    struct client c;
    client_begin(&c, &triple);
    assert_int_equal(TfLiteInterpreterGetInputTensorIndex(c.interpreter, 0), TRIPLE_INPUT);
    assert_int_equal(TfLiteInterpreterGetOutputTensorIndex(c.interpreter, 0), TRIPLE_OUTPUT);
    assert_int_equal(TfLiteInterpreterGetInputTensorIndex(c.interpreter, 1), -1);
    assert_int_equal(TfLiteInterpreterGetOutputTensorIndex(c.interpreter, -1), -1);
    assert_int_equal(TfLiteInterpreterGetBufferHandle(c.interpreter, 3, &handle, &delegate), kTfLiteError);
    assert_int_equal(TfLiteInterpreterGetBufferHandle(c.interpreter, 0, NULL, &delegate), kTfLiteError);
    assert_ok(TfLiteInterpreterGetBufferHandle(c.interpreter, 0, &handle, &delegate));
    assert_int_equal(handle, kTfLiteNullBufferHandle);
    assert_null(delegate);
    assert_int_equal(TfLiteInterpreterSetBufferHandle(c.interpreter, NULL, 0, NULL), kTfLiteError);
    assert_ok(TfLiteInterpreterEnsureTensorDataIsReadable(c.interpreter, 0)); // nothing to do
    assert_int_equal(TfLiteInterpreterEnsureTensorDataIsReadable(c.interpreter, 3), kTfLiteError);
    client_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_operators_are_replaced),
        cmocka_unit_test(versions_of_operators),
        cmocka_unit_test(missing_operators),
        cmocka_unit_test(lookup_functions_replace_the_search),
        cmocka_unit_test(operators_for_built_in_codes),
        cmocka_unit_test(memory_of_the_application),
        cmocka_unit_test(memory_between_invokes),
        cmocka_unit_test(memory_that_is_too_small),
        cmocka_unit_test(memory_that_is_refused),
        cmocka_unit_test(memory_and_dynamic_tensors),
        cmocka_unit_test(nodes_after_one_that_resized_and_failed),
        cmocka_unit_test(memory_of_variables),
        cmocka_unit_test(profiling),
        cmocka_unit_test(settings_are_told_once),
        cmocka_unit_test(platform_objects),
        cmocka_unit_test(null_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
