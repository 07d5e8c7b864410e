// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: calls of the C API, one after the other as the bytes say, in any order that the headers allow. Two
// models, two sets of options, three interpreters and three signature runners live side by side and go in any order.
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "halite/halite.h"
#include "model/schema.h"
#include "support/model_writer.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/c_api_opaque.h"

// ---- models -------------------------------------------------------------------------------------

#define VECTOR(label)                                                 \
    {                                                                 \
        .name = label, .type = TEST_FLOAT32, .rank = 1, .dims = { 2 } \
    }
#define SCALAR(label)                       \
    {                                       \
        .name = label, .type = TEST_FLOAT32 \
    }

// y = a + b, z = tanh(y); with a signature that names its ends.
static const struct test_tensor sum_tensors[] = {VECTOR("a"), VECTOR("b"), VECTOR("y"), VECTOR("z")};
static const struct test_node sum_nodes[] = {{.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)},
                                             {.builtin = kTfLiteBuiltinTanh, TEST_INPUTS(2), TEST_OUTPUTS(3)}};
static const struct test_signature sum_signature = {
    .key = "sum", .input_count = 2, .inputs = {{"a", 0}, {"b", 1}}, .output_count = 1, .outputs = {{"z", 3}}};

// A sequence whose length the inputs say: the output is dynamic.
static const struct test_tensor range_tensors[] = {SCALAR("from"), SCALAR("to"), SCALAR("step"), VECTOR("numbers")};
static const struct test_node range_node = {.builtin = kTfLiteBuiltinRange, TEST_INPUTS(0, 1, 2), TEST_OUTPUTS(3)};

// x = while (x < 100) x + x: endless from 0 on downwards.
static const float hundred = 100;
static const struct test_tensor loop_tensors[] = {SCALAR("x"), SCALAR("last")};
static const struct test_node loop_node = {.builtin = kTfLiteBuiltinWhile,
                                           TEST_INPUTS(0),
                                           TEST_OUTPUTS(1),
                                           .settings = {{HL_WhileOptions_cond_subgraph_index, 1, 0, NULL},
                                                        {HL_WhileOptions_body_subgraph_index, 2, 0, NULL}}};
static const struct test_tensor below_tensors[] = {
    SCALAR("x"),
    {.name = "hundred", .type = TEST_FLOAT32, .data = &hundred, .bytes = 4},
    {.name = "below", .type = TEST_BOOL}};
static const struct test_node below_node = {.builtin = kTfLiteBuiltinLess, TEST_INPUTS(0, 1), TEST_OUTPUTS(2)};
static const struct test_tensor twice_tensors[] = {SCALAR("x"), SCALAR("twice")};
static const struct test_node twice_node = {.builtin = kTfLiteBuiltinAdd, TEST_INPUTS(0, 0), TEST_OUTPUTS(1)};
static const struct test_model loop_parts[] = {{TEST_TENSORS(below_tensors), TEST_NODE(below_node), TEST_INPUTS(0),
                                                TEST_OUTPUTS(2)},
                                               {TEST_TENSORS(twice_tensors), TEST_NODE(twice_node), TEST_INPUTS(0),
                                                TEST_OUTPUTS(1)}};

// An average over what came before, in a variable.
static const struct test_tensor state_tensors[] = {
    {.name = "x", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 2}},
    {.name = "features", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 2}, .data = (const float[]){1, 2}, .bytes = 8},
    {.name = "time", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 3}, .data = (const float[]){1, 2, 3}, .bytes = 12},
    {.name = "state", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 3}, .is_variable = true},
    {.name = "y", .type = TEST_FLOAT32, .rank = 2, .dims = {1, 1}}};
static const struct test_node state_node = {.builtin = kTfLiteBuiltinSvdf,
                                            TEST_INPUTS(0, 1, 2, -1, 3),
                                            TEST_OUTPUTS(4),
                                            .settings = {{HL_SVDFOptions_rank, 1, 0, NULL}}};

static const struct test_model models[] = {
    {TEST_TENSORS(sum_tensors), TEST_NODES(sum_nodes), TEST_INPUTS(0, 1), TEST_OUTPUTS(3), .signature_count = 1,
     .signatures = &sum_signature},
    {TEST_TENSORS(range_tensors), TEST_NODE(range_node), TEST_INPUTS(0, 1, 2), TEST_OUTPUTS(3)},
    {TEST_TENSORS(loop_tensors), TEST_NODE(loop_node), TEST_INPUTS(0), TEST_OUTPUTS(1), .more_count = 2,
     .more = loop_parts},
    {TEST_TENSORS(state_tensors), TEST_NODE(state_node), TEST_INPUTS(0), TEST_OUTPUTS(4)},
};
enum { MODELS = sizeof models / sizeof *models };

// ---- a delegate that takes the first node, and fails where the bytes say so ----------------------

static bool delegate_fails;

static TfLiteStatus copy_prepare(TfLiteContext *context, TfLiteNode *node)
{
    (void)context, (void)node;
    return delegate_fails ? kTfLiteError : kTfLiteOk;
}

