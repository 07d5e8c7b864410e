// SPDX-License-Identifier: Apache-2.0
// HTTP, by libmicrohttpd: its threads call answer() for each piece of a request. A request for an inference is read as
// a whole, submitted to the model's queue, and its connection sleeps until the queue's callback wakes it. A client has
// a limit of time to send a request and to take the answer; what takes longer is ended by hl_serve_watch, since the
// library knows limits of silence alone.
#include "serve/serve.h"

#include "message.h"

#if !defined(HALITE_MICROHTTPD)

bool hl_serve_can_listen(void)
{
    hl_error("serve", NULL,
             "was built without libmicrohttpd: install it (Debian: libmicrohttpd-dev), then configure and build again");
    return false;
}

struct hl_serve_server *hl_serve_start(const struct hl_serve_options *options, struct hl_serve_model *models,
                                       int model_count)
{
    (void)options, (void)models, (void)model_count;
    return NULL;
}

int hl_serve_port(const struct hl_serve_server *server)
{
    (void)server;
    return 0;
}

void hl_serve_watch(struct hl_serve_server *server)
{
    (void)server;
}

bool hl_serve_stop(struct hl_serve_server *server)
{
    (void)server;
    return false;
}

#else

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdlib.h>

#include <microhttpd.h>

#include "alloc.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/threads.h"
#include "halite/halite.h"

// A connection. What it is doing decides whether the clock runs against the client.
struct client {
    struct client *next, *previous;
    MHD_socket socket;
    enum { SENDS, WAITS, TAKES, RESTS } does; // the request; for the answer; the answer; between requests
    uint64_t since;
    bool cut;
};

struct hl_serve_server {
    const struct hl_serve_options *options;
    struct hl_serve_model *models;
    int model_count;
    struct MHD_Daemon *daemon;
    size_t max_memory;
    struct hl_serve_counts counts;
    atomic_int requests; // begun, and their answers not taken
    atomic_bool ends;    // answers say that the connection closes
    atomic_bool closed;  // the queues are going
    atomic_int visitors; // threads that may be using a queue
    struct hl_mutex mutex;
    struct client *clients; // under the mutex
};

// A request, from its first line to the end of its answer.
struct exchange {
    struct hl_serve_server *server;
    struct MHD_Connection *connection;
    struct hl_serve_model *model; // to infer with; NULL: anything else
    char *body;
    size_t length, room;
    int refused; // status with which the body is passed over; 0: it is kept
    struct hl_serve_call call;
    bool submitted;
    uint64_t began;
    atomic_int left;  // of its items, and of submit itself
    atomic_int state; // worst HaliteRunState of the items
};

// ---- answers ------------------------------------------------------------------------------------

static const char json_type[] = "application/json";

struct answer {
    int status;
    const char *type;
    struct hl_text text; // moves into the response
    size_t header;       // bytes of JSON before binary tensors; 0: none follow
    int retry;           // seconds; 0: nothing is said
    const char *allowed; // methods, for status 405
    bool closes;         // the connection, since a part of the request was not read
};

static struct client *client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static void client_does(struct hl_serve_server *server, struct MHD_Connection *connection, int what)
{
    struct client *client = client_of(connection);
    if (client == NULL) return;
    hl_mutex_lock(&server->mutex);
    client->does = what;
    client->since = hl_nanoseconds();
    hl_mutex_unlock(&server->mutex);
}

