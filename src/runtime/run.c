// SPDX-License-Identifier: Apache-2.0
// The queue of an interpreter's runs, and the worker that answers them, one after the other. Each submission that was
// accepted is answered once: the run's state is set, its event becomes readable, its callback is called, and then
// waiters wake.
#include "runtime/run.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/event.h"

static void report(const TfLiteInterpreter *interpreter, const char *message)
{
    hl_subgraph_error(interpreter->subgraphs[0], "%s", message);
}

static bool is_in_flight(const HaliteRun *run)
{
    return run->state == kHaliteRunQueued || run->state == kHaliteRunRunning;
}

static bool is_late(const HaliteRun *run)
{
    return run->deadline > 0 && hl_nanoseconds() >= run->deadline;
}

bool hl_run_is_stopped(const HaliteRun *run)
{
    return run && (atomic_load(&run->cancelled) || is_late(run));
}

// ---- the worker ---------------------------------------------------------------------------------

// Takes the run to answer next from the queue: one that was stopped, else the first; NULL where there is none.
static HaliteRun *take_next(struct hl_run_worker *worker)
{
    HaliteRun **link = &worker->queue;
    while (*link && !hl_run_is_stopped(*link)) link = &(*link)->next_queued;
    if (!*link) link = &worker->queue;
    HaliteRun *run = *link;
    if (run) *link = run->next_queued;
    return run;
}

static TfLiteStatus execute(HaliteRun *run)
{
    TfLiteInterpreter *interpreter = run->interpreter;
    if (hl_run_is_stopped(run)) return kTfLiteCancelled;
    interpreter->run = run;
    TfLiteStatus status = hl_run_load_inputs(run);
    if (status == kTfLiteOk) status = hl_interpreter_invoke(interpreter, interpreter->subgraphs[0]);
    interpreter->run = NULL;
    // After EnableDelegateFallback this error says that the results are there, from the CPU.
    bool has_results =
        status == kTfLiteOk || (status == kTfLiteDelegateError && interpreter->options->delegate_fallback);
    TfLiteStatus stored = has_results ? hl_run_store_outputs(run) : kTfLiteOk;
    return stored == kTfLiteOk ? status : stored;
}

static HaliteRunState state_after(const HaliteRun *run, TfLiteStatus status)
{
    if (status == kTfLiteOk) return kHaliteRunDone;
    if (status != kTfLiteCancelled) return kHaliteRunFailed;
    return !atomic_load(&run->cancelled) && is_late(run) ? kHaliteRunLate : kHaliteRunCancelled;
}

static void free_run(struct hl_run_worker *worker, HaliteRun *run)
{
    HaliteRun **link = &worker->runs;
    while (*link && *link != run) link = &(*link)->next;
    if (*link) *link = run->next;
    hl_run_tensors_free(&run->inputs);
    hl_run_tensors_free(&run->outputs);
    hl_event_destroy(run->event);
    free(run);
}

// The worker holds the mutex, but not while the model runs or the callback is called.
static void answer(struct hl_run_worker *worker, HaliteRun *run)
{
    run->state = kHaliteRunRunning;
    hl_mutex_unlock(&worker->mutex);
    TfLiteStatus status = execute(run);

    hl_mutex_lock(&worker->mutex);
    run->status = status;
    run->state = state_after(run, status);
    worker->in_flight--;
    hl_event_set(run->event);
    hl_mutex_unlock(&worker->mutex);
    if (run->done) run->done(run->data, run, status); // may submit the run again

    hl_mutex_lock(&worker->mutex);
    run->answered++;
    if (run->is_workers && run->answered == run->submitted) free_run(worker, run);
    hl_condition_broadcast(&worker->changed);
}

static void work(void *arg)
{
    struct hl_run_worker *worker = arg;
    hl_mutex_lock(&worker->mutex);
    while (worker->queue || !worker->ends) {
        HaliteRun *run = take_next(worker);
        if (run)
            answer(worker, run);
        else
            hl_condition_wait(&worker->changed, &worker->mutex);
    }
    hl_mutex_unlock(&worker->mutex);
}

static struct hl_run_worker *create_worker(void)
{
    struct hl_run_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return NULL;
    if (!hl_mutex_init(&worker->mutex)) goto no_mutex;
    if (!hl_condition_init(&worker->changed)) goto no_condition;
    if (hl_thread_start(&worker->thread, work, worker)) return worker;
    hl_condition_destroy(&worker->changed);
no_condition:
    hl_mutex_destroy(&worker->mutex);
no_mutex:
    free(worker);
    return NULL;
}

