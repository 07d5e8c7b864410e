// SPDX-License-Identifier: Apache-2.0
// Inside of halite serve. A request goes this way; what computes is a HaliteQueue for each model:
//
//   http.c      a client's bytes -> a body -> (a connection that sleeps until its answer) -> an answer's bytes
//   infer.c     the body of an inference <-> tensors in memory, in the Open Inference Protocol's JSON and binary forms
//   models.c    files -> queues, with the names and shapes that clients see
//   metrics.c   counts -> Prometheus' text, which the page of page.html, .css and .js draws
//   serve.c     the command: starts all, waits for a signal, lets the rest be answered
#ifndef HALITE_TOOLS_SERVE_H
#define HALITE_TOOLS_SERVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "halite/queue.h"
#include "model_file.h"
#include "text.h"

// The statuses of HTTP that are answered.
enum {
    HL_HTTP_OK = 200,
    HL_HTTP_BAD = 400,
    HL_HTTP_NOT_FOUND = 404,
    HL_HTTP_METHOD = 405,
    HL_HTTP_TIMEOUT = 408,
    HL_HTTP_LARGE = 413,
    HL_HTTP_ENCODING = 415,
    HL_HTTP_MANY = 429,
    HL_HTTP_FAILED = 500,
    HL_HTTP_ENDING = 503,
    HL_HTTP_LATE = 504,
};

struct hl_serve_options {
    struct hl_model_options model;
    const char *host;
    int port;              // 0: the system chooses
    int workers;           // interpreters for each model; 0: one for each processor, on a delegate one
    int batch;             // requests that one Invoke may compute
    double batch_wait;     // milliseconds that the first of a batch waits for others
    int queue;             // requests of a model that wait or are computed
    double deadline;       // milliseconds from a request's arrival to the begin of its computation; 0: none
    int body;              // KiB of a request's body; 0: what the model's inputs may take
    int memory;            // MiB of all bodies together
    int connections;       // at a time
    double timeout, drain; // seconds that a client has to send or to take; that the end waits for answers
};

// ---- models.c

// A tensor as clients see it.
struct hl_serve_tensor {
    char *name;           // of the signature where there is one, else the tensor's
    char *tensor_name;    // clients may use it too
    const char *datatype; // the protocol's word: "FP32"
    TfLiteType type;
    int rank;
    int *dims;        // of one item
    int64_t elements; // of one item
    size_t bytes;     // of one item
};

struct hl_serve_model {
    char *name;
    int worker_count;
    struct hl_model_file *files; // one for each worker: a delegate belongs to one interpreter
    HaliteQueue *queue;
    int input_count, output_count;
    struct hl_serve_tensor *inputs, *outputs;
    int batch; // that the queue computes together, and that one request may hold
    int limit; // of items that wait or are computed
    double deadline;
    // Counts, by all threads.
    atomic_int taken;                   // items that wait or are computed
    atomic_uint_fast64_t full, invalid; // requests that were turned away with 429, and other statuses from 400 to 499
    atomic_uint_fast64_t nanoseconds;   // sum over the items that were answered, from submission to answer
};

// Opens "NAME=FILE" or "FILE", and starts its workers. False after a message; hl_serve_model_free is due in both cases.
bool hl_serve_model_open(struct hl_serve_model *model, const char *operand, const struct hl_serve_options *options);
void hl_serve_model_free(struct hl_serve_model *model);
// Ends the queue: what waits is cancelled, what is computed is answered.
void hl_serve_model_stop(struct hl_serve_model *model);
// Bytes that a body for this model may take, written generously.
size_t hl_serve_model_body(const struct hl_serve_model *model);
// The model's metadata, as the protocol has it.
void hl_serve_model_describe(const struct hl_serve_model *model, struct hl_text *json);

// ---- infer.c

// One inference: `items` requests of the queue, whose tensors lie one behind the other.
struct hl_serve_call {
    struct hl_serve_model *model;
    int items;
    char *id;              // NULL: none
    const void **inputs;   // of the model's input_count, with all items; into the body or `decoded`
    void **outputs;        // of its output_count, with all items; NULL: not wanted, or no room yet
    bool *wanted, *binary; // of each output
    unsigned char *decoded, *results;
    int32_t priority;
    int64_t timeout; // nanoseconds, 0: none
};

// Reads a body, which must outlive the call. header: bytes of the JSON at its start, the rest are binary tensors.
// Returns HL_HTTP_OK or the status of the answer, with a sentence in `error`; the call is to be freed in any case.
int hl_serve_call_read(struct hl_serve_call *call, struct hl_serve_model *model, const char *body, size_t length,
                       size_t header, struct hl_text *error);
// Gives the outputs memory. False where there is none.
bool hl_serve_call_make_room(struct hl_serve_call *call);
// Writes the answer; *header gets the bytes of its JSON, or 0 where nothing binary follows.
void hl_serve_call_write(const struct hl_serve_call *call, struct hl_text *answer, size_t *header);
void hl_serve_call_free(struct hl_serve_call *call);
// A string in quotes, whatever its bytes are.
void hl_serve_add_string(struct hl_text *json, const char *string);

// ---- metrics.c

// What the server counts besides its models.
struct hl_serve_counts {
    atomic_int connections;
    atomic_size_t body_bytes;             // of all requests now
    atomic_uint_fast64_t answers[6], cut; // by the first digit of their status; connections that were too slow
    uint64_t began;                       // on the clock of hl_nanoseconds
};
void hl_serve_metrics(struct hl_serve_counts *counts, struct hl_serve_model *models, int model_count,
                      struct hl_text *text);

// ---- http.c; the first two are false, after a message, where it was built without libmicrohttpd

struct hl_serve_server;
extern const char hl_serve_page[];

bool hl_serve_can_listen(void);
// Listens. NULL after a message. The models are the caller's.
struct hl_serve_server *hl_serve_start(const struct hl_serve_options *options, struct hl_serve_model *models,
                                       int model_count);
int hl_serve_port(const struct hl_serve_server *server);
// To be called some times a second: ends connections that are too slow.
void hl_serve_watch(struct hl_serve_server *server);
// Takes no more connections, answers what came before for as long as the options say, then ends the queues of the
// models and all connections. False where requests had to be cancelled for that.
bool hl_serve_stop(struct hl_serve_server *server);

#endif
