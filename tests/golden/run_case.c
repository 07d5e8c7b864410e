// SPDX-License-Identifier: Apache-2.0
// One case, from the model's file to the comparison of every output. A refusal by the library is right, a reason to
// skip or a failure, depending on what the manifest expects: see refused().
#include "run_case.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/alloc.h"
#include "../../tools/element.h"
#include "../../tools/files.h"
#include "../../tools/opset.h"
#include "accumulation.h"
#include "compare.h"
#include "float_twin.h"
#include "runtime/signature.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/c/c_api_experimental.h"
#include "tensorflow/lite/c/c_api_opaque.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"

// Bounds of README.md of the golden cases.
static const double float_tolerance = 2e-6;
static const double unchecked_tolerance = 1e-4; // of the largest value, where neither ref nor opt ran

// A graph to run: the interpreter's own, or one signature's.
struct target {
    const char *key; // NULL: the interpreter
    TfLiteSignatureRunner *signature;
    bool allocated;
};

struct run {
    const struct golden_case *c;
    const struct golden_options *options;
    struct golden_result *result;
    unsigned char *data;
    size_t data_bytes;
    TfLiteModel *model;
    TfLiteInterpreter *interpreter;
    bool delegated; // the delegate was applied
    bool again;     // it refused the graph for good: the case is to run without
    struct target *targets;
    int target_count;
    int step;                 // counted from 1, 0 before the first
    double worst;             // part of the bound that the worst float takes
    struct golden_twin *twin; // of a dynamic-range model that is wholly on the delegate, from the first step on
    double longest;           // accumulation of this step, 0: not computed yet
};

static void failed(struct run *run, const char *format, ...) HL_PRINTF(2, 3);
static void failed(struct run *run, const char *format, ...)
{
    run->result->outcome = GOLDEN_FAILED;
    hl_text_clear(&run->result->what);
    if (run->step > 0) hl_text_add(&run->result->what, "step %d, ", run->step);
    va_list args;
    va_start(args, format);
    hl_text_add_va(&run->result->what, format, args);
    va_end(args);
}

// The library said no at this stage. Always returns false, which ends the case.
static bool refused(struct run *run, enum golden_stage stage)
{
    if (run->c->fails != GOLDEN_RUNS) {
        run->result->outcome = GOLDEN_PASSED;
        return false;
    }
    const struct hl_model_code *missing = run->model != NULL ? hl_opset_missing(run->model) : NULL;
    if (missing != NULL) {
        run->result->outcome = GOLDEN_SKIPPED;
        const char *name = hl_model_code_name(missing);
        hl_text_add_escaped(&run->result->missing, name, strlen(name));
        return false;
    }
    const char *said = hl_text_string(&run->result->messages);
    const char *end = strchr(said, '\n');
    failed(run, "%s fails: %.*s", golden_stage_name(stage), end != NULL ? (int)(end - said) : 0, said);
    if (end == NULL) hl_text_add(&run->result->what, "no message");
    return false;
}

static bool read_data(struct run *run)
{
    struct hl_text bytes = {0}, error = {0};
    hl_text_reserve(&bytes, 0); // so that it is not NULL where it is empty
    // Cases without tensors have no such file; others find their offsets outside of it.
    bool ok = !hl_path_look(run->c->data_path, &(struct hl_path_facts){0}) ||
              hl_files_read(run->c->data_path, HL_FILES_MOST, &bytes, &error);
    run->data = (unsigned char *)bytes.data;
    run->data_bytes = bytes.length;
    if (!ok) failed(run, "%s %s", run->c->data_path, hl_text_string(&error));
    hl_text_free(&error);
    return ok;
}

static bool create(struct run *run)
{
    const struct golden_options *options = run->options;
    struct hl_text *messages = &run->result->messages;
    // Before the library looks: its error must not pass for the refusal that a case expects.
    if (!hl_path_may_read(run->c->model_path)) {
        failed(run, "%s cannot be read: %s", run->c->model_path, strerror(errno));
        return false;
    }
    run->model = TfLiteModelCreateFromFileWithErrorReporter(run->c->model_path, hl_text_reporter, messages);
    if (run->model == NULL) return refused(run, GOLDEN_LOAD);

    TfLiteInterpreterOptions *how = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(how, hl_text_reporter, messages);
    TfLiteInterpreterOptionsSetNumThreads(how, options->threads);
    HaliteInterpreterOptionsSetKernels(how, options->kernels);
    run->interpreter = TfLiteInterpreterCreate(run->model, how);
    TfLiteInterpreterOptionsDelete(how);
    return run->interpreter != NULL ? true : refused(run, GOLDEN_LOAD);
}

