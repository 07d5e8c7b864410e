// SPDX-License-Identifier: Apache-2.0
// What programs that build graphs by hand rely on beyond test_graph.cc: resizes in every direction, kernels that add
// tensors, mistakes and what is left after them, shared contexts, memory of the caller, cancellation, delegates that
// are written with SimpleDelegate, and models that are built from their root table.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "check.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/core/api/op_resolver_internal.h"
#include "tensorflow/lite/core/api/tensor_utils.h"
#include "tensorflow/lite/delegates/utils/simple_delegate.h"
#include "tensorflow/lite/external_cpu_backend_context.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/builtin_op_kernels.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"
#include "tensorflow/lite/mutable_op_resolver_utils.h"

namespace
{

const TfLiteQuantizationParams plain = {};
constexpr size_t FLOAT_BYTES = sizeof(float);

// Tensors 0 ... count - 1 are float rows of this length, the first `inputs` of them inputs, the last one the output.
void describe(tflite::Interpreter *interpreter, int count, int inputs, int length = 3)
{
    CHECK_OK(interpreter->AddTensors(count));
    for (int i = 0; i < count; i++)
        CHECK_OK(interpreter->SetTensorParametersReadWrite(i, kTfLiteFloat32, "", {length}, plain));
    std::vector<int> first;
    for (int i = 0; i < inputs; i++) first.push_back(i);
    CHECK_OK(interpreter->SetInputs(first));
    CHECK_OK(interpreter->SetOutputs({count - 1}));
}

void *add_params()
{
    return std::calloc(1, sizeof(TfLiteAddParams));
}

void shapes_change_in_every_direction()
{
    tflite::Interpreter interpreter;
    describe(&interpreter, 1, 1);
    TfLiteTensor *tensor = interpreter.tensor(0);
    const std::vector<std::vector<int>> shapes = {{1, 2, 3}, {2, 3}, {0}, {6, 2, 3}, {1, 1, 1, 1}, {0, 0}, {7}};
    for (const std::vector<int> &shape : shapes) {
        size_t count = 1;
        for (int length : shape) count *= static_cast<size_t>(length);
        CHECK_OK(interpreter.ResizeInputTensor(0, shape));
        CHECK(tensor->bytes == count * FLOAT_BYTES);
        CHECK_OK(interpreter.AllocateTensors());
        if (count > 0) tensor->data.f[count - 1] = 0.5f;
    }
    // A program may make a tensor dynamic itself. Then a resize gives it memory at once.
    tensor->data.raw = nullptr;
    tensor->allocation_type = kTfLiteDynamic;
    CHECK_OK(interpreter.ResizeInputTensor(0, {1, 2, 4}));
    CHECK(tensor->bytes == 8 * FLOAT_BYTES && tensor->data.raw != nullptr);
    CHECK_OK(interpreter.ResizeInputTensor(0, {0}));
    CHECK(tensor->bytes == 0);
    CHECK_OK(interpreter.ResizeInputTensor(0, {5}));
    CHECK(tensor->bytes == 5 * FLOAT_BYTES && tensor->data.raw != nullptr);
}

void a_graph_with_a_mistake_does_not_run()
{
    const TfLiteRegistration nothing = {};
    for (int mistake = 0; mistake < 4; mistake++) {
        Messages messages;
        tflite::Interpreter interpreter(&messages);
        if (mistake == 0) CHECK(interpreter.SetInputs({5}) == kTfLiteError);
        if (mistake == 1) CHECK(interpreter.SetOutputs({5}) == kTfLiteError);
        if (mistake > 1) CHECK_OK(interpreter.AddTensors(1));
        std::vector<int> in = {mistake == 2 ? 3 : 0}, out = {mistake == 3 ? 3 : 0};
        if (mistake > 1)
            CHECK(interpreter.AddNodeWithParameters(in, out, nullptr, 0, nullptr, &nothing) == kTfLiteError);
        CHECK(interpreter.AllocateTensors() == kTfLiteError);
        CHECK(interpreter.Invoke() == kTfLiteError);
        CHECK(interpreter.inputs().empty() && interpreter.outputs().empty() && interpreter.nodes_size() == 0);
        CHECK(messages.has("Invalid tensor index"));
    }
    Messages messages;
    tflite::Interpreter interpreter(&messages);
    CHECK(interpreter.Invoke() == kTfLiteError);
    CHECK(messages.text == "Invoke called on model that is not ready.\n");
}

void constants_stay_what_they_were()
{
    static const float values[] = {3, 4};
    const char *bytes = reinterpret_cast<const char *>(values);
    tflite::Interpreter interpreter;
    describe(&interpreter, 2, 2);
    CHECK_OK(interpreter.SetTensorParametersReadOnly(1, kTfLiteFloat32, "", {2}, plain, bytes, sizeof values));
    CHECK(interpreter.ResizeInputTensor(1, {3}) == kTfLiteError);
    CHECK(interpreter.SetTensorParametersReadOnly(1, kTfLiteFloat32, "", {2}, plain, bytes, 4) == kTfLiteError);
    CHECK_OK(interpreter.AllocateTensors());
    CHECK(interpreter.typed_tensor<float>(1)[1] == 4);
}

void sizes_beyond_the_machine_are_refused()
{
    Messages messages;
    tflite::Interpreter interpreter(&messages);
    CHECK_OK(interpreter.AddTensors(1));
    const int large = 1 << 30;
    auto set = [&](const std::vector<int> &dims) {
        messages.text.clear();
        return interpreter.SetTensorParametersReadWrite(0, kTfLiteFloat32, "", dims, plain);
    };
    CHECK(set({large, large, 4}) == kTfLiteError); // 2^62 elements
    CHECK(messages.has("BytesRequired number of bytes overflowed."));
    CHECK(set({large, large, 4, 16}) == kTfLiteError); // 2^66
    CHECK(messages.has("BytesRequired number of elements overflowed."));
    CHECK(set({-1, 2}) == kTfLiteError);
}

// ---- kernels

// A kernel that asks for two scratch tensors when it is made, and computes 2 (x + 1) through the first of them.
TfLiteRegistration with_scratch()
{
    TfLiteRegistration kernel = {};
    kernel.init = [](TfLiteContext *context, const char *, size_t) -> void * {
        int *first = new int;
        CHECK_OK(context->AddTensors(context, 2, first));
        return first;
    };
    kernel.free = [](TfLiteContext *, void *first) { delete static_cast<int *>(first); };
    kernel.prepare = [](TfLiteContext *context, TfLiteNode *node) {
        int first = *static_cast<int *>(node->user_data);
        const TfLiteIntArray *shape = context->tensors[node->inputs->data[0]].dims;
        TfLiteIntArrayFree(node->temporaries);
        node->temporaries = TfLiteIntArrayCreate(2);
        for (int i = 0; i < 2; i++) {
            TfLiteTensor *scratch = &context->tensors[first + i];
            node->temporaries->data[i] = first + i;
            scratch->type = kTfLiteFloat32;
            scratch->allocation_type = kTfLiteArenaRw;
            CHECK_OK(context->ResizeTensor(context, scratch, TfLiteIntArrayCopy(shape)));
        }
        TfLiteTensor *output = &context->tensors[node->outputs->data[0]];
        return context->ResizeTensor(context, output, TfLiteIntArrayCopy(shape));
    };
    kernel.invoke = [](TfLiteContext *context, TfLiteNode *node) {
        const TfLiteTensor *input = &context->tensors[node->inputs->data[0]];
        float *scratch = context->tensors[node->temporaries->data[0]].data.f;
        float *output = context->tensors[node->outputs->data[0]].data.f;
        for (size_t i = 0; i < input->bytes / FLOAT_BYTES; i++) scratch[i] = input->data.f[i] + 1;
        for (size_t i = 0; i < input->bytes / FLOAT_BYTES; i++) output[i] = 2 * scratch[i];
        return kTfLiteOk;
    };
    return kernel;
}

void kernels_add_tensors_when_they_are_made()
{
    tflite::Interpreter interpreter;
    describe(&interpreter, 2, 1);
    const TfLiteRegistration kernel = with_scratch();
    CHECK_OK(interpreter.AddNodeWithParameters({0}, {1}, nullptr, 0, nullptr, &kernel));
    CHECK(interpreter.tensors_size() == 4);
    for (int length : {3, 5}) {
        CHECK_OK(interpreter.ResizeInputTensor(0, {length}));
        CHECK(interpreter.Invoke() == kTfLiteError);
        CHECK_OK(interpreter.AllocateTensors());
        float *input = interpreter.typed_input_tensor<float>(0);
        for (int i = 0; i < length; i++) input[i] = static_cast<float>(i);
        CHECK_OK(interpreter.Invoke());
        const float *output = interpreter.typed_output_tensor<float>(0);
        for (int i = 0; i < length; i++) CHECK(output[i] == static_cast<float>(2 * i + 2));
    }
}

void tensors_stay_while_a_kernel_adds_a_few()
{
    // Graphs of many sizes, so that some of them have just filled the room that there was.
    for (int count : {2, 63, 64, 65, 127, 128, 129, 200}) {
        tflite::Interpreter interpreter;
        describe(&interpreter, count, 1);
        TfLiteRegistration kernel = {};
        kernel.prepare = [](TfLiteContext *context, TfLiteNode *) {
            const TfLiteTensor *before = context->tensors;
            int headroom = tflite::Interpreter::kTensorsCapacityHeadroom;
            CHECK_OK(context->AddTensors(context, headroom, nullptr));
            CHECK(context->tensors == before);
            return kTfLiteOk;
        };
        for (int i = 0; i < 6; i++)
            CHECK_OK(interpreter.AddNodeWithParameters({0}, {count - 1}, nullptr, 0, nullptr, &kernel));
        CHECK_OK(interpreter.AllocateTensors());
    }
}

void what_is_a_delegates_is_refused_to_kernels()
{
    tflite::Interpreter interpreter;
    describe(&interpreter, 1, 1);
    TfLiteRegistration kernel = {};
    kernel.prepare = [](TfLiteContext *context, TfLiteNode *) {
        TfLiteIntArray *plan = nullptr;
        CHECK(context->GetExecutionPlan(context, &plan) == kTfLiteError);
        TfLiteNode *other = nullptr;
        TfLiteRegistration *registration = nullptr;
        CHECK(context->GetNodeAndRegistration(context, 0, &other, &registration) == kTfLiteError);
        TfLiteIntArray none = {};
        TfLiteRegistration replacement = {};
        CHECK(context->ReplaceNodeSubsetsWithDelegateKernels(context, replacement, &none, nullptr) == kTfLiteError);
        return kTfLiteError;
    };
    CHECK_OK(interpreter.AddNodeWithParameters({0}, {}, nullptr, 0, nullptr, &kernel));
    CHECK(interpreter.AllocateTensors() == kTfLiteError);
}

std::string order;

void nodes_run_in_the_order_of_the_plan()
{
    tflite::Interpreter interpreter;
    describe(&interpreter, 3, 1);
    TfLiteRegistration kernel = {};
    kernel.invoke = [](TfLiteContext *, TfLiteNode *node) {
        order += *static_cast<char *>(node->builtin_data);
        return kTfLiteOk;
    };
    for (int i = 0; i < 2; i++) {
        char *name = static_cast<char *>(std::malloc(1));
        *name = static_cast<char>('A' + i);
        CHECK_OK(interpreter.AddNodeWithParameters({0}, {1 + i}, nullptr, 0, name, &kernel));
    }
    const std::pair<std::vector<int>, const char *> plans[] = {{{0, 1}, "AB"}, {{1, 0}, "BA"}, {{1}, "B"}, {{}, ""}};
    for (const auto &plan : plans) {
        order.clear();
        CHECK_OK(interpreter.SetExecutionPlan(plan.first));
        CHECK_OK(interpreter.AllocateTensors());
        CHECK_OK(interpreter.Invoke());
        CHECK(order == plan.second);
    }
}

void a_function_of_the_program_stops_a_run()
{
    tflite::Interpreter interpreter;
    describe(&interpreter, 2, 1);
    TfLiteRegistration kernel = {};
    kernel.invoke = [](TfLiteContext *, TfLiteNode *) { return kTfLiteOk; };
    CHECK_OK(interpreter.AddNodeWithParameters({0}, {1}, nullptr, 0, nullptr, &kernel));
    CHECK_OK(interpreter.AllocateTensors());
    bool stop = true;
    interpreter.SetCancellationFunction(&stop, [](void *data) { return *static_cast<bool *>(data); });
    CHECK(interpreter.Invoke() == kTfLiteError);
    stop = false;
    CHECK_OK(interpreter.Invoke());
}

// ---- contexts and memory

struct Shared : TfLiteExternalContext {
    Shared()
    {
        type = kTfLiteGemmLowpContext;
        Refresh = [](TfLiteContext *context) {
            auto *self = static_cast<Shared *>(context->GetExternalContext(context, kTfLiteGemmLowpContext));
            if (self) self->refreshes++;
            return kTfLiteOk;
        };
    }
    int refreshes = 0;
};

void contexts_are_refreshed_when_threads_change()
{
    tflite::Interpreter interpreter;
    TfLiteContext *context = interpreter.primary_subgraph().context();
    Shared shared;
    CHECK(context->GetExternalContext(context, shared.type) == nullptr);
    context->SetExternalContext(context, shared.type, &shared);
    CHECK(context->GetExternalContext(context, shared.type) == &shared);
    CHECK_OK(interpreter.SetNumThreads(4));
    CHECK_OK(interpreter.SetNumThreads(5));
    CHECK(shared.refreshes == 2);
    CHECK(interpreter.SetNumThreads(-2) == kTfLiteError);
    CHECK(shared.refreshes == 2);
    CHECK_OK(interpreter.SetNumThreads(-1));
    CHECK(shared.refreshes == 3);
    context->SetExternalContext(context, shared.type, nullptr);
    CHECK_OK(interpreter.SetNumThreads(2));
    CHECK(shared.refreshes == 3);
}

class Backend : public tflite::TfLiteInternalBackendContext
{
  public:
    explicit Backend(int *cleared) : cleared_(cleared) {}
    void SetMaxNumThreads(int) override {}
    void ClearCaches() override { ++*cleared_; }

