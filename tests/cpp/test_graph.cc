// SPDX-License-Identifier: Apache-2.0
// Graphs that a program builds with the C++ classes, custom operators in them, strings, and the helpers that kernels
// use. Expected values are worked out by hand.
#include <cstdlib>
#include <cstring>

#include "check.h"
#include "tensorflow/lite/context_util.h"
#include "tensorflow/lite/external_cpu_backend_context.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/builtin_op_kernels.h"
#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"
#include "tensorflow/lite/kernels/internal/types.h"
#include "tensorflow/lite/kernels/kernel_util.h"
#include "tensorflow/lite/kernels/padding.h"
#include "tensorflow/lite/profiling/profile_buffer.h"
#include "tensorflow/lite/string_util.h"
#include "tensorflow/lite/type_to_tflitetype.h"
#include "tensorflow/lite/util.h"

namespace
{

const TfLiteQuantization none = {kTfLiteNoQuantization, nullptr};

void an_empty_interpreter_runs_once_allocated()
{
    tflite::Interpreter interpreter;
    CHECK(interpreter.Invoke() != kTfLiteOk);
    CHECK_OK(interpreter.AllocateTensors());
    CHECK_OK(interpreter.Invoke());
    CHECK_OK(interpreter.SetInputs({}));
    CHECK_OK(interpreter.SetOutputs({}));
    CHECK_OK(interpreter.AllocateTensors());
    CHECK_OK(interpreter.Invoke());
}

// y = 2 x, for floats; a kernel as programs write them.
TfLiteStatus twice_prepare(TfLiteContext *context, TfLiteNode *node)
{
    TF_LITE_ENSURE_EQ(context, tflite::NumInputs(node), 1);
    TF_LITE_ENSURE_EQ(context, tflite::NumOutputs(node), 1);
    const TfLiteTensor *x;
    TfLiteTensor *y;
    TF_LITE_ENSURE_OK(context, tflite::GetInputSafe(context, node, 0, &x));
    TF_LITE_ENSURE_OK(context, tflite::GetOutputSafe(context, node, 0, &y));
    TF_LITE_ENSURE_TYPES_EQ(context, x->type, kTfLiteFloat32);
    CHECK(tflite::GetInput(context, node, 1) == nullptr);
    CHECK(tflite::GetVariableInput(context, node, 0) == nullptr);
    return context->ResizeTensor(context, y, TfLiteIntArrayCopy(x->dims));
}
TfLiteStatus twice_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *x = tflite::GetInput(context, node, 0);
    TfLiteTensor *y = tflite::GetOutput(context, node, 0);
    CHECK(tflite::GetTensorShape(x).FlatSize() == tflite::NumElements(x));
    for (int64_t i = 0; i < tflite::NumElements(x); i++)
        tflite::GetTensorData<float>(y)[i] = 2 * tflite::GetTensorData<float>(x)[i];
    return kTfLiteOk;
}

