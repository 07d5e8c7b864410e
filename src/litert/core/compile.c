// SPDX-License-Identifier: Apache-2.0
// Compiled models: an interpreter with the options that a program asked for, and the GPU's delegate applied to it. See
// run.c for what is done with one.
#include <stdlib.h>
#include <string.h>

#include "litert/c/litert_compiled_model.h"
#include "litert/c/litert_opaque_options.h"
#include "litert/c/litert_options.h"
#include "litert/core/compiled_model.h"
#include "litert/options_text.h"
#include "tensorflow/lite/c/c_api_experimental.h"

// ---- options ------------------------------------------------------------------------------------

struct settings {
    LiteRtHwAcceleratorSet hardware;
    int32_t threads; // -1: the library chooses
    HaliteKernels kernels;
    LiteRtErrorReporterMode error_mode;
};

static LiteRtStatus refuse(const char *identifier, const struct litert_options_text *text, const char *problem)
{
    return litert_fail(kLiteRtStatusErrorInvalidArgument, "%s: line %d: %s", identifier, text->line, problem);
}

static const char *find_payload(LiteRtOptions options, const char *identifier)
{
    void *payload = NULL;
    bool found = options && options->opaque &&
                 LiteRtFindOpaqueOptionsData(options->opaque, identifier, &payload) == kLiteRtStatusOk;
    return found ? payload : NULL;
}

// Keys that are not named here are XNNPACK's own.
static LiteRtStatus read_cpu_options(LiteRtOptions options, struct settings *settings)
{
    static const char identifier[] = "xnnpack";
    struct litert_options_text text = {.at = find_payload(options, identifier)};
    struct litert_option option;
    while (litert_options_text_next(&text, &option)) {
        if (strcmp(option.key, "num_threads") == 0) {
            if (option.type != LITERT_OPTION_INTEGER || option.integer < -1 || option.integer > INT32_MAX)
                return refuse(identifier, &text, "num_threads is no number from -1 on");
            settings->threads = option.integer > 0 ? (int32_t)option.integer : -1;
        } else if (strcmp(option.key, "kernel_mode") == 0) {
            if (option.type != LITERT_OPTION_TEXT) return refuse(identifier, &text, "kernel_mode is no text");
            if (strcmp(option.text, "reference") == 0) settings->kernels = kHaliteKernelsReference;
        }
    }
    return text.problem ? refuse(identifier, &text, text.problem) : kLiteRtStatusOk;
}

static LiteRtStatus read_runtime_options(LiteRtOptions options, struct settings *settings)
{
    static const char identifier[] = "runtime_options_string";
    struct litert_options_text text = {.at = find_payload(options, identifier)};
    struct litert_option option;
    while (litert_options_text_next(&text, &option)) {
        if (strcmp(option.key, "error_reporter_mode") != 0) continue;
        if (option.type != LITERT_OPTION_INTEGER || option.integer < 0 || option.integer > 2)
            return refuse(identifier, &text, "error_reporter_mode is not 0 (none), 1 (standard error) or 2 (buffer)");
        settings->error_mode = (LiteRtErrorReporterMode)option.integer;
    }
    return text.problem ? refuse(identifier, &text, text.problem) : kLiteRtStatusOk;
}

static LiteRtStatus read_options(LiteRtOptions options, struct settings *settings)
{
    *settings = (struct settings){
        .hardware = options && options->hardware ? options->hardware : kLiteRtHwAcceleratorCpu,
        .threads = -1,
        .error_mode = kLiteRtErrorReporterModeStderr,
    };
    LiteRtStatus status = read_cpu_options(options, settings);
    return status == kLiteRtStatusOk ? read_runtime_options(options, settings) : status;
}

// ---- messages and cancellation ------------------------------------------------------------------

static void write_error(void *user_data, const char *format, va_list args)
{
    LiteRtCompiledModel compiled = user_data;
    if (compiled->error_mode == kLiteRtErrorReporterModeStderr) hl_report_va(NULL, format, args);
    if (compiled->error_mode != kLiteRtErrorReporterModeBuffer) return;
    hl_text_append_va(&compiled->errors, format, args);
    hl_text_append(&compiled->errors, "\n");
}

static uint32_t before_node(TfLiteTelemetryProfilerStruct *profiler, const char *name, int64_t node, int64_t subgraph)
{
    (void)name;
    (void)node;
    (void)subgraph;
    LiteRtCompiledModel compiled = profiler->data;
    if (!compiled->is_cancelled || !compiled->running || !compiled->is_cancelled(compiled->cancel_data)) return 0;
    if (compiled->running->runner)
        TfLiteSignatureRunnerCancel(compiled->running->runner);
    else
        TfLiteInterpreterCancel(compiled->interpreter);
    return 0;
}

// ---- the interpreter ----------------------------------------------------------------------------

static LiteRtStatus create_interpreter(LiteRtCompiledModel compiled, const struct settings *settings)
{
    TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
    LITERT_MEMORY(options);
    compiled->profiler = (TfLiteTelemetryProfilerStruct){.data = compiled, .ReportBeginOpInvokeEvent = before_node};
    TfLiteInterpreterOptionsSetNumThreads(options, settings->threads);
    HaliteInterpreterOptionsSetKernels(options, settings->kernels);
    TfLiteInterpreterOptionsSetErrorReporter(options, write_error, compiled);
    TfLiteInterpreterOptionsEnableCancellation(options, true);
    TfLiteInterpreterOptionsSetTelemetryProfiler(options, &compiled->profiler);
    compiled->interpreter = TfLiteInterpreterCreate(compiled->model->tflite, options);
    TfLiteInterpreterOptionsDelete(options);
    if (compiled->interpreter) return kLiteRtStatusOk;
    return litert_fail(kLiteRtStatusErrorRuntimeFailure, "the model has no interpreter");
}

