// SPDX-License-Identifier: Apache-2.0
// An interpreter's life, and invoke with what belongs to all subgraphs: cancellation, delegates, the way back to the
// CPU.
#include "runtime/interpreter.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "runtime/builtin_kernels.h"
#include "runtime/run.h"
#include "runtime/telemetry.h"
#include "runtime/weights.h"

// Three quarters of the machine's memory; half the address space where the machine does not tell.
static size_t default_memory_limit(void)
{
    size_t bytes = hl_physical_memory();
    return bytes > 0 ? bytes / 4 * 3 : SIZE_MAX / 2;
}

// What the default stands for.
static HaliteKernels choose_kernels(const struct TfLiteInterpreterOptions *options)
{
    const char *wanted = getenv("HALITE_KERNELS");
    if (options->kernels != kHaliteKernelsDefault) return options->kernels;
    if (wanted && strcmp(wanted, "reference") == 0) return kHaliteKernelsReference;
    if (wanted && *wanted && strcmp(wanted, "fast") != 0)
        hl_report(&options->reporter,
                  "HALITE_KERNELS is \"%s\", neither \"reference\" nor \"fast\": taken for \"fast\"", wanted);
    return kHaliteKernelsFast;
}

// As the original, before any use: a code from a later format may come with tables that this one does not know.
static TfLiteStatus check_codes(TfLiteInterpreter *interpreter)
{
    enum { LAST_CODE = kTfLiteBuiltinStablehloCase };
    for (int i = 0; i < interpreter->model->code_count; i++) {
        int builtin = interpreter->model->codes[i].builtin;
        if (builtin >= 0 && builtin <= LAST_CODE) continue;
        hl_report(
            &interpreter->options->reporter,
            "operator code %d of the model is builtin %d: this library knows 0 to %d. The model is newer than the "
            "library.",
            i, builtin, LAST_CODE);
        return kTfLiteUnresolvedOps;
    }
    return kTfLiteOk;
}

static TfLiteStatus create_subgraphs(TfLiteInterpreter *interpreter)
{
    int count = interpreter->model->subgraph_count;
    if (count == 0) {
        hl_report(&interpreter->options->reporter, "the model has no subgraph");
        return kTfLiteError;
    }
    interpreter->subgraphs = calloc((size_t)count, sizeof *interpreter->subgraphs);
    interpreter->resources.initialized = calloc((size_t)count, sizeof(bool));
    if (!interpreter->subgraphs || !interpreter->resources.initialized) {
        hl_report(&interpreter->options->reporter, "out of memory while creating an interpreter");
        return kTfLiteError;
    }
    for (int i = 0; i < count; i++) {
        interpreter->subgraphs[i] = hl_subgraph_create(interpreter, i);
        if (!interpreter->subgraphs[i]) return kTfLiteError;
        interpreter->subgraph_count = i + 1;
    }
    for (int i = 0; i < count; i++) {
        TfLiteStatus status = hl_subgraph_create_nodes(interpreter->subgraphs[i]);
        if (status != kTfLiteOk) return status;
    }
    return kTfLiteOk;
}

static TfLiteStatus apply_option_delegates(TfLiteInterpreter *interpreter)
{
    for (int i = 0; i < interpreter->options->delegate_count; i++) {
        TfLiteStatus status = hl_interpreter_apply_delegate(interpreter, interpreter->options->delegates[i]);
        if (status != kTfLiteOk) return status;
    }
    return kTfLiteOk;
}

void hl_interpreter_use_kernels(TfLiteInterpreter *interpreter, HaliteKernels kernels)
{
    bool fast = kernels == kHaliteKernelsFast;
    interpreter->options->kernels = kernels;
    interpreter->row_kernels = hl_builtin_kernels.choose_row_kernels(fast, &interpreter->options->reporter);
    hl_threads_destroy(interpreter->threads);
    // The reference kernels have no use for threads.
    interpreter->threads = fast ? hl_threads_create(interpreter->options->num_threads) : NULL;
}