bool hl_runs_end(TfLiteInterpreter *interpreter)
{
    struct hl_run_worker *worker = interpreter->worker;
    if (!worker) return true;
    if (hl_thread_is_current(&worker->thread)) {
        report(interpreter, "a run's callback cannot delete the interpreter: it was not deleted");
        return false;
    }
    hl_mutex_lock(&worker->mutex);
    worker->ends = true;
    for (HaliteRun *run = worker->runs; run; run = run->next) atomic_store(&run->cancelled, true);
    hl_condition_broadcast(&worker->changed);
    hl_mutex_unlock(&worker->mutex);
    hl_thread_join(&worker->thread);
    while (worker->runs) free_run(worker, worker->runs);
    hl_condition_destroy(&worker->changed);
    hl_mutex_destroy(&worker->mutex);
    free(worker);
    interpreter->worker = NULL;
    return true;
}

bool hl_runs_are_idle(const TfLiteInterpreter *interpreter, const char *function)
{
    struct hl_run_worker *worker = interpreter->worker;
    if (!worker) return true;
    hl_mutex_lock(&worker->mutex);
    int in_flight = worker->in_flight;
    hl_mutex_unlock(&worker->mutex);
    if (in_flight > 0)
        hl_subgraph_error(interpreter->subgraphs[0], "%s: %d runs are in flight, wait for them first", function,
                          in_flight);
    return in_flight == 0;
}

// ---- a run's life -------------------------------------------------------------------------------

static bool has_variants(const struct hl_subgraph *subgraph, const TfLiteIntArray *list)
{
    for (int i = 0; i < list->size; i++)
        if (list->data[i] >= 0 && subgraph->context.tensors[list->data[i]].type == kTfLiteVariant) return true;
    return false;
}

// Returns why the interpreter cannot have runs, NULL where it can.
static const char *refuse_runs(const TfLiteInterpreter *interpreter)
{
    const struct hl_subgraph *subgraph = interpreter->subgraphs[0];
    if (subgraph->state == HL_NOT_READY) return "cannot create a run: call AllocateTensors first";
    if (has_variants(subgraph, subgraph->inputs) || has_variants(subgraph, subgraph->outputs))
        return "cannot create a run: an input or output is a variant, of which there are no copies";
    return NULL;
}

HaliteRun *HaliteRunCreate(TfLiteInterpreter *interpreter)
{
    if (!interpreter || !hl_runs_are_idle(interpreter, "HaliteRunCreate")) return NULL;
    const char *refusal = refuse_runs(interpreter);
    if (refusal) {
        report(interpreter, refusal);
        return NULL;
    }
    const struct hl_subgraph *subgraph = interpreter->subgraphs[0];
    HaliteRun *run = calloc(1, sizeof *run);
    if (!interpreter->worker) interpreter->worker = create_worker();
    if (!run || !interpreter->worker || !hl_run_tensors_create(&run->inputs, subgraph, subgraph->inputs) ||
        !hl_run_tensors_create(&run->outputs, subgraph, subgraph->outputs)) {
        report(interpreter, "cannot create a run: out of memory, or of threads");
        if (run) hl_run_tensors_free(&run->inputs);
        if (run) hl_run_tensors_free(&run->outputs);
        free(run);
        return NULL;
    }
    run->interpreter = interpreter;
    run->status = kTfLiteError;
    run->event = -1;
    atomic_init(&run->cancelled, false);
    hl_mutex_lock(&interpreter->worker->mutex);
    run->next = interpreter->worker->runs;
    interpreter->worker->runs = run;
    hl_mutex_unlock(&interpreter->worker->mutex);
    return run;
}

void HaliteRunDelete(HaliteRun *run)
{
    if (!run) return;
    struct hl_run_worker *worker = run->interpreter->worker;
    hl_mutex_lock(&worker->mutex);
    run->closed = true;
    atomic_store(&run->cancelled, true);
    run->is_workers = run->answered < run->submitted && hl_thread_is_current(&worker->thread);
    while (run->answered < run->submitted && !run->is_workers) hl_condition_wait(&worker->changed, &worker->mutex);
    if (!run->is_workers) free_run(worker, run);
    hl_mutex_unlock(&worker->mutex);
}

static TfLiteTensor *tensor_at(const struct hl_run_tensors *tensors, int32_t index)
{
    bool present = index >= 0 && index < tensors->count && tensors->tensors[index].dims;
    return present ? &tensors->tensors[index] : NULL;
}