static void add_headers(struct MHD_Response *response, const struct answer *answer, bool ends)
{
    char number[32];
    MHD_add_response_header(response, "Content-Type", answer->type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (ends || answer->closes) MHD_add_response_header(response, "Connection", "close");
    if (answer->allowed != NULL) MHD_add_response_header(response, "Allow", answer->allowed);
    if (answer->retry > 0) {
        snprintf(number, sizeof number, "%d", answer->retry);
        MHD_add_response_header(response, "Retry-After", number);
    }
    if (answer->header > 0) {
        snprintf(number, sizeof number, "%zu", answer->header);
        MHD_add_response_header(response, "Inference-Header-Content-Length", number);
    }
    if (strncmp(answer->type, "text/html", 9) == 0)
        MHD_add_response_header(response, "Content-Security-Policy",
                                "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                "connect-src 'self'; img-src data:");
}

static enum MHD_Result reply(struct exchange *exchange, struct answer *answer)
{
    struct hl_serve_server *server = exchange->server;
    size_t length = answer->text.length;
    char *data = hl_text_take(&answer->text);
    struct MHD_Response *response = MHD_create_response_from_buffer(length, data, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(data);
        return MHD_NO;
    }
    add_headers(response, answer, atomic_load(&server->ends));
    client_does(server, exchange->connection, TAKES);
    atomic_fetch_add(&server->counts.answers[answer->status / 100], 1);
    enum MHD_Result result = MHD_queue_response(exchange->connection, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return result;
}

// {"error": "..."}
static enum MHD_Result refuse(struct exchange *exchange, struct answer answer, const char *format, ...) HL_PRINTF(3, 4);
static enum MHD_Result refuse(struct exchange *exchange, struct answer answer, const char *format, ...)
{
    struct hl_text message = {0};
    va_list args;
    va_start(args, format);
    hl_text_add_va(&message, format, args);
    va_end(args);
    answer.type = json_type;
    hl_text_add(&answer.text, "{\"error\":");
    hl_serve_add_string(&answer.text, hl_text_string(&message));
    hl_text_add(&answer.text, "}\n");
    hl_text_free(&message);
    struct hl_serve_model *model = exchange->model;
    if (model != NULL && answer.status == HL_HTTP_MANY) atomic_fetch_add(&model->full, 1);
    if (model != NULL && answer.status < 500 && answer.status != HL_HTTP_MANY) atomic_fetch_add(&model->invalid, 1);
    return reply(exchange, &answer);
}

// ---- inferences ---------------------------------------------------------------------------------

// A thread that uses queues enters, and may not where they are going. It leaves in any case.
static bool enter(struct hl_serve_server *server)
{
    atomic_fetch_add(&server->visitors, 1);
    return !atomic_load(&server->closed);
}

static void leave(struct hl_serve_server *server)
{
    atomic_fetch_sub(&server->visitors, 1);
}

// How long the queue takes to be empty again, at the pace so far; in whole seconds.
static int seconds_to_wait(struct hl_serve_model *model)
{
    enum { MOST = 60 };
    HaliteQueueStatistics statistics = {.struct_size = sizeof statistics};
    HaliteQueueGetStatistics(model->queue, &statistics);
    double each = statistics.batched > 0 ? 1e-9 * (double)statistics.busy_nanoseconds / (double)statistics.batched : 0;
    double seconds = each * statistics.queued / model->worker_count;
    return seconds < 1 ? 1 : seconds < MOST ? (int)(seconds + 1) : MOST;
}

static void item_left(struct exchange *exchange)
{
    // The last one wakes the connection, whose thread may free the exchange at once.
    struct MHD_Connection *connection = exchange->connection;
    if (atomic_fetch_sub(&exchange->left, 1) == 1) MHD_resume_connection(connection);
}

// By a worker's thread.
static void item_answered(void *data, uint64_t request, HaliteRunState state)
{
    struct exchange *exchange = data;
    struct hl_serve_model *model = exchange->model;
    (void)request;
    if (state == kHaliteRunDone)
        atomic_fetch_add(&model->nanoseconds, hl_nanoseconds() - exchange->began);
    else
        atomic_store(&exchange->state, (int)state);
    atomic_fetch_sub(&model->taken, 1);
    item_left(exchange);
}

static void submit_item(struct exchange *exchange, int item, const void **inputs, void **outputs)
{
    const struct hl_serve_call *call = &exchange->call;
    struct hl_serve_model *model = exchange->model;
    for (int i = 0; i < model->input_count; i++)
        inputs[i] = (const unsigned char *)call->inputs[i] + (size_t)item * model->inputs[i].bytes;
    for (int i = 0; i < model->output_count; i++)
        outputs[i] = call->outputs[i] != NULL
                         ? (unsigned char *)call->outputs[i] + (size_t)item * model->outputs[i].bytes
                         : NULL;
    const HaliteRequest request = {
        .struct_size = sizeof request,
        .inputs = inputs,
        .outputs = outputs,
        .priority = call->priority,
        .timeout_nanoseconds = call->timeout,
        .done = item_answered,
        .data = exchange,
    };
    if (HaliteQueueSubmit(model->queue, &request, NULL) != kHaliteSubmissionAccepted)
        item_answered(exchange, 0, kHaliteRunFailed);
}

// The connection sleeps from here on, until item_answered was called for all items; then answer() is called again.
static enum MHD_Result submit(struct exchange *exchange)
{
    struct hl_serve_model *model = exchange->model;
    int items = exchange->call.items;
    const void **inputs = hl_alloc((size_t)model->input_count, sizeof *inputs);
    void **outputs = hl_alloc((size_t)model->output_count, sizeof *outputs);
    atomic_init(&exchange->left, items + 1);
    atomic_init(&exchange->state, (int)kHaliteRunDone);
    exchange->submitted = true;
    exchange->began = hl_nanoseconds();
    client_does(exchange->server, exchange->connection, WAITS);
    MHD_suspend_connection(exchange->connection);
    for (int i = 0; i < items; i++) submit_item(exchange, i, inputs, outputs);
    free(inputs);
    free(outputs);
    item_left(exchange);
    return MHD_YES;
}

static enum MHD_Result refuse_full(struct exchange *exchange)
{
    struct hl_serve_model *model = exchange->model;
    return refuse(exchange, (struct answer){.status = HL_HTTP_MANY, .retry = seconds_to_wait(model)},
                  "%d inferences wait or are computed, which is the limit; try again", model->limit);
}

// Bytes of JSON in the body: a header says so where binary tensors follow.
static bool header_length(const struct exchange *exchange, size_t *length)
{
    const char *value =
        MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, "Inference-Header-Content-Length");
    *length = exchange->length;
    if (value == NULL) return true;
    size_t digits = strspn(value, "0123456789");
    if (digits == 0 || digits > 10 || value[digits] != '\0') return false;
    unsigned long long given = strtoull(value, NULL, 10);
    *length = (size_t)given;
    return given <= exchange->length;
}

static enum MHD_Result infer(struct exchange *exchange)
{
    struct hl_serve_model *model = exchange->model;
    size_t header;
    if (atomic_load(&model->taken) >= model->limit) return refuse_full(exchange);
    if (!header_length(exchange, &header))
        return refuse(exchange, (struct answer){.status = HL_HTTP_BAD},
                      "Inference-Header-Content-Length is no number of bytes, 0 to the %zu of the body",
                      exchange->length);
    struct hl_text error = {0};
    const char *body = exchange->body != NULL ? exchange->body : "";
    int status = hl_serve_call_read(&exchange->call, model, body, exchange->length, header, &error);
    if (status != HL_HTTP_OK) {
        enum MHD_Result result = refuse(exchange, (struct answer){.status = status}, "%s", hl_text_string(&error));
        hl_text_free(&error);
        return result;
    }
    hl_text_free(&error);
    int items = exchange->call.items, taken = atomic_fetch_add(&model->taken, items);
    bool room = taken + items <= model->limit;
    if (room && hl_serve_call_make_room(&exchange->call)) return submit(exchange);
    atomic_fetch_sub(&model->taken, items);
    if (!room) return refuse_full(exchange);
    return refuse(exchange, (struct answer){.status = HL_HTTP_ENDING, .retry = 1},
                  "there is no memory for the outputs");
}

static enum MHD_Result answer_inference(struct exchange *exchange)
{
    struct answer answer = {.status = HL_HTTP_OK};
    switch ((HaliteRunState)atomic_load(&exchange->state)) {
    case kHaliteRunDone: break;
    case kHaliteRunLate:
        return refuse(exchange, (struct answer){.status = HL_HTTP_LATE},
                      "the inference could not begin within its time");
    case kHaliteRunCancelled:
        return refuse(exchange, (struct answer){.status = HL_HTTP_ENDING, .retry = 1}, "the server ends");
    default:
        return refuse(exchange, (struct answer){.status = HL_HTTP_FAILED},
                      "the inference failed; the server's log says why");
    }
    hl_serve_call_write(&exchange->call, &answer.text, &answer.header);
    answer.type = answer.header > 0 ? "application/octet-stream" : json_type;
    return reply(exchange, &answer);
}

// ---- other questions ----------------------------------------------------------------------------

static void write_page(struct hl_serve_server *server, struct answer *answer)
{
    (void)server;
    answer->type = "text/html; charset=utf-8";
    hl_text_add(&answer->text, "%s", hl_serve_page);
}

static void write_metrics(struct hl_serve_server *server, struct answer *answer)
{
    answer->type = "text/plain; version=0.0.4; charset=utf-8";
    hl_serve_metrics(&server->counts, server->models, server->model_count, &answer->text);
}

static void write_server(struct hl_serve_server *server, struct answer *answer)
{
    (void)server;
    hl_text_add(&answer->text, "{\"name\":\"halite\",\"version\":\"%s\",\"extensions\":[\"binary_tensor_data\"]}\n",
                HaliteVersion());
}

static void write_live(struct hl_serve_server *server, struct answer *answer)
{
    (void)server;
    hl_text_add(&answer->text, "{\"live\":true}\n");
}

static void write_ready(struct hl_serve_server *server, struct answer *answer)
{
    bool ends = atomic_load(&server->ends);
    if (ends) answer->status = HL_HTTP_ENDING;
    hl_text_add(&answer->text, "{\"ready\":%s}\n", ends ? "false" : "true");
}

static const struct {
    const char *path;
    void (*write)(struct hl_serve_server *server, struct answer *answer);
} pages[] = {
    {"/", write_page},
    {"/metrics", write_metrics},
    {"/v2", write_server},
    {"/v2/health/live", write_live},
    {"/v2/health/ready", write_ready},
};

static void write_model_ready(struct exchange *exchange, const struct hl_serve_model *model, struct answer *answer)
{
    bool ends = atomic_load(&exchange->server->ends);
    if (ends) answer->status = HL_HTTP_ENDING;
    hl_text_add(&answer->text, "{\"name\":");
    hl_serve_add_string(&answer->text, model->name);
    hl_text_add(&answer->text, ",\"ready\":%s}\n", ends ? "false" : "true");
}

// /v2/models/NAME or /v2/models/NAME/versions/1, and what follows: "", "/ready" or "/infer". NULL: no such model.
static struct hl_serve_model *find_model(struct hl_serve_server *server, const char *url, const char **rest)
{
    static const char prefix[] = "/v2/models/", version[] = "/versions/1";
    if (strncmp(url, prefix, sizeof prefix - 1) != 0) return NULL;
    const char *name = url + sizeof prefix - 1;
    size_t length = strcspn(name, "/");
    for (int i = 0; i < server->model_count; i++) {
        if (strlen(server->models[i].name) != length || memcmp(server->models[i].name, name, length) != 0) continue;
        *rest = name + length;
        size_t skipped = sizeof version - 1;
        if (strncmp(*rest, version, skipped) == 0 && ((*rest)[skipped] == '/' || (*rest)[skipped] == '\0'))
            *rest += skipped;
        return &server->models[i];
    }
    return NULL;
}

static enum MHD_Result look_up(struct exchange *exchange, const char *url, const char *method)
{
    struct hl_serve_server *server = exchange->server;
    struct answer answer = {.status = HL_HTTP_OK, .type = json_type};
    const char *rest = "";
    const struct hl_serve_model *model = find_model(server, url, &rest);
    bool infers = model != NULL && strcmp(rest, "/infer") == 0, found = infers;
    bool gets = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if (strcmp(url, pages[i].path) != 0) continue;
        found = true;
        if (gets) pages[i].write(server, &answer);
    }
    if (model != NULL && strcmp(rest, "") == 0) {
        found = true;
        if (gets) hl_serve_model_describe(model, &answer.text);
    }
    if (model != NULL && strcmp(rest, "/ready") == 0) {
        found = true;
        if (gets) write_model_ready(exchange, model, &answer);
    }
    if (!found) return refuse(exchange, (struct answer){.status = HL_HTTP_NOT_FOUND}, "there is nothing at this path");
    if (!gets || infers)
        return refuse(exchange, (struct answer){.status = HL_HTTP_METHOD, .allowed = infers ? "POST" : "GET, HEAD"},
                      "this path takes %s", infers ? "POST" : "GET");
    return reply(exchange, &answer);
}

// ---- requests -----------------------------------------------------------------------------------

static bool keeps_body(const struct exchange *exchange)
{
    return exchange->model != NULL && exchange->refused == 0;
}

static void drop_body(struct exchange *exchange)
{
    atomic_fetch_sub(&exchange->server->counts.body_bytes, exchange->room);
    free(exchange->body);
    exchange->body = NULL;
    exchange->length = exchange->room = 0;
}

static void refuse_body(struct exchange *exchange, int status)
{
    drop_body(exchange);
    exchange->refused = status;
}

// Most bytes of the request's body.
static size_t body_limit(const struct exchange *exchange)
{
    int given = exchange->server->options->body;
    return given > 0 ? (size_t)given << 10 : hl_serve_model_body(exchange->model);
}

// Grows by doubling: what a client only announces takes no memory.
static void grow_body(struct exchange *exchange, size_t wanted)
{
    enum { FIRST = 4096 };
    struct hl_serve_server *server = exchange->server;
    if (wanted > body_limit(exchange)) {
        refuse_body(exchange, HL_HTTP_LARGE);
        return;
    }
    size_t room = exchange->room > 0 ? exchange->room : FIRST;
    while (room < wanted + 1) room *= 2;
    size_t more = room - exchange->room;
    if (atomic_fetch_add(&server->counts.body_bytes, more) + more > server->max_memory) {
        atomic_fetch_sub(&server->counts.body_bytes, more);
        refuse_body(exchange, HL_HTTP_MANY);
        return;
    }
    char *grown = realloc(exchange->body, room);
    if (grown == NULL) {
        atomic_fetch_sub(&server->counts.body_bytes, more);
        refuse_body(exchange, HL_HTTP_MANY);
        return;
    }
    exchange->body = grown;
    exchange->room = room;
}

static void take_body(struct exchange *exchange, const char *data, size_t size)
{
    if (!keeps_body(exchange)) return;
    size_t wanted = exchange->length + size;
    if (wanted + 1 > exchange->room) grow_body(exchange, wanted);
    if (!keeps_body(exchange)) return;
    memcpy(exchange->body + exchange->length, data, size);
    exchange->length = wanted;
    exchange->body[wanted] = '\0';
}

// The answer to a request whose body is not kept.
static enum MHD_Result refuse_passed_over(struct exchange *exchange)
{
    const struct hl_serve_server *server = exchange->server;
    if (exchange->refused == HL_HTTP_LARGE)
        return refuse(exchange, (struct answer){.status = HL_HTTP_LARGE, .closes = true},
                      "the body has more than the %zu bytes that the server takes for this model",
                      body_limit(exchange));
    if (exchange->refused == HL_HTTP_ENCODING)
        return refuse(exchange, (struct answer){.status = HL_HTTP_ENCODING, .closes = true},
                      "bodies are taken as they are, without Content-Encoding");
    return refuse(exchange, (struct answer){.status = HL_HTTP_MANY, .retry = 1},
                  "requests under way take all of the %d MiB that the server has for them", server->options->memory);
}

static struct exchange *begin(struct hl_serve_server *server, struct MHD_Connection *connection, const char *url,
                              const char *method)
{
    struct exchange *exchange = hl_alloc(1, sizeof *exchange);
    exchange->server = server;
    exchange->connection = connection;
    const char *rest = "";
    struct hl_serve_model *model = find_model(server, url, &rest);
    bool infers = model != NULL && strcmp(rest, "/infer") == 0 && strcmp(method, MHD_HTTP_METHOD_POST) == 0;
    if (infers) exchange->model = model;
    client_does(server, connection, SENDS);
    return exchange;
}

// Turned away before the body is read: what its headers say is enough.
static bool is_hopeless(struct exchange *exchange)
{
    const char *length =
        MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *encoding =
        MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_ENCODING);
    if (length != NULL && strtoull(length, NULL, 10) > body_limit(exchange)) exchange->refused = HL_HTTP_LARGE;
    if (encoding != NULL && strcmp(encoding, "identity") != 0) exchange->refused = HL_HTTP_ENCODING;
    return exchange->refused != 0;
}

