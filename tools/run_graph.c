// SPDX-License-Identifier: Apache-2.0
// One view over TfLiteInterpreter and TfLiteSignatureRunner.
#include "run_graph.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "message.h"

bool hl_graph_with(const char *command, const struct hl_model_options *options,
                   bool (*use)(struct hl_graph *graph, const void *user_data), const void *user_data)
{
    struct hl_model_file file;
    struct hl_graph graph = {.file = &file};
    bool ok = hl_model_file_open(&file, command, options->model) && hl_model_file_start(&file, options) &&
              use(&graph, user_data);
    hl_graph_close(&graph);
    hl_model_file_close(&file);
    return ok;
}

bool hl_graph_open(struct hl_graph *graph, const char *signature)
{
    TfLiteInterpreter *interpreter = graph->file->interpreter;
    if (signature == NULL) {
        graph->input_count = TfLiteInterpreterGetInputTensorCount(interpreter);
        graph->output_count = TfLiteInterpreterGetOutputTensorCount(interpreter);
        return true;
    }
    graph->signature = TfLiteInterpreterGetSignatureRunner(interpreter, signature);
    if (graph->signature == NULL) {
        struct hl_text keys = {0};
        int count = TfLiteInterpreterGetSignatureCount(interpreter);
        for (int i = 0; i < count; i++)
            hl_text_add(&keys, "%s%s", i > 0 ? ", " : "", TfLiteInterpreterGetSignatureKey(interpreter, i));
        hl_error(graph->file->command, graph->file->path, "has no signature '%s'; it has %s", signature,
                 count > 0 ? keys.data : "none");
        hl_text_free(&keys);
        return false;
    }
    graph->input_count = (int)TfLiteSignatureRunnerGetInputCount(graph->signature);
    graph->output_count = (int)TfLiteSignatureRunnerGetOutputCount(graph->signature);
    return true;
}

void hl_graph_close(struct hl_graph *graph)
{
    if (graph->signature != NULL) TfLiteSignatureRunnerDelete(graph->signature);
    graph->signature = NULL;
}

TfLiteTensor *hl_graph_input(const struct hl_graph *graph, int index)
{
    if (graph->signature == NULL) return TfLiteInterpreterGetInputTensor(graph->file->interpreter, index);
    return TfLiteSignatureRunnerGetInputTensor(graph->signature,
                                               TfLiteSignatureRunnerGetInputName(graph->signature, index));
}

const TfLiteTensor *hl_graph_output(const struct hl_graph *graph, int index)
{
    if (graph->signature == NULL) return TfLiteInterpreterGetOutputTensor(graph->file->interpreter, index);
    return TfLiteSignatureRunnerGetOutputTensor(graph->signature,
                                                TfLiteSignatureRunnerGetOutputName(graph->signature, index));
}

const char *hl_graph_input_name(const struct hl_graph *graph, int index)
{
    const char *name = graph->signature != NULL ? TfLiteSignatureRunnerGetInputName(graph->signature, index)
                                                : TfLiteTensorName(hl_graph_input(graph, index));
    return name != NULL ? name : "";
}

const char *hl_graph_output_name(const struct hl_graph *graph, int index)
{
    const char *name = graph->signature != NULL ? TfLiteSignatureRunnerGetOutputName(graph->signature, index)
                                                : TfLiteTensorName(hl_graph_output(graph, index));
    return name != NULL ? name : "";
}

TfLiteStatus hl_graph_resize_input(struct hl_graph *graph, int index, int rank, const int *dims)
{
    if (graph->signature == NULL)
        return TfLiteInterpreterResizeInputTensor(graph->file->interpreter, index, dims, rank);
    return TfLiteSignatureRunnerResizeInputTensor(graph->signature, hl_graph_input_name(graph, index), dims, rank);
}

bool hl_graph_allocate(struct hl_graph *graph)
{
    TfLiteStatus status = graph->signature != NULL ? TfLiteSignatureRunnerAllocateTensors(graph->signature)
                                                   : TfLiteInterpreterAllocateTensors(graph->file->interpreter);
    if (status == kTfLiteOk)
        hl_model_file_warn(graph->file);
    else
        hl_model_file_failed(graph->file, "no memory can be planned for it");
    return status == kTfLiteOk;
}

TfLiteStatus hl_graph_invoke(struct hl_graph *graph)
{
    return graph->signature != NULL ? TfLiteSignatureRunnerInvoke(graph->signature)
                                    : TfLiteInterpreterInvoke(graph->file->interpreter);
}

bool hl_graph_repeat(struct hl_graph *graph, int runs, double *seconds, struct hl_progress *progress)
{
    for (int i = 0; i < runs; i++) {
        double start = hl_seconds();
        if (hl_graph_invoke(graph) != kTfLiteOk) {
            hl_model_file_failed(graph->file, "the run failed");
            return false;
        }
        if (seconds != NULL) seconds[i] = hl_seconds() - start;
        hl_progress_step(progress);
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double hl_graph_time(struct hl_graph *graph, int runs, struct hl_progress *progress)
{
    double *seconds = hl_alloc((size_t)runs, sizeof *seconds);
    bool ok = hl_graph_invoke(graph) == kTfLiteOk;
    hl_progress_step(progress);
    for (int i = 0; ok && i < runs; i++) {
        double start = hl_seconds();
        ok = hl_graph_invoke(graph) == kTfLiteOk;
        seconds[i] = hl_seconds() - start;
        hl_progress_step(progress);
    }
    qsort(seconds, (size_t)runs, sizeof *seconds, compare);
    double median = ok ? seconds[runs / 2] : -1;
    free(seconds);
    return median;
}

bool hl_graph_parse(const struct hl_graph *graph, bool input, const char *item, int *index, const char **rest)
{
    const char *kind = input ? "input" : "output", *equals = strchr(item, '=');
    int count = input ? graph->input_count : graph->output_count;
    if (equals == NULL) {
        hl_error(graph->file->command, NULL, "'%s' has no '='; the name or number of an %s comes before it", item,
                 kind);
        return false;
    }
    for (int i = 0; i < count; i++) {
        const char *name = input ? hl_graph_input_name(graph, i) : hl_graph_output_name(graph, i);
        size_t length = strlen(name);
        if (length == 0 || strncmp(item, name, length) != 0 || item[length] != '=') continue;
        *index = i;
        *rest = item + length + 1;
        return true;
    }
    char *end;
    long number = strtol(item, &end, 10);
    if (end == equals && end != item && number >= 0 && number < count) {
        *index = (int)number;
        *rest = equals + 1;
        return true;
    }
    struct hl_text names = {0};
    for (int i = 0; i < count; i++) {
        const char *name = input ? hl_graph_input_name(graph, i) : hl_graph_output_name(graph, i);
        hl_text_add(&names, "%s%d '%s'", i > 0 ? ", " : "", i, name);
    }
    hl_error(graph->file->command, graph->file->path, "has no %s '%.*s'; it has %s", kind, (int)(equals - item), item,
             count > 0 ? names.data : "none");
    hl_text_free(&names);
    return false;
}
