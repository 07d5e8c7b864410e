// SPDX-License-Identifier: Apache-2.0
// A queue before several interpreters: right answers alone and in batches, priorities, the bound, cancellation and time
// limits, requests that fail, deletion, statistics, and eight threads that submit and cancel at random. The model has
// one operator of this file, which a test can hold up: y = 3 x, and an error for negative x. HALITE_TEST_SECONDS: how
// long the threads go on (a fraction of a second without it).
#include "client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "halite/queue.h"
#include "tensorflow/lite/c/c_api_experimental.h"

// ---- the operator and its gate ------------------------------------------------------------------

enum { ITEM = 4 }; // elements of a request

static struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool shut;
    int arrivals;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};

static void set_gate(bool shut)
{
    pthread_mutex_lock(&gate.mutex);
    gate.shut = shut;
    gate.arrivals = 0;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

static void await_arrivals(int count)
{
    pthread_mutex_lock(&gate.mutex);
    while (gate.arrivals < count) pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
}

static TfLiteStatus triple_prepare(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *input = &context->tensors[node->inputs->data[0]];
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], TfLiteIntArrayCopy(input->dims));
}

static TfLiteStatus triple_invoke(TfLiteContext *context, TfLiteNode *node)
{
    const TfLiteTensor *input = &context->tensors[node->inputs->data[0]];
    float *output = context->tensors[node->outputs->data[0]].data.f;
    pthread_mutex_lock(&gate.mutex);
    gate.arrivals++;
    pthread_cond_broadcast(&gate.changed);
    while (gate.shut) pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
    for (size_t i = 0; i < input->bytes / sizeof *output; i++) {
        if (input->data.f[i] < 0) return kTfLiteError;
        output[i] = 3 * input->data.f[i];
    }
    return kTfLiteOk;
}

static const struct test_tensor tensors[] = {FLOATS("x", ITEM), FLOATS("y", ITEM), FLOATS("z", ITEM)};
// Two nodes: a batch that nobody waits for any more stops before the second.
static const struct test_node nodes[] = {
    {.builtin = kTfLiteBuiltinCustom, .custom = "Triple", TEST_INPUTS(0), TEST_OUTPUTS(1)},
    NODE_1_1(kTfLiteBuiltinAbs, 1, 2)};
static const struct test_model gated = {
    .name = "main", TEST_TENSORS(tensors), TEST_NODES(nodes), TEST_INPUTS(0), TEST_OUTPUTS(2)};

// ---- helpers ------------------------------------------------------------------------------------

struct fixture {
    struct client c; // without its interpreter
    struct client_log log;
    HaliteQueue *queue;
};

// The workers' interpreters share it.
static void report_in_turn(void *user_data, const char *format, va_list args)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    client_report(user_data, format, args);
    pthread_mutex_unlock(&mutex);
}

static void load(struct fixture *f, const struct test_model *model)
{
    static const TfLiteRegistration triple_op = {.prepare = triple_prepare, .invoke = triple_invoke};
    memset(f, 0, sizeof *f);
    client_load(&f->c, model);
    TfLiteInterpreterOptionsSetErrorReporter(f->c.options, report_in_turn, &f->c.log);
    TfLiteInterpreterOptionsAddCustomOp(f->c.options, "Triple", &triple_op, 1, 1);
}

static const HaliteQueueOptions defaults = {.struct_size = sizeof defaults};

static HaliteQueue *create(struct fixture *f, int32_t workers, HaliteQueueOptions options)
{
    const TfLiteInterpreterOptions *interpreters[8];
    for (int i = 0; i < 8; i++) interpreters[i] = f->c.options;
    options.error_reporter = report_in_turn;
    options.error_data = &f->log;
    f->queue = HaliteQueueCreate(f->c.model, interpreters, workers, &options);
    return f->queue;
}

static void begin(struct fixture *f, int32_t workers, HaliteQueueOptions options)
{
    set_gate(false);
    load(f, &gated);
    if (!create(f, workers, options)) fail_msg("%s%s", f->log.text, f->c.log.text);
}

static void end(struct fixture *f)
{
    HaliteQueueDelete(f->queue);
    client_end(&f->c);
}