static LiteRtStatus create_entries(LiteRtCompiledModel compiled)
{
    size_t count = compiled->model->signature_count;
    compiled->entries = calloc(count, sizeof *compiled->entries);
    LITERT_MEMORY(compiled->entries);
    for (size_t i = 0; i < count; i++) {
        struct litert_entry *entry = &compiled->entries[i];
        const struct LiteRtSignatureT *signature = &compiled->model->signatures[i];
        entry->signature = signature;
        entry->requirements = calloc(signature->input_count + signature->output_count + 1, sizeof *entry->requirements);
        LITERT_MEMORY(entry->requirements);
        if (TfLiteInterpreterGetSignatureCount(compiled->interpreter) == 0) continue;
        entry->runner = TfLiteInterpreterGetSignatureRunner(compiled->interpreter, signature->key);
        LITERT_MEMORY(entry->runner);
    }
    return kLiteRtStatusOk;
}

// ---- accelerators -------------------------------------------------------------------------------

static LiteRtStatus apply_gpu(LiteRtCompiledModel compiled, LiteRtOptions options)
{
    LiteRtAccelerator accelerator = &compiled->environment->accelerators[0];
    if (!accelerator->def) return kLiteRtStatusOk;
    LiteRtStatus status = accelerator->def->create_delegate(litert_runtime_context(), compiled->environment,
                                                            accelerator, options, &compiled->wrapper);
    if (status != kLiteRtStatusOk)
        return litert_fail(status, "the GPU accelerator made no delegate: status %d", (int)status);
    if (!compiled->wrapper) return kLiteRtStatusOk;
    compiled->accelerator = accelerator->def;
    TfLiteStatus applied = TfLiteInterpreterModifyGraphWithDelegate(compiled->interpreter, compiled->wrapper->delegate);
    if (applied == kTfLiteOk) return kLiteRtStatusOk;
    return litert_fail(kLiteRtStatusErrorRuntimeFailure, "the GPU's delegate could not be applied: status %d",
                       (int)applied);
}

static int nodes_on_cpu(const TfLiteInterpreter *interpreter)
{
    int nodes = 0;
    for (int32_t graph = 0; graph < HaliteInterpreterGetSubgraphCount(interpreter); graph++) {
        for (int32_t i = 0; i < HaliteInterpreterGetSubgraphNodeCount(interpreter, graph); i++) {
            HaliteNode node;
            if (HaliteInterpreterGetSubgraphNode(interpreter, graph, i, &node) != kTfLiteOk) continue;
            nodes += node.builtin_code != kTfLiteBuiltinDelegate;
        }
    }
    return nodes;
}

static LiteRtStatus place(LiteRtCompiledModel compiled, LiteRtOptions options, LiteRtHwAcceleratorSet hardware)
{
    LiteRtStatus status = hardware & kLiteRtHwAcceleratorGpu ? apply_gpu(compiled, options) : kLiteRtStatusOk;
    if (status != kLiteRtStatusOk) return status;
    int rest = nodes_on_cpu(compiled->interpreter);
    compiled->is_fully_accelerated = rest == 0 || hardware == kLiteRtHwAcceleratorCpu;
    if (rest == 0 || hardware & kLiteRtHwAcceleratorCpu) return kLiteRtStatusOk;
    return litert_fail(kLiteRtStatusErrorCompilation,
                       "%d nodes have no accelerator: add kLiteRtHwAcceleratorCpu to run them on the CPU", rest);
}

static LiteRtStatus compile(LiteRtCompiledModel compiled, LiteRtOptions options)
{
    struct settings settings;
    LiteRtStatus status = read_options(options, &settings);
    if (status != kLiteRtStatusOk) return status;
    compiled->error_mode = settings.error_mode;
    status = create_interpreter(compiled, &settings);
    if (status == kLiteRtStatusOk) status = create_entries(compiled);
    return status == kLiteRtStatusOk ? place(compiled, options, settings.hardware) : status;
}

LiteRtStatus LiteRtCreateCompiledModel(LiteRtEnvironment environment, LiteRtModel model, LiteRtOptions options,
                                       LiteRtCompiledModel *compiled_model)
{
    LITERT_NEED(environment && model && compiled_model);
    LiteRtCompiledModel made = calloc(1, sizeof *made);
    LITERT_MEMORY(made);
    made->environment = environment;
    made->model = model;
    LiteRtStatus status = compile(made, options);
    if (status == kLiteRtStatusOk)
        *compiled_model = made;
    else
        LiteRtDestroyCompiledModel(made);
    return status;
}

// The delegate goes after the interpreter, whose kernels are its.
void LiteRtDestroyCompiledModel(LiteRtCompiledModel compiled_model)
{
    if (!compiled_model) return;
    for (size_t i = 0; compiled_model->entries && i < compiled_model->model->signature_count; i++) {
        TfLiteSignatureRunnerDelete(compiled_model->entries[i].runner);
        free(compiled_model->entries[i].requirements);
    }
    free(compiled_model->entries);
    TfLiteInterpreterDelete(compiled_model->interpreter);
    if (compiled_model->wrapper) {
        compiled_model->wrapper->deleter(compiled_model->wrapper->delegate);
        free(compiled_model->wrapper);
    }
    hl_text_free(&compiled_model->errors);
    free(compiled_model);
}
