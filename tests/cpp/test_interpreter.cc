// SPDX-License-Identifier: Apache-2.0
// Models through the C++ classes: loading, resolving, running, delegates and who deletes them, profilers, custom
// operators. The model is demo/digits.tflite, which names the digit in a drawing of 8 x 8 pixels.
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "check.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/kernel_util.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/kernels/register_ref.h"
#include "tensorflow/lite/model.h"
#include "tensorflow/lite/optional_debug_tools.h"
#include "tensorflow/lite/profiling/buffered_profiler.h"

namespace
{

const char path[] = "demo/digits.tflite";
const char two[] = "..####.."
                   ".#....#."
                   "......#."
                   ".....#.."
                   "....#..."
                   "...#...."
                   "..#....."
                   ".######.";

std::unique_ptr<tflite::Interpreter> build(
    const tflite::FlatBufferModel &model,
    const tflite::OpResolver &resolver = tflite::ops::builtin::BuiltinOpResolver())
{
    std::unique_ptr<tflite::Interpreter> interpreter;
    CHECK_OK(tflite::InterpreterBuilder(model, resolver)(&interpreter));
    return interpreter;
}

void draw(tflite::Interpreter *interpreter)
{
    float *pixels = interpreter->typed_input_tensor<float>(0);
    for (int i = 0; i < 64; i++) pixels[i] = two[i] == '#' ? 1.0f : -1.0f;
}

bool sees_two(tflite::Interpreter *interpreter)
{
    const float *chances = interpreter->typed_output_tensor<float>(0);
    int best = 0;
    for (int i = 1; i < 10; i++)
        if (chances[i] > chances[best]) best = i;
    return best == 2 && chances[2] > 0.9f;
}

std::string bytes_of_file()
{
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

void a_model_runs()
{
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    if (!CHECK(model != nullptr)) return;
    CHECK(model->initialized());
    auto interpreter = build(*model);
    model.reset(); // the interpreter has what it needs
    CHECK_OK(interpreter->AllocateTensors());
    CHECK(interpreter->inputs().size() == 1 && interpreter->outputs().size() == 1);
    CHECK(interpreter->typed_input_tensor<uint8_t>(0) == nullptr);
    CHECK(interpreter->input_tensor(1) == nullptr);
    CHECK(interpreter->typed_input_tensor<float>(-1) == nullptr);
    CHECK(interpreter->typed_tensor<float>(interpreter->inputs()[0]) == interpreter->typed_input_tensor<float>(0));
    CHECK(std::strcmp(interpreter->GetInputName(0), interpreter->input_tensor(0)->name) == 0);
    CHECK(interpreter->GetOutputName(7) == nullptr);
    draw(interpreter.get());
    CHECK_OK(interpreter->Invoke());
    CHECK(sees_two(interpreter.get()));
    CHECK(interpreter->execution_plan().size() == interpreter->nodes_size());
    const auto *node = interpreter->node_and_registration(interpreter->execution_plan()[0]);
    CHECK(node && node->first.inputs->size > 0 && node->second.invoke != nullptr);
    CHECK(interpreter->node_and_registration(1000) == nullptr);
    CHECK(interpreter->subgraphs_size() == 1 && interpreter->subgraph(1) == nullptr);
    tflite::PrintInterpreterState(interpreter.get());
}

void threads_change_while_inputs_stay()
{
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    auto interpreter = build(*model);
    CHECK_OK(interpreter->AllocateTensors());
    draw(interpreter.get());
    CHECK_OK(interpreter->SetNumThreads(2));
    CHECK_OK(interpreter->Invoke());
    CHECK(sees_two(interpreter.get()));
    CHECK(interpreter->SetNumThreads(-2) == kTfLiteError);
    std::unique_ptr<tflite::Interpreter> other;
    tflite::ops::builtin::BuiltinOpResolver resolver;
    CHECK(tflite::InterpreterBuilder(*model, resolver)(&other, -2) == kTfLiteError);
    CHECK(other == nullptr);
    CHECK_OK(tflite::InterpreterBuilder(*model, resolver)(&other, 2));
    CHECK(tflite::InterpreterBuilder(*model, resolver)(nullptr) == kTfLiteError);
}

class Refuses : public tflite::TfLiteVerifier
{
  public:
    bool Verify(const char *data, int length, tflite::ErrorReporter *) override
    {
        saw = length > 8 && std::memcmp(data + 4, "TFL3", 4) == 0;
        return false;
    }
    bool saw = false;
};

void models_come_from_files_memory_and_descriptors()
{
    Messages messages;
    CHECK(tflite::FlatBufferModel::BuildFromFile("no/such.tflite", &messages) == nullptr);
    CHECK(messages.has("no/such.tflite"));
    CHECK(tflite::FlatBufferModel::BuildFromBuffer(nullptr, 0, &messages) == nullptr);
    CHECK(messages.has("The model allocation is null/empty"));
    CHECK(tflite::FlatBufferModel::BuildFromBuffer("0123456789abcdef", 16, &messages) == nullptr);
    CHECK(messages.has("The model is not a valid Flatbuffer buffer"));

    std::string bytes = bytes_of_file();
    auto model = tflite::FlatBufferModel::VerifyAndBuildFromBuffer(bytes.data(), bytes.size(), nullptr, &messages);
    if (!CHECK(model != nullptr)) return;
    CHECK(model->allocation()->base() == bytes.data() && model->allocation()->bytes() == bytes.size());
    CHECK(model->error_reporter() == &messages);
    // The root is somewhere behind the identifier.
    CHECK(reinterpret_cast<const char *>(model->GetModel()) > bytes.data() + 4);
    CHECK(reinterpret_cast<const char *>(model->GetModel()) < bytes.data() + bytes.size());
    model->ReadAllMetadata();
    Refuses refuses;
    CHECK(tflite::FlatBufferModel::VerifyAndBuildFromBuffer(bytes.data(), bytes.size(), &refuses) == nullptr);
    CHECK(refuses.saw);

    auto from_file = tflite::FlatBufferModel::BuildFromFile(path);
    CHECK(from_file->allocation()->bytes() == bytes.size());
    CHECK(std::memcmp(from_file->allocation()->base(), bytes.data(), bytes.size()) == 0);

    auto mapped = std::make_unique<tflite::MMAPAllocation>(path, &messages);
    CHECK(mapped->valid() && mapped->bytes() == bytes.size());
    CHECK(tflite::FlatBufferModel::BuildFromAllocation(std::move(mapped), &messages) != nullptr);
    auto copied = std::make_unique<tflite::FileCopyAllocation>(path, &messages);
    CHECK(copied->valid() && std::memcmp(copied->base(), bytes.data(), bytes.size()) == 0);
    CHECK(tflite::FlatBufferModel::BuildFromAllocation(std::move(copied), &messages) != nullptr);
    CHECK(!tflite::MMAPAllocation("no/such.tflite", &messages).valid());

    std::FILE *file = std::fopen(path, "rb");
    int descriptor = fileno(file);
    CHECK(tflite::FlatBufferModel::BuildFromFileDescriptor(descriptor) != nullptr);
    CHECK(tflite::FlatBufferModel::BuildFromFileDescriptor(descriptor, 0, bytes.size()) != nullptr);
    CHECK(tflite::FlatBufferModel::BuildFromFileDescriptor(descriptor, 1, bytes.size(), &messages) == nullptr);
    std::fclose(file);
}

void reference_kernels_agree()
{
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    tflite::ops::builtin::BuiltinRefOpResolver resolver;
    auto plain = build(*model, resolver), fast = build(*model);
    for (auto *interpreter : {plain.get(), fast.get()}) {
        CHECK_OK(interpreter->AllocateTensors());
        draw(interpreter);
        CHECK_OK(interpreter->Invoke());
        CHECK(sees_two(interpreter));
    }
    for (int i = 0; i < 10; i++)
        CHECK(std::fabs(plain->typed_output_tensor<float>(0)[i] - fast->typed_output_tensor<float>(0)[i]) < 1e-5f);
}

// ---- resolvers

class Nothing : public tflite::OpResolver
{
  public:
    const TfLiteRegistration *FindOp(tflite::BuiltinOperator, int) const override { return nullptr; }
    const TfLiteRegistration *FindOp(const char *, int) const override { return nullptr; }
};

void a_missing_operator_is_named()
{
    Messages messages;
    auto model = tflite::FlatBufferModel::BuildFromFile(path, &messages);
    std::unique_ptr<tflite::Interpreter> interpreter;
    CHECK(tflite::InterpreterBuilder(*model, Nothing())(&interpreter) != kTfLiteOk);
    CHECK(interpreter == nullptr);
    CHECK(messages.has("Didn't find op for builtin opcode"));
}

int replaced_calls;
TfLiteStatus count_softmax(TfLiteContext *context, TfLiteNode *node)
{
    replaced_calls++;
    const TfLiteTensor *input = tflite::GetInput(context, node, 0);
    TfLiteTensor *output = tflite::GetOutput(context, node, 0);
    std::memcpy(output->data.raw, input->data.raw, output->bytes);
    return kTfLiteOk;
}
TfLiteStatus prepare_like_input(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *input;
    TF_LITE_ENSURE_OK(context, tflite::GetInputSafe(context, node, 0, &input));
    return context->ResizeTensor(context, tflite::GetOutput(context, node, 0), TfLiteIntArrayCopy(input->dims));
}

void a_programs_kernel_comes_before_the_librarys()
{
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    tflite::ops::builtin::BuiltinOpResolver resolver;
    TfLiteRegistration own = {};
    own.prepare = prepare_like_input;
    own.invoke = count_softmax;
    resolver.AddBuiltin(tflite::BuiltinOperator_SOFTMAX, &own, 1, 3);
    CHECK(resolver.FindOp(tflite::BuiltinOperator_SOFTMAX, 2)->invoke == count_softmax);
    tflite::ops::builtin::BuiltinOpResolver copy = resolver;
    auto interpreter = build(*model, copy);
    CHECK_OK(interpreter->AllocateTensors());
    draw(interpreter.get());
    CHECK_OK(interpreter->Invoke());
    CHECK(replaced_calls == 1);
}

// ---- delegates

struct Taker : TfLiteDelegate {
    explicit Taker(bool failing = false) : TfLiteDelegate(), fails(failing) { Prepare = prepare; }
    static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate)
    {
        auto *self = static_cast<Taker *>(delegate);
        if (self->fails) return kTfLiteDelegateError;
        TfLiteIntArray *plan;
        TfLiteStatus status = context->GetExecutionPlan(context, &plan);
        if (status != kTfLiteOk) return status;
        TfLiteRegistration kernel = {};
        kernel.custom_name = "Taker";
        kernel.init = [](TfLiteContext *, const char *, size_t) -> void * { return &kernels_alive; };
        kernel.free = [](TfLiteContext *, void *) { kernels_alive--; };
        kernel.invoke = [](TfLiteContext *, TfLiteNode *) { return kTfLiteOk; };
        kernels_alive++;
        return context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, plan, delegate);
    }
    bool fails;
    static int kernels_alive, deleted;
    static void destroy(TfLiteDelegate *delegate)
    {
        CHECK(kernels_alive == 0); // the graph is gone
        deleted++;
        delete static_cast<Taker *>(delegate);
    }
};
int Taker::kernels_alive, Taker::deleted;

