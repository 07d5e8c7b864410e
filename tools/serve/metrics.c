// SPDX-License-Identifier: Apache-2.0
// Counts as text, in the form that Prometheus reads. In: the queues' statistics and the server's own counts. Out: for
// each metric its description and a line for each model. The page of the server draws the same text.
#include "serve/serve.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/process.h"

struct row {
    const struct hl_serve_model *model;
    HaliteQueueStatistics queue;
    uint64_t full, invalid;
    double seconds; // sum of the latencies
};

// ---- of models ----------------------------------------------------------------------------------

static double read_workers(const struct row *row)
{
    return row->model->worker_count;
}

static double read_busy(const struct row *row)
{
    return 1e-9 * (double)row->queue.busy_nanoseconds;
}

static double read_waiting(const struct row *row)
{
    return row->queue.queued;
}

static double read_running(const struct row *row)
{
    return row->queue.running;
}

static double read_limit(const struct row *row)
{
    return row->model->limit;
}

static double read_batches(const struct row *row)
{
    return (double)row->queue.batches;
}

static double read_batched(const struct row *row)
{
    return (double)row->queue.batched;
}

static const struct {
    const char *name, *type, *help;
    double (*read)(const struct row *row);
} metrics[] = {
    {"halite_workers", "gauge", "Interpreters of the model.", read_workers},
    {"halite_worker_busy_seconds_total", "counter", "Time that workers computed, all together.", read_busy},
    {"halite_queue_waiting", "gauge", "Inferences that wait for a worker.", read_waiting},
    {"halite_queue_running", "gauge", "Inferences that are computed.", read_running},
    {"halite_queue_limit", "gauge", "Most inferences that may wait and be computed.", read_limit},
    {"halite_batches_total", "counter", "Computations, each of one batch.", read_batches},
    {"halite_batched_inferences_total", "counter", "Inferences in them.", read_batched},
};

static void add_head(struct hl_text *text, const char *name, const char *type, const char *help)
{
    hl_text_add(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

// {model="name", with the characters escaped that the format escapes.
static void add_model(struct hl_text *text, const char *metric, const struct row *row)
{
    hl_text_add(text, "%s{model=\"", metric);
    for (const char *at = row->model->name; *at != '\0'; at++) {
        if (*at == '\\' || *at == '"') hl_text_add(text, "\\");
        hl_text_add(text, *at == '\n' ? "\\n" : "%c", *at);
    }
    hl_text_add(text, "\"");
}

static void add_outcomes(struct hl_text *text, const struct row *rows, int count)
{
    static const char name[] = "halite_inferences_total";
    add_head(text, name, "counter",
             "Inferences by how they ended; full: turned away with status 429; invalid: with another of 400 to 499.");
    for (int i = 0; i < count; i++) {
        const HaliteQueueStatistics *queue = &rows[i].queue;
        const struct {
            const char *outcome;
            uint64_t count;
        } outcomes[] = {{"done", queue->done}, {"failed", queue->failed}, {"cancelled", queue->cancelled},
                        {"late", queue->late}, {"full", rows[i].full},    {"invalid", rows[i].invalid}};
        for (size_t outcome = 0; outcome < sizeof outcomes / sizeof *outcomes; outcome++) {
            add_model(text, name, &rows[i]);
            hl_text_add(text, ",outcome=\"%s\"} %" PRIu64 "\n", outcomes[outcome].outcome, outcomes[outcome].count);
        }
    }
}

// The queue counts in powers of two of nanoseconds; those below 16 us and above two minutes are put together.
static void add_latencies(struct hl_text *text, const struct row *rows, int count)
{
    enum { FIRST = 13, LAST = 36 };
    static const char name[] = "halite_inference_seconds";
    add_head(text, name, "histogram", "Time from the arrival in the queue to the answer.");
    for (int i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (int bucket = 0; bucket < kHaliteLatencyBuckets; bucket++) {
            sum += rows[i].queue.latency[bucket];
            if (bucket < FIRST || bucket > LAST) continue;
            add_model(text, "halite_inference_seconds_bucket", &rows[i]);
            hl_text_add(text, ",le=\"%.9g\"} %" PRIu64 "\n", 1e-9 * (double)(UINT64_C(2) << bucket), sum);
        }
        add_model(text, "halite_inference_seconds_bucket", &rows[i]);
        hl_text_add(text, ",le=\"+Inf\"} %" PRIu64 "\n", sum);
        add_model(text, "halite_inference_seconds_sum", &rows[i]);
        hl_text_add(text, "} %.9g\n", rows[i].seconds);
        add_model(text, "halite_inference_seconds_count", &rows[i]);
        hl_text_add(text, "} %" PRIu64 "\n", sum);
    }
}

// ---- of the server ------------------------------------------------------------------------------

static void add_value(struct hl_text *text, const char *name, const char *type, const char *help, double value)
{
    add_head(text, name, type, help);
    hl_text_add(text, "%s %.15g\n", name, value);
}

static void add_server(struct hl_text *text, struct hl_serve_counts *counts)
{
    static const char name[] = "halite_http_answers_total";
    struct hl_process_memory memory = {0};
    add_value(text, "halite_uptime_seconds", "counter", "Time since the start.",
              1e-9 * (double)(hl_nanoseconds() - counts->began));
    add_head(text, name, "counter", "Answers by the class of their status.");
    for (int class = 2; class <= 5; class ++)
        hl_text_add(text, "%s{class=\"%dxx\"} %" PRIu64 "\n", name, class, atomic_load(&counts->answers[class]));
    add_value(text, "halite_http_cut_total", "counter", "Connections that were ended because they were too slow.",
              (double)atomic_load(&counts->cut));
    add_value(text, "halite_http_connections", "gauge", "Open connections.", atomic_load(&counts->connections));
    add_value(text, "halite_http_body_bytes", "gauge", "Memory of all requests' bodies.",
              (double)atomic_load(&counts->body_bytes));
    if (hl_process_memory(&memory))
        add_value(text, "process_resident_memory_bytes", "gauge", "Physical memory of the process.",
                  (double)(memory.anonymous + memory.file + memory.shared));
}

static void look(struct hl_serve_model *model, struct row *row)
{
    *row = (struct row){.model = model, .queue = {.struct_size = sizeof row->queue}};
    HaliteQueueGetStatistics(model->queue, &row->queue);
    row->full = atomic_load(&model->full);
    row->invalid = atomic_load(&model->invalid);
    row->seconds = 1e-9 * (double)atomic_load(&model->nanoseconds);
}

void hl_serve_metrics(struct hl_serve_counts *counts, struct hl_serve_model *models, int model_count,
                      struct hl_text *text)
{
    struct row *rows = hl_alloc((size_t)model_count, sizeof *rows);
    for (int i = 0; i < model_count; i++) look(&models[i], &rows[i]);
    add_server(text, counts);
    add_outcomes(text, rows, model_count);
    for (size_t metric = 0; metric < sizeof metrics / sizeof *metrics; metric++) {
        add_head(text, metrics[metric].name, metrics[metric].type, metrics[metric].help);
        for (int i = 0; i < model_count; i++) {
            add_model(text, metrics[metric].name, &rows[i]);
            hl_text_add(text, "} %.15g\n", metrics[metric].read(&rows[i]));
        }
    }
    add_latencies(text, rows, model_count);
    free(rows);
}
