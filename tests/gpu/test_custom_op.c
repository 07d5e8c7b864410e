// SPDX-License-Identifier: Apache-2.0
// GPU operators of an application: the example of docs/gpu_custom_ops.md on every device that is here, operators of
// several dispatches, SPIR-V that the application brings, and what is refused: fields, texts, nodes and plans.
#include "base/library.h"
#include "base/loader_names.h"
#include "gpu/delegate/custom_kernel.h"
#include "gpu/delegate_session.h"

#include "doc_gpu_custom_ops.h"

static bool is_vulkan(const char *device)
{
    return strcmp(device, "vulkan") == 0;
}

// ---- SPIR-V as an application's build makes it --------------------------------------------------

enum { SPIRV_ROOM = 1 << 16 };
struct spirv {
    uint32_t words[2][SPIRV_ROOM / sizeof(uint32_t)];
};

// Gives the kernel its modules. False: there is no compiler here.
static bool add_spirv(HaliteGpuKernel *kernel, struct spirv *spirv)
{
    char folder[] = "/tmp/halite_test_custom_op.XXXXXX", text[16384], path[128], command[512];
    if (system("glslangValidator --version > /dev/null 2>&1") != 0) {
        print_message("no glslangValidator: install glslang-tools\n");
        return false;
    }
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        size_t length = HaliteGpuKernelGetSource(kernel, kHaliteGpuApiVulkan, i == 1, text, sizeof text);
        assert_in_range(length, 1, sizeof text - 1);
        assert_int_equal(length, strlen(text));
        snprintf(path, sizeof path, "%s/kernel.comp", folder);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, length, file), length);
        assert_int_equal(fclose(file), 0);
        snprintf(command, sizeof command, "glslangValidator -V --target-env vulkan1.1 -o %s.spv %s > %s.log", path,
                 path, path);
        assert_int_equal(system(command), 0);
        strcat(path, ".spv");
        assert_non_null(file = fopen(path, "rb"));
        kernel->spirv_bytes[i] = fread(spirv->words[i], 1, SPIRV_ROOM, file);
        kernel->spirv[i] = spirv->words[i];
        fclose(file);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    return true;
}

// Whether texts alone will do on the device.
static bool takes_texts(const char *device)
{
    if (!has_device(device)) return false;
    if (!is_vulkan(device)) return true;
    struct hl_library *library = hl_library_open_first(hl_loader_names.shaderc);
    if (library) hl_library_close(library);
    if (!library) print_message("no libshaderc for texts on Vulkan: install shaderc\n");
    return library != NULL;
}

// ---- the page's example -------------------------------------------------------------------------

enum { PICTURE = 2 * 5 * 7 * 6 };
#define PICTURES(label)                                                        \
    {                                                                          \
        .name = label, .type = TEST_FLOAT32, .rank = 4, .dims = { 2, 5, 7, 6 } \
    }
static const float strength_option = 0.75f;
static const struct test_tensor picture_tensors[] = {PICTURES("a"), PICTURES("r"), PICTURES("t"), PICTURES("s")};
static const struct test_node picture_nodes[] = {ONE_IN(kTfLiteBuiltinNeg, A, R),
                                                 {.builtin = kTfLiteBuiltinCustom,
                                                  .custom = "Vignette",
                                                  TEST_INPUTS(R),
                                                  TEST_OUTPUTS(T),
                                                  .options = &strength_option,
                                                  .option_bytes = sizeof strength_option},
                                                 TWO_IN(kTfLiteBuiltinAdd, A, T, S)};
static const struct test_model pictures = {TEST_TENSORS(picture_tensors), TEST_NODES(picture_nodes), TEST_INPUTS(A),
                                           TEST_OUTPUTS(S)};

static float picture_value(int i)
{
    return (float)(i * 37 % 101) / 50 - 1;
}

// The formula of the page, written once more: s = a + vignette(-a).
static float expected_picture(int i)
{
    int x = i / 6 % 7, y = i / 42 % 5;
    double u = (x + 0.5) / 7 - 0.5, v = (y + 0.5) / 5 - 0.5;
    return (float)(picture_value(i) - (double)picture_value(i) * (1 - 0.75 * (u * u + v * v)));
}