void delegates_outlive_the_graph()
{
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    {
        auto interpreter = build(*model);
        size_t nodes = interpreter->nodes_size();
        CHECK_OK(
            interpreter->ModifyGraphWithDelegate(tflite::Interpreter::TfLiteDelegatePtr(new Taker(), Taker::destroy)));
        CHECK(interpreter->execution_plan().size() == 1 && interpreter->nodes_size() == nodes + 1);
        CHECK_OK(interpreter->AllocateTensors());
        CHECK_OK(interpreter->Invoke());
        CHECK(Taker::deleted == 0);
    }
    CHECK(Taker::deleted == 1);
    {
        auto interpreter = build(*model);
        CHECK_OK(interpreter->ModifyGraphWithDelegate(std::make_unique<Taker>()));
        CHECK_OK(interpreter->RemoveAllDelegates());
        CHECK_OK(interpreter->AllocateTensors());
        draw(interpreter.get());
        CHECK_OK(interpreter->Invoke());
        CHECK(sees_two(interpreter.get()));
    }
    Taker refuses(true);
    auto interpreter = build(*model);
    CHECK(interpreter->ModifyGraphWithDelegate(&refuses) == kTfLiteDelegateError);
    CHECK(interpreter->ModifyGraphWithDelegate(static_cast<TfLiteDelegate *>(nullptr)) == kTfLiteDelegateError);
    CHECK_OK(interpreter->AllocateTensors());
    draw(interpreter.get());
    CHECK_OK(interpreter->Invoke()); // as before
    CHECK(sees_two(interpreter.get()));

    Taker borrowed;
    tflite::ops::builtin::BuiltinOpResolver resolver;
    tflite::InterpreterBuilder builder(*model, resolver);
    builder.AddDelegate(&borrowed);
    CHECK_OK(builder(&interpreter));
    CHECK(interpreter->execution_plan().size() == 1);
    interpreter.reset();
}