void a_custom_kernel_and_a_builtin_one_make_a_graph()
{
    static const float ones[] = {1, 1, 1};
    Messages messages;
    tflite::Interpreter interpreter(&messages);
    int first = -1;
    CHECK_OK(interpreter.AddTensors(4, &first));
    CHECK(first == 0 && interpreter.tensors_size() == 4);
    CHECK_OK(interpreter.SetTensorParametersReadWrite(0, kTfLiteFloat32, "x", {3}, none));
    CHECK_OK(interpreter.SetTensorParametersReadWrite(1, kTfLiteFloat32, "doubled", {3}, TfLiteQuantizationParams()));
    CHECK_OK(interpreter.SetTensorParametersReadOnly(2, kTfLiteFloat32, "ones", {3}, none,
                                                     reinterpret_cast<const char *>(ones), sizeof ones));
    CHECK_OK(interpreter.SetTensorParametersReadWrite(3, kTfLiteFloat32, "y", {3}, none));
    CHECK_OK(interpreter.SetInputs({0}));
    CHECK_OK(interpreter.SetOutputs({3}));
    TfLiteRegistration twice = {};
    twice.prepare = twice_prepare;
    twice.invoke = twice_invoke;
    twice.builtin_code = kTfLiteBuiltinCustom;
    twice.custom_name = "Twice";
    int node = -1;
    CHECK_OK(interpreter.AddNodeWithParameters({0}, {1}, nullptr, 0, nullptr, &twice, &node));
    CHECK(node == 0);
    CHECK_OK(interpreter.AddNodeWithParameters({1, 2}, {3}, nullptr, 0, std::calloc(1, sizeof(TfLiteAddParams)),
                                               tflite::ops::builtin::Register_ADD(), &node));
    CHECK(node == 1 && interpreter.execution_plan() == std::vector<int>({0, 1}));
    CHECK_OK(interpreter.AllocateTensors());
    float *x = interpreter.typed_input_tensor<float>(0);
    for (int i = 0; i < 3; i++) x[i] = static_cast<float>(i);
    CHECK_OK(interpreter.Invoke());
    const float *y = interpreter.typed_output_tensor<float>(0);
    CHECK(y[0] == 1 && y[1] == 3 && y[2] == 5);
    CHECK_OK(interpreter.ResizeInputTensor(0, {2, 3}));
    CHECK(interpreter.ResizeInputTensor(2, {2, 3}) == kTfLiteError); // a constant
    CHECK_OK(interpreter.AllocateTensors());
    CHECK(interpreter.output_tensor(0)->bytes == 6 * sizeof(float));
    CHECK(tflite::GetOpNameByRegistration(interpreter.node_and_registration(1)->second) == "ADD");
    CHECK(interpreter.SetExecutionPlan({2}) == kTfLiteError);
    CHECK_OK(interpreter.SetExecutionPlan({1}));
    CHECK(interpreter.execution_plan() == std::vector<int>({1}));
    CHECK(interpreter.SetInputs({-9}) == kTfLiteError);
    CHECK(messages.has("Invalid tensor index -9"));
    CHECK(interpreter.AllocateTensors() != kTfLiteOk);
}

void quantization_and_variables_are_kept()
{
    tflite::Interpreter interpreter;
    CHECK_OK(interpreter.AddTensors(2));
    TfLiteQuantizationParams params = {0.25f, 7};
    CHECK_OK(interpreter.SetTensorParametersReadWrite(0, kTfLiteInt8, "state", {4}, params, true));
    std::vector<int> signature = {-1, 2};
    CHECK_OK(interpreter.SetTensorParametersReadWrite(1, kTfLiteFloat32, "open", {1, 2}, TfLiteQuantizationParams(),
                                                      false, &signature));
    CHECK_OK(interpreter.SetVariables({0}));
    CHECK_OK(interpreter.SetInputs({1}));
    CHECK(interpreter.variables() == std::vector<int>({0}));
    const TfLiteTensor *state = interpreter.tensor(0);
    CHECK(state->quantization.type == kTfLiteAffineQuantization && state->params.scale == 0.25f);
    CHECK_OK(interpreter.AllocateTensors());
    CHECK(interpreter.typed_tensor<int8_t>(0)[3] == 7); // real 0
    interpreter.typed_tensor<int8_t>(0)[3] = 9;
    CHECK_OK(interpreter.SetNumThreads(2));
    CHECK(interpreter.typed_tensor<int8_t>(0)[3] == 9);
    CHECK_OK(interpreter.ResetVariableTensors());
    CHECK(interpreter.typed_tensor<int8_t>(0)[3] == 7);
    CHECK(interpreter.ResizeInputTensorStrict(1, {5, 3}) == kTfLiteError);
    CHECK_OK(interpreter.ResizeInputTensorStrict(1, {5, 2}));
}

