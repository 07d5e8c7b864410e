// SPDX-License-Identifier: Apache-2.0
// Rows of the op table: values that the CPU refuses while running (rule: docs/accuracy.md): indices out of range
// and divisors of zero. Each row runs in a model of its own, since Invoke fails: on the CPU, and on the device with the
// words of the row.
#include "gpu/op_case.h"

#define REFUSED(name_, suffix_, refusal_, ...)                                     \
    {                                                                              \
        .name = name_, OP(suffix_), .refusal = refusal_, .inputs = { __VA_ARGS__ } \
    }
#define TRUTH_8(type_, scale_, zero_)                                                                                 \
    {                                                                                                                 \
        .kind = TENSOR_INPUT, .type = TEST_##type_, .values = VALUES_TRUTH, .scale = (scale_), .zero_point = (zero_), \
        SHAPED(2, 5, C)                                                                                               \
    }

static const struct op_case cases[] = {
    REFUSED("GATHER above the last row", Gather, "index 4 of an axis of length 4", IN(4, C), IN_LIST((3), 0, 4, 3)),
    REFUSED("GATHER below the first row", Gather, "index -1 of an axis of length 4", IN(4, C), IN_LIST((3), 0, -1, 3)),
    REFUSED("GATHER by a number of the device", Gather, "index 9 of an axis of length 4", IN(4, C),
            MADE_LIST((3), 0, 9, 3)),
    REFUSED("GATHER_ND above the second axis", GatherNd, "index 3 of an axis of length 3", IN(4, 3, C),
            IN_LIST((2, 2), 3, 2, 0, 3)),
    REFUSED("GATHER_ND below the first axis", GatherNd, "index -2 of an axis of length 4", IN(4, 3, C),
            IN_LIST((2, 2), 3, 2, -2, 0)),
    REFUSED("EMBEDDING_LOOKUP above the last row", EmbeddingLookup, "index 5 of an axis of length 5",
            IN_LIST((3), 0, 5, 4), IN(5, C)),
    REFUSED("FLOOR_DIV by zero", FloorDiv, "division by zero", IN(2, 5, C), IN_OF(TRUTH, 2, 5, C)),
    {.name = "DIV of 8 bits by zero",
     OP(Div),
     .refusal = "division by zero",
     .inputs = {IN_8(UINT8, 0.03125f, 128, 2, 5, C), TRUTH_8(UINT8, 0.0625f, 100)},
     .output = {.type = TEST_UINT8, .scale = 0.0625f, .zero_point = 128}},
    {0}};

const struct op_family op_family_refused = {.name = "refused", .cases = cases};