class Lazy : public tflite::ops::builtin::BuiltinOpResolver
{
  public:
    TfLiteDelegateCreators GetDelegateCreators() const override
    {
        return {[](TfLiteContext *) { return tflite::Interpreter::TfLiteDelegatePtr(new Taker(), Taker::destroy); }};
    }
};

void a_resolvers_delegates_come_last()
{
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    auto interpreter = build(*model, Lazy());
    CHECK(interpreter->execution_plan().size() > 1);
    CHECK_OK(interpreter->AllocateTensors());
    CHECK(interpreter->execution_plan().size() == 1);
    Taker own;
    interpreter = build(*model, Lazy());
    size_t before = interpreter->nodes_size();
    CHECK_OK(interpreter->ModifyGraphWithDelegate(&own));
    CHECK_OK(interpreter->AllocateTensors());
    CHECK(interpreter->nodes_size() == before + 1);
    interpreter.reset();
}

// ---- profilers, cancellation, signatures

void profilers_see_each_node()
{
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    auto interpreter = build(*model);
    tflite::profiling::BufferedProfiler first(64), second(64);
    CHECK(interpreter->GetProfiler() == nullptr);
    interpreter->SetProfiler(&first);
    CHECK(interpreter->GetProfiler() == &first);
    CHECK(interpreter->primary_subgraph().context()->profiler == static_cast<tflite::Profiler *>(&first));
    CHECK_OK(interpreter->AllocateTensors());
    draw(interpreter.get());
    first.StartProfiling();
    CHECK_OK(interpreter->Invoke());
    first.StopProfiling();
    size_t nodes = interpreter->execution_plan().size();
    CHECK(first.GetProfileEvents().size() == nodes);
    CHECK(first.GetProfileEvents()[0]->event_metadata == interpreter->execution_plan()[0]);
    interpreter->AddProfiler(&second);
    first.Reset();
    first.StartProfiling();
    second.StartProfiling();
    CHECK_OK(interpreter->Invoke());
    CHECK(first.GetProfileEvents().size() == nodes && second.GetProfileEvents().size() == nodes);
    interpreter->SetProfiler(nullptr);
    CHECK_OK(interpreter->Invoke());
    CHECK(second.GetProfileEvents().size() == nodes);
    interpreter->SetProfiler(std::make_unique<tflite::profiling::BufferedProfiler>(4));
    CHECK_OK(interpreter->Invoke());
}