// A request and what became of it. The thread that drained or deleted the queue reads it.
struct order {
    float x[ITEM], y[ITEM];
    const void *inputs[1];
    void *outputs[1];
    HaliteRequest request;
    uint64_t number;
    HaliteRunState state;
    int answers, turn; // the how manieth answer of all
};

static atomic_int turns;

static void note(void *data, uint64_t number, HaliteRunState state)
{
    struct order *order = data;
    order->answers += number == order->number;
    order->state = state;
    order->turn = atomic_fetch_add(&turns, 1);
}

static void make_order(struct order *order, float first)
{
    memset(order, 0, sizeof *order);
    for (int i = 0; i < ITEM; i++) order->x[i] = first + (float)i;
    order->inputs[0] = order->x;
    order->outputs[0] = order->y;
    order->request = (HaliteRequest){.struct_size = sizeof order->request,
                                     .inputs = order->inputs,
                                     .outputs = order->outputs,
                                     .done = note,
                                     .data = order};
}

static HaliteSubmission submit(struct fixture *f, struct order *order)
{
    return HaliteQueueSubmit(f->queue, &order->request, &order->number);
}

static void assert_accepted(struct fixture *f, struct order *order)
{
    assert_int_equal(submit(f, order), kHaliteSubmissionAccepted);
}

static bool is_tripled(const struct order *order)
{
    for (int i = 0; i < ITEM; i++)
        if (order->y[i] != 3 * order->x[i]) return false;
    return true;
}

static void assert_answer(const struct order *order, HaliteRunState state)
{
    assert_int_equal(order->answers, 1);
    assert_int_equal(order->state, state);
    if (state == kHaliteRunDone)
        assert_true(is_tripled(order));
    else
        for (int i = 0; i < ITEM; i++) assert_true(order->y[i] == 0);
}

static HaliteQueueStatistics statistics_of(const struct fixture *f)
{
    HaliteQueueStatistics statistics = {.struct_size = sizeof statistics};
    assert_int_equal(HaliteQueueGetStatistics(f->queue, &statistics), kTfLiteOk);
    return statistics;
}

// Keeps one worker busy with a request of its own until the gate opens.
static void occupy(struct fixture *f, struct order *order)
{
    set_gate(true);
    make_order(order, 100);
    assert_accepted(f, order);
    await_arrivals(1);
}

static void open_and_drain(struct fixture *f)
{
    set_gate(false);
    HaliteQueueDrain(f->queue);
}

// ---- answers ------------------------------------------------------------------------------------

static void check_answers(int32_t workers, HaliteQueueOptions options)
{
    enum { ORDERS = 50 };
    struct fixture f;
    struct order orders[ORDERS];
    begin(&f, workers, options);
    assert_int_equal(HaliteQueueGetInputBytes(f.queue, 0), ITEM * sizeof(float));
    assert_int_equal(HaliteQueueGetOutputBytes(f.queue, 0), ITEM * sizeof(float));
    assert_int_equal(HaliteQueueGetOutputBytes(f.queue, 1), 0);
    for (int i = 0; i < ORDERS; i++) {
        make_order(&orders[i], (float)i);
        assert_accepted(&f, &orders[i]);
    }
    HaliteQueueDrain(f.queue);
    for (int i = 0; i < ORDERS; i++) assert_answer(&orders[i], kHaliteRunDone);
    HaliteQueueStatistics statistics = statistics_of(&f);
    assert_int_equal(statistics.done, ORDERS);
    assert_int_equal(statistics.batched, ORDERS);
    uint64_t counted = 0;
    for (int i = 0; i < kHaliteLatencyBuckets; i++) counted += statistics.latency[i];
    assert_int_equal(counted, ORDERS);
    assert_true(statistics.busy_nanoseconds <= statistics.elapsed_nanoseconds * (uint64_t)workers);
    assert_int_equal(f.log.count + f.c.log.count, 0);
    end(&f);
}

static void answers_of_one_worker_and_of_three(void **state)
{
    (void)state;
    HaliteQueueOptions options = defaults;
    check_answers(1, options);
    check_answers(3, options);
    options.max_batch = 7;
    options.batch_nanoseconds = -1;
    check_answers(1, options);
    check_answers(3, options);
}

