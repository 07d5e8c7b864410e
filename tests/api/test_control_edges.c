// SPDX-License-Identifier: Apache-2.0
// Control dependencies in a model's metadata: what a delegate takes may not run before the nodes that they name. And
// what becomes of broken ones.
#include "api/client.h"
#include "halite/halite.h"
#include "tensorflow/lite/c/c_api_experimental.h"

// Four sums that know nothing of each other.
enum { IN, OUT, NODES = 4 };

static const struct test_tensor tensors[] = {FLOATS("in", 2), FLOATS("o0", 2), FLOATS("o1", 2), FLOATS("o2", 2),
                                             FLOATS("o3", 2)};
static const struct test_node nodes[] = {NODE_2_1(kTfLiteBuiltinAdd, IN, IN, OUT),
                                         NODE_2_1(kTfLiteBuiltinAdd, IN, IN, OUT + 1),
                                         NODE_2_1(kTfLiteBuiltinAdd, IN, IN, OUT + 2),
                                         NODE_2_1(kTfLiteBuiltinAdd, IN, IN, OUT + 3)};

// ---- a delegate that claims nodes by bits -------------------------------------------------------

struct claimer {
    TfLiteDelegate delegate;
    unsigned nodes;
};

static TfLiteStatus claim(TfLiteContext *context, TfLiteDelegate *delegate)
{
    unsigned wanted = ((struct claimer *)delegate->data_)->nodes;
    TfLiteIntArray *claimed = TfLiteIntArrayCreate(NODES);
    claimed->size = 0;
    for (int n = 0; n < NODES; n++)
        if (wanted & 1u << n) claimed->data[claimed->size++] = n;
    TfLiteRegistration kernel = {.custom_name = "Claimed", .version = 1};
    TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, claimed, delegate);
    TfLiteIntArrayFree(claimed);
    return status;
}

// ---- models with edges --------------------------------------------------------------------------

static void begin(struct client *c, const void *edges, size_t bytes)
{
    const struct test_metadata metadata = {"model_control_dependencies", edges, bytes};
    const struct test_model model = {TEST_TENSORS(tensors),
                                     TEST_NODES(nodes),
                                     TEST_INPUTS(IN),
                                     .output_count = NODES,
                                     .outputs = {OUT, OUT + 1, OUT + 2, OUT + 3},
                                     .metadata_count = edges ? 1 : 0,
                                     .metadata = &metadata};
    client_begin(c, &model);
}

static void apply(struct client *c, struct claimer *claimer, unsigned bits)
{
    claimer->nodes = bits;
    claimer->delegate = (TfLiteDelegate){.data_ = claimer, .Prepare = claim, .flags = 1};
    assert_ok(TfLiteInterpreterModifyGraphWithDelegate(c->interpreter, &claimer->delegate));
}

// The plan as digits; new nodes count on from NODES.
static void check_plan(const struct client *c, const char *expected)
{
    char plan[16] = "";
    int count = HaliteInterpreterGetNodeCount(c->interpreter);
    assert_true(count < 16);
    for (int i = 0; i < count; i++) {
        HaliteNodeReport report;
        assert_ok(HaliteInterpreterGetNodeReport(c->interpreter, i, &report));
        plan[i] = (char)('0' + report.node);
    }
    assert_string_equal(plan, expected);
}

// Numbers below 64, from and to, as the bytes of an edge: signed, with the sign in the lowest bit.
#define EDGE(from, to) (from) * 2, (to)*2

static void nodes_join_without_edges(void **state)
{
    (void)state;
    struct client c;
    struct claimer claimer;
    begin(&c, NULL, 0);
    apply(&c, &claimer, 1u << 0 | 1u << 2);
    check_plan(&c, "413");
    client_end(&c);
}

static void an_edge_keeps_nodes_apart(void **state)
{
    (void)state;
    static const unsigned char edges[] = {1, 1, 1, EDGE(1, 2)};
    struct client c;
    struct claimer claimer;
    begin(&c, edges, sizeof edges);
    apply(&c, &claimer, 1u << 0 | 1u << 2);
    check_plan(&c, "4135"); // what stays on the CPU goes on without waiting
    client_end(&c);
}

// Two edges lead to one node, and 3 waits for 0 alone: it may go first.
static void nodes_wait_for_all_edges(void **state)
{
    (void)state;
    static const unsigned char edges[] = {1, 1, 3, EDGE(0, 2), EDGE(1, 2), EDGE(0, 3)};
    struct client c;
    struct claimer claimer;
    begin(&c, edges, sizeof edges);
    apply(&c, &claimer, 1u << 0 | 1u << 2 | 1u << 3);
    check_plan(&c, "415");
    client_end(&c);
}

// Edges name nodes of the model, wherever an earlier delegate has put them.
static void edges_hold_for_the_second_delegate(void **state)
{
    (void)state;
    static const unsigned char edges[] = {1, 1, 2, EDGE(1, 2), EDGE(2, 3)};
    struct client c;
    struct claimer first, second;
    begin(&c, edges, sizeof edges);
    apply(&c, &first, 1u << 2);
    check_plan(&c, "0143");
    apply(&c, &second, 1u << 0 | 1u << 3); // 3 waits for 2, which is in node 4 now
    check_plan(&c, "5146");
    client_end(&c);
}

static void a_list_without_edges_changes_nothing(void **state)
{
    (void)state;
    static const unsigned char edges[] = {1, 1, 0};
    struct client c;
    struct claimer claimer;
    begin(&c, edges, sizeof edges);
    apply(&c, &claimer, 1u << 0 | 1u << 2);
    check_plan(&c, "413");
    assert_int_equal(c.log.count, 0);
    client_end(&c);
}

static void broken_edges_are_told_and_left_out(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        unsigned char bytes[12];
    } cases[] = {
        {0, {0}},
        {1, {1}},
        {2, {1, 1}},
        {5, {2, 1, 1, EDGE(1, 2)}},                             // a later version
        {6, {1, 2, 1, EDGE(1, 2), 0}},                          // another number of subgraphs
        {4, {1, 1, 1, 2}},                                      // cut off
        {6, {1, 1, 1, EDGE(1, 2), 0}},                          // more behind it
        {5, {1, 1, 2, EDGE(1, 2)}},                             // fewer edges than it says
        {5, {1, 1, 1, EDGE(1, 4)}},                             // no such node
        {5, {1, 1, 1, 1, 4}},                                   // node -1
        {5, {1, 1, 1, EDGE(2, 1)}},                             // backwards
        {5, {1, 1, 1, EDGE(2, 2)}},                             // to itself
        {8, {1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 2}},           // 2^32 - 1 edges
        {9, {1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},  // a number without end
        {10, {1, 1, 1, 2, 0x84, 0x80, 0x80, 0x80, 0x80, 0x80}}, // likewise
        {9, {1, 1, 1, 2, 0xfe, 0xff, 0xff, 0xff, 0x1f}},        // above 32 bits
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client c;
        struct claimer claimer;
        begin(&c, cases[i].bytes, cases[i].size);
        assert_int_equal(c.log.count, 1);
        assert_non_null(strstr(c.log.text, "the metadata model_control_dependencies is broken near byte"));
        apply(&c, &claimer, 1u << 0 | 1u << 2);
        check_plan(&c, "413");
        client_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_join_without_edges),
        cmocka_unit_test(an_edge_keeps_nodes_apart),
        cmocka_unit_test(nodes_wait_for_all_edges),
        cmocka_unit_test(edges_hold_for_the_second_delegate),
        cmocka_unit_test(a_list_without_edges_changes_nothing),
        cmocka_unit_test(broken_edges_are_told_and_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
