// SPDX-License-Identifier: Apache-2.0
// gpu_buffers MODEL [RUNS]: what lent memory, bound buffers and runs in flight save. For each API that is here:
// microseconds of an Invoke with host tensors, input written and output read, and of Invoke alone, where the delegate
// lends the tensors memory and where they keep the runtime's; and with buffers of the application bound to input and
// output (medians, in turns); then frames in a second with 1, 2 and 4 runs in flight. Model: one input and one output.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/application/application.h"
#include "halite/halite.h"
#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/core/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/gpu/delegate.h"

enum { WARMUP = 20, MAX_IN_FLIGHT = 4 };

struct session {
    TfLiteDelegate *delegate;
    TfLiteInterpreter *interpreter;
    float *input, *output;
    size_t input_bytes, output_bytes;
};

static void demand(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "gpu_buffers: %s\n", what);
    exit(1);
}

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, compare);
    return times[count / 2];
}

static void begin(struct session *session, const TfLiteModel *model, const HaliteGpuContext *context, bool keeps)
{
    TfLiteGpuDelegateOptionsV2 v2 = TfLiteGpuDelegateOptionsV2Default();
    const HaliteGpuDelegateOptions options = {.struct_size = sizeof options,
                                              .v2 = &v2,
                                              .context = context,
                                              .keep_tensor_memory = keeps};
    session->delegate = HaliteGpuDelegateCreate(&options);
    demand(session->delegate != NULL, "no delegate");
    session->interpreter = TfLiteInterpreterCreate(model, NULL);
    demand(session->interpreter != NULL, "no interpreter");
    demand(TfLiteInterpreterGetInputTensorCount(session->interpreter) == 1 &&
               TfLiteInterpreterGetOutputTensorCount(session->interpreter) == 1,
           "the model must have one input and one output");
}

// Buffers of the application in place of the host's memory; they must be bound before the delegate is applied.
static void bind(const struct session *session, int tensor, uint64_t handle, HaliteGpuApi api, size_t bytes)
{
    const HaliteGpuBuffer buffer = {.struct_size = sizeof buffer, .api = api, .handle = handle, .size = bytes};
    demand(HaliteDelegateBindBuffer(session->delegate, tensor, &buffer) == kTfLiteOk, "the buffer cannot be bound");
}

static void apply(struct session *session)
{
    TfLiteInterpreter *interpreter = session->interpreter;
    demand(TfLiteInterpreterModifyGraphWithDelegate(interpreter, session->delegate) == kTfLiteOk &&
               TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk,
           "the delegate cannot be applied");
    session->input_bytes = TfLiteTensorByteSize(TfLiteInterpreterGetInputTensor(interpreter, 0));
    session->output_bytes = TfLiteTensorByteSize(TfLiteInterpreterGetOutputTensor(interpreter, 0));
    session->input = calloc(1, session->input_bytes);
    session->output = malloc(session->output_bytes);
    demand(session->input && session->output, "no memory");
}

static void end(struct session *session)
{
    TfLiteInterpreterDelete(session->interpreter);
    TfLiteGpuDelegateV2Delete(session->delegate);
    free(session->input);
    free(session->output);
}

static double run_on_device(const struct session *session)
{
    const double start = microseconds();
    demand(TfLiteInterpreterInvoke(session->interpreter) == kTfLiteOk, "Invoke failed");
    return microseconds() - start;
}

// *invoke: without the application's own copies.
static double run_from_host(const struct session *session, double *invoke)
{
    const double start = microseconds();
    TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(session->interpreter, 0), session->input,
                               session->input_bytes);
    *invoke = run_on_device(session);
    TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(session->interpreter, 0), session->output,
                             session->output_bytes);
    return microseconds() - start;
}