static void those_that_wait_form_batches(void **state)
{
    (void)state;
    struct fixture f;
    struct order first, orders[10];
    HaliteQueueOptions options = defaults;
    options.max_batch = 4;
    options.batch_nanoseconds = -1;
    begin(&f, 1, options);
    assert_int_equal(HaliteQueueGetMaxBatch(f.queue), 4);
    occupy(&f, &first);
    for (int i = 0; i < 10; i++) {
        make_order(&orders[i], (float)i);
        assert_accepted(&f, &orders[i]);
    }
    open_and_drain(&f);
    for (int i = 0; i < 10; i++) assert_answer(&orders[i], kHaliteRunDone);
    assert_int_equal(statistics_of(&f).batches, 1 + 3); // 4 + 4 + 2
    assert_int_equal(statistics_of(&f).most_queued, 10);
    end(&f);
}

static void a_window_fills_a_batch(void **state)
{
    (void)state;
    struct fixture f;
    struct order orders[4];
    HaliteQueueOptions options = defaults;
    options.max_batch = 4;
    options.batch_nanoseconds = INT64_C(3600000000000); // no fewer than four
    begin(&f, 2, options);
    for (int i = 0; i < 4; i++) {
        make_order(&orders[i], (float)i);
        assert_accepted(&f, &orders[i]);
    }
    HaliteQueueDrain(f.queue);
    for (int i = 0; i < 4; i++) assert_answer(&orders[i], kHaliteRunDone);
    assert_int_equal(statistics_of(&f).batches, 1);
    options.batch_nanoseconds = 1000000;
    end(&f);
    begin(&f, 1, options);
    make_order(&orders[0], 1);
    assert_accepted(&f, &orders[0]);
    HaliteQueueDrain(f.queue); // the window closes on one alone
    assert_answer(&orders[0], kHaliteRunDone);
    end(&f);
}

static void a_fault_is_not_the_others(void **state)
{
    (void)state;
    struct fixture f;
    struct order first, orders[4];
    HaliteQueueOptions options = defaults;
    options.max_batch = 4;
    begin(&f, 1, options);
    occupy(&f, &first);
    for (int i = 0; i < 4; i++) {
        make_order(&orders[i], i == 2 ? -9 : (float)i);
        assert_accepted(&f, &orders[i]);
    }
    open_and_drain(&f);
    for (int i = 0; i < 4; i++) assert_answer(&orders[i], i == 2 ? kHaliteRunFailed : kHaliteRunDone);
    assert_int_equal(statistics_of(&f).failed, 1);
    end(&f);
}

// ---- order and bound ----------------------------------------------------------------------------

static void priorities(void **state)
{
    (void)state;
    static const int32_t given[] = {0, 5, -1, 5, 0}, places[] = {2, 0, 4, 1, 3};
    struct fixture f;
    struct order first, orders[5];
    begin(&f, 1, defaults);
    occupy(&f, &first);
    for (int i = 0; i < 5; i++) {
        make_order(&orders[i], (float)i);
        orders[i].request.priority = given[i];
        assert_accepted(&f, &orders[i]);
    }
    open_and_drain(&f);
    for (int i = 0; i < 5; i++) assert_int_equal(orders[i].turn - first.turn, 1 + places[i]);
    end(&f);
}

static void *submit_and_wait_for_room(void *arg)
{
    struct fixture *f = arg;
    static struct order order;
    make_order(&order, 7);
    order.request.room_nanoseconds = -1;
    return submit(f, &order) == kHaliteSubmissionAccepted ? &order : NULL;
}

static void the_bound(void **state)
{
    (void)state;
    struct fixture f;
    struct order orders[3], one_more;
    pthread_t thread;
    void *late_order;
    HaliteQueueOptions options = defaults;
    options.max_requests = 3;
    begin(&f, 1, options);
    occupy(&f, &orders[0]);
    for (int i = 1; i < 3; i++) {
        make_order(&orders[i], (float)i);
        assert_accepted(&f, &orders[i]);
    }
    make_order(&one_more, 1);
    assert_int_equal(submit(&f, &one_more), kHaliteSubmissionFull);
    one_more.request.room_nanoseconds = 1000;
    assert_int_equal(submit(&f, &one_more), kHaliteSubmissionFull);
    assert_int_equal(statistics_of(&f).full, 2);
    assert_int_equal(pthread_create(&thread, NULL, submit_and_wait_for_room, &f), 0);
    set_gate(false);
    pthread_join(thread, &late_order);
    assert_non_null(late_order);
    HaliteQueueDrain(f.queue);
    assert_answer(late_order, kHaliteRunDone);
    for (int i = 0; i < 3; i++) assert_answer(&orders[i], kHaliteRunDone);
    assert_int_equal(one_more.answers, 0);
    end(&f);
}

