// SPDX-License-Identifier: Apache-2.0
// A chain of element-wise steps behind the output of a node. In: some of that output, which lies where the chain's last
// value will. Out: the last value, in its place. Steps run over pieces that stay in the first-level cache. Bytes
// that depend on nothing but that output become one table.
#ifndef HALITE_FAST_CHAIN_H
#define HALITE_FAST_CHAIN_H

#include "fast/fast.h"

// Elements of a piece.
enum { HL_CHAIN_PIECE = 1024 };

// What a step reads: the lead's output (0), the value of the step before step n (n), or another tensor.
struct hl_chain_operand {
    int value;      // -1: another tensor
    int tensor;     // that one's number; -1: there is none
    bool constant;  // it is known in prepare
    int64_t period; // its values begin again after so many elements; 0: it is as large as the output
    char *repeated; // then: HL_CHAIN_PIECE + period elements of it
};

struct hl_chain {
    int size; // bytes of an element
    int64_t channels;
    int count;
    struct hl_step steps[HL_MAX_FOLLOWERS];
    struct hl_chain_operand operands[HL_MAX_FOLLOWERS][2];
    uint8_t table[256];
};

// The tensors of one run.
struct hl_chain_run {
    const struct hl_chain *chain; // NULL: none, and the rest is not set
    char *y;
    const char *others[HL_MAX_FOLLOWERS][2];
};

// y: the output tensor's memory. chain NULL: the following two do nothing.
void hl_chain_begin(const TfLiteContext *ctx, const struct hl_chain *chain, void *y, struct hl_chain_run *run);
// Goes on with elements of the output, or with `rows` positions of it, with all their channels.
void hl_chain_elements(const struct hl_chain_run *run, int64_t first, int64_t count);
void hl_chain_rows(const struct hl_chain_run *run, int64_t row, int64_t rows);

#endif