static enum MHD_Result answer_whole(struct exchange *exchange, const char *url, const char *method)
{
    struct hl_serve_server *server = exchange->server;
    if (exchange->submitted) return answer_inference(exchange);
    if (exchange->refused != 0) return refuse_passed_over(exchange);
    enum MHD_Result result;
    if (!enter(server))
        result = refuse(exchange, (struct answer){.status = HL_HTTP_ENDING, .retry = 1}, "the server ends");
    else if (exchange->model != NULL)
        result = infer(exchange);
    else
        result = look_up(exchange, url, method);
    leave(server);
    return result;
}

// Called with a request's headers, then with each piece of its body, then at its end, and once more after a sleep.
static enum MHD_Result answer(void *data, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *body, size_t *body_size, void **context)
{
    struct hl_serve_server *server = data;
    struct exchange *exchange = *context;
    (void)version;
    if (exchange == NULL) {
        *context = exchange = begin(server, connection, url, method);
        atomic_fetch_add(&server->requests, 1);
        return exchange->model != NULL && is_hopeless(exchange) ? refuse_passed_over(exchange) : MHD_YES;
    }
    if (*body_size == 0) return answer_whole(exchange, url, method);
    take_body(exchange, body, *body_size);
    *body_size = 0;
    return MHD_YES;
}