static void check_pictures(TfLiteInterpreter *interpreter)
{
    float values[PICTURE];
    for (int i = 0; i < PICTURE; i++) values[i] = picture_value(i);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    assert_int_equal(TfLiteTensorCopyFromBuffer(input, values, sizeof values), kTfLiteOk);
    assert_int_equal(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    const float *output = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0));
    for (int i = 0; i < PICTURE; i++) assert_float_equal(output[i], expected_picture(i), 1e-6f);
}

// As interpreter_with_vignette, with another form of the operator; NULL: with none for the GPU.
static TfLiteInterpreter *interpreter_with(const TfLiteModel *model, TfLiteDelegate *gpu, const HaliteGpuOp *op)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsAddCustomOp(options, "Vignette", &vignette_on_cpu, 1, 1);
    if (op) assert_int_equal(HaliteDelegateAddGpuOp(gpu, op), kTfLiteOk);
    if (op) TfLiteInterpreterOptionsAddDelegate(options, gpu);
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    TfLiteInterpreterOptionsDelete(options);
    return interpreter;
}

// spirv: the operator with SPIR-V; NULL: as the page has it.
static void check_example(const char *device, const char *precision, const HaliteGpuOp *spirv)
{
    size_t size;
    unsigned char *bytes = test_model_write(&pictures, &size);
    TfLiteModel *model = TfLiteModelCreate(bytes, size);
    TfLiteDelegate *delegate = make((const char *[]){"device", device, "precision", precision, NULL});
    TfLiteInterpreter *interpreter =
        spirv ? interpreter_with(model, delegate, spirv) : interpreter_with_vignette(model, delegate);
    assert_non_null(interpreter);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    const HaliteDelegateGraph *latest = HaliteDelegateReportGetGraph(report, 0);
    assert_int_equal(latest->gpu_node_count, 3);
    assert_int_equal(latest->partition_count, 1);
    bool named = false;
    for (int i = 0; i < HaliteDelegateReportGetKernelCount(report); i++) {
        const HaliteDelegateKernel *kernel = HaliteDelegateReportGetKernel(report, i);
        named = named || (strcmp(kernel->op, "Vignette") == 0 && strcmp(kernel->kernel, "vignette") == 0);
    }
    assert_true(named);
    HaliteDelegateReportDelete(report);
    if (strcmp(device, "null") != 0) check_pictures(interpreter);
    TfLiteInterpreterDelete(interpreter);
    tflite_plugin_destroy_delegate(delegate);
    TfLiteModelDelete(model);
    free(bytes);
}

static void test_example(void **state)
{
    (void)state;
    for (int d = 0; d < ALL_DEVICES; d++) {
        if (!takes_texts(all_devices[d])) continue;
        check_example(all_devices[d], "f32", NULL);
        check_example(all_devices[d], "f16", NULL); // small values stay floats
    }
}

static void test_example_in_spirv(void **state)
{
    (void)state;
    static struct spirv spirv;
    HaliteGpuKernel kernel = vignette_kernels[0];
    HaliteGpuOp op = vignette;
    if (!has_device("vulkan") || !add_spirv(&kernel, &spirv)) skip();
    op.kernels = &kernel;
    check_example("vulkan", "f32", &op);
    check_example("vulkan", "f16", &op);
}

