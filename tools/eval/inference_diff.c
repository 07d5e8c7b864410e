// SPDX-License-Identifier: Apache-2.0
// inference_diff_run_eval: how far is a setting from the plain one? In: a model and flags. The same random inputs go
// through the model on one thread of the CPU and in the setting of the flags. Out: the time of both, and per output the
// mean distance of its elements.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "commands.h"
#include "element.h"
#include "eval/result.h"
#include "eval/setting.h"
#include "message.h"
#include "progress.h"
#include "wire.h"

struct options {
    struct hl_eval_setting setting;
    int num_runs;
};

static const struct options defaults = {.setting = HL_EVAL_DEFAULTS, .num_runs = 50};

// clang-format off
static const struct hl_flag flags[] = {
    HL_TFLITE_FLAG(INT, options, num_runs, "inputs to compare with"),
    HL_EVAL_FLAGS(options, setting)
};
// clang-format on

// Each input is run so often, as the original does.
enum { INVOCATIONS = 3 };

struct diff {
    struct hl_eval_model test, reference;
    struct hl_stat test_us, reference_us;
    int output_count;
    struct hl_stat *errors; // per output: the mean distances of the runs
    uint32_t random;
};

// ---- inputs -------------------------------------------------------------------------------------

// Uniform from 0 to 1, without 1: the minimal standard generator, two steps for the bits of a double.
static double uniform(struct diff *diff)
{
    const uint32_t modulus = 2147483647;
    uint64_t parts[2];
    for (int i = 0; i < 2; i++) {
        diff->random = (uint32_t)((uint64_t)diff->random * 16807 % modulus);
        parts[i] = diff->random - 1;
    }
    return ((double)parts[0] + (double)parts[1] / (modulus - 1)) / modulus;
}

// Normal with mean 1/2 and deviation 1/3, drawn again until it lies from 0 to 1: Marsaglia's polar method.
static double gaussian(struct diff *diff)
{
    for (;;) {
        double x = 2 * uniform(diff) - 1, y = 2 * uniform(diff) - 1, square = x * x + y * y;
        if (square >= 1 || square == 0) continue;
        double value = 0.5 + x * sqrt(-2 * log(square) / square) / 3;
        if (value >= 0 && value < 1) return value;
    }
}

static bool fill(struct diff *diff, TfLiteType type, void *data, int64_t count)
{
    struct hl_element_type how = hl_element_type(type);
    for (int64_t i = 0; i < count; i++) {
        double part = gaussian(diff), span = ldexp(1, how.bits);
        if (type == kTfLiteBool)
            ((bool *)data)[i] = part >= 0.5;
        else if (how.view == HL_ELEMENT_REAL && how.bits > 8)
            hl_element_set_real(type, data, i, -1 + 2 * part);
        else if (how.view == HL_ELEMENT_UNSIGNED)
            hl_element_set_bits(data, how.bits, i, (uint64_t)((span - 1) * part));
        else if (how.view == HL_ELEMENT_SIGNED)
            hl_element_set_bits(data, how.bits, i, (uint64_t)(int64_t)((span - 1) * part - span / 2));
        else
            return false;
    }
    return true;
}

static bool fill_inputs(struct diff *diff)
{
    TfLiteInterpreter *test = diff->test.file.interpreter;
    TfLiteInterpreter *reference = diff->reference.file.interpreter;
    int count = TfLiteInterpreterGetInputTensorCount(test);
    for (int i = 0; i < count; i++) {
        TfLiteTensor *input = TfLiteInterpreterGetInputTensor(test, i);
        void *data = TfLiteTensorData(input);
        size_t bytes = TfLiteTensorByteSize(input);
        if (bytes > 0 && !fill(diff, TfLiteTensorType(input), data, hl_model_elements(input))) {
            hl_error(HL_TFLITE, diff->test.file.path, "input %d is of type %s, for which no values can be made up", i,
                     hl_element_name(TfLiteTensorType(input)));
            return false;
        }
        TfLiteTensor *same = TfLiteInterpreterGetInputTensor(reference, i);
        if (bytes > 0 && TfLiteTensorCopyFromBuffer(same, data, bytes) != kTfLiteOk) return false;
    }
    return true;
}

// ---- runs and outputs ---------------------------------------------------------------------------

static bool invoke(struct hl_eval_model *model, struct hl_stat *microseconds)
{
    for (int i = 0; i < INVOCATIONS; i++) {
        double start = hl_seconds();
        if (TfLiteInterpreterInvoke(model->file.interpreter) != kTfLiteOk) {
            hl_model_file_failed(&model->file, "the inference failed");
            return false;
        }
        hl_stat_add(microseconds, floor(1e6 * (hl_seconds() - start)));
    }
    return true;
}

static double value_of(TfLiteType type, const void *data, int64_t i)
{
    struct hl_element_type how = hl_element_type(type);
    switch (how.view) {
    case HL_ELEMENT_SIGNED: return (double)hl_element_signed(data, how.bits, i);
    case HL_ELEMENT_UNSIGNED: return (double)hl_element_bits(data, how.bits, i);
    default: return hl_element_real(type, data, i);
    }
}