// Here and not among the options, so that it sees the shapes which the case runs with. A graph with shapes known only
// while running goes without it: an application that mixes the two is at fault, says the API, and no kernel.
static bool apply_delegate(struct run *run)
{
    struct golden_delegate *delegate = run->options->delegate;
    if (run->delegated || run->result->undelegated || delegate->how.lib_path == NULL) return true;
    run->delegated = true;
    if (delegate->made == NULL) delegate->made = TfLiteExternalDelegateCreate(&delegate->how);
    if (delegate->made == NULL) {
        failed(run, "no delegate comes from %s", delegate->how.lib_path);
        return false;
    }
    TfLiteStatus status = TfLiteInterpreterModifyGraphWithDelegate(run->interpreter, delegate->made);
    run->again = status == kTfLiteApplicationError;
    if (run->again) return false;
    return status == kTfLiteOk ? true : refused(run, GOLDEN_ALLOCATE);
}

static void count_nodes(struct run *run)
{
    struct golden_result *result = run->result;
    result->nodes = result->delegated = 0;
    for (int i = 0; run->delegated && i < HaliteInterpreterGetNodeCount(run->interpreter); i++) {
        HaliteNodeReport report;
        if (HaliteInterpreterGetNodeReport(run->interpreter, i, &report) != kTfLiteOk) continue;
        result->nodes += report.replaced_nodes > 0 ? report.replaced_nodes : 1;
        result->delegated += report.replaced_nodes;
    }
}

// NULL, after the outcome was set, where the model has no such signature.
static struct target *find_target(struct run *run, const char *key)
{
    for (int i = 0; i < run->target_count; i++) {
        struct target *target = &run->targets[i];
        if (key == target->key || (key != NULL && target->key != NULL && strcmp(key, target->key) == 0)) return target;
    }
    TfLiteSignatureRunner *signature = NULL;
    if (key != NULL) {
        signature = TfLiteInterpreterGetSignatureRunner(run->interpreter, key);
        if (signature == NULL) {
            hl_text_add(&run->result->messages, "no signature runner for \"%s\"\n", key);
            refused(run, GOLDEN_LOAD);
            return NULL;
        }
    }
    run->targets = hl_alloc_grow(run->targets, (size_t)run->target_count + 1, sizeof *run->targets);
    struct target *target = &run->targets[run->target_count++];
    *target = (struct target){.key = key, .signature = signature};
    return target;
}

// An input or output of the target: by index in the primary subgraph, by name in a signature.
static TfLiteTensor *find_tensor(struct run *run, const struct target *target, const struct golden_tensor *wanted,
                                 bool input)
{
    TfLiteTensor *found = NULL;
    int64_t count;
    if (target->signature == NULL) {
        count = input ? TfLiteInterpreterGetInputTensorCount(run->interpreter)
                      : TfLiteInterpreterGetOutputTensorCount(run->interpreter);
        if (wanted->index < count)
            found = input ? TfLiteInterpreterGetInputTensor(run->interpreter, wanted->index)
                          : (TfLiteTensor *)TfLiteInterpreterGetOutputTensor(run->interpreter, wanted->index);
    } else {
        count = (int64_t)(input ? TfLiteSignatureRunnerGetInputCount(target->signature)
                                : TfLiteSignatureRunnerGetOutputCount(target->signature));
        found = input ? TfLiteSignatureRunnerGetInputTensor(target->signature, wanted->name)
                      : (TfLiteTensor *)TfLiteSignatureRunnerGetOutputTensor(target->signature, wanted->name);
    }
    if (found == NULL)
        failed(run, "%s %d '%s' does not exist; the model has %d", input ? "input" : "output", wanted->index,
               wanted->name, (int)count);
    return found;
}

static void add_shape(struct hl_text *text, TfLiteType type, int rank, const int *dims)
{
    hl_text_add(text, "%s[", hl_element_name(type));
    for (int i = 0; i < rank; i++) hl_text_add(text, "%s%d", i > 0 ? "," : "", dims[i]);
    hl_text_add(text, "]");
}