void strings_are_written_and_read()
{
    tflite::DynamicBuffer buffer;
    buffer.AddString("ab", 2);
    buffer.AddString("", 0);
    buffer.AddJoinedString({{"x", 1}, {"yz", 2}}, ' ');
    TfLiteTensor tensor = {};
    buffer.WriteToTensorAsVector(&tensor);
    CHECK(tensor.type == kTfLiteString && tensor.dims->size == 1 && tensor.dims->data[0] == 3);
    CHECK(tensor.bytes == 5 * 4 + 6); // count, offsets of three strings and the end, "ab", "x yz"
    CHECK(tflite::GetStringCount(&tensor) == 3);
    tflite::StringRef last = tflite::GetString(&tensor, 2);
    CHECK(std::string(last.str, last.len) == "x yz");
    CHECK(tflite::GetString(&tensor, 1).len == 0);
    CHECK(tflite::GetString(&tensor, 3).len == 0); // there is none
    tensor.data.i32[4] = 1000;                     // the end lies beyond the tensor
    CHECK(tflite::GetString(&tensor, 2).len == 0);
    TfLiteTensorFree(&tensor);
    tflite::DynamicBuffer small(3);
    CHECK(small.AddString("abcd", 4) == kTfLiteError);
    CHECK_OK(small.AddString("abc", 3));
    CHECK(small.AddString("d", 1) == kTfLiteError);
}

void helpers_compute()
{
    CHECK(tflite::typeToTfLiteType<std::string>() == kTfLiteString);
    CHECK(tflite::typeToTfLiteType<char *>() == kTfLiteNoType);
    tflite::IntArrayUniquePtr array = tflite::BuildTfLiteArray({2, 3});
    int sum = 0;
    for (int value : tflite::TfLiteIntArrayView(array.get())) sum += value;
    CHECK(sum == 5);
    CHECK(tflite::EqualArrayAndTfLiteIntArray(array.get(), 2, array->data));
    size_t product = 0, bytes = 0;
    CHECK(tflite::MultiplyAndCheckOverflow(SIZE_MAX, 2, &product) == kTfLiteError);
    CHECK_OK(tflite::BytesRequired(kTfLiteInt16, array->data, 2, &bytes, nullptr));
    CHECK(bytes == 12);
    CHECK(tflite::BytesRequired(kTfLiteString, array->data, 2, &bytes, nullptr) == kTfLiteError);
    CHECK(tflite::IsFlexOp("FlexAdd") && !tflite::IsFlexOp("Add") && !tflite::IsFlexOp(nullptr));
    float least, most;
    tflite::CalculateActivationRange(kTfLiteActRelu6, &least, &most);
    CHECK(least == 0 && most == 6);
    TfLiteTensor output = {};
    output.type = kTfLiteUInt8;
    output.params = {0.5f, 10};
    int32_t low = 0, high = 0;
    CHECK_OK(tflite::CalculateActivationRangeQuantized(nullptr, kTfLiteActRelu6, &output, &low, &high));
    CHECK(low == 10 && high == 22); // 0 and 6 in steps of a half, from 10
    CHECK_OK(tflite::CalculateActivationRangeQuantized(nullptr, kTfLiteActNone, &output, &low, &high));
    CHECK(low == 0 && high == 255);
    output.dims_signature = array.get();
    CHECK(!tflite::HasUnspecifiedDimension(&output));
    array->data[1] = -1;
    CHECK(tflite::HasUnspecifiedDimension(&output));
    output.dims_signature = nullptr;
    CHECK(!tflite::HasUnspecifiedDimension(&output));
    const tflite::RuntimeShape shape({2, 3, 4}), other({5, 3, 4});
    CHECK(tflite::MatchingFlatSize(shape, shape, shape) == 24);
    CHECK(tflite::MatchingDim(shape, 1, other, 1, shape, 1) == 3);
    CHECK(tflite::FlatSizeSkipDim(shape, 1) == 8 && tflite::MatchingFlatSizeSkipDim(shape, 0, other) == 12);
    // 7 rows by 3 with a step of 2: 4 windows need 9 rows. 6 columns by 2 with a step of 2: 3 windows fit. Valid: 5 rows
    // are seen with a dilation of 2, so that two windows fit.
    int height = 0, width = 0;
    TfLitePaddingValues same =
        tflite::ComputePaddingHeightWidth(2, 2, 1, 1, 7, 6, 3, 2, kTfLitePaddingSame, &height, &width);
    CHECK(height == 4 && width == 3 && same.height == 1 && same.width == 0 && same.height_offset == 0);
    same = tflite::ComputePaddingHeightWidth(2, 1, 1, 1, 6, 6, 3, 2, kTfLitePaddingSame, &height, &width);
    CHECK(height == 3 && same.height == 0 && same.height_offset == 1 && same.width == 0 && same.width_offset == 1);
    CHECK(tflite::ComputeOutSize(kTfLitePaddingValid, 7, 3, 2, 2) == 2);
    CHECK(tflite::ComputePadding(1, 1, 5, 3, 5) == 1);
    CHECK(tflite::RuntimeShape::ExtendedShape(3, {5}) == tflite::RuntimeShape({1, 1, 5}));
}