static void completed(void *data, struct MHD_Connection *connection, void **context,
                      enum MHD_RequestTerminationCode code)
{
    struct hl_serve_server *server = data;
    struct exchange *exchange = *context;
    (void)code;
    if (exchange == NULL) return;
    drop_body(exchange);
    hl_serve_call_free(&exchange->call);
    free(exchange);
    *context = NULL;
    client_does(server, connection, RESTS);
    atomic_fetch_sub(&server->requests, 1);
}

// ---- connections --------------------------------------------------------------------------------

static void connection_changed(void *data, struct MHD_Connection *connection, void **context,
                               enum MHD_ConnectionNotificationCode code)
{
    struct hl_serve_server *server = data;
    struct client *client = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        client = hl_alloc(1, sizeof *client);
        *client = (struct client){.socket = info->connect_fd, .since = hl_nanoseconds()};
        *context = client;
        hl_mutex_lock(&server->mutex);
        client->next = server->clients;
        if (client->next != NULL) client->next->previous = client;
        server->clients = client;
        hl_mutex_unlock(&server->mutex);
        atomic_fetch_add(&server->counts.connections, 1);
    } else if (client != NULL) {
        hl_mutex_lock(&server->mutex);
        *(client->previous != NULL ? &client->previous->next : &server->clients) = client->next;
        if (client->next != NULL) client->next->previous = client->previous;
        hl_mutex_unlock(&server->mutex);
        free(client);
        *context = NULL;
        atomic_fetch_sub(&server->counts.connections, 1);
    }
}