void runs_can_be_cancelled()
{
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    auto interpreter = build(*model);
    CHECK_OK(interpreter->AllocateTensors());
    bool stop = true;
    interpreter->SetCancellationFunction(&stop, [](void *data) { return *static_cast<bool *>(data); });
    CHECK(interpreter->Invoke() == kTfLiteError);
    stop = false;
    CHECK_OK(interpreter->Invoke());
    interpreter->SetCancellationFunction(nullptr, nullptr);
    CHECK(interpreter->Cancel() == kTfLiteError);
    CHECK_OK(interpreter->EnableCancellation());
    CHECK_OK(interpreter->Cancel());
    CHECK_OK(interpreter->Invoke()); // which begins after the call
}

void a_model_without_signatures_has_names()
{
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    auto interpreter = build(*model);
    CHECK(interpreter->GetSignatureRunner("nobody") == nullptr);
    CHECK(interpreter->signature_inputs("nobody").empty());
    CHECK(interpreter->GetSubgraphIndexFromSignature("nobody") == -1);
    CHECK(interpreter->input_tensor_by_signature("x", "nobody") == nullptr);
    if (!interpreter->signature_keys().empty()) return;
    tflite::SignatureRunner *runner = interpreter->GetSignatureRunner(nullptr);
    if (!CHECK(runner != nullptr)) return;
    CHECK(runner == interpreter->GetSignatureRunner(nullptr));
    CHECK(runner->input_size() == 1 && runner->output_size() == 1);
    CHECK_OK(runner->AllocateTensors());
    CHECK(runner->input_tensor(runner->input_names()[0]) == interpreter->input_tensor(0));
    draw(interpreter.get());
    CHECK_OK(runner->Invoke());
    CHECK(sees_two(interpreter.get()));
    CHECK(runner->ResizeInputTensor("nobody", {1}) == kTfLiteError);
}

void memory_of_the_caller_holds_the_input()
{
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    auto interpreter = build(*model);
    alignas(64) static float pixels[64];
    TfLiteCustomAllocation memory = {pixels, sizeof pixels};
    CHECK_OK(interpreter->SetCustomAllocationForTensor(interpreter->inputs()[0], memory));
    CHECK_OK(interpreter->AllocateTensors());
    for (int i = 0; i < 64; i++) pixels[i] = two[i] == '#' ? 1.0f : -1.0f;
    CHECK_OK(interpreter->Invoke());
    CHECK(sees_two(interpreter.get()));
    CHECK_OK(interpreter->ReleaseNonPersistentMemory());
    CHECK(interpreter->Invoke() != kTfLiteOk);
}

} // namespace

int main()
{
    a_model_runs();
    threads_change_while_inputs_stay();
    models_come_from_files_memory_and_descriptors();
    reference_kernels_agree();
    a_missing_operator_is_named();
    a_programs_kernel_comes_before_the_librarys();
    delegates_outlive_the_graph();
    a_resolvers_delegates_come_last();
    profilers_see_each_node();
    runs_can_be_cancelled();
    a_model_without_signatures_has_names();
    memory_of_the_caller_holds_the_input();
    return check_result();
}