static double frames_per_second(const struct session *session, int in_flight, int frames)
{
    HaliteRun *runs[MAX_IN_FLIGHT];
    for (int i = 0; i < in_flight; i++) demand((runs[i] = HaliteRunCreate(session->interpreter)) != NULL, "no run");
    const double start = microseconds();
    for (int i = 0; i < frames + in_flight; i++) {
        HaliteRun *run = runs[i % in_flight];
        if (i >= in_flight) {
            demand(HaliteRunWait(run) == kTfLiteOk, "a run failed");
            TfLiteTensorCopyToBuffer(HaliteRunGetOutputTensor(run, 0), session->output, session->output_bytes);
        }
        if (i >= frames) continue;
        TfLiteTensorCopyFromBuffer(HaliteRunGetInputTensor(run, 0), session->input, session->input_bytes);
        demand(HaliteInterpreterInvokeAsync(session->interpreter, run, 0, NULL, NULL) == kTfLiteOk, "not submitted");
    }
    const double seconds = (microseconds() - start) / 1e6;
    for (int i = 0; i < in_flight; i++) HaliteRunDelete(runs[i]);
    return frames / seconds;
}

static void measure(const struct application *app, const HaliteGpuContext *context, const TfLiteModel *model, int runs)
{
    enum { LENT, LENT_INVOKE, KEPT, KEPT_INVOKE, BOUND, ROWS };
    struct session host, kept, bound;
    begin(&host, model, context, false);
    apply(&host);
    begin(&kept, model, context, true);
    apply(&kept);
    begin(&bound, model, context, false);
    const uint64_t x = app->create(host.input_bytes), y = app->create(host.output_bytes);
    bind(&bound, TfLiteInterpreterInputTensorIndices(bound.interpreter)[0], x, context->api, host.input_bytes);
    bind(&bound, TfLiteInterpreterOutputTensorIndices(bound.interpreter)[0], y, context->api, host.output_bytes);
    TfLiteSetAllowBufferHandleOutput(bound.interpreter, true);
    apply(&bound);
    app->write(x, 0, bound.input, bound.input_bytes);
    double *times[ROWS];
    for (int i = 0; i < ROWS; i++) demand((times[i] = malloc((size_t)runs * sizeof(double))) != NULL, "no memory");
    for (int i = -WARMUP; i < runs; i++) {
        double now[ROWS];
        now[LENT] = run_from_host(&host, &now[LENT_INVOKE]);
        now[KEPT] = run_from_host(&kept, &now[KEPT_INVOKE]);
        now[BOUND] = run_on_device(&bound);
        for (int k = 0; k < ROWS && i >= 0; k++) times[k][i] = now[k];
    }
    printf(
        "%-8s host tensors %8.1f us (Invoke %8.1f), with the runtime's memory %8.1f us (Invoke %8.1f), bound buffers "
        "%8.1f us",
        app->name, median(times[LENT], runs), median(times[LENT_INVOKE], runs), median(times[KEPT], runs),
        median(times[KEPT_INVOKE], runs), median(times[BOUND], runs));
    printf("; bytes that the CPU carried in all: %llu, %llu, %llu",
           (unsigned long long)HaliteDelegateGetCarriedBytes(host.delegate),
           (unsigned long long)HaliteDelegateGetCarriedBytes(kept.delegate),
           (unsigned long long)HaliteDelegateGetCarriedBytes(bound.delegate));
    for (int in_flight = 1; in_flight <= MAX_IN_FLIGHT; in_flight *= 2)
        printf(", %d in flight %7.1f frames/s", in_flight, frames_per_second(&host, in_flight, runs));
    printf("\n");
    fflush(stdout);
    for (int i = 0; i < ROWS; i++) free(times[i]);
    end(&bound);
    end(&kept);
    end(&host);
    app->destroy(x);
    app->destroy(y);
}

int main(int argc, char **argv)
{
    demand(argc == 2 || argc == 3, "usage: gpu_buffers MODEL [RUNS]");
    const int runs = argc == 3 ? atoi(argv[2]) : 400;
    demand(runs > 0, "RUNS must be positive");
    TfLiteModel *model = TfLiteModelCreateFromFile(argv[1]);
    demand(model != NULL, "the model cannot be read");
    for (int i = 0; applications[i]; i++) {
        HaliteGpuContext context;
        if (!applications[i]->begin(&context)) {
            printf("%-8s no device\n", applications[i]->name);
            continue;
        }
        measure(applications[i], &context, model, runs);
        applications[i]->end();
    }
    TfLiteModelDelete(model);
    return 0;
}