// A client that sends is told why; one that takes an answer is in the middle of it.
static void cut(struct hl_serve_server *server, struct client *client)
{
    static const char words[] = "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\n"
                                "Connection: close\r\nContent-Length: 45\r\n\r\n"
                                "{\"error\":\"the request did not come in time\"}\n";
    if (client->does == SENDS) send(client->socket, words, sizeof words - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(client->socket, SHUT_RDWR);
    client->cut = true;
    if (client->does != RESTS) atomic_fetch_add(&server->counts.cut, 1);
    if (client->does == SENDS) atomic_fetch_add(&server->counts.answers[4], 1);
}

void hl_serve_watch(struct hl_serve_server *server)
{
    uint64_t now = hl_nanoseconds(), most = (uint64_t)(1e9 * server->options->timeout);
    hl_mutex_lock(&server->mutex);
    for (struct client *client = server->clients; client != NULL; client = client->next)
        if (!client->cut && client->does != WAITS && now - client->since > most && now > client->since)
            cut(server, client);
    hl_mutex_unlock(&server->mutex);
}

// ---- the server ---------------------------------------------------------------------------------

static bool start_daemon(struct hl_serve_server *server, const struct addrinfo *address)
{
    enum { MOST_THREADS = 4, HEADERS = 32768 };
    const struct hl_serve_options *options = server->options;
    int processors = hl_processors(), threads = processors < MOST_THREADS ? processors : MOST_THREADS;
    if (threads > options->connections) threads = options->connections;
    unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    if (address->ai_family == AF_INET6) flags |= MHD_USE_IPv6;
    const struct MHD_OptionItem items[] = {
        {MHD_OPTION_SOCK_ADDR, 0, address->ai_addr},
        {MHD_OPTION_CONNECTION_LIMIT, options->connections, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADERS, NULL},
        {MHD_OPTION_THREAD_POOL_SIZE, threads > 1 ? threads : 0, NULL},
        {MHD_OPTION_LISTENING_ADDRESS_REUSE, 1, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    server->daemon = MHD_start_daemon(flags, (uint16_t)options->port, NULL, NULL, answer, server, MHD_OPTION_ARRAY,
                                      items, MHD_OPTION_NOTIFY_COMPLETED, completed, server,
                                      MHD_OPTION_NOTIFY_CONNECTION, connection_changed, server, MHD_OPTION_END);
    if (server->daemon == NULL)
        hl_error("serve", NULL, "cannot listen on %s, port %d: %s", options->host, options->port, strerror(errno));
    return server->daemon != NULL;
}

static bool listen_somewhere(struct hl_serve_server *server)
{
    const struct hl_serve_options *options = server->options;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *addresses = NULL;
    char port[16];
    snprintf(port, sizeof port, "%d", options->port);
    int problem = getaddrinfo(options->host, port, &hints, &addresses);
    if (problem != 0) {
        hl_error("serve", NULL, "--host %s is no address: %s", options->host, gai_strerror(problem));
        return false;
    }
    bool ok = start_daemon(server, addresses);
    freeaddrinfo(addresses);
    return ok;
}

bool hl_serve_can_listen(void)
{
    return true;
}

struct hl_serve_server *hl_serve_start(const struct hl_serve_options *options, struct hl_serve_model *models,
                                       int model_count)
{
    struct hl_serve_server *server = hl_alloc(1, sizeof *server);
    server->options = options;
    server->models = models;
    server->model_count = model_count;
    server->max_memory = (size_t)options->memory << 20;
    server->counts.began = hl_nanoseconds();
    if (!hl_mutex_init(&server->mutex)) hl_alloc_check(NULL);
    if (listen_somewhere(server)) return server;
    hl_mutex_destroy(&server->mutex);
    free(server);
    return NULL;
}

int hl_serve_port(const struct hl_serve_server *server)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info != NULL && info->port != 0 ? info->port : server->options->port;
}

// Waits until no request is under way, or the time is over.
static bool wait_for_requests(struct hl_serve_server *server, double seconds)
{
    double begin = hl_seconds();
    for (; atomic_load(&server->requests) > 0; hl_sleep(0.01)) {
        hl_serve_watch(server);
        if (hl_seconds() - begin > seconds) return false;
    }
    return true;
}

bool hl_serve_stop(struct hl_serve_server *server)
{
    atomic_store(&server->ends, true);
    MHD_socket socket = MHD_quiesce_daemon(server->daemon);
    if (socket != MHD_INVALID_SOCKET) shutdown(socket, SHUT_RDWR);
    bool drained = wait_for_requests(server, server->options->drain);
    atomic_store(&server->closed, true);
    while (atomic_load(&server->visitors) > 0) hl_sleep(0.001);
    for (int i = 0; i < server->model_count; i++) hl_serve_model_stop(&server->models[i]); // which answers the rest
    if (!drained) wait_for_requests(server, 1);
    MHD_stop_daemon(server->daemon);
    if (!drained) hl_warn("serve", NULL, "requests were cancelled: they took longer than --drain allows");
    hl_mutex_destroy(&server->mutex);
    free(server);
    return drained;
}

#endif