// ---- requests that are stopped ------------------------------------------------------------------

static void cancelled_requests(void **state)
{
    (void)state;
    struct fixture f;
    struct order running, queued, last;
    begin(&f, 1, defaults);
    occupy(&f, &running);
    make_order(&queued, 1);
    make_order(&last, 2);
    assert_accepted(&f, &queued);
    assert_accepted(&f, &last);
    assert_ok(HaliteQueueCancel(f.queue, queued.number));
    assert_ok(HaliteQueueCancel(f.queue, running.number));
    assert_int_equal(HaliteQueueCancel(f.queue, last.number + 12345), kTfLiteError);
    open_and_drain(&f);
    assert_answer(&running, kHaliteRunCancelled);
    assert_answer(&queued, kHaliteRunCancelled);
    assert_answer(&last, kHaliteRunDone);
    assert_int_equal(HaliteQueueCancel(f.queue, last.number), kTfLiteError);
    assert_int_equal(statistics_of(&f).cancelled, 2);
    end(&f);
}

static void late_requests(void **state)
{
    (void)state;
    struct fixture f;
    struct order first, late, patient;
    begin(&f, 1, defaults);
    occupy(&f, &first);
    make_order(&late, 1);
    make_order(&patient, 2);
    late.request.timeout_nanoseconds = 1;
    patient.request.timeout_nanoseconds = INT64_MAX;
    assert_accepted(&f, &late);
    assert_accepted(&f, &patient);
    open_and_drain(&f);
    assert_answer(&late, kHaliteRunLate);
    assert_answer(&patient, kHaliteRunDone);
    assert_int_equal(statistics_of(&f).late, 1);
    end(&f);
}

static void deleting_a_full_queue(void **state)
{
    (void)state;
    enum { ORDERS = 20 };
    struct fixture f;
    struct order orders[ORDERS];
    HaliteQueueOptions options = defaults;
    options.max_batch = 3;
    begin(&f, 2, options);
    for (int i = 0; i < ORDERS; i++) {
        make_order(&orders[i], (float)i);
        assert_accepted(&f, &orders[i]);
    }
    end(&f);
    for (int i = 0; i < ORDERS; i++) {
        assert_int_equal(orders[i].answers, 1);
        assert_true(orders[i].state == kHaliteRunCancelled || is_tripled(&orders[i]));
    }
}

// ---- callbacks ----------------------------------------------------------------------------------

struct chain {
    struct order order;
    struct fixture *f;
    atomic_int left;
};

static void submit_the_next(void *data, uint64_t number, HaliteRunState state)
{
    struct chain *chain = data;
    (void)number;
    if (state != kHaliteRunDone || !is_tripled(&chain->order) || atomic_fetch_sub(&chain->left, 1) == 1) return;
    HaliteQueueDelete(chain->f->queue); // is refused
    chain->order.x[0] += 1;
    HaliteQueueSubmit(chain->f->queue, &chain->order.request, NULL);
}

static void callbacks_submit(void **state)
{
    (void)state;
    struct fixture f;
    struct chain chain = {.f = &f};
    HaliteQueueOptions options = defaults;
    options.max_requests = 1; // the callback finds room
    begin(&f, 1, options);
    make_order(&chain.order, 1);
    atomic_init(&chain.left, 10);
    chain.order.request.done = submit_the_next;
    chain.order.request.data = &chain;
    assert_accepted(&f, &chain.order);
    HaliteQueueDrain(f.queue);
    assert_int_equal(atomic_load(&chain.left), 0);
    assert_int_equal(f.log.count, 9);
    assert_non_null(strstr(f.log.text, "a callback cannot delete its queue"));
    end(&f);
}

// ---- what is refused ----------------------------------------------------------------------------

