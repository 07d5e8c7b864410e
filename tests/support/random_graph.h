// SPDX-License-Identifier: Apache-2.0
// Small random graphs as models: layers, elementwise chains, residual sums, moves and views, values with several
// readers, in floats or 8 bits. In: a number. Out: the graph of this number, which is the same in every build.
#ifndef HALITE_TESTS_SUPPORT_RANDOM_GRAPH_H
#define HALITE_TESTS_SUPPORT_RANDOM_GRAPH_H

#include "support/model_writer.h"

enum { RANDOM_GRAPH_TENSORS = 320, RANDOM_GRAPH_NODES = 96 };

struct random_graph {
    struct test_model model;
    enum test_type type; // of its values: TEST_FLOAT32, TEST_INT8 or TEST_UINT8
    // While it is made:
    const struct random_sides *sides;
    struct test_tensor tensors[RANDOM_GRAPH_TENSORS];
    struct test_node nodes[RANDOM_GRAPH_NODES];
    int values[RANDOM_GRAPH_TENSORS], value_count; // what nodes may read
    void *owned[2 * RANDOM_GRAPH_TENSORS];         // data and scales of constants
    int owned_count;
};

// Aborts the test without memory.
struct random_graph *random_graph_create(unsigned number);
void random_graph_destroy(struct random_graph *graph);

#endif
