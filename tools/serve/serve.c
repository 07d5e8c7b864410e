// SPDX-License-Identifier: Apache-2.0
// halite serve: models behind HTTP. In: models, and limits. Out: a server that speaks the Open Inference Protocol until
// a signal ends it, which lets what it has taken on be answered first.
#include "serve/serve.h"

#include <stdlib.h>

#include "alloc.h"
#include "base/clock.h"
#include "base/process.h"
#include "commands.h"
#include "message.h"

static const struct hl_serve_options defaults = {
    .model = {.threads = 1},
    .host = "127.0.0.1",
    .port = 8000,
    .batch = 1,
    .batch_wait = 1,
    .queue = 64,
    .memory = 256,
    .connections = 1024,
    .timeout = 30,
    .drain = 30,
};

// clang-format off
static const struct hl_flag flags[] = {
    {.name = "host", .letter = 'H', .kind = HL_FLAG_STRING, .value = "ADDRESS",
     .offset = offsetof(struct hl_serve_options, host),
     .help = "where to listen; default 127.0.0.1, this machine alone; 0.0.0.0\n"
             "or :: is everywhere: there is no encryption and no password"},
    {.name = "port", .letter = 'p', .kind = HL_FLAG_INT, .value = "N", .min = 0, .max = 65535,
     .offset = offsetof(struct hl_serve_options, port), .help = "default 8000; 0: a free one, which is printed"},
    {.name = "workers", .letter = 'w', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 64,
     .offset = offsetof(struct hl_serve_options, workers),
     .help = "interpreters for each model; default: one for each processor,\n"
             "with a delegate one"},
    {.name = "batch", .letter = 'b', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 65536,
     .offset = offsetof(struct hl_serve_options, batch),
     .help = "most requests to be computed together; default 1: a batch of\n"
             "another size than the last costs time, and seldom pays on CPUs"},
    {.name = "batch-wait", .kind = HL_FLAG_NUMBER, .value = "MS", .min = 0, .max = 60000,
     .offset = offsetof(struct hl_serve_options, batch_wait),
     .help = "how long the first of a batch waits for others; default 1"},
    {.name = "queue", .letter = 'q', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 1048576,
     .offset = offsetof(struct hl_serve_options, queue),
     .help = "requests of a model that wait or are computed; further ones are\n"
             "answered with 429; default 64"},
    {.name = "deadline", .kind = HL_FLAG_NUMBER, .value = "MS", .min = 0, .max = 86400000,
     .offset = offsetof(struct hl_serve_options, deadline),
     .help = "answer with 504 what could not begin within this time; default 0:\n"
             "no such limit; a request's parameter timeout may set a shorter one"},
    {.name = "max-body", .kind = HL_FLAG_INT, .value = "KIB", .min = 1, .max = 2097151,
     .offset = offsetof(struct hl_serve_options, body),
     .help = "most of a request's body; default: enough for the model's inputs"},
    {.name = "max-memory", .kind = HL_FLAG_INT, .value = "MIB", .min = 1, .max = 1048576,
     .offset = offsetof(struct hl_serve_options, memory),
     .help = "most of all bodies together; further ones get 429; default 256"},
    {.name = "connections", .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 65536,
     .offset = offsetof(struct hl_serve_options, connections), .help = "most at a time; default 1024"},
    {.name = "timeout", .kind = HL_FLAG_NUMBER, .value = "SECONDS", .min = 0.1, .max = 86400,
     .offset = offsetof(struct hl_serve_options, timeout),
     .help = "for a client to send a request, and to take its answer; default 30"},
    {.name = "drain", .kind = HL_FLAG_NUMBER, .value = "SECONDS", .min = 0, .max = 86400,
     .offset = offsetof(struct hl_serve_options, drain),
     .help = "how long the end waits for what is under way; default 30"},
    HL_MODEL_RUN_FLAGS(hl_serve_options, model),
};
// clang-format on

static bool open_models(struct hl_serve_model *models, int count, char **operands,
                        const struct hl_serve_options *options)
{
    for (int i = 0; i < count; i++) {
        if (!hl_serve_model_open(&models[i], operands[i], options)) return false;
        for (int other = 0; other < i; other++)
            if (strcmp(models[i].name, models[other].name) == 0) {
                hl_error("serve", operands[i], "a model of the name %s is there already; write NAME=FILE",
                         models[i].name);
                return false;
            }
    }
    return true;
}

// The first line is for programs too, which wait for it.
static void announce(const struct hl_serve_options *options, int port, const struct hl_serve_model *models, int count)
{
    bool colon = strchr(options->host, ':') != NULL;
    printf("http://%s%s%s:%d\n", colon ? "[" : "", options->host, colon ? "]" : "", port);
    for (int i = 0; i < count; i++) {
        struct hl_text name = {0};
        hl_text_add_escaped(&name, models[i].name, strlen(models[i].name));
        printf("  /v2/models/%s  %d worker%s, batches of %d, %d at a time\n", name.data, models[i].worker_count,
               models[i].worker_count == 1 ? "" : "s", models[i].batch, models[i].limit);
        hl_text_free(&name);
    }
    fflush(stdout);
}

static int run(const void *given, int operand_count, char **operands)
{
    const struct hl_serve_options *options = given;
    if (!hl_serve_can_listen()) return HL_EXIT_FAILED;
    struct hl_interrupts interrupts;
    hl_interrupts_hold(&interrupts); // before any thread is there
    struct hl_serve_model *models = hl_alloc((size_t)operand_count, sizeof *models);
    struct hl_serve_server *server = NULL;
    if (open_models(models, operand_count, operands, options)) server = hl_serve_start(options, models, operand_count);
    bool ok = server != NULL;
    if (ok) {
        announce(options, hl_serve_port(server), models, operand_count);
        for (; !hl_interrupts_pending(); hl_sleep(0.05)) hl_serve_watch(server);
    }
    hl_interrupts_release(&interrupts); // a second signal ends it at once
    if (server != NULL) ok = hl_serve_stop(server);
    for (int i = 0; i < operand_count; i++) hl_serve_model_free(&models[i]);
    free(models);
    return ok ? HL_EXIT_OK : HL_EXIT_FAILED;
}

static const struct hl_example examples[] = {
    {"halite serve mobilenet.tflite", "at http://127.0.0.1:8000, with a page that shows how it does"},
    {"halite serve classes=mobilenet.tflite boxes=ssd.tflite --workers 2", "two models under names of your own"},
    {"curl http://127.0.0.1:8000/v2/models/mobilenet", "inputs and outputs, with their shapes"},
    {NULL, NULL},
};

const struct hl_command hl_command_serve = {
    .name = "serve",
    .summary = "Answer inference requests over HTTP (Open Inference Protocol), with metrics and a page.",
    .operands = "MODEL...",
    .details = "MODEL is a .tflite file, whose name without .tflite clients use, or NAME=FILE.\n"
               "GET / shows a page with live charts, GET /metrics counts for Prometheus; POST /v2/models/NAME/infer\n"
               "takes tensors as JSON or binary. SIGTERM or Ctrl-C lets requests under way be answered, a second\n"
               "one ends it at once. docs/serve.md has more.\n",
    HL_COMMAND_TABLES(flags, defaults),
    .min_operands = 1,
    .max_operands = -1,
    .examples = examples,
    .environment = HL_ENVIRONMENT_RUNS,
    .run = run,
};