static void assert_not_created(struct fixture *f, HaliteQueueOptions options, int32_t workers, const char *part)
{
    client_forget(&f->log);
    assert_null(create(f, workers, options));
    assert_int_equal(f->log.count, 1);
    if (!strstr(f->log.text, part)) fail_msg("%s", f->log.text);
}

static void wrong_arguments(void **state)
{
    (void)state;
    struct fixture f;
    HaliteQueueOptions options = defaults;
    load(&f, &gated);
    assert_not_created(&f, defaults, 0, "number of workers");
    assert_not_created(&f, defaults, 65, "number of workers");
    options.max_requests = -1;
    assert_not_created(&f, options, 1, "max_requests");
    options = defaults;
    options.max_batch = -1;
    assert_not_created(&f, options, 1, "max_batch");
    options = defaults;
    options.struct_size--; // this message goes to standard error: nobody can tell where the reporter stands
    assert_null(create(&f, 1, options));
    client_end(&f.c);

    struct order order;
    begin(&f, 1, defaults);
    make_order(&order, 1);
    order.inputs[0] = NULL;
    assert_int_equal(submit(&f, &order), kHaliteSubmissionRefused);
    assert_non_null(strstr(f.log.text, "an input is NULL"));
    order.inputs[0] = order.x;
    order.request.timeout_nanoseconds = -1;
    assert_int_equal(submit(&f, &order), kHaliteSubmissionRefused);
    assert_non_null(strstr(f.log.text, "negative"));
    order.request.timeout_nanoseconds = 0;
    order.request.struct_size--;
    assert_int_equal(submit(&f, &order), kHaliteSubmissionRefused);
    assert_non_null(strstr(f.log.text, "struct_size"));
    order.request.struct_size++;
    assert_int_equal(HaliteQueueSubmit(f.queue, NULL, NULL), kHaliteSubmissionRefused);
    assert_int_equal(HaliteQueueSubmit(NULL, &order.request, NULL), kHaliteSubmissionRefused);
    assert_int_equal(statistics_of(&f).refused, 4);
    HaliteQueueStatistics old = {.struct_size = sizeof old - 1};
    assert_int_equal(HaliteQueueGetStatistics(f.queue, &old), kTfLiteError);
    order.outputs[0] = NULL; // not wanted
    assert_accepted(&f, &order);
    HaliteQueueDrain(f.queue);
    assert_int_equal(order.state, kHaliteRunDone);
    end(&f);
    HaliteQueueDelete(NULL);
}

// ---- models that cannot be served, or not in batches --------------------------------------------

// Serves one request of zeros, or of what `order` has, without batches.
static void serve_one_by_one(const struct test_model *model, const char *message, struct order *order)
{
    struct fixture f;
    HaliteQueueOptions options = defaults;
    options.max_batch = 8;
    load(&f, model);
    assert_non_null(create(&f, 1, options));
    assert_int_equal(f.log.count, 1);
    assert_non_null(strstr(f.log.text, message));
    assert_int_equal(HaliteQueueGetMaxBatch(f.queue), 1);
    make_order(order, 3);
    assert_accepted(&f, order);
    HaliteQueueDrain(f.queue);
    assert_int_equal(order->state, kHaliteRunDone);
    end(&f);
}

static void outputs_that_do_not_grow(void **state)
{
    (void)state;
    static const struct test_tensor shape_tensors[] = {FLOATS("x", ITEM),
                                                       {.name = "y", .type = TEST_INT32, .rank = 1, .dims = {1}}};
    static const struct test_node shape_node[] = {NODE_1_1(kTfLiteBuiltinShape, 0, 1)};
    static const struct test_model shape = {
        .name = "main", TEST_TENSORS(shape_tensors), TEST_NODES(shape_node), TEST_INPUTS(0), TEST_OUTPUTS(1)};
    const int32_t length = ITEM; // of one request, as before the trial
    struct order order;
    serve_one_by_one(&shape, "output 'y' does not grow", &order);
    assert_memory_equal(order.y, &length, sizeof length);
}