static bool same_shape(const TfLiteTensor *tensor, const struct golden_tensor *wanted)
{
    int rank = TfLiteTensorNumDims(tensor);
    if (rank < 0) rank = 0;
    if (rank != wanted->rank) return false;
    for (int i = 0; i < rank; i++)
        if (TfLiteTensorDim(tensor, i) != wanted->dims[i]) return false;
    return true;
}

static int64_t element_count(const struct golden_tensor *tensor)
{
    int64_t count = 1;
    for (int i = 0; i < tensor->rank; i++) count *= tensor->dims[i];
    return count;
}

static bool in_data(struct run *run, const struct golden_tensor *tensor, const char *what)
{
    if (tensor->offset <= run->data_bytes && tensor->bytes <= run->data_bytes - tensor->offset) return true;
    failed(run, "%s %d '%s' lies outside %s (%zu bytes)", what, tensor->index, tensor->name, run->c->data_path,
           run->data_bytes);
    return false;
}

// The cases were recorded with the official Python runner, which resizes whatever it is told to. The C API's runners
// resize only dimensions that the model leaves open; where that stands in the way, the way behind the API is taken.
static TfLiteStatus resize(struct run *run, struct target *target, const struct golden_tensor *in)
{
    if (target->signature == NULL)
        return TfLiteInterpreterResizeInputTensor(run->interpreter, in->index, in->dims, in->rank);
    size_t messages = run->result->messages.length;
    TfLiteStatus status = TfLiteSignatureRunnerResizeInputTensor(target->signature, in->name, in->dims, in->rank);
    int tensor = hl_signature_input(target->signature, in->name);
    if (status == kTfLiteOk || tensor < 0) return status;
    if (messages < run->result->messages.length) {
        run->result->messages.length = messages;
        run->result->messages.data[messages] = '\0';
    }
    return hl_subgraph_resize_input(target->signature->subgraph, tensor, in->dims, in->rank);
}

static bool prepare_inputs(struct run *run, struct target *target, const struct golden_step *step)
{
    bool resized = false;
    for (int i = 0; i < step->in_count; i++) {
        const struct golden_tensor *in = &step->ins[i];
        const TfLiteTensor *tensor = find_tensor(run, target, in, true);
        if (tensor == NULL) return false;
        if (same_shape(tensor, in)) continue;
        if (resize(run, target, in) != kTfLiteOk) return refused(run, GOLDEN_ALLOCATE);
        resized = true;
    }
    if (target->allocated && !resized) return true;
    if (!apply_delegate(run)) return false;
    TfLiteStatus status = target->signature != NULL ? TfLiteSignatureRunnerAllocateTensors(target->signature)
                                                    : TfLiteInterpreterAllocateTensors(run->interpreter);
    // Another step's shapes: the delegate is applied again to a graph that may suit it no longer.
    run->again = status == kTfLiteApplicationError && run->delegated;
    if (run->again) return false;
    if (status != kTfLiteOk) return refused(run, GOLDEN_ALLOCATE);
    target->allocated = true;
    count_nodes(run);
    return true;
}

// A string tensor's bytes have no fixed size: the tensor is made to fit them, its shape stays.
static bool set_strings(struct run *run, const struct golden_tensor *in, TfLiteTensor *tensor)
{
    if (TfLiteTensorRealloc(in->bytes, tensor) == kTfLiteOk && tensor->bytes == in->bytes && tensor->data.raw != NULL) {
        memcpy(tensor->data.raw, run->data + in->offset, in->bytes);
        return true;
    }
    failed(run, "input %d '%s': no room for %zu bytes of strings", in->index, in->name, in->bytes);
    return false;
}

static bool set_inputs(struct run *run, struct target *target, const struct golden_step *step)
{
    for (int i = 0; i < step->in_count; i++) {
        const struct golden_tensor *in = &step->ins[i];
        TfLiteTensor *tensor = find_tensor(run, target, in, true);
        if (tensor == NULL || !in_data(run, in, "input")) return false;
        if (TfLiteTensorType(tensor) != in->type) {
            failed(run, "input %d '%s' is %s, not %s", in->index, in->name, hl_element_name(TfLiteTensorType(tensor)),
                   hl_element_name(in->type));
            return false;
        }
        if (in->type == kTfLiteString) {
            if (!set_strings(run, in, tensor)) return false;
            continue;
        }
        if (in->bytes == 0 && TfLiteTensorByteSize(tensor) == 0) continue;
        if (TfLiteTensorCopyFromBuffer(tensor, run->data + in->offset, in->bytes) == kTfLiteOk) continue;
        failed(run, "input %d '%s' takes %zu bytes, the case has %zu", in->index, in->name,
               TfLiteTensorByteSize(tensor), in->bytes);
        return false;
    }
    return true;
}