static void test_example_on_the_cpu(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = test_model_write(&pictures, &size);
    TfLiteModel *model = TfLiteModelCreate(bytes, size);
    TfLiteInterpreter *interpreter = interpreter_with(model, NULL, NULL);
    assert_int_equal(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
    check_pictures(interpreter);
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    free(bytes);
}

// ---- an operator of two dispatches that copies, as the graph's own Toy does ---------------------

static const HaliteGpuArg there_args[] = {{kHaliteGpuArgInput, "x"},
                                          {kHaliteGpuArgWeights, "factors"},
                                          {kHaliteGpuArgOutput, "y"}};
static const HaliteGpuArg back_args[] = {{kHaliteGpuArgInput, "x"}, {kHaliteGpuArgOutput, "y"}};
static const HaliteGpuConstant back_constants[] = {{"HALVE", 0}, {"ROOM", 8}};
static const char *const back_shared[] = {"float halves[ROOM]"};
static const char *const back_params[] = {"side"};
static const HaliteGpuKernel toy_kernels[] = {
    {
        .struct_size = sizeof(HaliteGpuKernel),
        .name = "there", // mirrored, and each channel times its factor
        .body = "int4 p = position(); if (outside_y(p)) return;\n"
                "write_y(p, read_x(mki4(x_w - 1 - p.x, p.y, p.z, p.w)) * factors(p.z)); /* { ( */",
        .args = there_args,
        .arg_count = 3,
        .group = {4, 2, 2},
    },
    {
        .struct_size = sizeof(HaliteGpuKernel),
        .name = "back",
        .body = "if (LID0 < ROOM) { halves[LID0] = 1.0f; }\nBARRIER;\n"
                "int4 p = position();\n"
                "float factor = halves[LID0 % ROOM];\n"
                "if (HALVE != 0) factor = factor * 0.5f; // {\n"
                "if (!outside_y(p)) {\n"
                "    acc4 v = to_acc4(read_x(mki4(P_side.x - p.x, p.y, p.z, p.w))) * factor;\n"
                "    write_y(p, to_real4(v)); }",
        .args = back_args,
        .arg_count = 2,
        .params = back_params,
        .param_count = 1,
        .constants = back_constants,
        .constant_count = 2,
        .shared = back_shared,
        .shared_count = 1,
        .group = {8},
    },
};

enum fault {
    NO_FAULT,
    RETURNS_FALSE,
    NO_DISPATCH,
    KERNEL_THERE_IS_NOT,
    TOO_FEW_OPERANDS,
    STRAY_OPERAND,
    WRITES_INPUT,
    READS_UNWRITTEN,
    READS_WHAT_IT_WRITES,
    VALUE_FOR_WEIGHTS,
    WEIGHTS_FOR_VALUE,
    STRAY_WEIGHTS,
    UNKNOWN_CONSTANT,
    TOO_MANY_PARAMS,
    TOO_MANY_CONSTANTS,
    HUGE_GROUP,
    NEGATIVE_GRID,
    HUGE_SCRATCH,
    EMPTY_SCRATCH,
    HUGE_WEIGHTS,
    OLD_STRUCT,
    FAULTS
};
static const char *const fault_words[FAULTS] = {
    [RETURNS_FALSE] = "its plan function has failed",
    [NO_DISPATCH] = "no dispatch writes output 0",
    [KERNEL_THERE_IS_NOT] = "there is no kernel 2",
    [TOO_FEW_OPERANDS] = "gets 1 operands",
    [STRAY_OPERAND] = "which is no value of the node",
    [WRITES_INPUT] = "would write an input",
    [READS_UNWRITTEN] = "before a dispatch has written it",
    [READS_WHAT_IT_WRITES] = "one value for x and y",
    [VALUE_FOR_WEIGHTS] = "none of the node's weights",
    [WEIGHTS_FOR_VALUE] = "which is no value of the node",
    [STRAY_WEIGHTS] = "none of the node's weights",
    [UNKNOWN_CONSTANT] = "has no constant OTHER",
    [TOO_MANY_PARAMS] = "gets 2 parameters",
    [TOO_MANY_CONSTANTS] = "gets 17 constants",
    [HUGE_GROUP] = "a work-group of",
    [NEGATIVE_GRID] = "a grid of -1",
    [HUGE_SCRATCH] = "beyond what a device can count",
    [EMPTY_SCRATCH] = "beyond what a device can count",
    [HUGE_WEIGHTS] = "vectors of weights",
    [OLD_STRUCT] = "struct_size",
};

static void make_faulty(enum fault fault, int32_t scratch, int32_t input, HaliteGpuDispatch *first,
                        HaliteGpuDispatch *second, int32_t *first_operands, int32_t *second_operands)
{
    static const HaliteGpuConstant others[9] = {{"OTHER", 1}};
    switch (fault) {
    case KERNEL_THERE_IS_NOT: second->kernel = 2; break;
    case TOO_FEW_OPERANDS: second->operand_count = 1; break;
    case STRAY_OPERAND: first_operands[0] = 999999; break;
    case WRITES_INPUT: first_operands[0] = first_operands[2] = input; break;
    case READS_UNWRITTEN: first_operands[0] = scratch; break;
    case READS_WHAT_IT_WRITES: second_operands[1] = scratch; break;
    case VALUE_FOR_WEIGHTS: first_operands[1] = input; break;
    case WEIGHTS_FOR_VALUE: first_operands[0] = first_operands[1]; break;
    case STRAY_WEIGHTS: first_operands[1] += 1; break;
    case UNKNOWN_CONSTANT:
        second->constants = others;
        second->constant_count = 1;
        break;
    case TOO_MANY_PARAMS: second->param_count = 2; break;
    case TOO_MANY_CONSTANTS:
        second->constants = others;
        second->constant_count = 17;
        break;
    case HUGE_GROUP: first->group[1] = INT32_MAX; break;
    case NEGATIVE_GRID: first->grid[2] = -1; break;
    case OLD_STRUCT: second->struct_size--; break;
    default: break;
    }
}

static bool toy_plan(void *data, HaliteGpuPlan *plan)
{
    static const float twos[8] = {2, 2, 2, 2, 2, 2, 2, 2};
    static const HaliteGpuConstant halve[] = {{"HALVE", 1}};
    static const int32_t huge[] = {1 << 20, 1 << 20, 1 << 20, 1 << 20}, empty[] = {1, 0, 1, 1};
    enum fault fault = *(const enum fault *)data;
    int32_t input = HaliteGpuPlanGetInput(plan, 0), output = HaliteGpuPlanGetOutput(plan, 0), shape[4], none[4];
    if (fault == RETURNS_FALSE) return false;
    if (fault == NO_DISPATCH) return true;
    assert_int_equal(HaliteGpuPlanGetInput(plan, 1), -1);
    assert_int_equal(HaliteGpuPlanGetInput(plan, -1), -1);
    assert_int_equal(HaliteGpuPlanGetOutput(plan, 1), -1);
    assert_true(HaliteGpuPlanGetShape(plan, input, shape));
    assert_false(HaliteGpuPlanGetShape(plan, -1, none));
    assert_int_equal(none[3], 0);
    assert_int_equal(shape[0] * shape[1] * shape[2] * shape[3], ELEMENTS);
    assert_null(HaliteGpuPlanGetConstant(plan, input, NULL));
    assert_null(HaliteGpuPlanGetOptions(plan, NULL));
    const int32_t *wanted = fault == HUGE_SCRATCH ? huge : fault == EMPTY_SCRATCH ? empty : shape;
    int32_t scratch = HaliteGpuPlanAddScratch(plan, wanted);
    int32_t weights = HaliteGpuPlanAddWeights(plan, twos, fault == HUGE_WEIGHTS ? (size_t)-1 : 2);
    int32_t first_operands[] = {input, weights, scratch}, second_operands[] = {scratch, output};
    const int32_t params[2][4] = {{shape[2] - 1}};
    HaliteGpuDispatch first = {.struct_size = sizeof first,
                               .kernel = 0,
                               .operands = first_operands,
                               .operand_count = 3};
    HaliteGpuDispatch second = {.struct_size = sizeof second,
                                .kernel = 1,
                                .operands = second_operands,
                                .operand_count = 2,
                                .params = params,
                                .param_count = 1,
                                .constants = halve,
                                .constant_count = 1};
    make_faulty(fault, scratch, input, &first, &second, first_operands, second_operands);
    // What one of them returns does not matter: the plan has failed.
    HaliteGpuPlanAddDispatch(plan, &first);
    HaliteGpuPlanAddDispatch(plan, &second);
    return true;
}

static HaliteGpuOp toy_op(const enum fault *fault)
{
    return (HaliteGpuOp){
        .struct_size = sizeof(HaliteGpuOp),
        .name = "Toy",
        .input_min = 1,
        .kernels = toy_kernels,
        .kernel_count = 2,
        .plan = toy_plan,
        .data = (void *)(uintptr_t)fault,
    };
}

static void check_toy(const char *device, const HaliteGpuOp *op)
{
    TfLiteDelegate *delegate = make((const char *[]){"device", device, NULL});
    assert_int_equal(HaliteDelegateAddGpuOp(delegate, op), kTfLiteOk);
    assert_int_equal(HaliteDelegateAddGpuOp(delegate, op), kTfLiteError); // it is there already
    struct session session;
    begin(&session, &graph);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(&session), 4);
    assert_int_equal(HaliteInterpreterGetNodeCount(session.interpreter), 1);
    set_input(&session);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    if (strcmp(device, "null") != 0) check_output(&session);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

static void test_parts(void **state)
{
    (void)state;
    static const enum fault none = NO_FAULT;
    const HaliteGpuOp op = toy_op(&none);
    for (int d = 0; d < ALL_DEVICES; d++)
        if (takes_texts(all_devices[d])) check_toy(all_devices[d], &op);
}

static void test_spirv(void **state)
{
    (void)state;
    static const enum fault none = NO_FAULT;
    static struct spirv spirv[2];
    HaliteGpuKernel kernels[2] = {toy_kernels[0], toy_kernels[1]};
    HaliteGpuOp op = toy_op(&none);
    if (!has_device("vulkan") || !add_spirv(&kernels[0], &spirv[0]) || !add_spirv(&kernels[1], &spirv[1])) skip();
    op.kernels = kernels;
    setenv("HALITE_SHADERC_LIBRARY", "/nonexistent", 1); // not needed
    check_toy("vulkan", &op);
    unsetenv("HALITE_SHADERC_LIBRARY");
}

// ---- what fails when the delegate is applied ----------------------------------------------------

// Applying the delegate fails with a message, and the CPU computes.
static void check_failure(const char *device, const HaliteGpuOp *op, const char *words)
{
    TfLiteDelegate *delegate = make((const char *[]){"device", device, NULL});
    assert_int_equal(HaliteDelegateAddGpuOp(delegate, op), kTfLiteOk);
    struct session session;
    begin(&session, &graph);
    assert_int_equal(apply(&session, delegate), kTfLiteDelegateError);
    if (!strstr(session.messages.text, words)) print_error("%s: %s\n", words, session.messages.text);
    assert_non_null(strstr(session.messages.text, words));
    assert_int_equal(delegated_nodes(&session), 0);
    set_input(&session);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    check_output(&session);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

static void test_faulty_plans(void **state)
{
    (void)state;
    for (enum fault fault = NO_FAULT + 1; fault < FAULTS; fault++) {
        const HaliteGpuOp op = toy_op(&fault);
        check_failure("null", &op, fault_words[fault]);
    }
}

static void test_texts_that_do_not_compile(void **state)
{
    (void)state;
    static const enum fault none = NO_FAULT;
    HaliteGpuKernel kernels[2] = {toy_kernels[0], toy_kernels[1]};
    kernels[1].body = "int4 p = position(); write_y(p, no_such_word(p));";
    HaliteGpuOp op = toy_op(&none);
    op.kernels = kernels;
    for (int d = 1; d < ALL_DEVICES; d++)
        if (takes_texts(all_devices[d])) check_failure(all_devices[d], &op, "no_such_word");
    setenv("HALITE_SHADERC_LIBRARY", "/nonexistent", 1);
    if (has_device("vulkan")) check_failure("vulkan", &op, "Vulkan takes SPIR-V: give it with the kernel");
    unsetenv("HALITE_SHADERC_LIBRARY");
}

// ---- nodes that stay on the CPU -----------------------------------------------------------------

static bool no_node(void *data, const HaliteGpuNode *node, char *why, size_t why_bytes)
{
    size_t bytes;
    assert_int_equal(HaliteGpuNodeGetInputCount(node), 1);
    assert_int_equal(HaliteGpuNodeGetOutputCount(node), 1);
    assert_int_equal(TfLiteTensorNumDims(HaliteGpuNodeGetInput(node, 0)), 4);
    assert_null(HaliteGpuNodeGetInput(node, 1));
    assert_null(HaliteGpuNodeGetInput(node, -1));
    assert_null(HaliteGpuNodeGetOutput(node, 1));
    assert_null(HaliteGpuNodeGetOptions(node, &bytes));
    assert_int_equal(bytes, 0);
    assert_int_equal(HaliteGpuNodeGetVersion(node), 1);
    memset(why, data ? 'x' : 0, why_bytes); // no zero at the end
    return false;
}

static void check_reason(const HaliteGpuOp *op, HaliteDelegateReason reason, const char *words)
{
    TfLiteDelegate *delegate = make((const char *[]){"device", "null", NULL});
    assert_int_equal(HaliteDelegateAddGpuOp(delegate, op), kTfLiteOk);
    struct session session;
    begin(&session, &graph);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    HaliteDelegateReport *report = HaliteDelegateReportCreate(delegate);
    const HaliteDelegateNode *node = HaliteDelegateReportGetNode(report, 1);
    assert_string_equal(node->op, "Toy");
    assert_false(node->on_gpu);
    assert_int_equal(node->reason, reason);
    assert_non_null(strstr(node->text, words));
    HaliteDelegateReportDelete(report);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
}

static void test_nodes_that_stay(void **state)
{
    (void)state;
    static const enum fault none = NO_FAULT;
    HaliteGpuOp op = toy_op(&none);
    op.input_min = 2;
    check_reason(&op, kHaliteDelegateReasonInputCount, "1 inputs, expected 2 to 2");
    op.input_min = 1;
    op.output_count = 2;
    check_reason(&op, kHaliteDelegateReasonInputCount, "1 outputs, expected 2");
    op.output_count = 0;
    op.supported = no_node;
    check_reason(&op, kHaliteDelegateReasonParameter, "xxx");
    op.data = NULL;
    check_reason(&op, kHaliteDelegateReasonParameter, "its supported function refuses the node");
}

// ---- what is refused at once --------------------------------------------------------------------

static void check_kernel(HaliteGpuKernel kernel, const char *words)
{
    struct gpu_problem problem = {""};
    struct hl_arena arena;
    hl_arena_init(&arena, SIZE_MAX);
    assert_null(gpu_custom_kernel(&kernel, &arena, &problem));
    if (!strstr(problem.text, words)) print_error("%s: %s\n", words, problem.text);
    assert_non_null(strstr(problem.text, words));
    hl_arena_clear(&arena);
    char text[1];
    assert_int_equal(HaliteGpuKernelGetSource(&kernel, kHaliteGpuApiOpenCl, false, text, sizeof text), 0);
}

#define WITH(field, value, words)                \
    do {                                         \
        HaliteGpuKernel kernel = toy_kernels[1]; \
        kernel.field = value;                    \
        check_kernel(kernel, words);             \
    } while (0)

static void test_kernels_that_are_refused(void **state)
{
    (void)state;
    static const HaliteGpuArg twice[] = {{kHaliteGpuArgInput, "x"}, {kHaliteGpuArgOutput, "x"}};
    static const HaliteGpuArg inputs[] = {{kHaliteGpuArgInput, "x"}, {kHaliteGpuArgWeights, "y"}};
    static const HaliteGpuArg strange[] = {{kHaliteGpuArgInput, "x"}, {(HaliteGpuArgKind)7, "y"}};
    static const HaliteGpuArg nameless[] = {{kHaliteGpuArgInput, NULL}, {kHaliteGpuArgOutput, "y"}};
    static const char *const taken[] = {"x"}, *const open[] = {"float halves[2"}, *const two[] = {"float a; int b[2]"};
    static const HaliteGpuConstant small[] = {{"halve", 1}, {"ROOM", 1}}, same[] = {{"ROOM", 1}, {"ROOM", 2}};
    static const uint32_t no_module[8] = {1};
    static char most[(1 << 16) + 2];
    memset(most, ' ', sizeof most - 1);
    WITH(struct_size, sizeof(HaliteGpuKernel) - 1, "struct_size");
    WITH(name, NULL, "a kernel has the name \"\"");
    WITH(name, "Back", "small letters");
    WITH(name, "1back", "small letters");
    WITH(name, "a_name_that_has_thirty_two_bytes", "1 to 31");
    WITH(name, "x", "stands for two things");
    WITH(body, NULL, "the body is empty");
    WITH(body, most, "longer than 65536 bytes");
    WITH(body, "#define x y", "a byte 0x23");
    WITH(body, "a \\ b", "a byte 0x5c");
    WITH(body, "caf\xc3\xa9", "a byte 0xc3");
    WITH(body, "} void other() {", "closes a brace");
    WITH(body, "if (a { }", "leaves a parenthesis open");
    WITH(body, "{ /* } */", "leaves a brace open");
    WITH(args, NULL, "the list is NULL");
    WITH(arg_count, 5, "arg_count is 5");
    WITH(arg_count, -1, "arg_count is -1");
    WITH(args, twice, "stands for two things");
    WITH(args, inputs, "no argument is an output");
    WITH(args, strange, "of kind 7");
    WITH(args, nameless, "an argument has the name");
    WITH(params, taken, "stands for two things");
    WITH(param_count, 5, "param_count is 5");
    WITH(constants, small, "capital letters");
    WITH(constants, same, "stands for two things");
    WITH(constant_count, 17, "constant_count is 17");
    WITH(shared, open, "is to be declared");
    WITH(shared, two, "is to be declared");
    WITH(shared_count, INT32_MAX, "shared_count is");
    WITH(group[1], -1, "group[1] is -1");
    WITH(group[1], 256, "2048 work-items");
    WITH(group[2], INT32_MAX, "group[2] is");
    WITH(spirv[0], no_module, "is no module"); // of 0 bytes
}

static void test_operators_that_are_refused(void **state)
{
    (void)state;
    static const enum fault none = NO_FAULT;
    static char long_name[129];
    memset(long_name, 'n', sizeof long_name - 1);
    TfLiteDelegate *delegate = make((const char *[]){"device", "null", NULL});
    HaliteGpuKernel same[2] = {toy_kernels[0], toy_kernels[0]};
    HaliteGpuOp ops[12];
    for (int i = 0; i < 12; i++) ops[i] = toy_op(&none);
    ops[0].struct_size--;
    ops[1].name = NULL;
    ops[2].name = "";
    ops[3].name = long_name;
    ops[4].input_min = 0;
    ops[5].input_max = 65;
    ops[6].output_count = 65;
    ops[7].kernel_count = 0;
    ops[8].kernels = NULL;
    ops[9].plan = NULL;
    ops[10].kernels = same; // of one name
    ops[11].max_version = -1;
    for (int i = 0; i < 12; i++) assert_int_equal(HaliteDelegateAddGpuOp(delegate, &ops[i]), kTfLiteError);
    HaliteGpuOp good = toy_op(&none);
    assert_int_equal(HaliteDelegateAddGpuOp(delegate, NULL), kTfLiteError);
    assert_int_equal(HaliteDelegateAddGpuOp(NULL, &good), kTfLiteError);
    TfLiteDelegate other = {.data_ = NULL};
    assert_int_equal(HaliteDelegateAddGpuOp(&other, &good), kTfLiteError);
    assert_int_equal(HaliteGpuKernelGetSource(NULL, kHaliteGpuApiOpenCl, false, NULL, 0), 0);
    assert_int_equal(HaliteGpuKernelGetSource(toy_kernels, kHaliteGpuApiNone, false, NULL, 0), 0);
    assert_int_equal(HaliteGpuKernelGetSource(toy_kernels, (HaliteGpuApi)99, false, NULL, 0), 0);
    assert_true(HaliteGpuKernelGetSource(toy_kernels, kHaliteGpuApiOpenCl, true, NULL, 0) > 1000);
    assert_int_equal(HaliteDelegateAddGpuOp(delegate, &good), kTfLiteOk);
    tflite_plugin_destroy_delegate(delegate);
}

int main(void)
{
    unsetenv("HALITE_DEVICE");
    unsetenv("HALITE_SHADERC_LIBRARY");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example_on_the_cpu),
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_example_in_spirv),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_spirv),
        cmocka_unit_test(test_faulty_plans),
        cmocka_unit_test(test_texts_that_do_not_compile),
        cmocka_unit_test(test_nodes_that_stay),
        cmocka_unit_test(test_kernels_that_are_refused),
        cmocka_unit_test(test_operators_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