static void shapes_that_are_constants(void **state)
{
    (void)state;
    static const int32_t to[] = {2, 2};
    static const struct test_tensor fixed_tensors[] = {
        FLOATS("x", ITEM),
        {.name = "to", .type = TEST_INT32, .rank = 1, .dims = {2}, .data = to, .bytes = sizeof to},
        {.name = "y", .type = TEST_FLOAT32, .rank = 2, .dims = {2, 2}}};
    static const struct test_node fixed_node[] = {NODE_2_1(kTfLiteBuiltinReshape, 0, 1, 2)};
    static const struct test_model fixed = {
        .name = "main", TEST_TENSORS(fixed_tensors), TEST_NODES(fixed_node), TEST_INPUTS(0), TEST_OUTPUTS(2)};
    struct order order;
    serve_one_by_one(&fixed, "does not take the inputs of two", &order);
    assert_memory_equal(order.y, order.x, sizeof order.x);
}

static void outputs_without_a_size(void **state)
{
    (void)state;
    static const struct test_tensor range_tensors[] = {{.name = "start", .type = TEST_INT32},
                                                       {.name = "limit", .type = TEST_INT32},
                                                       {.name = "delta", .type = TEST_INT32},
                                                       {.name = "range", .type = TEST_INT32, .rank = 1}};
    static const struct test_node range_node[] = {
        {.builtin = kTfLiteBuiltinRange, TEST_INPUTS(0, 1, 2), TEST_OUTPUTS(3)}};
    static const struct test_model range = {
        .name = "main", TEST_TENSORS(range_tensors), TEST_NODES(range_node), TEST_INPUTS(0, 1, 2), TEST_OUTPUTS(3)};
    struct fixture f;
    load(&f, &range);
    assert_not_created(&f, defaults, 1, "output 'range' has no size before the model runs");
    client_end(&f.c);
}

static void variables(void **state)
{
    (void)state;
    static const struct test_tensor kept_tensors[] = {
        FLOATS("x", ITEM),
        {.name = "state", .type = TEST_FLOAT32, .rank = 1, .dims = {ITEM}, .is_variable = true},
        FLOATS("y", ITEM)};
    static const struct test_node kept_node[] = {NODE_2_1(kTfLiteBuiltinAdd, 0, 1, 2)};
    static const struct test_model kept = {
        .name = "main", TEST_TENSORS(kept_tensors), TEST_NODES(kept_node), TEST_INPUTS(0), TEST_OUTPUTS(2)};
    struct fixture f;
    load(&f, &kept);
    assert_not_created(&f, defaults, 1, "it keeps variables");
    client_end(&f.c);
}

// ---- threads ------------------------------------------------------------------------------------

enum { THREADS = 8, SLOTS = 6 };

struct user {
    pthread_t thread;
    HaliteQueue *queue;
    unsigned seed;
    double seconds;
    struct slot {
        struct order order;
        atomic_int state; // of the last answer; FREE before the first one
        atomic_int answers;
        int accepted;
        bool bad;   // a request that has to fail
        bool asked; // its cancellation was accepted
        atomic_int wrong;
    } slots[SLOTS];
    int accepted, full, asked; // submissions, cancellations
};

enum { IN_FLIGHT = -1 };

static unsigned draw(struct user *user, unsigned below)
{
    user->seed = user->seed * 1103515245u + 12345u;
    return (user->seed >> 16) % below;
}

// The worker checks the result: nobody else touches the slot until its state says that it is answered.
static void check_slot(void *data, uint64_t number, HaliteRunState state)
{
    struct slot *slot = data;
    (void)number;
    bool right = state == kHaliteRunDone ? !slot->bad && is_tripled(&slot->order) : true;
    if (state == kHaliteRunFailed && !slot->bad) right = false;
    if (!right || atomic_load(&slot->state) != IN_FLIGHT) atomic_fetch_add(&slot->wrong, 1);
    atomic_fetch_add(&slot->answers, 1);
    atomic_store(&slot->state, (int)state);
}