static TfLiteStatus copy_invoke(TfLiteContext *context, TfLiteNode *node)
{
    for (int i = 0; i < node->outputs->size; i++) {
        TfLiteTensor *y = &context->tensors[node->outputs->data[i]];
        if (y->data.raw) memset(y->data.raw, 0, y->bytes);
    }
    return delegate_fails ? kTfLiteError : kTfLiteOk;
}

static TfLiteStatus take_first(TfLiteContext *context, TfLiteDelegate *delegate)
{
    const TfLiteRegistration kernel = {
        .prepare = copy_prepare,
        .invoke = copy_invoke,
        .custom_name = "Copy",
    };
    TfLiteIntArray *nodes = TfLiteIntArrayCreate(1);
    nodes->data[0] = 0;
    TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, nodes, delegate);
    TfLiteIntArrayFree(nodes);
    return delegate_fails ? kTfLiteError : status;
}

static TfLiteDelegate delegate = {.Prepare = take_first};

// ---- the program --------------------------------------------------------------------------------

enum { INTERPRETERS = 3, PAIRS = 2, MEMORY = 64 };

static struct program {
    const uint8_t *next, *end;
    TfLiteModel *models[PAIRS];
    TfLiteInterpreterOptions *options[PAIRS];
    TfLiteInterpreter *interpreters[INTERPRETERS];
    TfLiteSignatureRunner *runners[INTERPRETERS]; // of the interpreter with the same number
    _Alignas(64) char memory[INTERPRETERS][MEMORY];
} p;

static int take(void)
{
    return p.next < p.end ? *p.next++ : 0;
}

static int take_index(void)
{
    return take() % 12 - 2; // some are none
}

static int take_dims(int dims[8])
{
    int rank = take() % 8;
    for (int i = 0; i < rank; i++) dims[i] = take() % 16 - 2;
    if (rank == 7) dims[0] = INT32_MAX - take();
    return rank;
}

static void exchange(TfLiteTensor *tensor)
{
    char bytes[256];
    size_t size = TfLiteTensorByteSize(tensor), said = take() % 4 ? size : (size_t)take();
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(p.next < p.end ? take() : (int)i);
    if (said <= sizeof bytes) TfLiteTensorCopyFromBuffer(tensor, bytes, said);
    if (said <= sizeof bytes) TfLiteTensorCopyToBuffer(tensor, bytes, said);
}

static void look_at(const TfLiteTensor *tensor)
{
    const char *name = TfLiteTensorName(tensor);
    if (name && strlen(name) > 100) abort();
    for (int i = -1; i <= TfLiteTensorNumDims(tensor); i++) TfLiteTensorDim(tensor, i);
    TfLiteTensorType(tensor);
    TfLiteTensorQuantizationParams(tensor);
    if (tensor) TfLiteOpaqueTensorGetAllocationType((const TfLiteOpaqueTensor *)tensor);
}

static void delete_interpreter(int i)
{
    TfLiteSignatureRunnerDelete(p.runners[i]);
    TfLiteInterpreterDelete(p.interpreters[i]);
    p.runners[i] = NULL;
    p.interpreters[i] = NULL;
}

static void make_model(int which)
{
    static unsigned char *files[MODELS];
    static size_t sizes[MODELS];
    int number = take() % MODELS;
    if (!files[number]) files[number] = test_model_write(&models[number], &sizes[number]);
    TfLiteModelDelete(p.models[which]);
    p.models[which] = TfLiteModelCreateWithErrorReporter(files[number], sizes[number], fuzz_ignore, NULL);
}

static void make_options(int which)
{
    TfLiteInterpreterOptions *old = p.options[which];
    p.options[which] = take() % 2 ? TfLiteInterpreterOptionsCopy(old) : TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsDelete(old);
    TfLiteInterpreterOptionsSetErrorReporter(p.options[which], fuzz_ignore, NULL);
    HaliteInterpreterOptionsSetCallLimit(p.options[which], 200);
    HaliteInterpreterOptionsSetWorkLimit(p.options[which], 20000000);
    HaliteInterpreterOptionsSetMemoryLimit(p.options[which], (size_t)1 << 16);
}

static void set_option(TfLiteInterpreterOptions *options)
{
    switch (take() % 9) {
    case 0: TfLiteInterpreterOptionsSetNumThreads(options, take() % 4 - 2); break;
    case 1:
        TfLiteInterpreterOptionsAddDelegate(options, (TfLiteOpaqueDelegate *)(take() % 2 ? &delegate : NULL));
        break;
    case 2: TfLiteInterpreterOptionsEnableCancellation(options, take() % 2); break;
    case 3: TfLiteInterpreterOptionsSetEnableDelegateFallback(options, take() % 2); break;
    case 4: HaliteInterpreterOptionsSetMemoryLimit(options, (size_t)take() * 16 + 1); break;
    case 5: HaliteInterpreterOptionsSetCallLimit(options, take() + 1); break;
    case 6: HaliteInterpreterOptionsSetWorkLimit(options, take() * 100 + 1); break;
    case 7: HaliteInterpreterOptionsSetKernels(options, (HaliteKernels)(take() % 4)); break;
    default: TfLiteInterpreterOptionsSetUseNNAPI(options, take() % 2);
    }
}