static bool compare_output(struct diff *diff, int index)
{
    const TfLiteTensor *test = TfLiteInterpreterGetOutputTensor(diff->test.file.interpreter, index);
    const TfLiteTensor *reference = TfLiteInterpreterGetOutputTensor(diff->reference.file.interpreter, index);
    TfLiteType type = TfLiteTensorType(test);
    enum hl_element_view view = hl_element_type(type).view;
    if (view != HL_ELEMENT_SIGNED && view != HL_ELEMENT_UNSIGNED && view != HL_ELEMENT_REAL) {
        hl_error(HL_TFLITE, diff->test.file.path, "output %d is of type %s, which cannot be compared", index,
                 hl_element_name(type));
        return false;
    }
    int64_t count = hl_model_elements(test);
    if (count != hl_model_elements(reference)) {
        hl_error(HL_TFLITE, diff->test.file.path, "output %d has %lld elements, in the reference %lld", index,
                 (long long)count, (long long)hl_model_elements(reference));
        return false;
    }
    const void *a = TfLiteTensorData(test), *b = TfLiteTensorData(reference);
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += fabs(value_of(type, a, i) - value_of(type, b, i));
    hl_stat_add(&diff->errors[index], count > 0 ? sum / (double)count : 0);
    return true;
}

static bool run_once(struct diff *diff)
{
    if (!fill_inputs(diff) || !invoke(&diff->test, &diff->test_us) || !invoke(&diff->reference, &diff->reference_us))
        return false;
    for (int i = 0; i < diff->output_count; i++)
        if (!compare_output(diff, i)) return false;
    return true;
}

// ---- the tool -----------------------------------------------------------------------------------

static void print(const struct diff *diff, const struct options *options)
{
    printf("Num evaluation runs: %d\n", options->num_runs);
    hl_result_print_latency("Reference run", &diff->reference_us, true);
    hl_result_print_latency("Test run", &diff->test_us, true);
    for (int i = 0; i < diff->output_count; i++)
        printf("OutputDiff[%d]: avg_error=%g, std_dev=%g\n", i, hl_stat_average(&diff->errors[i]),
               hl_stat_deviation(&diff->errors[i]));
}

static bool write(const struct diff *diff, const struct options *options)
{
    cJSON *metrics = hl_alloc_check(cJSON_CreateObject());
    cJSON_AddItemToObject(metrics, "reference_latency", hl_result_latency(&diff->reference_us, true));
    cJSON_AddItemToObject(metrics, "test_latency", hl_result_latency(&diff->test_us, true));
    cJSON *errors = hl_alloc_check(cJSON_AddArrayToObject(metrics, "output_errors"));
    for (int i = 0; i < diff->output_count; i++) {
        const struct hl_stat *stat = &diff->errors[i];
        cJSON *error = hl_alloc_check(cJSON_CreateObject());
        cJSON_AddNumberToObject(error, "max_value", stat->max);
        cJSON_AddNumberToObject(error, "min_value", stat->min);
        cJSON_AddNumberToObject(error, "avg_value", hl_stat_average(stat));
        cJSON_AddNumberToObject(error, "std_deviation", hl_stat_deviation(stat));
        cJSON_AddItemToArray(errors, error);
    }
    return hl_result_write(options->setting.output_file_path, options->num_runs, "inference_profiler_metrics", metrics);
}

static bool evaluate(struct diff *diff, const struct options *options)
{
    if (!hl_wire_check(options->setting.output_file_path)) return false;
    if (options->num_runs < 1) {
        hl_error(HL_TFLITE, NULL, "--num_runs=%d: at least 1 is needed", options->num_runs);
        return false;
    }
    if (!hl_eval_model_open(&diff->test, &options->setting, &hl_command_inference_diff_run_eval)) return false;
    hl_info(HL_TFLITE, NULL, "Test interpreter has been initialized.");
    if (!hl_eval_model_open_reference(&diff->reference, &options->setting)) return false;
    hl_info(HL_TFLITE, NULL, "Reference interpreter (1 thread on CPU) has been initialized.");
    diff->output_count = TfLiteInterpreterGetOutputTensorCount(diff->test.file.interpreter);
    diff->errors = hl_alloc((size_t)diff->output_count, sizeof *diff->errors);
    struct hl_progress progress;
    bool ok = true;
    hl_progress_start(&progress, "Compared", 0, options->num_runs);
    for (int i = 0; ok && i < options->num_runs; i++) {
        ok = run_once(diff);
        hl_progress_step(&progress);
    }
    hl_progress_end(&progress);
    return ok;
}

static int run(const void *given, int operand_count, char **operands)
{
    (void)operand_count;
    (void)operands;
    const struct options *options = given;
    struct diff diff = {.random = 1};
    bool ok = evaluate(&diff, options);
    if (ok) print(&diff, options);
    ok = ok && write(&diff, options);
    if (!ok) hl_error(HL_TFLITE, NULL, "Could not run the task evaluation!");
    hl_eval_model_close(&diff.test);
    hl_eval_model_close(&diff.reference);
    free(diff.errors);
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

const struct hl_command hl_command_inference_diff_run_eval = {
    .name = "inference_diff_run_eval",
    .summary = "Compare outputs and times of a model in some setting with those of one CPU thread.",
    HL_TFLITE_TABLES(flags, defaults, struct options, setting.positions),
    .environment = HL_ENVIRONMENT_RUNS,
    .run = run,
};
