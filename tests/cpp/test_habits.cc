// SPDX-License-Identifier: Apache-2.0
// What programs and tests written for the original take for granted beyond what its headers promise: where tensors lie,
// how messages end, what a class named InterpreterTest may touch, what is left after a run.
#include <cstdlib>
#include <cstring>

#include "check.h"
#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/builtin_op_kernels.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/minimal_logging.h"
#include "tensorflow/lite/model.h"
#include "tensorflow/lite/mutable_op_resolver.h"
#include "tensorflow/lite/string_type.h"
#include "tensorflow/lite/util.h"

namespace tflite
{

// The original's tests have a class of this name, which reaches for these members.
class InterpreterTest
{
  public:
    Interpreter interpreter;
    TfLiteContext *context() { return interpreter.context_; }
    std::vector<Interpreter::TfLiteDelegateCreator> *creators() { return &interpreter.lazy_delegate_providers_; }
    void set_signature(const internal::SignatureDef &signature) { interpreter.SetSignatureDef({signature}); }
};

} // namespace tflite

namespace
{

const TfLiteQuantizationParams plain = {};
const TfLiteRegistration nothing = {};

void floats(tflite::Interpreter *interpreter, int count, const char *name = "")
{
    for (int i = 0; i < count; i++)
        CHECK_OK(interpreter->SetTensorParametersReadWrite(i, kTfLiteFloat32, name, {3}, plain));
}

bool ends_with(const std::string &text, const char *end)
{
    size_t length = std::strlen(end);
    return text.size() >= length && text.compare(text.size() - length, length, end) == 0;
}

// Inputs from the arena's lower end in their order; then the largest first, each into the lowest gap.
void tensors_lie_where_they_are_looked_for()
{
    const int sizes[] = {2048, 4096, 1023, 2047, 1021, 2047, 1023, 2046, 1021, 2048};
    tflite::Interpreter interpreter;
    CHECK_OK(interpreter.AddTensors(10));
    for (int i = 0; i < 10; i++)
        CHECK_OK(interpreter.SetTensorParametersReadWrite(i, kTfLiteUInt8, "", {sizes[i]}, plain));
    CHECK_OK(interpreter.SetInputs({0, 1}));
    CHECK_OK(interpreter.SetOutputs({9, 4}));
    const std::vector<int> nodes[][2] = {
        {{0, 1}, {2, 3}}, {{2, 1}, {4, 5}}, {{4, 3}, {6, 7}}, {{6, 5}, {8}}, {{8, 7}, {9}}};
    for (const auto &node : nodes)
        CHECK_OK(interpreter.AddNodeWithParameters(node[0], node[1], nullptr, 0, nullptr, &nothing));
    CHECK_OK(interpreter.AllocateTensors());
    const int offsets[] = {0, 2048, 10240, 6144, 13312, 8192, 12288, 10240, 14336, 6144};
    for (int i = 0; i < 10; i++) CHECK(interpreter.tensor(i)->data.raw - interpreter.tensor(0)->data.raw == offsets[i]);
}

void sizes_that_no_memory_has()
{
    Messages messages;
    tflite::Interpreter interpreter(&messages);
    CHECK_OK(interpreter.AddTensors(1));
    const int big = 1 << 30;
    CHECK(interpreter.SetTensorParametersReadWrite(0, kTfLiteFloat32, "x", {big, big, 4}, plain) == kTfLiteError);
    CHECK(ends_with(messages.text, "BytesRequired number of bytes overflowed.\n\n")); // one of them is Messages'
    CHECK(interpreter.SetTensorParametersReadWrite(0, kTfLiteFloat32, "x", {big, big, 4, 16}, plain) == kTfLiteError);
    CHECK(ends_with(messages.text, "BytesRequired number of elements overflowed.\n\n"));
    // A size_t of 64 bits counts these; nothing runs with them, and no delegate sees them.
    if (sizeof(size_t) < 8) return;
    CHECK_OK(interpreter.AllocateTensors());
    CHECK_OK(interpreter.SetTensorParametersReadWrite(0, kTfLiteFloat32, "x", {big, big}, plain));
    CHECK(interpreter.tensor(0)->bytes == static_cast<size_t>(1) << 62);
    CHECK(interpreter.AllocateTensors() == kTfLiteError);
    CHECK(interpreter.Invoke() == kTfLiteError);
    TfLiteDelegate delegate = TfLiteDelegateCreate();
    delegate.Prepare = [](TfLiteContext *, TfLiteDelegate *) {
        CHECK(!"a delegate sees a graph that cannot run");
        return kTfLiteOk;
    };
    CHECK(interpreter.ModifyGraphWithDelegate(&delegate) == kTfLiteError);
}

void the_array_of_tensors_moves_when_it_grows()
{
    tflite::Interpreter interpreter;
    CHECK_OK(interpreter.AddTensors(tflite::Interpreter::kTensorsReservedCapacity));
    TfLiteRegistration kernel = {};
    kernel.prepare = [](TfLiteContext *context, TfLiteNode *) {
        const TfLiteTensor *before = context->tensors;
        int more = static_cast<int>(context->tensors_size + tflite::Interpreter::kTensorsCapacityHeadroom + 1) * 2;
        int first;
        CHECK_OK(context->AddTensors(context, more, &first));
        CHECK(context->tensors != before);
        return kTfLiteOk;
    };
    CHECK_OK(interpreter.SetInputs({0}));
    CHECK_OK(interpreter.SetOutputs({1}));
    CHECK_OK(interpreter.AddNodeWithParameters({0}, {1}, nullptr, 0, nullptr, &kernel));
    CHECK_OK(interpreter.AllocateTensors());
}

void dynamic_tensors_go_when_asked_for()
{
    for (bool release : {false, true}) {
        tflite::Interpreter interpreter;
        tflite::InterpreterOptions options;
        options.SetEnsureDynamicTensorsAreReleased(release);
        CHECK_OK(interpreter.ApplyOptions(&options));
        CHECK_OK(interpreter.AddTensors(4));
        floats(&interpreter, 4);
        CHECK_OK(interpreter.SetTensorParametersReadWrite(0, kTfLiteFloat32, "", {1, 1}, plain));
        CHECK_OK(interpreter.SetTensorParametersReadWrite(1, kTfLiteInt32, "", {2, 2}, plain));
        CHECK_OK(interpreter.SetInputs({0, 1}));
        CHECK_OK(interpreter.SetOutputs({3}));
        CHECK_OK(
            interpreter.AddNodeWithParameters({0, 1}, {2}, nullptr, 0, nullptr, tflite::ops::builtin::Register_PAD()));
        CHECK_OK(
            interpreter.AddNodeWithParameters({2}, {3}, nullptr, 0, nullptr, tflite::ops::builtin::Register_NEG()));
        CHECK_OK(interpreter.AllocateTensors());
        for (int padding : {1, 2, 2}) {
            interpreter.typed_tensor<float>(0)[0] = 5;
            for (int i = 0; i < 4; i++) interpreter.typed_tensor<int32_t>(1)[i] = i % 2 ? 0 : padding;
            CHECK_OK(interpreter.Invoke());
            CHECK((interpreter.tensor(2)->data.raw == nullptr) == release);
            size_t side = static_cast<size_t>(padding) + 1;
            CHECK(interpreter.tensor(3)->bytes == side * side * sizeof(float));
            CHECK(interpreter.typed_tensor<float>(3)[side * side - 1] == -5);
        }
    }
}

void a_subgraph_tells_of_its_nodes()
{
    tflite::Interpreter interpreter;
    CHECK_OK(interpreter.AddTensors(3));
    floats(&interpreter, 3);
    CHECK_OK(interpreter.SetInputs({0}));
    CHECK_OK(interpreter.SetOutputs({2}));
    for (int i = 0; i < 2; i++)
        CHECK_OK(
            interpreter.AddNodeWithParameters({i}, {i + 1}, nullptr, 0, nullptr, tflite::ops::builtin::Register_NEG()));
    tflite::Subgraph &graph = interpreter.primary_subgraph();
    const tflite::Subgraph &same = graph;
    CHECK(same.context() == graph.context());
    CHECK(same.nodes_and_registration().size() == 2);
    CHECK(same.nodes_and_registration()[1].second.builtin_code == kTfLiteBuiltinNeg);
    CHECK(same.nodes_and_registration()[1].first.inputs->data[0] == 1);
    CHECK(!same.IsFullyDelegated());
    graph.SetName("mine");
    CHECK(std::strcmp(same.GetName(), "mine") == 0);
    TfLiteDelegate takes_all = TfLiteDelegateCreate();
    takes_all.Prepare = [](TfLiteContext *context, TfLiteDelegate *delegate) {
        TfLiteIntArray *plan;
        CHECK_OK(context->GetExecutionPlan(context, &plan));
        return context->ReplaceNodeSubsetsWithDelegateKernels(context, nothing, plan, delegate);
    };
    CHECK_OK(interpreter.ModifyGraphWithDelegate(&takes_all));
    CHECK(same.IsFullyDelegated() && same.nodes_and_registration().size() == 3);
}

// ---- signatures

void a_built_graph_may_have_signatures()
{
    tflite::InterpreterTest test;
    tflite::Interpreter &interpreter = test.interpreter;
    CHECK(test.context() == interpreter.primary_subgraph().context());
    CHECK(test.creators()->empty());
    tflite::internal::SignatureDef signature;
    signature.signature_key = "run";
    signature.inputs = {{"left", 0}, {"right", 1}};
    signature.outputs = {{"sum", 2}};
    test.set_signature(signature);
    CHECK(interpreter.signature_keys().size() == 1 && *interpreter.signature_keys()[0] == "run");
    CHECK_OK(interpreter.AddTensors(3));
    floats(&interpreter, 3);
    CHECK_OK(interpreter.SetInputs({0, 1}));
    CHECK_OK(interpreter.SetOutputs({2}));
    CHECK_OK(interpreter.AddNodeWithParameters({0, 1}, {2}, nullptr, 0, std::calloc(1, sizeof(TfLiteAddParams)),
                                               tflite::ops::builtin::Register_ADD()));
    CHECK(interpreter.signature_inputs("run") == signature.inputs && interpreter.signature_outputs("none").empty());
    CHECK(interpreter.input_tensor_by_signature("right", "run") == interpreter.tensor(1));
    CHECK(interpreter.input_tensor_by_signature("sum", "run") == nullptr);
    CHECK(interpreter.output_tensor_by_signature("sum", "run") == interpreter.tensor(2));
    CHECK(interpreter.GetSubgraphIndexFromSignature("run") == 0 &&
          interpreter.GetSubgraphIndexFromSignature("x") == -1);
    tflite::SignatureRunner *runner = interpreter.GetSignatureRunner("run");
    if (!CHECK(runner != nullptr)) return;
    CHECK(interpreter.GetSignatureRunner(nullptr) == runner); // the first one of the primary subgraph
    CHECK(runner->input_names().size() == 2 && std::strcmp(runner->input_names()[1], "right") == 0);
    CHECK_OK(runner->ResizeInputTensor("left", {2}));
    CHECK_OK(runner->ResizeInputTensor("right", {2}));
    CHECK(runner->ResizeInputTensor("middle", {2}) == kTfLiteError);
    CHECK_OK(runner->AllocateTensors());
    for (const char *name : {"left", "right"}) runner->input_tensor(name)->data.f[1] = 4;
    CHECK_OK(runner->Invoke());
    CHECK(runner->output_tensor("sum")->bytes == 2 * sizeof(float) && runner->output_tensor("sum")->data.f[1] == 8);
}

void a_graph_without_signatures_has_one_of_its_tensors_names()
{
    tflite::Interpreter interpreter;
    CHECK_OK(interpreter.AddTensors(1));
    floats(&interpreter, 1, "x");
    CHECK_OK(interpreter.SetInputs({0}));
    CHECK_OK(interpreter.SetOutputs({0}));
    tflite::SignatureRunner *runner = interpreter.GetSignatureRunner(nullptr);
    if (!CHECK(runner != nullptr)) return;
    CHECK(runner->signature_key() == "<placeholder signature>");
    CHECK(runner->input_tensor("x") == interpreter.tensor(0) && runner->output_tensor("x") == interpreter.tensor(0));
    CHECK(runner->input_tensor("y") == nullptr && runner->input_tensor(nullptr) == nullptr);
    CHECK(interpreter.signature_keys().empty() && interpreter.GetSignatureRunner("x") == nullptr);
}

// ---- around models

void an_empty_list_of_graphs_loads()
{
    // The root's offset, identifier, table of the fields, then: version 3, and three empty vectors.
    alignas(4) static const unsigned char bytes[] = {24, 0, 0,  0, 'T', 'F', 'L', '3', 0,  0, 14, 0, 20, 0,
                                                     16, 0, 12, 0, 8,   0,   0,   0,   4,  0, 14, 0, 0,  0,
                                                     16, 0, 0,  0, 16,  0,   0,   0,   16, 0, 0,  0, 3,  0,
                                                     0,  0, 0,  0, 0,   0,   0,   0,   0,  0, 0,  0, 0,  0};
    auto model = tflite::FlatBufferModel::BuildFromBuffer(reinterpret_cast<const char *>(bytes), sizeof bytes);
    if (!CHECK(model != nullptr)) return;
    tflite::ops::builtin::BuiltinOpResolver resolver;
    std::unique_ptr<tflite::Interpreter> interpreter(new tflite::Interpreter);
    CHECK(tflite::InterpreterBuilder(*model, resolver)(&interpreter) != kTfLiteOk && interpreter == nullptr);
}

void mapped_files_have_a_descriptor_of_their_own()
{
    const char path[] = "demo/digits.tflite";
    Messages messages;
    std::FILE *file = std::fopen(path, "rb");
    {
        tflite::MMAPAllocation whole(fileno(file), &messages), part(fileno(file), 4099, 8, &messages);
        CHECK(whole.valid() && whole.fd() >= 0 && whole.fd() != fileno(file));
        CHECK(whole.mmapped_buffer() == whole.base() && whole.mmapped_buffer_size() == whole.bytes());
        CHECK(part.valid() && part.fd() != whole.fd() && part.bytes() == 8);
        size_t before = part.mmapped_buffer_size() - part.bytes();
        CHECK(static_cast<const char *>(part.mmapped_buffer()) + before == part.base());
        CHECK(part.mmapped_buffer_offset_in_file() + before == 4099);
        std::fclose(file);
        CHECK(lseek(whole.fd(), 0, SEEK_END) == static_cast<off_t>(whole.bytes())); // it outlives the caller's
        CHECK(tflite::MMAPAllocation(path, &messages).fd() >= 0);
    }
    CHECK(!tflite::MMAPAllocation(-1, &messages).valid());
    CHECK(tflite::MMAPAllocation("no/such.tflite", &messages).fd() == -1);
}

// What `write` writes to standard error.
template <class Function> tflite::string standard_error_of(Function write)
{
    std::FILE *kept = std::tmpfile();
    std::fflush(stderr);
    int before = dup(2);
    dup2(fileno(kept), 2);
    write();
    std::fflush(stderr);
    dup2(before, 2);
    close(before);
    tflite::string text(static_cast<size_t>(std::ftell(kept)), 0); // the descriptors share their position
    std::rewind(kept);
    CHECK(std::fread(&text[0], 1, text.size(), kept) == text.size());
    std::fclose(kept);
    return text;
}

void logs_may_be_silenced()
{
    auto say = [] {
        for (int i = 0; i < 2; i++) {
            TFLITE_LOG_PROD(tflite::TFLITE_LOG_WARNING, "%d of %s", i, "two");
            TFLITE_LOG_PROD_ONCE(tflite::TFLITE_LOG_WARNING, "once");
        }
        tflite::DefaultErrorReporter()->Report("fault %d", 7);
        TFLITE_LOG_PROD(tflite::TFLITE_LOG_VERBOSE, "nobody asked");
    };
    CHECK(standard_error_of(say) == "WARNING: 0 of two\nWARNING: once\nWARNING: 1 of two\nERROR: fault 7\n");
    CHECK(tflite::LoggerOptions::SetMinimumLogSeverity(tflite::TFLITE_LOG_ERROR) == tflite::TFLITE_LOG_INFO);
    CHECK(standard_error_of(say) == "ERROR: fault 7\n");
    CHECK(tflite::LoggerOptions::SetMinimumLogSeverity(tflite::TFLITE_LOG_SILENT) == tflite::TFLITE_LOG_ERROR);
    CHECK(standard_error_of(say).empty());
    tflite::LoggerOptions::SetMinimumLogSeverity(tflite::TFLITE_LOG_INFO);
}

class Chain : public tflite::MutableOpResolver
{
  public:
    using MutableOpResolver::ChainOpResolver;
};

void all_of_a_resolver_includes_whom_it_asks()
{
    TfLiteRegistration first = {}, second = {};
    first.invoke = [](TfLiteContext *, TfLiteNode *) { return kTfLiteOk; };
    second.invoke = [](TfLiteContext *, TfLiteNode *) { return kTfLiteError; };
    tflite::MutableOpResolver one, two;
    one.AddCustom("op", &first);
    two.AddCustom("op", &second);
    Chain asks, all;
    asks.ChainOpResolver(&one);
    all.ChainOpResolver(&two);
    CHECK(all.FindOp("op", 1)->invoke == second.invoke);
    all.AddAll(asks);
    CHECK(all.FindOp("op", 1)->invoke == first.invoke);
    Chain copy = all;
    CHECK(copy.FindOp("op", 1)->invoke == first.invoke);
    copy.AddCustom("op", &second);
    CHECK(copy.FindOp("op", 1)->invoke == second.invoke);
}

void small_types_have_sizes()
{
    const int dims[] = {3, 3};
    size_t bytes = 0;
    const std::pair<TfLiteType, size_t> wanted[] = {
        {kTfLiteInt4, 5}, {kTfLiteUInt4, 5}, {kTfLiteInt2, 3}, {kTfLiteFloat8E5M2, 9}, {kTfLiteBFloat16, 18}};
    for (const auto &pair : wanted) {
        CHECK_OK(tflite::BytesRequired(pair.first, dims, 2, &bytes, nullptr));
        CHECK(bytes == pair.second);
    }
    alignas(tflite::kDefaultTensorAlignment) static float memory[3];
    tflite::Interpreter interpreter;
    CHECK_OK(interpreter.AddTensors(1));
    floats(&interpreter, 1);
    CHECK_OK(interpreter.SetInputs({0}));
    CHECK_OK(interpreter.SetCustomAllocationForTensor(0, {memory, sizeof memory}));
    CHECK_OK(interpreter.AllocateTensors());
}

} // namespace

int main()
{
    tensors_lie_where_they_are_looked_for();
    sizes_that_no_memory_has();
    the_array_of_tensors_moves_when_it_grows();
    dynamic_tensors_go_when_asked_for();
    a_subgraph_tells_of_its_nodes();
    a_built_graph_may_have_signatures();
    a_graph_without_signatures_has_one_of_its_tensors_names();
    an_empty_list_of_graphs_loads();
    mapped_files_have_a_descriptor_of_their_own();
    logs_may_be_silenced();
    all_of_a_resolver_includes_whom_it_asks();
    small_types_have_sizes();
    return check_result();
}