TfLiteInterpreter *hl_interpreter_create(const TfLiteModel *model, const TfLiteInterpreterOptions *options)
{
    const struct hl_reporter *reporter = options ? &options->reporter : NULL;
    TfLiteInterpreter *interpreter = calloc(1, sizeof *interpreter);
    if (interpreter) interpreter->options = options ? hl_options_copy(options) : hl_options_create();
    const bool shares = !model->file_bytes || hl_weights_of_model(model);
    if (!interpreter || !interpreter->options || interpreter->options->incomplete || !shares) {
        hl_report(reporter, "out of memory while creating an interpreter");
        hl_interpreter_destroy(interpreter);
        return NULL;
    }
    interpreter->model = hl_model_retain(model);
    atomic_init(&interpreter->cancelled, false);
    size_t limit = interpreter->options->memory_limit;
    interpreter->memory_limit = limit ? limit : default_memory_limit();
    hl_interpreter_use_kernels(interpreter, choose_kernels(interpreter->options));
    int64_t calls = interpreter->options->call_limit;
    interpreter->call_limit = calls ? calls : HL_DEFAULT_CALL_LIMIT;
    int64_t steps = interpreter->options->work_limit;
    interpreter->work_limit = steps ? (double)steps : HL_DEFAULT_WORK_LIMIT;
    if (check_codes(interpreter) == kTfLiteOk && create_subgraphs(interpreter) == kTfLiteOk) {
        hl_telemetry_settings(interpreter);
        if (apply_option_delegates(interpreter) == kTfLiteOk) return interpreter;
    }
    hl_interpreter_destroy(interpreter);
    return NULL;
}

void hl_interpreter_destroy(TfLiteInterpreter *interpreter)
{
    if (!interpreter || !hl_runs_end(interpreter)) return;
    for (int i = 0; i < interpreter->subgraph_count; i++) hl_subgraph_destroy(interpreter->subgraphs[i]);
    free(interpreter->subgraphs);
    hl_threads_destroy(interpreter->threads);
    hl_resources_free(&interpreter->resources);
    hl_model_release(interpreter->model);
    hl_options_destroy(interpreter->options);
    free(interpreter);
}

// Delegates leave alone what another one runs itself, and the subgraphs that check a delegate's results.
static bool may_be_delegated(const struct hl_subgraph *subgraph)
{
    static const char validation[] = "VALIDATION:";
    return !subgraph->delegation_skippable && strncmp(subgraph->model->name, validation, sizeof validation - 1) != 0;
}

TfLiteStatus hl_interpreter_apply_delegate(TfLiteInterpreter *interpreter, TfLiteDelegate *delegate)
{
    return hl_interpreter_apply_delegate_to(interpreter, delegate, NULL, 0);
}

static bool is_chosen(int subgraph, const int *chosen, int count)
{
    for (int i = 0; i < count; i++)
        if (chosen[i] == subgraph) return true;
    return chosen == NULL;
}

TfLiteStatus hl_interpreter_apply_delegate_to(TfLiteInterpreter *interpreter, TfLiteDelegate *delegate,
                                              const int *chosen, int count)
{
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < interpreter->subgraph_count && status == kTfLiteOk; i++) {
        if (!is_chosen(i, chosen, count) || !may_be_delegated(interpreter->subgraphs[i])) continue;
        status = hl_subgraph_apply_delegate(interpreter->subgraphs[i], delegate);
        hl_telemetry_event(interpreter, "ModifyGraphWithDelegate", status);
    }
    for (int i = 0; i < interpreter->subgraph_count && status == kTfLiteDelegateError; i++) {
        struct hl_subgraph *subgraph = interpreter->subgraphs[i];
        if (!subgraph->undelegated_plan) continue; // all subgraphs or none
        hl_subgraph_remove_delegates(subgraph);
        hl_subgraph_allocate(subgraph);
    }
    return status;
}

TfLiteStatus hl_interpreter_cancel(TfLiteInterpreter *interpreter)
{
    if (!interpreter->options->cancellation) {
        hl_report(&interpreter->options->reporter,
                  "cannot cancel: call TfLiteInterpreterOptionsEnableCancellation before creating the interpreter");
        return kTfLiteError;
    }
    atomic_store(&interpreter->cancelled, true);
    return kTfLiteOk;
}