// Has the model a node that multiplies floats by weights of fewer bits, and so rounds its input at run time?
static bool is_hybrid(const TfLiteModel *model)
{
    for (int s = 0; s < model->subgraph_count; s++) {
        const struct hl_model_subgraph *graph = &model->subgraphs[s];
        for (int n = 0; n < graph->node_count; n++) {
            const struct hl_model_node *node = &graph->nodes[n];
            if (node->input_count < 2 || node->inputs[0] < 0) continue;
            if (graph->tensors[node->inputs[0]].type != kTfLiteFloat32) continue;
            for (int i = 1; i < node->input_count; i++) {
                if (node->inputs[i] < 0) continue;
                const struct hl_model_tensor *weights = &graph->tensors[node->inputs[i]];
                struct hl_element_type how = hl_element_type(weights->type);
                bool integer = how.view == HL_ELEMENT_SIGNED || how.view == HL_ELEMENT_UNSIGNED;
                if (weights->data != NULL && integer && how.bits <= 8) return true;
            }
        }
    }
    return false;
}

static struct golden_bound bound_of(struct run *run, const struct target *target, const struct golden_tensor *out)
{
    bool lenient = run->options->delegate->how.lib_path == NULL || run->result->delegated > 0;
    double tolerance = lenient && run->options->tolerance > 0 ? run->options->tolerance : float_tolerance;
    if (run->longest == 0)
        run->longest = golden_longest_accumulation(run->model, target->signature == NULL ? run->interpreter : NULL);
    struct golden_bound bound = {.relative = tolerance * sqrt(run->longest)};
    // Manifests hold six digits of a spread: the last one may have been rounded down.
    if (out->opt.kind == GOLDEN_SPREAD_FINITE) bound.absolute = out->opt.difference * (1 + 1e-5);
    // The fast kernels' peers are XNNPACK's: both add in another order and with fused
    // multiply-adds. In hybrid models an activation that is rounded to the next step changes much,
    // and a spread is one sample of that: twice as much may be ours.
    if (run->options->kernels == kHaliteKernelsFast) {
        if (out->xnn.kind == GOLDEN_SPREAD_FINITE) bound.absolute = fmax(bound.absolute, out->xnn.difference);
        if (is_hybrid(run->model)) bound.absolute *= 2;
    }
    if (run->c->resolver == GOLDEN_XNN && out->ref.kind == GOLDEN_SPREAD_REFUSED &&
        out->opt.kind == GOLDEN_SPREAD_REFUSED) {
        double largest = golden_largest(out->type, element_count(out), run->data + out->offset);
        bound.absolute = fmax(bound.absolute, unchecked_tolerance * largest);
    }
    return bound;
}

static bool is_integer(TfLiteType type)
{
    enum hl_element_view view = hl_element_type(type).view;
    return view == HL_ELEMENT_SIGNED || view == HL_ELEMENT_UNSIGNED;
}

// What --differences and --spread allow an output of a case on the delegate.
static double allowance(const struct run *run, const struct golden_tensor *out)
{
    double most = 0;
    if (run->result->delegated == 0) return run->options->delegate->how.lib_path == NULL ? run->options->slack : 0;
    if (out->opt.kind == GOLDEN_SPREAD_FINITE) most = out->opt.difference;
    if (out->xnn.kind == GOLDEN_SPREAD_FINITE) most = fmax(most, out->xnn.difference);
    return fmax(run->options->slack, run->options->spread * most);
}

static void report_difference(struct run *run, const struct golden_tensor *out, const struct golden_bound *bound,
                              const struct golden_difference *difference)
{
    struct hl_text at = {0};
    int64_t rest = difference->first, block = difference->count;
    for (int i = 0; i < out->rank && block > 0 && out->rank > 1; i++) {
        block /= out->dims[i] > 0 ? out->dims[i] : 1;
        hl_text_add(&at, "%s%lld", i > 0 ? "," : " (", (long long)(rest / block));
        rest %= block;
    }
    if (at.length > 0) hl_text_add(&at, ")");
    failed(run, "output %d '%s': index %lld%s: expected %s, got %s; %lld of %lld differ", out->index, out->name,
           (long long)difference->first, hl_text_string(&at), hl_text_string(&difference->expected),
           hl_text_string(&difference->got), (long long)difference->wrong, (long long)difference->count);
    if (difference->largest > 0 && is_integer(out->type))
        hl_text_add(&run->result->what, ", by %.0f at most (allowed: %.0f)", difference->largest, bound->steps);
    else if (difference->largest > 0)
        hl_text_add(&run->result->what, ", by %.3g at most (allowed: %.3g relative, %.3g absolute)",
                    difference->largest, bound->relative, bound->absolute);
    hl_text_free(&at);
}