static void report(const TfLiteInterpreter *interpreter)
{
    HaliteNodeReport node;
    HaliteMemoryReport memory;
    HaliteTensorReport tensor;
    HaliteInterpreterGetMemoryReport(interpreter, &memory);
    for (int i = -1; i <= HaliteInterpreterGetNodeCount(interpreter); i++)
        HaliteInterpreterGetNodeReport(interpreter, i, &node);
    for (int i = -1; i <= HaliteInterpreterGetTensorCount(interpreter); i++)
        HaliteInterpreterGetTensorReport(interpreter, i, &tensor);
}

static void call_runner(TfLiteSignatureRunner *runner)
{
    int dims[8], index = take_index(), rank;
    const char *name = TfLiteSignatureRunnerGetInputName(runner, index);
    switch (take() % 6) {
    case 0: TfLiteSignatureRunnerInvoke(runner); break;
    case 1: TfLiteSignatureRunnerAllocateTensors(runner); break;
    case 2:
        rank = take_dims(dims);
        TfLiteSignatureRunnerResizeInputTensor(runner, name, dims, rank);
        break;
    case 3: exchange(TfLiteSignatureRunnerGetInputTensor(runner, name)); break;
    case 4:
        look_at(TfLiteSignatureRunnerGetOutputTensor(runner, TfLiteSignatureRunnerGetOutputName(runner, index)));
        break;
    default: TfLiteSignatureRunnerCancel(runner);
    }
}

static void call_interpreter(int i)
{
    TfLiteInterpreter *interpreter = p.interpreters[i];
    int dims[8], index = take_index(), rank;
    switch (take() % 17) {
    case 0:
    case 1: TfLiteInterpreterInvoke(interpreter); break;
    case 2:
    case 3: TfLiteInterpreterAllocateTensors(interpreter); break;
    case 4:
    case 5:
        rank = take_dims(dims);
        TfLiteInterpreterResizeInputTensor(interpreter, index, dims, rank);
        break;
    case 6: exchange(TfLiteInterpreterGetInputTensor(interpreter, index)); break;
    case 7: look_at(TfLiteInterpreterGetOutputTensor(interpreter, index)); break;
    case 8: look_at(TfLiteInterpreterGetTensor(interpreter, index)); break;
    case 9: TfLiteInterpreterCancel(interpreter); break;
    case 10: TfLiteInterpreterResetVariableTensors(interpreter); break;
    case 11: look_at(TfLiteInterpreterGetVariableTensor(interpreter, index)); break;
    case 12: TfLiteInterpreterModifyGraphWithDelegate(interpreter, &delegate); break;
    case 13: {
        int misplaced = take() % 2 * 16; // not as aligned as asked
        const TfLiteCustomAllocation memory = {p.memory[i] + misplaced, (size_t)take() % (MEMORY - 16)};
        TfLiteInterpreterSetCustomAllocationForTensor(interpreter, index, &memory, take() % 2);
        break;
    }
    case 14: TfLiteInterpreterEnsureTensorDataIsReadable(interpreter, index); break;
    case 15: report(interpreter); break;
    default: HaliteInterpreterSetProfiling(interpreter, take() % 2);
    }
}

static void one_call(void)
{
    int call = take(), pair = call / 16 % PAIRS, i = call / 16 % INTERPRETERS;
    switch (call % 16) {
    case 0: make_model(pair); break;
    case 1: make_options(pair); break;
    case 2: set_option(p.options[pair]); break;
    case 3:
        delete_interpreter(i);
        if (p.options[pair]) p.interpreters[i] = TfLiteInterpreterCreate(p.models[take() % PAIRS], p.options[pair]);
        break;
    case 4: delete_interpreter(i); break;
    case 5:
        TfLiteSignatureRunnerDelete(p.runners[i]);
        p.runners[i] = TfLiteInterpreterGetSignatureRunner(
            p.interpreters[i], take() % 2 ? TfLiteInterpreterGetSignatureKey(p.interpreters[i], take_index()) : NULL);
        break;
    case 6:
    case 7:
    case 8: call_runner(p.runners[i]); break;
    case 9: delegate_fails = take() % 2; break;
    case 10:
        TfLiteModelDelete(p.models[pair]);
        p.models[pair] = NULL;
        break;
    default: call_interpreter(i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    p = (struct program){.next = data, .end = data + size};
    delegate_fails = false;
    for (int i = 0; i < PAIRS; i++) { // so that short programs do something
        make_model(i);
        make_options(i);
    }
    for (int calls = 0; p.next < p.end && calls < 200; calls++) one_call();
    for (int i = 0; i < INTERPRETERS; i++) delete_interpreter(i);
    for (int i = 0; i < PAIRS; i++) {
        TfLiteModelDelete(p.models[i]);
        TfLiteInterpreterOptionsDelete(p.options[i]);
    }
    return 0;
}