size_t hl_interpreter_memory_left(const TfLiteInterpreter *interpreter)
{
    size_t taken = interpreter->tensor_bytes + interpreter->resources.bytes;
    return taken < interpreter->memory_limit ? interpreter->memory_limit - taken : 0;
}

// ---- invoke -------------------------------------------------------------------------------------

static TfLiteStatus invoke_once(TfLiteInterpreter *interpreter, struct hl_subgraph *subgraph)
{
    TfLiteStatus status = hl_subgraph_invoke(subgraph);
    hl_telemetry_event(interpreter, "Invoke", status);
    if (status != kTfLiteOk || interpreter->allow_buffer_handle_output) return status;
    for (int i = 0; i < subgraph->outputs->size && status == kTfLiteOk; i++)
        if (subgraph->outputs->data[i] >= 0) status = hl_subgraph_make_readable(subgraph, subgraph->outputs->data[i]);
    return status;
}

// Inputs move when memory is planned anew: their values are carried over.
static void *save_inputs(const struct hl_subgraph *subgraph)
{
    size_t bytes = 0;
    for (int i = 0; i < subgraph->inputs->size; i++)
        if (subgraph->inputs->data[i] >= 0) bytes += subgraph->context.tensors[subgraph->inputs->data[i]].bytes;
    char *saved = malloc(bytes ? bytes : 1), *to = saved;
    for (int i = 0; saved && i < subgraph->inputs->size; i++) {
        if (subgraph->inputs->data[i] < 0) continue;
        const TfLiteTensor *tensor = &subgraph->context.tensors[subgraph->inputs->data[i]];
        if (tensor->data.raw) memcpy(to, tensor->data.raw, tensor->bytes);
        to += tensor->bytes;
    }
    return saved;
}

static void restore_inputs(const struct hl_subgraph *subgraph, const void *saved)
{
    const char *from = saved;
    for (int i = 0; i < subgraph->inputs->size; i++) {
        if (subgraph->inputs->data[i] < 0) continue;
        TfLiteTensor *tensor = &subgraph->context.tensors[subgraph->inputs->data[i]];
        if (tensor->data.raw && tensor->allocation_type != kTfLiteMmapRo) memcpy(tensor->data.raw, from, tensor->bytes);
        from += tensor->bytes;
    }
}

static TfLiteStatus invoke_without_delegates(TfLiteInterpreter *interpreter, struct hl_subgraph *subgraph)
{
    hl_subgraph_error(subgraph, "Invoke() failed in the presence of delegation. Retrying without.");
    void *inputs = save_inputs(subgraph);
    if (!inputs) {
        hl_subgraph_error(subgraph, "out of memory for the values of the inputs");
        return kTfLiteError;
    }
    TfLiteStatus status = kTfLiteOk;
    for (int i = 0; i < interpreter->subgraph_count && status == kTfLiteOk; i++)
        status = hl_subgraph_remove_delegates(interpreter->subgraphs[i]);
    if (status == kTfLiteOk) status = hl_subgraph_allocate(subgraph);
    if (status == kTfLiteOk) {
        restore_inputs(subgraph, inputs);
        status = invoke_once(interpreter, subgraph);
    }
    free(inputs);
    return status == kTfLiteOk ? kTfLiteDelegateError : kTfLiteError;
}

TfLiteStatus hl_interpreter_invoke(TfLiteInterpreter *interpreter, struct hl_subgraph *subgraph)
{
    atomic_store(&interpreter->cancelled, false);
    bool was_ready = subgraph->state != HL_NOT_READY; // else there are no inputs to try again with
    TfLiteStatus status = invoke_once(interpreter, subgraph);
    bool fall_back = status != kTfLiteOk && status != kTfLiteCancelled && was_ready &&
                     interpreter->options->delegate_fallback && subgraph->delegate_count > 0;
    return fall_back ? invoke_without_delegates(interpreter, subgraph) : status;
}