TfLiteTensor *HaliteRunGetInputTensor(const HaliteRun *run, int32_t index)
{
    return run ? tensor_at(&run->inputs, index) : NULL;
}

const TfLiteTensor *HaliteRunGetOutputTensor(const HaliteRun *run, int32_t index)
{
    return run ? tensor_at(&run->outputs, index) : NULL;
}

// ---- submission, and what comes of it -----------------------------------------------------------

// Returns why a run cannot be submitted now, NULL where it can.
static const char *refuse_submission(const struct hl_run_worker *worker, const HaliteRun *run, int64_t timeout)
{
    if (worker->ends) return "InvokeAsync: the interpreter is being deleted";
    if (run->closed) return "InvokeAsync: the run is being deleted";
    if (is_in_flight(run)) return "InvokeAsync: the run is in flight: wait for it, or create another one";
    return timeout < 0 ? "InvokeAsync: the time limit is negative (0: none)" : NULL;
}

static void append(struct hl_run_worker *worker, HaliteRun *run)
{
    HaliteRun **last = &worker->queue;
    while (*last) last = &(*last)->next_queued;
    *last = run;
    run->next_queued = NULL;
    run->state = kHaliteRunQueued;
    run->submitted++;
    worker->in_flight++;
    hl_event_clear(run->event);
    hl_condition_broadcast(&worker->changed);
}

TfLiteStatus HaliteInterpreterInvokeAsync(TfLiteInterpreter *interpreter, HaliteRun *run, int64_t timeout_nanoseconds,
                                          void (*done)(void *data, HaliteRun *run, TfLiteStatus status), void *data)
{
    if (!interpreter || !run) return kTfLiteError;
    if (run->interpreter != interpreter) {
        report(interpreter, "InvokeAsync: the run belongs to another interpreter");
        return kTfLiteError;
    }
    struct hl_run_worker *worker = interpreter->worker;
    hl_mutex_lock(&worker->mutex);
    const char *refusal = refuse_submission(worker, run, timeout_nanoseconds);
    if (!refusal) {
        run->done = done;
        run->data = data;
        run->deadline = timeout_nanoseconds ? hl_nanoseconds() + (uint64_t)timeout_nanoseconds : 0;
        atomic_store(&run->cancelled, false);
        append(worker, run);
    }
    hl_mutex_unlock(&worker->mutex);
    if (refusal) report(interpreter, refusal);
    return refusal ? kTfLiteError : kTfLiteOk;
}

TfLiteStatus HaliteRunCancel(HaliteRun *run)
{
    if (!run) return kTfLiteError;
    struct hl_run_worker *worker = run->interpreter->worker;
    hl_mutex_lock(&worker->mutex);
    bool in_flight = is_in_flight(run);
    if (in_flight) atomic_store(&run->cancelled, true);
    hl_mutex_unlock(&worker->mutex);
    return in_flight ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus HaliteRunWait(HaliteRun *run)
{
    if (!run) return kTfLiteError;
    struct hl_run_worker *worker = run->interpreter->worker;
    const char *refusal = NULL;
    hl_mutex_lock(&worker->mutex);
    uint64_t submitted = run->submitted;
    if (hl_thread_is_current(&worker->thread))
        refusal = "HaliteRunWait: a run's callback cannot wait for runs of its interpreter";
    else if (submitted == 0)
        refusal = "HaliteRunWait: the run was not submitted";
    while (!refusal && run->answered < submitted) hl_condition_wait(&worker->changed, &worker->mutex);
    TfLiteStatus status = run->status;
    hl_mutex_unlock(&worker->mutex);
    if (refusal) report(run->interpreter, refusal);
    return refusal ? kTfLiteError : status;
}

HaliteRunState HaliteRunGetState(const HaliteRun *run)
{
    if (!run) return kHaliteRunIdle;
    struct hl_run_worker *worker = run->interpreter->worker;
    hl_mutex_lock(&worker->mutex);
    HaliteRunState state = run->state;
    hl_mutex_unlock(&worker->mutex);
    return state;
}

int HaliteRunGetEvent(HaliteRun *run)
{
    if (!run) return -1;
    struct hl_run_worker *worker = run->interpreter->worker;
    hl_mutex_lock(&worker->mutex);
    if (run->event < 0) {
        run->event = hl_event_create();
        if (run->state != kHaliteRunIdle && !is_in_flight(run)) hl_event_set(run->event);
    }
    int event = run->event;
    hl_mutex_unlock(&worker->mutex);
    return event;
}