static void submit_slot(struct user *user, struct slot *slot)
{
    static const int64_t rooms[] = {0, 100000, -1};
    if (slot->asked && atomic_load(&slot->state) != kHaliteRunCancelled) atomic_fetch_add(&slot->wrong, 1);
    slot->asked = false;
    make_order(&slot->order, (float)draw(user, 1000));
    slot->bad = draw(user, 50) == 0;
    if (slot->bad) slot->order.x[1] = -1;
    slot->order.request.done = check_slot;
    slot->order.request.data = slot;
    slot->order.request.priority = (int32_t)draw(user, 3);
    slot->order.request.timeout_nanoseconds = draw(user, 4) == 0 ? 1 + (int64_t)draw(user, 300000) : 0;
    slot->order.request.room_nanoseconds = rooms[draw(user, 3)];
    atomic_store(&slot->state, IN_FLIGHT);
    HaliteSubmission submission = HaliteQueueSubmit(user->queue, &slot->order.request, &slot->order.number);
    if (submission == kHaliteSubmissionAccepted) {
        slot->accepted++;
        user->accepted++;
        return;
    }
    atomic_store(&slot->state, kHaliteRunIdle);
    user->full += submission == kHaliteSubmissionFull;
}

static void cancel_slot(struct user *user, struct slot *slot)
{
    if (HaliteQueueCancel(user->queue, slot->order.number) != kTfLiteOk || slot->asked) return;
    slot->asked = true;
    user->asked++;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *use_queue(void *arg)
{
    struct user *user = arg;
    const struct timespec pause = {.tv_nsec = 20000};
    double until = now() + user->seconds;
    do {
        for (int i = 0; i < 50; i++) {
            struct slot *slot = &user->slots[draw(user, SLOTS)];
            if (atomic_load(&slot->state) != IN_FLIGHT)
                submit_slot(user, slot);
            else if (draw(user, 8) == 0)
                cancel_slot(user, slot);
            else
                nanosleep(&pause, NULL);
        }
    } while (now() < until);
    return NULL;
}

static void submissions_of_eight_threads(void **state)
{
    (void)state;
    static struct user users[THREADS];
    const char *seconds = getenv("HALITE_TEST_SECONDS");
    struct fixture f;
    HaliteQueueOptions options = defaults;
    options.max_requests = 24; // fewer than slots, so that threads wait for room
    options.max_batch = 4;
    options.batch_nanoseconds = 50000;
    begin(&f, 3, options);
    for (int i = 0; i < THREADS; i++) {
        users[i] = (struct user){.queue = f.queue, .seed = (unsigned)i + 1, .seconds = seconds ? atof(seconds) : 0.3};
        assert_int_equal(pthread_create(&users[i].thread, NULL, use_queue, &users[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(users[i].thread, NULL);
    HaliteQueueDrain(f.queue);
    int accepted = 0, full = 0, asked = 0;
    for (int i = 0; i < THREADS; i++) {
        accepted += users[i].accepted;
        full += users[i].full;
        asked += users[i].asked;
        for (int s = 0; s < SLOTS; s++) {
            assert_int_equal(atomic_load(&users[i].slots[s].wrong), 0);
            assert_int_equal(atomic_load(&users[i].slots[s].answers), users[i].slots[s].accepted); // none lost or twice
        }
    }
    HaliteQueueStatistics statistics = statistics_of(&f);
    print_message(
        "%d accepted, %d turned away: %d done, %d failed, %d cancelled (asked for %d), %d late; mean batch %.2f\n",
        accepted, full, (int)statistics.done, (int)statistics.failed, (int)statistics.cancelled, asked,
        (int)statistics.late, (double)statistics.batched / (double)statistics.batches);
    assert_int_equal(statistics.accepted, accepted);
    assert_int_equal(statistics.full, full);
    assert_int_equal(statistics.done + statistics.failed + statistics.cancelled + statistics.late, accepted);
    assert_int_equal(statistics.queued + statistics.running, 0);
    assert_int_equal(statistics.cancelled, asked);
    assert_true(statistics.done > 0 && asked > 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_of_one_worker_and_of_three),
        cmocka_unit_test(those_that_wait_form_batches),
        cmocka_unit_test(a_window_fills_a_batch),
        cmocka_unit_test(a_fault_is_not_the_others),
        cmocka_unit_test(priorities),
        cmocka_unit_test(the_bound),
        cmocka_unit_test(cancelled_requests),
        cmocka_unit_test(late_requests),
        cmocka_unit_test(deleting_a_full_queue),
        cmocka_unit_test(callbacks_submit),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(outputs_that_do_not_grow),
        cmocka_unit_test(shapes_that_are_constants),
        cmocka_unit_test(outputs_without_a_size),
        cmocka_unit_test(variables),
        cmocka_unit_test(submissions_of_eight_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