// Steps of a quantized output; indices, counts and the like have none.
static double steps_of(const struct run *run, const TfLiteTensor *tensor)
{
    bool quantized = TfLiteTensorQuantizationParams(tensor).scale > 0;
    return quantized && run->result->delegated > 0 ? run->options->quantum : 0;
}

// A dynamic-range model wholly on a delegate, which does not round activations.
static bool run_twin(struct run *run, const struct target *target, const struct golden_step *step)
{
    const struct golden_result *result = run->result;
    if (target->signature != NULL || result->delegated == 0 || result->delegated < result->nodes) return true;
    if (run->step == 1) run->twin = golden_twin_create(run->c);
    if (run->twin == NULL || golden_twin_run(run->twin, step, run->data)) return true;
    failed(run, "the float twin of the model does not run");
    return false;
}

// Where there is a twin, it says what is right; and the expected output lies as near as rounding explains.
static bool fits_twin(struct run *run, const struct golden_tensor *out, const TfLiteTensor *tensor,
                      struct golden_bound *bound)
{
    if (run->twin == NULL || TfLiteTensorType(tensor) != kTfLiteFloat32) return true;
    const TfLiteTensor *twin = golden_twin_output(run->twin, out->index);
    struct golden_difference difference;
    // The manifest's spreads are those of kernels that round activations, so the twin's own spread stands for them. It
    // says how far earlier rounding carries; the last operator's own rounding comes on top.
    struct golden_bound floats = {.relative = bound->relative};
    if (run->options->twin_spread > 0)
        floats.absolute = run->options->twin_spread * golden_twin_spread(run->twin, out->index) + bound->relative;
    size_t bytes = TfLiteTensorByteSize(tensor);
    bool ok = golden_compare(out->type, element_count(out), TfLiteTensorData(twin), TfLiteTensorByteSize(twin),
                             TfLiteTensorData(tensor), bytes, &floats, &difference) &&
              difference.wrong == 0;
    if (!ok)
        failed(run, "output %d '%s': %lld elements differ from the model's float twin, by %.3g at most", out->index,
               out->name, (long long)difference.wrong, difference.largest);
    golden_difference_free(&difference);
    bound->absolute += golden_twin_rounding(run->twin);
    return ok;
}

static bool check_output(struct run *run, struct target *target, const struct golden_tensor *out)
{
    const TfLiteTensor *tensor = find_tensor(run, target, out, false);
    if (tensor == NULL || !in_data(run, out, "output")) return false;
    if (TfLiteTensorType(tensor) != out->type || !same_shape(tensor, out)) {
        struct hl_text expected = {0}, got = {0};
        int rank = TfLiteTensorNumDims(tensor);
        add_shape(&expected, out->type, out->rank, out->dims);
        add_shape(&got, TfLiteTensorType(tensor), rank, rank > 0 ? tensor->dims->data : NULL);
        failed(run, "output %d '%s': expected %s, got %s", out->index, out->name, expected.data, got.data);
        hl_text_free(&expected);
        hl_text_free(&got);
        return false;
    }
    struct golden_bound bound = bound_of(run, target, out);
    bound.absolute = fmax(bound.absolute, allowance(run, out));
    bound.steps = fmax(steps_of(run, tensor), allowance(run, out));
    if (!fits_twin(run, out, tensor, &bound)) return false;
    struct golden_difference difference;
    bool comparable = golden_compare(out->type, element_count(out), run->data + out->offset, out->bytes,
                                     TfLiteTensorData(tensor), TfLiteTensorByteSize(tensor), &bound, &difference);
    if (!comparable)
        failed(run, "output %d '%s': %s", out->index, out->name, hl_text_string(&difference.got));
    else if (difference.wrong > 0)
        report_difference(run, out, &bound, &difference);
    run->worst = fmax(run->worst, difference.worst);
    bool ok = comparable && difference.wrong == 0;
    golden_difference_free(&difference);
    return ok;
}