  private:
    int *cleared_;
};

void a_backend_forgets_an_interpreter_that_goes()
{
    int cleared = 0;
    tflite::ExternalCpuBackendContext external;
    external.set_internal_backend_context(std::make_unique<Backend>(&cleared));
    {
        tflite::Interpreter first, second;
        first.SetExternalContext(kTfLiteCpuBackendContext, &external);
        second.SetExternalContext(kTfLiteCpuBackendContext, &external);
        CHECK(cleared == 0);
    }
    CHECK(cleared == 2);
}

void the_callers_memory_can_be_exchanged()
{
    alignas(64) static float memory[16], other[16];
    tflite::Interpreter interpreter;
    describe(&interpreter, 3, 2);
    CHECK_OK(
        interpreter.AddNodeWithParameters({0, 1}, {2}, nullptr, 0, add_params(), tflite::ops::builtin::Register_ADD()));
    CHECK_OK(interpreter.AllocateTensors());
    for (float *place : {memory, other}) {
        CHECK_OK(interpreter.SetCustomAllocationForTensor(0, {place, sizeof memory}));
        CHECK_OK(interpreter.AllocateTensors());
        CHECK(interpreter.typed_tensor<float>(0) == place);
        place[0] = 3;
        interpreter.typed_tensor<float>(1)[0] = 4;
        CHECK_OK(interpreter.Invoke());
        CHECK(interpreter.typed_tensor<float>(2)[0] == 7);
    }
    TfLiteCustomAllocation crooked = {memory + 1, 32};
    CHECK(interpreter.SetCustomAllocationForTensor(0, crooked) == kTfLiteError);
    CHECK_OK(interpreter.SetCustomAllocationForTensor(0, crooked, kTfLiteCustomAllocationFlagsSkipAlignCheck));
    CHECK_OK(interpreter.AllocateTensors());
    CHECK_OK(interpreter.SetCustomAllocationForTensor(0, {memory, FLOAT_BYTES}));
    CHECK(interpreter.AllocateTensors() == kTfLiteError); // too small, which only then is known
}

void variables_are_set_back()
{
    int8_t values[2] = {1, 2};
    TfLiteTensor tensor = {};
    tensor.type = kTfLiteInt8;
    tensor.params = {0.5f, 7};
    tensor.bytes = sizeof values;
    tensor.data.int8 = values;
    CHECK_OK(tflite::ResetVariableTensor(&tensor));
    CHECK(values[0] == 1); // no variable
    tensor.is_variable = true;
    CHECK_OK(tflite::ResetVariableTensor(&tensor));
    CHECK(values[0] == 7 && values[1] == 7);
}

// ---- delegates

struct Part : tflite::SimpleDelegateKernelInterface {
    explicit Part(int *parts) : alive(parts) { ++*alive; }
    ~Part() override { --*alive; }
    TfLiteStatus Init(TfLiteContext *context, const TfLiteDelegateParams *params) override
    {
        nodes = params->nodes_to_replace->size;
        input = params->input_tensors->data[0];
        output = params->output_tensors->data[0];
        return context ? kTfLiteOk : kTfLiteError;
    }
    TfLiteStatus Prepare(TfLiteContext *, TfLiteNode *) override { return kTfLiteOk; }
    // Every node of these graphs adds a tensor to itself.
    TfLiteStatus Eval(TfLiteContext *context, TfLiteNode *) override
    {
        for (int i = 0; i < 3; i++)
            context->tensors[output].data.f[i] = context->tensors[input].data.f[i] * static_cast<float>(1 << nodes);
        return kTfLiteOk;
    }
    int *alive, nodes = 0, input = -1, output = -1;
};

struct Doubler : tflite::SimpleDelegateInterface {
    Doubler(int *parts, Options wanted, int skipped) : alive(parts), options(wanted), skip(skipped) {}
    bool IsNodeSupportedByDelegate(const TfLiteRegistration *registration, const TfLiteNode *node,
                                   TfLiteContext *) const override
    {
        return registration->builtin_code == kTfLiteBuiltinAdd && node->outputs->data[0] != skip;
    }
    TfLiteStatus Initialize(TfLiteContext *) override { return kTfLiteOk; }
    const char *Name() const override { return "Doubler"; }
    std::unique_ptr<tflite::SimpleDelegateKernelInterface> CreateDelegateKernelInterface() override
    {
        return std::make_unique<Part>(alive);
    }
    Options DelegateOptions() const override { return options; }
    int *alive;
    Options options;
    int skip;
};

// Runs x -> x + x, six times in a row, where the delegate may not take the node that writes tensor 3: two and three
// nodes are left for it. Returns how many parts it got.
int parts_of(tflite::SimpleDelegateInterface::Options options)
{
    int alive = 0, got;
    {
        tflite::Interpreter interpreter;
        describe(&interpreter, 7, 1);
        for (int i = 0; i < 6; i++)
            CHECK_OK(interpreter.AddNodeWithParameters({i, i}, {i + 1}, nullptr, 0, add_params(),
                                                       tflite::ops::builtin::Register_ADD()));
        CHECK(!interpreter.HasDelegates());
        CHECK_OK(interpreter.ModifyGraphWithDelegate(
            tflite::TfLiteDelegateFactory::Create(std::make_unique<Doubler>(&alive, options, 3))));
        CHECK(interpreter.HasDelegates());
        got = alive;
        CHECK_OK(interpreter.AllocateTensors());
        interpreter.typed_input_tensor<float>(0)[2] = 1.5f;
        CHECK_OK(interpreter.Invoke());
        CHECK(interpreter.typed_output_tensor<float>(0)[2] == 1.5f * 64);
        CHECK_OK(interpreter.RemoveAllDelegates());
        CHECK(!interpreter.HasDelegates() && interpreter.execution_plan().size() == 6);
    }
    CHECK(alive == 0);
    return got;
}

void delegates_take_the_parts_that_their_options_say()
{
    CHECK(parts_of({}) == 2);
    CHECK(parts_of({1, 0}) == 1);
    CHECK(parts_of({0, 3}) == 1);
    CHECK(parts_of({0, 4}) == 0);
    CHECK(parts_of({5, 2}) == 2);
    CHECK(tflite::TfLiteDelegateFactory::CreateSimpleDelegate(nullptr) == nullptr);
}

void one_subgraph_of_two_gets_a_delegate()
{
    int alive = 0;
    auto delegate = tflite::TfLiteDelegateFactory::Create(
        std::make_unique<Doubler>(&alive, tflite::SimpleDelegateInterface::Options(), -1));
    Messages messages;
    tflite::Interpreter interpreter(&messages);
    interpreter.AddSubgraphs(1);
    for (int i = 0; i < 2; i++) {
        tflite::Subgraph *graph = interpreter.subgraph(i);
        CHECK_OK(graph->AddTensors(3));
        for (int t = 0; t < 3; t++)
            CHECK_OK(graph->SetTensorParametersReadWrite(t, kTfLiteFloat32, "", {3}, {kTfLiteNoQuantization, nullptr}));
        CHECK_OK(graph->SetInputs({0}));
        CHECK_OK(graph->SetOutputs({2}));
        for (int n = 0; n < 2; n++)
            CHECK_OK(graph->AddNodeWithParameters({n, n}, {n + 1}, {}, nullptr, 0, add_params(),
                                                  tflite::ops::builtin::Register_ADD()));
    }
    CHECK_OK(interpreter.ModifyGraphWithDelegate(delegate.get(), {}));
    CHECK(interpreter.ModifyGraphWithDelegate(delegate.get(), {1, 2}) == kTfLiteError);
    CHECK(messages.has("there is no subgraph 2"));
    CHECK(alive == 0);
    CHECK_OK(interpreter.ModifyGraphWithDelegate(delegate.get(), {1}));
    CHECK(alive == 1 && interpreter.execution_plan().size() == 2);
    CHECK(interpreter.subgraph(1)->execution_plan().size() == 1);
    CHECK_OK(interpreter.RemoveAllDelegates());
}

// ---- resolvers and models

TfLiteStatus opaque_nothing(void *, TfLiteOpaqueContext *, TfLiteOpaqueNode *)
{
    return kTfLiteOk;
}

void resolvers_take_operators_of_the_c_interface()
{
    tflite::MutableOpResolver resolver;
    CHECK(!tflite::OpResolverInternal::MayContainUserDefinedOps(resolver));
    CHECK(!tflite::OpResolverInternal::MayContainUserDefinedOps(tflite::ops::builtin::BuiltinOpResolver()));
    TfLiteOperator *custom = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Mine", 4, nullptr);
    TfLiteOperator *add = TfLiteOperatorCreate(kTfLiteBuiltinAdd, nullptr, 1, nullptr);
    TfLiteOperatorSetInvokeWithData(custom, opaque_nothing);
    tflite::AddOp(&resolver, custom);
    tflite::AddOp(&resolver, add, 2, 3);
    tflite::AddOp(&resolver, nullptr);
    CHECK(resolver.FindOp("Mine", 4)->registration_external == custom);
    CHECK(resolver.FindOp("Mine", 3) == nullptr && resolver.FindOp(tflite::BuiltinOperator_ADD, 1) == nullptr);
    CHECK(resolver.FindOp(tflite::BuiltinOperator_ADD, 3)->registration_external == add);
    CHECK(tflite::OpResolverInternal::MayContainUserDefinedOps(resolver));
    TfLiteOperatorDelete(custom);
    TfLiteOperatorDelete(add);
}

void models_are_built_from_their_root()
{
    std::ifstream file("demo/digits.tflite", std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    auto whole = tflite::FlatBufferModel::BuildFromBuffer(bytes.data(), bytes.size());
    auto model = tflite::FlatBufferModel::BuildFromModel(whole->GetModel());
    if (!CHECK(model != nullptr)) return;
    CHECK(model->GetModel() == whole->GetModel() && model->allocation() == nullptr);
    tflite::ops::builtin::BuiltinOpResolver resolver;
    std::unique_ptr<tflite::Interpreter> interpreter;
    CHECK_OK(tflite::InterpreterBuilder(whole->GetModel(), resolver)(&interpreter));
    CHECK_OK(interpreter->AllocateTensors());
    CHECK_OK(interpreter->Invoke());
    CHECK_OK(tflite::InterpreterBuilder(*model, resolver)(&interpreter));
    Messages messages;
    CHECK(tflite::InterpreterBuilder(nullptr, resolver, &messages)(&interpreter) == kTfLiteError);
    CHECK(interpreter == nullptr && messages.has("Null pointer passed in as model."));
    CHECK(tflite::FlatBufferModel::BuildFromModel(nullptr, &messages) == nullptr);
    std::string zeros(4096, '\0');
    const auto *nowhere = reinterpret_cast<const tflite::Model *>(zeros.data() + 2048);
    CHECK(tflite::FlatBufferModel::BuildFromModel(nowhere, &messages) == nullptr);
    CHECK(messages.has("TFL3"));
}

} // namespace

int main()
{
    shapes_change_in_every_direction();
    a_graph_with_a_mistake_does_not_run();
    constants_stay_what_they_were();
    sizes_beyond_the_machine_are_refused();
    kernels_add_tensors_when_they_are_made();
    tensors_stay_while_a_kernel_adds_a_few();
    what_is_a_delegates_is_refused_to_kernels();
    nodes_run_in_the_order_of_the_plan();
    a_function_of_the_program_stops_a_run();
    contexts_are_refreshed_when_threads_change();
    a_backend_forgets_an_interpreter_that_goes();
    the_callers_memory_can_be_exchanged();
    variables_are_set_back();
    delegates_take_the_parts_that_their_options_say();
    one_subgraph_of_two_gets_a_delegate();
    resolvers_take_operators_of_the_c_interface();
    models_are_built_from_their_root();
    return check_result();
}