void operators_have_the_schemas_names()
{
    for (int op = tflite::BuiltinOperator_MIN; op <= tflite::BuiltinOperator_MAX; op++) {
        const char *name = HaliteGetOperatorName(op);
        CHECK(name && *name);
    }
    CHECK(HaliteGetOperatorName(tflite::BuiltinOperator_MAX + 1) == nullptr);
#define NAMED(op) CHECK(std::strcmp(tflite::EnumNameBuiltinOperator(tflite::BuiltinOperator_##op), #op) == 0)
    NAMED(ADD);
    NAMED(CONV_2D);
    NAMED(CUSTOM);
    NAMED(DELEGATE);
    NAMED(STABLEHLO_CASE);
    CHECK(tflite::ops::builtin::Register_CONV_2D()->builtin_code == kTfLiteBuiltinConv2d);
}

void profile_buffers_forget_the_oldest()
{
    using Type = tflite::Profiler::EventType;
    tflite::profiling::ProfileBuffer buffer(2, true);
    uint32_t gone = buffer.BeginEvent("a", Type::DEFAULT, 1, 0);
    buffer.BeginEvent("b", Type::DEFAULT, 2, 0);
    uint32_t last = buffer.BeginEvent("c", Type::DEFAULT, 3, 0);
    buffer.EndEvent(gone);
    buffer.EndEvent(last);
    CHECK(buffer.Size() == 2 && std::strcmp(buffer.At(0)->tag, "b") == 0 && buffer.At(1)->event_metadata == 3);
    CHECK(buffer.At(2) == nullptr);
    tflite::profiling::ProfileBuffer grows(1, true, true);
    for (int i = 0; i < 5; i++) grows.AddEvent("x", Type::DEFAULT, 4, i, 0);
    CHECK(grows.Size() == 5 && grows.At(4)->event_metadata == 4);
}

class Threads : public tflite::TfLiteInternalBackendContext
{
  public:
    explicit Threads(int *count) : count_(count) {}
    void SetMaxNumThreads(int count) override { *count_ = count; }
    void ClearCaches() override {}

  private:
    int *count_;
};

void external_contexts_hear_of_threads()
{
    int count = 0;
    tflite::ExternalCpuBackendContext external; // outlives the interpreter
    external.set_internal_backend_context(std::make_unique<Threads>(&count));
    tflite::Interpreter interpreter;
    interpreter.SetExternalContext(kTfLiteCpuBackendContext, &external);
    CHECK_OK(interpreter.SetNumThreads(3));
    CHECK(count == 3);
}

void added_subgraphs_exist()
{
    tflite::Interpreter interpreter;
    int first = -1;
    interpreter.AddSubgraphs(2, &first);
    CHECK(first == 1 && interpreter.subgraphs_size() == 3);
    tflite::Subgraph *added = interpreter.subgraph(2);
    CHECK_OK(added->AddTensors(1));
    CHECK_OK(added->SetTensorParametersReadWrite(0, kTfLiteInt32, "n", {}, none));
    CHECK_OK(added->SetInputs({0}));
    CHECK_OK(added->AllocateTensors());
    CHECK(added->tensor(0)->bytes == 4 && added->tensor(0)->data.raw != nullptr);
    CHECK(added->GetSubgraphIndex() == 2 && interpreter.tensors_size() == 0);
}

} // namespace

int main()
{
    an_empty_interpreter_runs_once_allocated();
    a_custom_kernel_and_a_builtin_one_make_a_graph();
    quantization_and_variables_are_kept();
    strings_are_written_and_read();
    helpers_compute();
    operators_have_the_schemas_names();
    profile_buffers_forget_the_oldest();
    external_contexts_hear_of_threads();
    added_subgraphs_exist();
    return check_result();
}