// Touches every byte of a tensor, so that a sanitizer sees an output whose memory is not what its size says.
static unsigned read_all(const TfLiteTensor *tensor)
{
    const unsigned char *data = tensor != NULL ? TfLiteTensorData(tensor) : NULL;
    unsigned sum = 0;
    for (size_t i = 0, n = data != NULL ? TfLiteTensorByteSize(tensor) : 0; i < n; i++) sum += data[i];
    return sum;
}

static bool run_step(struct run *run, const struct golden_step *step)
{
    struct target *target = find_target(run, step->signature);
    if (target == NULL || !prepare_inputs(run, target, step)) return false;
    if (step->reset && TfLiteInterpreterResetVariableTensors(run->interpreter) != kTfLiteOk)
        return refused(run, GOLDEN_INVOKE);
    if (!set_inputs(run, target, step)) return false;
    TfLiteStatus status = target->signature != NULL ? TfLiteSignatureRunnerInvoke(target->signature)
                                                    : TfLiteInterpreterInvoke(run->interpreter);
    if (status != kTfLiteOk) return refused(run, GOLDEN_INVOKE);
    run->longest = 0;
    if (run->c->fails == GOLDEN_RUNS && !run_twin(run, target, step)) return false;
    for (int i = 0; i < step->out_count; i++)
        if (run->c->fails == GOLDEN_RUNS && !check_output(run, target, &step->outs[i])) return false;
    return true;
}

// A malformed file has no steps: allocate, zero the inputs, invoke, read the outputs.
static bool run_blind(struct run *run)
{
    TfLiteInterpreter *interpreter = run->interpreter;
    if (!apply_delegate(run)) return false;
    if (TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) return refused(run, GOLDEN_ALLOCATE);
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); i++) {
        TfLiteTensor *tensor = TfLiteInterpreterGetInputTensor(interpreter, i);
        if (tensor == NULL || TfLiteTensorData(tensor) == NULL) continue;
        // A constant may be a graph input; its bytes are the file's.
        if (TfLiteTensorType(tensor) != kTfLiteString && tensor->allocation_type != kTfLiteMmapRo)
            memset(TfLiteTensorData(tensor), 0, TfLiteTensorByteSize(tensor));
    }
    if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return refused(run, GOLDEN_INVOKE);
    unsigned sum = 0;
    for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); i++)
        sum += read_all(TfLiteInterpreterGetOutputTensor(interpreter, i));
    hl_text_add(&run->result->what, "ran, outputs add up to %u", sum);
    return true;
}

static bool run_all(struct run *run)
{
    if (!read_data(run) || !create(run)) return false;
    if (run->c->step_count == 0) return run_blind(run);
    for (int i = 0; i < run->c->step_count; i++) {
        run->step = i + 1;
        if (!run_step(run, &run->c->steps[i])) return false;
    }
    return true;
}

static void run_once(const struct golden_case *c, const struct golden_options *options, struct golden_result *result,
                     bool *again)
{
    struct run run = {.c = c, .options = options, .result = result};
    result->outcome = GOLDEN_PASSED;
    if (run_all(&run)) {
        bool may_run = c->fails == GOLDEN_RUNS || c->fails == GOLDEN_ANY || c->custom_excuse;
        run.step = 0;
        if (!may_run)
            failed(&run, "ran, where the original refuses at %s: %s", golden_stage_name(c->fails), c->fails_text);
        else if (run.worst > 0)
            hl_text_add(&result->what, "floats within %.2g of the bound", run.worst);
    }
    *again = run.again;
    for (int i = 0; i < run.target_count; i++)
        if (run.targets[i].signature != NULL) TfLiteSignatureRunnerDelete(run.targets[i].signature);
    free(run.targets);
    golden_twin_destroy(run.twin);
    TfLiteInterpreterDelete(run.interpreter);
    TfLiteModelDelete(run.model);
    free(run.data);
}

void golden_run_case(const struct golden_case *c, const struct golden_options *options, struct golden_result *result)
{
    bool again;
    run_once(c, options, result, &again);
    if (!again) return;
    golden_result_free(result);
    *result = (struct golden_result){.undelegated = true};
    run_once(c, options, result, &again);
}

void golden_result_free(struct golden_result *result)
{
    hl_text_free(&result->what);
    hl_text_free(&result->missing);
    hl_text_free(&result->messages);
}
